# SPDX-License-Identifier: BSD-3-Clause
"""Write the table of options in docs/command-reference.md: python -m tools.options."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from tiebreak.options import RankOptions, ReadOptions, flag

PAGE = Path(__file__).parents[1] / "docs" / "command-reference.md"
BEGIN, END = "<!-- options: python -m tools.options -->\n", "<!-- end of options -->\n"


def options_table() -> str:
    """Return the options of rank, with their help, as a table in Markdown."""
    lines = ["| option | in Python | what it is |", "|---|---|---|"]
    for kind in (RankOptions, ReadOptions):
        for one in fields(kind):
            if about := one.metadata if one.metadata["panel"] else None:
                name = about["flag"] or flag(one.name)
                value = f" {about['metavar']}" if about["metavar"] else ""
                text = about["help"].replace("|", "\\|")
                lines.append(f"| `{name}{value}` | `{one.name}` | {text} |")
    return "\n".join(lines) + "\n"


def update(page: str) -> str:
    """Return the page with the table of today."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + options_table() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
