# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak compare``: several models on the same held-out rows."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from tiebreak import BradleyTerry
from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions
from tiebreak.options import RankOptions, read_settings
from tiebreak.pipeline.comparisons import ComparisonData, read_comparisons
from tiebreak.pipeline.held_out import one_rater, predict_held_out
from tiebreak.pipeline.models import (
    Choice,
    choose_model,
    compared_models,
    grid_for,
    set_half_life,
    tune_model,
)
from tiebreak.selection import ForwardResult


def run(
    file: Path,
    reading: ReadOptions,
    *,
    models: str,
    options: RankOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, evaluate every model on the same rows, and print."""
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, said = read_comparisons(file, reading)
        chosen = _choose(models, data, options.half_life)
        if options.tune:
            said += _tune(chosen, data, steps)
        steps(f"predicting held-out results with {', '.join(chosen)}")
        models_of = {name: choice.model for name, choice in chosen.items()}
        result = predict_held_out(models_of, data)
    if one_rater(data):
        said.append(
            "All votes are those of one rater: standard errors allow for other votes "
            "of this rater, not for other raters."
        )
    gaps = _gaps(result, list(chosen))
    if as_json:
        found = {"recognized": said, "table": result.table.to_dicts()}
        above = {f"{metric}_above_first": by_model for metric, by_model in gaps.items()}
        print_json(found | above)
        return
    output = Output(quiet=quiet)
    output.say(said)
    output.print(result)
    first = next(iter(chosen))
    for metric, by_model in gaps.items():
        # Accuracies are compared only where there are no probabilities to compare.
        output.say(
            [
                _say_gap(f"{name}: {metric.replace('_', ' ')}", gap, first)
                for name, gap in by_model.items()
                if metric == "log_loss" or name not in gaps["log_loss"]
            ]
        )


def _say_gap(name: str, gap: dict[str, Any], first: str) -> str:
    low, high = gap["interval"]
    if not isfinite(gap["mean"]):
        return f"{name} is infinite: a result was given a probability of 0."
    if not isfinite(gap["standard_error"]):
        return f"{name} {gap['mean']:+.4f} compared with {first}."
    return (
        f"{name} {gap['mean']:+.4f} ± {gap['standard_error']:.4f} compared with "
        f"{first} (one standard error); 95 % interval from {low:+.4f} to {high:+.4f}."
    )


def _choose(
    models: str, data: ComparisonData, half_life: str | float | None
) -> dict[str, Choice]:
    """Return the models; those without a half-life are compared as they are."""
    asked = [" ".join(one.split()) for one in models.split(",") if one.strip()]
    chosen = {}
    for text in asked or compared_models(data):
        name, *settings = text.split()
        try:
            given = read_settings(settings)
            choice = choose_model(name, data, given, by_name_too=True)
        except ValueError as error:
            said = str(error).replace("--model ", "--models ").replace("--set ", "")
            raise ValueError(said) from None
        if half_life is not None and isinstance(choice.model, BradleyTerry):
            set_half_life(choice.model, half_life, data)
        chosen[text] = choice
    if half_life is not None and not any(
        isinstance(choice.model, BradleyTerry) for choice in chosen.values()
    ):
        raise ValueError(
            "--half-life is for bradley-terry, which is not compared; leave it out."
        )
    return chosen


def _tune(chosen: dict[str, Choice], data: ComparisonData, steps: Steps) -> list[str]:
    """Replace models by tuned ones, and say what was chosen."""
    said: list[str] = []
    honest = ""
    for name, choice in chosen.items():
        try:
            grid_for(choice, dated="period" in data.columns)
        except ValueError as error:
            said.append(f"{name} is not tuned. {error}")
            continue
        steps(f"tuning {name}")
        with steps.paused():
            tuned = tune_model(choice, data, progress=steps.shown)
        chosen[name] = replace(choice, model=tuned.model)
        *notes, honest = tuned.notes
        said += [f"{name}: {note}" for note in notes]
    return [*said, honest] if honest else said


def _gaps(result: ForwardResult, names: list[str]) -> dict[str, Any]:
    """Return how far every model is above the first one, by metric and model."""
    first, *others = names
    gaps: dict[str, Any] = {"log_loss": {}, "accuracy": {}}
    for name in others:
        for metric in ("log_loss", "accuracy"):
            if metric == "log_loss" and not {name, first} <= set(result.proba):
                continue
            gap = result.difference(name, first, metric)
            found = {"mean": gap.mean, "standard_error": gap.standard_error}
            gaps[metric][name] = found | {"interval": [*gap.interval()]}
    return gaps
