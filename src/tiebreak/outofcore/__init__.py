# SPDX-License-Identifier: BSD-3-Clause
"""Linear models of features, fitted on data in partitions.

The partitions are files on disk, or lie on the workers of a Dask cluster. An objective
is a sum over them, and the same solvers as in memory minimize it: only vectors of the
size of the model travel.
"""

from tiebreak.outofcore.fits import fit
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable

__all__ = ["PartitionedPairs", "PartitionedTable", "fit"]
