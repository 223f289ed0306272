# SPDX-License-Identifier: BSD-3-Clause
"""Every law with every model and every shape, and which of them run by default."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.extended import RUNS_ALL


def cross(
    models: Sequence[Any],
    laws: Mapping[str, Callable[..., None]],
    applies: Callable[[str, Any, Any], bool],
) -> Iterator[Any]:
    """Give a law, a model and a shape at a time, wherever the law applies.

    By default a law runs once per class: on one of its models and one shape, which
    change with the law, so that none of them is left out for long.
    """
    variants: dict[str, list[Any]] = {}
    for model in models:
        variants.setdefault(model.name.split("(")[0], []).append(model)
    for number, model in enumerate(models):
        for place, (name, law) in enumerate(laws.items()):
            shapes = [shape for shape in model.shapes if applies(name, model, shape)]
            able = [
                other
                for other in variants[model.name.split("(")[0]]
                if any(applies(name, other, shape) for shape in other.shapes)
            ]
            for turn, shape in enumerate(shapes):
                chosen = able[place % len(able)] is model
                by_default = chosen and turn == (number + place) % len(shapes)
                if not by_default and not RUNS_ALL:
                    continue  # thousands of cases that would only be left out
                yield pytest.param(
                    law,
                    model,
                    shape,
                    id=f"{model.name}-{shape.name}-{name}",
                    marks=() if by_default else pytest.mark.extended,
                )
