"""`silosim simulate`: over which rounds, what time and which capacities its numbers are taken, and that it says so."""

import json

import h5py
import numpy as np
import pytest
from gaia_pair import NETWORK

from scenarios.config import overlays as designed
from scenarios.config.network import build_network
from scenarios.config.quantities import format_long
from scenarios.config.scenario import parse_scenario
from scenarios.config.utilisation import mean_capacity_bps, utilisation

pytestmark = pytest.mark.usefixtures("compiled_simulations")

RANDOM = ("--kind", "ring", "--kind", "mst", "--compute-times", "lognormal 1", "--until-ci", "1%")


def words(text):
    """Without line breaks."""
    return " ".join(text.split())


def world(text):
    return parse_scenario(f"{NETWORK}[simulation]\n{text}", source="x")


@pytest.fixture(scope="module")
def graph():
    return build_network(world("").network)


def test_estimates_are_means_over_the_rounds_that_are_named(silosim, tmp_path):
    command = ("simulate", "gaia", "--published", "--access", "1 Gbps", *RANDOM)
    result = silosim(*command, "-o", tmp_path / "x.h5").ok()
    rows = json.loads(silosim(*command, "--json").ok().out)["rows"]
    with h5py.File(tmp_path / "x.h5") as file:
        starts_s = [file[f"simulation/{kind}/round_start_s"][:].mean(axis=1) for kind in ("ring", "mst")]

    assert rows[0]["rounds"] > rows[1]["rounds"]
    for row, start_s in zip(rows, starts_s, strict=True):
        first, end = row["first_round"], row["last_round"] + 1
        assert end <= row["rounds"]
        assert row["simulated_s"] == pytest.approx((start_s[end] - start_s[first]) / (end - first), rel=1e-9)
        assert f"{row['overlay']}, rounds {first:,} to {end - 1:,} (" in words(result.out)
        assert start_s[end] <= row["end_s"]
    first, end = rows[1]["difference_first_round"], rows[1]["difference_last_round"] + 1
    apart_s = starts_s[1] - starts_s[0]
    assert rows[1]["difference_s"] == pytest.approx((apart_s[end] - apart_s[first]) / (end - first), rel=1e-9)
    assert f"rounds that both ran, without the warm-up: rounds {first:,} to {end - 1:,}." in words(result.out)
    assert max(map(len, result.out.splitlines())) <= 80


def test_too_few_rounds_for_a_difference_have_no_rounds_of_it(silosim):
    command = ("simulate", "gaia", *RANDOM[:-2], "--rounds", 60)
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][1]
    out = silosim(*command).ok().out

    assert (row["difference_s"], row["difference_first_round"]) == (None, None)
    assert "minus ring" in out
    assert "minus:" not in out


def test_without_an_interval_the_mean_is_over_the_last_half(silosim):
    command = ("simulate", "gaia", "--kind", "ring", "--compute-times", "exponential", "--rounds", 40)
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]
    out = words(silosim(*command).ok().out)

    assert row["simulated_half_width_s"] is None
    assert row["first_round"] == (row["last_round"] + 1) // 2
    assert f"a mean: ring, rounds {row['first_round']} to {row['last_round']} (" in out
    assert "~: an estimate" in out


def test_the_total_time_is_that_of_all_rounds_and_an_exact_one_has_no_window(silosim):
    command = ("simulate", "gaia", "--kind", "ring", "--rounds", 1000)
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]
    out = silosim(*command).ok().out

    assert row["simulated_is_exact"]
    assert (row["first_round"], row["last_round"]) == (None, None)
    assert row["end_s"] == pytest.approx(1000 * row["simulated_s"], rel=1e-2)
    assert f"{row['end_s'] / 60:.2f} min" in out
    assert "a mean" not in out
    assert "What happens" not in out


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.05, "50.00 ms"),
        (119.9, "119.9 s"),
        (120, "2.000 min"),
        (7199, "120.0 min"),
        (7200, "2.000 h"),
        (172_800, "2.000 d"),
        (365 * 86_400, "365.0 d"),
    ],
)
def test_long_durations(seconds, text):
    assert format_long(seconds) == text


FAILURE = '[[simulation.failure]]\nlink = "Tokyo - Oregon"\nfrom = "1 min"\nuntil = "2 min"\n'


@pytest.mark.parametrize(
    ("tables", "end_s", "expected_bps"),
    [
        ("", 240, 1e9),
        ('[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["60 s"]\ncapacity = ["200 Mbps"]', 240, 4e8),
        ('[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["60 s"]\ncapacity = ["200 Mbps"]', 60, 1e9),
        (
            '[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["0 s", "1 s"]\ncapacity = ["3 Gbps", "0 Mbps"]\n'
            'repeat_every = "4 s"\njob_starts_at = "1 s"',
            240,
            7.5e8,
        ),
        ('[[simulation.background]]\nlink = "Tokyo uplink"\nshare = "30 %"', 240, 1e9),
    ],
)
def test_the_mean_capacity_follows_a_trace_and_no_traffic(graph, tables, end_s, expected_bps):
    mean_bps = mean_capacity_bps(graph, world(tables).simulation, end_s)
    uplink = next(n for n in range(len(mean_bps)) if graph.link_name(n) == "Tokyo uplink")

    assert mean_bps[uplink] == pytest.approx(expected_bps, rel=1e-12)
    others = np.arange(len(mean_bps)) != uplink
    assert np.array_equal(mean_bps[others], graph.link_capacity_bps[others])


def test_a_link_without_a_limit_until_its_trace_begins():
    link = '[[simulation.capacity]]\nlink = "Tokyo -> Oregon"\nat = ["0 s", "6 s"]\ncapacity = ["2 Gbps", "1 Gbps"]'
    unlimited = NETWORK.replace("access =", 'core = "inf Gbps"\naccess =')
    scenario = parse_scenario(f"{unlimited}[simulation]\n{link}", source="x")
    graph = build_network(scenario.network)
    mean_bps = mean_capacity_bps(graph, scenario.simulation, 12.0)
    names = [graph.link_name(n) for n in range(len(mean_bps))]

    assert mean_bps[names.index("Tokyo -> Oregon")] == 1.5e9
    assert mean_bps[names.index("Oregon -> Tokyo")] == np.inf


@pytest.mark.parametrize(("end_s", "share"), [(30, 1), (60, 1), (90, 2 / 3), (120, 0.5), (240, 0.75)])
def test_a_link_that_is_down_carries_nothing(graph, end_s, share):
    mean_bps = mean_capacity_bps(graph, world(FAILURE).simulation, end_s)
    factor = mean_bps / graph.link_capacity_bps
    names = {graph.link_name(n) for n in np.flatnonzero(np.abs(factor - 1) > 1e-9)}

    assert factor.min() == pytest.approx(share, rel=1e-12)
    assert names == (set() if share == 1 else {"Tokyo -> Oregon", "Oregon -> Tokyo"})


def test_no_time_and_no_bits_are_no_utilisation(graph):
    bits = np.zeros(len(graph.link_capacity_bps))
    down = world(FAILURE.replace('from = "1 min"', 'from = "0 s"')).simulation

    for end_s in (0.0, 60.0):
        assert utilisation(bits, mean_capacity_bps(graph, down, end_s), end_s).tolist() == [0.0] * len(bits)


@pytest.mark.parametrize(
    ("tables", "link", "share", "note"),
    [
        (
            '[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["0 s"]\ncapacity = ["50 Mbps"]\n',
            "Tokyo uplink",
            1.0,
            "the capacity is that of its trace.",
        ),
        (
            '[[simulation.background]]\nshare = "50 %"\n',
            "Sydney -> Sao Paulo",
            0.5,
            "background traffic is not counted, and is not subtracted from the capacity.",
        ),
    ],
)
def test_the_utilisation_is_the_jobs_own_of_the_capacity_that_there_is(
    silosim, tmp_path, tables, link, share, note
):
    path = tmp_path / "x.toml"
    path.write_text(f"{NETWORK}[simulation]\nrounds = 400\n{tables}")
    row = json.loads(silosim("simulate", path, "--kind", "ring", "--json").ok().out)["rows"][0]

    # The link that sets the pace sends one model after the other, but for the computing of the first round.
    assert (row["busiest_link_1"], row["utilisation_1"]) == (link, pytest.approx(share, rel=1e-3))
    assert note in words(silosim("simulate", path).ok().out)


def test_three_links_are_named_the_most_used_first(silosim, graph, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(f"{NETWORK}[simulation]\nrounds = 5\n")
    command = ("simulate", path, "--kind", "mst", "-o", tmp_path / "x.h5", "--json")
    row = json.loads(silosim(*command).ok().out)["rows"][0]
    with h5py.File(tmp_path / "x.h5") as file:
        bits = file["simulation/mst/link_bits"][:]
    used = bits / (graph.link_capacity_bps * row["end_s"])
    expected = [key for n in (1, 2, 3) for key in (f"busiest_link_{n}", f"utilisation_{n}")]

    assert [key for key in row if key.startswith(("busiest", "utilisation"))] == expected
    assert [row[f"utilisation_{n}"] for n in (1, 2, 3)] == pytest.approx(np.sort(used)[:-4:-1], rel=1e-12)
    for n in (1, 2, 3):
        links = [
            graph.link_name(link) for link in np.flatnonzero(used >= row[f"utilisation_{n}"] * (1 - 1e-9))
        ]
        assert row[f"busiest_link_{n}"] in links


def test_the_seed_is_the_search_of_bests(silosim, monkeypatch, tmp_path):
    seeds = []

    def remember(kind, graph, work, **options):
        options.pop("progress", None)
        seeds.append((kind, options))
        return design("ring", graph, work)

    design = designed.design
    monkeypatch.setattr(designed, "design", remember)
    kinds = ("--kind", "best", "--kind", "mst")
    path = tmp_path / "x.toml"
    path.write_text(f"seed = 7\n{NETWORK}")
    for command in (("simulate", "gaia", "--seed", 3), ("validate", "gaia", "--seed", 4), ("simulate", path)):
        silosim(*command, *kinds, "--rounds", 100).ok()

    assert seeds == [
        ("best", {"seed": 3}),
        ("mst", {}),
        ("best", {"seed": 4}),
        ("mst", {}),
        ("best", {"seed": 7}),
        ("mst", {}),
    ]


@pytest.mark.slow
def test_many_silos_get_rounds_for_an_interval(silosim):
    command = ("simulate", "ebone", "--kind", "matcha_ring")
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]
    few = json.loads(silosim("simulate", "gaia", "--kind", "random_ring", "--json").ok().out)["rows"][0]

    assert (row["rounds"], few["rounds"]) == (25 * 87, 1000)
    assert min(row["simulated_half_width_s"], few["simulated_half_width_s"]) > 0
    assert f"{row['rounds']:,}" in silosim(*command).ok().out
    assert "25 per silo where that is more" in words(silosim("simulate", "--help").ok().out)


def test_a_rounding_error_is_no_uncertainty(silosim):
    command = ("simulate", "geant", "--kind", "mst")
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][0]

    assert 0 < row["simulated_half_width_s"] < 1e-9 * row["simulated_s"]
    assert "+- 0 s" in silosim(*command).ok().out


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("--model-size", "1 MB"), "custom, compute of inaturalist: 8 Mbit, 1 local step of 25.40 ms"),
        (("--compute", "3 ms"), "custom, model of inaturalist: 359 Mbit, 1 local step of 3.000 ms"),
        (("--model-size", "1 MB", "--compute", "3 ms"), "custom: 8 Mbit, 1 local step of 3.000 ms"),
    ],
)
def test_a_workload_is_named_for_what_is_left_of_the_preset(silosim, options, name):
    lines = silosim("simulate", "gaia", "--kind", "ring", "--rounds", 20, *options).ok().out.splitlines()

    assert lines[2] == name


def test_without_changes_the_workload_has_its_name(silosim):
    assert "femnist: " in silosim("simulate", "gaia", "--kind", "ring", "--workload", "femnist").ok().out


def test_json_says_which_intervals_are_narrow_enough_and_has_the_notes(silosim):
    command = ("simulate", "gaia", "--kind", "mst", "--compute-times", "lognormal 0.3")
    asked = (*command, "--until-ci", "0.000001%", "--rounds")
    wide, few, narrow, exact, none = (
        json.loads(silosim(*options, "--json").ok().out)
        for options in (
            (*asked, 500),
            (*asked, 50),
            (*command, "--until-ci", "5%"),
            (*command[:4], "--until-ci", "5%"),
            command,
        )
    )
    printed = silosim(*asked, 500).ok().out.splitlines()

    tables = (wide, few, narrow, exact, none)
    assert [table["rows"][0]["narrow_enough"] for table in tables] == [False, False, True, True, None]
    assert (few["rows"][0]["simulated_half_width_s"], exact["rows"][0]["simulated_half_width_s"]) == (None, 0)
    too_wide = "Not as narrow as 0.000001%, it needs more rounds: mst."
    assert [too_wide in table["notes"] for table in tables] == [True, True, False, False, False]
    # The last line is how fast the simulation was.
    assert printed[-len(wide["notes"]) : -1] == wide["notes"][:-1]


def test_what_is_estimated_from_a_part_of_a_period_is_said(silosim):
    random = ("--compute-times", "lognormal 0.05")
    command = ("simulate", "gaia", "--published", "--workload", "femnist", "--kind", "hierarchical", *random)
    period = 2 * 11
    short, one, two = (
        words(silosim(*command, "--cloud-every", 10, "--rounds", rounds).ok().out)
        for rounds in (period // 2, period + 8, 3 * period)
    )
    note = (
        "Fewer rounds than two periods, so that the mean is of a part of one, or of the first: hierarchical, "
    )
    assert f"{note}22 rounds a period." in short
    assert f"{note}22 rounds a period." in one
    assert "Fewer rounds" not in two
    row = json.loads(silosim(*command, "--cloud-every", 10, "--rounds", 100, "--json").ok().out)["rows"][0]
    assert (row["last_round"] + 1 - row["first_round"]) % period == 0


@pytest.mark.slow
def test_lags_longer_than_the_simulation_are_said(silosim, tmp_path):
    labels = ("Tokyo", "Seoul")
    file = tmp_path / "late.csv"
    file.write_text(
        "state,from,to,lag,weight\n0,Tokyo,Seoul,300,0.5\n0,Seoul,Tokyo,300,0.5\n", encoding="utf-8"
    )
    where = ("gaia", *(part for label in labels for part in ("--silo-at", label)))
    command = ("simulate", *where, "--schedule", file, "--kind", "ring", "--rounds", 100)
    shown = words(silosim(*command).ok().out)
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][1]

    assert row["simulated_half_width_s"] is None
    assert (
        "Messages of the longest lag are awaited only after these rounds, whose mean is no cycle time of a long job: "
        "late, from round 299 on." in shown
    )
    assert "(2 silos: 898 before one has ended)" in shown
    designed = json.loads(silosim("design", *where, "--schedule", file, "--json").ok().out)["rows"]
    (late,) = [row for row in designed if row["overlay"] == "late"]
    assert late["simulated_s"] >= late["load_bound_s"] * (1 - 1e-9)
    assert late["simulated_rounds"] >= 898
    found = json.loads(silosim("validate", *where, "--schedule", file, "--rounds", 100, "--json").ok().out)
    assert any("awaited only after these rounds" in note for note in [words(str(found["notes"]))])


def test_a_period_that_is_one_round_in_which_silos_compute_is_not_told_twice(silosim, tmp_path):
    file = tmp_path / "turns.csv"
    file.write_text(
        "state,from,to,lag,weight,computes\n0,Tokyo,Seoul,1,0.5,0\n1,Seoul,Tokyo,1,0.5,1\n", encoding="utf-8"
    )
    command = ("simulate", "gaia", "--silo-at", "Tokyo", "--silo-at", "Seoul", "--schedule", file)
    shown = silosim(*command).ok().out
    row = json.loads(silosim(*command, "--json").ok().out)["rows"][-1]

    assert (row["overlay"], row["period_rounds"]) == ("turns", 2)
    assert "/ round" not in shown
    assert "= :" not in shown
