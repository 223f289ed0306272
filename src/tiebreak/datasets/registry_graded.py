# SPDX-License-Identifier: BSD-3-Clause
"""Registered sets of people's orders and ratings, and of graded items."""

from __future__ import annotations

from tiebreak.datasets.catalog import (
    DataFile,
    DataSet,
    Delivery,
    Served,
    as_is,
    on_github,
)
from tiebreak.datasets.recipes import (
    arff_table,
    concrete_table,
    jester_matrix,
    zip_members,
)

_JESTER = (
    "surgoku/CMPE-256_project_joke_recommendation",
    "886bc1133909768f1d5aa63d3f0bf37277a028b5",
)
_LIGHTGBM = ("microsoft/LightGBM", "bae0b7ba9533")
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
    "cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615",
    "4d312fd824d8c8cb2c9c952a7b1fb7c00d1f5fd3ece370f7285aa701d371748b",
    "7f548d3762d3506cf7cd37d8cb9e3adb67984a7da7aa2d2096d5e0b1b884758d",
)

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
                        "https://eigentaste.berkeley.edu/dataset/"
                        f"jester_dataset_1_{number}.zip",
                        on_github(*_JESTER, f"data/jester_dataset_1_{number}.zip"),
                    ),
                    5_000_000,
                    sha256,
                )
                for number, sha256 in enumerate(_JESTER_ARCHIVES, start=1)
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
    deliveries=tuple(
        as_is(
            DataFile(f"lightgbm_rank/{name}", sha256, size),
            on_github(*_LIGHTGBM, f"examples/lambdarank/{name.removesuffix('.gz')}"),
            limit,
        )
        for name, size, limit, sha256 in _LIGHTGBM_FILES
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
        as_is(
            DataFile(
                "mq2008/fold1_test.txt.gz",
                "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2",
                340_180,
            ),
            on_github(
                "lezzago/LambdaMart",
                "4c5154a013b39117b566ed22294f02da742e9bc3",
                "example_data/test.txt",
            ),
            1_765_771,
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
    ("abalone.csv", 191_968,
     "712fb9710d6ffe7ae2019144d62bd968104c99d5f0091fb69c69ea24e17a5bac",
     "abalone", 202_091,
     "3f955702660d3a6c022baf88b69f314534a625ac3fdebb761878ddff5960a560"),
    ("auto_mpg.csv", 10_760,
     "e9c45a93a19ef9b80a262f4942da689c73ce371f3ed782ad9bc7b0f1ef353f40",
     "autompg", 13_783,
     "2fe73949cbb4f60a6932615ea1f3eb166cb8b98200e9dbe515250f20f2fd6713"),
    ("bank32nh.csv.gz", 989_828,
     "2db4ef8bd9d751c328c91fe6c94981eef4b421746f6e002bbde1ec0070e2959f",
     "bank32nh", 2_514_129,
     "981ee722b3d562d454ecaba52b0eb2fa5b145f43b8dd986dcc9beefe70f988e0"),
    ("bank8FM.csv.gz", 272_834,
     "4edba9b79f7b6418cd30618e0dfb82e421e98d3a176a007d2813f824ca6b940a",
     "bank8FM", 698_657,
     "1d5f11ba3e69f537180dc5973bafee8574927041779e3146d487888e3cd3f81e"),
    ("boston_housing.csv", 34_696,
     "33227403b6e40d439d68f1c09a65ef3f22945fef6d7eb3aaa71e3639b8c3781b",
     "housing", 37_701,
     "b5290bfb04d1eaeccc18b22812d391bcc8933428b58de63c6e3ed40162b7afaf"),
    ("diabetes.csv", 586,
     "c45316cf4d38424d288079624d6cfdbe574c9a975e4f22183d959e191a1cb441",
     "diabetes.numeric", 1_518,
     "3e6c1562a2a27fa2774b32ee92ed731e73015cd6406a7f734fb77eff02949b71"),
    ("machine_cpu.csv", 5_072,
     "5a47be82a2edd45e9f64f2051264e3082d495e316ec9dba2fb0f6e1be93035c3",
     "machine.cpu", 6_272,
     "6610a5cba63dcb03fba43b44ff8c9e84d56c09d7ec55474d3f735ba2c446f57f"),
    ("pyrimidines.csv", 12_744,
     "0307589ec0482294ec73472306697807635439efc81c265fc0f0d71948d0e211",
     "pyrim", 16_077,
     "7d233ca6b9663b73f9b48abf0ad0a50379582d8eca2707faeaa5e0eda5f77f84"),
    ("servo.csv", 2_763,
     "153c41e79a1abb30e8f08f30e86285115e87ff10adbf89c1519c585b38ae0f31",
     "servo", 5_636,
     "395fd44d027d78520fe655bf24c726b24d1f2cc9c0f8d369e398376c70bc07d5"),
    ("stock.csv", 56_354,
     "3333281922f274281d7aac16e1d063a7e20a0a115e9eaa2c5db3138e5fe77c86",
     "stock", 57_981,
     "0ca3bb5928d45a5427c6ee4da8da51912a0a6c1cbafebbffb06ce947b0664ebc"),
    ("triazines.csv", 68_751,
     "56164fea219ce52a420ff2f33fd107d841c2ab03d7e69530490a9f7321c08477",
     "triazines", 82_250,
     "57b0caaf3435c7fc8f27a3e298e89681bb6ecb654c0530521917952307423ca5"),
    ("wpbc.csv", 42_072,
     "6c3bf254f3c090c990435dca37076b9bcfceeee64d2480222a5e24a29bb7924d",
     "wisconsin", 49_636,
     "4daef6c06afa3038f5fe3caa8b6bc612b343a5492df51ddb7b6ef45843d8b7ac"),
)  # fmt: skip
# The repository has some files twice, the second one with this mark in its name.
_TWICE = " (2)"


def _uci_deliveries() -> tuple[Delivery, ...]:
    tables = tuple(
        Delivery(
            (DataFile(f"uci/{name}", sha256, size),),
            (
                Served(
                    tuple(
                        on_github(*_ARFF, f"regression/{arff}{mark}.arff")
                        for mark in (("", _TWICE) if arff == "servo" else ("",))
                    ),
                    arff_size,
                    arff_sha256,
                ),
            ),
            arff_table(_WPBC_COLUMNS if name == "wpbc.csv" else ()),
        )
        for name, size, sha256, arff, arff_size, arff_sha256 in _UCI_FILES
    )
    concrete = Delivery(
        (
            DataFile(
                "uci/concrete.csv",
                "55cb74d00d9d0e8327a8f43fdc22fa9522f10d2651eb16d5080c6e8cb074bf78",
                57_841,
            ),
        ),
        (
            Served(
                (on_github(*_CONCRETE, "Concrete_Data.xls"),),
                124_928,
                "0233dedd4c6f36b73ce7ffe2dd607eb5373ea74de1fe2a88c1b69fd69fabfad3",
            ),
        ),
        concrete_table,
    )
    return (*tables, concrete)


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
    deliveries=_uci_deliveries(),
)
