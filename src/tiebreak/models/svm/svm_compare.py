# SPDX-License-Identifier: BSD-3-Clause
"""The support vector comparison machine of Venuto et al."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data.messages import DataWarning, FitWarning, warn_user
from tiebreak.data.parameters import POSITIVE
from tiebreak.kernels.functions import Gamma, Kernel
from tiebreak.models.base import OUTCOMES, ThresholdWarning, fits_outcomes
from tiebreak.models.svm.machine import PairDual, PairKernelMachine, PairProblem
from tiebreak.solvers import DualSolution, best_threshold


class SVMCompare(PairKernelMachine, ClassifierMixin, BaseEstimator):
    """Support vector machine that learns left / tie / right from comparisons.

    With d = Φ(right) - Φ(left) for a comparison, it solves ::

        minimize over u, β   ½ ‖u‖² + C Σ_{y≠0} (1 - y u·d - β)₊
                                  + C t Σ_{y=0} (1 + u·d + β)₊ + (1 - u·d + β)₊.

    A tie appears once in each direction and weighs t, ``tie_weight``. All sums run over
    comparisons and none is a mean, so C weighs every single comparison. The utility is
    u·Φ(x); a pair is called a tie when its difference of utilities is at most
    ``threshold_`` in size. The dual is solved on rows of the pair kernel over distinct
    items, which is never formed, to a certified duality gap. ``tie_weight=1`` is the
    problem of Venuto et al., which can have u = 0 as its optimum: see the notes.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        Kernel between items. ``"precomputed"``: the item table of the Pairs is the
        matrix of kernel values, items × items for ``fit`` and items × training items
        afterwards. A callable takes two tables and returns all values between them.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``; ``"scale"`` is 1 / (p · variance of the
        distinct training items).
    degree, coef0 : int, default=3, and float, default=0.0
        Degree and constant of ``"poly"``.
    tie_weight : "balanced" or float, default="balanced"
        Weight t of a tie in the problem, beside its sample weight. ``"balanced"``:
        n₁ / (2 n₀), with n₁ and n₀ the summed weights of decided rows and of ties. 1:
        the problem of the paper, whose threshold is max(0, -β). For every other value
        β belongs to the weighted rows, so the threshold of least training error is
        learned from the rows as they are, exactly, as in :class:`ThresholdCompare`.
    tol : float, default=1e-3
        Bound on the relative duality gap, and on the violation of the optimality
        conditions in units of the margin.
    max_iter : int, default=10000
        Iterations of the solver at most; then a warning carries the gap.
    cache_size : float, default=200
        Megabytes for rows of the pair kernel.

    Attributes
    ----------
    intercept_ : float
        β. The midpoint of its interval when several values are optimal.
    threshold_ : float
        The largest difference of utilities that is a tie: max(0, -β) with
        ``tie_weight=1``, otherwise learned.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    support_, dual_coef_ : ndarray
        Training comparisons with a non-zero coefficient, and these coefficients:
        u = Σ dual_coef_[t] (Φ(right_t) - Φ(left_t)).
    coef_ : ndarray of shape (n_features,)
        Weights of the features, for the linear kernel. Items without features have one
        utility each, and their names are ``items_``.
    support_items_, item_coef_ : ndarray
        The utility is Σ item_coef_[j] k(support_items_[j], x), for other kernels.
    objective_, gap_ : float
        Primal value and relative duality gap reached.
    n_iter_, converged_, solver_ : int, bool, str
        Iterations taken, whether the tolerance was reached, and the solver.
    gamma_ : float
        The value of gamma used.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    See Also
    --------
    ThresholdCompare : Learns the threshold separately, for any utility.
    RankSVM : Orders only, ties ignored or counted in both directions.

    Notes
    -----
    **When the utility is zero.** Let n₁ comparisons be decided and n₀ be ties. The
    optimum of the paper's problem is u = 0, whatever C is, if and only if

    - Σ c_i y_i d_i = 0 over decided rows for some c in [0, 1] with Σ c_i = 2 n₀. Then
      β = +1: ties are few, and some of the wins contradict each other; or
    - Σ y_i d_i = Σ b_j d_j, b_j = a_j - a'_j over ties, for some a, a' in [0, 1] with
      Σ (a_j + a'_j) = n₁. Then β = -1: ties are many, and as far apart as wins.

    (2 n₀ = n₁ allows any β in between, if Σ y_i d_i = 0.) A linear kernel had this
    optimum on sushi and on chess, in five of five folds. A warning says so. With
    ``"balanced"`` every β in (-1, 1) is optimal at u = 0, where the gradient in u is
    -C Σ y_i d_i: so zero is not optimal, unless this sum is zero. Left and right weigh
    the same, so that swapping the sides still mirrors the model.

    **Why it is the default.** Held-out error of ``tie_weight=1`` and of ``"balanced"``,
    linear kernel, C chosen among three: sushi .286 and .226, chess .507 and .462,
    football .405 and .409, two sets of votes .583 and .548, .595 and .596; with a
    Gaussian kernel .261 and .245, .499 and .492, .413 and .430 on the first three. So 1
    may be better where it does not collapse: also on simulated comparisons, by one to
    three points (``make_norms``, `examples/unseen_items.py`). The squared hinge
    cannot collapse either, but its errors were those of ``"balanced"`` within .005, so
    that there is no second loss.

    With ``tie_weight=1``, β ≥ 0 happens when ties are few or C is small; then no tie is
    ever predicted, and a warning says so. Without any tie the model is fitted as
    :class:`RankSVM` with threshold 0; with nothing but ties the utility is zero.

    References
    ----------
    Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector comparison machines".

    Examples
    --------
    >>> from tiebreak import SVMCompare
    >>> from tiebreak.datasets import make_norms
    >>> train = make_norms(200, norm=2, random_state=0)
    >>> test = make_norms(1000, norm=2, random_state=1)
    >>> model = SVMCompare(C=10, gamma=0.25).fit(train.pairs, train.y)
    >>> bool(model.score(test.pairs, test.y) > 0.85)
    True
    """

    __module__ = "tiebreak"  # where users find it

    _parameters: ClassVar = {
        **PairKernelMachine._parameters,
        "tie_weight": POSITIVE | "balanced",
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tie_weight: float | Literal["balanced"] = "balanced",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        cache_size: float = 200,
    ) -> None:
        super().__init__(
            C, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, tol=tol,
            max_iter=max_iter, cache_size=cache_size,
        )  # fmt: skip
        self.tie_weight = tie_weight

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("tie_weight", 1.0)  # the only weight of version 0.1

    fit = fits_outcomes(PairKernelMachine.fit)

    def _dual(self, problem: PairProblem) -> PairDual:
        return problem.compare(self.C, _tie_weight(self.tie_weight, problem))

    def _own_attributes(
        self, problem: PairProblem, dual: PairDual, solution: DualSolution
    ) -> dict[str, Any]:
        intercept = float(solution.levels[0]) + dual.shift
        threshold = None
        if self.tie_weight != 1 and problem.tied.any() and problem.decided:
            threshold = _learn_threshold(problem, solution.fitted[0])
        if problem.tied.sum() == 0:
            warn_user(
                "There are no ties among the comparisons, so the model only orders: it "
                "is fitted as RankSVM, with threshold_ = 0.",
                DataWarning,
            )
        elif problem.decided == 0:
            intercept = -1.0
            warn_user(
                "All comparisons are ties: the utility is zero everywhere and every "
                "prediction is a tie.",
                DataWarning,
            )
        elif _is_flat(problem, solution):
            # No ThresholdWarning, which ThresholdCompare hides: it cannot repair this.
            warn_user(_flat_message(self.tie_weight, intercept), FitWarning)
        elif threshold is not None:
            pass  # the best there is for these utilities
        elif intercept >= 0:
            warn_user(
                f"intercept_ = {intercept:.3g} is not negative, so no tie will "
                "ever be predicted: ties are few or C is small. The utilities are "
                "fine; ThresholdCompare(SVMCompare(...)) learns a threshold for them, "
                "or try tie_weight='balanced' or a larger C.",
                ThresholdWarning,
            )
        elif np.abs(solution.fitted).max() <= -intercept:
            warn_user(
                "Every training comparison is predicted to be a tie: ties are many or "
                "C is small. The utilities are fine; "
                "ThresholdCompare(SVMCompare(...)) learns a threshold for them, or try "
                "tie_weight='balanced' or a larger C.",
                ThresholdWarning,
            )
        return {
            "classes_": OUTCOMES.copy(),
            "intercept_": intercept,
            "threshold_": max(0.0, -intercept) if threshold is None else threshold,
        }


def _tie_weight(weight: float | str, problem: PairProblem) -> float:
    """Return the weight of a tie as a number; 1 where one of the outcomes is absent."""
    if not isinstance(weight, str):
        return float(weight)
    tied = float(problem.tied.sum())
    return problem.decided / (2.0 * tied) if tied and problem.decided else 1.0


def _learn_threshold(problem: PairProblem, difference: np.ndarray) -> float:
    """Return the threshold of least error on the comparisons as they were given."""
    outcome = np.repeat([-1, 0, 1], problem.n_rows)
    weight = np.concatenate([problem.left_better, problem.tied, problem.right_better])
    present = weight > 0
    threshold, _ = best_threshold(
        np.tile(difference, 3)[present], outcome[present], weight[present]
    )
    # Only ties: it is the largest difference, and `predict` may round that upwards.
    only_ties = bool(threshold >= np.abs(difference).max())
    return threshold * (1.0 + 1e-9 * only_ties)


def _flat_message(tie_weight: float | str, intercept: float) -> str:
    if tie_weight == "balanced":
        cause = "the differences Φ(right) - Φ(left) of wins and losses cancel"
        remedy = "Try other features or another kernel."
    else:
        many = "ties are as far apart as wins, or many"
        cause = many if intercept < 0 else "ties are few and wins contradict each other"
        remedy = (
            "Try tie_weight='balanced', which has no such optimum, LogisticCompare or "
            "ThresholdCompare(RankSVM(...))."
        )
    return (
        "The optimum gives all training items the same utility, for every C: with this "
        f"kernel {cause} (intercept_ = {intercept:.3g}). What is left of the "
        f"utilities is rounding. {remedy}"
    )


def _is_flat(problem: PairProblem, solution: DualSolution) -> bool:
    """Whether no comparison has a difference of utilities, but for rounding."""
    largest = float(problem.rows.diagonal().max())
    rounding = 1e-13 * largest * float(np.abs(solution.s).sum())
    return bool(np.abs(solution.fitted).max() <= min(rounding, 1e-6))
