# SPDX-License-Identifier: BSD-3-Clause
"""Scores that survive an interruption."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tiebreak.data.atomic import atomic_path

__all__ = ["CellScore", "Checkpoint", "OtherSearchError"]


class OtherSearchError(ValueError):
    """A checkpoint that another search has left."""


@dataclass(frozen=True)
class CellScore:
    """Score of one combination on one split.

    Parameters
    ----------
    candidate, split : int
        Numbers of the combination and of the split.
    score : float
        Greater is better.
    converged : bool
        Whether the fit reached its tolerance.
    """

    candidate: int
    split: int
    score: float
    converged: bool


class Checkpoint:
    """Finished scores, in memory and, when asked, in a file.

    Parameters
    ----------
    path : path or None
        The file; it is written atomically after every addition.
    signature : str
        What tells this search from others; a file of another one is refused.
    """

    def __init__(self, path: str | Path | None, signature: str) -> None:
        self.path = None if path is None else Path(path)
        self.signature = signature
        self.known: dict[tuple[int, int], tuple[float, bool]] = {}
        if self.path is not None and self.path.exists():
            self._read()

    def _read(self) -> None:
        assert self.path is not None
        try:
            stored = json.loads(self.path.read_text())
            rows = [
                (int(c), int(s), float(v), bool(k)) for c, s, v, k in stored["done"]
            ]
            signature = stored["search"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self.path} is not a checkpoint of a search ({error}); remove it or "
                "name another file."
            ) from None
        if signature != self.signature:
            raise OtherSearchError(
                f"{self.path} belongs to another search (other model, grid, metric or "
                "data); remove it or name another file."
            )
        self.known = {(c, s): (v, k) for c, s, v, k in rows}

    def has(self, split: int, candidates: Iterable[int]) -> bool:
        """Whether all these combinations have a score on a split."""
        return all((i, split) in self.known for i in candidates)

    def add(self, cells: Iterable[CellScore]) -> None:
        """Take in scores and write the file."""
        for cell in cells:
            self.known[cell.candidate, cell.split] = (cell.score, cell.converged)
        if self.path is not None:
            rows = [[*key, *value] for key, value in self.known.items()]
            with atomic_path(self.path) as temporary:
                temporary.write_text(
                    json.dumps({"search": self.signature, "done": rows})
                )

    def arrays(self, n_candidates: int, n_splits: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and convergence, both of shape (n_candidates, n_splits)."""
        scores = np.empty((n_candidates, n_splits))
        converged = np.empty((n_candidates, n_splits), dtype=bool)
        for (candidate, split), (value, done) in self.known.items():
            scores[candidate, split], converged[candidate, split] = value, done
        return scores, converged
