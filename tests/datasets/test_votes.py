# SPDX-License-Identifier: BSD-3-Clause
"""Votes on language models: on tables written here, and on the published ones."""

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import load_llmfao, load_lm_arena

ARENA = "lm_arena_140k/battles.csv.gz"
CROWD = "llmfao/llmfao.csv"
GOOD_ARENA = """\
model_a,model_b,winner,creative_writing,complexity,creativity,domain_knowledge,\
problem_solving,real_world,specificity,technical_accuracy,instruction_following,math
x,y,model_b,0,0,0,1,0,1,1,1,0,0
y,z,both_bad,0,0,0,0,0,0,0,0,0,1
z,z,model_a,0,0,0,0,0,0,0,0,0,1
z,x,tie,1,0,0,0,0,0,0,0,0,0
x,z,model_a,0,0,0,0,0,0,0,0,0,1
"""
GOOD_CROWD = """\
id,prompt,model_x,model_y,worker,winner,left,right
0,8,97,98,58,tie,Airoboros,Weaver 12k
0,8,97,98,83,left,Airoboros,Weaver 12k
5,2,98,97,58,right,Weaver 12k,Airoboros
"""


def test_a_small_table_of_the_arena(write):
    write(ARENA, GOOD_ARENA)
    data = load_lm_arena()
    names = data.pairs.names
    assert names[data.pairs.left].tolist() == ["x", "y", "z", "x"]
    assert names[data.pairs.right].tolist() == ["y", "z", "x", "z"]
    assert data.y.tolist() == [1, 0, 0, -1]
    assert data.y.dtype == np.int8
    assert data.both_bad.tolist() == [False, True, False, False]
    assert data.n_same == 1
    assert len(data.tags) == 10
    assert data.tags["math"].tolist() == [False, True, False, True]
    assert data.tags["creative_writing"].tolist() == [False, False, True, False]
    assert len(data.pairs[data.tags["math"]]) == 2
    assert "CC BY 4.0" in data.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tie", "draw", r"'winner' is not one of model_a, .*line 5 \('draw'\)"),
        ("z,z,model_a", "z,z,?", r"'winner' is not one of model_a, .*line 4 \('\?'\)"),
        ("1,1,1,0,0", "1,1,1,2,0", r"'instruction_following' is not 0 or 1.*line 2"),
        ("x,y,", ",y,", r"'model_a' is not text.*line 2 \(None\)"),
        ("math", "sums", "has no column 'math'"),
    ],
)
def test_broken_tables_of_the_arena(write, old, new, message):
    path = write(ARENA, GOOD_ARENA.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_lm_arena()
    assert str(path) in str(caught.value)


def test_a_small_table_of_the_crowd(write):
    write(CROWD, GOOD_CROWD)
    data = load_llmfao()
    names = data.pairs.names
    assert names[data.pairs.left].tolist() == ["Airoboros", "Airoboros", "Weaver 12k"]
    assert names[data.pairs.right].tolist() == ["Weaver 12k", "Weaver 12k", "Airoboros"]
    assert data.y.tolist() == [0, -1, 1]
    assert data.y.dtype == np.int8
    assert data.rater.tolist() == [58, 83, 58]
    assert data.prompt.tolist() == [8, 8, 2]
    assert data.pair.tolist() == [0, 0, 5]
    assert "Ustalov" in data.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tie", "both", r"'winner' is not one of left, right, tie.*line 2 \('both'\)"),
        ("right,Weaver 12k", "right,Airoboros", r"'right' is not another one.*line 4"),
        ("83", "Bob", r"'worker' is not a whole number.*line 3 \('Bob'\)"),
        ("worker", "rater", "has no column 'worker'"),
    ],
)
def test_broken_tables_of_the_crowd(write, old, new, message):
    path = write(CROWD, GOOD_CROWD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_llmfao()
    assert str(path) in str(caught.value)


def test_no_files(write):
    with pytest.raises(FileNotFoundError, match="arena-human-preference-140k"):
        load_lm_arena(download=False)
    with pytest.raises(FileNotFoundError, match=r"dustalov\.github\.io/llmfao"):
        load_llmfao(download=False)


def test_the_published_votes_of_the_arena(published):
    """All votes of the publisher's card, but for those of a model with itself."""
    raw = pl.read_csv(published(ARENA), infer_schema=False)
    same = raw.filter(pl.col("model_a") == pl.col("model_b"))
    data = load_lm_arena()
    assert data.n_same == same.height == 10
    assert len(data.pairs) == 135634 - 10
    assert data.pairs.n_items == 53
    left_out = same["winner"].to_list()
    ties = 21532 + 15754 - left_out.count("tie") - left_out.count("both_bad")
    assert int(np.sum(data.y == -1)) == 48563 - left_out.count("model_a")
    assert int(np.sum(data.y == 1)) == 49785 - left_out.count("model_b")
    assert int(np.sum(data.y == 0)) == ties
    assert int(data.both_bad.sum()) == 15754 - left_out.count("both_bad")
    assert (data.y[data.both_bad] == 0).all()


def test_the_published_votes_of_the_crowd(published):
    published(CROWD)
    data = load_llmfao()
    assert [int(np.sum(data.y == y)) for y in (-1, 1, 0)] == [2911, 2549, 3471]
    assert data.pairs.n_items == 59
    assert len(np.unique(data.rater)) == 124
    assert len(np.unique(data.prompt)) == 13
    assert len(np.unique(data.pair)) == 2139
