# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak audit``: which claims of a leaderboard survive."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Exit, Option

from tiebreak.cli.command import File, Force, command, path, typed
from tiebreak.cli.console import Screen
from tiebreak.cli.errors import INTERRUPTED
from tiebreak.cli.signals import interruptible, say
from tiebreak.options import RankOptions, ReadOptions


@command(
    "Examples: `tiebreak audit votes.csv` · `tiebreak audit votes.csv --claim "
    "'A > B' --votes votes-that-matter.csv`",
    ranking=(
        *("by", "covariates", "position", "since", "until", "ties", "settings"),
        "level",
    ),
)
def audit(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    claim: Annotated[
        list[str] | None,
        Option(
            metavar="TEXT",
            help="'A > B', 'A = B' (cannot be told apart), 'A first' or 'A, B, C "
            "first'; more than once for more claims. [default: who is first, who is "
            "above the next, and the first few]",
        ),
    ] = None,
    top: Annotated[int, Option(help="How many the first few are.")] = 5,
    neighbors: Annotated[
        int,
        Option(help="Of how many items to ask whether they are above the next."),
    ] = 10,
    votes: Annotated[
        Path | None,
        path(metavar="OUT", help="Write the votes that claims hang on, as CSV."),
    ] = None,
    out: Annotated[
        Path | None,
        path(
            metavar="FOLDER",
            help="Write the report of rank there, with what the audit found.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Say which claims of a FILE's leaderboard survive, and what overturns them."""
    from tiebreak.cli.files import REPORT, prepare_folder, write_result
    from tiebreak.data.atomic import atomic_path, refuse_to_replace
    from tiebreak.pipeline.audit import audit_data, changed_votes, strength_options
    from tiebreak.pipeline.read import read_source

    refuse_to_replace([file, reading.items], [votes])
    prepare_folder(out, [file, reading.items], options, force)
    with screen.steps() as steps:
        steps(f"reading {file.name}")
        source = read_source(file, reading, options)
        with interruptible():
            result = audit_data(
                source,
                claims=claim,
                top=top,
                neighbors=neighbors,
                level=options.level,
                progress=steps,
                **strength_options(options),
            )
        if out is not None:
            from tiebreak.pipeline.rank import rank_source

            answer = rank_source(source, options, progress=steps)
            steps("writing the report")
            answer = replace(answer, command=typed(), audit=result.to_dict())
            write_result(answer, out)
    parts: list[Any] = [result]
    if votes is not None:
        with atomic_path(votes) as temporary:
            changed_votes(result, source).write_csv(temporary)
        parts.append(f"The votes that claims hang on: {votes}")
    if out is not None:
        parts.append(f"Report: {out / REPORT}")
    screen.show({"recognized": source.detected} | result.to_dict(), parts)
    if not result.complete:
        say(f"Interrupted after {len(result.claims)} claims, which are finished.")
        raise Exit(INTERRUPTED)
