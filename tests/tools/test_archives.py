# SPDX-License-Identifier: BSD-3-Clause
"""The rules for the archives of a release, on small archives made for them."""

import io
import tarfile
import zipfile

import pytest

from tests.meta.sources import ROOT
from tools import archives

WHEEL = "tiebreak-0.1.0-py3-none-any.whl"
IN_WHEEL = [
    "tiebreak/__init__.py",
    "tiebreak/__init__.pyi",
    "tiebreak/py.typed",
    "tiebreak/datasets/registry.toml",
    "tiebreak/datasets/worldcup2022.csv",
    "tiebreak/ask/assets/ask.js",
    "tiebreak/ask/templates/ask.html",
    "tiebreak/report/assets/report.css",
    "tiebreak/report/assets/report.js",
    "tiebreak/report/templates/page.html.j2",
    "tiebreak-0.1.0.dist-info/METADATA",
]
IN_SDIST = [
    *(f"src/{name}" for name in IN_WHEEL[:-1]),
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile"),
    *("PKG-INFO", "README.md", "SECURITY.md", "conftest.py", "pyproject.toml"),
    *(".gitignore", "docs/data/votes.csv", "tests/io/shapes/refused/empty.csv"),
    *("docs/design.md", "docs/images/report.png", "examples/demo.py"),
    *("papers/results/000-chess.jsonl", "tests/conftest.py", "tools/smoke.py"),
]
METADATA = """Name: tiebreak
Version: 0.1.0
License-Expression: BSD-3-Clause
License-File: LICENSE
Classifier: Typing :: Typed
Requires-Python: >=3.11
Description-Content-Type: text/markdown

# tiebreak
"""


def test_a_good_release_has_no_findings():
    assert archives.wheel_findings(WHEEL, IN_WHEEL) == []
    assert archives.sdist_findings(IN_SDIST) == []
    assert archives.metadata_findings(METADATA) == []


@pytest.mark.parametrize("missing", IN_WHEEL[:-1])
def test_a_file_that_a_wheel_lacks_is_named(missing):
    names = [name for name in IN_WHEEL if name != missing]
    assert archives.wheel_findings(WHEEL, names) == [f"{missing} is missing"]


@pytest.mark.parametrize(
    "missing", ["LICENSE", "CITATION.cff", "docs/design.md", "tests/conftest.py"]
)
def test_a_file_that_an_sdist_lacks_is_named(missing):
    names = [name for name in IN_SDIST if name != missing]
    assert archives.sdist_findings(names) == [f"{missing} is missing"]


@pytest.mark.parametrize(
    "extra",
    [
        "tests/conftest.py",
        "docs/design.md",
        "papers/__init__.py",
        "tiebreak/datasets/sushi.csv",
        "tiebreak/notes.md",
        "tiebreak/data/__pycache__/pairs.cpython-311.pyc",
        "tiebreak/data/loops.so",
    ],
)
def test_what_does_not_belong_into_a_wheel_is_named(extra):
    findings = archives.wheel_findings(WHEEL, [*IN_WHEEL, extra])
    assert findings
    assert all(finding.startswith(extra) for finding in findings)


@pytest.mark.parametrize(
    "extra",
    [
        "notes.txt",
        "shared/README.md",
        ".ci/run",
        "tests/sushi.csv",
        "tests/models/elo.tiebreak",
        "docs/votes.parquet",
        "src/tiebreak/datasets/results.CSV",
        "papers/results/quick/000-chess.jsonl",
        "papers/000-chess.jsonl",
        "tests/.hypothesis/examples/0",
        "tests/__pycache__/conftest.nbi",
        "src/tiebreak/losses/sums.nbc",
        "docs/_build/html/index.html",
    ],
)
def test_what_does_not_belong_into_an_sdist_is_named(extra):
    findings = archives.sdist_findings([*IN_SDIST, extra])
    assert findings
    assert all(finding.startswith(extra) for finding in findings)


def test_a_wheel_for_one_platform_is_refused():
    name = "tiebreak-0.1.0-cp311-cp311-linux_x86_64.whl"
    (finding,) = archives.wheel_findings(name, IN_WHEEL)
    assert "pure" in finding


@pytest.mark.parametrize(
    ("said", "instead", "named"),
    [
        (">=3.11", ">=3.8", "Requires-Python"),
        ("Typing :: Typed", "Natural Language :: English", "Typing :: Typed"),
        ("License-File: LICENSE\n", "", "License-File"),
    ],
)
def test_metadata_that_say_something_else_are_found(said, instead, named):
    (finding,) = archives.metadata_findings(METADATA.replace(said, instead))
    assert named in finding


@pytest.mark.parametrize(
    ("changelog", "version"),
    [
        ("# Changelog\n\n## 0.2.0 - 2027-01-31\n\n## 0.1.0 - 2026-11-16\n", "0.2.0"),
        ("# Changelog\n\n## Unreleased\n\n- A line.\n\n## 0.1.0 - 2026-11-16\n", None),
        ("# Changelog\n\n## 0.2.0\n\n## 0.1.0 - 2026-11-16\n", None),
        ("# Changelog\n", None),
    ],
)
def test_the_first_heading_of_the_changelog_counts(changelog, version):
    assert archives.changelog_version(changelog) == version


def test_versions_must_agree_and_be_there():
    assert archives.version_findings({"wheel": "0.1.0", "CHANGELOG": "0.1.0"}) == []
    for other in ("0.1.1", None):
        said = {"wheel": "0.1.0", "sdist": "0.1.0", "CHANGELOG": other}
        (finding,) = archives.version_findings(said)
        assert f"CHANGELOG: {other}" in finding
    assert archives.version_findings({"wheel": None, "CHANGELOG": None})


def test_both_kinds_of_archive_are_read(tmp_path):
    wheel, sdist = tmp_path / WHEEL, tmp_path / "tiebreak-0.1.0.tar.gz"
    with zipfile.ZipFile(wheel, "w") as file:
        file.mkdir("tiebreak")
        file.writestr("tiebreak/__init__.py", "best = 'é'\n")
    with tarfile.open(sdist, "w:gz") as file:
        folder = tarfile.TarInfo("tiebreak-0.1.0/docs")
        folder.type = tarfile.DIRTYPE
        file.addfile(folder)
        text = "# Changelog, é\n".encode()
        member = tarfile.TarInfo("tiebreak-0.1.0/CHANGELOG.md")
        member.size = len(text)
        file.addfile(member, io.BytesIO(text))
    assert archives.names_in(wheel) == ["tiebreak/__init__.py"]
    assert archives.names_in(sdist) == ["CHANGELOG.md"]
    assert archives.text_in(wheel, "tiebreak/__init__.py") == "best = 'é'\n"
    assert archives.text_in(sdist, "CHANGELOG.md") == "# Changelog, é\n"


def test_the_files_that_a_release_needs_are_there():
    for name in (*archives.SDIST_FILES, *archives.IN_SDIST):
        assert name == "PKG-INFO" or (ROOT / name).is_file(), name
