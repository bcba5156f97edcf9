"""The result of a simulation: when every silo started every round."""

from dataclasses import dataclass, field

import numpy as np

from simulator.block import Messages
from simulator.computing_rounds import ALL
from simulator.statistics.confidence import CONFIDENCE, cycle_time_interval
from simulator.statistics.steady_state import SteadyState, counted_rows
from simulator.world.counted_silos import Absences, Presence, Starts
from topologies.arrays import FloatArray
from topologies.errors import InputError
from topologies.statistics import ConfidenceInterval


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Timeline:
    """Dates and loads of a simulated job of a given number of rounds.

    Parameters
    ----------
    round_start_s : ndarray of shape (rounds + 1, silos)
        ``round_start_s[k, i]`` is t_i(k), when silo `i` starts the computing of round `k`; the last row is
        when the silos have ended the job. With max-min fair rates the last rounds may be faster than in a longer job,
        since silos that end first leave their links to the others.
    arrival_s : ndarray of shape (rounds, arcs)
        When the message of each round arrives at the target of each arc; NaN where a round lacks the arc.
    link_bits : ndarray of shape (links,)
        Bits of all messages that crossed each link direction.
    steady : SteadyState
        How the job goes on.
    messages : Messages or None
        What happened to every message, if that was asked for.
    further_start_s : ndarray of shape (n, silos)
        Starts of the `n` rounds after the simulated ones, where these were too few to show one whole period.
    absences : sequence of (int, int, int)
        Silos that the others went on without: see `simulator.world.counted_silos.Absences`.
    engine : {"simpy", "compiled"}
        The engine that simulated the job.
    computes : tuple of bool
        Whether silos compute in each state; round `k` is in state ``k mod len(computes)``.
    regular_from : int
        Round from which on no message is missing whose round of sending would be before round 0.

    See Also
    --------
    simulator.statistics.steady_state : how the steady state is found, and its proof.
    """

    round_start_s: FloatArray
    arrival_s: FloatArray
    link_bits: FloatArray
    steady: SteadyState
    engine: str
    messages: Messages | None = None
    further_start_s: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    absences: Absences = ()
    computes: tuple[bool, ...] = ALL
    regular_from: int = 0

    def __repr__(self) -> str:
        rounds, silos = len(self.round_start_s) - 1, self.round_start_s.shape[1]
        return f"Timeline({rounds} rounds, {silos} silos, {self.steady}, engine={self.engine!r})"

    @property
    def cycle_time_s(self) -> float:
        """Time per round in which silos compute, in the steady state, in seconds."""
        return self.steady.cycle_time_s

    @property
    def cycle_time_is_exact(self) -> bool:
        """Whether the job is known to repeat; else `cycle_time_s` is an estimate, better with more rounds."""
        return self.steady.is_exact

    def confidence_interval(self) -> ConfidenceInterval | None:
        """95 % confidence interval of the cycle time.

        Returns
        -------
        ConfidenceInterval or None
            In seconds. Of half width 0 where the cycle time is exact; None where the rounds are too few for an interval
            (see `simulator.statistics.confidence.least_rounds`).

        Notes
        -----
        Batch means over the rounds after a warm-up of a quarter, without those that start after a silo has ended the
        job: see `simulator.statistics.confidence.cycle_time_interval`. The interval's mean is a better estimate than
        `cycle_time_s`, the slope of the last half. Time O(rounds * silos).
        """
        if self.cycle_time_is_exact:
            return ConfidenceInterval(mean=self.cycle_time_s, half_width=0.0, confidence=CONFIDENCE)
        start_s = self.round_start_s
        presence = Presence.of(self.absences, start_s.shape[1])
        end_s = presence.first_end_s(start_s[-1], len(start_s) - 1)
        starts = Starts.of(start_s, self.absences).computing(self.computes, self.regular_from)
        counted = starts.until(counted_rows(starts.last_s.max(axis=1), end_s))
        return cycle_time_interval(counted, silos=start_s.shape[1])

    def start_s(self, round_: int) -> FloatArray:
        """Round starts of any round.

        Parameters
        ----------
        round_ : int
            At least 0. Beyond the simulated rounds it is a round of a job without end; the simulated
            ones are of a job that ends, whose last rounds may be faster: see `steady_state.counted_rows`.

        Returns
        -------
        ndarray of shape (silos,)
            In seconds.

        Raises
        ------
        InputError
            If the round is negative, or was not simulated while the job is not known to repeat.

        Notes
        -----
        With the period `p` that takes `c` seconds and the transient `K`, ``t(k) = t(k - n p) + n c`` with the
        largest `n` that keeps ``k - n p >= K``. Relative error 1e-9 at most, time O(silos).
        """
        simulated = len(self.round_start_s)
        if round_ < 0:
            raise InputError(f"round(={round_}) must be >= 0.")
        if round_ < simulated:
            return np.array(self.round_start_s[round_])
        if round_ < simulated + len(self.further_start_s):
            return np.array(self.further_start_s[round_ - simulated])
        steady = self.steady
        if steady.period_rounds is None or steady.period_s is None or steady.transient_rounds is None:
            raise InputError(
                f"round(={round_}) must be <= {simulated - 1}, the simulated rounds: they hold no period."
            )
        periods, ahead = divmod(round_ - steady.transient_rounds, steady.period_rounds)
        return self.start_s(steady.transient_rounds + ahead) + periods * steady.period_s
