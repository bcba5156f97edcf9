"""Training backends: the protocol, and finding one by name."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Protocol, cast

from topologies.errors import MachineError
from training.config import TrainingConfig
from training.datasets import load_dataset
from training.history import HistoryRow
from training.job import TrainingJob
from training.models import build_model
from training.registry import lookup

GROUP = "silosim.training_backends"


class TrainingBackend(Protocol):
    """Trains the models of a job; a class of this kind is registered as an entry point of `GROUP`."""

    def check(self, config: TrainingConfig) -> None:
        """Check that this machine can train, before anything is computed or written.

        Parameters
        ----------
        config : TrainingConfig
            The settings that `train` will get.

        Raises
        ------
        MachineError
            If something is missing that the training will need: a launcher, a device.
        InputError
            If the backend cannot do what a setting asks for.

        Notes
        -----
        Takes no part in a launcher's job and starts nothing, so that one process may call it alone.
        """

    def train(self, job: TrainingJob) -> Iterator[HistoryRow]:
        """Train and yield the history while the training runs.

        Parameters
        ----------
        job : TrainingJob
            What to train.

        Yields
        ------
        HistoryRow
            In round order. Where the whole program runs as several processes, only process 0 receives rows; the
            others take part and receive none. Closing the iterator on process 0 ends this training on all processes,
            which then go on with what their program does next. A program that closes it because of an error must
            therefore end the other processes itself.
        """


def load_backend(name: str) -> TrainingBackend:
    """Return the backend that is registered under a name.

    Parameters
    ----------
    name : str
        Name of an entry point in the group ``silosim.training_backends``.

    Returns
    -------
    TrainingBackend
        A new backend.

    Raises
    ------
    InputError
        If there is none of that name; the message lists those that are there.
    MachineError
        If there is none at all, as in a checkout that is not installed.
    """
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if not found:
        raise MachineError(
            f"backend(={name}) is not installed: no entry points in {GROUP}; run: pip install -e ."
        )
    return cast(TrainingBackend, lookup(found, name, field="backend").load()())


def parameter_count(config: TrainingConfig) -> int:
    """Return the number of parameters of the configured model.

    Parameters
    ----------
    config : TrainingConfig
        Names the model and the data set.

    Returns
    -------
    int
        Parameters; a silo sends 32 bits for each of them.
    """
    dataset = load_dataset(config.dataset, config.data_options)
    shape = dataset.train_inputs.shape[1:]
    model = build_model(config.model, input_shape=shape, classes=dataset.classes, seed=0)
    return sum(parameter.numel() for parameter in model.parameters())
