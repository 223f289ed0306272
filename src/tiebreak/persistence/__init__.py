# SPDX-License-Identifier: BSD-3-Clause
"""Model files that run no code."""

from tiebreak.persistence.files import load, save

__all__ = ["load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
