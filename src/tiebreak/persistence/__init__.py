# SPDX-License-Identifier: BSD-3-Clause
"""Model files that run no code."""

from tiebreak.persistence.checks import TRUSTED as TRUSTED
from tiebreak.persistence.files import load, save
from tiebreak.persistence.onnx_graph import to_onnx

__all__ = ["load", "save", "to_onnx"]
