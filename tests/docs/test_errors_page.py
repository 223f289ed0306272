# SPDX-License-Identifier: BSD-3-Clause
"""docs/errors.md quotes messages that exist, and explains every warning.

An entry of the page is a list item that begins with a quotation. A quotation must stand
in the text of some message; what varies in a message is not quoted.
"""

import ast
import re

from tests.meta.sources import ROOT, python_files

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
QUOTATION = re.compile(r"^- `([^`]+)`:", re.MULTILINE)


def literals(node: ast.AST) -> list[str]:
    """Give the constant texts below a node, without docstrings.

    A text in which something varies comes in parts.
    """
    nodes = list(ast.walk(node))
    docstrings = {id(part.value) for part in nodes if isinstance(part, ast.Expr)}
    return [
        part.value
        for part in nodes
        if isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and id(part) not in docstrings
    ]


def warnings_in(text: str) -> list[tuple[int, list[str]]]:
    """Find the calls that warn, with their lines and constant texts."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        match node.func:
            case ast.Name(id="warn_user") | ast.Attribute(attr="warn"):
                found.append((node.lineno, literals(node.args[0])))
    return found


def unexplained(text: str, quotations: list[str]) -> list[int]:
    """List the lines of warnings of which no entry quotes a part."""
    return [
        line
        for line, parts in warnings_in(text)
        if parts and not any(q in part for q in quotations for part in parts)
    ]


SOURCES = {path: path.read_text(encoding="utf-8") for path in python_files("src")}
QUOTATIONS = QUOTATION.findall(PAGE)


def test_the_page_has_entries_and_all_begin_with_a_quotation():
    entries = re.findall(r"^- .*$", PAGE, re.MULTILINE)
    assert len(entries) > 60
    assert [entry for entry in entries if not QUOTATION.match(entry)] == []
    assert len(set(QUOTATIONS)) == len(QUOTATIONS)


def test_every_quotation_stands_in_a_message():
    said = [part for text in SOURCES.values() for part in literals(ast.parse(text))]
    assert [q for q in QUOTATIONS if not any(q in part for part in said)] == []


def test_every_warning_is_explained():
    missing = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, text in SOURCES.items()
        for line in unexplained(text, QUOTATIONS)
    ]
    assert not missing, f"docs/errors.md has no entry for {', '.join(missing)}"


def test_quotations_are_not_so_short_that_they_mean_nothing():
    assert [q for q in QUOTATIONS if len(q) < 10] == []
