# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and reports of what models have learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiebreak.lazy import names_of

if TYPE_CHECKING:
    from tiebreak.report.data import (
        CompareData,
        QualityData,
        ReportData,
        rate_spans,
    )
    from tiebreak.report.displays import (
        CalibrationDisplay,
        LeaderboardDisplay,
        TuningDisplay,
    )
    from tiebreak.report.level_curves import draw_level_curves
    from tiebreak.report.page import render_report, write_report

_HOMES = {
    "data": "CompareData QualityData ReportData rate_spans",
    "displays": "CalibrationDisplay LeaderboardDisplay TuningDisplay",
    "level_curves": "draw_level_curves",
    "page": "render_report write_report",
}
_, __getattr__ = names_of("tiebreak.report", _HOMES)

__all__ = [
    "CalibrationDisplay", "CompareData", "LeaderboardDisplay", "QualityData",
    "ReportData", "TuningDisplay", "draw_level_curves", "rate_spans",
    "render_report", "write_report",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
