"""The gradients of each silo as a CUDA graph, several at a time."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from topologies.errors import MachineError
from training.arena import Arena
from training.executors.base import cause_of, laid_out, precise, unchanged, write_gradients
from training.shards import Shard, step_batches

STREAMS = 4
WARM_UP = 3
"""Runs before a capture: libraries choose algorithms and allocate workspace in the first ones."""

Work = Callable[[], None]


class Recorder(Protocol):
    """Records work and repeats it later, works of several lanes at the same time."""

    def record(self, lane: int, work: Work) -> Work:
        """Run a work a few times, record it, and return what repeats it on the lane's stream."""

    def fork(self) -> None:
        """Let all lanes wait for what was started before."""

    def join(self) -> None:
        """Let what is started from now on wait for all lanes."""


class CudaRecorder:
    """Records CUDA graphs.

    Parameters
    ----------
    device : torch.device
        The GPU.
    lanes : int
        Streams.

    Notes
    -----
    Graphs of one stream share their memory: they run one after the other, and no result stays in it. Graphs of
    different streams run at the same time and share nothing. PyTorch keeps the memory of a capture that failed, at most
    that of one silo's step, until the process ends.
    """

    def __init__(self, device: torch.device, lanes: int = STREAMS) -> None:
        self._device = device
        self._streams = [torch.cuda.Stream(device) for _ in range(lanes)]  # type: ignore[no-untyped-call]
        self._pools = [torch.cuda.graph_pool_handle() for _ in range(lanes)]

    def record(self, lane: int, work: Work) -> Work:
        """Warm up on the lane's stream, capture, and return the replay."""
        stream, pool = self._streams[lane % len(self._streams)], self._pools[lane % len(self._pools)]
        current = torch.cuda.current_stream(self._device)
        stream.wait_stream(current)
        graph = torch.cuda.CUDAGraph()
        # Whatever happens, the former stream is current again afterwards; a capture that fails leaves its own current.
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                work()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                work()
        current.wait_stream(stream)

        def replay() -> None:
            with torch.cuda.stream(stream):
                graph.replay()

        return replay

    def fork(self) -> None:
        """Let the streams wait for the current one."""
        for stream in self._streams:
            stream.wait_stream(torch.cuda.current_stream(self._device))

    def join(self) -> None:
        """Let the current stream wait for the others."""
        for stream in self._streams:
            torch.cuda.current_stream(self._device).wait_stream(stream)


class GraphsExecutor:
    """Forward and backward pass of each silo, recorded once for each of the arena's windows.

    Parameters
    ----------
    arena : Arena
        The silos' models.
    shards : sequence of Shard
        Their data.
    precision : str
        One of `training.config.PRECISIONS`.
    recorder : Recorder, optional
        By default CUDA graphs on the arena's GPU.

    Notes
    -----
    A graph starts all kernels of a silo's step at once, and those of several silos fill a GPU that one silo's small
    batch leaves idle. A graph reads and writes fixed places: the batch is copied into a static tensor before, the
    gradient is written into the silo's row, and the loss into a vector.
    """

    name = "graphs"

    def __init__(
        self, arena: Arena, shards: Sequence[Shard], precision: str, recorder: Recorder | None = None
    ) -> None:
        self._arena = arena
        self._shards = shards
        self._precision = precision
        self._recorder = recorder or CudaRecorder(arena.gradients.device)
        self._losses = arena.gradients.new_zeros(len(shards))
        self._static: list[tuple[Tensor, Tensor]] = []
        self._replays: dict[int, list[Work]] = {}

    def gradients(self, step: int) -> Tensor:
        """Fill the arena's gradients; return the losses, shape (silos,).

        Raises
        ------
        MachineError
            If the model's step cannot be recorded, at the first step with either window.
        """
        arena = self._arena
        if not self._shards:
            return self._losses.clone()
        batches = step_batches(self._shards, step)
        rows = [
            (laid_out(shard.inputs[index]), shard.labels[index].flatten())
            for shard, index in zip(self._shards, batches.index, strict=True)
        ]
        if not self._static:
            self._static = [(inputs.clone(), labels.clone()) for inputs, labels in rows]
        if arena.parity not in self._replays:
            self._replays[arena.parity] = self._record_all()
        for static, row in zip(self._static, rows, strict=True):
            for place, values in zip(static, row, strict=True):
                place.copy_(values, non_blocking=True)
        arena.gradients.zero_()
        self._losses.zero_()
        self._recorder.fork()
        for replay, counted in zip(self._replays[arena.parity], batches.counted, strict=True):
            if counted:
                replay()
        self._recorder.join()
        return self._losses.clone()

    def _record_all(self) -> list[Work]:
        """Record the steps of all silos with the arena's current window."""
        try:
            with unchanged(self._arena):
                return [self._record(position) for position in range(len(self._shards))]
        except RuntimeError as error:
            raise MachineError(
                f"executor(=graphs) cannot record a step as a CUDA graph: {cause_of(error)}; executor loop needs none."
            ) from error

    def _record(self, position: int) -> Work:
        """Record the step of one silo with the arena's current window."""
        inputs, labels = self._static[position]
        module = self._arena.modules[position]
        loss_into = self._losses[position]

        def work() -> None:
            with precise(self._precision, inputs.device):
                loss = nn.functional.cross_entropy(module(inputs).flatten(0, -2), labels)
            write_gradients(loss, module)
            loss_into.copy_(loss.detach())

        return self._recorder.record(position, work)
