# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak data``: which published sets there are, and getting them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import typer
from rich import progress
from rich.table import Table
from rich.text import Text

from tiebreak.cli.console import Output, print_json
from tiebreak.datasets.places import cache_dir, data_folder, locate, own_files
from tiebreak.datasets.registry import REGISTRY, DataSet, find_set


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
    table.add_column("what")
    table.add_column("rows", justify="right")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("terms")
    table.add_column("where")
    for dataset in REGISTRY.values():
        place = locate(dataset).place
        by_hand = place == "not here" and dataset.by_hand
        table.add_row(
            dataset.name,
            dataset.what,
            f"{dataset.rows:,} {dataset.unit}",
            _size(dataset.size),
            dataset.license,
            "not here, get it by hand" if by_hand else place,
        )
    console = Output()
    console.print(table)
    folder = data_folder()
    asked = "not set" if folder is None else str(folder)
    console.print(Text(f"Data folder (TIEBREAK_DATA): {asked}"), soft_wrap=True)
    console.print(Text(f"Cache: {cache_dir()}"), soft_wrap=True)


def run_get(names: Sequence[str], *, quiet: bool, as_json: bool) -> None:
    """Find or download sets; print their files on standard output."""
    console = Output(stderr=True, quiet=quiet or as_json)
    found = []
    for name in names:
        dataset, files = find_set(name)
        paths = own_files(dataset, files) or _get(name, console)
        found.append({"asked": name, "paths": [*map(str, paths)], **_as_dict(dataset)})
        for sentence in _terms(dataset):
            console.print(Text(sentence))
        if not as_json:
            # Paths stand alone on standard output, one per line, for other programs.
            sys.stdout.writelines(f"{path}\n" for path in paths)
            sys.stdout.flush()
    if as_json:
        print_json(found)


def _get(name: str, console: Output) -> tuple[Path, ...]:
    """Fetch with a progress bar."""
    # Imported here, because what is found needs no more than a look.
    from tiebreak.datasets.fetching import fetch_files

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=console.quiet or not console.is_terminal,
    )
    with bar:
        task = bar.add_task(name, total=None)

        def report(url: str, done: int, total: int | None) -> None:
            file = PurePosixPath(urlsplit(url).path).name
            bar.update(task, description=file, completed=done, total=total)

        return fetch_files(name, progress=report)


def _terms(dataset: DataSet) -> list[str]:
    said = [f"{dataset.name}: {dataset.terms}"]
    if not dataset.bundled:
        said += [f"Publisher: {dataset.publisher}", f"Please cite: {dataset.cite}"]
    return said


def _as_dict(dataset: DataSet) -> dict[str, Any]:
    location = locate(dataset)
    as_they_are = ("name", "what", "rows", "unit", "size", "license", "terms")
    return {name: getattr(dataset, name) for name in as_they_are} | {
        "publisher": dataset.publisher or None,
        "cite": dataset.cite,
        "by_hand": dataset.by_hand or None,
        "where": location.place,
        "folder": None if location.folder is None else str(location.folder),
        "files": [
            {"name": file.name, "sha256": file.sha256, "size": file.size}
            for file in dataset.files
        ],
    }


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.0f} kB"
