# SPDX-License-Identifier: BSD-3-Clause
"""Files made to do harm: nothing in them runs or inflates, and errors are clear."""

import contextlib
import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import given
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

from tests.persistence.fuzz_models import main
from tests.persistence.make_models import CASES, make
from tiebreak import Elo, Pairs, SVMCompare, load, save
from tiebreak.persistence.checks import parts_of as parts_of_model

MB = 2**20


@pytest.fixture(scope="module")
def model():
    """A model with arrays, text, a sparse matrix and, by hand, an array of objects."""
    items = np.random.default_rng(0).normal(size=(30, 5)).round(1)
    left, right = np.arange(30), (np.arange(30) + 7) % 30
    y = np.tile([1, 0, -1], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVMCompare().fit(Pairs(sp.csr_array(items), left, right), y)
    model.feature_names_in_ = np.array(list("abcde"), dtype=object)
    return model


@pytest.fixture(scope="module")
def honest(model, tmp_path_factory):
    """The members of an honest file, by name."""
    path = save(model, tmp_path_factory.mktemp("honest") / "model")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def refusal(path, **kwargs):
    """Give the message with which a file is refused: one line that begins with it."""
    with pytest.raises(ValueError) as caught:
        load(path, **kwargs)
    text = str(caught.value)
    assert text.startswith(f"{path} ")
    assert text.isprintable()
    return text


# No code


def with_attribute(honest, node):
    """Give the members of a file whose model has one more attribute."""
    schema = json.loads(honest["schema.json"])
    state = schema["content"]
    state["content"]["kernel"] = node
    return {**honest, "schema.json": json.dumps(schema)}


def node(loader, name, **more):
    module, _, attribute = name.rpartition(".")
    parts = {"__class__": attribute, "__module__": module, "__loader__": loader}
    return parts | more


def text(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def plain(kind, *parts):
    return node(f"{kind.title()}Node", f"builtins.{kind}", content=list(parts))


def mapping(items, key_type="builtins.str"):
    keys = plain("list", *(node("TypeNode", key_type) for _ in items))
    return node("DictNode", "builtins.dict", content=items, key_types=keys)


# By name: what skops must trust for it to run when the file is loaded.
LIVE = {
    "constructor": "subprocess.Popen",
    "key": "builtins.eval",
    "import": "canary_module.Canary",
}


def payloads(canary):
    """Parts of a schema that create a file when it is loaded, or a model is used."""
    system, ours = node("FunctionNode", "os.system"), "tiebreak.SVMCompare"
    words = plain("list", text("touch"), text(str(canary)))
    partial = {"func": system, "args": plain("tuple", text(f"touch {canary}"))}
    partial |= {"kwds": mapping({}), "namespace": text(None)}
    method = {"func": "fit", "obj": node("ObjectNode", ours, content=mapping({}))}
    call, nothing = "ConstructorFromReduceNode", plain("tuple")
    return {
        "constructor": node(call, LIVE["constructor"], content=plain("tuple", words)),
        "key": mapping({f"open({str(canary)!r}, 'w').close()": text(1)}, LIVE["key"]),
        "import": node("TypeNode", LIVE["import"]),
        "container": node("ListNode", "os.system", content=[]),
        "function": system,
        "partial": node("PartialNode", "functools.partial", content=partial),
        "caller": node("OperatorFuncNode", "operator.methodcaller", attrs=nothing),
        "method": node("MethodNode", ours, content=method),
        "call of a trusted type": node(call, ours, content=nothing),
        "estimator": node("ObjectNode", "sklearn.svm._classes.SVC"),
        "tree": node("TreeNode", "sklearn.tree._tree.Tree"),
        "unknown loader": node("NewNode", "os.system"),
        "nameless": {"__loader__": "ObjectNode"},
        "strange names": node("ObjectNode", "x.y") | {"__class__": ["\x1b[2J\n"]},
    }


HARMFUL = list(payloads(""))


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A file that appears if something runs."""
    path = tmp_path / "canary"
    module = f"open({str(path)!r}, 'w').close()\nclass Canary: pass\n"
    (tmp_path / "canary_module.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    return path


@pytest.mark.parametrize("name", HARMFUL)
@pytest.mark.parametrize("deep", [False, True], ids=["attribute", "deep"])
def test_nothing_runs(name, deep, honest, canary, tmp_path):
    part = payloads(canary)[name]
    if deep:
        shape = plain("tuple", text(1))
        array = node("NdArrayNode", "numpy.ndarray", type="json", shape=shape)
        part = mapping({"__loader__": plain("list", array | {"content": [part]})})
    path = write(tmp_path / "model", with_attribute(honest, part))
    assert "does not trust by itself" in refusal(path)
    assert not canary.exists()


@pytest.mark.parametrize("name", LIVE)
def test_the_payloads_are_live(name, honest, canary, tmp_path):
    part = payloads(canary)[name]
    path = write(tmp_path / "model", with_attribute(honest, part))
    process = getattr(load(path, trusted=[LIVE[name]]), "kernel", None)
    if name == "constructor":
        process.wait()
    assert canary.exists()


def pickled_array(command):
    """An array of objects in NumPy's format, whose pickle runs a shell command."""

    class Run:
        def __reduce__(self):
            return os.system, (command,)

    buffer = io.BytesIO()
    np.save(buffer, np.array([Run()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def test_pickles_inside_arrays_are_not_read(honest, canary, tmp_path):
    data = pickled_array(f"touch {canary}")
    names = [name for name in honest if name.endswith(".npy")]
    for name in names:
        refusal(write(tmp_path / "model", {**honest, name: data}))
    assert names
    npz = next(name for name in honest if name.endswith(".npz"))
    inner = write(tmp_path / "npz", {**parts_of(honest[npz]), "data.npy": data})
    refusal(write(tmp_path / "model", {**honest, npz: inner.read_bytes()}))
    assert not canary.exists()
    np.load(io.BytesIO(data), allow_pickle=True)
    assert canary.exists()


def test_an_object_that_is_not_a_model(honest, tmp_path):
    root = {**mapping({}), "protocol": 2, "_skops_version": "0.16"}
    path = write(tmp_path / "model", {**honest, "schema.json": json.dumps(root)})
    assert "holds a dict, no model" in refusal(path)


def test_a_model_that_is_not_fitted(honest, tmp_path):
    root = node("ObjectNode", "tiebreak.SVMCompare", content=mapping({}), protocol=2)
    path = write(tmp_path / "model", {**honest, "schema.json": json.dumps(root)})
    assert "not fitted" in refusal(path)


# No other attributes

MARKUP = '"><img src=x onerror=alert(1)>'


@pytest.mark.parametrize("deep", [False, True], ids=["model", "transformer"])
@pytest.mark.parametrize(
    "name",
    ["_doc_link_module", "__doc_link_template", "_repr_html_", "fit", "__class__ ",
     "((.|.)*)*!_"],  # a notebook looks for it in the docstring as an expression
    ids=str,
)  # fmt: skip
def test_nothing_that_a_class_defines_is_replaced(name, deep, folder, tmp_path):
    model = load(folder / "pipeline.tiebreak")
    part = model.steps[0][1].transformer_ if deep else model.steps[-1][1]
    vars(part)[name] = MARKUP
    assert f"the attribute {name!r}" in refusal(save(model, tmp_path / "model"))


def test_a_model_has_its_parameters_and_what_fit_stores_and_nothing_else(
    folder, tmp_path
):
    model = load(folder / "bradley_terry_auto.tiebreak")
    model.remark = MARKUP
    assert "the attribute 'remark'" in refusal(save(model, tmp_path / "model"))


@pytest.mark.filterwarnings("ignore")  # about versions, which are texts too
def test_texts_of_a_file_are_no_markup_in_a_notebook(folder, tmp_path):
    n_shown = 0

    def change(part):
        if part.get("__loader__") == "JsonNode" and part["content"].startswith('"'):
            part["content"] = json.dumps(MARKUP)
        return part

    for case in CASES:
        with zipfile.ZipFile(folder / f"{case}.tiebreak") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        schema = json.loads(members["schema.json"], object_hook=change)
        members["schema.json"] = json.dumps(schema)
        html = ""
        with contextlib.suppress(Exception):
            html = load(write(tmp_path / "model", members))._repr_html_()
        assert "<img" not in html
        n_shown += "&lt;img" in html
    assert n_shown > 30


# No inflation


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [
        ("svm_rbf", "classes_", np.zeros((0, 3 * 10**8))),
        ("glicko2", "_before", np.zeros((0, 2, 10**8))),
        ("nystroem_map", "history_", {"a": np.zeros((2 * 10**9, 0), "S0")}),
        ("bradley_terry_auto", "rater_counts_", sp.csc_array((10**9, 69))),
    ],
)
def test_lengths_that_cost_nothing_in_the_file(case, name, value, folder, tmp_path):
    model = load(folder / f"{case}.tiebreak")
    if name == "rater_counts_":
        assert model.rater_counts_.shape[1] == value.shape[1]
    vars(model)[name] = value
    path = save(model, tmp_path / "model")
    assert path.stat().st_size < 20_000
    assert "max_bytes" in refusal(path)


def parts_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


@contextlib.contextmanager
def at_most(megabytes):
    """Check how much memory is taken meanwhile."""
    skops.io.loads(
        skops.io.dumps(Ridge()), trusted=[]
    )  # what is imported does not count
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes * MB


@pytest.mark.parametrize("victim", ["0.npy", "99.npy", "schema.json", "tiebreak.json"])
def test_a_bomb(victim, honest, tmp_path):
    bomb = npy(np.zeros(20 * MB // 8)) if victim.endswith("npy") else b" " * 20 * MB
    members = {**honest, victim: bomb}
    path = write(tmp_path / "model", members, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < MB
    with at_most(2):
        assert "max_bytes" in refusal(path, max_bytes=10 * MB)


def test_a_bomb_in_the_archive_of_a_sparse_matrix(honest, tmp_path):
    name = next(name for name in honest if name.endswith(".npz"))
    parts = {**parts_of(honest[name]), "data.npy": npy(np.zeros(3 * MB))}
    inner = write(tmp_path / "npz", parts, zipfile.ZIP_DEFLATED)
    path = write(tmp_path / "model", {**honest, name: inner.read_bytes()})
    assert path.stat().st_size < MB / 10
    with at_most(2):
        assert "max_bytes" in refusal(path, max_bytes=10 * MB)


@pytest.mark.parametrize("member", ["schema.json", "tiebreak.json"])
def test_json_that_would_fill_the_memory(member, honest, tmp_path):
    path = write(tmp_path / "model", {**honest, member: b"[" + b"{}," * 6 * MB})
    with at_most(2):
        assert "bytes of JSON" in refusal(path)


ENTRY = struct.Struct("<4s6H3L5H2L")  # of the directory at the end of a zip archive


@pytest.mark.parametrize("claim", [100, 2**31])
def test_a_directory_that_lies(claim, honest, tmp_path):
    """At most as much is read as the directory says, so that is what counts."""
    members = {**honest, "0.npy": npy(np.zeros(3 * MB))}
    path = write(tmp_path / "model", members, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = archive.start_dir
    while data[at + ENTRY.size : at + ENTRY.size + 5] != b"0.npy":
        entry = ENTRY.unpack_from(data, at)
        at += ENTRY.size + sum(entry[10:13])
    entry = list(ENTRY.unpack_from(data, at))
    entry[9] = claim
    ENTRY.pack_into(data, at, *entry)
    path.write_bytes(data)
    with at_most(2):
        refusal(path)


def array_node(file):
    return node("NdArrayNode", "numpy.ndarray", type="numpy", file=file)


def test_one_array_for_many_parts(honest, tmp_path):
    parts = [array_node("99.npy") for _ in range(2000)]
    members = with_attribute(honest, plain("list", *parts))
    path = write(tmp_path / "model", {**members, "99.npy": npy(np.zeros(12_500))})
    assert path.stat().st_size < MB
    with at_most(5):
        assert "share content" in refusal(path)


def test_parts_that_refer_to_parts(honest, tmp_path):
    part = plain("list", text(1))
    for number in range(1, 24):
        part = plain("list", part | {"__id__": number}, text(1) | {"__id__": number})
    path = write(tmp_path / "model", with_attribute(honest, part))
    assert "share content" in refusal(path)


@pytest.mark.parametrize("file", ["schema.json", "99.npz", "nowhere", ["0.npy"], None])
def test_files_that_are_no_arrays(file, honest, tmp_path):
    members = with_attribute(honest, array_node(file))
    npz = next(data for name, data in honest.items() if name.endswith(".npz"))
    refusal(write(tmp_path / "model", {**members, "99.npz": npz}))


@pytest.mark.parametrize(
    ("kind", "shape", "n_bytes"),
    [
        ("<f8", "(1000000000000,)", 8),
        ("<f8", "(2,)", 8),
        ("<f8", "(0,)", 8),
        ("<f8", "(-1, -1)", 8),
        ("|V0", "(1000000000000,)", 0),
        ("<U0", "(1000000000000,)", 0),
        ("<f8", "1/0", 8),
        ("<f8", "()" + " " * 20_000, 8),
        ("nonsense", "()", 8),
    ],
)
def test_array_headers_that_lie(kind, shape, n_bytes, honest, tmp_path):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    path = write(tmp_path / "model", {**honest, "0.npy": data + bytes(n_bytes)})
    with at_most(2):
        refusal(path)


def test_sparse_indices_out_of_range(honest, tmp_path):
    name = next(name for name in honest if name.endswith(".npz"))
    parts = parts_of(honest[name])
    indices = np.load(io.BytesIO(parts["indices.npy"]))
    for wrong in (10**6, -5):
        hostile = indices.copy()
        hostile[0] = wrong
        inner = write(tmp_path / "npz", {**parts, "indices.npy": npy(hostile)})
        path = write(tmp_path / "model", {**honest, name: inner.read_bytes()})
        assert "damaged, or was not made" in refusal(path)


# No riddles


@pytest.mark.parametrize(
    "meta",
    [{"format": 1}, {"format": 3, "tiebreak": ["\x1b\n"]}, {"format": "2"}, {}, []],
)
def test_versions(meta, honest, tmp_path):
    members = {**honest, "tiebreak.json": json.dumps(meta)}
    path = write(tmp_path / "model", members)
    assert "reads: fit the model again" in refusal(path)


@pytest.mark.parametrize("member", ["schema.json", "tiebreak.json"])
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"3", b"\xff\xfe", b"[" * 100_000, b'{"protocol": 2}'],
    ids=["empty", "brace", "list", "number", "not utf-8", "deep", "protocol"],
)
def test_members_that_are_not_what_they_should_be(member, data, honest, tmp_path):
    refusal(write(tmp_path / "model", {**honest, member: data}))


def test_every_truncation(honest, tmp_path):
    path = write(tmp_path / "model", honest)
    data = path.read_bytes()
    for size in [*range(1, 100), *range(100, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:size])
        refusal(path)


def loads_or_is_refused(path):
    try:
        load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path} ")
        assert str(error).isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["__loader__", "content", "file"]), inner)
    ),
    max_leaves=4,
)


@given(data=st.data())
def test_any_schema_is_read_or_a_value_error(data, honest, tmp_path_factory):
    schema = json.loads(honest["schema.json"])
    places, pending = [], [schema]
    while pending:
        value = pending.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        places += [(value, key) for key in keys]
        pending += [value[key] for key in keys if isinstance(value[key], dict | list)]
    container, key = data.draw(st.sampled_from(places))
    container[key] = data.draw(JSON)
    folder = tmp_path_factory.mktemp("schema")
    loads_or_is_refused(
        write(folder / "model", {**honest, "schema.json": json.dumps(schema)})
    )


# No lies


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make(folder)
    return folder


@pytest.mark.extended
def test_changed_arrays_reach_no_compiled_loop(folder, tmp_path):
    """In a process of its own, where compiled code checks indices."""
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", main.__module__, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1]} ended in {done.returncode}"
    assert [line for line in lines if not line.endswith((": refused", ": used"))] == []
    refused = [line for line in lines if line.endswith(": refused")]
    assert len(lines) > 3900
    assert len(refused) > len(lines) // 2


LIES = [
    ("plackett_luce", "list_items_", 3, 8, "index n"),
    ("plackett_luce", "list_items_", 3, -1, "index n"),
    ("plackett_luce", "list_starts_", 1, 99, "rising"),
    ("plackett_luce", "list_starts_", 0, 1, "from 0"),
    ("plackett_luce", "list_starts_", -1, 99, "to e"),
    ("plackett_luce", "list_ends_", 2, 9, "ends list_starts_"),
    ("plackett_luce", "tie_", 0, np.nan, "finite"),
    ("bradley_terry", "pair_left_", 0, 8, r"index n\+s"),
    ("rank_boost", "features_", 0, 3, "index p"),
    ("ordinal_svm", "grades_", 0, 9.0, "rising"),
]


@pytest.mark.parametrize(("case", "name", "at", "value", "rule"), LIES)
def test_values_outside_of_the_table(case, name, at, value, rule, folder, tmp_path):
    model = load(folder / f"{case}.tiebreak")
    getattr(model, name)[at] = value
    with pytest.raises(ValueError, match=rf"\.{name} something else.*: {rule}\."):
        load(save(model, tmp_path / "model"))


@pytest.mark.parametrize(
    ("case", "name", "change"),
    [
        ("plackett_luce", "tie_", lambda a: np.append(a, 1.0)),
        ("plackett_luce", "list_weight_", lambda a: a[:-1]),
        ("plackett_luce_auto", "prior_coefs_", lambda a: a[:, 1:]),
        ("bradley_terry_auto", "prior_coefs_", lambda a: a[:, :5]),
        ("bradley_terry_auto", "rater_counts_", lambda a: a[:, 3:]),
        ("rank_svm_linear", "coef_", lambda a: np.append(a, 1.0)),
        ("rank_svm_linear", "n_features_in_", lambda a: a + 1),
        ("svm_rbf", "dual_coef_", lambda a: a.tolist()),
    ],
)
def test_shapes_outside_of_the_table(case, name, change, folder, tmp_path):
    model = load(folder / f"{case}.tiebreak")
    setattr(model, name, change(getattr(model, name)))
    path = save(model, tmp_path / "model")
    refusal(path)


def test_ties_that_the_lists_do_not_have(folder):
    model = load(folder / "plackett_luce.tiebreak")
    model.list_ends_[:] = 0
    with pytest.raises(ValueError, match="other ties"):
        model.standard_errors()


def test_what_is_derived_is_not_read(folder):
    model = load(folder / "elo.tiebreak")
    lies = {"_cache": {"row_of": {"ada": 99}}, "_later": [3]}
    again = Elo()
    again.__setstate__({**model.__getstate__(), **lies})
    assert (again._cache, again._later) == ({}, [])


def test_every_array_of_whole_numbers_is_declared(folder):
    for name in CASES:
        for part in parts_of_model(load(folder / f"{name}.tiebreak")):
            tables = [vars(k).get("_fitted_arrays", {}) for k in type(part).__mro__]
            state = vars(part) if isinstance(part, BaseEstimator) else {}
            for attribute, value in state.items():
                whole = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
                if whole and attribute not in ("classes_", "selected_"):
                    assert any(attribute in table for table in tables), attribute
