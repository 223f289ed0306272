# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak rank`` on a folder or a pattern of files, here or on a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import OnItems, RankRLS, RankSVM, ThresholdCompare
from tiebreak.cli.choose import Choice, set_alpha
from tiebreak.cli.held_out import foretell_held_out
from tiebreak.cli.item_tables import rank_rows
from tiebreak.cli.item_utilities import item_utilities
from tiebreak.cli.knowledge import Knowledge
from tiebreak.cli.parted_grades import GradedFiles
from tiebreak.cli.rank_job import RankAnswer, list_weights

__all__ = ["PARTED_MODELS", "rank_grades"]

PARTED_MODELS: dict[str, Callable[[], Any]] = {
    "linear-svm": lambda: RankSVM(kernel="linear", loss="squared_hinge"),
    "rank-rls": lambda: RankRLS(kernel="linear"),
}
"""Models of graded items that are fitted where the files are."""

_REASONS = {
    "linear-svm": "items are graded, and it is fitted where the files are read."
}


def rank_grades(
    graded: GradedFiles,
    model: str = "auto",
    alpha: float | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> tuple[RankAnswer, Knowledge]:
    """Fit a linear model where the files are, and measure its quality on some queries.

    Parameters
    ----------
    graded : GradedFiles
        The files.
    model : str, default="auto"
        Name of a model, or ``"auto"``.
    alpha : float, optional
        Penalty.
    progress : callable
        Is told each step before it begins.

    Returns
    -------
    answer : RankAnswer
        Its table of items holds the queries of the sample only.
    sample : Knowledge
        The queries on which quality was measured.
    """
    choice = _choose(model, alpha)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        progress(f"fitting {choice.name}")
        fitted = graded.fit(choice.model)
    said = list(dict.fromkeys(str(one.message) for one in caught))
    progress("foretelling held-out results")
    sample = graded.sample()
    quality = None
    fresh = PARTED_MODELS[choice.name]().set_params(**choice.model.get_params())
    comparer = make_pipeline(OnItems(StandardScaler()), ThresholdCompare(fresh))
    try:
        quality = foretell_held_out({choice.name: comparer}, sample)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {error}")
    n_sampled = 0 if sample.grades is None else len(sample.grades)
    if quality is not None and n_sampled < sum(graded.n_rows):
        said.append(
            f"Held-out quality was measured on {n_sampled:,} rows, in queries drawn at "
            f"random; the model was fitted on all {sum(graded.n_rows):,}."
        )
    assert sample.items is not None
    utility = item_utilities(fitted, sample.items)
    answer = RankAnswer(
        replace(choice, model=fitted),
        None,
        None,
        list_weights(fitted, sample.pairs),
        quality,
        said,
        rank_rows(utility, sample),
        utility,
    )
    return answer, sample


def _choose(asked: str, alpha: float | None) -> Choice:
    name = "linear-svm" if asked == "auto" else asked
    if name not in PARTED_MODELS:
        raise ValueError(
            f"{asked!r} is not fitted on graded items in parts. Choose --model from "
            f"{', '.join(['auto', *PARTED_MODELS])}; for other models put all rows in "
            "one file, and leave --dask out."
        )
    model = PARTED_MODELS[name]()
    if alpha is not None:
        set_alpha(model, alpha)
    reason = _REASONS[name] if asked == "auto" else "as you asked."
    return Choice(name, model, reason)
