"""Reading the HDF5 file of a run, complete or killed."""

from dataclasses import dataclass, fields
from pathlib import Path

import h5py
import numpy as np

from scenarios.store import SCHEMA
from topologies import ClosedForms, InputError
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
    consensus : ndarray, shape (silos, silos)
    max_degree : int
    closed_forms : ClosedForms
    busiest_link : str
        Name of the link direction that sets the load bound.
    simulated_s : float or None
        Simulated cycle time; None where the run was killed before.
    history : mapping from HistoryRow's fields to arrays
        Empty where nothing was trained.
    wall_clock_s : ndarray, shape (rows,)
    """

    kind: str
    arcs: IntArray
    hub: int | None
    consensus: FloatArray
    max_degree: int
    closed_forms: ClosedForms
    busiest_link: str
    simulated_s: float | None
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
    network_changes : str
        JSON object of the changes to the scenario's network under which a replay ran; ``{}`` for a run.
    about : str
        Network and workload in words.
    overlays : tuple of OverlayRecord
        In the order of the scenario.
    """

    scenario: str
    network_changes: str
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
        If it is missing, no HDF5 file, or not one of a run.
    """
    if not path.is_file():
        raise InputError("there is no such file.", source=str(path))
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        rule = "is being written" if isinstance(error, BlockingIOError) else "is not an HDF5 file"
        raise InputError(f"{rule}.", source=str(path)) from None
    with file:
        if file.attrs.get("schema") != SCHEMA:
            raise InputError(
                f"schema(={file.attrs.get('schema')!r:.40}) must be {SCHEMA!r}.", source=str(path)
            )
        kinds = sorted(file.get("overlays", ()), key=lambda kind: file["overlays"][kind].attrs["order"])
        return RunRecord(
            scenario=str(file.attrs["scenario"]),
            network_changes=str(file.attrs["network_changes"]),
            about=str(file.attrs["about"]),
            overlays=tuple(_read_overlay(file, kind) for kind in kinds),
        )


def _read_overlay(file: h5py.File, kind: str) -> OverlayRecord:
    """One overlay with whatever of simulation and training the file holds."""
    group = file[f"overlays/{kind}"]
    attrs = group.attrs
    simulation, training = file.get(f"simulation/{kind}"), file.get(f"training/{kind}")
    history = {} if training is None else {f.name: _column(training, f.name) for f in fields(HistoryRow)}
    replay = file.get(f"replay/{kind}/wall_clock_s")
    wall_clock_s = np.zeros(0) if replay is None else replay[:]
    # A run that was killed while it wrote a block has some columns longer than others.
    rows = min((len(column) for column in (*history.values(), wall_clock_s)), default=0)
    return OverlayRecord(
        kind=kind,
        arcs=group["arcs"][:],
        hub=None if attrs["hub"] < 0 else int(attrs["hub"]),
        consensus=group["consensus"][:],
        max_degree=int(attrs["max_degree"]),
        closed_forms=ClosedForms(
            paper_s=float(attrs["paper_s"]),
            serialized_s=float(attrs["serialized_s"]),
            load_bound_s=float(attrs["load_bound_s"]),
            busiest_link=None,
        ),
        busiest_link=str(attrs["busiest_link"]),
        simulated_s=None if simulation is None else float(simulation.attrs["cycle_time_s"]),
        history={name: column[:rows] for name, column in history.items()},
        wall_clock_s=wall_clock_s[:rows],
    )


def _column(group: h5py.Group, name: str) -> FloatArray:
    """A dataset's values, none where it was not made yet."""
    return np.asarray(group[name][:]) if name in group else np.zeros(0)
