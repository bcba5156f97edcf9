"""The network and workload of a study, from what a user wrote."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from scenarios.units import format_bits, format_rate, format_s, parse_quantity
from topologies import (
    AccessLinks,
    Connectivity,
    InputError,
    Variant,
    Workload,
    connectivity,
    load_underlay,
    workload_presets,
)
from topologies.arrays import FloatArray
from topologies.errors import unknown_name
from topologies.underlay import Underlay


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkConfig:
    """The ``[network]`` table of a scenario; quantities are texts with units.

    Parameters
    ----------
    underlay : str
        Name of a shipped underlay or path of a GML file.
    variant : {"corrected", "published"}
        True or published link lengths, stated capacities or none.
    access : str
        Capacity of every access link in both directions.
    access_up, access_down : str, optional
        The same for one direction only.
    access_at : mapping from label to str
        Silos whose access link differs.
    core : str, optional
        Capacity of every core link, or ``"stated"``; see `topologies.connectivity`.
    bandwidth : {"hop_share", "bottleneck"}
    latency : {"per_path", "per_link"}
    """

    underlay: str
    variant: Variant = "corrected"
    access: str = "10 Gbps"
    access_up: str | None = None
    access_down: str | None = None
    access_at: Mapping[str, str] | None = None
    core: str | None = None
    bandwidth: Literal["hop_share", "bottleneck"] = "hop_share"
    latency: Literal["per_path", "per_link"] = "per_path"

    def __post_init__(self) -> None:
        """Check the quantities."""
        for field in ("access", "access_up", "access_down"):
            if getattr(self, field) is not None:
                parse_quantity(field, getattr(self, field), "bit/s")
        for label, text in (self.access_at or {}).items():
            parse_quantity(f"access_at.{label}", text, "bit/s")
        if self.core not in (None, "stated"):
            parse_quantity("core", self.core, "bit/s")

    def changed(self, **changes: str | Mapping[str, str] | None) -> "NetworkConfig":
        """Copy with those changes that are not None; a new `access` replaces all access capacities."""
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        if "access" in given:
            given = {"access_up": None, "access_down": None, "access_at": None} | given
        return replace(self, **given)


def build_network(config: NetworkConfig, underlay: Underlay | None = None) -> Connectivity:
    """Connectivity graph of a network configuration.

    Parameters
    ----------
    config : NetworkConfig
    underlay : Underlay, optional
        By default the one that the configuration names.

    Returns
    -------
    Connectivity

    Raises
    ------
    InputError
        If the underlay cannot be read, or a quantity or label is wrong.
    """
    underlay = underlay or load_underlay(config.underlay, variant=config.variant)
    up = parse_quantity(
        "access_up" if config.access_up else "access", config.access_up or config.access, "bit/s"
    )
    down = parse_quantity(
        "access_down" if config.access_down else "access", config.access_down or config.access, "bit/s"
    )
    core = config.core if config.core in (None, "stated") else parse_quantity("core", config.core, "bit/s")
    return connectivity(
        underlay,
        access=AccessLinks(
            up_bps=_at(underlay, up, config.access_at), down_bps=_at(underlay, down, config.access_at)
        ),
        core=core,
        bandwidth=config.bandwidth,
        latency=config.latency,
    )


def _at(underlay: Underlay, bps: float, special: Mapping[str, str] | None) -> FloatArray:
    """One capacity per silo: `bps`, except where `special` says otherwise."""
    capacity = np.full(underlay.routers, bps)
    for label, text in (special or {}).items():
        if label not in underlay.labels:
            raise unknown_name("access_at silo", label, underlay.labels)
        capacity[underlay.labels.index(label)] = parse_quantity(f"access_at.{label}", text, "bit/s")
    return capacity


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadConfig:
    """The ``[workload]`` table of a scenario.

    Parameters
    ----------
    preset : str, optional
        One of the paper's tasks, for model size and computing time.
    model_size : str, optional
        Size of the model on the wire, for instance ``"42.9 MB"``; overrides the preset. A scenario that trains
        takes the size of the trained model where neither is given.
    compute : str, optional
        Computing time of one local step; overrides the preset.
    local_steps : int
    """

    preset: str | None = None
    model_size: str | None = None
    compute: str | None = None
    local_steps: int = 1

    def __post_init__(self) -> None:
        """Check preset, quantities and local steps."""
        if self.preset is not None and self.preset not in workload_presets():
            raise unknown_name("preset", self.preset, workload_presets())
        if self.model_size is not None:
            parse_quantity("model_size", self.model_size, "bit", zero=True)
        if self.compute is not None:
            parse_quantity("compute", self.compute, "s", zero=True)
        if self.local_steps < 1:
            raise InputError(f"local_steps(={self.local_steps}) must be >= 1.")


def build_workload(config: WorkloadConfig, variant: Variant, trained_bits: float | None = None) -> Workload:
    """Workload of a configuration.

    Parameters
    ----------
    config : WorkloadConfig
    variant : {"corrected", "published"}
        Which model sizes a preset has.
    trained_bits : float, optional
        Size of the model that the scenario trains.

    Returns
    -------
    Workload

    Raises
    ------
    InputError
        If model size or computing time is known from nowhere, or a quantity is wrong.
    """
    preset = (
        Workload.preset(config.preset, local_steps=config.local_steps, variant=variant)
        if config.preset
        else None
    )
    if config.model_size is not None:
        bits = parse_quantity("model_size", config.model_size, "bit", zero=True)
    elif preset is not None:
        bits = preset.model_bits
    elif trained_bits is not None:
        bits = trained_bits
    else:
        raise InputError("workload needs a preset or a model_size.")
    if config.compute is not None:
        compute_s = parse_quantity("compute", config.compute, "s", zero=True)
    elif preset is not None:
        compute_s = float(np.asarray(preset.compute_s))
    else:
        raise InputError("workload needs a preset or a compute time, for instance compute = '25.4 ms'.")
    name = config.preset or ("trained model" if config.model_size is None else "custom")
    return Workload(model_bits=bits, compute_s=compute_s, local_steps=config.local_steps, name=name)


def describe(graph: Connectivity, work: Workload, *, access: bool = True) -> str:
    """Three lines that say which network and workload a table is about, with or without access capacities."""
    underlay = graph.underlay
    if np.ptp(graph.core_bps) == 0:
        core = f"core {format_rate(graph.core_bps[0])}"
    else:
        core = f"core as stated on {int(np.isfinite(underlay.capacity_bps).sum())} links, 1 Gbps elsewhere"
    up, down = _span(graph.up_bps), _span(graph.down_bps)
    capacities = f"access {up if up == down else f'{up} up, {down} down'}; " if access else ""
    steps = f"{work.local_steps} local step{'s' if work.local_steps > 1 else ''}"
    return (
        f"{underlay.name} ({underlay.variant}): {graph.silos} silos, {underlay.links} core links\n"
        f"{capacities}{core}\n"
        f"{work.name}: {format_bits(work.model_bits)}, {steps} of {format_s(float(np.max(work.compute_s)))}"
    )


def _span(bps: FloatArray) -> str:
    """One rate, or the smallest and the largest."""
    low, high = format_rate(float(bps.min())), format_rate(float(bps.max()))
    return low if low == high else f"{low} to {high}"
