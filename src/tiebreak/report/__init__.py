# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of what models have learned."""

from typing import TYPE_CHECKING, Any

from tiebreak.report.calibration_display import CalibrationDisplay
from tiebreak.report.history_display import HistoryDisplay
from tiebreak.report.l1_path_display import L1PathDisplay
from tiebreak.report.leaderboard_display import LeaderboardDisplay
from tiebreak.report.matrix_display import ResultsMatrixDisplay
from tiebreak.report.report_data import CompareData, Picture, QualityData, ReportData
from tiebreak.report.report_page import render_report, write_report
from tiebreak.report.roc_display import ComparisonROCDisplay
from tiebreak.report.span_ratings import SpanRatings, rate_spans
from tiebreak.report.tuning_display import TuningDisplay
from tiebreak.report.weights_display import WeightsDisplay

if TYPE_CHECKING:
    from tiebreak.report.level_curves import draw_level_curves

__all__ = [
    "CalibrationDisplay",
    "CompareData",
    "ComparisonROCDisplay",
    "HistoryDisplay",
    "L1PathDisplay",
    "LeaderboardDisplay",
    "Picture",
    "QualityData",
    "ReportData",
    "ResultsMatrixDisplay",
    "SpanRatings",
    "TuningDisplay",
    "WeightsDisplay",
    "draw_level_curves",
    "rate_spans",
    "render_report",
    "write_report",
]


def __getattr__(name: str) -> Any:
    # Its module imports matplotlib, for which a page without charts need not wait.
    if name == "draw_level_curves":
        from tiebreak.report.level_curves import draw_level_curves

        return draw_level_curves
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
