"""`silosim simulate`: what it prints, and what it leaves in the file."""

import csv
import json
import tracemalloc
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import scenario_text
from scenarios.runfile.reader import read_run
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate
from scenarios.simulation.runner import job_of, run_job
from scenarios.studies.simulate import _cycle_time
from simulator import Lognormal, SteadyState, simulate
from topologies import AccessLinks, Workload, connectivity, design, design_random, load_underlay

pytestmark = pytest.mark.usefixtures("compiled_simulations")


@pytest.fixture(scope="module")
def graph():
    return connectivity(
        load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e9, down_bps=1e9)
    )


@pytest.fixture(scope="module")
def work():
    return Workload.preset("inaturalist")


def test_the_period_is_printed_as_a_fraction(silosim):
    result = silosim("simulate", "geant", "--published", "--kind", "ring", "--rounds", 200).ok()
    row = json.loads(silosim("simulate", "geant", "--published", "--kind", "ring", "--json").ok().out)[
        "rows"
    ][0]

    assert "85.97 ms = 3.439 s / 40 rounds" in result.out
    assert row["simulated_is_exact"]
    assert row["period_rounds"] == 40
    assert row["period_s"] / 40 == row["simulated_s"]
    assert row["simulated_half_width_s"] == 0
    assert max(map(len, result.out.splitlines())) <= 80
    assert result.err == ""


def test_an_estimate_has_an_interval_and_the_difference_is_paired(silosim, graph):
    command = ["simulate", "gaia", "--published", "--access", "1 Gbps", "--kind", "ring", "--kind", "mst"]
    command += ["--compute-times", "lognormal 0.5", "--rounds", 2000, "--seed", 7]
    out = silosim(*command).ok().out
    rows = json.loads(silosim(*command, "--json").ok().out)["rows"]

    assert out.count("+-") >= 3
    assert max(map(len, out.splitlines())) <= 80
    assert rows[0]["difference_s"] is None
    apart_s = rows[1]["simulated_s"] - rows[0]["simulated_s"]
    assert abs(rows[1]["difference_s"] - apart_s) < rows[1]["difference_half_width_s"]
    assert rows[1]["difference_half_width_s"] < sum(row["simulated_half_width_s"] for row in rows)
    overlay = design("ring", graph, Workload.preset("inaturalist", variant="published"))
    times = Lognormal(mean_s=overlay.compute_s, cv=0.5, seed=7)
    # The counted rounds end before a silo has ended the job, so that a longer job has the same dates there.
    start_s = simulate(overlay, 2200, compute=times).round_start_s.mean(axis=1)
    first, end = rows[0]["first_round"], rows[0]["last_round"] + 1
    assert 1480 <= end - first <= 1500
    assert rows[0]["simulated_s"] == pytest.approx((start_s[end] - start_s[first]) / (end - first), rel=1e-9)
    other_s = simulate(
        design("mst", graph, Workload.preset("inaturalist", variant="published")), 2200, compute=times
    ).round_start_s.mean(axis=1)
    first, end = rows[1]["difference_first_round"], rows[1]["difference_last_round"] + 1
    apart_s = (other_s[end] - start_s[end]) - (other_s[first] - start_s[first])
    assert rows[1]["difference_s"] == pytest.approx(apart_s / (end - first), rel=1e-9)


def test_a_narrow_interval_stops_early_and_the_file_says_where(silosim, tmp_path):
    path, table = tmp_path / "x.h5", tmp_path / "x.csv"
    result = silosim(
        *("simulate", "gaia", "--kind", "mst", "--compute-times", "exponential", "--until-ci", "5%"),
        *("-o", path, "-o", table),
    )
    (row,) = csv.DictReader(table.read_text().splitlines())

    assert result.code == 0
    assert str(path) in result.err
    assert float(row["simulated_half_width_s"]) <= 0.05 * float(row["simulated_s"])
    with h5py.File(path) as file:
        group = file["simulation/mst"]
        rounds = group.attrs["rounds"]
        assert rounds == int(row["rounds"]) < 100_000 == len(group["arrival_s"])
        assert np.all(np.isfinite(group["round_start_s"][:rounds]))
        assert np.isnan(group["round_start_s"][rounds:]).all()
        assert group.attrs["cycle_time_s"] == float(row["simulated_s"])
        assert group.attrs["half_width_s"] == float(row["simulated_half_width_s"])
        assert "start_s" not in group
    scenario = parse_scenario(read_run(path).scenario, source="x.h5")
    assert scenario.simulation.compute.distribution == "exponential"
    assert scenario.simulation.until_ci == "5%"
    silosim("show", path).ok()


@pytest.mark.parametrize("kind", ["ring", "star", "matcha_ring", "random_ring"])
def test_the_file_holds_the_timeline_of_the_simulator(tmp_path, graph, work, kind):
    drawn = kind in ("matcha_ring", "random_ring")
    overlay = (design_random if drawn else design)(kind, graph, work)
    job = job_of(overlay, SimulationConfig(messages=True), rounds=300, seed=5)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        allocate(file, kind, job, messages=True)
        outcome = run_job(job, kind, writer=SimulationWriter(file, kind))
        group = file[f"simulation/{kind}"]
        timeline = simulate(overlay, 300, messages=True, seed=5 if drawn else None)

        np.testing.assert_array_equal(group["round_start_s"][:], timeline.round_start_s)
        np.testing.assert_array_equal(group["arrival_s"][:], timeline.arrival_s)
        np.testing.assert_allclose(group["link_bits"][:], timeline.link_bits, rtol=1e-12)
        for name in ("start_s", "last_bit_s", "bound_link"):
            np.testing.assert_array_equal(group[name][:], getattr(timeline.messages, name))
        steady = timeline.steady
        assert group.attrs["rounds"] == outcome.rounds == 300
        assert group.attrs["cycle_time_is_exact"] == steady.is_exact
        assert group.attrs["cycle_time_s"] == steady.cycle_time_s
        assert group.attrs["period_rounds"] == (steady.period_rounds or -1)
        assert group.attrs["transient_rounds"] == (
            -1 if steady.transient_rounds is None else steady.transient_rounds
        )
    assert np.array_equal(outcome.last_start_s, timeline.round_start_s.max(axis=1))
    assert outcome.messages == np.count_nonzero(~np.isnan(timeline.arrival_s))


def test_memory_does_not_grow_with_the_rounds(tmp_path, graph, work):
    times = SimulationConfig(compute=parse_scenario(COMPUTE, source="x").simulation.compute)
    peaks = []
    for rounds in (2000, 8000):
        job = job_of(design("ring", graph, work), times, rounds=rounds, seed=0)
        with h5py.File(tmp_path / f"{rounds}.h5", "w") as file:
            tracemalloc.start()
            allocate(file, "ring", job, messages=False)
            run_job(job, "ring", writer=SimulationWriter(file, "ring"))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    # Of each round: 11 starts at the beginning of a run, as many NaNs when the file is made, two dates, and what the
    # interval takes. A record of the messages would be 44 numbers more.
    assert peaks[1] - peaks[0] < 6000 * 8 * (11 + 11 + 2 + 6)


COMPUTE = """
[network]
underlay = "gaia"
[simulation.compute]
distribution = "lognormal"
cv = 0.3
"""


def test_a_scenario_brings_its_own_network(silosim, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(f'seed = 3\n{COMPUTE}[workload]\npreset = "femnist"\n[overlays]\nkinds = ["mst"]\n')
    row = json.loads(silosim("simulate", path, "--rounds", 30, "--json").ok().out)["rows"][0]
    refused = silosim("simulate", path, "--access", "1 Gbps")

    assert (row["overlay"], row["rounds"], row["simulated_is_exact"]) == ("mst", 30, False)
    assert refused.code == 2
    assert refused.err.startswith("silosim: error: --access goes with the name of a network")
    assert "~" in silosim("simulate", path, "--rounds", 30).ok().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rounds", 0], r"rounds(=0) must be >= 1"),
        (["--sharing", "fair"], "sharing(='fair')"),
        (["--until-ci", "0.1"], "until_ci(='0.1') must be a share in percent"),
        (["--until-ci", "0 %"], "until_ci(='0 %') must be > 0 %"),
        (["--compute-times", "lognormal"], "compute_times(='lognormal') must be"),
        (["--compute-times", "lognormal -1"], "cv(=-1.0) must be finite and >= 0"),
        (["--compute-times", "none.csv"], "none.csv: cannot be read"),
        (["-o", "x.doc"], "output(='x.doc') must end in one of .h5, .hdf5, .csv, .json, .txt."),
        (["--kind", "rung"], "rung"),
    ],
)
def test_wrong_options_are_one_line(silosim, options, message):
    result = silosim("simulate", "gaia", *options)

    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(("network", "least"), [("gaia", 400), ("geant", 800)])
def test_too_few_rounds_for_the_silos_have_no_interval(silosim, network, least):
    options = ("simulate", network, "--kind", "ring", "--compute-times", "lognormal 0.5")
    few = silosim(*options, "--rounds", least - 1).ok().out
    enough = json.loads(silosim(*options, "--rounds", least + 100, "--json").ok().out)["rows"][0]

    assert "too few rounds for an interval" in " ".join(few.split())
    assert f"silos: {least} before one has ended)." in " ".join(few.split())
    assert "+-" not in few
    assert enough["simulated_half_width_s"] > 0


def test_an_interval_that_stays_too_wide_is_said_so(silosim):
    options = ["--compute-times", "lognormal 2", "--until-ci", "0.01%", "--rounds", 500]
    out = silosim("simulate", "gaia", "--kind", "mst", *options).ok().out

    assert "Not as narrow as 0.01%, it needs more rounds: mst." in out


def test_a_busy_half_of_all_core_links_doubles_what_a_core_bound_overlay_takes(silosim, tmp_path):
    text = '[network]\nunderlay = "gaia"\n[overlays]\nkinds = ["ring"]\n'
    text += '[workload]\nmodel_size = "1 Gbit"\ncompute = "0 s"\n'
    times = []
    for name, more in (("free", ""), ("busy", '[[simulation.background]]\nshare = "50 %"\n')):
        path = tmp_path / f"{name}.toml"
        path.write_text(text + more)
        times.append(json.loads(silosim("simulate", path, "--json").ok().out)["rows"][0]["simulated_s"])

    # The slowest link sends one model after the other, and latencies do not count.
    assert times[1] == pytest.approx(2 * times[0], rel=1e-9)


def test_a_silo_alone(silosim, tmp_path):
    out = silosim("simulate", "geant", "--silo-at", "DE", "--kind", "mst", "-o", tmp_path / "x.h5").ok().out

    assert "25.40 ms" in out
    assert "mst's busiest links: none." in out
    with h5py.File(tmp_path / "x.h5") as file:
        assert file["simulation/mst/arrival_s"].shape == (1000, 0)


def test_the_text_of_options_is_read_as_the_same_scenario():
    text = """
seed = 4
[network]
underlay = "gaia"
access_at = { "Virginia" = "10 Mbps" }
blocked = ["Tokyo -> Oregon"]
[workload]
model_size = "1.5 MB"
compute = "3 ms"
[overlays]
kinds = ["ring", "matcha"]
[simulation]
rounds = 7
messages = true
until_ci = "0.1 %"
[[simulation.failure]]
link = "Tokyo - Oregon"
from = "1 s"
[[simulation.capacity]]
link = "Tokyo uplink"
at = ["0 s", "1 h"]
capacity = ["1 Gbps", "10 Mbps"]
repeat_every = "24 h"
[[simulation.background]]
share = "30 %"
[[simulation.away]]
silo = "Tokyo"
from_round = 3
rounds = 2
policy = "go_on"
"""
    first = parse_scenario(text, source="x")
    work = Workload(model_bits=12e6, compute_s=0.003)
    again = parse_scenario(
        scenario_text(first.network, work, first.overlays.overlays, first.simulation, first.seed), source="y"
    )

    assert again.network == first.network
    assert again.simulation == first.simulation
    assert again.overlays == first.overlays
    assert again.seed == 4
    assert (again.workload.model_size, again.workload.compute) == ("12000000.0 bit", "0.003 s")


def test_computing_times_without_variation_are_the_constant_ones(silosim):
    plain, lognormal = (
        json.loads(silosim("simulate", "gaia", "--kind", "ring", "--json", *options).ok().out)["rows"]
        for options in ((), ("--compute-times", "lognormal 0"))
    )

    assert lognormal[0]["simulated"] == plain[0]["simulated"]
    assert lognormal[0]["simulated_is_exact"]


@pytest.mark.parametrize(
    ("steady", "interval", "text"),
    [
        ({"is_exact": True}, None, "1.500 s"),
        ({"is_exact": True, "period_s": 1.5, "period_rounds": 1}, None, "1.500 s"),
        ({"is_exact": True, "period_s": 3.0, "period_rounds": 2}, None, "1.500 s = 3.000 s / 2 rounds"),
        ({"is_exact": False}, None, "~1.500 s"),
        ({"is_exact": False}, (1.25, 0.012), "1.250 s +- 12 ms"),
    ],
)
def test_a_cycle_time_says_how_it_is_known(steady, interval, text):
    outcome = SimpleNamespace(
        steady=SteadyState(cycle_time_s=1.5, **steady),
        interval=interval and SimpleNamespace(mean=interval[0], half_width=interval[1]),
    )
    assert _cycle_time(outcome) == text
