"""All closed forms over access capacities against networks built anew with these capacities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import AccessLinks, Workload, build_overlay, connectivity, design, load_underlay
from topologies.analysis import access_curve, access_forms


@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
def test_any_network(random_case, seed, ties):
    case = random_case(seed, ties=ties)
    forms = access_forms(case.build(), 1e6, 1e11)

    for capacity in [*np.geomspace(1e6, 1e11, 8).tolist(), *forms.curve.breakpoints_bps.tolist()]:
        equal = np.full(len(case.up_bps), capacity)
        built = case.with_(up_bps=equal, down_bps=equal).build().closed_forms
        assert forms.at(capacity) == pytest.approx(
            (built.paper_s, built.serialized_s, built.load_bound_s), rel=1e-11
        )


@pytest.mark.parametrize("kind", ["star", "ring"])
@pytest.mark.parametrize("capacity", [1e7, 1e8, 1e10])
def test_the_busiest_link_is_one_of_those_that_are_named(kind, capacity):
    links = AccessLinks(up_bps=capacity, down_bps=capacity)
    graph = connectivity(load_underlay("geant"), access=links)
    overlay = design(kind, graph, Workload.preset("inaturalist", local_steps=1))
    forms = access_forms(overlay, 1e6, 1e12)

    by_access = forms.load_bits / capacity >= forms.load_s
    named = forms.access_links if by_access else forms.other_links
    assert overlay.closed_forms.busiest_link in named
    assert forms.curve.circuits[forms.piece(capacity)]


def test_the_curve_is_that_of_access_curve(published_graph):
    graph = published_graph("gaia", 1e8)
    overlay = design("ring", graph, Workload(model_bits=1e7, compute_s=0.01))
    forms, curve = access_forms(overlay, 1e6, 1e11), access_curve(overlay, 1e6, 1e11)

    assert forms.at(3e7)[0] == float(curve(3e7))
    assert forms.piece(3e7) == int(np.searchsorted(curve.breakpoints_bps, 3e7))


def test_nothing_to_send_takes_no_time(published_graph):
    graph = published_graph("gaia", 1e8)
    arcs = [(i, (i + 1) % graph.silos) for i in range(graph.silos)]
    overlay = build_overlay("own", graph, Workload(model_bits=0.0, compute_s=0.01), arcs)
    forms = access_forms(overlay, 1e6, 1e11)

    assert forms.at(1e7)[1:] == (overlay.closed_forms.serialized_s, 0.0)
    assert forms.other_links == ()


def test_the_busiest_links_of_a_line_by_hand(make_underlay):
    # 0 - 1 - 2, in both directions along the line: silo 1 sends and hears two models, others one; both core links
    # carry a model each way, the second one at half the rate.
    line = replace(make_underlay(3, [(0, 1, 0.0), (1, 2, 0.0)]), capacity_bps=np.array([1e9, 5e8]))
    graph = connectivity(line, access=AccessLinks(up_bps=1e9, down_bps=1e9), core="stated")
    work = Workload(model_bits=1e7, compute_s=0.0)
    forms = access_forms(build_overlay("line", graph, work, [(0, 1), (1, 0), (1, 2), (2, 1)]), 1e7, 1e11)

    def called(links):
        return [graph.link_name(link) for link in links]

    assert (forms.sending_bits, forms.load_bits) == (2e7, 2e7)
    assert (forms.sending_s, forms.load_s) == pytest.approx((0.02, 0.02))
    assert called(forms.access_links) == ["r1 uplink", "r1 downlink"]
    assert called(forms.other_links) == ["r1 -> r2", "r2 -> r1"]


def test_without_arcs_no_link_is_busy(make_underlay):
    graph = connectivity(
        make_underlay(2, [(0, 1, 1.0)]), access=AccessLinks(up_bps=1e9, down_bps=1e9), routers=[0]
    )
    forms = access_forms(build_overlay("one", graph, Workload(model_bits=1e7, compute_s=0.5), []), 1e6, 1e9)

    assert (forms.sending_bits, forms.sending_s, forms.load_bits, forms.load_s) == (0.0, 0.0, 0.0, 0.0)
    assert (forms.access_links, forms.other_links) == ((), ())
    assert forms.at(1e8) == (0.5, 0.5, 0.0)


def test_where_two_pieces_meet_the_first_is_named(published_graph):
    overlay = design("ring", published_graph("gaia", 1e8), Workload(model_bits=1e7, compute_s=0.01))
    forms = access_forms(overlay, 1e6, 1e11)
    curve = forms.curve

    assert len(curve.breakpoints_bps) > 0
    for place, capacity in enumerate(curve.breakpoints_bps.tolist()):
        between = [
            np.sqrt(capacity * curve.capacity_bps[place]),
            np.sqrt(capacity * curve.capacity_bps[place + 2]),
        ]
        assert [forms.piece(each) for each in between] == [place, place + 1]
