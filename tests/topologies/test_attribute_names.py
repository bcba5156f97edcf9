"""Names under which nodes and links state a thing, and what counts as a number."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError
from topologies.networks.attributes import Graph, stated_network
from topologies.networks.link_speed import link_speed_bps

NODE, OTHER = {"id": 0, "label": "A"}, {"id": 1, "label": "B"}
LINK = {"source": 0, "target": 1}


def stated(node=(), link=()):
    """What a network of two nodes and a link states, with these attributes of the first node and the link."""
    return stated_network(Graph(nodes=[{**NODE, **dict(node)}, OTHER], links=[{**LINK, **dict(link)}]))


def message(node=(), link=()) -> str:
    """The error of such a network."""
    with pytest.raises(InputError) as caught:
        stated(node, link)
    return str(caught.value)


@pytest.mark.parametrize("name", ["Latitude", "latitude", "LATITUDE", "lat", "Lat"])
def test_names_of_the_latitude(name):
    assert stated({name: 48.5}).latitude_deg[0] == 48.5


@pytest.mark.parametrize("name", ["Longitude", "longitude", "lon", "lng", "long", "LON"])
def test_names_of_the_longitude(name):
    assert stated({name: -2}).longitude_deg[0] == -2.0


@pytest.mark.parametrize("name", ["distance", "Distance", "dist", "length_km", "Length_KM"])
def test_names_of_the_distance(name):
    assert stated(link={name: 12.5}).distance_km.tolist() == [12.5]


@pytest.mark.parametrize("name", ["capacity", "Capacity", "LinkSpeedRaw", "linkspeedraw"])
def test_names_of_the_capacity(name):
    assert stated(link={name: 1e9}).capacity_bps.tolist() == [1e9]


@pytest.mark.parametrize(
    ("node", "label"),
    [
        ({"name": "N"}, "A"),
        ({"label": None, "name": "N"}, "N"),
        ({"label": None}, "0"),
        ({"label": None, "Label": "L"}, "L"),
        ({"label": None, "Label": "L", "LABEL": "M"}, "0"),
        ({"Label": "L"}, "A"),
    ],
)
def test_a_node_is_called_by_label_then_name_then_id(node, label):
    attributes = {key: value for key, value in {**NODE, **node}.items() if value is not None}

    assert stated_network(Graph(nodes=[attributes, OTHER], links=[])).labels == (label, "B")


def test_two_names_of_one_thing_must_agree():
    assert stated({"lat": 1, "Latitude": "1.0"}).latitude_deg[0] == 1.0
    assert message({"lat": 1, "Latitude": 2}) == (
        "node 0: Latitude(=2) must be equal to lat(=1), which states the same."
    )
    assert message(link={"distance": 1, "length_km": "1.5"}) == (
        "link 0 ('A - B'): length_km(='1.5') must be equal to distance(=1), which states the same."
    )
    assert "Capacity(=7) must be equal to capacity(=5)" in message(link={"capacity": 5, "Capacity": 7})


def test_capacity_goes_before_raw_speed_and_that_before_speed_with_a_unit():
    speeds = {"capacity": 5, "LinkSpeedRaw": 7, "LinkSpeed": "9", "LinkSpeedUnits": "K"}

    for expected in (5.0, 7.0, 9000.0):
        found = stated(link=speeds)
        assert found.capacity_bps.tolist() == [expected]
        assert found.notes == ()
        speeds.pop(next(iter(speeds)))


@pytest.mark.parametrize(
    ("speed", "units", "bps"),
    [
        ("10", "G", 1e10),
        (10, "G", 1e10),
        ("2.5", "G", 2.5e9),
        ("155", "M", 155e6),
        ("64", "K", 64e3),
        ("64", "k", 64e3),
        ("1.6", " T ", 1.6e12),
        ("0.5-2.5", "G", None),
        ("<10", "G", None),
        (">1", "G", None),
        ("ATM", "", None),
        ("10", "", None),
        ("10", None, None),
        ("10", "Gbps", 1e10),
        ("155", "Mbit/s", 155e6),
        ("155", "MBit/s", 155e6),
        ("10", "GB/s", None),
        ("10", "Gigabit", None),
        ("10", 5, None),
        ("0", "M", None),
        ("-1", "M", None),
        ("nan", "M", None),
        ("1e308", "T", None),
        (["1", "2"], "G", None),
        (None, "G", None),
    ],
)
def test_speed_with_a_unit(speed, units, bps):
    link = {"LinkSpeed": speed, "LinkSpeedUnits": units}

    assert link_speed_bps({key: value for key, value in link.items() if value is not None}) == bps


def test_a_speed_that_is_not_read_is_noted():
    links = [
        {**LINK, "LinkSpeed": text, "LinkSpeedUnits": "G"} for text in ("<10", "0.5-2.5", "?", "?", "x", "10")
    ]
    links += [{**LINK, "LinkSpeedUnits": "G"}, {**LINK, "LinkSpeed": "?", "capacity": 1e9}]
    found = stated_network(Graph(nodes=[NODE, OTHER], links=links))
    note = "the LinkSpeed of 5 links is no number with K, M, G or T and is not read: '0.5-2.5 G', '<10 G', '? G', ...."

    assert found.notes == (note,)
    assert np.isnan(found.capacity_bps).sum() == 6


@given(
    st.one_of(st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from(["", " ", "\t"]),
)
def test_a_number_in_quotes_is_the_number(number, blank):
    assert stated({"lat": f"{blank}{number!r}{blank}"}).latitude_deg[0] == float(number)


@pytest.mark.parametrize(
    "value",
    [
        "CDG",
        "10 Gbps",
        "",
        " ",
        "1e",
        "0x10",
        "1_000",
        "1,5",
        "nan",
        "inf",
        "-",
        ".",
        "True",
        "١",
        True,
        None,
        [],
        {},
    ],
)
@pytest.mark.parametrize("field", ["lat", "Longitude"])
def test_other_texts_are_no_numbers(field, value):
    assert message({field: value}).startswith(f"node 0: {field}(={value!r}) must be a number")


@pytest.mark.parametrize("value", ["9" * 400, "-1e999", 10**400, float("inf"), float("nan")])
def test_numbers_beyond_all_floats(value):
    assert "must be finite" in message(link={"dist": value})


@pytest.mark.parametrize(
    "key", ["flat", "along", "list", "lang", "length", "speed", "external", "linkage", "lab"]
)
def test_short_names_make_nothing_misspelt(key):
    assert stated({key: 1}, {key: 1}).labels == ("A", "B")


def test_a_misspelt_name_counts_only_where_the_thing_is_not_stated():
    assert "did you mean 'Latitude'" in message({"latitud": 1})
    assert stated({"latitud": 1, "lat": 2}).latitude_deg[0] == 2.0


def test_a_note_on_three_speeds_shows_all():
    links = [{**LINK, "LinkSpeed": text} for text in ("<10", "?", "x")]
    found = stated_network(Graph(nodes=[NODE, OTHER], links=links))

    assert found.notes == (
        "the LinkSpeed of 3 links is no number with K, M, G or T and is not read: '<10', '?', 'x'.",
    )


def test_a_name_of_five_letters_may_be_meant():
    bare = Graph(nodes=[{"id": 0, "labell": "A"}, OTHER], links=[LINK])
    with pytest.raises(
        InputError, match=r"^node 0: the attribute 'labell' is unknown \(did you mean 'label'\?\)\.$"
    ):
        stated_network(bare)


@pytest.mark.parametrize(
    ("indices", "found"),
    [
        ((1, 0), [1, 0]),
        ((1.0, "2"), [1, 2]),
        ((2**53 - 1, 0), [2**53 - 1, 0]),
        ((2**53, 0), None),
        ((0.5, 0), None),
    ],
)
def test_published_indices_are_integers_that_floats_tell_apart(indices, found):
    nodes = [{**node, "published_index": index} for node, index in zip((NODE, OTHER), indices, strict=True)]
    index = stated_network(Graph(nodes=nodes, links=[LINK])).published_index
    assert (None if index is None else index.tolist()) == found


def test_no_links_have_two_ends_each():
    assert stated_network(Graph(nodes=[NODE, OTHER], links=[])).ends.shape == (0, 2)


def test_the_largest_float_is_finite_and_a_speed_may_be_below_one_bit_per_second():
    assert stated({"lat": sys.float_info.max}).latitude_deg[0] == sys.float_info.max
    assert link_speed_bps({"LinkSpeed": "0.0005", "LinkSpeedUnits": "K"}) == 0.5
    links = [{**LINK, "LinkSpeed": "?"}] * 2
    note = "the LinkSpeed of 2 links is no number with K, M, G or T and is not read: '?'."
    assert stated_network(Graph(nodes=[NODE, OTHER], links=links)).notes == (note,)
    assert stated_network(Graph(nodes=[NODE, OTHER], links=links[:1])).notes == (
        note.replace("2 links", "1 link"),
    )
