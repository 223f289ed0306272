# SPDX-License-Identifier: BSD-3-Clause
"""Save one model of every class, and ask it everything that it answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import tiebreak as tb

FEATURES = ["sweet", "salty", "größe"]

# What models are asked: items they have not seen, and names they have.
QUESTIONS: dict[str, Any] = {
    "items": [
        [0.5, -1.0, 0.25],
        [1.5, 0.0, -0.75],
        [-0.5, 2.0, 1.0],
        [0.0, 0.0, 0.0],
        [-1.25, 0.5, -2.0],
    ],
    "left": [0, 1, 2, 3, 4, 2, 1],
    "right": [1, 2, 3, 4, 0, 0, 4],
    "outcome": [1, -1, 0, 0, 1, 0, -1],
    "qid": ["a", "a", "b", "b", "a"],
    "grade": [2, 1, 2, 0, 0],
    "names": ["Zoë", "ada", "Cy Young", "dee", "=eve()"],
    "advantage": [1.0, 0.0, -1.0, 0.5, 1.0, 0.0, 2.0],
    "context": [[0.5], [-1.0], [0.0], [2.0], [0.25], [1.0], [-0.5]],
}
NAMES = np.array([*QUESTIONS["names"], "fay", "gil", "ÅÄÖ"])

# What they learn from.
N, P = len(NAMES), len(FEATURES)
_rng = np.random.default_rng(20221120)
ITEMS = _rng.normal(size=(N, P)).round(2)
LEFT = np.append(np.arange(N), _rng.integers(0, N, 32))
RIGHT = (LEFT + 1 + _rng.integers(0, N - 1, len(LEFT))) % N
TRUE = ITEMS @ [1.0, -0.5, 0.25]
_difference = TRUE[RIGHT] - TRUE[LEFT]
SEPARABLE = np.where(np.abs(_difference) < 0.6, 0, np.sign(_difference)).astype(int)
_noisy = _difference + _rng.logistic(scale=0.6, size=len(LEFT))
OUTCOME = np.where(np.abs(_noisy) < 0.5, 0, np.sign(_noisy)).astype(int)
WEIGHT = _rng.integers(1, 4, len(LEFT)) / 2
ADVANTAGE = _rng.integers(-1, 2, len(LEFT)).astype(float)
CONTEXT = _rng.normal(size=(len(LEFT), 1)).round(2)
RATER = np.array(["ann", "bob", "cy", "di"])[_rng.integers(0, 4, len(LEFT))]
PERIOD = np.sort(_rng.integers(1, 7, len(LEFT)))
ROWS = _rng.normal(size=(18, P)).round(2)
GRADE = np.clip(np.round(1.5 + ROWS @ [1.0, -0.5, 0.25]), 0, 3)
QID = np.array(["q1", "q2", "q3"])[np.arange(18) // 6]
LISTS = [[0, 1, [2, 3], 4], [5, 0, 7], [[1, 6], 3], [7, 2, 5, 6, 4], [4, 0], [6, 7, 1]]
NAMED_LISTS = [[NAMES[place].tolist() for place in places] for places in LISTS]

Fit = Callable[[Any], Any]


def as_frame(values: Any) -> pd.DataFrame:
    return pd.DataFrame(values, columns=FEATURES)


def gram(A: Any, B: Any) -> np.ndarray:
    return (1.0 + np.asarray(A) @ np.asarray(B).T) ** 2


# How items are given, to fit and to ask: what stands for a table of features.
TABLES: dict[str, Callable[[Any], Any]] = {
    "array": np.asarray,
    "frame": as_frame,
    "polars": lambda values: pl.DataFrame(np.asarray(values), schema=FEATURES),
    "sparse": lambda values: sp.csr_array(np.asarray(values)),
    "gram": lambda values: gram(values, ITEMS),
}


def fit_pairs(shape: str = "frame", y: Any = OUTCOME, **kwargs: Any) -> Fit:
    names = NAMES if shape == "identity" else None
    table = TABLES.get(shape, np.asarray)(ITEMS)
    return lambda model: model.fit(
        tb.Pairs(table, LEFT, RIGHT, names=names), y, **kwargs
    )


def fit_names(y: Any = OUTCOME, **kwargs: Any) -> Fit:
    pairs = tb.Pairs(None, NAMES[LEFT], NAMES[RIGHT])
    return lambda model: model.fit(pairs, y, **kwargs)


def fit_grades(shape: str = "frame", qid: Any = QID, y: Any = GRADE) -> Fit:
    kwargs = {} if qid is None else {"qid": qid}
    return lambda model: model.fit(TABLES[shape](ROWS), y, **kwargs)


def fit_orders(model: Any) -> Any:
    return model.fit(tb.Orders(as_frame(ITEMS), LISTS))


def fit_named_orders(model: Any) -> Any:
    return model.fit(tb.Orders(None, NAMED_LISTS))


def stream(model: Any) -> Any:
    for rows in (slice(0, 15), slice(15, None)):
        pairs = tb.Pairs(as_frame(ITEMS), LEFT[rows], RIGHT[rows])
        model.partial_fit(pairs, OUTCOME[rows])
    return model


def stream_names(model: Any) -> Any:
    for rows in (slice(0, 15), slice(15, None)):
        model.partial_fit(
            tb.Pairs(None, NAMES[LEFT[rows]], NAMES[RIGHT[rows]]), OUTCOME[rows]
        )
    return model


def request_weights(model: Any) -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        return model.set_fit_request(sample_weight=True)


SCORED = np.where(np.arange(18) % 3 < 2, GRADE, np.nan)  # the others are not scored
LINEAR = {"kernel": "linear"}
POLY = {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0}

# Name of the file: the model, how its items are given, and how it is fitted.
CASES: dict[str, tuple[Any, str, Fit]] = {
    "svm_compare_rbf": (tb.SVMCompare(C=3.0), "frame", fit_pairs()),
    "svm_compare_linear": (tb.SVMCompare(**LINEAR), "polars", fit_pairs("polars")),
    "svm_compare_names": (tb.SVMCompare(**LINEAR), "names", fit_names()),
    "svm_compare_poly": (tb.SVMCompare(**POLY), "sparse", fit_pairs("sparse")),
    "svm_compare_gram": (
        tb.SVMCompare(kernel="precomputed"),
        "gram",
        fit_pairs("gram"),
    ),
    "max_margin_lp": (tb.MaxMarginCompare(), "frame", fit_pairs(y=SEPARABLE)),
    "max_margin_qp": (tb.MaxMarginCompare("qp"), "frame", fit_pairs(y=SEPARABLE)),
    "max_margin_soft": (
        tb.MaxMarginCompare(C=2.0, kernel="rbf", gamma=0.5),
        "array",
        fit_pairs("array"),
    ),
    "logistic_davidson": (tb.LogisticCompare(0.3), "frame", fit_pairs()),
    "logistic_cumulative": (
        tb.LogisticCompare(0.3, link="cumulative"),
        "frame",
        fit_pairs(sample_weight=WEIGHT),
    ),
    "logistic_rbf": (
        tb.LogisticCompare(0.1, kernel="rbf"),
        "array",
        fit_pairs("array"),
    ),
    "logistic_names": (tb.LogisticCompare(0.3), "names", fit_names()),
    "logistic_identity": (
        tb.LogisticCompare(0.3, identity=0.9),
        "identity",
        fit_pairs("identity"),
    ),
    "logistic_stream": (tb.LogisticCompare(0.3), "frame", stream),
    "logistic_stream_names": (
        tb.LogisticCompare(0.3, link="cumulative"),
        "names",
        stream_names,
    ),
    "rank_svm_linear_hinge": (tb.RankSVM(**LINEAR), "frame", fit_grades()),
    "rank_svm_linear_squared": (
        tb.RankSVM(**LINEAR, loss="squared_hinge"),
        "frame",
        lambda model: request_weights(fit_grades()(model)),
    ),
    "rank_svm_rbf_hinge": (tb.RankSVM(), "frame", fit_pairs()),
    "rank_svm_rbf_squared": (
        tb.RankSVM(loss="squared_hinge"),
        "array",
        fit_grades("array"),
    ),
    "rank_svm_ties": (tb.RankSVM(ties="both"), "sparse", fit_pairs("sparse")),
    "rank_svm_drawn": (
        tb.RankSVM(**LINEAR, pairs_per_item=2, random_state=0),
        "frame",
        fit_grades(),
    ),
    "rank_svm_names": (tb.RankSVM(**LINEAR), "names", fit_names()),
    "rank_svm_orders": (tb.RankSVM(per_group="mean"), "frame", fit_orders),
    "swap_svm": (tb.SwapSVM(**LINEAR), "frame", fit_grades()),
    "swap_svm_rbf": (tb.SwapSVM(), "array", fit_grades("array")),
    "ordinal_svm": (tb.OrdinalSVM(), "frame", fit_grades(qid=None)),
    "ordinal_svm_linear": (tb.OrdinalSVM(**LINEAR), "array", fit_grades("array", None)),
    "order_svm": (tb.OrderSVM(), "frame", fit_orders),
    "order_svm_linear": (tb.OrderSVM(**LINEAR), "frame", fit_orders),
    "l1_ranker": (tb.L1Ranker(0.5), "frame", fit_grades()),
    "l1_ranker_item": (tb.L1Ranker(0.1, "item"), "array", fit_grades("array")),
    "l1_ranker_cv": (
        tb.L1RankerCV(n_alphas=5, cv=3, scoring="swapped_pairs"),
        "frame",
        fit_grades(),
    ),
    "rank_rls": (tb.RankRLS(0.5), "frame", fit_grades()),
    "rank_rls_linear": (tb.RankRLS(0.5, **LINEAR), "frame", fit_pairs()),
    "rank_rls_names": (tb.RankRLS(0.5, **LINEAR), "names", fit_names()),
    "ranking_pursuit": (tb.RankingPursuit(4), "frame", fit_grades()),
    "ranking_pursuit_plain": (
        tb.RankingPursuit(3, **LINEAR, backfit=False),
        "sparse",
        fit_pairs("sparse"),
    ),
    "matching_pursuit": (tb.MatchingPursuit(4), "frame", fit_grades(qid=None)),
    "co_ranking_pursuit": (
        tb.CoRankingPursuit(3),
        "frame",
        fit_grades(y=SCORED),
    ),
    "co_ranking_pursuit_shared": (
        tb.CoRankingPursuit(
            3,
            views=[{"columns": [0, 1], "gamma": 0.5}, {"columns": [2], **LINEAR}],
            indices="shared",
            objective="functions",
        ),
        "array",
        fit_grades("array", y=SCORED),
    ),
    "rank_boost": (tb.RankBoost(8), "frame", fit_grades()),
    "rank_boost_stump": (tb.RankBoost(8, weak="stump"), "frame", fit_pairs()),
    "hedge_order": (tb.HedgeOrder(n_rounds=5), "frame", fit_orders),
    "hedge_order_bayes": (
        tb.HedgeOrder(preference="naive_bayes"),
        "frame",
        fit_grades(),
    ),
    "expected_rank_regression": (tb.ExpectedRankRegression(), "frame", fit_orders),
    "expected_rank_regression_poly": (
        tb.ExpectedRankRegression(
            make_pipeline(PolynomialFeatures(2), LinearRegression())
        ),
        "frame",
        fit_grades(),
    ),
    "plackett_luce": (tb.PlackettLuce(0.1), "names", fit_named_orders),
    "plackett_luce_auto": (tb.PlackettLuce(), "names", fit_named_orders),
    "threshold_compare": (
        tb.ThresholdCompare(tb.RankSVM(**LINEAR)),
        "frame",
        fit_pairs(),
    ),
    "threshold_compare_names": (
        tb.ThresholdCompare(tb.RankSVM(**LINEAR)),
        "names",
        fit_names(),
    ),
    "threshold_compare_pipeline": (
        tb.ThresholdCompare(
            make_pipeline(tb.OnItems(StandardScaler()), tb.RankSVM(**LINEAR))
        ),
        "frame",
        fit_pairs(),
    ),
    "majority_compare": (tb.MajorityCompare(), "names", fit_names()),
    "majority_compare_tie": (tb.MajorityCompare(tie=True), "frame", fit_pairs()),
    "elo": (tb.Elo(), "names", fit_names()),
    "elo_fide": (
        tb.Elo("fide", advantage=35.0, unseen="prior"),
        "timed",
        fit_names(period=PERIOD, advantage=ADVANTAGE),
    ),
    "glicko": (tb.Glicko(), "names", fit_names()),
    "glicko_periods": (
        tb.Glicko(advantage=20.0),
        "timed",
        fit_names(period=PERIOD, advantage=ADVANTAGE, sample_weight=WEIGHT),
    ),
    "glicko2": (tb.Glicko2(), "names", fit_names()),
    "glicko2_periods": (tb.Glicko2(tau=0.3), "timed", fit_names(period=PERIOD)),
    "bradley_terry": (tb.BradleyTerry(alpha=0.1), "names", fit_names()),
    "bradley_terry_auto": (tb.BradleyTerry(), "names", fit_names(rater=RATER)),
    "bradley_terry_rao_kupper": (
        tb.BradleyTerry("rao-kupper", alpha=0.1),
        "names",
        fit_names(sample_weight=WEIGHT),
    ),
    "bradley_terry_no_ties": (
        tb.BradleyTerry(None, alpha=0.1),
        "names",
        fit_names(np.where(OUTCOME == 0, 1, OUTCOME)),
    ),
    "bradley_terry_advantage": (
        tb.BradleyTerry(alpha=0.1),
        "sided",
        fit_names(advantage=ADVANTAGE, rater=RATER),
    ),
    "bradley_terry_context": (
        tb.BradleyTerry("rao-kupper", alpha=0.1),
        "context",
        fit_names(advantage=ADVANTAGE, context=CONTEXT),
    ),
    "judges": (tb.JudgeBradleyTerry(), "names", fit_names(rater=RATER)),
    "nystroem_map": (
        tb.NystroemMap(gamma=0.5, n_landmarks=5, random_state=0),
        "frame",
        lambda model: model.fit(as_frame(ROWS)),
    ),
    "on_items": (tb.OnItems(StandardScaler()), "frame", fit_pairs()),
    "pipeline_scaler": (
        make_pipeline(tb.OnItems(StandardScaler()), tb.SVMCompare()),
        "frame",
        fit_pairs(),
    ),
    "pipeline_nystroem": (
        make_pipeline(
            tb.OnItems(StandardScaler()),
            tb.OnItems(tb.NystroemMap(gamma=0.5, n_landmarks=6, random_state=0)),
            tb.LogisticCompare(0.3),
        ),
        "array",
        fit_pairs("array"),
    ),
}

OF_ITEMS = (
    "utility",
    "predict",
    "view_utilities",
    "staged_utility",
    "order",
    "transform",
)
OF_PAIRS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "expected_score",
    "transform",
)
OF_STRENGTHS = (
    "standard_errors",
    "intervals",
    "covariance",
    "rank_intervals",
    "indistinct_groups",
)


def ask(model: Any, shape: str) -> dict[str, Any]:
    """Give the fitted attributes of a model and what it answers, as plain values.

    An answer that is an error is its type. Last come the utilities after more rows, for
    a model that goes on learning.
    """
    found = {
        name: plain(getattr(model, name))
        for name in sorted(dir(model))
        if name.endswith("_") and not name.startswith("_") and hasattr(model, name)
    }
    left, right = np.array(QUESTIONS["left"]), np.array(QUESTIONS["right"])
    y, qid = QUESTIONS["outcome"], QUESTIONS["qid"]
    beside: dict[str, Any] = {}
    if shape in ("names", "sided", "timed", "context"):
        items = np.array(QUESTIONS["names"])
        pairs = tb.Pairs(None, items[left], items[right])
        if shape != "names":
            beside["advantage"] = QUESTIONS["advantage"]
        if shape == "context":
            beside["context"] = np.array(QUESTIONS["context"])
    else:
        items = TABLES.get(shape, np.asarray)(QUESTIONS["items"])
        names = QUESTIONS["names"] if shape == "identity" else None
        pairs = tb.Pairs(items, left, right, names=names)

    def answer(name: str, of: str, *args: Any, **kwargs: Any) -> None:
        if hasattr(model, name):
            try:
                given = plain(getattr(model, name)(*args, **kwargs))
            except (AttributeError, TypeError, ValueError) as error:
                given = type(error).__name__
            found[f"{name}({of})"] = given

    for name in OF_ITEMS:
        answer(name, "items", items)
    for name in OF_PAIRS:
        answer(name, "pairs", pairs, **beside)
    for name in OF_STRENGTHS:
        answer(name, "")
    answer("order", "items, qid", items, qid)
    answer("score", "pairs", pairs, y, **beside)
    answer("score", "items", items, QUESTIONS["grade"], qid=qid)
    if shape == "identity":
        answer("utility", "items, names", items, names=QUESTIONS["names"])
    if shape in ("names", "sided"):
        answer("information", "", np.array([-1.0, 0.0, 0.5]))
    if hasattr(model, "transform"):
        answer("get_feature_names_out", "")
    found["requests"] = requests(model)
    if hasattr(model, "partial_fit"):
        if isinstance(model, tb.HedgeOrder):
            answer("partial_fit", "items", items, QUESTIONS["grade"], qid=qid)
        else:
            later = {"period": [9] * len(y)} if shape == "timed" else {}
            answer("partial_fit", "pairs", pairs, y, **later)
        answer("utility", "items, later", items)
        answer("decision_function", "pairs, later", pairs, **beside)
    return found


def plain(value: Any) -> Any:
    """Turn a value into plain lists and dicts, arrays with their type."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.name if value.dtype.kind in "biuf" else value.dtype.kind
        return {"dtype": kind, "values": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if sp.issparse(value):
        return {"sparse": value.format, **plain(value.toarray())}
    if isinstance(value, pl.DataFrame | pd.DataFrame):
        return {name: plain(value[name].to_numpy()) for name in value.columns}
    if isinstance(value, tb.Pairs):
        return {
            part: plain(getattr(value, part)) for part in ("values", "left", "right")
        }
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return [plain(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return type(value).__name__


def requests(model: Any) -> dict[str, Any]:
    """What metadata scikit-learn would pass to the methods of a model."""
    with sklearn.config_context(enable_metadata_routing=True):
        routing = model.get_metadata_routing()
    methods = ("fit", "partial_fit", "score")
    asked = {k: getattr(routing, k).requests for k in methods if hasattr(routing, k)}
    return {k: dict(sorted(names.items())) for k, names in asked.items() if names}


def make(folder: Path) -> None:
    """Fit and save every model."""
    for name, (model, _, fit) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about few rows and no ties
            fitted = fit(sklearn.clone(model))
        tb.save(fitted, folder / f"{name}.tiebreak")
