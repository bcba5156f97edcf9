"""The curve over access capacities against hand sums and against networks built anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import (
    AccessLinks,
    InputError,
    Workload,
    build_overlay,
    connectivity,
    cycle_time,
    design,
    load_underlay,
)
from topologies.analysis import access_curve

INATURALIST = Workload.preset("inaturalist", variant="published")


def assert_exact(curve, tau_of) -> None:
    """The curve agrees with `tau_of` on a dense grid, at its ends and at its breakpoints, and bends at these."""
    ends = curve.capacity_bps
    finite_high = ends[-1] if np.isfinite(ends[-1]) else 1e3 * ends[-2]
    for capacity in [*np.geomspace(ends[0], finite_high, 20)[1:-1], *ends]:
        assert float(curve(capacity)) == pytest.approx(tau_of(capacity), rel=1e-11)
    assert curve.cycle_time_s == pytest.approx([tau_of(capacity) for capacity in ends], rel=1e-11)
    assert np.all(np.diff(ends) > 0)
    assert np.all(np.diff(curve.shared_bits) < 0)
    pieces = len(curve.circuits)
    assert len(ends) == len(curve.cycle_time_s) == pieces + 1
    assert len(curve.fixed_s) == len(curve.shared_bits) == pieces
    for k in range(pieces):
        left, right = curve.fixed_s[k] + curve.shared_bits[k] / ends[k : k + 2]
        assert [left, right] == pytest.approx(curve.cycle_time_s[k : k + 2], rel=1e-11)


@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans(), unlimited=st.booleans())
@settings(max_examples=settings().max_examples // 2)
def test_any_network(random_case, seed, ties, unlimited):
    case = random_case(seed, ties=ties)
    curve = access_curve(case.build(), 1e6, np.inf if unlimited else 1e11)

    def tau_of(capacity):
        equal = np.full(len(case.up_bps), capacity)
        return case.with_(up_bps=equal, down_bps=equal).build().proof.cycle_time_s

    assert_exact(curve, tau_of)


@pytest.mark.parametrize("kind", ["ring", "mst", "star"])
@pytest.mark.parametrize("name", ["gaia", "geant"])
def test_real_networks(published_graph, name, kind):
    overlay = design(kind, published_graph(name, 1e10), INATURALIST)
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    curve = access_curve(overlay, 1e7, 1e12)

    def tau_of(capacity):
        graph = published_graph(name, capacity)
        return build_overlay(kind, graph, INATURALIST, arcs, hub=overlay.hub).proof.cycle_time_s

    assert_exact(curve, tau_of)
    assert len(curve.breakpoints_bps) >= 1


def test_the_curve_knows_nothing_of_the_present_capacity(published_graph):
    slow, fast = (
        access_curve(design("star", published_graph("gaia", access), INATURALIST), 1e8, 1e10)
        for access in (1e7, 1e11)
    )

    assert np.array_equal(slow.capacity_bps, fast.capacity_bps)
    assert np.array_equal(slow.cycle_time_s, fast.cycle_time_s)


def pair_curve(make_underlay, *, compute_s: float = 0.1, model_bits: float = 1e8, high_bps: float = 1e10):
    graph = connectivity(make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    pair = build_overlay(
        "pair", graph, Workload(model_bits=model_bits, compute_s=compute_s), [(0, 1), (1, 0)]
    )
    return access_curve(pair, 1e8, high_bps)


def test_two_silos_by_hand(make_underlay):
    # 0.1 s of computing, 4 ms of latency, then 0.1 Gbit at C or at the core link's 1 Gbps.
    curve = pair_curve(make_underlay)

    assert curve.capacity_bps == pytest.approx([1e8, 1e9, 1e10])
    assert curve.cycle_time_s == pytest.approx([1.104, 0.204, 0.204])
    assert curve.fixed_s == pytest.approx([0.104, 0.204])
    assert curve.shared_bits == pytest.approx([1e8, 0.0])
    assert curve.circuits == ((0, 1), (0, 1))
    assert curve([2e8, 5e9]) == pytest.approx([0.604, 0.204])


def test_three_circuits_by_hand(make_underlay):
    # A line 0 - 1 - 2, 0.1 Gbit: silo 1's access link carries two models. 0 <-> 1 is far (0.085 s) on 1 Gbps,
    # 1 <-> 2 near on 0.5 Gbps. Up to C = 2e8 / (0.2 - 0.085) the far pair rules, then the near one's core link does;
    # silo 0 computes 0.1 s, which only counts in the far pair: half of it per round.
    underlay = make_underlay(3, [(0, 1, 1e4), (1, 2, 0.0)])
    rates = np.full((3, 3), 1e9)
    rates[[1, 2], [2, 1]] = 5e8
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), bandwidth=rates)
    work = Workload(model_bits=1e8, compute_s=np.array([0.1, 0.0, 0.0]))
    line = build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)])

    # far: 0.05 + 0.089 + max(2e8 / C, 0.1); near: 0.004 + max(2e8 / C, 0.2). They cross where 2e8 / C = 0.065: there
    # the far pair's core link binds already, 0.239 > 0.204, so that the near pair never rules.
    curve = access_curve(line, 1e8, np.inf)
    assert curve.breakpoints_bps == pytest.approx([2e9])
    assert curve.circuits == ((0, 1), (0, 1))
    # With 0.25 Gbps, 0.404 > 0.239 rules from 0.139 + 2e8 / C = 0.404 on.
    rates[[1, 2], [2, 1]] = 2.5e8
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9), bandwidth=rates)
    line = build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)])
    curve = access_curve(line, 1e8, np.inf)
    assert curve.breakpoints_bps == pytest.approx([2e8 / 0.265])
    assert curve.circuits == ((0, 1), (1, 2))
    assert curve.cycle_time_s == pytest.approx([2.139, 0.404, 0.404])


def test_a_silo_that_only_computes_ends_the_curve(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 0.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), bandwidth="bottleneck"
    )
    work = Workload(model_bits=1e8, compute_s=np.array([0.9, 0.1]))
    curve = access_curve(build_overlay("pair", graph, work, [(0, 1), (1, 0)]), 1e8, 1e10)

    # (0.9 + 0.1) / 2 + 0.004 + 1e8 / C = 0.9
    assert curve.breakpoints_bps == pytest.approx([1e8 / 0.396])
    assert curve.circuits == ((0, 1), (0,))


@pytest.mark.parametrize("high_bps", [1e10, np.inf])
def test_nothing_sent_is_one_piece(make_underlay, high_bps):
    curve = pair_curve(make_underlay, model_bits=0.0, high_bps=high_bps)

    assert curve.capacity_bps.tolist() == [1e8, high_bps]
    assert curve.cycle_time_s == pytest.approx([0.104, 0.104])
    assert len(curve.breakpoints_bps) == 0


def test_one_silo_is_one_piece(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )
    curve = access_curve(build_overlay("one", graph, INATURALIST, []), 1e6, 1e9)

    assert curve.cycle_time_s.tolist() == [0.0254, 0.0254]
    assert curve.circuits == ((0,),)


def test_the_number_of_cycle_times_does_not_grow_with_the_range(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "topologies.analysis.curve.cycle_time", lambda graph: calls.append(graph) or cycle_time(graph)
    )
    graph = connectivity(load_underlay("geant"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    curve = access_curve(design("mst", graph, INATURALIST), 1e3, np.inf)

    assert len(calls) <= 2 * len(curve.circuits) + 1


@pytest.mark.parametrize(
    ("low_bps", "high_bps"), [(0.0, 1e9), (-1.0, 1e9), (1e9, 1e9), (1e10, 1e9), (np.nan, 1e9), (1e9, np.nan)]
)
def test_the_range_must_be_one(published_graph, low_bps, high_bps):
    ring = design("ring", published_graph("gaia", 1e10), INATURALIST)
    with pytest.raises(InputError, match=r"low_bps\(="):
        access_curve(ring, low_bps, high_bps)


@pytest.mark.parametrize("capacity", [9e7, 2e10, np.nan, [1e9, 1e7]])
def test_no_values_outside_the_range(make_underlay, capacity):
    with pytest.raises(InputError, match=r"capacity_bps\(=.* must lie in 1e\+08\.\.1e\+10"):
        pair_curve(make_underlay)(capacity)
