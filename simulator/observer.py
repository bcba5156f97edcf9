"""Functions of the caller that a running simulation calls."""

from collections.abc import Callable
from dataclasses import dataclass

OnRound = Callable[[int, float], None]
OnRates = Callable[[float, list[int], list[float]], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Observer:
    """Functions that the simulation calls; those left out cost nothing.

    Parameters
    ----------
    on_round : callable, optional
        ``on_round(k, now_s)`` is called when the last silo has started round `k`, for ``k = 0 .. rounds``.
    on_rates : callable, optional
        ``on_rates(now_s, arcs, rates_bps)`` is called at the end of every instant at which a rate changed,
        with the arc and the rate of every message on the network; the rates hold until the next call. With
        ``queueing="overlap"`` an arc occurs once for each of its messages. Messages that take no time
        (of zero bits, or without a link of finite capacity) are not reported, and with a sharing model of
        constant rates it is never called. Only the SimPy engine calls it.

    Examples
    --------
    >>> from simulator import FlowArc, Observer, simulate_flows
    >>> ring = [FlowArc(source=0, target=1, latency_s=0.5, links=()),
    ...         FlowArc(source=1, target=0, latency_s=0.5, links=())]
    >>> watch = Observer(on_round=lambda k, now_s: print(f"round {k} at {now_s} s"))
    >>> timeline = simulate_flows(
    ...     ring, link_capacity_bps=[], message_bits=0, compute_s=[1, 1], rounds=2, observer=watch)
    round 0 at 0.0 s
    round 1 at 1.5 s
    round 2 at 3.0 s
    """

    on_round: OnRound | None = None
    on_rates: OnRates | None = None
