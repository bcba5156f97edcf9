"""Parts that figures share: panels with a grid, titles, legends, line styles, and the file that is written."""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from matplotlib import rc_context, rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scenarios.report.figure_style import DPI, GRID, SAVED, TITLE_PT, FigureStyle
from scenarios.report.line_styles import LineStyle
from scenarios.report.missing_letters import lend_fonts, missing_letters, warn_of_boxes
from scenarios.runfile.paths import write_whole, writing
from topologies.wrapping import unbroken, wrapped

LEGEND_LINE_IN = 0.22
LEGEND_LETTERS, LEGEND_MARGIN = 84, 7
"""Letters that a line of the legend below has room for; those that line and gap beside a name take."""
_THIN_PT = 0.7
_MARKERS = 0.15
"""Length between two markers on a line, in parts of the panel's diagonal."""
_LETTER_IN, _NARROW_LETTER_IN = 0.0083, 0.0074
"""Width of a letter of the title in inches per point, with a margin; with less of one in a narrow figure."""
_NO_DATE = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def set_title(figure: Figure, title: str, style: FigureStyle) -> None:
    """Title above the panels, broken where the figure ends; dollars in it are no formulas."""
    # matplotlib takes what is between two dollars for a formula where it breaks lines, and leaves no margin.
    breaks = "$" not in title and not style.is_narrow
    if not breaks:
        letter_in = _NARROW_LETTER_IN if style.is_narrow else _LETTER_IN
        letters = int(style.width_in / (letter_in * style.pt(TITLE_PT)))
        title = "\n".join(line for long in title.splitlines() for line in wrapped(long, letters) or [""])
    figure.suptitle(unbroken(title), fontsize=style.pt(TITLE_PT), parse_math=False, wrap=breaks)


def add_legend(figure: Figure, lines: Sequence[Artist], names: Sequence[str], **options: Any) -> None:
    """Legend with names as they are: neither formulas between dollars, nor left out after an underscore."""
    legend = figure.legend(lines, ["name"] * len(names), **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def line_options(style: LineStyle) -> dict[str, Any]:
    """Style of an overlay's line, for matplotlib."""
    return {"color": style.colour, "linestyle": style.dashes, "marker": style.marker}


def thin(style: FigureStyle) -> dict[str, Any]:
    """Style of the lines of `paper`."""
    return {"linewidth": style.scaled(_THIN_PT)}


def curve_options(kind: LineStyle, style: FigureStyle, points: int) -> dict[str, Any]:
    """Style of an overlay's curve of so many points over rounds or time, for matplotlib."""
    # A single point would have no marker where markers have a distance, and it has no line either.
    return line_options(kind) | {
        "linewidth": style.scaled(1.4),
        "markersize": style.scaled(4),
        "markevery": None if points == 1 else _MARKERS,
    }


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
    rows: int,
    columns: int,
    *,
    height_in: float,
    style: FigureStyle,
    sharex: Literal["col"] | bool = "col",
    sharey: Literal["row"] | bool = False,
) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    """Figure with a light grid on every axis; the height is that at the default width."""
    figure = Figure(figsize=(style.width_in, style.scaled(height_in)), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(
        rows, columns, squeeze=False, sharex=sharex if rows > 1 else False, sharey=sharey
    )
    for axis in axes.flat:
        axis.grid(visible=True, which="both", color=GRID["color"], linewidth=style.scaled(GRID["linewidth"]))
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
    One figure is the same bytes whenever it is drawn with the same fonts. Letters that its font lacks are those of an
    installed one, else boxes, of which a `NoteWarning` tells.
    """
    with writing(path), rc_context(SAVED):
        drawn, missing = _drawn(figure, path)
        if missing and lend_fonts(figure, missing):
            drawn, missing = _drawn(figure, path)
    write_whole(path, drawn, force=True)
    if missing:
        warn_of_boxes(figure, missing, path)


def _drawn(figure: Figure, path: Path) -> tuple[bytes, set[str]]:
    """A figure's file, and the letters that its fonts lack; of texts that stay texts, none, as readers have fonts."""
    ending, drawn = path.suffix.lower(), io.BytesIO()
    with warnings.catch_warnings():
        # It says so of each letter, with a line of this file.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(drawn, format=ending.removeprefix(".") or None, dpi=DPI, metadata=_NO_DATE.get(ending))
    stay_texts = ending == ".svg" and rcParams["svg.fonttype"] == "none"
    return drawn.getvalue(), set() if stay_texts else missing_letters(figure)
