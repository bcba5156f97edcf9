"""What functions of studies do unless they are asked for something else: files stay, and draws are those of seed 0."""

import pytest

from scenarios.config.overlay_config import OverlayConfig
from scenarios.studies.design import design_table
from scenarios.studies.fit_window import fit_window_table
from scenarios.studies.underlay import convert, draw
from topologies import AccessLinks, InputError, Workload, connectivity, load_underlay
from topologies.bounds import lower_bound_s

WORK = Workload(model_bits=1e6, compute_s=0.1)


@pytest.fixture(scope="module")
def graph():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))


@pytest.mark.parametrize(("write", "name"), [(convert, "n.gml"), (draw, "n.html")])
def test_a_network_replaces_no_file(write, name, tmp_path):
    path = tmp_path / name
    path.write_text("mine")
    for options in ({}, {"force": False}):
        with pytest.raises(InputError, match="exists"):
            write(load_underlay("gaia"), path, **options)
        assert path.read_text() == "mine"
    write(load_underlay("gaia"), path, force=True)
    assert path.read_text() != "mine"


def test_designs_are_those_of_seed_0(graph):
    kinds = [OverlayConfig(kind="random_ring")]
    rows = design_table(graph, WORK, kinds).rows
    assert rows == design_table(graph, WORK, kinds, seed=0, bound=False).rows
    assert rows != design_table(graph, WORK, kinds, seed=1).rows


def test_the_lower_bound_is_the_quick_one(graph):
    ring = [OverlayConfig(kind="ring")]
    found_s = [
        design_table(graph, WORK, ring, **options).rows[0]["lower_bound_s"]
        for options in ({}, {"bound": False}, {"bound": True})
    ]
    quick_s, highest_s = (lower_bound_s(graph, WORK, circuits=circuits) for circuits in (False, True))
    assert found_s == [quick_s, quick_s, highest_s]
    assert quick_s < highest_s


def test_windows_are_fitted_to_one_stream():
    underlay = load_underlay("clouds_aws")
    rows = fit_window_table(underlay, far_s=0.1).rows
    assert rows == fit_window_table(underlay, far_s=0.1, streams=1).rows
    assert rows != fit_window_table(underlay, far_s=0.1, streams=2).rows
