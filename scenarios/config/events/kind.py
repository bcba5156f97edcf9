"""Base class of the kinds of events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Self

from scenarios.config.error_context import changed_errors
from scenarios.config.events.cause import Cause, link_text
from scenarios.config.events.window import IN, Window
from scenarios.config.found_files import check_path, found_beside
from simulator import Event
from simulator.world.names import Names
from topologies.errors import UNSTATED, Field


@dataclass(frozen=True, kw_only=True, slots=True)
class EventKind:
    """A kind of events: a frozen dataclass whose fields are the keys of a table ``[[simulation.NAME]]``.

    A subclass gives the table its name, and `event` what the simulator does; all else has a default. A key that is a
    keyword of Python ends in an underscore in the class, with the key as its pydantic alias.

    Attributes
    ----------
    table : str
        Name of the table, and of the entry point that registers the class.
    keys : mapping from str to str
        Key of the table by the name of the event's field, where they differ: errors of the simulator name the key.
    paths : tuple of str
        Keys that hold paths of files, which are found beside the scenario's file, too.
    on_network : bool
        Whether the events change links, traffic or routes, which a model with constant rates cannot simulate.
    capacity_note : str
        What the capacity of a link is, if the events change it: ``the capacity is ...``.
    traffic_note : str
        Of background traffic: how the utilisation of a link counts it.
    closed_forms_note : str
        A sentence on what closed forms do not know, of events that leave the network as it is.
    """

    table: ClassVar[str]
    keys: ClassVar[Mapping[str, str]] = {}
    paths: ClassVar[tuple[str, ...]] = ()
    on_network: ClassVar[bool] = True
    capacity_note: ClassVar[str] = ""
    traffic_note: ClassVar[str] = ""
    closed_forms_note: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check the keys, and the event that they make."""
        with changed_errors(lambda error: error.renamed(self.written)):
            for key, path in self.file_paths.items():
                check_path(key, path)
            self.check()
            self.event(seed=0)

    def check(self) -> None:
        """Raise an InputError if keys do not go together; the event checks its values itself."""

    def event(self, *, seed: int) -> Event:
        """The simulator's event.

        Parameters
        ----------
        seed : int
            Of what is random.

        Raises
        ------
        InputError
            If a quantity cannot be read, or a value is out of its range.
        """
        raise NotImplementedError

    @property
    def file_paths(self) -> dict[str, str]:
        """Paths of the files that the event names, by key."""
        return {key: path for key in self.paths if (path := getattr(self, key)) is not None}

    def beside(self, folder: Path) -> Self:
        """The event with its files found in a folder, where their paths lead nowhere from the working directory."""
        found: dict[str, Any] = found_beside(folder, self.file_paths)
        return replace(self, **found) if found else self

    def written(self, field: Field) -> Field:
        """A field of the event by its key, with the value as it is written in the table."""
        if not field.path:
            return field
        name, *places = field.path
        key = self.keys.get(str(name), str(name))
        texts = {own.name.removesuffix("_"): getattr(self, own.name) for own in fields(self)}
        text = texts.get(key)
        for place in places:
            text = text[place] if isinstance(text, tuple) and isinstance(place, int) else None
        if text is None or field.value is UNSTATED:
            return Field(key, *places, value=field.value)
        return Field(key, *places, value=list(text) if isinstance(text, tuple) else text)

    @property
    def changes_by_date(self) -> bool:
        """Whether the network changes while the job runs, which needs a sharing model that can change."""
        return self.on_network

    @property
    def alters_learning(self) -> bool:
        """Whether silos learn less or something else while it lasts; a replay then cannot add the event to a run."""
        return False

    def dates_s(self) -> tuple[float, float]:
        """Dates since the job's start between which the event lasts; by default all the time."""
        return 0.0, inf

    def describe(self) -> str:
        """The event in few words, for a note."""
        return self.table

    def describe_cause(self, place: str) -> str:
        """What the event does to a link, given in words, as the cause of a difference; without a full stop."""
        return f"{self.table} on {place}: {self.describe()}"

    @classmethod
    def notes(
        cls, entries: Sequence[Self], window: Window | None, *, stops_early: bool
    ) -> Iterator[tuple[int, str]]:
        """Events of this kind in words, each with its side of the rounds that a cycle time is the mean over.

        Parameters
        ----------
        entries : sequence of EventKind
            All of this kind.
        window : Window or None
            The rounds; None where the cycle time is exact.
        stops_early : bool
            Whether the simulation ends before its last round once the cycle time is sure enough.
        """
        if window is not None:
            for entry in entries:
                yield window.side_of_dates(*entry.dates_s()), entry.describe()

    @classmethod
    def link_causes(
        cls, entries: Sequence[Self], names: Names, window: Window
    ) -> Iterator[tuple[int, Cause]]:
        """Link directions whose capacity the events change in some rounds, each with a cause."""
        for entry in entries:
            if window.side_of_dates(*entry.dates_s()) != IN:
                continue
            effects = entry.event(seed=0).effects(names)
            for link in (
                *effects.shares,
                *effects.flows,
                *effects.loads,
                *effects.capacities,
                *effects.factors,
            ):
                place = link_text(names.graph, link)
                yield link, Cause(assumption=cls.table, place=place, explanation=entry.describe_cause(place))

    @classmethod
    def route_causes(
        cls, entries: Sequence[Self], names: Names, window: Window, route: Sequence[int], detour_s: float
    ) -> Iterator[Cause]:
        """What leads the models of an arc around its usual route in some rounds, or holds them there; by default none.

        Parameters
        ----------
        entries : sequence of EventKind
        names : Names
        window : Window
        route : sequence of int
            Link directions of the usual route.
        detour_s : float
            How much longer than the usual latency the models took in the mean.
        """
        yield from ()

    @classmethod
    def silo_cause(cls, entries: Sequence[Self], names: Names, window: Window, silo: int) -> Cause | None:
        """Why a silo computes later in some rounds; by default for no reason."""
        return None
