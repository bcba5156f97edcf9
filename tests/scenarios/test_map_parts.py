"""Windows, scales, classes and labels of maps, worked out by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from test_maps import NAN, network

from scenarios.report.figure_style import FigureStyle
from scenarios.report.map import (
    MAP_STYLE,
    SPEEDS,
    _degrees,
    _draw_ground,
    _draw_scale_bar,
    _page,
    _Sizes,
    _style,
    map_figure,
)
from scenarios.report.map_layout import (
    USUAL_PAGE,
    Label,
    LegendEntry,
    Scale,
    _by_springs,
    _classes,
    _links,
    _pairs,
    _title,
    map_layout,
)
from scenarios.report.world_map import Window, copies, great_circle, land_in, unrolled, window_of
from topologies.measured_pairs import MeasuredPairs

# Windows


def window(*, south=0.0, north=10.0, west=0.0, east=10.0, stretch=1.0):
    return Window(west=west, east=east, south=south, north=north, stretch=stretch)


@pytest.mark.parametrize(
    ("longitude", "latitude", "expected"),
    [
        # On the equator a twelfth of the larger side, 0.08 * 10 degrees, is left free.
        ([0, 10], [-5, 5], (-0.8, 10.8, -5.8, 5.8, 1.0)),
        ([0, 5], [-5, 5], (-0.8, 5.8, -5.8, 5.8, 1.0)),
        # At 60 degrees one of latitude is as long as two of longitude.
        ([0, 10], [55, 65], (-1.6, 11.6, 54.2, 65.8, 2.0)),
        ([0, 40], [60, 60], (-3.2, 43.2, 58.4, 61.6, 2.0)),
        # Near a pole it is as long as five at most, and the window ends there.
        ([0, 10], [80, 90], (-4.0, 14.0, 79.2, 90.0, 5.0)),
        ([0, 10], [-90, -80], (-4.0, 14.0, -90.0, -79.2, 5.0)),
        # A kilometre is the least.
        ([7, 7], [0, 0], (7 - 0.5 / 111.2, 7 + 0.5 / 111.2, -0.5 / 111.2, 0.5 / 111.2, 1.0)),
        ([-125, 125], [0, 0], (-145.0, 145.0, -20.0, 20.0, 1.0)),
        # Of more than 300 degrees the whole Earth is shown, its cut between the outermost places.
        ([-129.3, 129.3], [0, 0], (-149.988, 149.988, -20.688, 20.688, 1.0)),
        ([-129.4, 129.4], [0, 0], (-180.0, 180.0, -60.0, 80.0, 1.0)),
        ([-130, 132], [0, 0], (-179.0, 181.0, -60.0, 80.0, 1.0)),
        ([-130, 132], [-75, 85], (-179.0, 181.0, -90.0, 90.0, 1.0)),
    ],
)
def test_the_window_leaves_a_margin_around_its_places(longitude, latitude, expected):
    found = window_of(np.array(longitude, dtype=float), np.array(latitude, dtype=float), [])
    assert (found.west, found.east, found.south, found.north, found.stretch) == pytest.approx(expected)


def test_the_window_holds_paths_too():
    path = np.array([[0.0, 0.0], [5.0, 20.0], [10.0, 0.0]])
    found = window_of(np.array([0.0, 10.0]), np.array([0.0, 0.0]), [path])
    assert found.north == pytest.approx(21.6)


def test_sizes_of_a_window():
    wide = window(south=40.0, north=45.0, west=10.0, east=30.0, stretch=2.0)
    assert (wide.ratio, wide.width_km) == pytest.approx((0.5, 1112.0))
    assert [window(south=8.0, north=8 + high).shows_land for high in (0.74, 0.75, 0.76)] == [
        False,
        True,
        True,
    ]
    assert land_in(window(north=0.7)) == []


def test_land_is_drawn_that_a_window_shows_a_part_of():
    # Eurasia reaches beyond a window within France on all sides; between America and Antarctica there is nothing.
    (ring,) = land_in(window(west=1.0, east=5.0, south=46.0, north=49.0))
    assert ring.min(axis=0).tolist() < [1.0, 46.0]
    assert ring.max(axis=0).tolist() > [5.0, 49.0]
    assert land_in(window(west=-130.0, east=-120.0, south=-62.0, north=-57.0)) == []


@pytest.mark.parametrize(
    ("given_deg", "whole"),
    [
        ([0, 180], [0, 180]),
        ([-90, 90], [-90, 90]),
        ([-170, 170], [190, 170]),
        ([-10, 10, 170, -170], [-10, 10, 170, 190]),
        ([5], [5]),
    ],
)
def test_longitudes_are_cut_at_the_largest_gap_and_at_180_degrees_where_that_is_as_large(given_deg, whole):
    assert unrolled(np.array(given_deg, dtype=float)).tolist() == whole


@pytest.mark.parametrize(
    ("longitude", "points"),
    # A degree of the equator is 111.3 km long.
    [(0.0, 2), (1.3, 2), (1.4, 3), (2.6, 3), (2.8, 4), (80.0, 61), (170.0, 61)],
)
def test_points_of_a_great_circle_are_at_most_150_km_apart(longitude, points):
    path = great_circle(0.0, 0.0, 0.0, longitude)
    assert len(path) == points
    assert path[:, 0] == pytest.approx(np.linspace(0, longitude, points))


@pytest.mark.parametrize(
    ("ends", "turns"),
    [
        ((170.0, 190.0), [-360.0, 0.0]),
        ((-190.0, -170.0), [0.0, 360.0]),
        ((10.0, 20.0), [0.0]),
        ((370.0, 380.0), [-360.0]),
        ((180.0, 200.0), [-360.0, 0.0]),
        ((-180.0, 180.0), [-360.0, 0.0, 360.0]),
    ],
)
def test_a_path_is_seen_once_for_each_turn_that_the_window_holds(ends, turns):
    path = np.array([[ends[0], 1.0], [ends[1], 2.0]])
    seen = copies(path, window(west=-180.0, east=180.0))
    assert [(each - path)[0].tolist() for each in seen] == [[turn, 0.0] for turn in turns]
    assert all(each[1, 1] == 2.0 for each in seen)


# Pictures


@pytest.mark.parametrize(
    ("angle", "sides", "decimals", "text"),
    [
        *((0.0, sides, 0, "0°") for sides in ("EW", "NS")),
        *((angle, "EW", 0, "180°") for angle in (180.0, -180.0, 540.0)),
        *(
            (10.0, "EW", 0, "10°E"),
            (-10.0, "EW", 0, "10°W"),
            (190.0, "EW", 0, "170°W"),
            (-190.0, "EW", 0, "170°E"),
        ),
        *(
            (45.0, "NS", 1, "45.0°N"),
            (-4.25, "NS", 2, "4.25°S"),
            (90.0, "NS", 0, "90°N"),
            (-90.0, "NS", 0, "90°S"),
        ),
    ],
)
def test_degrees_have_their_side_beyond_the_date_line_too(angle, sides, decimals, text):
    assert _degrees(angle, sides, decimals) == text


@pytest.mark.parametrize(
    ("width_km", "length_km", "text"),
    [
        (1010.0, 200.0, "200 km"),
        (1000.0, 200.0, "200 km"),
        (990.0, 100.0, "100 km"),
        (2510.0, 500.0, "500 km"),
        (5010.0, 1000.0, "1000 km"),
        (5.01, 1.0, "1 km"),
        (4.99, 0.5, "500 m"),
        (0.51, 0.1, "100 m"),
    ],
)
def test_the_bar_is_a_round_length_of_at_most_a_fifth_of_the_width(width_km, length_km, text):
    bar, label = bar_of(window(east=width_km, stretch=111.2))
    left, right = bar.get_xdata()
    assert label.get_text() == text
    assert right - left == pytest.approx(length_km / width_km)
    assert right == 0.975
    assert label.get_position() == pytest.approx(((left + right) / 2, 0.038))


def bar_of(shown, *occupied, style=MAP_STYLE):
    """The bar of km and its label, where what fills the page at some points is known."""

    def is_free(left, bottom, right, top):
        return not any(left < x < right and bottom < y < top for x, y in occupied)

    axes = Figure().add_subplot()
    layout = SimpleNamespace(window=shown, page=_page(style), height_pt=200.0, is_free=is_free)
    _draw_scale_bar(axes, layout, style)
    (bar,), (label,) = axes.lines, axes.texts
    return bar, label


def test_the_bar_is_left_where_only_the_right_corner_has_a_site():
    shown = window(east=1000.0001 / 111.2)  # 200 km are a fifth of 462 pt

    def ends(*occupied, style=MAP_STYLE):
        return pytest.approx(bar_of(shown, *occupied, style=style)[0].get_xdata())

    right, left = [0.775, 0.975], [0.025, 0.225]
    assert right == ends()
    assert left == ends((400, 5))
    # 4 pt beside the bar's ends, and 1.2 * 6.5 pt above 0.038 * 200 pt.
    assert [ends((358.05 - more, 5)) for more in (3.9, 4.1)] == [left, right]
    assert [ends((450.45 + more, 5)) for more in (3.9, 4.1)] == [left, right]
    assert [ends((400, 15.4 + more)) for more in (-0.1, 0.1)] == [left, right]
    # With sites in both corners it stays where it is looked for.
    assert right == ends((400, 5), (11.55 + 92, 5))
    assert right == ends((50, 5))
    # A magnified figure has the letters of its layout.
    wide = replace(MAP_STYLE, width_in=2 * MAP_STYLE.width_in)
    assert [ends((400, 15.4 + more), style=wide) for more in (-0.1, 0.1)] == [left, right]


def test_a_line_to_a_name_ends_at_its_nearer_edge():
    layout = map_layout(network({"A": (48.0, 2.0), "B": (48.3, 2.2)}, [(0, 1)]))
    for side, up_pt, share in [
        (0, 30.0, (0.5, 0.0)),
        (0, -30.0, (0.5, 1.0)),
        (1, 30.0, (0.0, 0.5)),
        (-1, 30.0, (1.0, 0.5)),
    ]:
        label = Label(site=0, text="a name", side=side, right_pt=30.0 * side, up_pt=up_pt, has_leader=True)
        figure = map_figure(replace(layout, labels=[label]))
        figure.draw_without_rendering()
        _, text = figure.axes[0].texts[-2:]
        end = text.arrow_patch.get_path().vertices[0]
        box = Text.get_window_extent(text)
        at = text.arrow_patch.get_transform().transform(end)
        # Matplotlib leaves a gap of 2 pt.
        assert at == pytest.approx([box.x0 + share[0] * box.width, box.y0 + share[1] * box.height], abs=2.8)
        assert box.height > 6


def test_a_part_of_a_map_is_free_without_dots_and_labels():
    layout = map_layout(network({"Oslo": (59.9, 10.7), "Bergen": (60.4, 5.3)}, [(0, 1)]))
    (x, y), *_ = layout.on_page(np.column_stack([layout.x, layout.y]))
    (label,) = [each for each in layout.labels if each.text == "Oslo"]
    assert (label.side, label.right_pt) == (1, 4.5)
    # A dot of 4 pt; beside it a label of 7 pt, 1.2 of which a line is high, and 4 letters of which O is a capital.
    end = x + 4.5 + 7 * (0.74 + 3 * 0.59)
    for box, is_free in [
        ((x - 9, y - 1, x - 2.1, y + 1), True),
        ((x - 9, y - 1, x - 1.9, y + 1), False),
        ((x - 1, y - 9, x + 1, y - 2.1), True),
        ((x - 1, y + 1.9, x + 1, y + 9), False),
        ((end - 0.1, y, end + 9, y + 9), False),
        ((end + 0.1, y, end + 9, y + 9), True),
        ((x + 9, y + 4.1, end, y + 9), False),
        ((x + 9, y + 4.3, end, y + 9), True),
        ((0, 0, 462, 500), False),
    ]:
        assert layout.is_free(*box) is is_free


def ground_of(east):
    """The axes of a window of so many degrees."""
    layout = SimpleNamespace(
        window=window(east=east, north=east / 2), is_geographic=True, ground="plain", land=[], legend=[],
        page=USUAL_PAGE, height_pt=200.0, is_free=lambda *_: True,
    )  # fmt: skip
    axes = Figure(figsize=(7, 4)).add_subplot()
    _draw_ground(axes, layout, _Sizes(layout, MAP_STYLE))
    return axes


def test_a_bar_of_km_is_there_where_one_length_fits_all_places():
    assert [len(ground_of(east).lines) for east in (59.0, 60.0, 61.0)] == [1, 1, 0]


def test_ticks_of_degrees_are_multiples_of_30_or_60_in_wide_windows():
    for east, step in ((90.0, {20.0}), (180.0, {30.0}), (360.0, {60.0})):
        assert set(np.diff(ground_of(east).get_xticks())) == step
    labels = [label.get_text() for label in ground_of(0.05).get_xticklabels()]
    assert labels[:2] == ["0.00°", "0.01°E"]


@pytest.mark.parametrize(
    ("pair", "many", "speed", "width"),
    [(False, False, 0.0, 0.9), (False, False, 1.0, 2.2), (True, False, 1.0, 0.9), (False, True, 1.0, 1.32)],
)
def test_fast_links_are_wide_and_many_lines_thin(pair, many, speed, width):
    sizes = _Sizes(None, MAP_STYLE)
    look = _style(speed, False, many=many, pair=pair, sizes=sizes)
    assert look["linewidth"] == pytest.approx(width)
    assert (look["color"], look["linestyle"]) == (SPEEDS(speed), "solid")
    assert _style(speed, True, many=many, pair=pair, sizes=sizes)["linestyle"] == (0, (3.5, 1.6))


def test_the_page_of_a_narrow_map_is_what_its_margins_leave():
    narrow = replace(MAP_STYLE, width_in=3.5)
    page = _page(narrow)
    assert page.width_pt == pytest.approx(252 - 44 * narrow.factor)
    assert page.font_pt == pytest.approx(max(6.0, 7.0 * narrow.factor))
    for style in (MAP_STYLE, replace(MAP_STYLE, width_in=14.0)):
        assert _page(style) is USUAL_PAGE


def test_a_narrow_legend_has_columns_for_its_longest_text():
    def columns(style, *texts):
        layout = SimpleNamespace(
            legend=[LegendEntry(text=text, speed=0.0) for text in texts], page=_page(style), height_pt=1.0
        )
        return _Sizes(layout, style).columns

    narrow = FigureStyle(width_in=3.5, reference_in=MAP_STYLE.reference_in)
    # 221 pt have room for 65 letters of 0.55 * 6.1 pt, 9 of them of line and gap.
    letters = (252 - 44 * narrow.factor) / (0.55 * narrow.pt(7.5))
    # 462 pt have room for 112 letters of 0.55 * 7.5 pt.
    assert [columns(MAP_STYLE, "x" * longest) for longest in (19, 20, 28, 29, 47, 48)] == [4, 3, 3, 2, 2, 1]
    assert columns(narrow, "x" * int(letters / 2 - 9), "x") == 2
    assert columns(narrow, "x" * (int(letters / 2 - 9) + 1)) == 1
    assert columns(narrow, "x" * 90) == 1
    assert columns(narrow, "x") == 4
    assert columns(narrow) == 4


def test_titles_and_notes_are_broken_where_their_map_ends():
    layout = map_layout(network({"A": (48.0, 2.0), "B": (48.3, 2.2)}, [(0, 1)]))

    def texts(letters, *, style=MAP_STYLE, **of_length):
        """What is above and below a map with a title or note of two words and so many letters."""
        words = "a" * 20 + " " + "b" * (letters - 21)
        return map_figure(
            replace(layout, **{name: make(words) for name, make in of_length.items()}), style
        ).texts

    def note(words):
        return [words]

    # 120 letters at the usual width, 70 of a title in 7.03 in; of 3.5 in the root of their ratio.
    assert [len(texts(letters, notes=note)) for letters in (120, 121)] == [2, 3]
    narrow = replace(MAP_STYLE, width_in=3.5)
    assert int(70 * (3.5 / MAP_STYLE.width_in) ** 0.5) == 49
    assert [len(texts(letters, style=narrow, title=str)) for letters in (49, 50)] == [1, 2]
    first, second = texts(50, style=narrow, title=str)
    height_pt = 72 * first.figure.get_figheight()
    # Lines of 12 pt for letters of 6.5 pt.
    down = height_pt * (first.get_position()[1] - second.get_position()[1])
    assert down == pytest.approx(12 * narrow.pt(6.5) / 6.5)


# Lines and labels


def test_bandwidths_beyond_the_ends_of_a_scale_have_the_speeds_of_its_ends():
    scale = Scale(title="", low_bps=1e6, high_bps=1e8)
    assert [scale.speed(bps) for bps in (1.0, 1e6, 1e7, 1e8, 1e12, math.inf)] == pytest.approx(
        [0, 0, 0.5, 1, 1, 1]
    )


def test_up_to_six_capacities_are_classes_of_their_own():
    six = np.array([1e9, 1e8, 2e8, 4e8, 1e9, 1e10, 4e10])
    class_of, names = _classes(six)
    assert names == ["100 Mbps", "200 Mbps", "400 Mbps", "1 Gbps", "10 Gbps", "40 Gbps"]
    assert class_of.tolist() == [3, 0, 1, 2, 3, 4, 5]


def test_of_more_capacities_classes_are_ranges_and_none_is_empty():
    class_of, names = _classes(np.array([1e8, 2e8, 3e8, 4e8, 1e9, 2e9, 1e11]))
    # Between 100 Mbps and 100 Gbps are two powers of ten; an edge belongs to the class above it.
    assert names == ["below 1 Gbps", "1 Gbps to 10 Gbps", "from 10 Gbps"]
    assert class_of.tolist() == [0, 0, 0, 0, 1, 1, 2]
    _, names = _classes(np.array([1e8, 2e8, 3e8, 4e8, 5e8, 6e8, 1e11]))
    assert names == ["below 1 Gbps", "from 10 Gbps"]
    # Edges lie between the least and the greatest, and there are five classes at most.
    _, names = _classes(np.array([1e8, 1.5e9, 2e9, 3e9, 4e9, 5e9, 1e11]))
    assert names == ["below 1 Gbps", "1 Gbps to 10 Gbps", "from 10 Gbps"]
    _, names = _classes(np.array([1e8, 2e8, 3e8, 1e9, 1e10, 1e11, 1e12]))
    assert names == ["below 1 Gbps", "1 Gbps to 10 Gbps", "10 Gbps to 100 Gbps", "from 100 Gbps"]


SQUARE = {"A": (0.0, 0.0), "B": (0.0, 9.0), "C": (9.0, 9.0), "D": (9.0, 0.0)}


def corners(count):
    """The first corners of the square."""
    return dict(list(SQUARE.items())[:count])


def test_lines_of_links_have_their_speed_and_the_legend_their_numbers():
    links = network(SQUARE, [(0, 1), (1, 2), (2, 3)], [1e9, np.nan, 1e10])
    paths = [[np.zeros((2, 2))], None, [np.ones((2, 2))]]
    lines, legend, scale = _links(links, paths)
    # The fastest is drawn first; a link between places that are not known has no line, but is counted.
    assert [(line.link, line.speed, line.is_dashed) for line in lines] == [(2, 1.0, False), (0, 0.0, False)]
    assert [line.title for line in lines] == ["C - D: 10 Gbps, 1.0 km", "A - B: 1 Gbps, 1.0 km"]
    assert [(entry.text, entry.speed, entry.is_dashed) for entry in legend] == [
        ("10 Gbps (1 link)", 1.0, False),
        ("1 Gbps (1 link)", 0.0, False),
        ("1 Gbps assumed (1 link)", 0.0, True),
    ]
    assert scale is None
    alike = network(corners(3), [(0, 1), (1, 2)], [1e9, 1e9])
    lines, legend, _ = _links(alike, paths[:1] * 2)
    assert [line.speed for line in lines] == [0.6, 0.6]
    assert [(entry.text, entry.speed) for entry in legend] == [("1 Gbps (2 links)", 0.6)]
    assumed = network(corners(2), [(0, 1)])
    assert _links(assumed, paths[:1])[0][0].title == "A - B: 1 Gbps (assumed), 1.0 km"


def test_pairs_without_a_limit_are_as_fast_as_can_be():
    rates = np.array([[0, np.inf, 1e6], [np.inf, 0, 4e6], [1e6, 4e6, 0]])
    measured = MeasuredPairs(bandwidth_bps=rates, latency_s=np.full((3, 3), 0.01))
    pairs = network(corners(3), [], measured=measured)
    ends = np.array([[0, 1], [0, 2], [1, 2]])
    lines, legend, scale, one_way = _pairs(pairs, ends, [[np.zeros((2, 2))], [np.zeros((2, 2))], None])
    assert [(line.speed, line.is_dashed, line.link) for line in lines] == [
        (1.0, False, None),
        (0.0, False, None),
    ]
    assert (scale.low_bps, scale.high_bps) == (1e6, 4e6)
    assert (legend, one_way) == ([], [])
    assert lines[1].title == "A -> C: 1 Mbps, 10.00 ms; C -> A: 1 Mbps, 10.00 ms"


def test_one_pair_of_one_direction_is_one():
    rates = np.array([[0, 1e6, 1e6], [0, 0, 4e6], [1e6, 4e6, 0]])
    measured = MeasuredPairs(bandwidth_bps=rates, latency_s=np.full((3, 3), 0.01))
    layout = map_layout(network(corners(3), [], measured=measured))
    assert [(entry.text, entry.speed) for entry in layout.legend] == [("one direction only (1 pair)", 0.5)]
    assert layout.notes == ["Dashed: 1 of 3 pairs of sites was measured in one direction only: A -> B."]
    assert layout.title == "net: 3 sites, 5 measured pairs"


@pytest.mark.parametrize(("links", "text"), [([(0, 1)], "1 core link"), ([(0, 1), (1, 2)], "2 core links")])
def test_the_title_counts_routers_and_links(links, text):
    sites = len(links) + 1
    assert _title(network(corners(sites), links)).endswith(f": {sites} routers, {text}")


def test_more_sites_without_coordinates_than_ten_are_counted():
    places = {"A": (0.0, 0.0), "B": (0.0, 9.0)} | {f"n{k}": NAN for k in range(12)}
    layout = map_layout(network(places, [(0, k) for k in range(1, 14)]))
    named = ", ".join(f"n{k}" for k in range(10))
    assert layout.notes == [
        f"Not on the map, without coordinates: {named} and 2 more; nor 12 links of theirs."
    ]
    measured = MeasuredPairs(bandwidth_bps=np.full((3, 3), 1e9), latency_s=np.zeros((3, 3)))
    pairs = map_layout(network(dict(list(places.items())[:3]), [], measured=measured))
    assert pairs.notes == ["Not on the map, without coordinates: n0; nor 2 pairs of theirs."]


def test_places_by_springs_have_a_margin_of_a_tenth():
    x, y, paths, found = _by_springs(3, np.array([[0, 1], [1, 2]]))
    width, height = np.ptp(x), np.ptp(y)
    margin = 0.1 * max(width, height)
    assert (found.west, found.east) == pytest.approx((x.min() - margin, x.max() + margin))
    assert (found.south, found.north) == pytest.approx((y.min() - margin, y.max() + margin))
    assert [path.tolist() for path in paths] == [
        [[x[0], y[0]], [x[1], y[1]]],
        [[x[1], y[1]], [x[2], y[2]]],
    ]


@pytest.mark.parametrize("count", [30, 31])
def test_of_more_than_30_sites_those_at_one_place_share_a_label(count):
    places = {f"s{k}": (float(k % 10), float(k // 10) * 3) for k in range(count - 2)}
    places |= {"twin": places["s0"], "other": places["s0"]}
    # The twin has the most links.
    links = [(count - 2, k) for k in range(count - 2)] + [(count - 1, 0)]
    layout = map_layout(network(places, links))
    texts = {label.text for label in layout.labels}
    note = [each for each in layout.notes if "sites are named" in each]
    if count == 30:
        assert texts == set(places)
        assert note == []
    else:
        assert "twin +2" in texts
        assert not texts & {"other", "s0"}
        assert note[0].startswith(
            f"{len(layout.labels)} of 31 sites are named, the best connected ones first; +N:"
        )


def test_names_of_26_letters_are_whole_and_150_of_many_sites_are_named():
    names = {"x" * 26: (48.0, 2.0), "y" * 27: (48.3, 2.2)}
    assert [
        (each.text[0], len(each.text), "…" in each.text)
        for each in map_layout(network(names, [(0, 1)])).labels
    ] == [
        ("x", 26, False),
        ("y", 26, True),
    ]
    chain = [(k, k + 1) for k in range(195)]
    square = network({f"{k}": (k // 14, k % 14) for k in range(196)}, chain)
    layout = map_layout(square)
    assert len(layout.labels) == 150
    assert layout.notes[-1].startswith("150 of 196 sites are named, ")
