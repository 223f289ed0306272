# SPDX-License-Identifier: BSD-3-Clause
"""Models that version 0.1.0 saved are read, and answer as they did.

``make_models`` says how the files were made.
"""

import inspect
import json
from functools import partial
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import tiebreak
from tests.persistence.make_models import (
    CASES,
    FOLDER,
    OF_STRENGTHS,
    QUESTIONS,
    ask,
)
from tiebreak.metrics.scorers import difference_of

# The files also hold steps of the scikit-learn that was there.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
    pytest.mark.filterwarnings("ignore:OrdinalSVM.predict_grade:FutureWarning"),
]

CONTENT = json.loads((FOLDER / "predictions.json").read_text("utf-8"))
MODELS = CONTENT["models"]
FILES = sorted(FOLDER.glob("*.tiebreak"))

# Estimators that version 0.1.0 did not have, and attributes that its models had not.
NEWER = {"BoostedUtility", "JudgeBradleyTerry", "WithoutTies"}
NEWER_ANSWERS = {"advantage_", "predict_log_proba(pairs)", "standard_errors()"}
COVARIATES = {"advantage", "context"}
NEWER_REQUESTS = {
    "BradleyTerry": {"fit": {"period"}, "score": COVARIATES},
    "LogisticCompare": {"fit": COVARIATES, "score": COVARIATES},
}

POSTERIOR = ("standard_errors", "intervals", "rank_", "covariance", "indistinct_")

# Answers are a few products and sums. What takes the solution of linear equations
# may differ by more when another library solves them.
RTOL, RTOL_OF_EQUATIONS = 1e-12, 1e-9


def assert_same(found, expected, rtol, where):
    """Compare what `make_models.plain` gives, numbers to a tolerance."""
    if isinstance(expected, dict) and "dtype" in expected:
        assert {**found, "values": 0} == {**expected, "values": 0}, where
        if expected["dtype"].startswith("float"):
            a, b = np.array(found["values"]), np.array(expected["values"])
            finite = np.abs(b[np.isfinite(b)])
            size = finite.max() if finite.size else 0.0
            np.testing.assert_allclose(a, b, rtol, rtol * size, err_msg=where)
        else:
            assert_same(found["values"], expected["values"], rtol, where)
    elif isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name in expected:
            assert_same(found[name], expected[name], rtol, f"{where}[{name!r}]")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for row, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_same(a, b, rtol, f"{where}[{row}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=rtol, abs=0, nan_ok=True), where
    else:
        assert (type(found), found) == (type(expected), expected), where


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_model_answers_as_it_did(path):
    case = MODELS[path.stem]
    model = tiebreak.load(path)
    # What was its decision function is the difference now.
    methods = {"decision_function": partial(difference_of, model)}
    found, expected = ask(model, case["shape"], methods), case["answers"]
    if isinstance(model, tiebreak.OrdinalSVM):  # whose prediction was the utility
        assert found["predict(items)"] == found["predict_grade(items)"]
        found["predict(items)"] = found["utility(items)"]
    assert set(expected) <= set(found)
    assert set(found) - set(expected) <= NEWER_ANSWERS
    for method, names in NEWER_REQUESTS.get(type(model).__name__, {}).items():
        for name in names:
            assert found["requests"][method].pop(name) is True
            expected["requests"][method].pop(name, None)
    if getattr(model, "alpha", 0) and hasattr(model, "strength_"):
        # With a penalty these are the posterior's now.
        expected = {q: a for q, a in expected.items() if not q.startswith(POSTERIOR)}
    for question, answer in expected.items():
        solved = question.startswith(OF_STRENGTHS)
        rtol = RTOL_OF_EQUATIONS if solved else RTOL
        assert_same(found[question], answer, rtol, question)


@pytest.mark.extended
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_model_can_be_saved_again(path, tmp_path):
    model = tiebreak.load(path)
    again = tiebreak.load(tiebreak.save(model, tmp_path / "model"))
    shape = MODELS[path.stem]["shape"]
    assert ask(again, shape) == ask(tiebreak.load(path), shape)


def parts(value):
    """Give the types of all estimators in a fitted model."""
    if isinstance(value, BaseEstimator):
        yield type(value)
        value = list(vars(value).values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from parts(part)


def test_no_estimator_is_forgotten():
    estimators = {
        name
        for name in tiebreak.__all__
        if inspect.isclass(kind := getattr(tiebreak, name))
        and issubclass(kind, BaseEstimator)
    }
    saved = {kind.__name__ for path in FILES for kind in parts(tiebreak.load(path))}
    assert len(estimators) > 20
    assert estimators - saved == NEWER


def test_files_and_answers_belong_together():
    assert {path.stem for path in FILES} == set(MODELS) == set(CASES)
    assert CONTENT["questions"] == QUESTIONS
    assert CONTENT["version"] == "0.1.0"
    for path in FILES:
        with ZipFile(path) as archive:
            assert json.loads(archive.read("tiebreak.json"))["tiebreak"] == "0.1.0"
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
