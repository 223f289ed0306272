# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that a script can see, on every file of the project."""

import tomllib
from importlib import resources

import pytest

from tests.meta import imports, sources

SOURCES = sources.python_files("src")
ALL_FILES = sources.python_files(
    "src", "tests", "benchmarks", "examples", "papers", "tools"
)
SOLVERS = sources.python_files("src/tiebreak/solvers")

KERNEL_OF_11 = "def add({}): pass".format(", ".join(f"a{i}" for i in range(11)))
BROKEN = [
    (sources.spdx_missing, '"""A module without the line."""\n'),
    (sources.too_long, "x = 1\n" * 901),
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
    (sources.imports_of_njit, "from numba import njit\n"),
    (sources.unsafe_options, "f = njit(fastmath=True)(g)\n"),
    (sources.unsafe_options, "f = njit(parallel=True)(g)\n"),
    (sources.unsafe_options, "f = njit(fastmath={'nnan'})(g)\n"),
]
FINE = [
    (sources.spdx_missing, sources.SPDX + "\n"),
    (sources.spdx_missing, ""),
    (sources.too_long, "x = 1\n" * 900),
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
    (sources.imports_of_njit, SOURCES),
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


HOUSE = {
    "house.__init__": "from house.rooms import Door, window",
    "house.rooms.__init__": "from house.rooms.doors import Door\nfrom . import windows",
    "house.rooms.doors": "from house.rooms import hinges\nimport numpy",
    "house.rooms.windows": "from .panes import Pane\nfrom .hinges import Hinge",
    "house.rooms.hinges": "from ..rooms import Door",
    "house.rooms.panes": "class Pane: ...",
    "house.rooms.stairs": "def climb():\n    import house.rooms.steps",
    "house.rooms.steps": "",
}


def test_importers_are_found():
    found = imports.importers(HOUSE)
    rooms = "house.rooms."
    assert found[rooms + "doors"] == {
        "house.__init__", rooms + "__init__", rooms + "hinges",
    }  # fmt: skip
    assert found[rooms + "hinges"] == {rooms + "doors", rooms + "windows"}
    assert found[rooms + "windows"] == {rooms + "__init__"}
    assert found[rooms + "__init__"] == {"house.__init__"}
    assert found[rooms + "stairs"] == set()
    assert imports.single_importers(HOUSE) == {
        rooms + "panes": rooms + "windows",
        rooms + "steps": rooms + "stairs",
    }


# A module with one importer belongs into the file of that importer, unless there is a
# reason: the name of the module, and the reason.
_COMMAND = "one file per command, imported when the command runs"
_LARGE = "with its importer it would be longer than a room may be"
SINGLE_IMPORTERS = {
    **{
        f"tiebreak.cli.{name}": _COMMAND
        for name in (
            "ask",
            "audit",
            "check",
            "compare",
            "convert",
            "data",
            "judges",
            "next",
            "predict",
            "rank",
            "versus",
        )
    },
    "tiebreak.ask.beliefs": "what is known so far, apart from what to ask next",
    "tiebreak.ask.organizer": "what the organizer sees, apart from how it is served",
    "tiebreak.ask.server": "all that imports Starlette and uvicorn, which are an extra",
    "tiebreak.io.grades": "one file per kind of data that files hold",
    "tiebreak.models.boosted_trees": "the only file that knows LightGBM",
    "tiebreak.models.l1.problem": _LARGE,
    "tiebreak.models.l1.risks": _LARGE,
    "tiebreak.models.logistic.problem": _LARGE,
    "tiebreak.outofcore.objectives": _LARGE,
    "tiebreak.robustness.choices": "the list of choices, to be read and extended alone",
    "tiebreak.persistence.checks": "what makes model files safe, to be read alone",
    "tiebreak.pipeline.diff": "the work of a command, without its words",
    "tiebreak.ratings.changes": "the mathematics of two runs, apart from their files",
    "tiebreak.ratings.checks.likelihood_tests": "the mathematics behind two findings",
    "tiebreak.ratings.strengths.recency": "weights by age, apart from the likelihood",
    "tiebreak.solvers.dual_qp.active_set": "one file per method of the dual QP",
    "tiebreak.solvers.dual_qp.interior_point": "one file per method of the dual QP",
    "tiebreak.losses.judge_likelihood": "an objective, and losses know no model",
}


def test_a_module_with_one_importer_has_a_reason():
    texts = imports.package_texts()
    found = imports.single_importers(texts)
    assert len(texts) > 20
    assert set(SINGLE_IMPORTERS) <= set(found), "these need no reason any more"
    assert all(SINGLE_IMPORTERS.values())
    unexplained = [
        f"{module}: only {user} imports it"
        for module, user in found.items()
        if module not in SINGLE_IMPORTERS
    ]
    assert not unexplained, "\n".join(unexplained)


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
