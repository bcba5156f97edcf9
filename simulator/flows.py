"""Simulation of a synchronous job on arcs whose routes and message sizes the caller gives."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from simulator import input_checks as checks
from simulator.arc import FlowArc
from simulator.block import Block, all_messages
from simulator.compute_times import ComputeTimes, Constant
from simulator.engines import make_engine
from simulator.job import Job, make_job
from simulator.observer import Observer
from simulator.rounds import RoundPlan
from simulator.sharing import SharingModel
from simulator.statistics.steady_state import steady_state
from simulator.timeline import Timeline
from simulator.world.changes import Changes
from topologies.errors import InputError


def simulate_flows(
    arcs: Sequence[FlowArc],
    *,
    link_capacity_bps: ArrayLike,
    message_bits: ArrayLike,
    compute_s: ArrayLike | None = None,
    rounds: int,
    sharing: str | SharingModel = "maxmin",
    queueing: str = "fifo",
    observer: Observer | None = None,
    compute: ComputeTimes | None = None,
    plan: RoundPlan | None = None,
    engine: str = "auto",
    messages: bool = False,
    changes: Changes | None = None,
    backward_share: float = 0.0,
) -> Timeline:
    """Simulate a job of some rounds: compute, send to every out-arc, wait for every in-arc.

    Parameters
    ----------
    arcs : sequence of FlowArc
        Arcs of the overlay with their routes. Silos need no arc to themselves: own computing is always
        waited for.
    link_capacity_bps : array_like of shape (links,)
        Capacity of each link direction in bit/s, > 0; infinity is allowed.
    message_bits : float or array_like of shape (arcs,)
        Size of a message, in bits.
    compute_s : array_like of shape (silos,)
        Computing time of each silo in every round, in seconds; or give `compute`.
    rounds : int
        Number of rounds, >= 1. No message of a later round exists.
    sharing : str or SharingModel
        Rates of the messages on the network: ``"maxmin"``, max-min fair over all link directions at every instant;
        ``"equal"``, the constant `FlowArc.rate_bps`; ``"rtt_weighted"``, max-min fair with the weights of
        `simulator.rtt_weights`; or another model of `simulator.sharing`.
    queueing : {"fifo", "overlap"}
        Whether a message waits until the previous one of its arc has left, or several share the arc's route.
    observer : Observer, optional
        Is called at rounds and changes of rates.
    compute : ComputeTimes, optional
        Computing times that differ from round to round.
    plan : RoundPlan, optional
        Which arcs carry a message in which round, and how much earlier it is sent; by default all in every one. A silo
        waits only for those of its in-arcs that the round has.
    engine : {"auto", "simpy", "compiled"}
        ``"simpy"`` simulates every job; ``"compiled"`` only those with rates of this package's models on a network
        that does not change, much faster, with the same results to a relative 1e-9; ``"auto"`` takes it for 20,000
        messages or 500 arcs and more where it can.
    messages : bool
        Whether to keep a record of every message.
    changes : Changes, optional
        What changes on the network while the job runs; the sharing model must be able to change, as
        ``"maxmin"`` is.
    backward_share : float
        Share of each round's computing time, at its end, in which its messages leave already; see `simulator.job.Job`.

    Returns
    -------
    Timeline
        When every silo started every round and every message arrived.

    Raises
    ------
    InputError
        If a value is out of its range, a silo never receives another one's model, arcs with 0 tokens form a circuit,
        or time could not advance around a circuit of arcs.

    Examples
    --------
    Two silos compute for 1 s and send 8 bits over 2 bit/s to each other:

    >>> pair = [FlowArc(source=0, target=1, latency_s=0.5, links=(0,)),
    ...         FlowArc(source=1, target=0, latency_s=0.5, links=(1,))]
    >>> timeline = simulate_flows(
    ...     pair, link_capacity_bps=[2, 2], message_bits=8, compute_s=[1, 1], rounds=3)
    >>> timeline.round_start_s[:, 0].tolist()
    [0.0, 5.5, 11.0, 16.5]

    Notes
    -----
    With t_i(0) = 0, silo `i` starts round ``k + 1`` when its own computing of round `k` has ended and the
    messages of round `k` of all its in-arcs are in. With ``sharing="equal", queueing="overlap"`` that is the
    max-plus recurrence of [1]_, Eq. 4, with the delays of Eq. 3.

    Equal sharing costs O(1) per message. Max-min sharing costs one solve per instant at which messages start
    or leave, over those flows only that are connected to them through shared links.

    Max-min sharing takes ends that lie within a relative 1e-13 of a date for one instant, since rounding
    must not separate what happens together. So a message that needs less than this fraction of the date at
    which it leaves (0.1 microseconds after 10^6 s) may take no time.

    References
    ----------
    .. [1] O. Marfoq, C. Xu, G. Neglia, R. Vidal, "Throughput-Optimal Topology Design for Cross-Silo Federated
       Learning", NeurIPS 2020.
    """
    job = make_job(
        arcs,
        link_capacity_bps=link_capacity_bps,
        message_bits=message_bits,
        compute=_computing(compute_s, compute),
        rounds=rounds,
        plan=plan,
        sharing=sharing,
        queueing=queueing,
        changes=changes,
        backward_share=backward_share,
    )
    return run(job, observer=observer, engine=engine, messages=messages)


def run(job: Job, *, observer: Observer | None = None, engine: str = "auto", messages: bool) -> Timeline:
    """Simulate a job and collect all its rounds.

    Parameters
    ----------
    job : Job
    observer, engine, messages
        As for `simulate_flows`.

    Returns
    -------
    Timeline
    """
    running = make_engine(job, engine=engine, observer=observer)
    blocks: list[Block] = []
    while (block := running.advance()) is not None:
        blocks.append(block)
        if observer is not None and observer.on_round is not None and running.name == "compiled":
            for k, now_s in enumerate(block.round_start_s.max(axis=1).tolist(), block.first_round):
                observer.on_round(k, now_s)
    round_start_s = np.concatenate([block.round_start_s for block in blocks])
    steady, further_start_s = steady_state(job, running.steady, round_start_s)
    return Timeline(
        round_start_s=round_start_s,
        arrival_s=np.concatenate([block.messages.arrival_s for block in blocks]),
        link_bits=blocks[-1].link_bits,
        steady=steady,
        messages=all_messages(blocks) if messages else None,
        further_start_s=further_start_s,
        absences=job.absences,
        engine=running.name,
        computes=job.computes,
        regular_from=job.regular_from,
    )


def _computing(compute_s: ArrayLike | None, compute: ComputeTimes | None) -> ComputeTimes:
    if compute is None:
        if compute_s is None:
            raise InputError("compute_s or compute must be given.")
        return Constant(compute_s=np.asarray(checks.check_compute(compute_s)))
    if compute_s is not None:
        raise InputError("compute_s and compute must not both be given.")
    return compute
