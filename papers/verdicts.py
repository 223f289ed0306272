# SPDX-License-Identifier: BSD-3-Clause
"""Whether a number of ours is that of a paper, better or worse, in words.

All sentences under tables that quote results are made here or beside the table, from
the results themselves, so that they cannot be about other numbers than those shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from papers.tables import Sample

__all__ = [
    "WORSE",
    "chance",
    "counted",
    "errors_apart",
    "listed",
    "spell",
    "verdict",
]

WORSE = 2.0
"""Standard errors of a difference from which on two numbers are not the same."""

_WORDS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve",
)  # fmt: skip


def errors_apart(
    ours: Sample,
    theirs: float,
    *,
    spread: float | None = None,
    repetitions: int | None = None,
    reading: float = 0.0,
    higher: bool = False,
) -> float | None:
    """Say by how many standard errors of the difference ours is worse.

    Parameters
    ----------
    ours : Sample
        Repetitions of our number.
    theirs : float
        The paper's mean.
    spread, repetitions : float and int, optional
        Standard deviation and number of the paper's repetitions. Where the paper does
        not say, its mean is taken to be as uncertain as ours.
    reading : float, default=0.0
        By how much the paper's number may be off, either way, where it is read off a
        figure.
    higher : bool, default=False
        Whether higher is better.

    Returns
    -------
    float or None
        Negative if ours is better; None with fewer than two repetitions or without any
        spread.
    """
    own = ours.error**2
    other = own if spread is None else spread**2 / (repetitions or 1)
    if len(ours) < 2 or own + other == 0.0:
        return None
    difference = ours.mean - theirs
    # What lies anywhere within ± h has a variance of h² / 3.
    error = math.sqrt(own + other + reading**2 / 3.0)
    return (-difference if higher else difference) / error


def verdict(apart: Mapping[str, float | None]) -> str:
    """Count what is reproduced, better and worse, and name what is worse.

    Parameters
    ----------
    apart : mapping
        Name of each number, and what `errors_apart` says of it.

    Returns
    -------
    str
        One sentence; empty if there is nothing to compare yet.
    """
    known = {name: value for name, value in apart.items() if value is not None}
    if not known:
        return ""
    better = [name for name, value in known.items() if value < -WORSE]
    worse = [f"{name} ({v:.1f})" for name, v in known.items() if v > WORSE]
    same = len(known) - len(better) - len(worse)
    if same == len(known):
        return (
            f"Reproduced: all {len(known)} numbers are within two standard errors of "
            "the difference."
        )
    text = (
        f"Of {len(known)} numbers {spell(same)} {_are(same)} reproduced, within two "
        f"standard errors of the difference, {spell(len(better))} {_are(len(better))} "
        f"better and {spell(len(worse))} {_are(len(worse))} worse"
    )
    if worse:
        text += f": {listed(worse)}, in standard errors"
    return text + "."


def chance(p: float) -> str:
    """Write the p of a test."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def counted(flags: list[bool]) -> str:
    """Write how many of several are true, such as "six of eight"."""
    return f"{spell(sum(flags))} of {spell(len(flags))}"


def spell(number: int) -> str:
    """Write a small number as a word."""
    return _WORDS[number] if number < len(_WORDS) else f"{number}"


def listed(names: list[str]) -> str:
    """Write a list as a phrase."""
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " and " + names[-1]


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
