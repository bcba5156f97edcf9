"""The gradients of the silos as CUDA graphs, several at a time."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from topologies.errors import MachineError
from training.data.shards import Shard, Steps, step_batches
from training.engine.executors.base import cause_of, precise, unchanged, with_fast_layout, write_gradients
from training.engine.parameter_buffer import ParameterBuffer

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
    lanes : int
        Streams.

    Notes
    -----
    Graphs of one stream share their memory: they run one after the other, and no result stays in it. Graphs of
    different streams run at the same time and share nothing. Works of one lane must be alike but for where they read
    and write: only the first one warms the stream up.

    A capture that fails ends with an error of `cudaStreamEndCapture`, before PyTorch takes back that the allocator
    records into the capture's pool (`CUDAGraph::capture_end`). Until that is done, the allocator neither gives cached
    blocks back when memory runs out nor reuses blocks that several streams have used. So it is done here, the pool is
    given up, and the lane gets another one. PyTorch's random numbers on the GPU may stay unusable: a training draws
    none there.
    """

    def __init__(self, device: torch.device, lanes: int = STREAMS) -> None:
        self._device = device
        self._streams = [torch.cuda.Stream(device) for _ in range(lanes)]  # type: ignore[no-untyped-call]
        self._pools: list[Any] = [torch.cuda.graph_pool_handle() for _ in range(lanes)]
        self._warm = [False] * lanes

    def record(self, lane: int, work: Work) -> Work:
        """Warm up on the lane's stream if nothing has before, capture, and return the replay."""
        place = lane % len(self._streams)
        if self._pools[place] is None:
            self._pools[place] = torch.cuda.graph_pool_handle()
        stream, pool = self._streams[place], self._pools[place]
        current = torch.cuda.current_stream(self._device)
        stream.wait_stream(current)
        graph = torch.cuda.CUDAGraph()
        # Restores the current stream: a capture that fails leaves its own current.
        with torch.cuda.stream(stream):
            for _ in range(0 if self._warm[place] else WARM_UP):
                work()
            self._warm[place] = True
            try:
                with torch.cuda.graph(graph, pool=pool, stream=stream):
                    work()
            except BaseException:
                self._release_pool(place)
                raise
        current.wait_stream(stream)

        def replay() -> None:
            with torch.cuda.stream(stream):
                graph.replay()

        return replay

    def _release_pool(self, place: int) -> None:
        """Release a lane's pool after a failed capture; see the notes."""
        pool, self._pools[place] = self._pools[place], None
        device = self._device.index or 0
        # RuntimeError: the capture had not begun, or had ended in order.
        with suppress(RuntimeError):
            torch._C._cuda_endAllocateToPool(device, pool)
            torch._C._cuda_releasePool(device, pool)

    def fork(self) -> None:
        """Let the streams wait for the current one."""
        for stream in self._streams:
            stream.wait_stream(torch.cuda.current_stream(self._device))

    def join(self) -> None:
        """Let the current stream wait for the others."""
        for stream in self._streams:
            torch.cuda.current_stream(self._device).wait_stream(stream)


class GraphsExecutor:
    """Forward and backward passes of the silos, recorded once for each of the parameter buffer's windows.

    Parameters
    ----------
    models : ParameterBuffer
        The silos' models.
    shards : sequence of Shard
        Their data.
    precision : str
        One of `training.config.PRECISIONS`.
    recorder : Recorder, optional
        By default CUDA graphs on the parameter buffer's GPU.

    Notes
    -----
    The silos are dealt to `STREAMS` lanes. A lane's graph starts all kernels of its silos' steps at once, one silo
    after the other, and the lanes together fill a GPU that one silo's small batch leaves idle. A graph of each silo
    would fill it as well, but each capture waits for the GPU and empties PyTorch's cache of its memory. A graph
    reads and writes fixed places: a batch is copied into a static tensor before, a gradient is written into the
    silo's row, and a loss into a vector; a silo whose batch is padding is put right after. Both windows are
    recorded at the first step, so that what cannot be recorded, or for which there is no memory, shows before an
    executor is chosen.
    """

    name = "graphs"

    def __init__(
        self,
        models: ParameterBuffer,
        shards: Sequence[Shard],
        precision: str,
        recorder: Recorder | None = None,
    ) -> None:
        self._models = models
        self._shards = shards
        self._precision = precision
        self._recorder = recorder or CudaRecorder(models.gradients.device)
        self._losses = models.gradients.new_zeros(len(shards))
        self._static: list[tuple[Tensor, Tensor]] = []
        self._replays: dict[int, list[Work]] = {}

    def gradients(self, step: Steps) -> Tensor:
        """Fill the parameter buffer's gradients; return the losses, shape (silos,).

        Raises
        ------
        MachineError
            If the model's step cannot be recorded, at the first step.
        """
        models = self._models
        if not self._shards:
            return self._losses.clone()
        batches = step_batches(self._shards, step)
        for position, (shard, batch) in enumerate(zip(self._shards, batches.batches, strict=True)):
            inputs = with_fast_layout(shard.read(batch), self._precision)
            labels = shard.labels[batch.index].flatten()
            if position == len(self._static):
                self._static.append((inputs.clone(), labels.clone()))
            for place, values in zip(self._static[position], (inputs, labels), strict=True):
                place.copy_(values, non_blocking=True)
        if not self._replays:
            self._replays = self._record_both()
        padded = [position for position, counted in enumerate(batches.counted) if not counted]
        buffers = [buffer for position in padded for buffer in models.modules[position].buffers()]
        before = [buffer.clone() for buffer in buffers]
        self._recorder.fork()
        for replay in self._replays[models.parity]:
            replay()
        self._recorder.join()
        losses = self._losses.clone()
        for position in padded:
            models.gradients[position].zero_()
            losses[position] = 0.0
        for buffer, value in zip(buffers, before, strict=True):
            buffer.copy_(value)
        return losses

    def _record_both(self) -> dict[int, list[Work]]:
        """Record the steps of all silos with either of the parameter buffer's windows."""
        models, current = self._models, self._models.parity
        lanes = range(min(STREAMS, len(self._shards)))
        replays: dict[int, list[Work]] = {}
        try:
            for window in (current, 1 - current):
                models.parity = window
                with unchanged(models):
                    replays[window] = [self._record(lane) for lane in lanes]
        except RuntimeError as error:
            raise MachineError(
                f"executor(=graphs) cannot record a step as a CUDA graph: {cause_of(error)}; executor loop needs none."
            ) from error
        finally:
            models.parity = current
        return replays

    def _record(self, lane: int) -> Work:
        """Record the steps of a lane's silos with the parameter buffer's current window."""
        modules = self._models.modules

        def work() -> None:
            for position in range(lane, len(self._shards), STREAMS):
                inputs, labels = self._static[position]
                with precise(self._precision, inputs.device):
                    loss = nn.functional.cross_entropy(modules[position](inputs).flatten(0, -2), labels)
                write_gradients(loss, modules[position])
                self._losses[position].copy_(loss.detach())

        return self._recorder.record(lane, work)
