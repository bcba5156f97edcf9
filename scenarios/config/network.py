"""The network and workload of a study, from a scenario or options."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from scenarios.config.access_links import access_at, up_down
from scenarios.config.quantities import Duration, Rate, Size, format_bits, format_rate, format_s
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
from topologies.capacities import UNSTATED_CORE_BPS, idle_faster_links
from topologies.connectivity import silo_labels
from topologies.errors import Field, unknown_name
from topologies.networks.loading import underlay_title
from topologies.quantities import parse_quantity
from topologies.underlay import Underlay

_ARROW = re.compile(r"(?<=\S)\s+(->?)\s+(?=\S)")
"""Between the silos of a blocked pair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkConfig:
    """The ``[network]`` table of a scenario; quantities are texts with units.

    Parameters
    ----------
    underlay : str
        Name of a shipped underlay or of one of topohub, or path of a file.
    variant : {"corrected", "published"}
        True or published link lengths, stated capacities or none.
    access : str
        Capacity of every access link in both directions.
    access_up, access_down : str, optional
        The same for one direction only.
    access_at : mapping from label to str
        Silos whose access link differs: ``"10 Mbps"`` in both directions, ``"100 Mbps up, 1 Gbps down"``, or only
        one of these two; the other is then as on all silos.
    silo_at : tuple of str, optional
        Label of the router that each silo is attached to. By default each router has one silo, which has its label; of
        several on one router the labels are numbered, for instance ``Paris/1`` and ``Paris/2``. The order does not
        matter: silos are numbered in the order of their routers' labels.
    blocked : tuple of str, optional
        Silos that cannot talk: ``"A - B"``, or ``"A -> B"`` where A cannot send to B, but B can to A.
    core : str, optional
        Capacity of every core link, or ``"stated"``; see `topologies.connectivity`.
    bandwidth : {"hop_share", "bottleneck"}
    latency : {"per_path", "per_link"}
    internal_only, largest_component : bool
        What is left out of the file; see `topologies.load_underlay`.
    """

    underlay: str
    variant: Variant = "corrected"
    access: Rate = "10 Gbps"
    access_up: Rate | None = None
    access_down: Rate | None = None
    access_at: Mapping[str, Rate] | None = None
    silo_at: tuple[str, ...] | None = None
    blocked: tuple[str, ...] | None = None
    core: Rate | None = None
    bandwidth: Literal["hop_share", "bottleneck"] = "hop_share"
    latency: Literal["per_path", "per_link"] = "per_path"
    internal_only: bool = False
    largest_component: bool = False

    def __post_init__(self) -> None:
        """Check the quantities and the form of blocked pairs; lists, as JSON has them, become tuples."""
        for field in ("silo_at", "blocked"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, tuple(getattr(self, field)))
        for field in ("access", "access_up", "access_down"):
            if getattr(self, field) is not None:
                parse_quantity(field, getattr(self, field), "bit/s")
        for label, text in (self.access_at or {}).items():
            up_down(label, text)
        if self.core not in (None, "stated"):
            parse_quantity("core", self.core, "bit/s")
        if self.silo_at is not None and not self.silo_at:
            raise InputError("must name a router.", field=Field("silo_at", value=[]))
        for pair in self.blocked or ():
            if not _ARROW.search(pair):
                raise InputError(
                    "must be 'A - B', or 'A -> B' for one direction, with spaces.",
                    field=Field("blocked", value=pair),
                )

    def changed(self, **changes: str | bool | Mapping[str, str] | Sequence[str] | None) -> "NetworkConfig":
        """Copy with those changes that are not None.

        A new `access` replaces all access capacities. A new `underlay` drops `silo_at` and `blocked`, which name places
        of the old one, and what is left out of that one's file.
        """
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        if "underlay" in given:
            of_the_old = {
                "silo_at": None,
                "blocked": None,
                "internal_only": False,
                "largest_component": False,
            }
            given = of_the_old | given
        if "access" in given:
            given = {"access_up": None, "access_down": None, "access_at": None} | given
        return replace(self, **given)


def build_underlay(config: NetworkConfig) -> Underlay:
    """The underlay that a network configuration names.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return load_underlay(
        config.underlay,
        variant=config.variant,
        internal_only=config.internal_only,
        largest_component=config.largest_component,
    )


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
    underlay = underlay or build_underlay(config)
    routers = _routers(underlay, config.silo_at)
    labels = silo_labels(underlay, routers)
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
            up_bps=access_at(labels, up, config.access_at, "up"),
            down_bps=access_at(labels, down, config.access_at, "down"),
        ),
        core=core,
        bandwidth=config.bandwidth,
        latency=config.latency,
        routers=routers,
        blocked=[pair for text in config.blocked or () for pair in _blocked(labels, text)],
    )


def _routers(underlay: Underlay, silo_at: Sequence[str] | None) -> list[int]:
    """Index of each silo's router, in the order of the routers, whatever the order of the texts."""
    if silo_at is None:
        return list(range(underlay.routers))
    for label in silo_at:
        if label not in underlay.labels:
            raise unknown_name("silo_at", label, underlay.labels)
    return sorted(underlay.labels.index(label) for label in silo_at)


def _blocked(labels: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Ordered silo pairs of a text such as ``A - B``; the labels, too, may hold arrows."""
    splits = [(text[: m.start()].strip(), m[1], text[m.end() :].strip()) for m in _ARROW.finditer(text)]
    known = [split for split in splits if split[0] in labels and split[2] in labels]
    if len(known) > 1:
        raise InputError(
            f"must name two silos in one way, not in {len(known)}.", field=Field("blocked", value=text)
        )
    if not known:
        ends = (splits[0][0], splits[0][2])
        raise unknown_name("blocked silo", next(end for end in ends if end not in labels), labels)
    ((source, arrow, target),) = known
    if source == target:
        raise InputError("must name two different silos.", field=Field("blocked", value=text))
    i, j = labels.index(source), labels.index(target)
    return [(i, j)] if arrow == "->" else [(i, j), (j, i)]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadConfig:
    """The ``[workload]`` table of a scenario.

    Parameters
    ----------
    preset : str, optional
        One of the paper's tasks, for model size and computing time.
    model_size : str, optional
        Size of the model on the wire, for instance ``"42.9 MB"``; overrides the preset. A scenario that trains
        takes what its backend says of its messages where neither is given.
    compute : str, optional
        Computing time of one local step; overrides the preset.
    local_steps : int
    """

    preset: str | None = None
    model_size: Size | None = None
    compute: Duration | None = None
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
            raise InputError("must be >= 1.", field=Field("local_steps", value=self.local_steps))


def build_workload(config: WorkloadConfig, variant: Variant, trained_bits: float | None = None) -> Workload:
    """Workload of a configuration.

    Parameters
    ----------
    config : WorkloadConfig
    variant : {"corrected", "published"}
        Which model sizes a preset has.
    trained_bits : float, optional
        Size of the messages of what the scenario trains.

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
    return Workload(
        model_bits=bits, compute_s=compute_s, local_steps=config.local_steps, name=_work_name(config)
    )


def _work_name(config: WorkloadConfig) -> str:
    """Name of a workload in tables: a preset of which model or computing time is replaced is named for the other."""
    own_size, own_compute = config.model_size is not None, config.compute is not None
    if config.preset is None:
        return "custom" if own_size else "trained model"
    if own_size and own_compute:
        return "custom"
    if own_size:
        return f"custom, compute of {config.preset}"
    return f"custom, model of {config.preset}" if own_compute else config.preset


def describe(graph: Connectivity, work: Workload, *, access: bool = True) -> str:
    """Three lines that say which network and workload a table is about, with or without access capacities."""
    underlay = graph.underlay
    silos = f"{graph.silos} silo{'s' if graph.silos > 1 else ''}"
    used = len(set(graph.router.tolist()))
    places = "" if graph.silos == underlay.routers == used else f" on {used} of {underlay.routers} routers"
    pairs = graph.silos * (graph.silos - 1)
    missing = pairs - int(graph.may_send.sum())
    if graph.is_measured:
        between = f"bandwidth measured for {pairs - missing:,} of {pairs:,} pairs"
    else:
        barred = f"; {missing} arc{'s' if missing > 1 else ''} blocked" if missing else ""
        between = f"{underlay.links} core links{barred}"
    core = _measured(graph) if graph.is_measured else _core(graph)
    up, down = _span(graph.up_bps), _span(graph.down_bps)
    capacities = f"access {up if up == down else f'{up} up, {down} down'}; " if access else ""
    steps = f"{work.local_steps} local step{'s' if work.local_steps > 1 else ''}"
    return (
        f"{underlay_title(underlay)}: {silos}{places}, {between}\n"
        f"{capacities}{core}\n"
        f"{work.name}: {format_bits(work.model_bits)}, {steps} of {format_s(float(np.max(work.compute_s)))}"
    )


def _core(graph: Connectivity) -> str:
    """Capacities of the core links, and on how many they are assumed."""
    assumed = int(graph.core_assumed.sum())
    if not assumed:
        stated = np.array_equal(graph.core_bps, graph.underlay.capacity_bps)
        return "core as stated" if stated else f"core {_span(graph.core_bps)}"
    rate = format_rate(UNSTATED_CORE_BPS)
    if assumed == graph.underlay.links:
        return f"core {rate}, assumed on all {assumed} links"
    return f"core as stated on {graph.underlay.links - assumed} links, {rate} assumed on {assumed}"


def _measured(graph: Connectivity) -> str:
    """Smallest and largest measured bandwidth."""
    return (
        f"pairs {_span(graph.link_capacity_bps[: graph.first_uplink])}" if graph.first_uplink else "no pairs"
    )


def idle_links(graph: Connectivity) -> list[str]:
    """One sentence, where faster links carry no route since a parallel link is shorter."""
    if graph.is_measured:
        return []
    idle = idle_faster_links(graph.underlay, graph.routes, graph.core_bps)
    if not idle:
        return []
    first = graph.underlay.link_name(idle[0])
    more = f" and {len(idle) - 1} more" if len(idle) > 1 else ""
    return [
        f"no route takes {first} ({format_rate(graph.core_bps[idle[0]])}){more}: of parallel links the shortest "
        "carries all, though this one is faster."
    ]


def _span(bps: FloatArray) -> str:
    """One rate, or the smallest and the largest."""
    low, high = format_rate(float(bps.min())), format_rate(float(bps.max()))
    return low if low == high else f"{low} to {high}"
