# SPDX-License-Identifier: BSD-3-Clause
"""Standard errors, intervals, ranks and the bootstrap of a model of strengths."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from tiebreak.losses import ComparisonObjective, OutcomeLink
from tiebreak.ratings.bootstrap import bootstrap_coefficients
from tiebreak.ratings.covariance import KINDS, coefficient_covariance
from tiebreak.ratings.rank_intervals import indistinct_groups, rank_intervals

__all__ = ["LARGEST_COVARIANCE", "StrengthUncertainty", "check_level"]

LARGEST_COVARIANCE = 10_000  # items; the matrix then takes 800 MB


class StrengthUncertainty:
    """How well strengths are known; mixed into a model of maximum likelihood.

    The model has ``items_``, ``strength_``, ``pair_counts_`` and possibly
    ``rater_counts_``, and gives its objective and solution by ``_objective_of`` and
    ``_solution``, its model of ties by ``_link`` and ``_tie``.
    """

    items_: NDArray[Any]
    strength_: NDArray[np.float64]
    pair_counts_: NDArray[np.float64]

    def _objective_of(self, counts: NDArray[np.float64]) -> ComparisonObjective:
        raise NotImplementedError

    def _solution(self) -> NDArray[np.float64]:
        raise NotImplementedError

    @property
    def _link(self) -> OutcomeLink:
        raise NotImplementedError

    @property
    def _tie(self) -> float:
        raise NotImplementedError

    def information(self, difference: NDArray[np.float64]) -> NDArray[np.float64]:
        """Fisher information of one comparison about a difference of strengths.

        Parameters
        ----------
        difference : ndarray of shape (m,)
            Differences d.

        Returns
        -------
        ndarray of shape (m,)
            E[(∂ ln P/∂d)²]: largest at d = 0, and 0 where the outcome is certain.
        """
        check_is_fitted(self)
        scores, _ = self._link.scores(difference, self._tie)
        return (self._link.probabilities(difference, self._tie) * scores**2).sum(axis=1)

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

    def _coefficient_covariance(self, kind: str | None) -> NDArray[np.float64]:
        check_is_fitted(self)
        raters = getattr(self, "rater_counts_", None)
        if kind is None:
            kind = "sandwich" if raters is None else "cluster"
        if kind not in KINDS:
            raise ValueError(
                f"kind must be one of {', '.join(map(repr, KINDS))} or None; got "
                f"{kind!r}."
            )
        if kind == "cluster" and (raters is None or raters.shape[0] < 2):
            found = "none" if raters is None else f"{raters.shape[0]}"
            raise ValueError(
                "Standard errors clustered by rater need fit(..., rater=...) with at "
                f"least two raters, got {found}. Use kind='sandwich' instead."
            )
        if len(self.items_) > LARGEST_COVARIANCE:
            raise ValueError(
                f"The covariance of {len(self.items_)} items would need a matrix of "
                f"{8e-9 * len(self.items_) ** 2:.0f} GB; the limit is "
                f"{LARGEST_COVARIANCE} items. Fit on items with more comparisons."
            )
        if np.isposinf(self.tie_):  # type: ignore[attr-defined]
            raise ValueError(
                "Every comparison was a tie, so nothing is known about the strengths "
                "and they have no standard errors."
            )
        objective = self._objective_of(self.pair_counts_)
        return coefficient_covariance(objective, self._solution(), kind, raters)

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

    def bootstrap(
        self, n_resamples: int = 1000, random_state: int | None = 0
    ) -> NDArray[np.float64]:
        """Strengths in randomly reweighted data.

        Every comparison gets an exponential random weight of mean 1 (the Bayesian
        bootstrap), or every rater if the model was fitted with raters.

        Parameters
        ----------
        n_resamples : int, default=1000
            How many.
        random_state : int, Generator or None, default=0
            Seed of the weights.

        Returns
        -------
        ndarray of shape (n_resamples, N)
            Strengths, mean 0 in every row.
        """
        check_is_fitted(self)
        whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
        if not whole or n_resamples < 1:
            raise ValueError(
                f"n_resamples must be a positive whole number; got {n_resamples!r}."
            )
        rng = np.random.default_rng(random_state)
        drawn = bootstrap_coefficients(
            self._objective_of,
            self._solution(),
            self.pair_counts_,
            int(n_resamples),
            np.random.SeedSequence(rng.integers(2**63)),
            getattr(self, "rater_counts_", None),
        )[:, : len(self.items_)]
        return drawn - drawn.mean(axis=1, keepdims=True)


def check_level(level: float) -> None:
    """Refuse a confidence that is not strictly between 0 and 1."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(
            f"level must be a number between 0 and 1, such as 0.95; got {level!r}."
        )


def _roots(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    # The variance of the reference itself is zero, up to rounding.
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))
