"""A randomized overlay, with the arcs that a run had, on another network."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenarios.config.network import build_network
from scenarios.config.overlays import design_any
from scenarios.config.scenario import Scenario
from scenarios.runfile.reader import OverlayRecord, RunRecord, read_active
from scenarios.simulation.runner import job_of
from simulator import Job
from topologies import Connectivity, InputError, Overlay, RandomOverlay, Workload
from topologies.arrays import BoolArray, FloatArray, IntArray

_CHECKED_MESSAGES = 2**20
"""Of a run's simulation, by which its arcs are told from those that are drawn."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Moved:
    """A randomized overlay whose arcs are drawn as on the network of its design, and lie on another one.

    Parameters
    ----------
    drawn : RandomOverlay
    graph : Connectivity
        Where the arcs lie.
    """

    drawn: RandomOverlay
    graph: Connectivity

    @property
    def kind(self) -> str:
        """Name of the designer."""
        return self.drawn.kind

    @property
    def work(self) -> Workload:
        """What a round costs."""
        return self.drawn.work

    def draw(self, rng: np.random.Generator) -> IntArray:
        """See `RandomOverlay`; it depends on the network of the design alone."""
        return self.drawn.draw(rng)

    def arcs(self, choice: IntArray) -> tuple[IntArray, IntArray]:
        """See `RandomOverlay`."""
        return self.drawn.arcs(choice)

    def consensus(self, source: IntArray, target: IntArray) -> FloatArray:
        """See `RandomOverlay`."""
        return self.drawn.consensus(source, target)

    @property
    def negative_weights(self) -> bool:
        """See `RandomOverlay`."""
        return self.drawn.negative_weights


def redraw(
    source: Path,
    record: RunRecord,
    scenario: Scenario,
    kept: OverlayRecord,
    graph: Connectivity,
    *,
    rounds: int,
) -> tuple[Moved, Job]:
    """A run's randomized overlay on another network, and its simulation there.

    Parameters
    ----------
    source : Path
        The file of the run.
    record : RunRecord
    scenario : Scenario
        The run's.
    kept : OverlayRecord
        One of its randomized overlays.
    graph : Connectivity
        The other network, with as many silos.
    rounds : int
        To simulate.

    Returns
    -------
    overlay : Moved
    job : Job

    Raises
    ------
    InputError
        If the overlay as it is designed and drawn now does not have the arcs of the run, in all or in a round that the
        file holds, or the other network does not have them.

    Notes
    -----
    The training belongs to the drawn arcs, which follow from the seed and the network of the run; that of a replay is
    another than its scenario's. The file says in which round an arc carried a model, so nothing is taken on trust.
    """
    active = read_active(source, kept.kind, most=_CHECKED_MESSAGES)
    arcs = set(map(tuple, kept.arcs[:, :2].tolist()))
    for drawn in _designed(record, scenario, kept.kind):
        moved = Moved(drawn=drawn, graph=graph)
        job = job_of(moved, scenario.simulation, rounds=rounds, seed=scenario.seed)
        pairs = [(arc.source, arc.target) for arc in job.arcs]
        if set(pairs) == arcs and _is_followed(job, active):
            bad = next((pair for pair in pairs if not graph.may_send[pair]), None)
            if bad is None:
                return moved, job
            a, b = (graph.labels[silo] for silo in bad)
            raise InputError(f"{kept.kind} has the arc {a} -> {b}, which {graph.underlay.name} blocks.")
    raise InputError(
        f"{kept.kind} is a randomized overlay, and its arcs of the run cannot be drawn again from the seed and the "
        "scenario."
    )


def _designed(record: RunRecord, scenario: Scenario, kind: str) -> Iterator[RandomOverlay]:
    """The overlay on each network that may be the run's: the file's, and the scenario's where a replay has another."""
    for network, underlay in (
        (record.network, record.underlay),
        (scenario.network, record.underlay),
        (scenario.network, None),
    ):
        try:
            graph = build_network(network, underlay)
            given = scenario.overlays.options.get(kind)
            overlay = design_any(kind, graph, record.work, given, seed=scenario.seed)
        except InputError:
            continue  # a label of another underlay, or a file that is no longer there
        assert not isinstance(overlay, Overlay)
        yield overlay


def _is_followed(job: Job, active: BoolArray) -> bool:
    """Whether arcs carry models in the rounds in which they do in a run; shape (rounds, arcs)."""
    if job.plan is None or active.shape[1] != len(job.arcs) or len(active) > job.rounds:
        return False
    for round_, there in enumerate(active):
        planned = np.zeros(len(job.arcs), dtype=np.bool_)
        planned[job.plan.active(round_)] = True
        if not np.array_equal(planned, there):
            return False
    return True
