"""Everything that a user of the package needs, each name once, and the examples of the docstrings."""

import doctest
import inspect
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import silosim
from scenarios.cli.main import main
from scenarios.report.table_formats import Json

SMALL = """
name = "small"
seed = 3

[network]
underlay = "gaia"
access = "100 Mbps"

[workload]
compute = "10 ms"

[overlays]
kinds = ["star", "ring"]

[simulation]
rounds = 30

[training]
ranks = 1
model = "softmax"
rounds = 4
log_every = 2
checkpoint_every = 2
learning_rate = 0.5
target_accuracy = 0.1
"""
GRID = """
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["star", "ring"]
[study.grid]
"network.access" = ["1 Gbps", "10 Gbps"]
"""
METRICS = "round,loss,test_accuracy\n1,2.0,0.5\n2,1.0,0.75\n"
FAST = silosim.NetworkConfig(underlay="gaia", access="1 Gbps")
ACCESS = silosim.AccessLinks(up_bps=1e9, down_bps=1e9)
WORK = silosim.Workload.preset("inaturalist")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a scenario, its run and metrics of another program; not to be changed."""
    path = tmp_path_factory.mktemp("studies")
    (path / "study.toml").write_text(SMALL)
    (path / "metrics.csv").write_text(METRICS)
    (path / "grid.toml").write_text(GRID)
    record = silosim.run(path / "study.toml", path / "small.h5")
    assert [overlay.history["round"].tolist() for overlay in record.overlays] == [[0, 2, 4]] * 2
    return path


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """A copy of the folder, as the working directory."""
    for file in folder.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_network_to_a_timeline():
    graph = silosim.connectivity(
        silosim.load_underlay("gaia", variant="published"),
        access=silosim.AccessLinks(up_bps=1e10, down_bps=1e10),
    )
    work = silosim.Workload.preset("inaturalist", local_steps=1, variant="published")
    star = silosim.design("star", graph, work)
    circle = silosim.build_overlay("circle", graph, work, [(k, (k + 1) % 11) for k in range(11)])
    matcha = silosim.design_random("matcha", graph, work, budget=0.5)
    schedule = silosim.make_schedule(matcha, 1, 20)
    timeline = silosim.simulate(star, rounds=20)

    assert star.closed_forms.paper_s == pytest.approx(0.391, abs=0.001)
    assert circle.hub is None
    assert len(circle.source) == 11
    assert len(schedule.index) == 20
    assert timeline.round_start_s.shape == (21, 11)
    assert timeline.cycle_time_s >= star.closed_forms.load_bound_s * (1 - 1e-9)
    assert silosim.shipped_underlays()[0] == "gaia"
    assert "inaturalist" in silosim.workload_presets()


def printed(capsys, monkeypatch, *arguments):
    """What a command prints as JSON."""
    monkeypatch.setattr("sys.argv", ["silosim", *map(str, arguments), "--json"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    return json.loads(capsys.readouterr().out)


def same(table, whole):
    """Whether a table has the rows of a command's JSON."""
    return json.loads(Json().text([table]))["rows"] == whole["rows"]


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_validate_is_the_command(capsys, monkeypatch):
    command = ("validate", "gaia", "--access", "1 Gbps", "--kind", "ring", "--rounds", 200)
    table = silosim.validate(FAST, kinds=["ring"], rounds=200)

    assert same(table, printed(capsys, monkeypatch, *command))
    assert same(
        silosim.validate("study.toml", rounds=120),
        printed(capsys, monkeypatch, "validate", "study.toml", "--rounds", 120),
    )


def test_validate_takes_as_many_rounds_as_the_command(monkeypatch):
    asked = []

    def note(experiment, *, randomized_rounds=None):
        asked.append((experiment.simulation.rounds, randomized_rounds))
        raise silosim.InputError("enough")

    monkeypatch.setattr("scenarios.api.validate_overlays", note)
    for options in ({}, {"rounds": 300}, {"until_ci": "1%"}):
        with pytest.raises(silosim.InputError, match="enough"):
            silosim.validate("gaia", **options)

    assert asked == [(2000, 1000), (300, None), (20_000, None)]


def test_validate_takes_a_network_that_was_built_in_python():
    graph = silosim.connectivity(
        silosim.load_underlay("gaia"), access=silosim.AccessLinks(up_bps=1e9, down_bps=1e9)
    )
    built, described = (
        silosim.validate(network, kinds=["ring"], rounds=200, compute_times="lognormal 0.2", seed=5)
        for network in (graph, FAST)
    )
    mixed = silosim.Workload(model_bits=1e7, compute_s=np.arange(1.0, 12.0))

    assert (built.caption, built.rows, built.notes) == (described.caption, described.rows, described.notes)
    assert silosim.validate(graph, mixed, kinds=["ring"], rounds=100).rows[0]["paper_s"] > 0


@pytest.mark.usefixtures("here")
def test_an_import_takes_no_network_that_was_built_in_python():
    graph = silosim.connectivity(
        silosim.load_underlay("gaia"), access=silosim.AccessLinks(up_bps=1e9, down_bps=1e9)
    )
    with pytest.raises(silosim.InputError, match="built in Python cannot be written"):
        silosim.import_metrics("metrics.csv", "x.h5", graph, "femnist", kinds=["ring"])


@pytest.mark.usefixtures("here")
def test_sweep_is_the_command(capsys, monkeypatch):
    command = ("sweep", "gaia", "--access", "1 Gbps", "--access", "10 Mbps", "--kind", "ring", "--rounds", 40)
    table = silosim.sweep("gaia", ["1 Gbps", "10 Mbps"], kinds=["ring"], rounds=40)

    assert [row["access_bps"] for row in table.rows] == [1e7, 1e9]
    assert same(table, printed(capsys, monkeypatch, *command))


@pytest.mark.usefixtures("here")
def test_upgrade_is_the_command_also_for_an_overlay(capsys, monkeypatch):
    command = ("upgrade", "gaia", "--access", "1 Gbps", "--kind", "ring", "--budget", 2, "--rounds", 40)
    shown = printed(capsys, monkeypatch, *command)
    ring = silosim.design("ring", silosim.connectivity(silosim.load_underlay("gaia"), access=ACCESS), WORK)

    assert same(silosim.upgrade(FAST, kind="ring", budget=2, rounds=40), shown)
    assert same(silosim.upgrade(ring, budget=2, rounds=40), shown)
    assert same(silosim.upgrade(ring.graph, budget=2, rounds=40), shown)
    with pytest.raises(silosim.InputError, match=r"^kind\(='star'\) must not be given with an overlay"):
        silosim.upgrade(ring, kind="star", budget=2)
    with pytest.raises(silosim.InputError, match=r"^kind\(='matcha'\) is a randomized overlay"):
        silosim.upgrade(FAST, kind="matcha", budget=2)


@pytest.mark.usefixtures("here")
def test_a_complete_run_is_not_run_again(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("scenarios.api.run_scenario", None)
        record = silosim.run("study.toml", "small.h5", resume=True)

    assert [overlay.kind for overlay in record.overlays] == ["star", "ring"]
    with pytest.raises(silosim.InputError, match=r"small\.h5 exists already"):
        silosim.run("study.toml", "small.h5")


@pytest.mark.usefixtures("here")
def test_a_run_is_read_replayed_and_summed_up(capsys, monkeypatch):
    record = silosim.open_run("small.h5")
    slow = silosim.replay("small.h5", "slow.h5", access="10 Mbps")

    for before, after in zip(record.overlays, slow.overlays, strict=True):
        assert np.array_equal(before.history["train_loss"], after.history["train_loss"])
        assert after.wall_clock_s[-1] > before.wall_clock_s[-1]
    assert same(silosim.run_summary("small.h5"), printed(capsys, monkeypatch, "show", "small.h5"))


@pytest.mark.usefixtures("here")
def test_a_replay_warns_of_an_overlay_that_it_leaves_out():
    record = silosim.open_run("small.h5")
    star, ring = record.overlays
    labels = record.silo_labels
    arc = next(row for row in ring.arcs if star.hub not in row[:2])
    with pytest.warns(UserWarning, match="not replayed: "):
        left = silosim.replay("small.h5", "b.h5", blocked=[f"{labels[arc[0]]} -> {labels[arc[1]]}"])

    assert [overlay.kind for overlay in left.overlays] == ["star"]


@pytest.mark.usefixtures("here")
def test_metrics_of_another_program_are_joined():
    work = silosim.Workload(model_bits=1e7, compute_s=0.01)
    record = silosim.import_metrics(
        "metrics.csv", "imported.h5", FAST, work, kinds=["ring"], target_accuracy=0.7
    )
    round_, seconds = record.overlays[0].first_round_at(0.7)

    assert round_ == 2
    assert seconds == pytest.approx(record.overlays[0].wall_clock_s[1])
    with pytest.raises(silosim.InputError, match="exists already"):
        silosim.import_metrics("metrics.csv", "imported.h5", FAST, work)
    with pytest.raises(silosim.InputError, match=r"workload\(=None\) must be given"):
        silosim.import_metrics("metrics.csv", "other.h5", FAST)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: silosim.validate("gaia", "imagenet"), "imagenet"),
        (lambda: silosim.validate("nosuch"), r"underlay\(='nosuch'\)"),
        (lambda: silosim.validate("study.toml", "femnist"), r"workload\(='femnist'\) must not be given"),
        (lambda: silosim.sweep("study.toml", ["1 Gbps"]), "not a scenario"),
        (lambda: silosim.sweep("gaia", "1 Gbps"), "must be a sequence of capacities"),
        (lambda: silosim.sweep("gaia", ["1"]), r"access\(='1'\) must be a number with a unit"),
        (
            lambda: silosim.validate(
                "gaia", silosim.Workload(model_bits=1e6, compute_s=np.arange(1.0, 11.0))
            ),
            "one for each of 11 silos",
        ),
        (lambda: silosim.open_run("nosuch.h5"), "no such file"),
    ],
)
@pytest.mark.usefixtures("here")
def test_wrong_input_is_one_line(call, message):
    with pytest.raises(silosim.InputError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda old: silosim.draw_underlay("gaia", old("map.svg")),
        lambda old: silosim.convert_underlay("gaia", old("gaia.gml")),
        lambda old: silosim.study("grid.toml", old("grid.csv")),
        lambda old: silosim.run("study.toml", old("run.h5")),
        lambda old: silosim.replay("small.h5", old("again.h5")),
        lambda old: silosim.timeline("small.h5", output=old("timeline.csv")),
        lambda old: silosim.report("small.h5", old("small.html")),
    ],
)
@pytest.mark.usefixtures("here")
def test_no_function_replaces_a_file_unless_it_is_asked_to(call):
    def old(name):
        Path(name).write_text("old")
        return name

    before = {path.name for path in Path().iterdir()}
    with pytest.raises(silosim.InputError, match=r"exists already|force replaces it"):
        call(old)
    (written,) = {path.name for path in Path().iterdir()} - before
    assert Path(written).read_text() == "old"


@pytest.mark.usefixtures("here")
def test_an_export_is_replaced_when_it_is_asked_for():
    whole = silosim.export("small.h5", "data", only=["rounds", "metrics"])
    with pytest.raises(silosim.InputError, match="exists already"):
        silosim.export("small.h5", "data", only="rounds")
    assert all(file.exists() for file in whole)
    assert silosim.export("small.h5", "data", only="rounds", force=True) == (Path("data/rounds.csv"),)


@pytest.mark.usefixtures("here")
def test_public_objects_are_shown_on_one_line():
    record = silosim.open_run("small.h5")
    table = silosim.run_summary("small.h5")
    wide = replace(record.overlays[0].simulation, half_width_s=math.inf)
    for shown in (record, record.overlays[0], wide, record.network, record.work, table, table.columns[0]):
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 400
    assert "small.h5: small" in repr(table)
    assert "star, ring" in repr(record)
    assert str(table).splitlines()[0] == table.caption.splitlines()[0]


def examples():
    """The docstrings of the package and of its studies."""
    import scenarios.api

    finder = doctest.DocTestFinder(recurse=False)
    studies = [f for _, f in inspect.getmembers(scenarios.api, inspect.isfunction)]
    public = [f for f in studies if f.__module__ == "scenarios.api" and not f.__name__.startswith("_")]
    return [
        test
        for one in (silosim, *public, silosim.run_summary, silosim.RunRecord.rounds)
        for test in finder.find(one)
        if test.examples
    ]


@pytest.mark.parametrize("example", examples(), ids=lambda test: test.name)
@pytest.mark.usefixtures("here")
def test_an_example_gives_what_it_says(example):
    # Without training, which takes long to start.
    without = SMALL.split("[training]")[0].replace("[workload]", '[workload]\nmodel_size = "1 Mbit"')
    Path("study.toml").write_text(without)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_every_study_has_an_example():
    assert len(examples()) == 21
