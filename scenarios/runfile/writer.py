"""Writing the HDF5 file of a run: head, overlays, and room for simulated rounds and training rows."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, Self

import h5py
import numpy as np

from scenarios.config.network import NetworkConfig, describe
from scenarios.config.overlays import AnyOverlay, forms_of
from scenarios.config.participation import participation_key
from scenarios.config.simulation import SimulationConfig
from scenarios.config.utilisation import mean_capacity_bps
from scenarios.runfile.atomic import new_file, reports_full_disk
from scenarios.runfile.names import write_arc_names, write_names
from scenarios.runfile.recorded_schedule import ScheduleWriter
from scenarios.runfile.recorded_states import write_states
from scenarios.runfile.simulated_rounds import SimulationWriter, allocate, file_bytes
from scenarios.runfile.training_rows import HistoryWriter, allocate_history, write_history
from simulator import Job
from topologies import ClosedForms, Connectivity, Overlay, PeriodicOverlay, Workload, make_schedule
from topologies.arrays import FloatArray
from topologies.connectivity import NO_RULES
from topologies.random_cycle_time import RANDOM_ROUNDS

SCHEMA = "silosim-run/1"
LARGE_BYTES = 10**8
"""Of a larger file the user hears before it is written."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RunHead:
    """What the file of a run says of its input.

    Attributes
    ----------
    scenario : str
        TOML text.
    network : NetworkConfig
        The scenario's, or the other one of a replay.
    seed : int
        Of everything random.
    graph : Connectivity
    work : Workload
    is_replay : bool
        Whether arcs and training are those of another run.
    """

    scenario: str
    network: NetworkConfig
    seed: int
    graph: Connectivity
    work: Workload
    is_replay: bool = False


class RunFile:
    """The HDF5 file of a run that is being written.

    Parameters
    ----------
    file : h5py.File
        With everything allocated that is filled in; `create` makes one.
    schedules : mapping from str to ScheduleWriter
        Of the randomized overlays.
    mean_bps : callable
        Mean capacity of each link direction from the start of a job to a date.
    """

    def __init__(
        self,
        file: h5py.File,
        schedules: Mapping[str, ScheduleWriter],
        mean_bps: Callable[[float], FloatArray],
    ) -> None:
        self._file, self._schedules, self._mean_bps = file, schedules, mean_bps

    @classmethod
    @contextmanager
    def create(
        cls,
        path: Path,
        head: RunHead,
        simulations: Sequence[tuple[AnyOverlay, Job]],
        *,
        settings: SimulationConfig,
        rows: Mapping[str, int] | None = None,
        trained: int = 0,
        force: bool,
        resume: bool = False,
    ) -> Iterator[Self]:
        """Make the file with its head and overlays, and allocate all simulated rounds and training rows.

        Parameters
        ----------
        path : Path
        head : RunHead
        simulations : sequence of (Overlay, PeriodicOverlay or RandomOverlay, Job)
            The overlays, in the order in which tables show them, and their simulations.
        settings : SimulationConfig
            Whether messages are kept, and which engine is asked for; the file names the one that is chosen. Where an
            interval may end a simulation early, arcs and weights of a randomized overlay's rounds are written at the
            beginning for those that are certain, and by `record_schedule` for further ones.
        rows : mapping from str to int, optional
            Training rows by overlay; without those that are not trained.
        trained : int
            Rounds of the training, which are simulated in any case.
        force, resume : bool
            See `scenarios.runfile.atomic.new_file`.

        Yields
        ------
        RunFile

        Raises
        ------
        InputError, MachineError
            As `scenarios.runfile.atomic.new_file`.
        KeyboardInterrupt
            After Ctrl-C, within a second.

        Notes
        -----
        Until the end the file is called ``<path>.partial``, and it opens whenever the process is killed: see
        `scenarios.runfile.simulated_rounds.allocate`.
        """
        training_rows = rows or {}
        size_bytes = file_bytes(
            [job for _, job in simulations],
            messages=settings.messages,
            rows=max(training_rows.values(), default=0),
            underlay=head.graph.underlay,
        )
        schedules = {}
        with new_file(path, size_bytes=size_bytes, force=force, resume=resume) as file:
            if size_bytes > LARGE_BYTES:
                print(f"silosim: {path} takes about {size_bytes / 1e6:,.0f} MB", file=sys.stderr)
            write_head(file, head)
            for overlay, job in simulations:
                write_overlay(file, overlay, job, forms_of(overlay, head.seed))
                if not isinstance(overlay, Overlay | PeriodicOverlay):
                    # Closed forms are estimated from so many rounds, of a replay, too.
                    schedule = make_schedule(overlay, head.seed, max(job.rounds, RANDOM_ROUNDS))
                    certain = schedule.rounds if settings.until_ci is None else max(trained, RANDOM_ROUNDS)
                    schedules[overlay.kind] = ScheduleWriter(
                        file, f"overlays/{overlay.kind}", schedule, rounds=certain
                    )
                allocate(file, overlay.kind, job, messages=settings.messages, engine=settings.engine)
                if overlay.kind in training_rows:
                    allocate_history(
                        file, overlay.kind, rows=training_rows[overlay.kind], silos=head.graph.silos
                    )
            yield cls(file, schedules, partial(mean_capacity_bps, head.graph, settings))

    def simulation(self, kind: str) -> SimulationWriter:
        """Writer of the simulated rounds of an overlay."""
        return SimulationWriter(self._file, kind, self._mean_bps)

    def record_schedule(self, kind: str, rounds: int) -> None:
        """Write arcs and weights of the first rounds of a randomized overlay, where they are not there yet."""
        if kind in self._schedules:
            self._schedules[kind].write(rounds)

    def training(self, kind: str, last_start_s: FloatArray) -> HistoryWriter:
        """Writer of the training rows of an overlay whose last silo starts the rounds at these dates."""
        return HistoryWriter(self._file, kind, last_start_s)

    def silo_start_s(self, kind: str, round_: int) -> FloatArray:
        """Return the simulated start of a round in each silo of an overlay, shape (silos,)."""
        starts: FloatArray = self._file[f"simulation/{kind}/round_start_s"][round_]
        return starts

    def write_history(self, kind: str, history: Mapping[str, Any], last_start_s: FloatArray) -> None:
        """Write all training rows of an overlay at once; see `scenarios.runfile.training_rows.write_history`."""
        write_history(self._file, kind, 0, history, last_start_s)


_LIBRARIES = ("numpy", "scipy", "numba", "h5py", "simpy", "torch")
"""Their versions are recorded where they are installed."""


@cache
def _library_versions() -> str:
    """Versions of Python and of the installed libraries that results come from, as JSON, without importing them."""
    found = {"python": python_version()}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return json.dumps(found)


def graph_digest(graph: Connectivity) -> str:
    """SHA-256 of a network as it was read: links, lengths, capacities, latencies, rules and names of silos."""
    underlay = graph.underlay
    digest = hashlib.sha256()
    for array in (
        underlay.ends,
        underlay.length_km,
        graph.core_bps,
        graph.up_bps,
        graph.down_bps,
        graph.latency_s,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(graph.available_bps.tobytes())
    if graph.window_bps is not None:
        digest.update(np.ascontiguousarray(graph.window_bps).tobytes())
    if graph.rules != NO_RULES:
        digest.update(repr(graph.rules).encode())
    if underlay.stated_routes is not None:
        digest.update(underlay.stated_routes.routers.tobytes() + underlay.stated_routes.first.tobytes())
    if graph.slow_start is not None:
        digest.update(graph.slow_start.when.encode())
        digest.update(np.ascontiguousarray(graph.slow_start.initial_bits).tobytes())
    digest.update("\0".join(graph.labels).encode())
    return digest.hexdigest()


@reports_full_disk
def write_head(file: h5py.File, head: RunHead) -> None:
    """Write the root attributes and the groups that describe network and workload."""
    graph, work, underlay = head.graph, head.work, head.graph.underlay
    file.attrs.update(
        schema=SCHEMA,
        silosim_version=version("silosim"),
        library_versions=_library_versions(),
        scenario=head.scenario,
        network=json.dumps(asdict(head.network)),
        about=describe(graph, work),
        seed=head.seed,
        is_replay=head.is_replay,
        graph_sha256=graph_digest(graph),
        units="seconds, bits, bits per second, kilometres, degrees: see the suffix of each name",
    )
    group = file.create_group("underlay")
    group.attrs.update(name=underlay.name, variant=underlay.variant)
    if underlay.notes:
        group.attrs["notes"] = list(underlay.notes)
    write_names(group, labels=underlay.labels)
    for name in ("latitude_deg", "longitude_deg", "ends", "length_km", "capacity_bps"):
        group[name] = getattr(underlay, name)
    if underlay.published_index is not None:
        group["published_index"] = underlay.published_index
    for name in ("measured", "sites", "stated_routes"):
        values = getattr(underlay, name)
        for field in () if values is None else fields(values):
            group[f"{name}/{field.name}"] = getattr(values, field.name)
    group = file.create_group("connectivity")
    write_names(group, silo_labels=graph.labels, link_names=graph.link_names)
    for name in ("router", "up_bps", "down_bps", "core_bps", "latency_s", "available_bps"):
        group[name] = getattr(graph, name)
    if graph.window_bps is not None:
        group["window_bps"] = graph.window_bps
    if not graph.rules.are_plain_links:
        group["link_capacity_bps"] = graph.link_capacity_bps
    group.attrs.update(bandwidth=graph.bandwidth, latency=graph.latency)
    if graph.slow_start is not None:
        group.attrs["slow_start"] = graph.slow_start.when
        group["initial_window_bits"] = graph.slow_start.initial_bits
    group = file.create_group("workload")
    group.attrs.update(name=work.name, model_bits=work.model_bits, overlap=work.overlap)
    if work.message_share != 1:
        group.attrs["message_share"] = work.message_share
    if work.participation is not None:
        group.attrs["participation"] = participation_key(work.participation)
    for name in ("compute_s", "local_steps"):
        value = getattr(work, name)
        if np.ndim(value):
            group[name] = value  # an attribute holds 64 KiB at most
        else:
            group.attrs[name] = value
    file.flush()


@reports_full_disk
def write_overlay(file: h5py.File, overlay: AnyOverlay, job: Job, forms: ClosedForms) -> None:
    """Write one overlay.

    Parameters
    ----------
    file : h5py.File
    overlay : Overlay, PeriodicOverlay or RandomOverlay
        Of a periodic one its states, see `scenarios.runfile.recorded_states`. Of a randomized one there are no delays,
        consensus matrix and critical circuit.
    job : Job
        Its simulation; the arcs are numbered as there.
    forms : ClosedForms
        See `scenarios.config.overlays.forms_of`.
    """
    order = len(file.get("overlays", ()))
    group = file.create_group(f"overlays/{overlay.kind}")
    arcs = np.array([(arc.source, arc.target, arc.tokens) for arc in job.arcs], dtype=np.int64).reshape(-1, 3)
    group["arcs"] = arcs
    group["arcs"].attrs["columns"] = "source silo, target silo, tokens"
    write_arc_names(group, overlay.graph, arcs)
    hub = None
    if isinstance(overlay, Overlay):
        group["delay_s"] = overlay.delay_s
        group["consensus"] = overlay.consensus
        group["consensus"].attrs["negative_weights"] = overlay.negative_weights
        group["critical_circuit"] = np.array(overlay.critical_circuit, dtype=np.int64)
        hub = overlay.hub
    elif isinstance(overlay, PeriodicOverlay):
        write_states(group, overlay)
    group.attrs.update(
        paper_s=forms.paper_s,
        serialized_s=forms.serialized_s,
        load_bound_s=forms.load_bound_s,
        busiest_link="" if forms.busiest_link is None else overlay.graph.link_name(forms.busiest_link),
        order=order,
        max_degree=overlay.max_degree
        if isinstance(overlay, PeriodicOverlay)
        else int(max(np.bincount(ends, minlength=1).max() for ends in arcs.T[:2])),
        hub=-1 if hub is None else hub,
        hub_label="" if hub is None else overlay.graph.labels[hub],
        drawn=not isinstance(overlay, Overlay | PeriodicOverlay),
    )
    file.flush()
