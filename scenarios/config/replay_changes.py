"""What a replay changes of a run's scenario, and what it refuses, since it would alter the learning."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from scenarios.config.compute_times import compute_config
from scenarios.config.found_files import found_beside
from scenarios.config.network import SOURCES, superseded
from scenarios.config.scenario import read_toml, simulation_fields, toml_text, validated
from scenarios.config.simulation import OWN_KEYS, SimulationConfig, event_names
from topologies import InputError
from topologies.errors import UNSTATED, Field

TARGET = "target_accuracy"
"""Key of a replay's tables that stands for the one of the training, or of the imported one."""
_LEARNING = ("seed", "overlays", "training", "imported")
"""Tables and keys of a scenario that the rows of its training depend on."""
_STEPS = ("local_steps", "local_steps_at", "participation")
"""Keys of ``[workload]`` that they depend on, too."""
_CHANGED_WORKLOAD = ("model_size", "overhead", "compute", "compute_at", "overlap")
_OPTIONS: Mapping[str, Sequence[str]] = {
    "network": (
        *("underlay", "access", "access_up", "access_down", "access_at", "silo_at", "blocked", "core"),
        *("window", "window_at", "streams", "streams_at", "slow_start"),
        *("internal_only", "largest_component"),
    ),
    "workload": _CHANGED_WORKLOAD,
    "simulation": ("sharing", "queueing", "engine"),
}
"""Options of a replay by the table whose keys they are."""
_OF_A_SOURCE = ("variant", "internal_only", "largest_component")
"""Keys of ``[network]`` that say how its file is read, which is not read again."""

Tables = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayChanges:
    """What a replay changes.

    Parameters
    ----------
    tables : mapping
        Tables of a scenario with the keys that change, and perhaps `TARGET`.
    keeps_events : bool
        Whether the run's events stay where the tables have none of the same kind.
    events_file : str, optional
        Where the events of the tables come from, for error messages.
    """

    tables: Tables = field(default_factory=dict)
    keeps_events: bool
    events_file: str | None = None

    def with_access(self, capacity: str) -> "ReplayChanges":
        """The same with a capacity of all access links for which nothing else is stated."""
        network = {**self.tables.get("network", {}), "access": capacity}
        return replace(self, tables={**self.tables, "network": network})

    def located(self, error: InputError) -> InputError:
        """The error with the file of events, if it is about one of them."""
        table, key, *_ = (*error.path, "", "")
        is_event = table == "simulation" and key not in OWN_KEYS and key in self.tables.get(table, {})
        return error.located(self.events_file) if is_event and error.source is None else error


def replay_changes(
    *,
    events: Path | Tables | None = None,
    compute_times: str | None = None,
    target_accuracy: float | None = None,
    **options: Any,
) -> ReplayChanges:
    """Changes that the options of a replay ask for.

    Parameters
    ----------
    events : Path or mapping, optional
        File of events, see `read_events_file`, or tables of events by their name, in place of all of the run's.
    compute_times : str, optional
        As `scenarios.config.compute_times.compute_config` takes it.
    target_accuracy : float, optional
    **options
        Keys of ``[network]``, ``[workload]`` and ``[simulation]``; None or False for what stays.

    Returns
    -------
    ReplayChanges

    Raises
    ------
    InputError
        If the computing times or the file of events are wrong.
    """
    tables: dict[str, dict[str, Any]] = {
        table: {name: options[name] for name in names if options.get(name) not in (None, False)}
        for table, names in _OPTIONS.items()
    }
    if compute_times is not None:
        compute = compute_config(compute_times)
        stated = {own.name: getattr(compute, own.name) for own in fields(compute)}
        tables["simulation"]["compute"] = {name: value for name, value in stated.items() if value}
    if events is not None:
        tables["simulation"] |= read_events_file(events) if isinstance(events, Path) else events
    target = {} if target_accuracy is None else {TARGET: target_accuracy}
    return ReplayChanges(
        tables={**{name: table for name, table in tables.items() if table}, **target},
        keeps_events=events is None,
        events_file=str(events) if isinstance(events, Path) else None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _EventsFile:
    """Tables of a file of events."""

    simulation: SimulationConfig


def read_events_file(path: Path) -> dict[str, Any]:
    """Tables of events of a TOML file, which has them as a scenario does and nothing else.

    Raises
    ------
    InputError
        If the file cannot be read, has something else or no event, or an event breaks a rule.

    Notes
    -----
    Files that the events name are found beside it.
    """
    source = str(path)
    tables = read_toml(toml_text(path), source)
    events = tables.get("simulation", {})
    inner = events if isinstance(events, Mapping) else ()
    others = [[name] for name in tables if name != "simulation"]
    for place in others + [["simulation", name] for name in inner if name in OWN_KEYS]:
        raise InputError(
            "must not be in a file of events, which has tables such as [[simulation.capacity]] only.",
            field=Field(*place),
            source=source,
        )
    if not events:
        raise InputError("must have an event, for instance a table [[simulation.capacity]].", source=source)
    checked = simulation_fields(events, source) if isinstance(events, Mapping) else events
    found = validated(_EventsFile, {"simulation": checked}, source=source).simulation.events
    return {
        table: [
            {**entry, **found_beside(path.parent, read.file_paths)}
            for entry, read in zip(entries, found[table], strict=True)
        ]
        for table, entries in events.items()
    }


def check_keeps_learning(key: Sequence[str | int], value: object = UNSTATED) -> None:
    """Raise an InputError for a key of a scenario that a replay cannot change.

    Parameters
    ----------
    key : sequence of str or int
        Names of tables and keys, from the outermost one.
    value : object, optional
        What it is to be; that of a whole table is checked key by key.
    """
    if tuple(key) == ("workload",):
        for name, inner in value.items() if isinstance(value, Mapping) else ():
            check_keeps_learning((*key, name), inner)
    elif tuple(key[:2]) == ("workload", "preset"):
        raise InputError(
            "cannot change in a replay; state model_size and compute instead.", field=Field(*key)
        )
    elif key[0] in _LEARNING or (key[0] == "workload" and key[1] in _STEPS):
        raise altered_learning(*key, value=UNSTATED if isinstance(value, dict | list) else value)


def altered_learning(*key: str | int, value: object = UNSTATED) -> InputError:
    """Error for a change that would alter the learning, to be raised by the caller."""
    return InputError(
        "would alter the learning, whose rows a replay keeps; change it in the run's scenario and run that again.",
        field=Field(*key, value=value),
    )


def merged_tables(
    recorded: Tables,
    given: Tables,
    *,
    keeps_events: bool = True,
    varied: Collection[Sequence[str | int]] = (),
) -> dict[str, Any]:
    """Tables of a run's scenario in which the keys of other tables have their values.

    Parameters
    ----------
    recorded : mapping
        Tables of the run's scenario.
    given : mapping
        Tables of a scenario with keys that change.
    keeps_events : bool
        See `ReplayChanges`.
    varied : collection of sequences
        Further keys that get a value later.

    Returns
    -------
    dict
        Keys that are superseded, such as ``access_at`` by ``access``, are left out where they are not given, too.

    Raises
    ------
    InputError
        If a key would alter the learning, or goes with another underlay.
    """
    for name, value in given.items():
        check_keeps_learning((name,), value)
    merged = {**recorded, **{name: value for name, value in given.items() if not isinstance(value, Mapping)}}
    names = network_keys(given, varied)
    for name in _OF_A_SOURCE:
        if name in names and SOURCES.isdisjoint(names):
            shown = given.get("network", {}).get(name, UNSTATED)
            raise InputError("goes with another underlay.", field=Field(name, value=shown))
    all_compute = "compute" in _keys("workload", given, varied)
    events = event_names(recorded.get("simulation", {}))
    lost: Mapping[str, Collection[str]] = {
        "network": superseded(names),
        "workload": ["compute_at"] if all_compute else [],
        "simulation": [] if keeps_events else events,
    }
    for table, without in lost.items():
        kept = {name: value for name, value in recorded.get(table, {}).items() if name not in without}
        own = given.get(table, {})
        if isinstance(own, Mapping) and (table in recorded or own):
            merged[table] = {**kept, **own}
    return merged


def network_keys(given: Tables, varied: Collection[Sequence[str | int]] = ()) -> frozenset[str]:
    """Keys of ``[network]`` that are given, or get a value later."""
    return _keys("network", given, varied)


def _keys(table: str, given: Tables, varied: Collection[Sequence[str | int]]) -> frozenset[str]:
    """Keys of a table that are given, or get a value later."""
    own = given.get(table, {})
    stated = own if isinstance(own, Mapping) else ()
    return frozenset((*stated, *(str(key[1]) for key in varied if key[0] == table and len(key) > 1)))


def with_target(tables: Tables) -> dict[str, Any]:
    """The tables with `TARGET` in that of the training, or of the imported one.

    Raises
    ------
    InputError
        If there is none of both.
    """
    if TARGET not in tables:
        return dict(tables)
    target = tables[TARGET]
    rest = {name: value for name, value in tables.items() if name != TARGET}
    owner = next((name for name in ("training", "imported") if name in rest), None)
    if owner is None:
        raise InputError("goes with a run that has a training.", field=Field(TARGET, value=target))
    return {**rest, owner: {**rest[owner], TARGET: target}}
