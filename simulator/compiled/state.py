"""State of the compiled simulation: tables of silos, arcs, hops of routes, and links."""

from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf
from typing import NamedTuple

import numpy as np

from simulator.compiled.heap import Records, make_heap, put
from simulator.compiled.used_arcs import Wiring, Wirings
from simulator.job import Job
from simulator.reduction import limiting_links
from topologies.arrays import FloatArray

COMPUTING, BACKWARD, WAITING, GATED = range(4)

_UP = 1.0 + 2.0**-51

NONE, OFF = -1, -2  # in `reference`, instead of a round

_I, _L, _F = np.int32, np.int64, np.float64

_ARC = np.dtype(
    [
        ("rate_bps", _F), ("level_bps", _F), ("weight", _F),  # rate = level * weight
        ("count", _I), ("active", _I),  # whether its rate is sought
        ("bound_hop", _I), ("bound_since_s", _F),
        ("first", _I), ("end", _I),  # its route
        ("target", _I), ("latency_s", _F), ("bits", _F),
        ("alone_bps", _F), ("alone_hop", _I),  # rate and bound of a message with nothing else on its links
        ("queued", _I),  # messages behind those under way; these are `count`, all at one rate
        ("slow", _I), ("slow_s", _F),  # whether messages may start slowly, and how much longer they take then
        ("head", _L),  # how many have left, which is the number of the first under way
        ("head_round", _L), ("left_bits", _F),  # its round, and what it has left
        ("tail_bits", _F),  # what the last under way has left
        ("since_s", _F),  # `left_bits` and `tail_bits` hold at this date
        ("end_s", _F),
        ("stamp", _L),  # when its rate was last sought
        ("out", _I),  # without a plan, a list: the out-arcs of each silo, those with a token first
        # Slow start: as of `FlowArc`; until when an idle arc needs none; messages held back, the round of the first of
        # them, and when the last of them takes its links.
        ("after_s", _F), ("open_until_s", _F), ("held", _I), ("held_round", _L), ("held_until_s", _F),
    ],
    align=True,
)  # fmt: skip

_HOP = np.dtype(
    [
        ("link", _I), ("arc", _I),
        ("bound_s", _F),  # for how long it has been the bound of its arc
        ("place", _I),  # its seat
        ("usage", _F),  # bits on the link for each bit of a message
    ],
    align=True,
)  # fmt: skip

# The hops in use of each link, with what is looked at again and again: the level, infinite while sought, and the weight
# of all messages of the arc together, times their usage of the link.
_SEAT = np.dtype(
    [
        ("level_bps", _F), ("weight", _F), ("hop", _I),
        ("user", _I),  # of all hops over the link, in use or not, one
    ],
    align=True,
)  # fmt: skip

_LINK = np.dtype(
    [
        ("capacity_bps", _F),
        ("first", _I), ("members", _I),  # its seats
        ("load_bps", _F), ("active", _I),  # messages whose rates are known, and how many are not
        ("over", _I),  # whether known rates must fall
        ("active_weight", _F),  # at least the weight of those that are not known
        ("level_bps", _F), ("bound", _I),  # level and number of the arcs whose bound it is
        ("users", _I),  # its hops, in use or not: as many seats
        ("least_weight", _F),  # of the arcs that cross it, times their usage
    ],
    align=True,
)  # fmt: skip

_SILO = np.dtype(
    [
        ("round", _L), ("phase", _I), ("computed_s", _F),
        ("first", _I), ("middle", _I), ("end", _I),  # out-arcs with and without a token, of its round with a plan
    ],
    align=True,
)  # fmt: skip

_CLOCK = np.dtype(
    [
        ("now_s", _F), ("base", _L), ("rounds", _L), ("fifo", _L),
        ("planned", _L),  # whether each round has arcs of its own
        ("open", _L),  # arcs that are active and links that are over
        ("stamp", _L), ("work", _L),
        ("up", _F),  # a factor that outweighs the rounding of a sum of weights
        ("longest_lag", _L),
        ("forward", _F),  # share of the computing after which messages begin to leave
        ("period", _L),  # states of rounds that are not a multiple of it apart differ
        ("latest", _L),  # the last round of which a message was delivered
        ("reference", _L),  # the round that silo 0 started at this instant
        ("change_s", _F),  # when the network changes next
        ("saved_s", _F), ("saved_round", _L), ("next_round", _L),
    ],
    align=True,
)  # fmt: skip

_INBOX = np.dtype(
    [
        ("compute_s", _F), ("round_start_s", _F), ("latest_s", _F), ("missing", _I),
        ("first", _I), ("middle", _I), ("end", _I),  # as for a silo, in `out` of this row
    ],
    align=True,
)  # fmt: skip

_MESSAGE = np.dtype(
    [
        ("start_s", _F), ("last_bit_s", _F), ("arrival_s", _F), ("bound_link", _I),
    ],
    align=True,
)  # fmt: skip

# What a silo sends in a round: on which arc, and how many rounds later than others it is awaited.
_OUT = np.dtype([("arc", _I), ("ahead", _I)], align=True)


class Network(NamedTuple):
    """Messages on links."""

    arcs: Records
    hops: Records
    seats: Records
    links: Records
    clock: Records  # one entry
    ends: Records  # heap of arcs, by dates that are at most their `end_s`
    shares: Records  # heap of links, by levels at which they are not full earlier
    levels: Records  # heap of links that may have something left for those that they bound


class Silos(NamedTuple):
    """Silos, and the heap of when something happens to them.

    After the silos come the arcs, by when the first message that is held back takes its links.
    """

    table: Records
    events: Records


class Queue(NamedTuple):
    """Messages under way on one arc, by their number on it modulo the number of rows."""

    gap_bits: FloatArray  # what a message has left more than the one before it
    bound_s: FloatArray  # `bound_s` of each hop when it started


class Window(NamedTuple):
    """Rounds ``clock.base`` on, one a row."""

    inbox: Records
    messages: Records  # of the round at whose end each is awaited; with a plan NaN where nothing was sent yet
    out: Records  # with a plan, a list: the out-arcs of each silo in this round, those with a token first


def make_network(job: Job) -> Network:
    """The network of a job, without the links that can never limit a rate."""
    capacity_bps = job.link_capacity_bps
    # A message of zero bits takes no time: its route is left empty.
    routes = [route if bits else () for route, bits in zip(job.routes, job.message_bits, strict=True)]
    if job.changes is None:
        routes = limiting_links(routes, capacity_bps, job.usage)
    else:
        # Any link may come to limit a rate. Of equally slow ones the first in number is named, as by SimPy.
        routes = [tuple(sorted(link for link in route if capacity_bps[link] < inf)) for route in routes]
    usage: Sequence[Mapping[int, float]] = job.usage or [{}] * len(routes)
    # Capacities of the links of each route in bits of a message.
    own_bps = [
        [capacity_bps[link] / used.get(link, 1.0) for link in route]
        for route, used in zip(routes, usage, strict=True)
    ]
    arcs = np.zeros(len(routes), dtype=_ARC)
    arcs["target"] = [arc.target for arc in job.arcs]
    arcs["latency_s"] = [arc.latency_s for arc in job.arcs]
    arcs["bits"] = job.message_bits
    arcs["end"] = np.cumsum([len(route) for route in routes])
    arcs["first"] = arcs["end"] - [len(route) for route in routes]
    arcs["alone_bps"] = [min(each_bps, default=inf) for each_bps in own_bps]
    arcs["alone_hop"] = arcs["first"] + [int(np.argmin(each_bps)) if each_bps else 0 for each_bps in own_bps]
    arcs["bound_hop"] = -1
    arcs["slow_s"] = [arc.slow_start_s for arc in job.arcs]
    arcs["slow"] = arcs["slow_s"] > 0
    arcs["after_s"] = [arc.slow_start_after_s for arc in job.arcs]
    arcs["open_until_s"] = -inf
    arcs["weight"] = weights = np.array(job.sharing.arc_weights(job))
    if job.plan is None:
        arcs["out"] = Wirings(job).rows(0, 1).out[0]
    hops = np.zeros(int(arcs["end"].max(initial=0)), dtype=_HOP)
    hops["link"] = list(chain.from_iterable(routes))
    hops["arc"] = np.repeat(np.arange(len(routes)), [len(route) for route in routes])
    hops["usage"] = [used.get(link, 1.0) for route, used in zip(routes, usage, strict=True) for link in route]
    parts = weights[hops["arc"]] * hops["usage"]
    links = np.zeros(len(capacity_bps), dtype=_LINK)
    links["capacity_bps"] = capacity_bps
    users = np.bincount(hops["link"], minlength=len(links))
    links["first"] = np.cumsum(users) - users
    links["users"] = users
    links["least_weight"] = np.inf
    np.minimum.at(links["least_weight"], hops["link"], parts)
    clock = np.zeros(1, dtype=_CLOCK)
    clock["rounds"], clock["fifo"] = job.rounds, job.fifo
    clock["planned"] = job.plan is not None
    clock["forward"] = 1.0 - job.backward_share
    # Sums of weights that are all 1 are exact.
    clock["up"] = 1.0 if (parts == 1.0).all() else _UP
    clock["longest_lag"], clock["period"], clock["latest"] = job.longest_lag, job.period or 0, NONE
    clock["reference"] = OFF if job.period is None or job.changes is not None else NONE
    clock["change_s"] = inf
    clock["saved_round"], clock["next_round"], clock["stamp"] = NONE, max(1, job.regular_from), 1
    seats = np.zeros(len(hops), dtype=_SEAT)
    seats["user"] = np.argsort(hops["link"], kind="stable")
    ends, shares, levels = make_heap(len(arcs)), make_heap(len(links)), make_heap(len(links))
    return Network(arcs, hops, seats, links, clock, ends, shares, levels)


def make_silos(job: Job) -> Silos:
    """All silos before they start round 0."""
    table = np.zeros(job.silos, dtype=_SILO)
    table["round"] = -1
    table["phase"] = GATED
    if job.plan is None:
        wiring = Wirings(job).rows(0, 1)
        table["first"], table["middle"], table["end"] = wiring.first[0], wiring.middle[0], wiring.end[0]
    events = make_heap(job.silos + len(job.arcs) * job.starts_slowly)
    for silo in range(job.silos):
        put(events, silo, 0.0)
    return Silos(table, events)


def make_window(job: Job, wiring: Wiring, compute_s: FloatArray) -> Window:
    """A window on as many rounds as there are rows of computing times, in which nothing has happened."""
    inbox = np.zeros(compute_s.shape, dtype=_INBOX)
    inbox["compute_s"] = compute_s
    inbox["round_start_s"] = np.nan
    inbox["missing"] = wiring.in_arcs
    messages = np.zeros((len(compute_s), len(job.arcs)), dtype=_MESSAGE)
    messages["bound_link"] = -1
    out = np.zeros(wiring.out.shape, dtype=_OUT)
    out["arc"], out["ahead"] = wiring.out, wiring.ahead
    if job.plan is not None:
        inbox["first"], inbox["middle"], inbox["end"] = wiring.first, wiring.middle, wiring.end
        for date in ("start_s", "last_bit_s", "arrival_s"):
            messages[date] = np.nan
    return Window(inbox, messages, out)


def make_queue(network: Network, rows: int) -> Queue:
    """Room for so many messages under way on one arc."""
    return Queue(np.zeros((rows, len(network.arcs))), np.zeros((rows, len(network.hops))))
