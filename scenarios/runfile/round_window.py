"""Rounds of a simulation with all messages that are under way in them, as the HDF5 file of a run holds them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import h5py
import numpy as np

from scenarios.runfile.simulated_rounds import MESSAGE_FIELDS, recorded_absences
from simulator import Messages
from simulator.world.counted_silos import Absences, away
from topologies import InputError
from topologies.arrays import FloatArray

_STEP = 64
"""Rounds that are read at once in search of messages of earlier and later rounds."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RoundWindow:
    """Consecutive rounds that are looked at, and those before and after whose messages are under way meanwhile.

    Attributes
    ----------
    rounds : range
        That are looked at.
    first_round : int
        Of the rows below.
    round_start_s : ndarray of shape (rows + 1, silos)
        NaN in the last row where a simulation was cut short.
    messages : Messages
        Of `rows` rounds.
    begin_s, end_s : float
        From the first start of the rounds to the last end; of silos that are not away then.
    """

    rounds: range
    first_round: int
    round_start_s: FloatArray
    messages: Messages
    begin_s: float
    end_s: float

    @property
    def starts_s(self) -> FloatArray:
        """Starts of the rounds that are looked at and of the one after them, shape (rounds + 1, silos)."""
        first = self.rounds.start - self.first_round
        return self.round_start_s[first : first + len(self.rounds) + 1]

    @property
    def arrival_s(self) -> FloatArray:
        """Arrivals of the messages of the rounds that are looked at, shape (rounds, arcs)."""
        first = self.rounds.start - self.first_round
        return self.messages.arrival_s[first : first + len(self.rounds)]

    @classmethod
    def cut(
        cls,
        rounds: range,
        simulated: int,
        starts: Callable[[int, int], FloatArray],
        messages: Callable[[int, int], Messages],
        absences: Absences,
        *,
        earliest: int = 0,
        longest_lag: int,
    ) -> Self:
        """The window of some rounds.

        Parameters
        ----------
        rounds : range
        simulated : int
            Rounds that there are.
        starts : callable
            Starts of the rounds from one to another, the last one not included.
        messages : callable
            Their messages, likewise.
        absences : sequence of (int, int, int)
        earliest : int
            First round that there is; messages of those before are all in when the first of `rounds` starts.
        longest_lag : int
            Of the messages: see `simulator.rounds.RoundPlan.lags`.

        Notes
        -----
        All messages that round `k` awaits are in when the last silo starts round ``k + 1``, and none starts before the
        first silo starts round ``k + 1 - longest_lag``. So only round starts tell which rounds matter.
        """
        own_s = starts(rounds.start, rounds.stop + 1)
        silos = own_s.shape[1]
        here = ~away(absences, range(rounds.start, rounds.stop), silos)
        begin_s = float(own_s[0][here[0]].min())
        # Where a simulation was cut short, no silo's end of the last round is known but by its messages.
        ends_s = own_s[-1][here[-1]] if len(own_s) > len(rounds) else np.full(1, np.nan)
        if np.isnan(ends_s).any():
            last = messages(rounds.stop - 1, rounds.stop).arrival_s
            ends_s = np.append(last[~np.isnan(last)], own_s[len(rounds) - 1].max())
        end_s = float(ends_s.max())
        first, last_row = rounds.start, rounds.stop
        while first > earliest:
            before = max(earliest, first - _STEP)
            over = np.flatnonzero(starts(before + 1, first + 1).max(axis=1) <= begin_s)
            if len(over):
                first = before + 1 + int(over[-1])
                break
            first = before
        while last_row < simulated:
            after = min(simulated, last_row + _STEP)
            later_s = starts(last_row, after)
            later_s = np.where(away(absences, range(last_row, after), silos), np.inf, later_s)
            beyond = np.flatnonzero(later_s.min(axis=1) >= end_s)
            if len(beyond):
                last_row += int(beyond[0])
                break
            last_row = after
        last_row = min(simulated, last_row + longest_lag - 1)
        round_start_s = starts(first, last_row + 1)
        missing = last_row + 1 - first - len(round_start_s)
        return cls(
            rounds=rounds,
            first_round=first,
            round_start_s=np.pad(round_start_s, ((0, missing), (0, 0)), constant_values=np.nan),
            messages=messages(first, last_row),
            begin_s=begin_s,
            end_s=end_s,
        )


def has_messages(group: h5py.Group) -> bool:
    """Whether the group of a simulation holds all dates of its messages."""
    return all(name in group for name in MESSAGE_FIELDS)


def read_window(group: h5py.Group, rounds: range, simulated: int, *, longest_lag: int = 1) -> RoundWindow:
    """Read the window of some rounds.

    Parameters
    ----------
    group : h5py.Group
        Of a simulation with all messages: see `has_messages`.
    rounds : range
    simulated : int
        Rounds that the group has.
    longest_lag : int
        Of its messages.

    Notes
    -----
    Reads these rounds and the few around them, whatever the group holds besides.
    """

    def messages(first: int, stop: int) -> Messages:
        dates: dict[str, Any] = {name: group[name][first:stop] for name in (*MESSAGE_FIELDS, "arrival_s")}
        return Messages(**dates)

    return RoundWindow.cut(
        rounds,
        simulated,
        recorded_starts(group, simulated),
        messages,
        recorded_absences(group),
        longest_lag=longest_lag,
    )


def check_starts(round_start_s: FloatArray, name: str) -> None:
    """Raise an `InputError` unless the starts of rounds are dates that go on; those of absent silos do, too."""
    latest_s = np.asarray(round_start_s, dtype=np.float64).max(axis=1, initial=-np.inf)
    if not np.isfinite(latest_s).all() or (latest_s < 0).any() or (np.diff(latest_s) < 0).any():
        raise InputError(f"{name.removeprefix('/')} must hold dates >= 0 that go on from round to round.")


def recorded_starts(group: h5py.Group, simulated: int) -> Callable[[int, int], FloatArray]:
    """Reads the starts of the rounds from one to another; NaN for the one after a simulation that was cut short."""
    dataset = group["round_start_s"]
    is_cut_short = simulated + 1 < len(dataset)

    def starts(first: int, stop: int) -> FloatArray:
        found: FloatArray = dataset[first:stop]
        check_starts(found[: max(simulated - first, 0)], dataset.name)
        if is_cut_short and stop > simulated:
            found[simulated - first :] = np.nan
        return found

    return starts
