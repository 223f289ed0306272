# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: PrefLib files, read and written, and lines of item numbers.

The ending of a PrefLib file says what it holds: ``s`` strict lists or ``t`` with ties,
``oc`` of all items or ``oi`` of some. Lines of item numbers are those of SUSHI data.
"""

import os
import re
from collections import Counter
from collections.abc import Collection
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data.messages import list_rows
from tiebreak.data.orders import Orders
from tiebreak.data.validation import check_weights
from tiebreak.io.formats import FileFormat, text_lines
from tiebreak.io.frames import find_repeated
from tiebreak.io.lists import make_lists, number_entries
from tiebreak.io.result import (
    Error,
    FileError,
    ReadOptions,
    ReadResult,
    WriteError,
    plural,
    shorten,
    whole_number,
)
from tiebreak.io.table import writing

PREFLIB_ENDINGS = (".soc", ".soi", ".toc", ".toi")

_ITEM = "[0-9]{1,18}"
_BLOCK = re.compile(rf"{_ITEM}|\{{{_ITEM}(?:,{_ITEM})*\}}")
_LIST = re.compile(rf"({_ITEM}):((?:{_BLOCK.pattern})(?:,(?:{_BLOCK.pattern}))*)")


def read_preflib(path: Path, detected: FileFormat, options: ReadOptions) -> ReadResult:
    """Read a PrefLib file of orders."""
    error = partial(FileError, path)
    names: dict[int, str] = {}
    header: dict[str, str] = {}
    read: list[tuple[int, int, list[list[int]]]] = []
    for number, line in text_lines(path, detected.copy):
        if line.startswith("#"):
            key, _, value = line[1:].partition(":")
            word, _, last = key.strip().upper().rpartition(" ")
            alternative = whole_number(last)
            if word != "ALTERNATIVE NAME" or alternative is None:
                header[key.strip().upper()] = value.strip()
            elif alternative in names:
                raise error(f"line {number} names alternative {alternative} again.")
            else:
                names[alternative] = value.strip()
        elif line:
            read.append((number, *_read_list(error, number, line)))
    kind = header.get("DATA TYPE", "soc").lower()
    if f".{kind}" not in PREFLIB_ENDINGS:
        raise error(f"this file is of type {kind!r}; expected soc, soi, toc or toi.")
    if not names or not read:
        raise error("the file has no lists, or no line `# ALTERNATIVE NAME 1: ...`.")
    if repeated := find_repeated([*names.values()]):
        raise error(f"two alternatives are called {repeated[0]!r}.")
    weight = np.array([count for _, count, _ in read], dtype=np.float64)
    for key, count in (
        ("NUMBER ALTERNATIVES", len(names)),
        ("NUMBER VOTERS", int(weight.sum())),
        ("NUMBER UNIQUE ORDERS", len(read)),
    ):
        stated = whole_number(header.get(key, ""))
        if stated not in (None, count):
            raise error(f"the header says {key} {stated}, but there are {count:,}.")
    for number, _, blocks in read:
        _check_entries(error, number, [e for block in blocks for e in block], names)
    title = f": {header['TITLE']}" if header.get("TITLE") else ""
    voters = plural(int(weight.sum()), "voter")
    sentence = f"PrefLib file{title}, best first, of {voters}, which are weights."
    entries, labels = number_entries([blocks for *_, blocks in read], names)
    return make_lists(entries, labels, [sentence], options, weight=weight)


def _read_list(error: Error, number: int, line: str) -> tuple[int, list[list[int]]]:
    match = _LIST.fullmatch(line.replace(" ", ""))
    if match is None:
        raise error(
            f"line {number} is {shorten(line)}; expected the number of voters, a colon "
            "and a list such as 1,2,{3,4}."
        )
    blocks = [part.strip("{}").split(",") for part in _BLOCK.findall(match[2])]
    return int(match[1]), [[int(entry) for entry in block] for block in blocks]


def read_order_lines(
    path: Path, detected: FileFormat, options: ReadOptions
) -> ReadResult:
    """Read lines of item numbers."""
    # The first number of the first line is how many items there are. Every other line
    # begins with 0 and the length of its list; items are numbered from 0, best first.
    error = partial(FileError, path)
    n_items = 0
    sequences: list[list[list[int]]] = []
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
        sequences.append([[item] for item in values[2:]])
    if not sequences:
        raise error("the file has no lists.")
    labels = {item: str(item) for item in range(n_items)}
    sentence = (
        f"File of orders: item numbers 0 to {n_items - 1}, best first, one list per "
        "line."
    )
    entries, names = number_entries(sequences, labels)
    return make_lists(entries, names, [sentence], options)


def _check_entries(
    error: Error, number: int, entries: list[int], known: Collection[int]
) -> None:
    if repeated := find_repeated(entries):
        raise error(f"line {number} lists item {repeated[0]} more than once.")
    for entry in entries:
        if entry not in known:
            only = plural(len(known), "item")
            raise error(f"line {number} lists item {entry}, but there are only {only}.")


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
        Number of voters of each list, integers of at least 1; 1 each by default.
        Equal lists are written once, with all their voters.
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
    error, kind = partial(WriteError, path), path.suffix.lower()
    if kind not in PREFLIB_ENDINGS:
        raise error("the name must end with .soc, .soi, .toc or .toi.")
    if orders.unordered.any():
        raise error("a PrefLib file has no place for items in unknown order.")
    names = _check_names(error, orders)
    n = len(orders)
    weights = np.ones(n) if weight is None else check_weights(weight, n)
    if len(wrong := np.flatnonzero((weights < 1) | (weights % 1 != 0))):
        raise error(
            "a PrefLib file holds whole numbers of voters, but weight has "
            f"{list_rows(wrong, weights[wrong[:5]])}."
        )
    voters = [int(value) for value in weights.tolist()]
    lists = _count_lists(orders, voters)
    tied = any("{" in text for text in lists)
    short = bool((orders.lengths < orders.n_items).any())
    if (tied and kind[1] == "s") or (short and kind[3] == "c"):
        fitting = ("t" if tied else kind[1]) + "o" + ("i" if short else kind[3])
        raise error(
            f"{kind} files hold no such lists (s: without ties, c: of all items); let "
            f"the name end with .{fitting}."
        )
    lines = [
        f"# FILE NAME: {_one_line(path.name)}",
        f"# TITLE: {_one_line(title)}".rstrip(),
        f"# DATA TYPE: {kind[1:]}",
        f"# NUMBER ALTERNATIVES: {len(names)}",
        f"# NUMBER VOTERS: {sum(voters)}",
        f"# NUMBER UNIQUE ORDERS: {len(lists)}",
    ]
    lines += [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(names, 1)]
    lines += [f"{count}: {written}" for written, count in lists.items()]
    with writing(path) as temporary:
        # Line ends are the same everywhere, as PrefLib has them.
        temporary.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _check_names(error: Error, orders: Orders) -> list[str]:
    names = range(orders.n_items) if orders.names is None else orders.names.tolist()
    texts = [*map(str, names)]
    repeated = set(find_repeated(texts))
    for text in texts:
        if text in repeated or [text] != text.strip().splitlines():
            raise error(
                f"an item is called {text!r}; expected another name for each, in one "
                "line and without blanks around it."
            )
    return texts


def _count_lists(orders: Orders, voters: list[int]) -> Counter[str]:
    """Return the voters of each list; tied items ascend."""
    counts: Counter[str] = Counter()
    numbered = orders._replace(names=np.arange(1, orders.n_items + 1))
    for blocks, count in zip(numbered, voters, strict=True):
        texts = (
            f"{{{','.join(map(str, sorted(block)))}}}"
            if isinstance(block, list)
            else str(block)
            for block in blocks
        )
        counts[",".join(texts)] += count
    return counts
