"""Files beside that of a run: checkpoints of its trainings until it is complete, then their models."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from scenarios.config.scenario import Scenario
from scenarios.runfile.checkpoint_folders import checkpoints_path, has_checkpoint
from scenarios.runfile.folders import replace_folder, settle_left
from scenarios.runfile.paths import (
    PARTIAL,
    RUN_ENDINGS,
    check_ending,
    check_idle,
    check_output,
    check_partial,
    final_path,
    is_empty,
    partial_path,
    writing,
)
from scenarios.runfile.reader import RunRecord, read_run
from topologies import InputError
from topologies.whole_files import sync_folder
from training import TrainingConfig, checkpoint_rounds, model_files


def models_path(path: Path) -> Path:
    """Folder of the models of a complete run."""
    return path.with_name(path.stem + ".models")


def rounds_reached(path: Path, record: RunRecord) -> dict[str, int]:
    """Rounds that each training of a run has reached, by its rows and checkpoints.

    Parameters
    ----------
    path : Path
        The file of the run. Beside one that is called ``<run>.partial`` there may be checkpoints of later rounds than
        the last row that was measured.
    record : RunRecord
        What it holds.

    Returns
    -------
    dict of str to int
        By overlay, without those whose training has not begun.
    """
    reached = {
        overlay.kind: int(overlay.history["round"][-1]) for overlay in record.overlays if overlay.history
    }
    if path.name.endswith(PARTIAL):
        folder = checkpoints_path(final_path(path))
        for overlay in record.overlays:
            for done in checkpoint_rounds(folder / overlay.kind)[-1:]:
                reached[overlay.kind] = max(done, reached.get(overlay.kind, 0))
    return reached


def checkpoints_are_later(path: Path) -> bool:
    """Whether a training of an interrupted run has checkpoints of later rounds than the last of its rows."""
    partial = partial_path(path)
    try:
        record = read_run(partial)
    except InputError:
        return has_checkpoint(path)
    # Under its final name a file has no checkpoints beside it.
    return rounds_reached(partial, record) != rounds_reached(path, record)


def is_complete(path: Path, scenario: Scenario, text: str) -> bool:
    """Whether a file is the complete run of a scenario, so that there is nothing to resume.

    Parameters
    ----------
    path : Path
        The file of the run, which may be missing or anything else.
    scenario : Scenario
        One that makes checkpoints; of another one no run can be resumed, complete or not.
    text : str
        Its TOML text, as the file must hold it.
    """
    training = scenario.training
    if training is None or not training.checkpoint_every or partial_path(path).exists():
        return False
    try:
        record = read_run(path)
    except InputError:
        return False
    # A simulation holds the text of a scenario that trains, a replay on another network that of its run.
    trained = [
        overlay.kind
        for overlay in record.overlays
        if overlay.history and overlay.history["round"][-1] == training.rounds
    ]
    is_same = record.scenario == text and record.network.located() == scenario.network.located()
    return is_same and trained == [config.name for config in scenario.overlays.overlays]


def check_resume(training: TrainingConfig | None) -> None:
    """Raise InputError if a scenario makes no checkpoints from which its run could continue."""
    if training is None:
        raise InputError("--resume needs a scenario with a table [training].")
    if not training.checkpoint_every:
        raise InputError("training.checkpoint_every(=0) must be >= 1 for --resume.")


def check_artifacts(path: Path, training: TrainingConfig | None, *, force: bool, resume: bool) -> None:
    """Raise an error if a run would replace checkpoints or models without permission.

    Parameters
    ----------
    path : Path
        The file of the run.
    training : TrainingConfig, optional
    force : bool
        Whether they are replaced.
    resume : bool
        Whether the run continues from them.

    Raises
    ------
    InputError
        If they exist and neither was asked for, if models exist but no run that could continue, if another process is
        writing the run, or if no file can have this path.
    """
    check_output(path)
    check_ending(path, RUN_ENDINGS)
    check_partial(path)
    check_idle(path)
    if force:
        return
    folder, models = checkpoints_path(path), models_path(path)
    if not resume:
        _check_nothing_left(path, training)
    # The file of a complete run is refused elsewhere, with a clearer message.
    goes_on = resume and (folder.exists() or partial_path(path).exists() or path.exists())
    if training is not None and training.keep_models and models.exists() and not goes_on:
        raise InputError(f"{models} exists already; --force replaces it.")


def _check_nothing_left(path: Path, training: TrainingConfig | None) -> None:
    """Raise an error for what an interrupted run has left, which says whether anything can continue it."""
    folder, partial = checkpoints_path(path), partial_path(path)
    if has_checkpoint(path):
        raise InputError(
            f"{folder} is that of a run that was interrupted or is still running; --resume continues from its last "
            "checkpoint, --force starts again."
        )
    is_kept = not is_empty(partial)
    # A complete run is in the way of another one for that, whatever lies beside it.
    if folder.exists() or (training is not None and is_kept and not os.path.lexists(path)):
        reads = f"silosim show {partial} reads its rounds, " if is_kept else ""
        raise InputError(
            f"{partial if is_kept else folder} is that of a run that was interrupted or is still running, without a "
            "checkpoint (training.checkpoint_every is 0, or was not reached), so that nothing continues it; "
            f"{reads}--force starts again."
        )


def drop_checkpoints(path: Path) -> None:
    """Remove the checkpoints of a run."""
    folder = checkpoints_path(path)
    if folder.exists():
        with writing(folder):
            shutil.rmtree(folder)


def publish_models(path: Path, kinds: Sequence[str]) -> None:
    """Move the models of a run to their folder, which then holds no others.

    Parameters
    ----------
    path : Path
        The file of the run.
    kinds : sequence of str
        Its overlays. A backend may keep no models.
    """
    files = {
        f"{kind}-{file.name}": file for kind in kinds for file in model_files(checkpoints_path(path) / kind)
    }
    if not files:
        return
    folder = models_path(path)
    partial = partial_path(folder)
    with writing(folder):
        settle_left(folder)
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir()
        for name, file in files.items():
            file.replace(partial / name)
        sync_folder(partial)
        replace_folder(folder, partial)
