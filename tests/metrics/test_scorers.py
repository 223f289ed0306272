# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from sklearn.metrics import get_scorer as get_sklearn_scorer

from tiebreak import DataWarning, LogisticCompare, Pairs, metrics
from tiebreak.metrics import get_scorer, scorer_names

NAMES = [
    "accuracy",
    "auc",
    "average_precision",
    "brier",
    "disagreement",
    "error",
    "expected_reciprocal_rank",
    "kendall_tau_b",
    "log_loss",
    "ndcg",
    "ranked_probability_score",
    "reciprocal_rank",
    "spearman_rho",
    "swapped_pairs",
    "top_k_precision",
]


def test_outcomes_that_scikit_learn_renumbered_are_scored_the_same():
    rng = np.random.default_rng(0)
    pairs = Pairs(rng.normal(size=(40, 2)), np.arange(20), np.arange(20, 40))
    y = rng.integers(-1, 2, 20)
    model = LogisticCompare().fit(pairs, y)
    with pytest.warns(DataWarning, match="read as left, tie and right"):
        renumbered = LogisticCompare().fit(pairs, y + 1)
    for name in ("error", "accuracy", "log_loss", "auc"):
        score = get_scorer(name)
        assert score(renumbered, pairs, y + 1) == score(model, pairs, y)


def test_names():
    assert scorer_names() == NAMES


def test_every_metric_has_a_scorer_and_every_scorer_a_metric():
    functions = {
        name
        for name in metrics.__all__
        if name.islower() and not name.endswith(("_scorer", "_names", "_curve"))
    } - {"comparison_units", "krippendorff_alpha"}  # of raters, not of models
    scored = {get_scorer(name).metric.__name__ for name in NAMES}
    assert scored == functions
    for function in functions:
        scorer = getattr(metrics, f"{function}_scorer")
        assert repr(scorer) == f"get_scorer({scorer.name!r})"
        assert scorer.metric is getattr(metrics, function)


@pytest.mark.parametrize("name", NAMES)
def test_better_answers_get_greater_scores(name):
    scorer = get_scorer(name)
    if isinstance(scorer, metrics.GradeScorer):
        y = [4, 3, 2, 1, 0]
        good, bad = [9, 8, 7, 5, 6], [1, 2, 3, 4, 5]
    else:
        y = [1, 0, -1, 1]
        good, bad = {
            "predict": ([1, 0, -1, 0], [-1, 0, 0, 0]),
            "difference": ([3, 1, -2, 2], [-3, 2, 2, 1]),
            "predict_proba": (
                np.eye(3)[[2, 1, 0, 2]] * 0.7 + 0.1,
                np.eye(3)[[0, 1, 2, 0]] * 0.7 + 0.1,
            ),
        }[scorer.response_method]
    assert scorer.from_response(y, good) > scorer.from_response(y, bad)


def test_a_name_gives_a_fresh_copy():
    assert get_scorer("ndcg") is not get_scorer("ndcg")
    assert get_scorer("ndcg", k=2).options == {"k": 2}
    assert get_scorer("ndcg").options == metrics.ndcg_scorer.options == {}


def test_callables_come_back_as_they_are():
    accuracy = get_sklearn_scorer("accuracy")
    assert get_scorer(accuracy) is accuracy
    assert get_scorer(metrics.ndcg_scorer) is metrics.ndcg_scorer


def test_errors():
    with pytest.raises(
        ValueError, match=r"unknown scorer 'acc'; expected one of accuracy, auc,"
    ):
        get_scorer("acc")
    with pytest.raises(TypeError, match="a scorer is a name or a callable; got 3"):
        get_scorer(3)
    with pytest.raises(TypeError, match=r"options \['k'\] need the name"):
        get_scorer(metrics.ndcg_scorer, k=3)
    with pytest.raises(ValueError, match=r"comparison_auc is a metric.*name 'auc'"):
        get_scorer(metrics.comparison_auc)
    with pytest.raises(TypeError, match="no option 'depth'; expected one of: k, gain"):
        get_scorer("ndcg", depth=3)
    with pytest.raises(TypeError, match=r"'error' has no option 'k'.*it has none"):
        get_scorer("error", k=3)
    with pytest.raises(TypeError, match=r"no option 'qid'.*belongs to the call"):
        get_scorer("ndcg", qid=[1])


def test_everything_public_is_exported():
    assert sorted(metrics.__all__) == metrics.__all__
    assert all(hasattr(metrics, name) for name in metrics.__all__)
