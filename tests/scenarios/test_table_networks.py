"""Networks of tables, measured ones too, and silos of different computing times, in all commands."""

import json
import shutil

import numpy as np
import pytest

import silosim as library
from scenarios.config.network import (
    NetworkConfig,
    WorkloadConfig,
    build_network,
    build_workload,
    with_access_of,
)
from scenarios.config.scenario import load_scenario, parse_scenario
from scenarios.config.toml import scenario_text
from scenarios.runfile.reader import read_run
from scenarios.simulation.experiment import load_experiment, network_experiment
from topologies import InputError

SITES = """Hospital,Latitude,Longitude,uplink_mbps,downlink_mbps,compute_ms
Lyon,45.76,4.84,100,1000,20
Turin,45.07,7.69,50,1000,35
Zurich,47.37,8.54,100,200,20
Munich,48.14,11.58,,,
"""
LINKS = """from,to,capacity,length_km
Lyon,Turin,1 Gbps,
Lyon,Zurich,1 Gbps,400
Turin,Zurich,155 Mbps,
Zurich,Munich,10 Gbps,
"""
PAIRS = """from,to,bandwidth_mbps,rtt_ms
Lyon,Turin,800,12
Turin,Lyon,640,12
Lyon,Zurich,310,19
Zurich,Lyon,420,18
Turin,Zurich,150,11
Zurich,Turin,160,11
Munich,Zurich,700,8
Zurich,Munich,900,8
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tables, which is the working directory."""
    (tmp_path / "sites.csv").write_text(SITES)
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_access_of_the_table_of_sites_is_a_default():
    def ends(**given):
        config = NetworkConfig(sites="sites.csv", links="links.csv", **given)
        graph = build_network(config)
        again = with_access_of(config, build_network(config.without_access))
        assert np.array_equal(again.up_bps, graph.up_bps)
        assert np.array_equal(again.down_bps, graph.down_bps)
        assert graph.labels == ("Lyon", "Munich", "Turin", "Zurich")
        return graph.up_bps.tolist(), graph.down_bps.tolist()

    assert ends() == ([1e8, 1e10, 5e7, 1e8], [1e9, 1e10, 1e9, 2e8])
    assert ends(access="1 Gbps") == ([1e9] * 4, [1e9] * 4)
    assert ends(access_up="1 Gbps") == ([1e9] * 4, [1e9, 1e10, 1e9, 2e8])
    assert ends(access_at={"Turin": "5 Mbps up"})[0] == [1e8, 1e10, 5e6, 1e8]
    assert ends(access_at={"Turin": "5 Mbps up"})[1] == [1e9, 1e10, 1e9, 2e8]
    config = NetworkConfig(sites="sites.csv", links="links.csv", access_up="1 Mbps")
    assert build_network(config.changed(access="2 Gbps")).up_bps.tolist() == [2e9] * 4


@pytest.mark.usefixtures("folder")
def test_computing_times_in_their_precedence():
    graph = build_network(NetworkConfig(sites="sites.csv", links="links.csv"))

    def compute_s(**given):
        work = build_workload(WorkloadConfig(**given), "corrected", graph=graph)
        return work.name, np.broadcast_to(work.compute_s, 4).tolist()

    stated = [0.02, 0.0254, 0.035, 0.02]
    assert compute_s(preset="inaturalist") == ("custom, model of inaturalist", stated)
    assert compute_s(preset="inaturalist", compute="1 s")[1] == [1.0] * 4
    assert compute_s(preset="inaturalist", compute_at={"Munich": "90 ms"})[1] == [0.02, 0.09, 0.035, 0.02]
    assert compute_s(model_size="1 MB", compute="1 s", compute_at={"Lyon": "2 s"})[1] == [2.0, 1.0, 1.0, 1.0]
    with pytest.raises(
        InputError, match="needs a preset, or a compute time for 'Munich': for instance compute_at = "
    ):
        compute_s(model_size="1 MB")
    with pytest.raises(
        InputError, match=r"compute_at silo\(='Zürich'\) must be one of .*did you mean 'Zurich'"
    ):
        compute_s(preset="femnist", compute_at={"Zürich": "2 s"})
    with pytest.raises(InputError, match=r"compute_at.Lyon\(='2'\) must be a number with a unit"):
        WorkloadConfig(compute_at={"Lyon": "2"})


def test_networks_without_tables_keep_their_numbers():
    graph = build_network(NetworkConfig(underlay="gaia"))
    assert set(graph.up_bps.tolist()) == set(graph.down_bps.tolist()) == {1e10}
    work = build_workload(WorkloadConfig(preset="inaturalist"), "corrected", graph=graph)
    assert (work.name, work.compute_s) == ("inaturalist", 0.0254)


@pytest.mark.usefixtures("folder")
def test_a_scenario_written_for_unlike_silos_makes_the_same():
    network = NetworkConfig(sites="sites.csv", links="links.csv")
    made = network_experiment(
        network, WorkloadConfig(preset="femnist", compute_at={"Lyon": "1 ms"}), rounds=5
    )
    again = parse_scenario(made.text, source="x")
    work = build_workload(again.workload, "corrected", graph=build_network(again.network))

    assert work.compute_s.tolist() == made.work.compute_s.tolist()
    assert again.network == network
    text = scenario_text(
        again.network, work, again.overlays.overlays, again.simulation, 0, labels=made.graph.labels
    )
    assert text == made.text


def test_one_network_is_given():
    for given, rule in (
        ({}, "underlay is missing"),
        (
            {"underlay": "gaia", "pairs": "p.csv"},
            r"pairs\(='p.csv'\) must not be given beside underlay\(='gaia'\)",
        ),
        ({"sites": "s.csv"}, r"sites\(='s.csv'\) needs links, pairs or a bandwidth_matrix beside it"),
    ):
        with pytest.raises(InputError, match=rule):
            NetworkConfig(**given)
    with pytest.raises(InputError, match=r"x: network\.underlay is missing"):
        parse_scenario("[network]\naccess = '1 Gbps'\n", source="x")


def test_files_lie_beside_the_scenario(folder, monkeypatch, tmp_path_factory):
    (folder / "study.toml").write_text(
        "[network]\nsites = 'sites.csv'\npairs = 'pairs.csv'\n"
        "[workload]\npreset = 'femnist'\ncompute_at = { Lyon = '7 ms' }\n[overlays]\nkinds = ['mst']\n"
    )
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    scenario, _ = load_scenario(folder / "study.toml")
    assert scenario.network.sites == str(folder / "sites.csv")
    assert scenario.network.located().sites == "sites.csv"
    experiment = load_experiment(folder / "study.toml")
    assert experiment.graph.is_measured
    assert experiment.work.compute_s.tolist() == [0.007, 0.0046, 0.035, 0.02]


OPTIONS = ("--sites", "sites.csv", "--pairs", "pairs.csv")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_all_commands_take_tables(silosim):
    shown = "4 silos, bandwidth and latency measured for 8 of 12 pairs"
    for command in (
        ("design", *OPTIONS, "--kind", "mst"),
        ("explain", *OPTIONS, "--kind", "mst", "--compute-at", "Lyon=90 ms"),
        ("validate", *OPTIONS, "--kind", "mst", "--rounds", "100"),
        ("simulate", *OPTIONS, "--kind", "mst", "--rounds", "20", "-o", "run.h5"),
    ):
        assert shown in " ".join(silosim(*command).ok().out.split())
    sweep = ("sweep", *OPTIONS, "--kind", "mst", "--rounds", "20", "--access", "100 Mbps", "1 Gbps", "--json")
    rows = json.loads(silosim(*sweep).ok().out)["rows"]
    assert [row["access_bps"] for row in rows] == [1e8, 1e9]
    out = silosim("design", "--sites", "sites.csv", "--links", "links.csv").ok().out
    assert "access 50 Mbps to 10 Gbps up, 200 Mbps to 10 Gbps down" in out
    assert "1 local step of 20.00 ms to 35.00 ms" in out


def test_commands_that_take_scenarios_take_tables(folder, silosim):
    (folder / "study.toml").write_text(
        "[network]\nsites = 'sites.csv'\npairs = 'pairs.csv'\n[workload]\npreset = 'femnist'\n"
        "[overlays]\nkinds = ['mst']\n[simulation]\nrounds = 20\n"
        "[training]\nranks = 1\nmodel = 'softmax'\nrounds = 2\n"
    )
    silosim("run", "study.toml", "-o", "trained.h5").ok()
    trained = read_run(folder / "trained.h5")
    assert trained.underlay.measured is not None
    assert trained.silo_labels == ("Lyon", "Munich", "Turin", "Zurich")
    assert len(trained.overlays[0].wall_clock_s) > 0
    for command in (
        ("partition", *OPTIONS, "--partition", "iid"),
        ("partition", "study.toml", "--partition", "dirichlet"),
    ):
        assert "over 4 silos of " in silosim(*command).ok().out
    assert "2 silos" in silosim("calibrate", "study.toml", "--silos", "2").ok().out


METRICS = "round,loss\n" + "".join(f"{k},{3 / (k + 1)}\n" for k in range(5))


def test_an_import_takes_computing_times_of_the_table_of_sites(folder, silosim):
    (folder / "metrics.csv").write_text(METRICS)
    command = ("import-metrics", "metrics.csv", *OPTIONS, "--kind", "mst", "-o", "run.h5")
    lacking = " ".join(silosim(*command, "--model-size", "1 MB").failed(2).err.split())
    assert f"--compute must be given ({folder.name} states no computing time of Munich): " in lacking
    assert "--model-size and --compute must be given" in " ".join(silosim(*command).failed(2).err.split())
    silosim(*command, "--model-size", "1 MB", "--compute-at", "Munich=50 ms").ok()
    assert read_run(folder / "run.h5").work.compute_s.tolist() == [0.02, 0.05, 0.035, 0.02]
    (folder / "sites.csv").write_text(SITES.replace("48.14,11.58,,,", "48.14,11.58,,,44"))
    assert "--model-size must be given: " in " ".join(silosim(*command, "--force").failed(2).err.split())
    silosim(*command, "--model-size", "1 MB", "--force").ok()
    work = read_run(folder / "run.h5").work
    assert (work.name, work.compute_s.tolist()) == ("custom", [0.02, 0.044, 0.035, 0.02])


def test_a_folder_beside_the_scenario_hides_no_name(tmp_path, monkeypatch, tmp_path_factory):
    for name in ("gaia", "topohub:sndlib"):
        (tmp_path / name).mkdir()
    (tmp_path / "topohub:sndlib" / "germany50").mkdir()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    for name in ("gaia", "topohub:sndlib/germany50"):
        assert NetworkConfig(underlay=name).beside(tmp_path).underlay == name
    (tmp_path / "study.toml").write_text("[network]\nunderlay = 'gaia'\n[workload]\npreset = 'femnist'\n")
    assert load_experiment(tmp_path / "study.toml").graph.silos == 11


def test_a_replay_on_measured_pairs_leaves_out_rules_of_a_routed_core(folder, silosim):
    sites = [f"s{i:02}" for i in range(11)]
    rows = [f"{a},{b},{100 + i + j},10" for i, a in enumerate(sites) for j, b in enumerate(sites) if a != b]
    (folder / "p11.csv").write_text("\n".join(["from,to,bandwidth_mbps,rtt_ms", *rows]) + "\n")
    given = ("--core", "2 Gbps", "--bandwidth", "bottleneck", "--latency", "per_link", "--published")
    silosim("simulate", "gaia", *given, "--kind", "ring", "--rounds", "20", "-o", "run.h5").ok()
    err = " ".join(silosim("replay", "run.h5", "--underlay", "p11.csv", "-o", "other.h5").ok().err.split())
    assert (
        "left out, as the pairs of p11 are measured: variant(='published'), core(='2 Gbps'), "
        "bandwidth(='bottleneck'), latency(='per_link') of the run's network." in err
    )
    network = read_run(folder / "other.h5").network
    assert network == NetworkConfig(underlay="p11.csv")
    asked = silosim("replay", "run.h5", "--underlay", "p11.csv", "--core", "1 Gbps", "-o", "x.h5").failed(2)
    assert "core(=1000000000.0) goes with a routed core" in " ".join(asked.err.split())


def test_a_replay_needs_no_table(folder, silosim):
    silosim("simulate", *OPTIONS, "--kind", "mst", "--rounds", "20", "-o", "run.h5").ok()
    for name in ("sites.csv", "pairs.csv"):
        (folder / name).unlink()
    silosim("replay", "run.h5", "-o", "again.h5").ok()
    silosim("replay", "run.h5", "--access", "10 Mbps", "-o", "slow.h5").ok()
    run, again, slow = (read_run(folder / name) for name in ("run.h5", "again.h5", "slow.h5"))

    assert again.overlays[0].closed_forms.paper_s == run.overlays[0].closed_forms.paper_s
    assert slow.overlays[0].closed_forms.paper_s > 2 * run.overlays[0].closed_forms.paper_s
    assert run.work.compute_s.tolist() == again.work.compute_s.tolist() == [0.02, 0.0254, 0.035, 0.02]
    assert again.network == run.network


def test_network_files_and_scenarios_end_alike(folder, silosim):
    (folder / "wards.toml").write_text('sites = "sites.csv"\nlinks = "links.csv"\n')
    for command in ("design", "simulate"):
        out = silosim(command, "wards.toml", "--kind", "mst").ok().out
        assert out.startswith("wards: 4 silos, 4 core links")
    (folder / "study.toml").write_text("[network]\nunderlay = 'wards.toml'\n[workload]\npreset = 'femnist'\n")
    assert "wards: 4 silos" in silosim("simulate", "study.toml", "--rounds", "20").ok().out
    assert "is a scenario; this takes a network" in silosim("underlay", "study.toml").failed(2).err


@pytest.mark.usefixtures("folder")
def test_wrong_options_are_one_line(silosim):
    for command, rule in (
        (("design",), "network is missing: give its name or file, or --sites and --links, --pairs"),
        (
            ("design", "gaia", "--pairs", "pairs.csv"),
            "pairs(='pairs.csv') must not be given beside underlay(='gaia')",
        ),
        (
            ("design", "--sites", "sites.csv"),
            "sites(='sites.csv') needs links, pairs or a bandwidth_matrix beside it",
        ),
        (
            ("design", "gaia", "--compute-at", "Dublin"),
            "compute_at(='Dublin') must be SILO=TIME, for instance",
        ),
        (("design", "gaia", "--compute-at", "Dublin=1", "--kind", "ring"), "must be a number with a unit"),
        (("design", "clouds", "--published"), "variant(='published') goes with gaia"),
    ):
        err = silosim(*command).failed(2).err
        assert rule in " ".join(err.split())
        assert err.count("silosim: error") == 1


def test_in_python(folder):
    (folder / "sites.csv").rename(folder / "s.csv")
    (folder / "labs").mkdir()
    shutil.copy("pairs.csv", "labs")
    table = library.validate("labs", kinds=["mst"], rounds=100)
    assert [row["overlay"] for row in table.rows] == ["mst"]
    work = library.Workload(model_bits=1e6, compute_s=np.array([0.1, 0.2, 0.3, 0.4]))
    assert library.validate(NetworkConfig(pairs="pairs.csv"), work, kinds=["mst"], rounds=100).rows
    assert library.sweep("pairs.csv", ["1 Gbps"], kinds=["mst"], rounds=20).rows
