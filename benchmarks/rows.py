# SPDX-License-Identifier: BSD-3-Clause
"""A line of the table of benchmarks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table; ``kept`` is None where nothing is promised."""

    name: str
    value: str
    promise: str
    kept: bool | None
    note: str = ""
