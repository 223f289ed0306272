# SPDX-License-Identifier: BSD-3-Clause
"""The workflows name Pythons, commands and folders that exist."""

import re
import tomllib

import pytest

from tools.size import ROOT

yaml = pytest.importorskip("yaml")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def tried_pythons():
    makefile = (ROOT / "Makefile").read_text()
    return re.search(r"TRIED := (.*)", makefile)[1].split()


def test_classifiers_name_the_pythons_that_were_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert sorted(named) == sorted(tried_pythons())


def test_the_tests_run_with_the_oldest_and_the_newest_python():
    jobs = yaml.safe_load((WORKFLOWS[0].parent / "tests.yml").read_text())["jobs"]
    newest, *_, oldest = tried_pythons()
    assert jobs["linux"]["strategy"]["matrix"]["python"] == [oldest, newest]
    assert jobs.keys() == {"linux", "macos", "windows"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_of_workflows_exist(path):
    jobs = yaml.safe_load(path.read_text())["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    lines = [step["run"] for step in steps if "run" in step]
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z-]+)", " ".join(lines)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for word in re.findall(r"(?:tests|src|\.ci)/[\w./]+", " ".join(lines)):
        assert (ROOT / word).exists(), word


def test_issue_forms_have_what_forms_need():
    assert len(FORMS) >= 3
    for path in FORMS:
        form = yaml.safe_load(path.read_text())
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= form.keys()
