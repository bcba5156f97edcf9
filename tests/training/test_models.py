import pytest
import torch
from torch import nn

from topologies.errors import InputError
from training import TrainingConfig, parameter_count
from training.communicator import Alone
from training.dpasgd import train_rank
from training.models import build_model


@pytest.mark.parametrize(("model", "parameters"), [("softmax", 650), ("cnn", 21_546)])
def test_parameter_counts(model, parameters):
    assert parameter_count(TrainingConfig(model=model)) == parameters


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 7, 9), (1, 1, 1)])
def test_the_cnn_fits_any_image_size(shape):
    model = build_model("cnn", input_shape=shape, classes=4, seed=0)
    assert model(torch.zeros(2, *shape)).shape == (2, 4)


def test_the_initial_model_depends_on_the_seed_alone_and_leaves_the_global_stream():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=4)
    assert torch.equal(torch.rand(3), expected)
    again = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=4)
    other = build_model("cnn", input_shape=(1, 8, 8), classes=10, seed=5)

    def vector(model: nn.Module) -> torch.Tensor:
        return nn.utils.parameters_to_vector(model.parameters())

    assert torch.equal(vector(first), vector(again))
    assert not torch.equal(vector(first), vector(other))


def test_an_unknown_model_is_an_error():
    with pytest.raises(
        InputError, match=r"model\(='sofmax'\) must be one of cnn, softmax \(did you mean 'softmax'\?\)"
    ):
        build_model("sofmax", input_shape=(1, 8, 8), classes=10, seed=0)


def test_the_cnn_learns_the_digits(make_job):
    job = make_job(
        silos=1, rounds=400, model="cnn", learning_rate=0.1, momentum=0.9, batch_size=64, log_every=400
    )
    last = list(train_rank(job, Alone()))[-1]
    assert last.test_accuracy > 0.95
