# SPDX-License-Identifier: BSD-3-Clause
"""The registry of graded items: every model, its shapes, and laws that do not apply.

To put a new model under the laws, add a :class:`GradedModel` to ``MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.laws.cases import (
    GAUSS,
    LINEAR,
    POLY,
    POLYNOMIAL,
    TIGHT,
    UNSEEN,
    Model,
)
from tests.laws.comparisons import GAUSSIAN, comparisons_of, gaussian
from tests.laws.graded import (
    DENSE,
    GRAM,
    GRAM_ORDERS,
    LISTS,
    ORDERS,
    PANDAS,
    SPARSE,
    TABLES,
    Shape,
    make_graded,
)
from tests.laws.graded_alike import GradedData
from tiebreak import OrdinalSVM, RankSVM, SwapSVM

__all__ = ["CASES", "MODELS", "law_applies", "make_data"]

TRAIN = make_graded(6)
OTHER = make_graded(2, sizes=(5, 4), n_features=2)
# Grades of one group are on one scale.
ONE_GROUP = make_graded(6, sizes=(25,))
OTHER_GROUP = make_graded(4, sizes=(9,), n_features=2)


@dataclass(frozen=True)
class GradedModel(Model):
    """A model under the laws of graded items.

    Attributes
    ----------
    one_group : bool
        Whether all items must be of one group.
    """

    one_group: bool = False


# Solved far beyond the default, as for comparisons: see `tests.laws.cases`.
NEWTON: dict[str, Any] = {"loss": "squared_hinge", "tol": 1e-12}

NOT_INVARIANT = {"translation": "the polynomial kernel depends on the origin"}
MEAN = {
    law: "every group counts once, however many pairs it has or weighs"
    for law in ("groups_are_sums",)
}
FUNCTION = {"model_file": "a function cannot be stored in a file"}
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

ALL = (*TABLES, *LISTS)

MODELS = [
    GradedModel(
        "RankSVM(linear)",
        lambda: RankSVM(kernel="linear", **NEWTON),
        ALL,
        LINEAR,
    ),
    GradedModel("RankSVM(rbf)", lambda: RankSVM(C=3.0, **NEWTON), ALL, GAUSS),
    GradedModel(
        "RankSVM(poly)",
        lambda: RankSVM(**POLYNOMIAL, **NEWTON),
        (DENSE, SPARSE, ORDERS),
        POLY,
        without=NOT_INVARIANT,
    ),
    GradedModel(
        "RankSVM(precomputed)",
        lambda: RankSVM(kernel="precomputed", **NEWTON),
        (GRAM, GRAM_ORDERS),
        GAUSS,
        same_as=lambda: RankSVM(gamma=GAUSSIAN, **NEWTON),
    ),
    GradedModel(
        "RankSVM(callable)",
        lambda: RankSVM(kernel=gaussian, **NEWTON),
        (DENSE, ORDERS),
        GAUSS,
        same_as=lambda: RankSVM(gamma=GAUSSIAN, **NEWTON),
        without=FUNCTION,
    ),
    GradedModel(
        "RankSVM(linear, mean)",
        lambda: RankSVM(kernel="linear", per_group="mean", **NEWTON),
        (DENSE, SPARSE, ORDERS),
        LINEAR,
        without=MEAN,
    ),
    GradedModel(
        "RankSVM(rbf, mean)",
        lambda: RankSVM(C=10.0, per_group="mean", **NEWTON),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
        without=MEAN,
    ),
    GradedModel(
        "RankSVM(hinge, linear)",
        lambda: RankSVM(kernel="linear", **TIGHT),
        (DENSE, SPARSE, ORDERS),
        LINEAR,
    ),
    GradedModel(
        "RankSVM(hinge, rbf)",
        lambda: RankSVM(C=3.0, **TIGHT),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
    ),
    GradedModel(
        "RankSVM(hinge, precomputed, mean)",
        lambda: RankSVM(C=10.0, kernel="precomputed", per_group="mean", **TIGHT),
        (GRAM, GRAM_ORDERS),
        GAUSS,
        same_as=lambda: RankSVM(C=10.0, gamma=GAUSSIAN, per_group="mean", **TIGHT),
        without=MEAN,
    ),
    GradedModel(
        "RankSVM(drawn)",
        lambda: RankSVM(kernel="linear", pairs_per_item=2, random_state=0, **TIGHT),
        (DENSE, SPARSE, PANDAS),
        LINEAR,
        without=DRAWN,
    ),
    GradedModel(
        "RankSVM(drawn, rbf, mean)",
        lambda: RankSVM(
            C=10.0, pairs_per_item=3, per_group="mean", random_state=0, **NEWTON
        ),
        (DENSE, PANDAS),
        GAUSS,
        without=DRAWN,
    ),
    GradedModel(
        "RankSVM(drawn, precomputed)",
        lambda: RankSVM(
            kernel="precomputed", pairs_per_item=2, random_state=0, **NEWTON
        ),
        (GRAM, GRAM_ORDERS),
        GAUSS,
        same_as=lambda: RankSVM(
            gamma=GAUSSIAN, pairs_per_item=2, random_state=0, **NEWTON
        ),
        without=DRAWN,
    ),
    GradedModel(
        "SwapSVM(linear)",
        lambda: SwapSVM(kernel="linear", **TIGHT),
        ALL,
        LINEAR,
        without=NO_PAIRS,
    ),
    GradedModel(
        "SwapSVM(rbf)",
        lambda: SwapSVM(C=0.5, **TIGHT),
        (DENSE, PANDAS, ORDERS),
        GAUSS,
        without=NO_PAIRS,
    ),
    GradedModel(
        "SwapSVM(precomputed)",
        lambda: SwapSVM(kernel="precomputed", **TIGHT),
        (GRAM, GRAM_ORDERS),
        GAUSS,
        same_as=lambda: SwapSVM(gamma=GAUSSIAN, **TIGHT),
        without=NO_PAIRS,
    ),
    GradedModel(
        "OrdinalSVM(linear)",
        lambda: OrdinalSVM(kernel="linear", **TIGHT),
        TABLES,
        LINEAR,
        without=OF_ITEMS,
        one_group=True,
    ),
    GradedModel(
        "OrdinalSVM(rbf)",
        lambda: OrdinalSVM(C=3.0, **TIGHT),
        TABLES,
        GAUSS,
        without=OF_ITEMS,
        one_group=True,
    ),
    GradedModel(
        "OrdinalSVM(precomputed)",
        lambda: OrdinalSVM(kernel="precomputed", **TIGHT),
        (GRAM,),
        GAUSS,
        same_as=lambda: OrdinalSVM(gamma=GAUSSIAN, **TIGHT),
        without=OF_ITEMS,
        one_group=True,
    ),
]

CASES = [(model, shape) for model in MODELS for shape in model.shapes]


def make_data(model: GradedModel, shape: Shape) -> GradedData:
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


def _draws_from_lists(model: GradedModel, shape: Shape) -> bool:
    return shape.lists and "drawn" in model.name


# Laws that speak of something that not every shape has.
NEEDS: dict[str, Callable[[GradedModel, Shape], bool]] = {
    "feature_names": lambda model, shape: shape.named,
    "no_feature_names": lambda model, shape: not shape.named,
    "group_names": lambda model, shape: not shape.lists,
    "increasing_grades": lambda model, shape: not shape.lists,
    "grades_within_groups": lambda model, shape: not shape.lists,
    "grades_of_orders": lambda model, shape: shape is DENSE,
    "same_as_dense": lambda model, shape: (
        (shape is not DENSE or bool(model.same_as))
        and not _draws_from_lists(model, shape)
    ),
    "number_types": lambda model, shape: shape.features,
    "memory_layout": lambda model, shape: shape is DENSE,
    "translation": lambda model, shape: shape.features,
}


def law_applies(law: str, model: GradedModel, shape: Shape) -> bool:
    """Say whether a law has a meaning for a model and a shape."""
    has_what_it_needs = NEEDS.get(law, lambda model, shape: True)
    return law not in model.without and has_what_it_needs(model, shape)
