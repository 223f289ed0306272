# SPDX-License-Identifier: BSD-3-Clause
"""Ranking pursuit with several views and items without a grade."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, as_items, is_pairs
from tiebreak.data.features import check_features
from tiebreak.data.messages import warn_user
from tiebreak.models.base import UtilityMixin, check_positive
from tiebreak.models.co_pursuit_program import CoPursuitProgram
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.pursuit_steps import check_steps, validation_errors
from tiebreak.models.views import read_views
from tiebreak.solvers import JointPath, pursue_jointly

__all__ = ["CoRankingPursuit"]

Floats = NDArray[np.float64]


class CoRankingPursuit(UtilityMixin, BaseEstimator):
    """Ranking functions of several views that agree where there are no grades.

    A view sees some of the features, or all, with a kernel of its own. For M views it
    learns M utilities f_v(x) = Σ_p a_p^(v) k_v(c_p^(v), x), and their mean is the
    utility. Items with y = NaN have no grade; there the views are to agree. With L the
    Laplacian of the pairs of graded items of a group and L̄ that of the others, equation
    (1) of the paper is ::

        Σ_v (s - f_v)ᵀL(s - f_v) + ν Σ_{v,u} (f_v - f_u)ᵀL̄(f_v - f_u),

    sums over pairs and not means, where the last sum has every two views twice. Without
    items that have no grade, views are to agree on those that have one. A step adds one
    kernel function to every view. Their coefficients solve a system of M equations, and
    the step with the largest fall is taken; nothing is fitted again later.

    ``objective="increments"``, the paper's figure 1, chooses increments as if every
    view had to explain what the *mean* of all views leaves: in the formula above
    increments stand for f_v and the residual of the mean for s. ``"functions"`` makes
    the formula itself smaller, each view with its own residual and all that the views
    differ by so far.

    ``indices="free"`` looks for a center of its own for every view. All m² pairs of
    two views are scored; of three or more views all combinations up to 200,000, and
    beyond that centers are replaced one view after another until none can be replaced
    by a better one, which may miss the best combination. ``"shared"`` takes the same
    center for all views, of m candidates.

    Parameters
    ----------
    n_basis : int, default=10
        Number of steps; with a validation set in ``fit`` the largest number to try.
    views : list, default=("rbf", "linear")
        The views. Each is a kernel (all features), a list of columns, their names or a
        slice (the kernel of the model), or a dict with some of the keys "columns",
        "kernel", "gamma", "degree" and "coef0".
    nu : float, default=1.0
        ν ≥ 0, how much disagreement costs. 1 is the formula as it stands, and far too
        much where rows without a grade are many; see Notes.
    objective : {"increments", "functions"}, default="increments"
        What a step makes small.
    indices : {"free", "shared"}, default="free"
        Whether views have centers of their own.
    kernel : {"linear", "poly", "rbf"} or callable, default="rbf"
        Kernel of views that name none.
    gamma : float, "scale" or "auto", default="scale"
        Parameter of ``"poly"`` and ``"rbf"``. ``"scale"`` looks at the features of the
        view, of all training items.
    degree : int, default=3
        Degree of ``"poly"``.
    coef0 : float, default=0.0
        Constant of ``"poly"``.
    centers : None, array-like of int or table of items, default=None
        Centers: None for the graded training items, or row numbers of training items,
        or items of their own.
    per_group : {"sum", "mean"}, default="sum"
        ``"mean"`` divides the sum over the pairs of a group by its size.
    cache_size : float, default=500
        Megabytes for columns of kernel values, and for products between those of two
        views.

    Attributes
    ----------
    support_ : ndarray of int of shape (n_steps, M)
        Center that every step gave to every view: rows of the item table, or of
        ``centers`` if that is a table.
    dual_coef_ : ndarray of shape (n_steps, M)
        Their coefficients.
    support_items_ : ndarray or csr_array of shape (k, n_features)
        The centers of all views, each once.
    item_coef_ : ndarray of shape (k, M)
        Utility v is Σ item_coef_[j, v] k_v(support_items_[j], x).
    agreement_ : ndarray of shape (M, M)
        Share of the pairs of items without a grade (of graded ones, if there are no
        such pairs), inside groups, that views v and u put in the same order; a tie of
        view u counts half, and a tie of view v does not count.
    n_basis_ : int
        Number of steps that the model has.
    path_, path_support_ : ndarray of shape (n_steps, M)
        As ``dual_coef_`` and ``support_``, also of steps beyond ``n_basis_``.
    objective_path_ : ndarray of shape (n_steps + 1,)
        Equation (1) before the first step and after every step.
    validation_path_ : ndarray of shape (n_steps,)
        Fraction of swapped pairs of the mean on the validation set after every step.
    gamma_ : ndarray of shape (M,)
        The gamma of each view.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    See Also
    --------
    RankingPursuit : One view, all items graded, with back-fitting.

    Notes
    -----
    ν multiplies a sum over all pairs of rows without a grade, and these outnumber the
    pairs of graded rows: 15 graded of 300 rows make 105 pairs against 40,470. With
    ν = 1 agreement then counts nearly 400 times as much as the grades, and the ranking
    can be worse than with ν = 0. Choose ν such that ::

        ν · (pairs without a grade) / (pairs of graded rows)

    is of order one, here ν = 0.003, and try values around it on a validation set.

    References
    ----------
    Tsivtsivadze and Heskes, "Sparse preference learning".

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import CoRankingPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> truth = X[:, 0] + X[:, 2]
    >>> y = np.where(np.arange(100) < 30, truth, np.nan)    # 70 items without a grade
    >>> model = CoRankingPursuit(views=[[0, 2], [0, 1, 2, 3]], nu=0.1).fit(X, y)
    >>> model.view_utilities(X).shape
    (100, 2)
    >>> model.score(X, truth) > 0.8
    True
    >>> bool(model.agreement_[0, 1] > 0.8)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    def __init__(
        self,
        n_basis: int = 10,
        *,
        views: Any = ("rbf", "linear"),
        nu: float = 1.0,
        objective: str = "increments",
        indices: str = "free",
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        centers: Any = None,
        per_group: str = "sum",
        cache_size: float = 500,
    ) -> None:
        self.n_basis = n_basis
        self.views = views
        self.nu = nu
        self.objective = objective
        self.indices = indices
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.per_group = per_group
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
        """Learn from items, of which some have a grade, or from orders.

        Parameters
        ----------
        X : items or Orders
            Items with grades y, or orders without.
        y : array-like of shape (n,), optional
            Grades of items, higher is better; NaN where there is none.
        qid : array-like of shape (n,), optional
            Groups of items; items of different groups are never compared.
        sample_weight : array-like of shape (n,), optional
            Weights of items: a pair weighs w_i w_j. Weights of Orders are those of the
            lists.
        validation : (X, y) or (X, y, qid), optional
            Graded items on which the number of steps is chosen, 1 to ``n_basis``: the
            smallest of those for which the mean of the views swaps the fewest pairs.

        Returns
        -------
        Self
            The fitted model.
        """
        self._check_parameters(X, validation)
        program = CoPursuitProgram.read(self, X, y, qid, sample_weight)
        path = pursue_jointly(
            program.problem,
            n_steps=self.n_basis,
            averaged=self.objective == "increments",
            shared=self.indices == "shared",
            cache_bytes=program.cache_bytes,
        )
        errors = None
        if validation is not None:
            errors = validation_errors(
                self, validation, lambda table: program.along(table, path)
            )
        self._keep_path(program, path, errors)
        self._warn(path)
        return self

    def view_utilities(self, X: Any) -> Floats:
        """Utilities of items in every view; higher is better.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen.

        Returns
        -------
        ndarray of shape (n, M)
            Their mean is ``utility(X)``.
        """
        check_is_fitted(self)
        table = as_items(X, name="X")
        check_features(self, table)
        distinct, code = table.unique()
        return self._view_utilities(distinct)[code]

    def _utility(self, table: ItemTable) -> np.ndarray:
        return self._view_utilities(table).mean(axis=1)

    def _view_utilities(self, table: ItemTable) -> Floats:
        names = getattr(self, "feature_names_in_", None)
        views = read_views(
            self, self.n_features_in_, None if names is None else tuple(names)
        )
        total = np.zeros((table.n_items, len(views)))
        for v, view in enumerate(views):
            if len(own := np.flatnonzero(self.item_coef_[:, v])):
                total[:, v] = expand_kernel(
                    view.spec.at(self.gamma_[v]),
                    view.see(table.values),
                    view.see(self.support_items_[own]),
                    self.item_coef_[own, v],
                )
        return total

    def _keep_path(
        self, program: CoPursuitProgram, path: JointPath, errors: Floats | None
    ) -> None:
        n_steps = len(path.increments)
        self.path_ = program.unit * path.increments
        self.path_support_ = program.rows[path.columns]
        with np.errstate(over="ignore", under="ignore"):
            self.objective_path_ = program.unit * (program.unit * path.objective)
        if errors is not None and n_steps:
            self.validation_path_ = errors
            n_steps = int(np.argmin(errors)) + 1
        self.n_basis_ = n_steps
        self.support_ = self.path_support_[:n_steps]
        self.dual_coef_ = self.path_[:n_steps]
        used, place = np.unique(path.columns[:n_steps], return_inverse=True)
        place = place.reshape(n_steps, self.path_.shape[1])
        self.item_coef_ = np.zeros((len(used), self.path_.shape[1]))
        for step, own in enumerate(place):
            for v, row in enumerate(own):
                self.item_coef_[row, v] += self.dual_coef_[step, v]
        self.support_items_ = program.centers[used]
        self.gamma_ = program.gamma
        self.agreement_ = program.agreement(self)

    def _warn(self, path: JointPath) -> None:
        n_steps = len(path.increments)
        if n_steps == 0:
            warn_user(
                "CoRankingPursuit found no basis functions that explain any "
                "difference, and gives every item the utility 0 in all views. The "
                "kernel columns of a view may be constant inside every group: check "
                "the features of the views, the kernels and gamma."
            )
        elif path.exhausted:
            warn_user(
                f"CoRankingPursuit stopped after {n_steps} of n_basis={self.n_basis} "
                "steps: no further basis functions make the error smaller. A smaller "
                "n_basis gives the same model."
            )

    def _check_parameters(self, X: Any, validation: Any) -> None:
        check_positive(self, "cache_size")
        check_steps(self, validation)
        if is_pairs(X):
            raise TypeError(
                "CoRankingPursuit learns from graded items or orders; got comparisons. "
                "Try RankingPursuit, which takes these too."
            )
        nu = self.nu
        number = isinstance(nu, Real) and not isinstance(nu, bool)
        if not number or not np.isfinite(nu) or nu < 0:
            raise ValueError(
                f"CoRankingPursuit got nu={nu!r}; expected a finite number of at least "
                "0."
            )
        known = {
            "objective": ("increments", "functions"),
            "indices": ("free", "shared"),
            "per_group": ("sum", "mean"),
        }
        for name, values in known.items():
            if (value := getattr(self, name)) not in values:
                raise ValueError(
                    f"CoRankingPursuit got {name}={value!r}; expected {values[0]!r} or "
                    f"{values[1]!r}."
                )

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "dual_coef_")
