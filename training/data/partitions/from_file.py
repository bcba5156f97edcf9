"""Partition from a user's file: the silo of each sample."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from topologies.arrays import IntArray
from topologies.errors import Field, InputError, quoted
from topologies.plain_text import open_utf8
from training.data.partitions.request import SplitRequest, shares_of

ENDING = ".csv"
COLUMNS = ("sample", "silo")


def is_partition_file(name: object) -> bool:
    """Return whether a partition is the path of a file, not the name of a rule."""
    return isinstance(name, str) and name.endswith(ENDING)


def from_file(path: Path, request: SplitRequest, silo_labels: Sequence[str] | None) -> list[IntArray]:
    """Read which silo each training sample belongs to.

    Parameters
    ----------
    path : Path
        A CSV file with columns sample (its number among the training samples, from 0) and silo (its name, or its
        number from 0), one row for each training sample, in any order.
    request : SplitRequest
        How many samples and silos there are.
    silo_labels : sequence of str, optional
        Names of the silos; a name goes before a number.

    Returns
    -------
    list of IntArray
        For each silo the indices of its samples, ascending; disjoint, complete, none empty.

    Raises
    ------
    InputError
        If the file cannot be read, a sample or silo is unknown, a sample is there twice or not at all, or a silo has
        none; the message names the file, and the line where there is one.
    """
    samples, names = len(request.labels), silo_labels or ()
    silo_of = {str(number): number for number in range(request.silos)} | {
        name: number for number, name in enumerate(names)
    }
    owner, line_of = np.full(samples, -1), np.zeros(samples, dtype=np.int64)
    for line, row in _rows(path):
        sample, silo = (row[column].strip() for column in COLUMNS)
        if not sample.isdecimal() or int(sample) >= samples:
            raise _wrong(path, line, f"sample(={quoted(sample)}) must be one of 0 to {samples - 1}.")
        if silo not in silo_of:
            silos = f"a silo, such as {quoted(names[0])}" if names else "the number of a silo"
            raise _wrong(
                path, line, f"silo(={quoted(silo)}) must be {silos}, or one of 0 to {request.silos - 1}."
            )
        if owner[int(sample)] >= 0:
            raise _wrong(
                path, line, f"sample {sample} must be there once: it is on line {line_of[int(sample)]}, too."
            )
        owner[int(sample)], line_of[int(sample)] = silo_of[silo], line
    missing = np.flatnonzero(owner < 0)
    if missing.size:
        raise InputError(
            f"must have all {samples} training samples: {missing.size} are missing, first {missing[0]}.",
            source=str(path),
        )
    shares = shares_of(owner, request.silos)
    empty = next((silo for silo, share in enumerate(shares) if not share.size), None)
    if empty is not None:
        shown = quoted(names[empty]) if names else str(empty)
        raise InputError(f"must give each silo a sample; silo {shown} has none.", source=str(path))
    return shares


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Lines with their numbers."""
    try:
        with open_utf8(path) as file:
            reader = csv.DictReader(file, skipinitialspace=True, restval="", strict=True)
            header = reader.fieldnames or []
            for column in COLUMNS:
                if list(header).count(column) != 1:
                    raise InputError(
                        f"must have one column {column}; its header is {quoted(','.join(header))}.",
                        source=str(path),
                    )
            return [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}.", field=Field("partition", value=str(path))
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"must be UTF-8: byte {error.start} is not.", source=str(path)) from None
    except csv.Error as error:
        raise InputError(f"must be CSV: {error}.", source=str(path)) from None


def _wrong(path: Path, line: int, rule: str) -> InputError:
    """The error of a line."""
    return InputError(f"line {line}: {rule}", source=str(path))
