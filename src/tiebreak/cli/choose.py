# SPDX-License-Identifier: BSD-3-Clause
"""Which model fits the data at hand, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    LogisticCompare,
    OnItems,
    SVMCompare,
    ThresholdCompare,
)
from tiebreak.cli.knowledge import Knowledge
from tiebreak.ratings.pairs_report import PairsReport

__all__ = ["BY_FEATURE", "BY_NAME", "Choice", "choose_model"]

_PENALTY = 0.1


def _scaled(model: Any) -> Any:
    return make_pipeline(OnItems(StandardScaler()), model)


BY_NAME: dict[str, Callable[[], Any]] = {
    "bradley-terry": BradleyTerry,
    "rao-kupper": lambda: BradleyTerry("rao-kupper"),
    "elo": lambda: Elo(unseen="prior"),
    "glicko": lambda: Glicko(unseen="prior"),
    "glicko2": lambda: Glicko2(unseen="prior"),
}
"""Models of items that have only names."""

BY_FEATURE: dict[str, Callable[[], Any]] = {
    "logistic": lambda: _scaled(LogisticCompare()),
    "svm": lambda: _scaled(ThresholdCompare(SVMCompare())),
    "linear-svm": lambda: _scaled(ThresholdCompare(SVMCompare(kernel="linear"))),
}
"""Models of items that have features."""


@dataclass(frozen=True)
class Choice:
    """A model and the reason for it."""

    name: str
    model: Any
    reason: str


def choose_model(
    asked: str,
    known: Knowledge,
    checks: PairsReport | None,
    alpha: float | None = None,
) -> Choice:
    """Choose a model for comparisons.

    Parameters
    ----------
    asked : str
        What the user asked for; ``"auto"`` leaves it to us.
    known : Knowledge
        The comparisons.
    checks : PairsReport or None
        What `check_pairs` found, for items that have only names.
    alpha : float, optional
        Penalty that the user asked for.

    Returns
    -------
    Choice
    """
    models = BY_FEATURE if known.pairs.has_features else BY_NAME
    reason = "as you asked."
    if asked == "auto":
        asked = "logistic" if known.pairs.has_features else "bradley-terry"
        reason = (
            "items have features, and it learns probabilities from them."
            if known.pairs.has_features
            else "items have only names, and it treats a tie as a tie."
        )
        if "period" in known.columns:
            reason += (
                " It takes old and new results alike; --model glicko or elo follows "
                "the time."
            )
    elif asked not in models:
        other = BY_NAME if known.pairs.has_features else BY_FEATURE
        kind = "features" if known.pairs.has_features else "only names"
        why = f" {asked!r} is for others." if asked in other else ""
        raise ValueError(
            f"The items have {kind}.{why} Choose --model from "
            f"{', '.join(['auto', *models])}; got {asked!r}."
        )
    model = models[asked]()
    if alpha is not None:
        _set_alpha(model, alpha)
    elif isinstance(model, BradleyTerry) and checks is not None and not checks.ok:
        model.set_params(alpha=_PENALTY)
        reason += (
            f" A penalty alpha = {_PENALTY} keeps strengths finite, because some items "
            "won or lost everything or never met the rest."
        )
    return Choice(asked, model, reason)


def _set_alpha(model: Any, alpha: float) -> None:
    names = [n for n in model.get_params() if n == "alpha" or n.endswith("__alpha")]
    if not names:
        raise ValueError("This model has no penalty; leave --alpha out.")
    model.set_params(**{names[-1]: alpha})
