"""Arcs and busiest links of an overlay on the map of a page, at places worked out from those of the sites."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.quantities import format_s
from scenarios.pages import overlay_map
from scenarios.pages.overlay_map import (
    _arc_title,
    _bent,
    _busy,
    _drawn_notes,
    _layer,
    drawn_arcs,
    overlay_picker,
)
from scenarios.report.map_layout import map_layout
from scenarios.report.map_svg import path_points, site_places
from topologies import Workload, build_overlay, connectivity, load_underlay
from topologies.connectivity import AccessLinks

SILOS = 4
LINKS = AccessLinks(up_bps=1e8, down_bps=1e8)


@pytest.fixture(scope="module")
def layout():
    return map_layout(load_underlay("gaia"))


def facts_of(underlay="gaia", routers=tuple(range(SILOS)), **changes):
    graph = connectivity(load_underlay(underlay), access=LINKS, routers=list(routers))
    return SimpleNamespace(graph=replace(graph, **changes))


def marks(facts, layout, *directions):
    return list(_busy(facts, layout, directions))


def ring(x, y):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2"/>'


def test_both_directions_of_a_core_link_are_one_line_along_it(layout):
    facts = facts_of()
    paths = {
        line.link: "".join(f"M{path_points(layout, points)}" for points in line.paths)
        for line in layout.lines
    }
    for directions in ((6,), (7,), (6, 7), (7, 6)):
        assert marks(facts, layout, *directions) == [f'<path d="{paths[3]}"/>']
    last = facts.graph.first_uplink - 1
    assert marks(facts, layout, last, 0) == [f'<path d="{paths[0]}"/>', f'<path d="{paths[last // 2]}"/>']
    # A link that is not drawn, as its ends are at one place, has no mark.
    hidden = replace(layout, lines=tuple(line for line in layout.lines if line.link != 3))
    assert marks(facts, hidden, 6) == []


def test_access_links_are_rings_around_their_silos(layout):
    # Silos in another order than their sites, and the first one twice.
    facts = facts_of(routers=(5, 2, 9, 5))
    places = site_places(layout)
    up = facts.graph.first_uplink
    assert marks(facts, layout, up) == [ring(*places[5])]
    assert marks(facts, layout, up + 1) == [ring(*places[2])]
    # Up- and downlink of one silo have one ring; silos are in their order.
    assert marks(facts, layout, up + SILOS + 2, up + 2, up + 1) == [ring(*places[2]), ring(*places[9])]
    assert marks(facts, layout, up + 2 * SILOS - 1) == [ring(*places[5])]
    three = facts_of(routers=(5, 2, 9))
    assert marks(three, layout, up) == marks(three, layout, up + 3) == [ring(*places[5])]


def test_a_silo_without_a_place_has_no_ring(layout):
    facts = facts_of()
    for axis in ("x", "y"):
        coordinates = getattr(layout, axis).copy()
        coordinates[1] = np.nan
        off = replace(layout, **{axis: coordinates})
        up = facts.graph.first_uplink
        assert marks(facts, off, up, up + 1) == [ring(*site_places(layout)[0])]


def test_windows_are_along_their_pairs(layout):
    window_bps = np.full((SILOS, SILOS), np.inf)
    window_bps[2, 3] = window_bps[3, 1] = 1e6
    facts = facts_of(window_bps=window_bps)
    first, places = facts.graph.first_window, site_places(layout)
    assert facts.graph.first_shared == first + 2
    assert marks(facts, layout, first) == [f'<path d="{_bent(places[2], places[3])}"/>']
    assert marks(facts, layout, first + 1) == [f'<path d="{_bent(places[3], places[1])}"/>']
    assert marks(facts, layout, first + 2) == []


def test_measured_pairs_are_along_their_pairs_in_one_direction():
    facts = facts_of("clouds", routers=(4, 1, 3))
    layout = map_layout(load_underlay("clouds"))
    places = site_places(layout)[[4, 1, 3]]
    for pair, (i, j) in enumerate(facts.graph.measured_pairs.tolist()):
        assert marks(facts, layout, pair) == [f'<path d="{_bent(places[i], places[j])}"/>']
    assert marks(facts, layout, facts.graph.first_uplink) == [ring(*places[0])]


def test_an_arc_bends_to_its_left_by_an_eighth_of_its_length():
    # On the page y grows downwards: going to the right, the left is above.
    assert _bent(np.array([0.0, 0.0]), np.array([100.0, 0.0])) == "M0.0,0.0Q50.0,-12.0 100.0,0.0"
    assert _bent(np.array([100.0, 0.0]), np.array([0.0, 0.0])) == "M100.0,0.0Q50.0,12.0 0.0,0.0"
    assert _bent(np.array([10.0, 20.0]), np.array([10.0, 120.0])) == "M10.0,20.0Q22.0,70.0 10.0,120.0"


@pytest.mark.parametrize(
    ("a", "b", "is_drawn"),
    [
        ((0, 0), (0.6, 0.8), True),
        ((0, 0), (0.6, 0.7), False),
        ((10, 10), (10.5, 10), False),
        ((-10, -10), (10, 10), True),
        ((0, np.nan), (5, 5), False),
        ((0, 0), (np.nan, 5), False),
    ],
)
def test_an_arc_between_two_places_is_drawn(a, b, is_drawn):
    path = _bent(np.array(a, dtype=float), np.array(b, dtype=float))
    assert path.startswith("M") if is_drawn else path == ""


def overlay_of(facts, arcs, *, circuits=None, built=True, kind="ring"):
    """Facts of an overlay on the network of others."""
    overlay = (
        build_overlay(kind, facts.graph, Workload(model_bits=1e6, compute_s=0.01), arcs) if built else None
    )
    forms = None
    if circuits is not None:
        forms = SimpleNamespace(curve=SimpleNamespace(circuits=circuits), access_links=(), other_links=())
    recorded = SimpleNamespace(arcs=np.array([(i, j, 1) for i, j in arcs]))
    return SimpleNamespace(kind=kind, recorded=recorded, overlay=overlay, forms=forms)


CIRCLE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_the_title_of_an_arc_is_its_delay_whatever_the_order_of_the_file():
    facts = facts_of()
    each = overlay_of(facts, CIRCLE[::-1])
    # 10 ms of computing, the latency, and 1 Mbit at 100 Mbps, that is 10 ms.
    labels, latency_s = facts.graph.labels, facts.graph.latency_s
    for arc, (i, j) in enumerate(CIRCLE[::-1]):
        shown = format_s(0.02 + float(latency_s[i, j]))
        assert _arc_title(facts, each, arc) == f"{labels[i]} -&gt; {labels[j]}: delay {shown} (paper)"
    drawn = overlay_of(facts, CIRCLE, built=False)
    assert _arc_title(facts, drawn, 1) == f"{labels[1]} -&gt; {labels[2]}: an arc of some rounds"


def test_a_layer_has_its_arcs_its_busiest_links_and_the_silos_that_are_circuits(layout):
    facts = facts_of()
    first, second = (
        overlay_of(facts, CIRCLE, circuits=[(2,), (0, 1), (2,), (1,)]),
        overlay_of(facts, CIRCLE, kind="a"),
    )
    first.forms.access_links, first.forms.other_links = [facts.graph.first_uplink + 3], [6]
    facts.overlays = [first, second]
    places = site_places(layout)
    said = _layer(facts, layout, 0)
    for i, j in CIRCLE:
        assert f'data-arc="{i}-{j}" tabindex="0" d="{_bent(places[i], places[j])}"><title>' in said
    assert f'<g class="busy" data-limit="access">{ring(*places[3])}</g>' in said
    assert f'<g class="busy" data-limit="other">{"".join(marks(facts, layout, 6))}</g>' in said
    own = [
        f'<circle class="own" data-arc="{silo}-{silo}" cx="{places[silo, 0]:.1f}" cy="{places[silo, 1]:.1f}" r="4.4"/>'
        for silo in (1, 2)
    ]
    assert said.endswith("".join(own))
    assert "circle" not in _layer(facts, layout, 1)
    off = replace(layout, x=np.where(np.arange(len(layout.x)) == 2, np.nan, layout.x))
    said = _layer(facts, off, 0)
    assert own[1] not in said
    assert "nan" not in said
    assert own[0] in said
    assert said.count("<title>") == 2


@pytest.mark.parametrize(("arcs", "focused"), [(4, True), (5, False)])
def test_the_keyboard_goes_through_the_arcs_of_a_few(layout, monkeypatch, arcs, focused):
    monkeypatch.setattr(overlay_map, "_MOST_FOCUSED", 4)
    facts = facts_of()
    facts.overlays = [overlay_of(facts, [*CIRCLE, (0, 2)][:arcs])]
    assert _layer(facts, layout, 0).count("tabindex") == (arcs if focused else 0)


def test_of_many_arcs_the_first_are_drawn_and_said(layout, monkeypatch):
    monkeypatch.setattr(overlay_map, "MOST_ARCS", 2)
    facts = facts_of()
    plain = overlay_of(facts, CIRCLE)
    critical = overlay_of(facts, CIRCLE, circuits=[(3, 0), (2,)], kind="b")
    whole = overlay_of(facts, CIRCLE[:2], built=False, kind="c")
    assert [drawn_arcs(each) for each in (plain, critical, whole)] == [[0, 1], [0, 1, 3], [0, 1]]
    facts.overlays = [plain, critical, whole]
    assert _drawn_notes(facts, layout) == [
        "ring: 2 of 4 arcs are drawn.",
        "b: 3 of 4 arcs are drawn, its critical circuits among them.",
    ]


def test_silos_at_one_place_or_at_none_are_said(layout):
    said = ["Arcs between silos at one place, or to a silo without a place, are not drawn."]
    apart, together = facts_of(), facts_of(routers=(0, 1, 1))
    apart.overlays = together.overlays = []
    assert _drawn_notes(apart, layout) == []
    assert _drawn_notes(together, layout) == said
    assert (
        _drawn_notes(apart, replace(layout, y=np.where(np.arange(len(layout.y)) == 2, np.nan, layout.y)))
        == said
    )


def test_the_first_overlay_is_chosen():
    shown = overlay_picker(SimpleNamespace(overlays=[SimpleNamespace(kind="<a>"), SimpleNamespace(kind="b")]))
    assert 'value="0" checked> &lt;a&gt;</label>' in shown
    assert 'value="1"> b</label>' in shown
