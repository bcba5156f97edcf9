"""The cycle time of fixed arcs as a function of which links are raised, circuit by circuit."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self, get_args

import numpy as np

from topologies.analysis.arc_limits import ArcLimits
from topologies.analysis.resources import EQUAL
from topologies.analysis.upgrade_links import LinkClass, UpgradeLink
from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.connectivity import Connectivity
from topologies.delays import leaving, transmissions, window_rates
from topologies.errors import Field, InputError, unknown_name
from topologies.howard import CycleTime, cycle_time
from topologies.maxplus import EventGraph
from topologies.overlay import Overlay
from topologies.periodic_events import fifo_event_graph, turn_order
from topologies.periodic_overlay import PeriodicOverlay, slower_queue
from topologies.slow_start import added_s, check_restarts_stay

Form = Literal["paper", "serialized", "load"]
SlowStartTimes = Callable[[IntArray, FloatArray], FloatArray]
"""What slow start adds to the time of some arcs at some rates, in seconds: ``(arcs, rates in bit/s)``."""
FORMS: tuple[Form, ...] = get_args(Form)
"""Closed forms that sets are chosen by: `ClosedForms.paper_s`, `serialized_s`, and the larger of `paper_s` and
`load_bound_s`."""


class Circuit(NamedTuple):
    """A lower bound of the cycle time: ``(fixed_s + sum of the items' times) / tokens``, whatever is raised.

    Tokens are rounds: of a periodic overlay those of its event graph times `ArcLimits.rounds`.
    """

    tokens: int
    fixed_s: float
    items: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PricedSet:
    """Some links with their price and the cycle time that they come to.

    Attributes
    ----------
    raised : ndarray of bool, shape (links,)
        Of `UpgradeTerms.links`.
    price : float
    cycle_time_s : float
        By the form of the terms.
    """

    raised: BoolArray
    price: float
    cycle_time_s: float

    def __repr__(self) -> str:
        """Number of links, price and cycle time."""
        return f"<PricedSet: {int(self.raised.sum())} links for {self.price:g}, {self.cycle_time_s:.6g} s>"


def total_price(prices: FloatArray, raised: BoolArray) -> float:
    """Price of some links, the sum exact before its one rounding."""
    return math.fsum(prices[raised].tolist())


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class UpgradeTerms:
    """What each link contributes to the delays of an overlay; made by `UpgradeTerms.of`.

    An item is an arc, of a periodic overlay one of some state, whose time is that of its transmission; or, for the form
    ``load``, a link direction, whose time is that of all models that cross it in a round, in the mean over a period.
    The time of an item is the largest of its floor and of the terms of its links that are not raised: a link that is
    raised limits it no more than the floor does.

    Attributes
    ----------
    overlay : Overlay or PeriodicOverlay
    form : {"paper", "serialized", "load"}
    limits : ArcLimits
    links : tuple of UpgradeLink
        That can be bought.
    fixed_s : ndarray, shape (event graph's arcs,)
        Delays without transmissions.
    floor_s : ndarray, shape (items,)
        Time of each item where all links are raised; arcs come first.
    item, link : ndarray of int, shape (terms,)
    term_s : ndarray, shape (terms,)
        Time that the item takes at least unless the link is raised; above the item's floor. By item, the largest first.
    """

    overlay: Overlay | PeriodicOverlay
    form: Form
    limits: ArcLimits
    links: tuple[UpgradeLink, ...]
    fixed_s: FloatArray
    floor_s: FloatArray
    item: IntArray
    link: IntArray
    term_s: FloatArray
    _known: dict[bytes, tuple[float, Circuit]] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        """Form, number of links and overlay."""
        return f"<UpgradeTerms of {self.form}: {len(self.links)} links of {self.overlay!r}>"

    @classmethod
    def of(
        cls, overlay: Overlay | PeriodicOverlay, links: Iterable[UpgradeLink], form: Form = "load"
    ) -> Self:
        """Terms of those links that matter.

        Parameters
        ----------
        overlay : Overlay or PeriodicOverlay
        links : iterable of UpgradeLink
            Of `upgrade_links`: those that can be bought; all others stay as they are.
        form : {"paper", "serialized", "load"}

        Raises
        ------
        InputError
            If there is no such form, or the rates of a periodic overlay are not those of Eq. 3, or the form is
            ``serialized`` where its models leave in the backward pass, or ``load`` where links are half-duplex, shared
            by several silos, or by nobody, or the overlay has a hub and slow start after idle times, where rates
            decide which arcs start slowly.

        Notes
        -----
        By Eq. 3 the transmission on an arc takes the largest of ``M |N-_i| / up_i``, ``M |N+_j| / down_j`` and
        ``M / A(i', j')``, and ``A`` is a smallest capacity over a fixed number: a maximum of terms with one link each.
        A model that leaves in the backward pass takes at least the pass, whatever is bought.
        A link whose terms are no larger than the floor of their items is left out. Time and memory O(total route
        length), and one cycle time.

        The time of an arc that starts slowly in every round is that of its transmission and of its slow start, which
        grows with it: the largest of terms again. Of a periodic overlay slow start stays as long as it is.
        """
        if form not in FORMS:
            raise unknown_name("form", form, FORMS)
        if form == "serialized" and isinstance(overlay, PeriodicOverlay) and overlay.work.overlap:
            raise InputError(
                "must be 'paper' or 'load': models that leave in the backward pass queue otherwise.",
                field=Field("form", value=form),
                source=overlay.kind,
            )
        if form == "load":
            overlay.graph.rules.check_plain_links("upgrade by load")
        if isinstance(overlay, Overlay):
            check_restarts_stay(overlay.graph, overlay.hub, "upgrades")
        slow = overlay.graph.slow_start
        if form == "serialized" and slow is not None and slow.when != "first":
            raise InputError(
                f"must be 'paper' or 'load' with slow_start {slow.when!r}.",
                field=Field("form", value=form),
            )
        offered = tuple(links)
        limits = ArcLimits.of(overlay)
        items = len(limits.source) + (len(overlay.graph.link_capacity_bps) if form == "load" else 0)
        slow_start = _slow_start(overlay) if isinstance(overlay, Overlay) and slow is not None else None
        owner, item, old_s, new_s = _all_terms(limits, offered, loads=form == "load", slow_start=slow_start)
        floor_s = np.zeros(items)
        floor_s[: len(limits.source)] = overlay.work.backward_share * _awaited_s(overlay)
        np.maximum.at(floor_s, item, new_s)
        order = np.lexsort((owner, -old_s, item))
        live = order[(owner[order] >= 0) & (old_s[order] > floor_s[item[order]] * (1 + EQUAL))]
        whole = cls(
            overlay=overlay,
            form=form,
            limits=limits,
            links=offered,
            fixed_s=_fixed_s(overlay),
            floor_s=floor_s,
            item=item[live],
            link=owner[live],
            term_s=old_s[live],
        )
        return whole._of_those_that_matter()

    def _of_those_that_matter(self) -> Self:
        """The same without links that have no term, and without loads that are never the largest."""
        least_s = self.cycle_time_s(np.ones(len(self.links), dtype=np.bool_))
        kept = (self.item < self.arcs) | (self.term_s > least_s * (1 + EQUAL))
        used = np.unique(self.link[kept])
        number = np.full(len(self.links), -1)
        number[used] = np.arange(len(used))
        return replace(
            self,
            links=tuple(self.links[k] for k in used.tolist()),
            item=self.item[kept],
            link=number[self.link[kept]],
            term_s=self.term_s[kept],
        )

    @property
    def arcs(self) -> int:
        """Number of arcs, of a periodic overlay of all states."""
        return len(self.limits.source)

    def times_s(self, raised: BoolArray) -> FloatArray:
        """Time of each item with some links raised, shape (items,)."""
        times_s = self.floor_s.copy()
        left = ~raised[self.link]
        np.maximum.at(times_s, self.item[left], self.term_s[left])
        return times_s

    def cycle_time_s(self, raised: BoolArray) -> float:
        """Cycle time, by the form, with some links raised."""
        return self.critical(raised)[0]

    def critical(self, raised: BoolArray) -> tuple[float, Circuit]:
        """Cycle time with some links raised, and the circuit or item that sets it.

        Notes
        -----
        Every simple circuit of a static overlay's `serialized` event graph is one of the overlay or one arc's own
        transmission; see `topologies.closed_forms.closed_forms`. Of a periodic one a silo's models for another may also
        queue between states: see `topologies.periodic_events.fifo_event_graph`, on whose simple circuits an arc sends
        once at most. Time: one cycle time, the first time that these links are raised.
        """
        key = raised.tobytes()
        if key not in self._known:
            self._known[key] = self._critical(raised)
        return self._known[key]

    def _critical(self, raised: BoolArray) -> tuple[float, Circuit]:
        arcs, times_s = self.arcs, self.times_s(raised)
        delay_s = self.fixed_s.copy()
        delay_s[:arcs] += times_s[:arcs]
        graph = replace(self.overlay.event_graph, delay_s=delay_s)
        proof = cycle_time(graph, connected=True)
        found = proof.cycle_time_s / self.limits.rounds, self._circuit(graph, proof.circuit)
        # By `load` links matter as a whole, arcs only as parts of circuits.
        if self.form == "load" and len(times_s) > arcs:
            slowest = arcs + int(np.argmax(times_s[arcs:]))
            return max(
                found, (float(times_s[slowest]), Circuit(1, 0.0, (slowest,))), key=lambda each: each[0]
            )
        if self.form == "serialized" and arcs:
            return self._serialized(graph, times_s, proof, found)
        return found

    def _serialized(
        self, graph: EventGraph, times_s: FloatArray, proof: CycleTime, found: tuple[float, Circuit]
    ) -> tuple[float, Circuit]:
        """The larger of what was found without queues and of circuits of models that leave one after the other."""
        overlay, limits, rounds = self.overlay, self.limits, self.limits.rounds
        number = np.arange(self.arcs)
        if isinstance(overlay, PeriodicOverlay):
            number = overlay.numbers.of(limits.source, limits.target)
        busy_s = np.bincount(number, times_s)
        slowest = int(np.argmax(busy_s))
        items = tuple(np.flatnonzero(number == slowest).tolist())
        own = float(busy_s[slowest]) / rounds, Circuit(rounds, 0.0, items)
        longest = max(found, own, key=lambda each: each[0])
        if not isinstance(overlay, PeriodicOverlay) or len(busy_s) == self.arcs:
            return longest
        state = np.repeat(np.arange(overlay.period), [len(each.source) for each in overlay.states])
        latency_s = np.concatenate(overlay.latency_s)
        computing_s = self.fixed_s[: self.arcs] - latency_s
        queued = fifo_event_graph(graph, overlay.period, state, number, computing_s, latency_s, times_s)
        least_s = max(proof.cycle_time_s, float(busy_s[slowest]))
        queue = slower_queue(queued, least_s, proof)
        if queue is None:
            return longest
        behind, _, _ = turn_order(overlay.period, state, number)
        # In the order of `serialized_event_graph`: handing over, the model before, the model itself, own computing.
        none = np.full(self.arcs, -1)
        sent = np.concatenate(
            (none, behind, np.arange(self.arcs), np.full(len(self.fixed_s) - self.arcs, -1))
        )
        fixed_s = np.concatenate((computing_s, np.zeros(self.arcs), latency_s, self.fixed_s[self.arcs :]))
        along = list(queue.circuit)
        return queue.cycle_time_s / rounds, Circuit(
            int(queued.tokens[along].sum()) * rounds,
            math.fsum(fixed_s[along]),
            tuple(sorted(arc for arc in sent[along].tolist() if arc >= 0)),
        )

    def _circuit(self, graph: EventGraph, arcs: Sequence[int]) -> Circuit:
        """A circuit of the event graph."""
        along = list(arcs)
        return Circuit(
            int(graph.tokens[along].sum()) * self.limits.rounds,
            math.fsum(self.fixed_s[along]),
            tuple(sorted(arc for arc in along if arc < self.arcs)),
        )

    def binding(self, item: int, raised: BoolArray) -> tuple[int, ...]:
        """Links that must be raised together to lower an item's time; none where its floor is reached."""
        first, last = np.searchsorted(self.item, (item, item + 1))
        links, terms = self.link[first:last], self.term_s[first:last]
        left = ~raised[links]
        if not left.any():
            return ()
        return tuple(links[left & (terms >= terms[left].max() * (1 - EQUAL))].tolist())


class _Limits(NamedTuple):
    """Capacities that limit items: whose each is, the item, the capacity, and into how many parts it is divided."""

    keys: list[tuple[LinkClass, int]]
    item: IntArray
    bps: FloatArray
    parts: FloatArray | IntArray


def _awaited_s(overlay: Overlay | PeriodicOverlay) -> FloatArray:
    """Computing time that the model of each arc waits for."""
    if isinstance(overlay, PeriodicOverlay):
        return np.concatenate(overlay.computing_s)
    return np.asarray(overlay.tokens * overlay.compute_s[overlay.source])


def _fixed_s(overlay: Overlay | PeriodicOverlay) -> FloatArray:
    """Delays of the event graph without transmissions."""
    if isinstance(overlay, PeriodicOverlay):
        # What a silo computes before it sends a model depends on its state.
        fixed_s = overlay.event_graph.delay_s.copy()
        fixed_s[: overlay.messages] -= np.concatenate(overlay.transmission_s)
        return fixed_s
    fixed_s = np.concatenate((leaving(_awaited_s(overlay), overlay.work.backward_share), overlay.compute_s))
    fixed_s[: overlay.arcs] += overlay.latency_s
    return fixed_s


def _slow_start(overlay: Overlay) -> SlowStartTimes:
    """What slow start adds to the time of some arcs of a static overlay at some rates."""
    graph, source, target, bits = overlay.graph, overlay.source, overlay.target, overlay.work.model_bits

    def at(arcs: IntArray, rate_bps: FloatArray) -> FloatArray:
        ends = source[arcs], target[arcs]
        return added_s(graph, bits, overlay.compute_s, *ends, rate_bps)

    return at


def _all_terms(
    arc_limits: ArcLimits, links: Sequence[UpgradeLink], *, loads: bool, slow_start: SlowStartTimes | None
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Number of the link (-1: it stays), item, and time before and after, of every term of every item."""
    limits = [*_arc_limits(arc_limits), *([_load_limits(arc_limits)] if loads else [])]
    number = {(link.link_class, link.index): k for k, link in enumerate(links)}
    owner = np.array([number.get(key, -1) for limit in limits for key in limit.keys], dtype=np.int64)
    item = np.concatenate([limit.item for limit in limits])
    parts = np.concatenate([limit.parts for limit in limits])
    old_bps = np.concatenate([limit.bps for limit in limits])
    raised_bps = np.array([*(link.raised_bps for link in links), np.inf])
    new_bps = np.where(owner >= 0, raised_bps[owner], old_bps)
    bits = arc_limits.model_bits
    # As Eq. 3 divides: a rate first, then the model by it, so that equal cycle times are equal to the last bit.
    old_s, new_s = transmissions(bits, old_bps / parts), transmissions(bits, new_bps / parts)
    if slow_start is not None:
        sent = item < len(arc_limits.source)
        old_s[sent] += slow_start(item[sent], (old_bps / parts)[sent])
        new_s[sent] += slow_start(item[sent], (new_bps / parts)[sent])
    return owner, item, old_s, new_s


def _arc_limits(limits: ArcLimits) -> list[_Limits]:
    """The capacities in Eq. 3's rate of each arc."""
    graph, source, target = limits.graph, limits.source, limits.target
    count = len(source)
    arcs = np.arange(count, dtype=np.int64)
    arc, core = limits.crossing[:, 0], limits.crossing[:, 1] // 2
    pairs = [route[1] for route in limits.routes] if graph.is_measured else [-1] * count
    return [
        _Limits([("uplink", i) for i in source.tolist()], arcs, graph.up_bps[source], limits.out),
        _Limits([("downlink", j) for j in target.tolist()], arcs, graph.down_bps[target], limits.into),
        _Limits([("core", k) for k in core.tolist()], arc, graph.core_bps[core], limits.parts),
        _Limits([("measured", pair) for pair in pairs], arcs, limits.measured_bps, np.ones(count)),
        # No link's capacity raises what windows allow.
        _Limits([("measured", -1)] * count, arcs, window_rates(graph, source, target), np.ones(count)),
    ]


def _load_limits(limits: ArcLimits) -> _Limits:
    """Each link direction, of which every model that crosses it takes a part."""
    graph = limits.graph
    models = graph.crossings(limits.source, limits.target)
    directions = np.flatnonzero(models)
    return _Limits(
        [_key(graph, direction) for direction in directions.tolist()],
        len(limits.source) + directions,
        graph.link_capacity_bps[directions],
        models[directions] / limits.rounds,
    )


def _key(graph: Connectivity, direction: int) -> tuple[LinkClass, int]:
    """Class and index of the link that a direction belongs to."""
    if direction >= graph.first_window:
        return "measured", -1
    access = direction - graph.first_uplink
    if access >= 0:
        return ("uplink", access) if access < graph.silos else ("downlink", access - graph.silos)
    return ("measured", direction) if graph.is_measured else ("core", direction // 2)
