# SPDX-License-Identifier: BSD-3-Clause
"""What may be in the two archives of a release, and what must be.

Every rule is a function from names or texts to a list of findings; an empty list says
that nothing is wrong. Names are those of files, as the archive spells them.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

__all__ = [
    "IN_SDIST",
    "IN_WHEEL",
    "SDIST_FILES",
    "changelog_version",
    "metadata_findings",
    "names_in",
    "sdist_findings",
    "text_in",
    "version_findings",
    "wheel_findings",
]

# Whatever a run, a tool or an editor leaves behind.
_LEFTOVERS = {"__pycache__", "_build", "build", "dist", "htmlcov", "tiebreak-demo"}
_COMPILED = {".nbc", ".nbi", ".pyc", ".pyd", ".pyo", ".so"}
# What data come in. The project ships one small table, results of its papers and of two
# benchmarks, the votes that its pages show, and small files of every form for tests.
_DATA = {
    *(".arff", ".bz2", ".csv", ".dat", ".data", ".gz", ".jsonl", ".npy", ".npz"),
    *(".parquet", ".soc", ".soi", ".svm", ".tar", ".tiebreak", ".toc", ".toi"),
    *(".tsv", ".xls", ".xlsx", ".zip"),
}
_BUNDLED = "datasets/worldcup2022.csv"
_SHIPPED = re.compile(
    r"papers/results/[^/]+\.jsonl|benchmarks/(accuracy|asking)\.jsonl"
    r"|docs/data/votes\.csv|tests/io/shapes/(refused/)?[^/]+"
)

IN_WHEEL = [
    "tiebreak/__init__.py",
    "tiebreak/__init__.pyi",
    "tiebreak/py.typed",
    f"tiebreak/{_BUNDLED}",
    "tiebreak/datasets/registry.toml",
    "tiebreak/ask/assets/ask.js",
    "tiebreak/ask/templates/ask.html",
    "tiebreak/report/assets/report.css",
    "tiebreak/report/assets/report.js",
    "tiebreak/report/templates/page.html.j2",
]
_WHEEL_SUFFIXES = {
    ".py",
    ".pyi",
    ".typed",
    ".css",
    ".html",
    ".j2",
    ".js",
    ".svg",
    ".toml",
}
IN_SDIST = [
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile"),
    *("PKG-INFO", "README.md", "SECURITY.md", "conftest.py", "pyproject.toml"),
    *("docs/design.md", "examples/demo.py", "tests/conftest.py"),
    *(f"src/{name}" for name in IN_WHEEL),
]
_SDIST_FOLDERS = {"benchmarks", "docs", "examples", "papers", "src", "tests", "tools"}
SDIST_FILES = {name for name in IN_SDIST if "/" not in name} | {".gitignore"}


def names_in(archive: Path) -> list[str]:
    """List the files of a wheel, or of an sdist without its outer folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as sdist:
        files = [member.name for member in sdist if not member.isdir()]
    return [name.partition("/")[2] for name in files]


def text_in(archive: Path, name: str) -> str:
    """Read one file of an archive; ``name`` as :func:`names_in` gives it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(name).decode("utf-8")
    with tarfile.open(archive) as sdist:
        outer = sdist.getnames()[0].partition("/")[0]
        file = sdist.extractfile(f"{outer}/{name}")
        if file is None:
            raise ValueError(f"{name} is no file in {archive.name}")
        return file.read().decode("utf-8")


def wheel_findings(filename: str, names: list[str]) -> list[str]:
    """Find what is wrong with a wheel: its tags, what is missing, what is too much."""
    findings = []
    if not filename.endswith("-py3-none-any.whl"):
        findings.append(f"{filename}: expected a pure wheel, -py3-none-any.whl")
    findings += _missing(names, IN_WHEEL)
    for name in names:
        top = name.partition("/")[0]
        if top.endswith(".dist-info"):
            continue
        if top != "tiebreak":
            findings.append(f"{name}: only the package belongs into a wheel")
        elif _suffix(name) not in _WHEEL_SUFFIXES and name != f"tiebreak/{_BUNDLED}":
            findings.append(f"{name}: neither code nor a file that the code needs")
    return findings + _left_behind(names)


def sdist_findings(names: list[str]) -> list[str]:
    """Find what is wrong with an sdist: what is missing, what is too much."""
    findings = _missing(names, IN_SDIST)
    for name in names:
        top, _, rest = name.partition("/")
        if top not in (_SDIST_FOLDERS if rest else SDIST_FILES):
            findings.append(f"{name}: not a part of the project")
        elif (
            _suffix(name) in _DATA
            and name != f"src/tiebreak/{_BUNDLED}"
            and not _SHIPPED.fullmatch(name)
        ):
            findings.append(f"{name}: data sets are not shipped")
    return findings + _left_behind(names)


def metadata_findings(metadata: str) -> list[str]:
    """Find what the METADATA of a wheel does not say."""
    fields = HeaderParser().parsestr(metadata)
    findings = [
        f"METADATA: {field} is {fields[field]!r}, expected {wanted!r}"
        for field, wanted in [
            ("Name", "tiebreak"),
            ("License-Expression", "BSD-3-Clause"),
            ("License-File", "LICENSE"),
            ("Requires-Python", ">=3.11"),
            ("Description-Content-Type", "text/markdown"),
        ]
        if fields[field] != wanted
    ]
    if "Typing :: Typed" not in fields.get_all("Classifier", []):
        findings.append("METADATA: the classifier 'Typing :: Typed' is missing")
    return findings


def changelog_version(changelog: str) -> str | None:
    r"""The version of the first heading, if it has one and a date.

    A heading without a version, "Unreleased", gives None: it is not time yet.

    >>> changelog_version("# Changelog\n\n## 0.2.0 - 2027-01-31\n\n### Added")
    '0.2.0'
    """
    heading = re.search(r"^## (.*)$", changelog, re.MULTILINE)
    found = heading and re.fullmatch(r"(\d\S*) - \d{4}-\d\d-\d\d", heading.group(1))
    return found.group(1) if found else None


def version_findings(versions: dict[str, str | None]) -> list[str]:
    """Find out whether the places that say a version all say the same one."""
    if len(set(versions.values())) == 1 and None not in versions.values():
        return []
    said = ", ".join(f"{place}: {version}" for place, version in versions.items())
    return [f"versions differ or are missing: {said}"]


def _missing(names: list[str], wanted: list[str]) -> list[str]:
    return [f"{name} is missing" for name in wanted if name not in names]


def _left_behind(names: list[str]) -> list[str]:
    """Find caches, compiled code, environments and hidden files."""
    findings = []
    for name in names:
        *folders, last = PurePosixPath(name).parts
        hidden = [part for part in folders if part.startswith(".")]
        if hidden or _LEFTOVERS.intersection(folders):
            findings.append(f"{name}: left behind by a run or a tool")
        elif _suffix(last) in _COMPILED:
            findings.append(f"{name}: compiled code")
    return findings


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
