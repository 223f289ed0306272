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


def test_files_that_are_missing_are_named():
    assert archives.wheel_findings(WHEEL, IN_WHEEL[1:]) == [
        "tiebreak/__init__.py is missing"
    ]
    names = [name for name in IN_SDIST if name != "LICENSE"]
    assert archives.sdist_findings(names) == ["LICENSE is missing"]


@pytest.mark.parametrize(
    ("extra", "in_wheel"),
    [
        ("tests/conftest.py", True),
        ("tiebreak/datasets/sushi.csv", True),
        ("tiebreak/data/loops.so", True),
        ("notes.txt", False),
        ("shared/README.md", False),
        ("tests/models/elo.tiebreak", False),
        ("papers/000-chess.jsonl", False),
        ("src/tiebreak/losses/sums.nbc", False),
        ("docs/_build/html/index.html", False),
    ],
)
def test_files_that_do_not_belong_into_an_archive_are_named(extra, in_wheel):
    findings = (
        archives.wheel_findings(WHEEL, [*IN_WHEEL, extra])
        if in_wheel
        else archives.sdist_findings([*IN_SDIST, extra])
    )
    assert findings
    assert all(finding.startswith(extra) for finding in findings)


def test_wrong_metadata_are_found():
    (finding,) = archives.metadata_findings(METADATA.replace(">=3.11", ">=3.8"))
    assert "Requires-Python" in finding
    (finding,) = archives.wheel_findings(
        WHEEL.replace("none-any", "cp311-linux"), IN_WHEEL
    )
    assert "pure" in finding


def test_versions_must_agree():
    assert (
        archives.changelog_version("# Changelog\n\n## 0.2.0 - 2027-01-31\n") == "0.2.0"
    )
    assert archives.changelog_version("# Changelog\n\n## Unreleased\n") is None
    assert archives.version_findings({"wheel": "0.1.0", "CHANGELOG": "0.1.0"}) == []
    assert archives.version_findings({"wheel": "0.1.0", "CHANGELOG": None})


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
