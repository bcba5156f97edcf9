"""What `silosim simulate` and `validate` say of events before, in and after the rounds of a cycle time."""

import json

import pytest
from gaia_pair import NETWORK

from scenarios.config.events.window import Window
from scenarios.config.scenario import parse_scenario
from scenarios.simulation.event_notes import events_note

pytestmark = pytest.mark.usefixtures("compiled_simulations")

PART = "What happens in a cycle time's rounds is part of it: "
BEFORE = "Over before these rounds, so that only delays still on their way count: "
AFTER = "Still to come after these rounds, and so no part of it: "
NO_WAIT = "--until-ci does not wait for what is still to come."

FAILURE = '[[simulation.failure]]\nlink = "Tokyo - Oregon"\nfrom = "1 min"\nuntil = "2 min"\n'
FOR_EVER = FAILURE.replace('until = "2 min"\n', "")
DOWN = "Tokyo - Oregon down from 1 min"
AWAY = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 10\npolicy = "go_on"\nrounds = 5\n'
WAIT = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 10\npolicy = "wait"\nduration = "1 h"\n'
GONE = "Tokyo away from round 10"
SHARE = '[[simulation.background]]\nshare = "10 %"\n'
TRACE = (
    '[[simulation.capacity]]\nlink = "Tokyo uplink"\nat = ["1 min", "2 min", "4 min"]\n'
    'capacity = ["200 Mbps", "50 Mbps", "1 Gbps"]\n'
)
DAILY = f'{TRACE}repeat_every = "10 min"\njob_starts_at = "90 s"\n'


def words(text):
    """Without line breaks."""
    return " ".join(text.split())


def simulation(text):
    return parse_scenario(f"{NETWORK}[simulation]\n{text}", source="x").simulation


def window(rounds=(100, 200), dates_s=(0.0, 1.0)):
    return Window(first_round=rounds[0], last_round=rounds[1], from_s=dates_s[0], until_s=dates_s[1])


@pytest.mark.parametrize(
    ("dates_s", "lines"),
    [
        ((0, 60), [f"{AFTER}{DOWN} until 2 min."]),
        ((0, 61), [f"{PART}{DOWN} until 2 min."]),
        ((119, 500), [f"{PART}{DOWN} until 2 min."]),
        ((120, 500), [f"{BEFORE}{DOWN} until 2 min."]),
    ],
)
def test_a_failure_lies_on_one_side_of_the_dates(dates_s, lines):
    assert events_note(simulation(FAILURE), {"ring": window(dates_s=dates_s)}) == lines


@pytest.fixture
def with_events(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f"{NETWORK}[simulation]\nrounds = 20\n{FAILURE}{SHARE}")
    return path


def test_tables_of_simulated_cycle_times_name_the_events(silosim, with_events, tmp_path):
    said = "simulated: with background, failure, of which closed forms know nothing."
    run, moved = tmp_path / "run.h5", tmp_path / "moved.h5"
    commands = [
        ("run", with_events, "-o", run),
        ("show", run),
        ("replay", run, "-o", moved),
        ("sweep", with_events, "--access", "1 Gbps", "-o", tmp_path / "sweep"),
    ]
    for command in commands:
        found = silosim(*command).ok()
        assert said in words(found.out + found.err), command[0]
    assert "simulated: with" not in silosim("replay", run, "--no-events", "-o", moved, "--force").ok().out


def test_upgrade_says_that_it_leaves_events_out(silosim, with_events):
    out = words(silosim("upgrade", with_events, "--kind", "ring", "--budget", 1).ok().out)
    assert "simulated: without the scenario's background, failure." in out


def test_a_failure_for_ever_is_never_over():
    assert events_note(simulation(FOR_EVER), {"ring": window(dates_s=(1e6, 2e6))}) == [f"{PART}{DOWN}."]


@pytest.mark.parametrize(
    ("table", "rounds", "beginning"),
    [
        (AWAY, (0, 9), AFTER),
        (AWAY, (0, 10), PART),
        (AWAY, (14, 20), PART),
        (AWAY, (15, 20), BEFORE),
        (WAIT, (0, 9), AFTER),
        (WAIT, (10, 20), PART),
        (WAIT, (11, 20), BEFORE),
    ],
)
def test_an_absence_lies_on_one_side_of_the_rounds(table, rounds, beginning):
    assert events_note(simulation(table), {"ring": window(rounds)}) == [f"{beginning}{GONE}."]


def test_an_absence_may_last_until_another_silo_is_back():
    both = AWAY + AWAY.replace("Tokyo", "Seoul").replace("= 5", "= 20")
    later = AWAY + AWAY.replace("Tokyo", "Seoul").replace("= 10", "= 15")
    longer = f"{GONE}, longer than asked where it receives no model"

    assert events_note(simulation(both), {"ring": window((20, 29))}) == [
        f"{PART}{longer}; Seoul away from round 10."
    ]
    assert events_note(simulation(both), {"ring": window((31, 39))}) == [
        f"{BEFORE}{GONE}; Seoul away from round 10."
    ]
    assert events_note(simulation(later), {"ring": window((15, 29))}) == [
        f"{PART}Seoul away from round 15.",
        f"{BEFORE}{GONE}.",
    ]


@pytest.mark.parametrize(
    ("dates_s", "lines"),
    [
        ((0, 60), [f"{AFTER}Tokyo uplink at 3 capacities from 60.00 s, the last from 4.000 min."]),
        (
            (0, 61),
            [
                f"{PART}Tokyo uplink at 200 Mbps from 60.00 s.",
                f"{AFTER}Tokyo uplink at 2 capacities from 2.000 min, the last from 4.000 min.",
            ],
        ),
        (
            (130, 140),
            [
                f"{PART}Tokyo uplink at 50 Mbps from 2.000 min.",
                f"{BEFORE}Tokyo uplink at 200 Mbps from 60.00 s.",
                f"{AFTER}Tokyo uplink at 1 Gbps from 4.000 min.",
            ],
        ),
        (
            (1e6, 2e6),
            [
                f"{PART}Tokyo uplink at 1 Gbps from 4.000 min.",
                f"{BEFORE}Tokyo uplink at 2 capacities from 60.00 s, the last from 2.000 min.",
            ],
        ),
    ],
)
def test_a_trace_counts_with_the_capacities_that_hold_in_the_rounds(dates_s, lines):
    assert events_note(simulation(TRACE), {"ring": window(dates_s=dates_s)}) == lines


@pytest.mark.parametrize(
    ("dates_s", "lines"),
    [
        # The job starts half a minute before the second capacity.
        (
            (0, 30),
            [
                f"{PART}Tokyo uplink at 200 Mbps from 0 s.",
                f"{AFTER}Tokyo uplink at 50 Mbps from 30.00 s.",
            ],
        ),
        (
            (600, 620),
            [
                f"{PART}Tokyo uplink at 200 Mbps from 9.500 min.",
                f"{BEFORE}Tokyo uplink at 3 capacities from 0 s, the last from 2.500 min.",
                f"{AFTER}Tokyo uplink at 50 Mbps from 10.50 min.",
            ],
        ),
        ((100, 700), [f"{PART}Tokyo uplink's capacities, again every 10 min."]),
    ],
)
def test_a_trace_that_repeats_names_the_next_capacity_until_it_has_been_seen_whole(dates_s, lines):
    assert events_note(simulation(DAILY), {"ring": window(dates_s=dates_s)}) == lines


def test_overlays_are_named_where_they_differ():
    windows = {"ring": window(dates_s=(0, 60)), "mst": window(dates_s=(0, 61)), "star": window()}
    notes = events_note(simulation(SHARE + FAILURE), windows)

    assert notes == [
        f"{PART}background; {DOWN} until 2 min (mst).",
        f"{AFTER}{DOWN} until 2 min (ring, star).",
    ]


def test_no_events_no_note():
    assert events_note(simulation(""), {"ring": None, "mst": window()}) == []


def test_only_with_an_interval_nothing_is_waited_for():
    until = simulation(f'until_ci = "1 %"\n{FAILURE}')

    assert events_note(until, {"ring": window()}) == [f"{AFTER}{DOWN} until 2 min.", NO_WAIT]
    assert events_note(until, {"ring": window(dates_s=(60, 70))}) == [f"{PART}{DOWN} until 2 min."]


@pytest.mark.parametrize(
    ("table", "rounds", "lines"),
    [
        (AWAY, (0, 9), [f"{AFTER}{GONE}.", NO_WAIT]),
        (AWAY, (0, 14), [f"{PART}{GONE}.", f"{AFTER}Tokyo back from round 15 on.", NO_WAIT]),
        (AWAY, (0, 15), [f"{PART}{GONE}."]),
        (AWAY, (15, 30), [f"{BEFORE}{GONE}."]),
        (WAIT, (0, 10), [f"{PART}{GONE}."]),
    ],
)
def test_a_silo_may_be_back_after_a_simulation_that_ends_early(table, rounds, lines):
    until = simulation(f'until_ci = "1 %"\n{table}')
    assert events_note(until, {"ring": window(rounds)}) == lines
    # Without an interval, all rounds are simulated: it is back in one of them.
    back = [line for line in lines if "back" not in line and line != NO_WAIT]
    assert events_note(simulation(table), {"ring": window(rounds)}) == back


def test_a_pause_just_before_the_rounds_is_said_to_count_where_it_does(silosim, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(f"{NETWORK}[simulation]\nrounds = 500\n{WAIT.replace('= 10', '= 130')}")
    result = silosim("simulate", path, "--kind", "ring").ok()
    row = json.loads(silosim("simulate", path, "--kind", "ring", "--json").ok().out)["rows"][0]
    longer = ("simulate", path, "--kind", "ring", "--rounds", 2000, "--json")
    usual = json.loads(silosim(*longer).ok().out)["rows"][0]

    assert row["first_round"] == 131
    assert row["simulated_s"] > 2 * usual["simulated_s"]
    assert f"{BEFORE}Tokyo away from round 130." in words(result.out)


@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_the_table_says_which_events_count(silosim, tmp_path, command):
    path = tmp_path / "x.toml"
    late = TRACE.replace("min", "h")
    path.write_text(f"{NETWORK}[simulation]\nrounds = 400\n{SHARE}{FAILURE}{AWAY}{late}")
    result = silosim(command, path).ok()
    out = words(result.out)

    assert f"{PART}background. {BEFORE}{DOWN} until 2 min; {GONE}. " in out
    assert f"{AFTER}Tokyo uplink at 3 capacities from 60.00 min, the last from 4.000 h." in out
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("command", ["simulate", "validate"])
def test_a_change_that_a_narrow_interval_did_not_wait_for_is_named(silosim, tmp_path, command):
    path = tmp_path / "x.toml"
    path.write_text(
        f'{NETWORK}[simulation]\nrounds = 2000\nuntil_ci = "5 %"\n{TRACE.replace("min", "h")}'
        '[simulation.compute]\ndistribution = "lognormal"\ncv = 0.1\n'
    )
    out = words(silosim(command, path, "--kind", "mst").ok().out)

    assert f"{AFTER}Tokyo uplink at 3 capacities from 60.00 min, the last from 4.000 h. {NO_WAIT}" in out
    assert PART not in out


def test_an_exact_cycle_time_has_no_dates_and_all_of_the_constant_traffic(silosim, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(f"{NETWORK}[simulation]\nrounds = 400\n{SHARE}")
    command = ("simulate", path, "--kind", "ring")
    changed = tmp_path / "y.toml"
    changed.write_text(path.read_text() + TRACE.replace("min", "h"))
    again = ("simulate", changed, "--kind", "ring")

    assert json.loads(silosim(*command, "--json").ok().out)["rows"][0]["simulated_is_exact"]
    assert f"{PART}background." in words(silosim(*command).ok().out)
    assert not json.loads(silosim(*again, "--json").ok().out)["rows"][0]["simulated_is_exact"]
    assert f"{AFTER}Tokyo uplink at 3 capacities" in words(silosim(*again).ok().out)
