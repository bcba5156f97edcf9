"""Files in the manner of the Internet Topology Zoo: all faults in one line, and what the options make of them."""

import re

import pytest
from graph_files import FORMATS, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_network_formats import same

from topologies import InputError, load_underlay
from topologies.networks.attributes import Graph, node_labels
from topologies.networks.cleaning import (
    check_something_left,
    cleaned,
    internal_part,
    largest_component,
    numbered_labels,
)

BOTH = {"internal_only": True, "largest_component": True}


def place(latitude: float, longitude: float) -> dict[str, float]:
    """Coordinates as the Zoo has them."""
    return {"Longitude": longitude, "Latitude": latitude}


# Two nodes without a name, an external one, an unknown place with one behind it, a loop, and a second component.
NODES = [
    {"id": 0, "label": "None", "Internal": 1, **place(39.2, 9.1)},
    {"id": 1, "label": "None", "Internal": 1, **place(39.9, 8.1)},
    {"id": 2, "label": "Rome", "Internal": 1, **place(41.9, 12.4)},
    {"id": 3, "label": "GEANT", "Internal": 0},
    {"id": 4, "label": "?", "Internal": 1, "hyperedge": 1},
    {"id": 5, "label": "behind", "Internal": 1},
    {"id": 6, "label": "Milan", "Internal": 1, **place(45.5, 9.2)},
    {"id": 7, "label": "Turin", "Internal": 1, **place(45.1, 7.7)},
]
LINKS = [
    {"source": 0, "target": 1, "LinkSpeed": "10", "LinkSpeedUnits": "G", "LinkSpeedRaw": 1e10},
    {"source": 0, "target": 1, "LinkSpeed": "<10", "LinkSpeedUnits": "G"},
    {"source": 1, "target": 2},
    {"source": 2, "target": 2},
    {"source": 2, "target": 3},
    {"source": 4, "target": 2},
    {"source": 4, "target": 2},
    {"source": 4, "target": 5},
    {"source": 6, "target": 7},
]
IN_ONE_LINE = (
    "left out 1 external node, 2 nodes without coordinates, 4 links and 1 self-loop; kept the largest of 2 components: "
    "left out 2 nodes and 1 link; numbered 1 label that occurs more than once."
)
SPEED = "the LinkSpeed of 1 link is no number with K, M, G or T and is not read: '<10 G'."


def test_all_faults_are_in_one_line_with_the_options_for_them(tmp_path):
    path = write(tmp_path, ".gml", NODES, LINKS)
    with pytest.raises(InputError) as caught:
        load_underlay(path)

    assert str(caught.value) == (
        f"{path}: label(='None') of node 0 and node 1 must be unique; link 4 ('Rome - GEANT') has no distance and node "
        "'GEANT' lacks the Latitude and Longitude to compute it from (and 2 more nodes); link 3 is a self-loop of "
        "'Rome', must join two routers; the graph must be connected, has 2 components: 6 with 'None', 2 with 'Milan' "
        "(--internal-only (internal_only) leaves out external nodes, stubs without coordinates and self-loops, and "
        "numbers equal labels; --largest-component (largest_component) keeps the largest)."
    )


def test_an_option_that_is_given_is_not_named_again(tmp_path):
    path = write(tmp_path, ".gml", NODES, LINKS)
    with pytest.raises(InputError) as inner:
        load_underlay(path, internal_only=True)
    with pytest.raises(InputError) as largest:
        load_underlay(path, largest_component=True)

    assert str(inner.value) == (
        f"{path}: the graph must be connected, has 2 components: 3 with 'None/2', 2 with 'Milan' "
        "(--largest-component (largest_component) keeps the largest)."
    )
    assert "(--internal-only (internal_only)" in str(largest.value)
    assert "component)" not in str(largest.value)


@pytest.mark.parametrize("ending", FORMATS)
def test_both_options_make_it_a_network(tmp_path, ending):
    found = load_underlay(write(tmp_path, ending, NODES, LINKS), **BOTH)

    assert found.labels == ("None", "None/2", "Rome")
    assert found.latitude_deg.tolist() == [39.9, 39.2, 41.9]  # from north to south
    assert found.ends.tolist() == [[0, 1], [0, 1], [0, 2]]
    assert found.capacity_bps.tolist()[:1] == [1e10]
    assert found.notes == (IN_ONE_LINE, SPEED, "1 of 3 links is parallel to another: None - None/2.")


def test_a_second_pass_changes_nothing():
    once, _ = cleaned(Graph(nodes=NODES, links=LINKS), internal_only=True, largest_only=True)
    again, notes = cleaned(once, internal_only=True, largest_only=True)

    assert notes == []
    assert (again.nodes, again.links) == (once.nodes, once.links)


def part(nodes, links):
    """Labels of what `internal_part` keeps, the number of links, and its note."""
    found, note = internal_part(
        Graph(nodes=nodes, links=[{"source": a, "target": b, **more} for a, b, more in links])
    )
    return node_labels(found), len(found.links), note


def test_no_node_says_whether_it_is_internal():
    nodes = [{"id": i, **place(i, i)} for i in range(2)]

    assert part(nodes, [(0, 1, {}), (0, 0, {})]) == (
        ("0", "1"),
        1,
        "no node states Internal, so that none is external; left out 1 self-loop",
    )
    assert part([], []) == ((), 0, "")


@pytest.mark.parametrize("yes", [1, "1", True, "True", "true", 1.0])
@pytest.mark.parametrize("no", [0, "0", False, "False", "false"])
def test_spellings_of_internal(yes, no):
    if yes == 1.0 and isinstance(yes, float):
        with pytest.raises(InputError, match=r"node 0: Internal\(=1\.0\) must be 1 or 0\."):
            part([{"id": 0, "Internal": yes}], [])
        return
    nodes = [{"id": 0, "internal": yes, **place(1, 1)}, {"id": 1, "Internal": no}, {"id": 2, **place(2, 2)}]

    assert part(nodes, [(0, 1, {}), (0, 2, {})]) == (("0", "2"), 1, "left out 1 external node and 1 link")


@pytest.mark.parametrize("value", ["yes", "", 2, -1, [1, 0], "None"])
def test_internal_must_be_1_or_0(value):
    with pytest.raises(InputError) as caught:
        part([{"id": "x", "Internal": value}], [])

    assert str(caught.value) == f"node 'x': Internal(={value!r}) must be 1 or 0."


def test_a_stub_stays_where_its_links_state_their_length_and_a_node_between_others_always():
    nodes = [{"id": i, **place(i, i)} for i in range(2)] + [{"id": i} for i in range(2, 6)]
    links = [(0, 1, {}), (1, 2, {"dist": 5}), (0, 3, {}), (3, 1, {}), (0, 4, {"length_km": 5}), (0, 4, {})]
    labels, count, note = part(nodes, links)

    assert labels == ("0", "1", "2", "3")
    assert count == 4
    assert note.endswith("left out 2 nodes without coordinates and 2 links")


def test_what_lies_behind_a_node_without_a_place_goes_with_it():
    nodes = [{"id": 0, **place(0, 0)}, {"id": 1, **place(1, 1)}] + [{"id": i} for i in range(2, 50)]
    chain = [(i, i + 1, {}) for i in range(49)]

    assert part(nodes, chain)[:2] == (("0", "1"), 1)
    assert part(nodes[::-1], chain[::-1])[:2] == (("1", "0"), 1)


def test_the_largest_component_and_of_equal_ones_the_first_by_label():
    nodes = [{"id": i, "label": label} for i, label in enumerate("fedcba")]
    links = [{"source": 0, "target": 1}, {"source": 3, "target": 4}]

    assert node_labels(largest_component(Graph(nodes=nodes, links=links))[0]) == ("c", "b")
    three, note = largest_component(Graph(nodes=nodes, links=[*links, {"source": 1, "target": 2}]))
    assert node_labels(three) == ("f", "e", "d")
    assert note == "kept the largest of 3 components: left out 3 nodes and 1 link"
    assert largest_component(Graph(nodes=nodes[:1], links=[]))[1] == ""
    assert largest_component(Graph(nodes=[], links=[]))[1] == ""


def test_numbers_pass_over_labels_that_exist():
    labels = ["None", "None", "None/2", "None", "None/2"]
    nodes = [{"id": i, "label": label, **place(-i, 0)} for i, label in enumerate(labels)]
    found, note = numbered_labels(Graph(nodes=nodes, links=[]))

    assert node_labels(found) == ("None", "None/3", "None/2", "None/4", "None/2/2")
    assert note == "numbered 2 labels that occur more than once"


def test_one_label_at_one_place_is_numbered_by_id_and_without_a_place_last():
    nodes = [
        {"id": "10", "Label": "A", **place(1, 1)},
        {"id": "9", "name": "A", **place(1, 1)},
        {"id": "b", "label": "A"},
        {"id": "a", "label": "A", **place(1, 2)},
        {"id": "c", "label": "A", **place(2, 9)},
    ]

    assert node_labels(numbered_labels(Graph(nodes=nodes, links=[]))[0]) == ("A/3", "A/2", "A/5", "A/4", "A")


@st.composite
def zoo_files(draw):
    """Nodes, some external or without a place, of few labels; links of all kinds."""
    count = draw(st.integers(1, 9))
    nodes = []
    for i in range(count):
        node = {"id": i, "label": draw(st.sampled_from(["None", "?", "A", "B", "None/2"]))}
        if draw(st.booleans()):
            node["Internal"] = draw(st.sampled_from([0, 1, 1, 1]))
        if draw(st.sampled_from([True, True, False])):
            node |= place(draw(st.integers(-3, 3)), draw(st.integers(-3, 3)))
        nodes.append(node)
    ends = st.integers(0, count - 1)
    links = [
        {"source": a, "target": b, **({"dist": 7} if stated else {})}
        for a, b, stated in draw(st.lists(st.tuples(ends, ends, st.booleans()), max_size=14))
    ]
    return nodes, links


def outcome(path, **options):
    """The network, or the error without the names of single links and nodes, which follow the order of the file."""
    try:
        return load_underlay(path, **options)
    except InputError as error:
        return sorted(
            set(re.findall(r"must be unique|self-loop|no distance|\d+ components|routers", str(error)))
        )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zoo_files(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_the_order_of_a_file_changes_nothing(tmp_path, file, random, internal_only, largest):
    nodes, links = file
    options = {"internal_only": internal_only, "largest_component": largest}
    expected = outcome(write(tmp_path, ".json", nodes, links), **options)
    random.shuffle(nodes)
    random.shuffle(links)
    for link in links:
        if random.random() < 0.5:
            link["source"], link["target"] = link["target"], link["source"]
    for ending in FORMATS:
        found = outcome(write(tmp_path, ending, nodes, links), **options)
        assert found == expected if isinstance(expected, list) else same(found, expected), ending


@given(zoo_files())
def test_what_the_options_keep(file):
    nodes, links = file
    found, _ = cleaned(Graph(nodes=nodes, links=links), internal_only=True, largest_only=True)
    labels, kept = node_labels(found), {node["id"] for node in found.nodes}

    assert len(set(labels)) == len(labels)
    assert all(node.get("Internal", 1) == 1 for node in found.nodes)
    assert all(link["source"] != link["target"] for link in found.links)
    assert all({link["source"], link["target"]} <= kept for link in found.links)
    assert largest_component(found)[1] == ""


def test_a_file_without_any_coordinates_says_what_is_left_of_it(tmp_path):
    nodes = [{"id": i, "label": f"n{i}", "Internal": int(i > 1)} for i in range(5)]
    path = write(tmp_path, ".gml", nodes, [{"source": i, "target": 4} for i in range(4)])
    with pytest.raises(InputError) as caught:
        load_underlay(path, internal_only=True)

    left_out = "left out 2 external nodes, 3 nodes without coordinates and 4 links"
    needed = "needed are Latitude and Longitude of 'n2', 'n3', 'n4', or on their links a distance"
    assert (
        str(caught.value)
        == f"{path}: {left_out}: 0 of 5 nodes remain, must be >= 2 ({needed} (or dist, length_km) in km)."
    )
    # Either of them is enough.
    places = [{**node, "lat": i, "lon": i} if i > 1 else node for i, node in enumerate(nodes)]
    links = [{"source": i, "target": 4} for i in range(4)]
    assert load_underlay(write(tmp_path, ".gml", places, links), internal_only=True).routers == 3
    lengths = [{**link, "dist": 7} for link in links]
    assert load_underlay(write(tmp_path, ".gml", nodes, lengths), internal_only=True).routers == 3


def test_where_only_external_nodes_are_lost_no_coordinates_would_help(tmp_path):
    nodes = [{"id": i, "label": f"n{i}", "Internal": 0} for i in range(3)]
    path = write(tmp_path, ".gml", nodes, [{"source": i, "target": i + 1} for i in range(2)])
    with pytest.raises(
        InputError, match=r"left out 3 external nodes and 2 links: 0 of 3 nodes remain, must be >= 2\.$"
    ):
        load_underlay(path, internal_only=True)


def test_nodes_between_others_that_need_a_place_are_named(tmp_path):
    nodes = [{"id": i, "label": f"n{i:02}", **(place(i, i) if i < 2 else {})} for i in range(14)]
    links = [{"source": a, "target": b} for b in range(2, 14) for a in (0, 1)]
    path = write(tmp_path, ".gml", nodes, links)
    needed = (
        r"link 0 \('n00 - n02'\) has no distance and node 'n02' lacks the Latitude and Longitude to compute it from "
        r"\(and 11 more nodes\) \(needed are Latitude and Longitude of 'n02', 'n03', .*, 'n11' and 2 more, or on "
    )
    with pytest.raises(InputError, match=needed):
        load_underlay(path, internal_only=True)


def test_all_nodes_of_one_label_are_counted(tmp_path):
    nodes = [{"id": i, "label": "router" if i < 3 else "Cahul", "lat": 50 + i, "lon": 8} for i in range(4)]
    path = write(tmp_path, ".gml", nodes, [{"source": i, "target": 3} for i in range(3)])
    with pytest.raises(
        InputError, match=r"label\(='router'\) of node 0 and node 1 \(and 1 more node\) must be unique"
    ):
        load_underlay(path)


@pytest.mark.parametrize(
    ("left", "rule"), [(3, None), (2, None), (1, "1 of 4 nodes remain"), (0, "0 of 4 nodes remain")]
)
def test_two_nodes_are_a_network(left, rule):
    whole = Graph(nodes=[{"id": i, **place(i, i)} for i in range(4)], links=[])
    kept = Graph(nodes=whole.nodes[:left], links=[])
    check_something_left(whole, kept, [])
    if rule is None:
        check_something_left(whole, kept, ["left out much."])
    else:
        with pytest.raises(InputError) as caught:
            check_something_left(whole, kept, ["left out much."])
        assert str(caught.value) == f"left out much: {rule}, must be >= 2."


def test_at_one_place_ids_that_are_integers_go_first_by_number():
    ids = ["b", "10", "a", 9, "-1", "1" * 19]
    nodes = [{"id": node_id, "label": "A"} for node_id in ids]
    found, note = numbered_labels(Graph(nodes=nodes, links=[]))
    order = sorted(found.nodes, key=lambda node: int(node["label"].partition("/")[2] or 1))
    assert [node["id"] for node in order] == ["-1", 9, "10", "1" * 19, "a", "b"]
    assert note == "numbered 1 label that occurs more than once"


def test_nodes_without_links_have_no_largest_component_to_keep(tmp_path):
    nodes = [{"id": i, "label": f"n{i}", **place(i, i)} for i in range(2)]
    with pytest.raises(InputError) as caught:
        load_underlay(write(tmp_path, ".json", nodes, []))
    assert str(caught.value).endswith("has 2 components: 1 with 'n0', 1 with 'n1'.")
