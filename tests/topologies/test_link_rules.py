"""Links that are half-duplex, shared by silos or by nobody, and acknowledgements: loads and simulations by hand."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import simulate
from topologies import (
    AccessLinks,
    InputError,
    Underlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)
from topologies.analysis import explain
from topologies.analysis.access_forms import access_forms
from topologies.analysis.resources import Resources
from topologies.analysis.upgrade_links import upgrade_links
from topologies.analysis.upgrade_terms import UpgradeTerms
from topologies.label_order import in_silo_order
from topologies.link_rules import LinkRules, SharedAccess
from topologies.windows import with_windows

WORK = Workload(model_bits=100.0, compute_s=1.0)
PAIR = [(0, 1), (1, 0)]


def line(rules=None, *, up_bps=10.0, down_bps=10.0, core_bps=50.0, silos=2):
    """Routers A - B - ..., one silo on each, without distances; windows and rules come later."""
    underlay = Underlay(
        name="line",
        variant="corrected",
        labels=tuple("ABCDE"[:silos]),
        latitude_deg=np.zeros(silos),
        longitude_deg=np.zeros(silos),
        ends=np.array([(i, i + 1) for i in range(silos - 1)]),
        length_km=np.zeros(silos - 1),
        capacity_bps=np.full(silos - 1, core_bps),
    )
    graph = connectivity(
        underlay, access=AccessLinks(up_bps=up_bps, down_bps=down_bps), bandwidth="bottleneck"
    )
    return graph if rules is None else replace(graph, rules=rules)


def check(rules, *, load_s, sending_s, busiest, **how):
    """The pair's `load` and its simulated rounds: 1 s of computing, 4 ms of latency, and the sending."""
    overlay = build_overlay("pair", line(rules, **how), WORK, PAIR)
    forms = overlay.closed_forms
    assert forms.load_bound_s == pytest.approx(load_s, rel=1e-12)
    assert overlay.graph.link_name(forms.busiest_link) == busiest
    for engine in ("simpy", "compiled"):
        timeline = simulate(overlay, 4, engine=engine)
        np.testing.assert_allclose(np.diff(timeline.round_start_s[:, 0]), 1.004 + sending_s, rtol=1e-9)
    return overlay


def test_a_half_duplex_access_link_carries_one_direction_at_a_time():
    overlay = check(LinkRules(half_duplex=(0,)), load_s=20.0, sending_s=20.0, busiest="half-duplex A")
    # Eq. 3 knows each direction for itself.
    assert overlay.closed_forms.paper_s == pytest.approx(1.004 + 10.0)


def test_the_slower_direction_of_a_half_duplex_link_takes_more_of_its_time():
    """100 bits at 10 bit/s up and at 40 bit/s down: 10 s and 2.5 s, one after the other."""
    # Of 40 bit/s those up count fourfold: the directions get 8 bit/s each until the end.
    check(LinkRules(half_duplex=(0,)), load_s=12.5, sending_s=12.5, busiest="half-duplex A", down_bps=40.0)


def test_a_half_duplex_core_link():
    rules = LinkRules(half_duplex_core=(0,))
    check(
        rules,
        load_s=20.0,
        sending_s=20.0,
        busiest="half-duplex A - B",
        core_bps=10.0,
        up_bps=99.0,
        down_bps=99.0,
    )


def test_a_half_duplex_link_without_a_limit_shares_nothing():
    graph = line(LinkRules(half_duplex=(0,)), up_bps=np.inf)
    assert graph.shared == ()


def test_silos_that_share_an_uplink():
    """A and B send to C, each 100 bits, over 8 bit/s that they share; C answers over its own uplink of 10."""
    shared = SharedAccess(silos=(0, 1), up_bps=8.0, down_bps=np.inf)
    arcs = [(0, 2), (1, 2), (2, 0), (2, 1)]
    graph = line(LinkRules(shared_access=(shared,)), silos=3)
    assert graph.up_bps.tolist() == [10.0, 10.0, 10.0]
    overlay = build_overlay("tree", graph, WORK, arcs)
    assert overlay.closed_forms.load_bound_s == pytest.approx(25.0)
    assert graph.link_name(overlay.closed_forms.busiest_link) == "A + B uplink"
    # By Eq. 3 each sends at 5 bit/s, its part of C's downlink.
    assert overlay.closed_forms.paper_s == pytest.approx(1.004 + 20.0)
    timeline = simulate(overlay, 3)
    # After the first round the shared uplink is never idle.
    np.testing.assert_allclose(np.diff(timeline.round_start_s[:, 2]), [26.004, 25.0, 25.0], rtol=1e-9)


def test_models_between_silos_that_share_a_link_do_not_cross_it():
    shared = SharedAccess(silos=(0, 1), up_bps=1.0, down_bps=1.0)
    graph = line(LinkRules(shared_access=(shared,)), silos=3)
    inside, outside = graph.occupied([(0, 1), (0, 2)])
    assert graph.link_names[-2:] == ("A + B uplink", "A + B downlink")
    first = graph.first_shared
    assert first not in inside.links
    assert dict(zip(outside.links, outside.usage, strict=True))[first] == 1.0
    assert first + 1 not in outside.links


def test_what_stays_behind_a_shared_link_has_the_own_access_links():
    """A and B, 10 bit/s each, share 1 bit/s: 10 s between them, 100 s to C and back, by all of Eq. 3 and simulation."""
    shared = SharedAccess(silos=(0, 1), up_bps=1.0, down_bps=1.0)
    graph = line(LinkRules(shared_access=(shared,)), silos=3)
    assert graph.between_bps[[0, 0, 2, 1], [1, 2, 0, 0]].tolist() == [50.0, 1.0, 1.0, 50.0]
    arcs = [(0, 1), (1, 0), (0, 2), (2, 0)]
    overlay = build_overlay("star", graph, WORK, arcs)
    assert overlay.rate_bps.tolist() == [5.0, 1.0, 5.0, 1.0]
    limits = Resources.of(overlay)
    np.testing.assert_array_equal(limits.limits_bps().min(axis=0), overlay.rate_bps)
    assert limits.binding()[2].tolist() == [False, True, False, True]
    assert all("A + B" in name for arc in explain(overlay).arcs for name in arc.resources)
    timeline = simulate(overlay, 2)
    np.testing.assert_allclose(
        timeline.arrival_s[0], [1.004 + 100 / 9, 101.004, 1.004 + 100 / 9, 101.004], rtol=1e-9
    )


def test_acknowledgements_load_the_way_back():
    """100 bits at 10 bit/s, and 2 % of those of the other direction."""
    overlay = check(LinkRules(ack_share=0.02), load_s=10.2, sending_s=10.2, busiest="A uplink")
    np.testing.assert_allclose(overlay.graph.crossings(overlay.source, overlay.target), [1.02] * 6)


def test_acknowledgements_on_a_half_duplex_link_share_it_with_the_models():
    check(LinkRules(ack_share=0.02, half_duplex=(1,)), load_s=20.4, sending_s=20.4, busiest="half-duplex B")


def test_a_ring_whose_bottleneck_carries_no_acknowledgements_is_as_fast_with_them():
    """The arcs of the ring A -> B -> C cross each link of A - B - C in both directions but the slow uplink of A."""
    rows = {}
    for share in (0.0, 0.0184):
        graph = line(
            LinkRules(ack_share=share), silos=3, up_bps=[5.0, 90.0, 90.0], down_bps=90.0, core_bps=90.0
        )
        ring = build_overlay("ring", graph, WORK, [(0, 1), (1, 2), (2, 0)])
        rows[share] = simulate(ring, 40).cycle_time_s
    assert rows[0.0184] > rows[0.0]  # those of C -> A go back over A's uplink
    assert rows[0.0184] == pytest.approx(rows[0.0] * 1.0184, rel=2e-3)


def test_fat_pipes_give_each_model_their_capacity():
    """A and B send to D, B's models join those of A on two links of 10 bit/s that are no limit to two of 10."""
    arcs = [(0, 3), (1, 3), (3, 0), (3, 1), (2, 3), (3, 2)]
    found = {}
    for fat in ((), (1, 2)):
        graph = line(LinkRules(fat_pipes=fat), silos=4, up_bps=99.0, down_bps=99.0, core_bps=10.0)
        overlay = build_overlay("tree", graph, WORK, arcs)
        found[fat] = simulate(overlay, 3).round_start_s[1, 3], overlay.closed_forms.load_bound_s
    # Three models share the last link, or each has 10 bit/s.
    assert found[()] == (pytest.approx(31.004), pytest.approx(30.0))
    assert found[1, 2] == (pytest.approx(11.004), pytest.approx(10.0))
    names = graph.link_names
    assert "fat pipe A -> D" in names
    assert np.isinf(graph.link_capacity_bps[[2, 3, 4, 5]]).all()


def test_a_window_below_the_fat_pipe_is_the_limit():
    graph = line(LinkRules(fat_pipes=(0,)))
    small, large = (with_windows(graph, bits) for bits in (0.08, 8.0))  # 10 and 1000 bit/s in 8 ms
    assert small.link_names[-2:] == ("window A -> B", "window B -> A")
    assert small.is_window(small.first_window)
    assert large.link_names[-2:] == ("fat pipe A -> B", "fat pipe B -> A")
    assert not large.is_window(large.first_window)


def test_rules_follow_silos_to_other_numbers():
    underlay = load_underlay("gaia")
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[3, 1, 2])
    shared = SharedAccess(silos=(0, 2), up_bps=1e8, down_bps=1e8)
    graph = replace(graph, rules=LinkRules(half_duplex=(0,), shared_access=(shared,)))
    ordered, _, order = in_silo_order(graph, WORK)
    (silo,) = ordered.rules.half_duplex
    assert ordered.labels[silo] == graph.labels[0]
    assert {ordered.labels[i] for i in ordered.rules.shared_access[0].silos} == {
        graph.labels[0],
        graph.labels[2],
    }
    assert sorted(order.tolist()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: LinkRules(ack_share=1.0), r"^ack_share\(=1\.0\) must be >= 0 and < 1\.$"),
        (lambda: LinkRules(ack_share=-0.1), r"^ack_share\(=-0\.1\) must be >= 0 and < 1\.$"),
        (
            lambda: LinkRules(half_duplex_core=(4, 2, 3), fat_pipes=(3, 1, 2)),
            r"^fat pipe\(=2\) must not be half-duplex, too\.$",
        ),
        (lambda: line(LinkRules(half_duplex=(-1,))), r"^silo\(=-1\) must be >= 0 and < 2\.$"),
        (lambda: SharedAccess(silos=(1,), up_bps=1.0, down_bps=1.0), r"^silos\(=\[1\]\) must be two or more"),
        (
            lambda: SharedAccess(silos=(1, 1), up_bps=1.0, down_bps=1.0),
            r"^silos\(=\[1, 1\]\) must be two or more",
        ),
        (lambda: SharedAccess(silos=(0, 1), up_bps=0.0, down_bps=1.0), r"^up_bps\(=0\.0\) must be > 0\.$"),
        (
            lambda: LinkRules(shared_access=(SharedAccess(silos=(0, 1), up_bps=1.0, down_bps=1.0),) * 2),
            r"^silo\(=0\) must be in one shared access link, not in several\.$",
        ),
        (lambda: line(LinkRules(half_duplex=(2,))), r"^silo\(=2\) must be >= 0 and < 2\.$"),
        (lambda: line(LinkRules(fat_pipes=(1,))), r"^core link\(=1\) must be >= 0 and < 1\.$"),
    ],
)
def test_wrong_rules_are_errors(make, error):
    with pytest.raises(InputError, match=error):
        make()


def test_what_counts_on_plain_links_says_so():
    ring = design("ring", line(LinkRules(half_duplex=(0,))), WORK)
    links = upgrade_links(ring)
    with pytest.raises(InputError, match=r"^upgrade by load knows no half-duplex links"):
        UpgradeTerms.of(ring, links)
    assert len(UpgradeTerms.of(ring, links, "paper").links) == 4
    with pytest.raises(InputError, match=r"^a curve over the access capacity knows no half-duplex links"):
        access_forms(ring, 1.0, 100.0)


def test_measured_pairs_have_no_core_links():
    clouds = load_underlay("clouds")
    graph = connectivity(clouds, access=AccessLinks(up_bps=1e9, down_bps=1e9))
    with pytest.raises(InputError, match="measured"):
        replace(graph, rules=LinkRules(fat_pipes=(0,)))
    acks = replace(graph, rules=LinkRules(ack_share=0.02))
    i, j = acks.measured_pairs[0].tolist()
    (own,) = acks.occupied([(i, j)])
    assert own.usage[: own.hops] == (1.0,) * 3
    assert set(own.usage[own.hops :]) == {0.02}


def test_the_slowest_of_the_shared_links_that_a_model_crosses_limits_it():
    shared = (
        SharedAccess(silos=(0, 1), up_bps=8.0, down_bps=4.0),
        SharedAccess(silos=(2, 3), up_bps=2.0, down_bps=6.0),
    )
    graph = line(LinkRules(half_duplex=(0, 4), shared_access=shared), silos=5)
    limits = {
        (0, 1): (np.inf, ""),
        (3, 2): (np.inf, ""),
        (0, 4): (8.0, "A + B uplink"),
        (4, 1): (4.0, "A + B downlink"),
        (0, 2): (6.0, "C + D downlink"),
        (3, 1): (2.0, "C + D uplink"),
        (2, 4): (2.0, "C + D uplink"),
    }
    source, target = np.array(list(limits)).T

    assert graph.shared_access_bps(source, target).tolist() == [bps for bps, _ in limits.values()]
    assert [graph.shared_access_name(i, j) for i, j in limits] == [name for _, name in limits.values()]
    table = graph.shared_access_bps(np.arange(5)[:, np.newaxis], np.arange(5))
    assert table.shape == (5, 5)
    assert table[source, target].tolist() == [bps for bps, _ in limits.values()]
    assert line(silos=3).shared_access_name(0, 2) == ""


SHARED = SharedAccess(silos=(0, 1), up_bps=1.0, down_bps=np.inf)


@pytest.mark.parametrize(
    ("rules", "plain", "more_bits"),
    [
        (LinkRules(), True, False),
        (LinkRules(ack_share=0.25), True, True),
        (LinkRules(half_duplex=(0,)), False, True),
        (LinkRules(half_duplex_core=(0,)), False, True),
        (LinkRules(shared_access=(SHARED,)), False, True),
        (LinkRules(fat_pipes=(0,)), False, False),
    ],
)
def test_what_each_rule_changes(rules, plain, more_bits):
    assert rules.are_plain_links is plain
    assert rules.change_usage is more_bits
    assert line(rules).change_usage is more_bits
    if plain:
        rules.check_plain_links("a curve")
    else:
        with pytest.raises(
            InputError, match=r"^a curve knows no half-duplex links, access links that silos share"
        ):
            rules.check_plain_links("a curve")


def test_capacities_that_directions_share_come_in_the_order_of_the_rules():
    rules = LinkRules(half_duplex=(2, 0), half_duplex_core=(1,), shared_access=(SHARED,))
    graph = line(rules, silos=3, up_bps=[8.0, 8.0, 2.0], down_bps=[2.0, 8.0, 8.0])

    # Core links 0 and 1 in both directions, uplinks from 4 on, downlinks from 7 on. Of the downlink there is no limit.
    assert [(each.name, each.capacity_bps, dict(each.usage), set(each.silos)) for each in graph.shared] == [
        ("half-duplex B - C", 50.0, {2: 1.0, 3: 1.0}, set()),
        ("half-duplex C", 8.0, {6: 4.0, 9: 1.0}, set()),
        ("half-duplex A", 8.0, {4: 1.0, 7: 4.0}, set()),
        ("A + B uplink", 1.0, {4: 1.0, 5: 1.0}, {0, 1}),
    ]
    down = LinkRules(shared_access=(replace(SHARED, up_bps=np.inf, down_bps=3.0),))
    assert [(each.name, dict(each.usage)) for each in line(down, silos=3).shared] == [
        ("A + B downlink", {7: 1.0, 8: 1.0})
    ]
