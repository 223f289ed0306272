# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates of the charts of a page, which templates draw.

A chart is 1,000 units wide; the style sheet stretches it, and strokes and dots keep
their size.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.ratings.checks.check_pairs import wilson_interval
from tiebreak.report.tables import format_number, interval_text, short_number, signed

WIDTH = 1000
MOST_ROWS = 60  # with a picture; of more items the page first shows FEW_ROWS
FEW_ROWS = 40
_MARGIN = 1.0  # of the axis, beyond the ratings; an arrow says that a line goes on


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from `low` to `high`, at most `most` and one more."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


class Axis:
    """Numbers from `low` to `high` as places from 0 to 1,000, with ticks."""

    def __init__(self, low: float, high: float, most: int = 6) -> None:
        if not high > low:
            low, high = low - 0.5, low + 0.5
        self.low, self.high = low, high
        values = ticks(low, high, most)
        step = values[1] - values[0] if len(values) > 1 else high - low
        digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0 else 0
        self.ticks = [(self.place(v), format_number(v, digits)) for v in values]

    def place(self, value: float) -> float:
        """Place of a value; values outside are put on the edge."""
        inside = min(max(value, self.low), self.high) - self.low
        return round(WIDTH * (inside / (self.high - self.low)), 1)

    def down(self, value: float | None) -> float | None:
        """Place of a value from the top."""
        return None if value is None else round(WIDTH - self.place(value), 1)

    def dot(self, value: Any, lower: Any = None, upper: Any = None) -> dict[str, Any]:
        """Place of a dot and its line, or None."""
        sure = lower is not None and upper is not None
        return {
            "x": None if value is None else self.place(value),
            "from": self.place(lower) if sure else None,
            "to": self.place(upper) if sure else None,
            "open": sure and (lower < self.low, upper > self.high),
        }


def _dots(rows: Iterable[Mapping[str, Any]], axis: Axis, **more: Any) -> dict[str, Any]:
    """Rows with a value and an interval, as dots and lines on an axis."""
    placed = [
        {**row, **axis.dot(row["value"], row.get("lower"), row.get("upper"))}
        for row in rows
    ]
    return {"axis": axis, "rows": placed} | more


def _around(values: Iterable[float | None], pad: float) -> tuple[float, float]:
    """The ends of an axis that holds 0 and some values."""
    known = [0.0, *(value for value in values if value is not None)]
    reach = pad * (max(known) - min(known))
    return min(known) - reach, max(known) + reach


def board_pictures(board: pl.DataFrame) -> dict[str, Any]:
    """The axis of the first rows, and a dot with its line for each of them."""
    n = len(board)
    part = board.head(n if n <= MOST_ROWS else FEW_ROWS)
    ends = [*part["lower"].drop_nulls(), *part["upper"].drop_nulls()]
    ratings = part["rating"].to_list()
    worst, best = min(ratings), max(ratings)
    margin = _MARGIN * (best - worst) if best > worst else math.inf
    low = max(min([worst, *ends]), worst - margin)
    high = min(max([best, *ends]), best + margin)
    pad = 0.02 * (high - low)
    axis = Axis(low - pad, high + pad)
    rows = part.select(value="rating", lower="lower", upper="upper")
    is_open = any(not axis.low <= v <= axis.high for v in ends)
    return _dots(rows.iter_rows(named=True), axis, open=is_open)


_ROW, _BAR = 22, 11  # heights of a label and of a bar
_EDGES = 250, 750  # of the axis of a critical-difference picture; labels are beside it


def critical_chart(board: pl.DataFrame) -> dict[str, Any] | None:
    """Items on an axis, and bars over groups that cannot be told apart."""
    placed = board.filter("placed").sort("rating", maintain_order=True)
    if placed["group"].is_null().any() or not 1 < len(placed) <= MOST_ROWS:
        return None
    low, high = _EDGES
    axis = Axis(placed["rating"][0], placed["rating"][-1], 5)
    at = [low + (high - low) * axis.place(v) / WIDTH for v in placed["rating"]]
    groups: dict[str, list[float]] = {}
    for x, letters in zip(at, placed["group"], strict=True):
        for letter in letters.split(" "):
            groups.setdefault(letter, []).append(x)
    rows: list[float] = []  # where the last bar of each row ends
    bars = []
    for members in sorted(groups.values()):
        if len(members) > 1:
            free = [k for k, end in enumerate(rows) if end < members[0] - _BAR]
            row = free[0] if free else len(rows)
            rows[row : row + 1] = [members[-1]]
            bars.append({"y": 44 + _BAR * row, "x": members})
    top, half = 58 + _BAR * len(rows), (len(placed) + 1) // 2
    items = [
        {
            "item": item,
            "x": x,
            "left": k < half,
            "y": top + _ROW * (k if k < half else len(placed) - 1 - k),
        }
        for k, (item, x) in enumerate(zip(placed["item"], at, strict=True))
    ]
    marks = [(low + (high - low) * x / WIDTH, text) for x, text in axis.ticks]
    height = top + _ROW * half
    return {"ticks": marks, "bars": bars, "items": items, "edges": _EDGES,
            "height": height}  # fmt: skip


_MOST_RANKED = 30


def category_ranks(
    board: pl.DataFrame, categories: Mapping[str, pl.DataFrame]
) -> dict[str, Any] | None:
    """Ranks of the first items in each category, and how far they are from overall.

    Ratings of a category are around a mean of their own: they are shifted so that its
    items are on average as good as over all.
    """
    overall = board.select("item", whole="rating")
    shift = (pl.col("whole") - pl.col("rating")).mean() - pl.col("whole")
    ends = {name: pl.col(name) + shift for name in ("rating", "lower", "upper")}
    cells = {
        (name, row["item"]): row
        for name, table in categories.items()
        for row in table.join(overall, on="item")
        .select("item", "rank", **ends)
        .iter_rows(named=True)
    }
    first = board.head(_MOST_RANKED).select("item", "rank").rows()
    reach = max((abs(row["rating"]) for row in cells.values()), default=0.0) or 1.0
    rows = []
    for item, rank in first:
        shown = []
        for name in categories:
            row = cells.get((name, item))
            if row is None:
                shown.append(("", "", "", False))
                continue
            step = round(_STEPS * row["rating"] / reach)
            points = signed(format_number(row["rating"]))
            lower, upper = row["lower"], row["upper"]
            sure = lower is not None and not lower <= 0 <= upper
            shown.append((row["rank"] or "–", _color(step), points, sure))
        rows.append((item, rank or "–", shown))
    return {"names": list(categories), "rows": rows, "n": len(board)} if cells else None


def effects_chart(effects: pl.DataFrame) -> dict[str, Any]:
    """Effects in rating points with their intervals."""
    axis = Axis(
        *_around([*effects["lower"], *effects["upper"], *effects["points"]], 0.05), 5
    )
    rows = []
    for row in effects.iter_rows(named=True):
        digits = 0 if max(abs(row["lower"]), abs(row["upper"])) >= 10 else 1
        text, lower, upper = (
            signed(format_number(row[name], digits))
            for name in ("points", "lower", "upper")
        )
        words = {"text": text, "interval": f"{lower} to {upper}"}
        rows.append(row | words | {"value": row["points"]})
    return _dots(rows, axis)


_FADE = 8.0  # games at which a cell has half its color
_STEPS = 9  # of color, in each direction


def _color(step: int) -> str:
    """The class of a cell: blue above 0, orange below."""
    return f"n{-step}" if step < 0 else f"p{step}"


def matrix_rows(matrix: Any) -> list[tuple[Any, list[tuple[str, str]]]]:
    """Cells of who beats whom; few games fade the color."""
    points, games = matrix.points, matrix.games
    strength = 2.0 * (points - 0.5) * games / (games + _FADE)
    rows = []
    for i, item in enumerate(matrix.items):
        cells = []
        for j in range(len(matrix.items)):
            if i == j or not games[i, j]:
                cells.append(("", "self" if i == j else ""))
                continue
            step = round(_STEPS * float(strength[i, j]))
            cells.append((f"{100 * points[i, j]:.0f}", _color(step)))
        rows.append((item, cells))
    return rows


_FEWEST_IN_BIN = 30.0


class CalibrationCurve(NamedTuple):
    """One outcome: what was predicted, in bins, and how often it happened."""

    outcome: str  # "left", "tie" or "right"
    predicted: NDArray[np.float64]  # weighted mean probability of each bin
    happened: NDArray[np.float64]  # weighted share of rows with the outcome
    weight: NDArray[np.float64]  # of the rows in each bin
    lower: NDArray[np.float64]  # Wilson's 95 % interval of the share
    upper: NDArray[np.float64]


def calibration_curves(
    outcome: NDArray[Any],
    proba: NDArray[np.float64],
    weight: NDArray[np.float64],
    n_bins: int = 10,
    fewest: float = _FEWEST_IN_BIN,
) -> list[CalibrationCurve]:
    """How often an outcome happened, against its predicted probability.

    Bins with a weight below ``fewest`` are joined with the one before.
    """
    curves = []
    for k, (name, value) in enumerate((("left", -1), ("tie", 0), ("right", 1))):
        p, happened = proba[:, k], outcome == value
        if not p.any() and not happened.any():
            continue
        # A probability on an edge belongs to the bin above it, 1 to the last.
        place = np.minimum((n_bins * p).astype(np.int64), n_bins - 1)
        sums = (weight, weight * p, weight * happened)
        joined: list[NDArray[np.float64]] = []
        for row in np.stack([np.bincount(place, w, n_bins) for w in sums], axis=1):
            if joined and (joined[-1][0] < fewest or 0 < row[0] < fewest):
                joined[-1] = joined[-1] + row
            elif row[0]:
                joined.append(row)
        n, predicted, was = np.reshape(joined, (-1, 3)).T
        ends = wilson_interval(was, n)
        curves.append(CalibrationCurve(name, predicted / n, was / n, n, *ends))
    return curves


_MOST_WEIGHTS = 20


def weights_chart(weights: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """The largest weights."""
    largest = sorted(weights, key=lambda pair: -abs(pair[1]))[:_MOST_WEIGHTS]
    reach = 1.1 * max(abs(weight) for _, weight in largest) or 1.0
    rows = [
        {"feature": name, "value": w, "lower": 0.0, "upper": w}
        | {"text": signed(short_number(w)), "way": "" if w >= 0 else "down"}
        for name, w in largest
    ]
    return _dots(rows, Axis(-reach, reach, 4), n=len(weights))


def choice_chart(choices: Mapping[str, Any]) -> dict[str, Any] | None:
    """The difference under each choice of analysis, largest first."""
    if not choices.get("each") or not choices.get("as_asked"):
        return None
    unit, keys = 400.0 / math.log(10.0), ("difference", "low", "high")
    rows = [
        _with_interval(one, unit, *keys) | {"asked": one is choices["as_asked"]}
        for one in (choices["as_asked"], *choices["each"])
    ]
    rows.sort(key=lambda row: -row["value"])
    ends = (row[name] for row in rows for name in ("value", "lower", "upper"))
    return _dots(rows, Axis(*_around(ends, 0.02), 5))


def judges_chart(judges: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Judges with their agreement in percent."""
    keys = "agreement", "lower", "upper"
    rows = [_with_interval(judge, 100.0, *keys) for judge in judges]
    return _dots(rows, Axis(0.0, 100.0, 5))


def _with_interval(row: Mapping[str, Any], unit: float, *keys: str) -> dict[str, Any]:
    """A row with its value and interval, in some unit and as text."""
    value, lower, upper = (
        None if row.get(key) is None else unit * row[key] for key in keys
    )
    numbers = {"value": value, "lower": lower, "upper": upper}
    interval = interval_text(lower, upper, nothing="")
    text = format_number(value)
    return {**row, **numbers, "text": text, "interval": interval}
