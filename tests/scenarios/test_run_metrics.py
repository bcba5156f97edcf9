"""Which metrics figures of a run show, and on which axis of time."""

from dataclasses import replace

import numpy as np
import pytest
from test_tables_and_plots import overlay

from scenarios.report.run_metrics import shown_metrics, time_axis

NONE = np.full(2, np.nan)


def of(*histories):
    """Overlays with these histories beside their rounds."""
    return [
        replace(overlay("ring", 1.0, [0.1, 0.9]), history={"round": np.arange(2.0), **its})
        for its in histories
    ]


LOSS, ACCURACY = ("train_loss", 1.0, "training loss (nats)"), ("test_accuracy", 100.0, "test accuracy (%)")


@pytest.mark.parametrize(
    ("train_loss", "test_loss", "accuracy", "expected"),
    [
        ([2.0, 1.0], NONE, [0.1, 0.9], [LOSS, ACCURACY]),
        ([2.0, 1.0], [3.0, 2.0], [0.1, 0.9], [LOSS, ACCURACY]),
        # One row of one overlay is enough.
        ([np.nan, 1.0], NONE, [np.nan, 0.9], [LOSS, ACCURACY]),
        (NONE, [2.0, 1.0], [0.1, 0.9], [("test_loss", 1.0, "test loss (nats)"), ACCURACY]),
        (NONE, NONE, [0.1, 0.9], [ACCURACY]),
        ([2.0, 1.0], NONE, NONE, [LOSS]),
        (NONE, [2.0, 1.0], NONE, [("test_loss", 1.0, "test loss (nats)")]),
    ],
)
def test_what_no_row_has_is_not_shown(train_loss, test_loss, accuracy, expected):
    its = {"train_loss": train_loss, "test_loss": test_loss, "test_accuracy": accuracy}
    its = {name: np.array(values) for name, values in its.items()}
    nothing = dict.fromkeys(its, NONE)
    assert shown_metrics(of(its), is_imported=False) == expected
    assert shown_metrics(of(nothing, its), is_imported=False) == expected


def test_an_imported_loss_has_no_unit():
    its = {"train_loss": np.ones(2), "test_loss": np.ones(2), "test_accuracy": NONE}
    assert shown_metrics(of(its), is_imported=True) == [("train_loss", 1.0, "training loss")]
    its["train_loss"] = NONE
    assert shown_metrics(of(its), is_imported=True) == [("test_loss", 1.0, "test loss")]


@pytest.mark.parametrize(
    ("times_s", "axis"),
    [
        ([[0.0, 10.0], [0.0, 50.0]], (1.0, "s", False)),
        ([[0.0, 10.0], [0.0, 50.1]], (1.0, "s", True)),
        ([[0.0, 0.5], [0.0, 9.0]], (1.0, "s", True)),
        # A time of 0 has no place on a logarithmic axis.
        ([[0.0, 0.0], [0.0, 50.1]], (1.0, "s", False)),
        # Minutes, unless the least time that is drawn would be a small part of one.
        ([[0.0, 200.0], [0.0, 300.0]], (60.0, "min", False)),
        ([[0.0, 100.0], [0.0, 600.0]], (60.0, "min", True)),
        ([[0.0, 1.0, 100.0], [0.0, 600.0]], (1.0, "s", True)),
    ],
)
def test_the_time_axis_is_logarithmic_where_runs_differ_by_more_than_five_times(times_s, axis):
    overlays = [replace(overlay("ring", 1.0, [0.1]), wall_clock_s=np.array(each)) for each in times_s]
    assert time_axis(overlays) == axis
