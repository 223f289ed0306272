# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]  # numbers of items, rows, groups or cells
Flags = NDArray[np.bool_]
