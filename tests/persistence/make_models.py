# SPDX-License-Identifier: BSD-3-Clause
"""Save one model of every class and kind of data, and use everything that it has."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tiebreak as tb

N, P = 8, 3
NAMES = np.array(["Zoë", "ada", "Cy Young", "dee", "=eve()", "fay", "gil", "ÅÄÖ"])
_rng = np.random.default_rng(20221120)
ITEMS = _rng.normal(size=(N, P)).round(2)
LEFT = np.append(np.arange(N), _rng.integers(0, N, 32))
RIGHT = (LEFT + 1 + _rng.integers(0, N - 1, len(LEFT))) % N
_difference = (ITEMS[RIGHT] - ITEMS[LEFT]) @ [1.0, -0.5, 0.25]
SEPARABLE = np.where(np.abs(_difference) < 0.6, 0, np.sign(_difference)).astype(int)
_noisy = _difference + _rng.logistic(scale=0.6, size=len(LEFT))
OUTCOME = np.where(np.abs(_noisy) < 0.5, 0, np.sign(_noisy)).astype(int)
ADVANTAGE = _rng.integers(-1, 2, len(LEFT)).astype(float)
CONTEXT = _rng.normal(size=(len(LEFT), 1)).round(2)
RATER = np.array(["ann", "bob", "cy", "di"])[_rng.integers(0, 4, len(LEFT))]
PERIOD = np.sort(_rng.integers(1, 7, len(LEFT)))
ROWS = _rng.normal(size=(18, P)).round(2)
GRADE = np.clip(np.round(1.5 + ROWS @ [1.0, -0.5, 0.25]), 0, 3)
SCORED = np.where(np.arange(18) % 3 < 2, GRADE, np.nan)  # the others are not scored
QID = np.arange(18) // 6
LISTS = [[0, 1, [2, 3], 4], [5, 0, 7], [[1, 6], 3], [7, 2, 5, 6, 4], [4, 0], [6, 7, 1]]

TABLES: dict[str, Callable[[Any], Any]] = {
    "frame": lambda values: pd.DataFrame(values, columns=["sweet", "salty", "größe"]),
    "array": np.asarray,
    "sparse": sp.csr_array,
    "gram": lambda values: (1.0 + values @ ITEMS.T) ** 2,
}


def pairs(shape: str, rows: slice = slice(None)) -> tb.Pairs:
    """Give comparisons of items with features, with names, or with both."""
    if shape == "names":
        return tb.Pairs(None, NAMES[LEFT[rows]], NAMES[RIGHT[rows]])
    names = NAMES if shape == "identity" else None
    return tb.Pairs(
        TABLES.get(shape, np.asarray)(ITEMS), LEFT[rows], RIGHT[rows], names
    )


def compared(
    model: Any, shape: str = "frame", y: Any = OUTCOME, **columns: Any
) -> tuple[Any, str, Callable[[Any], Any]]:
    return model, shape, lambda m: m.fit(pairs(shape), y, **columns)


def graded(model: Any, shape: str = "frame", y: Any = GRADE, qid: Any = QID) -> Any:
    groups = {} if qid is None else {"qid": qid}
    return model, shape, lambda m: m.fit(TABLES[shape](ROWS), y, **groups)


def listed(model: Any) -> Any:
    return model, "frame", lambda m: m.fit(tb.Orders(TABLES["frame"](ITEMS), LISTS))


def listed_names(model: Any) -> Any:
    lists = [[NAMES[place].tolist() for place in places] for places in LISTS]
    return model, "names", lambda m: m.fit(tb.Orders(None, lists))


def streamed(model: Any, shape: str = "frame") -> Any:
    halves = (slice(0, 15), slice(15, None))
    return (
        model,
        shape,
        lambda m: [m.partial_fit(pairs(shape, rows), OUTCOME[rows]) for rows in halves][
            -1
        ],
    )


LINEAR: Any = {"kernel": "linear"}
VIEWS = [{"columns": [0, 1], "gamma": 0.5}, {"columns": [2], **LINEAR}]
# The model, how its items are given, and how it is fitted.
CASES: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "svm_rbf": compared(tb.SVMCompare(C=3.0)),
    "svm_names": compared(tb.SVMCompare(**LINEAR), "names"),
    "svm_poly": compared(tb.SVMCompare(kernel="poly", degree=2), "sparse"),
    "svm_gram": compared(tb.SVMCompare(kernel="precomputed"), "gram"),
    "max_margin": compared(tb.MaxMarginCompare(), y=SEPARABLE),
    "max_margin_soft": compared(tb.MaxMarginCompare(C=2.0, kernel="rbf"), "array"),
    "logistic": compared(tb.LogisticCompare(0.3)),
    "logistic_rbf": compared(tb.LogisticCompare(0.1, kernel="rbf"), "array"),
    "logistic_identity": compared(tb.LogisticCompare(0.3, identity=0.9), "identity"),
    "logistic_probit": compared(tb.LogisticCompare(0.3, link="probit")),
    "logistic_stream": streamed(tb.LogisticCompare(0.3)),
    "logistic_stream_names": streamed(tb.LogisticCompare(link="cumulative"), "names"),
    "rank_svm_linear": graded(tb.RankSVM(**LINEAR)),
    "rank_svm_rbf": compared(tb.RankSVM(ties="both"), "sparse"),
    "rank_svm_names": compared(tb.RankSVM(**LINEAR), "names"),
    "rank_svm_orders": listed(tb.RankSVM(per_group="mean")),
    "swap_svm": graded(tb.SwapSVM(), "array"),
    "ordinal_svm": graded(tb.OrdinalSVM(), qid=None),
    "ordinal_svm_linear": graded(tb.OrdinalSVM(**LINEAR), qid=None),
    "order_svm": listed(tb.OrderSVM()),
    "order_svm_linear": listed(tb.OrderSVM(**LINEAR)),
    "l1_ranker": graded(tb.L1Ranker(0.5)),
    "l1_ranker_cv": graded(tb.L1RankerCV(n_alphas=5, cv=3)),
    "rank_rls": graded(tb.RankRLS(0.5)),
    "rank_rls_linear": compared(tb.RankRLS(0.5, **LINEAR)),
    "ranking_pursuit": graded(tb.RankingPursuit(4)),
    "ranking_pursuit_plain": compared(tb.RankingPursuit(3, backfit=False), "sparse"),
    "matching_pursuit": graded(tb.MatchingPursuit(4), qid=None),
    "co_ranking_pursuit": graded(tb.CoRankingPursuit(3), y=SCORED),
    "co_ranking_pursuit_shared": graded(
        tb.CoRankingPursuit(3, views=VIEWS, indices="shared"), "array", SCORED
    ),
    "rank_boost": graded(tb.RankBoost(8)),
    "rank_boost_stump": compared(tb.RankBoost(8, weak="stump")),
    "hedge_order": listed(tb.HedgeOrder(n_rounds=5)),
    "hedge_order_bayes": graded(tb.HedgeOrder(preference="naive_bayes")),
    "expected_rank_regression": listed(tb.ExpectedRankRegression()),
    "plackett_luce": listed_names(tb.PlackettLuce(0.1)),
    "plackett_luce_auto": listed_names(tb.PlackettLuce()),
    "threshold_compare": compared(tb.ThresholdCompare(tb.RankSVM(**LINEAR)), "names"),
    "majority_compare": compared(tb.MajorityCompare(), "names"),
    "elo": compared(tb.Elo(), "names"),
    "elo_fide": compared(
        tb.Elo("fide", unseen="prior"), "names", period=PERIOD, advantage=ADVANTAGE
    ),
    "glicko_periods": compared(
        tb.Glicko(), "names", period=PERIOD, sample_weight=np.abs(ADVANTAGE)
    ),
    "glicko2": compared(tb.Glicko2(tau=0.3), "names"),
    "bradley_terry": compared(tb.BradleyTerry(alpha=0.1), "names"),
    "bradley_terry_auto": compared(tb.BradleyTerry(), "names", rater=RATER),
    "bradley_terry_context": compared(
        tb.BradleyTerry("rao-kupper"), "names", advantage=ADVANTAGE, context=CONTEXT
    ),
    "bradley_terry_probit": compared(tb.BradleyTerry(link="probit"), "names"),
    "judges": compared(tb.JudgeBradleyTerry(), "names", rater=RATER),
    "nystroem_map": graded(tb.NystroemMap(n_landmarks=5, random_state=0), qid=None),
    "pipeline": compared(
        make_pipeline(
            tb.OnItems(StandardScaler()),
            tb.OnItems(tb.NystroemMap(gamma=0.5, n_landmarks=6, random_state=0)),
            tb.LogisticCompare(0.3),
        ),
        "array",
    ),
}

OF_ITEMS = ("utility", "predict", "view_utilities", "staged_utility", "order")
OF_PAIRS = ("predict", "decision_function", "predict_proba", "expected_score")
OF_STRENGTHS = ("standard_errors", "covariance", "rank_intervals")


def use(model: Any, shape: str) -> int:
    """Read every attribute, call every method, and count what answers.

    Errors of Python are fine. An index out of bounds in compiled code is not; numba
    makes it an IndexError if it checks bounds.
    """
    items = NAMES if shape == "names" else TABLES.get(shape, np.asarray)(ITEMS)
    rows = slice(0, 12)
    timed = "period" in vars(model).get("_log", {})
    later = {"period": np.full(12, 9)} if timed else {}
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        *((name, (items,), {}) for name in (*OF_ITEMS, "transform")),
        *((name, (pairs(shape, rows),), {}) for name in OF_PAIRS),
        *((name, (), {}) for name in OF_STRENGTHS),
        (
            "predict_proba",
            (pairs(shape),),
            {"advantage": ADVANTAGE, "context": CONTEXT},
        ),
        ("score", (pairs(shape), OUTCOME), {}),
        ("information", (np.array([-1.0, 0.0, 0.5]),), {}),
        ("log_likelihood", (pairs(shape), OUTCOME), {}),
        ("partial_fit", (pairs(shape, rows), OUTCOME[rows]), later),
        ("partial_fit", (items, np.arange(N)), {}),
        ("predict", (pairs(shape, rows),), {}),
    ]
    properties = [
        k for k, v in inspect.getmembers(type(model)) if isinstance(v, property)
    ]
    n_answers = 0
    for name, args, columns in [*((name, (), {}) for name in properties), *calls]:
        try:
            value = getattr(model, name)
            if name not in properties:
                value(*args, **columns)
            n_answers += 1
        except IndexError as error:
            if str(error) == "index is out of bounds":  # as numba says it
                raise
        except Exception:
            pass
    return n_answers


def make(folder: Path) -> None:
    """Fit and save every model."""
    for name, (model, _, fit) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about few rows and no ties
            tb.save(fit(sklearn.clone(model)), folder / f"{name}.tiebreak")
