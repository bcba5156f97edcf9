from contextlib import contextmanager
from itertools import count

import pytest
import torch

from training.engine.executors.graphs import CudaRecorder

GPU = torch.device("cuda", 0)


class Stream:
    """A CUDA stream of a GPU that records its operations."""

    def __init__(self, diary, name):
        self.diary, self.name = diary, name

    def wait_stream(self, other):
        self.diary.append(f"{self.name} waits for {other.name}")


@pytest.fixture
def diary(monkeypatch):
    """What is asked of a GPU, which `torch.cuda` plays here."""
    noted, streams = [], []
    current = [Stream(noted, "main")]

    def new_stream(_device):
        streams.append(Stream(noted, f"side {len(streams)}"))
        return streams[-1]

    @contextmanager
    def on(stream):
        former, current[0] = current[0], stream
        try:
            yield
        finally:
            current[0] = former

    class Graph:
        def replay(self):
            noted.append(f"replay on {current[0].name}")

    @contextmanager
    def capture(_graph, *, pool, stream):
        # As in torch: where the capture fails, its stream stays the current one.
        former, current[0] = current[0], stream
        noted.append(f"capture into {pool}")
        yield
        noted.append("captured")
        current[0] = former

    pools = (f"pool {number}" for number in count())
    for asked in ("_cuda_endAllocateToPool", "_cuda_releasePool"):
        monkeypatch.setattr(
            torch._C, asked, lambda device, pool, asked=asked: noted.append((asked, device, pool))
        )
    monkeypatch.setattr(torch.cuda, "Stream", new_stream)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: next(pools))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: current[0])
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph", capture)
    return noted


def test_a_graph_is_warmed_up_captured_and_replayed_on_its_lane(diary):
    def work():
        diary.append(f"work on {torch.cuda.current_stream(GPU).name}")

    recorder = CudaRecorder(GPU, lanes=2)
    replay = recorder.record(3, work)
    assert diary == [
        "side 1 waits for main",
        *["work on side 1"] * 3,
        "capture into pool 1",
        "work on side 1",
        "captured",
        "main waits for side 1",
    ]
    diary.clear()
    recorder.fork()
    replay()
    recorder.join()
    assert diary == [
        "side 0 waits for main",
        "side 1 waits for main",
        "replay on side 1",
        "main waits for side 0",
        "main waits for side 1",
    ]


def test_the_stream_is_the_former_one_after_a_capture_that_failed(diary):
    def work():
        if "capture into pool 0" in diary:
            raise torch.AcceleratorError("CUDA error: operation not permitted")

    with pytest.raises(torch.AcceleratorError):
        CudaRecorder(GPU, lanes=2).record(0, work)
    assert torch.cuda.current_stream(GPU).name == "main"


def test_a_lane_is_warmed_up_once(diary):
    recorder = CudaRecorder(GPU, lanes=2)
    for lane in (0, 1, 2, 3):
        recorder.record(lane, lambda: diary.append("work"))
    # Three warm-ups on each of two lanes, and four captures.
    assert diary.count("work") == 2 * 3 + 4
    assert diary.count("captured") == 4


def test_after_a_capture_that_failed_the_allocator_no_longer_records_and_the_lane_has_another_pool(diary):
    def fails():
        if diary[-1] == "capture into pool 1":
            raise torch.AcceleratorError("CUDA error: operation not permitted")

    recorder = CudaRecorder(GPU, lanes=2)
    with pytest.raises(torch.AcceleratorError):
        recorder.record(1, fails)
    assert diary[-2:] == [("_cuda_endAllocateToPool", 0, "pool 1"), ("_cuda_releasePool", 0, "pool 1")]
    recorder.record(1, lambda: None)
    recorder.record(0, lambda: None)
    assert [line for line in diary if "capture into" in line] == [
        "capture into pool 1",
        "capture into pool 2",
        "capture into pool 0",
    ]


def test_a_pool_that_the_allocator_has_left_is_not_an_error(diary, monkeypatch):
    def left(_device, _pool):
        raise RuntimeError("endAllocatePool: not currently recording to mempool_id")

    def fails():
        if "capture into pool 0" in diary:
            raise ValueError("the work's own error")

    monkeypatch.setattr(torch._C, "_cuda_endAllocateToPool", left)
    with pytest.raises(ValueError, match="own error"):
        CudaRecorder(GPU, lanes=1).record(0, fails)
    assert not any("_cuda_releasePool" in line for line in diary)
