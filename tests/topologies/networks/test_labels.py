"""Labels with blanks and line ends, which nobody can type, in every format."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, load_underlay
from topologies.networks.labels import one_line
from topologies.overlay_files import read_matrix, read_overlay

LABELS = ("Cahul", "New York", "Oslo")
AS_WRITTEN = ("       Cahul", "New\n  York\t", "\u00a0Oslo ")


def gml(labels):
    nodes = "\n".join(f'node [ id {i}\nlabel "{label}"\n]' for i, label in enumerate(labels))
    return f"graph [\n{nodes}\nedge [ source 0 target 1 distance 1.0 ]\nedge [ source 1 target 2 distance 1.0 ]\n]\n"


def graphml(labels):
    nodes = "".join(f'<node id="{i}"><data key="l">{label}</data></node>' for i, label in enumerate(labels))
    links = "".join(
        f'<edge source="{i}" target="{i + 1}"><data key="d">1</data></edge>' for i in range(len(labels) - 1)
    )
    return (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="node" attr.name="label"/>'
        f'<key id="d" for="edge" attr.name="distance"/><graph edgedefault="undirected">{nodes}{links}</graph></graphml>'
    )


def node_link(labels):
    nodes = [{"id": i, "name": label} for i, label in enumerate(labels)]
    links = [{"source": i, "target": i + 1, "dist": 1} for i in range(len(labels) - 1)]
    return json.dumps({"nodes": nodes, "links": links})


GRAPHS = {".gml": gml, ".graphml": graphml, ".json": node_link}


@given(st.text(st.sampled_from("ab \t\r\n\u00a0\u2028"), max_size=9))
def test_a_label_on_one_line_has_the_same_words_and_single_blanks(text):
    line = one_line(text)

    assert line.split(" ") == (text.split() or [""])
    assert one_line(line) == line


@pytest.mark.parametrize("ending", GRAPHS)
def test_graphs(tmp_path, ending):
    path = tmp_path / f"zoo{ending}"
    path.write_text(GRAPHS[ending](AS_WRITTEN), encoding="utf-8")
    assert load_underlay(path).labels == LABELS
    # Which are equal is seen once they are clean.
    path.write_text(GRAPHS[ending](("Cahul", " Cahul", "Oslo")), encoding="utf-8")
    with pytest.raises(InputError, match=r"label\(='Cahul'\) of node .* must be unique"):
        load_underlay(path)
    assert load_underlay(path, internal_only=True).labels == ("Cahul", "Cahul/2", "Oslo")


def quoted_cells(*rows):
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


def write(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text(quoted_cells(*rows), encoding="utf-8")
    return folder


def test_tables(tmp_path):
    sites = [("site", "lat", "lon"), *((label, i, i) for i, label in enumerate(AS_WRITTEN))]
    links = [("a", "b"), ("Cahul", AS_WRITTEN[1]), LABELS[1:]]
    linked = load_underlay(write(tmp_path / "linked", sites=sites, links=links))
    assert (linked.labels, linked.ends.tolist()) == (LABELS, [[0, 1], [1, 2]])

    rows = [(a, b, 1, 1) for a in AS_WRITTEN[:2] for b in LABELS[:2] if one_line(a) != b]
    measured = write(tmp_path / "measured", pairs=[("from", "to", "mbps", "ms"), *rows])
    assert load_underlay(measured).labels == load_underlay(measured / "pairs.csv").labels == LABELS[:2]

    bandwidth = [("", *LABELS), *((label, 1, 2, 3) for label in AS_WRITTEN)]
    rtt = [("", *AS_WRITTEN), *((label, 1, 2, 3) for label in LABELS)]
    assert load_underlay(write(tmp_path / "m", bandwidth_mbps=bandwidth, rtt_ms=rtt)).labels == LABELS
    with pytest.raises(
        InputError, match="is one matrix; a network takes one of bandwidth and one of latency"
    ):
        load_underlay(tmp_path / "m" / "rtt_ms.csv")

    twice = write(tmp_path / "linked", sites=[("site", "x"), ("A  B", 1), ("A B", 2)])
    with pytest.raises(InputError, match=r"row 3, site\(='A B'\) must be unique, is in row 2, too"):
        load_underlay(twice)


def test_overlays(tmp_path):
    path = tmp_path / "arcs.graphml"
    path.write_text(graphml(AS_WRITTEN), encoding="utf-8")
    assert read_overlay(path, LABELS)[0].tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    path = tmp_path / "arcs.csv"
    path.write_text(quoted_cells(("from", "to"), (AS_WRITTEN[1], AS_WRITTEN[2])), encoding="utf-8")
    assert read_overlay(path, LABELS)[0].tolist() == [[1, 2]]
    path = tmp_path / "W.csv"
    path.write_text(
        quoted_cells(("", *AS_WRITTEN), *((a, *row) for a, row in zip(AS_WRITTEN, np.eye(3), strict=True))),
        encoding="utf-8",
    )
    assert np.array_equal(read_matrix(path, LABELS), np.eye(3))
