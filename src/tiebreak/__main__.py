# SPDX-License-Identifier: BSD-3-Clause
"""``python -m tiebreak``."""

from tiebreak.cli import main

if __name__ == "__main__":
    main()
