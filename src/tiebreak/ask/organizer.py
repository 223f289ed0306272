# SPDX-License-Identifier: BSD-3-Clause
"""What the organizer sees: agreement of the raters, and how each of them answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import binomtest

from tiebreak.ask.store import SIGNS, Question
from tiebreak.ask.study import Study
from tiebreak.metrics import comparison_units, krippendorff_alpha

_SURE = 0.01  # p-value below which somebody prefers a side
_FEW = 10  # so many answers are needed to say something of a person
_FAST = 1 / 3  # of the median time of all
_CONSISTENT = 0.6
_PAIRS = 10


def overview(study: Study) -> dict[str, Any]:
    """All that the page of the organizer shows."""
    questions = study.store.questions(is_open=False)
    answers = [q for q in questions if q.outcome in SIGNS]
    names = {rater.number: rater for rater in study.store.raters()}
    by_rater: defaultdict[int, list[Question]] = defaultdict(list)
    for question in questions:
        by_rater[question.rater].append(question)
    times = [q.seconds for q in answers if q.seconds is not None]
    usual = float(np.median(times)) if times else None
    people = [
        _person(rater.name, rater.token, by_rater[number], usual)
        for number, rater in names.items()
    ]
    progress = study.progress
    return {
        "people": people,
        "progress": progress,
        "goal": study.settings.goal,
        "file": study.store.path.name,
        "board": study.board(100),
        "n_items": len(study.items.items),
        **_agreement(study, answers),
    }


def _oriented(question: Question) -> tuple[tuple[int, int], int]:
    """The pair with the smaller number first, and who is better there."""
    assert question.outcome is not None
    sign = SIGNS[question.outcome]
    pair = (question.left, question.right)
    return (pair, sign) if pair[0] < pair[1] else (pair[::-1], -sign)


def _person(
    name: str, token: str, questions: list[Question], usual: float | None
) -> dict[str, Any]:
    answers = [q for q in questions if q.outcome in SIGNS]
    sides = {
        side: sum(q.outcome == side for q in answers) for side in ("left", "right")
    }
    times = [q.seconds for q in answers if q.seconds is not None]
    seconds = float(np.median(times)) if times else None
    again, same = consistency(answers)
    notes = []
    decided = sides["left"] + sides["right"]
    if len(answers) >= _FEW and decided:
        p = binomtest(sides["left"], decided).pvalue
        if p < _SURE:
            side = "left" if 2 * sides["left"] > decided else "right"
            notes.append(f"prefers the {side} side")
        if seconds is not None and usual and seconds < _FAST * usual:
            notes.append("much faster than the others")
        if again >= 5 and same < _CONSISTENT * again:
            notes.append("often answers a repeated pair differently")
    return {
        "name": name,
        "token": token,
        "answers": len(answers),
        "skipped": len(questions) - len(answers),
        "ties": sum(q.outcome in ("tie", "both_bad") for q in answers),
        **sides,
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


def _agreement(study: Study, answers: list[Question]) -> dict[str, Any]:
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
    pairs: list[dict[str, Any]] = [
        {
            "left": name.get(a, "?"),
            "right": name.get(b, "?"),
            "first": sum(s < 0 for s in by.values()),
            "tie": sum(s == 0 for s in by.values()),
            "second": sum(s > 0 for s in by.values()),
        }
        for (a, b), by in shared.items()
    ]
    pairs.sort(key=lambda p: -min(p["first"], p["second"]))
    disputed = [p for p in pairs[:_PAIRS] if min(p["first"], p["second"])]
    return {"alpha": alpha, "n_shared": len(shared), "disputed": disputed}
