# SPDX-License-Identifier: BSD-3-Clause
"""A utility that is a sum of trees, grown by LightGBM.

Boundary convention: a difference of exactly ``threshold_`` is a tie, and so are equal
utilities.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.metaestimators import available_if

from tiebreak.data import (
    Comparisons,
    Grades,
    ItemTable,
    Orders,
    Pairs,
    as_items,
    as_pairs,
    is_pairs,
    read_data,
)
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import is_missing
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.items import RawTable, Table, as_table, refuse_out_of_bounds
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    Values,
    check_parameters,
    one_of,
)
from tiebreak.data.validation import as_numbers, check_features
from tiebreak.losses import (
    LINKS,
    Expansion,
    GradeSquaredHinge,
    GradeTree,
    ItemDesign,
    OutcomeLink,
)
from tiebreak.models.base import UtilityMixin, warn_flat
from tiebreak.models.boosted_trees import (
    NODE,
    Nodes,
    check_trees,
    read_trees,
    start_boosters,
    sum_trees,
)
from tiebreak.models.problem import (
    build_grade_tree,
    grade_tree,
    merge_sides,
    refuse_only_ties,
)

# An item's curvature counts as at least this, relative to the mean.
FLOOR = 1e-6
# Steps of the tie parameter above which derivatives are computed again.
FAR = 0.03


@dataclass(eq=False)
class ComparisonLoss:
    """-ln P of comparisons, counted, with the tie parameter t."""

    design: ItemDesign
    counts: Floats
    link: OutcomeLink
    tie: float

    def value(self, u: Floats) -> float:
        """Give the loss with the tie parameter as it is."""
        return self.link.value(self.design.apply(u), self.tie, self.counts)

    def expand(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Give the loss; improve the tie; give gradient and curvature of every item."""
        d = self.design.apply(u)
        local = self.link.expand(d, self.tie, self.counts)
        value, step = local.value, 0.0
        if self.counts[:, 1].any():
            step = tie_step(self.link, self.tie, local)
            self.tie += step
        if abs(step) > FAR:
            self.tie = best_tie(self.link, d, self.counts, self.tie, tol=1e-3)
            local, step = self.link.expand(d, self.tie, self.counts), 0.0
        # The gradient after the step, but for step².
        gradient = self.design.back(local.gradient + step * local.cross)
        return value, gradient, self.design.diagonal(local.curvature)

    def units(self, n_folds: int) -> Codes:
        """Keep compared items together; single items if a set exceeds a fold."""
        left, right, n = self.design.left, self.design.right, self.design.n_coef
        met = coo_array((np.ones(len(left)), (left, right)), shape=(n, n))
        _, component = connected_components(met, directed=False)
        share = np.bincount(component[left], self.counts.sum(axis=1))
        small = share.max() <= share.sum() / n_folds
        return component.astype(np.int64) if small else np.arange(n)

    def part(self, items: Flags) -> Self | None:
        """Give the comparisons between these items; None if all are ties."""
        left, right = self.design.left, self.design.right
        kept = items[left] & items[right]
        counts = self.counts[kept]
        if not counts[:, [0, 2]].any():
            return None
        design = ItemDesign(left[kept], right[kept], self.design.n_coef)
        tie = start_tie(self.link, counts)
        return replace(self, design=design, counts=counts, tie=tie)


def start_tie(link: OutcomeLink, counts: Floats) -> float:
    """Give the tie parameter of equal items."""
    totals = counts.sum(axis=0)
    return link.start(float(totals[1] / totals.sum()))


def best_tie(
    link: OutcomeLink, d: Floats, counts: Floats, t: float, tol: float
) -> float:
    """Minimize the convex loss in the tie parameter t by Newton steps, damped."""
    if not counts[:, 1].any():
        return link.start(0.0)
    for _ in range(100):
        step = tie_step(link, t, link.expand(d, t, counts))
        t += step
        if abs(step) <= tol:
            break
    return t


def tie_step(link: OutcomeLink, t: float, local: Expansion) -> float:
    """Give the damped Newton step of the tie parameter."""
    step = -local.tie_gradient / max(local.tie_curvature, 1e-300)
    # At most one, and for the cumulative link half the way to the end at zero.
    return min(max(step, -0.5 * t if link.cumulative else -1.0), 1.0)


@dataclass(eq=False)
class GradedLoss:
    """Squared hinge over pairs of different grades within groups."""

    data: Grades
    item: Codes  # distinct item of each row
    n_items: int
    per_group: str
    tree: GradeTree

    def __post_init__(self) -> None:
        self._hinge = GradeSquaredHinge(self.tree)

    def value(self, u: Floats) -> float:
        """Give the loss."""
        return self._hinge.expand(u[self.item])[0]

    def expand(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Give the loss, and gradient and curvature of items, summed over rows."""
        value, gradient = self._hinge.expand(u[self.item])
        diagonal = self._hinge.hessian_diagonal()
        return value, self._sum(gradient), self._sum(diagonal)

    def _sum(self, x: Floats) -> Floats:
        return np.asarray(np.bincount(self.item, x, self.n_items), dtype=np.float64)

    def units(self, n_folds: int) -> Codes:
        """Keep groups together if they are many; items of lists are held out singly."""
        data = self.data
        if data.orders is not None or data.n_groups < 2 * n_folds:
            return np.arange(self.n_items)
        unit = np.zeros(self.n_items, dtype=np.int64)
        unit[self.item[::-1]] = data.group[::-1]
        return unit

    def part(self, items: Flags) -> Self | None:
        """Give the pairs between these items, or None."""
        weight = np.where(items[self.item], self.data.weight, 0.0)
        data = replace(self.data, weight=weight)
        tree = grade_tree(data, self.per_group)
        return None if tree.n_pairs == 0 else replace(self, data=data, tree=tree)


Objective = ComparisonLoss | GradedLoss


class Growth:
    """A utility of the training items that grows tree by tree.

    LightGBM keeps it: its scores of the rows are the utility.
    """

    def __init__(self, objective: Objective, booster: Any, n_items: int) -> None:
        self.objective, self.booster, self._n_items = objective, booster, n_items
        self.trees: list[int] = []  # of each round, -1 for none
        self._losses: list[float] = []

    def add(self) -> None:
        """Add a tree."""
        booster, tree = self.booster, -1
        if booster is None:
            self._losses.append(self.objective.value(np.zeros(self._n_items)))
        elif not booster.update(fobj=self._derive):
            tree = booster.current_iteration() - 1
        self.trees.append(tree)

    def _derive(self, utility: Floats, _: Any) -> tuple[Floats, Floats]:
        loss, gradient, curvature = self.objective.expand(utility)
        self._losses.append(loss)
        # In units of the mean curvature of items, so that the weight of a leaf and the
        # penalty mean the same for every loss, size and weight of the data.
        unit = curvature[curvature > 0].mean() if curvature.any() else 1.0
        return gradient / unit, np.maximum(curvature / unit, FLOOR)

    def utility(self) -> Floats:
        """Give the utility of the training items."""
        out = np.zeros(self._n_items)

        def read(scores: Floats, _: Any) -> tuple[str, float, bool]:
            out[:] = scores
            return "utility", 0.0, False

        if self.booster is not None:
            self.booster.eval_train(read)
        return out

    def losses(self, utility: Floats) -> Floats:
        """Give the loss after every tree."""
        return np.array([*self._losses, self.objective.value(utility)][1:])

    def joined(self) -> tuple[Nodes, Codes]:
        """Give all nodes in one array, and the roots of the trees."""
        read, alone = read_trees(self.booster), np.zeros(1, NODE)
        alone["feature"] = -1
        trees = [alone if tree < 0 else read[tree] for tree in self.trees]
        sizes = np.array([len(tree) for tree in trees], dtype=np.int64)
        roots = np.cumsum(sizes) - sizes
        nodes = np.concatenate([np.zeros(0, NODE), *trees])
        inner = nodes["feature"] >= 0
        begin = np.repeat(roots, sizes)[inner].astype(np.int32)
        nodes["left"][inner] += begin
        nodes["right"][inner] += begin
        return nodes, roots


def held_out_loss(folds: list[tuple[Growth, Objective]]) -> float:
    """Sum the losses of the folds, each by trees grown without it."""
    total = 0.0
    for growth, tested in folds:
        if isinstance(tested, ComparisonLoss):
            learned: Any = growth.objective
            tested.tie = learned.tie
            if tested.counts[:, 1].any() and not learned.counts[:, 1].any():
                # A tie that was never seen is rare, and not impossible.
                tested.tie = tested.link.start(1.0 / (2.0 + learned.counts.sum()))
        total += tested.value(growth.utility())
    return total


def deal_units(unit: Codes, n_folds: int, seed: Any) -> Iterator[Flags]:
    """Divide items into folds of whole units, at random."""
    # Numbered by their first item: items stand in an order of their own.
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    order = check_random_state(seed).permutation(len(first))
    fold = np.empty(len(first), dtype=np.int64)
    fold[np.argsort(first)[order]] = np.arange(len(first)) % n_folds
    for number in range(n_folds):
        yield fold[unit] == number


def in_order(table: ItemTable, code: Codes) -> tuple[ItemTable, Codes]:
    """Sort distinct items, so that the order of rows does not matter."""
    direction = np.random.default_rng(0).normal(size=table.n_features)
    values = table.values
    if not table.is_sparse and np.isnan(values.sum()):
        values = np.where(np.isnan(values), np.pi, values)  # missing is a value too
    order = np.argsort(values @ direction, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return table.take(order), place[code]


Categories = dict[int, NDArray[Any]]  # texts, by column


def find_categories(table: Table) -> Categories:
    """Give the categories of the columns that have some, as texts."""
    if isinstance(table, ItemTable) or table.numbers is not None or table.of_texts:
        return {}
    found: Categories = {}
    for j, (column, kind) in enumerate(_columns(table)):
        values = [value for value in column if not is_missing(value)]
        if kind in _CATEGORICAL or any(isinstance(value, str) for value in values):
            found[j] = np.array(sorted(set(map(_category, values))), dtype=np.str_)
    return found


def encode(table: Table, categories: Categories) -> ItemTable:
    """Number categories by their places; missing and new ones are NaN."""
    if isinstance(table, ItemTable):
        return table
    if table.of_texts or table.is_sparse or table.numbers is not None:
        return as_items(table)
    values = np.empty((len(table), table.n_features))
    for j, (column, _) in enumerate(_columns(table)):
        if j in categories:
            names = enumerate(categories[j].tolist())
            place = {name: float(code) for code, name in names}
            values[:, j] = [place.get(_category(value), np.nan) for value in column]
        else:
            of = table.feature_names[j] if table.feature_names else j
            try:
                values[:, j] = as_numbers(column, f"Column {of!r} of items")
            except ValueError as error:  # in the words of Python's own float()
                raise TypeError(
                    f"{error} An argument must be a string or a real number."
                ) from None
    missing = np.isnan(values)
    values[missing] = 0.0
    refuse_out_of_bounds(values, "items", table.feature_names)
    values[missing] = np.nan
    return ItemTable(values, table.feature_names)


_CATEGORICAL = ("category", "Categorical", "Enum")


def _columns(table: RawTable) -> Iterator[tuple[NDArray[Any], str]]:
    """Give the values of each column, and the name of its type."""
    X = table.original()
    if isinstance(X, np.ndarray):
        yield from ((column, "") for column in X.T)
        return
    for j in range(table.n_features):
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
        yield column.to_numpy(), str(column.dtype).partition("(")[0]


def _category(value: Any) -> str:
    """Give the text of a category; numbers may have become floats."""
    return str(float(value)) if isinstance(value, Real) else str(value)


def _encoded(X: Any) -> tuple[Any, Categories]:
    """Give what is to be fitted with its items as numbers, and their categories."""
    if is_pairs(X):
        X = as_pairs(X)
    rows = isinstance(X, Pairs | Orders)
    if rows and not X.has_features:
        return X, {}
    table = X._features if rows else as_table(X, name="X")
    categories = find_categories(table)
    items = encode(table, categories)
    return X.with_items(items) if rows else items, categories


def _knows_ties(model: Any) -> bool:
    if not hasattr(model, "tie_"):
        raise AttributeError(
            "BoostedUtility has probabilities after a fit to comparisons; graded items "
            "and orders do not say how likely a tie is."
        )
    return True


@dataclass(eq=False, repr=False)
class BoostedUtility(UtilityMixin, BaseEstimator):
    r"""A sum of trees as utility, grown by LightGBM.

    The utility is r(x) = η Σ_t f_t(x) with trees f_t and the learning rate η. Each tree
    is a Newton step: LightGBM gets the gradient g_i and the diagonal of the Hessian h_i
    of the loss for every distinct item i, and a leaf with the items I has the value
    -Σ_I g_i / (Σ_I h_i + l2).

    - Comparisons: -Σ s ln P(y), a **sum** over comparisons with weights s. P is that of
      :class:`LogisticCompare`; the tie parameter is fitted with the trees.
    - Graded items and orders: Σ w_i w_j (1 - (r_i - r_j))₊² over all pairs of different
      grades in a group, as in :class:`RankSVM`. A round costs O(n log n) for n rows,
      and the tree.

    Parameters
    ----------
    n_rounds : int, default=300
        Trees at most.
    learning_rate : float, default=0.05
        Factor η of every tree.
    max_leaves : int, default=7
        Leaves of a tree.
    min_child_weight : float, default=5.0
        Least Σ h_i of a leaf, in units of the mean h_i.
    l2 : float, default=3.0
        Penalty of a leaf's value, in the same units.
    subsample : float, default=0.7
        Share of the items, drawn anew, on which each tree is grown. Values below 1 help
        to find interactions of features.
    link : {"cumulative", "davidson"}, default="cumulative"
        For comparisons, as in :class:`LogisticCompare`.
    per_group : {"mean", "sum"}, default="mean"
        For graded items and orders, as in :class:`RankSVM`.
    early_stopping : bool, default=True
        Choose the number of trees by the loss on held-out items: trees grow on what is
        compared outside a fold, and the loss is that of what is compared inside it.
        Then the trees grow again on all data, up to the number with the least loss.
    n_folds : int, default=5
        Folds, at least 2.
    n_iter_no_change : int, default=20
        Rounds without a smaller held-out loss after which to stop.
    random_state : int, RandomState or None, default=0
        Seed of the folds and of ``subsample``.

    Attributes
    ----------
    n_iter_, n_pairs_ : int
        Number of trees, and of comparisons or pairs.
    loss_curve_ : ndarray of shape (n_iter,)
        Loss of the training data after every tree, a sum.
    validation_curve_ : ndarray
        With early stopping: sum of the losses of the folds, before the first tree and
        after every one.
    nodes_, roots_ : ndarray
        All trees: records with the fields ``feature`` (-1 in a leaf), ``cut``, ``left``
        (values up to the cut), ``right`` and ``value``; and the root of each tree.
    booster_ : lightgbm.Booster
        The trees in LightGBM, for its tools and SHAP's ``TreeExplainer``. Not in files
        and pickles, and absent if all features are constant.
    feature_importances_ : ndarray of shape (n_features,)
        Sum of the gains of all splits by a feature.
    tie_, threshold_, classes_
        Fitted to comparisons: as in :class:`LogisticCompare`.
    categories_ : dict of int to ndarray
        The categories, as texts, of the columns that have some.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RankBoost : Boosting of single features, without another library.
    LogisticCompare : The same probabilities with a linear or kernel utility.

    Notes
    -----
    Items that are compared with each other are held out together if no such set has
    more than the comparisons of a fold, and graded items by group if there are two
    groups per fold; otherwise, and in ranked lists, single items. Comparisons across a
    fold are not used.

    Features may be missing, and columns of text or of a categorical type of pandas or
    polars are categories; a category that was not seen counts as missing.

    To fit, install LightGBM: ``pip install "tiebreak[boost]"``. Predictions do not need
    it.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import BoostedUtility, Pairs
    >>> rng = np.random.default_rng(0)
    >>> items = rng.uniform(-1, 1, size=(200, 3))
    >>> value = items[:, 0] * items[:, 1]
    >>> left, right = rng.integers(100, size=1500), rng.integers(100, 200, size=1500)
    >>> y = np.sign(value[right] - value[left])
    >>> model = BoostedUtility().fit(Pairs(items, left, right), y)
    >>> model.predict([[[0.9, -0.9, 0.0], [0.9, 0.9, 0.0]]])
    array([1], dtype=int8)
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    n_rounds: int = 300
    _: KW_ONLY
    learning_rate: float = 0.05
    max_leaves: int = 7
    min_child_weight: float = 5.0
    l2: float = 3.0
    subsample: float = 0.7
    link: Literal["cumulative", "davidson"] = "cumulative"
    per_group: Literal["mean", "sum"] = "mean"
    early_stopping: bool = True
    n_folds: int = 5
    n_iter_no_change: int = 20
    random_state: int | np.random.RandomState | None = 0

    _parameters: ClassVar = {
        "link": one_of("cumulative", "davidson"),
        "per_group": one_of("mean", "sum"),
        "early_stopping": FLAG,
        **dict.fromkeys(("n_rounds", "n_iter_no_change"), COUNT),
        **dict.fromkeys(
            ("max_leaves", "n_folds"),
            Values("a whole number of at least 2", 2, np.inf, whole=True),
        ),
        **dict.fromkeys(("learning_rate", "min_child_weight"), POSITIVE),
        "l2": NOT_NEGATIVE,
        "subsample": Values("a number above 0, at most 1", 1e-30, 1.0),
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons, graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.

        Returns
        -------
        Self
        """
        check_parameters(self)
        X, categories = _encoded(X)
        data = read_data(X, y, qid, sample_weight, decode=True)
        learned = {**data.attributes, "categories_": categories}
        if isinstance(data, Grades):
            tree = build_grade_tree(data, self.per_group)
            learned["n_pairs_"] = tree.n_pairs
            objective, table = self._graded_loss(data, tree)
        else:
            learned |= {"classes_": data.classes, "n_pairs_": len(data)}
            objective, table = self._comparison_loss(data)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        start = start_boosters(
            table.values,
            {
                "learning_rate": float(self.learning_rate),
                "num_leaves": int(self.max_leaves),
                "min_sum_hessian_in_leaf": float(self.min_child_weight),
                "lambda_l2": float(self.l2),
                "bagging_fraction": float(self.subsample),
                "bagging_freq": int(self.subsample < 1.0),
                "seed": seed,
            },
            table.feature_names,
            list(categories),
        )
        growth, curve = self._grow(objective, table, start, seed)
        return self._keep({**learned, **self._learned(objective, growth, curve)})

    def _graded_loss(
        self, data: Grades, tree: GradeTree
    ) -> tuple[Objective, ItemTable]:
        # Rows without a pair have no say, also not in where a feature may be cut.
        paired, places = np.sort(tree.rows), np.zeros(tree.n_rows, dtype=np.int64)
        table, places[paired] = in_order(*data.items.take(paired).unique())
        return GradedLoss(data, places, table.n_items, self.per_group, tree), table

    def _comparison_loss(self, data: Comparisons) -> tuple[Objective, ItemTable]:
        if not data.y.any():
            refuse_only_ties(self, len(data))
        pairs, link = data.pairs, LINKS[self.link]
        distinct, left, right = merge_sides(pairs)
        table, place = in_order(distinct, np.arange(distinct.n_items))
        left, right = place[left], place[right]
        cells = count_comparisons(left, right, data.y, data.weight, table.n_items)
        design = ItemDesign(cells.left, cells.right, table.n_items)
        tie = start_tie(link, cells.counts)
        return ComparisonLoss(design, cells.counts, link, tie), table

    def _grow(
        self,
        objective: Objective,
        table: ItemTable,
        start: Callable[[], Any],
        seed: int,
    ) -> tuple[Growth, Floats | None]:
        """Grow the trees on all data, as many as validation chooses."""

        def make(part: Objective) -> Growth:
            return Growth(part, start(), table.n_items)

        n_rounds, curve = int(self.n_rounds), None
        if self.early_stopping:
            folds = []
            units = objective.units(self.n_folds)
            for held_out in deal_units(units, self.n_folds, seed):
                learned, tested = objective.part(~held_out), objective.part(held_out)
                if learned is not None and tested is not None:
                    folds.append((make(learned), tested))
            if folds:
                curve = self._validate(folds)
                n_rounds = int(np.argmin(curve))
            else:
                warn_user(
                    f"Early stopping found no fold of {self.n_folds} that can be "
                    f"tried, so all {n_rounds} rounds are grown; try a smaller one.",
                    FitWarning,
                )
        growth = make(objective)
        for _ in range(n_rounds):
            growth.add()
        return growth, curve

    def _validate(self, folds: list[tuple[Growth, Objective]]) -> Floats:
        """Grow on every fold until the held-out loss stops falling."""
        curve = [held_out_loss(folds)]
        for _ in range(int(self.n_rounds)):
            for growth, _ in folds:
                growth.add()
            curve.append(held_out_loss(folds))
            if len(curve) - 1 - int(np.argmin(curve)) >= self.n_iter_no_change:
                break
        return np.array(curve)

    def _learned(
        self, objective: Objective, growth: Growth, curve: Floats | None
    ) -> dict[str, Any]:
        nodes, roots = growth.joined()
        utility = growth.utility()
        learned = {
            "nodes_": nodes,
            "roots_": roots,
            "n_iter_": len(growth.trees),
            "loss_curve_": growth.losses(utility),
        }
        if growth.booster is not None:
            learned["booster_"] = growth.booster.free_dataset()
            gain = growth.booster.feature_importance("gain")
            learned["feature_importances_"] = gain
        if curve is not None:
            learned["validation_curve_"] = curve
        if isinstance(objective, ComparisonLoss):
            link, d = objective.link, objective.design.apply(utility)
            t = best_tie(link, d, objective.counts, objective.tie, tol=1e-12)
            learned["tie_"] = float(link.to_parameter(t))
            learned["threshold_"] = float(link.threshold(t))
        if (nodes["feature"] < 0).all():
            warn_flat(
                self,
                "no tree predicts held-out items better than none. Try "
                "early_stopping=False, or a smaller min_child_weight",
            )
        return learned

    @available_if(_knows_ties)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of left, tie and right, after a fit to comparisons.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right, as ``classes_``; rows sum to 1.
        """
        link = LINKS[self.link]
        return link.probabilities(self.difference(X), link.from_parameter(self.tie_))

    def _read_items(self, X: Any) -> ItemTable:
        table = as_table(X, name="X")
        check_features(self, table)
        return encode(table, self.categories_)

    def _utility(self, table: ItemTable) -> Floats:
        check_trees(self.nodes_, self.roots_, self.n_features_in_)
        return sum_trees(table.values, self.nodes_, self.roots_)

    def __getstate__(self) -> dict[str, Any]:
        # Files hold nothing of another library, and the trees are in nodes_.
        state = super().__getstate__()
        return {name: part for name, part in state.items() if name != "booster_"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        if hasattr(self, "classes_"):  # scorers of probabilities ask for a classifier
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags
