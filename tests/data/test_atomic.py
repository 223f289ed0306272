# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all, and folders of them."""

import os
import signal
import stat
import subprocess
import sys

import pytest

from tiebreak.data.atomic import abandon, atomic_folder, atomic_path, check_folder


def write(folder, text, names=("a", "b")):
    for name in names:
        (folder / name).write_text(text)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_folder_is_made_with_its_parents_and_filled(tmp_path):
    out = tmp_path / "one" / "two"
    with atomic_folder(out, ["a", "b"]) as temporary:
        write(temporary, "new")
        assert not out.exists()
    assert contents(out) == {"a": "new", "b": "new"}


def test_files_are_replaced_together_and_keep_their_mode_and_neighbors(tmp_path):
    write(tmp_path, "old", ["a", "other"])
    (tmp_path / "a").chmod(0o640)
    with atomic_folder(tmp_path, ["a", "b"]) as temporary:
        write(temporary, "new")
    assert contents(tmp_path) == {"a": "new", "b": "new", "other": "old"}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_leaves_the_old_files_or_nothing(tmp_path, error):
    write(tmp_path, "old")
    with pytest.raises(error), atomic_folder(tmp_path, ["a", "b"]) as temporary:
        write(temporary, "new", ["a"])
        raise error
    assert contents(tmp_path) == {"a": "old", "b": "old"}
    out = tmp_path / "one" / "two"
    with pytest.raises(error), atomic_folder(out, ["a", "b"]) as temporary:
        write(temporary, "new")
        raise error
    assert not (tmp_path / "one").exists()


def test_a_file_that_was_not_written_is_an_error_and_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_folder(tmp_path, ["a", "b"]) as temporary,
    ):
        write(temporary, "new", ["a"])
    assert caught.value.filename == str(tmp_path / "b")
    assert contents(tmp_path) == {}


def test_a_folder_is_replaced_as_one_and_restored_if_that_fails(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir(0o750)
    write(out, "old", ["b", "stale"])
    real, renamed = os.replace, []

    def fail_at_new(source, target):
        renamed.append(os.path.basename(target))
        if os.fspath(target) == str(out) and (source / "a").exists():
            raise OSError(28, "No space left on device", str(source))
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_at_new)
        with (
            pytest.raises(OSError, match="No space") as caught,
            atomic_folder(out, ["a", "b"], stale=["stale"]) as temporary,
        ):
            write(temporary, "new")
    assert renamed == ["out"] * 3
    assert caught.value.filename == str(out)
    assert contents(out) == {"b": "old", "stale": "old"}
    with atomic_folder(out, ["a", "b"], stale=["stale"]) as temporary:
        write(temporary, "new")
    assert contents(out) == {"a": "new", "b": "new"}
    assert stat.S_IMODE(out.stat().st_mode) == 0o750
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_of_somebody_else_is_kept(tmp_path):
    out = tmp_path / "out"
    with atomic_folder(out, ["a", "b"]) as temporary:
        write(temporary, "new")
    with atomic_folder(out, ["a"], stale=["b"]) as temporary:
        write(temporary, "newer", ["a"])
        write(out, "mine", ["notes"])
    assert contents(out) == {"a": "newer", "notes": "mine"}


def test_we_stay_inside_of_our_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inode = tmp_path.stat().st_ino
    with atomic_folder(".", ["a", "b"]) as temporary:
        write(temporary, "new")
    assert contents(tmp_path) == {"a": "new", "b": "new"}
    assert tmp_path.stat().st_ino == inode


KILLED = """
import os, signal, sys
from pathlib import Path
from tiebreak.data import atomic
place, real = Path(sys.argv[1]), os.replace
def kill(source=None, target=None):
    if source is not None:
        real(source, target)
    os.kill(os.getpid(), signal.SIGKILL)
one, out = atomic.atomic_path(place / "one"), atomic.atomic_folder(place / "out", "ab")
with one, out as new:
    for name in "ab":
        (new / name).write_text("new")
    if sys.argv[2] == "writing":
        kill()
    os.replace = kill
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@pytest.mark.parametrize("moment", ["writing", "renaming"])
def test_what_a_killed_process_left_is_removed(tmp_path, moment):
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", "old")
    words = [sys.executable, "-c", KILLED, str(tmp_path), moment]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    left = {path.name for path in tmp_path.iterdir()}
    # Between two renamings, the old folder is in the temporary one.
    assert len(left) == (3 if moment == "writing" else 2)
    with atomic_path(tmp_path / "two") as living:
        living.write_text("whole")
        check_folder(tmp_path / "new", ["a"])
    assert contents(tmp_path / "out") == {"a": "old", "b": "old"}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "two"}


def test_a_signal_waits_until_all_files_are_in_place(tmp_path, monkeypatch, request):
    real, out = os.replace, tmp_path / "out"

    def signal_first(source, target):
        signal.raise_signal(signal.SIGINT)
        real(source, target)

    # A shell that starts us in the background lets us ignore interrupts.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, usual))
    before = signal.getsignal(signal.SIGTERM)
    with (
        pytest.raises(KeyboardInterrupt),
        atomic_folder(out, ["a", "b"]) as temporary,
    ):
        write(temporary, "new")
        monkeypatch.setattr(os, "replace", signal_first)
    assert contents(out) == {"a": "new", "b": "new"}
    assert signal.getsignal(signal.SIGTERM) is before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_places_that_cannot_be_written_to_are_known_at_once(tmp_path):
    write(tmp_path, "old")
    with pytest.raises(NotADirectoryError, match="Is not a folder"):
        check_folder(tmp_path / "a", ["x"])
    with pytest.raises(NotADirectoryError):
        check_folder(tmp_path / "a" / "deep", ["x"])
    (tmp_path / "x").mkdir()
    with pytest.raises(FileExistsError, match="not a regular file"):
        check_folder(tmp_path, ["x"])
    (tmp_path / "x").rmdir()
    if os.geteuid() != 0:
        (tmp_path / "a").chmod(0o444)
        with pytest.raises(PermissionError, match="write-protected"):
            check_folder(tmp_path, ["a"])
    check_folder(tmp_path / "new" / "folder", ["x"])
    assert contents(tmp_path) == {"a": "old", "b": "old"}


def test_abandon_removes_what_is_unfinished_and_only_that(tmp_path):
    write(tmp_path, "old")
    with (
        pytest.raises(FileNotFoundError),
        atomic_folder(tmp_path / "new", ["a"]) as folder,
        atomic_path(tmp_path / "a") as file,
    ):
        write(folder, "half", ["a"])
        file.write_text("half")
        abandon()
        assert contents(tmp_path) == {"a": "old", "b": "old"}
    abandon()
    assert contents(tmp_path) == {"a": "old", "b": "old"}


def test_an_error_in_one_file_names_the_file(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_path(tmp_path / "none" / "a") as file,
    ):
        file.write_text("x")
    assert caught.value.filename == str(tmp_path / "none" / "a")
    # An error about another file keeps its name.
    with pytest.raises(FileNotFoundError) as caught, atomic_path(tmp_path / "a"):
        (tmp_path / "b").read_text()
    assert caught.value.filename == str(tmp_path / "b")
