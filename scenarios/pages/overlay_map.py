"""Overlays on the map of their network: arcs, critical circuits and busiest links, one layer for each overlay."""

from collections.abc import Iterable, Sequence

import numpy as np

from scenarios.config.quantities import format_s
from scenarios.pages.run_facts import OverlayFacts, RunFacts
from scenarios.report.map_layout import WIDTH_PT, MapLayout, map_layout
from scenarios.report.map_svg import (
    map_class,
    map_ground,
    map_legend,
    map_lines,
    map_sites,
    path_points,
    site_places,
)
from scenarios.report.svg_chart import line_classes
from scenarios.report.web_page import text
from topologies.arrays import FloatArray

MOST_ARCS = 2000
"""Arcs of an overlay that are drawn; those of critical circuits in any case."""
_MOST_FOCUSED = 200
"""Arcs of an overlay up to which the keyboard goes through them."""
_BEND = 0.12
"""How far an arc bends to its left, in parts of its length: both directions of a pair are seen."""
OVERLAY_MAP_STYLE = """
:root { --critical: #b3001b; --busy: #b86e00; }
@media (prefers-color-scheme: dark) { :root { --critical: #ff8a80; --busy: #ffc14d; } }
.scroll { overflow-x: auto; } .scroll > svg.map { min-width: 36rem; }
svg.under .line .seen { opacity: 0.35; } svg.under .line:hover .seen, svg.under .line:focus .seen { opacity: 1; }
.arc { fill: none; stroke-width: 1px; stroke-linecap: round; }
.arc:hover, .arc:focus { stroke-width: 3px; outline: none; }
.arc.critical { stroke: var(--critical); stroke-width: 2.2px; stroke-dasharray: none; }
.own.critical { fill: none; stroke: var(--critical); stroke-width: 1.6px; } .own { fill: none; stroke: none; }
.busy path { fill: none; stroke: var(--busy); stroke-width: 4px; stroke-linecap: round; opacity: 0.65; }
.busy circle { fill: none; stroke: var(--busy); stroke-width: 1.8px; }
.place:focus { outline: none; } .place:hover .site, .place:focus .site { stroke: var(--text); stroke-width: 2px; }
.off { display: none; }
.swatch { display: inline-block; width: 2.2rem; height: 0; border-top: 3px solid; vertical-align: middle;
  margin-right: 0.5rem; } .swatch.c { color: var(--critical); } .swatch.b { color: var(--busy); }
fieldset { border: 0; padding: 0; margin: 0.4rem 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; }
legend { float: left; margin-right: 1rem; font-weight: 600; } fieldset label { white-space: nowrap; }
.onpaper { display: none; }
"""


def overlay_picker(facts: RunFacts) -> str:
    """Radio buttons, one for each overlay."""
    buttons = [
        f'<label><input type="radio" name="overlay" value="{place}"{" checked" if place == 0 else ""}> '
        f"{text(each.kind)}</label>"
        for place, each in enumerate(facts.overlays)
    ]
    return f"<fieldset><legend>Overlay on the map</legend>{' '.join(buttons)}</fieldset>"


def overlay_map(facts: RunFacts) -> str:
    """The map with a layer for each overlay, the first of them shown, and on paper a map for each.

    Notes
    -----
    Time and memory O(links + arcs drawn).
    """
    layout = map_layout(facts.record.underlay)
    layers = [_layer(facts, layout, place) for place in range(len(facts.overlays))]
    height = layout.height_pt
    box = f'viewBox="0 0 {WIDTH_PT:g} {height:.1f}"'
    where = "on a map" if layout.is_geographic else "as a graph"
    said = f"{layout.title}, {where}, with the arcs of the chosen overlay; the tables below have all numbers"
    kind = map_class(layout)
    parts = [
        f'<div class="scroll"><svg class="{kind} under" id="map" {box} role="group" aria-label="{text(said)}">',
        f'<g id="map-below">{"".join(map_ground(layout))}{"".join(map_lines(layout))}</g>',
        *(
            f'<g class="layer{" off" if place else ""}" data-layer="{place}"><g id="layer-{place}">{layer}</g></g>'
            for place, layer in enumerate(layers)
        ),
        f'<g id="map-sites">{"".join(_sites(layout))}</g>',
        "</svg></div>",
        '<p id="told" aria-live="polite"></p>',
        map_legend(layout),
        '<ul class="legend"><li><span class="swatch c"></span>critical circuit (paper)</li>'
        '<li><span class="swatch b"></span>busiest links (load)</li></ul>',
        *(f'<p class="note">{text(note)}</p>' for note in (*layout.notes, *_drawn_notes(facts, layout))),
        '<div class="onpaper">',
        *(
            f'<figure><figcaption>{text(each.kind)}</figcaption><svg class="{kind} under" {box} role="img" '
            f'aria-label="{text(each.kind)}"><use href="#map-below"/><use href="#layer-{place}"/>'
            f'<use href="#map-sites"/></svg></figure>'
            for place, each in enumerate(facts.overlays)
        ),
        "</div>",
    ]
    return "\n".join(parts)


def _sites(layout: MapLayout) -> Iterable[str]:
    """Sites that the keyboard goes to, with their numbers."""
    shown = iter(np.flatnonzero(np.isfinite(layout.x)).tolist())
    for part in map_sites(layout):
        is_site = part.startswith('<g class="place">')
        yield (part.replace("<g ", f'<g tabindex="0" data-site="{next(shown)}" ', 1) if is_site else part)


def _layer(facts: RunFacts, layout: MapLayout, place: int) -> str:
    """Busiest links and arcs of an overlay."""
    each = facts.overlays[place]
    places = site_places(layout)[facts.graph.router]
    name = line_classes(overlay.kind for overlay in facts.overlays)[each.kind]
    parts = []
    arcs = drawn_arcs(each)
    focus = ' tabindex="0"' if len(arcs) <= _MOST_FOCUSED else ""
    for arc in arcs:
        i, j = each.recorded.arcs[arc, :2].tolist()
        path = _bent(places[i], places[j])
        if path:
            parts.append(
                f'<path class="arc {name}" data-arc="{i}-{j}"{focus} d="{path}"><title>{_arc_title(facts, each, arc)}'
                "</title></path>"
            )
    if each.forms is not None:
        parts += [
            f'<g class="busy" data-limit="{limit}">{"".join(_busy(facts, layout, links))}</g>'
            for limit, links in (
                ("access", each.forms.access_links),
                ("other", each.forms.other_links),
            )
        ]
        own = sorted({circuit[0] for circuit in each.forms.curve.circuits if len(circuit) == 1})
        parts += [
            f'<circle class="own" data-arc="{silo}-{silo}" cx="{places[silo, 0]:.1f}" cy="{places[silo, 1]:.1f}" '
            'r="4.4"/>'
            for silo in own
            if np.isfinite(places[silo]).all()
        ]
    return "".join(parts)


def drawn_arcs(each: OverlayFacts) -> list[int]:
    """Arcs of an overlay that are drawn: all of a few; of many the first ones and those of critical circuits."""
    arcs = each.recorded.arcs
    if len(arcs) <= MOST_ARCS:
        return list(range(len(arcs)))
    kept = set(range(MOST_ARCS))
    if each.forms is not None:
        numbers = {(i, j): arc for arc, (i, j) in enumerate(arcs[:, :2].tolist())}
        for circuit in each.forms.curve.circuits:
            pairs = zip(circuit, (*circuit[1:], circuit[0]), strict=True)
            kept |= {numbers[pair] for pair in pairs if pair in numbers}
    return sorted(kept)


def _drawn_notes(facts: RunFacts, layout: MapLayout) -> list[str]:
    """Which arcs are not drawn."""
    notes = []
    for each in facts.overlays:
        drawn, arcs = len(drawn_arcs(each)), len(each.recorded.arcs)
        if drawn < arcs:
            among = "" if each.forms is None else ", its critical circuits among them"
            notes.append(f"{each.kind}: {drawn:,} of {arcs:,} arcs are drawn{among}.")
    places = np.column_stack([layout.x, layout.y])[facts.graph.router]
    if len(np.unique(places[np.isfinite(places).all(axis=1)], axis=0)) < len(places):
        notes.append("Arcs between silos at one place, or to a silo without a place, are not drawn.")
    return notes


def _arc_title(facts: RunFacts, each: OverlayFacts, arc: int) -> str:
    """Ends of an arc and its delay."""
    i, j = each.recorded.arcs[arc, :2].tolist()
    ends = f"{facts.graph.labels[i]} -> {facts.graph.labels[j]}"
    if each.overlay is None:
        return text(f"{ends}: an arc of some rounds")
    # The arcs of an overlay are sorted by source and target, those of a file may not be.
    at = np.flatnonzero((each.overlay.source == i) & (each.overlay.target == j))
    return text(f"{ends}: delay {format_s(float(each.overlay.delay_s[at[0]]))} (paper)")


def _bent(a: FloatArray, b: FloatArray) -> str:
    """Path of an arc; empty where its ends are at one place or at none."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or np.hypot(*(b - a)) < 1:
        return ""
    middle = (a + b) / 2 + _BEND * np.array([b[1] - a[1], a[0] - b[0]])
    return f"M{a[0]:.1f},{a[1]:.1f}Q{middle[0]:.1f},{middle[1]:.1f} {b[0]:.1f},{b[1]:.1f}"


def _busy(facts: RunFacts, layout: MapLayout, directions: Sequence[int]) -> Iterable[str]:
    """Marks on the busiest links: along core links or pairs, and around the silos of access links."""
    graph = facts.graph
    places = site_places(layout)[graph.router]
    lines = {line.link: line for line in layout.lines if line.link is not None}
    access = [link for link in directions if graph.first_uplink <= link < graph.first_window]
    silos = {(link - graph.first_uplink) % graph.silos for link in access}
    between = [link for link in directions if link < graph.first_uplink]
    for link in sorted({link // 2 for link in between}) if not graph.is_measured else ():
        if link in lines:
            d = "".join(f"M{path_points(layout, points)}" for points in lines[link].paths)
            yield f'<path d="{d}"/>'
    for pair in between if graph.is_measured else ():
        i, j = graph.measured_pairs[pair].tolist()
        yield f'<path d="{_bent(places[i], places[j])}"/>'
    own = [link for link in directions if graph.first_window <= link < graph.first_shared]
    for window in (link - graph.first_window for link in own):
        i, j = graph.window_pairs[window].tolist()
        yield f'<path d="{_bent(places[i], places[j])}"/>'
    for silo in sorted(silos):
        if np.isfinite(places[silo]).all():
            yield f'<circle cx="{places[silo, 0]:.1f}" cy="{places[silo, 1]:.1f}" r="4.2"/>'
