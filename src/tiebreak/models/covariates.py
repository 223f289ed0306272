# SPDX-License-Identifier: BSD-3-Clause
r"""Covariates of comparisons: an advantage and a context, both in favor of left.

The difference of utilities of a comparison with advantage h and context z is
d = r(right) - r(left) - γ h - zᵀβ, without a penalty on γ and β.

The likelihood has no maximum if coefficients can grow along a direction (δθ, δβ, δt)
that no comparison contradicts. With δd = δθ_right - δθ_left - zᵀδβ, a win of right asks
for δd ≥ 2 δt, a win of left for -δd ≥ 2 δt, and a tie for \|δd\| ≤ 2 δt, δt ≥ 0.
Linear programs on the counts decide.
"""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import qmc
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import as_items, as_pairs, is_pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_column_of, refuse_missing
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.data.items import within_bounds
from tiebreak.data.messages import list_rows
from tiebreak.data.parameters import LARGEST
from tiebreak.data.validation import as_numbers
from tiebreak.losses import ItemDesign, OutcomeLink
from tiebreak.models.base import UtilityMixin, accuracy, outcome_scores
from tiebreak.solvers.linear_program import LinearProgram

# Points of the joint distribution behind an interval of probabilities, 2 to this
# power; and rows at a time.
_INTERVAL_POINTS, _INTERVAL_ROWS = 9, 2000


def check_row_column(values: Any, name: str, n_rows: int) -> NDArray[Any]:
    """Check a column of one value per row, without missing values."""
    column = as_column_of(values, name, n_rows)
    refuse_missing(column, name)
    return column


def check_row_numbers(values: Any, name: str, n_rows: int) -> Floats:
    """Check a finite number per row, or one number for all rows."""
    if isinstance(values, Real):
        values = np.full(n_rows, float(values))
    numbers = as_numbers(check_row_column(values, name, n_rows), name)
    if not within_bounds(numbers):
        wrong = np.flatnonzero(~(np.abs(numbers) <= LARGEST))
        raise ValueError(
            f"{name} must be finite, and at most {LARGEST:g} in size; got "
            f"{list_rows(wrong, numbers[wrong[:5]])}."
        )
    return numbers


def check_row_covariates(
    advantage: ArrayLike | None, context: Any, n_rows: int
) -> tuple[Floats, tuple[str, ...] | None]:
    """Give advantage and context as columns, (n_rows, 0 to q + 1), and their names."""
    columns, names = [], None
    if advantage is not None:
        columns.append(check_row_numbers(advantage, "advantage", n_rows)[:, None])
    if context is not None:
        if np.ndim(context) == 1:
            columns.append(check_row_numbers(context, "context", n_rows)[:, None])
        else:
            table = as_items(context, name="context")
            if table.n_items != n_rows:
                raise ValueError(
                    f"context has {table.n_items} rows but there are {n_rows} "
                    "comparisons; they must be as many."
                )
            columns.append(table.dense())
            names = table.feature_names
    if not columns:
        return np.empty((n_rows, 0)), None
    return np.concatenate(columns, axis=1), names


def effect_names(
    has_advantage: bool, n_effects: int, context_names: Sequence[str] | None
) -> list[str]:
    """Name the effects of covariates, the advantage first."""
    names = ["advantage"] if has_advantage else []
    unnamed = range(n_effects - len(names))
    return names + list(context_names or [f"context {j}" for j in unnamed])


class CovariateMixin(UtilityMixin):
    """Predictions of a comparer with an advantage and a context, given or not.

    A subclass has ``_link`` and ``tie_``; its fit sets ``advantage_``,
    ``context_coef_`` and ``context_names_`` where there are such.
    """

    advantage_: float
    context_coef_: Floats
    context_names_: tuple[str, ...]
    tie_: float

    __metadata_request__score: ClassVar = dict.fromkeys(
        ("qid", "advantage", "context"), True
    )

    @property
    def _link(self) -> OutcomeLink:
        raise NotImplementedError

    @property
    def _tie(self) -> float:
        """The tie parameter as the link has it."""
        return self._link.from_parameter(self.tie_)

    def _effects_learned(self, effects: Floats, has_advantage: bool) -> dict[str, Any]:
        """Fitted attributes for the effects of covariates, the advantage first."""
        learned: dict[str, Any] = {}
        if has_advantage:
            learned["advantage_"], effects = float(effects[0]), effects[1:]
        return learned | ({"context_coef_": effects} if len(effects) else {})

    def _effect_names(self) -> list[str]:
        has_advantage = hasattr(self, "advantage_")
        n_effects = has_advantage + len(getattr(self, "context_coef_", ()))
        names = getattr(self, "context_names_", None)
        return effect_names(has_advantage, n_effects, names)

    def difference(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Difference of utilities, right minus left, minus what favors left.

        Parameters
        ----------
        X, advantage, context
            Comparisons as in `fit`. None: neutral ground, 0.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        d = super().difference(X)
        if advantage is None and context is None:
            return d
        return d - self._covariates(advantage, context, len(d)) @ self._effect_values()

    def _covariates(self, advantage: Any, context: Any, n_rows: int) -> Floats:
        """Covariates of rows as in `fit`, 0 where none are given; (n_rows, q)."""
        parts = []
        for name, fitted, one, two in (
            ("advantage", "advantage_", advantage, None),
            ("context", "context_coef_", None, context),
        ):
            columns, _ = check_row_covariates(one, two, n_rows)
            wanted = np.size(getattr(self, fitted, []))
            if columns.shape[1] not in (0, wanted):
                how = f"with {wanted}" if wanted else f"without {name}"
                raise ValueError(
                    f"The model was fitted {how}, and {name} has {columns.shape[1]} "
                    "column(s) here; expected the same as in fit."
                )
            parts.append(columns if columns.shape[1] else np.zeros((n_rows, wanted)))
        return np.concatenate(parts, axis=1)

    def _effect_values(self) -> Floats:
        advantage = np.atleast_1d(getattr(self, "advantage_", []))
        return np.concatenate([advantage, getattr(self, "context_coef_", [])])

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Scores of left, tie and right for comparisons, or utilities of items.

        Parameters
        ----------
        X, advantage, context
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, 3), or (n,) for items
        """
        if advantage is None and context is None:
            return super().decision_function(X)
        d = self.difference(
            as_pairs(X, self._by_name), advantage=advantage, context=context
        )
        return outcome_scores(d, self.threshold_)

    def predict_proba(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X, advantage, context
            As in `difference`.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right, as ``classes_``; rows sum to 1.
        """
        d = self.difference(X, advantage=advantage, context=context)
        return self._link.probabilities(d, self._tie)

    def predict_log_proba(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Logarithms of the probabilities of left, tie and right.

        Parameters
        ----------
        X, advantage, context
            As in `difference`.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right; -inf where the probability is 0.
        """
        d = self.difference(X, advantage=advantage, context=context)
        return self._link.log_probabilities(d, self._tie)

    def predict(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[Any]:
        """Most probable outcomes of comparisons, or utilities of items.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features) or items
            Dispatch is by type: Pairs and 3-D arrays are comparisons.
        advantage, context
            As in `fit`, for comparisons.

        Returns
        -------
        ndarray of shape (n,)
        """
        if advantage is None and context is None:
            return super().predict(X)
        d = self.difference(
            as_pairs(X, self._by_name), advantage=advantage, context=context
        )
        return self._to_classes(d)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on comparisons; 1 - swapped-pair fraction on graded items.

        Parameters
        ----------
        X, y
            Comparisons and outcomes, Orders, or items and their grades.
        advantage, context
            As in `fit`, for comparisons.
        qid, sample_weight
            Groups of graded items, and weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        plain = advantage is None and context is None
        if plain or y is None or not is_pairs(X, self._by_name):
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        predicted = self.predict(X, advantage=advantage, context=context)
        return accuracy(self, y, predicted, sample_weight)


def outcome_intervals(
    draw: Callable[[Codes, Floats], Floats], n_rows: int, level: float
) -> Floats:
    """Quantiles of drawn probabilities, (n_rows, 3, 2); `draw` takes rows and points.

    The points, (n_draws, 3), fill a cube.
    """
    points = qmc.Sobol(3, seed=0).random_base2(_INTERVAL_POINTS)
    tail, out = 0.5 - 0.5 * level, np.empty((n_rows, 3, 2))
    for rows in np.array_split(np.arange(n_rows), -(-n_rows // _INTERVAL_ROWS)):
        ends = np.quantile(draw(rows, points), (tail, 1.0 - tail), axis=0)
        out[rows] = np.moveaxis(ends, 0, 2)
    return out


def draw_outcomes(
    link: OutcomeLink,
    center: Floats,
    apart: Floats,
    spread: Floats,
    tie: tuple[Any, Any, Floats],
    points: Floats,
) -> Floats:
    """Probabilities of differences ``center + apart``, (n_draws, n, 3).

    `tie` has the mean and the variance of the tie parameter, and its covariance with
    the differences, whose variance is `spread`.
    """
    mean, variance, covariance = tie
    slope = covariance / np.maximum(spread, 1e-300)
    rest = np.sqrt(np.maximum(variance - slope * covariance, 0.0))
    t = mean + slope * apart + rest * ndtri(points)[:, None]
    share = link.probabilities((center + apart).ravel(), t.ravel())
    return share.reshape(*apart.shape, 3)


def check_level(level: float) -> None:
    """Refuse a confidence that is not strictly between 0 and 1."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(
            f"level must be a number between 0 and 1, such as 0.95; got {level!r}."
        )


def refuse_empty(counts: ComparisonCounts) -> None:
    """Refuse covariates that are 0 everywhere."""
    empty = np.flatnonzero(~counts.covariates.any(axis=0))
    if len(empty):
        raise ValueError(
            f"Column(s) {empty.tolist()} of advantage and context are 0 in every row, "
            "so their effect cannot be learned; leave them out."
        )


def refuse_endless(
    counts: ComparisonCounts, n_items: int, penalized: bool, names: list[str], more: str
) -> None:
    """Refuse covariates without a finite or unique effect."""
    if endless := covariate_separation(counts, n_items, penalized=penalized):
        sentences = " ".join(describe_covariate_separation(endless, names))
        raise ValueError(f"{sentences} Leave it out, {more}")


_ROUNDING = 1e-6


class EndlessEffect(NamedTuple):
    """A covariate whose effect has no finite estimate."""

    column: int  # of the covariates
    sign: int  # towards which infinity it grows: +1, -1; 0: any value fits


def covariate_separation(
    counts: ComparisonCounts, n_items: int, *, penalized: bool = False
) -> tuple[EndlessEffect, ...]:
    """List the covariates without a finite effect; strengths are free, or penalized.

    With a penalty only directions of β and t are searched.
    """
    if _is_contradicted(counts, n_items, penalized):
        return ()
    rows, q = _constraints(counts, 0 if penalized else n_items)
    free = rows.shape[1] - q - 1
    size = np.r_[np.full(free, np.inf), np.ones(q), np.inf]
    smallest = np.r_[-size[:-1], 0.0]
    if not counts.counts[:, 1].any():
        size[-1] = 0.0  # without ties there is no tie parameter
    cost = np.zeros(len(size))
    program = LinearProgram(cost, rows, 0.0, col_lower=smallest, col_upper=size)
    endless = []
    for column in range(q):
        grows = []
        for sign in (1, -1):
            program.change_costs([-sign], [free + column])
            # A cone: the largest value is 0, or what the bounds of 1 allow.
            grows.append(program.solve().objective < -_ROUNDING)
        program.change_costs([0.0], [free + column])
        if any(grows):
            endless.append(EndlessEffect(column, int(grows[0]) - int(grows[1])))
    return tuple(endless)


def _is_contradicted(counts: ComparisonCounts, n_items: int, penalized: bool) -> bool:
    """Say, at a glance, whether a single covariate has a finite effect; False: maybe.

    Wins of both sides in a cell force δd = 0, and δβ = 0 if strengths are fixed or
    there are two such cells of the same items.
    """
    if counts.covariates.shape[1] != 1:
        return counts.covariates.shape[1] == 0
    both = (counts.counts[:, 0] > 0) & (counts.counts[:, 2] > 0)
    if penalized:
        return bool((both & (counts.covariates[:, 0] != 0)).any())
    pair = counts.left[both] * n_items + counts.right[both]
    return len(np.unique(pair)) < len(pair)


def _constraints(counts: ComparisonCounts, n_items: int) -> tuple[sp.csr_array, int]:
    """Give the constraints of outcomes on (δθ, δβ, δt), and the columns of β."""
    q = counts.covariates.shape[1]
    scale = np.abs(counts.covariates).max(axis=0, initial=0.0)
    scaled = counts.covariates / np.where(scale > 0, scale, 1.0)
    parts = [sp.csr_array(-scaled)]
    if n_items:
        parts.insert(0, ItemDesign(counts.left, counts.right, n_items).matrix())
    d = sp.csr_array(sp.hstack(parts, format="csr"))
    left, tie, right = (counts.counts > 0).T
    blocks = []
    for happened, side, twice in (
        (right, 1.0, -2.0),
        (left, -1.0, -2.0),
        (tie, 1.0, 2.0),
        (tie, -1.0, 2.0),
    ):
        some = np.flatnonzero(happened)
        of_tie = sp.csr_array(np.full((len(some), 1), twice))
        blocks.append(sp.hstack([side * d[some], of_tie], format="csr"))
    return sp.csr_array(sp.vstack(blocks, format="csr")), q


def describe_covariate_separation(
    effects: Sequence[EndlessEffect], names: Sequence[str]
) -> list[str]:
    """Describe each effect without a finite value in a sentence."""
    sentences = []
    for column, sign in effects:
        if sign:
            won, end = ("won", "grows") if sign > 0 else ("lost", "falls")
            text = (
                f"No comparison contradicts an ever larger effect of {names[column]}, "
                f"which {end} without end: the side that it favors {won}."
            )
        else:
            text = (
                f"The effect of {names[column]} cannot be told from strengths: any "
                "value fits as well."
            )
        sentences.append(text)
    return sentences


def coefficient_table(
    names: list[str], estimate: Floats, error: Floats
) -> pl.DataFrame:
    """Give estimates with standard errors and two-sided p-values of no effect."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimate / error
    columns = {"estimate": estimate, "standard_error": error, "z": z}
    columns |= {"p_value": 2.0 * ndtr(-np.abs(z))}
    return pl.DataFrame({"coefficient": names} | columns)
