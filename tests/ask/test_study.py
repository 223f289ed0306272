# SPDX-License-Identifier: BSD-3-Clause
"""Studies by program: pairs and answers by name, and judges that are callables."""

import subprocess
import sys
import threading
import time

import pytest

import tiebreak
from benchmarks.asking import calls_until
from tests.ask.conftest import open_engine
from tests.waiting import wait_for
from tiebreak import Study
from tiebreak.ask.store import Answer
from tiebreak.io import FileError
from tiebreak.io.answers import read_answers

ITEMS = list("abcdef")  # later ones are better


def better(left, right):
    return "left" if left > right else "right"


def test_pairs_are_the_same_until_they_are_answered(tmp_path):
    path = tmp_path / "a.sqlite"
    with Study(ITEMS, path=path, random_state=0) as study:
        pairs = study.next(4, rater="Ada")
        assert len(set(map(frozenset, pairs))) == 4
        assert study.next(4, rater="Ada") == pairs
        study.tell(*pairs[1], "tie", rater="Ada")
        study.tell("a", "b", "b wins", rater="Bo")  # nobody asked
        study.tell("b", "a", "skip", rater="Bo")
        assert pairs[1] not in study.next(4, rater="Ada")
        assert study.next(1, rater="Ada") == pairs[:1]
    with Study.load(path) as study:
        assert list(study._engine.names.values()) == ITEMS
        assert study.next(3, rater="Ada")[:1] == pairs[:1]
    answers = read_answers(path).select("left", "right", "outcome", "rater").rows()
    assert answers == [
        (*pairs[1], "tie", "Ada"), ("a", "b", "right", "Bo"), ("b", "a", "skip", "Bo"),
    ]  # fmt: skip


def test_what_cannot_be_told_is_refused_and_changes_nothing():
    study = Study({"a": ["p"], "b": ["p", "q"], "c": ["q"]})
    assert {pair[-1] for pair in study.next(2)} == {"p", "q"}
    for words, message in [
        (("a", "z", "left"), "'z' is not an item"),
        (("a", "c", "left"), "no pair under the prompt 'p'"),
        (("a", "a", "left"), "no pair"),
        (("a", "b", "perhaps"), "perhaps"),
    ]:
        with pytest.raises(ValueError, match=message):
            study.tell(*words, prompt="p")
    with pytest.raises(ValueError, match="No answer prefers an item"):
        study.leaderboard()
    assert study.progress.answers == 0
    for items in (["a"], ["a", "a"], {"a": [], "b": ["p"]}):
        with pytest.raises(ValueError, match=r"items must be|has no prompt"):
            Study(items)
    with pytest.raises(ValueError, match=r"goal must be|top:1 to top:1"):
        Study(["a", "b"], goal="top:2")


def test_a_copy_goes_on_and_nothing_is_written_over(tmp_path):
    study = Study(ITEMS)
    study.run(better, 12, parallel=1)
    study.save(tmp_path / "copy.sqlite")
    with pytest.raises(FileExistsError):
        study.save(tmp_path / "copy.sqlite")
    with Study.load(tmp_path / "copy.sqlite") as copy:
        assert copy.progress.answers == 12
        table, other = copy.leaderboard().table, study.leaderboard().table
        assert table["item"].to_list() == other["item"].to_list()
        with pytest.raises(FileError, match="in use by another study"):
            Study(ITEMS, path=tmp_path / "copy.sqlite")
    with pytest.raises(FileError, match="no such file"):
        Study.load(tmp_path / "none.sqlite")


def test_a_judge_answers_both_orders_until_the_goal(tmp_path):
    calls = []

    def judge(left, right, prompt):
        calls.append((left, right, prompt))
        return better(left, right)

    path = tmp_path / "a.sqlite"
    with Study({name: ["p", "q"] for name in ITEMS}, "best", path) as study:
        count = study.run(judge, max_calls=1000, parallel=3)
        assert study.settled and count == len(calls) < 1000
        assert study.leaderboard().table["item"][0] == "f"
        assert study.run(judge) == 0  # nothing is open after the goal
    swapped = {(right, left, prompt) for left, right, prompt in calls}
    assert len(swapped ^ set(calls)) <= 2 * 3  # the last calls have no partner
    answers = read_answers(path)
    assert answers.height == count and set(answers["rater"]) == {"judge"}
    assert tiebreak.rank(path).leaderboard.table["item"][0] == "f"


def test_calls_are_parallel_and_limited_with_retries(monkeypatch):
    monkeypatch.setattr("tiebreak.ask.run_judge.PAUSE", 0.0)
    barrier, failing = threading.Barrier(3, timeout=30), []

    def judge(left, right):
        barrier.wait()  # passes only if three calls run at once
        return better(left, right)

    assert Study(ITEMS).run(judge, 9, parallel=3) == 9

    def flaky(left, right):
        failing.append((left, right))
        if len(failing) % 3:
            raise TimeoutError("busy")
        return better(left, right)

    study = Study(ITEMS)
    assert study.run(flaky, 31, parallel=1) == 31 == len(failing)
    assert study.progress.answers == 10

    def broken(left, right):
        failing.append((left, right))
        return "a bee" if failing else None

    failing.clear()
    with pytest.raises(RuntimeError) as error:
        study.run(broken, parallel=1)
    assert len(failing) == 3
    left, right = failing[0]
    message = str(error.value)
    assert message.startswith(f"broken failed 3 times on {left!r} and {right!r}: Value")
    assert "a bee" in message
    assert study.progress.answers == 10
    study.run(better, 4, rater="broken")  # goes on
    assert study.progress.answers == 14


def test_an_interrupt_keeps_the_answers_that_come_in():
    study = Study(ITEMS)

    def judge(left, right):
        time.sleep(0.2)
        return better(left, right)

    def interrupted(answers):
        if answers:
            engine.save_answers = save
            save(answers)
            raise KeyboardInterrupt

    engine = study._engine
    save, engine.save_answers = engine.save_answers, interrupted
    with pytest.raises(KeyboardInterrupt):
        study.run(judge, 40, parallel=4)
    assert 2 <= study.progress.answers <= 4


def test_a_failing_answer_does_not_touch_the_others():
    """As one number that SQLite cannot hold made those of all other people fail."""
    study = open_engine(ITEMS)
    raters = [study.store.rater(name) for name in ("Ada", "Bo", "Cy")]
    numbers = [study.open_questions(rater)[0].number for rater in raters]
    numbers[1] = 2**63
    answers = [Answer(rater.number, number, "left")
               for rater, number in zip(raters, numbers, strict=True)]  # fmt: skip
    first, second, third = study.answer(answers)
    assert first is third is True and isinstance(second, OverflowError)
    assert study.progress.answers == 2


_JUDGED = """
import sys, time
from tiebreak import Study

def judge(left, right):
    time.sleep(0.01)
    return "left" if left > right else "right"

with Study(list("abcdefgh"), "scale", sys.argv[1], level=0.9999) as study:
    save = study._engine.save_answers
    def told(answers):
        save(answers)
        for answer in answers:  # now it is acknowledged
            print(answer.question, answer.outcome, flush=True)
    study._engine.save_answers = told
    study.run(judge, int(sys.argv[2]))
"""


@pytest.mark.extended
def test_a_killed_run_loses_no_answer(tmp_path):
    path, said = tmp_path / "a.sqlite", tmp_path / "said.txt"
    for most in (30, 60, 90):
        with said.open("a") as out:
            child = subprocess.Popen(
                [sys.executable, "-c", _JUDGED, str(path), "10000"], stdout=out
            )
        wait_for(lambda most=most: said.read_text("utf-8").count("\n") >= most)
        child.kill()
        child.wait()
    lines = said.read_text("utf-8").splitlines()
    if not said.read_text("utf-8").endswith("\n"):
        lines.pop()
    saved = read_answers(path)["outcome"].to_list()
    with Study.load(path) as study:
        kept = {
            q.number: q.outcome for q in study._engine.store.questions() if q.outcome
        }
        open_now = len(study.next(4, rater="judge"))
    told = {int(number): word for number, word in map(str.split, lines)}
    assert len(told) == len(lines) >= 90  # and none counts twice
    assert told.items() <= kept.items()
    assert len(saved) - len(told) <= 3 * 4  # saved, and killed before it was said
    assert open_now >= 4  # what was asked is asked again


@pytest.mark.extended
def test_information_needs_fewer_calls_than_random_pairs():
    """The small version of `python -m benchmarks.asking calls`."""
    needed = {
        strategy: calls_until(0.8, 30, strategy, 6, 700)
        for strategy in ("information", "random")
    }
    assert needed["information"] < 0.9 * needed["random"]
