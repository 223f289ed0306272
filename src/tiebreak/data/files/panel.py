# SPDX-License-Identifier: BSD-3-Clause
"""Scores that people gave to products: comparisons within a person, never between.

People use scales differently, so a 7 of one is not compared with a 5 of another. Every
two products that one person scored are a comparison, and equal scores are a tie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import as_names
from tiebreak.data.files.errors import FileError, list_places, plural
from tiebreak.data.files.formulas import restore_names
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.table import Table
from tiebreak.data.files.text_column import Text
from tiebreak.data.orders import Orders
from tiebreak.data.pairs import Pairs

__all__ = ["read_long", "read_wide"]

MOST_COMPARISONS = 50_000_000
"""More comparisons than this are not written out; orders say the same in less."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores, one per entry, in the order of the file.

    Attributes
    ----------
    person : Text
        Who gave each score.
    item : ndarray of int64 of shape (n,)
        Number of the item of each score.
    names : list of str
        Names of the items.
    score : ndarray of float64 of shape (n,)
        The scores, higher is better.
    row : ndarray of int64 of shape (n,)
        Row of the table of each score.
    """

    person: Text
    item: NDArray[np.int64]
    names: list[str]
    score: NDArray[np.float64]
    row: NDArray[np.int64]


def read_long(table: Table, options: ReadOptions, roles: dict[str, str]) -> Recognized:
    """Read a table with one score per row.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.
    roles : dict of str to str
        The columns of person, item and grade.

    Returns
    -------
    Recognized
    """
    person, item, grade = (roles[role] for role in ("person", "item", "grade"))
    columns = table.read(text=[person, item], numbers=[grade])
    broken = table.broken()
    for name in (person, item):
        broken.add(f"no value in {name}", np.flatnonzero(columns.text[name].missing))
    values = columns.numbers[grade]
    columns.note_bad(grade, "score", broken)
    broken.refuse()
    product = columns.text[item]
    sentences = [f"{grade} is the score that {person} gave to {item}."]
    if not table.is_parquet:
        product, _ = restore_names(product, product, sentences)
    scores = Scores(
        columns.text[person],
        product.codes,
        product.values,
        values,
        np.arange(len(values), dtype=np.int64),
    )
    return _make(table, options, scores, sentences)


def read_wide(table: Table, options: ReadOptions, person: str) -> Recognized:
    """Read a table with one row per person and one column per product.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.
    person : str
        The column of the person; all others are products. A cell without a value is
        a product that this person did not score.

    Returns
    -------
    Recognized
    """
    products = [column for column in table.columns if column != person]
    columns = table.read(text=[person], numbers=products)
    broken = table.broken()
    people = columns.text[person]
    broken.add(f"no value in {person}", np.flatnonzero(people.missing))
    for product in products:
        if len(bad := columns.bad[product]):
            fault = f"scores of {product} that are not finite numbers"
            broken.add(fault, bad, table.values(product, bad))
    broken.refuse()
    score = np.stack([columns.numbers[product] for product in products], axis=1)
    row, item = np.nonzero(~np.isnan(score))
    if not len(row):
        raise FileError(table.path, "there are no scores in the table.")
    scores = Scores(
        people.take(row), item.astype(np.int64), products, score[row, item], row
    )
    start = (
        f"Every row is one {person}, and the other {plural(len(products), 'column')} "
        "are the products that were scored."
    )
    return _make(table, options, scores, [start])


def _make(
    table: Table, options: ReadOptions, scores: Scores, sentences: list[str]
) -> Recognized:
    kind, form = options.kind, table.sniffed.format
    names = as_names(scores.names)
    if kind == "grades":
        sentences.append("Items have no features; scores are graded within a person.")
        return Recognized(
            kind="grades",
            format=form,
            sentences=sentences,
            grades=scores.score,
            query=scores.person.array(),
            names=names[scores.item],
        )
    if kind == "orders":
        orders = _make_orders(table, scores)
        sentences.append(
            f"{plural(len(orders), 'list')}, one of each person, best first; equal "
            "scores are tied."
        )
        return Recognized("orders", form, sentences, orders=orders)
    left, right = _within_people(table, scores)
    difference = scores.score[right] - scores.score[left]
    y = np.sign(difference).astype(np.int8)
    pairs = Pairs(None, scores.item[left], scores.item[right], names=names).compact()
    rater = Text(scores.person.codes[left], scores.person.values)
    sentences += [
        "Every two products that one person scored are compared; equal scores are a "
        "tie, and scores of different people are never compared.",
        f"{plural(len(y), 'comparison')} of {plural(pairs.n_items, 'item')} by "
        f"{plural(len(scores.person.values), 'person').replace('persons', 'people')}, "
        f"{int((y == 0).sum()):,} of them ties.",
    ]
    again = _repeated(scores)
    if len(again):
        sentences.insert(
            -1,
            f"{plural(len(again), 'score')} of a product that the person had scored "
            f"before ({list_places(table.places, scores.row[again])}); each one is "
            "compared with the other products.",
        )
    return Recognized(
        kind="comparisons",
        format=form,
        sentences=sentences,
        questions=["--kind orders reads the scores of a person as one ranked list."],
        pairs=pairs,
        y=y,
        sided=False,
        columns={"rater": rater.take(np.arange(len(y))).array()},
    )


def _within_people(
    table: Table, scores: Scores
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List every two scores of one person that are of different items."""
    order = np.argsort(scores.person.codes, kind="stable")
    sizes = np.bincount(scores.person.codes)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > MOST_COMPARISONS:
        raise FileError(
            table.path,
            f"the scores give {total:,} comparisons within people, which is too many "
            "to write out; try --kind orders.",
        )
    left, right = [], []
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        first, second = np.triu_indices(len(rows), 1)
        left.append(rows[first])
        right.append(rows[second])
    all_left, all_right = np.concatenate(left), np.concatenate(right)
    differ = scores.item[all_left] != scores.item[all_right]
    if not differ.any():
        raise FileError(
            table.path,
            "no person scored two products, so there is nothing to compare.",
        )
    return all_left[differ], all_right[differ]


def _repeated(scores: Scores) -> NDArray[np.int64]:
    """Find the scores of an item that the same person had scored before."""
    key = scores.person.codes * len(scores.names) + scores.item
    order = np.argsort(key, kind="stable")
    return np.sort(order[1:][np.diff(key[order]) == 0])


def _make_orders(table: Table, scores: Scores) -> Orders:
    again = _repeated(scores)
    if len(again):
        raise FileError(
            table.path,
            f"{plural(len(again), 'score')} of a product that the person had scored "
            f"before: {list_places(table.places, scores.row[again])}; a list holds an "
            "item once.",
        )
    sequences: list[list[list[int]]] = []
    order = np.lexsort((-scores.score, scores.person.codes))
    sizes = np.bincount(scores.person.codes)
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        cuts = np.flatnonzero(np.diff(scores.score[rows])) + 1
        sequences.append([scores.item[b].tolist() for b in np.split(rows, cuts)])
    return Orders(None, sequences, names=as_names(scores.names))
