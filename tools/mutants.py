# SPDX-License-Identifier: BSD-3-Clause
"""Break small things, and see that the short tests notice: ``make mutants``.

Sixty places in losses, solvers, ratings, metrics and io are chosen by a seed: a
comparison, a sign, a constant or a condition. Each is changed in a copy of the source,
and the tests of the same name or folder run on it until the first fails. Survivors are
printed; ``EXPECTED`` lists those that change nothing that could be seen, with a reason.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("losses", "solvers", "ratings", "metrics", "io")
_SECONDS = 600  # a mutant that runs longer has been noticed
# "file:line change": why no test can see it.
EXPECTED: dict[str, str] = {}

_SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Give the nodes that can be changed, in the order of the file, and how."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
            yield node, f"{type(node.ops[0]).__name__} turned"
        elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
            text = isinstance(node.left, (ast.Constant, ast.JoinedStr))
            if not (text and isinstance(getattr(node.left, "value", ""), str)):
                yield node, f"{type(node.op).__name__} turned"
        elif isinstance(node, ast.BoolOp):
            yield node, f"{type(node.op).__name__} turned"


def change(node: ast.AST) -> None:
    """Change a node."""
    if isinstance(node, ast.Compare):
        node.ops[0] = _SWAPPED[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.BoolOp)):
        node.op = _SWAPPED[type(node.op)]()


def tests_of(path: Path) -> list[str]:
    """The tests that concern a module: of its name, else of its folder."""
    folder = path.relative_to(ROOT / "src" / "tiebreak").parts[0]
    named = sorted((ROOT / "tests" / folder).rglob(f"test_{path.stem}*.py"))
    rest = [str(ROOT / "tests" / folder)]
    return [*map(str, named), *rest]


def survives(path: Path, number: int) -> tuple[str, bool]:
    """Change one place in a copy of the source, and run the tests."""
    tree = ast.parse(path.read_text("utf-8"))
    node, how = list(places(tree))[number]
    where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} {how}"
    change(node)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src", source, ignore=ignored)
        copy = source / path.relative_to(ROOT / "src")
        copy.write_text(ast.unparse(tree), "utf-8")
        environment = os.environ | {
            "PYTHONPATH": str(source),
            "TIEBREAK_TESTS": "short",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *tests_of(path)],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                check=False,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return where, False
    return where, done.returncode == 0


def main() -> int:
    """Change, run and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, dead, alive = random.Random(asked.seed), 0, []
    for count in range(asked.number):
        folder = ROOT / "src" / "tiebreak" / FOLDERS[count % len(FOLDERS)]
        paths = sorted(p for p in folder.rglob("*.py") if p.name != "__init__.py")
        path = rng.choice(paths)
        n_places = len(list(places(ast.parse(path.read_text("utf-8")))))
        if not n_places:
            continue
        where, lives = survives(path, rng.randrange(n_places))
        dead += not lives
        alive += [where] if lives else []
        reason = EXPECTED.get(where, "no test notices")
        print(f"{where}: {reason if lives else 'noticed'}", flush=True)
    print(f"{dead} of {dead + len(alive)} were noticed")
    return int(any(where not in EXPECTED for where in alive))


if __name__ == "__main__":
    sys.exit(main())
