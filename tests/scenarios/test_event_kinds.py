"""Kinds of events: the texts of their entries, and what they cause on links, routes and silos."""

from math import inf

import pytest

from scenarios.config.events.background_traffic import BackgroundKind
from scenarios.config.events.capacity_trace import CapacityKind
from scenarios.config.events.kind import EventKind
from scenarios.config.events.link_failure import FailureKind
from scenarios.config.events.silo_absence import AbsenceKind
from scenarios.config.events.window import AFTER, IN, Window
from scenarios.config.network import NetworkConfig, build_network
from simulator.world.names import Names
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
