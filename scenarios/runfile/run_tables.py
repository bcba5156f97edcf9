"""Tables of a run with one observation in each row, read from its file piece by piece as columns of NumPy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from scenarios.config.recorded_tables import recorded_tables
from scenarios.config.simulation import event_names
from scenarios.config.utilisation import utilisation
from scenarios.runfile.names import link_names, measured_pairs, window_pairs
from scenarios.runfile.simulated_rounds import MESSAGE_FIELDS, recorded_absences
from simulator.world.counted_silos import away
from topologies import InputError
from topologies.arrays import FloatArray, IntArray
from topologies.errors import Field, unknown_name
from training import HistoryRow
from training.history import PER_SILO

if TYPE_CHECKING:
    from scenarios.runfile.reader import OverlayRecord, RunRecord

Kind = Literal["text", "integer", "number", "flag"]
"""Of the values in a column; texts and numbers may be missing: None, NaN."""
Unit = Literal["simulated rounds", "training rows", "metrics of silos", "simulated overlays"]
"""What a part of a run has some or none of."""
MOST_ROWS = 2**18
"""Of a piece."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Piece:
    """Consecutive rows of a table.

    Attributes
    ----------
    columns : dict from str to ndarray, each of shape (rows,)
    done : int
        Units of the table (`RunTable.unit`) of which these are all rows.
    """

    columns: dict[str, NDArray[Any]]
    done: int

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.columns["overlay"])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunPart:
    """Overlays and rounds of a run.

    Attributes
    ----------
    record : RunRecord
    overlays : tuple of OverlayRecord
    rounds : slice
        Of non-negative bounds and a positive step.
    """

    record: "RunRecord"
    overlays: "tuple[OverlayRecord, ...]"
    rounds: slice

    @classmethod
    def of(cls, record: "RunRecord", overlay: str | Sequence[str] | None, rounds: slice | None) -> Self:
        """Part of a run.

        Parameters
        ----------
        record : RunRecord
        overlay : str or sequence of str, optional
            Names of overlays, which keep their order in the run; by default all.
        rounds : slice, optional
            By default all.

        Raises
        ------
        InputError
            If there is no such overlay, or the slice has a negative bound or a step below 1.
        """
        kinds = [each.kind for each in record.overlays]
        asked = kinds if overlay is None else [overlay] if isinstance(overlay, str) else list(overlay)
        for kind in asked:
            if kind not in kinds:
                raise unknown_name("overlay", kind, kinds)
        rounds = slice(None) if rounds is None else rounds
        if not isinstance(rounds, slice) or not _is_plain(rounds):
            raise InputError(
                "must be a slice of integers with bounds >= 0 and a step >= 1.",
                field=Field("rounds", value=rounds),
            )
        return cls(
            record=record,
            overlays=tuple(each for each in record.overlays if each.kind in asked),
            rounds=rounds,
        )

    def count(self, unit: Unit) -> int:
        """How many of these the part has, over all its overlays."""
        if unit == "simulated rounds":
            return sum(len(self.simulated(overlay)) for overlay in self.overlays)
        if unit == "training rows":
            return sum(len(self.logged(overlay)) for overlay in self.overlays)
        if unit == "metrics of silos":
            return sum(len(self.logged_by_silo(overlay)) for overlay in self.overlays)
        return sum(overlay.simulation.rounds > 0 for overlay in self.overlays)

    def simulated(self, overlay: "OverlayRecord") -> range:
        """Rounds of the part that are simulated."""
        return range(*self.rounds.indices(overlay.simulation.rounds))

    def logged(self, overlay: "OverlayRecord") -> IntArray:
        """Training rows whose rounds are in the part."""
        if not overlay.history:
            return np.zeros(0, dtype=np.int64)
        rounds = overlay.history["round"].astype(np.int64)
        asked = range(*self.rounds.indices(int(rounds[-1]) + 1))
        return np.flatnonzero([round_ in asked for round_ in rounds.tolist()])

    def logged_by_silo(self, overlay: "OverlayRecord") -> IntArray:
        """Those of `logged` that have a metric of some silo."""
        rows = self.logged(overlay)
        there = np.zeros(len(rows), dtype=bool)
        for name in PER_SILO if len(rows) else ():
            there |= ~np.isnan(overlay.history[name][rows]).all(axis=1)
        return rows[there]


def _is_plain(rounds: slice) -> bool:
    """Whether a slice has non-negative integers as bounds and a positive one as step."""
    least = ((rounds.start, 0), (rounds.stop, 0), (rounds.step, 1))
    return all(
        value is None or (isinstance(value, int | np.integer) and value >= low) for value, low in least
    )


def _round_columns(_file: h5py.File) -> dict[str, Kind]:
    """Columns of the table of rounds."""
    return {
        "overlay": "text",
        "round": "integer",
        "silo": "text",
        "start_s": "number",
        "next_start_s": "number",
        "duration_s": "number",
        "absent": "flag",
    }


def _round_pieces(file: h5py.File, part: RunPart) -> Iterator[Piece]:
    """A row for each overlay, round and silo."""
    labels = _texts(part.record.silo_labels)
    silos = len(labels)
    for overlay in part.overlays:
        asked = part.simulated(overlay)
        for rounds in _pieces(asked, silos):
            group = file[f"simulation/{overlay.kind}"]
            start_s = group["round_start_s"][_slice(rounds)]
            next_s = group["round_start_s"][_slice(rounds, 1)]
            # The row after the last round is that of the job's end, where the simulation got that far.
            if overlay.simulation.rounds + 1 < len(group["round_start_s"]):
                next_s[np.array(rounds) + 1 >= overlay.simulation.rounds] = nan
            yield Piece(
                columns={
                    "overlay": _texts([overlay.kind] * start_s.size),
                    "round": np.repeat(np.array(rounds, dtype=np.int64), silos),
                    "silo": np.tile(labels, len(rounds)),
                    "start_s": start_s.ravel(),
                    "next_start_s": next_s.ravel(),
                    "duration_s": (next_s - start_s).ravel(),
                    "absent": away(recorded_absences(group), rounds, silos).ravel(),
                },
                done=len(rounds),
            )


def _message_columns(file: h5py.File) -> dict[str, Kind]:
    """Columns of the table of messages: of a file that does not hold all of each, their arrivals only."""
    is_whole = any("bound_link" in group for group in file.get("simulation", {}).values())
    kinds: dict[str, Kind] = {
        "overlay": "text",
        "round": "integer",
        "arc": "integer",
        "source": "text",
        "target": "text",
        "start_s": "number",
        "last_bit_s": "number",
        "arrival_s": "number",
        "bound_link": "text",
    }
    return {name: kind for name, kind in kinds.items() if is_whole or name not in MESSAGE_FIELDS}


def _message_pieces(file: h5py.File, part: RunPart) -> Iterator[Piece]:
    """A row for each message that was sent."""
    record = part.record
    labels = _texts(record.silo_labels)
    # -1, of a message that no link bounds, is the last place.
    links = _texts([*link_names(file["connectivity"], record.underlay, record.silo_labels), None])
    names = [name for name in _message_columns(file) if name in MESSAGE_FIELDS or name == "arrival_s"]
    for overlay in part.overlays:
        for rounds in _pieces(part.simulated(overlay), len(overlay.arcs)):
            group = file[f"simulation/{overlay.kind}"]
            values = {name: group[name][_slice(rounds)] for name in names}
            numbers = values.get("bound_link", np.zeros(0))
            if numbers.size and not (numbers.min() >= -1 and numbers.max() < len(links) - 1):
                raise InputError(f"simulation/{overlay.kind}/bound_link holds the numbers of other links.")
            row, arc = np.nonzero(~np.isnan(values["arrival_s"]))
            source, target = overlay.arcs[arc, :2].T
            yield Piece(
                columns={
                    "overlay": _texts([overlay.kind] * len(arc)),
                    "round": np.array(rounds, dtype=np.int64)[row],
                    "arc": arc,
                    "source": labels[source],
                    "target": labels[target],
                    **{
                        name: links[found[row, arc]] if name == "bound_link" else found[row, arc]
                        for name, found in values.items()
                    },
                },
                done=len(rounds),
            )


METRICS = tuple(field.name for field in fields(HistoryRow) if field.name not in ("round", *PER_SILO))
"""Numbers of a training row that are those of all silos together."""


def _metric_columns(_file: h5py.File) -> dict[str, Kind]:
    """Columns of the table of metrics."""
    numbers: dict[str, Kind] = dict.fromkeys(("wall_clock_s", *METRICS), "number")
    return {"overlay": "text", "round": "integer", **numbers}


def _metric_pieces(_file: h5py.File, part: RunPart) -> Iterator[Piece]:
    """A row for each overlay and training row."""
    for overlay in part.overlays:
        rows = part.logged(overlay)
        if len(rows):
            yield Piece(
                columns={
                    "overlay": _texts([overlay.kind] * len(rows)),
                    "round": overlay.history["round"][rows].astype(np.int64),
                    "wall_clock_s": overlay.wall_clock_s[rows],
                    **{name: overlay.history[name][rows] for name in METRICS},
                },
                done=len(rows),
            )


def _silo_metric_columns(_file: h5py.File) -> dict[str, Kind]:
    """Columns of the table of the silos' metrics."""
    numbers: dict[str, Kind] = dict.fromkeys(("start_s", *PER_SILO), "number")
    return {"overlay": "text", "round": "integer", "silo": "text", **numbers}


def _silo_metric_pieces(file: h5py.File, part: RunPart) -> Iterator[Piece]:
    """A row for each overlay, training row and silo, where a metric was measured."""
    labels = _texts(part.record.silo_labels)
    silos = len(labels)
    step = max(1, MOST_ROWS // silos)
    for overlay in part.overlays:
        logged = part.logged_by_silo(overlay)
        for first in range(0, len(logged), step):
            rows = logged[first : first + step]
            rounds = overlay.history["round"][rows].astype(np.int64)
            columns = {
                "overlay": _texts([overlay.kind] * (len(rows) * silos)),
                "round": np.repeat(rounds, silos),
                "silo": np.tile(labels, len(rows)),
                "start_s": _starts(file[f"simulation/{overlay.kind}"], rounds.tolist()).ravel(),
                **{name: overlay.history[name][rows].ravel() for name in PER_SILO},
            }
            there = np.any([~np.isnan(columns[name]) for name in PER_SILO], axis=0)
            yield Piece(columns={name: column[there] for name, column in columns.items()}, done=len(rows))


def _starts(group: h5py.Group, rounds: Sequence[int]) -> FloatArray:
    """When each silo starts each of these rounds, shape (rounds, silos)."""
    return np.stack([group["round_start_s"][round_] for round_ in rounds])


def _link_columns(_file: h5py.File) -> dict[str, Kind]:
    """Columns of the table of links."""
    numbers: dict[str, Kind] = dict.fromkeys(("bits", "capacity_bps", "utilisation"), "number")
    return {"overlay": "text", "link": "text", **numbers}


def _link_pieces(file: h5py.File, part: RunPart) -> Iterator[Piece]:
    """A row for each overlay and link direction, the busiest first."""
    record = part.record
    names = _texts(link_names(file["connectivity"], record.underlay, record.silo_labels))
    for overlay in part.overlays:
        if not overlay.simulation.rounds:
            continue
        bits, mean_bps, used = link_usage(file, record, overlay)
        order = np.argsort(-(bits if np.isnan(used).any() else used), kind="stable")
        yield Piece(
            columns={
                "overlay": _texts([overlay.kind] * len(names)),
                "link": names[order],
                "bits": bits[order],
                "capacity_bps": mean_bps[order],
                "utilisation": used[order],
            },
            done=1,
        )


def link_usage(
    file: h5py.File, record: "RunRecord", overlay: "OverlayRecord"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bits, mean capacity and utilisation of every link direction of an overlay that was simulated.

    Returns
    -------
    arrays of shape (link directions,)
        In the order of `topologies.Connectivity.link_capacity_bps`; NaN for what the file does not say.
    """
    group = file[f"simulation/{overlay.kind}"]
    end_s, mean_bps = _end_s(group, overlay.simulation.rounds), _capacity_bps(file, group, record.scenario)
    # Cut short while they were written, they are of other rounds.
    bits = np.full_like(mean_bps, nan) if isnan(group.attrs.get("end_s", 0.0)) else group["link_bits"][:]
    return bits, mean_bps, utilisation(bits, mean_bps, end_s)


def _capacity_bps(file: h5py.File, group: h5py.Group, scenario: str) -> FloatArray:
    """Mean capacity of each link direction; NaN where events change it and the simulation did not reach its end."""
    stated = group["link_capacity_bps"][:] if "link_capacity_bps" in group else np.full(1, nan)
    if not np.isnan(stated).any():
        return stated
    network = file["connectivity"]
    pairs = measured_pairs(network)
    between = np.repeat(network["core_bps"][:], 2) if pairs is None else network["available_bps"][:][*pairs.T]
    windows = window_pairs(network)
    window_bps = network["window_bps"][:][*windows.T] if len(windows) else np.empty(0)
    capacity_bps = np.concatenate((between, network["up_bps"][:], network["down_bps"][:], window_bps))
    if "link_capacity_bps" in network:
        capacity_bps = network["link_capacity_bps"][:]
    has_events = event_names(recorded_tables(scenario).get("simulation", {}))
    return np.full_like(capacity_bps, nan) if has_events else capacity_bps


def _end_s(group: h5py.Group, rounds: int) -> float:
    """When the last silo ended the last round; NaN where the file does not say."""
    if "end_s" in group.attrs:
        return float(group.attrs["end_s"])
    starts = group["round_start_s"]
    return float(starts[rounds].max()) if rounds + 1 == len(starts) else nan


def _pieces(rounds: range, per_round: int) -> Iterator[range]:
    """Consecutive parts of rounds with at most `MOST_ROWS` rows each, or one round."""
    step = max(1, MOST_ROWS // max(1, per_round))
    for first in range(0, len(rounds), step):
        yield rounds[first : first + step]


def _slice(rounds: range, later: int = 0) -> slice:
    """Rows of these rounds in a data set, or so many rows later."""
    return slice(rounds.start + later, rounds.stop + later, rounds.step)


def _texts(texts: Sequence[str | None]) -> NDArray[np.object_]:
    """Array of Python's texts, which are shared by all rows that have them."""
    return np.array(texts, dtype=object)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunTable:
    """A table that can be made of the file of a run.

    Attributes
    ----------
    columns : callable
        Columns with the kinds of their values, of a file.
    pieces : callable
        Consecutive rows of a part of the run in that file. Memory O(`MOST_ROWS`), or O(rows of one round) where that is
        more; time O(rows).
    unit : str
        What there are rows for; without any there are none.
    """

    columns: Callable[[h5py.File], dict[str, Kind]]
    pieces: Callable[[h5py.File, RunPart], Iterator[Piece]]
    unit: Unit


TABLES: Mapping[str, RunTable] = {
    "rounds": RunTable(columns=_round_columns, pieces=_round_pieces, unit="simulated rounds"),
    "messages": RunTable(columns=_message_columns, pieces=_message_pieces, unit="simulated rounds"),
    "metrics": RunTable(columns=_metric_columns, pieces=_metric_pieces, unit="training rows"),
    "metrics_by_silo": RunTable(
        columns=_silo_metric_columns, pieces=_silo_metric_pieces, unit="metrics of silos"
    ),
    "links": RunTable(columns=_link_columns, pieces=_link_pieces, unit="simulated overlays"),
}
