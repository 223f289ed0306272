# SPDX-License-Identifier: BSD-3-Clause
"""What stands beside comparisons, cut to rows and handed to models that take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

__all__ = ["ForwardColumns"]


@dataclass(frozen=True, eq=False)
class ForwardColumns:
    """Row-aligned columns, as given.

    Attributes
    ----------
    period, context, rater, sample_weight : array-like of n rows, or None
        The columns.
    advantage : float, array-like of shape (n,), mapping of str to these, or None
        For all models, or for models by name.
    """

    period: Any
    advantage: Any
    context: Any
    rater: Any
    sample_weight: Any

    def check(self, models: dict[str, Any], n_rows: int) -> None:
        """Refuse columns of another length, and such that no model takes.

        Parameters
        ----------
        models : dict of str to estimator
            The models.
        n_rows : int
            n.
        """
        for name in ("advantage", "context", "rater"):
            given = getattr(self, name)
            if isinstance(given, Mapping):
                self._check_by_model(name, given, models, n_rows)
            elif given is not None:
                _check_length(given, name, n_rows)
                if not any(_takes(model.fit, name) for model in models.values()):
                    raise ValueError(
                        f"{name} is given, but no model takes it in fit. Leave it out, "
                        f"or add a model that learns from {name}."
                    )

    def _check_by_model(
        self,
        name: str,
        given: Mapping[str, Any],
        models: dict[str, Any],
        n_rows: int,
    ) -> None:
        if name != "advantage":
            raise TypeError(f"{name} must be one column, got a dictionary.")
        for key, values in given.items():
            if key not in models:
                known = ", ".join(map(repr, models))
                raise ValueError(
                    f"advantage is given for {key!r}, which is not among the models: "
                    f"{known}."
                )
            if not _takes(models[key].fit, name):
                raise ValueError(
                    f"advantage is given for {key!r}, which takes none in fit."
                )
            _check_length(values, name, n_rows)

    def of(
        self, method: Any, model: str, rows: NDArray[np.int64], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """Give the columns that a method of a model takes, for some rows.

        Parameters
        ----------
        method : callable
            Such as ``fit``; it takes a column if it names it among its parameters.
        model : str
            Name of the model.
        rows : ndarray of int64
            Which rows.
        names : tuple of str
            The columns to look at.

        Returns
        -------
        dict
            Keyword arguments for the method.
        """
        taken = {}
        for name in names:
            values = getattr(self, name)
            if isinstance(values, Mapping):
                values = values.get(model)
            if values is None or not _takes(method, name):
                continue
            if not isinstance(values, Real):
                values = _safe_indexing(values, rows)
            taken[name] = values
        return taken


def _takes(method: Any, name: str) -> bool:
    return name in signature(method).parameters


def _check_length(values: Any, name: str, n_rows: int) -> None:
    if isinstance(values, Real):
        return
    length = values.shape[0] if hasattr(values, "shape") else len(values)
    if length != n_rows:
        raise ValueError(
            f"{name} has {length} values but there are {n_rows} rows; they must be as "
            "many."
        )
