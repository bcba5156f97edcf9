"""Which unfinished files of runs are kept after an error, and what is said of one that cannot be written."""

import errno

import h5py
import pytest

from scenarios.runfile.atomic import _holds_rows, _is_worth_keeping, _reason, reports_full_disk
from topologies import MachineError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.ENOSPC, "words"), "No space left on device"),
        (
            RuntimeError("Can't flush (file write failed: errno = 28, error message = 'x')"),
            "No space left on device",
        ),
        (RuntimeError("the first line\nthe second"), "the first line"),
        (OSError("no number"), "no number"),
    ],
)
def test_why_hdf5_cannot_write(error, reason):
    assert _reason(error) == reason

    def write(_file, *given, **named):
        assert (given, named) == ((1,), {"b": 2})
        raise error

    said = rf"^x\.h5 cannot be written: {reason}$"
    with (
        h5py.File("x.h5", "w", driver="core", backing_store=False) as file,
        pytest.raises(MachineError, match=said),
    ):
        reports_full_disk(write)(file, 1, b=2)


@pytest.mark.parametrize(
    ("training", "simulated", "has_rows", "is_simulated"),
    [
        (None, None, False, False),
        (None, 0, False, False),
        (None, 1, True, True),
        ({}, 1, False, True),
        ({"ring": None}, 1, False, True),
        ({"ring": -1}, 1, False, True),
        ({"ring": 0}, 0, True, False),
        ({"ring": -1, "star": 3}, None, True, False),
    ],
)
def test_a_file_with_rows_is_kept_and_one_with_rounds_after_an_interrupt(
    training, simulated, has_rows, is_simulated
):
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        for name, first in ({} if training is None else training).items():
            group = file.create_group(f"training/{name}")
            if first is not None:
                group["round"] = [first, -1]
        if training == {}:
            file.create_group("training")
        if simulated is not None:
            file.create_group("simulation/none")
            file.create_group("simulation/ring").attrs["rounds"] = simulated
        assert _holds_rows(file) == has_rows
        assert _is_worth_keeping(file, interrupted=False) == has_rows
        assert _is_worth_keeping(file, interrupted=True) == (has_rows or is_simulated)
