# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from sklearn.metrics import get_scorer as get_sklearn_scorer

from tiebreak import DataWarning, LogisticCompare, Pairs, metrics
from tiebreak.metrics import get_scorer, scorer_names

NAMES = scorer_names()


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


def test_every_metric_has_a_scorer_and_every_scorer_a_metric():
    functions = {
        name
        for name in metrics.__all__
        if name.islower() and not name.endswith(("_scorer", "_names", "_curve"))
    } - {"comparison_units", "krippendorff_alpha"}  # of raters, not of models
    assert {get_scorer(name).metric.__name__ for name in NAMES} == functions
    for name in NAMES:
        assert repr(get_scorer(name)) == f"get_scorer({name!r})"
        assert get_scorer(name) is not get_scorer(name)


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


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ("acc", {}, ValueError, "unknown scorer 'acc'; known are accuracy, auc,"),
        (3, {}, TypeError, "a scorer is a name.* or a callable; got 3"),
        (get_sklearn_scorer("accuracy"), {"k": 3}, TypeError, "and {'k': 3}"),
        ("ndcg", {"depth": 3}, TypeError, "'ndcg' has no option 'depth'"),
        ("ndcg", {"qid": [1]}, TypeError, "no option 'qid'"),
    ],
)
def test_errors(given, options, error, message):
    with pytest.raises(error, match=message):
        get_scorer(given, **options)
    accuracy = get_sklearn_scorer("accuracy")
    assert get_scorer(accuracy) is accuracy
