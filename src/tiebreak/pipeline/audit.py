# SPDX-License-Identifier: BSD-3-Clause
"""The audit of a table: which of its leaderboard's claims survive."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data import is_pairs
from tiebreak.io import neutralize_formulas
from tiebreak.options import RankOptions, flag, in_python
from tiebreak.pipeline.leaderboard import OUTCOME_WORDS
from tiebreak.pipeline.read import Progress, read_source, silent, split_options
from tiebreak.pipeline.source import Source
from tiebreak.robustness import Audit, Claim, audit_pairs


def audit(
    source: Any,
    y: Any = None,
    *,
    claims: Iterable[Claim | str] | None = None,
    top: int = 5,
    neighbors: int = 10,
    level: float = 0.95,
    progress: Progress = silent,
    **options: Any,
) -> Audit:
    """Test whether the claims of a leaderboard would survive.

    For each claim: how few votes (or raters, other items, days) must go until it falls;
    under how many other choices of analysis it holds; and could it be luck?

    Parameters
    ----------
    source : path, table or Pairs
        A file, a data frame, or `Pairs` of items known by name.
    y : array-like of shape (n,), optional
        Outcomes -1 (left), 0 (tie), +1 (right) of Pairs.
    claims : iterable of str or Claim, optional
        ``"A > B"``, ``"A = B"`` (cannot be told apart), ``"A first"``, ``"A, B, C
        first"``. By default: who is first, who is above the next for the first
        `neighbors` items, and which are the first `top`.
    top, neighbors : int, default=5 and 10
        See `claims`.
    level : float, default=0.95
        Confidence that a claim needs to be more than luck.
    progress : callable, optional
        Called with each step.
    **options
        For a file or a table, those of `rank`, with ``by`` for columns of categories,
        ``covariates``, ``position``, ``ties`` and ``settings={"alpha": 0}``; for Pairs,
        row-aligned ``rater``, ``period``, ``advantage``, ``context``, ``by``,
        ``both_bad`` and ``sample_weight``, and ``ties`` and ``alpha`` of
        `BradleyTerry`.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import tiebreak
    >>> from tiebreak import Pairs
    >>> votes = Pairs(left=["A"] * 41, right=["B"] * 41)
    >>> print(tiebreak.audit(votes, [-1] * 21 + [1] * 20, claims=["A > B"]))
    1 claim about 2 items, 41 votes
    - A is above B: fragile: 1 vote
    """
    questions: dict[str, Any] = {
        "claims": claims,
        "top": top,
        "neighbors": neighbors,
        "level": level,
        "progress": progress,
    }
    if is_pairs(source) and (y is not None or not hasattr(source, "columns")):
        return audit_pairs(source, y, **questions, **options)
    if y is not None:
        raise TypeError("y holds the outcomes of Pairs; a table has its own column.")
    with in_python():
        reading, rank_options = split_options(options)
        strengths = strength_options(rank_options)
        read = read_source(source, reading, rank_options)
        return audit_data(read, **questions, **strengths)


def strength_options(options: RankOptions) -> dict[str, Any]:
    """Return ties, penalty and who is placed; refuse what an audit cannot set."""
    others = [name for name in options.settings if name != "alpha"]
    if others or options.model not in ("auto", "bradley-terry"):
        what = others[0] if others else flag("model", options.model)
        raise ValueError(
            f"An audit fits bradley-terry by {flag('ties')} and alpha, without {what}."
        )
    ties = "auto" if options.ties in (None, "drop") else options.ties
    alpha = options.settings.get("alpha", "auto")
    return {"ties": ties, "alpha": alpha, "place_from": options.place_from}


def audit_data(source: Source, **questions: Any) -> Audit:
    """Audit comparisons that were read."""
    data = source.named
    if data is None:
        raise ValueError("The items have no names, so there are no claims.")
    (pairs, y), columns = data.arguments()
    if "both_bad" in data.marks and data.marks["both_bad"].any():
        columns["both_bad"] = data.marks["both_bad"]
    if source.categories:
        columns["by"] = {
            name: np.isin(np.arange(len(data)), rows)
            for name, rows in source.categories.items()
        }
    result = audit_pairs(pairs, y, **columns, **questions)
    return result if data.rows is None else result.renumber(data.rows)


def changed_votes(result: Audit, source: Source) -> pl.DataFrame:
    """The votes that claims hang on, one row for each vote of each claim."""
    data = source.named
    assert data is not None and data.names is not None
    cells = [
        (str(claim.claim), change, row)
        for claim in result.claims
        for change, what in (("removed", claim.removal), ("reversed", claim.reversal))
        for row in (what.members if what else ())
    ]
    schema = {"claim": pl.String, "change": pl.String, "row": pl.Int64}
    table = pl.DataFrame(cells, schema, orient="row")
    at = table["row"].to_numpy()
    if data.rows is not None:
        at = np.searchsorted(data.rows, at)
    columns: dict[str, Any] = {
        "left": data.names[data.pairs.left[at]],
        "right": data.names[data.pairs.right[at]],
        "outcome": map(OUTCOME_WORDS.get, data.y[at].tolist()),
    }
    columns |= {k: c[at] for k, c in data.columns.items() if k in ("rater", "period")}
    table = table.with_columns(
        pl.Series(name, [str(value) for value in column], pl.String)
        for name, column in columns.items()
    )
    return neutralize_formulas(table)
