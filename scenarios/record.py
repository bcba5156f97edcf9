"""Reading the HDF5 file of a run, complete or killed."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

import h5py
import numpy as np

from scenarios.network import NetworkConfig
from scenarios.store import SCHEMA
from topologies import ClosedForms, InputError, Underlay, Workload
from topologies.arrays import FloatArray, IntArray
from training import HistoryRow


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
        None where the arcs are drawn anew each round.
    closed_forms : ClosedForms
        NaN where an overlay that is drawn anew each round has none.
    busiest_link : str
        Name of the link direction that sets the load bound.
    simulated_s : float or None
        Simulated cycle time; None where the run was killed before.
    simulated_is_exact : bool
        Whether that is the cycle time itself; else it is an estimate.
    history : mapping from HistoryRow's fields to arrays
        Empty where nothing was trained.
    wall_clock_s : ndarray, shape (rows,)
    """

    kind: str
    arcs: IntArray
    hub: int | None
    consensus: FloatArray | None
    closed_forms: ClosedForms
    busiest_link: str
    simulated_s: float | None
    simulated_is_exact: bool
    history: dict[str, FloatArray]
    wall_clock_s: FloatArray

    def first_round_at(self, accuracy: float) -> tuple[int, float] | None:
        """Round and wall-clock time at which the test accuracy is first reached; None if it never is."""
        if not self.history:
            return None
        reached = np.flatnonzero(self.history["test_accuracy"] >= accuracy)
        if not len(reached):
            return None
        return int(self.history["round"][reached[0]]), float(self.wall_clock_s[reached[0]])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunRecord:
    """What the file of a run holds; arrays of dates stay in the file.

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
        Network and workload in words.
    overlays : tuple of OverlayRecord
        In the order of the scenario.
    """

    scenario: str
    network: NetworkConfig
    underlay: Underlay
    work: Workload
    about: str
    overlays: tuple[OverlayRecord, ...]


def read_run(path: Path) -> RunRecord:
    """Read the file of a run.

    Parameters
    ----------
    path : Path

    Returns
    -------
    RunRecord

    Raises
    ------
    InputError
        If it is missing, being written, no HDF5 file, or not one of a run that got as far as its first simulation.
    """
    if not path.is_file():
        raise InputError("there is no such file.", source=str(path))
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        rule = "is being written" if isinstance(error, BlockingIOError) else "is not an HDF5 file"
        raise InputError(f"{rule}.", source=str(path)) from None
    with file:
        return read_open(file, source=str(path))


def read_open(file: h5py.File, *, source: str) -> RunRecord:
    """Read an open file of a run; as `read_run`, with its name for the messages."""
    try:
        schema = file.attrs.get("schema")
        if schema != SCHEMA:
            raise InputError(f"schema(={schema!r:.40}) must be {SCHEMA!r}.")
        kinds = sorted(file.get("overlays", ()), key=lambda kind: file["overlays"][kind].attrs["order"])
        return RunRecord(
            scenario=str(file.attrs["scenario"]),
            network=NetworkConfig(**json.loads(file.attrs["network"])),
            underlay=_read_underlay(file["underlay"]),
            work=_read_workload(file["workload"]),
            about=str(file.attrs["about"]),
            overlays=tuple(_read_overlay(file, kind) for kind in kinds),
        )
    except InputError as error:
        raise InputError(str(error), source=source) from None
    except (OSError, LookupError, RuntimeError, TypeError, ValueError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"is not the whole file of a run: {what:.200}", source=source) from None


def _read_underlay(group: h5py.Group) -> Underlay:
    """The underlay, with every check that it makes."""
    return Underlay(
        name=str(group.attrs["name"]),
        variant=group.attrs["variant"],
        labels=tuple(group["labels"].asstr()[:]),
        **{
            name: group[name][:]
            for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps")
        },
    )


def _read_workload(group: h5py.Group) -> Workload:
    """The workload."""
    attrs = group.attrs
    return Workload(
        model_bits=float(attrs["model_bits"]),
        compute_s=np.asarray(attrs["compute_s"], dtype=np.float64),
        local_steps=int(attrs["local_steps"]),
        name=str(attrs["name"]),
    )


def _read_overlay(file: h5py.File, kind: str) -> OverlayRecord:
    """One overlay with whatever of simulation and training the file holds."""
    group = file[f"overlays/{kind}"]
    attrs = group.attrs
    simulation = file.get(f"simulation/{kind}")
    simulated_s = np.nan if simulation is None else float(simulation.attrs["cycle_time_s"])
    training = file.get(f"training/{kind}")
    # The file of a run that was cut short has empty rows at the end.
    rows = 0 if training is None else int(np.count_nonzero(training["round"][:] >= 0))
    return OverlayRecord(
        kind=kind,
        arcs=group["arcs"][:],
        hub=None if attrs["hub"] < 0 else int(attrs["hub"]),
        consensus=None if attrs.get("drawn", False) else group["consensus"][:],
        closed_forms=ClosedForms(
            paper_s=float(attrs["paper_s"]),
            serialized_s=float(attrs["serialized_s"]),
            load_bound_s=float(attrs["load_bound_s"]),
            busiest_link=None,
        ),
        busiest_link=str(attrs["busiest_link"]),
        simulated_s=None if np.isnan(simulated_s) else simulated_s,
        simulated_is_exact=simulation is not None and bool(simulation.attrs["cycle_time_is_exact"]),
        history={field.name: training[field.name][:rows] for field in fields(HistoryRow)} if rows else {},
        wall_clock_s=file[f"replay/{kind}/wall_clock_s"][:rows] if rows else np.zeros(0),
    )
