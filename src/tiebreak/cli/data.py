# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak data``: which published sets there are, and getting them."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from tiebreak.cli.console import Output, print_json
from tiebreak.cli.errors import guarded

if TYPE_CHECKING:
    from tiebreak.datasets.published import DataSet

data = typer.Typer(help="List published data sets, and get them.", no_args_is_help=True)
_Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]


@data.command(
    "list", epilog="Examples: `tiebreak data list` · `tiebreak data list --json`"
)
@guarded
def list_data(json: _Json = False) -> None:
    """List the published sets: rows, terms, and whether each is here."""
    from rich.padding import Padding

    from tiebreak.datasets.published import REGISTRY, cache_dir

    sets = [_as_dict(dataset) for dataset in REGISTRY.values()]
    if json:
        print_json(sets)
        return
    output = Output()
    for one in sets:
        output.print(Text(f"{one['name']:18}{one['rows']:26}{_place(one)}", "bold"))
        output.print(Padding(Text(f"{one['what']} {one['terms']}"), (0, 0, 0, 4)))
    output.print(Text(f"Cache: {cache_dir()}"), soft_wrap=True)


def _place(dataset: dict[str, Any]) -> str:
    if "/" not in dataset["files"][0]["name"]:
        return f"tiebreak rank {dataset['name']}"
    return dataset["where"] if dataset["where"] in ("in part", "not here") else "here"


def _known_sets(names: list[str]) -> list[str]:
    """Refuse unknown sets, as typer wants it."""
    from tiebreak.datasets.published import find_set

    for name in names:
        try:
            find_set(name)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    return names


@data.command(
    epilog="Examples: `tiebreak data get football1872 sushi` · `tiebreak rank "
    "$(tiebreak data get -q football1872)`"
)
@guarded
def get(
    names: Annotated[
        list[str],
        Argument(metavar="NAME", help="Sets, or files of sets.", callback=_known_sets),
    ],
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print only the paths of the files.")
    ] = False,
    json: _Json = False,
) -> None:
    """Find sets, or download them; print the paths of their files."""
    from tiebreak.datasets.published import fetch, find_set
    from tiebreak.io.result import FileError

    with suppress(ImportError):
        import pooch

        pooch.get_logger().setLevel("ERROR")
    console = Output(stderr=True, quiet=quiet or json)
    sets = []
    for name in names:
        dataset, _ = find_set(name)
        try:
            paths = fetch(name)
        except FileNotFoundError as error:
            raise FileError(Path(name), str(error)) from error
        sets.append({**_as_dict(dataset), "paths": [*map(str, paths)]})
        sentences = [f"{dataset.name}: {dataset.terms}"]
        if dataset.publisher:
            sentences.append(f"Publisher: {dataset.publisher}")
            sentences.append(f"Please cite: {dataset.cite}")
        console.show(sentences)
        if not json:
            # Paths stand alone on standard output, one per line, for other programs.
            sys.stdout.writelines(f"{path}\n" for path in paths)
            sys.stdout.flush()
    if json:
        print_json(sets)


def _as_dict(dataset: DataSet) -> dict[str, Any]:
    """The facts of a set, with its folder, or that it is here only in part or not."""
    from tiebreak.datasets.published import find_file

    paths = [find_file(file) for file in dataset.files]
    there = [path for path in paths if path is not None]
    where = "in part" if there else "not here"
    if len(there) == len(paths):
        where = str(there[0].parent)
    return {**asdict(dataset), "where": where}
