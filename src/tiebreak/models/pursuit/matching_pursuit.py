# SPDX-License-Identifier: BSD-3-Clause
"""Kernel matching pursuit: grades as a sum of a few kernel functions."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from tiebreak.data import is_pairs
from tiebreak.models.graded_problem import read_grades
from tiebreak.models.pursuit.kernel_pursuit import KernelPursuit
from tiebreak.models.pursuit.problem import PursuitProblem, values_problem


class MatchingPursuit(KernelPursuit, BaseEstimator):
    """Grades as a sum of a few kernel functions, one chosen after another.

    The pursuit of :class:`RankingPursuit` with L the identity: it makes ::

        Σ w_i (s_i - r(x_i))²,    r(x) = Σ a_j k(c_j, x),

    small, a sum over items and not a mean, which fits the grades s themselves and not
    their differences. Groups play no part in the fit; they do in the choice of
    ``n_basis`` and in ``score``. There is no intercept.

    Parameters
    ----------
    n_basis : int or "cv", default=10
        Number of steps, and so of basis functions at most. With a validation set in
        ``fit`` the largest number to try; ``"cv"`` chooses it by cross-validation.
    kernel : {"linear", "poly", "rbf", "precomputed"}, callable, dict or list of these
        The kernel, default ``"rbf"``, or several, as in :class:`RankingPursuit`.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``.
    degree : int, default=3
        Degree of ``"poly"``.
    coef0 : float, default=0.0
        Constant of ``"poly"``.
    backfit : bool, default=True
        Whether all coefficients are solved for again after every step.
    prefit : bool, default=False
        Whether to choose the function that is best after back-fitting, not before.
    centers : None, array-like of int or table of items, default=None
        Centers of the basis functions, as in :class:`RankingPursuit`.
    max_basis : int, default=100
        Largest number that ``n_basis="cv"`` tries.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of ``n_basis="cv"``.
    cache_size : float, default=500
        Megabytes for columns of kernel values.

    Attributes
    ----------
    support_, dual_coef_, support_kernel_, support_items_, coef_
        The chosen centers and their coefficients, as in :class:`RankingPursuit`.
    n_basis_, path_, path_support_, path_kernel_, objective_path_, validation_path_
        The steps, as in :class:`RankingPursuit`.
    gamma_ : float or ndarray
        The gamma that is used; of several kernels an array.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    See Also
    --------
    RankingPursuit : The same with the squared error of differences.

    References
    ----------
    Vincent and Bengio, "Kernel matching pursuit", 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import MatchingPursuit
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = MatchingPursuit(n_basis=6, gamma=0.5).fit(X, np.sin(X.ravel()))
    >>> bool(np.abs(model.utility(X) - np.sin(X.ravel())).max() < 0.1)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False

    def __init__(
        self,
        n_basis: int | str = 10,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        backfit: bool = True,
        prefit: bool = False,
        centers: Any = None,
        max_basis: int = 100,
        cv: Any = 5,
        cache_size: float = 500,
    ) -> None:
        self.n_basis = n_basis
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.backfit = backfit
        self.prefit = prefit
        self.centers = centers
        self.max_basis = max_basis
        self.cv = cv
        self.cache_size = cache_size

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from graded items or orders.

        Parameters
        ----------
        X : items or Orders
            Items with grades y, or orders, whose grades are minus the positions.
        y : array-like of shape (n,), optional
            Grades of items, higher is better; none for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; they do not change the fit.
        sample_weight : array-like of shape (n,), optional
            Weights of items, or of the lists of Orders.
        validation : (X, y) or (X, y, qid), optional
            Data on which the number of steps is chosen, 1 to ``n_basis``: the smallest
            of those with the least fraction of swapped pairs.

        Returns
        -------
        Self
            The fitted model.
        """
        return super().fit(
            X, y, qid=qid, sample_weight=sample_weight, validation=validation
        )

    def _read(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> PursuitProblem:
        if is_pairs(X):
            raise TypeError(
                "MatchingPursuit learns from graded items or orders; got comparisons. "
                "Try RankingPursuit, which takes these too."
            )
        grades, weight = read_grades(self, X, y, qid, sample_weight)
        return values_problem(self, grades, weight)
