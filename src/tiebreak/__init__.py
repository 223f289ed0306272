# SPDX-License-Identifier: BSD-3-Clause
"""Learn to rank and to compare, with ties.

From who-beat-whom (ties included), graded items or ranked lists, learn a utility for
every item, seen or unseen, and predict left, tie or right for any two.

``__init__.pyi`` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
