# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak.rank`: one call that does what the command does, and its questions."""

import json

import numpy as np
import pandas
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tiebreak
from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.io import FileError
from tiebreak.report import render_report

NAMES = np.array(["Ada", "Bo", "Cy", "<b>Dee</b>"])
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])


def draw_votes(rng, n=400, length=0.0, first=0.0):
    """Make votes on answers whose lengths, and whose order, may decide."""
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    # The better answers are the shorter ones.
    sizes = rng.lognormal(5.0 - STRENGTH[np.stack([left, right])], 0.8)
    ratio = np.log(sizes[0] / sizes[1])
    d = STRENGTH[right] - STRENGTH[left] - length * ratio - first
    odds = np.stack([np.exp(-d / 2), np.full(n, 0.5), np.exp(d / 2)], axis=1)
    share = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :2]
    word = np.array(["left", "tie", "right"])[(rng.random((n, 1)) > share).sum(axis=1)]
    day = np.datetime64("2024-01-01") + np.sort(rng.integers(0, 200, n))
    return pl.DataFrame(
        {
            "left": NAMES[left],
            "right": NAMES[right],
            "outcome": word,
            "language": np.array(["en", "de"])[rng.integers(0, 2, n)],
            "hard": rng.integers(0, 2, n),
            "len_a": sizes[0],
            "len_b": sizes[1],
            "date": day,
        }
    )


def as_pairs(votes):
    y = votes["outcome"].replace_strict({"left": -1, "tie": 0, "right": 1})
    return Pairs(
        None, votes["left"].to_numpy(), votes["right"].to_numpy()
    ), y.to_numpy()


def test_one_call_has_everything(rng, tmp_path):
    votes = draw_votes(rng)
    answer = tiebreak.rank(votes, title="<votes>")
    own = Leaderboard(BradleyTerry().fit(*as_pairs(votes)))
    assert answer.leaderboard.table.equals(own.table)
    assert answer.table is answer.leaderboard.table
    assert answer.model.items_.tolist() == own.model.items_.tolist()
    assert answer.checks.ok and answer.quality.table["accuracy"][0] > 0.4
    answer.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "&lt;votes&gt;" in page and "<b>Dee" not in page
    assert "Ada" in str(answer) and repr(answer) == "RankResult(4 items, bradley-terry)"
    shown = answer._repr_html_()
    assert "&lt;b&gt;Dee" in shown and "<b>Dee" not in shown
    votes.write_csv(tmp_path / "votes.csv")
    again = tiebreak.rank(tmp_path / "votes.csv").leaderboard.table
    assert again.equals(own.table)


@pytest.mark.extended
def test_the_command_gives_the_same(run, rng, tmp_path):
    draw_votes(rng).write_csv(tmp_path / "votes.csv")
    questions = ["--by", "language", "--covariates", "log:len_a:len_b", "--position"]
    out = ["--out", tmp_path / "out", "--json", "--title", "My votes"]
    done = run("rank", tmp_path / "votes.csv", *questions, *out)
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    answer = tiebreak.rank(
        tmp_path / "votes.csv",
        by="language",
        covariates="log:len_a:len_b",
        position=True,
    )
    assert found["title"] == "My votes"
    assert found["effects"] == answer.effects.to_dicts()
    assert found["moves"] == answer.moves.to_dicts()
    boards = answer.leaderboard.categories
    assert list(found["categories"]) == list(boards) == ["en", "de"] or ["de", "en"]
    for name, board in boards.items():
        assert found["categories"][name] == board.table.to_dicts()
    written = pl.read_csv(tmp_path / "out" / "categories.csv")
    assert written["category"].unique().sort().to_list() == ["all", "de", "en"]
    done = run("rank", tmp_path / "votes.csv", "--out", tmp_path / "out", "-q")
    assert not (tmp_path / "out" / "categories.csv").exists()


def test_categories(rng):
    votes = draw_votes(rng)
    rare = {"left": ["Ada", "Bo"], "right": ["Bo", "Cy"], "outcome": ["left", "tie"]}
    rare |= {"language": ["fr", "fr"], "hard": [1, 1]}
    more = pl.concat([votes, pl.DataFrame(rare)], how="diagonal_relaxed")
    more = more.drop("date", "len_a", "len_b")
    answer = tiebreak.rank(more, by="language")
    english = votes.filter(pl.col("language") == "en")
    own = Leaderboard(BradleyTerry().fit(*as_pairs(english)))
    assert_frame_equal(answer.leaderboard.categories["en"].table, own.table)
    assert len(answer.leaderboard.table) == 4
    assert answer.category_notes["fr"] == [
        "'Ada' won everything: the rating rests on the prior."
    ]
    # Without a prior there is none of French, and the others stay.
    free = tiebreak.rank(more, by="language,hard", settings={"alpha": 0})
    assert set(free.leaderboard.categories) == {"language: en", "language: de", "hard"}
    assert "There is no leaderboard." in free.category_notes["language: fr"][0]
    text = str(free)
    assert "language: fr: There is no leaderboard." in text and "hard: " in text
    with pytest.raises(ValueError, match="by='len_a' has 300 different values"):
        tiebreak.rank(draw_votes(rng, 300), by="len_a")


def test_rows_without_a_category_count_in_all(rng):
    votes = draw_votes(rng).with_columns(
        language=pl.when(pl.col("hard") == 1).then(pl.col("language"))
    )
    answer = tiebreak.rank(votes, by="language")
    missing = int((votes["hard"] == 0).sum())
    assert any(
        f"{missing} rows without a value in language" in s
        for s in answer.source.detected
    )
    games = [
        board.table.select(pl.sum("wins", "ties", "losses")).sum_horizontal()[0] / 2
        for board in (answer.leaderboard, *answer.leaderboard.categories.values())
    ]
    assert games[0] == 400 and sum(games[1:]) == 400 - missing


def test_ratings_with_and_without_covariates_have_one_mean(rng):
    answer = tiebreak.rank(draw_votes(rng), covariates="len_a:len_b", anchor="Ada=900")
    means = answer.moves.select(pl.mean("rating", "rating_without")).row(0)
    assert means[0] == pytest.approx(means[1]) and means[0] < 1400


def test_covariates_take_lengths_out_of_the_ratings(rng):
    votes = draw_votes(rng, 6000, length=1.0, first=0.3)
    fit = {"position": True, "settings": {"alpha": 0}, "ties": "davidson"}
    plain = tiebreak.rank(votes, **fit)
    answer = tiebreak.rank(votes, covariates=["log:len_a:len_b"], **fit)
    rating = dict(answer.table.select("item", "rating").rows())
    found = np.array([rating[name] for name in NAMES]) - 1500
    unit = 400 / np.log(10)
    slope = np.polyfit(STRENGTH * unit, found, 1)[0]
    assert slope == pytest.approx(1.0, abs=0.2)
    first, length = answer.effects.rows(named=True)
    assert first["effect"] == "advantage"
    assert first["lower"] < 0.3 * unit < first["upper"]
    assert length["effect"] == "log len_a - log len_b"
    size = 1.0 * unit * length["standard_deviation"]
    assert length["lower"] < size < length["upper"]
    assert length["lower"] < length["points"] < length["upper"]
    moves = {row["item"]: row for row in answer.moves.iter_rows(named=True)}
    assert moves["Ada"]["rank"] == 1
    assert set(moves["Ada"]) >= {"rank_without", "moved", "rating_without"}
    order = plain.table["item"].to_list()
    assert [order.index(n) + 1 for n in NAMES] == [
        moves[n]["rank_without"] for n in NAMES
    ]
    assert answer.model.context_names_ == ("log len_a - log len_b",)


def test_exchanged_sides_exchange_covariates(rng):
    votes = draw_votes(rng, 500, length=1.0).filter(pl.col("outcome") != "tie")
    won = pl.col("outcome") == "left"
    sides = {"winner": ("left", "right"), "w": ("len_a", "len_b")}
    sides |= {"loser": ("right", "left"), "l": ("len_b", "len_a")}
    named = votes.select(
        pl.when(won).then(a).otherwise(b).alias(name) for name, (a, b) in sides.items()
    )
    given = {"covariates": "log:len_a:len_b", "settings": {"alpha": 0}}
    ours = tiebreak.rank(votes.drop("date"), **given)
    theirs = tiebreak.rank(named, covariates="log:w:l", settings={"alpha": 0})
    key = ["item", "rating"]
    np.testing.assert_allclose(
        theirs.table.select(key).sort("item")["rating"],
        ours.table.select(key).sort("item")["rating"],
        atol=0.5,
    )
    with pytest.raises(
        ValueError, match="position=True needs to know who was shown first"
    ):
        tiebreak.rank(named, position=True)


def test_rows_of_a_time(rng):
    votes = draw_votes(rng)
    first, last = pl.date(2024, 2, 1), pl.date(2024, 3, 31)
    inside = votes.filter(pl.col("date").is_between(first, last))
    answer = tiebreak.rank(votes, since="2024-02-01", until="2024-03")
    assert len(answer.data.y) == len(inside)
    before = len(votes.filter(pl.col("date") < first))
    assert f"since='2024-02-01' left out {before} rows." in answer.source.detected
    numbers = votes.with_columns(date=pl.int_range(pl.len()))
    assert len(tiebreak.rank(numbers, since=100, until=199).data.y) == 100
    with pytest.raises(ValueError, match="leaves no comparison: 2024-01"):
        tiebreak.rank(votes, since="2030-01-01")
    with pytest.raises(ValueError, match="needs dates"):
        tiebreak.rank(votes.drop("date"), until="2030-01-01")


def test_ties(rng):
    votes = draw_votes(rng).drop("date")
    pairs, y = as_pairs(votes)
    for ties in ("davidson", "rao-kupper", "half"):
        own = Leaderboard(BradleyTerry(ties).fit(pairs, y))
        answer = tiebreak.rank(votes, ties=ties)
        assert answer.table.equals(own.table)
    answer = tiebreak.rank(votes, settings={"ties": "davidson"})
    assert answer.model.ties == "davidson"
    answer = tiebreak.rank(votes, ties="half")
    assert tiebreak.rank(votes, ties="drop").table["ties"].sum() == 0
    assert any("decided results" in s for s in answer.warnings)
    assert answer.quality.table["log_loss"][0] < 0.75


def test_scales(rng):
    votes = draw_votes(rng).drop("date")
    arena = tiebreak.rank(votes, ties="half", settings={"alpha": 0}, anchor=1000)
    own = BradleyTerry("half", alpha=0).fit(*as_pairs(votes))
    assert arena.table.equals(Leaderboard(own, anchor=1000.0).table)
    for anchor in ("Bo=1114", {"Bo": 1114}):
        table = tiebreak.rank(votes, anchor=anchor).table
        assert table.filter(pl.col("item") == "Bo")["rating"].item() == 1114
    assert tiebreak.rank(votes, anchor=0).table["rating"].mean() == pytest.approx(0)


BAD = [
    ({"ties": "x"}, ValueError, "ties= must be one of auto, davidson"),
    ({"ties": "half", "settings": {"ties": None}}, ValueError, "or the setting ties"),
    ({"settings": {"alfa": 1}}, ValueError, "it has ties, link, alpha, half_life"),
    ({"settings": {"alfa": 1}}, ValueError, "Did you mean 'alpha'?"),
    ({"model": "bradley-tery"}, ValueError, "Did you mean 'bradley-terry'?"),
    ({"model": "hedge-order"}, ValueError, "does not learn from comparisons"),
    ({"ties": "half", "model": "elo"}, ValueError, "must be one of drop for elo"),
    ({"position": True, "model": "elo"}, ValueError, "position=True is not for"),
    ({"covariates": "len_a", "model": "glicko"}, ValueError, "is not for"),
    ({"anchor": "Ada"}, ValueError, "must be like NAME=1114"),
    ({"anchor": "Zoe=1"}, ValueError, "'Zoe' is not among the items"),
    ({"covariates": "a:b:c"}, ValueError, "got 'a:b:c'"),
    ({"covariates": "len_x:len_b"}, FileError, "Did you mean 'len_"),
    ({"covariates": "language"}, FileError, "not finite numbers"),
    ({"covariates": "len_a,len_a"}, ValueError, "the same one twice"),
    ({"covariates": "log:hard"}, ValueError, "where='hard > 0'"),
    ({"covariates": "hard", "where": "hard = 1"}, ValueError, "is 1 in every row"),
    ({"by": "foo"}, FileError, "names 'foo', but there is no such column"),
    ({"since": "soon"}, ValueError, "expected a date such as 2024-05-31"),
    ({"tune": True, "settings": {"alpha": 1}}, ValueError, "nothing to tune"),
    ({"wher": "x"}, TypeError, "unknown argument 'wher'. Did you mean 'where'?"),
]


@pytest.mark.parametrize("options, error, message", BAD)
def test_what_cannot_be_meant_is_refused(rng, options, error, message):
    with pytest.raises(error) as refused:
        tiebreak.rank(draw_votes(rng, 100), **options)
    assert message in str(refused.value)
    assert "--" not in str(refused.value)


def test_an_advantage_in_the_file_is_shown_without_asking(rng):
    votes = draw_votes(rng, first=0.5)
    matches = votes.rename({"left": "home_team", "right": "away_team"})
    answer = tiebreak.rank(matches)
    assert answer.effects["effect"].to_list() == ["advantage"]
    assert "The advantage is worth +" in str(answer)
    with pytest.raises(ValueError, match="leave position=True out"):
        tiebreak.rank(matches, position=True)


@pytest.mark.filterwarnings("ignore:10 rows with the same item")
@pytest.mark.extended
def test_votes_on_language_models_on_the_scale_of_arenas(data_dir):
    votes = data_dir / "lm_arena_140k/battles.csv.gz"
    answer = tiebreak.rank(
        votes,
        ties="half",
        settings={"alpha": 0},
        anchor=1000,
        by="math,creative_writing",
    )
    # Published numbers of the fit with half wins, whose mean is 1000.
    assert answer.table["rating"].round().to_list()[:5] == [
        1124,
        1098,
        1093,
        1079,
        1078,
    ]
    assert set(answer.leaderboard.categories) <= {"math", "creative_writing"}


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_score_tables_say_who_is_practically_equal(level):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 1)) + rng.normal(0, 0.02, (30, 4)) - [0, 0, 0, 1]
    frame = pandas.DataFrame(scores, [f"t{k}" for k in range(30)], list("abcd"))
    answer = tiebreak.rank(frame.rename_axis("dataset"), tie_within=0.1, level=level)
    found = {frozenset(pair[:2]) for pair in answer.practically_equal.rows()}
    assert found == {frozenset("ab"), frozenset("ac"), frozenset("bc")}
    assert any(
        "3 pairs of items are shown to be practically" in s for s in answer.summary()
    )
    assert answer.model.unit_counts_.shape[0] == 30
    assert 'id="critical"' in render_report(answer)
    plain = tiebreak.rank(frame.rename_axis("dataset"))
    assert len(plain.practically_equal) == 0
    assert not any("practically" in sentence for sentence in plain.summary())


def test_units_widen_intervals_of_score_tables():
    rng = np.random.default_rng(1)
    shared = np.repeat(rng.normal(size=(8, 3)), 12, axis=0) + np.array([0.5, 0, -0.5])
    scores = shared + rng.normal(0, 0.3, (96, 3))
    frame = pl.DataFrame(scores, schema=list("abc")).with_columns(
        task=pl.Series([f"t{k}" for k in range(96)]),
        benchmark=pl.Series([f"b{k // 12}" for k in range(96)]),
    )
    plain, units = (
        tiebreak.rank(frame).table,
        tiebreak.rank(frame, unit="benchmark").table,
    )
    wide, narrow = (t["upper"] - t["lower"] for t in (units, plain))
    assert (wide > 1.5 * narrow).all()


@pytest.mark.parametrize("model", ["boosted-utility", "rank-svm", "rank-rls"])
def test_models_without_weights_say_what_matters(rng, tmp_path, model):
    if model == "boosted-utility":
        pytest.importorskip("lightgbm")
    X = rng.normal(size=(300, 3))
    columns = dict(zip("abc", X.T, strict=True)) | {"query": np.arange(300) // 10}
    grades = np.digitize(X[:, 1] + 0.3 * X[:, 0], [-0.5, 0.5])
    table = pl.DataFrame(columns | {"relevance": grades})
    result = tiebreak.rank(table, model=model)
    names, shares = zip(*result.weights, strict=True)
    assert names[:2] == ("b", "a")
    assert sum(shares) == pytest.approx(1.0)
    assert min(shares) >= 0.0
    assert f"{100 * shares[0]:.1f} %  b" in str(result)
    assert any("shares of the" in sentence for sentence in result.summary())
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Shares of the" in page
    assert "more of it makes" not in page
    linear = tiebreak.rank(table)
    assert not linear.shares and linear.weights[0][0] == "b"
