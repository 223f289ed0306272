# SPDX-License-Identifier: BSD-3-Clause
"""docs/scikit-learn.md shows programs of every file of tests/sklearn_user."""

import ast
import re

from tests.meta.sources import ROOT

PAGE = (ROOT / "docs" / "scikit-learn.md").read_text(encoding="utf-8")
FILES = sorted((ROOT / "tests" / "sklearn_user").glob("test_*.py"))
INCLUDED = re.findall(r"\{literalinclude\} ../(\S+)\n.*\n:pyobject: (\S+)", PAGE)


def test_every_file_is_on_the_page():
    shown = {path for path, _ in INCLUDED}
    missing = [path.name for path in FILES if str(path.relative_to(ROOT)) not in shown]
    assert FILES
    assert not missing, f"add a stanza to docs/scikit-learn.md: {', '.join(missing)}"


def test_what_is_shown_exists():
    assert len(INCLUDED) == PAGE.count("literalinclude")
    for path, name in INCLUDED:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {getattr(node, "name", None) for node in tree.body}, name
