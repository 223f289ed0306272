# SPDX-License-Identifier: BSD-3-Clause
"""PrefLib files: what is written is read back, and what cannot be is refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tiebreak import Orders
from tiebreak.io import WriteError, read_file, write_preflib

NAMES = st.one_of(
    st.sampled_from(
        ["1", "007", "a: b", "# x", "{1,2}", "a,b", "=1+1", "🍣", "א", '"', "3: 1,2"]
    ),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6
    ),
)


@st.composite
def weighted_lists(draw):
    """Draw names, lists of row numbers in blocks, and numbers of voters."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    complete, strict = draw(st.booleans()), draw(st.booleans())
    lists, voters = [], []
    for _ in range(draw(st.integers(1, 5))):
        rows = draw(st.permutations(range(len(names))))
        if not complete:
            rows = rows[: draw(st.integers(1, len(rows)))]
        blocks = []
        while rows:
            size = 1 if strict else draw(st.integers(1, len(rows)))
            blocks.append(list(rows[:size]))
            rows = rows[size:]
        lists.append(blocks)
        voters.append(draw(st.sampled_from([1, 2, 10**12])))
    return names, lists, voters


def votes(names, lists, voters):
    """Sum up the voters of every list; tied items have no order."""
    out = {}
    for blocks, count in zip(lists, voters, strict=True):
        key = tuple(frozenset(names[row] for row in block) for block in blocks)
        out[key] = out.get(key, 0) + count
    return out


def read_votes(path):
    result = read_file(path)
    out = {}
    for sequence, count in zip(result.data.orders, result.data.weight, strict=True):
        blocks = [block if isinstance(block, list) else [block] for block in sequence]
        key = tuple(frozenset(block) for block in blocks)
        assert key not in out  # each different list is written once
        out[key] = int(count)
    return result.data.orders.names.tolist(), out


def kind_of(names, lists):
    tied = any(len(block) > 1 for blocks in lists for block in blocks)
    short = any(sum(map(len, blocks)) < len(names) for blocks in lists)
    return ("t" if tied else "s") + "o" + ("i" if short else "c")


@given(weighted_lists())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_round_trip(tmp_path, drawn):
    names, lists, voters = drawn
    assume(all(name == name.strip() for name in names))
    texts = np.array(names, dtype=object)
    sequences = [[texts[block].tolist() for block in blocks] for blocks in lists]
    orders = Orders(None, sequences, texts)
    kind = kind_of(names, lists)
    fitting = {kind, "t" + kind[1:], kind[:2] + "i", "toi"}
    for ending in fitting:
        path = tmp_path / f"votes.{ending}"
        write_preflib(path, orders, voters)
        assert read_votes(path) == (names, votes(names, lists, voters))
    for ending in {"soc", "soi", "toc", "toi"} - fitting:
        with pytest.raises(WriteError, match="let the name end with"):
            write_preflib(tmp_path / f"other.{ending}", orders, voters)


def test_what_is_read_is_written_as_it_was(tmp_path):
    text = (
        "# FILE NAME: cakes.toi\n# TITLE: Cakes, and more\n# DATA TYPE: toi\n"
        "# NUMBER ALTERNATIVES: 4\n# NUMBER VOTERS: 6\n# NUMBER UNIQUE ORDERS: 3\n"
        "# ALTERNATIVE NAME 1: Apple: with cream\n# ALTERNATIVE NAME 2: Banana\n"
        "# ALTERNATIVE NAME 3: Cherry\n# ALTERNATIVE NAME 4: Date\n"
        "3: 2,{1,3}\n2: 4,1\n1: {1,2,3,4}\n"
    )
    path = tmp_path / "cakes.toi"
    path.write_bytes(text.encode())
    read = read_file(path)
    write_preflib(path, read.data.orders, read.data.weight, title=" Cakes,\nand  more ")
    assert path.read_bytes().decode() == text


def test_remarks_and_empty_lines_are_passed_over(tmp_path):
    path = tmp_path / "votes.soi"
    path.write_text(
        "# FILE NAME: votes.soi\n# a remark\n\n"
        "# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 2,1\n\n# another\n"
    )
    assert read_votes(path) == (["a", "b"], {(frozenset("b"), frozenset("a")): 3})


def test_items_without_names_are_their_numbers(tmp_path):
    path = tmp_path / "votes.SOI"
    write_preflib(path, Orders(np.eye(3), [[2, 0], [2, 0]]))
    assert read_votes(path) == (
        ["0", "1", "2"],
        {(frozenset(["2"]), frozenset(["0"])): 2},
    )


def refused(path, message, sequences=None, weight=None, names=None):
    sequences = [["a", "b"]] if sequences is None else sequences
    with pytest.raises(WriteError, match=message):
        write_preflib(path, Orders(None, sequences, names), weight)
    assert not path.exists()


def test_what_does_not_fit_the_format_is_refused(tmp_path):
    refused(tmp_path / "a.csv", r"must end with \.soc, \.soi, \.toc or \.toi")
    refused(tmp_path / "none" / "a.soc", "cannot be written: No such file")
    ties = [["a", "b"], ["b", ["a"]], [["a", "b"]]]
    refused(tmp_path / "a.soc", r"end with \.toc", ties)
    short = [["a", "b"], ["b"], [["a", "b"]]]
    refused(tmp_path / "a.soi", r"end with \.toi", short)
    refused(tmp_path / "a.toc", r"end with \.toi", short)
    refused(tmp_path / "a.soc", r"end with \.soi", [["a"], ["b"]])


@pytest.mark.parametrize("name", ["", " a", "a\nb", "a\rb", "\u2003"])
def test_names_that_do_not_fit_a_line_are_refused(tmp_path, name):
    path = tmp_path / "a.soi"
    message = r"an item is called .*expected another name for each, in one line"
    refused(path, message, [[0, 1]], names=np.array(["x", name], dtype=object))


def test_names_that_would_be_the_same_are_refused(tmp_path):
    names = np.array([1, "1"], dtype=object)
    refused(tmp_path / "a.soi", "an item is called '1'", [["1"]], names=names)


@pytest.mark.parametrize("weight", [0, 0.5, 1.5])
def test_voters_are_whole_numbers(tmp_path, weight):
    path = tmp_path / "a.toi"
    lists = [["a", "b"], ["b", "a"]]
    refused(path, r"whole numbers of voters.*row 1 \(", lists, [2, weight])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["# NUMBER UNIQUE ORDERS: 2", "3: 2"],
            r"NUMBER UNIQUE ORDERS 2, but there are 1",
        ),
        (["# ALTERNATIVE NAME 2: z", "3: 2"], "line 5 names alternative 2 again"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, lines, expected):
    start = ["# FILE NAME: x", *(f"# ALTERNATIVE NAME {i}: {i}" for i in (1, 2, 3))]
    path = tmp_path / "votes.txt"
    path.write_text("\n".join([*start, *lines]) + "\n")
    with pytest.raises(ValueError, match=expected):
        read_file(path)


def test_tied_items_have_no_order(tmp_path):
    path = tmp_path / "votes.toi"
    write_preflib(path, Orders(None, [["a", ["b", "c"]], ["a", ["c", "b"]]]))
    lines = path.read_text().splitlines()
    assert lines[-2:] == ["# ALTERNATIVE NAME 3: c", "2: 1,{2,3}"]
