# SPDX-License-Identifier: BSD-3-Clause
"""A saved model as the commands use it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak import load
from tiebreak.data import Pairs
from tiebreak.data.columns import as_names, plain_values
from tiebreak.data.messages import closest
from tiebreak.io import FileError, Wanted
from tiebreak.io.result import first_of, plural, shorten
from tiebreak.metrics.scorers import difference_of
from tiebreak.options import flag
from tiebreak.pipeline.held_out import learns_advantage
from tiebreak.pipeline.leaderboard import last_step


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model, and the file it came from."""

    path: Path
    model: Any

    @property
    def last(self) -> Any:
        """The model itself, the last step of a pipeline."""
        return last_step(self.model)

    @cached_property
    def wanted(self) -> Wanted | None:
        """The features of the fit; None for a model of names."""
        if (count := getattr(self.model, "n_features_in_", None)) is None:
            return None
        if (names := getattr(self.model, "feature_names_in_", None)) is None:
            return Wanted(int(count))
        return Wanted(int(count), tuple(map(str, plain_values(np.asarray(names)))))

    @cached_property
    def known(self) -> set[Any] | None:
        """Names of the items of the fit; None without."""
        for name in ("items_", "effect_names_"):
            if (names := getattr(self.last, name, None)) is not None:
                return set(plain_values(np.asarray(names)))
        return None

    @property
    def knows_advantage(self) -> bool:
        """Whether it learned what an advantage of 1 is worth."""
        return hasattr(self.model, "advantage_") and learns_advantage(self.model)

    def own_names(self, names: NDArray[Any]) -> NDArray[Any]:
        """Return names in the model's type: 7 for the text '7'."""
        if self.known is None or all(isinstance(name, str) for name in self.known):
            return names
        written = {str(name): name for name in self.known}
        return as_names([written.get(name, name) for name in plain_values(names)])

    def own_pairs(self, pairs: Pairs) -> Pairs:
        """Return pairs with the names of the model."""
        if pairs.names is None:
            return pairs
        names = self.own_names(pairs.names)
        return pairs._replace(names=names)

    def check(self, pairs: Pairs) -> list[str]:
        """Refuse pairs that the model cannot predict; return notes."""
        if self.wanted is not None:
            if not pairs.has_features:
                raise ValueError(
                    f"The model needs {plural(self.wanted.count, 'feature')} of items; "
                    f"name their table with {flag('items')}."
                )
        elif pairs.names is None:
            raise ValueError("The model knows names, these items only features.")
        if pairs.names is None:
            return []
        return self.check_names(pairs.names[pairs.touched()])

    def check_names(self, names: NDArray[Any]) -> list[str]:
        """Refuse unseen items if the model must know them; return notes."""
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
            f"The model has not seen {count}: {shown}. It knows items by name only."
            f"{closest(new[0], known)}"
        )

    def predict(
        self, pairs: Pairs, columns: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        """Return outcomes, probabilities and differences, where available."""
        options = {}
        if "advantage" in columns and self.knows_advantage:
            options["advantage"] = columns["advantage"]
        predicted = {"outcome": self.model.predict(pairs, **options)}
        if hasattr(self.model, "predict_proba"):
            predicted["proba"] = self.model.predict_proba(pairs, **options)
        if hasattr(self.last, "difference"):
            predicted["difference"] = difference_of(self.model, pairs, **options)
        return predicted


def load_model(path: Path) -> SavedModel:
    """Return the model of a file."""
    try:
        model = load(path)
    except OSError as error:
        raise FileError(path, f"{error.strerror or error}.") from None
    except ValueError as error:
        raise FileError(path, str(error).removeprefix(f"{path} ")) from None
    saved = SavedModel(path, model)
    if not hasattr(saved.last, "predict"):
        what = f"this holds {type(saved.last).__name__}, which predicts nothing."
        raise FileError(path, what)
    return saved
