"""The choice of an executor, by a short measurement or by name."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

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
from training.engine.parameter_buffer import Arena
from training.models import MODELS

FACTORIES: Mapping[str, Callable[[Arena, Sequence[Shard], str], Executor]] = {
    "loop": LoopExecutor,
    "vmap": VectorizedExecutor,
    "graphs": GraphsExecutor,
}
RUNS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attempt:
    """What came of trying an executor.

    Parameters
    ----------
    seconds : float
        Of the fastest of a few steps; infinity if it failed. The loop's errors are those of the training.
    cause : str
        Why it failed: memory, or an operation of the model that can be neither vectorized nor recorded; empty if not.
    executor : Executor, optional
        The one that was tried, ready for more steps; None if it failed or was not tried.
    """

    seconds: float = 0.0
    cause: str = ""
    executor: Executor | None = None


GAIN = 1.2
"""How many times as fast as the loop another executor must be: less would let noise decide."""

LARGEST_VECTORIZED = 1 << 18
"""Parameters of the largest model whose silos are tried at once. A larger model's step costs its arithmetic, which
grouped convolutions do slower than one silo's, and activations of all silos at once would need not fit."""


def candidates(config: TrainingConfig, *, parameters: int, gpu: bool) -> tuple[str, ...]:
    """Return the executors that are worth a measurement, the loop first.

    Parameters
    ----------
    config : TrainingConfig
        Names the model, and the executor if there is no choice.
    parameters : int
        Of the model.
    gpu : bool
        Whether it is computed on a GPU.

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
    vectorizes = MODELS[config.model].vectorizes and parameters <= LARGEST_VECTORIZED
    return ("loop", *(["vmap"] if vectorizes else []), *(["graphs"] if gpu else []))


def choose(
    config: TrainingConfig,
    arena: Arena,
    shards: Sequence[Shard],
    *,
    parameters: int,
    communicator: Communicator,
) -> tuple[Executor, str]:
    """Return the executor of this rank, of the same kind on every rank.

    Parameters
    ----------
    config : TrainingConfig
        The user's settings.
    arena : Arena
        The hosted silos' models; they stay as they are.
    shards : sequence of Shard
        Their data.
    parameters : int
        Of one model.
    communicator : Communicator
        All ranks call this together.

    Returns
    -------
    executor : Executor
        The one that was asked for, or the fastest.
    notice : str
        What was chosen and why, and which executors failed, for the user; empty if the configuration names one.

    Notes
    -----
    Each candidate computes a few steps on the real batches. All ranks decide by the sum of their times, so that they
    agree. The loop stays unless another one is `GAIN` times as fast. An executor that fails on one rank is taken by
    none.
    """
    names = candidates(config, parameters=parameters, gpu=arena.gradients.is_cuda)
    if config.executor != "auto":
        return FACTORIES[config.executor](arena, shards, config.precision), ""
    # Ranks without a GPU may have no choice where others have one: they take part in the sum all the same.
    several = len(names) > 1
    tried = {name: attempt(name, config, arena, shards) for name in names} if several else {"loop": Attempt()}
    seconds = communicator.sum(
        np.array([tried[name].seconds if name in tried else math.inf for name in FACTORIES])
    )
    chosen = fastest(seconds)
    # The one that was tried: what it has recorded is not recorded anew.
    executor = tried[chosen].executor if chosen in tried else None
    if executor is None:
        executor = FACTORIES[chosen](arena, shards, config.precision)
    if not several:
        return executor, f"executor loop: the only one for model {config.model} here"
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


def attempt(name: str, config: TrainingConfig, arena: Arena, shards: Sequence[Shard]) -> Attempt:
    """Try an executor.

    Parameters
    ----------
    name : str
        One of `FACTORIES`.
    config : TrainingConfig
        The user's settings.
    arena : Arena
        The hosted silos' models; they stay as they are.
    shards : sequence of Shard
        Their data.
    """
    try:
        executor = FACTORIES[name](arena, shards, config.precision)
        seconds = measure(lambda *_settings: executor, config, arena, shards)
    except RuntimeError as error:
        if name == "loop":
            raise
        return Attempt(seconds=math.inf, cause=cause_of(error))
    return Attempt(seconds=seconds, executor=executor)


def measure(
    factory: Callable[[Arena, Sequence[Shard], str], Executor],
    config: TrainingConfig,
    arena: Arena,
    shards: Sequence[Shard],
) -> float:
    """Return the seconds of the fastest of a few steps."""
    if not shards:
        return 0.0
    times = []
    with unchanged(arena):
        executor = factory(arena, shards, config.precision)
        for step in range(1 + RUNS):
            start = time.perf_counter()
            executor.gradients(step)
            if arena.gradients.is_cuda:
                torch.cuda.synchronize(arena.gradients.device)
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
