"""What native libraries print reaches no one; what Python prints does."""

import os

import pytest

from topologies.native_output import no_native_output


def test_native_code_prints_nothing(capfd):
    with no_native_output():
        os.write(1, b"from a library\n")
    os.write(1, b"from us\n")

    assert capfd.readouterr().out == "from us\n"


def test_standard_output_is_back_after_an_error(capfd):
    with pytest.raises(KeyboardInterrupt), no_native_output():
        raise KeyboardInterrupt
    os.write(1, b"from us\n")

    assert capfd.readouterr().out == "from us\n"


def test_a_process_without_standard_output_goes_on(monkeypatch):
    def closed(_: int) -> int:
        raise OSError

    monkeypatch.setattr("topologies.native_output.os.dup", closed)
    with no_native_output():
        done = True

    assert done
