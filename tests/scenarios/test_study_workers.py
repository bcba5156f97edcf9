"""Points that workers compute, or that are trained one after the other: what is handed out, taken, kept and said."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.runfile.paths import partial_path
from scenarios.studies import parallel_points, trained_points
from scenarios.studies.parallel_points import _take_finished, _timed, chunk_size, compute_all
from scenarios.studies.study_points import Point, PointResult
from scenarios.studies.sweep import _tie_notes
from scenarios.studies.trained_points import _final, _train, check_alone, compute_trained, run_path
from topologies import InputError, MachineError, TrainingError


def finished(value=None, error=None):
    future = Future()
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
    return future


def test_all_results_are_taken_before_the_first_error_is_raised():
    running, taken = Future(), []
    waiting = {
        running,
        finished((2.0, ["a", "b"])),
        finished(error=ValueError("wrong")),
        finished((1.0, ["c"])),
    }
    counts = []
    with pytest.raises(ValueError, match="wrong"):
        counts.extend(_take_finished(waiting, taken.append))
    assert sorted(taken) == ["a", "b", "c"]
    assert waiting == {running}
    assert list(_take_finished(waiting, taken.append)) == []
    assert list(_take_finished({finished((2.0, ["d", "e"]))}, taken.append)) == [(2.0, 2)]


def test_the_time_of_some_points_is_that_of_all(monkeypatch):
    clock = iter((5.0, 7.5))
    monkeypatch.setattr(parallel_points.time, "monotonic", lambda: next(clock))
    assert _timed(lambda points, study: [study, *points], ["a", "b"], "s") == (2.5, ["s", "a", "b"])


@pytest.mark.parametrize(
    ("left", "point_s", "workers", "size"),
    [
        (1000, 0.1, 2, 5),
        (1000, 0.5, 2, 1),
        (1000, 9.0, 2, 1),
        (1000, 0.0, 2, 64),
        (1000, float("inf"), 2, 1),
        (60, 0.0, 2, 10),
        (59, 0.0, 2, 9),
        (5, 0.0, 2, 1),
    ],
)
def test_so_many_points_at_a_time(left, point_s, workers, size):
    assert chunk_size(left, point_s, workers) == size


class AtOnce:
    """Computes what it is handed at once; how many points each time."""

    def __init__(self, most_s=0.25, breaks=False):
        self.sizes, self.point_s, self.breaks = [], most_s, breaks

    def submit(self, timed, compute, points, study):
        assert timed is _timed
        self.sizes.append(len(points))
        if self.breaks and len(self.sizes) == 2:
            return finished(error=BrokenProcessPool())
        return finished((self.point_s * len(points), compute(points, study)))


@pytest.fixture
def shown(monkeypatch):
    """What the progress bar shows."""
    lines = []

    @contextmanager
    def bar(title, length):
        lines.append((title, length))
        yield lambda done, text: lines.append((done, text.split(" ")[-1]))

    monkeypatch.setattr(parallel_points, "bar", bar)
    return lines


def test_points_are_handed_out_in_order_and_counted(shown):
    pool, names, taken = AtOnce(), set(), []

    def compute(points, study):
        names.add(study)
        return [f"result {point}" for point in points]

    compute_all(range(20), compute, taken.append, pool=nullcontext(pool), workers=2, title="study", done=5)
    # One point first; then as many as half a second takes, and fewer at the end.
    assert pool.sizes[:4] == [1, 2, 2, 2]
    assert sum(pool.sizes) == 20
    assert taken == [f"result {point}" for point in range(20)]
    assert len(names) == 1
    assert shown[0] == ("study", 25)
    assert shown[1] == (6, "points/s")
    assert shown[-1] == (25, "points/s")
    assert [done for done, _ in shown[1:]] == sorted({done for done, _ in shown[1:]})


def test_a_worker_that_ends_is_an_error_of_the_machine_and_its_others_results_are_kept(shown):
    taken = []
    with pytest.raises(MachineError, match="a worker process ended before its points were computed"):
        compute_all(
            range(9),
            lambda points, _: list(points),
            taken.append,
            pool=nullcontext(AtOnce(breaks=True)),
            workers=1,
            title="s",
        )
    assert taken[0] == 0
    assert shown


def point(identity, **varied):
    return Point(identity=identity, varied=varied, scenario=f"scenario {identity}", rows=1, text="text")


@pytest.fixture
def trained(monkeypatch):
    """Trains points; scenarios of ``wrong`` are wrong, and ``diverges`` diverges."""
    ran = []

    def run_scenario(scenario, text, path, *, resume, force, source):
        ran.append((scenario, path.name, resume, force))
        assert (text, source) == ("text", "s.toml")
        if "wrong" in scenario:
            raise InputError("must be >= 1.")
        if "diverges" in scenario:
            raise TrainingError("training diverged.")
        path.touch()

    def replays(points):
        (one,) = points
        assert one.replay.network_keys == frozenset()
        rows = [{"overlay": kind, "path": one.replay.path.name} for kind in ("ring", "star")]
        return [PointResult(identity=one.identity, rows=rows)]

    overlays = [
        SimpleNamespace(kind="ring", history={name: [0.5, 0.25] for name in trained_points.FINAL}),
        SimpleNamespace(kind="star", history={}),
    ]
    monkeypatch.setattr(trained_points, "run_scenario", run_scenario)
    monkeypatch.setattr(trained_points, "compute_replays", replays)
    monkeypatch.setattr(trained_points, "read_run", lambda _: SimpleNamespace(overlays=overlays))
    return ran


def test_points_are_trained_one_after_the_other_and_have_their_last_rows(trained, tmp_path, capsys):
    taken = []
    points = [point("a", seed=1), point("wrong"), point("diverges"), point("b", seed=2, preset="femnist")]
    compute_trained(points, taken.append, table=tmp_path / "t.csv", source="s.toml", anew=False)
    assert [name for _, name, *_ in trained] == [f"t-point-{each.identity}.h5" for each in points]
    assert {each[2:] for each in trained} == {(False, True)}
    first, wrong, diverges, last = taken
    ring, star = first.rows
    assert ring == {"overlay": "ring", "path": "t-point-a.h5"} | dict.fromkeys(trained_points.COLUMNS, 0.25)
    assert star == {"overlay": "star", "path": "t-point-a.h5"}
    assert [each.rows[0]["error"] for each in (wrong, diverges)] == ["must be >= 1.", "training diverged."]
    assert last.identity == "b"
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"point 1 of 4, seed 1: {tmp_path / 't-point-a.h5'}"
    assert lines[3].startswith("point 4 of 4, seed 2, preset femnist: ")


@pytest.mark.parametrize(
    ("there", "has_checkpoint", "trains"),
    [
        ((), False, (False, True)),
        ((), True, (True, False)),
        (("run",), False, None),
        (("run",), True, None),
        (("run", "partial"), False, (False, True)),
        (("run", "partial"), True, (True, False)),
        (("partial",), True, (True, False)),
    ],
)
def test_a_complete_run_is_kept_and_one_with_checkpoints_goes_on(
    trained, tmp_path, monkeypatch, there, has_checkpoint, trains
):
    path, dropped = tmp_path / "x.h5", []
    for name, file in (("run", path), ("partial", partial_path(path))):
        if name in there:
            file.touch()
    monkeypatch.setattr(trained_points, "has_checkpoint", lambda _: has_checkpoint)
    monkeypatch.setattr(trained_points, "drop_checkpoints", dropped.append)
    _train(point("a"), path, "s.toml")
    if trains is None:
        assert (trained, dropped) == ([], [path])
    else:
        assert (trained, dropped) == ([("scenario a", "x.h5", *trains)], [])


@pytest.mark.parametrize("anew", [True, False])
def test_with_force_all_runs_are_trained_again(trained, tmp_path, anew):
    points = [point("a"), point("b")]
    run_path(tmp_path / "t.csv", points[0]).touch()
    taken = []
    compute_trained(points, taken.append, table=tmp_path / "t.csv", source="s.toml", anew=anew)
    assert [name for _, name, *_ in trained] == [*["t-point-a.h5"] * anew, "t-point-b.h5"]
    assert len(taken) == 2


def test_the_last_numbers_of_a_history_are_those_that_were_measured():
    name, column = trained_points.FINAL[0], trained_points.COLUMNS[0]
    assert dict(_final({name: np.array([1.0, 0.5])})) == {column: 0.5}
    assert dict(_final({name: np.zeros(0)})) == {}
    assert run_path(Path("x/t.csv"), point("1a")) == Path("x/t-point-1a.h5")


@pytest.mark.parametrize(("size", "is_refused"), [(None, False), (1, False), (2, True)])
def test_a_study_that_trains_goes_without_an_outer_launcher(monkeypatch, size, is_refused):
    monkeypatch.setattr(trained_points, "world", lambda: size and SimpleNamespace(size=size))
    if is_refused:
        with pytest.raises(InputError, match=r"study\.train\(=True\) goes without an outer launcher\."):
            check_alone()
    else:
        check_alone()


def test_ties_of_a_sweep_are_said_once_with_their_capacities(monkeypatch):
    def notes(rows, key):
        assert key == "simulated_s"
        return [f"{len(rows)} tie."] if len(rows) > 1 else []

    monkeypatch.setattr("scenarios.studies.sweep.tie_notes", notes)
    rows = [{"access_bps": bps} for bps in (1e8, 1e8, 1e9, 1e9, 1e10, 2e10, 2e10, 2e10)]
    assert _tie_notes(rows) == ["100 Mbps and 1 Gbps: 2 tie.", "20 Gbps: 3 tie."]
