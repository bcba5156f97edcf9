"""A silo that is away: the others go on without it, or wait."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from scenarios.config.events.cause import Cause
from scenarios.config.events.kind import EventKind
from scenarios.config.events.window import AFTER, IN, Window
from scenarios.config.quantities import Duration, format_s
from simulator import Absence, Pause
from simulator.input_checks import check_choice
from simulator.world.names import Names
from topologies.errors import Field, InputError
from topologies.quantities import parse_quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsenceKind(EventKind):
    """``[[simulation.away]]``: a silo that is away.

    Parameters
    ----------
    silo : str
        Its label.
    from_round : int
        First round without it.
    policy : {"go_on", "wait"}
        Whether the others go on without it for some rounds, or wait for some time.
    rounds : int, optional
        Rounds that it misses; with ``"go_on"``.
    duration : str, optional
        How long the others wait; with ``"wait"``.
    """

    table: ClassVar[str] = "away"
    keys: ClassVar[Mapping[str, str]] = {
        "first_round": "from_round",
        "first_round + rounds": "from_round + rounds",
        "duration_s": "duration",
    }
    on_network: ClassVar[bool] = False
    closed_forms_note: ClassVar[str] = "Closed forms leave absences out."

    silo: str
    from_round: int
    policy: Literal["go_on", "wait"]
    rounds: int | None = None
    duration: Duration | None = None

    def check(self) -> None:
        """See `EventKind`."""
        check_choice("policy", self.policy, ("go_on", "wait"))
        lasting = {"rounds": self.rounds, "duration": self.duration}
        needed, other = ("rounds", "duration") if self.policy == "go_on" else ("duration", "rounds")
        policy = Field("policy", value=self.policy)
        if lasting[needed] is None:
            raise InputError("must be given with ", policy, ".", field=Field(needed))
        if lasting[other] is not None:
            rule = ("must not be given with ", policy, f", which has {needed}.")
            raise InputError(*rule, field=Field(other, value=lasting[other]))

    def event(self, *, seed: int) -> Absence | Pause:
        """See `EventKind`."""
        if self.rounds is not None:
            return Absence(silo=self.silo, first_round=self.from_round, rounds=self.rounds)
        duration_s = parse_quantity("duration", self.duration, "s", zero=True)
        return Pause(silo=self.silo, first_round=self.from_round, duration_s=duration_s)

    @property
    def alters_learning(self) -> bool:
        """See `EventKind`; where the others wait, every model is mixed as ever."""
        return self.policy == "go_on"

    def describe(self) -> str:
        """See `EventKind`."""
        return f"{self.silo} away from round {self.from_round:,}"

    @classmethod
    def notes(
        cls, entries: Sequence[Self], window: Window | None, *, stops_early: bool
    ) -> Iterator[tuple[int, str]]:
        """See `EventKind`; where the simulation ends early, it may end before a silo is back."""
        if window is None:
            return
        for entry in entries:
            side, words = entry._note(entries, window)
            yield side, words
            back = entry._last_round() + 1
            if stops_early and entry.rounds and side == IN and back > window.last_round:
                yield AFTER, f"{entry.silo} back from round {back:,} on"

    def _note(self, entries: Sequence[Self], window: Window) -> tuple[int, str]:
        """The missed rounds, or the round with the pause."""
        words, first, last = self.describe(), self.from_round, self._last_round()
        longest = last
        # Where its in-neighbours are away too, it misses further rounds: at most one more for each silo on the way.
        for other in sorted(entries, key=lambda other: other.from_round):
            if self.rounds and other.rounds and other.silo != self.silo and other.from_round <= longest:
                longest += max(0, other._last_round() - longest) + (other._last_round() >= first)
        side = window.side_of_rounds(first, last)
        if side == window.side_of_rounds(first, longest):
            return side, words
        return IN, f"{words}, longer than asked where it receives no model"

    def _last_round(self) -> int:
        """The last of the rounds that the silo is asked to miss, or in which it pauses."""
        return self.from_round + (self.rounds or 1) - 1

    @classmethod
    def silo_cause(cls, entries: Sequence[Self], names: Names, window: Window, silo: int) -> Cause | None:
        """See `EventKind`: pauses, for which the others wait."""
        durations_s = [
            parse_quantity("duration", entry.duration, "s", zero=True)
            for entry in entries
            if entry.duration is not None
            and window.side_of_rounds(entry.from_round, entry.from_round) == IN
            and names.silo(entry.silo) == silo
        ]
        if not durations_s:
            return None
        label, count = names.graph.labels[silo], len(durations_s)
        rounds = f"{count} round{'s' if count > 1 else ''}"
        text = f"{label} is away for {format_s(sum(durations_s))} in all, in {rounds}"
        return Cause(assumption="away", place=label, explanation=text)
