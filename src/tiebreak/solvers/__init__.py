# SPDX-License-Identifier: BSD-3-Clause
"""How to minimize: solvers that know programs and matrices, and no model."""

from tiebreak.solvers.block_dual import solve_block_qp
from tiebreak.solvers.block_qp import BlockQP
from tiebreak.solvers.box_qp import BoxQP
from tiebreak.solvers.bundle import BundleSolution, minimize_bundle
from tiebreak.solvers.dual import solve_box_qp
from tiebreak.solvers.dual_program import DualSolution
from tiebreak.solvers.hull import hull_vertices
from tiebreak.solvers.joint_pursuit import (
    JointPath,
    JointProblem,
    pursue_jointly,
)
from tiebreak.solvers.linear_program import LinearProgram, ProgramSolution
from tiebreak.solvers.lp import LPSolution, maximize_lp
from tiebreak.solvers.lp_bundle import LPBundle
from tiebreak.solvers.newton import NewtonSolution, minimize_newton
from tiebreak.solvers.piecewise_risk import LPBundleSolution, PiecewiseRisk
from tiebreak.solvers.pursuit import (
    Dictionary,
    PursuitPath,
    QuadraticForm,
    pursue,
)
from tiebreak.solvers.slack_rows import Plane, SlackRows
from tiebreak.solvers.threshold import best_threshold
from tiebreak.solvers.truncated_newton import (
    StronglyConvex,
    TruncatedSolution,
    minimize_truncated,
)
from tiebreak.solvers.working_set import compile_kernels

__all__ = [
    "BlockQP",
    "BoxQP",
    "BundleSolution",
    "Dictionary",
    "DualSolution",
    "JointPath",
    "JointProblem",
    "LPBundle",
    "LPBundleSolution",
    "LPSolution",
    "LinearProgram",
    "NewtonSolution",
    "PiecewiseRisk",
    "Plane",
    "ProgramSolution",
    "PursuitPath",
    "QuadraticForm",
    "SlackRows",
    "StronglyConvex",
    "TruncatedSolution",
    "best_threshold",
    "compile_kernels",
    "hull_vertices",
    "maximize_lp",
    "minimize_bundle",
    "minimize_newton",
    "minimize_truncated",
    "pursue",
    "pursue_jointly",
    "solve_block_qp",
    "solve_box_qp",
]
