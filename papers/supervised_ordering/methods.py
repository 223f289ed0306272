# SPDX-License-Identifier: BSD-3-Clause
"""The five methods of the survey, with its settings, and how they are judged."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from papers.experiment import generator
from tiebreak import (
    ExpectedRankRegression,
    HedgeOrder,
    OnItems,
    Orders,
    OrderSVM,
    RankBoost,
    RankSVM,
)
from tiebreak.datasets.simulated import swap_once

__all__ = ["METHODS", "add_swaps", "cross_validate", "cut_short", "make_method"]

METHODS = ("cohen", "rb", "svor", "osvm", "err")
MORE = ("cohen-95", "cohen-bayes", "rb-300", "rb-1000", "rb-stump", "err-linear")
# exp(-‖x - x'‖² / (2 σ²)) with σ = 1.
GAMMA = 0.5


def _terms(degree: int = 2) -> PolynomialFeatures:
    return PolynomialFeatures(degree, include_bias=False)


def make_method(name: str) -> Any:
    """Make a method with the settings of the survey, or others after a hyphen.

    Such as ``"svor-10"`` (C), ``"osvm-1"`` (C), ``"rb-300"`` (rounds) and ``"err-3"``
    (degree). Cohen's is not run "until the loss is stationary": then a single attribute
    is left.
    """
    kind, _, detail = name.partition("-")
    if kind == "cohen":
        if detail == "bayes":
            return HedgeOrder(preference="naive_bayes")
        return HedgeOrder(n_rounds=int(detail or 30))
    if kind == "rb":
        if detail == "stump":
            return RankBoost(300, weak="stump")
        terms = OnItems(make_pipeline(MinMaxScaler(), _terms()))
        if detail == "lists":
            return make_pipeline(terms, RankBoost(100))
        rounds = int(detail or 100)
        return make_pipeline(terms, RankBoost(rounds, feedback="majority"))
    if kind == "svor":
        return RankSVM(C=float(detail or 1.0), gamma=GAMMA)
    if kind == "osvm":
        return OrderSVM(C=float(detail or 0.1), coupling=1.0, gamma=GAMMA)
    degree = 1 if detail == "linear" else int(detail or 2)
    return ExpectedRankRegression(make_pipeline(_terms(degree), LinearRegression()))


def cut_short(orders: Orders, length: int, rng: np.random.Generator) -> Orders:
    """Leave `length` random items in every list, in their order."""
    if (orders.lengths <= length).all():
        return orders
    lists = []
    for row in range(len(orders)):
        own = orders.flat[orders.indptr[row] : orders.indptr[row + 1]]
        kept = np.sort(rng.permutation(len(own))[:length])
        lists.append(own[kept].tolist())
    return Orders(orders.items, lists)


def add_swaps(orders: Orders, n_swaps: float, rng: np.random.Generator) -> Orders:
    """Swap random neighbors in lists of one length, on average so many times."""
    n, length = len(orders), int(orders.lengths[0])
    counts = math.floor(n_swaps) + (rng.random(n) < n_swaps % 1)
    flat, starts = orders.flat.copy(), length * np.arange(n)
    for swap in range(int(counts.max(initial=0))):
        swap_once(flat, starts[counts > swap], length, rng)
    return Orders(orders.items, flat.reshape(n, length).tolist())


def cross_validate(
    method: str,
    orders: Orders,
    exact: Orders,
    length: int,
    n_folds: int,
    seed: int,
    n_swaps: float = 0.0,
) -> dict[str, float]:
    """Mean Spearman ρ of the lists of every fold, learned from the other folds.

    Parameters
    ----------
    method : str
        Its name.
    orders : Orders
        Lists to learn from and to be judged by.
    exact : Orders
        The same lists without noise.
    length : int
        Items to which training lists are cut.
    n_folds : int
        Folds of lists.
    seed : int
        Which folds.
    n_swaps : float, default=0.0
        Mean number of swaps of neighbors in a list to learn from, after it is cut.

    Returns
    -------
    dict
        ``empirical`` (against the lists), ``true`` (against those without noise),
        ``top3`` (share of the three best that are found), ``fit`` and ``predict``
        seconds of one fold.
    """
    rng = generator("folds", seed, len(orders))
    fold = rng.permutation(np.arange(len(orders)) % n_folds)
    short = cut_short(orders, length, rng)
    if n_swaps:
        short = add_swaps(short, n_swaps, rng)
    found: dict[str, list[float]] = {"empirical": [], "true": [], "top3": []}
    seconds = [0.0, 0.0]
    for held_out in range(n_folds):
        model, start = make_method(method), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(short[fold != held_out])
        seconds[0] += time.process_time() - start
        start = time.process_time()
        for row in np.flatnonzero(fold == held_out):
            own = slice(orders.indptr[row], orders.indptr[row + 1])
            items = orders.flat[own]
            place = _places(model, orders.values[items])
            better = np.arange(len(items))
            found["empirical"].append(_spearman(place, better))
            true = exact.flat[own]
            wanted = np.searchsorted(np.sort(true), true)
            right = np.empty(len(true))
            right[wanted] = np.arange(len(true))
            ours = right[np.searchsorted(np.sort(true), items)]
            found["true"].append(_spearman(place, ours))
            found["top3"].append(float(np.mean(np.argsort(place)[:3] < 3)))
        seconds[1] += time.process_time() - start
    means = {name: float(np.mean(values)) for name, values in found.items()}
    return means | {"fit": seconds[0] / n_folds, "predict": seconds[1] / n_folds}


def _places(model: Any, values: np.ndarray) -> np.ndarray:
    """Give the place that each item gets, from 0."""
    if hasattr(model, "order"):
        best_first = model.order(values)
    else:
        best_first = np.argsort(-model.predict(values), kind="stable")
    place = np.empty(len(values))
    place[best_first] = np.arange(len(values))
    return place


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's ρ of two permutations."""
    n = len(a)
    return float(1.0 - 6.0 * np.sum((a - b) ** 2) / (n**3 - n))
