"""Hierarchical FedAvg: its averages, its times, regions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import InputError, Workload, build_periodic, design
from topologies.consensus import check_consensus
from topologies.contraction import contraction
from topologies.delays import arc_delays
from topologies.periodic.hierarchical import hierarchical
from topologies.periodic.regions import central_silo, central_silos, near_regions

NETWORKS = ("gaia", "aws_na", "geant", "exodus", "ebone")
INATURALIST = Workload.preset("inaturalist", variant="published")


def round_matrices(states, silos):
    """Consensus matrix of each round: the product of the states from one that computes to the next."""
    rounds = []
    for state in states:
        matrix = check_consensus(state.consensus(silos), columns=False)
        rounds.append(matrix if state.computes else matrix @ rounds.pop())
    return rounds


def sending_s(graph, work, state):
    """Delays of Eq. 3 without the computing time."""
    compute_s = work.round_compute_s(graph.silos)
    return arc_delays(graph, work, state.source, state.target) - compute_s[state.source]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_averages_of_regions_then_of_all(numbers, cloud_every, seed):
    rng = np.random.default_rng(seed)
    _, region = np.unique(numbers, return_inverse=True)
    silos = len(region)
    edge = np.array([rng.choice(np.flatnonzero(region == number)) for number in range(region.max() + 1)])
    states = hierarchical(region, edge, int(rng.integers(silos)), cloud_every)
    matrices = round_matrices(states, silos)
    assert len(matrices) == sum(state.computes for state in states) == cloud_every
    assert contraction(silos, states) == pytest.approx(0, abs=1e-12)
    same = region[:, np.newaxis] == region
    for matrix in matrices[:-1]:
        assert matrix == pytest.approx(same / same.sum(axis=1), abs=1e-14)
    assert matrices[-1] == pytest.approx(np.full((silos, silos), 1 / silos), abs=1e-14)
    for state in states:
        assert (state.lag == 1).all()


def test_states_of_five_silos():
    states = hierarchical(np.array([0, 0, 0, 1, 1]), np.array([1, 4]), 1, 2)
    arcs = [list(zip(s.source.tolist(), s.target.tolist(), s.weight.tolist(), strict=True)) for s in states]
    third = 1 / 3
    up, down = [(0, 1, third), (2, 1, third), (3, 4, 0.5)], [(1, 0, 1.0), (1, 2, 1.0), (4, 3, 1.0)]
    assert arcs == [up, down, up, [(4, 1, 0.4)], [(1, 4, 1.0)], down]
    assert [state.computes for state in states] == [True, False, True, False, False, False]


@pytest.mark.parametrize("network", NETWORKS)
def test_of_one_region_it_is_the_star(published_graph, network):
    graph = published_graph(network, 1e10)
    star = design("star", graph, INATURALIST)
    states = hierarchical(np.zeros(graph.silos, dtype=np.int64), np.array([star.hub]), star.hub, 1)
    forms = build_periodic("one region", graph, INATURALIST, states).closed_forms
    assert [state.computes for state in states] == [True, False]
    assert forms.paper_s == pytest.approx(star.closed_forms.paper_s, rel=1e-12)
    assert forms.serialized_s == pytest.approx(star.closed_forms.serialized_s, rel=1e-12)
    assert forms.load_bound_s == pytest.approx(star.closed_forms.load_bound_s, rel=1e-12)
    assert forms.busiest_link == star.closed_forms.busiest_link


@pytest.mark.parametrize("regions", [1, 2, 3, 11])
@pytest.mark.parametrize("cloud_every", [1, 2, 5])
def test_cycle_time_in_closed_form(published_graph, regions, cloud_every):
    """From cloud to cloud: down to an edge, once around its star in each round, and up again."""
    graph = published_graph("gaia", 1e10)
    compute_s = np.random.default_rng(regions).uniform(0.02, 0.3, graph.silos)
    work = Workload(model_bits=INATURALIST.model_bits, compute_s=compute_s)
    region = near_regions(graph.latency_s, regions)
    edge = central_silos(graph.latency_s, region)
    cloud = central_silo(graph.latency_s, edge)
    states = hierarchical(region, edge, cloud, cloud_every)
    around_s, to_cloud_s = compute_s.copy(), np.zeros(graph.silos)
    for state in states[2 * (cloud_every - 1) if 1 < regions < 11 else -2 :]:
        delays_s = sending_s(graph, work, state).tolist()
        for i, j, d in zip(state.source.tolist(), state.target.tolist(), delays_s, strict=True):
            if i in edge and j in edge:
                to_cloud_s[j if i == cloud else i] += d
            else:
                around_s[j if i in edge else i] += d
    by_region = [
        to_cloud_s[e] / cloud_every + around_s[region == r].max() for r, e in enumerate(edge.tolist())
    ]
    overlay = build_periodic("regions", graph, work, states)
    assert overlay.closed_forms.paper_s == pytest.approx(max(by_region), rel=1e-12)


def test_regions_of_points_on_a_line():
    place = np.array([0.0, 10.0, 0.5, 11.0, 30.0, 0.9])
    latency_s = np.abs(np.subtract.outer(place, place)) * 1e-3
    assert near_regions(latency_s, 1).tolist() == [0] * 6
    assert near_regions(latency_s, 2).tolist() == [0, 0, 0, 0, 1, 0]
    assert near_regions(latency_s, 3).tolist() == [0, 1, 0, 1, 2, 0]
    assert near_regions(latency_s, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert central_silos(latency_s, near_regions(latency_s, 3)).tolist() == [2, 1, 4]
    # Both directions count.
    one_way = latency_s.copy()
    one_way[2] += 1.0
    assert central_silo(one_way, np.array([0, 2, 5])) in (0, 5)


@pytest.mark.parametrize(("silos", "count"), [(1, 1), (2, 1), (2, 2), (5, 3)])
def test_places_that_coincide_make_as_many_regions_as_asked_for(silos, count):
    region = near_regions(np.zeros((silos, silos)), count)
    assert sorted(set(region.tolist())) == list(range(count))
    assert region[0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: near_regions(np.zeros((3, 3)), 4), r"^regions\(=4\) must be <= 3, the number of silos\.$"),
        (lambda: near_regions(np.zeros((3, 3)), 0), r"^regions\(=0\) must be >= 1\.$"),
        (
            lambda: hierarchical(np.array([0, 2]), np.array([0, 1]), 0, 1),
            r"^region must hold each number of 0\.\.1",
        ),
        (
            lambda: hierarchical(np.array([0, -1]), np.array([0]), 0, 1),
            r"^region must hold each number of 0\.\.0",
        ),
        (
            lambda: hierarchical(np.array([0, 1]), np.array([0, 0]), 0, 1),
            r"^edge\[1\]\(=0\) must be a silo of region 1\.",
        ),
        (
            lambda: hierarchical(np.array([0, 1]), np.array([0, 7]), 0, 1),
            r"^edge\[1\]\(=7\) must be a silo of region 1\.",
        ),
        (
            lambda: hierarchical(np.array([0, 1]), np.array([0, 1]), 2, 1),
            r"^cloud\(=2\) must be a silo of 0\.\.1\.$",
        ),
        (
            lambda: hierarchical(np.array([0, 1]), np.array([0, 1]), 0, 0),
            r"^cloud_every\(=0\) must be >= 1\.$",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("less", "central", "regions"), [(0.4e-12, 0, [0, 0, 1]), (0.6e-12, 1, [0, 1, 1])])
def test_latencies_that_differ_by_rounding_are_ties(less, central, regions):
    latency_s = np.diag([1.0, 1.0 - less, 2.0])
    assert central_silo(latency_s, np.arange(3)) == central

    apart_s = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0 - less], [5.0, 1.0 - less, 0.0]])
    assert near_regions(apart_s, 2).tolist() == regions
