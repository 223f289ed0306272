# SPDX-License-Identifier: BSD-3-Clause
"""The section in which a reader compares any two items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.report.compare_data import CompareData
from tiebreak.report.markup import as_json, element, paragraph, shorten

__all__ = ["compare_section"]

_MOST_COMPARED = 2000


def compare_section(compare: CompareData | None) -> str:
    """Write the section "compare any two", and the numbers that its script reads.

    Parameters
    ----------
    compare : CompareData or None
        Items and strengths; at most 2,000 can be chosen from.

    Returns
    -------
    str
        HTML; empty if there are no two items.
    """
    if compare is None or len(compare.names) < 2:
        return ""
    names = _distinct_names(compare.names[:_MOST_COMPARED])
    certain = math.isinf(compare.tie)
    content = {
        "names": names,
        "strengths": _rounded(compare.strengths, len(names)),
        "link": compare.link,
        "tie": None if certain else float(compare.tie),  # None: a tie is certain
        "advantage": compare.advantage,
    }
    if compare.doubts is not None:
        content["doubts"] = _rounded(compare.doubts, len(names))
    notes = ""
    if len(compare.names) > len(names):
        notes = paragraph(
            f"The first {len(names):,} of {len(compare.names):,} items can be compared."
        )
    fields = "".join(
        element("label", label, for_=side)
        + f'<input id="{side}" list="names" autocomplete="off" spellcheck="false" '
        'dir="auto">'
        for side, label in (("left", "Left"), ("right", "Right"))
    )
    if compare.advantage:
        fields += (
            '<label class="check" for="advantage"><input id="advantage" '
            'type="checkbox"> Left has the advantage (at home, first, or white)</label>'
        )
    bar = (
        '<svg id="odds" viewBox="0 0 300 20" preserveAspectRatio="none" '
        'aria-hidden="true"><rect class="f-blue" height="20"/>'
        '<rect class="odds-tie" height="20"/><rect class="f-orange" height="20"/></svg>'
    )
    live = element("p", "", id="verdict", class_="lead", aria_live="polite")
    table = element("div", "", id="chances")
    form = element("div", fields, class_="versus") + '<datalist id="names"></datalist>'
    data_block = element(
        "script", as_json(content), type="application/json", id="strengths"
    )
    inner = element("div", form + live + bar + table, id="comparer", hidden=True)
    fallback = element(
        "noscript", paragraph("Comparing two items needs JavaScript in the browser.")
    )
    return notes + inner + fallback + data_block


def _rounded(values: NDArray[np.float64], count: int) -> list[float]:
    """Write numbers so short that probabilities keep eight digits."""
    return [round(float(value), 8) for value in values[:count]]


def _distinct_names(names: Sequence[Any]) -> list[str]:
    """Shorten names, keeping them apart."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        short = shorten(name, 80)
        seen[short] = seen.get(short, 0) + 1
        found.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return found
