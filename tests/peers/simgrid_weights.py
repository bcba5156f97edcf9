"""Records round starts that SimGrid gives with weights of latencies and capacities, and with windows.

``python tests/peers/simgrid_weights.py > tests/simulator/data/simgrid_weights.json``
"""

import json
import tempfile
from math import inf

import simgrid_peer
from peer_jobs import MODELS, weighted_job, windowed_job

from simulator import make_job

SEEDS = {"ring": 3, "tree": 6, "random_digraph": 8, "complete": 1}
"""Of each overlay, one with few silos and constant computing times."""

WINDOW_SEEDS = {"ring": 405, "tree": 405, "random_digraph": 405, "complete": 401}
"""The same of jobs with windows."""

ROUNDS = 5


def recorded(program):
    """All cases, each with what it takes to simulate it again."""
    weighted = [
        (f"{model}_{overlay}", *weighted_job(overlay, seed, model, waits=True, rounds=ROUNDS))
        for model in MODELS
        for overlay, seed in SEEDS.items()
    ]
    windowed = [
        (f"windows_{overlay}", *windowed_job(overlay, seed, "LV08", rounds=ROUNDS))
        for overlay, seed in WINDOW_SEEDS.items()
    ]
    return [_case(program, *each) for each in weighted + windowed]


def _case(program, label, values, weights):
    """One case; its windows follow from their size."""
    job = make_job(**values)
    links = len(weights.link_latency_s)
    window = {} if weights.gamma_bits == inf else {"window_bits": weights.gamma_bits}
    return {
        "label": label,
        "reference_bits": weights.reference_bits,
        **window,
        "message_bits": job.message_bits,
        "compute_s": job.compute.compute_s.tolist(),
        "link_capacity_bps": job.link_capacity_bps[:links],
        "arcs": [[arc.source, arc.target, arc.latency_s, arc.links[: arc.route_length]] for arc in job.arcs],
        "round_start_s": simgrid_peer.round_starts(program, job, weights).tolist(),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = recorded(simgrid_peer.build(folder))
    about = (
        "By tests/peers/simgrid_weights.py with SimGrid 3.32, model CM02 with weight-S reference_bits (in the unit of "
        "message_bits), factors 1, crosstraffic 0. Messages overlap. As in simgrid_fluid.json otherwise; arcs: "
        "[source, target, latency_s, [link indices]], where latency_s is the sum over the links. With TCP-gamma "
        "window_bits where it is given: no message is faster than window_bits / (2 * latency_s)."
    )
    print(json.dumps({"about": about, "cases": found}, separators=(",", ":")))
