# SPDX-License-Identifier: BSD-3-Clause
"""Expected rank regression: a regression of positions in lists.

Boundary convention: tied items share the mean of the positions that they fill.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from tiebreak.data import ItemTable, read_grades
from tiebreak.data.arrays import Floats
from tiebreak.losses import GradeTree
from tiebreak.models.base import UtilityMixin, end_of_pipeline
from tiebreak.models.problem import build_grade_tree


@dataclass(eq=False, repr=False)
class ExpectedRankRegression(UtilityMixin, BaseEstimator):
    """Regress the expected rank of items on their features.

    Of a complete order with items removed at random, the item at position k of the n
    that remain has an expected rank proportional to k / (n + 1). A regressor learns ::

        k / (n + 1)  ≈  f(x)

    over all items of all lists, and the utility is -f(x).

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Any regressor, or a Pipeline that ends in one. None: ``LinearRegression()``.
        Kamishima et al. use polynomial terms, as below.

    Attributes
    ----------
    regressor_ : regressor
        The fitted clone; it sees arrays without column names.
    coef_ : ndarray of shape (n_features,)
        Weights of the features in the utility, where the regressor has a ``coef_``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A graded row of weight 2 is two rows, also where positions are counted. The weight
    of a list is that of its items in the regression.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from tiebreak import ExpectedRankRegression, Orders
    >>> items = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> orders = Orders(items, [[2, 1, 0], [2, 3, 4], [1, 0], [2, [1, 3], [0, 4]]])
    >>> square = make_pipeline(PolynomialFeatures(2), LinearRegression())
    >>> ExpectedRankRegression(square).fit(orders).order(items)
    array([2, 1, 3, 0, 4])
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    regressor: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from orders or graded items.

        Parameters
        ----------
        X, y, qid
            As in ``RankSVM.fit``, without comparisons; each group is one list.
        sample_weight : array-like of shape (n,), optional
            Weights of items, or of the lists of Orders. The regressor must take
            weights, unless all positive ones are equal.

        Returns
        -------
        Self
        """
        plain = self.regressor is None
        regressor = LinearRegression() if plain else clone(self.regressor)
        data = read_grades(X, y, qid, sample_weight)
        tree = build_grade_tree(data)
        weight = tree.weight if data.orders is None else np.ones(len(tree.rows))
        rank = expected_ranks(tree, weight)
        places = np.argsort(tree.rows)  # regressors see the rows as they were given
        rows = tree.rows[places]
        weights = _weight_arguments(regressor, data.item_weight[rows])
        regressor.fit(data.items.values[rows], rank[places], **weights)
        learned = {**data.attributes, "regressor_": regressor}
        coef = getattr(regressor, "coef_", None)
        if isinstance(coef, np.ndarray) and coef.shape == (data.items.n_features,):
            learned["coef_"] = -coef
        return self._keep(learned)

    def _utility(self, table: ItemTable) -> Floats:
        rank = np.asarray(self.regressor_.predict(table.values), dtype=np.float64)
        return -rank.reshape(table.n_items)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.regressor is not None and hasattr(self.regressor, "fit"):
            tags.input_tags.sparse = get_tags(self.regressor).input_tags.sparse
        return tags


def expected_ranks(tree: GradeTree, weight: Floats) -> Floats:
    """Give position / (length + 1) of each slot in its group, ties at their mean.

    `weight` is the number of rows of each slot.
    """
    sizes = np.diff(tree.starts)
    length = np.repeat(np.add.reduceat(weight, tree.starts[:-1]), sizes)
    starts = np.union1d(tree.starts[:-1], tree.cuts)
    run_size = np.add.reduceat(weight, starts)
    # What stands up to the end of each run of equal grades, in its own group.
    up_to = np.cumsum(run_size)
    group = np.searchsorted(tree.starts, starts, side="right") - 1
    before_group = np.concatenate([[0.0], up_to])[
        np.searchsorted(starts, tree.starts[:-1])
    ]
    up_to -= before_group[group]
    run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(weight))))
    position = (length - up_to[run]) + 0.5 * (run_size[run] + 1.0)
    return position / (length + 1.0)


def _weight_arguments(regressor: Any, weight: Floats) -> dict[str, Floats]:
    """Name the weights for the ``fit`` of a regressor or Pipeline."""
    if np.all(weight == 1.0):
        return {}
    last, prefix = end_of_pipeline(regressor)
    if has_fit_parameter(last, "sample_weight"):
        return {f"{prefix}sample_weight": weight}
    if np.all(weight == weight[0]):
        return {}
    raise ValueError(
        f"sample_weight: {type(last).__name__} takes no weights, got weights from "
        f"{weight.min():.3g} to {weight.max():.3g}. Try Ridge, which does."
    )
