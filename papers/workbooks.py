# SPDX-License-Identifier: BSD-3-Clause
"""Two published sets that come in workbooks: the ratings of Jester, and UCI's concrete.

``python -m papers.workbooks`` downloads them and writes tables to the cache, from which
the experiments read them. It needs ``pip install python-calamine``. The tables are
also found in the folder that ``$TIEBREAK_DATA`` names.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiebreak.datasets import cache_dir

JESTER, CONCRETE = "jester/jester1_ratings.npz", "uci/concrete.csv"
# The publisher's three archives; each holds jester-data-N.xls.
_JESTER_URL = "https://eigentaste.berkeley.edu/dataset/jester_dataset_1_{}.zip"
_JESTER_SHA256 = (
    "cb7841756ded125b15f3d95c9f8241224065e96354c132a46ae4214deeab7615",
    "4d312fd824d8c8cb2c9c952a7b1fb7c00d1f5fd3ece370f7285aa701d371748b",
    "7f548d3762d3506cf7cd37d8cb9e3adb67984a7da7aa2d2096d5e0b1b884758d",
)
_CONCRETE_URL = (
    "https://raw.githubusercontent.com/Daniel-RPS/Concrete-Repository-UCI/4a13f04cfa47/"
    "Concrete_Data.xls"
)
_CONCRETE_SHA256 = "0233dedd4c6f36b73ce7ffe2dd607eb5373ea74de1fe2a88c1b69fd69fabfad3"
_CONCRETE_COLUMNS = (
    "cement", "slag", "fly_ash", "water", "superplasticizer", "coarse_aggregate",
    "fine_aggregate", "age", "strength",
)  # fmt: skip
_NOT_RATED = -32768


def load_jester() -> NDArray[np.float64]:
    """Ratings (73421, 100) of jokes from -10 to 10, NaN where there is none.

    Jester data set 1, Ken Goldberg's group, UC Berkeley. Free for research when
    Goldberg, Roeder, Gupta and Perkins (2001), "Eigentaste", Information Retrieval
    4(2), is cited.
    """
    roots = [
        Path(root) for root in (os.environ.get("TIEBREAK_DATA"), cache_dir()) if root
    ]
    for path in (root / JESTER for root in roots):
        if path.is_file():
            with np.load(path) as arrays:
                hundredths = arrays["ratings"]
            return np.where(hundredths == _NOT_RATED, np.nan, hundredths / 100)
    raise FileNotFoundError(
        f"{JESTER!r} is neither in $TIEBREAK_DATA nor in {cache_dir()}. Run: python -m "
        "papers.workbooks"
    )


def read_workbook(path: str | Path) -> list[list[float]]:
    """Rows of the first sheet of a workbook (.xls)."""
    from python_calamine import CalamineWorkbook

    sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
    return sheet.to_python(skip_empty_area=False)


def jester_hundredths(rows: list[list[float]]) -> NDArray[np.int16]:
    """Ratings in hundredths from rows of one person: their number, then 99 for none."""
    numbers = np.array(rows, dtype=np.float64)[:, 1:]
    hundredths = np.rint(100 * numbers).astype(np.int16)
    return np.where(numbers == 99, np.int16(_NOT_RATED), hundredths)


def concrete_table(rows: list[list[float]]) -> str:
    """The workbook of concrete as CSV, in full precision; the age is a whole number."""
    lines = [
        ",".join(
            [*map(repr, map(float, row[:7])), f"{row[7]:.0f}", repr(float(row[8]))]
        )
        for row in rows[1:]
    ]
    return "\n".join([",".join(_CONCRETE_COLUMNS), *lines, ""])


def main() -> None:
    """Download both, and write them to the cache."""
    import pooch

    parts = []
    for number, sha256 in enumerate(_JESTER_SHA256, start=1):
        url = _JESTER_URL.format(number)
        (path,) = pooch.retrieve(url, sha256, processor=pooch.Unzip())
        parts.append(jester_hundredths(read_workbook(path)))
    target = cache_dir() / JESTER
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(target, ratings=np.concatenate(parts))
    print(target)
    rows = read_workbook(pooch.retrieve(_CONCRETE_URL, _CONCRETE_SHA256))
    target = cache_dir() / CONCRETE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(concrete_table(rows), encoding="utf-8", newline="\n")
    print(target)


if __name__ == "__main__":
    main()
