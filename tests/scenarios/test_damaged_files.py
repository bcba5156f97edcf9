"""Files of runs that are damaged: found by their checksum before HDF5 reads them, else one line for each place."""

import random
import re
import shutil

import h5py
import numpy as np
import pytest
from edited_run import edited

import silosim as package
from scenarios.runfile.atomic import new_file
from scenarios.runfile.file_checksum import LINE_BYTES, recorded_checksum, unverified
from scenarios.runfile.reader import open_file, read_run
from scenarios.studies.verification import verify
from scenarios.validation.file import SCHEMA as VALIDATION
from scenarios.validation.file import read_validation
from topologies import InputError

READERS = {
    "show": (),
    "plot": ("-o", "x.png"),
    "replay": ("--access", "1 Gbps", "-o", "y.h5"),
    "export": ("-o", "out"),
    "timeline": (),
    "report": ("-o", "x.html"),
}
"""Commands that read a run, with what they need besides."""
LOST = "the checksum at its end is missing"


@pytest.fixture
def run_copy(tmp_path, run_file):
    """A complete run that may be damaged."""
    path = tmp_path / "x.h5"
    shutil.copy(run_file, path)
    return path


def flip(path, place):
    """Change one byte."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0x55
    path.write_bytes(data)


def test_the_checksum_is_that_of_all_bytes_before_it(run_copy):
    import hashlib

    data = run_copy.read_bytes()
    assert recorded_checksum(run_copy) == hashlib.sha256(data[:-LINE_BYTES]).hexdigest()
    assert data[-LINE_BYTES:].startswith(b"\nsilosim sha256 of the bytes before this line: ")


def test_any_changed_byte_is_one_line_before_hdf5_sees_it(run_copy):
    source, whole = random.Random(5), run_copy.read_bytes()
    places = [0, 8, *(source.randrange(len(whole) - LINE_BYTES) for _ in range(40)), len(whole) - 2]
    for place in places:
        run_copy.write_bytes(whole)
        flip(run_copy, place)
        with pytest.raises(
            InputError, match=r"x\.h5: is damaged: its bytes differ from the checksum at its end"
        ):
            read_run(run_copy)
    run_copy.write_bytes(whole)
    assert read_run(run_copy).overlays


def test_other_programs_open_the_file_and_cut_the_checksum_off_when_they_change_it(run_copy):
    size = run_copy.stat().st_size
    with h5py.File(run_copy) as file:
        assert "overlays" in file
    assert run_copy.stat().st_size == size
    with h5py.File(run_copy, "r+") as file:
        file["simulation/ring/link_bits"][0] = 5.0
    assert recorded_checksum(run_copy) is None
    with pytest.raises(InputError, match=LOST):
        read_run(run_copy)
    assert read_run(run_copy, verify=False).overlays
    # As documented for those who change a file on purpose, and as it was before there was the attribute.
    with h5py.File(run_copy, "r+") as file:
        del file.attrs["checksum"]
    assert read_run(run_copy).overlays


def zero_tail(data):
    data[-4096:] = bytes(4096)


def flip_mark(data):
    data[-LINE_BYTES + 5] ^= 1


def cut_byte(data):
    del data[-1]


def add_byte(data):
    data += b"x"


def cut_line(data):
    del data[-LINE_BYTES:]


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize("damage", [zero_tail, flip_mark, cut_byte, add_byte, cut_line])
def test_damage_of_the_checksum_itself_is_one_line_of_every_command(run_copy, silosim, monkeypatch, damage):
    monkeypatch.chdir(run_copy.parent)
    data = bytearray(run_copy.read_bytes())
    damage(data)
    run_copy.write_bytes(data)
    for command, more in {**READERS, "show": ("--verify",)}.items():
        refused = silosim(command, "x.h5", *more).failed(2)
        # HDF5 itself may notice zeros.
        assert LOST in refused.err or (damage is zero_tail and ": is " in refused.err)
        assert refused.err.startswith("silosim: error: x.h5: is ")
        assert refused.err.count("\n") == 1


def test_a_partial_file_has_its_checksum_still_to_come(tmp_path, run_copy):
    partial = tmp_path / "y.h5.partial"
    partial.write_bytes(run_copy.read_bytes()[: -LINE_BYTES // 2])
    assert read_run(partial).overlays


def test_a_file_that_is_not_verified_is_opened_as_it_is(run_copy, silosim):
    flip(run_copy, run_copy.read_bytes().index(b"silosim_version"))
    with pytest.raises(InputError, match="is damaged"):
        open_file(run_copy)
    with unverified(True), open_file(run_copy) as file:
        assert "overlays" in file
    assert "is damaged" in silosim("show", run_copy).failed(2).err
    silosim("show", run_copy, "--no-verify").ok()
    record = package.open_run(run_copy, verify=False)
    assert len(record.rounds(rounds=slice(0, 1)))
    with pytest.raises(InputError, match="is damaged"):
        package.open_run(run_copy)


def test_a_file_that_changes_is_looked_at_again(run_copy):
    record = read_run(run_copy)
    flip(run_copy, 5000)
    with pytest.raises(InputError, match="is damaged"):
        read_run(run_copy)
    # Tables are read when they are asked for.
    with pytest.raises(InputError, match="is damaged"):
        record.rounds(rounds=slice(0, 1))


def test_an_empty_file_of_hdf5_has_a_checksum_too(tmp_path):
    with new_file(tmp_path / "x.h5", size_bytes=1):
        pass
    with open_file(tmp_path / "x.h5") as file:
        assert not len(file)
    assert recorded_checksum(tmp_path / "x.h5")


def test_a_whole_run_is_verified(run_copy, silosim):
    lines = verify(run_copy)
    size = run_copy.stat().st_size - LINE_BYTES
    assert (
        lines[0]
        == f"checksum: SHA-256 {recorded_checksum(run_copy)} of its first {size:,} bytes, as at its end"
    )
    assert lines[2] == "network: of the hash that the file states"
    assert "ring: 30 rounds, 4 training rows to round 12" in lines
    assert silosim("show", run_copy, "--verify").ok().out.splitlines() == [*lines]


def set_hash(file):
    file.attrs["graph_sha256"] = "0" * 64


def set_date(file):
    file["replay/ring/wall_clock_s"][1] = 1e9


def drop_row(file):
    file["training/ring/round"][3] = -1


def drop_rounds(file):
    file["simulation/ring"].attrs["cycle_time_s"] = np.nan


def lose_message(file):
    file["simulation/ring/arrival_s"][7, 2] = np.inf


def hasten_message(file):
    file["simulation/ring/arrival_s"][7, 2] = 0.0


def lose_bits(file):
    file["simulation/ring/link_bits"][3] = np.nan


def owe_bits(file):
    file["simulation/ring/link_bits"][3] = -1.0


def turn_dates(file):
    file["simulation/ring/round_start_s"][4] = 0.0


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (set_hash, "is damaged: its network has another hash than graph_sha256 states."),
        (set_date, "is damaged: round 5 of ring has another date in its training row."),
        (drop_row, "is not complete: ring is trained to round 10 of 12."),
        (drop_rounds, "is not complete: ring has 30 of 30 rounds."),
        (turn_dates, "is damaged: dates of ring are missing or go back."),
        (lose_message, "is damaged: messages of ring arrive before their round, or never."),
        (hasten_message, "is damaged: messages of ring arrive before their round, or never."),
        (lose_bits, "is damaged: link_bits of ring must be finite and >= 0."),
        (owe_bits, "is damaged: link_bits of ring must be finite and >= 0."),
    ],
)
def test_what_is_not_whole_is_not_verified(run_copy, silosim, damage, reason):
    with edited(run_copy) as file:
        damage(file)
    assert silosim("show", run_copy, "--verify").failed(2).err == f"silosim: error: {run_copy}: {reason}\n"


def test_a_partial_file_is_not_verified(run_copy, silosim):
    partial = run_copy.rename(run_copy.with_name("x.h5.partial"))
    refused = silosim("show", partial, "--verify").failed(2)
    assert refused.err == f"silosim: error: {partial}: is not complete.\n"


@pytest.mark.parametrize(("checkpoint", "reached"), [(None, 10), (11, 11)])
def test_of_a_partial_file_the_round_reached_is_said_by_its_checkpoints_too(
    run_copy, silosim, checkpoint, reached
):
    with h5py.File(run_copy, "r+") as file:
        drop_row(file)
    partial = run_copy.rename(run_copy.with_name("x.h5.partial"))
    if checkpoint is not None:
        (run_copy.with_name("x.h5.checkpoints") / "ring" / f"round-{checkpoint:06d}").mkdir(parents=True)
    refused = silosim("show", partial, "--verify").failed(2)
    assert refused.err == (
        f"silosim: error: {partial}: is not complete: ring is trained to round {reached} of 12.\n"
    )
    shown = silosim("show", partial).ok().out
    note = "trained, from checkpoints beside the file: ring (rows in the file end at round 10)."
    assert (note in " ".join(shown.split())) == (checkpoint is not None)


def replaced(file, name, value):
    """Put another data set in the place of one."""
    del file[name]
    if value is not None:
        file[name] = value


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        (
            "overlays/ring/arcs",
            np.full((11, 3), 10**15),
            "overlays/ring/arcs holds the numbers of other silos",
        ),
        (
            "overlays/ring/arcs",
            np.full((11, 3), 0.5),
            "overlays/ring/arcs holds float64 of shape (11, 3), must hold",
        ),
        ("overlays/ring/critical_circuit", 3, "overlays/ring/critical_circuit holds int64 of shape ()"),
        (
            "connectivity/available_bps",
            3.0,
            "connectivity/available_bps holds float64 of shape (), must hold numbers",
        ),
        ("simulation/ring/link_bits", None, "simulation/ring/link_bits is missing."),
        ("simulation/ring/arrival_s", np.zeros((2, 2, 2)), "must hold numbers of shape (rounds, 11 arcs)."),
        ("simulation/ring/round_start_s", 1.0, "simulation/ring/round_start_s holds float64 of shape ()"),
        ("simulation/ring/round_start_s", "text", "simulation/ring/round_start_s holds object of shape ()"),
        ("training/ring/round", np.zeros((2, 2), int), "training/ring/round holds int64 of shape (2, 2)"),
        ("training/ring/round", np.array([0, 5, 4, 12]), "must hold rounds that ascend and are simulated."),
        ("training/ring/train_loss", np.zeros(3), "must hold numbers of shape (4 rows)."),
        ("training/ring/silo_loss", np.zeros((2, 2, 2)), "must hold numbers of shape (4 rows, 11 silos)."),
        ("replay/ring/wall_clock_s", np.zeros(9), "must hold numbers of shape (4 rows)."),
    ],
)
def test_another_type_or_shape_is_one_line_of_every_command(
    run_copy, silosim, monkeypatch, name, value, reason
):
    monkeypatch.chdir(run_copy.parent)
    with edited(run_copy) as file:
        replaced(file, name, value)
    for command, more in READERS.items():
        refused = silosim(command, "x.h5", *more).failed(2)
        assert refused.err.startswith("silosim: error: x.h5: ")
        assert reason in refused.err
        assert refused.err.count("\n") == 1


@pytest.mark.parametrize("value", [-7.0, -7, np.nan])
def test_dates_that_cannot_be_are_one_line_of_a_timeline(run_copy, silosim, value):
    with edited(run_copy) as file:
        shape = file["simulation/ring/round_start_s"].shape
        replaced(file, "simulation/ring/round_start_s", np.full(shape, value))
    refused = silosim("timeline", run_copy).failed(2)
    assert "must hold dates >= 0 that go on from round to round." in refused.err
    assert refused.err.count("\n") == 1


HOSTILE = {
    "nested": (f"x = {'[' * 900}{']' * 900}\n", "tables and lists must be nested at most 32 deep."),
    "digits": (f"x = {'9' * 5000}\n", "an integer must have at most 30 digits"),
    "long key": (f"{'a.' * 100_000}a = 1\n", "the dotted key at line 1 must have at most 32 parts."),
    "no TOML": ("[network\n", "not valid TOML"),
    "values for tables": ("training = 5\n", "training(=5) must be a table."),
}
"""Texts in place of a run's scenario, which Python's own reader takes, or ends with a traceback or never."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_scenario_in_a_run_is_one_line(run_copy, name):
    text, reason = HOSTILE[name]
    with edited(run_copy) as file:
        file.attrs["scenario"] = text
    with pytest.raises(InputError, match=rf"x\.h5: attribute scenario: .*{re.escape(reason)}"):
        read_run(run_copy)


@pytest.mark.parametrize("command", READERS)
def test_a_hostile_scenario_in_a_run_is_one_line_of_every_command(run_copy, silosim, monkeypatch, command):
    monkeypatch.chdir(run_copy.parent)
    text, reason = HOSTILE["nested"]
    with edited(run_copy) as file:
        file.attrs["scenario"] = text
    refused = silosim(command, "x.h5", *READERS[command]).failed(2)
    assert refused.err == f"silosim: error: x.h5: attribute scenario: {reason}\n"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_scenario_in_a_validation_is_one_line(tmp_path, name):
    text, reason = HOSTILE[name]
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.attrs.update(schema=VALIDATION, scenario=text, network="{}", about="a\nb\nc")
    with pytest.raises(InputError, match=rf"v\.h5: attribute scenario: .*{re.escape(reason)}"):
        read_validation(tmp_path / "v.h5")


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "{", f'{{"x": {"9" * 5000}}}'], ids=len)
@pytest.mark.parametrize("name", ["network", "library_versions"])
def test_a_hostile_json_text_in_a_run_is_one_line(run_copy, name, text):
    with edited(run_copy) as file:
        file.attrs[name] = text
    with pytest.raises(InputError) as caught:
        read_run(run_copy)
    assert str(caught.value).startswith(f"{run_copy}: attribute {name}(='{text[:5]}")
    assert str(caught.value).endswith("must be a JSON object.")
    assert "\n" not in str(caught.value)
