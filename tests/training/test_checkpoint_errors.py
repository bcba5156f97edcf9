"""Checkpoints of another training, damaged ones, and folders that cannot be written: one line each."""

import hashlib
import json
import os
import shutil
import subprocess
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from topologies.errors import InputError, MachineError
from training import HistoryRow
from training.checkpoints import folder
from training.checkpoints.folder import check_resumable, checkpoint_rounds, read_rows
from training.checkpoints.model_export import read_row
from training.checkpoints.silo_files import write_silos
from training.data.datasets import load_dataset
from training.dpasgd import train_rank
from training.engine.communicator import SingleRank


def test_the_same_folder_is_not_used_twice_at_a_time(rows_of, checkpointing, monkeypatch):
    monkeypatch.setattr("training.checkpoints.checkpoint_manager.LOCK_WAIT_S", 0.0)
    first = train_rank(checkpointing(), SingleRank())
    with closing(first):
        next(report for report in first if isinstance(report, HistoryRow))
        with pytest.raises(MachineError, match="checkpoints is used by another training"):
            rows_of(checkpointing())
    assert rows_of(checkpointing())


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
def test_a_checkpoint_of_another_training_is_refused(rows_of, checkpointing, changes, message):
    rows_of(checkpointing(rounds=6), stop_at=5)
    job = checkpointing(**{"rounds": 6, **changes})
    for attempt in (lambda: rows_of(job), lambda: check_resumable(job)):
        with pytest.raises(InputError) as caught:
            attempt()
        assert str(caught.value).startswith(message)
        assert str(caught.value).endswith("as in the checkpoint " + str(job.directory / "round-000004") + ".")
    assert len(rows_of(checkpointing(rounds=6))) == 7


def test_more_rounds_are_another_training_where_they_decide_the_rates(rows_of, checkpointing):
    cosine = {"learning_rate_schedule": "cosine"}
    rows_of(checkpointing(rounds=6, **cosine), stop_at=5)
    with pytest.raises(InputError, match=r"rounds\(=8\) must be 6 as in the checkpoint "):
        check_resumable(checkpointing(rounds=8, **cosine))
    assert check_resumable(checkpointing(rounds=6, **cosine)) == 4


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("momentum", 0.5, "momentum(=0.5) must be 0.0 as in the checkpoint "),
        ("exchange_buffers", True, "exchange_buffers(=True) must be False as in the checkpoint "),
        ("shift_west_deg", 90.0, "shift_west_deg(=90.0) must be None as in the checkpoint "),
    ],
)
def test_a_setting_that_an_older_checkpoint_does_not_know_had_its_default(
    rows_of, checkpointing, name, value, message
):
    rows = rows_of(checkpointing(rounds=6), stop_at=5)
    path = checkpointing().directory / "round-000004" / "head.json"
    head = json.loads(path.read_text())
    del head["made_by"][name]
    sums = path.with_name("SHA256SUMS")
    before, text = path.read_bytes(), json.dumps(head).encode()
    path.write_bytes(text)
    digests = (hashlib.sha256(data).hexdigest() for data in (before, text))
    sums.write_text(sums.read_text().replace(*digests))
    for attempt in (rows_of, check_resumable):
        with pytest.raises(InputError) as caught:
            attempt(checkpointing(rounds=6, **{name: value}))
        assert str(caught.value).startswith(message)
    assert rows_of(checkpointing(rounds=6))[:6] == rows


@pytest.mark.parametrize("field", ["train_labels", "train_groups", "train_places"])
def test_other_data_are_refused(rows_of, checkpointing, monkeypatch, field):
    digits = load_dataset("digits")
    size = len(digits.train_labels)
    digits = replace(digits, train_groups=np.arange(size) % 50, train_places=np.zeros((size, 2)))
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_: digits)
    rows_of(checkpointing(rounds=6), stop_at=5)
    assert len(rows_of(checkpointing(rounds=6), stop_at=5)) == 6
    changed = getattr(digits, field).copy()
    changed[0] = (changed[0] + 1) % 10
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_: replace(digits, **{field: changed}))
    with pytest.raises(InputError, match=r"^data_set must be the same as in the checkpoint"):
        rows_of(checkpointing(rounds=6))


def test_weights_that_differ_by_rounding_are_the_same(rows_of, checkpointing, ring):
    rows_of(checkpointing(rounds=6), stop_at=5)
    nearly = ring(4) * (1 + 1e-14)
    assert check_resumable(checkpointing(rounds=6, matrix=nearly)) == 4


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("round", [1, 10**6], [0, -1, True, 1.0, "1", None]),
        ("executor", ["loop", ""], [None, 1]),
        ("rows_bytes", [0, 1], [-1, False, 0.5]),
        ("rows_sha256", ["0" * 64, "f" * 64], ["0" * 63, "0" * 65, "F" * 64, "g" * 64, 0]),
        ("made_by", [{}, {"seed": 1}], [[], None]),
        (
            "silos",
            [[[0, 1]], [[0, 2], [2, 3]]],
            [
                [],
                {},
                [0, 1],
                [[0]],
                [[0, 1, 2]],
                [[1, 2]],
                [[0, 0]],
                [[0, 2], [1, 3]],
                [[0, 1], [2, 3]],
                [[0, True]],
            ],
        ),
    ],
)
def test_what_each_key_of_a_header_may_be(key, right, wrong):
    holds, _ = folder._KEYS[key]
    assert all(map(holds, right))
    assert not any(map(holds, wrong))


@pytest.mark.parametrize("damage", ["cut", "flip", "locked", "remove", "head", "brackets", "rows", "scrawl"])
def test_a_damaged_checkpoint_is_one_clear_error(rows_of, checkpointing, damage):
    job = checkpointing(rounds=4)
    rows_of(job)
    newest = job.directory / "round-000004"
    silos = newest / "silos-00000-00003.npz"
    whole = silos.read_bytes()
    middle = len(whole) // 2
    if damage == "remove":
        silos.unlink()
    elif damage == "head":
        (newest / "head.json").write_text("{")
    elif damage == "brackets":
        (newest / "head.json").write_text("[" * 100_000)
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


@pytest.fixture
def cut_at_four(rows_of, checkpointing):
    """A training of six rounds with models that was cut short after its checkpoint of round 4, and its whole curve."""
    whole = rows_of(replace(checkpointing(rounds=6, keep_models=True), directory=None))
    job = checkpointing(rounds=6, keep_models=True)
    rows_of(job, stop_at=5)
    return job, whole


def files_of(checkpoint):
    """Every file that a training goes on from."""
    return [*sorted(checkpoint.iterdir()), checkpoint.parent / "rows.jsonl"]


def resumed(rows_of, job, folder, copy):
    """Go on in a copy of the directory: the curve, or the error."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    job = replace(job, directory=copy)
    try:
        check_resumable(job)
        return rows_of(job)
    except MachineError as error:
        # Also where nobody has looked at it beforehand.
        with pytest.raises(MachineError, match="cannot be read"):
            rows_of(job)
        return str(error)


@pytest.mark.slow
def test_a_flipped_byte_never_gives_another_curve(rows_of, cut_at_four, tmp_path):
    job, whole = cut_at_four
    checkpoint = job.directory / "round-000004"
    names = [path.name for path in files_of(checkpoint)]
    assert names == [
        "SHA256SUMS",
        "best.json",
        "best.pt",
        "head.json",
        "silos-00000-00003.npz",
        "rows.jsonl",
    ]
    own_rows = json.loads((checkpoint / "head.json").read_text())["rows_bytes"]
    random = np.random.default_rng(5)
    found_damaged = dict.fromkeys(names, 0)
    for path in files_of(checkpoint):
        data = path.read_bytes()
        for position in {0, len(data) - 1, *random.integers(len(data), size=25).tolist()}:
            damaged = bytearray(data)
            damaged[position] ^= int(random.integers(1, 256))
            path.write_bytes(damaged)
            found = resumed(rows_of, job, job.directory, tmp_path / "copy")
            if path.name == "rows.jsonl" and position >= own_rows:
                assert found == whole
            else:
                assert str(tmp_path / "copy") in found
                assert "cannot be read" in found
                assert "\n" not in found
                found_damaged[path.name] += path.name in found
        path.write_bytes(data)
    assert all(found_damaged.values())
    assert resumed(rows_of, job, job.directory, tmp_path / "copy") == whole


@pytest.mark.parametrize("lost", ["SHA256SUMS", "best.pt", "best.json", "silos-00000-00003.npz"])
def test_a_file_that_is_missing_is_named(rows_of, cut_at_four, tmp_path, lost):
    job, _ = cut_at_four
    (job.directory / "round-000004" / lost).unlink()
    found = resumed(rows_of, job, job.directory, tmp_path / "copy")
    assert f"{tmp_path / 'copy' / 'round-000004' / lost} cannot be read: " in found


def test_the_checksums_are_those_of_the_usual_program(cut_at_four):
    job, _ = cut_at_four
    for checkpoint in checkpoint_rounds(job.directory):
        folder = job.directory / f"round-{checkpoint:06d}"
        done = subprocess.run(
            ["sha256sum", "-c", "SHA256SUMS"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        names = {line.partition(":")[0] for line in done.stdout.splitlines()}
        assert names == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}


def test_a_folder_that_cannot_be_written_is_one_line(rows_of, checkpointing, tmp_path):
    (tmp_path / "checkpoints").touch()
    with pytest.raises(MachineError, match="checkpoints cannot be written: "):
        rows_of(checkpointing())


def test_nothing_is_kept_without_a_directory_or_a_wish(rows_of, make_job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows_of(make_job(checkpoint_every=1, keep_models=True))
    rows_of(replace(make_job(), directory=tmp_path / "checkpoints"))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before(rows_of, checkpointing, monkeypatch):
    def full(path, rank_silos, write=write_silos):
        if "000004" in str(path):
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")
        write(path, rank_silos)

    job = checkpointing(rounds=6)
    with monkeypatch.context() as patch:
        patch.setattr("training.checkpoints.checkpoint.write_silos", full)
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
            r"head\.json cannot be read: it differs from its checksum in SHA256SUMS\.$",
        ),
    ],
)
def test_a_damaged_file_is_named_each_time_and_left_as_it_is(rows_of, checkpointing, name, text, message):
    job = checkpointing(rounds=4, keep_models=True)
    rows_of(job)
    path = job.directory / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    for _ in range(2):
        with pytest.raises(MachineError, match=message):
            rows_of(job)
    assert (path.read_text() if path.exists() else "") == (text or "")


def with_checksum(path, text):
    """Write a file of a checkpoint with the checksum that it has then."""
    path.write_text(text)
    sums = path.with_name("SHA256SUMS")
    others = [line for line in sums.read_text().splitlines() if not line.endswith(path.name)]
    own = f"{hashlib.sha256(text.encode()).hexdigest()}  {path.name}"
    sums.write_text("".join(f"{line}\n" for line in (*others, own)))


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("schema", None, "schema(=None) must be 'silosim-checkpoint/1'."),
        ("round", None, "round is missing."),
        ("round", "x", "round(='x') must be an integer >= 1."),
        ("round", True, "round(=True) must be an integer >= 1."),
        ("round", 5, "round(=5) is not that of the folder."),
        ("executor", 3, "executor(=3) must be a name."),
        ("rows_bytes", None, "rows_bytes is missing."),
        ("rows_bytes", -5, "rows_bytes(=-5) must be an integer >= 0."),
        ("rows_sha256", "0" * 63, f"rows_sha256(='{'0' * 63}') must be 64 hexadecimal digits."),
        ("made_by", None, "made_by is missing."),
        ("made_by", [[1]], "made_by(=[[1]]) must be a table of settings."),
        ("silos", None, "silos is missing."),
        ("silos", [], "silos(=[]) must be first and last silo of each rank, from 0 on."),
        ("silos", [[1]], "silos(=[[1]]) must be first and last silo of each rank, from 0 on."),
        (
            "silos",
            [[0, 2], [3, 4]],
            "silos(=[[0, 2], [3, 4]]) must be first and last silo of each rank, from 0 on.",
        ),
        ("silos", [[0, "4"]], "silos(=[[0, '4']]) must be first and last silo of each rank, from 0 on."),
    ],
)
def test_each_key_of_a_header_is_checked_though_its_checksum_is_right(
    rows_of, checkpointing, key, value, reason
):
    rows_of(checkpointing(rounds=6), stop_at=5)
    job = checkpointing(rounds=6)
    path = job.directory / "round-000004" / "head.json"
    head = json.loads(path.read_text())
    text = json.dumps(
        {**head, key: value} if value is not None else {k: v for k, v in head.items() if k != key}
    )
    with_checksum(path, text)
    for attempt in (lambda: rows_of(job), lambda: check_resumable(job)):
        with pytest.raises(MachineError) as caught:
            attempt()
        assert str(caught.value) == f"{path} cannot be read: {reason}"


DEEP, LONG = "[" * 100_000, "9" * 5000
ODD = "it is no JSON of usual depth and numbers."


@pytest.mark.parametrize("right", [False, True], ids=["another checksum", "the right checksum"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DEEP, ODD),
        (f'{{"round": {LONG}}}', ODD),
        ("{", ODD),
        ("[1]", "it must hold a JSON object."),
        ("null", "it must hold a JSON object."),
    ],
)
def test_a_header_of_another_program_is_one_line(rows_of, checkpointing, text, reason, right):
    rows_of(checkpointing(rounds=6), stop_at=5)
    job = checkpointing(rounds=6)
    path = job.directory / "round-000004" / "head.json"
    if right:
        with_checksum(path, text)
    else:
        path.write_text(text)
    for attempt in (lambda: rows_of(job), lambda: check_resumable(job)):
        with pytest.raises(MachineError) as caught:
            attempt()
        shown = reason if right else "it differs from its checksum in SHA256SUMS."
        assert str(caught.value) == f"{path} cannot be read: {shown}"


@pytest.mark.parametrize("text", [DEEP, LONG])
def test_the_metrics_of_a_model_of_another_program_are_one_line(tmp_path, text):
    (tmp_path / "best.json").write_text(text)
    with pytest.raises(MachineError) as caught:
        read_row(tmp_path, "best")
    assert str(caught.value) == f"{tmp_path / 'best.json'} cannot be read: {ODD}"


def test_a_file_that_is_named_as_a_checkpoint_is_none(rows_of, checkpointing):
    rows = rows_of(checkpointing(rounds=6), stop_at=5)
    job = checkpointing(rounds=6)
    for name in ("round-000999", "round-000998.txt"):
        (job.directory / name).touch()
    (job.directory / "round-7").mkdir()
    assert checkpoint_rounds(job.directory) == [2, 4]
    assert check_resumable(job) == 4
    assert rows_of(job)[:6] == rows
    assert (job.directory / "round-000999").exists()


@pytest.mark.parametrize(
    "name",
    ["SHA256SUMS", "head.json", "best.json", "best.pt", "silos-00000-00003.npz", "rows.jsonl"],
)
def test_a_pipe_in_a_checkpoint_is_one_line_and_no_wait(rows_of, cut_at_four, name):
    job, _ = cut_at_four
    checkpoint = job.directory / "round-000004"
    path = (job.directory if name == "rows.jsonl" else checkpoint) / name
    path.unlink()
    os.mkfifo(path)
    for attempt in (lambda: check_resumable(job), lambda: rows_of(job)):
        with pytest.raises(MachineError) as caught:
            attempt()
        rule = "it is a pipe; write what comes out of it to a file first"
        assert str(caught.value).rstrip(".") == f"{path} cannot be read: {rule}"


def test_as_many_bytes_of_rows_are_missing_as_the_header_has_more(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b"1234")
    with pytest.raises(MachineError, match=r"rows\.jsonl cannot be read: 6 bytes are missing\.$"):
        read_rows(tmp_path, {"rows_bytes": 10})
