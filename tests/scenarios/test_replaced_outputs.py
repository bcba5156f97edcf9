"""What a new output replaces is there until the new one is, and nothing is replaced unasked."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from scenarios.runfile import atomic, folders
from scenarios.runfile.atomic import new_file
from scenarios.runfile.claims import claimed
from scenarios.runfile.folders import new_folder
from scenarios.runfile.paths import check_new, partial_path, write_whole
from topologies import InputError


def names(folder):
    """All names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def make_file(path, *, force):
    write_whole(path, "new", force=force)


def make_hdf5(path, *, force):
    with new_file(path, force=force, size_bytes=1):
        pass


def make_folder(path, *, force):
    with new_folder(path, force=force) as partial:
        (partial / "f").write_text("new")


WRITERS = {"file": make_file, "hdf5": make_hdf5, "folder": make_folder}


@pytest.fixture(params=[*WRITERS])
def written(request, tmp_path):
    """An output that is there, and what writes it."""
    write, path = WRITERS[request.param], tmp_path / "x"
    write(path, force=False)
    return path, write


def test_permissions_of_what_is_replaced_are_kept(written):
    path, write = written
    for file in (path, *path.rglob("*")):
        file.chmod(0o770 if file.is_dir() else 0o660)
    before = path.stat().st_ino
    write(path, force=True)

    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == (0o770 if path.is_dir() else 0o660)
    assert {file.stat().st_mode & 0o777 for file in path.rglob("*")} <= {0o660}


@pytest.mark.parametrize("writer", [*WRITERS])
def test_what_appears_at_the_last_moment_is_kept(tmp_path, monkeypatch, writer):
    path = tmp_path / "x"
    if writer == "hdf5":  # a checksum of a large file takes seconds
        append = atomic.append_checksum
        monkeypatch.setattr(atomic, "append_checksum", lambda *values: (append(*values), path.touch()))
    else:
        fsync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda descriptor: (fsync(descriptor), path.touch()))
    with pytest.raises(
        InputError, match=r"x (exists already; --force replaces it|appeared meanwhile and is kept)"
    ):
        WRITERS[writer](path, force=False)

    assert path.read_bytes() == b""
    assert names(tmp_path) == (["x", "x.partial"] if writer == "hdf5" else ["x"])


KILLED_AT_A_RENAME = """
import os, signal, sys
from pathlib import Path
from scenarios.runfile import folders
if sys.argv[2] == "no exchange":
    folders.exchange = lambda *_: False
renames, rename = [], Path.rename
def counted(path, target):
    renames.append(path)
    if len(renames) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(path, target)
Path.rename = counted
with folders.new_folder(Path(sys.argv[1]), force=True) as partial:
    (partial / "f").write_text("new")
"""


@pytest.mark.parametrize("way", ["exchange", "no exchange"])
def test_a_folder_whose_replacement_was_killed_comes_back(tmp_path, way):
    path = tmp_path / "x"
    path.mkdir()
    (path / "f").write_text("old")
    subprocess.run([sys.executable, "-c", KILLED_AT_A_RENAME, str(path), way], timeout=120, check=False)
    if way == "exchange":
        assert (names(tmp_path), (path / "f").read_text()) == (["x"], "new")
        return
    assert not path.exists()
    with pytest.raises(InputError, match="x exists already"):
        make_folder(path, force=False)
    assert (names(tmp_path), (path / "f").read_text()) == (["x"], "old")


def test_the_old_folder_is_there_until_the_new_one_is(tmp_path, monkeypatch):
    path = tmp_path / "x"
    make_folder(path, force=False)
    exchange, seen = folders.exchange, []
    monkeypatch.setattr(folders, "exchange", lambda *both: (seen.append(names(path)), exchange(*both))[1])
    make_folder(path, force=True)
    assert seen == [["f"]]
    assert names(tmp_path) == ["x"]


def test_only_folders_that_a_killed_command_left_are_removed(tmp_path):
    mine = [
        ".x.mine.partial",
        ".x.partial",
        ".x.1.older.partial",
        ".x.1.2.partial",
        ".y.1.partial",
        ".x.².partial",
    ]
    for name in (*mine, ".x.1.partial", ".x.1.old.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").touch()
    with pytest.raises(InputError, match="x exists already"), new_folder(tmp_path / "x", force=False):
        pass
    assert names(tmp_path) == sorted([*mine, "x"])


@pytest.mark.parametrize("kind", ["folder", "dangling link", "link", "fifo"])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["y.csv", "y.h5"])
def test_what_is_no_file_under_the_name_of_a_partial_one_is_called_so(tmp_path, kind, force, name):
    partial = partial_path(tmp_path / name)
    if kind == "folder":
        partial.mkdir()
    elif kind == "fifo":
        os.mkfifo(partial)
    else:
        partial.symlink_to("nowhere" if kind == "dangling link" else "mine")
        (tmp_path / "mine").touch()
    before = names(tmp_path)
    rule = f"^{partial} is no regular file, and in the way of {name}: rename or remove it\\.$"
    with pytest.raises(InputError, match=rule):
        check_new(tmp_path / name, force=force)
    with pytest.raises(InputError, match=rule):
        folders.check_new_folder(tmp_path / name, force=force, is_own=lambda _: True)
    assert names(tmp_path) == before


@pytest.mark.parametrize("again", ["s.csv", "./s.csv", "link/s.csv"])
def test_a_file_that_is_named_twice_is_called_so(silosim, tmp_path, monkeypatch, again):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    refused = silosim("partition", "gaia", "-o", "s.csv", "-o", again).failed(2)
    assert refused.err.count("\n") == 1
    assert "s.csv') is the same file as the output s.csv." in refused.err
    assert names(tmp_path) == ["link"]


def test_a_file_in_another_folder_has_another_name(tmp_path):
    (tmp_path / "a").mkdir()
    path = tmp_path / "s.csv"
    with claimed([path, tmp_path / "a" / "s.csv"], force=False):
        pass
    with pytest.raises(InputError, match="is the same file"), claimed([path, path], force=False):
        pass
    assert names(tmp_path) == ["a"]


@pytest.fixture
def no_locks(monkeypatch):
    """A file system without locks, for this process and those that it calls so."""

    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize("options", [{"force": True}, {"resume": True}, {}])
@pytest.mark.parametrize("content", ["", "rounds"])
def test_without_locks_the_file_of_another_run_is_never_removed(tmp_path, options, content):
    path = tmp_path / "x.h5"
    partial_path(path).write_text(content)
    with (
        pytest.raises(InputError, match=r"x\.h5\.partial (may be that of a command|holds rounds)"),
        new_file(path, size_bytes=1, **options),
    ):
        pass
    assert (names(tmp_path), partial_path(path).read_text()) == (["x.h5.partial"], content)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_two_runs_at_once_leave_the_first_one_whole(tmp_path):
    path = tmp_path / "x.h5"
    with new_file(path, force=True, size_bytes=1) as file:
        with (
            pytest.raises(InputError, match="this file system has no locks"),
            new_file(path, force=True, size_bytes=1),
        ):
            pass
        file["first"] = 1
    assert names(tmp_path) == ["x.h5"]


@pytest.mark.usefixtures("no_locks")
def test_without_locks_the_rows_of_another_study_are_never_removed(tmp_path):
    path = tmp_path / "x.csv"
    partial_path(path).write_text("rows")
    with pytest.raises(InputError, match="this file system has no locks"), claimed([path], force=True):
        pass
    partial_path(path).unlink()
    with claimed([path], force=True):
        partial_path(path).unlink()
        partial_path(path).write_text("rows")
    assert (names(tmp_path), partial_path(path).read_text()) == (["x.csv.partial"], "rows")


@pytest.mark.parametrize("writer", ["file", "hdf5"])
def test_a_file_that_was_replaced_meanwhile_gets_no_final_name(tmp_path, monkeypatch, writer):
    path, fsync = tmp_path / "x", os.fsync

    def replaced(descriptor):
        (partial,) = tmp_path.glob("*.partial")
        partial.unlink()
        partial.write_text("cut")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", replaced)
    with pytest.raises(
        InputError, match=r"another program has removed or replaced .*x\S*\.partial meanwhile"
    ):
        WRITERS[writer](path, force=True)
    assert not path.exists()


@pytest.mark.usefixtures("no_locks")
def test_without_locks_the_folder_of_another_export_is_never_removed(tmp_path):
    other = tmp_path / ".x.1.partial"
    other.mkdir()
    (other / "f").touch()
    make_folder(tmp_path / "x", force=True)
    assert (names(tmp_path), names(other)) == ([other.name, "x"], ["f"])
