# SPDX-License-Identifier: BSD-3-Clause
"""What mypy and pyright say of a program that uses the library."""

import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import tiebreak
from tiebreak import BradleyTerry, Elo, Leaderboard, Orders, Outcome, Pairs
from tiebreak import NystroemMap, PlackettLuce, RankSVM, Study, SVMCompare
from tiebreak.metrics import ndcg

pairs = Pairs(None, ["a", "b"], ["b", "c"])
y = Outcome.parse(["left", "tie"])
model: BradleyTerry = BradleyTerry(alpha=0.5).fit(pairs, y, advantage=[1, 0])
rows: int = Leaderboard(model).table.height
elo: Elo = Elo(k=20).fit(pairs, y, period=[1, 2])
rating = float(elo.rating_[0])
wines = [[11.5], [12.0]]
machine: SVMCompare = SVMCompare(kernel="linear").fit(Pairs(wines, [0], [1]), [1])
order = machine.order(wines)
gap: float = machine.gap_
ranker: RankSVM = RankSVM(kernel="linear").fit(wines, [0, 1], qid=[1, 1])
lists: PlackettLuce = PlackettLuce().fit(Orders(None, [["a", "b"]]))
result = tiebreak.rank({"left": ["a"], "right": ["b"], "outcome": ["left"]})
tiebreak.save(model, "model.tiebreak")
landmarks: NystroemMap = NystroemMap(n_landmarks=2).fit(wines)
calls: int = Study(["a", "b"]).run(lambda left, right: "tie", max_calls=2)
value = ndcg([1, 0], ranker.utility(wines), ["q", "q"], 10)
"""
WRONG = PROGRAM + 'BradleyTerry().fit(pairs, y, advantages=1)\nelo = "no model"\n'


def check(tmp_path, program, *command):
    (tmp_path / "program.py").write_text(program)
    return subprocess.run(
        [*command, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )


@pytest.mark.extended
def test_mypy_is_strict_and_knows_the_models(tmp_path):
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    right = check(tmp_path, PROGRAM, *mypy)
    assert right.returncode == 0, right.stdout
    wrong = check(tmp_path, WRONG, *mypy)
    assert 'argument "advantages"' in wrong.stdout
    assert "Found 2 errors" in wrong.stdout


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright")
def test_pyright_knows_the_models(tmp_path):
    pyright = ["pyright", "--pythonpath", sys.executable]
    assert check(tmp_path, PROGRAM, *pyright).returncode == 0
    assert "2 errors" in check(tmp_path, WRONG, *pyright).stdout
