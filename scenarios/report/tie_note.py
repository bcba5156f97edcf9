"""Overlays whose simulated cycle times real networks would not tell apart."""

from collections.abc import Mapping

from topologies.wrapping import listed

TIE = 0.15
"""Relative difference below which real TCP makes no difference of two overlays."""


def tie_notes(simulated_s: Mapping[str, float | None]) -> list[str]:
    """One sentence on each group of overlays that differ by less than 15 %, the fastest group first.

    Parameters
    ----------
    simulated_s : mapping from str
        Simulated cycle times of overlays in seconds; None where one was not simulated.

    Returns
    -------
    list of str
        Each overlay is in one group at most, that of the fastest overlay that it is close to.

    Notes
    -----
    Source: rounds measured over TCP (CUBIC and BBR) on an emulated network took 0.88 to 1.23 times as long as
    simulated, by the overlay, the size of the model and the depth of the queues.
    """
    known = sorted((seconds, name) for name, seconds in simulated_s.items() if seconds)
    groups: list[list[tuple[float, str]]] = []
    for each in known:
        if not groups or each[0] >= (1 + TIE) * groups[-1][0][0]:
            groups.append([])
        groups[-1].append(each)
    return [
        f"a tie on real TCP, less than 15 % apart (simulated): {listed([name for _, name in group])}."
        for group in groups
        if len(group) > 1
    ]
