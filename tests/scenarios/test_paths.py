"""Where a file may be written, word for word, and locks and names that keep two commands apart."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from scenarios.runfile import paths
from scenarios.runfile.paths import (
    check_ending,
    check_new,
    check_new_run,
    check_output,
    check_partial,
    create_locked,
    ending_of,
    final_path,
    hidden_path,
    is_empty,
    is_locked,
    open_locked,
    partial_path,
    remove_left,
    remove_unlocked,
    replace_locked,
    take_lock,
    write_whole,
    writing,
)
from topologies import InputError, MachineError


def said(check, *arguments, **options):
    """What an error says, or nothing."""
    try:
        check(*arguments, **options)
    except (InputError, MachineError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_names_until_a_file_is_complete(tmp_path):
    path = tmp_path / "x.h5"
    assert partial_path(path).name == "x.h5.partial"
    assert final_path(partial_path(path)) == final_path(path) == path
    assert hidden_path(path).name == f".x.h5.{os.getpid()}.partial"


@pytest.mark.parametrize(
    ("name", "ending"),
    [("a.CSV", ".csv"), ("a.b.h5", ".h5"), ("sweep-1.5", ""), ("a", ""), ("a.h-5", ""), (".csv", "")],
)
def test_an_ending_is_no_number(tmp_path, name, ending):
    assert ending_of(tmp_path / name) == ending


def test_an_output_is_a_file_in_a_folder(tmp_path):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    assert said(check_output, tmp_path / "file") == said(check_output, tmp_path / "new" / "deep" / "x") == ""
    assert said(check_output, tmp_path) == (
        f"InputError: output(={str(tmp_path)!r}) is a directory, must be the name of a file."
    )
    assert "is a device or a pipe, must be the name of a file." in said(check_output, tmp_path / "pipe")
    assert said(check_output, tmp_path / "file" / "x").endswith(f": {tmp_path / 'file'} must be a directory.")
    assert "must be the name of a file." in said(check_output, Path("/"))
    # The longest name is that of the file until it is complete.
    assert "cannot be written: File name too long" in said(check_output, tmp_path / ("x" * 250))


def test_a_run_and_a_table_that_exist_are_replaced_by_force_only(tmp_path):
    run, table = tmp_path / "x.h5", tmp_path / "x.csv"
    for path, other in (
        (run, "is not the complete run of this very scenario"),
        (table, "holds no point of this study"),
    ):
        assert said(check_new, path, force=False) == ""
        path.touch()
        assert (
            said(check_new, path, force=False) == f"InputError: {path} exists already; --force replaces it."
        )
        assert said(check_new, path, force=False, resume=True) == (
            f"InputError: {path} exists already and {other}, so nothing can be resumed; --force replaces it."
        )
        assert said(check_new, path, force=True) == ""


def test_what_was_interrupted_is_named_with_the_command_that_shows_it(tmp_path):
    for name, what, command in (("x.h5", "rounds of a run", "show"), ("x.csv", "points of a study", "plot")):
        path = tmp_path / name
        partial = partial_path(path)
        partial.touch()
        assert said(check_new, path, force=False) == ""
        partial.write_text("rows")
        assert said(check_new, path, force=False) == (
            f"InputError: {partial} holds {what} that was interrupted or is still running (silosim {command} "
            f"{partial}); --force replaces it."
        )
        assert said(check_new, path, force=True) == said(check_new, path, force=False, resume=True) == ""


def test_while_another_process_writes_a_run_even_force_waits(tmp_path):
    for name, refused in (("x.HDF5", True), ("x.csv", False)):
        path = tmp_path / name
        lock = create_locked(partial_path(path))
        taken = f"InputError: {partial_path(path)} is being written by another process."
        # Of other files the command itself may have the lock by then.
        assert said(check_new, path, force=True) == (taken if refused else "")
        os.write(lock, b"rows")
        assert said(check_new, path, force=False) == taken
        os.close(lock)
        assert said(check_new, path, force=True) == ""


def test_a_run_has_one_of_two_endings(tmp_path):
    for name in ("x.h5", "x.HDF5"):
        assert said(check_new_run, tmp_path / name, force=False) == ""
    path = tmp_path / "x.csv"
    path.touch()
    assert (
        said(check_new_run, path, force=False)
        == f"InputError: output(={str(path)!r}) must end in .h5 or .hdf5."
    )
    assert said(check_ending, path, (".csv",)) == ""
    (tmp_path / "y.h5").touch()
    assert "exists already and is not" in said(check_new_run, tmp_path / "y.h5", force=False, resume=True)
    assert "exists already; --force" in said(check_new_run, tmp_path / "y.h5", force=False)
    partial_path(tmp_path / "z.h5").write_text("rounds")
    assert "z.h5.partial holds rounds of a run" in said(check_new_run, tmp_path / "z.h5", force=False)
    assert said(check_new_run, tmp_path / "z.h5", force=False, resume=True) == ""


def test_what_is_no_file_under_the_partial_name_is_left(tmp_path):
    path = tmp_path / "x.h5"
    assert said(check_partial, path) == ""
    partial_path(path).symlink_to("nowhere")
    assert said(check_partial, path) == (
        f"InputError: {partial_path(path)} is no regular file, and in the way of x.h5: rename or remove it."
    )
    assert is_empty(partial_path(path))


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "MachineError: x cannot be written: No space left on device",
        ),
        (OSError(errno.EFBIG, "File too large"), "MachineError: x cannot be written: File too large"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "MachineError: x cannot be written: Permission denied",
        ),
        (OSError(errno.EROFS, "Read-only"), "MachineError: x cannot be written: Read-only"),
        (
            OSError(errno.ENAMETOOLONG, "File name too long"),
            "InputError: x cannot be written: File name too long",
        ),
        (OSError("without a number"), "InputError: x cannot be written: without a number"),
        (ValueError("embedded null byte"), "InputError: x cannot be written: embedded null byte"),
        (InputError("said already"), "InputError: said already"),
    ],
)
def test_a_write_that_fails_is_the_machine_s_or_the_input_s(error, shown):
    def write():
        with writing(Path("x")):
            raise error

    assert said(write) == shown


def test_a_lock_is_seen_while_it_is_held(tmp_path):
    path = tmp_path / "x"
    assert not is_locked(path)
    descriptor = open_locked(path)
    assert path.read_bytes() == b""
    assert is_locked(path)
    with pytest.raises(BlockingIOError):
        open_locked(path)
    with pytest.raises(BlockingIOError):
        remove_unlocked(path)
    with pytest.raises(FileExistsError):
        create_locked(path)
    os.close(descriptor)
    assert not is_locked(path)
    # One that is read only is no writer's.
    shared = os.open(path, os.O_RDONLY)
    assert take_lock(shared, fcntl.LOCK_SH)
    assert not is_locked(path)
    os.close(shared)
    remove_unlocked(path)
    assert not path.exists()
    remove_unlocked(path)


def test_without_locks_nobody_knows(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.touch()

    def no_locks(_descriptor, _kind):
        raise OSError(number[0], "x")

    number = [errno.ENOLCK]
    monkeypatch.setattr(paths.fcntl, "flock", no_locks)
    assert not is_locked(path)
    descriptor = os.open(path, os.O_RDWR)
    assert take_lock(descriptor) is False
    assert said(remove_unlocked, path).endswith("as this file system has no locks: if not, remove it.")
    left = tmp_path / ".y.1.partial"
    left.touch()
    remove_left(tmp_path / "y")
    assert left.exists()
    number[0] = errno.EIO
    with pytest.raises(OSError, match="x"):
        take_lock(descriptor)
    os.close(descriptor)


def test_files_that_killed_processes_left_are_removed(tmp_path):
    kept = [".x.12.partial", ".x.a.partial", ".y.5.partial", "x.5.partial"]
    for name in (*kept, ".x.13.partial", ".x.4194304.partial"):
        (tmp_path / name).touch()
    (tmp_path / ".x.14.partial").mkdir()
    lock = open_locked(tmp_path / ".x.12.partial")
    remove_left(tmp_path / "x")
    os.close(lock)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*kept, ".x.14.partial"])


def test_a_whole_file_has_its_folders_and_replaces_another_by_force_only(tmp_path):
    path = tmp_path / "a" / "b" / "x.txt"
    write_whole(path, "é")
    assert path.read_bytes() == "é".encode()
    assert said(write_whole, path, b"other") == f"InputError: {path} exists already; --force replaces it."
    assert path.read_bytes() == "é".encode()
    path.chmod(0o640)
    write_whole(path, b"other", force=True)
    assert path.read_bytes() == b"other"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_rows_are_replaced_by_a_file_that_is_locked_too(tmp_path):
    path = tmp_path / "x"
    made = replace_locked(path, open_locked(path), "häd\n")
    assert path.read_text(encoding="utf-8") == "häd\n"
    assert is_locked(path)
    os.write(made, b"more")
    assert path.read_text(encoding="utf-8") == "häd\nmore"
    os.close(made)
    assert not is_locked(path)
