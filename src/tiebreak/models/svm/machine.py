# SPDX-License-Identifier: BSD-3-Clause
"""What the support vector machines share: parameters, fit, path, and two dual problems.

Comparisons of the same two items are one row of the pair kernel with up to four dual
variables: right better (sign +1), left better (sign -1), and for a tie both directions.
Of thresholds each is a block of the dual problem, and an item, a row of the kernel, is
at most two variables per block: the weight of its rows above, and of those below.
Hinge losses are sums, so adding up weights changes nothing but the size, and a row of
weight two is a duplicated row by construction.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import Grades, ItemTable, Pairs
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import COUNT, POSITIVE, Values, check_parameters
from tiebreak.kernels.functions import Gamma, Kernel
from tiebreak.models.base import read_comparisons
from tiebreak.models.graded_problem import item_places
from tiebreak.models.kernel_utility import (
    KernelUtility,
    expand_kernel,
    expansion,
    support,
)
from tiebreak.models.primal import PrimalSolution, solve_primal
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import DualQP, DualSolution, solve_dual_qp

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def check_path(Cs: Iterable[float]) -> list[float]:
    """Refuse a path without a value of C."""
    if values := list(Cs):
        return values
    raise ValueError("a path needs at least one value of C, got none.")


class SupportVectorMachine(KernelUtility):
    """A kernel utility that is learned at a cost C, to a duality gap."""

    support_: np.ndarray
    dual_coef_: np.ndarray

    _parameters: ClassVar[Mapping[str, Values]] = {
        "C": POSITIVE,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        cache_size: float = 200,
    ) -> None:
        self.C, self.kernel, self.gamma, self.degree = C, kernel, gamma, degree
        self.coef0, self.tol, self.max_iter = coef0, tol, max_iter
        self.cache_size = cache_size

    def path(
        self,
        X: Any,
        y: ArrayLike | None = None,
        Cs: Iterable[float] = (),
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of C, each from the solution before it.

        Parameters
        ----------
        X, y
            As in ``fit``.
        Cs : iterable of float
            Values of C; ascending values make the best use of warm starts.
        qid, sample_weight
            As in ``fit``.

        Returns
        -------
        iterator of fitted models
            One for each C, in the order given; this model itself is not fitted.
        """
        _, fits = self._fit_along(X, y, Cs, qid, sample_weight)
        return (model for model, _ in fits)

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Any:
        """Check the data; return the problem and keep what is known before solving."""
        raise NotImplementedError

    def _solve(self, problem: Any, last: Any = None) -> tuple[dict[str, Any], Any]:
        """Return the fitted attributes for this C, and a warm start for the next."""
        raise NotImplementedError

    def _learn(self, problem: Any, last: Any = None) -> Any:
        """Solve and keep the fitted attributes; return the warm start."""
        fitted, last = self._solve(problem, last)
        vars(self).update(fitted)
        return last

    def _solve_primal(
        self, problem: Any, last: Any
    ) -> tuple[dict[str, Any], PrimalSolution]:
        """Solve in the primal a problem that has a design ``A`` and a ``loss``."""
        solution = solve_primal(self, problem.A, problem.loss, self.C, last)
        return {**problem.fitted(solution, self.C), **solution.fitted()}, solution

    def _fit_along(
        self, X: Any, y: Any, Cs: Iterable[float], qid: Any, sample_weight: Any
    ) -> tuple[Any, Iterator[tuple[Self, Any]]]:
        """Return the problem, and lazily a fitted copy and its warm start per C."""
        values = check_path(Cs)
        template = clone(self)
        problem = template._read(X, y, qid, sample_weight)
        return problem, template._fit_copies(problem, values)

    def _fit_copies(self, problem: Any, Cs: list[float]) -> Iterator[tuple[Self, Any]]:
        last = None
        for C in Cs:
            model = copy.copy(self)
            model.C = C
            check_parameters(model)
            for name, value in vars(self).items():
                if name.endswith("_") and isinstance(value, np.ndarray):
                    setattr(model, name, value.copy())
            last = model._learn(problem, last)
            yield model, last

    def __sklearn_is_fitted__(self) -> bool:
        # A fit sets the features before what can fail in it.
        return hasattr(self, "dual_coef_") or hasattr(self, "coef_")

    def _dual_attributes(
        self, given: Codes, coef: Floats, solution: DualSolution
    ) -> dict[str, Any]:
        """Return the non-zero coefficients and the certificate; warn of a large gap."""
        if not solution.converged:
            warn_user(
                f"{type(self).__name__} stopped after {solution.n_iter} iterations "
                f"with a relative duality gap of {solution.gap:.2g} and a violation of "
                f"{solution.violation:.2g}; asked for tol={self.tol:g}. The result is "
                "kept. Try a larger max_iter, scaled features or a smaller C.",
                ConvergenceWarning,
            )
        return {
            **support(given, coef),
            "objective_": solution.primal,
            "gap_": solution.gap,
            "n_iter_": solution.n_iter,
            "converged_": solution.converged,
            "solver_": solution.method,
        }


@dataclass(frozen=True)
class PairDual:
    """A dual problem over comparisons."""

    qp: DualQP
    outcome: np.ndarray  # what each variable stands for
    shift: float  # what was taken from the linear term: intercept = level + shift


class PairProblem:
    """Training comparisons of positive weight, added up per pair of distinct items.

    ``rows`` is the pair kernel, and ``given`` has the user's row numbers.
    """

    def __init__(
        self,
        pairs: Pairs,
        y: np.ndarray,
        weight: np.ndarray,
        items: TrainingItems,
        given: np.ndarray,
        cache_bytes: float,
    ) -> None:
        self.given = given
        left, right = items.code[pairs.left], items.code[pairs.right]
        # One orientation per pair of items, so that both directions share a row.
        self._turned = left > right
        low, high = np.minimum(left, right), np.maximum(left, right)
        key, self._row_of = np.unique(low * items.n_items + high, return_inverse=True)
        self.items = items
        self.left, self.right = key // items.n_items, key % items.n_items
        self.n_rows = len(key)
        self._y = np.where(self._turned, -y, y)
        self._weight = weight
        self.right_better = self._total(self._y > 0)
        self.left_better = self._total(self._y < 0)
        self.tied = self._total(self._y == 0)
        self.rows = items.rows(self.left, self.right, cache_bytes)

    def _total(self, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(self._row_of, self._weight * chosen, self.n_rows)

    @property
    def decided(self) -> float:
        """Summed weight of the comparisons with a winner."""
        return float(self.right_better.sum() + self.left_better.sum())

    def compare(self, C: float, tie_weight: float = 1.0) -> PairDual:
        """Return the dual of the machine that compares; without ties it only orders."""
        if not self.tied.any():
            return self.order(C, "ignore")
        tied = tie_weight * self.tied
        # The linear term is +1 for differences and -1 for ties. A constant is taken
        # from it so that it is zero for the outcome with more weight: with a tiny C
        # only variables of that outcome are free, and their gradients, of the size of
        # C, are then not lost next to a one.
        shift = -1.0 if 2.0 * tied.sum() >= self.decided else 1.0
        variables = [
            (1, self.right_better, 1.0, 1.0),
            (-1, self.left_better, -1.0, 1.0),
            (0, tied, 1.0, -1.0),
            (0, tied, -1.0, -1.0),
        ]
        return _pair_dual(C, variables, shift, balanced=True)

    def order(self, C: float, ties: str) -> PairDual:
        """Return the dual of the machine that only orders."""
        factor = 2.0 if ties == "both" else 1.0
        variables = [
            (1, factor * self.right_better, 1.0, 1.0),
            (-1, factor * self.left_better, -1.0, 1.0),
        ]
        if ties == "both":
            variables += [(0, self.tied, 1.0, 1.0), (0, self.tied, -1.0, 1.0)]
        return _pair_dual(C, variables, 0.0, balanced=False)

    def item_coef(self, solution: DualSolution) -> np.ndarray:
        """Coefficients a on distinct items: utility(x) = Σ a_j k(item j, x)."""
        n, coef = self.items.n_items, solution.coef[0]
        return np.bincount(self.right, coef, n) - np.bincount(self.left, coef, n)

    def comparison_coef(self, dual: PairDual, solution: DualSolution) -> np.ndarray:
        """Coefficients on the comparisons as given, shape (n,)."""
        # What a row received is divided among its comparisons of the same outcome in
        # proportion to their weights.
        signed = dual.qp.sign * solution.s
        out = np.zeros(len(self._y))
        for outcome in (-1, 0, 1):
            chosen = dual.outcome == outcome
            mine = self._y == outcome
            row = self._row_of[mine]
            amount = np.bincount(dual.qp.row[chosen], signed[chosen], self.n_rows)
            share = self._weight[mine] / self._total(mine)[row]
            out[mine] = amount[row] * share
        return np.where(self._turned, -out, out)


def _pair_dual(
    C: float,
    variables: list[tuple[int, np.ndarray, float, float]],
    shift: float,
    *,
    balanced: bool,
) -> PairDual:
    """Make a dual of (outcome, weights of all rows, sign, label of the linear term)."""
    outcomes, weights, signs, labels = zip(*variables, strict=True)
    used = [np.flatnonzero(weight) for weight in weights]
    sizes = [len(rows) for rows in used]
    label = np.repeat(labels, sizes)
    bound = C * np.concatenate([w[rows] for w, rows in zip(weights, used, strict=True)])
    qp = DualQP.box(
        linear=label - shift,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=np.concatenate(used),
        sign=np.repeat(signs, sizes),
        balanced=balanced,
    )
    return PairDual(qp, np.repeat(outcomes, sizes), shift)


class PairKernelMachine(SupportVectorMachine):
    """A utility Σ a_j k(item j, x) learned from comparisons by a problem ``_dual``."""

    _parameters: ClassVar[Mapping[str, Values]] = {
        **SupportVectorMachine._parameters,
        "cache_size": POSITIVE,
    }

    def _dual(self, problem: PairProblem) -> PairDual:
        raise NotImplementedError

    def _own_attributes(
        self, problem: PairProblem, dual: PairDual, solution: DualSolution
    ) -> dict[str, Any]:
        """Return the attributes that only the subclass has, and warn of the result."""
        return {}

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
        self._learn(self._read(X, y, None, sample_weight))
        return self

    def path(  # type: ignore[override] # comparisons have no groups
        self,
        X: Any,
        y: ArrayLike | None,
        Cs: Iterable[float],
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of C, sharing kernel rows and warm starts.

        Parameters
        ----------
        X, y, Cs, sample_weight
            Comparisons as in ``fit``, and values of C; ascending ones are the fastest.

        Returns
        -------
        iterator of fitted models
            One for each C, in the order given; this model itself is not fitted.
        """
        return super().path(X, y, Cs, sample_weight=sample_weight)

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Any:
        compared = self._read_comparisons(X, y, sample_weight)
        return PairProblem(*compared, 1e6 * self.cache_size)

    def _read_comparisons(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, NDArray[np.int8], Floats, TrainingItems, Codes]:
        """Return comparisons of positive weight, their items and their row numbers."""
        check_parameters(self)
        pairs, outcome, weight, given = read_comparisons(X, y, sample_weight)
        if not self._is_precomputed:
            pairs = pairs.compact()
        self._start_pairs(pairs)
        items = TrainingItems.read(
            pairs, self.kernel, self.gamma, self.degree, self.coef0
        )
        self._check_outcomes(outcome)
        return pairs, outcome, weight, items, given

    def _check_outcomes(self, outcome: np.ndarray) -> None:
        """Refuse outcomes that leave nothing to learn."""

    def _solve(self, problem: Any, last: Any = None) -> tuple[dict[str, Any], Any]:
        dual = self._dual(problem)
        solution = solve_dual_qp(
            problem.rows, dual.qp, tol=self.tol, max_iter=self.max_iter, last=last
        )
        coef = problem.comparison_coef(dual, solution)
        fitted = {
            **self._dual_attributes(problem.given, coef, solution),
            **expansion(problem.items, problem.item_coef(solution)),
            **self._own_attributes(problem, dual, solution),
        }
        return fitted, (dual.qp, solution)


@dataclass(frozen=True)
class PathFit:
    """Models fitted for several values of C on the same comparisons.

    Parameters
    ----------
    models : list
        Fitted models, in the order of the values of C.
    items : TrainingItems
        The training items that they share.
    coefs : ndarray of shape (n_items, n_models)
        Coefficients of the models on these items.
    """

    models: list[Any]
    items: TrainingItems
    coefs: np.ndarray

    def utilities(self, table: ItemTable) -> np.ndarray:
        """Utilities of items under all models; kernel values are computed once.

        Parameters
        ----------
        table : ItemTable
            n items, with the features of the fit.

        Returns
        -------
        ndarray of shape (n, n_models)
        """
        if self.items.function is None or self.items.is_linear:
            return np.column_stack([model._utility(table) for model in self.models])
        assert self.items.table is not None
        train = self.items.table.values
        return expand_kernel(self.items.function, table.values, train, self.coefs)


def fit_path(
    machine: PairKernelMachine,
    X: Any,
    y: ArrayLike | None,
    Cs: Iterable[float],
    sample_weight: ArrayLike | None = None,
) -> PathFit:
    """Fit a machine for several values of C, sharing kernel rows and warm starts.

    Parameters
    ----------
    machine : PairKernelMachine
        Model whose other parameters are used; it is not fitted itself.
    X, y, Cs, sample_weight
        As in ``SVMCompare.path``.

    Returns
    -------
    PathFit
    """
    problem, fits = machine._fit_along(X, y, Cs, None, sample_weight)
    if not isinstance(problem, PairProblem):
        raise ValueError(
            f"fit_path shares rows of the pair kernel between fits, and {machine!r} "
            "does not use them; expected loss='hinge' on comparisons. Try its path."
        )
    models, coefs = [], []
    for model, (_, solution) in fits:
        models.append(model)
        coefs.append(problem.item_coef(solution))
    return PathFit(models, problem.items, np.column_stack(coefs))


class ThresholdProblem:
    """Training rows with their sides of B thresholds, added up per distinct item.

    ``side``, shape (B, n), is +1 above a threshold, -1 below, 0 if the row takes no
    part in it. ``loading``, shape (B, q), is how much each threshold takes of each
    direction, the first of which is the utility, as in `DualQP`.
    """

    def __init__(
        self,
        model: SupportVectorMachine,
        grades: Grades,
        given: Codes,
        weight: Floats,
        side: NDArray[np.int8],
        loading: Floats,
    ) -> None:
        self.items, self.code = _distinct_items(model, grades, given)
        self.given, self.weight, self.side, self.loading = given, weight, side, loading
        self.above = np.empty((len(side), self.items.n_items))
        self.below = np.empty_like(self.above)
        for b, of_rows in enumerate(side):
            for total, chosen in (self.above, of_rows > 0), (self.below, of_rows < 0):
                total[b] = np.bincount(self.code, weight * chosen, self.items.n_items)
        self.rows = self.items.item_rows(1e6 * model.cache_size)

    @property
    def shifts(self) -> Floats:
        """What is taken from the labels of every block, shape (B,)."""
        # Then those of the heavier side are zero. With a tiny C only variables of that
        # side are free, and their gradients, of the size of C, are not lost next to 1.
        return np.where(self.above.sum(axis=1) >= self.below.sum(axis=1), 1.0, -1.0)

    def qp(self, C: float) -> DualQP:
        """Return the dual problem for a value of C."""
        # Of every block first the items above it, then those below: shape (B, 2, n).
        weight = np.stack([self.above, self.below], axis=1)
        block, lower_side, row = np.nonzero(weight)
        label = 1.0 - 2.0 * lower_side
        bound = C * weight[block, lower_side, row]
        return DualQP.blocks(
            linear=label - self.shifts[block],
            lower=np.where(lower_side == 0, 0.0, -bound),
            upper=np.where(lower_side == 0, bound, 0.0),
            row=row,
            block=block,
            loading=self.loading,
        )

    def thresholds(self, solution: DualSolution) -> Floats:
        """What the value of an item is compared with, shape (B,)."""
        return -(solution.levels + self.shifts)

    def is_flat(self, solution: DualSolution) -> bool:
        """Whether all training items have the same utility, but for rounding."""
        utility = solution.fitted[0][self.code]
        largest = float(self.rows.diagonal()[self.code].max())
        rounding = 1e-13 * largest * float(np.abs(solution.coef[0]).sum())
        # Much less than the margin of one; the bound on rounding may be far too large.
        return bool(np.ptp(utility) <= min(rounding, 1e-6))

    def row_coef(self, qp: DualQP, solution: DualSolution) -> Floats:
        """Coefficients of the rows, shape (n,): w = Σ coef Φ(x)."""
        # What an item received on one side of a threshold is divided among its rows of
        # that side in proportion to their weights.
        out = np.zeros(len(self.weight))
        for b in range(qp.n_blocks):
            mine = slice(qp.starts[b], qp.starts[b + 1])
            row, s = qp.row[mine], solution.s[mine]
            is_above = qp.upper[mine] > 0
            for chosen, total, of_rows in (
                (is_above, self.above[b], self.side[b] > 0),
                (~is_above, self.below[b], self.side[b] < 0),
            ):
                share = np.zeros(len(total))
                share[row[chosen]] = s[chosen] / total[row[chosen]]
                out[of_rows] += (share[self.code] * self.weight)[of_rows]
        return out


def _distinct_items(
    model: SupportVectorMachine, grades: Grades, rows: Codes
) -> tuple[TrainingItems, Codes]:
    """Merge identical items and resolve the kernel; also the item of every row."""
    if model._is_precomputed:
        table, places = item_places(grades, rows)
        return TrainingItems.of_gram(table), places
    distinct, code = grades.items.take(rows).unique()
    items = TrainingItems.of_table(
        distinct, code, model.kernel, model.gamma, model.degree, model.coef0
    )
    return items, code


class ThresholdMachine(SupportVectorMachine):
    """A utility learned together with ``thresholds_`` by a dual problem."""

    _parameters: ClassVar[Mapping[str, Values]] = {
        **SupportVectorMachine._parameters,
        "cache_size": POSITIVE,
    }

    thresholds_: Floats

    def _own_attributes(
        self, problem: ThresholdProblem, solution: DualSolution
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _solve(self, problem: Any, last: Any = None) -> tuple[dict[str, Any], Any]:
        qp = problem.qp(self.C)
        solution = solve_dual_qp(
            problem.rows, qp, tol=self.tol, max_iter=self.max_iter, last=last
        )
        if problem.is_flat(solution):
            warn_user(
                f"{type(self).__name__} gives all training items the same utility, so "
                f"it puts nothing in order: with C={self.C:g} no feature explains the "
                "grades well enough. Try a larger C, scaled features or another "
                "kernel.",
                FitWarning,
            )
        coef = problem.row_coef(qp, solution)
        fitted = {
            **self._dual_attributes(problem.given, coef, solution),
            **expansion(problem.items, solution.coef[0]),
            **self._own_attributes(problem, solution),
        }
        return fitted, (qp, solution)
