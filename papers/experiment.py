# SPDX-License-Identifier: BSD-3-Clause
"""What an experiment is: cells that can be computed one by one, in any order."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Experiment", "Settings", "cell_key", "generator"]

Settings = dict[str, Any]


def cell_key(settings: Settings) -> str:
    """Write the settings of a cell as one line, the same for the same settings."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def generator(*parts: Any) -> np.random.Generator:
    """Give a random generator that depends on the words and numbers given.

    Not on the order of the cells, the number of workers or what ran before: a cell
    that is computed again is the same.
    """
    return np.random.default_rng([zlib.crc32(repr(part).encode()) for part in parts])


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper.

    Attributes
    ----------
    name : str
        What it is called on the command line and in the folder of results.
    title : str
        What it shows.
    cells : callable
        ``cells(quick)`` lists the settings of all cells.
    compute : callable
        ``compute(**settings)`` gives the result of a cell: numbers, words and lists
        that JSON can hold. A function of a module, so that other processes find it.
    data : tuple of str
        Published data sets that it needs.
    """

    name: str
    title: str
    cells: Callable[[bool], list[Settings]]
    compute: Callable[..., dict[str, Any]]
    data: tuple[str, ...] = ()
