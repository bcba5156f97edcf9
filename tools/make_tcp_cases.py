"""Write docs/tcp_cases.csv: what ``--preset tcp`` makes of overlays on networks like one that was measured.

    python tools/make_tcp_cases.py

Rounds were measured on real TCP, on five routers with six links of 20 to 100 Mbit/s and 2.6 to 17 ms, access links of
20 to 50 Mbit/s and computing of 50 ms. The capacities of that network are not known one by one, so that 20 are drawn.
"""

import sys
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np

from scenarios.config.link_rules import ack_share
from scenarios.config.overhead import overhead_factor
from scenarios.config.transport_preset import TRANSPORTS
from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from simulator import simulate
from topologies import Connectivity, Overlay, Workload, build_overlay, design
from topologies.link_rules import LinkRules
from topologies.quantities import parse_quantity
from topologies.slow_start import with_slow_start
from topologies.windows import with_windows

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "topologies"))
from measured_network import measured_like

DOCS = Path(__file__).parents[1] / "docs"
TCP = TRANSPORTS["tcp"]
NETWORKS = 20
COMPUTE_S = 0.05
MEGABYTES = (0.25, 1.0, 4.0)
KINDS = ("ring", "mst", "star", "complete")
ROUNDS = 300


def on_tcp(graph: Connectivity) -> Connectivity:
    """The network with the preset."""
    windowed = with_windows(graph, parse_quantity("window", TCP.window, "bit"))
    slow = with_slow_start(windowed, TCP.slow_start)
    return replace(slow, rules=LinkRules(ack_share=ack_share(TCP.acks)))


def overlay_of(kind: str, graph: Connectivity, work: Workload) -> Overlay:
    """A kind's overlay, or that of all pairs."""
    if kind == "complete":
        return build_overlay(kind, graph, work, list(permutations(range(graph.silos), 2)))
    return design(kind, graph, work)


def rows_of(seed: int) -> list[dict[str, object]]:
    """Rows of one network: cycle times without headers by `paper`, with them simulated, and with the whole preset."""
    graph, rows = measured_like(seed), []
    for kind in KINDS:
        for megabytes in MEGABYTES:
            bare = Workload(model_bits=8e6 * megabytes, compute_s=COMPUTE_S)
            work = replace(bare, model_bits=bare.model_bits * overhead_factor(TCP.overhead))
            plain = overlay_of(kind, graph, work)
            arcs = list(zip(plain.source.tolist(), plain.target.tolist(), strict=True))
            preset = build_overlay(kind, on_tcp(graph), work, arcs, hub=plain.hub, consensus=plain.consensus)
            plain_s, preset_s = (simulate(each, ROUNDS).cycle_time_s for each in (plain, preset))
            rows.append(
                {
                    "network": seed,
                    "overlay": kind,
                    "model_mb": megabytes,
                    "paper_s": plain.closed_forms.paper_s,
                    "simulated_s": plain_s,
                    "preset_s": preset_s,
                    "preset_over_simulated": preset_s / plain_s,
                    "simulated_over_paper": plain_s / plain.closed_forms.paper_s,
                }
            )
    return rows


def main() -> None:
    """Simulate all of them, write the table, and print medians with the smallest and largest."""
    rows = [row for seed in range(NETWORKS) for row in rows_of(seed)]
    write_tables(DOCS / "tcp_cases.csv", [Table(caption="", columns=(), rows=rows)])
    for kind in KINDS:
        for megabytes in MEGABYTES:
            own = [row for row in rows if row["overlay"] == kind and row["model_mb"] == megabytes]
            shown = []
            for name in ("preset_over_simulated", "simulated_over_paper"):
                values = np.array([row[name] for row in own], dtype=np.float64)
                shown.append(f"{np.median(values):.3f} ({values.min():.3f}-{values.max():.3f})")
            print(f"{kind:<9} {megabytes:>5} MB  {'  '.join(shown)}")


if __name__ == "__main__":
    main()
