"""The ``[simulation]`` table of a scenario and the tables in it; quantities are texts with units."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from scenarios.config.events.event_kinds import Events, kinds_for, read_events, tables_for
from scenarios.config.events.kind import EventKind
from scenarios.config.found_files import check_path, found_beside
from scenarios.config.quantities import Share
from simulator import Event
from simulator.input_checks import ENGINES, QUEUEINGS, check_choice
from simulator.sharing import check_can_change, check_sharing, sharing_model
from topologies.errors import Field, InputError
from topologies.quantities import parse_share

MOST_ROUNDS = 2**31
"""Of a simulation: the round starts of more do not fit into a file."""


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
        check_path("trace", self.trace)
        if (self.distribution is None) == (self.trace is None):
            raise InputError("distribution or trace must be given, and not both.")
        if self.cv is None and self.distribution == "lognormal":
            raise InputError("cv must be given with the distribution 'lognormal'.")
        if self.cv is not None and self.distribution != "lognormal":
            other = "a trace" if self.distribution is None else f"the distribution {self.distribution!r}"
            rule = f"must not be given with {other}, only with 'lognormal'."
            raise InputError(rule, field=Field("cv", value=self.cv))
        if self.cv is not None and not 0 <= self.cv < float("inf"):
            raise InputError("must be finite and >= 0.", field=Field("cv", value=self.cv))
        if self.repeat and self.trace is None:
            raise InputError("goes with a trace.", field=Field("repeat", value=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationConfig:
    """The ``[simulation]`` table.

    Parameters
    ----------
    rounds : int
        Rounds to simulate: at most where `until_ci` stops earlier, and at least where more are trained.
    sharing : str
        How models share links: max-min fair, at Eq. 3's constant rates (``"equal"``), by round-trip time
        (``"rtt_weighted"``), or by an installed model; see `simulator.sharing`.
    queueing : {"fifo", "overlap"}
        Whether an arc sends one model after the other, or several at once.
    engine : {"auto", "simpy", "compiled"}
        The fast one where it can and where that pays, the one that takes every job, or the fast one; see
        `simulator.engines.choose_engine`.
    messages : bool
        Whether the file of a run holds what happened to every message.
    until_ci : str, optional
        Half width, in percent of the cycle time, of a 95 % confidence interval that is narrow enough to stop.
    compute : ComputeConfig, optional
        By default all rounds take the workload's time.
    events : mapping from str to tuple of EventKind
        Events by the name of their table, which is a key of ``[simulation]`` itself, in the order of the kinds.
    """

    rounds: int = 200
    sharing: str = "maxmin"
    queueing: Literal["fifo", "overlap"] = "fifo"
    engine: str = "auto"
    messages: bool = False
    until_ci: Share | None = None
    compute: ComputeConfig | None = None
    events: Annotated[Events, pydantic.PlainValidator(read_events)] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check names, rounds, interval, and whether the sharing model goes with the events."""
        check_sharing(self.sharing)
        check_choice("queueing", self.queueing, QUEUEINGS)
        check_choice("engine", self.engine, ENGINES)
        if self.rounds < 1:
            raise InputError("must be >= 1.", field=Field("rounds", value=self.rounds))
        if self.rounds > MOST_ROUNDS:
            raise InputError(f"must be <= {MOST_ROUNDS}.", field=Field("rounds", value=self.rounds))
        if self.until_ci is not None and parse_share("until_ci", self.until_ci) == 0:
            raise InputError("must be > 0 %.", field=Field("until_ci", value=self.until_ci))
        for _, _, entry in self._entries():
            if entry.on_network:
                model = sharing_model(self.sharing)
                if entry.changes_by_date or model.constant_rates:
                    check_can_change(model, f"with [[simulation.{entry.table}]]")

    @property
    def kinds(self) -> list[type[EventKind]]:
        """Kinds of events that the simulation has."""
        return [type(entries[0]) for entries in self.events.values() if entries]

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables of events that the simulation has."""
        return tuple(kind.table for kind in self.kinds)

    def without_events(self, *, on_network_only: bool = False) -> "SimulationConfig":
        """The same simulation without events, or without those that change the network."""
        kept = {
            table: entries
            for table, entries in self.events.items()
            if on_network_only and not any(entry.on_network for entry in entries)
        }
        return replace(self, events=kept)

    def beside(self, folder: Path) -> "SimulationConfig":
        """The same simulation with files found in a folder, where their paths lead nowhere else."""
        compute = self.compute
        if compute is not None and (trace := found_beside(folder, {"trace": compute.trace})):
            compute = replace(compute, trace=trace["trace"])
        events = {
            table: tuple(entry.beside(folder) for entry in entries) for table, entries in self.events.items()
        }
        return replace(self, compute=compute, events=events)

    @property
    def files(self) -> list[str]:
        """Paths of files that the simulation reads."""
        trace = None if self.compute is None else self.compute.trace
        named = [path for _, _, entry in self._entries() for path in entry.file_paths.values()]
        return named if trace is None else [trace, *named]

    def simulator_events(self, *, seed: int) -> list[Event]:
        """Events of the simulator; the seed is that of what is random in them."""
        return [entry.event(seed=seed) for _, _, entry in self._entries()]

    def learning_events(self) -> dict[Field, EventKind]:
        """Events that alter what silos learn, by their place in the scenario."""
        return {
            Field("simulation", table, number): entry
            for table, number, entry in self._entries()
            if entry.alters_learning
        }

    def written(self, name: Field) -> Field:
        """A field of `simulator_events`, as errors name it, by its key in the scenario; other fields as they are."""
        if len(name.path) < 2 or name.path[0] != "events":
            return name
        table, number, entry = list(self._entries())[int(name.path[1])]
        return entry.written(Field(*name.path[2:], value=name.value)).within("simulation", table, number)

    def _entries(self) -> Iterator[tuple[str, int, EventKind]]:
        """All events with table and number."""
        for table, entries in self.events.items():
            for number, entry in enumerate(entries):
                yield table, number, entry


OWN_KEYS = tuple(own.name for own in fields(SimulationConfig) if own.name != "events")
"""Keys of ``[simulation]`` besides tables of events."""


def event_names(table: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the tables of events in a ``[simulation]`` table."""
    return tuple(name for name in table if name not in OWN_KEYS)


def gathered(table: Mapping[str, Any]) -> dict[str, Any]:
    """A ``[simulation]`` table with its tables of events in one mapping, as the fields of `SimulationConfig`."""
    own = {key: value for key, value in table.items() if key in OWN_KEYS}
    events = {key: value for key, value in table.items() if key not in OWN_KEYS}
    return {**own, "events": events} if events else own


def known_keys(names: Iterable[str]) -> tuple[str, ...]:
    """Keys that those of a ``[simulation]`` table may mean."""
    return (*OWN_KEYS, *tables_for(name for name in names if name not in OWN_KEYS))


def event_tables(names: Iterable[str]) -> dict[str, type[EventKind]]:
    """Kinds of events that the keys of a ``[simulation]`` table may name."""
    return kinds_for(name for name in names if name not in OWN_KEYS)
