"""Colour, dashes and marker of each kind of overlay, the same in every figure."""

from collections.abc import Sequence
from dataclasses import dataclass

# Okabe and Ito's palette, told apart by colour-blind readers; dashes and markers tell lines apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_SOLID, _DASHED, _DASHDOT, _DOTTED = "-", "--", "-.", ":"
_SHORT_LONG = (0.0, (2.0, 1.0, 6.0, 1.0))


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How the line of an overlay looks.

    Attributes
    ----------
    colour, marker : str
        As matplotlib names them.
    dashes : str or (float, (float, ...))
        Likewise, or the lengths of strokes and gaps in line widths, after an offset.
    """

    colour: str
    dashes: str | tuple[float, tuple[float, ...]]
    marker: str


_STYLES = {
    "star": LineStyle(COLOURS[0], _SOLID, "*"),
    "mst": LineStyle(COLOURS[1], _DASHED, "^"),
    "delta_mbst": LineStyle(COLOURS[2], _DASHDOT, "v"),
    "ring": LineStyle(COLOURS[3], _SOLID, "o"),
    "christofides": LineStyle(COLOURS[4], _DASHED, "s"),
    "underlay": LineStyle(COLOURS[1], _DASHDOT, "D"),
    "complete": LineStyle(COLOURS[6], _SOLID, "X"),
    "best": LineStyle(COLOURS[0], _DASHED, "P"),
    "matcha": LineStyle(COLOURS[5], _DASHDOT, "<"),
    "matcha_plus": LineStyle(COLOURS[2], _SOLID, ">"),
    "matcha_ring": LineStyle(COLOURS[3], _DASHED, "p"),
    "matcha_delta_mbst": LineStyle(COLOURS[4], _DASHDOT, "h"),
    "random_ring": LineStyle(COLOURS[5], _SOLID, "d"),
    "exponential": LineStyle(COLOURS[0], _DASHDOT, "3"),
    "equi_static": LineStyle(COLOURS[1], _SOLID, "4"),
    "stl_fw": LineStyle(COLOURS[2], _DASHED, r"$\oplus$"),
    "one_peer_exponential": LineStyle(COLOURS[3], _DASHDOT, r"$\otimes$"),
    "base": LineStyle(COLOURS[4], _SOLID, r"$\bowtie$"),
    "multigraph": LineStyle(COLOURS[5], _DASHED, r"$\spadesuit$"),
    "hierarchical": LineStyle(COLOURS[2], _SHORT_LONG, r"$\diamondsuit$"),
    "best_periodic": LineStyle(COLOURS[4], (0.0, (6.0, 1.5, 1.0, 1.5, 1.0, 1.5)), r"$\boxplus$"),
    "equi_dyn": LineStyle(COLOURS[6], _DASHED, r"$\clubsuit$"),
    "epidemic": LineStyle(COLOURS[6], _DASHDOT, r"$\heartsuit$"),
}
_OTHER_DASHES = (_DOTTED, (0.0, (7.0, 1.5)), (0.0, (4.0, 1.2, 1.0, 1.2, 1.0, 1.2)), (0.0, (1.0, 2.5)))
_OTHER_MARKERS = ("+", "H", "x", "1", "8", "|", "2", ".", "_")
"""Neither is that of a kind above; the numbers of colours, dashes and markers have no common divisor."""


def styles_of(names: Sequence[str]) -> dict[str, LineStyle]:
    """The style of each overlay of a run.

    Parameters
    ----------
    names : sequence of str
        Of all overlays of the run, in its order, so that every figure of it shows an overlay alike.

    Returns
    -------
    dict of str to LineStyle
        The kinds that come with the package look the same in every figure. All others, such as overlays that a user
        has named, differ by their place among the others: 252 of them in colour, dashes or marker.
    """
    others = [name for name in names if name not in _STYLES]
    return {name: _STYLES[name] if name in _STYLES else _other(others.index(name)) for name in names}


def _other(place: int) -> LineStyle:
    """Style of an overlay that has none by its name."""
    return LineStyle(
        COLOURS[place % len(COLOURS)],
        _OTHER_DASHES[place % len(_OTHER_DASHES)],
        _OTHER_MARKERS[place % len(_OTHER_MARKERS)],
    )
