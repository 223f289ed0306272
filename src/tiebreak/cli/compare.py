# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak compare``: several models on the same held-out rows."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

from tiebreak import BradleyTerry
from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions
from tiebreak.pipeline.comparisons import ComparisonData, read_comparisons
from tiebreak.pipeline.held_out import one_rater, predict_held_out
from tiebreak.pipeline.models import (
    choose_model,
    grid_for,
    models_for,
    set_half_life,
    tune_model,
)
from tiebreak.selection import ForwardResult


def run(
    file: Path,
    reading: ReadOptions,
    *,
    models: str,
    half_life: str | None,
    tune: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, evaluate every model on the same rows, and print."""
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, said = read_comparisons(file, reading)
        chosen = _choose(models, data, half_life)
        if tune:
            said += _tune(chosen, data, steps)
        steps(f"predicting held-out results with {', '.join(chosen)}")
        result = predict_held_out(chosen, data)
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


def _choose(models: str, data: ComparisonData, half_life: str | None) -> dict[str, Any]:
    """Return the models; those without a half-life are compared as they are."""
    names = [name.strip() for name in models.split(",") if name.strip()]
    chosen = {}
    for name in names or models_for(data, unasked=True):
        try:
            model = choose_model(name, data, by_name_too=True).model
        except ValueError as error:
            said = str(error).replace("--model ", "--models ")
            raise ValueError(said) from None
        if half_life is not None and isinstance(model, BradleyTerry):
            set_half_life(model, half_life, data)
        chosen[name] = model
    if half_life is not None and not any(
        isinstance(model, BradleyTerry) for model in chosen.values()
    ):
        raise ValueError(
            "--half-life is for bradley-terry, davidson and rao-kupper, and none of "
            "them is compared; leave it out."
        )
    return chosen


def _tune(chosen: dict[str, Any], data: ComparisonData, steps: Steps) -> list[str]:
    """Replace models by tuned ones, and say what was chosen."""
    said: list[str] = []
    honest = ""
    for name, model in chosen.items():
        try:
            grid_for(name, dated="period" in data.columns)
        except ValueError as error:
            said.append(f"{name} is not tuned. {error}")
            continue
        steps(f"tuning {name}")
        with steps.paused():
            tuned = tune_model(name, model, data, progress=steps.shown)
        chosen[name] = tuned.model
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
