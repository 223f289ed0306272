# SPDX-License-Identifier: BSD-3-Clause
"""The smooth comparer: left, tie and right with probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import Pairs, check_comparisons
from tiebreak.data.features import remember_features
from tiebreak.data.messages import warn_user
from tiebreak.losses import LINKS
from tiebreak.models.base import OUTCOMES, check_positive
from tiebreak.models.logistic_predictions import LogisticPredictions
from tiebreak.models.logistic_program import LogisticProgram
from tiebreak.models.logistic_stream import LogisticStream
from tiebreak.models.pair_program import TrainingItems
from tiebreak.models.parted_logistic import fit_parted_logistic
from tiebreak.scale import is_parted
from tiebreak.solvers import NewtonSolution

__all__ = ["LogisticCompare"]


class LogisticCompare(
    LogisticStream, LogisticPredictions, ClassifierMixin, BaseEstimator
):
    r"""Probabilities of left, tie and right from a smooth model of utilities.

    With r(x) = w·Φ(x) and d = r(right) - r(left), a comparison has probabilities

    * ``link="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2);
    * ``link="cumulative"``: P(right) = σ(d - τ), P(left) = σ(-d - τ) and a tie the
      rest, with σ(z) = 1 / (1 + exp(-z)): thresholds ±τ on a logistic variable,
      which is the model of Rao and Kupper with θ = exp(τ).

    Without ties both are P(right) = σ(d). The weights and the tie parameter minimize ::

        -Σᵢ sᵢ ln P(yᵢ) + α ‖w‖²,

    convex, and a **sum** over comparisons with weights s: α corresponds to the
    C = 1 / (2 α) of :class:`SVMCompare`. Comparisons of the same two items are counted
    first; Newton's method then takes about six steps.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of ‖w‖², positive. In Bayesian words, each weight is normal with
        variance 1 / (2 α).
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="linear"
        Kernel between items, as in :class:`SVMCompare`. Items without features have
        one weight each, with ``"linear"``.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``; ``"scale"`` is 1 / (p · variance of the
        distinct training items).
    degree : int, default=3
        Degree of ``"poly"``.
    coef0 : float, default=0.0
        Constant of ``"poly"``.
    link : {"davidson", "cumulative"}, default="davidson"
        How differences become probabilities.
    identity : float or None, default=None
        A positive number λ gives every item, known by its name in Pairs with names
        *and* features, a deviation b from what its features say: r = w·Φ(x) + b, and
        the penalty grows by λ Σ b². A small λ trusts the features little. Items with
        names that were not seen have b = 0.
    tol : float, default=1e-8
        Stop when the Newton decrement is this small, relative to √(2 objective).
    max_iter : int, default=100
        Largest number of Newton steps; then a warning carries the gap.
    learning_rate : float, default=1.0
        Factor of the steps of ``partial_fit``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, for the linear kernel. Without features: the utility of each item of
        ``items_``.
    items_ : ndarray
        Names of the items, when they have no features.
    effect_names_, item_effect_ : ndarray
        Names of the items and their deviations b, with ``identity``.
    support_, dual_coef_ : ndarray
        Other kernels: r(x) = Σ dual_coef_[j] k(item support_[j], x), where ``support_``
        are rows of the item table (row 2 i + 1 of a 3-D array is the right item of
        comparison i).
    support_items_ : ndarray or CSR array
        Features of these items, unless the kernel is precomputed.
    tie_ : float
        ν, or θ = exp(τ). Training comparisons without ties give 0, or 1: P(tie) = 0.
    threshold_ : float
        Largest \|d\| at which a tie is the most probable outcome; 0 if it never is.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    objective_ : float
        Value reached.
    gap_ : float
        How far it may be above the minimum, as a share of it.
    n_iter_ : int
        Newton steps taken.
    converged_ : bool
        Whether the tolerance was reached.
    gamma_ : float
        The value of gamma used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    See Also
    --------
    SVMCompare : Hinge loss instead of probabilities.

    Notes
    -----
    ``predict`` gives the most probable outcome. Two equal utilities are always
    predicted to tie, also where left and right are, equally, more probable.

    Other kernels than the linear one go through a pivoted Cholesky factor of the
    kernel between the distinct items, which leaves no entry further off than 1e-10 of
    the largest one. With a polynomial kernel, features of very different sizes should
    be scaled first.

    With nothing but ties the utility is zero and a tie is certain.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments", 1970.
    Rao and Kupper, "Ties in paired-comparison experiments", 1967.

    Examples
    --------
    >>> from tiebreak import LogisticCompare, Pairs
    >>> items = [[0.0], [1.0], [2.0]]
    >>> pairs = Pairs(items, left=[0, 1, 0, 2], right=[1, 2, 2, 1])
    >>> model = LogisticCompare(0.1).fit(pairs, [0, 0, 1, -1])
    >>> model.predict(pairs)
    array([0, 0, 1, 0], dtype=int8)
    >>> model.predict_proba([[[0.0], [5.0]]]).round(2)
    array([[0.  , 0.03, 0.97]])
    """

    __module__ = "tiebreak"  # where users find it

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., np.ndarray] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        link: str = "davidson",
        identity: float | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
        learning_rate: float = 1.0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.link = link
        self.identity = identity
        self.tol = tol
        self.max_iter = max_iter
        self.learning_rate = learning_rate

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons. Or comparisons in partitions (:mod:`tiebreak.scale`); then y
            and sample_weight are names of columns.
        y : array-like of shape (n,)
            Outcomes: -1 left is better, 0 tie, +1 right is better.
        sample_weight : array-like of shape (n,), optional
            Weight of each comparison; a weight of 2 is the same as a second row.

        Returns
        -------
        LogisticCompare
            The fitted model.
        """
        if is_parted(X):
            self._check_parameters()
            fit_parted_logistic(self, X, y, sample_weight)
            return self
        program = self._read(X, y, sample_weight)
        solution, coef, t = program.solve(self.tol, int(self.max_iter))
        self._warn(program.only_ties, solution)
        self._unpack(program, solution, coef, t)
        return self

    def _read(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> LogisticProgram:
        self._check_parameters()
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        self._check_identity(pairs)
        present = weight > 0
        if not present.all():
            pairs, outcome, weight = pairs[present], outcome[present], weight[present]
        given = pairs.touched()
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        items = TrainingItems.read(
            pairs if precomputed else pairs.compact(),
            self.kernel,
            self.gamma,
            self.degree,
            self.coef0,
        )
        return LogisticProgram(
            pairs.compact(),
            outcome,
            weight,
            items,
            given,
            self._link,
            alpha=self.alpha,
            identity=self.identity,
        )

    def _check_parameters(self) -> None:
        if isinstance(self.alpha, int | float) and self.alpha == 0:
            raise ValueError(
                f"{type(self).__name__} got alpha={self.alpha!r}; without a penalty "
                "the weights of comparisons that can be separated are infinite. Try a "
                "small positive alpha such as 1e-6."
            )
        check_positive(self, "alpha", "tol", "max_iter", "learning_rate")
        if self.identity is not None:
            check_positive(self, "identity")
        if not isinstance(self.link, str) or self.link not in LINKS:
            raise ValueError(
                f"link={self.link!r} is not known; expected "
                f"{' or '.join(map(repr, LINKS))}."
            )

    def _check_identity(self, pairs: Pairs) -> None:
        if self.identity is None or (pairs.has_features and pairs.names is not None):
            return
        hint = (
            "give the names of the items: Pairs(items, left, right, names=names)."
            if pairs.has_features
            else "items without features have one weight each already: leave it out."
        )
        raise ValueError(
            f"identity={self.identity!r} adds deviations of named items to their "
            f"features; {hint}"
        )

    def _warn(self, only_ties: bool, solution: NewtonSolution) -> None:
        if only_ties:
            warn_user(
                "All comparisons are ties: the utility is zero everywhere and every "
                "prediction is a tie."
            )
        if not solution.converged:
            warn_user(
                f"{type(self).__name__} stopped after {solution.n_iter} Newton steps "
                f"with a relative gap of {solution.gap:.2g}; asked for "
                f"tol²={self.tol**2:.2g}. The result is kept. Try a larger max_iter, "
                "scaled features or a larger alpha.",
                ConvergenceWarning,
            )

    def _unpack(
        self,
        program: LogisticProgram,
        solution: NewtonSolution,
        coef: np.ndarray,
        t: float,
    ) -> None:
        self._forget()
        self.__dict__.pop("_stream", None)
        pairs, items, p = program.pairs, program.items, program.n_features
        if pairs.items is not None:
            remember_features(self, pairs.items)
        elif pairs.names is not None:
            self.items_ = pairs.names
        if program.factor is None:
            self.coef_ = coef[:p]
        else:
            pivots = program.factor.pivots
            self.dual_coef_ = program.factor.item_coef(coef[:p])
            _, first = np.unique(program.code, return_index=True)
            self.support_ = program.given[first[pivots]]
            if items.table is not None and items.function is not None:
                self.support_items_ = items.table.values[pivots]
                self.gamma_ = items.function.gamma
        if self.identity is not None and pairs.names is not None:
            self.effect_names_, self.item_effect_ = pairs.names, coef[p:]
        self._set_tie(t)
        self.objective_, self.gap_ = solution.value, solution.gap
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        if program.factor is None:
            self._stream = program.stream(coef, t)

    def _set_tie(self, t: float) -> None:
        self.classes_ = OUTCOMES.copy()
        self.tie_ = float(self._link.to_parameter(t))
        self.threshold_ = float(self._link.threshold(t))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tie_")
