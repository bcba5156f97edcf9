"""When silos that were away can come back: once somebody who is there sends to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from simulator.world.absences import PlacedAbsence
from topologies.arrays import IntArray
from topologies.errors import InputError

Senders = Callable[[int, int], IntArray]
"""The sources of a silo's in-arcs in a round, if nobody is away: ``(silo, round)``."""


def until_heard(absences: Sequence[PlacedAbsence], senders: Senders, *, rounds: int) -> list[PlacedAbsence]:
    """Make each absence last until an in-neighbour is there to send its model to the silo.

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
        If a silo would hear nobody until the job ends.

    Notes
    -----
    Without it, such a silo would start its next round at the date at which it left, ahead of all others. Absences are
    taken by their end, so that who is there in a round is known when it is asked. Time O(absences^2), and as much for
    each round more.
    """
    lasting = list(absences)
    ends = [(absence.first_round + absence.rounds, number) for number, (_, _, absence) in enumerate(lasting)]
    heapify(ends)
    while ends:
        end, number = heappop(ends)
        place, silo, absence = lasting[number]
        if any(other == silo and later.first_round == end for _, other, later in lasting):
            continue
        away = [other for _, other, its in lasting if its.first_round < end <= its.first_round + its.rounds]
        if not np.isin(senders(silo, end - 1), away).all():
            continue
        if end == rounds:
            asked = absences[number][2]
            last = asked.first_round + asked.rounds
            raise InputError(
                f"absences[{place}].first_round + rounds(={last}) must leave time to come back: from round "
                f"{last - 1} on, no silo is there that sends to it."
            )
        lasting[number] = place, silo, replace(absence, rounds=absence.rounds + 1)
        heappush(ends, (end + 1, number))
    return lasting
