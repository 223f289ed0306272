# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak audit``: which claims of a leaderboard survive."""

from __future__ import annotations

from pathlib import Path

from typer import Exit

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.cli.errors import INTERRUPTED
from tiebreak.cli.signals import interruptible, say
from tiebreak.data.atomic import atomic_path, refuse_to_replace
from tiebreak.io import ReadOptions
from tiebreak.pipeline.audit import audit_data, changed_votes, read_asked
from tiebreak.pipeline.options import RankOptions


def run(
    file: Path,
    reading: ReadOptions,
    options: RankOptions,
    *,
    claims: list[str] | None,
    top: int,
    neighbors: int,
    votes: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, audit, print, and write the votes that claims hang on."""
    output = Output(quiet=quiet)
    refuse_to_replace([file], [votes])
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, sentences = read_asked(file, reading, options)
        with interruptible():
            found = audit_data(
                data,
                claims=claims,
                top=top,
                neighbors=neighbors,
                level=options.level,
                progress=steps,
                ties="auto" if options.ties in (None, "drop") else options.ties,
                alpha="auto" if options.alpha is None else options.alpha,
            )
    if votes is not None:
        with atomic_path(votes) as temporary:
            changed_votes(found, data.data).write_csv(temporary)
    if as_json:
        print_json({"recognized": sentences} | found.to_dict())
    else:
        output.say(sentences)
        output.print(found)
        if votes is not None:
            output.say([f"The votes that claims hang on: {votes}"])
    if not found.complete:
        say(f"Interrupted after {len(found.claims)} claims, which are finished.")
        raise Exit(INTERRUPTED)
