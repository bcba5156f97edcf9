from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from training.models import build_model
from training.models.compiled.pooled_convolution_kernels import (
    CUT,
    RUN,
    add_weighted_runs,
    input_gradient,
    pool,
    weight_gradient,
)
from training.models.pooled_convolution import INPUTS, PooledConvolution


def layers(layer: PooledConvolution, images: Tensor) -> Tensor:
    """The same by PyTorch's functions."""
    scores = nn.functional.conv2d(images, layer.weight, layer.bias)
    return torch.relu(nn.functional.max_pool2d(scores, 2))


def both(layer: PooledConvolution, images: Tensor, outer: Tensor) -> list[tuple[Tensor, Tensor]]:
    """The output, and the gradients of input, weights and biases, by kernels and by PyTorch's functions."""
    found = []
    for compute in (layer, partial(layers, layer)):
        leaf = images.clone(memory_format=torch.preserve_format).requires_grad_()
        output = compute(leaf)
        found.append([output, *torch.autograd.grad(output, [leaf, layer.weight, layer.bias], outer)])
    assert found[0][0].grad_fn.name() == "_CompiledBackward"
    return list(zip(*found, strict=True))


@settings(max_examples=30)
@given(
    n=st.integers(0, 3),
    channels=st.integers(1, 5),
    height=st.integers(4, 13),
    width=st.integers(4, 13),
    last=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_same_gradients_as_the_layers(
    n: int, channels: int, height: int, width: int, last: bool, seed: int
) -> None:
    """Odd sizes and batches of none included: whole numbers, so that a term too many changes a sum by one at least.

    PyTorch's convolution need not be exact even for them: that depends on the processor.
    """
    rng = np.random.default_rng(seed)

    def whole(*shape: int) -> Tensor:
        return torch.from_numpy(rng.integers(-3, 4, size=shape).astype(np.float32))

    layer = PooledConvolution(channels)
    with torch.no_grad():
        layer.weight.copy_(whole(*layer.weight.shape))
        layer.bias.copy_(whole(channels))
    images = whole(n, INPUTS, height, width)
    if last:
        images = images.contiguous(memory_format=torch.channels_last)
    outer = whole(n, channels, (height - 2) // 2, (width - 2) // 2)
    for ours, theirs in both(layer, images, outer):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0.01)


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (0, 1), (0, 4), (1, 5), (1, 8), (0, 9), (3, 9)])
def test_runs_are_added_from_the_first_to_the_one_before_the_end(begin: int, end: int) -> None:
    rng = np.random.default_rng(begin)
    source = rng.integers(-9, 9, 300).astype(np.float32)
    offsets, weights = rng.integers(0, 190, 12).astype(np.int32), rng.integers(1, 9, 12).astype(np.float32)
    total = np.full(RUN, 100, np.float32)
    add_weighted_runs(total, source, 7, offsets, weights, begin, end)
    runs = [weights[i] * source[7 + offsets[i] :][:RUN] for i in range(begin, end)]
    assert (total == sum(runs, np.full(RUN, 100, np.float32))).all()


def test_kernels_add_what_plain_loops_add() -> None:
    """Two images of 5 pooled rows, more than a strip, with every code; sums begin at what is there."""
    rng = np.random.default_rng(0)
    images, rows, columns, channels = 2, 5, 2, 3
    height, width = 2 * rows + 3, 2 * columns + 2
    gradient = rng.integers(1, 5, (images, rows, columns, channels)).astype(np.float32)
    codes = rng.integers(0, CUT + 1, gradient.shape).astype(np.uint8)
    inputs = rng.integers(-3, 4, (images, height, width, INPUTS)).astype(np.float32)
    kernel = rng.integers(-3, 4, (channels, 3, 3, INPUTS)).astype(np.float32)
    weights, biases = np.ones_like(kernel), np.full(channels, 2, np.float32)
    at_inputs = np.full_like(inputs, 3)
    offsets, terms = (np.zeros(4 * columns * channels, kind) for kind in (np.int32, np.float32))
    weight_gradient(gradient, codes, inputs, weights, biases, offsets, terms)
    rows_first, ends = kernel.transpose(1, 0, 2, 3).copy(), np.zeros(4 * columns, np.int64)
    input_gradient(gradient, codes, rows_first, at_inputs, offsets, terms, ends)
    expected = np.ones_like(kernel), np.full(channels, 2, np.float32), np.full_like(inputs, 3)
    for n, i, j, c in np.argwhere(codes < CUT):
        term, (down, right) = gradient[n, i, j, c], divmod(int(codes[n, i, j, c]), 2)
        square = np.s_[n, 2 * i + down :, 2 * j + right :]
        expected[0][c] += term * inputs[square][:3, :3]
        expected[1][c] += term
        expected[2][square][:3, :3] += term * kernel[c]
    for found, plain in zip((weights, biases, at_inputs), expected, strict=True):
        assert (found == plain).all()


def test_the_maximum_of_every_square_and_its_place() -> None:
    scores = np.array([[1, 2, 0, -1, 9], [3, 4, -2, 0, 9], [-3, -1, 5, 1, 9], [-2, -4, 2, 5, 9], [9] * 5])
    pooled, codes = np.zeros((1, 2, 2, 1), np.float32), np.zeros((1, 2, 2, 1), np.uint8)
    pool(scores.astype(np.float32)[None, :, :, None], pooled, codes)
    assert pooled.ravel().tolist() == [4, 0, 0, 5]
    assert codes.ravel().tolist() == [3, CUT, CUT, 0]


def test_real_numbers_agree_to_rounding() -> None:
    torch.manual_seed(0)
    layer = PooledConvolution(64)
    for ours, theirs in both(layer, torch.randn(16, INPUTS, 26, 26), torch.randn(16, 64, 12, 12)):
        assert (ours - theirs).abs().max() <= 3e-6 * theirs.abs().max()


def test_of_equal_numbers_the_first_is_the_maximum() -> None:
    layer = PooledConvolution(2)
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([1.0, 0.0]))  # a maximum of zero passes no gradient through the ReLU
    for ours, theirs in both(layer, torch.rand(1, INPUTS, 6, 6), torch.ones(1, 2, 2, 2)):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)  # sums of four inputs


@pytest.mark.parametrize(("row", "column"), list(product(range(2), repeat=2)))
def test_what_is_not_a_number_goes_on(row: int, column: int) -> None:
    scores, pooled = np.ones((1, 2, 2, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32)
    scores[0, row, column, 0] = np.nan
    codes = np.zeros(pooled.shape, np.uint8)
    pool(scores, pooled, codes)
    assert np.isnan(pooled).all()
    assert codes[0, 0, 0, 0] == 2 * row + column


def test_more_numbers_than_32_bits_count() -> None:
    """Only the last of so many images has a gradient; what is not read of the others takes no memory."""
    images = 2**31 // (4 * 4 * INPUTS) + 10
    try:
        inputs = np.zeros((images, 4, 4, INPUTS), np.float32)
    except MemoryError:
        pytest.skip("the system lends no 8.6 GB of addresses")
    inputs[-1] = 1
    gradient, codes = np.zeros((images, 1, 1, 1), np.float32), np.full((images, 1, 1, 1), CUT, np.uint8)
    gradient[-1], codes[-1] = 2, 3
    weights, biases = np.zeros((1, 3, 3, INPUTS), np.float32), np.zeros(1, np.float32)
    weight_gradient(gradient, codes, inputs, weights, biases, np.zeros(3, np.int32), np.zeros(3, np.float32))
    assert (weights == 2).all()
    assert biases == 2


def test_one_step_is_a_finite_difference() -> None:
    """The directional derivative of the loss, by central differences in double precision, through PyTorch's layers."""
    torch.manual_seed(1)
    layer = PooledConvolution(3)
    images, outer = torch.randn(2, INPUTS, 8, 8), torch.randn(2, 3, 3, 3)
    at_weight = both(layer, images, outer)[2][0]
    direction = torch.randn_like(at_weight)
    exact = nn.Conv2d(INPUTS, 3, 3).double()
    exact.load_state_dict(layer.state_dict())

    def loss(step: float) -> float:
        weight = exact.weight.detach() + step * direction.double()
        scores = nn.functional.conv2d(images.double(), weight, exact.bias.detach())
        return float((torch.relu(nn.functional.max_pool2d(scores, 2)) * outer).sum())

    slope = (loss(1e-7) - loss(-1e-7)) / 2e-7
    assert slope == pytest.approx(float((at_weight * direction).sum()), rel=1e-4)


def test_other_precisions_take_the_layers() -> None:
    layer = PooledConvolution(1)
    images = torch.randn(1, INPUTS, 4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(images).dtype == torch.bfloat16
    assert layer.double()(images.double()).dtype == torch.float64


def test_transforms_of_one_parameter_take_the_layers() -> None:
    """The loss is linear in the bias where no maximum is cut."""
    layer, images = PooledConvolution(1), torch.rand(1, INPUTS, 4, 4)

    def loss(bias: Tensor) -> Tensor:
        parameters = {"weight": layer.weight, "bias": bias}
        return torch.func.functional_call(layer, parameters, (images,)).sum()

    assert torch.func.grad(loss)(torch.full((1,), 9.0)) == 1


def test_the_network_is_the_usual_one() -> None:
    """The FEMNIST CNN computes what its layers do one by one, with the same parameters in the same order."""
    model = build_model("femnist_cnn", input_shape=(1, 28, 28), classes=62, seed=3)
    usual = nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(9216, 128),
        nn.ReLU(),
        nn.Linear(128, 62),
    )
    for own, theirs in zip(model.parameters(), usual.parameters(), strict=True):
        theirs.data = own.detach().clone()
    torch.manual_seed(0)
    images, labels = torch.randn(5, 1, 28, 28), torch.randint(62, (5,))
    found, expected = (
        torch.autograd.grad(nn.functional.cross_entropy(net(images), labels), list(net.parameters()))
        for net in (model, usual)
    )
    for own, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(own, theirs, rtol=1e-4, atol=1e-6)
