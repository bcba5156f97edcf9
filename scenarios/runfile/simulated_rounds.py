"""Simulated rounds in the HDF5 file of a run, written block by block."""

import time
from collections.abc import Callable, Sequence
from math import nan

import h5py
import numpy as np
from numpy.typing import DTypeLike

from scenarios.runfile.atomic import reports_full_disk
from scenarios.runtime.signals import check_interrupts, deferred_interrupts
from simulator import Block, Job, SteadyState
from simulator.engines import choose_engine
from topologies import Underlay
from topologies.arrays import FloatArray
from topologies.random_cycle_time import RANDOM_ROUNDS

MESSAGE_FIELDS = ("start_s", "last_bit_s", "bound_link")
"""Fields that only a record of all messages holds; `arrival_s` is always there."""
_FLUSH_S = 0.5
_PIECE = 2**20
_HEAD_BYTES = 200_000


def file_bytes(jobs: Sequence[Job], *, messages: bool, rows: int, underlay: Underlay) -> int:
    """Upper estimate of the size of a run's file.

    Parameters
    ----------
    jobs : sequence of Job
        Of all overlays.
    messages : bool
    rows : int
        Rows of each training's history.
    underlay : Underlay

    Returns
    -------
    int
    """
    # At most two labels, and what HDF5 keeps of a text of variable length.
    name = 6 + max(len(label.encode()) for label in underlay.labels) // 4
    numbers = 0
    for job in jobs:
        silos, arcs = job.silos, len(job.arcs)
        numbers += (job.rounds + 1) * (silos + arcs * (4 if messages else 1)) + rows * (2 * silos + 10)
        numbers += silos * silos + (8 + 2 * name) * arcs + (4 + name) * len(job.link_capacity_bps)
        # At most, the arcs and weights of a randomized overlay's rounds.
        numbers += 0 if job.plan is None else max(job.rounds, RANDOM_ROUNDS) * (silos + arcs + arcs // 64 + 1)
        numbers += 0 if job.plan is None else 2 * name * arcs
    return 8 * numbers + head_bytes(underlay, max(job.silos for job in jobs))


def head_bytes(underlay: Underlay, silos: int) -> int:
    """Upper estimate of what network, workload and scenario take in a file, which any file of results has."""
    routers, stated = underlay.routers, underlay.stated_routes
    numbers = 16 * routers + 4 * underlay.links + (0 if underlay.measured is None else 2 * routers * routers)
    numbers += 0 if stated is None else len(stated.routers) + len(stated.first)
    return 8 * (numbers + 2 * silos * silos + 64 * silos) + _HEAD_BYTES


@reports_full_disk
def allocate(file: h5py.File, kind: str, job: Job, *, messages: bool, engine: str = "auto") -> None:
    """Allocate everything that `SimulationWriter` fills in, at its full size.

    Parameters
    ----------
    file : h5py.File
    kind : str
        The overlay.
    job : Job
    messages : bool
        Whether to keep start, last bit and binding link of every message.
    engine : str
        Of the simulation, as it was asked for; the file names the one that is chosen.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, within a second.
    MachineError
        If the disk is full.

    Notes
    -----
    A file that grows is unreadable if the process is killed while HDF5 writes its own tables. Once all overlays are
    allocated, numbers change in place only, so that the file can be opened whenever the process is killed.
    """
    rounds, arcs = job.rounds, len(job.arcs)
    with deferred_interrupts():
        group = file.create_group(f"simulation/{kind}")
        # First of all, so that a reader of half a group knows that nothing was simulated.
        group.attrs.update(
            rounds=0,
            end_s=nan,
            cycle_time_s=nan,
            cycle_time_is_exact=False,
            half_width_s=nan,
            period_s=nan,
            period_rounds=-1,
            transient_rounds=-1,
            sharing=job.sharing.name,
            queueing=job.queueing,
            engine=choose_engine(job, engine),
        )
        make_dataset(group, "round_start_s", (rounds + 1, job.silos), np.float64, nan)
        make_dataset(group, "arrival_s", (rounds, arcs), np.float64, nan)
        for name in ("link_bits", "link_capacity_bps"):
            make_dataset(group, name, (len(job.link_capacity_bps),), np.float64, nan)
        group["absences"] = np.array(job.absences, dtype=np.int64).reshape(-1, 3)
        group["absences"].attrs["columns"] = "silo, first missed round, the round in which it is back"
        if messages:
            for name in MESSAGE_FIELDS:
                is_link = name == "bound_link"
                make_dataset(
                    group, name, (rounds, arcs), np.int32 if is_link else np.float64, -1 if is_link else nan
                )
        file.flush()
        check_interrupts()


class SimulationWriter:
    """Takes the blocks of one overlay's simulation and writes them.

    Parameters
    ----------
    file : h5py.File
    kind : str
        The overlay, for which everything is allocated.
    mean_bps : callable, optional
        Mean capacity of each link direction from the start of the job to a date; without it the file has none.

    Notes
    -----
    The attribute ``rounds`` says how many rounds are in the file, ``end_s`` the simulated time of `link_bits`; they are
    written after these. While `link_bits` change, ``end_s`` is NaN: a file that is cut short just then does not say of
    which rounds they are. The file is flushed every half second.
    """

    def __init__(
        self, file: h5py.File, kind: str, mean_bps: Callable[[float], FloatArray] | None = None
    ) -> None:
        self._file, self._mean_bps = file, mean_bps
        self._group = file[f"simulation/{kind}"]
        self._messages = [name for name in ("arrival_s", *MESSAGE_FIELDS) if name in self._group]
        self._rounds, self._end_s = 0, nan
        self._link_bits: FloatArray | None = None
        self._flushed_at = time.monotonic()

    def add(self, block: Block) -> None:
        """Write a block; within a second it is flushed, so that a kill cannot lose it."""
        _write_block(self._file, self._group, block, self._messages)
        self._rounds, self._end_s = block.first_round + block.rounds, block.now_s
        self._link_bits = block.link_bits
        if time.monotonic() - self._flushed_at > _FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Flush all blocks that were added."""
        if self._link_bits is not None:
            _write_attributes(self._file, self._group, {"end_s": nan})
            _write_links(self._file, self._group, "link_bits", self._link_bits)
            self._link_bits = None
        _write_attributes(self._file, self._group, {"rounds": self._rounds, "end_s": self._end_s})
        self._flushed_at = time.monotonic()

    def finish(self, steady: SteadyState, half_width_s: float | None) -> None:
        """Write the cycle time.

        Parameters
        ----------
        steady : SteadyState
        half_width_s : float or None
            Of the confidence interval of an estimate; None where there is none.
        """
        self.flush()
        if self._mean_bps is not None:
            _write_links(self._file, self._group, "link_capacity_bps", self._mean_bps(self._end_s))
        attributes = {
            "cycle_time_is_exact": steady.is_exact,
            "half_width_s": 0.0 if steady.is_exact else nan if half_width_s is None else half_width_s,
            "period_s": nan if steady.period_s is None else steady.period_s,
            "period_rounds": -1 if steady.period_rounds is None else steady.period_rounds,
            "transient_rounds": -1 if steady.transient_rounds is None else steady.transient_rounds,
            "cycle_time_s": steady.cycle_time_s,
        }
        _write_attributes(self._file, self._group, attributes)


@reports_full_disk
def _write_block(_file: h5py.File, group: h5py.Group, block: Block, messages: list[str]) -> None:
    """Write one block; HDF5 may keep it in memory until the file is flushed."""
    first = block.first_round
    group["round_start_s"][first : first + len(block.round_start_s)] = block.round_start_s
    for name in messages:
        group[name][first : first + block.rounds] = getattr(block.messages, name)


@reports_full_disk
def _write_links(_file: h5py.File, group: h5py.Group, name: str, values: FloatArray) -> None:
    """Write a number for each link direction."""
    group[name][...] = values


@reports_full_disk
def _write_attributes(file: h5py.File, group: h5py.Group, attributes: dict[str, float]) -> None:
    """Write attributes that belong to data which is flushed before them."""
    file.flush()
    for name, value in attributes.items():
        group.attrs.modify(name, value)
    file.flush()


def make_dataset(group: h5py.Group, name: str, shape: tuple[int, ...], dtype: DTypeLike, fill: float) -> None:
    """Make a dataset whose whole space is on the disk and filled, with little memory."""
    # HDF5's own filling crashes on a full disk.
    dataset = group.create_dataset(name, shape, dtype, fill_time="never")
    rows = max(1, _PIECE // max(1, int(np.prod(shape[1:]))))
    for first in range(0, shape[0], rows):
        check_interrupts()
        count = min(rows, shape[0] - first)
        dataset[first : first + count] = np.full((count, *shape[1:]), fill, dtype=dtype)


def recorded_absences(group: h5py.Group) -> list[tuple[int, int, int]]:
    """Silo, first missed round and the round of the return of each absence in the group of a simulation."""
    # A file of an older version does not say who was away.
    rows = group["absences"][:].tolist() if "absences" in group else []
    return [(silo, first, back) for silo, first, back in rows]
