# SPDX-License-Identifier: BSD-3-Clause
"""The comparison problem, our way and the peer's way.

The peer is ``sklearn.svm.SVC(kernel="precomputed")`` (libsvm) on the explicit pair
kernel of the flipped data, which is how the method is used today. Its time includes
the kernel.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tiebreak import LogisticCompare, Pairs, SVMCompare
from tiebreak.datasets import make_norms


def make_problem(n: int, p: int, seed: int = 0):
    """Half ties; the utility depends on two features, the others are noise."""
    data = make_norms(n, norm=1, n_features=p, informative=2, random_state=seed)
    items = data.pairs.values
    pairs = data.pairs.with_items((items - items.mean(0)) / items.std(0))
    return pairs, data.y


def make_texts(n: int, n_items: int, n_words: int, seed: int = 0):
    """Comparisons of bags of 60 words, by frequency, whose weights sum to utilities."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, n_words + 1)
    word = rng.choice(n_words, size=(n_items, 60), p=often / often.sum())
    item = np.repeat(np.arange(n_items), 60)
    counts = sp.csr_array((np.ones(word.size), (item, word.ravel())))
    items = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    utility = items @ rng.normal(size=items.shape[1])
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = utility[right] - utility[left] + rng.normal(0, 0.5 * utility.std(), n)
    y = np.where(np.abs(d) <= np.quantile(np.abs(d), 0.3), 0, np.sign(d))
    return Pairs(sp.csr_array(items), left, right), y.astype(int)


def fit_ours(pairs, y, C: float) -> SVMCompare:
    """Fit with the default tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SVMCompare(C, gamma=1 / pairs.shape[2], tie_weight=1).fit(pairs, y)


def fit_logistic(pairs, y, C: float) -> LogisticCompare:
    """Fit the smooth model with the same kernel and penalty."""
    model = LogisticCompare(0.5 / C, kernel="rbf", gamma=1 / pairs.shape[2])
    return model.fit(pairs, y)


class Libsvm:
    """SVC on the explicit pair kernel, with its default tolerance."""

    def fit(self, pairs, y, C: float) -> Libsvm:
        """Flip, form the kernel from four blocks, and fit."""
        self.gamma = 1 / pairs.shape[2]
        L, R = pairs.values[pairs.left], pairs.values[pairs.right]
        self.left = np.vstack([L[y == 1], R[y == -1], L[y == 0], R[y == 0]])
        self.right = np.vstack([R[y == 1], L[y == -1], R[y == 0], L[y == 0]])
        self.label = np.r_[np.ones((y != 0).sum()), -np.ones(2 * (y == 0).sum())]
        K = self._pair_kernel(self.left, self.right)
        svc = SVC(kernel="precomputed", C=C).fit(K, self.label)
        self.coef = np.zeros(len(self.label))
        self.coef[svc.support_] = svc.dual_coef_[0]
        self.intercept = float(svc.intercept_[0])
        return self

    def _pair_kernel(self, left, right):
        K = rbf_kernel(right, self.right, gamma=self.gamma)
        K -= rbf_kernel(right, self.left, gamma=self.gamma)
        K -= rbf_kernel(left, self.right, gamma=self.gamma)
        K += rbf_kernel(left, self.left, gamma=self.gamma)
        return K

    def objective(self, C: float) -> float:
        """Primal value of what was found, with the best intercept for it."""
        K = self._pair_kernel(self.left, self.right)
        score = K @ self.coef
        label = self.label

        def loss(b: float) -> float:
            return float(np.maximum(0, 1 - label * (score + b)).sum())

        # The loss is convex and piecewise linear in b, with kinks at label - score.
        best = minimize_scalar(loss, bounds=(-50, 50), method="bounded").x
        near = (label - score)[np.abs(label - score - best).argsort()[:200]]
        return float(0.5 * self.coef @ score + C * min(map(loss, near)))

    def predict(self, pairs):
        """Outcomes of other comparisons."""
        L, R = pairs.values[pairs.left], pairs.values[pairs.right]
        d = self._pair_kernel(L, R) @ self.coef
        threshold = max(0.0, -self.intercept)
        return np.where(np.abs(d) <= threshold, 0, np.sign(d)).astype(int)


def fit_from_items(pairs, y, C: float) -> SVC:
    """Fit libsvm as an expert would: one kernel of the items, ties only mirrored."""
    K = rbf_kernel(pairs.values, gamma=1 / pairs.shape[2])
    D = K[pairs.right] - K[pairs.left]
    D = D[:, pairs.right] - D[:, pairs.left]
    won, tie = np.flatnonzero(y), np.flatnonzero(y == 0)
    row, one = np.r_[won, tie, tie], np.ones(len(tie))
    sign, label = np.r_[y[won], one, -one], np.r_[np.ones(len(won)), -one, -one]
    G = D[np.ix_(row, row)] * np.outer(sign, sign)
    return SVC(kernel="precomputed", C=C).fit(G, label)
