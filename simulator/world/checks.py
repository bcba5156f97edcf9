"""What can be wrong with a world whatever the overlay."""

from simulator.world.absence_rounds import placed
from simulator.world.surroundings import surroundings
from simulator.world.world import World
from topologies import Connectivity


def check_world(world: World, graph: Connectivity, *, rounds: int) -> None:
    """Accept a world of a network before there is an overlay.

    Parameters
    ----------
    world : World
    graph : Connectivity
    rounds : int
        Of the job.

    Raises
    ------
    InputError
        If a name is unknown, entries do not fit the job or each other, a capacity that changes is infinite, or links
        that never come back leave two silos without a route.

    Notes
    -----
    What is left depends on the overlay: whether a silo that was away hears anybody before the job ends. An overlay
    is strong, so that all its arcs have routes exactly if silo 0 has one to each other silo.
    """
    if world.changes_network:
        surroundings(world, graph, [(0, silo) for silo in range(1, graph.silos)])
    placed(world.absences, graph, rounds=rounds)
