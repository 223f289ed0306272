# SPDX-License-Identifier: BSD-3-Clause
"""The old name of :mod:`tiebreak.outofcore`, for one release."""

from tiebreak.data.renamed import renamed_module

__getattr__ = renamed_module(
    "tiebreak.scale",
    "tiebreak.outofcore",
    {"PartedPairs": "PartitionedPairs", "PartedTable": "PartitionedTable"},
)
