# SPDX-License-Identifier: BSD-3-Clause
"""Files as people have them, with an order that is known by construction.

Lists are all those with few inversions, and counts follow the strengths: nothing is
drawn, so that another file changes none. A row of ``FILES`` is a name, the text of the
file, options, and either True (the order is found), or a part of the refusal. In a file
that can be meant in two ways, ``wrong`` are the options among those of the refusal that
read it the other way round, which nobody but the user can know.
"""

from itertools import combinations, cycle, islice, permutations
from typing import Any, NamedTuple

import numpy as np

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo"]


class File(NamedTuple):
    """A file, the options to read it with, and what is expected."""

    name: str
    text: str
    expected: bool | str = True  # the order is right, or a part of the refusal
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    wrong: tuple[str, ...] = ()  # options that are suggested and mean the opposite
    names: list[str] = NAMES  # best first
    more: dict[str, str] = {}  # noqa: RUF012 - other files, by name


def rankings(n, k=6, most=2):
    """Give n lists: those of the first k names with few inversions, again and again."""
    lists = {
        order: sum(i > j for i, j in combinations(order, 2))
        for order in permutations(range(k))
    }
    kept = sorted((o for o in lists if lists[o] <= most), key=lists.get)
    return [[NAMES[i] for i in order] for order in islice(cycle(kept), n)]


def share(edge):
    """Give the probability of a win."""
    return 1 / (1 + np.exp(-edge))


def table(header, rows, separator=","):
    lines = [header, *rows]
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def ranks(k=6, n=30):
    """Give a row of ranks for each judge."""
    lists = rankings(n, k, most=k // 3)
    rows = [[order.index(name) + 1 for name in NAMES[:k]] for order in lists]
    return [[f"J{j}", *row] for j, row in enumerate(rows)]


def wins(games=60, tied=0.0):
    """Give wins of row over column, and ties, for every two names."""
    place, n = np.arange(6), round(games * (1 - tied))
    won = np.round(n * share(1.2 * (place - place[:, None]))).astype(int)
    won = np.triu(won, 1) + np.tril(n - won.T, -1)
    return won, (games - n) * (1 - np.eye(6, dtype=int))


def square(values, diagonal="-", corner="team"):
    rows = [
        [name, *[diagonal if i == j else value for j, value in enumerate(row)]]
        for i, (name, row) in enumerate(zip(NAMES, values.tolist(), strict=True))
    ]
    return table([corner, *NAMES], rows)


def races(n=25, out=0.0):
    """Give season, round, driver and place."""
    rows = []
    for race, order in enumerate(rankings(n)):
        for place, driver in enumerate(order, 1):
            k = NAMES.index(driver)
            # Who is bad breaks down more often.
            is_out = (7 * race + 5 * k) % 20 < 20 * out * (1 + k)
            word = ["DNF", "", "-", "Ret"][race % 4]
            row = [2020 + race // 10, race % 10 + 1, driver, word if is_out else place]
            rows.append(row)
    return rows


def totals(tied=0.0):
    won, ties = wins(tied=tied)
    return [
        [NAMES[i], NAMES[j], won[i, j], won[j, i], ties[i, j]]
        for i in range(6)
        for j in range(i)
    ]


def panel():
    """Give a row of scores for each person, higher for better."""
    return [
        [who, *(round(20 - 2 * rank + j % 7 / 10, 1) for rank in row)]
        for j, (who, *row) in enumerate(ranks())
    ]


def matches(n=30):
    rows = []
    for (a, b), m in (
        (pair, m) for pair in permutations(range(6), 2) for m in range(n)
    ):
        edge = share(0.5 * (b - a)) - (m + 0.5) / n
        goals = [1, 1] if abs(edge) < 0.1 else [2, 0] if edge > 0 else [0, 1]
        rows.append([NAMES[a], NAMES[b], *goals])
    return rows


def losers(rows):
    """Give what is no score: the same numbers, lower for better."""
    return [[row[0], *[round(40 - value, 1) for value in row[1:]]] for row in rows]


JUDGED, RACED, PANEL = ranks(), races(), panel()
WON, _ = wins()
TIED_WON, TIES = wins(tied=0.3)
LISTS = rankings(40)
SHORT = [order[:3] for order in rankings(196, most=4)]
BELOW = {"unlisted": "lower"}
NOT_BELOW = ("--unlisted unknown",)
BALLOTS = table(["1st", "2nd", "3rd"], SHORT)
HEADER = ["judge", *NAMES]
PLACES = ["season", "round", "driver", "position"]
LONG = [
    [j[0], name, value]
    for j in JUDGED
    for name, value in zip(NAMES, j[1:], strict=True)
]
RATED = [
    [j[0], name, value] for j in PANEL for name, value in zip(NAMES, j[1:], strict=True)
]
DOWN = [[name, *(row[i + 1] for row in JUDGED)] for i, name in enumerate(NAMES)]
WITH_AGE = [[*row, 20 + j] for j, row in enumerate(JUDGED)]
TRUE_TIES = [
    [j[0], 1, 2, 2, 4, 5, 6] if n % 4 == 0 else j for n, j in enumerate(JUDGED)
]
THREE = ranks(3)
HALVES = WON + 0.5 * TIES
CHAIN = "".join(" > ".join(order) + "\n" for order in LISTS)
TIED_CHAIN = CHAIN.replace(" > ", " = ", 3)
COMMAS = "".join(", ".join(order) + "\n" for order in LISTS)
THREES = "".join(",".join(order) + "\n" for order in SHORT)
TOTALS = [row[:4] for row in totals()]
COUNTED = table(["a", "b", "wins_a", "wins_b", "ties"], totals(0.1))

SETS = [[o for o in order if o != n] for n in NAMES for order in rankings(20)]
MAXDIFF = [[i, "|".join(sorted(o)), o[0], o[-1]] for i, o in enumerate(SETS)]
MARKED = [
    [i, name, (name == order[0]) * 1 - (name == order[-1])]
    for i, order in enumerate(SETS)
    for name in sorted(order)
]
MAXDIFF_HEADER, MARKED_HEADER = (
    ["set", "items", "best", "worst"],
    ["set", "item", "choice"],
)


def numbered():
    """Give two numbers of items, and that of the winner."""
    rows = [
        [101 + NAMES.index(a), 101 + NAMES.index(b), x > y]
        for a, b, x, y in matches()
        if x != y
    ]
    return [[a, b, a if left else b] for a, b, left in rows]


IDS = [str(101 + i) for i in range(6)]
NUMBERED = numbered()


def doubles(n=5):
    """Give matches of two against two, and who won."""
    rows = []
    for four in combinations(range(6), 4):
        for left in combinations(four, 2):
            right = [i for i in four if i not in left]
            for m in range(n):
                edge = share(0.9 * (sum(right) - sum(left))) - (m + 0.5) / n
                word = "tie" if abs(edge) < 0.05 else "left" if edge > 0 else "right"
                rows.append([*(NAMES[i] for i in (*left, *right)), word])
    return rows


DOUBLES = doubles()
PLUS = [[f"{a}+{b}", f"{c} + {d}", word] for a, b, c, d, word in DOUBLES]

FILES = [
    # Ranks of judges: the lowest number is best.
    File("judges_of_wines", table(HEADER, JUDGED)),
    File("ranks_without_names", table(NAMES, [row[1:] for row in JUDGED])),
    File("ranks_of_anybody", table(["who", *NAMES], JUDGED)),
    File("ranks_with_mark", "\ufeff" + table(HEADER, JUDGED)),
    File("ranks_with_blank_lines", table(HEADER, JUDGED).replace("J4", "\n\nJ4")),
    File("ranks_with_quotes", table(map('"{}"'.format, HEADER), JUDGED)),
    File("ranks_with_semicolons", table(HEADER, JUDGED, ";")),
    File("ranks_and_age", table([*HEADER, "age"], WITH_AGE)),
    File("ranks_with_ties", table(HEADER, TRUE_TIES)),
    File("ranks_twice", table(HEADER, JUDGED + JUDGED[:3])),
    File("ranks_with_a_gap", table(HEADER, [*JUDGED, ["J30", 1, 2, "", 3, 4, 5]])),
    File(
        "ranks_and_a_word",
        table(HEADER, [*JUDGED, ["J30", "x", 2, 3, 4, 5, 6]]),
        "look like ranks",
    ),
    File(
        "ranks_and_one_score",
        table(HEADER, [*JUDGED, ["J30", 6, 6, 6, 6, 6, 1]]),
        "look like ranks",
        wrong=("--person judge --higher-is-better",),
    ),
    File(
        "three_ranks",
        table(HEADER[:4], THREE),
        "look like ranks",
        wrong=("--person judge --higher-is-better",),
        names=NAMES[:3],
    ),
    File(
        "three_ranks_said",
        table(HEADER[:4], THREE),
        options={"lower_is_better": True},
        names=NAMES[:3],
    ),
    File(
        "ranks_by_header",
        table(["judge", *(f"rank {n}" for n in NAMES[:3])], THREE),
        names=NAMES[:3],
    ),
    File("items_by_judges", table(["wine", *(j[0] for j in JUDGED)], DOWN)),
    # Places in races.
    File("races", table(PLACES, RACED)),
    File("races_that_end_early", table(PLACES, races(out=0.05))),
    File(
        "races_without_who_is_out",
        table(PLACES, races(60, out=0.02)),
        options={"unplaced": "drop"},
    ),
    File(
        "races_and_more",
        table(
            [*PLACES, "grid", "points", "team"], [[*r, 3, 7 - r[3], "T"] for r in RACED]
        ),
    ),
    File(
        "races_named",
        table(["s", "r", "who", "place"], RACED),
        options={"query": "s,r", "item": "who"},
    ),
    File(
        "races_not_parted",
        table(["who", "place"], [r[2:] for r in RACED]),
        "its list has already",
    ),
    File("races_twice", table(PLACES, RACED + RACED[:2]), "its list has already"),
    File(
        "races_with_a_word",
        table(PLACES, [*RACED, [2030, 1, "Ada", "soon"]]),
        "no places: line 152 ('soon')",
    ),
    File(
        "races_with_ordinals",
        table(
            PLACES,
            [
                [*r[:3], f"{r[3]}{['st', 'nd', 'rd', 'th'][min(r[3], 4) - 1]}"]
                for r in RACED
            ],
        ),
    ),
    File("judge_item_rank", table(["judge", "wine", "rank"], LONG)),
    File(
        "judge_item_rank_named",
        table(["judge", "wine", "rank"], LONG),
        options={"person": "judge", "grade": "rank", "item": "wine"},
    ),
    # Ballots and lines.
    File("ballots", BALLOTS, "196 lists of 196 leave items out", wrong=NOT_BELOW),
    File(
        "ballots_of_choices",
        table(
            ["voter", "choice 1", "choice 2", "choice 3"],
            [[f"v{i}", *b] for i, b in enumerate(SHORT)],
        ),
        options=BELOW,
    ),
    File("ballots_below", BALLOTS, options=BELOW),
    File(
        "ballots_counted",
        table(["first", "second", "third", "count"], [[*b, 2] for b in SHORT]),
        options=BELOW,
    ),
    File("ballot_with_a_name_twice", BALLOTS + "Ada,Ada,Bo\n", "line 198 ('Ada')"),
    File("chains", CHAIN),
    File("chains_with_ties", TIED_CHAIN),
    File(
        "chains_counted",
        "".join(f"{2 + i % 3}: {line}\n" for i, line in enumerate(CHAIN.splitlines())),
    ),
    File("chains_with_blank_lines", "\ufeff# lists\n\n" + CHAIN.replace("\n", "\n\n")),
    File("chain_with_a_hole", CHAIN + "Ada > > Bo\n", "line 41"),
    File("lines_of_names", COMMAS),
    File("lines_of_three", THREES, "leave items out", wrong=NOT_BELOW),
    File("lines_of_three_below", THREES, options=BELOW),
    # Counts.
    File("win_matrix", square(WON)),
    File("win_matrix_with_zeros", square(WON, 0, "")),
    File("win_matrix_of_losses", square(WON.T), options={"lower_is_better": True}),
    File("win_matrix_with_halves", square(HALVES)),
    File(
        "win_matrix_and_ties",
        square(TIED_WON),
        options={"tie_matrix": "ties.csv"},
        more={"ties.csv": square(TIES)},
    ),
    File("win_matrix_by_person", square(WON), "Leave out --person", {"person": "team"}),
    File(
        "win_matrix_and_total",
        table(
            ["team", *NAMES, "total"],
            [[n, *r, sum(r)] for n, r in zip(NAMES, WON.tolist(), strict=True)],
        ),
    ),
    File(
        "win_matrix_with_a_word",
        square(WON)
        .replace("-", "-", 1)
        .replace("Bo,", "Bo,many,", 1)
        .replace(",many,", ",", 0),
        "fields",
    ),
    File(
        "win_matrix_short",
        "\n".join(square(WON).splitlines()[:-1]) + "\n",
        "no row for 'Flo'",
    ),
    File("win_shares", square(np.round(WON / 60, 3)), "shares"),
    File("wins_without_names", table(NAMES, WON.tolist()), "first column"),
    File(
        "totals_with_other_names",
        table(["player_1", "player_2", "wins_of_one", "wins_of_two"], TOTALS),
        "Call columns that count wins of both sides wins_a and wins_b",
    ),
    File("distances", square(WON + WON.T), "symmetric"),
    File("totals", COUNTED),
    File(
        "totals_of_wins_and_losses",
        table(["player_1", "player_2", "wins", "losses"], [r[:4] for r in totals()]),
    ),
    File("totals_with_blank_lines", COUNTED.replace("Cy,", "\nCy,", 1)),
    File(
        "totals_as_scores",
        COUNTED,
        "counts wins of many",
        {"left_score": "wins_a", "right_score": "wins_b"},
    ),
    File("totals_with_a_word", COUNTED + "Ada,Bo,many,1,0\n", "line 17 ('many')"),
    File(
        "counts_of_winners",
        table(
            ["winner", "loser", "count"],
            [r[:3] for r in totals()] + [[r[1], r[0], r[3]] for r in totals()],
        ),
    ),
    File(
        "golf",
        table(
            ["player_1", "player_2", "time_1", "time_2"],
            [[a, b, 9 - x, 9 - y] for a, b, x, y in matches()],
        ),
        options={"left_score": "time_1", "right_score": "time_2"},
    ),
    File(
        "goals",
        table(["home_team", "away_team", "home_goals", "away_goals"], matches()),
    ),
    # Scores of people: the highest number is best, unless something says otherwise.
    File("panel", table(HEADER, PANEL)),
    File("panel_one_score_per_row", table(["judge", "wine", "score"], RATED)),
    File(
        "panel_of_times",
        table(HEADER, losers(PANEL)),
        options={"lower_is_better": True},
    ),
    File(
        "panel_of_anybody",
        table(["who", *NAMES], PANEL),
        "3 ways",
        wrong=("--item who --grade Flo", "--item who --kind scores"),
    ),
    File(
        "long_times",
        table(["judge", "wine", "score"], [[a, b, 40 - c] for a, b, c in RATED]),
        options={"lower_is_better": True},
    ),
    # The best and the worst of sets.
    File("best_worst", table(MAXDIFF_HEADER, MAXDIFF)),
    File(
        "best_worst_in_columns",
        table(
            ["set", *(f"item{k}" for k in range(5)), "best", "worst"],
            [[i, *sorted(o), o[0], o[-1]] for i, o in enumerate(SETS)],
        ),
    ),
    File("best_worst_marked", table(MARKED_HEADER, MARKED)),
    File(
        "best_worst_of_two_columns",
        table(
            ["set", "item", "best", "worst"],
            [[*m[:2], int(m[2] > 0), int(m[2] < 0)] for m in MARKED],
        ),
    ),
    File(
        "best_is_not_shown",
        table(MAXDIFF_HEADER, [*MAXDIFF, [120, "Ada|Bo|Cy", "Di", "Cy"]]),
        "line 122",
    ),
    File(
        "two_are_best",
        table(
            MARKED_HEADER, [*MARKED, [120, "Ada", 1], [120, "Bo", 1], [120, "Cy", -1]]
        ),
        "without one item that is best",
    ),
    # Names and times of which no header says what they are.
    File(
        "winners_by_number", table(["id_a", "id_b", "winner_id"], NUMBERED), names=IDS
    ),
    File(
        "winners_of_anything",
        table(["x", "y", "z"], NUMBERED),
        "--left x --right y and --winner z",
        names=IDS,
    ),
    File(
        "labels",
        table(
            ["prompt", "response_a", "response_b", "label"],
            [["p", a, b, int(a == c)] for a, b, c in NUMBERED],
        ),
        "--meaning score if 1 is a win of response_a",
        wrong=("--meaning",),
        names=IDS,
    ),
    File(
        "times",
        table(
            ["race", "athlete", "time"],
            [[f"{r[0]}-{r[1]}", r[2], 50 + r[3] / 4] for r in RACED],
        ),
    ),
    # Teams.
    File(
        "teams_of_four_columns",
        table(
            ["team1_player1", "team1_player2", "team2_player1", "team2_player2", "won"],
            DOUBLES,
        ),
        "--left 'team1_player1,team1_player2' --right",
    ),
    File(
        "teams",
        table(["left", "right", "outcome"], PLUS),
        options={"members": "+"},
    ),
    File(
        "teams_in_columns",
        table(["a1", "a2", "b1", "b2", "outcome"], DOUBLES),
        options={"left": "a1,a2", "right": "b1,b2"},
    ),
    File(
        "team_with_a_member_twice",
        table(["left", "right", "outcome"], [*PLUS, ["Ada+Ada", "Bo+Cy", "left"]]),
        "a member twice, or without a name: line 452",
        {"members": "+"},
    ),
]
