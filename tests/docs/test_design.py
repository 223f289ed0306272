# SPDX-License-Identifier: BSD-3-Clause
"""docs/design.md names files and functions that exist, and the layers that are."""

import ast
import re
import tomllib

import pytest

from tests.meta.sources import PACKAGE, ROOT

PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"(\w+/)*\w+\.(pyi?|toml|md|js|json)")


def section(title):
    return PAGE.split(f"\n## {title}")[1].split("\n## ")[0]


def rows(text):
    """Give the cells of the rows of the tables in a text, without their heads."""
    found = [row.strip("|").split(" | ") for row in text.splitlines() if row[:1] == "|"]
    return [cells for cells in found[2:] if len(cells) == 3]


def definitions(path):
    """Give the names that a file defines or imports, methods as Class.method."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name, body=body):
                methods = [one.name for one in body if isinstance(one, ast.FunctionDef)]
                names |= {name, *methods, *(f"{name}.{method}" for method in methods)}
    return names


def test_files_exist():
    text = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    named = {name for name in CODE.findall(text) if FILE.fullmatch(name)}
    assert len(named) > 25
    homes = (PACKAGE, ROOT, PACKAGE / "datasets", PACKAGE / "ratings" / "over_time")
    assert [n for n in sorted(named) if not any((h / n).is_file() for h in homes)] == []


@pytest.mark.parametrize("title", ["A walk through `SVMC", "A walk through `tiebreak"])
def test_functions_of_the_walks_are_in_their_files(title):
    steps = rows(section(title))
    assert len(steps) >= 6
    for _, functions, files in steps:
        defined = set()
        for name in CODE.findall(files):
            defined |= definitions(PACKAGE / name)
        assert [name for name in CODE.findall(functions) if name not in defined] == []


def test_names_of_additions_are_defined():
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")
    )
    named = {
        name
        for cells in rows(section("Where to add something"))
        for cell in cells
        for name in CODE.findall(cell)
        if name.isidentifier()
    }
    assert len(named) > 25
    defined = r"^\s*(def |class )?({})(\(|:| = )"
    missing = [
        name
        for name in sorted(named - {"predict", "link"})
        if not re.search(defined.format(name), source, re.MULTILINE)
    ]
    assert missing == []


def test_layers_are_those_of_the_contract():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = pyproject["tool"]["importlinter"]["contracts"][0]["layers"]
    block = re.search(r"^cli → .*?^```", PAGE, re.MULTILINE | re.DOTALL).group()
    stated = [layer.strip("`\n ") for layer in block.split("→")]
    assert stated == [layer.replace(" | ", ", ") for layer in contract]
