"""Checkpoints of another training, damaged ones, and folders that cannot be written: one line each."""

import json
import shutil
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from topologies.errors import InputError, MachineError
from training import HistoryRow
from training.checkpoint_folder import check_resumable, checkpoint_rounds
from training.communicator import Alone
from training.datasets import load_dataset
from training.dpasgd import train_rank
from training.silo_files import write_silos


def test_the_same_folder_is_not_used_twice_at_a_time(rows_of, keeping, monkeypatch):
    monkeypatch.setattr("training.keeping.LOCK_WAIT_S", 0.0)
    first = train_rank(keeping(), Alone())
    with closing(first):
        next(report for report in first if isinstance(report, HistoryRow))
        with pytest.raises(MachineError, match="kept is used by another training"):
            rows_of(keeping())
    assert rows_of(keeping())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "cnn"}, "model(='cnn') must be 'softmax' as in the checkpoint "),
        ({"learning_rate": 0.1}, "learning_rate(=0.1) must be 0.2 as in"),
        ({"dirichlet_alpha": 1.0}, "dirichlet_alpha(=1.0) must be 0.5 as in"),
        ({"optimizer": "adam"}, "optimizer(='adam') must be 'sgd' as in"),
        ({"seed": 8}, "seed(=8) must be 7 as in"),
        ({"silos": 5}, "silos(=5) must be 4 as in"),
        ({"local_steps": 2}, "local_steps(=2) must be 1 as in"),
        ({"matrix": np.full((4, 4), 0.25)}, "mixing must be the same as in"),
        ({"rounds": 3}, "rounds(=3) must be >= 4 as in"),
        ({"keep_models": True}, "keep_models(=True) must be False as in"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(rows_of, keeping, changes, message):
    rows_of(keeping(rounds=6), stop_at=5)
    job = keeping(**{"rounds": 6, **changes})
    for attempt in (lambda: rows_of(job), lambda: check_resumable(job)):
        with pytest.raises(InputError) as caught:
            attempt()
        assert str(caught.value).startswith(message)
        assert str(caught.value).endswith("as in the checkpoint " + str(job.directory / "round-000004") + ".")
    assert len(rows_of(keeping(rounds=6))) == 7


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("momentum", 0.5, "momentum(=0.5) must be 0.0 as in the checkpoint "),
        ("exchange_buffers", True, "exchange_buffers(=True) must be False as in the checkpoint "),
        ("shift_west_deg", 90.0, "shift_west_deg(=90.0) must be None as in the checkpoint "),
    ],
)
def test_a_setting_that_an_older_checkpoint_does_not_know_had_its_default(
    rows_of, keeping, name, value, message
):
    rows = rows_of(keeping(rounds=6), stop_at=5)
    path = keeping().directory / "round-000004" / "head.json"
    head = json.loads(path.read_text())
    del head["made_by"][name]
    path.write_text(json.dumps(head))
    for attempt in (rows_of, check_resumable):
        with pytest.raises(InputError) as caught:
            attempt(keeping(rounds=6, **{name: value}))
        assert str(caught.value).startswith(message)
    assert rows_of(keeping(rounds=6))[:6] == rows


@pytest.mark.parametrize("field", ["train_labels", "train_groups", "train_places"])
def test_other_data_are_refused(rows_of, keeping, monkeypatch, field):
    digits = load_dataset("digits")
    size = len(digits.train_labels)
    digits = replace(digits, train_groups=np.arange(size) % 50, train_places=np.zeros((size, 2)))
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_: digits)
    rows_of(keeping(rounds=6), stop_at=5)
    assert len(rows_of(keeping(rounds=6), stop_at=5)) == 6
    changed = getattr(digits, field).copy()
    changed[0] = (changed[0] + 1) % 10
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_: replace(digits, **{field: changed}))
    with pytest.raises(InputError, match=r"^data_set must be the same as in the checkpoint"):
        rows_of(keeping(rounds=6))


def test_weights_that_differ_by_rounding_are_the_same(rows_of, keeping, ring):
    rows_of(keeping(rounds=6), stop_at=5)
    nearly = ring(4) * (1 + 1e-14)
    assert check_resumable(keeping(rounds=6, matrix=nearly)) == 4


@pytest.mark.parametrize("damage", ["cut", "flip", "locked", "remove", "head", "rows", "scrawl"])
def test_a_damaged_checkpoint_is_one_clear_error(rows_of, keeping, damage):
    job = keeping(rounds=4)
    rows_of(job)
    newest = job.directory / "round-000004"
    silos = newest / "silos-00000-00003.npz"
    whole = silos.read_bytes()
    middle = len(whole) // 2
    if damage == "remove":
        silos.unlink()
    elif damage == "head":
        (newest / "head.json").write_text("{")
    elif damage == "rows":
        (job.directory / "rows.jsonl").write_bytes(b"")
    elif damage == "scrawl":
        history = (job.directory / "rows.jsonl").read_bytes()
        (job.directory / "rows.jsonl").write_bytes(b"?" + history[1:])
    elif damage == "locked":
        flags = whole.index(b"PK\x01\x02") + 8
        silos.write_bytes(whole[:flags] + b"\x01" + whole[flags + 1 :])
    else:
        rest = b"" if damage == "cut" else bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        silos.write_bytes(whole[:middle] + rest)
    with pytest.raises(MachineError) as caught:
        rows_of(job)
    of_rows = damage in ("rows", "scrawl")
    assert str(job.directory / "rows.jsonl" if of_rows else newest) in str(caught.value)
    assert "cannot be read" in str(caught.value)
    assert "\n" not in str(caught.value)
    if of_rows:
        return
    # The one before it is whole.
    shutil.rmtree(newest)
    assert [row.round for row in rows_of(job)] == [0, 1, 2, 3, 4]


def test_a_folder_that_cannot_be_written_is_one_line(rows_of, keeping, tmp_path):
    (tmp_path / "kept").touch()
    with pytest.raises(MachineError, match="kept cannot be written: "):
        rows_of(keeping())


def test_nothing_is_kept_without_a_directory_or_a_wish(rows_of, make_job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows_of(make_job(checkpoint_every=1, keep_models=True))
    rows_of(replace(make_job(), directory=tmp_path / "kept"))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before(rows_of, keeping, monkeypatch):
    def full(path, hosted, write=write_silos):
        if "000004" in str(path):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")
        write(path, hosted)

    job = keeping(rounds=6)
    with monkeypatch.context() as patch:
        patch.setattr("training.checkpoint.write_silos", full)
        with pytest.raises(MachineError, match=r"round-000004 cannot be written: No space left on device$"):
            rows_of(job)
    assert checkpoint_rounds(job.directory) == [2]
    assert [row.round for row in rows_of(job)] == list(range(7))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rows.jsonl", None, r"rows\.jsonl cannot be read: \d+ bytes are missing\.$"),
        ("rows.jsonl", "{", r"rows\.jsonl cannot be read: \d+ bytes are missing\.$"),
        ("round-000004/last.json", "{", r"last\.json cannot be read: Expecting property name"),
        ("round-000004/best.json", "{", r"best\.json cannot be read: Expecting property name"),
        (
            "round-000004/head.json",
            "{}",
            r"head\.json cannot be read: schema\(=None\) must be 'silosim-check",
        ),
    ],
)
def test_a_damaged_file_is_named_each_time_and_left_as_it_is(rows_of, keeping, name, text, message):
    job = keeping(rounds=4, keep_models=True)
    rows_of(job)
    path = job.directory / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    for _ in range(2):
        with pytest.raises(MachineError, match=message):
            rows_of(job)
    assert (path.read_text() if path.exists() else "") == (text or "")
