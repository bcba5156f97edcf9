"""The order of nodes and links in a file changes no design, and neither do the numbers of silos."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topologies
from topologies import (
    DESIGNERS,
    RANDOM_DESIGNERS,
    AccessLinks,
    InputError,
    Underlay,
    Workload,
    connectivity,
    design,
    design_random,
    load_underlay,
    make_schedule,
)
from topologies.bounds import lower_bound_s
from topologies.designers.enrich import enrich

DATA = Path(topologies.__file__).parent / "data"
WORK = Workload.preset("inaturalist")
OPTIONS = {"best": {"iterations": 400}}


def torus(width: int, height: int) -> str:
    """GML text of a torus of equal links: every design is full of ties."""
    nodes = [
        f'  node [\n    id {x * height + y}\n    label "{x}.{y}"\n  ]\n'
        for x in range(width)
        for y in range(height)
    ]
    links = [
        f"  edge [\n    source {x * height + y}\n    target {target}\n    distance 100.0\n  ]\n"
        for x in range(width)
        for y in range(height)
        for target in ((x + 1) % width * height + y, x * height + (y + 1) % height)
    ]
    return "graph [\n" + "".join(nodes + links) + "]\n"


def shuffled(text: str, seed: int) -> str:
    """The same network with nodes and links in another order, and some links from their other end."""
    rng = np.random.default_rng(seed)
    head, *blocks = text.removesuffix("]\n").split("  ]\n")
    start = head.index("  node [")
    blocks = [head[start:], *(block for block in blocks if block.strip())]
    for i, block in enumerate(blocks):
        if "edge" in block and rng.random() < 0.5:
            blocks[i] = block.replace("source", "?").replace("target", "source").replace("?", "target")
    return head[:start] + "".join(blocks[i] + "  ]\n" for i in rng.permutation(len(blocks))) + "]\n"


def load(folder: Path, text: str, variant: str = "corrected") -> Underlay:
    """What `load_underlay` makes of a text."""
    path = folder / "network.gml"
    path.write_text(text, encoding="utf-8")
    return load_underlay(path, variant=variant)


def text_of(network: str) -> str:
    """GML text of a network."""
    return torus(4, 4) if network == "torus" else (DATA / f"{network}.gml").read_text(encoding="utf-8")


def graph_of(underlay: Underlay, access_bps: float):
    """Connectivity graph with equal access links."""
    return connectivity(underlay, access=AccessLinks(up_bps=access_bps, down_bps=access_bps))


def named(overlay) -> dict:
    """All that a design says, by label."""
    graph, forms = overlay.graph, overlay.closed_forms
    names = np.array(graph.labels)
    return {
        "arcs": list(zip(names[overlay.source].tolist(), names[overlay.target].tolist(), strict=True)),
        "hub": None if overlay.hub is None else graph.labels[overlay.hub],
        "forms": (forms.paper_s, forms.serialized_s, forms.load_bound_s),
        "busiest": None if forms.busiest_link is None else graph.link_name(forms.busiest_link),
        "circuit": [graph.labels[silo] for silo in overlay.critical_circuit],
        "routes": [[graph.link_name(link) for link in route] for route in overlay.routes],
        "consensus": overlay.consensus.tolist(),
    }


@pytest.mark.parametrize("network", ["gaia", "aws_na", "geant", "exodus", "ebone", "torus"])
@pytest.mark.parametrize("variant", ["corrected", "published"])
def test_a_shuffled_file_is_the_same_network(tmp_path, network, variant):
    if (network, variant) == ("torus", "published"):
        with pytest.raises(InputError, match="published_distance"):
            load(tmp_path, text_of(network), variant)
        return
    expected = load(tmp_path, text_of(network), variant)

    assert list(expected.labels) == sorted(expected.labels)
    for seed in range(3):
        text = shuffled(text_of(network), seed)
        assert text != text_of(network)
        found = load(tmp_path, text, variant)
        assert found.labels == expected.labels
        for field in (
            "ends",
            "length_km",
            "capacity_bps",
            "latitude_deg",
            "longitude_deg",
            "published_index",
        ):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_shuffled_parallel_links_and_computed_distances(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("parallel")
    places = [("b", 48.1, 2.3), ("a", 51.2, 0.1), ("c", 40.7, -3.9)]
    nodes = "".join(
        f'  node [\n    id {i}\n    label "{label}"\n    Latitude {lat}\n    Longitude {lon}\n  ]\n'
        for i, (label, lat, lon) in enumerate(places)
    )
    stated = ["", "distance 3.0 capacity 1.0e8", "distance 3.0 capacity 1.0e9", "distance 3.0"]
    links = [(0, 1, "distance 2.0"), (1, 2, ""), *((0, 2, text) for text in stated)]
    text = f"graph [\n{nodes}" + "".join(
        f"  edge [\n    source {a}\n    target {b}\n    {rest}\n  ]\n" for a, b, rest in links
    )
    expected, found = (load(folder, each) for each in (text + "]\n", shuffled(text + "]\n", seed)))

    assert found.ends.tolist() == [[0, 1], [0, 2], [1, 2], [1, 2], [1, 2], [1, 2]]
    assert found.length_km.tolist() == expected.length_km.tolist()
    assert np.nan_to_num(found.capacity_bps).tolist()[2:] == [
        1e9,
        1e8,
        0.0,
        0.0,
    ]  # of equal ones the fastest first


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({*DESIGNERS} - {"stl_fw"}))
@pytest.mark.parametrize(
    ("network", "variant", "access_bps"),
    [("gaia", "corrected", 1e9), ("gaia", "published", 1e10), ("torus", "corrected", 1e9)],
)
def test_a_shuffled_file_gives_the_same_design(tmp_path, kind, network, variant, access_bps):
    text = text_of(network)
    expected = named(
        design(kind, graph_of(load(tmp_path, text, variant), access_bps), WORK, **OPTIONS.get(kind, {}))
    )
    for seed in range(2):
        graph = graph_of(load(tmp_path, shuffled(text, seed), variant), access_bps)
        assert named(design(kind, graph, WORK, **OPTIONS.get(kind, {}))) == expected


@pytest.mark.parametrize("kind", ["star", "mst", "delta_mbst", "christofides", "underlay"])
@pytest.mark.parametrize("network", ["geant", "ebone"])
def test_a_shuffled_larger_file_gives_the_same_design(tmp_path, kind, network):
    expected = named(design(kind, graph_of(load_underlay(network), 1e9), WORK))
    found = graph_of(load(tmp_path, shuffled(text_of(network), 7)), 1e9)

    assert named(design(kind, found, WORK)) == expected


@pytest.mark.parametrize("kind", sorted(RANDOM_DESIGNERS))
@pytest.mark.parametrize("network", ["gaia", "torus"])
def test_a_shuffled_file_draws_the_same_rounds(tmp_path, kind, network):
    text = text_of(network)
    one, other = (
        make_schedule(design_random(kind, graph_of(load(tmp_path, each), 1e9), WORK), 3, 20)
        for each in (text, shuffled(text, 5))
    )

    for round_ in range(20):
        np.testing.assert_array_equal(one.arcs(round_), other.arcs(round_))
        np.testing.assert_array_equal(one.consensus(round_), other.consensus(round_))


def test_a_shuffled_file_has_the_same_bound_and_the_same_free_arcs(tmp_path):
    one, other = (
        graph_of(load(tmp_path, each), 1e10) for each in (text_of("gaia"), shuffled(text_of("gaia"), 2))
    )
    free, also = (enrich(design("mst", graph, WORK), limit=4) for graph in (one, other))

    assert lower_bound_s(one, WORK) == lower_bound_s(other, WORK)
    assert free.added == also.added
    assert named(free.overlay) == named(also.overlay)


def numbered_otherwise(underlay: Underlay, order: np.ndarray) -> Underlay:
    """The same network made by hand with its routers in another order."""
    return replace(
        underlay,
        labels=tuple(underlay.labels[router] for router in order.tolist()),
        latitude_deg=underlay.latitude_deg[order],
        longitude_deg=underlay.longitude_deg[order],
        ends=np.argsort(order)[underlay.ends][::-1],
        length_km=underlay.length_km[::-1],
        capacity_bps=underlay.capacity_bps[::-1],
        published_index=None,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({*DESIGNERS, *RANDOM_DESIGNERS} - {"stl_fw"}))
def test_numbers_of_silos_of_a_network_made_by_hand_break_no_tie(tmp_path, kind):
    underlay = load(tmp_path, text_of("torus"))
    order = np.random.default_rng(1).permutation(16)
    up_bps = np.linspace(1e8, 1e9, 16)
    compute_s = np.linspace(0.1, 0.2, 16)
    one = connectivity(underlay, access=AccessLinks(up_bps=up_bps, down_bps=1e9))
    other = connectivity(
        numbered_otherwise(underlay, order), access=AccessLinks(up_bps=up_bps[order], down_bps=1e9)
    )
    works = (
        Workload(model_bits=1e8, compute_s=compute_s),
        Workload(model_bits=1e8, compute_s=compute_s[order]),
    )
    if kind in DESIGNERS:
        found = [
            design(kind, *case, **OPTIONS.get(kind, {})) for case in zip((one, other), works, strict=True)
        ]
        assert found[1].graph is other
        assert found[1].closed_forms.paper_s == pytest.approx(found[0].closed_forms.paper_s, rel=1e-12)
        arcs = [set(named(overlay)["arcs"]) for overlay in found]
    else:
        schedules = [
            make_schedule(design_random(kind, *case), 3, 5) for case in zip((one, other), works, strict=True)
        ]
        arcs = [
            [
                {
                    (s.overlay.graph.labels[i], s.overlay.graph.labels[j])
                    for i, j in zip(*s.arcs(k), strict=True)
                }
                for k in range(5)
            ]
            for s in schedules
        ]
    assert arcs[0] == arcs[1]


def test_routes_of_a_network_made_by_hand_follow_labels(tmp_path):
    underlay = load(tmp_path, text_of("torus"))
    order = np.random.default_rng(2).permutation(16)
    one, other = graph_of(underlay, 1e9), graph_of(numbered_otherwise(underlay, order), 1e9)
    place = np.argsort(order)

    for i in range(16):
        for j in range(16):
            there = [one.link_name(link).split(" -> ") for link in one.route(i, j)[1:-1]]
            here = [other.link_name(link).split(" -> ") for link in other.route(place[i], place[j])[1:-1]]
            assert there == here
    np.testing.assert_array_equal(other.latency_s, one.latency_s[np.ix_(order, order)])
    np.testing.assert_array_equal(other.available_bps, one.available_bps[np.ix_(order, order)])


def test_ties_of_a_torus_are_searched(tmp_path):
    # By one order of ties a tree of degree 4 or 3; a Hamiltonian path of neighbours exists.
    underlay = load(tmp_path, text_of("torus"))
    path = design("delta_mbst", graph_of(underlay, 1e8), WORK)

    assert path.max_degree == 2


def test_published_order_must_number_each_router_once(make_underlay):
    underlay = make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)])
    with pytest.raises(InputError, match="published_index must hold a number for each router, each once"):
        replace(underlay, published_index=np.array([0, 1, 1]))
