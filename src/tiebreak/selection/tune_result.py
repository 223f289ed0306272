# SPDX-License-Identifier: BSD-3-Clause
"""What a search on a grid found: a table, a choice and a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tiebreak.data.atomic import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TuneResult"]


@dataclass(frozen=True, eq=False)
class TuneResult:
    """Scores of every combination of a grid.

    Attributes
    ----------
    table : polars.DataFrame
        One row per combination, in grid order: its parameters, ``score`` (the mean over
        splits), ``spread`` (standard deviation over splits), ``place`` (1 is best),
        ``converged``, and ``split_0``, ``split_1``, ….
    best_params : dict
        The first of the best combinations in grid order.
    best_score : float
        Its score; greater is better.
    best_model : estimator or None
        Fitted with ``best_params`` on all training data, unless ``refit=False``.
    scoring : str
        Name of the metric.
    """

    table: pl.DataFrame
    best_params: dict[str, Any]
    best_score: float
    best_model: Any
    scoring: str

    @classmethod
    def make(
        cls,
        candidates: list[dict[str, Any]],
        scores: np.ndarray,
        converged: np.ndarray,
        best: int,
        best_model: Any,
        scoring: str,
    ) -> TuneResult:
        """Put the table together.

        Parameters
        ----------
        candidates : list of dict
            The combinations of parameters, in the order of the grid.
        scores : ndarray of shape (n_candidates, n_splits)
            Score of every combination on every split.
        converged : ndarray of bool of shape (n_candidates, n_splits)
            Whether each fit reached its tolerance.
        best : int
            Row of the choice.
        best_model : estimator or None
            Fitted with the parameters of the choice.
        scoring : str
            Name of the score.

        Returns
        -------
        TuneResult
        """
        names = list(dict.fromkeys(key for params in candidates for key in params))
        mean = scores.mean(axis=1)
        # Combinations of equal score share a place; NaN comes last.
        order = np.where(np.isnan(mean), -np.inf, mean)
        place = 1 + (order[None, :] > order[:, None]).sum(axis=1)
        columns: dict[str, Any] = {
            name: _column([params.get(name) for params in candidates]) for name in names
        }
        columns |= {
            "score": mean,
            "spread": scores.std(axis=1),
            "place": place,
            "converged": converged.all(axis=1),
        }
        columns |= {f"split_{k}": scores[:, k] for k in range(scores.shape[1])}
        return cls(
            pl.DataFrame(columns),
            dict(candidates[best]),
            float(mean[best]),
            best_model,
            scoring,
        )

    def __repr__(self) -> str:
        chosen = ", ".join(f"{k}={_short(v)}" for k, v in self.best_params.items())
        return (
            f"TuneResult({chosen}: {self.scoring} {self.best_score:.4g}, best of "
            f"{len(self.table)})"
        )

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the grid: scores over two parameters, or a curve over one.

        Parameters
        ----------
        path : path, optional
            Where to save the picture (PNG, SVG or PDF), written atomically.

        Returns
        -------
        matplotlib.figure.Figure
            With more than two parameters the first two that vary are drawn, each cell
            with the best score over the others. The choice is marked by a ring.
        """
        from tiebreak.selection.tune_picture import draw_grid

        figure = draw_grid(self.table, self.best_params, self.scoring)
        if path is not None:
            target = Path(path)
            with atomic_path(target) as temporary:
                figure.savefig(temporary, format=target.suffix.lower().lstrip("."))
        return figure


def _column(values: list[Any]) -> list[Any]:
    """Keep plain values; what a table cannot hold is shown as text."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    kinds = {type(v) for v in plain if v is not None}
    if kinds <= {int, float} and float in kinds:
        return [None if v is None else float(v) for v in plain]
    if len(kinds) == 1 and kinds <= {int, float, str, bool}:
        return plain
    return [None if v is None else str(v) for v in plain]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
