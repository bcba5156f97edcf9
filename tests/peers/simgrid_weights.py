"""Records round starts that SimGrid gives with weights of latencies and capacities.

``python tests/peers/simgrid_weights.py > tests/simulator/data/simgrid_weights.json``
"""

import json
import tempfile

import simgrid_peer
from peer_jobs import MODELS, weighted_job

from simulator import make_job

SEEDS = {"ring": 3, "tree": 6, "random_digraph": 8, "complete": 1}
"""Of each overlay, one with few silos and constant computing times."""

ROUNDS = 5


def recorded(program):
    """All cases, each with what it takes to simulate it again."""
    cases = []
    for model in MODELS:
        for overlay, seed in SEEDS.items():
            values, weights = weighted_job(overlay, seed, model, waits=True, rounds=ROUNDS)
            job = make_job(**values)
            cases.append(
                {
                    "label": f"{model}_{overlay}",
                    "reference_bits": weights.reference_bits,
                    "message_bits": job.message_bits,
                    "compute_s": job.compute.compute_s.tolist(),
                    "link_capacity_bps": job.link_capacity_bps,
                    "arcs": [[arc.source, arc.target, arc.latency_s, arc.links] for arc in job.arcs],
                    "round_start_s": simgrid_peer.round_starts(program, job, weights).tolist(),
                }
            )
    return cases


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = recorded(simgrid_peer.build(folder))
    about = (
        "By tests/peers/simgrid_weights.py with SimGrid 3.32, model CM02 with weight-S reference_bits (in the unit of "
        "message_bits), factors 1, crosstraffic 0. Messages overlap. As in simgrid_fluid.json otherwise; arcs: "
        "[source, target, latency_s, [link indices]], where latency_s is the sum over the links."
    )
    print(json.dumps({"about": about, "cases": found}, separators=(",", ":")))
