# SPDX-License-Identifier: BSD-3-Clause
"""Text that a spreadsheet would run as a formula, made harmless and restored.

A text cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets
an apostrophe in front, also one that begins with apostrophes and then one of these.
Reading takes one apostrophe away from exactly such cells, so nothing is lost.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from tiebreak.data.files.errors import plural
from tiebreak.data.files.text_column import Text

__all__ = ["neutralize_formulas", "restore_names"]

_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def neutralize_formulas(series: pl.Series) -> pl.Series:
    """Put an apostrophe before text that a spreadsheet would run.

    Parameters
    ----------
    series : polars.Series
        A column; of any type but text it is given back as it is.

    Returns
    -------
    polars.Series

    Examples
    --------
    >>> neutralize_formulas(pl.Series(["=1+1", "Ada", "'=1"])).to_list()
    ["'=1+1", 'Ada', "''=1"]
    """
    if series.dtype != pl.String:
        return series
    risky = series.str.contains(r"^'*[=+\-@\t\r]")
    return series.zip_with(~risky.fill_null(False), "'" + series)


def restore_names(left: Text, right: Text, sentences: list[str]) -> tuple[Text, Text]:
    """Undo the apostrophes before formulas, and blanks that tell two names apart.

    Parameters
    ----------
    left, right : Text
        Columns of names from a CSV file.
    sentences : list of str
        Where it is said what was changed.

    Returns
    -------
    left, right : Text
    """
    names = dict.fromkeys((*left.values, *right.values))
    new = {name: name[1:] if _GUARDED.match(name) else name for name in names}
    if guarded := sum(old != name for old, name in new.items()):
        sentences.append(
            "The apostrophe that guards against formulas was taken away from "
            f"{plural(guarded, 'name')}."
        )
    if len({name.strip() for name in new.values()}) < len(set(new.values())):
        blanks = sum(name != name.strip() for name in new.values())
        new = {old: name.strip() for old, name in new.items()}
        sentences.append(
            f"Blanks around {plural(blanks, 'name')} were taken away, because names "
            "differed by them alone."
        )
    return _rename(left, new), _rename(right, new)


def _rename(text: Text, new: dict[str, str]) -> Text:
    renamed = [new[value] for value in text.values]
    if renamed == text.values:
        return text
    number: dict[str, int] = {}
    codes = [number.setdefault(value, len(number)) for value in renamed]
    # One more, because a missing value has the number -1.
    return Text(np.array([*codes, -1], dtype=np.int64)[text.codes], list(number))
