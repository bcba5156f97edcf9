"""Files and folders get their names in one step, with the permissions of what they replace, on the disk."""

import ctypes
import errno
import os
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from topologies import renames
from topologies.renames import exchange, rename_new
from topologies.whole_files import (
    is_named,
    keep_permissions,
    make_folders,
    publish,
    sync_folder,
    sync_tree,
    write_whole,
)


@pytest.fixture(params=["flags", "no flags"])
def flags(request, monkeypatch):
    """Whether renames of the file system take flags."""
    if request.param == "no flags":
        monkeypatch.setattr(renames, "_renamed", lambda *_: False)
    return request.param == "flags"


@pytest.mark.usefixtures("flags")
def test_a_new_name_is_taken_from_nobody(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    rename_new(one, other)
    assert ([*tmp_path.iterdir()], other.read_text()) == ([other], "1")
    one.write_text("2")
    with pytest.raises(FileExistsError):
        rename_new(one, other)
    assert (one.read_text(), other.read_text()) == ("2", "1")


@pytest.mark.usefixtures("flags")
def test_not_even_an_empty_folder_or_a_dangling_link_is_replaced(tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("empty", "link"):
        with pytest.raises(FileExistsError):
            rename_new(new, tmp_path / name)
    assert new.is_dir()


def test_two_names_change_places(tmp_path, flags):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.symlink_to("nowhere")
    assert exchange(one, other) == flags
    assert (one.is_symlink(), other.is_dir()) == (flags, flags)


def test_a_rename_that_fails_says_why(tmp_path):
    with pytest.raises(FileNotFoundError):
        rename_new(tmp_path / "missing", tmp_path / "x")


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_or_folder_takes_over_the_permissions_of_its_kind(tmp_path, mode):
    for make in (os.mkdir, lambda path: path.touch()):
        old, new = tmp_path / f"old{make}", tmp_path / f"new{make}"
        make(old)
        make(new)
        old.chmod(mode)
        keep_permissions(old, new)
        assert new.stat().st_mode & 0o7777 == mode


def test_nothing_and_a_link_have_no_permissions_to_take_over(tmp_path):
    new, link = tmp_path / "new", tmp_path / "link"
    new.touch(mode=0o640)
    link.symlink_to(new)
    for old in (tmp_path / "missing", link, tmp_path):
        keep_permissions(old, new)
        assert new.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_the_owner_is_kept_where_that_is_allowed(tmp_path, monkeypatch):
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch()
    os.chown(old, 1234, 1235)
    new.touch()
    keep_permissions(old, new)
    assert (new.stat().st_uid, new.stat().st_gid) == (1234, 1235)

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)
    keep_permissions(old, new)


def test_a_file_that_another_one_has_replaced_gets_no_name(tmp_path):
    temporary, path = tmp_path / "x.partial", tmp_path / "x"
    with temporary.open("w") as file:
        for replacement in (None, "another's"):
            temporary.unlink(missing_ok=True)
            if replacement is not None:
                temporary.write_text(replacement)
            with pytest.raises(
                OSError, match=r"another program has removed or replaced .*x\.partial meanwhile"
            ):
                publish(temporary, path, file.fileno())
            assert not path.exists()


def test_names_of_new_folders_are_on_the_disk(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noted(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    folder = tmp_path / "a" / "b"
    assert make_folders(folder) == [folder, folder.parent]
    assert synced == [str(folder.parent), str(tmp_path)]
    assert make_folders(folder) == []
    assert len(synced) == 2


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_folder_that_may_not_be_listed_cannot_be_synced(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refused)
    sync_folder(tmp_path)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.EIO])
def test_a_folder_is_left_where_the_file_system_cannot_sync_it_and_a_failing_disk_is_an_error(
    tmp_path, monkeypatch, number
):
    def refused(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refused)
    descriptors = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="Input/output") if number == errno.EIO else nullcontext():
        sync_folder(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == len(descriptors)


def test_all_files_and_folders_of_a_tree_are_synced_the_folder_itself_last(tmp_path, monkeypatch):
    (tmp_path / "one" / "two").mkdir(parents=True)
    (tmp_path / "one" / "two" / "file").write_text("a")
    (tmp_path / "zero").write_text("b")
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino))
    sync_tree(tmp_path)

    places = ("one", "one/two", "one/two/file", "zero", "")
    assert synced == [(tmp_path / place).stat().st_ino for place in places]


def test_where_the_kernel_has_no_such_call_renames_take_no_flags(tmp_path, monkeypatch):
    monkeypatch.setattr(renames.ctypes, "CDLL", lambda *_, **__: object())
    assert exchange(tmp_path, tmp_path / "other") is False


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EXDEV])
def test_where_the_file_system_takes_no_flags_a_rename_goes_without(tmp_path, monkeypatch, number):
    called = []

    def refused(*arguments):
        called.append(arguments)
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(renames.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(renameat2=refused))
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    assert exchange(one, other) is False
    rename_new(one, other)
    assert other.read_text() == "1"
    # As of the working directory, with the flags of renameat2(2).
    names = (-100, os.fsencode(one), -100, os.fsencode(other))
    assert called == [(*names, 2), (*names, 1)]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path, temporary = tmp_path / "x", tmp_path / "x.partial"
    temporary.write_text("of a process that was killed")
    write_whole(path, b"first", temporary=temporary)
    assert path.read_bytes() == b"first"
    write_whole(path, memoryview(b"second"), temporary=temporary)
    assert path.read_bytes() == b"second"

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"third", temporary=temporary)
    assert ([*tmp_path.iterdir()], path.read_bytes()) == ([path], b"second")


def test_what_removes_the_temporary_file_meanwhile_is_the_error(tmp_path, monkeypatch):
    path, temporary = tmp_path / "x", tmp_path / "x.partial"
    monkeypatch.setattr(os, "fsync", lambda _: temporary.unlink())
    with pytest.raises(OSError, match="another program has removed or replaced"):
        write_whole(path, b"first", temporary=temporary)
    assert not path.exists()


def test_an_open_file_has_its_name_until_another_one_gets_it(tmp_path):
    path = tmp_path / "x"
    with path.open("w") as file:
        assert is_named(file.fileno(), path) is True
        path.rename(tmp_path / "y")
        assert is_named(file.fileno(), path) is False
        path.write_text("another's")
        assert is_named(file.fileno(), path) is False
        assert is_named(file.fileno(), tmp_path / "y") is True
