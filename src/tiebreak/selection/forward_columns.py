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
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

__all__ = ["ForwardColumns", "fit_names"]


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
        taken: dict[str, Any] = {}
        for name in names:
            values = getattr(self, name)
            if isinstance(values, Mapping):
                values = values.get(model)
            keys = _keys(method, name)
            if values is None or not keys:
                continue
            if not isinstance(values, Real):
                values = _safe_indexing(values, rows)
            taken |= dict.fromkeys(keys, values)
        return taken


def fit_names(model: Any, column: str) -> list[str]:
    """Give the names under which the fit of a model takes a column.

    Parameters
    ----------
    model : estimator
        The model.
    column : str
        Such as ``"sample_weight"``.

    Returns
    -------
    list of str
        Empty if it does not take the column. A pipeline gives weights to every step
        that takes them.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tiebreak import LogisticCompare, OnItems
    >>> fit_names(LogisticCompare(), "sample_weight")
    ['sample_weight']
    >>> model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    >>> fit_names(model, "sample_weight")
    ['onitems__sample_weight', 'logisticcompare__sample_weight']
    """
    return _keys(model.fit, column)


def _keys(method: Any, name: str) -> list[str]:
    if _takes(method, name):
        return [name]
    pipeline = getattr(method, "__self__", None)
    if name != "sample_weight" or not isinstance(pipeline, Pipeline):
        return []
    return [
        f"{step}__{name}" for step, part in pipeline.steps if _takes(part.fit, name)
    ]


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
