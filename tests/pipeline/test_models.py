# SPDX-License-Identifier: BSD-3-Clause
"""``--model`` and ``--tune``: what fits, and an honest choice of settings."""

import json
import warnings
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import tiebreak
from tests.extended import few
from tiebreak import (
    BradleyTerry,
    Orders,
    OrdinalSVM,
    Pairs,
    PlackettLuce,
    RankSVM,
    SwapSVM,
    rank,
)
from tiebreak.data import Comparisons, Grades, ItemTable, Lists
from tiebreak.io import ReadOptions, read_file
from tiebreak.metrics import comparison_log_loss, swapped_pairs
from tiebreak.pipeline.held_out import (
    fit_data,
    order_folds,
    order_held_out,
    predict_held_out,
)
from tiebreak.pipeline.models import (
    CLASSES,
    GRIDS,
    choose_model,
    find_estimator,
    grid_for,
    inner_estimator,
    tune_model,
)
from tiebreak.pipeline.source import Source, compare_lists

NAMES = np.array([f"item {i}" for i in range(8)])
RESULTS = {"report.html", "leaderboard.csv", "model.tiebreak"}


def results(n=300, seed=2, **columns):
    """Make results of items that have only names."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    d = (right - left) / 3 + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(np.int8)
    return Comparisons(Pairs(None, NAMES[left], NAMES[right]), y, columns=columns)


def graded(n_groups=6, size=8):
    """Make graded items with features, in queries."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_groups * size, 3))
    grade = np.round(2 * X[:, 0] + 0.5 * rng.normal(size=len(X)))
    return Grades.of(ItemTable(X), grade, np.repeat(np.arange(n_groups), size))


def compared(n=150):
    """Make comparisons of items with features."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    left, right = rng.integers(0, 20, n), rng.integers(20, 40, n)
    d = 2 * (X[right, 0] - X[left, 0]) + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(np.int8)
    return Comparisons(Pairs(X, left, right), y)


NAMED = ["bradley-terry", "elo", "glicko", "glicko2", "plackett-luce"]
COMPARERS = [
    "logistic-compare",
    "majority-compare",
    "max-margin-compare",
    "svm-compare",
]
RANKERS = [
    "boosted-utility", "l1-ranker", "rank-boost", "rank-rls", "rank-svm",
    "ranking-pursuit",
]  # fmt: skip
GRADED = [
    "co-ranking-pursuit", "expected-rank-regression", "matching-pursuit", "order-svm",
    "ordinal-svm", "swap-svm",
]  # fmt: skip
MODELS = [*NAMED, "judge-bradley-terry", *COMPARERS, *RANKERS, *GRADED]


def tune(name, data, **settings):
    choice = choose_model(name, Source(data, []), settings)
    choice, result, notes = tune_model(choice, data)
    return SimpleNamespace(model=choice.model, result=result, notes=notes)


def test_every_estimator_has_the_name_of_its_class():
    assert {*MODELS, "hedge-order"} <= set(CLASSES)
    for name in MODELS:
        assert find_estimator(name) is getattr(tiebreak, CLASSES[name])
    # These need another estimator, or make no leaderboard.
    for name in ("threshold-compare", "without-ties", "on-items", "pairs", "magic"):
        assert find_estimator(name) is None


UNTUNED = {"boosted-utility", "expected-rank-regression", "max-margin-compare"}
UNTUNED |= {"majority-compare", "judge-bradley-terry"}


def test_the_grid_of_a_model_is_of_its_own_parameters():
    tuned = set()
    for name in MODELS:
        data = results(period=np.arange(300), rater=np.arange(300) % 3)
        if name not in (*NAMED, "judge-bradley-terry"):
            data = graded(1, 30)
        if name in COMPARERS:
            data = compared()
        choice = choose_model(name, Source(data, []))
        if name in UNTUNED:
            with pytest.raises(ValueError, match=f"nothing to tune for {name}"):
                grid_for(choice)
            continue
        grid = grid_for(choice)
        assert set(grid) <= set(inner_estimator(choice.model).get_params())
        for values in grid.values():
            assert len(values) >= 3
            assert list(values) == sorted(set(values))
        tuned |= set(grid)
    assert tuned == set(GRIDS) - {"identity"}


def test_what_was_set_is_not_tuned():
    choice = choose_model("rank-svm", Source(graded(), []), {"C": 10})
    assert set(grid_for(choice)) == {"gamma"}
    linear = choose_model("rank-svm", Source(graded(), []), {"kernel": "linear"})
    assert set(grid_for(linear)) == {"C"}
    both = choose_model("logistic-compare", Source(compared(), []), {"identity": 1.0})
    assert set(grid_for(both)) == {"alpha"}
    with pytest.raises(ValueError, match="nothing to tune for elo"):
        tune("elo", results(), k=20)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Make one file of each kind, of the same 20 items."""
    folder = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(5)
    names, X = [f"item {i}" for i in range(20)], rng.normal(size=(20, 2))
    items = pl.DataFrame({"item": names, "a": X[:, 0], "b": X[:, 1]})
    items.write_csv(folder / "items.csv")
    worth = X @ [1.0, 2.0]
    left, right = (names[i] for i in rng.permutation(20)[:2])
    rows = [(left, right, "tie")]
    for i, j in rng.permutation(np.transpose(np.tril_indices(20, -1)))[:80]:
        d = worth[i] - worth[j] + 0.3 * rng.normal()
        rows.append((names[i], names[j], "left" if d > 0 else "right"))
    columns = ["left", "right", "outcome"]
    pl.DataFrame(rows, columns, orient="row").write_csv(folder / "compared.csv")
    scored = [
        (f"person {k}", names[i], round(worth[i] + 0.3 * rng.normal()))
        for k in range(8)
        for i in rng.permutation(20)[:5]
    ]
    columns = ["person", "item", "score"]
    pl.DataFrame(scored, columns, orient="row").write_csv(folder / "lists.csv")
    graded = {"grade": np.digitize(worth, [-1, 1]), "a": X[:, 0], "b": X[:, 1]}
    pl.DataFrame(graded).write_csv(folder / "graded.csv")
    pl.DataFrame({"qid": np.arange(20) // 4} | graded).write_csv(folder / "queries.csv")
    return folder


KINDS = {
    "compared": (("compared.csv",), NAMED),
    "compared, features": (("compared.csv", "items"), [*COMPARERS, *RANKERS]),
    "lists": (("lists.csv", "orders"), ["plackett-luce"]),
    "lists, features": (("lists.csv", "items", "orders"), [*RANKERS, *GRADED]),
    "graded": (("graded.csv",), [*RANKERS, *GRADED]),
    "queries": (("queries.csv",), [*RANKERS, *GRADED]),
}


def rank_kind(files, kind, **given):
    file, *more = KINDS[kind][0]
    given |= {"items": files / "items.csv"} if "items" in more else {}
    given |= {"kind": "orders"} if "orders" in more else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rank(files / file, **given)


@pytest.mark.extended
@pytest.mark.parametrize("kind", few(KINDS))
def test_every_model_that_fits_a_file_can_be_asked_for(files, kind):
    fits = KINDS[kind][1]
    for name in [*MODELS, "hedge-order"]:
        if name == "boosted-utility":  # as slow as all others together
            continue
        if name == "judge-bradley-terry" and kind.startswith("compared"):
            with pytest.raises(ValueError, match="to know who judged"):
                rank_kind(files, kind, model=name)
        elif name not in fits or (name == "ordinal-svm" and kind != "graded"):
            with pytest.raises(ValueError, match=rf"Choose model= .*got '{name}'"):
                rank_kind(files, kind, model=name)
        else:
            answer = rank_kind(files, kind, model=name)
            assert answer.quality is not None


@pytest.mark.extended
def test_judges_have_ties_of_two_kinds(files):
    rows = pl.read_csv(files / "compared.csv")
    rows = rows.with_columns(rater=pl.Series(["Ann", "Bo", "Cy"] * 27))
    given = {"model": "judge-bradley-terry", "rater": "rater"}
    found = rank(rows, ties="rao-kupper", **given)
    assert found.model.ties == "rao-kupper" and found.model.tie_ > 1
    assert rank(rows, **given).model.ties == "davidson"
    one = rank(rows.with_columns(rater=pl.lit("Ann")), **given)
    assert any("one rater" in note for note in one.warnings)


def test_lists_are_learned_from_as_lists(files):
    answer = rank_kind(files, "lists")
    assert answer.choice.name == "plackett-luce"
    read = read_file(files / "lists.csv", ReadOptions(kind="orders"))
    alone = PlackettLuce().fit(read.data.orders)
    place = {name: k for k, name in enumerate(alone.items_.tolist())}
    order = [place[name] for name in answer.model.items_.tolist()]
    assert_allclose(answer.model.strength_, alone.strength_[order], atol=1e-8)
    assert np.ptp(alone.strength_) > 1
    # There are tied places.
    assert any(np.diff(read.data.orders[k].position).min() == 0 for k in range(8))


def test_a_model_of_grades_learns_from_the_grades(files):
    for kind, name, make in (
        ("graded", "ordinal-svm", OrdinalSVM),
        ("queries", "swap-svm", SwapSVM),
    ):
        table = pl.read_csv(files / f"{kind}.csv")
        X = StandardScaler().fit_transform(table["a", "b"].to_numpy())
        groups = {"qid": table["qid"].to_numpy()} if "qid" in table.columns else {}
        alone = make().fit(X, table["grade"].to_numpy(), **groups).utility(X)
        found = rank_kind(files, kind, model=name).utility
        assert_allclose(found, alone - alone.mean(), atol=1e-6)
        assert np.ptp(alone) > 0.1


def test_held_out_queries_are_ordered_as_by_a_plain_loop():
    data = graded()
    quality = order_held_out({"svm": RankSVM(kernel="linear")}, data)
    utility, X = np.empty(len(data)), data.items.values
    for train, test in order_folds(data):
        model = RankSVM(kernel="linear").fit(
            X[train], data.y[train], qid=data.qid[train]
        )
        utility[test] = model.utility(X[test])
    swapped = swapped_pairs(data.y, utility, qid=data.qid)
    assert 0 < swapped < 0.3
    assert quality.table["swapped_pairs"].to_list() == [pytest.approx(swapped), 0.5]


def test_lists_of_unseen_items_are_ordered_without_them(files):
    data = read_file(files / "lists.csv", ReadOptions(kind="orders")).data
    quality = order_held_out({"pl": PlackettLuce()}, data.take(np.arange(5)))
    assert 0 < quality.table["n_test"][0] < 25


def test_the_choice_is_that_of_a_plain_loop():
    known = results()
    tuned = tune("bradley-terry", known)
    scores = {}
    for alpha in (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0):
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
        first, second = (tune(name, k) for k in (known, mirrored))
        assert first.result.table.equals(second.result.table)
        assert "earlier half of the results only" in first.notes[-1]
        quality = predict_held_out({name: first.model}, known)
        assert quality.row.min() >= 150
    mirrored.y[:150] *= -1
    other = tune("elo", mirrored)
    assert not other.result.table.equals(tune("elo", known).result.table)


def test_settings_of_a_pipeline_reach_its_model():
    rows = {"swapped_pairs": ("rank-svm", graded())}
    rows |= {"error": ("rank-svm", compared())}
    rows |= {"log_loss": ("logistic-compare", compared())}
    for scoring, (name, known) in rows.items():
        tuned = tune(name, known)
        assert tuned.result.scoring == scoring
        last = tuned.model[-1]
        last = getattr(last, "ranker", last)
        for key, value in tuned.result.best_params_.items():
            assert key in GRIDS
            assert getattr(last, key) == value
        assert ("every query" in tuned.notes[0]) == (scoring == "swapped_pairs")
        fit_data(clone(tuned.model), known)
    grid = grid_for(choose_model("rank-svm", Source(graded(), [])), 3)
    assert grid["gamma"][1] == pytest.approx(1 / 3)


def test_an_outcome_that_some_folds_do_not_have():
    known = results()
    known.y[:] = np.where(known.y == 0, -1, known.y)
    known.y[7] = 0
    tuned = tune("bradley-terry", known)
    assert tuned.result.scoring == "brier"
    assert np.isfinite(tuned.result.table["score"].to_numpy()).all()


def test_what_cannot_be_tuned():
    with pytest.raises(ValueError, match="nothing to tune for glicko"):
        tune("glicko", results())
    with pytest.raises(ValueError, match="There are 5 rows, too few"):
        tune("elo", results(5))


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
    done = processes.run("rank", path, "--tune", "--verbose", "--out", out)
    assert (done.code, done.stderr) == (0, "")
    best = tune("bradley-terry", results()).result
    text = " ".join(done.stdout.split())
    assert f"chose alpha = {best.best_params_['alpha']:g}" in text
    assert f"{best.table['score'][0]:.4f}" in done.stdout
    assert "The choice used all results" in text
    assert {p.name for p in out.iterdir()} == RESULTS
    assert "How the settings were chosen" in (out / "report.html").read_text("utf-8")
    done = processes.run(
        "compare", path, "--tune", "--models", "bradley-terry,glicko", "--json"
    )
    said = json.loads(done.stdout)["recognized"]
    assert any("bradley-terry: Tuning tried 8 settings" in one for one in said)
    assert any("glicko is not tuned" in one for one in said)
    done = processes.run("rank", path, "--tune", "--set", "alpha=1")
    assert done.code == 4
    assert "nothing to tune for bradley-terry" in done.stderr


@pytest.mark.parametrize(
    ("n", "expected"), [(50, 1225), (2100, 200_000), (12_000, 240_000)]
)
def test_comparisons_of_long_lists_are_drawn(n, expected):
    lists = Lists(Orders(None, [[f"item {k}" for k in range(n)]]))
    assert len(compare_lists(lists)) == expected
