"""Many geodesics at once agree with geographiclib's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies.geodesy import geodesic_km
from topologies.networks.geodesics import _arc_km, _vincenty_km, geodesics_km

LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)


def assert_agree(*places):
    columns = [np.array(place, dtype=np.float64) for place in places]
    expected = [geodesic_km(*(float(place) for place in pair)) for pair in zip(*columns, strict=True)]
    # 1e-9 km is a micrometre: what the coordinates of points within metres of each other resolve.
    assert geodesics_km(*columns) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(pairs=st.lists(st.tuples(LATITUDES, LONGITUDES, LATITUDES, LONGITUDES), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_points(pairs):
    assert_agree(*zip(*pairs, strict=True))


@given(latitude=LATITUDES, longitude=LONGITUDES, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_points_that_are_near_each_other_or_nearly_opposite(latitude, longitude, seed):
    change = np.random.default_rng(seed).normal(0, 1, (2, 12)) * np.logspace(-6, 1, 12)
    here = np.full(12, latitude), np.full(12, longitude)
    for turn, sign in ((0, 1), (180, -1)):
        assert_agree(*here, np.clip(sign * latitude + change[0], -90, 90), longitude + turn + change[1])


@pytest.mark.parametrize(
    ("a", "b", "length_km"),
    [
        ((-41.32, 174.81), (40.96, -5.50), 19959.679267),
        ((0, 10), (0, 11), 6378.137 * np.pi / 180),
        ((0, 7), (90, 7), 10001.965729),
        ((0, 0), (0, 180), 2 * 10001.965729),  # over a pole, which is shorter than along the equator
        ((51.5, -0.1), (51.5, -0.1), 0),
        ((0, 179.5), (0, -179.5), 6378.137 * np.pi / 180),
        ((90, 0), (-90, 33), 2 * 10001.965729),
    ],
)
def test_known_lengths(a, b, length_km):
    for one, other in ((a, b), (b, a)):
        places = (np.array([value], dtype=np.float64) for value in (*one, *other))
        assert geodesics_km(*places) == pytest.approx([length_km], abs=1e-5)


def test_no_pairs_and_many():
    assert geodesics_km(*(np.empty(0),) * 4).shape == (0,)
    latitude, longitude = np.random.default_rng(1).uniform(-1, 1, (2, 70_000)) * [[80], [180]]
    found = geodesics_km(latitude, longitude, latitude[::-1], longitude[::-1])
    np.testing.assert_allclose(found, found[::-1], rtol=1e-11)
    one = [latitude[[-1]], longitude[[-1]], latitude[[0]], longitude[[0]]]
    assert geodesics_km(*one)[0] == pytest.approx(found[-1], rel=1e-13)


def test_the_iteration_itself_settles_wherever_points_are_not_nearly_opposite():
    turn = np.linspace(-178, 178, 400)
    latitude = np.linspace(-89, 89, 400)
    places = (latitude, np.zeros(400), np.roll(latitude, 77), turn)
    expected = np.array([geodesic_km(*map(float, pair)) for pair in zip(*places, strict=True)])
    found = _vincenty_km(*places)
    # The opposite point is 20,000 km away; nearer than 0.03 of the Earth's radius to it, the iteration is not asked.
    near = expected < 20_003.93 - 2 * 0.03 * 6378.137

    assert near.sum() > 390
    np.testing.assert_allclose(found[near], expected[near], rtol=1e-11, atol=1e-9)
    opposite = _vincenty_km(*(np.array([value]) for value in (10.0, 0.0, -10.05, 179.95)))
    assert np.isnan(opposite).all()


@pytest.mark.parametrize(("u2", "a"), [(1.0, 1 + 3473 / 16384), (2.0, 1 + 2 * 2440 / 16384), (0.0, 1.0)])
def test_the_series_of_an_arc_has_the_papers_coefficients(u2, a):
    """A(u2) = 1 + u2/16384 (4096 + u2(-768 + u2(320 - 175 u2))), B(u2) = u2/1024 (256 + u2(-128 + u2(74 - 47 u2)))."""
    equator_km, pole_km = 6378.137, 6378.137 * (1 - 1 / 298.257223563)
    cos2_azimuth = u2 / ((equator_km / pole_km) ** 2 - 1)
    b = {1.0: 155 / 1024, 2.0: -2 * 80 / 1024, 0.0: 0.0}[u2]
    # Where the arc's sine is 0, nothing is taken away; where its sine is 1 and the middle's cosine c, the paper has
    # B (c + B/4 (cos arc (2c^2 - 1) - B/6 c (4 sin^2 arc - 3)(4c^2 - 3))).
    for sin_arc, cos_arc, c in ((0.0, 1.0, 0.3), (1.0, 0.5, 0.5), (0.5, -1.0, 1.0), (1.0, 2.0, 0.0)):
        last = b / 6 * c * (4 * sin_arc**2 - 3) * (4 * c**2 - 3)
        less = b * sin_arc * (c + b / 4 * (cos_arc * (2 * c**2 - 1) - last))
        given = (np.array([value]) for value in (2.0, sin_arc, cos_arc, c, cos2_azimuth))
        assert _arc_km(*given)[0] == pytest.approx(pole_km * a * (2.0 - less), rel=1e-13)
