# SPDX-License-Identifier: BSD-3-Clause
"""Ranking pursuit with several views and items without a grade."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Grades, ItemTable, as_items, read_grades
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    NOT_NEGATIVE,
    POSITIVE,
    check_parameters,
    one_of,
)
from tiebreak.data.validation import check_features
from tiebreak.kernels import KernelDictionary, KernelFunction, make_kernel
from tiebreak.kernels.functions import Gamma
from tiebreak.losses import GroupLaplacian
from tiebreak.metrics import disagreement
from tiebreak.models.base import UtilityMixin
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.problem import (
    distinct_rows,
    edges_of,
    rows_of_differences,
    touched,
)
from tiebreak.models.pursuit.problem import (
    LaplacianForm,
    centered_targets,
    pair_sums,
    read_validation,
    validation_errors,
    warn_of_path,
)
from tiebreak.solvers import JointPath, JointProblem, pursue_jointly

_KEYS = ("kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True, eq=False)
class View:
    """A view: the features that it sees, and a kernel for them."""

    columns: NDArray[np.intp]
    kernel: Any
    gamma: Gamma
    degree: int
    coef0: float

    def see(self, values: Any) -> Any:
        """Give the features that the view sees, shape (n, q)."""
        if len(self.columns) == values.shape[1]:
            return values
        return values[:, self.columns]


def read_views(
    model: Any, n_features: int, feature_names: tuple[str, ...] | None
) -> list[View]:
    """Read the parameter ``views``."""
    if not isinstance(model.views, list | tuple) or not model.views:
        raise ValueError(
            f"{type(model).__name__} got views={model.views!r}; expected a list of "
            "at least one view: a kernel, a list of columns, or a dict of both."
        )
    views = []
    for number, view in enumerate(model.views):
        options = view
        if not isinstance(view, Mapping):
            is_kernel = isinstance(view, str) or callable(view)
            options = {"kernel" if is_kernel else "columns": view}
        values = {key: getattr(model, key) for key in _KEYS} | dict(options)
        columns = values.pop("columns", slice(None))
        if values["kernel"] == "precomputed":
            raise ValueError(
                f"view {number} has a precomputed kernel; views see features. Give the "
                "features and a callable kernel."
            )
        places = _read_columns(columns, number, n_features, feature_names)
        views.append(View(places, **values))
    return views


def _read_columns(
    columns: Any, number: int, p: int, names: tuple[str, ...] | None
) -> NDArray[np.intp]:
    """Give the places of columns: a slice, a mask, numbers or names."""
    listed: Any = [columns] if isinstance(columns, str) else columns
    if not isinstance(listed, slice):
        known = names or ()
        listed = [known.index(c) if c in known else c for c in listed]
    try:
        places = np.arange(p)[listed]
    except IndexError as error:
        raise ValueError(
            f"view {number} names the columns {columns!r}; expected numbers from 0 to "
            f"{p - 1}, or names of features."
        ) from error
    if len(places) == 0 or len(np.unique(places)) < len(places):
        raise ValueError(
            f"view {number} names the columns {columns!r}; expected at least one, and "
            "each once."
        )
    return places


@dataclass(frozen=True, eq=False)
class CoPursuitProblem:
    """Views of the training items, their problem, and the centers."""

    problem: JointProblem  # what is made small, for targets divided by `unit`
    views: list[View]  # the views
    functions: list[KernelFunction]  # their kernels
    centers: Any  # (m, p), centers, with all features
    rows: Codes  # (m,), their rows in the item table
    # Items, groups and weights on which agreement is measured; the first that has any.
    agreeing: list[tuple[ItemTable, Codes, Floats]]
    unit: float  # a power of two, so that targets of any size can be squared
    cache_bytes: float  # memory for products between columns of two views

    @classmethod
    def make(cls, model: Any, data: Grades) -> Self:
        """Make the problem of items of which some have no grade."""
        table = data.items
        views = read_views(model, table.n_features, table.feature_names)
        graded = np.flatnonzero(~np.isnan(data.y))
        scored = graded[data.weight[graded] > 0]
        rows_of_differences(data, scored, model.per_group)
        others = np.flatnonzero(np.isnan(data.y) & (data.weight > 0))
        laplacian = pair_sums(data, scored, model.per_group)
        unit, s = centered_targets(laplacian, data.y[scored])
        root, form = laplacian.root(s), LaplacianForm(laplacian)
        agreement, at_others = form, slice(0, len(scored))
        nu = 1.0 if isinstance(model.nu, str) else float(model.nu)
        if len(others):
            at_others = slice(len(scored), None)
            unscored = pair_sums(data, others, model.per_group)
            agreement = LaplacianForm(unscored)
            if isinstance(model.nu, str):
                # Traces are twice the summed weights of pairs.
                pairs = float(unscored.diagonal().sum())
                nu = float(laplacian.diagonal().sum()) / pairs if pairs else 0.0
        own, _ = touched(data.places[scored], data.table.n_items)
        rows, _, _ = distinct_rows(data.table, own)
        centers = data.table.take(rows).values
        values = table.take(np.concatenate([scored, others]))
        unique = values.unique()[0].values
        cache_bytes = 1e6 * model.cache_size / (len(views) + 1)
        functions = [make_kernel(view, view.see(unique)) for view in views]
        dictionaries = [
            KernelDictionary(
                function, view.see(values.values), view.see(centers), cache_bytes
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
            _compared(data, part, model.per_group)
            for part in (others, scored)
            if len(part)
        ]
        return cls(
            problem, views, functions, centers, rows, agreeing, unit, cache_bytes
        )

    def along(self, table: ItemTable, path: JointPath, weight: Floats) -> Floats:
        """Utility of items after every step, shape (n, n_steps)."""
        n_steps = len(path.increments)
        total = np.zeros((table.n_items, n_steps))
        for v, (view, function) in enumerate(
            zip(self.views, self.functions, strict=True)
        ):
            # Column t of the upper triangle has the increments up to step t.
            own = weight[v] * path.increments[:, [v]]
            coef = np.triu(np.tile(own, n_steps))
            centers = view.see(self.centers[path.columns[:, v]])
            total += expand_kernel(function, view.see(table.values), centers, coef)
        return total

    def agreement(self, model: Any) -> Floats:
        """Give the share of pairs in the same order in two views: (M, M)."""
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


def _compared(
    data: Grades, part: Codes, per_group: str
) -> tuple[ItemTable, Codes, Floats]:
    """Give items, groups and weights of what is compared; a pair of a graph is one."""
    group, weight = data.group, data.weight
    if data.graph is not None:
        i, j, own = edges_of(data, part)
        part = part[np.append(i, j)]
        root, group = np.sqrt(np.tile(own, 2)), np.tile(np.arange(len(i)), 2)
        return data.items.take(part), group, root * weight[part]
    weight = data.item_weight if per_group == "mean" else weight
    return data.items.take(part), group[part], weight[part]


@dataclass(eq=False, repr=False)
class CoRankingPursuit(UtilityMixin, BaseEstimator):
    """Ranking functions of several views that agree where there are no grades.

    A view sees some or all of the features with its own kernel. For M views it learns M
    utilities f_v(x) = Σ_p a_p^(v) k_v(c_p^(v), x); their mean is the utility, or
    another sum of them, ``aggregate``. The
    views are to agree on items without a grade, y = NaN. With L the Laplacian of the
    pairs of graded items of a group and L̄ that of the others, equation (1) of the
    paper is ::

        Σ_v (s - f_v)ᵀL(s - f_v) + ν Σ_{v,u} (f_v - f_u)ᵀL̄(f_v - f_u),

    sums over pairs and not means, where the last sum has every two views twice. With a
    graph, L has its pairs of two graded rows and L̄ those of two rows without. If
    there are no pairs without a grade, views are to agree on the graded ones. A step
    adds one kernel function to every view, those with the largest decrease; there is no
    back-fitting.

    Parameters
    ----------
    n_basis : int, default=10
        Number of steps; with a validation set in ``fit`` the largest to try.
    views : list, default=("rbf", "linear")
        Each view is a kernel (of all features), columns as numbers, names or a slice
        (with the kernel of the model), or a dict with some of the keys "columns",
        "kernel", "gamma", "degree" and "coef0".
    nu : float or "auto", default="auto"
        ν ≥ 0, the cost of disagreement. ``"auto"``: tr L / tr L̄, the weight of the
        pairs of graded rows over that of the pairs without a grade; 1, as in the paper,
        if all rows have a grade.
    kernel : {"linear", "poly", "rbf"} or callable, default="rbf"
        Kernel of views that name none.
    gamma, degree, coef0
        As in :class:`SVMCompare`, on the features of a view.
    per_group : {"sum", "mean"}, default="sum"
        As in :class:`RankingPursuit`.
    cache_size : float, default=500
        Megabytes for columns of kernel values and for products between them.
    aggregate : {"mean", "stack"} or array-like of shape (M,), default="mean"
        The utility: the mean of the views, or their sum with given weights.
        ``"stack"`` learns weights on the validation set: of all that are not negative,
        those with the least Σ ((y_i - y_j) - (r_i - r_j))² over pairs inside groups,
        or Σ (y - (r(right) - r(left)))² over comparisons.
    objective : {"increments", "functions"}, default="increments"
        What a step decreases. ``"increments"``: equation (1) with increments for f_v
        and the residual of the *mean* of all views for s (the paper's figure 1).
        ``"functions"``: equation (1) itself.
    indices : {"free", "shared"}, default="free"
        ``"free"``: views have centers of their own, the best of all combinations up to
        200,000, and beyond of single replacements.

    Attributes
    ----------
    support_, dual_coef_ : ndarray of shape (n_steps, M)
        Center, as a row of the item table, and coefficient of every step and view.
    support_items_, item_coef_ : array of shape (k, n_features), and (k, M)
        Utility v is Σ item_coef_[j, v] k_v(support_items_[j], x).
    agreement_ : ndarray of shape (M, M)
        Share of the pairs without a grade (or else of graded ones) inside groups that
        views v and u put in the same order; ties of view u count half.
    n_basis_, nu_ : int, float
        Number of steps kept, and the ν used.
    path_, path_support_ : ndarray of shape (n_steps, M)
        ``dual_coef_`` and ``support_``, also beyond ``n_basis_``.
    objective_path_, validation_path_ : ndarray of shape (n_steps + 1,) and (n_steps,)
        Equation (1) before the first and after every step, and the fraction of swapped
        pairs in the validation set.
    gamma_, view_weight_ : ndarray of shape (M,)
        The gamma of each view, and its weight in the utility.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    n_basis: int = 10
    _: KW_ONLY
    views: Any = ("rbf", "linear")
    nu: float | Literal["auto"] = "auto"
    objective: Literal["increments", "functions"] = "increments"
    indices: Literal["free", "shared"] = "free"
    kernel: Any = "rbf"
    gamma: Gamma = "scale"
    degree: int = 3
    coef0: float = 0.0
    per_group: Literal["sum", "mean"] = "sum"
    cache_size: float = 500
    aggregate: Any = "mean"

    _parameters: ClassVar = {
        "n_basis": COUNT,
        "nu": NOT_NEGATIVE | "auto",
        "objective": one_of("increments", "functions"),
        "indices": one_of("free", "shared"),
        "per_group": one_of("sum", "mean"),
        "cache_size": POSITIVE,
    }
    _fitted_arrays: ClassVar = {
        "path_": "f v",
        "path_support_": "f v: index",
        "objective_path_": "f+1",
        "support_": "k v: index",
        "dual_coef_": "k v",
        "item_coef_": "s v",
        "support_items_": "s p",
        "gamma_": "v",
        "view_weight_": "v",
        "agreement_": "v v",
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        graph: Any = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from items, of which some have a grade, or from orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``, without comparisons; y is NaN where no grade is.
        graph
            As in ``RankRLS.fit``; a pair of a row with and one without a grade does
            not count.
        validation : (X, y) or (X, y, qid), optional
            As in ``RankingPursuit.fit``, for the mean of the views, or their sum with
            given weights.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_grades(X, y, qid, sample_weight, allow_missing=True, graph=graph)
        problem = CoPursuitProblem.make(self, data)
        path = pursue_jointly(
            problem.problem,
            n_steps=self.n_basis,
            averaged=self.objective == "increments",
            shared=self.indices == "shared",
            cache_bytes=problem.cache_bytes,
        )
        errors, weight = None, self._view_weights(problem, validation)
        if validation is not None:
            errors = validation_errors(
                clone(self)._keep(data.attributes),
                validation,
                lambda table: problem.along(table, path, weight),
            )
        warn_of_path(self, len(path.increments), path.exhausted)
        learned = {**data.attributes, **_path_attributes(problem, path, errors)}
        draft = clone(self)._keep(learned)
        learned["agreement_"] = problem.agreement(draft)
        if isinstance(self.aggregate, str) and self.aggregate == "stack":
            weight = _stack(draft, validation, weight)
        return self._keep(learned | {"view_weight_": weight})

    def _view_weights(self, problem: CoPursuitProblem, validation: Any) -> Floats:
        """Weights of the views, (M,), before any are learned."""
        M, given = len(problem.views), self.aggregate
        if isinstance(given, str) and given in ("mean", "stack"):
            if given == "stack" and validation is None:
                raise ValueError("aggregate='stack' needs fit(..., validation=...).")
            return np.full(M, 1.0 / M)
        weight = np.array([] if isinstance(given, str) else given, dtype=np.float64)
        if weight.shape != (M,) or not (weight >= 0).all() or not weight.any():
            raise ValueError(
                f"aggregate={given!r}: expected 'mean', 'stack' or {M} weights, not "
                "negative and not all 0."
            )
        return weight

    def view_utilities(self, X: Any) -> Floats:
        """Utilities of items in every view; higher is better.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen.

        Returns
        -------
        ndarray of shape (n, M)
            ``utility(X)`` is their sum with the weights ``view_weight_``.
        """
        check_is_fitted(self)
        table = as_items(X, name="X")
        check_features(self, table)
        distinct, code = table.unique()
        return self._view_utilities(distinct)[code]

    def _utility(self, table: ItemTable) -> Floats:
        return self._view_utilities(table) @ self.view_weight_

    def _view_utilities(self, table: ItemTable) -> Floats:
        names = getattr(self, "feature_names_in_", None)
        views = read_views(
            self, self.n_features_in_, None if names is None else tuple(names)
        )
        total = np.zeros((table.n_items, len(views)))
        for v, view in enumerate(views):
            if len(own := np.flatnonzero(self.item_coef_[:, v])):
                gamma = float(self.gamma_[v])
                total[:, v] = expand_kernel(
                    KernelFunction(view.kernel, gamma, view.degree, view.coef0),
                    view.see(table.values),
                    view.see(self.support_items_[own]),
                    self.item_coef_[own, v],
                )
        return total


def _stack(model: CoRankingPursuit, validation: Any, mean: Floats) -> Floats:
    """Learn weights of the views, not negative, on the differences of grades."""
    held_out = read_validation(model, validation)
    if isinstance(held_out, Grades):
        laplacian = GroupLaplacian(held_out.group)
        views = laplacian.root(model.view_utilities(held_out.items))
        target = laplacian.root(held_out.y)
    else:
        pairs, target = held_out.pairs, held_out.y
        views = model.view_utilities(pairs.table)
        views = views[pairs.right] - views[pairs.left]
    weight = np.asarray(nnls(views, target)[0])
    if not weight.any():
        warn_user(
            "No view puts the validation set in order, so that none has a weight; "
            "their mean is used.",
            FitWarning,
        )
        return mean
    return weight


def _path_attributes(
    problem: CoPursuitProblem, path: JointPath, errors: Floats | None
) -> dict[str, Any]:
    increments = problem.unit * path.increments
    n_steps, n_views = increments.shape
    with np.errstate(over="ignore", under="ignore"):
        objective = problem.unit * (problem.unit * path.objective)
    learned: dict[str, Any] = {
        "nu_": problem.problem.nu,
        "path_": increments,
        "path_support_": problem.rows[path.columns],
        "objective_path_": objective,
    }
    if errors is not None and n_steps:
        learned["validation_path_"] = errors
        n_steps = int(np.argmin(errors)) + 1
    used, place = np.unique(path.columns[:n_steps], return_inverse=True)
    item_coef = np.zeros((len(used), n_views))
    places = place.reshape(n_steps, n_views), np.arange(n_views)
    np.add.at(item_coef, places, increments[:n_steps])
    return learned | {
        "n_basis_": n_steps,
        "support_": learned["path_support_"][:n_steps],
        "dual_coef_": increments[:n_steps],
        "item_coef_": item_coef,
        "support_items_": problem.centers[used],
        "gamma_": np.array([function.gamma for function in problem.functions]),
    }
