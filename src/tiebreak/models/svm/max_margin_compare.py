# SPDX-License-Identifier: BSD-3-Clause
"""Maximum-margin comparison: a linear and a quadratic program, hard or soft.

Boundary convention: a difference of exactly ``threshold_`` is a tie.

Of the program with C the dual is solved, whose multipliers are a and β.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data import Comparisons, read_comparisons
from tiebreak.data.arrays import Floats
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import COUNT, POSITIVE, check_parameters, one_of
from tiebreak.kernels.functions import Kernel
from tiebreak.models.base import warn_flat, warn_one_kind
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.problem import CellProblem, is_kernel, pair_problem
from tiebreak.models.svm.duals import compare_dual, solve_dual
from tiebreak.models.svm.svm_compare import warn_threshold
from tiebreak.solvers import LinearProgram
from tiebreak.solvers.certificate import relative_gap


@dataclass(eq=False, repr=False)
class MaxMarginCompare(KernelUtility, ClassifierMixin, BaseEstimator):
    """Comparison of the largest margin, and a test of separability.

    With d = x(right) - x(left), the linear program (``program="lp"``) is ::

        maximize over w, μ   μ
        subject to           |w·d| ≤ 1 - μ  for ties,   y w·d ≥ 1 + μ  for the others,

    so that a difference of utilities w·x up to 1 is a tie and μ is the smallest
    distance from that boundary; μ > 0 means that the comparisons are linearly
    separable. The quadratic program (``"qp"``) is ::

        minimize over u, β   ½ ‖u‖²
        subject to           |u·d| + β ≤ -1  for ties,   y u·d + β ≥ 1  for the others,

    reported as w = -u/β and μ = -1/β, which is feasible for the linear program.

    With ``C`` the linear program allows violations and takes kernels: the utility is
    Σ a_j k(z_j, x) over the distinct training items z, and it solves ::

        minimize over a, β   ‖a‖₁ + C Σ_i w_i Σ (1 - label (β + difference))₊,

    a sum over comparisons: wins and losses have label 1 and the difference y d of
    utilities, ties have label -1 and both differences d and -d. This is
    :class:`SVMCompare` with the 1-norm, so that few items carry the utility.

    Parameters
    ----------
    program : {"lp", "qp"}, default="lp"
        Which margin to maximize.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="linear"
        Kernel between items, with ``C``, as in :class:`SVMCompare`.
    gamma, degree, coef0
        As in :class:`SVMCompare`.
    C : float, optional
        Cost of a violated margin, for ``"lp"``. None: no violation, and a linear
        kernel.
    tol, max_iter : float, default=1e-6, and int, default=10000
        Relative duality gap and iterations of the quadratic program.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w; a difference of 1 is the border of a tie or, without ties, the smallest one.
        With ``C`` and the linear kernel Σ a_j z_j.
    item_coef_, support_items_ : ndarray
        Nonzero a_j and their items, for other kernels; all a_j of a precomputed one.
    margin_ : float
        μ; not positive if the comparisons are not separable. Without ties 1 / ‖w‖. With
        ``C`` the smallest distance of a difference from the border, in units of
        ``threshold_`` if that is not zero.
    separable_ : bool
        Whether a linear utility with a threshold explains every comparison; with ``C``
        whether this one does.
    threshold_ : float
        1, or 0 when there are no ties; with ``C`` max(0, -β).
    intercept_ : float
        β, with ``C``.
    objective_, gap_ : float
        Optimal value of the program, and its relative duality gap.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Comparisons that are not separable give a warning and the solution of the linear
    program. Without ties the hard-margin ranking machine is solved, with threshold 0.
    The w of the linear program need not be unique: compare margins. The program with
    ``C`` is for a few thousand distinct items.

    Examples
    --------
    >>> from tiebreak import MaxMarginCompare, Pairs
    >>> pairs = Pairs([[0.0], [0.5], [3.0]], left=[0, 2], right=[1, 0])
    >>> model = MaxMarginCompare().fit(pairs, [0, -1])
    >>> model.separable_, round(model.margin_, 3)
    (True, 0.714)
    """

    __module__ = "tiebreak"  # where users find it

    program: Literal["lp", "qp"] = "lp"
    _: KW_ONLY
    C: float | None = None
    kernel: Kernel = "linear"
    tol: float = 1e-6
    max_iter: int = 10_000

    _parameters: ClassVar = {
        "program": one_of("lp", "qp"),
        "C": POSITIVE | None,
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the widest margin.

        Parameters
        ----------
        X, y
            As in ``SVMCompare.fit``.
        sample_weight : array-like of shape (n,), optional
            Comparisons of weight zero are left out. With ``C`` a weight of 2 is the
            same as a second row; without it other weights change nothing.

        Returns
        -------
        Self
        """
        check_parameters(self)
        if self.C is not None and self.program == "qp":
            raise ValueError(
                f"MaxMarginCompare(program='qp', C={self.C:g}): the quadratic program "
                "with violations is SVMCompare(C=...); use that, or program='lp'."
            )
        if self.C is None and not is_kernel(self, "linear"):
            raise ValueError(
                f"MaxMarginCompare(kernel={self.kernel!r}) needs C, the cost of a "
                "violated margin; without it the kernel is 'linear'. Try C=1.0."
            )
        data = read_comparisons(X, y, sample_weight, decode=True)
        if not data.pairs.has_features:
            raise TypeError("MaxMarginCompare needs features; got names alone.")
        fitted = (
            self._fit_hard(data) if self.C is None else self._fit_soft(data, self.C)
        )
        return self._keep({**data.attributes, "classes_": data.classes, **fitted})

    def _fit_hard(self, data: Comparisons) -> dict[str, Any]:
        """Fit without violations, if that is possible."""
        has_ties = bool((data.y == 0).any())
        fitted = linear_program(data, has_ties)
        margin, w = fitted["margin_"], fitted["coef_"]
        separable = margin > 0
        if not separable:
            warn_user(
                f"The {len(data)} comparisons are not linearly separable: the largest "
                f"margin is {margin:.3g}. SVMCompare allows violations.",
                DataWarning,
            )
        else:
            warn_one_kind(data.y)
        if separable and (self.program == "qp" or not has_ties):
            fitted |= self._quadratic_program(data, has_ties, float(w @ w) / margin**2)
        return {**fitted, "separable_": separable, "threshold_": float(has_ties)}

    def _quadratic_program(
        self, data: Comparisons, has_ties: bool, bound: float
    ) -> dict[str, Any]:
        """Solve program (9) through its dual."""
        # At the optimum the dual variables sum to ‖u‖², and the solution of the linear
        # program, rescaled, is feasible here; so no variable exceeds the squared norm
        # of that, and with this bound the soft-margin dual is the hard-margin one.
        # Rows of equal weight: a weight would change the bound, not the optimum.
        problem = pair_problem(self, replace(data, weight=np.ones(len(data))))
        dual = compare_dual(problem, max(bound, 1e-300))
        solution = solve_dual(self, problem, dual)
        u = problem.items.linear_coef(problem.item_coef(solution.coef[0]))
        level = float(solution.levels[0]) + dual.shift
        return {
            "coef_": u / -level if has_ties else u,
            "margin_": -1.0 / level if has_ties else 1.0 / float(np.linalg.norm(u)),
            "objective_": solution.primal,
            "gap_": solution.gap,
        }

    def _fit_soft(self, data: Comparisons, C: float) -> dict[str, Any]:
        """Allow violations, at a cost of C each."""
        problem = pair_problem(self, data)
        a, intercept, d, objective, gap = solve_soft_lp(problem, C)
        left, tied, right = problem.weight
        intercept = intercept if data.y.any() else -1.0
        threshold = max(0.0, -intercept)
        beyond = np.concatenate(
            [
                d[right > 0] - threshold,
                -d[left > 0] - threshold,
                threshold - np.abs(d[tied > 0]),
            ]
        )
        margin = float(beyond.min() / (threshold or 1.0))
        if not warn_one_kind(data.y):
            if d.any():
                warn_threshold(self, intercept, d)
            else:
                warn_flat(self, f"C={C:g} is too small, or no feature helps")
        return {
            **problem.items.keep(a),
            "intercept_": intercept,
            "threshold_": threshold,
            "margin_": margin,
            "separable_": margin > 0,
            "objective_": objective,
            "gap_": gap,
        }


def linear_program(data: Comparisons, has_ties: bool) -> dict[str, Any]:
    """Solve program (7), or without ties a bounded form of it."""
    pairs, y = data.pairs, data.y
    d = sp.csr_array(pairs.values[pairs.right] - pairs.values[pairs.left])
    # The solver takes matrix entries of 1e-9 for zero. With columns of size 1 the
    # program is the same, for weights that are as many times larger.
    size = np.asarray(abs(d).max(axis=0).toarray()).ravel()
    size[size == 0] = 1.0
    d = d @ sp.diags_array(1.0 / size)
    ties, others = d[y == 0], d[y != 0]
    oriented = -(sp.diags_array(y[y != 0].astype(float)) @ others)
    blocks = sp.vstack([ties, -ties, oriented])
    A = sp.hstack([blocks, np.ones((blocks.shape[0], 1))])
    right = np.repeat([1.0, -float(has_ties)], [2 * ties.shape[0], others.shape[0]])
    bound = np.append(np.full(len(size), np.inf if has_ties else 1.0), np.inf)
    cost = np.append(np.zeros(len(size)), -1.0)  # to be minimized
    lp = solved(
        LinearProgram(cost, A, -np.inf, right, col_lower=-bound, col_upper=bound)
    )
    # Margins at the accuracy of the solver are zero: touching is not apart.
    margin = -lp.objective if abs(lp.objective) > 1e-9 else 0.0
    coef = lp.x[: len(size)] / size
    return {"coef_": coef, "margin_": margin, "objective_": margin, "gap_": lp.gap}


def solved(program: LinearProgram) -> Any:
    """Solve a feasible linear program; raise if the solver fails."""
    lp = program.solve()
    if lp.status != "optimal":
        raise ValueError(
            f"the linear program ended as {lp.status!r}; try scaling the features to "
            "similar sizes, or another C."
        )
    return lp


def solve_soft_lp(
    problem: CellProblem, C: float
) -> tuple[Floats, float, Floats, float, float]:
    """Solve the soft-margin linear program. Without ties there is no β, and it is 0.

    Returns a, β, the differences of utilities, the objective and its relative gap.
    """
    dual, items = compare_dual(problem, C), problem.items
    q, balanced = dual.qp, dual.qp.balanced
    gram = items.gram
    if gram is None:
        gram = items.function.block(items.table.values, items.table.values)
    D = gram[problem.ends[1]] - gram[problem.ends[0]]
    # The solver takes entries of 1e-9 for zero: rows of size 1 have the same solution.
    size = np.abs(D).max(axis=0, initial=0.0)
    size[size == 0.0] = 1.0
    A = sp.csr_array((D / size).T[:, q.row] * q.sign)
    bound = 1.0 / size
    if balanced:
        A = sp.vstack([A, np.ones((1, A.shape[1]))], format="csr")
        bound = np.append(bound, 0.0)
    lp = solved(
        LinearProgram(-q.linear, A, -bound, bound, col_lower=q.lower, col_upper=q.upper)
    )
    a = -lp.row_dual[: len(size)] / size
    intercept = dual.shift - float(lp.row_dual[-1]) if balanced else 0.0
    difference = D @ a
    label = np.where(q.upper > 0.0, 1.0, -1.0)
    slack = 1.0 - label * (intercept + q.sign * difference[q.row])
    cost = np.maximum(q.upper, -q.lower)
    objective = float(np.abs(a).sum() + cost @ np.maximum(slack, 0.0))
    # In a balanced problem Σ s = 0, so that the shift of the labels adds nothing.
    reached = max(dual.shift * float(lp.x.sum()) - lp.objective, 0.0)
    gap = relative_gap(objective - reached, objective)
    return a, intercept, difference, objective, gap
