"""What the column of rounds in a metrics table counts."""

import pytest

from scenarios.metrics_import.rounds import unit_of
from topologies import InputError


@pytest.mark.parametrize(
    ("given", "local_steps", "named", "is_surely_step", "unit"),
    [
        (None, None, "round", False, "rounds"),
        (None, 1, "step", False, "steps"),
        (None, 2, "step", False, "may count rounds or local steps"),
        (None, None, "step", False, "may count rounds or local steps"),
        (None, 2, "step", True, "steps"),
        (None, None, "step", True, "counts local steps"),
        (None, 2, "epoch", False, "epochs"),
        (None, None, "epoch", False, "counts epochs"),
        ("rounds", None, "step", False, "rounds"),
        ("steps", 2, "step", False, "steps"),
        ("steps", None, "round", False, "counts local steps"),
        ("epochs", 3, "round", False, "epochs"),
        ("hours", 3, "round", False, "must be one of"),
    ],
)
def test_a_unit_is_clear_or_asked_for(given, local_steps, named, is_surely_step, unit):
    asked = {
        "given": given,
        "local_steps": local_steps,
        "is_step": named == "step",
        "is_epoch": named == "epoch",
        "is_surely_step": is_surely_step,
        "source": "m.csv",
    }
    if unit in ("rounds", "steps", "epochs"):
        assert unit_of("k", **asked) == unit
    else:
        with pytest.raises(InputError, match=unit):
            unit_of("k", **asked)
