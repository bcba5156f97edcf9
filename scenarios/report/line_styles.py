"""Colour, dashes and marker of each kind of overlay, the same in every figure."""

from dataclasses import dataclass

# Okabe and Ito's palette, told apart by colour-blind readers; dashes and markers tell lines apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_SOLID, _DASHED, _DASHDOT, _DOTTED = "-", "--", "-.", ":"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How the line of an overlay looks.

    Attributes
    ----------
    colour, dashes, marker : str
        As matplotlib names them.
    """

    colour: str
    dashes: str
    marker: str


_STYLES = {
    "star": LineStyle(COLOURS[0], _SOLID, "*"),
    "mst": LineStyle(COLOURS[1], _DASHED, "^"),
    "delta_mbst": LineStyle(COLOURS[2], _DASHDOT, "v"),
    "ring": LineStyle(COLOURS[3], _SOLID, "o"),
    "christofides": LineStyle(COLOURS[4], _DASHED, "s"),
    "underlay": LineStyle(COLOURS[5], _DASHDOT, "D"),
    "complete": LineStyle(COLOURS[6], _SOLID, "X"),
    "best": LineStyle(COLOURS[0], _DASHED, "P"),
    "matcha": LineStyle(COLOURS[1], _DASHDOT, "<"),
    "matcha_plus": LineStyle(COLOURS[2], _SOLID, ">"),
    "matcha_ring": LineStyle(COLOURS[3], _DASHED, "p"),
    "matcha_delta_mbst": LineStyle(COLOURS[4], _DASHDOT, "h"),
    "random_ring": LineStyle(COLOURS[5], _SOLID, "d"),
}
_OTHER = LineStyle("#777777", _DOTTED, ".")


def style_of(kind: str) -> LineStyle:
    """The style of a kind of overlay; of one that does not come with the package a grey dotted line.

    Parameters
    ----------
    kind : str

    Returns
    -------
    LineStyle
    """
    return _STYLES.get(kind, _OTHER)
