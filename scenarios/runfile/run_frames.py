"""Tables of a run as DataFrames."""

from typing import TYPE_CHECKING

import h5py
import numpy as np

from scenarios.runfile.run_tables import TABLES, Kind, RunPart

if TYPE_CHECKING:
    import pandas

_DTYPES: dict[Kind, str] = {"text": "string", "integer": "int64", "number": "float64", "flag": "bool"}


def run_frame(file: h5py.File, name: str, part: RunPart) -> "pandas.DataFrame":
    """One of `TABLES` of a part of a run.

    Parameters
    ----------
    file : h5py.File
        Of the run.
    name : str
        Of the table.
    part : RunPart

    Returns
    -------
    DataFrame

    Notes
    -----
    8 bytes for each row and column, twice that while it is made; time O(rows).
    """
    # Here since pandas takes long to import.
    import pandas

    columns = TABLES[name].columns(file)
    pieces = [piece.columns for piece in TABLES[name].pieces(file, part)]
    frame = {}
    for column, kind in columns.items():
        values = [piece[column] for piece in pieces]
        frame[column] = pandas.Series(np.concatenate(values) if values else [], dtype=_DTYPES[kind])
    return pandas.DataFrame(frame)
