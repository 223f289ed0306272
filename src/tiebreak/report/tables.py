# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and tables for pages, terminals, documents and JSON."""

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.messages import noun
from tiebreak.io import neutralize_formulas
from tiebreak.ratings.checks.pairs_report import count_text
from tiebreak.ratings.leaderboard_table import (
    is_counted,
    ranks_text,
    rating_digits,
    short_group,
)

_NOTHING = "–"


def format_number(value: float | None, digits: int = 0) -> str:
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
        return format_number(value)
    size = abs(value)
    digits = 0 if size >= 100 or size == 0 else 2 - math.floor(math.log10(size))
    return format_number(value, min(digits, 6))


def signed(text: str) -> str:
    """Put a plus sign before the text of a positive number."""
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def percent(share: float) -> str:
    """Write a share in percent, with a no-break space."""
    return f"{100 * share:.1f}\u00a0%"


def p_text(value: float) -> str:
    """Write a p-value with four decimals."""
    return "< .0001" if value < 1e-4 else f"{value:.4f}".lstrip("0")


def interval_text(
    lower: float | None, upper: float | None, digits: int = 0, nothing: str = _NOTHING
) -> str:
    """Write both ends of an interval."""
    if lower is None or upper is None:
        return nothing
    return f"{format_number(lower, digits)} to {format_number(upper, digits)}"


def board_cells(
    board: pl.DataFrame, level: float
) -> tuple[dict[str, str], list[list[str]]]:
    """Return headings by key and the cells of a leaderboard, without empty columns."""
    digits = rating_digits(board)

    def known(name: str) -> bool:
        return not board[name].is_null().all()

    columns: dict[str, Any] = {
        "rank": ("Rank", lambda row: str(row["rank"] or _NOTHING)),
        "item": (noun("Item"), lambda row: row["item"]),
        "rating": ("Rating", lambda row: format_number(row["rating"], digits)),
    }
    if known("lower"):
        columns["interval"] = (
            f"{100 * level:g} % interval",
            lambda row: interval_text(row["lower"], row["upper"], digits),
        )
    if known("rank_best"):
        columns["ranks"] = "Could be rank", ranks_text
    if known("group") and not board["group"].str.contains("[a-z]{2}").any():
        columns["group"] = "Group", lambda row: short_group(row["group"])
    if known("wins"):
        head = noun("Votes") if is_counted(board) else f"Weight of {noun('votes')}"
        columns["votes"] = head, lambda row: _total(row, "wins", "ties", "losses")
        for name, head in (("wins", "Won"), ("ties", "Tied"), ("losses", "Lost")):
            columns[name] = head, lambda row, name=name: _total(row, name)
    rows = board.iter_rows(named=True)
    cells = [[write(row) for _, write in columns.values()] for row in rows]
    return {key: head for key, (head, _) in columns.items()}, cells


def _total(row: Mapping[str, Any], *names: str) -> str:
    counts = [row[name] for name in names]
    return _NOTHING if None in counts else count_text(sum(counts))


_IN_DOCUMENTS = ("rank", "item", "rating", "interval", "ranks", "votes")
_MARKDOWN = re.compile(r"[\\`*_\[\]<>&|#~]")
_LATEX = re.compile(r"[\\{}$&#^_~%–]")
_LATEX_WORDS = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "–": "--"}


def as_document(board: pl.DataFrame, level: float, form: str) -> str:
    """Write a leaderboard in Markdown or LaTeX."""
    heads, rows = board_cells(board, level)
    places = [place for place, key in enumerate(heads) if key in _IN_DOCUMENTS]
    lines = [[str(row[p]) for p in places] for row in ([*heads.values()], *rows)]
    n = len(places)
    if form == "markdown":
        lines = [[_MARKDOWN.sub(r"\\\g<0>", cell) for cell in row] for row in lines]
        lines.insert(1, ["---:", ":---", *["---:"] * (n - 2)])
        return "".join(f"| {' | '.join(row)} |\n" for row in lines)
    head, *body = (
        " & ".join(_LATEX.sub(_escape_latex, cell) for cell in row) + r" \\"
        for row in lines
    )
    begin = f"\\begin{{tabular}}{{rl{'r' * (n - 2)}}} % \\usepackage{{booktabs}}"
    rules = r"\toprule", r"\midrule", r"\bottomrule"
    parts = [begin, rules[0], head, rules[1], *body, rules[2], r"\end{tabular}", ""]
    return "\n".join(parts)


def _escape_latex(character: re.Match[str]) -> str:
    return _LATEX_WORDS.get(character[0], "\\" + character[0])


def csv_text(table: pl.DataFrame) -> str:
    """Write a table as CSV, formulas neutralized."""
    return neutralize_formulas(table).write_csv()


def plain(value: Any) -> Any:
    """Turn a value into JSON; non-finite numbers become None."""
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
