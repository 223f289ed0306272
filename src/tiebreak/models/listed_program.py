# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as a primal program over the utilities of the compared items."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.losses import ListedSquaredHinge
from tiebreak.models.kernel_factor import factor_kernel
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.pair_program import TrainingItems
from tiebreak.models.primal import PrimalSolution

__all__ = ["ListedProgram"]

Floats = NDArray[np.float64]


class ListedProgram:
    """Comparisons as pairs of a better and a worse item, and the design of the items.

    Parameters
    ----------
    pairs : Pairs
        Comparisons of compact items, all of positive weight.
    outcome : ndarray of int8 of shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights.
    items : TrainingItems
        Distinct items and kernel.
    given : ndarray of int of shape (n,)
        Row numbers of the comparisons in what the user passed.
    ties : {"ignore", "both"}
        With ``"both"`` a tie counts once in each direction and all else twice.

    Attributes
    ----------
    A : ndarray or csr_array of shape (N, q)
        The design: utilities of the distinct items are A x.
    loss : ListedSquaredHinge
        The loss of these utilities.
    """

    def __init__(
        self,
        pairs: Pairs,
        outcome: NDArray[np.int8],
        weight: Floats,
        items: TrainingItems,
        given: NDArray[np.int64],
        ties: str,
    ) -> None:
        self.items, self.given = items, given
        decided, tied = np.flatnonzero(outcome), np.flatnonzero(outcome == 0)
        factor = 1.0
        if ties == "both":
            factor = 2.0
        else:
            tied = tied[:0]
        # Comparison of each listed pair, and whether right is the better item.
        self._comparison = np.concatenate([decided, tied, tied])
        self._toward_right = np.concatenate(
            [outcome[decided] > 0, np.ones(len(tied), bool), np.zeros(len(tied), bool)]
        )
        left = items.code[pairs.left[self._comparison]]
        right = items.code[pairs.right[self._comparison]]
        self.loss = ListedSquaredHinge(
            np.where(self._toward_right, right, left),
            np.where(self._toward_right, left, right),
            weight[self._comparison]
            * np.repeat([factor, 1.0], [len(decided), 2 * len(tied)]),
            items.n_items,
        )
        self._factor = None
        self.A: Any
        if not items.is_linear:
            self._factor = factor_kernel(items, np.arange(items.n_items))
            self.A = self._factor.values
        elif items.table is None:
            self.A = sp.eye_array(items.n_items, format="csr")
        else:
            self.A = items.table.values

    def unpack(self, model: KernelUtility, x: Floats) -> None:
        """Set the attributes from which the model computes utilities.

        Parameters
        ----------
        model : KernelUtility
            The model that is being fitted.
        x : ndarray of shape (q,)
            Coefficients of the design.
        """
        if self._factor is None:
            model.coef_ = x
            return
        a = np.zeros(self.items.n_items)
        a[self._factor.pivots] = self._factor.item_coef(x)
        model._keep_expansion(self.items, a)

    def make_loss(self, name: str) -> ListedSquaredHinge:
        """Give the loss of the utilities of the distinct items."""
        if name != "squared_hinge":
            raise ValueError(f"only 'squared_hinge' has this program, got {name!r}.")
        return self.loss

    def keep_support(self, model: Any, solution: PrimalSolution) -> None:
        """Set ``support_`` and ``dual_coef_`` of comparisons.

        w = Σ dual_coef_t (Φ(right_t) - Φ(left_t)), within the tolerance.

        Parameters
        ----------
        model : estimator
            The model that is being fitted, with its ``C``.
        solution : PrimalSolution
            The solution.
        """
        loss, u = self.loss, self.A @ solution.x
        short = np.maximum(0.0, 1.0 - (u[loss.better] - u[loss.worse]))
        push = loss.weight * short * np.where(self._toward_right, 1.0, -1.0)
        coef = np.bincount(self._comparison, 2.0 * model.C * push, len(self.given))
        used = np.flatnonzero(coef)
        model.support_, model.dual_coef_ = self.given[used], coef[used]
