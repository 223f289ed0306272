# SPDX-License-Identifier: BSD-3-Clause
"""Break small things, and see that the short tests notice: ``make mutants``.

Places inside functions are chosen by a seed, equally many from each package: a sign, a
product, a condition is turned into its opposite, a minimum into a maximum. A child
process imports tiebreak with the changed module in place of its file, and runs the
tests that are likely to notice, until one fails, which must pass without the change.
Survivors are printed; ``EXPECTED`` says why no test can see them.

A place is drawn by its line of code, not by its file and number, so the same seed
chooses what is left of the same places after files were moved.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import marshal
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, namedtuple
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "tiebreak"
PACKAGES = (
    "losses", "solvers", "kernels", "metrics", "ratings", "models", "data", "io",
    "pipeline", "selection", "persistence", "robustness", "outofcore",
)  # fmt: skip
# Imported once for all children. Not plugins of pytest, which it must import itself.
_SHARED = (
    "numba", "pandas", "polars", "scipy.optimize", "scipy.stats", "sklearn.pipeline",
    "sklearn.linear_model", "sklearn.model_selection", "sklearn.utils.estimator_checks",
)  # fmt: skip
# Tests of these folders take long or run nothing; tests of other folders with one of
# these words start browsers or send signals, which a busy machine disturbs.
_NO_ROOMS, _NO_WORDS = ("docs", "meta", "papers", "tools"), {"browser", "processes"}
# What these do is seen by users of the command; what the others do, in the laws.
_IN_COMMAND = ("io", "persistence", "pipeline", "robustness")
_MEMORY = 8 << 30  # bytes that a child may take
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
    "same = one.items.left is two.left and one.items.right is two.right": "a shortcut; "
    "the general way gives the same matrix",
    "F = F[:r].copy() if r < 0.8 * len(F) else F[:r]": "frees memory",
    "elif fell >= _GOOD * promised and moved_by >= 0.9 * radius:": "decides how the "
    "box grows, so only how many steps it takes",
}
_PAIRS = (
    (ast.Lt, ast.GtE), (ast.LtE, ast.Gt), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or),
    (ast.BitAnd, ast.BitOr), ("min", "max"), ("minimum", "maximum"),
    ("argmin", "argmax"), ("fmin", "fmax"),
)  # fmt: skip
_OPPOSITE: dict[Any, Any] = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_NO_NUMBERS = ast.JoinedStr | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.ListComp


# What can be changed: the nth place of a file, its line and the number of that.
Place = namedtuple("Place", "where number line how nth")


def changes(node: ast.AST) -> Iterator[tuple[str, str, Any]]:
    """Give how a node can be changed: a description, and a field and its new value."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                new = _OPPOSITE[type(op)]
                how = f"{type(op).__name__} to {new.__name__}"
                yield how, "ops", [*ops[:i], new(), *ops[i + 1 :]]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            sides = [getattr(node, name, None) for name in ("left", "right", "value")]
            texts = (isinstance(getattr(side, "value", None), str) for side in sides)
            no_number = any(isinstance(side, _NO_NUMBERS) for side in sides)
            if (new := _OPPOSITE.get(type(op))) and not any(texts) and not no_number:
                yield f"{type(op).__name__} to {new.__name__}", "op", new()
        case ast.UnaryOp(op=ast.USub() | ast.Not() as op, operand=operand):
            yield f"{type(op).__name__} dropped", "operand", ast.UnaryOp(op, operand)
        case ast.If(test=test) | ast.IfExp(test=test):
            # A comparison or a "not" is a place of its own.
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield "If negated", "test", ast.UnaryOp(ast.Not(), test)
        case ast.Name(id=old) | ast.Attribute(attr=old) if old in _OPPOSITE:
            field = "id" if isinstance(node, ast.Name) else "attr"
            yield f"{old} to {_OPPOSITE[old]}", field, _OPPOSITE[old]


def walk(node: ast.AST, inside: bool = False) -> Iterator[tuple[Any, ...]]:
    """Give all changes inside functions, but not in messages or annotations."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments) or (
        called == "isinstance" or "warn" in called
    ):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if inside:
        yield from ((node, *change) for change in changes(node))
    inside |= isinstance(node, ast.FunctionDef | ast.Lambda)
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, inside)


def choose(packages: list[str], number: int, seed: int) -> list[Place]:
    """Give places, in turn one from each package, uniform among those of a package."""
    columns = []
    for i, package in enumerate(packages):
        ranked, same = [], Counter[str]()
        for path in sorted((SOURCE / package).rglob("*.py")):
            where, text = str(path.relative_to(SOURCE)), path.read_text("utf-8")
            for nth, (node, how, *_) in enumerate(walk(ast.parse(text))):
                line = text.splitlines()[node.lineno - 1].strip()
                same[line + how] += 1
                key = f"{seed} {line} {how} {same[line + how]}".encode()
                place = Place(where, node.lineno, line, how, nth)
                ranked.append((hashlib.sha256(key).digest(), place))
        share = number // len(packages) + (i < number % len(packages))
        columns.append([place for _, place in sorted(ranked)[:share]])
    return [place for row in zip_longest(*columns) for place in row if place]


# Loads one module with its change; all others are left to Python. Processes that tests
# start load it too, as their sitecustomize.
_CHANGED = """
import marshal, sys
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location

class Changed(SourceFileLoader):
    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return spec_from_file_location(name, self.path, loader=self)

    def get_code(self, name):
        with open({code!r}, "rb") as file:
            return marshal.load(file)

sys.meta_path.insert(0, Changed({name!r}, {path!r}))
"""


def install(place: Place, folder: Path) -> str:
    """Let this process and those it starts import a changed module; give its name."""
    path, code = SOURCE / place.where, folder / "code"
    tree = ast.parse(path.read_text("utf-8"))
    node, _, field, value = next(islice(walk(tree), place.nth, None))
    setattr(node, field, value)
    changed = compile(ast.fix_missing_locations(tree), str(path), "exec")
    code.write_bytes(marshal.dumps(changed))
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    name = ".".join(parts).removesuffix(".__init__")
    text = _CHANGED.format(code=str(code), name=name, path=str(path))
    (folder / "sitecustomize.py").write_text(text, "utf-8")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{SOURCE.parent}"
    exec(text, {"__name__": "changed"})
    # Compiled code on the disk contains what it calls: where something compiled may be
    # changed, nothing is read from there, and nothing written.
    if "njit" in path.read_text("utf-8"):
        cache = os.environ["NUMBA_CACHE_DIR"] = str(folder / "numba")
        sys.modules["numba"].config.CACHE_DIR = cache
    return name


def order(path: Path) -> list[str]:
    """Give the files of tests that concern a module, the likeliest to notice first."""
    folder = path.relative_to(SOURCE).parts[0]
    defined = re.findall(r"^(?:def|class) (\w+)", path.read_text("utf-8"), re.MULTILINE)
    words = {name for name in defined if not name.startswith("_")} | {path.stem}
    client = "cli" if folder in _IN_COMMAND else "laws"
    ranked = [(True, False, True, 0, str(path))]  # the examples in its docstrings
    for file in (ROOT / "tests").rglob("test_*.py"):
        room = file.relative_to(ROOT / "tests").parts[0]
        said = re.findall(r"\w+", file.read_text("utf-8"))
        uses, other = sum(word in words for word in said), room != folder
        if room in _NO_ROOMS or (other and not _NO_WORDS.isdisjoint(said)):
            continue
        if not other or room == client or uses:
            named = file.stem.startswith(f"test_{path.stem}")
            ranked.append((not named, other, room != client, -uses, str(file)))
    # And those of public classes, which say that they are of tiebreak itself.
    return [file for *_, file in sorted(ranked)] + [str(SOURCE / "__init__.py")]


def _is_ours(loader: Any) -> bool:
    return type(loader).__name__ == "Changed"


class Watch:
    """Writes down which test runs, and ends a run that takes too long."""

    def __init__(self, begun: Path, seconds: float) -> None:
        self.begun, self.seconds, self.stopped = begun, seconds, False

    def pytest_sessionstart(self) -> None:
        """Go before pytest, which from here on imports the files it is given itself."""
        sys.meta_path.sort(key=lambda finder: not _is_ours(finder))

    def pytest_collection_finish(self) -> None:
        """Count the time from here."""
        self.until = time.process_time() + self.seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write down a test before it runs; if it never ends, the process does."""
        self.begun.write_text(nodeid, "utf-8")
        signal.setitimer(signal.ITIMER_PROF, 30.0 + self.seconds / 4)
        signal.setitimer(signal.ITIMER_REAL, 300.0 + 10 * self.seconds)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Stop after this test if the time is over."""
        if time.process_time() > self.until:
            self.stopped = True
            item.session.shouldstop = "so far no test has noticed"


def run(tests: list[str], watch: Watch, place: Place | None) -> int:
    """Run tests in this process; give 0 if none failed, 3 if nothing was changed."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    sys.path.insert(0, str(SOURCE.parent))
    folder = watch.begun.parent
    name = install(place, folder) if place is not None else ""
    words = ["-xq", "-pno:cacheprovider", "-pno:xdist", f"--basetemp={folder / 'tmp'}"]
    code = pytest.main([*words, *tests], [watch])
    if name in sys.modules and not _is_ours(sys.modules[name].__loader__):
        return 3
    return 0 if code == 0 or (code == 2 and watch.stopped) else 1


def failing(tests: list[str], seconds: float, place: Place | None = None) -> str | None:
    """Run tests in a child, and give the first that fails, or that never ends."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        begun = Path(folder) / "begun"
        if (child := os.fork()) == 0:
            try:
                os._exit(run(tests, Watch(begun, seconds), place))
            finally:
                os._exit(1)
        # What it leaves running is ended before its number can be given to another.
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        if os.waitstatus_to_exitcode(ended) == 3:
            sys.exit(f"{place} was imported without its change.")
        last = begun.read_text("utf-8") if begun.exists() else "the collection"
    return last if ended else None


def attempt(place: Place, seconds: float, sound: set[str]) -> str | None:
    """Give the test that notices a change; ``sound`` are known to pass without one."""
    tests = order(SOURCE / place.where)
    test = failing(tests, seconds, place)
    if test is not None and test not in sound:
        if failing([test] if "::" in test else tests, 0.0) is not None:
            sys.exit(f"{test} fails also without a change.")
        sound.add(test)
    return test


def main() -> int:
    """Change, run and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PACKAGES, default=PACKAGES)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    help_ = "of a processor that the tests of one change may take"
    parser.add_argument("--seconds", type=float, default=60.0, help=help_)
    help_ = "a file: a line of JSON per change; those it has are not tried again"
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help=help_)
    asked = parser.parse_args()
    for name in _SHARED:
        importlib.import_module(name)
    assert "tiebreak" not in sys.modules
    rows = asked.log.read_text("utf-8").splitlines() if asked.log.exists() else []
    known = {}
    for row in map(json.loads, rows):
        known[Place(*(row[name] for name in Place._fields))] = row["test"]
    log = asked.log.open("a", encoding="utf-8")
    os.chdir(ROOT)
    sound: set[str] = set()
    results = []
    for place in choose(asked.only, asked.number, asked.seed):
        if place not in known:
            known[place] = attempt(place, asked.seconds, sound)
            row = place._asdict() | {"test": known[place]}
            print(json.dumps(row, ensure_ascii=False), file=log, flush=True)
        test, reason = known[place], EXPECTED.get(place.line)
        results.append((Path(place.where).parts[0], bool(test), bool(test or reason)))
        word = f"noticed by {test}" if test else reason or "NO TEST NOTICES"
        print(f"{place.where}:{place.number} {place.how}: {word}", flush=True)
    for names in [*([name] for name in asked.only), asked.only]:
        noticed = [it for package, it, _ in results if package in names]
        name = names[0] if len(names) == 1 else "in all"
        print(f"{name}: {sum(noticed)} of {len(noticed)} were noticed")
    return int(not all(fine for *_, fine in results))


if __name__ == "__main__":
    sys.exit(main())
