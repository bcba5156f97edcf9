"""Write docs/star_relay.csv: closed forms of a STAR whose models go along the MST in chunks, beside other overlays.

python tools/make_star_relay.py
"""

from pathlib import Path
from typing import get_args

from scenarios.report.table_formats import write_tables
from scenarios.report.tables import Table
from topologies import (
    AccessLinks,
    Workload,
    connectivity,
    design,
    load_underlay,
    published_underlays,
)
from topologies.analysis import relayed_star_s
from topologies.underlay import Variant

DOCS = Path(__file__).parents[1] / "docs"
ACCESS_BPS = (1e8, 1e9, 1e10)
CHUNKS = (1, 16, 1000)


def row_of(network: str, variant: Variant, access_bps: float) -> dict[str, object]:
    """Cycle times on one network with one capacity of all access links."""
    graph = connectivity(
        load_underlay(network, variant=variant), access=AccessLinks(up_bps=access_bps, down_bps=access_bps)
    )
    work = Workload.preset("inaturalist", variant=variant)
    star, mst, ring = (design(kind, graph, work) for kind in ("star", "mst", "ring"))
    assert star.hub is not None
    relayed = {f"relayed_{chunks}_s": relayed_star_s(mst, star.hub, chunks) for chunks in CHUNKS}
    best_s = min(relayed_star_s(mst, hub, CHUNKS[-1]) for hub in range(graph.silos))
    return {
        "network": network,
        "variant": variant,
        "access_bps": access_bps,
        "hub": graph.labels[star.hub],
        "mst_degree": mst.max_degree,
        "star_s": star.closed_forms.paper_s,
        **relayed,
        f"relayed_{CHUNKS[-1]}_best_hub_s": best_s,
        "mst_s": mst.closed_forms.paper_s,
        "ring_s": ring.closed_forms.paper_s,
    }


def main() -> None:
    """Write the table."""
    rows = [
        row_of(network, variant, access_bps)
        for variant in get_args(Variant)
        for network in published_underlays()
        for access_bps in ACCESS_BPS
    ]
    write_tables(DOCS / "star_relay.csv", [Table(caption="", columns=(), rows=rows)])


if __name__ == "__main__":
    main()
