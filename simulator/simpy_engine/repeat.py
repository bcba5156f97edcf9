"""Repeats of the whole state of a job, which prove that it is periodic."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from simulator.computing_rounds import ALL, computing_before
from simulator.statistics.steady_state import SteadyState
from simulator.tolerances import DATE_NOISE, REPEATED_STATE


class State(NamedTuple):
    """The state of a silo or of the network, at an instant at which silo 0 starts a round."""

    numbers: list[int]
    """Whatever is whole, with rounds counted from that round."""

    times_s: list[float]
    """Durations left, in seconds."""

    shares: list[float]
    """Fractions of messages that have not left yet."""


class RepeatWatch:
    """Compares the whole state, round by round, with an earlier one.

    Parameters
    ----------
    states : sequence of callable
        Each returns the state of a silo or of the network at ``(round, date)``.
    ahead : callable
        Rounds by which the first silo is ahead of a round; negative where all are behind it.
    period : int
        Rounds after which the job has the same arcs and computing times: states of rounds that are not a multiple of it
        apart differ.
    first : int
        Round from which on that holds.
    computes : sequence of bool
        See `simulator.job.Job`.

    Attributes
    ----------
    steady : SteadyState or None
        Once a state equals an earlier one, to the tolerances `REPEATED_STATE` and `DATE_NOISE`. Its
        transient is an upper bound: rounds that some silo had started by then are not looked at.

    Notes
    -----
    Brent's cycle detection: the state is saved at `first` or round 1, and each time the rounds have doubled, so that in
    time a saved one lies in the cycle. The compiled engine looks at the same instants, and so finds the same.
    What follows depends on the state alone, as long as no silo has ended its last round. Time O(silos + messages)
    per round.
    """

    __slots__ = (
        "_ahead",
        "_computes",
        "_date_s",
        "_first",
        "_next",
        "_period",
        "_round",
        "_saved",
        "_states",
        "steady",
    )

    def __init__(
        self,
        states: Sequence[Callable[[int, float], State]],
        ahead: Callable[[int], int],
        *,
        period: int,
        first: int,
        computes: Sequence[bool] = ALL,
    ) -> None:
        self._states = states
        self._period = period
        self._computes = computes
        self._ahead = ahead
        self._saved: list[State] = []
        self._round = self._first = 0
        self._next = max(1, first)
        self._date_s = 0.0
        self.steady: SteadyState | None = None

    def look(self, k: int, now_s: float) -> None:
        """Take the state when silo 0 has started round `k`, before any silo has ended the job."""
        if self._saved and not (k - self._round) % self._period and self._is_saved(k, now_s):
            computing_rounds = computing_before(self._computes, k - self._round)
            self.steady = SteadyState(
                cycle_time_s=(now_s - self._date_s) / computing_rounds,
                is_exact=True,
                computing_rounds=computing_rounds,
                period_rounds=k - self._round,
                period_s=now_s - self._date_s,
                transient_rounds=self._first,
            )
        elif k >= self._next:
            self._saved = [state_of(k, now_s) for state_of in self._states]
            self._round, self._date_s, self._next = k, now_s, 2 * k
            self._first = k + self._ahead(k) + 1

    def _is_saved(self, k: int, now_s: float) -> bool:
        period_s = now_s - self._date_s
        tolerance_s = REPEATED_STATE * period_s + DATE_NOISE * now_s
        for state_of, saved in zip(self._states, self._saved, strict=True):
            state = state_of(k, now_s)
            if (
                state.numbers != saved.numbers
                or _differ(state.times_s, saved.times_s, tolerance_s)
                or _differ(state.shares, saved.shares, tolerance_s / period_s)
            ):
                return False
        return True


def _differ(one: list[float], other: list[float], tolerance: float) -> bool:
    """Whether any two numbers do; not by NumPy, which takes longer to begin with a silo's few."""
    return any(abs(a - b) > tolerance for a, b in zip(one, other, strict=True))
