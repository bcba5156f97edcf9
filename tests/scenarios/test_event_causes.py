"""The words on what events change of an arc: which term, at which place, and what comes first."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.events.cause import Cause, link_text
from scenarios.validation.event_causes import both, event_cause, is_told, world_s
from scenarios.validation.terms import Terms
from topologies import AccessLinks, Workload, connectivity, design, load_underlay


def named(assumption, place="", explanation=None):
    return Cause(assumption=assumption, place=place, explanation=explanation or f"by {assumption}")


QUEUE, WORLD = named("serialization", "A, B"), named("background", "B, C")


@pytest.mark.parametrize(
    ("first_s", "second_s", "assumption", "place"),
    [
        (1.0, 0.1, "serialization and background", "A, B, C"),
        (1.0, 0.09, "serialization", "A, B"),
        (-1.0, 0.5, "serialization and background", "A, B, C"),
        (1.0, 1.0, "serialization and background", "A, B, C"),
        (0.1, -1.0, "background and serialization", "B, C, A"),
        (0.09, 1.0, "background", "B, C"),
    ],
)
def test_of_two_causes_the_larger_comes_first_and_one_below_a_tenth_is_left_out(
    first_s, second_s, assumption, place
):
    found = both(QUEUE, WORLD, first_s, second_s, is_told=False)

    assert (found.assumption, found.place) == (assumption, place)
    assert found.explanation == "; ".join(f"by {name}" for name in assumption.split(" and "))


@pytest.mark.parametrize(
    ("second_s", "assumption"), [(0.0, "serialization and background"), (20.0, "background")]
)
def test_a_link_that_is_down_is_told_beside_a_larger_cause(second_s, assumption):
    assert both(QUEUE, WORLD, 1.0, second_s, is_told=True).assumption == assumption


def test_where_only_the_events_are_a_cause_they_are_all():
    assert both(named(""), WORLD, 9.0, 0.1, is_told=False) == WORLD


def test_the_same_assumption_is_named_once():
    assert both(named("wait", "A"), named("wait", "A"), 1.0, 1.0, is_told=False).assumption == "wait"
    assert both(named("wait", "A"), named("wait", "A"), 1.0, 1.0, is_told=False).place == "A"


@pytest.fixture(scope="module")
def star():
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e7, down_bps=1e7))
    return design("star", graph, Workload(model_bits=1e6, compute_s=0.01))


def terms(overlay, **values):
    """Terms that are all 0 but those given as {arc: value}."""
    size = overlay.arcs + overlay.graph.silos
    arrays = {name: np.zeros(size) for name in Terms.__slots__}
    arrays["link"] = np.full(size, -1)
    for name, entries in values.items():
        for arc, value in entries.items():
            arrays[name][arc] = value
    return Terms(**arrays)


def events(*, on_links=None, silo=None, route=()):
    """Events of one table, that meet some links, all silos, or all routes."""
    return SimpleNamespace(
        tables=("background",),
        on_links=on_links or {},
        on_silo=lambda _silo: silo,
        on_route=lambda _route, _detour_s: iter(route),
    )


def test_what_the_events_change_is_the_sum_of_all_terms(star):
    more = terms(star, queue_s={3: 0.1}, rate_s={3: -0.3}, wait_s={3: 0.5}, computing_s={3: 0.7})

    assert world_s(more, terms(star, wait_s={3: 0.25}), 3) == pytest.approx(0.75)


def test_more_computing_is_the_silos_event(star):
    more = terms(star, computing_s={3: 0.2}, queue_s={3: 0.1})
    found = event_cause(star, 3, more, terms(star), events(silo=named("pause", "X", "X pauses")))

    assert found == named("pause", "X", "X pauses; 300.0 ms more than without")


def test_a_slower_rate_is_the_event_on_the_link_that_bounds_it(star):
    link = star.routes[3][0]
    more = terms(star, rate_s={3: -0.2}, link={3: link})
    found = event_cause(star, 3, more, terms(star), events(on_links={link: (named("capacity", "L"),)}))

    assert found == named("capacity", "L", "by capacity; 200.0 ms less than without")


def test_without_an_event_of_its_own_an_arc_meets_the_models_of_others(star):
    link = star.routes[3][0]
    on_a_link = event_cause(star, 3, terms(star, queue_s={3: 0.2}, link={3: link}), terms(star), events())
    nowhere = event_cause(star, 3, terms(star, queue_s={3: 0.2}), terms(star), events())

    text = "models of other arcs, which background delays or leads there, on {}; 200.0 ms more than without"
    place = link_text(star.graph, link)
    assert on_a_link == named("others' delays", place, text.format(place))
    assert nowhere == named("others' delays", "", text.format("its route"))


@pytest.mark.parametrize("down", [(), (named("failure", "L"),)])
def test_a_link_of_the_route_that_is_down_is_told(star, down):
    assert is_told(star, 3, terms(star), events(route=down)) == bool(down)


@pytest.fixture(scope="module")
def at_the_hub(star):
    """The hub's label, two arcs into it, and the second one's source."""
    hub = int(np.bincount(star.source).argmax())
    first, second = np.flatnonzero(star.target == hub)[:2].tolist()
    return star.graph.labels[hub], first, second, star.graph.labels[star.source[second]]


@pytest.mark.parametrize(
    ("wait_s", "longer", "later"), [(0.4, "longer", "later"), (-0.4, "shorter", "earlier")]
)
def test_a_wait_is_for_the_arc_that_gates_when_it_is_longer(star, at_the_hub, wait_s, longer, later):
    hub, first, second, source = at_the_hub
    # A wait that shrinks was for what gated without the events.
    waits, gates = {"wait_s": {first: wait_s}}, {"gated": {second: 1.0}}
    more, less = (waits | gates, {}) if wait_s > 0 else (waits, gates)
    found = event_cause(star, first, terms(star, **more), terms(star, **less), events())

    assert (found.assumption, found.place) == ("wait and others' delays", f"{source} -> {hub}")
    assert found.explanation == (
        f"{hub} waits 400.0 ms {longer} for {source} -> {hub} ({source} itself starts {later} by background)"
    )


@pytest.mark.parametrize(("rate_s", "assumption"), [(0.05, "background"), (0.039, "others' delays")])
def test_a_wait_names_what_slows_the_gating_arc_by_a_tenth_of_it(star, at_the_hub, rate_s, assumption):
    _hub, first, second, _source = at_the_hub
    link = star.routes[second][0]
    more = terms(star, wait_s={first: 0.4}, gated={second: 1.0}, rate_s={second: rate_s}, link={second: link})
    found = event_cause(star, first, more, terms(star), events(on_links={link: (named("background"),)}))

    assert found.assumption == f"wait and {assumption}"


@pytest.mark.parametrize("pause", [None, named("pause", "X", "X pauses")])
def test_a_silo_that_waits_for_its_own_computing_may_pause(star, at_the_hub, pause):
    hub, first, _second, _source = at_the_hub
    own = star.arcs + star.graph.labels.index(hub)
    more = terms(star, wait_s={first: 0.4}, gated={own: 1.0})
    found = event_cause(star, first, more, terms(star), events(silo=pause))

    text = f"{hub} waits 400.0 ms longer for its own computing"
    expected = (
        named("wait and pause", f"{hub}, X", f"{text} (X pauses)") if pause else named("wait", hub, text)
    )
    assert found == expected


def test_a_link_that_is_down_is_told_beside_a_wait(star, at_the_hub):
    hub, first, second, source = at_the_hub
    more = terms(star, wait_s={first: 0.4}, gated={second: 1.0})
    found = event_cause(star, first, more, terms(star), events(route=[named("failure", "L", "L is down")]))

    assert found.assumption == "wait and others' delays and failure"
    assert found.place == f"{source} -> {hub}, L"
    assert found.explanation.endswith("; L is down")


def test_a_gating_arc_that_is_slower_by_just_a_tenth_is_named(star, at_the_hub):
    _hub, first, second, _source = at_the_hub
    link = star.routes[second][0]
    more = terms(star, wait_s={first: 0.5}, gated={second: 1.0}, rate_s={second: 0.05}, link={second: link})
    found = event_cause(star, first, more, terms(star), events(on_links={link: (named("background"),)}))

    assert found.assumption == "wait and background"


def test_what_the_gating_arc_waits_itself_does_not_slow_its_models(star, at_the_hub):
    hub, first, second, source = at_the_hub
    more = terms(star, wait_s={first: 0.5, second: 0.4}, gated={second: 1.0})
    found = event_cause(star, first, more, terms(star), events())

    assert found.explanation.endswith(f"for {source} -> {hub} ({source} itself starts later by background)")


def test_the_first_silos_own_computing_gates_and_has_no_route(star):
    arc, own = int(np.flatnonzero(star.target == 0)[0]), star.arcs
    waits = event_cause(star, arc, terms(star, wait_s={arc: 0.5}, gated={own: 1.0}), terms(star), events())
    assert waits == named(
        "wait", star.graph.labels[0], f"{star.graph.labels[0]} waits 500.0 ms longer for its own computing"
    )

    asked = []
    seen = events()
    seen.on_route = lambda route, detour_s: iter(asked.append((tuple(route), detour_s)) or ())
    event_cause(star, own, terms(star, computing_s={own: 0.2}), terms(star), seen)
    event_cause(star, 3, terms(star, rate_s={3: 0.2}, detour_s={3: 0.125}), terms(star), seen)
    assert asked == [((), 0.0), (tuple(star.routes[3]), 0.125)]


def test_the_first_link_of_a_network_is_a_place_like_others(star):
    found = event_cause(star, 3, terms(star, queue_s={3: 0.2}, link={3: 0}), terms(star), events())

    assert found.place == link_text(star.graph, 0)
