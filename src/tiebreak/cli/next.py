# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak next``: which pairs to compare next, and how many votes are missing."""

from dataclasses import replace
from typing import Annotated, Any

from typer import Option

from tiebreak.cli.command import File, command
from tiebreak.cli.console import Screen
from tiebreak.options import RankOptions, ReadOptions

_POWER = 0.8


@command(
    "Examples: `tiebreak next votes.csv` · `tiebreak next votes.csv -n 50`",
    ranking=("settings", "level"),
)
def next_(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    number: Annotated[
        int, Option("-n", "--number", min=1, help="How many pairs.")
    ] = 20,
) -> None:
    """Say which pairs of a FILE to compare next, and how many votes are missing."""
    from tiebreak.pipeline.rank import rank_names
    from tiebreak.pipeline.read import read_source
    from tiebreak.ratings.leaderboard_table import text_table

    with screen.steps() as steps:
        steps(f"reading {file.name}")
        source = read_source(file, reading, options)
        sentences = source.detected
        steps("choosing pairs")
        if source.named is not None:  # also of ranked lists
            source = replace(source, data=source.named)
        board = rank_names(source, options)
        pairs = board.next_pairs(number)
        power = _first_two(board, options.level)
    rows = [
        (place, left, right, f"{gain:.4f}")
        for place, (left, right, gain) in enumerate(pairs.iter_rows(), start=1)
    ]
    screen.show(
        {"version": 1, "recognized": sentences}
        | {"next": pairs.to_dicts(), "first_two": power},
        [
            text_table(("", "compare", "with", "gain (nats)"), rows, names=(1, 2)),
            "gain: what one more comparison tells about all strengths, on average, "
            "after those above it.",
            _describe(power),
        ],
    )


def _first_two(board: Any, level: float) -> dict[str, Any]:
    """What it takes to tell the first two items apart."""
    names = board.table["item"].to_list()[:2]
    row = board.versus(*names).to_dicts()[0]
    best = board.table.filter("could_be_best")["item"].to_list()
    known = {"items": names, "could_be_best": best, "level": level, "power": _POWER}
    return known | {n: row.get(n) for n in ("difference", "p_value", "votes_needed")}


def _describe(power: dict[str, Any]) -> str:
    if power["difference"] is None:
        return "The first two items never meet, not even through others."
    first, second = power["items"]
    points, votes = abs(power["difference"]), power["votes_needed"]
    confident = f"with {100 * power['level']:g} % confidence"
    if len(best := power["could_be_best"]) == 1:
        return f"{best[0]} is best, {confident}: no more votes are needed for that."
    rivals = f"{len(best)} items could be best, {confident}"
    if power["p_value"] < 1.0 - power["level"]:
        return (
            f"{rivals}; {first} and {second}, the first two, would differ if they had "
            "been chosen beforehand."
        )
    if votes is None:
        return f"{first} and {second}, the first two, are rated equal."
    return (
        f"{rivals}. About {votes:,} votes between {first} and {second}, the first two, "
        f"would tell them apart with a power of {100 * _POWER:g} %, if the true "
        f"difference is the {points:.{2 * (points < 10)}f} points estimated now. Half "
        "the difference takes four times as many."
    )
