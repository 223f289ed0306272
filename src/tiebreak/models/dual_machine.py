# SPDX-License-Identifier: BSD-3-Clause
"""What models keep and say of the certified solution of a dual program."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data.messages import warn_user
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.solvers import DualSolution

__all__ = ["DualMachine"]


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
