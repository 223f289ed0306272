# SPDX-License-Identifier: BSD-3-Clause
"""Folders and patterns of files: the result of one file, and what is refused."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import tiebreak
from tests.pipeline.answers import rank_data
from tiebreak import load
from tiebreak.io import FileError, ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline import held_out, partitions
from tiebreak.pipeline import held_out as checks
from tiebreak.pipeline.partitions import (
    find_partitions,
    is_partitioned,
    join_sentences,
    read_partitions,
)
from tiebreak.pipeline.read import read_source


def silent(step):
    pass


def read(path, **options):
    return read_partitions(path, ReadOptions(**options), silent)


def make_matches(rng, n=400):
    """Make dated matches of six teams on home ground, some rows of which are alike."""
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    strength = np.linspace(-0.8, 0.8, 6)
    d = strength[right] - strength[left] - 0.3 + rng.logistic(size=n)
    return pl.DataFrame(
        {
            "date": np.datetime64("2021-01-01") + np.sort(rng.integers(0, 40, n)),
            "home_team": [f"team {i}" for i in left],
            "away_team": [f"team {i}" for i in right],
            "home_score": (d < -0.4).astype(int),
            "away_score": (d > 0.4).astype(int),
        }
    )


def make_votes(rng, n=300):
    """Make weighted votes of raters, with words for outcomes and names of winners."""
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    y = np.sign(np.round(0.7 * (right - left) + rng.logistic(size=n)))
    names = np.array(["ada", "bo", "cy", "dee"])
    winner = np.where(y == 0, "both_bad", np.where(y < 0, names[left], names[right]))
    return pl.DataFrame(
        {
            "model_a": names[left],
            "model_b": names[right],
            "winner": winner,
            "judge": rng.integers(0, 9, n),
            "weight": rng.integers(1, 4, n) / 2,
        }
    )


def make_graded(rng, n=300, n_queries=30):
    """Make graded rows, query by query, with numbers and words as features."""
    x = rng.normal(size=(n, 2))
    query = np.sort(rng.integers(0, n_queries, n))
    grade = np.clip(np.round(1.5 + x[:, 0] + 0.3 * rng.normal(size=n)), 0, 3)
    return pl.DataFrame(
        {
            "query": query,
            "grade": grade.astype(int),
            "sweet": 100 * x[:, 0] + 7,
            "salty": x[:, 1],
            "color": rng.choice(["red", "green", "blue"], n),
        }
    )


def split(table, folder, cuts, arrow=()):
    """Write a table to one file and to a folder of files."""
    folder.mkdir()
    whole = folder.parent / f"{folder.name}-whole.parquet"
    table.write_parquet(whole)
    ends = [0, *cuts, len(table)]
    for number, (start, end) in enumerate(pairwise(ends)):
        part = table[start:end]
        if number in arrow:
            part.write_ipc(folder / f"part-{number}.arrow")
        else:
            part.write_parquet(folder / f"part-{number}.parquet")
    return whole


def between_queries(table, *shares):
    """Give row numbers about at shares of a table where a query begins."""
    return [int(np.searchsorted(table["query"], share)) for share in shares]


@pytest.mark.extended
def test_a_folder_of_matches_is_ranked_as_one_file(run, rng, tmp_path):
    table = make_matches(rng)
    # One file is empty, one is Arrow.
    whole = split(table, tmp_path / "log", [90, 90, 250], arrow=[2])
    (tmp_path / "log" / "notes.txt").write_text("hi")
    (tmp_path / "log" / "_SUCCESS").write_text("")
    one = run("rank", whole, "--out", "one", "--json", cwd=tmp_path)
    many = run("rank", "log", "--out", "many", "--json", cwd=tmp_path)
    assert (one.code, many.code) == (0, 0), many.stderr
    one, many = json.loads(one.stdout), json.loads(many.stdout)
    said = many.pop("recognized")
    assert said[0] == "4 Arrow and Parquet files with 400 rows in all."
    assert said[1:3] == ["1 file without rows left out.", "Not read: notes.txt."]
    # Columns, dates of all files, the advantage, counts, and what intervals rest on.
    assert [s for s in said[3:] if not s.startswith("Model:")] == [
        s for s in one["recognized"][1:] if not s.startswith("Model:")
    ]
    one.pop("recognized")
    assert [len(one["leaderboard"]), one["model"]] == [6, "bradley-terry"]
    for named in ("file", "out", "title", "command", "date"):
        one.pop(named), many.pop(named)
    assert many.pop("fingerprint") != one.pop("fingerprint")  # of other files
    assert many == one  # checks, ratings, intervals, quality and history
    boards = [
        (tmp_path / out / "leaderboard.csv").read_bytes() for out in ("one", "many")
    ]
    assert boards[0] == boards[1]
    models = [load(tmp_path / out / "model.tiebreak") for out in ("one", "many")]
    np.testing.assert_array_equal(models[0].strength_, models[1].strength_)


@pytest.mark.parametrize("enough", [300_000, 120])
def test_weighted_votes_of_raters(rng, tmp_path, monkeypatch, enough):
    monkeypatch.setattr(held_out, "ENOUGH_ROWS", enough)
    whole = split(make_votes(rng), tmp_path / "votes", [1, 140, 200])
    one = read_source(whole, ReadOptions(), RankOptions())
    many = read(tmp_path / "votes")
    assert many.n_rows == 300
    assert (len(many.sample) == 300) == (enough > 300)
    found = [
        rank_data(known, ties="rao-kupper", settings={"alpha": 0.5})
        for known in (one, many)
    ]
    names = found[0].leaderboard.table["item"]
    assert found[1].leaderboard.table["item"].to_list() == names.to_list()
    for column in ("rating", "lower", "upper", "wins", "ties", "losses"):
        ours, theirs = (answer.leaderboard.table[column] for answer in found)
        np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    for column in ("accuracy", "log_loss"):
        ours, theirs = (answer.quality.table[column] for answer in found)
        np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    ours, theirs = (answer.checks.to_dict() for answer in found)
    if enough < 300:  # what is said of single rows needs all of them
        assert theirs.pop("repeated_rows") is None
        ours.pop("repeated_rows")
        ours["findings"] = [f for f in ours["findings"] if f["code"] != "repeated"]
    assert theirs == ours  # weights are halves, so that their sums are exact


def test_features_of_the_items_are_joined_to_counts(rng, tmp_path):
    whole = split(make_votes(rng), tmp_path / "votes", [140])
    items = tmp_path / "items.csv"
    items.write_text("item,size\nada,1\nbo,2\ncy,3\ndee,5\neve,4\n")
    one = read_source(whole, ReadOptions(items=items), RankOptions())
    many = read(tmp_path / "votes", items=str(items))
    ours, theirs = (rank_data(known, model="logistic-compare") for known in (one, many))
    assert theirs.items["item"].to_list() == ours.items["item"].to_list()
    np.testing.assert_allclose(theirs.utility, ours.utility, rtol=1e-6)


def test_what_tells_too_many_rows_apart_is_left_out_and_said(
    rng, tmp_path, monkeypatch
):
    split(make_votes(rng), tmp_path / "votes", [140])
    monkeypatch.setattr(partitions, "_MOST_KINDS", 100)
    known = read_partitions(tmp_path / "votes", ReadOptions(), silent)
    assert "rater" not in known.data.columns
    assert len(known.data) <= 36
    assert known.data.weight.sum() == known.by_row.weight.sum()
    assert any("who judged is not used" in sentence for sentence in known.detected)


def test_models_that_follow_the_rows_need_one_file(rng, tmp_path):
    split(make_votes(rng), tmp_path / "votes", [140])
    with pytest.raises(ValueError, match="'elo' looks at single results, and so needs"):
        rank_data(read(tmp_path / "votes"), model="elo")


def test_check_of_a_folder(run, rng, tmp_path):
    whole = split(make_votes(rng), tmp_path / "votes", [140])
    one = run("check", whole, "--json", cwd=tmp_path)
    many = run("check", "votes/part-?.parquet", "--json", cwd=tmp_path)
    one, many = json.loads(one.stdout), json.loads(many.stdout)
    assert many.pop("recognized")[0] == "2 Parquet files with 300 rows in all."
    one.pop("recognized")
    assert many == one


def test_a_folder_of_graded_items(run, rng, tmp_path):
    table = make_graded(rng)
    split(table, tmp_path / "queries", between_queries(table, 10, 21), arrow=[1])
    done = run("rank", "queries", "--out", "out", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "300 graded rows in 30 groups, with 5 features." in done.stdout
    assert "Model: rank-svm" in done.stdout
    ranked = pl.read_csv(tmp_path / "out" / "leaderboard.csv")
    assert ranked.columns == ["row", "query", "grade", "utility", "rank"]
    assert sorted(ranked["row"]) == list(range(1, 301))
    by_row = ranked.sort("row")
    assert by_row["query"].to_list() == table["query"].to_list()
    assert by_row["grade"].to_list() == table["grade"].to_list()
    # The model file is whole: scaled features and weights, as for one table.
    model = load(tmp_path / "out" / "model.tiebreak")
    assert list(model.feature_names_in_) == [
        "sweet", "salty", "color=blue", "color=green", "color=red"
    ]  # fmt: skip
    words = [(table["color"] == w).cast(float) for w in ("blue", "green", "red")]
    X = np.column_stack([table["sweet"], table["salty"], *words])
    np.testing.assert_allclose(model[0].transformer_.mean_, X.mean(axis=0))
    np.testing.assert_allclose(model[0].transformer_.scale_, X.std(axis=0))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(scaled @ model[-1].coef_, by_row["utility"], rtol=1e-9)
    best = ranked.filter(pl.col("rank") == 1)
    top = ranked.group_by("query").agg(pl.col("utility").max())
    assert sorted(best["utility"]) == sorted(top["utility"])
    assert "What matters most: sweet" in done.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<section id="weights"' in page
    assert "color=green" in page


def test_words_that_not_every_file_has_are_features_of_all(rng, tmp_path):
    table = make_graded(rng)
    cut = between_queries(table, 15)
    rare = pl.when(pl.col("query") < 15).then(pl.lit("red")).otherwise(pl.col("color"))
    split(table.with_columns(color=rare), tmp_path / "queries", cut)
    graded = read(tmp_path / "queries")
    features = ["sweet", "salty", "color=blue", "color=green", "color=red"]
    assert list(graded.files.scaler.feature_names_in_) == features
    answer = rank_data(graded, model="rank-rls", settings={"alpha": 2.0})
    sample = answer.data
    assert answer.choice.model[-1].alpha == 2.0
    assert len(sample) == 300
    assert {name for name, _ in answer.weights} == set(features)


def test_quality_of_many_queries_is_measured_on_some(rng, tmp_path, monkeypatch):
    table = make_graded(rng)
    split(table, tmp_path / "queries", between_queries(table, 15))
    monkeypatch.setattr(partitions, "_SAMPLE_ROWS", 150)
    answer = rank_data(read(tmp_path / "queries"))
    sample = answer.data
    assert 150 <= len(sample) < 200
    for name in np.unique(sample.qid):  # whole queries
        assert (sample.qid == name).sum() == (table["query"] == int(name)).sum()
    assert any("in queries drawn at random" in said for said in answer.warnings)
    assert answer.quality.table["swapped_pairs"][0] < 0.2


@pytest.mark.extended
def test_what_cannot_be_done_in_parts(run, rng, tmp_path):
    table = make_graded(rng)
    largest = np.bincount(table["query"]).argmax()
    inside = between_queries(table, largest)[0] + 1
    split(table, tmp_path / "straddling", [inside])
    split(table, tmp_path / "graded", between_queries(table, 15))
    split(table.drop("query"), tmp_path / "one group", [150])
    people = pl.DataFrame(
        {"panelist": [1, 1, 2], "product": ["a", "b", "a"], "score": 1}
    )
    split(people, tmp_path / "panel", [2])
    for words, code, text in (
        (["straddling"], 4, "tiebreak.outofcore.repartition(source, folder, qid=...)"),
        (
            ["graded", "--model", "logistic-compare"],
            4,
            "auto, rank-svm, rank-rls",
        ),
        (["graded", "--tune"], 4, "--tune is not for graded items in partitions"),
        (["graded", "--set", "alpha=1"], 4, "has no parameter 'alpha'"),
        (["one group"], 3, "Name the column with --query"),
        (["panel"], 3, "cannot be read in partitions"),
    ):
        done = run("rank", *words, "--out", "out", "--quiet", cwd=tmp_path)
        assert (done.code, done.stdout) == (code, ""), done.stderr
        assert text in done.line
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_read_as_one(tmp_path, rng):
    table = make_votes(rng)
    folder = tmp_path / "votes"
    split(table, folder, [140])
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="there is no Parquet or Arrow file in this"):
        find_partitions(tmp_path / "empty", ReadOptions())
    with pytest.raises(FileError, match="no file has such a name"):
        find_partitions(tmp_path / "*.parq", ReadOptions())
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    with pytest.raises(FileError, match=r"folders in it write '.*/\*\*/\*.parquet'"):
        find_partitions(tmp_path / "outer", ReadOptions())
    broken = folder / "part-2.parquet"
    table.rename({"judge": "jury"}).write_parquet(broken)
    with pytest.raises(FileError, match="it has no 'judge', and it has 'jury' besides"):
        find_partitions(folder, ReadOptions())
    broken.write_bytes((folder / "part-0.parquet").read_bytes()[:-40])
    with pytest.raises(FileError, match=r"part-2.parquet: the Parquet file is damaged"):
        find_partitions(folder, ReadOptions())
    broken.write_text("a,b\n")
    with pytest.raises(FileError, match="this is not a Parquet or Arrow file"):
        find_partitions(folder, ReadOptions())
    table[:0].write_parquet(tmp_path / "empty" / "part.parquet")
    with pytest.raises(FileError, match="there are no rows in 1 file"):
        find_partitions(tmp_path / "empty", ReadOptions())


def test_a_row_that_cannot_be_read_names_its_file(rng, tmp_path):
    table = make_votes(rng)
    split(table, tmp_path / "votes", [140])
    wrong = table[:3].with_columns(winner=pl.Series(["ada", "nobody", "tie"]))
    wrong.write_parquet(tmp_path / "votes" / "part-2.parquet")
    with pytest.raises(FileError, match=r"part-2.parquet.*row 2 \('nobody'\)"):
        read(tmp_path / "votes")
    # A column that was recognized in one file, and has gaps in the other.
    gaps = table[:9].with_columns(judge=pl.Series([None] * 6 + [1, 2, 3]))
    gaps.write_parquet(tmp_path / "votes" / "part-2.parquet")
    known = read_partitions(tmp_path / "votes", ReadOptions(), silent)
    said = known.detected
    assert "rater" not in known.data.columns
    assert "rater" not in known.by_row.columns
    assert any("The rater is not used: part-2.parquet" in line for line in said)


def test_patterns_and_names(tmp_path):
    assert is_partitioned(tmp_path)
    assert is_partitioned(tmp_path / "*.parquet")
    strange = tmp_path / "what[1]?.csv"
    assert is_partitioned(strange)
    strange.write_text("left,right,outcome\na,b,left\n")
    assert not is_partitioned(strange)  # a file is a file, whatever its name
    assert not is_partitioned(tmp_path / "none.csv")


def test_a_pattern_that_names_nothing_comes_before_its_options(run, tmp_path):
    done = run("rank", f"{tmp_path}/*.parquet", "--by", "language")
    assert done.code == 3 and "no file has such a name" in done.stderr


def test_sentences_of_many_files():
    said = [["All alike.", "3 rows left out."], ["All alike.", "17 rows left out."]]
    assert join_sentences(["x/a", "x/b"], said) == [
        "All alike.", "a: 3 rows left out. The same in 1 other file."
    ]  # fmt: skip
    assert join_sentences(["x/a", "x/b"], [["Odd."], []]) == ["a: Odd."]


def test_rows_out_of_order_are_not_spoken_of_by_number(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(held_out, "ENOUGH_ROWS", 100)
    split(make_matches(rng)[::-1], tmp_path / "log", [90])
    report = checks.check_data(read(tmp_path / "log"))
    assert report.n_rows == 400
    assert not report.periods.is_sorted
    assert "unsorted" not in {finding.code for finding in report.findings}


def test_rows_that_cannot_be_read_are_kept_with_their_files(tmp_path):
    votes = {"left": ["A", "B", "A", "C"], "right": ["B", "C", "C", "A"]}
    first = pl.DataFrame(votes | {"outcome": ["left", "tie", "right", "oops"]})
    second = pl.DataFrame(votes | {"outcome": ["right", "left", None, "left"]})
    first.write_parquet(tmp_path / "a.parquet")
    second.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"a\.parquet: 1 row .* skip_bad_rows=True"):
        tiebreak.rank(tmp_path)
    answer = tiebreak.rank(tmp_path, skip_bad_rows=True)
    kept = answer.source.skipped.select("file", "place", "left", "outcome").rows()
    assert kept == [
        ("a.parquet", "row 4", "C", "oops"),
        ("b.parquet", "row 3", "A", None),
    ]
    assert answer.checks.n_rows == 6
    for name in ("a", "b"):
        grades = pl.DataFrame({
            "query": [name] * 4, "grade": [2, 0, None, 1], "x": [3.0, 1.0, 0.5, 2.0]
        })  # fmt: skip
        grades.write_parquet(tmp_path / f"{name}.parquet")
    answer = tiebreak.rank(tmp_path, skip_bad_rows=True)
    assert answer.source.skipped["file"].to_list() == ["a.parquet", "b.parquet"]
