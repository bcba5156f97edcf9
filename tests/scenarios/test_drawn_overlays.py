"""Randomized overlays: simulated, trained and swept on one schedule."""

import json

import h5py
import numpy as np
import pytest

from scenarios.runfile.reader import read_run
from scenarios.studies.run import mixing_plan
from simulator import overlay_job
from topologies import (
    AccessLinks,
    Workload,
    connectivity,
    design,
    design_random,
    load_underlay,
    make_schedule,
)


@pytest.fixture(scope="module")
def matcha():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    return design_random("matcha_ring", graph, Workload(model_bits=1e6, compute_s=0.01))


def test_training_mixes_each_round_over_the_arcs_that_are_simulated(matcha):
    plan, schedule = mixing_plan(matcha, 40, 7), make_schedule(matcha, 7, 40)
    job = overlay_job(matcha, 40, seed=7)

    assert len(plan.index) == 40
    for k in range(40):
        matrix = plan.matrices[plan.index[k]]
        simulated = {(job.arcs[arc].target, job.arcs[arc].source) for arc in job.plan.active(k).tolist()}
        mixed = {(i, j) for i, j in np.argwhere(matrix).tolist() if i != j}
        assert mixed == simulated
        assert np.array_equal(matrix, schedule.consensus(k))


def test_overlays_that_stay_mix_with_one_matrix(matcha):
    ring = design("ring", matcha.graph, matcha.work)
    plan = mixing_plan(ring, 5, 7)

    assert plan.index.tolist() == [0] * 5
    assert np.array_equal(plan.matrices[0], ring.consensus)


def test_a_run_holds_them(silosim, tmp_path, scenario, small_scenario):
    path = tmp_path / "x.h5"
    scenario.write_text(small_scenario.replace('["star", "ring"]', '["matcha_ring", "ring"]'))
    result = silosim("run", scenario, "-o", path)
    drawn, ring = read_run(path).overlays

    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert drawn.consensus is None
    assert ring.consensus.shape == (11, 11)
    assert drawn.history["round"].tolist() == [0, 5, 10, 12]
    with h5py.File(path) as file:
        assert file["overlays/matcha_ring"].attrs["drawn"]
        assert not file["overlays/ring"].attrs["drawn"]
        arrival_s = file["simulation/matcha_ring/arrival_s"][:]
        assert arrival_s.shape == (30, len(drawn.arcs))
        assert 0 < np.isnan(arrival_s).mean() < 1


@pytest.mark.usefixtures("placeholder_figures")
def test_a_sweep_takes_them(silosim, tmp_path):
    stem = tmp_path / "sweep"
    options = ["--kind", "random_ring", "--kind", "ring", "--rounds", 20, "-o", stem, "--json"]
    rows = json.loads(silosim("sweep", "gaia", "--access", "1 Gbps", *options).ok().out)["rows"]

    assert [row["overlay"] for row in rows] == ["random_ring", "ring"]
    assert rows[0]["serialized_s"] is None
    assert rows[0]["simulated_s"] > 0
    assert not rows[0]["simulated_is_exact"]
