"""Outputs appear whole or not at all, replace nothing unasked, and have one writer at a time."""

import errno
import os
import re
import resource
import signal
import subprocess
import sys

import pytest

from scenarios.runfile.atomic import new_file
from scenarios.runfile.claims import claimed
from scenarios.runfile.folders import new_folder
from scenarios.runfile.paths import hidden_path, open_locked, partial_path, replace_locked, write_whole
from topologies import InputError, MachineError

LETTERS = 245
"""Of a name that fits but leaves no room for that of the file beside it."""
WRITERS = {
    "sweep": ("gaia", "--access", "1 Gbps", "--kind", "ring"),
    "tables": ("--network", "gaia"),
    "partition": ("gaia",),
    "underlay": ("gaia",),
    "validate": ("gaia", "--kind", "ring"),
    "simulate": ("gaia", "--kind", "ring"),
    "upgrade": ("gaia", "--kind", "ring", "--budget", 1),
}
"""Commands that write what ``-o`` names, with all that they need besides."""


def names(folder):
    """All names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def full(*_):
    """A write for which there is no space."""
    raise OSError(errno.ENOSPC, "words")


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path, steps = tmp_path / "x.csv", []
    fsync = os.fsync

    def noted(descriptor):
        name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))
        steps.append((name, path.exists(), os.fstat(descriptor).st_size if name != tmp_path.name else 0))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(path, "text")

    assert steps == [(hidden_path(path).name, False, 4), (tmp_path.name, True, 0)]
    assert names(tmp_path) == ["x.csv"]


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MachineError, match=r"x\.csv cannot be written: words$"):
        write_whole(path, "new", force=True)

    assert (names(tmp_path), path.read_text()) == (["x.csv"], "old")


def test_what_hdf5_cannot_write_at_its_end_gets_no_name(tmp_path, monkeypatch):
    path = tmp_path / "x.h5"

    def write():
        with new_file(path, size_bytes=1) as file:
            file["training/ring/round"] = [0]
            close = type(file).close

            def failing(self):
                close(self)
                raise OSError(errno.ENOSPC, "words")

            monkeypatch.setattr(type(file), "close", failing)

    with pytest.raises(MachineError, match=r"x\.h5\.partial cannot be written: No space left on device$"):
        write()
    assert names(tmp_path) == ["x.h5.partial"]


def test_a_validation_asks_for_its_space_before_it_computes(silosim, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: full())
    monkeypatch.setattr("scenarios.cli.validate.validate_overlays", lambda *_, **__: pytest.fail("computed"))
    result = silosim("validate", "gaia", "--kind", "ring", "-o", tmp_path / "x.h5").failed(3)

    assert result.err.startswith(f"silosim: error: {tmp_path / 'x.h5.partial'} cannot be written: words")
    assert names(tmp_path) == []


@pytest.mark.parametrize("writer", ["file", "hdf5"])
@pytest.mark.parametrize("target", ["there", "missing"])
def test_a_symbolic_link_is_replaced_and_not_written_through(tmp_path, writer, target):
    other, path = tmp_path / "other", tmp_path / "x.h5"
    path.symlink_to(other)
    if target == "there":
        other.write_text("mine")

    def write(force):
        if writer == "file":
            write_whole(path, "new", force=force)
        else:
            with new_file(path, force=force, size_bytes=1):
                pass

    with pytest.raises(InputError, match=r"x\.h5 exists already; --force replaces it\.$"):
        write(force=False)
    assert path.is_symlink()
    write(force=True)
    assert not path.is_symlink()
    assert path.stat().st_size > 0
    assert (other.read_text() == "mine") if target == "there" else not other.exists()


def test_a_link_to_a_folder_is_replaced_by_a_folder(tmp_path):
    other, path = tmp_path / "other", tmp_path / "x"
    other.mkdir()
    (other / "mine").touch()
    path.symlink_to(other)
    with new_folder(path, force=True) as partial:
        (partial / "new").touch()

    assert not path.is_symlink()
    assert (names(path), names(other), names(tmp_path)) == (["new"], ["mine"], ["other", "x"])


def test_what_killed_processes_left_is_removed_and_what_others_write_is_kept(tmp_path):
    path = tmp_path / "x.csv"
    live = tmp_path / ".x.csv.1.partial"
    lock = open_locked(live)
    for name in (".x.csv.2.partial", ".x.csv.mine.partial", ".x.csv.partial", ".y.csv.2.partial"):
        (tmp_path / name).touch()
    write_whole(path, "new")
    os.close(lock)

    kept = [live.name, ".x.csv.mine.partial", ".x.csv.partial", ".y.csv.2.partial", "x.csv"]
    assert names(tmp_path) == sorted(kept)


def test_rows_that_a_killed_study_was_about_to_put_in_place_are_removed(tmp_path):
    path = tmp_path / "x.csv.partial"
    lock = open_locked(path)
    (tmp_path / ".x.csv.partial.1.partial").touch()
    os.close(replace_locked(path, lock, "rows"))
    assert (names(tmp_path), path.read_text()) == ([path.name], "rows")


def test_folders_that_killed_exports_left_are_removed(tmp_path):
    (tmp_path / ".x.1.partial").mkdir()
    (tmp_path / ".x.1.partial" / "rounds.csv").touch()
    with new_folder(tmp_path / "x", force=False):
        pass
    assert names(tmp_path) == ["x"]


def test_the_second_writer_of_a_file_says_so(tmp_path):
    path = tmp_path / "new" / "x.csv"
    message = f"{re.escape(str(partial_path(path)))} is being written by another process"
    with claimed([path], force=False):
        for force in (False, True):
            with pytest.raises(InputError, match=message), claimed([path], force=force):
                pass
        with pytest.raises(InputError, match=message), new_folder(path, force=False):
            pass
    assert names(tmp_path) == []
    with claimed([path], force=False):
        write_whole(path, "text")
    assert names(path.parent) == ["x.csv"]


def test_a_lock_that_a_killed_command_left_is_taken_over(tmp_path):
    path = tmp_path / "x.csv"
    partial_path(path).touch()
    with claimed([path], force=False):
        write_whole(path, "text")
    assert names(tmp_path) == ["x.csv"]
    partial_path(tmp_path / "x.h5").touch()
    with new_file(tmp_path / "x.h5", size_bytes=1):
        pass
    assert names(tmp_path) == ["x.csv", "x.h5"]


def test_rows_of_a_study_go_with_the_file_that_replaces_them(tmp_path):
    path = tmp_path / "x.csv"
    partial_path(path).write_text("rows")
    with pytest.raises(InputError, match="holds points of a study"), claimed([path], force=False):
        pass
    with pytest.raises(ZeroDivisionError), claimed([path], force=True):
        _ = 1 // 0
    assert partial_path(path).read_text() == "rows"
    with claimed([path], force=True):
        write_whole(path, "text")
    assert names(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("command", [*WRITERS])
def test_two_commands_on_one_output_are_not_both_let_in(silosim, tmp_path, command):
    path = tmp_path / "x.csv" if command != "underlay" else tmp_path / "x.gml"
    option = "-o" if command != "underlay" else "--convert"
    lock = open_locked(partial_path(path))
    try:
        for force in ([], ["--force"]):
            refused = silosim(command, *WRITERS[command], option, path, *force).failed(2)
            assert refused.err == (
                f"silosim: error: {partial_path(path)} is being written by another process.\n"
            )
    finally:
        os.close(lock)
    assert names(tmp_path) == [f"{path.name}.partial"]


@pytest.mark.parametrize("command", [*WRITERS])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("folder", "is a directory, must be the name of a file."),
        ("long", "cannot be written: File name too long"),
        ("dangling", "exists already; --force replaces it."),
        ("fifo", "exists already; --force replaces it."),
        ("forced fifo", "is a device or a pipe, must be the name of a file."),
    ],
)
def test_an_output_that_cannot_be_is_one_line(silosim, tmp_path, command, kind, reason):
    path = tmp_path / ("x.png" if kind != "long" else f"{'n' * LETTERS}.csv")
    if command in ("tables", "simulate"):
        path = path.with_suffix(".csv")
    if command == "underlay":
        path = path.with_suffix(".png")
    if kind == "folder":
        path.mkdir()
        # A folder is what a validation writes into: there one of its files is in the way.
        if command == "validate":
            (path / "validation-gaia.csv").mkdir()
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif "fifo" in kind:
        os.mkfifo(path)
        reason = "is a device or a pipe, must be the name of a file."
    before = names(tmp_path)
    force = ["--force"] if kind == "forced fifo" else []
    refused = silosim(command, *WRITERS[command], "-o", path, *force).failed(2)

    assert refused.err.count("\n") == 1
    assert refused.err.startswith("silosim: error: ")
    assert str(path) in refused.err
    assert reason in refused.err
    assert names(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("limit_bytes", [0, 300])
def test_a_file_larger_than_allowed_is_one_line_in_new_processes(tmp_path, limit_bytes):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    code = "from scenarios.cli.main import main; main()"
    command = ["tables", "multigraph", "--network", "gaia", "-o", str(path), "--force"]
    # -B: the limit would cut off the bytecode of what is imported, too, for all later processes.
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *command],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 3
    assert done.stderr == f"silosim: error: {path} cannot be written: File too large\n"
    assert (names(tmp_path), path.read_text()) == (["t.csv"], "old")
