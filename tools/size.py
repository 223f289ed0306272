# SPDX-License-Identifier: BSD-3-Clause
"""How large the project is: ``python -m tools.size``.

Prints files, lines of code and tokens of each package, lines of the tests and words of
the docs. Lines of code are those that are not blank, comments or docstrings. Tokens are
those of the code without brackets, commas and colons, so that other line breaks change
nothing. An f-string is one token, as it was before Python 3.12.
"""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "tiebreak"
KINDS = ("files", "code", "tokens", "docstring", "words", "lines")
_OTHER_KINDS = {
    ".pyi": "stubs", ".html": "templates", ".j2": "templates", ".js": "scripts",
    ".css": "styles",
}  # fmt: skip
_HAVE_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_TOKENS = {
    tokenize.COMMENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.INDENT,
    tokenize.NEWLINE, tokenize.NL,
}  # fmt: skip
_PUNCTUATION = set("()[]{},:")


def count_module(text: str) -> Counter[str]:
    """Count lines by kind, tokens of the code, and words of the docstrings."""
    docstrings: set[int] = set()
    counts = Counter(files=1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _HAVE_DOCSTRINGS) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstrings.update(range(first.lineno, (first.end_lineno or 0) + 1))
            counts["words"] += len((ast.get_docstring(node) or "").split())
    for number, line in enumerate(text.splitlines(), start=1):
        if number in docstrings:
            kind = "docstring"
        elif not line.strip():
            kind = "blank"
        else:
            kind = "comment" if line.lstrip().startswith("#") else "code"
        counts.update({"lines": 1, kind: 1})
    inside = 0  # of how many f-strings
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if token.type not in _NO_TOKENS and token.start[0] not in docstrings:
            counts["tokens"] += not inside and token.string not in _PUNCTUATION
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")
    return counts


def count_packages(root: Path = PACKAGE) -> dict[str, Counter[str]]:
    """Count the modules of every package below a folder; its own files are ``.``."""
    packages: dict[str, Counter[str]] = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        package = inside[0] if len(inside) > 1 else "."
        counts = count_module(path.read_text("utf-8"))
        packages.setdefault(package, Counter()).update(counts)
    return packages


def count_others(root: Path = PACKAGE) -> Counter[str]:
    """Count the lines of stubs, templates, scripts and styles, without blank ones."""
    counts: Counter[str] = Counter()
    for path in root.rglob("*"):
        if kind := _OTHER_KINDS.get(path.suffix):
            lines = path.read_text("utf-8").splitlines()
            counts[kind] += sum(bool(line.strip()) for line in lines)
    return counts


def count_words(folder: Path) -> int:
    """Count the words of all pages of a folder."""
    pages = (p for p in folder.rglob("*.md") if "_build" not in p.parts)
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def total(packages: dict[str, Counter[str]]) -> Counter[str]:
    """Add up the counts of packages."""
    return sum(packages.values(), Counter())


def main() -> None:
    """Print the table."""
    packages = count_packages()
    packages["total"] = total(packages)
    print(f"{'package':<12}" + "".join(f"{kind:>11}" for kind in KINDS))
    for package, counts in packages.items():
        print(f"{package:<12}" + "".join(f"{counts[kind]:>11,}" for kind in KINDS))
    others = [f"{lines:,} of {kind}" for kind, lines in sorted(count_others().items())]
    print(f"\nother lines in src: {', '.join(others)}")
    print(f"lines of code in tests: {total(count_packages(ROOT / 'tests'))['code']:,}")
    print(f"words in docs: {count_words(ROOT / 'docs'):,}")


if __name__ == "__main__":
    main()
