# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from tiebreak import LogisticCompare, Pairs, SVMCompare
from tiebreak.models import PersonalKernel, personal_pairs


def drawn(n=150, n_items=12, n_raters=9):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(n_items, 3)), rng.normal(size=(n_raters, 2))
    left = rng.integers(n_items, size=n)
    right = (left + rng.integers(1, n_items, size=n)) % n_items
    rater = rng.integers(n_raters, size=n)
    utility = X @ (np.array([[1.0], [0.0], [0.5]]) + rng.normal(size=(3, 2)) @ Z.T)
    d = utility[right, rater] - utility[left, rater] + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.4, 0, np.sign(d)).astype(int)
    return X, Z, Pairs(X, left, right), rater, y


@pytest.mark.parametrize("make", [LogisticCompare, SVMCompare])
def test_the_kernel_is_that_of_written_interactions(make):
    X, Z, pairs, rater, y = drawn()
    votes = personal_pairs(pairs, rater, Z)
    assert votes.items.values.shape[1] == 5
    assert votes.n_items <= 12 * 9
    model = make(0.5, kernel=PersonalKernel(3), tol=1e-10).fit(votes, y)
    with_one = np.hstack([np.ones((len(Z), 1)), Z])
    ends = np.stack([X[pairs.left], X[pairs.right]], axis=1)
    ends = np.einsum("nsp,nq->nspq", ends, with_one[rater]).reshape(len(y), 2, -1)
    plain = make(0.5, kernel="linear", tol=1e-10).fit(ends, y)
    assert model.difference(votes) == pytest.approx(plain.difference(ends), abs=1e-5)
    assert np.ptp(model.difference(votes)) > 1
    # A common utility cannot know who likes what.
    common = make(0.5, kernel="linear").fit(pairs, y)
    assert model.score(votes, y) > common.score(pairs, y) + 0.05


def test_what_raters_have_to_be():
    _, Z, pairs, rater, _ = drawn(20)
    with pytest.raises(ValueError, match=r"rater must be rows of raters, 0 to 8; .*9"):
        personal_pairs(pairs, np.append(rater[:-1], 9), Z)
    with pytest.raises(ValueError, match="expected a row of features for each rater"):
        personal_pairs(pairs, rater[:3], Z)
    with pytest.raises(TypeError, match="needs features of the items"):
        personal_pairs(Pairs(None, ["a"], ["b"]), [0], Z)
