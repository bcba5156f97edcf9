"""One network as a file of each format."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Blocks = Sequence[Mapping[str, Any]]


def _quoted(text: str) -> str:
    """A text of GML."""
    return '"' + escape(text, {'"': "&quot;"}) + '"'


def gml(nodes: Blocks, links: Blocks, directed: int = 0) -> str:
    """GML text."""

    def block(key: str, values: Mapping[str, Any]) -> str:
        lines = " ".join(
            f"{name} {_quoted(value) if isinstance(value, str) else repr(value)}"
            for name, value in values.items()
        )
        return f"  {key} [ {lines} ]\n"

    blocks = [*(block("node", node) for node in nodes), *(block("edge", link) for link in links)]
    return f"graph [\n  directed {directed}\n{''.join(blocks)}]\n"


def graphml(nodes: Blocks, links: Blocks, directed: int = 0) -> str:
    """GraphML text."""
    names = {
        (owner, name)
        for owner, blocks in (("node", nodes), ("edge", links))
        for block in blocks
        for name in block
    }
    ids = {key: f"d{i}" for i, key in enumerate(sorted(names))}
    keys = "".join(
        f'<key id="{key}" for="{owner}" attr.name={quoteattr(name)} attr.type="string"/>\n'
        for (owner, name), key in ids.items()
    )

    def data(owner: str, block: Mapping[str, Any]) -> str:
        return "".join(
            f'<data key="{ids[owner, name]}">{escape(str(value))}</data>'
            for name, value in block.items()
            if name not in ("id", "source", "target")
        )

    inner = "".join(
        f"<node id={quoteattr(str(node['id']))}>{data('node', node)}</node>\n" for node in nodes
    ) + "".join(
        f"<edge source={quoteattr(str(link['source']))} target={quoteattr(str(link['target']))}>"
        f"{data('edge', link)}</edge>\n"
        for link in links
    )
    way = "directed" if directed else "undirected"
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{keys}<graph edgedefault="{way}">\n{inner}'
        "</graph></graphml>\n"
    )


def node_link(nodes: Blocks, links: Blocks, directed: int = 0) -> str:
    """Node-link JSON text."""
    return json.dumps(
        {"directed": bool(directed), "nodes": [*map(dict, nodes)], "links": [*map(dict, links)]}
    )


FORMATS = {".gml": gml, ".graphml": graphml, ".json": node_link}


def write(folder: Path, ending: str, nodes: Blocks, links: Blocks, directed: int = 0) -> Path:
    """The network as a file."""
    path = folder / f"network{ending}"
    path.write_text(FORMATS[ending](nodes, links, directed), encoding="utf-8")
    return path
