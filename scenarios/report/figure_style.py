"""Sizes of all figures: fonts, lines and heights for a width, from a column of a paper to a slide."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topologies import InputError
from topologies.errors import Field

WIDTH_IN = 7.0
"""Of a figure unless another one is asked for."""
DPI = 200
"""Of pictures in PNG."""
TEXT_PT, TITLE_PT, PANEL_TITLE_PT, LEGEND_PT, SMALL_PT, NOTE_PT = 10.0, 10.0, 9.0, 8.0, 7.5, 6.5
"""Sizes of fonts at `WIDTH_IN`: of labels and ticks, titles, titles of panels, legends, and what is below a map."""
LEAST_PT = 6.0
"""No font is smaller: it is what journals ask for at least."""
GRID: Mapping[str, Any] = {"color": "0.9", "linewidth": 0.6}
SAVED: Any = {"pdf.fonttype": 42, "svg.hashsalt": "silosim"}
"""Settings of files: type 42 fonts, which publishers take (matplotlib's default type 3 some refuse), and names in an
SVG that are the same whenever it is drawn."""
_NARROW_IN = 5.5
_LEAST_IN, _MOST_IN = 3.0, 40.0
_INCHES = {"in": 1.0, "inch": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)\s*")
_SCALED: Mapping[str, float] = {
    "font.size": 10.0,
    "lines.linewidth": 1.5,
    "lines.markersize": 6.0,
    "axes.linewidth": 0.8,
    "axes.labelpad": 4.0,
    "axes.titlepad": 6.0,
    "patch.linewidth": 1.0,
    **{
        f"{axis}tick.{name}": value
        for axis in "xy"
        for name, value in (
            ("major.size", 3.5),
            ("minor.size", 2.0),
            ("major.width", 0.8),
            ("minor.width", 0.6),
            ("major.pad", 3.5),
            ("minor.pad", 3.4),
        )
    },
}
"""Matplotlib's own sizes, in points."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureStyle:
    """What follows from the width of a figure.

    Parameters
    ----------
    width_in : float
        In inches.
    reference_in : float
        The width at which nothing is scaled; maps and partitions have one of their own.

    Notes
    -----
    A figure that is wider than its reference is the one of that width, magnified. A narrower one has smaller fonts and
    lines, by the root of its width, so that they are still read, but fewer ticks and shorter lines of text, and below
    `_NARROW_IN` panels and legends below each other.
    """

    width_in: float = WIDTH_IN
    reference_in: float = WIDTH_IN

    @property
    def factor(self) -> float:
        """By what fonts, lines and heights are multiplied."""
        share = self.width_in / self.reference_in
        return share if share >= 1 else float(share**0.5)

    @property
    def room(self) -> float:
        """Letters side by side, in parts of those at the reference."""
        return self.width_in / self.reference_in / self.factor

    @property
    def is_narrow(self) -> bool:
        """Whether panels stand below each other, and legends below them."""
        return self.width_in < _NARROW_IN

    def pt(self, size: float) -> float:
        """Size of a font that is `size` at the reference."""
        return max(LEAST_PT, size * self.factor) if self.factor < 1 else size * self.factor

    def scaled(self, length: float) -> float:
        """A height in inches, or the width of a line or a marker in points."""
        return length * self.factor

    def letters(self, count: int) -> int:
        """Letters that have room where at the reference so many have."""
        return int(count * self.room)

    def ticks(self, count: int) -> int:
        """Ticks that have room where at the reference so many have."""
        return max(2, round(count * self.room))

    def rc(self) -> Any:
        """Settings of matplotlib, by name, while the figure is made and written."""
        if self.factor == 1:
            return {}
        return {
            name: self.pt(size) if name == "font.size" else self.scaled(size)
            for name, size in _SCALED.items()
        }


DEFAULT_STYLE = FigureStyle()


def figure_style(width: str | None, *, draws: bool = True) -> FigureStyle | None:
    """Return the style for a width.

    Parameters
    ----------
    width : str, optional
        A length with its unit (in, cm, mm or pt), ``"3.5in"``; None for that which each kind of figure has.
    draws : bool
        Whether there will be a figure, with which alone a width goes.

    Returns
    -------
    FigureStyle or None
        None without a width.

    Raises
    ------
    InputError
        If it is no length, or not between 3 and 40 inches: below, ticks and legends have no room.

    Examples
    --------
    >>> figure_style("8.89 cm").width_in
    3.5
    """
    if width is None:
        return None
    field = Field("width", value=width)
    if not draws:
        raise InputError("goes with a figure, and none is drawn.", field=field)
    matched = _LENGTH.fullmatch(width)
    if not matched or matched[2] not in _INCHES:
        raise InputError(f"must be a length in {', '.join(_INCHES)}, for instance '3.5in'.", field=field)
    inches = float(matched[1]) * _INCHES[matched[2]]
    if not _LEAST_IN <= inches <= _MOST_IN:
        raise InputError(f"must be at least {_LEAST_IN:g} in and at most {_MOST_IN:g} in.", field=field)
    return FigureStyle(width_in=inches)
