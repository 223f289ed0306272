# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak predict``: what a saved model says of pairs, or of items."""

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
    read_unlabeled,
    write_table,
)
from tiebreak.io.result import printable
from tiebreak.metrics.scorers import difference_of
from tiebreak.pipeline.leaderboard import item_utilities, ranks_within
from tiebreak.pipeline.saved_model import SavedModel, load_model

_SHOWN = 20
_LONGEST = 40
_WORDS = ("left", "tie", "right")


def run(
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
    saved = load_model(model)
    saved.refuse_items(reading)
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


def _of_pairs(saved: SavedModel, read: ReadResult, said: list[str]) -> pl.DataFrame:
    pairs = read.pairs
    assert pairs is not None and pairs.names is not None
    names = pl.Series([str(name) for name in pairs.names.tolist()], dtype=pl.String)
    pairs = saved.own_pairs(pairs)
    said += saved.check(pairs)
    options = saved.options(read.columns)
    if "advantage" in read.columns and not options:
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

    def answer(model: Any) -> pl.DataFrame:
        words = pl.Series(_WORDS, dtype=pl.String)
        predicted = _whole(model.predict(pairs, **options), (len(pairs),))
        columns = [
            names.gather(pairs.left).alias("left"),
            names.gather(pairs.right).alias("right"),
            words.gather(predicted.astype(np.int64) + 1).alias("predicted"),
        ]
        if hasattr(model, "predict_proba"):
            shares = _whole(model.predict_proba(pairs, **options), (len(pairs), 3))
            for number, word in enumerate(_WORDS):
                columns.append(pl.Series(f"p_{word}", shares[:, number]))
        if hasattr(saved.last, "difference"):
            difference = difference_of(model, pairs, **options)
            columns.append(pl.Series("difference", _whole(difference, (len(pairs),))))
        return pl.DataFrame(columns)

    return saved.ask(answer)


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
        utility = _whole(item_utilities(model, items, own), (n,))
        columns = [] if query is None else [_as_series("query", query)]
        rows = pl.Series("row", np.arange(1, n + 1))
        columns.append(rows if names is None else _as_series("item", names))
        rank = pl.Series("rank", ranks_within(utility, group))
        return pl.DataFrame([*columns, pl.Series("utility", utility), rank])

    return saved.ask(answer)


def _whole(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Check that a model answered with one number for each question."""
    array = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise TypeError(f"an answer has the shape {array.shape} and not {shape}")
    if not np.isfinite(array).all():
        raise ValueError("an answer is not a finite number")
    return array


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
