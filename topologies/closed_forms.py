"""The three closed forms of an overlay's cycle time."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import FloatArray, IntArray
from topologies.maxplus import EventGraph


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedForms:
    """Cycle time of one overlay under three assumptions, in seconds.

    Attributes
    ----------
    paper_s : float
        Eq. 3 to 5 as published. It lets a link carry several rounds' models at once, each at full rate: with a
        slow access link on a long circuit it can fall below the time that the link needs for one model.
    serialized_s : float
        An arc finishes one model before it starts the next. Exact where every arc has the constant rate of Eq. 3
        and sends in order (``sharing="equal", queueing="fifo"``).
    load_bound_s : float
        The busiest link direction's models per round, at its full capacity: a lower bound for every fair sharing
        of real links.
    busiest_link : int or None
        The link direction that sets `load_bound_s`; None where nothing is sent.
    """

    paper_s: float
    serialized_s: float
    load_bound_s: float
    busiest_link: int | None


def closed_forms(
    paper_s: float,
    slowest_s: float,
    crossings: FloatArray,
    link_capacity_bps: FloatArray,
    model_bits: float,
    *,
    period: int = 1,
) -> ClosedForms:
    """All three closed forms.

    Parameters
    ----------
    paper_s : float
        Cycle time of the overlay's event graph, per round.
    slowest_s : float
        Largest time per round that an arc needs to send one model after the other.
    crossings : ndarray, shape (link directions,)
        Models on each link direction, of a periodic overlay those of all states: `Connectivity.crossings`.
    link_capacity_bps : ndarray, shape (link directions,)
    period : int
        Rounds in which these models are sent.

    Notes
    -----
    In a static overlay a self-loop of an arc's transmission time, with one token, on the arc itself makes it send one
    model after the other. Every simple circuit of that larger graph is either a circuit of the overlay or one such
    self-loop, so its cycle time is the larger of `paper_s` and the longest transmission. Time O(link directions).
    """
    load_bound_s, busiest_link = largest_load(crossings, link_capacity_bps, model_bits, period=period)
    return ClosedForms(
        paper_s=paper_s,
        serialized_s=max(paper_s, slowest_s),
        load_bound_s=load_bound_s,
        busiest_link=busiest_link,
    )


def largest_load(
    crossings: FloatArray, link_capacity_bps: FloatArray, model_bits: float, *, period: int
) -> tuple[float, int | None]:
    """`ClosedForms.load_bound_s` and `ClosedForms.busiest_link`; parameters as for `closed_forms`.

    Notes
    -----
    The load of a link is the bits that cross it in a period over its capacity and `period`. Time O(link directions).
    """
    used = np.flatnonzero(crossings)
    if not len(used):
        return 0.0, None
    loads_s = crossings[used] * model_bits / link_capacity_bps[used] / period
    busiest = int(np.argmax(loads_s))
    return float(loads_s[busiest]), int(used[busiest])


def serialized_event_graph(
    graph: EventGraph,
    computing_s: FloatArray,
    latency_s: FloatArray,
    transmission_s: FloatArray,
    *,
    behind: IntArray | None = None,
    turns: IntArray | None = None,
    direct: bool,
) -> EventGraph:
    """Event graph in which every arc sends one model after the other.

    Parameters
    ----------
    graph : EventGraph
        An overlay's: its arcs, then a self-loop for each other event.
    computing_s : ndarray, shape (arcs,)
        From the event at which an arc begins to the moment at which its model is handed over.
    latency_s, transmission_s : ndarray, shape (arcs,)
    behind : ndarray of int, shape (arcs,), optional
        The arc whose model is sent just before, by the same silo to the same other one; by default the arc itself.
    turns : ndarray of int, shape (arcs,), optional
        Rounds, or periods of a periodic overlay, between the two; by default 1.
    direct : bool
        Whether the arcs of `graph` hold beside these, at the end: their delays may be longer than the sum of what an
        arc takes, where a model that leaves in the backward pass arrives after it.

    Returns
    -------
    EventGraph
        Node ``graph.nodes + a`` is the start of the transmission on arc `a` that gates the event of the same round. In
        its first round nothing has been sent before: `recurrence` starts with ``-inf`` there.
    """
    nodes, arcs = graph.nodes, len(latency_s)
    source, target, tokens = graph.source[:arcs], graph.target[:arcs], graph.tokens[:arcs]
    number = np.arange(arcs)
    behind = number if behind is None else behind
    turns = np.ones(arcs, dtype=np.int64) if turns is None else turns
    own, kept = slice(arcs, None), slice(arcs if direct else 0)
    return EventGraph(
        nodes=nodes + arcs,
        source=np.concatenate((source, nodes + behind, nodes + number, graph.source[own], source[kept])),
        target=np.concatenate((nodes + number, nodes + number, target, graph.target[own], target[kept])),
        delay_s=np.concatenate(
            (
                computing_s,
                transmission_s[behind],
                transmission_s + latency_s,
                graph.delay_s[own],
                graph.delay_s[kept],
            )
        ),
        tokens=np.concatenate(
            (tokens, turns, np.zeros(arcs, dtype=np.int64), graph.tokens[own], tokens[kept])
        ),
    )


def before_any(silos: int, nodes: int) -> FloatArray:
    """Times of round 0 for `recurrence`: 0 for the first `silos` events, ``-inf`` for the others, which it lacks."""
    return np.concatenate((np.zeros(silos), np.full(nodes - silos, -np.inf)))
