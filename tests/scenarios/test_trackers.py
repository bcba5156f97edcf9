"""Trackers: the rows of a training as they come, a TensorBoard folder that an export would write, and what may fail."""

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from same_file import assert_same_file

import silosim as package
from scenarios.doctor.checks import parts
from scenarios.runfile.artifacts import checkpoints_path, models_path
from scenarios.runfile.reader import read_run
from scenarios.trackers.following import followed
from scenarios.trackers.tensorboard import TensorBoard, check_event_files, drop_event_files, events_path
from scenarios.trackers.tracker_lookup import load_trackers, tracker_names
from topologies import InputError, MachineError, TrainingError
from training import HistoryRow
from training.checkpoints.checkpoint_manager import CheckpointManager

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "tracker.py"
OWN = """
import random

import numpy
import torch


class Quiet:
    def __init__(self, training):
        pass

    def row(self, row, time_s):
        pass

    def end(self, error):
        pass


class Full(Quiet):
    def row(self, row, time_s):
        if row.round == 10:
            self.write()

    def write(self):
        raise ValueError("no space")


class Endless:
    def __init__(self, training):
        pass

    def row(self, row, time_s):
        pass


def nothing(training):
    return None


def two(training, other):
    pass


number = 3
"""
CALLS, RAISES = "self.write()", 'raise ValueError("no space")'
MEASURED = ("notices",)
EVENTS = "events.out.tfevents.0.silosim"


@pytest.fixture(scope="module")
def text(small_scenario):
    """The small scenario with checkpoints and the same bits in each run."""
    return small_scenario.replace("[training]\n", '[training]\nexecutor = "loop"\ncheckpoint_every = 4\n')


def recorder():
    """A tracker that keeps all that it gets, and the list of them."""
    made = []

    class Recorder:
        def __init__(self, training):
            made.append(self)
            self.training, self.rows, self.ends, self.starts_s = training, [], [], []

        def row(self, row, time_s):
            # Generators of other libraries may not matter, either.
            np.random.seed(row.round)  # noqa: NPY002
            self.rows.append((row, time_s))
            self.starts_s.append(self.training.silo_start_s(row.round))

        def end(self, error):
            self.ends.append(error)

    return Recorder, made


@pytest.fixture(scope="module")
def tracked(tmp_path_factory, text):
    """A run with two trackers."""
    folder = tmp_path_factory.mktemp("tracked")
    (folder / "small.toml").write_text(text)
    make, made = recorder()
    path = folder / "run.h5"
    package.run(folder / "small.toml", path, trackers=[make, "tensorboard"])
    return SimpleNamespace(path=path, trackers=made, scenario=folder / "small.toml")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A file of the user's beside the scenario, while the command is given elsewhere."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr("sys.path", list(sys.path))
    return tmp_path / "mine.py"


def test_a_tracker_gets_the_rows_and_times_of_the_file(tracked):
    overlays = read_run(tracked.path).overlays
    for overlay, tracker in zip(overlays, tracked.trackers, strict=True):
        training = tracker.training
        assert (training.overlay, training.seed, training.name) == (overlay.kind, 3, "small")
        assert (training.path, training.config.rounds) == (tracked.path, 12)
        assert training.scenario == tracked.scenario.read_text()
        assert [time_s for _, time_s in tracker.rows] == overlay.wall_clock_s.tolist()
        for name, values in overlay.history.items():
            assert [np.asarray(getattr(row, name)).tolist() for row, _ in tracker.rows] == values.tolist()
        with h5py.File(tracked.path) as file:
            starts_s = file[f"simulation/{overlay.kind}/round_start_s"][:]
        assert np.array_equal(tracker.starts_s, starts_s[[0, 5, 10, 12]])
        assert len(training.silos) == starts_s.shape[1]
        assert tracker.ends == [None]


def contents(path):
    """Every dataset and attribute of a file, but the notices, which say how much memory was free."""
    found = {}
    with h5py.File(path) as file:
        for name, item in [("/", file), *((name, file[name]) for name in names_in(file))]:
            found |= {(name, key): str(value) for key, value in item.attrs.items() if key not in MEASURED}
            if isinstance(item, h5py.Dataset):
                found[name] = item.asstr()[()].tolist() if item.dtype.kind == "O" else item[()].tobytes()
    return found


def names_in(file):
    names = []
    file.visit(names.append)
    return names


@pytest.mark.slow
def test_the_file_of_the_run_is_the_same_without_them(tracked, tmp_path):
    package.run(tracked.scenario, tmp_path / "run.h5")
    expected = contents(tmp_path / "run.h5")
    assert len(expected) > 100
    assert contents(tracked.path) == expected
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.h5"]


def event_files(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


def test_the_event_files_are_those_of_an_export(tracked, tmp_path):
    package.export(tracked.path, tmp_path / "data", only="tensorboard")
    written = event_files(tracked.path.with_name("run.tensorboard"))
    assert sorted(written) == [f"ring/{EVENTS}", f"star/{EVENTS}"]
    assert written == event_files(tmp_path / "data" / "tensorboard")


@pytest.mark.slow
def test_metrics_that_are_imported_again_are_the_same(silosim, tracked, tmp_path):
    for overlay in read_run(tracked.path).overlays:
        silosim(
            *(
                "import-metrics",
                tracked.path.with_name("run.tensorboard"),
                "--run",
                overlay.kind,
                "--on",
                "gaia",
            ),
            *(
                "--workload",
                "femnist",
                "--kind",
                "ring",
                "--unit",
                "rounds",
                "-o",
                tmp_path / f"{overlay.kind}.h5",
            ),
        ).ok()
        (again,) = read_run(tmp_path / f"{overlay.kind}.h5").overlays
        assert again.history["round"].tolist() == [0, 5, 10, 12]
        for name in ("train_loss", "train_accuracy", "test_loss", "test_accuracy", "silo_loss"):
            # An event holds float32.
            expected = overlay.history[name].astype(np.float32)
            assert np.array_equal(again.history[name].astype(np.float32), expected), name


@pytest.mark.slow
def test_event_files_are_not_replaced_without_force(silosim, tracked, tmp_path):
    folder = tmp_path / "x.tensorboard"
    (folder / "mst").mkdir(parents=True)
    (folder / "mst" / EVENTS).write_bytes(b"")
    command = ("run", tracked.scenario, "-o", tmp_path / "x.h5", "--tracker", "tensorboard")
    refused = silosim(*command).failed(2)
    assert refused.err == f"silosim: error: {folder} exists already; --force replaces it.\n"
    assert not list(tmp_path.glob("x.h5*"))
    (folder / "notes.txt").write_text("mine")
    kept = silosim(*command, "--force").failed(2)
    assert "notes.txt among them, and is not replaced" in kept.err
    (folder / "notes.txt").unlink()
    silosim(*command, "--force").ok()
    assert event_files(folder) == event_files(tracked.path.with_name("run.tensorboard"))


@pytest.mark.slow
def test_a_failure_is_the_users_traceback_and_a_resumed_run_tracks_all_rows(silosim, tracked, own, tmp_path):
    scenario, path = tmp_path / "small.toml", tmp_path / "x.h5"
    scenario.write_text(tracked.scenario.read_text())
    command = ("run", scenario, "-o", path)
    result = silosim(*command, "--tracker", "tensorboard", "--tracker", "mine.py:Full").failed(1)
    lines = result.err.splitlines()
    raises, calls = (OWN.splitlines().index(f"        {line}") + 1 for line in (RAISES, f"    {CALLS}"))
    first = lines.index(f"silosim: error: ValueError: no space ({own}, line {raises})")
    assert lines[first - 1] == (
        f"silosim: the finished rounds are in {path}.partial; --resume continues from the last checkpoint"
    )
    assert lines[first + 1 : first + 3] == [
        "Traceback (most recent call last):",
        f'  File "{own}", line {calls}, in row',
    ]
    assert lines[-1] == "ValueError: no space"
    assert read_run(tmp_path / "x.h5.partial").overlays[0].history["round"].tolist() == [0, 5, 10]

    written, whole = (
        event_files(file.with_name(f"{file.stem}.tensorboard")) for file in (path, tracked.path)
    )
    assert list(written) == [f"star/{EVENTS}"]
    # So a TensorBoard that has read the first rows goes on where it was.
    assert whole[f"star/{EVENTS}"].startswith(written[f"star/{EVENTS}"])
    make, made = recorder()
    package.run(scenario, path, resume=True, trackers=[make, "tensorboard"])
    assert [[row.round for row, _ in tracker.rows] for tracker in made] == [[0, 5, 10, 12]] * 2
    assert [tracker.rows for tracker in made] == [tracker.rows for tracker in tracked.trackers]
    assert event_files(tmp_path / "x.tensorboard") == whole
    again = silosim(*command, "--resume", "--tracker", "tensorboard").ok()
    assert "there is nothing to resume" in again.err
    assert event_files(tmp_path / "x.tensorboard") == whole


def test_a_training_that_fails_tells_its_trackers(text, tmp_path, monkeypatch):
    def ends(manager, k, rank_silos, write=CheckpointManager.save):
        if k > 8:
            raise MachineError("the machine ends here")
        write(manager, k, rank_silos)

    monkeypatch.setattr("training.checkpoints.checkpoint_manager.CheckpointManager.save", ends)
    (tmp_path / "small.toml").write_text(text)
    make, made = recorder()
    with pytest.raises(MachineError) as caught:
        package.run(tmp_path / "small.toml", tmp_path / "x.h5", trackers=[make])
    (tracker,) = made
    assert [row.round for row, _ in tracker.rows] == [0, 5]
    assert tracker.ends == [caught.value]


def test_the_documented_example_runs_and_is_short(silosim, tracked, tmp_path):
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 20
    (tmp_path / "ring.toml").write_text(tracked.scenario.read_text().replace('"star", ', ""))
    silosim("run", tmp_path / "ring.toml", "-o", tmp_path / "x.h5", "--tracker", f"{EXAMPLE}:CsvLines").ok()
    (ring,) = read_run(tmp_path / "x.h5").overlays
    head, *rows, end = (tmp_path / "x-ring.csv").read_text().splitlines()
    assert (head, end) == ("round,time_s,train_loss,test_accuracy", "# complete")
    columns = [ring.wall_clock_s, ring.history["train_loss"], ring.history["test_accuracy"]]
    expected = np.transpose([ring.history["round"], *columns]).tolist()
    assert [[float(cell) for cell in row.split(",")] for row in rows] == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "tensorbord",
            "tracker(='tensorbord') must be tensorboard, or file.py:name or module:name of your own",
        ),
        ("mine.py:", "must be file.py:callable or module:callable to name code of your own."),
        ("other.py:Quiet", "tracker(='other.py:Quiet') there is no such file beside the scenario"),
        ("mine.py:Loud", "mine.py: has no Loud, which tracker("),
        ("mine.py:number", "must be a callable, not int."),
        ("mine.py:two", "must be called with training: missing a required argument: 'other'."),
        ("mine.py:Endless", "must have a method end."),
        ("mine.py:nothing", "must have a method row."),
    ],
)
def test_what_is_no_tracker_is_one_line_and_exit_code_2(silosim, own, text, name, message):
    scenario = own.with_name("small.toml")
    scenario.write_text(text)
    result = silosim("run", scenario, "-o", "x.h5", "--tracker", name).failed(2)
    assert message in result.err.splitlines()[-1]
    if name != "mine.py:nothing":  # that one shows when the training begins
        assert result.err.count("\n") == 1
    assert not list(Path().glob("x*"))


def test_a_broken_file_shows_its_traceback_and_exit_code_1(silosim, own, text):
    own.write_text("import numpy\n\nnumpy.zeros(-1)\n")
    own.with_name("small.toml").write_text(text)
    result = silosim("run", own.with_name("small.toml"), "-o", "x.h5", "--tracker", "mine.py:Print").failed(1)
    assert result.err.startswith("silosim: error: ValueError: negative dimensions are not allowed (")
    assert 'mine.py", line 3, in <module>' in result.err


def test_names_are_given_once_and_go_with_a_training(silosim, small_scenario, tmp_path):
    with pytest.raises(InputError, match=r"^tracker\(='tensorboard'\) must not be named twice\.$"):
        load_trackers(["tensorboard", "tensorboard"])
    makers = [lambda training, number=number: (training, number) for number in range(3)]
    assert [make(None) for make in load_trackers(makers).values()] == [(None, 0), (None, 1), (None, 2)]
    scenario = tmp_path / "untrained.toml"
    scenario.write_text(
        small_scenario.partition("[training]")[0].replace("[workload]", "[workload]\nmodel_size = '1 MB'")
    )
    result = silosim("run", scenario, "-o", tmp_path / "x.h5", "--tracker", "tensorboard").failed(2)
    assert result.err == "silosim: error: tracker goes with a scenario that has [training].\n"


def test_a_package_registers_trackers_by_name(install_package):
    entries = "[silosim.trackers]\ncsv_lines = tracker:CsvLines\n"
    entries += "lost = no_such_module:Tracker\ntensorboard = tracker:No\n"
    install_package("trackers", entries, {"tracker": EXAMPLE.read_text("utf-8")})
    assert tracker_names() == ("tensorboard", "csv_lines", "lost")
    listed = [finding.text for finding in parts(Path())]
    assert "tracker csv_lines (tracker:CsvLines)" in listed
    found = load_trackers(["csv_lines", "tensorboard"])
    assert found["csv_lines"].__name__ == "CsvLines"
    assert found["tensorboard"] is TensorBoard
    with pytest.raises(
        MachineError, match=r"^the tracker lost \(no_such_module:Tracker\) cannot be imported: "
    ):
        load_trackers(["lost"])


class Clock:
    """A clock that stands until somebody moves it."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def made_by(clock=None, *, took_s=0.0, fails=(), log=None):
    """What makes a tracker that takes its time, fails at some calls and logs its end."""

    class Made:
        def __init__(self, _training):
            if "start" in fails:
                raise ValueError("start")

        def row(self, _row, _time_s):
            if clock is not None:
                clock.now_s += took_s
            if "row" in fails:
                raise SystemExit(5)

        def end(self, error):
            log.append(error)
            if "end" in fails:
                raise ValueError("end")

    return Made


ROW = HistoryRow(
    round=1,
    train_loss=1.0,
    train_accuracy=0.5,
    test_loss=1.0,
    test_accuracy=0.5,
    consensus_distance=0.0,
    silo_loss=(),
)
RING = SimpleNamespace(overlay="ring")


def test_a_slow_tracker_is_named_once():
    clock, notices, log = Clock(), [], []
    trackers = {"quick": made_by(clock, took_s=0.125, log=log), "slow": made_by(clock, took_s=1.5, log=log)}
    with followed(trackers, RING, np.arange(3.0), notices.append, clock=clock) as follow:
        follow(ROW)
        assert not notices  # 1.5 s are not worth a word
        clock.now_s += 20.0
        follow(ROW)
        follow(ROW)
    (notice,) = notices
    assert notice.text == "ring waits for the tracker slow: 3.0 s of the 23.2 s since the training began"


def test_a_tracker_that_takes_a_small_share_is_not_named():
    clock, notices, log = Clock(), [], []
    with followed(
        {"steady": made_by(clock, took_s=1.0, log=log)}, RING, np.arange(3.0), notices.append, clock=clock
    ) as follow:
        for _ in range(20):
            clock.now_s += 9.5
            follow(ROW)
    assert not notices


@pytest.mark.parametrize(
    ("took_s", "else_s", "named"),
    [(2.0, 0.0, False), (2.125, 0.0, True), (3.0, 27.0, False), (3.0, 26.0, True), (30.0, 260.0, True)],
)
def test_a_tracker_is_slow_from_2_s_and_a_tenth_of_the_time_on(took_s, else_s, named):
    clock, notices = Clock(), []
    with followed(
        {"one": made_by(clock, took_s=took_s, log=[])}, RING, np.arange(3.0), notices.append, clock=clock
    ) as follow:
        clock.now_s += else_s
        follow(ROW)
    assert bool(notices) is named


def test_trackers_made_by_one_function_are_numbered():
    def make(training):
        """A tracker of one of several kinds."""

    name = "test_trackers_made_by_one_function_are_numbered.<locals>.make"
    assert list(load_trackers([make, make, make])) == [name, f"{name} (2)", f"{name} (3)"]


def test_files_of_event_files_are_those_of_an_overlay_s_folder(tmp_path):
    run = tmp_path / "o.h5"
    folder = events_path(run)
    for overlay in ("star", "ring"):
        (folder / overlay).mkdir(parents=True)
        (folder / overlay / EVENTS).touch()
    check_event_files(run, ["tensorboard"], force=True, resume=False)
    check_event_files(run, ["tensorboard"], force=False, resume=True)
    check_event_files(run, ["mine"], force=False, resume=False)
    with pytest.raises(InputError, match="exists already"):
        check_event_files(run, ["tensorboard"], force=False, resume=False)
    for other in (EVENTS, "ring/notes.txt", f"ring/deeper/{EVENTS}"):
        path = folder / other
        path.parent.mkdir(exist_ok=True)
        path.touch()
        with pytest.raises(InputError, match="holds"):
            check_event_files(run, ["tensorboard"], force=True, resume=False)
        path.unlink()
    drop_event_files(run, ["mine"])
    assert folder.exists()
    drop_event_files(run, ["tensorboard"])
    assert not folder.exists()
    drop_event_files(run, ["tensorboard"])


@pytest.mark.parametrize("fails", ["start", "row", "end"])
def test_all_that_began_are_told_of_the_failure_of_one(fails):
    log = []
    trackers = {
        "first": made_by(log=log),
        "second": made_by(log=log, fails=[fails]),
        "third": made_by(log=log),
    }
    with pytest.raises(TrainingError) as caught, followed(trackers, RING, np.arange(3.0), print) as follow:
        follow(ROW)
    assert (
        log
        == {
            "start": [caught.value],
            "row": [caught.value] * 3,
            # The first one ended well before it.
            "end": [None, None, caught.value],
        }[fails]
    )
    name = {"start": "ValueError: start", "row": "SystemExit: 5", "end": "ValueError: end"}[fails]
    head, *_, last = str(caught.value).splitlines()
    assert head.startswith(f"{name} ({__file__}, line ")
    assert last == name


@pytest.mark.parametrize("error", [KeyboardInterrupt(), TrainingError("a rank failed"), OSError("anything")])
def test_what_ends_a_training_is_raised_even_where_trackers_fail_after_it(error):
    log, notices = [], []
    trackers = {"bad": made_by(log=log, fails=["end"]), "good": made_by(log=log)}
    with (
        pytest.raises(type(error)) as caught,
        followed(trackers, RING, np.arange(3.0), notices.append),
    ):
        raise error
    assert caught.value is error
    assert log == [error, error]
    (notice,) = notices
    assert notice.text.startswith("the tracker bad failed at the end of ring, too: ValueError: end (")


def test_what_a_backend_does_not_measure_is_in_no_event(tmp_path):
    training = SimpleNamespace(
        path=tmp_path / "run.h5",
        overlay="ring",
        silos=("a", "b"),
        silo_start_s=lambda _: np.array([1.0, 2.0]),
    )
    tracker = TensorBoard(training)
    tracker.row(ROW, 2.0)
    tracker.end(None)
    data = (tmp_path / "run.tensorboard" / "ring" / EVENTS).read_bytes()
    assert b"train_loss" in data
    assert b"silo_loss" not in data
    assert b"objective" not in data


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "run.tensorboard").write_text("a file")
    training = SimpleNamespace(
        path=tmp_path / "run.h5", overlay="ring", silos=(), silo_start_s=lambda _: np.zeros(0)
    )
    tracker = TensorBoard(training)
    with pytest.raises(MachineError, match=r"silosim cannot be written: .*$"):
        tracker.row(ROW, 2.0)
    tracker.end(None)


@pytest.mark.slow
@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("outer", [False, True])
def test_with_two_ranks_a_failure_ends_all_and_the_rest_is_the_same(
    silosim, tracked, tmp_path, processes_naming, outer
):
    scenario, path = tmp_path / "small.toml", tmp_path / "x.h5"
    text = tracked.scenario.read_text().replace("ranks = 1", "ranks = 2")
    # Ranks of an outer launcher train both overlays; without one they are started for each, so for one is enough.
    kinds = ("ring", "star") if outer else ("ring",)
    text = text if outer else text.replace('"star", ', "")
    scenario.write_text(text + "keep_models = true\n")
    folder = Path(sys.executable).parent
    arguments = ("run", scenario, "-o", path)

    def run(ranks, *more):
        if not outer:  # only the ranks are new processes
            done = silosim(*arguments, *more)
            return done.code, done.err
        command = [folder / "mpiexec", "-n", ranks, folder / "silosim", *arguments, *more]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=100, check=False)
        return done.returncode, done.stderr

    code, errors = run(2, "--tracker", "tensorboard", "--tracker", "mine.py:Full")
    assert code == 1
    assert errors.count("silosim: error: ValueError: no space") == 1
    ends_at_s = time.monotonic() + 10.0
    while processes_naming(tmp_path):  # an outer launcher does not wait for the ranks that it ends
        assert time.monotonic() < ends_at_s
        time.sleep(0.05)
    # Other ranks may go on with it, and one speaks for all.
    code, errors = run(3, "--resume", "--tracker", "tensorboard", "--tracker", "mine.py:Quiet")
    assert code == 0, errors
    assert errors.count(f"resumed from round 8 of {checkpoints_path(path) / kinds[-1]}\n") == 1
    assert not checkpoints_path(path).exists()
    assert sorted(file.name for file in models_path(path).iterdir()) == [
        f"{kind}-{name}.{ending}" for kind in kinds for name in ("best", "last") for ending in ("json", "pt")
    ]
    assert_same_file(path, tracked.path, without="" if outer else "star")
    whole = event_files(tracked.path.with_name("run.tensorboard"))
    expected = {name: data for name, data in whole.items() if name.startswith(kinds)}
    assert len(expected) == len(kinds)
    assert event_files(tmp_path / "x.tensorboard") == expected


@pytest.mark.slow
def test_each_of_several_seeds_has_its_folder(silosim, tracked, tmp_path):
    command = ("run", tracked.scenario, "-o", tmp_path / "x.h5", "--seeds", "2", "--tracker", "tensorboard")
    silosim(*command).ok()
    first, second = (event_files(tmp_path / f"x-seed-{seed}.tensorboard") for seed in (3, 4))
    assert first == event_files(tracked.path.with_name("run.tensorboard"))
    assert second.keys() == first.keys()
    assert second != first
    (tmp_path / "x-seed-4.h5").unlink()
    refused = silosim(*command, "--resume").failed(2)
    # Nothing is trained before, and what is there is not that of a run that goes on.
    assert (
        refused.err
        == f"silosim: error: {tmp_path}/x-seed-4.tensorboard exists already; --force replaces it.\n"
    )
    (tmp_path / "x-seed-4.tensorboard").rename(tmp_path / "moved")
    silosim(*command, "--resume").ok()
    assert event_files(tmp_path / "x-seed-4.tensorboard") == second
    assert event_files(tmp_path / "x-seed-3.tensorboard") == first
    for file in tmp_path.glob("x*.*"):
        if file.is_file():
            file.unlink()
    # Nothing is trained before the last folder is found.
    (tmp_path / "x-seed-3.tensorboard").rename(tmp_path / "kept")
    refused = silosim(*command).failed(2)
    assert (
        refused.err
        == f"silosim: error: {tmp_path}/x-seed-4.tensorboard exists already; --force replaces it.\n"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept", "moved", "x-seed-4.tensorboard"]
