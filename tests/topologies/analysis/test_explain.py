"""Explanations: gains against networks built anew, the best upgrade against all upgrades, words against a page."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design, design_random
from topologies.analysis import (
    access_upgrades,
    explain,
    explanation_lines,
    explanation_rows,
    joint_upgrades,
)
from topologies.analysis.explain import _limits
from topologies.analysis.explanation_text import _streams
from topologies.analysis.resources import Resources, bandwidth_terms

INATURALIST = Workload.preset("inaturalist", variant="published")
seeds = st.integers(0, 2**32 - 1)


def tau(overlay) -> float:
    return overlay.proof.cycle_time_s


def text(overlay) -> str:
    return " ".join(explanation_lines(explain(overlay)))


@given(seed=seeds, ties=st.booleans())
def test_gains_are_those_of_networks_built_anew(random_case, seed, ties):
    case = random_case(seed, ties=ties)
    overlay = case.build()
    explanation, graph = explain(overlay), overlay.graph
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    core = 2 * graph.underlay.links

    for index, found in zip(overlay.proof.circuit, explanation.arcs, strict=True):
        if index >= overlay.arcs:
            assert found.resources == ()
            continue
        i, j = arcs[index]
        up, down, links = case.up_bps.copy(), case.down_bps.copy(), case.underlay.capacity_bps.copy()
        rates = case.bandwidth if isinstance(case.bandwidth, str) else case.bandwidth.copy()
        for name in found.resources:
            if name == f"{graph.labels[i]} uplink":
                up[i] += 1e9
            elif name == f"{graph.labels[j]} downlink":
                down[j] += 1e9
            elif name == f"measured bandwidth {graph.labels[i]} -> {graph.labels[j]}":
                rates[i, j] += 1e9
            else:
                named = [k for k in overlay.routes[index] if k < core and name.endswith(graph.link_name(k))]
                links[[k // 2 for k in named]] += 1e9
        if found.resources:
            better = case.with_(up_bps=up, down_bps=down, core_bps=links, bandwidth=rates).build()
            assert found.gbps_gain_s == pytest.approx(tau(overlay) - tau(better), rel=1e-9, abs=1e-13)
        if found.latency_ms_gain_s is not None:
            latency_s = graph.latency_s.copy()
            latency_s[i, j] = max(0.0, latency_s[i, j] - 1e-3)
            nearer = build_overlay("test", replace(graph, latency_s=latency_s), case.work, arcs, hub=case.hub)
            assert found.latency_ms_gain_s == pytest.approx(tau(overlay) - tau(nearer), rel=1e-9, abs=1e-13)
        if found.compute_ms_gain_s is not None:
            compute_s = overlay.compute_s.copy()
            compute_s[i] = max(0.0, compute_s[i] - 1e-3)
            share = case.work.backward_share
            work = Workload(model_bits=case.work.model_bits, compute_s=compute_s, overlap=share)
            faster = build_overlay("test", graph, work, arcs, hub=case.hub)
            assert found.compute_ms_gain_s == pytest.approx(tau(overlay) - tau(faster), rel=1e-9, abs=1e-13)


@given(seed=seeds, ties=st.booleans())
@settings(max_examples=settings().max_examples // 2)
def test_no_upgrade_is_better_than_the_best(random_case, seed, ties):
    case = random_case(seed, ties=ties)
    overlay = case.build()
    found = {(upgrade.silo, upgrade.link): upgrade for upgrade in access_upgrades(overlay)}

    def with_times(silo, link, factor):
        up, down = case.up_bps.copy(), case.down_bps.copy()
        if "uplink" in link:
            up[silo] *= factor
        if "downlink" in link:
            down[silo] *= factor
        return tau(case.with_(up_bps=up, down_bps=down).build())

    best = {}
    for silo in range(overlay.graph.silos):
        for link in ("uplink", "downlink", "uplink and downlink"):
            doubled_s, unlimited_s = (with_times(silo, link, factor) for factor in (2.0, np.inf))
            best[silo, link] = doubled_s
            if (silo, link) in found:
                assert found[silo, link].doubled_s == pytest.approx(doubled_s, rel=1e-12)
                assert found[silo, link].unlimited_s == pytest.approx(unlimited_s, rel=1e-12)
            elif link != "uplink and downlink":
                assert min(doubled_s, unlimited_s) >= tau(overlay) * (1 - 1e-11)
    lowest = access_upgrades(overlay)[0].doubled_s if found else tau(overlay)
    assert lowest == pytest.approx(min(best.values()), rel=1e-11)


@given(seed=seeds, ties=st.booleans())
def test_words_and_rows(random_case, seed, ties):
    overlay = random_case(seed, ties=ties).build()
    explanation = explain(overlay)
    lines, rows = explanation_lines(explanation), explanation_rows(explanation)

    assert lines
    assert all(0 < len(line) <= 80 and line.isascii() for line in lines)
    assert json.loads(json.dumps(rows)) == rows
    assert sum(row["delay_s"] for row in rows) / explanation.tokens == pytest.approx(
        tau(overlay), rel=1e-12, abs=0
    )
    assert [row["source"] for row in rows] == [
        overlay.graph.labels[silo] for silo in overlay.critical_circuit
    ]
    for arc in explanation.arcs:
        parts = (arc.compute_s, arc.latency_s, arc.transmission_s)
        largest = {"compute": arc.compute_s, "latency": arc.latency_s}.get(arc.binds, arc.transmission_s)
        assert largest == max(parts)
        assert bool(arc.resources) == (arc.gbps_gain_s is not None)


def test_the_ring_of_geant(published_graph):
    ring = design("ring", published_graph("geant", 1e10), INATURALIST)
    explanation = explain(ring)

    assert explanation.tokens == len(explanation.arcs) == 40
    assert {arc.binds for arc in explanation.arcs} == {"core link"}
    assert explanation.upgrades == ()
    for arc in explanation.arcs:
        assert len(arc.resources) >= 1
        # M * links / 1 Gbps becomes M * links / 2 Gbps on this arc at least: other arcs may share the links.
        assert arc.gbps_gain_s >= len(arc.resources) * 0.044961717 / 2 / 40 - 1e-12
        assert arc.latency_ms_gain_s == pytest.approx(1e-3 / 40)
        assert arc.compute_ms_gain_s == pytest.approx(1e-3 / 40)
    assert "No upgrade of one silo's access link lowers this" in text(ring)


def test_a_pair_by_hand(make_underlay):
    # Silo 0's uplink is slow, 0.1 Gbps, for 0.01 Gbit: 100 ms of 104; back, the core link takes 10 ms.
    up = np.array([1e8, 2e9])
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=up, down_bps=2e9))
    pair = build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])
    explanation = explain(pair)
    forth, back = explanation.arcs

    assert (forth.binds, forth.resources) == ("uplink", ("r0 uplink",))
    assert (back.binds, back.resources) == ("core link", ("core link r1 -> r0",))
    # 1.1 Gbps up: the core link of 1 Gbps takes over.
    assert forth.gbps_gain_s == pytest.approx(0.09 / 2)
    # 2 Gbps on the core link, in both directions: only the way back gains.
    assert back.gbps_gain_s == pytest.approx(0.005 / 2)
    assert forth.latency_ms_gain_s == back.latency_ms_gain_s == pytest.approx(0.0005)
    assert forth.compute_ms_gain_s is None
    (upgrade,) = explanation.upgrades
    assert (upgrade.silo, upgrade.link) == (0, "uplink")
    assert upgrade.doubled_s == pytest.approx((0.054 + 0.014) / 2)
    assert upgrade.unlimited_s == pytest.approx(0.014)
    assert explanation_lines(explanation) == [
        "pair: by the paper's closed form a round takes 59 ms. This circuit of 2 arcs",
        "bounds the throughput: 118 ms in 2 rounds.",
        "r0 -> r1 -> r0",
        "Its time: computing 0.0%, latency 6.8%, transmission 93.2%.",
        "The largest part of a delay: 1 arc (core link), 1 arc (uplink).",
        "1 Gbps more gains most on r0 uplink: 45 ms off a round.",
        "1 ms less latency on any one of the 2 arcs takes 0.5 ms off a round.",
        "The best upgrade of one access link is r0's uplink: with twice the capacity a",
        "round takes 34 ms (25 ms less), with no limit 14 ms (45 ms less).",
    ]


def test_equal_access_links_bind_in_pairs(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    pair = build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])

    assert explain(pair).arcs[0].resources == ("r0 uplink", "r1 downlink")
    assert explain(pair).upgrades == ()
    assert "1 Gbps more on what limits any one of the 2 arcs takes 45 ms off a round." in text(pair)
    # Of 104 ms each way: 54 with 2 x 100 Mbps, 14 with the core link's 1 Gbps.
    first, second = explain(pair).together
    assert (first.source, first.target, second.source, second.target) == (0, 1, 1, 0)
    assert first.doubled_s == second.doubled_s == pytest.approx((0.054 + 0.104) / 2)
    assert first.unlimited_s == pytest.approx((0.014 + 0.104) / 2)
    assert text(pair).endswith(
        "No upgrade of one access link lowers this alone: r0's uplink and r1's downlink limit an arc equally, and both "
        "are needed together: with twice the capacity a round takes 79 ms (25 ms less), with no limit 59 ms (45 ms "
        "less). Twice the capacity gains as much on r1's uplink with r0's downlink."
    )


def test_of_many_equal_pairs_two_are_named(make_underlay):
    graph = connectivity(
        make_underlay(5, [(k, (k + 1) % 5, 0.0) for k in range(5)]),
        access=AccessLinks(up_bps=1e8, down_bps=1e8),
    )
    ring = build_overlay(
        "ring", graph, Workload(model_bits=1e7, compute_s=0.0), [(k, (k + 1) % 5) for k in range(5)]
    )

    assert len(explain(ring).together) == 5
    assert text(ring).endswith("r1's uplink with r2's downlink, r2's uplink with r3's downlink and 2 more.")


def test_pairs_on_two_circuits_as_slow_are_no_upgrade(make_underlay):
    # Silo 1 exchanges models with both others: as slow, so that two of its round trips must become faster.
    line = make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)])
    up, down = np.array([1e8, 2e8, 1e8]), np.array([1e8, 2e8, 1e8])
    graph = connectivity(line, access=AccessLinks(up_bps=up, down_bps=down), bandwidth="bottleneck")
    work = Workload(model_bits=1e7, compute_s=0.0)
    explanation = explain(build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)]))

    assert explanation.together == ()
    # The ways into silo 1: 54 ms in place of 104 with twice the capacity, 14 by the core link without a limit.
    assert explanation.links.links == ("r0 uplink", "r2 uplink", "r1 downlink")
    assert (explanation.links.doubled_s, explanation.links.unlimited_s) == pytest.approx((0.079, 0.059))
    assert "another circuit is as slow" in " ".join(explanation_lines(explanation))


def test_a_core_link_that_limits_too_leaves_no_pair(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    pair = build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])

    assert explain(pair).together == ()
    # 14 ms each way, of which three links that are as fast take 10; with twice their capacity one way takes 9.
    assert text(pair).endswith(
        "No upgrade of one link lowers this alone, since others limit an arc as much or another circuit is as slow: "
        "r0 uplink, r1 downlink and core link r0 - r1 are needed together: with twice the capacity a round "
        "takes 11.5 ms (2.5 ms less), with no limit 9 ms (5 ms less)."
    )


@given(seed=seeds)
def test_pairs_lower_the_cycle_time_as_networks_built_anew_say(random_case, seed):
    case = random_case(seed, ties=True)
    overlay = case.build()
    for pair in joint_upgrades(overlay):
        for factor, expected_s in ((2.0, pair.doubled_s), (np.inf, pair.unlimited_s)):
            up, down = case.up_bps.copy(), case.down_bps.copy()
            up[pair.source] *= factor
            down[pair.target] *= factor
            assert tau(case.with_(up_bps=up, down_bps=down).build()) == pytest.approx(expected_s, rel=1e-12)
        assert pair.unlimited_s <= pair.doubled_s < tau(overlay)


def test_the_best_upgrade_says_its_gain_and_no_tie_where_there_is_none(make_underlay):
    # Silo 0 sends two models and hears two: each direction counts half, on two arcs of one circuit.
    up = np.array([1e8, 1e9, 1e9])
    line = make_underlay(3, [(1, 0, 1e3), (0, 2, 0.0)])
    graph = connectivity(line, access=AccessLinks(up_bps=up, down_bps=up), bandwidth="bottleneck")
    star = build_overlay(
        "line", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0), (0, 2), (2, 0)]
    )
    said = text(star)

    # 200 ms + 12.5 ms each way: both 112.5, one (112.5 + 212.5) / 2.
    assert "is r0's uplink and downlink: with twice the capacity a round takes 112.5 ms (100 ms less)" in said
    alone = explain(star).upgrades[1:]
    assert [upgrade.link for upgrade in alone] == ["uplink", "downlink"]
    assert "gains as much" not in said


def test_upgrades_that_gain_as_much_are_named(make_underlay):
    up = np.array([1e8, 1e8, 1e9])
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0), (2, 0, 0.0)]), access=AccessLinks(up_bps=up, down_bps=1e9)
    )
    ring = build_overlay("ring", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 2), (2, 0)])

    # 104, 104 and 14 ms in 3 rounds: 50 ms or 90 ms less on one of two arcs.
    assert text(ring).endswith(
        "The best upgrade of one access link is r0's uplink: with twice the capacity a round takes 57.33 ms "
        "(16.67 ms less), with no limit 44 ms (30 ms less). Twice the capacity gains as much on r1's uplink."
    )


def test_several_links_that_bind_at_once_are_upgraded_together(make_underlay):
    up = np.array([1e8, 2e8])
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=up, down_bps=up[::-1]))
    pair = build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])

    assert "1 Gbps more gains most on r0 uplink and r1 downlink together: 45 ms off a round." in text(pair)


def test_arcs_that_gain_as_much_are_counted(make_underlay):
    up = np.array([1e8, 1e8, 1e9])
    graph = connectivity(
        make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0), (0, 2, 0.0)]),
        access=AccessLinks(up_bps=up, down_bps=1e10),
    )
    ring = build_overlay("ring", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 2), (2, 0)])

    # 100, 100 and 10 ms of sending in 3 rounds; up to the core's 1 Gbps, 90 ms less on one of the first two.
    assert "1 Gbps more gains most on r0 uplink, and as much on 1 other arc: 30 ms off a round." in text(ring)


def test_both_directions_together_can_do_more(make_underlay):
    # Silo 1, between the others, sends two models and hears two: each direction counts half.
    line = make_underlay(3, [(0, 1, 1e3), (1, 2, 0.0)])
    graph = connectivity(line, access=AccessLinks(up_bps=1e8, down_bps=1e8), bandwidth="bottleneck")
    work = Workload(model_bits=1e7, compute_s=0.0)
    upgrades = access_upgrades(build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)]))

    assert [(upgrade.silo, upgrade.link) for upgrade in upgrades] == [
        (1, "uplink and downlink"),
        (1, "uplink"),
        (1, "downlink"),
    ]
    assert [upgrade.doubled_s for upgrade in upgrades] == pytest.approx([0.1125, 0.1625, 0.1625])


def test_a_second_circuit_that_is_as_slow_takes_all_gains(published_graph):
    # Two routers of New York lie in one place: both round trips of the STAR are critical.
    star = design("star", published_graph("ebone", 1e10), INATURALIST)

    assert all(arc.latency_ms_gain_s == 0 for arc in explain(star).arcs)
    assert "1 ms less latency at one place takes nothing off a round: another circuit is as slow." in text(
        star
    )


def test_computing_bounds(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload(model_bits=1e6, compute_s=np.array([9.0, 0.1]))
    explanation = explain(build_overlay("pair", graph, work, [(0, 1), (1, 0)]))

    assert explanation.arcs[0].binds == "compute"
    assert explanation.arcs[0].compute_ms_gain_s == pytest.approx(1e-3)
    assert explanation.upgrades == ()
    assert explanation_lines(explanation) == [
        "pair: by the paper's closed form a round takes 9 s. r0's own computing bounds",
        "the throughput: no other silo holds it up more.",
        "1 ms less computing gains most on r0: 1 ms off a round.",
        "No upgrade of links lowers this: none limits an arc on this circuit that more",
        "capacity would speed up.",
    ]


@pytest.mark.parametrize("compute_s", [0.0, 0.1])
def test_one_silo(make_underlay, compute_s):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )
    explanation = explain(build_overlay("one", graph, Workload(model_bits=1e6, compute_s=compute_s), []))

    assert (explanation.tokens, len(explanation.arcs)) == (1, 1)
    assert explanation.cycle_time_s == compute_s
    assert explanation_lines(explanation)


@pytest.mark.parametrize("kind", ["random_ring", "matcha_plus"])
def test_no_circuit_bounds_an_overlay_that_changes(published_graph, kind):
    overlay = design_random(kind, published_graph("gaia", 1e10), INATURALIST)

    with pytest.raises(
        InputError, match=rf"^kind\(='{kind}'\) is a randomized overlay, so no circuit bounds it; "
    ):
        explain(overlay)


def test_nothing_sent(make_underlay):
    graph = connectivity(make_underlay(2, [(0, 1, 1e3)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    pair = build_overlay("pair", graph, Workload(model_bits=0.0, compute_s=0.001), [(0, 1), (1, 0)])

    assert {arc.binds for arc in explain(pair).arcs} == {"latency"}
    assert {arc.gbps_gain_s for arc in explain(pair).arcs} == {0.0}
    assert "Gbps" not in text(pair)


def test_nothing_limits(make_underlay):
    access = AccessLinks(up_bps=np.inf, down_bps=np.inf)
    graph = connectivity(make_underlay(2, [(0, 1, 1e3)]), access=access, routers=[0, 0])
    pair = build_overlay("pair", graph, Workload(model_bits=1e7, compute_s=0.0), [(0, 1), (1, 0)])

    assert [arc.resources for arc in explain(pair).arcs] == [(), ()]
    assert "Gbps" not in text(pair)


def test_measured_bandwidth_has_no_link(make_underlay):
    rates = np.array([[np.inf, 3e8], [1e8, np.inf]])
    access = AccessLinks(up_bps=1e9, down_bps=1e9)
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=access, bandwidth=rates)
    pair = build_overlay("pair", graph, Workload(model_bits=1e8, compute_s=0.0), [(0, 1), (1, 0)])
    forth, back = explain(pair).arcs

    assert (forth.binds, forth.resources) == ("measured bandwidth", ("measured bandwidth r0 -> r1",))
    # 1.1 Gbps measured: the access links of 1 Gbps take over.
    assert back.gbps_gain_s == pytest.approx((1.0 - 0.1) / 2)


@pytest.mark.parametrize("by_up", [False, True])
@pytest.mark.parametrize("by_down", [False, True])
@pytest.mark.parametrize("by_window", [False, True])
@pytest.mark.parametrize("available", ["", "core", "shared", "measured"])
def test_the_first_resource_that_limits_an_arc_gives_the_sort_and_all_are_named(
    by_up, by_down, by_window, available
):
    graph = SimpleNamespace(
        labels=("A", "B"),
        uplink=lambda silo: 10 + silo,
        downlink=lambda silo: 20 + silo,
        link_name=lambda link: f"link {link}",
        # Whatever it is, it is none of the limits where the available bandwidth is not.
        shared_access_name=lambda *_: "" if available == "measured" else "region",
    )
    resources = SimpleNamespace(
        overlay=SimpleNamespace(graph=graph, source=np.array([1, 0]), target=np.array([0, 1])),
        binding=lambda: np.array(
            [[True, by_up], [True, by_down], [True, available != ""], [True, by_window]]
        ),
        binding_links=lambda _: [4, 3] if available in ("core", "") else [],
    )
    limits = [
        *([("uplink", "link 10")] if by_up else []),
        *([("downlink", "link 21")] if by_down else []),
        *(
            [("core link", "core link link 4"), ("core link", "core link link 3")]
            if available == "core"
            else []
        ),
        *([("shared access link", "region")] if available == "shared" else []),
        *([("measured bandwidth", "measured bandwidth A -> B")] if available == "measured" else []),
        *([("window", "window A -> B")] if by_window else []),
    ]

    sort, names = _limits(resources, 1)
    assert names == tuple(name for _, name in limits)
    assert sort == (limits[0][0] if limits else "measured bandwidth")


def test_a_bandwidth_that_does_not_follow_from_the_core_is_an_arcs_own(make_underlay):
    links = replace(make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]), capacity_bps=np.array([1e9, 5e8]))
    access = AccessLinks(up_bps=1e10, down_bps=1e10)
    graph = connectivity(links, access=access, core="stated", bandwidth="bottleneck", routers=[0, 2])
    ends = np.array([0, 1]), np.array([1, 0])
    routes = graph.routes_along([(0, 1), (1, 0)])

    def terms(factor):
        changed = replace(graph, available_bps=graph.available_bps * factor)
        crossing, measured_bps, parts = bandwidth_terms(changed, *ends, routes)
        return crossing[:, 0].tolist(), measured_bps.tolist(), parts.tolist()

    by_links = [0, 0, 1, 1], [np.inf] * 2, [1.0] * 4
    assert terms(1.0) == by_links
    # Rounding is no difference.
    assert terms(1 + 0.5e-12) == by_links
    assert terms(1 + 2e-12) == ([], [5e8 * (1 + 2e-12)] * 2, [])
    assert terms(0.5) == ([], [2.5e8] * 2, [])
    slower = replace(graph, available_bps=graph.available_bps / 2)
    pair = build_overlay("pair", slower, Workload(model_bits=1e8, compute_s=0.0), [(0, 1), (1, 0)])
    assert explain(pair).arcs[0].resources == ("measured bandwidth r0 -> r2",)
    assert Resources.of(pair).cycle_time().cycle_time_s == pytest.approx(tau(pair), rel=1e-12)


def test_equal_gains_are_said_to_be_the_same(published_graph):
    said = text(design("ring", published_graph("gaia", 1e10), INATURALIST))

    assert "1 ms less latency on any one of the 11 arcs takes 0.09091 ms off a round." in said
    assert "1 ms less computing on any one of the 11 silos takes 0.09091 ms off a round." in said


def test_streams_that_gain_nothing_are_said():
    def said(more_streams_s):
        return _streams(SimpleNamespace(cycle_time_s=2.0, more_streams_s=more_streams_s))

    assert said(None) == []
    assert said(2.0) == ["4 times as many streams in all transfers take nothing off a round."]
    assert said(2.0 - 1e-9) == said(2.0)
    (gains,) = said(1.5)
    assert gains.startswith("With 4 times as many streams in all transfers a round takes ")
    assert gains.endswith(" less.")


@pytest.mark.parametrize(
    ("silos", "named"),
    [
        (2, "r1's uplink"),
        (3, "r1's uplink and r2's uplink"),
        (4, "r1's uplink, r2's uplink and 1 more"),
        (6, "r1's uplink, r2's uplink and 3 more"),
    ],
)
def test_two_upgrades_that_gain_as_much_are_named_and_the_others_counted(make_underlay, silos, named):
    arcs = [(i, (i + 1) % silos) for i in range(silos)]
    underlay = make_underlay(silos, [(i, j, 0.0) for i, j in arcs[: silos - (silos == 2)]])
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e8, down_bps=1e9))
    ring = build_overlay("ring", graph, Workload(model_bits=1e7, compute_s=0.0), arcs)

    assert text(ring).endswith(f" Twice the capacity gains as much on {named}.")
