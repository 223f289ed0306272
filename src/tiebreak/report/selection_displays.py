# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of how settings were chosen, of the path of an L1 model, and of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data.markup import shorten
from tiebreak.metrics import get_scorer, scorer_names
from tiebreak.metrics.inputs import positive_integer
from tiebreak.report.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Display,
    fitted_model,
    new_axes,
    tidy_axes,
)
from tiebreak.selection.results import (
    TuneResult,
    draw_grid,
    grid_values,
    varying_parameters,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tiebreak.selection import L1Path


_TUNING_WORDS = {
    "error": "wrong outcomes",
    "accuracy": "right outcomes",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ranked_probability_score": "ranked probability score",
    "swapped_pairs": "pairs in the wrong order",
    "auc": "area under the ROC curve",
}
_SHARES = ("accuracy", "error", "swapped_pairs", "disagreement")
_PALE, _FULL = "#f4f4f2", "#7db7de"
_LONGEST_SETTING = 14


class TuningDisplay(Display):
    """Scores over two settings as a table of cells, or over one as a curve.

    With more than two settings the first two that vary are drawn, each cell with the
    best score over the others. The choice is framed. It draws scores, so there is no
    ``from_predictions``.

    Parameters
    ----------
    result : TuneResult
        What a search on a grid found.

    Attributes
    ----------
    settings : list of str
        The settings that vary, without the names of pipeline steps.
    metric, less_is_better : str, bool
        What the numbers are, in words, and whether the best is the smallest.
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    hovers_ : dict of str to str
        For every cell, by its ``gid`` in the figure, the settings and the number.

    Examples
    --------
    >>> from tiebreak import SVMCompare, tune
    >>> from tiebreak.datasets import make_norms
    >>> from tiebreak.report import TuningDisplay
    >>> data = make_norms(60, random_state=0)
    >>> found = tune(SVMCompare(), data.pairs, data.y, {"C": [1.0, 10.0]}, cv=2)
    >>> display = TuningDisplay(found)
    >>> display.settings, display.metric
    (['C'], 'wrong outcomes')
    """

    def __init__(self, result: TuneResult) -> None:
        self.result = result
        self._columns = varying_parameters(result.table)
        self.settings = [name.rpartition("__")[2] for name in self._columns]
        scoring = result.scoring
        self.metric = _TUNING_WORDS.get(scoring, scoring.replace("_", " "))
        self.less_is_better = _is_loss(scoring)
        self.hovers_: dict[str, str] = {}

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw what a search of scikit-learn, or `tune`, found.

        Parameters
        ----------
        estimator : fitted GridSearchCV, RandomizedSearchCV, … or TuneResult
            The search, of a single score.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        TuningDisplay
        """
        if not isinstance(estimator, TuneResult):
            estimator = _read_search(estimator)
        return cls(estimator).plot(ax)

    def number(self, score: float) -> str:
        """Write a score as the number that people know it by.

        Parameters
        ----------
        score : float
            As the tuner has it, greater is better.

        Returns
        -------
        str
        """
        value = -score if self.less_is_better else score
        if not np.isfinite(value):
            return "–"
        value += 0.0  # no minus zero
        if self.result.scoring in _SHARES:
            return f"{100 * value:.1f}\u00a0%"
        return f"{value:.3f}"

    def choice(self) -> str:
        """Say what was chosen.

        Returns
        -------
        str
            Such as ``"C = 10, gamma = 0.1"``.
        """
        best = self.result.best_params_
        return ", ".join(
            f"{name.rpartition('__')[2]} = {_label(value)}"
            for name, value in best.items()
            if name in self._columns or not self._columns
        )

    def _draw(self, ax: Any) -> Axes:
        size = 6.4, 3.2
        if len(self._columns) >= 2:
            across, down = (
                len(grid_values(self.result.table, name)) for name in self._columns[:2]
            )
            size = 1.6 + 0.62 * max(across, 4), 1.1 + 0.4 * max(down, 3)
        axes = new_axes(ax, *size)
        draw_grid(
            axes,
            self.result,
            names=self.settings,
            metric=self.metric,
            sign=-1.0 if self.less_is_better else 1.0,
            label=_label,
            paint=self._paint,
        )
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set_parse_math(False)
        return axes

    def _paint(
        self, axes: Axes, scores: np.ndarray, xs: list[Any], ys: list[Any]
    ) -> None:
        """Fill the cells with shades and numbers."""
        from matplotlib.colors import LinearSegmentedColormap

        from tiebreak.report.artists import Cell, Cells

        finite = scores[np.isfinite(scores)]
        low = finite.min() if len(finite) else 0.0
        span = (finite.max() - low if len(finite) else 0.0) or 1.0
        shade = LinearSegmentedColormap.from_list("score", [_PALE, _FULL])
        cells = []
        for i, j in np.ndindex(scores.shape):
            score = float(scores[i, j])
            level = float((score - low) / span) if np.isfinite(score) else 0.0
            gid, text = f"cell-{i}-{j}", self.number(score)
            # Twenty-one shades: nobody can distinguish more.
            color = tuple(shade(round(20 * level) / 20))
            cells.append(Cell(i, j, gid, text, "", color))
            settings = zip(self.settings[:2], (xs[j], ys[i]), strict=True)
            written = ", ".join(f"{name} = {_label(value)}" for name, value in settings)
            self.hovers_[gid] = f"{written}: {text}"
        axes.add_artist(Cells(cells, small=True))


def _read_search(search: Any) -> TuneResult:
    """Give what a search of scikit-learn found as if `tune` had found it."""
    found = getattr(search, "cv_results_", None)
    if found is None or "mean_test_score" not in found:
        raise TypeError(
            "This picture needs a TuneResult or a fitted search of a single score, "
            f"such as GridSearchCV; got {search!r}."
        )
    splits = [f"split{k}_test_score" for k in range(search.n_splits_)]
    scores = np.stack([found[name] for name in splits], axis=1)
    scoring = search.scoring
    name = getattr(scoring, "name", scoring if isinstance(scoring, str) else "score")
    done = np.ones(scores.shape, dtype=bool)
    parts = list(found["params"]), scores, done, int(search.best_index_)
    return TuneResult.make(*parts, getattr(search, "best_estimator_", None), name)


def _is_loss(scoring: str | None) -> bool:
    """Whether less is better of a known score."""
    if scoring not in scorer_names():
        return False
    return not getattr(get_scorer(str(scoring)), "greater_is_better", True)


def _label(value: Any) -> str:
    is_float = isinstance(value, float)
    return f"{value:.3g}" if is_float else shorten(value, _LONGEST_SETTING)


_LONGEST_PATH_NAME = 18
# Okabe and Ito's colors, then the same with dashes.
_COLORS = (BLUE, ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)
_DASHES = ("-", "--", ":")
_PATH_WORDS = {"swapped_pairs": "pairs in the wrong order", "error": "wrong outcomes"}


class L1PathDisplay(Display):
    """Weights of features against alpha, and below it the score of held-out folds.

    The strongest features are named; the others are thin grey lines. A vertical line
    marks the alpha with the best score. It draws what a fit learned, so there is no
    ``from_predictions``.

    Parameters
    ----------
    alphas, coefs : array-like of shape (n_alphas,) and (n_alphas, n_features)
        Penalties, descending, above 0, and weights.
    scores : array-like of shape (n_alphas, n_folds), optional
        Scores of held-out folds, greater is better.
    names : sequence of str, optional
        Names of the features; their numbers by default.
    scoring, top : str, optional, and int, default=10
        Name of the score (losses are drawn as losses), and how many features to name,
        by the largest weight that they ever have.

    Attributes
    ----------
    features : list of int
        The named features, strongest first.
    ax_, score_ax_ : matplotlib Axes
        Where the weights and the scores were drawn; None where they were not.
    figure_ : matplotlib Figure
        The figure they belong to.

    Examples
    --------
    >>> from tiebreak.report import L1PathDisplay
    >>> display = L1PathDisplay([8, 4, 2], [[0, 0], [0, 0.5], [0.1, 0.9]])
    >>> display.features
    [1, 0]
    """

    def __init__(
        self,
        alphas: ArrayLike,
        coefs: ArrayLike,
        scores: ArrayLike | None = None,
        names: Sequence[Any] | None = None,
        *,
        scoring: str | None = None,
        top: int = 10,
    ) -> None:
        positive_integer(top, "top")
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.coefs = np.asarray(coefs, dtype=np.float64)
        if self.coefs.shape[:1] != self.alphas.shape or self.coefs.ndim != 2:
            raise ValueError(
                f"coefs has shape {self.coefs.shape} and alphas {self.alphas.shape}; "
                "expected (n_alphas, n_features) and (n_alphas,)."
            )
        if not (self.alphas > 0).all():
            raise ValueError(
                "alphas are drawn on a logarithmic scale and must be above 0, got "
                f"{self.alphas.min():g}."
            )
        self.scores = None if scores is None else np.asarray(scores, dtype=np.float64)
        if self.scores is not None and self.scores.shape[:1] != self.alphas.shape:
            raise ValueError(
                f"scores has shape {self.scores.shape}; expected a row for each of the "
                f"{len(self.alphas)} alphas."
            )
        numbers = range(self.coefs.shape[1])
        self.names = [f"feature {j}" for j in numbers] if names is None else list(names)
        self.scoring = scoring
        largest = np.abs(self.coefs).max(axis=0)
        ranked = np.argsort(-largest, kind="stable")
        self.features = [int(j) for j in ranked[:top] if largest[j] > 0]

    @classmethod
    def from_path(cls, path: L1Path, *, top: int = 10, ax: Any = None) -> Self:
        """Draw a path.

        Parameters
        ----------
        path, top : L1Path, int
            What :func:`~tiebreak.l1_path` returned; how many features to name.
        ax : matplotlib Axes or a sequence of two, optional
            Where, as in `plot`.

        Returns
        -------
        L1PathDisplay
        """
        kept = path.alphas > 0
        scores = None if path.scores is None else path.scores[kept]
        numbers = path.alphas[kept], path.coefs[kept], scores, path.feature_names
        return cls(*numbers, scoring=path.scoring, top=top).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, top: int = 10, ax: Any = None) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator, top : L1RankerCV, int
            The model, and how many features to name.
        ax : matplotlib Axes or a sequence of two, optional
            Where, as in `plot`.

        Returns
        -------
        L1PathDisplay
        """
        model = fitted_model(estimator, "coef_path_", "fits of L1RankerCV")
        kept = model.alphas_ > 0
        names = getattr(model, "feature_names_in_", None)
        numbers = model.alphas_[kept], model.coef_path_[kept], model.scores_[kept]
        return cls(*numbers, names, scoring=model.scoring_, top=top).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or a sequence of two, optional
            Where: two are for the weights and the scores, one is for the weights alone.
            By default on a new figure, made without pyplot, which notebooks show.

        Returns
        -------
        L1PathDisplay
        """
        return super().plot(ax)

    def _draw(self, ax: Any) -> Axes:
        from tiebreak.report.artists import write_plain_ticks

        places = self._axes(ax)
        self.score_ax_: Axes | None = places[1] if len(places) == 2 else None
        self._plot_weights(places[0])
        if self.score_ax_ is not None:
            self._plot_scores(*places)
        for place in places:
            place.set_xscale("log")
            write_plain_ticks(place.xaxis)
            tidy_axes(place, "top", "right", grid="both")
        places[-1].set_xlabel("alpha")
        return places[0]

    def _axes(self, ax: Any) -> list[Axes]:
        n = 1 if self.scores is None else 2
        if ax is None:
            from matplotlib.figure import Figure

            figure = Figure(figsize=(7.2, 2.9 + 1.9 * (n - 1)), layout="constrained")
            ratios = [3.0, 1.6][:n]
            found = figure.subplots(n, sharex=True, squeeze=False, height_ratios=ratios)
            return list(found[:, 0])
        given = list(np.atleast_1d(np.asarray(ax, dtype=object)))
        if not 1 <= len(given) <= n:
            raise ValueError(
                f"this display draws on {n} axes at most, got {len(given)}; expected "
                "one for the weights and, with scores, one for these."
            )
        return given

    def _plot_weights(self, ax: Axes) -> None:
        others = np.setdiff1d(np.arange(self.coefs.shape[1]), self.features)
        for j in others[np.abs(self.coefs[:, others]).any(axis=0)]:
            ax.plot(self.alphas, self.coefs[:, j], color=GREY, linewidth=0.6)
        for place, j in enumerate(self.features):
            ax.plot(
                self.alphas,
                self.coefs[:, j],
                color=_COLORS[place % len(_COLORS)],
                linestyle=_DASHES[place // len(_COLORS) % len(_DASHES)],
                linewidth=1.5,
                label=shorten(self.names[j], _LONGEST_PATH_NAME),
            )
        ax.axhline(0.0, color=INK, linewidth=0.8)
        ax.set_ylabel("weight")
        if self.features:
            style: dict[str, Any] = {"frameon": False, "fontsize": 9}
            legend = ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **style)
            for text in legend.get_texts():
                text.set_parse_math(False)

    def _plot_scores(self, weights_ax: Axes, ax: Axes) -> None:
        assert self.scores is not None
        less = _is_loss(self.scoring)
        mean = self.scores.mean(axis=1)
        best = int(np.argmax(np.where(np.isnan(mean), -np.inf, mean)))
        shown = -self.scores if less else self.scores
        middle, spread = shown.mean(axis=1), shown.std(axis=1)
        ends = middle - spread, middle + spread
        ax.fill_between(self.alphas, *ends, color=BLUE, alpha=0.15, lw=0)
        ax.plot(self.alphas, middle, color=BLUE, linewidth=1.5)
        point = self.alphas[best], middle[best]
        ax.plot(*point, "o", ms=10, mfc="none", mec=ORANGE, mew=2.0)
        for one in (weights_ax, ax):
            one.axvline(self.alphas[best], color=ORANGE, linewidth=1.0, linestyle=":")
        word = str(self.scoring or "score")
        ax.set_ylabel(_PATH_WORDS.get(word, word.replace("_", " ")))


_LONGEST_WEIGHT_NAME = 32


class WeightsDisplay(Display):
    """Weights of features, the largest on top: right of zero they raise a utility.

    It draws what a fit learned, so there is no ``from_predictions``.

    Parameters
    ----------
    weights : sequence of (str, float)
        Features and their weights.
    top : int, default=20
        How many to draw, by absolute value.

    Attributes
    ----------
    weights : list of (str, float)
        What is drawn, largest absolute value first.
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.

    Examples
    --------
    >>> from tiebreak.report import WeightsDisplay
    >>> WeightsDisplay([("size", 0.5), ("price", -2.0)]).weights
    [('price', -2.0), ('size', 0.5)]
    """

    def __init__(self, weights: Sequence[tuple[Any, float]], *, top: int = 20) -> None:
        positive_integer(top, "top")
        largest = sorted(weights, key=lambda pair: -abs(pair[1]))
        self.weights = [(name, float(weight)) for name, weight in largest][:top]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, top: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw the weights of a linear model.

        Parameters
        ----------
        estimator : model with ``coef_``, or a search or Pipeline that ends with it
            Fitted on items with features, with a linear kernel.
        top, ax : int, default=20, and matplotlib Axes, optional
            How many features, and where to draw.

        Returns
        -------
        WeightsDisplay
        """
        kinds = 'models of items with features and kernel="linear"'
        model = fitted_model(estimator, "coef_", kinds)
        model = fitted_model(model, "n_features_in_", kinds)
        weight = np.ravel(model.coef_)
        numbers = [f"feature {j}" for j in range(len(weight))]
        names = getattr(model, "feature_names_in_", numbers)
        return cls(list(zip(names, weight, strict=True)), top=top).plot(ax)

    def _draw(self, ax: Any) -> Axes:
        n = len(self.weights)
        axes = new_axes(ax, 5.4, 0.8 + 0.26 * n)
        place, size = np.arange(n), np.array([weight for _, weight in self.weights])
        colors = [BLUE if weight >= 0 else ORANGE for weight in size]
        axes.barh(place, size, color=colors, height=0.66)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        names = [shorten(name, _LONGEST_WEIGHT_NAME) for name, _ in self.weights]
        axes.set_yticks(place, names)
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.set_ylim(n - 0.5, -0.5)
        axes.set_xlabel("weight")
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        return tidy_axes(axes, "top", "right", "left", grid="x")
