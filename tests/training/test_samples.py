"""Samples on the processor: their numbers, and where they start."""

from collections import Counter

import numpy as np
import pytest
import torch

from training.data.batches import BatchStream
from training.data.readers.image_files import ImageFiles
from training.data.samples import CACHE_LINE, LazySamples, held_bytes, on_device, samples_of
from training.data.shards import Batch, Shard, step_batches

CPU = torch.device("cpu")


class Files:
    """What is read by index, as images are; every batch starts somewhere else in a cache line."""

    def __init__(self, values):
        self._values, self._reads = values, 0
        self.shape, self.dtype = values.shape, values.dtype

    def __len__(self):
        return len(self._values)

    def __getitem__(self, index):
        self._reads += 1
        return unaligned(self._values[index], self._reads)


def unaligned(values, numbers):
    """A copy that starts so many numbers after a cache line."""
    room = np.empty(values.size + 64, values.dtype)
    first = (-room.ctypes.data % CACHE_LINE) // values.itemsize + numbers
    copied = room[first : first + values.size].reshape(values.shape)
    copied[...] = values
    return copied


@pytest.mark.parametrize("numbers", range(16))
@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_tensors_start_with_a_cache_line_wherever_the_array_does(numbers, kind):
    array = unaligned(np.arange(12, dtype=kind).reshape(3, 4), numbers)
    assert array.ctypes.data % CACHE_LINE == numbers * array.itemsize % CACHE_LINE
    tensor = on_device(array, CPU)
    assert tensor.data_ptr() % CACHE_LINE == 0
    assert tensor.tolist() == array.tolist()


def test_all_batches_start_with_a_cache_line_also_where_samples_are_read_when_they_are_needed():
    values, index = np.arange(60, dtype=np.float32).reshape(20, 3), np.arange(19, 0, -2)
    kept, read = samples_of(values, index, CPU), samples_of(Files(values), index, CPU)
    for batch in (torch.tensor([3, 1, 4]), slice(2, 7), torch.tensor([0])):
        assert torch.equal(read[batch], kept[batch])
        assert read[batch].data_ptr() % CACHE_LINE == 0
    assert kept.data_ptr() % CACHE_LINE == 0
    assert len(kept) == len(read) == 10


def test_only_batches_that_are_read_when_needed_are_locked_and_not_waited_for(monkeypatch):
    """All of a silo's samples would keep as much locked memory as long as the process lives."""
    asked = []

    def moved(tensor, device, *, non_blocking=False):
        asked.append((device.type, non_blocking))
        return tensor

    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: asked.append("locked") or tensor)
    monkeypatch.setattr(torch.Tensor, "to", moved)
    gpu, values = torch.device("cuda", 0), np.zeros((6, 2), dtype=np.float32)
    samples_of(values, np.arange(3), gpu)
    assert asked == [("cuda", False)]
    read = samples_of(Files(values), np.arange(3), gpu)
    assert asked == [("cuda", False)]
    read[np.array([0, 2])]
    assert asked == [("cuda", False), "locked", ("cuda", True)]


def test_samples_that_are_read_when_needed_are_asked_for_by_an_index_in_host_memory():
    values = np.arange(60, dtype=np.float32).reshape(20, 3)
    chosen = np.array([3, 1, 4])
    for samples in (samples_of(Files(values), np.arange(20), CPU), samples_of(values, np.arange(20), CPU)):
        lazy = isinstance(samples, LazySamples)
        shard = Shard(
            inputs=samples,
            labels=torch.zeros(20, dtype=torch.int64),
            counted=np.ones(20, dtype=bool),
            batches=BatchStream(size=20, batch_size=3, seed=0, silo=0),
        )
        # On a GPU, reading the other one would wait for all that the GPU still has to do.
        batch = Batch(chosen=chosen if lazy else None, index=None if lazy else torch.from_numpy(chosen))
        assert shard.read(batch).tolist() == values[chosen].tolist()
        step = step_batches([shard, shard], 1)
        for own in step.batches:
            assert own.index.tolist() == own.chosen.tolist() == shard.batches.batch(1).tolist()


def test_samples_that_are_read_when_needed_have_a_shape():
    samples = samples_of(Files(np.zeros((20, 3, 4), dtype=np.float32)), np.array([5, 1, 7]), CPU)
    assert (len(samples), samples.shape) == (3, (3, 3, 4))


def images(count, sample):
    """Images that have their number at all pixels; and how often each was decoded."""
    decoded = Counter()

    def decode(path):
        decoded[path] += 1
        return np.full(sample, float(path), dtype=np.float32)

    return ImageFiles(paths=np.arange(count).astype(str), decode=decode, sample=sample), decoded


def test_a_silo_decodes_its_own_small_images_once_and_reads_large_ones_when_needed():
    index = np.array([7, 2, 2, 9])
    for sample, held in (((1, 2, 3), True), ((3, 512, 1024), False)):
        files, decoded = images(12, sample)
        samples = samples_of(files, index, CPU)
        assert isinstance(samples, torch.Tensor if held else LazySamples)
        assert decoded == ({"7": 1, "2": 2, "9": 1} if held else {})
        for _ in range(3):
            assert samples[np.array([3, 0])][:, 0, 1, 2].tolist() == [9, 7]
        assert decoded == ({"7": 1, "2": 2, "9": 1} if held else {"7": 3, "9": 3})


def test_samples_are_held_where_all_of_them_take_at_most_64_mebibytes():
    # Four images of 16 MiB.
    assert held_bytes(images(4, (4, 1024, 1024))[0]) == 1 << 26
    assert held_bytes(images(5, (4, 1024, 1024))[0]) == 0
    assert held_bytes(images(0, (3, 9, 9))[0]) == 0


def test_arrays_are_held_whatever_they_take_and_other_inputs_never():
    # What another reader gives may be another one each time, as with random crops.
    values = np.zeros((2, 3, 1 << 23), dtype=np.int64)
    assert held_bytes(values) == 8 * 2 * 3 << 23
    assert held_bytes(Files(values[:, :, :1])) == 0
    assert samples_of(np.zeros((0, 3), np.float32), np.arange(0), CPU).shape == (0, 3)
