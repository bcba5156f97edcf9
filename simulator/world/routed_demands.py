"""Background traffic from demands between routers: traffic matrices over the underlay's routes."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from itertools import islice
from math import isfinite

import numpy as np

from simulator.input_checks import check_not_negative
from simulator.world.dated_steps import job_steps
from simulator.world.effects import Effects
from simulator.world.names import Names
from topologies.arrays import FloatArray
from topologies.errors import Field, InputError
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.traffic_loads import link_loads


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RoutedDemands:
    """Demands between routers that take the network's own routes, as background traffic by date.

    Parameters
    ----------
    matrices : TrafficMatrices
        See `topologies.networks.traffic_files.read_traffic`.
    scale : float
        Factor of all demands, finite and > 0.
    repeat : bool
        Whether the matrices start again when the last one is over; else it holds on.
    job_start_s : float
        Time from the first matrix to the job's start, finite and >= 0.

    Raises
    ------
    InputError
        If a value is out of its range.

    Notes
    -----
    Demands are offered load: constant from one matrix to the next, inelastic, and carried whole, so that the job has
    what they leave of each core link. They do not give way to models, nor to each other; a load that reaches a link's
    capacity is an error of `simulator.world.dynamic_network`. While links are down, demands keep the routes of the
    intact network; what they put on a link that is down is lost.
    """

    matrices: TrafficMatrices
    scale: float = 1.0
    repeat: bool = False
    job_start_s: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.scale) and self.scale > 0):
            raise InputError("must be finite and > 0.", field=Field("scale", value=self.scale))
        check_not_negative("job_start_s", self.job_start_s)

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        loads_bps = self.scale * link_loads(self.matrices, names.graph)
        return Effects(
            loads={
                direction: LinkLoad(
                    date_s=self.matrices.date_s,
                    load_bps=loads_bps[:, direction],
                    period_s=self.matrices.period_s if self.repeat else None,
                    job_start_s=self.job_start_s,
                    dates=self.matrices.dates,
                    scale=self.scale,
                )
                for direction in np.flatnonzero(loads_bps.any(axis=0)).tolist()
            }
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LinkLoad:
    """Load on one link direction; a `simulator.world.effects.Load`.

    Parameters
    ----------
    date_s, load_bps : ndarray of shape (dates,)
        The first date is 0.
    period_s, job_start_s
        See `job_steps`.
    dates : tuple of str
        See `topologies.networks.traffic_matrices.TrafficMatrices`.
    scale : float
        Factor of the demands that the load has already.
    """

    date_s: FloatArray
    load_bps: FloatArray
    period_s: float | None
    job_start_s: float
    dates: tuple[str, ...] = ()
    scale: float

    def steps(self) -> Iterator[tuple[float, float]]:
        """See `simulator.world.effects.Load`."""
        if (self.load_bps == self.load_bps[0]).all():  # matrices that repeat have no end
            yield 0.0, float(self.load_bps[0])
            return
        last_bps = -1.0
        for date_s, bps, _ in self._steps():
            if bps != last_bps:
                yield date_s, bps
            last_bps = bps

    def largest(self) -> tuple[float, float]:
        """See `simulator.world.effects.Load`."""
        return self._largest()[:2]

    def largest_when(self) -> str:
        """See `simulator.world.effects.Load`; the date of the file where it has dates."""
        date_s, _, matrix = self._largest()
        return f"at {self.dates[matrix] if self.dates else f'{date_s:g} s'}"

    def fitting(self, share: float) -> str:
        """See `simulator.world.effects.Load`; of four digits, and below the share by more than rounding."""
        most = Context(4, ROUND_FLOOR).create_decimal_from_float(share * self.scale * (1 - 1e-9))
        return f"with a scale of at most {float(most):g}"

    def _largest(self) -> tuple[float, float, int]:
        # After the step of the job's start, as many as there are dates are all of a period.
        return max(islice(self._steps(), len(self.date_s) + 1), key=lambda step: step[1])

    def _steps(self) -> Iterator[tuple[float, float, int]]:
        """Dates, loads and numbers of matrices; the first date is 0, so that one holds when the job starts."""
        for date_s, matrix in matrix_steps(self.date_s, self.period_s, self.job_start_s):
            yield date_s, float(self.load_bps[matrix]), matrix


def matrix_steps(
    date_s: FloatArray, period_s: float | None, job_start_s: float
) -> Iterator[tuple[float, int]]:
    """Which matrix holds from each date of the job on, by its number; see `job_steps`."""
    numbers = np.arange(len(date_s), dtype=np.float64)
    steps = job_steps(date_s, numbers, period_s=period_s, job_start_s=job_start_s, before=0.0)
    return ((begin_s, int(number)) for begin_s, number in steps)
