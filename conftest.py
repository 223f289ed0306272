# SPDX-License-Identifier: BSD-3-Clause
"""Load the public names, so that pytest finds the examples in their docstrings.

They are imported on first use, and doctest looks only at what a module already holds.
"""

import tiebreak

for name in tiebreak.__all__:
    getattr(tiebreak, name)
