"""The same training run on another network: new wall-clock times, no training."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenarios.config.network import build_network
from scenarios.config.overlays import design_any
from scenarios.config.scenario import Scenario, parse_scenario
from scenarios.runfile.paths import check_new_run
from scenarios.runfile.reader import OverlayRecord, RunRecord, read_active, read_run
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.simulation.runner import job_of, run_job
from simulator import Job
from topologies import Connectivity, InputError, Overlay, RandomOverlay, Workload, build_overlay
from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import Field

_CHECKED_MESSAGES = 2**20
"""Of a run's simulation, whose arcs are compared with those that are drawn now."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RelocatedOverlay:
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

    def draw(self, rng: np.random.Generator, round_: int, /) -> IntArray:
        """See `RandomOverlay`; it depends on the network of the design alone."""
        return self.drawn.draw(rng, round_)

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


def replay(
    source: Path,
    path: Path,
    changes: Mapping[str, str | bool | Mapping[str, str] | Sequence[str] | None],
    *,
    force: bool = False,
    engine: str | None = None,
) -> tuple[str, ...]:
    """Write the file of a run as it would have gone on another network.

    Parameters
    ----------
    source : Path
        The file of a run or of a replay, complete or interrupted.
    path : Path
        The new file: the same overlays and training rows, other dates.
    changes : mapping
        Fields of `NetworkConfig` that differ from the source's; None for unchanged ones.
    force : bool
        Whether an existing file is replaced.
    engine : str, optional
        Instead of the scenario's; see `simulator.engines.choose_engine`.

    Returns
    -------
    tuple of str
        One line for each overlay that cannot be replayed, such as one with an arc that the network blocks.

    Raises
    ------
    InputError
        If the source cannot be read, the new file cannot be written, the network cannot be built or has another
        number of silos, or no overlay can be replayed.

    Notes
    -----
    The arcs and consensus matrices are those of the run, since the training rows belong to them; they are not designed
    again for the other network. Randomized overlays are drawn again, from the run's seed. Updates of synchronous DPASGD
    do not depend on timing, so the rows stay valid. Underlay and workload come from the source file, not from the files
    that it was made from.
    """
    check_new_run(path, force=force)
    if source.resolve() == path.resolve():
        raise InputError(f"{path} is the run itself; the replay needs another name.")
    record = read_run(source)
    scenario = parse_scenario(record.scenario, source=f"{source} (scenario)", recorded=True)
    if engine is not None:
        scenario = scenario.simulated_by(engine)
    for left_out in ("internal_only", "largest_component"):
        if changes.get(left_out) and not changes.get("underlay"):
            raise InputError("goes with another underlay.", field=Field(left_out, value=True))
    network = record.network.changed(**changes)
    graph = build_network(network, None if changes.get("underlay") else record.underlay)
    silos = len(record.network.silo_at or record.underlay.labels)
    if silos != graph.silos:
        raise InputError(f"{graph.underlay.name} has {graph.silos} silos, but the run has {silos}.")
    there, here = record.silo_labels, graph.labels
    if there != here and sorted(there) == sorted(here):
        raise InputError(
            f"{source} numbers the silos of {graph.underlay.name} in another order than that of their labels, as files "
            "of older versions do; run its scenario again."
        )
    settings = scenario.simulation
    trained = scenario.training.rounds if scenario.training else 0
    rounds = max(settings.rounds, trained)
    overlays: list[Overlay | RelocatedOverlay] = []
    jobs: list[Job] = []
    replayed: list[OverlayRecord] = []
    left: list[str] = []
    for recorded in record.overlays:
        try:
            overlay, job = _relocated(graph, source, record, scenario, recorded, rounds=rounds)
        except InputError as error:
            left.append(str(error))
            continue
        overlays.append(overlay)
        jobs.append(job)
        replayed.append(recorded)
    if not replayed:
        raise InputError(left[0] if left else f"{source} has no overlay to replay.")
    head = RunHead(
        scenario=record.scenario, network=network, seed=scenario.seed, graph=graph, work=record.work
    )
    rows = {recorded.kind: len(recorded.wall_clock_s) for recorded in replayed if recorded.history}
    simulations = [*zip(overlays, jobs, strict=True)]
    with RunFile.create(
        path, head, simulations, messages=settings.messages, engine=settings.engine, rows=rows, force=force
    ) as file:
        for recorded, job in zip(replayed, jobs, strict=True):
            outcome = run_job(
                job,
                recorded.kind,
                until_ci=settings.until_ci,
                least_rounds=trained,
                engine=settings.engine,
                writer=file.simulation(recorded.kind),
            )
            if recorded.history:
                file.write_history(recorded.kind, recorded.history, outcome.last_start_s)
    return tuple(f"not replayed: {rule}" for rule in left)


def _relocated(
    graph: Connectivity,
    source: Path,
    record: RunRecord,
    scenario: Scenario,
    recorded: OverlayRecord,
    *,
    rounds: int,
) -> tuple[Overlay | RelocatedOverlay, Job]:
    """One of a run's overlays on another network, and its simulation there."""
    if recorded.consensus is None:
        return _redrawn(source, record, scenario, recorded, graph, rounds=rounds)
    arcs = recorded.arcs[:, :2].tolist()
    overlay = build_overlay(
        recorded.kind,
        graph,
        record.work,
        arcs,
        hub=recorded.hub,
        consensus=recorded.consensus,
        negative_weights=recorded.negative_weights,
    )
    return overlay, job_of(overlay, scenario.simulation, rounds=rounds, seed=scenario.seed)


def _redrawn(
    source: Path,
    record: RunRecord,
    scenario: Scenario,
    recorded: OverlayRecord,
    graph: Connectivity,
    *,
    rounds: int,
) -> tuple[RelocatedOverlay, Job]:
    """A run's randomized overlay on another network, and its simulation there.

    The training belongs to the arcs that were drawn, which follow from the seed and the network of the run; in a replay
    of a replay that network is not its scenario's. The file says in which round an arc carried a model, so the arcs are
    compared with those that are drawn now, and an overlay that differs is refused.
    """
    active = read_active(source, recorded.kind, most=_CHECKED_MESSAGES)
    arcs = set(map(tuple, recorded.arcs[:, :2].tolist()))
    for drawn in _designed(record, scenario, recorded.kind):
        relocated = RelocatedOverlay(drawn=drawn, graph=graph)
        job = job_of(relocated, scenario.simulation, rounds=rounds, seed=scenario.seed)
        pairs = [(arc.source, arc.target) for arc in job.arcs]
        if set(pairs) == arcs and _is_followed(job, active):
            bad = next((pair for pair in pairs if not graph.may_send[pair]), None)
            if bad is None:
                return relocated, job
            a, b = (graph.labels[silo] for silo in bad)
            raise InputError(f"{recorded.kind} has the arc {a} -> {b}, which {graph.underlay.name} blocks.")
    raise InputError(
        f"{recorded.kind} is a randomized overlay, and its arcs of the run cannot be drawn again from the seed and "
        "the scenario."
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
