"""Which arcs carry a message in which round."""

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from topologies import PeriodicOverlay, Schedule
from topologies.arc_numbers import ArcNumbers
from topologies.arrays import FloatArray, IntArray
from topologies.delays import arc_rates, transmissions

Number = TypeVar("Number", np.int64, np.float64)


class RoundPlan(Protocol):
    """Arcs by round; all rounds' arcs together are the arcs of the job.

    A message is of the round at whose end its target awaits it. A class that derives from this one has messages that
    are sent in that same round, and is not known to repeat, unless it says otherwise.
    """

    @property
    def rounds(self) -> int:
        """Number of rounds that the plan covers."""

    @property
    def period(self) -> int | None:
        """After how many rounds the same arcs come again, with their lags and times; None where that is not known.

        A plan that repeats answers for any round, and from round `longest_lag` on all is as a period later.
        """
        return None

    @property
    def longest_lag(self) -> int:
        """The largest of the `lags`, at least 1."""
        return 1

    def active(self, round_: int) -> IntArray:
        """Numbers of the arcs whose message is awaited at the end of a round, each once, shape (active,)."""

    def lags(self, round_: int) -> IntArray:
        """Lag of each of them, shape (active,): ``round_ + 1 - lag``, at least 0, is the round in which it is sent.

        Of one arc no message is sent in an earlier round than the one that was awaited before it. Arcs without a token
        have lags of 1.
        """
        return np.ones(len(self.active(round_)), dtype=np.int64)

    def sending_s(self, round_: int) -> FloatArray:
        """Time in which each of them sends its message at a constant rate, in seconds, shape (active,)."""


def lag_rows(plan: RoundPlan | None, rounds: range, arcs: int) -> IntArray:
    """Lag of each arc's message in each of some rounds, shape (rounds, arcs); 1 where it has none."""
    rows = np.ones((len(rounds), arcs), dtype=np.int64)
    if plan is not None and plan.longest_lag > 1:
        for row, round_ in enumerate(rounds):
            rows[row, plan.active(round_)] = plan.lags(round_)
    return rows


class ScheduledRounds(RoundPlan):
    """The rounds of a schedule.

    Parameters
    ----------
    schedule : Schedule
    rounds : int
        How many of its first rounds.

    Attributes
    ----------
    arcs : ArcNumbers
        Of all these rounds.

    Notes
    -----
    Each round has the rates of the paper's Eq. 3 with its own degrees. Time O(arcs of a round) per call; memory
    O(silos^2).
    """

    __slots__ = ("_rounds", "_schedule", "arcs")

    def __init__(self, schedule: Schedule, rounds: int) -> None:
        overlay = schedule.overlay
        used = np.unique(schedule.index[:rounds]).tolist()
        self.arcs = ArcNumbers(
            overlay.graph.silos, (overlay.arcs(schedule.choices[choice]) for choice in used)
        )
        self._schedule = schedule
        self._rounds = rounds

    def __repr__(self) -> str:
        return f"ScheduledRounds({self._rounds} rounds, {len(self.arcs.source)} arcs)"

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._rounds

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        return self.arcs.of(*self._schedule.arcs(round_))

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        overlay = self._schedule.overlay
        rates_bps = arc_rates(overlay.graph, *self._schedule.arcs(round_))
        return transmissions(overlay.work.model_bits, rates_bps)


class PeriodicRounds(RoundPlan):
    """The rounds of a periodic overlay.

    Parameters
    ----------
    overlay : PeriodicOverlay
    rounds : int

    Notes
    -----
    The job's arcs are those of `PeriodicOverlay.numbers`. Time O(1) per call, but in the first rounds, which lack the
    messages of rounds before round 0.
    """

    __slots__ = ("_active", "_lags", "_longest_lag", "_rounds", "_sending_s")

    def __init__(self, overlay: PeriodicOverlay, rounds: int) -> None:
        self._active = tuple(overlay.numbers.of(state.source, state.target) for state in overlay.states)
        self._lags = tuple(state.lag for state in overlay.states)
        bits = overlay.work.model_bits
        self._sending_s = tuple(transmissions(bits, rate_bps) for rate_bps in overlay.rate_bps)
        self._longest_lag = overlay.longest_lag
        self._rounds = rounds

    def __repr__(self) -> str:
        return f"PeriodicRounds({self._rounds} rounds, {self.period} states)"

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._rounds

    @property
    def period(self) -> int:
        """Number of states."""
        return len(self._active)

    @property
    def longest_lag(self) -> int:
        """See `RoundPlan`."""
        return self._longest_lag

    def active(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        return self._sent(self._active[round_ % self.period], round_)

    def lags(self, round_: int) -> IntArray:
        """See `RoundPlan`."""
        return self._sent(self._lags[round_ % self.period], round_)

    def sending_s(self, round_: int) -> FloatArray:
        """See `RoundPlan`."""
        return self._sent(self._sending_s[round_ % self.period], round_)

    def _sent(self, values: NDArray[Number], round_: int) -> NDArray[Number]:
        """Of the values of a state's arcs those of arcs whose round of sending exists."""
        if round_ + 1 >= self._longest_lag:
            return values
        return values[self._lags[round_ % self.period] <= round_ + 1]
