"""What was understood of a network: its size, capacities, lengths, measured pairs and places, in words and as JSON."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from scenarios.config.quantities import format_rate, format_s
from scenarios.report.figure_formats import FIGURES
from scenarios.report.figure_style import FigureStyle
from scenarios.report.world_map import unrolled
from scenarios.runfile.claims import claimed
from scenarios.runfile.paths import check_ending, check_new, write_whole
from topologies import InputError
from topologies.arrays import BoolArray, FloatArray
from topologies.capacities import UNSTATED_CORE_BPS
from topologies.errors import quoted
from topologies.geodesy import geodesic_km
from topologies.measured_pairs import MeasuredPairs
from topologies.networks.gml_writing import gml_text
from topologies.networks.link_notes import NO_CABLE
from topologies.networks.underlay_title import underlay_title
from topologies.underlay import Underlay
from topologies.wrapping import WIDTH, wrapped

GML, CSV, HTML = ".gml", ".csv", ".html"
_HEAD = 14
"""Columns of the words before each line of text."""
_MOST_NAMED = 8
"""Sites without coordinates that are named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The values of some links, pairs or sites.

    Attributes
    ----------
    lowest, highest : float
        In the unit of the field that holds it.
    lowest_at, highest_at : str
        The link, ordered pair (``A -> B``) or site that has it; the first of several.
    """

    lowest: float
    lowest_at: str
    highest: float
    highest_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkFacts:
    """Core links.

    Attributes
    ----------
    links, parallel : int
        All links, and those beyond the first between two routers.
    capacity_bps : Span, optional
        Of the links that state one.
    capacity_stated, capacity_assumed : int
        Links that state a capacity, and those that do not.
    assumed_bps : float
        The capacity of the latter.
    length_km : Span
    length_computed, length_stated : int
        Links as long as the geodesic between their ends' coordinates, and others.
    below_geodesic : int
        Links more than 1 % shorter than that, which no cable is.
    stated_over_geodesic : Span, optional
        Stated lengths in parts of the geodesic, where it is known and not 0.
    """

    links: int
    parallel: int
    capacity_bps: Span | None
    capacity_stated: int
    capacity_assumed: int
    assumed_bps: float
    length_km: Span
    length_computed: int
    length_stated: int
    below_geodesic: int
    stated_over_geodesic: Span | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PairFacts:
    """Measured pairs.

    Attributes
    ----------
    pairs, missing, unlimited : int
        Ordered pairs that can talk, that cannot, and of the first those whose bandwidth is unlimited.
    bandwidth_bps : Span, optional
        Of the pairs with a limit.
    latency_s : Span
    """

    pairs: int
    missing: int
    unlimited: int
    bandwidth_bps: Span | None
    latency_s: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteFacts:
    """Values that the file states of sites: on how many, and which.

    Attributes
    ----------
    up_stated, down_stated, compute_stated : int
    up_bps, down_bps, compute_s : Span, optional
    """

    up_stated: int
    up_bps: Span | None
    down_stated: int
    down_bps: Span | None
    compute_stated: int
    compute_s: Span | None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnderlayFacts:
    """What was understood of a network.

    Attributes
    ----------
    name, variant, title : str
        As in `topologies.Underlay`; the title is the name with the variant where there are two.
    sites : int
        Routers, or sites between which pairs are measured.
    components : int
        Always 1: other networks cannot be loaded.
    links : LinkFacts, optional
        None where pairs are measured.
    pairs : PairFacts, optional
        None where links are known.
    without_coordinates : sequence of str
        Labels.
    latitude_deg, longitude_deg : Span, optional
        Of the sites with coordinates; the lowest longitude is that of the westernmost one, also across the date line.
    stated_of_sites : SiteFacts, optional
        None where the file states nothing of sites.
    notes : sequence of str
        What else the reader of the file should know.
    """

    name: str
    variant: str
    title: str
    sites: int
    components: int
    links: LinkFacts | None
    pairs: PairFacts | None
    without_coordinates: Sequence[str]
    latitude_deg: Span | None
    longitude_deg: Span | None
    stated_of_sites: SiteFacts | None
    notes: Sequence[str]

    def __str__(self) -> str:
        """Text for people, 80 columns wide."""
        return facts_text(self)

    def json(self) -> str:
        """The same facts: the attributes, nested, with their names as keys."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)


def underlay_facts(underlay: Underlay) -> UnderlayFacts:
    """What was understood of a network.

    Parameters
    ----------
    underlay : Underlay

    Returns
    -------
    UnderlayFacts

    Notes
    -----
    O(sites^2 + links).
    """
    placed = np.isfinite(underlay.latitude_deg)
    labels = underlay.labels.__getitem__
    return UnderlayFacts(
        name=underlay.name,
        variant=underlay.variant,
        title=underlay_title(underlay),
        sites=underlay.routers,
        components=1,
        links=_link_facts(underlay) if underlay.measured is None else None,
        pairs=None if underlay.measured is None else _pair_facts(underlay.measured, underlay.labels),
        without_coordinates=[labels(site) for site in np.flatnonzero(~placed).tolist()],
        latitude_deg=_span(underlay.latitude_deg, labels, placed),
        longitude_deg=_west_and_east(underlay.longitude_deg, labels, placed),
        stated_of_sites=_site_facts(underlay),
        notes=list(underlay.notes),
    )


def _link_facts(underlay: Underlay) -> LinkFacts:
    """Facts of the core links."""
    names = underlay.link_name
    stated = np.isfinite(underlay.capacity_bps)
    direct = np.array([_direct_km(underlay, *ends) for ends in underlay.ends.tolist()])
    computed = underlay.length_km == direct
    own = ~computed & (direct > 0)
    length = _span(underlay.length_km, names)
    assert length is not None
    return LinkFacts(
        links=underlay.links,
        parallel=underlay.links - len(np.unique(np.sort(underlay.ends), axis=0)),
        capacity_bps=_span(underlay.capacity_bps, names, stated),
        capacity_stated=int(stated.sum()),
        capacity_assumed=int((~stated).sum()),
        assumed_bps=UNSTATED_CORE_BPS,
        length_km=length,
        length_computed=int(computed.sum()),
        length_stated=int((~computed).sum()),
        below_geodesic=int((own & (underlay.length_km < NO_CABLE * direct)).sum()),
        stated_over_geodesic=_span(underlay.length_km / np.where(own, direct, 1.0), names, own),
    )


def _direct_km(underlay: Underlay, source: int, target: int) -> float:
    """Geodesic between two routers, from the label that comes first as where lengths are computed; NaN if unknown."""
    a, b = sorted((source, target), key=underlay.labels.__getitem__)
    latitude, longitude = underlay.latitude_deg, underlay.longitude_deg
    if np.isnan(latitude[a] + latitude[b]):
        return float("nan")
    return geodesic_km(latitude[a], longitude[a], latitude[b], longitude[b])


def _pair_facts(measured: MeasuredPairs, labels: Sequence[str]) -> PairFacts:
    """Facts of the measured pairs."""
    pairs = measured.pairs
    bandwidth_bps, latency_s = measured.bandwidth_bps[*pairs.T], measured.latency_s[*pairs.T]

    def names(pair: int) -> str:
        return " -> ".join(labels[site] for site in pairs[pair])

    limited = np.isfinite(bandwidth_bps)
    latency = _span(latency_s, names)
    assert latency is not None
    return PairFacts(
        pairs=len(pairs),
        missing=measured.sites * (measured.sites - 1) - len(pairs),
        unlimited=int((~limited).sum()),
        bandwidth_bps=_span(bandwidth_bps, names, limited),
        latency_s=latency,
    )


def _site_facts(underlay: Underlay) -> SiteFacts | None:
    """Facts of what is stated of sites."""
    sites = underlay.sites
    if sites is None:
        return None
    name = underlay.labels.__getitem__
    up, down, compute = (~np.isnan(values) for values in (sites.up_bps, sites.down_bps, sites.compute_s))
    return SiteFacts(
        up_stated=int(up.sum()),
        up_bps=_span(sites.up_bps, name, up),
        down_stated=int(down.sum()),
        down_bps=_span(sites.down_bps, name, down),
        compute_stated=int(compute.sum()),
        compute_s=_span(sites.compute_s, name, compute),
    )


def _span(values: FloatArray, name: Callable[[int], str], among: BoolArray | None = None) -> Span | None:
    """Lowest and highest value of those that count, None where none does."""
    counted = np.arange(len(values)) if among is None else np.flatnonzero(among)
    if not counted.size:
        return None
    low, high = (int(counted[place]) for place in (values[counted].argmin(), values[counted].argmax()))
    return Span(
        lowest=float(values[low]), lowest_at=name(low), highest=float(values[high]), highest_at=name(high)
    )


def _west_and_east(longitude_deg: FloatArray, name: Callable[[int], str], placed: BoolArray) -> Span | None:
    """The ends of the arc that has all places."""
    whole = longitude_deg.copy()
    if placed.any():
        whole[placed] = unrolled(longitude_deg[placed])
    span = _span(whole, name, placed)
    return span and replace(span, highest=span.highest - 360 if span.highest > 180 else span.highest)


def facts_text(facts: UnderlayFacts) -> str:
    """Text for people, 80 columns wide: a line, or a few, for each kind of fact."""
    links, pairs, sites = facts.links, facts.pairs, facts.stated_of_sites
    if links is not None:
        parallel = f", {links.parallel} of them parallel" if links.parallel else ""
        head = (
            f"{facts.title}: {facts.sites} routers, {_count(links.links, 'core link')}{parallel}, connected"
        )
        lines = _link_lines(links)
    else:
        assert pairs is not None
        between = f"{pairs.pairs:,} of {pairs.pairs + pairs.missing:,}"
        head = f"{facts.title}: {facts.sites} sites, {between} ordered pairs measured, strongly connected"
        lines = _pair_lines(pairs)
    lines = [*lines, ("coordinates", _places(facts)), *(_site_lines(sites, facts.sites) if sites else ())]
    text = [*wrapped(head), ""]
    for title, sentence in lines:
        first, *others = wrapped(sentence, WIDTH - _HEAD)
        text += [f"{title:<{_HEAD}}{first}", *(f"{'':<{_HEAD}}{line}" for line in others)]
    notes = [line for note in facts.notes for line in wrapped(note)]
    return "\n".join([*text, *(["", *notes] if notes else [])])


def _link_lines(facts: LinkFacts) -> list[tuple[str, str]]:
    """Lines about core links."""
    span, assumed = facts.capacity_bps, f"{format_rate(facts.assumed_bps)} assumed on"
    if span is None:
        capacity = f"none stated: {assumed} all {_count(facts.links, 'link')}"
    elif facts.capacity_assumed:
        rest = f"{assumed} {facts.capacity_assumed}"
        capacity = f"{_rates(span)}, stated on {_count(facts.capacity_stated, 'link')}; {rest}"
    else:
        capacity = f"{_rates(span)}, stated on all {_count(facts.links, 'link')}"
    if facts.length_stated and facts.length_computed:
        origin = f"stated on {_count(facts.length_stated, 'link')}, from the coordinates on {facts.length_computed}"
    else:
        origin = f"{'stated' if facts.length_stated else 'from the coordinates'} on all {_count(facts.links, 'link')}"
    length = facts.length_km
    lines = [
        ("capacity", capacity),
        ("length", f"{_km(length.lowest)} to {_km(length.highest)}; {origin}"),
        ("longest link", f"{length.highest_at}, {_km(length.highest)}"),
    ]
    if (ratio := facts.stated_over_geodesic) is not None:
        low, high = f"{ratio.lowest:.3g}", f"{ratio.highest:.3g}"
        times = low if low == high else f"{low} to {high}"
        sentence = f"stated lengths are {times} times the geodesic between the ends"
        if facts.below_geodesic:
            shorter = "1 is" if facts.below_geodesic == 1 else f"{facts.below_geodesic} are"
            sentence += f"; {shorter} shorter than it, which no cable is, such as {ratio.lowest_at}"
        lines.append(("", sentence))
    return lines


def _pair_lines(facts: PairFacts) -> list[tuple[str, str]]:
    """Lines about measured pairs."""
    unlimited = f"unlimited on {_count(facts.unlimited, 'pair')}" if facts.unlimited else ""
    limited = _ends_named(facts.bandwidth_bps, format_rate) if facts.bandwidth_bps else ""
    return [
        ("missing", _count(facts.missing, "pair") if facts.missing else "no pair"),
        ("bandwidth", "; ".join(filter(None, (limited, unlimited)))),
        ("latency", _ends_named(facts.latency_s, format_s)),
    ]


def _ends_named(span: Span, show: Callable[[float], str]) -> str:
    """The lowest and the highest value with the pairs that have them."""
    low, high = show(span.lowest), show(span.highest)
    if low == high:
        return f"{low} on each pair"
    return f"{low} ({span.lowest_at}) to {high} ({span.highest_at})"


def _places(facts: UnderlayFacts) -> str:
    """Where the sites lie, and which have no place."""
    missing = facts.without_coordinates
    if facts.latitude_deg is None or facts.longitude_deg is None:
        return "of no site"
    south, north = facts.latitude_deg.lowest, facts.latitude_deg.highest
    west, east = facts.longitude_deg.lowest, facts.longitude_deg.highest
    box = f"{_degrees(south, 'NS')} to {_degrees(north, 'NS')}, {_degrees(west, 'EW')} to {_degrees(east, 'EW')}"
    if not missing:
        return f"of all sites: {box}"
    named = ", ".join(missing[:_MOST_NAMED])
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return f"of {facts.sites - len(missing)} of {facts.sites} sites: {box}; none of {named}{more}"


def _site_lines(facts: SiteFacts, sites: int) -> list[tuple[str, str]]:
    """Lines about what is stated of sites."""
    rows = (
        ("uplinks", facts.up_stated, facts.up_bps, _rates),
        ("downlinks", facts.down_stated, facts.down_bps, _rates),
        ("computing", facts.compute_stated, facts.compute_s, _times),
    )
    return [
        (title, f"{show(span)}, stated of {'all' if stated == sites else f'{stated} of {sites}'} sites")
        for title, stated, span, show in rows
        if span is not None
    ]


def _count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _rates(span: Span) -> str:
    """One rate, or the lowest and the highest."""
    low, high = format_rate(span.lowest), format_rate(span.highest)
    return low if low == high else f"{low} to {high}"


def _times(span: Span) -> str:
    """One time of a local step, or the shortest and the longest."""
    low, high = format_s(span.lowest), format_s(span.highest)
    return f"{low if low == high else f'{low} to {high}'} a local step"


def _km(length: float) -> str:
    """A length; below 10 km in two digits."""
    return f"{length:,.0f} km" if length >= 10 else f"{length:.2g} km"


def _degrees(angle: float, sides: str) -> str:
    """Degrees with their side, ``31.8 N``."""
    return f"{abs(round(angle, 2)):g} {sides[angle < 0]}"


def check_conversion(path: Path, underlay: Underlay, *, force: bool) -> None:
    """Raise an `InputError` where a network cannot be written into a file of this name."""
    check_ending(path, (GML, CSV))
    ending = path.suffix.lower()
    if ending == GML and underlay.measured is not None:
        raise InputError(f"output(={str(path)!r}) must end in {CSV}: measured pairs go to CSV, GML has none.")
    if ending == CSV and underlay.measured is None:
        raise InputError(f"output(={str(path)!r}) must end in {GML}: only measured pairs go to CSV.")
    check_new(path, force=force)


def convert(underlay: Underlay, path: Path, *, force: bool) -> list[str]:
    """Write a network into a file that reads back as the same one.

    Parameters
    ----------
    underlay : Underlay
    path : Path
        GML; or CSV of measured pairs, a row for each: ``from,to,bandwidth_bps,latency_ms``.
    force : bool
        Whether an existing file is replaced.

    Returns
    -------
    list of str
        A sentence for each thing that the file cannot hold.

    Raises
    ------
    InputError
        If the file has the wrong ending, exists or cannot be written.
    """
    check_conversion(path, underlay, force=force)
    with claimed([path], force=force):
        return write_conversion(underlay, path, force=force)


def write_conversion(underlay: Underlay, path: Path, *, force: bool) -> list[str]:
    """Write a network as `convert`, into a file that the caller has checked and claimed."""
    text = gml_text(underlay) if underlay.measured is None else pairs_text(underlay.measured, underlay.labels)
    write_whole(path, text, force=force)
    lost = []
    if underlay.sites is not None:
        lost.append(
            f"{quoted(str(path))} does not hold what is stated of sites: access links and computing times."
        )
    if underlay.measured is not None and np.isfinite(underlay.latitude_deg).any():
        lost.append(f"{quoted(str(path))} does not hold coordinates.")
    return lost


def pairs_text(measured: MeasuredPairs, labels: Sequence[str]) -> str:
    """CSV of measured pairs, ``from,to,bandwidth_bps,latency_ms``, by sender, then receiver.

    Parameters
    ----------
    measured : MeasuredPairs
    labels : sequence of str

    Returns
    -------
    str
        With as many digits as bring the numbers back; ``inf`` where the bandwidth is unlimited. Between two silos of
        one site there is a row where anything limits them. A latency that was never one in ms may differ in its last
        bit.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("from", "to", "bandwidth_bps", "latency_ms"))
    for source, target in np.argwhere(measured.bandwidth_bps > 0).tolist():
        bandwidth_bps = float(measured.bandwidth_bps[source, target])
        latency_s = float(measured.latency_s[source, target])
        if source != target or latency_s > 0 or np.isfinite(bandwidth_bps):
            writer.writerow((labels[source], labels[target], bandwidth_bps, _in_ms(latency_s)))
    return text.getvalue()


def _in_ms(seconds: float) -> float:
    """Milliseconds that divided by 1000 are these seconds to the last bit, else the next best in 15 digits.

    Not every number has such: the quotients by 1000 are not all of them. Those that were read in ms have.
    """
    near = 1e3 * seconds
    short = float(f"{near:.15g}")
    candidates = (short, near, float(np.nextafter(near, 0)), float(np.nextafter(near, np.inf)))
    return next((ms for ms in candidates if ms / 1e3 == seconds), short)


def check_drawing(path: Path, *, force: bool) -> None:
    """Raise an `InputError` where no map can be drawn into a file of this name."""
    check_ending(path, (*FIGURES, HTML))
    check_new(path, force=force)


def draw(underlay: Underlay, path: Path, *, style: FigureStyle | None = None, force: bool) -> None:
    """Draw a network on a map.

    Parameters
    ----------
    underlay : Underlay
    path : Path
        PNG, SVG, PDF; or HTML, a page with the facts and a table of all links.
    style : FigureStyle, optional
        Of a picture.
    force : bool
        Whether an existing file is replaced.

    Raises
    ------
    InputError
        If the file has another ending, exists or cannot be written.
    """
    check_drawing(path, force=force)
    with claimed([path], force=force):
        write_drawing(underlay, path, style=style, force=force)


def write_drawing(underlay: Underlay, path: Path, *, style: FigureStyle | None = None, force: bool) -> None:
    """Draw a network as `draw`, into a file that the caller has checked and claimed."""
    # Here since matplotlib takes long to import.
    if path.suffix.lower() == HTML:
        from scenarios.report.map_page import map_page

        write_whole(path, map_page(underlay, facts_text(underlay_facts(underlay))), force=force)
    else:
        from scenarios.report.map import plot_map

        plot_map(underlay, path, style=style)
