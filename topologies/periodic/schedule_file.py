"""Files of periodic overlays: a row for each arc of each state."""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from topologies.errors import InputError, unknown_name
from topologies.networks.csv_table import Table, read_table
from topologies.networks.files import read_file
from topologies.networks.table_columns import (
    MISSING,
    Column,
    Role,
    find_columns,
    missing_column,
    plain_number,
)
from topologies.sizes import MOST_STATES
from topologies.state import State, state_of
from topologies.stated_arcs import ARC_ROLES, StatedArcs, silo_of_cell
from topologies.weights import local_degree

ENDINGS = (".csv", ".tsv", ".txt")
MOST_LAG = 10_000
"""Largest lag: so many models of a silo may have to be kept."""
_LONGEST = f" (a period has at most {MOST_STATES} states)"
_ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "state": Role(title="state", names=(("state",), ("phase", "slot"), ("zustand", "état", "estado"))),
        **ARC_ROLES,
        "lag": Role(title="lag", names=(("lag",), ("staleness", "age"))),
        "computes": Role(title="computes", names=(("computes",), ("computing",))),
    }
)
_PURPOSES = {"state": "the state's number", "from": "the sender", "to": "the receiver"}


def read_schedule(path: Path, labels: Sequence[str]) -> tuple[State, ...]:
    """States of a table of arcs.

    Parameters
    ----------
    path : Path
        CSV with the columns state, from, to, and perhaps lag, weight and computes (or usual other names), rows in any
        order.
        States are numbered from 0, without gaps; one without arcs is a row with its number and empty cells. A silo is
        named by its label, else by its number from 0 in the order of `labels`; where a label is a number itself, by
        label only. A lag that is not stated is 1. The weight is that which the receiver gives the sender's model; the
        weight of a silo's own model is what the others leave of 1, or stated by a row from the silo to itself, of lag
        1. Where no arc of a state has a weight, they are those of the local-degree rule among the arcs of that state,
        as of a static overlay. Silos compute in a state, unless its rows say 0 as computes.
    labels : sequence of str, (silos,)

    Returns
    -------
    tuple of State

    Raises
    ------
    InputError
        If the file cannot be read; names an unknown silo; repeats an arc in one state; states a lag below 1 or above
        `MOST_LAG`, or other than 1 of a silo's own model, a weight that is no finite number, for some arcs of a state
        only, or weights of a receiver that exceed 1; says of a state both that silos compute and that they do not;
        lacks a state below another one; numbers more than `MOST_STATES` of them; or has no arc in any state, of more
        than one silo. One line with file, row or state, value and rule.

    Notes
    -----
    Time O(rows), and O(silos^2) for each state with weights.
    """
    source = str(path)
    if path.suffix.lower() not in ENDINGS:
        raise unknown_name("ending", path.suffix.lower(), ENDINGS, source=source)
    table = read_table(read_file(path, source), source)
    found, _ = find_columns(table, _ROLES)
    for key, purpose in _PURPOSES.items():
        if key not in found:
            raise missing_column(table, _ROLES[key], purpose)
    arcs = _states(table, found, labels)
    missing = next((state for state in range(max(arcs) + 1) if state not in arcs), None)
    if missing is not None:
        raise InputError(
            f"state {missing} has no row, though state {max(arcs)} has; a state without arcs is a row with its number "
            "and empty cells.",
            source=source,
        )
    states = tuple(arcs[state].made(f"{source}, state {state}", labels) for state in range(len(arcs)))
    if len(labels) > 1 and not any(len(state.source) for state in states):
        raise InputError("must state an arc in some state.", source=source)
    return states


def schedule_text(states: Sequence[State], labels: Sequence[str]) -> str:
    """Table of the arcs of all states, which `read_schedule` reads as the same states.

    Parameters
    ----------
    states : sequence of State
    labels : sequence of str, (silos,)

    Returns
    -------
    str
        CSV with the columns state, from, to, lag and weight, and computes where silos do not compute in some state;
        weights with all their digits. State by state, arcs by sender, then receiver; of a state without arcs its number
        and empty cells.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    pauses = not all(state.computes for state in states)
    rows.writerow(("state", "from", "to", "lag", "weight", *(["computes"] if pauses else [])))
    for number, state in enumerate(states):
        computes = [int(state.computes)] if pauses else []
        if not len(state.source):
            rows.writerow((number, "", "", "", "", *computes))
        columns = (state.source, state.target, state.lag, state.weight)
        for i, j, lag, weight in zip(*(column.tolist() for column in columns), strict=True):
            rows.writerow((number, labels[i], labels[j], lag, repr(weight), *computes))
    return text.getvalue()


class _StateArcs:
    """Gathers the arcs of a state."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.arcs = StatedArcs(labels)
        self.lags: dict[tuple[int, int], int] = {}
        self.computes: int | None = None

    def made(self, source: str, labels: Sequence[str]) -> State:
        """The state."""
        pairs, weights = self.arcs.made(source)
        senders, receivers = pairs.T
        if weights is None:
            weights = local_degree(len(labels), senders, receivers)
        lag = np.array([self.lags[i, j] for i, j in pairs.tolist()], dtype=np.int64)
        computes = self.computes is None or bool(self.computes)
        return state_of(senders, receivers, weights[receivers, senders], lag, computes=computes)


def _states(table: Table, found: Mapping[str, Column], labels: Sequence[str]) -> dict[int, _StateArcs]:
    """Arcs of each state that some row numbers."""
    states: dict[int, _StateArcs] = defaultdict(lambda: _StateArcs(labels))
    silos: dict[str, int] = {}
    for row, number in enumerate(table.row_numbers):
        cells = {key: table.rows[row][column.index] for key, column in found.items()}
        stated = _whole(table, row, found["state"], cells["state"], 0, MOST_STATES - 1, _LONGEST)
        if stated is None:
            raise table.error(
                row, found["state"].header, cells["state"], "must be the number of a state, from 0 on."
            )
        state = states[stated]
        if "computes" in found:
            computes = _whole(table, row, found["computes"], cells["computes"], 0, 1)
            if computes is not None and state.computes not in (None, computes):
                raise table.error(
                    row,
                    found["computes"].header,
                    cells["computes"],
                    "must be that of the state's other rows.",
                )
            state.computes = state.computes if computes is None else computes
        if all(text.lower() in MISSING for key, text in cells.items() if key not in ("state", "computes")):
            continue
        ends = []
        for key in ("from", "to"):
            if cells[key] not in silos:
                silos[cells[key]] = silo_of_cell(table, row, found[key].header, cells[key], labels)
            ends.append(silos[cells[key]])
        lag = _whole(table, row, found["lag"], cells["lag"], 1, MOST_LAG) if "lag" in found else None
        if ends[0] == ends[1] and lag not in (None, 1):
            raise table.error(
                row, found["lag"].header, cells["lag"], "must be 1: a silo mixes its own model as it is."
            )
        weight = (
            plain_number(table, row, found["weight"].header, cells["weight"]) if "weight" in found else None
        )
        state.arcs.add(ends[0], ends[1], weight, f"row {number}", table.source)
        state.lags[ends[0], ends[1]] = 1 if lag is None else lag
    return states


def _whole(
    table: Table, row: int, column: Column, text: str, least: int, most: int, why: str = ""
) -> int | None:
    """Whole number of a cell, None where it states nothing."""
    value = plain_number(table, row, column.header, text)
    if value is None:
        return None
    if not (least <= value <= most and value == int(value)):
        raise table.error(row, column.header, text, f"must be a whole number of {least}..{most}{why}.")
    return int(value)
