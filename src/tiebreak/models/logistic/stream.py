# SPDX-License-Identifier: BSD-3-Clause
r"""Comparisons as they come: ``partial_fit`` of :class:`LogisticCompare`.

Steps of one comparison each, for :class:`LogisticCompare` on a stream.

Every coefficient, and the tie parameter, has four numbers:

* a *value* that every comparison moves,
* the *average* of this value over the comparisons that touched it, later ones counting
  more (weights 1, 2, 3, …): this is what the model predicts with,
* the *curvature* P of the penalized loss so far: 2 α, plus h x² for every comparison
  with second derivative h in which the coefficient is multiplied by x,
* the *weight* T of the comparisons that touched it.

A comparison with loss ℓ moves the values to the minimum of

.. math:: ℓ(β) + \frac{1}{2η} \sum_j P_j\,T_j^{-1/4}\,(β_j - β_j^{\text{old}})^2,

an implicit step: it solves an equation in one variable, the difference d, and cannot
overshoot, whatever the size of the features. P alone would give steps that shrink like
1/T, the best for a diagonal Hessian; T to the power -3/4 forgets the start faster when
features are correlated, and the average removes the noise that this leaves.

The parameter t of the cumulative link must stay positive, and a tie bends the loss like
1/t² near 0. Its curvature and its steps are therefore those of u = ln(θ - 1), the log
odds of a tie against a win of one of two equal items (which ln ν is for Davidson's
link), and no step takes more than half of t.

The order of the rows matters. Rows passed twice count twice, like rows of weight two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_pairs, check_comparisons, check_outcomes
from tiebreak.data.columns import as_names, plain_values
from tiebreak.data.messages import list_rows
from tiebreak.data.validation import check_features, remember_features
from tiebreak.losses import LINKS, OutcomeLink
from tiebreak.metrics.inputs import outcome_vector

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# The rows of a state, an array of shape (4, q + 1) whose last column is t.
VALUE, AVERAGE, CURVATURE, WEIGHT = range(4)

_CHUNK = 4096
_MAX_STEPS = 60


def new_tie(link: OutcomeLink, totals: Vector) -> Vector:
    """Tie parameter as if each outcome had been seen once more, between equal items.

    A stream never says that what has not happened yet is impossible.

    Parameters
    ----------
    link : OutcomeLink
        What the parameter belongs to.
    totals : ndarray of shape (3,)
        Weights of the outcomes left, tie and right so far.

    Returns
    -------
    ndarray of shape (4,)
    """
    seen = totals + 1.0
    t = link.start(float(seen[1] / seen.sum()))
    curvature = link.expand(np.zeros(1), t, seen[None, :]).tie_curvature
    return np.array([t, t, curvature * tie_scale(link, t), seen.sum()])


def tie_scale(link: OutcomeLink, t: float) -> float:
    """Factor of the curvature of t in a state; see the module.

    Parameters
    ----------
    link : OutcomeLink
        What t belongs to.
    t : float
        The tie parameter.

    Returns
    -------
    float
    """
    return _tie_scale(link.name == "cumulative", t)


def add_coefficients(state: Vector, penalty: Vector) -> Vector:
    """Give a copy of a state with coefficients that are 0, as curved as their penalty.

    Parameters
    ----------
    state : ndarray of shape (4, q + 1)
        The state so far.
    penalty : ndarray of shape (k,)
        α_j in the penalty Σ α_j β_j² of the new coefficients.

    Returns
    -------
    ndarray of shape (4, q + k + 1)
    """
    new = np.zeros((4, len(penalty)))
    new[CURVATURE] = 2.0 * penalty
    return np.concatenate([state[:, :-1], new, state[:, -1:]], axis=1)


def difference_rows(
    features: Any, left: Codes, right: Codes, units: Codes | None, n_units: int
) -> sp.csr_array:
    """Multipliers of the coefficients in d, of the features and then of the items.

    Parameters
    ----------
    features : ndarray or CSR array of shape (N, p), or None
        Features of the items, if they play a part.
    left, right : ndarray of int64 of shape (n,)
        Items compared.
    units : ndarray of int64 of shape (N,), or None
        Number of the coefficient of each item, if they play a part.
    n_units : int
        How many coefficients of items there are.

    Returns
    -------
    csr_array of shape (n, p + n_units)
        Without stored zeros.
    """
    parts = []
    if features is not None:
        parts.append(sp.csr_array(features[right] - features[left]))
    if units is not None:
        parts.append(_unit_rows(units[left], units[right], n_units))
    return parts[0] if len(parts) == 1 else sp.hstack(parts, format="csr")


def follow(
    state: Vector,
    rows: Callable[[slice], sp.csr_array],
    outcome: NDArray[np.int8],
    weight: Vector,
    *,
    learning_rate: float,
    cumulative: bool,
) -> None:
    """Take one step per comparison, in their order, in place.

    Parameters
    ----------
    state : ndarray of shape (4, q + 1)
        Coefficients and tie parameter.
    rows : callable
        ``rows(part)`` gives the rows of a slice of the comparisons, as
        `difference_rows` does.
    outcome : ndarray of int8 of shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights, all positive.
    learning_rate : float
        η, which multiplies all steps.
    cumulative : bool
        Whether the link is the cumulative one rather than Davidson's.
    """
    for start in range(0, len(outcome), _CHUNK):
        part = slice(start, start + _CHUNK)
        table = rows(part)
        _follow_rows(
            table.indptr.astype(np.int64),
            table.indices.astype(np.int64),
            table.data,
            outcome[part],
            weight[part],
            state,
            learning_rate,
            cumulative,
        )


def _unit_rows(left: Codes, right: Codes, n_units: int) -> sp.csr_array:
    """Rows with +1 at right and -1 at left; empty where they are the same."""
    row = np.flatnonzero(left != right)
    data = np.repeat([-1.0, 1.0], len(row))
    places = (np.concatenate([row, row]), np.concatenate([left[row], right[row]]))
    return sp.csr_array((data, places), shape=(len(left), n_units))


@njit(cache=True, nogil=True)
def _follow_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, outcome, weight, state, rate, cumulative
):
    value, average, curvature, total = state
    tie = state.shape[1] - 1
    steps = np.empty(state.shape[1])
    for row in range(len(outcome)):
        first, last, w, y = indptr[row], indptr[row + 1], weight[row], outcome[row]
        d, t = 0.0, value[tie]
        for k in range(first, last):
            d += data[k] * value[indices[k]]
        _, bend, _, tie_bend = _slopes(cumulative, y, d, t)
        size = 0.0
        for k in range(first, last):
            j = indices[k]
            curvature[j] += w * bend * data[k] ** 2
            total[j] += w
            steps[k - first] = _step_size(curvature[j], total[j], rate) * data[k]
            size += steps[k - first] * data[k]
        scale = _tie_scale(cumulative, t)
        curvature[tie] += w * tie_bend * scale
        total[tie] += w
        tie_size = scale * _step_size(curvature[tie], total[tie], rate)
        value[tie] = _implicit_step(cumulative, y, d, t, w * tie_size, True)
        if size > 0.0:
            move = (_implicit_step(cumulative, y, d, t, w * size, False) - d) / size
            for k in range(first, last):
                j = indices[k]
                value[j] += move * steps[k - first]
                average[j] += 2.0 * w / (total[j] + w) * (value[j] - average[j])
        average[tie] += 2.0 * w / (total[tie] + w) * (value[tie] - average[tie])


@njit(cache=True, nogil=True)
def _step_size(curvature, weight, rate):  # type: ignore[no-untyped-def]
    return rate * math.sqrt(math.sqrt(weight)) / curvature


@njit(cache=True, nogil=True)
def _tie_scale(cumulative, t):  # type: ignore[no-untyped-def]
    """(dt/du)² for u = ln(θ - 1); Davidson's t = ln ν needs no other scale."""
    return math.expm1(-t) ** 2 if cumulative else 1.0


@njit(cache=True, nogil=True)
def _implicit_step(cumulative, y, d, t, size, in_tie):  # type: ignore[no-untyped-def]
    """Minimize loss + (z - start)² / (2 size) over z, which is d, or t if `in_tie`."""
    start = t if in_tie else d
    slopes = _slopes(cumulative, y, d, t)
    slope = slopes[2] if in_tie else slopes[0]
    # The slope rises with z, so the solution lies between the start and where the
    # slope of the start leads.
    low = min(start, start - size * slope)
    high = max(start, start - size * slope)
    if in_tie and cumulative:
        low = max(low, 0.5 * t)  # t stays positive
    z = start
    for _ in range(_MAX_STEPS):
        if in_tie:
            _, _, slope, bend = _slopes(cumulative, y, d, z)
        else:
            slope, bend, _, _ = _slopes(cumulative, y, z, t)
        error = z - start + size * slope
        if error > 0.0:
            high = z
        else:
            low = z
        new = z - error / (1.0 + size * bend)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - z) <= 1e-12 * (1.0 + abs(z)):
            return new
        z = new
    return z


@njit(cache=True, nogil=True)
def _slopes(cumulative, y, d, t):  # type: ignore[no-untyped-def]
    """First and second derivative of -ln p(y) in d, then in t."""
    if not cumulative:
        x = math.exp(-0.5 * abs(d))
        decided, tied = 1.0 + x * x, math.exp(t) * x
        total = decided + tied
        half = math.copysign(0.5 * (1.0 - x * x) / total, d)
        p_tie = tied / total
        bend = (x * x + 0.25 * tied * decided) / (total * total)
        return half - 0.5 * y, bend, p_tie - (y == 0), p_tie * decided / total
    to_right, to_left, tie = 1.0 * (y >= 0), 1.0 * (y <= 0), 1.0 * (y == 0)
    above, below = _sigmoid(t - d), _sigmoid(t + d)
    bend = to_right * above * _sigmoid(d - t) + to_left * below * _sigmoid(-t - d)
    rest, gap = math.exp(-2.0 * t), -math.expm1(-2.0 * t)
    in_t = to_left * below + to_right * above
    in_t -= tie * (2.0 + 2.0 * rest / gap)
    in_tt = bend + tie * 4.0 * rest / (gap * gap)
    return to_left * below - to_right * above, bend, in_t, in_tt


@njit(cache=True, nogil=True)
def _sigmoid(x):  # type: ignore[no-untyped-def]
    small = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)


# What a batch knows about its minimum, and a stream does not.
_OF_BATCHES = ("objective_", "gap_", "n_iter_", "converged_")


class LogisticStream:
    """``partial_fit`` for a model with the parameters of LogisticCompare."""

    alpha: float
    identity: float | None
    kernel: Any
    learning_rate: float
    link: str
    items_: NDArray[Any]
    effect_names_: NDArray[Any]
    _stream: NDArray[np.float64]

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[self.link]

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _check_identity(self, pairs: Pairs) -> None:
        raise NotImplementedError

    def _tie_attributes(self, t: float) -> dict[str, Any]:
        raise NotImplementedError

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        r"""Learn from some more comparisons, one step for each, in their order.

        Goes on from where the last call, or `fit`, has stopped. A comparison moves
        the coefficients and the tie parameter to the minimum of its own loss plus
        Σ P_j T_j^(-1/4) (β_j - β_j^old)² / (2 η), where P_j is the second derivative
        in β_j of everything seen so far, T_j the weight of the comparisons that
        touched β_j, and η the ``learning_rate``: steps on the scale of each feature,
        which cannot overshoot and shrink like T^(-3/4). Predictions are made with the
        average of each coefficient over its steps, later ones weighing more.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons. Names that are new, of items without features or with
            ``identity``, enter with 0.
        y : array-like of shape (n,)
            Outcomes: -1 left is better, 0 tie, +1 right is better.
        sample_weight : array-like of shape (n,), optional
            Weight of each comparison.

        Returns
        -------
        Self
            The model. It has no ``objective_``, ``gap_``, ``n_iter_`` and
            ``converged_``: a stream has no minimum.

        Notes
        -----
        A step takes time in proportion to the features in which the two items differ,
        and a call some more in proportion to the number of coefficients. Only for the
        linear kernel.

        The penalty belongs to the sum over all comparisons, whose number a stream does
        not know. It is there from the beginning, as the curvature 2 α of every
        coefficient at 0, so that its share fades as comparisons come in. Comparisons
        passed a second time count a second time: k passes tend to the minimum of the
        loss plus α / k ‖w‖².

        The tie parameter starts as if each outcome had been seen once between equal
        items, so that P(tie) is neither 0 nor 1 before there is evidence.
        """
        pairs, outcome, weight = self._check_rows(X, y, sample_weight)
        state, names, units = self._grow(pairs)
        by_name = pairs.items is None or hasattr(self, "items_")
        values = None if by_name else pairs.items.values  # type: ignore[union-attr]
        follow(
            state,
            lambda part: difference_rows(
                values, pairs.left[part], pairs.right[part], units, len(names)
            ),
            outcome,
            weight,
            learning_rate=float(self.learning_rate),
            cumulative=self.link == "cumulative",
        )
        self._take(state, names, pairs, by_name)
        return self

    def _check_rows(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64]]:
        self._check_parameters()
        if not isinstance(self.kernel, str) or self.kernel != "linear":
            raise ValueError(
                f"partial_fit needs kernel='linear', got kernel={self.kernel!r}. For "
                "another kernel make approximate features of the items first, for "
                "example by OnItems(Nystroem(...)), and keep kernel='linear'."
            )
        pairs = as_pairs(X)
        if len(pairs) == 0:
            raise ValueError(
                "There are no comparisons: 0 sample(s) while a minimum of 1 is "
                "required."
            )
        if y is None:
            check_outcomes(y, len(pairs))  # says what is missing
        # A few rows without a left winner are nothing unusual, so that the outcomes
        # are not checked as in `fit`, where zeros and ones only call for a warning.
        outcome = outcome_vector(y, "y", len(pairs)).astype(np.int8)
        same = np.flatnonzero((pairs.left == pairs.right) & (outcome != 0))
        if len(same):
            raise ValueError(
                f"{len(same)} comparison(s) say that an item is better than itself: "
                f"{list_rows(same)}. An item compared with itself can only tie; "
                "correct or remove these rows."
            )
        pairs, _, weight = check_comparisons(pairs, np.zeros(len(pairs)), sample_weight)
        self._check_identity(pairs)
        self._check_same_kind(pairs)
        present = weight > 0
        return pairs[present].compact(), outcome[present], weight[present]

    def _check_same_kind(self, pairs: Pairs) -> None:
        """Refuse comparisons of another kind than those learned from before."""
        if not hasattr(self, "tie_"):
            return
        name = type(self).__name__
        if not hasattr(self, "_stream"):
            raise ValueError(
                f"This {name} was fitted with another kernel or on data in partitions, "
                "from which partial_fit cannot go on; fit it with kernel='linear' on "
                "comparisons in memory first."
            )
        if hasattr(self, "items_"):
            if pairs.names is None:
                raise ValueError(
                    f"{name} was fitted on items without features, so items are known "
                    "by name; these Pairs have no names."
                )
            return
        if pairs.items is None:
            raise TypeError(
                f"{name} was fitted on items with features; these Pairs have none "
                "(items=None)."
            )
        check_features(self, pairs.items)
        if hasattr(self, "effect_names_") != (self.identity is not None):
            raise ValueError(
                f"identity={self.identity!r} is not what {name} was fitted with; to "
                "change it, fit again."
            )

    def _grow(
        self, pairs: Pairs
    ) -> tuple[NDArray[np.float64], list[Any], NDArray[np.int64] | None]:
        """Give a copy of the state with all coefficients, and the items' numbers."""
        if hasattr(self, "tie_"):
            state = self._stream.copy()
        else:
            state = new_tie(self._link, np.zeros(3))[:, None]
            if pairs.items is not None:
                penalty = np.full(pairs.items.n_features, float(self.alpha))
                state = add_coefficients(state, penalty)
        by_name = pairs.items is None or hasattr(self, "items_")
        if not by_name and self.identity is None:
            return state, [], None
        assert pairs.names is not None
        known = getattr(self, "items_" if by_name else "effect_names_", np.empty(0))
        number = {name: i for i, name in enumerate(plain_values(known))}
        n_known = len(number)
        units = [number.setdefault(v, len(number)) for v in plain_values(pairs.names)]
        each = self.alpha if by_name else self.identity
        new = np.repeat(np.array([each], dtype=np.float64), len(number) - n_known)
        state = add_coefficients(state, new)
        return state, list(number), np.array(units, dtype=np.int64)

    def _take(
        self,
        state: NDArray[np.float64],
        names: list[Any],
        pairs: Pairs,
        by_name: bool,
    ) -> None:
        """Set what was learned."""
        coef = state[AVERAGE, :-1].copy()
        if by_name:
            self.items_, self.coef_ = as_names(names), coef
        else:
            assert pairs.items is not None
            if not hasattr(self, "tie_"):
                remember_features(self, pairs.items)
            p = pairs.items.n_features
            self.coef_ = coef[:p]
            if self.identity is not None:
                self.effect_names_, self.item_effect_ = as_names(names), coef[p:]
        self.__dict__.update(self._tie_attributes(float(state[AVERAGE, -1])))
        self._stream = state
        for name in _OF_BATCHES:
            self.__dict__.pop(name, None)
