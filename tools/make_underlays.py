"""Write the GML files of the shipped underlays from JSON facts.

    python tools/make_underlays.py FACTS_DIR [OUT_DIR]

A fact file holds `name`, `description`, `node_fields`, `nodes`, `link_fields` and `links` (rows in the order
of the fields). The output depends on the facts alone, byte for byte.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import networkx as nx

from topologies import load_underlay
from topologies.geodesy import geodesic_km

DATA = Path(__file__).resolve().parents[1] / "topologies" / "data"


def underlay_gml(facts: dict[str, Any]) -> str:
    """GML text of one underlay, with nodes and links in the order of the facts."""
    nodes = [dict(zip(facts["node_fields"], row, strict=True)) for row in facts["nodes"]]
    links = [dict(zip(facts["link_fields"], row, strict=True)) for row in facts["links"]]
    graph = nx.Graph(name=facts["name"], description=facts["description"])
    for index, node in enumerate(nodes):
        # The facts keep the order of the published files, by which the published tables break ties.
        order = {"published_index": index}
        graph.add_node(node["label"], place=node["place"], region=node["region"], **order, **degrees(node))
    for link in links:
        source, target = nodes[link["source_index"]], nodes[link["target_index"]]
        graph.add_edge(source["label"], target["label"], **link_attributes(link, source, target))
    facts_order = [
        (nodes[link["source_index"]]["label"], nodes[link["target_index"]]["label"]) for link in links
    ]
    if list(graph.nodes) != [node["label"] for node in nodes] or list(graph.edges) != facts_order:
        raise SystemExit(f"{facts['name']}: networkx would write these nodes or links in another order.")
    return "\n".join(nx.generate_gml(graph)) + "\n"


def degrees(node: dict[str, Any]) -> dict[str, float]:
    """Coordinates under the names that the Internet Topology Zoo uses."""
    return {"Latitude": float(node["latitude_deg"]), "Longitude": float(node["longitude_deg"])}


def link_attributes(link: dict[str, Any], source: dict[str, Any], target: dict[str, Any]) -> dict[str, float]:
    """True and published length in km, and the capacity in bit/s where one is stated."""
    attributes = {
        "distance": geodesic_km(*degrees(source).values(), *degrees(target).values()),
        "published_distance": float(link["published_distance_km"]),
    }
    if link["stated_capacity_bps"] is not None:
        attributes["capacity"] = float(link["stated_capacity_bps"])
    return attributes


def main() -> None:
    """Write one GML file per fact file and read it back."""
    parser = argparse.ArgumentParser(
        description="Write the GML files of the shipped underlays from JSON facts."
    )
    parser.add_argument("facts_dir", type=Path)
    parser.add_argument("out_dir", type=Path, nargs="?", default=DATA)
    arguments = parser.parse_args()
    for path in sorted(arguments.facts_dir.glob("*.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        out = arguments.out_dir / f"{facts['name']}.gml"
        out.write_text(underlay_gml(facts), encoding="ascii", newline="\n")
        underlay = load_underlay(out)
        print(f"{out}: {underlay.routers} routers, {underlay.links} links")


if __name__ == "__main__":
    main()
