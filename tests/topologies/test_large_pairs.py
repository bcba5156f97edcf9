"""Files of all pairs of as many silos as overlays may have are no larger than their limit; 64 MB, read once each."""

import sys

import numpy as np
import pytest

from topologies import load_underlay
from topologies.errors import InputError
from topologies.input_limits import MOST_FILE_BYTES, MOST_PAIRS_BYTES, MOST_SILOS
from topologies.networks.traffic_files import read_traffic
from topologies.overlay_files import read_matrix, read_overlay

BLANKS = " " * 125_000
"""Within the limit of a cell; what a number is padded with makes no other number of it."""


def square(path, silos, corner=""):
    """A matrix of as many bytes as one of thousands of silos has."""
    names = [f"s{k}" for k in range(silos)]
    with path.open("w") as file:
        file.write(",".join((corner, *names)) + "\n")
        file.writelines(f"{name}{''.join(f',{BLANKS}1' for _ in names)}\n" for name in names)
    assert MOST_FILE_BYTES < path.stat().st_size < MOST_PAIRS_BYTES
    return tuple(names)


def test_the_limit_holds_every_pair_in_full_precision():
    assert (len(repr(-sys.float_info.min)) + 1) * MOST_SILOS**2 <= MOST_PAIRS_BYTES
    assert np.dtype(np.longdouble).itemsize * MOST_SILOS**2 + 1000 <= MOST_PAIRS_BYTES


@pytest.mark.slow
def test_a_matrix_of_weights_as_numpy_has_it(tmp_path):
    silos = 2900
    matrix = np.zeros((silos, silos))
    matrix[1, 2] = 0.5
    np.save(tmp_path / "w.npy", matrix)
    assert (tmp_path / "w.npy").stat().st_size > MOST_FILE_BYTES
    assert np.array_equal(read_matrix(tmp_path / "w.npy", [f"s{k}" for k in range(silos)]), matrix)


@pytest.mark.slow
def test_matrices_as_csv(tmp_path):
    names = square(tmp_path / "bandwidth.csv", 23, "Mbps")
    assert np.array_equal(read_matrix(tmp_path / "bandwidth.csv", names), np.ones((23, 23)))
    assert len(read_traffic(tmp_path / "bandwidth.csv").labels) == 23
    (tmp_path / "latency.csv").write_text((tmp_path / "bandwidth.csv").read_text().replace("Mbps", "ms", 1))
    underlay = load_underlay(tmp_path)
    assert underlay.measured is not None
    assert sorted(underlay.labels) == sorted(names)


@pytest.mark.slow
def test_arcs_as_csv(tmp_path):
    with (tmp_path / "arcs.csv").open("w") as file:
        file.write("from,to\n")
        file.writelines(f"a,b{BLANKS}\n" for _ in range(600))
    with pytest.raises(
        InputError, match="row 3"
    ):  # the arc is stated twice, which only a reader of the file knows
        read_overlay(tmp_path / "arcs.csv", ("a", "b"))
