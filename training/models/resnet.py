"""Residual networks with the parameter names of torchvision."""

from collections.abc import Mapping

from torch import Tensor, nn

STAGES: Mapping[int, tuple[tuple[int, ...], bool]] = {
    18: ((2, 2, 2, 2), False),
    50: ((3, 4, 6, 3), True),
}
"""Blocks per stage, and whether they are bottlenecks, by the number of layers."""


class Block(nn.Module):
    """Convolutions with batch norm beside a shortcut.

    Parameters
    ----------
    channels : int
        Channels of the input.
    widths : tuple of int
        Channels after each convolution.
    kernels : tuple of int
        Size of each convolution's kernel.
    strided : int
        Which convolution carries the stride.
    stride : int
        Height and width are divided by it.
    """

    def __init__(
        self, channels: int, widths: tuple[int, ...], kernels: tuple[int, ...], *, strided: int, stride: int
    ) -> None:
        super().__init__()
        self._depth = len(widths)
        inputs = (channels, *widths)
        for index, kernel in enumerate(kernels):
            step = stride if index == strided else 1
            self.add_module(f"conv{index + 1}", convolution(inputs[index], widths[index], kernel, step))
            self.add_module(f"bn{index + 1}", nn.BatchNorm2d(widths[index]))
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels != widths[-1]:
            self.downsample = nn.Sequential(
                convolution(channels, widths[-1], 1, stride), nn.BatchNorm2d(widths[-1])
            )

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the block's output, shape (n, widths[-1], height / stride, width / stride)."""
        shortcut = inputs if self.downsample is None else self.downsample(inputs)
        values = inputs
        for index in range(1, self._depth + 1):
            values = self.get_submodule(f"bn{index}")(self.get_submodule(f"conv{index}")(values))
            if index < self._depth:
                values = self.relu(values)
        output: Tensor = self.relu(values + shortcut)
        return output


class ResNet(nn.Module):
    """A residual network.

    Parameters
    ----------
    channels : int
        Channels of an image.
    blocks : tuple of int
        Blocks per stage.
    bottleneck : bool
        Blocks of three convolutions that end four times as wide, or of two convolutions.
    """

    def __init__(self, channels: int, blocks: tuple[int, ...], *, bottleneck: bool, classes: int) -> None:
        super().__init__()
        self.conv1 = convolution(channels, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        width = 64
        for stage, count in enumerate(blocks):
            base = 64 * 2**stage
            widths = (base, base, 4 * base) if bottleneck else (base, base)
            layer = nn.Sequential()
            for index in range(count):
                layer.append(
                    Block(
                        width,
                        widths,
                        (1, 3, 1) if bottleneck else (3, 3),
                        strided=1 if bottleneck else 0,
                        stride=2 if stage and not index else 1,
                    )
                )
                width = widths[-1]
            self.add_module(f"layer{stage + 1}", layer)
        self._stages = tuple(f"layer{stage + 1}" for stage in range(len(blocks)))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(width, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Return scores, shape (n, classes), of images, shape (n, channels, height, width)."""
        values = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        for stage in self._stages:
            values = self.get_submodule(stage)(values)
        scores: Tensor = self.fc(self.avgpool(values).flatten(1))
        return scores


def convolution(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
    """Return a convolution without bias that keeps height and width at stride 1."""
    return nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)


def resnet(input_shape: tuple[int, ...], classes: int, *, layers: int) -> nn.Module:
    """Return a residual network.

    Parameters
    ----------
    input_shape : tuple of int
        (channels, height, width); the network reads any height and width.
    layers : int
        One of `STAGES`: 18 (11,217,552 parameters for 80 classes, and 9,600 floats of running statistics) or 50
        (40,190,990 for 8,142 classes, and 53,120).

    Returns
    -------
    torch.nn.Module
        With three channels its state dict has torchvision's keys, order and shapes, so that torchvision's files load.

    Notes
    -----
    The stride of a block with three convolutions sits on its 3 x 3 convolution, as in torchvision and unlike the
    article. Initial values as torchvision's: convolutions normal with standard deviation ``sqrt(2 / fan_out)``, batch
    norm one and zero (in the last one of a block too), the output layer torch's own.

    References
    ----------
    K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016.
    """
    blocks, bottleneck = STAGES[layers]
    return ResNet(input_shape[0], blocks, bottleneck=bottleneck, classes=classes)
