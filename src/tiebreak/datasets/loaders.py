# SPDX-License-Identifier: BSD-3-Clause
"""The bundled sets and the published ones, as comparisons, ranked lists or grades."""

import gzip
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.utils import Bunch

from tiebreak.data import Comparisons, Grades, Lists, Orders, Pairs
from tiebreak.datasets.published import REGISTRY, fetch, find_set
from tiebreak.io import ReadOptions, read_file


def load_worldcup2022() -> Bunch:
    """Load the 64 matches of the 2022 men's football World Cup.

    The result counts after extra time; the five matches decided by a penalty shoot-out
    are draws.

    Returns
    -------
    Bunch
        ``pairs`` of the 32 teams in alphabetical order; ``y``; ``table``: a polars
        DataFrame with date, stage, sides and goals; ``description``.

    Examples
    --------
    >>> from tiebreak.datasets import load_worldcup2022
    >>> cup = load_worldcup2022()
    >>> cup.table.select("stage", "left", "right", "left_goals", "right_goals").row(-1)
    ('Final', 'Argentina', 'France', 3, 3)
    >>> int(cup.y[-1])
    0
    """
    table = _read_table("worldcup2022.csv", True, schema_overrides={"date": pl.Date})
    teams = sorted({*table["left"], *table["right"]})
    return Bunch(
        pairs=Pairs(None, table["left"], table["right"], names=teams),
        y=np.sign(
            (table["right_goals"] - table["left_goals"]).to_numpy().astype(np.int8)
        ),
        table=table,
        description=REGISTRY["worldcup2022"].description,
    )


def load_chess(*, download: bool = True) -> Bunch:
    """Load the chess games of Kaggle's contest of 2010: 100 months of top players.

    Parameters
    ----------
    download : bool, default=True
        Whether to download what is missing.

    Returns
    -------
    Bunch
        ``pairs`` in order of month, left is white; ``y``; ``month`` from 1;
        ``description``.
    """
    (path,) = fetch("chess_kaggle2010/out.chess", download=download)
    # White, black, the result of white (1, 0 or -1), and a time for each month.
    games = np.loadtxt(path, comments="%").astype(np.int64)
    white, black, result, time = games[np.argsort(games[:, 3], kind="stable")].T
    return Bunch(
        pairs=Pairs(None, white, black),
        y=-result.astype(np.int8),
        month=np.unique(time, return_inverse=True)[1] + 1,
        description=REGISTRY["chess_kaggle2010"].description,
    )


_TAGS = (
    "creative_writing", "complexity", "creativity", "domain_knowledge",
    "problem_solving", "real_world", "specificity", "technical_accuracy",
    "instruction_following", "math",
)  # fmt: skip
# Matches that are still to be played have no goals.
_MATCHES = ReadOptions(
    skip_bad_rows=True, words=("tournament",), numbers=("home_score", "away_score")
)
# The sets and files that `load_published` reads, and how.
_PUBLISHED = {
    "football": _MATCHES,
    "football1872": _MATCHES,
    "lm_arena_140k": ReadOptions(numbers=_TAGS),
    "llmfao": ReadOptions(words=("prompt", "id")),
    "mq2008": ReadOptions(format="svmlight"),
    "lightgbm_rank/rank.train": ReadOptions(format="svmlight"),
    "lightgbm_rank/rank.test": ReadOptions(format="svmlight"),
}
PUBLISHED = tuple(_PUBLISHED)
"""Names of what `load_published` reads."""


def load_published(name: str, *, download: bool = True) -> Bunch:
    """Load published comparisons or graded rows.

    Parameters
    ----------
    name : str
        One of `PUBLISHED`: ``"football"`` and ``"llmfao"``, which the package holds;
        ``"football1872"``, ``"lm_arena_140k"``, ``"mq2008"``,
        ``"lightgbm_rank/rank.train"`` or ``.test``.
    download : bool, default=True
        As in `load_chess`.

    Returns
    -------
    Bunch
        Of comparisons ``pairs``, ``y`` (0 is a tie or both bad), ``both_bad``, and the
        columns of the file that are there: ``period``, ``advantage`` (1 if left played
        at home), ``rater``, ``tournament``, ``home_score``, ``away_score``, ``prompt``,
        ``id`` (of the two answers), and ten tags of prompts such as ``math``, 0 or 1.
        Comparisons of an item with itself are left out. Of graded rows ``X``, ``y`` and
        ``qid``. ``description`` names the publisher.
    """
    if name not in _PUBLISHED:
        expected = ", ".join(PUBLISHED)
        raise ValueError(f"There is no set {name!r}. Expected one of {expected}.")
    (path,) = fetch(name, download=download)
    if "lightgbm" in name:  # the sizes of its queries are beside the rows
        fetch(f"{name}.query", download=download)
    data = read_file(path, _PUBLISHED[name]).data
    description = find_set(name)[0].description
    if isinstance(data, Comparisons):
        columns = {**data.columns, **data.others, "both_bad": data.marks["both_bad"]}
        return Bunch(pairs=data.pairs, y=data.y, **columns, description=description)
    assert isinstance(data, Grades)
    assert data.qid is not None
    X = np.asarray(data.items.values, dtype=np.float64)
    return Bunch(X=X, y=data.y, qid=data.qid.astype(np.int64), description=description)


N_PEOPLE, N_RATED = 5000, 10
_KIND_FEATURES = (
    "style", "major_group", "minor_group", "oiliness", "eaten", "price", "sold",
)  # fmt: skip
_PERSON_FEATURES = (
    "gender", "age", "time", "latitude_childhood", "longitude_childhood",
    "latitude_now", "longitude_now",
)  # fmt: skip
# Item set A, in the order of its own numbers, which are not those of item set B.
_SET_A = (
    "ebi", "anago", "maguro", "ika", "uni", "ikura", "tamago", "toro", "tekka_maki",
    "kappa_maki",
)  # fmt: skip


def load_sushi_pairs(
    random_state: int | np.random.Generator | None = None, *, download: bool = True
) -> Bunch:
    """Load the sushi comparisons of Venuto et al., 17,832 ties and 7,168 non-ties.

    The protocol of "Support vector comparison machines": each person's ten scores are
    sorted in ascending order (a stable sort) and paired off 1-2, 3-4, ..., 9-10; the
    sides of each pair are then swapped with probability 1/2.

    Features are raw: standardize them before using a kernel or a penalty.

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the swaps.
    download : bool, default=True
        As in `load_chess`.

    Returns
    -------
    Bunch
        ``pairs`` over 50,000 items with 14 features, seven of the sushi and seven of
        the person; item ``10 * person + k`` is the person's k-th rated sushi by number;
        ``y``; ``person`` who compared; ``sushi`` (n, 2): numbers from 0 to 99 of both
        sides; ``description``.
    """
    scores = _read_table(
        "sushi/sushi3b.5000.10.score", download, has_header=False, separator=" "
    ).to_numpy()
    _, kinds = _read_kinds(download)
    people = _read_table(
        "sushi/sushi3.udata", download, has_header=False, separator="\t"
    )
    table = people.to_numpy()
    # Of the prefectural capitals, public record, in the order of the set's own numbers,
    # which are not the JIS X 0401 codes.
    places = pl.read_csv(Path(__file__).with_name("_prefectures.csv"))
    coordinates = places.select("latitude", "longitude").to_numpy()
    # Column 4 is the prefecture lived in until the age of 15, column 7 today's.
    persons = np.hstack(
        [table[:, 1:4], coordinates[table[:, 4]], coordinates[table[:, 7]]]
    )

    rated = np.nonzero(scores >= 0)[1].reshape(N_PEOPLE, N_RATED)
    own_scores = np.take_along_axis(scores, rated, axis=1)
    ranks = np.argsort(own_scores, axis=1, kind="stable")
    rows = (N_RATED * np.arange(N_PEOPLE)[:, None] + ranks).reshape(-1, 2)
    y = np.sign(np.diff(own_scores.ravel()[rows], axis=1)).ravel().astype(np.int8)
    rng = np.random.default_rng(random_state)
    swapped = rng.integers(0, 2, len(rows), dtype=np.int8).astype(bool)
    rows[swapped] = rows[swapped, ::-1]
    y[swapped] *= -1
    items = np.hstack([kinds[rated.ravel()], np.repeat(persons, N_RATED, axis=0)])
    names = [*_KIND_FEATURES, *_PERSON_FEATURES]
    return Bunch(
        pairs=Pairs(pl.DataFrame(items, schema=names), rows[:, 0], rows[:, 1]),
        y=y,
        person=np.repeat(np.arange(N_PEOPLE), N_RATED // 2),
        sushi=rated.ravel()[rows],
        description=REGISTRY["sushi"].description,
    )


def load_sushi_orders(
    which: Literal["a", "b"] = "b", *, download: bool = True
) -> Bunch:
    """Load 5000 people's orders of ten kinds of sushi.

    Features are raw: scale the numbers, and write the minor group as indicators,
    before using a kernel or a penalty.

    Parameters
    ----------
    which : {"a", "b"}, default="b"
        Item set A, the same ten kinds for everyone, or B, ten of 100 kinds.
    download : bool, default=True
        As in `load_chess`.

    Returns
    -------
    Bunch
        ``orders`` of ten kinds, best first, one of each person, over 10 or 100 named
        items with seven features; ``description``.
    """
    (path,) = fetch(f"sushi/sushi3{which}.5000.10.order", download=download)
    read = read_file(path, ReadOptions(format="orders")).data
    assert isinstance(read, Lists)  # the only kind that this format has
    names, kinds = _read_kinds(download)
    chosen = list(_SET_A) if which == "a" else names
    rows = [names.index(name) for name in chosen]
    items = pl.DataFrame(kinds[rows], schema=list(_KIND_FEATURES))
    lists = read.orders.flat.reshape(N_PEOPLE, N_RATED)
    return Bunch(
        orders=Orders(items, lists, names=chosen),
        description=REGISTRY["sushi"].description,
    )


def _read_kinds(download: bool) -> tuple[list[str], NDArray[np.float64]]:
    """Names and features of the 100 kinds of sushi."""
    table = _read_table(
        "sushi/sushi3.idata", download, has_header=False, separator="\t"
    )
    return table.to_series(1).to_list(), table[:, 2:].to_numpy().astype(np.float64)


# Name of each table: its file, and its nominal inputs.
_UCI = {
    "abalone": ("arff/abalone.arff", ("Sex",)),
    "auto_mpg": ("arff/autompg.arff", ("cylinders", "model", "origin")),
    "bank32nh": ("arff/bank32nh.arff", ()),
    "bank8FM": ("arff/bank8FM.arff", ()),
    "boston_housing": ("arff/housing.arff", ("CHAS",)),
    "concrete": ("concrete.csv", ()),
    "diabetes": ("arff/diabetes.numeric.arff", ()),
    "machine_cpu": ("arff/machine.cpu.arff", ()),
    "pyrimidines": ("arff/pyrim.arff", ()),
    "servo": ("arff/servo.arff", ("motor", "screw", "pgain", "vgain")),
    "stock": ("arff/stock.arff", ()),
    "triazines": ("arff/triazines.arff", ()),
    "wpbc": ("arff/wisconsin.arff", ()),
}
UCI_TABLES = tuple(_UCI)
"""Names of the tables that `load_uci` reads."""
# The ARFF file names its columns as mean, se and worst of each cell feature in turn,
# but holds ten means, then ten standard errors, then ten worst values.
_CELLS = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
    "concave_points", "symmetry", "fractal_dimension",
)  # fmt: skip
_WPBC = (
    "lymph_node_status",
    *(f"{cell}_{what}" for what in ("mean", "se", "worst") for cell in _CELLS),
    *("tumor_size", "time"),
)


def load_uci(name: str, *, one_hot: bool = True, download: bool = True) -> Bunch:
    """Load one of thirteen regression tables, used as benchmarks of ranking.

    Parameters
    ----------
    name : str
        One of `UCI_TABLES`, such as ``"abalone"``.
    one_hot : bool, default=True
        Whether nominal inputs (`Sex` of abalone, `cylinders`, `model` and `origin` of
        auto_mpg, `CHAS` of boston_housing, all of servo) become one column of 0 and 1
        for each value. Else letters become numbers from 0 in alphabetical order.
    download : bool, default=True
        As in `load_chess`.

    Returns
    -------
    Bunch
        Inputs ``X``, not scaled, and the target ``y``; ``feature_names``, such as
        ``"Sex=F"``; ``target_name``; ``description``.
    """
    if name not in _UCI:
        raise ValueError(
            f"There is no table {name!r}. Expected one of {', '.join(_UCI)}."
        )
    file, nominal = _UCI[name]
    (path,) = fetch(f"uci/{file}", download=download)
    header, rows = _read_rows(path)
    *inputs, target = _WPBC if name == "wpbc" else header
    table = dict(zip(inputs, np.array(rows).T, strict=False))
    columns: dict[str, NDArray[Any]] = {}
    for column, words in table.items():
        has_letters = column in ("Sex", "motor", "screw")
        values = words if has_letters else words.astype(np.float64)
        levels, codes = np.unique(values, return_inverse=True)
        if one_hot and column in nominal:
            for code, level in enumerate(levels):
                shown = level if has_letters else f"{level:g}"
                columns[f"{column}={shown}"] = codes == code
        else:
            columns[column] = codes if has_letters else values
    return Bunch(
        X=np.column_stack(list(columns.values())).astype(np.float64),
        y=np.array([float(row[-1]) for row in rows]),
        feature_names=tuple(columns),
        target_name=target,
        description=REGISTRY["uci"].description,
    )


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows without unknown values (``?``) of an ARFF or CSV file."""
    unpack = gzip.open if path.suffix == ".gz" else open
    with unpack(path, "rt", encoding="latin-1") as file:
        head, is_arff, body = file.read().replace("\r", "").partition("@data\n")
    if is_arff:
        names = re.findall(r"(?im)^@attribute\s+('[^']*'|\S+)", head)
        header = [name.strip("'") for name in names]
    else:
        first, _, body = head.partition("\n")
        header = first.split(",")
    rows = [
        [value.strip() for value in line.strip().rstrip(",").split(",")]
        for line in body.split("\n")
        if line.strip() and not line.startswith("%")
    ]
    return header, [row for row in rows if "?" not in row]


def _read_table(name: str, download: bool, **options: Any) -> pl.DataFrame:
    (path,) = fetch(name, download=download)
    return pl.read_csv(path, **options)
