# SPDX-License-Identifier: BSD-3-Clause
"""Linear models of features, fitted on data in partitions.

Partitions are files, or on the workers of a Dask cluster. An objective is a sum over
them, minimized by the solvers that are used in memory; only vectors of the size of the
model travel.
"""

from tiebreak.outofcore.fits import fit
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable

__all__ = ["PartitionedPairs", "PartitionedTable", "fit"]
