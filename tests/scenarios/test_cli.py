"""The commands that need no training: published figures, the slow silo, sweeps, and one line for each error."""

import csv
import json
from pathlib import Path

import pytest

from topologies import published_underlays

pytestmark = pytest.mark.usefixtures("compiled_simulations")

TABLE_3_MS = {
    "gaia": {"star": 391, "mst": 138, "ring": 118},
    "aws_na": {"star": 288, "mst": 90, "ring": 81},
    "geant": {"star": 634, "mst": 101, "ring": 109},
    "exodus": {"star": 912, "mst": 145, "ring": 103},
    "ebone": {"star": 902, "mst": 122, "ring": 95},
}


@pytest.mark.parametrize("name", published_underlays())
def test_design_published_reprints_table_3(silosim, name):
    result = silosim("design", name, "--published", "--json")
    ours_ms = {row["overlay"]: 1e3 * row["paper_s"] for row in json.loads(result.out)["rows"]}

    assert result.code == 0
    assert ours_ms["star"] == pytest.approx(TABLE_3_MS[name]["star"], abs=1.0)
    assert ours_ms["mst"] == pytest.approx(TABLE_3_MS[name]["mst"], abs=1.0)
    assert ours_ms["ring"] <= TABLE_3_MS[name]["ring"] + 2.0


def test_the_table_fits_80_columns(silosim):
    result = silosim("design", "geant", "--published").ok()

    assert max(map(len, result.out.splitlines())) <= 80
    assert "634.4" in result.out
    assert "ms" in result.out


def test_the_slow_silo_is_simulated_at_the_time_of_one_model(silosim, tmp_path):
    scenario = tmp_path / "slow.toml"
    scenario.write_text(
        '[network]\nunderlay = "geant"\nvariant = "published"\naccess = "10 Gbps"\n'
        'access_at = { DE = "10 Mbps" }\n[workload]\npreset = "inaturalist"\n'
        '[overlays]\nkinds = ["christofides"]\n[simulation]\nrounds = 200\n'
    )
    result = silosim("run", scenario, "-o", tmp_path / "slow.h5", "--json").ok()
    (row,) = json.loads(result.out)["rows"]

    assert row["paper_s"] == pytest.approx(0.33, abs=0.005)
    assert row["serialized_s"] == pytest.approx(4.50, abs=0.005)
    assert row["simulated_s"] == pytest.approx(4.50, abs=0.005)
    assert row["busiest_link"] in ("DE uplink", "DE downlink")


@pytest.mark.usefixtures("coarse_figures")
def test_sweep_writes_table_csv_and_figure(silosim, tmp_path):
    result = silosim(
        "sweep",
        "gaia",
        "--access",
        "10 Gbps",
        "100 Mbps",
        "1 Gbps",
        "--rounds",
        40,
        "-o",
        tmp_path / "s",
        "--published",
    )
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))

    assert result.code == 0
    assert [float(row["access_bps"]) for row in rows] == [1e8] * 4 + [1e9] * 4 + [1e10] * 4
    star = [float(row["paper_s"]) for row in rows if row["overlay"] == "star"]
    assert star[-1] == pytest.approx(0.391, abs=0.001)
    for row in rows:
        assert float(row["simulated_s"]) >= float(row["load_bound_s"]) * (1 - 1e-9)
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("sw.png", ["sw.csv", "sw.png"]),
        ("sw.svg", ["sw.csv", "sw.svg"]),
        ("sw.PDF", ["sw.csv", "sw.PDF"]),
        ("sw.csv", ["sw.csv", "sw.png"]),
        ("sw.json", ["sw.json", "sw.png"]),
        ("v1.5.txt", ["v1.5.txt", "v1.5.png"]),
        ("sw", ["sw.csv", "sw.png"]),
        ("1.5", ["1.5.csv", "1.5.png"]),
        ("at-1.5Gbps", ["at-1.5Gbps.csv", "at-1.5Gbps.png"]),
        ("new/er/sw", ["new/er/sw.csv", "new/er/sw.png"]),
    ],
)
def test_sweep_writes_what_the_ending_says(silosim, tmp_path, given, written):
    command = ("sweep", "gaia", "--kind", "ring", "--access", "1 Gbps", "--rounds", 5, "-o", tmp_path / given)
    result = silosim(*command)

    assert result.code == 0
    found = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(found) == sorted(written)
    assert result.err == f"written: {', '.join(str(tmp_path / name) for name in written)}\n"


@pytest.mark.parametrize(("name", "existing"), [("sw.svg", "sw.csv"), ("sw.json", "sw.png")])
def test_the_second_file_of_a_sweep_is_kept_likewise(silosim, tmp_path, name, existing):
    (tmp_path / existing).write_text("mine")
    result = silosim("sweep", "gaia", "--access", "1 Gbps", "-o", tmp_path / name).failed(2)

    assert result.err == f"silosim: error: {tmp_path / existing} exists already; --force replaces it.\n"
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.usefixtures("placeholder_figures")
def test_a_sweep_draws_overlays_with_its_seed(silosim, tmp_path):
    def rows(*seed):
        command = ("sweep", "gaia", "--kind", "random_ring", "--access", "1 Gbps", "--rounds", 20)
        out = silosim(*command, *seed, "--json", "--force", "-o", tmp_path / "x").ok().out
        return json.loads(out)["rows"]

    usual = rows()
    assert usual == rows("--seed", 0)
    assert rows("--seed", 1)[0]["simulated_s"] != usual[0]["simulated_s"]


@pytest.mark.parametrize("own", [("--model-size", "1 MB"), ("--compute", "1 ms")])
def test_a_workload_goes_with_half_of_ones_own(silosim, own):
    result = silosim("design", "gaia", "--kind", "ring", "--workload", "femnist", *own)

    assert result.code == 0
    assert "of femnist" in result.out


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize("name", ["s.csv", "s.png"])
def test_sweep_replaces_files_only_when_told_to(silosim, tmp_path, name):
    command = ("sweep", "gaia", "--kind", "ring", "--access", "1 Gbps", "--rounds", 5, "-o", tmp_path / "s")
    (tmp_path / name).write_text("mine")
    kept = silosim(*command)

    assert (kept.code, kept.out) == (2, "")
    assert kept.err == f"silosim: error: {tmp_path / name} exists already; --force replaces it.\n"
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
    silosim(*command, "--force").ok()
    assert (tmp_path / name).read_bytes() != b"mine"


def test_version_says_where_the_packages_are(silosim):
    result = silosim("--version")

    assert result.code == 0
    for package in ("topologies", "simulator", "training", "scenarios"):
        assert f"{package}" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("design", "nosuch"), "underlay(='nosuch') must be one of"),
        (("design", "gean"), "did you mean 'geant'?"),
        (("design", "geant", "--access", "0 Gbps"), "access(='0 Gbps') must be > 0"),
        (("design", "geant", "--access", "-1 Gbps"), "access(='-1 Gbps') must be > 0"),
        (("design", "geant", "--access", "-1"), "access(='-1') must be a number with a unit"),
        (("design", "geant", "--access", "10"), "access(='10') must be a number with a unit"),
        (("design", "geant", "--core", "fast"), "core(='fast')"),
        (("design", "geant", "--kind", "rings"), "did you mean 'ring'?"),
        (("design", "geant", "--workload", "imagenet"), "workload(='imagenet')"),
        (
            ("design", "geant", "--workload", "femnist", "--model-size", "1 MB", "--compute", "1 ms"),
            "workload(='femnist') must not be given with both --model-size and --compute",
        ),
        (("design", "geant", "--local-steps", 0), "local_steps(=0)"),
        (("design", "geant", "--access-at", "XX=1 Mbps"), "access_at silo(='XX')"),
        (("design", "geant", "--access-at", "DE"), "must be SILO=CAPACITY"),
        (("design", "geant", "--bandwidth", "x"), "bandwidth(='x')"),
        (("design", "geant", "--latency", "x"), "latency(='x')"),
        (("design", "random.gml"), "random.gml: "),
        (("sweep", "gaia", "--access", "1 Gbps", "--rounds", 0), "rounds(=0)"),
        (("sweep", "gaia", "--access", "1 Gbps", "--sharing", "x"), "sharing(='x')"),
        (("sweep", "gaia", "--access", "1 Gbps", "--queueing", "x"), "queueing(='x')"),
        (("sweep", "gaia", "--access", "1 Gbps", "--rounds", 10**12), "rounds(=1000000000000) must be <="),
        (("sweep", "gaia", "--access", "1 Gbps", "--seed", -1), "seed(=-1) must be >= 0"),
        (
            ("sweep", "gaia", "--access", "1 Gbps", "-o", "x.xlsx"),
            "output(='x.xlsx') must end in one of .png, .svg, .pdf, .csv, .json, .txt, or have no ending.",
        ),
        (("sweep", "gaia", "--access", "1 Gbps", "-o", "."), "output(='.') must be the name of a file"),
        (("sweep", "gaia", "--access", "1 Gbps", "-o", "bad.toml/x"), "bad.toml must be a directory"),
        (("sweep", "gaia", "--access", "1 Gbps", "-o", "n" * 300), "cannot be written: File name too long"),
        (("run", "long.toml", "-o", "x.h5"), "long.toml: rounds(=2000000000) must be <="),
        (("run", "far.toml", "-o", "x.h5"), "far.toml: network.access_at silo(='Pariss')"),
        (("run", "seed.toml", "-o", "x.h5"), "seed.toml: seed(=99999999999999999999999)"),
        (("run", "long.toml", "-o", ".", "--force"), "output(='.') must be the name of a file"),
        (("run", "long.toml", "-o", "folder", "--force"), "output(='folder') is a directory"),
        (("run", "long.toml", "-o", "bad.toml/x.h5"), "bad.toml must be a directory"),
        (("demo", "-o", "bad.toml"), "bad.toml must be a directory"),
        (("sweep", "gaia", "--access", "1 Gbps", "2"), "access(='2')"),
        (("run", "bad.toml", "-o", "x.h5"), "did you mean 'access'?"),
        (("run", "no.toml", "-o", "x.h5"), "no.toml: cannot be read"),
        (("show", "no.h5"), "no.h5: there is no such file"),
        (("show", "random.gml"), "random.gml: is not an HDF5 file"),
        (("plot", "no.h5"), "no.h5"),
        (("replay", "no.h5", "--access", "1 Gbps"), "no.h5"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(silosim, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("random.gml").write_bytes(bytes(range(256)))
    Path("bad.toml").write_text('[network]\nunderlay = "gaia"\nacess = "10 Gbps"\n')
    gaia = '[network]\nunderlay = "gaia"\n'
    work = '[workload]\npreset = "inaturalist"\n'
    Path("long.toml").write_text(f"{gaia}{work}[simulation]\nrounds = 2000000000\n")
    Path("far.toml").write_text(gaia + 'access_at = { Pariss = "1 Mbps" }\n' + work)
    Path("seed.toml").write_text(f"seed = 99999999999999999999999\n{gaia}{work}")
    Path("folder").mkdir()
    before = sorted(tmp_path.iterdir())
    result = silosim(*arguments)

    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("silosim: error: ")
    assert result.err.count("\n") == 1
    assert message in result.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("placeholder_figures")
def test_an_unmarked_figure_gets_an_ending_and_the_message_names_it(silosim, run_file, tmp_path):
    result = silosim("plot", run_file, "-o", tmp_path / "figure").ok()

    assert f"written: {tmp_path / 'figure.png'}" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


def test_a_demo_keeps_a_scenario_that_was_edited(silosim, tmp_path):
    edited = tmp_path / "demo.toml"
    edited.write_text("# mine")
    result = silosim("demo", "-o", tmp_path)

    assert result.code == 2
    assert f"silosim run {edited}" in result.err
    assert edited.read_text() == "# mine"
    assert list(tmp_path.iterdir()) == [edited]


def test_a_gml_file_is_found_beside_its_scenario(silosim, tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "net.gml").write_text(
        "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 distance 100.0 capacity 1000000 ] ]"
    )
    (folder / "s.toml").write_text(
        '[network]\nunderlay = "net.gml"\naccess = "inf bps"\n[workload]\nmodel_size = "1 Mbit"\ncompute = "0 s"\n'
        '[overlays]\nkinds = ["ring"]\n'
    )
    monkeypatch.chdir(tmp_path)
    result = silosim("run", "study/s.toml", "-o", "r.h5", "--json").ok()
    (row,) = json.loads(result.out)["rows"]

    assert row["paper_s"] == pytest.approx(1.0 + 0.0085e-3 * 100 + 4e-3, rel=1e-12)
    assert "rounds" not in silosim("show", "r.h5").ok().out
