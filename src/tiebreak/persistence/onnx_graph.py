# SPDX-License-Identifier: BSD-3-Clause
"""Utilities as ONNX graphs: sums of features or of kernel functions, without Python."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import OnItems
from tiebreak.kernels import NystroemMap
from tiebreak.persistence.files import steps

_KERNELS = ("linear", "poly", "rbf")
# Models whose utility is a weighted sum of features, or of kernel functions.
_WRITTEN = (
    *("L1Ranker", "L1RankerCV", "LogisticCompare", "MatchingPursuit", "OrderSVM"),
    *("MaxMarginCompare", "OrdinalSVM", "RankRLS", "RankSVM", "RankingPursuit"),
    *("SVMCompare", "SwapSVM"),
)


def to_onnx(model: Any, *, dtype: str = "float64") -> Any:
    """Write the utility of a fitted model as an ONNX graph.

    The graph computes ``utility`` for a table of items: w·x, or Σ a_j k(c_j, x) for the
    kernels ``"linear"``, ``"poly"`` and ``"rbf"``. In a Pipeline there may be
    StandardScaler and :class:`NystroemMap` before the model, also inside
    :class:`OnItems`. Thresholds, tie parameters and effects of covariates are not in
    it.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        A model with ``coef_``, or with centers and coefficients of one kernel.
    dtype : {"float64", "float32"}, default="float64"
        Type of all numbers.

    Returns
    -------
    onnx.ModelProto
        Input ``items`` of shape (n, n_features), output ``utility`` of shape (n,).
        Needs ``pip install "tiebreak[onnx]"``.

    Examples
    --------
    >>> from tiebreak import RankSVM, to_onnx
    >>> model = RankSVM(kernel="linear").fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> graph = to_onnx(model)                  # doctest: +SKIP
    >>> open("ranker.onnx", "wb").write(graph.SerializeToString())  # doctest: +SKIP
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(
            f"dtype={dtype!r} is not known; expected 'float64' or 'float32'."
        )
    check_is_fitted(model)
    chain = [
        step.transformer_ if isinstance(step, OnItems) else step
        for step in steps(model)
    ]
    graph, at = _Graph(dtype), "items"
    for step in chain[:-1]:
        at = _transform(graph, at, step)
    _add_utility(graph, at, chain[-1])
    return graph.build(getattr(chain[0], "n_features_in_", None))


class _Graph:
    """Operations on named tables, one after another."""

    def __init__(self, dtype: str) -> None:
        try:
            from onnx import checker, helper, numpy_helper
        except ImportError:
            raise ImportError(
                "to_onnx needs the package onnx. Install it with "
                'pip install "tiebreak[onnx]".'
            ) from None
        self._checker, self._helper, self._tables = checker, helper, numpy_helper
        self._dtype = np.dtype(dtype)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def apply(self, operation: str, *inputs: Any, name: str = "") -> str:
        """Add an operation on names of tables or on constants; give its name."""
        name = name or f"step {len(self._nodes)}"
        names = [x if isinstance(x, str) else self._constant(x) for x in inputs]
        self._nodes.append(self._helper.make_node(operation, names, [name]))
        return name

    def _constant(self, value: Any) -> str:
        name = f"constant {len(self._constants)}"
        value = value.toarray() if sp.issparse(value) else np.asarray(value)
        kind = np.int64 if value.dtype.kind == "i" else self._dtype
        table = self._tables.from_array(np.ascontiguousarray(value, kind), name)
        self._constants.append(table)
        return name

    def build(self, n_features: int | None) -> Any:
        """Give the whole as a checked model of items to utilities."""
        kind = self._helper.np_dtype_to_tensor_dtype(self._dtype)
        info = self._helper.make_tensor_value_info
        ends = [info("items", kind, ["n", n_features])], [info("utility", kind, ["n"])]
        graph = self._helper.make_graph(self._nodes, "utility", *ends, self._constants)
        # Of these versions, not the newest, so that older runtimes read it too.
        opset = [self._helper.make_opsetid("", 17)]
        model = self._helper.make_model(graph, opset_imports=opset, ir_version=8)
        self._checker.check_model(model)
        return model


def _transform(graph: _Graph, at: str, step: Any) -> str:
    if isinstance(step, StandardScaler):
        at = graph.apply("Sub", at, step.mean_) if step.with_mean else at
        return graph.apply("Div", at, step.scale_) if step.with_std else at
    if isinstance(step, NystroemMap):
        values = _kernel_values(graph, at, step, step.landmarks_)
        return graph.apply("MatMul", values, step.projection_)
    raise TypeError(
        f"to_onnx cannot write {type(step).__name__}; before the model there may be "
        "StandardScaler and NystroemMap, also inside OnItems. Convert other steps by "
        "themselves, for example with skl2onnx."
    )


def _kernel_values(graph: _Graph, at: str, model: Any, centers: Any) -> str:
    """Kernel values between items and centers, as `KernelFunction.block` has them."""
    if not isinstance(model.kernel, str) or model.kernel not in _KERNELS:
        raise TypeError(
            f"to_onnx cannot write {type(model).__name__} with kernel="
            f"{model.kernel!r}; expected one kernel, 'linear', 'poly' or 'rbf'."
        )
    if model.kernel == "linear":
        return graph.apply("MatMul", at, centers.T)
    gamma = float(model.gamma_)
    if model.kernel == "poly":
        # A factor after the product would become one of single precision in runtimes
        # that merge both.
        inner = graph.apply("MatMul", at, gamma * centers.T)
        shifted = graph.apply("Add", inner, float(model.coef0))
        return graph.apply("Pow", shifted, float(model.degree))
    dense = centers.toarray() if sp.issparse(centers) else centers
    middle = dense.mean(axis=0)
    dense = dense - middle
    at = graph.apply("Sub", at, middle)
    inner = graph.apply("MatMul", at, 2.0 * gamma * dense.T)
    own = graph.apply("ReduceSum", graph.apply("Mul", at, at), np.array([1]))
    distance = graph.apply(
        "Add", graph.apply("Mul", own, gamma), gamma * (dense**2).sum(1)
    )
    return graph.apply("Exp", graph.apply("Sub", inner, distance))


def _add_utility(graph: _Graph, at: str, model: Any) -> None:
    known = type(model).__name__ in _WRITTEN and not hasattr(model, "items_")
    if known and hasattr(model, "coef_"):
        graph.apply("MatMul", at, np.ravel(model.coef_), name="utility")
    elif known and hasattr(model, "support_items_"):
        coef = model.item_coef_ if hasattr(model, "item_coef_") else model.dual_coef_
        values = _kernel_values(graph, at, model, model.support_items_)
        graph.apply("MatMul", values, coef, name="utility")
    else:
        raise TypeError(
            f"to_onnx cannot write this {type(model).__name__}; expected a fitted "
            f"{', '.join(_WRITTEN)} of items with features, and no precomputed kernel."
        )
