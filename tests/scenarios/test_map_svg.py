"""The parts of a map for browsers: classes, colours, legends, sites and labels."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.report.map_layout import Label, LegendEntry, Line, MapLayout, Page, Scale
from scenarios.report.map_svg import map_class, map_ground, map_legend, map_lines, map_sites, map_style
from scenarios.report.world_map import Window

PATH = np.array([[0.0, 0.0], [10.0, 5.0]])


def layout(**changes):
    """A map of 462 by 231 pt, 46.2 to a degree."""
    given = {
        "title": "net",
        "page": Page(),
        "window": Window(west=0.0, east=10.0, south=0.0, north=5.0, stretch=1.0),
        "is_geographic": True,
        "land": [],
        "x": np.array([0.0, 5.0, np.nan]),
        "y": np.array([0.0, 2.5, np.nan]),
        "site_titles": ["A <a>", "B", "C"],
        "lines": [],
        "legend": [],
        "scale": None,
        "labels": [],
        "notes": [],
    }
    return MapLayout(**given | changes)


@pytest.mark.parametrize(
    ("lines", "scale", "kind"),
    [
        (150, None, "links"),
        (151, None, "many"),
        (150, Scale(title="", low_bps=1.0, high_bps=2.0), "pairs"),
        (151, Scale(title="", low_bps=1.0, high_bps=2.0), "many"),
    ],
)
def test_the_class_of_a_map_is_that_of_its_lines(lines, scale, kind):
    assert map_class(SimpleNamespace(lines=[None] * lines, scale=scale)) == f"map {kind}"


def test_speeds_have_a_colour_and_a_width_each():
    style = map_style()
    widths = re.findall(r"\.s(\d) \{ stroke: var\(--s\d\); stroke-width: ([\d.]+)px; \}", style)
    assert widths == [(str(k), f"{0.9 + 1.3 * k / 6:.2f}") for k in range(7)]
    assert re.findall(r"--s6: (#\w+);", style) == ["#1d2671", "#8fe3ff"]
    assert "font: 7px" in style
    assert not re.search("LIGHT|DARK|SPEEDS|FONT", style)


def test_the_ground_is_as_large_as_the_map_and_the_land_upon_it():
    assert map_ground(layout()) == ['<rect class="sea" width="462" height="231.0"/>']
    ring = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 5.0]])
    assert map_ground(layout(land=[ring, ring]))[1] == (
        '<path class="land" d="M0.0,231.0 462.0,231.0 462.0,0.0ZM0.0,231.0 462.0,231.0 462.0,0.0Z"/>'
    )


def test_a_line_is_seen_and_easy_to_hit():
    lines = [
        Line(paths=[PATH], title="A & B", speed=1.0, link=3, is_dashed=False),
        Line(paths=[PATH, PATH], title="C", speed=0.24, is_dashed=True),
    ]
    first, second = map_lines(layout(lines=lines))
    path = "M0.0,231.0 462.0,0.0"
    assert first == (
        '<g class="line" tabindex="0" data-link="3"><title>A &amp; B</title>'
        f'<path class="seen s6" d="{path}"/><path class="hit" d="{path}"/></g>'
    )
    assert second == (
        '<g class="line dashed" tabindex="0"><title>C</title>'
        f'<path class="seen s1" d="{path}{path}"/><path class="hit" d="{path}{path}"/></g>'
    )


def test_sites_on_the_map_have_dots_and_labels_lines_that_lead_to_them():
    labels = [
        Label(site=1, text="B&", side=1, right_pt=4.5, up_pt=0.25, has_leader=False),
        Label(site=0, text="A", side=-1, right_pt=-11.0, up_pt=8.25, has_leader=True),
        Label(site=0, text="A", side=0, right_pt=0.0, up_pt=11.25, has_leader=False),
    ]
    parts = map_sites(layout(labels=labels))
    assert parts[:2] == [
        f'<g class="place"><title>{title}</title><circle class="site" cx="{x}" cy="{y}" r="2.2"/></g>'
        for title, x, y in (("A &lt;a&gt;", "0.0", "231.0"), ("B", "231.0", "115.5"))
    ]
    # Letters of 7 px stand on a line 0.35 of their size below the middle.
    assert parts[2:] == [
        '<text x="235.5" y="117.7" text-anchor="start">B&amp;</text>',
        '<line class="leader" x1="0.0" y1="231.0" x2="-11.0" y2="222.8"/>',
        '<text x="-11.0" y="225.2" text-anchor="end">A</text>',
        '<text x="0.0" y="222.2" text-anchor="middle">A</text>',
    ]


def entries(legend):
    return re.findall(
        r'class="(dashed|)" aria-hidden="true"><line class="s(\d)"[^>]*/></svg>([^<]*)</li>', legend
    )


def test_the_legend_of_links_has_their_entries():
    legend = [
        LegendEntry(text="10 Gbps (1 link)", speed=1.0),
        LegendEntry(text="1 Gbps assumed", speed=0.0, is_dashed=True),
    ]
    found = map_legend(layout(legend=legend))
    assert entries(found) == [("", "6", "10 Gbps (1 link)"), ("dashed", "0", "1 Gbps assumed")]
    assert 'class="note"' not in found


def test_the_legend_of_pairs_has_the_scale_in_seven_steps():
    scale = Scale(title="measured <b>", low_bps=1e6, high_bps=64e6)
    found = map_legend(layout(scale=scale, legend=[LegendEntry(text="one way", speed=0.5, is_dashed=True)]))
    assert found.startswith('<p class="note">measured &lt;b&gt;:</p>')
    rates = ["64 Mbps", "32 Mbps", "16 Mbps", "8 Mbps", "4 Mbps", "2 Mbps", "1 Mbps"]
    assert entries(found) == [
        *(("", str(6 - place), rate) for place, rate in enumerate(rates)),
        ("dashed", "3", "one way"),
    ]
    near = Scale(title="t", low_bps=1e6, high_bps=1.5e6)
    assert [speed for _, speed, _ in entries(map_legend(layout(scale=near)))] == [
        "6",
        "5",
        "4",
        "3",
        "2",
        "1",
        "0",
    ]
    # Of equal rates there is one colour, in the middle.
    equal = Scale(title="t", low_bps=1.26e6, high_bps=1.26e6)
    assert entries(map_legend(layout(scale=equal))) == [("", "3", "1.3 Mbps")]
