"""Notes on links that are parallel, or shorter than the geodesic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import load_underlay
from topologies.geodesy import geodesic_km
from topologies.networks.attributes import Graph, stated_network
from topologies.networks.geodesics import geodesics_km
from topologies.networks.gml_writing import gml_text
from topologies.networks.link_notes import NO_CABLE, link_notes

PLACES = {"Berlin": (52.52, 13.405), "Hamburg": (53.551, 9.994), "München": (48.137, 11.575)}
DIRECT = {
    (a, b): geodesic_km(*PLACES[a], *PLACES[b])
    for a, b in (("Berlin", "Hamburg"), ("Berlin", "München"), ("Hamburg", "München"))
}


def graph(*links, swapped=False, places=PLACES):
    """Links as two names and a length; None is none."""
    nodes = [
        {"id": name, **dict(zip(("lon", "lat") if swapped else ("lat", "lon"), place, strict=False))}
        for name, place in places.items()
    ]
    stated = [{"source": a, "target": b} | ({} if km is None else {"distance": km}) for a, b, km in links]
    return Graph(nodes=nodes, links=stated)


def notes(*links, **changes):
    return link_notes(stated_network(graph(*links, **changes)))


CABLES = [(a, b, 1.2 * km) for (a, b), km in DIRECT.items()]


def test_cables_that_can_be_are_not_noted():
    assert notes(*CABLES) == []
    # Within 1 %, as a sphere's distance would be; and without a length or a place.
    assert notes(*((a, b, 0.995 * km) for (a, b), km in DIRECT.items())) == []
    assert notes(*((a, b, None) for a, b in DIRECT)) == []
    assert notes(("A", "B", 1e-3), places={"A": (), "B": ()}) == []


def test_a_typing_error_is_named_with_both_numbers():
    assert notes(("Hamburg", "Berlin", 29), *CABLES[1:]) == [
        "1 of 3 links is stated shorter than the geodesic between its ends, which no cable is: Berlin - Hamburg, 29 km "
        "stated, 256 km by the coordinates."
    ]


def test_the_worst_of_several_is_that_of_the_smallest_ratio():
    found = notes(("Hamburg", "Berlin", 200), ("Berlin", "München", 400), ("München", "Hamburg", 60.0))
    assert found == [
        "3 of 3 links are stated shorter than the geodesic between their ends, which no cable is; the worst is "
        "Hamburg - München, 60 km stated, 612 km by the coordinates."
    ]


def test_swapped_coordinates_are_asked_for_only_where_they_are_the_reason():
    (swapped,) = notes(*CABLES, swapped=True)
    assert swapped.endswith("; are latitude and longitude swapped? No length would be too short then.")
    # A length that is wrong either way is another fault.
    (other,) = notes(("Hamburg", "Berlin", 29), *CABLES[1:], swapped=True)
    assert "swapped" not in other
    # There is no latitude of 139 degrees.
    far = {"Tokyo": (35.7, 139.7), "Oita": (33.2, 131.6)}
    (only,) = notes(("Tokyo", "Oita", 300.0), places=far)
    assert "swapped" not in only


def test_parallel_links_are_counted():
    assert notes(*CABLES, ("Hamburg", "Berlin", 300.0)) == [
        "1 of 4 links is parallel to another: Berlin - Hamburg."
    ]
    assert notes(*CABLES, *CABLES, ("München", "Berlin", 700.0)) == [
        "4 of 7 links are parallel to others, such as Berlin - Hamburg."
    ]


@given(
    st.lists(st.tuples(st.sampled_from(sorted(DIRECT)), st.floats(1, 2000)), min_size=1, max_size=7),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_file_does_not_matter(links, random):
    written = [(a, b, km) for (a, b), km in links]
    turned = [(b, a, km) if random.random() < 0.5 else (a, b, km) for a, b, km in written]
    random.shuffle(turned)
    assert notes(*turned) == notes(*written)


@pytest.mark.parametrize("name", ["gaia", "geant"])
@pytest.mark.parametrize("variant", ["corrected", "published"])
def test_shipped_networks_have_no_such_notes(name, variant):
    # GEANT's published lengths are those of swapped coordinates.
    assert load_underlay(name, variant=variant).notes == ()


def test_a_file_with_the_published_lengths_is_noted(tmp_path):
    geant = load_underlay("geant", variant="published")
    text = gml_text(geant).replace("published_distance", "distance")
    (tmp_path / "mine.gml").write_text(text)
    (note,) = load_underlay(tmp_path / "mine.gml").notes
    places = np.column_stack((geant.latitude_deg, geant.longitude_deg))
    direct_km = np.array([geodesic_km(*places[a], *places[b]) for a, b in geant.ends.tolist()])
    short = int((geant.length_km < 0.99 * direct_km).sum())
    assert short > 1
    assert note.startswith(f"{short} of 61 links are stated shorter than the geodesic")
    assert "are latitude and longitude swapped?" in note


def test_tables_have_them_with_their_file_and_latencies_are_no_lengths(tmp_path):
    (tmp_path / "sites.csv").write_text(
        "site,lat,lon\n" + "".join(f"{name},{north},{east}\n" for name, (north, east) in PLACES.items())
    )
    links = tmp_path / "links.csv"
    # 2 ms for 255 km are the length of 235 km in the model, but no cable that is too short.
    links.write_text(
        "a,b,km,ms\nBerlin,Hamburg,,2\nBerlin,München,51,\nBerlin,München,600,\nBerlin,München,51,\n"
    )
    found = load_underlay(tmp_path).notes
    assert found[-2:] == (
        "links.csv: 2 of 4 links are parallel to others, such as Berlin - München.",
        "links.csv: 2 of 4 links are stated shorter than the geodesic between their ends, which no cable is; the worst "
        "is Berlin - München, 51 km stated, 505 km by the coordinates.",
    )


def test_a_length_of_just_99_percent_of_the_geodesic_is_a_cables():
    north, east = np.array([0.0, 60.0]), np.array([30.0, 90.0])
    direct_km, exchanged_km = (
        geodesics_km(a[:1], b[:1], a[1:], b[1:])[0] for a, b in ((north, east), (east, north))
    )
    assert exchanged_km < 0.98 * direct_km

    def noted(km):
        return notes(("A", "B", float(km)), places={"A": (0.0, 30.0), "B": (60.0, 90.0)})

    assert noted(NO_CABLE * direct_km) == []
    # Too short for these coordinates, and just long enough for exchanged ones, of which 90 degrees north is one.
    for length_km, swapped in (
        (NO_CABLE * exchanged_km, True),
        (np.nextafter(NO_CABLE * exchanged_km, 0), False),
    ):
        (note,) = noted(length_km)
        assert ("are latitude and longitude swapped?" in note) == swapped


def test_places_at_a_pole_and_at_the_date_line_are_places():
    places = {"A": (90.0, 180.0), "B": (89.0, -180.0)}
    (note,) = notes(("A", "B", 9.994), places=places)
    assert note.endswith("which no cable is: A - B, 9.99 km stated, 112 km by the coordinates.")
    (note,) = notes(("A", "B", 10.4), places=places)
    assert "A - B, 10 km stated" in note
    for beyond in ((90.5, 180.0), (90.0, 180.5)):
        assert notes(("A", "B", 1.0), places={**places, "A": beyond}) == []


def test_a_long_link_is_shown_with_its_thousands():
    (note,) = notes(("A", "B", 1234.5), places={"A": (0.0, 0.0), "B": (0.0, 100.0)})
    assert note.endswith("A - B, 1,234 km stated, 11,132 km by the coordinates.")


def test_of_equally_short_links_the_first_by_name_is_named():
    places = {"C": (0.0, 10.0), "B": (0.0, 20.0), "A": (0.0, 30.0)}
    (note,) = notes(("C", "B", 100.0), ("B", "A", 100.0), places=places)
    assert "the worst is A - B, 100 km stated" in note


def test_the_worst_is_by_ratio_however_long_links_are():
    places = {"A": (0.0, 0.0), "B": (0.0, 1.0), "C": (0.0, 31.0)}
    # A tenth of 111 km, and a third of 3,340 km.
    (note,) = notes(("A", "B", 11.0), ("B", "C", 1000.0), places=places)
    assert "the worst is A - B, 11 km stated" in note


@pytest.mark.parametrize(("east", "swapped"), [(89.5, True), (90.5, False), (100.0, False)])
def test_what_lies_beyond_90_degrees_east_was_no_latitude(east, swapped):
    # As latitudes 85 and so many degrees are near each other.
    places = {"A": (1.0, 85.0), "B": (60.0, east)}
    (note,) = notes(("A", "B", 0.98 * geodesic_km(1.0, 85.0, 60.0, east)), places=places)
    assert ("swapped" in note) == swapped


@pytest.mark.parametrize(("north", "noted"), [(89.5, 1), (90.5, 0), (-90.5, 0)])
def test_beyond_a_pole_there_is_no_place(north, noted):
    assert len(notes(("A", "B", 1.0), places={"A": (north, 0.0), "B": (0.0, 0.0)})) == noted
