"""Checks of a whole job: time advances, dates keep their digits, and every model reaches every silo."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from math import isfinite

import numpy as np

from simulator.arc import FlowArc
from simulator.compute_times import ComputeTimes
from simulator.rounds import RoundPlan
from topologies.arrays import FloatArray
from topologies.digraph import check_connected
from topologies.errors import InputError

_STRONG = "the arcs must join all silos in both directions"


def check_rows(compute: ComputeTimes, first: int, count: int) -> FloatArray:
    """Accept computing times that are finite and >= 0 in the rounds asked for, and return them."""
    rows_s = compute.rows(first, count)
    if rows_s.shape != (count, compute.silos):
        raise InputError(
            f"computing times of {count} rounds(of shape {rows_s.shape}) must have shape "
            f"{(count, compute.silos)}."
        )
    if not np.all(rows_s >= 0) or not np.all(np.isfinite(rows_s)):
        k, silo = np.argwhere(~(np.isfinite(rows_s) & (rows_s >= 0)))[0].tolist()
        raise InputError(
            f"computing time of silo {silo} in round {first + k}(={rows_s[k, silo]} s) "
            "must be finite and >= 0."
        )
    return rows_s


def check_durations(arcs: Sequence[FlowArc], sending_s: Sequence[float], compute_s: FloatArray) -> None:
    """Accept arcs on which a message ends and time advances along every circuit."""
    for number, duration_s in enumerate(sending_s):
        if not isfinite(duration_s):
            raise InputError(f"sending time of arc {number}(={duration_s} s) must be finite.")
    _check_no_circuit(
        [(arc.source, arc.target) for arc in arcs if arc.tokens == 0],
        "arcs with 0 tokens must not form a circuit",
    )
    _check_no_circuit(
        [
            (arc.source, arc.target)
            for arc, duration_s in zip(arcs, sending_s, strict=True)
            if arc.tokens * compute_s[arc.source] + arc.latency_s + duration_s == 0
        ],
        "arcs on which computing, latency and sending take 0 s must not form a circuit",
    )


def check_dates(sending_s: Sequence[float], messages: int) -> None:
    """Accept sending times that still change the date after one arc has sent so many messages in a row."""
    if not sending_s:
        return
    slowest = int(np.argmax(sending_s))
    date_s = messages * sending_s[slowest]
    if not isfinite(date_s):
        raise InputError(
            f"sending time of arc {slowest}(={sending_s[slowest]} s) must not pass 1.8e308 s in all rounds."
        )
    for number, duration_s in enumerate(sending_s):
        _check_moves(f"sending time of arc {number}", duration_s, date_s, slowest)


def check_computing(compute_s: FloatArray, sending_s: Sequence[float], messages: int) -> None:
    """Accept computing times of a round whose longest one still changes the date, as in `check_dates`.

    Shorter ones may be lost to rounding: random times hold some of any size.
    """
    if sending_s:
        slowest, longest = int(np.argmax(sending_s)), int(np.argmax(compute_s))
        _check_moves(
            f"computing time of silo {longest}",
            float(compute_s[longest]),
            messages * sending_s[slowest],
            slowest,
        )


def check_sum(message_bits: Sequence[float], rounds: int) -> None:
    """Accept messages whose bits on a link can be added up over all rounds."""
    if not isfinite(rounds * sum(message_bits)):
        raise InputError(
            f"message_bits(={max(message_bits)}) must not pass 1.8e308 bits on all {len(message_bits)} arcs in all "
            f"{rounds} rounds."
        )


def check_strong(arcs: Sequence[FlowArc], silos: int) -> None:
    """Accept arcs along which the model of every silo reaches, in the end, every other."""
    source = np.array([arc.source for arc in arcs], dtype=np.int64)
    target = np.array([arc.target for arc in arcs], dtype=np.int64)
    if silos > 1:
        for ends, problem in ((target, "no arc enters silo {}"), (source, "no arc leaves silo {}")):
            degree = np.bincount(ends, minlength=silos)
            if not degree.all():
                raise InputError(f"{problem.format(int(np.argmin(degree)))}: {_STRONG}.")
    check_connected(_STRONG, [f"silo {silo}" for silo in range(silos)], source, target, strong=True)


def check_plan(plan: RoundPlan, rounds: int) -> None:
    """Accept a plan that covers all rounds."""
    if plan.rounds < rounds:
        raise InputError(f"rounds(={rounds}) must be <= {plan.rounds}, the rounds of the plan.")


def _check_moves(what: str, duration_s: float, date_s: float, slowest: int) -> None:
    """Accept a time that is 0, or that changes the date at which an arc has sent its messages when added to it."""
    if duration_s and date_s + duration_s == date_s:
        raise InputError(
            f"{what}(={duration_s} s) must be longer than what floating point loses at {date_s} s, when arc {slowest} "
            "has sent its messages."
        )


def _check_no_circuit(pairs: Sequence[tuple[int, int]], rule: str) -> None:
    order: TopologicalSorter[int] = TopologicalSorter()
    for source, target in pairs:
        order.add(target, source)
    try:
        order.prepare()
    except CycleError as error:
        circuit = " -> ".join(map(str, error.args[1]))
        raise InputError(f"{rule}, but silos {circuit} do.") from None
