# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page that needs nothing else.

Each section has a template of its name in ``templates`` and a function here, which adds
charts and tables to the result of `tiebreak.rank` (None: no section). Jinja escapes
every text; names go through the filter ``name``. The Content-Security-Policy allows our
script and style, by their hash, and no request to anywhere.
"""

import base64
import hashlib
import math
import os
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiebreak import __version__
from tiebreak.data.atomic import atomic_path
from tiebreak.data.markup import as_json, clean, isolate, shorten, visible
from tiebreak.data.messages import noun, plural
from tiebreak.metrics.scorers import metric_words
from tiebreak.ratings.checks.pairs_report import count_text, say_comparisons
from tiebreak.report import charts
from tiebreak.report.history import history_chart
from tiebreak.report.tables import (
    as_document,
    board_cells,
    format_number,
    percent,
    short_number,
    signed,
)

View = dict[str, Any] | None
_LONGEST_TITLE = 300  # of a name, where it can be read in full
_MOST_SETTINGS = 12


def render_report(result: Any) -> str:
    """Write a report as HTML.

    Parameters
    ----------
    result : RankResult
        What `tiebreak.rank` returned.

    Returns
    -------
    str
        One page without references to anything outside.

    Examples
    --------
    >>> import polars as pl
    >>> from tiebreak import rank
    >>> from tiebreak.report import render_report
    >>> names = {"left": ["Ada", "<u>"], "right": ["<u>", "Ada"]}
    >>> votes = pl.DataFrame(names | {"outcome": ["left", "tie"]})
    >>> page = render_report(rank(votes))
    >>> "&lt;u&gt;" in page, "<u>" in page
    (True, False)
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    views = {name: view(result) for name, (_, view) in SECTIONS.items()}
    sections = [name for name, view in views.items() if view is not None]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            result=result,
            level=result.options.level,
            title=isolate(result.title, 120),
            policy=policy,
            style=style,
            script=script,
            views=views,
            sections=[(name, SECTIONS[name][0]) for name in sections],
            answer=_answer(result),
            block=_block(result, views),
        )
    )


def write_report(result: Any, path: str | os.PathLike[str]) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    result : RankResult
        As in `render_report`.
    path : path
        The file, usually ``report.html``; replaced if it exists.
    """
    page = render_report(result)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


@cache
def _environment() -> Environment:

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
    environment.filters |= {
        "name": _name,
        "g": lambda x: f"{x:g}",
        "raw": Markup,
        "count": count_text,
        "percent": percent,
        "number": format_number,
        "brief": short_number,
        "signed": signed,
        # A number stays with its percent sign.
        "sentence": lambda text: str(text).replace(" %", "\u00a0%"),
        "short": lambda name, most: visible(shorten(name, most)),
    }
    environment.globals |= {"plural": plural, "noun": noun}
    return environment


def _name(name: Any, most: int = 60) -> Markup:
    """Write a name in its own direction, shortened with a title."""
    short, whole = visible(shorten(name, most)), visible(name)
    if short == whole:
        return Markup("<bdi>{}</bdi>").format(short)
    title = shorten(whole, _LONGEST_TITLE)
    return Markup('<bdi title="{}">{}</bdi>').format(title, short)


def _asset(name: str) -> str:
    """Read a file of ours for the page."""
    file = resources.files("tiebreak.report").joinpath("assets", name)
    return file.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _items(result: Any) -> list[Any]:
    """Names of the leaderboard, best first."""
    return [] if result.board is None else result.board["item"].to_list()


def _block(result: Any, views: dict[str, View]) -> str:
    """JSON for the script, beside the tables that it reads."""
    items = _items(result)
    places = {item: i for i, item in enumerate(items)}
    boards = ({"": result.board} if items else {}) | result.categories
    groups = {name: board["group"] for name, board in boards.items()}
    block: dict[str, Any] = {
        "level": result.options.level,
        "groups": {n: g.to_list() for n, g in groups.items() if g.is_not_null().any()},
        "headlines": {n: result.headline(n) for n in result.categories},
        "source": f"{result.title}; tiebreak {__version__}, {result.date[:10]}",
        "nouns": {word: noun(word) for word in ("items", "votes", "left", "right")},
        "page": charts.FEW_ROWS if len(items) > charts.MOST_ROWS else charts.MOST_ROWS,
    }
    if result.compare is not None and views["compare"] is not None:
        compare = result.compare
        place = {name: i for i, name in enumerate(compare["names"])}

        def aligned(values: Any) -> list[float | None]:
            # So short that probabilities keep eight digits.
            at = (place.get(item) for item in items)
            return [None if i is None else round(float(values[i]), 8) for i in at]

        tie, doubts = compare["tie"], compare["doubts"]
        certain = math.isinf(tie) or (compare["link"] == "rating" and tie == 1.0)
        block["compare"] = {
            "strengths": aligned(compare["strengths"]),
            "doubts": None if doubts is None else aligned(doubts),
            "link": compare["link"],
            "tie": None if certain else float(tie),
            "davidson": compare.get("davidson"),
            "advantage": compare["advantage"],
        }
    if result.differences is not None:
        block["compared"] = result.differences["item"].n_unique() + 1
        block["versus"] = [
            [places[one], places[other], *_round(numbers)]
            for one, other, *numbers in result.differences.iter_rows()
        ]
    if views["matrix"] is not None:
        matrix = result.matrix
        block["matrix"] = {
            "items": [places.get(item) for item in matrix.items.tolist()],
            "wins": matrix.wins.tolist(),
            "ties": matrix.ties.tolist(),
        }
    return as_json(block)


def _round(numbers: list[float | None]) -> list[float | None]:
    """Numbers with five digits that count."""
    return [None if x is None else float(f"{x:.5g}") for x in numbers]


def _answer(result: Any) -> dict[str, Any]:
    """The first screen: a sentence, its basis, warnings, the table with its plot."""
    checks, items = result.checks, _items(result)
    facts = [plural(len(items), "item")] if items else []
    counts = {"problem": 0, "warning": len(result.warnings)}
    if checks is not None:
        if checks.n_comparisons:
            facts.append(say_comparisons(checks.n_comparisons))
        if checks.tie:
            facts.append(f"{percent(checks.tie_rate)} ties")
        for level in counts:
            counts[level] += sum(each.level == level for each in checks.findings)
    sentence, *more = result.summary() or [""]
    return {
        "sentence": sentence,
        "more": more,
        "facts": facts,
        "distrust": " and ".join(plural(n, lev) for lev, n in counts.items() if n),
        "board": _table(result.board, result) if items else None,
    }


def _table(board: pl.DataFrame, result: Any, drawn: bool = True) -> dict[str, Any]:
    """Cells of a leaderboard with what marks a row, its picture and its thumbnail."""
    heads, cells = board_cells(board, result.options.level)
    marks = board.select("provisional", best="could_be_best", first=pl.col("rank") == 1)
    classes = [
        " ".join(name for name, marked in row.items() if marked)
        for row in marks.iter_rows(named=True)
    ]
    plot = charts.board_pictures(board) if drawn else None
    dots = plot["rows"] if plot else []
    pictures = map(result.source.pictures.get, board["item"])
    rows = [*zip_longest(cells, classes, dots, pictures)]
    return {"heads": heads, "rows": rows, "classes": classes, "plot": plot}


def _critical(result: Any) -> View:
    scores = result.source.scores
    chart = None if scores is None else charts.critical_chart(result.board)
    if chart is None:
        return None
    return chart | {"tolerance": scores.tolerance.size and str(scores.tolerance)}


def _categories(result: Any) -> View:
    if not result.category_notes:
        return None
    boards = result.categories
    tables = {name: _table(board, result, False) for name, board in boards.items()}
    return {"tables": tables, "ranks": charts.category_ranks(result.board, boards)}


def _effects(result: Any) -> View:
    if result.effects is None or not len(result.effects):
        return None
    return charts.effects_chart(result.effects)


def _matrix(result: Any) -> View:
    matrix, items = result.matrix, _items(result)
    if matrix is None or not matrix.games.any():
        return None
    odds = result.compare is not None and result.compare["link"] != "threshold"
    return {
        "rows": charts.matrix_rows(matrix),
        "total": max(len(items), len(matrix.items)),
        "expected": odds and set(matrix.items.tolist()) <= set(items),
    }


def _compare(result: Any) -> View:
    names = [] if result.compare is None else result.compare["names"]
    enough = len(names) > 1 or result.differences is not None
    return {} if enough and _items(result) else None


def _history(result: Any) -> View:
    history, note = result.history
    if history is None or not len(history):
        return None
    chart = history_chart(history, _items(result))
    return None if chart is None else chart | {"note": note}


def _weights(result: Any) -> View:
    view = {
        "weights": charts.weights_chart(result.weights) if result.weights else None,
        "shares": result.shares or None,
        "disagreements": result.disagreements,
    }
    return (
        view if any(part is not None and len(part) for part in view.values()) else None
    )


def _quality(result: Any) -> View:
    quality, name = result.quality, result.choice.name
    if quality is None:
        return None
    table = quality.table.drop("n_test", "n_unseen", strict=False)
    view = {
        "heads": {key: metric_words(key) for key in table.columns[1:]},
        "rows": table.to_dicts(),
        "note": " ".join(quality.heading()),
        "calibration": None,
        "notes": [],
    }
    if getattr(quality, "by_query", None) is not None:
        level = result.options.level
        view["notes"] = [*quality.say_metrics(level), *quality.say_worst()]
    if name not in getattr(quality, "proba", {}):
        return view
    proba = quality.proba[name]
    curves = charts.calibration_curves(quality.outcome, proba, quality.weight)
    return view | {
        "calibration": [
            (curve.outcome, [*zip(*curve[1:], strict=True)]) for curve in curves
        ],
        "largest": max([1.0, *(n for curve in curves for n in curve.weight)]),
    }


def _tuning(result: Any) -> View:
    tuning = result.tuning
    if tuning is None:
        return None
    names, chosen = list(tuning.best_params_), tuple(tuning.best_params_.values())
    best = tuning.table.sort("place").head(_MOST_SETTINGS).select(*names, "score")
    rows = [
        ([f"{v:.4g}" for v in values], f"{-score:.4f}", tuple(values) == chosen)
        for *values, score in best.rows()
    ]
    metric = metric_words(tuning.scoring)
    return {"names": names, "metric": metric, "rows": rows, "n": len(tuning.table)}


def _audit(result: Any) -> View:
    if not result.audit or not result.audit["claims"]:
        return None
    claims = result.audit["claims"]
    curves = [charts.choice_chart(claim["choices"]) for claim in claims]
    return {"claims": [*zip(claims, curves, strict=True)]}


def _judges(result: Any) -> View:
    if not result.judges or not result.judges["judges"]:
        return None
    return charts.judges_chart(result.judges["judges"])


_LEVELS = {"problem": "Problem", "warning": "Warning", "note": "Note"}


def _checks(result: Any) -> View:
    checks = result.checks
    entries = [("warning", text) for text in result.warnings]
    if checks is not None:
        entries += [(each.level, each.message) for each in checks.findings]
    elif not entries and not result.recognized:
        return None
    entries.sort(key=lambda entry: [*_LEVELS].index(entry[0]))
    # A message says what was found, and then what to make of it.
    findings = [
        (level, _LEVELS[level], head + "." * bool(rest), rest)
        for level, message in entries
        for head, _, rest in [str(message).partition(". ")]
    ]
    return {"findings": findings, "facts": [] if checks is None else checks.facts()}


_MOST_IN_LATEX = 50


def _made(result: Any) -> View:
    if not _items(result):
        return {"latex": ""}
    first = result.board.head(_MOST_IN_LATEX)
    return {"latex": as_document(first, result.options.level, "latex")}


SECTIONS = {
    "critical": ("Who can be told apart", _critical),
    "categories": ("Who is better where", _categories),
    "effects": ("What else decides", _effects),
    "matrix": ("Who beats whom", _matrix),
    "compare": ("Compare any two", _compare),
    "history": ("Over time", _history),
    "weights": ("What matters", _weights),
    "quality": ("How good is it?", _quality),
    "tuning": ("How the settings were chosen", _tuning),
    "audit": ("Would the claims survive?", _audit),
    "judges": ("Who judged", _judges),
    "checks": ("What to check", _checks),
    "made": ("How it was made", _made),
}
