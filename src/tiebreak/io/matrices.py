# SPDX-License-Identifier: BSD-3-Clause
"""Counts of wins: a row for every two items, or a square matrix.

A count becomes one comparison that weighs as many: a total is never a single match.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_names
from tiebreak.data.kinds import Comparisons
from tiebreak.data.pairs import Pairs
from tiebreak.io.columns import (
    SUMMARIES,
    Reading,
    Roles,
    Rule,
    read_roles,
    spelling,
)
from tiebreak.io.comparisons import read_advantage, read_metadata
from tiebreak.io.formats import detect_format
from tiebreak.io.frames import is_path
from tiebreak.io.result import ReadOptions, ReadResult, plural, shorten
from tiebreak.io.scores import MISSING, parse_scores
from tiebreak.io.table import Table, TableFile
from tiebreak.options import flag

_SUMS = {
    *SUMMARIES,
    *["wins", "losses", "points", "pts", "games", "played", "win", "rank"],
}
_SHARES = (
    "a win matrix holds numbers of wins, and these are shares; how many matches there "
    "were is not known."
)


def _weighted(
    left: Codes, right: Codes, names: list[str], counts: Floats
) -> tuple[Comparisons, str]:
    """Return a comparison for each count of left wins, right wins and ties, (n, 3)."""
    row, which = np.nonzero(counts)
    weight = counts[row, which]
    y = np.array([-1, 1, 0], dtype=np.int8)[which]
    pairs = Pairs(None, left[row], right[row], names=as_names(names)).compact()
    ties = weight[y == 0].sum()
    said = (
        f"{weight.sum():,g} comparisons of {plural(pairs.n_items, 'item')}, {ties:,g} "
        "of them ties; a count weighs as many comparisons."
    )
    if (weight % 1 != 0).any():
        said += (
            " Halves are ties that count as half a win for each side: how many there "
            "were is not in the file."
        )
    return Comparisons(pairs, y, weight, rows=row), said


def read_totals(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a table with the number of wins of each side per row."""
    roles = reading.roles
    columns = read_roles(table, roles)
    names = [roles["left"], roles["right"]]
    counted = [
        roles[role] for role in ("left_wins", "right_wins", "tied") if role in roles
    ]
    sentences = [
        f"{names[0]} and {names[1]} are compared; {counted[0]} and {counted[1]} count "
        f"how often each won{f', {counted[2]} the ties' if counted[2:] else ''}."
    ]
    left, right = columns.restore_names(sentences, *names)
    columns.note_bad("count", *counted)
    counts = np.stack([columns.numbers[c] for c in counted], axis=1)
    counts = np.pad(counts, ((0, 0), (0, 3 - len(counted))))
    wrong = (counts < 0) | (2 * counts % 1 != 0) & ~np.isnan(counts)
    columns.note("counts that are not 0, 1, 2, …", wrong.any(axis=1))
    metadata = read_metadata(columns, roles, options.roles(), sentences)
    metadata |= read_advantage(columns, roles, reading.family, sentences)
    columns.refuse_broken()
    counts = counts * metadata.pop("weight", np.ones(len(counts)))[:, None]
    listed = list(dict.fromkeys([*left.values, *right.values]))
    number = {name: code for code, name in enumerate(listed)}
    one, other = (side.per_row(number.__getitem__, -1) for side in (left, right))
    is_same = one == other
    if same := int(is_same.sum()):
        counts[is_same] = 0
        left_out = f"{plural(same, 'row')} with the same item on both sides left out."
        sentences.append(left_out)
    if not counts.any():
        raise table.error("no comparison is left: all counts are 0.")
    data, said = _weighted(one, other, listed, counts)
    data = replace(data, columns={n: c[data.rows] for n, c in metadata.items()})
    return ReadResult(data, [*sentences, said])


def find_matrix(rule: Rule, roles: Roles, options: ReadOptions) -> list[Reading]:
    """Find a column of names that are also names of columns."""
    table = roles.table
    for place, names in enumerate(table.columns[:2]):
        rows = (
            table.head[names].cast(pl.String).str.strip_chars().drop_nulls().to_list()
        )
        items = {row for row in rows if spelling(row) not in _SUMS}
        if len(items) < 2 or not items <= set(table.columns) - {names}:
            continue
        others = table.numeric.intersection(table.columns[place + 1 :])
        lacking = [shorten(c) for c in others - items if spelling(c) not in _SUMS]
        if lacking:
            raise table.error(
                f"{names} and the columns have the same names, as in a win matrix, but "
                f"there is no row for {', '.join(sorted(lacking)[:5])}."
            )
        if set(roles.named) - {"item"}:
            listed = " and ".join(flag(role) for role in roles.named)
            raise table.error(
                f"{names} and the columns have the same names: this is a win matrix. "
                f"Leave out {listed}."
            )
        label = table.columns[1]  # beside numbers, and for them
        own = label in items or label in table.numeric
        return [Reading(rule, {"item": names, "name": names if own else label})]
    n = len(table.columns)
    if n > 2 and table.n_rows == n and table.numeric.issuperset(table.columns):
        diagonal = [table.head[c][row] for row, c in enumerate(table.columns)]
        if all(
            str(value or "0").strip() in ("0", "0.0", *MISSING) for value in diagonal
        ):
            raise table.error(
                "the table is square with an empty diagonal, like a win matrix; write "
                "the names of the rows into a first column."
            )
    return []


def read_matrix(
    table: Table, options: ReadOptions, reading: Reading, wanted: Any
) -> ReadResult:
    """Read a square table of wins, and perhaps a second one of ties."""
    item = reading.roles["item"]
    wins, names = _read_square(table, item, reading.roles["name"])
    lost = options.lower_is_better
    if lost is None:  # what a row is, before a column
        lost = (
            re.match(
                r"\W*((rows? )?(los[est]|beaten|verl(ierer|oren)|perd)|defeated)",
                item.casefold(),
            )
            is not None
        )
    sentences = [
        f"Direction: a number says how often the {item} of its row "
        f"{'lost to' if lost else 'beat'} that of its column"
        + f" ({flag('lower_is_better')}: lost to)."
        * (not lost)
    ]
    if (wins == wins.T).all():
        raise table.error(
            "rows and columns have the same names, but the numbers are symmetric, so "
            "nobody won; a win matrix says how often the row beat the column."
        )
    if (2 * wins % 1 != 0).any():
        raise table.error(_SHARES)
    wins = wins.T if lost else wins
    left, right = np.triu_indices(len(names), 1)
    left, right = np.where((left + right) % 2, (left, right), (right, left))
    ties = np.zeros(len(left))
    if options.tie_matrix is not None:
        ties = _read_ties(options.tie_matrix, names)[left, right]
    counts = np.stack([wins[left, right], wins[right, left], ties], axis=1)
    data, said = _weighted(left, right, names, counts)
    return ReadResult(replace(data, rows=None), [*sentences, said], sided=False)


def _read_square(table: Table, item: str, label: str) -> tuple[Floats, list[str]]:
    """Return the numbers, in the order of rows, and the names of the rows."""
    columns = table.read(text=[item, label], raw=table.columns)
    columns.note_missing("name", item)
    rows, labels = (columns.text[c].per_row(str.strip, "") for c in (item, label))
    kept = [row for row, name in enumerate(rows) if spelling(name) not in _SUMS]
    names = [rows[row] for row in kept]
    if len(set(names)) < len(names):
        raise table.error(f"{item} names a row twice; a win matrix has one for each.")
    cells = []
    for name in names:
        number, bad, is_percent = parse_scores(columns.raw[name], table)
        if is_percent:
            raise table.error(_SHARES)
        bad = np.append(bad, np.flatnonzero(number < 0))
        columns.note(f"values of {name} that are no counts", bad, name)
        cells.append(np.where(np.isnan(number), 0.0, number)[kept])
    columns.refuse_broken()
    values = np.stack(cells, axis=1)
    np.fill_diagonal(values, 0)
    return values, labels[kept].tolist()


def _read_ties(source: Any, names: list[str]) -> Floats:
    """Return the ties of every two items, from a matrix or one triangle of it."""
    if is_path(source):
        table = Table([TableFile(Path(source), detect_format(Path(source)))])
    else:
        table = Table.of(source)
    ties, listed = _read_square(table, *2 * table.columns[:1])
    if set(listed) != set(names):
        raise table.error(f"the rows of {flag('tie_matrix')} have other names.")
    order = [listed.index(name) for name in names]
    ties = ties[np.ix_(order, order)]
    if not ((ties == ties.T) | (ties == 0) | (ties.T == 0)).all():
        raise table.error("a matrix of ties is symmetric, and this one is not.")
    return np.maximum(ties, ties.T)
