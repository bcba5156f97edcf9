"""Which runs of several seeds are kept, which go on and which begin, and the files beside them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.paths import partial_path
from scenarios.studies import run_seeds as study
from scenarios.studies.run_seeds import SeedFiles, run_seeds
from scenarios.trackers.tensorboard import EVENTS
from topologies import InputError

TEXT = """seed = 1
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring"]
[training]
dataset = "digits"
model = "softmax"
rounds = 4
checkpoint_every = 2
"""


@pytest.fixture
def files(tmp_path):
    return SeedFiles.of(tmp_path / "study.h5", (4, 2))


@pytest.fixture
def run(files, monkeypatch):
    """Run two seeds of the scenario, of which those named are complete; what was done, and the table."""
    done: list[tuple[object, ...]] = []
    plotted = []
    table = SimpleNamespace(caption="study: 2 seeds\nmore")

    def is_complete(path, scenario, text):
        assert f"seed = {scenario.seed}" in text
        assert path == files.runs[scenario.seed]
        return path.exists()

    def run_one(scenario, text, path, goes_on):
        assert f"seed = {scenario.seed}" in text
        done.append(("run", scenario.seed, path, goes_on))

    def summary(records):
        assert records == {seed: f"record of {path.name}" for seed, path in files.runs.items()}
        return table

    monkeypatch.setattr(study, "is_complete", is_complete)
    monkeypatch.setattr(study, "drop_checkpoints", lambda path: done.append(("kept", path)))
    monkeypatch.setattr(study, "read_run", lambda path: f"record of {path.name}")
    monkeypatch.setattr(study, "seeds_summary", summary)
    monkeypatch.setattr(study, "write_tables", lambda path, tables: plotted.append((path, tables)))
    monkeypatch.setattr(
        "scenarios.report.seeds_plot.plot_seeds", lambda _, path, title: plotted.append((path, title))
    )

    def make(text=TEXT, *, resume=False, force=False, **options):
        done.clear()
        plotted.clear()
        scenario = parse_scenario(text, source="s.toml")
        told = {"resume": resume, "force": force} | options
        assert run_seeds(scenario, text, files, run_one, source="s.toml", **told) is table
        assert plotted == [
            (files.table, [table]),
            (files.figure, "study: 2 seeds: means, with bands from the lowest to the highest"),
        ]
        return list(done)

    return make


def test_every_seed_is_run_into_its_file(run, files, tmp_path):
    assert files.runs == {4: tmp_path / "study-seed-4.h5", 2: tmp_path / "study-seed-2.h5"}
    assert (files.table, files.figure, files.page) == tuple(
        tmp_path / f"study-seeds{ending}" for ending in (".csv", ".png", ".html")
    )
    assert run() == [("run", seed, path, False) for seed, path in files.runs.items()]


def test_complete_runs_are_kept_and_interrupted_ones_go_on_where_that_is_asked_for(run, files):
    complete, interrupted = files.runs.values()
    complete.touch()
    partial_path(interrupted).touch()
    assert run(resume=True) == [("kept", complete), ("run", 2, interrupted, True)]
    # With --force a complete run is made again, too.
    assert run(resume=True, force=True) == [("run", 4, complete, False), ("run", 2, interrupted, True)]
    assert run(force=True) == [("run", 4, complete, False), ("run", 2, interrupted, False)]


def test_a_checkpoint_alone_is_something_to_go_on_from(run, files, monkeypatch):
    monkeypatch.setattr(study, "has_checkpoint", lambda path: path == files.runs[2])
    assert run(resume=True) == [("run", 4, files.runs[4], False), ("run", 2, files.runs[2], True)]


@pytest.mark.parametrize("name", ["study-seeds.csv", "study-seeds.png", "study-seed-2.h5"])
def test_no_file_is_replaced_unless_asked_for(run, tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"{name} exists already; --force replaces it"):
        run()
    assert len(run(force=True)) == len(run(resume=True)) == 2


def test_event_files_are_not_replaced_unless_their_run_goes_on(run, files, tmp_path):
    folder = tmp_path / "study-seed-4.tensorboard" / "ring"
    folder.mkdir(parents=True)
    (folder / EVENTS).touch()
    for options in ({}, {"resume": True}):
        with pytest.raises(InputError, match=r"study-seed-4\.tensorboard"):
            run(trackers=("tensorboard",), **options)
        assert run(**options)
    assert run(trackers=("tensorboard",), force=True)
    partial_path(files.runs[4]).touch()
    assert run(trackers=("tensorboard",), resume=True)
    partial_path(files.runs[4]).unlink()
    files.runs[4].touch()
    assert run(trackers=("tensorboard",), resume=True)
    with pytest.raises(InputError, match="exist"):
        run(trackers=("tensorboard",))


def test_runs_without_checkpoints_cannot_go_on(run):
    text = TEXT.replace("checkpoint_every = 2", "checkpoint_every = 0")
    with pytest.raises(InputError, match=r"training\.checkpoint_every\(=0\) must be >= 1 for --resume"):
        run(text, resume=True)
    assert run(text)


@pytest.mark.parametrize(("processes", "is_refused"), [(None, False), (1, False), (2, True)])
def test_seeds_go_without_an_outer_launcher_of_several_processes(run, monkeypatch, processes, is_refused):
    monkeypatch.setattr(study, "world", lambda: processes and SimpleNamespace(size=processes))
    if is_refused:
        with pytest.raises(
            InputError, match="seeds goes without an outer launcher: start a run for each seed"
        ):
            run()
    else:
        assert len(run()) == 2


def test_files_of_a_table_are_the_runs_beside_it(tmp_path):
    for name in (
        "s-seed-10.h5",
        "s-seed-9.h5",
        "s-seed-0.hdf5",
        "s-seed-07.h5",
        "s-seed-1.csv",
        "t-seed-3.h5",
        "s.h5",
    ):
        (tmp_path / name).touch()
    files = SeedFiles.beside(tmp_path / "s-seeds.csv")
    assert list(files.runs) == [9, 10]
    assert files == SeedFiles.of(tmp_path / "s.h5", [9, 10])


def test_a_table_without_runs_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none lies beside it: no s-seed-0\.h5\."):
        SeedFiles.beside(tmp_path / "s-seeds.csv")
    with pytest.raises(
        InputError, match=r"s\.csv: is the table of runs with several seeds: it must be called NAME"
    ):
        SeedFiles.beside(Path(tmp_path / "s.csv"))


@pytest.mark.parametrize(("seeds", "text"), [((3,), "1 seed"), ((3, 4), "2 seeds")])
def test_the_table_says_how_many_seeds_it_is_of(monkeypatch, seeds, text):
    monkeypatch.setattr(
        study, "recorded_scenario", lambda _: SimpleNamespace(name="study", target_accuracy=0.5, events=())
    )
    monkeypatch.setattr(study, "seeds_table", lambda *given, **_: given)
    records = {seed: SimpleNamespace(scenario="", about="ring of 3") for seed in seeds}
    assert study.seeds_summary(records) == (records, f"study: {text}\nring of 3", 0.5)
