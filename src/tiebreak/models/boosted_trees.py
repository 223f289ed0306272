# SPDX-License-Identifier: BSD-3-Clause
"""Trees grown by LightGBM, XGBoost or CatBoost, one at a time, and sums of them.

A library gets a gradient and a curvature for every row and grows one tree, which is
read at once into `NODE` records: a range of nodes, the root first and every node before
its children. An item goes to the left child if its feature is at most the cut. XGBoost
and CatBoost compare in single precision; their cuts are moved to the double that
separates the same numbers. So a prediction needs none of the libraries, and a model
file holds numbers instead of a text that a library would parse.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads, n_threads

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NODE = np.dtype(
    [
        ("feature", np.int32),  # -1 in a leaf
        ("cut", np.float64),
        ("left", np.int32),  # node that follows if the feature is at most the cut
        ("right", np.int32),
        ("value", np.float64),  # of a leaf
    ]
)
Nodes = NDArray[Any]  # of NODE

# Rows of sparse items that are made dense at a time.
BLOCK = 4096
# Smaller tables gain nothing from a second thread, and much time is lost with it where
# other programs run too.
MANY_VALUES = 2_000_000

# Libraries. Each gives a function that starts a new sum of trees, which is a function
# that grows one tree for a gradient and a curvature.

Grow = Callable[[Floats, Floats], Nodes]


class TreeSettings(NamedTuple):
    """What a tree may look like, in words that all three libraries know."""

    max_leaves: int
    min_child_weight: float
    l2: float
    subsample: float
    seed: int
    others: dict[str, Any]


_LEAST = 1e-35  # LightGBM's kZeroThreshold


def lightgbm_trees(values: Any, settings: TreeSettings) -> Callable[[], Grow]:
    """Grow trees leaf by leaf, with histograms of doubles."""
    library = import_booster("lightgbm")
    params = {
        "objective": "none",
        "learning_rate": 1.0,
        "num_leaves": settings.max_leaves,
        "min_sum_hessian_in_leaf": settings.min_child_weight,
        "min_data_in_leaf": 0,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "lambda_l2": settings.l2,
        "bagging_fraction": settings.subsample,
        "bagging_freq": int(settings.subsample < 1.0),
        "seed": settings.seed,
        "num_threads": threads_for(values),
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **settings.others,
    }
    label = np.zeros(values.shape[0])
    data = library.Dataset(values, label=label, params=params).construct()
    low, high = (
        found if isinstance(found, np.ndarray) else np.ravel(found.toarray())
        for found in (values.min(axis=0), values.max(axis=0))
    )
    largest, splits = np.maximum(-low, high), (low < high).any()
    if (tiny := np.flatnonzero((largest > 0.0) & (largest < _LEAST))).size:
        raise ValueError(
            f"column {tiny[0]} of the features is below {_LEAST:g} everywhere, which "
            "LightGBM takes for 0. Scale the features, for example with StandardScaler."
        )
    alone = np.array([(-1, 0.0, 0, 0, 0.0)], dtype=NODE)

    def start() -> Grow:
        if not splits:  # all features are constant, which LightGBM does not take
            return lambda gradient, curvature: alone
        booster = library.Booster(params, data)

        def grow(gradient: Floats, curvature: Floats) -> Nodes:
            if booster.update(fobj=lambda *_: (gradient, curvature)):
                return alone  # it has no split
            last = booster.current_iteration() - 1
            dumped = booster.dump_model(num_iteration=1, start_iteration=last)
            return read_lightgbm(dumped["tree_info"][0]["tree_structure"])

        return grow

    return start


def read_lightgbm(root: dict[str, Any]) -> Nodes:
    """Read the nested dictionary of a tree, from above."""
    nodes: list[tuple[int, float, int, int, float]] = []
    waiting = [(root, -1, "")]
    while waiting:
        node, parent, side = waiting.pop()
        if parent >= 0:
            feature, cut, left, right, value = nodes[parent]
            here = len(nodes)
            left, right = (here, right) if side == "left" else (left, here)
            nodes[parent] = feature, cut, left, right, value
        if "split_feature" not in node:
            nodes.append((-1, 0.0, 0, 0, float(node.get("leaf_value", 0.0))))
            continue
        waiting.append((node["right_child"], len(nodes), "right"))
        waiting.append((node["left_child"], len(nodes), "left"))
        nodes.append((node["split_feature"], node["threshold"], 0, 0, 0.0))
    return np.array(nodes, dtype=NODE)


def xgboost_trees(values: Any, settings: TreeSettings) -> Callable[[], Grow]:
    """Grow trees leaf by leaf, with histograms of single precision."""
    library = import_booster("xgboost")
    params = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": settings.max_leaves,
        "min_child_weight": settings.min_child_weight,
        "lambda": settings.l2,
        "subsample": settings.subsample,
        "eta": 1.0,
        "base_score": 0.0,
        "seed": settings.seed,
        "nthread": threads_for(values),
        "verbosity": 0,
        **settings.others,
    }
    # In a sparse matrix XGBoost takes for missing what is zero.
    data = library.DMatrix(as_single(values, "XGBoost"), nthread=threads_for(values))

    def start() -> Grow:
        booster = library.Booster(params, [data])

        def grow(gradient: Floats, curvature: Floats) -> Nodes:
            last = booster.num_boosted_rounds()
            booster.boost(data, iteration=last, grad=gradient, hess=curvature)
            dumped = json.loads(booster[last : last + 1].save_raw("json"))
            model = dumped["learner"]["gradient_booster"]["model"]
            return read_xgboost(model["trees"][0])

        return grow

    return start


def read_xgboost(tree: dict[str, Any]) -> Nodes:
    """Read the arrays of a tree; values below the cut, not at it, go left."""
    left = np.asarray(tree["left_children"], dtype=np.int32)
    inner = left >= 0
    given = np.asarray(tree["split_conditions"], dtype=np.float32)
    nodes = np.zeros(len(left), dtype=NODE)
    nodes["feature"] = np.where(inner, tree["split_indices"], -1)
    nodes["left"] = np.where(inner, left, 0)
    nodes["right"] = np.where(inner, tree["right_children"], 0)
    below = np.nextafter(given, np.float32(-np.inf))
    nodes["cut"] = np.where(inner, last_double(below, given), 0.0)
    nodes["value"] = np.where(inner, 0.0, given)
    return nodes


def catboost_trees(values: Any, settings: TreeSettings) -> Callable[[], Grow]:
    """Grow symmetric trees, which split all nodes of a level in the same way."""
    library = import_booster("catboost")
    params = {
        "iterations": 1,
        "learning_rate": 1.0,
        "loss_function": "RMSE",
        "boost_from_average": False,
        "depth": max(1, round(math.log2(settings.max_leaves))),
        "l2_leaf_reg": settings.l2,
        "leaf_estimation_iterations": 1,
        **(
            {"bootstrap_type": "MVS", "subsample": settings.subsample}
            if settings.subsample < 1.0
            else {"bootstrap_type": "No"}
        ),
        "thread_count": threads_for(values),
        "allow_writing_files": False,
        "logging_level": "Silent",
        **settings.others,
    }
    # It refuses targets that are all equal, and looks at the label only.
    label = np.where(np.arange(values.shape[0]) == 0, 1e-30, 0.0)
    pool = library.Pool(as_single(values, "CatBoost"), label=label)
    pool.quantize()

    def start() -> Grow:
        seeds = count(settings.seed)  # its trees have random parts, each others

        def grow(gradient: Floats, curvature: Floats) -> Nodes:
            # Least squares of -g/h with weights h has the same gradient and Hessian.
            # Its own objectives in Python see blocks of rows, and pairs are between
            # blocks.
            pool.set_weight(curvature)
            pool.set_baseline((gradient / curvature)[:, None])
            seed = {"random_seed": next(seeds) % 2**31}
            model = library.CatBoost(params | seed).fit(pool)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "tree.json"
                model.save_model(str(path), format="json")
                trees = json.loads(path.read_text())["oblivious_trees"]
            return read_catboost(trees[0])

        return grow

    return start


def read_catboost(tree: dict[str, Any]) -> Nodes:
    """Read a symmetric tree; the first split is the lowest bit of a leaf's number."""
    splits = (tree.get("splits") or [])[::-1]
    depth = len(splits)
    nodes = np.zeros(2 ** (depth + 1) - 1, dtype=NODE)
    nodes["feature"] = -1
    for level, split in enumerate(splits):
        here = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        border = np.float32(split["border"])
        nodes["feature"][here] = split["float_feature_index"]
        nodes["cut"][here] = last_double(border, np.nextafter(border, np.float32(1e38)))
        nodes["left"][here], nodes["right"][here] = 2 * here + 1, 2 * here + 2
    nodes["value"][2**depth - 1 :] = tree["leaf_values"]
    return nodes


def last_double(low: Any, high: Any) -> Any:
    """Give the largest double that is rounded to the lower of two single neighbors."""
    middle = 0.5 * (np.float64(low) + np.float64(high))
    to_low = np.asarray(middle, dtype=np.float32) <= low
    return np.where(to_low, middle, np.nextafter(middle, -np.inf))


def as_single(values: Any, library: str) -> NDArray[np.float32]:
    """Make a dense table of single precision."""
    dense = values.toarray() if hasattr(values, "toarray") else values
    largest = float(np.abs(dense).max(initial=0.0))
    if largest > float(np.finfo(np.float32).max):
        raise ValueError(
            f"{library} computes in single precision, and the largest feature is "
            f"{largest:.3g}. Scale the features, or use booster='lightgbm'."
        )
    return dense.astype(np.float32)


def threads_for(values: Any) -> int:
    """Give one thread to a small table, for which others would only be waited for."""
    n_rows, n_features = values.shape
    return n_threads() if n_rows * n_features >= MANY_VALUES else 1


def import_booster(name: str) -> Any:
    """Import a library of the extra ``boost``."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"BoostedUtility(booster={name!r}) needs {name}, which cannot be imported "
            f'({error}). Install it with: pip install "tiebreak[boost]"'
        ) from error


BOOSTERS = {
    "lightgbm": lightgbm_trees,
    "xgboost": xgboost_trees,
    "catboost": catboost_trees,
}
# What the class decides itself, in the words of the libraries.
OWN = {
    *("application", "objective", "loss", "loss_function", "num_class"),
    *("booster", "boosting", "boosting_type", "linear_tree"),
    *("eta", "learning_rate", "max_leaves", "num_leaves"),
    *("iterations", "num_iterations", "num_boost_round", "num_round", "num_trees"),
    "n_estimators",
}


@njit(cache=True, nogil=True)
def add_trees(out, X, feature, cut, left, right, value, roots):  # type: ignore[no-untyped-def]
    """Add the values of the leaves in which the rows of X end, in place."""
    for i in range(len(X)):
        for root in roots:
            k = root
            while feature[k] >= 0:
                k = left[k] if X[i, feature[k]] <= cut[k] else right[k]
            out[i] += value[k]


def sum_trees(values: Any, nodes: Nodes, roots: Codes) -> Floats:
    """Sum the trees for rows of features, dense or CSR."""
    feature, cut, left, right, value = (
        np.ascontiguousarray(nodes[name]) for name in NODE.names or ()
    )
    out = np.zeros(values.shape[0])

    def add(rows: slice) -> None:
        block = values[rows]
        dense = block.toarray() if hasattr(block, "toarray") else block
        add_trees(out[rows], dense, feature, cut, left, right, value, roots)

    in_threads(add, chunks(len(out), BLOCK))
    return out


def check_trees(nodes: Any, roots: Any, n_features: int) -> None:
    """Refuse trees that read outside their arrays or have no end."""
    # A model file can hold any numbers, and compiled code does not look.
    here = np.arange(len(nodes))
    fine = nodes.dtype == NODE and nodes.ndim == 1 and roots.dtype == np.int64
    if fine:
        inner = nodes["feature"] >= 0
        least = np.minimum(nodes["left"], nodes["right"])
        most = np.maximum(nodes["left"], nodes["right"])
        fine = (nodes["feature"] < n_features).all()
        fine &= (least[inner] > here[inner]).all() and (most[inner] < len(nodes)).all()
        fine &= ((roots >= 0) & (roots < len(nodes))).all()
    if not fine:
        raise ValueError(
            "The trees of this BoostedUtility are damaged: nodes_ or roots_ refer to "
            "nodes or features that do not exist. Fit it again, or use the original "
            "file."
        )
