# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of what models have learned."""

from tiebreak.report.displays import CalibrationDisplay, LeaderboardDisplay
from tiebreak.report.page import render_report, write_report

__all__ = ["CalibrationDisplay", "LeaderboardDisplay", "render_report", "write_report"]
