# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of cheap steps with a budget: what working sets and sweeps have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from tiebreak.solvers.dual_program import DualState


class Rounds(ABC):
    """Rounds of steps on a :class:`DualState`.

    Parameters
    ----------
    state : DualState
        Point to improve in place.

    Attributes
    ----------
    n_steps : int
        Steps taken so far.
    n_rounds : int
        Rounds so far.
    """

    name = ""
    # Steps per variable after which other methods are worth a try.
    patience = 2

    def __init__(self, state: DualState) -> None:
        self.state = state
        self.n_steps = 0
        self.n_rounds = 0

    def run(self, eps: float, max_steps: int, max_rounds: int) -> float:
        """Work until the violation is at most ``eps`` or a budget is spent.

        Parameters
        ----------
        eps : float
            Wanted violation of the optimality conditions.
        max_steps, max_rounds : int
            Budgets of this call.

        Returns
        -------
        float
            The violation reached.
        """
        stop_steps = self.n_steps + max_steps
        stop_rounds = self.n_rounds + max_rounds
        while True:
            e = self.state.gradient
            violation = self.state.violation(e)
            if (
                violation <= eps
                or self.n_steps >= stop_steps
                or self.n_rounds >= stop_rounds
            ):
                return violation
            self.n_steps += self._round(e, eps, violation)
            self.n_rounds += 1

    @abstractmethod
    def _round(self, e: np.ndarray, eps: float, violation: float) -> int:
        """Improve the point once, from its gradient; returns the steps taken."""
