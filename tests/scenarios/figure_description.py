"""What a matplotlib figure holds, as text: each artist in its order, one a line, before anything is laid out.

Nothing depends on fonts or the processor: rendered sizes are left out, and numbers have five digits.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from folded_text import folded, number, numbers
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import AutoLocator, FixedLocator, MaxNLocator

_MOST_LABELS = 12
"""Labels that are written one by one."""
_LONGEST_LABEL = 60
"""Letters of a text that is no sentence."""


def described(figure: Figure) -> str:
    """All artists of a figure."""
    return "\n".join(folded([*_figure(figure)])) + "\n"


def _figure(figure: Figure) -> Iterator[str]:
    engine = figure.get_layout_engine()
    layout = "" if engine is None else f" {type(engine).__name__} gap {engine.get()['wspace']}"
    yield f"figure {numbers(figure.get_size_inches())} {_colour(figure.get_facecolor())}{layout}"
    for text in figure.texts:
        yield f"  {_artist(text, figure.transFigure)}"
    for legend in figure.legends:
        yield from _legend(legend)
    for number_of, axes in enumerate(figure.axes):
        yield from _axes(axes, number_of)


def _pairs(values: Any) -> str:
    return " ".join(
        f"{name}={number(value) if isinstance(value, float) else value}"
        for name, value in sorted(values.items())
    )


def _legend(legend: Legend) -> Iterator[str]:
    box = legend.get_bbox_to_anchor()
    inside = legend.figure.transFigure.inverted()
    place = "" if legend._bbox_to_anchor is None else numbers(box.transformed(inside).bounds)
    where = getattr(legend, "_outside_loc", None)
    yield (
        f"legend {where} {legend._loc_real} at {place} columns {legend._ncols} frame {legend.get_frame_on()} "
        f"handle {legend.handlelength:g} {legend.borderpad:g} {legend.borderaxespad:g}"
    )
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        yield f"  {text.get_text()!r} {number(text.get_fontsize())}: {_look(handle)}"


def _axes(axes: Axes, place: int) -> Iterator[str]:
    spec = axes.get_subplotspec()
    if spec is None:
        yield f"axes {place} at {numbers(axes.get_position(original=True).bounds)}"
    else:
        grid = spec.get_gridspec()
        ratios = [numbers(each) for each in (grid.get_height_ratios(), grid.get_width_ratios()) if each]
        yield f"axes {place} in {grid.nrows}x{grid.ncols} {spec.rowspan.start},{spec.colspan.start} ratios {ratios}"
    shared = {other for axis in "xy" for other in _shared(axes, axis)}
    yield f"  shares {sorted(shared)} ground {_colour(axes.get_facecolor())} below {axes.get_axisbelow()}"
    if axes.get_title():
        yield f"  title {_artist(axes.title, None)}"
    yield from _direction(axes.xaxis, axes.get_xlim(), axes.get_xscale())
    yield from _direction(axes.yaxis, axes.get_ylim(), axes.get_yscale())
    for name, spine in axes.spines.items():
        if name in ("outline", "left", "top") or not spine.get_visible():
            shown = "" if spine.get_visible() else " hidden"
            yield f"  spine {name} {_colour(spine.get_edgecolor())} {number(spine.get_linewidth())}{shown}"
    for child in axes.get_children():
        is_title = child in (axes.title, axes._left_title, axes._right_title)
        if not (isinstance(child, Spine | Axis | Legend) or is_title or child is axes.patch):
            yield f"  {_artist(child, axes.transData)}"


def _shared(axes: Axes, direction: str) -> Iterator[str]:
    siblings = getattr(axes, f"get_shared_{direction}_axes")().get_siblings(axes)
    every = axes.figure.axes
    return (f"{direction}{every.index(each)}" for each in siblings if each is not axes and each in every)


def _direction(axis: Axis, limits: tuple[float, float], scale: str) -> Iterator[str]:
    label = axis.label
    yield (
        f"  {axis.axis_name} {scale} {numbers(limits)} label {label.get_text()!r} {number(label.get_fontsize())} "
        f"math {label.get_parse_math()} ticks {_tick_look(axis)}"
    )
    locator = axis.get_major_locator()
    minor = type(axis.get_minor_locator()).__name__
    if isinstance(locator, MaxNLocator) and (isinstance(locator, AutoLocator) or locator._nbins == "auto"):
        # How many there are follows from the letters' size.
        yield f"    {type(locator).__name__} whole {locator._integer}, {minor}"
        return
    low, high = sorted(limits)
    places = [
        place
        for place in axis.get_majorticklocs()
        if low <= place <= high or isinstance(locator, FixedLocator)
    ]
    if not isinstance(locator, FixedLocator | MaxNLocator):
        yield f"    {type(locator).__name__}, {minor}"
        return
    labels = axis.get_major_formatter().format_ticks(places)
    yield f"    {minor} {numbers(places)}: {_texts(labels)}"
    if isinstance(locator, FixedLocator):
        looks = [_text_look(text) for text in axis.get_ticklabels()]
        for look in dict.fromkeys(looks):
            yield f"    {looks.count(look)} labels {look}"


def _texts(texts: list[str]) -> str:
    """All of a few texts; of many the first, the last, and the letters of all together."""
    if len(texts) <= _MOST_LABELS:
        return str(texts)
    return f"{len(texts)}: {texts[0]!r}..{texts[-1]!r}, {sum(map(len, texts))} letters"


def _shown(text: str) -> str:
    """A label as it is; of a sentence the numbers and how long it is."""
    if len(text) <= _LONGEST_LABEL:
        return repr(text)
    return f"{len(text)} letters in {text.count(chr(10)) + 1} lines with {re.findall('[0-9][0-9.,]*', text)}"


def _tick_look(axis: Axis) -> str:
    kept = {name: value for name, value in axis.get_tick_params().items() if value not in (None, "auto")}
    return _pairs(kept)


def _artist(artist: Artist, data: Any) -> str:
    parts = [type(artist).__name__, f"z{number(artist.get_zorder())}"]
    if artist.get_alpha() is not None:
        parts.append(f"alpha {numbers(artist.get_alpha())}")
    parts += ["hidden"] if not artist.get_visible() else []
    parts += ["unclipped"] if not artist.get_clip_on() else []
    if (
        data is not None
        and artist.get_transform() != data
        and not isinstance(artist, Collection | Patch | Annotation)
    ):
        parts.append(f"not in data: {_unit_square(artist)}")
    return " ".join(filter(None, [*parts, _look(artist), _place(artist)]))


def _unit_square(artist: Artist) -> str:
    """Which transform it is: where it puts two points, in parts of the axes or figure."""
    box = artist.axes.transAxes if artist.axes is not None else artist.figure.transFigure
    return numbers((artist.get_transform() - box).transform([(0, 0), (1, 1)]))


def _look(artist: Artist) -> str:
    match artist:
        case Line2D():
            size = number(artist.get_markersize()) if artist.get_marker() not in ("", "None", None) else "-"
            faces = [_colour(each) for each in (artist.get_markerfacecolor(), artist.get_markeredgecolor())]
            label = artist.get_label()
            named = "" if str(label).startswith("_") else f" {label!r}"
            every = artist.get_markevery()
            marked = every if every is None or isinstance(every, float) else numbers(every)
            return (
                f"{_colour(artist.get_color())} {number(artist.get_linewidth())} {_dashes(artist)} "
                f"{artist.get_marker()} {size} {','.join(faces)} "
                f"every {marked} {artist.get_drawstyle()}{named}"
            )
        case Collection():
            dashes = {
                f"{offset:g}({'-' if dash is None else numbers(dash)})"
                for offset, dash in artist.get_linestyle()
            }
            sizes = numbers(artist.get_sizes()) if isinstance(artist, PathCollection) else ""
            return (
                f"face {_colours(artist.get_facecolor())} edge {_colours(artist.get_edgecolor())} "
                f"{numbers(artist.get_linewidth())} {sorted(dashes)} {artist.get_hatch()} "
                f"{artist.get_capstyle()} {sizes}"
            )
        case Patch():
            face, edge = _colour(artist.get_facecolor()), _colour(artist.get_edgecolor())
            hatch, fill = artist.get_hatch(), artist.get_fill()
            return f"face {face} edge {edge} {number(artist.get_linewidth())} {hatch} fill {fill}"
        case Text():
            return f"{_shown(artist.get_text())} {_text_look(artist)}"
        case AxesImage():
            return f"{artist.get_cmap().name} {artist.get_interpolation()} {numbers(artist.get_clim())}"
    return ""


def _place(artist: Artist) -> str:
    match artist:
        case Line2D():
            return f"{numbers(artist.get_xdata())} | {numbers(artist.get_ydata())}"
        case Collection():
            points = [path.vertices for path in artist.get_paths()]
            every = np.concatenate(points) if points else np.zeros((0, 2))
            places = "" if len(artist.get_offsets()) < 2 else f" at {numbers(artist.get_offsets())}"
            return f"{len(points)} paths {numbers(every[:, 0])} | {numbers(every[:, 1])}{places}"
        case Patch():
            points = artist.get_path().vertices
            points = artist.get_patch_transform().transform(points)
            return f"{numbers(points[:, 0])} | {numbers(points[:, 1])}"
        case Annotation():
            return f"{numbers(artist.xy)} + {numbers(artist.xyann)} {_arrow(artist)}"
        case Text():
            return numbers(artist.get_position())
        case AxesImage():
            return f"{numbers(artist.get_extent())} {numbers(artist.get_array())}"
    return ""


def _arrow(artist: Annotation) -> str:
    arrow = artist.arrow_patch
    if arrow is None:
        return ""
    assert isinstance(arrow, FancyArrowPatch)
    ends = numbers([arrow.shrinkA, arrow.shrinkB, *artist._arrow_relpos])
    style = type(arrow.get_arrowstyle()).__name__
    return f"arrow {style} {_colour(arrow.get_edgecolor())} {number(arrow.get_linewidth())} {ends}"


def _text_look(text: Text) -> str:
    box = text.get_bbox_patch()
    framed = "" if box is None else f" box {_look(box)} {box.get_boxstyle().pad:g} {box.get_alpha()}"
    effects = [f" {type(each).__name__} {_pairs(each._gc)}" for each in text.get_path_effects()]
    turned = f" turned {text.get_rotation():g} {text.get_rotation_mode()}" if text.get_rotation() else ""
    return (
        f"{number(text.get_fontsize())} {_colour(text.get_color())} {text.get_ha()} {text.get_va()} "
        f"{text.get_weight()} math {text.get_parse_math()} wrap {text.get_wrap()}{turned}{framed}{''.join(effects)}"
    )


def _dashes(line: Line2D) -> str:
    offset, dash = line._unscaled_dash_pattern
    if line.get_linestyle() in ("None", ""):
        return "none"
    return "-" if dash is None else f"{offset:g}({','.join(map(number, dash))})"


def _colour(colour: Any) -> str:
    if isinstance(colour, str) and colour == "none":
        return "none"
    found = to_hex(colour, keep_alpha=True)
    return found.removesuffix("ff") if len(found) == 9 else found


def _colours(colours: Iterable[Any]) -> str:
    found = [_colour(colour) for colour in colours]
    return ",".join(f"{found.count(each)}x{each}" for each in dict.fromkeys(found))
