"""The one-peer exponential graph."""

from topologies.checks import check_integer
from topologies.periodic.shifts import shift_state
from topologies.state import State


def one_peer_exponential(silos: int) -> tuple[State, ...]:
    """One-peer exponential graph: in one round after the other each silo sends to the one 1, 2, 4, ... ahead of it.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.

    Returns
    -------
    tuple of State
        ``ceil(log2(silos))`` states; state `k` has the arcs ``i -> i + 2^k mod silos`` of weight 1/2. Doubly
        stochastic; degree 1. One silo has a single state without arcs.

    Raises
    ------
    InputError
        If `silos` is no integer or below 1.

    Notes
    -----
    Source: Ying, Yuan, Chen, Hu, Pan, Yin, "Exponential graph is provably efficient for decentralized deep training"
    (NeurIPS 2021, arXiv 2110.13363). The product over a period is the exact average if and only if `silos` is a power
    of 2. Time O(silos log silos).
    """
    check_integer("silos", silos, minimum=1)
    if silos == 1:
        return (shift_state(1, [], []),)
    return tuple(shift_state(silos, [1 << k], 0.5) for k in range((silos - 1).bit_length()))
