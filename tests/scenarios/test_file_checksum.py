"""Checksums at the ends of files, on a few bytes."""

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios.runfile.file_checksum import (
    ATTRIBUTE,
    LINE_BYTES,
    append_checksum,
    check_announced,
    check_file,
    recorded_checksum,
    unverified,
)
from topologies import InputError


def with_checksum(path, data):
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDWR)
    append_checksum(descriptor, path.name)
    os.close(descriptor)
    return path


@pytest.mark.parametrize("data", [b"", b"x", b"abcdefgh" * 3])
def test_a_checksum_is_that_of_the_bytes_before_it(tmp_path, monkeypatch, data):
    monkeypatch.setattr("scenarios.runfile.file_checksum._PIECE", 8)
    path = with_checksum(tmp_path / "x", data)
    assert path.read_bytes()[:-LINE_BYTES] == data
    assert recorded_checksum(path) == hashlib.sha256(data).hexdigest()
    check_file(path)


def test_a_file_that_ends_otherwise_states_none(tmp_path):
    path = with_checksum(tmp_path / "x", b"data")
    whole = path.read_bytes()
    for other in (
        b"",
        b"short",
        whole + b"\n",
        whole[:-1] + b"x",
        whole[1:-1],
        b"y" * len(whole),
        whole[-LINE_BYTES + 1 :],
    ):
        path.write_bytes(other)
        assert recorded_checksum(path) is None
        check_file(path)


def test_a_changed_byte_is_damage_unless_nobody_looks(tmp_path):
    path = with_checksum(tmp_path / "x", b"data")
    changed = bytearray(path.read_bytes())
    changed[0] ^= 1
    path.write_bytes(changed)
    with pytest.raises(
        InputError, match=r"x: is damaged: its bytes differ from the checksum at its end \(--no-verify"
    ):
        check_file(path)
    with unverified(True):
        check_file(path)
        with unverified(False):
            check_file(path)
    with unverified(False), pytest.raises(InputError, match="is damaged"):
        check_file(path)


def test_a_file_that_announces_a_checksum_has_one(tmp_path):
    path = tmp_path / "x.h5"
    path.write_bytes(b"no line")
    announced, plain = SimpleNamespace(attrs={ATTRIBUTE: "x"}), SimpleNamespace(attrs={})
    with pytest.raises(
        InputError, match=r"the checksum at its end is missing \(--no-verify opens it nevertheless"
    ):
        check_announced(announced, path)
    check_announced(plain, path)
    with unverified(True):
        check_announced(announced, path)
    check_announced(announced, with_checksum(path, b"data"))
    partial = Path(f"{path}.partial")
    partial.write_bytes(b"no line")
    check_announced(announced, partial)
