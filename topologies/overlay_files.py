"""Overlays and mixing matrices from files."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from types import MappingProxyType
from typing import Any

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, InputError, quoted, unknown_name
from topologies.given_arcs import silo_index
from topologies.input_limits import MOST_PAIRS_BYTES
from topologies.networks.attributes import Graph, link_ends, node_labels
from topologies.networks.csv_table import Table, parse_number, read_table
from topologies.networks.files import read_file
from topologies.networks.gml import parse_gml
from topologies.networks.graphml import parse_graphml
from topologies.networks.labels import one_line
from topologies.networks.stated_network import link_title
from topologies.networks.table_columns import MISSING, find_columns, missing_column, plain_number
from topologies.plain_text import UTF_16
from topologies.stated_arcs import ARC_ROLES, StatedArcs, silo_of_cell

_EMPTY = frozenset({"", "-", "–", "—"})
"""Cells of a mixing matrix that are 0. A number that went wrong, which programs write as NaN, is none of them."""
_GRAPHS: Mapping[str, Callable[[bytes], Graph]] = MappingProxyType(
    {".gml": parse_gml, ".graphml": parse_graphml}
)
_NUMPY_HEADERS: Mapping[tuple[int, int], Callable[[BytesIO], tuple[tuple[int, ...], bool, np.dtype[Any]]]] = (
    MappingProxyType(
        {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    )
)
"""By version of the format; later ones are of arrays with named columns."""
_OF_PYTHON_2 = "Reading `.npy`"
"""Begin of NumPy's advice on files that Python 2 wrote, which are read as well."""
_NOT_NUMPY = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    MemoryError,
    RecursionError,
    TokenError,
)
"""What NumPy raises for a file that is none of its own, or one cut short: its header is Python's source."""


def read_overlay(
    path: Path, labels: Sequence[str], *, both_ways: bool = False
) -> tuple[IntArray, FloatArray | None]:
    """Arcs of a file, and their weights where it states them.

    Parameters
    ----------
    path : Path
        CSV with the columns from, to and perhaps weight (or usual other names); GML or GraphML, whose links are arcs,
        in both directions where the graph is not directed, and whose links may state ``weight``. A silo is named by its
        label, else by its number from 0 in the order of `labels`; where a label is a number itself, by label only. The
        weight is that which the receiver gives the
        sender's model; a row from a silo to itself states that of its own model, else it is what the others leave of 1.
    labels : sequence of str, (silos,)
    both_ways : bool
        Whether each row stands for both directions.

    Returns
    -------
    pairs : ndarray of int, shape (arcs, 2)
        Source and target, sorted.
    weights : ndarray, shape (silos, silos), or None
        Row: who averages.

    Raises
    ------
    InputError
        If the file cannot be read, names an unknown silo, repeats an arc, or states a weight that is no number or for
        some arcs only: one line with file, row, value and rule.
    """
    source = str(path)
    suffix = path.suffix.lower()
    data = read_file(path, source, most_bytes=MOST_PAIRS_BYTES)
    if suffix in _GRAPHS:
        try:
            return _of_graph(_GRAPHS[suffix](data), labels, both_ways=both_ways)
        except InputError as error:
            raise error.located(source) from None
    if suffix not in (".csv", ".tsv", ".txt"):
        raise unknown_name("ending", suffix, (".csv", *_GRAPHS), source=source)
    table = read_table(data, source)
    found, _ = find_columns(table, ARC_ROLES)
    for key, purpose in (("from", "the sender"), ("to", "the receiver")):
        if key not in found:
            raise missing_column(table, ARC_ROLES[key], purpose)
    arcs = StatedArcs(labels, both_ways=both_ways)
    for row, number in enumerate(table.row_numbers):
        ends = []
        for key in ("from", "to"):
            column = found[key]
            ends.append(silo_of_cell(table, row, column.header, table.rows[row][column.index], labels))
        weight = None
        if "weight" in found:
            column = found["weight"]
            weight = plain_number(table, row, column.header, table.rows[row][column.index])
        arcs.add(ends[0], ends[1], weight, f"row {number}", source)
    return arcs.made(source)


def _of_graph(graph: Graph, labels: Sequence[str], *, both_ways: bool) -> tuple[IntArray, FloatArray | None]:
    """Arcs of the links of a graph."""
    names = node_labels(graph)
    silos = [silo_index(name, labels) for name in names]
    for silo in set(silos):
        if silos.count(silo) > 1:
            raise InputError(f"{quoted(labels[silo])} must be one node, is {silos.count(silo)}.")
    undirected = str(graph.directed).lower() in ("0", "false")
    arcs = StatedArcs(labels, both_ways=both_ways or undirected)
    for i, ((a, b), link) in enumerate(zip(link_ends(graph), graph.links, strict=True)):
        title, stated = link_title(i, names[a], names[b]), link.get("weight")
        weight = None
        if stated is not None:
            try:
                weight = float(str(stated))
            except ValueError:
                raise InputError(f"{title}: weight(={quoted(stated)}) must be a number.") from None
        arcs.add(silos[a], silos[b], weight, title, None)
    return arcs.made(None)


def read_matrix(path: Path, labels: Sequence[str]) -> FloatArray:
    """Mixing matrix of a file.

    Parameters
    ----------
    path : Path
        ``.npy``, or text: a row for each silo that averages, with its weights, separated by commas, semicolons, tabs or
        blanks. With labels in the first row and column silos may stand in any order; without, and in ``.npy``, they are
        in the order of `labels`. An empty cell or a dash is 0, but there must be one for each silo; unlike in tables of
        what was measured, ``NaN`` and the like are errors.
    labels : sequence of str, (silos,)

    Returns
    -------
    ndarray, shape (silos, silos)
        In the order of `labels`, as the file has them: `topologies.given_arcs.mixing_arcs` checks the rows.

    Raises
    ------
    InputError
        If the file cannot be read, has another shape, names an unknown silo, or holds what is no number.
    """
    source, silos = str(path), len(labels)
    data = read_file(path, source, most_bytes=MOST_PAIRS_BYTES)
    if path.suffix.lower() == ".npy":
        return _numpy_matrix(data, source, silos)
    matrix = _text_matrix(data, source, labels)
    _check_shape(matrix.shape, silos, source)
    return matrix


def _check_shape(shape: tuple[int, ...], silos: int, source: str) -> None:
    """Raise an error unless there is a weight for each pair of silos."""
    if shape != (silos, silos):
        have = f"{' x '.join(map(str, shape))} weights" if shape else "a single number"
        raise InputError(
            f"has {have}, must have {silos} x {silos}: one for each pair of silos.", source=source
        )


def _numpy_matrix(data: bytes, source: str, silos: int) -> FloatArray:
    """Matrix of a file of NumPy's; its header is checked before memory is asked for."""
    file = BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read_header = _NUMPY_HEADERS[version]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_OF_PYTHON_2)
            shape, _, dtype = read_header(file)
    except _NOT_NUMPY:
        raise InputError("is not a .npy file of numbers.", source=source) from None
    if dtype.kind not in "biuf":
        raise InputError("must hold one array of numbers.", source=source)
    _check_shape(shape, silos, source)
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_OF_PYTHON_2)
            return np.lib.format.read_array(file, allow_pickle=False).astype(np.float64)
    except _NOT_NUMPY:
        raise InputError("is not a .npy file of numbers.", source=source) from None


def _text_matrix(data: bytes, source: str, labels: Sequence[str]) -> FloatArray:
    """Matrix of a text, with or without labels."""
    lines = [line.split() for line in data.decode("utf-8-sig", errors="replace").splitlines() if line.strip()]
    if lines and not any(mark in word for words in lines for word in words for mark in ",;"):
        # As NumPy's savetxt writes it.
        try:
            rows = [[float(word) for word in words] for words in lines]
        except ValueError:
            rows = []
        if rows and len({len(row) for row in rows}) == 1:
            return np.array(rows)
    table = read_table(_filled(data, len(labels)), source)
    if all(cell and _is_weight(cell, decimal_comma=table.decimal_comma) for cell in table.header):
        rows = [
            [_weight(table, row, f"column {column + 1}", cell) for column, cell in enumerate(cells)]
            for row, cells in ((None, table.header), *enumerate(table.rows))
        ]
        return np.array(rows)
    columns = [_label(cell, labels, f"the header's silo {quoted(cell)}", source) for cell in table.header[1:]]
    matrix = np.zeros((len(labels), len(labels)))
    seen: set[int] = set()
    for row, (first, *cells) in enumerate(table.rows):
        silo = silo_of_cell(table, row, table.header[0] or "silo", first, labels)
        if silo in seen:
            raise table.error(row, table.header[0] or "silo", first, "must not be repeated.")
        seen.add(silo)
        for column, cell in zip(columns, cells, strict=True):
            matrix[silo, column] = _weight(table, row, labels[column], cell)
    if len(set(columns)) < len(columns):
        raise InputError("must name each silo once in its header.", source=source)
    for have, what in ((seen, "row"), (set(columns), "column")):
        missing = [label for i, label in enumerate(labels) if i not in have]
        if missing:
            raise InputError(
                f"must have a {what} for each silo; {quoted(missing[0])} has none.", source=source
            )
    return matrix


def _filled(data: bytes, silos: int) -> bytes:
    """A table whose first row, if it is one of weights without labels, has zeros in its empty cells.

    To a table it is a row of names, which ends with the last one.
    """
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        return data
    before, first, rest = _first_row(text)
    mark = next((mark for mark in "\t;," if mark in first), ",")
    cells = [cell.strip() for cell in first.split(mark)]
    while len(cells) > silos and not cells[-1]:
        cells.pop()
    stated = [cell for cell in cells if cell]
    if len(cells) != silos or not all(_is_weight(cell, decimal_comma=mark != ",") for cell in stated):
        return data
    return f"{before}{mark.join(cell or '0' for cell in cells)}{rest}".encode()


def _first_row(text: str) -> tuple[str, str, str]:
    """Text before the first row that is not blank, the row, and the text from its end on."""
    start = 0
    for line in text.splitlines(keepends=True):
        row = line.rstrip("\r\n")
        if row.strip(" ,;\t") and not (start == 0 and re.fullmatch(r"sep=.", row, re.IGNORECASE)):
            return text[:start], row, text[start + len(row) :]
        start += len(line)
    return text, "", ""


def _is_weight(cell: str, *, decimal_comma: bool) -> bool:
    """Whether a cell is meant as a weight, and not as a label: a number, or a word for none."""
    try:
        parse_number(cell, decimal_comma=decimal_comma)
    except InputError:
        return cell.lower() in MISSING
    return True


def _weight(table: Table, row: int | None, column: str, text: str) -> float:
    """Weight in a cell of a mixing matrix, 0 where it is empty; the row None is the table's header."""
    if text in _EMPTY:
        return 0.0
    rule = "must be finite; where there is no weight, the cell is empty or 0."
    try:
        value = np.nan if text.lower() in MISSING else parse_number(text, decimal_comma=table.decimal_comma)
    except InputError as error:
        value, rule = np.nan, error.rule
    if np.isfinite(value):
        return value
    if row is None:
        raise InputError(rule, field=Field(f"first row, {column}", value=text), source=table.source)
    raise table.error(row, column, text, rule)


def _label(cell: str, labels: Sequence[str], what: str, source: str) -> int:
    """Index of a silo in the header."""
    try:
        return silo_index(one_line(cell), labels)
    except InputError as error:
        raise InputError(f"{what} {error.rule}", source=source) from None
