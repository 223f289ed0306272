# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak evaluate``: a saved model on new results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from tiebreak.cli.console import Output, print_json
from tiebreak.io import ReadOptions, read_file
from tiebreak.pipeline.comparisons import as_comparisons
from tiebreak.pipeline.saved_model import load_model
from tiebreak.selection.results import METRICS, score_rows


def run(
    model: Path, file: Path, reading: ReadOptions, *, quiet: bool, as_json: bool
) -> None:
    """Load, predict, and print how good it was."""
    saved = load_model(model)
    saved.refuse_items(reading)
    read = read_file(file, reading, wanted=saved.wanted)
    data = as_comparisons(read)
    pairs, y = saved.own_pairs(data.pairs), data.y
    said = [*read.sentences, *data.notes, *saved.check(pairs)]
    weight = data.columns.get("sample_weight", np.ones(len(y)))
    options = saved.options(data.columns)

    def answer(fitted: Any) -> dict[str, Any]:
        proba = None
        if hasattr(fitted, "predict_proba"):
            proba = fitted.predict_proba(pairs, **options)
        return score_rows(y, weight, fitted.predict(pairs, **options), proba)

    rows = {"model": saved.ask(answer)}
    frequency = np.bincount(y + 1, weight, 3) / weight.sum()
    common = np.full(len(y), int(frequency.argmax()) - 1, dtype=np.int8)
    baseline = np.tile(frequency, (len(y), 1))
    rows["baseline"] = score_rows(y, weight, common, baseline)
    if as_json:
        print_json({"n": len(y), "recognized": said} | rows)
        return
    output = Output(quiet=quiet)
    output.say(said)
    table = Table(title=f"{len(y):,} results")
    for name in ("", *METRICS):
        table.add_column(name.replace("_", " "), justify="right")
    for name, scores in rows.items():
        cells = ["–" if v is None else f"{v:.4f}" for v in scores.values()]
        table.add_row(name, *cells)
    output.print(table)
