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
from topologies.designers.enrich import enrich


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
