# SPDX-License-Identifier: BSD-3-Clause
r"""Whether strengths of maximum likelihood exist.

They do unless coefficients can grow along a direction (δθ, δt) that no comparison
contradicts. With δt = 0 decided comparisons ask for δθ_winner ≥ δθ_loser and ties for
equality: possible unless the graph with an edge from winner to loser, and both ways for
ties, is strongly connected. With δt = 1 decided comparisons ask for δθ_winner ≥
δθ_loser + 2 and ties for \|δθ_i - δθ_j\| ≤ 2: possible unless some directed cycle has
more decided comparisons than ties. Both are checked exactly, on the counts.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, connected_components

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.comparison_graph import (
    ComparisonCounts,
    ComparisonGraph,
    list_items,
)
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.models.covariates import covariate_separation, refuse_empty
from tiebreak.ratings.strengths.many_items import MANY_ITEMS

_SINGULAR = 1e-9  # of squares, relative to the largest
_REMEDY = (
    "Strengths of maximum likelihood are then infinite or arbitrary. Leave these items "
    "out, add comparisons, or set alpha='auto', a prior whose width is learned. "
    "check_pairs, or tiebreak check, shows more."
)


def check_existence(
    counts: ComparisonCounts,
    names: NDArray[Any],
    ties: str | None,
    alpha: float | str,
    members: Any = None,
) -> None:
    """Refuse data without finite strengths; warn where only the penalty decides."""
    n_ties, total = counts.counts[:, 1].sum(), counts.counts.sum()
    if ties is None and n_ties:
        raise ValueError(
            f"There are ties (weight {n_ties:g} of {total:g}), but ties=None has no "
            "place for them; leave them out, or set ties='davidson'."
        )
    refuse_empty(counts)
    if n_ties == total and ties != "half":
        return
    if members is not None:
        return _check_teams(counts, names, alpha, members)
    graph = ComparisonGraph.of_counts(counts, len(names))
    check_separation(graph, names, alpha, _REMEDY)
    if alpha == 0 and n_ties and ties != "half" and not has_decided_cycle(graph):
        raise ValueError(
            "The decided comparisons contradict each other nowhere: strengths and the "
            f"tie parameter could grow together without end. {_REMEDY}"
        )


def _check_teams(
    counts: ComparisonCounts, names: NDArray[Any], alpha: float | str, members: Any
) -> None:
    """Check the design of members: with a penalty, warn of what results leave open."""
    if len(names) > MANY_ITEMS:
        raise ValueError(
            f"Teams have {len(names)} members; BradleyTerry takes up to {MANY_ITEMS}."
        )
    favor = (members[counts.left] - members[counts.right]).toarray()
    if len(some := open_members(favor)):
        reason = (
            f"Nothing tells how strengths of {list_items(some, names)} differ: they "
            "were always on the same side, or never met the others."
        )
        if alpha == 0:
            raise ValueError(f"{reason} {_REMEDY}")
        warn_user(f"{reason} The penalty alpha alone decides.", DataWarning)
    if alpha == 0 and len(some := endless_members(counts, favor)):
        raise ValueError(
            "No result contradicts ever larger differences of strengths, as of "
            f"{list_items(some, names)}. {_REMEDY}"
        )


def endless_members(counts: ComparisonCounts, favor: Floats) -> Codes:
    """Find members, in rows (m, N) for left, whose strengths have no finite maximum."""
    # Measured from a member with many results, if all can move together.
    kept = np.arange(favor.shape[1])
    if not favor.sum(axis=1).any():
        kept = np.delete(kept, np.abs(favor).sum(axis=0).argmax())
    columns = np.hstack([favor[:, kept], counts.covariates])
    cells = replace(counts, covariates=columns)
    endless = covariate_separation(cells, 0, penalized=True)
    return kept[[k for k, _ in endless if k < len(kept)]]


def open_members(favor: Floats) -> Codes:
    """Find members whose strengths have contrasts that no row (m, N) depends on."""
    values, vectors = np.linalg.eigh(favor.T @ favor)
    null = vectors[:, values <= _SINGULAR * max(values[-1], 1.0)]
    if not favor.sum(axis=1).any():  # all strengths can move together anyway
        null = null - null.mean(axis=0)
    return np.flatnonzero((null**2).sum(axis=1) > _SINGULAR)


def label_components(n_items: int, one: Codes, two: Codes) -> Codes:
    """Label items that met, if only through others, by the same number, from 0."""
    graph = sp.csr_array((np.ones(len(one)), (one, two)), shape=(n_items, n_items))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def check_separation(
    graph: ComparisonGraph, names: NDArray[Any], alpha: float | str, remedy: str
) -> None:
    """Refuse separated groups; with a penalty, warn where they never meet."""
    if (alpha != 0 and graph.n_components == 1) or graph.is_strongly_connected:
        return
    reasons = " ".join(graph.describe_separation(names))
    if alpha == 0:
        raise ValueError(f"{reasons} {remedy}")
    warn_user(
        f"{reasons} Strengths of items that never meet, not even through others, are "
        "comparable only by the penalty alpha.",
        DataWarning,
    )


def has_decided_cycle(graph: ComparisonGraph) -> bool:
    """Say whether a directed cycle has more decided comparisons than ties."""
    n_strong, _ = connected_components(graph.beats, connection="strong")
    if n_strong < graph.beats.shape[0]:
        return True  # a cycle of decided comparisons only
    decided = sp.csr_array(graph.beats > 0).astype(np.float64)
    tied = sp.csr_array(graph.tied > 0).astype(np.float64)
    # Between two items that have both, the decided comparison asks for more.
    tied = tied - tied.multiply(decided)
    try:
        bellman_ford(sp.csr_array(tied - decided), indices=0)
    except NegativeCycleError:
        return True
    return False
