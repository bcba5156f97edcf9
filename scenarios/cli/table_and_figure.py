"""A table and a figure of it, written under one name."""

import re
from collections.abc import Callable
from pathlib import Path

from scenarios.report.figure_formats import FIGURES
from scenarios.report.table_formats import format_of, write_tables
from scenarios.report.tables import Table
from scenarios.runfile.paths import check_new

HELP = (
    "Table and figure: NAME for NAME.csv and NAME.png; a table's ending (.csv, .json, .txt) or a figure's (.png, .svg, "
    ".pdf) stands in place of that one."
)
_ENDING = re.compile(r"\.[a-z]\w*")
"""Of a file; a name with a number, such as ``sweep-1.5``, has none."""


def table_and_figure(path: Path, *, force: bool) -> list[Path]:
    """The table and the figure to write for what the user called the output.

    Raises
    ------
    InputError
        If the ending is unknown, or one of the files cannot be written or exists and `force` is not given.
    """
    ending = path.suffix.lower()
    if ending in FIGURES:
        files = [path.with_suffix(".csv"), path]
    elif _ENDING.fullmatch(ending):
        format_of(path, others=FIGURES, rule=", or have no ending")
        files = [path, path.with_suffix(".png")]
    else:
        files = [path.parent / (path.name and path.name + ending) for ending in (".csv", ".png")]
    for file in files:
        check_new(file, force=force)
    return files


def write_both(files: list[Path], table: Table, plot: Callable[[Path], None]) -> None:
    """Write the files of `table_and_figure`, the figure by `plot`."""
    for file in files:
        if file.suffix.lower() in FIGURES:
            plot(file)
        else:
            write_tables(file, [table])
