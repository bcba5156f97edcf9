"""No estimate is pulled by the end of its job, where silos that end first leave their links to the others."""

import json

import numpy as np
import pytest
from edited_run import edited

from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.runfile.reader import read_run
from scenarios.simulation.cycle_time import simulated_cycle_time
from scenarios.simulation.runner import job_of, run_job
from scenarios.simulation.windows import estimate_window
from scenarios.validation.terms import Terms
from simulator import Lognormal, simulate
from simulator.statistics.confidence import BATCHES
from topologies import AccessLinks, Workload, connectivity, design, load_underlay
from topologies.statistics import correlated_batch_means

pytestmark = pytest.mark.usefixtures("compiled_simulations")

ROUNDS = 900
NOTE = "most rounds start after a silo has ended the job"


@pytest.fixture(scope="module")
def tree():
    """GEANT's tree behind slow access links, whose silos at the rim end a job rounds before the others."""
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    return design("mst", graph, Workload.preset("inaturalist"))


@pytest.fixture(scope="module")
def both(tree):
    """A job of some rounds, and one of more on the same computing times."""
    compute = Lognormal(mean_s=tree.compute_s, cv=0.3, seed=3)
    return [
        simulate(tree, rounds, compute=compute, engine="compiled", messages=True)
        for rounds in (ROUNDS, ROUNDS + 100)
    ]


def test_the_end_changes_the_last_rounds(both):
    short_s, long_s = (timeline.round_start_s for timeline in both)

    assert (short_s[-1] < long_s[ROUNDS] - 1e-3).any()


def test_what_a_job_settles_at_is_that_of_a_longer_one_over_the_same_rounds(both):
    short, long = both
    silos = np.arange(40)
    simulated = simulated_cycle_time(short, silos)
    end = simulated.first_round + simulated.rounds
    mean_s = long.round_start_s[: end + 1].mean(axis=1)
    interval = correlated_batch_means(np.diff(mean_s[simulated.first_round :]), batches=BATCHES)

    assert ROUNDS - 40 <= end < ROUNDS
    assert simulated.cycle_time_s == pytest.approx(interval.mean, rel=1e-9)
    assert simulated.half_width_s == pytest.approx(interval.half_width, rel=1e-6)
    assert not simulated.counts_disturbed


def test_the_parts_of_an_arc_are_those_of_a_longer_job(tree, both):
    short, long = both
    simulated = simulated_cycle_time(short, np.arange(40))
    compute = Lognormal(mean_s=tree.compute_s, cv=0.3, seed=3)
    found, expected = (
        Terms.of(tree, timeline, compute, simulated.first_round, simulated.rounds, fifo=True)
        for timeline in (short, long)
    )

    for name in Terms.__slots__:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rounds", [60, ROUNDS])
def test_the_rounds_of_an_estimate_are_those_of_a_longer_job(tree, rounds):
    config = SimulationConfig(compute=ComputeConfig(distribution="lognormal", cv=0.3))
    outcome = run_job(job_of(tree, config, rounds=rounds, seed=3), "mst")
    longer = run_job(job_of(tree, config, rounds=rounds + 100, seed=3), "mst")
    window = estimate_window(outcome)

    assert not outcome.counts_disturbed
    assert window.last_round < rounds - 1
    np.testing.assert_allclose(
        outcome.last_start_s[: window.last_round + 2], longer.last_start_s[: window.last_round + 2], rtol=1e-9
    )


@pytest.mark.parametrize(
    ("rounds", "more", "is_said"),
    [(40, (), True), (400, (), False), (40, ("--sharing", "equal"), False)],
)
def test_an_estimate_of_too_few_rounds_says_so(silosim, rounds, more, is_said):
    # A model takes 40 rounds around this ring, so that the silos behind the slow one are far ahead of it.
    command = ["simulate", "geant", "--kind", "ring", "--access-at", "DE=10 Mbps", "--rounds", rounds, *more]
    out = silosim(*command).ok().out

    assert (NOTE in " ".join(out.split())) == is_said


def test_validate_says_so_too(silosim):
    command = ["validate", "ebone", "--kind", "ring", "--access-at", "London 291=10 Mbps", "--rounds", 100]

    assert NOTE in " ".join(silosim(*command).ok().out.split())


def test_a_file_that_lacks_its_cycle_time_only(silosim, tmp_path):
    path = tmp_path / "x.h5"
    command = ["simulate", "geant", "--kind", "mst", "--access", "100 Mbps", "--rounds", 60, "-o", path]
    row = json.loads(silosim(*command, "--compute-times", "lognormal 0.3", "--json").ok().out)["rows"][0]
    with edited(path) as file:
        last_s = file["simulation/mst/round_start_s"][:].max(axis=1)
        end_s = file["simulation/mst/round_start_s"][-1].min()
        file["simulation/mst"].attrs.modify("cycle_time_s", np.nan)
    simulation = read_run(path).overlays[0].simulation
    kept = int(np.sum(last_s <= end_s))
    half_s = last_s[(kept - 1) // 2 : kept]

    assert kept < 60
    assert simulation.cycle_time_s == pytest.approx((half_s[-1] - half_s[0]) / (len(half_s) - 1), rel=1e-12)
    assert simulation.cycle_time_s == pytest.approx(row["simulated_s"], rel=1e-12)
