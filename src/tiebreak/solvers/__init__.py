# SPDX-License-Identifier: BSD-3-Clause
"""How to minimize: solvers that know programs and matrices, and no model."""

from tiebreak.solvers.box_qp import BoxQP, BoxSolution
from tiebreak.solvers.dual import solve_box_qp
from tiebreak.solvers.lp import LPSolution, maximize_lp
from tiebreak.solvers.newton import NewtonSolution, minimize_newton
from tiebreak.solvers.threshold import best_threshold
from tiebreak.solvers.working_set import compile_kernels

__all__ = [
    "BoxQP",
    "BoxSolution",
    "LPSolution",
    "NewtonSolution",
    "best_threshold",
    "compile_kernels",
    "maximize_lp",
    "minimize_newton",
    "solve_box_qp",
]
