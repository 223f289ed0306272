# SPDX-License-Identifier: BSD-3-Clause
"""The site builds without a warning, leads nowhere wrong, and needs no network."""

import importlib
import inspect
import os
import subprocess
import sys

import pytest

from tests.docs import built_pages
from tests.meta.sources import ROOT
from tests.meta.test_public_api import PUBLIC
from tiebreak.metrics import Scorer


@pytest.fixture
def build(tmp_path):
    """Give a function that builds a folder of sources, as ``make docs`` does."""
    for name in ("sphinx", "myst_parser", "furo", "sphinx_copybutton"):
        pytest.importorskip(name, reason=f"the docs extra is not installed: no {name}")

    def run(sources):
        html = tmp_path / "html"
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q"]
        # Without the names of the API beside each page, which take a third of the time.
        command += ["-D", "toc_object_entries=0"]
        folders = [str(sources), str(html), "-d", str(tmp_path / "doctrees")]
        done = subprocess.run(
            [*command, *folders],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"},
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return html

    return run


def undocumented(anchors):
    """List the public names of the library that no page of the API describes."""
    missing = []
    for package, name in PUBLIC:
        value = getattr(importlib.import_module(package), name)
        # Scorers are described by their class and found by name, with get_scorer.
        if inspect.ismodule(value) or isinstance(value, Scorer):
            continue
        if package == "tiebreak.cli":
            continue
        if not {f"tiebreak.{name}", f"{package}.{name}"} & anchors:
            missing.append(f"{package}.{name}")
    return missing


@pytest.mark.extended
def test_the_site(build):
    # One test, because to build takes most of a minute: the findings come together.
    folder = build(ROOT / "docs")
    pages = built_pages.read_site(folder)
    assert len(pages) > 40
    assert "install" in pages[folder.joinpath("index.html").relative_to(folder)].anchors
    findings = [
        *(f"broken: {one}" for one in built_pages.broken_links(folder, pages)),
        *(f"loads: {one}" for one in built_pages.loads_from_elsewhere(folder, pages)),
        *(
            f"not in the API: {name}"
            for name in undocumented(
                {
                    a
                    for path, page in pages.items()
                    if path.parts[0] == "api"
                    for a in page.anchors
                }
            )
        ),
    ]
    assert not findings, "\n".join(findings)
