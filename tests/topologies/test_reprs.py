"""What a user sees of an object in a Python session: one line that says what it is."""

import numpy as np
import pytest

from topologies import (
    AccessLinks,
    Workload,
    connectivity,
    cycle_time,
    design,
    design_random,
    load_underlay,
    make_schedule,
)
from topologies.analysis import Resources, access_curve, explain, free_arcs, sensitivities
from topologies.analysis.access_forms import access_forms
from topologies.analysis.arc_limits import ArcLimits
from topologies.analysis.upgrade_links import upgrade_links
from topologies.analysis.upgrade_terms import PricedSet, UpgradeTerms
from topologies.arc_numbers import ArcNumbers
from topologies.designers.enrich import enrich
from topologies.designers.registry import DesignerRegistry
from topologies.errors import UNSTATED, Field
from topologies.explicit_routes import explicit_routes
from topologies.measured_pairs import UnroutedPairs
from topologies.multipath import multipath_routes
from topologies.networks.csv_table import read_table
from topologies.networks.window_fit import fit_windows
from topologies.schedule import NamedRandomOverlay
from topologies.site_values import SiteValues
from topologies.slow_start import with_slow_start
from topologies.split_routes import split_routes
from topologies.state import state_of
from topologies.stated_routes import stated_routes


@pytest.fixture(scope="module")
def objects():
    underlay = load_underlay("gaia", variant="published")
    access = AccessLinks(up_bps=np.linspace(1e8, 1e9, 11), down_bps=1e9)
    graph = connectivity(underlay, access=access)
    work = Workload(model_bits=45e6, compute_s=np.linspace(0.01, 0.02, 11), local_steps=2)
    tree, matcha = design("mst", graph, work), design_random("matcha", graph, work)
    return {
        "underlay": underlay,
        "access": access,
        "connectivity": graph,
        "routes": graph.routes,
        "workload": work,
        "preset": Workload.preset("inaturalist"),
        "overlay": tree,
        "forms": tree.closed_forms,
        "event graph": tree.event_graph,
        "cycle time": cycle_time(tree.event_graph),
        "matcha": matcha,
        "random ring": design_random("random_ring", graph, work),
        "schedule": make_schedule(matcha, 3, 20),
        "curve": access_curve(tree, 1e7, 1e10),
        "sensitivities": sensitivities(tree),
        "resources": Resources.of(tree),
        "free arc": free_arcs(tree)[0],
        "explained arc": explain(tree).arcs[0],
        "enrichment": enrich(tree, consensus="metropolis"),
    }


def test_every_repr_is_one_line(objects):
    texts = {name: repr(value) for name, value in objects.items()}

    assert {
        name for name, text in texts.items() if "\n" in text or "array" in text or len(text) > 300
    } == set()


def test_they_say_what_an_object_is(objects):
    assert repr(objects["underlay"]) == "<Underlay gaia (published): 11 routers, 55 links>"
    assert repr(objects["access"]) == "<AccessLinks: up 1e+08 to 1e+09, down 1e+09 bit/s>"
    assert repr(objects["workload"]) == (
        "<Workload custom: 45000000 bit, 0.01 to 0.02 s per local step, local_steps 2>"
    )
    assert repr(objects["preset"]) == (
        "<Workload inaturalist: 358961664 bit, 0.0254 s per local step, local_steps 1>"
    )
    assert repr(objects["overlay"]).startswith("<Overlay mst on gaia: 11 silos, 20 arcs, paper ")
    assert repr(objects["matcha"]) == (
        "<Matcha matcha on gaia: 11 silos, 55 edges in 11 matchings, budget 0.5>"
    )
    assert repr(objects["schedule"]).startswith("<Schedule of matcha: 20 rounds, ")
    assert repr(objects["event graph"]) == "<EventGraph: 11 nodes, 31 arcs>"


def test_they_count_what_an_object_holds(objects):
    graph, work, tree = objects["connectivity"], objects["workload"], objects["overlay"]
    clouds = load_underlay("clouds_aws")
    pair, nan = np.arange(2), np.nan
    values = SiteValues(
        up_bps=np.array([1.0, np.inf]), down_bps=np.array([nan, 2.0]), compute_s=np.full(2, nan)
    )
    state = state_of(pair, pair[::-1], np.full(2, 0.5), np.array([0, 3]))
    idle = state_of(pair[:0], pair[:0], np.empty(0), computes=False)
    between = [(a, b) for a in range(11) for b in range(11) if a != b]
    routes = explicit_routes(graph.underlay, [(a, b, graph.routes.links(a, b)) for a, b in between])
    texts = {
        "<Underlay clouds_aws: 17 sites, 228 measured pairs>": clouds,
        "<MeasuredPairs: 17 sites, 228 pairs>": clouds.measured,
        "<WindowFit: 15 sites with a window, 186 pairs limited>": fit_windows(
            clouds.measured, far_s=0.1, streams=1
        ),
        "<SiteValues of 2 sites: up_bps 1, down_bps 1, compute_s 0>": values,
        "<Table t.csv: 2 rows, 3 columns>": read_table(b"a,b,c\n1,2,3\n4,5,6\n", "t.csv"),
        "<ShortestRoutes between 11 routers>": graph.routes,
        "<ExplicitRoutes between 11 routers>": routes,
        "<MultipathRoutes between 11 routers>": multipath_routes(
            graph.underlay, np.ones(graph.underlay.links), 0
        ),
        "<SplitRoutes between 11 routers>": split_routes(graph.underlay, np.ones(graph.underlay.links)),
        "<StatedRoutes of 2 pairs>": stated_routes([(0, 1), (1, 2, 3)]),
        "<UnroutedPairs between 17 sites>": UnroutedPairs(sites=17),
        "<SlowStart idle: initial windows 115840 to 347520 bits>": with_slow_start(
            graph, "idle", np.arange(11) % 3 + 1
        ).slow_start,
        "<State: 2 arcs, lags up to 3>": state,
        "<State: 0 arcs, lags up to 0, no computing>": idle,
        "ArcNumbers(2 arcs)": ArcNumbers(3, [(pair, pair[::-1]), (pair[:1], pair[1:])]),
        "<ArcLimits: 20 arcs in 1 rounds>": ArcLimits.of(tree),
        "<PricedSet: 2 links for 3, 0.25 s>": PricedSet(
            raised=np.array([True, False, True]), price=3.0, cycle_time_s=0.25
        ),
        "<Epidemic epidemic on gaia: 11 silos, fanout 1>": design_random("epidemic", graph, work),
        "<EquiDyn equi_dyn on gaia: 11 silos, eta 0.5>": design_random("equi_dyn", graph, work),
        "<NamedRandomOverlay mine: <RandomRing random_ring on gaia: 11 silos>>": NamedRandomOverlay(
            kind="mine", base=objects["random ring"]
        ),
        "<designers star>": DesignerRegistry(
            "group", {"star": "topologies.designers.star:star"}, beside=(), reserved=()
        ),
        "Field('network', 0, value=3)": Field("network", 0, value=3),
        "UNSTATED": UNSTATED,
    }
    assert {text: repr(shown) for text, shown in texts.items()} == {text: text for text in texts}
    low, high = 1e7, 1e10
    assert repr(access_forms(tree, low, high)) == f"<AccessForms: {access_curve(tree, low, high)!r}>"
    assert repr(access_curve(objects["overlay"], low, high)) == (
        "<AccessCurve: 18.1028 s at 1e+07 bit/s to 0.150242 s at 1e+10 bit/s, 2 pieces>"
    )
    terms = UpgradeTerms.of(tree, upgrade_links(tree), "paper")
    assert repr(terms) == f"<UpgradeTerms of paper: {len(terms.links)} links of {tree!r}>"
