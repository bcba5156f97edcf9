"""The TOML text of the scenario that command-line options describe."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from scenarios.config.designer_options import WrittenOptions
from scenarios.config.network import NetworkConfig
from scenarios.config.simulation import SimulationConfig
from topologies import Workload


def scenario_text(
    network: NetworkConfig,
    work: Workload,
    kinds: Sequence[str],
    simulation: SimulationConfig,
    seed: int,
    *,
    labels: Sequence[str] = (),
    options: WrittenOptions | None = None,
    name: str = "simulation",
) -> str:
    """TOML text of a scenario.

    Parameters
    ----------
    network : NetworkConfig
    work : Workload
    kinds : sequence of str
    simulation : SimulationConfig
    seed : int
    labels : sequence of str
        Of the silos, where their computing times differ.
    options : mapping from kind to mapping, optional
        Options of designers.
    name : str
        The scenario's.

    Returns
    -------
    str
        `parse_scenario` makes the same of it.
    """
    compute_s, special = _computing(work, labels)
    lines = [
        f"name = {_value(name)}\nseed = {seed}\n\n[network]",
        *_lines(network),
        f'\n[workload]\nmodel_size = "{work.model_bits!r} bit"\ncompute = "{compute_s!r} s"',
        *([f"compute_at = {_value(special)}"] if special else []),
        f"local_steps = {work.local_steps}\n\n[overlays]\nkinds = {_value(list(kinds))}",
        *(f"{_key(kind)} = {_options(given)}" for kind, given in (options or {}).items() if given),
        "\n[simulation]",
        *_lines(simulation),
    ]
    return "\n".join(lines) + "\n"


def _computing(work: Workload, labels: Sequence[str]) -> tuple[float, dict[str, str]]:
    """The computing time of most silos, and those of the others."""
    times, counts = np.unique(np.asarray(work.compute_s, dtype=np.float64), return_counts=True)
    most = float(times[np.argmax(counts)])
    if len(times) == 1:
        return most, {}
    own = zip(labels, np.asarray(work.compute_s).tolist(), strict=True)
    return most, {label: f"{compute_s!r} s" for label, compute_s in own if compute_s != most}


def _lines(config: object) -> list[str]:
    """Keys of a table that have a value."""
    assert is_dataclass(config)
    values = {field.name.rstrip("_"): getattr(config, field.name) for field in fields(config)}
    if isinstance(config, SimulationConfig):
        values |= values.pop("events")
    return [
        f"{name} = {_value(value)}" for name, value in values.items() if value is not None and value != ()
    ]


def _options(given: Mapping[str, object]) -> str:
    """Options of one designer, as a table on one line."""
    return f"{{ {', '.join(f'{_key(name)} = {_value(value)}' for name, value in given.items())} }}"


def _key(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: object) -> str:
    """A value in TOML; tables on one line."""
    if is_dataclass(value) and not isinstance(value, type):
        return f"{{ {', '.join(_lines(value))} }}"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_value(key)} = {_value(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
