"""What is found beside the file of a run, with `--resume` and without."""

import os
from dataclasses import fields
from importlib.resources import files

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.artifacts import checkpoints_path, is_complete, models_path
from scenarios.runfile.atomic import new_file
from scenarios.runfile.paths import check_new, create_locked, partial_path
from topologies import InputError
from training import HistoryRow


@pytest.fixture
def alone(scenario, small_scenario):
    """A scenario of one overlay and one rank with checkpoints and models."""
    text = small_scenario.replace('"star", ', "").replace("rounds = 30", "rounds = 6")
    text = text.replace("rounds = 12", "rounds = 6")
    scenario.write_text(text + "checkpoint_every = 4\nkeep_models = true\n")
    return scenario


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("every", [4, 0])
def test_a_kill_before_the_first_checkpoint_leaves_nothing_to_continue(
    silosim, alone, tmp_path, every, partial
):
    alone.write_text(alone.read_text().replace("checkpoint_every = 4", f"checkpoint_every = {every}"))
    left = checkpoints_path(tmp_path / "x.h5")
    (left / "ring").mkdir(parents=True)
    reads = ""
    if partial:
        left = partial_path(tmp_path / "x.h5")
        left.write_text("mine")
        reads = f"silosim show {left} reads its rounds, "
    refused = silosim("run", alone, "-o", tmp_path / "x.h5").failed(2)
    assert refused.err == (
        f"silosim: error: {left} is that of a run that was interrupted or is still running, without a checkpoint "
        "(training.checkpoint_every is 0, or was not reached), so that nothing continues it; "
        f"{reads}--force starts again.\n"
    )


def test_a_file_that_is_no_run_is_told_before_what_lies_beside_it(silosim, alone, tmp_path):
    (tmp_path / "s.csv.partial").write_text("mine")
    refused = silosim("run", alone, "-o", tmp_path / "s.csv").failed(2)
    assert refused.err == f"silosim: error: output(='{tmp_path / 's.csv'}') must end in .h5 or .hdf5.\n"


def test_after_a_checkpoint_the_run_can_be_resumed(silosim, alone, tmp_path):
    folder = checkpoints_path(tmp_path / "x.h5")
    (folder / "ring" / "round-000004").mkdir(parents=True)
    refused = silosim("run", alone, "-o", tmp_path / "x.h5").failed(2)
    assert refused.err == (
        f"silosim: error: {folder} is that of a run that was interrupted or is still running; --resume continues from "
        "its last checkpoint, --force starts again.\n"
    )


@pytest.mark.parametrize("options", [(), ("--resume",), ("--force",)])
def test_what_another_process_writes_is_left_alone_before_anything_else_is_said(
    silosim, alone, tmp_path, options
):
    path = tmp_path / "x.h5"
    (checkpoints_path(path) / "ring" / "round-000004").mkdir(parents=True)
    lock = create_locked(partial_path(path))
    os.write(lock, b"mine")
    try:
        refused = silosim("run", alone, "-o", path, *options).failed(2)
    finally:
        os.close(lock)
    assert refused.err == f"silosim: error: {partial_path(path)} is being written by another process.\n"
    assert partial_path(path).read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["s.csv", "s.h5"])
def test_of_what_another_process_writes_nothing_is_recommended(tmp_path, name):
    path = tmp_path / name
    lock = create_locked(partial_path(path))
    os.write(lock, b"mine")
    try:
        with pytest.raises(InputError) as caught:
            check_new(path, force=False)
    finally:
        os.close(lock)
    assert str(caught.value) == f"{partial_path(path)} is being written by another process."


def test_a_run_that_is_being_written_names_what_shows_its_rows(silosim, tmp_path):
    partial, folder = tmp_path / "x.h5.partial", tmp_path / "x.h5.checkpoints"
    with new_file(tmp_path / "x.h5", size_bytes=1):
        message = (
            f"silosim: error: {partial}: is being written, and can be read when its command has ended; until then a "
            "training's rows are in the lines of its log, in TensorBoard with --tracker tensorboard, and with "
            f"checkpoint_every in {folder}"
        )
        assert silosim("show", partial).failed(2).err == f"{message}.\n"
        row = dict.fromkeys((field.name for field in fields(HistoryRow)), 0.5)
        row |= {"round": 20, "silo_loss": (0.5,), "silo_accuracy": (0.5,)}
        (folder / "ring").mkdir(parents=True)
        # The line that is being written is not whole yet.
        (folder / "ring" / "rows.jsonl").write_text(HistoryRow(**row).to_json() + '\n{"round": 3')
        assert silosim("show", partial).failed(2).err == f"{message} (ring: round 20, test accuracy 0.500).\n"


@pytest.mark.slow
def test_resume_may_always_be_given(silosim, alone, tmp_path):
    path = tmp_path / "x.h5"
    (tmp_path / "x.h5.partial").touch()
    done = silosim("run", alone, "-o", path, "--resume")
    assert done.code == 0
    assert f"no checkpoint in {checkpoints_path(path)}: the run starts again\n" in done.err
    kept = {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.rglob("*")}
    again = silosim("run", alone, "-o", path, "--resume")
    assert (again.code, again.out) == (0, done.out)
    assert again.err == f"{path} is complete; there is nothing to resume\n"
    assert {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.rglob("*")} == kept
    # Without the run's file its models are those of another run.
    path.rename(tmp_path / "y.h5")
    refused = silosim("run", alone, "-o", path, "--resume")
    assert refused.code == 2
    assert refused.err == f"silosim: error: {models_path(path)} exists already; --force replaces it.\n"


def test_a_complete_run_is_known_from_any_folder(silosim, alone, tmp_path, monkeypatch):
    (tmp_path / "net.gml").write_bytes(files("topologies").joinpath("data", "gaia.gml").read_bytes())
    alone.write_text(alone.read_text().replace('"gaia"', '"net.gml"').replace("keep_models = true", ""))
    monkeypatch.chdir(tmp_path)
    silosim("run", alone.name, "-o", "x.h5").ok()
    leftover = checkpoints_path(tmp_path / "x.h5")  # of a kill just before the end
    leftover.mkdir()
    monkeypatch.chdir(tmp_path.parent)
    again = silosim("run", alone, "-o", tmp_path / "x.h5", "--resume")
    assert (again.code, again.err) == (0, f"{tmp_path / 'x.h5'} is complete; there is nothing to resume\n")
    assert not leftover.exists()


@pytest.mark.usefixtures("placeholder_figures")
def test_only_the_complete_run_of_the_same_scenario_is_nothing_to_resume(silosim, alone, tmp_path):
    path, text = tmp_path / "x.h5", alone.read_text().replace("keep_models = true", "")
    alone.write_text(text)
    silosim("run", alone, "-o", path).ok()
    assert is_complete(path, parse_scenario(text, source="small.toml"), text)
    other = text.replace("seed = 3", "seed = 4")
    assert not is_complete(path, parse_scenario(other, source="small.toml"), other)
    alone.write_text(other)
    refused = silosim("run", alone, "-o", path, "--resume")
    assert refused.code == 2
    assert refused.err.startswith(f"silosim: error: {path} exists already")
    assert "--force" in refused.err
    assert refused.err.count("\n") == 1
    # A replay and a simulation hold the same text, but not that run.
    alone.write_text(text)
    replayed, simulated, broken = (tmp_path / name for name in ("replay.h5", "simulated.h5", "broken.h5"))
    silosim("replay", path, "--access", "1 Gbps", "-o", replayed).ok()
    silosim("simulate", alone, "-o", simulated).ok()
    broken.write_bytes(path.read_bytes()[:5000])
    for file in (replayed, simulated, broken):
        assert file.exists()
        assert not is_complete(file, parse_scenario(text, source="small.toml"), text)
    # A run that was told to replace this one, and was cut short, can go on.
    partial_path(path).touch()
    assert not is_complete(path, parse_scenario(text, source="small.toml"), text)
