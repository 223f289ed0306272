# SPDX-License-Identifier: BSD-3-Clause
"""In a notebook: results as tables, pictures on given axes, warnings that are read."""

import numpy as np
import pytest

import tiebreak
from tiebreak import (
    BradleyTerry,
    Leaderboard,
    Pairs,
    check_pairs,
    tune,
)
from tiebreak.selection import evaluate_folds

HOSTILE = ["<script>alert(1)</script>", "[red]Ada[/red]", "gnp.\u202eexe"]


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    pairs = Pairs(left=rng.choice(HOSTILE[:2], 30), right=np.repeat(HOSTILE[2], 30))
    return pairs, rng.choice([-1, 0, 1], 30)


# What the last line of a cell shows


def results(votes):
    return {
        "leaderboard": Leaderboard.from_results(*votes),
        "check": check_pairs(*votes),
        "search": tune(BradleyTerry(), *votes, {"alpha": [0.1, 1.0]}, cv=2),
        "evaluation": evaluate_folds(
            {name: BradleyTerry() for name in HOSTILE}, *votes
        ),
    }


def test_results_are_tables_and_names_are_text(votes):
    for name, result in results(votes).items():
        html = result._repr_html_()
        assert "<table>" in html, name
        assert "<script>" not in html
        assert "\u202e" not in html
    board = Leaderboard.from_results(*votes)._repr_html_()
    assert "&lt;script&gt;" in board
    assert "[red]Ada[/red]" in board
    assert "Prior: strengths are within" in board  # what the intervals rest on


@pytest.mark.parametrize(
    "name", [n for n in tiebreak.__all__ if hasattr(getattr(tiebreak, n), "fit")]
)
def test_every_model_has_the_diagram_of_scikit_learn(name):
    kind = getattr(tiebreak, name)
    needed = {
        "ThresholdCompare": {"ranker": tiebreak.RankSVM(C=3.0)},
        "OnItems": {"transformer": tiebreak.NystroemMap()},
        "WithoutTies": {"model": tiebreak.RankSVM()},
    }
    model = kind(**needed.get(name, {}))
    assert f"{name}" in model._repr_html_()
    assert "text/html" in model._repr_mimebundle_()
