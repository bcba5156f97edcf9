"""A table and a figure of it, written under one name."""

from collections.abc import Callable
from pathlib import Path

from scenarios.report.figure_formats import FIGURES
from scenarios.report.table_formats import format_of, write_tables
from scenarios.report.tables import Table
from scenarios.runfile.paths import ending_of

HELP = (
    "Table and figure: NAME for NAME.csv and NAME.png; a table's ending (.csv, .json, .txt) or a figure's (.png, .svg, "
    ".pdf) stands in place of that one."
)


def table_and_figure(path: Path) -> list[Path]:
    """The table and the figure to write for what the user called the output.

    Parameters
    ----------
    path : Path
        NAME for NAME.csv and NAME.png; the ending of a table or a figure stands in place of that one.

    Raises
    ------
    InputError
        If the ending is another one.
    """
    ending = ending_of(path)
    if ending in FIGURES:
        files = [path.with_suffix(".csv"), path]
    elif ending:
        format_of(path, others=FIGURES, rule=", or have no ending")
        files = [path, path.with_suffix(".png")]
    else:
        files = [path.parent / (path.name and path.name + ending) for ending in (".csv", ".png")]
    return files


def write_both(files: list[Path], table: Table, plot: Callable[[Path], None]) -> None:
    """Write the files of `table_and_figure`, the figure by `plot`."""
    for file in files:
        if file.suffix.lower() in FIGURES:
            plot(file)
        else:
            write_tables(file, [table])
