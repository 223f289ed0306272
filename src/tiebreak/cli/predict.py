# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak predict`` and ``evaluate``: what a saved model says, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from rich.text import Text

from tiebreak.cli.console import Output, print_json
from tiebreak.data.atomic import refuse_to_replace
from tiebreak.data.columns import as_names, factorize
from tiebreak.data.markup import Name
from tiebreak.io import (
    ReadOptions,
    ReadResult,
    check_ending,
    read_file,
    read_unlabeled,
    write_table,
)
from tiebreak.io.result import printable
from tiebreak.pipeline.comparisons import as_comparisons
from tiebreak.pipeline.leaderboard import item_utilities, ranks_within
from tiebreak.pipeline.saved_model import SavedModel, load_model, whole
from tiebreak.selection.results import METRICS, score_rows

_SHOWN = 20
_LONGEST = 40
_WORDS = ("left", "tie", "right")


def predict(
    model: Path,
    file: Path,
    reading: ReadOptions,
    *,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Load, read, predict, and print or write."""
    if out is not None:
        check_ending(out)
        refuse_to_replace([model, file, reading.items], [out])
    saved = _load(model, reading)
    read = read_unlabeled(file, reading, saved.wanted)
    said = list(read.sentences)
    answer = _of_pairs if read.kind == "comparisons" else _of_items
    frame = answer(saved, read, said)
    if out is not None:
        write_table(out, frame)
    if as_json:
        found: dict[str, Any] = {"n": frame.height, "recognized": said}
        found |= {"out": str(out)} if out else {"predictions": frame.to_dicts()}
        print_json(found)
        return
    output = Output(quiet=quiet)
    output.say(said)
    if out is not None:
        output.say([f"{frame.height:,} predictions written to {out}."])
        return
    output.print(_show(frame))
    if frame.height > _SHOWN:
        more = f"{frame.height - _SHOWN:,} more rows are not shown"
        output.say([f"{more}; --out FILE writes all of them."])


def evaluate(
    model: Path, file: Path, reading: ReadOptions, *, quiet: bool, as_json: bool
) -> None:
    """Load, predict results that are known, and print how good that was."""
    saved = _load(model, reading)
    read = read_file(file, reading, wanted=saved.wanted)
    data = as_comparisons(read)
    pairs, y = saved.own_pairs(data.pairs), data.y
    said = [*read.sentences, *data.notes, *saved.check(pairs)]
    weight = data.columns.get("sample_weight", np.ones(len(y)))
    found = saved.predict(pairs, data.columns)
    rows = {"model": score_rows(y, weight, found.outcome, found.proba)}
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


def _load(model: Path, reading: ReadOptions) -> SavedModel:
    saved = load_model(model)
    saved.refuse_items(reading)
    return saved


def _of_pairs(saved: SavedModel, read: ReadResult, said: list[str]) -> pl.DataFrame:
    pairs = read.pairs
    assert pairs is not None and pairs.names is not None
    names = pl.Series([str(name) for name in pairs.names.tolist()], dtype=pl.String)
    pairs = saved.own_pairs(pairs)
    said += saved.check(pairs)
    if "advantage" in read.columns and not saved.knows_advantage:
        said.append("This model was fitted without an advantage, so none is counted.")
    if "advantage" not in read.columns and saved.knows_advantage:
        # Models over time take every row as one of the first kind, the home side left.
        over_time = hasattr(saved.model, "advantage")
        counted = "left has it in every row" if over_time else "none is counted"
        said.append(
            "The model knows an advantage, such as that of playing at home, but the "
            f"file does not say who has it, so {counted}; columns named home and "
            "away say it, or --advantage."
        )

    found = saved.predict(pairs, read.columns)
    words = pl.Series(_WORDS, dtype=pl.String)
    columns = [
        names.gather(pairs.left).alias("left"),
        names.gather(pairs.right).alias("right"),
        words.gather(found.outcome + 1).alias("predicted"),
    ]
    if found.proba is not None:
        for number, word in enumerate(_WORDS):
            columns.append(pl.Series(f"p_{word}", found.proba[:, number]))
    if found.difference is not None:
        columns.append(pl.Series("difference", found.difference))
    return pl.DataFrame(columns)


def _of_items(saved: SavedModel, read: ReadResult, said: list[str]) -> pl.DataFrame:
    items, names, query = read.items, read.names, read.query
    assert items is not None
    own = None if names is None else saved.own_names(names)
    if not hasattr(saved.last, "utility"):
        raise ValueError(
            f"{type(saved.last).__name__} compares two items and rates none alone; ask "
            "it about pairs, with --left, --right and --items."
        )
    if own is not None:
        said += saved.check_names(as_names(factorize(own)[1]))
    elif saved.known is not None:
        said.append(
            f"The model also knows {len(saved.known):,} items by name; --item names "
            "the column of names, if there is one."
        )
    n = items.n_items
    group = np.zeros(n, dtype=np.int64) if query is None else factorize(query)[0]

    def answer(model: Any) -> pl.DataFrame:
        utility = whole(item_utilities(model, items, own), (n,))
        columns = [] if query is None else [_as_series("query", query)]
        rows = pl.Series("row", np.arange(1, n + 1))
        columns.append(rows if names is None else _as_series("item", names))
        rank = pl.Series("rank", ranks_within(utility, group))
        return pl.DataFrame([*columns, pl.Series("utility", utility), rank])

    return saved.ask(answer)


def _as_series(name: str, values: NDArray[Any]) -> pl.Series:
    if values.dtype.kind in "OU":
        return pl.Series(name, values.tolist(), dtype=pl.String)
    return pl.Series(name, values)


def _show(frame: pl.DataFrame) -> Table:
    """Make a table of the first rows; names appear as text and never as markup."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, kind in frame.schema.items():
        table.add_column(
            name.replace("p_", "P(") + ")" if name.startswith("p_") else name,
            justify="left" if kind == pl.String else "right",
            no_wrap=kind != pl.String,
        )
    for row in frame.head(_SHOWN).iter_rows(named=True):
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    return table


def _cell(name: str, value: Any) -> Text:
    if isinstance(value, float):
        signed = name in ("difference", "utility")
        return Text(f"{value:+.3f}" if signed else f"{value:.3f}")
    text = printable(str(value))
    return Name(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
