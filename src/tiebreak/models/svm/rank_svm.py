# SPDX-License-Identifier: BSD-3-Clause
"""The ranking support vector machine on comparisons, graded items and orders.

With the hinge, comparisons and pairs drawn from graded items are solved in the dual;
all else is solved in the primal.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from tiebreak.data import Comparisons, Grades, Pairs, read_data
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.parameters import COUNT, check_parameters, one_of
from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree, ItemDesign
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.primal import solve_primal
from tiebreak.models.problem import (
    CellProblem,
    GradedProblem,
    build_grade_tree,
    graded_problem,
    pair_problem,
    refuse_only_ties,
)
from tiebreak.models.svm import duals


@dataclass(eq=False, repr=False)
class RankSVM(KernelUtility, BaseEstimator):
    """Pairwise support vector machine: a utility that puts items in order.

    For pairs of a better item i and a worse item j it solves ::

        minimize over w   ½ ‖w‖² + C Σ_{(i,j)} w_ij ℓ(1 - w·(Φ(x_i) - Φ(x_j))),

    a sum over pairs and not a mean, with ℓ(z) = z₊ (``loss="hinge"``) or z₊²
    (``"squared_hinge"``). The pairs are

    - comparisons: those with a winner. With ``ties="both"`` a tie counts once in each
      direction and every other comparison twice;
    - graded items: all pairs of different grades within a group, weighing w_i w_j. They
      are not listed: a step costs O(n log n) for n items;
    - orders: all pairs of items at different positions of a list.

    Only equal utilities are predicted to tie. To predict ties, wrap it in
    :class:`ThresholdCompare`: the method *rank* of Venuto et al., or with
    ``ties="both"`` their *rank2*.

    Parameters
    ----------
    C : float, default=0.1
        Cost of a violated margin.
    kernel, gamma, degree, coef0
        As in :class:`SVMCompare`. Beyond some thousand graded items use ``"linear"``,
        on features of :class:`NystroemMap` if need be.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ℓ. The squared hinge is faster on graded items.
    ties : {"ignore", "both"}, default="ignore"
        What a tied comparison means for the order.
    pairs_per_item : int, optional
        Graded items and orders: pair every item with this many random items of another
        grade of its group, without replacement, instead of all (Herbrich et al.).
    per_group : {"sum", "mean"}, default="sum"
        Graded items and orders: ``"mean"`` divides the sum of a group by the weight of
        its pairs.
    random_state : int, RandomState or None, default=None
        Seed of ``pairs_per_item``.
    tol, max_iter, cache_size
        As in :class:`SVMCompare`.

    Attributes
    ----------
    support_, dual_coef_ : ndarray
        Training rows with a nonzero coefficient, and these coefficients:
        w = Σ dual_coef_[t] (Φ(right_t) - Φ(left_t)) for comparisons, or
        Σ dual_coef_[t] Φ(x_t) for items.
    coef_, support_items_, item_coef_ : ndarray
        The utility, as in :class:`SVMCompare`.
    n_pairs_ : int
        Number of pairs of graded items.
    objective_, gap_, n_iter_, converged_, solver_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    C: float = 0.1
    _: KW_ONLY
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    ties: Literal["ignore", "both"] = "ignore"
    pairs_per_item: int | None = None
    per_group: Literal["sum", "mean"] = "sum"
    random_state: int | np.random.RandomState | None = None
    tol: float = 1e-3
    max_iter: int = 10_000
    cache_size: float = 200

    _parameters: ClassVar = {
        **duals.DUAL_PARAMETERS,
        "loss": one_of("hinge", "squared_hinge"),
        "ties": one_of("ignore", "both"),
        "per_group": one_of("sum", "mean"),
        "pairs_per_item": COUNT | None,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons, graded items or orders.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features), items or Orders
            Pairs and 3-D arrays are comparisons.
        y : array-like of shape (n,), optional
            Outcomes -1, 0, +1 of comparisons, or grades of items; none for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; only items of the same group are compared.
        sample_weight : array-like of shape (n,), optional
            Weights of comparisons, or of items: a pair of items weighs w_i w_j.
            Weights of Orders are those of the lists.

        Returns
        -------
        Self
        """
        return self._keep(self._solve(self._read(X, y, qid, sample_weight))[0])

    path = duals.path

    def _read(self, *data: Any) -> CellProblem | GradedProblem:
        check_parameters(self)
        read = read_data(*data)
        if isinstance(read, Grades):
            if self.pairs_per_item is not None:
                return self._draw(read, self.pairs_per_item)
            return graded_problem(self, read, self.per_group)
        if self.ties == "ignore" and not read.y.any():
            refuse_only_ties(self, len(read))
        return pair_problem(self, read)

    def _solve(
        self, problem: CellProblem | GradedProblem, last: Any = None
    ) -> duals.Fitted:
        if isinstance(problem, GradedProblem):
            loss = GradeHinge if self.loss == "hinge" else GradeSquaredHinge
            return duals.fit_graded(self, problem, loss(problem.tree), last)
        fit = self._solve_dual if self.loss == "hinge" else self._solve_squared
        fitted, last = fit(problem, last)
        if isinstance(problem.data, Grades):
            fitted["n_pairs_"] = problem.n_pairs
        return fitted, last

    def _solve_dual(self, problem: CellProblem, last: Any) -> duals.Fitted:
        dual = duals.order_dual(problem, self.C, self.ties)
        solution = duals.solve_dual(self, problem, dual, last)
        return duals.keep_dual(problem, dual, solution), solution

    def _solve_squared(self, problem: CellProblem, last: Any) -> duals.Fitted:
        """Minimize the squared hinge over decided pairs."""
        loss, cell, sign = duals.list_hinges(problem, self.ties)
        A = problem.items.design
        solution, _ = solve_primal(self, A, loss, self.C, last)
        u = A @ solution.x
        push = 2.0 * self.C * loss.weight * loss.short(u)
        of_cells = np.bincount(cell, sign * push, problem.weight.size)
        coef = problem.share @ of_cells
        return duals.keep_primal(solution, problem, coef, "newton"), solution

    def _draw(self, data: Grades, per_item: int) -> CellProblem:
        """Compare items with random others, and report coefficients per graded row."""
        tree = build_grade_tree(data, self.per_group)
        left, right, outcome, weight = draw_pairs(tree, per_item, self.random_state)
        if self.ties == "both":  # where a comparison with a winner counts twice
            weight = 0.5 * weight
        pairs = Pairs(data.table, data.places[left], data.places[right])
        m, n = len(outcome), len(data)
        problem = pair_problem(self, Comparisons(pairs, outcome, weight, rows=left))
        share = sp.csr_array(ItemDesign(left, right, n).matrix().T @ problem.share)
        return replace(problem, data=data, share=share, rows=np.arange(n), n_pairs=m)


def draw_pairs(
    tree: GradeTree, per_item: int, random_state: Any
) -> tuple[Codes, Codes, NDArray[np.int8], Floats]:
    """Pair every item with k random items of other grades of its group, or with all.

    Returns rows of items and partners, outcomes and weights; pairs may come twice.
    """
    m = len(tree.rows)
    edges = np.unique(np.concatenate([tree.starts, tree.cuts]))
    run = np.searchsorted(edges, np.arange(m), side="right") - 1
    # Items of equal grade by row, so that the draw is the same on every machine.
    slot = np.lexsort((tree.rows, run))
    rows, slot_weight = tree.rows[slot], tree.weight[slot]
    own_first, own_last = edges[run], edges[run + 1]
    group = np.searchsorted(tree.starts, np.arange(m), side="right") - 1
    first, last = tree.starts[group], tree.starts[group + 1]
    others = (last - first) - (own_last - own_first)
    k = min(per_item, int(others.max()))
    uniform = check_random_state(random_state).random_sample((m, k))
    partner = np.full((m, k), -1, dtype=np.int64)
    draw_without_replacement(partner, uniform, others)
    item, column = np.nonzero(partner >= 0)
    drawn = first[item] + partner[item, column]
    # The items of the own grade stand in the middle and are stepped over.
    drawn += np.where(drawn >= own_first[item], (own_last - own_first)[item], 0)
    outcome = np.where(drawn > item, 1, -1).astype(np.int8)
    weight = slot_weight[item] * slot_weight[drawn]
    if tree.per_group == "mean":
        mean_of = tree.group_weight / np.bincount(group[item], weight)
        weight *= mean_of[group[item]]
    return rows[item], rows[drawn], outcome, weight


@njit(cache=True, nogil=True)
def draw_without_replacement(out: Codes, uniform: Floats, n_choices: Codes) -> None:
    """Write distinct random numbers below ``n_choices[i]`` to each row, from the left.

    Floyd's method: draw j of k is among the first n - k + j + 1 numbers; a repeated one
    is replaced by the last of them.
    """
    for i in range(len(out)):
        k = min(out.shape[1], n_choices[i])
        for j in range(k):
            top = n_choices[i] - k + j
            number = np.int64(uniform[i, j] * (top + 1))
            for before in range(j):
                if out[i, before] == number:
                    number = top
                    break
            out[i, j] = number
