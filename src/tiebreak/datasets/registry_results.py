# SPDX-License-Identifier: BSD-3-Clause
"""Registered sets of results: matches, games and votes between two."""

from __future__ import annotations

from tiebreak.datasets.catalog import (
    DataFile,
    DataSet,
    Delivery,
    Served,
    as_is,
    on_github,
)
from tiebreak.datasets.recipes import konect_games, tennis_years

_FOOTBALL = ("martj42/international_results", "65d212aac5de")
_TENNIS = ("JeffSackmann/tennis_atp", "5b6263dc487b4fa4fa35326764bc9b0215042a42")

WORLDCUP = DataSet(
    name="worldcup2022",
    what="The 64 matches of the 2022 men's football World Cup.",
    rows=64,
    unit="matches",
    license="free, ships with tiebreak",
    terms="Results are facts of the public record; the table is part of this package.",
    publisher="",
    cite="Nothing is asked for.",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "worldcup2022.csv",
                    "3fbc07ad52c6db9cadf1c98fb9f0d7e9f73b4f1071eeb0d7bba27e695b91c2d8",
                    2667,
                ),
            ),
        ),
    ),
    bundled=True,
)

FOOTBALL = DataSet(
    name="football",
    what="Men's international football matches since 1872: results, dates, home side.",
    rows=49_520,
    unit="matches",
    license="CC0 1.0",
    terms="CC0 1.0, public domain.",
    publisher="https://github.com/martj42/international_results",
    cite="Mart Jürisoo, International football results from 1872.",
    deliveries=(
        as_is(
            DataFile(
                "football/results.csv.gz",
                "100afa17b2258ffcc0e9ef9612e374c5349e2b9390ec450b72147d4643c42070",
                637_851,
            ),
            on_github(*_FOOTBALL, "results.csv"),
            3_727_835,
        ),
        as_is(
            DataFile(
                "football/shootouts.csv",
                "2acdc95fdad14f5f17200150a1a4a5fa6c2ccf57d31c8b4f61a2c7d9c0493113",
                29_050,
            ),
            on_github(*_FOOTBALL, "shootouts.csv"),
        ),
        as_is(
            DataFile(
                "football/former_names.csv",
                "2d57f59a3ac13b24c2fcf208ced5a38710529d122da38929838d0980b002677e",
                1_691,
            ),
            on_github(*_FOOTBALL, "former_names.csv"),
        ),
    ),
)

TENNIS = DataSet(
    name="tennis_atp",
    what="Men's tour-level tennis singles, 1991 to 2024: winners, surfaces, ranks.",
    rows=108_375,
    unit="matches",
    license="CC BY-NC-SA 4.0",
    terms="CC BY-NC-SA 4.0: name the author, no commercial use, share alike.",
    publisher="https://github.com/JeffSackmann/tennis_atp",
    cite="Jeff Sackmann, Tennis Abstract.",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "tennis_atp/atp_matches_1991_2024.csv.gz",
                    "bdd39a03ae7287ad37d634603c186bc40ab45aa2a8c6e1f8af84ad453c4a99f7",
                    2_005_664,
                ),
            ),
            tuple(
                Served((on_github(*_TENNIS, f"atp_matches_{year}.csv"),), 2_000_000)
                for year in range(1991, 2025)
            ),
            tennis_years,
        ),
    ),
)

CHESS_2010 = DataSet(
    name="chess_kaggle2010",
    what="Chess games of top players over 100 months, of the Kaggle contest of 2010.",
    rows=65_053,
    unit="games",
    license="none stated",
    terms="The publisher states no open license; use it for research.",
    publisher="http://konect.cc/networks/chess/",
    cite="Jeff Sonas, Chess ratings: Elo versus the Rest of the World (Kaggle, 2010), "
    "as redistributed by KONECT.",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "chess_kaggle2010/games.csv.gz",
                    "077ac8cd50b69f674adfb970d93913141fa12298e52745248d4c9887c926c332",
                    289_885,
                ),
            ),
            (
                Served(
                    (
                        on_github(
                            "FilipePrates/CPS765-Complex_Networks_Exploratory_"
                            "Graph_Analysis",
                            "7d3cdaeaf696264f006ac65792df0b02a50e0ec0",
                            "network_db/download.tsv.chess/chess/out.chess",
                        ),
                    ),
                    1_512_882,
                    "3548a96b424286dc067d94fbae261f511d32eb436e50318e0f611be6f8450179",
                ),
            ),
            konect_games,
        ),
    ),
)

CHESS_2011 = DataSet(
    name="chess_fide2011",
    what="Chess games of three months of the FIDE contest of 2011, and first ratings.",
    rows=88_457,
    unit="games",
    license="none stated",
    terms="Data of a Kaggle contest; the publisher states no open license. Use it for "
    "research.",
    publisher="https://www.kaggle.com/c/ChessRatings2",
    cite="Jeff Sonas and FIDE, Deloitte / FIDE Chess Rating Challenge (Kaggle, 2011).",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "chess_fide2011/test_with_results.csv.gz",
                    "8ddd3431d598c4dab23a6a644c7248ef0b147c6327112cf9707afb0cfd4cb847",
                    813_295,
                ),
                DataFile(
                    "chess_fide2011/initial_ratings.csv",
                    "ebc5baa6a79474fe1d8ee5ed63ef314a191d771e253d8c2862133cb1875cb038",
                    237_013,
                ),
            ),
            by_hand="Kaggle gives the files only to people who log in and accept the "
            "rules of the contest. Get there the test set with its results, with the "
            "columns TEID, MonthID, WhitePlayer, BlackPlayer, WhiteScore and "
            "Leaderboard, and save it as test_with_results.csv.gz, and the ratings at "
            "the start as initial_ratings.csv.",
        ),
    ),
)

ARENA = DataSet(
    name="lm_arena_140k",
    what="Votes of people between the answers of two of 53 language models, 2025.",
    rows=135_634,
    unit="votes",
    license="CC BY 4.0 for the prompts",
    terms="The publisher's card says CC BY 4.0 for the prompts. Only votes and tags "
    "are used here, no text.",
    publisher="https://huggingface.co/datasets/lmarena-ai/arena-human-preference-140k",
    cite="LMArena, arena-human-preference-140k (2025).",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "lm_arena_140k/battles.csv.gz",
                    "89b567829482966e63c98ccb7470716ca1358d74a15107ae73b8975092dcab74",
                    843_654,
                ),
            ),
            by_hand="The publisher's files also hold the texts of all conversations, "
            "and nobody serves the votes alone. Get them from the publisher, and save "
            "a table with the columns model_a, model_b, winner and the ten tags as "
            "battles.csv.gz; the help of load_lm_arena says what they hold.",
        ),
    ),
)

LLMFAO = DataSet(
    name="llmfao",
    what="Judgments of 124 crowd workers on answers of 59 language models, 2023.",
    rows=8_931,
    unit="votes",
    license="open source; evalica's copy Apache 2.0",
    terms="The publisher says: under open-source licenses. The copy is part of "
    "evalica, which is under Apache 2.0.",
    publisher="https://dustalov.github.io/llmfao/",
    cite="Dmitry Ustalov, LLMFAO: Large Language Model Feedback Analysis and "
    "Optimization (2023).",
    deliveries=(
        as_is(
            DataFile(
                "llmfao/llmfao.csv",
                "106564a4bf06f047a4662979384313c22d9b4ca901e780f9e8419f8e5581adb1",
                498_018,
            ),
            on_github(
                "dustalov/evalica",
                "6ef8c100e4af998eac7b788b25b3482beddb440e",
                "llmfao.csv",
            ),
        ),
    ),
)
