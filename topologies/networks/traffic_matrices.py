"""Traffic matrices: demands between named routers, by date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray, freeze
from topologies.errors import InputError, quoted


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DemandRows:
    """Demands as files list them, each row at one date.

    Attributes
    ----------
    labels : tuple of str
        Names of all ends.
    places : tuple of str
        Where each name first stands, for messages: ``tm.csv: row 3, source``.
    date_s : ndarray of shape (dates,)
        Ascending.
    date, source, target : ndarray of int, shape (rows,)
        Indices of date and names of each row.
    demand_bps : ndarray of shape (rows,)
        Finite and >= 0.
    place : callable
        Where a row stands, for messages.
    source_name : str
        The file or folder.
    dates : tuple of str
        The dates as files write them; empty where these state none, or seconds.
    """

    labels: tuple[str, ...]
    places: tuple[str, ...]
    date_s: FloatArray
    date: IntArray
    source: IntArray
    target: IntArray
    demand_bps: FloatArray
    place: Callable[[int], str]
    source_name: str
    dates: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TrafficMatrices:
    """Demands between routers, by date.

    Attributes
    ----------
    labels : tuple of str
        Names of routers.
    places : tuple of str
        Where each name first stands, for messages.
    date_s : ndarray of shape (dates,)
        Seconds since the first matrix, ascending; each matrix holds to the next one.
    source, target : ndarray of int, shape (pairs,)
        Indices of the names of each ordered pair that has a demand at some date.
    demand_bps : ndarray of shape (dates, pairs)
        0 where a matrix does not list the pair.
    own : int
        Demands of a router to itself that were left out.
    dates : tuple of str
        See `DemandRows`.
    """

    labels: tuple[str, ...]
    places: tuple[str, ...]
    date_s: FloatArray
    source: IntArray
    target: IntArray
    demand_bps: FloatArray
    own: int = 0
    dates: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Numbers of matrices and pairs."""
        return f"<TrafficMatrices: {len(self.date_s)} of {len(self.source)} pairs>"

    @property
    def period_s(self) -> float | None:
        """Time from the first matrix to the end of the last one, which takes as long as the one before; None of one."""
        if len(self.date_s) < 2:
            return None
        return float(2.0 * self.date_s[-1] - self.date_s[-2])


def matrices_of(rows: DemandRows) -> TrafficMatrices:
    """Matrices of rows.

    Raises
    ------
    InputError
        If a pair has two demands at one date, or there is no demand between two routers.

    Notes
    -----
    Time O(rows log rows), memory O(dates * pairs).
    """
    between = np.flatnonzero(rows.source != rows.target)
    date, source, target = rows.date[between], rows.source[between], rows.target[between]
    if not len(between):
        raise InputError("must hold a demand between two routers.", source=rows.source_name)
    pairs, pair = np.unique(source * len(rows.labels) + target, return_inverse=True)
    cell = date * len(pairs) + pair
    order = np.argsort(cell, kind="stable")
    again = np.flatnonzero(np.diff(cell[order]) == 0)
    if len(again):
        at = again[np.argmin(order[again + 1])]
        first, second = (rows.place(int(between[order[place]])) for place in (at, at + 1))
        names = f"{rows.labels[source[order[at]]]} -> {rows.labels[target[order[at]]]}"
        raise InputError(
            f"{first} and {second} are both of {quoted(names)} at one date; a pair must have one demand.",
            source=rows.source_name,
        )
    demand_bps = np.zeros((len(rows.date_s), len(pairs)))
    demand_bps[date, pair] = rows.demand_bps[between]
    date_s = rows.date_s - rows.date_s[0]
    pair_source, pair_target = np.divmod(pairs, len(rows.labels))
    freeze(date_s, pair_source, pair_target, demand_bps)
    return TrafficMatrices(
        labels=rows.labels,
        places=rows.places,
        date_s=date_s,
        source=pair_source,
        target=pair_target,
        demand_bps=demand_bps,
        own=len(rows.source) - len(between),
        dates=rows.dates,
    )


def numbered(names: Sequence[str], known: dict[str, int]) -> list[int]:
    """Index of each name, where new ones get the next number."""
    return [known.setdefault(name, len(known)) for name in names]
