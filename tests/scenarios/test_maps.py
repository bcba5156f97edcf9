"""Maps: land on both hemispheres, great circles across the date line, windows, labels, and pages for browsers."""

import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import get_data_path
from matplotlib.colors import to_rgba
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from scenarios.report.map import MAP_STYLE, SPEEDS, _page, map_figure, plot_map
from scenarios.report.map_layout import (
    FONT_PT,
    Scale,
    _both_ways,
    _candidates,
    _cost,
    _Counted,
    _dots,
    _ends,
    _first,
    _on_page,
    _places,
    _site_title,
    _text_pt,
    map_layout,
)
from scenarios.report.map_page import map_page
from scenarios.report.world_map import Window, copies, great_circle, land_in, land_rings, unrolled, window_of
from scenarios.studies.underlay import draw, underlay_facts
from topologies import InputError, Underlay, load_underlay, shipped_underlays
from topologies.measured_pairs import MeasuredPairs
from topologies.site_values import SiteValues


def network(places, ends, capacity_bps=None, **changes):
    """Sites by name with latitude and longitude."""
    given = {
        "name": "net",
        "variant": "corrected",
        "labels": tuple(places),
        "latitude_deg": np.array([place[0] for place in places.values()], dtype=float),
        "longitude_deg": np.array([place[1] for place in places.values()], dtype=float),
        "ends": np.array(ends, dtype=int).reshape(-1, 2),
        "length_km": np.ones(len(ends)),
        "capacity_bps": np.full(len(ends), np.nan) if capacity_bps is None else np.array(capacity_bps),
    }
    return Underlay(**given | changes)


PACIFIC = network(
    {"Tokyo": (35.7, 139.7), "Seattle": (47.6, -122.3), "Sydney": (-33.9, 151.2), "Suva": (-18.1, 178.4)},
    [(0, 1), (0, 2), (2, 3), (3, 1)],
    [1e9, np.nan, 1e10, 1e10],
)
NAN = (np.nan, np.nan)


def pairs_of(size):
    """Measured pairs of sites on the equator."""
    rng = np.random.default_rng(0)
    bandwidth_bps = rng.lognormal(19, 1, (size, size))
    measured = MeasuredPairs(bandwidth_bps=bandwidth_bps, latency_s=np.full((size, size), 0.01))
    places = {f"site {k}": (0.0, 100 * k / size) for k in range(size)}
    return network(places, [], measured=measured)


@cache
def coasts():
    """Longitudes and latitudes of both ends of all steps of all rings."""
    both = [np.column_stack((ring, np.roll(ring, -1, axis=0))) for ring in land_rings()]
    return np.concatenate(both).T


def is_land(longitude_deg, latitude_deg):
    """Whether a point is inside an odd number of rings."""
    x, y, x2, y2 = coasts()
    above = (y > latitude_deg) != (y2 > latitude_deg)
    crossings = 0
    for turn in (-360, 0, 360):
        x1, x3 = x[above] + turn, x2[above] + turn
        at = x1 + (latitude_deg - y[above]) * (x3 - x1) / (y2[above] - y[above])
        crossings += int((at > longitude_deg).sum())
    return crossings % 2 == 1


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        *(((2.35, 48.85), True), ((-98.0, 39.0), True), ((-55.0, -10.0), True), ((135.0, -25.0), True)),
        *(((25.0, -30.0), True), ((175.0, 67.0), True), ((-175.0, 66.5), True), ((0.0, -85.0), True)),
        *(((-30.0, 45.0), False), ((-140.0, 0.0), False), ((80.0, -35.0), False), ((0.0, 88.0), False)),
        *(((51.0, 41.5), False), ((18.0, 35.0), False), ((179.9, 50.0), False)),
    ],
)
def test_land_is_where_it_is_known_to_be(place, expected):
    # The Caspian Sea is no land, Chukotka goes on beyond the date line, and Antarctica is closed at the pole.
    assert is_land(*place) == expected


def test_land_fits_the_file_and_reaches_all_quarters():
    points = np.concatenate(land_rings())
    x, y = (points[:, 0] + 180) % 360 - 180, points[:, 1]

    assert all(((x > 0) == east)[(y > 0) == north].any() for east in (True, False) for north in (True, False))
    assert (np.abs(y) <= 90).all()
    # No step leaps around the Earth, except along the pole.
    for ring in land_rings():
        steps = np.abs(np.diff(ring[:, 0]))
        assert (steps[(ring[:-1, 1] > -89) | (ring[1:, 1] > -89)] < 180).all()


def test_a_great_circle_goes_on_beyond_the_date_line():
    path = great_circle(35.7, 139.7, 47.6, -122.3)

    assert path[0].tolist() == pytest.approx([139.7, 35.7])
    assert path[-1].tolist() == pytest.approx([237.7, 47.6])
    assert (np.abs(np.diff(path[:, 0])) < 10).all()
    # It is bent to the pole.
    assert path[:, 1].max() > 50


@given(st.lists(st.floats(-180, 180), min_size=1, max_size=9))
def test_unrolled_longitudes_are_the_same_places_within_a_turn(longitudes):
    given_deg = np.array(longitudes)
    whole = unrolled(given_deg)
    around = np.sort(given_deg)
    gaps = np.append(np.diff(around), around[0] + 360 - around[-1])

    assert np.isin(whole - given_deg, [0.0, 360.0]).all()
    assert np.ptp(whole) == pytest.approx(360 - gaps.max(), abs=1e-9)


def test_the_window_crosses_the_date_line_where_the_network_does():
    layout = map_layout(PACIFIC)
    window = layout.window

    assert 100 < window.west < 139.7
    assert 237.7 < window.east < 270
    assert ((layout.x > window.west) & (layout.x < window.east)).all()
    # No link is drawn across the whole map, and each is drawn once.
    for line in layout.lines:
        (path,) = line.paths
        assert np.abs(np.diff(path[:, 0])).max() < 20


def test_a_link_that_leaves_the_map_comes_back_on_the_other_side():
    layout = map_layout(load_underlay("gaia"))
    window = layout.window
    split = [line for line in layout.lines if len(line.paths) > 1]

    assert window.east - window.west == pytest.approx(360)
    assert any(line.title.startswith("Oregon - Tokyo") for line in split)
    for line in split:
        ends = {round(path[0, 0] - line.paths[0][0, 0]) % 360 for path in line.paths}
        assert ends == {0}


def test_two_sites_close_to_each_other_fill_the_map_without_a_coarse_coast():
    campus = map_layout(network({"A": (45.764, 4.8357), "B": (45.7725, 4.84)}, [(0, 1)]))

    assert 1 < campus.window.width_km < 3
    assert campus.land == []
    same = map_layout(network({"A": (45.0, 4.0), "B": (45.0, 4.0)}, [(0, 1)]))
    assert 0.9 < same.window.width_km < 3


@pytest.mark.slow
def test_poles_and_the_cut_itself_are_drawn():
    layout = map_layout(
        network({"N": (90.0, 0.0), "S": (-90.0, 180.0), "W": (0.0, -180.0)}, [(0, 1), (1, 2)])
    )

    assert (layout.window.south, layout.window.north) == (-90, 90)
    map_figure(layout).draw_without_rendering()


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_underlays())
def test_labels_are_on_the_map_and_hide_neither_each_other_nor_a_site(name):
    underlay = load_underlay(name)
    layout = map_layout(underlay)
    figure = map_figure(layout)
    figure.draw_without_rendering()
    names = {label.text for label in layout.labels}
    texts = [
        text for text in figure.axes[0].texts if text.get_text() in names and not text.get_path_effects()
    ]
    # Without the lines that lead to the labels.
    boxes = [Text.get_window_extent(text) for text in texts]

    assert len(boxes) == len(layout.labels)
    if underlay.routers <= 40:
        assert sorted(label.text for label in layout.labels) == list(underlay.labels)
    assert [1 for a, b in combinations(boxes, 2) if a.padded(-2).overlaps(b.padded(-2))] == []
    whole = figure.axes[0].get_window_extent().padded(8)
    assert all(whole.contains(box.x0, box.y0) and whole.contains(box.x1, box.y1) for box in boxes)


@pytest.mark.parametrize(
    "underlay",
    [
        PACIFIC,
        pairs_of(4),
        *(pytest.param(load_underlay(name), marks=pytest.mark.slow) for name in ("gaia", "clouds_aws")),
    ],
    ids=["pacific", "pairs", "gaia", "clouds_aws"],
)
def test_title_notes_and_key_are_inside_the_figure(underlay):
    figure = map_figure(map_layout(underlay))
    figure.draw_without_rendering()
    whole = figure.bbox

    assert figure.texts
    for text in figure.texts:
        box = text.get_window_extent()
        assert whole.contains(box.x0, box.y0)
        assert whole.contains(box.x1, box.y1)


def test_the_scale_of_speeds_ends_before_what_is_said_beside_it(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "from,to,bandwidth_mbps,ms\na,b,200,1\nb,a,200,1\na,c,40,1\nc,a,40,1\nb,c,9,1\n"
    )
    figure = map_figure(map_layout(load_underlay(tmp_path / "pairs.csv")))
    figure.draw_without_rendering()
    scale = figure.axes[1]
    beside = [*figure.legends, *(text for text in figure.texts if "measured bandwidth" in text.get_text())]

    assert len(beside) == 2
    assert max(label.get_window_extent().x1 for label in scale.get_xticklabels()) < min(
        part.get_window_extent().x0 for part in beside
    )


def test_a_single_bandwidth_has_the_colour_of_its_place_on_the_scale():
    given = MeasuredPairs(bandwidth_bps=np.full((2, 2), 1e9), latency_s=np.zeros((2, 2)))
    alike = network({"A": (0.0, 0.0), "B": (0.0, 1.0)}, [], measured=given)
    figure = map_figure(map_layout(alike))
    ground, scale = figure.axes
    (tick,) = scale.get_xticks()
    low, high = scale.get_xlim()
    place = math.log(tick / low) / math.log(high / low)
    assert tick == 1e9
    assert place == pytest.approx(0.5)
    assert np.allclose(ground.collections[0].get_colors()[0][:3], SPEEDS(place)[:3], atol=0.01)


@pytest.mark.parametrize("width_in", [3.5, MAP_STYLE.width_in, 14.0])
def test_a_legend_of_long_texts_ends_within_its_figure(width_in):
    chain = [(k, k + 1) for k in range(7)]
    places = {f"r{k}": (k, 2.0 * k) for k in range(8)}
    style = replace(MAP_STYLE, width_in=width_in)
    for decades in (3, 5, 8):
        network_of = network(places, chain, np.geomspace(1e5, 10.0 ** (5 + decades), 7).tolist())
        figure = map_figure(map_layout(network_of, _page(style)), style)
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert figure.bbox.contains(box.x0, box.y0)
        assert figure.bbox.contains(box.x1, box.y1)


def test_labels_above_and_below_a_site_are_centred_on_it():
    boxes = {
        (label.side, np.sign(label.up_pt)): box
        for box, label in _candidates(3, "Paris", np.array([50.0, 70.0]), 9.0, FONT_PT)
    }
    for up in (-1, 1):
        left, _, right, _ = boxes[0, up]
        assert left + right == pytest.approx(100)
    for side in (-1, 1):
        left, _, right, _ = boxes[side, 0]
        assert (left > 50) is (side > 0)
        assert (right < 50) is (side < 0)


@pytest.mark.parametrize(
    ("underlay", "legend"),
    [
        (PACIFIC, {"10 Gbps (2 links)", "1 Gbps assumed (1 link)"}),
        pytest.param(load_underlay("gaia"), set(), marks=pytest.mark.slow),
        pytest.param(
            load_underlay("geant"),
            {"10 Gbps (26 links)", "1 Gbps assumed (22 links)"},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["pacific", "gaia", "geant"],
)
def test_an_svg_has_the_labels_as_texts(tmp_path, underlay, legend):
    plot_map(underlay, tmp_path / "map.svg")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    texts = {"".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")}

    assert set(underlay.labels) | legend <= texts


def test_the_legend_counts_stated_and_assumed_links_apart():
    layout = map_layout(PACIFIC)

    assert [(entry.text, entry.is_dashed) for entry in layout.legend] == [
        ("10 Gbps (2 links)", False),
        ("1 Gbps (1 link)", False),
        ("1 Gbps assumed (1 link)", True),
    ]
    assert sorted(line.is_dashed for line in layout.lines) == [False, False, False, True]


def test_many_capacities_share_classes():
    size = 40
    places = {f"r{k}": (k, 2.0 * k) for k in range(size)}
    chain = [(k, k + 1) for k in range(size - 1)]
    layout = map_layout(network(places, chain, np.geomspace(1e8, 1e11, size - 1).tolist()))

    assert 3 <= len(layout.legend) <= 6
    assert sum(int(re.search(r"\((\d+) link", entry.text)[1]) for entry in layout.legend) == size - 1
    assert layout.legend[0].speed == 1
    assert layout.legend[-1].speed == 0


def test_sites_without_coordinates_are_named_below_the_map():
    partial = map_layout(network({"A": (1.0, 2.0), "B": (3.0, 4.0), "C": NAN}, [(0, 1), (1, 2)]))
    nowhere = map_layout(network({"A": NAN, "B": NAN, "C": NAN}, [(0, 1), (1, 2)]))

    assert partial.notes == ["Not on the map, without coordinates: C; nor 1 link of theirs."]
    assert len(partial.lines) == 1
    assert not nowhere.is_geographic
    assert nowhere.land == []
    assert len(nowhere.lines) == 2
    assert nowhere.notes == [
        "No site has coordinates: only who is linked to whom decides where a site stands."
    ]


def test_measured_pairs_are_one_line_of_both_directions_on_a_log_scale():
    few, many = map_layout(pairs_of(4)), map_layout(pairs_of(60))
    both = pairs_of(4).measured.bandwidth_bps
    mean = ((both + both.T) / 2)[np.triu_indices(4, 1)]

    assert len(few.lines) == 6
    assert (few.scale.low_bps, few.scale.high_bps) == pytest.approx((mean.min(), mean.max()))
    assert [few.lines[0].speed, few.lines[-1].speed] == [1.0, 0.0]
    assert few.scale.speed(np.sqrt(mean.min() * mean.max())) == pytest.approx(0.5)
    assert few.lines[0].title.count(" -> ") == 2
    assert len(many.lines) < 1770
    assert any(note.startswith("Drawn are each site's fastest 25 pairs") for note in many.notes)


def test_unlimited_pairs_have_no_scale():
    measured = MeasuredPairs(bandwidth_bps=np.full((2, 2), np.inf), latency_s=np.zeros((2, 2)))
    layout = map_layout(network({"A": (1.0, 2.0), "B": (3.0, 4.0)}, [], measured=measured))

    assert layout.scale is None
    assert [entry.text for entry in layout.legend] == ["unlimited"]
    map_figure(layout).draw_without_rendering()


ONE_WAY = network(
    {"A": (1.0, 2.0), "B": (3.0, 4.0), "C": (5.0, 2.0)},
    [],
    measured=MeasuredPairs(
        bandwidth_bps=np.array([[np.inf, 1e9, 0], [3e9, np.inf, 8e8], [2e9, 0, np.inf]]),
        latency_s=np.full((3, 3), 0.01),
    ),
)


def test_pairs_of_one_direction_are_dashed_and_counted():
    layout = map_layout(ONE_WAY)
    dashed = {line.title: line.speed for line in layout.lines if line.is_dashed}

    assert sorted(dashed) == [
        "B -> C: 800 Mbps, 10.00 ms; not measured the other way",
        "C -> A: 2 Gbps, 10.00 ms; not measured the other way",
    ]
    # The mean of A and B is 2 Gbps, as is the one direction of C and A.
    assert list(dashed.values()) == pytest.approx([1.0, 0.0])
    assert [(entry.text, entry.is_dashed) for entry in layout.legend] == [
        ("one direction only (2 pairs)", True)
    ]
    assert layout.notes == [
        "Dashed: 2 of 3 pairs of sites were measured in one direction only: C -> A, B -> C."
    ]
    assert map_page(ONE_WAY, "x").count('class="line dashed"') == 2
    figure = map_figure(layout)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one direction only (2 pairs)"]
    # Inside the figure, and on no other text.
    box = legend.get_window_extent()
    assert figure.bbox.contains(box.x0, box.y0)
    assert figure.bbox.contains(box.x1, box.y1)
    assert not any(box.overlaps(text.get_window_extent()) for text in figure.texts)
    patterns = [pattern for _, pattern in figure.axes[0].collections[0].get_linestyles()]
    assert sum(pattern is not None for pattern in patterns) == 2
    assert not any(line.is_dashed for line in map_layout(pairs_of(4)).lines)
    assert map_layout(pairs_of(4)).legend == []


def test_one_way_pairs_without_a_limit_have_two_lines_in_the_legend():
    measured = MeasuredPairs(
        bandwidth_bps=np.where(np.roll(np.eye(3), 1, axis=1) + np.eye(3), np.inf, 0.0),
        latency_s=np.zeros((3, 3)),
    )
    layout = map_layout(replace(ONE_WAY, measured=measured))
    assert [(entry.text, entry.is_dashed) for entry in layout.legend] == [
        ("unlimited", False),
        ("one direction only (3 pairs)", True),
    ]
    map_figure(layout).draw_without_rendering()


def test_links_between_sites_at_one_place_are_counted_as_not_seen():
    places = {"A": (45.0, 4.0), "B": (45.0, 4.0), "C": (50.0, 9.0), "D": (50.001, 9.0), "E": (47.0, 9.0)}
    links = [(0, 1), (1, 2), (2, 3), (2, 4)]
    assert map_layout(network(places, links)).notes == [
        "Not seen: 2 links join sites at one place, or so near that their dots meet: A - B, C - D."
    ]
    assert map_layout(network(places, [(0, 1), *links])).notes[0].startswith("Not seen: 3 links join")
    measured = MeasuredPairs(bandwidth_bps=np.full((5, 5), 1e9), latency_s=np.zeros((5, 5)))
    (pairs,) = map_layout(network(places, [], measured=measured)).notes
    assert pairs.startswith("Not seen: 2 pairs join sites at one place")
    many = {f"r{k}": (45.0, 4.0) for k in range(6)} | {"far": (50.0, 9.0)}
    (named,) = map_layout(network(many, [(k, k + 1) for k in range(6)])).notes
    assert named.endswith("meet: r0 - r1, r1 - r2, r2 - r3, r3 - r4 and 1 more.")
    assert map_layout(PACIFIC).notes == []


@pytest.mark.parametrize(
    ("underlay", "ground", "colour"),
    [
        (PACIFIC, "sea", "#DCE6EC"),
        (network({"A": (45.764, 4.8357), "B": (45.7725, 4.84)}, [(0, 1)]), "land", "#EFEDE6"),
        (network({"A": NAN, "B": NAN}, [(0, 1)]), "plain", "#F7F7F5"),
    ],
    ids=["sea", "land", "plain"],
)
def test_the_ground_is_the_same_in_figures_and_on_pages(underlay, ground, colour):
    page = map_page(underlay, "x")
    figure = map_figure(map_layout(underlay))

    assert figure.axes[0].get_facecolor() == to_rgba(colour)
    assert f'<rect class="{ground}"' in page
    assert f".{ground} {{ fill: var(--{ground}); }}" in page
    assert f"--{ground}: {colour.lower()};" in page


class Page(HTMLParser):
    """Tags with their attributes, and the texts of titles."""

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.titles, self.cells = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open[-1:] == ["title"]:
            self.titles.append(data)
        if self.open[-1:] == ["td"]:
            self.cells.append(data)


@pytest.mark.parametrize(
    "underlay", [load_underlay("geant"), PACIFIC, pairs_of(4)], ids=["geant", "pacific", "pairs"]
)
def test_a_page_loads_nothing_and_tells_every_number(underlay):
    text = map_page(underlay, str(underlay_facts(underlay)))
    page = Page()
    page.feed(text)
    (svg,) = [given for tag, given in page.tags if tag == "svg" and "role" in given]
    lines = len(map_layout(underlay).lines)

    assert svg["role"] == "img"
    assert svg["aria-label"].startswith(map_layout(underlay).title)
    assert "prefers-color-scheme: dark" in text
    # An address, but one of this page's own empty icon.
    assert [given["href"] for _, given in page.tags if "href" in given] == ["data:,"]
    assert not re.search(r"https?://|url\(|@import|src=", text)
    assert sum(given.get("tabindex") == "0" for _, given in page.tags) == lines
    assert set(map_layout(underlay).site_titles) <= set(page.titles)
    rows = underlay.links or len(underlay.measured.pairs)
    assert sum(tag == "tr" for tag, _ in page.tags) == rows + 1


def test_facts_below_the_title_keep_their_lines():
    text = map_page(PACIFIC, "The title\n\none\n  two\n")

    assert "<h1>The title</h1>" in text
    assert "<pre>one\n  two</pre>" in text
    assert "<pre></pre>" in map_page(PACIFIC, "The title")


@pytest.mark.parametrize(("underlay", "rows"), [(PACIFIC, 4), (pairs_of(3), 6)], ids=["links", "pairs"])
def test_a_page_has_a_table_of_so_many_rows_at_most(monkeypatch, underlay, rows):
    for most, shown in ((rows + 1, rows), (rows, rows), (rows - 1, rows - 1)):
        monkeypatch.setattr("scenarios.report.map_page._MOST_ROWS", most)
        text = map_page(underlay, "x")

        assert text.count("<tr>") == 1 + shown
        assert (f"(the first {shown} of {rows})" in text) is (shown < rows)


@pytest.mark.usefixtures("coarse_figures")
def test_labels_cannot_break_out_of_a_page_or_a_figure(tmp_path):
    labels = {'</title><script>alert("x")</script>': (1.0, 2.0), "$x_1$ & 'y'": (3.0, 4.0)}
    evil = network(labels, [(0, 1)])
    text = map_page(evil, "x\ny")

    assert text.count("<script>") == 1
    assert "&lt;script&gt;" in text
    for ending in ("png", "svg", "pdf", "html"):
        draw(evil, tmp_path / f"map.{ending}", force=False)
        assert (tmp_path / f"map.{ending}").stat().st_size > 1000
    assert "$x_1$ &amp; 'y'" in (tmp_path / "map.svg").read_text()
    with pytest.raises(InputError, match="exists already"):
        draw(evil, tmp_path / "map.png", force=False)


def test_land_and_copies_are_those_of_the_window():
    europe = window_of(np.array([-10.0, 40.0]), np.array([35.0, 65.0]), [])
    rings = land_in(europe)

    assert len(rings) < len(land_rings()) / 2
    for ring in rings:
        assert ring[:, 0].max() >= europe.west
        assert ring[:, 0].min() <= europe.east
    assert copies(np.array([[370.0, 50.0], [380.0, 50.0]]), europe)[0][0, 0] == 10.0


def test_a_layout_is_the_same_each_time():
    nowhere = replace(
        load_underlay("geant"), latitude_deg=np.full(40, np.nan), longitude_deg=np.full(40, np.nan)
    )

    np.testing.assert_array_equal(map_layout(nowhere).x, map_layout(nowhere).x)


def test_a_scale_ends_at_its_ends():
    scale = Scale(title="", low_bps=1e6, high_bps=1e10)
    speeds = [scale.speed(bps) for bps in (1e6, 1e8, 1e10, math.inf)]
    assert speeds == pytest.approx([0, 0.5, 1, 1])
    assert Scale(title="", low_bps=1e6, high_bps=1e6).speed(1e6) == 0.5


def test_the_title_of_a_site_says_what_is_known():
    nan = np.full(11, np.nan)
    up_bps, down_bps, compute_s = (np.array([its, *nan[1:]]) for its in (1e9, 2e9, 0.02))
    values = SiteValues(up_bps=up_bps, down_bps=down_bps, compute_s=compute_s)
    underlay = replace(load_underlay("gaia"), sites=values)
    place = f"{underlay.latitude_deg[0]:.4g}, {underlay.longitude_deg[0]:.4g} degrees"
    known = "uplink 1 Gbps, downlink 2 Gbps, local step 20.00 ms"
    assert _site_title(underlay, 0) == f"{underlay.labels[0]}: {place}, {known}"
    assert _site_title(underlay, 1).endswith(" degrees")
    nowhere = replace(underlay, latitude_deg=nan, longitude_deg=nan)
    assert _site_title(nowhere, 0) == f"{underlay.labels[0]}: {known}"
    assert _site_title(nowhere, 1) == underlay.labels[1]


@given(
    points=st.lists(st.tuples(st.integers(-2, 22), st.integers(-2, 12)), max_size=30),
    corners=st.tuples(*(st.integers(-3, 23) for _ in range(4))),
    margin=st.sampled_from([0.0, 2.0]),
)
def test_points_in_a_box_are_counted(points, corners, margin):
    (left, right), (bottom, top) = sorted(corners[:2]), sorted(corners[2:])
    places = np.array(points, dtype=float).reshape(-1, 2)
    counted = _Counted.of(places + 0.25, (20.0, 10.0))
    on_page = [(x, y) for x, y in points if 0 <= x < 20 and 0 <= y < 10]
    inside = [
        (x, y)
        for x, y in on_page
        if left - margin <= x < right + margin and bottom - margin <= y < top + margin
    ]
    assert counted.within((left, bottom, right, top), margin) == len(inside)


def test_dots_along_a_path_are_at_most_3_apart_and_begin_at_its_corners():
    path = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [3.0, 16.5]])
    dots = _dots([path])
    # 5 pt are two steps, 12.5 pt are five.
    assert dots.tolist() == [[0, 0], [1.5, 2], *([3, 4 + 2.5 * step] for step in range(5))]
    assert len(_dots([])) == 0
    assert len(_dots([path, path])) == 14


def test_wide_letters_take_more_room():
    assert _text_pt("", 7.0) == 0
    assert _text_pt("Lyon", 7.0) == pytest.approx(3 * _text_pt("a", 7.0) + _text_pt("L", 7.0))
    assert _text_pt("l", 7.0) < _text_pt("L", 7.0) < _text_pt("W", 7.0)
    assert _text_pt("Lyon", 14.0) == pytest.approx(2 * _text_pt("Lyon", 7.0))
    # A letter of the East Asian scripts is about as wide as it is high.
    assert _text_pt("\u6771\u4eac", 10.0) == pytest.approx(20, rel=0.1)
    assert _text_pt("a\u6771", 10.0) == pytest.approx(_text_pt("a", 10.0) + _text_pt("\u6771", 10.0))


def test_places_on_the_page_are_to_scale():
    window = Window(west=10.0, east=20.0, south=40.0, north=45.0, stretch=1.5)
    corners = np.array([[10.0, 40.0], [20.0, 45.0], [15.0, 42.0]])
    assert _on_page(corners, window, SimpleNamespace(width_pt=200.0)).tolist() == [
        [0, 0],
        [200, 150],
        [100, 60],
    ]


def test_sites_at_one_place_are_a_group():
    on_page = np.array([[0.0, 0.0], [50.0, 0.0], [0.4, 0.6], [0.0, 50.0], [50.0, 0.9]])
    assert _places([4, 0, 1, 2, 3], on_page) == [[4, 1], [0, 2], [3]]
    assert (_first(["a", "b"], 2), _first(["a"] * 1202, 2)) == ("a, b", "a, a and 1,200 more")


def test_no_label_is_cut_off_where_many_are_at_the_edge():
    east = [(f"Laboratory of Learning {i:02d}", 48 + 0.12 * (i % 4), 20 + 0.1 * (i // 4)) for i in range(12)]
    sites = {"West": (48.2, 3.0), **{name: place for name, *place in east}}
    count = len(sites)
    layout = map_layout(network(sites, [(0, i) for i in range(1, count)], [1e9] * (count - 1)))
    at = layout.on_page(np.column_stack([layout.x, layout.y]))
    assert len(layout.labels) == count
    for label in layout.labels:
        width, across = _text_pt(label.text, FONT_PT), at[label.site, 0] + label.right_pt
        left = across - {1: 0.0, -1: width, 0: width / 2}[label.side]
        assert 0 <= left <= left + width <= layout.page.width_pt


@pytest.mark.parametrize(
    "text", ["LAWRENCE LIVERMORE NATIONAL LAB", "WWWWMMMM", "ma_west@10 %…", "Paris 11", "ABCDEFGHIJKLMNOPQ"]
)
def test_no_label_is_longer_than_thought(text):
    drawn = FT2Font(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    drawn.set_size(FONT_PT, 72)
    drawn.set_text(text)
    assert drawn.get_width_height()[0] / 64 <= _text_pt(text, FONT_PT) + 0.5


def test_labels_stand_beside_above_and_below_their_site():
    width, height, away = _text_pt("Lyon", FONT_PT), 1.2 * FONT_PT, 11.0
    at = np.array([100.0, 50.0])
    found = [(box, label) for box, label in _candidates(3, "Lyon", at, away, FONT_PT)]
    boxes = [box for box, _ in found]
    for (left, bottom, right, top), label in found:
        assert (label.site, label.text, label.has_leader) == (3, "Lyon", True)
        assert (right - left, top - bottom) == pytest.approx((width, height))
        # The site is outside the box.
        assert not (left < 100 < right and bottom < 50 < top)
    assert boxes[0] == pytest.approx((111, 50 - height / 2, 111 + width, 50 + height / 2))
    assert boxes[1] == pytest.approx((89 - width, 50 - height / 2, 89, 50 + height / 2))
    assert boxes[2][0] == boxes[3][0] == pytest.approx(100 - width / 2)
    assert boxes[2][1] - 50 == pytest.approx(50 - boxes[3][3])
    assert boxes[2][1] - 50 == pytest.approx(0.7 * away)
    # The last four are at the corners, mirrored.
    assert {(box[0] > 100, box[1] > 50 - height / 2) for box in boxes[4:]} == {
        (x, y) for x in (True, False) for y in (True, False)
    }
    assert not any(label.has_leader for _, label in _candidates(3, "Lyon", at, 4.5, FONT_PT))


def test_a_window_grows_to_the_poles_at_most():
    # Height over width is 0.08: 17 more degrees on each side make it 0.42.
    north = Window(west=0.0, east=100.0, south=80.0, north=88.0, stretch=1.0).reshaped(0.42, 0.95)
    south = Window(west=0.0, east=100.0, south=-88.0, north=-80.0, stretch=1.0).reshaped(0.42, 0.95)
    tall = Window(west=0.0, east=10.0, south=0.0, north=20.0, stretch=1.0)

    assert (north.south, north.north) == pytest.approx((63.0, 90.0))
    assert (south.south, south.north) == pytest.approx((-90.0, -63.0))
    assert (tall.reshaped(0.42, 0.5).west, tall.reshaped(0.42, 0.5).east) == (-15.0, 25.0)
    assert tall.reshaped(0.42, 2.0) is tall


def test_outlines_of_the_land_are_not_written():
    with pytest.raises(ValueError, match="read-only"):
        land_rings()[0][0] = 0.0


@pytest.mark.parametrize(
    ("box", "cost"),
    [
        ((3.0, 0.0, 97.0, 50.0), 0.0),
        ((2.9, 0.0, 97.0, 50.0), 1e6),
        ((3.0, -0.1, 97.0, 50.0), 1e6),
        ((3.0, 0.0, 97.1, 50.0), 1e6),
        ((3.0, 0.0, 97.0, 50.1), 1e6),
    ],
)
def test_a_label_may_touch_the_margins_but_not_cross_them(box, cost):
    nothing = _Counted.of(np.zeros((0, 2)), (100.0, 50.0))

    assert _cost(box, [], nothing, nothing) == cost


def test_a_label_costs_what_it_covers():
    size = (100.0, 50.0)
    nothing = _Counted.of(np.zeros((0, 2)), size)
    line = _Counted.of(np.column_stack([np.linspace(0, 99, 100), np.full(100, 15.5)]), size)
    box, beside = (20.0, 10.0, 40.0, 20.0), [(40.0, 10.0, 50.0, 20.0), (20.0, 20.0, 40.0, 30.0)]

    # Boxes that share an edge do not overlap.
    assert _cost(box, beside, nothing, nothing) == 0.0
    assert _cost(box, [(39.0, 19.0, 50.0, 30.0), *beside], nothing, nothing) == 1000.0
    # Twenty points of a line; of more than 60 so many count.
    assert _cost(box, [], nothing, line) == 1.5 * 20
    assert _cost((4.0, 10.0, 96.0, 20.0), [], nothing, line) == 1.5 * 60
    # Sites count within 2 pt around.
    for x, expected in ((18.5, 1000.0), (17.5, 0.0), (41.5, 1000.0), (42.5, 0.0)):
        assert _cost(box, [], _Counted.of(np.array([[x, 15.0]]), size), nothing) == expected


def test_of_very_many_sites_each_has_its_fastest_pair():
    _, notes = _ends(pairs_of(751))

    assert len(notes) == 1
    assert notes[0].startswith("Drawn are each site's fastest pair: ")
    assert notes[0].endswith(" of 281,625, both directions as one.")


def test_one_link_that_is_not_seen_is_one():
    places = {"A": (0.0, 0.0), "B": (0.0, 0.0), "C": (0.0, 50.0)}

    assert map_layout(network(places, [(0, 1), (1, 2)])).notes == [
        "Not seen: 1 link joins sites at one place, or so near that their dots meet: A - B."
    ]


@pytest.mark.parametrize(("sites", "dot_pt", "hidden"), [(59, 4.0, 1), (60, 4.0, 1), (61, 3.0, 0)])
def test_more_than_60_sites_have_smaller_dots(sites, dot_pt, hidden):
    places = {f"{k}": (0.0, 90 * k / sites) for k in range(sites - 1)} | {
        "last": (0.0, 90 * (sites - 1.5) / sites)
    }
    layout = map_layout(network(places, [(k, k + 1) for k in range(sites - 1)]))
    (left, _), (right, _) = layout.on_page(np.column_stack([layout.x, layout.y]))[-2:]

    assert layout.dot_pt == dot_pt
    # Of the last two sites, dots with a diameter of 4 points hide the link.
    assert 3.0 < right - left < 4.0
    assert len(layout.notes) == hidden


def test_both_directions_of_a_pair_are_one_mean_however_slow():
    rates = np.array([[9.0, 1.0, 0.0], [0.5, 9.0, 0.0], [2.0, 0.0, 9.0]])

    assert _both_ways(rates).tolist() == [[0.0, 0.75, 2.0], [0.75, 0.0, 0.0], [2.0, 0.0, 0.0]]


def talking(size, silent=()):
    """Sites on the equator whose mean rates of pairs all differ and are below 1 bps, but for pairs that cannot talk."""
    mean = np.zeros((size, size))
    mean[np.triu_indices(size, 1)] = np.random.default_rng(1).permutation(size * (size - 1) // 2) + 1.0
    mean = (mean + mean.T) * 1e-6
    for a, b in silent:
        mean[a, b] = mean[b, a] = 0.0
    measured = MeasuredPairs(bandwidth_bps=mean, latency_s=np.zeros((size, size)))
    return mean, network({f"{k}": (0.0, 100 * k / size) for k in range(size)}, [], measured=measured)


def test_of_many_pairs_those_are_drawn_that_are_among_the_fastest_of_one_of_their_sites():
    mean, underlay = talking(60, [(0, other) for other in range(5, 60)])
    fastest = [set(np.argsort(-row, kind="stable")[:25].tolist()) for row in mean]
    expected = [
        [a, b]
        for a, b in combinations(range(60), 2)
        if mean[a, b] > 0 and (b in fastest[a] or a in fastest[b])
    ]
    drawn, notes = _ends(underlay)

    # Site 0 has four pairs, and no more lines.
    assert [b for a, b in expected if a == 0] == [1, 2, 3, 4]
    assert drawn.tolist() == expected
    assert notes == [
        f"Drawn are each site's fastest 25 pairs: {len(expected):,} of 1,715, both directions as one."
    ]


@pytest.mark.parametrize(("silent", "is_whole"), [(270, True), (269, False)])
def test_up_to_1500_pairs_are_all_drawn(silent, is_whole):
    _, underlay = talking(60, list(combinations(range(60), 2))[::6][:silent])
    drawn, notes = _ends(underlay)

    assert (len(drawn) == 1770 - silent) is is_whole
    assert (notes == []) is is_whole
