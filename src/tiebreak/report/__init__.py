# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what models have learned."""

from tiebreak.report.level_curves import draw_level_curves

__all__ = ["draw_level_curves"]
