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
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, check_cv

from tiebreak.data import (
    Comparisons,
    Grades,
    ItemTable,
    Orders,
    as_items,
    as_pairs,
    is_pairs,
)
from tiebreak.data.columns import as_column, factorize
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    Values,
    check_parameters,
)
from tiebreak.kernels import (
    KernelDictionary,
    KernelFunction,
    MatrixDictionary,
    check_gram,
    make_kernel,
)
from tiebreak.kernels.functions import Gamma
from tiebreak.metrics import comparison_error, swapped_pairs
from tiebreak.models.base import UtilityMixin, read_validation, warn_flat
from tiebreak.models.kernel_utility import expand_kernel, weigh_features
from tiebreak.models.problem import is_kernel, refuse_indefinite
from tiebreak.models.pursuit.problem import PursuitProblem
from tiebreak.solvers import PursuitPath, pursue
from tiebreak.solvers.pursuit import penalize_path

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


def warn_of_path(model: Any, n_steps: int, n_wanted: int | None) -> None:
    """Warn of a path without steps, or with fewer than were wanted."""
    if n_steps == 0:
        warn_flat(
            model,
            "no basis function explains any difference. Kernel columns may be constant "
            "inside every group: check the features, the kernels and gamma",
        )
    elif n_wanted is not None:
        warn_user(
            f"{type(model).__name__} stopped after {n_steps} of n_basis={n_wanted} "
            "steps: no further basis function makes the error smaller. A smaller "
            "n_basis gives the same model.",
            FitWarning,
        )


def validation_errors(
    model: Any, data: Comparisons | Grades, validation: Any, utilities: Utilities
) -> Floats:
    """Give the error of a pursuit on a validation set after every step."""
    held_out = read_validation(model, data, validation)
    if isinstance(held_out, Comparisons):
        pairs = held_out.pairs
        at_items = utilities(pairs.table)
        difference = at_items[pairs.right] - at_items[pairs.left]
        return np.array(
            [comparison_error(held_out.y, np.sign(d)) for d in difference.T]
        )
    along = utilities(held_out.items).T
    return np.array([swapped_pairs(held_out.y, u, qid=held_out.group) for u in along])


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


def _folds(cv: Any, n_rows: int, y: Any, qid: Any) -> list[tuple[Rows, Rows]]:
    """Row numbers of the folds; no group is on both sides, if there are several."""
    group: Any = None if qid is None else factorize(qid)[0]
    n_groups = 1 if group is None else int(group.max()) + 1
    splitter = cv
    if isinstance(cv, Integral):
        # Rows may be sorted by grade, so they are shuffled, in the same way always.
        splitter = KFold(int(cv), shuffle=True, random_state=0)
        if n_groups > 1:
            splitter = GroupKFold(min(int(cv), n_groups))
    with warnings.catch_warnings():
        # Some splitters say that they ignore groups; what they do is checked below.
        warnings.simplefilter("ignore", UserWarning)
        parts = list(check_cv(splitter).split(np.zeros((n_rows, 1)), y, group))
    for train, test in parts:
        if n_groups > 1 and np.isin(group[test], group[train]).any():
            raise ValueError(
                f"cv={cv!r} puts rows of a group into both training and test set. Use "
                "a number, or QueryKFold or GroupKFold."
            )
    return parts


def _take(model: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Take rows; of a kernel matrix between graded items the training columns too."""
    if not isinstance(X, ItemTable):
        return X[rows]
    part = X.take(rows)
    if is_kernel(model, "precomputed"):
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
    specs = [KernelSpec.read(model, one) for one in several]
    names = [spec.kernel for spec in specs if isinstance(spec.kernel, str)]
    if not specs or (len(specs) > 1 and "precomputed" in names):
        raise ValueError(
            f"{type(model).__name__} got kernel={given!r}; expected one kernel, or a "
            "list of several, of which none is precomputed."
        )
    return specs


Codes = NDArray[np.int64]


class KernelPursuit(UtilityMixin):
    """Utility Σ dual_coef_[j] k(support_items_[j], x), chosen function by function.

    Subclasses have the parameters of :class:`~tiebreak.RankingPursuit` and say in
    ``_read`` what is minimized.
    """

    n_basis: int | Literal["cv"]
    alpha: float
    backfit: bool
    prefit: bool
    max_basis: int
    support_: Codes
    dual_coef_: Floats
    support_kernel_: Codes
    gamma_: Any

    _fits_items: ClassVar[bool] = True

    _parameters: ClassVar[Mapping[str, Values]] = {
        "n_basis": COUNT | "cv",
        "max_basis": COUNT,
        "alpha": NOT_NEGATIVE,
        **dict.fromkeys(("backfit", "prefit"), FLAG),
        "cache_size": POSITIVE,
    }
    _fitted_arrays: ClassVar = {
        "path_": "f f",
        "path_support_": "f: index",
        "path_kernel_": "f: index",
        "objective_path_": "f+1",
        "support_": "k: index",
        "support_kernel_": "k: index",
        "dual_coef_": "k",
        "support_items_": "k p",
    }

    def _fit(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, validation: Any
    ) -> Self:
        """Learn what ``_read`` minimizes; the arguments are those of ``fit``."""
        check_parameters(self)
        check_steps(self, validation)
        if self.prefit and not self.backfit:
            raise ValueError(
                f"{type(self).__name__} got prefit=True with backfit=False, but prefit "
                "chooses the best column after back-fitting. Use backfit=True."
            )
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
        basis, table = candidates.take(path.columns), problem.items
        if self.alpha and self.backfit and len(path.columns):
            values, inner = candidates.columns.columns(path.columns), basis.inner(table)
            try:
                path = penalize_path(
                    path, values, inner, problem.form, problem.b, float(self.alpha)
                )
            except la.LinAlgError:
                refuse_indefinite("that of the chosen centers has no Cholesky factor")
        if validation is not None:
            errors = validation_errors(
                self,
                problem.data,
                validation,
                lambda table: basis.expand(table, path.coefs.T),
            )
        n_steps = None if isinstance(self.n_basis, str) else int(self.n_basis)
        warn_of_path(self, len(path.coefs), n_steps if path.exhausted else None)
        learned = _path_attributes(basis, path, problem.unit, errors)
        return self._keep({**problem.data.attributes, **learned})

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> PursuitProblem:
        raise NotImplementedError

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


def _path_attributes(
    basis: _Basis, path: PursuitPath, unit: float, errors: Floats | None
) -> dict[str, Any]:
    """Return what was learned, with the number of steps that has the least error."""
    coefs, n_steps = unit * path.coefs, len(path.coefs)
    with np.errstate(over="ignore", under="ignore"):
        objective = unit * (unit * path.objective)
    learned: dict[str, Any] = {
        "path_": coefs,
        "path_support_": basis.rows,
        "path_kernel_": basis.kernel,
        "objective_path_": objective,
    }
    if errors is not None and n_steps:
        learned["validation_path_"] = errors
        n_steps = min(n_steps, int(np.argmin(errors)) + 1)
    n_taken = int(path.n_taken[n_steps - 1]) if n_steps else 0
    basis = basis.first(n_taken)
    coef = coefs[n_steps - 1, :n_taken].copy() if n_steps else np.zeros(0)
    gamma = np.array([function.gamma for function in basis.functions])
    learned |= {
        "n_basis_": n_steps,
        "support_": basis.rows,
        "support_kernel_": basis.kernel,
        "dual_coef_": coef,
        "gamma_": float(gamma[0]) if len(gamma) == 1 else gamma,
    }
    if basis.centers is not None:
        learned["support_items_"] = basis.centers
        if [function.name for function in basis.functions] == ["linear"]:
            learned["coef_"] = np.asarray(basis.centers.T @ coef).ravel()
    return learned


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
        """Resolve the kernels of a model; the centers are the distinct items."""
        specs, table, rows = read_kernels(model), problem.items, problem.rows
        if specs[0].kernel == "precomputed":
            gram = check_gram(table.dense())
            values = gram if len(rows) == len(gram) else gram[np.ix_(rows, rows)]
            unused = [KernelFunction("linear")]
            return cls(MatrixDictionary(values), unused, None, rows)
        items = table.take(rows).values
        functions = [spec.resolve(items) for spec in specs]
        columns = KernelDictionary(functions, items, items, 1e6 * model.cache_size)
        return cls(columns, functions, items, rows)

    def take(self, columns: NDArray[np.intp]) -> _Basis:
        """Give the basis functions of some columns."""
        kernel, center = np.divmod(columns, len(self.rows))
        centers = None if self.centers is None else self.centers[center]
        return _Basis(self.functions, centers, self.rows[center], kernel)
