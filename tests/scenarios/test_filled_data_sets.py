"""Data sets that are filled piece by piece, and the largest part that models take of a link."""

from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.config.simulation import SimulationConfig
from scenarios.runfile import simulated_rounds
from scenarios.validation.randomized import _busiest
from topologies import Workload, design_random


@pytest.mark.parametrize("piece", [1, 6, 7, 2**20])
@pytest.mark.parametrize("shape", [(0, 3), (1,), (5,), (5, 3), (4, 3, 2), (5, 0)])
@pytest.mark.parametrize(("dtype", "fill"), [(np.float64, np.nan), (np.int64, -1)])
def test_every_number_is_filled(monkeypatch, piece, shape, dtype, fill):
    monkeypatch.setattr(simulated_rounds, "_PIECE", piece)
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        simulated_rounds.make_dataset(file, "x", shape, dtype, fill)
        assert (file["x"].shape, file["x"].dtype) == (shape, dtype)
        assert np.array_equal(file["x"][:], np.full(shape, fill), equal_nan=dtype == np.float64)


@pytest.mark.parametrize(
    ("bits", "until_s", "link", "busy"),
    [
        ({}, 2.0, "", 0.0),
        ({3: 1e9}, 2.0, "uplink", 0.5),
        ({3: 1e9, 4: 1.2e9}, 4.0, "uplink", 0.3),
        ({3: 1e9}, 0.0, "", 0.0),
    ],
)
def test_the_busiest_link_is_that_with_the_largest_part_taken(graph, bits, until_s, link, busy):
    overlay = design_random("matcha", graph, Workload(model_bits=1e6, compute_s=0.01))
    link_bits = np.zeros(len(graph.link_capacity_bps))
    for silo, number in bits.items():
        link_bits[graph.uplink(silo)] = number
    timeline = SimpleNamespace(round_start_s=np.full((2, graph.silos), until_s), link_bits=link_bits)

    place, part = _busiest(overlay, SimulationConfig(), timeline)

    assert part == pytest.approx(busy, rel=1e-12)
    assert place == (f"{graph.labels[max(bits)]}'s {link}" if link else "")
