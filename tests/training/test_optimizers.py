import functools

import pytest
import torch

from training.engine.parameter_buffer import padded
from training.optimization.optimizers import OPTIMIZERS


@pytest.mark.parametrize(
    ("name", "momentum", "reference"),
    [
        ("sgd", 0.0, torch.optim.SGD),
        ("sgd", 0.9, functools.partial(torch.optim.SGD, momentum=0.9)),
        ("adam", 0.0, torch.optim.Adam),
    ],
)
@pytest.mark.parametrize("weight_decay", [0.0, 0.03])
def test_each_row_moves_as_torch_moves_it(name, momentum, weight_decay, reference):
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(3, 40, generator=generator)
    stacked = start.clone()
    optimizer = OPTIMIZERS[name](stacked, momentum, weight_decay)
    rows = [row.clone().requires_grad_() for row in start]
    references = [reference([row], lr=0.05, weight_decay=weight_decay) for row in rows]
    for step in range(30):
        gradients = torch.randn(3, 40, generator=generator) * 10.0 ** (step % 5 - 3)
        gradients[:, 0] = 0
        optimizer.step(stacked, gradients.clone(), 0.05)
        for row, gradient, other in zip(rows, gradients, references, strict=True):
            row.grad = gradient.clone()
            other.step()
    torch.testing.assert_close(stacked, torch.stack([row.detach() for row in rows]), rtol=1e-6, atol=1e-7)
    assert weight_decay or torch.equal(stacked[:, 0], start[:, 0])


def test_weight_decay_of_a_quadratic_by_hand():
    # f(x) = a/2 x^2, gradient a x, so x <- (1 - rate (a + decay)) x; padding, which is 0, stays 0.
    x = torch.tensor([[2.0, -1.0, 0.0]], dtype=torch.float64)
    a = torch.tensor([[1.0, 4.0, 0.0]], dtype=torch.float64)
    optimizer = OPTIMIZERS["sgd"](x, 0.0, 0.5)
    for _ in range(3):
        optimizer.step(x, a * x, 0.1)
    assert x.tolist() == [[pytest.approx(2 * 0.85**3), pytest.approx(-(0.55**3)), 0.0]]


@pytest.mark.parametrize(("name", "momentum"), [("sgd", 0.0), ("sgd", 0.9), ("adam", 0.0)])
@pytest.mark.parametrize("size", [1, 650, 21_546])
def test_a_row_has_the_same_bits_whichever_rows_are_beside_it(name, momentum, size):
    """Vector code takes several numbers at a time and the rest one by one: no row may be in such a rest."""
    generator = torch.Generator().manual_seed(0)
    start, steps = torch.randn(5, padded(size), generator=generator), range(3)
    gradients = [torch.randn(5, padded(size), generator=generator) for _ in steps]

    def moved(silos):
        rows = start[silos].clone()
        optimizer = OPTIMIZERS[name](rows, momentum, 0.01)
        for step in steps:
            optimizer.step(rows, gradients[step][silos].clone(), 0.037)
        return rows

    together = moved(slice(None))
    for silos in (slice(0, 1), slice(1, 4), slice(4, 5)):
        assert torch.equal(moved(silos), together[silos])


@pytest.mark.parametrize(
    ("name", "momentum", "names"),
    [("sgd", 0.0, []), ("sgd", 0.9, ["velocity"]), ("adam", 0.0, ["mean", "square"])],
)
def test_state_and_steps_are_all_that_an_optimizer_remembers(name, momentum, names):
    gradients = torch.arange(12.0).reshape(3, 4)
    whole, parameters = OPTIMIZERS[name](gradients, momentum, 0.01), torch.ones(3, 4)
    for _ in range(3):
        whole.step(parameters, gradients.clone(), 0.1)
    assert list(whole.state) == names
    assert whole.steps.tolist() == [3, 3, 3]
    other, copied = OPTIMIZERS[name](gradients, momentum, 0.01), parameters.clone()
    for kind, rows in whole.state.items():
        other.state[kind].copy_(rows)
    other.steps[:] = 3
    whole.step(parameters, 1 + gradients, 0.1)
    other.step(copied, 1 + gradients, 0.1)
    assert torch.equal(parameters, copied)
