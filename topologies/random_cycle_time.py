"""Cycle time of a randomized overlay."""

from dataclasses import dataclass

import numpy as np

from topologies.delays import delays_after
from topologies.errors import InputError
from topologies.schedule import RandomOverlay, choices
from topologies.statistics import ConfidenceInterval, batch_means

RANDOM_ROUNDS = 1000
"""Drawn rounds from which tables and files estimate it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomCycleTime:
    """Cycle time of a randomized overlay in two forms, in seconds.

    Attributes
    ----------
    barrier : ConfidenceInterval
        All silos start each round together: the mean over rounds of the round's largest delay. Published tables
        hold this.
    max_plus : ConfidenceInterval
        A silo starts its next round once the models of its own in-arcs are there: the growth rate of the round
        starts. Never larger than `barrier`.
    rounds : int
        Drawn rounds, the warm-up included.
    """

    barrier: ConfidenceInterval
    max_plus: ConfidenceInterval
    rounds: int


def random_cycle_time(
    overlay: RandomOverlay, rounds: int, seed: int, *, batches: int = 30, confidence: float = 0.95
) -> RandomCycleTime:
    """Estimate the cycle time of a randomized overlay from the first rounds of its schedule.

    Parameters
    ----------
    rounds : int
        More than `batches`. The first ``rounds / (batches + 1)`` are a warm-up and do not count.
    seed : int
        As for `make_schedule`: the same seed means the same rounds.
    batches : int, default 30
        See `batch_means`.
    confidence : float, default 0.95

    Raises
    ------
    InputError
        If there are too few rounds.

    Notes
    -----
    Each round has the delays of Eq. 3 with its own degrees, and ``s * T_c(i)`` for a silo's own model. The round
    starts follow ``t_j(k+1) = max(t_j(k) + s T_c(j), t_i(k) + d_ij(k) over the arcs of round k)``, a product of
    random max-plus matrices; its growth rate exists and is the same for all silos (Baccelli, Cohen, Olsder, Quadrat,
    "Synchronization and Linearity", 1992, chapter 7). Time O(rounds * arcs).
    """
    if batches < 2:
        raise InputError(f"batches(={batches}) must be >= 2.")
    if rounds <= batches:
        raise InputError(f"rounds(={rounds}) must be > batches(={batches}).")
    compute_s = overlay.work.round_compute_s(overlay.graph.silos)
    start_s = np.zeros(overlay.graph.silos)
    barrier_s, growth_s = np.empty(rounds), np.empty(rounds)
    for k, choice in zip(range(rounds), choices(overlay, seed), strict=False):
        source, target = overlay.arcs(choice)
        delay_s = delays_after(overlay.graph, overlay.work, compute_s, source, target)
        barrier_s[k] = max(delay_s.max(initial=0.0), compute_s.max())
        after_s = start_s + compute_s
        np.maximum.at(after_s, target, start_s[source] + delay_s)
        growth_s[k] = after_s.max()
        # Times count from the latest silo: no digits are lost over many rounds, and growth <= barrier holds exactly.
        start_s = after_s - growth_s[k]
    counted = slice(rounds - batches * (rounds // (batches + 1)), None)
    return RandomCycleTime(
        barrier=batch_means(barrier_s[counted], batches=batches, confidence=confidence),
        max_plus=batch_means(growth_s[counted], batches=batches, confidence=confidence),
        rounds=rounds,
    )
