# SPDX-License-Identifier: BSD-3-Clause
"""People's votes between the answers of two language models."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tiebreak.data import Pairs
from tiebreak.datasets.fetching import obtain
from tiebreak.datasets.registry import REGISTRY
from tiebreak.datasets.tables import (
    outcomes_from_words,
    read_results,
    refuse,
    refuse_same,
)

_TAGS = (
    "creative_writing", "complexity", "creativity", "domain_knowledge",
    "problem_solving", "real_world", "specificity", "technical_accuracy",
    "instruction_following", "math",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ArenaVotes:
    """What `load_lm_arena` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per vote, left is model A. Models have names but no features.
    y : ndarray of int8, shape (n,)
        -1 the left answer is better, 0 tie or both bad, +1 the right answer is better.
    both_bad : ndarray of bool, shape (n,)
        Which of the ties say that both answers are bad.
    tags : dict of str to ndarray of bool, shape (n,)
        Ten tags of the prompt; ``pairs[tags["math"]]`` are votes on mathematics.
    n_same : int
        How many votes between a model and itself were left out.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    both_bad: np.ndarray = field(repr=False)
    tags: dict[str, np.ndarray] = field(repr=False)
    n_same: int = 0
    description: str = field(repr=False, default=REGISTRY["lm_arena_140k"].description)


@dataclass(frozen=True, eq=False)
class CrowdVotes:
    """What `load_llmfao` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One per judgment, left and right as shown. Models have names, but no features.
    y : ndarray of int8, shape (n,)
        -1 the left answer is better, 0 tie, +1 the right answer is better.
    rater, prompt, pair : ndarray of int64, shape (n,)
        Numbers of the worker who judged, of the prompt, and of the pair of answers, of
        which several workers judged the same.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    rater: np.ndarray = field(repr=False)
    prompt: np.ndarray = field(repr=False)
    pair: np.ndarray = field(repr=False)
    description: str = field(repr=False, default=REGISTRY["llmfao"].description)


def load_lm_arena(*, download: bool = True) -> ArenaVotes:
    """Load 2025's votes between language models from LMArena, with tags of the prompts.

    ``both_bad`` counts as a tie and is marked. Rows with the same model on both sides
    are left out and counted in ``n_same``.

    Parameters
    ----------
    download : bool, default=True
        Makes no difference: the error says how to get this set by hand.

    Returns
    -------
    ArenaVotes

    Raises
    ------
    FileNotFoundError
        If ``lm_arena_140k/battles.csv.gz`` is not here. It has the columns ``model_a``,
        ``model_b``, ``winner`` (``model_a``, ``model_b``, ``tie`` or ``both_bad``) and
        ten tags of 0 and 1.
    ValueError
        If the file is no such table.
    """
    path = obtain("lm_arena_140k/battles.csv.gz", download=download)
    words = {"model_a": -1, "model_b": 1, "tie": 0, "both_bad": 0}
    table = read_results(
        path,
        {
            **dict.fromkeys(["model_a", "model_b", "winner"], pl.String),
            **dict.fromkeys(_TAGS, pl.Int64),
        },
    )
    for tag in _TAGS:
        refuse(path, table.filter(~pl.col(tag).is_in([0, 1])), tag, "0 or 1")
    outcomes_from_words(path, table, "winner", words)  # also those that are left out
    votes = table.filter(pl.col("model_a") != pl.col("model_b"))
    return ArenaVotes(
        pairs=Pairs(None, votes["model_a"], votes["model_b"]),
        y=outcomes_from_words(path, votes, "winner", words),
        both_bad=(votes["winner"] == "both_bad").to_numpy(writable=True),
        tags={tag: (votes[tag] == 1).to_numpy(writable=True) for tag in _TAGS},
        n_same=table.height - votes.height,
    )


def load_llmfao(*, download: bool = True) -> CrowdVotes:
    """Load 2023's judgments of crowd workers on language models, from LLMFAO.

    Parameters
    ----------
    download : bool, default=True
        Whether a missing file is downloaded, which a warning announces.

    Returns
    -------
    CrowdVotes

    Raises
    ------
    FileNotFoundError
        If ``llmfao/llmfao.csv`` is neither here nor can be downloaded. Its columns are
        ``id``, ``prompt``, ``worker``, ``left``, ``right`` and ``winner``.
    ValueError
        If the file is no such table.
    """
    path = obtain("llmfao/llmfao.csv", download=download)
    table = read_results(
        path,
        {
            **dict.fromkeys(["id", "prompt", "worker"], pl.Int64),
            **dict.fromkeys(["left", "right", "winner"], pl.String),
        },
    )
    refuse_same(path, table, "left", "right")
    words = {"left": -1, "right": 1, "tie": 0}
    return CrowdVotes(
        pairs=Pairs(None, table["left"], table["right"]),
        y=outcomes_from_words(path, table, "winner", words),
        rater=table["worker"].to_numpy(writable=True),
        prompt=table["prompt"].to_numpy(writable=True),
        pair=table["id"].to_numpy(writable=True),
    )
