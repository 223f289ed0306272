# SPDX-License-Identifier: BSD-3-Clause
"""Every block of Python in the documentation is a doctest, so that it is run."""

import re

from tests.meta.sources import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_blocks_of_python_are_doctests():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [
        (page.relative_to(ROOT).as_posix(), block)
        for page in pages
        if "_build" not in page.parts
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
    ]
    assert len(blocks) > 50
    assert [page for page, block in blocks if not block.startswith(">>> ")] == []
