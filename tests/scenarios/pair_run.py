"""The file of a run of two silos whose every date is known, with names that formats of files might stumble over."""

from pathlib import Path
from typing import Any

import numpy as np

from scenarios.config.network import NetworkConfig
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.writer import RunFile, RunHead
from scenarios.simulation.runner import run_job
from simulator import overlay_job
from topologies import AccessLinks, Underlay, Workload, build_overlay, connectivity

LABELS = ('Zürich, "HB" [red]', "$\\frac$; = 'São'")
OVERLAYS = ('both, "ways" [b]', "ring é")
ROUNDS = 10
ACCESS_BPS, CORE_BPS, BITS, COMPUTE_S = 1e8, 1e9, 1e6, 0.01
LATENCY_S = 0.0085e-3 * 100 + 0.004
CYCLE_S = COMPUTE_S + BITS / ACCESS_BPS + LATENCY_S
"""Both silos compute and send at the same time, on links of their own: the access links are the slowest."""


def pair_graph(**options: Any):
    """Two silos, 100 km apart."""
    underlay = Underlay(
        name="pair",
        variant="corrected",
        labels=LABELS,
        latitude_deg=np.zeros(2),
        longitude_deg=np.array([0.0, 1.0]),
        ends=np.array([[0, 1]]),
        length_km=np.array([100.0]),
        capacity_bps=np.array([CORE_BPS]),
    )
    return connectivity(underlay, access=AccessLinks(up_bps=ACCESS_BPS, down_bps=ACCESS_BPS), **options)


def write_pair_run(
    path: Path,
    *,
    history: dict[str, Any] | None = None,
    messages: bool = True,
    rounds: int = ROUNDS,
    scenario: str = 'name = "a, \\"b\\" [red]"',
    graph: Any = None,
) -> Path:
    """Simulate both directions of the pair, under two names, and write the training rows of both."""
    graph = pair_graph() if graph is None else graph
    work = Workload(model_bits=BITS, compute_s=COMPUTE_S)
    overlays = [build_overlay(name, graph, work, [(0, 1), (1, 0)]) for name in OVERLAYS]
    simulations = [(overlay, overlay_job(overlay, rounds)) for overlay in overlays]
    head = RunHead(scenario=scenario, network=NetworkConfig(underlay="gaia"), seed=0, graph=graph, work=work)
    rows = {} if history is None else dict.fromkeys(OVERLAYS, len(history["round"]))
    settings = SimulationConfig(rounds=rounds, messages=messages)
    with RunFile.create(path, head, simulations, settings=settings, rows=rows, force=False) as file:
        for overlay, job in simulations:
            outcome = run_job(job, overlay.kind, title=None, writer=file.simulation(overlay.kind))
            if history is not None:
                file.write_history(overlay.kind, history, outcome.last_start_s)
    return path
