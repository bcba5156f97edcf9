"""Routes from a file: on a square whose short side A - B - D is left for A - C - D, in commands, runs and studies."""

import csv
import json

import h5py
import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.scenario import load_scenario
from scenarios.config.study import load_study
from scenarios.runfile.reader import read_run
from scenarios.studies.study import study_points

SITES = "name,latitude,longitude\nA,50,0\nB,50,1\nC,51,0\nD,51,1\n"
LINKS = "from,to,capacity,length_km\nA,B,1 Gbps,200\nB,D,1 Gbps,200\nA,C,500 Mbps,300\nC,D,500 Mbps,300\n"
OVER_C = "source,target,path\nA,D,A - C - D\n"
# 1 Gbit at 1 Gbps or 500 Mbps, and the latency of 400 km or 600 km.
SHORT_S, LONG_S = 1 + 0.0085e-3 * 400 + 4e-3, 2 + 0.0085e-3 * 600 + 4e-3
NETWORK = '[network]\nsites = "sites.csv"\nlinks = "links.csv"\nsilo_at = ["A", "D"]\naccess = "1 Tbps"\n'
WORK = '[workload]\nmodel_size = "1 Gbit"\ncompute = "0 s"\n[overlays]\nkinds = ["ring"]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tables, which is the working directory."""
    for name, text in {"sites.csv": SITES, "links.csv": LINKS, "routes.csv": OVER_C}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(result):
    return json.loads(result.ok().out)["rows"]


TABLES = ("--sites", "sites.csv", "--links", "links.csv", "--silo-at", "A", "--silo-at", "D")
TASK = ("--access", "1 Tbps", "--model-size", "1 Gbit", "--compute", "0 s", "--kind", "ring")


@pytest.mark.parametrize(
    ("routes", "paper_s", "simulated_s"),
    [
        ("", 2 + SHORT_S - 1, SHORT_S),
        (OVER_C, 4 + LONG_S - 2, LONG_S),
        # The way back is another one: by Eq. 3 two delays in two rounds; the simulated models over C queue, 2 s each.
        (f"{OVER_C}D,A,B\n", 3 + (SHORT_S + LONG_S) / 2 - 1.5, 2.0),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_detour_of_the_file_is_in_closed_forms_and_simulation(
    silosim, folder, routes, paper_s, simulated_s
):
    (folder / "routes.csv").write_text(routes)
    given = ("--routes", "routes.csv") if routes else ()
    (designed,) = rows(silosim("design", *TABLES, *TASK, *given, "--json"))
    (row,) = rows(silosim("simulate", *TABLES, *TASK, *given, "--rounds", 60, "--json"))

    assert designed["paper_s"] == pytest.approx(paper_s, rel=1e-12)
    assert row["simulated_s"] == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.usefixtures("folder")
def test_explain_shows_the_route_and_says_how_many_are_stated(silosim):
    out = " ".join(silosim("explain", *TABLES, *TASK, "--routes", "routes.csv").ok().out.split())
    assert "4 core links, 2 routes stated" in out
    assert "The longest sending, A -> D, goes over A -> C and C -> D." in out


def test_the_detour_of_a_link_that_fails_is_the_routings(silosim, folder):
    failure = '[[simulation.failure]]\nlink = "C - D"\nfrom = "30 s"\n'
    (folder / "s.toml").write_text(
        f'{NETWORK}routes = "routes.csv"\n{WORK}[simulation]\nrounds = 40\n{failure}'
    )
    silosim("run", "s.toml", "-o", "run.h5").ok()
    with h5py.File(folder / "run.h5") as file:
        gaps = np.diff(file["simulation/ring/round_start_s"][:, 0])
    assert gaps[:14] == pytest.approx([LONG_S] * 14, rel=1e-9)
    assert gaps[16:] == pytest.approx([SHORT_S] * 24, rel=1e-9)


def test_a_file_of_routes_is_found_beside_its_scenario(folder, tmp_path_factory, monkeypatch):
    (folder / "s.toml").write_text(f'{NETWORK}routes = "routes.csv"\n{WORK}')
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    network = load_scenario(folder / "s.toml")[0].network

    assert network.routes == str(folder / "routes.csv")
    assert network.located().routes == "routes.csv"
    assert build_network(network).core_route(0, 1) == (2, 6)


def test_a_run_keeps_its_routes_for_replays_timelines_and_pages(silosim, folder):
    (folder / "s.toml").write_text(f'{NETWORK}routes = "routes.csv"\n{WORK}[simulation]\nrounds = 20\n')
    silosim("run", "s.toml", "-o", "run.h5").ok()
    (folder / "routes.csv").unlink()
    record = read_run(folder / "run.h5")
    silosim("replay", "run.h5", "--access", "1 Tbps", "-o", "same.h5").ok()
    silosim("replay", "run.h5", "--access", "100 Mbps", "-o", "slow.h5").ok()

    assert record.network.routes == "routes.csv"
    assert sorted(record.underlay.stated_routes.paths) == [(0, 2, 3), (3, 2, 0)]
    for name, cycle_s in (("run.h5", LONG_S), ("same.h5", LONG_S), ("slow.h5", 10 + LONG_S - 2)):
        (row,) = rows(silosim("show", name, "--json"))
        assert row["simulated_s"] == pytest.approx(cycle_s, rel=1e-9)
    assert "A -> D" in silosim("timeline", "run.h5", "--rounds", "3").ok().out
    silosim("report", "run.h5", "-o", "run.html").ok()
    assert "2 routes stated" in (folder / "run.html").read_text()


def test_a_replay_on_another_network_leaves_routes_and_a_study_may_state_others(silosim, folder):
    (folder / "s.toml").write_text(f'{NETWORK}routes = "routes.csv"\n{WORK}[simulation]\nrounds = 20\n')
    silosim("run", "s.toml", "-o", "run.h5").ok()
    silosim(
        *("replay", "run.h5", "--underlay", "gaia", "--silo-at", "Tokyo", "--silo-at", "Seoul"),
        *("-o", "gaia.h5"),
    ).ok()
    assert read_run(folder / "gaia.h5").network.routes is None
    assert read_run(folder / "gaia.h5").underlay.stated_routes is None
    (folder / "back.csv").write_text("source,target,path\nA,D,B\n")
    (folder / "study.toml").write_text(
        '[study]\nrun = "run.h5"\n[study.grid]\n"network.routes" = ["routes.csv", "back.csv"]\n'
    )
    silosim("study", "study.toml", "-o", "study.csv", "--workers", 1).ok()
    found = [
        float(row["simulated_s"]) for row in csv.DictReader((folder / "study.csv").read_text().splitlines())
    ]
    assert found == pytest.approx([LONG_S, SHORT_S], rel=1e-9)


def test_other_routes_in_the_file_are_another_point_of_a_study(folder):
    (folder / "study.toml").write_text(
        f'{NETWORK}routes = "routes.csv"\n{WORK}[study.grid]\n"network.access" = ["1 Tbps", "1 Gbps"]\n'
    )

    def identities():
        return {point.identity for point in study_points(load_study(folder / "study.toml"))}

    before = identities()
    assert identities() == before
    (folder / "routes.csv").write_text("source,target,path\nA,D,B\n")
    assert not before & identities()


def test_another_underlay_supersedes_routes():
    config = NetworkConfig(underlay="gaia", routes="routes.csv", routing="hops")
    assert config.changed(underlay="geant").table() == {"underlay": "geant", "routing": "hops"}
    assert config.changed(access="1 Gbps").routes == "routes.csv"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("clouds", "--routes", "routes.csv"),
            "routes.csv: routes go with a routed core; the pairs of clouds are",
        ),
        (("gaia", "--routes", "none.csv"), "none.csv: there is no such file."),
        (("gaia", "--routes", "routes.csv"), "routes.csv: row 2, source(='A') must be one of "),
        (("gaia", "--routes", ""), "routes(='') must be a path."),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_routes_are_one_line(silosim, options, message):
    err = silosim("design", *options).failed(2).err
    assert err.startswith(f"silosim: error: {message}")
    assert err.count("\n") == 1
