# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak next``: which pairs to compare next, and how many votes are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from tiebreak import Leaderboard
from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.data.markup import Name
from tiebreak.io import ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.comparisons import read_comparisons
from tiebreak.pipeline.rank import rank_names

_POWER = 0.8


def run(
    file: Path,
    reading: ReadOptions,
    *,
    number: int,
    options: RankOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, choose and print."""
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, sentences = read_comparisons(file, reading)
        steps("choosing pairs")
        board = rank_names(data, options)
        pairs = board.next_pairs(number)
        power = _first_two(board, options.level)
    if as_json:
        answer = {"next": pairs.to_dicts(), "first_two": power}
        print_json({"version": 1, "recognized": sentences} | answer)
        return
    output = Output(quiet=quiet)
    output.say(sentences)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in (("", "right"), ("compare", "left"), ("with", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("gain (nats)", justify="right", no_wrap=True)
    for place, (left, right, gain) in enumerate(pairs.iter_rows(), start=1):
        table.add_row(f"{place}", Name(str(left)), Name(str(right)), f"{gain:.4f}")
    output.print(table)
    output.say(
        [
            "gain: what one comparison is expected to tell about all strengths, if "
            "those above it were made before.",
            _describe(power),
        ]
    )


def _first_two(board: Leaderboard, level: float) -> dict[str, Any] | None:
    """What it takes to tell the first two items apart; None if there are not two."""
    names = board.table["item"].to_list()[:2]
    if len(names) < 2:
        return None
    row = board.versus(names[0], names[1]).to_dicts()[0]
    return {
        "items": names,
        "difference": row["difference"],
        "p_value": row["p_value"],
        "votes_needed": row.get("votes_needed"),
        "level": level,
        "power": _POWER,
    }


def _describe(power: dict[str, Any] | None) -> str:
    if power is None or power["difference"] is None:
        return "The first two items never meet, not even through others."
    first, second = power["items"]
    points, votes = power["difference"], power["votes_needed"]
    if power["p_value"] < 1.0 - power["level"]:
        return f"{first} and {second}, the first two, are told apart already."
    if votes is None:
        return f"{first} and {second}, the first two, are rated equal."
    return (
        f"To tell {first} from {second}, the first two, takes about {votes:,} votes "
        f"between them ({100 * _POWER:g} % of such studies would, at a confidence of "
        f"{100 * power['level']:g} %), assumed that the true difference is the "
        f"{points:.0f} points that are estimated now; of half the difference, four "
        "times as many."
    )
