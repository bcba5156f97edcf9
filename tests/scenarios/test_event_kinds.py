"""Kinds of events: the texts of their entries, and what they cause on links, routes and silos."""

from math import inf

import pytest

from scenarios.config.events.background_traffic import BackgroundKind
from scenarios.config.events.capacity_trace import CapacityKind
from scenarios.config.events.cause import link_text
from scenarios.config.events.kind import EventKind
from scenarios.config.events.link_failure import FailureKind
from scenarios.config.events.silo_absence import AbsenceKind
from scenarios.config.events.window import AFTER, BEFORE, IN, Window
from scenarios.config.network import NetworkConfig, build_network
from simulator.world.names import Names
from topologies import InputError
from topologies.errors import UNSTATED, Field

FAILURE = FailureKind(link="Dublin - Frankfurt", from_="10 s", until="30 s")
TRACE = CapacityKind(link="Tokyo uplink", at=("0 s", "1 min"), capacity=("1 Gbps", "200 Mbps"))


@pytest.fixture(scope="module")
def names():
    return Names(build_network(NetworkConfig(underlay="gaia")))


def window(from_s=0.0, until_s=40.0, first_round=0, last_round=9):
    return Window(first_round=first_round, last_round=last_round, from_s=from_s, until_s=until_s)


@pytest.mark.parametrize(
    ("entry", "field", "written"),
    [
        (FAILURE, Field("until_s", value=30.0), "until(='30 s')"),
        (FAILURE, Field("from_s"), "from"),
        (FailureKind(link="A - B", from_="1 s"), Field("until_s", value=inf), "until(=inf)"),
        (TRACE, Field("date_s", 1, value=60.0), "at[1](='1 min')"),
        (TRACE, Field("capacity_bps", value=(1e9, 2e8)), "capacity(=['1 Gbps', '200 Mbps'])"),
        (TRACE, Field("link", value=3), "link(='Tokyo uplink')"),
        (TRACE, Field("event", value=3), "event(=3)"),
        (TRACE, Field(value=UNSTATED), ""),
        (
            AbsenceKind(silo="Tokyo", from_round=3, policy="go_on", rounds=2),
            Field("first_round + rounds", value=5),
            "from_round + rounds(=5)",
        ),
    ],
)
def test_fields_of_the_event_are_named_by_keys_with_what_is_written(entry, field, written):
    assert str(entry.written(field)) == written


def test_a_failure_on_the_route_is_a_cause_for_as_long_as_it_lasts(names):
    link = names.core_link("Dublin - Frankfurt")
    route = (-1, 2 * link + 1, -2)

    def words(detour_s, **rounds):
        causes = FailureKind.route_causes([FAILURE], names, window(**rounds), route, detour_s)
        return [cause.explanation for cause in causes]

    place = f"core link {names.graph.underlay.link_name(link)}"
    assert words(2e-3) == [
        f"{place} is down 50 % of the time: models take a way that is 2.000 ms longer in the mean"
    ]
    assert words(0.0, from_s=12.0, until_s=20.0) == [
        f"{place} is down all the time: models wait for it, or take another way that is as long"
    ]
    # Up to a nanosecond, another way is as long.
    assert ["longer in the mean" in words(detour_s)[0] for detour_s in (1e-9, 2e-9)] == [False, True]
    assert words(0.0, from_s=30.0) == []
    assert list(FailureKind.route_causes([FAILURE], names, window(), (-1, 2 * link + 2, -2), 0.0)) == []


def test_pauses_of_a_silo_are_one_cause(names):
    entries = [
        AbsenceKind(silo="Tokyo", from_round=k, policy="wait", duration=duration)
        for k, duration in ((2, "1 s"), (9, "500 ms"), (10, "7 s"))
    ]
    entries.append(AbsenceKind(silo="Seoul", from_round=3, policy="go_on", rounds=2))
    tokyo, seoul = names.silo("Tokyo"), names.silo("Seoul")
    cause = AbsenceKind.silo_cause(entries, names, window(), tokyo)

    assert (cause.assumption, cause.place) == ("away", "Tokyo")
    assert cause.explanation == "Tokyo is away for 1.500 s in all, in 2 rounds"
    assert AbsenceKind.silo_cause(entries[1:], names, window(), tokyo).explanation.endswith(
        "in all, in 1 round"
    )
    assert AbsenceKind.silo_cause(entries, names, window(), seoul) is None


def test_traffic_and_traces_are_causes_on_their_links(names):
    share = BackgroundKind(link="Tokyo - Seoul", share="40 %")
    flow = BackgroundKind(link="Tokyo - Seoul", peak="300 Mbps", mean_on="1 s", mean_off="1 s")
    both = names.directions("Tokyo - Seoul")
    found = list(BackgroundKind.link_causes([share, flow], names, window()))
    ((uplink, trace),) = CapacityKind.link_causes([TRACE], names, window())

    assert [link for link, _ in found] == [*both, *both]
    assert {cause.assumption for _, cause in found} == {"background"}
    place = f"core link {names.graph.link_name(both[0])}"
    assert found[0][1].explanation == f"background traffic takes 40 % of {place}"
    assert found[2][1].explanation == f"background traffic, an on/off flow of up to 300 Mbps, shares {place}"
    assert (uplink,) == names.directions("Tokyo uplink")
    assert trace.explanation == "capacity of Tokyo's uplink: a trace, 200 Mbps to 1 Gbps"


def test_a_simulation_that_stops_early_may_end_before_a_silo_is_back():
    entries = [AbsenceKind(silo="Tokyo", from_round=8, policy="go_on", rounds=5)]
    away = (IN, "Tokyo away from round 8")

    assert list(AbsenceKind.notes(entries, window(), stops_early=True)) == [
        away,
        (AFTER, "Tokyo back from round 13 on"),
    ]
    assert list(AbsenceKind.notes(entries, window(), stops_early=False)) == [away]
    assert list(AbsenceKind.notes(entries, window(last_round=13), stops_early=True)) == [away]
    assert list(AbsenceKind.notes(entries, None, stops_early=True)) == []


def test_a_kind_must_say_its_event():
    with pytest.raises(NotImplementedError):
        EventKind()


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({}, "share must be given, or peak, mean_on and mean_off."),
        (
            {"share": "1 %", "peak": "1 Gbps", "mean_off": "1 s"},
            "share(='1 %') must not be given with peak and mean_off: the first is of a constant share, the others of "
            "an on/off flow.",
        ),
        (
            {"peak": "1 Gbps", "mean_off": "1 s"},
            "mean_on must be given with peak and mean_off: an on/off flow has peak, mean_on and mean_off.",
        ),
        (
            {"mean_on": "1 s"},
            "peak must be given with mean_on: an on/off flow has peak, mean_on and mean_off.",
        ),
    ],
)
def test_background_is_a_share_or_a_flow(keys, rule):
    with pytest.raises(InputError) as caught:
        BackgroundKind(**keys)
    assert str(caught.value) == rule


def test_only_a_flow_changes_by_date_and_background_is_in_every_cycle_time():
    share, flow = BackgroundKind(share="40 %"), BackgroundKind(peak="1 Gbps", mean_on="1 s", mean_off="3 s")
    assert (share.changes_by_date, flow.changes_by_date) == (False, True)
    assert (share.event(seed=4).share, share.event(seed=4).link) == (0.4, None)
    made = flow.event(seed=4)
    assert (made.peak_bps, made.mean_on_s, made.mean_off_s, made.seed) == (1e9, 1.0, 3.0, 4)
    assert list(BackgroundKind.notes([share, flow], None, stops_early=False)) == [(IN, "background")]


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"policy": "go_on"}, "rounds must be given with policy(='go_on')."),
        ({"policy": "wait"}, "duration must be given with policy(='wait')."),
        (
            {"policy": "go_on", "rounds": 2, "duration": "1 s"},
            "duration(='1 s') must not be given with policy(='go_on'), which has rounds.",
        ),
        (
            {"policy": "wait", "rounds": 2, "duration": "1 s"},
            "rounds(=2) must not be given with policy(='wait'), which has duration.",
        ),
    ],
)
def test_an_absence_has_rounds_or_a_duration(keys, rule):
    with pytest.raises(InputError) as caught:
        AbsenceKind(silo="A", from_round=1, **keys)
    assert str(caught.value) == rule


def test_only_an_absence_that_others_go_on_in_alters_what_is_learned():
    goes_on = AbsenceKind(silo="A", from_round=1000, policy="go_on", rounds=2)
    waits = AbsenceKind(silo="A", from_round=3, policy="wait", duration="2 s")
    assert (goes_on.alters_learning, waits.alters_learning) == (True, False)
    assert (goes_on.on_network, FAILURE.on_network, FAILURE.alters_learning) == (False, True, False)
    assert [each.describe() for each in (goes_on, waits)] == [
        "A away from round 1,000",
        "A away from round 3",
    ]
    gone, pause = goes_on.event(seed=0), waits.event(seed=0)
    assert (gone.silo, gone.first_round, gone.rounds) == ("A", 1000, 2)
    assert (pause.silo, pause.first_round, pause.duration_s) == ("A", 3, 2.0)


def test_a_failure_and_a_trace_have_their_dates():
    assert FAILURE.dates_s() == (10.0, 30.0)
    assert FAILURE.describe() == "Dublin - Frankfurt down from 10 s until 30 s"
    for_ever = FailureKind(link="A - B", from_="1 min")
    assert (for_ever.dates_s(), for_ever.describe()) == ((60.0, inf), "A - B down from 1 min")
    trace = TRACE.event(seed=0)
    assert (trace.date_s.tolist(), trace.capacity_bps.tolist()) == ([0.0, 60.0], [1e9, 2e8])
    assert (trace.period_s, trace.job_start_s, TRACE.dates_s()) == (None, 0.0, (0.0, inf))
    with pytest.raises(InputError, match=r"^at\(=\[\]\) must hold one date or more\.$"):
        CapacityKind(link="A uplink", at=(), capacity=())


@pytest.mark.parametrize(
    ("dates_s", "side"),
    [((0, 10), BEFORE), ((0, 10.5), IN), ((10, 20), IN), ((19.5, 99), IN), ((20, 99), AFTER), ((12, 13), IN)],
)
def test_the_side_of_dates(dates_s, side):
    assert window(from_s=10.0, until_s=20.0).side_of_dates(*dates_s) == side


@pytest.mark.parametrize(
    ("rounds", "side"), [((0, 4), BEFORE), ((0, 5), IN), ((9, 12), IN), ((10, 12), AFTER), ((6, 7), IN)]
)
def test_the_side_of_rounds(rounds, side):
    assert window(first_round=5).side_of_rounds(*rounds) == side
    assert str(window(first_round=1000, last_round=2000)) == "rounds 1,000 to 2,000"


def test_a_repeated_trace_over_its_whole_period_is_one_note():
    daily = CapacityKind(
        link="A uplink", at=("0 s", "4 s"), capacity=("1 Gbps", "2 Gbps"), repeat_every="10 s"
    )

    def notes(from_s, until_s):
        return list(CapacityKind.notes([daily], window(from_s=from_s, until_s=until_s), stops_early=False))

    assert notes(3.0, 13.0) == [(IN, "A uplink's capacities, again every 10 s")]
    assert notes(3.0, 12.9) == [
        (IN, "A uplink at 3 capacities from 0 s, the last from 10.00 s"),
        (AFTER, "A uplink at 2 Gbps from 14.00 s"),
    ]
    assert list(CapacityKind.notes([daily], None, stops_early=False)) == []
    assert daily.describe_cause("x") == "capacity of x: a trace, 1 Gbps to 2 Gbps"


def test_links_in_words(names):
    graph = names.graph
    (down,) = names.directions("Tokyo downlink")
    (up,) = names.directions("Tokyo uplink")
    assert [link_text(graph, link) for link in (up, down)] == ["Tokyo's uplink", "Tokyo's downlink"]
    assert link_text(graph, graph.first_uplink) == f"{graph.labels[0]}'s uplink"
    assert link_text(graph, graph.first_uplink + graph.silos) == f"{graph.labels[0]}'s downlink"
    assert link_text(graph, graph.first_uplink - 1).startswith("core link ")
