# SPDX-License-Identifier: BSD-3-Clause
"""Ticks of logarithmic axes as plain numbers.

Matplotlib writes powers of ten as mathematics, but texts of our figures are never
mathematics, because names of items may hold dollar signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import LogFormatter

if TYPE_CHECKING:
    from matplotlib.axis import Axis

__all__ = ["PlainLogFormatter", "write_plain_ticks"]


class PlainLogFormatter(LogFormatter):
    """Write 0.1 instead of 10⁻¹; which ticks are labeled is up to matplotlib."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Give the label of a tick; empty if it has none."""
        return f"{x:g}" if super().__call__(x, pos) else ""


def write_plain_ticks(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis as text.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Its scale has been set to ``"log"``.
    """
    axis.set_major_formatter(PlainLogFormatter())
    axis.set_minor_formatter(PlainLogFormatter())
