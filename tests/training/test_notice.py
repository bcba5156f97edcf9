import pytest

from training import HistoryRow, Notice
from training.notice import from_line, to_line

ROW = HistoryRow(
    round=3,
    train_loss=0.1,
    train_accuracy=0.5,
    test_loss=1 / 3,
    test_accuracy=0.5,
    consensus_distance=1e-300,
    silo_loss=(1.0, 2.0),
    objective=0.5,
    train_top5_accuracy=1.0,
    test_top5_accuracy=1.0,
    silo_accuracy=(0.5, 0.25),
)


@pytest.mark.parametrize(
    "report",
    [ROW, Notice('two\nlines, {braces} and "quotes" \u2026'), Notice(""), Notice("one", "two\nthree")],
)
def test_a_report_survives_the_pipe_as_one_line(report):
    line = to_line(report)
    assert "\n" not in line
    assert from_line(line) == report
