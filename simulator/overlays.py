"""Jobs from overlays: the same arcs in all rounds, or those of a schedule."""

import numpy as np

from simulator import checks
from simulator.arc import FlowArc
from simulator.computing import ComputeTimes, Constant
from simulator.job import Job, make_job
from simulator.rounds import ScheduledRounds
from topologies import Connectivity, Overlay, RandomOverlay, Schedule, make_schedule
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
) -> Job:
    """Job of an overlay on its underlay.

    Parameters
    ----------
    overlay, rounds, sharing, queueing, compute, seed
        As for `simulate`.

    Returns
    -------
    Job

    Raises
    ------
    InputError
        See `simulate`.
    """
    rounds = checks.check_at_least_one("rounds", rounds)
    if isinstance(overlay, Overlay | Schedule):
        if seed is not None:
            raise InputError(f"seed(={seed}) must be left out: only a random overlay is drawn here.")
    elif seed is None:
        raise InputError(f"seed must be given: the arcs of {overlay.kind} are drawn anew each round.")
    else:
        overlay = make_schedule(overlay, seed, rounds)
    if isinstance(overlay, Schedule):
        return _schedule_job(overlay, rounds, sharing, queueing, compute)
    return make_job(
        _flow_arcs(
            overlay.graph, overlay.source, overlay.target, overlay.tokens, overlay.rate_bps, overlay.routes
        ),
        link_capacity_bps=overlay.graph.link_capacity_bps,
        message_bits=overlay.work.model_bits,
        compute=compute or Constant(compute_s=overlay.compute_s),
        rounds=rounds,
        sharing=sharing,
        queueing=queueing,
    )


def _schedule_job(
    schedule: Schedule, rounds: int, sharing: str, queueing: str, compute: ComputeTimes | None
) -> Job:
    graph, work = schedule.overlay.graph, schedule.overlay.work
    if rounds > schedule.rounds:
        raise InputError(f"rounds(={rounds}) must be <= {schedule.rounds}, the rounds of the schedule.")
    plan = ScheduledRounds(schedule, rounds)
    source, target = plan.source, plan.target
    return make_job(
        _flow_arcs(
            graph,
            source,
            target,
            np.ones_like(source),
            pair_rates(graph)[source, target],
            tuple(graph.route(i, j) for i, j in zip(source.tolist(), target.tolist(), strict=True)),
        ),
        link_capacity_bps=graph.link_capacity_bps,
        message_bits=work.model_bits,
        compute=compute or Constant(compute_s=work.round_compute_s(graph.silos)),
        rounds=rounds,
        plan=plan,
        sharing=sharing,
        queueing=queueing,
    )


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
