"""Which rounds around some rounds have messages that are under way in them, on dates worked out by hand."""

import math

import numpy as np
import pytest

from scenarios.runfile import round_window
from scenarios.runfile.round_window import RoundWindow
from simulator import Messages

SIMULATED = 40


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Rounds are read four at once, so that the search goes on in further blocks."""
    monkeypatch.setattr(round_window, "_STEP", 4)


def messages(first, stop):
    """One arc, whose message of round `k` arrives at ``k + 0.25``."""
    dates = np.arange(first, stop, dtype=float)[:, None]
    return Messages(
        start_s=dates,
        last_bit_s=dates,
        arrival_s=dates + 0.25,
        bound_link=np.zeros(dates.shape, dtype=np.int32),
    )


def cut(
    rounds, late, *, absences=(), arrivals=messages, rows=SIMULATED + 1, unknown="", longest_lag=1, **settings
):
    """The window of two silos, which start round `k` at ``k`` and ``k + late``."""
    start_s = np.arange(rows, dtype=float)[:, None] + np.array([0.0, late])
    if unknown:
        start_s[-1, 0 if unknown == "of one silo" else slice(None)] = np.nan
    return RoundWindow.cut(
        rounds,
        SIMULATED,
        lambda first, stop: start_s[first:stop],
        arrivals,
        absences,
        longest_lag=longest_lag,
        **settings,
    )


def ends(window):
    return window.first_round, window.first_round + len(window.messages.arrival_s)


@pytest.mark.parametrize("earliest", [0, 9])
@pytest.mark.parametrize("longest_lag", [1, 2, 3])
@pytest.mark.parametrize("late", [0, 0.5, 1, 3.5, 4, 4.5, 5, 7.5, 8, 9, 11.5, 12, 13])
def test_rounds_matter_from_the_first_that_may_be_under_way_to_the_last(late, longest_lag, earliest):
    window = cut(range(20, 23), late, longest_lag=longest_lag, earliest=earliest)

    # Round 20 starts at 20 and ends at 23 + late. All silos have started round k at k + late, so that the last such
    # round until 20 is the first whose messages may still come; the first silo starts round k at k.
    assert (window.begin_s, window.end_s) == (20, 23 + late)
    first, last = max(earliest, math.floor(20 - late)), min(SIMULATED, math.ceil(23 + late) + longest_lag - 1)
    assert ends(window) == (first, last)
    assert window.round_start_s[:, 0].tolist() == list(range(first, last + 1))
    assert window.starts_s[:, 0].tolist() == [20, 21, 22, 23]
    assert window.arrival_s[:, 0].tolist() == [20.25, 21.25, 22.25]


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (range(SIMULATED), (0, 40)),
        (range(1), (0, 4)),
        (range(2, 3), (0, 6)),
        (range(39, 40), (36, 40)),
        (range(36, 37), (33, 40)),
        (range(35, 36), (32, 39)),
    ],
)
def test_no_round_before_the_first_or_after_the_last_is_looked_for(rounds, expected):
    window = cut(rounds, 2.5)

    assert ends(window) == expected
    assert len(window.round_start_s) == expected[1] - expected[0] + 1
    assert not np.isnan(window.round_start_s).any()


@pytest.mark.parametrize("unknown", ["", "of one silo", "of all"])
def test_where_a_simulation_was_cut_short_its_last_round_ends_with_what_is_known(unknown):
    rows = SIMULATED + bool(unknown)

    def late(first, stop):
        found = messages(first, stop)
        found.arrival_s[-1, 0] = np.nan if first == 38 else 41.5
        return found

    # The last message of round 39 arrives after both silos have started it, or before the second one has.
    for arrivals, late_s, end_s in ((late, 1.0, 41.5), (messages, 1.0, 40.0), (messages, 0.125, 39.25)):
        window = cut(range(38, 40), late_s, arrivals=arrivals, rows=rows, unknown=unknown)
        assert window.end_s == end_s
        assert np.isnan(window.round_start_s[-1]).tolist() == [True, unknown != "of one silo"]
        assert not np.isnan(window.round_start_s[:-1]).any()
        assert ends(window) == (37, 40)
    # The round before the last has an end.
    assert cut(range(38, 39), 1.0, arrivals=late, rows=rows, unknown=unknown).end_s == 40.0


def test_rounds_that_a_silo_misses_neither_begin_nor_end():
    # The second silo starts first; away in rounds 20 and 21, it is back in round 22.
    window = cut(range(20, 23), -0.5, absences=[(1, 20, 22)])
    assert (window.begin_s, window.end_s) == (20.0, 23.0)
    assert cut(range(22, 24), -0.5, absences=[(1, 20, 22)]).begin_s == 21.5
    # The second silo is late; it misses the last round, or the ones after it.
    assert cut(range(20, 23), 2.5, absences=[(1, 22, 30)]).end_s == 23.0
    assert cut(range(20, 23), 2.5, absences=[(1, 23, 30)]).end_s == 25.5
    # The end is 25.5: the first silo starts round 26 after it, and without it the second one starts round 23 then.
    assert ends(cut(range(20, 23), 2.5))[1] == 26
    assert ends(cut(range(20, 23), 2.5, absences=[(0, 23, 24)]))[1] == 23


def test_rounds_that_take_no_time_are_those_alone():
    window = RoundWindow.cut(
        range(20, 23),
        SIMULATED,
        lambda first, stop: np.zeros((SIMULATED + 1, 2))[first:stop],
        messages,
        [],
        longest_lag=1,
    )

    assert (window.begin_s, window.end_s, ends(window)) == (0.0, 0.0, (20, 23))
