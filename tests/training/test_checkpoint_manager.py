"""Which rounds have rows, checkpoints and models, and what is left in the folder of a training."""

import errno
import fcntl
import hashlib
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError, MachineError
from training import HistoryRow, TrainingConfig
from training.checkpoints import checkpoint_manager
from training.checkpoints.checkpoint import read_checkpoint
from training.checkpoints.checkpoint_manager import CheckpointManager, is_logged
from training.checkpoints.folder import check_resumable, checkpoint_path, link
from training.checkpoints.model_export import model_files, read_row
from training.checkpoints.silo_files import write_silos
from training.data.datasets import Dataset
from training.engine.communicator import SingleRank


class Other(SingleRank):
    """The second of two ranks; the first one has found no checkpoint."""

    rank, size = 1, 2

    def sum(self, values):
        return values - 1


def dataset(samples=4):
    x, y = np.zeros((samples, 1, 1, 1), np.float32), np.arange(samples) % 2
    return Dataset(train_inputs=x, train_labels=y, test_inputs=x, test_labels=y, classes=2)


def row(k, *, accuracy=0.5):
    return HistoryRow(
        round=k,
        train_loss=1.0,
        train_accuracy=0.5,
        test_loss=1.0,
        test_accuracy=accuracy,
        consensus_distance=0.0,
        silo_loss=(1.0,),
    )


def average(value):
    model = nn.Linear(1, 1, bias=False)
    model.weight.data[:] = value
    return model


@pytest.fixture
def hosted():
    """What a rank hosts: one silo."""
    return SimpleNamespace(models=SimpleNamespace(modules=[average(0)]), own=range(1), executor="loop")


NONE = SimpleNamespace(models=SimpleNamespace(modules=[]), own=range(0), executor="loop")


@pytest.fixture
def manager(make_job, tmp_path):
    """The access of a rank to a folder, for a training of six rounds."""

    def make(*, communicator=None, rounds=6, data=None, **settings):
        job = replace(make_job(rounds=rounds, **settings), directory=tmp_path / "run")
        return CheckpointManager(job, data or dataset(), communicator=communicator or SingleRank())

    return make


@pytest.mark.parametrize(
    ("log_every", "logged"), [(1, [0, 1, 2, 3, 4, 5]), (2, [0, 2, 4, 5]), (3, [0, 3, 5]), (7, [0, 5])]
)
def test_every_so_many_rounds_have_a_row_and_the_last_one(log_every, logged):
    config = TrainingConfig(rounds=5, log_every=log_every)
    assert [k for k in range(6) if is_logged(config, k)] == logged


@pytest.mark.parametrize("every", [0, 2])
def test_the_best_model_and_the_last_are_kept_with_their_rows(manager, tmp_path, every, hosted):
    folder = tmp_path / "run"

    def kept(name):
        weight = torch.load(folder / f"{name}.pt", weights_only=True)["weight"]
        return read_row(folder, name).round, float(weight)

    with manager(keep_models=True, checkpoint_every=every) as managed:
        for k, accuracy in ((0, 0.4), (1, 0.6), (2, 0.5)):
            managed.add(row(k, accuracy=accuracy), average(k), hosted if k else NONE, new=True)
        assert kept("best") == (1, 1)
        assert [file.name for file in model_files(folder)] == ["best.pt", "best.json"]
        assert managed.lacks_last_model is False
        managed.add(row(6, accuracy=0.5), average(6), hosted, new=True)
        assert (kept("best"), kept("last")) == ((1, 1), (6, 6))
        managed.add(row(6, accuracy=0.7), average(7), hosted, new=False)
        assert (kept("best"), kept("last")) == ((6, 7), (6, 7))
    # Rows are for what resumes: those that the history lacked, each once.
    lines = [row(k, accuracy=a).to_json() + "\n" for k, a in ((0, 0.4), (1, 0.6), (2, 0.5), (6, 0.5))]
    if every:
        assert (folder / "rows.jsonl").read_text() == "".join(lines)
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["best.json", "best.pt", "last.json", "last.pt", "lock", *(["rows.jsonl"] if every else [])]
    )


def test_another_rank_writes_nothing(manager, tmp_path, hosted):
    with manager(communicator=Other(), keep_models=True) as managed:
        managed.add(row(6), average(1), hosted, new=True)
        assert managed.resume(hosted) == []
        assert managed.lacks_last_model is False
    assert not (tmp_path / "run").exists()


def test_a_training_that_begins_removes_what_an_earlier_one_left(manager, tmp_path, hosted):
    with manager(keep_models=True) as managed:
        managed.add(row(6), average(1), hosted, new=True)
    for name in ("rows.jsonl", "mine.txt"):
        (tmp_path / "run" / name).write_text("x")
    with manager(keep_models=True) as managed:
        assert (managed.done, managed.resume(hosted)) == (0, [])
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == ["lock", "mine.txt"]


@pytest.mark.parametrize(
    ("every", "rounds", "due"),
    [(2, 6, [2, 4, 6]), (4, 6, [4, 6]), (9, 6, [6]), (1, 3, [1, 2, 3]), (0, 6, [])],
)
def test_every_so_many_rounds_have_a_checkpoint_and_the_last_one(
    manager, monkeypatch, every, rounds, due, hosted
):
    written = []
    monkeypatch.setattr(
        checkpoint_manager, "write_checkpoint", lambda _job, _silos, k, **facts: written.append((k, facts))
    )
    with manager(checkpoint_every=every, rounds=rounds) as managed:
        for k in range(1, rounds + 1):
            for _ in range(2):  # a round that has one already gets no other
                managed.save(k, hosted)
            assert managed.done == max([0, *(each for each in due if each <= k)])
    assert [k for k, _ in written] == due


def test_what_a_checkpoint_says_of_rows_models_and_silos(manager, monkeypatch, tmp_path, hosted):
    written = {}
    monkeypatch.setattr(checkpoint_manager, "write_checkpoint", lambda *_, **facts: written.update(facts))
    folder = tmp_path / "run"
    with manager(checkpoint_every=2, keep_models=True) as managed:
        managed.add(row(0), average(1), hosted, new=True)
        managed.save(2, hosted)
    rows = (row(0).to_json() + "\n").encode()
    facts = written["facts"]
    assert (facts["executor"], facts["rows_bytes"]) == ("loop", len(rows))
    assert facts["rows_sha256"] == hashlib.sha256(rows).hexdigest()
    assert list(written["blocks"]) == [range(4)]
    assert written["files"] == {
        folder / name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("best.pt", "best.json")
    }
    with manager(checkpoint_every=2, communicator=Other()) as managed:
        managed.save(2, hosted)
    assert written["facts"]["rows_bytes"] == 0
    assert list(written["blocks"]) == [range(2), range(2, 4)]
    assert written["facts"]["made_by"] == facts["made_by"]
    with manager(checkpoint_every=2, data=dataset(5)) as managed:
        managed.save(2, hosted)
    assert written["facts"]["made_by"] != facts["made_by"]


@pytest.mark.parametrize(
    ("asked", "made", "gpu", "taken"),
    [
        ("auto", "vmap", False, "vmap"),
        ("auto", "graphs", True, "graphs"),
        ("auto", "graphs", False, "auto"),
        ("auto", None, True, "auto"),
        ("loop", "vmap", True, "loop"),
        ("loop", "graphs", False, "loop"),
    ],
)
def test_the_executor_that_made_the_checkpoint_goes_on_where_none_is_named(manager, asked, made, gpu, taken):
    managed = manager(checkpoint_every=2, executor=asked, device="auto")
    managed._head = {} if made is None else {"executor": made}
    job = managed.with_recorded_executor(gpu=gpu)
    assert job.config.executor == taken
    assert replace(job.config, executor=asked) == managed._job.config


@pytest.mark.parametrize(
    ("done", "last", "lacks"),
    [(6, None, True), (6, 4, True), (6, 6, False), (4, None, False), (0, None, False)],
)
def test_a_last_model_is_missing_where_the_checkpoint_of_the_last_round_was_not_the_last_then(
    manager, tmp_path, done, last, lacks
):
    with manager(keep_models=True) as managed:
        managed.done = done
        if last is not None:
            (tmp_path / "run" / "last.json").write_text(row(last).to_json())
        assert managed.lacks_last_model is lacks
    with manager(checkpoint_every=1) as managed:
        managed.done = done
        assert managed.lacks_last_model is False


def test_the_folder_is_given_back_where_it_cannot_be_read(manager, monkeypatch):
    monkeypatch.setattr(checkpoint_manager, "LOCK_WAIT_S", 0.0)

    def broken(*_):
        raise MachineError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_manager, "find_checkpoint", broken)
        with pytest.raises(MachineError, match=r"^broken$"):
            manager(checkpoint_every=1).__enter__()
    with (
        manager(checkpoint_every=1),
        pytest.raises(MachineError, match=r"run is used by another training\.$"),
    ):
        manager(checkpoint_every=1).__enter__()
    with manager(checkpoint_every=1) as managed:
        assert managed.done == 0


def test_a_lock_that_is_given_back_within_the_time_is_waited_for(tmp_path, monkeypatch):
    tries, now_s = [], [0.0]

    def lock(descriptor, how):
        tries.append((descriptor, how))
        if len(tries) < 4:
            raise BlockingIOError

    def sleep(seconds):
        now_s[0] += seconds

    monkeypatch.setattr(fcntl, "flock", lock)
    clock = SimpleNamespace(monotonic=lambda: now_s[0], sleep=sleep)
    monkeypatch.setattr(checkpoint_manager, "time", clock)
    descriptor = checkpoint_manager._locked(tmp_path / "lock")
    assert tries == [(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)] * 4
    os.close(descriptor)
    tries.clear()
    monkeypatch.setattr(checkpoint_manager, "LOCK_WAIT_S", 0.15)
    with pytest.raises(MachineError, match="is used by another training"):
        checkpoint_manager._locked(tmp_path / "lock")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(tries[-1][0])


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EIO])
def test_a_file_system_without_locks_has_none_and_other_errors_are_told(tmp_path, monkeypatch, number):
    asked = []

    def refuse(descriptor, _how):
        asked.append(descriptor)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    if number == errno.EIO:
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            checkpoint_manager._locked(tmp_path / "lock")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(asked[0])
    else:
        os.close(checkpoint_manager._locked(tmp_path / "lock"))
    assert len(asked) == 1


def test_without_links_a_file_is_copied(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.write_bytes(b"data")
    link(source, tmp_path / "linked")
    assert os.path.samefile(source, tmp_path / "linked")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    link(source, tmp_path / "copied")
    assert not os.path.samefile(source, tmp_path / "copied")
    assert (tmp_path / "copied").read_bytes() == b"data"


def test_a_rank_reads_the_files_of_its_own_silos_alone(make_job, make_rank_silos, tmp_path):
    job, path = make_job(silos=4), checkpoint_path(tmp_path, 3)
    path.mkdir()
    sums, parts = [], {}
    for rank in (0, 1):
        part = SimpleNamespace(rank=rank, size=2)
        parts[rank] = make_rank_silos(job, communicator=part)
        parts[rank].models.parameters[:] = 1.0 + rank
        name = f"silos-{2 * rank:05d}-{2 * rank + 1:05d}.npz"
        write_silos(path / name, parts[rank])
        sums.append(f"{hashlib.sha256((path / name).read_bytes()).hexdigest()}  {name}\n")
    (path / "SHA256SUMS").write_text("".join(sums))
    (path / "silos-00000-00001.npz").write_bytes(b"damaged")
    head = {"silos": [[0, 2], [2, 4]], "round": 3}
    parts[1].models.parameters[:] = 0
    read_checkpoint(path, head, parts[1])
    assert (parts[1].models.parameters == 2).all()
    with pytest.raises(
        MachineError, match=r"silos-00000-00001\.npz cannot be read: it differs from its checksum"
    ):
        read_checkpoint(path, head, parts[0])


def test_a_checkpoint_of_a_later_round_is_told_by_rank_and_folder(manager, monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoint_manager, "find_checkpoint", lambda *_: 7)
    monkeypatch.setattr(checkpoint_manager, "read_head", lambda _path: {"round": 7, "made_by": {}})
    with pytest.raises(InputError) as caught:
        manager(checkpoint_every=1, communicator=Other()).__enter__()
    path = tmp_path / "run" / "round-000007"
    assert str(caught.value) == f"rounds(=6) must be >= 7 as in the checkpoint {path}."


# At rate 0 the first model stays the best one.
@pytest.mark.parametrize("learning_rate", [0.2, 0.0])
def test_a_training_that_went_on_can_go_on_again(rows_of, checkpointing, learning_rate):
    job = checkpointing(rounds=6, silos=2, keep_models=True, learning_rate=learning_rate)
    rows_of(job, stop_at=3)
    rows_of(job, stop_at=5)
    # The checkpoint of round 4 has the checksums of all rows and models, also of those from before it.
    assert check_resumable(job) == 4
    assert check_resumable(job, before=4) == 2
    rows = rows_of(job)
    assert [row.round for row in rows] == list(range(7))
    assert (check_resumable(job), check_resumable(job, before=2)) == (6, None)
    assert rows_of(job) == rows
    assert read_row(job.directory, "best") == max(
        rows, key=lambda row: (row.test_accuracy, -row.test_loss, -row.round)
    )
    assert read_row(job.directory, "last") == rows[-1]


def test_a_history_that_is_none_is_named(manager, monkeypatch, tmp_path, hosted):
    with manager(checkpoint_every=2) as managed:
        managed.add(row(0), average(1), hosted, new=True)
        monkeypatch.setattr(checkpoint_manager, "read_rows", lambda _folder, _head: b'{"round": 0}\n')
        monkeypatch.setattr(checkpoint_manager, "read_checksums", lambda _path: {})
        with pytest.raises(MachineError) as caught:
            managed._restore(tmp_path / "run" / "round-000002")
    assert str(caught.value).startswith(f"{tmp_path / 'run' / 'rows.jsonl'} cannot be read: ")


def test_without_a_folder_or_a_wish_nobody_looks_for_a_checkpoint(make_job, tmp_path, monkeypatch, hosted):
    monkeypatch.setattr(checkpoint_manager, "find_checkpoint", None)
    monkeypatch.chdir(tmp_path)
    for job in (
        make_job(checkpoint_every=1, keep_models=True),
        replace(make_job(), directory=tmp_path / "run"),
    ):
        with CheckpointManager(job, dataset(), communicator=SingleRank()) as managed:
            managed.add(row(3), average(1), hosted, new=True)
            assert (managed.done, managed.resume(hosted), managed.lacks_last_model) == (0, [], False)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_rows_and_models_begins_without_them(manager, tmp_path, hosted):
    for _ in range(2):
        with manager(checkpoint_every=2) as managed:
            assert managed.resume(hosted) == []
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["lock"]
