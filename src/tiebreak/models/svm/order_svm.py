# SPDX-License-Identifier: BSD-3-Clause
"""The order support vector machine.

A tied block fills as many places as it has items. A list of L places has the cuts t = 1
… L-1: items that end at place t or before are above, those that begin after it below,
and a tied block with places on both sides takes no part.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from tiebreak.data import read_grades
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import POSITIVE, check_parameters
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.problem import (
    EQUAL_GRADES,
    CellProblem,
    refuse_no_pairs,
    sided_problem,
    warn_idle_groups,
)
from tiebreak.models.svm import duals

# Every cut is a machine of its own for all items.
MAX_CUTS = 50


def list_places(y: Floats, group: Codes) -> tuple[Codes, Codes, Codes]:
    """Give the places of each row in its list, higher grades first, and its length.

    Those of its tied block are ``begin`` to ``end - 1``.
    """
    first, last = (pl.col("y").rank(kind, descending=True) for kind in ("min", "max"))
    places = pl.DataFrame({"y": y, "group": group}).select(
        begin=first.over("group").cast(pl.Int64) - 1,
        end=last.over("group").cast(pl.Int64),
        length=pl.len().over("group").cast(pl.Int64),
    )
    begin, end, length = places.to_numpy().T
    return begin, end, length


def usable_cuts(begin: Codes, end: Codes, length: Codes) -> Codes:
    """Find the cuts with an item above and an item below, ascending."""
    # A row is above the cuts from its end to the last of its list, and below those from
    # the first to its begin.
    n = int(length.max()) + 1
    above = np.cumsum(np.bincount(end, minlength=n) - np.bincount(length, minlength=n))
    return np.flatnonzero(above[: begin.max() + 1])


def cut_sides(cuts: Codes, begin: Codes, end: Codes, length: Codes) -> NDArray[np.int8]:
    """Return the side of every row for B cuts, shape (B, n): 0 for none."""
    t = cuts[:, None]
    above = (end <= t) & (length > t)
    return above.astype(np.int8) - (begin >= t).astype(np.int8)


def choose_cuts(cuts: Any, usable: Codes) -> Codes:
    """Return the cuts that were chosen, or all usable ones, ascending."""
    if cuts is not None:
        chosen = np.unique(cuts)
        if not len(chosen) or not np.isin(chosen, usable).all():
            raise ValueError(
                f"OrderSVM got cuts={cuts!r}; expected some of {usable.tolist()}, the "
                "cuts of these lists with items above and below."
            )
        return chosen.astype(np.int64)
    if len(usable) <= MAX_CUTS:
        return usable
    warn_user(
        f"OrderSVM: the lists have {len(usable)} cuts; {MAX_CUTS} of them are used, "
        "evenly spaced. cuts chooses others.",
        DataWarning,
    )
    return usable[np.linspace(0, len(usable) - 1, MAX_CUTS).round().astype(int)]


@dataclass(eq=False, repr=False)
class OrderSVM(KernelUtility, BaseEstimator):
    """A utility from ranked lists, by machines for "in the top t" that share it.

    With z_it = +1 if item i is within the first t places of its list, else -1, it
    solves ::

        minimize over w, v, b   ½ ‖w‖² + ½ coupling Σ_t ‖v_t‖²
                                + C Σ_t Σ_i w_i (1 - z_it ((w + v_t)·Φ(x_i) - b_t))₊,

    a sum over cuts t and the items of all lists longer than t, not a mean. Tied items
    on both sides of a cut take no part in it. Every cut has its own machine, w + v_t;
    the utility is what they share, w·Φ(x).

    Parameters
    ----------
    C : float, default=0.1
        Cost of a violated margin.
    kernel, gamma, degree, coef0
        As in :class:`SVMCompare`. ``"precomputed"``: X, or the item table of orders,
        holds the kernel values.
    coupling : float, default=1.0
        Price of a machine that differs from the shared one. A large value gives one
        direction for all cuts; a small one leaves them free.
    tol, max_iter, cache_size
        As in :class:`SVMCompare`.
    cuts : array-like of int, default=None
        The cuts t. None: all with items on both sides; of more than 50, evenly spaced
        ones, with a warning.

    Attributes
    ----------
    cuts_ : ndarray of int of shape (n_cuts,)
        The cuts used, ascending.
    thresholds_ : ndarray of shape (n_cuts,)
        b_t of every cut; the middle where an interval is optimal.
    cut_coef_ : ndarray of shape (n_cuts, n_features)
        v_t, for the linear kernel; w is ``coupling`` times their sum.
    coef_, support_, dual_coef_, support_items_, item_coef_ : ndarray
        The utility, as in :class:`RankSVM`; ``support_`` of orders are entries of
        ``orders.flat``.
    objective_, gap_, n_iter_, converged_, solver_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    "In the top t" means the same for all lists only if their items come from the same
    population; otherwise prefer RankSVM.

    A row of weight 2 is not two rows, because a second item takes a second place; a
    list of weight 2 is two lists.

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

    C: float = 0.1
    _: KW_ONLY
    coupling: float = 1.0
    cuts: ArrayLike | None = None
    tol: float = 1e-3
    max_iter: int = 10_000
    cache_size: float = 200

    _parameters: ClassVar = {**duals.DUAL_PARAMETERS, "coupling": POSITIVE}
    _fitted_arrays: ClassVar = {
        "cuts_": "c: index",
        "thresholds_": "c",
        "cut_coef_": "c *",
    }

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
        X, y, qid
            As in ``RankSVM.fit``, without comparisons; every group is a list.
        sample_weight : array-like of shape (n,), optional
            Weight of each item or list.

        Returns
        -------
        Self
        """
        return self._keep(self._solve(self._read(X, y, qid, sample_weight))[0])

    path = duals.path

    def _read(self, *data: Any) -> tuple[Codes, CellProblem]:
        check_parameters(self)
        grades = read_grades(*data)
        present = np.flatnonzero(grades.weight)
        group = grades.group[present]
        begin, end, length = places = list_places(grades.y[present], group)
        usable, n_lists = usable_cuts(*places), len(np.unique(group))
        if not len(usable):
            refuse_no_pairs(len(present), n_lists)
        cuts = choose_cuts(self.cuts, usable)
        n_idle = len(np.unique(group[(begin == 0) & (end == length)]))
        warn_idle_groups(n_idle, n_lists, EQUAL_GRADES)
        side = cut_sides(cuts, *places)
        used = np.flatnonzero(side.any(axis=0))
        return cuts, sided_problem(self, grades, present[used], side[:, used])

    def _solve(
        self, problem: tuple[Codes, CellProblem], last: Any = None
    ) -> duals.Fitted:
        cuts, rows = problem
        own = np.sqrt(1.0 / self.coupling)
        loading = np.column_stack([np.ones(len(cuts)), own * np.eye(len(cuts))])
        fitted, solution = duals.fit_thresholds(self, rows, loading, last)
        if rows.items.is_linear:
            of_cuts = [own * rows.items.linear_coef(a) for a in solution.coef[1:]]
            fitted["cut_coef_"] = np.array(of_cuts)
        return {**fitted, "cuts_": cuts.copy()}, solution
