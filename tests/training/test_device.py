"""Which device a rank computes on; torch is told how many GPUs it sees."""

import os
from types import SimpleNamespace

import pytest
import torch

from topologies.errors import MachineError
from training.engine.device import reproducible, resolve_device
from training.mpi import worker as rank
from training.mpi.rank_progress import make_board
from training.mpi_environment import LAUNCHER_PREFIXES, local_rank


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("name", ["cuda", "auto"])
def test_ranks_take_the_gpus_of_their_machine_in_turn(name):
    devices = [resolve_device(name, local_rank(rank, {})) for rank in range(5)]
    assert devices == [torch.device("cuda", gpu) for gpu in (0, 1, 0, 1, 0)]


@pytest.mark.usefixtures("two_gpus")
def test_gpus_go_by_the_rank_on_the_machine_and_not_by_the_rank_of_all():
    # The second of two machines: six ranks are dealt out to them in turn, or half to each.
    for ranks in ((1, 3, 5), (3, 4, 5)):
        places = [{"MPI_LOCALRANKID": str(local), "PMI_RANK": str(rank)} for local, rank in enumerate(ranks)]
        gpus = [resolve_device("cuda", local_rank(int(place["PMI_RANK"]), place)).index for place in places]
        assert gpus == [0, 1, 0]


@pytest.mark.usefixtures("two_gpus")
def test_the_processor_is_taken_where_it_is_asked_for():
    assert resolve_device("cpu", 1) == torch.device("cpu")


def test_without_a_gpu_auto_is_the_processor_and_cuda_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto", 3) == torch.device("cpu")
    with pytest.raises(MachineError, match=r"^device\(=cuda\) needs a GPU"):
        resolve_device("cuda", 3)


def settings():
    """What `reproducible` changes."""
    return (
        torch.get_num_threads(),
        torch.get_deterministic_debug_mode(),
        torch.utils.deterministic.fill_uninitialized_memory,
        torch.backends.cudnn.deterministic,
        os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
    )


@pytest.mark.parametrize("stated", [None, ":16:8"])
def test_on_a_gpu_sums_have_one_order_and_the_settings_come_back(stated, monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    if stated:
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", stated)
    before = settings()
    with reproducible(torch.device("cuda", 0)):
        assert settings() == (
            1,
            1,
            False,
            True,
            stated or ":4096:8",
        )  # 1: warn where there is no such operation
    assert settings() == before
    with pytest.raises(KeyError), reproducible(torch.device("cuda", 0)):
        raise KeyError
    assert settings() == before


@pytest.mark.parametrize("device", [None, torch.device("cpu")])
def test_on_the_processor_operations_and_environment_are_left_alone(device, monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    before = settings()
    with reproducible(device):
        assert settings() == (1, *before[1:3], True, None)
    assert settings() == before


def test_convolutions_take_one_algorithm_in_single_precision_whatever_was_set_before():
    def flags():
        cudnn = torch.backends.cudnn
        return cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32

    with torch.backends.cudnn.flags(enabled=False, benchmark=True, deterministic=False, allow_tf32=True):
        with reproducible():
            assert flags() == (True, False, True, False)
        assert flags() == (False, True, False, True)


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(("gpu_aware", "device"), [(True, "cuda"), (True, "cpu"), (False, "cuda")])
def test_an_mpi_for_gpus_finds_the_ranks_own_when_it_starts(gpu_aware, device, monkeypatch, tmp_path):
    class StartedError(Exception):
        pass

    order = []

    def start_mpi(*, started):
        order.append(started)
        raise StartedError

    config = SimpleNamespace(gpu_aware_mpi=gpu_aware, device=device)
    monkeypatch.setenv("PMI_RANK", "3")
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setenv("MPI_LOCALRANKID", "1")
    monkeypatch.setattr(torch.cuda, "set_device", lambda chosen: order.append(chosen))
    monkeypatch.setattr("training.mpi_environment.start_mpi", start_mpi)
    monkeypatch.setattr("training.mpi.job_file.read_job", lambda _path: SimpleNamespace(config=config))
    make_board(tmp_path / rank.PROGRESS, 4)
    with pytest.raises(StartedError):
        rank._train(tmp_path, 4, pipe=-1)
    taken = [torch.device("cuda", 1)] if gpu_aware and device == "cuda" else []
    assert order == [*taken, 4]


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(("environ", "gpu"), [({}, 0), ({"PMI_RANK": "1", "PMI_SIZE": "2"}, 1)])
def test_a_rank_without_an_index_on_its_machine_takes_the_gpu_of_its_rank(
    environ, gpu, monkeypatch, tmp_path
):
    class StartedError(Exception):
        pass

    def start_mpi(**_started):
        raise StartedError

    chosen = []
    for name in [name for name in os.environ if name.startswith(LAUNCHER_PREFIXES)]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(gpu_aware_mpi=True, device="cuda")
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr("training.mpi_environment.start_mpi", start_mpi)
    monkeypatch.setattr("training.mpi.job_file.read_job", lambda _path: SimpleNamespace(config=config))
    make_board(tmp_path / rank.PROGRESS, 4)
    with pytest.raises(StartedError):
        rank._train(tmp_path, 2, pipe=-1)

    assert chosen == [torch.device("cuda", gpu)]
