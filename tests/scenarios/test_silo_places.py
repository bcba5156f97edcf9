"""Where silos are: which networks are European, and how far a partition by place moves them."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.label_shares import label_counts
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.silo_places import is_european, shift_west_deg, silo_places
from topologies import InputError
from training import TrainingConfig


def graph_at(*places):
    """Silos at these latitudes and longitudes."""
    latitude_deg, longitude_deg = np.array(places, dtype=float).T
    underlay = SimpleNamespace(latitude_deg=latitude_deg, longitude_deg=longitude_deg, name="net")
    labels = tuple("ABCDEFGH"[: len(places)])
    return SimpleNamespace(underlay=underlay, router=np.arange(len(places)), silos=len(places), labels=labels)


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ((34, 0), True),
        ((33.9, 0), False),
        ((72, 0), True),
        ((72.1, 0), False),
        ((50, -25), True),
        ((50, -25.1), False),
        ((50, 45), True),
        ((50, 45.1), False),
        ((np.nan, 0), False),
    ],
)
def test_europe_has_its_bounds(place, inside):
    assert is_european(graph_at(place)) is inside


def test_more_than_half_of_the_silos_make_a_network_european():
    here, there = (50, 8), (0, 0)
    assert not is_european(graph_at(here, there))
    assert is_european(graph_at(here, here, there))
    assert [
        is_european(build_network(NetworkConfig(underlay=name))) for name in ("geant", "ebone", "gaia")
    ] == [*(True, True, False)]


@pytest.mark.parametrize(
    ("places", "chosen", "longitude"),
    [
        (((50, 8), (51, -20)), None, [-82, -110]),
        (((0, 8), (1, -179)), None, [8, -179]),
        (((0, 8), (1, -179)), 2.0, [6, 179]),
        (((0, -178), (1, 180)), 2.0, [-180, 178]),
        (((50, 8), (51, 9)), 0.0, [8, 9]),
    ],
)
def test_silos_move_to_the_west_as_chosen_or_by_90_degrees_from_europe(places, chosen, longitude):
    training = TrainingConfig(partition="geographic", shift_west_deg=chosen)
    found = silo_places(graph_at(*places), training)
    assert found.tolist() == [[place[0], east] for place, east in zip(places, longitude, strict=True)]
    assert shift_west_deg(graph_at(*places), training) == (places[0][1] - longitude[0]) % 360
    assert silo_places(graph_at(*places), TrainingConfig(shift_west_deg=chosen)) is None


@pytest.mark.parametrize("place", [(np.nan, 8), (50, np.nan), (np.nan, np.nan)])
def test_a_silo_without_a_place_is_named(place):
    with pytest.raises(InputError) as caught:
        silo_places(graph_at((50, 8), place), TrainingConfig(partition="geographic"))
    assert str(caught.value) == (
        "partition(='geographic') needs coordinates: router 'B' of 'net' must have a latitude and a longitude."
    )


def test_labels_are_counted_without_what_is_padding():
    labels = np.array([[0, 2], [2, -1], [1, 0], [-1, -1]])
    shares = [np.array([0, 1]), np.array([2]), np.array([3])]
    assert label_counts(labels, shares, 4).tolist() == [[1, 0, 2, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert label_counts(labels[:, 0], shares[:2], 3).tolist() == [[1, 0, 1], [0, 1, 0]]
