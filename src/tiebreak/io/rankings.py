# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: PrefLib files, and lists of item numbers as the SUSHI data has them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tiebreak.data.columns import as_names
from tiebreak.data.orders import Orders
from tiebreak.io.formats import Sniffed, text_lines
from tiebreak.io.result import FileError, ReadResult, plural, shorten

_NAME = re.compile(r"#\s*ALTERNATIVE NAME (\d+)\s*:\s*(.*)", re.IGNORECASE)
_HEADER = re.compile(r"#\s*([A-Z ]+?)\s*:\s*(.*)", re.IGNORECASE)
_LIST = re.compile(r"(\d+)\s*:\s*(.*)")
_BLOCK = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_FULL_LIST = re.compile(r"(?:\{[^{}]+\}|[^,{}]+)(?:,(?:\{[^{}]+\}|[^,{}]+))*")
_TYPES = ("soc", "soi", "toc", "toi")


def read_preflib(path: Path, sniffed: Sniffed) -> ReadResult:
    """Read a PrefLib file of strict or tied, complete or incomplete orders.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.

    Returns
    -------
    ReadResult
        Each distinct list once, with the number of its voters as ``"weight"``.
    """
    names: dict[int, str] = {}
    header: dict[str, str] = {}
    lists: list[tuple[int, int, list[list[int]]]] = []
    for number, line in text_lines(path, sniffed.gzipped):
        if found := _NAME.match(line):
            if int(found[1]) in names:
                raise FileError(
                    path,
                    f"line {number} names alternative {int(found[1])} a second time.",
                )
            names[int(found[1])] = found[2]
        elif found := _HEADER.match(line):
            header[found[1].upper()] = found[2]
        elif line and not line.startswith("#"):
            lists.append((number, *_read_list(path, number, line)))
    counted = {
        "NUMBER ALTERNATIVES": len(names),
        "NUMBER VOTERS": sum(count for _, count, _ in lists),
        "NUMBER UNIQUE ORDERS": len(lists),
    }
    _check_header(path, header, names, counted)
    if not lists:
        raise FileError(path, "the file has no lists.")
    kind = header.get("DATA TYPE", "").strip().lower()
    place = {alternative: row for row, alternative in enumerate(names)}
    sequences = []
    for number, _, blocks in lists:
        listed = [entry for block in blocks for entry in block]
        _check_entries(path, number, listed, place)
        _check_kind(path, number, kind, blocks, len(names))
        sequences.append([[place[entry] for entry in block] for block in blocks])
    weight = np.array([count for _, count, _ in lists], dtype=np.float64)
    orders = Orders(None, sequences, names=as_names(list(names.values())))
    title = f": {header['TITLE']}" if header.get("TITLE") else ""
    return ReadResult(
        kind="orders",
        format="preflib",
        sentences=[
            f"PrefLib file{title}.",
            f"{plural(len(orders), 'different list')} of {plural(len(names), 'item')}, "
            f"best first, of {plural(int(weight.sum()), 'voter')}; a list weighs as "
            "many voters as it has.",
        ],
        orders=orders,
        columns={"weight": weight},
    )


def _check_header(
    path: Path, header: dict[str, str], names: dict[int, str], counted: dict[str, int]
) -> None:
    kind = header.get("DATA TYPE", "soc").strip().lower()
    if kind not in _TYPES:
        raise FileError(
            path,
            f"this PrefLib file is of type {kind!r}; only {', '.join(_TYPES)} hold "
            "ranked lists.",
        )
    if not names:
        raise FileError(path, "there is no line `# ALTERNATIVE NAME 1: ...`.")
    seen: dict[str, int] = {}
    for number, name in names.items():
        if name in seen:
            raise FileError(
                path,
                f"alternatives {seen[name]} and {number} are both called {name!r}.",
            )
        seen[name] = number
    for key, found in counted.items():
        stated = header.get(key, "").strip()
        if stated.isdigit() and int(stated) != found:
            raise FileError(
                path,
                f"the header says {key} {int(stated):,}, but there are {found:,}; the "
                "file may be cut short.",
            )


def _check_kind(
    path: Path, number: int, kind: str, blocks: list[list[int]], n_items: int
) -> None:
    """Refuse a list that the type in the header excludes."""
    if kind.startswith("s") and any(len(block) > 1 for block in blocks):
        raise FileError(
            path,
            f"line {number} has tied items, but the header says DATA TYPE {kind}, "
            f"which has none; if the ties are meant, write t{kind[1:]} there.",
        )
    n_listed = sum(len(block) for block in blocks)
    if kind.endswith("c") and n_listed < n_items:
        raise FileError(
            path,
            f"line {number} ranks {n_listed} of {plural(n_items, 'item')}, but the "
            f"header says DATA TYPE {kind}, which ranks all; if the list is meant to "
            f"be shorter, write {kind[:2]}i there.",
        )


def _read_list(path: Path, number: int, line: str) -> tuple[int, list[list[int]]]:
    found = _LIST.fullmatch(line)
    if found is None or not _FULL_LIST.fullmatch(found[2].replace(" ", "")):
        raise FileError(
            path,
            f"line {number} is {shorten(line)}; expected the number of voters, a colon "
            "and a list such as 1,2,{3,4}.",
        )
    blocks = []
    for tied, single in _BLOCK.findall(found[2].replace(" ", "")):
        entries = (tied or single).split(",")
        if not all(entry.isdigit() for entry in entries):
            raise FileError(
                path,
                f"line {number} lists {shorten(tied or single)}; expected numbers.",
            )
        blocks.append([int(entry) for entry in entries])
    return int(found[1]), blocks


def read_order_lines(path: Path, sniffed: Sniffed) -> ReadResult:
    """Read lists of item numbers: a line ``100 1``, then lines ``0 3 58 4 7``.

    The first number of the first line is how many items there are. Every other line
    begins with 0 and the length of its list; items are numbered from 0, best first.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.

    Returns
    -------
    ReadResult
        Items are named by their numbers.
    """
    n_items = 0
    sequences: list[list[int]] = []
    for number, line in text_lines(path, sniffed.gzipped):
        fields = line.split()
        if not fields:
            continue
        if not all(field.isdigit() for field in fields):
            raise FileError(
                path, f"line {number} is {shorten(line)}; expected whole numbers."
            )
        values = [int(field) for field in fields]
        if not n_items:
            n_items = values[0]
            if n_items < 2 or n_items > 10_000_000:
                raise FileError(
                    path, f"line {number}: {n_items} is no number of items."
                )
            continue
        if len(values) < 3 or len(values) - 2 != values[1]:
            raise FileError(
                path,
                f"line {number} has {max(0, len(values) - 2)} items, but says "
                f"{values[1] if len(values) > 1 else 'nothing'}.",
            )
        _check_entries(path, number, values[2:], range(n_items))
        sequences.append(values[2:])
    if not sequences:
        raise FileError(path, "the file has no lists.")
    names = as_names([str(item) for item in range(n_items)])
    orders = Orders(None, sequences, names=names)
    return ReadResult(
        kind="orders",
        format="orders",
        sentences=[
            "File of orders: item numbers, best first, one list per line.",
            f"{plural(len(orders), 'list')} of {plural(n_items, 'item')}, named by "
            f"their numbers 0 to {n_items - 1}.",
        ],
        orders=orders,
    )


def _check_entries(
    path: Path, number: int, entries: list[int], known: dict[int, int] | range
) -> None:
    if len(set(entries)) < len(entries):
        twice = next(entry for entry in entries if entries.count(entry) > 1)
        raise FileError(path, f"line {number} lists item {twice} more than once.")
    for entry in entries:
        if entry not in known:
            raise FileError(
                path,
                f"line {number} lists item {entry}, but there are only "
                f"{plural(len(known), 'item')}.",
            )
