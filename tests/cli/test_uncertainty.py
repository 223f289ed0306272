# SPDX-License-Identifier: BSD-3-Clause
"""What the command says of few results, of one rater, and of items that never meet."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import load_worldcup2022


@pytest.fixture
def rank(run, tmp_path):
    """Write rows, rank them, and give what was said and the leaderboard."""

    def start(rows, *options, columns="left,right,outcome"):
        path = tmp_path / "file.csv"
        path.write_text("\n".join([columns, *rows]) + "\n")
        out = tmp_path / "out"
        done = run("rank", path, "--out", out, *options)
        assert done.code == 0, done.stderr
        said = " ".join(done.stdout.split())
        return said, pl.read_csv(out / "leaderboard.csv"), out

    return start


def answer_of(out):
    """Read the sentence that a report begins with."""
    page = (out / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<p class="standfirst"><span dir="auto">(.*?)</span>', page)
    return found[1].replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("votes", "worst", "sentence"),
    [
        (1, 2, "a is ahead, but each of the 2 items could be best, with 95 %"),
        (3, 2, "a is ahead, but each of the 2 items could be best, with 95 %"),
        (100, 1, "a is best, with 95 % confidence."),
    ],
)
def test_who_wins_everything_is_best_after_enough_votes(rank, votes, worst, sentence):
    said, board, out = rank(["a,b,left"] * votes)
    assert sentence in said and sentence in answer_of(out)
    assert board["provisional"].all() == (votes == 1)
    assert board["rank_worst"].to_list() == [worst, 2]


def test_a_newcomer_with_three_wins_is_provisional(rank):
    rng = np.random.default_rng(0)
    left = rng.integers(0, 6, 3000)
    right = (left + rng.integers(1, 6, 3000)) % 6
    d = (right - left) / 2 + rng.logistic(size=3000)
    words = np.where(np.abs(d) < 0.6, "tie", np.where(d > 0, "right", "left"))
    rows = [f"m{a},m{b},{word}" for a, b, word in zip(left, right, words, strict=True)]
    said, board, out = rank([*rows, "new,m5,left", "new,m4,left", "new,m3,left"])
    new = board.filter(pl.col("item") == "new").row(0, named=True)
    assert new["provisional"]
    assert new["rank"] > 1
    assert "m5 is" in said
    assert "provisional: few results, placed by the lower end" in said
    assert "m5 is" in answer_of(out)
    assert board.filter(~pl.col("provisional")).height == 6


def test_who_lost_everything_is_less_certain_than_the_middle(run, tmp_path):
    cup = load_worldcup2022()
    path = tmp_path / "cup.csv"
    words = np.array(["left", "tie", "right"])[cup.y + 1]
    names = {"left": cup.pairs.names[cup.pairs.left]}
    names["right"] = cup.pairs.names[cup.pairs.right]
    pl.DataFrame(names | {"outcome": words}).write_csv(path)
    out = tmp_path / "out"
    done = run("rank", path, "--out", out, "--json")
    assert done.code == 0, done.stderr
    board = pl.read_csv(out / "leaderboard.csv")
    width = board.with_columns(width=pl.col("upper") - pl.col("lower"))
    lost = width.filter(pl.col("item") == "Canada")["width"][0]
    assert lost > width["width"].median()
    # Sixty-four matches separate nobody, and say so everywhere in the same way.
    assert set(board["group"]) == {"a"}
    assert set(board["rank_best"]) == {1}
    assert set(board["rank_worst"]) == {32}
    summary = " ".join(json.loads(done.stdout)["summary"])
    assert "each of the 32 items could be best" in summary


def test_one_judge_is_the_normal_case(rank):
    rows = [
        f"{a},{b},{word},gpt"
        for a, b, word in 8
        * [
            ("a", "b", "left"),
            ("b", "c", "left"),
            ("c", "a", "left"),
            ("a", "c", "tie"),
        ]
    ]
    columns = "left,right,outcome,judge"
    said, board, _ = rank(rows, "--verbose", columns=columns)
    assert "All votes are those of 1 rater" in said
    assert board["lower"].is_not_null().all()
    plain, alone, _ = rank(rows, "--rater", "none", columns=columns)
    assert "rater" not in plain
    assert board["lower"].to_list() == pytest.approx(alone["lower"].to_list())


def test_items_that_never_meet_are_not_ranked_against_each_other(rank):
    rows = ["a,b,left"] * 30 + ["a,b,right"] + ["c,d,left"] * 30 + ["c,d,right"]
    said, board, _ = rank(rows)
    assert "No item is called the best, because of a problem in the data" in said
    assert "Problem: The items fall into 2 sets that never meet" in said
    ranks = {
        row["item"]: (row["rank_best"], row["rank_worst"]) for row in board.to_dicts()
    }
    assert ranks == {"a": (1, 1), "b": (2, 2), "c": (1, 1), "d": (2, 2)}


def test_the_best_of_most_items_is_named_where_a_few_never_meet_them(rank):
    rows = [f"{a},{b},left" for a, b in ("ab", "bc", "cd", "ac", "bd")] * 30
    rows += ["b,a,left", "c,b,left", "d,c,left", "x,y,left", "y,x,left"]
    said, board, _ = rank(rows)
    said = " ".join(said.split())
    assert "a is best, with 95 % confidence; 2 other items were never compared" in said
    ranks = {row["item"]: row["rank_worst"] for row in board.to_dicts()}
    assert ranks["a"] == 1  # of those that it meets


def test_versus_answers_in_a_sentence(run, tmp_path):
    path = tmp_path / "file.csv"
    rows = ["a,b,left"] * 40 + ["a,b,right"] * 5 + ["b,c,left"] * 5 + ["c,a,right"] * 4
    path.write_text("\n".join(["left,right,outcome", *rows, "c,b,left"]) + "\n")
    done = run("versus", path, "a", "b")
    assert done.code == 0, done.stderr
    assert "a is better than b (p < .0001)" in " ".join(done.stdout.split())
    found = json.loads(run("versus", path, "a", "--json").stdout)["versus"]
    assert {row["other"] for row in found} == {"b", "c"}
    assert all(row["p_adjusted"] >= row["p_value"] for row in found)
    done = run("versus", path, "a", "nobody")
    assert done.code == 4
    said = " ".join(done.stderr.split())
    assert "'nobody' is not among the items, which are 'a', 'b', 'c'." in said
    said = " ".join(run("versus", path, "a").stdout.split())
    assert "a is better than b, c (with 95 % confidence in both compari" in said
    said = " ".join(run("versus", path, "b", "c").stdout.split())
    assert "The results do not separate b from c (p = ." in said


def test_versus_of_items_that_never_meet(run, tmp_path):
    path = tmp_path / "file.csv"
    rows = ["a,b,left"] * 30 + ["a,b,right"] + ["c,d,left"] * 30 + ["c,d,right"]
    path.write_text("\n".join(["left,right,outcome", *rows]) + "\n")
    done = run("versus", path, "a")
    said = " ".join(done.stdout.split())
    assert "a is better than b (p < .0001)" in said
    assert "a never meets c, d, not even through others." in said
    assert not done.stderr  # the notes say it, once


def test_ties_alone_say_nothing_of_differences_or_odds(rank, run, tmp_path):
    said, _, out = rank(["a,b,tie", "b,c,tie", "c,a,tie"] * 5)
    assert "3 items share the highest rating." in said and "invalid" not in said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "odds of" not in page and "confidence interval for each" not in page
    done = run("versus", tmp_path / "file.csv", "a", "b")
    assert "and more than ties" in " ".join(done.stderr.split())


def test_equal_items_are_not_ahead(rank):
    said, _, _ = rank(["a,b,left", "b,a,left"] * 20)
    assert said.startswith("2 items share the highest rating; each of the 2 items cou")


def test_rows_of_one_unit_are_not_named_again(run, tmp_path):
    rows = ["a,b,left,0", "b,c,tie,1", "c,a,right,2", "b,a,right,3", "c,b,left,4"] * 4
    rows = [f"{row},r" for row in rows]
    path = tmp_path / "file.csv"
    path.write_text("\n".join(["left,right,outcome,task,rater", *rows]) + "\n")
    assert "--drop-duplicates" in " ".join(run("check", path).stdout.split())
    said = " ".join(run("check", path, "--unit", "task").stdout.split())
    assert "--unit" not in said and "equal to an earlier one" not in said


def test_next_says_a_small_difference_and_who_could_be_best(run, tmp_path):
    rows = ["a,b,left"] * 5001 + ["a,b,right"] * 4999
    path = tmp_path / "file.csv"
    path.write_text("\n".join(["left,right,outcome", *rows]) + "\n")
    said = " ".join(run("next", path).stdout.split())
    assert "2 items could be best, with 95 % confidence. About " in said
    assert re.search(r"is the 0\.\d\d points estimated now", said)


def test_versus_names_its_question_and_speaks_of_matches(run):
    words = "versus", "worldcup2022", "France", "Brazil"
    said = run(*words, "--nouns", "team,match").stdout
    assert re.search(r"p \(all\) +matches", said) and "direct matches" in said
    question = json.loads(run(*words, "--json").stdout)["question"]
    assert question == "these two, chosen beforehand"


def test_versus_claims_results_alone_of_strengths_only(run):
    for model, alone in (("bradley-terry", True), ("glicko", False)):
        said = run("versus", "worldcup2022", "France", "Brazil", "--model", model)
        assert ("by the results alone" in " ".join(said.stdout.split())) == alone


def check_agreement(run, path):
    """Compare what five commands say of one file."""

    def ask(*words):
        done = run(*words, "--json")
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)

    ranked = ask("rank", path)
    rows = ranked["leaderboard"]
    best = [row["item"] for row in rows if row["could_be_best"]]
    assert best == [row["item"] for row in rows if row["rank_best"] == 1]
    summary = ranked["summary"][0]
    assert (" is best" in summary) == (len(best) == 1)
    assert len(best) == 1 or f"{len(best)} of {len(rows)} models could be" in summary
    first, second = rows[0]["item"], rows[1]["item"]
    found = ask("next", path)["first_two"]
    assert found["could_be_best"] == best
    said = " ".join(run("next", path).stdout.split())
    assert ("no more votes are needed" in said) == (len(best) == 1)
    claims = {one["claim"]: one for one in ask("audit", path)["claims"]}
    sure = claims[f"{first} is first"]["confidence"]
    assert (sure >= 0.95) == (best == [first])
    (row,) = ask("versus", path, first, second)["versus"]
    assert row["p_value"] == pytest.approx(found["p_value"], rel=1e-9)
    above = claims[f"{first} is above {second}"]
    assert above["confidence"] == pytest.approx(1 - row["p_value"], abs=1e-9)
    changes = ask("diff", path, path)["changes"]
    assert not any(change["more_than_noise"] for change in changes)


def test_five_commands_agree(run):
    votes = Path(__file__).parents[2] / "docs" / "data" / "votes.csv"
    check_agreement(run, votes)
    # At the confidence of "is first" the others leave those that could be best.
    (claim,) = [
        claim
        for claim in json.loads(run("audit", votes, "--json").stdout)["claims"]
        if claim["kind"] == "first"
    ]
    for more, n_best in ((-1e-3, 1), (1e-3, 2)):
        level = f"{claim['confidence'] + more}"
        ranked = json.loads(run("rank", votes, "--level", level, "--json").stdout)
        best = [row for row in ranked["leaderboard"] if row["could_be_best"]]
        found = json.loads(run("next", votes, "--level", level, "--json").stdout)
        assert len(best) == len(found["first_two"]["could_be_best"]) == n_best


@pytest.mark.extended
def test_five_commands_agree_on_an_arena(run, data_dir):
    check_agreement(run, data_dir / "lm_arena_140k" / "battles.csv.gz")
