# SPDX-License-Identifier: BSD-3-Clause
"""The registry of graded items: every model, its shapes, and laws that do not apply.

To put a new model under the laws, add a :class:`Model` to ``MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.linear_model import LinearRegression

from tests.laws.cases import (
    CUTS,
    GAUSS,
    LINEAR,
    NOT_INVARIANT,
    POLY,
    POLYNOMIAL,
    TIGHT,
    TREES,
    UNSEEN,
    Model,
    of_gram,
)
from tests.laws.comparisons import comparisons_of
from tests.laws.graded import (
    DENSE,
    GRAM,
    GRAM_ORDERS,
    GRAPH,
    LISTS,
    ORDERS,
    PANDAS,
    SPARSE,
    TABLES,
    Shape,
    make_graded,
)
from tests.laws.same import GradedData
from tiebreak import (
    BoostedUtility,
    CoRankingPursuit,
    ExpectedRankRegression,
    L1Ranker,
    MatchingPursuit,
    OrderSVM,
    OrdinalSVM,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SwapSVM,
)

TRAIN = make_graded(6)
OTHER = make_graded(2, sizes=(5, 4), n_features=2)
# Grades of one group are on one scale.
ONE_GROUP = make_graded(6, sizes=(25,))
OTHER_GROUP = make_graded(4, sizes=(9,), n_features=2)


# Solved far beyond the default, as for comparisons: see `tests.laws.cases`.
NEWTON: dict[str, Any] = {"loss": "squared_hinge", "tol": 1e-12}

MEAN = {
    "groups_are_sums": "every group counts once, however many pairs it has or weighs"
}
DRAWN = {
    law: "draws partners for the rows in the order that they have"
    for law in (
        "weight_two",
        "row_order",
        "groups_are_sums",
        "grades_of_orders",
        "number_of_pairs",
    )
}

SQUARES = {
    "increasing_grades": "how far grades are apart matters",
    "idle_groups": "equal grades ask for equal utilities",
    "number_of_pairs": "pairs of equal grades are pairs too",
}

PURSUIT = SQUARES | {"certificate": "takes greedy steps, and claims no optimum"}
LINEAR_COLUMNS = {"translation": "columns x_i·x move with the origin"}
SINGLE_GRADES = {
    law: "fits the grades themselves, whatever the groups are"
    for law in ("groups_are_sums", "groups_matter", "grades_within_groups")
} | {"score_of_training": "grades differ more between groups than inside"}

BOOSTED = {"certificate": "has rounds, not a tolerance"}
MAJORITY = {
    "number_of_pairs": "each two items are one pair",
    "groups_are_sums": "a share of lists, which more of them need not change",
}
REGRESSION = {
    "refit_after_pairs": "does not take comparisons",
    "certificate": "the regressor has its own",
    "number_of_pairs": "learns from items and positions, not from pairs",
    "groups_are_sums": "rows of weight √2 are not two lists",
}

NO_PAIRS = {"refit_after_pairs": "does not take comparisons"}
OF_ITEMS = (
    NO_PAIRS
    | {
        "grades_of_orders": "does not take orders",
        "number_of_pairs": "learns from items and thresholds, not from pairs",
    }
    | {
        law: "takes one group only"
        for law in (
            "groups_are_sums",
            "groups_matter",
            "grades_within_groups",
            "idle_groups",
        )
    }
)

OF_CUTS = NO_PAIRS | {
    "number_of_pairs": "learns from items and cuts of lists, not from pairs"
}
OF_CUT_ROWS = OF_CUTS | {
    "weight_two": "a second row takes a place of its own and moves those below it",
    "groups_are_sums": "the weight of a row multiplies its terms, not those of pairs",
}

# Vertices of the same polyhedron, of which HiGHS knows the sides to 1e-10.
PROGRAM: dict[str, Any] = {"atol": 1e-7}
# One group of so many grades is what slacks per item pay for, with a warning.
ONE_FOR_ALL = {
    law: "as one group the slacks pay for all pairs, which is another test's business"
    for law in ("groups_matter", "score_needs_groups")
}
PER_ITEM = ONE_FOR_ALL | {
    "groups_are_sums": "slacks are of items, so twice is a weight of 2, not √2"
}

ALL = (*TABLES, *LISTS)
GRAMS = (GRAM, GRAM_ORDERS)

MODELS = [
    Model("RankSVM(linear)", lambda: RankSVM(kernel="linear", **NEWTON), ALL, LINEAR),
    Model("RankSVM(rbf)", lambda: RankSVM(C=3.0, **NEWTON), ALL, GAUSS),
    of_gram("RankSVM(precomputed)", RankSVM, GRAMS, **NEWTON),
    Model(
        "RankSVM(linear, mean)",
        lambda: RankSVM(kernel="linear", per_group="mean", **NEWTON),
        (DENSE, SPARSE, ORDERS),
        LINEAR,
        without=MEAN,
    ),
    Model(
        "RankSVM(hinge, linear)",
        lambda: RankSVM(kernel="linear", **TIGHT),
        (DENSE, SPARSE, ORDERS),
        LINEAR,
    ),
    Model(
        "RankSVM(hinge, rbf)",
        lambda: RankSVM(C=3.0, **TIGHT),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
    ),
    of_gram(
        "RankSVM(hinge, precomputed, mean)",
        RankSVM,
        GRAMS,
        without=MEAN,
        C=10.0,
        per_group="mean",
        **TIGHT,
    ),
    Model(
        "RankSVM(drawn)",
        lambda: RankSVM(kernel="linear", pairs_per_item=2, random_state=0, **TIGHT),
        (DENSE, SPARSE, PANDAS),
        LINEAR,
        without=DRAWN,
    ),
    of_gram(
        "RankSVM(drawn, precomputed)",
        RankSVM,
        GRAMS,
        without=DRAWN,
        pairs_per_item=2,
        random_state=0,
        **NEWTON,
    ),
    Model("L1Ranker", lambda: L1Ranker(1.5, tol=1e-9), ALL, **PROGRAM),
    Model(
        "L1Ranker(item)",
        lambda: L1Ranker(0.3, "item", tol=1e-9),
        (DENSE, SPARSE, ORDERS),
        without=PER_ITEM,
        **PROGRAM,
    ),
    Model(
        "L1Ranker(item-weighted)",
        lambda: L1Ranker(1.5, "item-weighted", tol=1e-9),
        (DENSE, PANDAS, ORDERS),
        without=ONE_FOR_ALL,
        **PROGRAM,
    ),
    Model(
        "SwapSVM(linear)",
        lambda: SwapSVM(kernel="linear", **TIGHT),
        ALL,
        LINEAR,
        without=NO_PAIRS,
    ),
    Model(
        "SwapSVM(rbf)",
        lambda: SwapSVM(C=0.5, **TIGHT),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
        without=NO_PAIRS,
    ),
    of_gram("SwapSVM(precomputed)", SwapSVM, GRAMS, without=NO_PAIRS, **TIGHT),
    Model(
        "RankRLS(linear)",
        lambda: RankRLS(kernel="linear"),
        ALL,
        LINEAR,
        without=SQUARES,
    ),
    Model("RankRLS(rbf)", lambda: RankRLS(), ALL, GAUSS, without=SQUARES),
    Model(
        "RankRLS(poly, mean)",
        lambda: RankRLS(0.5, **POLYNOMIAL, per_group="mean"),
        (DENSE, SPARSE, ORDERS),
        POLY,
        without=SQUARES | MEAN | NOT_INVARIANT,
    ),
    of_gram("RankRLS(precomputed)", RankRLS, GRAMS, without=SQUARES),
    Model(
        "RankRLS(cg)",
        lambda: RankRLS(0.5, solver="cg", tol=1e-16),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
        without=SQUARES,
    ),
    Model("RankingPursuit(rbf)", lambda: RankingPursuit(5), ALL, without=PURSUIT),
    Model("RankRLS(graph)", lambda: RankRLS(0.3), (GRAPH,), GAUSS, without=SQUARES),
    Model(
        "RankingPursuit(graph)", lambda: RankingPursuit(5), (GRAPH,), without=PURSUIT
    ),
    Model(
        "CoRankingPursuit(graph)",
        lambda: CoRankingPursuit(4, nu=0.1),
        (GRAPH,),
        without=PURSUIT | NO_PAIRS | LINEAR_COLUMNS,
    ),
    Model(
        "RankingPursuit(linear, plain)",
        lambda: RankingPursuit(3, kernel="linear", backfit=False),
        (DENSE, SPARSE, ORDERS),
        without=PURSUIT | LINEAR_COLUMNS,
    ),
    Model(
        "RankingPursuit(prefit, mean)",
        lambda: RankingPursuit(6, prefit=True, per_group="mean", alpha=0),
        (DENSE, PANDAS, ORDERS),
        without=PURSUIT | MEAN,
    ),
    of_gram(
        "RankingPursuit(precomputed)",
        RankingPursuit,
        GRAMS,
        without=PURSUIT
        | {"refit_after_pairs": "the linear kernel of these pairs has two columns"},
        n_basis=5,
        alpha=0,
    ),
    Model(
        "MatchingPursuit(rbf)",
        lambda: MatchingPursuit(5),
        (DENSE, SPARSE, PANDAS, ORDERS),
        without=PURSUIT | NO_PAIRS | SINGLE_GRADES,
    ),
    of_gram(
        "MatchingPursuit(precomputed)",
        MatchingPursuit,
        GRAMS,
        without=PURSUIT | NO_PAIRS | SINGLE_GRADES,
        n_basis=5,
    ),
    Model(
        "CoRankingPursuit",
        lambda: CoRankingPursuit(4, nu=0.1),
        (DENSE, SPARSE, PANDAS, ORDERS),
        without=PURSUIT | NO_PAIRS | LINEAR_COLUMNS,
    ),
    Model(
        "CoRankingPursuit(functions, shared)",
        lambda: CoRankingPursuit(
            8,
            views=[{"gamma": 0.2}, {"gamma": 0.8}],
            nu=0.01,
            objective="functions",
            indices="shared",
        ),
        (DENSE, PANDAS, ORDERS),
        without=PURSUIT | NO_PAIRS,
    ),
    Model("RankBoost(feature)", lambda: RankBoost(20), ALL, without=BOOSTED),
    Model(
        "RankBoost(stump)", lambda: RankBoost(20, weak="stump"), ALL, without=BOOSTED
    ),
    Model(
        "RankBoost(majority)",
        lambda: RankBoost(20, weak="stump", feedback="majority"),
        (DENSE, SPARSE, ORDERS),
        without=BOOSTED | MAJORITY,
    ),
    Model(
        "BoostedUtility",
        lambda: BoostedUtility(20, **TREES, early_stopping=False),
        ALL,
        without=BOOSTED | MEAN | CUTS,
    ),
    Model(
        "BoostedUtility(sum, drawn)",
        lambda: BoostedUtility(
            20, per_group="sum", min_child_weight=0.83, early_stopping=False
        ),
        (DENSE, ORDERS),
        without=BOOSTED | CUTS,
    ),
    Model(
        "ExpectedRankRegression",
        lambda: ExpectedRankRegression(LinearRegression(tol=1e-14)),
        ALL,
        atol=1e-8,
        without=REGRESSION,
    ),
    Model(
        "OrderSVM(linear)",
        lambda: OrderSVM(kernel="linear", **TIGHT),
        TABLES,
        LINEAR,
        without=OF_CUT_ROWS,
    ),
    Model(
        "OrderSVM(linear, lists)",
        lambda: OrderSVM(kernel="linear", **TIGHT),
        LISTS,
        LINEAR,
        without=OF_CUTS,
    ),
    Model(
        "OrderSVM(rbf)",
        lambda: OrderSVM(0.5, coupling=0.3, **TIGHT),
        (DENSE, PANDAS),
        GAUSS,
        without=OF_CUT_ROWS,
    ),
    of_gram("OrderSVM(precomputed)", OrderSVM, (GRAM,), without=OF_CUT_ROWS, **TIGHT),
    of_gram(
        "OrderSVM(precomputed, lists)",
        OrderSVM,
        (GRAM_ORDERS,),
        without=OF_CUTS,
        **TIGHT,
    ),
    Model(
        "OrdinalSVM(linear)",
        lambda: OrdinalSVM(kernel="linear", **TIGHT),
        TABLES,
        LINEAR,
        without=OF_ITEMS,
        one_group=True,
    ),
    Model(
        "OrdinalSVM(rbf)",
        lambda: OrdinalSVM(C=3.0, **TIGHT),
        TABLES,
        GAUSS,
        without=OF_ITEMS,
        one_group=True,
    ),
    of_gram(
        "OrdinalSVM(precomputed)",
        OrdinalSVM,
        (GRAM,),
        without=OF_ITEMS,
        one_group=True,
        **TIGHT,
    ),
]


def make_data(model: Model, shape: Shape) -> GradedData:
    """Gather what the laws need for a model and a shape."""
    return GradedData(
        shape=shape,
        shapes=model.shapes,
        train=ONE_GROUP if model.one_group else TRAIN,
        asked=comparisons_of(UNSEEN.items, UNSEEN.names),
        other=OTHER_GROUP if model.one_group else OTHER,
        atol=model.atol,
        diameter=model.diameter,
        same_as=model.same_as or model.make,
    )


def _draws_from_lists(model: Model, shape: Shape) -> bool:
    return shape.lists and "drawn" in model.name


def _has_other_grades(model: Model, shape: Shape) -> bool:
    """Positions in lists are other grades, where more than their order matters."""
    other = {"increasing_grades", "grades_of_orders"}  # lists may have another loss
    return shape.lists and bool(other & set(model.without))


# Laws that speak of something that not every shape has.
NEEDS: dict[str, Callable[[Model, Shape], bool]] = {
    "feature_names": lambda model, shape: shape.named,
    "no_feature_names": lambda model, shape: not shape.named,
    "group_names": lambda model, shape: not shape.lists and shape is not GRAPH,
    "score_of_training": lambda model, shape: shape is not GRAPH,  # no groups
    "score_needs_groups": lambda model, shape: shape is not GRAPH,
    "increasing_grades": lambda model, shape: not shape.lists,
    "grades_within_groups": lambda model, shape: not shape.lists,
    "grades_of_orders": lambda model, shape: shape is DENSE,
    "same_as_dense": lambda model, shape: (
        (shape is not DENSE or bool(model.same_as))
        and not _draws_from_lists(model, shape)
        and not _has_other_grades(model, shape)
    ),
    "number_types": lambda model, shape: shape.features,
    "memory_layout": lambda model, shape: shape is DENSE,
    "translation": lambda model, shape: shape.features,
}
