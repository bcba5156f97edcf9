"""Which device a rank computes on; torch is told how many GPUs it sees."""

import pytest
import torch

from topologies.errors import MachineError
from training.device import resolve_device
from training.launch import local_rank


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
