"""The TOML text of the scenario that command-line options describe."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from scenarios.config.label_shares import PARTITION_KEYS
from scenarios.config.network import NetworkConfig
from scenarios.config.overlap import overlap_text
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.participation import participation_key
from scenarios.config.simulation import SimulationConfig
from topologies import Workload
from training import TrainingConfig


def scenario_text(
    network: NetworkConfig,
    work: Workload,
    overlays: Sequence[OverlayConfig],
    simulation: SimulationConfig,
    seed: int,
    *,
    consensus: str = "",
    labels: Sequence[str] = (),
    name: str = "simulation",
    training: TrainingConfig | None = None,
) -> str:
    """TOML text of a scenario.

    Parameters
    ----------
    network : NetworkConfig
    work : Workload
    overlays : sequence of OverlayConfig
    simulation : SimulationConfig
    seed : int
    consensus : str
        Rule of the mixing weights of those that have none.
    labels : sequence of str
        Of the silos, where their computing times differ.
    name : str
        The scenario's.
    training : TrainingConfig, optional
        Its partition is written where an overlay is designed by the labels of the silos.

    Returns
    -------
    str
        `parse_scenario` makes the same of it, but for a training beyond its partition.
    """
    lines = [
        f"name = {toml_value(name)}\nseed = {seed}\n\n[network]",
        *_lines(network),
        f'\n[workload]\nmodel_size = "{work.model_bits!r} bit"',
        *_entries(computing_keys(work, labels)),
        *_entries({"overlap": overlap_text(work.overlap)} if work.overlap else {}),
        *_entries(
            {} if work.participation is None else {"participation": participation_key(work.participation)}
        ),
        "",
        *_overlay_lines(overlays, consensus),
        "\n[simulation]",
        *_lines(simulation),
    ]
    if training is not None and any(config.takes_label_shares for config in overlays):
        lines += ["\n[training]", *_partition_lines(training)]
    return "\n".join(lines) + "\n"


def tables_text(tables: Mapping[str, Any]) -> str:
    """TOML text of the tables of a scenario, which `scenarios.config.scenario.read_toml` makes of it again."""
    lines, below = [], []
    for name, value in tables.items():
        if isinstance(value, Mapping):
            below += ["", f"[{toml_key(name)}]", *_entries(value)]
        elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            below += [line for each in value for line in ("", f"[[{toml_key(name)}]]", *_entries(each))]
        else:
            lines.append(f"{toml_key(name)} = {toml_value(value)}")
    return "\n".join([*lines, *below]) + "\n"


def _entries(table: Mapping[str, Any]) -> list[str]:
    """The keys of a table, tables in it on one line."""
    return [f"{toml_key(name)} = {toml_value(value)}" for name, value in table.items()]


def computing_keys(work: Workload, labels: Sequence[str]) -> dict[str, Any]:
    """Keys of ``[workload]`` for times and numbers of local steps: of most silos, and of the others by their labels."""
    times, counts = np.unique(np.asarray(work.compute_s, dtype=np.float64), return_counts=True)
    most = float(times[np.argmax(counts)])
    keys: dict[str, Any] = {"compute": f"{most!r} s"}
    if len(times) > 1:
        own = zip(labels, np.asarray(work.compute_s).tolist(), strict=True)
        keys["compute_at"] = {label: f"{compute_s!r} s" for label, compute_s in own if compute_s != most}
    numbers, counts = np.unique(np.asarray(work.local_steps), return_counts=True)
    keys["local_steps"] = usual = int(numbers[np.argmax(counts)])
    if len(numbers) > 1:
        steps = zip(labels, np.asarray(work.local_steps).tolist(), strict=True)
        keys["local_steps_at"] = {label: number for label, number in steps if number != usual}
    return keys


def _lines(config: object) -> list[str]:
    """Keys of a table that have a value."""
    assert is_dataclass(config)
    values = {field.name.rstrip("_"): getattr(config, field.name) for field in fields(config)}
    if isinstance(config, SimulationConfig):
        values |= values.pop("events")
    return [
        f"{name} = {toml_value(value)}"
        for name, value in values.items()
        if value is not None and value != () and (value is not False or name not in _LEFT_OUT)
    ]


_LEFT_OUT = ("internal_only", "largest_component")
"""Keys that are not written where they are false: runs from before they existed are compared by their text."""


def _overlay_lines(overlays: Sequence[OverlayConfig], consensus: str) -> list[str]:
    """The table of overlays, or one for each where kinds and options do not say all."""
    if all(config.is_plain for config in overlays):
        return [
            f"[overlays]\nkinds = {toml_value([config.kind for config in overlays])}",
            *([f"consensus = {toml_value(consensus)}"] if consensus else []),
            *(
                f"{toml_key(config.kind)} = {_options(config.options)}"
                for config in overlays
                if config.options
            ),
        ]
    # A rule of all overlays stands for those that can have it, which only their design tells.
    lines = ["[overlays]", f"consensus = {toml_value(consensus)}", ""] if consensus else []
    for config in overlays:
        default = {field.name: field.default for field in fields(config) if field.name != "options"}
        stated = {key: value for key in default if (value := getattr(config, key)) != default[key]}
        lines.append("[[overlays.entries]]" if consensus else "[[overlays]]")
        lines += [
            f"{toml_key(key)} = {toml_value(value)}"
            for key, value in (*stated.items(), *config.options.items())
        ]
        lines.append("")
    return lines


def _partition_lines(training: TrainingConfig) -> list[str]:
    """Keys of ``[training]`` that its partition depends on."""
    values = {name: getattr(training, name) for name in PARTITION_KEYS}
    return [f"{name} = {toml_value(value)}" for name, value in values.items() if value not in (None, {}, "")]


def _options(given: Mapping[str, object]) -> str:
    """Options of one designer, as a table on one line."""
    return f"{{ {', '.join(f'{toml_key(name)} = {toml_value(value)}' for name, value in given.items())} }}"


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: object) -> str:
    """A value in TOML; tables on one line."""
    if is_dataclass(value) and not isinstance(value, type):
        return f"{{ {', '.join(_lines(value))} }}"
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{toml_value(key)} = {toml_value(inner)}' for key, inner in value.items())} }}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    # TOML, unlike JSON, takes no DEL as it is.
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
