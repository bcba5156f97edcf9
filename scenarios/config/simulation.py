"""The ``[simulation]`` table of a scenario and the tables in it; quantities are texts with units."""

from dataclasses import dataclass
from typing import Literal

from scenarios.config.events import AwayConfig, BackgroundConfig, CapacityConfig, FailureConfig
from scenarios.config.quantities import Share, parse_share
from simulator.input_checks import ENGINES, QUEUEINGS, check_choice
from simulator.sharing import check_can_change, check_sharing, sharing_model
from topologies import InputError

MOST_ROUNDS = 2**31
"""Of a simulation: more round starts fit into no file."""


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
        CSV file of measured times in seconds, instead of a distribution; see `scenarios.config.compute_times`.
    repeat : bool
        Whether a trace with a column per silo starts again after its last row.
    """

    distribution: Literal["lognormal", "exponential"] | None = None
    cv: float | None = None
    trace: str | None = None
    repeat: bool = False

    def __post_init__(self) -> None:
        """Check the distribution, and which keys go together."""
        if self.distribution is not None:
            check_choice("distribution", self.distribution, ("lognormal", "exponential"))
        if (self.distribution is None) == (self.trace is None):
            raise InputError("distribution or trace must be given, and not both.")
        if self.cv is None and self.distribution == "lognormal":
            raise InputError("cv must be given with the distribution 'lognormal'.")
        if self.cv is not None and self.distribution != "lognormal":
            other = "a trace" if self.distribution is None else f"the distribution {self.distribution!r}"
            raise InputError(f"cv(={self.cv}) must not be given with {other}, only with 'lognormal'.")
        if self.cv is not None and not 0 <= self.cv < float("inf"):
            raise InputError(f"cv(={self.cv}) must be finite and >= 0.")
        if self.repeat and self.trace is None:
            raise InputError("repeat(=True) goes with a trace.")


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationConfig:
    """The ``[simulation]`` table.

    Parameters
    ----------
    rounds : int
        Rounds to simulate: at most where `until_ci` stops earlier, and at least where more are trained.
    sharing : str
        ``"maxmin"``, ``"equal"`` or the name of another installed sharing model; see `simulator.sharing`.
    queueing : {"fifo", "overlap"}
    engine : {"auto", "simpy", "compiled"}
        See `simulator.engines.choose_engine`.
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
    sharing: str = "maxmin"
    queueing: Literal["fifo", "overlap"] = "fifo"
    engine: str = "auto"
    messages: bool = False
    until_ci: Share | None = None
    compute: ComputeConfig | None = None
    background: tuple[BackgroundConfig, ...] = ()
    capacity: tuple[CapacityConfig, ...] = ()
    failure: tuple[FailureConfig, ...] = ()
    away: tuple[AwayConfig, ...] = ()

    def __post_init__(self) -> None:
        """Check names, rounds, interval, and whether the sharing model goes with the events."""
        check_sharing(self.sharing)
        check_choice("queueing", self.queueing, QUEUEINGS)
        check_choice("engine", self.engine, ENGINES)
        if self.rounds < 1:
            raise InputError(f"rounds(={self.rounds}) must be >= 1.")
        if self.rounds > MOST_ROUNDS:
            raise InputError(f"rounds(={self.rounds}) must be <= {MOST_ROUNDS}.")
        if self.until_ci is not None and parse_share("until_ci", self.until_ci) == 0:
            raise InputError(f"until_ci(={self.until_ci!r}) must be > 0 %.")
        for table in ("background", "capacity", "failure"):
            if getattr(self, table):
                check_can_change(sharing_model(self.sharing), f"with a {table}")
