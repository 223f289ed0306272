# SPDX-License-Identifier: BSD-3-Clause
"""Means and variances of features over the better and the worse items of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.losses import GradePotentials, GradeTree

__all__ = ["SideStatistics"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SideStatistics:
    """What naive Bayes knows of both sides of the pairs.

    Attributes
    ----------
    weight : float
        Total weight of the pairs.
    means, variances : ndarray of shape (2, p)
        Over the better items, and over the worse ones; an item counts as often as it
        is in a pair.
    """

    weight: float
    means: Floats
    variances: Floats

    @classmethod
    def of_pairs(cls, values: Floats, tree: GradeTree) -> SideStatistics:
        """Count all pairs of different grades, in O(n p).

        Parameters
        ----------
        values : ndarray of shape (n, p)
            Features of the rows.
        tree : GradeTree
            Their pairs.

        Returns
        -------
        SideStatistics
        """
        n = len(values)
        pairs = GradePotentials(tree, np.arange(n), n)
        _, *shares = pairs.shares(np.zeros(n))
        # Seen from one of the rows, what does not vary is exactly zero.
        origin = values[tree.rows[0]]
        with np.errstate(over="ignore", invalid="ignore"):
            apart = values - origin
            means = np.stack([share @ apart for share in shares])
            variances = np.stack(
                [
                    share @ (apart - mean) ** 2
                    for share, mean in zip(shares, means, strict=True)
                ]
            )
        _refuse_size(np.isfinite(variances).all())
        found = cls(tree.total, origin + means, variances)
        varies = np.any(apart[tree.rows] != 0.0, axis=0)
        _refuse_size(np.all(found.whole_variance()[varies] > 0.0))
        return found

    def merged(self, other: SideStatistics) -> SideStatistics:
        """Pool the pairs of both.

        Parameters
        ----------
        other : SideStatistics
            Of other pairs.

        Returns
        -------
        SideStatistics
        """
        weight = self.weight + other.weight
        share = other.weight / weight
        step = other.means - self.means
        return SideStatistics(
            weight,
            self.means + share * step,
            (1 - share) * self.variances
            + share * other.variances
            + share * (1 - share) * step**2,
        )

    def log_odds(self, values: Floats) -> Floats:
        """Give the log density of items as better ones minus that as worse ones.

        A side counts one more observation at its mean with the variance of both sides
        together, so that no variance is zero. Features without any variance are left
        out.

        Parameters
        ----------
        values : ndarray of shape (n, p)
            Features of items.

        Returns
        -------
        ndarray of shape (n,)
        """
        whole = self.whole_variance()
        used = whole > 0.0
        variances = (self.weight * self.variances + whole) / (self.weight + 1.0)
        odds = np.zeros((len(values), int(used.sum())))
        for sign, mean, variance in zip(
            (1.0, -1.0), self.means[:, used], variances[:, used], strict=True
        ):
            with np.errstate(over="ignore", invalid="ignore"):
                apart = (values[:, used] - mean) ** 2 / variance
                odds -= 0.5 * sign * (np.log(variance) + apart)
        _refuse_size(np.isfinite(odds).all())
        return odds.sum(axis=1)

    def whole_variance(self) -> Floats:
        """Give the variance of each feature over both sides together.

        Returns
        -------
        ndarray of shape (p,)
        """
        apart = self.means - self.means.mean(axis=0)
        return (self.variances + apart**2).mean(axis=0)


def _refuse_size(fits: np.bool_ | bool) -> None:
    if not fits:
        raise ValueError(
            "Squares of the features are beyond what floating-point numbers can hold, "
            "so that there is no variance. Scale the features first, for example with "
            "StandardScaler."
        )
