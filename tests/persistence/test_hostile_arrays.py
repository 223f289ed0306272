# SPDX-License-Identifier: BSD-3-Clause
"""Model files whose arrays lie: refused, or answered with finite numbers.

``fuzz_models`` overwrites the arrays, in a process of its own: a compiled loop that
trusts a wrong index would end the process that runs it.
"""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from tests.extended import RUNS_ALL
from tests.persistence.fuzz_models import main
from tests.persistence.make_models import (
    CASES,
    FOLDER,
    QUESTIONS,
    RATER,
    TABLES,
    fit_named_orders,
    fit_names,
)
from tiebreak import (
    BradleyTerry,
    JudgeBradleyTerry,
    Pairs,
    PlackettLuce,
    load,
    save,
)
from tiebreak.persistence.checks import STATE
from tiebreak.persistence.files import estimators

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.InconsistentVersionWarning"
)
# With what version 0.1 did not learn; and those of them that run by default, because
# their arrays are indices, or go into compiled loops.
NEWER = {
    "bradley_terry_auto": lambda: fit_names(rater=RATER)(BradleyTerry()),
    "judges": lambda: fit_names(rater=RATER)(JudgeBradleyTerry()),
    "plackett_luce_auto": lambda: fit_named_orders(PlackettLuce()),
}
SHORT = ("plackett_luce_auto", "elo_fide", "rank_boost", "logistic_stream_names")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of version 0.1 and newer ones."""
    folder = tmp_path_factory.mktemp("models")
    for path in FOLDER.glob("*.tiebreak"):
        (folder / path.name).write_bytes(path.read_bytes())
    for name, fit in NEWER.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(fit(), folder / f"{name}.tiebreak")
    return folder


@pytest.mark.extended
def test_changed_arrays_are_refused_or_answer(folder):
    words = [str(folder), "1/1"] if RUNS_ALL else [str(folder), "1/13", *SHORT]
    command = [sys.executable, "-m", main.__module__, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1]} ended in {done.returncode}"
    wrong = [line for line in lines if not line.endswith((": refused", ": answers"))]
    # scikit-learn's own scalers may hold NaN; what they transform is then NaN, and
    # models behind them refuse it.
    known = ": transform(items) is not finite"
    wrong = [w for w in wrong if not ("transformer_." in w and w.endswith(known))]
    assert wrong == []
    ends = [line.rpartition(": ")[2] for line in lines]
    assert ends.count("refused") > len(ends) // 2
    assert len(lines) > (5_000 if RUNS_ALL else 30)


def test_a_scaler_that_holds_nan(tmp_path):
    """What SECURITY.md says of it."""
    model = load(FOLDER / "pipeline_scaler.tiebreak")
    model.steps[0][1].transformer_.mean_[0] = np.nan
    changed = load(save(model, tmp_path / "model"))
    items = TABLES["frame"](QUESTIONS["items"])
    with pytest.raises(ValueError, match="finite"):
        changed.predict(Pairs(items, [0, 1], [1, 2]))
    scaled = changed.steps[0][1].transform(items)
    assert np.isnan(np.asarray(scaled)).any()


@pytest.mark.parametrize("value", [2**31, -20_000])
def test_indices_of_lists_are_checked(value, folder, tmp_path):
    model = load(folder / "plackett_luce_auto.tiebreak")
    model.list_items_[3] = value
    with pytest.raises(ValueError, match=r"PlackettLuce\.list_items_.*below 8"):
        load(save(model, tmp_path / "model"))


# What may stay out of the table: nothing computes with it.
NOT_IN_TABLE = {"classes_", "selected_"}


def test_every_array_of_whole_numbers_is_in_the_table(folder):
    missing = set()
    for name in (*CASES, *NEWER):
        for part in estimators(load(folder / f"{name}.tiebreak")):
            assert isinstance(part, BaseEstimator)
            table = STATE.get(type(part).__name__, {})
            for attribute, value in vars(part).items():
                known = attribute in table or attribute in NOT_IN_TABLE
                whole = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
                if whole and not known:
                    missing.add(f"{type(part).__name__}.{attribute}")
    assert missing == set()
