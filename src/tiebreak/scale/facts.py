# SPDX-License-Identifier: BSD-3-Clause
"""What is known of every partition before a fit begins."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.scale.parts import Parts

__all__ = ["PartFacts", "check_alike", "check_groups", "group_keys"]


@dataclass(frozen=True, eq=False)
class PartFacts:
    """What a partition tells of itself.

    Attributes
    ----------
    n_rows, n_features : int
        Its size.
    feature_names : tuple of str or None
        Names of its features.
    mark : tuple of float
        Sums that change with the data, to know them again.
    n_pairs, n_groups, n_idle_groups : int
        Pairs, groups, and groups without a pair.
    total : float
        Weight of the pairs.
    smallest, largest : float
        The smallest and the largest positive weight of a row.
    keys : ndarray of uint64 or None
        A number for each group that is the same on every machine.
    """

    n_rows: int
    n_features: int = 0
    feature_names: tuple[str, ...] | None = None
    mark: tuple[float, ...] = ()
    n_pairs: int = 0
    n_groups: int = 0
    n_idle_groups: int = 0
    total: float = 0.0
    smallest: float = np.inf
    largest: float = 0.0
    keys: NDArray[np.uint64] | None = None


def group_keys(names: NDArray[Any]) -> NDArray[np.uint64]:
    """Give a number for every name, the same in every process.

    Parameters
    ----------
    names : ndarray of shape (G,)
        Groups. 1 and "1" have the same number.

    Returns
    -------
    ndarray of uint64 of shape (G,)
    """
    digests = [
        hashlib.blake2b(str(name).encode(), digest_size=8).digest()
        for name in names.tolist()
    ]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def check_alike(facts: Sequence[PartFacts], labels: Sequence[str]) -> PartFacts:
    """Refuse partitions with different features; give the first that has rows.

    Parameters
    ----------
    facts : sequence of PartFacts
        One for each partition.
    labels : sequence of str
        What the partitions are called.

    Returns
    -------
    PartFacts
    """
    filled = [number for number, fact in enumerate(facts) if fact.n_rows]
    if not filled:
        raise ValueError(
            f"There are no rows in {len(labels)} partition(s), the first being "
            f"{labels[0]}."
        )
    first = facts[filled[0]]
    for number in filled[1:]:
        other = facts[number]
        same = other.n_features == first.n_features
        if not same or other.feature_names != first.feature_names:
            raise ValueError(
                f"{labels[number]} has other features than {labels[filled[0]]}: "
                f"{_describe(other)} instead of {_describe(first)}. All partitions "
                "must have the same columns, in the same order."
            )
    return first


def _describe(fact: PartFacts) -> str:
    if fact.feature_names is None:
        return f"{fact.n_features} columns"
    return ", ".join(fact.feature_names)


def check_groups(facts: Sequence[PartFacts], parts: Parts) -> None:
    """Refuse groups that lie in more than one partition.

    Parameters
    ----------
    facts : sequence of PartFacts
        One for each partition, with `keys`.
    parts : Parts
        Are asked for the names of the groups in question.
    """
    held = [np.zeros(0, np.uint64) if f.keys is None else f.keys for f in facts]
    keys = np.concatenate(held)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if not len(again):
        return
    # Two names may have one number by chance: ask for the names themselves.
    suspects = np.unique(keys[order[again]])
    seen: dict[str, int] = {}
    straddling: dict[str, tuple[int, int]] = {}
    for number, names in enumerate(parts.each(_names_of, suspects)):
        for name in names:
            if name in seen:
                straddling.setdefault(name, (seen[name], number))
            seen.setdefault(name, number)
    if not straddling:
        return
    name, (one, two) = next(iter(straddling.items()))
    raise ValueError(
        f"{len(straddling)} group(s) lie in more than one partition: group {name!r} is "
        f"in {parts.labels[one]} and in {parts.labels[two]}. Items of a group are "
        "compared with each other, so that a group must lie in one partition, and "
        "without qid all rows are one group. "
        "tiebreak.scale.repartition(source, folder, qid=...) brings it there."
    )


def _names_of(part: Any, suspects: NDArray[np.uint64]) -> tuple[Any, ...]:
    names = part.group_names
    return tuple(str(name) for name in names[np.isin(group_keys(names), suspects)])
