"""How a silo spends some rounds, on dates made by hand, and how rounds are read from a file."""

from dataclasses import asdict, replace

import h5py
import numpy as np
import pytest
from hand_timeline import periodic_timeline

from scenarios.runfile.overlay_timeline import SiloTimes
from scenarios.runfile.round_window import check_starts, has_messages, read_window, recorded_starts
from topologies import InputError

NAN = float("nan")


def with_activity(**changes):
    made = periodic_timeline()
    return replace(made, activity=replace(made.activity, **changes))


def test_a_silo_that_never_waits_computes_and_sends():
    found = periodic_timeline().silo_times(0)
    # Its round starts before the dates that are shown. It sends from 1 to 3; the second message leaves meanwhile.
    assert asdict(found) == asdict(
        SiloTimes(
            begin_s=0.5,
            end_s=7.0,
            computing_s=7.0,
            sending_s=2.0,
            receiving_s=0.0,
            waiting_s=0.0,
            away_s=0.0,
            waits_most_for=None,
            waits_most_s=0.0,
            waits_most_lags=(),
            isolated_rounds=1,
        )
    )


def test_a_silo_waits_most_for_the_one_that_it_waits_longest_for_in_all():
    # It waits from 3 to 6 for silo 0, whose model is of lag 2, and from 7 to 10 for silo 2, of lag 3.
    found = periodic_timeline().silo_times(1)
    assert (found.begin_s, found.end_s, found.span_s) == (1.0, 10.0, 9.0)
    assert (found.computing_s, found.waiting_s, found.away_s) == (3.0, 6.0, 0.0)
    assert (found.waits_most_for, found.waits_most_s, found.waits_most_lags) == (0, 3.0, (2,))
    # From 4 to 6 and from 9.5 on; it sends nothing.
    assert (found.sending_s, found.receiving_s) == (0.0, 2.5)
    assert found.isolated_rounds == 0
    late = periodic_timeline().activity.next_start_s.copy()
    late[1, 1] = 10.5
    more = with_activity(next_start_s=late).silo_times(1)
    assert (more.waits_most_for, more.waits_most_s, more.waits_most_lags) == (2, 3.5, (3,))


def test_models_of_several_lags_are_named_once_in_order():
    both = np.array([[-1, 0, 1], [-1, 0, -1]])
    found = replace(with_activity(last_arc=both), lags=np.array([[2, 1, 1, 1], [1, 1, 3, 1]])).silo_times(1)
    assert (found.waits_most_for, found.waits_most_s, found.waits_most_lags) == (0, 6.0, (1, 2))
    same = replace(with_activity(last_arc=both), lags=np.ones((2, 4), dtype=int)).silo_times(1)
    assert same.waits_most_lags == (1,)


def test_a_silo_that_is_away_is_neither_computing_nor_waiting():
    is_away = np.array([[False, False, False], [False, True, False]])
    compute_s = np.array([[4.0, 2.0, 1.0], [3.0, 0.0, 4.0]])
    last_arc = np.array([[-1, 0, 1], [-1, -1, -1]])
    found = with_activity(is_away=is_away, compute_s=compute_s, last_arc=last_arc).silo_times(1)
    # Away from 6 until it is back at 10.
    assert (found.end_s, found.computing_s, found.waiting_s, found.away_s) == (10.0, 2.0, 3.0, 4.0)
    # It does not come back: until the last end.
    next_start_s = np.array([[4.0, 6.0, 5.0], [7.0, 6.0, 9.0]])
    gone = with_activity(is_away=is_away, compute_s=compute_s, last_arc=last_arc, next_start_s=next_start_s)
    found = gone.silo_times(1)
    assert (found.end_s, found.away_s) == (9.0, 3.0)
    assert gone.silo_times(0).away_s == 0.0


def test_titles_name_the_rounds_and_the_states():
    one, two = periodic_timeline(rounds=range(3, 4), period=1), periodic_timeline()
    assert (one.rounds_text, one.title) == ("round 3", "o, round 3")
    assert (two.rounds_text, two.title) == ("rounds 3 to 4", "o (2 states), rounds 3 to 4")
    assert repr(two) == "OverlayTimeline('o', rounds 3 to 4)"
    assert two.link_rates() is None


def test_a_circuit_is_of_arcs_and_of_the_state_before_the_one_that_each_starts():
    made = periodic_timeline()
    assert made.circuit_silos == (0, 1, 2)
    # Round starts of the states 0, 1 and 0 again: what is awaited at their ends is that of the state before.
    assert made.circuit_steps == ((0, 1, 0), (1, 2, 1), (2, 0, 1))
    alone = periodic_timeline(circuit=((1, 0),), period=1)
    assert (alone.circuit_silos, alone.circuit_steps) == ((1,), ((1, 1, 0),))
    assert periodic_timeline(circuit=((1, 0), (1, 1))).circuit_silos == (1,)
    drawn = periodic_timeline(circuit=None)
    assert (drawn.circuit_silos, drawn.circuit_steps) == ((), ())


# Rounds of a file


@pytest.mark.parametrize(
    ("starts_s", "right"),
    [
        ([[0, 0], [1, 0], [1, 1]], True),
        ([[0, 2], [1, 1]], False),
        ([[-1, -1], [0, 0]], False),
        ([[0, -1], [1, 1]], True),
        ([[0, NAN], [1, 1]], False),
        ([[0, np.inf]], False),
        (np.zeros((0, 2)), True),
    ],
)
def test_dates_of_rounds_go_on(starts_s, right):
    if right:
        check_starts(np.array(starts_s, dtype=float), "/x/round_start_s")
        return
    with pytest.raises(
        InputError, match=r"^x/round_start_s must hold dates >= 0 that go on from round to round\.$"
    ):
        check_starts(np.array(starts_s, dtype=float), "/x/round_start_s")


@pytest.fixture
def group():
    """Four rounds of two silos, a second each, and the end of the job; one arc."""
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        made = file.create_group("simulation/o")
        made["round_start_s"] = np.repeat(np.arange(5.0)[:, None], 2, axis=1)
        dates = np.arange(4.0)[:, None]
        made["start_s"], made["last_bit_s"], made["arrival_s"] = dates, dates + 0.25, dates + 0.5
        made["bound_link"] = np.arange(4, dtype=np.int32)[:, None]
        yield made


def test_the_round_after_a_simulation_that_was_cut_short_is_unknown(group):
    assert recorded_starts(group, 4)(2, 5)[:, 0].tolist() == [2.0, 3.0, 4.0]
    cut = recorded_starts(group, 2)
    found = cut(0, 3)
    assert found[:2, 0].tolist() == [0.0, 1.0]
    assert np.isnan(found[2]).all()
    assert cut(0, 2)[:, 0].tolist() == [0.0, 1.0]
    assert np.isnan(cut(2, 4)).all()
    # What is written after it is not looked at, other than what is before.
    group["round_start_s"][3] = -5.0
    assert np.isnan(recorded_starts(group, 3)(1, 4)[2]).all()
    with pytest.raises(InputError, match=r"^simulation/o/round_start_s must hold dates"):
        recorded_starts(group, 4)(1, 5)


def test_a_window_has_the_messages_of_its_rounds(group):
    assert has_messages(group)
    window = read_window(group, range(1, 3), 4)
    assert (window.rounds, window.begin_s, window.end_s) == (range(1, 3), 1.0, 3.0)
    assert window.starts_s[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert window.arrival_s[:, 0].tolist() == [1.5, 2.5]
    first = 1 - window.first_round
    assert window.messages.bound_link[first : first + 2, 0].tolist() == [1, 2]
    assert window.messages.last_bit_s[first : first + 2, 0].tolist() == [1.25, 2.25]
    del group["bound_link"]
    assert not has_messages(group)
