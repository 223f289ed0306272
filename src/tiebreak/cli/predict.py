# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak predict`` and ``evaluate``: what a saved model says, and how well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tiebreak.cli.command import File, command, path, place
from tiebreak.cli.console import Screen
from tiebreak.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from tiebreak.data import Comparisons, Grades, Lists
    from tiebreak.io import ReadResult
    from tiebreak.pipeline.order_quality import OrderQuality
    from tiebreak.pipeline.saved_model import SavedModel

_SHOWN = 20
_LONGEST = 40
_WORDS = ("left", "tie", "right")
# The options of reading a file that has no outcomes.
_UNLABELED = (
    *("format", "encoding", "left", "right", "advantage", "neutral", "item", "query"),
    *("items", "item_column", "sheet", "no_header", "columns", "keep_na", "labels"),
)
ModelFile = Annotated[Path, place(metavar="MODEL", help="A model file.")]


@command(
    "Examples: `tiebreak predict tiebreak-report/model.tiebreak fixtures.csv` · "
    "`tiebreak predict model.tiebreak pairs.csv --items wines.csv --out answers.csv`",
    reading=_UNLABELED,
)
def predict(
    model: ModelFile,
    file: Annotated[
        Path,
        place(
            metavar="FILE",
            help="Pairs of items without an outcome, or items with features.",
        ),
    ],
    reading: ReadOptions,
    screen: Screen,
    out: Annotated[
        Path | None,
        path(metavar="OUT", help="Write to a .csv, .tsv or .parquet file."),
    ] = None,
) -> None:
    """Predict the pairs or items in a FILE with a saved MODEL."""
    from tiebreak.data import Comparisons
    from tiebreak.data.atomic import refuse_to_replace
    from tiebreak.io import check_ending, read_unlabeled, write_table

    if out is not None:
        check_ending(out)
        refuse_to_replace([model, file, reading.items], [out])
    saved, data, sentences = _read(model, file, reading, read_unlabeled)
    answer: Any = _predict_pairs if isinstance(data, Comparisons) else _rate_items
    frame = answer(saved, data, sentences)
    n = frame.height
    result: dict[str, Any] = {"n": n, "recognized": sentences}
    if out is not None:
        write_table(out, frame)
        written = f"{n:,} predictions written to {out}."
        screen.show(result | {"out": str(out)}, [written])
        return
    more = f"{n - _SHOWN:,} more rows are not shown; --out FILE writes all of them."
    parts = [_table(frame), *[more] * (n > _SHOWN)]
    screen.show(result | {"predictions": frame.to_dicts()}, parts)


@command("Example: `tiebreak evaluate tiebreak-report/model.tiebreak new-results.csv`")
def evaluate(
    model: ModelFile, file: File, reading: ReadOptions, screen: Screen
) -> None:
    """Say how well a saved MODEL predicts the results in a FILE."""
    from tiebreak.data import Comparisons
    from tiebreak.io import read_file
    from tiebreak.ratings.leaderboard_table import text_table

    saved, data, sentences = _read(model, file, reading, read_file)
    if not isinstance(data, Comparisons):
        _show_order(_score_order(saved, data), {"n": len(data)}, sentences, screen)
        return
    scores = _score_pairs(saved, data)
    cells = [
        [name, *("–" if v is None else f"{v:.4f}" for v in values.values())]
        for name, values in scores.items()
    ]
    heads = ["", *(name.replace("_", " ") for name in scores["model"])]
    table = text_table(heads, cells, title=f"{len(data):,} results")
    screen.show({"n": len(data), "recognized": sentences} | scores, [table])


def _read(
    model: Path, file: Path, reading: ReadOptions, read: Callable[..., ReadResult]
) -> tuple[SavedModel, Any, list[str]]:
    """Return a saved model, and data that it can predict, with what was detected."""
    from tiebreak.data import Comparisons
    from tiebreak.pipeline.saved_model import load_model

    saved = load_model(model)
    if reading.items is not None and saved.wanted is None:
        raise ValueError("The model knows items by name; leave --items out.")
    result = read(file, reading, wanted=saved.wanted)
    data, sentences = result.data, list(result.sentences)
    if isinstance(data, Comparisons):
        data = replace(data, pairs=saved.own_pairs(data.pairs))
        sentences += saved.check(data.pairs)
    return saved, data, sentences


def _score_pairs(saved: SavedModel, data: Comparisons) -> Any:
    """Score predictions of outcomes, and the baseline that knows their shares."""
    import numpy as np

    from tiebreak.selection.results import score_rows

    y, predicted = data.y, saved.predict(data.pairs, data.columns)
    weight = np.ones(len(y)) if data.weight is None else data.weight
    frequency = np.bincount(y + 1, weight, 3) / weight.sum()
    common = np.full(len(y), int(frequency.argmax()) - 1, dtype=np.int8)
    baseline = np.tile(frequency, (len(y), 1))
    return {
        "model": score_rows(y, weight, predicted["outcome"], predicted.get("proba")),
        "baseline": score_rows(y, weight, common, baseline),
    }


def _score_order(saved: SavedModel, data: Grades | Lists) -> OrderQuality:
    """Score the order of items within their queries or lists, and that of chance."""
    import numpy as np

    from tiebreak.data import Grades
    from tiebreak.pipeline.leaderboard import utilities
    from tiebreak.pipeline.order_quality import score_order

    rows = np.arange(len(data)) if isinstance(data, Grades) else data.orders.flat
    y, qid = data.entry_grades()
    utility = {"model": utilities(saved.model, data, rows)}
    if not isinstance(data, Grades):
        return score_order(y, utility, qid, unit="lists")
    return score_order(y, utility, qid, data.group_names if data.has_groups else None)


def _show_order(
    quality: OrderQuality, head: dict[str, Any], sentences: list[str], screen: Screen
) -> None:
    rows = quality.table.drop("n_test", strict=False).rows_by_key(
        "model", named=True, unique=True
    )
    screen.show(
        head | {"recognized": sentences} | rows | quality.to_dict(),
        [quality, *quality.heading(), *quality.say_metrics()],
    )


def _predict_pairs(
    saved: SavedModel, data: Comparisons, sentences: list[str]
) -> pl.DataFrame:
    import polars as pl

    pairs, predicted = data.pairs, saved.predict(data.pairs, data.columns)
    assert pairs.names is not None
    sides = pairs.side_names.tolist()
    names = pl.Series([str(name) for name in sides], dtype=pl.String)
    if "advantage" in data.columns and not saved.knows_advantage:
        sentences.append(
            "This model was fitted without an advantage, so none is counted."
        )
    if "advantage" not in data.columns and saved.knows_advantage:
        # Models over time take every row as one of the first kind, the home side left.
        over_time = hasattr(saved.model, "advantage")
        counted = "left has it in every row" if over_time else "none is counted"
        sentences.append(
            "The model knows an advantage, such as that of playing at home, but the "
            f"file does not say who has it, so {counted}; columns named home and "
            "away say it, or --advantage."
        )
    words = pl.Series(_WORDS, dtype=pl.String)
    columns: dict[str, Any] = {
        "left": names.gather(pairs.sides[0]),
        "right": names.gather(pairs.sides[1]),
        "predicted": words.gather(predicted["outcome"] + 1),
    }
    if "proba" in predicted:
        heads = ("p_left", "p_tie", "p_right")
        columns |= dict(zip(heads, predicted["proba"].T, strict=True))
    if "difference" in predicted:
        columns["difference"] = predicted["difference"]
    return pl.DataFrame(columns)


def _rate_items(saved: SavedModel, data: Grades, sentences: list[str]) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    from tiebreak.data.columns import as_names, factorize
    from tiebreak.pipeline.leaderboard import item_utilities, ranks_within

    names = None if data.names is None else saved.own_names(data.names)
    if not hasattr(saved.last, "utility"):
        raise ValueError(
            f"{type(saved.last).__name__} rates no item alone; name --left and --right."
        )
    if names is not None:
        sentences += saved.check_names(as_names(factorize(names)[1]))
    elif saved.known is not None:
        sentences.append(
            f"The model also knows {len(saved.known):,} items by name; --item names "
            "the column of names, if there is one."
        )
    utility = item_utilities(saved.model, data.items, names)
    columns = {} if data.qid is None else {"query": _series(data.qid)}
    if data.names is None:
        columns["row"] = pl.Series(np.arange(1, len(data) + 1))
    else:
        columns["item"] = _series(data.names)
    ranks = {"utility": utility, "rank": ranks_within(utility, data.group)}
    return pl.DataFrame(columns | ranks)


def _series(values: Any) -> pl.Series:
    import polars as pl

    is_text = values.dtype.kind in "OU"
    return pl.Series(values.tolist(), dtype=pl.String) if is_text else pl.Series(values)


def _table(frame: pl.DataFrame) -> Table:
    """Make a table of the first rows."""
    import polars as pl

    from tiebreak.data.markup import shorten
    from tiebreak.ratings.leaderboard_table import text_table

    def cell(name: str, value: Any) -> str:
        if isinstance(value, float):
            signed = name in ("difference", "utility")
            return f"{value:+.3f}" if signed else f"{value:.3f}"
        return shorten(value, _LONGEST)

    heads = [f"P({n[2:]})" if n.startswith("p_") else n for n in frame.columns]
    rows = [
        [cell(name, value) for name, value in row.items()]
        for row in frame.head(_SHOWN).iter_rows(named=True)
    ]
    texts = [place for place, kind in enumerate(frame.dtypes) if kind == pl.String]
    return text_table(heads, rows, names=texts)
