# SPDX-License-Identifier: BSD-3-Clause
"""All experiments, by paper."""

from __future__ import annotations

import importlib

from papers.experiment import Experiment

__all__ = ["PAPERS", "find"]

# A paper's number and the folder that reproduces it.
PAPERS = {
    "000": "svmcompare",
    "001": "swapped_pairs",
    "002": "ranking_pursuit",
    "003": "one_norm",
    "004": "supervised_ordering",
    "all": "all_methods",
}


def find(names: list[str]) -> list[Experiment]:
    """Give the experiments whose names begin with one of the names; all without."""
    every: list[Experiment] = []
    for folder in PAPERS.values():
        every += importlib.import_module(f"papers.{folder}.experiments").EXPERIMENTS
    for name in names:
        if not any(experiment.name.startswith(name) for experiment in every):
            known = ", ".join(experiment.name for experiment in every)
            raise ValueError(f"There is no experiment {name!r}. There are {known}.")
    prefixes = tuple(names) or ("",)
    return [experiment for experiment in every if experiment.name.startswith(prefixes)]
