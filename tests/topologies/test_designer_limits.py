"""What designers allow and do by default, and the numbers of silos at which they change their ways."""

from types import SimpleNamespace

import numpy as np
import pytest

from topologies import (
    DESIGNERS,
    PERIODIC_DESIGNERS,
    RANDOM_DESIGNERS,
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
)
from topologies.designers import (
    best_of_all,
    mbst,
    multigraph,
    placed,
    random_ring,
    ring_search,
    star,
    tour,
)
from topologies.designers import equi_static as equi
from topologies.designers.options import declared_options, label_shares_option, progress_option, seed_option
from topologies.designers.tie_orders import tie_orders

ORDER = ("", ("none", "tour", "searched"), "none")
BUDGET = ("> 0 and <= 1", (), 0.5)
CRITERIA = ("paper", "serialized", "all", "simulated", "time-to-accuracy")
OPTIONS = {
    "star": {"hub": ("", (), None)},
    "exponential": {"order": ORDER},
    "equi_static": {"draws": (">= 1", (), None), "order": ORDER},
    "stl_fw": {"k": (">= 1", (), 2)},
    "best": {"criterion": ("", CRITERIA, "paper"), "evaluations": (">= 0", (), None)},
    "one_peer_exponential": {"order": ORDER},
    "base": {"k": (">= 1", (), 1), "order": ORDER},
    "multigraph": {"most_lag": (">= 1", (), 5)},
    "hierarchical": {"regions": (">= 1", (), None), "cloud_every": (">= 1 and <= 1000", (), 4)},
    "best_periodic": {
        "period": (">= 1 and <= 8", (), 2),
        "contraction": (">= 0 and <= 1", (), None),
        "evaluations": (">= 0", (), None),
    },
    **{kind: {"budget": BUDGET} for kind in ("matcha", "matcha_plus", "matcha_ring", "matcha_delta_mbst")},
    "equi_dyn": {"eta": ("> 0 and <= 1", (), 0.5), "order": ORDER},
    "epidemic": {"fanout": (">= 1", (), 1)},
}
SEEDED = {"equi_static", "best", "best_periodic"}


def silos(count):
    """A network of which only the number of silos matters."""
    return SimpleNamespace(silos=count)


@pytest.mark.parametrize("kind", [*DESIGNERS, *PERIODIC_DESIGNERS, *RANDOM_DESIGNERS])
def test_ranges_choices_and_defaults(kind):
    designer = {**DESIGNERS, **PERIODIC_DESIGNERS, **RANDOM_DESIGNERS}[kind]
    found = {
        name: (option.declaration.range, option.declaration.choices, option.default)
        for name, option in declared_options(designer).items()
    }

    assert found == OPTIONS.get(kind, {})
    assert (seed_option(designer) is not None) == (kind in SEEDED)
    assert (progress_option(designer) is not None) == (kind in SEEDED - {"equi_static"})
    assert label_shares_option(designer) == ("proportions" if kind == "stl_fw" else None)


@pytest.mark.parametrize(("count", "tried"), [(14, "completions"), (15, "known")])
def test_a_thousand_random_orders_then_rings_are_counted_up_to_14_silos(monkeypatch, count, tried):
    looked = []

    def possible(after):
        return lambda *_: looked.append(0) or len(looked) == after

    monkeypatch.setattr(random_ring, "require_reach", lambda *_: None)
    monkeypatch.setattr(
        random_ring, "_allowed", lambda graph: (None, np.zeros((graph.silos, graph.silos), dtype=bool))
    )
    monkeypatch.setattr(random_ring, "_completions", lambda _: "counted")
    monkeypatch.setattr(random_ring, "_first_ways", lambda *_: np.array([0, 1]))
    monkeypatch.setattr(random_ring, "short_tour", lambda _: [0, 1])
    monkeypatch.setattr(random_ring, "_possible", possible(1001))
    made = random_ring.random_ring(silos(count), None)

    assert len(looked) == 1000
    assert {"completions": made.completions, "known": made.known} == {
        "completions": None,
        "known": None,
        tried: {"completions": "counted", "known": (0, 1)}[tried],
    }
    looked.clear()
    monkeypatch.setattr(random_ring, "_possible", possible(1000))
    made = random_ring.random_ring(silos(count), None)
    assert (made.completions, made.known) == (None, None)


class FakeSearch:
    """Local search that changes nothing and keeps what it is asked for."""

    def __init__(self):
        self.restarts = []

    def improved(self, start):
        return start

    def perturbed(self, start, restarts, seed):
        self.restarts.append((restarts, seed))
        return start

    def length(self, _tour):
        return 0.0


@pytest.mark.parametrize(
    ("nodes", "searches", "christofides"), [(10, 3, 1), (60, 3, 1), (61, 3, 0), (200, 3, 0), (201, 1, 0)]
)
def test_tours_are_searched_for_in_three_orders_and_of_many_nodes_in_one(
    monkeypatch, nodes, searches, christofides
):
    search, extra = FakeSearch(), []
    monkeypatch.setattr(tour, "_search", lambda *_: search)
    monkeypatch.setattr(tour, "_starts", lambda costs: [np.arange(len(costs))])
    monkeypatch.setattr(tour, "christofides_tour", lambda costs: extra.append(costs) or np.arange(len(costs)))
    monkeypatch.setattr(FakeSearch, "improved", lambda _, start: list(start))
    found = tour.short_tour(np.ones((nodes, nodes)))

    assert sorted(found) == list(range(nodes))
    assert found[0] == 0
    assert search.restarts == [(500, 0)] * searches
    assert len(extra) == christofides
    search.restarts.clear()
    tour.short_tour(np.ones((nodes, nodes)), restarts=7, seed=3, searches=2)
    assert search.restarts == [(7, 3)] * 2


def test_christofides_matches_nodes_in_three_orders_of_ties(monkeypatch):
    whole, matched = tour.lightest_matching, []
    monkeypatch.setattr(
        tour, "lightest_matching", lambda weights: matched.append(len(weights)) or whole(weights)
    )
    points = np.random.default_rng(4).random(7)
    weights = np.abs(points[:, np.newaxis] - points)
    tour.christofides_tours(weights)
    assert len(matched) == 3
    tour.christofides_tour(weights)
    assert len(matched) == 4


@pytest.mark.parametrize(("nodes", "exact"), [(9, True), (10, False)])
def test_tours_of_nine_nodes_are_exact(monkeypatch, nodes, exact):
    monkeypatch.setattr(tour, "_exact", lambda _: "exact")
    monkeypatch.setattr(tour, "_search", lambda *_: FakeSearch())
    monkeypatch.setattr(tour, "_starts", lambda costs: [list(range(len(costs)))])

    assert (tour.short_tour(np.ones((nodes, nodes))) == "exact") == exact


@pytest.mark.parametrize(
    ("nodes", "firsts"), [(10, [0, 2, 4, 6, 8]), (12, [0, 3, 6, 9]), (200, [0, 40, 80, 120, 160]), (201, [0])]
)
def test_nearest_neighbours_from_up_to_five_nodes(monkeypatch, nodes, firsts):
    monkeypatch.setattr(tour, "_nearest_neighbour", lambda _, first: first)
    monkeypatch.setattr(tour, "_greedy", lambda _: "greedy")

    assert tour._starts(np.ones((nodes, nodes))) == [*firsts, "greedy"]


def test_cheap_arcs_of_a_greedy_tour_end_each_other():
    # 0 -> 1 is cheapest, then 1 -> 2; 2 -> 0 would close a circle without 3, which is joined last.
    costs = np.array([[9, 1, 8, 7], [6, 9, 2, 8], [3, 7, 9, 8], [5, 8, 8, 9]], dtype=float)

    assert tour._greedy(costs) == [3, 0, 1, 2]


def test_orders_of_ties_are_eight_and_of_many_nodes_two():
    assert [len(tie_orders(nodes)) for nodes in (1, 200, 201)] == [8, 8, 2]
    assert [order.tolist() for order in tie_orders(4)[:3]] == [[0, 1, 2, 3], [2, 0, 1, 3], [3, 2, 1, 0]]


def test_circuits_are_looked_for_by_40_programs_of_100_branches(monkeypatch):
    # All four nodes in circles of two, however many cuts there are.
    asked = []

    def solve(_costs, rules, **how):
        asked.append((len(rules), how["nodes"], how["low"], how["high"]))
        return SimpleNamespace(x=np.array([1.0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1]), status=0)

    monkeypatch.setattr(ring_search, "solve_program", solve)
    complete = ~np.eye(4, dtype=bool)

    assert ring_search.some_circuit(complete) == (None, False)
    assert asked == [(rules, 100, 0, 1) for rules in range(1, 41)]
    for status, known in ((2, True), (1, False)):
        monkeypatch.setattr(
            ring_search,
            "solve_program",
            lambda *_, status=status, **__: SimpleNamespace(x=None, status=status),
        )
        assert ring_search.some_circuit(complete) == (None, known)
        assert ring_search.some_circuit(~np.eye(200, dtype=bool)) == (None, known)
    monkeypatch.setattr(ring_search, "solve_program", None)
    assert ring_search.some_circuit(~np.eye(201, dtype=bool)) == (None, False)
    # A node that sends nothing has no circuit, whatever their number.
    assert ring_search.some_circuit(np.tri(201, k=-1, dtype=bool)) == (None, True)


@pytest.mark.parametrize(("count", "left_out"), [(200, set()), (201, {"complete", "christofides"})])
def test_candidates_of_many_silos(monkeypatch, count, left_out):
    kinds = ("star", "mst", "delta_mbst", "ring", "christofides", "underlay", "complete")
    assert tuple(best_of_all.CANDIDATES) == kinds

    def missing(*_):
        raise InputError("there is none.")

    made = {kind: lambda *_, kind=kind: kind for kind in kinds} | {"mst": missing}
    monkeypatch.setattr(best_of_all, "CANDIDATES", made)

    assert best_of_all.designed_candidates(silos(count), None) == [
        kind for kind in kinds if kind not in left_out | {"mst"}
    ]


@pytest.mark.parametrize(
    ("arcs", "evaluations"), [(0, 2000), (500, 2000), (501, 1996), (333_333, 3), (500_000, 2), (900_000, 2)]
)
def test_orders_are_fewer_where_arcs_are_many(monkeypatch, arcs, evaluations):
    asked = {}
    monkeypatch.setattr(placed, "cycle_time_by_order", lambda *_: "time")
    monkeypatch.setattr(placed, "node_order", lambda *_, **how: asked.update(how))
    monkeypatch.setattr(placed, "reordered", lambda states, _: states)
    placed.placed(None, None, [SimpleNamespace(source=range(arcs))], "searched", seed=4)

    assert asked == {"cycle_time_s": "time", "seed": 4, "evaluations": evaluations}


@pytest.mark.parametrize(("count", "step"), [(16, 1), (17, 2), (33, 3)])
def test_paths_in_the_cube_begin_at_up_to_16_silos(monkeypatch, make_underlay, count, step):
    begun = []
    whole = mbst.cube_paths
    monkeypatch.setattr(
        mbst,
        "cube_paths",
        lambda *given, starts: begun.append(starts.tolist()) or whole(*given, starts=starts),
    )
    graph = connectivity(
        make_underlay(count, [(i // 2, i, 100.0 * i) for i in range(1, count)]),
        access=AccessLinks(up_bps=1e7, down_bps=1e7),
    )
    design("delta_mbst", graph, Workload(model_bits=1e6, compute_s=0.01))

    assert begun
    assert all(starts == list(range(0, count, step)) for starts in begun)


@pytest.mark.parametrize(
    ("name", "rounds"), [("femnist", 6400), ("sentiment140", 20_000), ("inaturalist", 1600), ("other", 6400)]
)
def test_rounds_of_the_published_table_of_the_multigraph(monkeypatch, name, rounds):
    seen = []
    monkeypatch.setattr(multigraph, "_ring", lambda *_: (np.array([0, 1]), np.array([1, 0]), np.ones(2)))
    monkeypatch.setattr(
        multigraph, "published_reading", lambda *given, most_lag: seen.append((given[2], most_lag))
    )
    work = SimpleNamespace(name=name, round_compute_s=np.zeros)
    multigraph.multigraph_reading_s(silos(2), work)

    assert seen == [(rounds, 5)]


@pytest.mark.parametrize(
    ("loads", "latencies", "hub"),
    [
        ((0.5, 0.5 + 2e-10, 0.4), (2.0, 3.0, 1.0), 0),  # equal but for rounding: the lower latency
        ((0.5, 0.5 + 2e-9, 0.4), (2.0, 3.0, 1.0), 1),
        ((0.5, 0.5, 0.5), (2.0, 2.0 - 2e-13, 3.0), 0),  # equal latencies, too: the first label
        ((0.5, 0.5, 0.5), (2.0, 2.0 - 2e-12, 3.0), 1),
        ((0.5, 0.5, 0.6), (2.0, 1.0, 3.0), 2),
    ],
)
def test_what_differs_by_rounding_does_not_choose_a_hub(monkeypatch, make_underlay, loads, latencies, hub):
    graph = connectivity(
        make_underlay(3, [(0, 1, 1.0), (1, 2, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9)
    )
    its = SimpleNamespace(
        silos=3,
        may_send=graph.may_send,
        underlay=graph.underlay,
        router=graph.router,
        labels=graph.labels,
        latency_s=np.array(latencies)[:, np.newaxis] * np.ones(3),
    )
    monkeypatch.setattr(star, "router_load", lambda _: np.array(loads))
    monkeypatch.setattr(star, "silo_order", lambda _: np.arange(3))

    assert star.default_hub(its) == hub


@pytest.mark.parametrize("rule", ["load", "closeness"])
def test_only_a_rule_by_load_looks_at_loads(monkeypatch, graph, rule):
    far = int(np.argmax(graph.latency_s.mean(axis=1)))
    loads = np.zeros(graph.underlay.routers)
    loads[graph.router[far]] = 1.0
    monkeypatch.setattr(star, "router_load", lambda _: loads)
    near = int(np.argmin(graph.latency_s.mean(axis=1)))

    assert star._hub(graph, rule) == {"load": far, "closeness": near}[rule]


@pytest.mark.parametrize(
    ("count", "shown"), [(8, "2, 4, 6, 8, 10, 12, 14, 16"), (9, "2, 4, 6, 8, 10, 12, 14, 16, ...")]
)
def test_eight_shifts_are_named_that_do_not_join_all_silos(monkeypatch, count, shown):
    state = SimpleNamespace(source=np.zeros(count, dtype=int), target=np.arange(2, 2 * count + 1, 2))
    monkeypatch.setattr(equi, "equi_static_states", lambda *_: (state,))
    with pytest.raises(InputError) as raised:
        equi.equi_static(silos(40), None, seed=0)

    # By default as many as 40 has binary digits.
    assert str(raised.value) == (
        f"equi_static: draws(=6) with seed 0 draws the shifts {shown} of 40 silos, all multiples of 2, which leave "
        "2 parts of the silos apart; take more draws or another seed."
    )
    with pytest.raises(InputError, match=r"^seed\(=-1\) must be >= 0\.$"):
        equi.equi_static(silos(40), None, seed=-1)


def test_where_rings_are_rare_each_round_draws_a_tour_of_random_costs(monkeypatch):
    asked = []
    allowed = ~np.eye(3, dtype=bool)
    allowed[0, 2] = False

    def tour_of(costs, **how):
        asked.append((costs, how))
        return [0, 2, 1] if len(asked) == 1 else None

    monkeypatch.setattr(random_ring, "short_tour", tour_of)
    monkeypatch.setattr(random_ring, "_allowed", lambda _: (np.array([5, 3, 4]), allowed))
    ring = random_ring.RandomRing(kind="random_ring", graph=silos(3), work=None, known=(0, 1, 2))
    rng, again = np.random.default_rng(1), np.random.default_rng(1)

    # Where none is found, the ring that is known.
    assert [ring.draw(rng, 0).tolist() for _ in range(2)] == [[5, 4, 3], [5, 3, 4]]
    for costs, how in asked:
        assert how == {"restarts": 10, "searches": 1}
        assert np.array_equal(costs, np.where(allowed, again.random((3, 3)), np.inf))


def test_in_a_random_ring_each_silo_averages_its_model_and_its_predecessors():
    ring = random_ring.RandomRing(kind="random_ring", graph=silos(3), work=None)
    source, target = ring.arcs(np.array([0, 2, 1]))

    assert list(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 2), (1, 0), (2, 1)]
    assert ring.consensus(source, target).tolist() == [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]


@pytest.mark.parametrize(("count", "named"), [(5, "a, b, c, d, e"), (6, "a, b, c, d, e, ...")])
def test_five_silos_are_named_that_can_send_to_too_few(monkeypatch, count, named):
    monkeypatch.setattr(ring_search, "require_reach", lambda *_: None)
    monkeypatch.setattr(ring_search, "_cut_silo", lambda _: None)
    monkeypatch.setattr(ring_search, "_crowd", lambda _: (list(range(count)), 3))
    error = ring_search.no_ring("ring", SimpleNamespace(may_send=None, labels="abcdefg"))

    assert str(error) == f"ring: no ring exists, since {count} silos ({named}) can send to 3 silos only."
