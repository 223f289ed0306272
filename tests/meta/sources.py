# SPDX-License-Identifier: BSD-3-Clause
"""The files of the project, and what the house rules find wrong in one of them.

Every rule is a function from the text of a file to a list of findings, so that a
rule can itself be tested on a text that breaks it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tiebreak"
SPDX = "# SPDX-License-Identifier: BSD-3-Clause"
MAX_LINES = 900
MAX_ARGUMENTS = 10


@cache
def parse(text: str) -> ast.Module:
    """Parse a file, once for all rules."""
    return ast.parse(text)


def python_files(*folders: str) -> list[Path]:
    """List the Python files below some folders of the project, in one order."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def spdx_missing(text: str) -> list[str]:
    """Find a missing license line; an empty file needs none."""
    if not text or text.splitlines()[0] == SPDX:
        return []
    return [f"line 1: expected {SPDX!r}"]


def too_long(text: str) -> list[str]:
    """Find a file that should be split."""
    n_lines = len(text.splitlines())
    return [f"{n_lines} lines, more than {MAX_LINES}"] if n_lines > MAX_LINES else []


def calls_to_print(text: str) -> list[str]:
    """Find calls to ``print``; those inside doctests are not code of the library."""
    return [
        f"line {node.lineno}: print() in the library"
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]


def uses_of_nan_to_num(text: str) -> list[str]:
    """Find ``nan_to_num``, called, imported or passed on."""
    findings = []
    for node in ast.walk(parse(text)):
        match node:
            case ast.Attribute(attr="nan_to_num") | ast.Name(id="nan_to_num"):
                findings.append(f"line {node.lineno}: nan_to_num hides what went wrong")
            case ast.ImportFrom(names=names):
                findings.extend(
                    f"line {node.lineno}: nan_to_num imported"
                    for alias in names
                    if alias.name == "nan_to_num"
                )
    return findings


def mentions_of_rank(text: str) -> list[str]:
    """Find words that begin with "rank": what a solver must know nothing of."""
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(r"\brank", line, flags=re.IGNORECASE)
    ]


def _njit_decorators(
    tree: ast.AST,
) -> Iterator[tuple[ast.FunctionDef, dict[str, object]]]:
    """Give every compiled function with the literal options it is compiled with."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            target = call.func if call else decorator
            name = target.attr if isinstance(target, ast.Attribute) else target
            if name == "njit" or (isinstance(name, ast.Name) and name.id == "njit"):
                yield (
                    function,
                    {
                        keyword.arg: getattr(keyword.value, "value", "not a literal")
                        for keyword in (call.keywords if call else [])
                        if keyword.arg is not None
                    },
                )


def compiled_against_the_rules(text: str) -> list[str]:
    """Find kernels with other options than ours, or with too many arguments."""
    findings = []
    for function, options in _njit_decorators(parse(text)):
        where = f"line {function.lineno}: {function.name}"
        if options != {"cache": True, "nogil": True}:
            findings.append(f"{where} is compiled with {options}")
        n_arguments = len(function.args.posonlyargs + function.args.args)
        if n_arguments > MAX_ARGUMENTS:
            findings.append(f"{where} takes {n_arguments} arguments")
    return findings


def unsafe_options(text: str) -> list[str]:
    """Find ``fastmath`` and ``parallel`` among the options of any call."""
    return [
        f"line {node.lineno}: {keyword.arg}={ast.unparse(keyword.value)}"
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in ("fastmath", "parallel")
        and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        )
    ]


def imports_of_njit(text: str) -> list[str]:
    """Find ``njit`` taken from numba, which needs a place that can be written to."""
    return [
        f"line {node.lineno}: import njit from tiebreak.data.jit"
        for node in ast.walk(parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "numba"
    ]
