"""The network and workload of a study, from a scenario or options."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scenarios.config.access_links import access_at, up_down
from scenarios.config.found_files import found_beside
from scenarios.config.link_rules import ack_share, with_rules_of
from scenarios.config.overhead import overhead_factor
from scenarios.config.overlap import overlap_share
from scenarios.config.participation import participation_of, participation_text
from scenarios.config.quantities import Duration, Rate, Size, format_bits, format_rate, format_s
from scenarios.config.silo_pairs import ARROW, silo_pairs
from scenarios.config.transfer_windows import streams_by_pair, with_windows_of
from scenarios.config.transport_preset import transport
from topologies import (
    AccessLinks,
    Connectivity,
    InputError,
    Variant,
    Workload,
    connectivity,
    load_underlay,
    shipped_underlays,
    workload_presets,
)
from topologies.arrays import FloatArray, IntArray
from topologies.capacities import UNSTATED_CORE_BPS, idle_faster_links
from topologies.connectivity import silo_labels, with_access
from topologies.designers.star import default_hub
from topologies.errors import Field, quoted, unknown_name
from topologies.input_limits import MOST_SILOS, check_count
from topologies.link_rules import LinkRules
from topologies.networks.network_files import NetworkFiles, folder_name
from topologies.networks.route_table import with_routes
from topologies.networks.topohub import PREFIX
from topologies.networks.underlay_title import underlay_title
from topologies.quantities import parse_quantity
from topologies.regular_files import is_folder
from topologies.routings import named_routing, routing_text
from topologies.slow_start import with_slow_start
from topologies.underlay import Underlay

FILES = ("sites", "links", "pairs", "bandwidth_matrix", "latency_matrix")
"""Fields of `NetworkConfig` that hold paths of a network's tables: those of `NetworkFiles`."""
SOURCES = frozenset(("underlay", *FILES))
"""Fields of `NetworkConfig` that say which network it is."""
PATHS = ("underlay", *FILES, "routes")
"""Fields of `NetworkConfig` that may hold paths."""
DEFAULT_ACCESS_BPS = 10e9
"""Of silos whose access link nothing is stated of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkConfig:
    """The ``[network]`` table of a scenario; quantities are texts with units.

    Parameters
    ----------
    underlay : str, optional
        Name of a shipped underlay or of one of topohub, or path of a file of nodes and links, of a table of measured
        pairs, of a folder of tables or of a TOML file that names them; see `load_underlay`. Exactly one of it and of
        the tables below is given.
    sites, links, pairs, bandwidth_matrix, latency_matrix : str, optional
        Paths of CSV tables, in place of an underlay; see `topologies.networks.network_files.NetworkFiles`.
    variant : {"corrected", "published"}
        True or published link lengths, stated capacities or none.
    access : str, optional
        Capacity of every access link in both directions. By default what the network's file states for each site, and
        10 Gbps where it states nothing.
    access_up : str, optional
        Capacity of every uplink; by default that of `access`.
    access_down : str, optional
        Capacity of every downlink; by default that of `access`.
    access_at : mapping from label to str
        Silos whose access link differs: ``"10 Mbps"`` in both directions, ``"100 Mbps up, 1 Gbps down"``, or only
        one of these two; the other is then as on all silos.
    access_hub : str, optional
        Access link of the silo that is the STAR's hub where its ``hub`` is not stated, written as in `access_at`; see
        `topologies.designers.star.default_hub`.
    silo_at : tuple of str, optional
        Label of the router that each silo is attached to. By default each router has one silo, which has its label; of
        several on one router the labels are numbered, for instance ``Paris/1`` and ``Paris/2``. The order does not
        matter: silos are numbered in the order of their routers' labels.
    blocked : tuple of str, optional
        Silos that cannot talk: ``"A - B"``, or ``"A -> B"`` where A cannot send to B, but B can to A.
    window : str, optional
        Window of every stream, for instance ``"4 MiB"``: a transfer sends at most a window per stream and round-trip
        time, see `topologies.windows`. By default no limit.
    window_at : mapping from str to str
        Windows that differ: by the label of the silo that receives, or by pair as in `blocked`, which goes first.
    streams : int
        Parallel streams of every transfer, each with a window of its own.
    streams_at : mapping from str to int
        Numbers of streams that differ, as in `window_at`.
    slow_start : {"none", "first", "idle", "always"}, optional
        Which messages open their windows slowly: none; the first of each pair; that, and those after idle times above
        the retransmission time-out; or each, on a new connection. See `topologies.slow_start`.
    half_duplex : tuple of str, optional
        Links that carry one direction at a time: ``"access"``, ``"core"``, the label of a silo, or a core link as
        ``"A - B"``; see `topologies.link_rules`.
    shared_access : mapping from str to str
        Access links that several silos share, beside the own one of each: ``"A + B"``, with a capacity as in
        `access_at`.
    fat_pipes : tuple of str, optional
        Core links that give each model their whole capacity: ``"core"`` or ``"A - B"``.
    acks : str, optional
        What acknowledgements put on the way back: ``"tcp"`` or a share such as ``"2 %"`` of a model. By default none.
    preset : {"none", "tcp"}, optional
        Transport protocol whose window, slow start and acknowledgements hold where none are stated here, and whose
        headers hold where the workload states none; see `scenarios.config.transport_preset`.
    core : str, optional
        Capacity of every core link, or ``"stated"``; see `topologies.connectivity`.
    bandwidth : {"hop_share", "bottleneck"}
        Available bandwidth of a route: its smallest capacity divided by its number of links, or its smallest capacity.
    latency : {"per_path", "per_link"}
        Where the constant 4 ms count: once on a whole path, or on each of its links.
    routes : str, optional
        Path of a CSV table of routes of pairs of routers, see `topologies.networks.route_table.read_routes`; pairs that
        it does not name, and those whose route is down, take the shortest route.
    routing : {"distance", "hops", "latency", "inverse_capacity"}
        What the other routes are the shortest by; see `topologies.routings.COSTS`.
    multipath_seed : int, optional
        Spread flows over routes of equal cost by a hash with this seed; see `topologies.multipath`. By default each
        pair of routers takes the same one there and back.
    split_flows : bool
        Split each flow over all routes of equal cost; see `topologies.split_routes`. Not with a `multipath_seed`.
    internal_only : bool
        Leave out external nodes, stubs without coordinates and self-loops of the file; see `topologies.load_underlay`.
    largest_component : bool
        Keep only the largest connected component of the file.
    """

    underlay: str | None = None
    sites: str | None = None
    links: str | None = None
    pairs: str | None = None
    bandwidth_matrix: str | None = None
    latency_matrix: str | None = None
    variant: Variant = "corrected"
    access: Rate | None = None
    access_up: Rate | None = None
    access_down: Rate | None = None
    access_at: Mapping[str, Rate] | None = None
    access_hub: Rate | None = None
    silo_at: tuple[str, ...] | None = None
    blocked: tuple[str, ...] | None = None
    window: Size | None = None
    window_at: Mapping[str, Size] | None = None
    streams: int = 1
    streams_at: Mapping[str, int] | None = None
    slow_start: Literal["none", "first", "idle", "always"] | None = None
    half_duplex: tuple[str, ...] | None = None
    shared_access: Mapping[str, Rate] | None = None
    fat_pipes: tuple[str, ...] | None = None
    acks: str | None = None
    preset: Literal["none", "tcp"] | None = None
    core: Rate | None = None
    bandwidth: Literal["hop_share", "bottleneck"] = "hop_share"
    latency: Literal["per_path", "per_link"] = "per_path"
    routes: str | None = None
    routing: Literal["distance", "hops", "latency", "inverse_capacity"] = "distance"
    multipath_seed: int | None = None
    split_flows: bool = False
    internal_only: bool = False
    largest_component: bool = False

    def __post_init__(self) -> None:
        """Check files, quantities and the form of blocked pairs; lists, as JSON has them, become tuples."""
        self._check_files()
        self._take_preset()
        for field in ("silo_at", "blocked", "half_duplex", "fat_pipes"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, tuple(getattr(self, field)))
        for field in ("access", "access_up", "access_down"):
            if getattr(self, field) is not None:
                parse_quantity(field, getattr(self, field), "bit/s")
        for label, text in (self.access_at or {}).items():
            up_down(("access_at", label), text)
        if self.access_hub is not None:
            up_down(("access_hub",), self.access_hub)
        if self.window is not None:
            parse_quantity("window", self.window, "bit")
        for key, text in (self.window_at or {}).items():
            parse_quantity(("window_at", key), text, "bit")
        if self.streams < 1:
            raise InputError("must be >= 1.", field=Field("streams", value=self.streams))
        for key, number in (self.streams_at or {}).items():
            if number < 1:
                raise InputError("must be >= 1.", field=Field("streams_at", key, value=number))
        several = {"streams": self.streams, "streams_at": max((self.streams_at or {"": 1}).values())}
        for field, most in several.items():
            if most > 1 and self.window is None and not self.window_at and self.starts_at_once:
                raise InputError(
                    "needs a window or slow_start: without one a stream has no limit.",
                    field=Field(field, value=getattr(self, field)),
                )
        for key, text in (self.shared_access or {}).items():
            up_down(("shared_access", key), text)
        ack_share(self.acks)
        if self.routes == "":
            raise InputError("must be a path.", field=Field("routes", value=""))
        named_routing(self.routing, self.multipath_seed, split_flows=self.split_flows)
        if self.core not in (None, "stated"):
            parse_quantity("core", self.core, "bit/s")
        if self.silo_at is not None and not self.silo_at:
            raise InputError("must name a router.", field=Field("silo_at", value=[]))
        for pair in self.blocked or ():
            if not ARROW.search(pair):
                raise InputError(
                    "must be 'A - B', or 'A -> B' for one direction, with spaces.",
                    field=Field("blocked", value=pair),
                )

    @property
    def starts_at_once(self) -> bool:
        """Whether no message starts slowly."""
        return self.slow_start in (None, "none")

    def _take_preset(self) -> None:
        """Take what the preset says of keys that are not stated."""
        preset = transport(self.preset)
        if preset is None:
            return
        if self.window is None and not self.window_at:
            object.__setattr__(self, "window", preset.window)
        if self.slow_start is None:
            object.__setattr__(self, "slow_start", preset.slow_start)
        if self.acks is None:
            object.__setattr__(self, "acks", preset.acks)

    def _check_files(self) -> None:
        """Check that there is one network."""
        given = {name: getattr(self, name) for name in FILES if getattr(self, name) is not None}
        if self.underlay is None and not given:
            raise InputError("is missing.", field=Field("underlay"))
        if self.underlay is not None and given:
            name, path = next(iter(given.items()))
            raise InputError(
                "must not be given beside ",
                Field("underlay", value=self.underlay),
                ".",
                field=Field(name, value=path),
            )
        if given:
            NetworkFiles(**given)

    @property
    def files(self) -> NetworkFiles | None:
        """The tables of the network, if it is made of some."""
        if self.underlay is not None:
            return None
        return NetworkFiles(**{name: getattr(self, name) for name in FILES})

    @property
    def name(self) -> str:
        """Name of the network: of the underlay's file, or as its tables have it."""
        files = self.files
        if files is not None:
            return files.name
        path = Path(self.underlay or "")
        return (
            folder_name(path) if is_folder(path) and self.underlay not in shipped_underlays() else path.stem
        )

    def beside(self, folder: Path) -> "NetworkConfig":
        """The network with files found in a folder, where they are no paths from the working directory."""
        paths = {name: getattr(self, name) for name in PATHS}
        if self.underlay is not None and is_known_name(self.underlay):
            del paths["underlay"]  # whatever lies under that name, such as the results of a run
        found: dict[str, Any] = {**found_beside(folder, paths)}
        return replace(self, **found) if found else self

    def located(self) -> "NetworkConfig":
        """The network without its files' folders, which depend on where the command was given."""
        named: dict[str, Any] = {
            name: Path(path).name for name in PATHS if (path := getattr(self, name)) is not None
        }
        return replace(self, **named)

    def __repr__(self) -> str:
        """What is not at its default."""
        return f"NetworkConfig({', '.join(f'{name}={value!r}' for name, value in self.table().items())})"

    def table(self) -> dict[str, Any]:
        """The ``[network]`` table that makes this configuration, with the keys that are not at their defaults."""
        values = {own.name: getattr(self, own.name) for own in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value != _DEFAULTS[name]
        }

    @property
    def without_access(self) -> "NetworkConfig":
        """The same without what is stated of access links."""
        return replace(self, access=None, access_up=None, access_down=None, access_at=None, access_hub=None)

    def changed(self, **changes: str | bool | Mapping[str, str] | Sequence[str] | None) -> "NetworkConfig":
        """Copy with those changes that are not None.

        What `superseded` names loses its value.
        """
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        return replace(self, **{name: _DEFAULTS[name] for name in superseded(given)}, **given)


_DEFAULTS: Mapping[str, Any] = {own.name: own.default for own in fields(NetworkConfig)}


def superseded(names: Collection[str]) -> list[str]:
    """Fields of `NetworkConfig` that fall back to their defaults where others get a new value.

    A new `access` replaces all access capacities, a new `window` all windows, new `streams` all numbers of them. A new
    underlay, or tables of one, replaces those of the old one, with what names its places (`silo_at`, `blocked`,
    `window_at`, `streams_at`, `half_duplex`, `shared_access`, `fat_pipes`, `routes`), and what is left out of its file.

    Parameters
    ----------
    names : collection of str
        Fields that get a new value.
    """
    old: list[str] = []
    if not SOURCES.isdisjoint(names):
        old += [
            *SOURCES,
            "silo_at",
            "blocked",
            "window_at",
            "streams_at",
            "half_duplex",
            "shared_access",
            "fat_pipes",
            "routes",
            "internal_only",
            "largest_component",
        ]
    if "access" in names:
        old += ["access_up", "access_down", "access_at", "access_hub"]
    if "window" in names:
        old += ["window_at"]
    if "streams" in names:
        old += ["streams_at"]
    return sorted(set(old) - set(names))


def is_known_name(underlay: str) -> bool:
    """Whether an underlay is one of this package or of topohub, and no path."""
    return underlay in shipped_underlays() or underlay.startswith(PREFIX)


def build_underlay(config: NetworkConfig) -> Underlay:
    """The underlay that a network configuration names, with the routes that it states.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    underlay = load_underlay(
        config.files or config.underlay or "",
        variant=config.variant,
        internal_only=config.internal_only,
        largest_component=config.largest_component,
    )
    return underlay if config.routes is None else with_routes(underlay, config.routes)


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
    routers = silo_routers(underlay, config.silo_at)
    # Routes are those of all pairs of routers, whichever silos there are.
    for count, what in ((underlay.routers, "routers"), (len(routers), "silos")):
        check_count(count, MOST_SILOS, what)
    labels = silo_labels(underlay, routers)
    core = config.core if config.core in (None, "stated") else parse_quantity("core", config.core, "bit/s")
    if underlay.measured is not None:
        _check_no_routing(config, underlay)
    graph = connectivity(
        underlay,
        access=_access_links(config, underlay, routers, labels),
        core=core,
        bandwidth=config.bandwidth,
        latency=config.latency,
        routing=named_routing(config.routing, config.multipath_seed, split_flows=config.split_flows),
        routers=routers,
        blocked=[pair for text in config.blocked or () for pair in silo_pairs("blocked", labels, text)],
    )
    graph = with_windows_of(
        graph,
        None if config.window is None else parse_quantity("window", config.window, "bit"),
        config.streams,
        {
            key: parse_quantity(("window_at", key), text, "bit")
            for key, text in (config.window_at or {}).items()
        },
        config.streams_at or {},
    )
    if config.slow_start is not None and config.slow_start != "none":
        graph = with_slow_start(
            graph, config.slow_start, streams_by_pair(graph, config.streams, config.streams_at or {})
        )
    graph = with_rules_of(
        graph,
        half_duplex=config.half_duplex or (),
        shared_access=config.shared_access or {},
        fat_pipes=config.fat_pipes or (),
        acks=config.acks,
    )
    return graph if config.access_hub is None else _with_hub_link(graph, config)


def _check_no_routing(config: NetworkConfig, underlay: Underlay) -> None:
    """Raise an error for a routing of a network whose pairs are measured."""
    for name in ("routing", "multipath_seed", "split_flows"):
        value = getattr(config, name)
        if value != _DEFAULTS[name]:
            raise InputError(
                f"goes with a routed core; the pairs of {underlay.name} are measured.",
                field=Field(name, value=value),
            )


def _with_hub_link(graph: Connectivity, config: NetworkConfig) -> Connectivity:
    """The network with the hub's own access link; which silo is the hub does not depend on access links."""
    hub = default_hub(graph)
    label = graph.labels[hub]
    if label in (config.access_at or {}):
        raise InputError(
            f"must not be given beside access_hub(={config.access_hub!r}): {label} is the hub.",
            field=Field("access_at", label),
        )
    text = {label: config.access_hub or ""}
    access = AccessLinks(
        up_bps=access_at(graph.labels, graph.up_bps, text, "up"),
        down_bps=access_at(graph.labels, graph.down_bps, text, "down"),
    )
    return with_access(graph, access)


def with_access_of(config: NetworkConfig, graph: Connectivity) -> Connectivity:
    """A network with the access links of a configuration that differs from its own by these alone.

    Raises
    ------
    InputError
        If a quantity or label is wrong.
    """
    routers = graph.router.tolist()
    own = with_access(graph, _access_links(config, graph.underlay, routers, graph.labels))
    return own if config.access_hub is None else _with_hub_link(own, config)


def _access_links(
    config: NetworkConfig, underlay: Underlay, routers: Sequence[int], labels: Sequence[str]
) -> AccessLinks:
    """Capacities of the access links."""
    return AccessLinks(
        up_bps=access_at(labels, _access(config, underlay, routers, "up"), config.access_at, "up"),
        down_bps=access_at(labels, _access(config, underlay, routers, "down"), config.access_at, "down"),
    )


def _access(
    config: NetworkConfig, underlay: Underlay, routers: Sequence[int], direction: Literal["up", "down"]
) -> float | FloatArray:
    """Capacity of the access links in one direction: for all silos, or what the network's file states."""
    own = config.access_up if direction == "up" else config.access_down
    text = own or config.access
    if text is not None:
        return parse_quantity(f"access_{direction}" if own else "access", text, "bit/s")
    if underlay.sites is None:
        return DEFAULT_ACCESS_BPS
    stated = (underlay.sites.up_bps if direction == "up" else underlay.sites.down_bps)[list(routers)]
    return np.where(np.isnan(stated), DEFAULT_ACCESS_BPS, stated)


def silo_routers(underlay: Underlay, silo_at: Sequence[str] | None) -> list[int]:
    """Index of each silo's router, in the order of the routers, whatever the order of the texts."""
    if silo_at is None:
        return list(range(underlay.routers))
    for label in silo_at:
        if label not in underlay.labels:
            raise unknown_name("silo_at", label, underlay.labels)
    return sorted(underlay.labels.index(label) for label in silo_at)


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
    overhead : str, optional
        What headers add to the model on the wire: ``"tcp"``, ``"tls"`` or a share such as ``"5 %"``; see
        `scenarios.config.overhead`. By default nothing.
    compute : str, optional
        Computing time of one local step; overrides the preset and what the network's file states.
    compute_at : mapping from label to str, optional
        Silos whose computing time differs. All others have `compute`, else what the network's file states for the
        site, else the preset's.
    local_steps : int
        Local steps in a round.
    local_steps_at : mapping from label to int, optional
        Silos whose number of local steps differs.
    participation : str or int, optional
        Which silos make their local steps in a round, at random: each with a probability such as ``"50 %"``, or so many
        of them. The others only exchange and mix. By default all do.
    overlap : str, optional
        ``"backward"``: models leave layer by layer during the backward pass of the last local step; or the share of the
        step in which they do, such as ``"50 %"``; see `scenarios.config.overlap`. By default they leave after it.
    """

    preset: str | None = None
    model_size: Size | None = None
    overhead: str | None = None
    compute: Duration | None = None
    compute_at: Mapping[str, Duration] | None = None
    local_steps: int = 1
    local_steps_at: Mapping[str, int] | None = None
    participation: str | int | None = None
    overlap: str | None = None

    def __post_init__(self) -> None:
        """Check preset, quantities and local steps."""
        if self.preset is not None and self.preset not in workload_presets():
            raise unknown_name("preset", self.preset, workload_presets())
        if self.model_size is not None:
            parse_quantity("model_size", self.model_size, "bit", zero=True)
        overhead_factor(self.overhead)
        if self.compute is not None:
            parse_quantity("compute", self.compute, "s", zero=True)
        for label, text in (self.compute_at or {}).items():
            parse_quantity(("compute_at", label), text, "s", zero=True)
        if self.local_steps < 1:
            raise InputError("must be >= 1.", field=Field("local_steps", value=self.local_steps))
        for label, steps in (self.local_steps_at or {}).items():
            if steps < 1:
                raise InputError("must be >= 1.", field=Field("local_steps_at", label, value=steps))
        participation_of(self.participation)
        overlap_share(self.overlap)


def with_preset_of(network: NetworkConfig, workload: WorkloadConfig) -> WorkloadConfig:
    """The workload with the headers of the network's transport preset, where it states none."""
    preset = transport(network.preset)
    if preset is None or workload.overhead is not None:
        return workload
    return replace(workload, overhead=preset.overhead)


def build_workload(
    config: WorkloadConfig,
    variant: Variant,
    trained_bits: float | None = None,
    *,
    graph: Connectivity | None = None,
) -> Workload:
    """Workload of a configuration.

    Parameters
    ----------
    config : WorkloadConfig
    variant : {"corrected", "published"}
        Which model sizes a preset has.
    trained_bits : float, optional
        Size of the messages of what the scenario trains.
    graph : Connectivity, optional
        The network, whose file may state computing times; `compute_at` and `local_steps_at` need it.

    Returns
    -------
    Workload
        With one computing time for all silos, or one per silo where they differ.

    Raises
    ------
    InputError
        If model size or computing time is known from nowhere, a label is no silo's, or a quantity is wrong.
    """
    preset = Workload.preset(config.preset, variant=variant) if config.preset else None
    if config.model_size is not None:
        bits = parse_quantity("model_size", config.model_size, "bit", zero=True)
    elif preset is not None:
        bits = preset.model_bits
    elif trained_bits is not None:
        bits = trained_bits
    else:
        raise InputError("workload needs a preset or a model_size.")
    silos = 1 if graph is None else graph.silos
    compute_s = np.full(silos, np.nan if preset is None else float(np.asarray(preset.compute_s)))
    is_own = np.zeros(silos, dtype=bool)
    for stated_s in (_stated_compute(graph), _all_compute(config, silos), _compute_at(config, graph)):
        given = ~np.isnan(stated_s)
        compute_s[given], is_own[given] = stated_s[given], True
    if np.isnan(compute_s).any():
        if graph is None or np.isnan(compute_s).all():
            raise InputError("workload needs a preset or a compute time, for instance compute = '25.4 ms'.")
        missing = [graph.labels[silo] for silo in np.flatnonzero(np.isnan(compute_s)).tolist()]
        names = ", ".join(map(quoted, missing))
        example = f"compute_at = {{ {json.dumps(missing[0], ensure_ascii=False)} = '25.4 ms' }}"
        raise InputError(
            f"workload needs a preset, or a compute time for {names}: for instance {example}; compute = '25.4 ms' "
            "would hold for all silos."
        )
    is_one = (compute_s == compute_s[0]).all()
    return Workload(
        model_bits=bits * overhead_factor(config.overhead),
        compute_s=float(compute_s[0]) if is_one else compute_s,
        local_steps=_local_steps(config, graph),
        name=work_name(config, own_compute=bool(is_own.any())),
        overlap=overlap_share(config.overlap),
        participation=participation_of(config.participation, silos=None if graph is None else graph.silos),
    )


def silos_without_compute(config: WorkloadConfig, graph: Connectivity) -> tuple[str, ...]:
    """Labels of the silos whose computing time neither options, presets aside, nor the network's file states."""
    known = [_stated_compute(graph), _all_compute(config, graph.silos), _compute_at(config, graph)]
    return tuple(graph.labels[silo] for silo in np.flatnonzero(np.isnan(known).all(axis=0)).tolist())


def _stated_compute(graph: Connectivity | None) -> FloatArray:
    """The same of a network, or of nothing."""
    return np.full(1, np.nan) if graph is None else stated_compute(graph.underlay, graph.router.tolist())


def stated_compute(underlay: Underlay, routers: Sequence[int]) -> FloatArray:
    """Computing times of a local step by silo, in seconds, that the network's file states, NaN elsewhere."""
    if underlay.sites is None:
        return np.full(len(routers), np.nan)
    return underlay.sites.compute_s[list(routers)]


def _all_compute(config: WorkloadConfig, silos: int) -> FloatArray:
    """The computing time that is stated for all silos, NaN if none is."""
    given = config.compute
    return np.full(silos, np.nan if given is None else parse_quantity("compute", given, "s", zero=True))


def _compute_at(config: WorkloadConfig, graph: Connectivity | None) -> FloatArray:
    """Computing times that are stated for single silos, NaN elsewhere."""
    labels = () if graph is None else graph.labels
    compute_s = np.full(max(1, len(labels)), np.nan)
    for label, text in (config.compute_at or {}).items():
        if label not in labels:
            raise unknown_name("compute_at silo", label, labels)
        compute_s[labels.index(label)] = parse_quantity(("compute_at", label), text, "s", zero=True)
    return compute_s


def _local_steps(config: WorkloadConfig, graph: Connectivity | None) -> int | IntArray:
    """Local steps in a round: of all silos, or of each where some are stated to differ."""
    labels = () if graph is None else graph.labels
    steps = np.full(max(1, len(labels)), config.local_steps, dtype=np.int64)
    for label, number in (config.local_steps_at or {}).items():
        if label not in labels:
            raise unknown_name("local_steps_at silo", label, labels)
        steps[labels.index(label)] = number
    return steps if config.local_steps_at else config.local_steps


def work_name(config: WorkloadConfig, *, own_compute: bool) -> str:
    """Name of a workload in tables: a preset of which model or computing time is replaced is named for the other."""
    own_size = config.model_size is not None
    if config.preset is None:
        name = "custom" if own_size else "trained model"
    elif own_size:
        name = "custom" if own_compute else f"custom, compute of {config.preset}"
    else:
        name = f"custom, model of {config.preset}" if own_compute else config.preset
    more = (("overhead", config.overhead), ("overlap", config.overlap))
    return ", ".join((name, *(f"{key} {text}" for key, text in more if text is not None)))


def describe(graph: Connectivity, work: Workload, *, access: bool = True) -> str:
    """Three lines that say which network and workload a table is about, with or without access capacities."""
    underlay = graph.underlay
    silos = f"{graph.silos} silo{'s' if graph.silos > 1 else ''}"
    used = len(set(graph.router.tolist()))
    places = "" if graph.silos == underlay.routers == used else f" on {used} of {underlay.routers} routers"
    pairs = graph.silos * (graph.silos - 1)
    missing = pairs - int(graph.may_send.sum())
    if graph.is_measured:
        what = "bandwidth and latency" if graph.latency == "measured" else "bandwidth"
        between = f"{what} measured for {pairs - missing:,} of {pairs:,} pairs"
    else:
        barred = f"; {missing} arc{'s' if missing > 1 else ''} blocked" if missing else ""
        stated = underlay.stated_routes
        given = f", {len(stated)} routes stated" if stated is not None else ""
        between = f"{underlay.links} core links{given}{barred}"
    core = _measured(graph) if graph.is_measured else _core(graph)
    up, down = _span(graph.up_bps), _span(graph.down_bps)
    capacities = f"access {up if up == down else f'{up} up, {down} down'}; " if access else ""
    routing = routing_text(graph.routing)
    windows = f"{f'; {routing}' if routing else ''}{_windows(graph)}{_slow_start(graph)}{_rules(graph.rules)}"
    steps = f"{work.steps_text} local step{'' if work.steps_text == '1' else 's'}"
    return (
        f"{underlay_title(underlay)}: {silos}{places}, {between}\n"
        f"{capacities}{core}{windows}\n"
        f"{work.name}: {format_bits(work.model_bits)}{_compressed(work)}, {steps} of {_compute_span(work)}"
        f"{participation_text(work.participation, graph.silos)}"
    )


def _compressed(work: Workload) -> str:
    """Share of the model that a message is, where it is compressed."""
    return "" if work.message_share == 1 else f" ({100 * work.message_share:.3g} % of the model)"


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


def _windows(graph: Connectivity) -> str:
    """Smallest and largest rate that windows allow; empty without any."""
    if not len(graph.window_pairs) or graph.window_bps is None:
        return ""
    return f"; windows allow {_span(graph.link_capacity_bps[graph.first_window : graph.first_shared])}"


def _slow_start(graph: Connectivity) -> str:
    """Which messages start slowly; empty if none does."""
    return "" if graph.slow_start is None else f"; slow start {graph.slow_start.when}"


def _rules(rules: LinkRules) -> str:
    """Links that are half-duplex, shared or fat pipes, and acknowledgements; empty without any."""
    counts = (
        (len(rules.half_duplex), "half-duplex access link"),
        (len(rules.half_duplex_core), "half-duplex core link"),
        (len(rules.shared_access), "shared access link"),
        (len(rules.fat_pipes), "fat pipe"),
    )
    words = [f"; {count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
    acks = f"; acknowledgements {100 * rules.ack_share:g} %" if rules.ack_share else ""
    return "".join(words) + acks


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


def _compute_span(work: Workload) -> str:
    """One computing time, or the smallest and the largest."""
    low, high = (format_s(float(end(work.compute_s))) for end in (np.min, np.max))
    return low if low == high else f"{low} to {high}"


def _span(bps: FloatArray) -> str:
    """One rate, or the smallest and the largest."""
    low, high = format_rate(float(bps.min())), format_rate(float(bps.max()))
    return low if low == high else f"{low} to {high}"
