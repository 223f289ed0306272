# SPDX-License-Identifier: BSD-3-Clause
"""Features before games: by hand, against the plain loop, and blind to the future."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.oracles import game_features_plain
from tests.ratings.random_games import few_games, random_games
from tiebreak import OnItems, Pairs, SVMCompare
from tiebreak.metrics.scorers import difference_of
from tiebreak.ratings import Elo, GameFeatures, Glicko, game_features
from tiebreak.ratings.over_time.game_features import FEATURE_NAMES

pytestmark = pytest.mark.filterwarnings("ignore:y holds only 0 and 1")


def column(features, name):
    """Give one feature of left and right, shape (n, 2)."""
    values = features.pairs.values[:, FEATURE_NAMES.index(name)]
    return values.reshape(len(features.pairs), 2)


def table(features):
    return features.pairs.values.reshape(len(features.pairs), 2, len(FEATURE_NAMES))


def test_sixteen_features_of_two_items_per_game():
    features = game_features(Pairs(None, ["a", "b"], ["b", "c"]), [-1, 0])
    assert isinstance(features, GameFeatures)
    assert len(FEATURE_NAMES) == len(set(FEATURE_NAMES)) == 16
    assert features.feature_names == features.pairs.feature_names == FEATURE_NAMES
    assert features.pairs.shape == (2, 2, 16)
    assert features.pairs.n_items == 4
    assert features.pairs.names is None
    assert features.pairs.left.tolist() == [0, 2]
    assert features.pairs.right.tolist() == [1, 3]
    assert features.n_before.tolist() == [[0, 0], [1, 0]]
    assert features.n_before.dtype == np.int64


def test_a_first_game_knows_nothing():
    features = game_features(
        Pairs(None, ["a"], ["b"]),
        [-1],
        period=[7],
        elo_init=1000,
        glicko_init=1400,
        glicko_deviation=300,
    )
    expected = np.zeros((2, 16))
    expected[:, :3] = [1000, 1400, 300]
    expected[0, FEATURE_NAMES.index("first_move")] = 1
    assert_array_equal(features.pairs.values, expected)


def test_a_few_games_by_hand():
    """b beats a; a draws with b; a, now below b, beats b; then c meets both."""
    left, right = ["a", "a", "b", "c", "a"], ["b", "b", "a", "a", "b"]
    y, period = [1, 0, 1, -1, 0], [1, 1, 3, 3, 8]
    features = game_features(Pairs(None, left, right), y, period=period)
    # K is 30. Game 0: both at 1200, so the winner gains 15. Game 1: a has 1185 and b
    # 1215, 30 points apart, so a expects 1 / (1 + 10^(30/400)).
    elo = column(features, "elo")
    assert elo[0].tolist() == [1200, 1200]
    assert elo[1].tolist() == [1185, 1215]
    gain = 30 * (0.5 - 1 / (1 + 10 ** (30 / 400)))
    assert_allclose(elo[2], [1215 - gain, 1185 + gain], rtol=1e-14)
    assert column(features, "games").tolist() == [
        [0, 0],
        [1, 1],
        [2, 2],
        [0, 3],
        [4, 3],
    ]
    assert column(features, "wins")[-1].tolist() == [1, 1]
    assert column(features, "draws")[-1].tolist() == [1, 1]
    assert column(features, "losses")[-1].tolist() == [2, 1]
    assert column(features, "win_share")[-1].tolist() == [1 / 4, 1 / 3]
    assert column(features, "draw_share")[-1].tolist() == [1 / 4, 1 / 3]
    assert column(features, "loss_share")[-1].tolist() == [1 / 2, 1 / 3]
    # Of a's four games one was a victory over a higher player (game 2). The defeat in
    # game 0 was between equals; the one in game 3 was by c, at 1200.
    assert elo[3, 1] > elo[3, 0] == 1200
    assert column(features, "beat_higher_share")[-1].tolist() == [1 / 4, 0]
    assert column(features, "lost_to_lower_share")[-1].tolist() == [1 / 4, 1 / 3]
    gaps = elo[1, 1] - elo[1, 0] + elo[2, 0] - elo[2, 1] + elo[3, 0] - elo[3, 1]
    assert_allclose(
        column(features, "opponent_difference")[-1, 0], gaps / 4, rtol=1e-13
    )
    assert column(features, "form")[-1].tolist() == [1.5 / 4, 1.5 / 3]
    idle = column(features, "idle_periods").tolist()
    assert idle == [[0, 0], [0, 0], [2, 2], [0, 0], [5, 5]]
    assert column(features, "first_move").tolist() == [[1, 0]] * 5


def test_form_is_about_the_last_ten_games():
    """Twelve games: two victories, then ten draws, then three defeats."""
    y = [-1] * 2 + [0] * 10 + [1] * 3
    features = game_features(Pairs(None, ["a"] * 15, ["b"] * 15), y)
    scores = [1.0] * 2 + [0.5] * 10 + [0.0] * 3
    expected = [np.mean(scores[max(0, i - 10) : i]) if i else 0.0 for i in range(15)]
    assert_allclose(column(features, "form")[:, 0], expected, rtol=1e-15)
    assert column(features, "form")[12, 0] == 0.5


def test_the_deviation_grows_at_the_first_game_of_a_period():
    """By c² per period that passed, up to 350; the second game finds it grown."""

    def deviations(period, c=20.0):
        pairs = Pairs(None, ["a"] * 5, ["b"] * 5)
        features = game_features(pairs, [-1, 0, 1, 0, -1], period=period, c=c)
        return column(features, "glicko_deviation")

    deviation, still = deviations([0, 0, 4, 4, 1e6]), deviations([0] * 5)
    assert_array_equal(still, deviations(None))
    assert_array_equal(still, deviations([0, 0, 4, 4, 1e6], c=0.0))
    assert_array_equal(deviation[:2], still[:2])
    assert_allclose(deviation[2], np.sqrt(still[2] ** 2 + 4 * 20**2), rtol=1e-14)
    assert (deviation[3] < deviation[2]).all()
    assert_array_equal(deviation[4], [350, 350])
    # A part of a period counts as one, as for Glicko.
    short = deviations([0, 0, 0.1, 0.1, 0.1])
    assert_allclose(short[2], np.sqrt(still[2] ** 2 + 20**2), rtol=1e-14)


@pytest.mark.parametrize("with_period", [False, True])
@pytest.mark.parametrize("k", ["fide", "fide2014", 24.0])
@given(games=few_games(max_rows=40), data=st.data())
def test_equals_the_plain_loop(k, with_period, games, data):
    settings = {
        "k": k,
        "elo_init": data.draw(st.sampled_from([1200.0, 2399.0])),
        "glicko_init": data.draw(st.sampled_from([1500.0, 0.0])),
        "glicko_deviation": data.draw(st.sampled_from([350.0, 60.0])),
        "c": data.draw(st.sampled_from([0.0, 15.0, 200.0])),
    }
    period = games.period if with_period else None
    features = game_features(games.pairs, games.y, period=period, **settings)
    expected = game_features_plain.features(
        games.left.tolist(), games.right.tolist(), games.y, period=period, **settings
    )
    assert_allclose(table(features), expected, rtol=1e-9, atol=1e-9)


def test_long_histories_equal_the_plain_loop(rng):
    """Enough games for every K of FIDE's rule and for sums to drift, if they did."""
    games = random_games(rng, 1500, n_items=8)
    settings = {"period": games.period, "elo_init": 2380.0, "c": 15.0}
    features = game_features(games.pairs, games.y, **settings)
    expected = game_features_plain.features(
        games.left.tolist(), games.right.tolist(), games.y, **settings
    )
    assert column(features, "elo").max() > 2400
    assert features.n_before.max() > 100
    assert_allclose(table(features), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", ["fide", "fide2014", 32])
def test_ratings_are_those_of_the_models(rng, k):
    games = random_games(rng, 3000, n_items=30)
    features = game_features(games.pairs, games.y, k=k, elo_init=2300)
    elo = Elo(k=k, init=2300).fit(games.pairs, games.y)
    glicko = Glicko().fit(games.pairs, games.y)
    assert_allclose(column(features, "elo"), elo.before_, rtol=1e-12)
    assert_allclose(column(features, "glicko"), glicko.before_, rtol=1e-12)
    deviation = column(features, "glicko_deviation")
    assert_allclose(deviation, glicko.before_deviation_, rtol=1e-12)


def test_deviations_grow_as_those_of_glicko(rng):
    """With one game per period both update after every game."""
    games = random_games(rng, 500, n_items=20)
    period = np.cumsum(rng.choice([1, 2, 50], 500))
    features = game_features(games.pairs, games.y, period=period, c=40)
    glicko = Glicko(c=40).fit(games.pairs, games.y, period=period)
    assert_allclose(column(features, "glicko"), glicko.before_, rtol=1e-12)
    deviation = column(features, "glicko_deviation")
    assert_allclose(deviation, glicko.before_deviation_, rtol=1e-12)


def later_changed(games, first, rng):
    """Give the games with the later ones deleted, reversed in result, or shuffled."""
    n = len(games.y)
    other = random_games(rng, n)
    rows = np.arange(n)
    rows[first:] = rng.permutation(rows[first:])
    yield games.take(np.arange(first))
    yield games.take(rows)
    for changed in (other, games):
        y = np.r_[games.y[:first], -changed.y[first:]]
        left = np.r_[games.left[:first], changed.left[first:]]
        right = np.r_[games.right[:first], changed.right[first:]]
        yield type(games)(left, right, y, *[games.period] * 3)


@pytest.mark.parametrize("with_period", [False, True])
def test_the_future_changes_nothing(rng, with_period):
    games = random_games(rng, 300)
    period = games.period if with_period else None
    whole = table(game_features(games.pairs, games.y, period=period))
    for first in (1, 17, 150, 299):
        for changed in later_changed(games, first, rng):
            n = len(changed.y)
            part = game_features(
                changed.pairs, changed.y, period=period[:n] if with_period else None
            )
            assert_array_equal(table(part)[:first], whole[:first])


def test_the_last_result_changes_nothing_at_all(rng):
    """Not even the features of the game itself."""
    games = random_games(rng, 40)
    for y in (-1, 0, 1):
        changed = np.r_[games.y[:-1], y]
        assert_array_equal(
            table(game_features(games.pairs, changed)),
            table(game_features(games.pairs, games.y)),
        )


def test_every_earlier_game_of_a_player_counts(rng):
    """The result of a player's game is seen in the features of the next one."""
    games = random_games(rng, 60, n_items=5)
    whole = table(game_features(games.pairs, games.y))
    for row in range(0, 30, 7):
        y = games.y.copy()
        y[row] = 1 if y[row] < 1 else -1
        changed = table(game_features(games.pairs, y))
        following = [
            (i, side)
            for i in range(row + 1, 60)
            for side, name in enumerate((games.left[i], games.right[i]))
            if name == games.left[row]
        ]
        assert (changed[following[0]] != whole[following[0]]).any()


def test_swapping_a_game_swaps_its_players(rng):
    games = random_games(rng, 200)
    whole = table(game_features(games.pairs, games.y))
    swapped = table(game_features(games.pairs.swap(), -games.y))[:, ::-1].copy()
    move = FEATURE_NAMES.index("first_move")
    swapped[:, :, move] = 1 - swapped[:, :, move]
    assert_allclose(swapped, whole, rtol=1e-10, atol=1e-10)


def test_names_and_their_order_do_not_matter(rng):
    games = random_games(rng, 200)
    whole = table(game_features(games.pairs, games.y))
    names = np.unique(games.left)
    pairs = Pairs(None, games.left, games.right, names=["unused", *names[::-1]])
    assert_array_equal(table(game_features(pairs, games.y)), whole)


def test_counts_add_up(rng):
    games = random_games(rng, 400)
    features = game_features(games.pairs, games.y)
    games_before = column(features, "games")
    parts = sum(column(features, name) for name in ("wins", "draws", "losses"))
    assert_array_equal(parts, games_before)
    assert_array_equal(features.n_before, games_before)
    shares = sum(column(features, f"{word}_share") for word in ("win", "draw", "loss"))
    assert_allclose(shares[games_before > 0], 1, rtol=1e-14)
    for part, whole in (("beat_higher", "win"), ("lost_to_lower", "loss")):
        share = column(features, f"{part}_share")
        assert (share <= column(features, f"{whole}_share")).all()


@pytest.mark.filterwarnings("ignore:intercept_ = .* no tie will ever be predicted")
def test_a_comparer_learns_from_them(rng):
    """Every fourth game teaches more than nothing about the others."""
    games = random_games(rng, 2000, n_items=15)
    features = game_features(games.pairs, games.y)
    known = np.flatnonzero(features.n_before.min(axis=1) > 0)
    train, test = known[::4], np.setdiff1d(known, known[::4])
    model = make_pipeline(OnItems(StandardScaler()), SVMCompare(C=1e-2))
    model.fit(features.pairs[train], games.y[train])
    difference = difference_of(model, features.pairs[test])
    decided = games.y[test] != 0
    right = np.sign(difference[decided]) == games.y[test][decided]
    assert right.mean() > 0.6  # seven standard deviations above chance
    plain = SVMCompare(C=1e-9).fit(features.pairs[train], games.y[train])
    assert plain.feature_names_in_.tolist() == list(FEATURE_NAMES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"right": ["b", "b", "b"]},
            r"1 game\(s\) are of an item .*row 1",
        ),
        ({"y": [-1, 2, 0]}, r"y must hold -1.*row 1 \(2\)"),
        ({"y": [-1, 0]}, "y has 2 outcomes but there are 3 comparisons"),
        ({"y": None}, "requires y to be passed"),
        (
            {"period": [1, 3, 2]},
            r"period decreases at row 2 \(2\).*sort the",
        ),
        ({"period": [1, 2]}, "period has 2 values but there are 3 rows"),
        ({"period": [1, None, 2]}, r"period has 1 missing value\(s\).*row 1"),
        ({"period": [1, 2, np.inf]}, r"period must be finite.*row 2 \(inf\)"),
        ({"k": 0}, "got k=0; expected a finite number above 0"),
        ({"k": "elo"}, "got k='elo'; expected a positive finite number, 'fide' or"),
        ({"k": True}, "got k=True; expected"),
        ({"elo_init": np.nan}, "got elo_init=nan; expected a finite number"),
        ({"glicko_init": "high"}, "got glicko_init='high'; expected a finite number"),
        ({"glicko_deviation": 0}, "glicko_deviation=0; .* above 0 and at most 350"),
        ({"glicko_deviation": 351}, "glicko_deviation=351; .* above 0 and at most 350"),
        ({"c": -1}, "got c=-1; expected a finite number at least 0"),
    ],
)
def test_bad_input(change, message):
    arguments = {"left": ["a", "b", "c"], "right": ["b", "c", "a"], "y": [-1, 0, 1]}
    arguments |= change
    pairs = Pairs(None, arguments.pop("left"), arguments.pop("right"))
    with pytest.raises(ValueError, match=message):
        game_features(pairs, arguments.pop("y"), **arguments)


@pytest.mark.parametrize(
    "period", [["June", "May"], np.array(["2020", "2021"], dtype="M8[Y]")]
)
def test_time_is_measured_in_numbers(period):
    with pytest.raises(TypeError, match=r"needs numbers as period.*For months try"):
        game_features(Pairs(None, ["a", "b"], ["b", "c"]), [-1, 0], period=period)


def test_what_is_no_list_of_games():
    with pytest.raises(TypeError, match="have features but no names"):
        game_features(np.zeros((2, 2, 3)), [-1, 0])
    with pytest.raises(ValueError, match="There are no comparisons"):
        game_features(Pairs(None, [], []), [])
