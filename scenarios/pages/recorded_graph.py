"""The network of a file: that of its configuration, with the numbers that the file holds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.config.network import NetworkConfig, build_network
from scenarios.runfile.reader import open_file
from topologies import Connectivity, InputError, Underlay
from topologies.arrays import freeze


def recorded_graph(path: Path, network: NetworkConfig, underlay: Underlay) -> Connectivity:
    """The network with the capacities and latencies that the file holds, whatever rule they come from.

    Parameters
    ----------
    path : Path
        The file of a run or of a validation.
    network : NetworkConfig
    underlay : Underlay

    Raises
    ------
    InputError
        If the file has another number of silos than its network.
    """
    graph = build_network(network, underlay)
    with open_file(path) as file:
        group = file["connectivity"]
        arrays = {
            name: group[name][:] for name in ("up_bps", "down_bps", "core_bps", "latency_s", "available_bps")
        }
        if "window_bps" in group:
            arrays["window_bps"] = group["window_bps"][:]
        rules: dict[str, Any] = {name: str(group.attrs[name]) for name in ("bandwidth", "latency")}
    if len(arrays["up_bps"]) != graph.silos:
        raise InputError(
            f"has {len(arrays['up_bps'])} silos, but its network {graph.silos}.", source=str(path)
        )
    freeze(*arrays.values())
    return replace(graph, **arrays, **rules)
