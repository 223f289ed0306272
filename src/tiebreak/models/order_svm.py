# SPDX-License-Identifier: BSD-3-Clause
"""The order support vector machine: machines for "in the top t" that share a utility.

Sign convention: an item in the top t is on the positive side of cut t, so that a larger
utility is better. (As printed in the paper of Kamishima et al. the sign is the other
way round, which would reverse the order.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from tiebreak.data import Orders, check_weights, is_pairs
from tiebreak.data.messages import warn_user
from tiebreak.models.base import check_positive
from tiebreak.models.graded_program import read_grades
from tiebreak.models.order_program import Places, choose_cuts
from tiebreak.models.threshold_machine import ThresholdMachine
from tiebreak.models.threshold_program import ThresholdProgram, distinct_items
from tiebreak.solvers import DualSolution

__all__ = ["OrderSVM"]


class OrderSVM(ThresholdMachine, BaseEstimator):
    """A utility from ranked lists, by machines for "in the top t" that share it.

    With z_it = +1 if item i is within the first t places of its list, else -1, it
    solves ::

        minimize over w, v, b   ½ ‖w‖² + ½ coupling Σ_t ‖v_t‖²
                                + C Σ_t Σ_i w_i (1 - z_it ((w + v_t)·Φ(x_i) - b_t))₊,

    a sum over cuts t and over the items of all lists that are longer than t, not a
    mean. Tied items whose places lie on both sides of a cut take no part in it. Every
    cut has a machine of its own, w + v_t; the utility is what they share, w·Φ(x).

    Parameters
    ----------
    C : float, default=0.1
        Cost of a violated margin.
    coupling : float, default=1.0
        Price of a machine that differs from the shared one. With a large value there
        is one direction for all cuts; with a small one they are free, and the utility
        is the sum of what they found, scaled down.
    cuts : array-like of int, default=None
        The cuts t. None: all that have an item on either side; of more than 50, evenly
        spaced ones are used, with a warning.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        Kernel between items, as in :class:`SVMCompare`. With ``"precomputed"``, X is
        the square matrix of the values between all items in ``fit`` (for orders, their
        item table is that matrix), and the values between new items and these
        afterwards.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``; ``"scale"`` looks at the distinct items.
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
        Megabytes for rows of the kernel.

    Attributes
    ----------
    cuts_ : ndarray of int of shape (n_cuts,)
        The cuts t that were used, ascending.
    thresholds_ : ndarray of shape (n_cuts,)
        b_t of every cut; the middle of its interval where several values are as good.
    coef_ : ndarray of shape (n_features,)
        w, for the linear kernel.
    cut_coef_ : ndarray of shape (n_cuts, n_features)
        v_t of every cut, for the linear kernel: w is ``coupling`` times their sum.
    support_ : ndarray of int
        Training rows with a non-zero coefficient: rows of X, or entries of
        ``orders.flat``.
    dual_coef_ : ndarray
        Their coefficients: w = Σ dual_coef_[s] Φ(x_s).
    support_items_, item_coef_ : ndarray
        The utility is Σ item_coef_[j] k(support_items_[j], x), for other kernels.
    objective_ : float
        Value of the objective.
    gap_ : float
        Relative duality gap: how far the objective may at most be above the best one.
    n_iter_ : int
        Iterations of the solver.
    converged_ : bool
        Whether the tolerance was reached.
    solver_ : str
        The parts of the solver that were used.
    gamma_ : float
        The value of ``gamma``, for ``"poly"`` and ``"rbf"``.
    fitted_with_qid_ : bool
        Whether ``fit`` was given ``qid`` or orders.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    See Also
    --------
    RankSVM : Compares the items of a list with each other.
    OrdinalSVM : Grades that mean the same for all items.

    Notes
    -----
    "In the top t" means the same for all lists only if their items are drawn from the
    same population: the third of three good items and the third of three bad ones are
    treated alike. Where lists differ in that way, RankSVM is the better choice.

    The weight of a row multiplies its terms and does not move the others: a row of
    weight 2 is not the same as two rows, because a second item takes a second place in
    the list. A row of weight 0 takes no place, as if it were absent. The weight of a
    list is that of each of its items, and a list of weight 2 is the same as two lists.

    References
    ----------
    Kazawa, Hirao and Maeda, "Order SVM: a kernel method for order learning based on
    generalized order statistics", 2005. Kamishima, Kazawa and Akaho, "Supervised
    ordering: an empirical survey", 2005.

    Examples
    --------
    >>> from tiebreak import Orders, OrderSVM
    >>> items = [[0.0], [1.0], [2.0], [3.0]]
    >>> orders = Orders(items, [[3, 2, 1], [2, 1, 0], [3, [1, 2], 0]])
    >>> model = OrderSVM(kernel="linear").fit(orders)
    >>> model.cuts_
    array([1, 2, 3])
    >>> model.order(items)
    array([3, 2, 1, 0])
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    cuts_: NDArray[np.int64]

    def __init__(
        self,
        C: float = 0.1,
        *,
        coupling: float = 1.0,
        cuts: ArrayLike | None = None,
        kernel: str | Callable[..., np.ndarray] = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        cache_size: float = 200,
    ) -> None:
        self.C = C
        self.coupling = coupling
        self.cuts = cuts
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from ranked lists, or from graded items in groups.

        Parameters
        ----------
        X : Orders, or array-like, DataFrame or sparse matrix of shape (n, n_features)
            Lists, or items with grades.
        y : array-like of shape (n,), optional
            Grades, higher is better; every group is a list in the order of its grades,
            equal grades are tied. None for Orders.
        qid : array-like of shape (n,), optional
            Group of each item; None for one group. None for Orders.
        sample_weight : array-like of shape (n,), optional
            Weight of each item in the sum, or of each list. A row of weight 0 counts as
            absent.

        Returns
        -------
        Self
            The fitted model.
        """
        self._solve(self._read(X, y, qid, sample_weight))
        return self

    def _read(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> ThresholdProgram:
        check_positive(self, "C", "coupling", "tol", "max_iter", "cache_size")
        if is_pairs(X):
            raise TypeError(
                "OrderSVM learns from ranked lists: Orders, or a table X with grades y "
                "and groups qid; got comparisons. Try RankSVM or SVMCompare, which "
                "take these, or write each as a list of two items."
            )
        per_list = isinstance(X, Orders) and sample_weight is not None
        if per_list:
            of_lists = check_weights(sample_weight, len(X))
            sample_weight = None
        grades, weight = read_grades(self, X, y, qid, sample_weight)
        if per_list:
            weight = np.repeat(of_lists, X.lengths)
        present = np.flatnonzero(weight)
        places = Places.of_grades(grades.y[present], grades.group[present])
        self.cuts_ = choose_cuts(type(self).__name__, self.cuts, places)
        if places.n_idle:
            warn_user(
                f"{places.n_idle} of {places.n_lists} groups have one item only or all "
                "grades equal. Nothing is to be learned from them, and they are left "
                "out."
            )
        side = places.sides(self.cuts_)
        used = np.flatnonzero(side.any(axis=0))
        n_cuts, own = len(self.cuts_), np.sqrt(1.0 / self.coupling)
        return ThresholdProgram.of_sides(
            distinct_items(self, grades, present[used]),
            side[:, used],
            weight[present[used]],
            present[used],
            np.column_stack([np.ones(n_cuts), own * np.eye(n_cuts)]),
            1e6 * self.cache_size,
        )

    def _unpack(self, program: ThresholdProgram, solution: DualSolution) -> None:
        self.thresholds_ = program.thresholds(solution)
        if program.items.is_linear:
            own = np.sqrt(1.0 / self.coupling)
            self.cut_coef_ = np.array(
                [own * program.items.linear_coef(a) for a in solution.coef[1:]]
            )
