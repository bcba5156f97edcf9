"""A network as one page for a browser: the map, facts, and a table of links; it loads nothing from elsewhere."""

import html
from collections.abc import Iterable, Sequence

import numpy as np

from scenarios.config.quantities import format_rate, format_s
from scenarios.report.map_layout import FONT_PT, MANY_LINES, WIDTH_PT, LegendEntry, MapLayout, map_layout
from topologies.arrays import FloatArray
from topologies.capacities import core_capacity
from topologies.underlay import Underlay

_SPEEDS = 7
"""Colours of lines, from the slowest to the fastest."""
_LIGHT = ("#e8892f", "#de6744", "#cf4560", "#a83a7a", "#7c3089", "#4b2b80", "#1d2671")
_DARK = ("#ff9f4a", "#ff8566", "#ff6f91", "#dd7dc4", "#b28df0", "#8fb3ff", "#8fe3ff")
_MOST_ROWS = 5000
_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --text: #1c1c1c; --quiet: #5a5f63; --rule: #d9dcdd;
  --sea: #dce6ec; --land: #efede6; --plain: #f7f7f5; --coast: #c9ccc6; --site: #222222; --halo: #ffffff; LIGHT }
@media (prefers-color-scheme: dark) { :root { --page: #15181b; --text: #e8e8e6; --quiet: #a2a8ad; --rule: #363b40;
  --sea: #1b2228; --land: #2c3236; --plain: #1f2427; --coast: #444c51; --site: #f4f4f2; --halo: #15181b; DARK } }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
pre { font: 0.85rem/1.5 ui-monospace, monospace; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; border: 1px solid var(--rule); }
svg text { font: FONTpx system-ui, sans-serif; fill: var(--text); stroke: var(--halo); stroke-width: 1.8px;
  stroke-linejoin: round; paint-order: stroke; }
.sea { fill: var(--sea); } .land { fill: var(--land); } .plain { fill: var(--plain); }
path.land { stroke: var(--coast); stroke-width: 0.7px; paint-order: stroke; }
SPEEDS
.line path { fill: none; stroke-linecap: round; } .line .hit { stroke: transparent; stroke-width: 5px; }
.pairs .seen { stroke-width: 1px; } .many .seen { stroke-width: 0.8px; opacity: 0.65; }
.dashed .seen, .dashed line { stroke-dasharray: 3.5 1.8; }
.line:hover .seen, .line:focus .seen { stroke: var(--text); stroke-width: 3px; opacity: 1; }
.line:focus { outline: none; }
.site { fill: var(--site); stroke: var(--halo); stroke-width: 0.6px; }
.leader { stroke: var(--quiet); stroke-width: 0.5px; }
#told { min-height: 1.5em; margin: 0.3rem 0; color: var(--quiet); }
ul.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; list-style: none; padding: 0; margin: 0.3rem 0; }
ul.legend svg { display: inline-block; width: 2.6rem; height: 0.8rem; border: 0; margin-right: 0.5rem; }
.note { color: var(--quiet); margin: 0.2rem 0; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9rem; margin-top: 1rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th, td { text-align: left; padding: 0.2rem 1.4rem 0.2rem 0; border-bottom: 1px solid var(--rule); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
"""
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
        f"<h1>{_text(title)}</h1>",
        _svg(layout),
        '<p id="told" aria-live="polite"></p>',
        _legend(layout),
        *(f'<p class="note">{_text(note)}</p>' for note in layout.notes),
        f"<pre>{_text(chr(10).join(rest).strip())}</pre>",
        _link_table(underlay) if underlay.measured is None else _pair_table(underlay),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Without an icon browsers ask for one.
            '<link rel="icon" href="data:,">',
            f"<title>{_text(layout.title)}</title>",
            f"<style>{_style()}</style>",
            "</head>",
            "<body>",
            *body,
            f"<script>{_SCRIPT}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _style() -> str:
    """The style sheet with all colours."""
    speeds = "\n".join(
        f".s{place} {{ stroke: var(--s{place}); stroke-width: {0.9 + 1.3 * place / (_SPEEDS - 1):.2f}px; }}"
        for place in range(_SPEEDS)
    )
    light, dark = (
        " ".join(f"--s{place}: {colour};" for place, colour in enumerate(colours))
        for colours in (_LIGHT, _DARK)
    )
    given = {"LIGHT": light, "DARK": dark, "SPEEDS": speeds, "FONT": f"{FONT_PT:g}"}
    style = _STYLE
    for name, value in given.items():
        style = style.replace(name, value)
    return style


def _svg(layout: MapLayout) -> str:
    """The map."""
    height = layout.height_pt
    land = "".join(f"M{_points(layout, ring)}Z" for ring in layout.land)
    style = "many" if len(layout.lines) > MANY_LINES else "pairs" if layout.scale is not None else "links"
    parts = [
        f'<svg class="{style}" viewBox="0 0 {WIDTH_PT:g} {height:.1f}" role="img" '
        f'aria-label="{_text(_said(layout))}">',
        f'<rect class="{layout.ground}" width="{WIDTH_PT:g}" height="{height:.1f}"/>',
        f'<path class="land" d="{land}"/>' if land else "",
    ]
    parts += [_line(layout, place) for place in range(len(layout.lines))]
    on_page = layout.on_page(np.column_stack([layout.x, layout.y]))
    for site in np.flatnonzero(np.isfinite(layout.x)).tolist():
        x, y = on_page[site]
        parts.append(
            f'<g class="place"><title>{_text(layout.site_titles[site])}</title>'
            f'<circle class="site" cx="{x:.1f}" cy="{height - y:.1f}" r="2.2"/></g>'
        )
    for label in layout.labels:
        x, y = on_page[label.site]
        across, down = x + label.right_pt, height - y - label.up_pt
        if label.has_leader:
            parts.append(
                f'<line class="leader" x1="{x:.1f}" y1="{height - y:.1f}" x2="{across:.1f}" y2="{down:.1f}"/>'
            )
        anchor = ("middle", "start", "end")[label.side]
        parts.append(
            f'<text x="{across:.1f}" y="{down + 0.35 * FONT_PT:.1f}" text-anchor="{anchor}">{_text(label.text)}</text>'
        )
    return "\n".join([*filter(None, parts), "</svg>"])


def _said(layout: MapLayout) -> str:
    """What the map shows, for those who do not see it."""
    where = "on a map" if layout.is_geographic else "as a graph"
    return f"{layout.title}, {where}; the table below has all numbers"


def _line(layout: MapLayout, place: int) -> str:
    """A link or pair: the line that is seen, and a wider one that is easy to hit."""
    line = layout.lines[place]
    path = "".join(f"M{_points(layout, points)}" for points in line.paths)
    dashed = " dashed" if line.is_dashed else ""
    return (
        f'<g class="line{dashed}" tabindex="0"><title>{_text(line.title)}</title>'
        f'<path class="seen s{_speed(line.speed)}" d="{path}"/><path class="hit" d="{path}"/></g>'
    )


def _points(layout: MapLayout, points: FloatArray) -> str:
    """Points of a path, as the attribute d takes them."""
    on_page = layout.on_page(points)
    return " ".join(f"{x:.1f},{layout.height_pt - y:.1f}" for x, y in on_page.tolist())


def _speed(speed: float) -> int:
    """Number of the colour."""
    return round(speed * (_SPEEDS - 1))


def _legend(layout: MapLayout) -> str:
    """What the colours and dashes mean."""
    entries: Sequence[LegendEntry] = layout.legend
    if (scale := layout.scale) is not None:
        low, ratio = scale.low_bps, scale.high_bps / scale.low_bps
        shown = range(_SPEEDS - 1, -1, -1) if ratio > 1 else [_SPEEDS // 2]
        entries = [
            LegendEntry(
                text=format_rate(float(f"{low * ratio ** (place / (_SPEEDS - 1)):.2g}")),
                speed=place / (_SPEEDS - 1),
            )
            for place in shown
        ]
        entries = [*entries, *layout.legend]
    items = [
        f'<li><svg viewBox="0 0 26 8" class="{"dashed" if entry.is_dashed else ""}" aria-hidden="true">'
        f'<line class="s{_speed(entry.speed)}" x1="1" y1="4" x2="25" y2="4"/></svg>{_text(entry.text)}</li>'
        for entry in entries
    ]
    head = f'<p class="note">{_text(scale.title)}:</p>' if scale is not None else ""
    return f'{head}<ul class="legend">{"".join(items)}</ul>'


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
    return _table("Core links", ("link", "length (km)", "capacity", ""), rows, (1, 2), underlay.links)


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
    return _table("Measured pairs", ("pair", "bandwidth", "latency"), rows, (1, 2), len(pairs))


def _table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int], size: int
) -> str:
    """A table; its numbers stand right."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        marked = (' class="number"' if place in numbers else "" for place in range(len(texts)))
        return "".join(
            f"<{tag}{scope}{mark}>{_text(text)}</{tag}>" for mark, text in zip(marked, texts, strict=True)
        )

    first = f" (the first {_MOST_ROWS:,} of {size:,})" if size > _MOST_ROWS else ""
    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="table"><table><caption>{caption}{first}</caption>\n'
        f"<thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _text(text: str) -> str:
    """A text in HTML, or in an attribute."""
    return html.escape(text)
