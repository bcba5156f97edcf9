"""The multigraph on a network: over the ring of Christofides' algorithm."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Self

from topologies.arrays import FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.designers.christofides import christofides
from topologies.designers.options import DesignerOption
from topologies.designers.published_ring import published_ring
from topologies.errors import InputError
from topologies.periodic.multigraph import MOST_LAG
from topologies.periodic.multigraph import multigraph as multigraph_states
from topologies.periodic.multigraph_readings import (
    equation_reading,
    published_reading,
    recurrence_reading,
)
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.workload import Workload

MostLag = Annotated[
    int,
    DesignerOption(help="Most rounds after which a slow arc of multigraph is waited for", at_least=1),
]
PUBLISHED_ROUNDS: Mapping[str, int] = MappingProxyType(
    {"femnist": 6400, "sentiment140": 20_000, "inaturalist": 1600}
)
"""Rounds over which the published table of the multigraph averages."""
_OTHER_ROUNDS = 6400


def multigraph(graph: Connectivity, work: Workload, *, most_lag: MostLag = MOST_LAG) -> PeriodicOverlay:
    """Multigraph: the ring of Christofides' algorithm, on which slow arcs are waited for in some rounds only.

    Parameters
    ----------
    most_lag : int
        Largest lag, at least 1. With 1 it is the ring.

    Raises
    ------
    InputError
        If there is no such ring, `most_lag` is below 1, or the period has too many states.

    Notes
    -----
    See `topologies.periodic.multigraph.multigraph`, which names the source. With published inputs the ring is that of
    the published tables, where that is defined; see `topologies.designers.published_ring.published_ring`.
    """
    source, target, delay_s = _ring(graph, work)
    states = multigraph_states(source, target, delay_s, most_lag=most_lag)
    return build_periodic("multigraph", graph, work, states)


def multigraph_reading_s(graph: Connectivity, work: Workload, *, most_lag: int = MOST_LAG) -> float:
    """Cycle time of the multigraph as its published table has it, in seconds; no round lasts so long.

    Raises
    ------
    InputError
        As `multigraph`, and of a single silo, which has no ring.

    Notes
    -----
    See `topologies.periodic.multigraph_readings.published_reading`; the mean over as many rounds as the table has for
    the workload, `PUBLISHED_ROUNDS`, and 6,400 for others.
    """
    return _TableRing.of(graph, work).published_s(most_lag)


@dataclass(frozen=True, kw_only=True, slots=True)
class MultigraphReadings:
    """What may be called the multigraph's cycle time, in seconds, all on the same delays of the ring's arcs.

    Attributes
    ----------
    ring_s : float
        Of the ring, as a static overlay.
    published_s, equation_s, recurrence_s : float
        See `published_reading`, `equation_reading` and `recurrence_reading` in
        `topologies.periodic.multigraph_readings`.
    """

    ring_s: float
    published_s: float
    equation_s: float
    recurrence_s: float


def multigraph_readings(
    graph: Connectivity, work: Workload, *, most_lag: int = MOST_LAG
) -> MultigraphReadings:
    """Cycle times of the multigraph by all readings, on the delays of its published table where inputs are published.

    Raises
    ------
    InputError
        As `multigraph`, and of a single silo, which has no ring.

    Notes
    -----
    With published inputs the delays are those of `topologies.designers.published_ring.published_ring`, which may take
    another of two equally long routes than `multigraph` does: then `recurrence_s` is not quite its `paper` cycle time.
    """
    ring = _TableRing.of(graph, work)
    arcs = (ring.source, ring.target, ring.delay_s, ring.compute_s)
    return MultigraphReadings(
        ring_s=recurrence_reading(*arcs, most_lag=1),
        published_s=ring.published_s(most_lag),
        equation_s=equation_reading(ring.delay_s, ring.compute_s, ring.rounds, most_lag=most_lag),
        recurrence_s=recurrence_reading(*arcs, most_lag=most_lag),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _TableRing:
    """The ring's arcs as the published table counts them, with the computing times of their sources."""

    source: IntArray
    target: IntArray
    delay_s: FloatArray
    compute_s: FloatArray
    rounds: int

    @classmethod
    def of(cls, graph: Connectivity, work: Workload) -> Self:
        source, target, delay_s = _ring(graph, work)
        return cls(
            source=source,
            target=target,
            delay_s=delay_s,
            compute_s=work.round_compute_s(graph.silos)[source],
            rounds=PUBLISHED_ROUNDS.get(work.name, _OTHER_ROUNDS),
        )

    def published_s(self, most_lag: int) -> float:
        """Cycle time as the table has it."""
        return published_reading(self.delay_s, self.compute_s, self.rounds, most_lag=most_lag)


def _ring(graph: Connectivity, work: Workload) -> tuple[IntArray, IntArray, FloatArray]:
    """Source, target and delay with degree 1 of the ring's arcs, sorted by source."""
    if graph.underlay.variant == "published":
        try:
            return published_ring(graph, work)
        except InputError:
            pass
    ring = christofides(graph, work)
    return ring.source, ring.target, ring.delay_s
