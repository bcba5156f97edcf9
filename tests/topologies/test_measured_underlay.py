"""Underlays of sites with measured pairs, without a routed core."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import simulate
from topologies import (
    DESIGNERS,
    RANDOM_DESIGNERS,
    AccessLinks,
    InputError,
    Underlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    design_random,
)
from topologies.analysis import explain, sensitivities
from topologies.measured_pairs import MeasuredPairs
from topologies.site_values import SiteValues

FAST = AccessLinks(up_bps=1e10, down_bps=1e10)
WORK = Workload(model_bits=1e8, compute_s=0.02)
NAN = np.full(5, np.nan)


def underlay(bandwidth_bps, latency_s, labels="bcade"):
    sites = len(labels)
    return Underlay(
        name="sites",
        variant="corrected",
        labels=tuple(labels),
        latitude_deg=np.full(sites, np.nan),
        longitude_deg=np.full(sites, np.nan),
        ends=np.empty((0, 2), dtype=np.int64),
        length_km=np.empty(0),
        capacity_bps=np.empty(0),
        measured=MeasuredPairs(bandwidth_bps=bandwidth_bps, latency_s=latency_s),
    )


@pytest.fixture
def asymmetric():
    """Five sites; two pairs cannot talk, and both directions of a pair differ."""
    rng = np.random.default_rng(4)
    bandwidth_bps, latency_s = rng.uniform(1e7, 9e7, (5, 5)), rng.uniform(0.005, 0.1, (5, 5))
    bandwidth_bps[0, 3] = bandwidth_bps[4, 1] = 0.0
    return underlay(bandwidth_bps, latency_s)


def test_eq_3_takes_what_was_measured(asymmetric):
    graph = connectivity(asymmetric, access=AccessLinks(up_bps=4e7, down_bps=1e10))
    measured = asymmetric.measured
    overlay = design("ring", graph, WORK)

    assert (graph.bandwidth, graph.latency, graph.is_measured) == ("measured", "measured", True)
    i, j = overlay.source, overlay.target
    expected = 0.02 + measured.latency_s[i, j] + 1e8 / np.minimum(4e7, measured.bandwidth_bps[i, j])
    assert overlay.delay_s == pytest.approx(expected, rel=1e-15)
    assert not graph.may_send[0, 3]
    assert graph.may_send[3, 0]
    assert graph.core_route(0, 1) == ()
    assert len(graph.route(0, 1)) == 3
    with pytest.raises(InputError, match="b cannot send to d"):
        graph.route(0, 3)


def test_sites_in_label_order_keep_their_pairs(asymmetric):
    ordered = asymmetric.in_label_order()
    place = [asymmetric.labels.index(label) for label in ordered.labels]

    assert ordered.labels == tuple("abcde")
    assert np.array_equal(
        ordered.measured.bandwidth_bps, asymmetric.measured.bandwidth_bps[np.ix_(place, place)]
    )
    assert np.array_equal(ordered.measured.latency_s, asymmetric.measured.latency_s[np.ix_(place, place)])


NEEDS_ALL_PAIRS = {"star", "complete", "exponential", "equi_static", "equi_dyn", "epidemic"}
NEEDS_A_CORE = {"underlay", "matcha_plus"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", sorted({*DESIGNERS, *RANDOM_DESIGNERS} - {"stl_fw"} - NEEDS_A_CORE - NEEDS_ALL_PAIRS)
)
def test_designers_use_pairs_that_can_talk_only(kind, asymmetric):
    graph = connectivity(asymmetric, access=FAST)
    if kind in DESIGNERS:
        overlay = design(kind, graph, WORK)
        assert graph.may_send[overlay.source, overlay.target].all()
    else:
        overlay = design_random(kind, graph, WORK)
        source, target = overlay.arcs(overlay.draw(np.random.default_rng(0), 0))
        assert graph.may_send[source, target].all()


@pytest.mark.parametrize("kind", sorted(NEEDS_A_CORE))
def test_designers_that_need_a_routed_core_say_so(kind, asymmetric):
    make = design if kind in DESIGNERS else design_random
    with pytest.raises(InputError, match="sites has no routed core"):
        make(kind, connectivity(asymmetric, access=FAST), WORK)


@pytest.mark.parametrize("sharing", ["maxmin", "equal"])
@pytest.mark.parametrize("kind", ["ring", "mst", "complete"])
def test_both_engines_agree_with_each_other(kind, sharing, asymmetric):
    full = replace(asymmetric, measured=replace(asymmetric.measured, bandwidth_bps=np.full((5, 5), 3e7)))
    graph = connectivity(
        full if kind == "complete" else asymmetric, access=AccessLinks(up_bps=5e7, down_bps=6e7)
    )
    overlay = design(kind, graph, WORK)
    one, other = (
        simulate(overlay, rounds=40, sharing=sharing, engine=engine) for engine in ("simpy", "compiled")
    )

    assert one.round_start_s == pytest.approx(other.round_start_s, rel=1e-9)
    if sharing == "equal":
        assert one.cycle_time_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-9)


def test_two_silos_of_one_site_have_what_the_diagonal_says():
    bandwidth_bps = np.array([[5e8, 1e7], [2e7, np.inf]])
    latency_s = np.array([[0.001, 0.03], [0.04, 0.0]])
    graph = connectivity(underlay(bandwidth_bps, latency_s, "ab"), access=FAST, routers=[0, 0, 1])

    assert graph.labels == ("a/1", "a/2", "b")
    assert graph.available_bps[0].tolist() == [np.inf, 5e8, 1e7]
    assert graph.latency_s[:2].tolist() == [[0.0, 0.001, 0.03], [0.001, 0.0, 0.03]]


def test_rules_of_a_routed_core_are_refused(asymmetric):
    for given in (
        {"core": 1e9},
        {"bandwidth": "bottleneck"},
        {"latency": "per_link"},
        {"bandwidth": np.ones((5, 5))},
    ):
        with pytest.raises(InputError, match="goes with a routed core; the pairs of sites are measured"):
            connectivity(asymmetric, access=FAST, **given)


def test_explanation_and_sensitivities_name_the_pair(asymmetric):
    overlay = design("ring", connectivity(asymmetric, access=FAST), WORK)

    assert any("->" in line for line in str(explain(overlay)).splitlines())
    found = sensitivities(overlay)
    # All arcs of a ring are critical, and access links of 10 Gbps bind none of them.
    assert (found.measured_s_per_bps < 0).all()
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    for arc, (i, j) in enumerate(arcs):
        step_bps = 1e-4 * asymmetric.measured.bandwidth_bps[i, j]
        times_s = []
        for sign in (1, -1):
            bandwidth_bps = asymmetric.measured.bandwidth_bps.copy()
            bandwidth_bps[i, j] += sign * step_bps
            changed = connectivity(underlay(bandwidth_bps, asymmetric.measured.latency_s), access=FAST)
            times_s.append(build_overlay("same", changed, WORK, arcs).closed_forms.paper_s)
        # The central difference of M / b errs by (step / b)^2.
        slope = (times_s[0] - times_s[1]) / (2 * step_bps)
        assert found.measured_s_per_bps[arc] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("bandwidth_bps", "latency_s", "rule"),
    [
        ([[1.0, -1.0], [1.0, 1.0]], np.zeros((2, 2)), r"bandwidth_bps\[0, 1\]\(=-1.0\) must be >= 0"),
        ([[1.0, np.nan], [1.0, 1.0]], np.zeros((2, 2)), r"bandwidth_bps\[0, 1\]\(=nan\) must be >= 0"),
        (np.ones((2, 2)), [[0.0, np.nan], [0.0, 0.0]], r"latency_s\[0, 1\]\(=nan\) must be finite and >= 0"),
        (np.ones((2, 3)), np.zeros((2, 3)), "must be square matrices of one size"),
        ([[1.0, 1.0], [0.0, 1.0]], np.zeros((2, 2)), "'b' must send to another site"),
        (np.ones((3, 3)), np.zeros((3, 3)), "must have a row for each of 2 routers"),
    ],
)
def test_matrices_that_are_wrong(bandwidth_bps, latency_s, rule):
    with pytest.raises(InputError, match=rule):
        underlay(np.array(bandwidth_bps), np.array(latency_s), "ab")


def test_sites_must_reach_each_other_in_both_directions():
    bandwidth_bps = np.zeros((4, 4))
    bandwidth_bps[[0, 1, 2, 3, 1], [1, 0, 3, 2, 2]] = 1e6

    with pytest.raises(
        InputError, match="strongly connected by measured pairs, has 2 components: 2 with 'a', 2 with"
    ):
        underlay(bandwidth_bps, np.zeros((4, 4)), "abcd")


def test_links_beside_measured_pairs_are_refused(asymmetric):
    with pytest.raises(InputError, match="must be none where pairs are measured"):
        replace(asymmetric, ends=np.array([[0, 1]]), length_km=np.zeros(1), capacity_bps=np.full(1, np.nan))


def test_values_of_sites_are_checked(asymmetric):
    assert replace(asymmetric, sites=SiteValues(up_bps=NAN, down_bps=NAN, compute_s=NAN)).sites is not None
    with pytest.raises(InputError, match=r"up_bps\[2\]\(=0.0\) must be > 0"):
        SiteValues(up_bps=[1, 2, 0], down_bps=[1, 2, 3], compute_s=[0, 0, 0])
    with pytest.raises(InputError, match=r"compute_s\[1\]\(=-1.0\) must be >= 0"):
        SiteValues(up_bps=[1, 2, 3], down_bps=[1, 2, 3], compute_s=[0, -1, 0])
    with pytest.raises(InputError, match="sites must have a value for each of 5 routers"):
        replace(asymmetric, sites=SiteValues(up_bps=[1.0], down_bps=[1.0], compute_s=[0.0]))


@pytest.mark.parametrize(
    ("bandwidth_bps", "labels", "message"),
    [
        (np.ones((2, 2)), "ABC", "measured(of 2 sites) must have a row for each of 3 routers."),
        (
            [[1, 0, 0], [1, 1, 1], [1, 1, 1]],
            "ABC",
            "'A' must send to another site; no measured pair says so.",
        ),
        (
            [[1, 0.5, 0], [1, 1, 0], [1, 1, 9]],
            "ABC",
            "'C' must receive from another site; no measured pair says so.",
        ),
        (np.eye(3), "ABC", "'A' must send to another site; no measured pair says so."),
    ],
)
def test_each_site_sends_and_receives(bandwidth_bps, labels, message):
    pairs = MeasuredPairs(bandwidth_bps=bandwidth_bps, latency_s=np.zeros(np.shape(bandwidth_bps)))
    with pytest.raises(InputError) as caught:
        pairs.check_labels(labels)
    assert str(caught.value) == message
    MeasuredPairs(bandwidth_bps=np.ones((3, 3)), latency_s=np.zeros((3, 3))).check_labels("ABC")


def test_latencies_count_where_a_pair_can_talk():
    pairs = MeasuredPairs(
        bandwidth_bps=[[0.0, 5.0, np.inf], [0.0, 0.0, 0.25], [7.0, 0.0, 0.0]],
        latency_s=[[9.0, 0.0, 0.25], [np.nan, 9.0, 0.5], [0.75, -1.0, np.inf]],
    )
    assert pairs.latency_s.tolist() == [[0.0, 0.0, 0.25], [0.0, 0.0, 0.5], [0.75, 0.0, 0.0]]
    assert pairs.pairs.tolist() == [[0, 1], [0, 2], [1, 2], [2, 0]]
    assert pairs.sites == 3
    twice = pairs.of(np.array([2, 0, 2]))
    assert twice.bandwidth_bps.tolist() == [[0.0, 7.0, 0.0], [np.inf, 0.0, np.inf], [0.0, 7.0, 0.0]]
    assert twice.latency_s.tolist() == [[0.0, 0.75, 0.0], [0.25, 0.0, 0.25], [0.0, 0.75, 0.0]]
    for matrix in (pairs.bandwidth_bps, pairs.latency_s):
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"up_bps": [1.0, 0.0]}, "up_bps[1](=0.0) must be > 0."),
        ({"down_bps": [-1.0, 1.0]}, "down_bps[0](=-1.0) must be > 0."),
        ({"compute_s": [0.0, -0.5]}, "compute_s[1](=-0.5) must be >= 0."),
        ({"down_bps": [1.0]}, "down_bps(of shape (1,)) must have a number for each site."),
        ({"compute_s": [[1.0, 1.0]]}, "compute_s(of shape (1, 2)) must have a number for each site."),
    ],
)
def test_values_of_sites_that_break_their_rule_are_named(changes, message):
    fine = {"up_bps": [1.0, np.inf], "down_bps": [np.nan, 2.0], "compute_s": [0.0, np.nan]}
    with pytest.raises(InputError) as caught:
        SiteValues(**(fine | changes))
    assert str(caught.value) == message
    values = SiteValues(**fine).of(np.array([1, 0, 1]))
    np.testing.assert_array_equal(values.up_bps, [np.inf, 1.0, np.inf])
    np.testing.assert_array_equal(values.down_bps, [2.0, np.nan, 2.0])
    np.testing.assert_array_equal(values.compute_s, [np.nan, 0.0, np.nan])
    with pytest.raises(ValueError, match="read-only"):
        values.up_bps[0] = 1.0
