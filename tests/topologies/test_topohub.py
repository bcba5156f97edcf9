"""Networks of the package topohub."""

import importlib.util
import json

import pytest

from topologies import InputError, MachineError, load_underlay
from topologies.geodesy import geodesic_km
from topologies.networks.topohub import parse_topohub

installed = pytest.mark.skipif(
    importlib.util.find_spec("topohub") is None,
    reason="topohub is not installed: pip install 'silosim[topohub]'",
)


@installed
def test_germany50_of_sndlib():
    found = load_underlay("topohub:sndlib/germany50")
    places = list(zip(found.latitude_deg.tolist(), found.longitude_deg.tolist(), strict=True))

    assert (found.name, found.routers, found.links, found.notes) == ("sndlib/germany50", 50, 88, ())
    assert places[found.labels.index("Berlin")] == pytest.approx((52.5, 13.4), abs=0.1)
    # Lengths are stated; coordinates have two decimals.
    geodesics = [geodesic_km(*places[a], *places[b]) for a, b in found.ends.tolist()]
    assert found.length_km.tolist() == pytest.approx(geodesics, abs=2)


@installed
def test_ids_of_the_zoo_are_texts():
    found = load_underlay("topohub:topozoo/Abilene")

    assert (found.routers, found.links) == (11, 14)
    assert found.labels[:2] == ("Atlanta", "Chicago")


@installed
@pytest.mark.parametrize("name", ["gabriel/25/0", "sndlib/newyork"])
def test_places_on_a_plane_are_no_coordinates(name):
    found = load_underlay(f"topohub:{name}")

    assert bool((found.latitude_deg != found.latitude_deg).all())
    assert found.length_km.min() > 0


@installed
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("sndlib/germany5", "sndlib/germany50"),
        ("topozoo/abilene", "topozoo/Abilene"),
        ("../__init__", None),
        ("sndlib", None),
        ("", None),
    ],
)
def test_an_unknown_name_gives_the_nearest(name, nearest):
    with pytest.raises(InputError) as caught:
        load_underlay(f"topohub:{name}")

    assert str(caught.value).startswith(f"underlay(='topohub:{name}') must be one of 707 names")
    assert nearest is None or f"; did you mean 'topohub:{nearest}'?" in str(caught.value)


def test_a_package_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MachineError, match=r"not installed; run: pip install 'silosim\[topohub\]'$"):
        load_underlay("topohub:sndlib/germany50")


@pytest.mark.parametrize(
    "places", [[[1, 2], [3]], [[1, 2], None], [[1, 2], ["3", "4"]], [[1, 2], [3, 90.5]], [[181, 2], [3, 4]]]
)
def test_places_count_only_where_all_are_degrees(places):
    nodes = [{"id": i, "pos": place} for i, place in enumerate(places)]
    found = parse_topohub(json.dumps({"nodes": nodes, "edges": []}).encode(), "topozoo/x")

    assert all("Latitude" not in node for node in found.nodes)


@pytest.mark.parametrize(
    ("places", "is_globe"),
    [
        (([180, 90], [-180, -90]), True),
        (([180.5, 0], [0, 0]), False),
        (([0, 0], [0, -90.5]), False),
        (([1, 2], None), False),
        (([1, 2], [1, 2, 3]), False),
    ],
)
def test_positions_are_coordinates_where_all_are_on_the_globe(places, is_globe):
    nodes = [{"id": i, "pos": place} for i, place in enumerate(places)]
    data = json.dumps({"nodes": nodes, "links": [{"source": 0, "target": 1, "dist": 1}]}).encode()
    for name, expected in (("sndlib/x", is_globe), ("gabriel/25/0", False)):
        found = parse_topohub(data, name)
        assert [(node.get("Longitude"), node.get("Latitude")) for node in found.nodes] == (
            [tuple(place) for place in places] if expected else [(None, None)] * 2
        )
