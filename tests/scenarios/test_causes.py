"""The cause of an arc's largest term: which assumption fails, where, and the numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.events.cause import link_text
from scenarios.config.quantities import digits, format_rate, format_s
from scenarios.validation.causes import _models_on, cause_of
from scenarios.validation.terms import Terms
from topologies import AccessLinks, Workload, connectivity, design, load_underlay
from topologies.analysis.resources import Resources

CYCLE_S = 2.0


@pytest.fixture(scope="module")
def star():
    """Gaia's star: the hub's uplink and downlink limit the arcs that leave and enter it."""
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e7, down_bps=1e7))
    return design("star", graph, Workload(model_bits=1e6, compute_s=0.01))


def cause(overlay, arc, cycle_time_s=CYCLE_S, **values):
    """Cause of an arc where all terms are 0 but those given as {arc: value}."""
    size = overlay.arcs + overlay.graph.silos
    arrays = {name: np.zeros(size) for name in Terms.__slots__}
    arrays["link"] = np.full(size, -1)
    for name, entries in values.items():
        for index, value in entries.items():
            arrays[name][index] = value
    return cause_of(Resources.of(overlay), arc, Terms(**arrays), cycle_time_s)


def test_an_arc_without_terms_has_no_cause(star):
    found = cause(star, 3)

    assert (found.assumption, found.place) == ("", "")


@pytest.mark.parametrize(("share", "is_named"), [(0.9e-6, False), (1.1e-6, True)])
@pytest.mark.parametrize("term", ["queue_s", "rate_s"])
def test_a_millionth_of_the_cycle_time_is_negligible(star, term, share, is_named):
    assert (cause(star, 3, **{term: {3: share * CYCLE_S}}).assumption != "") == is_named


@pytest.mark.parametrize(("share", "is_named"), [(0.9e-3, False), (1.1e-3, True)])
def test_random_computing_times_differ_by_a_thousandth_by_chance(star, share, is_named):
    found = cause(star, 3, computing_s={3: share * CYCLE_S})

    assert (found.assumption == "computing") == is_named


@pytest.mark.parametrize("sign", [1, -1])
def test_computing_names_the_silo_and_how_much_longer_it_takes(star, sign):
    found = cause(star, 3, computing_s={3: sign * 0.05})
    label = star.graph.labels[star.source[3]]

    assert (found.assumption, found.place) == ("computing", label)
    assert label in found.explanation
    assert "50.00 ms" in found.explanation
    assert ("more" in found.explanation, "less" in found.explanation) == (sign > 0, sign < 0)


@pytest.mark.parametrize(
    ("largest", "assumption"),
    [
        ("queue_s", "serialization"),
        ("slow_s", "slow start"),
        ("rate_s", "shared link"),
        ("wait_s", "wait"),
        ("computing_s", "computing"),
    ],
)
def test_the_largest_term_is_the_cause(star, largest, assumption):
    terms = {name: {3: 0.1} for name in ("queue_s", "slow_s", "rate_s", "wait_s", "computing_s")} | {
        largest: {3: 0.11}
    }

    assert cause(star, 3, **terms).assumption == assumption


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_a_queue_has_the_time_of_one_model_on_its_link(star, factor):
    sending_s, link = factor * star.closed_forms.paper_s, star.routes[3][0]
    found = cause(star, 3, queue_s={3: 0.3}, sending_s={3: sending_s}, link={3: link})

    assert (found.assumption, found.place) == ("serialization", link_text(star.graph, link))
    for fact in (format_s(sending_s), format_s(star.closed_forms.paper_s), "300.0 ms", found.place):
        assert fact in found.explanation
    # A link that could send more often than the cycle asks for queues because models come in bunches.
    assert ("unevenly" in found.explanation) == (factor < 1)


def test_a_queue_where_no_link_bounds_the_rate_is_on_its_route(star):
    assert cause(star, 3, queue_s={3: 0.3}).place == "its route"


def test_a_shared_link_has_the_number_of_arcs_that_cross_it(star):
    hub = int(np.bincount(star.source).argmax())
    arc = int(np.flatnonzero(star.source == hub)[0])
    link = star.routes[arc][0]
    found = cause(star, arc, rate_s={arc: 0.2}, sending_s={arc: 0.7}, link={arc: link})

    assert (found.assumption, found.place) == ("shared link", f"{star.graph.labels[hub]}'s uplink")
    assert "10 arcs" in found.explanation
    assert "700.0 ms" in found.explanation
    assert format_s(float(star.transmission_s[arc])) in found.explanation


@pytest.mark.parametrize(("ends", "position", "link"), [("source", 0, "uplink"), ("target", -1, "downlink")])
def test_an_unused_share_is_that_of_the_link_that_eq_3_divides(star, ends, position, link):
    hub = int(np.bincount(star.source).argmax())
    arc = int(np.flatnonzero(getattr(star, ends) == hub)[0])
    found = cause(star, arc, rate_s={arc: -0.2}, sending_s={arc: float(star.transmission_s[arc]) / 4})

    assert (found.assumption, found.place) == ("unused share", f"{star.graph.labels[hub]}'s {link}")
    assert found.place == link_text(star.graph, star.routes[arc][position])
    assert "10 Mbps" in found.explanation
    assert "into 10" in found.explanation
    assert f"{digits(4)} times" in found.explanation


def test_an_unused_share_of_a_core_link_is_that_of_a_route_of_so_many_links():
    graph = connectivity(
        load_underlay("geant"), access=AccessLinks(up_bps=1e13, down_bps=1e13), bandwidth="hop_share"
    )
    star = design("star", graph, Workload(model_bits=1e6, compute_s=0.01))
    # The first link of a route is an uplink, the last one a downlink.
    arc, route = max(enumerate(star.routes), key=lambda each: len(each[1]))
    core_bps = [graph.core_bps[link // 2] for link in route[1:-1]]
    found = cause(star, arc, rate_s={arc: -0.2}, sending_s={arc: float(star.transmission_s[arc]) / 4})

    assert len(core_bps) > 1
    assert found.assumption == "unused share"
    assert found.place == link_text(graph, route[1 + int(np.argmin(core_bps))])
    assert found.place.startswith("core link ")
    assert found.explanation == (
        f"unused share: Eq. 3 divides {found.place}, {format_rate(min(core_bps))}, by the route's {len(core_bps)} "
        "links; the fair share is 4.000 times that"
    )


def test_more_than_a_measured_bandwidth_has_no_link(star):
    slow = replace(star.graph, available_bps=np.where(star.graph.available_bps > 0, 1e4, 0.0))
    measured = design("star", slow, star.work)
    found = cause(measured, 3, rate_s={3: -0.2}, sending_s={3: float(measured.transmission_s[3]) / 4})

    assert (found.assumption, found.place) == ("unused share", "")
    assert found.explanation == "unused bandwidth: the fair share is 4.000 times the measured one"


def test_a_shared_link_that_one_arc_crosses_is_told_in_the_singular(star):
    arc = int(np.flatnonzero(star.source != np.bincount(star.source).argmax())[0])
    found = cause(star, arc, rate_s={arc: 0.2}, sending_s={arc: 0.7}, link={arc: star.routes[arc][0]})

    assert f"shared {found.place}: 1 arc of the overlay crosses it; one model" in found.explanation


def test_a_model_that_takes_no_time_is_faster_any_times(star):
    assert "any times" in cause(star, 0, rate_s={0: -0.2}).explanation


def test_a_wait_is_for_the_arc_that_gates_and_for_its_cause(star):
    hub = int(np.bincount(star.source).argmax())
    first, second, third = np.flatnonzero(star.target == hub)[:3].tolist()
    waits = {"wait_s": {first: 0.4}, "gated": {second: 0.9, third: 0.1}}
    place = f"{star.graph.labels[star.source[second]]} -> {star.graph.labels[hub]}"
    plain = cause(star, first, **waits)
    queued = cause(star, first, **waits, queue_s={second: 0.3}, sending_s={second: 0.6})

    assert (plain.assumption, plain.place) == (queued.assumption, queued.place) == ("wait", place)
    assert "400.0 ms" in plain.explanation
    assert "serialization" not in plain.explanation
    assert all(fact in queued.explanation for fact in ("serialization", "600.0 ms", "300.0 ms"))


@pytest.mark.parametrize(
    ("rate_s", "is_told"), [(0.2, True), (-0.2, False), (1e-9, False), (1.9e-6, False), (2.1e-6, True)]
)
def test_a_wait_is_for_an_arc_that_is_slow_and_not_for_one_that_is_fast(star, rate_s, is_told):
    hub = int(np.bincount(star.source).argmax())
    first, second = np.flatnonzero(star.target == hub)[:2].tolist()
    link = {second: star.routes[second][-1]}
    found = cause(star, first, wait_s={first: 0.4}, gated={second: 1.0}, rate_s={second: rate_s}, link=link)

    gating = f"{star.graph.labels[star.source[second]]} -> {star.graph.labels[hub]}"
    waits = f"{star.graph.labels[hub]} waits 400.0 ms more for {gating}"
    assert found.explanation.startswith(f"{waits} (shared " if is_told else waits)
    assert ("(" in found.explanation) == is_told


def test_an_arc_does_not_wait_for_itself(star):
    hub = int(np.bincount(star.source).argmax())
    first, second = np.flatnonzero(star.target == hub)[:2].tolist()
    found = cause(star, first, wait_s={first: 0.4}, gated={first: 0.9, second: 0.1})

    assert found.place == f"{star.graph.labels[star.source[second]]} -> {star.graph.labels[hub]}"


def test_a_silo_may_wait_for_its_own_computing(star):
    hub = int(np.bincount(star.source).argmax())
    arc = int(np.flatnonzero(star.target == hub)[0])
    found = cause(star, arc, wait_s={arc: 0.4}, gated={star.arcs + hub: 1.0})

    assert (found.assumption, found.place) == ("wait", star.graph.labels[hub])
    assert "400.0 ms" in found.explanation


@pytest.mark.parametrize(
    ("terms", "assumption"),
    [
        ({"queue_s": 0.1, "slow_s": 0.1}, "slow start"),
        ({"queue_s": 0.1 * (1 + 5e-10), "slow_s": 0.1}, "slow start"),
        ({"queue_s": 0.1 * (1 + 8e-10), "slow_s": 0.1}, "slow start"),
        ({"queue_s": 0.1 * (1 + 2e-9), "slow_s": 0.1}, "serialization"),
        ({"queue_s": 0.1, "rate_s": 0.1}, "serialization"),
        ({"queue_s": 0.1, "rate_s": 0.1 * (1 + 5e-10)}, "shared link"),
        ({"wait_s": 0.1, "rate_s": 0.1}, "shared link"),
        ({"wait_s": 0.1, "computing_s": 0.1}, "wait"),
    ],
)
def test_of_terms_that_differ_by_rounding_a_slow_start_is_the_cause(star, terms, assumption):
    assert cause(star, 3, **{name: {3: value} for name, value in terms.items()}).assumption == assumption


@pytest.mark.parametrize(("term", "share"), [("queue_s", 1e-6), ("wait_s", 1e-6), ("computing_s", 1e-3)])
def test_a_negligible_term_is_one_of_exactly_its_share(star, term, share):
    assert cause(star, 3, **{term: {3: share * CYCLE_S}}).assumption == ""
    assert cause(star, 3, **{term: {3: np.nextafter(share * CYCLE_S, 1)}}).assumption != ""


@pytest.mark.parametrize(
    ("slow_s", "idles", "when"),
    [(0.25, "longer", "later"), (-0.25, "less", "earlier"), (1.5, "longer", "later")],
)
def test_a_slow_start_is_longer_or_less_than_closed_forms_take_it_to(star, slow_s, idles, when):
    found = cause(star, 3, slow_s={3: slow_s})
    place = f"{star.graph.labels[star.source[3]]} -> {star.graph.labels[star.target[3]]}"

    assert (found.assumption, found.place) == ("slow start", place)
    assert found.explanation == (
        f"slow start: {place} idles {idles} than closed forms take it to, and its models start "
        f"{format_s(abs(slow_s))} {when}"
    )


def test_the_first_link_of_a_network_is_a_place_like_others(star):
    found = cause(star, 3, queue_s={3: 0.3}, link={3: 0})

    assert found.place == link_text(star.graph, 0)


def test_the_first_silo_may_wait_for_its_own_computing(star):
    arc = int(np.flatnonzero(star.target == 0)[0])
    found = cause(star, arc, wait_s={arc: 0.4}, gated={star.arcs: 1.0})

    assert found.place == star.graph.labels[0]
    assert found.explanation == f"{found.place} waits 400.0 ms more for its own computing"


def test_an_unused_share_is_by_the_capacity_of_its_core_link():
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e13, down_bps=1e13))
    star = design("star", graph, Workload(model_bits=1e6, compute_s=0.01))
    for arc, route in list(enumerate(star.routes))[::5]:
        core_bps = [graph.core_bps[link // 2] for link in route[1:-1]]
        text = cause(star, arc, rate_s={arc: -0.2}, sending_s={arc: 1.0}).explanation

        assert f", {format_rate(min(core_bps))}, by the route's {len(core_bps)} links;" in text


@pytest.mark.parametrize(
    ("link", "models"),
    [
        # Of three arcs over link 3 one has only its acknowledgements there.
        (3, 2),
        (4, 1),
        # Windows 10 and 11 follow what an arc crosses; 12 is a capacity that link 3 shares.
        (10, 1),
        (11, 2),
        (12, 2),
        (13, 1),
    ],
)
def test_models_on_a_link_are_those_that_cross_it_without_acknowledgements(link, models):
    occupied = [
        SimpleNamespace(links=(3, 4, 10, 12), hops=2),
        SimpleNamespace(links=(3, 5, 11, 12), hops=2),
        SimpleNamespace(links=(5, 6, 3, 11, 12, 13), hops=2),
    ]
    shared = [SimpleNamespace(usage={3: 1.0}), SimpleNamespace(usage={6: 1.0, 7: 1.0})]
    graph = SimpleNamespace(
        occupied=lambda arcs: occupied[: len(list(arcs))], first_window=10, first_shared=12, shared=shared
    )
    overlay = SimpleNamespace(graph=graph, source=np.arange(3), target=np.arange(3))

    assert _models_on(overlay, link) == models


def test_two_arcs_over_a_link_are_told_in_the_plural(star, monkeypatch):
    monkeypatch.setattr("scenarios.validation.causes._models_on", lambda _overlay, _link: 2)
    found = cause(star, 3, rate_s={3: 0.2}, sending_s={3: 0.7}, link={3: star.routes[3][0]})

    assert ": 2 arcs of the overlay cross it; one model" in found.explanation
