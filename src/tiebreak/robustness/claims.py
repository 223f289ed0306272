# SPDX-License-Identifier: BSD-3-Clause
"""The claims of a leaderboard, as statements that can be tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Floats
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
    strength: Floats, names: NDArray[Any], top: int, neighbors: int
) -> list[Claim]:
    """Who is first, who is above the next, and which the first are."""
    order = np.argsort(-strength, kind="stable")
    listed = names[order].tolist()
    first = [Claim("first", (listed[0],))]
    following = pairwise(listed[: neighbors + 1])
    above = [Claim("above", pair) for pair in following]
    leaders = [Claim("top", tuple(listed[:top]))] if 1 < top < len(listed) else []
    return first + above + leaders


_SIGNS: dict[str, Kind] = {">": "above", "=": "equal"}


def read_claim(text: str, names: Sequence[Any]) -> Claim:
    """Read ``A > B``, ``A = B``, ``A first`` or ``A, B, C first``; names are as given.

    Names may contain the signs themselves.
    """
    known = {str(name): name for name in names}
    stripped = text.strip()
    readings: list[tuple[Kind, list[str]]] = [
        (kind, [stripped[:at].strip(), stripped[at + 1 :].strip()])
        for sign, kind in _SIGNS.items()
        for at in range(len(stripped))
        if stripped[at] == sign
    ]
    for ending in (" is first", " are first", " first"):
        if stripped.endswith(ending):
            listed = stripped.removesuffix(ending)
            some = [name.strip() for name in listed.split(",")]
            readings += [("first", [listed]), ("top" if some[1:] else "first", some)]
    for kind, parts in readings:
        if known.keys() >= set(parts):
            if len(parts) > len(set(parts)):
                raise ValueError(f"The claim {text!r} names an item twice.")
            return Claim(kind, tuple(known[name] for name in parts))
    for name in readings[-1][1] if readings else ():
        find_item(np.asarray(list(known), dtype=object), name, "In a claim, ")
    raise ValueError(
        f"The claim {text!r} was not understood; expected 'A > B', 'A = B', 'A first' "
        "or 'A, B, C first'."
    )
