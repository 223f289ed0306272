# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak compare``: several models on the same held-out rows."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tiebreak import check_pairs
from tiebreak.cli.choose import BY_FEATURE, BY_NAME, choose_model
from tiebreak.cli.held_out import foretell_held_out
from tiebreak.cli.knowledge import as_comparisons
from tiebreak.data.files import ReadOptions, read_file

__all__ = ["run"]


def run(
    file: Path, reading: ReadOptions, *, models: str, quiet: bool, as_json: bool
) -> None:
    """Read, evaluate every model on the same rows, and print.

    Parameters
    ----------
    file : Path
        The file to read.
    reading : ReadOptions
        How to read it.
    models : str
        Names of models, separated by commas; empty: all that fit the data.
    quiet, as_json : bool
        What to print.
    """
    console = Console(quiet=quiet or as_json, highlight=False)
    known = as_comparisons(read_file(file, reading))
    checks = None
    if not known.pairs.has_features:
        checks = check_pairs(known.pairs, known.y, **known.columns)
    names = [name.strip() for name in models.split(",") if name.strip()]
    if not names:
        names = list(BY_FEATURE if known.pairs.has_features else BY_NAME)
    chosen = {name: choose_model(name, known, checks).model for name in names}
    with Console(stderr=True, quiet=quiet or as_json).status("foretelling"):
        result = foretell_held_out(chosen, known)
    first = names[0]
    gaps = {
        name: result.difference(name, first, "log_loss")
        for name in names[1:]
        if name in result.proba and first in result.proba
    }
    if as_json:
        found = {
            "table": result.table.to_dicts(),
            "log_loss_above_first": {
                name: {"mean": gap.mean, "standard_error": gap.standard_error}
                for name, gap in gaps.items()
            },
        }
        Console(soft_wrap=True).print_json(json.dumps(found))
        return
    console.print(result)
    for name, gap in gaps.items():
        console.print(
            Text(
                f"{name}: log loss {gap.mean:+.4f} ± {gap.standard_error:.4f} "
                f"compared with {first} (one standard error)."
            )
        )
