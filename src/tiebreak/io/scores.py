# SPDX-License-Identifier: BSD-3-Clause
"""Score tables: items on tasks, in rows and columns or one score per row.

A column of tasks (``dataset``) makes the other columns items, one of items (``model``)
makes them tasks, and with both a row is about one item on one task. Repeated cells
(seeds) are averaged.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import as_names, factorize, number_keys
from tiebreak.data.kinds import Comparisons
from tiebreak.data.pairs import Pairs
from tiebreak.data.scores import ScoreTable, Tolerance, average_cells
from tiebreak.io.columns import (
    SUMMARIES,
    Reading,
    Roles,
    Rule,
    find_columns,
    is_lower_better,
    say_direction,
    spelling,
    words_of,
)
from tiebreak.io.result import ReadOptions, ReadResult, first_of, plural
from tiebreak.io.table import Columns, Table
from tiebreak.options import flag

MISSING = ["", "-", "–", "—", "x", "*", "na", "n/a", "nan", "null", "none"]
# Words of metrics, of columns that count or describe, and beside these of how they are
# counted; and of spreads.
_METRICS, _ASIDE, _UNITS, _SPREADS = map(set, map(str.split, (
    "acc accuracy auc auroc bleu chrf correct em f1 map mcc mrr ndcg passed precision "
    "r2 recall resolved rouge score solved success value",
    "attributes classes dimensions embedding epoch examples features fold id index "
    "instances n params parameters repeat replicate rows run samples seed size split "
    "tokens trial year",
    "b billion gb k m max mb million model number num of zero",
    "ci sd se std stddev stderr stdev var variance",
)))  # fmt: skip
_SUMMARIES = {*SUMMARIES, "rank"}
_FEWEST = 3  # units
_MOST = 50_000_000  # comparisons


@dataclass(frozen=True)
class Layout:
    """The columns of a score table."""

    tasks: list[str]  # whose values together name a task
    item: str | None
    scores: list[str]
    metric: str | None = None
    unit: str | None = None

    @property
    def is_long(self) -> bool:
        """Whether a row is about one item and one task."""
        return bool(self.tasks) and self.item is not None


def find_layout(roles: Roles) -> Layout | None:
    """Find tasks, items and scores by words of the header, or None."""
    table, named, columns = roles.table, roles.named, roles.table.columns
    # Two sides hold names; of model_a and model_b there may also be scores.
    sided = [s for s in roles.sides() if not looks_like_scores(table, s.left)]
    if set(named) - {"task", "item", "unit", "grade"} or sided:
        return None
    metric = next(iter(find_columns("metric", columns)), None)
    tasks = [named["task"]] if "task" in named else find_columns("task", columns)
    item, unit = named.get("item"), named.get("unit")
    item = item or next(iter(find_columns("scored", columns)), None)
    if not (tasks or item or unit or metric):
        return None
    scores = [c for c in columns if looks_like_scores(table, c)]
    scores = [c for c in scores if not _is_aside(words_of(c)) and c not in tasks]
    if item is None and tasks and len(scores) == 1:
        item = next(iter(find_columns("item", columns)), None)
    if unit is not None and item is not None and not tasks:
        raise table.error(f"{flag('unit')} needs a column of tasks: {flag('task')}.")
    tasks = list(dict.fromkeys(c for c in (unit, *tasks, metric) if c and c != item))
    scores = [c for c in scores if c not in (item, *tasks)]
    if item is not None:
        scores = [c for c in scores if spelling(c) not in _SUMMARIES]
    if tasks and item is not None:
        known = [c for c in scores if words_of(c) & _METRICS]
        known += [c for c in scores if is_lower_better(c, ReadOptions())]
        scores = (
            find_columns("rating", scores)[:1] or known or scores[: len(scores) == 1]
        )
    scores = [named["grade"]] if "grade" in named else scores
    layout = Layout(tasks, item, scores, metric, unit)
    return layout if len(scores) > (not layout.is_long) and (tasks or item) else None


def _is_aside(words: set[str]) -> bool:
    """Say whether the words of a header count, describe or give a spread."""
    return bool(words & _SPREADS) or (bool(words & _ASIDE) and words <= _ASIDE | _UNITS)


def find_scores(
    rule: Rule, roles: Roles, options: ReadOptions, is_long: bool = True
) -> list[Reading]:
    """Find a score table, with one row for an item on a task if it is long."""
    layout, table = find_layout(roles), roles.table
    chosen: list[tuple[dict[str, str], str]] = []
    if layout is not None and layout.is_long == is_long:
        task = {"task": layout.tasks[-1]} if layout.tasks else {}
        chosen = [(task | ({"item": layout.item} if layout.item else {}), "")]
    elif options.kind is not None and not is_long:
        first, row = table.columns[0], table.head.row(0)
        chosen = [({role: first}, f"{role} {row[0]}") for role in ("task", "item")]
    return [
        Reading(rule, {}, options=columns | {"kind": "scores"}, example=example)
        for columns, example in chosen
    ]


def looks_like_scores(table: Table, column: str) -> bool:
    """Whether most of the first values are numbers or percentages, where known."""
    if column not in table.columns:
        return False  # members of a team are several columns
    if table.head[column].dtype == pl.Boolean:
        return bool(words_of(column) & _METRICS)
    values = table.head[column].drop_nulls().cast(pl.String)
    numbers, bad, _ = parse_scores(values, table)
    return int((~np.isnan(numbers)).sum()) > len(bad)


def parse_scores(text: pl.Series, table: Table) -> tuple[Floats, Codes, bool]:
    """Read numbers, NaN where missing, bad rows, and whether they are percentages."""
    text = text.cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    missing = text.is_in(MISSING)
    text = text.replace(["true", "false"], ["1", "0"])
    text = text.str.replace(r"(\d) *(?:±|\+/-|\().*", "$1")  # a spread, or a rank
    percent = text.str.ends_with("%")
    if table.detected.separator == ";":
        text = text.str.replace(r"^([-+]?\d*),(\d+)", "$1.$2")
    units = text.filter(~missing).str.extract(r"\d *([a-zµ]+)$").fill_null("%")
    unit = units[0] if units.n_unique() == 1 else "%"  # none, or of all
    text = text.str.strip_suffix(unit).str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    good = number.is_finite().fill_null(False) & ~missing
    # Beside percentages a plain number may be a share or a percentage.
    is_percent = bool((percent & good).any())
    good &= percent if is_percent else ~percent
    values = number.set(~good, np.nan).to_numpy()
    return values, np.flatnonzero((~(good | missing)).to_numpy()), is_percent


def read_scores(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Compare every two items on every task by their scores."""
    layout = find_layout(Roles(table, options))
    if layout is None:
        raise table.error(f"there are no scores beside {table.columns[0]}.")
    labels = [c for c in (*layout.tasks, layout.item) if c]
    columns = table.read(text=labels, raw=layout.scores)
    columns.note_missing("value", *labels)
    parsed, percents = [], set()
    for column in layout.scores:
        values, bad, percent = parse_scores(columns.raw[column], table)
        fault = f"values of {column} that are neither numbers nor missing"
        columns.note(fault, bad, column)
        parsed.append(values)
        percents.add(percent)
    columns.refuse_broken()
    if layout.item is None and len(percents) > 1:
        raise table.error("some columns are percentages, and others are not.")
    sentences: list[str] = []
    scores = _arrange(columns, layout, np.stack(parsed, axis=1), options, sentences)
    n, n_units = len(scores.names), len(np.unique(scores.unit))
    if n_units < _FEWEST:
        what = "tasks" if layout.unit is None else f"values of {layout.unit}"
        raise table.error(
            f"{plural(n_units, 'task')} cannot show how much tasks differ; a score "
            f"table needs at least {_FEWEST} {what}."
        )
    if len(scores.tasks) * n * (n - 1) // 2 > _MOST:
        raise table.error(f"{n:,} items on {len(scores.tasks):,} tasks are too many.")
    pairs, y, task = Pairs._from_table(scores)
    if not len(y):
        raise table.error("no task has scores of two items.")
    within = f" (within {scores.tolerance})" if scores.tolerance.size else ""
    unused = [c for c in table.columns if c not in {*labels, *layout.scores}]
    if unused:
        sentences.append(f"Not used: {first_of(unused, 5)}.")
    sentences.append(
        f"{plural(len(y), 'comparison')} of {plural(n, 'item')}, every two on each of "
        f"{plural(len(scores.tasks), 'task')}; {int((y == 0).sum()):,} are ties"
        f"{within}. Intervals take {layout.unit or 'task'}s, and not comparisons, as "
        "independent."
    )
    data = Comparisons(pairs.compact(), y, columns={"unit": scores.unit[task]})
    return ReadResult(data, sentences, sided=False, scores=scores)


def _arrange(
    columns: Columns,
    layout: Layout,
    score: Floats,
    options: ReadOptions,
    sentences: list[str],
) -> ScoreTable:
    """Put scores (rows, columns) into a table of tasks and items."""
    n_rows, n_columns = score.shape
    row = np.repeat(np.arange(n_rows), n_columns)
    column, headers = np.tile(np.arange(n_columns), n_rows), layout.scores
    tasks, items, task, item = headers, headers, column, column
    key, unit = headers, np.arange(n_columns)  # a key says which direction a task has
    if layout.item is not None:
        [text] = columns.restore_names(sentences, layout.item)
        items, item = text.values, text.codes[row]
    if layout.tasks:
        texts = [columns.text[name] for name in layout.tasks]
        code = texts[0].codes
        for text in texts[1:]:
            code = code * len(text.values) + text.codes
        code, first = number_keys(code)
        parts = [[text.values[text.codes[k]] for text in texts] for k in first]
        tasks, task = [" / ".join(dict.fromkeys(part)) for part in parts], code[row]
        key, unit = [part[-1] for part in parts], np.arange(len(first))
        if layout.unit is not None:
            unit = factorize([part[0] for part in parts])[0]
        elif layout.metric is not None and len(texts) > 1:
            unit = factorize([str(part[:-1]) for part in parts])[0]
        if layout.is_long and n_columns > 1:  # several metrics
            task, key = task * n_columns + column, headers * len(tasks)
            tasks = [f"{name} / {head}" for name in tasks for head in headers]
            unit = np.repeat(unit, n_columns)
    means = average_cells(task, item, score.ravel(), (len(tasks), len(items)))
    summed = np.array([spelling(name) in _SUMMARIES for name in tasks])
    kept = ~summed & ~np.isnan(means).all(axis=1)
    own = ~np.isnan(means[kept]).all(axis=0)
    repeated = int((~np.isnan(score)).sum()) - int((~np.isnan(means)).sum())
    empty = int(np.isnan(means[kept][:, own]).sum())
    sentences.append(_say_layout(layout, int(kept.sum()), int(own.sum())))
    lower = _directions(layout, np.array(key, dtype=object), options, sentences, kept)
    left_out = first_of([tasks[k] for k in np.flatnonzero(summed)])
    unscored = first_of([items[k] for k in np.flatnonzero(~own)])
    coarse = [c for c in layout.tasks if c != layout.metric]
    few = min(coarse, key=lambda c: len(columns.text[c].values), default="")
    said = {
        f"Scores of one item on one task are averaged: {repeated:,} are of a cell that "
        "has one before.": repeated,
        f"Left out, because it sums up others: {left_out}.": left_out,
        f"{plural(empty, 'cell')} without a score; the others count.": empty,
        f"Left out, because no task has a score of it: {unscored}.": not own.all(),
        f"{flag('unit', few)} takes tasks of one {few} as one observation.": (
            layout.unit is None and len(coarse) > 1
        ),
    }
    sentences += [sentence for sentence, is_so in said.items() if is_so]
    return ScoreTable(
        as_names(items)[own],
        as_names(tasks)[kept],
        means[kept][:, own],
        lower[kept],
        Tolerance.parse(options.tie_within or 0.0, flag("tie_within")),
        number_keys(unit[kept])[0],
    )


def _say_layout(layout: Layout, n_tasks: int, n_items: int) -> str:
    of = f"{plural(n_items, 'item')} on {plural(n_tasks, 'task')}"
    tasks = ", ".join(layout.tasks)
    how = f"{first_of(layout.scores, 3)} of {layout.item} on {tasks}"
    if layout.item is None:
        how = f"a row is a task ({tasks}), a column an item"
    elif not tasks:
        how = f"a row is an item ({layout.item}), a column a task"
    return f"Score table of {of}: {how}."


def _directions(
    layout: Layout,
    key: NDArray[Any],
    options: ReadOptions,
    sentences: list[str],
    kept: Flags,
) -> Flags:
    """Say of each task whether lower is better: by its metric, header or last word."""
    one = layout.scores[0] if layout.is_long and len(layout.scores) == 1 else ""
    if layout.metric is None and (one or layout.item is None):
        # A word such as time within the name of a data set says nothing.
        ends = [name.replace("_", " ").split() for name in key]
        key = np.array([parts[-1] if parts else "" for parts in ends], dtype=object)
    lower = np.array([is_lower_better(name, options) for name in key])
    shared = [one] if one else layout.scores * (layout.item is None)
    if shared and all(is_lower_better(name, options) for name in shared):
        lower[:] = True
    for way in (False, True):
        named = list(dict.fromkeys(key[kept & (lower == way)].tolist()))
        if named and (lower[kept] == way).all():
            named = [one or "all scores"]
        if named:
            sentences.append(say_direction(first_of(named, 5), options, way))
    return lower
