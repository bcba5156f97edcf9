"""Simulation of an overlay on its underlay."""

from simulator.arc import FlowArc
from simulator.flows import simulate_flows
from simulator.observer import Observer
from simulator.timeline import Timeline
from topologies import Overlay


def simulate(
    overlay: Overlay,
    rounds: int = 200,
    *,
    sharing: str = "maxmin",
    queueing: str = "fifo",
    observer: Observer | None = None,
) -> Timeline:
    """Simulate an overlay on its underlay, round by round.

    Parameters
    ----------
    overlay : Overlay
        Made by `topologies.design` or `topologies.build_overlay`.
    rounds : int
        Number of rounds, >= 1.
    sharing : {"maxmin", "equal"}
        Max-min fair rates over all link directions at every instant, or the constant rates of Eq. 3.
    queueing : {"fifo", "overlap"}
        Whether a model waits until the previous one of its arc has left, or several share the arc's route.
    observer : Observer, optional
        Watches rounds and rates.

    Returns
    -------
    Timeline
        When every silo started every round; arcs and links are numbered as in `overlay` and its `graph`.

    Raises
    ------
    InputError
        If a value is out of its range, or time could not advance around a circuit of arcs.

    See Also
    --------
    simulate_flows : the same for arcs, routes and sizes that you bring; its Notes say how.
    """
    arcs = [
        FlowArc(
            source=source, target=target, tokens=tokens, latency_s=latency_s, rate_bps=rate_bps, links=links
        )
        for source, target, tokens, latency_s, rate_bps, links in zip(
            overlay.source.tolist(),
            overlay.target.tolist(),
            overlay.tokens.tolist(),
            overlay.latency_s.tolist(),
            overlay.rate_bps.tolist(),
            overlay.routes,
            strict=True,
        )
    ]
    return simulate_flows(
        arcs,
        link_capacity_bps=overlay.graph.link_capacity_bps,
        message_bits=overlay.work.model_bits,
        compute_s=overlay.compute_s,
        rounds=rounds,
        sharing=sharing,
        queueing=queueing,
        observer=observer,
    )
