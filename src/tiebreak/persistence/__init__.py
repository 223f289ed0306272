# SPDX-License-Identifier: BSD-3-Clause
"""Model files that run no code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiebreak.lazy import names_of

if TYPE_CHECKING:
    from tiebreak.persistence.files import load, save
    from tiebreak.persistence.onnx_graph import to_onnx

_HOMES = {"files": "load save", "onnx_graph": "to_onnx"}
_, __getattr__ = names_of("tiebreak.persistence", _HOMES)

__all__ = ["load", "save", "to_onnx"]


def __dir__() -> list[str]:
    return sorted(__all__)
