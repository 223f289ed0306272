# SPDX-License-Identifier: BSD-3-Clause
"""Ranking pursuit with several views and items without a grade.

A view sees some of the features with a kernel of its own. Where no pair of items
without a grade exists, the views are to agree on the graded ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import (
    Grades,
    ItemTable,
    Orders,
    as_items,
    check_grades,
    check_weights,
    is_pairs,
)
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    check_parameters,
    one_of,
)
from tiebreak.data.validation import check_features, remember_features
from tiebreak.kernels import KernelDictionary, KernelFunction
from tiebreak.kernels.functions import Gamma
from tiebreak.metrics import disagreement
from tiebreak.models.base import UtilityMixin
from tiebreak.models.graded_problem import item_places, read_grades
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.pursuit.kernel_pursuit import (
    KernelSpec,
    check_steps,
    read_centers,
    validation_errors,
)
from tiebreak.models.pursuit.problem import (
    GroupForm,
    centered_targets,
    distinct_rows,
    group_laplacian,
    present_rows,
    refuse_equal,
)
from tiebreak.solvers import JointPath, JointProblem, pursue_jointly


@dataclass(frozen=True, eq=False)
class View:
    """One way to look at items."""

    columns: NDArray[np.intp]  # the features that it sees
    spec: KernelSpec  # how it compares them

    def see(self, values: Any) -> Any:
        """Give the features that the view sees, shape (n, q)."""
        if len(self.columns) == values.shape[1]:
            return values
        return values[:, self.columns]


def read_views(
    model: Any, n_features: int, feature_names: tuple[str, ...] | None
) -> list[View]:
    """Read the parameter ``views``; a view without a kernel has that of the model."""
    given = model.views
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(
            f"{type(model).__name__} got views={given!r}; expected a list with at "
            "least one view: a kernel, a list of columns, or a dict with 'columns', "
            "'kernel', 'gamma', 'degree' and 'coef0'."
        )
    views = []
    for number, one in enumerate(given):
        columns: Any = slice(None)
        kernel: Any = {}
        if isinstance(one, Mapping):
            columns = one.get("columns", columns)
            kernel = {key: value for key, value in one.items() if key != "columns"}
        elif isinstance(one, str) or callable(one):
            kernel = one
        else:
            columns = one
        spec = KernelSpec.read(model, kernel)
        if spec.kernel == "precomputed":
            raise ValueError(
                f"view {number} has a precomputed kernel; views see features. Give the "
                "features and a callable kernel."
            )
        places = _read_columns(columns, number, n_features, feature_names)
        views.append(View(places, spec))
    return views


def _read_columns(
    given: Any, number: int, p: int, names: tuple[str, ...] | None
) -> NDArray[np.intp]:
    if isinstance(given, slice):
        columns = np.arange(p)[given]
    else:
        listed = [given] if isinstance(given, str) else list(given)
        if len(listed) == p and all(isinstance(x, bool | np.bool_) for x in listed):
            columns = np.flatnonzero(listed)
        else:
            columns = np.array(
                [_place(one, number, p, names) for one in listed], dtype=np.intp
            )
    if len(columns) == 0:
        raise ValueError(
            f"view {number} names no column: got {given!r} of {p} feature(s). Every "
            "view needs at least one."
        )
    if len(set(columns.tolist())) < len(columns):
        raise ValueError(
            f"view {number} names a column more than once: {given!r}. Give every "
            "column of a view once."
        )
    return columns


def _place(one: Any, number: int, p: int, names: tuple[str, ...] | None) -> int:
    if isinstance(one, str):
        if names is None or one not in names:
            known = "have no names" if names is None else f"are {list(names)}"
            raise ValueError(
                f"view {number} names the column {one!r}, but the features {known}."
            )
        return names.index(one)
    whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
    if not whole or not 0 <= one < p:
        raise ValueError(
            f"view {number} names the column {one!r}; expected numbers from 0 to "
            f"{p - 1}, or names of features."
        )
    return int(one)


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CoPursuitProblem:
    """Views of the training items, the problem that they share, and the centers."""

    problem: JointProblem  # what is made small, for targets divided by `unit`
    views: list[View]  # the views
    functions: list[KernelFunction]  # their kernels
    centers: Any  # (m, p), centers, with all features
    rows: Codes  # (m,), their rows in the item table, or in the table that was given
    # Items, groups and weights on which agreement is measured; the first that has any.
    agreeing: list[tuple[ItemTable, Codes, Floats]]
    unit: float  # a power of two, so that targets of any size can be squared
    cache_bytes: float  # memory for products between columns of two views

    @classmethod
    def make(cls, model: Any, grades: Grades, weight: Floats) -> CoPursuitProblem:
        """Make the problem of items of which some have no grade."""
        table = grades.items
        views = read_views(model, table.n_features, table.feature_names)
        graded = np.flatnonzero(~np.isnan(grades.y))
        if len(graded) == 0:
            raise ValueError(
                f"all {len(grades.y)} grades are NaN, so there is nothing to learn "
                "from. Give some items a grade."
            )
        scored = graded[present_rows(grades.group[graded], weight[graded])]
        refuse_equal(grades, scored)
        others = np.flatnonzero(np.isnan(grades.y) & (weight > 0))
        if model.per_group == "mean" and grades.orders is not None:
            weight = weight**2  # the weight of a list is that of its mean
        laplacian = group_laplacian(grades, weight, scored, model.per_group)
        unit, s = centered_targets(laplacian, grades.y[scored])
        root, form = laplacian.root(s), GroupForm(laplacian)
        agreement, at_others = form, slice(0, len(scored))
        nu = 1.0 if isinstance(model.nu, str) else float(model.nu)
        if len(others):
            at_others = slice(len(scored), None)
            unscored = group_laplacian(grades, weight, others, model.per_group)
            agreement = GroupForm(unscored)
            if isinstance(model.nu, str):
                # Traces are twice the summed weights of pairs.
                pairs = float(unscored.diagonal().sum())
                nu = float(laplacian.diagonal().sum()) / pairs if pairs else 0.0
        items, places = item_places(grades, scored)
        distinct, _ = distinct_rows(items, places, merge=True)
        centers, rows = read_centers(model, items, distinct)
        values = table.take(np.concatenate([scored, others]))
        unique = values.unique()[0].values
        cache_bytes = 1e6 * model.cache_size / (len(views) + 1)
        functions = [view.spec.resolve(view.see(unique)) for view in views]
        dictionaries = [
            KernelDictionary(
                [function], view.see(values.values), view.see(centers), cache_bytes
            )
            for view, function in zip(views, functions, strict=True)
        ]
        problem = JointProblem(
            dictionaries,
            form,
            laplacian.product(s),
            float(root @ root),
            agreement,
            nu,
            slice(0, len(scored)),
            at_others,
        )
        agreeing = [
            (table.take(part), grades.group[part], weight[part])
            for part in (others, scored)
            if len(part)
        ]
        return cls(
            problem, views, functions, centers, rows, agreeing, unit, cache_bytes
        )

    def along(self, table: ItemTable, path: JointPath) -> Floats:
        """Mean utility of items after every step, shape (n, n_steps)."""
        n_steps, M = path.increments.shape
        total = np.zeros((table.n_items, n_steps))
        for v, (view, function) in enumerate(
            zip(self.views, self.functions, strict=True)
        ):
            # Column t of the upper triangle has the increments up to step t.
            coef = np.triu(np.tile(path.increments[:, [v]], n_steps))
            centers = view.see(self.centers[path.columns[:, v]])
            total += expand_kernel(function, view.see(table.values), centers, coef)
        return total / M

    def agreement(self, model: Any) -> Floats:
        """Give the share of pairs that views v and u put in the same order: (M, M)."""
        share = np.eye(len(self.views))
        for v, u in np.argwhere(share == 0.0):
            share[v, u] = self._share(model, v, u)
        return share

    def _share(self, model: Any, v: int, u: int) -> float:
        for table, group, weight in self.agreeing:
            utility = model.view_utilities(table)
            try:
                return 1.0 - disagreement(utility[:, v], utility[:, u], group, weight)
            except ValueError:
                continue  # the view gives all of these items the same utility
        return 0.5


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

    ``indices="free"`` looks for a center of its own for every view, among all
    combinations up to 200,000; beyond, centers are replaced one view after another
    until none can be replaced by a better one, which may miss the best combination.
    ``"shared"`` takes the same center for all views, of m candidates.

    Parameters
    ----------
    n_basis : int, default=10
        Number of steps; with a validation set in ``fit`` the largest number to try.
    views : list, default=("rbf", "linear")
        The views. Each is a kernel (all features), a list of columns, their names or a
        slice (the kernel of the model), or a dict with some of the keys "columns",
        "kernel", "gamma", "degree" and "coef0".
    nu : float or "auto", default="auto"
        ν ≥ 0, how much disagreement costs. ``"auto"``: the summed weights of the pairs
        of graded rows, divided by those of the pairs without a grade; see Notes.
    kernel : {"linear", "poly", "rbf"} or callable, default="rbf"
        Kernel of views that name none.
    gamma, degree, coef0
        Parameters of the kernel, as in :class:`SVMCompare`, on the features of a view.
    centers : None, array-like of int or table of items, default=None
        Centers: the graded training items, row numbers of training items, or a table.
    per_group : {"sum", "mean"}, default="sum"
        ``"mean"`` divides the sum over the pairs of a group by its size.
    cache_size : float, default=500
        Megabytes for columns of kernel values and for products between them.
    objective : {"increments", "functions"}, default="increments"
        What a step makes small.
    indices : {"free", "shared"}, default="free"
        Whether views have centers of their own.

    Attributes
    ----------
    support_, dual_coef_ : ndarray of shape (n_steps, M)
        Center that every step gave to every view, as rows of the item table or of the
        table ``centers``, and their coefficients.
    support_items_, item_coef_ : array of shape (k, n_features), and (k, M)
        Utility v is Σ item_coef_[j, v] k_v(support_items_[j], x).
    agreement_ : ndarray of shape (M, M)
        Share of the pairs of items without a grade (of graded ones, if there are no
        such pairs), inside groups, that views v and u put in the same order; a tie of
        view u counts half, and a tie of view v does not count.
    n_basis_, nu_ : int, float
        Number of steps that the model has, and the ν that was used.
    path_, path_support_ : ndarray of shape (n_steps, M)
        As ``dual_coef_`` and ``support_``, also of steps beyond ``n_basis_``.
    objective_path_, validation_path_ : ndarray of shape (n_steps + 1,) and (n_steps,)
        Equation (1) before and after every step, and swapped pairs of the validation.
    gamma_ : ndarray of shape (M,)
        The gamma of each view.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    See Also
    --------
    RankingPursuit : One view, all items graded, with back-fitting.

    Notes
    -----
    ν multiplies a sum over all pairs of rows without a grade, and these outnumber the
    pairs of graded rows: 15 graded of 300 rows make 105 pairs against 40,470. With ν =
    tr L / tr L̄, which is ``"auto"``, disagreement counts as a mean over its pairs times
    the number of graded pairs: more rows without a grade make this mean more certain
    and not heavier. ν = 1 is the formula of the paper as it stands. ``"auto"`` is 1 too
    where all rows have a grade. Only a validation set can say whether ν > 0 helps.

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
    >>> model = CoRankingPursuit(views=[[0, 2], [0, 1, 2, 3]]).fit(X, y)
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

    _parameters: ClassVar = {
        "n_basis": COUNT,
        "nu": NOT_NEGATIVE | "auto",
        "objective": one_of("increments", "functions"),
        "indices": one_of("free", "shared"),
        "per_group": one_of("sum", "mean"),
        "cache_size": POSITIVE,
    }

    def __init__(
        self,
        n_basis: int = 10,
        *,
        views: Any = ("rbf", "linear"),
        nu: float | Literal["auto"] = "auto",
        objective: Literal["increments", "functions"] = "increments",
        indices: Literal["free", "shared"] = "free",
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        centers: Any = None,
        per_group: Literal["sum", "mean"] = "sum",
        cache_size: float = 500,
    ) -> None:
        self.n_basis, self.views, self.nu = n_basis, views, nu
        self.objective, self.indices, self.kernel = objective, indices, kernel
        self.gamma, self.degree, self.coef0 = gamma, degree, coef0
        self.centers, self.per_group, self.cache_size = centers, per_group, cache_size

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
        X, y, qid, sample_weight
            As in ``RankSVM.fit``, without comparisons; y is NaN where no grade is.
        validation : (X, y) or (X, y, qid), optional
            Graded items on which the number of steps is chosen, 1 to ``n_basis``: the
            smallest of those for which the mean of the views swaps the fewest pairs.

        Returns
        -------
        Self
        """
        self._check_parameters(X, validation)
        if isinstance(X, Orders):
            grades, weight = read_grades(self, X, y, qid, sample_weight)
        else:
            grades = check_grades(X, y, qid, allow_missing=True)
            weight = check_weights(sample_weight, len(grades.y))
            self._forget()
            remember_features(self, grades.items)
            self.fitted_with_qid_ = qid is not None
        problem = CoPursuitProblem.make(self, grades, weight)
        path = pursue_jointly(
            problem.problem,
            n_steps=self.n_basis,
            averaged=self.objective == "increments",
            shared=self.indices == "shared",
            cache_bytes=problem.cache_bytes,
        )
        errors = None
        if validation is not None:
            errors = validation_errors(
                self, validation, lambda table: problem.along(table, path)
            )
        self._keep_path(problem, path, errors)
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
        self, problem: CoPursuitProblem, path: JointPath, errors: Floats | None
    ) -> None:
        n_steps = len(path.increments)
        self.nu_ = problem.problem.nu
        self.path_ = problem.unit * path.increments
        self.path_support_ = problem.rows[path.columns]
        with np.errstate(over="ignore", under="ignore"):
            self.objective_path_ = problem.unit * (problem.unit * path.objective)
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
        self.support_items_ = problem.centers[used]
        self.gamma_ = np.array([function.gamma for function in problem.functions])
        self.agreement_ = problem.agreement(self)

    def _warn(self, path: JointPath) -> None:
        n_steps = len(path.increments)
        if n_steps == 0:
            warn_user(
                "CoRankingPursuit found no basis functions that explain any "
                "difference, and gives every item the utility 0 in all views. The "
                "kernel columns of a view may be constant inside every group: check "
                "the features of the views, the kernels and gamma.",
                FitWarning,
            )
        elif path.exhausted:
            warn_user(
                f"CoRankingPursuit stopped after {n_steps} of n_basis={self.n_basis} "
                "steps: no further basis functions make the error smaller. A smaller "
                "n_basis gives the same model.",
                FitWarning,
            )

    def _check_parameters(self, X: Any, validation: Any) -> None:
        check_parameters(self)
        check_steps(self, validation)
        if is_pairs(X):
            raise TypeError(
                "CoRankingPursuit learns from graded items or orders; got comparisons. "
                "Try RankingPursuit, which takes these too."
            )

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "dual_coef_")
