"""A network as one page for a browser: the map, facts, and a table of links; it loads nothing from elsewhere."""

from scenarios.config.quantities import format_rate, format_s
from scenarios.report.map_layout import WIDTH_PT, MapLayout, map_layout
from scenarios.report.map_svg import map_class, map_ground, map_legend, map_lines, map_sites, map_style
from scenarios.report.web_page import html_table, text, web_page
from topologies.capacities import core_capacity
from topologies.underlay import Underlay

_MOST_ROWS = 5000
_SCRIPT = """
const told = document.getElementById("told");
for (const line of document.querySelectorAll(".line, .place")) {
  const tell = () => { told.textContent = line.querySelector("title").textContent; };
  line.addEventListener("mouseenter", tell);
  line.addEventListener("focus", tell);
}
"""


def map_page(underlay: Underlay, facts: str) -> str:
    """The page of a network.

    Parameters
    ----------
    underlay : Underlay
    facts : str
        Lines of text below the title; the first is the title.

    Returns
    -------
    str
        HTML. Lines of the map tell their numbers where the pointer or the focus is.
    """
    layout = map_layout(underlay)
    title, *rest = facts.splitlines()
    body = [
        f"<h1>{text(title)}</h1>",
        _svg(layout),
        '<p id="told" aria-live="polite"></p>',
        map_legend(layout),
        *(f'<p class="note">{text(note)}</p>' for note in layout.notes),
        f"<pre>{text(chr(10).join(rest).strip())}</pre>",
        _link_table(underlay) if underlay.measured is None else _pair_table(underlay),
    ]
    return web_page(layout.title, body, style=map_style(), script=_SCRIPT)


def _svg(layout: MapLayout) -> str:
    """The map."""
    where = "on a map" if layout.is_geographic else "as a graph"
    said = f"{layout.title}, {where}; the table below has all numbers"
    head = (
        f'<svg class="{map_class(layout)}" viewBox="0 0 {WIDTH_PT:g} {layout.height_pt:.1f}" role="img" '
        f'aria-label="{text(said)}">'
    )
    return "\n".join([head, *map_ground(layout), *map_lines(layout), *map_sites(layout), "</svg>"])


def _link_table(underlay: Underlay) -> str:
    """Core links and their numbers."""
    core_bps, assumed = core_capacity(underlay, None)
    rows = (
        (
            underlay.link_name(link),
            f"{underlay.length_km[link]:,.1f}",
            format_rate(float(core_bps[link])),
            "assumed" if assumed[link] else "stated",
        )
        for link in range(min(underlay.links, _MOST_ROWS))
    )
    return html_table("Core links", ("link", "length (km)", "capacity", ""), rows, (1, 2), of=underlay.links)


def _pair_table(underlay: Underlay) -> str:
    """Measured pairs and their numbers."""
    measured = underlay.measured
    assert measured is not None
    pairs = measured.pairs
    rows = (
        (
            f"{underlay.labels[i]} -> {underlay.labels[j]}",
            format_rate(float(measured.bandwidth_bps[i, j])),
            format_s(float(measured.latency_s[i, j])),
        )
        for i, j in pairs[:_MOST_ROWS].tolist()
    )
    return html_table("Measured pairs", ("pair", "bandwidth", "latency"), rows, (1, 2), of=len(pairs))
