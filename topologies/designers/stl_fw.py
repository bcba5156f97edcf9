"""STL-FW on a network: an overlay by the labels of the silos' data."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.designers.base_graph import Peers
from topologies.designers.node_order import reordered
from topologies.designers.options import LabelShares
from topologies.designers.stated_weights import overlay_of_state
from topologies.errors import InputError
from topologies.label_order import silo_order
from topologies.overlay import Overlay
from topologies.periodic.stl_fw import VARIANCE_WEIGHT
from topologies.periodic.stl_fw import stl_fw as stl_fw_states
from topologies.workload import Workload


def stl_fw(
    graph: Connectivity,
    work: Workload,
    *,
    k: Peers = 2,
    proportions: LabelShares = None,
    variance_weight: float = VARIANCE_WEIGHT,
) -> Overlay:
    """Overlay whose neighbourhoods have the labels of all silos together, as nearly as few arcs allow.

    Parameters
    ----------
    k : int
        Permutations that are mixed, at least 1: no silo sends, or receives, more models.
    proportions : ndarray, shape (silos, classes)
        Share of each label among the samples of each silo; rows sum to 1. There is no default;
        of a scenario they are those of its training's partition.
    variance_weight : float
        See `topologies.periodic.stl_fw.stl_fw`.

    Raises
    ------
    InputError
        Without `proportions`; if they do not fit the silos; if the arcs leave silos that never hear of others, as few
        may do; or if a number is out of its range.

    Notes
    -----
    See `topologies.periodic.stl_fw.stl_fw`, which names the source. Ties go by label.
    """
    if proportions is None:
        raise InputError(
            "stl_fw needs a partition of data, the share of each label at each silo, and none is given: in a scenario "
            "[training] with dataset and partition, in Python design('stl_fw', ..., proportions=...)."
        )
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 2 or len(shares) != graph.silos:
        raise InputError(
            f"stl_fw: proportions has shape {shares.shape}; it must have a row for each of {graph.silos} silos."
        )
    order = silo_order(graph)
    states = stl_fw_states(shares[order], k, variance_weight=variance_weight)
    (state,) = reordered(states, order)
    return overlay_of_state("stl_fw", graph, work, state)
