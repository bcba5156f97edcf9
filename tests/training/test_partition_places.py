"""Half of the samples to the closest silo, half dealt out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from topologies.errors import InputError
from topologies.geodesy import geodesic_km
from training.data.datasets import Dataset
from training.data.partitions import split
from training.data.partitions.by_place import closest_silo
from training.engine.rank_silos import RankSilos
from training.mpi.job_file import read_job, write_job

PARIS, NEW_YORK, SYDNEY = (48.9, 2.4), (40.7, -74.0), (-33.9, 151.2)


def shares(places, silo_places, seed=0):
    return split(
        "geographic",
        np.zeros(len(places)),
        silos=len(silo_places),
        alpha=1.0,
        seed=seed,
        places=np.array(places),
        silo_places=np.array(silo_places),
    )


@pytest.mark.parametrize(
    ("place", "silo"),
    [
        ((51.5, -0.1), 0),
        ((45.5, -73.6), 1),
        ((-36.8, 174.8), 2),
        ((21.3, -157.9), 1),  # Honolulu is 8,000 km from New York and Sydney is 8,200 km away
    ],
)
def test_closest_of_three_cities(place, silo):
    assert closest_silo(np.array([place]), np.array([PARIS, NEW_YORK, SYDNEY])).tolist() == [silo]


def test_the_date_line_is_no_border():
    silos = np.array([(0.0, 170.0), (0.0, -100.0)])
    # 15 degrees of longitude across the line, not 345; the other silo is 75 away.
    assert closest_silo(np.array([(0.0, -175.0)]), silos).tolist() == [0]
    # 190 degrees east is 170 west; 539 is 179.
    assert closest_silo(np.array([(0.0, 190.0), (0.0, 539.0)]), silos).tolist() == [0, 0]


def test_near_a_pole_longitudes_hardly_count():
    silos = np.array([(80.0, 0.0), (60.0, 180.0)])
    assert closest_silo(np.array([(89.0, 180.0)]), silos).tolist() == [0]


def test_closest_agrees_with_the_ellipsoid_but_for_places_halfway():
    rng = np.random.default_rng(8)
    low, high = (-90, -180), (90, 180)
    places, silos = rng.uniform(low, high, (300, 2)), rng.uniform(low, high, (12, 2))
    km = np.array([[geodesic_km(*place, *silo) for silo in silos] for place in places])
    chosen = km[np.arange(300), closest_silo(places, silos)]
    assert np.all(chosen <= 1.006 * km.min(axis=1))
    assert np.mean(chosen == km.min(axis=1)) > 0.98


def test_silos_at_one_place_take_turns():
    silos = np.array([PARIS, (48.9, 362.4), SYDNEY])
    owners = closest_silo(np.tile(NEW_YORK, (7, 1)), silos)
    assert owners.tolist() == [0, 1, 0, 1, 0, 1, 0]
    # A place on the equator has two signs of zero; the pole has all longitudes.
    for first, second in (((0.0, 10.0), (-0.0, 10.0)), ((-0.0, 190.0), (0.0, -170.0)), ((90, 0), (90, 77))):
        assert closest_silo(np.tile(first, (4, 1)), np.array([first, second])).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("apart_m", "owners"), [(0.001, [0, 1, 0, 1]), (0.1, [1, 1, 1, 1])])
def test_silos_within_some_centimetres_are_at_one_place(apart_m, owners):
    """Places are on the second one, which is so far north of the first; a degree is 111.2 km."""
    second = (apart_m / 111_200, 10.0)
    assert closest_silo(np.tile(second, (4, 1)), np.array([(0.0, 10.0), second])).tolist() == owners


def test_half_goes_to_the_closest_and_half_is_dealt_out():
    sizes = [share.size for share in shares([PARIS] * 900, [NEW_YORK, SYDNEY, (45.0, 5.0)])]
    assert sizes == [150, 150, 450 + 150]


def test_samples_without_a_place_are_dealt_out():
    unknown = [(np.nan, np.nan)] * 60
    sizes = [share.size for share in shares([PARIS] * 40 + unknown, [NEW_YORK, PARIS])]
    assert sizes == [40, 20 + 40]
    assert [share.size for share in shares(unknown, [NEW_YORK, PARIS])] == [30, 30]


def test_a_place_of_which_half_is_known_is_unknown_and_a_half_is_rounded_down():
    places = [PARIS] * 5 + [(48.9, np.nan), (np.nan, 2.4), (np.nan, np.nan)]
    # Of five whose place is known two go to Paris; the other six are dealt out.
    assert [share.size for share in shares(places, [NEW_YORK, PARIS])] == [3, 3 + 2]
    assert [share.size for share in shares([PARIS], [PARIS])] == [1]


def test_poles_are_places():
    assert closest_silo(np.array([(90.0, 77.0)]), np.array([(-90.0, 0.0), (90.0, -50.0)])).tolist() == [1]
    assert len(shares([(90.0, 0.0), (-90.0, 1e9)], [(90.0, 1e9), (-90.0, 0.0)])) == 2


def test_every_silo_has_a_sample():
    assert [share.size for share in shares([PARIS] * 4, [PARIS, NEW_YORK, SYDNEY, (0.0, 0.0)])] == [1] * 4
    assert shares([PARIS, SYDNEY], [NEW_YORK])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("places", "silo_places", "message"),
    [
        ([(91.0, 0.0)], [PARIS], r"latitude\(=91\.0\) of training sample 0 must be in \[-90, 90\]\."),
        ([(0.0, np.inf)], [PARIS], r"longitude\(=inf\) of training sample 0 must be finite\."),
        ([PARIS], [(np.nan, 2.0)], r"latitude\(=nan\) of silo 0 must be in \[-90, 90\]\."),
        ([PARIS] * 2, [PARIS, (2.0, np.nan)], r"longitude\(=nan\) of silo 1 must be finite\."),
        (
            [PARIS, (-90.1, 0.0)],
            [PARIS],
            r"latitude\(=-90\.1\) of training sample 1 must be in \[-90, 90\]\.",
        ),
        ([PARIS, (0.0, -np.inf)], [PARIS], r"longitude\(=-inf\) of training sample 1 must be finite\."),
    ],
)
def test_a_place_that_is_none_is_an_error(places, silo_places, message):
    with pytest.raises(InputError, match=message):
        shares(places, silo_places)


def test_places_must_be_there():
    with pytest.raises(InputError, match=r"partition\(='geographic'\) must have data with places"):
        split("geographic", np.zeros(5), silos=1, alpha=1.0, seed=0, silo_places=np.array([PARIS]))
    with pytest.raises(InputError, match=r"partition\(='geographic'\) must have silos with places"):
        split("geographic", np.zeros(5), silos=1, alpha=1.0, seed=0, places=np.zeros((5, 2)))


def test_silos_keep_their_samples_whatever_the_number_of_ranks(make_job, tmp_path):
    rng = np.random.default_rng(3)
    inputs = np.arange(80, dtype=np.float32).reshape(80, 1, 1, 1)
    data = Dataset(
        train_inputs=inputs,
        train_labels=rng.integers(0, 2, 80),
        test_inputs=inputs,
        test_labels=np.zeros(80, dtype=np.int64),
        classes=2,
        train_places=rng.uniform((-90, -180), (90, 180), (80, 2)),
    )
    places = rng.uniform((-90, -180), (90, 180), (5, 2))
    write_job(tmp_path / "job.npz", replace(make_job(silos=5, partition="geographic"), silo_places=places))
    job = read_job(tmp_path / "job.npz")
    np.testing.assert_array_equal(job.silo_places, places)

    def samples(ranks):
        found = []
        for rank in range(ranks):
            rank_silos = RankSilos(
                job,
                torch.nn.Linear(1, 2),
                data,
                communicator=SimpleNamespace(rank=rank, size=ranks),
                device=torch.device("cpu"),
            )
            found += [shard.inputs.flatten().tolist() for shard in rank_silos.shards]
        return found

    expected = split(
        "geographic",
        data.train_labels,
        silos=5,
        alpha=0.5,
        seed=7,
        places=data.train_places,
        silo_places=places,
    )
    assert samples(1) == samples(2) == samples(5) == [share.tolist() for share in expected]


def test_a_job_has_one_place_for_each_silo(make_job, tmp_path):
    with pytest.raises(InputError, match=r"silo_places\(shape=\(3, 2\)\) must have one .* silos\(=4\)"):
        replace(make_job(silos=4), silo_places=np.zeros((3, 2)))
    write_job(tmp_path / "job.npz", make_job())
    assert read_job(tmp_path / "job.npz").silo_places is None
