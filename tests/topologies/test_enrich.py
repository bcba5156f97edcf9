"""Free arcs: tau stays, the gap rises, nothing else that must not rise does."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies import AccessLinks, Workload, connectivity, design
from topologies.consensus import consensus_matrix, spectral_gap
from topologies.designers.enrich import _accepted, _check, _free, _grown, _has_room, _start, _State, enrich
from topologies.errors import InputError
from topologies.overlay import build_overlay
from topologies.weights import is_symmetric

pytestmark = pytest.mark.usefixtures("compiled_designs")

INATURALIST = Workload.preset("inaturalist", variant="published")
WORK = Workload(model_bits=1e8, compute_s=0.05)


def arc_set(overlay):
    return set(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def slowest(overlay):
    forms = overlay.closed_forms
    return max(forms.paper_s, forms.serialized_s, forms.load_bound_s)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ring", "mst"])
@pytest.mark.parametrize("keep", ["all", "paper"])
@pytest.mark.parametrize("name", ["gaia", "aws_na"])
def test_published_networks(published_graph, name, kind, keep):
    overlay = design(kind, published_graph(name, 1e10), INATURALIST)
    enriched = enrich(overlay, keep=keep)

    assert enriched.overlay.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)
    assert enriched.gap_given == spectral_gap(overlay.consensus)
    assert enriched.gap_after == spectral_gap(enriched.overlay.consensus)
    assert enriched.gap_after > 1.5 * enriched.gap_before
    assert arc_set(overlay).isdisjoint(enriched.added)
    assert arc_set(enriched.overlay) == arc_set(overlay) | set(enriched.added)
    assert enriched.overlay.consensus.sum(axis=0) == pytest.approx(np.ones(overlay.graph.silos), abs=1e-12)
    if kind == "mst":
        assert enriched.gap_after <= enriched.gap_relaxed + 1e-4
        assert set(enriched.added) == {(j, i) for i, j in enriched.added}
    if keep == "all":
        assert slowest(enriched.overlay) <= slowest(overlay) * (1 + 1e-12)


@pytest.mark.slow
def test_recorded_gaps_of_gaia(published_graph):
    ring = enrich(design("ring", published_graph("gaia", 1e10), INATURALIST))
    tree = enrich(design("mst", published_graph("gaia", 1e10), INATURALIST))

    assert ring.gap_before == pytest.approx(1 - np.cos(np.pi / 11), abs=1e-12)
    assert tree.gap_before == pytest.approx(0.04723, abs=1e-5)
    assert tree.gap_after == pytest.approx(0.07408, abs=1e-5)
    assert tree.gap_after == pytest.approx(tree.gap_relaxed, abs=1e-6)


def test_equal_delays_make_every_arc_free(make_underlay):
    # Silos on one place: all delays tie with tau, so that the enriched overlay is complete and its gap 1.
    graph = connectivity(
        make_underlay(4, [(i, i + 1, 0.0) for i in range(3)]),
        access=AccessLinks(up_bps=np.inf, down_bps=np.inf),
        bandwidth="bottleneck",
    )
    for kind in ("ring", "mst"):
        enriched = enrich(design(kind, graph, WORK), keep="paper")
        assert enriched.gap_after == pytest.approx(1, abs=1e-6)
    # Of the core links none may carry more models than a cycle has time for, which is less.
    assert slowest(enrich(design("mst", graph, WORK)).overlay) == slowest(design("mst", graph, WORK))


def test_a_slow_uplink_leaves_no_arc_free(make_underlay):
    # Every access link is the bottleneck of every arc: one more arc anywhere would double a critical arc's time.
    graph = connectivity(
        make_underlay(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)]),
        access=AccessLinks(up_bps=1e6, down_bps=1e6),
    )
    ring = design("ring", graph, WORK)
    enriched = enrich(ring)

    assert enriched.added == ()
    assert enriched.gap_after == enriched.gap_before == pytest.approx(1 - np.cos(np.pi / 4), abs=1e-12)


@pytest.mark.parametrize(
    "limit", [0, 1, 2, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (5, 6))]
)
@pytest.mark.parametrize("kind", ["ring", "mst"])
def test_limit(published_graph, kind, limit):
    overlay = design(kind, published_graph("gaia", 1e10), INATURALIST)
    enriched = enrich(overlay, limit=limit)

    assert len(enriched.added) <= limit
    assert enriched.gap_after >= enriched.gap_before
    if limit >= 2:
        assert enriched.gap_after > enriched.gap_before


def test_the_best_pair_of_gaia(published_graph):
    overlay = design("mst", published_graph("gaia", 1e10), INATURALIST)
    silos, own = overlay.graph.silos, arc_set(overlay)
    gaps = []
    for i, j in itertools.combinations(range(silos), 2):
        if (i, j) not in own:
            arcs = sorted(own | {(i, j), (j, i)})
            if build_overlay("trial", overlay.graph, overlay.work, arcs).closed_forms.paper_s <= (
                overlay.closed_forms.paper_s * (1 + 1e-12)
            ):
                gaps.append(spectral_gap(consensus_matrix("fdla", silos, *np.array(arcs).T)))
    found = enrich(overlay, limit=2)

    assert found.gap_after == pytest.approx(max(gaps), abs=1e-6)


def test_local_degree_weights_on_a_tree(published_graph):
    overlay = design("mst", published_graph("aws_na", 1e10), INATURALIST)
    enriched = enrich(overlay, consensus="local_degree")

    assert enriched.gap_before == enriched.gap_given
    assert enriched.gap_after > 3 * enriched.gap_before
    assert np.all(enriched.overlay.consensus >= 0)


def test_missing_arcs_are_respected(make_underlay):
    blocked = [(0, 3), (1, 4), (4, 1)]
    graph = connectivity(
        make_underlay(5, [(i, (i + 1) % 5, 10.0) for i in range(5)]),
        access=AccessLinks(up_bps=1e11, down_bps=1e11),
        blocked=blocked,
    )
    arcs = [(i, (i + 1) % 5) for i in range(5)]
    for overlay in (
        build_overlay("ring", graph, WORK, arcs),
        build_overlay("both", graph, WORK, arcs + [(j, i) for i, j in arcs]),
    ):
        enriched = enrich(overlay, keep="paper")
        assert set(blocked).isdisjoint(enriched.added)
        assert enriched.overlay.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)


def test_several_silos_on_one_router(make_underlay):
    graph = connectivity(
        make_underlay(3, [(0, 1, 300.0), (1, 2, 0.0)]),
        access=AccessLinks(up_bps=1e11, down_bps=1e11),
        routers=[0, 0, 1, 1, 2],
    )
    tree = design("mst", graph, WORK)
    enriched = enrich(tree, keep="paper")

    # All arcs between the two places tie with the tree's one long edge.
    assert enriched.gap_after > 2 * enriched.gap_before
    assert enriched.overlay.closed_forms.paper_s == pytest.approx(tree.closed_forms.paper_s, rel=1e-12)
    # But they share one core link, which has time for a single model in each direction.
    assert not any(graph.router[i] == 0 and graph.router[j] > 0 for i, j in enrich(tree).added)


def test_the_star_is_left_alone(published_graph):
    star = design("star", published_graph("gaia", 1e10), INATURALIST)
    enriched = enrich(star)

    assert enriched.overlay is star
    assert enriched.gap_after == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("silos", [1, 2, 3])
@pytest.mark.parametrize("kind", ["ring", "mst"])
def test_few_silos(make_underlay, silos, kind):
    graph = connectivity(
        make_underlay(3, [(0, 1, 100.0), (1, 2, 100.0)]),
        access=AccessLinks(up_bps=1e9, down_bps=1e9),
        routers=list(range(silos)),
    )
    overlay = design(kind, graph, WORK)
    enriched = enrich(overlay)

    assert enriched.gap_after >= enriched.gap_before > 0
    assert enriched.overlay.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)


@st.composite
def overlays(draw, make_underlay):
    silos = draw(st.integers(2, 7))
    km = st.sampled_from([0.0, 10.0, 10.0, 500.0, 4000.0])
    links = [(i, i + 1, draw(km)) for i in range(silos - 1)]
    ends = st.tuples(st.integers(0, silos - 1), st.integers(0, silos - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    links += [(a, b, draw(km)) for a, b in draw(st.lists(ends, max_size=6))]
    capacity = st.lists(st.sampled_from([1e8, 3e8, 1e10]), min_size=silos, max_size=silos)
    graph = connectivity(
        make_underlay(silos, links), access=AccessLinks(up_bps=draw(capacity), down_bps=draw(capacity))
    )
    order = draw(st.permutations(range(silos)))
    arcs = set(zip(order, order[1:] + order[:1], strict=True)) | set(draw(st.lists(ends, max_size=3)))
    if draw(st.booleans()):
        arcs |= {(j, i) for i, j in arcs}
    compute = np.array(draw(st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=silos, max_size=silos)))
    return build_overlay("drawn", graph, replace(WORK, compute_s=compute), sorted(arcs))


@pytest.mark.slow
@given(data=st.data(), keep=st.sampled_from(["all", "paper"]))
@settings(max_examples=25)
def test_no_enrichment_raises_tau(make_underlay, data, keep):
    overlay = data.draw(overlays(make_underlay))
    enriched = enrich(overlay, keep=keep)

    assert enriched.overlay.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)
    assert enriched.gap_after >= enriched.gap_before
    assert arc_set(overlay) <= arc_set(enriched.overlay)
    if keep == "all":
        assert slowest(enriched.overlay) <= slowest(overlay) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("mst", {"consensus": "fdal"}, "did you mean 'fdla'"),
        ("mst", {"keep": "al"}, "did you mean 'all'"),
        ("mst", {"limit": -1}, r"limit\(=-1\) must be >= 0"),
        ("ring", {"consensus": "local_degree"}, "must be fdla or fmmc"),
    ],
)
def test_bad_options(published_graph, kind, options, message):
    overlay = design(kind, published_graph("gaia", 1e10), INATURALIST)

    with pytest.raises(InputError, match=message):
        enrich(overlay, **options)


@pytest.mark.slow
def test_recorded_gaps_of_ebone(published_graph):
    overlay = design("mst", published_graph("ebone", 1e10), INATURALIST)
    enriched = enrich(overlay)

    assert enriched.gap_before == pytest.approx(0.001656468, abs=1e-8)
    # With arcs in the order of the exact program's weights it was 0.03667.
    assert enriched.gap_after >= 0.03726 - 5e-6
    assert enriched.overlay.closed_forms.paper_s == pytest.approx(overlay.closed_forms.paper_s, rel=1e-12)


def test_three_hundred_silos_are_the_most():
    _check(300, "fdla", "all", 0)
    with pytest.raises(InputError, match=r"silos\(=301\) must be <= 300"):
        _check(301, "fdla", "all", None)


def test_too_many_silos(published_graph, monkeypatch):
    monkeypatch.setattr("topologies.designers.enrich.MOST_SILOS", 10)

    with pytest.raises(InputError, match=r"silos\(=11\) must be <= 10"):
        enrich(design("mst", published_graph("gaia", 1e10), INATURALIST))


def test_a_link_may_be_busy_all_the_time(published_graph):
    overlay = design("ring", published_graph("gaia", 1e10), INATURALIST)
    graph = overlay.graph
    arc = next(
        (i, j) for i, j in itertools.permutations(range(graph.silos), 2) if (i, j) not in arc_set(overlay)
    )
    load_s = np.zeros(len(graph.link_capacity_bps))
    for i, j in arc_set(overlay):
        load_s[list(graph.route(i, j))] += (
            INATURALIST.model_bits / graph.link_capacity_bps[list(graph.route(i, j))]
        )
    route = list(graph.route(*arc))
    busiest_s = float((load_s[route] + INATURALIST.model_bits / graph.link_capacity_bps[route]).max())

    assert _has_room(overlay, load_s, busiest_s, arc)
    assert not _has_room(overlay, load_s, busiest_s * (1 - 1e-6), arc)


def drawn_overlay(make_underlay, rng, symmetric, number):
    """A circle of six silos and an arc more, on few kinds of lengths and access links, so that there are ties."""
    silos = 6
    links = [(i, i + 1, float(rng.choice((10.0, 500.0, 4000.0)))) for i in range(silos - 1)]
    links += [(int(i), int(j), 10.0) for i, j in [rng.choice(silos, 2, replace=False)]]
    graph = connectivity(
        make_underlay(silos, links),
        access=AccessLinks(
            up_bps=rng.choice((3e8, 1e10, 1e11), silos), down_bps=rng.choice((3e8, 1e10, 1e11), silos)
        ),
        blocked=[tuple(rng.choice(silos, 2, replace=False).tolist())] * (not symmetric),
    )
    order = rng.permutation(silos).tolist()
    arcs = set(zip(order, order[1:] + order[:1], strict=True))
    arcs |= {tuple(rng.choice(silos, 2, replace=False).tolist())}
    arcs |= {(j, i) for i, j in arcs} if symmetric else set()
    arcs = [arc for arc in arcs if graph.may_send[arc]]
    compute_s = rng.choice((0.0, 0.1, 1.0), silos) * (number % 2)
    work = Workload(model_bits=(1e5, 1e8)[number % 2], compute_s=compute_s)
    return build_overlay("drawn", graph, work, sorted(arcs))


@pytest.mark.parametrize("keep", ["all", "paper"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_an_arc_is_free_exactly_if_the_whole_overlay_with_it_says_so(make_underlay, symmetric, keep):
    rng = np.random.default_rng(2)
    counts = {True: 0, False: 0}
    for number in range(6):
        try:
            overlay = drawn_overlay(make_underlay, rng, symmetric, number)
        except InputError:  # a blocked pair was needed
            continue
        start, own, forms = _start(overlay, keep), arc_set(overlay), overlay.closed_forms
        assert is_symmetric(6, overlay.source, overlay.target) or not symmetric
        free = _free(overlay, start, symmetric)
        for i, j in itertools.permutations(range(6), 2):
            if (i, j) in own or not overlay.graph.may_send[i, j]:
                assert not free[i, j]
                continue
            new = [(i, j), (j, i)] if symmetric else [(i, j)]
            whole = build_overlay("whole", overlay.graph, overlay.work, sorted(own | set(new)))
            holds = whole.closed_forms.paper_s <= forms.paper_s * (1 + 1e-12)
            holds &= keep == "paper" or slowest(whole) <= slowest(overlay) * (1 + 1e-12)
            grown = _grown(overlay, start, new)
            counts[holds] += 1
            assert (grown is not None) == holds
            delays = dict(zip(sorted(own | set(new)), whole.delay_s.tolist(), strict=True))
            # One circuit at a time, with the longest way back among the arcs that there are.
            tau = forms.paper_s * (1 + 1e-12)
            alone = all(time + start.longest_s[b, a] <= tau for (a, b), time in delays.items())
            alone &= not symmetric or delays[i, j] + delays[j, i] <= 2 * tau
            assert free[i, j] == alone or (keep == "all" and alone and not holds)
            if grown is not None:
                again = _start(whole, keep)
                assert np.array_equal(grown.present, again.present)
                assert grown.load_s == pytest.approx(again.load_s, rel=1e-12) or keep == "paper"
                assert grown.longest_s == pytest.approx(again.longest_s, abs=1e-9)
    assert min(counts.values()) > 5


def accepted(monkeypatch, size, *, limit, symmetric=False):
    """Arcs that are accepted of all between some silos, by their weights; how many candidates there were each time."""
    silos = len(size)
    counts = []

    def weights(_silos, source, target, *, accuracy):
        assert accuracy == 0.5
        counts.append(len(source))
        matrix = np.zeros_like(size)
        matrix[target, source] = size[source, target]
        return matrix

    def grown(_overlay, state, arcs):
        present = state.present.copy()
        for arc in arcs:
            present[arc] = True
        return replace(state, present=present)

    monkeypatch.setattr("topologies.designers.enrich.fdla", weights)
    monkeypatch.setattr("topologies.designers.enrich._grown", grown)
    nothing = np.zeros((silos, silos), dtype=bool)
    start = _State(present=nothing, longest_s=np.zeros(0), load_s=np.zeros(0), ceiling_s=np.inf)
    present = _accepted(None, start, ~np.eye(silos, dtype=bool), symmetric, limit, 0.5)
    return [tuple(arc) for arc in np.argwhere(present).tolist()], counts


def test_where_few_arcs_may_be_added_each_look_keeps_a_quarter_of_them(monkeypatch):
    size = np.arange(100.0).reshape(10, 10)

    # The largest, in the end so many as may be.
    assert accepted(monkeypatch, size, limit=2) == ([(9, 7), (9, 8)], [90, 22, 5])
    assert accepted(monkeypatch, size, limit=5) == ([(9, 4), (9, 5), (9, 6), (9, 7), (9, 8)], [90, 22])
    assert accepted(monkeypatch, size, limit=None)[1] == [90]
    # Both directions count.
    assert accepted(monkeypatch, size, limit=3, symmetric=True) == ([(8, 9), (9, 8)], [90, 22, 4])


def test_weights_that_differ_by_the_solvers_noise_are_ties(monkeypatch):
    size = np.ones((3, 3))
    size[2, 1] = 1 + 4e-7
    assert accepted(monkeypatch, size, limit=1)[0] == [(0, 1)]
    size[2, 1] = 1 + 6e-7
    assert accepted(monkeypatch, size, limit=1)[0] == [(2, 1)]


def test_arcs_are_taken_by_weights_of_three_accuracies(published_graph, monkeypatch):
    asked = []

    def take(_overlay, start, _candidates, _symmetric, limit, accuracy):
        asked.append((limit, accuracy))
        return start.present

    monkeypatch.setattr("topologies.designers.enrich._accepted", take)
    overlay = design("mst", published_graph("gaia", 1e10), WORK)
    enriched = enrich(overlay, limit=4)

    assert asked == [(4, 1e-1), (4, 3e-3), (4, 1e-3)]
    assert enriched.added == ()
