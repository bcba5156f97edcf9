"""The choice of an executor, by a short measurement or by name."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from topologies.arrays import FloatArray
from topologies.errors import MachineError
from training.config import TrainingConfig
from training.data.shards import Shard
from training.engine.communicator import Communicator
from training.engine.executors.base import Executor, cause_of, unchanged
from training.engine.executors.graphs import GraphsExecutor
from training.engine.executors.loop import LoopExecutor
from training.engine.executors.vectorized import VectorizedExecutor
from training.engine.parameter_buffer import ParameterBuffer
from training.models import may_draw, model_spec
from training.optimization.losses import own_loss

Factory = Callable[[ParameterBuffer, Sequence[Shard], str], Executor]

FACTORIES: Mapping[str, Factory] = {
    "loop": LoopExecutor,
    "vmap": VectorizedExecutor,
    "graphs": GraphsExecutor,
}
RUNS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attempt:
    """Result of a trial of an executor.

    Parameters
    ----------
    seconds : float
        Time of the fastest of a few steps; infinity if it failed. The loop's errors are those of the training.
    cause : str
        Why it failed: memory, or an operation that cannot be vectorized or recorded; empty if it did not.
    executor : Executor, optional
        Ready for more steps; None if it failed or was not tried.
    """

    seconds: float = 0.0
    cause: str = ""
    executor: Executor | None = None


GAIN = 1.2
"""Required speed relative to the loop: less would let noise decide."""

WORTH_S = 5.0
"""Shortest training for which others than the loop are tried, which takes a second or two: `torch.func` imports
hundreds of modules."""

LARGEST_VECTORIZED = 1 << 18
"""Parameters of the largest model whose silos are tried at once. A larger model's step costs its arithmetic, which
grouped convolutions do slower than one silo's, and activations of all silos at once would need not fit."""


def candidates(config: TrainingConfig, *, parameters: int, gpu: bool) -> tuple[str, ...]:
    """Return the candidate executors, the loop first.

    Parameters
    ----------
    config : TrainingConfig
        Its `model`, `loss` and `executor` count.
    parameters : int
        Of the model.
    gpu : bool
        Whether the rank computes on a GPU.

    Returns
    -------
    tuple of str
        Keys of `FACTORIES`.

    Raises
    ------
    MachineError
        If CUDA graphs are asked for and there is no GPU.
    """
    if config.executor == "graphs" and not gpu:
        raise MachineError("executor(=graphs) needs a GPU and a torch built for it; torch sees none.")
    if config.executor != "auto":
        return (config.executor,)
    if config.loss:
        return ("loop",)
    vectorizes = model_spec(config.model).vectorizes and parameters <= LARGEST_VECTORIZED
    # In a graph several silos would draw from one random state.
    records = gpu and not may_draw(config.model)
    return ("loop", *(["vmap"] if vectorizes else []), *(["graphs"] if records else []))


def factory_of(name: str, config: TrainingConfig) -> Factory:
    """Return what makes an executor; the loop with the user's loss, and random states where it or a model may draw."""
    if name != "loop":
        return FACTORIES[name]
    own = {"loss": own_loss(config.loss), "draws": may_draw(config.model) or config.loss != ""}
    return partial(FACTORIES[name], **own) if any(own.values()) else FACTORIES[name]


def choose(
    config: TrainingConfig,
    models: ParameterBuffer,
    shards: Sequence[Shard],
    *,
    parameters: int,
    steps: int,
    communicator: Communicator,
) -> tuple[Executor, str]:
    """Return the executor of this rank, of the same kind on every rank.

    Parameters
    ----------
    models : ParameterBuffer
        The models of the rank's silos; unchanged.
    shards : sequence of Shard
        Their data.
    parameters : int
        Of one model.
    steps : int
        Local steps of the whole training, of the silo with the most.
    communicator : Communicator
        All ranks call this together.

    Returns
    -------
    executor : Executor
        The configured one, or the fastest.
    notice : str
        The choice and its reason, and which executors failed; empty if the configuration names one.

    Notes
    -----
    Each candidate computes a few steps on the real batches; the loop alone, if with it all steps take less than
    `WORTH_S`, in the mean of ranks with silos. All ranks decide by the sum of their times, so that they agree. The
    loop stays unless another one is `GAIN` times as fast. An executor that fails on one rank is taken by none.
    """
    names = candidates(config, parameters=parameters, gpu=models.gradients.is_cuda)
    if config.executor != "auto":
        return factory_of(config.executor, config)(models, shards, config.precision), ""
    # Ranks without a GPU may have one candidate where others have more: they take part in the sums all the same.
    several = len(names) > 1
    loop = attempt("loop", config, models, shards) if several else Attempt()
    measured = float(several and len(shards) > 0)
    total, ranks = communicator.sum(np.array([loop.seconds, measured])).tolist()
    lasting = steps * total / max(1.0, ranks)
    others = names[1:] if lasting >= WORTH_S else ()
    tried = {"loop": loop} | {name: attempt(name, config, models, shards) for name in others}
    seconds = communicator.sum(
        np.array([tried[name].seconds if name in tried else math.inf for name in FACTORIES])
    )
    chosen = fastest(seconds)
    # The one that was tried, as recording takes time.
    executor = tried[chosen].executor if chosen in tried else None
    if executor is None:
        executor = factory_of(chosen, config)(models, shards, config.precision)
    if not several:
        what = "a loss of your own" if config.loss else f"model {config.model} of {parameters:,} parameters"
        return executor, f"executor loop: the only one for {what} here"
    if not others:
        return (
            executor,
            f"executor loop: all local steps take about {lasting:.2g} s, too little to try others",
        )
    return executor, _notice(chosen, seconds, tried)


def fastest(seconds: FloatArray) -> str:
    """Return the name of the executor to take.

    Parameters
    ----------
    seconds : FloatArray, shape (executors,)
        Time of a step by each of `FACTORIES`; infinity for those that cannot be taken.

    Returns
    -------
    str
        The fastest, but the loop unless another is `GAIN` times as fast.
    """
    times = dict(zip(FACTORIES, seconds.tolist(), strict=True))
    best = min(times, key=times.__getitem__)
    return best if times[best] * GAIN <= times["loop"] else "loop"


def attempt(name: str, config: TrainingConfig, models: ParameterBuffer, shards: Sequence[Shard]) -> Attempt:
    """Try an executor.

    Parameters
    ----------
    name : str
        One of `FACTORIES`.
    models : ParameterBuffer
        The models of the rank's silos; unchanged.
    shards : sequence of Shard
        Their data.
    """
    try:
        executor = factory_of(name, config)(models, shards, config.precision)
        seconds = measure(lambda *_settings: executor, config, models, shards)
    except RuntimeError as error:
        if name == "loop":
            raise
        return Attempt(seconds=math.inf, cause=cause_of(error))
    return Attempt(seconds=seconds, executor=executor)


def measure(
    factory: Factory,
    config: TrainingConfig,
    models: ParameterBuffer,
    shards: Sequence[Shard],
) -> float:
    """Return the seconds of the fastest of a few steps."""
    if not shards:
        return 0.0
    times = []
    with unchanged(models):
        executor = factory(models, shards, config.precision)
        for step in range(1 + RUNS):
            start = time.perf_counter()
            executor.gradients(step)
            if models.gradients.is_cuda:
                torch.cuda.synchronize(models.gradients.device)
            times.append(time.perf_counter() - start)
    return min(times[1:])


def _notice(chosen: str, seconds: FloatArray, tried: Mapping[str, Attempt]) -> str:
    """One line about the choice."""
    values = dict(zip(FACTORIES, seconds.tolist(), strict=True))
    times = ", ".join(
        f"{name} {1e3 * value:.3g} ms" for name, value in values.items() if math.isfinite(value)
    )
    failed = "".join(
        f"; {name} left out: {one.cause or 'another rank cannot take it'}"
        for name, one in tried.items()
        if math.isinf(values[name])
    )
    return f"executor {chosen}: a step of all silos took {times} (sums over ranks){failed}"
