# SPDX-License-Identifier: BSD-3-Clause
"""Files with noise, and under other headers, than those of `made_shapes`.

The best names are not the first ones of the alphabet, nor of the file, so that an order
that nothing says is not the right one.
"""

import json
from itertools import combinations, permutations

from tests.io.made_scores import SEEDED
from tests.io.made_shapes import DOUBLES, NAMES, File, rankings, table, wins

BEST = ["Mo", "Cy", "Zed", "Ada", "Flo", "Bo"]
SHOWN = [BEST[i] for i in (2, 4, 0, 5, 1, 3)]  # the order of columns
CALLED = dict(zip(NAMES, BEST, strict=True))
LISTS = [[CALLED[name] for name in order] for order in rankings(30)]
RANKS = [[order.index(name) + 1 for name in SHOWN] for order in LISTS]
JUDGED = [[f"T{j}", *row] for j, row in enumerate(RANKS)]
HEADER = ["taster", *SHOWN]
MEAN = ["Mean", *(round(sum(column) / 30, 2) for column in zip(*RANKS, strict=True))]
DOWN = [
    [name, *(row[i] for row in RANKS), sum(row[i] for row in RANKS)]
    for i, name in enumerate(SHOWN)
]
LONG = [
    [who, name, rank]
    for who, *row in JUDGED
    for name, rank in zip(SHOWN, row, strict=True)
]
PLACED = [
    [f"r{race}", order[k], k + 1] for race, order in enumerate(LISTS) for k in range(6)
]
SEASONS = [[2020 + k // 60, k // 6 % 10, *r[1:]] for k, r in enumerate(PLACED)]
BALLOTS = [order[:3] for order in LISTS] * 4
BELOW = {"unlisted": "lower"}
CHAINS = [[f"v{i}", " > ".join(order)] for i, order in enumerate(LISTS)]
WON, _ = wins()
SCORE = {BEST[i]: 0.9 - 0.1 * i for i in range(6)}
TASKS = [
    [
        f"d{t}",
        *(round(SCORE[name] + 0.01 * (t * i % 7), 4) for i, name in enumerate(SHOWN)),
    ]
    for t in range(24)
]
ERRORS = [[row[0], *(round(1 - value, 4) for value in row[1:])] for row in TASKS]
BY_ITEM = [[n, *c] for n, c in zip(SHOWN, [*zip(*TASKS, strict=True)][1:], strict=True)]
LOSSES = [[n, *c] for n, c in zip(SHOWN, [*zip(*ERRORS, strict=True)][1:], strict=True)]
CELLS = [[row[0], n, v] for row in TASKS for n, v in zip(SHOWN, row[1:], strict=True)]
SETS = [sorted(four, key=BEST.index) for four in combinations(BEST, 4)] * 4
SETS += [[o[1], o[0], *o[2:]] for o in SETS[:12]] + [
    [*o[:2], o[3], o[2]] for o in SETS[:12]
]
EVENTS = list(enumerate(SETS))


def counted(turned=False):
    """Give winner, loser and how often, the worst first: without counts all tie."""
    rows = [[BEST[i], BEST[j], WON[i, j]] for i, j in permutations(range(6), 2)]
    rows.sort(key=lambda row: -min(map(BEST.index, row[:2])))
    return [[b, a, "right", n] if turned else [a, b, n] for a, b, n in rows]


def square(corner, diagonal="-", rows=WON):
    index = [BEST.index(name) for name in SHOWN]
    return table(
        [corner, *SHOWN],
        [
            [BEST[i], *(diagonal if i == j else rows[i, j] for j in index)]
            for i in index
        ],
    )


def totals(header):
    rows = [
        [BEST[i], BEST[j], WON[i, j], 2, WON[j, i]] if (i + j) % 2 else
        [BEST[j], BEST[i], WON[j, i], 2, WON[i, j]]
        for i, j in combinations(range(6), 2)
    ]  # fmt: skip
    return table(header, rows)


def best_first(name, text, expected=True, names=BEST, **more):
    return File(name, text, expected, names=names, **more)


FILES = [
    # Ranks, with what people write beside them.
    best_first("ranks_and_their_mean", table(HEADER, [*JUDGED, MEAN])),
    best_first(
        "ranks_and_average_of_rows",
        table([*HEADER, "average"], [[*r, 3.5] for r in JUDGED]),
    ),
    best_first(
        "ranks_and_a_level",
        table([*HEADER, "level"], [[*r, j % 7] for j, r in enumerate(JUDGED)]),
    ),
    best_first(
        "ranks_of_numbered_judges",
        table(HEADER, [[j + 1, *row] for j, row in enumerate(RANKS[:6])]),
    ),
    best_first(
        "ranks_and_totals_in_rows",
        table(["wine", *(f"j{j}" for j in range(30)), "total"], DOWN),
    ),
    best_first(
        "ranks_with_blanks_for_the_worst",
        table(HEADER, [[w, *("" if x > 4 else x for x in r)] for w, *r in JUDGED]),
        "30 lists of 30 leave items out",
        wrong=("--unlisted unknown",),
    ),
    best_first(
        "ranks_with_crlf_and_mark",
        "\ufeff" + table(map('"{}"'.format, HEADER), JUDGED, ";").replace("\n", "\r\n"),
    ),
    best_first(
        "ranks_called_scores",
        table(["judge", "wine", "score"], LONG),
        "score is 1, 2, 3",
        wrong=("--person judge --grade score --item wine --higher-is-better",),
    ),
    best_first(
        "ranks_called_ratings",
        table(["rating", "user", "item", "note"], [[r, w, n, "x"] for w, n, r in LONG]),
        "rating is 1, 2, 3",
        wrong=("--person user --grade rating --item item --higher-is-better",),
    ),
    best_first(
        "ranks_out_of_order",
        table(
            ["product", "rank", "participant"], [[n, r, w] for w, n, r in LONG[::-1]]
        ),
    ),
    # Races.
    best_first(
        "results_of_races",
        table(["Season", "Round", "Name", "Result"], SEASONS, ";"),
        "Result is 1, 2, 3",
        wrong=("--grade Result --query 'Season,Round' --higher-is-better",),
    ),
    best_first(
        "places_with_dots",
        table(["Race", "Driver", "Pos."], [[*r[:2], f"{r[2]}."] for r in PLACED]),
    ),
    best_first(
        "golf_with_cuts",
        table(
            ["tournament", "player", "position"],
            [[*r[:2], "CUT" if r[2] > 4 else f"T{r[2]}"] for r in PLACED],
        ),
    ),
    best_first(
        "songs_of_countries",
        table(
            ["Contest", "Song", "Country", "Place"],
            [[r[0], f"song {k}", *r[1:]] for k, r in enumerate(PLACED)],
        ),
    ),
    best_first(
        "clock_times",
        table(
            ["race", "bib", "name", "time"],
            [
                [
                    r[0],
                    BEST.index(r[1]),
                    r[1],
                    f"{1 + r[2] // 4}:{10 * (r[2] % 4):02}:11",
                ]
                for r in PLACED
            ],
        ),
    ),
    best_first(
        "swimming",
        table(
            ["event", "swimmer", "Time (s)"],
            [[*r[:2], 49.5 + r[2] / 4] for r in PLACED],
        ),
    ),
    best_first(
        "points_of_races",
        table(
            ["race", "driver", "points"],
            [[*r[:2], max(0, 10 - 2 * r[2])] for r in PLACED],
        ),
    ),
    # Ballots and lists.
    best_first(
        "ballots_top",
        table(["Top 1", "Top 2", "Top 3"], BALLOTS),
        names=BEST[:5],
        options=BELOW,
    ),
    best_first(
        "ballots_with_no_vote",
        table(
            ["1st Choice", "2nd Choice", "3rd Choice"],
            [[*b[:2], b[2] if i % 3 else "undervote"] for i, b in enumerate(BALLOTS)],
        ),
        options=BELOW,
        names=BEST[:5],
    ),
    best_first("list_in_a_cell", table(["voter", "ranking"], CHAINS)),
    best_first("list_in_a_cell_of_any_name", table(["who", "said"], CHAINS)),
    best_first(
        "list_in_a_cell_counted",
        table(["ranking", "count"], [[c[1].replace(" > ", "|"), 2] for c in CHAINS]),
    ),
    best_first(
        "list_in_a_cell_with_a_name_twice",
        table(["voter", "ranking"], [*CHAINS, ["v30", "Mo > Mo > Cy"]]),
        "no lists: line 32",
    ),
    best_first(
        "lines_with_signs", "".join(c[1].replace(">", "≻") + "\n" for c in CHAINS)
    ),
    # Counts under names that are unusual, or mean many things.
    *(
        best_first(f"counts_called_{head}", table(["winner", "loser", head], counted()))
        for head in ("n", "Frequency", "n_times", "num_votes")
    ),
    *(
        best_first(
            f"counts_called_{head}",
            table(["winner", "loser", head], counted()),
            "no result occurs twice",
            wrong=("--weight none",),
        )
        for head in ("times", "wins", "anzahl")
    ),
    best_first(
        "counts_of_outcomes",
        table(["left", "right", "outcome", "n"], counted(turned=True)),
    ),
    best_first("win_matrix_of_losers", square("loser", rows=WON.T)),
    best_first("win_matrix_with_nan", square("player", "NaN")),
    best_first(
        "win_matrix_and_row_of_totals",
        square("team") + ",".join(["Total", *map(str, range(6))]) + "\n",
    ),
    best_first(
        "totals_win_tie_loss", totals(["model_a", "model_b", "win", "tie", "loss"])
    ),
    best_first("totals_of_letters", totals(["team_a", "team_b", "W", "D", "L"])),
    best_first(
        "totals_of_players",
        totals(["player1", "player2", "p1_wins", "draws", "p2_wins"]),
    ),
    best_first(
        "totals_of_votes",
        totals(["option_a", "option_b", "votes_a", "votes_tie", "votes_b"]),
    ),
    # Score tables.
    best_first(
        "scores_and_sizes",
        table(["Dataset", "#instances", *SHOWN], [[r[0], 99, *r[1:]] for r in TASKS]),
    ),
    best_first(
        "scores_with_spread",
        table(
            ["Dataset", *SHOWN],
            [[r[0], *(f"{v} ± 0.01" for v in r[1:])] for r in TASKS],
        ),
    ),
    best_first(
        "scores_with_ranks",
        table(
            ["Dataset", *SHOWN],
            [[r[0], *(f"{v} ({k})" for k, v in enumerate(r[1:]))] for r in TASKS],
        ),
    ),
    best_first(
        "scores_of_a_harness",
        table(
            ["model", "task", "metric", "value", "stderr"],
            [[n, t, "acc", v, 0.1] for t, n, v in CELLS],
        ),
    ),
    best_first(
        "errors_of_a_metric",
        table(
            ["dataset", "method", "metric_error", "metric"],
            [[t, n, 1 - v, "roc_auc"] for t, n, v in CELLS],
        ),
    ),
    best_first(
        "what_was_resolved",
        table(
            ["instance_id", "model", "resolved"],
            [[t, n, v > 0.3 + int(t[1:]) / 40] for t, n, v in CELLS],
        ),
    ),
    best_first(
        "arrows_down", table(["Method", *(f"LPIPS {k} ↓" for k in range(24))], LOSSES)
    ),
    best_first(
        "arrows_both_ways",
        table(
            ["Method", *(f"S{k} ↑" if k % 2 else f"D{k} ↓" for k in range(24))],
            [
                [a[0], *((a if k % 2 else b)[k + 1] for k in range(24))]
                for a, b in zip(BY_ITEM, LOSSES, strict=True)
            ],
        ),
    ),
    best_first(
        "leaderboard_of_models",
        table(
            ["Rank", "Model", "Model Size (M)", "Average", *(r[0] for r in TASKS)],
            [[6 - k, r[0], 100 * k, k, *r[1:]] for k, r in enumerate(BY_ITEM)],
        ),
    ),
    File(
        "seeds_and_spread",
        table(
            ["benchmark", "system", "seed", "accuracy", "std"],
            [[*r, 0.1] for r in SEEDED],
        ),
    ),
    best_first(
        "panel_of_small_errors",
        table(HEADER, [[f"T{r[0]}", *r[1:]] for r in ERRORS]),
        options={"lower_is_better": True},
    ),
    # The best and the worst.
    best_first(
        "best_worst_in_words",
        table(
            ["set", "item", "choice"],
            [
                [i, n, {0: "best", 3: "worst"}.get(o.index(n), "")]
                for i, o in EVENTS
                for n in sorted(o)
            ],
        ),
    ),
    best_first(
        "best_worst_true_false",
        table(
            ["set", "item", "best", "worst"],
            [[i, n, n == o[0], n == o[3]] for i, o in EVENTS for n in sorted(o)],
        ),
    ),
    best_first(
        "best_worst_minus_in_its_column",
        table(
            ["set", "item", "best", "worst"],
            [
                [i, n, int(n == o[0]), -int(n == o[3])]
                for i, o in EVENTS
                for n in sorted(o)
            ],
        ),
    ),
    File(
        "best_worst_by_position_of_numbers",
        table(
            ["set", *(f"item{k}" for k in range(4)), "best", "worst"],
            [
                [
                    i,
                    *(BEST.index(n) for n in sorted(o)),
                    sorted(o).index(o[0]),
                    sorted(o).index(o[3]),
                ]
                for i, o in EVENTS
            ],
        ),
        "a set without one item that is best",
    ),
    # What once was read upside down, in part, or refused for another reason.
    best_first("win_matrix_of_who_was_beaten", square("beaten by", rows=WON.T)),
    best_first(
        "win_matrix_with_numbers_in_front",
        "".join(
            f"{k or '#'},{line}\n" for k, line in enumerate(square("who").splitlines())
        ),
    ),
    best_first(
        "winners_of_whom_some_tied",
        table(
            ["winner", "loser", "tie"],
            [
                [*(pair[::-1] if is_tie else pair), is_tie]
                for is_tie in (0, 1)
                for pair in combinations(BEST, 2)
                for _ in range(2 + is_tie)
            ],
        ),
    ),
    best_first(
        "totals_named_by_their_sides",
        totals(["model_1", "model_2", "model_1_wins", "ties", "model_2_wins"]),
    ),
    best_first(
        "items_by_few_judges",
        table(["wine", *(f"judge {j}" for j in range(9))], [r[:10] for r in DOWN]),
    ),
    best_first(
        "errors_under_their_metric",
        table(["dataset", *(f"{n} RMSE" for n in SHOWN)], ERRORS),
        names=[f"{name} RMSE" for name in BEST],
    ),
    best_first(
        "strokes",
        table(
            ["tournament", "player", "round_total"],
            [[r[0][1:], r[1], 66 + r[2]] for r in PLACED],
        ),
        "may place each player in a list for each tournament",
        wrong=("--grade round_total --query tournament --higher-is-better",),
    ),
    best_first(
        "best_worst_of_attributes",
        table(
            ["resp", "question", "attribute", "response"],
            [
                [i // 9, i % 9, n, (n == o[0]) * 1 - (n == o[3])]
                for i, o in EVENTS
                for n in sorted(o)
            ],
        ),
    ),
    best_first(
        "scores_beside_row_numbers",
        table(["", *SHOWN], [[k, *row[1:]] for k, row in enumerate(TASKS)]),
        "3 ways",
        wrong=("--item 'column 1' --grade", "--item 'column 1' --kind scores"),
    ),
    best_first(
        "lists_of_json",
        '{"id": 1, "ranking": ["Mo", "Cy"]}\n{"id": 2, "ranking": ["Mo", "Cy"]}\n',
        "beside lists or bytes in ranking",
    ),
    best_first(
        "preflib_below",
        "# FILE NAME: votes.soi\n"
        + "".join(f"# ALTERNATIVE NAME {k}: {n}\n" for k, n in enumerate(SHOWN))
        + "".join(
            f"1: {','.join(str(SHOWN.index(n)) for n in o)}\n"
            for o in BALLOTS + [["Flo", "Mo", "Cy"]] * 3 + [["Bo", "Mo", "Cy"]]
        ),
        options=BELOW,
    ),
    best_first(
        "places_in_german",
        table(["Rennen", "Fahrer", "Platz"], PLACED),
        "Platz is 1, 2, 3, … in each Rennen",
        options={"grade": "Platz", "query": "Rennen", "item": "Fahrer"},
        wrong=("--grade Platz --item Fahrer --query Rennen --higher-is-better",),
    ),
    File(
        "points_that_are_one_to_six",
        table(
            ["judge", *(f"points {n}" for n in SHOWN)],
            [[who, *(7 - rank for rank in row)] for who, *row in JUDGED],
        ),
        names=[f"points {n}" for n in BEST],
    ),
    best_first(
        "ranks_of_a_form",
        table(
            ["Timestamp", *(f"Please rank these wines [{n}]" for n in SHOWN)], JUDGED
        ),
    ),
    best_first(
        "teams_in_columns_beside_a_winner",
        table(
            ["a1", "a2", "b1", "b2", "winner"],
            [[*(CALLED[n] for n in row[:4]), row[4]] for row in DOUBLES],
        ),
        options={"left": "a1,a2", "right": "b1,b2"},
    ),
    best_first(
        "wins_1_and_2",
        table(
            ["player1", "player2", "win1", "win2"],
            [
                [BEST[i], BEST[j], WON[i, j], WON[j, i]]
                for i, j in combinations(range(6), 2)
            ],
        ),
    ),
    best_first(
        "matrix_of_numbers_beside_names",
        table(
            ["Nr", "Name", *range(1, 7), "Pts"],
            [[i + 1, BEST[i], *WON[i], WON[i].sum()] for i in range(6)],
        ),
    ),
    best_first(
        "matrix_of_percentages",
        table(
            ["", *BEST],
            [[BEST[i], *(f"{w}%" for w in WON[i])] for i in range(6)],
        ),
        "these are shares",
    ),
    best_first(
        "scores_with_a_blank_before_percent",
        table(
            ["dataset", *SHOWN], [[t, *(f"{100 * v} %" for v in r)] for t, *r in TASKS]
        ),
    ),
    best_first(
        "errors_in_ms",
        table(["dataset", *SHOWN], [[t, *(f"{v}ms" for v in r)] for t, *r in ERRORS]),
        options={"lower_is_better": True},
    ),
    best_first(
        "errors_in_ms_and_s",
        table(
            ["dataset", *SHOWN],
            [*([t, *(f"{v}ms" for v in r)] for t, *r in ERRORS), ["d", *["9 s"] * 6]],
        ),
        "cannot be understood",
    ),
    best_first(
        "times_in_s",
        table(
            ["race", "runner", "time"], [[r, n, f"{60 + k} s"] for r, n, k in PLACED]
        ),
    ),
    best_first(
        "total_below_votes",
        table(
            ["model_a", "model_b", "winner"],
            [*([a, b, a] for a, b, n in counted() for _ in range(n)), ["", "", 900]],
        ),
        "unknown outcomes",
    ),
    best_first(
        "scores_of_numbered_judges",
        table(
            ["wine", *(f"Judge {k}" for k in range(24))],
            BY_ITEM,
        ),
        "3 ways",
        wrong=("--person wine", "--item wine --grade 'Judge 23'"),
    ),
    best_first(
        "scores_of_models_in_json",
        json.dumps({r[0]: dict(zip("abcdefgh", r[1:9], strict=True)) for r in BY_ITEM}),
        "3 ways",
        wrong=("--person 'column 1'", "--item 'column 1' --grade"),
    ),
    best_first(
        "the_loser_of_two",
        table(
            ["player1", "player2", "loser"],
            [(*sorted([a, b]), b) for a, b, n in counted() for _ in range(n)],
        ),
        options={"outcome": "loser"},
    ),
    best_first(
        "matrix_of_rows_beaten",
        table(
            ["row beaten by column", *BEST],
            [[BEST[i], *WON[:, i]] for i in range(6)],
        ),
    ),
    best_first(
        "models_by_ranks_on_tasks",
        table(
            ["model", "rank arc", "rank mmlu", "rank boolq"],
            [[n, *(1 + BEST.index(n) for _ in range(3))] for n in SHOWN],
        ),
    ),
    best_first(
        "cross_entropy",
        table(["task", "model", "cross_entropy"], [[t, n, 1 - v] for t, n, v in CELLS]),
    ),
    best_first(
        "rank_and_score",
        table(
            ["judge", "wine", "rank", "score"],
            [[*row, 100 - 3 * row[2]] for row in LONG],
        ),
        "--grade rank --item wine --query judge",
    ),
]
