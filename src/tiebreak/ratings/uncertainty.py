# SPDX-License-Identifier: BSD-3-Clause
"""Standard errors and the bootstrap of a model of comparisons."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tiebreak.losses import ComparisonObjective, OutcomeLink
from tiebreak.ratings.bootstrap import bootstrap_coefficients
from tiebreak.ratings.covariance import KINDS, coefficient_covariance
from tiebreak.ratings.strength_intervals import StrengthIntervals

__all__ = ["StrengthUncertainty"]


class StrengthUncertainty(StrengthIntervals):
    """How well strengths are known; mixed into a model of maximum likelihood.

    The model has ``items_``, ``strength_``, ``pair_counts_`` and possibly
    ``rater_counts_``, and gives its objective and solution by ``_objective_of`` and
    ``_solution``, its model of ties by ``_link`` and ``_tie``.
    """

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
        self._refuse_too_many()
        if np.isposinf(self.tie_):  # type: ignore[attr-defined]
            raise ValueError(
                "Every comparison was a tie, so nothing is known about the strengths "
                "and they have no standard errors."
            )
        objective = self._objective_of(self.pair_counts_)
        return coefficient_covariance(objective, self._solution(), kind, raters)

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
