"""The paper's tasks: data, partition, model and hyper-parameters, as defaults of a training's settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from training.lookup import lookup


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Settings of one of the paper's trainings; the fields are those of `training.config.TrainingConfig`.

    Parameters
    ----------
    dataset, model, partition : str
        What is trained on what.
    batch_size : int
        Samples per local step and silo; a round has one local step, a workload's default.
    rounds, log_every : int
        Rounds, and rounds between two rows of the history: each of them reads all data.
    optimizer : str
        ``adam`` unless stated.
    learning_rate : float
        Rate of round 0.
    learning_rate_schedule : str
        The paper's decay.

    Notes
    -----
    Models, partitions and batch sizes: the paper's table of data sets and its appendix on them. Optimizer, rate, decay,
    rounds and logging: the commands in the README of the published code, for AWS North America; `ON_NETWORK` holds
    where they differ on other networks. A slip in the code gives Sentiment140 the length of an epoch for its rate.
    Full iNaturalist: the paper's appendix on it gives pretrained ResNet-50, an 80 to 20 split, Adam with rate 5e-5 on
    Gaia, AWS North America and GEANT, SGD with rate 0.1 on Exodus and Ebone, and FDLA's weights (`CONSENSUS`); rounds
    and logging, of which nothing was found, are those of iNaturalist on AWS North America. The published decay is
    ``1/sqrt(k)`` from round 1 on, here it is ``1/sqrt(k + 1)`` from round 0 on. The published ResNets start from
    ImageNet's weights (`TrainingConfig.initial_weights`), which users bring.

    References
    ----------
    O. Marfoq et al., "Throughput-Optimal Topology Design for Cross-Silo Federated Learning", NeurIPS 2020, and
    github.com/omarfoq/communication-in-cross-silo-fl.
    """

    dataset: str
    model: str
    partition: str
    batch_size: int
    rounds: int
    log_every: int
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    learning_rate_schedule: str = "inverse_sqrt"


TASKS: Mapping[str, Task] = {
    "femnist": Task(
        dataset="femnist",
        model="femnist_cnn",
        partition="groups",
        batch_size=128,
        rounds=6400,
        log_every=80,
    ),
    "full_inaturalist": Task(
        dataset="full_inaturalist",
        model="resnet50",
        partition="geographic",
        batch_size=96,
        rounds=1600,
        log_every=40,
        learning_rate=5e-5,
        learning_rate_schedule="halved_each_epoch",
    ),
    "inaturalist": Task(
        dataset="inaturalist",
        model="resnet18",
        partition="geographic",
        batch_size=16,
        rounds=1600,
        log_every=40,
    ),
    "sentiment140": Task(
        dataset="sentiment140",
        model="bilstm",
        partition="groups",
        batch_size=512,
        rounds=20_000,
        log_every=100,
    ),
    "shakespeare": Task(
        dataset="shakespeare",
        model="char_gru",
        partition="groups",
        batch_size=512,
        rounds=1500,
        log_every=30,
    ),
}


SGD_RATE = 0.1
"""The published rate wherever a task is trained by ``sgd``."""

_SGD = {"optimizer": "sgd", "learning_rate": SGD_RATE}

ON_NETWORK: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "full_inaturalist": {"aws_na": {}, "ebone": _SGD, "exodus": _SGD, "gaia": {}, "geant": {}},
    "inaturalist": {
        "aws_na": {},
        "ebone": {"rounds": 6000, "log_every": 100, **_SGD},
        "exodus": {"rounds": 4800, "log_every": 100, **_SGD},
        "gaia": {"rounds": 5600, "log_every": 100},
        "geant": {"rounds": 4000, "log_every": 100},
    },
}
"""For each task that is published for several networks: the settings that differ from the task's own there."""

CONSENSUS: Mapping[str, str] = {"full_inaturalist": "fdla"}
"""Rule of the mixing weights, where a task is published with another one than the designers'."""


def with_task(settings: Mapping[str, Any], network: str = "") -> dict[str, Any]:
    """Return a training's settings with those of its task where it states none.

    Parameters
    ----------
    settings : mapping
        Fields of `training.config.TrainingConfig`, and perhaps ``task``, one of `TASKS`.
    network : str
        The underlay; on one of `ON_NETWORK` its settings go before the task's own.

    Returns
    -------
    dict
        Fields of `TrainingConfig` only. A rate belongs to its optimizer: where the settings state an optimizer and no
        rate, the rate is the one published for that optimizer, if there is one.

    Raises
    ------
    InputError
        If there is no such task.

    Examples
    --------
    >>> with_task({"task": "inaturalist", "batch_size": 8})["batch_size"]
    8
    >>> with_task({"task": "full_inaturalist"}, "exodus")["optimizer"]
    'sgd'
    """
    given = {name: value for name, value in settings.items() if name != "task"}
    if "task" not in settings:
        return given
    name, own = settings["task"], asdict(lookup(TASKS, settings["task"], field="task"))
    published = ON_NETWORK.get(name, {})
    defaults: dict[str, Any] = {**own, **published.get(network, {})}
    if published and "optimizer" in given and given["optimizer"] != defaults["optimizer"]:
        defaults["learning_rate"] = SGD_RATE if given["optimizer"] == "sgd" else own["learning_rate"]
    return {**defaults, **given}


def task_notice(settings: Mapping[str, Any], network: str) -> str:
    """Return a notice of the settings that a task takes from the network, and of its published initial weights.

    Parameters
    ----------
    settings, network
        As in `with_task`; the settings as the user wrote them.

    Returns
    -------
    str
        One line; empty without a task, or where the task is published for one network only.
    """
    task = str(settings.get("task", ""))
    if task not in ON_NETWORK:
        return ""
    taken = with_task(settings, network)
    known = network in ON_NETWORK[task]
    rate = f"{taken['optimizer']} at rate {taken['learning_rate']:g}"
    line = f"task {task} on {network}: {rate}, {taken['rounds']} rounds"
    line += "" if known else ", those of aws_na, as none are published for this network"
    missing = "; the published training starts from ImageNet's weights, which initial_weights would name"
    return line + ("" if taken.get("initial_weights") else missing)
