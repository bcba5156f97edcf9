"""Networks on which every silo can send to every other one."""

import numpy as np

from topologies.connectivity import Connectivity
from topologies.errors import InputError


def require_all_pairs(kind: str, graph: Connectivity) -> None:
    """Raise an `InputError` where some pair cannot talk, for overlays in which every pair may have to."""
    missing = ~graph.may_send & ~np.eye(graph.silos, dtype=np.bool_)
    if missing.any():
        i, j = np.argwhere(missing)[0].tolist()
        raise InputError(
            f"{kind}: {graph.labels[i]} cannot send to {graph.labels[j]}; every silo must be able to send to every "
            "other one, as any arc may be drawn."
        )
