"""Parts that figures share: panels with a grid, titles, legends, line styles, and the file that is written."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scenarios.report.line_styles import LineStyle
from scenarios.runfile.paths import write_whole, writing
from topologies.wrapping import wrapped

WIDTH_IN = 7.0
LEGEND_LINE_IN = 0.22
LEGEND_LETTERS, LEGEND_MARGIN = 84, 7
"""Letters that a line of the legend below has room for; those that line and gap beside a name take."""
THIN: dict[str, Any] = {"linewidth": 0.7}
"""Of the lines of `paper`."""
_TITLE_LETTERS = 84
"""Letters that a line of the title has room for."""
_NO_DATE = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def set_title(figure: Figure, title: str) -> None:
    """Title above the panels, broken where the figure ends; dollars in it are no formulas."""
    breaks = "$" not in title  # matplotlib takes what is between two for a formula where it breaks lines
    if not breaks:
        title = "\n".join(
            line for long in title.splitlines() for line in wrapped(long, _TITLE_LETTERS) or [""]
        )
    figure.suptitle(title, fontsize=10, parse_math=False, wrap=breaks)


def add_legend(figure: Figure, lines: Sequence[Artist], names: Sequence[str], **options: Any) -> None:
    """Legend with names as they are: neither formulas between dollars, nor left out after an underscore."""
    legend = figure.legend(lines, ["name"] * len(names), **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def line_options(style: LineStyle) -> dict[str, Any]:
    """Style of an overlay's line, for matplotlib."""
    return {"color": style.colour, "linestyle": style.dashes, "marker": style.marker}


def legend_columns(
    longest: int, shown: int, *, room: float = LEGEND_LETTERS, handle: float = LEGEND_MARGIN
) -> int:
    """Columns of a legend below the panels: at most five, or as many as have room for the longest name.

    Parameters
    ----------
    longest : int
        Its letters.
    shown : int
        Entries.
    room, handle : float
        Letters that the legend, and the line and gap beside a name, have room for.
    """
    return balanced(shown, most=max(1, min(5, int(room // (longest + handle)))))


def balanced(entries: int, *, most: int) -> int:
    """Columns of a legend with as few lines as `most` columns have, and none of a single entry if that can be."""
    return -(-entries // -(-entries // most))


def panels_figure(
    rows: int, columns: int, *, height_in: float, sharey: Literal["row"] | bool = False
) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    """Figure with a light grid on every axis."""
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(
        rows, columns, squeeze=False, sharex="col" if rows > 1 else False, sharey=sharey
    )
    for axis in axes.flat:
        axis.grid(visible=True, which="both", color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure, with the folders that it needs; the format follows from the ending.

    Parameters
    ----------
    figure : Figure
    path : Path
        PNG, PDF or SVG; replaced if it exists, when the new one is complete.

    Raises
    ------
    InputError
        If the ending is another one, or the file cannot be written.

    Notes
    -----
    One figure is the same bytes whenever it is drawn.
    """
    ending = path.suffix.lower()
    # Type 42 fonts, which publishers take; matplotlib's default type 3 some refuse.
    with writing(path), rc_context({"pdf.fonttype": 42, "svg.hashsalt": "silosim"}):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=ending.removeprefix(".") or None, dpi=200, metadata=_NO_DATE.get(ending))
    write_whole(path, drawn.getvalue(), force=True)
