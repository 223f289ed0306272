# SPDX-License-Identifier: BSD-3-Clause
"""Files made to do harm: nothing in them runs or inflates, and errors are clear."""

import contextlib
import io
import json
import os
import pickle
import re
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import given
from sklearn.linear_model import Ridge

from tests.extended import extended
from tiebreak import Pairs, SVMCompare, load, save
from tiebreak.persistence import files

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


def test_the_honest_members_load(honest, tmp_path):
    assert isinstance(load(write(tmp_path / "model", honest)), SVMCompare)
    assert {Path(name).suffix for name in honest} == {".json", ".npy", ".npz"}
    assert b"__id__" not in honest["schema.json"]


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


def payloads(canary):
    """Parts of a schema that would create the file, with the names skops must trust."""
    touch = f"touch {canary}"
    system = node("FunctionNode", "os.system")
    partial = node(
        "PartialNode",
        "functools.partial",
        content={
            "func": system,
            "args": plain("tuple", text(touch)),
            "kwds": mapping({}),
            "namespace": text(None),
        },
    )
    return {
        # These run when the file is loaded, if they are let in.
        "constructor": (
            node(
                "ConstructorFromReduceNode",
                "subprocess.Popen",
                content=plain("tuple", plain("list", text("touch"), text(str(canary)))),
            ),
            ["subprocess.Popen"],
        ),
        "container": (node("ListNode", "os.system", content=[]), []),
        "key": (
            mapping({f"open({str(canary)!r}, 'w').close()": text(1)}, "builtins.eval"),
            ["builtins.eval"],
        ),
        "import": (node("TypeNode", "canary_module.Canary"), ["canary_module.Canary"]),
        # These would run when the model is used.
        "function": (system, []),
        "partial": (partial, []),
        "methodcaller": (
            node(
                "OperatorFuncNode",
                "operator.methodcaller",
                attrs=plain("tuple", text("unlink")),
            ),
            [],
        ),
        "method": (
            node(
                "MethodNode",
                "tiebreak.SVMCompare",
                content={
                    "func": "fit",
                    "obj": node(
                        "ObjectNode", "tiebreak.SVMCompare", content=mapping({})
                    ),
                },
            ),
            [],
        ),
        "call of a trusted type": (
            node(
                "ConstructorFromReduceNode",
                "tiebreak.SVMCompare",
                content=plain("tuple"),
            ),
            [],
        ),
        "ufunc": (node("FunctionNode", "numpy.add"), []),
        "estimator": (node("ObjectNode", "sklearn.svm._classes.SVC"), []),
        "tree": (node("TreeNode", "sklearn.tree._tree.Tree"), []),
        "generator": (
            node(
                "RandomGeneratorNode",
                "numpy.random._generator.Generator",
                content={
                    "bit_generator": mapping({"bit_generator": text("seed")}),
                    "seed_seq": mapping({}),
                },
            ),
            [],
        ),
        "unknown loader": (node("NewNode", "os.system"), []),
        "nameless": ({"__loader__": "ObjectNode"}, []),
        "strange names": (
            node("ObjectNode", "x.y") | {"__class__": ["\x1b[2J\n"], "__module__": 5},
            [],
        ),
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
    part, _ = payloads(canary)[name]
    if deep:
        shape = plain("tuple", text(1))
        array = node("NdArrayNode", "numpy.ndarray", type="json", shape=shape)
        part = mapping({"__loader__": plain("list", array | {"content": [part]})})
    path = write(tmp_path / "model", with_attribute(honest, part))
    assert "does not trust by itself" in refusal(path)
    assert not canary.exists()


@pytest.mark.parametrize("name", ["constructor", "key", "import"])
def test_the_payloads_are_live(name, honest, canary, tmp_path):
    part, names = payloads(canary)[name]
    path = write(tmp_path / "model", with_attribute(honest, part))
    process = getattr(load(path, trusted=names), "kernel", None)
    if name == "constructor":
        process.wait()
    assert canary.exists()


def test_the_root_may_be_hostile_too(honest, canary, tmp_path):
    for part, _ in payloads(canary).values():
        root = json.dumps(part | {"protocol": 2, "_skops_version": "0.16"})
        path = write(tmp_path / "model", {**honest, "schema.json": root})
        assert "does not trust by itself" in refusal(path)
    assert not canary.exists()


def test_what_is_refused_is_named(honest, tmp_path):
    part, _ = payloads("")["partial"]
    message = refusal(write(tmp_path / "model", with_attribute(honest, part)))
    assert "'functools.partial', 'os.system'." in message
    assert "not made by tiebreak.save" in message


def test_trust_is_only_for_what_is_named(honest, tmp_path):
    part, _ = payloads("")["partial"]
    path = write(tmp_path / "model", with_attribute(honest, part))
    assert "itself: 'os.system'." in refusal(path, trusted=["functools.partial"])


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
        path = write(tmp_path / "model", {**honest, name: data})
        assert f"{name} an array of pickled objects" in refusal(path)
    assert names
    npz = next(name for name in honest if name.endswith(".npz"))
    inner = write(tmp_path / "npz", {**parts_of(honest[npz]), "data.npy": data})
    path = write(tmp_path / "model", {**honest, npz: inner.read_bytes()})
    assert "data.npy an array of pickled objects" in refusal(path)
    assert not canary.exists()
    np.load(io.BytesIO(data), allow_pickle=True)
    assert canary.exists()


def test_a_pickle_is_not_read(canary, tmp_path):
    class Run:
        def __reduce__(self):
            return os.system, (f"touch {canary}",)

    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(Run()))
    assert "a pickle, which could run code" in refusal(path)
    assert not canary.exists()


def test_an_object_that_is_not_a_model(honest, tmp_path):
    root = {**mapping({}), "protocol": 2, "_skops_version": "0.16"}
    path = write(tmp_path / "model", {**honest, "schema.json": json.dumps(root)})
    assert "type dict, which is not a model" in refusal(path)


def test_a_model_that_is_not_fitted(honest, tmp_path):
    root = node("ObjectNode", "tiebreak.SVMCompare", content=mapping({}), protocol=2)
    path = write(tmp_path / "model", {**honest, "schema.json": json.dumps(root)})
    assert "not fitted" in refusal(path)


# No inflation


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


@pytest.mark.parametrize(
    ("victim", "method", "size"),
    [
        extended(("0.npy", zipfile.ZIP_DEFLATED, 200 * MB)),
        ("0.npy", zipfile.ZIP_BZIP2, 20 * MB),
        ("0.npy", zipfile.ZIP_LZMA, 20 * MB),
        ("99.npy", zipfile.ZIP_DEFLATED, 20 * MB),
        ("schema.json", zipfile.ZIP_DEFLATED, 20 * MB),
        ("tiebreak.json", zipfile.ZIP_DEFLATED, 20 * MB),
    ],
)
def test_an_honest_bomb(victim, method, size, honest, tmp_path):
    bomb = npy(np.zeros(size // 8)) if victim.endswith("npy") else b" " * size
    path = write(tmp_path / "model", {**honest, victim: bomb}, method)
    assert path.stat().st_size < size / 500
    with at_most(2):
        assert "compressed member" in refusal(path)


@pytest.mark.parametrize(
    ("member", "size"), [("schema.json", 17 * MB), ("tiebreak.json", 5000)]
)
def test_json_that_would_fill_the_memory(member, size, honest, tmp_path):
    path = write(tmp_path / "model", {**honest, member: b"[" + b"{}," * (size // 3)})
    with at_most(2):
        assert "bytes of JSON" in refusal(path)


def test_names_that_could_not_be_read_again(model, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "MOST_JSON", 1000)
    with pytest.raises(ValueError, match=r"at most 1,000 are read again"):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_bomb_in_the_archive_of_a_sparse_matrix(honest, tmp_path):
    name = next(name for name in honest if name.endswith(".npz"))
    inner = tmp_path / "npz"
    parts = {**parts_of(honest[name]), "data.npy": npy(np.zeros(3 * MB))}
    write(inner, parts, zipfile.ZIP_DEFLATED)
    path = write(tmp_path / "model", {**honest, name: inner.read_bytes()})
    assert path.stat().st_size < MB / 10
    with at_most(2):
        assert "compressed member" in refusal(path)


def test_files_of_sparse_matrices_are_not_compressed(honest):
    name = next(name for name in honest if name.endswith(".npz"))
    with zipfile.ZipFile(io.BytesIO(honest[name])) as archive:
        assert {i.compress_type for i in archive.infolist()} == {zipfile.ZIP_STORED}


ENTRY = struct.Struct("<4s6H3L5H2L")  # of the directory at the end of a zip archive
FIELDS = {"method": 4, "packed": 8, "unpacked": 9}


def lie(path, victim, **fields):
    """Change what the directory of an archive says about one member."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        at = archive.start_dir
    while data[at : at + 4] == b"PK\x01\x02":
        entry = list(ENTRY.unpack_from(data, at))
        end = at + ENTRY.size + entry[10]
        if data[at + ENTRY.size : end] == victim.encode():
            for name, value in fields.items():
                entry[FIELDS[name]] = value
            ENTRY.pack_into(data, at, *entry)
            path.write_bytes(data)
            return
        at = end + entry[11] + entry[12]
    raise AssertionError(f"no entry for {victim}")


@pytest.mark.parametrize("claim", ["small", "stored", "larger", "beyond", "shorter"])
def test_a_directory_that_lies(claim, honest, tmp_path):
    bomb = npy(np.zeros(3 * MB))
    path = tmp_path / "model"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in honest.items():
            if name == "0.npy" and claim not in ("beyond", "shorter"):
                archive.writestr(name, bomb, zipfile.ZIP_DEFLATED)
            else:
                archive.writestr(name, data)
    with zipfile.ZipFile(path) as archive:
        packed = archive.getinfo("0.npy").compress_size
    fields, message = {
        "small": ({"unpacked": 100}, "compressed member"),
        "stored": ({"method": 0, "unpacked": packed}, "no array that can be read"),
        "larger": ({"method": 0}, "claim to hold"),
        "beyond": ({"packed": 2**31, "unpacked": 2**31}, "claim to hold"),
        "shorter": ({"unpacked": packed - 8}, "claim to hold"),
    }[claim]
    lie(path, "0.npy", **fields)
    assert path.stat().st_size < MB / 10
    with at_most(2):
        assert message in refusal(path)


def test_members_that_overlap(honest, tmp_path):
    data = npy(np.zeros(MB // 8))
    members = {**honest, **{f"{i}.npy": b"" for i in range(100, 300)}, "99.npy": data}
    path = write(tmp_path / "model", members)
    for i in range(100, 300):
        lie(path, f"{i}.npy", packed=len(data), unpacked=len(data))
    assert path.stat().st_size < 2 * MB
    with at_most(2):
        assert "claim to hold" in refusal(path)


def array_node(file):
    return node("NdArrayNode", "numpy.ndarray", type="numpy", file=file)


def test_one_array_for_many_parts(honest, tmp_path):
    parts = [array_node("99.npy") for _ in range(2000)]
    members = with_attribute(honest, plain("list", *parts))
    path = write(tmp_path / "model", {**members, "99.npy": npy(np.zeros(12_500))})
    assert path.stat().st_size < MB
    with at_most(5):
        assert "belongs to no other part" in refusal(path)


def test_parts_that_refer_to_parts(honest, tmp_path):
    part = plain("list", text(1))
    for number in range(1, 24):
        part = plain("list", part | {"__id__": number}, text(1) | {"__id__": number})
    path = write(tmp_path / "model", with_attribute(honest, part))
    assert "refer to each other" in refusal(path)


@pytest.mark.parametrize(
    ("loader", "name", "file"),
    [
        ("NdArrayNode", "numpy.ndarray", "99.bin"),
        ("NdArrayNode", "numpy.ndarray", "99.npz"),
        ("NdArrayNode", "numpy.ndarray", "schema.json"),
        ("NdArrayNode", "numpy.ndarray", ["99.npy"]),
        ("SparseMatrixNode", "scipy.sparse._csr.csr_array", "99.bin"),
        ("SparseMatrixNode", "scipy.sparse._csr.csr_array", "99.npy"),
    ],
)
def test_files_that_were_not_checked_are_not_read(loader, name, file, honest, tmp_path):
    part = node(loader, name, type="numpy", file=file)
    members = {
        **with_attribute(honest, part),
        "99.bin": b"PK",
        "99.npy": npy(np.ones(1)),
    }
    assert "has a part with the file" in refusal(write(tmp_path / "model", members))


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
        message = refusal(path)
    assert re.search(r"0\.npy (no|an) array.* not made by tiebreak\.save", message)


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


def test_other_sparse_formats(honest, tmp_path):
    name = next(name for name in honest if name.endswith(".npz"))
    for kind in ("coo", "dia", "bsr"):
        inner = tmp_path / "npz"
        with inner.open("wb") as stream:
            sp.save_npz(
                stream, sp.csr_array(np.eye(3)).asformat(kind), compressed=False
            )
        path = write(tmp_path / "model", {**honest, name: inner.read_bytes()})
        message = "of format bsr" if kind == "bsr" else "else than a sparse matrix"
        assert message in refusal(path)


# No riddles


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/passwd", "a/", "0.npy.exe", "٣.npy"]
)
def test_members_with_other_names(name, honest, tmp_path):
    path = write(tmp_path / "model", {**honest, name: b""})
    assert f"do not belong in a model file: {name!a}" in refusal(path)


def test_members_that_are_there_twice(honest, tmp_path):
    path = write(tmp_path / "model", honest)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Dupl"):
        archive.writestr("schema.json", b"{}")
    assert "do not belong in a model file: 'schema.json'" in refusal(path)


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        (
            {"format": 1, "tiebreak": "0.2.0"},
            "reads format 2 alone: fit the model again",
        ),
        ({"format": 3, "tiebreak": "7.0"}, "has format 3, and this version"),
        ({"format": 3, "tiebreak": ["\x1b\n"]}, "has format 3, and this version"),
        ({"format": 0}, "no valid format version"),
        ({"format": True}, "no valid format version"),
        ({"format": "1"}, "no valid format version"),
        ({}, "no valid format version"),
        ([], "no valid format version"),
    ],
)
def test_versions(meta, message, honest, tmp_path):
    members = {**honest, "tiebreak.json": json.dumps(meta), "new-in-2.txt": b""}
    assert message in refusal(write(tmp_path / "model", members))


def test_a_schema_of_a_newer_skops(honest, tmp_path):
    schema = json.loads(honest["schema.json"]) | {"protocol": 99}
    path = write(tmp_path / "model", {**honest, "schema.json": json.dumps(schema)})
    assert "protocol 99" in refusal(path)


@pytest.mark.parametrize("member", ["schema.json", "tiebreak.json"])
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"3", b"\xff\xfe", b"[" * 100_000, b'{"protocol": 2}'],
    ids=["empty", "brace", "list", "number", "not utf-8", "deep", "protocol"],
)
def test_members_that_are_not_what_they_should_be(member, data, honest, tmp_path):
    refusal(write(tmp_path / "model", {**honest, member: data}))


def test_a_missing_member(honest, tmp_path):
    for name in honest:
        members = {key: data for key, data in honest.items() if key != name}
        assert "tiebreak.save" in refusal(write(tmp_path / "model", members))


def test_a_flipped_bit_in_an_array(honest, tmp_path):
    path = write(tmp_path / "model", honest)
    data = bytearray(path.read_bytes())
    data[data.index(honest["0.npy"]) + len(honest["0.npy"]) - 1] ^= 1
    path.write_bytes(data)
    assert "Bad CRC-32 for file '0.npy'" in refusal(path)


def test_every_truncation(honest, tmp_path):
    path = write(tmp_path / "model", honest)
    data = path.read_bytes()
    for size in [*range(1, 100), *range(100, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:size])
        assert "tiebreak.save" in refusal(path)


def loads_or_is_refused(path):
    try:
        load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path} ")
        assert str(error).isprintable()


@given(data=st.data())
def test_any_damage_is_a_value_error(data, honest, tmp_path_factory):
    path = write(tmp_path_factory.mktemp("damage") / "model", honest)
    content = bytearray(path.read_bytes())
    # Most of the interesting bytes are in the directory, at the end.
    start = data.draw(st.sampled_from([0, len(content) - 700]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(start, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    loads_or_is_refused(path)


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
