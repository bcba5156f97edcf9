"""The whole path of a run, in this process and on MPI ranks: one file, joined on the round; interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.reader import read_run
from scenarios.studies.run import run_scenario
from topologies import InputError
from training.mpi_environment import World

SILOSIM = Path(sys.executable).parent / "silosim"
MPIEXEC = Path(sys.executable).parent / "mpiexec"


def test_the_file_holds_every_part(run_file, small_scenario):
    with h5py.File(run_file) as file:
        assert file.attrs["scenario"] == small_scenario
        assert file.attrs["seed"] == 3
        assert len(file.attrs["graph_sha256"]) == 64
        assert file["underlay/labels"].asstr()[0] == "California"
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
    rows = {row["overlay"]: row for row in json.loads(silosim("show", run_file, "--json").ok().out)["rows"]}
    star = read_run(run_file).overlays[0]
    first = int(np.argmax(star.history["test_accuracy"] >= 0.3))

    assert star.history["test_accuracy"][first] >= 0.3
    assert rows["star"]["rounds_to_target"] == star.history["round"][first]
    assert rows["star"]["time_to_target_s"] == star.wall_clock_s[first]
    assert rows["ring"]["speedup"] == pytest.approx(
        star.wall_clock_s[first] / rows["ring"]["time_to_target_s"]
    )


def test_a_target_that_is_never_reached_is_a_dash(silosim, tmp_path, scenario, small_scenario):
    scenario.write_text(small_scenario.replace("target_accuracy = 0.3", "target_accuracy = 1.0"))
    result = silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    rows = json.loads(silosim("show", tmp_path / "run.h5", "--json").ok().out)["rows"]

    assert all(row["rounds_to_target"] is None and row["speedup"] is None for row in rows)
    assert result.out.count(" - ") >= 4
    assert max(map(len, result.out.splitlines())) <= 80


def test_an_existing_file_is_kept_unless_forced(silosim, scenario, tmp_path):
    path = tmp_path / "old.h5"
    path.write_text("old")
    refused = silosim("run", scenario, "-o", path)

    assert refused.code == 2
    assert "--force" in refused.err
    assert path.read_text() == "old"
    silosim("run", scenario, "-o", path, "--force", "--json").ok()
    assert len(read_run(path).overlays) == 2


def test_a_missing_mpiexec_is_one_line_and_exit_code_3(silosim, tmp_path, scenario_of_two_ranks, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    result = silosim("run", scenario_of_two_ranks, "-o", tmp_path / "x.h5")

    assert result.code == 3
    assert result.err.count("\n") == 1
    assert "mpiexec" in result.err
    assert sorted(tmp_path.iterdir()) == [scenario_of_two_ranks]


@pytest.mark.slow
def test_a_failing_rank_ends_the_job_with_its_traceback_and_code_1(tmp_path, scenario_of_two_ranks):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "if os.environ.get('PMI_RANK') == '1':\n"
        "    import training.engine.rank_silos\n"
        "    def broken(*args, **kwargs):\n"
        "        pathlib.Path(__file__).with_name('broke').touch()\n"
        "        raise RuntimeError('rank 1 broke')\n"
        "    training.engine.rank_silos.RankSilos.mix = broken\n"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    }
    began_s = time.time()
    done = subprocess.run(
        [SILOSIM, "run", scenario_of_two_ranks, "-o", tmp_path / "x.h5"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )

    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "rank 1 broke" in done.stderr
    # Sooner than processes start and import torch: how long that takes on a busy machine, it says itself.
    broke_s = (tmp_path / "broke").stat().st_mtime
    assert time.time() - broke_s < broke_s - began_s
    assert not (tmp_path / "x.h5").exists()


def wait_for_rows(path: Path, kind: str, timeout_s: float = 60) -> None:
    """Wait until a run that is being written has flushed rows of this overlay's training."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        try:
            with h5py.File(path, "r", locking=False) as file:
                if np.count_nonzero(file[f"training/{kind}/round"][:] >= 0) > 20:
                    return
        except (OSError, KeyError, RuntimeError):
            pass
        time.sleep(0.05)
    pytest.fail("no rows were flushed in time")


@pytest.mark.slow
def test_a_killed_run_leaves_a_file_that_opens_with_every_flushed_round(
    tmp_path, scenario, small_scenario, silosim
):
    text = small_scenario.replace("ranks = 1", "ranks = 2").replace("rounds = 12", "rounds = 20000")
    scenario.write_text(text.replace("log_every = 5", 'log_every = 1\nexecutor = "loop"'))
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
    silosim("show", tmp_path / "x.h5.partial").ok()
    assert not (tmp_path / "x.h5").exists()


def test_the_first_of_several_processes_checks_and_the_others_take_part(
    monkeypatch, tmp_path, small_scenario
):
    path, taken = tmp_path / "x.h5", []
    path.write_bytes(b"mine")
    plan = SimpleNamespace(
        trainings=("a", "b"), overlays=(SimpleNamespace(kind="star"), SimpleNamespace(kind="ring"))
    )
    monkeypatch.setattr("scenarios.studies.run.plan_run", lambda *_: plan)
    monkeypatch.setattr("scenarios.studies.run.check_checkpoints", lambda *_: None)
    monkeypatch.setattr("scenarios.studies.run.take_part", lambda *given: taken.append(given))
    scenario = parse_scenario(small_scenario, source="small.toml")
    for place in (World(rank=1, size=3), World(rank=2, size=3)):
        monkeypatch.setattr("scenarios.studies.run.world", lambda place=place: place)
        run_scenario(scenario, small_scenario, path, force=False, resume=False)
    assert taken == [(("a", "b"), ["star", "ring"])] * 2
    for place in (World(rank=0, size=3), None):
        monkeypatch.setattr("scenarios.studies.run.world", lambda place=place: place)
        with pytest.raises(InputError, match=r"x\.h5 exists already; --force replaces it\.$"):
            run_scenario(scenario, small_scenario, path, force=False, resume=False)
        # It is the one that writes.
        plan.graph = None
        with pytest.raises(AttributeError, match="work"):
            run_scenario(scenario, small_scenario, tmp_path / "new.h5", force=False, resume=False)
    assert len(taken) == 2
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == b"mine"
