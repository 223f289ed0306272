# SPDX-License-Identifier: BSD-3-Clause
"""Every law with every model and every shape, and which of them run by default."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest


def cross(
    models: Sequence[Any],
    laws: Mapping[str, Callable[..., None]],
    applies: Callable[[str, Any, Any], bool],
) -> Iterator[Any]:
    """Give a law, a model and a shape at a time, wherever the law applies.

    By default a law runs on one shape per model. The shape changes with the law and
    with the model, so that no shape of a model and none of a law is left out for long.
    """
    for number, model in enumerate(models):
        for place, (name, law) in enumerate(laws.items()):
            shapes = [shape for shape in model.shapes if applies(name, model, shape)]
            for turn, shape in enumerate(shapes):
                by_default = turn == (number + place) % len(shapes)
                yield pytest.param(
                    law,
                    model,
                    shape,
                    id=f"{model.name}-{shape.name}-{name}",
                    marks=() if by_default else pytest.mark.extended,
                )
