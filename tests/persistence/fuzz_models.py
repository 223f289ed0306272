# SPDX-License-Identifier: BSD-3-Clause
"""Overwrite the arrays of model files, one at a time, and see what happens.

Run in a process of its own, because a crash ends it::

    python -m tests.persistence.fuzz_models FOLDER [share] [name ...]

reads the model files ``FOLDER/name.tiebreak`` (all without names), and tries the given
share of the changes, for example ``1/7``. Before each try it prints what it is, and
after it a word: ``refused``, ``used``, or what was wrong.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

import tiebreak as tb
from tests.persistence.make_models import CASES, use

Array = np.ndarray[Any, Any]


def put(value: Any) -> Callable[[Array], Array]:
    """Give a change that overwrites one value, in the middle of an array."""

    def change(array: Array) -> Array:
        array = array.copy()
        array.flat[array.size // 2] = value
        return array

    return change


WHOLE: dict[str, Callable[[Array], Array]] = {
    "reversed": lambda array: np.flip(array).copy(),
    "truncated": lambda array: array[:-1].copy(),
    "halved": lambda array: array[: len(array) // 2].copy(),
    "doubled": lambda array: np.concatenate([array, array]),
    "flat": lambda array: array.reshape(-1)[: array.size - 1].copy(),
    "empty": lambda array: array[:0].copy(),
    "deeper": lambda array: array[None].copy(),
}
INTEGERS = {
    "-1": put(-1),
    "-20000": put(-20000),
    "2**31": put(2**31),
    "+1": lambda array: array + 1,
    "floats": lambda array: array.astype(float),
}
NUMBERS = {
    "nan": put(np.nan),
    "inf": put(np.inf),
    "-inf": put(-np.inf),
    "1e308": put(1e308),
    "-1e308": put(-1e308),
    "tiny": put(1e-310),
    "negated": lambda array: -array,
    "zeros": lambda array: np.zeros_like(array),
    "integers": lambda array: array.astype(np.int64),
}


def changes(array: Array) -> Iterator[tuple[str, Array]]:
    """Give changed copies of an array of numbers, each with a name."""
    kind, limits = array.dtype.kind, None
    if kind not in "iuf" or not array.size or not array.ndim:
        return
    if kind in "iu":
        limits = np.iinfo(array.dtype)
    for name, change in {**WHOLE, **(NUMBERS if kind == "f" else INTEGERS)}.items():
        wide = array.astype(np.int64) if limits and name not in WHOLE else array
        changed = change(wide)
        if limits and changed.dtype.kind == "i":
            changed = np.clip(changed, limits.min, limits.max).astype(array.dtype)
        if changed.shape != array.shape or not np.array_equal(changed, array):
            yield name, changed


def variants(path: Path) -> Iterator[tuple[str, bytes]]:
    """Give files with one changed array each, and what was changed."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = dict(attributes(json.loads(members["schema.json"])["content"]))
    for member, content in members.items():
        if member.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            for change, changed in changes(array):
                buffer = io.BytesIO()
                np.save(buffer, changed)
                yield (
                    f"{path.stem} {names.get(member, member)} {change}",
                    packed({**members, member: buffer.getvalue()}),
                )
        elif member.endswith(".npz"):
            with np.load(io.BytesIO(content)) as inner:
                parts = dict(inner)
            for part in ("data", "indices", "indptr"):
                for change, changed in changes(parts[part]):
                    buffer = io.BytesIO()
                    np.savez(buffer, **{**parts, part: changed})
                    yield (
                        f"{path.stem} {names.get(member, member)}.{part} {change}",
                        packed({**members, member: buffer.getvalue()}),
                    )


def attributes(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the file of every array in a schema, with the attribute that holds it."""
    if isinstance(node, dict):
        if "file" in node:
            yield node["file"], path
        for key, part in node.items():
            inner = path if key in ("content", "attrs") else f"{path}.{key}".strip(".")
            yield from attributes(part, inner)
    elif isinstance(node, list):
        for number, part in enumerate(node):
            yield from attributes(part, f"{path}[{number}]")


def packed(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


def attempt(content: bytes, shape: str, place: Path) -> str:
    """Read a changed file, use the model, and say what happened."""
    place.write_bytes(content)
    try:
        model = tb.load(place)
    except ValueError as error:
        return "refused" if str(error).isprintable() else f"unprintable: {error!r}"
    use(model, shape)
    return "used"


def main(folder: str, share: str = "1/1", *names: str) -> None:
    warnings.simplefilter("ignore")
    which, of = map(int, share.split("/"))
    paths = [Path(folder) / f"{name}.tiebreak" for name in names]
    number = 0
    for path in paths or sorted(Path(folder).glob("*.tiebreak")):
        shape = CASES[path.stem][1]
        for what, content in variants(path):
            number += 1
            if number % of != which % of:
                continue
            print(what, end=": ", flush=True)
            try:
                print(attempt(content, shape, Path(folder) / "changed"))
            except Exception as error:
                print(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
