"""Jobs from overlays: the same arcs in all rounds, or those of a schedule."""

import numpy as np

from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes, Constant
from simulator.job import Job, make_job
from simulator.rounds import RoundPlan, ScheduledRounds
from simulator.world.absence_rounds import without_the_absent
from simulator.world.counted_silos import Absences
from simulator.world.surroundings import surroundings
from simulator.world.world import World
from topologies import Connectivity, Overlay, RandomOverlay, Schedule, Workload, make_schedule
from topologies.arrays import FloatArray, IntArray
from topologies.delays import pair_rates
from topologies.errors import InputError


def overlay_job(
    overlay: Overlay | RandomOverlay | Schedule,
    rounds: int,
    *,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    compute: ComputeTimes | None = None,
    seed: int | None = None,
    world: World | None = None,
) -> Job:
    """Job of an overlay on its underlay.

    Parameters
    ----------
    overlay, rounds, sharing, queueing, compute, seed, world
        As for `simulate`.

    Returns
    -------
    Job

    Raises
    ------
    InputError
        See `simulate`.
    """
    rounds = checks.check_at_least(1, "rounds", rounds)
    if isinstance(overlay, Overlay | Schedule):
        if seed is not None:
            raise InputError(f"seed(={seed}) must be left out: only a randomized overlay is drawn here.")
    elif seed is None:
        raise InputError(f"seed must be given: {overlay.kind} is a randomized overlay.")
    else:
        overlay = make_schedule(overlay, seed, rounds)
    if isinstance(overlay, Schedule):
        arcs, graph, work, plan = _schedule_arcs(overlay, rounds)
    else:
        graph, work, plan = overlay.graph, overlay.work, None
        arcs = _flow_arcs(
            graph, overlay.source, overlay.target, overlay.tokens, overlay.rate_bps, overlay.routes
        )
    compute = compute or Constant(compute_s=work.round_compute_s(graph.silos))
    link_capacity_bps, changes = graph.link_capacity_bps, None
    absences: Absences = ()
    if world is not None and world.changes_network:
        if sharing == "equal":
            raise InputError(
                "sharing(='equal') must be 'maxmin' in a world that changes the network: constant rates know none."
            )
        around = surroundings(world, graph, [(arc.source, arc.target) for arc in arcs])
        link_capacity_bps, changes = around.link_capacity_bps, around.changes
    if world is not None and world.absences:
        checks.check_silos(arcs, compute.silos)
        plan, compute, absences = without_the_absent(
            world.absences, graph, work.model_bits, arcs, rounds=rounds, plan=plan, compute=compute
        )
    return make_job(
        arcs,
        link_capacity_bps=link_capacity_bps,
        message_bits=work.model_bits,
        compute=compute,
        rounds=rounds,
        plan=plan,
        sharing=sharing,
        queueing=queueing,
        world=changes,
        absences=absences,
    )


def _schedule_arcs(
    schedule: Schedule, rounds: int
) -> tuple[list[FlowArc], Connectivity, Workload, RoundPlan | None]:
    """Arcs of all rounds, where they lie, what a round costs, and which arcs each round has."""
    graph = schedule.overlay.graph
    if rounds > schedule.rounds:
        raise InputError(f"rounds(={rounds}) must be <= {schedule.rounds}, the rounds of the schedule.")
    plan = ScheduledRounds(schedule, rounds)
    source, target = plan.source, plan.target
    arcs = _flow_arcs(
        graph,
        source,
        target,
        np.ones_like(source),
        pair_rates(graph)[source, target],
        tuple(graph.route(i, j) for i, j in zip(source.tolist(), target.tolist(), strict=True)),
    )
    return arcs, graph, schedule.overlay.work, plan


def _flow_arcs(
    graph: Connectivity,
    source: IntArray,
    target: IntArray,
    tokens: IntArray,
    rate_bps: FloatArray,
    routes: tuple[tuple[int, ...], ...],
) -> list[FlowArc]:
    rows = (source, target, tokens, graph.latency_s[source, target], rate_bps)
    return [
        FlowArc(source=i, target=j, tokens=token, latency_s=latency_s, rate_bps=rate, links=links)
        for i, j, token, latency_s, rate, links in zip(*(row.tolist() for row in rows), routes, strict=True)
    ]
