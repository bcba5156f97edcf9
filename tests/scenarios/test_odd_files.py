"""Files of users that are not what they are taken for: cut off, empty, compressed, in another encoding, pipes."""

import errno
import gzip
import os
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.config.compute_times import _read_rows
from scenarios.config.scenario import load_scenario
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.values import number_of
from scenarios.runfile.paths import writing
from scenarios.runfile.reader import open_file
from topologies import InputError, MachineError
from training.data.datasets import DataOptions
from training.data.readers.csv_file import CsvFile

SCENARIO = '[network]\nunderlay = "gaia"\n\n[workload]\npreset = "inaturalist"\n'


def test_an_hdf5_file_that_is_cut_off_or_empty(tmp_path):
    path = tmp_path / "r.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(1000)
    whole = path.read_bytes()
    for kept, said in (
        (0, "is empty."),
        (20, "is cut off or damaged."),
        (3000, f"is cut off: it has 3,000 bytes, {len(whole):,} were written."),
    ):
        path.write_bytes(whole[:kept])
        with pytest.raises(InputError) as error:
            open_file(path)
        assert str(error.value) == f"{path}: {said}"


def test_a_page_of_an_empty_file(silosim, tmp_path):
    (tmp_path / "r.h5").touch()

    assert "r.h5: is empty" in silosim("report", tmp_path / "r.h5").failed(2).err


def test_a_scenario_as_windows_saves_it(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    plain = load_scenario(path)
    path.write_text(SCENARIO, encoding="utf-8-sig", newline="\r\n")
    assert load_scenario(path) == plain

    path.write_text(SCENARIO, encoding="utf-16")
    with pytest.raises(
        InputError, match=r"s\.toml: is UTF-16 text, must be UTF-8: save it in that encoding\.$"
    ):
        load_scenario(path)


@pytest.mark.parametrize("name", ["m.csv.gz", "m.csv", "m.jsonl", "m.json"])
def test_metrics_that_are_compressed(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"round,loss\n1,0.5\n"))

    with pytest.raises(InputError, match=r"is compressed by gzip: unpack it first\.$"):
        list(read_rows(tmp_path / name).start())


def test_metrics_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "63")

    with pytest.raises(InputError, match=r"63: is a pipe; write what comes out of it to a file first\.$"):
        read_rows(tmp_path / "63")


@pytest.mark.parametrize(
    ("text", "value"), [("1;0,5", 0.5), ("1;-1,5e-3", -0.0015), ("1;0.5", 0.5), ("1;1.234,5", None)]
)
def test_metrics_with_decimal_commas(tmp_path, text, value):
    (tmp_path / "m.csv").write_text(f"round;loss\n{text}\n")

    (row,) = read_rows(tmp_path / "m.csv").start()
    assert number_of(row.values["loss"]) == value


def test_metrics_in_quotes_have_no_decimal_commas_where_commas_separate(tmp_path):
    (tmp_path / "m.csv").write_text('round,loss\n1,"0,5"\n')

    (row,) = read_rows(tmp_path / "m.csv").start()
    assert number_of(row.values["loss"]) is None


def test_computing_times_with_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("A;B\n0,5;1\n\n1,25;2\n")

    assert _read_rows(tmp_path / "t.csv") == (["A", "B"], [["0.5", "1"], ["1.25", "2"]])


def test_training_data_with_decimal_commas(tmp_path):
    (tmp_path / "d.csv").write_text("".join(["x;y;label\n", *(f"{i},5;-{i};{i % 2}\n" for i in range(10))]))

    data = CsvFile(label="label", delimiter=";").read(DataOptions(data=str(tmp_path / "d.csv")))
    rows = sorted((*data.train_inputs.tolist(), *data.test_inputs.tolist()))
    assert rows == [[i + 0.5, -float(i)] for i in range(10)]


@pytest.mark.parametrize(
    ("flags", "reason"), [(0, "Permission denied"), (os.ST_RDONLY, "Read-only file system")]
)
def test_a_folder_that_may_not_be_written_is_of_the_machine(silosim, tmp_path, monkeypatch, flags, reason):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scenarios.runfile.paths.os.access", lambda *_: False)
    monkeypatch.setattr("scenarios.runfile.paths.os.statvfs", lambda _: SimpleNamespace(f_flag=flags))

    said = silosim("underlay", "gaia", "-o", "p.png").failed(3).err
    assert said == f"silosim: error: output(='p.png'): {tmp_path} cannot be written: {reason}.\n"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC])
def test_what_a_machine_refuses_to_write_is_no_wrong_input(number):
    with (
        pytest.raises(MachineError, match=rf"^x cannot be written: {os.strerror(number)}$"),
        writing(Path("x")),
    ):
        raise OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (("underlay", "gaia", "-o", ""), "output"),
        (("simulate", "gaia", "--output="), "output"),
        (("show", ""), "run"),
        (("plot", ""), "file"),
        (("calibrate", "s.toml", "--times", ""), "times"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(silosim, tmp_path, monkeypatch, command, field):
    monkeypatch.chdir(tmp_path)

    assert silosim(*command).failed(2).err == f"silosim: error: {field}(='') is empty, must be a path.\n"
    assert list(tmp_path.iterdir()) == []
