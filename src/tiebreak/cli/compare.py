# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak compare``: several models on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tiebreak.cli.command import File, command
from tiebreak.cli.console import Screen
from tiebreak.options import RankOptions, ReadOptions, read_settings

if TYPE_CHECKING:
    from tiebreak.cli.console import Steps
    from tiebreak.pipeline.models import Choice
    from tiebreak.pipeline.source import Source


@command(
    "Example: `tiebreak compare matches.csv --models bradley-terry,elo,glicko`",
    ranking=("half_life", "tune"),
)
def compare(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    models: Annotated[
        str,
        Option(
            help="Names of models, separated by commas, each with its settings after "
            "blanks: 'elo, rank-svm kernel=linear C=1'; see rank."
        ),
    ] = "",
) -> None:
    """Predict held-out results of a FILE with several models, on the same rows."""
    from tiebreak.data import Comparisons
    from tiebreak.pipeline.held_out import one_rater, order_held_out, predict_held_out
    from tiebreak.pipeline.read import read_source

    with screen.steps() as steps:
        steps(f"reading {file.name}")
        source = read_source(file, reading, options)
        data, sentences = source.data, list(source.detected)
        chosen = _choose(models, source, options)
        if options.tune:
            sentences += _tune(chosen, data, steps)
        steps(f"predicting held-out results with {', '.join(chosen)}")
        estimators = {name: choice.model for name, choice in chosen.items()}
        outcomes = isinstance(data, Comparisons)
        evaluate: Any = predict_held_out if outcomes else order_held_out
        result = evaluate(estimators, data)
    if one_rater(data):
        sentences.append(
            "All votes are those of one rater: standard errors allow for other votes "
            "of this rater, not for other raters."
        )
    if outcomes:
        gaps = _gaps(result, list(chosen))
        more = {f"{metric}_above_first": by_model for metric, by_model in gaps.items()}
        said = [*_say_gaps(gaps, next(iter(chosen)))]
    else:
        more, said = (
            result.to_dict(),
            [*result.heading(), *result.say_metrics(), *result.say_differences()],
        )
    screen.show(
        {"recognized": sentences, "table": result.table.to_dicts()} | more,
        [result, *said],
    )


def _say_gaps(gaps: dict[str, Any], first: str) -> Iterator[str]:
    from tiebreak.pipeline.order_quality import say_gap

    for metric, by_model in gaps.items():
        for model, gap in by_model.items():
            # Accuracies are compared only where there are no probabilities to compare.
            if metric == "accuracy" and model in gaps["log_loss"]:
                continue
            yield say_gap(f"{model}: {metric.replace('_', ' ')}", gap, first)


def _choose(models: str, source: Source, options: RankOptions) -> dict[str, Choice]:
    """Return the models; those without a half-life are compared as they are."""
    from tiebreak.pipeline.models import choose_model, compared_models

    texts = [" ".join(one.split()) for one in models.split(",") if one.strip()]
    fading = options.model_settings
    chosen = {}
    for text in texts or compared_models(source):
        name, *words = text.split()
        settings = read_settings(words)
        if name == "bradley-terry":
            settings |= fading
        try:
            chosen[text] = choose_model(name, source, settings, by_name_too=True)
        except ValueError as error:
            message = str(error).replace("--model ", "--models ").replace("--set ", "")
            raise ValueError(message) from None
    if fading and not any(one.name == "bradley-terry" for one in chosen.values()):
        raise ValueError("--half-life is for bradley-terry, which is not compared.")
    return chosen


def _tune(chosen: dict[str, Choice], data: Any, steps: Steps) -> list[str]:
    """Replace models by tuned ones, and say what was chosen."""
    from tiebreak.pipeline.models import grid_for, tune_model

    sentences: list[str] = []
    honest = ""
    for name, choice in chosen.items():
        try:
            grid_for(choice, dated="period" in getattr(data, "columns", ()))
        except ValueError as error:
            sentences.append(f"{name} is not tuned. {error}")
            continue
        steps(f"tuning {name}")
        chosen[name], _, (*notes, honest) = tune_model(choice, data)
        sentences += [f"{name}: {note}" for note in notes]
    return [*sentences, honest] if honest else sentences


def _gaps(result: Any, names: list[str]) -> dict[str, Any]:
    """Return how far every model is above the first one, by metric and model."""
    first, *others = names
    gaps: dict[str, Any] = {"log_loss": {}, "accuracy": {}}
    for metric, by_model in gaps.items():
        for name in others:
            if metric == "accuracy" or {name, first} <= set(result.proba):
                gap = result.difference(name, first, metric)
                by_model[name] = {
                    "mean": gap.mean,
                    "standard_error": gap.standard_error,
                    "interval": [*gap.interval()],
                }
    return gaps
