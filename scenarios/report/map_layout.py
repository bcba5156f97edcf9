"""What a map of a network shows, and where: independent of the format that it is drawn in."""

import itertools
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import networkx as nx
import numpy as np

from scenarios.config.quantities import format_rate, format_s
from scenarios.report.log_axis import log_ticks
from scenarios.report.terminal import shortened
from scenarios.report.world_map import Window, copies, great_circle, land_in, unrolled, window_of
from topologies.arrays import FloatArray, IntArray
from topologies.capacities import core_capacity
from topologies.networks.underlay_title import underlay_title
from topologies.underlay import Underlay

WIDTH_PT = 462.0
"""Width of a map unless another one is asked for; lengths of labels are in the same unit."""
FONT_PT = 7.0
"""Size of labels, likewise."""
_LEAST_RATIO, _MOST_RATIO = 0.42, 0.95
"""Height of the map in parts of its width."""
_ALL_LABELS, _MOST_TRIED, _LONGEST_LABEL = 30, 150, 26
"""Sites up to which each has its label; places for which there may be one; letters of one."""
MANY_LINES = 150
"""From so many lines on they are drawn thinner, and let each other shine through."""
_MOST_PAIRS = 1500
_MOST_CLASSES = 6
_LETTER, _CAPITAL, _WIDE_LETTER, _LINE = 0.59, 0.74, 1.05, 1.2
"""Width of a letter, of one that is as wide as high, and height of a line, in parts of the font's size."""
_AWAY_PT = (4.5, 11.0, 19.0, 30.0, 44.0)
"""Distances at which a label may stand from its site; from the second on with a line that leads to it."""
_EDGE_PT = 3.0
"""Between a label and the edges: fonts differ in width."""
_MOST_NAMED, _MOST_LINES_NAMED = 10, 4
"""Sites and lines that a note names."""
_LARGE_DOTS = 60
"""Sites up to which their dots are large."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """What a map is laid out for.

    Attributes
    ----------
    width_pt : float
        Width of the map.
    font_pt : float
        Size of labels.
    """

    width_pt: float = WIDTH_PT
    font_pt: float = FONT_PT


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line:
    """A link, or a measured pair.

    Attributes
    ----------
    paths : sequence of array of float, (points, 2)
        On the map; several where it leaves on one side and comes back on the other.
    title : str
        Its name and numbers.
    speed : float
        From 0, the slowest of the map, to 1, the fastest.
    is_dashed : bool
        Whether its capacity is assumed, or the pair was measured in one direction only.
    link : int, optional
        Number of the core link; None of a measured pair.
    """

    paths: Sequence[FloatArray]
    title: str
    speed: float
    is_dashed: bool
    link: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LegendEntry:
    """A line of the legend: what lines of a speed are, or dashed ones."""

    text: str
    speed: float
    is_dashed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """A logarithmic scale of bandwidths, whose ends have the speeds 0 and 1."""

    title: str
    low_bps: float
    high_bps: float

    def speed(self, bps: float) -> float:
        """Place of a bandwidth on the scale, from 0 to 1."""
        if not math.isfinite(bps):
            return 1.0
        if self.high_bps == self.low_bps:
            return 0.5
        place = math.log(bps / self.low_bps) / math.log(self.high_bps / self.low_bps)
        return min(max(place, 0.0), 1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A site's name beside it.

    Attributes
    ----------
    site : int
    text : str
    side : int
        Where the text is: 1 where it begins right of the site, -1 where it ends left of it, 0 above or below.
    right_pt, up_pt : float
        From the site to the nearer end of the text, or to its middle, in the middle of its height.
    has_leader : bool
        Whether a line leads there.
    """

    site: int
    text: str
    side: int
    right_pt: float
    up_pt: float
    has_leader: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MapLayout:
    """Everything on a map.

    Attributes
    ----------
    title : str
    page : Page
    window : Window
        In degrees, or in units of no meaning where no site has coordinates.
    is_geographic : bool
    land : sequence of array of float, (points, 2)
    x, y : array of float, (sites,)
        NaN for sites that are not on the map.
    site_titles : sequence of str, (sites,)
    lines : sequence of Line
        In the order of drawing.
    legend : sequence of LegendEntry
        Of core links, the fastest first; of measured pairs what is no matter of their scale.
    scale : Scale, optional
        Of measured pairs.
    labels : sequence of Label
    notes : sequence of str
        What the map does not show.
    """

    title: str
    page: Page
    window: Window
    is_geographic: bool
    land: Sequence[FloatArray]
    x: FloatArray
    y: FloatArray
    site_titles: Sequence[str]
    lines: Sequence[Line]
    legend: Sequence[LegendEntry]
    scale: Scale | None
    labels: Sequence[Label]
    notes: Sequence[str]

    @property
    def ground(self) -> Literal["sea", "land", "plain"]:
        """What lies below the land and the lines; near by, the land's outline is too coarse, and all is land."""
        if not self.is_geographic:
            return "plain"
        return "sea" if self.window.shows_land else "land"

    @property
    def dot_pt(self) -> float:
        """Diameter of a site's dot."""
        return _dot_pt(len(self.x))

    @property
    def height_pt(self) -> float:
        """Height of the map."""
        return self.page.width_pt * self.window.ratio

    def on_page(self, points: FloatArray) -> FloatArray:
        """Points right of and above the lower left corner, shape (..., 2), for points on the map."""
        return _on_page(points, self.window, self.page)

    def is_free(self, left: float, bottom: float, right: float, top: float) -> bool:
        """Whether a part of the page, in points, holds no site's dot and no label."""
        places, near = self.on_page(np.column_stack([self.x, self.y])), self.dot_pt / 2
        within = (places > [left - near, bottom - near]) & (places < [right + near, top + near])
        labels = [_box(label, places[label.site], self.page.font_pt) for label in self.labels]
        return not (within.all(axis=1).any() or _overlaps((left, bottom, right, top), labels))


USUAL_PAGE = Page()


def map_layout(underlay: Underlay, page: Page = USUAL_PAGE) -> MapLayout:
    """Lay a network out on a map.

    Parameters
    ----------
    underlay : Underlay
    page : Page

    Returns
    -------
    MapLayout
        Sites at their coordinates; where none has any, wherever springs between the ends of links put them.
    """
    is_geographic = bool(np.isfinite(underlay.latitude_deg).any())
    ends, notes = _ends(underlay)
    if is_geographic:
        x, y, paths, window = _geographic(underlay, ends)
    else:
        x, y, paths, window = _by_springs(underlay.routers, ends)
        notes.append("No site has coordinates: only who is linked to whom decides where a site stands.")
    window = window.reshaped(_LEAST_RATIO, _MOST_RATIO)
    shown = np.isfinite(x)
    if is_geographic and not shown.all():
        names = [underlay.labels[site] for site in np.flatnonzero(~shown).tolist()]
        lost = sum(path is None for path in paths)
        what = "link" if underlay.measured is None else "pair"
        whose = f"; nor {lost} {what}{'' if lost == 1 else 's'} of theirs" if lost else ""
        notes.append(f"Not on the map, without coordinates: {_first(names, _MOST_NAMED)}{whose}.")
    drawn = [None if path is None else copies(path, window) if is_geographic else [path] for path in paths]
    if underlay.measured is None:
        lines, legend, scale = _links(underlay, drawn)
    else:
        lines, legend, scale, one_way = _pairs(underlay, ends, drawn)
        notes += _one_way_note(one_way, len(lines))
    notes += _hidden_note(underlay, ends, paths, window, page)
    labels = _labels(underlay, x, y, window, lines, page)
    if len(labels) < shown.sum():
        notes.append(
            f"{len(labels)} of {int(shown.sum())} sites are named, the best connected ones first; +N: N more sites at "
            "the same place."
        )
    return MapLayout(
        title=_title(underlay),
        page=page,
        window=window,
        is_geographic=is_geographic,
        land=land_in(window) if is_geographic else [],
        x=x,
        y=y,
        site_titles=[_site_title(underlay, site) for site in range(underlay.routers)],
        lines=lines,
        legend=legend,
        scale=scale,
        labels=labels,
        notes=notes,
    )


def _title(underlay: Underlay) -> str:
    """Name and size."""
    if underlay.measured is not None:
        return f"{underlay_title(underlay)}: {underlay.routers} sites, {len(underlay.measured.pairs):,} measured pairs"
    links = f"{underlay.links} core link{'' if underlay.links == 1 else 's'}"
    return f"{underlay_title(underlay)}: {underlay.routers} routers, {links}"


def _site_title(underlay: Underlay, site: int) -> str:
    """Name of a site and what is known about it."""
    parts = []
    if np.isfinite(underlay.latitude_deg[site]):
        parts.append(f"{underlay.latitude_deg[site]:.4g}, {underlay.longitude_deg[site]:.4g} degrees")
    if underlay.sites is not None:
        for name, values, show in (
            ("uplink", underlay.sites.up_bps, format_rate),
            ("downlink", underlay.sites.down_bps, format_rate),
            ("local step", underlay.sites.compute_s, format_s),
        ):
            if not np.isnan(values[site]):
                parts.append(f"{name} {show(float(values[site]))}")
    return ": ".join([underlay.labels[site], *([", ".join(parts)] if parts else [])])


def _ends(underlay: Underlay) -> tuple[IntArray, list[str]]:
    """Ends of the lines to draw, and what is left out: of many pairs each site's fastest ones are drawn."""
    if underlay.measured is None:
        return underlay.ends, []
    either = _both_ways(underlay.measured.bandwidth_bps)
    pairs = np.argwhere(np.triu(either > 0, 1))
    if len(pairs) <= _MOST_PAIRS:
        return pairs, []
    most = max(_MOST_PAIRS // underlay.routers, 1)
    fastest = np.argsort(-either, axis=1, kind="stable")[:, :most]
    kept = np.zeros_like(either, dtype=bool)
    kept[np.arange(len(either))[:, np.newaxis], fastest] = True
    kept = np.triu((kept | kept.T) & (either > 0), 1)
    drawn = np.argwhere(kept)
    number = "pair" if most == 1 else f"{most} pairs"
    return drawn, [
        f"Drawn are each site's fastest {number}: {len(drawn):,} of {len(pairs):,}, both directions as one."
    ]


def _both_ways(bandwidth_bps: FloatArray) -> FloatArray:
    """Mean of the directions that can talk, 0 where none can; infinite ones go first."""
    talks = (bandwidth_bps > 0).astype(float) + (bandwidth_bps.T > 0)
    mean: FloatArray = (bandwidth_bps + bandwidth_bps.T) / np.maximum(talks, 1)
    np.fill_diagonal(mean, 0.0)
    return mean


def _geographic(
    underlay: Underlay, ends: IntArray
) -> tuple[FloatArray, FloatArray, list[FloatArray | None], Window]:
    """Places of sites, paths of lines and the window that shows them; None for a line to an unknown place."""
    latitude, longitude = underlay.latitude_deg, underlay.longitude_deg.copy()
    placed = np.isfinite(latitude)
    longitude[placed] = unrolled(longitude[placed])
    paths: list[FloatArray | None] = []
    known: dict[tuple[int, int], FloatArray] = {}
    for a, b in ends.tolist():
        if not (placed[a] and placed[b]):
            paths.append(None)
            continue
        if (a, b) not in known:
            path = great_circle(latitude[a], longitude[a], latitude[b], longitude[b])
            known[a, b] = np.add(path, [longitude[a] - path[0, 0], 0.0])
        paths.append(known[a, b])
    window = window_of(longitude[placed], latitude[placed], [path for path in paths if path is not None])
    return longitude, latitude, paths, window


def _by_springs(sites: int, ends: IntArray) -> tuple[FloatArray, FloatArray, list[FloatArray | None], Window]:
    """Places by a spring layout, the same for each drawing, and straight lines between them."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(sites))
    graph.add_edges_from(ends.tolist())
    # Springs between all pairs look best, but take the cube of the number of sites.
    placed = nx.kamada_kawai_layout(graph) if sites <= 100 else nx.spring_layout(graph, seed=1)
    places = np.array([placed[site] for site in range(sites)], dtype=np.float64)
    (west, south), (east, north) = places.min(axis=0), places.max(axis=0)
    margin = 0.1 * max(east - west, north - south)
    window = Window(
        west=west - margin, east=east + margin, south=south - margin, north=north + margin, stretch=1.0
    )
    return places[:, 0], places[:, 1], [places[[a, b]] for a, b in ends.tolist()], window


def _links(
    underlay: Underlay, drawn: Sequence[Sequence[FloatArray] | None]
) -> tuple[list[Line], list[LegendEntry], None]:
    """Core links with a speed for each class of capacity: each capacity, or a range where there are many."""
    core_bps, assumed = core_capacity(underlay, None)
    class_of, names = _classes(core_bps)
    speeds = np.linspace(0, 1, len(names)) if len(names) > 1 else np.array([0.6])
    lines = []
    for link, paths in enumerate(drawn):
        if paths is None:
            continue
        rate = f"{format_rate(float(core_bps[link]))}{' (assumed)' if assumed[link] else ''}"
        lines.append(
            Line(
                paths=paths,
                title=f"{underlay.link_name(link)}: {rate}, {underlay.length_km[link]:,.1f} km",
                speed=float(speeds[class_of[link]]),
                is_dashed=bool(assumed[link]),
                link=link,
            )
        )
    legend = []
    for group, is_assumed in itertools.product(range(len(names) - 1, -1, -1), (False, True)):
        size = int(((class_of == group) & (assumed == is_assumed)).sum())
        if size:
            which = f"{size} link{'' if size == 1 else 's'}"
            name = f"{format_rate(float(core_bps[assumed][0]))} assumed" if is_assumed else names[group]
            legend.append(
                LegendEntry(text=f"{name} ({which})", speed=float(speeds[group]), is_dashed=is_assumed)
            )
    # Wide lines first: a narrow parallel one is seen upon them.
    return sorted(lines, key=lambda line: -line.speed), legend, None


def _classes(core_bps: FloatArray) -> tuple[IntArray, list[str]]:
    """Class of each capacity, the slowest first, and the names of the classes."""
    distinct, class_of = np.unique(core_bps, return_inverse=True)
    if len(distinct) <= _MOST_CLASSES:
        return class_of, [format_rate(bps) for bps in distinct.tolist()]
    low, high = float(distinct[0]), float(distinct[-1])
    edges = [edge for edge in log_ticks(low, high, _MOST_CLASSES - 1) if low < edge < high]
    places = np.searchsorted(edges, core_bps, side="right")
    names = [
        f"below {format_rate(edges[0])}",
        *(f"{format_rate(a)} to {format_rate(b)}" for a, b in itertools.pairwise(edges)),
        f"from {format_rate(edges[-1])}",
    ]
    used, class_of = np.unique(places, return_inverse=True)
    return class_of, [names[place] for place in used.tolist()]


def _pairs(
    underlay: Underlay, ends: IntArray, drawn: Sequence[Sequence[FloatArray] | None]
) -> tuple[list[Line], list[LegendEntry], Scale | None, list[str]]:
    """Measured pairs, both directions as one line, the slowest last; and those of which one was measured."""
    measured = underlay.measured
    assert measured is not None
    mean = _both_ways(measured.bandwidth_bps)
    finite = [float(mean[a, b]) for a, b in ends.tolist() if np.isfinite(mean[a, b])]
    scale = (
        Scale(title="measured bandwidth, mean of both directions", low_bps=min(finite), high_bps=max(finite))
        if finite
        else None
    )
    lines, one_way = [], []
    for (a, b), paths in zip(ends.tolist(), drawn, strict=True):
        if paths is None:
            continue
        ways = [(i, j) for i, j in ((a, b), (b, a)) if measured.bandwidth_bps[i, j] > 0]
        told = [
            f"{underlay.labels[i]} -> {underlay.labels[j]}: {format_rate(float(measured.bandwidth_bps[i, j]))}, "
            f"{format_s(float(measured.latency_s[i, j]))}"
            for i, j in ways
        ]
        if is_one_way := len(ways) == 1:
            one_way.append(f"{underlay.labels[ways[0][0]]} -> {underlay.labels[ways[0][1]]}")
            told.append("not measured the other way")
        speed = 1.0 if scale is None else scale.speed(float(mean[a, b]))
        lines.append(Line(paths=paths, title="; ".join(told), speed=speed, is_dashed=is_one_way))
    legend = [] if scale else [LegendEntry(text="unlimited", speed=1.0)]
    if one_way:
        counted = f"one direction only ({len(one_way):,} pair{'' if len(one_way) == 1 else 's'})"
        legend.append(LegendEntry(text=counted, speed=0.5 if scale else 1.0, is_dashed=True))
    return sorted(lines, key=lambda line: -line.speed), legend, scale, one_way


def _one_way_note(one_way: Sequence[str], pairs: int) -> list[str]:
    """Which of the pairs on the map were measured in one direction."""
    if not one_way:
        return []
    was = "was" if len(one_way) == 1 else "were"
    named = _first(one_way, _MOST_LINES_NAMED)
    return [
        f"Dashed: {len(one_way):,} of {pairs:,} pairs of sites {was} measured in one direction only: {named}."
    ]


def _hidden_note(
    underlay: Underlay, ends: IntArray, paths: Sequence[FloatArray | None], window: Window, page: Page
) -> list[str]:
    """Which lines are so short that the dots of their ends hide them."""
    hidden = [
        line
        for line, path in enumerate(paths)
        if path is not None and np.ptp(_on_page(path, window, page), axis=0).max() < _dot_pt(underlay.routers)
    ]
    if not hidden:
        return []
    noun = "link" if underlay.measured is None else "pair"
    joins = f"{noun} joins" if len(hidden) == 1 else f"{noun}s join"
    names = [" - ".join(underlay.labels[site] for site in ends[line]) for line in hidden]
    named = _first(names, _MOST_LINES_NAMED)
    return [
        f"Not seen: {len(hidden):,} {joins} sites at one place, or so near that their dots meet: {named}."
    ]


def _dot_pt(sites: int) -> float:
    """Diameter of a site's dot."""
    return 4.0 if sites <= _LARGE_DOTS else 3.0


def _first(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return f"{', '.join(names[:most])}{f' and {more:,} more' if more > 0 else ''}"


def _labels(
    underlay: Underlay, x: FloatArray, y: FloatArray, window: Window, lines: Sequence[Line], page: Page
) -> list[Label]:
    """Labels that collide as little as can be: one site after the other, the best connected first, at its best place.

    Of more than `_ALL_LABELS` sites, those at one place share a label, and those whose label would lie on another have
    none.
    """
    shown = np.flatnonzero(np.isfinite(x))
    if underlay.measured is None:
        degree = np.bincount(underlay.ends.ravel(), minlength=underlay.routers)
    else:
        degree = np.count_nonzero(underlay.measured.bandwidth_bps > 0, axis=1)
    order = shown[np.argsort(-degree[shown], kind="stable")].tolist()
    on_page = _on_page(np.column_stack([x, y]), window, page)
    names_all = len(order) <= _ALL_LABELS
    groups = [[site] for site in order] if names_all else _places(order, on_page)[:_MOST_TRIED]
    size = page.width_pt, page.width_pt * window.ratio
    dots = _Counted.of(on_page[shown], size)
    crossed = _Counted.of(
        _dots([_on_page(path, window, page) for line in lines for path in line.paths]), size
    )
    boxes: list[_Box] = []
    labels: list[Label] = []
    for site, *others in groups:
        text = shortened(underlay.labels[site], _LONGEST_LABEL) + (f" +{len(others)}" if others else "")
        cost, box, label = min(
            (
                (_cost(box, boxes, dots, crossed) + away, box, label)
                for away in (_AWAY_PT if names_all else _AWAY_PT[:3])
                for box, label in _candidates(site, text, on_page[site], away, page.font_pt)
            ),
            key=lambda found: found[0],
        )
        if names_all or cost < _COLLISION:
            boxes.append(box)
            labels.append(label)
    return labels


_Box = tuple[float, float, float, float]
"""Left, bottom, right and top on the page."""
_DIRECTIONS = ((1, 0.0), (-1, 0.0), (0, 1.0), (0, -1.0), (1, 0.8), (-1, 0.8), (1, -0.8), (-1, -0.8))
"""Side of the site on which its label is, and how far up."""
_COLLISION = 1000.0
"""Cost of a label on another or on a site, against 1 for each point of distance."""
_LEAVING = 1000
"""Collisions that a label which leaves the page counts as: it would be cut off, and nobody could read it."""


def _places(order: Sequence[int], on_page: FloatArray) -> list[list[int]]:
    """Sites by the place where they are on the page, each group and the groups in the order given."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for site in order:
        groups.setdefault(tuple(np.rint(on_page[site] / 2).astype(int).tolist()), []).append(site)
    return list(groups.values())


def _candidates(
    site: int, text: str, at: FloatArray, away: float, font_pt: float
) -> Iterator[tuple[_Box, Label]]:
    """Labels of a site in all directions, so far from it, each with the box that it fills."""
    for side, up in _DIRECTIONS:
        right_pt = side * away * (0.7 if up else 1.0)
        up_pt = up * (away if side else 0.7 * away + _LINE * font_pt / 2)
        leads = away > _AWAY_PT[0]
        label = Label(site=site, text=text, side=side, right_pt=right_pt, up_pt=up_pt, has_leader=leads)
        yield _box(label, at, font_pt), label


def _box(label: Label, at: FloatArray, font_pt: float) -> _Box:
    """What a label of a site at some place fills."""
    width, height = _text_pt(label.text, font_pt), _LINE * font_pt
    left = float(at[0]) + label.right_pt - (width / 2, 0.0, width)[label.side]
    bottom = float(at[1]) + label.up_pt - height / 2
    return left, bottom, left + width, bottom + height


def _overlaps(box: _Box, boxes: Sequence[_Box]) -> int:
    """How many boxes one box lies on."""
    left, bottom, right, top = box
    return sum(left < r and right > l and bottom < t and top > b for l, b, r, t in boxes)  # noqa: E741


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Points of the page, counted in squares of 1 pt: `below[i, j]` are those left of i and below j."""

    below: IntArray

    @classmethod
    def of(cls, points: FloatArray, size: tuple[float, float]) -> "_Counted":
        """Count points; those outside the page are left out."""
        shape = int(size[0]), int(size[1])
        inside = ((points >= 0) & (points < shape)).all(axis=1)
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, tuple(points[inside].astype(int).T), 1)
        return cls(np.pad(counts.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0))))

    def within(self, box: _Box, margin: float = 0.0) -> int:
        """How many points are in a box, to 1 pt."""
        most = np.subtract(self.below.shape, 1)
        low = np.clip(np.rint([box[0] - margin, box[1] - margin]).astype(int), 0, most)
        high = np.clip(np.rint([box[2] + margin, box[3] + margin]).astype(int), 0, most)
        (left, bottom), (right, top) = low.tolist(), high.tolist()
        below = self.below
        return int(below[right, top] - below[left, top] - below[right, bottom] + below[left, bottom])


def _cost(box: _Box, boxes: Sequence[_Box], dots: _Counted, crossed: _Counted) -> float:
    """How bad a label's place is."""
    left, bottom, right, top = box
    width, height = (size - 1 for size in dots.below.shape)
    leaves = left < _EDGE_PT or bottom < 0 or right > width - _EDGE_PT or top > height
    collisions = _LEAVING * leaves + _overlaps(box, boxes) + dots.within(box, margin=2.0)
    return _COLLISION * collisions + 1.5 * min(crossed.within(box), 60)


def _dots(paths: Sequence[FloatArray]) -> FloatArray:
    """Points on the paths, a few apart."""
    dots = [np.zeros((0, 2))]
    for path in paths:
        steps = np.ceil(np.hypot(*np.diff(path, axis=0).T) / 3).astype(int)
        for (a, b), count in zip(itertools.pairwise(path), steps.tolist(), strict=True):
            dots.append(a + (b - a) * (np.arange(count)[:, np.newaxis] / max(count, 1)))
    return np.concatenate(dots)


def _text_pt(text: str, font_pt: float) -> float:
    """About how long a text is."""
    return font_pt * sum(map(_letter_em, text))


def _letter_em(letter: str) -> float:
    """About how wide a letter is, in parts of the font's size."""
    if unicodedata.east_asian_width(letter) in "WF" or letter in "WM@%…":
        return _WIDE_LETTER
    return _CAPITAL if letter.isupper() else _LETTER


def _on_page(points: FloatArray, window: Window, page: Page) -> FloatArray:
    """Points right of and above the lower left corner of the map."""
    scale = page.width_pt / (window.east - window.west)
    return (points - [window.west, window.south]) * [scale, scale * window.stretch]
