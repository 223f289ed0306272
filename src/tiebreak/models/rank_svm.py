# SPDX-License-Identifier: BSD-3-Clause
"""The ranking support vector machine on comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator

from tiebreak.models.kernel_machine import PairKernelMachine
from tiebreak.models.pair_program import PairDual, PairProgram

__all__ = ["RankSVM"]


class RankSVM(PairKernelMachine, BaseEstimator):
    """Pairwise support vector machine: a utility that orders the compared items.

    With d = Φ(right) - Φ(left) it solves

        minimize over w   ½ ‖w‖² + C Σ_{y≠0} (1 - y w·d)₊      (ties="ignore"),

    a sum over comparisons and not a mean. With ``ties="both"`` every tie counts once in
    each direction, (1 - w·d)₊ + (1 + w·d)₊, and every other comparison twice, so that
    all rows have equal weight. There is no intercept and no threshold: ``predict``
    calls a tie only where two utilities are equal. Wrap it in
    :class:`ThresholdCompare` to predict ties: ``ThresholdCompare(RankSVM())`` is the
    method *rank* of Venuto et al., and with ``ties="both"`` their *rank2*.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        Kernel between items, as in :class:`SVMCompare`.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``.
    degree : int, default=3
        Degree of ``"poly"``.
    coef0 : float, default=0.0
        Constant of ``"poly"``.
    ties : {"ignore", "both"}, default="ignore"
        What a tie means for the order.
    tol : float, default=1e-3
        Bound on the relative duality gap, and on the violation of the optimality
        conditions in units of the margin.
    max_iter : int, default=10000
        Iterations of the solver at most; then a warning carries the gap.
    cache_size : float, default=200
        Megabytes for rows of the pair kernel.

    Attributes
    ----------
    support_ : ndarray of int
        Training comparisons with a non-zero coefficient.
    dual_coef_ : ndarray
        Their coefficients: w = Σ dual_coef_[t] (Φ(right_t) - Φ(left_t)).
    coef_ : ndarray of shape (n_features,)
        Weights of the features, for the linear kernel. Without features: the utility
        of each item of ``items_``.
    items_ : ndarray
        Names of the items, when they have no features.
    support_items_, item_coef_ : ndarray
        The utility is Σ item_coef_[j] k(support_items_[j], x), for other kernels.
    objective_, gap_, n_iter_, converged_, solver_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    References
    ----------
    Joachims, "Optimizing search engines using clickthrough data", 2002.
    Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector comparison machines".

    Examples
    --------
    >>> from tiebreak import Pairs, RankSVM
    >>> items = [[0.0], [1.0], [2.0]]
    >>> pairs = Pairs(items, left=[0, 1, 0], right=[1, 2, 2])
    >>> model = RankSVM(kernel="linear").fit(pairs, [1, 1, 1])
    >>> model.order(items)
    array([2, 1, 0])
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
        ties: str = "ignore",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        cache_size: float = 200,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ties = ties
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    def _dual(self, program: PairProgram) -> PairDual:
        return program.order(self.C, self.ties)

    def _check_outcomes(self, outcome: np.ndarray) -> None:
        if self.ties not in ("ignore", "both"):
            raise ValueError(
                f"ties={self.ties!r} is not known; expected 'ignore' or 'both'."
            )
        if self.ties == "ignore" and not outcome.any():
            raise ValueError(
                f"all {len(outcome)} comparisons are ties, and RankSVM(ties='ignore') "
                "learns from the others only. Try SVMCompare, which learns from ties."
            )
