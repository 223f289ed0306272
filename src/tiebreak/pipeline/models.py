# SPDX-License-Identifier: BSD-3-Clause
"""Which model fits the data at hand, why, and with which settings.

Features are scaled to variance 1 before a model sees them. With dates, ``--tune``
divides the earlier half of the results by time; else its folds are those by which
quality is measured.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import tiebreak as tb
from tiebreak.data import Comparisons, Data, Grades, ItemTable, Lists, OnItems, Pairs
from tiebreak.data.messages import closest, in_nouns
from tiebreak.metrics.scorers import metric_words
from tiebreak.models.base import UtilityMixin
from tiebreak.options import flag
from tiebreak.pipeline.held_out import by_time, columns_for, draw_rows, order_folds
from tiebreak.pipeline.leaderboard import last_step
from tiebreak.pipeline.source import Source
from tiebreak.ratings.over_time.sequential_rating import SequentialRating
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.inference import StrengthModel
from tiebreak.selection.results import TuneResult

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]

_FOLDS, _FORWARD_FOLDS = 5, 3
_FEWEST_ROWS = 20
# Of simulated items with four features that explain 20, 60 and 90 % of what they are
# worth, compared few and many times, this is within 0.01 of the best log loss.
_IDENTITY = 1.0
_JUDGES = "judge-bradley-terry"
_UNRATED = "hedge-order"  # has no utility


def model_name(name: str) -> str:
    """Return the name of a class for ``--model``: rank-svm of RankSVM."""
    words = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(words, "-", name).lower()


# Of all public classes; which of them are estimators is known when they are imported.
CLASSES = {model_name(name): name for name in dir(tb) if name[0].isupper()}


def find_estimator(name: str) -> Any:
    """Return the public estimator of a name, or None."""
    cls = getattr(tb, CLASSES[name]) if name in CLASSES else None
    return cls if _kind_of(cls) is not None else None


def _kind_of(cls: Any) -> Literal["names", "pairs", "grades"] | None:
    """Say what an estimator learns from; None if it needs another one."""
    if not isinstance(cls, type) or not issubclass(cls, UtilityMixin):
        return None
    if any(one.default is one.empty for one in signature(cls).parameters.values()):
        return None
    if issubclass(cls, StrengthModel | SequentialRating):
        return "names"
    fit: Any = cls.fit  # type: ignore[attr-defined]
    if "rater" in signature(fit).parameters:  # tastes of raters are no leaderboard
        return None
    return "pairs" if cls._fits_pairs else "grades"


def _fits(cls: Any, source: Source, by_name_too: bool = False) -> bool:
    """Say whether an estimator can learn from the data."""
    # ``by_name_too``: also by names only, where items have features as well.
    kind, name, data = _kind_of(cls), model_name(cls.__name__), source.data
    if name == _UNRATED:
        return False
    if isinstance(data, Grades):
        return cls._fits_items and (name != "ordinal-svm" or data.n_groups == 1)
    if isinstance(data, Lists):
        if data.items is None:
            return name == "plackett-luce"
        return cls._fits_items and name != "ordinal-svm"
    if kind == "names":
        if data.items is not None and (data.names is None or not by_name_too):
            return False
        if name == _JUDGES:
            return "rater" in data.columns
        return True
    return data.items is not None and kind == "pairs"


def fitting_models(source: Source, by_name_too: bool = False) -> list[str]:
    """Return the names of all models that can learn from the data."""
    classes = {name: find_estimator(name) for name in CLASSES}
    return [
        name
        for name, cls in classes.items()
        if cls is not None and _fits(cls, source, by_name_too)
    ]


def compared_models(source: Source) -> list[str]:
    """Return the models that are compared by default, with settings."""
    data = source.data
    if isinstance(data, Lists) and data.items is None:
        return ["plackett-luce"]
    if not isinstance(data, Comparisons):
        linear = "rank-svm kernel=linear loss=squared_hinge"
        return [linear, "rank-svm", "rank-rls kernel=linear", "boosted-utility"]
    if data.items is None:
        ties = ("", " ties=davidson", " ties=rao-kupper")
        names = [f"bradley-terry{setting}" for setting in ties]
        if "rater" in data.columns:
            names.append("judge-bradley-terry")
        return [*names, "elo", "glicko", "glicko2"]
    both = [f"logistic-compare identity={_IDENTITY:g}"]
    own = [] if data.names is None else both
    return [*own, "logistic-compare", "rank-svm", "rank-svm kernel=linear"]


def make_estimator(cls: Any, settings: Mapping[str, Any]) -> Any:
    """Return an estimator with some settings; refuse unknown parameters."""
    known = list(signature(cls).parameters)
    for name in settings:
        if name not in known:
            has = f"{', '.join(known)}.{closest(name, known)}"
            raise ValueError(
                f"{model_name(cls.__name__)} has no parameter {name!r}; it has {has}"
            )
    # Newcomers are predicted, too.
    defaults = {"unseen": "prior"} if "unseen" in known else {}
    return cls(**(defaults | dict(settings)))


def _build(cls: Any, data: Data, settings: Mapping[str, Any]) -> Any:
    """Return an estimator; of comparisons, a ranker with a threshold of ties.

    Features are scaled.
    """
    model = make_estimator(cls, settings)
    if _kind_of(cls) == "names":
        return model
    tells_ties = isinstance(model, ClassifierMixin) or hasattr(cls, "predict_proba")
    if isinstance(data, Comparisons) and not tells_ties:
        model = tb.ThresholdCompare(model)
    return make_pipeline(OnItems(StandardScaler()), model)


@dataclass(frozen=True)
class Choice:
    """A model, the reason for it, and its settings."""

    name: str
    model: Any
    reason: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def choose_model(
    name: str,
    source: Source,
    settings: Mapping[str, Any] | None = None,
    *,
    by_name_too: bool = False,
) -> Choice:
    """Return the model of a name, or the default one for ``"auto"``."""
    data, own, reason = source.data, dict(settings or {}), "as you asked."
    settings = own
    if name == "auto":
        name, reason, defaults = _choose_default(source, own)
        settings = defaults | own
    if isinstance(data, Lists) and name == "plackett-luce":
        settings = {"unlisted": data.unlisted, **settings}
    cls = find_estimator(name)
    if cls is None or not _fits(cls, source, by_name_too):
        raise ValueError(_refusal(name, cls, source, by_name_too))
    model = _build(cls, data, settings)
    if own.get("half_life") is not None and "period" not in getattr(
        data, "columns", ()
    ):
        raise ValueError(f"{flag('half_life')} needs dates; name {flag('period')}.")
    strengths = isinstance(model, BradleyTerry)
    if strengths and model.ties == "half":
        reason = reason.replace(_REASONS["names"], "as items have only names.")
        reason += " A tie counts as half a win for each side."
    if isinstance(data, Comparisons) and "advantage" in data.columns:
        if issubclass(cls, SequentialRating):
            model.set_params(advantage=settings.get("advantage", "auto"))
        elif name == _JUDGES and (data.columns["advantage"] == 1).all():
            reason += " It learns the side of each judge."
        elif not strengths:
            reason += " It does not use the advantage of the left side."
    return Choice(name, model, in_nouns(reason), own)


def _choose_default(
    source: Source, settings: Mapping[str, Any]
) -> tuple[str, str, dict[str, Any]]:
    """Return the default model's name, the reason, and its settings."""
    data = source.data
    if isinstance(data, Lists) and data.items is None:
        return "plackett-luce", _REASONS["lists"], {}
    if not isinstance(data, Comparisons):
        linear = {"kernel": "linear", "loss": "squared_hinge"}
        return "rank-svm", _REASONS["grades"], linear
    if data.items is not None:
        if data.names is None or data.pairs.members is not None:
            return "logistic-compare", _REASONS["features"], {}
        return "logistic-compare", _REASONS["both"], {"identity": _IDENTITY}
    reason = _REASONS["names"]
    if "period" in data.columns and "half_life" not in settings:
        reason += (
            " It gives old and new results the same weight; with "
            f"{flag('half_life', 'auto')} old ones count less"
        )
        if data.pairs.members is None:
            reason += f", and {flag('model', 'glicko')} or elo follows the time"
        reason += "."
    return "bradley-terry", reason, {}


_REASONS = {
    "names": "as items have only names, and it treats a tie as a tie.",
    "features": "as items have features, and it learns probabilities from them.",
    "both": (
        "as items have features and names: a rating is what the features say, and as "
        "much more or less as an item's own results show. An item without results is "
        "rated by its features alone; logistic-compare rates all of them so."
    ),
    "lists": "as items have only names, and it learns from whole lists, ties included.",
    "grades": "as items have features, and it learns to put them in the right order.",
}


def _refusal(name: str, cls: type | None, source: Source, by_name_too: bool) -> str:
    """Say why a model cannot learn from the data, and which ones can."""
    models, data = fitting_models(source, by_name_too), source.data
    near = closest(name, models) if cls is None else ""
    listed = ", ".join(["auto", *models])
    choices = f"Choose {flag('model')} from {listed}; got {name!r}.{near}"
    if cls is None:
        return choices
    kind, features = type(data).__name__.lower(), "with" + "out" * (data.items is None)
    reason = f"does not learn from {kind} of items {features} features"
    if isinstance(data, Comparisons) and _kind_of(cls) == "names":
        if name == _JUDGES and "rater" not in data.columns:
            reason = f"needs to know who judged; name the column by {flag('rater')}"
        elif data.items is not None:
            reason = f"looks at names only; leave {flag('items')} out for it"
    return f"{name!r} {reason}. {choices}"


def say_half_life(model: Any, data: Data) -> str:
    """Return how long it took until results counted half, or ""."""
    if getattr(model, "half_life", None) is None or not isinstance(data, Comparisons):
        return ""
    size = model.half_life_
    if np.isinf(size):
        return " No half-life predicts better than none: all results count the same."
    time = f"{size:.3g} periods"
    if data.columns["period"].dtype.kind == "M":
        years = size / 365.25
        time = f"{size:.3g} days" if years < 1 else f"{years:.3g} years"
    chosen = ", which predicts best" if model.half_life == "auto" else ""
    return f" A result counts half after {time}{chosen}."


_PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
_PRIORS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GRIDS: dict[str, tuple[float, ...]] = {
    "C": (0.0001, 0.001, 0.01, 0.1, 1.0),
    "alpha": _PENALTIES,
    "identity": (0.1, 1.0, 10.0),
    "n_basis": (3, 10, 30),
    "n_rounds": (10, 30, 100, 300),
    "k": (2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 120.0),
    "c": (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0),
    "volatility": (0.01, 0.02, 0.03, 0.06, 0.12, 0.24),
    "gamma": (0.25, 1.0, 4.0),  # divided by the number of features
}
"""The parameters that are tuned, where a model has them, and their values."""

# Where a parameter has another scale.
_OWN_GRIDS = {
    ("bradley-terry", "alpha"): _PRIORS,
    ("plackett-luce", "alpha"): _PRIORS,
    ("swap-svm", "C"): _PENALTIES[1:5],
    ("ordinal-svm", "C"): _PENALTIES[:3],
}
# These choose by themselves, or have nothing to choose.
_UNTUNED = ("boosted-utility", "judge-bradley-terry", "max-margin-compare")


def grid_for(
    choice: Choice, n_features: int = 1, *, dated: bool = True
) -> dict[str, tuple[float, ...]]:
    """Return the values to try for each parameter that was not set."""
    name, model = choice.name, inner_estimator(choice.model)
    params = model.get_params(deep=False)
    grid = {
        key: _OWN_GRIDS.get((name, key), values)
        for key, values in GRIDS.items()
        if key in params and key not in choice.settings and name not in _UNTUNED
    }
    if params.get("identity") is None:
        grid.pop("identity", None)
    if params.get("kernel") not in ("rbf", "poly"):
        grid.pop("gamma", None)
    if "n_basis" in grid:
        grid.pop("alpha", None)  # the number of terms is penalty enough
    if name == "glicko" and not dated:
        grid.pop("c", None)  # how fast ratings become uncertain with time
    if not grid:
        raise ValueError(
            f"There is nothing to tune for {name}; known are {', '.join(GRIDS)}."
        )
    if "alpha" in grid and len(grid) > 1:
        grid["alpha"] = grid["alpha"][:4]
    if "gamma" in grid:
        grid["gamma"] = tuple(share / n_features for share in grid["gamma"])
    return grid


def inner_estimator(model: Any) -> Any:
    """Return the estimator inside of a pipeline and of ThresholdCompare."""
    last = last_step(model)
    return last.ranker if isinstance(last, tb.ThresholdCompare) else last


def tune_model(choice: Choice, data: Data) -> tuple[Choice, TuneResult, list[str]]:
    """Return a model with the settings that predict best, all scores, and notes."""
    n_features = 1 if data.items is None else data.items.n_features
    dated = isinstance(data, Comparisons) and "period" in data.columns
    grid = grid_for(choice, n_features, dated=dated)
    model = choice.model
    data, folds, how, honest = _split_rows(data)
    (rows, *outcome), columns = data.arguments()
    y = outcome[0] if outcome else None
    last, step = model, ""
    if isinstance(model, Pipeline):
        # Features are scaled once; outcomes play no part in that.
        rows = clone(model[:-1]).fit_transform(rows)
        last, step = model[-1], f"{model.steps[-1][0]}__"
    rows = rows.values if isinstance(rows, ItemTable) else rows
    path = "ranker__" if hasattr(last, "ranker") else ""
    columns = columns_for(last, columns)
    scoring = "swapped_pairs"
    if y is not None and isinstance(data, Comparisons):
        scoring = _scoring(last, y, folds)
    result = tb.tune(
        last,
        rows,
        y,
        {f"{path}{key}": values for key, values in grid.items()},
        cv=folds,
        qid=columns.pop("qid", None),
        sample_weight=columns.pop("sample_weight", None),
        columns=columns,
        refit=False,
        scoring=scoring,
        progress=False,
    )
    chosen = {f"{step}{key}": value for key, value in result.best_params_.items()}
    plain = {key: key.removeprefix(path) for key in result.best_params_}
    best = {plain[key]: value for key, value in result.best_params_.items()}
    result = replace(result, table=result.table.rename(plain), best_params_=best)
    notes = [_say_choice(result, how), *_say_edges(result, grid), honest]
    return replace(choice, model=clone(model).set_params(**chosen)), result, notes


_ALL_SEEN = (
    "The choice used all results, so the held-out quality may look a little better "
    "than it is."
)


def _split_rows(data: Data) -> tuple[Data, list[Fold], str, str]:
    """Return rows to choose with, their folds, and how they were made."""
    if isinstance(data, Comparisons):
        data = draw_rows(data)
        if data.weight is not None and not (data.weight > 0).all():
            data = data.take(np.flatnonzero(data.weight > 0))
    if len(data) < _FEWEST_ROWS:
        raise ValueError(f"There are {len(data)} rows, too few for {flag('tune')}.")
    if not isinstance(data, Comparisons):
        unit = "list" if isinstance(data, Lists) else "query"
        how = f"every {unit} was ordered by what was learned from others"
        return data, order_folds(data), how, _ALL_SEEN
    seen = _ALL_SEEN
    if by_time(data):
        period = data.columns["period"]
        halves = tb.selection.PeriodSplit(_FOLDS, min_train=0.5).split(
            data.y, period=period
        )
        data = data.take(next(iter(halves))[0])
        seen = (
            "The choice used the earlier half of the results only, so the held-out "
            "quality, of the later half, is honest."
        )
        if forward := _forward_folds(data):
            return data, forward, "earlier results predicted later ones", seen
    folds: Any
    if data.names is not None:
        how = "every result was predicted from others"
        folds = KFold(_FOLDS, shuffle=True, random_state=0).split(data.y)
    else:
        how = "held-out items were compared by what was learned from others"
        folds = tb.selection.ItemKFold(_FOLDS, random_state=0).split(data.pairs)
    return data, _usable(data.pairs, list(folds)), how, seen


def _forward_folds(data: Comparisons) -> list[Fold]:
    """Return folds by time, if there are periods enough."""
    period = data.columns["period"]
    splitter = tb.selection.PeriodSplit(min(_FORWARD_FOLDS, len(np.unique(period)) - 1))
    try:
        return _usable(data.pairs, list(splitter.split(data.y, period=period)))
    except ValueError:
        return []


def _usable(pairs: Pairs, splits: list[Fold]) -> list[Fold]:
    """Return folds without test rows of unseen items."""
    folds = []
    for train, test in splits:
        if not pairs.has_features:
            seen = np.zeros(pairs.n_items, dtype=bool)
            seen[pairs[train].touched()] = True
            test = test[pairs[test].among(seen)]
        if len(train) and len(test):
            folds.append((train, test))
    if not folds:
        raise ValueError(f"No two results share their items; leave {flag('tune')} out.")
    return folds


def _scoring(model: Any, y: NDArray[np.int8], folds: list[Fold]) -> str:
    if not hasattr(model, "predict_proba"):
        return "error"
    # An outcome that training rows do not have is impossible for some models, and its
    # log loss infinite for all settings.
    seen = (set(y[test].tolist()) <= set(y[train].tolist()) for train, test in folds)
    return "log_loss" if all(seen) else "brier"


def _say_choice(result: TuneResult, how: str) -> str:
    best = _words(result.best_params_)
    worst = result.table.sort("score", nulls_last=False).row(0, named=True)
    bad = _words({key: worst[key] for key in result.best_params_})
    metric = metric_words(result.scoring)
    expected = ""
    if np.isfinite(result.corrected_score):
        expected = (
            " The best of many looks better than it is: on new results expect "
            f"{-result.corrected_score:.4f}."
        )
    return (
        f"Tuning tried {len(result.table)} settings and chose {best}, by the {metric} "
        f"when {how}: {-result.best_score_:.4f}; the worst, {bad}, has "
        f"{-worst['score']:.4f}.{expected}"
    )


def _words(params: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value:.4g}" for key, value in params.items())


def _say_edges(result: TuneResult, grid: dict[str, tuple[float, ...]]) -> list[str]:
    edges = {key: {min(values), max(values)} - {0} for key, values in grid.items()}
    best = result.best_params_
    ends = {key: value for key, value in best.items() if value in edges[key]}
    sentence = f"No value beyond {_words(ends)} was tried; the best may lie there."
    return [sentence] if ends else []
