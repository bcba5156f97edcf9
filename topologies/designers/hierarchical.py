"""Hierarchical FedAvg on a network: stars within regions of near silos, and now and then one of all."""

from typing import Annotated

import numpy as np

from topologies.arrays import FloatArray
from topologies.connectivity import Connectivity
from topologies.designers.node_order import reordered
from topologies.designers.options import DesignerOption
from topologies.errors import InputError
from topologies.label_order import silo_order
from topologies.periodic.hierarchical import hierarchical as hierarchical_states
from topologies.periodic.regions import central_silo, central_silos, near_regions
from topologies.periodic_overlay import PeriodicOverlay, build_periodic
from topologies.state import State
from topologies.workload import Workload

MOST_ROUNDS = 1000
"""Largest `cloud_every`: a period has two states for each of its rounds."""
Regions = Annotated[
    int | None,
    DesignerOption(
        help="Regions of near silos of hierarchical; by default the square root of the number of silos, rounded",
        at_least=1,
    ),
]
CloudEvery = Annotated[
    int,
    DesignerOption(
        help="Rounds of hierarchical after which all silos average, not their region only",
        at_least=1,
        at_most=MOST_ROUNDS,
    ),
]


def hierarchical(
    graph: Connectivity, work: Workload, *, regions: Regions = None, cloud_every: CloudEvery = 4
) -> PeriodicOverlay:
    """Hierarchical FedAvg: silos average in stars around an edge silo of their region, and now and then over all.

    Parameters
    ----------
    regions : int, optional
        Regions of silos that are near each other by latency; 1 to the number of silos, by default its square root,
        rounded.
    cloud_every : int
        Rounds after which all average: the edges around the cloud. 1 to `MOST_ROUNDS`.

    Returns
    -------
    PeriodicOverlay
        Silos compute in the states in which they send to their edges only: a round is one of those with the states that
        follow it.

    Raises
    ------
    InputError
        If there are fewer silos than regions, a silo and its edge or an edge and the cloud cannot talk both ways, or
        the period is too long.

    Notes
    -----
    See `topologies.periodic.hierarchical.hierarchical`, which names the source. The edge of a region is its silo with
    the lowest mean latency to the others, the cloud that edge which has it to the other edges. Pairs that cannot talk
    both ways are far from each other. Ties go by label. With one region and ``cloud_every = 1`` it is the STAR around
    the most central silo. Time O(silos^2 + silos cloud_every), and that of the closed forms.
    """
    order = silo_order(graph)
    latency_s = _talking_latency_s(graph)[np.ix_(order, order)]
    region = near_regions(latency_s, round(graph.silos**0.5) if regions is None else regions)
    edge = central_silos(latency_s, region)
    states = hierarchical_states(region, edge, central_silo(latency_s, edge), cloud_every)
    states = reordered(states, order)
    _check_talk(graph, states, len(edge))
    return build_periodic("hierarchical", graph, work, states)


def _talking_latency_s(graph: Connectivity) -> FloatArray:
    """Latency of each pair, more than that of all others together where it cannot talk both ways."""
    far_s = 1.0 + float(graph.latency_s.sum())
    talks = graph.may_send & graph.may_send.T
    np.fill_diagonal(talks, True)
    return np.where(talks, graph.latency_s, far_s)


def _check_talk(graph: Connectivity, states: tuple[State, ...], regions: int) -> None:
    """Accept states whose arcs join silos that can talk both ways."""
    may_send = graph.may_send
    for state in states:
        for i, j in zip(state.source.tolist(), state.target.tolist(), strict=True):
            if not may_send[i, j]:
                raise InputError(
                    f"hierarchical: with {regions} region{'' if regions == 1 else 's'} {graph.labels[i]} must send to "
                    f"{graph.labels[j]}, but cannot: choose another number of regions."
                )
