"""Readers that know shape and classes only once they have read all."""

from dataclasses import dataclass, field

from training.data.datasets import DataOptions, Dataset


@dataclass(frozen=True, kw_only=True)
class WholeReader:
    """Base of readers with `read`; it remembers sizes, so that asking for both reads once."""

    _sizes: dict[str, tuple[tuple[int, ...], int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def read(self, options: DataOptions) -> Dataset:
        """Return the data."""
        raise NotImplementedError

    def load(self, options: DataOptions) -> Dataset:
        """Return the data."""
        dataset = self.read(options)
        self._sizes[options.data] = (dataset.sample_shape, dataset.classes)
        return dataset

    def sample_shape(self, options: DataOptions) -> tuple[int, ...]:
        """Return the shape of one sample."""
        return self._sized(options)[0]

    def count_classes(self, options: DataOptions) -> int:
        """Return the number of classes."""
        return self._sized(options)[1]

    def _sized(self, options: DataOptions) -> tuple[tuple[int, ...], int]:
        """Both, of data that are read if they have not been."""
        if options.data not in self._sizes:
            self.load(options)
        return self._sizes[options.data]
