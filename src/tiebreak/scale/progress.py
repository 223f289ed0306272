# SPDX-License-Identifier: BSD-3-Clause
"""What happens after every step of a fit on parted data: telling, and a checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.atomic import atomic_path
from tiebreak.scale.facts import PartFacts
from tiebreak.scale.running import Step, current

__all__ = ["Journey"]

Floats = NDArray[np.float64]


class Journey:
    """Where a fit begins, and what is told and kept of its steps.

    Parameters
    ----------
    model : estimator
        Its parameters are part of what tells this fit from others.
    facts : sequence of PartFacts
        What the partitions tell of themselves.
    start : ndarray
        Where to begin without a checkpoint.
    """

    def __init__(self, model: Any, facts: Sequence[PartFacts], start: Floats) -> None:
        self._settings = current()
        self._signature = _sign(model, facts)
        self._steps_before = 0
        self.start = start
        path = self._settings.checkpoint
        if path is not None and path.exists():
            self.start = self._read(path)

    @property
    def watch(self) -> Callable[[Floats, float, float, int], None] | None:
        """What the solver is to call after every step."""
        settings = self._settings
        if settings.checkpoint is None and settings.tell is None:
            return None
        return self._after

    def _after(self, x: Floats, value: float, gap: float, n_iter: int) -> None:
        number = self._steps_before + n_iter
        if self._settings.checkpoint is not None:
            with (
                atomic_path(self._settings.checkpoint) as path,
                path.open("wb") as file,
            ):
                np.savez(file, x=x, signature=self._signature, steps=number)
        if self._settings.tell is not None:
            self._settings.tell(Step(number, value, gap, x))

    def _read(self, path: Path) -> Floats:
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
                x, signature = np.array(kept["x"]), str(kept["signature"])
                self._steps_before = int(kept["steps"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"{path} is not a checkpoint of a fit: {error}. Delete it or name "
                "another file."
            ) from error
        if signature != self._signature:
            raise ValueError(
                f"{path} is the checkpoint of another fit: of another model, other "
                "parameters or other data. Delete it to begin anew, or name another "
                "file."
            )
        return x


def _sign(model: Any, facts: Sequence[PartFacts]) -> str:
    """Give what tells a fit from others: the model, its parameters and the data."""
    # How far to go and when to stop may change between two attempts.
    parameters = {
        name: value
        for name, value in sorted(model.get_params().items())
        if name not in ("tol", "max_iter")
    }
    told = [(fact.n_rows, fact.n_features, fact.mark) for fact in facts]
    text = f"{type(model).__name__} {parameters!r} {told!r}"
    return hashlib.sha256(text.encode()).hexdigest()
