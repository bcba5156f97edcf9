"""When absences end: not before a silo that is present sends a model to the absent one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from simulator.world.absences import PlacedAbsence
from topologies.arrays import IntArray
from topologies.errors import InputError

Senders = Callable[[int, int], IntArray]
"""The sources of a silo's in-arcs in a round, if no silo is away: ``(silo, round)``."""


def extended(absences: Sequence[PlacedAbsence], senders: Senders, *, rounds: int) -> list[PlacedAbsence]:
    """Make each absence last until an in-neighbour is present that sends its model to the silo.

    Parameters
    ----------
    absences : sequence of PlacedAbsence
        Those of one silo must not overlap, and all must end within the job.
    senders : Senders
    rounds : int
        Of the job.

    Returns
    -------
    list of PlacedAbsence
        The same absences; one whose last missed round brings the silo no model is longer by as many rounds as it takes,
        or reaches to the next absence of its silo.

    Raises
    ------
    InputError
        If a silo would receive no model until the job ends.

    Notes
    -----
    Without it, such a silo would start its next round at the date at which it left, ahead of all others. Absences are
    taken by their end, so that it is known which silos are present in a round when that is asked. Time O(absences^2),
    and as much for each further round.
    """
    lasting = list(absences)
    ends = [(absence.back, number) for number, absence in enumerate(lasting)]
    heapify(ends)
    while ends:
        end, number = heappop(ends)
        absence = lasting[number]
        if any(other.silo == absence.silo and other.first_round == end for other in lasting):
            continue
        away = [other.silo for other in lasting if other.first_round < end <= other.back]
        if not np.isin(senders(absence.silo, end - 1), away).all():
            continue
        if end == rounds:
            last = absences[number].back
            raise InputError(
                f"must leave time to come back: from round {last - 1} on, no silo is there that sends to it.",
                field=absence.field("first_round + rounds", value=last),
            )
        lasting[number] = replace(absence, rounds=absence.rounds + 1)
        heappush(ends, (end + 1, number))
    return lasting
