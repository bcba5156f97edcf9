"""Why a simulated cycle time differs from the paper's, arc by arc of the paper's critical circuit."""

from dataclasses import dataclass, replace

import numpy as np

from scenarios.config.events.cause import Cause
from scenarios.simulation.cycle_time import SimulatedCycleTime
from scenarios.validation.baseline import Undisturbed
from scenarios.validation.causes import cause_of
from scenarios.validation.event_causes import both, event_cause, is_told, world_s
from scenarios.validation.events import WindowEvents
from scenarios.validation.terms import Terms
from simulator import ComputeTimes, Timeline
from topologies import Overlay
from topologies.analysis.resources import Resources
from topologies.arrays import IntArray

_NEGLIGIBLE = 1e-3
"""What the events change is negligible below this part of a cycle time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcShare:
    """Share of one arc of the critical circuit in the cycle time: means over the counted rounds.

    In a scenario with events, `queue_s`, `slow_s`, `rate_s`, `wait_s` and `computing_s` are those of the simulation
    without events, and `world_s` is all that the events change. The simulated values are those with the events,
    unless an absence removes arcs from the counted rounds.

    Attributes
    ----------
    source, target : str
        Labels of its silos; the same for a silo that waits for its own computing.
    tokens : int
    eq3_s : float
        Its delay by Eq. 3.
    queue_s : float
        How long a model waits for the arc's earlier ones to leave.
    slow_s : float
        How much later than by the static rule of closed forms a model starts because of slow start; negative where the
        rule lets an arc start slowly that does not.
    rate_s : float
        How much longer than by Eq. 3 a model's bits take to leave; negative where they take less.
    wait_s : float
        How long a model that has arrived waits until the target can start its next round.
    computing_s : float
        How much longer its source computes than the workload states; 0 where computing times are constant.
    world_s : float
        Increase of all these terms by the events.
    sending_s, eq3_sending_s : float
        Transmission time of a model: simulated, and by Eq. 3.
    in_flight, eq3_in_flight : float
        Mean number of the arc's models between their first bit's leaving and their arrival: simulated, and with the
        delays and the cycle time of Eq. 3 to 5, which let any number overlap.
    link : str
        The link direction that bounds the rate for the longest time; empty where none does.
    cause : Cause
        The largest term; two of them where both the events and another term are large.
    """

    source: str
    target: str
    tokens: int
    eq3_s: float
    queue_s: float
    slow_s: float
    rate_s: float
    wait_s: float
    computing_s: float
    world_s: float
    sending_s: float
    eq3_sending_s: float
    in_flight: float
    eq3_in_flight: float
    link: str
    cause: Cause

    @property
    def excess_s(self) -> float:
        """Time of the arc in excess of Eq. 3."""
        return self.queue_s + self.slow_s + self.rate_s + self.wait_s + self.computing_s + self.world_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Attribution:
    """The difference between `paper` and simulation, in parts that add up to it.

    Attributes
    ----------
    tokens : int
        Rounds that the critical circuit spans.
    arcs : tuple of ArcShare
        The circuit, in order.
    events : tuple of str
        The scenario's tables of events.
    off_arcs_s : float
        Effect of all events, in seconds per round, where an absence affects the counted rounds: some rounds lack arcs,
        so that it cannot be split among them.
    off_arcs : str
        The absent silos as text; empty where there are none.
    """

    tokens: int
    arcs: tuple[ArcShare, ...]
    events: tuple[str, ...] = ()
    off_arcs_s: float = 0.0
    off_arcs: str = ""

    @property
    def paper_s(self) -> float:
        """Cycle time of the paper: the mean of the arcs' delays over the circuit's tokens."""
        return sum(arc.eq3_s for arc in self.arcs) / self.tokens

    @property
    def simulated_s(self) -> float:
        """Simulated cycle time: the same mean with the excess of the arcs, plus `off_arcs_s`."""
        return sum(arc.eq3_s + arc.excess_s for arc in self.arcs) / self.tokens + self.off_arcs_s

    def parts_s(self) -> dict[str, float]:
        """Seconds per round of each cause: they add up to ``simulated_s - paper_s``."""
        arcs, tokens = self.arcs, self.tokens
        return {
            "slow start": sum(arc.slow_s for arc in arcs) / tokens,
            "serialization": sum(arc.queue_s for arc in arcs) / tokens,
            "shared links": sum(max(arc.rate_s, 0.0) for arc in arcs) / tokens,
            "unused shares": sum(min(arc.rate_s, 0.0) for arc in arcs) / tokens,
            "waits for other arcs": sum(arc.wait_s for arc in arcs) / tokens,
            "computing times": sum(arc.computing_s for arc in arcs) / tokens,
            "world": sum(arc.world_s for arc in arcs) / tokens + self.off_arcs_s,
        }


def circuit_sources(overlay: Overlay) -> IntArray:
    """Sources of those arcs of the paper's critical circuit that carry a token, shape (tokens of the circuit,)."""
    circuit = np.array(overlay.proof.circuit)
    return np.asarray(overlay.event_graph.source[circuit[overlay.event_graph.tokens[circuit] == 1]])


def attribute(
    overlay: Overlay,
    timeline: Timeline,
    compute: ComputeTimes,
    simulated: SimulatedCycleTime,
    *,
    fifo: bool,
    undisturbed: Undisturbed | None = None,
    events: WindowEvents | None = None,
) -> Attribution:
    """Split a simulated cycle time along the paper's critical circuit.

    Parameters
    ----------
    overlay : Overlay
    timeline : Timeline
        Of ``simulate(overlay, ..., messages=True)``.
    compute : ComputeTimes
        Of that simulation.
    simulated : SimulatedCycleTime
        Of ``simulated_cycle_time(timeline, circuit_sources(overlay))``: the rounds to take means over.
    fifo : bool
        Whether an arc sends one message at a time.
    undisturbed : Undisturbed, optional
        With `events`, the same job without them.
    events : WindowEvents, optional

    Returns
    -------
    Attribution

    Raises
    ------
    InputError
        If the timeline has no record of messages.

    Notes
    -----
    Take an arc ``(i, j)`` with `w` tokens, 0 or 1. Its message of round `m` can leave at ``ready = t_i(m+1-w) +
    w*c_i(m)`` with the computing time ``c_i(m)``, begins to leave at `start`, is there at `arrival`, and gates
    ``t_j(m+1)``. With the delay of Eq. 3, ``d = w*s*T_c(i) + l + M/r``, it holds by definition::

        t_j(m+1) - t_i(m+1-w) = d + (start - ready) + (arrival - start - l - M/r) + (t_j(m+1) - arrival)
                                        queue                  rate                      wait
                                  + w*(c_i(m) - s*T_c(i))
                                         computing

    With slow start, `d` has what the static rule adds, and `slow_s` is what starts are later for it in excess of that;
    only the rest of ``start - ready`` is the queue.

    Take means over the rounds ``A <= m < B`` and write ``g_v = (t_v(B) - t_v(A)) / (B - A)``. The mean of
    ``t_v(m+1)`` is that of ``t_v(m)`` plus `g_v`. Sum the left-hand side around a circuit. Each of its silos is the
    target of one arc and the source of one, so the means of ``t_v(m)`` cancel. An arc adds `g_j`, and with 0 tokens
    takes off `g_i`. Since every silo is a target once, the sum is that of `g_i` over the sources of the arcs with 1
    token. A circuit of `W` tokens has `W` of these, so, for any overlay and any rounds::

        tau_paper + sum of (queue + rate + wait + computing) / W = mean of g_i over the sources of the arcs with a token

    With events, the same sum holds for the undisturbed job, so that the difference of the two is split among the arcs
    as well: the increase of an arc by the events is its `world_s`. An absent silo removes arcs; in rounds affected by
    an absence only the total difference is known, that of the last start of the silos that are present throughout
    (see `counted_silos.Starts`), with the events and without. Without the events, the growth of that start in excess of
    the circuit's mean `g_i` depends on the first and the last of these rounds only; it is counted among the waits,
    equally for all arcs of the circuit.

    Over whole periods of a job that repeats, every `g_i` is its cycle time. Where a job does not repeat,
    `simulated_cycle_time` takes this mean for the cycle time. In both cases nothing but rounding is left over. A silo's
    wait for its own computing is an arc with 1 token, no queue and no rate. Time O(rounds * arcs).
    """
    resources, graph = Resources.of(overlay), overlay.event_graph
    circuit = list(overlay.proof.circuit)
    tokens = int(graph.tokens[circuit].sum())
    if undisturbed is None or events is None:
        terms = Terms.of(overlay, timeline, compute, simulated.first_round, simulated.rounds, fifo=fifo)
        arcs = tuple(_share(resources, arc, terms, simulated.cycle_time_s) for arc in circuit)
        return Attribution(tokens=tokens, arcs=arcs)
    baseline = undisturbed.cycle_time
    without = Terms.of(
        overlay,
        undisturbed.timeline,
        undisturbed.compute,
        baseline.first_round,
        baseline.rounds,
        fifo=fifo,
    )
    own = tuple(_share(resources, arc, without, baseline.cycle_time_s) for arc in circuit)
    if simulated.throughout is not None:
        ends_s = baseline.cycle_time_s - Attribution(tokens=tokens, arcs=own).simulated_s
        each_s = ends_s * tokens / len(own)
        return Attribution(
            tokens=tokens,
            arcs=tuple(replace(share, wait_s=share.wait_s + each_s) for share in own),
            events=events.tables,
            off_arcs_s=simulated.cycle_time_s - baseline.cycle_time_s,
            off_arcs=events.absent(),
        )
    terms = Terms.of(overlay, timeline, compute, simulated.first_round, simulated.rounds, fifo=fifo)
    shares = [
        _with_events(resources, arc, share, terms, without, events, simulated.cycle_time_s)
        for arc, share in zip(circuit, own, strict=True)
    ]
    return Attribution(tokens=tokens, arcs=tuple(shares), events=events.tables)


def _with_events(
    resources: Resources,
    arc: int,
    share: ArcShare,
    terms: Terms,
    undisturbed: Terms,
    events: WindowEvents,
    cycle_time_s: float,
) -> ArcShare:
    """An arc of the undisturbed network, with what the events change."""
    more_s, cause = world_s(terms, undisturbed, arc), share.cause
    told = is_told(resources.overlay, arc, terms, events)
    if told or abs(more_s) > _NEGLIGIBLE * cycle_time_s:
        largest_s = max((share.queue_s, share.slow_s, share.rate_s, share.wait_s, share.computing_s), key=abs)
        changed = event_cause(resources.overlay, arc, terms, undisturbed, events)
        cause = both(cause, changed, largest_s, more_s, is_told=told)
    simulated = _share(resources, arc, terms, cycle_time_s)
    return replace(
        share,
        world_s=more_s,
        sending_s=simulated.sending_s,
        in_flight=simulated.in_flight,
        link=simulated.link,
        cause=cause,
    )


def _share(resources: Resources, arc: int, terms: Terms, cycle_time_s: float) -> ArcShare:
    """One arc of the event graph."""
    overlay, graph = resources.overlay, resources.overlay.event_graph
    labels, link, between = overlay.graph.labels, int(terms.link[arc]), arc < overlay.arcs
    sending_s = float(overlay.transmission_s[arc]) if between else 0.0
    under_way_s = float(overlay.latency_s[arc]) + sending_s if between else 0.0
    paper_s = overlay.proof.cycle_time_s
    return ArcShare(
        source=labels[graph.source[arc]],
        target=labels[graph.target[arc]],
        tokens=int(graph.tokens[arc]),
        eq3_s=float(graph.delay_s[arc]),
        queue_s=float(terms.queue_s[arc]),
        slow_s=float(terms.slow_s[arc]),
        rate_s=float(terms.rate_s[arc]),
        wait_s=float(terms.wait_s[arc]),
        computing_s=float(terms.computing_s[arc]),
        world_s=0.0,
        sending_s=float(terms.sending_s[arc]),
        eq3_sending_s=sending_s,
        in_flight=float(terms.under_way_s[arc]) / cycle_time_s if cycle_time_s > 0 else 0.0,
        eq3_in_flight=under_way_s / paper_s if paper_s > 0 else 0.0,
        link="" if link < 0 else overlay.graph.link_name(link),
        cause=cause_of(resources, arc, terms, cycle_time_s),
    )
