"""A first scenario for a user's own network and data, checked before it is written."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenarios.config.network import NetworkConfig, build_network, is_known_name
from scenarios.config.overlay_config import default_overlays
from scenarios.config.scenario import OverlaysConfig, parse_scenario
from scenarios.config.silo_places import silo_places
from scenarios.config.starter_scenario import starter_text
from scenarios.runfile.claims import locked_beside
from scenarios.runfile.paths import check_ending, check_output, write_whole
from topologies import Connectivity, InputError
from topologies.errors import Field
from training import DATASETS, TrainingConfig, check_data
from training.tasks import TASKS

FILE = "scenario.toml"
_OF_TASK = ("model", "partition")
"""What is taken from the paper's task of a data set: the default model does not read its samples."""
_ENOUGH = {"learning_rate": 0.05, "momentum": 0.9}
"""With them the digits reach the default target within the default rounds, and miss it with the defaults."""


def starter_path(target: Path) -> Path:
    """Return the file to write: the target, or `FILE` in it where it is a folder or has no ending.

    Raises
    ------
    InputError
        If the file exists, has another ending than ``.toml``, or cannot be written.
    """
    path = target / FILE if target.is_dir() or not target.suffix else target
    check_ending(path, [".toml"])
    check_output(path)
    if os.path.lexists(path):
        raise InputError(f"{path} exists already and is kept; name another file.")
    return path


def write_starter(
    path: Path,
    *,
    network: str,
    dataset: str | None = None,
    data: str | None = None,
    model: str | None = None,
) -> None:
    """Write a scenario whose keys are all there, with their meaning and default in comments.

    Parameters
    ----------
    path : Path
        Of `starter_path`.
    network : str
        A name, or the path of a file or folder, as in `topologies.load_underlay`.
    dataset : str, optional
        Name of a data set; by default the digits that come with silosim.
    data : str, optional
        Path of its files.
    model : str, optional
        Name of a model; by default that of the paper's task with these data, else the configuration's.

    Raises
    ------
    InputError
        If the network cannot be read, the data set is unknown or its files are missing, or the model does not read its
        samples; nothing is written then.

    Notes
    -----
    Data that are named are read once. The digits are trained with settings that reach the target accuracy.
    """
    with locked_beside(path):
        write_whole(path, _starter(path, network, dataset, data, model))


def _starter(path: Path, network: str, dataset: str | None, data: str | None, model: str | None) -> str:
    """The text of `write_starter`, which a scenario can be read from."""
    graph = build_network(NetworkConfig(underlay=network))
    training = _training(graph, dataset, data, model)
    existing = {config.kind for config in default_overlays(graph)}
    kinds = [kind for kind in OverlaysConfig().kinds if kind in existing]
    if not kinds:
        raise InputError(
            f"{network} has no {', '.join(OverlaysConfig().kinds)}: too few of its silos can talk both ways."
        )
    text = starter_text(
        _named_from(path.parent, network),
        graph,
        kinds=kinds,
        training=training,
        name=path.name,
        about=f"{graph.silos} silos on {graph.underlay.name}",
    )
    parse_scenario(text, source=str(path))
    return text


def _training(
    graph: Connectivity, dataset: str | None, data: str | None, model: str | None
) -> Mapping[str, Any]:
    """Settings that differ from the defaults; the data and the model are checked as before a training."""
    if data is not None and dataset is None:
        read = ", ".join(name for name, each in DATASETS.items() if each.needs)
        raise InputError(
            f"goes with --dataset, which says what the files are: {read}, or an installed one.",
            field=Field("data", value=data),
        )
    # Where a run looks for data depends on where it is started, not on where the scenario lies.
    path = None if data is None else str(Path(data).resolve())
    given: dict[str, Any] = {"dataset": dataset, "data": path, "model": model}
    task = TASKS.get(dataset or "")
    if task is not None:
        given |= {key: getattr(task, key) for key in _OF_TASK if given.get(key) is None}
    settings = {key: value for key, value in given.items() if value is not None}
    steps = _ENOUGH if settings.get("dataset", TrainingConfig().dataset) == TrainingConfig().dataset else {}
    if settings:
        config = replace(TrainingConfig(), **settings)
        check_data(
            config,
            silos=graph.silos,
            seed=0,
            silo_places=silo_places(graph, config),
            silo_labels=graph.labels,
        )
    return {**settings, **steps}


def _named_from(folder: Path, network: str) -> str:
    """How a scenario in a folder names a network: a path in this folder from there, another one in full."""
    if is_known_name(network):
        return network
    path = Path(network).resolve()
    inside = Path(os.path.relpath(path, folder.resolve()))
    # A file of this name in the current folder would go before the one beside the scenario.
    hidden = inside.exists() and not inside.samefile(path)
    return str(path) if ".." in inside.parts or hidden else str(inside)
