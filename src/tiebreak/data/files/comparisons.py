# SPDX-License-Identifier: BSD-3-Clause
"""Tables with one comparison per row: votes, matches, games."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.files.advantage import read_advantage
from tiebreak.data.files.beside import read_beside
from tiebreak.data.files.errors import (
    BrokenRows,
    FileError,
    list_places,
    plural,
)
from tiebreak.data.files.formulas import restore_names
from tiebreak.data.files.outcomes import Sided, read_outcomes
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.roles import Reading, Roles
from tiebreak.data.files.table import Columns, Table
from tiebreak.data.files.text_column import Text
from tiebreak.data.files.vocabulary import spelling
from tiebreak.data.pairs import Pairs

__all__ = ["count_outcomes", "read_comparisons"]

SWAP_SEED = 20_240_229
"""Seed of the exchange of sides in files that always name the winner first."""


def read_comparisons(
    table: Table, options: ReadOptions, reading: Reading
) -> Recognized:
    """Read a table of comparisons.

    Parameters
    ----------
    table : Table
        The table.
    options : ReadOptions
        What the user said.
    reading : Reading
        Which columns are compared, and which say who is better.

    Returns
    -------
    Recognized
    """
    roles = dict(reading.roles)
    winner_first = "loser" in roles
    names = [roles["winner"], roles["loser"]] if winner_first else [
        roles["left"], roles["right"]
    ]  # fmt: skip
    found = Roles(table, options)
    beside = ["rater", "period", "weight"]
    if not winner_first:
        beside += ["advantage", "neutral"]
    elif {"advantage", "neutral"} & set(found.given):
        raise FileError(
            table.path,
            "--advantage and --neutral speak of the left side, but here the columns "
            "are the winner and the loser; name two sides with --left and --right.",
        )
    for role in beside:
        if (column := found.find(role, roles)) is not None:
            roles[role] = column
    likely = _likely_tags(table, roles)
    text_roles = ("outcome", "rater", "neutral")
    columns = table.read(
        text=names + [roles[role] for role in text_roles if role in roles],
        numbers=[
            *(
                roles[role]
                for role in ("left_score", "right_score", "weight", "advantage")
                if role in roles
            ),
            *likely,
        ],
        raw=[roles["period"]] if "period" in roles else [],
    )
    sentences: list[str] = []
    questions: list[str] = []
    left, right = columns.text[names[0]], columns.text[names[1]]
    if not table.is_parquet:
        left, right = restore_names(left, right, sentences)
    broken = table.broken()
    for name, side in zip(names, (left, right), strict=True):
        broken.add(f"no name in {name}", np.flatnonzero(side.missing))
    both_bad = np.zeros(len(left.codes), dtype=bool)
    if winner_first:
        y = np.full(len(left.codes), -1, dtype=np.int8)
    elif "outcome" in roles:
        outcome = roles["outcome"]
        named = "winner" in spelling(outcome) or options.winner is not None
        sided = Sided((names[0], names[1], outcome), left, right, columns.text[outcome])
        y, both_bad = read_outcomes(table, sided, options.meaning, named, broken)
    else:
        y = _read_scores(columns, roles, broken)
    aside = read_beside(table, columns, roles, found.given, broken)
    favored = read_advantage(columns, roles, reading.family, broken)
    broken.refuse()
    sentences.insert(0, _describe_outcome(names, roles))
    sentences += aside.sentences + favored[1]

    keep = _leave_out(table, options, left, right, both_bad, names, sentences)
    if both_bad.any() and options.both_bad != "drop":
        questions.append("--both-bad drop leaves out the votes that call both bad.")
    pairs, y = _make_pairs(left, right, y, keep)
    extra = {**aside.columns, **favored[0]}
    if not keep.all():
        extra = {name: column[keep] for name, column in extra.items()}
    if winner_first:
        pairs, y = _exchange(pairs, y, sentences)
    tags = {t: columns.numbers[t] for t in likely if _is_tag(columns, t)}
    if tags:
        sentences.append(
            f"{plural(len(tags), 'column')} of 0 and 1 can be used as categories: "
            f"{', '.join(tags)}."
        )
    sentences.append(_count(pairs, y))
    return Recognized(
        kind="comparisons",
        format=table.sniffed.format,
        sentences=sentences,
        questions=questions,
        pairs=pairs,
        y=y,
        columns=extra,
        tags={name: values[keep].astype(np.int8) for name, values in tags.items()},
    )


def _read_scores(
    columns: Columns, roles: dict[str, str], broken: BrokenRows
) -> NDArray[np.int8]:
    sides = [columns.numbers[roles[role]] for role in ("left_score", "right_score")]
    for role in ("left_score", "right_score"):
        columns.note_bad(roles[role], "score", broken)
    difference = sides[1] - sides[0]
    difference[np.isnan(difference)] = 0  # these rows were noted, and are refused
    return np.sign(difference).astype(np.int8)


def _describe_outcome(names: list[str], roles: dict[str, str]) -> str:
    if "loser" in roles:
        return f"In every row {names[0]} is better than {names[1]}."
    start = f"{names[0]} and {names[1]} are compared; "
    if "outcome" in roles:
        return start + f"{roles['outcome']} says who won."
    return start + (
        f"the higher of {roles['left_score']} and {roles['right_score']} wins, equal "
        "ones are a tie."
    )


def _leave_out(
    table: Table,
    options: ReadOptions,
    left: Text,
    right: Text,
    both_bad: NDArray[np.bool_],
    names: list[str],
    sentences: list[str],
) -> NDArray[np.bool_]:
    """Choose the rows that are kept, and say which are not, and why."""
    number = {name: code for code, name in enumerate(left.values)}
    same = np.array([number.get(name, -1) for name in right.values])
    alone = same[right.codes] == left.codes
    keep = ~alone
    if alone.any():
        rows = np.flatnonzero(alone)
        sentences.append(
            f"{plural(len(rows), 'row')} with the same item in {names[0]} and "
            f"{names[1]} left out: {list_places(table.places, rows)}."
        )
    if (count := int((both_bad & keep).sum())) and options.both_bad == "drop":
        keep &= ~both_bad
        sentences.append(f"{plural(count, 'row')} with both items called bad left out.")
    elif count:
        sentences.append(
            f"{plural(count, 'row')} with both items called bad counted as ties."
        )
    if not keep.any():
        raise FileError(table.path, f"no comparison is left. {' '.join(sentences[1:])}")
    return keep


def _make_pairs(
    left: Text, right: Text, y: NDArray[np.int8], keep: NDArray[np.bool_]
) -> tuple[Pairs, NDArray[np.int8]]:
    if not keep.all():
        left, right, y = left.take(keep), right.take(keep), y[keep]
    return Pairs(None, left.array(), right.array()), y


def _exchange(
    pairs: Pairs, y: NDArray[np.int8], sentences: list[str]
) -> tuple[Pairs, NDArray[np.int8]]:
    """Exchange sides at random: else the outcome would be known from the side."""
    turned = np.random.default_rng(SWAP_SEED).random(len(y)) < 0.5
    left = np.where(turned, pairs.right, pairs.left)
    right = np.where(turned, pairs.left, pairs.right)
    sentences.append(
        "The winner always comes first, so the two sides were exchanged at random in "
        f"{plural(int(turned.sum()), 'row')} (always the same ones)."
    )
    exchanged = Pairs(None, left, right, names=pairs.names)
    return exchanged, np.where(turned, -y, y).astype(np.int8)


def _likely_tags(table: Table, roles: dict[str, str]) -> list[str]:
    """List the columns without a role that begin with zeros and ones."""
    free = [c for c in table.columns if c not in set(roles.values())]
    return [c for c in free if _looks_like_tag(table.head[c])]


def _looks_like_tag(column: pl.Series) -> bool:
    if column.dtype == pl.Boolean:
        return column.null_count() == 0
    return set(map(str, column.unique())) <= {"0", "1"}


def _is_tag(columns: Columns, column: str) -> bool:
    values = columns.numbers[column]
    return set(np.unique(values).tolist()) == {0.0, 1.0}


def _count(pairs: Pairs, y: NDArray[np.int8]) -> str:
    left, tie, right = (int((y == outcome).sum()) for outcome in (-1, 0, 1))
    return count_outcomes(pairs.n_items, left, tie, right)


def count_outcomes(n_items: int, left: int, tie: int, right: int) -> str:
    """Say how many comparisons of how many items there are, and how they ended."""
    n = left + tie + right
    return (
        f"{plural(n, 'comparison')} of {plural(n_items, 'item')}: left is better in "
        f"{left:,}, right in {right:,}, neither in {tie:,}."
    )
