# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: PrefLib files, read and written, and lines of item numbers.

The type of a PrefLib file is its ending: ``s`` strict or ``t`` with ties, ``oc`` lists
of all items or ``oi`` of some of them. Lines of item numbers are those of the SUSHI
data: a line ``100 1``, then lines ``0 3 58 4 7``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data.columns import as_names
from tiebreak.data.kinds import Lists
from tiebreak.data.messages import list_rows
from tiebreak.data.orders import Orders
from tiebreak.data.validation import check_weights
from tiebreak.io.formats import FileFormat, text_lines
from tiebreak.io.result import (
    Error,
    FileError,
    ReadResult,
    WriteError,
    plural,
    shorten,
    whole_number,
)
from tiebreak.io.table import writing

PREFLIB_ENDINGS = (".soc", ".soi", ".toc", ".toi")

_NAME = re.compile(r"#\s*ALTERNATIVE NAME ([0-9]{1,18})\s*:\s*(.*)", re.IGNORECASE)
_HEADER = re.compile(r"#\s*([A-Z ]+?)\s*:\s*(.*)", re.IGNORECASE)
_LIST = re.compile(r"([0-9]{1,18})\s*:\s*(.*)")
_BLOCK = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_FULL_LIST = re.compile(r"(?:\{[^{}]+\}|[^,{}]+)(?:,(?:\{[^{}]+\}|[^,{}]+))*")


def read_preflib(path: Path, detected: FileFormat) -> ReadResult:
    """Read a PrefLib file of strict or tied, complete or incomplete orders."""
    error = partial(FileError, path)
    names: dict[int, str] = {}
    header: dict[str, str] = {}
    lists: list[tuple[int, int, list[list[int]]]] = []
    for number, line in text_lines(path, detected.copy):
        if found := _NAME.match(line):
            if int(found[1]) in names:
                raise error(
                    f"line {number} names alternative {int(found[1])} a second time."
                )
            names[int(found[1])] = found[2]
        elif found := _HEADER.match(line):
            header[found[1].upper()] = found[2]
        elif line and not line.startswith("#"):
            lists.append((number, *_read_list(error, number, line)))
    counted = {
        "NUMBER ALTERNATIVES": len(names),
        "NUMBER VOTERS": sum(count for _, count, _ in lists),
        "NUMBER UNIQUE ORDERS": len(lists),
    }
    _check_header(error, header, names, counted)
    if not lists:
        raise error("the file has no lists.")
    kind = header.get("DATA TYPE", "").strip().lower()
    place = {alternative: row for row, alternative in enumerate(names)}
    sequences = []
    for number, _, blocks in lists:
        listed = [entry for block in blocks for entry in block]
        _check_entries(error, number, listed, place)
        _check_kind(error, number, kind, blocks, len(names))
        sequences.append([[place[entry] for entry in block] for block in blocks])
    weight = np.array([count for _, count, _ in lists], dtype=np.float64)
    orders = Orders(None, sequences, names=as_names(list(names.values())))
    title = f": {header['TITLE']}" if header.get("TITLE") else ""
    sentences = [
        f"PrefLib file{title}.",
        f"{plural(len(orders), 'different list')} of {plural(len(names), 'item')}, "
        f"best first, of {plural(int(weight.sum()), 'voter')}; a list weighs as many "
        "voters as it has.",
    ]
    return ReadResult(Lists(orders, weight), "preflib", sentences)


def _check_header(
    error: Error, header: dict[str, str], names: dict[int, str], counted: dict[str, int]
) -> None:
    kind = header.get("DATA TYPE", "soc").strip().lower()
    if f".{kind}" not in PREFLIB_ENDINGS:
        raise error(
            f"this PrefLib file is of type {kind!r}; only soc, soi, toc, toi hold "
            "ranked lists."
        )
    if not names:
        raise error("there is no line `# ALTERNATIVE NAME 1: ...`.")
    seen: dict[str, int] = {}
    for number, name in names.items():
        if name in seen:
            raise error(
                f"alternatives {seen[name]} and {number} are both called {name!r}."
            )
        seen[name] = number
    for key, found in counted.items():
        stated = header.get(key, "").strip()
        if stated.isdigit() and whole_number(stated) != found:
            raise error(
                f"the header says {key} {stated[:24]}, but there are {found:,}; "
                "the file may be cut short."
            )


def _check_kind(
    error: Error, number: int, kind: str, blocks: list[list[int]], n_items: int
) -> None:
    """Refuse a list that the type in the header excludes."""
    if kind.startswith("s") and any(len(block) > 1 for block in blocks):
        raise error(
            f"line {number} has tied items, but the header says DATA TYPE {kind}, "
            f"which has none; if the ties are meant, write t{kind[1:]} there."
        )
    n_listed = sum(len(block) for block in blocks)
    if kind.endswith("c") and n_listed < n_items:
        raise error(
            f"line {number} ranks {n_listed} of {plural(n_items, 'item')}, but the "
            f"header says DATA TYPE {kind}, which ranks all; if the list is meant to "
            f"be shorter, write {kind[:2]}i there."
        )


def _read_list(error: Error, number: int, line: str) -> tuple[int, list[list[int]]]:
    found = _LIST.fullmatch(line)
    if found is None or not _FULL_LIST.fullmatch(found[2].replace(" ", "")):
        raise error(
            f"line {number} is {shorten(line)}; expected the number of voters, a colon "
            "and a list such as 1,2,{3,4}."
        )
    blocks = []
    for tied, single in _BLOCK.findall(found[2].replace(" ", "")):
        entries = [*map(whole_number, (tied or single).split(","))]
        if None in entries:
            raise error(
                f"line {number} lists {shorten(tied or single)}; expected numbers."
            )
        blocks.append([entry for entry in entries if entry is not None])
    return int(found[1]), blocks


def read_order_lines(path: Path, detected: FileFormat) -> ReadResult:
    """Read lists of item numbers: a line ``100 1``, then lines ``0 3 58 4 7``."""
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
                f"line {number} has {max(0, len(values) - 2)} items, but says "
                f"{values[1] if len(values) > 1 else 'nothing'}."
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
    return ReadResult(Lists(orders), "orders", sentences)


def _check_entries(
    error: Error, number: int, entries: list[int], known: dict[int, int] | range
) -> None:
    if len(set(entries)) < len(entries):
        seen = Counter(entries)
        twice = next(entry for entry in entries if seen[entry] > 1)
        raise error(f"line {number} lists item {twice} more than once.")
    for entry in entries:
        if entry not in known:
            raise error(
                f"line {number} lists item {entry}, but there are only "
                f"{plural(len(known), 'item')}."
            )


def write_preflib(
    path: str | os.PathLike[str],
    orders: Orders,
    weight: ArrayLike | None = None,
    *,
    title: str = "",
) -> None:
    """Write ranked lists as a PrefLib file.

    Parameters
    ----------
    path : str or path
        The file, written whole or not at all. It ends with ``.soc`` for lists of all
        items without ties, ``.soi`` of some, ``.toc`` and ``.toi`` the same with ties.
    orders : Orders
        The lists; items without names are written by their row numbers.
    weight : array-like of shape (n,), optional
        Number of voters of each list, whole numbers of at least 1; 1 each by default.
        Lists that are the same are written once, with all their voters.
    title : str, default=""
        What the lists are about, in one line.

    Raises
    ------
    WriteError
        If the file cannot be written, or its ending, a name or a weight does not fit.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tiebreak import Orders
    >>> from tiebreak.io import write_preflib
    >>> orders = Orders(None, [["Ada", ["Bo", "Cy"]], ["Cy", "Ada"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.toi"
    ...     write_preflib(path, orders, weight=[3, 1])
    ...     print(path.read_text())
    # FILE NAME: votes.toi
    # TITLE:
    # DATA TYPE: toi
    # NUMBER ALTERNATIVES: 3
    # NUMBER VOTERS: 4
    # NUMBER UNIQUE ORDERS: 2
    # ALTERNATIVE NAME 1: Ada
    # ALTERNATIVE NAME 2: Bo
    # ALTERNATIVE NAME 3: Cy
    3: 1,{2,3}
    1: 3,1
    <BLANKLINE>
    """
    path = Path(path)
    error = partial(WriteError, path)
    if path.suffix.lower() not in PREFLIB_ENDINGS:
        raise error("the name must end with .soc, .soi, .toc or .toi.")
    names = _check_names(error, orders)
    voters = _check_voters(error, weight, len(orders))
    _check_ending(error, path.suffix.lower(), orders)
    lists = _count_lists(orders, voters)
    lines = [
        f"# FILE NAME: {_one_line(path.name)}",
        f"# TITLE: {_one_line(title)}".rstrip(),
        f"# DATA TYPE: {path.suffix.lower()[1:]}",
        f"# NUMBER ALTERNATIVES: {len(names)}",
        f"# NUMBER VOTERS: {sum(voters)}",
        f"# NUMBER UNIQUE ORDERS: {len(lists)}",
    ]
    lines += [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(names, 1)]
    lines += [f"{count}: {written}" for count, written in lists]
    with writing(path) as temporary:
        # Line ends are the same everywhere, as PrefLib has them.
        temporary.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _check_names(error: Error, orders: Orders) -> list[str]:
    names = range(orders.n_items) if orders.names is None else orders.names.tolist()
    texts = [str(name) for name in names]
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        if not text or text != text.strip() or "\n" in text or "\r" in text:
            raise error(
                f"item {row} is called {shorten(repr(text))}, and a PrefLib file holds "
                "names in lines of their own: expected a name that is not empty, in "
                "one line, without blanks around it."
            )
        if text in seen:
            raise error(
                f"items {seen[text]} and {row} would both be written as "
                f"{shorten(repr(text))}; rename one of them."
            )
        seen[text] = row
    return texts


def _check_voters(error: Error, weight: ArrayLike | None, n: int) -> list[int]:
    if weight is None:
        return [1] * n
    weights = check_weights(weight, n)
    wrong = np.flatnonzero((weights < 1) | (weights % 1 != 0))
    if len(wrong):
        raise error(
            f"a PrefLib file holds whole numbers of voters, but weight has "
            f"{list_rows(wrong, weights[wrong[:5]])}; round them, and leave out lists "
            "that nobody gave."
        )
    return [int(value) for value in weights.tolist()]


def _check_ending(error: Error, ending: str, orders: Orders) -> None:
    row = np.repeat(np.arange(len(orders)), orders.lengths)
    tied = (np.diff(row) == 0) & (np.diff(orders.position) == 0)
    short = np.flatnonzero(orders.lengths < orders.n_items)
    kind = ("t" if tied.any() else "s") + "o" + ("i" if len(short) else "c")
    if ending[1] == "s" and tied.any():
        first = int(row[1:][tied][0])
        raise error(
            f"list {first} has tied items, and {ending} files hold lists without "
            f"ties; let the name end with .{kind}."
        )
    if ending[3] == "c" and len(short):
        length = int(orders.lengths[short[0]])
        raise error(
            f"list {short[0]} ranks {length} of {orders.n_items} items, and {ending} "
            f"files hold lists of all items; let the name end with "
            f".{ending[1:3]}i."
        )


def _count_lists(orders: Orders, voters: list[int]) -> list[tuple[int, str]]:
    """Return the voters and the text of each list; the order of tied items is free."""
    counts: dict[tuple[tuple[int, ...], ...], int] = {}
    texts: list[str] = []
    flat, position = orders.flat.tolist(), orders.position.tolist()
    for row, count in enumerate(voters):
        blocks: dict[int, list[int]] = {}
        for entry in range(orders.indptr[row], orders.indptr[row + 1]):
            blocks.setdefault(position[entry], []).append(flat[entry] + 1)
        key = tuple(tuple(sorted(block)) for block in blocks.values())
        if key not in counts:
            parts = [(",".join(map(str, b)), len(b)) for b in blocks.values()]
            texts.append(",".join(f"{{{p}}}" if n > 1 else p for p, n in parts))
        counts[key] = counts.get(key, 0) + count
    return list(zip(counts.values(), texts, strict=True))
