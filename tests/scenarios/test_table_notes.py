"""Sentences below tables: engines, rules of links, states, and loads that are longer."""

from types import SimpleNamespace

import pytest

from scenarios.report.computing_states import states_note
from scenarios.report.engine_note import engine_note
from scenarios.report.longer_load import longer_load
from scenarios.report.rules_note import rules_notes


@pytest.mark.parametrize(
    ("simulations", "said"),
    [
        ([], []),
        ([("star", ""), ("ring", "")], []),
        ([("star", "compiled"), ("ring", "compiled"), ("mst", "")], ["Engine: compiled."]),
        (
            [
                ("star", "compiled"),
                ("ring", "simpy"),
                ("mst", "compiled"),
                ("star", "compiled"),
                ("best", ""),
            ],
            ["Engine: compiled for star, mst; simpy for ring."],
        ),
    ],
)
def test_engines_are_named_with_what_they_simulated_where_there_are_several(simulations, said):
    assert engine_note(simulations) == said


@pytest.mark.parametrize(
    ("sharing", "change_usage", "count"),
    [("equal", True, 1), ("equal", False, 0), ("maxmin", True, 0), ("maxmin", False, 0)],
)
def test_constant_rates_do_not_know_the_rules_of_links(sharing, change_usage, count):
    notes = rules_notes(SimpleNamespace(rules=SimpleNamespace(change_usage=change_usage)), sharing)
    assert len(notes) == count
    assert all(
        note.startswith("equal: the constant rates of Eq. 3 know no half-duplex links") for note in notes
    )


def test_overlays_whose_silos_compute_in_some_states_are_explained():
    first, second = states_note({"a": [True, False, True], "b": [True, True], "c": [False, True]})
    assert first.startswith("a: silos compute in 2 of 3 states; a round, of which cycle times are, is one of")
    assert first.endswith(
        "Numbers of rounds to simulate and to train, and rounds in run files, count all states."
    )
    assert second.startswith("c: silos compute in 1 of 2 states;")
    assert states_note({"b": [True]}) == []


@pytest.mark.parametrize(
    ("times_s", "loads_s", "said"),
    [
        ((1.0, 1.0), (1 + 0.5e-9, 1.0), ""),
        ((1.0, 1.0), (1 + 2e-9, 1.0), "1.000 s with twice the capacity"),
        ((1.0, 1.0), (2.0, 3.0), "2.000 s with twice the capacity, 3.000 s with no limit"),
        ((1.0, 0.0), (1.0, 0.0), ""),
        ((1.0, 0.0), (1.0, 0.5), "500.0 ms with no limit"),
    ],
)
def test_a_load_is_longer_by_more_than_rounding(times_s, loads_s, said):
    whole = f"But no network is faster than load, which is longer then: {said}." if said else ""
    assert longer_load(times_s, loads_s) == whole
