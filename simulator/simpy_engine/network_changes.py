"""Changes of the network as a SimPy process."""

from collections.abc import Generator, Sequence
from itertools import groupby
from math import isinf

from simpy.events import Event

from simulator.input_checks import check_routes
from simulator.simpy_engine.clock import CHANGE, Clock
from simulator.simpy_engine.network import ChangeableNetwork
from simulator.world.changes import CapacityChange, Change, Changes, RouteChange
from topologies.errors import InputError


def apply_changes(
    clock: Clock, network: ChangeableNetwork, changes: Changes, capacity_bps: Sequence[float], arcs: int
) -> Generator[Event, None, None]:
    """Apply each change at its date.

    Parameters
    ----------
    clock : Clock
    network : ChangeableNetwork
    changes : Changes
    capacity_bps : sequence of float
        Capacity of each link at the start, in bit/s.
    arcs : int
        Number of arcs.

    Raises
    ------
    InputError
        If dates go back, or a change names a link or an arc that does not exist or cannot change.

    Notes
    -----
    Changes of one date come after the messages that end then, and before the links are shared again, once for all of
    them. Those of date 0 come before anything else.
    """
    for date_s, together in groupby(changes(), key=lambda change: change.date_s):
        if date_s < clock.now:
            raise InputError(f"date_s(={date_s}) of a change must be >= {clock.now}, that of the one before.")
        if date_s > clock.now:
            event = Event(clock)
            clock.succeed_at(event, date_s, CHANGE)
            yield event
        network.end_due()
        for change in together:
            _apply(network, change, capacity_bps, arcs)


def _apply(network: ChangeableNetwork, change: Change, capacity_bps: Sequence[float], arcs: int) -> None:
    if isinstance(change, CapacityChange):
        check_routes([(change.link,)], len(capacity_bps))
        if isinf(capacity_bps[change.link]):
            raise InputError(f"capacity of link {change.link}(=inf) must be finite to change.")
        network.set_capacity(change.link, change.capacity_bps)
        return
    check_routes([change.links], len(capacity_bps))
    if isinstance(change, RouteChange):
        if not 0 <= change.arc < arcs:
            raise InputError(f"arc(={change.arc}) of a change must be >= 0 and < {arcs}.")
        hops = len(change.links) if change.hops is None else change.hops
        network.set_route(change.arc, change.links, change.latency_s, change.usage, hops)
    else:
        network.set_flow(change.flow, change.links, change.peak_bps)
