"""What trainings keep beside the file of a run: checkpoints until it is complete, models for good."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from scenarios.outputs import writing
from topologies import InputError
from training import TrainingConfig
from training.checkpoint_folder import checkpoint_rounds
from training.kept_models import model_files


def checkpoints_path(path: Path) -> Path:
    """Folder in which the trainings of a run keep checkpoints, one folder per overlay, until the run is complete."""
    return path.with_name(path.name + ".checkpoints")


def models_path(path: Path) -> Path:
    """Folder of the models of a complete run."""
    return path.with_name(path.stem + ".models")


def has_checkpoint(path: Path) -> bool:
    """Whether a run that was cut short can go on from a checkpoint."""
    folder = checkpoints_path(path)
    return folder.is_dir() and any(checkpoint_rounds(kind) for kind in folder.iterdir())


def check_kept(path: Path, training: TrainingConfig | None, *, force: bool, resume: bool) -> None:
    """Raise an error if a run cannot go on from what is kept, or would replace it without being told to.

    Parameters
    ----------
    path : Path
        The file of the run.
    training : TrainingConfig, optional
    force : bool
        Whether what is there is replaced.
    resume : bool
        Whether the run goes on from it.

    Raises
    ------
    InputError
        If the scenario makes no checkpoints but is to go on from one, or something is there and nothing was told.
    """
    if resume and training is None:
        raise InputError("--resume needs a scenario with a table [training].")
    if resume and training is not None and not training.checkpoint_every:
        raise InputError("training.checkpoint_every(=0) must be >= 1 for --resume.")
    if resume or force:
        return
    folder, models = checkpoints_path(path), models_path(path)
    if has_checkpoint(path):
        raise InputError(
            f"{folder} holds checkpoints of a run that was cut short or still goes on; --resume goes on from them, "
            "--force starts anew."
        )
    for kept in (folder, models) if training is not None and training.keep_models else (folder,):
        if kept.exists():
            raise InputError(f"{kept} exists already; --force replaces it.")


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
    partial = folder.with_name(folder.name + ".partial")
    with writing(folder):
        for old in (partial, folder):
            if old.exists():
                shutil.rmtree(old)
        partial.mkdir(parents=True)
        for name, file in files.items():
            file.replace(partial / name)
        partial.rename(folder)
