"""The table of a run: its columns, and each sentence below it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_tables_and_plots import overlay, record, with_simulation

from scenarios.report.run_table import run_table

CYCLE_TIMES = ["overlay", "paper", "serialized", "load", "simulated", "over\npaper"]


def heads(table):
    return [column.title for column in table.columns]


def said(table):
    return " ".join(table.notes.split())


def two(**changes):
    """A star and a ring; the ring with these changes."""
    return record(
        overlay("star", 10.0, [0.1, 0.5, 0.9]), replace(overlay("ring", 1.0, [0.1, 0.2, 0.9]), **changes)
    )


def test_columns_of_the_target_are_there_where_there_is_one():
    assert heads(run_table(two(), "", None)) == CYCLE_TIMES
    table = run_table(two(), "caption", 0.5)
    assert heads(table) == [*CYCLE_TIMES, "rounds", "time (s)", "vs STAR"]
    assert table.caption == "caption"
    star, ring = table.rows
    assert [table.columns[place].text(ring) for place in (5, 6, 7, 8)] == ["+100.0%", "2", "2.000", "5.00x"]
    assert (star["busiest_link"], star["engine"], star["trained_rounds"]) == ("", "", None)
    assert (ring["simulated_rounds"], ring["simulation_is_whole"], ring["simulated_half_width_s"]) == (
        1000,
        True,
        0.0,
    )
    assert "rounds, time, vs STAR: to a test accuracy of 0.5." in said(table)
    assert "over paper: how far simulated lies above paper." in said(table)
    assert "to a test accuracy" not in said(run_table(two(), "", None))
    (row,) = run_table(record(overlay("ring", 1.0, [0.1, 0.9])), "", None).rows
    assert (row["rounds_to_target"], row["time_to_target_s"], row["speedup"]) == (None, None, None)


def test_of_two_with_a_hub_the_first_is_the_star():
    first, second = overlay("a", 4.0, [0.1, 0.9]), overlay("b", 1.0, [0.1, 0.9])
    rows = run_table(record(replace(first, hub=0), replace(second, hub=3)), "", 0.5).rows
    assert [row["speedup"] for row in rows] == [1.0, 4.0]


@pytest.mark.parametrize(
    ("reached", "rounds", "trained"),
    [
        ({"star": 2, "ring": 1}, 2, [2, 1]),
        ({"star": 2}, 2, [2, None]),
        ({"star": 2, "ring": 2}, 2, None),
        ({"star": 2, "ring": 1}, None, None),
        ({}, 2, None),
        (None, 2, None),
    ],
)
def test_rounds_that_were_trained_are_shown_where_a_training_was_interrupted(reached, rounds, trained):
    table = run_table(two(), "", 0.5, reached=reached, rounds=rounds)
    is_shown = trained is not None

    assert heads(table) == [*CYCLE_TIMES, *(["trained"] if is_shown else []), "rounds", "time (s)", "vs STAR"]
    assert ("trained: round reached, of 2, where the run was interrupted." in said(table)) is is_shown
    if is_shown:
        assert [row["trained_rounds"] for row in table.rows] == trained


def test_what_checkpoints_say_more_than_the_file_is_said():
    table = run_table(two(history={}), "", None, reached={"star": 2, "ring": 1}, rounds=9)
    assert "trained, from checkpoints beside the file: ring (no rows in the file)." in said(table)
    table = run_table(two(), "", None, reached={"star": 2, "ring": 5}, rounds=9)
    assert "trained, from checkpoints beside the file: ring (rows in the file end at round 2)." in said(table)
    assert "checkpoints" not in said(run_table(two(), "", None, reached={"star": 2, "ring": 1}, rounds=9))
    # Round 0 is the start: without rows nothing was trained.
    assert "checkpoints" not in said(run_table(two(history={}), "", None, reached={"ring": 0}, rounds=9))


@pytest.mark.parametrize(
    ("target", "only"),
    [(None, "only the times differ."), (0.5, "vs STAR compares times of the same rounds.")],
)
def test_one_curve_for_several_overlays_is_said(target, only):
    assert f"one imported curve for all overlays: {only}" in said(
        run_table(two(), "", target, one_curve=True)
    )
    assert "one imported curve" not in said(run_table(two(), "", target))
    alone = record(overlay("ring", 1.0, [0.1, 0.9]))
    assert "one imported curve" not in said(run_table(alone, "", target, one_curve=True))


def test_absences_are_explained_where_any_overlay_has_some():
    away = replace(two().overlays[1].simulation, has_absences=True)
    assert "Silos are away: where that is felt in the rounds that count" in said(
        run_table(two(simulation=away), "", None)
    )
    assert "Silos are away" not in said(run_table(two(), "", None))


def test_intervals_of_several_estimates_are_in_one_sentence():
    ring = with_simulation(half_width_s=0.0015)
    mst = replace(with_simulation(half_width_s=0.25), kind="mst")
    unknown = replace(with_simulation(half_width_s=None), kind="matcha")
    table = run_table(record(ring, mst, unknown), "", None)

    assert "+-: 95 % confidence by batch means: ring 1.000 s +- 1.5 ms; mst 1.000 s +- 250.0 ms." in said(
        table
    )
    assert "matcha 1.000" not in said(table)
    assert "batch means" not in said(run_table(record(unknown), "", None))
    assert "~: estimated" in said(run_table(record(unknown), "", None))


def test_an_interrupted_simulation_without_rounds_has_no_sentence():
    none = with_simulation(rounds=0, is_whole=False, cycle_time_s=None)
    assert "interrupted" not in said(run_table(record(none), "", None))
    assert "~: estimated" not in said(run_table(record(none), "", None))


def test_further_sentences_are_in_the_order_of_what_they_are_of():
    table = run_table(
        two(simulation=replace(two().overlays[1].simulation, engine="compiled", cycle_time_s=9.5)),
        "",
        None,
        events=["First event.", "Second event."],
    )
    lines = table.notes.splitlines()
    assert lines[3:5] == ["First event.", "Second event."]
    assert lines[5].startswith("less than 15 % apart")
    assert lines[-1] == "Engine: compiled."


def test_states_in_which_silos_do_not_compute_are_explained():
    states = (SimpleNamespace(computes=True), SimpleNamespace(computes=False))
    assert "ring: silos compute in 1 of 2 states" in said(run_table(two(states=states), "", None))
    assert "states" not in said(run_table(two(states=states[:1]), "", None))
