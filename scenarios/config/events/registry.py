"""Kinds of events by the names of their tables: those of this package, and those of installed packages."""

import json
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

import pydantic

from scenarios.config.events.background_traffic import BackgroundKind
from scenarios.config.events.capacity_trace import CapacityKind
from scenarios.config.events.kind import EventKind
from scenarios.config.events.link_failure import FailureKind
from scenarios.config.events.silo_absence import AbsenceKind
from topologies.errors import MachineError

GROUP = "silosim.event_kinds"
"""Entry points of classes derived from `EventKind`; the name of each is its table's."""

BUILT_IN: Mapping[str, type[EventKind]] = {
    kind.table: kind for kind in (BackgroundKind, CapacityKind, FailureKind, AbsenceKind)
}

Events = Mapping[str, tuple[EventKind, ...]]
"""Events of a simulation by the name of their table."""


def event_kinds() -> dict[str, type[EventKind]]:
    """All kinds of events by table, those of this package first.

    Raises
    ------
    MachineError
        If an installed package registers something else than a kind of events of that name, or a name of this package.
    """
    found = dict(BUILT_IN)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in BUILT_IN:
            raise MachineError(
                f"{entry.value} in {GROUP} must not have the name {entry.name!r} of a kind of silosim."
            )
        kind = entry.load()
        if not (isinstance(kind, type) and issubclass(kind, EventKind) and kind.table == entry.name):
            raise MachineError(
                f"{entry.value} in {GROUP} must be a kind of events with table {entry.name!r}."
            )
        found[entry.name] = kind
    return found


def kinds_for(tables: Mapping[str, object]) -> dict[str, type[EventKind]]:
    """Kinds of events that tables may name; installed packages are asked only where one is not of this package."""
    return dict(BUILT_IN) if set(tables) <= set(BUILT_IN) else event_kinds()


def read_events(tables: Any) -> Events:
    """Events of the tables of a scenario, in the order of their kinds.

    Raises
    ------
    pydantic.ValidationError
        If a table or a value in it is wrong.
    """
    kinds = {name: kind for name, kind in kinds_for(tables).items() if name in tables}
    fields: Any = {name: (tuple[kind, ...], ()) for name, kind in kinds.items()}  # type: ignore[valid-type]
    model = pydantic.create_model("Events", **fields)
    read = model.model_validate_json(json.dumps(tables), strict=True)
    return {name: getattr(read, name) for name in kinds if getattr(read, name)}
