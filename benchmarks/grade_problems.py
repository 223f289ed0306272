# SPDX-License-Identifier: BSD-3-Clause
"""Graded items to rank, our way and the ways of two peers.

One peer is ``sklearn.svm.LinearSVC`` on the explicit differences of all pairs, which is
how rankSVM is done with scikit-learn. The other is a rankSVM in C++, which no package
index has: `CompiledRanker` tells how to bring one.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

import numpy as np
from sklearn.svm import LinearSVC

from tiebreak import RankSVM
from tiebreak.losses import GradeSquaredHinge, GradeTree

LIBRARY = "TIEBREAK_RANKSVM"


@dataclass(frozen=True)
class Graded:
    """Items of five grades, in groups of about equal size."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    @property
    def C(self) -> float:  # noqa: N802
        """One over the size of a group, so that an item weighs about as much as any."""
        return (self.qid[-1] + 1) / len(self.y)

    @property
    def megabytes(self) -> float:
        """What the data take."""
        return (self.X.nbytes + self.y.nbytes + self.qid.nbytes) / 1e6

    def objective(self, w: np.ndarray) -> float:
        """½‖w‖² + C Σ max(0, 1 - w·(x_i - x_j))² over all pairs of a group."""
        tree = GradeTree(self.y, self.qid, np.ones(len(self.y)))
        return 0.5 * w @ w + self.C * GradeSquaredHinge(tree).expand(self.X @ w)[0]


def make_graded(n: int, n_groups: int = 1, p: int = 50, seed: int = 0) -> Graded:
    """Five grades of a noisy linear utility of correlated features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    X /= X.std(axis=0)
    u = X @ rng.standard_normal(p)
    u += u.std() * rng.standard_normal(n)
    y = np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8])).astype(np.float64)
    return Graded(X, y, np.arange(n) * n_groups // n)


def fit_ours(data: Graded, tol: float = 1e-4) -> RankSVM:
    """Fit the squared hinge to a relative gap."""
    model = RankSVM(data.C, kernel="linear", loss="squared_hinge", tol=tol)
    return model.fit(data.X, data.y, qid=data.qid)


def fit_linear_svc(data: Graded, both_signs: bool) -> np.ndarray:
    """Weights by LinearSVC on the differences of all pairs of one group.

    A classifier needs two classes: every pair in both directions, with half of C, or
    every other pair turned round, which is half the work.
    """
    better, worse = np.nonzero(data.y[:, None] > data.y)
    if both_signs:
        better, worse = np.append(better, worse), np.append(worse, better)
        sign = np.repeat([1, -1], len(better) // 2)
        C = data.C / 2
    else:
        sign = np.where(np.arange(len(better)) % 2, -1, 1)
        better, worse = np.where(sign > 0, [better, worse], [worse, better])
        C = data.C
    difference = data.X[better] - data.X[worse]
    svc = LinearSVC(C=C, loss="squared_hinge", fit_intercept=False, dual=False)
    return svc.fit(difference, sign).coef_[0]


class CompiledRanker:
    """A rankSVM in C++ behind three functions in a shared library.

    ``$TIEBREAK_RANKSVM`` names the library. It exports::

        void *rank_prepare(int n, int p, const double *X, const double *y,
                           const int *query);
        void rank_train(void *problem, double C, double eps, double *w,
                        int *n_iter, int *n_products);
        void rank_free(void *problem);

    ``rank_prepare`` copies the data to whatever form the program works on, and its time
    is not counted. ``rank_train`` minimizes the objective of `Graded` until the
    gradient is ``eps`` times that at zero.
    """

    def __init__(self, data: Graded) -> None:
        self.library = ctypes.CDLL(os.environ[LIBRARY])
        self.library.rank_prepare.restype = ctypes.c_void_p
        self.n_features, self.C = data.X.shape[1], data.C
        self.problem = ctypes.c_void_p(
            self.library.rank_prepare(
                *data.X.shape,
                np.ascontiguousarray(data.X).ctypes.data_as(ctypes.c_void_p),
                np.ascontiguousarray(data.y).ctypes.data_as(ctypes.c_void_p),
                data.qid.astype(np.intc).ctypes.data_as(ctypes.c_void_p),
            )
        )

    def train(self, eps: float) -> np.ndarray:
        """Train, and give the weights."""
        w = np.zeros(self.n_features)
        n_iter, n_products = ctypes.c_int(), ctypes.c_int()
        self.library.rank_train(
            self.problem,
            ctypes.c_double(self.C),
            ctypes.c_double(eps),
            w.ctypes.data_as(ctypes.c_void_p),
            ctypes.byref(n_iter),
            ctypes.byref(n_products),
        )
        self.n_iter, self.n_products = n_iter.value, n_products.value
        return w
