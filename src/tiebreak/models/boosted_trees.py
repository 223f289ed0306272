# SPDX-License-Identifier: BSD-3-Clause
"""Trees grown by LightGBM, and sums of them.

The trees are read into `NODE` records: a range of nodes for each, the root first and
every node before its children. So predictions and model files do not need LightGBM.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads, n_threads

# Who goes to the left: values up to the cut, without or with missing ones, or the
# category that is equal to the cut.
UP_TO, UP_TO_OR_MISSING, EQUAL = 0, 1, 2
NODE = np.dtype(
    [
        ("feature", np.int32),  # -1 in a leaf
        ("cut", np.float64),
        ("left", np.int32),  # node that follows if the feature is at most the cut
        ("right", np.int32),
        ("value", np.float64),  # of a leaf
        ("kind", np.int8),  # who goes to the left
    ]
)
Nodes = NDArray[Any]  # of NODE

# Rows of sparse items that are made dense at a time.
BLOCK = 4096
# Smaller tables gain nothing from a second thread, and much time is lost with it where
# other programs run too.
MANY_VALUES = 2_000_000


def start_boosters(
    values: Any, own: dict[str, Any], names: Any, categorical: list[int]
) -> Callable[[], Any]:
    """Give a function that starts a new sum of trees, or None without a split."""
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError(
            f"BoostedUtility needs lightgbm, which cannot be imported ({error}). "
            'Install it with: pip install "tiebreak[boost]"'
        ) from error
    params = {
        "objective": "none",
        "metric": "none",
        "min_data_in_leaf": 0,
        "min_data_in_bin": 1,
        "min_data_per_group": 1,
        "feature_pre_filter": False,
        "num_threads": n_threads() if math.prod(values.shape) >= MANY_VALUES else 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
        **own,
    }
    data = lightgbm.Dataset(
        values,
        label=np.zeros(values.shape[0]),
        params=params,
        # Without the characters that LightGBM refuses.
        feature_name="auto"
        if names is None
        else [re.sub(r'[\s",:\[\]{}]', "_", name) for name in names],
        categorical_feature=categorical,
    ).construct()
    ends = values.max(axis=0) - values.min(axis=0)
    # All features may be constant, which LightGBM does not take.
    splits = bool(ends.nnz if hasattr(ends, "nnz") else ends.any())
    return lambda: lightgbm.Booster(params, data) if splits else None


def read_trees(booster: Any) -> list[Nodes]:
    """Read the trees of a Booster."""
    trees = [] if booster is None else booster.dump_model()["tree_info"]
    return [read_lightgbm(tree["tree_structure"]) for tree in trees]


def read_lightgbm(root: dict[str, Any]) -> Nodes:
    """Read the nested dictionary of a tree, from above."""
    nodes: list[tuple[int, float, int, int, float, int]] = []

    def add(node: dict[str, Any]) -> int:
        here = len(nodes)
        nodes.append((-1, 0.0, 0, 0, float(node.get("leaf_value", 0.0)), UP_TO))
        if "split_feature" not in node:
            return here
        feature, cut = node["split_feature"], node["threshold"]
        if node["decision_type"] == "==":  # a set of categories is a chain of nodes
            chain = [float(code) for code in str(cut).split("||")]
            nodes.extend([nodes[here]] * (len(chain) - 1))
            left, right = add(node["left_child"]), add(node["right_child"])
            for k, code in enumerate(chain, here):
                other = k + 1 if k + 1 < here + len(chain) else right
                nodes[k] = feature, code, left, other, 0.0, EQUAL
            return here
        # LightGBM reads a missing value as 0 where none was seen.
        left_too = node["default_left"] if node["missing_type"] == "NaN" else cut >= 0
        left, right = add(node["left_child"]), add(node["right_child"])
        kind = UP_TO_OR_MISSING if left_too else UP_TO
        nodes[here] = feature, cut, left, right, 0.0, kind
        return here

    add(root)
    return np.array(nodes, dtype=NODE)


@njit(cache=True, nogil=True)
def add_trees(out, X, feature, cut, left, right, value, kind, roots):  # type: ignore[no-untyped-def]
    """Add the leaf values of the rows of X, in place."""
    for i in range(len(X)):
        for root in roots:
            k = root
            while feature[k] >= 0:
                x = X[i, feature[k]]
                if kind[k] == EQUAL:
                    k = left[k] if x == cut[k] else right[k]
                elif x <= cut[k] or (kind[k] == UP_TO_OR_MISSING and x != x):
                    k = left[k]
                else:
                    k = right[k]
            out[i] += value[k]


def sum_trees(values: Any, nodes: Nodes, roots: Codes) -> Floats:
    """Sum the trees for rows of features, dense or CSR."""
    feature, cut, left, right, value, kind = (
        np.ascontiguousarray(nodes[name]) for name in NODE.names or ()
    )
    out = np.zeros(values.shape[0])

    def add(rows: slice) -> None:
        block = values[rows]
        dense = block.toarray() if hasattr(block, "toarray") else block
        add_trees(out[rows], dense, feature, cut, left, right, value, kind, roots)

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
