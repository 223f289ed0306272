# SPDX-License-Identifier: BSD-3-Clause
"""Old names of modules, which work for one release and warn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


def renamed_module(
    old: str, new: str, names: Mapping[str, str]
) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that finds old names in the new module."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        new_name = names.get(name, name)
        module = import_module(new)
        if not hasattr(module, new_name):
            similar = get_close_matches(new_name, module.__all__, 1)
            hint = f" Did you mean {new}.{similar[0]}?" if similar else ""
            raise AttributeError(
                f"{old} is {new} since version 0.2, which has no {name!r}.{hint}"
            )
        value = getattr(module, new_name)
        warnings.warn(
            f"{old}.{name} is {new}.{new_name} since version 0.2; the old name will be "
            "removed in 0.3.",
            FutureWarning,
            stacklevel=2,
        )
        return value

    return find
