# SPDX-License-Identifier: BSD-3-Clause
"""Two runs: which ratings changed, which ranks, and what is more than noise.

A run is a file of results, or the JSON, model file or folder of `tiebreak rank`.
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri

from tiebreak import Leaderboard
from tiebreak.data import Comparisons
from tiebreak.data.columns import factorize
from tiebreak.io import FileError, ReadOptions, read_file
from tiebreak.io.result import plural
from tiebreak.options import TIES, RankOptions, flag
from tiebreak.pipeline.rank import rank_names
from tiebreak.pipeline.read import Progress, silent
from tiebreak.pipeline.saved_model import load_model
from tiebreak.pipeline.source import Source
from tiebreak.ratings.changes import (
    Rated,
    find_changes,
    shared_covariance,
    weighted_scores,
)
from tiebreak.ratings.leaderboard import holm
from tiebreak.ratings.strengths.inference import FEWEST_RATERS

_MODEL = "model.tiebreak"
_LARGEST_JSON = 200_000_000
_UNIQUE = 0.99  # rows that nearly all differ are known again by what they hold
# A prior so wide that it draws no rating to the mean by much, compared with how certain
# it is: of unchanged worlds that need a prior, 0 to 3 % had a change beyond noise, and
# with a learned prior 12 %, if one file is small.
_WIDE = 0.056
_COINCIDENCE = 1e-6  # the probability that equal rows in a row are no accident


@dataclass(frozen=True, eq=False)
class Diff:
    """What changed from old to new."""

    changes: pl.DataFrame  # of items that both have, see `find_changes`
    new: list[Any]  # items that only the new one has, best first
    lost: list[Any]  # items that only the old one has, best first
    notes: list[str]  # what the intervals rest on
    level: float
    detected: tuple[list[str], list[str]]

    def worse(self, items: list[str]) -> pl.DataFrame:
        """Return which items became worse by more than noise."""
        table = self.changes
        known = set(table["item"].to_list())
        for item in items:
            if item not in known:
                where = "only in the old file" if item in self.lost else "not in both"
                raise ValueError(f"--fail-if-worse names {item!r}, which is {where}.")
        rows = table.filter(pl.col("item").is_in(items))
        sure = holm(rows["p_value"].to_numpy()) < 1.0 - self.level
        return rows.filter(pl.Series(sure) & (pl.col("change") < 0))


@dataclass(frozen=True, eq=False)
class _Run:
    """One of the two, as it was read."""

    detected: list[str]
    rated: Rated | None = None  # of results that were fitted before
    board: Leaderboard | None = None
    ties: str | None = None  # the model of ties; None without ties, or if not known
    data: Comparisons | None = None
    rows: NDArray[np.uint64] | None = None  # equal rows have equal numbers


def diff_files(
    old: Path,
    new: Path,
    reading: ReadOptions,
    options: RankOptions,
    *,
    reference: str | None = None,
    progress: Progress = silent,
) -> Diff:
    """Return what changed between two files of results or outputs."""
    runs = []
    for path in (old, new):
        progress(f"reading {path.name}")
        runs.append(_read(path, reading, options.level))
    progress("fitting")
    notes: list[str] = []
    runs = _fit(runs, options, notes)
    shared = None
    if all(run.data is not None for run in runs):
        progress("looking for what both have")
        shared = _shared(runs, notes)
    else:
        notes.append(
            "Whether results are in both cannot be seen here, so the two are taken as "
            "independent; with two files of results it can."
        )
    first, second = (run.rated or Rated.of(run.board) for run in runs)
    changes = find_changes(
        first, second, level=options.level, reference=reference, shared=shared
    )
    notes.insert(
        0,
        f"Changes of the {len(changes)} items that both have are measured from their "
        "mean: if one item becomes better, the others lose a little."
        if reference is None
        else f"Changes are measured from {reference}, whose own rating may have "
        "changed.",
    )
    both = set(changes["item"].to_list())
    lost, added = (
        [name for name in rated.names if name not in both] for rated in (first, second)
    )
    detected = runs[0].detected, runs[1].detected
    return Diff(changes, added, lost, notes, options.level, detected)


def _read(path: Path, reading: ReadOptions, level: float) -> _Run:
    """Read a file of results, or an output."""
    if path.is_dir() and (path / _MODEL).exists():
        path = path / _MODEL
    if path.suffix == Path(_MODEL).suffix:
        model = load_model(path).model
        if not hasattr(model, "strength_"):
            raise FileError(path, "this model has no strengths, so nothing to compare.")
        board = Leaderboard(model, level=level)
        ties = getattr(model, "tie_model_", None)
        return _Run([f"A model of {len(board.table)} items."], board=board, ties=ties)
    if (result := _read_result(path)) is not None:
        rated, ties = result
        return _Run([f"Ratings of {len(rated.names)} items."], rated, ties=ties)
    read = read_file(path, replace(reading, fingerprint=True))
    data = read.data
    if not isinstance(data, Comparisons) or "fingerprint" not in data.marks:
        raise FileError(
            path, "expected one comparison per row, or the JSON of tiebreak rank."
        )
    return _Run(read.sentences, data=data, rows=data.marks["fingerprint"])


def _read_result(path: Path) -> tuple[Rated, str | None] | None:
    """Read ratings and ties of ``tiebreak rank --json``, or None."""
    try:
        with path.open("rb") as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
        if not start.startswith(b"{") or path.stat().st_size > _LARGEST_JSON:
            return None
        result = json.loads(path.read_text(encoding="utf-8"))
        rows = result["leaderboard"]
        names = [row["item"] for row in rows]
        ends = [(row["rating"], row["lower"], row["upper"]) for row in rows]
        rank, level = [row["rank"] for row in rows], float(result["level"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if any(value is None for row in ends for value in row):
        raise FileError(path, "these ratings have no intervals, so nothing is known.")
    rating, lower, upper = np.array(ends, dtype=np.float64).T
    error = (upper - lower) / (2.0 * ndtri(0.5 + 0.5 * level))
    return Rated(names, np.array(rank), rating, np.diag(error**2)), result.get("ties")


def _fit(runs: list[_Run], options: RankOptions, notes: list[str]) -> list[_Run]:
    """Fit both by one model of ties, without a prior if both files allow it."""
    if any(run.data is None for run in runs):
        notes.append(
            "A file of ratings does not say how they depend on each other or, as a "
            "model does, what a prior made of few results; two files of results give "
            "better intervals."
        )
    settings = dict(options.settings)
    if "ties" in settings:
        raise ValueError(f"Name {flag('ties')}, and not by {flag('settings')}.")
    if settings.get("alpha") == "auto":
        notes.append(
            "A learned prior draws ratings of few results to the mean, by more in the "
            "smaller file: that looks like a change. Leave alpha out to avoid it."
        )
    if settings.get("alpha") is not None:
        return _fit_both(runs, options)
    try:
        return _fit_both(runs, replace(options, settings=settings | {"alpha": 0.0}))
    except ValueError:
        notes.append(
            "In one of the files strengths need a prior (an item won or lost "
            "everything, or items never meet), so both were fitted with a wide one "
            "(alpha=0.056: within ± 1000 points)."
        )
    return _fit_both(runs, replace(options, settings=settings | {"alpha": _WIDE}))


def _fit_both(runs: list[_Run], options: RankOptions) -> list[_Run]:
    """Fit both with the same model of ties, each with its own scale."""
    fitted = [_fit_one(run, options) for run in runs]
    one, other = (run.ties for run in fitted)
    if one is None or other is None or one == other:
        return fitted
    # What was fitted before cannot change, and of two files the larger one knows best.
    fixed = [run.ties for run in runs if run.data is None]
    if len(fixed) == 2 or options.ties in TIES[1:]:
        raise ValueError(
            f"Ties are counted by {one} and {other}; rank both by {flag('ties', one)}."
        )
    larger = max(fitted, key=lambda run: 0 if run.data is None else len(run.data.y))
    same = replace(options, ties=fixed[0] if fixed else larger.ties)
    return [_fit_one(run, same) for run in runs]


def _fit_one(run: _Run, options: RankOptions) -> _Run:
    if run.data is None or run.rows is None:
        return run
    data, rows = run.data, run.rows
    if options.ties == "drop":
        decided = np.flatnonzero(data.y)
        data, rows = data.take(decided), rows[decided]
        options = replace(options, ties=None)
    board = rank_names(Source(data, []), replace(options, model="bradley-terry"))
    ties = board.model.tie_model_ if board.model.ties_.any() else None
    return replace(run, data=data, rows=rows, board=board, ties=ties)


def _shared(runs: list[_Run], notes: list[str]) -> NDArray[np.float64] | None:
    """Return the covariance of two fits that share raters or results."""
    boards = [run.board for run in runs if run.board is not None]
    scores = []
    for run, board in zip(runs, boards, strict=True):
        assert run.data is not None
        (pairs, y), columns = run.data.arguments()
        scores.append(weighted_scores(board.model, pairs, y, columns))
    counts = [getattr(board.model, "rater_counts_", None) for board in boards]
    if all(one is not None and one.shape[0] >= FEWEST_RATERS for one in counts):
        raters = [np.asarray(run.data.columns["rater"]) for run in runs if run.data]
        codes, distinct = factorize(np.concatenate(raters).astype(str))
        groups = np.split(codes, [len(raters[0])])
        count = len(np.intersect1d(groups[0], groups[1]))
        note = f"{plural(count, 'rater')} in both."
        sums = []
        for group, score in zip(groups, scores, strict=True):
            n = len(group)
            entries = np.ones(n), (group, np.arange(n))
            sums.append(sp.csr_array(entries, shape=(len(distinct), n)) @ score)
        rows: Any = tuple(sums)
    else:
        old, new = (run.rows for run in runs)
        assert old is not None and new is not None
        first, second = shared_rows(old, new)
        count, rows = len(first), (scores[0][first], scores[1][second])
        note = f"{plural(count, 'row')} in both."
        if count in (len(old), len(new)):
            which = ("old", "new") if count == len(old) else ("new", "old")
            note = f"The {which[1]} file has all rows of the {which[0]} one."
    if not count:
        notes.append("Nothing is taken to be in both, so the two are independent.")
        return None
    notes += [note, "The intervals allow for what is in both."]
    return shared_covariance(boards[0], boards[1], rows)


def shared_rows(
    old: NDArray[np.uint64], new: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of rows that are in both files, in each of them.

    Where nearly all rows differ, equal rows are the same; else only a stretch, at the
    end of one file and the beginning of the other, too long for chance.
    """
    sizes = [len(np.unique(rows)) / len(rows) for rows in (old, new)]
    if min(sizes) >= _UNIQUE:
        _, first, second = np.intersect1d(old, new, return_indices=True)
        return first, second
    _, counts = np.unique(np.concatenate([old, new]), return_counts=True)
    equal = float(np.sum((counts / counts.sum()) ** 2))  # the chance of one row
    ahead, behind = _overlap(old, new), _overlap(new, old)
    length = max(ahead, behind)
    chance = length * math.log(equal) + math.log(len(old) + len(new))
    if not length or chance > math.log(_COINCIDENCE):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    here = np.arange(length)
    if ahead >= behind:
        return len(old) - length + here, here
    return here, len(new) - length + here


def _overlap(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """Return how many rows at the end of one begin the other (Knuth, Morris, Pratt)."""
    codes = factorize(np.concatenate([second, first]))[0].tolist()
    text = [*codes[: len(second)], -1, *codes[len(second) :]]
    longest, k = [0] * len(text), 0
    for place in range(1, len(text)):
        while k and text[place] != text[k]:
            k = longest[k - 1]
        k += text[place] == text[k]
        longest[place] = k
    return longest[-1]
