"""Command-line options that several commands share."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from scenarios.config.kinds import all_kinds
from scenarios.config.network import (
    FILES,
    NetworkConfig,
    WorkloadConfig,
    build_network,
    build_workload,
    with_preset_of,
)
from scenarios.config.scenario import validated
from scenarios.config.simulation import SimulationConfig
from topologies import (
    Connectivity,
    InputError,
    Workload,
    workload_presets,
)
from topologies.errors import Field, unknown_name

Options = ParamSpec("Options")

DEFAULT_PRESET = "inaturalist"

NETWORK_HELP = (
    "gaia, aws_na, geant, exodus, ebone, clouds, clouds_aws, topohub:NAME, or the path of a .gml, .graphml or .json "
    "file, of a folder of tables, of a table of measured pairs (.csv), or of a TOML file that names tables"
)
_LEFT_OUT = "Left out with --sites, --pairs or --bandwidth-matrix."
NETWORK_OR_SCENARIO_HELP = f"{NETWORK_HELP}; or that of a scenario (.toml). {_LEFT_OUT}"
Underlay = Annotated[str | None, typer.Argument(help=f"{NETWORK_HELP}. {_LEFT_OUT}")]
UnderlayOrScenario = Annotated[
    str | None, typer.Argument(metavar="NETWORK|SCENARIO", help=NETWORK_OR_SCENARIO_HELP)
]
SitesFile = Annotated[
    str | None,
    typer.Option(
        "--sites",
        help="CSV table of sites: name, latitude, longitude, access capacities, computing times. Goes with --links, "
        "--pairs or --bandwidth-matrix.",
    ),
]
LinksFile = Annotated[
    str | None,
    typer.Option("--links", help="CSV table of links between sites: both ends, capacity, length or latency."),
]
PairsFile = Annotated[
    str | None,
    typer.Option("--pairs", help="CSV table of measured pairs: from, to, bandwidth, latency or rtt."),
]
BandwidthMatrix = Annotated[
    str | None,
    typer.Option(
        "--bandwidth-matrix", help="CSV matrix of measured bandwidth, labels in first row and column."
    ),
]
LatencyMatrix = Annotated[
    str | None,
    typer.Option(
        "--latency-matrix", help="CSV matrix of measured latency; of round trips in a file named rtt."
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help=f"Overlay; repeat for several: {', '.join(all_kinds())}. stl_fw needs a scenario with [training]. "
        "[default: star, mst, delta_mbst, ring; the scenario's]",
    ),
]
_ARCS = "File of an overlay of your own: CSV (from, to, perhaps weight), GML or GraphML."
_WEIGHTS = "File of a mixing matrix, whose pattern are an overlay's arcs: CSV or .npy."
_SEVERAL = " Repeat for several."


def _overlay_file(text: str) -> Any:
    """Option that names a file of an overlay."""
    return typer.Option(help=text, metavar="FILE", rich_help_panel="Overlays")


Arcs = Annotated[list[str] | None, _overlay_file(_ARCS + _SEVERAL)]
ArcsFile = Annotated[str | None, _overlay_file(_ARCS)]
Weights = Annotated[list[str] | None, _overlay_file(_WEIGHTS + _SEVERAL)]
WeightsFile = Annotated[str | None, _overlay_file(_WEIGHTS)]
_SCHEDULE = "File of a periodic overlay: CSV (state, from, to, perhaps lag and weight)."
Schedules = Annotated[
    list[str] | None,
    typer.Option("--schedule", help=_SCHEDULE + _SEVERAL, metavar="FILE", rich_help_panel="Overlays"),
]
ScheduleFile = Annotated[str | None, _overlay_file(_SCHEDULE)]
BothWays = Annotated[
    bool,
    typer.Option(
        "--both-ways", help="Each row of --arcs stands for both directions.", rich_help_panel="Overlays"
    ),
]
Access = Annotated[
    str | None,
    typer.Option(
        help="Capacity of every access link, both directions, with unit. [default: what the network's table of sites "
        "states, 10 Gbps elsewhere]"
    ),
]
AccessUp = Annotated[str | None, typer.Option(help="Capacity of every uplink. [default: that of --access]")]
AccessDown = Annotated[
    str | None, typer.Option(help="Capacity of every downlink. [default: that of --access]")
]
AccessAt = Annotated[
    list[str] | None,
    typer.Option(
        help="A silo whose access link differs: 'DE=10 Mbps', or 'DE=100 Mbps up, 1 Gbps down'. Repeat for several."
    ),
]
AccessHub = Annotated[
    str | None,
    typer.Option(
        help="Access link of the silo that is the STAR's hub by default: '10 Gbps', or '10 Gbps up, 1 Gbps down'."
    ),
]
SiloAt = Annotated[
    list[str] | None,
    typer.Option(
        help="Router that a silo is attached to: once per silo, the same for several. [default: one silo on each]"
    ),
]
Blocked = Annotated[
    list[str] | None,
    typer.Option(help="Silos that cannot talk: 'A - B', or 'A -> B' for one direction. Repeat for several."),
]
Window = Annotated[
    str | None,
    typer.Option(
        help="Window of every stream, e.g. '4 MiB': a transfer sends one per stream and round trip. [default: no limit]"
    ),
]
WindowAt = Annotated[
    list[str] | None,
    typer.Option(
        help="Windows that differ, by receiver or pair: 'DE=2 MiB', 'DE -> FR=1 MiB', 'DE - FR=1 MiB'. Repeat for "
        "several."
    ),
]
Streams = Annotated[int, typer.Option(help="Parallel streams of every transfer, each with its window.")]
StreamsAt = Annotated[
    list[str] | None,
    typer.Option(help="Numbers of streams that differ, as --window-at has it: 'DE=4'. Repeat for several."),
]
SlowStart = Annotated[
    str | None,
    typer.Option(
        help="Which messages open their windows slowly: none, first, idle (also after idle times) or always. [default: "
        "none]"
    ),
]
HalfDuplex = Annotated[
    list[str] | None,
    typer.Option(
        help="Link that carries one direction at a time: access, core, a silo, or a core link 'DE - FR'. Repeat for "
        "several."
    ),
]
SharedAccess = Annotated[
    list[str] | None,
    typer.Option(
        help="Access link that silos share, beside their own: 'DE + FR=1 Gbps', '... up, ... down'. Repeat for several."
    ),
]
FatPipes = Annotated[
    list[str] | None,
    typer.Option(
        "--fat-pipe",
        help="Core link that gives each model its whole capacity: core for all, or 'DE - FR'. Repeat for several.",
    ),
]
Acks = Annotated[
    str | None,
    typer.Option(
        help="What acknowledgements put on the way back: tcp (1.84 %), or e.g. '2 %'. [default: nothing]"
    ),
]
TransportName = Annotated[
    str | None,
    typer.Option(
        help="Transport, tcp or none: headers, acknowledgements, window (3.3 MB), slow start, where not stated."
    ),
]
Core = Annotated[
    str | None,
    typer.Option(help="Capacity of every core link, or 'stated'. [default: as stated, 1 Gbps elsewhere]"),
]
Bandwidth = Annotated[str, typer.Option(help="Available bandwidth of a route: hop_share or bottleneck.")]
Latency = Annotated[str, typer.Option(help="Where the constant 4 ms count: per_path or per_link.")]
Routes = Annotated[
    str | None,
    typer.Option(
        "--routes",
        help="CSV table of routes: source, target, path (routers, between them ' - ', ';' or '>'). [default: all by "
        "--routing]",
    ),
]
Routing = Annotated[
    str, typer.Option(help="What routes are the shortest by: distance, hops, latency or inverse_capacity.")
]
MultipathSeed = Annotated[
    int | None,
    typer.Option(
        help="Spread flows over routes of equal cost, by a hash with this seed. [default: one route a pair]"
    ),
]
SplitFlows = Annotated[
    bool, typer.Option("--split-flows", help="Split each flow over all its routes of equal cost.")
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--workload",
        help="shakespeare, femnist, sentiment140, inaturalist, full_inaturalist. [default: inaturalist]",
    ),
]
ModelSize = Annotated[str | None, typer.Option(help="Model size instead of the workload's, e.g. '42.9 MB'.")]
Overhead = Annotated[
    str | None,
    typer.Option(
        help="What headers add to a model on the wire: tcp, tls (over TCP), or a share, e.g. '5 %'. [default: nothing]"
    ),
]
Overlap = Annotated[
    str | None,
    typer.Option(
        help="Send models while the last local step still runs: backward (layer by layer during its backward pass), or "
        "a share of the step, e.g. '50 %'. [default: after it]"
    ),
]
Compute = Annotated[
    str | None, typer.Option(help="Time of a local step instead of the workload's, e.g. '25 ms'.")
]
ComputeAt = Annotated[
    list[str] | None,
    typer.Option(help="A silo whose time of a local step differs: 'DE=25 ms'. Repeat for several."),
]
LocalSteps = Annotated[int, typer.Option(help="Local steps per round.")]
LocalStepsAt = Annotated[
    list[str] | None,
    typer.Option(help="A silo whose number of local steps differs: 'DE=5'. Repeat for several."),
]
InternalOnly = Annotated[
    bool,
    typer.Option(
        "--internal-only",
        help="Leave out external nodes (Internal 0), stubs without coordinates and self-loops; number equal labels.",
    ),
]
LargestComponent = Annotated[
    bool, typer.Option("--largest-component", help="Keep only the largest connected component.")
]
Published = Annotated[
    bool,
    typer.Option("--published", help="The paper's inputs: its link lengths, 1 Gbps core, its model sizes."),
]
UntilCi = Annotated[
    str | None, typer.Option(help="Stop when the 95 % interval is this narrow, for instance 0.1%.")
]
ComputeTimes = Annotated[
    str | None,
    typer.Option(
        help="Computing times: 'lognormal CV', 'exponential', 'FILE.csv' (a column per silo; or one, compute_s, to "
        "draw from with the seed), or 'FILE.csv repeat' (a column per silo)."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Of everything random. [default: the scenario's, or 0]")]
Sharing = Annotated[
    str,
    typer.Option(
        help="How messages share links: maxmin, equal (Eq. 3's constant rates), rtt_weighted (by round-trip time), or "
        "an installed model."
    ),
]
Queueing = Annotated[
    str, typer.Option(help="fifo: an arc sends one message at a time; overlap: several at once.")
]
_ENGINE = (
    "Engine of the simulation: auto, simpy (every job) or compiled (fast; maxmin, equal and rtt_weighted on a network "
    "that does not change)."
)
Engine = Annotated[str | None, typer.Option(help=f"{_ENGINE} [default: the scenario's, or auto]")]
RunEngine = Annotated[str | None, typer.Option(help=f"{_ENGINE} [default: the run's]")]
NetworkEngine = Annotated[str, typer.Option(help=_ENGINE)]
"""Of a command that takes no scenario."""
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Width = Annotated[
    str | None,
    typer.Option(
        "--width",
        help="Width of the figure, in in, cm, mm or pt: '3.5in' for a column of a paper, '10in' for a slide. "
        "[default: 7in]",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
NoVerify = Annotated[
    bool,
    typer.Option("--no-verify", help="Read a run without a look at its checksum: large files open at once."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """Network and workload of a command.

    Parameters
    ----------
    underlay : str
        As the user named it; of tables the name that the network has by theirs.
    network : NetworkConfig
    workload : WorkloadConfig
    """

    underlay: str
    network: NetworkConfig
    workload: WorkloadConfig

    def graph(self) -> Connectivity:
        """Connectivity graph of the network."""
        return build_network(self.network)

    def work(self, graph: Connectivity) -> Workload:
        """Workload on this graph of the network, whose file may state computing times."""
        return build_workload(self.workload, self.network.variant, graph=graph)


BEYOND_THE_NETWORK = (
    *(
        "access",
        "access_up",
        "access_down",
        "access_at",
        "access_hub",
        "blocked",
        "core",
        "bandwidth",
        "latency",
    ),
    *("window", "window_at", "streams", "streams_at", "slow_start"),
    *("half_duplex", "shared_access", "fat_pipes", "acks", "preset", "routes", "routing"),
    *("multipath_seed", "split_flows"),
    *(
        "workload",
        "model_size",
        "overhead",
        "compute",
        "compute_at",
        "local_steps",
        "local_steps_at",
        "overlap",
    ),
)
"""Options of a study on links, transfers and the workload, which do not change what a network's file states."""


def study_options(
    underlay: Underlay = None,
    sites: SitesFile = None,
    links: LinksFile = None,
    pairs: PairsFile = None,
    bandwidth_matrix: BandwidthMatrix = None,
    latency_matrix: LatencyMatrix = None,
    access: Access = None,
    access_up: AccessUp = None,
    access_down: AccessDown = None,
    access_at: AccessAt = None,
    access_hub: AccessHub = None,
    silo_at: SiloAt = None,
    blocked: Blocked = None,
    window: Window = None,
    window_at: WindowAt = None,
    streams: Streams = 1,
    streams_at: StreamsAt = None,
    slow_start: SlowStart = None,
    half_duplex: HalfDuplex = None,
    shared_access: SharedAccess = None,
    fat_pipes: FatPipes = None,
    acks: Acks = None,
    preset: TransportName = None,
    core: Core = None,
    bandwidth: Bandwidth = "hop_share",
    latency: Latency = "per_path",
    routes: Routes = None,
    routing: Routing = "distance",
    multipath_seed: MultipathSeed = None,
    split_flows: SplitFlows = False,
    workload: Preset = None,
    model_size: ModelSize = None,
    overhead: Overhead = None,
    compute: Compute = None,
    compute_at: ComputeAt = None,
    local_steps: LocalSteps = 1,
    local_steps_at: LocalStepsAt = None,
    overlap: Overlap = None,
    published: Published = False,
    internal_only: InternalOnly = False,
    largest_component: LargestComponent = False,
) -> Study:
    """Network and workload of the options."""
    files = {
        "sites": sites,
        "links": links,
        "pairs": pairs,
        "bandwidth_matrix": bandwidth_matrix,
        "latency_matrix": latency_matrix,
    }
    if underlay is None and not any(files.values()):
        raise InputError(
            "is missing: give its name or file, or --sites and --links, --pairs, or --bandwidth-matrix.",
            field=Field("network"),
        )
    network = validated(
        NetworkConfig,
        {
            "underlay": underlay,
            **files,
            "variant": "published" if published else "corrected",
            "access": access,
            "access_up": access_up,
            "access_down": access_down,
            "access_at": by_silo("access_at", access_at, CAPACITY_AT),
            "access_hub": access_hub,
            "silo_at": silo_at,
            "blocked": blocked,
            "window": window,
            "window_at": by_silo("window_at", window_at, WINDOW_AT),
            "streams": streams,
            "streams_at": numbers_by_silo("streams_at", streams_at, STREAMS_AT),
            "slow_start": slow_start,
            "half_duplex": half_duplex,
            "shared_access": by_silo("shared_access", shared_access, SHARED_ACCESS),
            "fat_pipes": fat_pipes,
            "acks": acks,
            "preset": preset,
            "core": core,
            "bandwidth": bandwidth,
            "latency": latency,
            "routes": routes,
            "routing": routing,
            "multipath_seed": multipath_seed,
            "split_flows": split_flows,
            "internal_only": internal_only,
            "largest_component": largest_component,
        },
    )
    if workload is not None and workload not in workload_presets():
        raise unknown_name("workload", workload, workload_presets())
    if None not in (workload, model_size, compute):
        raise InputError(
            f"workload(={workload!r}) must not be given with both --model-size and --compute, which replace it."
        )
    config = WorkloadConfig(
        preset=workload or DEFAULT_PRESET,
        model_size=model_size,
        overhead=overhead,
        compute=compute,
        compute_at=by_silo("compute_at", compute_at, TIME_AT),
        local_steps=local_steps,
        local_steps_at=numbers_by_silo("local_steps_at", local_steps_at, STEPS_AT),
        overlap=overlap,
    )
    return Study(
        underlay=network.name if underlay is None else underlay,
        network=network,
        workload=with_preset_of(network, config),
    )


def of_a_study(
    *, without: Sequence[str] = (), or_scenario: bool = False
) -> Callable[[Callable[Concatenate[Study, Options], None]], Callable[..., None]]:
    """Give a command the options of `study_options` in place of its first parameter, which they make.

    Parameters
    ----------
    without : sequence of str
        Options that the command does not have; they keep their defaults.
    or_scenario : bool
        Whether the first argument may be a scenario, as its help then says.
    """

    def decorate(command: Callable[Concatenate[Study, Options], None]) -> Callable[..., None]:
        parameters = inspect.signature(study_options).parameters
        shared = [p for name, p in parameters.items() if name not in without]
        if or_scenario:
            shared[0] = shared[0].replace(annotation=UnderlayOrScenario)
        own = list(inspect.signature(command).parameters.values())[1:]

        @functools.wraps(command)
        def with_options(**given: Any) -> None:
            if "more" in given and given.get("underlay") and _has_files(given):
                # The second of several values after one option stands in the place of the network's name.
                given |= {"more": [given["underlay"], *(given["more"] or [])], "underlay": None}
            study = study_options(**{p.name: given.pop(p.name) for p in shared})
            command(study, **given)  # type: ignore[call-arg]

        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*shared, *own)]
        # Typer reads a command's options from its signature.
        vars(with_options)["__signature__"] = inspect.Signature(every)
        return with_options

    return decorate


def _has_files(given: Mapping[str, Any]) -> bool:
    """Whether tables of a network are among the options."""
    return any(given.get(name) for name in FILES)


def simulation_config(rounds: int, sharing: str, queueing: str, engine: str) -> SimulationConfig:
    """Simulation configuration of the options."""
    given = {"rounds": rounds, "sharing": sharing, "queueing": queueing, "engine": engine}
    return validated(SimulationConfig, given)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """How the value of an option for single silos is written."""

    rule: str
    repeated: str


CAPACITY_AT = _Form(
    rule="must be SILO=CAPACITY, for instance 'DE=10 Mbps'",
    repeated="must name each silo once: 'DE=100 Mbps up, 1 Gbps down'",
)
WINDOW_AT = _Form(
    rule="must be SILO=WINDOW or PAIR=WINDOW, for instance 'DE=2 MiB' or 'DE -> FR=2 MiB'",
    repeated="must name each silo or pair once",
)
STREAMS_AT = _Form(
    rule="must be SILO=STREAMS or PAIR=STREAMS, for instance 'DE=4' or 'DE -> FR=4'",
    repeated="must name each silo or pair once",
)
STEPS_AT = _Form(
    rule="must be SILO=STEPS, for instance 'DE=5'",
    repeated="must name each silo once",
)
SHARED_ACCESS = _Form(
    rule="must be 'SILO + SILO=RATE', for instance 'DE + FR=1 Gbps'", repeated="must name the same silos once"
)
TIME_AT = _Form(rule="must be SILO=TIME, for instance 'DE=25 ms'", repeated="must name each silo once")


def by_silo(option: str, pairs: list[str] | None, form: _Form) -> dict[str, str] | None:
    """Silo to quantity, from texts such as ``DE=10 Mbps``."""
    if pairs is None:
        return None
    special = {}
    for pair in pairs:
        label, separator, quantity = pair.rpartition("=")
        if not separator:
            raise InputError(f"{option}(={pair!r}) {form.rule}.")
        if label.strip() in special:
            raise InputError(f"{option}(={pair!r}) {form.repeated}.")
        special[label.strip()] = quantity.strip()
    return special


_MOST_DIGITS = 18
"""Of whole numbers: all of these have 64 bits."""


def numbers_by_silo(option: str, pairs: list[str] | None, form: _Form) -> dict[str, int] | None:
    """Silo, or pair of streams, to whole number, from texts such as ``DE=4``."""
    given = by_silo(option, pairs, form)
    for key, text in (given or {}).items():
        if not text.isdecimal() or len(text) > _MOST_DIGITS:
            raise InputError("must be a whole number.", field=Field(option, key, value=text))
    return None if given is None else {key: int(text) for key, text in given.items()}
