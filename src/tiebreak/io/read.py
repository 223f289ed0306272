# SPDX-License-Identifier: BSD-3-Clause
"""From a file to data: detect the format, find the columns, read, and say what it was.

`read_file` reads comparisons, grades or orders; `read_unlabeled` the pairs or items to
predict, one for each row, and no outcomes or grades.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.kinds import Comparisons, Grades
from tiebreak.data.messages import ReadWarning, warn_user
from tiebreak.data.pairs import Pairs
from tiebreak.io.columns import (
    Reading,
    Roles,
    Rule,
    Sides,
    ask_which,
    find_columns,
    find_nouns,
    named_column,
    read_roles,
)
from tiebreak.io.comparisons import read_advantage, read_comparisons
from tiebreak.io.formats import STANDARD_INPUT, FileFormat, detect_format
from tiebreak.io.frames import BUNDLED, is_path, is_path_list, list_files
from tiebreak.io.grades import (
    build_grades,
    read_svmlight,
)
from tiebreak.io.items import (
    Wanted,
    find_wanted,
    fit_numbered,
    join_items,
    label_items,
)
from tiebreak.io.lists import read_list_lines
from tiebreak.io.rankings import read_order_lines, read_preflib
from tiebreak.io.result import (
    BrokenRows,
    FileError,
    ReadOptions,
    ReadResult,
    first_of,
    plural,
    printable,
)
from tiebreak.io.scores import read_scores
from tiebreak.io.shapes import find_reading
from tiebreak.io.table import Table, TableFile
from tiebreak.options import flag, in_python

# The formats that are no tables: what they hold, and how they are read.
_SQL_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_OTHERS = {
    "svmlight": ("grades", read_svmlight),
    "preflib": ("orders", read_preflib),
    "orders": ("orders", read_order_lines),
    "lists": ("orders", read_list_lines),
}


def read_file(
    source: Any,
    options: ReadOptions | None = None,
    *,
    wanted: Wanted | None = None,
) -> ReadResult:
    """Read comparisons, grades or orders, and say what was detected.

    Columns of tables are found by usual names, see `COLUMN_WORDS` and `SIDES`.

    Parameters
    ----------
    source : str, path, list of paths or table
        The file (``"-"`` is standard input); a folder of Parquet or Arrow files, a
        pattern or a list of files, with the same columns; or a table in memory: a data
        frame, an Arrow table, a Hugging Face dataset, a dict of columns or a list of
        dicts.
    options : ReadOptions, optional
        What is known about it; everything else is detected.
    wanted : Wanted, optional
        The features that a model was fitted on.

    Returns
    -------
    ReadResult

    Raises
    ------
    FileError
        If the file or a row of it cannot be read.
    NeedsAnswer
        If the file has more than one meaning.
    """
    options = ReadOptions() if options is None else options
    if not is_path(source) and not is_path_list(source):
        with in_python():
            result = _read_table(Table.of(source), options, wanted)
            return _finish(result, options, wanted)
    files = _detect_files(source, options)
    if files[0][1].is_table:
        result = _read_table(_open_table(source, files), options, wanted)
        result.sentences[1:1] = _describe_unread(source, files)
    else:
        result = _read_other(*files[0], options, wanted)
    if files[0][0].parent == BUNDLED and not Path(source).exists():
        terms = f"its terms: tiebreak data get {source}"
        result.sentences[1:1] = [f"{source} is a data set of tiebreak ({terms})."]
    return _finish(result, options, wanted)


def _detect_files(source: Any, options: ReadOptions) -> list[tuple[Path, FileFormat]]:
    """Detect the format of each file."""
    if str(source) == "-":
        return [(STANDARD_INPUT, detect_format(STANDARD_INPUT, options))]
    sources = source if is_path_list(source) else [source]
    paths = [path for one in sources for path in list_files(Path(one))]
    files = []
    for path in paths:
        detected = detect_format(path, options)
        if not detected.is_table and len(paths) > 1:
            raise FileError(path, f"a file of {detected.format} is read alone.")
        files.append((path, detected))
    return files


def _open_table(source: Any, files: Sequence[tuple[Path, FileFormat]]) -> Table:
    """Open one file, or several as one table."""
    path = Path(source) if is_path(source) else None
    return Table([TableFile(*file) for file in files], path)


def _describe_unread(
    source: Any, files: Sequence[tuple[Path, FileFormat]]
) -> list[str]:
    """Say what else is in a folder, except files of other programs."""
    if not is_path(source) or not Path(source).is_dir():
        return []
    taken = {path.name for path, _ in files}
    names = sorted(path.name for path in Path(source).iterdir())
    others = [n for n in names if n not in taken and not n.startswith((".", "_"))]
    return [f"Not read: {first_of(others, 5)}."] if others else []


def _finish(
    result: ReadResult, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    """Join the tables of items and labels, and make the sentences printable."""
    if options.items is not None:
        result = join_items(result, options, wanted)
    if options.labels is not None and not Path(options.labels).is_dir():
        result = label_items(result, options)
    if options.nouns is not None and not result.nouns:
        result = replace(result, nouns=find_nouns("", options))
    # Names of columns and items come from the file, and may hold anything.
    result.sentences[:] = map(printable, result.sentences)
    return result


def _read_other(
    path: Path, detected: FileFormat, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    """Read a file that is no table."""
    kind, read = _OTHERS[detected.format]
    refused = [flag(role, column) for role, column in options.roles().items()]
    of_columns = {
        "where": options.where, "by": options.words, "covariates": options.numbers,
        "drop_duplicates": options.drop_duplicates,
    }  # fmt: skip
    refused += [flag(option) for option, value in of_columns.items() if value]
    if options.kind not in (None, kind):
        refused.append(flag("kind", options.kind))
    if refused:
        raise FileError(
            path,
            f"{' and '.join(refused)} cannot be used: a file in the format "
            f"{detected.format} holds {kind}, and no named columns.",
        )
    result = read(path, detected, options)
    data = result.data
    if not isinstance(data, Grades):
        return result
    items = fit_numbered(path, data.items, wanted, result.sentences)
    return replace(result, data=replace(data, items=items))


def _read_table(
    table: Table, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    table.can_skip, table.keep_na = True, options.keep_na
    described = table.describe()
    described += _choose_rows(table, options)
    skipped: list[pl.DataFrame] = []
    while True:
        try:
            result = _read_shape(table, options, wanted)
            break
        except BrokenRows as error:
            if not options.skip_bad_rows:
                raise
            skipped.append(table.drop(error.faults))
    if skipped:
        left_out = pl.concat(skipped)
        described.append(_say_skipped(left_out))
        result = replace(result, skipped=left_out)
    result.sentences[:0] = described
    return _with_warnings(table, result)


def _with_warnings(table: Table, result: ReadResult) -> ReadResult:
    """Warn of what the table says besides, once each."""
    said = set(result.sentences)
    warnings = [one for one in dict.fromkeys(table.warnings) if one in said]
    for sentence in warnings:
        warn_user(printable(sentence), ReadWarning)
    return replace(result, warnings=tuple(warnings))


def _read_shape(
    table: Table, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    reading = find_reading(table, options)
    if (options.words or options.numbers) and reading.rule.read != read_comparisons:
        raise table.error(
            f"{flag('by')} and {flag('covariates')} need a file with one comparison "
            "per row, and this one grades items; leave them out."
        )
    if options.tie_within is not None and reading.rule.read != read_scores:
        raise table.error(f"{flag('tie_within')} is for scores of items on tasks.")
    result = reading.rule.read(table, options, reading, wanted)
    if reading.note:
        result.sentences.insert(0, reading.note)
    return result


def _say_skipped(skipped: pl.DataFrame) -> str:
    kinds: dict[str, list[str]] = {}
    for place, reason in skipped.select("place", "reason").rows():
        kinds.setdefault(reason, []).append(place)
    reasons = "; ".join(f"{why}: {first_of(where, 5)}" for why, where in kinds.items())
    they = "it" if skipped.height == 1 else "they"
    count = plural(skipped.height, "row")
    return f"{count} skipped, because {they} cannot be read. {reasons}."


def _choose_rows(table: Table, options: ReadOptions) -> list[str]:
    """Leave out rows by the user's conditions, and count them."""
    sentences = []
    if options.where is not None:
        true = _evaluate(table, options.where)
        unknown = int(true.null_count())
        kept = true.fill_null(False).to_numpy()
        if not kept.any():
            raise table.error(f"{flag('where', options.where)} is true of no row.")
        missing = f" ({unknown:,} of them lack a value)" if unknown else ""
        count = plural(int((~kept).sum()), "row")
        sentences.append(f"{flag('where', options.where)} left out {count}{missing}.")
        table.keep(kept)
    if options.drop_duplicates:
        new = table.frame(table.columns).select(pl.struct(pl.all()).is_first_distinct())
        kept = new.to_series().to_numpy()
        count = plural(int((~kept).sum()), "row")
        sentences.append(
            f"{flag('drop_duplicates')} left out {count} that repeat an earlier one."
        )
        table.keep(kept)
    return sentences


def _evaluate(table: Table, text: str) -> pl.Series:
    """Evaluate a condition for each row: true, false or null."""
    example = "expected a condition such as turns > 1 or language = 'en'"
    option = flag("where", text)
    if ";" in _SQL_QUOTED.sub("", text):
        # Which polars up to 1.39 ends at, and leaves out the rest.
        raise table.error(f"{option} is not understood (it has a ;); {example}.")
    try:
        condition = pl.sql_expr(text)
        names = list(dict.fromkeys(condition.meta.root_names()))
        trouble = "" if names else "it names no column"
    except pl.exceptions.PolarsError as error:
        trouble = str(error).partition("\n")[0]
    if trouble:
        raise table.error(f"{option} is not understood ({trouble}); {example}.")
    frame = table.frame([named_column(table, name, option) for name in names])
    frame.columns = names
    plain = frame.select(_as_plain_text(column) for column in frame)
    # Numbers are compared as numbers, unless a word is among what is asked for.
    for tried in (plain.select(_as_numbers(column) for column in plain), plain):
        try:
            is_true = tried.select(condition.alias("kept")).to_series()
        except pl.exceptions.PolarsError as error:
            trouble = trouble or str(error).partition("\n")[0]
            continue
        if is_true.dtype == pl.Boolean and len(is_true) == len(frame):
            return is_true
        trouble = trouble or "it is not true or false for every row"
    raise table.error(f"{option} cannot be used ({trouble}); {example}.")


def _as_plain_text(column: pl.Series) -> pl.Series:
    """Write dates and categories as text; blank text is no value."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column
    text = column.cast(pl.String).str.strip_chars()
    return text.set(text == "", None)


def _as_numbers(column: pl.Series) -> pl.Series:
    """Read text as numbers, or as booleans, if all of it is."""
    if column.dtype != pl.String:
        return column
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() == column.null_count():
        return number
    word = column.str.to_lowercase()
    flag = word.replace_strict({"true": True, "false": False}, default=None)
    return flag if flag.null_count() == column.null_count() else column


_OUTCOMES = ("outcome", "left_score", "right_score", "points")
_GRADES = ("grade", "rating")


def read_unlabeled(
    source: Any,
    options: ReadOptions | None = None,
    wanted: Wanted | None = None,
) -> ReadResult:
    """Read pairs of items, or items with features, to predict.

    Parameters
    ----------
    source : str, path or table
        A table, in files or in memory (see `read_file`), or a file of svmlight.
    options : ReadOptions, optional
        As in `read_file`. With ``items``, features come from that table.
    wanted : Wanted, optional
        As in `read_file`; None: the model knows items by name.

    Returns
    -------
    ReadResult
        Comparisons with ``y`` None, or grades with ``grades`` None, one for each row.

    Raises
    ------
    FileError
        If the file or a row cannot be read, or lacks what the model needs.
    NeedsAnswer
        If more than two columns can be the two items.
    """
    options = ReadOptions() if options is None else options
    if not is_path(source):
        return _read_asked(Table.of(source), options, wanted)
    files = _detect_files(source, options)
    path, detected = files[0]
    if detected.format == "svmlight" and wanted is not None and options.items is None:
        result = _read_other(path, detected, replace(options, kind=None), wanted)
        result.sentences.append("The grades are not looked at.")
        return result
    if not detected.is_table:
        raise FileError(
            path, f"expected a table with two columns of names, not {detected.format}."
        )
    return _read_asked(_open_table(source, files), options, wanted)


def _read_asked(
    table: Table, options: ReadOptions, wanted: Wanted | None
) -> ReadResult:
    table.keep_na = options.keep_na
    roles = Roles(table, options)
    ways = roles.sides()
    if len(ways) > 1:
        rule = Rule((), read_comparisons, {"left": "", "right": ""})
        listed = [Reading(rule, {"left": w.left, "right": w.right}) for w in ways]
        raise ask_which(table, listed)
    sides = ways[0] if ways else None
    joined = options.items is not None
    if sides is not None and (joined or wanted is None):
        result = _read_sides(roles, sides)
    elif wanted is None:
        raise table.error(
            "the model knows items by name; name the columns of two of them with "
            f"{flag('left')} and {flag('right')}. {table.list_columns()}"
        )
    else:
        names = wanted.names
        known = [] if names is None else find_wanted(table.columns, names)
        if sides is not None and (names is None or len(known) < len(names)):
            raise table.error(
                f"{sides.left} and {sides.right} name two items, but the model was "
                f"fitted on {plural(wanted.count, 'feature')} of items; name the table "
                f"that has them with {flag('items')}."
            )
        result = _read_items(roles, None if joined else wanted)
    result.sentences[:0] = table.describe()
    return _finish(_with_warnings(table, result), options, wanted)


def _read_sides(roles: Roles, sides: Sides) -> ReadResult:
    """Read pairs of names, one for each row."""
    table, names = roles.table, [sides.left, sides.right]
    chosen = {"left": sides.left, "right": sides.right}
    for role in ("advantage", "neutral"):
        if (column := roles.find(role, chosen)) is not None:
            chosen[role] = column
    columns = read_roles(table, chosen)
    sentences = [f"{sides.left} and {sides.right} are the two items of each row."]
    left, right = columns.restore_names(sentences, *names)
    favored = read_advantage(columns, chosen, sides.family, sentences)
    columns.refuse_broken()
    pairs = Pairs(None, left.array(), right.array())
    sentences += _describe_ignored(table, chosen, _OUTCOMES)
    n_pairs, n_items = plural(len(pairs), "pair"), plural(pairs.n_items, "item")
    sentences.append(f"{n_pairs} of {n_items}.")
    data = Comparisons(pairs, np.empty(0, dtype=np.int8), columns=favored)
    return ReadResult(data, sentences)


def _read_items(roles: Roles, wanted: Wanted | None) -> ReadResult:
    """Read items, with the wanted features or by name."""
    table = roles.table
    taken: set[str] = set()
    if wanted is not None and wanted.names is not None:
        taken = {place.column for place in find_wanted(table.columns, wanted.names)}
    by_role: dict[str, str] = {}
    for role, words in (("query", "query"), ("item", "name")):
        likely = find_columns(words, table.columns)
        free = (c for c in likely if c not in {*taken, *by_role.values()})
        if (column := roles.named.get(role) or next(free, None)) is not None:
            by_role[role] = column
    query, item = by_role.get("query"), by_role.get("item")
    if wanted is None and item is None:
        raise table.error(
            "no column has a usual name for items. Name it with "
            f"{flag('item')}. {table.list_columns()}"
        )
    named = "" if item is None else f", named by {item}"
    together = "; all of them are ranked together"
    within = together if query is None else f", ranked within its {query}"
    sentences = [f"Every row is an item{named}{within}."]
    ignored: list[str] = []
    others = [] if wanted is None else table.columns
    if wanted is not None and wanted.names is None:
        graded = {c for role in _GRADES for c in find_columns(role, table.columns)}
        others = [c for c in table.columns if c not in graded]
        ignored = _describe_ignored(table, by_role, _GRADES)
    data = build_grades(table, by_role, others, wanted, sentences, whole=True)
    return ReadResult(data, sentences + ignored)


def _describe_ignored(
    table: Table, used: dict[str, str], roles: tuple[str, ...]
) -> list[str]:
    listed = [column for role in roles for column in find_columns(role, table.columns)]
    kept = [c for c in dict.fromkeys(listed) if c not in used.values()]
    return [f"Not looked at: {', '.join(kept)}."] if kept else []
