# SPDX-License-Identifier: BSD-3-Clause
"""What a page needs to predict the outcome of any two items by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tiebreak.ratings import BradleyTerry, Elo, Glicko, Glicko2

__all__ = ["CompareData", "last_step"]

Link = Literal["davidson", "cumulative", "threshold"]
_LINKS = ("davidson", "cumulative", "threshold")
_LINK_OF: dict[str | None, Link] = {
    "davidson": "davidson",
    "rao-kupper": "cumulative",
    None: "davidson",
}


@dataclass(frozen=True, eq=False)
class CompareData:
    """What the page needs to predict the outcome of any two items.

    With d = strength of right - strength of left (- `advantage`, if left has it),
    divided by √(1 + doubt of left + doubt of right) where there are doubts:

    * ``"davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : tie : exp(d/2);
    * ``"cumulative"``: P(right) = 1 / (1 + tie exp(-d)) and P(left) =
      1 / (1 + tie exp(d));
    * ``"threshold"``: a tie if abs(d) ≤ tie, else the better one; no probabilities.

    Attributes
    ----------
    names : sequence of shape (n,)
        Names of the items, best first.
    strengths : ndarray of shape (n,)
        Their strengths.
    link : {"davidson", "cumulative", "threshold"}
        How a difference becomes a prediction.
    tie : float
        ν, κ or the threshold.
    advantage : float or None
        What playing at home (or first, or with white) adds to left, if it is known.
    doubts : ndarray of shape (n,) or None
        How little each strength is known, for models whose predictions depend on it:
        3 (D ln 10 / (400 π))² for the deviation D of Glicko's systems, whose
        g(√(D²left + D²right)) the divisor is the inverse of.
    """

    names: Sequence[Any]
    strengths: NDArray[np.float64]
    link: Link
    tie: float
    advantage: float | None = None
    doubts: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.link not in _LINKS:
            raise ValueError(
                f"link is {self.link!r}; expected 'davidson', 'cumulative' or "
                "'threshold'."
            )
        for what, values in (("strength", self.strengths), ("doubt", self.doubts)):
            if values is not None and len(self.names) != len(values):
                raise ValueError(
                    f"There are {len(self.names)} names and {len(values)} {what}s; "
                    f"expected one {what} for every name."
                )

    @classmethod
    def from_model(cls, model: Any) -> Self | None:
        """Take strengths and tie parameter from a fitted model of named items.

        Parameters
        ----------
        model : BradleyTerry, Elo, Glicko, Glicko2, or another model
            Fitted.

        Returns
        -------
        CompareData or None
            None if it is another model; see `from_utilities` for those that learn
            from features.
        """
        doubts = None
        if isinstance(model, BradleyTerry):
            strengths, link = model.strength_, _LINK_OF[model.ties]
            advantage = getattr(model, "advantage_", None)
        elif isinstance(model, Elo | Glicko | Glicko2):
            scale = model.scale if isinstance(model, Elo) else 400.0
            per_point = math.log(10.0) / scale
            strengths = model.rating_ * (model.slope_ * per_point)
            advantage = model.advantage * model.slope_ * per_point or None
            link = "davidson"
            if not isinstance(model, Elo):
                doubts = 3.0 * (model.deviation_ * per_point / math.pi) ** 2
        else:
            return None
        best = np.argsort(-strengths, kind="stable")
        names = model.items_[best].tolist()
        if doubts is not None:
            doubts = doubts[best]
        return cls(names, strengths[best], link, model.tie_, advantage, doubts)

    @classmethod
    def from_utilities(
        cls, model: Any, names: NDArray[Any], utility: NDArray[np.float64]
    ) -> Self | None:
        """Take utilities of named items, and what the model makes of differences.

        Parameters
        ----------
        model : estimator
            Fitted on items with features: one with ``predict_proba``, ``link`` and
            ``tie_`` such as :class:`~tiebreak.LogisticCompare`, or one with
            ``threshold_``; or a Pipeline that ends in one.
        names : ndarray of shape (n,)
            Names of the items.
        utility : ndarray of shape (n,)
            Their utilities.

        Returns
        -------
        CompareData or None
            None if the model says neither how probable ties are nor where they end.
        """
        last = last_step(model)
        best = np.argsort(-utility, kind="stable")
        items, strengths = names[best].tolist(), utility[best]
        link = getattr(last, "link", None)
        if link in _LINKS and hasattr(last, "tie_"):
            return cls(items, strengths, link, float(last.tie_))
        if hasattr(last, "threshold_"):
            return cls(items, strengths, "threshold", float(last.threshold_))
        return None


def last_step(model: Any) -> Any:
    """Give what predicts at the end of a Pipeline; a model itself otherwise.

    Parameters
    ----------
    model : estimator
        A model or a Pipeline.

    Returns
    -------
    estimator
    """
    return model.steps[-1][1] if hasattr(model, "steps") else model
