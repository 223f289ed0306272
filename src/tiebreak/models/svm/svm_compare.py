# SPDX-License-Identifier: BSD-3-Clause
"""The support vector comparison machine of Venuto et al."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data import read_comparisons
from tiebreak.data.arrays import Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import POSITIVE, check_parameters
from tiebreak.models.base import ThresholdWarning, warn_one_kind
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.problem import CellProblem, pair_problem
from tiebreak.models.svm import duals
from tiebreak.solvers import best_threshold


@dataclass(eq=False, repr=False)
class SVMCompare(KernelUtility, ClassifierMixin, BaseEstimator):
    """Support vector machine that learns left / tie / right from comparisons.

    With d = Φ(right) - Φ(left) for a comparison, it solves ::

        minimize over u, β   ½ ‖u‖² + C Σ_{y≠0} (1 - y u·d - β)₊
                                  + C t Σ_{y=0} (1 + u·d + β)₊ + (1 - u·d + β)₊.

    A tie appears once in each direction and weighs t, ``tie_weight``. All are sums over
    comparisons, not means. The utility is u·Φ(x); a pair is a tie when its difference
    of utilities is at most ``threshold_`` in size. The dual is solved to a certified
    duality gap, without forming the pair kernel.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        Kernel between items. ``"precomputed"``: the item table holds the kernel values,
        items × items in ``fit`` and items × training items afterwards. A callable maps
        two tables to all values between them.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``; ``"scale"`` is 1 / (p · variance) over
        the distinct training items.
    degree, coef0 : int, default=3, and float, default=0.0
        Degree and constant of ``"poly"``.
    tie_weight : "balanced" or float, default="balanced"
        Weight t of a tie, times its sample weight. ``"balanced"``: n₁ / (2 n₀), with n₁
        and n₀ the summed weights of decided rows and of ties. 1: the problem of Venuto
        et al., whose threshold is max(0, -β); else it is learned as in
        :class:`ThresholdCompare`.
    tol : float, default=1e-3
        Bound on the relative duality gap, and on violations of the optimality
        conditions in units of the margin (20 times as large for more than 1,000
        comparisons of many features with the linear kernel).
    max_iter : int, default=10000
        Iterations at most; then a warning carries the gap.
    cache_size : float, default=200
        Megabytes for rows of the pair kernel.

    Attributes
    ----------
    intercept_ : float
        β; the middle where an interval is optimal.
    threshold_ : float
        The largest difference of utilities that is a tie.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    support_, dual_coef_ : ndarray
        Training comparisons with a nonzero coefficient, and these coefficients:
        u = Σ dual_coef_[t] (Φ(right_t) - Φ(left_t)).
    coef_ : ndarray of shape (n_features,)
        Weights of the features, for the linear kernel; or utilities of items without
        features, whose names are ``items_``.
    support_items_, item_coef_ : ndarray
        The utility is Σ item_coef_[j] k(support_items_[j], x), for other kernels.
    objective_, gap_ : float
        Primal value and relative duality gap reached.
    n_iter_, converged_, solver_ : int, bool, str
        Iterations, whether the tolerance was reached, and the solver.
    gamma_ : float
        The value of gamma used.
    n_features_in_, feature_names_in_
        Number of features; their names, if any.

    Notes
    -----
    With ``tie_weight=1`` the optimum can be u = 0 for every C, where ties are as far
    apart as wins, or few while wins contradict each other; with ``"balanced"`` only if
    Σ y_i d_i = 0. Few ties or a small C can then also give β ≥ 0: no tie is ever
    predicted. Warnings say so.

    Without ties the model is :class:`RankSVM` with threshold 0; with nothing but ties
    the utility is zero.

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

    C: float = 1.0
    _: KW_ONLY
    tie_weight: float | Literal["balanced"] = "balanced"
    tol: float = 1e-3
    max_iter: int = 10_000
    cache_size: float = 200

    _parameters: ClassVar = {
        **duals.DUAL_PARAMETERS,
        "tie_weight": POSITIVE | "balanced",
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.
        y : array-like of shape (n,)
            Outcomes: -1 left is better, 0 tie, +1 right is better.
        sample_weight : array-like of shape (n,), optional
            Weight of each comparison; a weight of 2 is the same as a second row.

        Returns
        -------
        Self
        """
        return self._keep(self._solve(self._read(X, y, None, sample_weight))[0])

    path = duals.path

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> CellProblem:
        check_parameters(self)
        data = read_comparisons(X, y, sample_weight, qid=qid, decode=True)
        return pair_problem(self, data)

    def _solve(self, problem: CellProblem, last: Any = None) -> duals.Fitted:
        left, tied, right = problem.weight
        n_decided, n_tied = float(right.sum() + left.sum()), float(tied.sum())
        both = n_tied > 0 and n_decided > 0
        weight = 1.0 if self.tie_weight == "balanced" else float(self.tie_weight)
        if self.tie_weight == "balanced" and both:
            weight = n_decided / (2.0 * n_tied)
        dual = duals.compare_dual(problem, self.C, weight)
        solution = duals.solve_dual(self, problem, dual, last)
        difference = solution.fitted[0]
        intercept = float(solution.levels[0]) + dual.shift if n_decided else -1.0
        threshold = max(0.0, -intercept)
        if both and self.tie_weight != 1:
            threshold = _learn_threshold(problem, difference)
        if both and duals.is_flat(problem, solution, solution.s):
            # No ThresholdWarning, which ThresholdCompare hides: it cannot repair this.
            warn_user(
                "The optimum gives all training items the same utility, for every C "
                f"(intercept_ = {intercept:.3g}). Try tie_weight='balanced'.",
                FitWarning,
            )
        elif not warn_one_kind(problem.data.y) and self.tie_weight == 1:
            warn_threshold(self, intercept, difference)
        fitted = {
            **duals.keep_dual(problem, dual, solution),
            "classes_": problem.data.classes.copy(),
            "intercept_": intercept,
            "threshold_": threshold,
        }
        return fitted, solution


def warn_threshold(model: Any, intercept: float, difference: Floats) -> None:
    """Warn of a threshold without ties, or with nothing else."""
    if intercept >= 0:
        what = f"intercept_ = {intercept:.3g} is not negative, so no comparison is"
    elif np.abs(difference).max() <= -intercept:
        what = "Every training comparison is"
    else:
        return
    other = f"ThresholdCompare({type(model).__name__}(...))"
    warn_user(
        f"{what} predicted to be a tie: ties are few or many, or C is small. Try "
        f"{other}, which learns a threshold, or a larger C.",
        ThresholdWarning,
    )


def _learn_threshold(problem: CellProblem, difference: Floats) -> float:
    """Return the threshold of least error on the comparisons as they were passed."""
    outcome = np.repeat([-1, 0, 1], len(difference))
    weight = problem.weight.ravel()
    present = weight > 0
    threshold, _ = best_threshold(
        np.tile(difference, 3)[present], outcome[present], weight[present]
    )
    # Only ties: it is the largest difference, and `predict` may round that upwards.
    only_ties = bool(threshold >= np.abs(difference).max())
    return threshold * (1.0 + 1e-9 * only_ties)
