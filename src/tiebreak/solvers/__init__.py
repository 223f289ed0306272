# SPDX-License-Identifier: BSD-3-Clause
"""How to minimize: solvers that know problems and matrices, and no model."""

from tiebreak.solvers.bundle import BundleSolution, minimize_bundle
from tiebreak.solvers.dual_qp import (
    DualQP,
    DualSolution,
    compile_kernels,
    solve_dual_qp,
)
from tiebreak.solvers.hull import hull_vertices
from tiebreak.solvers.joint_pursuit import JointPath, JointProblem, pursue_jointly
from tiebreak.solvers.l1_bundle import LPBundle
from tiebreak.solvers.linear_program import LinearProgram, Plane, SlackRows
from tiebreak.solvers.newton import (
    NewtonSolution,
    StronglyConvex,
    chord_steps,
    conjugate_gradients,
    minimize_newton,
    minimize_truncated,
)
from tiebreak.solvers.pursuit import pursue
from tiebreak.solvers.threshold import best_threshold
