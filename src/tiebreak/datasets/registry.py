# SPDX-License-Identifier: BSD-3-Clause
"""The published sets that this package knows: terms, sources, and SHA-256.

A set is made of deliveries. A delivery is what arrives together: something is served
at one or more addresses, and files are made from it. What cannot be downloaded is a
delivery that says what to do by hand.

Addresses on GitHub name a commit, so that what they serve does not change. Whatever an
address serves, only files with the SHA-256 written here are kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

from tiebreak.datasets.recipes import (
    Recipe,
    arff_table,
    as_served,
    concrete_table,
    jester_matrix,
    konect_games,
    tennis_years,
    zip_members,
)


@dataclass(frozen=True)
class Served:
    """One thing that can be downloaded.

    Attributes
    ----------
    urls : tuple of str
        Addresses of the same thing, which are tried in turn.
    limit : int
        Number of bytes after which a download is refused.
    sha256 : str
        Of what is served. Empty where it is not known: then only the files that are
        made from it are checked.
    """

    urls: tuple[str, ...]
    limit: int
    sha256: str = ""


@dataclass(frozen=True)
class DataFile:
    """One file of a set.

    Attributes
    ----------
    name : str
        Path below the data folder, with forward slashes.
    sha256 : str
        Of the content: of the file itself, or, for a name that ends in ``.gz`` or
        ``.npz``, of what is packed in it, because programs pack differently.
    size : int
        Bytes on disk, about.
    """

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Delivery:
    """Files that arrive together.

    Attributes
    ----------
    files : tuple of DataFile
        What is delivered.
    served : tuple of Served
        What is downloaded for it; empty if that is not possible.
    make : callable
        Makes the contents of the files, in their order, from the bytes served. Raises
        a ValueError if they are not what was expected.
    by_hand : str
        What to do where nothing can be downloaded, in full sentences.
    """

    files: tuple[DataFile, ...]
    served: tuple[Served, ...] = ()
    make: Recipe = as_served
    by_hand: str = ""


@dataclass(frozen=True)
class DataSet:
    """One published set.

    Attributes
    ----------
    name : str
        Name of the set, and of its folder below the data folder.
    what : str
        What it is, in one line.
    rows : int
        How much there is of it.
    unit : str
        What `rows` counts.
    license : str
        The terms in a few words.
    terms : str
        The terms in a sentence or two.
    publisher : str
        Page of who made it public.
    cite : str
        What to name when results are published.
    deliveries : tuple of Delivery
        How its files arrive.
    bundled : bool
        Whether it ships with this package.
    """

    name: str
    what: str
    rows: int
    unit: str
    license: str
    terms: str
    publisher: str
    cite: str
    deliveries: tuple[Delivery, ...]
    bundled: bool = False

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files of the set."""
        return tuple(file for delivery in self.deliveries for file in delivery.files)

    @property
    def size(self) -> int:
        """Bytes on disk, about."""
        return sum(file.size for file in self.files)

    @property
    def by_hand(self) -> str:
        """What cannot be downloaded, and what to do about it; empty if all can."""
        return " ".join(each.by_hand for each in self.deliveries if each.by_hand)


def on_github(repository: str, commit: str, path: str) -> str:
    """Address of a file of a public repository as it was at a commit.

    >>> on_github("owner/name", "0123abcd", "a folder/file.csv")
    'https://raw.githubusercontent.com/owner/name/0123abcd/a%20folder/file.csv'
    """
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(path)}"


def _delivery(
    name: str,
    size: int,
    sha256: str,
    *urls: str,
    limit: int = 0,
    source: str = "",
    make: Recipe = as_served,
    by_hand: str = "",
) -> Delivery:
    """Delivery of one file.

    `limit` and `source`: size and SHA-256 of what is served, if not those of the file.
    """
    served = Served(urls, limit or size, source or sha256)
    file = DataFile(name, sha256, size)
    return Delivery((file,), (served,) if urls else (), make, by_hand)


def _copies(
    folder: str,
    files: tuple[tuple[str, int, int, str], ...],
    repository: str,
    commit: str,
    path: str = "",
) -> tuple[Delivery, ...]:
    """Deliveries of files that a repository has unpacked and under the same names.

    `files`: name, bytes on disk, bytes served, SHA-256.
    """
    return tuple(
        _delivery(
            f"{folder}/{name}",
            size,
            sha256,
            on_github(repository, commit, path + name.removesuffix(".gz")),
            limit=limit,
        )
        for name, size, limit, sha256 in files
    )


_FOOTBALL_FILES = (
    ("results.csv.gz", 637_851, 3_727_835,
     "100afa17b2258ffcc0e9ef9612e374c5349e2b9390ec450b72147d4643c42070"),
    ("shootouts.csv", 29_050, 29_050,
     "2acdc95fdad14f5f17200150a1a4a5fa6c2ccf57d31c8b4f61a2c7d9c0493113"),
    ("former_names.csv", 1_691, 1_691,
     "2d57f59a3ac13b24c2fcf208ced5a38710529d122da38929838d0980b002677e"),
)  # fmt: skip
_LLMFAO_FILES = (
    ("llmfao.csv", 498_018, 498_018,
     "106564a4bf06f047a4662979384313c22d9b4ca901e780f9e8419f8e5581adb1"),
)  # fmt: skip
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
        _delivery(
            "worldcup2022.csv",
            2_667,
            "3fbc07ad52c6db9cadf1c98fb9f0d7e9f73b4f1071eeb0d7bba27e695b91c2d8",
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
    deliveries=_copies(
        "football", _FOOTBALL_FILES, "martj42/international_results", "65d212aac5de"
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
        _delivery(
            "chess_kaggle2010/games.csv.gz",
            289_885,
            "077ac8cd50b69f674adfb970d93913141fa12298e52745248d4c9887c926c332",
            on_github(
                "FilipePrates/CPS765-Complex_Networks_Exploratory_Graph_Analysis",
                "7d3cdaeaf696264f006ac65792df0b02a50e0ec0",
                "network_db/download.tsv.chess/chess/out.chess",
            ),
            limit=1_512_882,
            source="3548a96b424286dc067d94fbae261f511d32eb436e50318e0f611be6f8450179",
            make=konect_games,
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
        _delivery(
            "lm_arena_140k/battles.csv.gz",
            843_654,
            "89b567829482966e63c98ccb7470716ca1358d74a15107ae73b8975092dcab74",
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
    deliveries=_copies(
        "llmfao",
        _LLMFAO_FILES,
        "dustalov/evalica",
        "6ef8c100e4af998eac7b788b25b3482beddb440e",
    ),
)

_JESTER = (
    "surgoku/CMPE-256_project_joke_recommendation",
    "886bc1133909768f1d5aa63d3f0bf37277a028b5",
)
_ARFF = ("renatopp/arff-datasets", "c59f172882592bb58982cc54d2d3c8a2b57e9b73")
_CONCRETE = ("Daniel-RPS/Concrete-Repository-UCI", "4a13f04cfa47")

_SUSHI_FILES = (
    ("README-en.txt", 11_874,
     "deb639156f15fd4ba5659c62bdac752f99e232db3b93b4d3c9f04d86c3a11d56"),
    ("README-ja.txt", 9_829,
     "a5fc1c010e633bc346be1cfb22f57b02442074ad0c02ef81be2cc1359bc9a0e2"),
    ("README-stat-ja.txt", 5_967,
     "5e6a58a53c34485e0d26e77c70bdd927f58aca0892b2d4c059b7b61836a82561"),
    ("sushi3.idata", 6_515,
     "568d73580f82a9ffba7ee1a3750506a0517c9ce904eec41559fe4ab573911fde"),
    ("sushi3.udata", 143_826,
     "592d345613b6fbc1d7d126775eb5fb5628619e855c292166250f09651716eca2"),
    ("sushi3a.5000.10.order", 125_005,
     "c56da325c0f58f9a38bafc650ed699b48dd2fb9f6ad64ba61ffc288d1ae4cc24"),
    ("sushi3b.5000.10.order", 160_905,
     "a241c87331e4eabea5841aae0c8a982453cccd01b0a0f3b6a4e9cfabcdab563b"),
    ("sushi3b.5000.10.score", 1_450_000,
     "4a600bbbdea7f75dc218e14776fa41228f9bd553842997ffe79c1227f3ec119d"),
)  # fmt: skip

SUSHI = DataSet(
    name="sushi",
    what="Orders and scores of sushi by 5000 people, with features of both.",
    rows=5_000,
    unit="people",
    license="research only, not to be passed on",
    terms="Free for any research purpose. You must not pass the files on without the "
    "publisher's permission.",
    publisher="https://www.kamishima.net/sushi/",
    cite="Toshihiro Kamishima, Nantonac Collaborative Filtering: Recommendation Based "
    "on Order Responses, KDD 2003.",
    deliveries=(
        Delivery(
            tuple(
                DataFile(f"sushi/{name}", sha256, size)
                for name, size, sha256 in _SUSHI_FILES
            ),
            (Served(("https://www.kamishima.net/asset/sushi3-2016.zip",), 4_000_000),),
            zip_members(
                [f"sushi3-2016/{name}" for name, *_ in _SUSHI_FILES], 2_000_000
            ),
        ),
    ),
)

_JESTER_ARCHIVES = (
    ("jester_dataset_1_1.zip",
     "cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615"),
    ("jester_dataset_1_2.zip",
     "4d312fd824d8c8cb2c9c952a7b1fb7c00d1f5fd3ece370f7285aa701d371748b"),
    ("jester_dataset_1_3.zip",
     "7f548d3762d3506cf7cd37d8cb9e3adb67984a7da7aa2d2096d5e0b1b884758d"),
)  # fmt: skip

JESTER = DataSet(
    name="jester",
    what="4.1 million ratings of 100 jokes, 1999 to 2003 (Jester data set 1).",
    rows=73_421,
    unit="people",
    license="research, with citation",
    terms="Free for research use when Goldberg et al. (2001) is cited.",
    publisher="https://eigentaste.berkeley.edu/dataset/",
    cite="Ken Goldberg, Theresa Roeder, Dhruv Gupta and Chris Perkins, Eigentaste: A "
    "Constant Time Collaborative Filtering Algorithm, Information Retrieval 4(2), "
    "2001.",
    deliveries=(
        Delivery(
            (
                DataFile(
                    "jester/jester1_ratings.npz",
                    "63d4b809b08f58e9c01afeea4fca3430e0d48c362e2d1792fea5756093ba2a78",
                    7_207_532,
                ),
            ),
            tuple(
                Served(
                    (
                        f"https://eigentaste.berkeley.edu/dataset/{archive}",
                        on_github(*_JESTER, f"data/{archive}"),
                    ),
                    5_000_000,
                    sha256,
                )
                for archive, sha256 in _JESTER_ARCHIVES
            ),
            jester_matrix,
        ),
    ),
)

_LIGHTGBM_FILES = (
    ("rank.train.gz", 500_831, 2_479_271,
     "a0c7201c89120879c14a5059e091f441cbf2a29b8aaef363885ccb1a530448df"),
    ("rank.train.query", 580, 580,
     "40cb5fef637229311cd30fab13cb7fb633b023e86a87ff04ec55db420143d6af"),
    ("rank.test.gz", 132_303, 649_930,
     "3b1219ce117a0a36d2f76c02de7e7831c1d79af0d40f5195c03178bbe26c824b"),
    ("rank.test.query", 146, 146,
     "36dca82ba3bf99201bac3987b00a8fbf6fe5f563e9fa6d0da90e783710a32df4"),
)  # fmt: skip

LIGHTGBM = DataSet(
    name="lightgbm_rank",
    what="LightGBM's example of learning to rank: 251 queries, 300 features.",
    rows=3_773,
    unit="graded rows",
    license="MIT",
    terms="Part of LightGBM, which is under the MIT license. Where the data come from "
    "is not documented there.",
    publisher="https://github.com/microsoft/LightGBM",
    cite="LightGBM, examples/lambdarank.",
    deliveries=_copies(
        "lightgbm_rank",
        _LIGHTGBM_FILES,
        "microsoft/LightGBM",
        "bae0b7ba9533",
        "examples/lambdarank/",
    ),
)

MQ2008 = DataSet(
    name="mq2008",
    what="Learning to rank: the test part of fold 1 of MQ2008, 156 queries.",
    rows=2_874,
    unit="graded rows",
    license="none stated",
    terms="LETOR 4.0 of Microsoft Research; no license comes with the copy. Use it for "
    "research.",
    publisher="https://www.microsoft.com/en-us/research/project/"
    "letor-learning-rank-information-retrieval/",
    cite="Tao Qin and Tie-Yan Liu, Introducing LETOR 4.0 Datasets (2013).",
    deliveries=(
        _delivery(
            "mq2008/fold1_test.txt.gz",
            340_180,
            "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2",
            on_github(
                "lezzago/LambdaMart",
                "4c5154a013b39117b566ed22294f02da742e9bc3",
                "example_data/test.txt",
            ),
            limit=1_765_771,
        ),
    ),
)

# Cell nuclei are described by ten properties, of each the mean, the standard error and
# the worst value. The ARFF file names the three of a property together, but lists all
# means, then all standard errors, then all worst values.
_NUCLEUS = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
    "concave_points", "symmetry", "fractal_dimension",
)  # fmt: skip
_WPBC_COLUMNS = (
    "lymph_node_status",
    *(f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in _NUCLEUS),
    "tumor_size",
    "time",
)

_UCI_FILES = (
    ("abalone.csv", 191_968, "abalone", 202_091,
     "712fb9710d6ffe7ae2019144d62bd968104c99d5f0091fb69c69ea24e17a5bac",
     "3f955702660d3a6c022baf88b69f314534a625ac3fdebb761878ddff5960a560"),
    ("auto_mpg.csv", 10_760, "autompg", 13_783,
     "e9c45a93a19ef9b80a262f4942da689c73ce371f3ed782ad9bc7b0f1ef353f40",
     "2fe73949cbb4f60a6932615ea1f3eb166cb8b98200e9dbe515250f20f2fd6713"),
    ("bank32nh.csv.gz", 989_828, "bank32nh", 2_514_129,
     "2db4ef8bd9d751c328c91fe6c94981eef4b421746f6e002bbde1ec0070e2959f",
     "981ee722b3d562d454ecaba52b0eb2fa5b145f43b8dd986dcc9beefe70f988e0"),
    ("bank8FM.csv.gz", 272_834, "bank8FM", 698_657,
     "4edba9b79f7b6418cd30618e0dfb82e421e98d3a176a007d2813f824ca6b940a",
     "1d5f11ba3e69f537180dc5973bafee8574927041779e3146d487888e3cd3f81e"),
    ("boston_housing.csv", 34_696, "housing", 37_701,
     "33227403b6e40d439d68f1c09a65ef3f22945fef6d7eb3aaa71e3639b8c3781b",
     "b5290bfb04d1eaeccc18b22812d391bcc8933428b58de63c6e3ed40162b7afaf"),
    ("diabetes.csv", 586, "diabetes.numeric", 1_518,
     "c45316cf4d38424d288079624d6cfdbe574c9a975e4f22183d959e191a1cb441",
     "3e6c1562a2a27fa2774b32ee92ed731e73015cd6406a7f734fb77eff02949b71"),
    ("machine_cpu.csv", 5_072, "machine.cpu", 6_272,
     "5a47be82a2edd45e9f64f2051264e3082d495e316ec9dba2fb0f6e1be93035c3",
     "6610a5cba63dcb03fba43b44ff8c9e84d56c09d7ec55474d3f735ba2c446f57f"),
    ("pyrimidines.csv", 12_744, "pyrim", 16_077,
     "0307589ec0482294ec73472306697807635439efc81c265fc0f0d71948d0e211",
     "7d233ca6b9663b73f9b48abf0ad0a50379582d8eca2707faeaa5e0eda5f77f84"),
    ("servo.csv", 2_763, "servo", 5_636,
     "153c41e79a1abb30e8f08f30e86285115e87ff10adbf89c1519c585b38ae0f31",
     "395fd44d027d78520fe655bf24c726b24d1f2cc9c0f8d369e398376c70bc07d5"),
    ("stock.csv", 56_354, "stock", 57_981,
     "3333281922f274281d7aac16e1d063a7e20a0a115e9eaa2c5db3138e5fe77c86",
     "0ca3bb5928d45a5427c6ee4da8da51912a0a6c1cbafebbffb06ce947b0664ebc"),
    ("triazines.csv", 68_751, "triazines", 82_250,
     "56164fea219ce52a420ff2f33fd107d841c2ab03d7e69530490a9f7321c08477",
     "57b0caaf3435c7fc8f27a3e298e89681bb6ecb654c0530521917952307423ca5"),
    ("wpbc.csv", 42_072, "wisconsin", 49_636,
     "6c3bf254f3c090c990435dca37076b9bcfceeee64d2480222a5e24a29bb7924d",
     "4daef6c06afa3038f5fe3caa8b6bc612b343a5492df51ddb7b6ef45843d8b7ac"),
)  # fmt: skip

UCI = DataSet(
    name="uci",
    what="Thirteen regression tables, used as benchmarks of ordinal regression.",
    rows=24_312,
    unit="rows in 13 tables",
    license="none stated in the copies",
    terms="No license comes with the copies. Look at the publishers' pages before you "
    "pass them on.",
    publisher="https://archive.ics.uci.edu/",
    cite="UCI Machine Learning Repository; the tables of DELVE (bank), StatLib (stock, "
    "boston_housing) and Luis Torgo's collection as these.",
    deliveries=(
        *(
            _delivery(
                f"uci/{name}",
                size,
                sha256,
                # The repository has some files twice, the second marked in its name.
                *(
                    on_github(*_ARFF, f"regression/{arff}{mark}.arff")
                    for mark in (("", " (2)") if arff == "servo" else ("",))
                ),
                limit=arff_size,
                source=arff_sha256,
                make=arff_table(_WPBC_COLUMNS if name == "wpbc.csv" else ()),
            )
            for name, size, arff, arff_size, sha256, arff_sha256 in _UCI_FILES
        ),
        _delivery(
            "uci/concrete.csv",
            57_841,
            "55cb74d00d9d0e8327a8f43fdc22fa9522f10d2651eb16d5080c6e8cb074bf78",
            on_github(*_CONCRETE, "Concrete_Data.xls"),
            limit=124_928,
            source="0233dedd4c6f36b73ce7ffe2dd607eb5373ea74de1fe2a88c1b69fd69fabfad3",
            make=concrete_table,
        ),
    ),
)

_ALL = (
    WORLDCUP, FOOTBALL, TENNIS, CHESS_2010, CHESS_2011, ARENA, LLMFAO, SUSHI, JESTER,
    UCI, LIGHTGBM, MQ2008,
)  # fmt: skip

REGISTRY: Mapping[str, DataSet] = MappingProxyType({each.name: each for each in _ALL})
"""All sets by their names."""


def find_set(name: str) -> tuple[DataSet, tuple[DataFile, ...]]:
    """Give a set by its name with all of its files, or by a file's name with that one.

    Any other name is a ValueError that mentions similar ones.
    """
    if name in REGISTRY:
        return REGISTRY[name], REGISTRY[name].files
    for dataset in REGISTRY.values():
        for file in dataset.files:
            if file.name == name:
                return dataset, (file,)
    first = REGISTRY.get(name.partition("/")[0])
    if first is not None:
        known = [file.name for file in first.files]
        raise ValueError(
            f"The set {first.name!r} has no file {name!r}; its files are "
            f"{', '.join(known)}."
        )
    similar = difflib.get_close_matches(name, REGISTRY, 1, 0.5)
    meant = f" Did you mean {similar[0]!r}?" if similar else ""
    raise ValueError(
        f"There is no data set {name!r}.{meant} The sets are {', '.join(REGISTRY)}."
    )
