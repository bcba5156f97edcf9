"""Training backends: the protocol, and finding one by name."""

import math
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from importlib.metadata import EntryPoint
from numbers import Real
from typing import Any, Protocol, cast, runtime_checkable

from topologies.entry_points import all_names, find_entry, load_class, load_instance, named
from topologies.errors import Field, InputError, quoted, unknown_name
from training.config import TrainingConfig
from training.data.datasets import dataset_reader
from training.declared_options import check_options, with_options
from training.job import TrainingJob
from training.models import build_model
from training.notice import Report
from training.own_code import is_own

GROUP = "silosim.training_backends"
"""Entry point group in which other packages register theirs."""

BACKENDS: Mapping[str, EntryPoint] = {"mpi": EntryPoint("mpi", "training.mpi.backend:MpiBackend", GROUP)}
"""Those of this package, imported when they are asked for: MPI takes long."""

OPTIONS = "backend_options"
"""The setting that holds the options of a backend."""


@runtime_checkable
class TrainingBackend(Protocol):
    """Trains the models of a job; such a class is registered as an entry point of `GROUP`.

    A dataclass has its fields as options, which a scenario gives in ``[training.backend_options]``
    (`training.declared_options`).
    """

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
        Communicates with no other process and starts none, so that one process may call it alone.
        """

    def train(self, job: TrainingJob) -> Iterator[Report]:
        """Train, and yield history and notices while the training runs.

        Yields
        ------
        HistoryRow
            In round order: rounds 0, `log_every` and so on, and the last one. A training without the last round's row
            counts as failed, however it ended.
        Notice
            At any time: a message to the user, such as a choice that was made.

        Notes
        -----
        Where the whole program runs as several processes, only process 0 receives rows and notices;
        the others take part and receive none. Closing the iterator on process 0 ends this training on all processes,
        which then go on with what their program does next. A program that closes it because of an error must
        therefore end the other processes itself.
        """


@runtime_checkable
class SizedBackend(TrainingBackend, Protocol):
    """A backend that knows the size of its messages, so that a scenario need not state it."""

    def message_bits(self, config: TrainingConfig) -> float | None:
        """Return the size of a silo's message on one arc in one round.

        Parameters
        ----------
        config : TrainingConfig
            The settings that `train` will get.

        Returns
        -------
        float or None
            Bits, > 0. None if unknown: then the scenario must state it.

        Raises
        ------
        InputError
            If the backend cannot do what a setting asks for.

        Notes
        -----
        Called without `check`, by every command that takes its workload from a training; it should read no more than
        the size needs.
        """


@runtime_checkable
class LaggedBackend(TrainingBackend, Protocol):
    """A backend that can train on overlays whose arcs have lags above 1."""

    @property
    def mixes_lags(self) -> bool:
        """Whether it mixes models of earlier rounds as `training.MixingPlan.round_weights` says."""


@runtime_checkable
class StatesBackend(TrainingBackend, Protocol):
    """A backend that can train on overlays whose silos compute in some states only."""

    @property
    def mixes_without_steps(self) -> bool:
        """Whether it makes no local steps in rounds of which `training.MixingPlan.is_computing` says so."""


@runtime_checkable
class UnevenBackend(TrainingBackend, Protocol):
    """A backend whose silos can make different numbers of local steps, or none in some rounds."""

    @property
    def steps_by_silo(self) -> bool:
        """Whether silos make the steps that `training.TrainingJob.steps` says."""


@runtime_checkable
class CompressingBackend(TrainingBackend, Protocol):
    """A backend whose silos can send compressed models."""

    @property
    def compresses(self) -> bool:
        """Whether it trains with ``compression`` other than ``none``, and states the size of such messages."""


def load_backend(name: str, options: Mapping[str, Any] | None = None) -> TrainingBackend:
    """Return the backend that is registered under a name, with a user's options.

    Parameters
    ----------
    name : str
        One of `BACKENDS`, or the name of an entry point in the group ``silosim.training_backends``.
    options : mapping, optional
        Values of options that it declares, by name.

    Raises
    ------
    InputError
        If there is none of that name, two packages register it, or it is no class with `check` and `train`; if an
        option is unknown, missing or of another type.
    MachineError
        If it cannot be imported, or made without options.
    """
    entry = find_entry(GROUP, name, "training backend", own=BACKENDS.values())
    if entry is None:
        otherwise = "the name of a backend whose package is installed in this environment"
        raise unknown_name("backend", name, all_names(BACKENDS, GROUP), otherwise=otherwise)
    owner = load_class(entry, "training backend")
    # What its constructor raises is about the options where there are some, else about the machine.
    if options:
        backend: object = with_options(owner, options, field=OPTIONS, what=f"backend {name}")
    else:
        check_options(owner, {}, field=OPTIONS)
        backend = load_instance(entry, "training backend")
    if not isinstance(backend, TrainingBackend):
        raise InputError(f"{named(entry, 'training backend')} must have check and train.")
    return backend


def check_mixing(job: TrainingJob) -> None:
    """Check that the backend of a job can mix and step as its plans say.

    Raises
    ------
    InputError
        If it cannot: it would train as if all models were new, or all silos computed alike in every round.
    """
    mixing, name, compression = job.mixing, job.config.backend, job.config.compression
    if mixing.lags is None and mixing.computes is None and job.steps.is_even and compression == "none":
        return
    backend = load_backend(name, job.config.backend_options)
    if mixing.lags is not None and not (isinstance(backend, LaggedBackend) and backend.mixes_lags is True):
        raise InputError(
            f"must mix models of earlier rounds: there are lags of up to {mixing.longest_lag}.",
            field=Field("backend", value=name),
        )
    if mixing.computes is not None and not (
        isinstance(backend, StatesBackend) and backend.mixes_without_steps is True
    ):
        raise InputError(
            "must mix without local steps: there are states in which silos do not compute.",
            field=Field("backend", value=name),
        )
    if not job.steps.is_even and not (isinstance(backend, UnevenBackend) and backend.steps_by_silo is True):
        raise InputError(
            "must make local steps by silo: workload has local_steps_at or participation.",
            field=Field("backend", value=name),
        )
    _check_compresses(backend, job.config)


def _check_compresses(backend: TrainingBackend, config: TrainingConfig) -> None:
    """Raise an InputError for a backend that would send whole models in place of compressed ones."""
    is_able = isinstance(backend, CompressingBackend) and backend.compresses is True
    if config.compression != "none" and not is_able:
        raise InputError(
            f"must send compressed models: compression is {config.compression}.",
            field=Field("backend", value=config.backend),
        )


def message_bits(config: TrainingConfig) -> float | None:
    """Return the size of the messages of a training, as its backend states it.

    Parameters
    ----------
    config : TrainingConfig
        Names the backend, and has its options.

    Returns
    -------
    float or None
        Bits that a silo sends on one arc in one round; None if the backend does not state it.

    Raises
    ------
    InputError
        As `load_backend`, if the backend cannot do what a setting asks for, or if what it says is no finite number > 0.
    MachineError
        As `load_backend`.
    """
    backend = load_backend(config.backend, config.backend_options)
    _check_compresses(backend, config)
    # Third-party code: its annotation may be wrong.
    said = cast(object, backend.message_bits(config) if isinstance(backend, SizedBackend) else None)
    if said is None:
        return None
    bits = math.nan if isinstance(said, bool) or not isinstance(said, Real) else _as_float(said)
    if not 0 < bits < math.inf:
        raise InputError(
            f"backend(={config.backend!r}): message_bits(={quoted(said)}) must be a finite number of bits > 0."
        )
    return bits


def _as_float(number: Real) -> float:
    """A number of any library; infinity where it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def compressed_share(config: TrainingConfig, sent_bits: float | None = None) -> float:
    """Return the size of a training's messages in units of those without compression.

    Parameters
    ----------
    config : TrainingConfig
        As in `message_bits`.
    sent_bits : float, optional
        Their size, where it is known: each question for it may run code of the user's.

    Raises
    ------
    InputError, MachineError
        As `message_bits`; also if the backend does not say how large messages are.
    """
    if config.compression == "none":
        return 1.0
    bits = message_bits(config) if sent_bits is None else sent_bits
    plain = message_bits(config.uncompressed)
    if bits is None or plain is None:
        rule = "must say how large messages are: they are compressed."
        raise InputError(rule, field=Field("backend", value=config.backend))
    return bits / plain


def exchanged_numbers(config: TrainingConfig) -> int:
    """Return how many numbers a silo sends as its model.

    Parameters
    ----------
    config : TrainingConfig
        Names the model and the data set, and says whether buffers are exchanged.

    Returns
    -------
    int
        Parameters, and floating-point buffers if they are exchanged; 32 bits each.

    Raises
    ------
    InputError
        If the model does not read such samples, or the number of classes is needed from data that are missing.
    TrainingError
        If code of the user's fails.

    Notes
    -----
    Built-in readers of data sets read no samples for it: shapes are known, and the number of classes, too, or it
    follows from the data's index. Code of the user's runs: that of the model, and that of the data.
    """
    import torch

    from training.engine.parameter_buffer import numbers_of

    options = config.data_options
    reader = dataset_reader(config.dataset, options)
    shape, classes = reader.sample_shape(options), reader.count_classes(options)
    # Code of the user's may do with its values what it likes, so they are there.
    with nullcontext() if is_own(config.model) else torch.device("meta"):
        model = build_model(config.model, input_shape=shape, classes=classes, seed=0)
    parameters, buffers = numbers_of(model)
    return parameters + buffers if config.exchange_buffers else parameters
