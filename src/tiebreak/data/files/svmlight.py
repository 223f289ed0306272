# SPDX-License-Identifier: BSD-3-Clause
"""Graded items in svmlight files, with the silences of the reader guarded.

scikit-learn's reader drops a qid that only some lines have, and takes any number for
the number of a feature. Every line is looked at before the reader is let at the file.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.files.errors import FileError, plural, shorten
from tiebreak.data.files.recognized import Recognized
from tiebreak.data.files.sniff import Sniffed, open_bytes
from tiebreak.data.items import ItemTable, as_items

__all__ = ["read_svmlight"]

MOST_FEATURES = 10_000_000
"""A feature number above this is taken for a mistake."""

_DENSE_CELLS = 20_000_000
_NAMED_FEATURES = 100_000


class _Lines:
    """What the lines of a file say, before they are believed."""

    def __init__(self, path: Path, gzipped: bool) -> None:
        self.path = path
        self.numbers: list[int] = []
        self.without_qid: list[int] = []
        self.from_zero = False
        with open_bytes(path, gzipped) as stream:
            for number, line in enumerate(stream, start=1):
                fields = line.partition(b"#")[0].split()
                if fields:
                    self._look(number, fields)
        if not self.numbers:
            raise FileError(path, "the file has no rows.")

    def _look(self, number: int, fields: list[bytes]) -> None:
        self.numbers.append(number)
        label = fields[0].decode()
        if not _is_finite(label):
            raise FileError(
                self.path,
                f"line {number} begins with {shorten(label)}; expected a grade, which "
                "is a finite number.",
            )
        start = 1
        if len(fields) > 1 and fields[1].startswith(b"qid:"):
            start = 2
            if not fields[1][4:].lstrip(b"-").isdigit():
                text = fields[1].decode()
                raise FileError(
                    self.path,
                    f"line {number} has {shorten(text)}; expected qid: and a whole "
                    "number.",
                )
        else:
            self.without_qid.append(number)
        if len(fields) > start:
            # Numbers of features ascend, which the reader checks.
            first = self._feature(number, fields[start])
            self._feature(number, fields[-1])
            self.from_zero = self.from_zero or first == 0

    def _feature(self, number: int, field: bytes) -> int:
        name, colon, _ = field.partition(b":")
        if not colon or not name.isdigit():
            raise FileError(
                self.path,
                f"line {number} has {shorten(field.decode())}; expected the number of "
                "a feature, a colon and its value.",
            )
        if len(name) > 18 or int(name) > MOST_FEATURES:
            raise FileError(
                self.path,
                f"line {number} has feature number {shorten(name.decode())}; at most "
                f"{MOST_FEATURES:,} are read, so this is taken for a mistake.",
            )
        return int(name)


def read_svmlight(path: Path, sniffed: Sniffed) -> Recognized:
    """Read a file of lines ``grade qid:7 1:0.5 3:2``.

    Parameters
    ----------
    path : Path
        The file.
    sniffed : Sniffed
        What the first look found.

    Returns
    -------
    Recognized
        Rows without any qid are one group, and a sentence says so.
    """
    from sklearn.datasets import load_svmlight_file

    lines = _Lines(path, sniffed.gzipped)
    has_qid = len(lines.without_qid) < len(lines.numbers)
    if has_qid and lines.without_qid:
        shown = ", ".join(f"line {number}" for number in lines.without_qid[:5])
        more = len(lines.without_qid) - 5
        raise FileError(
            path,
            f"{plural(len(lines.without_qid), 'line')} without a qid, while others "
            f"have one: {shown}{f' and {more:,} more' if more > 0 else ''}. Give every "
            "line a qid, or none.",
        )
    reason = ""
    with open_bytes(path, sniffed.gzipped) as stream:
        try:
            loaded = load_svmlight_file(
                stream, query_id=has_qid, zero_based=lines.from_zero
            )
        except (ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0]
    if reason:
        _refuse(path, sniffed, reason)
    X, grades = loaded[:2]
    values = X.tocsr()
    if not np.isfinite(values.data).all():
        _refuse(path, sniffed, "a value is not finite")
    if len(grades) != len(lines.numbers):
        raise FileError(
            path,
            f"{len(lines.numbers):,} lines became {len(grades):,} rows, so nothing was "
            "read.",
        )
    return _recognize(values, grades, loaded[2] if has_qid else None, lines.from_zero)


def _recognize(
    X: Any, grades: NDArray[Any], query: NDArray[Any] | None, from_zero: bool
) -> Recognized:
    n, p = X.shape
    items = as_items(X.toarray() if n * p <= _DENSE_CELLS else X)
    if p <= _NAMED_FEATURES:
        names = tuple(f"feature {j + (not from_zero)}" for j in range(p))
        items = ItemTable(items.values, names)
    if query is None:
        sentences = [
            "svmlight file without any qid: all rows are one group, and every row is "
            "compared with every other. If they belong to queries, give each line its "
            "qid."
        ]
    else:
        sentences = ["svmlight file; only rows of the same qid are compared."]
    groups = 1 if query is None else len(np.unique(query))
    sentences.append(
        f"{plural(n, 'graded row')} in {plural(groups, 'group')}, with "
        f"{plural(p, 'feature')}; grades from {grades.min():g} to {grades.max():g}."
    )
    return Recognized(
        kind="grades",
        format="svmlight",
        sentences=sentences,
        items=items,
        grades=grades,
        query=query,
    )


def _refuse(path: Path, sniffed: Sniffed, reason: str) -> None:
    """Find the line that the reader stumbled over, and say so."""
    with open_bytes(path, sniffed.gzipped) as stream:
        for number, line in enumerate(stream, start=1):
            fault = _fault(line.partition(b"#")[0].decode().split())
            if fault:
                raise FileError(path, f"line {number}: {fault}.")
    raise FileError(path, f"the svmlight file cannot be read ({reason}).")


def _fault(fields: list[str]) -> str:
    last = -1
    for field in fields[1:]:
        name, colon, value = field.partition(":")
        if name == "qid":
            continue
        if not colon or not name.isdigit() or not _is_finite(value):
            return (
                f"{shorten(field)} is not the number of a feature, a colon and a "
                "finite value"
            )
        if int(name) <= last:
            return f"feature {name} comes after feature {last}; numbers must ascend"
        last = int(name)
    return ""


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
