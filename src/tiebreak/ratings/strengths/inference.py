# SPDX-License-Identifier: BSD-3-Clause
"""How certain strengths are: covariances and posterior.

Covariances are those of :mod:`tiebreak.losses.comparison_covariance`, averaged over a
learned penalty (`prior.py`). What was estimated from raters has few degrees of freedom,
R - 1 of R equal ones; a contrast of which they are a part has more (Satterthwaite).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.parameters import COUNT, NOT_NEGATIVE, POSITIVE, Values
from tiebreak.losses.comparison_covariance import (
    LARGEST_COVARIANCE,
    excess_covariance,
    inverse_hessian,
)
from tiebreak.models.base import UtilityMixin
from tiebreak.models.covariates import check_level
from tiebreak.ratings.named_results import find_item
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import (
    Separation,
    StrengthDistribution,
    centered,
)
from tiebreak.solvers import NewtonSolution, minimize_newton

KINDS = ("model", "sandwich", "cluster")
FEWEST_RATERS = 3  # with fewer, the votes themselves say how certain strengths are


# A strength whose standard error is less has a distribution that is nearly symmetric:
# its skewness is below its standard error, so ends move by less than a tenth of it.
_SYMMETRIC = 0.2
# With more items the width of the prior is known well, and one node stands for all.
_EACH_NODE = 100
SKEWED = 1000  # items; with more, sides are taken to be equal
_REACH = 1.96  # where the two sides are measured


def side_scales(objective: Any, x: Floats, inverse: Floats, n_items: int) -> Floats:
    """How far each strength reaches down and up, relative to a normal one, (2, N).

    Along the line on which the strength moves and all else follows, each side is
    measured where the objective has grown by ½ · 1.96².
    """
    out = np.ones((2, n_items))
    least = objective.value(x)
    covariance = inverse[:, :n_items] - inverse[:, :n_items].mean(axis=1)[:, None]
    error = np.sqrt(
        np.maximum(centered(inverse[:n_items, :n_items], None).diagonal(), 0)
    )
    for item in np.flatnonzero(error > _SYMMETRIC):
        line = covariance[:, item] / error[item]
        for side, sign in enumerate((-1.0, 1.0)):
            out[side, item] = _reach(objective, x, sign * line, least) / _REACH
    return out


def _reach(objective: Any, x: Floats, line: Floats, least: float) -> float:
    """Find z > 0 where the objective at x + z line has grown by ½ · 1.96²."""

    def height(z: float) -> float:
        return math.sqrt(max(2.0 * (objective.value(x + z * line) - least), 0.0))

    # The root of a nearly linear function, by the secant through two points.
    (z, h), (z_before, h_before) = (_REACH, height(_REACH)), (0.0, 0.0)
    for _ in range(8):
        if not math.isfinite(h):
            z = 0.5 * z
        elif abs(h - _REACH) < 0.01 or h == h_before:
            break
        else:
            new = z + (_REACH - h) * (z - z_before) / (h - h_before)
            z_before, h_before = z, h
            z = min(max(new, 0.1 * z), 4.0 * z)
        h = height(z)
    return z


class StrengthModel(UtilityMixin, ClassifierMixin, BaseEstimator):
    """What BradleyTerry and PlackettLuce share."""

    _parameters: ClassVar[Mapping[str, Values]] = {
        "alpha": NOT_NEGATIVE | "auto",
        "tol": POSITIVE,
        "max_iter": COUNT,
    }
    _fitted_arrays: ClassVar = {
        "strength_": "n",
        "prior_alphas_": "a",
        "prior_weights_": "a",
        "prior_coefs_": "a n..",
    }

    items_: NDArray[Any]
    strength_: Floats
    alpha: float | Literal["auto"]
    tol: float
    max_iter: int
    alpha_: float

    def _coefficient_distribution(
        self, kind: str | None, whole: bool = False
    ) -> StrengthDistribution:
        """Of all coefficients, strengths first; `whole`: a matrix."""
        raise NotImplementedError

    def _minimize(
        self, objective: Any, start: Floats, **options: Any
    ) -> NewtonSolution:
        options |= {"tol": self.tol, "max_iter": int(self.max_iter)}
        return minimize_newton(objective, start, **options)

    def _components(self) -> Codes:
        raise NotImplementedError

    @property
    def _n_results(self) -> Floats:
        """How many results each item has, shape (N,)."""
        raise NotImplementedError

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The strengths."""
        return self.strength_

    def _check_kind(self, kind: str | None, kinds: tuple[str, ...], why: str) -> None:
        """Refuse covariances that do not exist, or say too little with a penalty."""
        if kind is not None and kind not in kinds:
            raise ValueError(
                f"kind must be one of {', '.join(map(repr, kinds))} or None; got "
                f"{kind!r}.{why}"
            )
        if kind in ("sandwich", "cluster") and self.alpha_ > 0:
            raise ValueError(
                f"kind={kind!r} is for strengths without a penalty. Use kind=None, the "
                "posterior and what the data add to it, or fit with alpha=0."
            )

    @property
    def _alphas(self) -> Floats:
        """Penalties of the nodes of the prior."""
        return getattr(self, "prior_alphas_", np.array([self.alpha_]))

    @property
    def _mode(self) -> int:
        """The node of the most probable penalty."""
        return int(np.argmin(np.abs(self._alphas - self.alpha_)))

    def _refuse_matrix(self) -> None:
        if len(self.items_) > LARGEST_COVARIANCE:
            raise ValueError(
                f"The covariance of {len(self.items_)} items would need too large a "
                f"matrix; the limit is {LARGEST_COVARIANCE} items."
            )

    def _posterior(
        self,
        objectives: Sequence[Any],
        fitted: Floats,
        squares: Callable[[Any, Floats, Floats], tuple[Floats, Any]] | None,
    ) -> StrengthDistribution:
        """Distribution of all coefficients with a prior; `squares` gives M and its df.

        One objective per node of the prior, the most probable model's first.
        """
        weights = getattr(self, "prior_weights_", np.ones(1))
        coefs = getattr(self, "prior_coefs_", fitted[None])
        n, covariance, reached = len(self.items_), [], []
        nodes = zip(self._alphas, coefs, objectives, strict=True)
        for alpha, x, objective in nodes:
            covariance.append(inverse_hessian(objective, x))
            sides = np.ones((2, len(x)))
            if n <= _EACH_NODE or (n <= SKEWED and alpha == self.alpha_):
                sides[:, :n] = side_scales(objective, x, covariance[-1], n)
            reached.append(sides)
        mode = self._mode
        if n > _EACH_NODE:
            reached = len(reached) * [reached[mode]]
        excess, df = None, math.inf
        if squares is not None:
            objective = objectives[mode]
            objective.expand(coefs[mode])
            meat, df = squares(objective, coefs[mode], covariance[mode])
            excess = excess_covariance(objective.hessian(), objective.penalty, meat)
        return StrengthDistribution(
            coefs,
            np.stack(covariance) if len(covariance) > 1 else covariance[0][None],
            weights,
            excess,
            df,
            np.stack(reached) if n <= SKEWED else None,
        )

    def distribution(
        self, kind: str | None = None, reference: Any = None
    ) -> StrengthDistribution:
        """Distribution of the strengths, from which intervals and ranks are drawn.

        Parameters
        ----------
        kind, reference : optional
            As in `covariance`.

        Returns
        -------
        StrengthDistribution
            With ``mean``, ``total`` (the covariance; above 3,000 strengths with a
            penalty variances), ``quantile(share)``, ``below(value)`` and
            ``differences(left, right)``, by item number.
        """
        return self._distribution(kind, reference)

    def _distribution(
        self, kind: str | None, reference: Any, whole: bool = False
    ) -> StrengthDistribution:
        full = self._coefficient_distribution(kind, whole)
        strengths = full.take(slice(len(self.items_)))
        place = None if reference is None else find_item(self.items_, reference)
        return strengths.relative_to(place)

    def covariance(self, kind: str | None = None, reference: Any = None) -> Floats:
        """Covariance matrix of the strengths.

        Parameters
        ----------
        kind : {"sandwich", "cluster", "model"}, optional
            ``"model"``: inverse Hessian. ``"sandwich"``: right also where the model is
            not quite. ``"cluster"``: right also when votes of one rater depend on each
            other; needs `rater` in `fit`. None: the last that applies; with a penalty
            the posterior's, and what the sandwich has in excess of it. The other two
            need alpha=0.
        reference : item name, optional
            Strengths are measured from it; None: from the mean of all items.

        Returns
        -------
        ndarray of shape (N, N)
        """
        return self._distribution(kind, reference, whole=True).total

    def standard_errors(self, kind: str | None = None, reference: Any = None) -> Floats:
        """Standard errors of the strengths.

        Parameters
        ----------
        kind, reference : optional
            As in `covariance`.

        Returns
        -------
        ndarray of shape (N,)
        """
        return self.distribution(kind, reference).errors()

    def intervals(
        self, level: float = 0.95, kind: str | None = None, reference: Any = None
    ) -> Floats:
        """Confidence intervals of the strengths, each by itself.

        Parameters
        ----------
        level, kind, reference : optional
            Confidence; as in `covariance`, strengths relative to the reference too.

        Returns
        -------
        ndarray of shape (N, 2)
            With a penalty, where the posterior has this probability.
        """
        check_level(level)
        known, tail = self.distribution(kind, reference), 0.5 - 0.5 * level
        return np.stack([known.quantile(tail), known.quantile(1.0 - tail)], axis=1)

    def contrasts(self, kind: str | None = None) -> PairContrasts:
        """Differences of items without their priors, and who could be best.

        Parameters
        ----------
        kind : optional
            As in `covariance`.

        Returns
        -------
        PairContrasts
            With ``between(left, right)``, by item number, and ``best``, p-values.
        """
        return self._contrasts_of(self._coefficient_distribution(kind))

    def _contrasts_of(self, known: StrengthDistribution) -> PairContrasts:
        basis = self._mode, self.alpha_, self._components(), self._n_results
        return PairContrasts.of(known, *basis)

    def rank_intervals(
        self, level: float = 0.95, kind: str | None = None, simultaneous: bool = False
    ) -> Codes:
        """Confidence intervals of the items' ranks, 1 the best.

        Parameters
        ----------
        level, kind, simultaneous : optional
            Confidence; as in `covariance`; whether all intervals hold at once.

        Returns
        -------
        ndarray of int64 of shape (N, 2)
            Best and worst rank of each item that the data allow.
        """
        check_level(level)
        known = self.distribution(kind), level, self._components()
        return Separation.of(*known, simultaneous).ranks()
