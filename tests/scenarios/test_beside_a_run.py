"""Checkpoints and models beside the file of a run: when they stop a command, and what can be resumed."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.runfile.artifacts import (
    check_artifacts,
    checkpoints_path,
    drop_checkpoints,
    has_checkpoint,
    models_path,
    publish_models,
    rounds_reached,
)
from topologies import InputError
from training import TrainingConfig
from training.checkpoints.model_export import MODEL_FILES

KEEPS = TrainingConfig(checkpoint_every=2, keep_models=True)
MAKES = TrainingConfig(checkpoint_every=1)
NONE = TrainingConfig()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def checkpoint(path, kind, round_=None):
    folder = checkpoints_path(path) / kind
    folder.mkdir(parents=True)
    if round_ is not None:
        (folder / f"round-{round_:06d}").mkdir()


@pytest.mark.parametrize(
    ("rounds", "found"), [([], False), ([None], False), ([None, 4], True), ([4, None], True), ([0], True)]
)
def test_one_checkpoint_of_one_overlay_is_enough(path, rounds, found):
    assert not has_checkpoint(path)
    checkpoints_path(path).mkdir()
    for number, round_ in enumerate(rounds):
        checkpoint(path, f"o{number}", round_)
    assert has_checkpoint(path) == found
    drop_checkpoints(path)
    assert not checkpoints_path(path).exists()
    drop_checkpoints(path)


@pytest.mark.parametrize(
    ("training", "round_", "resume", "force", "refused", "hint"),
    [
        (MAKES, 2, False, False, True, True),
        (MAKES, None, False, False, True, False),
        (NONE, None, False, False, True, False),
        (NONE, 2, False, False, True, True),
        (None, None, False, False, True, False),
        (MAKES, 2, True, False, False, False),
        (MAKES, 2, False, True, False, False),
    ],
)
def test_checkpoints_are_not_replaced_unasked(path, training, round_, resume, force, refused, hint):
    checkpoint(path, "ring", round_)
    if not refused:
        check_artifacts(path, training, force=force, resume=resume)
        return
    with pytest.raises(InputError, match="interrupted or is still running") as raised:
        check_artifacts(path, training, force=force, resume=resume)
    assert ("--resume" in str(raised.value)) == hint


@pytest.mark.parametrize(
    ("training", "beside", "resume", "force", "refused"),
    [
        (KEEPS, None, False, False, True),
        (KEEPS, None, True, False, True),
        (KEEPS, "x.h5", True, False, False),
        (KEEPS, "x.h5.partial", True, False, False),
        (KEEPS, "x.h5.checkpoints", True, False, False),
        (KEEPS, "x.h5", False, False, True),
        (KEEPS, None, False, True, False),
        (MAKES, None, False, False, False),
        (None, None, False, False, False),
    ],
)
def test_models_are_not_replaced_unasked(path, training, beside, resume, force, refused):
    models_path(path).mkdir()
    if beside == "x.h5.checkpoints":
        path.with_name(beside).mkdir()
    elif beside is not None:
        path.with_name(beside).touch()
    if refused:
        with pytest.raises(InputError, match=r"x\.models exists already"):
            check_artifacts(path, training, force=force, resume=resume)
    else:
        check_artifacts(path, training, force=force, resume=resume)


def test_models_of_a_run_take_the_place_of_earlier_ones(path):
    publish_models(path, ["ring"])
    assert not models_path(path).exists()
    models_path(path).mkdir()
    (models_path(path) / "old.npz").touch()
    checkpoint(path, "ring")
    (checkpoints_path(path) / "ring" / MODEL_FILES[0]).write_text("new")
    publish_models(path, ["ring", "star"])
    (model,) = models_path(path).iterdir()
    assert (model.name, model.read_text()) == (f"ring-{MODEL_FILES[0]}", "new")


@pytest.mark.parametrize(
    ("name", "checkpoints", "reached"),
    [
        ("x.h5.partial", {"a": (2, 8), "c": (6,)}, {"a": 8, "b": 5, "c": 6}),
        ("x.h5.partial", {"a": (2,), "b": (4,)}, {"a": 4, "b": 5}),
        ("x.h5.partial", {}, {"a": 4, "b": 5}),
        ("x.h5", {"a": (2, 8)}, {"a": 4, "b": 5}),
    ],
)
def test_a_training_has_reached_its_last_row_or_checkpoint(path, name, checkpoints, reached):
    overlays = [
        SimpleNamespace(kind="a", history={"round": np.array([0, 4])}),
        SimpleNamespace(kind="b", history={"round": np.array([0, 5])}),
        SimpleNamespace(kind="c", history={}),
        SimpleNamespace(kind="d", history={}),
    ]
    for kind, rounds in checkpoints.items():
        for round_ in rounds:
            (checkpoints_path(path) / kind / f"round-{round_:06d}").mkdir(parents=True)
    assert rounds_reached(path.with_name(name), SimpleNamespace(overlays=overlays)) == reached
