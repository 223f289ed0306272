# SPDX-License-Identifier: BSD-3-Clause
"""What the organizer sees: agreement of the raters, and how each of them answers."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from scipy.stats import binomtest

from tiebreak.ask.engine import Engine
from tiebreak.ask.store import SIGNS, Question, Rater
from tiebreak.metrics import comparison_units, krippendorff_alpha

_SURE = 0.01  # p-value below which somebody prefers a side
_FEW = 10  # so many answers are needed to say something of a person
_FAST = 1 / 3  # of the median time of all
_CONSISTENT = 0.6
_PAIRS = 10


def overview(study: Engine) -> dict[str, Any]:
    """All that the page of the organizer shows."""
    questions = [q for q in study.store.questions() if q.outcome is not None]
    answers = [q for q in questions if q.outcome in SIGNS]
    by_rater: defaultdict[int, list[Question]] = defaultdict(list)
    for question in questions:
        by_rater[question.rater].append(question)
    times = [q.seconds for q in answers if q.seconds is not None]
    usual = float(np.median(times)) if times else None
    people = [
        _person(rater, by_rater[rater.number], usual) for rater in study.store.raters()
    ]
    return {
        "people": people,
        "progress": study.progress,
        "goal": study.settings.goal,
        "file": study.store.path.name,
        "board": study.board(),
        "n_items": len(study.names),
        **_agreement(study, answers),
    }


def _oriented(question: Question) -> tuple[tuple[int, int], int]:
    """The pair with the smaller number first, and who is better there."""
    assert question.outcome is not None
    sign = SIGNS[question.outcome]
    pair = (question.left, question.right)
    return (pair, sign) if pair[0] < pair[1] else (pair[::-1], -sign)


def _person(
    rater: Rater, questions: list[Question], usual: float | None
) -> dict[str, Any]:
    counts = Counter(q.outcome for q in questions)
    answers = [q for q in questions if q.outcome in SIGNS]
    left, decided = counts["left"], counts["left"] + counts["right"]
    times = [q.seconds for q in answers if q.seconds is not None]
    seconds = float(np.median(times)) if times else None
    again, same = consistency(answers)
    notes = []
    if len(answers) >= _FEW and decided:
        if binomtest(left, decided).pvalue < _SURE:
            notes.append(
                f"prefers the {'left' if 2 * left > decided else 'right'} side"
            )
        if seconds is not None and usual and seconds < _FAST * usual:
            notes.append("much faster than the others")
        if again >= 5 and same < _CONSISTENT * again:
            notes.append("often answers a repeated pair differently")
    return {
        "name": rater.name,
        "token": rater.token,
        "answers": len(answers),
        "skipped": counts["skip"],
        "ties": counts["tie"] + counts["both_bad"],
        "left": left,
        "right": counts["right"],
        "seconds": seconds,
        "again": again,
        "same": same,
        "notes": notes,
    }


def consistency(answers: list[Question]) -> tuple[int, int]:
    """How many pairs a rater answered again, and how many of them the same way."""
    first: dict[tuple[int, int], int] = {}
    again = same = 0
    for question in answers:
        pair, sign = _oriented(question)
        if pair in first:
            again += 1
            same += first[pair] == sign
        first[pair] = sign
    return again, same


def _agreement(study: Engine, answers: list[Question]) -> dict[str, Any]:
    votes: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for question in answers:
        pair, sign = _oriented(question)
        votes[pair][question.rater] = sign
    shared = {pair: by for pair, by in votes.items() if len(by) > 1}
    alpha = None
    rows = [(*p, r, sign) for p, by in shared.items() for r, sign in by.items()]
    if len(shared) > 1 and len({row[-1] for row in rows}) > 1:
        left, right, raters, signs = zip(*rows, strict=True)
        units, values = comparison_units(left, right, signs)
        alpha = krippendorff_alpha(
            units, raters, values, level="ordinal", symmetric=True
        )
    name = study.names
    pairs: list[dict[str, Any]] = []
    for (a, b), by in shared.items():
        counts = Counter(by.values())
        sides = {"left": name.get(a, "?"), "right": name.get(b, "?")}
        votes_of = {"first": counts[-1], "tie": counts[0], "second": counts[1]}
        pairs.append(sides | votes_of)
    pairs.sort(key=lambda p: -min(p["first"], p["second"]))
    disputed = [p for p in pairs[:_PAIRS] if min(p["first"], p["second"])]
    return {"alpha": alpha, "n_shared": len(shared), "disputed": disputed}
