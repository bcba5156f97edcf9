"""Flows split over routes of equal cost in commands: what is recorded, drawn and replayed, and what is refused."""

import json

import h5py
import pytest

from scenarios.runfile.reader import read_run

pytestmark = pytest.mark.usefixtures("compiled_simulations")

SQUARE = ("--sites", "sites.csv", "--links", "links.csv", "--silo-at", "A", "--silo-at", "D", "--split-flows")
"""Silos at two corners of a square, between which there are two routes of 1 Gbps."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the tables of the square are."""
    (tmp_path / "sites.csv").write_text("site,country\n" + "".join(f"{name},x\n" for name in "ABCD"))
    (tmp_path / "links.csv").write_text(
        "source,target,capacity,length_km\n"
        + "".join(f"{ends[0]},{ends[1]},1 Gbps,10\n" for ends in ("AB", "BD", "AC", "CD"))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_half_of_each_model_is_recorded_on_each_link(silosim):
    silosim("simulate", *SQUARE, "--kind", "ring", "--rounds", "20", "-o", "run.h5").ok()
    with h5py.File("run.h5") as file:
        names = file["connectivity/link_names"].asstr()[:].tolist()
        bits = dict(zip(names, file["simulation/ring/link_bits"][:].tolist(), strict=True))
    assert {bits[name] / bits["A uplink"] for name in ("A -> B", "B -> D", "A -> C", "C -> D")} == {0.5}
    assert json.loads(silosim("explain", *SQUARE, "--kind", "ring", "--json").ok().out)


@pytest.mark.slow
def test_a_run_is_drawn_on_a_page_and_replayed_on_measured_pairs(silosim, folder):
    """Pairs that were measured have no routes to split over."""
    silosim("simulate", *SQUARE, "--kind", "ring", "--rounds", "20", "-o", "run.h5").ok()
    silosim("report", "run.h5", "-o", "run.html").ok()
    assert "Flows between routers are split over all routes" in (folder / "run.html").read_text("utf-8")
    silosim("timeline", "run.h5", "--rounds", "10-11", "-o", "trace.json").ok()
    (folder / "pairs.csv").write_text("from,to,bandwidth_mbps,rtt_ms\nA,D,100,10\nD,A,100,10\n")
    err = silosim("replay", "run.h5", "--underlay", "pairs.csv", "-o", "other.h5").ok().err
    assert "left out, as the pairs of pairs are measured: split_flows(=True)" in " ".join(err.split())
    assert not read_run(folder / "other.h5").network.split_flows


@pytest.mark.usefixtures("folder")
def test_validate_says_what_split_flows_are_divided_by(silosim):
    """By Eq. 3 1 Gbps over the two links of a route and half of the flow: 1 Gbps, half of what there is."""
    found = silosim("validate", *SQUARE, "--kind", "ring").ok()
    said = " ".join(found.out.split())
    assert "by 1, the links of the longest route times the flow's share" in said


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("gaia", "--multipath-seed", "1"), "must not be given beside"),
        (("clouds",), "split_flows(=True) goes with a routed core; the pairs of clouds are measured."),
    ],
)
def test_what_does_not_go_with_it_is_refused(silosim, words, error):
    found = silosim("design", *words, "--split-flows").failed(2)
    assert error in found.err
    assert len(found.err.strip().splitlines()) == 1
