"""The workload that the head of a run's file holds is the one that it was written with."""

import h5py
import numpy as np
import pytest

from scenarios.config.network import NetworkConfig
from scenarios.runfile.reader import _read_workload, read_run
from scenarios.runfile.writer import RunHead, write_head
from topologies import Workload
from topologies.participation import Participation

OPTIONS = (
    {},
    {"message_share": 0.25, "name": "compressed"},
    {"overlap": 2 / 3},
    {"participation": Participation(count=4)},
    {"participation": Participation(share=0.5)},
    {"compute_s": np.linspace(0.01, 0.02, 11)},
    {"local_steps": np.arange(1, 12)},
    {"local_steps": 7},
)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "plain")
def test_a_workload_is_read_back(graph, options):
    work = Workload(**{"model_bits": 1e6, "compute_s": 0.01} | options)
    head = RunHead(scenario="", network=NetworkConfig(underlay="gaia"), seed=3, graph=graph, work=work)
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        write_head(file, head)
        found = _read_workload(file["workload"])
        assert ("message_share" in file["workload"].attrs) == ("message_share" in options)
        assert (file.attrs["seed"], file.attrs["is_replay"]) == (3, False)

    assert (found.model_bits, found.name) == (work.model_bits, work.name)
    assert (found.overlap, found.message_share) == (work.overlap, work.message_share)
    assert found.participation == work.participation
    assert np.array_equal(found.compute_s, work.compute_s)
    assert np.array_equal(found.local_steps, work.local_steps)


@pytest.mark.parametrize("hub", [0, 10])
def test_the_hub_is_read_back_where_it_is_the_first_silo_too(silosim, tmp_path, graph, hub):
    silosim(
        *("simulate", "gaia", "--kind", "star", "--hub", graph.labels[hub], "--rounds", 2),
        *("-o", tmp_path / "x.h5"),
    ).ok()
    (overlay,) = read_run(tmp_path / "x.h5").overlays
    assert overlay.hub == hub
