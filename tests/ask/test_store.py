# SPDX-License-Identifier: BSD-3-Clause
"""The file of answers: nothing lost, nothing doubled, and resumed as it was."""

import os
import sqlite3
import stat
from contextlib import closing

import numpy as np
import pytest

import tiebreak
from tests.ask.conftest import open_engine
from tiebreak.ask import engine
from tiebreak.ask.store import Answer, Refused, Store
from tiebreak.data.messages import ReadWarning
from tiebreak.io import FileError, read_file
from tiebreak.io.answers import read_answers


def hashes_of(names, mark=""):
    return {name: name + mark for name in names}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "texts.answers.sqlite"


@pytest.fixture
def make(path):
    """Open a study on the same file, again and again."""
    opened = []

    def make(items="abcdef", **more):
        for study in opened:
            study.close()
        study = open_engine(items, path, **more)
        opened.append(study)
        return study, study.store.rater("Ada")

    yield make
    opened[-1].close()


def tell(study, rater, number, outcome="left"):
    """Send one answer; whether it is new, or raise what the page would show."""
    [result] = study.answer([Answer(rater.number, number, outcome, 2.0)])
    if isinstance(result, Refused):
        raise result
    return result


def answer(study, rater, outcome="left"):
    number = study.open_questions(rater)[0].number
    assert tell(study, rater, number, outcome)
    return number


def test_answers_are_kept_once_whatever_is_sent_again(make, path):
    study, ada = make()
    number = study.open_questions(ada)[0].number
    assert tell(study, ada, number, "tie")
    assert not tell(study, ada, number, "tie")
    with pytest.raises(Refused, match="answered already"):
        tell(study, ada, number, "left")
    with pytest.raises(Refused, match="was not asked"):
        tell(study, ada, 999, "left")
    bo = study.store.rater("Bo")
    with pytest.raises(Refused, match="was not asked"):
        tell(study, bo, study.open_questions(ada)[0].number, "left")
    with pytest.raises(Refused, match="one of left, tie"):
        tell(study, ada, study.open_questions(ada)[0].number, "up")
    assert len(study.chooser) == 1
    assert read_answers(path).select("outcome", "rater", "seconds").rows() == [
        ("tie", "Ada", 2.0)
    ]


def test_a_study_goes_on_where_it_was(make):
    study, ada = make()
    for outcome in ("left", "tie", "right", "skip", "both_bad", "left"):
        answer(study, ada, outcome)
    asked = [shown.number for shown in study.open_questions(ada)]
    study._fit.result()
    again, same = make()
    assert same == ada
    assert [shown.number for shown in again.open_questions(ada)] == asked
    assert (len(again.chooser), again.raters[ada.number].done) == (5, 6)
    assert again.chooser.games.tolist() == study.chooser.games.tolist()
    study.chooser.refit()
    np.testing.assert_allclose(
        again.chooser.beliefs.mean, study.chooser.beliefs.mean, atol=0.1
    )


def test_the_last_answer_can_be_taken_back_once(make, path):
    study, ada = make()
    first, last = answer(study, ada), answer(study, ada, "right")
    with pytest.raises(Refused, match="Only the last"):
        study.undo(ada, first)
    games = study.chooser.games.copy()
    assert study.undo(ada, last)
    assert not study.undo(ada, last)
    assert study.open_questions(ada)[0].number == last
    assert len(study.chooser) == 1
    undone = study.store._db.execute("SELECT question, outcome FROM undone")
    assert undone.fetchall() == [(last, "right")]
    assert read_answers(path).height == 1
    assert tell(study, ada, last, "tie")
    assert read_answers(path)["outcome"].to_list() == ["left", "tie"]
    assert study.chooser.games.tolist() == games.tolist()


def test_an_undone_skip_is_asked_again(make):
    study, ada = make()
    games = study.chooser.games.copy()
    number = answer(study, ada, "skip")
    study.undo(ada, number)
    tell(study, ada, number, "left")
    assert len(study.chooser) == 1
    assert study.chooser.games.sum() >= games.sum() + 2


def test_answers_that_arrive_together_are_saved_together_or_not_at_all(make, path):
    study, ada = make("abcdefghij")
    bo = study.store.rater("Bo")
    now = [study.open_questions(rater)[0].number for rater in (ada, bo)]
    own, foreign = (Answer(rater.number, now[0], "left") for rater in (ada, bo))
    given = [own, own, foreign, Answer(bo.number, now[1], "tie")]
    commits: list[str] = []
    study.store._db.set_trace_callback(
        lambda text: commits.append(text) if text == "COMMIT" else None
    )
    first, again, refused, second = study.answer(given)
    assert (first, again, second) == (True, False, True)
    assert isinstance(refused, Refused)
    assert len(commits) == 1  # with the next questions of both
    assert all(len(study.raters[rater.number].open) == 2 for rater in (ada, bo))
    before = study.chooser.games.copy(), len(study.chooser)
    shown = [study.open_questions(rater)[0].number for rater in (ada, bo)]
    study.store._db.execute("PRAGMA query_only = 1")
    [error] = study.answer([Answer(ada.number, shown[0], "left")])
    assert "Nothing was saved" in str(error) and error.status == 507
    study.store._db.execute("PRAGMA query_only = 0")
    assert read_answers(path).height == 2
    assert (study.chooser.games.tolist(), len(study.chooser)) == (
        before[0].tolist(), before[1],
    )  # fmt: skip
    assert study.open_questions(ada)[0].number == shown[0]
    assert study.answer([Answer(ada.number, shown[0], "left")]) == [True]


def test_an_answer_that_fails_takes_no_other_with_it(make, path):
    study, ada = make()
    bo = study.store.rater("Bo")
    one, two = (
        Answer(rater.number, study.open_questions(rater)[0].number, "left")
        for rater in (ada, bo)
    )
    too_large = Answer(bo.number, 2**63, "left")  # SQLite raises an OverflowError
    results = study.answer([one, too_large, two])
    assert results[::2] == [True, True] and isinstance(results[1], OverflowError)
    assert read_answers(path).height == 2


def test_a_pair_with_a_removed_item_is_refused_and_stays_as_it_was(make, path):
    study, ada = make()
    first, second = study.open_questions(ada)
    answer(study, ada)
    study._fit.result()
    gone = {study.names[first.left], study.names[second.left]}
    fewer, ada = make([name for name in "abcdef" if name not in gone])
    for change in (lambda: tell(fewer, ada, second.number),
                   lambda: fewer.undo(ada, first.number)):  # fmt: skip
        with pytest.raises(Refused, match=r"pair was removed.* Reload the page"):
            change()
    assert read_answers(path)["outcome"].to_list() == ["left"]


def test_items_are_compared_under_a_prompt_of_both(make):
    study, ada = make({"a": ["p"], "b": ["p", "q"], "c": ["q"]})
    shown = study.open_questions(ada)
    asked = {(*sorted((study.names[q.left], study.names[q.right])), q.prompt)
             for q in shown}  # fmt: skip
    assert asked == {("a", "b", "p"), ("b", "c", "q")}
    again, ada = make({name: ["p"] for name in "abc"})  # q is gone
    assert shown[0].prompt != shown[1].prompt
    assert {q.prompt for q in again.open_questions(ada)} == {"p"}
    assert len(again.open_questions(ada)) == 2
    [stale] = [q for q in shown if q.prompt == "q"]
    with pytest.raises(Refused, match="pair was removed"):
        tell(again, ada, stale.number)


def test_items_that_changed_are_noticed(path):
    store = Store(path)
    assert store.enter(hashes_of("abc")) == []
    ada = store.rater("Ada")
    question = store.ask(ada.number, 1, 2, "information")
    store.answer(question.number, ada.number, "left", None)
    assert store.enter(hashes_of("bcd")) == [
        "1 item added since the last run: d.",
        "1 item removed since the last run: a.",
    ]
    assert store.item_numbers() == {"a": 1, "b": 2, "c": 3, "d": 4}
    with pytest.raises(FileError, match=r"3 items changed since .* --accept-changes"):
        store.enter(hashes_of("bcd", "!"))
    [sentence] = store.enter(hashes_of("bcd", "!"), accept_changes=True)
    assert "3 items changed" in sentence
    assert read_answers(path).select("left", "right").rows() == [("a", "b")]
    store.close()


@pytest.fixture
def answered(make, path):
    """A file with one answer."""
    study, ada = make()
    answer(study, ada)
    study.close()
    return path


def change(path, *statements):
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["UPDATE questions SET left_item = 99"], "99"),
        (["UPDATE items SET name = CAST(x'ff' || number AS TEXT)"], "UTF-8"),
        (
            # A view that never ends.
            [
                "DROP TABLE raters",
                "CREATE VIEW raters AS WITH RECURSIVE n(number) AS (SELECT 0 UNION ALL "
                "SELECT number + 1 FROM n) SELECT number, 'x' AS name FROM n",
            ],
            "not those of a study",
        ),
        (
            ["CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM raters; END"],
            "not those of a study",
        ),
        (
            ["ALTER TABLE questions ADD big TEXT AS (hex(zeroblob(number)))"],
            "not those of a study",
        ),
        (
            # Values of another type, as if the tables had let them in.
            [
                "CREATE TEMP TABLE old AS SELECT name, sql FROM sqlite_master",
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET sql = replace(sql, 'STRICT', '')",
                "COMMIT",
                "PRAGMA writable_schema = RESET",
                "UPDATE questions SET answered = 'x'",
                "COMMIT",
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET sql = old.sql FROM old "
                "WHERE old.name = sqlite_master.name",
            ],
            "not those of a study",
        ),
    ],
    ids=["unknown item", "bytes", "view", "trigger", "generated column", "types"],
)
def test_a_database_that_lies(answered, statements, message):
    change(answered, *statements)
    with pytest.raises(FileError, match=message):
        read_answers(answered)
    if "those of a study" in message:
        with pytest.raises(FileError, match=message):
            Store(answered)


def test_a_link_is_no_second_way_into_a_study(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    first = Store(path)
    with pytest.raises(FileError, match="in use by another study or page"):
        Store(link)
    first.close()


def test_names_that_are_no_text_stop_nothing(make, path):
    make()[0].close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE raters SET name = CAST(x'ff' AS TEXT)")
        db.commit()
    study, _ = make()
    assert [rater.name for rater in study.store.raters()] == ["\ufffd", "Ada"]


def test_only_the_owner_can_read_the_links(path):
    Store(path).close()
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_database_is_not_touched(tmp_path):
    path = tmp_path / "mine.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(FileError, match="its tables are not those of a study"):
        Store(path)
    with pytest.raises(FileError, match="no answers of tiebreak ask"):
        read_file(path)
    with pytest.raises(FileError, match="cannot hold answers"):
        Store(tmp_path / "no" / "such" / "folder.sqlite")


def test_rank_reads_the_file(make, path):
    study, ada = make()
    for outcome in ("left", "tie", "right", "skip", "both_bad"):
        answer(study, ada, outcome)
    study._fit.result()  # a fit in another thread hides warnings of all threads
    with pytest.warns(ReadWarning, match="1 row in which nobody voted left out: row 4"):
        found = read_file(path)
    assert found.sentences[0].startswith("SQLite")
    assert found.data.y.tolist() == [-1, 0, 1, 0]
    assert found.data.marks["both_bad"].tolist() == [False, False, False, True]
    assert set(found.data.columns) >= {"rater", "period"}
    shown = {row[:2] for row in read_answers(path).select("left", "right").rows()}
    names = found.data.pairs.names
    left, right = names[found.data.pairs.left], names[found.data.pairs.right]
    assert set(zip(left, right, strict=True)) <= shown


def test_the_page_shows_what_rank_says(make, path):
    study, ada = make(goal="best")
    assert study.board() == []
    assert study.progress.words.startswith("6 of 6 items could be best (95 %")
    answer(study, ada, "tie")
    study._fit.result()
    assert study.board() == []  # nothing is decided
    raters = ada, study.store.rater("Bo")
    rng = np.random.default_rng(0)
    for k in range(120):
        rater = raters[k % 2]
        shown = study.open_questions(rater)[0]
        gap = 1.5 * (shown.left - shown.right) + rng.logistic()
        tell(study, rater, shown.number, "left" if gap < 0 else "right")
        study._fit.result()
        words = study.progress.words
        best = int(words.partition(" ")[0])
        assert study.progress.reached == (best == 1 and k + 2 >= 30)
        assert ("The goal is reached" in words) == study.progress.reached
    assert study.progress.reached
    study, _ = make(goal="best")  # looks at once
    table = tiebreak.rank(path).leaderboard.table
    board = study.board()
    assert [row["item"] for row in board] == table["item"].to_list()
    for name in ("rank", "rating", "lower", "upper", "could_be_best"):
        assert [row[name] for row in board] == pytest.approx(table[name].to_list())
    assert sum(row["answers"] for row in board) == 2 * len(study.chooser)


def test_the_answers_are_looked_at_when_they_are_a_tenth_more(make):
    study, ada = make()
    looks = []
    for _ in range(40):
        answer(study, ada, "right")
        study._fit.result()
        looks.append(study._looked)
    assert looks[:10] == list(range(1, 11))
    assert set(looks[10:]) == {11, 13, 15, 17, 19, 21, 24, 27, 30, 33, 37}


def test_looks_at_many_items_wait_for_answers_and_rest(make, monkeypatch):
    study, ada = make()
    monkeypatch.setattr(engine, "MANY", len(study.names) - 3)
    study.rest, looks = 1e9, []
    for _ in range(6):
        answer(study, ada, "right")
        study._fit.result()
        looks.append(study._looked)
    assert looks == [0, 0, 3, 3, 3, 3]
