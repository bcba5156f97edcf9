"""Absences and pauses of silos."""

from dataclasses import dataclass

from simulator.input_checks import check_at_least, check_not_negative
from simulator.world.effects import Effects
from simulator.world.names import Names
from topologies.errors import UNSTATED, Field, InputError

LONGEST_PAUSE_S = 1e9
"""32 years: later dates are less exact than a microsecond."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """A silo that misses some rounds while the others go on without it.

    Parameters
    ----------
    silo : str or int
        Label or number.
    first_round : int
        At least 0.
    rounds : int
        How many rounds it misses, >= 1.

    Raises
    ------
    InputError
        If a number is out of its range.

    Notes
    -----
    In its missed rounds the silo neither computes nor sends, and no silo waits for it. It still ends the round before
    as always, and then "starts" all missed rounds at once: their dates say when it left. In the last missed round its
    in-neighbours send to it again, and it starts the round after when their models are in. Where none of them is there
    to send in that round, as when two neighbours of a ring are away together, it can only come back later: it misses
    more rounds, one after the other, until a model reaches it.

    Since its dates stand still meanwhile, cycle times follow other silos: see `simulator.world.counted_silos.Starts`.

    The arcs between the other silos may meanwhile bring some of these no models of others, as on a directed ring:
    these drift apart, but by no more rounds than are missed, since the absence ends within the job.
    """

    silo: str | int
    first_round: int
    rounds: int

    def __post_init__(self) -> None:
        check_at_least(0, "first_round", self.first_round)
        check_at_least(1, "rounds", self.rounds)

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        return Effects(absences={names.silo(self.silo): (self.first_round, self.rounds)})


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedAbsence:
    """An absence in numbers.

    Parameters
    ----------
    place : int
        Of its event among all events of the job.
    silo, first_round, rounds : int
    """

    place: int
    silo: int
    first_round: int
    rounds: int

    @property
    def back(self) -> int:
        """The round in which the silo is back."""
        return self.first_round + self.rounds

    def field(self, *path: str, value: object = UNSTATED) -> Field:
        """A field of its event, for error messages; without a path, the event itself."""
        return Field("events", self.place, *path, value=value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """A silo that computes later than usual in one round, while the others wait for it.

    Parameters
    ----------
    silo : str or int
        Label or number.
    first_round : int
        The round, >= 0.
    duration_s : float
        How much longer its computing takes in that round, >= 0 and at most `LONGEST_PAUSE_S`.

    Raises
    ------
    InputError
        If a number is out of its range.
    """

    silo: str | int
    first_round: int
    duration_s: float

    def __post_init__(self) -> None:
        check_at_least(0, "first_round", self.first_round)
        check_not_negative("duration_s", self.duration_s)
        if self.duration_s > LONGEST_PAUSE_S:
            raise InputError(
                f"must be <= {LONGEST_PAUSE_S:g}.", field=Field("duration_s", value=self.duration_s)
            )

    def effects(self, names: Names, /) -> Effects:
        """See `simulator.world.effects.Event`."""
        return Effects(pauses={names.silo(self.silo): (self.first_round, self.duration_s)})


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedPause:
    """A pause in numbers.

    Parameters
    ----------
    place : int
        Of its event among all events of the job.
    silo, first_round : int
    duration_s : float
    """

    place: int
    silo: int
    first_round: int
    duration_s: float
