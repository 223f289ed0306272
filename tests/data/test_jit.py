# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions where the package, the home and more cannot be written to."""

import atexit
import math
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars.testing
import pytest

import tiebreak
from tests.extended import RUNS_ALL
from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.data import jit

NOBODY, NAMELESS = 65534, 54321
CODE = """
import warnings
warnings.simplefilter("error")
import numpy as np
import tiebreak.kernels.functions as functions
{more}
assert abs(functions.exp_in_place(np.zeros((1, 2))).sum() - 2.0) < 1e-12
"""
# Nowhere to write for numba, also for a user who may write everywhere.
NO_PLACE = """
from numba.core import caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
"""
NO_TEMPORARY_FILES = """
import tempfile
def refuse(*args, **kwargs):
    raise FileNotFoundError(2, "No usable temporary directory found")
tempfile.gettempdir = tempfile.mkdtemp = refuse
"""


def run(code, tmp_path, become=()):
    """Run code in a child without HOME and without a cache folder of its own."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")}
    source = str(Path(tiebreak.__file__).parents[1])
    paths = [source, *kept.get("PYTHONPATH", "").split(os.pathsep)]
    kept |= {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    kept |= {"TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*become, sys.executable, "-c", code]
    return subprocess.run(
        command, env=kept, cwd="/", capture_output=True, text=True, check=False
    )


def cached(folder):
    return {path.name for path in folder.rglob("*.nbi")}


@pytest.mark.extended
def test_a_private_folder_takes_the_cache(tmp_path):
    code = NO_PLACE + CODE.format(more="")
    done = run(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert any("exp_double" in name for name in cached(folder))


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    removed = []
    monkeypatch.setattr(
        atexit, "register", lambda *args, **kwargs: removed.append(args)
    )
    folder = jit._private_folder()
    assert jit._private_folder() == folder and not removed
    folder.chmod(0o777)
    other = jit._private_folder()
    assert other.parent == tmp_path and other != folder and len(removed) == 1
    folder.rmdir()
    folder.symlink_to(other)
    assert jit._private_folder() not in (folder, other)


@pytest.mark.extended
def test_without_any_place_there_is_one_warning_and_an_answer(tmp_path):
    code = NO_PLACE + NO_TEMPORARY_FILES + CODE.format(more="")
    done = run(code.replace('"error"', '"always"'), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("TiebreakWarning") == 1
    assert "Set NUMBA_CACHE_DIR" in done.stderr
    assert not [*tmp_path.iterdir()]


# Another user, who may read everything, because the interpreter may be in root's home.
READER = (
    "setpriv --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
)


@pytest.mark.extended
@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0 or not shutil.which("setpriv"),
    reason="only root can be another user",
)
def test_as_another_user(tmp_path):
    """A package of another user, no home, and a number that has no name."""
    more = "from tiebreak.datasets.published import cache_dir; cache_dir()\n"
    more += "import tiebreak.models, tiebreak.ratings, tiebreak.selection\n"
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    tmp_path.chmod(0o777)
    code = CODE.format(more=more)
    # After compiled code, which chooses a folder for both.
    code += "import matplotlib.font_manager\n" if RUNS_ALL else ""
    users = (NAMELESS, NOBODY) if RUNS_ALL else (NAMELESS,)
    for user in users:
        become = [*READER.split(), f"--reuid={user}", f"--regid={user}"]
        done = run(code, tmp_path, become)
        assert (done.returncode, done.stderr) == (0, "")
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {f"tiebreak-{user}" for user in users}


def test_tiny_calls_run_as_python_until_something_needs_the_compiler(monkeypatch):
    @jit.njit(plain=4)
    def power(x):
        return math.exp(x[0])

    power.__dict__["dispatcher"] = lambda x: "compiled"
    monkeypatch.setattr(jit.Compiled, "spare", 8)
    assert power(np.ones(2)) == math.e
    assert power(np.full(1, 1e3)) == "compiled"  # infinite there, an error in Python
    assert power(np.ones(5)) == "compiled"  # more entries than asked for
    assert power(np.ones(1)) == "compiled"  # and so there are none to spare


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper", None])
def test_python_and_the_compiler_give_the_same(ties, monkeypatch):
    pairs = Pairs(left=list("abacbcabc"), right=list("bacacbbca"))
    y = np.array([-1, 1, -1, 1, -1, 1, -1, 1, -1]) * [*[1] * 7, *[ties is None] * 2]
    boards = []
    for spare in (0, 10**6):
        monkeypatch.setattr(jit.Compiled, "spare", spare)
        boards.append(Leaderboard(BradleyTerry(ties).fit(pairs, y)).table)
    assert 0 < jit.Compiled.spare < 10**6 - 10_000  # all of it ran as Python
    polars.testing.assert_frame_equal(*boards, abs_tol=0, rel_tol=1e-11)
