"""Command-line options that several commands share."""

from typing import Annotated

import typer

from scenarios.config import SimulationConfig, validated
from scenarios.network import NetworkConfig, WorkloadConfig
from topologies import InputError, workload_presets
from topologies.errors import unknown_name

Underlay = Annotated[
    str, typer.Argument(help="gaia, aws_na, geant, exodus, ebone, or the path of a GML file.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Overlay; repeat for several. [default: star, mst, delta_mbst, ring]"),
]
Access = Annotated[str, typer.Option(help="Capacity of every access link, both directions, with unit.")]
AccessAt = Annotated[
    list[str] | None, typer.Option(help="A silo whose access link differs: 'DE=10 Mbps'. Repeat for several.")
]
Core = Annotated[
    str | None,
    typer.Option(help="Capacity of every core link, or 'stated'. [default: as stated, 1 Gbps elsewhere]"),
]
Bandwidth = Annotated[str, typer.Option(help="Available bandwidth of a route: hop_share or bottleneck.")]
Latency = Annotated[str, typer.Option(help="Where the constant 4 ms count: per_path or per_link.")]
Preset = Annotated[
    str, typer.Option("--workload", help="shakespeare, femnist, sentiment140, inaturalist, full_inaturalist.")
]
ModelSize = Annotated[str | None, typer.Option(help="Model size instead of the workload's, e.g. '42.9 MB'.")]
Compute = Annotated[
    str | None, typer.Option(help="Time of a local step instead of the workload's, e.g. '25 ms'.")
]
LocalSteps = Annotated[int, typer.Option(help="Local steps per round.")]
Published = Annotated[
    bool,
    typer.Option("--published", help="The paper's inputs: its link lengths, 1 Gbps core, its model sizes."),
]
Rounds = Annotated[int, typer.Option(help="Rounds to simulate.")]
Sharing = Annotated[
    str, typer.Option(help="How messages share links: maxmin, or equal (Eq. 3's constant rates).")
]
Queueing = Annotated[
    str, typer.Option(help="fifo: an arc sends one message at a time; overlap: several at once.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


def network_config(
    underlay: str,
    published: bool,
    *,
    access: str,
    access_at: list[str] | None,
    core: str | None,
    bandwidth: str,
    latency: str,
) -> NetworkConfig:
    """Network configuration of the options."""
    return validated(
        NetworkConfig,
        {
            "underlay": underlay,
            "variant": "published" if published else "corrected",
            "access": access,
            "access_at": access_at_mapping(access_at),
            "core": core,
            "bandwidth": bandwidth,
            "latency": latency,
        },
    )


def workload_config(
    preset: str, model_size: str | None, compute: str | None, local_steps: int
) -> WorkloadConfig:
    """Workload configuration of the options."""
    if preset not in workload_presets():
        raise unknown_name("workload", preset, workload_presets())
    return WorkloadConfig(preset=preset, model_size=model_size, compute=compute, local_steps=local_steps)


def simulation_config(rounds: int, sharing: str, queueing: str) -> SimulationConfig:
    """Simulation configuration of the options."""
    return validated(SimulationConfig, {"rounds": rounds, "sharing": sharing, "queueing": queueing})


def access_at_mapping(pairs: list[str] | None) -> dict[str, str] | None:
    """Silo to capacity, from texts such as ``DE=10 Mbps``."""
    if pairs is None:
        return None
    special = {}
    for pair in pairs:
        label, separator, quantity = pair.rpartition("=")
        if not separator:
            raise InputError(f"access_at(={pair!r}) must be SILO=CAPACITY, for instance 'DE=10 Mbps'.")
        special[label.strip()] = quantity.strip()
    return special
