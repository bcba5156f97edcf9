"""What options of studies change: whether files are replaced, the draws of a design, its bound, streams of a window."""

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
def test_a_network_replaces_a_file_only_where_it_is_told(write, name, tmp_path):
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        write(load_underlay("gaia"), path, force=False)
    assert path.read_text() == "mine"
    write(load_underlay("gaia"), path, force=True)
    assert path.read_text() != "mine"


def test_designs_are_drawn_with_the_seed(graph):
    kinds = [OverlayConfig(kind="random_ring")]
    rows = design_table(graph, WORK, kinds, seed=0, bound=False).rows
    assert rows == design_table(graph, WORK, kinds, seed=0, bound=False).rows
    assert rows != design_table(graph, WORK, kinds, seed=1, bound=False).rows


def test_the_lower_bound_is_the_quick_one_unless_the_highest_is_asked_for(graph):
    ring = [OverlayConfig(kind="ring")]
    found_s = [
        design_table(graph, WORK, ring, seed=0, bound=bound).rows[0]["lower_bound_s"]
        for bound in (False, True)
    ]
    quick_s, highest_s = (lower_bound_s(graph, WORK, circuits=circuits) for circuits in (False, True))
    assert found_s == [quick_s, highest_s]
    assert quick_s < highest_s


def test_windows_are_fitted_to_the_streams():
    underlay = load_underlay("clouds_aws")
    rows = fit_window_table(underlay, far_s=0.1, streams=1).rows
    assert rows != fit_window_table(underlay, far_s=0.1, streams=2).rows
