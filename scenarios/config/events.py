"""The entries of ``[simulation]`` that say what happens around the job; quantities are texts with units."""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Literal

import numpy as np
import pydantic

from scenarios.config.error_texts import in_words_of
from scenarios.config.quantities import Duration, Rate, Share, parse_quantity, parse_share
from simulator import Absence, CapacityTrace, ConstantShare, LinkFailure, OnOffFlow, Pause
from simulator.input_checks import check_choice
from topologies import InputError


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
    share: Share | None = None
    peak: Rate | None = None
    mean_on: Duration | None = None
    mean_off: Duration | None = None

    def __post_init__(self) -> None:
        """Check the quantities, and which keys go together."""
        flow = (self.peak, self.mean_on, self.mean_off)
        if (self.share is None) == all(part is None for part in flow) or (any(flow) and None in flow):
            raise InputError("share, or peak with mean_on and mean_off must be given, and not both.")
        with in_words_of(self):
            self.entry(seed=0)

    def entry(self, *, seed: int) -> ConstantShare | OnOffFlow:
        """Of the simulator's world; the seed is that of flows."""
        if self.share is not None:
            return ConstantShare(share=parse_share("share", self.share), link=self.link)
        return OnOffFlow(
            peak_bps=parse_quantity("peak", self.peak, "bit/s"),
            mean_on_s=parse_quantity("mean_on", self.mean_on, "s"),
            mean_off_s=parse_quantity("mean_off", self.mean_off, "s"),
            seed=seed,
            link=self.link,
        )


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
    at: tuple[Duration, ...]
    capacity: tuple[Rate, ...]
    repeat_every: Duration | None = None
    job_starts_at: Duration = "0 s"

    def __post_init__(self) -> None:
        """Check the quantities."""
        if not self.at:
            raise InputError("at(=[]) must hold one date or more.")
        with in_words_of(self):
            self.entry()

    def entry(self) -> CapacityTrace:
        """Of the simulator's world."""
        return CapacityTrace(
            link=self.link,
            date_s=np.array(
                [parse_quantity(f"at[{n}]", text, "s", zero=True) for n, text in enumerate(self.at)]
            ),
            capacity_bps=np.array(
                [
                    parse_quantity(f"capacity[{n}]", text, "bit/s", zero=True)
                    for n, text in enumerate(self.capacity)
                ]
            ),
            period_s=None
            if self.repeat_every is None
            else parse_quantity("repeat_every", self.repeat_every, "s"),
            job_start_s=parse_quantity("job_starts_at", self.job_starts_at, "s", zero=True),
        )


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
    from_: Annotated[Duration, pydantic.Field(alias="from")]
    until: Duration | None = None

    def __post_init__(self) -> None:
        """Check the quantities."""
        with in_words_of(self):
            self.entry()

    def entry(self) -> LinkFailure:
        """Of the simulator's world."""
        return LinkFailure(
            link=self.link,
            from_s=parse_quantity("from", self.from_, "s", zero=True),
            until_s=inf if self.until is None else parse_quantity("until", self.until, "s"),
        )


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
    duration: Duration | None = None

    def __post_init__(self) -> None:
        """Check the policy, which keys go with it, and their values."""
        check_choice("policy", self.policy, ("go_on", "wait"))
        if (self.rounds is None) == (self.policy == "go_on") or (self.duration is None) == (
            self.policy == "wait"
        ):
            raise InputError(
                f"policy(={self.policy!r}) goes with {'rounds' if self.policy == 'go_on' else 'duration'} only."
            )
        with in_words_of(self):
            self.entry()

    def entry(self) -> Absence | Pause:
        """Of the simulator's world."""
        if self.rounds is not None:
            return Absence(silo=self.silo, first_round=self.from_round, rounds=self.rounds)
        duration_s = parse_quantity("duration", self.duration, "s", zero=True)
        return Pause(silo=self.silo, first_round=self.from_round, duration_s=duration_s)
