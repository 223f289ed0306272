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

from tiebreak.data import ItemTable, Pairs, check_comparisons
from tiebreak.data.features import remember_features
from tiebreak.models.base import check_positive
from tiebreak.models.dual_machine import DualMachine
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.pair_program import PairDual, PairProgram, TrainingItems
from tiebreak.solvers import BoxQP, DualSolution, solve_box_qp

__all__ = ["PairKernelMachine", "PathFit", "fit_path"]


class PairKernelMachine(DualMachine):
    """A utility Σ a_j k(item j, x) learned from comparisons by a dual program.

    Subclasses store the parameters ``C``, ``kernel``, ``gamma``, ``degree``, ``coef0``,
    ``tol``, ``max_iter`` and ``cache_size`` and say what their dual is.
    """

    cache_size: float

    def _dual(self, program: PairProgram) -> PairDual:
        raise NotImplementedError

    def _finish(self, program: PairProgram, solution: DualSolution) -> None:
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
        program = self._read(X, y, sample_weight)
        dual = self._dual(program)
        solution = self._solve(program, dual)
        self._unpack(program, dual, solution)
        self._finish(program, solution)
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
    ) -> PairProgram:
        compared = self._read_comparisons(X, y, sample_weight)
        return PairProgram(*compared, 1e6 * self.cache_size)

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
        program: PairProgram,
        dual: PairDual,
        last: tuple[BoxQP, DualSolution] | None = None,
    ) -> DualSolution:
        solution = solve_box_qp(
            program.rows,
            dual.problem,
            tol=self.tol,
            max_iter=self.max_iter,
            last=last,
        )
        self._warn_unconverged(solution)
        return solution

    def _unpack(
        self, program: PairProgram, dual: PairDual, solution: DualSolution
    ) -> None:
        coef = program.comparison_coef(dual, solution)
        self._keep_dual(program.given, coef, solution)
        self._keep_expansion(program.items, program.item_coef(solution))


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
    program = template._read(X, y, sample_weight)
    models, coefs = [], []
    last: tuple[BoxQP, DualSolution] | None = None
    for C in Cs:
        model = copy.copy(template)
        model.C = C
        check_positive(model, "C")
        dual = model._dual(program)
        solution = model._solve(program, dual, last)
        last = (dual.problem, solution)
        model._unpack(program, dual, solution)
        model._finish(program, solution)
        models.append(model)
        coefs.append(program.item_coef(solution))
    return PathFit(models, program.items, np.column_stack(coefs))
