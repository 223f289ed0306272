# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of files are those of `Outcome.parse`, which reads row by row."""

import warnings

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiebreak import Outcome
from tiebreak.io import FileError, ReadOptions, read_file

NAMES = st.sampled_from(["Ada", "Bo", "tie", " Left", "7", "1"])
VALUES = st.sampled_from(
    ["Ada", " Bo ", "tie", "LEFT", "b", "7", "1", "0", "½", "-1", "both_bad", "won"]
)


@given(
    rows=st.lists(st.tuples(NAMES, NAMES, VALUES), min_size=1, max_size=5),
    meaning=st.sampled_from([None, "sign", "score"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_outcomes_are_those_of_parse(tmp_path, rows, meaning):
    rows = [row for row in rows if row[0] != row[1]] or [("Ada", "Bo", "tie")]
    path = tmp_path / "table.csv"
    lines = ["left,right,winner", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    left, right, values = zip(*rows, strict=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "both bad", which is a sentence here
            expected = Outcome.parse(
                list(values), meaning=meaning, left=list(left), right=list(right)
            ).tolist()
    except ValueError:
        expected = None
    try:
        found = read_file(path, ReadOptions(meaning=meaning)).y.tolist()
    except FileError:
        found = None
    assert found == expected
