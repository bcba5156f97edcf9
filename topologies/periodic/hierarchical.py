"""FedAvg over regions: averages within each region, and in some rounds of all."""

import numpy as np

from topologies.arrays import IntArray
from topologies.checks import check_integer
from topologies.errors import Field, InputError
from topologies.state import State, state_of


def hierarchical(region: IntArray, edge: IntArray, cloud: int, cloud_every: int) -> tuple[State, ...]:
    """Hierarchical FedAvg: silos average in stars around an edge silo of their region, and now and then over all.

    Parameters
    ----------
    region : ndarray of int, shape (silos,)
        Of ``0..regions - 1``, each at least once; `topologies.periodic.regions.near_regions` makes them.
    edge : ndarray of int, shape (regions,)
        The silo of each region that averages.
    cloud : int
        The silo that averages the edges' models, mostly an edge itself.
    cloud_every : int
        `kappa`: rounds after which all average, at least 1.

    Returns
    -------
    tuple of State
        All lags are 1. Silos compute in the states in which they send up to their edges; those that follow send on what
        has been averaged. First ``cloud_every - 1`` times two states: up to the edges, and down. Then up to the edges,
        up to the cloud, and down again in two states; after that all hold the plain average of all models. States
        without arcs (of regions of one silo each, or a single region) are left out, but those that compute.

    Raises
    ------
    InputError
        If a region has no silo, an edge is no silo of its region, or a number is out of its range.

    Notes
    -----
    Source: Liu, Zhang, Song, Letaief, "Client-edge-cloud hierarchical federated learning" (IEEE ICC 2020,
    arXiv 1905.06641), algorithm 1: its ``kappa_1`` is the number of local steps of a round, ``kappa_2`` is
    `cloud_every`; silos have equal weights. What goes down is what has just been averaged, so it leaves without another
    computing time in between. With one region and ``cloud_every = 1`` this is the STAR. Where the cloud is an edge, the
    cycle time per round is the largest, over the regions, of the way from the cloud to the edge and back divided by
    `cloud_every`, and the cycle time of the region's star. Time O(silos cloud_every).
    """
    check_integer("cloud_every", cloud_every, minimum=1)
    silos = len(region)
    sizes = (
        np.bincount(region, minlength=len(edge))
        if silos and region.min() >= 0
        else np.zeros(len(edge), dtype=int)
    )
    if len(sizes) != len(edge) or not sizes.all():
        raise InputError(
            f"region must hold each number of 0..{len(edge) - 1}, one for each edge, and no others."
        )
    for number, silo in enumerate(edge.tolist()):
        if not 0 <= silo < silos or region[silo] != number:
            raise InputError(f"must be a silo of region {number}.", field=Field("edge", number, value=silo))
    if not 0 <= cloud < silos:
        raise InputError(f"must be a silo of 0..{silos - 1}.", field=Field("cloud", value=cloud))
    members = np.setdiff1d(np.arange(silos), edge)
    their_edge = edge[region[members]]
    far = edge != cloud
    far_edges, at_cloud = edge[far], np.full(int(far.sum()), cloud)
    up = state_of(members, their_edge, 1 / sizes[region[members]])
    down = state_of(their_edge, members, np.ones(len(members)), computes=False)
    # A cloud that is no edge has handed its own model on to its edge.
    to_cloud = state_of(far_edges, at_cloud, sizes[far] / silos, computes=False)
    from_cloud = state_of(at_cloud, far_edges, np.ones(len(far_edges)), computes=False)
    states = [up, down] * (cloud_every - 1) + [up, to_cloud, from_cloud, down]
    return tuple(state for state in states if state.computes or len(state.source))
