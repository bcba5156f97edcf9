"""Arcs as the rows of a file state them, each once, with or without weights."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, InputError
from topologies.given_arcs import silo_index, weighted_arcs
from topologies.networks.csv_table import Table
from topologies.networks.labels import one_line
from topologies.networks.site_tables import FROM, TO
from topologies.networks.table_columns import Role

ARC_ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "from": FROM,
        "to": TO,
        "weight": Role(title="weight", names=(("weight", "w"), ("gewicht", "poids", "peso"))),
    }
)
"""Columns of a table of arcs."""


class StatedArcs:
    """Gathers arcs, each once, with their places in the file.

    Parameters
    ----------
    labels : sequence of str, (silos,)
    both_ways : bool
        Whether each stands for both directions.
    """

    def __init__(self, labels: Sequence[str], *, both_ways: bool = False) -> None:
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


def silo_of_cell(table: Table, row: int, column: str, text: str, labels: Sequence[str]) -> int:
    """Index of the silo that a cell names."""
    try:
        return silo_index(one_line(text), labels)
    except InputError as error:
        raise table.error(row, column, text, error.rule) from None
