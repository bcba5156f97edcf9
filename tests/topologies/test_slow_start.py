"""Slow start: the extra time by hand, in Eq. 3, in designs and in the analyses of an overlay."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_network import measured_like

from simulator import simulate
from topologies import (
    AccessLinks,
    Workload,
    build_overlay,
    build_periodic,
    connectivity,
    design,
    design_periodic,
    load_underlay,
)
from topologies.analysis import (
    UpgradeTerms,
    access_curve,
    explain,
    explanation_lines,
    link_upgrade,
    sensitivities,
)
from topologies.analysis.free_arcs import free_arcs
from topologies.analysis.resources import Resources
from topologies.analysis.upgrade_links import raised_graph, upgrade_links
from topologies.bounds import lower_bound_s, simulated_bound_s
from topologies.compiled_designs import many_designs
from topologies.delays import arc_delays, pair_delays
from topologies.designers.node_order import reordered
from topologies.designers.placed import cycle_time_by_order
from topologies.errors import InputError
from topologies.label_order import in_silo_order
from topologies.periodic_overlay import added_in_states_s
from topologies.slow_start import (
    INITIAL_BITS,
    added_s,
    check_restarts_stay,
    opening,
    opening_of,
    rates_decide_restarts,
    restart_after_s,
    restarts,
    slow_start_s,
    with_added_s,
    with_slow_start,
)
from topologies.state import state_of
from topologies.windows import with_windows

WORK = Workload(model_bits=8e6, compute_s=1.0)
"""A model of 1 MB; silos compute for a second, longer than any time-out."""


def extra_s(bits, rate_bps, trip_s, initial_bits):
    """What slow start adds to one transfer."""
    rounds, sent_bits = opening(bits, np.array(rate_bps), np.array(trip_s), np.array(initial_bits))
    return int(rounds) * trip_s - float(sent_bits) / rate_bps


def by_rounds(bits, rate_bps, trip_s, initial_bits):
    """The same, round trip by round trip: when the last bit leaves, less `bits` at the whole rate."""
    now_s, window, left = 0.0, initial_bits, bits
    while left > window and window < rate_bps * trip_s:
        now_s, left, window = now_s + trip_s, left - window, 2 * window
    return now_s + left / rate_bps - bits / rate_bps


@pytest.mark.parametrize(
    ("bits", "rounds", "extra"),
    [
        # 8 bits fill the round trip of 1 s at 8 bit/s. Windows of 1, 2 and 4 bits are sent, 7 bits in 3 s.
        (100.0, 3, 3.0 - 7 / 8),
        (15.0, 3, 3.0 - 7 / 8),
        (7.0, 2, 2.0 - 3 / 8),  # ends with the window of 4
        (7.5, 3, 3.0 - 7 / 8),
        (3.0, 1, 1.0 - 1 / 8),
        (1.0, 0, 0.0),  # the first window holds it
        (0.5, 0, 0.0),
        (0.0, 0, 0.0),
    ],
)
def test_the_extra_time_by_hand(bits, rounds, extra):
    found, sent_bits = opening(bits, np.array(8.0), np.array(1.0), np.array(1.0))

    assert (int(found), float(sent_bits)) == (rounds, 2.0**rounds - 1)
    assert extra_s(bits, 8.0, 1.0, 1.0) == extra == by_rounds(bits, 8.0, 1.0, 1.0)


def test_a_window_that_fills_the_round_trip_exactly_waits_no_more():
    assert extra_s(100.0, 4.0, 1.0, 1.0) == 2.0 - 3 / 4
    assert extra_s(100.0, 4.0 * (1 + 1e-12), 1.0, 1.0) == pytest.approx(2.0 - 3 / 4, rel=1e-11)
    assert extra_s(100.0, 1.0, 1.0, 1.0) == 0.0


def test_without_round_trips_or_limits():
    """At no latency nothing waits; at an infinite rate a message takes the round trips in which it fits."""
    assert extra_s(100.0, np.inf, 0.0, 1.0) == 0.0
    assert extra_s(100.0, np.inf, 1.0, 1.0) == 6.0  # 63 bits in 6, the other 37 in the seventh
    assert extra_s(100.0, 0.5, 1.0, 1.0) == 0.0


positive = st.floats(1e-3, 1e3)


@given(bits=st.floats(1e-3, 1e6), rate_bps=positive, trip_s=positive, initial_bits=positive)
def test_the_closed_form_is_the_sum_over_rounds(bits, rate_bps, trip_s, initial_bits):
    found = extra_s(bits, rate_bps, trip_s, initial_bits)
    scale = found + bits / rate_bps

    assert found == pytest.approx(
        by_rounds(bits, rate_bps, trip_s, initial_bits), rel=1e-12, abs=1e-12 * scale
    )
    assert found >= 0
    # A larger initial window or a shorter round trip costs no more; a higher rate costs more round trips, in all less.
    assert extra_s(bits, rate_bps, trip_s, 2 * initial_bits) <= found + 1e-12 * scale
    assert extra_s(bits, rate_bps, trip_s / 2, initial_bits) <= found + 1e-12 * scale
    faster = extra_s(bits, 1.5 * rate_bps, trip_s, initial_bits)
    assert faster >= found - 1e-12 * scale
    assert faster + bits / (1.5 * rate_bps) <= scale * (1 + 1e-12)


def test_a_long_fat_path_as_measured():
    """1 MB over 196 ms and 200 Mbit/s with a window of 3.3 MB: six round trips, in which 63 of 70 windows leave."""
    rate_bps = 3.3e6 * 8 / 0.196
    found = extra_s(8e6, rate_bps, 0.196, INITIAL_BITS)

    assert INITIAL_BITS == 115_840
    assert found == pytest.approx(6 * 0.196 - 63 * 115_840 / rate_bps, rel=1e-15)
    # With the latency and the message itself 1.28 s, and 1.47 s with opening the connection; measured: 1.5 s.
    whole_s = 0.098 + 8e6 / rate_bps + found
    assert whole_s == pytest.approx(1.279, abs=1e-3)
    assert whole_s + 0.196 == pytest.approx(1.475, abs=1e-3)


def test_eq_3_adds_it_where_an_arc_idles():
    graph = measured_like()
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    plain, first, idle, always = (
        build_overlay("ring", each, WORK, ring)
        for each in (graph, *(with_slow_start(graph, when) for when in ("first", "idle", "always")))
    )
    source, target = plain.source, plain.target
    trip_s = graph.latency_s[source, target] + graph.latency_s[target, source]
    extra = [
        extra_s(8e6, rate, trip, INITIAL_BITS)
        for rate, trip in zip(plain.rate_bps.tolist(), trip_s.tolist(), strict=True)
    ]

    assert min(extra) > 0.01
    np.testing.assert_array_equal(first.delay_s, plain.delay_s)
    np.testing.assert_allclose(idle.delay_s, plain.delay_s + extra, rtol=1e-14)
    np.testing.assert_allclose(idle.slow_start_s, extra, rtol=1e-14)
    np.testing.assert_allclose(always.delay_s, plain.delay_s + extra + trip_s, rtol=1e-14)
    # An arc that idles is not the one that never rests.
    assert idle.closed_forms.load_bound_s == plain.closed_forms.load_bound_s
    busy = [build_overlay("ring", each.graph, replace(WORK, compute_s=0.05), ring) for each in (plain, idle)]
    assert busy[0].closed_forms == busy[1].closed_forms


def test_the_hub_of_a_star_rests_while_silos_compute():
    graph = with_slow_start(measured_like(), "idle")
    star = design("star", graph, WORK)

    there = star.source, star.target
    ends = (*there, star.rate_bps)
    assert restarts(graph, 8e6, star.compute_s, *ends, hub=star.hub).all()
    # Without computing an arc rests while the model goes back, and for both latencies: longer than the round trip.
    slow = np.full(8, 8e6 / 0.19)
    assert not restarts(graph, 8e6, np.zeros(5), *there, slow, hub=star.hub).any()
    assert restarts(graph, 8e6, np.full(5, 0.02), *there, slow, hub=star.hub).all()
    assert not restarts(graph, 8e6, np.full(5, 0.02), *there, slow).any()
    np.testing.assert_allclose(
        arc_delays(graph, WORK, star.source, star.target, hub=star.hub), star.delay_s, rtol=1e-15
    )


def test_the_time_out_is_a_round_trip_and_200_ms():
    graph = measured_like()
    ends = np.array([0, 1]), np.array([1, 4])
    trip_s = graph.latency_s[ends] + graph.latency_s[ends[::-1]]

    np.testing.assert_allclose(restart_after_s(with_slow_start(graph, "idle"), *ends), trip_s + 0.2)
    assert restart_after_s(with_slow_start(graph, "first"), *ends).tolist() == [np.inf, np.inf]
    assert restart_after_s(with_slow_start(graph, "always"), *ends).tolist() == [-np.inf, -np.inf]


def test_streams_have_initial_windows_of_their_own():
    """Eight streams start at three doublings."""
    graph = measured_like()
    ends = np.array([0]), np.array([3])
    rate_bps, trip_s = np.array([1e9]), graph.latency_s[0, 3] + graph.latency_s[3, 0]
    one, eight = (
        float(slow_start_s(with_slow_start(graph, "idle", streams), 1e12, *ends, rate_bps)[0])
        for streams in (1, 8)
    )
    assert one - eight == pytest.approx(3 * trip_s - 7 * INITIAL_BITS / 1e9, abs=7 * 7 * INITIAL_BITS / 1e9)
    assert eight == pytest.approx(by_rounds(1e12, 1e9, trip_s, 8 * INITIAL_BITS), rel=1e-12)


def test_bad_values_are_refused():
    with pytest.raises(InputError, match="slow_start"):
        with_slow_start(measured_like(), "sometimes")
    work = replace(WORK, overlap=0.5)
    for call in (pair_delays, lambda graph, work: design("star", graph, work)):
        with pytest.raises(InputError, match=r"^slow_start\(='idle'\) must be 'none' where models leave"):
            call(with_slow_start(measured_like(), "idle"), work)
    for streams in (0, 0.5, 2.5, np.nan, np.inf):
        with pytest.raises(InputError, match=rf"^streams\(={streams:g}\) must be a whole number >= 1\.$"):
            with_slow_start(measured_like(), "idle", streams)


def test_pairs_are_arcs_of_degree_1():
    graph = with_slow_start(with_windows(measured_like(), 4e5), "idle")
    arcs = np.array([(i, j) for i in range(5) for j in range(5) if i != j])
    alone = [float(arc_delays(graph, WORK, *arc[:, np.newaxis])[0]) for arc in arcs]

    np.testing.assert_allclose(pair_delays(graph, WORK)[*arcs.T], alone, rtol=1e-15)


@pytest.mark.parametrize("when", ["idle", "always"])
@pytest.mark.parametrize(
    "kind", ["star", "mst", "delta_mbst", "ring", pytest.param("best", marks=pytest.mark.slow)]
)
def test_designs_of_compiled_code_are_the_same(kind, when):
    graph = with_slow_start(measured_like(), when)
    # On five silos a short search makes all kinds of changes.
    short = {"iterations": 5_000} if kind == "best" else {}
    plain = design(kind, graph, WORK, **short)
    with many_designs():
        compiled = design(kind, graph, WORK, **short)
    assert plain.source.tolist() == compiled.source.tolist()
    assert plain.closed_forms == compiled.closed_forms
    # Its own closed form is at least as good as that of the design that does not know of it.
    blind = design(kind, measured_like(), WORK, **short)
    pairs = list(zip(blind.source.tolist(), blind.target.tolist(), strict=True))
    told = build_overlay(kind, graph, WORK, pairs, hub=blind.hub)
    if kind in {"ring", "best"}:
        assert plain.closed_forms.paper_s <= told.closed_forms.paper_s * (1 + 1e-9)


@pytest.mark.parametrize("queueing", ["fifo", "overlap"])
@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
def test_at_constant_rates_always_is_what_closed_forms_say(kind, queueing):
    overlay = design(kind, with_slow_start(measured_like(1), "always"), replace(WORK, compute_s=0.1))
    found = simulate(overlay, 50, sharing="equal", queueing=queueing)
    forms = overlay.closed_forms

    expected = forms.serialized_s if queueing == "fifo" else forms.paper_s
    assert found.cycle_time_s == pytest.approx(expected, rel=1e-9)


def test_so_it_is_on_a_periodic_overlay():
    states = [
        state_of([0, 1, 2, 3, 4], [1, 2, 3, 4, 0], [0.5] * 5),
        state_of([0, 1, 2, 3, 4, 0], [2, 3, 4, 0, 1, 1], [0.5, 0.3, 0.5, 0.5, 0.5, 0.2]),
    ]
    graph = with_slow_start(measured_like(2), "always")
    overlay = build_periodic("two", graph, WORK, states)
    for queueing, form in (("fifo", "serialized_s"), ("overlap", "paper_s")):
        found = simulate(overlay, 60, sharing="equal", queueing=queueing)
        assert found.cycle_time_s == pytest.approx(getattr(overlay.closed_forms, form), rel=1e-9)
    slow_s = np.concatenate(overlay.slow_start_s)
    assert (slow_s > 0).all()


@pytest.mark.parametrize("when", ["first", "idle", "always"])
@pytest.mark.parametrize("kind", ["one_peer_exponential", "base"])
def test_orders_are_searched_by_the_cycle_time_that_is_built(kind, when):
    graph = with_slow_start(measured_like(), when)
    states = design_periodic(kind, graph, WORK).states
    for order in ([0, 1, 2, 3, 4], [3, 0, 4, 2, 1]):
        built = build_periodic(kind, graph, WORK, reordered(states, np.array(order)))
        found_s = cycle_time_by_order(graph, WORK, states)(np.array(order))
        assert found_s == pytest.approx(built.closed_forms.paper_s, rel=1e-12)


def test_rings_of_equal_silos_idle_as_the_static_rule_says():
    """Latency and computing: at max-min shares as at constant rates, the cycle time is Eq. 3's."""
    graph = measured_like(3)
    graph = replace(graph, up_bps=np.full(5, 2e7), down_bps=np.full(5, 2e7), latency_s=np.full((5, 5), 0.02))
    for compute_s in (0.1, 1.0):
        overlay = design("ring", with_slow_start(graph, "idle"), replace(WORK, compute_s=compute_s))
        for sharing in ("maxmin", "equal"):
            found = simulate(overlay, 60, sharing=sharing)
            assert found.cycle_time_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-9)
        assert (overlay.slow_start_s > 0).all() == (compute_s > 0.24)


@given(st.integers(0, 2**32 - 1))
def test_sensitivities_are_finite_differences(seed):
    rng = np.random.default_rng(seed)
    plain = measured_like(int(rng.integers(1000)))
    when, window = ["idle", "always"][seed % 2], rng.uniform(2e5, 4e6, (5, 5))
    designed = design(["ring", "mst", "star"][seed % 3], plain, WORK)
    arcs, hub = list(zip(designed.source.tolist(), designed.target.tolist(), strict=True)), designed.hub

    def tau(graph, work=WORK):
        graph = with_slow_start(with_windows(graph, window), when)
        return build_overlay("test", graph, work, arcs, hub=hub).closed_forms.paper_s

    graph = with_slow_start(with_windows(plain, window), when)
    found = sensitivities(build_overlay("test", graph, WORK, arcs, hub=hub))
    step = 1e-7
    for name, derivative in (("up_bps", found.up_s_per_bps), ("down_bps", found.down_s_per_bps)):
        for silo in np.flatnonzero(derivative).tolist()[:2]:
            taus = []
            for sign in (1, -1):
                values = np.array(getattr(plain, name))
                values[silo] *= 1 + sign * step
                taus.append(tau(replace(plain, **{name: values})))
            numeric = (taus[0] - taus[1]) / (2 * step * getattr(plain, name)[silo])
            assert derivative[silo] == pytest.approx(numeric, rel=1e-4)
    for arc in rng.choice(len(arcs), 3, replace=False).tolist():
        taus = []
        for sign in (1, -1):
            latency_s = np.array(plain.latency_s)
            latency_s[arcs[arc]] *= 1 + sign * step
            taus.append(tau(replace(plain, latency_s=latency_s)))
        numeric = (taus[0] - taus[1]) / (2 * step * plain.latency_s[arcs[arc]])
        assert found.latency_s_per_s[arc] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_analyses_of_other_resources_are_built_overlays():
    graph = with_slow_start(measured_like(), "idle")
    overlay = design("ring", graph, WORK)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))

    resources = Resources.of(overlay)
    assert resources.cycle_time().cycle_time_s == overlay.closed_forms.paper_s
    more = replace(resources, up_bps=3 * graph.up_bps, down_bps=3 * graph.down_bps)
    built = build_overlay(
        "ring", replace(graph, up_bps=3 * graph.up_bps, down_bps=3 * graph.down_bps), WORK, arcs
    )
    assert more.cycle_time().cycle_time_s == pytest.approx(built.closed_forms.paper_s, rel=1e-12)
    # Round trips take no less at more capacity.
    assert built.slow_start_s.sum() > overlay.slow_start_s.sum()

    curve = access_curve(overlay, 1e6, 1e9)
    for capacity_bps in (1e6, 1.3e7, 4.1e7, 2e8, 1e9):
        same = np.full(5, capacity_bps)
        there = build_overlay("ring", replace(graph, up_bps=same, down_bps=same), WORK, arcs)
        assert float(curve(capacity_bps)) == pytest.approx(there.closed_forms.paper_s, rel=1e-9)

    links = upgrade_links(overlay)
    terms = UpgradeTerms.of(overlay, links, "paper")
    assert terms.cycle_time_s(np.zeros(len(terms.links), dtype=bool)) == pytest.approx(
        overlay.closed_forms.paper_s, rel=1e-12
    )
    raised = build_overlay("ring", raised_graph(graph, links), WORK, arcs)
    assert terms.cycle_time_s(np.ones(len(terms.links), dtype=bool)) == pytest.approx(
        raised.closed_forms.paper_s, rel=1e-12
    )
    with pytest.raises(InputError, match="serialized"):
        UpgradeTerms.of(overlay, links, "serialized")


def test_around_a_hub_rates_decide_what_restarts():
    """The star of Gaia: at 1 Gbps a model is back before the time-out, at 100 Mbps it is not."""
    graph = with_slow_start(
        connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9)), "idle"
    )
    star = design("star", graph, Workload(model_bits=8e6, compute_s=0.0254))
    arcs = list(zip(star.source.tolist(), star.target.tolist(), strict=True))
    resources, restarted = Resources.of(star), set()
    for bps in (1e7, 1e8, 1e9, 1e10):
        same = np.full(graph.silos, bps)
        built = build_overlay(
            "star", replace(graph, up_bps=same, down_bps=same), star.work, arcs, hub=star.hub
        )
        moved = replace(resources, up_bps=same, down_bps=same).cycle_time().cycle_time_s
        assert moved == pytest.approx(built.closed_forms.paper_s, rel=1e-12)
        restarted.add(int((built.slow_start_s > 0).sum()))
    assert len(restarted) > 1

    rule = (
        r"^slow_start\(='idle'\) must be 'none', 'first' or 'always' for {} of an overlay with a hub: rates"
    )
    with pytest.raises(InputError, match=rule.format("a curve over the access capacity")):
        access_curve(star, 1e7, 1e10)
    with pytest.raises(InputError, match=rule.format("upgrades")):
        UpgradeTerms.of(star, upgrade_links(star), "paper")
    assert link_upgrade(star) is None
    for upgrade in explain(star).upgrades:
        silo = np.arange(graph.silos) == upgrade.silo
        up_bps, down_bps = (
            np.where(silo & (name in upgrade.link), 2e9, 1e9) for name in ("uplink", "downlink")
        )
        twice = replace(graph, up_bps=up_bps, down_bps=down_bps)
        built = build_overlay("star", twice, star.work, arcs, hub=star.hub)
        assert upgrade.doubled_s == pytest.approx(built.closed_forms.paper_s, rel=1e-12)


def test_around_a_hub_that_no_access_link_limits_other_links_are_not_looked_for():
    graph = with_slow_start(
        connectivity(
            load_underlay("gaia"), access=AccessLinks(up_bps=np.inf, down_bps=np.inf), bandwidth="bottleneck"
        ),
        "idle",
    )
    said = explanation_lines(explain(design("star", graph, WORK)))
    assert "No upgrade of one silo's access link lowers this, nor of an uplink and a downlink" in " ".join(
        said
    )


def test_free_arcs_are_free():
    graph = with_slow_start(measured_like(4), "idle")
    overlay = design("ring", graph, WORK)
    arcs = set(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    free = {(arc.source, arc.target) for arc in free_arcs(overlay)}

    for pair in {(i, j) for i in range(5) for j in range(5) if i != j} - arcs:
        more = build_overlay("more", graph, WORK, sorted({*arcs, pair}))
        is_free = more.closed_forms.paper_s <= overlay.closed_forms.paper_s * (1 + 1e-12)
        assert (pair in free) == is_free


def test_the_explanation_counts_it_as_latency():
    found = explain(design("ring", with_slow_start(measured_like(), "idle"), WORK))

    for arc in found.arcs:
        assert arc.slow_start_s > 0
        assert arc.delay_s == pytest.approx(arc.compute_s + arc.latency_s + arc.transmission_s)
    assert sum(arc.delay_s for arc in found.arcs) == pytest.approx(found.tokens * found.cycle_time_s)
    assert "Of the latency, slow start is" in " ".join(explanation_lines(found))


@pytest.mark.parametrize("when", ["first", "always"])
def test_a_millisecond_less_shortens_the_round_trips_of_both_directions(when):
    plain = measured_like()
    pair = [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0), (0, 4), (4, 0)]
    overlay = build_overlay("star", with_slow_start(plain, when), WORK, pair)
    labels = plain.labels
    found = explain(overlay)

    assert len(found.arcs) == 2
    for arc in found.arcs:
        latency_s = plain.latency_s.copy()
        latency_s[labels.index(arc.source), labels.index(arc.target)] -= 1e-3
        shorter = with_slow_start(replace(plain, latency_s=latency_s), when)
        expected_s = build_overlay("star", shorter, WORK, pair).closed_forms.paper_s
        gain_s = overlay.closed_forms.paper_s - expected_s
        assert arc.latency_ms_gain_s == pytest.approx(gain_s, rel=1e-9)
        assert (gain_s > 0.6e-3) == (when == "always")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compute_s", "megabytes", "kind", "simulated", "paper"),
    [
        (1.0, 0.25, "ring", (1.24, 1.46, 2.00), (1.24, 1.46, 2.00)),
        (1.0, 0.25, "star", (0.91, 0.97, 1.00), (1.01, 1.10, 1.30)),
        (1.0, 1.0, "ring", (1.06, 1.13, 1.35), (1.06, 1.13, 1.35)),
        (1.0, 1.0, "star", (0.96, 0.99, 1.00), (1.00, 1.03, 1.08)),
        (1.0, 4.0, "ring", (1.02, 1.04, 1.09), (1.02, 1.04, 1.09)),
        (1.0, 4.0, "star", (0.99, 1.00, 1.00), (1.00, 1.01, 1.02)),
        (0.05, 0.25, "ring", (1.00, 1.00, 1.00), (1.00, 1.00, 1.00)),
        (0.05, 0.25, "star", (0.92, 0.97, 1.00), (1.01, 1.10, 1.30)),
        (0.05, 1.0, "ring", (1.00, 1.00, 1.23), (1.00, 1.00, 1.00)),
        (0.05, 1.0, "star", (0.96, 0.99, 1.00), (1.00, 1.03, 1.08)),
    ],
)
def test_the_table_of_the_page_is_that_of_20_networks(compute_s, megabytes, kind, simulated, paper):
    """Communication with slow start over that without: smallest, median and largest. Measured: 1.20 and 1.33."""
    found = np.array(list(ratios(kind, Workload(model_bits=megabytes * 8e6, compute_s=compute_s))))
    for column, expected in zip(found.T, (simulated, paper), strict=True):
        stated = [column.min(), np.median(column), column.max()]
        np.testing.assert_allclose(stated, expected, atol=0.0051)


def ratios(kind, work):
    """Simulated and by Eq. 3, for each network."""
    for seed in range(20):
        graph = measured_like(seed)
        plain = design(kind, graph, work)
        arcs = list(zip(plain.source.tolist(), plain.target.tolist(), strict=True))
        slow = build_overlay(kind, with_slow_start(graph, "idle"), work, arcs, hub=plain.hub)
        with_s, without_s = (
            np.array([simulate(each, 60).cycle_time_s, each.closed_forms.paper_s]) - work.compute_s
            for each in (slow, plain)
        )
        yield with_s / without_s


def test_a_simulation_is_never_faster_than_its_bound():
    graph = with_slow_start(measured_like(5), "idle")
    bound_s = simulated_bound_s(graph, WORK)
    for kind in ("ring", "mst", "star"):
        overlay = design(kind, graph, WORK)
        assert simulate(overlay, 40).cycle_time_s >= bound_s * (1 - 1e-9)
        if kind != "star":
            assert overlay.closed_forms.paper_s >= lower_bound_s(graph, WORK) * (1 - 1e-9)


def test_without_slow_start_and_without_a_model_nothing_is_added():
    graph = measured_like()
    source, target = np.array([0, 1]), np.array([1, 2])
    rate_bps = np.full((3, 2), 1e6)

    for network, bits in ((graph, 8e6), (with_slow_start(graph, "always"), 0.0)):
        added = slow_start_s(network, bits, source, target, rate_bps)
        rounds, sent_bits = opening_of(network, bits, source, target, rate_bps)
        assert added.tolist() == rounds.tolist() == sent_bits.tolist() == [[0.0] * 2] * 3


def test_slow_start_follows_silos_to_other_numbers():
    access = AccessLinks(up_bps=1e9, down_bps=1e9)
    plain = connectivity(load_underlay("gaia"), access=access, routers=[7, 1, 4])
    graph = with_slow_start(plain, "idle", [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    ordered, _, order = in_silo_order(graph, WORK)
    pairs = np.ix_(order, order)

    assert order.tolist() == [1, 2, 0]
    assert ordered.slow_start.when == "idle"
    assert ordered.slow_start.initial_bits.tolist() == graph.slow_start.initial_bits[pairs].tolist()
    assert ordered.slow_start.trip_s.tolist() == graph.slow_start.trip_s[pairs].tolist()


def test_in_a_period_a_connection_starts_slowly_where_it_idles_for_longer_than_its_time_out():
    """Two states of a pair, and one in which nobody computes; round trips of 0.1 s."""
    trip_s = np.array([[0.0, 0.1], [0.1, 0.0]])
    plain = replace(
        connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0, 1]),
        latency_s=trip_s / 2,
    )
    graph = with_slow_start(plain, "idle")
    # 0 sends in states 0 and 1, 1 in state 1 only: every third round.
    state, source, target, number = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1]]).T
    rate_bps = np.array([4e6, 2e6, 8e6])

    def added(compute_s, computed=2):
        work = Workload(model_bits=8e6, compute_s=compute_s)
        return added_in_states_s(graph, work, 3, computed, state, source, target, rate_bps, number)

    # A window opens for the slowest state: at 2 Mbit/s 0.2 Mbit fill a round trip, at 8 Mbit/s 0.8.
    of_0 = extra_s(8e6, 2e6, 0.1, INITIAL_BITS)
    of_1 = extra_s(8e6, 8e6, 0.1, INITIAL_BITS)
    # Two thirds of the rounds compute. Idle are 2, 1 and 3 rounds of it and 50 ms; the time-out is 300 ms.
    assert added(0.1).tolist() == [0.0, 0.0, 0.0]
    assert added(0.13) == pytest.approx([0.0, 0.0, of_1])
    assert added(0.2) == pytest.approx([of_0, 0.0, of_1])
    assert added(0.4) == pytest.approx([of_0, of_0, of_1])
    assert added(0.3, computed=1).tolist() == pytest.approx([0.0, 0.0, of_1])


def test_a_message_starts_slowly_again_after_a_round_trip_and_200_ms_never_or_always():
    graph = measured_like()
    source, target = np.array([0, 3]), np.array([1, 2])
    trip_s = graph.latency_s[source, target] + graph.latency_s[target, source]

    assert restart_after_s(graph, source, target).tolist() == [np.inf] * 2
    assert restart_after_s(with_slow_start(graph, "first"), source, target).tolist() == [np.inf] * 2
    assert restart_after_s(with_slow_start(graph, "always"), source, target).tolist() == [-np.inf] * 2
    idle = restart_after_s(with_slow_start(graph, "idle"), source, target)
    assert idle == pytest.approx(trip_s + 0.2, rel=1e-12)
    every = np.arange(5)
    assert restart_after_s(with_slow_start(graph, "first"), every[:, np.newaxis], every).shape == (5, 5)
    never, always = (
        restarts(with_slow_start(graph, when), 8e6, np.zeros(5), source, target, np.full(2, 1e6))
        for when in ("first", "always")
    )
    assert (never.tolist(), always.tolist()) == ([False] * 2, [True] * 2)


@pytest.mark.parametrize(("hub", "starts_slowly"), [(None, [False] * 4), (0, [True, True, False, False])])
def test_around_a_hub_the_computing_at_the_other_end_and_the_way_back_are_idle_time(hub, starts_slowly):
    """Round trips of 0.1 s; 8 Mbit take 0.1 s back from silo 1, 0.01 s from silo 2."""
    silos = np.arange(3)
    plain = replace(
        connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=silos),
        latency_s=0.05 * (1 - np.eye(3)),
    )
    graph = with_slow_start(plain, "idle")
    source, target = np.array([0, 1, 0, 2]), np.array([1, 0, 2, 0])
    # Silos 1 and 2 compute for 0.12 s, the hub for as long as nobody waits for it.
    compute_s = np.array([0.0, 0.12, 0.12])
    rate_bps = np.array([8e7, 8e7, 8e8, 8e8])

    # 0.12 + 0.05 + 0.05 + 0.1 s of idling are more than 0.3 s; 0.12 + 0.05 + 0.05 + 0.01 s are not.
    found = restarts(graph, 8e6, compute_s, source, target, rate_bps, hub=hub)
    assert found.tolist() == starts_slowly


def test_what_slow_start_adds_keeps_an_arc_busy_only_where_each_message_opens_a_connection():
    graph, seconds = measured_like(), np.array([1.0, 2.0])
    for when, busy_s in (
        (None, [3.0, 3.0]),
        ("first", [3.0, 3.0]),
        ("idle", [3.0, 3.0]),
        ("always", [3.5, 3.25]),
    ):
        network = graph if when is None else with_slow_start(graph, when)
        delay, busy = with_added_s(network, seconds, np.full(2, 3.0), np.array([0.5, 0.25]))
        assert delay.tolist() == ([1.0, 2.0] if when is None else [1.5, 2.25])
        assert busy.tolist() == busy_s


@pytest.mark.parametrize("when", ["first", "idle", "always", None])
@pytest.mark.parametrize("hub", [None, 0])
def test_rates_decide_what_restarts_around_a_hub_that_idles(when, hub):
    graph = measured_like() if when is None else with_slow_start(measured_like(), when)
    decide = when == "idle" and hub == 0

    assert rates_decide_restarts(graph, hub) is decide
    if not decide:
        check_restarts_stay(graph, hub, "a curve")
        return
    with pytest.raises(InputError) as caught:
        check_restarts_stay(graph, hub, "a curve")
    assert str(caught.value) == (
        "slow_start(='idle') must be 'none', 'first' or 'always' for a curve of an overlay with a hub: rates decide "
        "which of its arcs start slowly."
    )


@pytest.mark.parametrize("when", ["first", "idle", "always"])
def test_a_silo_alone_starts_nothing_slowly(when):
    access = AccessLinks(up_bps=1e9, down_bps=1e9)
    graph = with_slow_start(connectivity(load_underlay("gaia"), access=access, routers=[0]), when)
    state = state_of([], [], [])

    overlay = build_periodic("mine", graph, WORK, [state, state])
    assert [added.tolist() for added in overlay.slow_start_s] == [[], []]
    assert overlay.closed_forms.paper_s == 1.0
    assert build_overlay("mine", graph, WORK, []).slow_start_s.tolist() == []


def test_an_arc_sends_in_every_round_unless_more_rounds_lie_between():
    """Time-outs of 0.3 s; a round computes for 0.2 s, and the latency is 50 ms."""
    plain = replace(
        connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0, 1]),
        latency_s=0.05 * (1 - np.eye(2)),
    )
    graph, ends = with_slow_start(plain, "idle"), (np.array([0, 1]), np.array([1, 0]))
    compute_s, rate_bps = np.full(2, 0.2), np.full(2, 1e8)

    assert restarts(graph, 8e6, compute_s, *ends, rate_bps).tolist() == [False, False]
    assert restarts(graph, 8e6, compute_s, *ends, rate_bps, rounds=np.array([1, 2])).tolist() == [False, True]
    slow_s = slow_start_s(graph, 8e6, *ends, rate_bps)
    assert slow_s.min() > 0
    assert added_s(graph, 8e6, compute_s, *ends, rate_bps).tolist() == [0.0, 0.0]
    assert added_s(graph, 8e6, compute_s, *ends, rate_bps, rounds=2).tolist() == slow_s.tolist()
