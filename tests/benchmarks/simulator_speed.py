"""How fast jobs are simulated, with SimGrid in the same run: ``python tests/benchmarks/simulator_speed.py``."""

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simulator import Job, RoutedDemands, overlay_job, simulate
from simulator.compiled.engine import CompiledEngine
from topologies import (
    AccessLinks,
    Connectivity,
    Overlay,
    Workload,
    build_overlay,
    connectivity,
    design,
    load_underlay,
)
from topologies.analysis.upgrade_links import on_graph
from topologies.arrays import FloatArray
from topologies.link_rules import LinkRules, SharedAccess
from topologies.networks.traffic_matrices import TrafficMatrices
from topologies.routings import named_routing
from topologies.slow_start import with_slow_start
from topologies.traffic_loads import link_loads
from topologies.windows import with_windows

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
import simgrid_peer
from topologies_speed import geometric

ENGINES = ("simpy", "compiled")
CASES = (
    ("geant", "ring", "10 Gbps", 2000),
    ("geant", "mst", "10 Gbps", 2000),
    ("geant", "ring", "100 Mbps", 2000),
    ("geant", "mst", "100 Mbps", 2000),
    ("ebone", "ring", "10 Gbps", 2000),
    ("ebone", "mst", "10 Gbps", 2000),
    ("ebone", "complete", "10 Gbps", 3),
)
"""Underlay, overlay, access links and rounds: 2,000, unless SimGrid would need minutes for them."""

Changed = Callable[[Connectivity], Connectivity]


def on(change: Changed) -> Callable[[Overlay, int], Job]:
    """Make jobs of an overlay's arcs on a network that is changed."""
    return lambda overlay, rounds: overlay_job(on_graph(overlay, change(overlay.graph)), rounds)


def ruled(rules: Callable[[Connectivity], LinkRules]) -> Callable[[Overlay, int], Job]:
    """Make jobs with rules of links."""
    return on(lambda graph: replace(graph, rules=rules(graph)))


def pairs_that_share(graph: Connectivity) -> LinkRules:
    """Silos that share an access link two by two, each of the capacity of one."""
    return LinkRules(
        shared_access=tuple(
            SharedAccess(silos=(i, i + 1), up_bps=float(graph.up_bps[i]), down_bps=float(graph.down_bps[i]))
            for i in range(0, graph.silos - 1, 2)
        )
    )


def split(graph: Connectivity) -> Connectivity:
    """The network with flows split over all routes of as few hops."""
    return connectivity(
        graph.underlay,
        access=AccessLinks(up_bps=graph.up_bps, down_bps=graph.down_bps),
        routing=named_routing("hops", split_flows=True),
    )


def with_overlap(overlay: Overlay, rounds: int) -> Job:
    """A job whose models leave during the backward pass."""
    arcs = list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    return overlay_job(
        build_overlay(overlay.kind, overlay.graph, replace(overlay.work, overlap=2 / 3), arcs), rounds
    )


def with_demands(overlay: Overlay, rounds: int) -> Job:
    """A job among demands between all routers, another matrix each minute, which take a fifth of the fullest link."""
    graph = overlay.graph
    labels = graph.underlay.labels
    source, target = np.nonzero(~np.eye(len(labels), dtype=bool))
    matrices = TrafficMatrices(
        labels=labels,
        places=labels,
        date_s=60.0 * np.arange(60),
        source=source,
        target=target,
        demand_bps=np.random.default_rng(0).uniform(0.5, 1.0, (60, len(source))),
    )
    fullest = float((link_loads(matrices, graph) / np.repeat(graph.core_bps, 2)).max())
    return overlay_job(
        overlay, rounds, events=[RoutedDemands(matrices=matrices, scale=0.2 / fullest, repeat=True)]
    )


OPTIONS: dict[str, Callable[[Overlay, int], Job]] = {
    "none": overlay_job,
    "4 MiB window": on(lambda graph: with_windows(graph, 2**25)),
    "slow start": on(lambda graph: with_slow_start(graph, "idle")),
    "rtt_weighted": lambda overlay, rounds: overlay_job(overlay, rounds, sharing="rtt_weighted"),
    "overlap": with_overlap,
    "half-duplex": ruled(lambda graph: LinkRules(half_duplex=tuple(range(graph.silos)))),
    "shared access": ruled(pairs_that_share),
    "fat pipes": ruled(lambda graph: LinkRules(fat_pipes=tuple(range(len(graph.core_bps))))),
    "acks": ruled(lambda _: LinkRules(ack_share=0.0184)),
    "split flows": on(split),
    "demands": with_demands,
}
"""Jobs with each option of links."""
SIZES = (100, 250, 500, 1000)
BPS = {"10 Gbps": 1e10, "100 Mbps": 1e8}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall-clock seconds, the best of three unless one takes seconds, and what the call gave."""
    seconds = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - began)
        if seconds > 2:
            break
    return seconds, result


def complete_arcs(silos: int) -> list[tuple[int, int]]:
    """Arcs between all silos."""
    return [(i, j) for i in range(silos) for j in range(silos) if i != j]


def published(name: str, kind: str, access: str) -> Overlay:
    """An overlay on the paper's inputs."""
    graph = connectivity(
        load_underlay(name, variant="published"),
        access=AccessLinks(up_bps=BPS[access], down_bps=BPS[access]),
    )
    work = Workload.preset("inaturalist", variant="published")
    if kind == "complete":
        return build_overlay(kind, graph, work, complete_arcs(graph.silos))
    return design(kind, graph, work)


def every_round(overlay: Overlay, rounds: int) -> FloatArray:
    """Round starts of the compiled engine without copying rounds that are known to repeat."""
    engine = CompiledEngine(overlay_job(overlay, rounds), 256, fast_forward=False)
    return np.concatenate([block.round_start_s for block in iter(engine.advance, None)])


RUNS: dict[str, Callable[[Overlay, int], FloatArray]] = {
    "simpy": lambda overlay, rounds: simulate(overlay, rounds, engine="simpy").round_start_s,
    "compiled": every_round,
    "  repeats copied": lambda overlay, rounds: simulate(overlay, rounds, engine="compiled").round_start_s,
}
"""Round starts with ``maxmin``, and by what."""


def difference(ours: FloatArray, theirs: FloatArray) -> float:
    """Largest relative difference of any t_i(k), k > 0."""
    return float(np.max(np.abs(ours[1:] / theirs[1:] - 1)))


def compare(peer: Path | None) -> None:
    """Print one row per case and engine.

    SimGrid's wall time leaves out its start and its reading of the case; ours is that of the whole call.
    """
    print(f"{'':<19}{'':>6}  messages/s in thousands      times SimGrid  largest")
    print(
        f"{'case':<19}{'rounds':>6} {'SimGrid':>8}{'maxmin':>9}{'equal':>9}{'maxmin':>8}{'equal':>8}  difference"
    )
    for name, kind, access, rounds in CASES:
        overlay = published(name, kind, access)
        print(f"{name} {kind}, {access}")
        theirs, starts = float("nan"), None
        if peer is not None:
            job = overlay_job(overlay, rounds)
            wall_s = min(simgrid_peer.wall_s(peer, job) for _ in range(3 if kind != "complete" else 1))
            theirs = rounds * len(overlay.source) / wall_s
            starts = simgrid_peer.round_starts(peer, job)
        for label, run in RUNS.items():
            messages = rounds * len(overlay.source)
            engine = "simpy" if label == "simpy" else "compiled"
            maxmin_s, ours = timed(lambda: run(overlay, rounds))  # noqa: B023
            equal_s, _ = timed(lambda: simulate(overlay, rounds, engine=engine, sharing="equal"))  # noqa: B023
            maxmin, equal = messages / maxmin_s, messages / equal_s
            peers, ratios, apart = "-", f"{'-':>8}{'-':>8}", "-"
            if starts is not None:
                peers, apart = f"{theirs / 1e3:.1f}", f"{difference(ours, starts):.0e}"
                ratios = f"{maxmin / theirs:8.1f}{equal / theirs:8.1f}"
            print(
                f"  {label:<17}{rounds:>6} {peers:>8}{maxmin / 1e3:9.1f}{equal / 1e3:9.1f}{ratios}{apart:>12}",
                flush=True,
            )


def options(peer: Path | None) -> None:
    """Print messages per second of the compiled engine with each option of links, and SimGrid's without any."""
    print("\nmessages/s in thousands, compiled, with options of links; SimGrid without them")
    overlays = [(published(name, kind, access), rounds) for name, kind, access, rounds in CASES[:6]]
    for place, (name, kind, access, _) in enumerate(CASES[:6], 1):
        print(f"{place}: {name} {kind}, {access}")
    print(f"{'':<16}" + "".join(f"{place:>9}" for place in range(1, 1 + len(overlays))))
    if peer is not None:
        speeds = (
            rounds * overlay.arcs / simgrid_peer.wall_s(peer, overlay_job(overlay, rounds))
            for overlay, rounds in overlays
        )
        print(f"{'SimGrid':<16}" + "".join(f"{speed / 1e3:9.1f}" for speed in speeds), flush=True)
    for option, job_of in OPTIONS.items():
        shown = ""
        for overlay, rounds in overlays:
            job = job_of(overlay, rounds)
            seconds, _ = timed(
                lambda: list(iter(CompiledEngine(job, 256, fast_forward=False).advance, None))  # noqa: B023
            )
            shown += f"{rounds * overlay.arcs / seconds / 1e3:9.1f}"
        print(f"{option:<16}{shown}", flush=True)


def large(silos: int, kind: str, engine: str) -> tuple[float, float]:
    """Seconds for 200 rounds with ``maxmin``, and the peak memory of this process in GB."""
    graph = connectivity(geometric(silos), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    work = Workload.preset("inaturalist")
    if kind == "ring":
        overlay = design("ring", graph, work)
    else:
        orders = [np.random.default_rng(seed).permutation(silos).tolist() for seed in range(4)]
        arcs = {arc for order in orders for arc in zip(order, order[1:] + order[:1], strict=True)}
        overlay = build_overlay(kind, graph, work, sorted(arcs))
    if engine == "compiled":
        simulate(overlay, 1, engine=engine)
    began = time.perf_counter()
    simulate(overlay, 200, engine=engine)
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def growth() -> None:
    """Time and memory against the number of silos, each in a process of its own."""
    print("\n200 rounds with maxmin on random geometric underlays, access links of 1 Gbps")
    print(f"{'silos':<26}" + "".join(f"{silos:>9}" for silos in SIZES) + "  exponent  memory")
    spawn = multiprocessing.get_context("spawn")
    # SimPy would need an hour for the digraph, where nearly all models share links.
    for kind, engines in (("ring", ENGINES), ("degree-4 digraph", ("compiled",))):
        for engine in engines:
            rows = []
            for silos in SIZES:
                with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                    rows.append(pool.submit(large, silos, kind, engine).result())
            seconds = [row[0] for row in rows]
            exponent = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
            print(
                f"{kind + ', ' + engine:<26}"
                + "".join(f"{value:8.2f}s" for value in seconds)
                + f"{exponent:10.2f}{rows[-1][1]:5.2f} GB",
                flush=True,
            )


def main() -> None:
    """Print all tables."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            peer = simgrid_peer.build(folder)
        except simgrid_peer.NoSimGridError as reason:
            peer = None
            print(f"Without SimGrid: {reason}")
        warm = published("gaia", "ring", "10 Gbps")
        for engine in ENGINES:
            began = time.perf_counter()
            for sharing in ("maxmin", "equal"):
                simulate(warm, 1, engine=engine, sharing=sharing)
            print(f"first use of engine {engine!r}: {time.perf_counter() - began:.1f} s")
        compare(peer)
        options(peer)
    growth()


if __name__ == "__main__":
    main()
