"""Rows on a GPU, played by tensors that say so; copies happen at once."""

import subprocess
import sys

import pytest
import torch

from training.mpi.staging import Staging

GPU = torch.device("cuda", 0)


class OnGpu(torch.Tensor):
    device = GPU


@pytest.fixture
def gpu_row():
    return lambda *values: torch.tensor(values).as_subclass(OnGpu)


def test_rows_in_cpu_memory_are_handed_out_as_they_are():
    waits = []
    staging = Staging(gpu_aware=False, wait=waits.append)
    sends, receives = {3: torch.ones(4)}, {5: torch.zeros(4)}
    opened = staging.open(sends, receives)
    assert opened[3] is sends[3]
    assert opened[5] is receives[5]
    staging.close(receives, opened, slice(0, 4))
    assert receives[5].tolist() == [0, 0, 0, 0]
    assert waits == []
    assert staging.open({}, {}) == {}


def test_gpu_aware_mpi_gets_the_rows_after_one_wait(gpu_row):
    waits = []
    staging = Staging(gpu_aware=True, wait=waits.append)
    sends, receives = {3: gpu_row(1.0, 2.0)}, {5: gpu_row(0.0, 0.0)}
    opened = staging.open(sends, receives)
    assert opened[3] is sends[3]
    assert opened[5] is receives[5]
    assert waits == [GPU]


def test_rows_travel_through_one_host_buffer_per_silo(gpu_row):
    buffers, seen = {}, []
    staging = Staging(
        gpu_aware=False,
        pinned=False,
        # What MPI will send must be in the host buffers when the wait is over.
        wait=lambda device: seen.append((device, {silo: row.tolist() for silo, row in buffers.items()})),
    )
    first = staging.open({3: gpu_row(1.0, 2.0)}, {5: gpu_row(0.0, 0.0)})
    assert all(row.device.type == "cpu" for row in first.values())
    assert first[3].tolist() == [1, 2]
    buffers[3] = first[3]
    received = {5: gpu_row(0.0, 0.0), 6: gpu_row(7.0, 7.0)}
    second = staging.open({3: gpu_row(8.0, 9.0)}, received)
    assert second[3] is first[3]
    assert second[5] is first[5]
    assert seen == [(GPU, {}), (GPU, {3: [8, 9]})]
    second[5].copy_(torch.tensor([4.0, 5.0]))
    second[6].copy_(torch.tensor([6.0, 6.0]))
    staging.close(received, second, slice(0, 1))
    assert received[5].tolist() == [4, 0]
    assert received[6].tolist() == [6, 7]
    staging.close(received, second, slice(1, 2))
    assert received[5].tolist() == [4, 5]
    assert received[6].tolist() == [6, 6]


def test_a_rank_that_only_receives_waits_too(gpu_row):
    waits = []
    Staging(gpu_aware=False, pinned=False, wait=waits.append).open({}, {5: gpu_row(0.0)})
    assert waits == [GPU]


def test_host_buffers_are_pinned_by_default(gpu_row, monkeypatch):
    asked = []
    empty = torch.empty

    def record(*size, pin_memory, **settings):
        asked.append(pin_memory)
        return empty(*size, **settings)

    monkeypatch.setattr(torch, "empty", record)
    Staging(gpu_aware=False, wait=lambda _device: None).open({3: gpu_row(1.0)}, {5: gpu_row(0.0)})
    assert asked == [True, True]


def test_processes_that_only_meet_load_no_torch():
    """Those of an outer launcher meet once at least, also where nothing is trained."""
    code = (
        "import sys, mpi4py; mpi4py.rc.initialize = False\n"
        "from training import MpiCommunicator; MpiCommunicator()\n"
        "print([name for name in ('torch', 'scipy', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
