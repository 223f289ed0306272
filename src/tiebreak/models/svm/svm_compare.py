# SPDX-License-Identifier: BSD-3-Clause
"""The support vector comparison machine of Venuto et al."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data.messages import warn_user
from tiebreak.models.base import OUTCOMES, ThresholdWarning
from tiebreak.models.svm.pair_machine import PairKernelMachine
from tiebreak.models.svm.pair_problem import PairDual, PairProblem
from tiebreak.solvers import DualSolution


class SVMCompare(PairKernelMachine, ClassifierMixin, BaseEstimator):
    """Support vector machine that learns left / tie / right from comparisons.

    With d = Φ(right) - Φ(left) for a comparison, it solves ::

        minimize over u, β   ½ ‖u‖² + C Σ_{y≠0} (1 - y u·d - β)₊
                                    + C Σ_{y=0} (1 + u·d + β)₊ + (1 - u·d + β)₊.

    A tie appears once in each direction. All sums run over comparisons and none is a
    mean, so C weighs every single comparison. The utility is u·Φ(x); a pair is called a
    tie when its difference of utilities is at most ``threshold_`` = max(0, -β) in size.
    The dual is solved on rows of the pair kernel over distinct items, which is never
    formed, to a certified duality gap.

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
    degree : int, default=3
        Degree of ``"poly"``.
    coef0 : float, default=0.0
        Constant of ``"poly"``.
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
        max(0, -β): the largest difference of utilities that is a tie.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    support_ : ndarray of int
        Training comparisons with a non-zero coefficient.
    dual_coef_ : ndarray
        Their coefficients: u = Σ dual_coef_[t] (Φ(right_t) - Φ(left_t)).
    coef_ : ndarray of shape (n_features,)
        Weights of the features, for the linear kernel. Without features: the utility
        of each item of ``items_``.
    items_ : ndarray
        Names of the items, when they have no features.
    support_items_, item_coef_ : ndarray
        The utility is Σ item_coef_[j] k(support_items_[j], x), for other kernels.
    objective_ : float
        Primal value reached.
    gap_ : float
        Relative duality gap reached.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether the tolerance was reached.
    solver_ : str
        Parts of the solver that were needed.
    gamma_ : float
        The value of gamma used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    See Also
    --------
    ThresholdCompare : Learns the threshold separately, for any utility.
    RankSVM : Orders only, ties ignored or counted in both directions.

    Notes
    -----
    β ≥ 0 happens when ties are few or C is small; then no tie is ever predicted, and a
    warning says so. Without any tie the model is fitted as :class:`RankSVM` with
    threshold 0; with nothing but ties the utility is zero.

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

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable[..., np.ndarray] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        cache_size: float = 200,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    def _dual(self, problem: PairProblem) -> PairDual:
        if problem.tied.sum() == 0:
            return problem.order(self.C, "ignore")
        return problem.compare(self.C)

    def _unpack(
        self, problem: PairProblem, dual: PairDual, solution: DualSolution
    ) -> None:
        super()._unpack(problem, dual, solution)
        self.classes_ = OUTCOMES.copy()
        self.intercept_ = float(solution.levels[0]) + dual.shift
        self.threshold_ = max(0.0, -self.intercept_)

    def _finish(self, problem: PairProblem, solution: DualSolution) -> None:
        differ = problem.right_better.sum() + problem.left_better.sum()
        if problem.tied.sum() == 0:
            warn_user(
                "There are no ties among the comparisons, so the model only orders: it "
                "is fitted as RankSVM, with threshold_ = 0."
            )
        elif differ == 0:
            self.intercept_, self.threshold_ = -1.0, 1.0
            warn_user(
                "All comparisons are ties: the utility is zero everywhere and every "
                "prediction is a tie."
            )
        elif _is_flat(problem, solution):
            warn_user(
                "The optimum gives all training items the same utility: items that "
                "tied are as far apart as items that won, as far as this kernel can "
                "tell, or ties are few. What is left of the utilities is rounding. "
                "ThresholdCompare(RankSVM(...)) learns from wins and losses alone, and "
                "LogisticCompare has no such optimum.",
                ThresholdWarning,
            )
        elif self.intercept_ >= 0:
            warn_user(
                f"intercept_ = {self.intercept_:.3g} is not negative, so no tie will "
                "ever be predicted: ties are few or C is small. The utilities are "
                "fine; ThresholdCompare(SVMCompare(...)) learns a threshold for them, "
                "or try a larger C.",
                ThresholdWarning,
            )
        elif np.abs(solution.fitted).max() <= self.threshold_:
            warn_user(
                "Every training comparison is predicted to be a tie: ties are many or "
                "C is small. The utilities are fine; "
                "ThresholdCompare(SVMCompare(...)) learns a threshold for them, or try "
                "a larger C.",
                ThresholdWarning,
            )


def _is_flat(problem: PairProblem, solution: DualSolution) -> bool:
    """Whether no comparison has a difference of utilities, but for rounding."""
    largest = float(problem.rows.diagonal().max())
    rounding = 1e-13 * largest * float(np.abs(solution.s).sum())
    return bool(np.abs(solution.fitted).max() <= min(rounding, 1e-6))
