"""How fast the designs are: ``python tests/benchmarks/topologies_speed.py`` prints seconds and ratios of one run."""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from topologies import (
    DESIGNERS,
    AccessLinks,
    EventGraph,
    Underlay,
    Workload,
    connectivity,
    cycle_time,
    design,
    design_random,
    load_underlay,
)

sys.path.insert(0, str(Path(__file__).parent))
import plain

FOUR = ("star", "mst", "delta_mbst", "ring")
LARGEST = {
    "underlay": 1000,
    "random_ring": 1000,
    "matcha_plus": 500,
    "christofides": 250,
    "best": 250,
    "complete": 250,
}
"""Other designers, and the number of silos up to which they are timed."""


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def geometric(silos: int) -> Underlay:
    """Planar network of random places on a square of 4,000 km."""
    places = np.random.default_rng(0).random((silos, 2)) * 4000
    triangles = Delaunay(places).simplices
    ends = np.unique(
        np.sort(np.concatenate([triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (0, 2))])), axis=0
    )
    unknown = np.full(silos, np.nan)
    return Underlay(
        name="geometric",
        variant="corrected",
        labels=tuple(map(str, range(silos))),
        latitude_deg=unknown,
        longitude_deg=unknown,
        ends=ends,
        length_km=np.hypot(*(places[ends[:, 0]] - places[ends[:, 1]]).T),
        capacity_bps=np.full(len(ends), np.nan),
    )


def ebone() -> None:
    """The four static designers and both MATCHAs on Ebone."""
    underlay = load_underlay("ebone", variant="published")
    access = AccessLinks(up_bps=1e10, down_bps=1e10)
    work = Workload.preset("inaturalist", variant="published")
    graph = connectivity(underlay, access=access)
    design("mst", graph, work)
    ours = seconds(lambda: [design(kind, connectivity(underlay, access=access), work) for kind in FOUR])
    for kind in FOUR:
        print(f"  {kind:<11} {seconds(lambda kind=kind: design(kind, graph, work)):7.3f} s")
    links = [
        (a, b, km) for (a, b), km in zip(underlay.ends.tolist(), underlay.length_km.tolist(), strict=True)
    ]

    def slow() -> None:
        complete = plain.connectivity_graph(87, links, 1e10, work.model_bits, 0.0254)
        plain.four_designers(complete, 1e10, work.model_bits, 0.0254, range(3, 88))

    theirs = seconds(slow)
    print(f"Ebone, four designers: {ours:.3f} s; plain Python: {theirs:.2f} s; ratio {theirs / ours:.0f}")
    both = seconds(lambda: [design_random(kind, graph, work) for kind in ("matcha", "matcha_plus")])
    print(f"Ebone, both MATCHAs: {both:.2f} s (the first use of cvxpy included)")


def growth() -> None:
    """Time against the number of silos."""
    sizes = (125, 250, 500, 1000)
    work = Workload.preset("inaturalist")
    times: dict[str, list[float]] = {"connectivity": [], **{kind: [] for kind in (*FOUR, *LARGEST)}}
    for silos in sizes:
        underlay, access = geometric(silos), AccessLinks(up_bps=1e9, down_bps=1e9)
        times["connectivity"].append(seconds(lambda: connectivity(underlay, access=access)))  # noqa: B023
        graph = connectivity(underlay, access=access)
        for kind in FOUR:
            times[kind].append(seconds(lambda: design(kind, graph, work)))  # noqa: B023
        for kind, largest in LARGEST.items():
            if silos <= largest:
                make = design if kind in DESIGNERS else design_random
                times[kind].append(seconds(lambda: make(kind, graph, work)))  # noqa: B023
    print(f"{'silos':<13}" + "".join(f"{silos:>9}" for silos in sizes) + "   exponent")
    for name, row in times.items():
        exponent = np.polyfit(np.log(sizes[: len(row)]), np.log(row), 1)[0]
        print(f"{name:<13}" + "".join(f"{value:8.3f}s" for value in row).ljust(36) + f"   {exponent:.2f}")
    total = sum(times[name][-1] for name in ("connectivity", *FOUR))
    memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"1,000 silos, connectivity and the first four: {total:.1f} s, {memory_gb:.2f} GB at most")


def random_digraph() -> None:
    """Cycle time of a strong digraph with 10,000 nodes and 100,000 arcs."""
    rng = np.random.default_rng(0)
    nodes, arcs = 10_000, 100_000
    source = np.concatenate((np.arange(nodes), rng.integers(0, nodes, arcs - nodes)))
    target = np.concatenate((np.roll(np.arange(nodes), -1), rng.integers(0, nodes, arcs - nodes)))
    graph = EventGraph(
        nodes=nodes,
        source=source,
        target=target,
        delay_s=rng.random(arcs),
        tokens=np.ones(arcs, dtype=np.int64),
    )
    print(f"cycle time, {nodes:,} nodes, {arcs:,} arcs: {seconds(lambda: cycle_time(graph)):.2f} s")


if __name__ == "__main__":
    ebone()
    random_digraph()
    growth()
