"""Checks of a machine at their bounds."""

import shutil
from types import SimpleNamespace

import pytest

from scenarios.doctor import checks


@pytest.mark.parametrize(
    ("free", "status"),
    [
        (checks.LITTLE_SPACE_BYTES, "ok"),
        (checks.LITTLE_SPACE_BYTES - 1, "warning"),
        (checks.NO_SPACE_BYTES, "warning"),
        (checks.NO_SPACE_BYTES - 1, "error"),
        (0, "error"),
    ],
)
def test_space_is_little_below_its_bound(monkeypatch, tmp_path, free, status):
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=free))
    found = checks._space("disk", "results", tmp_path)
    assert (found.status, found.details["free_bytes"]) == (status, free)
    assert (found.action == "") == (status == "ok")
    assert found.text.startswith(f"{free / 1e9:.3g} GB are free")


@pytest.mark.parametrize("name", ["no_such_package_there", "folder_of_no_package"])
def test_a_package_that_is_not_there_or_only_a_folder_is_an_import_error(monkeypatch, tmp_path, name):
    (tmp_path / "folder_of_no_package").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=f"{name} is not there"):
        checks._package_folder(name)


def test_code_is_more_than_an_empty_package(tmp_path):
    assert not checks._has_code(tmp_path)
    (tmp_path / "__init__.py").touch()
    assert not checks._has_code(tmp_path)
    (tmp_path / "b.py").touch()
    assert checks._has_code(tmp_path)


def test_the_first_folder_that_can_be_made_is_taken(tmp_path):
    file = tmp_path / "file"
    file.touch()
    there, other = tmp_path / "a" / "b", tmp_path / "c"
    assert checks._first_writable([file / "x", there, other]) == there
    assert checks._first_writable([file / "x"]) is None
    assert checks._existing(there) == tmp_path
