"""Silos and rounds that an estimated cycle time is taken from, so that no absence enters it as speed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from simulator.computing_rounds import ALL, are_computing, computing_before
from topologies.arrays import BoolArray, FloatArray, IntArray

CATCHING_UP = 2
"""Warm-up in rounds in which messages are missing for want of a round of sending.

Silos that wait for nobody for `L` rounds of `c` seconds first wait when as much time has passed on the links: where a
round takes ``t > c`` seconds in the long run, after ``L c / (t - c)`` more rounds, fewer than `L` if ``t > 2 c``.
"""

Absences = Sequence[tuple[int, int, int]]
"""Silos that the others go on without: silo, its first missed round, and the round in which it is back."""


def away(absences: Absences, rounds: range, silos: int) -> BoolArray:
    """Which silos are away in which rounds, shape (rounds, silos)."""
    is_away = np.zeros((len(rounds), silos), dtype=np.bool_)
    number = np.array(rounds, dtype=np.int64)
    for silo, first, back in absences:
        is_away[(number >= first) & (number < back), silo] = True
    return is_away


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Presence:
    """Which silos take part in which rounds.

    Attributes
    ----------
    silos : int
    members : tuple of ndarray of int
        Groups of silos that miss the same rounds; all silos are in one.
    missed : tuple of tuple of (int, int)
        The rounds that each group misses, in ascending order: the first one, and the one in which it is back.
    """

    silos: int
    members: tuple[IntArray, ...]
    missed: tuple[tuple[tuple[int, int], ...], ...]

    @classmethod
    def of(cls, absences: Absences, silos: int) -> Self:
        """Of a job of so many silos."""
        away: dict[int, list[tuple[int, int]]] = {silo: [] for silo in range(silos)}
        for silo, first, back in sorted((int(silo), int(first), int(back)) for silo, first, back in absences):
            away[silo].append((first, back))
        groups: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for silo, missed in away.items():
            groups.setdefault(tuple(missed), []).append(silo)
        members = tuple(np.array(group, dtype=np.int64) for group in groups.values())
        return cls(silos=silos, members=members, missed=tuple(groups))

    def computing(self, computes: Sequence[bool]) -> Self:
        """The same with rounds numbered as in `Starts.computing`: a group misses those of which it misses a part."""
        missed = tuple(
            tuple(
                (max(0, computing_before(computes, first + 1) - 1), computing_before(computes, back))
                for first, back in each
            )
            for each in self.missed
        )
        return replace(self, missed=missed)

    def last_s(self, round_start_s: FloatArray) -> FloatArray:
        """When the last silo of each group starts each round, shape (n, groups), of ``(n, silos)``."""
        return np.stack([round_start_s[:, group].max(axis=1) for group in self.members], axis=1)

    def first_end_s(self, end_s: FloatArray, rounds: int) -> float:
        """When the first silo that is there to the end has ended a job of so many rounds; `end_s` is each silo's date.

        Notes
        -----
        A silo that is away then has ended nothing: its date is that at which it left. Where all are away, of all.
        """
        there = [self.members[group] for group in self.throughout(rounds - 1, rounds)]
        return float(end_s[np.concatenate(there)].min() if there else end_s.min())

    def affects(self, first: int, end: int) -> bool:
        """Whether an absence affects the rounds ``first <= k < end``.

        Notes
        -----
        Without the absent silos, others may no longer wait for each other, so that some run ahead. Once all are
        present, each one waits, directly or through others, for the last one of a strongly connected overlay in fewer
        rounds than there are silos.
        """
        return any(
            begin < end and back + self.silos > first for missed in self.missed for begin, back in missed
        )

    def throughout(self, first: int, end: int) -> list[int]:
        """Numbers of the groups that miss none of the rounds ``first <= k < end``."""
        return [
            group
            for group, missed in enumerate(self.missed)
            if all(back <= first or begin >= end for begin, back in missed)
        ]

    def stretches(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The longest parts of ``first <= k < end`` that a group misses nothing of, for each group."""
        for missed in self.missed:
            edges = [first, *(edge for begin, back in missed for edge in (begin, back)), end]
            for begin, stop in list(pairwise(edges))[::2]:
                if max(begin, first) < min(stop, end):
                    yield max(begin, first), min(stop, end)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Counted:
    """Rounds that a cycle time is the mean over, and the dates whose growth it is.

    Attributes
    ----------
    first_round : int
    start_s : ndarray of shape (rounds + 1,)
        Start of each of these rounds and of the one after them: the mean of the silos that are followed, or the last.
    throughout : tuple of int or None
        The silos whose last start this is, where an absence affects these rounds; None where none is.
    asked : tuple of (int, int) or None
        The first of the rounds that were asked for and the one after the last, where no silo is there in all of them.
    computes : tuple of bool
    regular_from : int
        See `Starts`.
    """

    first_round: int
    start_s: FloatArray
    throughout: tuple[int, ...] | None = None
    asked: tuple[int, int] | None = None
    computes: tuple[bool, ...] = ALL
    regular_from: int

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.start_s) - 1

    @property
    def cycle_time_s(self) -> float:
        """Mean growth per round."""
        return float(self.start_s[-1] - self.start_s[0]) / self.rounds

    @property
    def lacks_period(self) -> bool:
        """Whether fewer rounds than two periods were there, so that the mean is of a part of one, or of the first."""
        period = sum(self.computes)
        return period > 1 and (self.rounds % period > 0 or self.first_round + self.rounds < 2 * period)

    @property
    def lacks_waiting(self) -> bool:
        """Whether it counts rounds in which messages are missing whose round of sending would be before round 0."""
        return self.first_round < self.regular_from

    def whole(self, rounds: int) -> Self:
        """The last of these rounds, a multiple of so many; all where they are fewer."""
        odd = self.rounds % rounds if rounds <= self.rounds else 0
        return replace(self, first_round=self.first_round + odd, start_s=self.start_s[odd:])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Starts:
    """Starts of the first rounds of a job, as far as a cycle time is taken from them.

    Attributes
    ----------
    mean_s : ndarray of shape (n,)
        Mean start of each round of the silos that are followed, mostly all.
    last_s : ndarray of shape (n, groups)
        Last start of each round in each group of `presence`.
    presence : Presence
    computes : tuple of bool
        Whether silos compute in each state of the job: rounds are those in which they do, see `computing`.
    regular_from : int
        Round before which messages are missing whose round of sending would be before round 0: nobody waits for these.

    Notes
    -----
    A cycle time that is not known exactly is the growth per round of one series. In rounds that no absence affects
    (see `Presence.affects`) that is the mean start of the silos, or, where there are too few rounds for a confidence
    interval, their last start. Else it is the last start of those silos that are present throughout the rounds
    counted: a silo that is away keeps the date at which it left and jumps when it is back, and of those that are there
    some may run ahead, but a round is over once the last of them has started the next. Where no silo is present
    throughout, the longest part of the rounds counts in which one is, of several the last.

    With lags above 1 it is the last start, too, in the first rounds: a silo may be ahead of those that its messages
    come from by as many rounds as the lags on the way are in sum, and until then no slow link there holds it up.
    """

    mean_s: FloatArray
    last_s: FloatArray
    presence: Presence
    computes: tuple[bool, ...] = ALL
    regular_from: int = 0

    @classmethod
    def of(cls, round_start_s: FloatArray, absences: Absences = (), *, silos: IntArray | None = None) -> Self:
        """Of the starts of all silos, shape (n, silos), and the silos that are followed, all by default."""
        presence = Presence.of(absences, round_start_s.shape[1])
        followed_s = round_start_s if silos is None else round_start_s[:, silos]
        return cls(mean_s=followed_s.mean(axis=1), last_s=presence.last_s(round_start_s), presence=presence)

    @classmethod
    def of_all(cls, start_s: FloatArray) -> Self:
        """Of one date for each round, shape (n,), of a job whose silos are always there."""
        return cls(mean_s=start_s, last_s=start_s[:, np.newaxis], presence=Presence.of((), 1))

    @property
    def rounds(self) -> int:
        """Number of rounds that all silos have ended."""
        return len(self.mean_s) - 1

    @property
    def period(self) -> int:
        """Rounds of one period of the overlay's states."""
        return sum(self.computes)

    @property
    def warm_up(self) -> int:
        """Rounds that count only where there are no others: before them links catch up with silos that did not wait."""
        return CATCHING_UP * self.regular_from

    def until(self, rows: int) -> Self:
        """The first of these starts."""
        return replace(self, mean_s=self.mean_s[:rows], last_s=self.last_s[:rows])

    def computing(self, computes: Sequence[bool], regular_from: int) -> Self:
        """Starts of the rounds in which silos compute, of those of all; each lasts until the next of them.

        Parameters
        ----------
        computes : sequence of bool
        regular_from : int
            See `simulator.job.Job`; of all rounds.

        Notes
        -----
        Where fewer than two have started before the last start of all, this stands for the second; where none has, the
        first start of all stands for the first.
        """
        states = tuple(computes)
        if all(states):
            is_told = len(states) > 1 or regular_from > 0
            return replace(self, computes=states, regular_from=regular_from) if is_told else self
        rows = len(self.mean_s)
        kept = np.flatnonzero(are_computing(computes, 0, rows))
        if len(kept) < 2:
            begun = kept[kept < rows - 1]
            kept = np.unique(np.append(begun if len(begun) else 0, rows - 1))
        return replace(
            self,
            mean_s=self.mean_s[kept],
            last_s=self.last_s[kept],
            presence=self.presence.computing(computes),
            computes=states,
            regular_from=computing_before(computes, regular_from),
        )

    def joined(self, later: Self) -> Self:
        """These starts and those of the rounds after."""
        return replace(
            self,
            mean_s=np.concatenate((self.mean_s, later.mean_s)),
            last_s=np.concatenate((self.last_s, later.last_s)),
        )

    def counted(self, first: int, end: int, *, last: bool = False) -> Counted:
        """The rounds ``first <= k < end``, or the part of them in which a silo is there throughout.

        Parameters
        ----------
        first, end : int
        last : bool
            Whether the last start is followed where no absence affects the rounds, too.
        """
        return counted_together([self], first, end, last=last)[0]

    def latest(self, *, last: bool = False) -> Counted:
        """The last half of the rounds: whole periods, at least one, after the `warm_up`.

        Parameters
        ----------
        last : bool
            See `counted`.

        Notes
        -----
        Where there are too few rounds for that, it is a part of a period, or of the rounds before: see
        `Counted.lacks_period` and `Counted.lacks_waiting`.
        """
        rounds, first = self.rounds, self.rounds // 2
        begin = next((begin for begin in (self.warm_up, self.regular_from) if begin < rounds), 0)
        if rounds - begin >= self.period:
            first = min(first, rounds - self.period)
        return self.counted(max(first, begin), rounds, last=last).whole(self.period)

    def _over(self, first: int, end: int, asked: tuple[int, int], last: bool) -> Counted:
        """Rounds in all of which a silo is there."""
        rows, presence = slice(first, end + 1), self.presence
        affected = presence.affects(first, end)
        follows_last = affected or last or first < self.regular_from * presence.silos
        groups = presence.throughout(first, end)
        start_s = self.last_s[rows, groups].max(axis=1) if follows_last else self.mean_s[rows]
        silos = sorted(silo for group in groups for silo in presence.members[group].tolist())
        return Counted(
            first_round=first,
            start_s=start_s,
            throughout=tuple(silos) if affected else None,
            asked=None if asked == (first, end) else asked,
            computes=self.computes,
            regular_from=self.regular_from,
        )


def counted_together(jobs: Sequence[Starts], first: int, end: int, *, last: bool = False) -> list[Counted]:
    """The same rounds of several jobs.

    Parameters
    ----------
    jobs : sequence of Starts
    first, end : int
        Rounds ``first <= k < end``, one or more, that all jobs have.
    last : bool
        See `Starts.counted`.

    Returns
    -------
    list of Counted
        Of the given rounds, if each job has a silo that is there throughout; else of the longest part of them in which
        each has one.
    """
    parts = {(first, end)}
    if not all(starts.presence.throughout(first, end) for starts in jobs):
        for starts in jobs:
            stretches = set(starts.presence.stretches(first, end))
            both = {(max(a, c), min(b, d)) for a, b in parts for c, d in stretches}
            parts = {(begin, stop) for begin, stop in both if begin < stop}
    begin, stop = max(parts, key=lambda part: (part[1] - part[0], part[1]))
    return [starts._over(begin, stop, (first, end), last) for starts in jobs]
