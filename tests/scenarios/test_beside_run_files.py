"""What is kept, refused or published beside the file of a run, and which rows and names it holds."""

import errno
import os
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from scenarios.runfile import artifacts, training_rows
from scenarios.runfile.artifacts import (
    check_artifacts,
    check_resume,
    drop_checkpoints,
    is_complete,
    models_path,
    publish_models,
    rounds_reached,
)
from scenarios.runfile.atomic import _check_space, _holds_rows, _is_worth_keeping, _reason, reports_full_disk
from scenarios.runfile.checkpoint_folders import being_written, checkpoints_path, has_checkpoint
from scenarios.runfile.folders import check_new_folder, settle_left
from scenarios.runfile.names import link_names, measured_pairs, window_pairs
from scenarios.runfile.paths import create_locked, partial_path
from scenarios.runfile.reader import read_run
from scenarios.runfile.study_rows import finished_points, rows_text, whole_lines
from scenarios.runfile.study_table import _cell, _column
from scenarios.runfile.training_rows import HistoryWriter, allocate_history, write_notices
from topologies import InputError, MachineError
from training import HistoryRow, Notice

NAN = float("nan")


# Checkpoints and models


def record_of(**rounds):
    overlays = [
        SimpleNamespace(kind=kind, history={} if done is None else {"round": np.array([0, done])})
        for kind, done in rounds.items()
    ]
    network = SimpleNamespace(located=lambda: "here")
    return SimpleNamespace(overlays=overlays, scenario="text", network=network)


def checkpoint(path, kind, round_):
    (checkpoints_path(path) / kind / f"round-{round_:06d}").mkdir(parents=True)


def test_a_training_has_reached_its_last_row_or_its_last_checkpoint(tmp_path):
    path, partial = tmp_path / "x.h5", tmp_path / "x.h5.partial"
    record = record_of(a=8, b=8, c=None, d=None)
    for kind, round_ in (("a", 4), ("b", 4), ("b", 12), ("c", 2)):
        checkpoint(path, kind, round_)
    assert rounds_reached(partial, record) == {"a": 8, "b": 12, "c": 2}
    # A complete run has none of its own beside it.
    assert rounds_reached(path, record) == {"a": 8, "b": 8}


def scenario_of(*kinds, every=4, rounds=8, network="here"):
    training = (
        None if every is None else SimpleNamespace(checkpoint_every=every, rounds=rounds, keep_models=True)
    )
    overlays = SimpleNamespace(overlays=[SimpleNamespace(name=kind) for kind in kinds])
    return SimpleNamespace(
        training=training, overlays=overlays, network=SimpleNamespace(located=lambda: network)
    )


def test_a_run_is_complete_once_every_overlay_has_its_last_round(tmp_path, monkeypatch):
    path = tmp_path / "x.h5"
    monkeypatch.setattr(artifacts, "read_run", lambda _path: record_of(a=8, b=8))
    assert is_complete(path, scenario_of("a", "b"), "text")
    assert not is_complete(path, scenario_of("a", "b"), "another")
    assert not is_complete(path, scenario_of("a", "b", network="there"), "text")
    assert not is_complete(path, scenario_of("a"), "text")
    assert not is_complete(path, scenario_of("a", "b", rounds=9), "text")
    # Without checkpoints no run is resumed.
    assert not is_complete(path, scenario_of("a", "b", every=0), "text")
    assert not is_complete(path, scenario_of("a", "b", every=None), "text")
    for unlike in (record_of(a=8, b=4), record_of(a=8, b=None)):
        monkeypatch.setattr(artifacts, "read_run", lambda _path, unlike=unlike: unlike)
        assert not is_complete(path, scenario_of("a", "b"), "text")
    monkeypatch.setattr(artifacts, "read_run", lambda _path: record_of(a=8, b=8))
    partial_path(path).touch()
    assert not is_complete(path, scenario_of("a", "b"), "text")


def test_only_a_training_with_checkpoints_is_resumed():
    check_resume(scenario_of(every=1).training)
    with pytest.raises(InputError, match=r"^training\.checkpoint_every\(=0\) must be >= 1 for --resume\.$"):
        check_resume(scenario_of(every=0).training)
    with pytest.raises(InputError, match=r"^--resume needs a scenario with a table \[training\]\.$"):
        check_resume(None)


def refusal(path, training, **options):
    """What is said, or nothing."""
    try:
        check_artifacts(path, training, **({"force": False, "resume": False} | options))
    except InputError as error:
        return str(error).replace(str(path.parent), "")
    return ""


def test_models_that_exist_are_replaced_by_force_or_by_the_run_that_goes_on(tmp_path):
    path, training = tmp_path / "x.h5", scenario_of().training
    assert refusal(path, training) == ""
    models_path(path).mkdir()
    there = "/x.models exists already; --force replaces it."
    assert refusal(path, training) == there
    assert refusal(path, training, force=True) == ""
    assert refusal(path, None) == ""
    training.keep_models = False
    assert refusal(path, training) == ""
    training.keep_models = True
    # Nothing is there that a run could go on from.
    assert refusal(path, training, resume=True) == there
    for make in (lambda: path.touch(), lambda: checkpoint(path, "a", 4)):
        make()
        assert refusal(path, training, resume=True) == ""
        path.unlink(missing_ok=True)


def test_what_an_interrupted_run_has_left_is_named(tmp_path):
    path, training = tmp_path / "x.h5", scenario_of().training
    partial_path(path).touch()
    assert refusal(path, training) == ""
    partial_path(path).write_text("rows")
    kept = "/x.h5.partial is that of a run that was interrupted or is still running, without a checkpoint"
    assert refusal(path, training).startswith(kept)
    assert "silosim show /x.h5.partial reads its rounds, --force starts again." in refusal(path, training)
    # Of a run that only simulates another check says so; beside a complete run that is in the way.
    assert refusal(path, None) == ""
    path.touch()
    assert refusal(path, training) == ""
    partial_path(path).unlink()
    (checkpoints_path(path) / "a").mkdir(parents=True)
    left = refusal(path, training)
    assert left.startswith(
        "/x.h5.checkpoints is that of a run that was interrupted or is still running, without"
    )
    assert "silosim show" not in left
    checkpoint(path, "b", 4)
    assert refusal(path, training).endswith(
        "--resume continues from its last checkpoint, --force starts again."
    )
    assert refusal(path, training, resume=True) == ""
    drop_checkpoints(path)
    assert refusal(path, training) == ""
    drop_checkpoints(path)


def test_models_of_all_overlays_are_in_one_folder(tmp_path):
    path = tmp_path / "x.h5"
    publish_models(path, ["a", "b"])
    assert not models_path(path).exists()
    from training.checkpoints.model_export import MODEL_FILES

    for kind in "ab":
        (checkpoints_path(path) / kind).mkdir(parents=True)
        (checkpoints_path(path) / kind / MODEL_FILES[0]).write_text(kind)
    models_path(path).mkdir()
    (models_path(path) / "older").touch()
    partial_path(models_path(path)).mkdir()
    publish_models(path, ["a", "b"])
    assert sorted(each.name for each in models_path(path).iterdir()) == [
        f"{kind}-{MODEL_FILES[0]}" for kind in "ab"
    ]
    assert (models_path(path) / f"b-{MODEL_FILES[0]}").read_text() == "b"
    assert not partial_path(models_path(path)).exists()


def row_of(round_, accuracy=0.5):
    return HistoryRow(
        round=round_, train_loss=1.0, train_accuracy=0.5, test_loss=2.0, test_accuracy=accuracy,
        consensus_distance=0.0, silo_loss=(1.0, 2.0),
    )  # fmt: skip


def test_a_run_that_has_just_begun_is_being_written_and_one_that_was_killed_then_is_none(tmp_path):
    partial = partial_path(tmp_path / "x.h5")
    lock = create_locked(partial)
    with pytest.raises(InputError, match=r"x\.h5\.partial: is being written, and can be read when"):
        read_run(partial)
    os.close(lock)
    with pytest.raises(InputError, match=r"x\.h5\.partial: ") as caught:
        read_run(partial)
    assert "is being written" not in str(caught.value)


def test_the_newest_rows_of_a_run_that_is_being_written_are_those_of_its_checkpoints(tmp_path):
    from training.checkpoints.folder import history_path

    path = tmp_path / "x.h5"
    assert being_written(path) == "is being written"
    folder = checkpoints_path(path)
    bare = being_written(partial_path(path))
    assert bare.endswith(f"with checkpoint_every in {folder}")
    assert not has_checkpoint(path)
    for kind, lines in (("b", [row_of(4), row_of(8, 0.75)]), ("a", [row_of(2)]), ("c", [])):
        (folder / kind).mkdir(parents=True)
        # The last line may not be whole.
        history_path(folder / kind).write_text("".join(f"{row.to_json()}\n" for row in lines) + '{"round": 9')
    assert being_written(partial_path(path)) == (
        f"{bare} (a: round 2, test accuracy 0.500; b: round 8, test accuracy 0.750)"
    )
    assert not has_checkpoint(path)
    checkpoint(path, "a", 2)
    assert has_checkpoint(path)


# The file itself


@pytest.mark.parametrize(
    ("simulated", "trained", "kept", "kept_after_ctrl_c"),
    [
        (None, None, False, False),
        (0, None, False, False),
        (3, None, True, True),
        (3, [-1, -1], False, True),
        (0, [0, -1], True, True),
        (0, [-1], False, False),
        (3, [], False, True),
    ],
)
def test_a_file_is_kept_for_its_rows_and_after_ctrl_c_for_its_rounds(
    file_in_memory, simulated, trained, kept, kept_after_ctrl_c
):
    if simulated is not None:
        file_in_memory.create_group("simulation/a").attrs["rounds"] = simulated
        file_in_memory.create_group("simulation/b")
    if trained is not None:
        group = file_in_memory.create_group("training/a")
        if trained:
            group["round"] = np.array(trained)
    assert _holds_rows(file_in_memory) == kept
    assert _is_worth_keeping(file_in_memory, interrupted=False) == kept
    assert _is_worth_keeping(file_in_memory, interrupted=True) == kept_after_ctrl_c


def test_errors_of_hdf5_are_told_by_their_number(file_in_memory):
    assert _reason(OSError(errno.ENOSPC, "x")) == "No space left on device"
    assert (
        _reason(RuntimeError("cannot flush (errno = 28, error message = 'x')")) == "No space left on device"
    )
    assert _reason(RuntimeError("first line\nsecond")) == "first line"

    @reports_full_disk
    def write(_file, error):
        raise error

    with pytest.raises(MachineError, match=r"^x\.h5 cannot be written: No space left on device$"):
        write(file_in_memory, OSError(errno.ENOSPC, "x"))
    with pytest.raises(LookupError):
        write(file_in_memory, LookupError())


def test_space_is_asked_for_and_given_back(tmp_path):
    path = tmp_path / "x"
    for size_bytes in (1, 5000):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        _check_space(descriptor, path, size_bytes)
        assert path.stat().st_size == 0
        os.close(descriptor)
    descriptor = os.open(path, os.O_RDONLY)
    with pytest.raises(
        MachineError, match=r"x cannot be written: Bad file descriptor \(1 bytes are needed\)\.$"
    ):
        _check_space(descriptor, path, 1)
    os.close(descriptor)


def test_training_rows_are_written_in_blocks_and_their_rounds_last(file_in_memory, monkeypatch):
    monkeypatch.setattr(training_rows, "_FLUSH_ROWS", 2)
    monkeypatch.setattr(training_rows, "_FLUSH_S", np.inf)
    allocate_history(file_in_memory, "a", rows=4, silos=2)
    group = file_in_memory["training/a"]
    assert group["round"][...].tolist() == [-1] * 4
    assert group["silo_accuracy"].shape == group["silo_loss"].shape == (4, 2)
    assert np.isnan(group["train_loss"][...]).all()
    assert np.isnan(file_in_memory["replay/a/wall_clock_s"][...]).all()
    writer = HistoryWriter(file_in_memory, "a", np.arange(20) * 10.0)
    writer.flush()
    writer.add(row_of(0))
    assert group["round"][...].tolist() == [-1] * 4
    writer.add(row_of(4))
    writer.add(row_of(8))
    assert group["round"][...].tolist() == [0, 4, -1, -1]
    writer.flush()
    assert group["round"][...].tolist() == [0, 4, 8, -1]
    assert file_in_memory["replay/a/wall_clock_s"][:3].tolist() == [0.0, 40.0, 80.0]
    assert group["test_loss"][:3].tolist() == [2.0] * 3
    assert group["silo_loss"][:3].tolist() == [[1.0, 2.0]] * 3
    # Nobody measured the silos' accuracies.
    assert np.isnan(group["silo_accuracy"][...]).all()


def test_sixteen_rows_are_a_block(file_in_memory, monkeypatch):
    """As the reference of the file says."""
    monkeypatch.setattr(training_rows.time, "monotonic", lambda: 0.0)
    allocate_history(file_in_memory, "a", rows=40, silos=2)
    writer, rounds = HistoryWriter(file_in_memory, "a", np.zeros(41)), file_in_memory["training/a/round"]
    for row in range(33):
        writer.add(row_of(row))
        assert np.count_nonzero(rounds[...] >= 0) == (row + 1) // 16 * 16


@pytest.mark.parametrize(("after_s", "written"), [(2.0, False), (2.1, True)])
def test_a_row_waits_for_two_seconds_at_most(file_in_memory, monkeypatch, after_s, written):
    now = [0.0]
    monkeypatch.setattr(training_rows.time, "monotonic", lambda: now[0])
    allocate_history(file_in_memory, "a", rows=2, silos=2)
    writer = HistoryWriter(file_in_memory, "a", np.zeros(9))
    now[0] = after_s
    writer.add(row_of(3))
    assert (file_in_memory["training/a/round"][0] == 3) == written
    writer.note(Notice("said"))
    writer.note(Notice("again"))
    assert file_in_memory["training/a"].attrs["notices"].decode() == "said\nagain"
    write_notices(file_in_memory, "a", ["x" * 5000])
    assert file_in_memory["training/a"].attrs["notices"].decode() == "x" * 4096


def test_links_of_a_file_without_names_are_those_of_its_pairs(file_in_memory):
    group = file_in_memory.create_group("connectivity")
    group.attrs["bandwidth"] = "measured"
    # A pair of no bandwidth cannot talk.
    group["available_bps"] = np.array([[np.inf, 2.0, 0.0], [0.0, np.inf, 3.0], [1.0, 0.0, np.inf]])
    assert measured_pairs(group).tolist() == [[0, 1], [1, 2], [2, 0]]
    assert window_pairs(group).shape == (0, 2)
    group["window_bps"] = np.array([[1.0, 5.0, 5.0], [5.0, 1.0, np.inf], [5.0, 5.0, 1.0]])
    assert window_pairs(group).tolist() == [[0, 1], [2, 0]]
    underlay = SimpleNamespace(links=1)
    names = link_names(group, underlay, ("A", "B", "C"))
    assert names[:9] == (
        *("A -> B", "B -> C", "C -> A"),
        *("A uplink", "B uplink", "C uplink", "A downlink", "B downlink", "C downlink"),
    )
    assert len(names) == 11
    group["link_names"] = ["x", "y"]
    assert link_names(group, underlay, ("A", "B", "C")) == ("x", "y")
    group.attrs["bandwidth"] = "capacity"
    assert measured_pairs(group) is None


# Rows of studies


def points(*rows, expected):
    """Names of the finished points of a table of a point, an overlay and an error."""
    columns = ("point", "overlay", "error")
    text = rows_text(columns, [dict(zip(columns, row, strict=True)) for row in rows])
    return {
        name: len(found)
        for name, found in finished_points(text.splitlines(True), "s.csv", columns, expected).items()
    }


def test_a_point_is_finished_with_all_its_rows_or_with_one_error_of_all():
    assert points(("p", "a", ""), ("p", "b", ""), expected={"p": 2}) == {"p": 2}
    assert points(("p", "a", ""), expected={"p": 2}) == {}
    assert points(("p", "", "no"), expected={"p": 2}) == {"p": 1}
    # The error of an overlay is a row of it.
    assert points(("p", "a", "no"), expected={"p": 2}) == {}
    assert points(("p", "", ""), expected={"p": 2}) == {}
    # Points of errors alone may be of a file that was missing then.
    assert points(("q", "a", "no"), ("q", "b", "no"), expected={"p": 1}) == {"q": 2}
    with pytest.raises(InputError, match="holds the rows of another study"):
        points(("q", "a", "no"), ("q", "b", ""), expected={"p": 1})


def test_rows_are_whole_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,")
    assert list(whole_lines(path)) == ["a,b\n", "1,2\n"]
    assert rows_text(["a", "b"], [{"a": 1, "b": 0.1}], head=False) == "1,0.1\n"


@pytest.mark.parametrize(
    ("cells", "name", "dtype", "values"),
    [
        (["1", "2"], "seed", "int64", [1, 2]),
        (["1", ""], "seed", "Int64", [1, None]),
        (["1", "2.5"], "seed", "float64", [1.0, 2.5]),
        (["True", "False", ""], "seed", "boolean", [True, False, None]),
        (["1", "2"], "network", "string", ["1", "2"]),
        (["1", "x"], "seed", "string", ["1", "x"]),
        (["", ""], "seed", "float64", [None, None]),
        (["", "x"], "overlay", "string", [None, "x"]),
        ([str(2**70), "1"], "seed", "float64", [2.0**70, 1.0]),
    ],
)
def test_a_column_has_the_narrowest_type_of_its_cells(cells, name, dtype, values):
    column = _column(cells, name)
    assert str(column.dtype) in (dtype, f"{dtype}[python]")
    assert [None if pandas.isna(each) else each for each in column] == values


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (NAN, ""), ("<NA>", ""), (0.1, "0.1"), ("x", "x"), (True, "True")]
)
def test_a_missing_value_is_an_empty_cell(value, text):
    assert _cell(value) == text


# Folders


def test_a_folder_of_own_files_is_replaced_by_force_only(tmp_path):
    path = tmp_path / "out"

    def said(force=False):
        try:
            check_new_folder(path, force=force, is_own=lambda file: file.suffix == ".own")
        except InputError as error:
            return str(error).replace(str(tmp_path), "")
        return ""

    assert said() == ""
    (path / "sub").mkdir(parents=True)
    assert said() == "/out exists already; --force replaces it."
    (path / "sub" / "a.own").touch()
    assert said(force=True) == ""
    (path / "sub" / "b.txt").touch()
    other = "/out holds other files, /out/sub/b.txt among them, and is not replaced; name another folder."
    assert said() == said(force=True) == other
    path = tmp_path / "file"
    path.touch()
    assert said(force=True) == "output(='/file') is a file, must be the name of a folder."


def test_an_earlier_folder_comes_back_where_no_new_one_is(tmp_path):
    for name in (".out.12.old.partial", ".out.13.partial", ".out.x.partial", ".other.12.partial"):
        (tmp_path / name).mkdir()
    (tmp_path / ".out.12.old.partial" / "kept").touch()
    settle_left(tmp_path / "out")
    assert sorted(each.name for each in tmp_path.iterdir()) == [".other.12.partial", ".out.x.partial", "out"]
    assert (tmp_path / "out" / "kept").exists()
    (tmp_path / ".out.14.old.partial").mkdir()
    settle_left(tmp_path / "out")
    assert (tmp_path / "out" / "kept").exists()
    assert not (tmp_path / ".out.14.old.partial").exists()
