# SPDX-License-Identifier: BSD-3-Clause
"""Models with scikit-learn's interface: one file each, families as folders."""

from tiebreak.models.base import ThresholdWarning
from tiebreak.models.svm.duals import PathFit, fit_path

__all__ = ["PathFit", "ThresholdWarning", "fit_path"]
