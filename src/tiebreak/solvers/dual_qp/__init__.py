# SPDX-License-Identifier: BSD-3-Clause
"""One solver for the dual quadratic problems of support vector machines."""

from tiebreak.solvers.dual_qp.problem import DualQP, DualSolution
from tiebreak.solvers.dual_qp.rounds import compile_kernels
from tiebreak.solvers.dual_qp.run import solve_dual_qp

__all__ = ["DualQP", "DualSolution", "compile_kernels", "solve_dual_qp"]
