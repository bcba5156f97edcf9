"""Inputs whose path the system does not let us look at, or read: one line for every input of every command."""

import ctypes
import errno
import os
from pathlib import Path

import pytest

import silosim as package
from topologies import InputError
from topologies.networks.files import read_file
from topologies.regular_files import is_file, is_folder, is_there
from training.data.datasets import DataOptions, load_dataset
from training.own_code import load_own

pytestmark = pytest.mark.usefixtures("compiled_simulations")

COMMANDS = [
    ("design", "x.toml"),
    ("run", "x.toml", "-o", "r.h5"),
    ("study", "x.toml"),
    ("study", "x.toml", "-o", "r.csv"),
    ("calibrate", "x.toml"),
    ("calibrate", "x.toml", "--write"),
    ("replay", "gaia", "--events", "x.toml"),
    ("simulate", "x.toml"),
    ("validate", "x.gml"),
    ("sweep", "x.gml", "--access", "1 Gbps"),
    ("explain", "x.gml", "--kind", "ring"),
    ("design", "x.gml"),
    ("underlay", "x.json"),
    ("underlay", "x.graphml"),
    ("design", "x.csv"),
    ("underlay", "--pairs", "x.csv"),
    ("underlay", "--sites", "x.csv", "--links", "x.csv"),
    ("design", "gaia", "--arcs", "x.csv"),
    ("design", "gaia", "--routes", "x.csv"),
    ("design", "gaia", "--schedule", "x.csv"),
    ("simulate", "gaia", "--compute-times", "x.csv"),
    ("upgrade", "gaia", "--kind", "ring", "--budget", 1, "--prices", "x.csv"),
    ("import-metrics", "x.csv", "--on", "gaia", "--workload", "femnist", "-o", "r.h5"),
    ("import-metrics", "x.json", "--on", "gaia", "--workload", "femnist", "-o", "r.h5"),
    ("import-metrics", "x.tfevents", "--on", "gaia", "--workload", "femnist", "-o", "r.h5"),
    ("partition", "gaia", "--partition", "x.csv"),
    ("show", "x.h5"),
    ("show", "x.h5", "--verify"),
    ("show", "x.h5", "--no-verify"),
    ("plot", "x.h5"),
    ("plot", "x.csv", "-o", "r.png"),
    ("replay", "x.h5", "-o", "r.h5"),
    ("export", "x.h5", "-o", "r"),
    ("timeline", "x.h5"),
    ("report", "x.h5"),
    ("report", "x.csv"),
    ("report", "x.csv.partial"),
]


@pytest.fixture
def no_override():
    """Without the rights of root to enter folders and read files that are closed; nothing for other users."""
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, without = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, before) == 0
    without[:] = before[:]
    without[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of those that are in effect
    assert libc.capset(head, without) == 0
    yield
    assert libc.capset(head, before) == 0


@pytest.mark.usefixtures("no_override")
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("long", "File name too long"),
        ("folder", "Permission denied"),
        ("file", "Permission denied"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_an_input_that_cannot_be_looked_at_is_one_line(silosim, tmp_path, monkeypatch, command, kind, reason):
    monkeypatch.chdir(tmp_path)
    (given,) = {word for word in map(str, command) if word.startswith("x.")}
    name = {"long": f"{'d/' * 2100}{given}", "folder": f"closed/{given}", "file": given}[kind]
    Path("closed").mkdir()
    if kind != "long":
        Path(name).write_text("[network]\n")
        Path("closed" if kind == "folder" else name).chmod(0)
    refused = silosim(*(name if word == given else word for word in command)).failed(2)
    Path("closed").chmod(0o700)

    assert refused.err.count("\n") == 1
    assert given in refused.err
    assert refused.err.endswith(f"cannot be read: {reason}.\n")


@pytest.mark.usefixtures("no_override")
@pytest.mark.parametrize(
    "command",
    [command for command in COMMANDS if command[1].startswith("x.")],
    ids=lambda command: " ".join(map(str, command)),
)
def test_a_file_that_the_reader_of_the_command_line_finds_closed_is_one_line(
    silosim, tmp_path, monkeypatch, command
):
    """It asks for the real user's rights, which root has in whatever way a test takes them away."""
    monkeypatch.chdir(tmp_path)
    Path(command[1]).write_text("[network]\n")
    Path(command[1]).chmod(0)
    monkeypatch.setattr("os.access", lambda _, mode, **__: mode != os.R_OK)
    refused = silosim(*command).failed(2)
    assert refused.err == f"silosim: error: {command[1]}: cannot be read: Permission denied.\n"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_a_pipe_as_input_is_one_line_and_no_wait(silosim, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (name,) = {word for word in map(str, command) if word.startswith("x.")}
    os.mkfifo(name)
    refused = silosim(*command).failed(2)

    assert refused.err.count("\n") == 1
    assert name in refused.err
    assert refused.err.endswith("is a pipe; write what comes out of it to a file first.\n")
    assert os.listdir() == [name]


@pytest.mark.usefixtures("no_override")
def test_what_is_there_is_told_from_what_cannot_be_looked_at(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    names, asks = ("pipe", "file", "", "none", "file/x", "\0"), (is_file, is_folder, is_there)
    asked = [ask(tmp_path / name) for name in names for ask in asks]
    assert asked == [
        *(False, False, True),
        *(True, False, True),
        *(False, True, True),
        *[False] * 9,
    ]
    (tmp_path / "loop").symlink_to("loop")
    for ask in (*asks, package.open_run, package.open_study):
        with pytest.raises(InputError, match=r"loop: cannot be read: Too many levels of symbolic links\.$"):
            ask(tmp_path / "loop")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("csv_file", "x.csv"),
        ("npz_file", "x.npz"),
        ("image_folder", "x"),
        ("femnist", "x"),
        ("shakespeare", "x"),
    ],
)
def test_data_that_cannot_be_looked_at_are_one_line(name, data):
    with pytest.raises(InputError, match=r"x[./a-z]*: cannot be read: File name too long\.$"):
        load_dataset(
            name, DataOptions(data="d/" * 2100 + data, declared={"label": "y"} if name == "csv_file" else {})
        )


def test_a_model_in_a_file_that_cannot_be_looked_at_is_one_line():
    with pytest.raises(InputError, match=r"x\.py: cannot be read: File name too long\.$"):
        load_own("d/" * 2100 + "x.py:Net", field="model")


def test_a_file_that_cannot_be_read_has_the_name_that_the_user_gave(monkeypatch):
    def refused(_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("topologies.networks.files.regular", refused)
    with pytest.raises(InputError) as caught:
        read_file(Path("./x.csv"), "./x.csv")
    assert str(caught.value) == "./x.csv: cannot be read: Permission denied."
