"""How fast studies are: ``python tests/benchmarks/study_speed.py`` prints points per second, compiled against plain."""

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from scenarios.config.study import load_study
from scenarios.studies.study import study_points
from topologies import AccessLinks, Workload, connectivity, design, load_underlay
from topologies.compiled_designs import many_designs
from topologies.delays import pair_delays
from topologies.designers.compiled.tour_search import CompiledTourSearch
from topologies.designers.tour_search import TourSearch

KINDS = ("star", "mst", "delta_mbst", "ring", "christofides")
POINTS, FEW = 1000, 250
RUNS = 3
TARGET_S, TARGET_RATIO = 10.0, 1.8
"""Of all points by two workers, start included; of the steady points per second of two workers by those of one."""


def study_text(points: int) -> str:
    """A study of GEANT whose points all differ in the access capacity, so that each designs all its overlays."""
    bps = ", ".join(f'"{value:.6f} Mbps"' for value in np.geomspace(10, 10_000, points))
    kinds = ", ".join(f'"{kind}"' for kind in KINDS)
    return (
        '[network]\nunderlay = "geant"\n[workload]\npreset = "inaturalist"\n'
        f'[overlays]\nkinds = [{kinds}]\n[study.grid]\n"network.access" = [{bps}]\n'
    )


def study_s(folder: Path, points: int, workers: int) -> tuple[float, float]:
    """Wall-clock time of the command, its start included, and CPU time of all its processes."""
    file, table = folder / f"{points}.toml", folder / f"{points}-{workers}.csv"
    file.write_text(study_text(points))
    table.unlink(missing_ok=True)
    command = [sys.executable, "-c", "from scenarios.cli.main import main; main()", "study", str(file)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, "-o", str(table), "--workers", str(workers)], check=True, capture_output=True)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def studies(folder: Path) -> bool:
    """Print the times of studies; whether both targets are met by the best runs."""
    study_s(folder, 20, 1)  # compiles what an installation compiles once
    runs: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for _ in range(RUNS):
        for workers in (1, 2):
            for points in (FEW, POINTS):
                runs.setdefault((points, workers), []).append(study_s(folder, points, workers))
    same = (folder / f"{POINTS}-1.csv").read_bytes() == (folder / f"{POINTS}-2.csv").read_bytes()
    best_s = {case: min(wall_s for wall_s, _ in times) for case, times in runs.items()}
    steady = {n: (POINTS - FEW) / (best_s[POINTS, n] - best_s[FEW, n]) for n in (1, 2)}
    print(f"{f'{POINTS} points, {len(KINDS)} overlays':<32}   best  median     CPU  points/s  steady")
    for workers in (1, 2):
        wall_s, cpu_s = zip(*runs[POINTS, workers], strict=True)
        print(
            f"{workers} worker{'s' if workers > 1 else ' '}{min(wall_s):28.2f} s{statistics.median(wall_s):6.2f} s"
            f"{min(cpu_s):6.2f} s{POINTS / min(wall_s):10.0f}{steady[workers]:8.0f}"
        )
    ratio = steady[2] / steady[1]
    print(
        f"2 workers: {best_s[POINTS, 2]:.2f} s (target {TARGET_S:g} s), steady {ratio:.2f} x 1 (target {TARGET_RATIO})"
    )
    print(f"the same bytes: {'yes' if same else 'NO'}")
    return same and ratio >= TARGET_RATIO and best_s[POINTS, 2] <= TARGET_S


def checks(folder: Path) -> None:
    """Print how long points are checked before any is computed."""
    for points in (1000, 10_000):
        file = folder / f"{points}.toml"
        file.write_text(study_text(points))
        study = load_study(file)
        began = time.process_time()
        study_points(study)
        print(f"{points} points checked: {time.process_time() - began:.2f} s of CPU time")


def cpu_ms(work: Callable[[], Any]) -> float:
    """CPU time of a call, the least of some."""
    least = float("inf")
    for _ in range(5):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return 1e3 * least


def compiled() -> bool:
    """Print compiled against plain code; whether both find the same."""
    work, underlay = Workload.preset("inaturalist"), load_underlay("geant")
    graphs = [
        connectivity(underlay, access=AccessLinks(up_bps=bps, down_bps=bps))
        for bps in np.geomspace(1e7, 1e10, 4)
    ]
    agree = True
    print(f"{'GEANT, mean of 4 capacities':<32}{'plain':>11}{'compiled':>11}{'ratio':>7}  agree")
    rows: dict[str, Callable[[], list[Any]]] = {
        kind: lambda kind=kind: [design(kind, graph, work) for graph in graphs]  # type: ignore[misc]
        for kind in KINDS
    }
    for name, make in rows.items():
        times, found = [], []
        for block in (nullcontext, many_designs):
            with block():
                make()
                times.append(cpu_ms(make) / len(graphs))
                found.append([(o.closed_forms, o.source.tolist(), o.target.tolist()) for o in make()])
        agree &= found[0] == found[1]
        line(f"design {name}", *times, found[0] == found[1])
    costs = pair_delays(graphs[1], work)
    searches = TourSearch.of(costs), CompiledTourSearch.of(costs)
    tour = searches[0].improved(list(range(len(costs))))
    tours = [search.perturbed(tour, 500, 0) for search in searches]
    times = [cpu_ms(lambda search=search: search.perturbed(tour, 500, 0)) for search in searches]  # type: ignore[misc]
    line("local search, 500 restarts", *times, tours[0] == tours[1])
    return agree and tours[0] == tours[1]


def line(what: str, plain_ms: float, compiled_ms: float, agree: bool) -> None:
    """Print one row."""
    ratio = plain_ms / compiled_ms
    print(f"{what:<32}{plain_ms:8.2f} ms{compiled_ms:8.2f} ms{ratio:7.1f}  {'yes' if agree else 'NO'}")


def main() -> int:
    """Print all; 1 where a target is missed or results differ."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}, load {load:.1f}")
    agree = compiled()
    with tempfile.TemporaryDirectory() as name:
        checks(Path(name))
        met = studies(Path(name))
    return 0 if agree and met else 1


if __name__ == "__main__":
    sys.exit(main())
