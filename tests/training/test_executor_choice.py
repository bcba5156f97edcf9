import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError, MachineError
from training import MixingPlan, TrainingConfig
from training.data.batches import BatchStream
from training.data.shards import Shard
from training.engine.communicator import SingleRank
from training.engine.executors import choice
from training.engine.executors.loop import LoopExecutor
from training.engine.executors.vectorized import VectorizedExecutor
from training.engine.parameter_buffer import ParameterBuffer


def silos():
    """Two silos of a model with running statistics, which have learnt from one batch."""
    model = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Linear(3, 4))
    models = ParameterBuffer(
        model, silos=2, before=0, after=0, device=torch.device("cpu"), kept=0, exchange_buffers=False
    )
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
    LoopExecutor(models, shards, "float32").gradients(0)
    return models, shards


class Ranks(SingleRank):
    """Other ranks took longer: their times are added."""

    def __init__(self, others):
        self.others = np.array(others)

    def sum(self, values):
        return values + (self.others if len(values) == 3 else np.array([self.others[0], 1.0]))


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


def choose(config, communicator, *, steps=1_000_000):
    models, data = silos()
    before = [
        value.clone()
        for value in (
            models.parameters,
            *(buffer for module in models.modules for buffer in module.buffers()),
        )
    ]
    chosen = choice.choose(config, models, data, parameters=144, steps=steps, communicator=communicator)
    after = (models.parameters, *(buffer for module in models.modules for buffer in module.buffers()))
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


class Several(SingleRank):
    """One rank of several: what they measured together, as a multiple of what this one did, and how many did."""

    def __init__(self, times, measured):
        self.size, self.times, self.measured = 7, times, measured

    def sum(self, values):
        return np.array([self.times * values[0], self.measured]) if len(values) == 2 else self.times * values


@pytest.mark.parametrize(
    ("communicator", "steps", "tried"),
    [
        (SingleRank(), 20, True),
        (SingleRank(), 19, False),
        # Another rank takes three times as long, and five have no silos.
        (Several(4.0, 2.0), 10, True),
        (Several(4.0, 2.0), 9, False),
    ],
)
def test_only_a_training_of_five_seconds_by_the_loop_tries_others(communicator, steps, tried, monkeypatch):
    def measure(factory, _config, models, shards):
        return {LoopExecutor: 0.25, VectorizedExecutor: 0.125}[type(factory(models, shards, "float32"))]

    monkeypatch.setattr(choice, "measure", measure)
    if not tried:
        monkeypatch.setitem(choice.FACTORIES, "vmap", None)

    executor, notice = choose(TrainingConfig(model="cnn"), communicator, steps=steps)

    assert isinstance(executor, VectorizedExecutor if tried else LoopExecutor)
    lasting = {19: "4.8", 9: "4.5"}.get(steps)
    rest = (
        f"all local steps take about {lasting} s, too little to try others"
        if lasting
        else "a step of all silos"
    )
    assert notice.startswith(f"executor {executor.name}: {rest}")


def test_ranks_without_silos_or_without_a_choice_measure_nothing():
    asked = []

    class Recorded(SingleRank):
        def sum(self, values):
            asked.append(values.tolist())
            return values

    models, data = silos()
    for model, shards in (("cnn", data), ("cnn", []), ("bilstm", data)):
        choice.choose(
            TrainingConfig(model=model), models, shards, parameters=144, steps=1, communicator=Recorded()
        )
    assert [measured for _, measured in asked[::2]] == [1, 0, 0]
    assert [seconds > 0 for seconds, _ in asked[::2]] == [True, False, False]


@pytest.fixture
def steps_of(make_rank_silos, monkeypatch):
    """Return a function: the local steps of a job, as the choice of its executor gets them."""
    asked = []

    def choose(*_models, steps, **_settings):
        asked.append(steps)
        return None, ""

    def steps(job):
        make_rank_silos(job)
        return asked.pop()

    monkeypatch.setattr("training.engine.rank_silos.choose", choose)
    return steps


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({"local_steps": 3}, 7 * 3),
        ({"local_steps": np.array([1, 5, 2, 1])}, 7 * 5),
        # The silo with five local steps makes them in one round of three.
        (
            {
                "local_steps": np.array([1, 5, 2, 1]),
                "taking_part": np.array([[True, k % 3 == 0, True, True] for k in range(7)]),
            },
            3 * 5,
        ),
    ],
)
def test_a_training_lasts_for_the_steps_of_the_silo_with_the_most(make_job, steps_of, changes, steps):
    assert steps_of(replace(make_job(silos=4, rounds=7), **changes)) == steps


def test_rounds_in_which_no_silo_computes_have_no_steps(make_job, steps_of):
    job = make_job(silos=4, rounds=7)
    # Every third round computes: 0, 3 and 6.
    mixing = MixingPlan(
        matrices=np.repeat(job.mixing.matrices[:1], 2, axis=0),
        index=np.array([0, 1, 1, 0, 1, 1, 0]),
        computes=np.array([True, False]),
    )
    assert steps_of(replace(job, mixing=mixing, local_steps=2)) == 3 * 2


def test_times_in_the_notice_are_milliseconds_of_three_digits():
    notice = choice._notice("loop", np.array([0.00999, 1.5, math.inf]), {})
    assert notice == "executor loop: a step of all silos took loop 9.99 ms, vmap 1.5e+03 ms (sums over ranks)"


def test_the_executor_that_was_tried_is_the_one_that_is_taken(monkeypatch):
    made = []

    class Counted(VectorizedExecutor):
        def __init__(self, *settings):
            super().__init__(*settings)
            made.append(self)

    monkeypatch.setitem(choice.FACTORIES, "vmap", Counted)
    executor, _notice = choose(TrainingConfig(model="cnn"), Ranks([1e4, 10.0, math.inf]))
    assert made == [executor]


def test_an_executor_that_was_named_is_taken_without_a_notice():
    config = TrainingConfig(model="cnn", executor="vmap")
    executor, notice = choose(config, SingleRank())
    assert isinstance(executor, VectorizedExecutor)
    assert notice == ""


def test_a_measurement_is_of_seconds_and_nothing_without_silos():
    models, data = silos()
    assert 0 < choice.measure(LoopExecutor, TrainingConfig(), models, data) < 10
    assert choice.measure(LoopExecutor, TrainingConfig(), models, []) == 0.0


def capture_that_fails(_models, _data, _precision):
    """A capture, whose end reports no more than that there was an error."""
    try:
        raise torch.AcceleratorError("CUDA error: operation not permitted\nCompile with `TORCH_USE_CUDA_DSA`")
    finally:
        raise torch.AcceleratorError("CUDA error: operation failed due to a previous error during capture")


def no_memory(_models, _data, _precision):
    raise torch.OutOfMemoryError


def failing(message):
    def fails(_models, _data, _precision):
        raise RuntimeError(message)

    return fails


class FailsLate(VectorizedExecutor):
    """Writes what it should not, and fails."""

    def gradients(self, step):
        self._models.modules[0][1].running_mean.add_(1)
        super().gradients(step)
        raise NotImplementedError("no batching rule")


@pytest.mark.parametrize(
    ("factory", "cause"),
    [
        (capture_that_fails, "CUDA error: operation not permitted"),
        (no_memory, "OutOfMemoryError"),
        (failing("vmap: " + "word " * 99), "vmap: " + "word " * 30 + "..."),
        # A notice has room for 160 characters.
        (failing("word " * 31 + "words"), "word " * 31 + "words"),
        (failing("word " * 31 + "wordss"), "word " * 31 + "..."),
        (FailsLate, "no batching rule"),
    ],
)
def test_an_executor_that_fails_is_left_out_and_the_cause_said_in_one_line(factory, cause, monkeypatch):
    monkeypatch.setitem(choice.FACTORIES, "vmap", factory)
    executor, notice = choose(TrainingConfig(model="cnn"), SingleRank())
    assert isinstance(executor, LoopExecutor)
    assert re.fullmatch(
        rf"executor loop: a step of all silos took loop \S+ ms \(sums over ranks\); "
        rf"vmap left out: {re.escape(cause)}",
        notice,
    )


def test_an_executor_that_fails_on_another_rank_is_left_out_on_all():
    executor, notice = choose(TrainingConfig(model="cnn"), Ranks([1e4, math.inf, math.inf]))
    assert isinstance(executor, LoopExecutor)
    assert notice == (
        "executor loop: a step of all silos took loop 1e+07 ms (sums over ranks); "
        "vmap left out: another rank cannot take it"
    )


def test_errors_of_the_loop_and_of_the_data_are_errors(monkeypatch):
    def bad_data(_models, _data, _precision):
        raise InputError("images/7.jpg must be an image.")

    monkeypatch.setitem(choice.FACTORIES, "vmap", bad_data)
    with pytest.raises(InputError, match=r"^images/7\.jpg"):
        choose(TrainingConfig(model="cnn"), SingleRank())
    monkeypatch.setitem(choice.FACTORIES, "loop", no_memory)
    with pytest.raises(torch.OutOfMemoryError):
        choose(TrainingConfig(model="cnn"), SingleRank())


def test_a_rank_without_a_choice_takes_part_in_that_of_the_others():
    # Elsewhere there is a GPU, where graphs are faster; here there is none.
    asked = []

    class Others(SingleRank):
        def sum(self, values):
            asked.append(values.tolist())
            return values + np.array([9.0, math.inf, 1.0] if len(values) == 3 else [9.0, 1.0])

    executor, notice = choose(TrainingConfig(model="bilstm"), Others())
    assert asked == [[0.0, 0.0], [0.0, math.inf, math.inf]]
    assert isinstance(executor, LoopExecutor)
    assert notice == "executor loop: the only one for model bilstm of 144 parameters here"


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


@pytest.mark.parametrize(("parameters", "taken"), [(1 << 18, ("loop", "vmap")), ((1 << 18) + 1, ("loop",))])
def test_the_largest_model_that_is_tried_at_once(parameters, taken):
    assert choice.candidates(TrainingConfig(model="cnn"), parameters=parameters, gpu=False) == taken


def test_a_measurement_is_the_fastest_of_three_steps_after_one_that_does_not_count(monkeypatch):
    models, data = silos()
    for lasting in ((1, 9, 5, 7), (1, 5, 7, 9), (1, 7, 9, 5)):
        # A step begins at one of these dates and ends at the next one.
        dates = iter(
            [date for step, each in enumerate(lasting) for date in (10.0 * step, 10.0 * step + each)]
        )
        monkeypatch.setattr(choice.time, "perf_counter", partial(next, dates))

        assert choice.measure(LoopExecutor, TrainingConfig(), models, data) == 5
        assert next(dates, None) is None
