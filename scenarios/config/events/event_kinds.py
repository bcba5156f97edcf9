"""Kinds of events by the names of their tables: those of this package, and those of installed packages."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pydantic

from scenarios.config.events.background_traffic import BackgroundKind
from scenarios.config.events.capacity_trace import CapacityKind
from scenarios.config.events.kind import EventKind
from scenarios.config.events.link_failure import FailureKind
from scenarios.config.events.routed_demands import DemandsKind
from scenarios.config.events.silo_absence import AbsenceKind
from topologies.entry_points import all_names, find_entry, load_entry
from topologies.errors import MachineError

GROUP = "silosim.event_kinds"
"""Entry points of classes derived from `EventKind`; the name of each is its table's."""

BUILT_IN: Mapping[str, type[EventKind]] = {
    kind.table: kind for kind in (BackgroundKind, DemandsKind, CapacityKind, FailureKind, AbsenceKind)
}

Events = Mapping[str, tuple[EventKind, ...]]
"""Events of a simulation by the name of their table."""


def tables_for(names: Iterable[str]) -> tuple[str, ...]:
    """Tables that names may mean; installed packages are asked only where a name is not of this package."""
    return tuple(BUILT_IN) if set(names) <= set(BUILT_IN) else all_names(BUILT_IN, GROUP)


def kinds_for(names: Iterable[str]) -> dict[str, type[EventKind]]:
    """Kinds of this package, then those of installed packages that have one of the names, in alphabetical order.

    Raises
    ------
    InputError
        If two packages register a kind of one of the names.
    MachineError
        If a package registers under such a name what cannot be imported, or is no kind of events of that name.
    """
    found = dict(BUILT_IN)
    for name in sorted(set(names) - set(BUILT_IN)):
        entry = find_entry(GROUP, name, "kind of events")
        if entry is not None:
            kind = load_entry(entry, "kind of events")
            if not (
                isinstance(kind, type)
                and issubclass(kind, EventKind)
                and getattr(kind, "table", None) == name
            ):
                raise MachineError(f"{entry.value} in {GROUP} must be a kind of events with table {name!r}.")
            found[name] = kind
    return found


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
