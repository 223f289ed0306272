# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak versus`` and ``diff``: differences between items, and between files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from tiebreak.cli.command import File, command, place
from tiebreak.cli.console import Screen
from tiebreak.cli.errors import WORSE
from tiebreak.options import RankOptions, ReadOptions

if TYPE_CHECKING:
    import polars as pl

    from tiebreak.pipeline.diff import Diff

_SHOWN = 50
_NAMED = 10  # items in a sentence
# The models that have a margin of error.
_SURE = ("bradley-terry", "glicko", "glicko2", "plackett-luce")


@command(
    "Examples: `tiebreak versus votes.csv A B` · `tiebreak versus votes.csv A`",
    ranking=("model", "settings", "level"),
)
def versus(
    file: File,
    name: Annotated[str, Argument(metavar="ITEM", help="The item to compare.")],
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    others: Annotated[
        list[str] | None,
        Argument(metavar="OTHER", help="Items to compare it with; none: all."),
    ] = None,
) -> None:
    """Say whether an ITEM of a FILE is better than OTHER items, and how sure it is."""
    from tiebreak.data.messages import noun, speaking_of
    from tiebreak.pipeline.rank import rank_names
    from tiebreak.pipeline.read import read_source
    from tiebreak.ratings.leaderboard_table import text_table
    from tiebreak.report.tables import p_text

    level = options.level
    with screen.steps() as steps:
        steps(f"reading {file.name}")
        source = read_source(file, reading, options)
        sentences = source.detected
        steps("comparing")
        board = rank_names(source, options, models=_SURE)
        table = board.versus(name, *(others or []))
    rows = [
        (row["other"], "never meet", *5 * ["–"])
        if row["difference"] is None
        else (
            row["other"],
            f"{row['difference']:+.0f}",
            _interval(row),
            f"{row['probability']:.1%}",
            p_text(row["p_value"]),
            p_text(row["p_adjusted"]),
            f"{votes:,}" if (votes := row.get("votes_needed")) else "–",
        )
        for row in table.iter_rows(named=True)
    ]
    alone = (
        ", by the results alone; ratings are pulled to the mean, more so with few "
        "results"
    ) * hasattr(board.model, "strength_")
    with speaking_of(source.nouns):
        screen.show(
            {
                "recognized": sentences,
                "notes": board.notes,
                "level": level,
                "question": "these two, chosen beforehand",
                "versus": table.to_dicts(),
            },
            [
                *_verdicts(table, name, level),
                text_table(
                    (
                        f"{name} versus",
                        "points",
                        f"{100 * level:g} % interval",
                        "better",
                        "p",
                        "p (all)",
                        noun("votes"),
                    ),
                    rows,
                ),
                *_turned(table, name, board),
                f"points: by how much {name} is better{alone}. better: probability "
                f"that {name} is better. p: test that the two are equal, if they were "
                "chosen beforehand; p (all): adjusted for all comparisons here. "
                f"{noun('votes')}: direct {noun('votes')} that would show so many "
                "points, with a power of 80 %.",
                *board.notes,
            ],
        )


def _interval(row: dict[str, Any]) -> str:
    return f"{row['lower']:+.0f} … {row['upper']:+.0f}"


def _verdicts(table: pl.DataFrame, item: str, level: float) -> list[str]:
    """Say what the comparisons show, and what they do not."""
    import polars as pl

    from tiebreak.data.messages import first_of
    from tiebreak.report.tables import p_text

    met = table.filter(pl.col("difference").is_not_null())
    sure = pl.col("p_adjusted") < 1.0 - level
    ahead = pl.col("difference") > 0
    count = "both" if len(met) == 2 else f"all {len(met)}"
    how = f" (with {100 * level:g} % confidence in {count} comparisons)"
    missing = ""
    if len(met) == 1:
        p = p_text(met["p_adjusted"][0])
        how = missing = f" (p {p if p.startswith('<') else f'= {p}'})"
    never = table.filter(pl.col("difference").is_null())
    verdicts = (
        (met.filter(sure & ahead), f"{{}} is better than {{}}{how}."),
        (met.filter(sure & ~ahead), f"{{}} is worse than {{}}{how}."),
        (met.filter(~sure), f"The results do not separate {{}} from {{}}{missing}."),
        (never, "{} never meets {}, not even through others."),
    )
    return [
        verdict.format(item, first_of([*map(str, rows["other"])], _NAMED))
        for rows, verdict in verdicts
        if len(rows)
    ]


def _turned(table: pl.DataFrame, item: str, board: Any) -> list[str]:
    """Say why a rating is lower where the results alone say better."""
    rating = dict(board.table.select("item", "rating").iter_rows())
    games = {
        row["item"]: sum(row[name] or 0.0 for name in ("wins", "ties", "losses"))
        for row in board.table.iter_rows(named=True)
    }
    sentences = []
    for row in table.iter_rows(named=True):
        other, gap = row["other"], row["difference"]
        if gap is None or gap * (rating[item] - rating[other]) >= 0.0:
            continue
        better, worse = (item, other) if gap > 0 else (other, item)
        if games[better] < games[worse]:
            sentences.append(
                f"{better} is rated below {worse} because it has few results."
            )
    return sentences[:_NAMED]


@command(
    "Examples: `tiebreak diff june.csv july.csv` · `tiebreak diff old.json "
    "new.json` · `tiebreak diff june.csv july.csv --fail-if-worse my-model`",
    ranking=("ties", "settings", "level"),
)
def diff(
    old: Annotated[
        Path,
        place(
            metavar="OLD",
            help="Results, the JSON of tiebreak rank --json, a model file, or the "
            "folder of a report.",
        ),
    ],
    new: Annotated[Path, place(metavar="NEW", help="The same, later.")],
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    fail_if_worse: Annotated[
        list[str] | None,
        Option(
            metavar="ITEM",
            help="End with code 7 if this item became worse by more than noise; may "
            "be given several times.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        Option(help="The item that changes are measured from; else the mean."),
    ] = None,
) -> None:
    """Say what changed from OLD to NEW, and what is only noise."""
    from tiebreak.pipeline.diff import diff_files
    from tiebreak.report.tables import p_text

    with screen.steps() as steps:
        change = diff_files(
            old, new, reading, options, reference=reference, progress=steps
        )
    worse = change.worse(fail_if_worse or [])
    detected = dict(zip((old, new), change.detected, strict=True))
    screen.show(
        {"old": str(old), "new": str(new), "level": change.level}
        | {"recognized": {"old": change.detected[0], "new": change.detected[1]}}
        | {"notes": change.notes, "changes": change.changes.to_dicts()}
        | {"new_items": change.new, "lost_items": change.lost}
        | {"worse": worse["item"].to_list()},
        [
            *_changes(change),
            *change.notes,
            *(
                f"{row['item']} is worse, by {-row['change']:.0f} points (p "
                f"{p_text(row['p_value'])}): exit code {WORSE}."
                for row in worse.iter_rows(named=True)
            ),
            *(f"{path}: {' '.join(texts)}" for path, texts in detected.items()),
        ],
    )
    if len(worse):
        raise typer.Exit(WORSE)


def _changes(diff: Diff) -> list[Any]:
    """Return the table of changes, and what they show."""
    import polars as pl

    from tiebreak.ratings.leaderboard_table import text_table
    from tiebreak.report.tables import p_text

    # Those that changed are never left out.
    sure = pl.col("more_than_noise")
    first = pl.int_range(pl.len()) < _SHOWN
    shown = diff.changes.filter(first | sure)
    more = len(diff.changes) - len(shown)
    rows = [
        (
            row["item"],
            f"{row['rating_old']:.0f}",
            f"{row['rating_new']:.0f}",
            f"{row['change']:+.0f}",
            _interval(row),
            p_text(row["p_adjusted"]),
            f"{row['rank_old']} → {row['rank_new']}"
            + (f" ({row['moved']:+d})" if row["moved"] else ""),
        )
        for row in shown.iter_rows(named=True)
    ]
    interval = f"{100 * diff.level:g} % interval"
    table = text_table(
        ("item", "old", "new", "change", interval, "p (all)", "rank"),
        rows,
        bold=shown["more_than_noise"].arg_true().to_list(),
        caption=f"and {more} more items" if more else None,
    )
    changed = diff.changes.filter(sure)
    better, worse = pl.col("change") > 0, pl.col("change") < 0
    answer = [
        *_named("Better, by more than noise", changed.filter(better)["item"]),
        *_named("Worse, by more than noise", changed.filter(worse)["item"]),
    ]
    return [
        *(answer or ["No change is more than noise."]),
        table,
        f"p (all) is of no change, adjusted for {len(diff.changes)} items (Holm); a "
        f"change is more than noise if it is below {1.0 - diff.level:.2g}.",
        *_named("New", diff.new),
        *_named("Gone", diff.lost),
    ]


def _named(word: str, items: Iterable[Any]) -> list[str]:
    """Return a sentence that names items, if there are any."""
    from tiebreak.data.messages import first_of

    names = [*map(str, items)]
    return [f"{word}: {first_of(names, _NAMED)}."] if names else []
