# SPDX-License-Identifier: BSD-3-Clause
"""What pursuits share: kernels, centers, the path of steps, and how many to keep.

One run of a pursuit gives the models of all numbers of steps. Each is judged on a
validation set or on held-out folds by the fraction of swapped pairs of graded items, or
of comparisons that are predicted wrongly; of equally good ones the smallest is kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from tiebreak.data import (
    ItemTable,
    Orders,
    as_items,
    as_pairs,
    check_comparisons,
    check_grades,
    is_pairs,
)
from tiebreak.data.columns import as_column, factorize
from tiebreak.data.messages import FitWarning, list_rows, warn_user
from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    Values,
    check_parameters,
)
from tiebreak.data.validation import check_features
from tiebreak.kernels import (
    KERNEL_NAMES,
    KernelDictionary,
    KernelFunction,
    MatrixDictionary,
    check_gram,
    make_kernel,
)
from tiebreak.kernels.functions import Gamma
from tiebreak.lazy import LateModule
from tiebreak.metrics import comparison_error, swapped_pairs
from tiebreak.models.base import (
    UtilityMixin,
)
from tiebreak.models.kernel_utility import (
    expand_kernel,
    refuse_indefinite,
    weigh_features,
)
from tiebreak.models.pursuit.problem import PursuitProblem
from tiebreak.solvers import PursuitPath, pursue
from tiebreak.solvers.pursuit import penalize_path

model_selection = LateModule("sklearn.model_selection")

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
# Utilities of items after every step: a table of n items to shape (n, n_steps).
Utilities = Callable[[ItemTable], Floats]


def check_steps(model: Any, validation: Any) -> None:
    """Refuse two ways to choose the number of steps."""
    if isinstance(model.n_basis, str) and validation is not None:
        raise ValueError(
            "n_basis='cv' and a validation set both choose the number of basis "
            "functions; give n_basis a number, the largest to try, or no validation."
        )


def validation_errors(
    model: Any, validation: tuple[Any, ...], utilities: Utilities
) -> Floats:
    """Give the error of a pursuit on a validation set after every step."""
    if not isinstance(validation, list | tuple) or len(validation) not in (2, 3):
        count = len(validation) if isinstance(validation, list | tuple) else 1
        raise ValueError(
            "validation must be (X, y), or (X, y, qid) for graded items, got "
            f"{count} part(s)."
        )
    X, y, qid = (*validation, None)[:3]
    if is_pairs(X):
        pairs, outcome, _ = check_comparisons(X, y)
        check_features(model, pairs.table)
        at_items = utilities(pairs.table)
        difference = at_items[pairs.right] - at_items[pairs.left]
        return np.array([comparison_error(outcome, np.sign(d)) for d in difference.T])
    if isinstance(X, Orders):
        X, y, qid = X.table.take(X.flat), *X.entry_grades()
    elif qid is None and getattr(model, "fitted_with_qid_", False):
        raise ValueError(
            "the training items have groups (qid) and those of validation have none, "
            "so items of different groups would be compared. Give validation=(X, y, "
            "qid)."
        )
    grades = check_grades(X, y, qid)
    check_features(model, grades.items)
    return np.array(
        [
            swapped_pairs(grades.y, utility, qid=grades.group)
            for utility in utilities(grades.items).T
        ]
    )


def cross_validate(model: Any, X: Any, y: Any, qid: Any, sample_weight: Any) -> Floats:
    """Judge all numbers of steps up to ``max_basis`` on held-out folds."""
    X = X if isinstance(X, Orders) else as_pairs(X) if is_pairs(X) else as_items(X)
    if getattr(y, "ndim", 1) == 2:  # a single column
        y = np.ravel(np.asarray(y))
    given = {"y": y, "qid": qid, "sample_weight": sample_weight}
    columns = {k: as_column(v, k) for k, v in given.items() if v is not None}
    errors = []
    for train, test in _folds(model.cv, len(X), columns.get("y"), columns.get("qid")):
        fold = clone(model).set_params(n_basis=model.max_basis)
        if not isinstance(X, Orders) and not is_pairs(X):
            _keep_centers(fold, X)
        kept = {name: column[train] for name, column in columns.items()}
        held: list[Any] = [None]
        if not isinstance(X, Orders):
            held = [columns[name][test] for name in ("y", "qid") if name in columns]
        with warnings.catch_warnings():
            # Warnings are of all data, not of a fold.
            warnings.simplefilter("ignore", UserWarning)
            fold.fit(
                _take(model, X, train, train),
                kept.pop("y", None),
                **kept,
                validation=(_take(model, X, test, train), *held),
            )
        error = fold.validation_path_
        padding = (0, model.max_basis - len(error))
        errors.append(np.pad(error, padding, mode="edge"))
    return np.mean(errors, axis=0)


def _folds(
    cv: Any, n_rows: int, y: NDArray[Any] | None, qid: NDArray[Any] | None
) -> list[tuple[Rows, Rows]]:
    """Row numbers of the folds; no group is on both sides, if there are several."""
    group = None if qid is None else factorize(qid)[0]
    n_groups = 1 if group is None else int(group.max()) + 1
    given = cv
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= n_rows:
            raise ValueError(
                f"cv={cv!r} folds of {n_rows} rows; expected at least 2 and at most as "
                "many as there are rows."
            )
        # Rows may be sorted by grade, so they are shuffled, in the same way always.
        cv = model_selection.KFold(int(cv), shuffle=True, random_state=0)
        if n_groups > 1:
            cv = model_selection.GroupKFold(min(cv.n_splits, n_groups))
    with warnings.catch_warnings():
        # Some splitters say that they ignore groups; what they do is checked below.
        warnings.simplefilter("ignore", UserWarning)
        splitter = model_selection.check_cv(cv)
        parts = list(splitter.split(np.zeros((n_rows, 1)), y, group))
    for train, test in parts if n_groups > 1 else []:
        assert qid is not None and group is not None
        both = np.isin(group[test], group[train])
        if both.any():
            name = qid[test][both].tolist()[0]
            raise ValueError(
                f"cv={given!r} puts rows of a group, such as qid {name!r}, into both "
                "training and test set. Use a number, or QueryKFold or GroupKFold."
            )
    return parts


def _keep_centers(model: Any, table: ItemTable) -> None:
    """Write centers that are row numbers as items: a fold has other rows."""
    centers = model.centers
    if centers is None or np.ndim(centers) != 1:
        return
    if model.kernel == "precomputed":
        raise ValueError(
            "n_basis='cv' with a precomputed kernel cannot keep given centers, which "
            "may be rows that a fold leaves out. Give n_basis a number, or centers "
            "none."
        )
    model.set_params(centers=table.take(np.asarray(centers)).values)


def _take(model: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Take rows; of a kernel matrix between graded items the training columns too."""
    if not isinstance(X, ItemTable):
        return X[rows]
    part = X.take(rows)
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        return ItemTable(part.values[:, train])
    return part


_KEYS = ("kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True)
class KernelSpec:
    """A kernel whose gamma may still depend on the items."""

    kernel: Any  # its form
    gamma: Gamma  # a number, "scale" or "auto"
    degree: int  # degree of "poly"
    coef0: float  # constant of "poly"

    @classmethod
    def read(cls, model: Any, given: Any) -> KernelSpec:
        """Read a name, a callable, or a dict of parameters."""
        if not isinstance(given, Mapping):
            given = {"kernel": given}
        if unknown := [key for key in given if key not in _KEYS]:
            raise ValueError(
                f"a kernel is described by {', '.join(map(repr, _KEYS))}, got "
                f"{unknown[0]!r}."
            )
        values = {key: given.get(key, getattr(model, key)) for key in _KEYS}
        kernel = values["kernel"]
        if not callable(kernel) and kernel not in KERNEL_NAMES:
            raise ValueError(
                f"kernel={kernel!r} is not known; expected one of "
                f"{', '.join(map(repr, KERNEL_NAMES))} or a callable kernel(X, Z)."
            )
        return cls(**values)

    def resolve(self, items: Any) -> KernelFunction:
        """Give the kernel, with gamma as a number that suits the items."""
        return make_kernel(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            items=items,
        )

    def at(self, gamma: float) -> KernelFunction:
        """Give the kernel with the gamma that a fit has found."""
        if callable(self.kernel):
            return KernelFunction(self.kernel)
        return KernelFunction(self.kernel, float(gamma), self.degree, self.coef0)


def read_kernels(model: Any) -> list[KernelSpec]:
    """Read the parameter ``kernel``: one kernel, or a list of several."""
    given = model.kernel
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise ValueError(
            f"{type(model).__name__} got an empty list of kernels; expected at least "
            "one."
        )
    specs = [KernelSpec.read(model, one) for one in several]
    if len(specs) > 1 and any(spec.kernel == "precomputed" for spec in specs):
        raise ValueError(
            "a precomputed kernel is a matrix instead of features, so there are no "
            "other kernels next to it. Give kernel='precomputed' alone."
        )
    return specs


Codes = NDArray[np.int64]


class KernelPursuit(UtilityMixin):
    """Utility Σ dual_coef_[j] k(support_items_[j], x), chosen function by function.

    Subclasses store the parameters of :class:`~tiebreak.RankingPursuit` and say in
    ``_read`` what is minimized.
    """

    _fits_items: ClassVar[bool] = True

    alpha: float = 0.0  # models that 0.1 saved have none of their own

    _parameters: ClassVar[Mapping[str, Values]] = {
        "n_basis": COUNT | "cv",
        "max_basis": COUNT,
        "alpha": NOT_NEGATIVE,
        **dict.fromkeys(("backfit", "prefit"), FLAG),
        "cache_size": POSITIVE,
    }

    def __init__(
        self,
        n_basis: int | Literal["cv"] = 10,
        *,
        alpha: float = 0.0,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        backfit: bool = True,
        prefit: bool = False,
        centers: Any = None,
        max_basis: int = 100,
        cv: Any = 5,
        cache_size: float = 500,
    ) -> None:
        self.n_basis, self.alpha, self.kernel, self.gamma = (
            n_basis,
            alpha,
            kernel,
            gamma,
        )
        self.degree, self.coef0, self.backfit = degree, coef0, backfit
        self.prefit, self.centers, self.max_basis = prefit, centers, max_basis
        self.cv, self.cache_size = cv, cache_size

    def _fit(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, validation: Any
    ) -> Self:
        """Learn what ``_read`` minimizes; the arguments are those of ``fit``."""
        self._check_parameters(validation)
        problem = self._read(X, y, qid, sample_weight)
        candidates = _Candidates.make(self, problem)
        errors = None
        if isinstance(self.n_basis, str):
            errors = cross_validate(self, X, y, qid, sample_weight)
        path = pursue(
            candidates.columns,
            problem.form,
            problem.b,
            problem.c,
            n_steps=self.max_basis if errors is not None else int(self.n_basis),
            backfit=self.backfit,
            prefit=self.prefit,
        )
        basis = candidates.take(path.columns)
        if self.alpha and self.backfit and len(path.columns):
            path = self._penalize(path, candidates, problem, basis)
        if validation is not None:
            errors = validation_errors(
                self, validation, lambda table: basis.expand(table, path.coefs.T)
            )
        self._keep_path(basis, path, problem.unit, errors)
        self._warn(path)
        return self

    def _penalize(
        self,
        path: PursuitPath,
        candidates: _Candidates,
        problem: PursuitProblem,
        basis: _Basis,
    ) -> PursuitPath:
        """Solve for all coefficients again, with the penalty."""
        values = candidates.columns.columns(path.columns)
        inner = basis.inner(problem.items)
        alpha = float(self.alpha)
        try:
            return penalize_path(path, values, inner, problem.form, problem.b, alpha)
        except la.LinAlgError:
            refuse_indefinite("that of the chosen centers has no Cholesky factor")

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> PursuitProblem:
        raise NotImplementedError

    def _check_parameters(self, validation: Any) -> None:
        check_parameters(self)
        check_steps(self, validation)
        if self.prefit and not self.backfit:
            raise ValueError(
                f"{type(self).__name__} got prefit=True with backfit=False; the best "
                "column after back-fitting is asked for, without back-fitting. Use "
                "backfit=True."
            )
        read_kernels(self)

    def _keep_path(
        self, basis: _Basis, path: PursuitPath, unit: float, errors: Floats | None
    ) -> None:
        """Set what was learned, with the number of steps that has the least error."""
        self.path_ = unit * path.coefs
        self.path_support_ = basis.rows
        self.path_kernel_ = basis.kernel
        with np.errstate(over="ignore", under="ignore"):
            self.objective_path_ = unit * (unit * path.objective)
        n_steps = len(path.coefs)
        if errors is not None and n_steps:
            self.validation_path_ = errors
            n_steps = min(n_steps, int(np.argmin(errors)) + 1)
        self.n_basis_ = n_steps
        n_taken = int(path.n_taken[n_steps - 1]) if n_steps else 0
        basis = basis.first(n_taken)
        self.support_, self.support_kernel_ = basis.rows, basis.kernel
        self.dual_coef_ = (
            self.path_[n_steps - 1, :n_taken].copy() if n_steps else np.zeros(0)
        )
        gamma = np.array([function.gamma for function in basis.functions])
        self.gamma_ = float(gamma[0]) if len(gamma) == 1 else gamma
        if basis.centers is None:
            return
        self.support_items_ = basis.centers
        if [function.name for function in basis.functions] == ["linear"]:
            self.coef_ = np.asarray(basis.centers.T @ self.dual_coef_).ravel()

    def _warn(self, path: PursuitPath) -> None:
        name, n_steps = type(self).__name__, len(path.coefs)
        if n_steps == 0:
            warn_user(
                f"{name} found no basis function that explains any difference, and "
                "gives every item the utility 0. Kernel columns may be constant inside "
                "every group: check the features, the kernel and gamma.",
                FitWarning,
            )
        elif path.exhausted and not isinstance(self.n_basis, str):
            warn_user(
                f"{name} stopped after {n_steps} of n_basis={self.n_basis} steps: no "
                "further basis function makes the error smaller. They depend on each "
                "other, or the training data are fitted exactly; a smaller n_basis "
                "gives the same model.",
                FitWarning,
            )

    def _utility(self, table: ItemTable) -> np.ndarray:
        values = table.values
        if hasattr(self, "coef_"):
            return weigh_features(values, self.coef_)
        if not hasattr(self, "support_items_"):
            return np.asarray(values[:, self.support_] @ self.dual_coef_).ravel()
        specs = read_kernels(self)
        gamma = np.atleast_1d(self.gamma_)
        functions = [spec.at(g) for spec, g in zip(specs, gamma, strict=True)]
        centers, kernel = self.support_items_, self.support_kernel_
        basis = _Basis(functions, centers, self.support_, kernel)
        return basis.expand(table, self.dual_coef_)

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "dual_coef_")


@dataclass(frozen=True, eq=False)
class _Basis:
    """Basis functions k_v(center, ·)."""

    functions: Sequence[KernelFunction]  # the kernels; none if precomputed
    centers: Any  # center of each basis function; None if the kernel is precomputed
    rows: Codes  # row of each center in its table
    kernel: Codes  # kernel of each basis function

    def first(self, n: int) -> _Basis:
        """Keep the first n basis functions."""
        centers = None if self.centers is None else self.centers[:n].copy()
        return _Basis(self.functions, centers, self.rows[:n], self.kernel[:n])

    def inner(self, table: ItemTable) -> Floats:
        """Inner products of the functions; of different kernels they are 0."""
        if self.centers is None:
            return table.dense()[np.ix_(self.rows, self.rows)]
        out = np.zeros((len(self.rows), len(self.rows)))
        for v, function in enumerate(self.functions):
            if len(own := np.flatnonzero(self.kernel == v)):
                centers = self.centers[own]
                out[np.ix_(own, own)] = function.block(centers, centers)
        return out

    def expand(self, table: ItemTable, coef: Floats) -> Floats:
        """Sum the functions at items, with one or several columns of coefficients."""
        values = table.values
        if self.centers is None:
            return np.asarray(values[:, self.rows] @ coef)
        total = np.zeros((table.n_items, *coef.shape[1:]))
        for v, function in enumerate(self.functions):
            if len(own := np.flatnonzero(self.kernel == v)):
                total += expand_kernel(function, values, self.centers[own], coef[own])
        return total


@dataclass(frozen=True, eq=False)
class _Candidates:
    """All basis functions, and the columns of their values."""

    columns: KernelDictionary | MatrixDictionary  # centers run fastest
    functions: Sequence[KernelFunction]
    centers: Any
    rows: Codes  # (m,), row of each center in its table

    @classmethod
    def make(cls, model: Any, problem: PursuitProblem) -> _Candidates:
        """Resolve the kernels and the centers of a model."""
        specs, table = read_kernels(model), problem.items
        if specs[0].kernel == "precomputed":
            gram = check_gram(table.dense())
            rows = problem.rows
            if model.centers is not None:
                if np.ndim(model.centers) != 1:
                    raise ValueError(
                        "with a precomputed kernel centers are row numbers of the "
                        "training items, in one dimension; got shape "
                        f"{np.shape(model.centers)}."
                    )
                rows = _row_numbers(model, table.n_items)
            whole = len(rows) == len(problem.rows) == len(gram)
            values = gram if whole else gram[np.ix_(rows, problem.rows)]
            unused = [KernelFunction("linear")]
            return cls(MatrixDictionary(values), unused, None, rows)
        items = table.take(problem.rows).values
        functions = [spec.resolve(items) for spec in specs]
        centers, rows = read_centers(model, table, problem.rows)
        columns = KernelDictionary(functions, items, centers, 1e6 * model.cache_size)
        return cls(columns, functions, centers, rows)

    def take(self, columns: NDArray[np.intp]) -> _Basis:
        """Give the basis functions of some columns."""
        kernel, center = np.divmod(columns, len(self.rows))
        centers = None if self.centers is None else self.centers[center]
        return _Basis(self.functions, centers, self.rows[center], kernel)


def read_centers(model: Any, table: ItemTable, rows: Codes) -> tuple[Any, Codes]:
    """Give the distinct centers that ``centers`` asks for, and their rows."""
    if model.centers is None:
        return table.take(rows).values, rows
    if not sp.issparse(model.centers) and np.ndim(model.centers) == 1:
        given, rows = table, _row_numbers(model, table.n_items)
    else:
        given = as_items(model.centers, name="centers")
        rows = np.arange(given.n_items)
    if given.n_features != table.n_features:
        raise ValueError(
            f"centers have {given.n_features} features, but the training items have "
            f"{table.n_features}; expected as many."
        )
    _, number = given.take(rows).unique()
    rows = rows[np.unique(number, return_index=True)[1]]
    return given.take(rows).values, rows


def _row_numbers(model: Any, n_items: int) -> Codes:
    rows = np.asarray(model.centers)
    if rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{type(model).__name__} got centers={model.centers!r}; expected row "
            "numbers of training items (whole numbers, at least one), or a table of "
            "items."
        )
    if len(wrong := np.flatnonzero((rows < 0) | (rows >= n_items))):
        raise ValueError(
            f"centers must be row numbers from 0 to {n_items - 1}, got {len(wrong)} "
            f"other(s): {list_rows(wrong, rows[wrong[:5]])} of centers."
        )
    return np.unique(rows).astype(np.int64)
