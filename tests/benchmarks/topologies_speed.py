"""How fast the designs are: ``python tests/benchmarks/topologies_speed.py`` prints seconds and ratios of one run."""

import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import networkx as nx
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
from topologies.analysis import explain
from topologies.bounds import lower_bound_s
from topologies.designers.activation import Matchings, activation_probabilities, best_alpha
from topologies.designers.enrich import enrich

sys.path.insert(0, str(Path(__file__).parent))
import plain
import plain_cycle_time
import plain_matcha

FOUR = ("star", "mst", "delta_mbst", "ring")
LARGEST = {
    "underlay": 1000,
    "random_ring": 1000,
    "matcha": 500,
    "matcha_plus": 500,
    "matcha_ring": 500,
    "matcha_delta_mbst": 500,
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


def median(work: Callable[[], Any], runs: int = 3) -> float:
    """Median wall-clock time of some calls."""
    return statistics.median(seconds(work) for _ in range(runs))


def line(what: str, ours_s: float, plain_s: float | None = None, agree: bool | None = None) -> bool:
    """Print one row; whether both sides agree."""
    theirs = "" if plain_s is None else f"{plain_s:10.3f} s{plain_s / ours_s:8.0f}x"
    print(f"{what:<34}{ours_s:9.3f} s{theirs}" + ("" if agree is None else "  yes" if agree else "   NO"))
    return agree is not False


def machine() -> None:
    """Print what the times depend on."""
    print(f"{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}")
    names = ("numpy", "scipy", "networkx", "cvxpy", "scs", "clarabel")
    print(" ".join(f"{name} {version(name)}" for name in names))
    print("ours: median of 3 runs; plain Python: one run")
    print(f"{'':<34}{'ours':>11}{'plain':>12}{'ratio':>9}  agree")


def ebone() -> bool:
    """Designers on Ebone; whether they agree with plain Python."""
    underlay = load_underlay("ebone", variant="published")
    access = AccessLinks(up_bps=1e10, down_bps=1e10)
    work = Workload.preset("inaturalist", variant="published")
    graph = connectivity(underlay, access=access)
    kinds = (*FOUR[:3], "christofides")
    designed = [design(kind, graph, work) for kind in (*kinds, "ring")]
    values = [overlay.closed_forms.paper_s for overlay in designed]
    links = [
        (a, b, km) for (a, b), km in zip(underlay.ends.tolist(), underlay.length_km.tolist(), strict=True)
    ]
    theirs: list[float] = []

    def slow() -> None:
        complete = plain.connectivity_graph(87, links, 1e10, work.model_bits, 0.0254)
        theirs.extend(plain.four_designers(complete, 1e10, work.model_bits, 0.0254, range(3, 88)))

    plain_s = seconds(slow)
    # Our ring is another algorithm, so that it need only be as fast as Christofides' one.
    agree = bool(np.allclose(values[:4], theirs, rtol=1e-9, atol=0)) and values[4] <= theirs[3]
    ours_s = median(lambda: [design(kind, connectivity(underlay, access=access), work) for kind in FOUR])
    agree = line("Ebone: star, MST, delta-MBST, RING", ours_s, plain_s, agree)
    for kind in (*FOUR, "christofides"):
        line(f"  {kind}", median(lambda kind=kind: design(kind, graph, work)))
    design_random("matcha_ring", graph, work)
    for kind, edges in (
        ("matcha", nx.complete_graph(87).edges),
        ("matcha_plus", [link[:2] for link in links]),
    ):
        ours_s = median(lambda kind=kind: design_random(kind, graph, work))
        found: list[Any] = []
        network = nx.empty_graph(87)
        network.add_edges_from(edges)
        plain_s = seconds(lambda network=network, found=found: found.extend(plain_matcha.matcha(network)))
        agree &= line(f"Ebone: {kind}", ours_s, plain_s, same_matcha(87, *found))
    for kind in ("mst", "ring"):
        overlay = design(kind, graph, work)
        line(f"Ebone: enrich {kind}", median(lambda overlay=overlay: enrich(overlay), 1))
        line(f"Ebone: explain {kind}", median(lambda overlay=overlay: explain(overlay)))
    line("Ebone: lower bound", median(lambda: lower_bound_s(graph, work)))
    line("Ebone: best (1 run)", median(lambda: design("best", graph, work), 1))
    return agree


def same_matcha(nodes: int, found: Any, probability: Any, value: float, alpha: float, norm: float) -> bool:
    """Whether our programs on the same matchings agree: 1% in connectivity and alpha, 0.001 in the norm."""
    matchings = Matchings(
        nodes=nodes,
        edges=np.array([edge for matching in found for edge in matching]),
        number=np.repeat(np.arange(len(found)), [len(matching) for matching in found]),
        count=len(found),
    )
    _, best, _ = activation_probabilities(matchings, 0.5)
    our_alpha, our_norm = best_alpha(matchings, probability)
    some = 1 - np.prod(1 - probability)
    pairs = (
        (best, value, 1e-2 * best),
        (our_alpha, alpha, 1e-2 * our_alpha),
        (1 - (1 - our_norm) * some, norm, 1e-3),
    )
    return all(abs(ours - theirs) <= tolerance for ours, theirs, tolerance in pairs)


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
    memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    for silos in sizes:
        graph = connectivity(geometric(silos), access=AccessLinks(up_bps=1e9, down_bps=1e9))
        for kind, largest in LARGEST.items():
            if silos <= largest:
                make = design if kind in DESIGNERS else design_random
                times[kind].append(seconds(lambda: make(kind, graph, work)))  # noqa: B023
    print("Random geometric underlay, each timed once")
    print(f"{'silos':<17}" + "".join(f"{silos:>9}" for silos in sizes) + "   exponent")
    for name, row in times.items():
        exponent = np.polyfit(np.log(sizes[: len(row)]), np.log(row), 1)[0]
        print(f"{name:<17}" + "".join(f"{value:8.3f}s" for value in row).ljust(36) + f"   {exponent:.2f}")
    total = sum(times[name][-1] for name in ("connectivity", *FOUR))
    print(f"1,000 silos, connectivity and the first four: {total:.1f} s, {memory_gb:.2f} GB at most")


def random_digraph() -> bool:
    """Cycle time of a strong digraph with 10,000 nodes and 100,000 arcs, ours and plain."""
    rng = np.random.default_rng(0)
    nodes, arcs = 10_000, 100_000
    source = np.concatenate((np.arange(nodes), rng.integers(0, nodes, arcs - nodes)))
    target = np.concatenate((np.roll(np.arange(nodes), -1), rng.integers(0, nodes, arcs - nodes)))
    delay_s = rng.random(arcs)
    tokens = np.ones(arcs, dtype=np.int64)
    graph = EventGraph(nodes=nodes, source=source, target=target, delay_s=delay_s, tokens=tokens)
    plain_arcs = list(zip(source.tolist(), target.tolist(), delay_s.tolist(), strict=True))
    found: list[float] = []
    plain_s = seconds(lambda: found.append(plain_cycle_time.cycle_time(plain_arcs)))
    agree = bool(np.isclose(found[0], cycle_time(graph).cycle_time_s, rtol=1e-9, atol=0))
    return line("cycle time, 100,000 arcs", median(lambda: cycle_time(graph)), plain_s, agree)


if __name__ == "__main__":
    machine()
    agreed = [random_digraph(), ebone()]
    growth()
    sys.exit(0 if all(agreed) else 1)
