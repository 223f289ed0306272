# SPDX-License-Identifier: BSD-3-Clause
"""The claims of a leaderboard, as statements that can be tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.ratings.named_results import find_item

Kind = Literal["first", "above", "top", "equal"]


@dataclass(frozen=True)
class Claim:
    """A statement about items: who is first, above another, or among the first.

    Parameters
    ----------
    kind : {"first", "above", "top", "equal"}
        "A is first"; "A is above B"; "the first k are …", in any order; "A and B cannot
        be told apart".
    items : sequence of names
        One item, two (the better one first), k, or two.
    """

    kind: Kind
    items: tuple[Any, ...]

    def __str__(self) -> str:
        names = [str(name) for name in self.items]
        if self.kind == "first":
            return f"{names[0]} is first"
        if self.kind == "above":
            return f"{names[0]} is above {names[1]}"
        if self.kind == "equal":
            return f"{names[0]} and {names[1]} cannot be told apart"
        return f"the first {len(names)} are {', '.join(names[:-1])} and {names[-1]}"

    def pairs(self, names: NDArray[Any]) -> list[tuple[int, int]]:
        """Item numbers (better, worse) of all that the claim needs."""
        chosen = [find_item(names, name) for name in self.items]
        if self.kind in ("above", "equal"):
            return [(chosen[0], chosen[1])]
        others = [k for k in range(len(names)) if k not in chosen]
        return [(above, below) for above in chosen for below in others]


def usual_claims(
    strength: NDArray[np.float64], names: NDArray[Any], top: int, neighbors: int
) -> list[Claim]:
    """Who is first, who is above the next, and which the first are."""
    order = np.argsort(-strength, kind="stable")
    listed = names[order].tolist()
    first = [Claim("first", (listed[0],))]
    following = pairwise(listed[: neighbors + 1])
    above = [Claim("above", pair) for pair in following]
    leaders = [Claim("top", tuple(listed[:top]))] if 1 < top < len(listed) else []
    return first + above + leaders


def read_claim(text: str, names: Sequence[Any]) -> Claim:
    """Read ``A > B``, ``A = B``, ``A first`` or ``A, B, C first``; names are as given.

    Names may contain the signs themselves.
    """
    known = {str(name): name for name in names}
    stripped = text.strip()
    kinds: tuple[tuple[str, Kind], ...] = ((">", "above"), ("=", "equal"))
    unknown: list[str] = []
    for sign, kind in kinds:
        at = -1
        while (at := stripped.find(sign, at + 1)) >= 0:
            two = [stripped[:at].strip(), stripped[at + 1 :].strip()]
            if all(name in known for name in two):
                if two[0] == two[1]:
                    raise ValueError(f"The claim {text!r} is about one item only.")
                return Claim(kind, (known[two[0]], known[two[1]]))
            unknown = unknown or [name for name in two if name not in known]
    for ending in (" is first", " first", " are first"):
        if stripped.endswith(ending):
            listed = stripped.removesuffix(ending)
            if listed in known:
                return Claim("first", (known[listed],))
            some = [name.strip() for name in listed.split(",")]
            unknown = [name for name in some if name not in known]
            if not unknown:
                kind = "first" if len(some) == 1 else "top"
                return Claim(kind, tuple(known[name] for name in some))
    if unknown:
        for name in unknown:
            find_item(np.asarray(list(known), dtype=object), name, "In a claim, ")
    raise ValueError(
        f"The claim {text!r} was not understood; expected 'A > B', 'A = B', 'A first' "
        "or 'A, B, C first'."
    )
