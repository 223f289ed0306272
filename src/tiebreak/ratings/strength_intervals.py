# SPDX-License-Identifier: BSD-3-Clause
"""Standard errors, intervals and ranks from the covariance of strengths."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from tiebreak.ratings.rank_intervals import indistinct_groups, rank_intervals

__all__ = ["LARGEST_COVARIANCE", "StrengthIntervals", "check_level"]

LARGEST_COVARIANCE = 10_000  # items; the matrix then takes 800 MB


class StrengthIntervals:
    """What follows from a covariance of strengths; mixed into a model.

    The model has ``items_`` and ``strength_``, and gives the covariance of its
    coefficients, strengths first, by ``_coefficient_covariance``.
    """

    items_: NDArray[Any]
    strength_: NDArray[np.float64]

    def _coefficient_covariance(self, kind: str | None) -> NDArray[np.float64]:
        raise NotImplementedError

    def _refuse_too_many(self) -> None:
        if len(self.items_) > LARGEST_COVARIANCE:
            raise ValueError(
                f"The covariance of {len(self.items_)} items would need a matrix of "
                f"{8e-9 * len(self.items_) ** 2:.0f} GB; the limit is "
                f"{LARGEST_COVARIANCE} items. Fit on items with more comparisons."
            )

    def covariance(
        self, kind: str | None = None, reference: Any = None
    ) -> NDArray[np.float64]:
        """Covariance matrix of the strengths.

        Parameters
        ----------
        kind : {"sandwich", "cluster", "model"}, optional
            ``"model"``: inverse Hessian. ``"sandwich"``: right also where the model
            is not quite. ``"cluster"``: right also when the votes of one rater depend
            on each other; needs `rater` in `fit`. None: ``"cluster"`` if the model was
            fitted with raters, else ``"sandwich"``.
        reference : item name, optional
            The item that strengths are measured from; its own variance is then 0.
            None: the mean of all items.

        Returns
        -------
        ndarray of shape (N, N)
            With alpha > 0 the spread around the penalized strengths, without their
            bias.
        """
        full = self._coefficient_covariance(kind)
        n = len(self.items_)
        theta = full[:n, :n]
        if reference is None:
            mean = theta.mean(axis=0)
            return theta - mean[:, None] - mean[None, :] + mean.mean()
        row = theta[self._place(reference)]
        return theta - row[:, None] - row[None, :] + row[self._place(reference)]

    def _place(self, name: Any) -> int:
        """Give the number of an item."""
        found = np.flatnonzero(self.items_ == name)
        if len(found) != 1:
            raise ValueError(
                f"{name!r} is not among the items of the model; items_ lists them."
            )
        return int(found[0])

    def standard_errors(
        self, kind: str | None = None, reference: Any = None
    ) -> NDArray[np.float64]:
        """Standard errors of the strengths.

        Parameters
        ----------
        kind : {"sandwich", "cluster", "model"}, optional
            As in `covariance`.
        reference : item name, optional
            As in `covariance`.

        Returns
        -------
        ndarray of shape (N,)
        """
        return _roots(self.covariance(kind, reference))

    def intervals(
        self, level: float = 0.95, kind: str | None = None, reference: Any = None
    ) -> NDArray[np.float64]:
        """Confidence intervals of the strengths, each by itself.

        Parameters
        ----------
        level : float, default=0.95
            Confidence.
        kind : {"sandwich", "cluster", "model"}, optional
            As in `covariance`.
        reference : item name, optional
            As in `covariance`; strengths are then relative to it too.

        Returns
        -------
        ndarray of shape (N, 2)
            Lower and upper ends.
        """
        check_level(level)
        error = self.standard_errors(kind, reference)
        center = self.strength_
        if reference is not None:
            center = center - center[self._place(reference)]
        half = norm.ppf(0.5 + 0.5 * level) * error
        return np.stack([center - half, center + half], axis=1)

    def rank_intervals(
        self,
        level: float = 0.95,
        kind: str | None = None,
        simultaneous: bool = False,
    ) -> NDArray[np.int64]:
        """Confidence intervals of the items' ranks, 1 the best.

        Parameters
        ----------
        level : float, default=0.95
            Confidence.
        kind : {"sandwich", "cluster", "model"}, optional
            As in `covariance`.
        simultaneous : bool, default=False
            Whether all intervals hold at once, or each by itself.

        Returns
        -------
        ndarray of int64 of shape (N, 2)
            Best and worst rank of each item that the data allow.
        """
        check_level(level)
        return rank_intervals(
            self.strength_, self.covariance(kind), level, simultaneous
        )

    def indistinct_groups(
        self, level: float = 0.95, kind: str | None = None
    ) -> list[NDArray[Any]]:
        """Groups of items that the data cannot tell apart.

        Parameters
        ----------
        level : float, default=0.95
            Confidence with which all the differences that are seen are real.
        kind : {"sandwich", "cluster", "model"}, optional
            As in `covariance`.

        Returns
        -------
        list of ndarray of names
            Largest runs of neighbors by strength of which no two differ
            significantly; best first. They may overlap.
        """
        check_level(level)
        groups = indistinct_groups(self.strength_, self.covariance(kind), level)
        return [self.items_[group] for group in groups]


def check_level(level: float) -> None:
    """Refuse a confidence that is not strictly between 0 and 1."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(
            f"level must be a number between 0 and 1, such as 0.95; got {level!r}."
        )


def _roots(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    # The variance of the reference itself is zero, up to rounding.
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
