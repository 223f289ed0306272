# SPDX-License-Identifier: BSD-3-Clause
"""What a pursuit of several views makes small, from items with and without a grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Grades, ItemTable, Orders, check_grades, check_weights
from tiebreak.data.features import remember_features
from tiebreak.kernels import KernelDictionary, KernelFunction
from tiebreak.losses import GroupLaplacian
from tiebreak.metrics import disagreement
from tiebreak.models.graded_program import read_grades
from tiebreak.models.kernel_pursuit import read_centers
from tiebreak.models.kernel_utility import expand_kernel
from tiebreak.models.pursuit_forms import GroupForm
from tiebreak.models.pursuit_program import (
    centered_targets,
    distinct_rows,
    present_rows,
    refuse_alike,
    refuse_weights,
)
from tiebreak.models.views import View, read_views
from tiebreak.solvers import JointPath, JointProblem

__all__ = ["CoPursuitProgram"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CoPursuitProgram:
    """Views of the training items, the problem that they share, and the centers.

    Attributes
    ----------
    problem : JointProblem
        What is made small, for targets divided by `unit`.
    views : list of View
        The views.
    functions : list of KernelFunction
        Their kernels.
    centers : ndarray or csr_array of shape (m, p)
        Centers, with all features.
    rows : ndarray of int of shape (m,)
        Their rows in the item table, or in the table that was given.
    agreeing : list of (ItemTable, ndarray of int, ndarray)
        Items on which agreement is told, their groups and weights; in order of
        preference.
    unit : float
        A power of two, so that targets of any size can be squared.
    cache_bytes : float
        Memory for products between columns of two views.
    """

    problem: JointProblem
    views: list[View]
    functions: list[KernelFunction]
    centers: Any
    rows: Codes
    agreeing: list[tuple[ItemTable, Codes, Floats]]
    unit: float
    cache_bytes: float

    @classmethod
    def read(
        cls,
        model: Any,
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> CoPursuitProgram:
        """Check what ``fit`` was given.

        Parameters
        ----------
        model : estimator
            Is being fitted.
        X, y, qid, sample_weight
            As in ``fit``.

        Returns
        -------
        CoPursuitProgram
        """
        grades, weight = _read_grades(model, X, y, qid, sample_weight)
        table, n_lists = grades.items, grades.orders
        views = read_views(model, table.n_features, table.feature_names)
        graded = np.flatnonzero(~np.isnan(grades.y))
        if len(graded) == 0:
            raise ValueError(
                f"all {len(grades.y)} grades are NaN, so there is nothing to learn "
                "from. Give some items a grade."
            )
        scored = graded[present_rows(grades.group[graded], weight[graded])]
        refuse_alike(grades, scored)
        others = np.flatnonzero(np.isnan(grades.y) & (weight > 0))
        if model.per_group == "mean" and n_lists is not None:
            weight = weight**2  # the weight of a list is that of its mean
        laplacian = _laplacian(grades, weight, scored, model.per_group)
        unit, s = centered_targets(laplacian, grades.y[scored])
        root, form = laplacian.root(s), GroupForm(laplacian)
        agreement, at_others = form, slice(0, len(scored))
        if len(others):
            at_others = slice(len(scored), None)
            agreement = GroupForm(_laplacian(grades, weight, others, model.per_group))
        everything = np.concatenate([scored, others])
        dictionaries, functions, centers, rows = _dictionaries(
            model, views, grades, scored, everything
        )
        problem = JointProblem(
            dictionaries,
            form,
            laplacian.product(s),
            float(root @ root),
            agreement,
            float(model.nu),
            slice(0, len(scored)),
            at_others,
        )
        refuse_weights(problem.b, problem.c, weight[scored])
        agreeing = [
            (table.take(part), grades.group[part], weight[part])
            for part in (others, scored)
            if len(part)
        ]
        share = 1e6 * model.cache_size / (len(views) + 1)
        return cls(problem, views, functions, centers, rows, agreeing, unit, share)

    @property
    def gamma(self) -> Floats:
        """Gamma of every view."""
        return np.array([function.gamma for function in self.functions])

    def along(self, table: ItemTable, path: JointPath) -> Floats:
        """Mean utility of items after every step.

        Parameters
        ----------
        table : ItemTable
            n items.
        path : JointPath
            The steps.

        Returns
        -------
        ndarray of shape (n, n_steps)
        """
        n_steps, M = path.increments.shape
        total = np.zeros((table.n_items, n_steps))
        for v, (view, function) in enumerate(
            zip(self.views, self.functions, strict=True)
        ):
            # Column t of the upper triangle has the increments up to step t.
            coef = np.triu(np.tile(path.increments[:, [v]], n_steps))
            centers = view.see(self.centers[path.columns[:, v]])
            total += expand_kernel(function, view.see(table.values), centers, coef)
        return total / M

    def agreement(self, model: Any) -> Floats:
        """Share of pairs that every two views of a fitted model put in the same order.

        Parameters
        ----------
        model : CoRankingPursuit
            Fitted.

        Returns
        -------
        ndarray of shape (M, M)
        """
        M = len(self.views)
        share = np.eye(M)
        for v in range(M):
            for u in range(M):
                if u != v:
                    share[v, u] = self._share(model, v, u)
        return share

    def _share(self, model: Any, v: int, u: int) -> float:
        for table, group, weight in self.agreeing:
            utility = model.view_utilities(table)
            try:
                return 1.0 - disagreement(utility[:, v], utility[:, u], group, weight)
            except ValueError:
                continue  # the view tells no two of these items apart
        return 0.5


def _read_grades(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[Grades, Floats]:
    if isinstance(X, Orders):
        return read_grades(model, X, y, qid, sample_weight)
    grades = check_grades(X, y, qid, allow_missing=True)
    weight = check_weights(sample_weight, len(grades.y))
    model._forget()
    remember_features(model, grades.items)
    model.fitted_with_qid_ = qid is not None
    return grades, weight


def _laplacian(
    grades: Grades, weight: Floats, rows: Codes, per_group: str
) -> GroupLaplacian:
    group = np.unique(grades.group[rows], return_inverse=True)[1]
    return GroupLaplacian(group, weight[rows], per_group)


def _dictionaries(
    model: Any, views: list[View], grades: Grades, scored: Codes, everything: Codes
) -> tuple[list[KernelDictionary], list[KernelFunction], Any, Codes]:
    """Make the columns of every view, and list the centers."""
    items, lists = grades.items, grades.orders
    table, places = (items, scored)
    if lists is not None:
        table, places = lists.table, lists.flat[scored]
    distinct, _ = distinct_rows(table, places, merge=True)
    centers, rows = read_centers(model, table, distinct)
    values = items.take(everything)
    unique = values.unique()[0].values
    cache_bytes = 1e6 * model.cache_size / (len(views) + 1)
    functions = [view.spec.resolve(view.see(unique)) for view in views]
    dictionaries = [
        KernelDictionary(
            [function], view.see(values.values), view.see(centers), cache_bytes
        )
        for view, function in zip(views, functions, strict=True)
    ]
    return dictionaries, functions, centers, rows
