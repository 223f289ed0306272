# SPDX-License-Identifier: BSD-3-Clause
"""How large the package is: files and lines, by package.

``python -m tools.count_lines`` prints a table. Code is what is left when blank lines,
comments and docstrings are taken away.
"""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "tiebreak"
KINDS = ("files", "lines", "code", "docstring", "comment", "blank")
_HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_lines(text: str) -> Counter[str]:
    """Count the lines of one module by kind; docstrings include their blank lines."""
    docstring: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _HAVE_DOCSTRINGS) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstring.update(range(first.lineno, (first.end_lineno or 0) + 1))
    counts = Counter(files=1)
    for number, line in enumerate(text.splitlines(), start=1):
        if number in docstring:
            kind = "docstring"
        elif not line.strip():
            kind = "blank"
        else:
            kind = "comment" if line.lstrip().startswith("#") else "code"
        counts.update({"lines": 1, kind: 1})
    return counts


def count_packages(root: Path = PACKAGE) -> dict[str, Counter[str]]:
    """Count the lines of every package below a folder; its own files are ``.``."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        package = inside[0] if len(inside) > 1 else "."
        counts = count_lines(path.read_text("utf-8"))
        found.setdefault(package, Counter()).update(counts)
    return found


def main() -> None:
    """Print the table."""
    found = count_packages()
    found["total"] = sum(found.values(), Counter())
    print(f"{'package':<12}" + "".join(f"{kind:>11}" for kind in KINDS))
    for package, counts in found.items():
        print(f"{package:<12}" + "".join(f"{counts[kind]:>11,}" for kind in KINDS))


if __name__ == "__main__":
    main()
