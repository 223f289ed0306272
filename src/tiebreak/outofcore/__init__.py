# SPDX-License-Identifier: BSD-3-Clause
"""Data in partitions: files on disk, or on the workers of a Dask cluster.

Models of the layer above fit them with the same solvers: an objective is a sum over
partitions, and only vectors of the size of the model travel.
"""

from tiebreak.outofcore.cluster import ClusterError, DaskPartitions, open_partitions
from tiebreak.outofcore.compared import (
    ComparedSquares,
    CountedPartition,
    GradedSquares,
    LikelihoodPartition,
    ListedPartition,
    SampledLikelihood,
    SampledPairs,
    add_equal,
)
from tiebreak.outofcore.evaluation import evaluate, sample_rows, split_rows
from tiebreak.outofcore.graded import (
    GradedPartition,
    LinearPartition,
    MovingPartition,
    join_samples,
)
from tiebreak.outofcore.objective import SummedObjective
from tiebreak.outofcore.partitions import (
    FitProgress,
    LocalPartitions,
    PartitionFacts,
    Partitions,
    Step,
    check_consistent,
    check_groups,
    running,
)
from tiebreak.outofcore.sources import (
    PartitionedPairs,
    PartitionedTable,
    as_partitioned,
    repartition,
)

__all__ = [
    "ClusterError",
    "ComparedSquares",
    "CountedPartition",
    "DaskPartitions",
    "FitProgress",
    "GradedPartition",
    "GradedSquares",
    "LikelihoodPartition",
    "LinearPartition",
    "ListedPartition",
    "LocalPartitions",
    "MovingPartition",
    "PartitionFacts",
    "PartitionedPairs",
    "PartitionedTable",
    "Partitions",
    "SampledLikelihood",
    "SampledPairs",
    "Step",
    "SummedObjective",
    "add_equal",
    "as_partitioned",
    "check_consistent",
    "check_groups",
    "evaluate",
    "join_samples",
    "open_partitions",
    "repartition",
    "running",
    "sample_rows",
    "split_rows",
]
