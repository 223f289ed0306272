# SPDX-License-Identifier: BSD-3-Clause
"""Names that are imported when they are first used.

A program that needs one model does not wait for all models, solvers and tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(
    package: str, homes: Mapping[str, str]
) -> tuple[dict[str, str], Callable[[str], Any]]:
    """Return the module of each name, and the ``__getattr__`` of a package.

    ``homes`` has the names of each module, separated by blanks; a module is named as
    it is from the package.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return home_of, find


class LateModule:
    """Stands for a module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
