"""Records round starts that SimGrid gives on half-duplex links, on fat pipes and with cross-traffic.

``python tests/peers/simgrid_links.py > tests/simulator/data/simgrid_links.json``
"""

import json
import tempfile

import simgrid_peer
from peer_jobs import ruled_overlays

from simulator import overlay_job

CASES = (
    *(("half_duplex", "ring", 602), ("half_duplex", "complete", 611), ("fat_pipes", "tree", 608)),
    *(("fat_pipes", "random_digraph", 605), ("acks", "tree", 605), ("acks", "complete", 611)),
    ("half_duplex_with_acks", "tree", 602),
)
"""Rule, overlay and seed, where rules make a difference of seconds."""

ROUNDS = 5


def recorded(program):
    """All cases, each with what it takes to make network and overlay again."""
    return [_case(program, *each) for each in CASES]


def _case(program, rule, kind, seed):
    overlay, rules, _ = ruled_overlays(kind, seed, rule)
    graph, underlay = overlay.graph, overlay.graph.underlay
    return {
        "label": f"{rule}_{kind}",
        "ends": underlay.ends.tolist(),
        "length_km": underlay.length_km.tolist(),
        "capacity_bps": underlay.capacity_bps.tolist(),
        "access_bps": graph.up_bps.tolist(),
        "router": graph.router.tolist(),
        "half_duplex": graph.rules.half_duplex,
        "half_duplex_core": graph.rules.half_duplex_core,
        "fat_pipes": graph.rules.fat_pipes,
        "ack_share": graph.rules.ack_share,
        "model_bits": overlay.work.model_bits,
        "compute_s": overlay.work.compute_s.tolist(),
        "arcs": list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)),
        "round_start_s": simgrid_peer.round_starts(
            program, overlay_job(overlay, ROUNDS), None, rules
        ).tolist(),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = recorded(simgrid_peer.build(folder))
    about = (
        "By tests/peers/simgrid_links.py with SimGrid 3.32, model CM02 with weight-S 0, latencies 0, factors 1: both "
        "directions of half-duplex links are one link, the policy of fat pipes is FATPIPE, and crosstraffic is 1 where "
        "ack_share is 0.05. Routers and silos are numbered as here, access_bps is that of both directions, arcs are "
        "[source, target]; latencies are added on arrival."
    )
    print(json.dumps({"about": about, "cases": found}, separators=(",", ":")))
