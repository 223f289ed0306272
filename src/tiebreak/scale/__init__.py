# SPDX-License-Identifier: BSD-3-Clause
"""Data in partitions: files on disk, or on the workers of a Dask cluster.

Models of the layer above fit them with the same solvers: an objective is a sum over
partitions, and only vectors of the size of the model travel.
"""

from tiebreak.scale.compared_part import (
    CountedPart,
    LikelihoodPart,
    ListedPart,
    SampledLikelihood,
    SampledPairs,
    add_alike,
)
from tiebreak.scale.dask_parts import ClusterError, DaskParts
from tiebreak.scale.evaluation import evaluate
from tiebreak.scale.facts import PartFacts, check_alike, check_groups
from tiebreak.scale.graded_part import GradedPart, join_samples
from tiebreak.scale.linear_part import LinearPart, MovingPart
from tiebreak.scale.objective import SummedObjective
from tiebreak.scale.open_parts import open_parts
from tiebreak.scale.parts import LocalParts, Parts
from tiebreak.scale.progress import Journey
from tiebreak.scale.repartition import repartition
from tiebreak.scale.running import Step, running
from tiebreak.scale.sampling import sample_rows, split_rows
from tiebreak.scale.sources import PartedPairs, PartedTable, as_parted, is_parted
from tiebreak.scale.squares_part import ComparedSquares, GradedSquares

__all__ = [
    "ClusterError",
    "ComparedSquares",
    "CountedPart",
    "DaskParts",
    "GradedPart",
    "GradedSquares",
    "Journey",
    "LikelihoodPart",
    "LinearPart",
    "ListedPart",
    "LocalParts",
    "MovingPart",
    "PartFacts",
    "PartedPairs",
    "PartedTable",
    "Parts",
    "SampledLikelihood",
    "SampledPairs",
    "Step",
    "SummedObjective",
    "add_alike",
    "as_parted",
    "check_alike",
    "check_groups",
    "evaluate",
    "is_parted",
    "join_samples",
    "open_parts",
    "repartition",
    "running",
    "sample_rows",
    "split_rows",
]
