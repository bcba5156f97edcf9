"""The static exponential graph."""

from topologies.checks import check_integer
from topologies.periodic.shifts import shift_state
from topologies.state import State


def exponential(silos: int) -> tuple[State, ...]:
    """Static exponential graph: every silo sends to those 1, 2, 4, ... ahead of it.

    Parameters
    ----------
    silos : int
        Number of silos, at least 1.

    Returns
    -------
    tuple of State
        One state, with the arcs ``i -> i + 2^j mod silos``, ``j = 0..ceil(log2(silos)) - 1``; a silo averages its own
        model and those that it receives with equal weights. Doubly stochastic; degree ``ceil(log2(silos))``. One silo
        has no arcs.

    Raises
    ------
    InputError
        If `silos` is no integer or below 1.

    Notes
    -----
    Source: Ying, Yuan, Chen, Hu, Pan, Yin, "Exponential graph is provably efficient for decentralized deep training"
    (NeurIPS 2021, arXiv 2110.13363). Its spectral gap is ``2 / (1 + ceil(log2(silos)))`` for an even number of silos
    and larger for an odd one. Time O(silos log silos).
    """
    check_integer("silos", silos, minimum=1)
    steps = [1 << j for j in range((silos - 1).bit_length())]
    return (shift_state(silos, steps, 1 / (len(steps) + 1)),)
