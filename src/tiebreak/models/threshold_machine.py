# SPDX-License-Identifier: BSD-3-Clause
"""Models of one utility and several thresholds: what they share beyond the program."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from tiebreak.data.messages import warn_user
from tiebreak.models.base import check_positive
from tiebreak.models.dual_machine import DualMachine
from tiebreak.models.threshold_program import ThresholdProgram
from tiebreak.solvers import BlockQP, DualSolution, solve_block_qp

__all__ = ["ThresholdMachine"]


class ThresholdMachine(DualMachine):
    """A utility learned together with thresholds by a dual program.

    Subclasses store the parameters ``C``, ``tol`` and ``max_iter`` besides those of the
    kernel. They say in ``_read`` what their program is, and in ``_unpack`` what they
    keep of its solution, ``thresholds_`` among it.
    """

    thresholds_: NDArray[np.float64]

    def path(
        self,
        X: Any,
        y: ArrayLike | None = None,
        Cs: Iterable[float] = (),
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of C, sharing kernel rows and warm starts.

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
            One for each C, in the order given: the same as a model fitted with that C,
            within ``tol``. This model itself is not fitted.
        """
        Cs = list(Cs)
        if not Cs:
            raise ValueError("a path needs at least one value of C, got none.")
        template = clone(self)
        program = template._read(X, y, qid, sample_weight)
        return template._follow(program, Cs)

    def _follow(self, program: ThresholdProgram, Cs: list[float]) -> Iterator[Self]:
        """Fit copies of this model for one C after the other."""
        last: tuple[BlockQP, DualSolution] | None = None
        for C in Cs:
            model = copy.copy(self)
            model.C = C
            check_positive(model, "C")
            for name, value in vars(self).items():
                if name.endswith("_") and isinstance(value, np.ndarray):
                    setattr(model, name, value.copy())
            last = model._solve(program, last)
            yield model

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "thresholds_")

    def _read(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> ThresholdProgram:
        raise NotImplementedError

    def _unpack(self, program: ThresholdProgram, solution: DualSolution) -> None:
        raise NotImplementedError

    def _solve(
        self,
        program: ThresholdProgram,
        last: tuple[BlockQP, DualSolution] | None = None,
    ) -> tuple[BlockQP, DualSolution]:
        """Solve for this C, keep the result, and say what a user should know of it."""
        problem = program.problem(self.C)
        self._refuse_overflow(program, problem)
        solution = solve_block_qp(
            program.rows, problem, tol=self.tol, max_iter=self.max_iter, last=last
        )
        if program.is_flat(solution):
            warn_user(
                f"{type(self).__name__} gives all training items the same utility, so "
                f"it puts nothing in order: with C={self.C:g} no feature explains the "
                "grades well enough. Try a larger C, scaled features or another kernel."
            )
        self._warn_unconverged(solution)
        coef = program.row_coef(problem, solution)
        self._keep_dual(program.given, coef, solution)
        self._keep_expansion(program.items, solution.coef[0])
        self._unpack(program, solution)
        return problem, solution

    def _refuse_overflow(self, program: ThresholdProgram, problem: BlockQP) -> None:
        largest = float(program.rows.diagonal().max())
        with np.errstate(over="ignore", invalid="ignore"):
            # What the directions may be multiplied with, twice, in the solver.
            sizes = problem.size * float((problem.upper - problem.lower).max())
            factor = float(problem.squared_loading.max())
            fits = np.isfinite(largest * factor * sizes * sizes)
        if not fits:
            raise ValueError(
                f"{type(self).__name__}: the objective overflows, so there is no "
                "solution in floating-point numbers. The largest kernel value of an "
                f"item with itself is {largest:.3g} and C={self.C:g}. Scale the "
                "features first, for example with StandardScaler, or try a smaller C "
                "or smaller weights."
            )
