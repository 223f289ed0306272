# SPDX-License-Identifier: BSD-3-Clause
"""What the 1-norm rankers share once they have weights."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import ItemTable
from tiebreak.data.features import check_features
from tiebreak.models.base import UtilityMixin
from tiebreak.models.kernel_utility import weigh_features

__all__ = ["L1Utility", "check_alpha"]


class L1Utility(UtilityMixin):
    """Utility w·x of weights ``coef_``."""

    def _utility_of_table(self, table: ItemTable) -> NDArray[np.float64]:
        # Row by row, identical items get the identical utility without being merged.
        check_features(self, table)
        return weigh_features(table.values, self.coef_)

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "coef_")


def check_alpha(alpha: Any) -> float:
    """Refuse an alpha that is not a finite number of at least 0.

    Parameters
    ----------
    alpha : object
        What was given.

    Returns
    -------
    float
    """
    good = isinstance(alpha, Real) and not isinstance(alpha, bool)
    if not good or not np.isfinite(alpha) or alpha < 0:
        raise ValueError(
            f"L1Ranker got alpha={alpha!r}; expected a finite number of at least 0."
        )
    return float(alpha)
