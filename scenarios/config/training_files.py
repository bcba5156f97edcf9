"""Files that a training names, found beside its scenario: data, weights, a partition, code of the user's."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.config.found_files import found_beside
from training import TrainingConfig, own_files

CODE = ("dataset", "model", "loss")
_PATHS = ("data", "initial_weights", "partition")


def files_of(training: TrainingConfig | None, *, runs_code: bool) -> tuple[str, ...]:
    """Paths of the files that a training names, as far as they are there, without its data.

    Parameters
    ----------
    training : TrainingConfig, optional
    runs_code : bool
        Whether files of the user's code are among them.
    """
    if training is None:
        return ()
    names = [training.initial_weights, training.partition]
    names += [place for key in CODE if runs_code for place in own_files(getattr(training, key))]
    return tuple(name for name in names if os.path.isfile(name))


def training_beside(folder: Path, training: TrainingConfig) -> TrainingConfig:
    """A training with its files found in a folder, where they are no paths from the working directory.

    Parameters
    ----------
    folder : Path
        That of the scenario.
    training : TrainingConfig

    Notes
    -----
    A module that lies in neither place is left to Python's import. No code runs.
    """
    found: dict[str, Any] = {**found_beside(folder, {key: getattr(training, key) for key in _PATHS})}
    for key in CODE:
        name = getattr(training, key)
        if (there := code_beside(folder, name)) != name:
            found[key] = there
    return replace(training, **found) if found else training


def code_beside(folder: Path, name: str) -> str:
    """``module:callable`` with its file found in a folder, as `training_beside` finds it; otherwise as it is."""
    places = own_files(name)
    there = found_beside(folder, {place: place for place in places})
    if there and not any(map(os.path.exists, places)):
        return f"{next(iter(there.values()))}:{name.rpartition(':')[2]}"
    return name
