# SPDX-License-Identifier: BSD-3-Clause
"""Maximum-margin comparison: a linear and a quadratic program.

Boundary convention: a difference of exactly ``threshold_`` is a tie.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data import Comparisons, ItemTable, read_comparisons
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import COUNT, POSITIVE, check_parameters, one_of
from tiebreak.models.base import UtilityMixin, warn_one_kind
from tiebreak.models.kernel_utility import weigh_features
from tiebreak.models.problem import pair_problem
from tiebreak.models.svm.duals import compare_dual, solve_dual
from tiebreak.models.svm.svm_compare import SVMCompare
from tiebreak.solvers import LinearProgram


@dataclass(eq=False, repr=False)
class MaxMarginCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    """Comparison of the largest margin, and a test of separability.

    With d = x(right) - x(left), the linear program (``program="lp"``) is ::

        maximize over w, μ   μ
        subject to           |w·d| ≤ 1 - μ  for ties,   y w·d ≥ 1 + μ  for the others,

    so that a difference of utilities w·x up to 1 is a tie and μ is the smallest
    distance of a difference from that boundary. μ > 0 means that the comparisons are
    linearly separable. The quadratic program (``"qp"``) is ::

        minimize over u, β   ½ ‖u‖²
        subject to           |u·d| + β ≤ -1  for ties,   y u·d + β ≥ 1  for the others,

    whose solution is reported as w = -u/β and μ = -1/β; it is feasible for the linear
    program, so its margin is never larger.

    Parameters
    ----------
    program : {"lp", "qp"}, default="lp"
        Which margin to maximize.
    tol, max_iter : float, default=1e-6, and int, default=10000
        Relative duality gap and iterations of the quadratic program.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, scaled so that a difference of 1 is the border of a tie. Without ties the
        hard-margin w, whose smallest difference is 1.
    margin_ : float
        μ. Not positive when the comparisons are not separable. Without ties
        1 / ‖w‖, the distance of the closest difference from zero.
    separable_ : bool
        Whether a linear utility with a threshold explains every comparison.
    threshold_ : float
        1, or 0 when there are no ties.
    objective_, gap_ : float
        Optimal value of the program, and its relative duality gap.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    Notes
    -----
    Not separable is a result and not an error: ``separable_`` is False, ``margin_`` is
    the optimum of the linear program (not positive), ``coef_`` its solution, and a
    warning says so. Without ties the linear program is unbounded, so the hard-margin
    ranking machine is solved instead, with threshold 0. The w of the linear program
    need not be unique: compare margins.

    References
    ----------
    Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector comparison machines",
    section 3.1.

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
    tol: float = 1e-6
    max_iter: int = 10_000

    _parameters: ClassVar = {
        "program": one_of("lp", "qp"),
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
            Comparisons of weight zero are left out; other weights change nothing.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_comparisons(X, y, sample_weight, decode=True)
        if not data.pairs.has_features:
            raise TypeError("MaxMarginCompare needs features; got names alone.")
        has_ties = bool((data.y == 0).any())
        fitted = linear_program(data, has_ties)
        margin, w = fitted["margin_"], fitted["coef_"]
        separable = margin > 0
        if not separable:
            warn_user(
                f"The {len(data)} comparisons are not linearly separable: the largest "
                f"margin is {margin:.3g}. coef_ is the solution of the linear program "
                "all the same. SVMCompare allows violations.",
                DataWarning,
            )
        else:
            warn_one_kind(data.y)
        if separable and (self.program == "qp" or not has_ties):
            fitted |= self._quadratic_program(data, has_ties, float(w @ w) / margin**2)
        return self._keep(
            {
                **data.attributes,
                "classes_": data.classes,
                **fitted,
                "separable_": separable,
                "threshold_": float(has_ties),
            }
        )

    def _quadratic_program(
        self, data: Comparisons, has_ties: bool, bound: float
    ) -> dict[str, Any]:
        """Solve program (9) through its dual."""
        # At the optimum the dual variables sum to ‖u‖², and the solution of the linear
        # program, rescaled, is feasible here; so no variable exceeds the squared norm
        # of that, and with this bound the soft-margin dual is the hard-margin one.
        # Rows of equal weight: a weight would change the bound, not the optimum.
        machine, equal = SVMCompare(kernel="linear"), np.ones(len(data))
        problem = pair_problem(machine, replace(data, weight=equal))
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

    def _utility(self, table: ItemTable) -> np.ndarray:
        return weigh_features(table.values, self.coef_)


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
    program = LinearProgram(cost, A, -np.inf, right, col_lower=-bound, col_upper=bound)
    lp = program.solve()
    if lp.status != "optimal":
        raise ValueError(
            f"the linear program ended as {lp.status!r}; try scaling the features to "
            "similar sizes."
        )
    # Margins at the accuracy of the solver are zero: touching is not apart.
    margin = -lp.objective if abs(lp.objective) > 1e-9 else 0.0
    coef = lp.x[: len(size)] / size
    return {"coef_": coef, "margin_": margin, "objective_": margin, "gap_": lp.gap}
