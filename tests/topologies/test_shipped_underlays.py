"""The five underlays that come with the package, and what is known of their published lengths."""

import numpy as np
import pytest

from topologies import Underlay, load_underlay, published_underlays
from topologies.geodesy import geodesic_km

SIZES = {"gaia": (11, 55), "aws_na": (22, 231), "geant": (40, 61), "exodus": (79, 147), "ebone": (87, 161)}
STATED_CAPACITIES = {"gaia": 55, "aws_na": 0, "geant": 39, "exodus": 0, "ebone": 0}


def recomputed_km(underlay: Underlay, *, swapped: bool = False) -> list[float]:
    """Geodesic of every link from the coordinates, perhaps with latitude and longitude swapped."""
    points = list(zip(underlay.latitude_deg.tolist(), underlay.longitude_deg.tolist(), strict=True))
    if swapped:
        points = [(longitude, latitude) for latitude, longitude in points]
    return [geodesic_km(*points[a], *points[b]) for a, b in underlay.ends.tolist()]


def relative_error(name: str) -> np.ndarray:
    """Relative error of the published lengths on the links of non-zero length."""
    true_km, published_km = load_underlay(name).length_km, load_underlay(name, variant="published").length_km
    apart = true_km > 0
    return np.abs(published_km[apart] - true_km[apart]) / true_km[apart]


@pytest.mark.parametrize("name", published_underlays())
def test_sizes_and_stated_capacities(name: str) -> None:
    underlay = load_underlay(name)
    assert underlay.name == name
    assert (underlay.routers, underlay.links) == SIZES[name]
    assert np.isfinite(underlay.capacity_bps).sum() == STATED_CAPACITIES[name]
    assert np.isfinite(underlay.latitude_deg).all()


@pytest.mark.parametrize("name", published_underlays())
def test_distances_are_geodesics(name: str) -> None:
    underlay = load_underlay(name)
    np.testing.assert_allclose(underlay.length_km, recomputed_km(underlay), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", published_underlays())
def test_variants_differ_in_lengths_and_capacities_alone(name: str) -> None:
    corrected, published = load_underlay(name), load_underlay(name, variant="published")
    assert corrected.labels == published.labels
    np.testing.assert_array_equal(corrected.ends, published.ends)
    np.testing.assert_array_equal(corrected.latitude_deg, published.latitude_deg)
    assert np.isnan(published.capacity_bps).all()
    np.testing.assert_array_equal(corrected.length_km == 0, published.length_km == 0)


def test_published_geant_lengths_swap_latitude_and_longitude() -> None:
    published = load_underlay("geant", variant="published")
    np.testing.assert_allclose(
        published.length_km, recomputed_km(published, swapped=True), rtol=0, atol=1e-12
    )


def test_published_aws_lengths_put_san_jose_in_costa_rica() -> None:
    underlay, published = load_underlay("aws_na"), load_underlay("aws_na", variant="published")
    san_jose = underlay.labels.index("San José")
    degrees = list(zip(underlay.latitude_deg.tolist(), underlay.longitude_deg.tolist(), strict=True))
    links = np.flatnonzero((underlay.ends == san_jose).any(axis=1)).tolist()
    others = [sum(underlay.ends[link].tolist()) - san_jose for link in links]
    costa_rica_km = [geodesic_km(9.93333, -84.08333, *degrees[other]) for other in others]
    # Not exact: the published coordinates of some other cities are a few km off.
    np.testing.assert_allclose(published.length_km[links], costa_rica_km, rtol=2e-3)
    assert underlay.length_km[links].min() < 25 < 1800 < published.length_km[links].min()


@pytest.mark.parametrize(
    ("name", "largest", "median"),
    [
        ("gaia", 0.1416, 0.0027),
        ("aws_na", 196.3, 0.0003),
        ("geant", 0.8579, 0.2722),
        ("exodus", 5.518, 0.0089),
        ("ebone", 0.0136, 0.0010),
    ],
)
def test_published_lengths_against_true_ones(name: str, largest: float, median: float) -> None:
    error = relative_error(name)
    assert error.max() == pytest.approx(largest, rel=1e-3, abs=1e-4)
    assert np.median(error) == pytest.approx(median, abs=1e-4)


def test_names_beyond_ascii() -> None:
    assert "San José" in load_underlay("aws_na").labels


def test_gaia_states_capacities_of_100_mbps_to_1500_mbps() -> None:
    capacity_bps = load_underlay("gaia").capacity_bps
    assert (capacity_bps.min(), capacity_bps.max()) == (1e8, 1.5e9)


def test_geant_states_capacities_of_155_mbps_to_10_gbps() -> None:
    capacity_bps = load_underlay("geant").capacity_bps
    assert (np.nanmin(capacity_bps), np.nanmax(capacity_bps)) == (1.55e8, 1e10)


def test_a_name_of_another_type_of_text_changes_nothing_for_others():
    class Name(str):
        __slots__ = ()

    assert load_underlay(Name("aws_na")).labels == load_underlay("aws_na").labels
    assert type(load_underlay("aws_na").name) is str
    assert load_underlay("aws_na") is load_underlay("aws_na")
