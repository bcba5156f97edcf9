"""Write docs/link_options.csv and docs/windows.png: what links as they are do to closed forms and simulations.

    python tools/make_link_options.py

Of each option: overlays of the paper without it by its closed form, and simulated without and with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overhead import overhead_factor
from scenarios.config.overlap import BACKWARD
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from simulator import RoutedDemands, simulate
from topologies import (
    Connectivity,
    Overlay,
    Workload,
    build_overlay,
    design,
    load_underlay,
    published_underlays,
)
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.networks.window_fit import fit_windows
from topologies.routing import ShortestRoutes, shortest_routes
from topologies.traffic_loads import link_loads

DOCS = Path(__file__).parents[1] / "docs"
OPTIONS: Mapping[str, Mapping[str, object]] = {
    "window 4 MiB": {"window": "4 MiB"},
    "window 1 MiB": {"window": "1 MiB"},
    "routing hops": {"routing": "hops"},
    "routing inverse_capacity": {"routing": "inverse_capacity"},
    "routing hops, multipath": {"routing": "hops", "multipath_seed": 0},
    "routing hops, split": {"routing": "hops", "split_flows": True},
    "half-duplex access": {"half_duplex": ("access",)},
    "fat pipes": {"fat_pipes": ("core",)},
    "acknowledgements": {"acks": "tcp"},
    "slow start idle": {"slow_start": "idle"},
    "headers of tcp": {},
    "preset tcp": {"preset": "tcp"},
}
LARGER = ("headers of tcp", "preset tcp")
"""Options with which models have TCP's headers."""
SHARED, AROUND = "shared access, two by two", "routes from a file, around the first link"
SHARINGS = ("rtt_weighted",)
DEMANDS = {"demands 50 %": 0.5, "demands 90 %": 0.9}
"""Equal demands between all routers; how much of the fullest core link direction they take."""
OVERLAPS = {"overlap backward": "inaturalist", "overlap backward, full_inaturalist": "full_inaturalist"}
"""With the task; all others have inaturalist."""
ACCESS = ("100 Mbps", "1 Gbps", "10 Gbps")
KINDS = ("star", "mst", "delta_mbst", "ring")
ROUNDS = 2000


def on(overlay: Overlay, graph: Connectivity, work: Workload) -> Overlay:
    """The arcs of an overlay on another network, or with another workload."""
    arcs = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    return build_overlay(
        overlay.kind,
        graph,
        work,
        list(arcs),
        hub=overlay.hub,
        consensus=overlay.consensus,
    )


def shared_two_by_two(network: str, access: str) -> NetworkConfig:
    """Silos that share a second access link, of the capacity of one, with the next in the order of labels."""
    labels = build_network(NetworkConfig(underlay=network)).labels
    pairs = zip(labels[::2], labels[1::2], strict=False)
    return NetworkConfig(
        underlay=network, access=access, shared_access={f"{a} + {b}": access for a, b in pairs}
    )


def routes_around(network: str, path: Path) -> None:
    """Write routes of all pairs of routers around the first link of the usual one, where there are such."""
    underlay = load_underlay(network)
    usual = shortest_routes(underlay)
    labels = underlay.labels
    rows = ["source,target,path"]
    around: dict[int, ShortestRoutes] = {}
    for i, j in combinations(range(underlay.routers), 2):
        link = usual.links(i, j)[0] // 2
        if link not in around:
            open_bps = np.ones(underlay.links)
            open_bps[link] = 0.0
            around[link] = shortest_routes(underlay, open_bps)
        if link not in (direction // 2 for direction in around[link].links(i, j)):
            routers = " > ".join(labels[router] for router in around[link].nodes(i, j))
            rows.append(f"{labels[i]},{labels[j]},{routers}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def equal_demands(graph: Connectivity, share: float) -> RoutedDemands:
    """Equal demands between all routers, which take this part of the fullest core link direction."""
    labels = graph.underlay.labels
    source, target = np.nonzero(~np.eye(len(labels), dtype=bool))
    one = TrafficMatrices(
        labels=labels,
        places=labels,
        date_s=np.zeros(1),
        source=source,
        target=target,
        demand_bps=np.ones((1, len(source))),
    )
    fullest = (link_loads(one, graph)[0] / np.repeat(graph.core_bps, 2)).max()
    return RoutedDemands(matrices=one, scale=share / float(fullest))


def rows_of(network: str, access: str, folder: Path) -> list[dict[str, object]]:
    """Rows of one network with one capacity of all access links; the folder has its `routes_around`."""
    plain = NetworkConfig(underlay=network, access=access)
    graph, work = build_network(plain), Workload.preset("inaturalist")
    rows: list[dict[str, object]] = []
    others = {
        option: NetworkConfig(underlay=network, access=access, **keys)  # type: ignore[arg-type]
        for option, keys in OPTIONS.items()
    }
    others |= {
        SHARED: shared_two_by_two(network, access),
        AROUND: NetworkConfig(underlay=network, access=access, routes=str(folder / f"{network}.csv")),
    }
    for kind in KINDS:
        overlay = design(kind, graph, work)
        without_s = simulate(overlay, ROUNDS).cycle_time_s
        for option, other in others.items():
            factor = overhead_factor("tcp") if option in LARGER else 1.0
            own = on(overlay, build_network(other), replace(work, model_bits=factor * work.model_bits))
            with_s = simulate(own, ROUNDS).cycle_time_s
            rows.append(_row(option, access, overlay, own, (without_s, with_s)))
        for option in SHARINGS:
            with_s = simulate(overlay, ROUNDS, sharing=option).cycle_time_s
            rows.append(_row(option, access, overlay, overlay, (without_s, with_s)))
        for option, share in DEMANDS.items():
            with_s = simulate(overlay, ROUNDS, events=[equal_demands(graph, share)]).cycle_time_s
            rows.append(_row(option, access, overlay, overlay, (without_s, with_s)))
        for option, task in OVERLAPS.items():
            late = design(kind, graph, Workload.preset(task))
            early = on(late, graph, replace(late.work, overlap=BACKWARD))
            times_s = simulate(late, ROUNDS).cycle_time_s, simulate(early, ROUNDS).cycle_time_s
            rows.append(_row(option, access, late, early, times_s))
    return rows


def _row(
    option: str, access: str, overlay: Overlay, own: Overlay, simulated_s: tuple[float, float]
) -> dict[str, object]:
    """An overlay, what the option makes of it, and its simulated cycle times without and with the option."""
    without_s, with_s = simulated_s
    return {
        "option": option,
        "network": overlay.graph.underlay.name,
        "access": access,
        "overlay": overlay.kind,
        "paper_s": overlay.closed_forms.paper_s,
        "simulated_s": without_s,
        "paper_with_s": own.closed_forms.paper_s,
        "simulated_with_s": with_s,
        "with_over_paper": with_s / overlay.closed_forms.paper_s,
        "with_over_simulated": with_s / without_s,
    }


def draw_options(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """What each option makes of simulated cycle times: a panel for each capacity, a mark for each network."""
    options = list(dict.fromkeys(row["option"] for row in rows))
    figure = Figure(figsize=(9, 0.9 + 0.3 * len(options)), layout="constrained")
    panels = figure.subplots(1, len(ACCESS), sharex=True, sharey=True)
    marks = {"ring": ("o", "tab:blue", 0.2), "mst": ("^", "tab:green", 0.0), "star": ("s", "tab:red", -0.2)}
    for axes, access in zip(panels, ACCESS, strict=True):
        for kind, (marker, colour, shift) in marks.items():
            shown = [row for row in rows if row["access"] == access and row["overlay"] == kind]
            axes.plot(
                [float(row["with_over_simulated"]) for row in shown],
                [options.index(row["option"]) - shift for row in shown],
                marker,
                ms=4,
                mfc="none",
                color=colour,
                label=kind,
            )
        axes.axvline(1.0, color="0.6", lw=0.8)
        axes.set(xscale="log", title=f"access {access}", yticks=range(len(options)), yticklabels=options)
        axes.set_xticks([0.3, 1, 2, 5, 10, 20], labels=["0.3", "1", "2", "5", "10", "20"])
        axes.minorticks_off()
        axes.grid(axis="y", color="0.92")
    panels[0].invert_yaxis()
    panels[1].set_xlabel("simulated cycle time with the option over that without it")
    panels[-1].legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, dpi=110)


def draw_windows(path: Path) -> None:
    """Rate against round-trip time of all measured pairs of the clouds, and the two windows."""
    underlay = load_underlay("clouds")
    measured = underlay.measured
    assert measured is not None
    fit = fit_windows(measured, far_s=0.1, streams=1)
    trip_s = measured.latency_s + measured.latency_s.T
    both = (measured.bandwidth_bps > 0) & (measured.bandwidth_bps.T > 0) & (trip_s > 0)
    np.fill_diagonal(both, val=False)
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    times = np.geomspace(2e-3, 0.4, 100)
    for sites, name, colour in zip(fit.sizes(), ("AWS", "GCP"), ("tab:orange", "tab:blue"), strict=True):
        to = np.zeros_like(both)
        to[:, sites] = True
        shown = both & to
        axes.loglog(
            1e3 * trip_s[shown],
            measured.bandwidth_bps[shown] / 1e6,
            ".",
            ms=3,
            color=colour,
            label=f"to {name}",
        )
        window = float(np.median(fit.window_bits[sites]))
        axes.loglog(
            1e3 * times,
            window / times / 1e6,
            color=colour,
            lw=1,
            label=f"one window of {window / 8e6:.2f} MB per round trip",
        )
    axes.axvline(100, color="0.6", lw=0.8, ls="--")
    axes.set(
        xlabel="round-trip time (ms)", ylabel="rate of one stream (Mbps)", xlim=(2, 400), ylim=(10, 8000)
    )
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Simulate all of them, write the table and draw the figure."""
    rows: list[dict[str, object]] = []
    with TemporaryDirectory() as name:
        for network in published_underlays():
            routes_around(network, Path(name) / f"{network}.csv")
            for access in ACCESS:
                rows += rows_of(network, access, Path(name))
    write_tables(DOCS / "link_options.csv", [Table(caption="", columns=(), rows=rows)])
    draw_options(rows, DOCS / "link_options.png")
    draw_windows(DOCS / "windows.png")


if __name__ == "__main__":
    main()
