"""The file of a run, from its head to the last row, and the loop that advances its simulations."""

from math import isnan

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.paths import partial_path
from scenarios.runfile.reader import read_run
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.simulation.blocks import simulate_blocks
from scenarios.simulation.runner import run_job
from simulator import overlay_job
from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay

ROUNDS = 40
GRAPH = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
WORK = Workload(model_bits=1e6, compute_s=0.01)
HEAD = RunHead(scenario='name = "x"', network=NetworkConfig(underlay="gaia"), seed=5, graph=GRAPH, work=WORK)


@pytest.fixture
def simulations():
    overlays = [design(kind, GRAPH, WORK) for kind in ("star", "ring")]
    return [(overlay, overlay_job(overlay, ROUNDS)) for overlay in overlays]


def test_what_is_written_is_read_again(tmp_path, simulations):
    path = tmp_path / "x.h5"
    history = {"round": [0, 10, 40], "train_loss": [3.0, 2.0, 1.0]}
    with RunFile.create(
        path, HEAD, simulations, settings=SimulationConfig(), rows={"ring": 3}, force=False
    ) as file:
        starts_s = {}
        for overlay, job in simulations:
            outcome = run_job(job, overlay.kind, writer=file.simulation(overlay.kind))
            starts_s[overlay.kind] = outcome.last_start_s
        file.write_history("ring", history, starts_s["ring"])
        assert partial_path(path).exists()
        assert not path.exists()
    record = read_run(path)
    star, ring = record.overlays

    assert (record.scenario, record.network) == (HEAD.scenario, HEAD.network)
    assert record.silo_labels == GRAPH.labels
    assert record.work.model_bits == WORK.model_bits
    assert (star.kind, ring.kind) == ("star", "ring")
    assert [one.simulation.rounds for one in record.overlays] == [ROUNDS, ROUNDS]
    assert star.history == {}
    assert ring.history["train_loss"].tolist() == history["train_loss"]
    assert np.isnan(ring.history["test_loss"]).all()
    assert ring.wall_clock_s.tolist() == starts_s["ring"][[0, 10, 40]].tolist()


def test_everything_is_allocated_before_the_first_simulation(tmp_path, simulations):
    with RunFile.create(
        tmp_path / "x.h5",
        HEAD,
        simulations,
        settings=SimulationConfig(messages=True),
        rows={"star": 7},
        force=False,
    ) as file:
        stored = file._file
        assert stored["training/star/round"][:].tolist() == [-1] * 7
        assert "ring" not in stored["training"]
        for kind in ("star", "ring"):
            assert stored[f"simulation/{kind}/round_start_s"].shape == (ROUNDS + 1, 11)
            assert "bound_link" in stored[f"simulation/{kind}"]
            assert isnan(stored[f"simulation/{kind}"].attrs["cycle_time_s"])


def test_a_file_without_rounds_is_removed_after_an_error(tmp_path, simulations):
    with (
        pytest.raises(InputError, match="wrong"),
        RunFile.create(tmp_path / "x.h5", HEAD, simulations, settings=SimulationConfig(), force=False),
    ):
        raise InputError("wrong")

    assert not list(tmp_path.iterdir())


def test_blocks_are_handed_over_in_order_until_they_are_enough(simulations):
    _, job = simulations[1]
    taken = []

    def take(progress):
        taken.append((progress.block.first_round, progress.rounds))
        return progress.rounds >= 12

    end = simulate_blocks(job, take, title="", block_messages=5 * len(job.arcs))

    assert taken == [(0, 5), (5, 10), (10, 15)]
    assert (end.rounds, end.messages) == (15, 15 * len(job.arcs))
    assert end.wall_s > 0


def test_without_a_stop_all_rounds_are_simulated(simulations):
    _, job = simulations[0]

    assert simulate_blocks(job, lambda _: False, title="", block_messages=1).rounds == ROUNDS
