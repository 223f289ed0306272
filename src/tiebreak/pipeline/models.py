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

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if

import tiebreak as tb
from tiebreak.data import OnItems, Orders, Pairs
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


def _scaled(model: Any) -> Any:
    return make_pipeline(OnItems(StandardScaler()), model)


def _ranker(model: Any) -> Any:
    return _scaled(tb.ThresholdCompare(model))


Makers = dict[str, Callable[[], Any]]

BY_NAME: Makers = {
    "bradley-terry": BradleyTerry,
    "davidson": lambda: BradleyTerry("davidson"),
    "rao-kupper": lambda: BradleyTerry("rao-kupper"),
    "judges": lambda: tb.JudgeBradleyTerry(),
    "elo": lambda: tb.Elo(unseen="prior"),
    "glicko": lambda: tb.Glicko(unseen="prior"),
    "glicko2": lambda: tb.Glicko2(unseen="prior"),
    "plackett-luce": lambda: tb.PlackettLuce(),
}
"""Models of items that have only names."""

_IN_ORDER = ("elo", "glicko", "glicko2")
"""Those that take results one after the other, and not as counts."""

_OF_ROWS = (*_IN_ORDER, "judges", "plackett-luce")
"""Those that need all results in one file."""

BY_FEATURE: Makers = {
    "logistic": lambda: _scaled(tb.LogisticCompare()),
    "svm": lambda: _ranker(tb.RankSVM()),
    "linear-svm": lambda: _ranker(tb.RankSVM(kernel="linear")),
    "kernel-logistic": lambda: _scaled(tb.LogisticCompare(0.1, kernel="rbf")),
    "boosted": lambda: _scaled(tb.BoostedUtility()),
    "svm-compare": lambda: _scaled(tb.SVMCompare()),
    "linear-svm-compare": lambda: _scaled(tb.SVMCompare(kernel="linear")),
    "max-margin": lambda: _scaled(tb.MaxMarginCompare()),
    "rank-rls": lambda: _ranker(tb.RankRLS()),
    "linear-rank-rls": lambda: _ranker(tb.RankRLS(kernel="linear")),
    "l1": lambda: _ranker(tb.L1Ranker()),
    "pursuit": lambda: _ranker(tb.RankingPursuit()),
    "rank-boost": lambda: _ranker(tb.RankBoost()),
}
"""Models of items that have features.

SVMCompare is not chosen by itself: with balanced ties it is as accurate as a ranker
with a learned threshold on real data (`benchmarks.decisions.tie_weight`), and with the
weights of its paper it can learn nothing, where ties are rare or many.
"""

BY_BOTH: Makers = {
    "logistic-names": lambda: _scaled(tb.LogisticCompare(identity=_IDENTITY))
}
"""Models of items that have features and names, and learn from both."""

BY_GRADE: Makers = {
    "swap-svm": lambda: tb.SwapSVM(),
    "order-svm": lambda: tb.OrderSVM(),
    "ordinal-svm": lambda: tb.OrdinalSVM(),
    "expected-rank": lambda: tb.ExpectedRankRegression(),
    "matching-pursuit": lambda: tb.MatchingPursuit(),
    "co-pursuit": lambda: tb.CoRankingPursuit(),
}
"""Models of items that have features, and learn from grades or lists only."""

_COMPARED_UNASKED = {*BY_NAME, *BY_BOTH, *list(BY_FEATURE)[:3]} - {"plackett-luce"}


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
    """A model and the reason for it."""

    name: str
    model: Any
    reason: str


def models_for(
    data: ComparisonData, *, by_name_too: bool = False, unasked: bool = False
) -> Makers:
    """Return the models that can learn from comparisons, the default one first."""
    # ``by_name_too``: also those that use names only, where items have features as
    # well. ``unasked``: only those that are compared if nobody names any.
    if not data.pairs.has_features:
        one_by_one = () if data.partitioned is None else _OF_ROWS
        found = {name: make for name, make in BY_NAME.items() if name not in one_by_one}
        if data.listed:
            found["plackett-luce"] = lambda: AsGiven(tb.PlackettLuce())
    else:
        named = data.pairs.names is not None
        found = (BY_BOTH if named else {}) | BY_FEATURE
        if data.listed or data.grades is not None:
            found |= {name: partial(_as_given, name, data) for name in BY_GRADE}
        found |= BY_NAME if named and by_name_too else {}
    if "rater" not in data.columns or data.listed:
        found = {name: make for name, make in found.items() if name != "judges"}
    if unasked:
        return {name: make for name, make in found.items() if name in _COMPARED_UNASKED}
    return found


def _as_given(name: str, data: ComparisonData) -> Any:
    query = None
    if data.query is not None:
        query = np.unique(data.query, return_inverse=True)[1]
    if name == "ordinal-svm" and (query is None or query.max() > 0):
        raise ValueError(
            "'ordinal-svm' learns one scale of grades for all items, and lists, or "
            "grades of different queries, have none in common. Choose another --model, "
            "such as swap-svm or linear-svm."
        )
    ranker = tb.ThresholdCompare(BY_GRADE[name]())
    return _scaled(AsGiven(ranker, data.grades, query))


def choose_model(
    asked: str,
    data: ComparisonData,
    alpha: float | str | None = None,
    *,
    half_life: str | float | None = None,
    ties: str | None = None,
    by_name_too: bool = False,
) -> Choice:
    """Return the model that was asked for, or the default one for ``"auto"``."""
    models = models_for(data, by_name_too=by_name_too)
    reason = "as you asked."
    if asked == "judges" and (by_name_too or not data.pairs.has_features):
        _check_judges(data)
    if ties in models and asked != "judges":
        asked, ties = str(ties), None
    if asked == "auto":
        asked = next(iter(models))
        reason = _REASONS[asked]
        dated = "period" in data.columns and not data.pairs.has_features
        if dated and data.partitioned is None and half_life is None:
            reason += (
                " It gives old and new results the same weight; with --half-life auto "
                "old ones count less, and --model glicko or elo follows the time."
            )
    elif asked not in models:
        raise ValueError(_refusal(asked, data, list(models)))
    model = models[asked]()
    if asked == "judges" and ties == "rao-kupper":
        model.set_params(ties=ties)
    if ties in ("auto", "half") and asked != "judges":
        if not isinstance(model, BradleyTerry):
            raise ValueError(
                f"--ties {ties} is for items that have only names; leave it out."
            )
        model.set_params(ties=ties)
        if ties == "half":
            reason = reason.replace(_REASONS["bradley-terry"], "items have only names.")
            reason += " A tie counts as half a win for each side."
    if alpha is not None:
        set_alpha(model, alpha)
    if half_life is not None:
        set_half_life(model, half_life, data)
    if "advantage" in data.columns and asked in _IN_ORDER:
        model.set_params(advantage="auto")
    elif "advantage" in data.columns and not isinstance(model, BradleyTerry):
        if asked == "judges" and (data.columns["advantage"] == 1).all():
            return Choice(asked, model, f"{reason} It learns the side of each judge.")
        reason += " It does not use the advantage of the left side."
    return Choice(asked, model, reason)


def _check_judges(data: ComparisonData) -> None:
    """Refuse a model of judges where nobody judged, and for lists."""
    if "rater" not in data.columns:
        raise ValueError(
            "--model judges needs to know who judged, and no column says it; name one "
            "with --rater, or choose another --model."
        )
    if data.listed:
        raise ValueError(
            "--model judges compares judges by their votes, and the file has ranked "
            "lists: each would be a judge whose comparisons follow from each other. "
            "Choose --model plackett-luce, or leave --model out."
        )


_REASONS = {
    "bradley-terry": "items have only names, and it treats a tie as a tie.",
    "logistic": "items have features, and it learns probabilities from them.",
    "logistic-names": (
        "items have features and names: a rating is what the features say, and as much "
        "more or less as an item's own results show. An item without results is rated "
        "by its features alone; --model logistic rates all of them so."
    ),
}


def _refusal(asked: str, data: ComparisonData, models: list[str]) -> str:
    choices = f"Choose --model from {', '.join(['auto', *models])}; got {asked!r}."
    if data.partitioned is not None and asked in _OF_ROWS:
        return (
            f"{asked!r} looks at single results, and so needs them in one file; equal "
            "results of many files are added up, which suits "
            f"{' and '.join(models)}. {choices}"
        )
    featured = data.pairs.has_features
    if featured and data.pairs.names is not None and asked in BY_NAME:
        return f"{asked!r} looks at names only; leave --items out for it. {choices}"
    have = "features" if featured else "only names"
    needs = ""
    if asked in BY_GRADE:
        graded = data.listed or data.grades is not None
        have += "" if graded else ", and are compared two at a time"
        needs = f" {asked!r} learns from grades or lists of items with features."
        if featured and not data.sided and "rater" in data.columns:
            needs += " --kind orders reads the scores of each person as a list."
    elif asked in BY_NAME:
        needs = f" {asked!r} is for items that have names."
    elif asked in BY_FEATURE | BY_BOTH:
        needs = (
            f" {asked!r} needs {'names' if featured else 'features'}, too (--items)."
        )
    return f"The items have {have}.{needs} {choices}"


def set_alpha(model: Any, alpha: float | str) -> None:
    """Set the penalty of a model; refuse one for a model without."""
    learned = (tb.BradleyTerry, tb.JudgeBradleyTerry)
    if alpha == "auto" and not isinstance(model, learned):
        raise ValueError(
            "The penalty of this model is not learned; give --alpha a number, or leave "
            "it out. --tune chooses one."
        )
    names = [n for n in model.get_params() if n == "alpha" or n.endswith("__alpha")]
    if not names:
        raise ValueError("This model has no penalty; leave --alpha out.")
    model.set_params(**{names[-1]: alpha})


def set_half_life(model: Any, asked: str | float, data: ComparisonData) -> None:
    """Set the half-life of a model, a number, a time or "auto"; refuse it elsewhere."""
    if not isinstance(model, BradleyTerry):
        raise ValueError(
            "This model has no half-life; --half-life is for bradley-terry, davidson "
            "and rao-kupper. Leave it out, or choose one of these with --model."
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


Grid = dict[str, tuple[float, ...]]
_STRENGTHS: Grid = {"alpha": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)}
_WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
_MARGINS = (0.0001, 0.001, 0.01, 0.1, 1.0)

_WIDTHS = (0.25, 1.0, 4.0)
_MACHINES: Grid = {"C": (0.001, 0.01, 0.1, 1.0), "gamma": _WIDTHS}
_TERMS: Grid = {"n_basis": (3, 10, 30), "gamma": _WIDTHS}

GRIDS: dict[str, Grid] = {
    "bradley-terry": _STRENGTHS,
    "davidson": _STRENGTHS,
    "rao-kupper": _STRENGTHS,
    "plackett-luce": _STRENGTHS,
    "elo": {"k": (2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 120.0)},
    "glicko": {"c": (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)},
    "glicko2": {"volatility": (0.01, 0.02, 0.03, 0.06, 0.12, 0.24)},
    "logistic": {"alpha": _WEIGHTS},
    "logistic-names": {"alpha": _WEIGHTS[:4], "identity": (0.1, 1.0, 10.0)},
    "svm": _MACHINES,
    "linear-svm": {"C": _MARGINS},
    "kernel-logistic": {"alpha": (0.01, 0.1, 1.0, 10.0), "gamma": _WIDTHS},
    "svm-compare": _MACHINES,
    "linear-svm-compare": {"C": _MARGINS},
    "rank-rls": {"alpha": _WEIGHTS[:4], "gamma": _WIDTHS},
    "linear-rank-rls": {"alpha": _WEIGHTS},
    "l1": {"alpha": _WEIGHTS[:4]},
    "rank-boost": {"n_rounds": (10, 30, 100, 300)},
    "pursuit": _TERMS,
    "matching-pursuit": _TERMS,
    "co-pursuit": {"n_basis": _TERMS["n_basis"]},
    "swap-svm": {"C": _WEIGHTS[1:5], "gamma": _WIDTHS},
    "order-svm": _MACHINES,
    "ordinal-svm": {"C": _WEIGHTS[:3], "gamma": _WIDTHS},
}
"""For each model the parameters that are tuned, and their values.

The others choose by themselves (boosted) or have nothing to choose.
"""


def grid_for(
    model: str, n_features: int = 1, *, dated: bool = True
) -> dict[str, tuple[float, ...]]:
    """Return the values to try for each tuned parameter of a model."""
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
    name: str,
    model: Any,
    data: ComparisonData,
    *,
    progress: bool = False,
) -> Tuned:
    """Return a model with the settings that predict held-out results best."""
    n_features = data.pairs.shape[2] if data.pairs.has_features else 1
    grid = grid_for(name, n_features, dated="period" in data.columns)
    plan = _plan(data)
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
