# SPDX-License-Identifier: BSD-3-Clause
"""What people ask of strengths: likelihoods, goodness of fit, votes that are needed.

Where strengths of maximum likelihood do not exist, the supremum of the likelihood is
approached by a penalty so small that it is within about 10⁻⁴ of it.
"""

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtri

from tiebreak.data import Pairs
from tiebreak.data.arrays import Floats
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.losses import RATING_LINKS
from tiebreak.ratings.strengths import refits

TINY_PENALTY = 1e-6
_SMALL_CELLS = 0.2  # a larger share of small counts is not chi-square (Cochran, 1954)


@dataclass(frozen=True)
class Likelihood:
    """The largest likelihood of a model, and what it costs in parameters.

    Attributes
    ----------
    log_likelihood : float
        ln P of all results, a sum over comparisons, at its supremum.
    n_parameters : int
        Strengths (less one for each set of items that meet), tie parameter, effects.
    n_comparisons : float
        Summed weights.
    """

    log_likelihood: float
    n_parameters: int
    n_comparisons: float

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 k - 2 ℓ; less is better."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, k ln n - 2 ℓ; less is better."""
        penalty = self.n_parameters * math.log(self.n_comparisons)
        return penalty - 2.0 * self.log_likelihood


class LikelihoodRatio(NamedTuple):
    """Result of `likelihood_ratio_test`."""

    statistic: float
    df: int
    p_value: float


def likelihood_ratio_test(small: Any, large: Any) -> LikelihoodRatio:
    """Test whether a model needs what a smaller one leaves out.

    If the smaller model is right, 2 (ℓ_large - ℓ_small) has a χ² distribution with as
    many degrees of freedom as the larger model has more parameters. Where a quarter of
    the items has fewer than 24 games, it is drawn from the smaller model instead, for
    up to 170 items and weights that are whole.

    Parameters
    ----------
    small, large : BradleyTerry
        Nested models of the same comparisons.

    Returns
    -------
    LikelihoodRatio
        ``statistic``, ``df``, ``p_value``.

    Examples
    --------
    >>> from tiebreak import BradleyTerry
    >>> from tiebreak.datasets import load_worldcup2022
    >>> from tiebreak.ratings import likelihood_ratio_test
    >>> cup = load_worldcup2022()
    >>> plain = BradleyTerry().fit(cup.pairs, cup.y)
    >>> sided = BradleyTerry().fit(cup.pairs, cup.y, advantage=1)
    >>> likelihood_ratio_test(plain, sided).df
    1
    """
    large = copy(large)
    large.tie_model_ = small.tie_model_  # ties follow the same model in both
    one, two = small.likelihood(), large.likelihood()
    df = two.n_parameters - one.n_parameters
    if df < 1 or not math.isclose(one.n_comparisons, two.n_comparisons):
        raise ValueError(
            f"The models have {one.n_parameters} and {two.n_parameters} parameters, "
            f"and {one.n_comparisons:g} and {two.n_comparisons:g} comparisons; "
            "expected the smaller model first, and both fitted on the same results."
        )
    statistic = max(0.0, 2.0 * (two.log_likelihood - one.log_likelihood))
    p_value = float(chdtrc(df, statistic))
    if len(large.items_) <= refits.MOST_DRAWN:
        p_value = _draw_ratio(small, large, p_value)
    return LikelihoodRatio(statistic, df, p_value)


def _draw_ratio(small: Any, large: Any, chi_square: float) -> float:
    """P-value by draws from the smaller model, where games are few."""
    cells, n = large._problem.cells, len(large.items_)
    names, own = large._effect_names(), small._effect_names()
    if large._problem.members is not None or not refits.has_few_games(cells, n):
        return chi_square
    if not set(own) <= set(names):
        return chi_square
    columns = cells.covariates[:, [names.index(name) for name in own]]
    design = refits.count_design(replace(cells, covariates=columns), n)
    d = design.apply(np.append(small.strength_, small._effect_values()))
    share = small._link.probabilities(d, small._tie)
    large_design = refits.count_design(cells, n)
    return refits.ratio_p_value(design, large_design, cells.counts, share)


@dataclass(frozen=True, eq=False)
class GoodnessOfFit:
    """How far results are from what a model expects.

    Attributes
    ----------
    statistic, df, p_value : float, int, float
        Pearson's Σ (observed - expected)² / expected over pairs and outcomes, its
        degrees of freedom, and the probability of a larger one: χ² or, where
        `small_cells` is above 0.2, drawn from the model.
    small_cells : float
        Share of cells with an expected count below 5.
    table : polars.DataFrame
        One row per pair, the worst first: ``left``, ``right``, counts of left, tie and
        right, what was expected, and ``residual``, the root of the pair's part of the
        statistic, negative where left won less than expected.
    """

    statistic: float
    df: int
    p_value: float
    small_cells: float
    table: pl.DataFrame


def goodness_of_fit(
    pairs: Pairs,
    cells: ComparisonCounts,
    share: Floats,
    n_parameters: int,
) -> GoodnessOfFit:
    """Compare counts with those that probabilities (m, 3) of a model expect."""
    observed = cells.counts
    expected = share * observed.sum(axis=1, keepdims=True)
    possible = expected > 0.0
    squares = np.zeros_like(expected)
    np.divide((observed - expected) ** 2, expected, out=squares, where=possible)
    by_pair = squares.sum(axis=1)
    statistic = float(by_pair.sum())
    outcomes = int((expected.sum(axis=0) > 0).sum())
    df = max((outcomes - 1) * len(observed) - n_parameters, 0)
    p_value = float(chdtrc(df, statistic)) if df else float("nan")
    points = (observed - expected) @ np.array([1.0, 0.5, 0.0])
    residual = np.copysign(np.sqrt(by_pair), points)
    names, (left, right) = pairs.side_names, pairs.sides
    columns: dict[str, Any] = {"left": names[left], "right": names[right]}
    words = ("left_won", "tied", "right_won")
    for j, word in enumerate(words):
        columns[word] = observed[:, j]
        columns[f"{word}_expected"] = expected[:, j]
    table = pl.DataFrame(columns | {"residual": residual})
    table = table[np.argsort(-by_pair, kind="stable")]
    small = float((expected[possible] < 5.0).mean())
    drawn = df > 0 and small > _SMALL_CELLS and pairs.n_items <= refits.MOST_DRAWN
    if drawn and refits.is_whole(observed) and pairs.members is None:
        design = refits.count_design(cells, pairs.n_items)
        p_value = refits.pearson_p_value(design, observed, share)
    return GoodnessOfFit(statistic, df, p_value, small, table)


def votes_needed(
    points: ArrayLike,
    ties: float = 0.0,
    *,
    tie_model: str = "davidson",
    level: float = 0.95,
    power: float = 0.8,
    scale: float = 400.0,
    base: float = 10.0,
) -> Any:
    """Votes between two items that are needed to tell them apart.

    A difference Δ of strengths is found significant with the given power for n =
    (z_{1-(1-level)/2} + z_power)² / (h Δ²) votes, with h = E[(∂ ln P/∂Δ)²] the
    information of one vote.

    Parameters
    ----------
    points : float or array-like
        Difference of the ratings.
    ties : float, default=0.0
        Share of ties between equal items.
    tie_model : {"davidson", "rao-kupper"}, default="davidson"
        How ties depend on the difference.
    level, power : float, default=0.95 and 0.8
        Confidence of the test, and the probability of finding the difference.
    scale, base : float, default=400.0 and 10.0
        Of the ratings; see :class:`~tiebreak.Leaderboard`.

    Returns
    -------
    int, or ndarray of int64
        Votes, rounded up.

    Examples
    --------
    >>> from tiebreak.ratings import votes_needed
    >>> votes_needed(20, ties=0.29)
    3343
    """
    if not 0.0 <= ties < 1.0:
        raise ValueError(f"ties must be a share, from 0 to below 1; got {ties!r}.")
    if tie_model not in RATING_LINKS:
        raise ValueError(
            f"tie_model must be 'davidson' or 'rao-kupper'; got {tie_model!r}."
        )
    link = RATING_LINKS[tie_model]
    difference = np.atleast_1d(np.asarray(points, dtype=np.float64))
    difference = np.abs(difference) * math.log(base) / scale
    if not (difference > 0).all():
        raise ValueError(
            "points must be differences other than 0: no number of votes separates "
            "equal items."
        )
    information = link.information(difference, link.start(ties))
    votes = count_votes(difference, information, level, power).astype(np.int64)
    return votes if np.ndim(points) else int(votes[0])


def count_votes(
    difference: Floats, information: Floats, level: float = 0.95, power: float = 0.8
) -> Floats:
    """Votes that separate these differences; infinite for 0."""
    z = ndtri(0.5 + 0.5 * level) + ndtri(power)
    with np.errstate(divide="ignore"):
        return np.ceil(z**2 / (information * difference**2))
