# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as they come: ``partial_fit`` of :class:`LogisticCompare`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_pairs, check_comparisons, check_outcomes
from tiebreak.data.columns import as_names, plain_values
from tiebreak.data.features import check_features, remember_features
from tiebreak.data.messages import list_rows
from tiebreak.losses import LINKS, OutcomeLink
from tiebreak.metrics.inputs import outcome_vector
from tiebreak.models.logistic_steps import (
    AVERAGE,
    add_coefficients,
    difference_rows,
    follow,
    new_tie,
)

__all__ = ["LogisticStream"]

# What a batch knows about its minimum, and a stream does not.
_OF_BATCHES = ("objective_", "gap_", "n_iter_", "converged_")


class LogisticStream:
    """``partial_fit`` for a model with the parameters of LogisticCompare."""

    alpha: float
    identity: float | None
    kernel: Any
    learning_rate: float
    link: str
    items_: NDArray[Any]
    effect_names_: NDArray[Any]
    _stream: NDArray[np.float64]

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[self.link]

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _check_identity(self, pairs: Pairs) -> None:
        raise NotImplementedError

    def _set_tie(self, t: float) -> None:
        raise NotImplementedError

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        r"""Learn from some more comparisons, one step for each, in their order.

        Goes on from where the last call, or `fit`, has stopped. A comparison moves
        the coefficients and the tie parameter to the minimum of its own loss plus
        Σ P_j T_j^(-1/4) (β_j - β_j^old)² / (2 η), where P_j is the second derivative
        in β_j of everything seen so far, T_j the weight of the comparisons that
        touched β_j, and η the ``learning_rate``: steps on the scale of each feature,
        which cannot overshoot and shrink like T^(-3/4). Predictions are made with the
        average of each coefficient over its steps, later ones weighing more.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons. Names that are new, of items without features or with
            ``identity``, enter with 0.
        y : array-like of shape (n,)
            Outcomes: -1 left is better, 0 tie, +1 right is better.
        sample_weight : array-like of shape (n,), optional
            Weight of each comparison.

        Returns
        -------
        Self
            The model. It has no ``objective_``, ``gap_``, ``n_iter_`` and
            ``converged_``: a stream has no minimum.

        Notes
        -----
        A step takes time in proportion to the features in which the two items differ,
        and a call some more in proportion to the number of coefficients. Only for the
        linear kernel.

        The penalty belongs to the sum over all comparisons, whose number a stream does
        not know. It is there from the beginning, as the curvature 2 α of every
        coefficient at 0, so that its share fades as comparisons come in. Comparisons
        passed a second time count a second time: k passes tend to the minimum of the
        loss plus α / k ‖w‖².

        The tie parameter starts as if each outcome had been seen once between equal
        items, so that P(tie) is neither 0 nor 1 before there is evidence.
        """
        pairs, outcome, weight = self._check_rows(X, y, sample_weight)
        state, names, units = self._grow(pairs)
        by_name = pairs.items is None or hasattr(self, "items_")
        values = None if by_name else pairs.items.values  # type: ignore[union-attr]
        follow(
            state,
            lambda part: difference_rows(
                values, pairs.left[part], pairs.right[part], units, len(names)
            ),
            outcome,
            weight,
            learning_rate=float(self.learning_rate),
            cumulative=self.link == "cumulative",
        )
        self._take(state, names, pairs, by_name)
        return self

    def _check_rows(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64]]:
        self._check_parameters()
        if not isinstance(self.kernel, str) or self.kernel != "linear":
            raise ValueError(
                f"partial_fit needs kernel='linear', got kernel={self.kernel!r}. For "
                "another kernel make approximate features of the items first, for "
                "example by OnItems(Nystroem(...)), and keep kernel='linear'."
            )
        pairs = as_pairs(X)
        if len(pairs) == 0:
            raise ValueError(
                "There are no comparisons: 0 sample(s) while a minimum of 1 is "
                "required."
            )
        if y is None:
            check_outcomes(y, len(pairs))  # says what is missing
        # A few rows without a left winner are nothing unusual, so that the outcomes
        # are not checked as in `fit`, where zeros and ones only call for a warning.
        outcome = outcome_vector(y, "y", len(pairs)).astype(np.int8)
        same = np.flatnonzero((pairs.left == pairs.right) & (outcome != 0))
        if len(same):
            raise ValueError(
                f"{len(same)} comparison(s) say that an item is better than itself: "
                f"{list_rows(same)}. An item compared with itself can only tie; "
                "correct or remove these rows."
            )
        pairs, _, weight = check_comparisons(pairs, np.zeros(len(pairs)), sample_weight)
        self._check_identity(pairs)
        self._check_same_kind(pairs)
        present = weight > 0
        return pairs[present].compact(), outcome[present], weight[present]

    def _check_same_kind(self, pairs: Pairs) -> None:
        """Refuse comparisons of another kind than those learned from before."""
        if not hasattr(self, "tie_"):
            return
        name = type(self).__name__
        if not hasattr(self, "_stream"):
            raise ValueError(
                f"This {name} was fitted with another kernel or on data in partitions, "
                "from which partial_fit cannot go on; fit it with kernel='linear' on "
                "comparisons in memory first."
            )
        if hasattr(self, "items_"):
            if pairs.names is None:
                raise ValueError(
                    f"{name} was fitted on items without features, so items are known "
                    "by name; these Pairs have no names."
                )
            return
        if pairs.items is None:
            raise TypeError(
                f"{name} was fitted on items with features; these Pairs have none "
                "(items=None)."
            )
        check_features(self, pairs.items)
        if hasattr(self, "effect_names_") != (self.identity is not None):
            raise ValueError(
                f"identity={self.identity!r} is not what {name} was fitted with; to "
                "change it, fit again."
            )

    def _grow(
        self, pairs: Pairs
    ) -> tuple[NDArray[np.float64], list[Any], NDArray[np.int64] | None]:
        """Give a copy of the state with all coefficients, and the items' numbers."""
        if hasattr(self, "tie_"):
            state = self._stream.copy()
        else:
            state = new_tie(self._link, np.zeros(3))[:, None]
            if pairs.items is not None:
                penalty = np.full(pairs.items.n_features, float(self.alpha))
                state = add_coefficients(state, penalty)
        by_name = pairs.items is None or hasattr(self, "items_")
        if not by_name and self.identity is None:
            return state, [], None
        assert pairs.names is not None
        known = getattr(self, "items_" if by_name else "effect_names_", np.empty(0))
        number = {name: i for i, name in enumerate(plain_values(known))}
        n_known = len(number)
        units = [number.setdefault(v, len(number)) for v in plain_values(pairs.names)]
        each = self.alpha if by_name else self.identity
        new = np.repeat(np.array([each], dtype=np.float64), len(number) - n_known)
        state = add_coefficients(state, new)
        return state, list(number), np.array(units, dtype=np.int64)

    def _take(
        self,
        state: NDArray[np.float64],
        names: list[Any],
        pairs: Pairs,
        by_name: bool,
    ) -> None:
        """Set what was learned."""
        coef = state[AVERAGE, :-1].copy()
        if by_name:
            self.items_, self.coef_ = as_names(names), coef
        else:
            assert pairs.items is not None
            if not hasattr(self, "tie_"):
                remember_features(self, pairs.items)
            p = pairs.items.n_features
            self.coef_ = coef[:p]
            if self.identity is not None:
                self.effect_names_, self.item_effect_ = as_names(names), coef[p:]
        self._set_tie(float(state[AVERAGE, -1]))
        self._stream = state
        for name in _OF_BATCHES:
            self.__dict__.pop(name, None)
