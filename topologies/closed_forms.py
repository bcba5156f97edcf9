"""The three closed forms of an overlay's cycle time."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from topologies.arrays import FloatArray
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
    transmission_s: FloatArray,
    routes: tuple[tuple[int, ...], ...],
    link_capacity_bps: FloatArray,
    model_bits: float,
) -> ClosedForms:
    """All three closed forms.

    Parameters
    ----------
    paper_s : float
        Cycle time of the overlay's event graph.
    transmission_s : ndarray, shape (arcs,)
        Time of one model on each arc at the rate of Eq. 3.
    routes : tuple of tuple of int
        Link directions of each arc.
    link_capacity_bps : ndarray, shape (link directions,)

    Notes
    -----
    A self-loop of an arc's transmission time, with one token, on the arc itself makes it send one model after the
    other. Every simple circuit of that larger graph is either a circuit of the overlay or one such self-loop, so
    its cycle time is the larger of `paper_s` and the longest transmission. Time O(total route length).
    """
    crossings = np.bincount(
        np.fromiter(chain.from_iterable(routes), np.int64), minlength=len(link_capacity_bps)
    )
    used = np.flatnonzero(crossings)
    loads_s = crossings[used] * model_bits / link_capacity_bps[used]
    busiest = int(np.argmax(loads_s)) if len(used) else None
    return ClosedForms(
        paper_s=paper_s,
        serialized_s=max(paper_s, float(transmission_s.max(initial=0.0))),
        load_bound_s=0.0 if busiest is None else float(loads_s[busiest]),
        busiest_link=None if busiest is None else int(used[busiest]),
    )


def serialized_event_graph(
    graph: EventGraph, compute_s: FloatArray, latency_s: FloatArray, transmission_s: FloatArray
) -> tuple[EventGraph, FloatArray]:
    """Event graph in which every arc sends one model after the other, and its initial times.

    Parameters
    ----------
    graph : EventGraph
        An overlay's: its arcs, then one self-loop for each silo.
    compute_s : ndarray, shape (silos,)
    latency_s, transmission_s : ndarray, shape (arcs,)

    Returns
    -------
    graph : EventGraph
        Node ``silos + a`` of round ``k + 1`` is the start of the round-`k` transmission on arc `a`.
    initial_s : ndarray, shape (silos + arcs,)
        For `recurrence`: 0 for silos, ``-inf`` for arcs, which have sent nothing before round 0.
    """
    silos, arcs = len(compute_s), len(latency_s)
    source, target, tokens = graph.source[:arcs], graph.target[:arcs], graph.tokens[:arcs]
    arc_node = silos + np.arange(arcs)
    own = slice(arcs, None)
    return (
        EventGraph(
            nodes=silos + arcs,
            source=np.concatenate((source, arc_node, arc_node, graph.source[own])),
            target=np.concatenate((arc_node, arc_node, target, graph.target[own])),
            delay_s=np.concatenate(
                (tokens * compute_s[source], transmission_s, transmission_s + latency_s, graph.delay_s[own])
            ),
            tokens=np.concatenate(
                (tokens, np.ones(arcs, dtype=np.int64), np.zeros(arcs, dtype=np.int64), graph.tokens[own])
            ),
        ),
        np.concatenate((np.zeros(silos), np.full(arcs, -np.inf))),
    )
