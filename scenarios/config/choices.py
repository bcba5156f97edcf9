"""Names that the keys of a scenario may have as values, those of installed packages included."""

from collections.abc import Callable, Mapping
from typing import Literal, get_args, get_origin, get_type_hints

from scenarios.config.kinds import all_kinds
from scenarios.config.network import NetworkConfig, WorkloadConfig
from scenarios.config.scenario import OverlaysConfig
from scenarios.config.simulation import SimulationConfig
from simulator.input_checks import ENGINES
from simulator.sharing import sharing_names
from topologies import shipped_underlays, workload_presets
from topologies.consensus import consensus_rules
from training import TrainingConfig
from training.choices import setting_choices

_NAMES: Mapping[type, Mapping[str, Callable[[], tuple[str, ...]]]] = {
    NetworkConfig: {"underlay": lambda: tuple(shipped_underlays())},
    WorkloadConfig: {"preset": lambda: tuple(workload_presets())},
    OverlaysConfig: {
        "kinds": all_kinds,
        "consensus": lambda: tuple(consensus_rules),
    },
    SimulationConfig: {"sharing": sharing_names, "engine": lambda: tuple(ENGINES)},
}


def key_choices(owner: type, key: str) -> tuple[str, ...]:
    """Names that a key may have; empty where it takes other values.

    Parameters
    ----------
    owner : type
        Dataclass of the key's table.
    key : str
    """
    if key in _NAMES.get(owner, {}):
        return _NAMES[owner][key]()
    if owner is TrainingConfig:
        return setting_choices().get(key, ())
    hint = get_type_hints(owner).get(key)
    members = (hint, *get_args(hint))
    return tuple(name for each in members if get_origin(each) is Literal for name in get_args(each))
