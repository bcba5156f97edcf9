"""The ``[simulation]`` table of a scenario and the tables in it; quantities are texts with units."""

from dataclasses import dataclass
from typing import Annotated, Literal

import pydantic

from scenarios.units import parse_quantity, parse_share
from topologies import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeConfig:
    """``[simulation.compute]``: computing times that differ from round to round.

    Parameters
    ----------
    distribution : {"lognormal", "exponential"}, optional
        Its mean is the workload's computing time of a round.
    cv : float, optional
        Coefficient of variation of ``"lognormal"``.
    trace : str, optional
        CSV file of measured times in seconds, instead of a distribution; see `scenarios.computing`.
    repeat : bool
        Whether a trace starts again after its last row.
    """

    distribution: Literal["lognormal", "exponential"] | None = None
    cv: float | None = None
    trace: str | None = None
    repeat: bool = False

    def __post_init__(self) -> None:
        """Check which keys go together."""
        if (self.distribution is None) == (self.trace is None):
            raise InputError("distribution or trace must be given, and not both.")
        if (self.cv is not None) != (self.distribution == "lognormal"):
            raise InputError(
                f"cv(={self.cv}) must be given with the distribution 'lognormal', and only there."
            )
        if self.cv is not None and not 0 <= self.cv < float("inf"):
            raise InputError(f"cv(={self.cv}) must be finite and >= 0.")
        if self.repeat and self.trace is None:
            raise InputError("repeat(=True) goes with a trace.")


@dataclass(frozen=True, kw_only=True, slots=True)
class BackgroundConfig:
    """``[[simulation.background]]``: traffic of others, a constant share or a flow that comes and goes.

    Parameters
    ----------
    link : str, optional
        ``"A - B"``, or ``"A -> B"`` for one direction; by default all core links.
    share : str, optional
        Part of the capacity in percent, all the time.
    peak, mean_on, mean_off : str, optional
        Peak rate of a flow, and its mean times on and off.
    """

    link: str | None = None
    share: str | None = None
    peak: str | None = None
    mean_on: str | None = None
    mean_off: str | None = None

    def __post_init__(self) -> None:
        """Check the quantities, and which keys go together."""
        flow = (self.peak, self.mean_on, self.mean_off)
        if (self.share is None) == all(part is None for part in flow) or (any(flow) and None in flow):
            raise InputError("share, or peak with mean_on and mean_off must be given, and not both.")
        if self.share is not None:
            parse_share("share", self.share)
        for field, unit in (("peak", "bit/s"), ("mean_on", "s"), ("mean_off", "s")):
            if getattr(self, field) is not None:
                parse_quantity(field, getattr(self, field), unit)


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityConfig:
    """``[[simulation.capacity]]``: a link whose capacity changes.

    Parameters
    ----------
    link : str
        As in `BackgroundConfig`, or ``"A uplink"``, ``"A downlink"``.
    at : tuple of str
        Dates, ascending.
    capacity : tuple of str
        From each date on.
    repeat_every : str, optional
        The dates repeat after this time, for instance ``"24 h"``.
    job_starts_at : str
        The date at which the job starts, for instance ``"8 h"``.
    """

    link: str
    at: tuple[str, ...]
    capacity: tuple[str, ...]
    repeat_every: str | None = None
    job_starts_at: str = "0 s"

    def __post_init__(self) -> None:
        """Check the quantities."""
        for text in (*self.at, self.job_starts_at):
            parse_quantity("at", text, "s", zero=True)
        for text in self.capacity:
            parse_quantity("capacity", text, "bit/s", zero=True)
        if self.repeat_every is not None:
            parse_quantity("repeat_every", self.repeat_every, "s")


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureConfig:
    """``[[simulation.failure]]``: a core link that is down.

    Parameters
    ----------
    link : str
        ``"A - B"``.
    from_ : str
        Since the job's start; the key is ``from``.
    until : str, optional
        By default for ever.
    """

    link: str
    from_: Annotated[str, pydantic.Field(alias="from")]
    until: str | None = None

    def __post_init__(self) -> None:
        """Check the quantities."""
        parse_quantity("from", self.from_, "s", zero=True)
        if self.until is not None:
            parse_quantity("until", self.until, "s")


@dataclass(frozen=True, kw_only=True, slots=True)
class AwayConfig:
    """``[[simulation.away]]``: a silo that is away.

    Parameters
    ----------
    silo : str
    from_round : int
    policy : {"go_on", "wait"}
        Whether the others go on without it for some rounds, or wait for some time.
    rounds : int, optional
        With ``"go_on"``.
    duration : str, optional
        With ``"wait"``.
    """

    silo: str
    from_round: int
    policy: Literal["go_on", "wait"]
    rounds: int | None = None
    duration: str | None = None

    def __post_init__(self) -> None:
        """Check which keys go together."""
        if (self.rounds is None) == (self.policy == "go_on") or (self.duration is None) == (
            self.policy == "wait"
        ):
            raise InputError(
                f"policy(={self.policy!r}) goes with {'rounds' if self.policy == 'go_on' else 'duration'} only."
            )
        if self.duration is not None:
            parse_quantity("duration", self.duration, "s", zero=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationConfig:
    """The ``[simulation]`` table.

    Parameters
    ----------
    rounds : int
        Rounds to simulate: at most where `until_ci` stops earlier, and at least where more are trained.
    sharing : {"maxmin", "equal"}
    queueing : {"fifo", "overlap"}
    messages : bool
        Whether the file of a run holds what happened to every message.
    until_ci : str, optional
        Half width, in percent of the cycle time, of a 95 % confidence interval that is narrow enough to stop.
    compute : ComputeConfig, optional
        By default all rounds take the workload's time.
    background, capacity, failure, away : tuple
        What happens around the job.
    """

    rounds: int = 200
    sharing: Literal["maxmin", "equal"] = "maxmin"
    queueing: Literal["fifo", "overlap"] = "fifo"
    messages: bool = False
    until_ci: str | None = None
    compute: ComputeConfig | None = None
    background: tuple[BackgroundConfig, ...] = ()
    capacity: tuple[CapacityConfig, ...] = ()
    failure: tuple[FailureConfig, ...] = ()
    away: tuple[AwayConfig, ...] = ()

    def __post_init__(self) -> None:
        """Check rounds and interval."""
        if self.rounds < 1:
            raise InputError(f"rounds(={self.rounds}) must be >= 1.")
        if self.until_ci is not None and parse_share("until_ci", self.until_ci) == 0:
            raise InputError(f"until_ci(={self.until_ci!r}) must be > 0 %.")
