# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak data``: which published sets there are, and getting them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from tiebreak.cli.console import Output, print_json
from tiebreak.datasets.published import (
    REGISTRY,
    DataSet,
    cache_dir,
    fetch,
    find_file,
    find_set,
)


def check_names(names: list[str]) -> list[str]:
    """Return names of sets; refuse unknown ones, as typer wants it."""
    for name in names:
        try:
            find_set(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return names


def run_list(*, as_json: bool) -> None:
    """Print what sets there are, on what terms, and where they are."""
    if as_json:
        print_json([_as_dict(dataset) for dataset in REGISTRY.values()])
        return
    table = Table(title="Published sets", title_justify="left")
    table.add_column("name", no_wrap=True)
    for column in ("what", "rows", "terms", "where"):
        table.add_column(column)
    for dataset in REGISTRY.values():
        where = _where(dataset)
        here = where if where in ("in part", "not here") else "here"
        table.add_row(dataset.name, dataset.what, dataset.rows, dataset.terms, here)
    console = Output()
    console.print(table)
    console.print(Text(f"Cache: {cache_dir()}"), soft_wrap=True)


def run_get(names: Sequence[str], *, quiet: bool, as_json: bool) -> None:
    """Find or download sets; print their files on standard output."""
    import pooch

    from tiebreak.io.result import FileError

    pooch.get_logger().setLevel("ERROR")
    console = Output(stderr=True, quiet=quiet or as_json)
    found = []
    for name in names:
        dataset, _ = find_set(name)
        try:
            paths = fetch(name)
        except FileNotFoundError as error:
            raise FileError(Path(name), str(error)) from error
        found.append({**_as_dict(dataset), "paths": [*map(str, paths)]})
        console.print(Text(f"{dataset.name}: {dataset.terms}"))
        if dataset.publisher:
            console.print(Text(f"Publisher: {dataset.publisher}"))
            console.print(Text(f"Please cite: {dataset.cite}"))
        if not as_json:
            # Paths stand alone on standard output, one per line, for other programs.
            sys.stdout.writelines(f"{path}\n" for path in paths)
            sys.stdout.flush()
    if as_json:
        print_json(found)


def _where(dataset: DataSet) -> str:
    """The folder of a set, or that it is here only in part or not at all."""
    paths = [find_file(file) for file in dataset.files]
    there = [path for path in paths if path is not None]
    if len(there) == len(paths):
        return str(there[0].parent)
    return "in part" if there else "not here"


def _as_dict(dataset: DataSet) -> dict[str, Any]:
    return {**asdict(dataset), "where": _where(dataset)}
