# SPDX-License-Identifier: BSD-3-Clause
"""What pursuits of one utility share: the dictionary, the path and the utility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import ItemTable, as_items
from tiebreak.data.messages import list_rows, warn_user
from tiebreak.kernels import (
    KernelDictionary,
    KernelFunction,
    MatrixDictionary,
    check_gram,
)
from tiebreak.models.base import UtilityMixin, check_positive
from tiebreak.models.kernel_specs import read_kernels
from tiebreak.models.kernel_utility import expand_kernel, weigh_features
from tiebreak.models.pursuit_program import PursuitProgram
from tiebreak.models.pursuit_steps import (
    check_steps,
    cross_validate,
    validation_errors,
)
from tiebreak.solvers import PursuitPath, pursue

__all__ = ["KernelPursuit", "read_centers"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class KernelPursuit(UtilityMixin):
    """Utility Σ dual_coef_[j] k(support_items_[j], x), chosen function by function.

    Subclasses store the parameters of :class:`~tiebreak.RankingPursuit` and say in
    ``_read`` what is minimized.
    """

    _fits_items: ClassVar[bool] = True

    n_basis: int | str
    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    backfit: bool
    prefit: bool
    centers: Any
    max_basis: int
    cv: Any
    cache_size: float

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn; what from, the model says.

        Parameters
        ----------
        X, y, qid, sample_weight
            As the model says.
        validation : (X, y) or (X, y, qid), optional
            Data on which the number of basis functions is chosen.

        Returns
        -------
        Self
            The fitted model.
        """
        self._check_parameters(validation)
        program = self._read(X, y, qid, sample_weight)
        candidates = _Candidates.make(self, program)
        errors = None
        if isinstance(self.n_basis, str):
            errors = cross_validate(self, X, y, qid, sample_weight)
        path = pursue(
            candidates.columns,
            program.form,
            program.b,
            program.c,
            n_steps=self.max_basis if errors is not None else int(self.n_basis),
            backfit=self.backfit,
            prefit=self.prefit,
        )
        basis = candidates.take(path.columns)
        if validation is not None:
            errors = validation_errors(
                self, validation, lambda table: basis.expand(table, path.coefs.T)
            )
        self._keep_path(basis, path, program.unit, errors)
        self._warn(path)
        return self

    def _read(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> PursuitProgram:
        raise NotImplementedError

    def _check_parameters(self, validation: Any) -> None:
        check_positive(self, "cache_size")
        check_steps(self, validation)
        for name in ("backfit", "prefit"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ValueError(
                    f"{type(self).__name__} got {name}={value!r}; expected True or "
                    "False."
                )
        if self.prefit and not self.backfit:
            raise ValueError(
                f"{type(self).__name__} got prefit=True with backfit=False; the best "
                "column after back-fitting is asked for, without back-fitting. Use "
                "backfit=True."
            )
        read_kernels(self)

    def _keep_path(
        self,
        basis: _Basis,
        path: PursuitPath,
        unit: float,
        errors: Floats | None,
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
                "every group: check the features, the kernel and gamma."
            )
        elif path.exhausted and not isinstance(self.n_basis, str):
            warn_user(
                f"{name} stopped after {n_steps} of n_basis={self.n_basis} steps: no "
                "further basis function makes the error smaller. They depend on each "
                "other, or the training data are fitted exactly; a smaller n_basis "
                "gives the same model."
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
        basis = _Basis(
            functions, self.support_items_, self.support_, self.support_kernel_
        )
        return basis.expand(table, self.dual_coef_)

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "dual_coef_")


@dataclass(frozen=True, eq=False)
class _Basis:
    """Basis functions k_v(center, ·).

    Attributes
    ----------
    functions : sequence of KernelFunction
        The kernels; of a precomputed one there is no function.
    centers : ndarray, csr_array or None
        Center of each basis function; None if the kernel is precomputed.
    rows : ndarray of int
        Row of each center in its table.
    kernel : ndarray of int
        Kernel of each basis function.
    """

    functions: Sequence[KernelFunction]
    centers: Any
    rows: Codes
    kernel: Codes

    def first(self, n: int) -> _Basis:
        """Keep the first n basis functions."""
        centers = None if self.centers is None else self.centers[:n].copy()
        return _Basis(self.functions, centers, self.rows[:n], self.kernel[:n])

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
    """All basis functions, and the columns of their values.

    Attributes
    ----------
    columns : KernelDictionary or MatrixDictionary
        Values at the distinct training items; centers run fastest.
    functions, centers
        As in `_Basis`.
    rows : ndarray of int of shape (m,)
        Row of each center in its table.
    """

    columns: KernelDictionary | MatrixDictionary
    functions: Sequence[KernelFunction]
    centers: Any
    rows: Codes

    @classmethod
    def make(cls, model: Any, program: PursuitProgram) -> _Candidates:
        """Resolve the kernels and the centers of a model."""
        specs, table = read_kernels(model), program.items
        cache_bytes = 1e6 * model.cache_size
        if specs[0].kernel == "precomputed":
            gram = check_gram(table.dense())
            rows = _center_rows(model, program)
            whole = len(rows) == len(program.rows) == len(gram)
            values = gram if whole else gram[np.ix_(rows, program.rows)]
            unused = [KernelFunction("linear")]
            return cls(MatrixDictionary(values), unused, None, rows)
        items = table.take(program.rows).values
        functions = [spec.resolve(items) for spec in specs]
        centers, rows = read_centers(model, table, program.rows)
        columns = KernelDictionary(functions, items, centers, cache_bytes)
        return cls(columns, functions, centers, rows)

    def take(self, columns: NDArray[np.intp]) -> _Basis:
        """Give the basis functions of some columns."""
        kernel, center = np.divmod(columns, len(self.rows))
        centers = None if self.centers is None else self.centers[center]
        return _Basis(self.functions, centers, self.rows[center], kernel)


def _center_rows(model: Any, program: PursuitProgram) -> Codes:
    """Columns of a precomputed kernel that may be chosen."""
    if model.centers is None:
        return program.rows
    if np.ndim(model.centers) != 1:
        raise ValueError(
            "with a precomputed kernel centers are row numbers of the training items, "
            f"in one dimension; got shape {np.shape(model.centers)}."
        )
    return _row_numbers(model, program.items.n_items)


def read_centers(model: Any, table: ItemTable, rows: Codes) -> tuple[Any, Codes]:
    """Read the parameter ``centers``.

    Parameters
    ----------
    model : estimator
        With ``centers``: None, row numbers, or a table of items.
    table : ItemTable
        The items that row numbers speak of.
    rows : ndarray of int
        Rows that are centers if none are given.

    Returns
    -------
    centers : ndarray or csr_array of shape (m, p)
        The centers, each once.
    rows : ndarray of int of shape (m,)
        Their rows in ``table``, or in the table that was given.
    """
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
