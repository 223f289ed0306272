# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak evaluate``: a saved model on new results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from tiebreak.cli.console import Screen, print_json
from tiebreak.io import ReadOptions, read_file
from tiebreak.pipeline.comparisons import as_comparisons
from tiebreak.pipeline.saved_model import load_model
from tiebreak.selection.results import METRICS, score_rows


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
    saved = load_model(model)
    saved.refuse_items(reading)
    read = read_file(file, reading, wanted=saved.wanted)
    known = as_comparisons(read)
    pairs, y = saved.own_pairs(known.pairs), known.y
    said = [*read.sentences, *known.notes, *saved.check(pairs)]
    weight = known.columns.get("sample_weight", np.ones(len(y)))
    options = saved.options(known.columns)

    def answer(fitted: Any) -> dict[str, Any]:
        proba = None
        if hasattr(fitted, "predict_proba"):
            proba = fitted.predict_proba(pairs, **options)
        return score_rows(y, weight, fitted.predict(pairs, **options), proba)

    rows = {"model": saved.ask(answer)}
    shares = np.bincount(y + 1, weight, 3) / weight.sum()
    common = np.full(len(y), int(shares.argmax()) - 1, dtype=np.int8)
    rows["shares"] = score_rows(y, weight, common, np.tile(shares, (len(y), 1)))
    if as_json:
        found = {"n": len(y), "recognized": said} | rows
        print_json(found)
        return
    screen = Screen(quiet=quiet)
    screen.say(said)
    table = Table(title=f"{len(y):,} results")
    for name in ("", *METRICS):
        table.add_column(name.replace("_", " "), justify="right")
    for name, scores in rows.items():
        cells = ["–" if v is None else f"{v:.4f}" for v in scores.values()]
        table.add_row(name, *cells)
    screen.print(table)
