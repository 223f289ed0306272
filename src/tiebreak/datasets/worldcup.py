# SPDX-License-Identifier: BSD-3-Clause
"""The 64 matches of the 2022 men's football World Cup, bundled with the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources

import numpy as np
import polars as pl

from tiebreak.data import Pairs

_DESCRIPTION = """\
The 64 matches of the 2022 men's football World Cup (Qatar, 20 November to 18 December
2022), in order of date.

Goals are those after extra time; a penalty shoot-out decides who goes on, not who
played better, so the five matches that went to one are draws. Left and right are the
sides as the fixture list named them, which carries no meaning: all matches but the
three of the host, Qatar, were on neutral ground.

Match results are facts of the public record. The table was typed for this package and
is checked against an independent list of international results by the tests."""


@dataclass(frozen=True, eq=False)
class WorldCup:
    """What `load_worldcup2022` returns.

    Attributes
    ----------
    pairs : Pairs of length 64
        One comparison per match. The teams have names but no features
        (``pairs.items is None``); ``pairs.names`` are the 32 teams in alphabetical
        order.
    y : ndarray of int8, shape (64,)
        -1 the left team won, 0 draw, +1 the right team won.
    table : polars.DataFrame, 64 rows
        Columns ``date``, ``stage``, ``left``, ``right``, ``left_goals`` and
        ``right_goals``, in the row order of ``pairs``.
    description : str
        What the table holds and where it comes from.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    table: pl.DataFrame = field(repr=False)
    description: str = field(repr=False, default=_DESCRIPTION)


def load_worldcup2022() -> WorldCup:
    """Load the 64 matches of the 2022 men's football World Cup.

    The result counts after extra time; the five matches decided by a penalty shoot-out
    are draws. 15 of the 64 matches are draws.

    Returns
    -------
    WorldCup
        ``pairs``, ``y``, ``table`` and ``description``.

    Examples
    --------
    >>> from tiebreak.datasets import load_worldcup2022
    >>> cup = load_worldcup2022()
    >>> cup.table.select("stage", "left", "right", "left_goals", "right_goals").row(-1)
    ('Final', 'Argentina', 'France', 3, 3)
    >>> int(cup.y[-1])
    0
    """
    source = resources.files("tiebreak.datasets").joinpath("worldcup2022.csv")
    table = pl.read_csv(
        source.read_bytes(),
        schema={
            "date": pl.Date,
            "stage": pl.String,
            "left": pl.String,
            "right": pl.String,
            "left_goals": pl.Int64,
            "right_goals": pl.Int64,
        },
    )
    left_names = table["left"].to_list()
    right_names = table["right"].to_list()
    teams = sorted({*left_names, *right_names})
    row = {team: i for i, team in enumerate(teams)}
    goals = table.select("left_goals", "right_goals").to_numpy()
    return WorldCup(
        pairs=Pairs(
            None,
            np.array([row[team] for team in left_names]),
            np.array([row[team] for team in right_names]),
            names=teams,
        ),
        y=np.sign(goals[:, 1] - goals[:, 0]).astype(np.int8),
        table=table,
    )
