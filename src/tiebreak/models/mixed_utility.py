# SPDX-License-Identifier: BSD-3-Clause
"""One utility from comparisons, grades and lists together.

Boundary convention: two items tie only where their utilities are equal; wrap the model
in `ThresholdCompare` to predict ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import ItemTable, is_pairs
from tiebreak.data.comparison_graph import ComparisonCounts, count_comparisons
from tiebreak.data.messages import warn_user
from tiebreak.data.parameters import COUNT, FLAG, POSITIVE, check_parameters
from tiebreak.data.validation import check_features
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    FeatureDesign,
    GradeSquaredHinge,
    GradeTree,
    UtilityLoss,
)
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.losses.orders import Choices, OrderLikelihood
from tiebreak.models.base import (
    UtilityMixin,
    read_comparisons,
    refuse_only_ties,
)
from tiebreak.models.graded_problem import check_graded, plant_tree
from tiebreak.solvers import NewtonSolution, minimize_newton

Floats = NDArray[np.float64]

_ARGUMENTS = ("X", "y", "qid", "sample_weight", "weight")
_NO_PENALTY = 1e-300  # of strengths in lists, whose penalty is that of the weights
_STEEPNESS = 1.0  # standard deviation of ln s in its prior


class MixedUtility(UtilityMixin, BaseEstimator):
    r"""One utility from comparisons, graded items and lists together.

    With r(x) = w·φ(x), sources k of knowledge, their weights c and scales s::

        minimize   α ‖w‖² + Σₖ cₖ Lₖ(sₖ r) + ½ Σₖ (ln sₖ)²,

    a **sum**, where L is for

    * comparisons: -Σ ln P(y), ties by Davidson's model, as :class:`LogisticCompare`;
    * graded items: Σ w_i w_j (1 - (r_i - r_j))₊² over pairs of different grades, as
      :class:`RankSVM` with ``loss="squared_hinge"`` and C = 1/(2α);
    * lists: -Σ ln P(list), Plackett and Luce's model, as :class:`PlackettLuce`, with
      features.

    Grades of n items make up to n² / 2 pairs, and rest on n judgments. So beside other
    sources the pairs of a group weigh n / (their number) each, as many as its items
    together; a source alone is the sum of its pairs.

    The first source has scale 1. The others may be steeper or flatter in the same
    utility: a judge of another care, grades on another scale.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of ‖w‖², positive.
    transformer : transformer or None, default=None
        Makes φ(x), such as :class:`NystroemMap` for kernels or a scaler: a clone is
        fitted on the items of all sources. None: φ(x) = x.
    scales : bool, default=True
        Whether the scales are learned; else all are 1.
    tol, max_iter : float and int, default=1e-8 and 100
        Stop when the Newton decrement is this small, relative to √(2 objective), or
        after so many Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w.
    scale_ : ndarray of shape (n_sources,)
        s.
    transformer_ : transformer
        The fitted one, if given.
    loss_ : ndarray of shape (n_sources,)
        Lₖ at the solution, without its weight.
    n_pairs_ : int
        Comparisons, or pairs of items in different positions, of the first source.
    objective_, gap_ : float
        Value reached, and how far it may be above the minimum for these scales, as a
        share of it.
    n_iter_, converged_ : int, bool
        Newton steps at these scales, and whether `gap_` is at most `tol`.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    Notes
    -----
    For given scales the problem is convex, and solved by Newton's method with conjugate
    gradients. The scales minimize what is left then, by BFGS from 1; together the
    problem is not convex.

    Examples
    --------
    >>> from tiebreak import MixedUtility, Pairs
    >>> items = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]
    >>> pairs = Pairs(items, left=[0, 0, 1], right=[1, 2, 2])
    >>> graded = {"X": items, "y": [1, 1, 3], "weight": 2.0}
    >>> model = MixedUtility(0.1).fit(pairs, [1, 1, 1], more=[graded])
    >>> model.order(items)
    array([2, 1, 0])
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    _parameters: ClassVar = {
        "alpha": POSITIVE,
        "tol": POSITIVE,
        "max_iter": COUNT,
        "scales": FLAG,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        transformer: Any = None,
        scales: bool = True,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.alpha, self.transformer, self.scales = alpha, transformer, scales
        self.tol, self.max_iter = tol, max_iter

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        more: Sequence[Mapping[str, Any]] = (),
    ) -> Self:
        """Learn from one source of knowledge, and more.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features), items or Orders
            Comparisons with outcomes y, items with grades y, or lists without y. Items
            have features.
        y : array-like of shape (n,), optional
            Outcomes -1, 0, +1 of comparisons, or grades of items.
        qid : array-like of shape (n,), optional
            Groups of graded items; items of different groups are not compared.
        sample_weight : array-like of shape (n,), optional
            Weights of comparisons, items or lists; a pair of items weighs w_i w_j.
        more : sequence of dict, default=()
            Other sources: each has ``X`` and, where it needs them, ``y``, ``qid`` and
            ``sample_weight`` as above, and its weight c as ``weight`` (1 without it).

        Returns
        -------
        Self
        """
        check_parameters(self)
        given = {"X": X, "y": y, "qid": qid, "sample_weight": sample_weight}
        sources = [_read(self, one, bool(more)) for one in (given, *more)]
        weights = [1.0, *(_weight_of(one) for one in more)]
        self._start_fit(sources[0].table, with_qid=sources[0].grouped)
        self.n_pairs_ = sources[0].n_pairs
        for source in sources[1:]:
            check_features(self, source.table)
        features = self._make_features([source.table.values for source in sources])
        parts = [make.part(A) for make, A in zip(sources, features, strict=True)]
        log_scale, solution, objective = self._solve(parts, np.array(weights))
        self._unpack(log_scale, solution, objective)
        return self

    def _make_features(self, tables: list[Any]) -> list[Any]:
        if self.transformer is None:
            return tables
        stacked = (
            sp.vstack(tables) if any(map(sp.issparse, tables)) else np.vstack(tables)
        )
        self.transformer_ = clone(self.transformer).fit(stacked)
        return [self.transformer_.transform(table) for table in tables]

    def _solve(
        self, parts: list[Part], weights: Floats
    ) -> tuple[Floats, NewtonSolution, _MixedObjective]:
        """Solve for scales, and find the scales of the smallest minimum."""
        start: Floats | None = None

        def minimum(free: Floats) -> tuple[NewtonSolution, _MixedObjective]:
            nonlocal start
            scale = np.exp(np.append(0.0, free))
            objective = _MixedObjective(parts, weights, scale, float(self.alpha))
            found = minimize_newton(
                objective,
                objective.start() if start is None else start,
                tol=self.tol, max_iter=int(self.max_iter), min_iter=1,
            )  # fmt: skip
            start = found.x
            return found, objective

        def profile(free: Floats) -> tuple[float, Floats]:
            # At the minimum the value changes with a scale as if w stood still.
            found, objective = minimum(free)
            slope = objective.scale_slopes(found.x)[1:] + free / _STEEPNESS**2
            return found.value + 0.5 * float(free @ free) / _STEEPNESS**2, slope

        free = np.zeros(len(parts) - 1)
        if self.scales and len(free):
            free = minimize(profile, free, jac=True, method="BFGS").x
        return (np.append(0.0, free), *minimum(free))

    def _unpack(
        self, log_scale: Floats, found: NewtonSolution, objective: _MixedObjective
    ) -> None:
        prior = 0.5 * float(log_scale @ log_scale) / _STEEPNESS**2
        self.objective_, self.gap_ = found.value + prior, found.gap
        self.n_iter_, self.converged_ = found.n_iter, bool(found.gap <= self.tol)
        self.coef_ = found.x[: objective.p].copy()
        self.scale_, self.loss_ = objective.scales, objective.losses(found.x)
        if not self.converged_:
            warn_user(
                f"MixedUtility did not converge in {found.n_iter} steps: the relative "
                f"gap is {found.gap:.1e}. The result is kept. Try a larger max_iter, "
                "scaled features or a larger alpha.",
                ConvergenceWarning,
            )

    def _utility(self, table: ItemTable) -> Floats:
        values = table.values
        if hasattr(self, "transformer_"):
            values = self.transformer_.transform(values)
        return np.asarray(values @ self.coef_)


class Part(Protocol):
    """A convex function of the weights and own variables of a source."""

    n_variables: int

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give value and gradient; the Hessian then speaks of x."""

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""

    def hessian(self) -> Floats:
        """Give the Hessian at the last expanded point."""

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point."""


class _MixedObjective:
    """α‖w‖² + Σ cₖ fₖ(sₖ w, own variables of k) at x = (w, all own variables)."""

    def __init__(
        self, parts: list[Part], weights: Floats, scales: Floats, alpha: float
    ) -> None:
        self.parts, self.weights, self.scales, self.alpha = (
            parts,
            weights,
            scales,
            alpha,
        )
        self.p = parts[0].n_coef  # type: ignore[attr-defined]
        self.own, stop = [], self.p
        for part in parts:
            self.own.append(slice(stop, stop + part.n_variables - self.p))
            stop = self.own[-1].stop
        self.n_variables = stop

    def start(self) -> Floats:
        """Give w = 0, and the own variables at which the parts begin."""
        own = [part.own_start for part in self.parts]  # type: ignore[attr-defined]
        return np.concatenate([np.zeros(self.p), *own])

    def _each(self) -> Any:
        return zip(self.parts, self.weights, self.scales, self.own, strict=True)

    def value(self, x: Floats) -> float:
        return self.expand(x)[0]

    def expand(self, x: Floats) -> tuple[float, Floats]:
        w, out = x[: self.p], np.zeros(self.n_variables)
        out[: self.p] = 2.0 * self.alpha * w
        value = self.alpha * float(w @ w)
        for part, c, s, own in self._each():
            found, gradient = part.expand(np.append(s * w, x[own]))
            value += c * found
            out[: self.p] += c * s * gradient[: self.p]
            out[own] = c * gradient[self.p :]
        return value, out

    def hessian_product(self, v: Floats) -> Floats:
        out = np.zeros(self.n_variables)
        out[: self.p] = 2.0 * self.alpha * v[: self.p]
        for part, c, s, own in self._each():
            curved = part.hessian_product(np.append(s * v[: self.p], v[own]))
            out[: self.p] += c * s * curved[: self.p]
            out[own] = c * curved[self.p :]
        return out

    def hessian_diagonal(self) -> Floats:
        out = np.full(self.n_variables, 2.0 * self.alpha)
        for part, c, s, own in self._each():
            diagonal = part.hessian_diagonal()
            out[: self.p] += c * s**2 * diagonal[: self.p]
            out[own] = c * diagonal[self.p :]
        return out

    def hessian(self) -> Floats:
        out = np.zeros((self.n_variables, self.n_variables))
        out.flat[: self.p * self.n_variables : self.n_variables + 1] = 2.0 * self.alpha
        for part, c, s, own in self._each():
            places = np.r_[: self.p, own]
            size = np.append(np.full(self.p, s), np.ones(own.stop - own.start))
            out[np.ix_(places, places)] += c * part.hessian() * np.outer(size, size)
        return out

    def losses(self, x: Floats) -> Floats:
        """Give the loss of each source."""
        each = self._each()
        return np.array([part.expand(np.append(s * x[: self.p], x[own]))[0]
                         for part, _, s, own in each])  # fmt: skip

    def scale_slopes(self, x: Floats) -> Floats:
        """Give the derivative of the value in the logarithm of each scale."""
        slopes = []
        for part, c, s, own in self._each():
            w = s * x[: self.p]
            slopes.append(c * float(w @ part.expand(np.append(w, x[own]))[1][: self.p]))
        return np.array(slopes)


class _OfUtilities:
    """A loss of utilities A w and, for lists with ties, of parameters of ties."""

    def __init__(self, A: Any, loss: UtilityLoss | OrderLikelihood, n_own: int = 0):
        self.A, self.loss, self.n_coef = A, loss, A.shape[1]
        self.n_variables, self.own_start = A.shape[1] + n_own, np.zeros(n_own)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        value, gradient = self.loss.expand(self._forward(x))
        return value, self._back(gradient)

    def hessian_product(self, v: Floats) -> Floats:
        return self._back(self.loss.hessian_product(self._forward(v)))

    def hessian(self) -> Floats:
        if not isinstance(self.loss, OrderLikelihood):
            return self.loss.sketch(self.A, self.A.shape[0])
        inner, n, p = self.loss.hessian(), self.A.shape[0], self.n_coef
        out = np.zeros((self.n_variables, self.n_variables))
        out[:p, :p] = self.A.T @ (self.A.T @ inner[:n, :n]).T
        out[:p, p:] = self.A.T @ inner[:n, n:]
        out[p:, :p], out[p:, p:] = out[:p, p:].T, inner[n:, n:]
        return out

    def hessian_diagonal(self) -> Floats:
        # Exact for one-hot features, else of the right size: it only preconditions.
        diagonal = self.loss.hessian_diagonal()
        squares = self.A.multiply(self.A) if sp.issparse(self.A) else self.A**2
        n = self.A.shape[0]
        return np.append(np.asarray(squares.T @ diagonal[:n]), diagonal[n:])

    def _forward(self, x: Floats) -> Floats:
        return np.append(forward_product(self.A, x[: self.n_coef]), x[self.n_coef :])

    def _back(self, g: Floats) -> Floats:
        n = self.A.shape[0]
        return np.append(back_product(self.A, g[:n]), g[n:])


class _Compared(ComparisonObjective):
    """Comparisons under Davidson's model, without a penalty."""

    def __init__(self, A: Any, cells: ComparisonCounts) -> None:
        counts, link = cells.counts, LINKS["davidson"]
        ties = float(counts[:, 1].sum() / counts.sum())
        # Fewer comparisons than items: their differences are the smaller table.
        few = len(cells.left) < A.shape[0]
        super().__init__(
            CovariateDesign(A[cells.left] - A[cells.right])
            if few
            else FeatureDesign(A, cells.left, cells.right),
            link,
            counts,
            np.zeros(A.shape[1]),
            tie=None if ties else link.start(0.0),
        )
        self.own_start = np.array([link.start(ties)] if ties else [])


class _Source:
    """What one source says, and the table of its items."""

    def __init__(
        self,
        table: ItemTable,
        n_pairs: int,
        grouped: bool = False,
        cells: ComparisonCounts | None = None,
        tree: GradeTree | None = None,
        lists: Choices | None = None,
    ) -> None:
        self.table, self.n_pairs, self.grouped = table, n_pairs, grouped
        self.cells, self.tree, self.lists = cells, tree, lists

    def part(self, A: Any) -> Any:
        """Return the loss for features A of the table."""
        if self.cells is not None:
            return _Compared(A, self.cells)
        if self.tree is not None:
            return _OfUtilities(A, GradeSquaredHinge(self.tree))
        assert self.lists is not None
        likelihood = OrderLikelihood(self.lists, _NO_PENALTY)
        return _OfUtilities(A, likelihood, likelihood.n_variables - A.shape[0])


def _read(model: Any, given: Mapping[str, Any], mixed: bool = True) -> _Source:
    """Check one source; `mixed`: groups of grades weigh as many as their items."""
    unknown = [name for name in given if name not in _ARGUMENTS]
    if "X" not in given or unknown:
        raise ValueError(
            f"A source in more has {', '.join(map(repr, given)) or 'nothing'}; "
            "expected 'X' and, where it needs them, 'y', 'qid', 'sample_weight' and "
            "'weight'."
        )
    X, y, qid = given["X"], given.get("y"), given.get("qid")
    sample_weight = given.get("sample_weight")
    if is_pairs(X):
        model._refuse_groups(qid)
        pairs, outcome, weight, _ = read_comparisons(X, y, sample_weight)
        if not pairs.has_features:
            raise TypeError(
                "MixedUtility needs features of the items; these Pairs have none "
                "(items=None). Give every item a feature of its own, "
                "Pairs(np.eye(n_items), left, right)."
            )
        if not outcome.any():
            refuse_only_ties(model, len(outcome))
        pairs = pairs.compact()
        table, code = pairs.unique_items()
        sides = code[pairs.left], code[pairs.right]
        cells = count_comparisons(*sides, outcome, weight, table.n_items)
        return _Source(table, len(pairs), cells=cells)
    grades, weight = check_graded(X, y, qid, sample_weight)
    tree = plant_tree(model, grades, weight, "sum")
    if grades.orders is None:
        if mixed:
            size = np.asarray(np.bincount(grades.group, weight), np.float64)
            tree = GradeTree(grades.y, grades.group, weight, "mean", size)
        return _Source(grades.items, tree.n_pairs, qid is not None, tree=tree)
    orders = grades.orders
    used = weight[orders.indptr[:-1]] ** 2
    lists = Choices.of_positions(
        orders.flat, orders.position, orders.indptr, used, orders.n_items
    )
    return _Source(orders.table, tree.n_pairs, True, lists=lists)


def _weight_of(given: Mapping[str, Any]) -> float:
    weight = given.get("weight", 1.0)
    real = isinstance(weight, Real) and not isinstance(weight, bool)
    if not real or not 0 < weight < np.inf:
        raise ValueError(
            f"The weight of a source must be a positive number; got {weight!r}."
        )
    return float(weight)
