# SPDX-License-Identifier: BSD-3-Clause
"""The published sets that this package knows, read from ``registry.toml``."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType
from typing import Any

from tiebreak.datasets import recipes
from tiebreak.datasets.recipes import Recipe, as_served


@dataclass(frozen=True)
class Served:
    """One thing that can be downloaded.

    Attributes
    ----------
    urls : tuple of str
        Addresses of the same thing, which are tried in turn.
    limit : int
        Number of bytes after which a download is refused.
    sha256 : str
        Of what is served. Empty: only the files that are made from it are checked.
    """

    urls: tuple[str, ...]
    limit: int
    sha256: str = ""


@dataclass(frozen=True)
class DataFile:
    """One file of a set.

    Attributes
    ----------
    name : str
        Path below the data folder, with forward slashes.
    sha256 : str
        Of the file, or for ``.gz`` and ``.npz`` of what is packed in it.
    size : int
        Bytes on disk, about.
    """

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Delivery:
    """Files that arrive together.

    Attributes
    ----------
    files : tuple of DataFile
        What is delivered.
    served : tuple of Served
        What is downloaded for it; empty if that is not possible.
    make : callable
        Makes the contents of the files, in their order, from the bytes served. Raises
        a ValueError if they are not what was expected.
    by_hand : str
        What to do where nothing can be downloaded, in full sentences.
    """

    files: tuple[DataFile, ...]
    served: tuple[Served, ...] = ()
    make: Recipe = as_served
    by_hand: str = ""


@dataclass(frozen=True)
class DataSet:
    """One published set.

    Attributes
    ----------
    name, what : str
        Name of the set and of its folder; what it is, in one line.
    rows, unit : int, str
        How much there is of it, and what `rows` counts.
    license, terms : str
        The terms in a few words, and in a sentence or two.
    publisher, cite : str
        Page of who made it public, and what to name when results are published.
    deliveries : tuple of Delivery
        How its files arrive.
    bundled : bool
        Whether it ships with this package.
    description : str
        What the data are, whose they are, and on what terms.
    tables : dict
        What is said of each table where a set has several.
    """

    name: str
    what: str
    rows: int
    unit: str
    license: str
    terms: str
    publisher: str
    cite: str
    deliveries: tuple[Delivery, ...]
    bundled: bool = False
    description: str = field(default="", repr=False)
    tables: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files of the set."""
        return tuple(file for delivery in self.deliveries for file in delivery.files)

    @property
    def size(self) -> int:
        """Bytes on disk, about."""
        return sum(file.size for file in self.files)

    @property
    def by_hand(self) -> str:
        """What cannot be downloaded, and what to do about it; empty if all can."""
        return " ".join(each.by_hand for each in self.deliveries if each.by_hand)


# Recipes by name; those that make a recipe take the other entries as parameters.
_RECIPES = ("concrete_table", "jester_matrix", "konect_games", "tennis_years")
_RECIPE_MAKERS = ("arff_table", "zip_members")


def _read_recipe(name: str, **parameters: Any) -> Recipe:
    makes = name in _RECIPE_MAKERS
    if not makes and (name not in _RECIPES or parameters):
        raise ValueError(f"registry.toml has an unknown recipe {name!r}.")
    found: Any = getattr(recipes, name)
    recipe: Recipe = found(**parameters) if makes else found
    return recipe


def _read_delivery(
    files: list[dict[str, Any]],
    served: list[dict[str, Any]] | None = None,
    recipe: dict[str, Any] | None = None,
    by_hand: str = "",
) -> Delivery:
    return Delivery(
        tuple(DataFile(**file) for file in files),
        tuple(Served(tuple(one.pop("urls")), **one) for one in served or ()),
        as_served if recipe is None else _read_recipe(**recipe),
        by_hand,
    )


def _read_registry() -> dict[str, DataSet]:
    """Return the sets by name, in the order of the file."""
    text = resources.files(__package__).joinpath("registry.toml").read_text("utf-8")
    found = {}
    for entry in tomllib.loads(text)["set"]:
        deliveries = tuple(_read_delivery(**each) for each in entry.pop("delivery"))
        found[entry["name"]] = DataSet(**entry, deliveries=deliveries)
    return found


REGISTRY: Mapping[str, DataSet] = MappingProxyType(_read_registry())
"""All sets by their names."""


def find_set(name: str) -> tuple[DataSet, tuple[DataFile, ...]]:
    """Give a set with all of its files, or with the one file that was named."""
    if name in REGISTRY:
        return REGISTRY[name], REGISTRY[name].files
    for dataset in REGISTRY.values():
        for file in dataset.files:
            if file.name == name:
                return dataset, (file,)
    first = REGISTRY.get(name.partition("/")[0])
    if first is not None:
        known = ", ".join(file.name for file in first.files)
        raise ValueError(
            f"The set {first.name!r} has no file {name!r}; its files are {known}."
        )
    similar = difflib.get_close_matches(name, REGISTRY, 1, 0.5)
    meant = f" Did you mean {similar[0]!r}?" if similar else ""
    raise ValueError(
        f"There is no data set {name!r}.{meant} The sets are {', '.join(REGISTRY)}."
    )
