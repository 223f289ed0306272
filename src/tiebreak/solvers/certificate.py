# SPDX-License-Identifier: BSD-3-Clause
"""Relative gaps, which all solvers report."""

import math


def relative_gap(difference: float, size: float) -> float:
    """Give ``difference / size``, not below 0, and 0 where the size is not positive.

    It is inf if one of them is not finite: overflow certifies nothing.
    """
    if not (math.isfinite(difference) and math.isfinite(size)):
        return math.inf
    return max(0.0, float(difference)) / float(size) if size > 0.0 else 0.0
