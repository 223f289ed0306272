# SPDX-License-Identifier: BSD-3-Clause
"""What changed between two leaderboards, and which changes are more than noise.

Ratings have a common zero that is arbitrary, so changes are measured from the mean of
the items that both leaderboards have, or from one item. With A the matrix of these
contrasts, ::

    change = A θ_new - A θ_old,
    V = A (V_new + V_old - C - Cᵀ) Aᵀ,

where C is the covariance of the two estimates: with scores s of the results, or raters,
that both share, and Hessians H, C = H_old⁻¹ (Σ s_old s_newᵀ) H_new⁻¹ to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from scipy.special import stdtr, stdtrit

from tiebreak.data.arrays import Codes, Floats
from tiebreak.losses import CovariateDesign, Design, ItemDesign, JointDesign
from tiebreak.losses.comparison_covariance import inverse_hessian, vote_scores
from tiebreak.ratings.leaderboard import Leaderboard, RatingScale, holm
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry

_NOTHING = 1e-4  # rating points; less is rounding


@dataclass(frozen=True, eq=False)
class Rated:
    """One of two leaderboards: ratings in points, and how certain they are."""

    names: list[Any]  # (N,), best first
    rank: Codes  # (N,)
    rating: Floats  # (N,)
    covariance: Floats  # (N, N)
    df: Any = np.inf  # (N,), or one: degrees of freedom of the variances

    @classmethod
    def of(cls, board: Leaderboard | None) -> Rated:
        """Take what a leaderboard of strengths knows."""
        contrasts = None if board is None else board._contrasts
        if board is None or contrasts is None or not hasattr(board.model, "strength_"):
            raise ValueError(
                "Changes need strengths with a margin of error (bradley-terry), and "
                "there are none: nothing but ties, or too many items."
            )
        order, unit, known = (
            _table_order(board),
            RatingScale().unit,
            contrasts.posterior,
        )
        total = known.total if known.total.ndim == 2 else board.model.covariance()
        return cls(
            board.table["item"].to_list(),
            board.table["rank"].to_numpy(),
            unit * known.mean[order],
            unit**2 * total[np.ix_(order, order)],
            known._spread[1][order],
        )

    def contrasts(self, common: Sequence[Any], reference: Any) -> Floats:
        """Give A: common items minus their mean, or minus an item, shape (c, N)."""
        chosen = _places(common, self.names)
        out = np.zeros((len(chosen), len(self.names)))
        out[np.arange(len(chosen)), chosen] = 1.0
        if reference is None:
            out[:, chosen] -= 1.0 / len(chosen)
        else:
            out[:, self.names.index(reference)] -= 1.0
        return out


def _places(names: Sequence[Any], known: Sequence[Any]) -> Codes:
    place = {name: k for k, name in enumerate(known)}
    return np.array([place[name] for name in names])


def _table_order(board: Leaderboard) -> Codes:
    return _places(board.table["item"].to_list(), board.model.items_.tolist())


def find_changes(
    old: Rated,
    new: Rated,
    *,
    level: float = 0.95,
    reference: Any = None,
    shared: Floats | None = None,
) -> pl.DataFrame:
    """Return the changes of the items that both have, in the order of the new ranks.

    ``shared`` is the covariance C of the ratings of old (rows) and new (columns).
    """
    known = set(old.names)
    common = [name for name in new.names if name in known]
    if len(common) < 2:
        raise ValueError(
            f"The two have {len(common)} item(s) in common; changes are measured from "
            "what is common, so there must be two at least."
        )
    if reference is not None and reference not in common:
        raise ValueError(f"The reference {reference!r} is not in both.")
    one, two = (run.contrasts(common, reference) for run in (old, new))
    change = two @ new.rating - one @ old.rating
    own = [
        np.maximum(np.einsum("ij,jk,ik->i", a, run.covariance, a), 0.0)
        for a, run in ((one, old), (two, new))
    ]
    variance = own[0] + own[1]
    # Welch and Satterthwaite: the degrees of freedom of a sum of two variances.
    parts = sum(
        part**2 / np.resize(run.df, len(run.names))[_places(common, run.names)]
        for part, run in ((own[0], old), (own[1], new))
    )
    df = np.full(len(common), np.inf)
    np.divide(variance**2, parts, out=df, where=parts > 0)
    df = np.minimum(df, 1e9)
    if shared is not None:
        variance = variance - 2.0 * np.einsum("ij,jk,ik->i", one, shared, two)
    error = np.sqrt(np.maximum(variance, 0.0))
    error[error < _NOTHING] = 0.0
    change[np.abs(change) < _NOTHING] = 0.0
    z = np.divide(change, error, out=np.zeros_like(change), where=error > 0)
    z[(error == 0) & (change != 0)] = np.inf
    p_value = 2.0 * stdtr(df, -np.abs(z))
    reach = stdtrit(df, 0.5 + 0.5 * level) * error
    ranks = [run.rank[_places(common, run.names)] for run in (old, new)]
    # The reference does not change, and is no comparison to adjust for.
    tested = np.array([name != reference for name in common]) | (reference is None)
    adjusted = np.ones(len(common))
    adjusted[tested] = holm(p_value[tested])
    zero = RatingScale().anchor
    return pl.DataFrame(
        {
            "item": common,
            "rating_old": zero + one @ old.rating,
            "rating_new": zero + two @ new.rating,
            "change": change,
            "lower": change - reach,
            "upper": change + reach,
            "p_value": p_value,
            "p_adjusted": adjusted,
            "more_than_noise": adjusted < 1.0 - level,
            "rank_old": ranks[0],
            "rank_new": ranks[1],
            "moved": ranks[0] - ranks[1],
        }
    )


def shared_covariance(
    old: Leaderboard, new: Leaderboard, rows: tuple[Any, Any]
) -> Floats:
    """Return C of two fits of strengths, in rating points, as `Rated.of` orders items.

    ``rows`` are the `weighted_scores` of what both share.
    """
    meat = np.asarray((rows[0].T @ rows[1]).todense())
    models = old.model, new.model
    inverse = [
        inverse_hessian(model._problem.objective(model.alpha_), model._solution())
        for model in models
    ]
    n = [len(model.items_) for model in models]
    cross = (inverse[0] @ meat @ inverse[1])[: n[0], : n[1]]
    orders = np.ix_(_table_order(old), _table_order(new))
    return RatingScale().unit ** 2 * cross[orders]


def weighted_scores(
    model: BradleyTerry, pairs: Any, y: Any, columns: dict[str, Any]
) -> sp.csr_array:
    """Return the score of each comparison in all coefficients, (n, p), sparse."""
    known = {
        name: columns[name] for name in ("advantage", "context") if name in columns
    }
    place = {name: k for k, name in enumerate(model.items_.tolist())}
    ids = np.array([place.get(name, -1) for name in pairs.names.tolist()])
    design: Design = ItemDesign(ids[pairs.left], ids[pairs.right], len(place))
    if known:
        more = [np.reshape(column, (len(pairs), -1)) for column in known.values()]
        design = JointDesign(design, CovariateDesign(np.concatenate(more, axis=1)))
    scores = model._link.scores(model.difference(pairs, **known), model._tie)
    out = vote_scores(design.matrix(), scores, y, model._problem.has_tie)
    weight = columns.get("sample_weight")
    return out if weight is None else sp.diags_array(weight) @ out
