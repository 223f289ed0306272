# SPDX-License-Identifier: BSD-3-Clause
"""Which model fits the data at hand, why, and with which settings.

Grids of settings are small, and about evenly spaced on a logarithmic scale. Features
are scaled to variance 1 before a model sees them, so values of gamma are fractions of
1 / (number of features), which is what scikit-learn calls ``"scale"``.

With dates, ``--tune`` divides the earlier half of the results by time, and does not use
the later half, on which quality is measured. Else its folds are of rows, of queries or
of items, as when quality is measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if

import tiebreak as tb
from tiebreak.data import OnItems, Orders, Pairs
from tiebreak.io.columns import closest
from tiebreak.models.base import UtilityMixin
from tiebreak.pipeline.comparisons import ComparisonData, take_rows
from tiebreak.pipeline.held_out import by_time, columns_for, draw_rows
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.recency import read_half_life
from tiebreak.selection.results import TuneResult

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]

_FOLDS, _FORWARD_FOLDS = 5, 3
_FEWEST_ROWS = 20
# Of simulated items with four features that explain 20, 60 and 90 % of what they are
# worth, compared few and many times, this is within 0.01 of the best log loss.
_IDENTITY = 1.0
_JUDGES = "judge-bradley-terry"
_UNRATED = "hedge-order"  # has no utility


def model_name(cls: type) -> str:
    """Return the name of an estimator for ``--model``: rank-svm of RankSVM."""
    return _kebab(cls.__name__)


def _kebab(name: str) -> str:
    words = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return re.sub(words, "-", name).lower()


# Of all public classes; which of them are estimators is known when they are imported.
CLASSES: dict[str, str] = {_kebab(name): name for name in dir(tb) if name[0].isupper()}


def find_estimator(name: str) -> Any:
    """Return the public estimator of a name; None if there is none."""
    found = getattr(tb, CLASSES[name]) if name in CLASSES else None
    return found if _kind_of(found) is not None else None


def _kind_of(cls: Any) -> Literal["names", "pairs", "grades"] | None:
    """Say what an estimator learns from; None if it is none, or needs another one."""
    if not isinstance(cls, type) or not issubclass(cls, UtilityMixin):
        return None
    if any(one.default is one.empty for one in signature(cls).parameters.values()):
        return None
    if _families(cls) & {"StrengthModel", "SequentialRating"}:
        return "names"
    fit: Any = cls.fit  # type: ignore[attr-defined]
    if "rater" in signature(fit).parameters:  # tastes of raters are no leaderboard
        return None
    return "pairs" if cls._fits_pairs else "grades"


def _families(cls: type) -> set[str]:
    # By their names: to import a class in order to ask for it takes time.
    return {base.__name__ for base in cls.__mro__}


def _predicts_outcomes(cls: type) -> bool:
    """Say whether an estimator tells ties, or only a utility."""
    return issubclass(cls, ClassifierMixin) or hasattr(cls, "predict_proba")


def _fits(cls: type, data: ComparisonData, by_name_too: bool = False) -> bool:
    """Say whether an estimator can learn from comparisons."""
    # ``by_name_too``: also by names only, where items have features as well.
    kind = _kind_of(cls)
    if kind == "names":
        if data.pairs.has_features and (data.pairs.names is None or not by_name_too):
            return False
        if model_name(cls) == _JUDGES:
            return "rater" in data.columns and not data.listed and not data.partitioned
        return data.partitioned is None or issubclass(cls, BradleyTerry)
    if not data.pairs.has_features or model_name(cls) == _UNRATED:
        return False
    return kind == "pairs" or data.listed or data.grades is not None


def fitting_models(data: ComparisonData, by_name_too: bool = False) -> list[str]:
    """Return the names of all models that can learn from comparisons."""
    found = {name: find_estimator(name) for name in CLASSES}
    return [
        name
        for name, one in found.items()
        if one is not None and _fits(one, data, by_name_too)
    ]


def compared_models(data: ComparisonData) -> list[str]:
    """Return the models that are compared if nobody names any, with their settings."""
    if not data.pairs.has_features:
        ties = ("", " ties=davidson", " ties=rao-kupper")
        names = [f"bradley-terry{setting}" for setting in ties]
        if "rater" in data.columns and not data.listed:
            names.append("judge-bradley-terry")
        return [*names, "elo", "glicko", "glicko2"]
    both = [f"logistic-compare identity={_IDENTITY:g}"]
    own = [] if data.pairs.names is None else both
    return [*own, "logistic-compare", "rank-svm", "rank-svm kernel=linear"]


def make_estimator(cls: Any, settings: Mapping[str, Any]) -> Any:
    """Return an estimator with some settings; refuse parameters it does not have."""
    known = list(signature(cls).parameters)
    for name in settings:
        if name not in known:
            raise ValueError(
                f"{model_name(cls)} has no parameter {name!r}; it has "
                f"{', '.join(known)}.{closest(name, known)}"
            )
    given = dict(settings)
    if "unseen" in known:
        given.setdefault("unseen", "prior")  # newcomers are predicted, too
    return cls(**given)


def _build(cls: Any, data: ComparisonData, settings: Mapping[str, Any]) -> Any:
    """Return an estimator that compares the items of a file.

    Features are scaled. A ranker gets a threshold of ties, and a model of grades or
    lists those behind the comparisons.
    """
    model = make_estimator(cls, settings)
    if _kind_of(cls) == "names":
        listed = data.listed and model_name(cls) == "plackett-luce"
        return AsGiven(model) if listed else model
    if not _predicts_outcomes(cls):
        model = tb.ThresholdCompare(model)
    if not cls._fits_pairs:
        model = AsGiven(model, data.grades, _query_of(cls, data))
    return make_pipeline(OnItems(StandardScaler()), model)


def _query_of(cls: Any, data: ComparisonData) -> NDArray[np.int64] | None:
    query = None
    if data.query is not None:
        query = np.unique(data.query, return_inverse=True)[1]
    if model_name(cls) == "ordinal-svm" and (query is None or query.max() > 0):
        raise ValueError(
            "'ordinal-svm' learns one scale of grades for all items, and lists, or "
            "grades of different queries, have none in common. Choose another --model, "
            "such as swap-svm or rank-svm."
        )
    return query


class AsGiven(BaseEstimator):
    """A model that learns from the grades or lists behind comparisons of their items.

    Grades and queries are those of the items of the comparisons; without them every
    ``rater`` has given a list, of which all comparisons are there.
    """

    def __init__(self, model: Any, grades: Any = None, query: Any = None) -> None:
        self.model, self.grades, self.query = model, grades, query

    def fit(
        self, X: Pairs, y: Any, *, rater: Any = None, sample_weight: Any = None
    ) -> AsGiven:
        """Fit the model to the items that occur, or to the lists."""
        self.model_, self.classes_ = clone(self.model), np.array([-1, 0, 1])
        if self.grades is None:
            lists, first = _lists_behind(X, np.asarray(y), np.asarray(rater))
            weight = None if sample_weight is None else np.asarray(sample_weight)[first]
            self.model_.fit(lists, sample_weight=weight)
            return self
        rows = X.touched()
        query = self.query[rows]
        given = {"qid": query} if len(np.unique(query)) > 1 else {}
        items = X.table.values[rows]
        if X.feature_names is not None and not X.table.is_sparse:
            items = pl.DataFrame(items, schema=list(X.feature_names))
        self.model_.fit(items, self.grades[rows], **given)
        return self

    def predict(self, X: Pairs) -> NDArray[Any]:
        """Predict outcomes."""
        return np.asarray(self.model_.predict(X))

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Pairs) -> NDArray[np.float64]:
        """Predict probabilities of left, tie and right."""
        return np.asarray(self.model_.predict_proba(X))

    def __sklearn_clone__(self) -> AsGiven:
        return AsGiven(clone(self.model), self.grades, self.query)


def _lists_behind(
    pairs: Pairs, y: NDArray[Any], rater: NDArray[Any]
) -> tuple[Orders, NDArray[np.int64]]:
    """Return the lists of which comparisons were made, and a row of each."""
    _, first, code = np.unique(rater, return_index=True, return_inverse=True)
    # Of all comparisons of a list, an item has won as many as stand behind it, less
    # those before it.
    rows, item = np.append(code, code), np.append(pairs.left, pairs.right)
    won = coo_array((np.append(-y, y), (rows, item)), (len(first), pairs.n_items))
    met = coo_array((np.ones(len(item)), won.coords), won.shape).tocsr()
    won, size = won.tocsr(), np.diff(met.indptr)
    if (met.data != np.repeat(size - 1, size)).any():
        raise ValueError(
            "This model learns from whole lists, and only some of their comparisons "
            "are there. Use fewer lists, or another --model."
        )
    wins = won[np.repeat(np.arange(len(size)), size), met.indices]
    sequences = [
        [met.indices[one][wins[one] == level].tolist() for level in levels]
        for one, levels in (
            (slice(*ends), np.unique(wins[slice(*ends)])[::-1])
            for ends in pairwise(met.indptr)
        )
    ]
    return Orders(pairs._items, sequences, names=pairs.names), first


def unwrap(fitted: Any) -> Any:
    """Return what `AsGiven` has fitted, alone or at the end of a pipeline."""
    if isinstance(fitted, Pipeline):
        *steps, (name, last) = fitted.steps
        return type(fitted)([*steps, (name, unwrap(last))])
    return fitted.model_ if isinstance(fitted, AsGiven) else fitted


@dataclass(frozen=True)
class Choice:
    """A model, the reason for it, and the settings that were given."""

    name: str
    model: Any
    reason: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def choose_model(
    asked: str,
    data: ComparisonData,
    settings: Mapping[str, Any] | None = None,
    *,
    half_life: str | float | None = None,
    ties: str | None = None,
    by_name_too: bool = False,
) -> Choice:
    """Return the model that was asked for, or the default one for ``"auto"``."""
    settings, reason = dict(settings or {}), "as you asked."
    given = dict(settings)
    if "ties" in settings and ties not in (None, "drop"):
        raise ValueError(
            f"--ties {ties} says how ties are counted, and so does the setting ties; "
            "leave one of the two out."
        )
    if "half_life" in settings:
        half_life = settings.pop("half_life") if half_life is None else half_life
    if asked == "auto":
        asked, reason = _choose_unasked(data, half_life, settings)
    cls = find_estimator(asked)
    if asked == _JUDGES:
        _check_judges(data)
    if cls is None or not _fits(cls, data, by_name_too):
        raise ValueError(_refusal(asked, cls, data, by_name_too))
    if ties not in (None, "drop"):
        if asked not in ("bradley-terry", _JUDGES):
            raise ValueError(
                f"--ties {ties} is for items that have only names; leave it out."
            )
        settings["ties"] = ties
    model = _build(cls, data, settings)
    strengths = isinstance(model, BradleyTerry)
    if strengths and model.ties == "half":
        reason = reason.replace(_REASONS["names"], "items have only names.")
        reason += " A tie counts as half a win for each side."
    if half_life is not None:
        set_half_life(model, half_life, data)
    if "advantage" in data.columns and "SequentialRating" in _families(cls):
        model.set_params(advantage=settings.get("advantage", "auto"))
    elif "advantage" in data.columns and not strengths:
        if asked == _JUDGES and (data.columns["advantage"] == 1).all():
            reason += " It learns the side of each judge."
        else:
            reason += " It does not use the advantage of the left side."
    return Choice(asked, model, reason, given)


def _choose_unasked(
    data: ComparisonData, half_life: Any, settings: dict[str, Any]
) -> tuple[str, str]:
    """Return the name of the default model and the reason for it."""
    if data.pairs.has_features:
        if data.pairs.names is None:
            return "logistic-compare", _REASONS["features"]
        settings.setdefault("identity", _IDENTITY)
        return "logistic-compare", _REASONS["both"]
    reason = _REASONS["names"]
    if "period" in data.columns and data.partitioned is None and half_life is None:
        reason += (
            " It gives old and new results the same weight; with --half-life auto "
            "old ones count less, and --model glicko or elo follows the time."
        )
    return "bradley-terry", reason


def _check_judges(data: ComparisonData) -> None:
    """Refuse a model of judges where nobody judged, and for lists."""
    if data.pairs.names is None:
        return
    if "rater" not in data.columns:
        raise ValueError(
            "judge-bradley-terry needs to know who judged, and no column says it; name "
            "one with --rater, or choose another --model."
        )
    if data.listed:
        raise ValueError(
            "judge-bradley-terry compares judges by their votes, and the file has "
            "ranked lists: each would be a judge whose comparisons follow from each "
            "other. Choose --model plackett-luce, or leave --model out."
        )


_REASONS = {
    "names": "items have only names, and it treats a tie as a tie.",
    "features": "items have features, and it learns probabilities from them.",
    "both": (
        "items have features and names: a rating is what the features say, and as much "
        "more or less as an item's own results show. An item without results is rated "
        "by its features alone; --model logistic-compare rates all of them so."
    ),
}


def _refusal(
    asked: str, cls: type | None, data: ComparisonData, by_name_too: bool
) -> str:
    models = fitting_models(data, by_name_too)
    near = closest(asked, models) if cls is None else ""
    choices = (
        f"Choose --model from {', '.join(['auto', *models])}; got {asked!r}.{near}"
    )
    if cls is None:
        return choices
    if asked == _UNRATED:
        return (
            "'hedge-order' orders items by comparing them with each other, and rates "
            f"none alone. {choices}"
        )
    kind, featured = _kind_of(cls), data.pairs.has_features
    if data.partitioned is not None and kind == "names" and not featured:
        return (
            f"{asked!r} looks at single results, and so needs them in one file; equal "
            f"results of many files are added up, which suits {' and '.join(models)}. "
            f"{choices}"
        )
    if featured and data.pairs.names is not None and kind == "names":
        return f"{asked!r} looks at names only; leave --items out for it. {choices}"
    have = "features" if featured else "only names"
    needs = f"{asked!r} is for items that have names."
    if kind == "grades":
        graded = data.listed or data.grades is not None
        have += "" if graded else ", and are compared two at a time"
        needs = f"{asked!r} learns from grades or lists of items with features."
        if featured and not data.sided and "rater" in data.columns:
            needs += " --kind orders reads the scores of each person as a list."
    elif kind == "pairs":
        needs = f"{asked!r} needs features, too (--items)."
    return f"The items have {have}. {needs} {choices}"


def set_half_life(model: Any, asked: str | float, data: ComparisonData) -> None:
    """Set the half-life of a model, a number, a time or "auto"; refuse it elsewhere."""
    if not isinstance(model, BradleyTerry):
        raise ValueError(
            "This model has no half-life; --half-life is for bradley-terry. Leave it "
            "out, or choose --model bradley-terry."
        )
    if "period" not in data.columns:
        raise ValueError(
            "--half-life needs to know when results took place, and no column says it; "
            "name one with --period, or leave --half-life out."
        )
    try:
        model.set_params(half_life=float(asked))
    except ValueError:
        model.set_params(half_life=asked)
    read_half_life(model.half_life)


def say_half_life(model: Any, data: ComparisonData) -> str:
    """Return how long it took until results counted half; empty without."""
    if getattr(model, "half_life", None) is None:
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
_OWN_GRIDS: dict[tuple[str, str], tuple[float, ...]] = {
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
    """Return the values to try for each tuned parameter that was not set."""
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
    if name == "glicko" and not dated and grid:
        raise ValueError(
            "There is nothing to tune for glicko without dates: c is how fast ratings "
            "become uncertain with time. Name the column of dates with --period, or "
            "choose another --model."
        )
    if not grid:
        raise ValueError(
            f"There is nothing to tune for {name}; --tune knows {', '.join(GRIDS)}, of "
            "models that have them, unless they are set."
        )
    if "alpha" in grid and len(grid) > 1:
        grid["alpha"] = grid["alpha"][:4]
    if "gamma" in grid:
        grid["gamma"] = tuple(share / n_features for share in grid["gamma"])
    return grid


def inner_estimator(model: Any) -> Any:
    """Return the estimator inside of a pipeline, of AsGiven and ThresholdCompare."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    last = last.model if isinstance(last, AsGiven) else last
    return last.ranker if isinstance(last, tb.ThresholdCompare) else last


@dataclass(frozen=True, eq=False)
class Tuned:
    """A model with the chosen settings, not fitted, and how they were chosen."""

    model: Any
    result: TuneResult  # all scores; parameters have their plain names
    notes: list[str]  # what was chosen, and what that means for the held-out quality


@dataclass(frozen=True, eq=False)
class _Plan:
    """Rows to choose with, and folds of these rows."""

    data: ComparisonData
    folds: list[Fold]
    how: str
    honest: str


def tune_model(
    choice: Choice,
    data: ComparisonData,
    *,
    progress: bool = False,
) -> Tuned:
    """Return a model with the settings that predict held-out results best."""
    n_features = data.pairs.shape[2] if data.pairs.has_features else 1
    grid = grid_for(choice, n_features, dated="period" in data.columns)
    plan, model = _plan(data), choice.model
    rows, last, step = plan.data.pairs, model, ""
    if isinstance(model, Pipeline):
        # Features are scaled once; outcomes play no part in that.
        rows = clone(model[:-1]).fit_transform(rows)
        last, step = model[-1], f"{model.steps[-1][0]}__"
    path = "model__" if isinstance(last, AsGiven) else ""
    path += "ranker__" if hasattr(getattr(last, "model", last), "ranker") else ""
    y = plan.data.y
    columns = columns_for(last, plan.data.columns)
    weight = columns.pop("sample_weight", None)
    search = {f"{path}{key}": values for key, values in grid.items()}
    found = tb.tune(
        last,
        rows,
        y,
        search,
        cv=plan.folds,
        columns=columns,
        refit=False,
        scoring=_scoring(last, y, plan.folds),
        sample_weight=weight,
        progress=progress,
    )
    chosen = {f"{step}{key}": value for key, value in found.best_params_.items()}
    found = _plain_names(found, path)
    notes = [_say_choice(found, plan.how), *_say_edges(found, grid), plan.honest]
    return Tuned(clone(model).set_params(**chosen), found, notes)


def _plan(data: ComparisonData) -> _Plan:
    data = draw_rows(data)
    weight = data.columns.get("sample_weight")
    if weight is not None and not (weight > 0).all():
        data = take_rows(data, np.flatnonzero(weight > 0))
    if len(data.y) < _FEWEST_ROWS:
        raise ValueError(
            f"There are {len(data.y)} comparisons, too few to choose settings with; "
            f"--tune needs at least {_FEWEST_ROWS}."
        )
    seen = (
        "The choice used all results, so the held-out quality may look a little better "
        "than it is."
    )
    if by_time(data):
        period = data.columns["period"]
        halves = tb.selection.PeriodSplit(_FOLDS, min_train=0.5).split(
            data.y, period=period
        )
        data = take_rows(data, next(iter(halves))[0])
        seen = (
            "The choice used the earlier half of the results only, so the held-out "
            "quality, of the later half, is honest."
        )
        if forward := _forward_folds(data):
            return _Plan(data, forward, "earlier results predicted later ones", seen)
    pairs, y = data.pairs, data.y
    folds: Any
    if data.group is not None and len(np.unique(data.group)) >= _FOLDS:
        how = f"every {'list' if data.listed else 'query'} was predicted from others"
        splitter = GroupKFold(_FOLDS, shuffle=True, random_state=0)
        folds = splitter.split(y, groups=data.group)
    elif pairs.names is not None:
        how = "every result was predicted from others"
        splitter = KFold(_FOLDS, shuffle=True, random_state=0)
        folds = splitter.split(y)
    else:
        how = "held-out items were compared by what was learned from others"
        folds = tb.selection.ItemKFold(_FOLDS, random_state=0).split(pairs)
    return _Plan(data, _usable(pairs, list(folds)), how, seen)


def _forward_folds(data: ComparisonData) -> list[Fold]:
    """Return folds by time, if there are periods enough."""
    period = data.columns["period"]
    splitter = tb.selection.PeriodSplit(min(_FORWARD_FOLDS, len(np.unique(period)) - 1))
    try:
        return _usable(data.pairs, list(splitter.split(data.y, period=period)))
    except ValueError:
        return []


def _usable(pairs: Pairs, splits: list[Fold]) -> list[Fold]:
    """Return folds without test rows of items that the training rows do not have."""
    folds = []
    for train, test in splits:
        if not pairs.has_features:
            seen = np.zeros(pairs.n_items, dtype=bool)
            seen[pairs.left[train]] = seen[pairs.right[train]] = True
            test = test[seen[pairs.left[test]] & seen[pairs.right[test]]]
        if len(train) and len(test):
            folds.append((train, test))
    if not folds:
        raise ValueError(
            "No two results share their items, so none can be predicted from others, "
            "and settings cannot be chosen; leave --tune out."
        )
    return folds


def _scoring(model: Any, y: NDArray[np.int8], folds: list[Fold]) -> str:
    if not hasattr(model, "predict_proba"):
        return "error"
    # An outcome that training rows do not have is impossible for some models, and its
    # log loss infinite for all settings.
    seen = (set(y[test].tolist()) <= set(y[train].tolist()) for train, test in folds)
    return "log_loss" if all(seen) else "brier"


def _plain_names(found: TuneResult, path: str) -> TuneResult:
    if not path:
        return found
    plain = {key: key.removeprefix(path) for key in found.best_params_}
    best = {plain[key]: value for key, value in found.best_params_.items()}
    return replace(found, table=found.table.rename(plain), best_params_=best)


def _say_choice(found: TuneResult, how: str) -> str:
    best = _words(found.best_params_)
    worst = found.table.sort("score", nulls_last=False).row(0, named=True)
    bad = _words({key: worst[key] for key in found.best_params_})
    metric = found.scoring.replace("_", " ")
    expected = ""
    if np.isfinite(found.corrected_score):
        expected = (
            " The best of many looks better than it is: on new results expect "
            f"{-found.corrected_score:.4f}."
        )
    return (
        f"Tuning tried {len(found.table)} settings and chose {best}, by the {metric} "
        f"when {how}: {-found.best_score_:.4f}; the worst, {bad}, has "
        f"{-worst['score']:.4f}.{expected}"
    )


def _words(params: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value:.4g}" for key, value in params.items())


def _say_edges(found: TuneResult, grid: dict[str, tuple[float, ...]]) -> list[str]:
    best, edges = (
        found.best_params_,
        {k: {min(v), max(v)} - {0} for k, v in grid.items()},
    )
    ends = {key: value for key, value in best.items() if value in edges[key]}
    said = f"No value beyond {_words(ends)} was tried; the best may lie there."
    return [said] if ends else []
