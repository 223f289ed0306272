# SPDX-License-Identifier: BSD-3-Clause
"""Data in partitions: files on disk, or on the workers of a Dask cluster.

Models fit them with the same solvers as data in memory: an objective is a sum over
partitions, and only vectors of the size of the model travel.
"""

from tiebreak.outofcore.cluster import ClusterError
from tiebreak.outofcore.evaluation import evaluate, sample_rows
from tiebreak.outofcore.partitions import Step, running
from tiebreak.outofcore.sources import PartitionedPairs, PartitionedTable, repartition

__all__ = [
    "ClusterError",
    "PartitionedPairs",
    "PartitionedTable",
    "Step",
    "evaluate",
    "repartition",
    "running",
    "sample_rows",
]
