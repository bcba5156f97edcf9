"""The memory check before the ranks of a training start: the same plans, and nothing refused that fits."""

import gc
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch

from topologies.errors import MachineError
from training import BUILT_IN_BACKEND, check_data, check_memory
from training.checkpoints.folder import checkpoint_path
from training.data.datasets import Dataset, load_dataset
from training.engine.data_checks import without_samples
from training.engine.initial_model import initial_model
from training.memory.memory_budget import check_rank_memory
from training.memory.memory_plan import plan_memory
from training.mpi.backend import MpiBackend


@pytest.fixture
def available(monkeypatch):
    """Set the available memory, for the check before the ranks start and for theirs."""

    def set_to(number):
        monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: number)

    return set_to


@pytest.fixture
def plans(monkeypatch):
    """Record every memory plan that is made."""
    made = []

    def noted(*arguments, **options):
        made.append(plan_memory(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("training.memory.memory_plan.plan_memory", noted)

    def take():
        taken = made.copy()
        made.clear()
        return taken

    return take


def need_of(plans):
    """What ranks take: their plans and, if there are several, their own copies of the digits."""
    digits = load_dataset("digits")
    arrays = (digits.train_inputs, digits.train_labels, digits.test_inputs, digits.test_labels)
    copies = len(plans) if len(plans) > 1 else 0
    return sum(plan.new for plan in plans) + copies * sum(array.nbytes for array in arrays)


def checked_of(job):
    return check_data(job.config, silos=job.silos, seed=job.seed)


def check(*jobs):
    check_memory(jobs, checked_of(jobs[0]))


class OneOf:
    """One of several ranks; the others add nothing."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def sum(self, values):
        return values


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "settings", [{"model": "cnn", "executor": "auto"}, {"model": "femnist_cnn"}, {"optimizer": "adam"}]
)
def test_the_plans_are_those_that_the_ranks_make_themselves(make_job, plans, ranks, settings):
    job = make_job(silos=5, ranks=ranks, **settings)
    check(job)
    before = plans()
    for rank in range(ranks):
        dataset = load_dataset(job.config.dataset)
        model = initial_model(job.config, dataset, seed=job.seed)
        check_rank_memory(job, model, dataset, communicator=OneOf(rank, ranks), device=torch.device("cpu"))
    made = plans()

    assert before == made
    assert [plan.new for plan in before] == [plan.new for plan in made]
    assert sum(plan.silos for plan in before) == 5
    assert min(plan.new for plan in before) > 30e6


def test_more_ranks_than_silos_are_not_planned(make_job, plans):
    check(make_job(silos=2, ranks=5))

    assert [plan.silos for plan in plans()] == [1, 1]


# Of a sample of the digits softmax keeps 304 bytes, and its layer works on 512, so that a step needs 304 + 3 * 512 of
# each: 1.84 GB per silo for a batch of a million, beside which 0.11 GB of libraries are all that counts.
LARGE = {"batch_size": 10**6, "executor": "vmap"}


def test_the_number_of_silos_per_rank_is_the_largest_that_fits(make_job, available):
    per_silo, fixed = 1.84e9, 0.11e9
    for silos in (1, 2, 3):
        per_rank = (silos + 0.5) * per_silo + fixed
        available(2 * per_rank)
        ranks = -(-11 // silos)
        with pytest.raises(MachineError) as error:
            check(make_job(silos=11, ranks=2, **LARGE))
        said = re.search(r"; (\d+) silos? per rank would fit: (\d+) ranks on (\d+) machine", str(error.value))
        assert said is not None
        assert [int(number) for number in said.groups()] == [silos, ranks, -(-ranks // 2)]
        # With as much memory per rank: so many ranks fit, and one fewer does not.
        available(ranks * per_rank)
        check(make_job(silos=11, ranks=ranks, **LARGE))
        fewer = -(-11 // (silos + 1))
        available(fewer * per_rank)
        with pytest.raises(MachineError):
            check(make_job(silos=11, ranks=fewer, **LARGE))


@pytest.mark.parametrize(("ranks", "who"), [(1, "rank 0"), (2, "2 ranks with 5 silos")])
def test_it_refuses_at_the_last_byte(make_job, available, plans, ranks, who):
    job = make_job(silos=5, ranks=ranks)
    check(job)
    need = need_of(plans())
    available(need)
    check(job)
    available(need - 1)
    with pytest.raises(MachineError, match=f"^training must fit into memory: {who} on the machine of rank 0"):
        check(job)


def test_the_error_is_that_of_the_training_that_needs_most(make_job, available, plans):
    ring, complete = (
        make_job(silos=11, ranks=2, matrix=matrix) for matrix in (None, np.full((11, 11), 1 / 11))
    )
    check(ring, complete)
    needs = [need_of(pair) for pair in np.array_split(plans(), 2)]
    assert needs[0] < needs[1]
    available(sum(needs) / 2)
    check(ring)
    for jobs in ((complete,), (ring, complete), (complete, ring)):
        with pytest.raises(MachineError, match=f"would take {needs[1] / 1e9:.3f} GB more"):
            check(*jobs)


def test_one_silo_that_does_not_fit(make_job, available):
    available(1e9)

    with pytest.raises(MachineError, match=r"not one silo per rank would fit: take a smaller batch_size\.$"):
        check(make_job(silos=1, ranks=2, **LARGE))


@pytest.mark.parametrize(
    "launcher", [("PMI_RANK", "PMI_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")]
)
def test_under_a_launcher_nothing_is_refused(make_job, available, monkeypatch, launcher):
    available(0)
    for name, value in zip(launcher, ("0", "2"), strict=True):
        monkeypatch.setenv(name, value)

    check(make_job())


def test_other_backends_and_gpus_are_not_judged(make_job, available, monkeypatch):
    available(0)
    job = make_job()
    check(make_job(backend="numpy_logistic"))
    with monkeypatch.context() as patched:
        patched.setattr("training.engine.device.resolve_device", lambda *_, **__: torch.device("cuda", 0))
        check(make_job(device="cuda"), make_job(device="auto"))
        patched.setattr("training.engine.device.resolve_device", lambda *_, **__: torch.device("cpu"))
        with pytest.raises(MachineError):
            check(make_job(device="auto"))
    check_memory([], checked_of(job))
    with pytest.raises(MachineError):
        check(job)


def test_the_judged_backend_is_the_default_and_the_built_in_one(make_job):
    from training import load_backend

    assert make_job().config.backend == BUILT_IN_BACKEND
    assert isinstance(load_backend(BUILT_IN_BACKEND), MpiBackend)


def test_a_training_that_goes_on_keeps_its_executor(make_job, available, plans, tmp_path):
    # It may have been the loop, which needs less than what is measured when no executor is known.
    loop, auto = (
        replace(make_job(executor=executor, checkpoint_every=1), directory=tmp_path)
        for executor in ("loop", "auto")
    )
    check(loop)
    need = need_of(plans())
    available(need)
    with pytest.raises(MachineError):
        check(auto)
    checkpoint_path(tmp_path, 1).mkdir()
    check(auto)
    available(need - 1)
    with pytest.raises(MachineError):
        check(auto)


def test_what_is_kept_of_the_data_holds_no_samples(make_job, monkeypatch):
    samples = 8000
    # All that is there already is neither counted nor searched for garbage.
    gc.freeze()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        monkeypatch.setattr(
            "training.engine.data_checks.load_dataset",
            lambda *_: Dataset(
                train_inputs=np.ones((samples, 1, 28, 28), np.float32),
                train_labels=np.arange(samples) % 10,
                test_inputs=np.ones((samples, 1, 28, 28), np.float32),
                test_labels=np.arange(samples) % 10,
                classes=10,
                train_groups=np.arange(samples),
            ),
        )
        checked = check_data(make_job(partition="iid").config, silos=4, seed=0)
        gc.collect()
        kept, peak = (number - before for number in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
        gc.unfreeze()

    samples_bytes = 2 * samples * 784 * 4
    assert peak > samples_bytes
    # Each silo's samples by their numbers, and next to nothing else.
    assert kept < sum(part.nbytes for part in checked.parts) + samples_bytes / 100
    inputs, labels = checked.dataset.train_inputs, checked.dataset.train_labels
    assert (inputs.shape, inputs.dtype, inputs.nbytes) == (
        (samples, 1, 28, 28),
        np.float32,
        samples_bytes / 2,
    )
    assert (labels.shape, labels.dtype, labels.nbytes) == ((samples,), np.arange(1).dtype, 8 * samples)
    assert not labels.flags.writeable
    assert checked.dataset.train_groups is None


def test_inputs_that_are_read_by_index_stay():
    class Lazy:
        shape = (3, 1, 8, 8)

        def __len__(self):
            return 3

        def __getitem__(self, index):
            pytest.fail("read")

    lazy, labels = Lazy(), np.arange(3)
    data = Dataset(train_inputs=lazy, train_labels=labels, test_inputs=lazy, test_labels=labels, classes=3)

    assert without_samples(data).train_inputs is lazy
    assert without_samples(data).test_inputs is lazy
    assert labels.tolist() == [0, 1, 2]
