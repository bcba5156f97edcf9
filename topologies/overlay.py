"""An overlay on a connectivity graph: arcs with their delays, closed forms and consensus matrix."""

from dataclasses import dataclass

import numpy as np

from topologies.arrays import BoolArray, FloatArray, IntArray, freeze
from topologies.closed_forms import ClosedForms, closed_forms
from topologies.connectivity import Connectivity
from topologies.consensus import agreed_weights, check_consensus, weight_pattern
from topologies.delays import (
    arc_rates,
    degrees,
    delays,
    leaving,
    round_event_graph,
    transmissions,
    under_way,
)
from topologies.digraph import check_connected
from topologies.errors import InputError
from topologies.given_arcs import Arcs, numbered_arcs
from topologies.howard import CycleTime, cycle_time
from topologies.maxplus import EventGraph
from topologies.slow_start import added_s, check_goes_with, with_added_s
from topologies.weights import local_degree
from topologies.workload import Workload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Overlay:
    """The arcs of a static overlay with their delays and weights; made by `build_overlay`.

    Attributes
    ----------
    kind : str
        What it is called: the designer's name, unless the user gave another.
    source, target : ndarray of int, shape (arcs,)
        Silos at the ends of each arc.
    tokens : ndarray of int, shape (arcs,)
        1: the model of a round leaves when its silo's computing ends, and gates the target's next round. 0 (from
        the STAR's hub): the averaged model leaves at once, and gates the target in the same round.
    hub : int or None
        The silo that only averages, if any.
    compute_s : ndarray, shape (silos,)
        Computing time of a round, ``s * T_c(i)``.
    latency_s, rate_bps : ndarray, shape (arcs,)
        The terms ``l(i, j)`` and ``min(up_i / |N-_i|, down_j / |N+_j|, A(i', j'))`` of Eq. 3.
    routes : tuple of tuple of int
        Link directions that each arc's messages occupy; see `Connectivity.link_capacity_bps`.
    consensus : ndarray, shape (silos, silos)
        Row `j` holds the weights with which silo `j` averages.
    negative_weights : bool
        Whether some of them may be below 0.
    event_graph : EventGraph
        The arcs in order, then a self-loop for each silo.
    proof : CycleTime
        Cycle time of the event graph with critical circuit and potential.
    """

    kind: str
    graph: Connectivity
    work: Workload
    source: IntArray
    target: IntArray
    tokens: IntArray
    hub: int | None
    compute_s: FloatArray
    latency_s: FloatArray
    rate_bps: FloatArray
    routes: tuple[tuple[int, ...], ...]
    consensus: FloatArray
    negative_weights: bool
    event_graph: EventGraph
    proof: CycleTime
    closed_forms: ClosedForms

    def __repr__(self) -> str:
        """Kind, network, number of arcs and closed forms."""
        size = f"{self.graph.silos} silos, {self.arcs} arcs"
        forms = self.closed_forms
        times = f"paper {forms.paper_s:.6g} s, serialized {forms.serialized_s:.6g} s, load {forms.load_bound_s:.6g} s"
        return f"<Overlay {self.kind} on {self.graph.underlay.name}: {size}, {times}>"

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.source)

    @property
    def transmission_s(self) -> FloatArray:
        """Time that one model needs on each arc at the rate of Eq. 3, shape (arcs,).

        Where it leaves in the backward pass, that is from when it begins to leave, and at least the pass.
        """
        awaited_s = self.tokens * self.compute_s[self.source]
        transmission_s = transmissions(self.work.model_bits, self.rate_bps)
        return under_way(awaited_s, transmission_s, self.work.backward_share)

    @property
    def leaving_s(self) -> FloatArray:
        """From the start of a round until the model of each arc begins to leave, shape (arcs,)."""
        return leaving(self.tokens * self.compute_s[self.source], self.work.backward_share)

    @property
    def slow_start_s(self) -> FloatArray:
        """What slow start adds to the delay of each arc, shape (arcs,); see `topologies.slow_start.added_s`."""
        ends = self.source, self.target
        return added_s(self.graph, self.work.model_bits, self.compute_s, *ends, self.rate_bps, hub=self.hub)

    @property
    def delay_s(self) -> FloatArray:
        """Delay of each arc, Eq. 3, shape (arcs,); without the computing time where the token count is 0."""
        return self.event_graph.delay_s[: self.arcs]

    @property
    def max_degree(self) -> int:
        """Largest number of models that a silo sends, or receives, in one round."""
        out, into = degrees(self.graph.silos, self.source, self.target)
        return int(max(out.max(initial=0), into.max(initial=0)))

    @property
    def agreed_weights(self) -> FloatArray | None:
        """Weights of the mean on which the silos agree, shape (silos,); see `topologies.consensus.agreed_weights`."""
        return agreed_weights(self.consensus)

    @property
    def critical_circuit(self) -> tuple[int, ...]:
        """Silos of the critical circuit of the `paper` cycle time, in order; a single one is its own self-loop."""
        return tuple(int(self.event_graph.source[arc]) for arc in self.proof.circuit)


def build_overlay(
    kind: str,
    graph: Connectivity,
    work: Workload,
    arcs: Arcs,
    *,
    hub: int | None = None,
    consensus: FloatArray | None = None,
    negative_weights: bool = False,
) -> Overlay:
    """Overlay of the given arcs, sorted by source and target.

    Parameters
    ----------
    arcs : iterable of (source, target), array of shape (silos, silos), or networkx.Graph
        Pairs of labels or indices; an adjacency matrix, whose row is the sender; a mixing matrix, whose row averages;
        or a graph: see `topologies.given_arcs.numbered_arcs`. What states weights gives the consensus matrix.
    hub : int, optional
        The silo that only averages: its out-arcs carry no token.
    consensus : ndarray, shape (silos, silos), optional
        ``consensus[i, j]`` is the weight that silo `i` gives the model of silo `j`, which needs an arc ``(j, i)``, or
        with a hub both ``(j, hub)`` and ``(hub, i)``. Rows sum to 1 within 1e-12. Where columns do not, the silos
        agree on another mean than the plain one: `Overlay.agreed_weights`. By default that of `arcs`, else by the
        local-degree rule.
    negative_weights : bool
        Whether weights may be below 0, as those of the rule ``fdla``.

    Raises
    ------
    InputError
        If an arc is repeated, joins a silo with itself or leaves the graph, or the overlay is not strongly
        connected: then no consensus is reached. If the consensus matrix has another shape, a
        number that is not finite, a weight where there is no arc, one below 0 without
        `negative_weights`, or a row that does not sum to 1.
    """
    try:
        numbered, stated = numbered_arcs(arcs, graph.labels)
    except InputError as error:
        raise error.located(kind) from None
    if stated is not None and consensus is None:
        consensus, negative_weights = stated, negative_weights or bool((stated < 0).any())
    pairs = numbered[np.lexsort((numbered[:, 1], numbered[:, 0]))]
    if hub is not None and not 0 <= hub < graph.silos:
        raise InputError(f"{kind}: hub(={hub}) must be a silo of 0..{graph.silos - 1}.")
    source, target = pairs.T
    _check_arcs(kind, graph, pairs)
    tokens = np.ones(len(pairs), dtype=np.int64) if hub is None else (source != hub).astype(np.int64)
    compute_s = work.round_compute_s(graph.silos)
    latency_s = graph.latency_s[source, target]
    rate_bps = arc_rates(graph, source, target)
    routes = graph.routes_along(pairs.tolist())
    delay_s = delays(tokens * compute_s[source], latency_s, work.model_bits, rate_bps, work.backward_share)
    busy_s = transmissions(work.model_bits, rate_bps)
    if graph.slow_start is not None:
        check_goes_with(graph, work)
        slow_s = added_s(graph, work.model_bits, compute_s, source, target, rate_bps, hub=hub)
        delay_s, busy_s = with_added_s(graph, delay_s, busy_s, slow_s)
    event_graph = round_event_graph(graph.silos, source, target, tokens, delay_s, compute_s)
    proof = cycle_time(event_graph, connected=True)
    matrix = (
        local_degree(graph.silos, source, target)
        if consensus is None
        else _checked(
            kind,
            graph,
            consensus,
            weight_pattern(graph.silos, source, target, hub),
            negative=negative_weights,
        )
    )
    freeze(
        source, target, tokens, compute_s, latency_s, rate_bps, event_graph.delay_s, proof.potential_s, matrix
    )
    return Overlay(
        kind=kind,
        graph=graph,
        work=work,
        source=source,
        target=target,
        tokens=tokens,
        hub=hub,
        compute_s=compute_s,
        latency_s=latency_s,
        rate_bps=rate_bps,
        routes=routes,
        consensus=matrix,
        negative_weights=negative_weights,
        event_graph=event_graph,
        proof=proof,
        closed_forms=closed_forms(
            proof.cycle_time_s,
            float(busy_s.max(initial=0.0)),
            graph.crossings(source, target),
            graph.link_capacity_bps,
            work.model_bits,
        ),
    )


def _checked(
    kind: str, graph: Connectivity, consensus: FloatArray, pattern: BoolArray, *, negative: bool
) -> FloatArray:
    """Checked copy of a consensus matrix."""
    try:
        matrix = np.array(consensus, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{kind}: consensus must be a matrix of numbers.") from None
    if matrix.shape != pattern.shape:
        raise InputError(f"{kind}: consensus has shape {matrix.shape}; it must be {pattern.shape}.")
    try:
        return check_consensus(
            matrix, columns=False, negative_weights=negative, pattern=pattern, labels=graph.labels
        )
    except InputError as error:
        raise error.located(kind) from None


def _check_arcs(kind: str, graph: Connectivity, pairs: IntArray) -> None:
    """Raise an error unless the arcs form a strongly connected simple digraph on the silos."""
    unreachable = graph.available_bps[pairs[:, 0], pairs[:, 1]] == 0
    if unreachable.any():
        i, j = pairs[np.argmax(unreachable)]
        raise InputError(f"{kind}: {graph.labels[i]} cannot send to {graph.labels[j]}.")
    if np.any(pairs[:, 0] == pairs[:, 1]):
        raise InputError(f"{kind}: an arc must join two different silos.")
    # The pairs are sorted.
    if (pairs[1:] == pairs[:-1]).all(axis=1).any():
        raise InputError(f"{kind}: an arc must not be repeated.")
    check_connected(f"{kind}: the overlay must be strongly connected", graph.labels, *pairs.T, strong=True)
