# SPDX-License-Identifier: BSD-3-Clause
"""Trees grown by LightGBM, one at a time, and sums of them.

Each tree is read at once into `NODE` records: a range of nodes, the root first and
every node before its children. An item goes to the left child if its feature is at most
the cut. So predictions and model files do not need LightGBM.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads, n_threads

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

# Grows one tree for a gradient and a curvature.
Grow = Callable[[Floats, Floats], Nodes]


def lightgbm_trees(values: Any, own: dict[str, Any]) -> Callable[[], Grow]:
    """Give a function that starts a new sum of trees."""
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(
            f"BoostedUtility needs lightgbm, which cannot be imported ({error}). "
            'Install it with: pip install "tiebreak[boost]"'
        ) from error
    params = {
        "objective": "none",
        "learning_rate": 1.0,
        "min_data_in_leaf": 0,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "num_threads": n_threads() if math.prod(values.shape) >= MANY_VALUES else 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **own,
    }
    label = np.zeros(values.shape[0])
    data = lightgbm.Dataset(values, label=label, params=params).construct()
    ends = values.max(axis=0) - values.min(axis=0)
    splits = bool(ends.nnz if hasattr(ends, "nnz") else ends.any())
    alone = np.array([(-1, 0.0, 0, 0, 0.0)], dtype=NODE)

    def start() -> Grow:
        if not splits:  # all features are constant, which LightGBM does not take
            return lambda gradient, curvature: alone
        booster = lightgbm.Booster(params, data)

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

    def add(node: dict[str, Any]) -> int:
        here = len(nodes)
        nodes.append((-1, 0.0, 0, 0, float(node.get("leaf_value", 0.0))))
        if "split_feature" in node:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[here] = node["split_feature"], node["threshold"], left, right, 0.0
        return here

    add(root)
    return np.array(nodes, dtype=NODE)


@njit(cache=True, nogil=True)
def add_trees(out, X, feature, cut, left, right, value, roots):  # type: ignore[no-untyped-def]
    """Add the leaf values of the rows of X, in place."""
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
    """Refuse trees with indices out of range or cycles."""
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
            "nodes or features that do not exist."
        )
