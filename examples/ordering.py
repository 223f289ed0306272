# SPDX-License-Identifier: BSD-3-Clause
"""Learn to sort from sorted lists: five methods on simulated lists.

The setting of table 2(a) of Kamishima, Kazawa and Akaho, "Supervised ordering: an
empirical survey": 300 lists of 10 of 1000 items, Spearman's ρ of lists that were held
out, theirs beside ours. Run it with ``python examples/ordering.py``; one argument is
the number of simulated utilities, 10 in the survey.
"""

import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from tiebreak import (
    ExpectedRankRegression,
    HedgeOrder,
    OrderSVM,
    RankBoost,
    RankSVM,
)
from tiebreak.datasets import make_orders
from tiebreak.metrics import spearman_rho

PUBLISHED = {
    "li/num": (0.860, 0.959, 0.914, 0.886, 0.982),
    "li/bin": (0.966, 0.978, 0.885, 0.868, 0.895),
    "nl/num": (0.682, 0.763, 0.911, 0.878, 0.935),
    "nl/bin": (0.786, 0.875, 0.866, 0.842, 0.830),
}


def make_models() -> dict:
    """Make the five methods with the settings of the survey."""
    terms = PolynomialFeatures(2, include_bias=False)
    return {
        "Cohen": HedgeOrder(beta=0.9),
        "RankBoost": RankBoost(100, feedback="majority"),
        "SVOR": RankSVM(C=1.0, gamma=0.5),
        "Order SVM": OrderSVM(C=0.1, coupling=1.0, gamma=0.5),
        "ERR": ExpectedRankRegression(make_pipeline(terms, LinearRegression())),
    }


def judge(model: object, data: object, name: str, n_folds: int) -> float:
    """Mean ρ between the orders that the model gives and the true ones."""
    orders, scores = data.orders, []
    if name == "RankBoost":  # its weak rankers are terms of scaled attributes
        terms = make_pipeline(MinMaxScaler(), PolynomialFeatures(2, include_bias=False))
        orders = orders.with_items(terms.fit_transform(orders.values))
    folds = KFold(n_folds, shuffle=True, random_state=0)
    for train, test in folds.split(np.arange(len(orders))):
        model.fit(orders[train])
        for row in test:
            items = orders.flat[orders.indptr[row] : orders.indptr[row + 1]]
            place = np.empty(len(items))
            place[model.order(orders.values[items])] = np.arange(len(items))
            scores.append(spearman_rho(place, np.arange(len(items))))
    return float(np.mean(scores))


def main(n_draws: int = 2, n_folds: int = 2, n_orders: int = 300) -> None:
    """Print ρ and seconds of every method on every kind of data."""
    console = Console()
    for name, published in PUBLISHED.items():
        table = Table(title=f"{name}: {n_draws} utilities, {n_folds} folds")
        for column in ("method", "ρ, survey", "ρ, ours", "seconds"):
            table.add_column(column, justify="right")
        draws = [
            make_orders(
                n_orders,
                10,
                attributes="numeric" if name.endswith("num") else "binary",
                degree=1 if name.startswith("li") else 2 + draw % 2,
                random_state=draw,
            )
            for draw in range(n_draws)
        ]
        for (method, model), theirs in zip(
            make_models().items(), published, strict=True
        ):
            start = time.perf_counter()
            rho = np.mean([judge(model, data, method, n_folds) for data in draws])
            seconds = time.perf_counter() - start
            table.add_row(method, f"{theirs:.3f}", f"{rho:.3f}", f"{seconds:.1f}")
        console.print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
