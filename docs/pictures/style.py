# SPDX-License-Identifier: BSD-3-Clause
"""One look for all pictures, and files that are the same in every run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "COLORS",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "PURPLE",
    "draw",
    "panels",
    "save_picture",
    "spread",
]

# Okabe and Ito's colors, told apart with every common color blindness.
BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#000000", "#767676"
GREEN, PURPLE = "#009e73", "#cc79a7"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, "#e69f00", "#56b4e9")

_SETTINGS = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "font.size": 9.0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.5,
    "path.simplify_threshold": 0.5,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
}


def panels(
    count: int = 2,
    height: float = 3.0,
    width: float = 7.2,
    ratios: tuple[float, ...] | None = None,
) -> list[Axes]:
    """Give the axes of a new figure, side by side.

    Parameters
    ----------
    count : int, default=2
        How many.
    height, width : float
        Of the figure, in inches.
    ratios : tuple of float, optional
        Relative widths; None: all alike.

    Returns
    -------
    list of matplotlib Axes
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    return list(np.atleast_1d(figure.subplots(1, count, width_ratios=ratios)))


def spread(rng: np.random.Generator, size: int, around: float = 0.0) -> np.ndarray:
    """Give small random heights, so that points on a line can be told apart.

    Parameters
    ----------
    rng : numpy Generator
        The source of chance.
    size : int
        How many.
    around : float, default=0.0
        Their middle.

    Returns
    -------
    ndarray of shape (size,)
    """
    return around + rng.uniform(-0.28, 0.28, size)


def draw(picture: Callable[[bool], Figure], *, quick: bool = False) -> Figure:
    """Call the function of a picture under our settings.

    Parameters
    ----------
    picture : callable
        One of ``PICTURES``.
    quick : bool, default=False
        Whether to draw from less data.

    Returns
    -------
    matplotlib Figure
    """
    with _settings(picture.__name__):
        return picture(quick)


def save_picture(
    picture: Callable[[bool], Figure],
    path: str | os.PathLike[str],
    *,
    quick: bool = False,
) -> Path:
    """Write a picture to a file: SVG without a date, on white.

    Parameters
    ----------
    picture : callable
        One of ``PICTURES``.
    path : str or path
        The file; its ending says the format.
    quick : bool, default=False
        Whether to draw from less data.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _settings(picture.__name__):
        figure = picture(quick)
        undated = {"Date": None} if target.suffix == ".svg" else None
        figure.savefig(target, metadata=undated, dpi=110)
    return target


@contextmanager
def _settings(salt: str) -> Iterator[None]:
    # The layout needs them too, which is made when a file is written.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS | {"svg.hashsalt": salt})
        yield
