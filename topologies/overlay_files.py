"""Overlays and mixing matrices from files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, InputError, quoted, unknown_name
from topologies.given_arcs import ROUNDED, silo_index, weighted_arcs
from topologies.networks.attributes import Graph, link_ends, node_labels
from topologies.networks.csv_table import Table, parse_number, read_table
from topologies.networks.files import read_file
from topologies.networks.gml import parse_gml
from topologies.networks.graphml import parse_graphml
from topologies.networks.stated_network import link_title
from topologies.networks.table_columns import MISSING, Role, find_columns, missing_column

_ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "from": Role(title="sender", names=(("from", "source", "src", "a"),)),
        "to": Role(title="receiver", names=(("to", "target", "dst", "destination", "b"),)),
        "weight": Role(title="weight", names=(("weight", "w"),)),
    }
)
_GRAPHS: Mapping[str, Callable[[bytes], Graph]] = MappingProxyType(
    {".gml": parse_gml, ".graphml": parse_graphml}
)


def read_overlay(
    path: Path, labels: Sequence[str], *, both_ways: bool = False
) -> tuple[IntArray, FloatArray | None]:
    """Arcs of a file, and their weights where it states them.

    Parameters
    ----------
    path : Path
        CSV with the columns from, to and perhaps weight (or usual other names); GML or GraphML, whose links are arcs,
        in both directions where the graph is not directed, and whose links may state ``weight``. A silo is named by its
        label, else by its number from 0 in the order of `labels`. The weight is that which the receiver gives the
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
    data = read_file(path, source)
    if suffix in _GRAPHS:
        try:
            return _of_graph(_GRAPHS[suffix](data), labels, both_ways=both_ways)
        except InputError as error:
            raise error.located(source) from None
    if suffix not in (".csv", ".tsv", ".txt"):
        raise unknown_name("ending", suffix, (".csv", *_GRAPHS), source=source)
    table = read_table(data, source)
    found, _ = find_columns(table, _ROLES)
    for key, purpose in (("from", "the sender"), ("to", "the receiver")):
        if key not in found:
            raise missing_column(table, _ROLES[key], purpose)
    arcs = _Arcs(labels, both_ways=both_ways)
    for row, number in enumerate(table.row_numbers):
        ends = []
        for key in ("from", "to"):
            column = found[key]
            ends.append(_silo(table, row, column.header, table.rows[row][column.index], labels))
        weight = None
        if "weight" in found:
            column = found["weight"]
            weight = _number(table, row, column.header, table.rows[row][column.index])
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
    arcs = _Arcs(labels, both_ways=both_ways or undirected)
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


class _Arcs:
    """Gathers arcs, each once, with their places in the file."""

    def __init__(self, labels: Sequence[str], *, both_ways: bool) -> None:
        self._labels, self._both_ways = labels, both_ways
        self._found: dict[tuple[int, int], tuple[str, float | None]] = {}

    def add(self, i: int, j: int, weight: float | None, place: str, source: str | None) -> None:
        """Add an arc, or both directions of it."""
        if i == j and weight is None:
            raise InputError(
                f"{place}: an arc must join two silos, not {self._labels[i]} with itself.", source=source
            )
        if weight is not None and not np.isfinite(weight):
            raise InputError("must be finite.", field=Field(f"{place}, weight", value=weight), source=source)
        for pair in ((i, j), (j, i)) if self._both_ways and i != j else ((i, j),):
            if pair in self._found:
                name = f"{self._labels[pair[0]]} -> {self._labels[pair[1]]}"
                both = " in both directions" if self._both_ways else ""
                raise InputError(
                    f"{place}: the arc {name} must not be repeated; {self._found[pair][0]} states it{both}.",
                    source=source,
                )
            self._found[pair] = place, weight

    def made(self, source: str | None) -> tuple[IntArray, FloatArray | None]:
        """Sorted arcs, and their weights."""
        pairs = np.array(sorted(self._found), dtype=np.int64).reshape(-1, 2)
        weights = [self._found[i, j][1] for i, j in pairs.tolist()]
        stated = [weight for weight in weights if weight is not None]
        if not stated:
            return pairs, None
        if len(stated) < len(weights):
            place = next(place for place, weight in self._found.values() if weight is None)
            raise InputError(f"{place} must state a weight, as others do.", source=source)
        try:
            return weighted_arcs(pairs, stated, self._labels)
        except InputError as error:
            raise error.located(source) from None


def _silo(table: Table, row: int, column: str, text: str, labels: Sequence[str]) -> int:
    """Index of the silo that a cell names."""
    try:
        return silo_index(text, labels)
    except InputError as error:
        raise table.error(row, column, text, error.rule) from None


def _number(table: Table, row: int, column: str, text: str) -> float | None:
    """Number in a cell, None where it is empty."""
    if text.lower() in MISSING:
        return None
    try:
        return parse_number(text, decimal_comma=table.decimal_comma)
    except InputError as error:
        raise table.error(row, column, text, error.rule) from None


def read_matrix(path: Path, labels: Sequence[str]) -> FloatArray:
    """Mixing matrix of a file.

    Parameters
    ----------
    path : Path
        ``.npy``, or text: a row for each silo that averages, with its weights, separated by commas, semicolons, tabs or
        blanks. With labels in the first row and column silos may stand in any order; without, and in ``.npy``, they are
        in the order of `labels`. An empty cell is 0.
    labels : sequence of str, (silos,)

    Returns
    -------
    ndarray, shape (silos, silos)
        In the order of `labels`. Rows that sum to 1 within 1e-6 sum to 1: what is left is in the own weight.

    Raises
    ------
    InputError
        If the file cannot be read, has another shape, names an unknown silo, or holds what is no number.
    """
    source, silos = str(path), len(labels)
    if path.suffix.lower() == ".npy":
        matrix = _numpy_matrix(path, source)
    else:
        matrix = _text_matrix(read_file(path, source), source, labels)
    if matrix.shape != (silos, silos):
        shape = " x ".join(map(str, matrix.shape))
        raise InputError(
            f"has {shape} weights, must have {silos} x {silos}: one for each pair of silos.", source=source
        )
    rest = 1 - matrix.sum(axis=1)
    small = (np.abs(rest) <= ROUNDED) & (np.abs(rest) > 1e-12)
    matrix[small, small] += rest[small]
    return matrix


def _numpy_matrix(path: Path, source: str) -> FloatArray:
    """Matrix of a file of NumPy's."""
    try:
        with path.open("rb") as file:
            matrix = np.lib.format.read_array(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError("there is no such file.", source=source) from None
    except (OSError, ValueError, EOFError):
        raise InputError("is not a .npy file of numbers.", source=source) from None
    if matrix.dtype.kind not in "biuf":
        raise InputError("must hold one array of numbers.", source=source)
    return matrix.astype(np.float64)


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
    table = read_table(data, source)
    numbers = [_is_number(cell, table) for cell in table.header]
    if all(numbers):
        header = [parse_number(cell, decimal_comma=table.decimal_comma) for cell in table.header]
        rows = [
            [_number(table, row, f"column {column + 1}", cell) or 0.0 for column, cell in enumerate(cells)]
            for row, cells in enumerate(table.rows)
        ]
        return np.array([header, *rows])
    columns = [_label(cell, labels, f"the header's silo {quoted(cell)}", source) for cell in table.header[1:]]
    matrix = np.zeros((len(labels), len(labels)))
    seen: set[int] = set()
    for row, (first, *cells) in enumerate(table.rows):
        silo = _silo(table, row, table.header[0] or "silo", first, labels)
        if silo in seen:
            raise table.error(row, table.header[0] or "silo", first, "must not be repeated.")
        seen.add(silo)
        for column, cell in zip(columns, cells, strict=True):
            matrix[silo, column] = _number(table, row, labels[column], cell) or 0.0
    if len(set(columns)) < len(columns):
        raise InputError("must name each silo once in its header.", source=source)
    for have, what in ((seen, "row"), (set(columns), "column")):
        missing = [label for i, label in enumerate(labels) if i not in have]
        if missing:
            raise InputError(
                f"must have a {what} for each silo; {quoted(missing[0])} has none.", source=source
            )
    return matrix


def _is_number(cell: str, table: Table) -> bool:
    """Whether a cell is a number."""
    try:
        parse_number(cell, decimal_comma=table.decimal_comma)
    except InputError:
        return False
    return True


def _label(cell: str, labels: Sequence[str], what: str, source: str) -> int:
    """Index of a silo in the header."""
    try:
        return silo_index(cell, labels)
    except InputError as error:
        raise InputError(f"{what} {error.rule}", source=source) from None
