# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of what models have learned."""

from tiebreak.report.data import (
    CompareData,
    Picture,
    QualityData,
    ReportData,
    SpanRatings,
    rate_spans,
)
from tiebreak.report.displays import (
    CalibrationDisplay,
    ComparisonROCDisplay,
    HistoryDisplay,
    LeaderboardDisplay,
    ResultsMatrixDisplay,
)
from tiebreak.report.level_curves import draw_level_curves
from tiebreak.report.page import render_report, write_report
from tiebreak.report.selection_displays import (
    L1PathDisplay,
    TuningDisplay,
    WeightsDisplay,
)

__all__ = [
    "CalibrationDisplay", "CompareData", "ComparisonROCDisplay", "HistoryDisplay",
    "L1PathDisplay", "LeaderboardDisplay", "Picture", "QualityData", "ReportData",
    "ResultsMatrixDisplay", "SpanRatings", "TuningDisplay", "WeightsDisplay",
    "draw_level_curves", "rate_spans", "render_report", "write_report",
]  # fmt: skip
