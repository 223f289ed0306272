# SPDX-License-Identifier: BSD-3-Clause
"""What a report says, as plain data: nothing here knows how a page looks."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.ratings.pairs_report import PairsReport
from tiebreak.ratings.results_matrix import ResultsMatrix
from tiebreak.report.compare_data import CompareData
from tiebreak.selection import ForwardResult, TuneResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CompareData", "Picture", "QualityData", "ReportData"]


@dataclass(frozen=True, eq=False)
class QualityData:
    """How well results were predicted that the model had not seen.

    Attributes
    ----------
    rows : sequence of dict
        One per model: ``model`` and numbers by name (``accuracy``, ``log_loss``,
        ``brier``, ``rps``, ``error``, ...); None where a model has none.
    model : str
        The model of the report, among the rows.
    baseline : str or None
        The trivial one to compare with, among the rows.
    note : str
        How the results were held out, in words.
    outcome : ndarray of shape (m,) or None
        What happened in the held-out rows.
    proba : ndarray of shape (m, 3) or None
        Probabilities that the model gave.
    difference : ndarray of shape (m,) or None
        Differences that the model predicted, right minus left. None: P(right) -
        P(left), which orders rows alike as long as the tie parameter is the same.
    weight : ndarray of shape (m,) or None
        Weights of the held-out rows.
    """

    rows: Sequence[Mapping[str, Any]]
    model: str
    baseline: str | None = None
    note: str = ""
    outcome: NDArray[Any] | None = None
    proba: NDArray[np.float64] | None = None
    difference: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None

    @classmethod
    def from_forward(cls, result: ForwardResult, model: str) -> Self:
        """Take what a forward evaluation found.

        Parameters
        ----------
        result : ForwardResult
            Of :func:`tiebreak.selection.evaluate_forward`.
        model : str
            The model of the report.

        Returns
        -------
        QualityData
        """
        names = ["model", "accuracy", "log_loss", "brier", "rps"]
        return cls(
            result.table.select(names).to_dicts(),
            model,
            "shares",
            " ".join(result.heading()),
            result.outcome,
            result.proba.get(model),
            weight=result.weight,
        )


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure to show beside the weights, such as level curves or a path.

    Attributes
    ----------
    title : str
        Its heading.
    description : str
        What it shows, for those who cannot see it.
    figure : matplotlib Figure
        Made without pyplot.
    """

    title: str
    description: str
    figure: Figure


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report says. What is None or empty has no section.

    Attributes
    ----------
    title : str
        Of the page; usually the name of the data.
    leaderboard : polars.DataFrame
        As the ``table`` of a :class:`~tiebreak.Leaderboard`: ``rank``, ``item``,
        ``rating``, ``lower``, ``upper``, ``rank_best``, ``rank_worst``, ``group``,
        ``wins``, ``ties``, ``losses``; columns may be null or, but for ``item`` and
        ``rating``, missing.
    summary : sequence of str
        Sentences in plain words.
    level : float
        Confidence of the intervals.
    matrix : ResultsMatrix or None
        Results between the best items; at most 30 are shown.
    quality : QualityData or None
        How good predictions were.
    weights : sequence of (str, float) or None
        Features and their weights.
    pictures : sequence of Picture
        Figures about what matters.
    history : polars.DataFrame or None
        Columns ``time`` (or ``period``, ``row``), ``item``, ``rating``; the first 8
        items of the leaderboard are drawn, or 5 if their lines have many points.
    history_note : str
        What a point of the history is, in words.
    tuning : TuneResult or None
        How settings of the model were chosen.
    tuning_notes : sequence of str
        What else is to be said of the choice.
    recognized : sequence of str
        What the data hold and how they were read, in words.
    checks : PairsReport, dict or None
        What :func:`~tiebreak.check_pairs` found, or its ``to_dict()``.
    warnings : sequence of str
        What else to distrust.
    compare : CompareData or None
        For "compare any two".
    command : str
        What to type to get this report again.
    versions : mapping of str to str
        Programs and their versions.
    date : str
        When the report was made, as it shall be written.
    """

    title: str
    leaderboard: pl.DataFrame
    summary: Sequence[str] = ()
    level: float = 0.95
    matrix: ResultsMatrix | None = None
    quality: QualityData | None = None
    weights: Sequence[tuple[str, float]] | None = None
    pictures: Sequence[Picture] = ()
    history: pl.DataFrame | None = None
    history_note: str = ""
    tuning: TuneResult | None = None
    tuning_notes: Sequence[str] = ()
    recognized: Sequence[str] = ()
    checks: PairsReport | Mapping[str, Any] | None = None
    warnings: Sequence[str] = ()
    compare: CompareData | None = None
    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str = ""

    def __post_init__(self) -> None:
        missing = {"item", "rating"} - set(self.leaderboard.columns)
        if missing:
            raise ValueError(
                f"The leaderboard has the columns {self.leaderboard.columns}; expected "
                f"also {sorted(missing)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Tables as lists of rows, arrays as lists, dates as text, None where there
            is no finite number; of pictures title and description.
        """
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}

    def findings(self) -> list[dict[str, Any]]:
        """List what the checks found.

        Returns
        -------
        list of dict
            With ``level`` and ``message``, problems first.
        """
        return list((self.facts() or {}).get("findings", ()))

    def facts(self) -> dict[str, Any] | None:
        """Give the checks as a dict.

        Returns
        -------
        dict or None
        """
        if isinstance(self.checks, PairsReport):
            return self.checks.to_dict()
        return None if self.checks is None else dict(self.checks)


def plain(value: Any) -> Any:
    """Turn a value to what JSON can hold.

    Parameters
    ----------
    value : object
        Data classes, frames, arrays, mappings, sequences, dates and scalars.

    Returns
    -------
    object
    """
    if isinstance(value, PairsReport):
        return value.to_dict()
    if isinstance(value, Picture):
        return {"title": value.title, "description": value.description}
    if isinstance(value, TuneResult):
        return {
            "scoring": value.scoring,
            "best_params": plain(value.best_params),
            "best_score": plain(value.best_score),
            "table": plain(value.table),
        }
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, pl.DataFrame):
        return [plain(row) for row in value.iter_rows(named=True)]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
