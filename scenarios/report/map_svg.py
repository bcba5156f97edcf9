"""The parts of a map as SVG: what lies below, lines that tell their numbers, sites, labels, legend."""

from collections.abc import Sequence

import numpy as np

from scenarios.config.quantities import format_rate
from scenarios.report.map_layout import FONT_PT, MANY_LINES, WIDTH_PT, LegendEntry, MapLayout
from scenarios.report.web_page import text
from topologies.arrays import FloatArray

_SPEEDS = 7
"""Colours of lines, from the slowest to the fastest."""
_LIGHT = ("#e8892f", "#de6744", "#cf4560", "#a83a7a", "#7c3089", "#4b2b80", "#1d2671")
_DARK = ("#ff9f4a", "#ff8566", "#ff6f91", "#dd7dc4", "#b28df0", "#8fb3ff", "#8fe3ff")
_STYLE = """
:root { --sea: #dce6ec; --land: #efede6; --plain: #f7f7f5; --coast: #c9ccc6; --site: #222222; --halo: #ffffff; LIGHT }
@media (prefers-color-scheme: dark) { :root { --sea: #1b2228; --land: #2c3236; --plain: #1f2427; --coast: #444c51;
  --site: #f4f4f2; --halo: #15181b; DARK } }
svg.map { display: block; box-sizing: border-box; width: 100%; height: auto; border: 1px solid var(--rule); }
svg.map text { font: FONTpx system-ui, sans-serif; fill: var(--text); stroke: var(--halo); stroke-width: 1.8px;
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
"""


def map_style() -> str:
    """The style sheet of maps, with all colours."""
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


def map_class(layout: MapLayout) -> str:
    """Class of the map by what its lines are."""
    kind = "many" if len(layout.lines) > MANY_LINES else "pairs" if layout.scale is not None else "links"
    return f"map {kind}"


def map_ground(layout: MapLayout) -> list[str]:
    """Sea and land."""
    height = layout.height_pt
    land = "".join(f"M{path_points(layout, ring)}Z" for ring in layout.land)
    ground = [f'<rect class="{layout.ground}" width="{WIDTH_PT:g}" height="{height:.1f}"/>']
    return [*ground, f'<path class="land" d="{land}"/>'] if land else ground


def map_lines(layout: MapLayout) -> list[str]:
    """Links or pairs: of each the line that is seen, and a wider one that is easy to hit."""
    parts = []
    for line in layout.lines:
        path = "".join(f"M{path_points(layout, points)}" for points in line.paths)
        dashed = " dashed" if line.is_dashed else ""
        link = "" if line.link is None else f' data-link="{line.link}"'
        parts.append(
            f'<g class="line{dashed}" tabindex="0"{link}><title>{text(line.title)}</title>'
            f'<path class="seen s{_speed(line.speed)}" d="{path}"/><path class="hit" d="{path}"/></g>'
        )
    return parts


def map_sites(layout: MapLayout) -> list[str]:
    """Sites with their names."""
    places = site_places(layout)
    parts = []
    for site in np.flatnonzero(np.isfinite(layout.x)).tolist():
        x, y = places[site]
        parts.append(
            f'<g class="place"><title>{text(layout.site_titles[site])}</title>'
            f'<circle class="site" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/></g>'
        )
    for label in layout.labels:
        x, y = places[label.site]
        across, down = x + label.right_pt, y - label.up_pt
        if label.has_leader:
            parts.append(
                f'<line class="leader" x1="{x:.1f}" y1="{y:.1f}" x2="{across:.1f}" y2="{down:.1f}"/>'
            )
        anchor = ("middle", "start", "end")[label.side]
        parts.append(
            f'<text x="{across:.1f}" y="{down + 0.35 * FONT_PT:.1f}" text-anchor="{anchor}">{text(label.text)}</text>'
        )
    return parts


def site_places(layout: MapLayout) -> FloatArray:
    """Places of sites from the upper left corner, shape (sites, 2); NaN for those that are not on the map."""
    places = layout.on_page(np.column_stack([layout.x, layout.y]))
    places[:, 1] = layout.height_pt - places[:, 1]
    return places


def path_points(layout: MapLayout, points: FloatArray) -> str:
    """Points of a path, as the attribute d takes them."""
    on_page = layout.on_page(points)
    return " ".join(f"{x:.1f},{layout.height_pt - y:.1f}" for x, y in on_page.tolist())


def map_legend(layout: MapLayout) -> str:
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
        f'<line class="s{_speed(entry.speed)}" x1="1" y1="4" x2="25" y2="4"/></svg>{text(entry.text)}</li>'
        for entry in entries
    ]
    head = f'<p class="note">{text(scale.title)}:</p>' if scale is not None else ""
    return f'{head}<ul class="legend">{"".join(items)}</ul>'


def _speed(speed: float) -> int:
    """Number of the colour."""
    return round(speed * (_SPEEDS - 1))
