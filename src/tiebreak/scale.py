# SPDX-License-Identifier: BSD-3-Clause
"""The old name of :mod:`tiebreak.outofcore`, for one release."""

from __future__ import annotations

import warnings
from typing import Any

from tiebreak import outofcore

_NEW_NAMES = {"PartedPairs": "PartitionedPairs", "PartedTable": "PartitionedTable"}


def __getattr__(name: str) -> Any:
    new = _NEW_NAMES.get(name, name)
    value = getattr(outofcore, new)
    warnings.warn(
        f"tiebreak.scale.{name} is tiebreak.outofcore.{new} since version 0.2; the old "
        "name will be removed in 0.3.",
        FutureWarning,
        stacklevel=2,
    )
    return value
