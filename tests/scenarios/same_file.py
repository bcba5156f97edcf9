"""Comparing the files of two runs."""

from pathlib import Path

import h5py
import numpy as np


def assert_same_file(path: Path, other: Path, *, without: str = "") -> None:
    """Every dataset of the other file, but those of an overlay, is here bit for bit."""
    with h5py.File(path) as file, h5py.File(other) as expected:
        names: list[str] = []
        expected.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        names = [name for name in names if without not in name.split("/")]
        assert len(names) > 30
        for name in names:
            assert np.array_equal(
                file[name][()], expected[name][()], equal_nan=file[name].dtype.kind == "f"
            ), name
