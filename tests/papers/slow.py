# SPDX-License-Identifier: BSD-3-Clause
"""An experiment to be killed, in a module that is imported at once."""

import time

from papers.experiment import Experiment, generator


def cells(quick):
    """List twelve cells."""
    return [{"number": i} for i in range(12)]


def compute(number):
    """Take a moment."""
    time.sleep(0.15)
    return {"drawn": generator(number).normal(size=3)}


SLOW = Experiment("slow", "numbers that take a moment", cells, compute)
