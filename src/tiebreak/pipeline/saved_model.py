# SPDX-License-Identifier: BSD-3-Clause
"""A saved model as the commands use it: names it knows, features, predictions."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from tiebreak import load
from tiebreak.data import Pairs
from tiebreak.data.columns import as_names, plain_values
from tiebreak.io import FileError, ReadOptions, Wanted
from tiebreak.io.result import first_of, plural, shorten
from tiebreak.metrics.scorers import difference_of
from tiebreak.options import flag
from tiebreak.pipeline.held_out import learns_advantage


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of n pairs."""

    outcome: NDArray[np.int64]  # -1, 0, 1
    proba: NDArray[np.float64] | None  # of left, tie, right; (n, 3)
    difference: NDArray[np.float64] | None  # of utilities, right minus left


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model, and the file it came from."""

    path: Path
    model: Any

    @property
    def last(self) -> Any:
        """The model itself, which is the last step of a pipeline."""
        model = self.model
        return model.steps[-1][1] if isinstance(model, Pipeline) else model

    @cached_property
    def wanted(self) -> Wanted | None:
        """The features it was fitted on; None if it knows items by name."""
        if (count := getattr(self.model, "n_features_in_", None)) is None:
            return None
        if (names := getattr(self.model, "feature_names_in_", None)) is None:
            return Wanted(int(count))
        return Wanted(int(count), tuple(map(str, plain_values(np.asarray(names)))))

    @cached_property
    def known(self) -> set[Any] | None:
        """Names of the items it was fitted on; None if it has none."""
        for name in ("items_", "effect_names_"):
            if (names := getattr(self.last, name, None)) is not None:
                return set(plain_values(np.asarray(names)))
        return None

    @property
    def knows_advantage(self) -> bool:
        """Whether it learned what an advantage of 1 is worth."""
        return hasattr(self.model, "advantage_") and learns_advantage(self.model)

    def refuse_items(self, reading: ReadOptions) -> None:
        """Refuse a table of items for a model that has no use for it."""
        if reading.items is not None and self.wanted is None:
            raise ValueError(
                "The model knows items by name and has no use for their features; "
                f"leave {flag('items')} out."
            )

    def own_names(self, names: NDArray[Any]) -> NDArray[Any]:
        """Return names from a file as the model has them: 7 for the text '7'."""
        if self.known is None or all(isinstance(name, str) for name in self.known):
            return names
        written = {str(name): name for name in self.known}
        return as_names([written.get(name, name) for name in plain_values(names)])

    def own_pairs(self, pairs: Pairs) -> Pairs:
        """Return pairs from a file with the names that the model has."""
        if pairs.names is None:
            return pairs
        names = self.own_names(pairs.names)
        return Pairs._of(pairs.items, pairs.left, pairs.right, names)

    def check(self, pairs: Pairs) -> list[str]:
        """Refuse pairs that the model cannot predict; return notes on unseen items."""
        if self.wanted is not None:
            if not pairs.has_features:
                raise ValueError(
                    f"The model was fitted on {plural(self.wanted.count, 'feature')} "
                    "of items, and these have only names; name the table that has "
                    f"their features with {flag('items')}."
                )
        elif pairs.names is None:
            raise ValueError(
                "The model knows items by name, and these have only features."
            )
        if pairs.names is None:
            return []
        return self.check_names(pairs.names[pairs.touched()])

    def check_names(self, names: NDArray[Any]) -> list[str]:
        """Refuse unseen items, each named once, if it must know them; return notes."""
        known = self.known
        new = [n for n in plain_values(names) if known is not None and n not in known]
        if known is None or not new:
            return []
        shown = first_of([*map(shorten, new)], 50)
        count = plural(len(new), "item")
        if self.wanted is not None:
            return [f"{count} new to the model, rated by features alone: {shown}."]
        if getattr(self.last, "unseen", None) == "prior":
            return [f"{count} new to the model, rated as newcomers: {shown}."]
        raise ValueError(
            f"The model has not seen {count}: {shown}. It knows "
            f"{plural(len(known), 'item')} by name and can say nothing of others."
        )

    def options(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the metadata columns that ``predict`` takes."""
        if "advantage" in columns and self.knows_advantage:
            return {"advantage": columns["advantage"]}
        return {}

    def predict(self, pairs: Pairs, columns: Mapping[str, NDArray[Any]]) -> Predictions:
        """Return what the model says of pairs, with the columns that it takes."""
        options = self.options(columns)

        def answer(model: Any) -> Predictions:
            proba = difference = None
            n = len(pairs)
            outcome = whole(model.predict(pairs, **options), (n,))
            if hasattr(model, "predict_proba"):
                proba = whole(model.predict_proba(pairs, **options), (n, 3))
            if hasattr(self.last, "difference"):
                difference = whole(difference_of(model, pairs, **options), (n,))
            return Predictions(outcome.astype(np.int64), proba, difference)

        return cast(Predictions, self.ask(answer))

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return what the model answers; an error is a fault of the file."""
        # Whatever could be wrong with what it is asked about was checked before.
        try:
            return question(self.model)
        except MemoryError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise FileError(
                self.path,
                "the model in this file is damaged or not whole, and gives no answer "
                f"({type(error).__name__}: {reason}).",
            ) from error


def whole(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Check that a model answered with one number for each question."""
    array = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise TypeError(f"an answer has the shape {array.shape} and not {shape}")
    if not np.isfinite(array).all():
        raise ValueError("an answer is not a finite number")
    return array


def load_model(path: Path) -> SavedModel:
    """Return the model of a file."""
    try:
        model = load(path)
    except OSError as error:
        reasons = {errno.ENOENT: "there is no such file", errno.EACCES: "no permission"}
        reason = reasons.get(error.errno or 0, error.strerror or "it cannot be read")
        raise FileError(path, f"{reason}.") from None
    except ValueError as error:
        raise FileError(path, str(error).removeprefix(f"{path} ")) from None
    saved = SavedModel(path, model)
    if not hasattr(saved.last, "predict"):
        what = f"this holds {type(saved.last).__name__}, which predicts nothing."
        raise FileError(path, what)
    return saved
