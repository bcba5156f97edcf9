"""The whole path on MPI ranks: one file, joined on the round; replayed, plotted, interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.config import parse_scenario
from scenarios.record import read_run
from scenarios.studies.run import run_scenario
from topologies import AccessLinks, Workload, build_overlay, connectivity, load_underlay

SILOSIM = Path(sys.executable).parent / "silosim"
MPIEXEC = Path(sys.executable).parent / "mpiexec"


@pytest.fixture
def scenario(tmp_path, small_scenario) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(small_scenario)
    return path


@pytest.fixture(scope="module")
def run_file(tmp_path_factory, small_scenario) -> Path:
    path = tmp_path_factory.mktemp("run") / "small.h5"
    run_scenario(parse_scenario(small_scenario, source="small.toml"), small_scenario, path)
    return path


def test_the_file_holds_every_part(run_file, small_scenario):
    with h5py.File(run_file) as file:
        assert file.attrs["scenario"] == small_scenario
        assert file.attrs["seed"] == 3
        assert len(file.attrs["graph_sha256"]) == 64
        assert file["underlay/labels"].asstr()[0] == "Virginia"
        for kind, arcs in (("star", 20), ("ring", 11)):
            assert file[f"overlays/{kind}/arcs"].shape == (arcs, 3)
            assert file[f"overlays/{kind}/delay_s"].shape == (arcs,)
            assert np.allclose(file[f"overlays/{kind}/consensus"][:].sum(axis=1), 1)
            assert file[f"simulation/{kind}/round_start_s"].shape == (31, 11)
            assert file[f"simulation/{kind}/arrival_s"].shape == (30, arcs)
            assert file[f"training/{kind}/round"][:].tolist() == [0, 5, 10, 12]
            assert file[f"training/{kind}/silo_loss"].shape == (4, 11)


def test_metrics_of_round_k_hold_when_the_last_silo_starts_it(run_file):
    with h5py.File(run_file) as file:
        for kind in ("star", "ring"):
            expected = file[f"simulation/{kind}/round_start_s"][:].max(axis=1)[[0, 5, 10, 12]]
            assert np.array_equal(file[f"replay/{kind}/wall_clock_s"][:], expected)


def test_the_table_gives_rounds_and_seconds_to_the_target(silosim, run_file):
    rows = {row["overlay"]: row for row in json.loads(silosim("show", run_file, "--json").out)["rows"]}
    star = read_run(run_file).overlays[0]
    first = int(np.argmax(star.history["test_accuracy"] >= 0.3))

    assert star.history["test_accuracy"][first] >= 0.3
    assert rows["star"]["rounds_to_target"] == star.history["round"][first]
    assert rows["star"]["seconds_to_target"] == star.wall_clock_s[first]
    assert rows["ring"]["speedup"] == pytest.approx(
        star.wall_clock_s[first] / rows["ring"]["seconds_to_target"]
    )


def test_a_target_that_is_never_reached_is_a_dash(silosim, tmp_path, scenario, small_scenario):
    scenario.write_text(small_scenario.replace("target_accuracy = 0.3", "target_accuracy = 1.0"))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5")
    rows = json.loads(silosim("show", tmp_path / "run.h5", "--json").out)["rows"]

    assert all(row["rounds_to_target"] is None and row["speedup"] is None for row in rows)
    assert result.out.count(" - ") >= 4
    assert max(map(len, result.out.splitlines())) <= 80


def test_a_replay_keeps_training_and_arcs_and_takes_the_new_times(silosim, run_file, tmp_path):
    result = silosim("replay", run_file, "--access", "10 Mbps", "-o", tmp_path / "slow.h5", "--json")
    before, after = read_run(run_file), read_run(tmp_path / "slow.h5")

    assert result.code == 0
    assert (tmp_path / "slow.png").exists()
    for old, new in zip(before.overlays, after.overlays, strict=True):
        assert np.array_equal(old.arcs, new.arcs)
        assert all(np.array_equal(old.history[name], new.history[name]) for name in old.history)
        assert new.wall_clock_s[-1] > old.wall_clock_s[-1]
        assert new.wall_clock_s[0] == 0
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e7, down_bps=1e7))
    work = Workload(model_bits=32 * 650, compute_s=0.01)
    ring = build_overlay("ring", graph, work, after.overlays[1].arcs[:, :2])
    assert after.overlays[1].closed_forms.paper_s == ring.closed_forms.paper_s


def test_a_replay_on_the_same_network_changes_nothing(silosim, run_file, tmp_path):
    silosim("replay", run_file, "-o", tmp_path / "same.h5")

    for old, new in zip(read_run(run_file).overlays, read_run(tmp_path / "same.h5").overlays, strict=True):
        assert np.array_equal(old.wall_clock_s, new.wall_clock_s)
        assert old.closed_forms == new.closed_forms


def test_a_replay_can_be_replayed_and_needs_as_many_silos(silosim, run_file, tmp_path):
    silosim("replay", run_file, "--access", "10 Mbps", "-o", tmp_path / "a.h5")
    silosim("replay", tmp_path / "a.h5", "--core", "50 Mbps", "-o", tmp_path / "b.h5")
    other = silosim("replay", run_file, "--underlay", "geant", "-o", tmp_path / "c.h5")

    assert json.loads(read_run(tmp_path / "b.h5").network_changes) == {"access": "10 Mbps", "core": "50 Mbps"}
    assert other.code == 2
    assert "geant has 40 silos, but the run has 11" in other.err
    assert not list(tmp_path.glob("c.h5*"))


def test_an_existing_file_is_kept_unless_forced(silosim, scenario, tmp_path):
    path = tmp_path / "old.h5"
    path.write_text("old")
    refused = silosim("run", scenario, "-o", path)

    assert refused.code == 2
    assert "--force" in refused.err
    assert path.read_text() == "old"
    assert silosim("run", scenario, "-o", path, "--force", "--json").code == 0
    assert len(read_run(path).overlays) == 2


def test_under_mpiexec_the_given_ranks_train_and_give_the_same_file(tmp_path, scenario, run_file):
    by_hand = tmp_path / "by_hand.h5"
    done = subprocess.run(
        [MPIEXEC, "-n", "3", SILOSIM, "run", scenario, "-o", by_hand],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("overlay ") == 1
    for ours, theirs in zip(read_run(run_file).overlays, read_run(by_hand).overlays, strict=True):
        assert np.array_equal(ours.wall_clock_s, theirs.wall_clock_s)
        assert ours.history["train_loss"] == pytest.approx(theirs.history["train_loss"], rel=1e-5)


def test_another_mpis_launcher_is_one_line_and_exit_code_3(tmp_path, scenario):
    # Open MPI's mpiexec tells its processes their number in variables that MPICH does not read.
    environment = os.environ | {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    done = subprocess.run(
        [SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )

    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "another MPI" in done.stderr
    assert sorted(tmp_path.iterdir()) == [scenario]


def test_a_missing_mpiexec_is_one_line_and_exit_code_3(silosim, tmp_path, scenario, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    result = silosim("run", scenario, "-o", tmp_path / "x.h5")

    assert result.code == 3
    assert result.err.count("\n") == 1
    assert "mpiexec" in result.err
    assert sorted(tmp_path.iterdir()) == [scenario]


def test_a_failing_rank_ends_the_job_with_its_traceback_and_code_1(tmp_path, scenario):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "if os.environ.get('PMI_RANK') == '1':\n"
        "    import training.hosted\n"
        "    def broken(*args, **kwargs):\n"
        "        pathlib.Path(__file__).with_name('broke').touch()\n"
        "        raise RuntimeError('rank 1 broke')\n"
        "    training.hosted.HostedSilos.mix = broken\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )

    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "rank 1 broke" in done.stderr
    assert time.time() - (tmp_path / "broke").stat().st_mtime < 5
    assert not (tmp_path / "x.h5").exists()


def wait_for_rows(path: Path, kind: str, timeout_s: float = 60) -> None:
    """Wait until a run that is being written has flushed rows of this overlay's training."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        try:
            with h5py.File(path, "r", locking=False) as file:
                if len(file.get(f"replay/{kind}/wall_clock_s", ())) > 20:
                    return
        except (OSError, RuntimeError):
            pass
        time.sleep(0.05)
    pytest.fail("no rows were flushed in time")


def test_a_killed_run_leaves_a_file_that_opens_with_every_flushed_round(
    tmp_path, scenario, small_scenario, silosim
):
    scenario.write_text(
        small_scenario.replace("rounds = 12", "rounds = 20000").replace("log_every = 5", "log_every = 1")
    )
    process = subprocess.Popen(
        [SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for_rows(tmp_path / "x.h5.partial", "star")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    star = read_run(tmp_path / "x.h5.partial").overlays[0]
    assert len(star.wall_clock_s) > 20
    assert star.history["round"].tolist() == list(range(len(star.wall_clock_s)))
    assert silosim("show", tmp_path / "x.h5.partial").code == 0
    assert not (tmp_path / "x.h5").exists()


def test_an_error_of_the_writer_under_mpiexec_ends_all_processes(tmp_path, scenario):
    (tmp_path / "x.h5").touch()
    done = subprocess.run(
        [MPIEXEC, "-n", "2", SILOSIM, "run", scenario, "-o", tmp_path / "x.h5"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert "--force replaces it" in done.stderr
    assert "Traceback" not in done.stderr
