# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak evaluate``: a saved model on new results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from tiebreak import load
from tiebreak.cli.knowledge import as_comparisons
from tiebreak.data.files import ReadOptions, read_file
from tiebreak.selection.forward_result import METRICS, score_rows

__all__ = ["run"]


def run(
    model: Path, file: Path, reading: ReadOptions, *, quiet: bool, as_json: bool
) -> None:
    """Load, predict, and print how good it was.

    Parameters
    ----------
    model, file : Path
        The model file and the results.
    reading : ReadOptions
        How to read the results.
    quiet, as_json : bool
        What to print.
    """
    fitted = load(model)
    known = as_comparisons(read_file(file, reading))
    y = known.y
    weight = known.columns.get("sample_weight", np.ones(len(y)))
    options = {}
    if hasattr(fitted, "advantage_") and "advantage" in known.columns:
        options["advantage"] = known.columns["advantage"]
    proba = None
    if hasattr(fitted, "predict_proba"):
        proba = fitted.predict_proba(known.pairs, **options)
    rows = {
        "model": score_rows(y, weight, fitted.predict(known.pairs, **options), proba)
    }
    shares = np.bincount(y + 1, weight, 3) / weight.sum()
    common = np.full(len(y), int(shares.argmax()) - 1, dtype=np.int8)
    rows["shares"] = score_rows(y, weight, common, np.tile(shares, (len(y), 1)))
    if as_json:
        Console(soft_wrap=True).print_json(json.dumps({"n": len(y)} | rows))
        return
    table = Table(title=f"{len(y):,} results")
    for name in ("", *METRICS):
        table.add_column(name.replace("_", " "), justify="right")
    for name, scores in rows.items():
        cells = ["–" if v is None else f"{v:.4f}" for v in scores.values()]
        table.add_row(name, *cells)
    Console(quiet=quiet, highlight=False).print(table)
