# SPDX-License-Identifier: BSD-3-Clause
"""The part that pairwise support vector machines share: fit, path and utility."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import ItemTable, Pairs, check_comparisons
from tiebreak.data.messages import warn_user
from tiebreak.data.validation import remember_features
from tiebreak.models.base import check_positive
from tiebreak.models.kernel_utility import KernelUtility, expand_kernel
from tiebreak.models.svm.pair_problem import PairDual, PairProblem
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import DualQP, DualSolution, solve_dual_qp


class DualMachine(KernelUtility):
    """A kernel utility that is learned by a dual program to a duality gap.

    Subclasses store the parameters ``C``, ``tol`` and ``max_iter`` besides those of the
    kernel.
    """

    C: float
    tol: float
    max_iter: int

    def _warn_unconverged(self, solution: DualSolution) -> None:
        if solution.converged:
            return
        warn_user(
            f"{type(self).__name__} stopped after {solution.n_iter} iterations with a "
            f"relative duality gap of {solution.gap:.2g} and a violation of "
            f"{solution.violation:.2g}; asked for tol={self.tol:g}. The result is "
            "kept. Try a larger max_iter, scaled features or a smaller C.",
            ConvergenceWarning,
        )

    def _keep_dual(
        self, given: np.ndarray, coef: np.ndarray, solution: DualSolution
    ) -> None:
        """Keep the coefficients that are not zero, and the certificate."""
        used = np.flatnonzero(coef)
        self.support_ = given[used]
        self.dual_coef_ = coef[used]
        self.objective_ = solution.primal
        self.gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.solver_ = solution.method


class PairKernelMachine(DualMachine):
    """A utility Σ a_j k(item j, x) learned from comparisons by a dual program.

    Subclasses store the parameters ``C``, ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``tol``, ``max_iter`` and ``cache_size`` and say what their dual is.
    """

    cache_size: float

    def _dual(self, problem: PairProblem) -> PairDual:
        raise NotImplementedError

    def _finish(self, problem: PairProblem, solution: DualSolution) -> None:
        """Set what is particular to the subclass, and warn."""

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
            The fitted model.
        """
        problem = self._read(X, y, sample_weight)
        dual = self._dual(problem)
        solution = self._solve(problem, dual)
        self._unpack(problem, dual, solution)
        self._finish(problem, solution)
        return self

    def path(
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
        X, y
            As in ``fit``.
        Cs : iterable of float
            Values of C; ascending values make the best use of warm starts.
        sample_weight
            As in ``fit``.

        Returns
        -------
        iterator of fitted models
            One for each C, in the order given: the same as a model fitted with that C,
            within ``tol``. This model itself is not fitted.
        """
        return iter(fit_path(self, X, y, Cs, sample_weight).models)

    def _read(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> PairProblem:
        compared = self._read_comparisons(X, y, sample_weight)
        return PairProblem(*compared, 1e6 * self.cache_size)

    def _read_comparisons(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, np.ndarray, np.ndarray, TrainingItems, np.ndarray]:
        """Check comparisons; give those that count, their items and their places."""
        check_positive(self, "C", "tol", "max_iter", "cache_size")
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        present = weight > 0
        if not present.all():
            pairs, outcome, weight = pairs[present], outcome[present], weight[present]
        if not (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            pairs = pairs.compact()
        self._forget()
        if pairs.items is None:
            assert pairs.names is not None
            self.items_ = pairs.names
        else:
            remember_features(self, pairs.items)
        items = TrainingItems.read(
            pairs, self.kernel, self.gamma, self.degree, self.coef0
        )
        self._check_outcomes(outcome)
        return pairs, outcome, weight, items, np.flatnonzero(present)

    def _check_outcomes(self, outcome: np.ndarray) -> None:
        """Refuse outcomes that leave nothing to learn."""

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "dual_coef_") or hasattr(self, "coef_")

    def _solve(
        self,
        problem: PairProblem,
        dual: PairDual,
        last: tuple[DualQP, DualSolution] | None = None,
    ) -> DualSolution:
        solution = solve_dual_qp(
            problem.rows,
            dual.problem,
            tol=self.tol,
            max_iter=self.max_iter,
            last=last,
        )
        self._warn_unconverged(solution)
        return solution

    def _unpack(
        self, problem: PairProblem, dual: PairDual, solution: DualSolution
    ) -> None:
        coef = problem.comparison_coef(dual, solution)
        self._keep_dual(problem.given, coef, solution)
        self._keep_expansion(problem.items, problem.item_coef(solution))


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
    X : Pairs or array-like of shape (n, 2, n_features)
        Comparisons.
    y : array-like of shape (n,)
        Outcomes.
    Cs : iterable of float
        Values of C; ascending values make the best use of warm starts.
    sample_weight : array-like of shape (n,), optional
        Weights of the comparisons.

    Returns
    -------
    PathFit
    """
    Cs = list(Cs)
    if not Cs:
        raise ValueError("a path needs at least one value of C, got none.")
    template = clone(machine)
    problem = template._read(X, y, sample_weight)
    models, coefs = [], []
    last: tuple[DualQP, DualSolution] | None = None
    for C in Cs:
        model = copy.copy(template)
        model.C = C
        check_positive(model, "C")
        dual = model._dual(problem)
        solution = model._solve(problem, dual, last)
        last = (dual.problem, solution)
        model._unpack(problem, dual, solution)
        model._finish(problem, solution)
        models.append(model)
        coefs.append(problem.item_coef(solution))
    return PathFit(models, problem.items, np.column_stack(coefs))
