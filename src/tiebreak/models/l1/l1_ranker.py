# SPDX-License-Identifier: BSD-3-Clause
"""Ranking with the 1-norm, by linear programs."""

from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from tiebreak.data import Comparisons, Grades, ItemTable, read_data
from tiebreak.data.arrays import Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    POSITIVE,
    check_parameters,
    one_of,
)
from tiebreak.data.validation import check_features
from tiebreak.models.base import UtilityMixin, clones_along, warn_gap
from tiebreak.models.kernel_utility import weigh_features
from tiebreak.models.l1.problem import (
    L1Problem,
    L1Solution,
    compared_l1_problem,
    find_alpha_max,
    graded_l1_problem,
)
from tiebreak.models.problem import refuse_only_ties


class L1Utility(UtilityMixin):
    """Utility w·x of weights ``coef_``."""

    _fitted_arrays: ClassVar = {"dual_gradient_": "p"}

    def _utility_of_table(self, table: ItemTable) -> Floats:
        # Row by row, identical items get the identical utility without being merged.
        check_features(self, table)
        return weigh_features(table.values, self.coef_)


@dataclass(eq=False, repr=False)
class L1Ranker(L1Utility, BaseEstimator):
    """Linear ranking with the 1-norm, which drops features that do not pay.

    Minimizes over w, as a linear program, ::

        α ‖w‖₁ + slacks,   sums and not means,

    with slacks for pairs of a better item s and a worse item t whose utilities are less
    than one apart:

    - ``slack="pair"``: Σ c_s c_t (1 - w·(x_s - x_t))₊, one per pair: :class:`RankSVM`
      with the 1-norm;
    - ``slack="item"``: Σ c_s η_s with w·(x_s - x_t) + η_s + η_t ≥ 1 and η ≥ 0, one per
      item (Nan et al., equation 5);
    - ``slack="item-weighted"``: the same with Σ c_s c_t (η_s + η_t) over pairs.

    Parameters
    ----------
    alpha : float, default=1.0
        Price of the 1-norm, at least 0. :func:`l1_path` starts at the smallest alpha
        that drops everything.
    slack : {"pair", "item", "item-weighted"}, default="pair"
        What has a slack. A slack per item can pay for all pairs; then all weights are 0
        for every alpha, and a warning says so.
    tol : float, default=1e-6
        Bound on the relative duality gap.
    max_iter : int, default=1000
        Linear programs at most.
    time_limit : float, optional
        Seconds for a fit; then the best weights are kept, with a warning.
    reduction : {"threshold", "hull", None}, default="threshold"
        How graded items become rows of the problem. ``"threshold"`` is exact, with at
        most two rows per item and, for ``slack="pair"``, without listing pairs.
        ``"hull"`` lists the pairs of vertices of the convex hulls of the grades (Nan et
        al.), an approximation as soon as a slack is positive. None lists all pairs.
    adjacent : bool, default=False
        For a slack per item of graded items: compare neighboring grades only.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features, with exact zeros.
    selected_ : ndarray
        Names, or else numbers, of the features with a weight.
    objective_, dual_objective_, gap_ : float
        α ‖w‖₁ + slacks, its lower bound, and their relative difference.
    dual_gradient_ : ndarray of shape (n_features,)
        The certificate of that bound: Σ λ (x_s - x_t) over pairs, for the multipliers λ
        of the dual. Entries are at most alpha in size, within the tolerance.
    n_rows_ : tuple of (int, int)
        Number of pairs, and of rows after the reduction; with ``slack="pair"`` of the
        last linear program.
    n_pairs_, n_iter_ : int
        Number of pairs, and of steps.
    converged_ : bool
        Whether the gap is within ``tol``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The weights of rows are c_s: a row of weight 2 is the same as a second row. Weights
    of comparisons multiply the slack of a pair; with ``slack="item"`` they change
    nothing. Tied comparisons are left out. Scale the features first.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import L1Ranker
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.digitize(X[:, 0] - X[:, 1], [-1, 1])
    >>> model = L1Ranker(alpha=100.0).fit(X, y)
    >>> model.selected_, float(model.coef_[2])
    (array([0, 1]), 0.0)
    >>> model.n_rows_[0], bool(model.gap_ <= 1e-6)
    (917, True)
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    alpha: float = 1.0
    slack: Literal["pair", "item", "item-weighted"] = "pair"
    reduction: Literal["threshold", "hull"] | None = "threshold"
    adjacent: bool = False
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 1000
    time_limit: float | None = None

    _parameters: ClassVar = {
        "alpha": NOT_NEGATIVE,
        "slack": one_of("pair", "item", "item-weighted"),
        "reduction": one_of("threshold", "hull", None),
        "adjacent": FLAG,
        "tol": POSITIVE,
        "max_iter": COUNT,
        "time_limit": POSITIVE | None,
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from graded items, orders or comparisons.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.

        Returns
        -------
        Self
        """
        data, problem, n_pairs = self._read(X, y, qid, sample_weight)
        solution = self._solve(problem)
        if solution.converged and not solution.coef.any():
            self._warn_nothing(problem)
        return self._keep(_attributes(data, n_pairs, solution))

    def path(
        self,
        X: Any,
        y: ArrayLike | None = None,
        alphas: Iterable[float] = (),
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit for several values of alpha, each from the solution before it.

        Parameters
        ----------
        X, y
            As in ``fit``.
        alphas : iterable of float
            Values; descending ones make the best use of warm starts.
        qid, sample_weight
            As in ``fit``.

        Returns
        -------
        iterator of fitted models
            One for each alpha, in order; this model itself is not fitted.
        """
        models = clones_along(self, "alpha", alphas)
        data, problem, n_pairs = self._read(X, y, qid, sample_weight)
        return (
            model._keep(_attributes(data, n_pairs, model._solve(problem)))
            for model in models
        )

    def alpha_max(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Find the smallest alpha that drops every feature.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``fit``.

        Returns
        -------
        float
            0 if no alpha gives weights.
        """
        return find_alpha_max(self._read(X, y, qid, sample_weight)[1])

    def _read(
        self, X: Any, y: Any, qid: Any, sample_weight: Any
    ) -> tuple[Comparisons | Grades, L1Problem, int]:
        """Return the data, the problem and the number of pairs."""
        check_parameters(self)
        if self.adjacent and self.slack == "pair":
            raise ValueError(
                "adjacent=True is for a slack per item; with slack='pair' all pairs "
                "count. Leave it out, or choose slack='item'."
            )
        data = read_data(X, y, qid, sample_weight)
        if isinstance(data, Grades):
            return data, *graded_l1_problem(self, data)
        if self.adjacent or self.reduction == "hull":
            raise ValueError(
                "L1Ranker: adjacent=True and reduction='hull' need grades; comparisons "
                "have none and are listed as they are. Leave it out."
            )
        if not data.y.any():
            refuse_only_ties(self, len(data))
        data = data.take(np.flatnonzero(data.y))
        return data, compared_l1_problem(self, data), len(data)

    def _solve(self, problem: L1Problem) -> L1Solution:
        solution = problem.solve(
            self.alpha,
            tol=self.tol,
            max_iter=int(self.max_iter),
            time_limit=self.time_limit,
        )
        if not solution.converged:
            warn_gap(self, solution.n_iter, solution.gap)
        return solution

    def _warn_nothing(self, problem: L1Problem) -> None:
        """Say why there are no weights."""
        if (largest := find_alpha_max(problem)) > 0.0:
            why = f"alpha={self.alpha:g} is not below alpha_max={largest:.6g}"
        else:
            why = (
                "no alpha gives weights, because features are constant or say nothing "
                "of the order, or slacks per item pay for all pairs (try slack='pair')"
            )
        warn_user(f"L1Ranker dropped every feature: {why}.", FitWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The default penalty leaves few features of small tables.
        tags.regressor_tags.poor_score = True
        return tags


def _attributes(
    data: Comparisons | Grades, n_pairs: int, solution: L1Solution
) -> dict[str, Any]:
    kept = {f"{name}_": value for name, value in vars(solution).items()}
    del kept["risk_"]
    features, used = data.attributes, np.flatnonzero(solution.coef)
    names = features.get("feature_names_in_")
    selected = used if names is None else names[used]
    return {**features, **kept, "n_pairs_": n_pairs, "selected_": selected}
