# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for other processes, on a machine that may be busy with something else.

A test that waits ends as soon as it can; the limit is there only so that a program
that hangs is found out.
"""

import time

PATIENCE = 600


def wait_for(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)
