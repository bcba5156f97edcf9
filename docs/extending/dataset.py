"""A data set reader: a CSV file with a header, numbers, and a column of whole-number labels."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from topologies import InputError
from training import Dataset, held_out


@dataclass(frozen=True, kw_only=True)
class CsvDataset:
    """The fields are options, which a scenario gives in `dataset_options`."""

    label: str = field(metadata={"help": "name of the column of labels"})
    delimiter: str = ","

    def load(self, options):
        """Return the data; every fifth sample of each class is held out."""
        x, y = self._columns(options)
        test = held_out(y)
        train = {"train_inputs": x[~test], "train_labels": y[~test]}
        return Dataset(**train, test_inputs=x[test], test_labels=y[test], classes=int(y.max()) + 1)

    def sample_shape(self, options):
        """Return the shape of one sample: a sequence of one vector."""
        return self._columns(options)[0].shape[1:]

    def count_classes(self, options):
        """Return the number of classes; labels are 0, 1, ..."""
        return int(self._columns(options)[1].max()) + 1

    def _columns(self, options):
        if not Path(options.data).is_file():
            raise InputError(f"data(={options.data!r}) must be a CSV file.")
        table = np.genfromtxt(options.data, delimiter=self.delimiter, names=True)
        inputs = [table[name] for name in table.dtype.names if name != self.label]
        return np.stack(inputs, axis=1).astype(np.float32)[:, np.newaxis], table[self.label].astype(int)
