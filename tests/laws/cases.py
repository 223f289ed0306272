# SPDX-License-Identifier: BSD-3-Clause
"""The registry: every model, the shapes it takes, and the laws that do not apply.

To put a new model under the laws, add a :class:`Model` to ``MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.laws.comparisons import (
    ARRAY,
    DENSE,
    GAUSSIAN,
    GRAM,
    NAMES,
    OF_FEATURES,
    PANDAS,
    SPARSE,
    Shape,
    comparisons_of,
    gaussian,
    make_comparisons,
)
from tests.laws.same import Data
from tiebreak import (
    BoostedUtility,
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    JudgeBradleyTerry,
    L1Ranker,
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    OnItems,
    PlackettLuce,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)

TRAIN = make_comparisons(1)
OTHER = make_comparisons(2, n_items=9, n_rows=30, n_features=2)
SEPARABLE = make_comparisons(3, separable=True)
OTHER_SEPARABLE = make_comparisons(
    4, n_items=9, n_rows=30, n_features=2, separable=True
)
UNSEEN = make_comparisons(5, n_items=10)

# Every machine is solved far beyond its default, to a relative duality gap of 1e-10.
# By strong convexity (see same.slack) utilities of two solutions of the same program
# can then differ by about 1e-4; what is left of 1e-9 is rounding in the sums.
TIGHT: dict[str, Any] = {"tol": 1e-10}

LINEAR, GAUSS, POLY = 7.0, 1.5, 10.0  # diameters


@dataclass(frozen=True)
class Model:
    """A model under the laws.

    Attributes
    ----------
    name : str
        Appears in the ids of the tests.
    make : callable
        Makes a new, unfitted model.
    shapes : tuple of Shape
        What it takes.
    diameter : float
        Bound on ‖Φ(right) - Φ(left)‖ of any two items of the data, whose features lie
        in [-2, 2]: 4 √3 for the linear kernel, √2 for Gaussian ones.
    atol : float
        Accuracy of utilities that no duality gap speaks of.
    separable, one_group : bool
        Whether the data must be linearly separable, or all items of one group.
    same_as : callable or None
        Makes the model of dense features that learns the same; None: `make` itself.
    without : dict of str to str
        Laws that do not apply, each with the reason.
    """

    name: str
    make: Callable[[], Any]
    shapes: tuple[Shape, ...]
    diameter: float = 0.0
    atol: float = 1e-9
    separable: bool = False
    one_group: bool = False
    same_as: Callable[[], Any] | None = None
    without: dict[str, str] = field(default_factory=dict)


def of_gram(
    name: str,
    machine: type,
    shapes: tuple[Shape, ...],
    *,
    atol: float = 1e-9,
    one_group: bool = False,
    without: dict[str, str] | None = None,
    **parameters: Any,
) -> Model:
    """Register a machine of Gram matrices, which learns as with a Gaussian kernel."""
    return Model(
        name,
        lambda: machine(kernel="precomputed", **parameters),
        shapes,
        diameter=GAUSS,
        atol=atol,
        one_group=one_group,
        same_as=lambda: machine(kernel="rbf", gamma=GAUSSIAN, **parameters),
        without=without or {},
    )


# Few items, and leaves of about one; differences should be all different.
TREES: dict[str, Any] = {"min_child_weight": 0.83, "subsample": 1.0}
CUTS = {"translation": "LightGBM cuts beside zero, and elsewhere halfway"}

NOT_INVARIANT = {"translation": "the polynomial kernel depends on the origin"}
NEAR_TIES = {
    law: "without features many differences are equal but for rounding, which then "
    "decides between thresholds of the same loss"
    for law in (
        "weight_two",
        "weight_zero",
        "swapped_training",
        "row_order",
        "item_order",
        "unused_items",
        "same_as_dense",
    )
}
CONSTANT = {
    law: "predicts one constant, whatever the items are"
    for law in (
        "swapped_training",
        "swapped_prediction",
        "both_signs",
        "difference",
        "exactly_at_the_threshold",
        "signs_and_threshold",
        "identical_items",
        "learns",
    )
}

BY_NAME = {"same_as_dense": "knows items by name only"}
OVER_TIME = {
    law: "learns row after row, so the order of the rows matters"
    for law in ("weight_two", "row_order")
}
DISCOUNTED = {
    law: "the threshold is of the difference discounted for uncertain ratings"
    for law in ("signs_and_threshold", "exactly_at_the_threshold")
}

ALL = (*OF_FEATURES, NAMES)
POLYNOMIAL = {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0}

MODELS = [
    Model(
        "SVMCompare(linear)", lambda: SVMCompare(kernel="linear", **TIGHT), ALL, LINEAR
    ),
    Model(
        "SVMCompare(tie_weight=1)",
        lambda: SVMCompare(kernel="linear", tie_weight=1, **TIGHT),
        (DENSE, ARRAY),
        LINEAR,
    ),
    Model(
        "SVMCompare(poly)",
        lambda: SVMCompare(**POLYNOMIAL, **TIGHT),
        OF_FEATURES,
        POLY,
        without=NOT_INVARIANT,
    ),
    Model("SVMCompare(rbf)", lambda: SVMCompare(C=3.0, **TIGHT), OF_FEATURES, GAUSS),
    of_gram("SVMCompare(precomputed)", SVMCompare, (GRAM,), **TIGHT),
    Model(
        "SVMCompare(callable)",
        lambda: SVMCompare(kernel=gaussian, **TIGHT),
        (DENSE, ARRAY, PANDAS),
        GAUSS,
        same_as=lambda: SVMCompare(gamma=GAUSSIAN, **TIGHT),
    ),
    Model("RankSVM(linear)", lambda: RankSVM(kernel="linear", **TIGHT), ALL, LINEAR),
    Model("RankSVM(rbf)", lambda: RankSVM(**TIGHT), OF_FEATURES, GAUSS),
    Model("RankSVM(both)", lambda: RankSVM(ties="both", **TIGHT), OF_FEATURES, GAUSS),
    Model(
        "RankSVM(both, linear)",
        lambda: RankSVM(ties="both", kernel="linear", **TIGHT),
        (SPARSE, NAMES),
        LINEAR,
    ),
    of_gram("RankSVM(precomputed)", RankSVM, (GRAM,), **TIGHT),
    Model("RankRLS(linear)", lambda: RankRLS(0.5, kernel="linear"), ALL, LINEAR),
    Model("RankRLS(rbf)", lambda: RankRLS(0.5), OF_FEATURES, GAUSS),
    of_gram("RankRLS(precomputed)", RankRLS, (GRAM,), alpha=0.5),
    Model("RankingPursuit(rbf)", lambda: RankingPursuit(5), OF_FEATURES),
    Model(
        "RankingPursuit(linear, plain)",
        lambda: RankingPursuit(3, kernel="linear", backfit=False),
        (DENSE, SPARSE),
        without={"translation": "columns x_i·x move with the origin"},
    ),
    of_gram("RankingPursuit(precomputed)", RankingPursuit, (GRAM,), n_basis=5),
    Model("RankBoost(feature)", lambda: RankBoost(20), OF_FEATURES),
    Model("RankBoost(stump)", lambda: RankBoost(20, weak="stump"), OF_FEATURES),
    Model(
        "RankBoost(majority)",
        lambda: RankBoost(20, feedback="majority"),
        (DENSE, SPARSE),
    ),
    Model(
        "BoostedUtility",
        lambda: BoostedUtility(20, **TREES, early_stopping=False),
        OF_FEATURES,
        without=CUTS,
    ),
    Model(
        "BoostedUtility(stopped)",
        lambda: BoostedUtility(20, **TREES, n_folds=2),
        (DENSE,),
        without=CUTS,
    ),
    Model("L1Ranker", lambda: L1Ranker(0.5, tol=1e-9), OF_FEATURES, atol=1e-7),
    Model(
        "L1Ranker(item-weighted)",
        lambda: L1Ranker(0.5, "item-weighted", tol=1e-9),
        OF_FEATURES,
        atol=1e-7,
    ),
    Model(
        "MaxMarginCompare(lp)",
        MaxMarginCompare,
        OF_FEATURES,
        # A vertex of the same polyhedron; HiGHS allows itself 1e-7.
        atol=1e-6,
        separable=True,
    ),
    Model(
        "MaxMarginCompare(qp)",
        lambda: MaxMarginCompare("qp", tol=1e-10),
        OF_FEATURES,
        atol=1e-4,
        separable=True,
    ),
    Model(
        "MaxMarginCompare(soft)",
        lambda: MaxMarginCompare(C=10.0, kernel="rbf", gamma=GAUSSIAN),
        OF_FEATURES,
        atol=1e-6,
    ),
    Model(
        "ThresholdCompare(RankSVM)",
        lambda: ThresholdCompare(RankSVM(kernel="linear", **TIGHT)),
        OF_FEATURES,
        LINEAR,
    ),
    Model(
        "ThresholdCompare(RankSVM), no features",
        lambda: ThresholdCompare(RankSVM(kernel="linear", **TIGHT)),
        (NAMES,),
        LINEAR,
        without=NEAR_TIES,
    ),
    Model(
        "ThresholdCompare(SVMCompare)",
        lambda: ThresholdCompare(SVMCompare(**TIGHT)),
        OF_FEATURES,
        GAUSS,
    ),
    Model(
        "ThresholdCompare(precomputed)",
        lambda: ThresholdCompare(RankSVM(kernel="precomputed", **TIGHT)),
        (GRAM,),
        GAUSS,
        same_as=lambda: ThresholdCompare(RankSVM(gamma=GAUSSIAN, **TIGHT)),
    ),
    Model(
        "ThresholdCompare(pipeline)",
        lambda: ThresholdCompare(
            make_pipeline(OnItems(StandardScaler()), RankSVM(kernel="linear", **TIGHT))
        ),
        # In an array every row is an item, so a repeated row moves the scaler.
        (DENSE, PANDAS),
        2 * LINEAR,
        without={
            "number_types": "a scaler computes in the precision of the frame it gets"
        },
    ),
    Model("LogisticCompare(davidson)", lambda: LogisticCompare(0.3), ALL),
    Model(
        "LogisticCompare(cumulative)",
        lambda: LogisticCompare(0.3, link="cumulative"),
        ALL,
    ),
    Model("LogisticCompare(probit)", lambda: LogisticCompare(0.3, link="probit"), ALL),
    Model(
        "LogisticCompare(rbf)",
        lambda: LogisticCompare(0.1, kernel="rbf"),
        OF_FEATURES,
        atol=1e-6,
    ),
    of_gram(
        "LogisticCompare(precomputed)", LogisticCompare, (GRAM,), atol=1e-06, alpha=0.1
    ),
    Model(
        "BradleyTerry(davidson)",
        lambda: BradleyTerry(alpha=0.1),
        (NAMES,),
        without=BY_NAME,
    ),
    Model(
        "JudgeBradleyTerry",  # all of one judge; tests/ratings/test_judges.py has more
        lambda: JudgeBradleyTerry(alpha=0.1, tol=1e-8),
        (NAMES,),
        without=BY_NAME,
    ),
    Model("PlackettLuce", lambda: PlackettLuce(0.1), (NAMES,), without=BY_NAME),
    Model(
        "BradleyTerry(rao-kupper)",
        lambda: BradleyTerry("rao-kupper", alpha=0.1),
        (NAMES,),
        without=BY_NAME,
    ),
    Model(
        "BradleyTerry(probit)",
        lambda: BradleyTerry(link="probit", alpha=0.1),
        (NAMES,),
        without=BY_NAME,
    ),
    Model("Elo", Elo, (NAMES,), without=BY_NAME | OVER_TIME),
    Model("Glicko", Glicko, (NAMES,), without=BY_NAME | OVER_TIME | DISCOUNTED),
    Model("Glicko2", Glicko2, (NAMES,), without=BY_NAME | OVER_TIME | DISCOUNTED),
    Model("MajorityCompare", MajorityCompare, ALL, atol=0.0, without=CONSTANT),
    Model(
        "MajorityCompare(tie)",
        lambda: MajorityCompare(tie=True),
        (DENSE,),
        atol=0.0,
        without=CONSTANT,
    ),
]


def make_data(model: Model, shape: Shape) -> Data:
    """Gather what the laws need for a model and a shape."""
    train = SEPARABLE if model.separable else TRAIN
    # Without features only items that were compared have a utility.
    known = UNSEEN if shape is not NAMES else train
    return Data(
        shape=shape,
        shapes=model.shapes,
        train=train,
        asked=comparisons_of(known.items, known.names),
        other=OTHER_SEPARABLE if model.separable else OTHER,
        atol=model.atol,
        diameter=model.diameter,
        same_as=model.same_as or model.make,
    )


def _is_comparer(model: Any) -> bool:
    # The trees become a classifier when they learn from comparisons.
    return is_classifier(model) or isinstance(model, BoostedUtility)


# Laws that speak of something that not every model or shape has.
NEEDS: dict[str, Callable[[Model, Shape], bool]] = {
    "classes": lambda model, shape: _is_comparer(model.make()),
    "ranker": lambda model, shape: not _is_comparer(model.make()),
    "feature_names": lambda model, shape: shape.named,
    "no_feature_names": lambda model, shape: not shape.named,
    "feature_count": lambda model, shape: shape is not NAMES,
    "identical_items": lambda model, shape: shape is not NAMES,
    "number_types": lambda model, shape: shape.features,
    "float32_is_close": lambda model, shape: shape.features,
    "translation": lambda model, shape: shape.features,
    "item_order": lambda model, shape: shape.table,
    "unused_items": lambda model, shape: shape.table,
    "same_as_dense": lambda model, shape: shape is not DENSE or bool(model.same_as),
}
