# SPDX-License-Identifier: BSD-3-Clause
"""Dual problems of support vector machines, and fits along a path of C.

Comparisons of the same two items are one row of the pair kernel with up to four dual
variables: right better, left better, and both directions of a tie. Each threshold is a
block, in which an item is at most two variables: its weight above, and below.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import ItemTable
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.parameters import COUNT, POSITIVE
from tiebreak.losses import GradeHinge, ListedSquaredHinge
from tiebreak.models.base import certificate, clones_along, warn_flat, warn_gap
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.primal import PrimalSolution, solve_primal
from tiebreak.models.problem import CellProblem, GradedProblem, KernelItems, support
from tiebreak.solvers import DualQP, DualSolution, solve_dual_qp

# Ranges of the parameters of machines that are solved in the dual.
DUAL_PARAMETERS = {
    **dict.fromkeys(("C", "tol", "cache_size"), POSITIVE),
    "max_iter": COUNT,
}
Fitted = tuple[dict[str, Any], Any]  # attributes, and a warm start for another C
Model = TypeVar("Model")
# Kind of comparisons, weights of all rows, sign, and label of the linear term.
Term = tuple[int, Floats, float, float]


@dataclass(frozen=True, eq=False)
class Dual:
    """A dual problem over the cells of a problem."""

    qp: DualQP
    cell: Codes  # the cell of each variable
    shift: Any  # what was taken from the linear term: intercept = level + shift


def order_terms(weight: Floats, ties: str) -> list[Term]:
    """List the terms of a machine that only orders.

    With ties in both directions every comparison with a winner counts twice.
    """
    left, tied, right = weight
    if ties == "ignore":
        return [(2, right, 1.0, 1.0), (0, left, -1.0, 1.0)]
    decided = [(2, 2.0 * right, 1.0, 1.0), (0, 2.0 * left, -1.0, 1.0)]
    return [*decided, (1, tied, 1.0, 1.0), (1, tied, -1.0, 1.0)]


def list_terms(terms: list[Term]) -> tuple[Codes, Codes, Floats, Floats, Floats]:
    """Give cell, row, weight, sign and label of all weighted terms."""
    kinds, weights, signs, labels = zip(*terms, strict=True)
    used = [np.flatnonzero(weight) for weight in weights]
    sizes, row = [len(rows) for rows in used], np.concatenate(used)
    weight = np.concatenate([w[rows] for w, rows in zip(weights, used, strict=True)])
    cell = np.repeat(kinds, sizes) * len(weights[0]) + row
    return cell, row, weight, np.repeat(signs, sizes), np.repeat(labels, sizes)


def list_hinges(
    problem: CellProblem, ties: str
) -> tuple[ListedSquaredHinge, Codes, Floats]:
    """Return the squared hinge of decided pairs, and cell and sign of its terms."""
    cell, row, weight, sign, _ = list_terms(order_terms(problem.weight, ties))
    left, right = (end[row] for end in problem.ends)
    better, worse = np.where(sign > 0, [right, left], [left, right])
    return ListedSquaredHinge(better, worse, weight, problem.items.n_items), cell, sign


def order_dual(problem: CellProblem, C: float, ties: str = "ignore") -> Dual:
    """Return the dual of the machine that only orders comparisons."""
    return _pair_dual(C, order_terms(problem.weight, ties), 0.0, balanced=False)


def compare_dual(problem: CellProblem, C: float, tie_weight: float = 1.0) -> Dual:
    """Return the dual of the comparison machine; without ties it only orders."""
    left, tied, right = problem.weight
    if not tied.any():
        return order_dual(problem, C)
    decided, tied = float(right.sum() + left.sum()), tie_weight * tied
    # The linear term is +1 for differences and -1 for ties. A constant is taken from it
    # so that it is zero for the outcome with more weight: with a tiny C only variables
    # of that outcome are free, and their gradients, of the size of C, are then not lost
    # next to a one. Where both weigh the same, rounding decides: keep this sum.
    shift = -1.0 if 2.0 * tied.sum() >= decided else 1.0
    terms = [(2, right, 1.0, 1.0), (0, left, -1.0, 1.0)]
    terms += [(1, tied, 1.0, -1.0), (1, tied, -1.0, -1.0)]
    return _pair_dual(C, terms, shift, balanced=True)


def _pair_dual(C: float, terms: list[Term], shift: float, *, balanced: bool) -> Dual:
    cell, row, weight, sign, label = list_terms(terms)
    bound = C * weight
    qp = DualQP(
        linear=label - shift,
        lower=np.where(label > 0, 0.0, -bound),
        upper=np.where(label > 0, bound, 0.0),
        row=row,
        sign=sign,
        block=np.zeros_like(row),
        loading=np.ones((1, 1)),
        balanced=balanced,
    )
    return Dual(qp, cell, shift)


def threshold_dual(problem: CellProblem, C: float, loading: Floats) -> Dual:
    """Return the dual of B thresholds; ``loading`` (B, q) is as in `DualQP`."""
    kind, row = np.nonzero(problem.weight)
    block, is_below = kind // 2, kind % 2 == 1
    # Labels of the heavier side become zero, for the reason given in `compare_dual`.
    above, below = problem.weight.sum(axis=1).reshape(-1, 2).T
    shift = np.where(above >= below, 1.0, -1.0)
    bound = C * problem.weight[kind, row]
    qp = DualQP(
        linear=np.where(is_below, -1.0, 1.0) - shift[block],
        lower=np.where(is_below, -bound, 0.0),
        upper=np.where(is_below, 0.0, bound),
        row=row,
        sign=np.ones(len(row)),
        block=block,
        loading=loading,
        balanced=True,
    )
    return Dual(qp, kind * problem.items.n_items + row, shift)


def solve_dual(
    model: Any, problem: CellProblem, dual: Dual, last: Any = None
) -> DualSolution:
    """Solve from ``last``, for another C; warn if ``tol`` was missed."""
    solution = solve_dual_qp(
        problem.kernel, dual.qp, tol=model.tol, max_iter=model.max_iter, last=last
    )
    if not solution.converged:
        warn_gap(model, solution.n_iter, solution.gap)
    return solution


def keep_dual(
    problem: CellProblem, dual: Dual, solution: DualSolution
) -> dict[str, Any]:
    """Return the utility, the nonzero coefficients, and the certificate."""
    signed = dual.qp.sign * solution.s
    of_cells = np.bincount(dual.cell, signed, problem.weight.size)
    return {
        **problem.data.attributes,
        **support(problem.rows, problem.share @ of_cells),
        **problem.items.keep(problem.item_coef(solution.coef[0])),
        **certificate(solution.primal, solution),
        "solver_": solution.method,
    }


def is_flat(problem: CellProblem, solution: DualSolution, size: Floats) -> bool:
    """Whether utilities (or differences) are equal up to rounding."""
    fitted = solution.fitted[0]
    spread = np.ptp(fitted) if problem.ends is None else np.abs(fitted).max()
    largest = float(problem.kernel.diagonal().max())
    rounding = 1e-13 * largest * float(np.abs(size).sum())
    # Much less than the margin of one; the bound on rounding may be far too large.
    return bool(spread <= min(rounding, 1e-6))


def fit_thresholds(
    model: Any, problem: CellProblem, loading: Floats, last: Any
) -> tuple[dict[str, Any], DualSolution]:
    """Solve for a utility and thresholds."""
    dual = threshold_dual(problem, model.C, loading)
    solution = solve_dual(model, problem, dual, last)
    if is_flat(problem, solution, solution.coef[0]):
        warn_flat(
            model,
            f"with C={model.C:g} no feature explains the grades well enough. Try a "
            "larger C, scaled features or another kernel",
        )
    fitted = keep_dual(problem, dual, solution)
    fitted["thresholds_"] = -(solution.levels + dual.shift)
    return fitted, solution


def fit_graded(model: Any, problem: GradedProblem, loss: Any, last: Any) -> Fitted:
    """Minimize ½‖x‖² + C loss(A x) in the primal."""
    solution, coef = solve_primal(model, problem.A, loss, model.C, last)
    method = "bundle" if isinstance(loss, GradeHinge) else "newton"
    fitted = keep_primal(solution, problem, coef, method)
    return {**fitted, "n_pairs_": problem.tree.n_pairs}, solution


def keep_primal(
    solution: PrimalSolution,
    problem: CellProblem | GradedProblem,
    coef: Floats,
    method: str,
) -> dict[str, Any]:
    """Return the utility of a primal solution, and the coefficients of rows."""
    items, x = problem.items, solution.x
    return {
        **problem.data.attributes,
        **support(problem.rows, coef),
        **({"coef_": x} if items.is_linear else items.keep(items.design_coef(x))),
        **certificate(solution.value, solution),
        "solver_": method,
    }


def path(
    self: Model,
    X: Any,
    y: ArrayLike | None = None,
    Cs: Iterable[float] = (),
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Iterator[Model]:
    """Fit for several values of C, each from the solution before it.

    Parameters
    ----------
    X, y
        As in ``fit``.
    Cs : iterable of float
        Values of C; ascending ones make the best use of warm starts.
    qid, sample_weight
        As in ``fit``; comparisons have no groups.

    Returns
    -------
    iterator of fitted models
        One for each C, in order; this model itself is not fitted.
    """
    _, fits = fit_along(self, Cs, X, y, qid, sample_weight)
    return (model for model, _ in fits)


def fit_along(
    model: Any, Cs: Iterable[float], *data: Any
) -> tuple[Any, Iterator[tuple[Any, Any]]]:
    """Return the problem, and lazily a fitted clone and its warm start per C."""
    clones, problem = clones_along(model, "C", Cs), model._read(*data)

    def fits() -> Iterator[tuple[Any, Any]]:
        last = None
        for one in clones:
            fitted, last = one._solve(problem, last)
            yield one._keep(fitted), last

    return problem, fits()


@dataclass(frozen=True)
class PathFit:
    """Models fitted for several values of C on the same comparisons.

    Parameters
    ----------
    models : list
        Fitted models, in the order of C.
    items : KernelItems
        Their training items.
    coefs : ndarray of shape (n_items, n_models)
        Coefficients on these items.
    """

    models: list[Any]
    items: KernelItems
    coefs: Floats

    def utilities(self, table: ItemTable) -> Floats:
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
        train: Any = self.items.table
        return expand_kernel(
            self.items.function, table.values, train.values, self.coefs
        )


def fit_path(
    machine: Any,
    X: Any,
    y: ArrayLike | None,
    Cs: Iterable[float],
    sample_weight: ArrayLike | None = None,
) -> PathFit:
    """Fit a machine for several values of C, sharing kernel rows and warm starts.

    Parameters
    ----------
    machine : SVMCompare, or RankSVM with the hinge
        Not fitted itself.
    X, y, Cs, sample_weight
        As in ``SVMCompare.path``.

    Returns
    -------
    PathFit
    """
    problem, fits = fit_along(machine, Cs, X, y, None, sample_weight)
    models, coefs = [], []
    for model, solution in fits:
        models.append(model)
        coefs.append(problem.item_coef(solution.coef[0]))
    return PathFit(models, problem.items, np.column_stack(coefs))
