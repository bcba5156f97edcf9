"""The file of a run: readable after a kill at any moment, and never lost to another run."""

import io
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.config.network import NetworkConfig
from scenarios.runfile import simulated_rounds as simulated
from scenarios.runfile import training_rows as history
from scenarios.runfile.atomic import _check_space, new_file, reports_full_disk
from scenarios.runfile.paths import partial_path
from scenarios.runfile.reader import read_open, read_run
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate
from scenarios.runfile.training_rows import HistoryWriter, allocate_history
from scenarios.runfile.writer import RunHead, write_head, write_overlay
from scenarios.simulation.runner import run_job
from simulator import overlay_job
from topologies import (
    AccessLinks,
    InputError,
    MachineError,
    TrainingError,
    Workload,
    connectivity,
    design,
    load_underlay,
)
from training import HistoryRow, Notice

ROWS = 54
"""Rows of three flushes and six more."""
SILOSIM = Path(sys.executable).parent / "silosim"


class Recording(io.BytesIO):
    """A file in memory that keeps every change that HDF5 makes."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[int, bytes | None]] = []

    def write(self, data) -> int:
        self.changes.append((self.tell(), bytes(data)))
        return super().write(data)

    def truncate(self, size=None) -> int:
        self.changes.append((self.tell() if size is None else size, None))
        return super().truncate(size)


def row(k: int, silos: int) -> HistoryRow:
    return HistoryRow(
        round=k,
        train_loss=k + 0.25,
        train_accuracy=0.5,
        test_loss=k + 0.5,
        test_accuracy=0.5,
        consensus_distance=0.0,
        silo_loss=tuple(k + i / 100 for i in range(silos)),
    )


@pytest.mark.slow
def test_the_file_opens_with_every_flushed_row_whatever_write_a_kill_cuts_off(monkeypatch):
    monkeypatch.setattr(history, "_FLUSH_S", float("inf"))
    monkeypatch.setattr(simulated, "_FLUSH_S", 0.0)
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    work = Workload(model_bits=1e6, compute_s=0.01)
    overlays = [design(kind, graph, work) for kind in ("star", "ring")]
    recording = Recording()
    flushed: list[tuple[int, str, int]] = []
    with h5py.File(recording, "w") as file:
        network = NetworkConfig(underlay="gaia")
        write_head(file, RunHead(scenario="", network=network, seed=0, graph=graph, work=work))
        jobs = [overlay_job(overlay, ROWS) for overlay in overlays]
        for overlay, job in zip(overlays, jobs, strict=True):
            write_overlay(file, overlay, job, overlay.closed_forms)
            allocate(file, overlay.kind, job, messages=True)
            allocate_history(file, overlay.kind, rows=ROWS, silos=graph.silos)
        begin = len(recording.changes)
        for overlay, job in zip(overlays, jobs, strict=True):
            outcome = run_job(job, overlay.kind, writer=SimulationWriter(file, overlay.kind))
            writer = HistoryWriter(file, overlay.kind, outcome.last_start_s)
            for k in range(ROWS):
                writer.add(row(k, graph.silos))
                if k in (20, 40):
                    writer.note(Notice(f"note {k}: " + "\u2026" * 1000))
                flushed.append((len(recording.changes), overlay.kind, (k + 1) // 16 * 16))
            writer.flush()
            flushed.append((len(recording.changes), overlay.kind, ROWS))

    image = io.BytesIO()
    for end, (position, data) in enumerate(recording.changes, start=1):
        image.seek(position)
        if data is None:
            image.truncate()
        else:
            image.write(data)
        if end < begin:
            continue
        with h5py.File(io.BytesIO(image.getvalue()), "r") as file:
            record = read_open(file, source="x.h5")
            for kind in ("star", "ring"):
                group = file[f"simulation/{kind}"]
                rounds = group.attrs["rounds"]
                assert np.all(np.isfinite(group["round_start_s"][:rounds]))
                assert np.all(np.isfinite(group["last_bit_s"][:rounds]))
        for overlay in record.overlays:
            rows = len(overlay.wall_clock_s)
            promised = [n for at, kind, n in flushed if at <= end and kind == overlay.kind]
            assert rows >= max(promised, default=0)
            assert np.all(np.isfinite(overlay.wall_clock_s))
            if rows:
                assert overlay.simulation.is_whole
                assert overlay.history["round"].tolist() == list(range(rows))
                assert overlay.history["train_loss"].tolist() == [k + 0.25 for k in range(rows)]
                assert np.all(np.isfinite(overlay.history["silo_loss"]))
    assert [len(overlay.wall_clock_s) for overlay in record.overlays] == [ROWS, ROWS]
    with h5py.File(image, "r") as file:
        first, second = file["training/star"].attrs["notices"].decode().split("\n")
        assert first == "note 20: " + "\u2026" * 1000
        # Cut off after 4096 bytes, between two characters.
        assert second == "note 40: " + "\u2026" * ((4096 - len((first + "\nnote 40: ").encode())) // 3)
    assert len(recording.changes) - begin > 100


def hold(path, ready, done) -> None:
    """Write a file in another process until told to end."""
    with new_file(path, force=True, size_bytes=1) as file:
        file.attrs["by"] = "the first"
        ready.set()
        done.wait(60)


@pytest.mark.slow
def test_no_second_run_destroys_the_file_of_one_that_is_being_written(tmp_path):
    path = tmp_path / "x.h5"
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    first = context.Process(target=hold, args=(path, ready, done))
    first.start()
    try:
        assert ready.wait(60)
        with (
            pytest.raises(InputError, match="is being written by another process"),
            new_file(path, force=True, size_bytes=1),
        ):
            pass
        with (
            pytest.raises(InputError, match="is being written by another process"),
            new_file(path, size_bytes=1),
        ):
            pass
        with pytest.raises(InputError, match="is being written"):
            read_run(partial_path(path))
    finally:
        done.set()
        first.join(60)

    assert first.exitcode == 0
    with h5py.File(path) as file:
        assert file.attrs["by"] == "the first"
    assert not partial_path(path).exists()


def break_off(path, error: Exception, rounds: list[int]) -> None:
    """A run that fails after it has written these rounds."""
    with new_file(path, size_bytes=1) as file:
        file["training/star/round"] = np.array(rounds)
        raise error


def test_the_rounds_of_a_run_that_was_cut_short_are_kept_unless_forced(tmp_path):
    path = tmp_path / "x.h5"
    with pytest.raises(TrainingError):
        break_off(path, TrainingError("diverged"), [0, 1, -1])
    with (
        pytest.raises(InputError, match=f"silosim show {re.escape(str(partial_path(path)))}"),
        new_file(path, size_bytes=1),
    ):
        pass
    with h5py.File(partial_path(path)) as file:
        assert file["training/star/round"][:].tolist() == [0, 1, -1]
    with new_file(path, force=True, size_bytes=1) as file:
        assert not len(file)

    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("rounds", "kept"), [([-1, -1], False), ([0, -1], True)])
def test_after_a_machine_error_only_a_file_without_rows_is_deleted(tmp_path, rounds, kept):
    path = tmp_path / "x.h5"
    with pytest.raises(MachineError):
        break_off(path, MachineError("the GPU is gone"), rounds)

    assert partial_path(path).exists() == kept


@pytest.mark.parametrize(("rounds", "kept"), [(0, False), (7, True)])
def test_where_nothing_is_trained_simulated_rounds_are_kept(tmp_path, rounds, kept):
    path = tmp_path / "x.h5"

    def simulate() -> None:
        with new_file(path, size_bytes=1) as file:
            file.create_group("simulation/ring").attrs["rounds"] = rounds
            raise MachineError("the disk is gone")

    with pytest.raises(MachineError):
        simulate()

    assert partial_path(path).exists() == kept


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path = tmp_path / "x.h5"
    with pytest.raises(InputError, match="appeared meanwhile"), new_file(path, size_bytes=1):
        path.write_text("another")

    assert path.read_text() == "another"
    assert partial_path(path).exists()


@pytest.mark.slow
@pytest.mark.parametrize("limit_bytes", [0, 15_000, 200_000])
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, scenario, limit_bytes):
    code = (
        "import resource, sys, h5py, torch; from scenarios.cli.main import main;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit_bytes}, {limit_bytes}));"
        f"sys.argv = ['silosim', 'run', {str(scenario)!r}, '-o', {str(tmp_path / 'x.h5')!r}]; main()"
    )
    # -B: the limit would cut off the bytecode of what is imported, too, for all later processes.
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60)

    assert done.returncode == 3
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [scenario]


def rows_in(partial):
    """Training rows that a reader finds while the file is written; rounds where nothing is trained."""
    try:
        with h5py.File(partial, locking=False) as file:
            if "training" in file:
                return int((file["training/ring/round"][:] >= 0).sum())
            return int(file["simulation/ring"].attrs["rounds"])
    except (OSError, KeyError):
        return 0


@pytest.mark.slow
@pytest.mark.parametrize("limit_bytes", [0, 4096, 100_000])
@pytest.mark.parametrize("command", ["run", "simulate"])
def test_bytes_that_are_refused_in_the_midst_are_one_line_and_no_crash(
    tmp_path, scenario, small_scenario, command, limit_bytes
):
    """HDF5 is refused bytes that it had before; each starts a process."""
    long = small_scenario.replace('"star", ', "").replace("rounds = 12", "rounds = 20000")
    scenario.write_text(long.replace("log_every = 5", 'log_every = 1\nexecutor = "loop"'))
    simulate = ["gaia", "--kind", "ring", "--rounds", "200000", "--engine", "simpy"]
    path = tmp_path / "x.h5"
    program = subprocess.Popen(
        [SILOSIM, command, *([scenario] if command == "run" else simulate), "-o", path],
        # The limit would cut off the bytecode of what is imported, too, for all later processes.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        while not rows_in(partial_path(path)):
            assert program.poll() is None
            time.sleep(0.1)
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        _, said = program.communicate(timeout=60)

    assert program.returncode == 3
    assert said.splitlines()[-2:] == [
        f"silosim: the finished rounds are in {path}.partial",
        f"silosim: error: {path}.partial cannot be written: File too large",
    ]
    assert "Traceback" not in said
    assert rows_in(partial_path(path)) > 0


def test_numbers_are_with_the_system_once_they_are_written(tmp_path):
    """A buffer would be written where a dataset is closed, which can report no error."""
    with new_file(tmp_path / "x.h5", size_bytes=1) as file:
        file["values"] = np.zeros(1000)
        file.flush()
        values = file["values"]
        values[5] = np.pi
        assert np.pi in np.fromfile(
            partial_path(tmp_path / "x.h5"), dtype="f8", offset=values.id.get_offset()
        )


@pytest.mark.parametrize(
    "content", ["schema only", "a group for a dataset", "cut off", "no HDF5", "another schema"]
)
def test_what_is_no_whole_file_of_a_run_is_one_input_error(tmp_path, run_file, content):
    path = tmp_path / "x.h5"
    path.write_bytes(run_file.read_bytes())
    if content == "cut off":
        path.write_bytes(run_file.read_bytes()[:5000])
    elif content == "no HDF5":
        path.write_bytes(bytes(range(256)))
    else:
        with edited(path) as file:
            if content == "schema only":
                for name in list(file):
                    del file[name]
                for name in set(file.attrs) - {"schema"}:
                    del file.attrs[name]
            elif content == "another schema":
                file.attrs["schema"] = "silosim-run/0"
            else:
                del file["overlays/ring/arcs"]
                file.create_group("overlays/ring/arcs")
    with pytest.raises(InputError) as caught:
        read_run(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_write_that_fails_is_one_line(tmp_path):
    def broken(problem):
        def write(_file):
            raise problem

        return reports_full_disk(write)

    with h5py.File(tmp_path / "run.h5", "w") as file:
        for problem, reason in (
            (OSError(28, "words"), "No space left on device"),
            (RuntimeError("unable to write\nmore"), "unable to write"),
            (
                RuntimeError("unable to flush (time = Mon\n, errno = 27, error message = 'x')"),
                "File too large",
            ),
        ):
            with pytest.raises(MachineError) as caught:
                broken(problem)(file)
            assert str(caught.value) == f"{tmp_path / 'run.h5'} cannot be written: {reason}"


def test_space_is_taken_before_a_file_is_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with (tmp_path / "run.h5").open("wb") as file:
        _check_space(file.fileno(), tmp_path / "run.h5", 5)
        assert (tmp_path / "run.h5").stat().st_size == 0
        monkeypatch.setattr("os.posix_fallocate", full)
        with pytest.raises(MachineError) as caught:
            _check_space(file.fileno(), tmp_path / "run.h5", 5)
    expected = f"{tmp_path / 'run.h5'} cannot be written: No space left on device (5 bytes are needed)."
    assert str(caught.value) == expected
