# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: PrefLib files, and lines of item numbers.

The type of a PrefLib file is its ending: ``s`` strict or ``t`` with ties, ``oc`` lists
of all items or ``oi`` of some of them. Lines of item numbers are those of the SUSHI
data: a line ``100 1``, then lines ``0 3 58 4 7``.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from tiebreak.data.columns import as_names
from tiebreak.data.kinds import Lists
from tiebreak.data.orders import Orders
from tiebreak.io.formats import FileFormat, text_lines
from tiebreak.io.frames import find_repeated
from tiebreak.io.result import (
    Error,
    FileError,
    ReadResult,
    plural,
    shorten,
    whole_number,
)

_NAME = re.compile(r"#\s*ALTERNATIVE NAME ([0-9]{1,18})\s*:\s*(.*)", re.IGNORECASE)
_HEADER = re.compile(r"#\s*([A-Z ]+?)\s*:\s*(.*)", re.IGNORECASE)
_ITEM = "[0-9]{1,18}"
_BLOCK = re.compile(rf"{_ITEM}|\{{{_ITEM}(?:,{_ITEM})*\}}")
_LIST = re.compile(rf"({_ITEM}):((?:{_BLOCK.pattern})(?:,(?:{_BLOCK.pattern}))*)")


def read_preflib(path: Path, detected: FileFormat) -> ReadResult:
    """Read a PrefLib file of orders."""
    error = partial(FileError, path)
    names: dict[int, str] = {}
    header: dict[str, str] = {}
    lists: list[tuple[int, int, list[list[int]]]] = []
    for number, line in text_lines(path, detected.copy):
        if match := _NAME.match(line):
            if (alternative := int(match[1])) in names:
                raise error(f"line {number} names alternative {alternative} again.")
            names[alternative] = match[2]
        elif match := _HEADER.match(line):
            header[match[1].upper()] = match[2].strip()
        elif line and not line.startswith("#"):
            lists.append((number, *_read_list(error, number, line)))
    kind = header.get("DATA TYPE", "soc").lower()
    if kind not in ("soc", "soi", "toc", "toi"):
        raise error(f"this file is of type {kind!r}; expected soc, soi, toc or toi.")
    if not names or not lists:
        raise error("the file has no lists, or no line `# ALTERNATIVE NAME 1: ...`.")
    if repeated := find_repeated([*names.values()]):
        raise error(f"two alternatives are called {repeated[0]!r}.")
    weight = np.array([count for _, count, _ in lists], dtype=np.float64)
    for key, count in (
        ("NUMBER ALTERNATIVES", len(names)),
        ("NUMBER VOTERS", int(weight.sum())),
        ("NUMBER UNIQUE ORDERS", len(lists)),
    ):
        stated = whole_number(header.get(key, ""))
        if stated not in (None, count):
            raise error(f"the header says {key} {stated}, but there are {count:,}.")
    place = {alternative: row for row, alternative in enumerate(names)}
    sequences = []
    for number, _, blocks in lists:
        _check_entries(error, number, [e for block in blocks for e in block], place)
        sequences.append([[place[entry] for entry in block] for block in blocks])
    orders = Orders(None, sequences, names=as_names(list(names.values())))
    title = f": {header['TITLE']}" if header.get("TITLE") else ""
    sentences = [
        f"PrefLib file{title}.",
        f"{plural(len(orders), 'different list')} of {plural(len(names), 'item')}, "
        f"best first, of {plural(int(weight.sum()), 'voter')}; a list weighs as many "
        "voters as it has.",
    ]
    return ReadResult(Lists(orders, weight), sentences)


def _read_list(error: Error, number: int, line: str) -> tuple[int, list[list[int]]]:
    match = _LIST.fullmatch(line.replace(" ", ""))
    if match is None:
        raise error(
            f"line {number} is {shorten(line)}; expected the number of voters, a colon "
            "and a list such as 1,2,{3,4}."
        )
    blocks = [part.strip("{}").split(",") for part in _BLOCK.findall(match[2])]
    return int(match[1]), [[int(entry) for entry in block] for block in blocks]


def read_order_lines(path: Path, detected: FileFormat) -> ReadResult:
    """Read lines of item numbers."""
    # The first number of the first line is how many items there are. Every other line
    # begins with 0 and the length of its list; items are numbered from 0, best first.
    error = partial(FileError, path)
    n_items = 0
    sequences: list[list[int]] = []
    for number, line in text_lines(path, detected.copy):
        fields = line.split()
        if not fields:
            continue
        values = [int(field) for field in fields if whole_number(field) is not None]
        if len(values) < len(fields):
            raise error(f"line {number} is {shorten(line)}; expected whole numbers.")
        if not n_items:
            n_items = values[0]
            if n_items < 2 or n_items > 10_000_000:
                raise error(f"line {number}: {n_items} is no number of items.")
            continue
        if len(values) < 3 or len(values) - 2 != values[1]:
            raise error(
                f"line {number} is {shorten(line)}; expected 0, how many items there "
                "are, and their numbers."
            )
        _check_entries(error, number, values[2:], range(n_items))
        sequences.append(values[2:])
    if not sequences:
        raise error("the file has no lists.")
    names = as_names([str(item) for item in range(n_items)])
    orders = Orders(None, sequences, names=names)
    sentences = [
        "File of orders: item numbers, best first, one list per line.",
        f"{plural(len(orders), 'list')} of {plural(n_items, 'item')}, named by their "
        f"numbers 0 to {n_items - 1}.",
    ]
    return ReadResult(Lists(orders), sentences)


def _check_entries(
    error: Error, number: int, entries: list[int], known: dict[int, int] | range
) -> None:
    if repeated := find_repeated(entries):
        raise error(f"line {number} lists item {repeated[0]} more than once.")
    for entry in entries:
        if entry not in known:
            only = plural(len(known), "item")
            raise error(f"line {number} lists item {entry}, but there are only {only}.")
