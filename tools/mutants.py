# SPDX-License-Identifier: BSD-3-Clause
"""Break small things, and see that the short tests notice: ``make mutants``.

Sixty places inside functions of losses, solvers, ratings, metrics and io are chosen by
a seed: a sign, a product, a condition is turned into its opposite. For each a child
process gets the changed code, and runs the tests that name the module or what is in it,
then those of its folder and the laws, until one fails, which must pass without it.
Survivors are printed; ``EXPECTED`` says why no test can see them. Two places are always
among them, because they once survived.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import random
import re
import signal
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tiebreak
from tiebreak.data.jit import Compiled

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tiebreak"
FOLDERS = ("losses", "solvers", "ratings", "metrics", "io")
# Tests of these folders run too if they name what is changed.
_OTHERS = (*FOLDERS, "models", "selection", "pipeline", "data", "ask")
_ALWAYS = [
    ("ratings/strengths/existence.py", " - tied.multiply(decided)", ""),
    ("selection/splitters.py", "nearer = ", "nearer = after  #"),
]
# The changed line: why no test can see it.
EXPECTED = {
    "d = int(np.sum(singular > _TOLERANCE * max(singular[0], 1.0)))": "what rounding "
    "leaves of a direction that is not there is far below both tolerances",
    "slow = slow or self.rounds.n_rounds - before >= _MANY_ROUNDS": "decides which of "
    "two exact solvers goes on, so only how long it takes",
    "if n_products >= _PATIENCE and self.n_variables <= _DENSE_COLUMNS:": "chooses a "
    "preconditioner, so only how many products a step takes",
    "if len(series) <= _PIECE or 2 * series.head(_PIECE).n_unique() < _PIECE:": "reads "
    "the same times in pieces or at once",
    "self.extra += 1": "counts a step, and no number of steps is promised",
}
_OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(node: ast.AST, inside: bool = False) -> Iterator[tuple[Any, str]]:
    """Give what can be turned inside functions, but not in messages or annotations."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise | ast.JoinedStr | ast.arguments):
            continue
        operator = getattr(child, "op", None) or getattr(child, "ops", [None])[0]
        words = isinstance(getattr(child, "left", None), ast.Constant | ast.JoinedStr)
        if inside and type(operator) in _OPPOSITE and not words:
            yield child, type(operator).__name__
        yield from places(child, inside or isinstance(child, ast.FunctionDef))


def turn(node: Any) -> None:
    """Turn an operator into its opposite."""
    if isinstance(node, ast.Compare):
        node.ops[0] = _OPPOSITE[type(node.ops[0])]()
    else:
        node.op = _OPPOSITE[type(node.op)]()


def choose(number: int, seed: int) -> Iterator[tuple[Path, str, ast.Module]]:
    """Give files, what is changed in each, and their changed syntax trees."""
    for name, old, new in _ALWAYS:
        text = (SOURCE / name).read_text("utf-8")
        assert old in text, f"{name} has no {old!r} any more"
        yield (
            SOURCE / name,
            f"{old.strip()} -> {new}",
            ast.parse(text.replace(old, new)),
        )
    rng, count = random.Random(seed), len(_ALWAYS)
    seen: set[Any] = set()
    while count < number:
        folder = SOURCE / FOLDERS[count % len(FOLDERS)]
        path = rng.choice(sorted(folder.rglob("*.py")))
        tree = ast.parse(path.read_text("utf-8"))
        if found := list(places(tree)):
            node, how = rng.choice(found)
            if (path, node.lineno, how) in seen:
                continue
            seen.add((path, node.lineno, how))
            turn(node)
            yield path, f"{node.lineno} {how} turned", tree
            count += 1


def functions(value: Any, module: str, seen: set[int]) -> Iterator[Any]:
    """Give the Python functions behind the names of a module, also of its classes."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.FunctionType):
        if value.__module__ == module:
            yield value
        inner: list[Any] = [getattr(value, "__wrapped__", None)]
    elif isinstance(value, type):
        # Public classes say that they are of tiebreak, wherever they are written.
        ours = value.__module__.startswith("tiebreak")
        inner = list(vars(value).values()) if ours else []
    else:
        names = ("_function", "func", "fget", "__func__", "__wrapped__")
        inner = [
            vars(value).get(n) if hasattr(value, "__dict__") else None for n in names
        ]
        inner += [getattr(value, n, None) for n in ("fget", "__func__")]
    for part in inner:
        if part is not None:
            yield from functions(part, module, seen)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Give all code objects of a module."""
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield value
            yield from codes(value)


def apply(path: Path, tree: ast.Module) -> None:
    """Give the functions of a module, wherever they are held, their changed code."""
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    module = importlib.import_module(name)
    changed = compile(ast.fix_missing_locations(tree), str(path), "exec")
    new = {(c.co_qualname, c.co_firstlineno): c for c in codes(changed)}
    seen: set[int] = set()
    for value in list(vars(module).values()):
        for function in functions(value, module.__name__, seen):
            code = function.__code__
            key = code.co_qualname, code.co_firstlineno
            if key in new:
                function.__code__ = new[key]
    # What is compiled, here or with a function from here, is compiled again.
    here = {k for k, v in vars(module).items() if isinstance(v, Compiled)}
    for other in [m for n, m in sys.modules.items() if n.startswith("tiebreak")]:
        for value in vars(other).values():
            if isinstance(value, Compiled):
                called = set(value._function.__code__.co_names)
                if value._function.__module__ == name or called & here:
                    value._options = value._options | {"cache": False}
                    value.__dict__.pop("dispatcher", None)


def order(path: Path) -> list[str]:
    """Give the files of tests that concern a module, the likeliest to notice first."""
    folder = path.relative_to(SOURCE).parts[0]
    defined = re.findall(r"^(?:def|class) (\w+)", path.read_text("utf-8"), re.MULTILINE)
    words = {name for name in defined if not name.startswith("_")} | {path.stem}
    ranked = []
    for file in (ROOT / "tests").rglob("test_*.py"):
        room = file.relative_to(ROOT / "tests").parts[0]
        said = re.findall(r"\w+", file.read_text("utf-8"))
        uses = sum(word in words for word in said)
        named = file.stem.startswith(f"test_{path.stem}")
        if room in (folder, "laws") or (uses and room in _OTHERS):
            ranked.append((not named, -uses, room != folder, str(file)))
    return [file for *_, file in sorted(ranked)]


class Watch:
    """Tells the parent which test runs, and ends a run that takes too long."""

    def __init__(self, writer: int, seconds: float) -> None:
        self.writer, self.until = writer, time.process_time() + seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write down a test before it runs."""
        os.write(self.writer, f"{nodeid}\n".encode())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Stop after this test if the time is over."""
        if time.process_time() > self.until:
            item.session.shouldstop = "so far no test has noticed"


def failing(tests: list[str], seconds: float, change: Any = None) -> str | None:
    """Run tests in a child, and give the first that fails, or that never ends."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        signal.setitimer(signal.ITIMER_PROF, 2.0 * seconds + 60.0)
        if change is not None:
            apply(*change)
        words = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
        code = pytest.main(words, plugins=[Watch(writer, seconds)])
        os._exit(0 if code in (0, 2) else 1)  # 2: stopped
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        begun = stream.read().splitlines()
    ended = os.waitpid(child, 0)[1]
    return (begun or ["the collection"])[-1] if ended else None


def main() -> int:
    """Change, run and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    help_ = "of a processor that the tests of one change may take"
    parser.add_argument("--seconds", type=float, default=60.0, help=help_)
    asked = parser.parse_args()
    os.chdir(ROOT)
    # Children share what is imported here. Nothing is computed before: threads that are
    # running do not survive a fork.
    for name in ("pandas", "sklearn.linear_model"):
        importlib.import_module(name)
    for name in tiebreak.__all__:
        getattr(tiebreak, name)
    count = alive = unexplained = 0
    for path, how, tree in choose(asked.number, asked.seed):
        where, began = f"{path.relative_to(SOURCE)}:{how}", time.monotonic()
        test = failing(order(path), asked.seconds, (path, tree))
        if test is not None and failing([test], asked.seconds) is not None:
            print(f"{test} fails also without a change.")
            return 1
        count += 1
        alive += test is None
        line = how.split()[0]
        text = path.read_text("utf-8").splitlines()[
            int(line) - 1 if line.isdigit() else 0
        ]
        reason = EXPECTED.get(text.strip(), "")
        unexplained += test is None and not reason
        word = f"noticed by {test}" if test else reason or "NO TEST NOTICES"
        print(f"{count} {where}: {word} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{count - alive} of {count} were noticed")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
