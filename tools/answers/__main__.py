# SPDX-License-Identifier: BSD-3-Clause
"""Record the answers of the installed version, and compare those of two versions.

    python -m tools.answers record FOLDER [--only PATTERN]
    python -m tools.answers compare OLD NEW

`record` fits every model on every shape of data that it takes and runs the commands on
the files of ``FOLDER/../inputs``; it writes ``FOLDER/answers.json``. What has no unique
value (dual coefficients, support) is never recorded. `compare` ends with code 1 if an
answer is DIFFERENT; other texts, and answers that are missing or new, are only told.
Set OMP_NUM_THREADS=1 for both recordings. To record another checkout, put its ``src``
on PYTHONPATH; the recording says which one it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tiebreak

# What was changed on purpose: a pattern of names of answers, and the reason.
EXPECTED: dict[str, str] = {
    "fit LogisticCompare(0.1, kernel=*": "standard errors for the linear kernel only",
}

# Options of 0.2 as they are written since.
_LINEAR = ["--set", "kernel=linear"]
_MODELS = {
    "davidson": ["--model=bradley-terry", "--set", "ties=davidson"],
    "rao-kupper": ["--model=bradley-terry", "--set", "ties=rao-kupper"],
    "judges": ["--model=judge-bradley-terry"],
    "logistic": ["--model=logistic-compare"],
    "logistic-names": ["--model=logistic-compare", "--set", "identity=1"],
    "svm": ["--model=rank-svm"],
    "linear-svm": ["--model=rank-svm", *_LINEAR],
    "linear-rank-rls": ["--model=rank-rls", *_LINEAR],
    "boosted": ["--model=boosted-utility"],
    "l1": ["--model=l1-ranker"],
    "pursuit": ["--model=ranking-pursuit"],
    "expected-rank": ["--model=expected-rank-regression"],
}
NEW_WORDS = {f"--model={name}": words for name, words in _MODELS.items()} | {
    "--alpha=0.5": ["--set", "alpha=0.5"],
    "--alpha=0": ["--set", "alpha=0"],
    "--reference=Germany": ["--anchor", "Germany=1500"],
    "--models=logistic,svm,rank-rls": ["--models=logistic-compare,rank-svm,rank-rls"],
}

# How far utilities may be apart, as a share of their range: the first that matches.
TOLERANCES = [
    (r"squared_hinge", 1e-6),
    (r"SVM|MaxMargin", 1e-3),
    (r"TasteBradleyTerry", 1e-3),
    (r"JudgeBradleyTerry", 1e-4),
    (r"L1Ranker|l1_path", 1e-4),
    (r"", 1e-6),
]
COMMAND_TOLERANCE = 1e-6
FITTED = """converged_ objective_ gap_ threshold_ thresholds_ intercept_ margin_ tie_
    separable_ tie_model_ alpha_ half_life_ advantage_ slope_ strength_ rating_ scale_
    deviation_ volatility_ wins_ ties_ losses_ n_games_ n_pairs_ training_error_ gamma_
    outcome_ shares_ discrimination_ side_bias_ tie_width_ taste_alpha_ loss_curve_
    validation_curve_ objective_path_ n_basis_ nu_ agreement_ grades_ cuts_ coef_"""
NO_COEF = r"L1Ranker|MaxMargin|Taste"  # of which there may be several
OF_ITEMS = "utility order view_utilities predict_grade"
OF_PAIRS = """difference predict predict_proba decision_function expected_score
    predict_interval both_bad_proba"""
OF_MODEL = "standard_errors intervals rank_intervals indistinct_groups coefficients"
IN_UTILITY = """utility difference decision_function threshold_ thresholds_ intercept_
    predict_items margin_ view_utilities"""
# Strings below these keys of JSON are texts; what stands below IGNORED always differs.
TEXTS = """summary note notes recognized warnings methods citation title history_note
    tuning_notes category_notes advice verdict message stderr stdout fingerprint choice
    choices broken_by claim description"""
IGNORED = ("versions", "date", "command", "file", "out", "seconds")
# From random draws, which rounding can turn: ranks and groups may move by 3 places
# and a twentieth of the items. Ranks of equal ratings, and shares, move with rounding.
DRAWN = "rank rank_intervals rank_best rank_worst group indistinct_groups"
SHARES = {"confidence": 0.03, "accuracy": 0.005, "accuracy_above_first": 0.005}
KEYS = ("item", "judge", "name")  # by which rows of tables are told apart


def gaussian(A, B):
    """Kernel values exp(-0.4 ‖a - b‖²)."""
    return np.exp(-0.4 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def simulate_pairs(seed, n_items, n_rows, p, tie=0.8, separable=False):
    """Draw comparisons of items, of which two are equal; a third of features are 0."""
    rng = np.random.default_rng(seed)
    items = np.clip(rng.normal(size=(n_items, p)), -2, 2)
    items *= rng.random(items.shape) < 0.7
    items[-1] = items[0]
    utility = items @ (1.0 / np.arange(1, p + 1))
    left = rng.integers(n_items, size=4 * n_rows)
    right = (left + rng.integers(1, n_items, size=4 * n_rows)) % n_items
    left[: n_items - 1], right[: n_items - 1] = range(n_items - 1), range(1, n_items)
    apart = utility[right] - utility[left]
    apart += (not separable) * 0.5 * rng.normal(size=len(left))
    clear = np.abs(np.abs(apart) - tie) > (0.2 if separable else 0.0)
    rows = np.flatnonzero(clear)[:n_rows]
    y = np.where(np.abs(apart) <= tie, 0, np.sign(apart)).astype(int)
    return SimpleNamespace(
        names=np.array([f"item {i}" for i in range(n_items)]),
        items=items,
        left=left[rows],
        right=right[rows],
        y=y[rows],
        rater=rng.choice(list("abcde"), n_rows),
        period=np.sort(rng.integers(12, size=n_rows)),
        advantage=rng.integers(-1, 2, n_rows),
        context=rng.normal(size=(n_rows, 2)).round(2),
    )


def simulate_grades(seed, sizes, n_grades=None, unlabeled=0.0):
    """Draw graded items in groups, rows mixed, one item in every group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    items = np.clip(rng.normal(size=(len(group), 3)), -2, 2)
    items *= rng.random(items.shape) < 0.7
    items[np.cumsum(sizes) - sizes] = items[0]
    utility = items @ [1, 0.5, 0.3] + 0.4 * rng.normal(size=len(group))
    y = np.round(1.5 * utility)
    y = np.clip(y, 0, n_grades - 1) if n_grades else y + 3.0 * group
    y[rng.random(len(y)) < unlabeled] = np.nan
    rows = rng.permutation(len(y))
    qid = np.array(list("dbeacjihgf"))[group[rows]]
    return SimpleNamespace(items=items[rows], y=y[rows], qid=qid)


def write_lists(y, qid):
    """Write each group as a list of rows, best first, equal grades as nested lists."""
    lists = []
    for name in dict.fromkeys(qid.tolist()):
        rows = np.flatnonzero(qid == name)
        tied = [rows[y[rows] == grade].tolist() for grade in np.unique(y[rows])[::-1]]
        lists.append([block if len(block) > 1 else block[0] for block in tied if block])
    return lists


def load_sets(folder):
    """Gather the data sets: comparisons, then graded items and lists."""
    V = {
        "awkward": simulate_pairs(1, 12, 40, 3),
        "separable": simulate_pairs(3, 12, 40, 3, separable=True),
        "many": simulate_pairs(5, 40, 300, 5),
        "noties": simulate_pairs(7, 15, 80, 4, tie=0.0),
        "wide": simulate_pairs(9, 15, 60, 25),
        "large": simulate_pairs(11, 200, 2000, 8),
    }
    G = {
        "groups": simulate_grades(6, (8, 3, 7, 4, 6)),
        "one": simulate_grades(6, (25,)),
        "tied": simulate_grades(8, (20, 15, 30, 5, 12), 3),
        "unlabeled": simulate_grades(10, (12, 9, 10), 4, unlabeled=0.4),
        "lists": simulate_grades(12, (6, 9, 5, 8)),
        "large": simulate_grades(14, (90, 40, 70, 60, 80, 50, 60), 5),
    }
    for sets, kind in ((V, "pairs"), (G, "graded")):
        for file in sorted((folder / kind).glob("*.npz")):
            sets[file.stem] = SimpleNamespace(**np.load(file))
    for data in (*V.values(), *G.values()):
        if hasattr(data, "items"):  # the new ones lie between the old ones
            data.new = (data.items[:10] + data.items[1:11]) / 2
    for data in G.values():
        told = getattr(data, "orders", None)
        data.lists = write_lists(data.y, data.qid) if told is None else told.tolist()
    return SimpleNamespace(**V), SimpleNamespace(**G)


def as_table(form, items):
    """Give the function that writes items down as an array, CSR, frame or kernel."""
    forms = {
        "csr": sp.csr_array,
        "frame": lambda t: pd.DataFrame(t).rename(columns="x{}".format),
        "gram": lambda table: gaussian(table, items),
    }
    return forms.get(form, lambda table: table)


def question(data, shape):
    """Write a data set down in a shape: what `fit` takes, and what is asked then."""
    Pairs, Orders, graded = tiebreak.Pairs, tiebreak.Orders, not hasattr(data, "left")
    left, right = np.triu_indices(8, 1)
    if shape == "names" and graded:
        rows = [np.max(block) for order in data.lists for block in order]
        items = [f"item {i}" for i in range(max(rows) + 1)]
        given = {"X": Orders(None, data.lists, names=items)}
    elif shape == "names":
        items = data.names
        given = {"X": Pairs(None, data.left, data.right, names=items), "y": data.y}
    if shape == "names":
        pairs = Pairs(None, left, right, names=items)
        return SimpleNamespace(given=given, items=items, pairs=pairs, graded=False)
    convert = as_table(shape[1:] if graded else shape, data.items)
    table, items = convert(data.items), convert(data.new)
    pairs = Pairs(items, left, right)
    if shape == "array":
        given = {"X": np.stack([table[data.left], table[data.right]], axis=1)}
        pairs = np.stack([items[left], items[right]], axis=1)
    elif shape == "named":
        given = {"X": Pairs(table, data.left, data.right, names=data.names)}
        pairs = Pairs(table, left, right, names=data.names)
    elif not graded:
        given = {"X": Pairs(table, data.left, data.right)}
    else:
        given = {"X": Orders(table, data.lists) if shape[0] == "o" else table}
    if shape[0] != "o":
        given["y"] = data.y
    if graded and shape[0] == "q":
        given["qid"] = data.qid
    return SimpleNamespace(given=given, items=items, pairs=pairs, graded=graded)


def plain(value):
    """Turn what a model or a tool answers into JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if hasattr(value, "to_dicts"):  # a frame of polars
        return plain(value.to_dicts())
    if dataclasses.is_dataclass(value) and not hasattr(value, "fit"):
        return {
            f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | pd.Index):
        return [plain(v) for v in value]
    return f"<{type(value).__name__}>"


def attempt(function, *args, **more):
    """Give the answer, or the class of the error."""
    try:
        return plain(function(*args, **more))
    except Exception as error:
        return {"raises": type(error).__name__}


def fit_answers(scope, expression, data, shape, columns, weighted):
    """Fit a model and ask it everything that has one answer."""
    model = eval(expression, scope)
    q = question(data, shape)
    given = {**q.given, **{name: getattr(data, name) for name in columns}}
    n = len(given.get("y", given["X"]))
    if weighted:
        weight = np.random.default_rng(n).integers(1, 9, n) / 4
        weight[n // 2] = "y" not in given
        given["sample_weight"] = weight
    try:
        model.fit(**given)
    except Exception as error:
        return {"raises": type(error).__name__}
    answers = {"n": n}
    for name in FITTED.split():
        value = getattr(model, name, None)
        if value is None or (name == "coef_" and re.search(NO_COEF, expression)):
            continue
        rows = getattr(model, "judges_" if "side" in name else "items_", None)
        if np.ndim(value) == 1 and rows is not None and len(rows) == len(value):
            value = [
                {"item": str(item), "value": v}
                for item, v in zip(rows, value, strict=True)
            ]
        answers[name] = attempt(lambda value=value: value)
    ask = {name: getattr(data, name)[:28] for name in columns}
    for name in f"{OF_ITEMS} {OF_PAIRS} {OF_MODEL}".split():
        if (method := getattr(model, name, None)) is None:
            continue
        args = (
            []
            if name in OF_MODEL.split()
            else [q.items if name in OF_ITEMS.split() else q.pairs]
        )
        takes = inspect.signature(method).parameters
        more = {k: v for k, v in ask.items() if k in takes and args}
        answers[name] = attempt(method, *args, **more)
    if q.graded:
        answers["predict_items"] = attempt(model.predict, q.items)
    if hasattr(model, "score"):
        takes = inspect.signature(model.score).parameters
        more = {k: v for k, v in given.items() if k in takes and k != "sample_weight"}
        answers["score"] = attempt(model.score, **more)
    return answers


def helpers(V, G):
    """Name what the expressions among the questions may use."""

    def fit(model, data, shape, **columns):
        given = question(data, shape).given
        return model.fit(**given, **{name: getattr(data, name) for name in columns})

    def path(model, data, values, **more):
        more = {"qid": data.qid, **more}
        models = model.path(data.items, data.y, values, **more)
        return [m.utility(data.new) for m in models]

    def saved(model, data):
        with tempfile.TemporaryDirectory() as folder:
            file = tiebreak.save(model, Path(folder) / "model.tiebreak")
            items = data.new if hasattr(data, "new") else data.names
            return [m.utility(items) for m in (model, tiebreak.load(file))]

    def board(model):
        table = tiebreak.Leaderboard(model)
        next_pairs = attempt(table.next_pairs, 5)
        versus = table.versus(model.items_[0])
        return [table.table, versus, next_pairs, attempt(table.groups)]

    def names(data):
        return question(data, "names").given["X"]

    def pairs(data):
        return question(data, "dense").given["X"]

    public = {name: getattr(tiebreak, name) for name in tiebreak.__all__}
    outside = {"np": np, "Ridge": Ridge, "StandardScaler": StandardScaler}
    own = {"gaussian": gaussian, "make_pipeline": make_pipeline, "V": V, "G": G}
    tools = {"fit": fit, "path": path, "saved": saved, "board": board}
    return {**public, **outside, **own, **tools, "names": names, "pairs": pairs}


def read_questions(folder):
    """Read the sections of questions.txt, each a list of lines cut at bars."""
    sections = defaultdict(list)
    for line in (folder / "questions.txt").read_text().splitlines():
        if line.startswith("["):
            section = sections[line.strip("[]")]
        elif line and not line.startswith("#"):
            section.append([part.strip() for part in line.split(" | ")])
    return sections


def list_fits(folder):
    """Name every fit and call, each with the function that answers it."""
    questions, (V, G) = read_questions(folder), load_sets(folder)
    scope, found = helpers(V, G), {}
    for kind, sets in (("pairs", V), ("graded", G)):
        for expression, shapes, names, *columns in questions[kind]:
            shapes, names = shapes.split(), names.split()
            columns = columns[0].split() if columns else []
            cases = [(shapes[0], name, "") for name in names]
            cases += [(shape, names[0], "") for shape in shapes[1:]]
            cases += [(shapes[0], names[0], "weighted")]
            for shape, name, weighted in cases:
                title = f"fit {expression} | {kind} {shape} {name}"
                given = (expression, getattr(sets, name), shape, columns, weighted)
                title = " ".join([title, *columns, weighted]).strip()
                found[title] = partial(fit_answers, scope, *given)
    for name, expression in questions["calls"]:
        found[f"call {name}"] = partial(attempt, eval, expression, scope)
    return found


def list_commands(folder):
    """Name every command, its arguments separated by blanks."""
    questions = read_questions(folder)
    options = dict(questions["options"])
    for kind in ("shapes", "refused"):
        for file in sorted((folder / kind).iterdir()):
            yield f"rank {kind}/{file.name} {options.get(file.name, '')}".strip()
    for (line,) in questions["commands"]:
        # --model=a,b is --model=a and then --model=b
        cut = [re.match(r"(-.*?=)?(.*)", word).groups("") for word in line.split()]
        alternatives = [[o + v for v in values.split(",")] for o, values in cut]
        for words in itertools.product(*alternatives):
            yield " ".join(words).replace(";", ",")


def run_command(line, folder, out):
    """Run a command in the folder of inputs, and read what it prints."""
    words = [word.replace("OUT", str(out)) for word in shlex.split(line)]
    if tiebreak.__version__ >= "0.3":
        words = [new for word in words for new in NEW_WORDS.get(word, [word])]
    json_too = [] if words[0] == "convert" else ["--json"]
    source = str(Path(tiebreak.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "tiebreak", *words, *json_too],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    stdout, stderr = (t.replace(str(out), "OUT") for t in (done.stdout, done.stderr))
    try:
        printed = json.loads(stdout)
    except ValueError:
        printed = {"stdout": stdout}
    return {"exit": done.returncode, "stderr": stderr.splitlines(), "json": printed}


def record(folder, only):
    """Answer all questions, or those that match a pattern, and write them down."""
    inputs, answers, seconds = folder.resolve().parent / "inputs", {}, {}
    print(f"recording {tiebreak.__file__}")
    with tempfile.TemporaryDirectory() as out:
        tasks = list_fits(inputs)
        for line in list_commands(inputs):
            tasks[f"$ {line}"] = partial(run_command, line, inputs, out)
        for name, task in tasks.items():
            if only and not fnmatch(name, f"*{only}*"):
                continue
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                answer = task()
            if not name.startswith("$") and isinstance(answer, dict):
                answer["warned"] = sorted({w.category.__name__ for w in caught})
            answers[name] = answer
            seconds[name] = round(time.perf_counter() - start, 3)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"source": tiebreak.__file__, "version": tiebreak.__version__, "only": only}
    about |= {"python": sys.version, "seconds": round(sum(seconds.values()), 1)}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items()]
    text = ",\n".join(lines)
    (folder / "answers.json").write_text(f"{{\n{text}\n}}\n")
    (folder / "about.json").write_text(json.dumps({**about, "each": seconds}, indent=1))
    print(f"{len(answers)} answers in {about['seconds']} s")


def leaves(value, path=()):
    """List numbers, texts and nulls with their paths; rows of tables by their names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "group" and isinstance(inner, str):  # letters of its groups
                inner = len(inner.split())
            elif key == "indistinct_groups" and isinstance(inner, list):
                inner = [
                    {"item": k, "in": n}
                    for k, n in Counter(itertools.chain(*inner)).items()
                ]
            if key not in IGNORED:
                yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        names = range(len(value))
        for key in KEYS:
            if value and all(isinstance(v, dict) and key in v for v in value):
                found = [str(row[key]) for row in value]
                names = found if len(set(found)) == len(found) else names
                break
        if all(isinstance(v, list) and [*map(type, v)] == [str, float] for v in value):
            names, value = [v[0] for v in value], [v[1] for v in value]
        for name, inner in zip(names, value, strict=True):
            yield from leaves(inner, (*path, f"[{name}]"))
    else:
        yield path, value


def is_number(value):
    """Say whether it is a number, of which True is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(old, new):
    """Say whether two leaves are equal, NaN to NaN."""
    return old == new or (old != old and new != new)


def span_of(answer):
    """Give the range of the utilities that an answer tells, 0 if it tells none."""
    for key in ("utility", "difference"):
        told = [v for _, v in leaves(answer.get(key)) if is_number(v)]
        told = [v for v in told if math.isfinite(v)]
        if told:
            return max(told) - min(told) if key == "utility" else max(map(abs, told))
    return 0.0


def allowed(name, old, new):
    """Give a function of path and values that says how far two numbers may differ."""
    share = next(share for pattern, share in TOLERANCES if re.search(pattern, name))
    scale, n_items = defaultdict(float), 0
    for path, value in leaves(old):
        if is_number(value) and math.isfinite(value):
            scale[path[:1]] = max(scale[path[:1]], abs(value))
            n_items = max(n_items, value if set(path) & set(DRAWN.split()) else 0)
    told = [a if isinstance(a, dict) else {} for a in (old, new)]
    span = span_of(told[0])

    def number(a, key):
        return a[key] if is_number(a.get(key)) else 0.0

    gap = sum(abs(number(a, "gap_") * number(a, "objective_")) for a in told)
    # By strong convexity ½‖w - w*‖² is at most the gap of the program.
    by_gap = min(2 * math.sqrt(2 * gap), 0.05 * span) if share >= 1e-3 else 0.0

    def tolerance(path, a, b):
        key = path[0] if path else ""
        if set(path) & {"gap_", "gaps"}:
            return math.inf
        if set(path) & set(DRAWN.split()):
            return 3 + 0.05 * n_items
        if found := set(path) & set(SHARES):
            return max(SHARES[part] for part in found)
        if name.startswith("$"):
            return COMMAND_TOLERANCE * (max(abs(a), abs(b)) + 1e-3)
        if key in ("score", "training_error_"):
            return 1.0 / max(1, number(told[0], "n"))
        if key == "objective_":
            return 1e-6 * abs(a) + gap
        if key in IN_UTILITY.split() and span:
            return share * span + by_gap
        return (share + (by_gap / span if span else 0)) * scale[path[:1]]

    return tolerance


def moved_rows(old, new, tolerance):
    """Give rows of `predict` and `order` that tolerances of utilities do not excuse."""
    moved = {}
    for key in ("predict", "order"):
        a, b = old.get(key), new.get(key)
        if a == b or not (isinstance(a, list) and isinstance(b, list)):
            continue
        if len(a) != len(b):
            moved[key] = (a, b)
        elif key == "order":
            r, slack = old.get("utility"), 2 * tolerance(("utility",), 0, 0)
            worse = not isinstance(r, list) or sorted(a) != sorted(b)
            if worse or any(r[j] > r[i] + slack for i, j in itertools.pairwise(b)):
                moved[key] = (a, b)
        else:
            rows = [i for i in range(len(a)) if a[i] != b[i]]
            d, t = old.get("difference"), old.get("threshold_", 0.0)
            slack = 4 * tolerance(("difference",), 0, 0)
            if isinstance(d, list) and is_number(t):
                rows = [i for i in rows if abs(abs(d[i]) - t) > slack]
            if len(rows) > 0.01 * len(a):
                moved[key] = (a, b)
    return moved


def differences(name, old, new):
    """Compare two answers: give its state, and what is different, gone or reworded."""
    a, b = dict(leaves(old)), dict(leaves(new))
    tolerance, state, found, texts, keys = allowed(name, old, new), "same", [], 0, []
    excused = set()
    if isinstance(old, dict) and isinstance(new, dict) and not name.startswith("$"):
        excused = {"predict", "order"} & set(old) & set(new)
        moved = moved_rows(old, new, tolerance)
        found += [(key, *rows) for key, rows in moved.items()]
        state = "within" if any(old[k] != new[k] for k in excused) else "same"
    for path in dict.fromkeys([*a, *b]):
        if path[:1] and path[0] in excused:
            continue
        where = ".".join(path)
        is_text = isinstance(a.get(path, b.get(path)), str)
        if is_text and set(path) & set(TEXTS.split()):
            texts += a.get(path) != b.get(path)
        elif path not in a or path not in b:
            there = a if path in a else b
            other = {p[:n] for p in (b if path in a else a) for n in range(len(p) + 1)}
            depths = (n for n in range(len(path) + 1) if path[:n] not in other)
            gone = next(depths, len(path))
            parent_is_leaf = path[: gone - 1] in (b if path in a else a)
            if path[gone - 1].startswith("[") or parent_is_leaf:
                found.append((where, a.get(path, "nothing"), b.get(path, "nothing")))
            else:
                keys.append(f"{'-' if there is a else '+'}{'.'.join(path[:gone])}")
        elif not equal(a[path], b[path]):
            x, y = a[path], b[path]
            numbers = is_number(x) and is_number(y)
            if numbers and abs(x - y) <= tolerance(path, x, y):
                state = "within"
            else:
                found.append((where, x, y))
    return "DIFFERENT" if found else state, found, texts, sorted(set(keys))


def compare(old_folder, new_folder, at_most=6):
    """Print what differs between two recordings; give the number of different ones."""
    old, new = (
        json.loads((folder / "answers.json").read_text())
        for folder in (old_folder, new_folder)
    )
    only = [
        json.loads((f / "about.json").read_text())["only"]
        for f in (old_folder, new_folder)
    ]
    for pattern in filter(None, only):
        old, new = (
            {k: v for k, v in answers.items() if fnmatch(k, f"*{pattern}*")}
            for answers in (old, new)
        )
    table, lost, told = defaultdict(Counter), Counter(), []
    for name in dict.fromkeys([*old, *new]):
        group = re.match(r"\S+ [\w-]+", name)[0]
        reason = next((EXPECTED[p] for p in EXPECTED if fnmatch(name, p)), None)
        if name not in old or name not in new:
            table[group]["missing" if name in old else "new"] += 1
            told.append(f"{'missing' if name in old else 'new'}: {name}")
            continue
        state, found, texts, keys = differences(name, old[name], new[name])
        lost.update(re.sub(r"\[.*?\]", "[]", key) for key in keys)
        table[group]["text"] += bool(texts)
        if state == "DIFFERENT" and reason:
            state = "purpose"
        table[group][state] += 1
        if state == "DIFFERENT":
            told.append(f"DIFFERENT: {name}")
            told += [f"    {w}: {x!s:.60} -> {y!s:.60}" for w, x, y in found[:at_most]]
            if len(found) > at_most:
                told.append(f"    and {len(found) - at_most} more")
    states = ["same", "within", "DIFFERENT", "missing", "new", "purpose", "text"]
    table["all"] = sum(table.values(), Counter())
    print(f"{'':24}" + "".join(f"{state:>11}" for state in states))
    for group, counts in table.items():
        print(f"{group:24}" + "".join(f"{counts[s] or '.':>11}" for s in states))
    print("\n".join(told))
    for key, count in lost.most_common(20):
        print(f"key {'missing' if key[0] == '-' else 'new'} in {count}: {key[1:]}")
    return table["all"]["DIFFERENT"]


def main():
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    asked = commands.add_parser("record")
    asked.add_argument("folder", type=Path)
    asked.add_argument("--only", default="")
    asked = commands.add_parser("compare")
    asked.add_argument("old", type=Path)
    asked.add_argument("new", type=Path)
    asked = parser.parse_args()
    if asked.command == "record":
        record(asked.folder, asked.only)
    elif compare(asked.old, asked.new):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
