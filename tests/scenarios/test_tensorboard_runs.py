"""Folders of TensorBoard's: which run is read, what a restart replaces, what a kill leaves."""

import itertools
import shutil

import numpy as np
import pytest
from tensorboardX import SummaryWriter
from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.record_writer import RecordWriter

from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.tensorboard_runs import _rows
from topologies import InputError


def read(path, run=None, *, local_steps=1, **names):
    return read_history(
        read_rows(path, run),
        ColumnNames(**names),
        ("A", "B"),
        source=str(path),
        local_steps=local_steps,
        percent=False,
    )


def message(path, run=None, **names):
    with pytest.raises(InputError) as caught:
        read(path, run, **names)
    text = str(caught.value).replace(f"{path.parent}/", "")
    assert "\n" not in text
    return text


def write(folder, number, scalars, *, version="brain.Event:2", start=None, time=None):
    """An event file as a writer of TensorBoard's leaves it; `scalars` are (tag, step, value), or a step of START."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{number}"
    writer = RecordWriter(str(path))
    clock = itertools.count(float(number if time is None else time))
    events = [Event(file_version=version)] if version else []
    if start is not None:
        events.append(Event(step=start, session_log=SessionLog(status=SessionLog.START)))
    for tag, step, value in scalars:
        events.append(Event(step=step))
        events[-1].summary.value.add(tag=tag, simple_value=value)
    for event in events:
        event.wall_time = next(clock)
        writer.write(event.SerializeToString())
    writer.close()
    return path


def losses(steps, scale=1.0, tag="train/loss"):
    return [(tag, step, scale * step) for step in steps]


def pairs(found, field="train_loss"):
    history = found.history
    there = np.isfinite(history[field])
    return [*zip(history["round"][there].tolist(), history[field][there].tolist(), strict=True)]


def test_a_later_file_replaces_a_tags_steps_from_its_first_one_on(tmp_path):
    folder = tmp_path / "logs"
    write(folder, 1000, [*losses(range(1, 7)), *losses([2, 4, 6], 0.125, "val/acc")])
    later = write(folder, 2000, [*losses(range(4, 6), 10.0), ("val/acc", 4, 0.75)])
    found = read(folder)

    assert pairs(found) == [(1, 1), (2, 2), (3, 3), (4, 40), (5, 50)]
    assert pairs(found, "test_accuracy") == [(2, 0.25), (4, 0.75)]
    assert found.notes == (
        f"{later} goes on from step 4: 5 earlier values of that step and later ones are replaced.",
    )


def test_a_start_replaces_the_steps_of_every_tag(tmp_path):
    folder = tmp_path / "logs"
    write(folder, 1000, [*losses(range(1, 7)), *losses([2, 4, 6], 0.125, "val/acc")])
    write(folder, 2000, losses(range(5, 7), 10.0), start=4)
    found = read(folder)

    assert pairs(found) == [(1, 1), (2, 2), (3, 3), (5, 50), (6, 60)]
    assert pairs(found, "test_accuracy") == [(2, 0.25)]
    assert "goes on from step 4: 5 earlier values" in found.notes[0]


def test_a_purge_step_of_a_writer_is_followed(tmp_path):
    folder = tmp_path / "logs"
    with SummaryWriter(str(folder), filename_suffix=".a") as writer:
        for step in range(1, 7):
            writer.add_scalar("train/loss", step, step)
            writer.add_scalar("val/acc", step / 8, step)
    with SummaryWriter(str(folder), filename_suffix=".b", purge_step=3) as writer:
        writer.add_scalar("train/loss", 30, 3)
    found = read(folder)

    assert pairs(found) == [(1, 1), (2, 2), (3, 30)]
    assert pairs(found, "test_accuracy") == [(1, 0.125), (2, 0.25)]


def test_a_file_that_goes_on_where_the_last_one_ended_replaces_nothing(tmp_path):
    folder = tmp_path / "logs"
    write(folder, 1000, losses(range(1, 4)))
    write(folder, 2000, losses(range(4, 6)))
    found = read(folder)
    assert pairs(found) == [(k, k) for k in range(1, 6)]
    assert found.notes == ()


def test_files_are_in_the_order_of_their_first_events(tmp_path):
    folder = tmp_path / "logs"
    write(folder, 20, losses(range(1, 4)), time=5.0)
    write(folder, 10, losses([3], 10.0), time=6.0)
    assert pairs(read(folder)) == [(1, 1), (2, 2), (3, 30)]


@pytest.mark.parametrize("version", ["", "brain.Event:1"])
def test_an_old_version_restarts_at_a_lower_step_within_a_file(tmp_path, version):
    folder = tmp_path / "logs"
    path = write(folder, 1, [*losses([1, 2, 3]), *losses([2], 10.0)], version=version)
    assert pairs(read(path)) == [(1, 1), (2, 20)]


def test_below_the_last_step_of_an_old_version_every_tag_begins_again(tmp_path):
    """As EventAccumulator of TensorBoard 2.21 reads it: after the restart at 3 the step 4 is still below 5."""
    folder = tmp_path / "logs"
    steps = [("train/loss", 2), ("train/loss", 5), ("val/loss", 5), ("train/loss", 3), ("val/loss", 4)]
    write(folder, 1, [(tag, step, float(place)) for place, (tag, step) in enumerate(steps)], version="")
    found = read(folder)
    assert pairs(found) == [(2, 0), (3, 3)]
    assert pairs(found, "test_loss") == [(4, 4)]


def test_a_lower_step_within_a_file_of_version_2_is_no_restart(tmp_path):
    folder = tmp_path / "logs"
    write(folder, 1, [*losses([1, 2, 3]), *losses([2], 10.0)])
    assert message(folder) == (
        "logs/events.out.tfevents.1, record 5: step(=2) must ascend for train/loss: record 4 has 3."
    )


def test_a_file_that_a_kill_cut_short_is_read_up_to_its_last_whole_record(tmp_path):
    folder = tmp_path / "logs"
    path = write(folder, 1, losses(range(1, 4)))
    whole = path.read_bytes()
    rest = len(whole) // 4 - 1
    for cut in range(1, rest):
        path.write_bytes(whole[:-cut])
        found = read(folder)
        assert pairs(found) == [(1, 1), (2, 2)]
        assert found.notes == (f"{path} is cut short: its 3 whole records are read.",)
    write(folder, 2, losses([3], 10.0))
    assert pairs(read(folder)) == [(1, 1), (2, 2), (3, 30)]


def test_one_run_below_the_folder_is_taken_and_several_are_named(tmp_path):
    folder = tmp_path / "logs"
    write(folder / "a" / "run1", 1, losses([1, 2]))
    found = read(folder)
    assert pairs(found) == [(1, 1), (2, 2)]
    assert found.notes == ("the run is a/run1.",)

    write(folder / "run2", 1, losses([1, 2], 3.0))
    assert message(folder) == "logs: has several runs: --run must name one of a/run1, run2."
    assert pairs(read(folder, "run2")) == [(1, 3), (2, 6)]
    assert pairs(read(folder, "a/run1/")) == [(1, 1), (2, 2)]
    assert message(folder, "run3") == "logs: run(='run3') must be one of a/run1, run2 (did you mean 'run2'?)."

    for number in range(10, 18):
        write(folder / f"run{number}", 1, losses([1]))
    ten = ", ".join(["a/run1", *(f"run{number}" for number in range(10, 18)), "run2"])
    assert message(folder) == f"logs: has several runs: --run must name one of {ten}."
    write(folder / "run18", 1, losses([1]))
    ten = ten.replace("run2", "run18")
    assert message(folder) == f"logs: has several runs: --run must name one of {ten}, ... (11 runs)."
    for number in range(10, 19):
        shutil.rmtree(folder / f"run{number}")

    write(folder, 1, losses([7]))
    assert "--run must name one of ., a/run1, run2." in message(folder)
    assert pairs(read(folder, ".")) == [(7, 7)]


@pytest.mark.parametrize("test", ["test", "validation", "val", "eval"])
def test_writers_of_training_and_test_are_joined_and_the_folder_says_which(tmp_path, test):
    folder = tmp_path / "logs"
    for name, scale in (("train", 1.0), (test, 2.0)):
        write(folder / name, 1, [*losses([1, 2], scale, "loss"), *losses([1, 2], scale / 8, "accuracy")])
    found = read(folder)

    assert pairs(found) == [(1, 1), (2, 2)]
    assert pairs(found, "train_accuracy") == [(1, 0.125), (2, 0.25)]
    assert pairs(found, "test_loss") == [(1, 2), (2, 4)]
    assert pairs(found, "test_accuracy") == [(1, 0.25), (2, 0.5)]
    assert found.notes == (
        f"folders {' and '.join(sorted(('train', test)))} are joined, as of one training.",
    )
    # One of the two alone keeps its phase.
    assert read(folder, "train").columns.metrics["train_accuracy"] == "train/accuracy"


def test_notes_say_first_what_is_read_then_file_by_file_what_is_lost(tmp_path):
    folder = tmp_path / "logs"
    paths = [write(folder / name, 1, losses([1, 2], tag="loss")) for name in ("train", "val")]
    again = write(folder / "val", 20, losses([2, 3], tag="loss"))
    for path in (paths[0], again):
        path.write_bytes(path.read_bytes()[:-1])

    assert read(folder).notes == (
        "folders train and val are joined, as of one training.",
        f"{paths[0]} is cut short: its 2 whole records are read.",
        f"{again} is cut short: its 2 whole records are read.",
        f"{again} goes on from step 2: 1 earlier value of that step and later ones are replaced.",
    )
    assert read(folder, "val").notes[0] == "the run is val."


def test_a_note_has_the_first_step_of_all_tags_that_begin_again(tmp_path):
    folder = tmp_path / "logs"
    tags = ("train/loss", "val/loss", "val/acc")
    write(folder, 1, [(tag, step, 0.5) for step in (1, 2, 3, 4) for tag in tags])
    again = write(folder, 20, [("train/loss", 4, 0.25), ("val/loss", 2, 0.25), ("val/acc", 5, 0.25)])
    found = read(folder)

    assert found.notes == (
        f"{again} goes on from step 2: 4 earlier values of that step and later ones are replaced.",
    )
    assert pairs(found) == [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.25)]
    assert pairs(found, "test_loss") == [(1, 0.5), (2, 0.25)]
    assert pairs(found, "test_accuracy") == [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5), (5, 0.25)]


def test_pairs_of_several_runs_are_named_by_their_folder(tmp_path):
    folder = tmp_path / "logs"
    for run in ("a", "b"):
        for name in ("train", "validation"):
            write(folder / run / name, 1, losses([1], 2.0 if run == "b" else 1.0, "loss"))
    assert message(folder) == "logs: has several runs: --run must name one of a, b."
    assert pairs(read(folder, "b"), "test_loss") == [(1, 2)]


def test_folders_of_keras_have_epochs_and_a_test_by_iterations_beside(tmp_path):
    """Tags of keras.callbacks.TensorBoard: epochs count from 0, the evaluation's step is the optimizer's."""
    folder = tmp_path / "logs"
    epochs = range(3)
    write(
        folder / "train",
        1,
        [(f"epoch_{m}", k, x / 2**k) for k in epochs for m, x in (("loss", 2.0), ("accuracy", 0.5))],
    )
    write(
        folder / "validation",
        1,
        [
            row
            for k in epochs
            for row in (
                ("evaluation_loss_vs_iterations", 50 * (k + 1), 9.0),
                ("epoch_loss", k, 3.0 / 2**k),
                ("epoch_accuracy", k, 0.25 * (k + 1)),
            )
        ],
    )
    (folder / "events.out.tfevents.2.host.profile-empty").write_bytes(b"")
    assert "--round 'epoch' takes each epoch for one round" in message(folder)
    found = read(folder, round="epoch", local_steps=50)

    assert pairs(found) == [(1, 2.0), (2, 1.0), (3, 0.5)]
    assert pairs(found, "train_accuracy") == [(1, 0.5), (2, 0.25), (3, 0.125)]
    assert pairs(found, "test_loss") == [(1, 3.0), (2, 1.5), (3, 0.75)]
    assert pairs(found, "test_accuracy") == [(1, 0.25), (2, 0.5), (3, 0.75)]


def test_what_is_not_there_is_one_line(tmp_path):
    folder = tmp_path / "logs"
    (folder / "run").mkdir(parents=True)
    assert message(folder) == "logs: has no TensorBoard event file (*tfevents*)."
    with SummaryWriter(str(folder / "run")) as writer:
        writer.add_text("note", "hello", 1)
    assert message(folder) == "logs/run: has no scalar tag in its 1 event file."
    path = write(folder, 1, losses([1]))
    assert "is no folder: --run must not be given" in message(path, "run")
    table = tmp_path / "a.csv"
    table.write_text("round,loss\n1,1\n")
    assert message(table, "run") == (
        "a.csv: is no folder of TensorBoard's: --run must not be given, which names a run in one."
    )
    write(folder / "nan", 1, [("train/loss", 1, float("nan"))])
    assert message(folder, "nan") == (
        "logs/nan/events.out.tfevents.1, record 2: train/loss(=nan) must be a finite number."
    )


def test_the_command_takes_a_run(silosim, tmp_path):
    folder = tmp_path / "logs"
    for run in ("a", "b"):
        write(folder / run, 1, losses([1, 2]))
    common = ("import-metrics", folder, "--on", "gaia", "--workload", "femnist", "--kind", "ring")
    refused = silosim(*common, "--unit", "rounds", "-o", tmp_path / "run.h5").failed(2)
    assert refused.err == f"silosim: error: {folder}: has several runs: --run must name one of a, b.\n"
    done = silosim(*common, "--unit", "rounds", "--run", "b", "-o", tmp_path / "run.h5").ok()
    assert "the run is b." in done.err


@pytest.mark.parametrize(("files", "words"), [(1, "1 event file"), (2, "2 event files")])
def test_a_run_without_scalars_says_how_many_files_it_has(files, words):
    with pytest.raises(InputError, match=rf"^logs: has no scalar tag in its {words}\.$"):
        _rows([], (), "logs", files)
