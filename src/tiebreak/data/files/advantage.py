# SPDX-License-Identifier: BSD-3-Clause
"""What favors the left side of a comparison: home ground, or the first move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.files.errors import BrokenRows, plural
from tiebreak.data.files.table import Columns

__all__ = ["read_advantage"]

_TRUE = ("true", "t", "yes", "y", "1", "1.0")
_FALSE = ("false", "f", "no", "n", "0", "0.0")


def read_advantage(
    columns: Columns, roles: dict[str, str], family: str, broken: BrokenRows
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Read by how much the left side is favored; 1 at home, 0 on neutral ground.

    Parameters
    ----------
    columns : Columns
        The columns of left, advantage and neutral.
    roles : dict of str to str
        The column of each role.
    family : str
        Of the two sides, see `SIDES`.
    broken : BrokenRows
        Where rows that cannot be read are noted.

    Returns
    -------
    columns : dict of str to ndarray of shape (n,)
        ``"advantage"``, if a side is favored.
    sentences : list of str
        What is said of it.
    """
    if "advantage" in roles:
        column = roles["advantage"]
        columns.note_bad(column, "advantage", broken)
        return {"advantage": columns.numbers[column]}, [
            f"{column} is the advantage of the left side."
        ]
    if family not in ("home", "white") and "neutral" not in roles:
        return {}, []
    side = roles["left"]
    if "neutral" not in roles:
        why = "moves first" if family == "white" else "plays at home"
        favored = np.ones(len(columns.text[side].codes))
        return {"advantage": favored}, [
            f"The side in {side} {why}, which is counted as an advantage."
        ]
    column = roles["neutral"]
    text = columns.text[column]
    words = [value.strip().casefold() for value in text.values]
    known = np.array([word in _TRUE + _FALSE for word in words] + [False])
    wrong = np.flatnonzero(~known[text.codes])
    broken.add(
        f"values in {column} that are neither true nor false",
        wrong,
        [None if c < 0 else text.values[c] for c in text.codes[wrong[:5]]],
    )
    neutral = np.array([word in _TRUE for word in words] + [False])[text.codes]
    return {"advantage": 1.0 - neutral}, [
        f"The side in {side} plays at home, which is counted as an advantage, except "
        f"in {plural(int(neutral.sum()), 'row')} where {column} is true."
    ]
