# SPDX-License-Identifier: BSD-3-Clause
"""A folder of small files as people have them: what is said, found, and ranked.

Files that are packed, in another encoding or in binary formats are made from those in
the folder. In most of them the same thirteen results are told, so that their
leaderboards are of the same order: the first of four names is best.
"""

import io
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from tiebreak.cli.errors import _code_of
from tiebreak.data import Grades
from tiebreak.io import FileError, ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.rank import rank_names
from tiebreak.pipeline.read import read_source

FOLDER = Path(__file__).parent / "shapes"
MODELS = ["atlas-70b", "birch-2.5", "comet-8x7b", "delta-mini"]
TEAS = ["Darjeeling", "Assam", "Ceylon", "Matcha"]
CHESS = ["Ostrova, Mila", "Brandt, Karl", "Nakata, Hiro", "Gill, Anna"]
CLUBS = ["Rovers", "United", "Athletic", "Wanderers"]
PEOPLE = ["Sanna", "Alvaro", "Mirek", "Rufus"]
RESULTS = "13 comparisons of 4 items: left is better in 7, right in 4, neither in 2."


class Shape(NamedTuple):
    """A file, what it is read with, and what is expected of it."""

    name: str  # of a file, or of several with + between them
    order: list[str] | None  # of the leaderboard; None if items have no names
    said: tuple[str, ...]  # sentences that are said, among others
    columns: str = ""  # what is known of each comparison besides
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    made: str = ""  # how the file is rewritten before it is read


def compared(left, right, how="outcome says who won"):
    return f"{left} and {right} are compared; {how}."


SHAPES = [
    Shape(
        "arena_clean_battle.json",
        MODELS,
        (
            "JSON with 13 rows.",
            compared("model_a", "model_b", "winner says who won"),
            "tstamp is when, from 2024-06-10T06:13:20.250000 to "
            "2024-06-10T18:13:20.250000, in seconds since 1970.",
            "1 row with both items called bad counted as ties.",
            "--both-bad drop leaves out the votes that call both bad.",
            RESULTS,
        ),
        "rater period",
    ),
    Shape(
        "arena_clean_battle.json",
        MODELS,
        (
            "conv_metadata.sum_assistant_a_tokens is how much a row counts.",
            "1 row with both items called bad left out: row 7.",
        ),
        "sample_weight",
        {
            "weight": "conv_metadata.sum_assistant_a_tokens",
            "both_bad": "drop",
            "rater": "none",
            "period": "none",
        },
    ),
    Shape(
        "votes.jsonl",
        MODELS,
        (
            "JSON Lines with 13 rows.",
            compared("model_a", "model_b", "winner says who won"),
            "created.day is when, from 2024-06-01 to 2024-06-13.",
        ),
        "rater period",
        {"period": "created.day"},
    ),
    Shape(
        "kaggle_one_hot.csv",
        MODELS,
        (
            compared(
                "model_a",
                "model_b",
                "the one of winner_model_a, winner_model_b, winner_tie that is 1 says "
                "who won",
            ),
            RESULTS,
        ),
    ),
    Shape(
        "one_hot_pandas.json",
        MODELS,
        ("1 row with both items called bad counted as ties.", RESULTS),
    ),
    Shape(
        "kaggle_one_hot.csv",
        MODELS[::-1],
        (
            compared(
                "model_a",
                "model_b",
                "the one of winner_model_b, winner_model_a, "
                "winner_tie that is 1 says who won",
            ),
        ),
        "",
        {"outcome": "winner_model_b,winner_model_a,winner_tie"},
    ),
    Shape(
        "mt_bench_judgments.jsonl",
        MODELS,
        (
            "Left out, because of lists or bytes in them: 'judge'.",
            compared("model_1", "model_2", "winner says who won"),
            "tstamp is when, from 2023-06-20T00:59:58.100000 to "
            "2023-06-20T01:00:10.100000, in seconds since 1970.",
            RESULTS,
        ),
        "period",
    ),
    Shape(
        "arena_hard.csv",
        MODELS,
        (
            compared("model_a", "model_b", "verdict says who won"),
            RESULTS,
        ),
        "rater",
    ),
    Shape(
        "likert_1_to_7.csv",
        TEAS,
        (
            compared(
                "option_a",
                "option_b",
                "preference is a scale from 1, where option_a is better, to 7, where "
                "option_b is, and 4 is a tie",
            ),
            RESULTS,
        ),
        "rater",
        {"likert": "1..7"},
    ),
    Shape(
        "likert_1_to_6.csv",
        TEAS,
        (
            compared(
                "left",
                "right",
                "vote is a scale from 1, where left is better, to 6, where right is, "
                "and no value is a tie",
            ),
            "13 comparisons of 4 items: left is better in 9, right in 4, neither in 0.",
        ),
        "",
        {"likert": "1..6"},
    ),
    Shape(
        "likert_high_is_left.tsv",
        TEAS,
        (
            "TSV with 13 rows.",
            compared(
                "item_1",
                "item_2",
                "choice is a scale from 5, where item_1 is better, to 1, where item_2 "
                "is, and 3 is a tie",
            ),
            RESULTS,
        ),
        "",
        {"likert": "5..1"},
    ),
    Shape(
        "preference_minus3_to_3.jsonl",
        MODELS,
        (RESULTS,),
        "",
        {"likert": "-3..3"},
    ),
    Shape(
        "chess_pgn_results.csv",
        CHESS,
        (
            compared("White", "Black", "Result says who won"),
            "Date is when, from 2024-01-01 to 2024-04-13.",
            "The side in White moves first, which is counted as an advantage.",
            RESULTS,
        ),
        "period advantage",
    ),
    Shape(
        "chess_scores.csv",
        CHESS,
        (
            compared("white_player", "black_player", "white_score says who won"),
            "month is when, from 1 to 7.",
            RESULTS,
        ),
        "period advantage",
        {"meaning": "score"},
    ),
    Shape(
        "chess_white_wins.csv",
        CHESS,
        (compared("white_name", "black_name", "result says who won"), RESULTS),
        "advantage",
    ),
    Shape(
        "chess_white_wins.csv",
        CHESS,
        (compared("black_name", "white_name", "result says who won"),),
        "",
        {"left": "black_name", "right": "white_name"},
    ),
    Shape(
        "football_goals.csv",
        CLUBS,
        (
            compared(
                "home_team",
                "away_team",
                "the higher of home_score and away_score wins, equal ones are a tie",
            ),
            "date is when, from 2022-11-20 to 2022-11-29.",
            "The side in home_team plays at home, which is counted as an advantage, "
            "except in 7 rows where neutral is true.",
            RESULTS,
        ),
        "period advantage",
    ),
    Shape(
        "football_semicolons.csv",
        ["Grün-Weiß München", "1. SC Köln-Süd", "Bremer SV", "FC Augsburg Nord"],
        (
            compared("Home Team", "Away Team", "Result says who won"),
            "Datum is when, from 2023-08-01 to 2023-08-13.",
            "Weight is how much a row counts.",
            RESULTS,
        ),
        "period sample_weight advantage",
        {"period": "Datum"},
    ),
    Shape(
        "football_fthg.csv",
        CLUBS,
        (
            compared(
                "HomeTeam",
                "AwayTeam",
                "the higher of FTHG and FTAG wins, equal ones are a tie",
            ),
            "Date is when, from 2021-08-14 to 2021-08-26.",
            RESULTS,
        ),
        "period advantage",
    ),
    Shape(
        "football_fthg.csv",
        CLUBS,
        (
            compared(
                "HomeTeam",
                "AwayTeam",
                "FTR says who won: 'h' is left, 'd' is tie, 'a' is right",
            ),
            RESULTS,
        ),
        "period advantage",
        {"outcome": "FTR", "outcome_words": "left=H,tie=D,right=A"},
    ),
    Shape(
        "season_2022.csv + season_2023.csv",
        CLUBS,
        ("2 CSV files with 13 rows in all.", RESULTS),
        "advantage",
    ),
    Shape(
        "tennis_winner_loser.csv",
        PEOPLE,
        (
            "In every row winner_name is better than loser_name.",
            "tourney_date is when, from 2024-01-15 to 2024-07-15.",
            "The winner always comes first, so the two sides were exchanged at random "
            "in 5 rows (always the same ones).",
        ),
        "period",
    ),
    Shape(
        "chosen_rejected.jsonl",
        TEAS,
        ("In every row chosen is better than rejected.",),
    ),
    Shape(
        "both_good_and_skip.tsv",
        TEAS,
        (
            "TSV with 15 rows.",
            "2 rows in which nobody voted left out: line 15, line 16.",
            "1 row with both items called bad counted as ties.",
            RESULTS,
        ),
        "rater",
    ),
    Shape(
        "mixed_words.csv",
        TEAS,
        ("9 comparisons of 4 items: left is better in 5, right in 3, neither in 1.",),
    ),
    Shape(
        "quoted_names.csv",
        ["Smith, John", 'O\'Neil, "Red"', "Lee, Ann", "de la Cruz, J."],
        (compared("Player 1", "Player 2", "Winner says who won"), RESULTS),
    ),
    Shape(
        "unicode_names.csv",
        ["富士山", "Žižkov", "Zoë", "Ångström"],
        (compared("item_a", "item_b", "winner says who won"), RESULTS),
    ),
    Shape(
        "windows_1252.csv",
        ["Gewürztraminer", "Rosé", "Bjørk", "Señor"],
        (
            "CSV (cp1252) with 13 rows.",
            compared("Left", "Right", "Outcome says who won"),
        ),
        "",
        {"encoding": "cp1252"},
        "cp1252",
    ),
    Shape(
        "windows_1252.csv",
        ["Gewürztraminer", "Rosé", "Bjørk", "Señor"],
        ("CSV (UTF-16) with 13 rows.", RESULTS),
        made="utf-16",
    ),
    Shape("excel_mark_and_crlf.csv", TEAS, ("CSV with 13 rows.", RESULTS)),
    Shape(
        "epoch_seconds.csv",
        PEOPLE,
        (
            "timestamp is when, from 2020-09-13T12:26:40 to 2020-09-25T12:26:40, in "
            "seconds since 1970.",
            RESULTS,
        ),
        "period",
    ),
    Shape(
        "epoch_milliseconds.json",
        TEAS,
        (
            "JSON with 13 rows.",
            "time is when, from 2020-09-13T12:26:40.123000 to "
            "2020-09-25T12:26:40.123000, in milliseconds since 1970.",
        ),
        "period",
    ),
    Shape(
        "panel_one_score_per_row.csv",
        TEAS,
        (
            "score is the score that panelist gave to product.",
            "24 comparisons of 4 items by 4 people, 2 of them ties.",
        ),
        "rater",
    ),
    Shape(
        "panel_one_row_each.csv",
        TEAS,
        (
            "Every row is one judge, and the other 4 columns are the products that "
            "were scored.",
            "21 comparisons of 4 items by 4 people, 2 of them ties.",
        ),
        "rater",
    ),
    Shape(
        "graded.svmlight",
        None,
        (
            "svmlight file; only rows of the same qid are compared.",
            "12 graded rows in 4 groups, with 3 features; grades from 0 to 2.",
        ),
        "qid",
    ),
    Shape(
        "graded_with_features.csv",
        None,
        (
            "relevance is the grade of every row, higher is better, doc names the "
            "item; only rows of the same query are compared.",
            "kind holds words (news, web) and became 2 columns of 0 and 1.",
        ),
        "qid",
    ),
    Shape(
        "ranked_ballots.soc",
        ["Maple", "Birch", "Larch", "Alder"],
        (
            "3 different lists of 4 items, best first, of 9 voters; a list weighs as "
            "many voters as it has.",
        ),
        "sample_weight",
    ),
    Shape(
        "order_lines.txt",
        ["2", "0", "1", "3"],
        ("File of orders: item numbers, best first, one list per line.",),
    ),
    Shape(
        "declared_words.csv",
        PEOPLE,
        (
            compared(
                "player_1",
                "player_2",
                "winner says who won: '1' is left, '2' is right, '0' is tie",
            ),
            RESULTS,
        ),
        "",
        {"outcome_words": "left=1,right=2,tie=0"},
    ),
    Shape(
        "other_words.csv",
        TEAS,
        (
            compared(
                "brand_x",
                "brand_y",
                "outcome says who won: 'gagné' is left, 'perdu' is right, 'nul' is tie",
            ),
            RESULTS,
        ),
        "",
        {
            "left": "brand_x",
            "right": "brand_y",
            "outcome_words": "left=Gagné,right=Perdu,tie=Nul",
        },
    ),
    Shape(
        "sign.csv",
        TEAS,
        (compared("left_name", "right_name"), RESULTS),
        "",
        {"meaning": "sign"},
    ),
    Shape(
        "counts_of_votes.csv",
        TEAS,
        (
            compared("option_a", "option_b", "preferred says who won"),
            "n_votes is how much a row counts.",
        ),
        "sample_weight",
    ),
    Shape("data_frame_index.csv", MODELS, (RESULTS,)),
    Shape(
        "exchanged_columns.csv",
        MODELS,
        (compared("model_b", "model_a", "winner says who won"), RESULTS),
        "",
        {"left": "model_b", "right": "model_a"},
    ),
    Shape(
        "rows_without_outcome.csv",
        TEAS,
        (
            "3 rows skipped, because they cannot be read. no outcome in outcome: line "
            "15; no name in right: line 16; unknown outcomes: line 17.",
            RESULTS,
        ),
        "",
        {"skip_bad_rows": True},
    ),
    Shape(
        "case_and_blanks.csv",
        ["Atlas-4o", "Birch 3", "Comet3", "comet 3"],
        (
            "Names that differ only in case or blanks are taken for different items: "
            "'Comet3' and 'comet 3'.",
        ),
    ),
    Shape(
        "tastings.csv",
        ["Gamay", "Malbec", "Merlot", "Syrah"],
        ("wines.csv has 5 items, named by wine, with 2 features: alcohol, oak.",),
        "",
        {"items": FOLDER / "wines.csv"},
    ),
    *(
        Shape(
            "football_goals.csv",
            CLUBS,
            (f"{kind} with 13 rows.", RESULTS),
            "period advantage",
            made=kind,
        )
        for kind in ("Parquet", "Arrow")
    ),
]


def parquet(content):
    buffer = io.BytesIO()
    pl.read_csv(content, try_parse_dates=True).write_parquet(buffer)
    return buffer.getvalue()


def arrow(content):
    buffer = io.BytesIO()
    pl.read_csv(content).write_ipc(buffer)
    return buffer.getvalue()


MAKERS = {
    "cp1252": lambda content: content.decode().encode("cp1252"),
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "Parquet": parquet,
    "Arrow": arrow,
}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.name} {s.made}".strip())
def test_a_file_is_read_and_ranked(shape, tmp_path):
    source: Any = [FOLDER / name for name in shape.name.split(" + ")]
    if shape.made:
        made = tmp_path / shape.name
        made.write_bytes(MAKERS[shape.made](source[0].read_bytes()))
        source = [made]
    source = source[0] if len(source) == 1 else source
    read = read_source(source, ReadOptions(**shape.options), RankOptions())
    for sentence in shape.said:
        assert sentence in read.detected
    _, columns = read.data.arguments()
    assert sorted(columns) == sorted(shape.columns.split())
    if shape.order is None:
        assert isinstance(read.data, Grades)
        return
    board = rank_names(read, RankOptions())
    assert board.table["item"].to_list() == shape.order


REFUSED: dict[str, str] = tomllib.loads(
    FOLDER.joinpath("refused.toml").read_text("utf-8")
)
OPTIONS = {"off_the_scale.csv": {"likert": "1..7"}}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_in_one_line(name):
    path = FOLDER / "refused" / name
    with pytest.raises(FileError) as caught:
        read_source(path, ReadOptions(**OPTIONS.get(name, {})), RankOptions())
    assert str(caught.value) == f"{path}: {REFUSED[name]}"
    assert _code_of(caught.value) == 3


def test_every_file_of_the_folder_is_used():
    used = {part for shape in SHAPES for part in shape.name.split(" + ")} | {
        "wines.csv",
        "refused.toml",
    }
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == used
    assert {path.name for path in (FOLDER / "refused").iterdir()} == set(REFUSED)
    assert len(used) >= 30
