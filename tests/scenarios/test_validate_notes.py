"""`silosim validate`: what it says about its simulations, and how many rounds it takes."""

import json

import pytest

from topologies import load_underlay

SCENARIO = """
seed = 4
[network]
underlay = "gaia"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["mst", "ring"]
[simulation]
rounds = 500
"""
LOGNORMAL = 'compute = { distribution = "lognormal", cv = 0.5 }\n'
AWAY = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 10\npolicy = "go_on"\nrounds = 5\n'


def words(text):
    """Without line breaks."""
    return " ".join(text.split())


@pytest.fixture
def toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(SCENARIO + LOGNORMAL)
    return path


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "computing constant"),
        (("--compute-times", "lognormal 0.3"), "computing lognormal (cv 0.3)"),
        (("--compute-times", "exponential"), "computing exponential"),
        (
            ("--compute-times", "samples.csv", "--seed", 3),
            "computing drawn from the 2 values of samples.csv, seed 3",
        ),
        (("--compute-times", "times.csv"), "computing trace times.csv"),
        (("--compute-times", "times.csv repeat"), "computing trace times.csv, repeated"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_computing_times_stand_above_the_table(silosim, tmp_path, monkeypatch, command, options, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples.csv").write_text("compute_s\n0.01\n\n0.02\n")
    labels = load_underlay("gaia").labels
    rows = [",".join(labels), *[",".join(["0.01"] * len(labels))] * 100]
    (tmp_path / "times.csv").write_text("\n".join(rows))
    result = silosim(command, "gaia", "--kind", "mst", "--rounds", 100, *options).ok()

    above = result.out.split("\n\n")[0]
    sharing = "maxmin" if command == "simulate" else "equal and maxmin"
    assert f"sharing {sharing}, queueing fifo; {text}" in words(above)


def test_a_scenario_with_events_says_so_and_which_count(silosim, toml):
    toml.write_text(SCENARIO + LOGNORMAL + AWAY)
    result = silosim("validate", toml, "--until-ci", "50%").ok()
    out = words(result.out)

    assert "computing lognormal (cv 0.5); with away; until +- 50%" in out
    assert "What happens in a cycle time's rounds is part of it" not in out
    assert "count: Tokyo away from round 10." in out
    assert max(map(len, result.out.splitlines())) <= 80


def test_differences_name_their_rounds(silosim, toml):
    assert "(95 %, paired, over rounds 131 to 490, which both ran)" in words(
        silosim("validate", toml).ok().out
    )


@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_a_narrow_interval_of_a_scenario_and_of_a_network(silosim, toml, command):
    key = "simulated_half_width_s" if command == "simulate" else "maxmin_half_width_s"
    mean = "simulated_s" if command == "simulate" else "maxmin_s"
    for study in ((toml, "--rounds", 20_000), ("gaia", "--kind", "ring", "--compute-times", "lognormal 0.3")):
        result = silosim(command, *study, "--until-ci", "0.1%", "--json")

        assert result.code == 0
        for row in json.loads(result.out)["rows"]:
            assert 0 < row[key] <= 1e-3 * row[mean]


@pytest.mark.slow
def test_many_silos_get_rounds_for_an_interval(silosim):
    command = ("validate", "ebone", "--access", "100 Mbps", "--kind", "matcha_ring", "--kind", "mst")
    result = silosim(*command).ok()
    drawn, stays = json.loads(silosim(*command, "--json").ok().out)["rows"]

    assert (drawn["maxmin_rounds"], stays["maxmin_rounds"]) == (25 * 87, 25 * 87)
    assert drawn["maxmin_half_width_s"] > 0
    assert f"over its {25 * 87} drawn rounds" in words(result.out)


def test_the_least_number_of_rounds_is_in_the_help(silosim):
    assert "Rounds to simulate, 100 or more." in words(silosim("validate", "--help").ok().out)
