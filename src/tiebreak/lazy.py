# SPDX-License-Identifier: BSD-3-Clause
"""Names that are imported when they are first used.

A program that needs one model does not wait for all models, solvers and tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
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


def is_pipeline(model: Any) -> bool:
    """Whether this is a Pipeline of scikit-learn; none is there before its import."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


class LateModule:
    """Stands for a module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


class _Postponed(ModuleType):
    """Takes the place of a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def postpone(*modules: str) -> None:
    """Import modules that others ask for when they use them, and not before.

    For programs, which own their process: scikit-learn imports ``scipy.stats`` and
    pandas, which takes longer than all the rest, and hardly uses them.
    """
    for module in modules:
        # What is not installed must not look as if it were.
        if module not in sys.modules and find_spec(module) is not None:
            sys.modules[module] = _Postponed(module)
