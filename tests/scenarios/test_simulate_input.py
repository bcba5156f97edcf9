"""`silosim simulate`: bad worlds and options are one line, files are kept, and a user or a reader may leave."""

import json
import os
import subprocess
import sys

import pytest

from scenarios.config.kinds import all_kinds
from scenarios.config.scenario import parse_scenario
from scenarios.runfile.reader import read_run
from topologies import load_underlay
from topologies.errors import unknown_name

pytestmark = pytest.mark.usefixtures("compiled_simulations")

WORLD = """
[network]
underlay = "geant"

[workload]
preset = "inaturalist"

[overlays]
kinds = ["ring"]

[simulation]
rounds = 20
"""


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            '[[simulation.failure]]\nlink = "PL - UA"\nfrom = "1 s"',
            "simulation.failure[0].until must be a date: while PL - UA is down, no route is left between ",
        ),
        (
            '[[simulation.failure]]\nlink = "PL - UB"\nfrom = "1 s"',
            "simulation.failure[0].link(='PL - UB') must be one of 122 names; did you mean 'PL - UA'? "
            "Among them are PL - UA, ",
        ),
        (
            '[[simulation.background]]\nlink = "PL -> UB"\nshare = "10%"',
            "; did you mean 'PL -> UA'? Among them are PL -> UA, ",
        ),
        (
            '[[simulation.away]]\nsilo = "PL"\nfrom_round = 2\npolicy = "go_on"\nrounds = 19',
            "simulation.away[0].from_round + rounds(=21) must be <= 20, the rounds of the job.",
        ),
        (
            '[simulation.compute]\ntrace = "short.csv"',
            "simulation.compute.trace: short.csv: has 3 rows, but 20 rounds need as many",
        ),
    ],
)
def test_a_bad_world_is_one_line(silosim, tmp_path, monkeypatch, tables, message):
    monkeypatch.chdir(tmp_path)
    labels = load_underlay("geant").labels
    rows = [",".join(labels), *[",".join("1" * len(labels))] * 3]
    (tmp_path / "short.csv").write_text("\n".join(rows))
    path = tmp_path / "world.toml"
    path.write_text(WORLD + tables)
    result = silosim("simulate", path)

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"silosim: error: {path}: simulation.")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--kind", "ring", "--budget", "0.3"],
            "budget(=0.3) goes with the kind matcha, matcha_plus, matcha_ring or matcha_delta_mbst, not with ring.",
        ),
        (["--kind", "matcha", "--budget", "3"], "budget(=3.0) must be > 0 and <= 1."),
        (["--kind", "ring", "--seed", "-1", "-o", "x.h5"], "seed(=-1) must be >= 0 and < 2^63."),
        (["--messages"], "messages(=True) goes with -o FILE.h5, the only place where they are kept."),
        (
            ["--messages", "-o", "x.csv"],
            "messages(=True) goes with -o FILE.h5, the only place where they are kept.",
        ),
        (
            ["--kind", "ring", "--model-size", "1e30 MB"],
            "computing time of silo 0(=0.0254 s) must be longer than what floating point loses at 4e+29 s, when arc 5 "
            "has sent its messages.",
        ),
        (["--kind", "ring", "--seed", str(2**63)], f"seed(={2**63}) must be >= 0 and < 2^63."),
        (
            [
                *["--silo-at", "Tokyo"] * 2,
                "--latency",
                "per_link",
                "--model-size",
                "0 MB",
                "--compute",
                "0 s",
            ],
            "arcs on which computing, latency and sending take 0 s must not form a circuit, but silos 1 -> 0 -> 1 do.",
        ),
    ],
)
def test_bad_options_are_one_line(silosim, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    result = silosim("simulate", "gaia", "--rounds", 5, *options)

    assert (result.code, result.out) == (2, "")
    assert result.err == f"silosim: error: {message}\n"
    assert not list(tmp_path.iterdir())


def test_every_command_and_a_scenario_name_all_kinds(silosim, tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(WORLD.replace('"ring"', '"rung"'))
    rule = str(unknown_name("kind", "rung", all_kinds())).removeprefix("kind(='rung') ")
    told = [
        silosim(command, "gaia", "--kind", "rung", *options).failed(2).err
        for command, *options in (["simulate"], ["validate"], ["design"], ["sweep", "--access", "1 Gbps"])
    ]

    assert told == [f"silosim: error: overlay kind(='rung') {rule}\n"] * 4
    assert silosim("simulate", path).failed(2).err.endswith(f"overlays.kinds(='rung') {rule}\n")


def test_computing_times_of_an_option_are_no_key_of_the_scenario(silosim, tmp_path):
    path, times = tmp_path / "world.toml", tmp_path / "times.csv"
    path.write_text(f'{WORLD}[simulation.compute]\ntrace = "missing.csv"')
    times.write_text("compute_s\nfast\n")

    assert silosim("simulate", path, "--compute-times", times).failed(2).err == (
        f"silosim: error: {times}: row 1 must hold 1 numbers, in seconds.\n"
    )
    silosim("simulate", path, "--compute-times", "exponential").ok()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["simulate", "--rounds", 5], ["validate", "--rounds", 100, "--json"]])
def test_a_reader_that_leaves_is_no_error(command):
    name, *options = command
    line = [
        sys.executable,
        "-c",
        "from scenarios.cli.main import main; main()",
        name,
        "gaia",
        "--kind",
        "ring",
        *options,
    ]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            list(map(str, line)), stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_keeps_the_options_of_designers(silosim, tmp_path):
    path = tmp_path / "x.h5"
    kinds = ("--kind", "matcha", "--kind", "star", "--kind", "mst")
    silosim("simulate", "gaia", *kinds, "--budget", 0.2, "--hub", "Tokyo", "--rounds", 50, "-o", path)
    record = read_run(path)
    scenario = parse_scenario(record.scenario, source="x")
    replayed = silosim("replay", path, "--access", "1 Gbps", "-o", tmp_path / "y.h5", "--json")

    assert scenario.overlays.options == {"matcha": {"budget": 0.2}, "star": {"hub": "Tokyo"}}
    assert replayed.code == 0, replayed.err
    # The arcs of the run are drawn again, which they are by its budget alone.
    assert [row["overlay"] for row in json.loads(replayed.out)["rows"]] == ["matcha", "star", "mst"]


def test_the_budget_is_matchas(silosim):
    command = ["simulate", "gaia", "--kind", "matcha", "--kind", "ring", "--rounds", 50, "--json"]
    little, much = (
        json.loads(silosim(*command, "--budget", budget).ok().out)["rows"] for budget in (0.2, 0.9)
    )

    assert little[0]["messages"] < much[0]["messages"]
    assert little[1]["messages"] == much[1]["messages"] == 50 * 11


@pytest.mark.parametrize("ending", ["csv", "h5"])
def test_a_file_is_replaced_only_with_force(silosim, tmp_path, monkeypatch, ending):
    path = tmp_path / f"x.{ending}"
    path.write_text("mine")
    command = ("simulate", "gaia", "--kind", "mst", "--rounds", 20, "-o", path)
    with monkeypatch.context() as patch:
        patch.setattr("scenarios.cli.simulate.simulate_table", None)
        refused = silosim(*command)

    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"silosim: error: {path} exists already; --force replaces it.\n"
    assert path.read_text() == "mine"
    silosim(*command, "--force").ok()
    assert path.read_bytes() != b"mine"


def interrupt(*_arguments, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "name", "why"),
    [
        ("studies.simulate.run_job", None, "nothing was kept, as there is no -o FILE.h5"),
        ("studies.simulate.run_job", "x.csv", "nothing was kept, as there is no -o FILE.h5"),
        ("simulation.design_bar.design_any", "x.h5", "nothing was kept, as no round was complete"),
    ],
)
def test_an_interrupted_simulation_that_keeps_nothing_says_so(
    silosim, tmp_path, monkeypatch, place, name, why
):
    monkeypatch.setattr(f"scenarios.{place}", interrupt)
    files = () if name is None else ("-o", tmp_path / name)
    result = silosim("simulate", "gaia", "--kind", "mst", *files)

    assert (result.code, result.out, result.err) == (130, "", f"silosim: interrupted; {why}\n")
    assert not list(tmp_path.iterdir())
