"""Windows of transfers: their rate, Eq. 3 and closed forms with it, explanation, and sensitivities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, design, load_underlay
from topologies.analysis import explain, explanation_lines, sensitivities
from topologies.analysis.upgrade_links import on_graph
from topologies.measured_pairs import MeasuredPairs
from topologies.slow_start import with_slow_start
from topologies.windows import round_trips, with_windows

pytestmark = pytest.mark.usefixtures("compiled_designs")

MIB = 2**20 * 8
WORK = Workload(model_bits=8e6, compute_s=0.01, name="test")


@pytest.fixture(scope="module")
def gaia():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e10, down_bps=1e10))


@pytest.fixture
def three(few_silos):
    """Three silos: 4 ms plus 0.85 ms between the first two, 4 ms between the others."""
    return few_silos(3)


def test_a_window_is_sent_once_per_round_trip(three):
    windowed = with_windows(three, 9.7e6, 2)

    assert windowed.window_bps[0, 1] == pytest.approx(2 * 9.7e6 / (2 * 4.85e-3), rel=1e-12)
    assert windowed.window_bps[1, 2] == pytest.approx(2 * 9.7e6 / (2 * 4e-3), rel=1e-12)
    assert np.isinf(windowed.window_bps.diagonal()).all()


def test_windows_of_receivers_and_of_pairs(three):
    by_receiver = with_windows(three, [1e6, 2e6, np.inf], [1, 3, 1])
    by_pair = with_windows(three, np.tile([1e6, 2e6, np.inf], (3, 1)), np.tile([1, 3, 1], (3, 1)))

    assert by_receiver.window_bps[0, 1] == pytest.approx(3 * 2e6 / 9.7e-3)
    assert by_receiver.window_bps[1, 0] == pytest.approx(1e6 / 9.7e-3)
    np.testing.assert_array_equal(by_receiver.window_bps, by_pair.window_bps)
    # An infinite window is none: no link of its own.
    assert by_receiver.window_pairs.tolist() == [[0, 1], [1, 0], [2, 0], [2, 1]]


@pytest.mark.parametrize(
    ("window", "streams", "said"),
    [
        (0, 1, "window_bits(=0) must be > 0."),
        (np.nan, 1, "window_bits(=nan) must be > 0."),
        ([1.0, -2.0, -3.0], 1, "window_bits(=-2) must be > 0."),
        (1e6, [1, 2.5, 0], "streams(=2.5) must be a whole number >= 1."),
        (1e6, 0, "streams(=0) must be a whole number >= 1."),
        (1e6, 1.5, "streams(=1.5) must be a whole number >= 1."),
        (1e6, np.inf, "streams(=inf) must be a whole number >= 1."),
        ([1e6, 1e6], 1, "window_bits(of shape (2,)) must be a number, or have shape (3,)"),
    ],
)
def test_bad_values_are_refused(three, window, streams, said):
    with pytest.raises(InputError) as raised:
        with_windows(three, window, streams)
    assert said in str(raised.value)


def test_the_latency_back_is_that_there_where_one_direction_was_measured(three):
    pairs = MeasuredPairs(
        bandwidth_bps=[[0, 1e9, 1e9], [1e9, 0, 0], [1e9, 1e9, 0]],
        latency_s=np.array([[0, 1, 2], [3, 0, 9], [5, 7, 0]]),
    )
    underlay = replace(
        three.underlay,
        measured=pairs,
        ends=np.empty((0, 2), dtype=int),
        length_km=np.empty(0),
        capacity_bps=np.empty(0),
    )
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e9, down_bps=1e9))

    there, back = round_trips(graph, np.array([0, 2, 1]), np.array([1, 1, 2])), round_trips(graph, 1, 0)
    assert there.tolist() == [4.0, 14.0, 14.0]
    assert back == 4.0


def test_eq_3_has_the_window_as_one_more_limit(gaia):
    windowed = with_windows(gaia, MIB)
    plain, limited = (build_overlay("test", graph, WORK, ring_arcs(gaia)) for graph in (gaia, windowed))

    np.testing.assert_allclose(
        limited.rate_bps,
        np.minimum(plain.rate_bps, windowed.window_bps[plain.source, plain.target]),
        rtol=1e-15,
    )
    assert limited.closed_forms.paper_s > plain.closed_forms.paper_s
    assert limited.closed_forms.load_bound_s == pytest.approx(
        max(
            plain.closed_forms.load_bound_s,
            *(WORK.model_bits / windowed.window_bps[plain.source, plain.target]),
        ),
        rel=1e-12,
    )


def ring_arcs(graph):
    overlay = design("ring", graph, WORK)
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["star", "mst", "delta_mbst", "ring", "exponential", "best"])
def test_windows_that_never_limit_change_no_design(gaia, kind):
    options = {"iterations": 400} if kind == "best" else {}
    plain, limited = (design(kind, graph, WORK, **options) for graph in (gaia, with_windows(gaia, 1e15)))

    assert (plain.source.tolist(), plain.target.tolist()) == (
        limited.source.tolist(),
        limited.target.tolist(),
    )
    assert plain.closed_forms.paper_s == limited.closed_forms.paper_s


def test_designers_weigh_windows(gaia):
    """With windows that decide everything the ring is the one of the shortest round trips."""
    windowed = with_windows(gaia, MIB / 64)
    blind = build_overlay("blind", windowed, WORK, ring_arcs(gaia))

    assert design("ring", windowed, WORK).closed_forms.paper_s < blind.closed_forms.paper_s


def test_the_explanation_names_windows_and_what_streams_gain(gaia):
    windowed = with_windows(gaia, MIB / 8)
    overlay = build_overlay("ring", windowed, WORK, ring_arcs(gaia))
    found = explain(overlay)
    four = build_overlay("ring", with_windows(gaia, MIB / 8, 4), WORK, ring_arcs(gaia))

    assert {arc.binds for arc in found.arcs} == {"window"}
    assert found.arcs[0].resources == (f"window {found.arcs[0].source} -> {found.arcs[0].target}",)
    assert {arc.gbps_gain_s for arc in found.arcs} == {None}
    assert found.more_streams_s == pytest.approx(four.closed_forms.paper_s, rel=1e-12)
    assert any(
        line.startswith("With 4 times as many streams in all transfers") for line in explanation_lines(found)
    )


def test_a_millisecond_less_shortens_the_round_trip_of_both_directions(three):
    """A tree's arcs there and back: 1 ms less in one direction speeds up both windows."""
    windowed = with_windows(three, 1e5)
    overlay = build_overlay("chain", windowed, WORK, [(0, 1), (1, 0), (1, 2), (2, 1)])
    found = explain(overlay)

    assert {arc.source for arc in found.arcs} == {"r0", "r1"}
    shorter_s = 8e6 / (1e5 / 8.7e-3)
    expected_s = (overlay.delay_s[:2].sum() - (0.02 + 3.85e-3 + 4.85e-3 + 2 * shorter_s)) / 2
    assert found.arcs[0].latency_ms_gain_s == pytest.approx(expected_s, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_sensitivities_are_finite_differences(gaia, seed):
    rng = np.random.default_rng(seed)
    window = rng.uniform(0.05, 2, (11, 11)) * MIB
    kind = ["ring", "mst", "star"][seed % 3]

    def built(graph):
        return build_overlay(kind, with_windows(graph, window), WORK, arcs, hub=hub)

    designed = design(kind, gaia, WORK)
    arcs, hub = list(zip(designed.source.tolist(), designed.target.tolist(), strict=True)), designed.hub
    overlay = built(gaia)
    found = sensitivities(overlay)
    step = 1e-6
    for arc in rng.choice(overlay.arcs, 4, replace=False).tolist():
        ends = overlay.source[arc], overlay.target[arc]
        taus = []
        for sign in (1, -1):
            latency_s = np.array(gaia.latency_s)
            latency_s[ends] *= 1 + sign * step
            taus.append(built(replace(gaia, latency_s=latency_s)).closed_forms.paper_s)
        numeric = (taus[0] - taus[1]) / (2 * step * gaia.latency_s[ends])
        assert found.latency_s_per_s[arc] == pytest.approx(numeric, rel=1e-6, abs=1e-6)
    for arc in np.flatnonzero(found.window_s_per_bps)[:3].tolist():
        changed = np.array(overlay.graph.window_bps)
        ends = overlay.source[arc], overlay.target[arc]
        taus = []
        for sign in (1, -1):
            changed[ends] = overlay.graph.window_bps[ends] * (1 + sign * step)
            graph = replace(overlay.graph, window_bps=changed.copy())
            taus.append(build_overlay(kind, graph, WORK, arcs, hub=hub).closed_forms.paper_s)
        numeric = (taus[0] - taus[1]) / (2 * step * overlay.graph.window_bps[ends])
        assert found.window_s_per_bps[arc] == pytest.approx(numeric, rel=1e-5)


@pytest.mark.parametrize("when", ["first", "idle", "always"])
@pytest.mark.parametrize("kind", ["ring", "star", "mst"])
def test_more_streams_have_as_many_more_initial_windows(gaia, when, kind):
    work = Workload(model_bits=42.88e6 * 8, compute_s=1.0)

    def network(streams):
        return with_slow_start(with_windows(gaia, 1024 * 8 * 1024, streams), when, streams)

    overlay = design(kind, network(1), work)
    found = explain(overlay).more_streams_s
    assert found == on_graph(overlay, network(4)).closed_forms.paper_s
    assert found < overlay.closed_forms.paper_s
    if when != "first":
        # Each start waits less where four times as much is sent in the first round trip.
        windows_alone = with_slow_start(with_windows(gaia, 1024 * 8 * 1024, 4), when)
        assert found < on_graph(overlay, windows_alone).closed_forms.paper_s


def test_where_one_direction_was_measured_the_other_takes_as_long(make_underlay):
    measured = MeasuredPairs(
        # Any bandwidth above 0 says that a direction was measured.
        bandwidth_bps=np.array([[np.inf, 0.5], [0.25, np.inf]]),
        latency_s=np.array([[0.0, 0.01], [0.03, 0.0]]),
    )
    underlay = make_underlay(2, [], measured=measured)
    access = AccessLinks(up_bps=1e9, down_bps=1e9)
    silo = np.arange(2)

    def trips_s(*blocked):
        graph = connectivity(underlay, access=access, blocked=blocked)
        return round_trips(graph, silo[:, np.newaxis], silo)

    assert trips_s() == pytest.approx(np.array([[0.0, 0.04], [0.04, 0.0]]))
    assert trips_s((1, 0)) == pytest.approx(np.array([[0.0, 0.02], [0.02, 0.0]]))
    assert trips_s((0, 1)) == pytest.approx(np.array([[0.0, 0.06], [0.06, 0.0]]))


@pytest.mark.parametrize("name", ["window_bits", "streams"])
@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3, 3), (9,)])
def test_values_of_another_shape_are_refused(three, name, shape):
    values = {"window_bits": 1e6, "streams": 1} | {name: np.ones(shape)}
    with pytest.raises(InputError) as caught:
        with_windows(three, **values)
    assert str(caught.value) == (
        f"{name}(of shape {shape}) must be a number, or have shape (3,), a value for each receiver, or (3, 3), a row "
        "for each sender."
    )
