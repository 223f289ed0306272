# SPDX-License-Identifier: BSD-3-Clause
"""The values that ``--tune`` tries, beside the models of `tiebreak.cli.choose`.

Grids are small, and about evenly spaced on a logarithmic scale. Features are scaled to
variance 1 before a model sees them, so values of gamma are shares of 1 / (number of
features), which is what scikit-learn calls ``"scale"``.
"""

from __future__ import annotations

__all__ = ["GRIDS", "grid_for"]

_STRENGTHS: dict[str, tuple[float, ...]] = {
    "alpha": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
}
_WEIGHTS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
_MARGINS = (0.0001, 0.001, 0.01, 0.1, 1.0)

GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "bradley-terry": _STRENGTHS,
    "rao-kupper": _STRENGTHS,
    "elo": {"k": (2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 120.0)},
    "glicko": {"c": (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0)},
    "glicko2": {"volatility": (0.01, 0.02, 0.03, 0.06, 0.12, 0.24)},
    "logistic": {"alpha": _WEIGHTS},
    "logistic-names": {"alpha": _WEIGHTS[:4], "identity": (0.1, 1.0, 10.0)},
    "svm": {"C": (0.001, 0.01, 0.1, 1.0), "gamma": (0.25, 1.0, 4.0)},
    "linear-svm": {"C": _MARGINS},
}
"""For each model the parameters that are tuned, and their values."""


def grid_for(
    model: str, n_features: int = 1, *, dated: bool = True
) -> dict[str, tuple[float, ...]]:
    """Give the values to try for a model.

    Parameters
    ----------
    model : str
        Its name.
    n_features : int, default=1
        Number of features of the items.
    dated : bool, default=True
        Whether it is known when results took place.

    Returns
    -------
    dict of str to tuple of float

    Examples
    --------
    >>> grid_for("svm", 10)["gamma"]
    (0.025, 0.1, 0.4)
    """
    if model == "glicko" and not dated:
        raise ValueError(
            "There is nothing to tune for glicko without dates: c is how fast ratings "
            "become uncertain with time. Name the column of dates with --period, or "
            "choose another --model."
        )
    if model not in GRIDS:
        raise ValueError(
            f"There is nothing to tune for {model}; --tune knows {', '.join(GRIDS)}."
        )
    grid = dict(GRIDS[model])
    if "gamma" in grid:
        grid["gamma"] = tuple(share / n_features for share in grid["gamma"])
    return grid
