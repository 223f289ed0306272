# SPDX-License-Identifier: BSD-3-Clause
"""Half-lives and learned advantages in the pipeline and the command."""

import numpy as np
import polars as pl
import pytest

from tests.pipeline.answers import rank_data
from tiebreak import Elo, Pairs, load, save
from tiebreak.io import read_file
from tiebreak.pipeline.held_out import predict_held_out
from tiebreak.pipeline.models import choose_model, tune_model
from tiebreak.pipeline.source import Source

NAMES = np.array([f"team {k}" for k in range(8)])


@pytest.fixture
def matches(tmp_path):
    """Write 3,000 matches of 40 months, half of them at home, of teams that change."""
    rng = np.random.default_rng(0)
    n = 3000
    strength = np.cumsum(0.3 * rng.normal(size=(40, 8)), axis=0)
    month = np.sort(rng.integers(0, 40, n))
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    neutral = rng.random(n) < 0.5
    d = strength[month, right] - strength[month, left] + rng.logistic(size=n)
    d -= np.where(neutral, 0.0, 1.5)
    goals = np.where(np.abs(d) < 0.4, 0, np.sign(d)).astype(int)
    path = tmp_path / "matches.csv"
    pl.DataFrame(
        {
            "date": (np.datetime64("2020-01-15") + 30 * month).astype("datetime64[D]"),
            "home_team": NAMES[left],
            "away_team": NAMES[right],
            "home_score": np.maximum(-goals, 0),
            "away_score": np.maximum(goals, 0),
            "neutral": neutral,
        }
    ).write_csv(path)
    return path


@pytest.mark.extended
def test_rank_fades_old_results(run, matches, tmp_path):
    data = read_file(matches).data
    said = {}
    for asked in ("6m", "300", "auto", None):
        answer = rank_data(data, half_life=asked, settings={"alpha": 0.1})
        model, quality = answer.choice.model, answer.quality
        said[asked] = answer.choice.reason
        expected = {"6m": 182.625, "300": 300.0, "auto": model.half_life_, None: np.inf}
        assert model.half_life_ == expected[asked]
        held_out = predict_held_out({"bradley-terry": model}, data)
        assert quality.table.equals(held_out.table)
        assert not answer.warnings
        first = quality.by_split["first"]
        assert str(first.dtype).startswith("Date")
    assert "--half-life auto old ones count less" in said[None]
    assert "A result counts half after 183 days." in said["6m"]
    assert "which predicts best." in said["auto"]
    for asked in ("6m", "300", "auto"):
        assert "same weight" not in said[asked]
    out = tmp_path / "out"
    done = run("rank", matches, "--half-life", "6m", "--set", "alpha=0.1", "--out", out)
    assert done.code == 0, done.stderr
    assert "counts half after 183 days" in " ".join(done.stdout.split())
    model = load(out / "model.tiebreak")
    assert (model.half_life, model.half_life_) == ("6m", 182.625)
    done = run("rank", matches, "--half-life", "soon", "--out", out)
    assert done.code == 4
    assert "such as '5y', '18m', '26w' or '90d'" in done.stderr


def test_a_half_life_that_has_no_place_is_refused(matches):
    data = read_file(matches).data
    with pytest.raises(ValueError, match="elo has no parameter 'half_life'"):
        choose_model("elo", Source(data, []), {"half_life": "5y"})
    data.columns.pop("period")
    with pytest.raises(ValueError, match="needs dates; name --period"):
        choose_model("auto", Source(data, []), {"half_life": "5y"})


def test_a_half_life_is_kept_when_settings_are_tuned(matches):
    data = read_file(matches).data
    settings = {"ties": "rao-kupper", "half_life": "1y"}
    choice = choose_model("bradley-terry", Source(data, []), settings)
    tuned, result, _ = tune_model(choice, data)
    assert tuned.model.half_life == "1y"
    assert set(result.best_params_) == {"alpha"}


@pytest.mark.parametrize("name", ["elo", "glicko", "glicko2"])
def test_models_over_time_learn_the_advantage_of_home(name, matches):
    data = read_file(matches).data
    answer = rank_data(data, model=name)
    model = answer.choice.model
    assert "advantage" not in answer.choice.reason
    # 1.5 in strength is 261 points where ratings follow; less where they lag.
    assert 100 < model.advantage_ < 300
    blind = {"home": model, "blind": type(model)(unseen="prior")}
    difference = predict_held_out(blind, data).difference("home", "blind")
    assert difference.mean < -2 * difference.standard_error


def test_predict_counts_a_learned_advantage(run, tmp_path):
    games = Pairs(None, ["Ada", "Bo", "Cy", "Ada"] * 20, ["Bo", "Cy", "Ada", "Cy"] * 20)
    y = np.tile([-1, 0, -1, 1, -1, -1, 0, -1], 10)
    asked, out = tmp_path / "asked.csv", tmp_path / "out.csv"
    for advantage in ("auto", 25.0):
        model = Elo(advantage=advantage).fit(games, y)
        save(model, tmp_path / "model")
        asked.write_text("home,away,neutral\nAda,Bo,no\nAda,Bo,yes\n")
        done = run("predict", tmp_path / "model", asked, "--out", out)
        assert done.code == 0, done.stderr
        home, neutral = pl.read_csv(out)["difference"]
        # Points that were given count in every row.
        counted = model.advantage_ if advantage == "auto" else 0.0
        assert neutral - home == pytest.approx(counted)
        assert ("fitted without an advantage" in done.stdout) == (advantage != "auto")
    model = Elo(advantage="auto").fit(games, y)
    save(model, tmp_path / "model")
    asked.write_text("left,right\nAda,Bo\n")
    done = run("predict", tmp_path / "model", asked, "--out", out)
    assert "so left has it in every row" in " ".join(done.stdout.split())
    expected = model.difference(Pairs(None, ["Ada"], ["Bo"]))
    assert pl.read_csv(out)["difference"][0] == pytest.approx(expected[0])
