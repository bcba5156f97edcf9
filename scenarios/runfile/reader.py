"""Reading the HDF5 file of a run, complete or killed."""

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from scenarios.config.network import NetworkConfig
from scenarios.config.participation import participation_of
from scenarios.runfile.attributes import json_attribute
from scenarios.runfile.checkpoint_folders import being_written
from scenarios.runfile.file_checksum import check_announced, check_file, unverified
from scenarios.runfile.layout import check_layout
from scenarios.runfile.paths import is_locked
from scenarios.runfile.recorded_schedule import RecordedOverlay, read_schedule
from scenarios.runfile.recorded_states import read_states
from scenarios.runfile.run_frames import run_frame
from scenarios.runfile.run_tables import RunPart
from scenarios.runfile.simulated_rounds import recorded_absences
from scenarios.runfile.writer import SCHEMA
from simulator.computing_rounds import ALL, computing_before
from simulator.statistics.confidence import Estimate, estimated_cycle_time
from simulator.statistics.steady_state import counted_rows
from simulator.world.counted_silos import Presence, Starts
from topologies import ClosedForms, Connectivity, InputError, State, Underlay, Workload
from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import silo_labels
from topologies.errors import Field
from topologies.measured_pairs import MeasuredPairs
from topologies.participation import Participation
from topologies.regular_files import is_file, is_folder, no_file, unreadable
from topologies.site_values import SiteValues
from topologies.stated_routes import StatedRoutes
from training import HistoryRow
from training.history import PER_SILO

if TYPE_CHECKING:
    import pandas

_PIECE = 2**20
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationRecord:
    """One overlay's simulation in the file of a run, without the dates.

    Attributes
    ----------
    rounds : int
        Simulated rounds; 0 if the run was interrupted before the first.
    is_whole : bool
        Whether the simulation was completed; otherwise the cycle time is an estimate from the rounds in the file.
    cycle_time_s : float or None
        None where there are too few rounds for one.
    half_width_s : float or None
        Of its 95 % interval; 0 where it is exact, None where it is unknown.
    is_exact : bool
        Whether the cycle time is exact; otherwise it is an estimate.
    has_absences : bool
        Whether a silo was absent for some rounds.
    engine : str
        Empty where the file does not say.
    """

    rounds: int
    is_whole: bool
    cycle_time_s: float | None
    half_width_s: float | None
    is_exact: bool
    has_absences: bool
    engine: str = ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OverlayRecord:
    """One overlay of a run.

    Attributes
    ----------
    kind : str
    arcs : ndarray of int, shape (arcs, 3)
        Source, target and tokens of each arc.
    hub : int or None
    consensus : ndarray, shape (silos, silos), or None
        None of a periodic or randomized overlay.
    states : tuple of State, or None
        None of an overlay that is not periodic.
    negative_weights : bool
        Whether some of them may be below 0.
    closed_forms : ClosedForms
        NaN for those that a randomized overlay lacks.
    busiest_link : str
        Name of the link direction that sets the load bound.
    simulation : SimulationRecord
    history : mapping from HistoryRow's fields to arrays
        Empty where nothing was trained; NaN for fields that the file of an older version lacks.
    wall_clock_s : ndarray, shape (rows,)
    training_is_whole : bool
        Whether no row of its training is missing; True where none was to be trained.
    """

    kind: str
    arcs: IntArray
    hub: int | None
    consensus: FloatArray | None
    closed_forms: ClosedForms
    busiest_link: str
    simulation: SimulationRecord
    history: dict[str, FloatArray]
    wall_clock_s: FloatArray
    negative_weights: bool
    training_is_whole: bool
    states: tuple[State, ...] | None = None

    def __repr__(self) -> str:
        """One line."""
        return (
            f"OverlayRecord({self.kind!r}, {len(self.arcs)} arcs, cycle_time_s={self.simulation.cycle_time_s}, "
            f"{len(self.wall_clock_s)} training rows)"
        )

    def first_row_at(self, accuracy: float) -> int | None:
        """Training row at which the test accuracy is first reached; None if it never is."""
        if not self.history:
            return None
        reached = np.flatnonzero(self.history["test_accuracy"] >= accuracy)
        return int(reached[0]) if len(reached) else None

    def first_round_at(self, accuracy: float) -> tuple[int, float] | None:
        """That of `computed_rounds`, and the time, at which the test accuracy is first reached; None if it never is."""
        row = self.first_row_at(accuracy)
        return None if row is None else (int(self.computed_rounds[row]), float(self.wall_clock_s[row]))

    @property
    def computes(self) -> tuple[bool, ...]:
        """Whether silos compute in each state; round `k` is in state ``k mod len(computes)``."""
        return ALL if self.states is None else tuple(state.computes for state in self.states)

    @property
    def computed_rounds(self) -> IntArray:
        """In how many rounds silos have computed before each training row: the row's round, if they do in all."""
        rounds = self.history["round"].astype(np.int64).tolist()
        return np.array([computing_before(self.computes, round_) for round_ in rounds], dtype=np.int64)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunRecord:
    """Contents of the file of a run; arrays of dates stay in the file.

    Attributes
    ----------
    scenario : str
        TOML text.
    network : NetworkConfig
        The scenario's, or the other one of a replay.
    underlay : Underlay
        As it was read when the run started.
    work : Workload
    about : str
        Network and workload as text.
    overlays : tuple of OverlayRecord
        In the order of the scenario.
    silo_labels : tuple of str
        In the order of the silos' numbers.
    is_replay : bool or None
        Whether arcs and training are those of another run; None where an older file does not say.
    path : Path or None
        The file that it was read from, absolute; the tables below are read from there when they are asked for.
    is_verified : bool
        Whether the file's checksum is compared whenever it is opened.
    """

    scenario: str
    network: NetworkConfig
    underlay: Underlay
    work: Workload
    about: str
    overlays: tuple[OverlayRecord, ...]
    silo_labels: tuple[str, ...] = ()
    is_replay: bool | None = None
    path: Path | None = None
    is_verified: bool = True

    def __repr__(self) -> str:
        """One line."""
        kinds = ", ".join(overlay.kind for overlay in self.overlays)
        silos = len(self.silo_labels)
        return f"RunRecord({self.underlay.name!r}, {silos} silos, {self.work.name!r}, overlays: {kinds})"

    def rounds(
        self, *, overlay: str | Sequence[str] | None = None, rounds: slice | None = None
    ) -> "pandas.DataFrame":
        """When every silo starts every round.

        Parameters
        ----------
        overlay : str or sequence of str, optional
            By default all overlays.
        rounds : slice, optional
            Of the numbers of rounds, such as ``slice(0, 100)`` or ``slice(0, None, 1000)``; by default all.

        Returns
        -------
        DataFrame
            A row for each overlay, round and silo: ``start_s``, ``next_start_s`` (of the next round, or the end of the
            job; NaN after the last round of a simulation that was stopped), ``duration_s`` from one to the other, and
            ``absent``: whether the silo was away, so that its dates are no speed.

        Raises
        ------
        InputError
            If there is no such overlay, the slice is wrong, or the file is not there any more.

        Notes
        -----
        Time and memory O(rows), of which there are rounds times silos times overlays: 56 bytes each, and twice that
        while the frame is made. Nothing is read from the file but the rounds that are asked for.

        Examples
        --------
        >>> import silosim
        >>> record = silosim.open_run("small.h5")
        >>> first = record.rounds(overlay="ring", rounds=slice(0, 2))
        >>> first.columns.tolist()
        ['overlay', 'round', 'silo', 'start_s', 'next_start_s', 'duration_s', 'absent']
        >>> len(first)
        22
        """
        return self._frame("rounds", overlay, rounds)

    def messages(
        self, *, overlay: str | Sequence[str] | None = None, rounds: slice | None = None
    ) -> "pandas.DataFrame":
        """Every model that was sent, with its dates.

        Parameters
        ----------
        overlay, rounds
            As of `rounds`.

        Returns
        -------
        DataFrame
            A row for each overlay, round and arc that has a message in that round: ``arc`` (its number in
            `OverlayRecord.arcs`), ``source``, ``target``, ``arrival_s``; where the run recorded its messages
            (``messages = true``) also ``start_s``, ``last_bit_s`` and ``bound_link``, the link direction that bounded
            its rate for the longest time (missing where none did).

        Raises
        ------
        InputError
            As of `rounds`.

        Notes
        -----
        Time O(rounds times arcs), memory O(rows), 48 or 72 bytes each.
        """
        return self._frame("messages", overlay, rounds)

    def metrics(
        self,
        *,
        by_silo: bool = False,
        overlay: str | Sequence[str] | None = None,
        rounds: slice | None = None,
    ) -> "pandas.DataFrame":
        """Losses and accuracies of every logged round, with their dates.

        Parameters
        ----------
        by_silo : bool
            Whether each silo's own metrics are wanted, of its own model on its own training data.
        overlay, rounds
            As of `rounds`.

        Returns
        -------
        DataFrame
            A row for each overlay and logged round: ``wall_clock_s``, when the last silo starts the round, and the
            fields of `training.HistoryRow`; NaN for what was not measured. With `by_silo` a row for each silo as well:
            ``start_s``, when this silo starts the round, ``silo_loss`` and ``silo_accuracy``; none where neither was
            measured. Empty where nothing was trained.

        Raises
        ------
        InputError
            As of `rounds`.
        """
        return self._frame("metrics_by_silo" if by_silo else "metrics", overlay, rounds)

    def links(self, *, overlay: str | Sequence[str] | None = None) -> "pandas.DataFrame":
        """How much every link direction carried, the busiest of each overlay first.

        Parameters
        ----------
        overlay : str or sequence of str, optional
            By default all overlays.

        Returns
        -------
        DataFrame
            A row for each overlay and link direction: ``link``, its name, ``bits`` of this job's messages,
            ``capacity_bps``, the mean from the job's start to its end, and ``utilisation``, their quotient over that
            time (see `scenarios.config.utilisation`). NaN where the file does not say the capacity or the time, as of
            a simulation with events that was cut short.

        Raises
        ------
        InputError
            As of `rounds`.

        Notes
        -----
        Time and memory O(links) for each overlay.
        """
        return self._frame("links", overlay, None)

    def _frame(
        self, name: str, overlay: str | Sequence[str] | None, rounds: slice | None
    ) -> "pandas.DataFrame":
        """One of the tables of `scenarios.runfile.run_tables`."""
        part = RunPart.of(self, overlay, rounds)
        if self.path is None:
            raise InputError("the record was not read from a file, so that it has no tables.")
        with unverified(not self.is_verified), open_file(self.path) as file:
            try:
                return run_frame(file, name, part)
            except LookupError:
                raise InputError("is not the file any more that was opened.", source=str(self.path)) from None


def is_hdf5(path: Path) -> bool:
    """Whether a file begins as HDF5 files do, whoever has it open."""
    try:
        with path.open("rb") as file:
            return file.read(len(_SIGNATURE)) == _SIGNATURE
    except OSError as error:
        raise unreadable(path, error) from None


def no_hdf5(path: Path, reason: str = "") -> str:
    """Why HDF5 cannot open a file, which may be cut off, by its first bytes and HDF5's own reason."""
    size = path.stat().st_size
    if size == 0:
        return "is empty"
    if not is_hdf5(path):
        return "is not an HDF5 file"
    # HDF5 compares the file's end with the one that its first block states.
    stated = re.search(r"stored_eof = (\d+)", reason)
    if stated is not None and size < int(stated[1]):
        return f"is cut off: it has {size:,} bytes, {int(stated[1]):,} were written"
    return "is cut off or damaged"


def read_run(path: Path, *, verify: bool = True) -> RunRecord:
    """Read the file of a run.

    Parameters
    ----------
    path : Path
    verify : bool
        Whether its checksum is compared, now and when its tables are read.

    Returns
    -------
    RunRecord

    Raises
    ------
    InputError
        If it is missing, being written, damaged, no HDF5 file, or not one of a run that got as far as its first
        simulation.
    """
    with unverified(not verify), open_file(path) as file:
        record = read_open(file, source=str(path))
    return replace(record, path=path.absolute(), is_verified=verify)


def open_file(path: Path) -> h5py.File:
    """Open an HDF5 file for reading.

    Raises
    ------
    InputError
        If it is missing, being written, damaged by its checksum, or no HDF5 file.
    """
    if is_folder(path):
        raise InputError("is a folder, must be an HDF5 file.", source=str(path))
    if not is_file(path):
        raise no_file(path)
    try:
        check_file(path)
        file = h5py.File(path, "r")
        try:
            check_announced(file, path)
        except BaseException:
            file.close()
            raise
        return file
    except PermissionError:  # HDF5's text is long
        raise unreadable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES))) from None
    except (OSError, RuntimeError, LookupError) as error:
        # The file of a run that has just begun holds nothing yet.
        is_busy = isinstance(error, BlockingIOError) or is_locked(path)
        rule = being_written(path) if is_busy else no_hdf5(path, str(error))
        raise InputError(f"{rule}.", source=str(path)) from None


def check_schema(file: h5py.File, expected: str) -> None:
    """Raise an error for an HDF5 file of another kind than the one that is expected."""
    schema = file.attrs.get("schema")
    if schema is None:
        raise InputError(f"is an HDF5 file, but none of silosim's: it has no schema, must have {expected!r}.")
    if schema != expected:
        raise InputError(f"must be {expected!r}.", field=Field("schema", value=schema))


def read_open(file: h5py.File, *, source: str) -> RunRecord:
    """Read an open file of a run; as `read_run`, with its name for the messages."""
    try:
        check_schema(file, SCHEMA)
        check_layout(file)
        kinds = sorted(file.get("overlays", ()), key=lambda kind: file["overlays"][kind].attrs["order"])
        network, underlay, work = read_inputs(file)
        return RunRecord(
            scenario=str(file.attrs["scenario"]),
            network=network,
            underlay=underlay,
            silo_labels=silo_labels(underlay, file["connectivity/router"][:].tolist()),
            work=work,
            about=str(file.attrs["about"]),
            overlays=tuple(_read_overlay(file, kind) for kind in kinds),
            is_replay=bool(file.attrs["is_replay"]) if "is_replay" in file.attrs else None,
        )
    except InputError as error:
        raise error.located(source) from None
    except (OSError, LookupError, RuntimeError, TypeError, ValueError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"is not the whole file of a run: {what:.200}", source=source) from None


def read_inputs(file: h5py.File) -> tuple[NetworkConfig, Underlay, Workload]:
    """Network and workload of an open file of a run or of a validation."""
    return (
        NetworkConfig(**json_attribute(file.attrs, "network")),
        _read_underlay(file["underlay"]),
        _read_workload(file["workload"]),
    )


def read_drawn(
    path: Path, recorded: OverlayRecord, graph: Connectivity, work: Workload, *, most: int | None = None
) -> RecordedOverlay:
    """Read a randomized overlay with the arcs and weights of each round.

    Parameters
    ----------
    path : Path
        The file of a run.
    recorded : OverlayRecord
        The overlay in it.
    graph : Connectivity
        Where the arcs are to lie: the run's network or another one with its silos.
    work : Workload
    most : int, optional
        Rounds to read, by default all.

    Returns
    -------
    RecordedOverlay

    Raises
    ------
    InputError
        If the file does not hold them.
    """
    with open_file(path) as file:
        group = file[f"overlays/{recorded.kind}"]
        return read_schedule(group, recorded.kind, graph, work, most=most)


def _read_underlay(group: h5py.Group) -> Underlay:
    """The underlay, with every check that it makes."""
    return Underlay(
        name=str(group.attrs["name"]),
        variant=group.attrs["variant"],
        labels=tuple(group["labels"].asstr()[:]),
        published_index=group["published_index"][:] if "published_index" in group else None,
        measured=MeasuredPairs(**_arrays(group["measured"])) if "measured" in group else None,
        sites=SiteValues(**_arrays(group["sites"])) if "sites" in group else None,
        stated_routes=StatedRoutes(**_arrays(group["stated_routes"])) if "stated_routes" in group else None,
        notes=tuple(map(str, group.attrs.get("notes", ()))),
        **{
            name: group[name][:]
            for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps")
        },
    )


def _arrays(group: h5py.Group) -> dict[str, Any]:
    """All arrays of a group by name."""
    return {name: values[:] for name, values in group.items()}


def _read_workload(group: h5py.Group) -> Workload:
    """The workload."""
    attrs = group.attrs
    return Workload(
        model_bits=float(attrs["model_bits"]),
        compute_s=group["compute_s"][:]
        if "compute_s" in group
        else np.asarray(attrs["compute_s"], dtype=np.float64),
        local_steps=group["local_steps"][:] if "local_steps" in group else int(attrs["local_steps"]),
        name=str(attrs["name"]),
        overlap=float(attrs.get("overlap", 0.0)),
        message_share=float(attrs.get("message_share", 1.0)),
        participation=_read_participation(attrs.get("participation")),
    )


def _read_participation(stated: Any) -> Participation | None:
    """Who takes part: a share as text, or a number."""
    return participation_of(stated if stated is None or isinstance(stated, str) else int(stated))


def _read_overlay(file: h5py.File, kind: str) -> OverlayRecord:
    """One overlay with its simulation and training, as far as the file holds them."""
    group = file[f"overlays/{kind}"]
    attrs = group.attrs
    training = file.get(f"training/{kind}")
    # The file of an interrupted run has empty rows at the end.
    states = read_states(group)
    rows = 0 if training is None else int(np.count_nonzero(training["round"][:] >= 0))
    return OverlayRecord(
        kind=kind,
        arcs=group["arcs"][:],
        hub=None if attrs["hub"] < 0 else int(attrs["hub"]),
        consensus=None if states is not None or attrs.get("drawn", False) else group["consensus"][:],
        closed_forms=ClosedForms(
            paper_s=float(attrs["paper_s"]),
            serialized_s=float(attrs["serialized_s"]),
            load_bound_s=float(attrs["load_bound_s"]),
            busiest_link=None,
        ),
        busiest_link=str(attrs["busiest_link"]),
        simulation=_read_simulation(file.get(f"simulation/{kind}"), states),
        history=_read_history(training, rows) if rows else {},
        wall_clock_s=file[f"replay/{kind}/wall_clock_s"][:rows] if rows else np.zeros(0),
        negative_weights=any(
            name in group and bool(group[name].attrs.get("negative_weights", False))
            for name in ("consensus", "states")
        ),
        training_is_whole=training is None or rows == len(training["round"]),
        states=states,
    )


def _read_simulation(group: h5py.Group | None, states: tuple[State, ...] | None) -> SimulationRecord:
    """A simulation, complete or not; a group without attributes, as an early kill leaves it, holds nothing."""
    attrs = {} if group is None else group.attrs
    rounds, cycle_time_s = int(attrs.get("rounds", 0)), float(attrs.get("cycle_time_s", np.nan))
    has_absences = group is not None and len(group.get("absences", ())) > 0
    engine = str(attrs.get("engine", ""))
    if not np.isnan(cycle_time_s):
        half_width_s = float(attrs.get("half_width_s", np.nan))
        return SimulationRecord(
            rounds=rounds,
            is_whole=True,
            cycle_time_s=cycle_time_s,
            half_width_s=None if np.isnan(half_width_s) else half_width_s,
            is_exact=bool(attrs["cycle_time_is_exact"]),
            has_absences=has_absences,
            engine=engine,
        )
    estimate = None if group is None or rounds < 2 else _estimate(group, rounds, states)
    interval = None if estimate is None else estimate.interval
    return SimulationRecord(
        rounds=rounds,
        is_whole=False,
        cycle_time_s=None if estimate is None else estimate.cycle_time_s,
        half_width_s=None if interval is None else interval.half_width,
        is_exact=False,
        has_absences=has_absences,
        engine=engine,
    )


def _estimate(group: h5py.Group, rounds: int, states: tuple[State, ...] | None) -> Estimate:
    """Cycle time from the starts of the first rounds, with little memory."""
    round_start_s = group["round_start_s"]
    silos = round_start_s.shape[1]
    presence = Presence.of(recorded_absences(group), silos)
    mean_s, last_s = np.empty(rounds), np.empty((rounds, len(presence.members)))
    step = max(1, _PIECE // silos)
    for first in range(0, rounds, step):
        piece = slice(first, min(first + step, rounds))
        start_s = round_start_s[piece]
        mean_s[piece], last_s[piece] = start_s.mean(axis=1), presence.last_s(start_s)
    starts = Starts(mean_s=mean_s, last_s=last_s, presence=presence)
    if states is not None:
        longest_lag = max(int(state.lag.max(initial=1)) for state in states)
        starts = starts.computing([state.computes for state in states], longest_lag - 1)
    if rounds + 1 == len(round_start_s):
        # Of the last round of the job, the file also says when the silos have ended it.
        end_s = presence.first_end_s(round_start_s[rounds], rounds)
        starts = starts.until(counted_rows(starts.last_s.max(axis=1), end_s))
    return estimated_cycle_time(starts, silos=silos)


def _read_history(group: h5py.Group, rows: int) -> dict[str, FloatArray]:
    """Training rows."""
    silos = group["silo_loss"].shape[1]
    history = {}
    for field in fields(HistoryRow):
        shape = (rows, silos) if field.name in PER_SILO else (rows,)
        there = field.name in group or field.default is MISSING
        history[field.name] = group[field.name][:rows] if there else np.full(shape, np.nan)
    return history
