"""Tables of a run as CSV or Parquet, written piece by piece."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scenarios.runfile.run_tables import Kind

CSV, PARQUET = "csv", "parquet"
FORMATS = (CSV, PARQUET)


class TableFile(Protocol):
    """A file that is being written."""

    def write(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add rows."""

    def close(self) -> None:
        """End the file."""


class CsvFile:
    """CSV in UTF-8 with a head: numbers by their shortest text that reads back as the same, nothing for missing ones.

    Parameters
    ----------
    path : Path
    columns : mapping from str to Kind
    """

    def __init__(self, path: Path, columns: Mapping[str, Kind]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._columns = columns
        self._writer.writerow(columns)

    def write(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add rows; time O(cells)."""
        cells = [_cells(columns[name]) for name in self._columns]
        self._writer.writerows(zip(*cells, strict=True))

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _cells(column: NDArray[Any]) -> list[Any]:
    """Values of a column as Python's; None for NaN, for which CSV has no text."""
    values: list[Any] = column.tolist()
    if column.dtype.kind == "f" and np.isnan(column).any():
        return [None if value != value else value for value in values]
    return values


class ParquetFile:
    """Parquet, one row group for each piece.

    Parameters
    ----------
    path : Path
    columns : mapping from str to Kind
    """

    def __init__(self, path: Path, columns: Mapping[str, Kind]) -> None:
        import pyarrow
        from pyarrow import parquet

        types = {
            "text": pyarrow.string(),
            "integer": pyarrow.int64(),
            "number": pyarrow.float64(),
            "flag": pyarrow.bool_(),
        }
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._writer = parquet.ParquetWriter(path, self._schema)

    def write(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add rows."""
        import pyarrow

        arrays = [pyarrow.array(columns[field.name], field.type, from_pandas=True) for field in self._schema]
        self._writer.write_table(pyarrow.table(arrays, self._schema))

    def close(self) -> None:
        """End the file."""
        self._writer.close()


def open_table(path: Path, columns: Mapping[str, Kind]) -> TableFile:
    """Begin a table in the format of the path's ending."""
    return (ParquetFile if path.suffix == f".{PARQUET}" else CsvFile)(path, columns)
