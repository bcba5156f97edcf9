"""Jobs of static overlays, and of randomized ones by their schedule."""

from collections.abc import Sequence

import numpy as np

from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes, Constant
from simulator.job import Job, make_job
from simulator.rounds import RoundPlan, ScheduledRounds
from simulator.sharing import SharingModel, check_can_change, sharing_model
from simulator.world.absence_rounds import with_absences
from simulator.world.counted_silos import Absences
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import Event, effects_of
from topologies import Connectivity, Overlay, RandomOverlay, Schedule, Workload, make_schedule
from topologies.arrays import FloatArray, IntArray
from topologies.delays import pair_rates
from topologies.errors import InputError


def overlay_job(
    overlay: Overlay | RandomOverlay | Schedule,
    rounds: int,
    *,
    sharing: str | SharingModel = "maxmin",
    queueing: str = "fifo",
    compute: ComputeTimes | None = None,
    seed: int | None = None,
    events: Sequence[Event] = (),
) -> Job:
    """Job of an overlay on its underlay.

    Parameters
    ----------
    overlay, rounds, sharing, queueing, compute, seed, events
        As for `simulate`.

    Returns
    -------
    Job

    Raises
    ------
    InputError
        See `simulate`.
    """
    rounds, model = checks.check_at_least(1, "rounds", rounds), sharing_model(sharing)
    if isinstance(overlay, Overlay | Schedule):
        if seed is not None:
            raise InputError(f"seed(={seed}) must be left out: only a randomized overlay takes one.")
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
    effects = effects_of(events, graph)
    if any(effect.on_network for effect in effects):
        # Constant rates would ignore a smaller capacity, too. `make_job` checks other models, if anything changes.
        if model.constant_rates:
            check_can_change(model)
        network = dynamic_network(effects, graph, [(arc.source, arc.target) for arc in arcs])
        link_capacity_bps, changes = network.link_capacity_bps, network.changes
    if any(effect.on_silos for effect in effects):
        checks.check_silos(arcs, compute.silos)
        plan, compute, absences = with_absences(
            effects, graph, work.model_bits, arcs, rounds=rounds, plan=plan, compute=compute
        )
    return make_job(
        arcs,
        link_capacity_bps=link_capacity_bps,
        message_bits=work.model_bits,
        compute=compute,
        rounds=rounds,
        plan=plan,
        sharing=model,
        queueing=queueing,
        changes=changes,
        absences=absences,
    )


def _schedule_arcs(
    schedule: Schedule, rounds: int
) -> tuple[list[FlowArc], Connectivity, Workload, RoundPlan | None]:
    """Arcs of all rounds, their network and workload, and which arcs each round has."""
    graph = schedule.overlay.graph
    if rounds > schedule.rounds:
        raise InputError(f"rounds(={rounds}) must be <= {schedule.rounds}, the rounds of the schedule.")
    plan = ScheduledRounds(schedule, rounds)
    source, target = plan.arcs.source, plan.arcs.target
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
