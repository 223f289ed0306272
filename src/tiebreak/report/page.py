# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page that needs nothing else.

Each section has a function here, which says what it shows (None: nothing), and a
template of its name in ``templates``. Jinja escapes every text, after `clean` has
replaced what no page can hold; names go through the filter ``name``. The
Content-Security-Policy of the page lets run what this file puts there, by its hash, and
nothing else: no other script or style, no request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from tiebreak.data.atomic import atomic_path
from tiebreak.data.markup import as_json, clean, isolate, shorten, visible
from tiebreak.ratings.checks.report import PairsReport, count_text, plural
from tiebreak.report import plots
from tiebreak.report.data import ReportData

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_LONGEST_TITLE = 300  # of a name, where it can be read in full
_METRICS = {
    "accuracy": "Right outcomes",
    "log_loss": "Log loss",
    "brier": "Brier score",
    "rps": "Ranked probability score",
}


def render_report(data: ReportData) -> str:
    """Write a report as HTML.

    Parameters
    ----------
    data : ReportData
        What it says.

    Returns
    -------
    str
        One page without references to anything outside; the same for the same data.

    Examples
    --------
    >>> import polars as pl
    >>> from tiebreak.report import ReportData, render_report
    >>> board = pl.DataFrame({"item": ["Ada", "<u>"], "rating": [1520.0, 1480.0]})
    >>> page = render_report(ReportData("Chess", board))
    >>> "&lt;u&gt;" in page, "<u>" in page
    (True, False)
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    views = {name: view(data) for name, _, view in SECTIONS}
    sections = [(name, title) for name, title, _ in SECTIONS if views[name] is not None]
    page = _environment().get_template("page.html.j2")
    return page.render(
        data=data,
        title=isolate(data.title, 120),
        policy=policy,
        style=style,
        script=script,
        views=views,
        sections=sections,
        answer=_answer(data),
        block=_block(data, views),
    )


def write_report(data: ReportData, path: str | os.PathLike[str]) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    data : ReportData
        What it says.
    path : path
        The file, usually ``report.html``; replaced if it exists.
    """
    page = render_report(data)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def finish(value: Any) -> Any:
        if value is None:
            return ""
        return value if isinstance(value, Markup) else clean(value)

    environment = Environment(
        loader=PackageLoader("tiebreak.report"),
        autoescape=True,
        finalize=finish,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"name": _name, "g": lambda x: f"{x:g}", "raw": Markup}
    environment.filters |= {"count": count_text, "percent": percent}
    # A number stays with its percent sign.
    environment.filters["sentence"] = lambda text: str(text).replace(" %", "\u00a0%")
    environment.filters["short"] = lambda name, most: visible(shorten(name, most))
    environment.globals["plural"] = plural
    return environment


def percent(share: float) -> str:
    """Write a share in percent; the number stays with its sign."""
    return f"{100 * share:.1f}\u00a0%"


def _name(name: Any, most: int = 60) -> Markup:
    """Write a name in its own direction; a long one shortened, with a title."""
    from markupsafe import Markup

    short, whole = visible(shorten(name, most)), visible(name)
    if short == whole:
        return Markup("<bdi>{}</bdi>").format(short)
    title = shorten(whole, _LONGEST_TITLE)
    return Markup('<bdi title="{}">{}</bdi>').format(title, short)


def _asset(name: str) -> str:
    """Read a file of ours that goes into the page as it is."""
    file = resources.files("tiebreak.report").joinpath("assets", name)
    return file.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _block(data: ReportData, views: dict[str, Any]) -> str:
    """What the script needs beside the tables, which it reads: one block of JSON."""
    board = data.leaderboard
    boards = {"": board} | dict(data.categories)
    block: dict[str, Any] = {
        "level": data.level,
        "groups": {
            name: plots.column(table, "group")
            for name, table in boards.items()
            if any(group is not None for group in plots.column(table, "group"))
        },
        "page": plots.FEW_ROWS if len(board) > plots.MOST_ROWS else plots.MOST_ROWS,
    }
    compare = data.compare
    if views["compare"] is not None and compare is not None:
        place = {name: i for i, name in enumerate(compare.names)}
        order = [place.get(item) for item in board["item"]]

        def aligned(values: Any) -> list[float | None]:
            # So short that probabilities keep eight digits.
            return [None if i is None else round(float(values[i]), 8) for i in order]

        block["compare"] = {
            "strengths": aligned(compare.strengths),
            "doubts": None if compare.doubts is None else aligned(compare.doubts),
            "link": compare.link,
            "tie": None if math.isinf(compare.tie) else float(compare.tie),
            "advantage": compare.advantage,
        }
    if views["matrix"] is not None:
        place = {item: i for i, item in enumerate(board["item"])}
        matrix = views["matrix"]["matrix"]
        block["matrix"] = {
            "items": [place.get(item) for item in matrix.items.tolist()],
            "wins": matrix.wins.tolist(),
            "ties": matrix.ties.tolist(),
        }
    return as_json(block)


def _answer(data: ReportData) -> dict[str, Any]:
    """The first screen: a sentence, what it rests on, what to distrust, the plot."""
    checks, board = data.checks, data.leaderboard
    said = [plural(len(board), "item")] if len(board) else []
    counts = {"problem": 0, "warning": len(data.warnings)}
    if checks is not None:
        if checks.n_comparisons:
            said.append(f"{count_text(checks.n_comparisons)} comparisons")
        if checks.tie:
            said.append(f"{percent(checks.tie_rate)} ties")
        for level in counts:
            counts[level] += sum(each.level == level for each in checks.findings)
    distrust = " and ".join(plural(n, level) for level, n in counts.items() if n)
    return {
        "sentence": data.summary[0] if data.summary else "",
        "more": data.summary[1:],
        "facts": said,
        "distrust": distrust,
        "plot": plots.dot_plot(board) if len(board) else None,
    }


def _leaderboard(data: ReportData) -> dict[str, Any] | None:
    board = data.leaderboard
    if not len(board):
        return None
    return plots.table_view(board, data.level)


def _categories(data: ReportData) -> dict[str, Any] | None:
    names = list(data.category_notes) or list(data.categories)
    if not names:
        return None
    parts = [
        {
            "name": name,
            "notes": data.category_notes.get(name, ()),
            "table": None
            if name not in data.categories
            else plots.table_view(data.categories[name], data.level),
        }
        for name in names
    ]
    return {"parts": parts, "panels": plots.category_panels(data)}


def _effects(data: ReportData) -> dict[str, Any] | None:
    if data.effects is None or not len(data.effects):
        return None
    return plots.effects_plot(data.effects, data.level) | {
        "slope": None if data.moves is None else plots.slope_chart(data.moves)
    }


def _matrix(data: ReportData) -> dict[str, Any] | None:
    if data.matrix is None or not data.matrix.games.any():
        return None
    known = set(data.leaderboard["item"])
    expected = data.compare is not None and data.compare.link != "threshold"
    return plots.matrix_cells(data.matrix) | {
        "total": max(len(known), len(data.matrix.items)),
        "expected": expected and set(data.matrix.items.tolist()) <= known,
    }


def _quality(data: ReportData) -> dict[str, Any] | None:
    quality = data.quality
    if quality is None:
        return None
    keys = [key for key in quality.rows[0] if key != "model"]
    rows = {str(row["model"]): row for row in quality.rows}
    mine, base = rows.get(quality.model, {}), rows.get(str(quality.baseline), {})
    return {
        "heads": [_METRICS[key] for key in keys],
        "rows": [
            (str(row["model"]), [_metric_text(key, row.get(key)) for key in keys])
            for row in quality.rows
        ],
        "mine": quality.model,
        "baseline": quality.baseline,
        "note": quality.note,
        "accuracy": mine.get("accuracy"),
        "trivial": base.get("accuracy"),
        "losses": (mine.get("log_loss"), base.get("log_loss")),
        "calibration": plots.calibration_plot(quality),
        "roc": plots.roc_plot(quality),
    }


def _metric_text(name: str, value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return percent(value) if name == "accuracy" else f"{value:.4f}"


def _weights(data: ReportData) -> dict[str, Any] | None:
    given = (data.weights, data.level_curves, data.dependence, data.importance)
    surprising = data.disagreements
    if not any(each is not None and len(each) for each in given) and surprising is None:
        return None
    curves = data.level_curves
    weights = plots.weights_plot(data.weights) if data.weights else None
    drops = None if data.importance is None else plots.importance_plot(data.importance)
    return {
        "weights": weights,
        "importance": drops,
        "dependence": plots.dependence_plots(data.dependence),
        "disagreements": [] if surprising is None else surprising.head(8).to_dicts(),
        "curves": None if curves is None else base64.b64encode(curves).decode(),
    }


def _tuning(data: ReportData) -> dict[str, Any] | None:
    if data.tuning is None:
        return None
    return plots.tuning_table(data.tuning) | {"notes": data.tuning_notes}


def _history(data: ReportData) -> dict[str, Any] | None:
    if data.history is None or not len(data.history):
        return None
    return plots.history_plot(data.history, data.leaderboard["item"].to_list())


def _audit(data: ReportData) -> dict[str, Any] | None:
    if not data.audit or not data.audit.get("claims"):
        return None
    return plots.audit_view(data.audit)


def _judges(data: ReportData) -> dict[str, Any] | None:
    if not data.judges or not data.judges.get("judges"):
        return None
    return plots.judges_view(data.judges)


_LEVELS = {"problem": "Problem", "warning": "Warning", "note": "Note"}


def _checks(data: ReportData) -> dict[str, Any] | None:
    entries = [("warning", text) for text in data.warnings]
    if data.checks is not None:
        entries += [(each.level, each.message) for each in data.checks.findings]
    elif not entries and not data.recognized:
        return None
    order = list(_LEVELS)
    entries.sort(key=lambda entry: order.index(entry[0]))
    findings = []
    for level, message in entries:
        # A message says what was found, and then what to make of it.
        head, _, rest = str(message).partition(". ")
        findings.append((level, _LEVELS[level], head + "." * bool(rest), rest))
    return {"findings": findings, "facts": _fact_texts(data.checks)}


def _fact_texts(checks: PairsReport | None) -> list[tuple[str, str]]:
    """Say what the data are."""
    if checks is None:
        return []
    total, texts = checks.n_comparisons, []
    if total:
        texts.append(("Comparisons", count_text(total)))
    texts.append(("Items", f"{checks.n_items:,}"))
    if total:
        counts = (("Left won", checks.left), ("Ties", checks.tie))
        for label, count in (*counts, ("Right won", checks.right)):
            texts.append((label, f"{count_text(count)} ({percent(count / total)})"))
    if checks.n_items > 1:
        possible = checks.n_items * (checks.n_items - 1) // 2
        pairs = f"{checks.n_pairs:,} of {possible:,} possible"
        texts.append(("Different pairs", pairs))
    return texts


def _compare(data: ReportData) -> dict[str, Any] | None:
    compare = data.compare
    if compare is None or len(compare.names) < 2 or not len(data.leaderboard):
        return None
    return {"advantage": bool(compare.advantage)}


def _made(data: ReportData) -> dict[str, Any] | None:
    said = (data.command, data.versions, data.date, data.methods, data.fingerprint)
    return {} if any(said) else None


SECTIONS = [
    ("leaderboard", "The table", _leaderboard),
    ("categories", "Who is better where", _categories),
    ("effects", "What else decides", _effects),
    ("matrix", "Who beats whom", _matrix),
    ("compare", "Compare any two", _compare),
    ("history", "Over time", _history),
    ("weights", "What matters", _weights),
    ("quality", "How good is it?", _quality),
    ("tuning", "How the settings were chosen", _tuning),
    ("audit", "Would the claims survive?", _audit),
    ("judges", "Who judged", _judges),
    ("checks", "What to check", _checks),
    ("made", "How it was made", _made),
]
