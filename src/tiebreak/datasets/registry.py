# SPDX-License-Identifier: BSD-3-Clause
"""The published sets that this package knows: terms, sources, and SHA-256.

Addresses on GitHub name a commit, so that what they serve does not change. Whatever an
address serves, only files with the SHA-256 written here are kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from tiebreak.datasets.catalog import DataFile, DataSet
from tiebreak.datasets.registry_graded import JESTER, LIGHTGBM, MQ2008, SUSHI, UCI
from tiebreak.datasets.registry_results import (
    ARENA,
    CHESS_2010,
    CHESS_2011,
    FOOTBALL,
    LLMFAO,
    TENNIS,
    WORLDCUP,
)

_ALL = (
    WORLDCUP, FOOTBALL, TENNIS, CHESS_2010, CHESS_2011, ARENA, LLMFAO, SUSHI, JESTER,
    UCI, LIGHTGBM, MQ2008,
)  # fmt: skip

REGISTRY: Mapping[str, DataSet] = MappingProxyType({each.name: each for each in _ALL})
"""All sets by their names."""


def find_set(name: str) -> tuple[DataSet, tuple[DataFile, ...]]:
    """Find what a name stands for.

    Parameters
    ----------
    name : str
        Of a set, such as ``"football"``, or of one of its files, such as
        ``"football/results.csv.gz"``.

    Returns
    -------
    dataset : DataSet
        The set.
    files : tuple of DataFile
        All of its files, or the one that was named.

    Raises
    ------
    ValueError
        If there is no such set or file. The message names similar ones.
    """
    if name in REGISTRY:
        return REGISTRY[name], REGISTRY[name].files
    for dataset in REGISTRY.values():
        for file in dataset.files:
            if file.name == name:
                return dataset, (file,)
    first = REGISTRY.get(name.partition("/")[0])
    if first is not None:
        known = [file.name for file in first.files]
        raise ValueError(
            f"The set {first.name!r} has no file {name!r}; its files are "
            f"{', '.join(known)}."
        )
    similar = difflib.get_close_matches(name, REGISTRY, 1, 0.5)
    meant = f" Did you mean {similar[0]!r}?" if similar else ""
    raise ValueError(
        f"There is no data set {name!r}.{meant} The sets are {', '.join(REGISTRY)}."
    )
