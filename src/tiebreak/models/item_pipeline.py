# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines that keep the item methods of their last step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.pipeline import make_pipeline as sklearn_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Orders, is_pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.metrics.scorers import last_step


def _last_has(name: str) -> Callable[[ItemPipeline], bool]:
    return lambda pipeline: hasattr(pipeline.steps[-1][1], name)


class ItemPipeline(Pipeline):
    """Scikit-learn's Pipeline with `utility`, `difference` and `order`."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> ItemPipeline:
        """Fit all steps, as in scikit-learn.

        Parameters
        ----------
        X, y, **params
            As the last step takes them.

        Returns
        -------
        ItemPipeline
        """
        if is_pairs(X) or isinstance(X, Orders):
            for _, step in self.steps[:-1]:
                tabular = hasattr(step, "transform") and not (
                    get_tags(step).input_tags.three_d_array
                )
                if tabular:
                    label = type(step).__name__
                    raise TypeError(
                        f"{label} transforms a table, and X holds comparisons or "
                        f"lists: wrap it in OnItems, as OnItems({label}())."
                    )
        super().fit(X, y, **params)
        return self

    @available_if(_last_has("utility"))
    def utility(self, X: Any) -> Floats:
        """Utility of items, by the last step.

        Parameters
        ----------
        X : table of items
            Before the transformations.

        Returns
        -------
        ndarray of shape (n,)
        """
        last, rows = self._arrive(X)
        return last.utility(rows)

    @available_if(_last_has("difference"))
    def difference(self, X: Any, **columns: Any) -> Floats:
        """Difference of utilities, r(right) - r(left), by the last step.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons, before the transformations.
        **columns
            What the last step takes beside them.

        Returns
        -------
        ndarray of shape (n,)
        """
        last, rows = self._arrive(X)
        return last.difference(rows, **columns)

    @available_if(_last_has("order"))
    def order(self, X: Any, qid: ArrayLike | None = None) -> Codes | list[Codes]:
        """Row numbers of items, best first, by the last step.

        Parameters
        ----------
        X : table of items
            Before the transformations.
        qid : array-like of shape (n,), optional
            Group of each item; each is ordered by itself.

        Returns
        -------
        ndarray of int of shape (n,), or with ``qid`` a list of such
        """
        last, rows = self._arrive(X)
        return last.order(rows, qid=qid)

    def _arrive(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        return last_step(self, X)


def make_pipeline(
    *steps: Any, memory: Any = None, transform_input: Any = None, verbose: bool = False
) -> ItemPipeline:
    """Make a pipeline that has the item methods of its last step.

    It is scikit-learn's ``Pipeline`` with ``utility(items)``, ``difference(pairs)`` and
    ``order(items, qid=None)``, which take items and comparisons before the
    transformations.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a model at the end.
    memory, transform_input, verbose
        As in ``sklearn.pipeline.make_pipeline``.

    Returns
    -------
    ItemPipeline

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tiebreak import LogisticCompare, OnItems, Pairs, make_pipeline
    >>> pairs = Pairs([[1.0], [30.0], [90.0]], left=[0, 1, 2], right=[1, 2, 0])
    >>> model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    >>> model.fit(pairs, [1, 0, -1]).order([[20.0], [70.0]])
    array([1, 0])
    """
    plain = sklearn_pipeline(
        *steps, memory=memory, transform_input=transform_input, verbose=verbose
    )
    return ItemPipeline(
        plain.steps, memory=memory, transform_input=transform_input, verbose=verbose
    )
