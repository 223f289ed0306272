# SPDX-License-Identifier: BSD-3-Clause
"""How to minimize: solvers that know programs and matrices, and no model."""

from tiebreak.solvers.block_dual import solve_block_qp
from tiebreak.solvers.block_qp import BlockQP, BlockSolution
from tiebreak.solvers.box_qp import BoxQP, BoxSolution
from tiebreak.solvers.bundle import BundleSolution, minimize_bundle
from tiebreak.solvers.dual import solve_box_qp
from tiebreak.solvers.lp import LPSolution, maximize_lp
from tiebreak.solvers.newton import NewtonSolution, minimize_newton
from tiebreak.solvers.threshold import best_threshold
from tiebreak.solvers.truncated_newton import TruncatedSolution, minimize_truncated
from tiebreak.solvers.working_set import compile_kernels

__all__ = [
    "BlockQP",
    "BlockSolution",
    "BoxQP",
    "BoxSolution",
    "BundleSolution",
    "LPSolution",
    "NewtonSolution",
    "TruncatedSolution",
    "best_threshold",
    "compile_kernels",
    "maximize_lp",
    "minimize_bundle",
    "minimize_newton",
    "minimize_truncated",
    "solve_block_qp",
    "solve_box_qp",
]
