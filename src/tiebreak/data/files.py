# SPDX-License-Identifier: BSD-3-Clause
"""The old name of :mod:`tiebreak.io`, for one release."""

from tiebreak.data.renamed import renamed_module

__getattr__ = renamed_module(
    "tiebreak.data.files",
    "tiebreak.io",
    {"Recognized": "ReadResult"},
)
