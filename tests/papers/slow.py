# SPDX-License-Identifier: BSD-3-Clause
"""An experiment to be killed, in a module that is imported at once."""

import os

from papers.experiment import Experiment, generator
from tests.waiting import wait_for

GATE = "TIEBREAK_TEST_GATE"


def cells(quick):
    """List twelve cells."""
    return [{"number": i} for i in range(12)]


def compute(number):
    """Give random numbers; from the fifth on, as soon as a certain file exists."""
    if number >= 4:
        wait_for(lambda: os.path.exists(os.environ[GATE]))
    return {"drawn": generator(number).normal(size=3)}


SLOW = Experiment("slow", "numbers that wait", cells, compute)
