"""Checks of events that need no overlay."""

from collections.abc import Sequence

from simulator.world.absence_rounds import placed
from simulator.world.dynamic_network import dynamic_network
from simulator.world.effects import Event, effects_of
from topologies import Connectivity


def check_events(events: Sequence[Event], graph: Connectivity, *, rounds: int) -> None:
    """Accept events on a network before there is an overlay.

    Parameters
    ----------
    events : sequence of Event
    graph : Connectivity
    rounds : int
        Of the job.

    Raises
    ------
    InputError
        If a name is unknown, events do not fit the job or each other, a capacity that changes is infinite, or links
        that never come back leave two silos without a route.

    Notes
    -----
    What is left depends on the overlay: whether a silo that was away receives a model before the job ends. An overlay
    is strong, so that all its arcs have routes exactly if silo 0 has one to each other silo.
    """
    effects = effects_of(events, graph)
    if any(effect.on_network for effect in effects):
        dynamic_network(effects, graph, [(0, silo) for silo in range(1, graph.silos)])
    placed(effects, graph.silos, rounds=rounds)
