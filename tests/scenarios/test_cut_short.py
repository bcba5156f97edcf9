"""What Ctrl-C leaves of a run's file, and what is read from it."""

import os
import signal

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.runfile import simulated_rounds as simulated
from scenarios.runfile.atomic import new_file
from scenarios.runfile.paths import partial_path
from scenarios.runfile.reader import SimulationRecord, read_run
from scenarios.runfile.simulated_rounds import allocate
from simulator import overlay_job
from simulator.statistics.confidence import cycle_time_interval
from topologies import AccessLinks, Workload, connectivity, design, load_underlay

pytestmark = pytest.mark.usefixtures("terminal_signals")


@pytest.mark.parametrize(("rounds", "kept"), [(0, False), (7, True)])
@pytest.mark.parametrize("trained", [False, True])
def test_after_ctrl_c_only_a_file_without_any_round_is_deleted(tmp_path, rounds, kept, trained):
    path = tmp_path / "x.h5"

    def simulate() -> None:
        with new_file(path, size_bytes=1) as file:
            file.create_group("simulation/ring").attrs["rounds"] = rounds
            file.create_group("simulation/complete")
            if trained:
                file["training/ring/round"] = np.array([-1, -1])
                file.create_group("training/complete")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate()

    assert partial_path(path).exists() == kept


def test_ctrl_c_while_a_file_is_made_leaves_none(tmp_path, monkeypatch):
    path = tmp_path / "x.h5"

    def press(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scenarios.runfile.atomic._check_space", press)
    with pytest.raises(KeyboardInterrupt), new_file(path, size_bytes=1):
        pytest.fail("the file was made")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("made", [1, 2, 4])
def test_ctrl_c_while_an_overlay_is_allocated_waits_for_its_piece(tmp_path, monkeypatch, made):
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    job = overlay_job(design("ring", graph, Workload(model_bits=1e6, compute_s=0.01)), 100)
    make, names = simulated.make_dataset, []

    def make_and_press(group, name, *arguments) -> None:
        names.append(name)
        if len(names) == made:
            os.kill(os.getpid(), signal.SIGINT)
        make(group, name, *arguments)

    monkeypatch.setattr(simulated, "make_dataset", make_and_press)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        with pytest.raises(KeyboardInterrupt):
            allocate(file, "ring", job, messages=True)

        assert len(names) == made
        group = file["simulation/ring"]
        assert (group.attrs["rounds"], group.attrs["sharing"]) == (0, job.sharing.name)
        assert np.isnan(group.attrs["cycle_time_s"])


def test_a_simulation_without_attributes_holds_nothing(tmp_path, run_file):
    path = tmp_path / "x.h5"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        del file["simulation/ring"]
        file.create_group("simulation/ring")
        del file["training/ring"]
    star, ring = read_run(path).overlays

    assert star.simulation.is_whole
    assert ring.simulation == SimulationRecord(
        rounds=0, is_whole=False, cycle_time_s=None, half_width_s=None, is_exact=False, has_absences=False
    )


@pytest.mark.parametrize(("rounds", "cycle_time_s"), [(0, None), (1, None), (2, 1.0), (3, 1.0), (20, 2.5)])
def test_the_rounds_of_a_simulation_that_was_cut_short_give_an_estimate(
    tmp_path, monkeypatch, run_file, rounds, cycle_time_s
):
    monkeypatch.setattr("scenarios.runfile.reader._PIECE", 55)
    path = tmp_path / "x.h5"
    path.write_bytes(run_file.read_bytes())
    with edited(path) as file:
        group = file["simulation/ring"]
        starts, silos = group["round_start_s"].shape
        # A second a round for five rounds, then two and a half.
        first_s = np.cumsum([0.0] + [1.0] * 5 + [2.5] * (starts - 6))
        first_s[rounds:] = np.nan
        group["round_start_s"][...] = first_s[:, None] + np.arange(silos) / 8
        group.attrs.modify("rounds", rounds)
        group.attrs.modify("cycle_time_s", np.nan)
    simulation = read_run(path).overlays[1].simulation

    assert simulation == SimulationRecord(
        rounds=rounds,
        is_whole=False,
        cycle_time_s=cycle_time_s,
        half_width_s=None,
        is_exact=False,
        engine="simpy",
        has_absences=False,
    )


def test_the_rounds_of_a_long_simulation_that_was_cut_short_give_an_interval(tmp_path, run_file):
    path = tmp_path / "x.h5"
    path.write_bytes(run_file.read_bytes())
    growth_s = np.random.default_rng(3).exponential(0.5, 2000)
    with edited(path) as file:
        group = file["simulation/ring"]
        silos, arcs = group["round_start_s"].shape[1], group["arrival_s"].shape[1]
        del group["round_start_s"], group["arrival_s"]
        start_s = np.append(np.cumsum(growth_s), [np.nan, np.nan])
        group["round_start_s"] = np.repeat(start_s[:, None], silos, axis=1)
        group["arrival_s"] = np.full((2001, arcs), np.nan)
        group.attrs.modify("rounds", 2000)
        group.attrs.modify("cycle_time_s", np.nan)
    simulation = read_run(path).overlays[1].simulation
    expected = cycle_time_interval(np.cumsum(growth_s), silos=silos)

    assert expected is not None
    assert simulation.cycle_time_s == pytest.approx(expected.mean, rel=1e-12)
    assert simulation.half_width_s == pytest.approx(expected.half_width, rel=1e-9)
