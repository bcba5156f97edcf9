"""Events of a scenario: every mistake is named by file, table, entry, key, text and rule, before any design."""

import pytest

from scenarios.config.error_context import changed_errors
from scenarios.config.network import build_network, build_workload
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.config.scenario import parse_scenario
from scenarios.simulation.runner import job_of
from scenarios.studies.run import plan_run
from topologies import InputError

HEAD = """
network = { underlay = "geant"%s }
workload = { preset = "inaturalist" }
overlays = { kinds = ["ring"] }
simulation.rounds = 20
"""
FAILURE, CAPACITY = (
    '[[simulation.failure]]\nlink = "PL - UA"\n',
    '[[simulation.capacity]]\nlink = "PL - UA"\n',
)
BACKGROUND, AWAY = "[[simulation.background]]\n", '[[simulation.away]]\nsilo = "PL"\n'
EARLY = f'{FAILURE}from = "1 s"\nuntil = "2 s"\n'
GONE = f'{AWAY}policy = "go_on"\n'
PAUSED = f'{AWAY}policy = "wait"\n'
HALF = f'{BACKGROUND}share = "50 %"\n'


def refused(text, network=""):
    """The message about a scenario that must not come to a design."""
    with pytest.raises(InputError) as caught:
        plan_run(parse_scenario(HEAD % network + text, source="x.toml"))
    return str(caught.value).removeprefix("x.toml: ").removeprefix("simulation.")


@pytest.fixture(autouse=True)
def no_design(monkeypatch):
    def design(*_args, **_options):
        pytest.fail("an overlay was designed")

    monkeypatch.setattr("scenarios.studies.run.design_any", design)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{FAILURE}from = 1", 'failure[0].from(=1) must be a text with a unit, as in "5 s".'),
        (
            f'{FAILURE}from = "1 s"\nuntil = 2.5',
            'failure[0].until(=2.5) must be a text with a unit, as in "5 s".',
        ),
        (f"{BACKGROUND}share = 10", 'background[0].share(=10) must be a text in percent, as in "30 %".'),
        (f"{BACKGROUND}peak = 1", 'background[0].peak(=1) must be a text with a unit, as in "10 Gbps".'),
        (f"{BACKGROUND}mean_on = 1", 'background[0].mean_on(=1) must be a text with a unit, as in "5 s".'),
        (
            f"{BACKGROUND}mean_off = true",
            'background[0].mean_off(=True) must be a text with a unit, as in "5 s".',
        ),
        (
            f'{CAPACITY}at = ["0 s"]\ncapacity = [1000]',
            'capacity[0].capacity[0](=1000) must be a text with a unit, as in "10 Gbps".',
        ),
        (
            f'{CAPACITY}at = ["0 s", 3600]\ncapacity = ["1 Gbps", "2 Gbps"]',
            'capacity[0].at[1](=3600) must be a text with a unit, as in "5 s".',
        ),
        (
            f'{CAPACITY}at = ["0 s"]\ncapacity = ["1 Gbps"]\nrepeat_every = 24',
            'capacity[0].repeat_every(=24) must be a text with a unit, as in "5 s".',
        ),
        (
            f'{CAPACITY}at = ["0 s"]\ncapacity = ["1 Gbps"]\njob_starts_at = 8',
            'capacity[0].job_starts_at(=8) must be a text with a unit, as in "5 s".',
        ),
        (
            f"{PAUSED}from_round = 1\nduration = 5",
            'away[0].duration(=5) must be a text with a unit, as in "5 s".',
        ),
        ("[simulation]\nuntil_ci = 0.1", 'until_ci(=0.1) must be a text in percent, as in "30 %".'),
    ],
)
def test_a_quantity_without_a_unit(text, message):
    text = text.replace("[simulation]\n", "simulation.")
    assert refused(text) == message


@pytest.mark.parametrize("key", ["access", "access_up", "access_down", "core"])
def test_a_capacity_of_the_network_without_a_unit(key):
    assert refused("", f", {key} = 10") == f'network.{key}(=10) must be a text with a unit, as in "10 Gbps".'
    message = 'network.access_at.PL(=10) must be a text with a unit, as in "10 Gbps".'
    assert refused("", ", access_at = { PL = 10 }") == message


def test_a_workload_without_units():
    for key, example in (("model_size", "42.9 MB"), ("compute", "5 s")):
        text = f'network.underlay = "gaia"\nworkload.{key} = 10'
        with pytest.raises(InputError) as caught:
            parse_scenario(text, source="x.toml")
        message = f'x.toml: workload.{key}(=10) must be a text with a unit, as in "{example}".'
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f'{EARLY}{FAILURE}from = "10 s"\nuntil = "5 s"',
            "failure[1].until(='5 s') must be > from(='10 s').",
        ),
        (f'{FAILURE}from = "inf s"', "failure[0].from(='inf s') must be finite."),
        (
            f'{BACKGROUND}peak = "inf bps"\nmean_on = "1 s"\nmean_off = "1 s"',
            "background[0].peak(='inf bps') must be finite and > 0.",
        ),
        (
            f'{CAPACITY}at = ["0 s", "8 h", "7 h"]\ncapacity = ["1 Gbps", "2 Gbps", "3 Gbps"]',
            "capacity[0].at[2](='7 h') must be > at[1](='8 h').",
        ),
        (f"{CAPACITY}at = []\ncapacity = []", "capacity[0].at(=[]) must hold one date or more."),
        (
            f'{CAPACITY}at = ["0 s", "8 h"]\ncapacity = ["1 Gbps"]',
            "capacity[0].capacity must hold one number per date: 2, not 1.",
        ),
        (
            f'{CAPACITY}at = ["0 s"]\ncapacity = ["0 bps"]',
            "capacity[0].capacity[-1](='0 bps') must be > 0: the last one holds permanently.",
        ),
        (
            f'{CAPACITY}at = ["0 s", "2 h"]\ncapacity = ["1 Gbps", "2 Gbps"]\nrepeat_every = "1 h"',
            "capacity[0].repeat_every(='1 h') must be finite and > at[-1](='2 h').",
        ),
        (f"{GONE}from_round = -1\nrounds = 2", "away[0].from_round(=-1) must be >= 0."),
        (f"{GONE}from_round = 1\nrounds = 0", "away[0].rounds(=0) must be >= 1."),
        (
            '[simulation.failure]\nlink = "A - B"\nfrom = "1 s"',
            "must be a list of tables: [[simulation.failure]].",
        ),
        (
            '[[simulation.capacity]]\nlink = "A - B"\nat = { a = 1 }\ncapacity = ["1 Gbps"]',
            "capacity[0].at(={'a': 1}) must be a list.",
        ),
    ],
)
def test_rules_of_one_entry(text, message):
    assert refused(text).endswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[simulation.failure]]\nlink = "PL -> UA"\nfrom = "1 s"',
            "failure[0].link(='PL -> UA') must be one of 122 names; did you mean 'PL - UA'?",
        ),
        (f'{BACKGROUND}link = "X"\nshare = "1 %"', "background[0].link(='X') must be one of "),
        (
            '[[simulation.capacity]]\nlink = "PLuplink"\nat = ["0 s"]\ncapacity = ["1 Gbps"]',
            "capacity[0].link(='PLuplink') must be one of 324 names; did you mean 'PL uplink'?",
        ),
        (
            f'{EARLY}{FAILURE}from = "2 s"\nuntil = "3 s"',
            "failure[1].from(='2 s') must be > simulation.failure[0].until(='2 s'): it is the same link.",
        ),
        (
            f'{FAILURE}from = "2 s"\nuntil = "3 s"\n{FAILURE}from = "1 s"',
            "failure[0].from(='2 s') must be > simulation.failure[1].until(=inf): it is the same link.",
        ),
        (
            f'{FAILURE}from = "1 s"',
            "failure[0].until must be a date: while PL - UA is down, no route is left ",
        ),
        (
            f"{HALF}{HALF}",
            "background[1] must not name AT -> DE again: background[0] is its constant share",
        ),
        (
            '[[simulation.away]]\nsilo = "X"\nfrom_round = 1\npolicy = "go_on"\nrounds = 1',
            "away[0].silo(='X') must be",
        ),
        (
            f"{GONE}from_round = 2\nrounds = 19",
            "away[0].from_round + rounds(=21) must be <= 20, the rounds of the job",
        ),
        (
            f"{GONE}from_round = 2\nrounds = 3\n{GONE}from_round = 4\nrounds = 3",
            "away[1].from_round(=4) must be >= 5, the end of simulation.away[0] of the same silo.",
        ),
        (
            f'{PAUSED}from_round = 20\nduration = "5 s"',
            "away[0].from_round(=20) must be < 20, the rounds of the job.",
        ),
        (
            f'{PAUSED}from_round = 1\nduration = "5 s"\n' * 2,
            "away[1].from_round(=1) must not be that of simulation.away[0] of the same silo.",
        ),
        (
            f'{GONE}from_round = 1\nrounds = 3\n{PAUSED}from_round = 2\nduration = "5 s"',
            "away[1].from_round(=2) must not be a round that the silo misses.",
        ),
    ],
)
def test_rules_of_entries_on_a_network(text, message):
    assert refused(text).startswith(message)


def test_unlimited_capacities_cannot_change():
    for text, entry in ((EARLY, "failure"), (f'{CAPACITY}at = ["1 s"]\ncapacity = ["1 Gbps"]', "capacity")):
        message = f"{entry}[0] must be on links of finite capacity, not on PL -> UA of unlimited capacity."
        assert refused(text, ', core = "inf bps"') == message


def test_a_trace_of_computing_times(tmp_path):
    path = tmp_path / "times.csv"
    text = f'[simulation.compute]\ntrace = "{path}"'
    assert refused(text) == f"compute.trace: {path}: cannot be read: No such file or directory."
    path.write_text("compute_s\n1\nfast\n")
    assert refused(text) == f"compute.trace: {path}: row 2 must hold 1 numbers, in seconds."


def test_a_silo_that_nobody_sends_to_is_known_with_the_overlay():
    silos = "".join(
        f'[[simulation.away]]\nsilo = "{silo}"\nfrom_round = 2\npolicy = "go_on"\nrounds = {rounds}\n'
        for silo, rounds in (("Tokyo", 3), ("Seoul", 3))
    )
    text = f'network.underlay = "gaia"\nworkload.preset = "inaturalist"\nsimulation.rounds = 5\n{silos}'
    scenario = parse_scenario(text, source="x.toml")
    work = build_workload(scenario.workload, "corrected")
    star = design_any(
        OverlayConfig(kind="star", options={"hub": "Seoul"}), build_network(scenario.network), work, seed=0
    )

    with pytest.raises(InputError) as caught:
        job_of(star, scenario.simulation, rounds=5, seed=0)

    message = str(caught.value)
    assert message.startswith("simulation.away[0].from_round + rounds(=5) must ")
    assert "round 4" in message


def test_other_messages_stay_as_they_are():
    config = parse_scenario('network.underlay = "gaia"', source="x.toml").simulation
    renamed = changed_errors(lambda error: error.renamed(config.written))
    with pytest.raises(InputError) as caught, renamed:
        raise InputError("rounds(=0) must be >= 1: failures and until_s are others.")

    assert str(caught.value) == "rounds(=0) must be >= 1: failures and until_s are others."
