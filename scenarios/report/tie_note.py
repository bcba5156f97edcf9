"""Overlays whose simulated cycle times real networks would not tell apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from topologies.wrapping import listed

TIE = 0.15
"""Relative difference below which real TCP makes no difference of two overlays."""


def tie_notes(rows: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """One sentence on each group of overlays that differ by less than 15 %, the fastest group first.

    Parameters
    ----------
    rows : iterable of mapping
        Of overlays, each with its name as ``overlay``.
    key : str
        Of the simulated cycle time in seconds, None where one was not simulated.

    Returns
    -------
    list of str
        Each overlay is in one group at most, that of the fastest overlay that it is close to.

    Notes
    -----
    Source: rounds measured over TCP (CUBIC and BBR) on an emulated network took 0.88 to 1.23 times as long as
    simulated, by the overlay, the size of the model and the depth of the queues.
    """
    known = sorted((row[key], row["overlay"]) for row in rows if row[key])
    groups: list[list[tuple[float, str]]] = []
    for each in known:
        if not groups or each[0] >= (1 + TIE) * groups[-1][0][0]:
            groups.append([])
        groups[-1].append(each)
    return [
        f"less than 15 % apart, so {'either' if len(group) == 2 else 'any of them'} may be faster on "
        f"real TCP: {listed([name for _, name in group])}."
        for group in groups
        if len(group) > 1
    ]
