# SPDX-License-Identifier: BSD-3-Clause
r"""A normal prior on strengths, whose width is learned from the data.

The penalty α‖θ‖² is a normal prior of standard deviation τ = 1/√(2α) on N strengths.
With f_τ the objective, x̂ its minimum and H its Hessian there, the probability of the
data given τ is

.. math:: \ln Z(τ) ≈ -f_τ(x̂) - (N-1) \ln τ - \tfrac12 \ln|H| + ε

up to a constant (Laplace's approximation), with |H| on the contrasts of strengths and
all other coefficients. For a loss Σ_k φ_k(d_k) of differences d = D x, with V = D H⁻¹
Dᵀ and v its diagonal, the next term is

.. math:: ε = -\tfrac18 \sum_k φ''''_k v_k^2
              + \tfrac1{12} \sum_{kl} φ'''_k φ'''_l V_{kl}^3
              + \tfrac18 \sum_{kl} φ'''_k φ'''_l v_k v_l V_{kl};

without it narrow priors look too good when games are few. Lists have the
same sums over all partial derivatives in θ. τ has a half-Cauchy prior of scale 1 and is
averaged over nodes in ln τ around the most probable one, with weights Z(τ) p(τ) τ.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import (
    ComparisonObjective,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
)
from tiebreak.losses.comparison_covariance import HessianFactor
from tiebreak.losses.order_likelihood import OrderLikelihood
from tiebreak.ratings.strengths.many_items import MANY_ITEMS, SparseHessian
from tiebreak.solvers import NewtonSolution
from tiebreak.solvers.evidence import (
    NARROWEST,
    STEP,
    WIDEST,
    find_mode,
    log_width_prior,
)

_LEVEL = 0.005  # in ln τ, where the evidence of many items is level
_NARROW = 0.25  # standard deviation of ln τ for which three nodes are enough
_NEGLIGIBLE = 0.005  # weight of a node, relative to the largest; or of a model
_CLEAR = 8.0  # difference of the log evidence at one width that decides
_LARGEST_DENSE = 10_000  # coefficients of lists; above, |H| is that of its diagonal
# With more items the width is known to a few percent, and one node is enough.
_AVERAGED = 1000
# The double sum of ε is left out for more rows, and where it is small per item.
_CORRECTED_ROWS, _SMALL_SUM = 1500, 0.1
# Of lists, ε is left out for more items, or more entries.
_CORRECTED_ITEMS, _CORRECTED_ENTRIES = 100, 5000
# The series for ε overshoots where a width is far beyond what the data bound. Against
# integrals of 2 items and importance sampling of 20 and 32, ε / (1 + 5 ε/(N-1)) stays
# within 0.04 (N-1) of the truth up to τ = 12.
_DAMPING = 5.0


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """Nodes of the average over prior widths, and over models of ties."""

    alpha: Floats  # (K,), penalties
    weight: Floats  # (K,), sum 1
    coef: Floats  # (K, n), where each objective is least
    part: Codes  # (K,), number of its objective, the most probable first
    mode: int  # the most probable node
    best: NewtonSolution  # its fit

    @property
    def mean(self) -> Floats:
        """Coefficients, averaged over the nodes."""
        return self.weight @ self.coef


def learn_prior(
    objectives: Sequence[Callable[[float], Any]],
    start: Floats,
    n_items: int,
    minimize: Callable[[Any, Floats], NewtonSolution],
    alpha: float | str = "auto",
) -> LearnedPrior:
    """Find widths of the prior, or take one, and fits; objectives by penalty α.

    Several objectives, with coefficients that mean the same, are models between which
    the evidence decides, or which are averaged where it does not. Without a penalty
    there is no evidence, and the more probable results decide.
    """
    searches = [_Search(one, n_items, start, minimize) for one in objectives]
    fixed = None
    if alpha != "auto":
        fixed = -0.5 * math.log(2.0 * float(alpha)) if alpha else math.inf
    middle = searches[0].mode[0] if fixed is None else fixed
    height = np.zeros(1)
    if len(searches) > 1:
        height = np.array([search.evidence(middle) for search in searches])
    clear = _CLEAR if math.isfinite(middle) else 0.0
    possible = np.flatnonzero(height >= height.max() - clear)
    nodes: list[float] = []
    part: list[int] = []
    density: list[float] = []
    for number in possible.tolist():
        search = searches[number]
        own = search.nodes() if fixed is None else [fixed]
        width = np.gradient(own) if len(own) > 1 else np.ones(1)
        sure = len(own) == 1 and len(possible) == 1
        height = np.array([0.0 if sure else search.evidence(s) for s in own])
        nodes += own
        part += [number] * len(own)
        density += (height + np.log(width)).tolist()
    weight = np.exp(np.array(density) - max(density))
    weight /= weight.sum()
    share = np.bincount(part, weight, len(searches))
    order = np.argsort(-share[part], kind="stable")
    order = order[share[part][order] >= _NEGLIGIBLE]
    best = searches[int(share.argmax())]
    s, weight = np.array(nodes)[order], weight[order]
    middle = best.mode[0] if fixed is None else fixed
    mode = int(np.argmin(np.abs(s - middle))) if len(s) > 1 else 0
    return LearnedPrior(
        alpha=0.5 * np.exp(-2.0 * s),
        weight=weight / weight.sum(),
        coef=np.stack([searches[part[k]].fit(nodes[k]).x for k in order]),
        part=np.array(part)[order],
        mode=mode,
        best=best.fit(float(s[mode])),
    )


@one_blas_thread()  # sums are short, and other threads only wait
def fit_penalized(
    objectives: Sequence[Callable[[float], Any]],
    alpha: float | str,
    start: Floats,
    n_items: int,
    minimize: Callable[[Any, Floats], NewtonSolution],
) -> tuple[Floats, dict[str, Any], LearnedPrior]:
    """Minimize for a penalty, or average over learned ones; attributes of the fit."""
    prior = learn_prior(objectives, start, n_items, minimize, alpha)
    solution = prior.best
    fitted: dict[str, Any] = {
        "alpha_": float(prior.alpha[prior.mode]) if alpha == "auto" else float(alpha),
        "objective_": solution.value,
        "gap_": solution.gap,
        "n_iter_": solution.n_iter,
        "converged_": solution.converged,
    }
    if alpha == "auto" or len(prior.weight) > 1:
        fitted |= {
            "prior_alphas_": prior.alpha,
            "prior_weights_": prior.weight,
            "prior_coefs_": prior.coef,
        }
    return prior.mean, fitted, prior


@dataclass(eq=False)
class _Search:
    """Fits and their evidence, ln of Z(τ) p(τ) τ up to a constant, by s = ln τ."""

    objective_of: Callable[[float], Any]
    n_items: int
    start: Floats
    minimize: Callable[[Any, Floats], NewtonSolution]
    known: dict[float, float] = field(default_factory=dict)
    fits: dict[float, NewtonSolution] = field(default_factory=dict)

    @cached_property
    def mode(self) -> tuple[float, float]:
        """The most probable ln τ, and its standard deviation, or 0."""
        counted = isinstance(self.objective_of(1.0), ComparisonObjective)
        if self.n_items > MANY_ITEMS and counted:
            return self.find_level(), 0.0
        return find_mode(self.evidence, self._guess())

    def nodes(self) -> list[float]:
        """Widths to average over."""
        mode, spread = self.mode
        return self.spread_nodes(mode, spread) if self.n_items <= _AVERAGED else [mode]

    def fit(self, s: float) -> NewtonSolution:
        """Fit at the width exp(s), from the nearest fit there is."""
        if s not in self.fits:
            start = self.start
            if self.fits:
                start = self.fits[min(self.fits, key=lambda other: abs(other - s))].x
            self.fits[s] = self.minimize(self._objective(s), start)
        return self.fits[s]

    def evidence(self, s: float) -> float:
        """Fit at the width exp(s), and give ln of its probability."""
        if math.isinf(s):
            return -self.fit(s).value
        if s not in self.known:
            fit = self.fit(s)
            evidence = -fit.value - (self.n_items - 1) * s + log_width_prior(s)
            evidence += _determinant_terms(self._objective(s), fit.x, self.n_items, s)
            self.known[s] = evidence
        return self.known[s]

    def _objective(self, s: float) -> Any:
        return self.objective_of(0.5 * math.exp(-2.0 * s))

    def find_level(self) -> float:
        """Most probable ln τ of many items, where the evidence is level."""

        @cache
        def slope(s: float) -> float:
            x, objective = self.fit(s).x, self._objective(s)
            objective.expand(x)
            prior = 1.0 - 2.0 / (1.0 + math.exp(-2.0 * s))
            return SparseHessian(objective).evidence_slope(x) + prior

        low = high = self._guess()
        at_low = at_high = slope(low)
        while at_low < 0.0 and low > NARROWEST:
            low, high, at_high = low - STEP, low, at_low
            at_low = slope(low)
        while at_high > 0.0 and high < WIDEST:
            low, at_low, high = high, at_high, high + STEP
            at_high = slope(high)
        if at_low <= 0.0 or at_high >= 0.0:
            return low if at_low <= 0.0 else high
        return float(brentq(slope, low, high, xtol=_LEVEL))

    def _guess(self) -> float:
        spread = float(self.start[: self.n_items].std())
        return math.log(min(max(spread, 0.1), 3.0)) if spread > 0.0 else 0.0

    def spread_nodes(self, mode: float, spread: float) -> list[float]:
        """Nodes on both sides of the mode, as far as they have a weight."""
        if spread < _NARROW:
            reach = math.sqrt(3.0) * spread  # the nodes of Gauss and Hermite
            return [mode - reach, mode, mode + reach]
        nodes = [mode]
        for side in (-1.0, 1.0):
            s, step = mode, 0.75 * spread
            while True:
                s += side * step
                if not NARROWEST <= s <= WIDEST:
                    break
                nodes.append(s)
                lower = self.evidence(s) - max(self.known.values())
                if lower < math.log(_NEGLIGIBLE * spread / step):
                    break
                step *= 1.25
        return sorted(nodes)


def _determinant_terms(objective: Any, x: Floats, n_items: int, s: float) -> float:
    """-½ ln|H| without the direction that moves all strengths, and ε."""
    objective.expand(x)
    counted = isinstance(objective, ComparisonObjective)
    has_tie = counted and objective.tie is None
    terms = objective.link.log_prior(float(x[-1])) if has_tie else 0.0
    if len(x) > (MANY_ITEMS if counted else _LARGEST_DENSE):
        return terms - 0.5 * float(np.log(objective.hessian_diagonal()).sum()) - s
    factor = HessianFactor(objective)
    terms += -0.5 * factor.log_determinant - s
    if _is_corrected(objective, n_items):
        correction = laplace_correction if counted else order_correction
        inverse = factor.solve(np.eye(len(x)))
        share = correction(objective, x, inverse) / max(n_items - 1, 1)
        damped = share / (1.0 + _DAMPING * share) if share > 0.0 else share
        terms += damped * (n_items - 1)
    return terms


def _is_corrected(objective: Any, n_items: int) -> bool:
    if isinstance(objective, OrderLikelihood):
        n_entries = len(objective.choices.flat)
        return n_items <= _CORRECTED_ITEMS and n_entries <= _CORRECTED_ENTRIES
    return n_items <= _AVERAGED and isinstance(objective, ComparisonObjective)


def laplace_correction(
    objective: ComparisonObjective, x: Floats, inverse: Floats
) -> float:
    """Give ε of the module's docstring; the tie parameter is taken as known."""
    beta, t = objective.split(x)
    d, step = objective.design.apply(beta), 1e-3
    at, above, below = (
        objective.link.expand(d + move, t, objective.counts).curvature
        for move in (0.0, step, -step)
    )
    third, fourth = (above - below) / (2 * step), (above - 2 * at + below) / step**2
    q = objective.n_coef
    inverse = inverse[:q, :q]
    v = _row_variances(objective.design, inverse)
    pull = objective.design.back(third * v)
    epsilon = -0.125 * float(fourth @ v**2) + 0.125 * float(pull @ inverse @ pull)
    # The double sum is at most the square of this, over 12.
    most = float(np.abs(third) @ v**1.5)
    if len(d) <= _CORRECTED_ROWS and most**2 > _SMALL_SUM * q:
        rows = objective.design.matrix().toarray()
        joint = rows @ inverse @ rows.T
        epsilon += float(third @ (joint * joint * joint) @ third) / 12.0
    return epsilon


def order_correction(objective: OrderLikelihood, x: Floats, inverse: Floats) -> float:
    """Give ε of lists, as `laplace_correction` does of comparisons.

    Hessians are differentiated along the columns of a root of V = H⁻¹, in whose
    coordinates V is the identity.
    """
    n = objective.choices.n_items
    values, vectors = np.linalg.eigh(inverse[:n, :n])
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def hessian(move: Floats) -> Floats:
        objective.expand(np.append(x[:n] + move, x[n:]))
        return objective.hessian()[:n, :n]

    step, at, epsilon = 1e-2, hessian(np.zeros(n)), 0.0
    for line in step * root:
        above, below = hessian(line), hessian(-line)
        third = root @ (above - below) @ root / (2 * step)
        fourth = np.vdot(above - 2 * at + below, inverse[:n, :n]) / step**2
        epsilon += np.vdot(third, third) / 12.0 + np.trace(third) ** 2 / 8.0
        epsilon -= fourth / 8.0
    return float(epsilon)


def _row_variances(design: Design, inverse: Floats) -> Floats:
    """The diagonal of D H⁻¹ Dᵀ, for items and covariates next to them."""
    if isinstance(design, ItemDesign):
        own = np.diag(inverse)
        left, right = design.left, design.right
        return own[left] + own[right] - 2.0 * inverse[left, right]
    if isinstance(design, FeatureDesign):
        matrix = design.matrix()
        return np.asarray(matrix.multiply(matrix @ inverse).sum(axis=1)).ravel()
    assert isinstance(design, JointDesign)
    items, others = design.parts
    n = items.n_coef
    rows = others.matrix().toarray()
    cross = items.apply(inverse[:n, n:])
    within = np.einsum("ij,jk,ik->i", rows, inverse[n:, n:], rows)
    both = 2.0 * (cross * rows).sum(axis=1)
    return _row_variances(items, inverse[:n, :n]) + both + within
