# SPDX-License-Identifier: BSD-3-Clause
"""Views of items: some of their features, a kernel, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.models.kernel_specs import KernelSpec

__all__ = ["View", "read_views"]


@dataclass(frozen=True, eq=False)
class View:
    """One way to look at items.

    Attributes
    ----------
    columns : ndarray of int
        The features that it sees.
    spec : KernelSpec
        How it compares them.
    """

    columns: NDArray[np.intp]
    spec: KernelSpec

    def see(self, values: Any) -> Any:
        """Give the features that the view sees.

        Parameters
        ----------
        values : ndarray or csr_array of shape (n, p)

        Returns
        -------
        ndarray or csr_array of shape (n, q)
        """
        if len(self.columns) == values.shape[1]:
            return values
        return values[:, self.columns]


def read_views(
    model: Any, n_features: int, feature_names: tuple[str, ...] | None
) -> list[View]:
    """Read the parameter ``views``.

    Parameters
    ----------
    model : estimator
        With ``views``, and ``kernel``, ``gamma``, ``degree`` and ``coef0`` for views
        that do not say.
    n_features : int
        Number of features of the items.
    feature_names : tuple of str or None
        Their names.

    Returns
    -------
    list of View
    """
    given = model.views
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(
            f"{type(model).__name__} got views={given!r}; expected a list with at "
            "least one view: a kernel, a list of columns, or a dict with 'columns', "
            "'kernel', 'gamma', 'degree' and 'coef0'."
        )
    return [
        _read_view(model, one, number, n_features, feature_names)
        for number, one in enumerate(given)
    ]


def _read_view(
    model: Any, given: Any, number: int, p: int, names: tuple[str, ...] | None
) -> View:
    columns: Any = slice(None)
    kernel: Any = {}
    if isinstance(given, Mapping):
        columns = given.get("columns", columns)
        kernel = {key: value for key, value in given.items() if key != "columns"}
    elif isinstance(given, str) or callable(given):
        kernel = given
    else:
        columns = given
    spec = KernelSpec.read(model, kernel)
    if spec.kernel == "precomputed":
        raise ValueError(
            f"view {number} has a precomputed kernel; views see features. Give the "
            "features and a callable kernel."
        )
    return View(_read_columns(columns, number, p, names), spec)


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
