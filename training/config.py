"""The user's settings of a training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from topologies.checks import check_integer, check_number
from topologies.errors import Field, InputError
from topologies.quantities import parse_quantity
from training.compression import COMPRESSIONS, GOSSIPS, MOST_LEVELS
from training.data.datasets import DataOptions, dataset_reader
from training.data.partitions import PARTITIONS, is_partition_file
from training.lookup import lookup
from training.models import model_spec
from training.optimization.objectives import OBJECTIVES
from training.optimization.optimizers import OPTIMIZERS
from training.optimization.schedules import SCHEDULES
from training.own_code import check_name

BUILT_IN_BACKEND = "mpi"

EXECUTORS = {
    "auto": "the fastest for the model, by a short measurement; loop in a training of seconds",
    "graphs": "CUDA graphs of the silos' steps, several at a time",
    "loop": "one silo after the other",
    "vmap": "all silos of a rank as stacked tensors",
}
PRECISIONS = {"bf16": "autocast to bfloat16 where torch deems it safe", "float32": "single precision"}
_LARGEST = 3.4e38
"""Number that multiplies parameters, which are 32-bit floats."""
DEVICES = {"auto": "a GPU where there is one", "cpu": "the processor", "cuda": "a GPU, or an error"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """Settings of a training run, as a scenario's ``[training]`` table states them.

    Parameters
    ----------
    backend : str
        Name of a training backend.
    backend_options : mapping
        Options that the backend declares, by name.
    ranks : int
        Processes that the backend starts, >= 1. More than silos are not started. Results do not depend on it.
        Without effect under ``mpiexec`` or ``srun``: then the launcher's number counts.
    rank_timeout : str or 0
        Longest time that a rank may make no progress before the run ends, with a unit; 0 for any.
    dataset : str
        Name of a data set, or ``module:callable`` for one of your own; see `training.data.datasets`.
    model : str
        Name of a model that reads its samples, or ``module:callable`` for one of your own; see `training.models`.
    loss : str
        ``module:callable`` for a loss of your own; empty for cross-entropy. See `training.optimization.losses`.
    partition : str
        How samples are divided among silos; see `training.data.partitions`. Or a CSV file with columns sample and silo.
    data : str
        Folder or file of the user's data, read on every rank; empty for the data set's default.
    dataset_options : mapping
        Options that the reader of the data set declares, by name.
    skip_bad : bool
        Leave bad samples out and count them, instead of stopping at the first.
    exchange_buffers : bool
        Whether batch norm's running statistics are sent and mixed like parameters; by default they stay in their silo,
        as in the paper. Mixing weights must then be >= 0. See `training.engine.parameter_buffer.ParameterBuffer`.
    initial_weights : str
        File of a state dict, such as torchvision's, that every silo starts from; random weights if empty. A final layer
        for another number of classes stays random.
    dirichlet_alpha : float
        Concentration of the ``dirichlet`` partition, > 0; smaller is more heterogeneous.
    shift_west_deg : float, optional
        Degrees by which the ``geographic`` partition moves the silos to the west before it looks for the closest one;
        by default the paper's rule: 90 for European networks, 0 for all others.
    objective : str
        What is minimized: ``silos``, the mean of the silos' losses, or ``samples``, their mean weighted by samples,
        ``p_i = n_i / n``. Mixing weighs all silos alike, so with ``samples`` a silo's local steps are ``N p_i`` times
        as long: the same as that factor on its gradient, but for ``adam`` too, whose steps ignore such factors.
    optimizer : str
        ``sgd`` or ``adam``; the state stays in its silo, only models are mixed.
    learning_rate : float
        Rate of round 0, >= 0.
    momentum : float
        Momentum of ``sgd``, ``0 <= momentum < 1``.
    weight_decay : float
        Factor of the parameters that each step adds to their gradient, >= 0, of all parameters as torch's optimizers
        have it; with ``adam`` it goes through the moments.
    clip_norm : float, optional
        Largest Euclidean norm of a silo's gradient, > 0, to which it is scaled before weight decay.
    clip_value : float, optional
        Largest absolute value of a number of the gradient, > 0, in place of `clip_norm`.
    learning_rate_schedule : str
        ``constant``, ``inverse_sqrt`` (of the round), ``step``, ``cosine`` (over all rounds) or ``halved_each_epoch``:
        an epoch is over once the silos together have drawn as many samples as there are.
    warm_up_rounds : int
        First rounds, in which the rate rises linearly to `learning_rate`, >= 0 and at most `rounds`; the schedule
        starts after them.
    decay_every : int
        Rounds after which the rate of ``step`` is multiplied by `decay_factor`, >= 1.
    decay_factor : float
        Of ``step``, in (0, 1].
    final_learning_rate : float
        Rate at which ``cosine`` ends, >= 0 and at most `learning_rate`.
    compression : str
        What a silo sends in place of all numbers of its model: ``top_k`` or ``random_k``, a share of them, ``qsgd`` or
        ``sign``; see `training.compression`. Messages of the simulation have that size.
    compression_ratio : float
        Share of the numbers that ``top_k`` and ``random_k`` send, in (0, 1].
    quantization_levels : int
        Levels of ``qsgd`` above zero, >= 1 and at most 2^20.
    compressed_gossip : str
        What is compressed: with ``choco`` the difference to what the neighbours know, who must be the same in all
        rounds, with ``error_feedback`` the model with what earlier messages left out. See
        `training.engine.compressed_exchange.CompressedExchange`.
    consensus_step : float
        Step towards the neighbours with compression, at most 1; 0 for the compressor's own. Too large a step diverges.
    rounds : int
        Rounds, >= 1.
    batch_size : int
        Samples per local step and silo, >= 1.
    log_every : int
        Rounds between two rows of the history, >= 1.
    evaluate : float
        Samples that metrics are measured on: their share, above 0 and at most 1, or a whole number of test samples and
        of training samples of all silos together. Drawn once with the seed, the same in each row; of each silo's
        training samples the same share, at least one.
    target_accuracy : float
        Test accuracy whose first round reports ask for, in (0, 1]; training itself does not stop there.
    device : str
        What computes: the processor, or a GPU; ``auto`` takes a GPU where there is one.
    executor : str
        How a rank computes the gradients of its silos: ``loop``, one after the other; ``vmap``, all at once as stacked
        tensors, which pays for small models; ``graphs``, a CUDA graph each; ``auto`` measures which is fastest, unless
        all steps take less than five seconds by ``loop``. They differ by rounding, and so may two runs with ``auto``:
        name one for the same bits again on processors of one kind, with ``loop`` on any number of ranks and with the
        others on the same.
    precision : str
        Of forward and backward passes: ``float32``, or ``bf16`` (autocast), on GPUs and on processors; on the latter
        recurrent layers stay in single precision. Parameters, gradients, the optimizer's state, mixing and metrics are
        in single precision.
    gpu_aware_mpi : bool
        Pass a GPU's memory to MPI directly. Only for an MPI built for GPUs: others crash. By default models travel
        through pinned host memory. Without effect on the processor.
    checkpoint_every : int
        Rounds between two checkpoints, from which an interrupted run resumes; 0 for none. The last round has one, too.
    keep_models : bool
        Whether the best and the last average model are exported as state dicts that PyTorch loads.

    Raises
    ------
    InputError
        If a value breaks its rule; the message names field, value and rule.
    """

    backend: str = BUILT_IN_BACKEND
    backend_options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    ranks: int = 2
    rank_timeout: str | int = "10 minutes"
    dataset: str = "digits"
    data: str = ""
    dataset_options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    skip_bad: bool = False
    model: str = "cnn"
    loss: str = ""
    exchange_buffers: bool = False
    initial_weights: str = ""
    partition: str = "dirichlet"
    dirichlet_alpha: float = 0.5
    shift_west_deg: float | None = None
    objective: str = "silos"
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    momentum: float = 0.0
    weight_decay: float = 0.0
    clip_norm: float | None = None
    clip_value: float | None = None
    learning_rate_schedule: str = "constant"
    warm_up_rounds: int = 0
    decay_every: int = 50
    decay_factor: float = 0.1
    final_learning_rate: float = 0.0
    compression: str = "none"
    compression_ratio: float = 0.01
    quantization_levels: int = 16
    compressed_gossip: str = "choco"
    consensus_step: float = 0.0
    rounds: int = 150
    batch_size: int = 16
    log_every: int = 1
    evaluate: float = 1.0
    target_accuracy: float = 0.9
    device: str = "cpu"
    executor: str = "auto"
    precision: str = "float32"
    gpu_aware_mpi: bool = False
    checkpoint_every: int = 0
    keep_models: bool = False

    @property
    def data_options(self) -> DataOptions:
        """Where the data are and how they are read."""
        return DataOptions(data=self.data, skip_bad=self.skip_bad, declared=self.dataset_options)

    @property
    def uncompressed(self) -> "TrainingConfig":
        """The same training with messages of all numbers."""
        own: dict[str, Any] = {each.name: each.default for each in fields(self)}
        without = {name: own[name] for name, (other, _) in _GOES_WITH.items() if other == "compression"}
        return replace(self, compression="none", **without)

    @property
    def rank_timeout_s(self) -> float:
        """Longest time without progress of a rank, in seconds; 0 for any."""
        off = self.rank_timeout == 0 and not isinstance(self.rank_timeout, bool)
        return 0.0 if off else parse_quantity("rank_timeout", self.rank_timeout, "s", zero=True)

    def __post_init__(self) -> None:
        self.rank_timeout_s  # noqa: B018, raises what is wrong
        for name, table in CHOICES.items():
            if not (name == "partition" and is_partition_file(self.partition)):
                lookup(table, getattr(self, name), field=name)
        # Those of the backend are checked where it is loaded: a run is read without the backend that made it.
        for name in ("backend_options", "dataset_options"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"{name}(={getattr(self, name)!r}) must be a table.")
        model = model_spec(self.model)
        dataset_reader(self.dataset, self.data_options)
        if self.loss:
            check_name(self.loss, field="loss")
            if self.executor in ("vmap", "graphs"):
                raise InputError(
                    "must be auto or loop with a loss of your own.",
                    field=Field("executor", value=self.executor),
                )
        if not isinstance(self.data, str):
            raise InputError(f"data(={self.data!r}) must be the path of a folder or a file.")
        if not isinstance(self.initial_weights, str):
            raise InputError(f"initial_weights(={self.initial_weights!r}) must be the path of a file.")
        for name in ("skip_bad", "exchange_buffers", "keep_models", "gpu_aware_mpi"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name}(={getattr(self, name)!r}) must be true or false.")
        for name in ("ranks", "rounds", "batch_size", "log_every"):
            check_integer(name, getattr(self, name), minimum=1)
        check_integer("checkpoint_every", self.checkpoint_every, minimum=0)
        if check_number("dirichlet_alpha", self.dirichlet_alpha) <= 0:
            raise InputError("must be > 0.", field=Field("dirichlet_alpha", value=self.dirichlet_alpha))
        if self.shift_west_deg is not None:
            check_number("shift_west_deg", self.shift_west_deg)
        if check_number("learning_rate", self.learning_rate) < 0:
            raise InputError(f"learning_rate(={self.learning_rate}) must be >= 0.")
        if not 0 <= check_number("momentum", self.momentum) < 1:
            raise InputError(f"momentum(={self.momentum}) must be >= 0 and < 1.")
        if check_number("weight_decay", self.weight_decay) < 0:
            raise InputError("must be >= 0.", field=Field("weight_decay", value=self.weight_decay))
        for name in ("learning_rate", "weight_decay", "clip_norm", "clip_value"):
            if (getattr(self, name) or 0) > _LARGEST:
                raise InputError(
                    f"must be <= {_LARGEST:g}, as models have 32 bits.",
                    field=Field(name, value=getattr(self, name)),
                )
        self._check_schedule()
        self._check_compression()
        self._check_companions()
        if (evaluate := check_number("evaluate", self.evaluate)) <= 0 or (evaluate > 1 and evaluate % 1):
            rule = "must be a share > 0 and <= 1, or a whole number of samples."
            raise InputError(rule, field=Field("evaluate", value=self.evaluate))
        for name in ("clip_norm", "clip_value"):
            largest = getattr(self, name)
            if largest is not None and check_number(name, largest) <= 0:
                raise InputError("must be > 0.", field=Field(name, value=largest))
        if None not in (self.clip_norm, self.clip_value):
            raise InputError(
                "must not be given with clip_value.", field=Field("clip_norm", value=self.clip_norm)
            )
        if self.momentum and self.optimizer != "sgd":
            raise InputError(f"momentum(={self.momentum}) must be 0 with optimizer {self.optimizer}.")
        if self.executor == "vmap" and not model.vectorizes:
            raise InputError(
                f"executor(=vmap) must be auto, graphs or loop with model {self.model}: "
                "torch cannot compute recurrent layers of many models at once."
            )
        if self.executor == "vmap" and self.precision == "bf16" and model.norm_stride:
            raise InputError(
                f"executor(=vmap) must be auto, graphs or loop with model {self.model} and precision bf16: "
                "torch cannot compute batch norm of many models at once under autocast."
            )
        if self.executor == "graphs" and self.device == "cpu":
            raise InputError("executor(=graphs) must be auto, loop or vmap with device cpu.")
        if not 0 < check_number("target_accuracy", self.target_accuracy) <= 1:
            raise InputError(f"target_accuracy(={self.target_accuracy}) must be > 0 and <= 1.")

    def _check_schedule(self) -> None:
        """Raise an InputError for numbers that the learning-rate schedule cannot have."""
        check_integer("warm_up_rounds", self.warm_up_rounds, minimum=0)
        if self.warm_up_rounds > self.rounds:
            rule = f"must be <= rounds(={self.rounds})."
            raise InputError(rule, field=Field("warm_up_rounds", value=self.warm_up_rounds))
        if not 0 < check_number("decay_factor", self.decay_factor) <= 1:
            raise InputError("must be > 0 and <= 1.", field=Field("decay_factor", value=self.decay_factor))
        if not 0 <= check_number("final_learning_rate", self.final_learning_rate) <= self.learning_rate:
            rule = f"must be >= 0 and <= learning_rate(={self.learning_rate})."
            raise InputError(rule, field=Field("final_learning_rate", value=self.final_learning_rate))
        check_integer("decay_every", self.decay_every, minimum=1)

    def _check_compression(self) -> None:
        """Raise an InputError for settings that compression cannot have."""
        if not 0 < check_number("compression_ratio", self.compression_ratio) <= 1:
            raise InputError(
                "must be > 0 and <= 1.", field=Field("compression_ratio", value=self.compression_ratio)
            )
        check_integer("quantization_levels", self.quantization_levels, minimum=1)
        if self.quantization_levels > MOST_LEVELS:
            rule = f"must be <= {MOST_LEVELS}."
            raise InputError(rule, field=Field("quantization_levels", value=self.quantization_levels))
        if not 0 <= check_number("consensus_step", self.consensus_step) <= 1:
            raise InputError(
                "must be >= 0 and <= 1.", field=Field("consensus_step", value=self.consensus_step)
            )
        if self.compression != "none" and self.exchange_buffers:
            raise InputError(
                "must be false with compression: a variance that is put together from messages may be below 0.",
                field=Field("exchange_buffers", value=True),
            )

    @staticmethod
    def idle_keys(key: str, value: object) -> tuple[str, ...]:
        """Names of the settings that have no effect with a value of another one, and must have their defaults."""
        return tuple(
            name for name, (other, values) in _GOES_WITH.items() if other == key and value not in values
        )

    def _check_companions(self) -> None:
        """Raise an InputError for a setting that goes with certain values of another only."""
        defaults = {each.name: each.default for each in fields(self)}
        for name, (other, values) in _GOES_WITH.items():
            if (value := getattr(self, name)) != defaults[name] and getattr(self, other) not in values:
                rule = f"goes with {other} = {' or '.join(map(repr, values))}."
                raise InputError(rule, field=Field(name, value=value))


_COMPRESSED = tuple(name for name in COMPRESSIONS if name != "none")
_GOES_WITH = {
    "decay_every": ("learning_rate_schedule", ("step",)),
    "decay_factor": ("learning_rate_schedule", ("step",)),
    "final_learning_rate": ("learning_rate_schedule", ("cosine",)),
    "compression_ratio": ("compression", ("top_k", "random_k")),
    "quantization_levels": ("compression", ("qsgd",)),
    "compressed_gossip": ("compression", _COMPRESSED),
    "consensus_step": ("compression", _COMPRESSED),
}
"""Fields that have an effect with certain values of another one only."""

CHOICES = {
    "partition": PARTITIONS,
    "objective": OBJECTIVES,
    "optimizer": OPTIMIZERS,
    "learning_rate_schedule": SCHEDULES,
    "compression": COMPRESSIONS,
    "compressed_gossip": GOSSIPS,
    "device": DEVICES,
    "executor": EXECUTORS,
    "precision": PRECISIONS,
}
