"""Reports of a training that are not as they were requested, and what helps a run with damaged checkpoints."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from scenarios.runfile.paths import partial_path
from scenarios.studies import train
from scenarios.studies.train import DamagedCheckpointError, check_checkpoints, logged_rows, notice_printer
from topologies import InputError, MachineError, TrainingError
from training import HistoryRow, Notice

ROW = HistoryRow(
    round=0,
    train_loss=1.0,
    train_accuracy=0.5,
    test_loss=1.0,
    test_accuracy=0.5,
    consensus_distance=0.0,
    silo_loss=(1.0, 1.0),
)


@pytest.mark.parametrize(("rounds", "every", "rows"), [(10, 5, 3), (11, 5, 4), (1, 5, 2), (5, 1, 6)])
def test_rows_are_of_round_0_every_few_rounds_and_the_last(rounds, every, rows):
    assert logged_rows(SimpleNamespace(rounds=rounds, log_every=every)) == rows


@pytest.fixture
def reports(monkeypatch):
    """Follow a training of so many rounds that reports rows of the given ones, and notices."""

    def follow(rounds, every, given):
        config = SimpleNamespace(rounds=rounds, log_every=every, backend="own", backend_options={})
        made = [Notice(each) if isinstance(each, str) else replace(ROW, round=each) for each in given]
        monkeypatch.setattr(train, "_backend", lambda _: SimpleNamespace(train=lambda _job: iter(made)))
        return [
            each.text if isinstance(each, Notice) else each.round
            for each in train._until_the_last("ring", SimpleNamespace(config=config))
        ]

    return follow


@pytest.mark.parametrize(
    ("rounds", "every", "given"),
    [(4, 2, [0, 2, 4]), (5, 2, [0, "note", 2, 4, 5, "end"]), (3, 5, [0, 3]), (1, 1, [0, 1])],
)
def test_rows_and_notices_come_as_they_were_requested(reports, rounds, every, given):
    assert reports(rounds, every, given) == given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [1],
            r"ring: backend\(='own'\) gave a row of round 1; with rounds\(=5\) and log_every\(=2\) it must give those",
        ),
        ([0, 3], r"gave a row of round 3 after that of round 0; with rounds"),
        ([0, 0], r"gave a row of round 0 after that of round 0; with"),
        ([0, 4, 2], r"gave a row of round 2 after that of round 4; with"),
        ([0, 6], r"gave a row of round 6 after that of round 0; with"),
        ([-2], r"gave a row of round -2; with"),
        ([0, 2, 4], r"^ring: 3 of 4 rows arrived before the training ended: backend\(='own'\) has ended\.$"),
        ([], r"^ring: 0 of 4 rows arrived before"),
    ],
)
def test_rows_that_were_not_requested_or_are_missing_are_an_error(reports, given, message):
    with pytest.raises(TrainingError, match=message):
        reports(5, 2, given)


def test_a_notice_is_shown_once(capsys):
    show = notice_printer()
    for text in ("a", "b", "a"):
        show(Notice(text))
    assert capsys.readouterr().err == "a\nb\n"


def test_checkpoints_of_another_scenario_say_what_to_do(monkeypatch, tmp_path):
    def other(_job):
        raise InputError("round-000002 is of another seed.")

    monkeypatch.setattr(train, "check_resumable", other)
    with pytest.raises(
        InputError,
        match=r"is of another seed\. Use --resume with the scenario that made it, or --force without --resume to start "
        r"again with this one\.$",
    ):
        check_checkpoints(tmp_path / "x.h5", [SimpleNamespace(directory=tmp_path)], print)


@pytest.mark.parametrize(
    ("rounds", "whole", "removed"),
    [
        ((2, 4), {2}, (4,)),
        ((2, 4, 6), {4}, (6,)),
        ((2, 4, 6), {2}, (4, 6)),
        ((2, 4, 6), (), None),
        ((2,), (), None),
    ],
)
@pytest.mark.parametrize("is_partial", [True, False])
def test_a_damaged_checkpoint_is_removed_for_the_newest_whole_one(
    monkeypatch, tmp_path, rounds, whole, removed, is_partial
):
    path, folder = tmp_path / "x.h5", tmp_path / "ring"
    if is_partial:
        partial_path(path).touch()

    def check_resumable(_job, *, before=None):
        newest = max(each for each in rounds if before is None or each < before)
        if newest not in whole:
            raise MachineError(f"round {newest} is damaged.")
        return newest

    monkeypatch.setattr(train, "check_resumable", check_resumable)
    monkeypatch.setattr(
        train, "checkpoint_rounds", lambda directory: list(rounds) if directory == folder else []
    )
    monkeypatch.setattr(train, "checkpoint_path", lambda directory, round_: directory / f"round-{round_}")
    with pytest.raises(DamagedCheckpointError) as caught:
        check_checkpoints(path, [SimpleNamespace(directory=folder)], print)
    damaged = f"round {rounds[-1]} is damaged; "
    if removed:
        (found,) = whole
        names = ", ".join(str(folder / f"round-{each}") for each in removed)
        assert str(caught.value) == f"{damaged}remove {names} to continue from round {found}."
    else:
        reads = f"silosim show {partial_path(path)} reads the rows so far, " if is_partial else ""
        assert str(caught.value) == (
            f"{damaged}no whole checkpoint, with all rows before it, is left from which this training could continue: "
            f"{reads}--force without --resume starts again."
        )


def test_no_round_comes_before_the_first(reports):
    with pytest.raises(TrainingError, match="gave a row of round -1; with"):
        reports(5, 1, [-1])


@pytest.mark.parametrize("detailed", [True, False])
def test_details_of_notices_are_those_of_the_first_overlay(monkeypatch, detailed):
    plain, long = Notice("Uses a CPU."), Notice("Slow.", detail="Since it has one core.")
    row = replace(ROW, round=2, train_loss=0.12345, test_accuracy=0.5)
    monkeypatch.setattr(
        train, "_until_the_last", lambda kind, _job: iter([plain, long, row]) if kind == "ring" else None
    )
    noted, shown, rows, followed, moved, lines = [], [], [], [], [], []

    @contextmanager
    def bar(title, rounds):
        moved.append((title, rounds))
        yield lambda *step: moved.append(step)

    monkeypatch.setattr(train, "bar", bar)
    monkeypatch.setattr(train, "log_lines", lambda: lines.append)
    history = SimpleNamespace(note=noted.append, add=rows.append, flush=lambda: rows.append("flush"))
    job = SimpleNamespace(config=SimpleNamespace(rounds=4))
    train.train_overlay("ring", job, history, shown.append, followed.append, detailed=detailed)
    if detailed:
        assert noted == shown == [plain, long]
    else:
        assert noted == [plain, Notice("Slow.")]
        assert shown == [plain, Notice("ring: Slow.")]
    assert (rows, followed) == ([row, "flush"], [row])
    assert moved == [("train ring", 4), (2, "test accuracy 0.500")]
    assert lines == ["ring: round 2 of 4, loss 0.1235, test accuracy 0.500"]
