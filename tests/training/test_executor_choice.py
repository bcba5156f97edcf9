import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError, MachineError
from training import TrainingConfig
from training.arena import Arena
from training.batches import BatchStream
from training.communicator import Alone
from training.executors import choice
from training.executors.loop import LoopExecutor
from training.executors.vectorized import VectorizedExecutor
from training.shards import Shard


def silos():
    """Two silos of a model with running statistics, which have learnt from one batch."""
    model = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Linear(3, 4))
    arena = Arena(model, silos=2, before=0, after=0, device=torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    shards = [
        Shard(
            inputs=torch.randn(20, 5, generator=generator),
            labels=torch.randint(4, (20,), generator=generator),
            counted=np.ones(20, dtype=bool),
            batches=BatchStream(size=20, batch_size=6, seed=1, silo=silo),
        )
        for silo in range(2)
    ]
    LoopExecutor(arena, shards, "float32").gradients(0)
    return arena, shards


class Ranks(Alone):
    """Other ranks took longer: their times are added."""

    def __init__(self, others):
        self.others = np.array(others)

    def sum(self, values):
        return values + self.others


@pytest.mark.parametrize(
    ("seconds", "taken"),
    [
        ((1.0, math.inf, math.inf), "loop"),
        ((1.2, 1.0, math.inf), "vmap"),
        ((1.19, 1.0, math.inf), "loop"),
        ((9.0, 3.0, 1.0), "graphs"),
        ((1.0, 2.0, 3.0), "loop"),
        ((math.inf, math.inf, 0.0), "graphs"),
        ((math.inf, 0.0, math.inf), "vmap"),
        ((0.0, 0.0, math.inf), "loop"),
    ],
)
def test_another_executor_must_clearly_beat_the_loop(seconds, taken):
    assert choice.fastest(np.array(seconds)) == taken


def test_only_what_may_win_is_measured():
    auto = TrainingConfig(model="cnn")
    assert choice.candidates(auto, parameters=21_546, gpu=False) == ("loop", "vmap")
    assert choice.candidates(auto, parameters=21_546, gpu=True) == ("loop", "vmap", "graphs")
    assert choice.candidates(auto, parameters=1_206_590, gpu=False) == ("loop",)
    assert choice.candidates(replace(auto, model="char_gru"), parameters=9, gpu=False) == ("loop",)
    assert choice.candidates(replace(auto, executor="vmap"), parameters=9**9, gpu=False) == ("vmap",)
    asked = replace(auto, executor="graphs", device="auto")
    assert choice.candidates(asked, parameters=9, gpu=True) == ("graphs",)
    with pytest.raises(MachineError, match=r"^executor\(=graphs\) needs a GPU"):
        choice.candidates(asked, parameters=9, gpu=False)


def choose(config, communicator):
    arena, data = silos()
    before = [
        value.clone()
        for value in (arena.parameters, *(buffer for module in arena.modules for buffer in module.buffers()))
    ]
    chosen = choice.choose(config, arena, data, parameters=144, communicator=communicator)
    after = (arena.parameters, *(buffer for module in arena.modules for buffer in module.buffers()))
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))
    return chosen


def test_all_ranks_decide_by_the_sum_of_their_times_and_nothing_changes():
    config = TrainingConfig(model="cnn")
    executor, notice = choose(config, Ranks([1e4, 10.0, math.inf]))
    assert isinstance(executor, VectorizedExecutor)
    assert notice == "executor vmap: a step of all silos took loop 1e+07 ms, vmap 1e+04 ms (sums over ranks)"
    executor, notice = choose(config, Ranks([10.0, 1e4, math.inf]))
    assert isinstance(executor, LoopExecutor)
    assert notice.startswith("executor loop:")


def test_an_executor_that_was_named_is_taken_without_a_notice():
    config = TrainingConfig(model="cnn", executor="vmap")
    executor, notice = choose(config, Alone())
    assert isinstance(executor, VectorizedExecutor)
    assert notice == ""


def test_a_gpu_without_the_memory_leaves_an_executor_out():
    def factory(_arena, _data, _precision):
        raise torch.OutOfMemoryError

    arena, data = silos()
    assert choice.measure(factory, TrainingConfig(), arena, data) == math.inf
    assert choice.measure(factory, TrainingConfig(), arena, []) == 0.0
    assert 0 < choice.measure(LoopExecutor, TrainingConfig(), arena, data) < 10


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"executor": "fast"}, r"^executor\(='fast'\) must be one of auto, graphs, loop, vmap"),
        ({"precision": "fp16"}, r"^precision\(='fp16'\) must be one of bf16, float32"),
        (
            {"executor": "vmap", "model": "bilstm"},
            r"^executor\(=vmap\) must be auto, graphs or loop with model bilstm",
        ),
        (
            {"executor": "vmap", "model": "resnet18", "precision": "bf16"},
            r"^executor\(=vmap\) must be auto, graphs or loop with model resnet18 and precision bf16",
        ),
        ({"executor": "graphs"}, r"^executor\(=graphs\) must be auto, loop or vmap with device cpu\.$"),
    ],
)
def test_settings_that_cannot_be_are_errors(settings, rule):
    with pytest.raises(InputError, match=rule):
        TrainingConfig(**settings)
