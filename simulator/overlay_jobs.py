"""Jobs of static and periodic overlays, and of randomized ones by their schedule."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes, Constant
from simulator.computing_rounds import ALL, in_states
from simulator.job import Job, make_job
from simulator.rounds import PeriodicRounds, RoundPlan, ScheduledRounds
from simulator.sharing import SharingModel, check_can_change, sharing_model
from simulator.world.absence_rounds import with_absences
from simulator.world.counted_silos import Absences
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import Event, effects_of
from topologies import (
    Connectivity,
    Overlay,
    PeriodicOverlay,
    RandomOverlay,
    Schedule,
    Workload,
    make_schedule,
)
from topologies.arc_numbers import ArcNumbers
from topologies.arrays import FloatArray, IntArray
from topologies.delays import pair_rates
from topologies.errors import InputError
from topologies.slow_start import restart_after_s, slow_start_s


def overlay_job(
    overlay: Overlay | PeriodicOverlay | RandomOverlay | Schedule,
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
    if isinstance(overlay, Overlay | PeriodicOverlay | Schedule):
        if seed is not None:
            raise InputError(f"seed(={seed}) must be left out: only a randomized overlay takes one.")
    elif seed is None:
        raise InputError(f"seed must be given: {overlay.kind} is a randomized overlay.")
    else:
        overlay = make_schedule(overlay, seed, rounds)
    arcs, plan = _planned_arcs(overlay, rounds)
    design = overlay.overlay if isinstance(overlay, Schedule) else overlay
    graph, work = design.graph, design.work
    computes = design.computes if isinstance(design, PeriodicOverlay) else ALL
    compute = in_states(compute or Constant(compute_s=work.round_compute_s(graph.silos)), computes)
    link_capacity_bps, changes, positive = graph.link_capacity_bps, None, False
    absences: Absences = ()
    effects = effects_of(events, graph)
    if any(effect.on_network for effect in effects):
        # Constant rates would ignore a smaller capacity, too. `make_job` checks other models, if anything changes.
        if model.constant_rates:
            check_can_change(model)
        network = dynamic_network(effects, graph, [(arc.source, arc.target) for arc in arcs])
        link_capacity_bps, changes = network.link_capacity_bps, network.changes
        positive = network.positive_capacities
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
        positive_capacities=positive,
        absences=absences,
        computes=computes,
        backward_share=work.backward_share,
    )


def _planned_arcs(
    overlay: Overlay | PeriodicOverlay | Schedule, rounds: int
) -> tuple[list[FlowArc], RoundPlan | None]:
    """Arcs of all rounds, and which of them each round has."""
    if isinstance(overlay, Overlay):
        ends = overlay.source, overlay.target
        return _flow_arcs(overlay.graph, overlay.work, *ends, overlay.tokens, overlay.rate_bps), None
    if isinstance(overlay, PeriodicOverlay):
        slowest_bps = np.full(len(overlay.numbers.source), np.inf)
        for state, rate_bps in zip(overlay.states, overlay.rate_bps, strict=True):
            np.minimum.at(slowest_bps, overlay.numbers.of(state.source, state.target), rate_bps)
        arcs = _numbered_arcs(overlay.graph, overlay.work, overlay.numbers, slowest_bps)
        return arcs, PeriodicRounds(overlay, rounds)
    if rounds > overlay.rounds:
        raise InputError(f"rounds(={rounds}) must be <= {overlay.rounds}, the rounds of the schedule.")
    plan, graph, work = ScheduledRounds(overlay, rounds), overlay.overlay.graph, overlay.overlay.work
    ends = (plan.arcs.source, plan.arcs.target)
    return _numbered_arcs(graph, work, plan.arcs, pair_rates(graph)[ends]), plan


def _numbered_arcs(
    graph: Connectivity, work: Workload, numbers: ArcNumbers, rate_bps: FloatArray
) -> list[FlowArc]:
    """Arcs of several rounds, which all carry models after computing."""
    ends = numbers.source, numbers.target
    return _flow_arcs(graph, work, *ends, np.ones_like(numbers.source), rate_bps)


def _flow_arcs(
    graph: Connectivity,
    work: Workload,
    source: IntArray,
    target: IntArray,
    tokens: IntArray,
    rate_bps: FloatArray,
) -> list[FlowArc]:
    rows = (source, target, tokens, graph.latency_s[source, target], rate_bps)
    occupied = graph.occupied(zip(source.tolist(), target.tolist(), strict=True))
    found = [
        FlowArc(
            source=i,
            target=j,
            tokens=token,
            latency_s=latency_s,
            rate_bps=rate,
            links=own.links,
            usage=own.usage,
            hops=own.hops,
        )
        for i, j, token, latency_s, rate, own in zip(*(row.tolist() for row in rows), occupied, strict=True)
    ]
    if graph.slow_start is None:
        return found
    slow_s = slow_start_s(graph, work.model_bits, source, target, rate_bps).tolist()
    after_s = restart_after_s(graph, source, target).tolist()
    return [
        replace(arc, slow_start_s=own_s, slow_start_after_s=idle_s)
        for arc, own_s, idle_s in zip(found, slow_s, after_s, strict=True)
    ]
