# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import agreement_plain as oracle
from tiebreak.metrics import comparison_units, krippendorff_alpha

LEVELS = pytest.mark.parametrize("level", ["nominal", "ordinal"])
RATINGS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-1, 2)), max_size=30
)
# K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), section C: four
# observers, twelve units, dots are missing.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def published():
    table = [line.split() for line in PUBLISHED.strip().splitlines()]
    rows = [
        (unit, rater, int(value))
        for rater, line in enumerate(table)
        for unit, value in enumerate(line)
        if value != "."
    ]
    return list(zip(*rows, strict=True))


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_krippendorffs_own_example(level, alpha):
    result = krippendorff_alpha(*published(), level=level)
    assert result.alpha == pytest.approx(alpha, abs=5e-4)
    assert (result.n_units, result.n_raters, result.n_ratings) == (11, 4, 40)
    assert result.low < result.alpha < result.high <= 1


@LEVELS
@given(rows=RATINGS, symmetric=st.booleans())
def test_equals_the_coincidence_matrix(level, rows, symmetric):
    options = {"level": level, "symmetric": symmetric, "n_resamples": 1}
    raters = {}
    for unit, rater, _ in rows:
        raters.setdefault(unit, set()).add(rater)
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    if not any(len(found) > 1 for found in raters.values()):
        with pytest.raises(ValueError, match=r"two raters|is empty"):
            krippendorff_alpha(*columns, **options)
        return
    expected = oracle.krippendorff_alpha(rows, level == "ordinal", symmetric)
    if np.isnan(expected):
        with pytest.raises(ValueError, match="so alpha is 0/0"):
            krippendorff_alpha(*columns, **options)
        return
    result = krippendorff_alpha(*columns, **options)
    assert result.alpha == pytest.approx(expected, abs=1e-9)


@pytest.mark.extended
@LEVELS
def test_intervals_cover_the_alpha_of_all_units(level):
    # A rater gives the true value of 0, 1, 2 or, with chance ½, any of them.
    rng = np.random.default_rng(5)

    def sample(n_units):
        truth = rng.integers(3, size=n_units)[:, None]
        guess = rng.integers(3, size=(n_units, 3))
        value = np.where(rng.random((n_units, 3)) < 0.5, truth, guess)
        unit, rater = np.indices(value.shape)
        return unit.ravel(), rater.ravel(), value.ravel()

    true = krippendorff_alpha(*sample(40_000), level=level, n_resamples=1).alpha
    assert true == pytest.approx(0.25, abs=0.01)  # Both know the value: ½ · ½.
    found = [krippendorff_alpha(*sample(80), level=level, n_resamples=100)
             for _ in range(100)]  # fmt: skip
    covered = np.mean([one.low <= true <= one.high for one in found])
    assert 0.87 <= covered <= 0.99


def test_votes_with_exchanged_sides_agree():
    left, right = ["x", "y", "z", "x"], ["y", "x", "x", "z"]
    unit, value = comparison_units(left, right, [-1, 1, 0, 0])
    assert unit.tolist() == [0, 0, 1, 1]
    assert value.tolist() == [-1, -1, 0, 0]
    rater = ["ann", "bo", "ann", "bo"]
    assert krippendorff_alpha(unit, rater, value, symmetric=True).alpha == 1
    against = krippendorff_alpha(*_columns(left, right, [-1, -1, 0, 0], rater))
    assert against.alpha < 0.5


@LEVELS
def test_which_item_is_named_first_changes_nothing_if_symmetric(level):
    rng = np.random.default_rng(2)
    unit, rater = np.repeat(np.arange(30), 3), np.tile(["a", "b", "c"], 30)
    vote = np.sign(rng.integers(-1, 5, size=90)) * rng.integers(2, size=90)
    turned = vote * np.repeat(rng.choice([-1, 1], size=30), 3)
    found = [
        krippendorff_alpha(unit, rater, values, level=level, symmetric=symmetric)
        for symmetric in (True, False)
        for values in (vote, turned)
    ]
    assert found[0].alpha == pytest.approx(found[1].alpha, abs=1e-12)
    assert found[0].low == pytest.approx(found[1].low, abs=1e-12)
    assert abs(found[2].alpha - found[3].alpha) > 0.01


def _columns(left, right, y, rater):
    unit, value = comparison_units(left, right, y)
    return unit, rater, value


def test_repeated_answers_of_one_rater_are_not_agreement():
    with pytest.raises(ValueError, match="No unit was rated by two raters"):
        krippendorff_alpha([1, 1, 2], ["ann", "ann", "bo"], [1, 1, 1])


def test_one_unit_says_nothing():
    one = krippendorff_alpha([1, 1], [1, 2], ["good", "bad"])
    assert (one.alpha, one.low, one.high) == (0, -1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "ratio"}, "level must be 'nominal' or 'ordinal'; got 'ratio'"),
        ({"confidence": 95}, "confidence must be between 0 and 1; got 95"),
        ({"n_resamples": 0}, "n_resamples must be a whole number"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha([1, 1], [1, 2], [1, 2], **options)
    with pytest.raises(ValueError, match="rater"):
        krippendorff_alpha([1, 1], [1], [1, 2])
    with pytest.raises(ValueError, match="y must hold -1"):
        comparison_units([1], [2], [5])
