# SPDX-License-Identifier: BSD-3-Clause
"""``--tune``: chosen as by a plain loop, honest, and resumed after an interruption."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from tests.cli.processes import signal_at
from tiebreak import BradleyTerry, Pairs
from tiebreak.metrics import comparison_log_loss
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import predict_held_out
from tiebreak.pipeline.models import (
    BY_BOTH,
    BY_FEATURE,
    BY_NAME,
    GRIDS,
    grid_for,
    tune_model,
)

NAMES = np.array([f"item {i}" for i in range(8)])
RESULTS = {"report.html", "leaderboard.csv", "model.tiebreak"}


def results(n=300, seed=2, **columns):
    """Make results of items that have only names."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    d = (right - left) / 3 + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(np.int8)
    return ComparisonData(Pairs(None, NAMES[left], NAMES[right]), y, columns)


def graded(n_groups=6, size=8):
    """Make comparisons of graded items with features, within queries."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_groups * size, 3))
    grade = np.round(2 * X[:, 0] + 0.5 * rng.normal(size=len(X)))
    first, second = np.triu_indices(size, 1)
    start = np.repeat(np.arange(n_groups) * size, len(first))
    left, right = start + np.tile(first, n_groups), start + np.tile(second, n_groups)
    y = np.sign(grade[right] - grade[left]).astype(np.int8)
    return ComparisonData(Pairs(X, left, right), y, group=start // size)


def test_every_model_has_a_grid_of_its_own_parameters():
    models = BY_NAME | BY_FEATURE | BY_BOTH
    assert set(GRIDS) == set(models)
    for name, make in models.items():
        known = {key.rpartition("__")[2] for key in make().get_params()}
        assert set(GRIDS[name]) <= known
        for values in GRIDS[name].values():
            assert len(values) >= 3
            assert list(values) == sorted(set(values))


def test_the_choice_is_that_of_a_plain_loop():
    known = results()
    tuned = tune_model("bradley-terry", BradleyTerry(), known)
    scores = {}
    for alpha in GRIDS["bradley-terry"]["alpha"]:
        losses = []
        for train, test in KFold(5, shuffle=True, random_state=0).split(known.y):
            model = BradleyTerry(alpha=alpha).fit(known.pairs[train], known.y[train])
            proba = model.predict_proba(known.pairs[test])
            losses.append(comparison_log_loss(known.y[test], proba))
        scores[alpha] = np.mean(losses)
    best = min(scores, key=scores.get)
    assert tuned.model.alpha == tuned.result.best_params_["alpha"] == best
    assert tuned.result.scoring == "log_loss"
    assert tuned.result.table["score"].to_list() == pytest.approx(
        [-loss for loss in scores.values()]
    )
    assert not hasattr(tuned.model, "strength_")
    assert f"chose alpha = {best:g}, by the log loss" in tuned.notes[0]
    assert f"{scores[best]:.4f}" in tuned.notes[0]
    assert f"{max(scores.values()):.4f}" in tuned.notes[0]
    assert f"expect {-tuned.result.corrected_score:.4f}." in tuned.notes[0]
    assert "used all results" in tuned.notes[-1]


def test_a_choice_by_time_does_not_know_the_later_half():
    period = np.arange(300) // 10
    known = results(period=period)
    mirrored = results(period=period)
    # Half of the rows come first, and 30 periods can be halved.
    mirrored.y[150:] *= -1
    for name in ("bradley-terry", "elo", "glicko"):
        first, second = (
            tune_model(name, BY_NAME[name](), k) for k in (known, mirrored)
        )
        assert first.result.table.equals(second.result.table)
        assert "earlier half of the results only" in first.notes[-1]
        quality = predict_held_out({name: first.model}, known)
        assert quality.row.min() >= 150
    mirrored.y[:150] *= -1
    other = tune_model("elo", BY_NAME["elo"](), mirrored)
    assert not other.result.table.equals(
        tune_model("elo", BY_NAME["elo"](), known).result.table
    )


def test_settings_of_a_pipeline_reach_its_model():
    known = graded()
    for name, scoring in (("svm", "error"), ("logistic", "log_loss")):
        tuned = tune_model(name, BY_FEATURE[name](), known)
        assert tuned.result.scoring == scoring
        last = tuned.model[-1]
        last = getattr(last, "ranker", last)
        for key, value in tuned.result.best_params_.items():
            assert key in GRIDS[name]
            assert getattr(last, key) == value
        assert "every query" in tuned.notes[0]
        clone(tuned.model).fit(known.pairs, known.y)
    assert grid_for("svm", 3)["gamma"][1] == pytest.approx(1 / 3)


def test_items_that_are_named_once_are_left_out_of_the_test_rows():
    known = results()
    pairs = Pairs(
        None,
        [*known.pairs.names[known.pairs.left], "newcomer"],
        [*known.pairs.names[known.pairs.right], "item 0"],
    )
    more = ComparisonData(pairs, np.append(known.y, 1).astype(np.int8))
    tuned = tune_model("bradley-terry", BradleyTerry(), more)
    assert np.isfinite(tuned.result.best_score_)


def test_an_outcome_that_some_folds_do_not_have():
    known = results()
    known.y[:] = np.where(known.y == 0, -1, known.y)
    known.y[7] = 0
    tuned = tune_model("bradley-terry", BradleyTerry(), known)
    assert tuned.result.scoring == "brier"
    assert np.isfinite(tuned.result.table["score"].to_numpy()).all()


def test_what_cannot_be_tuned():
    with pytest.raises(ValueError, match=r"nothing to tune for glicko without dates"):
        tune_model("glicko", BY_NAME["glicko"](), results())
    with pytest.raises(ValueError, match="There are 5 comparisons, too few"):
        tune_model("elo", BY_NAME["elo"](), results(5))
    with pytest.raises(ValueError, match="nothing to tune for magic"):
        grid_for("magic")


def test_a_checkpoint_of_another_search_is_begun_anew(tmp_path):
    file = tmp_path / "search.json"
    first = tune_model("elo", BY_NAME["elo"](), results(), checkpoint=file)
    again = tune_model("elo", BY_NAME["elo"](), results(seed=5), checkpoint=file)
    assert not first.result.table.equals(again.result.table)
    # A file that is none is not ours to remove.
    file.write_text("precious")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        tune_model("elo", BY_NAME["elo"](), results(), checkpoint=file)
    assert file.read_text() == "precious"


# The command


def write(path, known):
    names = known.pairs.names
    words = np.array(["left", "tie", "right"])[known.y + 1]
    left, right = names[known.pairs.left], names[known.pairs.right]
    pl.DataFrame({"left": left, "right": right, "outcome": words}).write_csv(path)
    return path


@pytest.mark.extended
def test_rank_and_compare_say_what_was_chosen(processes, tmp_path):
    path = write(tmp_path / "votes.csv", results())
    out = tmp_path / "out"
    done = processes.run("rank", path, "--tune", "--out", out)
    assert (done.code, done.stderr) == (0, "")
    best = tune_model("bradley-terry", BradleyTerry(), results()).result
    text = " ".join(done.stdout.split())
    assert f"chose alpha = {best.best_params_['alpha']:g}" in text
    assert f"{-best.table['score'][0]:.4f}" in done.stdout
    assert f"Expect {-best.corrected_score:.4f} of the choice" in text
    assert "The choice used all results" in text
    assert f"The {len(best.table)} settings that were tried" in text
    assert {p.name for p in out.iterdir()} == RESULTS
    assert "How the settings were chosen" in (out / "report.html").read_text("utf-8")
    done = processes.run("rank", path, "--tune", "--out", out, "--json", "-q")
    found = json.loads(done.stdout)["tuning"]
    assert found["best_params"] == best.best_params_
    assert found["corrected_score"] == best.corrected_score
    done = processes.run(
        "compare", path, "--tune", "--models", "bradley-terry,glicko", "--json"
    )
    said = json.loads(done.stdout)["recognized"]
    assert any("bradley-terry: Tuning tried 8 settings" in one for one in said)
    assert any("glicko is not tuned" in one for one in said)
    done = processes.run("rank", path, "--tune", "--alpha", 1)
    assert done.code == 2
    assert "leave one of the two out" in done.stderr


@pytest.mark.extended
def test_an_interrupted_tuning_goes_on(processes, tmp_path):
    path = write(tmp_path / "votes.csv", results(4000))
    out = tmp_path / "out"
    checkpoint = out / "tiebreak-tuning.json"
    # Three times it was written, and this is the fourth.
    before = signal_at(4, tmp_path / "count", ("os.rename", checkpoint.name))
    done = processes.run("rank", path, "--tune", "--out", out, before=before)
    assert done.code == 130
    assert done.line.endswith("The same command goes on with the tuning.")
    assert [p.name for p in out.iterdir()] == [checkpoint.name]
    # Scores that are not computed again can be told by a value that none has.
    kept = json.loads(checkpoint.read_text())
    assert 0 < len(kept["done"]) < 40
    kept["done"] = [[*cell[:2], -1e-9, True] for cell in kept["done"]]
    touched = {tuple(cell[:2]) for cell in kept["done"]}
    checkpoint.write_text(json.dumps(kept))
    done = processes.run("rank", path, "--tune", "--out", out, "--json")
    assert done.code == 0, done.stderr
    table = json.loads(done.stdout)["tuning"]["table"]
    for number, row in enumerate(table):
        for split in range(5):
            known = row[f"split_{split}"] == -1e-9
            assert known == ((number, split) in touched)
    assert {p.name for p in out.iterdir()} == RESULTS
