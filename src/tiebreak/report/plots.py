# SPDX-License-Identifier: BSD-3-Clause
"""Where things stand in the plots of a page: plain numbers, which templates draw.

A plot is 1,000 units wide whatever the window is: the style sheet stretches it, and
strokes and dots keep their size. Every function here takes data of a report and returns
what one template needs; the text of a number is made here too, so that a page says the
same number in the same way everywhere.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from tiebreak.ratings.checks.report import count_text
from tiebreak.ratings.leaderboard_table import rating_digits, short_group

WIDTH = 1000
MOST_ROWS = 60  # of the dot plot; of more items it shows pages of FEW_ROWS
FEW_ROWS = 40
_MARGIN = 0.25  # of the axis, beyond the ratings: a wide interval is cut there
_NOTHING = "–"


def number_text(value: float | None, digits: int = 0) -> str:
    """Write a number with a true minus sign."""
    if value is None or math.isnan(value):
        return _NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    # "-0" is not a number that people write.
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def short_number(value: float | None) -> str:
    """Write a number with three digits that count."""
    if value is None or not math.isfinite(value):
        return number_text(value)
    size = abs(value)
    digits = 0 if size >= 100 or size == 0 else 2 - math.floor(math.log10(size))
    return number_text(value, min(digits, 6))


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
        self.ticks = [(self.place(v), number_text(v, digits)) for v in values]

    def place(self, value: float) -> float:
        """Where a value stands; what lies outside is put on the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (
            self.high - self.low
        )
        return round(WIDTH * share, 1)

    def cuts(self, values: Iterable[float | None]) -> bool:
        """Whether some value lies outside."""
        return any(v is not None and not self.low <= v <= self.high for v in values)

    def dot(self, value: Any, lower: Any = None, upper: Any = None) -> dict[str, Any]:
        """Where a dot and the line around it stand; None where there is none."""
        sure = lower is not None and upper is not None
        return {
            "x": None if value is None else self.place(value),
            "from": self.place(lower) if sure else None,
            "to": self.place(upper) if sure else None,
        }


def column(board: pl.DataFrame, name: str) -> list[Any]:
    """Give a column of a leaderboard; None for every item if it has none."""
    return board[name].to_list() if name in board.columns else [None] * len(board)


def rating_axis(board: pl.DataFrame) -> Axis:
    """The axis of ratings and their intervals."""
    values: dict[str, list[float]] = {}
    for name in ("lower", "rating", "upper"):
        known = (v for v in column(board, name) if v is not None and math.isfinite(v))
        values[name] = list(known)
    ratings = values["rating"] or [0.0, 1.0]
    worst, best = min(ratings), max(ratings)
    margin = _MARGIN * (best - worst) if best > worst else math.inf
    low = max(min([worst, *values["lower"]]), worst - margin)
    high = min(max([best, *values["upper"]]), best + margin)
    pad = 0.02 * (high - low)
    return Axis(low - pad, high + pad)


def tiers(groups: Sequence[str | None]) -> list[int]:
    """Number tiers: items that cannot be told apart from the first of their tier."""
    found: list[int] = []
    tier, leader = -1, frozenset[str]()
    for group in groups:
        letters = frozenset((group or "").split(" ")) - {""}
        if not letters & leader:
            tier, leader = tier + 1, letters
        found.append(tier)
    return found


def shares_letter(one: str | None, other: str | None) -> bool:
    """Whether two items have a common letter, so cannot be told apart."""
    return bool(one and other and set(one.split(" ")) & set(other.split(" ")))


def dot_plot(board: pl.DataFrame) -> dict[str, Any]:
    """The plot of all items: the first rows as dots, every item as a line of a rug."""
    digits, n = rating_digits(board), len(board)
    shown = n if n <= MOST_ROWS else FEW_ROWS
    whole, axis = rating_axis(board), rating_axis(board.head(shown))
    groups = column(board, "group")
    known = any(group is not None for group in groups)
    tier = tiers(groups) if known else [0] * n
    part = board.head(shown)
    lower, upper = column(part, "lower"), column(part, "upper")
    ratings = part["rating"].to_list()
    ranks = column(part, "rank")
    rows = []
    for i, item in enumerate(part["item"].to_list()):
        joined = i + 1 < shown and shares_letter(groups[i], groups[i + 1])
        rows.append(
            {
                "rank": ranks[i] or i + 1,
                "item": item,
                "provisional": bool(column(part, "provisional")[i]),
                "rating": number_text(ratings[i], digits),
                "interval": _interval(lower[i], upper[i], digits, ""),
                **axis.dot(ratings[i], lower[i], upper[i]),
                "next": axis.place(ratings[i + 1]) if joined else None,
                "shade": known and tier[i] % 2 == 0 and max(tier) > 0,
            }
        )
    everyone = sorted({whole.place(v) for v in board["rating"] if v is not None})
    return {
        "axis": axis,
        "span": [whole.place(axis.low), whole.place(axis.high)],
        "rows": rows,
        "n": n,
        "rug": "".join(f"M{x:g} 0v8" for x in everyone) if n > shown else "",
        "size": "roomy" if shown <= 16 else "medium" if shown <= 36 else "dense",
        "grouped": known,
        "cut": axis.cuts([*lower, *upper]),
    }


def _interval(
    lower: float | None, upper: float | None, digits: int, nothing: str = _NOTHING
) -> str:
    if lower is None or upper is None:
        return nothing
    return f"{number_text(lower, digits)} to {number_text(upper, digits)}"


def table_view(board: pl.DataFrame, level: float) -> dict[str, Any]:
    """The table of a leaderboard: its headings, and the text of every cell."""
    digits = rating_digits(board)

    def given(*names: str) -> bool:
        return any(v is not None for name in names for v in column(board, name))

    heads = [("rank", "Rank"), ("item", "Item"), ("rating", "Rating")]
    ranks = [rank or i for i, rank in enumerate(column(board, "rank"), start=1)]
    cells: list[Iterable[str]] = [
        map(str, ranks),
        board["item"].to_list(),
        (number_text(value, digits) for value in board["rating"]),
    ]
    ends = zip(column(board, "lower"), column(board, "upper"), strict=True)
    if given("lower", "upper"):
        heads.append(("interval", f"{100 * level:g} % interval"))
        cells.append([_interval(low, high, digits) for low, high in ends])
    if given("rank_best"):
        heads.append(("ranks", "Could be rank"))
        both = zip(column(board, "rank_best"), column(board, "rank_worst"), strict=True)
        cells.append([_ranks(best, worst) for best, worst in both])
    if given("group"):
        heads.append(("group", "Group"))
        cells.append([short_group(str(g or _NOTHING)) for g in column(board, "group")])
    if given("wins", "ties", "losses"):
        counts = [column(board, name) for name in ("wins", "ties", "losses")]
        votes = [None if None in row else sum(row) for row in zip(*counts, strict=True)]
        heads += [("votes", "Votes"), ("wins", "Won"), ("ties", "Tied")]
        heads.append(("losses", "Lost"))
        for values in (votes, *counts):
            texts = (_NOTHING if v is None else count_text(v) for v in values)
            cells.append(list(texts))
    return {
        "heads": heads,
        "rows": list(zip(*cells, strict=True)),
        "provisional": [bool(value) for value in column(board, "provisional")],
    }


def _ranks(best: int | None, worst: int | None) -> str:
    if best is None or worst is None:
        return _NOTHING
    return str(best) if best == worst else f"{best}–{worst}"


def category_panels(data: Any) -> dict[str, Any] | None:
    """Of the first items: how far their rating in each category is from that of all."""
    overall = data.leaderboard.select("item", "rating")
    first = data.leaderboard.head(_MOST_PANELS)["item"].to_list()
    found: dict[Any, list[dict[str, Any]]] = {item: [] for item in first}
    for name, board in data.categories.items():
        both = board.join(overall.rename({"rating": "whole"}), on="item")
        # Ratings of a category are around a mean of their own.
        apart = (both["whole"] - both["rating"]).mean() or 0.0
        for row in both.iter_rows(named=True):
            if row["item"] not in found:
                continue
            moved = {
                key: None if row.get(key) is None else row[key] + apart - row["whole"]
                for key in ("rating", "lower", "upper")
            }
            found[row["item"]].append({"category": name} | moved)
    if not any(found.values()):
        return None
    moves = [abs(row["rating"]) for rows in found.values() for row in rows]
    reach = 1.35 * max(moves) or 1.0
    axis = Axis(-reach, reach, 4)
    panels = []
    for item, rows in found.items():
        lines = [
            {
                "category": row["category"],
                **axis.dot(row["rating"], row["lower"], row["upper"]),
                "way": _clear(row["lower"], row["upper"]),
                "text": signed(row["rating"]),
            }
            for row in rows
        ]
        panels.append({"item": item, "rows": lines})
    return {"axis": axis, "panels": panels, "n": len(data.leaderboard)}


_MOST_PANELS = 12


def _clear(lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None or lower <= 0 <= upper:
        return ""
    return "up" if lower > 0 else "down"


def signed(value: float, digits: int = 0) -> str:
    """Write a difference with its sign."""
    text = number_text(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def effects_plot(effects: pl.DataFrame, level: float) -> dict[str, Any]:
    """Effects in rating points with their intervals."""
    low = min(0.0, *effects["lower"], *effects["points"])
    high = max(0.0, *effects["upper"], *effects["points"])
    pad = 0.05 * (high - low)
    axis = Axis(low - pad, high + pad, 5)
    rows = []
    for row in effects.iter_rows(named=True):
        size, p = row.get("standard_deviation"), row.get("p_value")
        digits = 0 if max(abs(row["lower"]), abs(row["upper"])) >= 10 else 1
        both = f"{signed(row['lower'], digits)} to {signed(row['upper'], digits)}"
        rows.append(
            {
                "effect": row["effect"],
                "text": signed(row["points"], digits),
                "interval": both,
                "per": "" if size is None else f"per {short_number(size)}",
                "p": "" if p is None else "p < .0001" if p < 1e-4 else f"p = {p:.4f}",
                **axis.dot(row["points"], row["lower"], row["upper"]),
                "way": _clear(row["lower"], row["upper"]),
            }
        )
    scaled = any(row["per"] for row in rows)
    return {"axis": axis, "zero": axis.place(0.0), "rows": rows, "scaled": scaled}


_MOST_SLOPES = 20
STEP = 20  # height of a line of text in a chart


def slope_chart(moves: pl.DataFrame) -> dict[str, Any]:
    """Ranks without covariates at the left, with them at the right."""
    near = pl.min_horizontal("rank", "rank_without") <= _MOST_SLOPES
    shown = moves.filter(near).sort("rank")
    left = {item: i for i, item in enumerate(shown.sort("rank_without")["item"])}
    lines = [
        {
            "item": row["item"],
            "before": row["rank_without"],
            "after": row["rank"],
            "moved": row["moved"],
            "from": STEP * left[row["item"]] + STEP // 2,
            "to": STEP * i + STEP // 2,
            "way": "up" if row["moved"] > 0 else "down" if row["moved"] < 0 else "",
        }
        for i, row in enumerate(shown.iter_rows(named=True))
    ]
    moved = int((moves["moved"] != 0).sum())
    height = STEP * len(lines)
    return {"lines": lines, "height": height, "moved": moved, "n": len(moves)}


_FADE = 8.0  # games at which a cell has half its color
_STEPS = 9  # of color, in each direction


def matrix_cells(matrix: Any) -> dict[str, Any]:
    """Cells of who beats whom; the color of a cell fades with few games."""
    points, games = matrix.points, matrix.games
    strength = 2.0 * (points - 0.5) * games / (games + _FADE)
    rows = []
    for i in range(len(matrix.items)):
        cells = []
        for j in range(len(matrix.items)):
            if i == j or not games[i, j]:
                cells.append(("", "self" if i == j else ""))
                continue
            step = round(_STEPS * float(strength[i, j]))
            color = f"p{step}" if step > 0 else f"n{-step}" if step < 0 else "p0"
            cells.append((f"{100 * points[i, j]:.0f}", color))
        rows.append((matrix.items[i], cells))
    return {"matrix": matrix, "rows": rows, "n": len(rows)}


_FEWEST_IN_BIN = 30.0
_Z = 1.959963984540054


def calibration_plot(quality: Any) -> dict[str, Any] | None:
    """How often an outcome happened, against how probable it was said to be."""
    outcome, proba = quality.outcome, quality.proba
    if outcome is None or proba is None or not len(outcome):
        return None
    y, p = np.asarray(outcome), np.asarray(proba, dtype=np.float64)
    weight = np.ones(len(y)) if quality.weight is None else np.asarray(quality.weight)
    curves: list[dict[str, Any]] = []
    largest = 1.0
    for k, (name, value) in enumerate((("left", -1), ("tie", 0), ("right", 1))):
        if not p[:, k].any() and not (y == value).any():
            continue
        points = _bins(p[:, k], y == value, weight)
        largest = max([largest, *(point["count"] for point in points)])
        curves.append({"outcome": name, "points": points})
    for curve in curves:
        for point in curve["points"]:
            point["size"] = round(3.0 + 15.0 * math.sqrt(point["count"] / largest), 1)
    return {"curves": curves}


def _bins(p: Any, happened: Any, weight: Any) -> list[dict[str, float]]:
    """Bins of a tenth, joined where there are few rows, with Wilson's intervals."""
    place = np.minimum((10 * p).astype(np.int64), 9)
    sums = [np.bincount(place, w, 10) for w in (weight, weight * p, weight * happened)]
    joined: list[list[float]] = []
    for n, said, was in zip(*sums, strict=True):
        if joined and (joined[-1][0] < _FEWEST_IN_BIN or 0 < n < _FEWEST_IN_BIN):
            joined[-1] = [
                a + b for a, b in zip(joined[-1], (n, said, was), strict=True)
            ]
        elif n:
            joined.append([n, said, was])
    points = []
    for n, said, was in joined:
        share = was / n
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z * math.sqrt(share * (1 - share) / n + (_Z / (2 * n)) ** 2)
        reach /= 1 + _Z**2 / n
        points.append(
            {
                "count": float(n),
                "x": said / n,
                "y": share,
                "low": max(middle - reach, 0.0),
                "high": min(middle + reach, 1.0),
            }
        )
    return points


def roc_plot(quality: Any) -> dict[str, Any] | None:
    """The ROC curve of ties and differences in held-out rows."""
    from tiebreak.metrics import comparison_auc, comparison_roc_curve

    outcome, proba, weight = quality.outcome, quality.proba, quality.weight
    if outcome is None or proba is None:
        return None
    difference = proba[:, 2] - proba[:, 0]
    counted = np.ones(len(outcome)) if weight is None else np.asarray(weight)
    is_tie = np.asarray(outcome)[counted > 0] == 0
    if is_tie.all() or not is_tie.any():
        return None
    curve = comparison_roc_curve(outcome, difference, sample_weight=weight)
    x, y = curve[0], curve[1]
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), 200)).astype(int))
    path = "L".join(f"{100 * x[i]:.1f} {100 - 100 * y[i]:.1f}" for i in kept)
    area = comparison_auc(outcome, difference, sample_weight=weight)
    return {"path": f"M{path}", "auc": float(area)}


_MOST_WEIGHTS = 20


def weights_plot(weights: Sequence[tuple[str, float]]) -> dict[str, Any]:
    """The largest weights."""
    largest = sorted(weights, key=lambda pair: -abs(pair[1]))[:_MOST_WEIGHTS]
    reach = 1.1 * max(abs(weight) for _, weight in largest) or 1.0
    axis = Axis(-reach, reach, 4)
    rows = [
        {"feature": name, "x": axis.place(w), "text": signed_short(w), "up": w >= 0}
        for name, w in largest
    ]
    return {"axis": axis, "zero": axis.place(0.0), "rows": rows, "n": len(weights)}


def signed_short(value: float) -> str:
    """Write a number of three digits with its sign."""
    text = short_number(value)
    return text if text.startswith("−") or value == 0 else f"+{text}"


def importance_plot(table: pl.DataFrame) -> dict[str, Any]:
    """How many percentage points worse predictions are without a feature."""
    top = table.sort("drop", descending=True, maintain_order=True).head(_MOST_WEIGHTS)
    top = top.with_columns(pl.col("drop", "lower", "upper") * 100)
    axis = Axis(min(0.0, *top["lower"]), 1.05 * max(0.1, *top["upper"]), 5)
    rows = [
        {
            "feature": row["feature"],
            **axis.dot(row["drop"], row["lower"], row["upper"]),
            "text": number_text(row["drop"], 1),
        }
        for row in top.iter_rows(named=True)
    ]
    return {"axis": axis, "zero": axis.place(0.0), "rows": rows, "n": len(table)}


def dependence_plots(dependence: Any) -> list[dict[str, Any]]:
    """The mean utility against the value of a feature, on one axis of utility."""
    if not dependence:
        return []
    every = pl.concat([table["utility"] for table in dependence.values()])
    vertical = Axis(float(every.min()), float(every.max()), 4)
    plots = []
    for feature, table in dependence.items():
        values, utility = table["value"].to_list(), table["utility"].to_list()
        axis = Axis(min(values), max(values), 4)
        pairs = zip(values, utility, strict=True)
        path = "L".join(
            f"{axis.place(x):g} {WIDTH - vertical.place(u):g}" for x, u in pairs
        )
        ends = number_text(utility[0], 2), number_text(utility[-1], 2)
        plots.append(
            {"feature": feature, "path": f"M{path}", "x": axis, "y": vertical}
            | {"from": ends[0], "to": ends[1]}
        )
    return plots


_MOST_SETTINGS = 12


def tuning_table(result: Any) -> dict[str, Any]:
    """The best settings that were tried, and their scores."""
    from tiebreak.report.displays import TuningDisplay

    words, names = TuningDisplay(result), list(result.best_params_)
    best = result.table.sort("place").head(_MOST_SETTINGS)
    rows = []
    for row in best.iter_rows(named=True):
        values = [row[name] for name in names]
        cells = [f"{v:.4g}" if isinstance(v, float) else v for v in values]
        chosen = values == list(result.best_params_.values())
        rows.append((cells, words.number(row["score"]), chosen))
    expected = None
    if np.isfinite(result.corrected_score) and len(result.table) > 1:
        expected = words.number(result.corrected_score)
    return {
        "names": [name.rpartition("__")[2] for name in names],
        "rows": rows,
        "n": len(result.table),
        "metric": words.metric,
        "less": words.less_is_better,
        "choice": words.choice(),
        "best": words.number(result.best_score_),
        "expected": expected,
    }


_TIMES = ("time", "period", "row")
_LINES, _GREY_LINES = 5, 20
_POINTS = 150  # of one line; more cannot be told apart
_NAME_GAP = 60.0  # of 1,000, between names at the ends of lines


def history_plot(history: pl.DataFrame, items: list[Any]) -> dict[str, Any] | None:
    """Ratings over time: the first lines in color, the rest grey until asked for."""
    time = next(name for name in _TIMES if name in history.columns)
    numbers, labels = _times(history[time])
    frame = history.with_columns(pl.Series("_x", numbers), pl.col("rating").cast(float))
    known = frame.filter(pl.col("rating").is_not_null())
    rated = set(known["item"].to_list())
    chosen = [item for item in items if item in rated][: _LINES + _GREY_LINES]
    known = known.filter(
        pl.col("item").is_in(pl.Series(chosen, dtype=known["item"].dtype).implode())
    )
    if not chosen:
        return None
    bands = {"lower", "upper"} <= set(frame.columns)
    ends = known["rating"].to_list()
    if bands:
        first = known.filter(
            pl.col("item").is_in(
                pl.Series(chosen[:_LINES], dtype=known["item"].dtype).implode()
            )
        )
        ends += (
            first["lower"].drop_nulls().to_list()
            + first["upper"].drop_nulls().to_list()
        )
    pad = 0.04 * (max(ends) - min(ends))
    vertical = Axis(min(ends) - pad, max(ends) + pad, 5)
    across = Axis(float(numbers.min()), float(numbers.max()), 5)
    lines = []
    for place, item in enumerate(chosen):
        part = _thin(frame.filter(pl.col("item") == item))
        x = [across.place(v) for v in part["_x"]]
        y = [None if v is None else _down(vertical, v) for v in part["rating"]]
        line = {"item": item, "color": place if place < _LINES else None}
        line |= {"path": _broken_path(x, y), "band": "", "x": None, "y": None}
        if bands:
            low = [None if v is None else _down(vertical, v) for v in part["lower"]]
            high = [None if v is None else _down(vertical, v) for v in part["upper"]]
            line["band"] = _band_path(x, low, high)
        last = [(a, b) for a, b in zip(x, y, strict=True) if b is not None][-1:]
        if last:
            line["x"], line["y"] = last[0]
        lines.append(line)
    _spread([line for line in lines if line["color"] is not None])
    return {
        "lines": lines,
        "y": vertical,
        "ticks": _time_ticks(across, labels),
        "bands": any(line["band"] for line in lines),
    }


def _down(axis: Axis, value: float) -> float:
    return round(WIDTH - axis.place(value), 1)


def _broken_path(x: list[float], y: list[float | None]) -> str:
    """A line with gaps; a point between two gaps is drawn as a dot."""
    path, drawing = "", False
    for a, b in zip(x, y, strict=True):
        if b is None:
            drawing = False
            continue
        path += f"{'L' if drawing else 'M'}{a:g} {b:g}" + ("" if drawing else "h0")
        drawing = True
    return path


def _band_path(x: list[float], low: list[Any], high: list[Any]) -> str:
    path, run = "", []
    for a, b, c in [*zip(x, low, high, strict=True), (0, None, None)]:
        if b is not None and c is not None:
            run.append((a, b, c))
            continue
        if len(run) > 1:
            up = "L".join(f"{a:g} {c:g}" for a, _, c in run)
            down = "L".join(f"{a:g} {b:g}" for a, b, _ in reversed(run))
            path += f"M{up}L{down}Z"
        run = []
    return path


def _spread(lines: list[dict[str, Any]]) -> None:
    """Move the names at the ends of lines apart where they would overlap."""
    ends = sorted(
        (line for line in lines if line["y"] is not None), key=lambda e: e["y"]
    )
    last = -math.inf
    for line in ends:
        line["label"] = max(line["y"], last + _NAME_GAP)
        last = line["label"]
    excess = max(0.0, last - (WIDTH - 20))
    for line in reversed(ends):
        line["label"] = min(line["label"], WIDTH - 20) if excess else line["label"]
        if excess:
            later = [e["label"] for e in ends if e["label"] > line["label"]]
            line["label"] = min([line["label"], *(v - _NAME_GAP for v in later)])


def _times(values: pl.Series) -> tuple[Any, Any]:
    """Times as numbers, and for the labels: ``"date"``, ``"number"`` or the names."""
    if values.dtype.is_temporal() and values.dtype not in (pl.Time, pl.Duration):
        days = values.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]")
        return days.astype(np.int64) / 86_400e6, "date"
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy(), "number"
    places = {name: i for i, name in enumerate(values.unique(maintain_order=True))}
    return np.array([places[v] for v in values], dtype=np.float64), list(places)


def _time_ticks(axis: Axis, labels: Any) -> list[tuple[float, str]]:
    if labels == "number":
        return axis.ticks
    if isinstance(labels, list):
        shown = np.unique(np.linspace(0, len(labels) - 1, min(len(labels), 6)).round())
        return [(axis.place(i), str(labels[int(i)])[:12]) for i in shown]
    epoch = datetime.date(1970, 1, 1)
    first = epoch + datetime.timedelta(days=axis.low)
    last = epoch + datetime.timedelta(days=axis.high)
    years = last.year - first.year
    if years >= 3:
        found = [datetime.date(round(y), 1, 1) for y in ticks(first.year, last.year, 6)]
        texts = [str(day.year) for day in found]
    else:
        months = 12 * years + last.month - first.month
        step = next(s for s in (1, 2, 3, 6, 12) if months <= 6 * s)
        count = range(-(-(first.month - 1) // step) * step, first.month + months, step)
        found = [datetime.date(first.year + m // 12, m % 12 + 1, 1) for m in count]
        texts = [f"{day:%b %Y}" for day in found]
        if months < 2:
            span = ticks(axis.low, axis.high, 5)
            found = [epoch + datetime.timedelta(days=d) for d in span]
            texts = [f"{day.day} {day:%b}" for day in found]
    places = [(day - epoch).days for day in found]
    both = zip(places, texts, strict=True)
    return [(axis.place(p), text) for p, text in both if axis.low <= p <= axis.high]


def _thin(line: pl.DataFrame) -> pl.DataFrame:
    """Keep the last rating of each of many short spans of time."""
    if len(line) <= _POINTS:
        return line
    x = line["_x"].to_numpy()
    cell = np.floor((x - x[0]) / ((x[-1] - x[0]) or 1.0) * (_POINTS - 1))
    return line.filter(pl.Series(np.append(cell[1:] != cell[:-1], True)))


def audit_view(audit: Any) -> dict[str, Any]:
    """Claims with a picture for each of three questions, and a verdict."""
    votes = audit["votes"]
    claims = []
    for claim in audit["claims"]:
        fewest = claim["removal"]["votes"]
        share = None if fewest is None or not votes else fewest / votes
        broken = set(claim["choices"]["broken_by"])
        sure = claim["confidence"]
        strip = [(name, name not in broken) for name in audit["choices"]]
        claims.append(
            {
                "claim": claim["claim"],
                "verdict": claim["verdict"],
                "robust": claim["verdict"] == "holds",
                "fewest": fewest,
                "reversed": claim["reversal"]["votes"],
                "raters": claim["raters"]["raters"],
                "share": share,
                # A tenth of the votes fills the bar; one vote is still seen.
                "bar": None
                if share is None
                else round(min(WIDTH, max(6, 1e4 * share))),
                "holds": claim["choices"]["holds"],
                "of": claim["choices"]["of"],
                "strip": strip,
                "broken": claim["choices"]["broken_by"],
                "curve": _choice_curve(claim["choices"]),
                "confidence": None if sure is None else min(int(100 * sure), 99),
            }
        )
    return {"claims": claims, "votes": votes, "level": audit["level"]} | {
        "notes": audit.get("notes", ()),
        "complete": audit.get("complete", True),
        "choices": len(audit["choices"]),
        "robust": sum(claim["robust"] for claim in claims),
    }


def _choice_curve(choices: Any) -> dict[str, Any] | None:
    """The difference under each choice of analysis in rating points, largest first."""
    if not choices.get("each") or not choices.get("as_asked"):
        return None
    each = [choices["as_asked"], *choices["each"]]
    each.sort(key=lambda one: -one["difference"])
    unit = 400.0 / math.log(10.0)
    ends = [
        unit * one[end]
        for one in each
        for end in ("difference", "low", "high")
        if one[end] is not None
    ]
    low, high = min(0.0, *ends), max(0.0, *ends)
    pad = 0.02 * (high - low)
    axis = Axis(low - pad, high + pad, 5)
    rows = []
    for one in each:
        value, *sides = (
            None if one[end] is None else unit * one[end]
            for end in ("difference", "low", "high")
        )
        known = None not in sides
        interval = " to ".join(number_text(side) for side in sides) if known else ""
        rows.append(
            {
                "choice": one["choice"],
                "holds": one["holds"],
                "asked": one is choices["as_asked"],
                "text": number_text(value),
                "interval": interval,
                **axis.dot(value, *sides),
            }
        )
    return {"axis": axis, "zero": axis.place(0.0), "rows": rows}


def judges_view(judges: Any) -> dict[str, Any]:
    """Judges with their agreement as dots on an axis of percent."""
    axis = Axis(0.0, 100.0, 5)
    rows = []
    for judge in judges["judges"]:
        agreement, lower, upper = (
            None if judge.get(name) is None else 100.0 * judge[name]
            for name in ("agreement", "lower", "upper")
        )
        known = lower is not None and upper is not None
        says = [
            f"{word} {number_text(100 * judge[key])}\u00a0%"
            for key, word in (("ties", "tie"), ("left", "left"))
            if judge.get(key) is not None
        ]
        votes = judge.get("votes")
        rows.append(
            {
                "name": judge["name"],
                "votes": None if votes is None else count_text(votes),
                "text": number_text(agreement),
                **axis.dot(agreement, lower, upper),
                "interval": f"{number_text(lower)} to {number_text(upper)}"
                if known
                else "",
                "says": ", ".join(says),
            }
        )
    return {"axis": axis, "rows": rows, "notes": judges.get("notes", ())}
