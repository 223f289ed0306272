# SPDX-License-Identifier: BSD-3-Clause
"""The support vector comparison machine of Venuto et al."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data.messages import warn_user
from tiebreak.models.base import OUTCOMES, ThresholdWarning
from tiebreak.models.svm.machine import PairDual, PairKernelMachine, PairProblem
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
    degree, coef0 : int, default=3, and float, default=0.0
        Degree and constant of ``"poly"``.
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

    def _dual(self, problem: PairProblem) -> PairDual:
        return problem.compare(self.C)

    def _own_attributes(
        self, problem: PairProblem, dual: PairDual, solution: DualSolution
    ) -> dict[str, Any]:
        intercept = float(solution.levels[0]) + dual.shift
        only_ties = problem.right_better.sum() + problem.left_better.sum() == 0
        if problem.tied.sum() == 0:
            warn_user(
                "There are no ties among the comparisons, so the model only orders: it "
                "is fitted as RankSVM, with threshold_ = 0."
            )
        elif only_ties:
            intercept = -1.0
            warn_user(
                "All comparisons are ties: the utility is zero everywhere and every "
                "prediction is a tie."
            )
        elif _is_flat(problem, solution):
            warn_user(
                "The optimum gives all training items the same utility: with this "
                "kernel, items that tied are as far apart as items that won, or ties "
                "are few. What is left of the utilities is rounding. "
                "ThresholdCompare(RankSVM(...)) learns from wins and losses alone, and "
                "LogisticCompare has no such optimum.",
                ThresholdWarning,
            )
        elif intercept >= 0:
            warn_user(
                f"intercept_ = {intercept:.3g} is not negative, so no tie will "
                "ever be predicted: ties are few or C is small. The utilities are "
                "fine; ThresholdCompare(SVMCompare(...)) learns a threshold for them, "
                "or try a larger C.",
                ThresholdWarning,
            )
        elif np.abs(solution.fitted).max() <= -intercept:
            warn_user(
                "Every training comparison is predicted to be a tie: ties are many or "
                "C is small. The utilities are fine; "
                "ThresholdCompare(SVMCompare(...)) learns a threshold for them, or try "
                "a larger C.",
                ThresholdWarning,
            )
        return {
            "classes_": OUTCOMES.copy(),
            "intercept_": intercept,
            "threshold_": max(0.0, -intercept),
        }


def _is_flat(problem: PairProblem, solution: DualSolution) -> bool:
    """Whether no comparison has a difference of utilities, but for rounding."""
    largest = float(problem.rows.diagonal().max())
    rounding = 1e-13 * largest * float(np.abs(solution.s).sum())
    return bool(np.abs(solution.fitted).max() <= min(rounding, 1e-6))
