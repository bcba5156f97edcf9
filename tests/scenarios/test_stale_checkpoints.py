"""Checkpoints that lie beside a run when its training begins: kept for one that goes on, gone for one that starts."""

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.artifacts import checkpoints_path, has_checkpoint
from scenarios.studies import run, train
from topologies import TrainingError


@pytest.mark.parametrize("resume", [True, False])
def test_only_a_run_that_goes_on_finds_them(monkeypatch, tmp_path, small_scenario, resume):
    path = tmp_path / "x.h5"
    (checkpoints_path(path) / "ring" / "round-000002").mkdir(parents=True)
    text = small_scenario + ("" if "checkpoint_every" in small_scenario else "checkpoint_every = 2\n")
    found = []

    def ends(*_arguments, **_options):
        found.append(has_checkpoint(path))
        raise TrainingError("ends here")

    monkeypatch.setattr(run, "train_overlay", ends)
    monkeypatch.setattr(run, "check_checkpoints", lambda *_: None)
    with pytest.raises(TrainingError, match="ends here"):
        run.run_scenario(parse_scenario(text, source="x.toml"), text, path, force=not resume, resume=resume)
    assert found == [resume]


@pytest.mark.parametrize(
    ("rounds", "starts_again"), [([None], True), ([None, None], True), ([None, 4], False), ([2, 4], False)]
)
def test_a_run_starts_again_only_without_any_checkpoint(monkeypatch, tmp_path, rounds, starts_again):
    notices = []
    monkeypatch.setattr(train, "check_resumable", lambda job: job)
    train.check_checkpoints(tmp_path / "x.h5", rounds, notices.append)
    assert [notice.text for notice in notices] == [
        f"no checkpoint in {tmp_path / 'x.h5.checkpoints'}: the run starts again"
    ] * starts_again
