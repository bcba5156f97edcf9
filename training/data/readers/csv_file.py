"""A table of numbers with a column of labels."""

import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from topologies.errors import InputError, quoted, unknown_name
from topologies.networks.csv_table import with_point
from topologies.plain_text import open_utf8
from training.data.arrays import Samples, dataset_of
from training.data.datasets import DataOptions, Dataset
from training.data.readers.files import data_file
from training.data.readers.whole import WholeReader

TRAIN, TEST = "train.csv", "test.csv"


@dataclass(frozen=True, kw_only=True)
class CsvFile(WholeReader):
    """A CSV file with a header: a column of labels, maybe one of groups, and numbers, of which a sample is a vector.

    Parameters
    ----------
    label : str
        Name of the column of labels: whole numbers or texts.
    groups : str
        Name of the column of groups, such as hospitals; empty without one.
    delimiter : str
        Between values; where it is no comma, numbers may have decimal commas.
    """

    label: str = field(metadata={"help": "name of the column of labels"})
    groups: str = ""
    delimiter: str = ","

    def __post_init__(self) -> None:
        if len(self.delimiter) != 1:
            raise InputError(f"dataset_options.delimiter(={self.delimiter!r}) must be one character.")

    def read(self, options: DataOptions) -> Dataset:
        """Return the data; `training.data.arrays.dataset_of` says in which types."""
        path = data_file("csv_file", options, inside=(TRAIN, TEST))
        if path.is_dir():
            train, columns = self._samples(path / TRAIN)
            test, others = self._samples(path / TEST)
            if columns != others:
                raise InputError(f"must have the columns of {TRAIN}, in its order.", source=str(path / TEST))
            return dataset_of(train, test, source=str(path))
        return dataset_of(self._samples(path)[0], None, source=str(path))

    def _samples(self, path: Path) -> tuple[Samples, list[str]]:
        """The rows of a file, and the names of the columns that are inputs."""
        try:
            with open_utf8(path) as file:
                reader = csv.reader(file, delimiter=self.delimiter)
                header = [name.strip() for name in next(reader, [])]
                lines = [(reader.line_num, row) for row in reader if row]
        except UnicodeDecodeError as error:
            raise InputError(f"must be UTF-8: byte {error.start} is not.", source=str(path)) from None
        except csv.Error as error:
            raise InputError(f"must be CSV: {error}.", source=str(path)) from None
        named = {"label": self.label, **({"groups": self.groups} if self.groups else {})}
        for option, name in named.items():
            if name not in header:
                raise unknown_name(f"dataset_options.{option}", name, header, source=str(path))
            if header.count(name) > 1:
                rule = f"must have one column {name}; its header is {quoted(self.delimiter.join(header))}."
                raise InputError(rule, source=str(path))
        place = {option: header.index(name) for option, name in named.items()}
        inputs = [column for column in range(len(header)) if column not in place.values()]
        if not inputs:
            raise InputError("must have a column of numbers beside the labels.", source=str(path))
        for number, row in lines:
            if len(row) != len(header):
                raise InputError(
                    f"line {number} must have {len(header)} values, as the header, not {len(row)}.",
                    source=str(path),
                )
        values = np.array(
            [
                [_number(with_point(row[c], self.delimiter), header[c], n, path) for c in inputs]
                for n, row in lines
            ],
            np.float32,
        )
        samples = Samples(
            inputs=[values.reshape(len(lines), len(inputs))],
            labels=_labels([row[place["label"]].strip() for _number_, row in lines]),
            groups=np.array([row[place["groups"]].strip() for _number_, row in lines])
            if self.groups
            else None,
        )
        return samples, [header[column] for column in inputs]


def _number(text: str, column: str, line: int, path: Path) -> float:
    """A value of a column of inputs."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not abs(value) <= float(np.finfo(np.float32).max):
        size = " of 32 bits" if np.isfinite(value) else ""
        raise InputError(f"line {line}: {column}(={text!r}) must be a finite number{size}.", source=str(path))
    return value


def _labels(texts: list[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64 | np.str_]]":
    """Whole numbers where all are and have 64 bits, otherwise the texts."""
    numbers = all(text.isdecimal() and len(text) < 19 for text in texts)
    return np.array([int(text) for text in texts] if numbers else texts)
