"""The value that a key of a scenario has, stated or by default."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from scenarios.config.designer_options import designer_options
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import OverlaysConfig, Scenario


def used_value(
    scenario: Scenario, path: Sequence[str | int], written: Mapping[str, Any] | None = None
) -> Any:
    """The value of a key as TOML has it.

    Parameters
    ----------
    scenario : Scenario
    path : sequence of str or int
        Parts of the key, see `scenarios.config.study.split_key`.
    written : mapping, optional
        Tables that the scenario was made of: a file is called as it is there, not by where it was found.

    Returns
    -------
    str, int, float, bool, list, dict or None
        None where the scenario alone does not say, as of capacities that the network's file states, and of a key that
        is not used there, such as an option of a designer that is not asked for.

    Examples
    --------
    >>> from scenarios.config.scenario import parse_scenario
    >>> text = '[network]\\nunderlay = "gaia"\\n[overlays]\\nkinds = ["matcha"]'
    >>> scenario = parse_scenario(text, source="x.toml")
    >>> used_value(scenario, ["simulation", "sharing"]), used_value(scenario, ["overlays", "matcha", "budget"])
    ('maxmin', 0.5)
    """
    value, text = _used(scenario, path), _inside(written, path)
    is_text = isinstance(value, str) and isinstance(text, str)
    return text if is_text and Path(value).name == Path(text).name else value


def _used(scenario: Scenario, path: Sequence[str | int]) -> Any:
    """The value of a key, with files where they were found."""
    first, *rest = path
    if first == "overlays":
        return _plain(_of_overlays(scenario.overlays, rest))
    # Tables of events are beside the other keys of their table.
    events: Mapping[str, Any] = scenario.simulation.events if first == "simulation" else {}
    if rest and rest[0] in events:
        return _plain(_inside(events, rest))
    return _plain(_inside(scenario, path))


def _inside(value: Any, path: Sequence[str | int]) -> Any:
    """The value at the end of a path through mappings, sequences and dataclasses; None where it leads nowhere."""
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(str(part))
        elif isinstance(value, list | tuple):
            value = value[part] if isinstance(part, int) and part < len(value) else None
        else:
            value = getattr(value, str(part), None)
    return value


def _of_overlays(overlays: OverlaysConfig, path: Sequence[str | int]) -> Any:
    """The value of a key of ``[overlays]`` or ``[[overlays]]``."""
    if not path:
        return None
    first, *rest = path
    if first == "entries" and rest:
        first, *rest = rest
    if isinstance(first, int):
        return _of_overlay(overlays.entries[first], rest) if first < len(overlays.entries) else None
    if first in ("kinds", "consensus"):
        return None if overlays.entries and first == "kinds" else getattr(overlays, first) or None
    own = next(
        (config for config in overlays.overlays if not overlays.entries and config.kind == first), None
    )
    return None if own is None else _of_overlay(own, rest)


def _of_overlay(config: OverlayConfig, path: Sequence[str | int]) -> Any:
    """The value of a key of one overlay: its own, or an option of its designer."""
    if len(path) != 1:
        return None
    name = str(path[0])
    if name in config.options:
        return config.options[name]
    declared = designer_options(config.kind) if config.kind else {}
    return declared[name].default if name in declared else getattr(config, name, None)


def _plain(value: Any) -> Any:
    """A value as TOML has it; None for a table with keys of its own."""
    if isinstance(value, tuple):
        return [*value] if not any(map(is_dataclass, value)) else None
    if isinstance(value, Mapping):
        return {**value} or None
    return None if is_dataclass(value) else value
