"""Routes that an underlay states for some pairs: what changes for these, what stays for all others."""

from itertools import permutations, product

import numpy as np
import pytest

from topologies import AccessLinks, InputError, connectivity, load_underlay
from topologies.explicit_routes import with_stated
from topologies.networks.route_table import read_routes, with_routes
from topologies.routing import shortest_routes
from topologies.routings import named_routing
from topologies.stated_routes import stated_routes
from topologies.underlay import Underlay

FAST = AccessLinks(up_bps=1e12, down_bps=1e12)
# A - B - D is short, A - C - D long; two links between C and D, of which the second is shorter.
LABELS, ENDS, KM = "ABCD", [(0, 1), (1, 3), (0, 2), (2, 3), (2, 3)], [100.0, 100.0, 200.0, 300.0, 200.0]
CORE_BPS = np.array([1e9, 1e9, 6e8, 4e8, 5e8])


def square(**changes):
    return Underlay(
        **{
            "name": "square",
            "variant": "corrected",
            "labels": tuple(LABELS),
            "latitude_deg": np.full(4, np.nan),
            "longitude_deg": np.full(4, np.nan),
            "ends": np.array(ENDS),
            "length_km": np.array(KM),
            "capacity_bps": CORE_BPS,
            **changes,
        }
    )


def read(text, underlay=None):
    return read_routes(text.encode(), "routes.csv", underlay or square())


def named(routes):
    return sorted("".join(LABELS[router] for router in path) for path in routes.paths)


def test_a_stated_route_has_its_latency_and_bandwidth_and_other_pairs_the_shortest():
    plain = connectivity(square(), access=FAST)
    graph = connectivity(square(stated_routes=stated_routes([(0, 2, 3)])), access=FAST)

    assert plain.core_route(0, 3) == (0, 2)
    # Of the parallel links the shorter one, though it is the later one.
    assert graph.core_route(0, 3) == (4, 8)
    assert graph.available_bps[0, 3] == 5e8 / 2
    assert graph.latency_s[0, 3] == pytest.approx(0.0085e-3 * 400 + 4e-3, rel=1e-12)
    others = [pair for pair in permutations(range(4), 2) if pair != (0, 3)]
    assert [graph.core_route(*pair) for pair in others] == [plain.core_route(*pair) for pair in others]
    for name in ("latency_s", "available_bps"):
        same = getattr(graph, name) == getattr(plain, name)
        assert np.argwhere(~same).tolist() == [[0, 3]]
    assert graph.core_route(1, 1) == ()


def test_what_is_down_is_passed_by_on_a_parallel_link_else_by_the_routing():
    underlay = square(stated_routes=stated_routes([(0, 2, 3), (3, 2, 0)]))

    def route(*down):
        core_bps = np.where(np.isin(np.arange(5), down), 0.0, CORE_BPS)
        return with_stated(underlay, core_bps, shortest_routes(underlay, core_bps)).links(0, 3)

    assert route() == (4, 8)
    assert route(4) == (4, 6)
    assert route(3, 4) == (0, 2)
    assert route(2) == (0, 2)
    assert route(0) == (4, 8)


def test_the_rest_follows_any_routing_and_multipath():
    for name, seed in product(("hops", "inverse_capacity"), (None, 3)):
        routing = named_routing(name, seed)
        plain = connectivity(load_underlay("geant"), access=FAST, routing=routing)
        away = next(
            (i, j)
            for i, j in permutations(range(40), 2)
            if plain.core_route(i, j) != connectivity(load_underlay("geant"), access=FAST).core_route(i, j)
        )
        base = shortest_routes(plain.underlay)
        path = routers_of(plain.underlay, away[0], base.links(*away))
        graph = connectivity(
            Underlay(**fields_of(plain.underlay), stated_routes=stated_routes([path])),
            access=FAST,
            routing=routing,
        )
        assert graph.core_route(*away) == base.links(*away)
        differs = graph.latency_s != plain.latency_s
        differs |= graph.available_bps != plain.available_bps
        assert {tuple(pair) for pair in np.argwhere(differs).tolist()} <= {away}


def fields_of(underlay):
    names = (
        "name",
        "variant",
        "labels",
        "latitude_deg",
        "longitude_deg",
        "ends",
        "length_km",
        "capacity_bps",
    )
    return {name: getattr(underlay, name) for name in names}


def routers_of(underlay, source, links):
    path = [source]
    for direction in links:
        path.append(int(underlay.ends[direction // 2][1 - direction % 2]))
    return path


@pytest.mark.parametrize("name", ["gaia", "geant"])
def test_stating_the_shortest_routes_of_all_pairs_changes_nothing(name):
    underlay = load_underlay(name)
    base = shortest_routes(underlay)
    pairs = list(permutations(range(underlay.routers), 2))
    stated = stated_routes([routers_of(underlay, pair[0], base.links(*pair)) for pair in pairs])
    routes = connectivity(Underlay(**fields_of(underlay), stated_routes=stated), access=FAST, core=1e9).routes

    assert all(routes.links(*pair) == base.links(*pair) for pair in pairs)
    np.testing.assert_allclose(routes.distance_km, base.distance_km, rtol=1e-12)
    assert np.array_equal(routes.hops, base.hops)
    assert np.array_equal(routes.used_links(), base.used_links())
    core_bps = np.arange(1.0, 1.0 + underlay.links)
    assert np.array_equal(routes.bottleneck_bps(core_bps), base.bottleneck_bps(core_bps))


def test_a_link_is_used_where_a_route_that_counts_takes_it():
    both = stated_routes([(0, 2, 3), (3, 2, 0), (1, 0, 2, 3), (3, 2, 0, 1)])
    # 0 -> 3 and 1 -> 3 are the pairs whose shortest route takes the link 1 - 3; so does 1 -> 2 and back by length.
    graph = connectivity(
        square(length_km=np.array([100.0, 100.0, 150.0, 300, 200]), stated_routes=both), access=FAST
    )

    assert graph.routes.used_links().tolist() == [True, False, True, False, True]


def test_an_underlay_in_another_order_states_the_same_routes():
    underlay = square(labels=tuple("DBCA"), stated_routes=stated_routes([(0, 2, 3), (1, 0)]))
    sorted_one = underlay.in_label_order()

    assert [[sorted_one.labels[i] for i in path] for path in sorted_one.stated_routes.paths] == [
        ["D", "C", "A"],
        ["B", "D"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "source,target,path\nA,D,A - C - D\n",
        "source,target,path\nA,D,A;C;D\n",
        "src,dst,route\nA,D,A > C > D\n",
        "from;to;path\nA;D;A->C->D\n",
        "source,target,path\nA,D,C\nA,D,A > C\nA,D,C > D\n",
        "source,target,hop,router\nA,D,0,A\nA,D,1,C\nA,D,2,D\n",
        "source\ttarget\tttl\tnode\nA\tD\t2\tD\nA\tD\t1\tC\n",
    ],
)
def test_forms_of_a_table(text):
    assert named(read(text)) == ["ACD", "DCA"]


def test_a_way_back_of_its_own_is_kept():
    text = "source,target,path\nA,D,A > C > D\nD,A,D > B > A\nB,C,B > D > C\n"
    assert named(read(text)) == ["ACD", "BDC", "CDB", "DBA"]


def test_labels_may_hold_what_separates_others():
    labels = ("A - 1", "B", "C->2", "D")
    underlay = square(labels=labels)
    text = "source,target,path\nA - 1,D,A - 1;C->2;D\nB,C->2,A - 1\n"
    assert sorted(read(text, underlay).paths) == [(0, 2, 3), (1, 0, 2), (2, 0, 1), (3, 2, 0)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("A,D,A - X - D", "row 2, path(='X') must be one of A, B, C, D."),
        ("A,X,A - D", "row 2, target(='X') must be one of A, B, C, D."),
        ("A,D,A - D", "row 2, path(='A - D') must follow links; there is none between 'A' and 'D'."),
        (
            "A,B,A - B\n\nA,D,B - C",
            "row 4, path(='B - C') must follow links; there is none between 'B' and 'C'.",
        ),
        ("A,D,A - B - A - C - D", "must pass each router once; 'A' is on the route twice."),
        (
            "A,D,D - C - A",
            "row 2, path(='D - C - A') must run from the source 'A' to the target 'D', not back.",
        ),
        ("A,D,D > C", "row 2, path(='D > C') must run from the source 'A' to the target 'D', not back."),
        ("A,D,C > A", "row 2, path(='C > A') must run from the source 'A' to the target 'D', not back."),
        ("A,D,A - C - A", "must pass each router once; 'A' is on the route twice."),
        ("A,D,C\nA,D,B", "row 3, path(='B') must be the route of row 2, which is of the same pair."),
        ("A,A,B", "row 2, target(='A') must be another router than the first one."),
        ("A,D,", "row 2, path(='') must name the routers of the route."),
    ],
)
def test_a_wrong_row_is_named(rows, message):
    with pytest.raises(InputError) as caught:
        read(f"source,target,path\n{rows}\n")
    assert str(caught.value).startswith("routes.csv: row ")
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "source,target\nA,D\n",
            "needs a column 'path' or 'route' for the route, or two columns 'hop' and 'router'",
        ),
        (
            "source,path\nA,D\n",
            "needs a column 'to' or 'target' or 'dst' for the last router; it has 'source', 'path'.",
        ),
        (
            "source,target,hop,router\nA,D,1,B\nA,D,1,C\n",
            "row 3, hop(='1') must be another hop than that of row 2.",
        ),
        ("source,target,hop,router\nA,D,x,B\n", "row 2, hop(='x') must be a number."),
        ("source,target,hop,router\nA,D,,B\n", "row 2, hop(='') must be a number."),
        ("source,target,hop,router\nA,D,1,B\nA,D,2,C\n", "row 3, router(='C') must follow links"),
        (
            "source,target,path\nA,B,D\n",
            "row 2, path(='D') must follow links; there is none between 'A' and 'D'.",
        ),
        (
            "source,target,path\nA,D,A\n",
            "row 2, path(='A') must follow links; there is none between 'A' and 'D'.",
        ),
    ],
)
def test_a_wrong_table_is_named(text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value).startswith(f"routes.csv: {message}")


def test_a_file_and_a_network_without_a_core(tmp_path):
    (tmp_path / "r.csv").write_text("source,target,path\nA,D,C\n")

    assert named(with_routes(square(), tmp_path / "r.csv").stated_routes) == ["ACD", "DCA"]
    with pytest.raises(InputError, match=r"none.csv: there is no such file"):
        with_routes(square(), tmp_path / "none.csv")
    with pytest.raises(
        InputError, match=r"r.csv: routes go with a routed core; the pairs of clouds are measured"
    ):
        with_routes(load_underlay("clouds"), tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([(0, 3)], r"the stated route \(0, 3\) must follow links; there is none \(0, 3\)"),
        ([(0, 9)], r"the stated route \(0, 9\) must follow links"),
        ([(0,)], "two routers or more, each once"),
        ([(0, 1, 0)], "two routers or more, each once"),
        ([(0, 1), (0, 2, 3, 1)], r"^the pair \(0, 1\) must have one route\.$"),
        ([(0, 1, 3), (3, 1, 0), (0, 2, 3)], r"^the pair \(0, 3\) must have one route\.$"),
        ([(2, 0), (1, 3, 1)], r"^the route \(1, 3, 1\) must pass two routers or more, each once\.$"),
    ],
)
def test_routes_of_an_underlay_follow_its_links(paths, message):
    with pytest.raises(InputError, match=message):
        square(stated_routes=stated_routes(paths))


@pytest.mark.parametrize(
    "rows",
    ["source,target,hop,router\nA,D,0,D\nA,D,1,C\nA,D,2,A", "source,target,hop,router\nA,D,1,C\nA,D,2,A"],
)
def test_hops_that_run_back_are_named(rows):
    with pytest.raises(InputError, match=r"must run from the source 'A' to the target 'D', not back\."):
        read(f"{rows}\n")


def test_a_row_of_a_route_is_named_by_its_own_number():
    head = "source,target,hop,router\n"
    cases = {
        "B,C,1,D\nA,D,1,C\nA,D,2,X\n": "row 4, router(='X') must be one of A, B, C, D.",
        "A,D,1,B\n\nA,D,2,\n": "row 4, router(='') must name the routers of the route.",
        "A,D,1,C\nA,D,2,B\n": "row 3, router(='B') must follow links; there is none between 'C' and 'B'.",
        "A,D,1,C\nA,D,2,C\n": "row 3, router(='C') must pass each router once; 'C' is on the route twice.",
        "A,D,2,C\nA,D,1,B\nA,D,2,C\n": "row 4, hop(='2') must be another hop than that of row 2.",
        "A,D,1,C\nD,D,1,C\n": "row 3, target(='D') must be another router than the first one.",
    }
    for rows, message in cases.items():
        with pytest.raises(InputError) as caught:
            read(head + rows)
        assert str(caught.value) == f"routes.csv: {message}"


def test_the_same_route_twice_is_one_and_its_first_row_is_named():
    text = "source,target,path\nA,D,C\nA,D,A;C;D\n"
    assert named(read(text)) == ["ACD", "DCA"]
    with pytest.raises(
        InputError, match=r"row 4, path\(='B'\) must be the route of row 2, which is of the same pair"
    ):
        read(text + "A,D,B\n")


def test_hops_need_both_columns():
    for head in ("source,target,hop", "source,target,router"):
        with pytest.raises(
            InputError, match="needs a column 'path' or 'route' for the route, or two columns 'hop'"
        ):
            read(f"{head}\nA,D,1\n")
