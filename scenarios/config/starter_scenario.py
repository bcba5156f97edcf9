"""A scenario to begin with: every key with its meaning and default in a comment, on a user's own network and data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from scenarios.config.choices import key_choices
from scenarios.config.designer_options import designer_options
from scenarios.config.events.event_kinds import BUILT_IN
from scenarios.config.key_texts import key_texts
from scenarios.config.network import FILES, NetworkConfig, WorkloadConfig
from scenarios.config.quantities import Duration, Rate, Share, Size
from scenarios.config.scenario import OverlaysConfig, Scenario
from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.config.toml import toml_key, toml_value
from topologies import Connectivity
from topologies.wrapping import wrapped
from training import TrainingConfig

COMPUTE = "10 ms"
"""Computing time of a local step until `silosim calibrate` has measured it."""
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "": ("imported",),
    "network": FILES,
    "overlays": ("options", "entries"),
    "simulation": ("events",),
}
"""Fields that are no keys of the file: of runs, in place of others, of designers that are not in it, or tables."""
_WIDTH = 98
_MOST_CHOICES = 16
_KINDS = ((Rate, "rate"), (Size, "size"), (Duration, "time"), (Share, "percent"))
_UNITS = {
    "rate": 'as in "10 Gbps"',
    "size": 'as in "42.9 MB"',
    "time": 'as in "25 ms"',
    "percent": 'as in "1 %"',
}
_PLAIN = {bool: "true or false", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """A table of the file.

    Parameters
    ----------
    head : str
        Its name in brackets; empty for the top level.
    owner : type
        The dataclass that it makes.
    values : mapping
        Keys that stand there with another value than the default.
    examples : mapping
        What keys could be that are not set.
    others : tuple of str
        Of these examples those that do not go with the rest.
    """

    head: str
    owner: type
    values: Mapping[str, Any] = field(default_factory=dict)
    examples: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()


def starter_text(
    network: str,
    graph: Connectivity,
    *,
    kinds: Sequence[str],
    training: Mapping[str, Any],
    name: str,
    about: str,
) -> str:
    """Return the text of the scenario.

    Parameters
    ----------
    network : str
        The underlay, as the scenario names it.
    graph : Connectivity
        Its connectivity graph: examples name its silos and links.
    kinds : sequence of str
        Overlays that exist on it.
    training : mapping
        Settings of the training that differ from the defaults.
    name : str
        Of the file, for the commands in its first lines.
    about : str
        What the network is.

    Returns
    -------
    str
        TOML. All values are the defaults of the configuration, but those that have none and those of `training`.
    """
    lines = [
        *_prose(f"A scenario of silosim: {about}"),
        f"#   silosim simulate {name}            simulates the overlays, in seconds",
        f"#   silosim run {name} -o run.h5       designs, simulates and trains, into one file",
        f"#   silosim calibrate {name} --write   measures workload.compute on this machine",
        "#",
        *_prose(
            "Values are the defaults, but for those whose comment states another one or none, such as "
            "network.underlay. A key behind # is not set, and its value is an example: delete the # to set it. A key "
            "behind ## does not go with those behind #."
        ),
        "",
        *_lines(_Table(head="", owner=Scenario)),
        *_lines(
            _Table(
                head="[network]",
                owner=NetworkConfig,
                values={"underlay": network},
                examples=_network_examples(graph),
            )
        ),
        *_lines(
            _Table(
                head="[workload]",
                owner=WorkloadConfig,
                values={} if _states_times(graph) else {"compute": COMPUTE},
                examples={
                    "preset": "inaturalist",
                    "compute": COMPUTE,
                    "model_size": "42.9 MB",
                    "overhead": "tcp",
                    "compute_at": {graph.labels[0]: "25 ms"},
                    "local_steps_at": {graph.labels[0]: 5},
                    "participation": "50 %",
                    "overlap": "backward",
                },
            )
        ),
        *_lines(_Table(head="[overlays]", owner=OverlaysConfig, values={"kinds": list(kinds)})),
        *_options(kinds, graph.labels[0]),
        *_lines(
            _Table(
                head="[simulation]",
                owner=SimulationConfig,
                examples={"until_ci": "1 %"},
            )
        ),
        *_simulation_tables(graph),
        *_lines(
            _Table(
                head="[training]",
                owner=TrainingConfig,
                values=training,
                examples={"shift_west_deg": 90.0, "clip_norm": 1.0, "clip_value": 0.5},
            )
        ),
        *_comment(
            "Settings of one of the paper's tasks, for the keys that this table does not hold: delete those that the "
            "task is to set.",
            f"text: {', '.join(key_choices(TrainingConfig, 'task'))}",
            "none",
        ),
        '##task = "femnist"',
    ]
    return "\n".join(lines) + "\n"


def _network_examples(graph: Connectivity) -> dict[str, Any]:
    """Values that the keys of the network could have, with names of its silos and routers."""
    first, last = graph.labels[0], graph.labels[-1]
    return {
        "access": "1 Gbps",
        "access_up": "100 Mbps",
        "access_down": "1 Gbps",
        "access_at": {first: "10 Mbps", last: "100 Mbps up, 1 Gbps down"},
        "access_hub": "10 Gbps",
        "silo_at": [graph.underlay.labels[router] for router in graph.router.tolist()[:3]],
        "blocked": [f"{first} - {last}"],
        "window": "4 MiB",
        "window_at": {first: "1 MiB", f"{first} -> {last}": "2 MiB"},
        "streams_at": {last: 1},
        "slow_start": "idle",
        "half_duplex": [first],
        "shared_access": {f"{first} + {last}": "1 Gbps"},
        "fat_pipes": ["core"],
        "acks": "tcp",
        "preset": "tcp",
        "core": "1 Gbps",
        "routes": "routes.csv",
        "multipath_seed": 0,
    }


def _states_times(graph: Connectivity) -> bool:
    """Whether the network's file states the computing times of all silos, which `compute` would replace."""
    sites = graph.underlay.sites
    return sites is not None and not np.isnan(sites.compute_s[graph.router]).any()


def _options(kinds: Sequence[str], label: str) -> Iterator[str]:
    """Options of the overlays in the file, and where those of others are; a text may be the label of a silo."""
    for kind in kinds:
        declared = designer_options(kind)
        if declared:
            yield f"#[overlays.{kind}]"
        for name, option in declared.items():
            words = ", ".join(option.declaration.choices)
            default = "the designer's own" if option.default is None else toml_value(option.default)
            yield from _comment(
                f"{option.declaration.help}.",
                f"{_PLAIN[option.value_type]}{f': {words}' if words else ''}",
                default,
            )
            example = (*option.declaration.choices, option.default, label)
            yield f"#{name} = {toml_value(next(each for each in example if each is not None))}"
            yield ""
    yield from _prose(
        "Options of other overlays, and overlays of your own from files: docs/howto/overlays.md. Overlays: "
        f"{', '.join(key_choices(OverlaysConfig, 'kinds'))}."
    )
    yield ""


def _simulation_tables(graph: Connectivity) -> Iterator[str]:
    """Tables within that of the simulation, none of which is set."""
    yield from _unset(
        _Table(
            head="[simulation.compute]",
            owner=ComputeConfig,
            examples={"distribution": "lognormal", "cv": 0.2, "trace": "times.csv", "repeat": True},
            others=("trace", "repeat"),
        )
    )
    for table, (examples, others) in _event_examples(graph).items():
        yield from _unset(
            _Table(head=f"[[simulation.{table}]]", owner=BUILT_IN[table], examples=examples, others=others)
        )


def _event_examples(graph: Connectivity) -> dict[str, tuple[dict[str, Any], tuple[str, ...]]]:
    """Values of the keys of events by their table, and the keys that do not go with the rest."""
    found: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {}
    first, ends = graph.labels[0], graph.underlay.ends.tolist()
    # Measured pairs have no core links, which these events are about.
    if ends:
        link = " - ".join(graph.underlay.labels[end] for end in ends[0])
        background = {"link": link, "share": "30 %", "peak": "500 Mbps", "mean_on": "2 s", "mean_off": "4 s"}
        found["background"] = background, ("peak", "mean_on", "mean_off")
        demands = {"file": "demands.csv", "scale": 0.5, "job_starts_at": "8 h", "repeat": True}
        found["demands"] = demands | {"unit": "Mbps", "step": "5 min"}, ("unit", "step")
        found["failure"] = {"link": link, "from": "10 s", "until": "60 s"}, ()
    found["capacity"] = (
        {
            "link": f"{first} uplink",
            "at": ["0 s", "30 s"],
            "capacity": ["1 Gbps", "100 Mbps"],
            "repeat_every": "60 s",
            "job_starts_at": "0 s",
        },
        (),
    )
    away = {"silo": first, "from_round": 20, "policy": "wait", "duration": "5 s", "rounds": 10}
    found["away"] = away, ("rounds",)
    return {table: found[table] for table in BUILT_IN if table in found}


def _lines(table: _Table) -> Iterator[str]:
    """A table with its defaults, and examples where there are none."""
    if table.head:
        yield table.head
    left_out = LEFT_OUT.get(table.head.strip("[]"), ())
    for own, key in _keys(table.owner):
        default = _default(own)
        if key in left_out or _is_table(table.owner, own.name):
            continue
        yield from _about(table, own, key, default)
        value = table.values.get(key, default)
        if value is None:
            yield f"#{toml_key(key)} = {toml_value(table.examples[key])}"
        else:
            yield f"{toml_key(key)} = {_written(value)}"
        yield ""


def _unset(table: _Table) -> Iterator[str]:
    """A table that is not set."""
    what = (table.owner.__doc__ or "").splitlines()[0].rpartition("``: ")[2]
    yield from _prose(f"{what[:1].upper()}{what[1:]}")
    yield f"#{table.head}"
    for own, key in _keys(table.owner):
        yield from _about(table, own, key, _default(own))
        yield f"{'##' if key in table.others else '#'}{toml_key(key)} = {toml_value(table.examples[key])}"
    yield ""


def _keys(owner: Any) -> Iterator[tuple[Field[Any], str]]:
    """Fields with their keys."""
    assert is_dataclass(owner)
    for own in fields(owner):
        yield own, own.name.rstrip("_")


def _default(own: Field[Any]) -> Any:
    """Default of a field; None where there is none, too."""
    if own.default_factory is not MISSING:
        return own.default_factory()
    return None if own.default is MISSING else own.default


def _is_table(owner: type, name: str) -> bool:
    """Whether a field is a table of its own in a scenario."""
    hint = get_type_hints(owner)[name]
    return any(is_dataclass(each) for each in (hint, *get_args(hint)))


def _about(table: _Table, own: Field[Any], key: str, default: Any) -> list[str]:
    """Comment on a key: what it means, what it takes, its default."""
    required = own.default is MISSING and own.default_factory is MISSING
    said = "required" if required else "none" if default is None else _written(default)
    return _comment(key_texts(table.owner).get(key, ""), _taken(table.owner, own.name, key), said)


def _taken(owner: type, name: str, key: str) -> str:
    """What a key takes, in words."""
    names = key_choices(owner, key)
    words = _word(get_type_hints(owner, include_extras=True)[name])
    shown = f": {', '.join(names)}" if 0 < len(names) <= _MOST_CHOICES else ""
    return f"{words}{f' {_UNITS[words]}' if words in _UNITS else ''}{shown}"


def _word(hint: Any) -> str:
    """A type in words, without None."""
    inner = tuple(each for each in get_args(hint) if each is not NoneType)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(map(_word, inner))
    quantity = next((word for kind, word in _KINDS if _marks(kind)[0] in _marks(hint)), None)
    if quantity is not None:
        return quantity
    if get_origin(hint) is Literal:
        return "text"
    if get_origin(hint) is tuple:
        return f"list of {_word(inner[0])}s"
    if len(inner) == 2 and (_marks(inner[1]) or inner[1] in _PLAIN):
        return f"table of {_word(inner[1])}s"
    return _PLAIN.get(hint, "table")


def _marks(hint: Any) -> tuple[Any, ...]:
    """What an annotated type holds beside the type."""
    return tuple(getattr(hint, "__metadata__", ()))


def _written(value: Any) -> str:
    """A value in TOML."""
    return "{}" if value == {} else toml_value(value)


def _comment(text: str, taken: str, default: str) -> list[str]:
    """Lines of a comment."""
    return [*(_prose(text) if text else []), *_prose(f"[{taken}; default: {default}]")]


def _prose(text: str) -> list[str]:
    """Lines of a comment without a key."""
    return [f"# {line}" for line in wrapped(text, _WIDTH)]
