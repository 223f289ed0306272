# SPDX-License-Identifier: BSD-3-Clause
"""People's votes between the answers of two language models."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tiebreak.data import Pairs
from tiebreak.datasets.fetching import obtain
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

_ARENA_DESCRIPTION = """\
Votes of visitors of LMArena (2025) who saw the answers of two language models side by
side, not knowing which they were. Left is model A. Votes that call both answers bad
count as ties and are marked. Votes between a model and itself say nothing about who is
better; they are left out and counted. Ten tags that the publisher's machine gave to the
prompts come with the votes; the texts do not. There is no time and no voter.

Data: LMArena, "arena-human-preference-140k",
https://huggingface.co/datasets/lmarena-ai/arena-human-preference-140k. CC BY 4.0 for
the prompts, according to the publisher."""

_LLMFAO_DESCRIPTION = """\
Judgments of crowd workers (2023) on pairs of answers of language models to 13 prompts,
about five workers for each pair of answers. Left and right are the sides on which the
answers were shown.

Data: LLMFAO, Dmitry Ustalov, https://dustalov.github.io/llmfao/, "under open-source
licenses"; the file is also part of the program evalica, which is under Apache 2.0."""


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
        What the prompt is about or asks for, ten tags; ``pairs[tags["math"]]`` are the
        votes on mathematics.
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
    description: str = field(repr=False, default=_ARENA_DESCRIPTION)


@dataclass(frozen=True, eq=False)
class CrowdVotes:
    """What `load_llmfao` returns.

    Attributes
    ----------
    pairs : Pairs of length n
        One comparison per judgment, left and right as shown. Models have names but no
        features.
    y : ndarray of int8, shape (n,)
        -1 the left answer is better, 0 tie, +1 the right answer is better.
    rater : ndarray of int64, shape (n,)
        Number of the worker who judged.
    prompt : ndarray of int64, shape (n,)
        Number of the prompt that was answered.
    pair : ndarray of int64, shape (n,)
        Number of the pair of answers; several workers judged the same.
    description : str
        What the data are, whose they are, and on what terms.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    rater: np.ndarray = field(repr=False)
    prompt: np.ndarray = field(repr=False)
    pair: np.ndarray = field(repr=False)
    description: str = field(repr=False, default=_LLMFAO_DESCRIPTION)


def load_lm_arena(*, download: bool = True) -> ArenaVotes:
    """Load 2025's votes between language models from LMArena, with tags of the prompts.

    ``both_bad`` counts as a tie and is marked. Rows with the same model on both sides
    are left out and counted in ``n_same``.

    Parameters
    ----------
    download : bool, default=True
        As of other loaders; but this set has no address to download it from, and the
        error says how to get it by hand.

    Returns
    -------
    ArenaVotes
        ``pairs``, ``y``, ``both_bad``, ``tags``, ``n_same`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``lm_arena_140k/battles.csv.gz`` is not on this machine and cannot
        be downloaded. It has the columns ``model_a``, ``model_b``, ``winner``
        (``model_a``, ``model_b``, ``tie`` or ``both_bad``) and ten tags of 0 and 1.
    ValueError
        If the file is no such table; the message names the lines.
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
        Whether a missing file is downloaded; a warning says from where and on what
        terms.

    Returns
    -------
    CrowdVotes
        ``pairs``, ``y``, ``rater``, ``prompt``, ``pair`` and ``description``.

    Raises
    ------
    FileNotFoundError
        If the file ``llmfao/llmfao.csv`` is not on this machine and cannot be
        downloaded. It has the columns ``id``, ``prompt``, ``worker``, ``left``,
        ``right`` and ``winner`` (``left``, ``right`` or ``tie``).
    ValueError
        If the file is no such table; the message names the lines.
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
