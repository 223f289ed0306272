# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house that a script can see, on every file of the project."""

import re
import tomllib
from importlib import resources

import pytest

from tests.meta import imports, sources

SOURCES = sources.python_files("src")
ALL_FILES = sources.python_files(
    "src", "tests", "benchmarks", "examples", "papers", "tools"
)
SOLVERS = sources.python_files("src/tiebreak/solvers")

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


@pytest.mark.parametrize(
    ("rule", "paths"), RULES, ids=lambda value: getattr(value, "__name__", None)
)
def test_every_file_keeps_the_rule(rule, paths):
    assert paths
    findings = [
        f"{path.relative_to(sources.ROOT)}: {finding}"
        for path in paths
        for finding in rule(path.read_text(encoding="utf-8"))
    ]
    assert not findings, "\n".join(findings)


def test_no_file_is_a_drawer_for_everything():
    drawers = {"util", "utils", "utilities", "helpers", "misc", "common"}
    assert [path for path in SOURCES if path.stem in drawers] == []


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
    "tiebreak.ask.organizer": "what the organizer sees, apart from how it is served",
    "tiebreak.ask.run_judge": "threads that call a judge, apart from what is asked",
    "tiebreak.ask.server": "all that imports Starlette and uvicorn, which are an extra",
    "tiebreak.io.matrices": "one file per kind of data that files hold",
    "tiebreak.io.shapes": "the table of shapes, to be read and extended alone",
    "tiebreak.models.boosted_trees": "the only file that knows LightGBM",
    "tiebreak.models.l1.problem": _LARGE,
    "tiebreak.models.l1.risks": _LARGE,
    "tiebreak.outofcore.objectives": _LARGE,
    "tiebreak.robustness.choices": "the list of choices, to be read and extended alone",
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


# CVE-2025-27516, CVE-2024-47081, CVE-2025-43859 and CVE-2025-62727.
SAFE = {"jinja2": "3.1.6", "requests": "2.32.4", "h11": "0.16", "starlette": "0.49.1"}


@pytest.mark.parametrize("name", SAFE)
def test_releases_with_known_holes_are_not_allowed(name):
    pyproject = (sources.ROOT / "pyproject.toml").read_text("utf-8")
    bounds = re.findall(rf'"{name}>=([\d.]+)', pyproject)
    safe = [int(part) for part in SAFE[name].split(".")]
    assert bounds
    assert all([*map(int, bound.split("."))] >= safe for bound in bounds)


def test_the_tests_of_all_promises_exist():
    text = (sources.ROOT / "SECURITY.md").read_text("utf-8")
    assert len(text.split()) <= 900
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    code = "".join(p.read_text("utf-8") for p in (sources.ROOT / "tests").rglob("*.py"))
    for row in rows:
        named = re.findall(r"test_\w+(?:\.py)?", row.rpartition(" | ")[2])
        assert named, row
        for name in named:
            file = name.endswith(".py") and [*sources.ROOT.glob(f"tests/*/{name}")]
            assert file or f"def {name}(" in code, name


def test_data_files_come_with_the_package():
    package = resources.files("tiebreak")
    assert package.joinpath("py.typed").is_file()
    table = package.joinpath("datasets", "worldcup2022.csv").read_text("utf-8")
    assert len(table.splitlines()) == 1 + 64
