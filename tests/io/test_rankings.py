# SPDX-License-Identifier: BSD-3-Clause
"""PrefLib files: what they hold is read."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tiebreak.io import read_file

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
        out[key] = out.get(key, 0) + int(count)
    return result.data.orders.names.tolist(), out


def kind_of(names, lists):
    tied = any(len(block) > 1 for blocks in lists for block in blocks)
    short = any(sum(map(len, blocks)) < len(names) for blocks in lists)
    return ("t" if tied else "s") + "o" + ("i" if short else "c")


@given(weighted_lists())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_lists_are_read(tmp_path, drawn):
    names, lists, voters = drawn
    assume(all(name == name.strip() for name in names))
    path = tmp_path / "votes.txt"
    lines = ["# FILE NAME: votes", f"# DATA TYPE: {kind_of(names, lists)}"]
    lines += [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(names, 1)]
    for blocks, count in zip(lists, voters, strict=True):
        parts = [",".join(str(row + 1) for row in block) for block in blocks]
        written = (f"{{{part}}}" if "," in part else part for part in parts)
        lines.append(f"{count}: {','.join(written)}")
    path.write_bytes(("\n".join(lines) + "\n").encode())
    assert read_votes(path) == (names, votes(names, lists, voters))


def test_remarks_and_empty_lines_are_passed_over(tmp_path):
    path = tmp_path / "votes.soi"
    path.write_text(
        "# FILE NAME: votes.soi\n# a remark\n\n"
        "# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n3: 2,1\n\n# another\n"
    )
    assert read_votes(path) == (["a", "b"], {(frozenset("b"), frozenset("a")): 3})


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
