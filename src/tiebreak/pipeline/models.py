# SPDX-License-Identifier: BSD-3-Clause
"""Which model fits the data at hand, and why.

The values that ``--tune`` tries, beside the models of `tiebreak.pipeline.models`.

Grids are small, and about evenly spaced on a logarithmic scale. Features are scaled to
variance 1 before a model sees them, so values of gamma are shares of 1 / (number of
features), which is what scikit-learn calls ``"scale"``.
"""

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
    RankSVM,
    ThresholdCompare,
)
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.ratings.checks.report import PairsReport

_PENALTY = 0.1
# Of simulated items with four features that explain 20, 60 and 90 % of what they are
# worth, compared few and many times, this is within 0.01 of the best log loss.
_IDENTITY = 1.0


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

_IN_ORDER = ("elo", "glicko", "glicko2")
"""Those that take results one after the other, and not as counts."""

BY_FEATURE: dict[str, Callable[[], Any]] = {
    "logistic": lambda: _scaled(LogisticCompare()),
    "svm": lambda: _scaled(ThresholdCompare(RankSVM())),
    "linear-svm": lambda: _scaled(ThresholdCompare(RankSVM(kernel="linear"))),
}
"""Models of items that have features.

Not SVMCompare, which learns nothing where ties are rare: at utility 0 and intercept 1
only ties cost anything.
"""

BY_BOTH: dict[str, Callable[[], Any]] = {
    "logistic-names": lambda: _scaled(LogisticCompare(identity=_IDENTITY)),
}
"""Models of items that have features and names, and learn from both."""


@dataclass(frozen=True)
class Choice:
    """A model and the reason for it."""

    name: str
    model: Any
    reason: str


def models_for(
    known: ComparisonData, *, by_name_too: bool = False
) -> dict[str, Callable[[], Any]]:
    """Give the models that can learn from comparisons, the default one first.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.
    by_name_too : bool, default=False
        Whether models that look at names only are among them where items have
        features as well.

    Returns
    -------
    dict of str to callable
        By their names; each call makes a new model.
    """
    if not known.pairs.has_features:
        if known.parted is None:
            return BY_NAME
        return {name: make for name, make in BY_NAME.items() if name not in _IN_ORDER}
    if known.pairs.names is None:
        return BY_FEATURE
    return BY_BOTH | BY_FEATURE | (BY_NAME if by_name_too else {})


def choose_model(
    asked: str,
    known: ComparisonData,
    checks: PairsReport | None,
    alpha: float | None = None,
    *,
    by_name_too: bool = False,
) -> Choice:
    """Choose a model for comparisons.

    Parameters
    ----------
    asked : str
        What the user asked for; ``"auto"`` leaves it to us.
    known : ComparisonData
        The comparisons.
    checks : PairsReport or None
        What `check_pairs` found, for items that have names.
    alpha : float, optional
        Penalty that the user asked for.
    by_name_too : bool, default=False
        As in `models_for`.

    Returns
    -------
    Choice
    """
    models = models_for(known, by_name_too=by_name_too)
    reason = "as you asked."
    if asked == "auto":
        asked = next(iter(models))
        reason = _REASONS[asked]
        dated = "period" in known.columns and not known.pairs.has_features
        if dated and known.parted is None:
            reason += (
                " It takes old and new results alike; --model glicko or elo follows "
                "the time."
            )
    elif asked not in models:
        raise ValueError(_refusal(asked, known, list(models)))
    model = models[asked]()
    if alpha is not None:
        set_alpha(model, alpha)
    elif isinstance(model, BradleyTerry) and checks is not None and not checks.ok:
        model.set_params(alpha=_PENALTY)
        reason += (
            f" A penalty alpha = {_PENALTY} keeps strengths finite, because some items "
            "won or lost everything or never met the rest."
        )
    if "advantage" in known.columns and not isinstance(model, BradleyTerry):
        reason += " It does not use the advantage of the left side."
    return Choice(asked, model, reason)


_REASONS = {
    "bradley-terry": "items have only names, and it treats a tie as a tie.",
    "logistic": "items have features, and it learns probabilities from them.",
    "logistic-names": (
        "items have features and names: a rating is what the features say, and as much "
        "more or less as an item's own results show. An item without results is rated "
        "by its features alone; --model logistic rates all of them so."
    ),
}


def _refusal(asked: str, known: ComparisonData, models: list[str]) -> str:
    choices = f"Choose --model from {', '.join(['auto', *models])}; got {asked!r}."
    if known.parted is not None and asked in _IN_ORDER:
        return (
            f"{asked!r} takes results one after the other, and so needs them in one "
            "file; alike results of many files are added up, which suits "
            f"{' and '.join(models)}. {choices}"
        )
    if not known.pairs.has_features:
        other = asked in BY_FEATURE or asked in BY_BOTH
        return f"The items have only names.{_for_others(asked, other)} {choices}"
    if known.pairs.names is not None and asked in BY_NAME:
        return f"{asked!r} looks at names only; leave --items out for it. {choices}"
    other = asked in BY_NAME or asked in BY_BOTH
    return f"The items have features.{_for_others(asked, other)} {choices}"


def _for_others(asked: str, known: bool) -> str:
    return f" {asked!r} is for others." if known else ""


def set_alpha(model: Any, alpha: float) -> None:
    """Set the penalty of a model; refuse one for a model without.

    Parameters
    ----------
    model : estimator
        The model, also at the end of a pipeline.
    alpha : float
        The penalty.
    """
    names = [n for n in model.get_params() if n == "alpha" or n.endswith("__alpha")]
    if not names:
        raise ValueError("This model has no penalty; leave --alpha out.")
    model.set_params(**{names[-1]: alpha})


_STRENGTHS: dict[str, tuple[float, ...]] = {
    "alpha": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
}
_WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
_MARGINS = (0.0001, 0.001, 0.01, 0.1, 1.0)

GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "bradley-terry": _STRENGTHS,
    "rao-kupper": _STRENGTHS,
    "elo": {"k": (2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 120.0)},
    "glicko": {"c": (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)},
    "glicko2": {"volatility": (0.01, 0.02, 0.03, 0.06, 0.12, 0.24)},
    "logistic": {"alpha": _WEIGHTS},
    "logistic-names": {"alpha": _WEIGHTS[:4], "identity": (0.1, 1.0, 10.0)},
    "svm": {"C": (0.001, 0.01, 0.1, 1.0), "gamma": (0.25, 1.0, 4.0)},
    "linear-svm": {"C": _MARGINS},
}
"""For each model the parameters that are tuned, and their values."""


def grid_for(
    model: str, n_features: int = 1, *, dated: bool = True
) -> dict[str, tuple[float, ...]]:
    """Give the values to try for a model.

    Parameters
    ----------
    model : str
        Its name.
    n_features : int, default=1
        Number of features of the items.
    dated : bool, default=True
        Whether it is known when results took place.

    Returns
    -------
    dict of str to tuple of float

    Examples
    --------
    >>> grid_for("svm", 10)["gamma"]
    (0.025, 0.1, 0.4)
    """
    if model == "glicko" and not dated:
        raise ValueError(
            "There is nothing to tune for glicko without dates: c is how fast ratings "
            "become uncertain with time. Name the column of dates with --period, or "
            "choose another --model."
        )
    if model not in GRIDS:
        raise ValueError(
            f"There is nothing to tune for {model}; --tune knows {', '.join(GRIDS)}."
        )
    grid = dict(GRIDS[model])
    if "gamma" in grid:
        grid["gamma"] = tuple(share / n_features for share in grid["gamma"])
    return grid
