# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that a script can see, on every file of the project."""

import tomllib
from importlib import resources

import pytest

from tests.meta import sources

SOURCES = sources.python_files("src")
ALL_FILES = sources.python_files(
    "src", "tests", "benchmarks", "examples", "papers", "tools"
)
SOLVERS = sources.python_files("src/tiebreak/solvers")

KERNEL_OF_11 = "def add({}): pass".format(", ".join(f"a{i}" for i in range(11)))
BROKEN = [
    (sources.spdx_missing, '"""A module without the line."""\n'),
    (sources.too_long, "x = 1\n" * 401),
    (sources.calls_to_print, "if True:\n    print('left')\n"),
    (sources.uses_of_nan_to_num, "import numpy as np\nx = np.nan_to_num(1.0)\n"),
    (sources.uses_of_nan_to_num, "from numpy import nan_to_num\n"),
    (sources.mentions_of_rank, "def solve(rank_loss): ...\n"),
    (sources.mentions_of_rank, '"""As in RankSVM."""\n'),
    (sources.compiled_against_the_rules, "@njit\ndef add(a): pass\n"),
    (sources.compiled_against_the_rules, "@njit(cache=True)\ndef add(a): pass\n"),
    (
        sources.compiled_against_the_rules,
        f"@numba.njit(cache=True, nogil=True)\n{KERNEL_OF_11}\n",
    ),
    (sources.unsafe_options, "f = njit(fastmath=True)(g)\n"),
    (sources.unsafe_options, "f = njit(parallel=True)(g)\n"),
    (sources.unsafe_options, "f = njit(fastmath={'nnan'})(g)\n"),
]
FINE = [
    (sources.spdx_missing, sources.SPDX + "\n"),
    (sources.spdx_missing, ""),
    (sources.too_long, "x = 1\n" * 400),
    (sources.calls_to_print, '"""Say it.\n\n>>> print("left")\nleft\n"""\n'),
    (sources.mentions_of_rank, "frankly = 1\n"),
    (
        sources.compiled_against_the_rules,
        "@njit(cache=True, nogil=True)\ndef add(a): pass\n",
    ),
    (sources.unsafe_options, "f = njit(fastmath=False)(g)\n"),
]


def _id(value):
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize(("rule", "text"), BROKEN, ids=_id)
def test_a_rule_finds_what_breaks_it(rule, text):
    assert rule(text)


@pytest.mark.parametrize(("rule", "text"), FINE, ids=_id)
def test_a_rule_lets_the_rest_pass(rule, text):
    assert rule(text) == []


def test_there_are_files_to_check():
    assert len(SOURCES) > 20
    assert set(SOLVERS) < set(SOURCES) < set(ALL_FILES)
    assert SOLVERS


RULES = [
    (sources.spdx_missing, ALL_FILES),
    (sources.too_long, SOURCES),
    (sources.calls_to_print, SOURCES),
    (sources.uses_of_nan_to_num, SOURCES),
    (sources.compiled_against_the_rules, SOURCES),
    (sources.unsafe_options, SOURCES),
    (sources.mentions_of_rank, SOLVERS),
]


@pytest.mark.parametrize(("rule", "paths"), RULES, ids=_id)
def test_every_file_keeps_the_rule(rule, paths):
    findings = [
        f"{path.relative_to(sources.ROOT)}: {finding}"
        for path in paths
        for finding in rule(path.read_text(encoding="utf-8"))
    ]
    assert not findings, "\n".join(findings)


def test_no_file_is_a_drawer_for_everything():
    drawers = {"util", "utils", "utilities", "helpers", "misc", "common"}
    assert [path for path in SOURCES if path.stem in drawers] == []


def test_the_layers_have_no_exceptions():
    pyproject = tomllib.loads((sources.ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    assert {contract["type"] for contract in contracts} == {"layers", "forbidden"}
    assert [c["name"] for c in contracts if "ignore_imports" in c] == []


def test_data_files_come_with_the_package():
    package = resources.files("tiebreak")
    assert package.joinpath("py.typed").is_file()
    table = package.joinpath("datasets", "worldcup2022.csv").read_text("utf-8")
    assert len(table.splitlines()) == 1 + 64
