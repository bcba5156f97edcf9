"""What the data sets of a run's file must be, on a file in memory that has all of them."""

from dataclasses import fields

import h5py
import numpy as np
import pytest

from scenarios.runfile.layout import check_layout
from topologies import InputError
from training import HistoryRow
from training.history import PER_SILO

SILOS, LINKS, ARCS, ROUNDS, ROWS = 3, 7, 4, 5, 2
SHAPES = {
    "connectivity/router": (SILOS,),
    "connectivity/up_bps": (SILOS,),
    "connectivity/down_bps": (SILOS,),
    "connectivity/core_bps": (9,),
    "connectivity/latency_s": (SILOS, SILOS),
    "connectivity/available_bps": (SILOS, SILOS),
    "connectivity/window_bps": (SILOS, SILOS),
    "overlays/o/arcs": (ARCS, 3),
    "overlays/o/delay_s": (ARCS,),
    "overlays/o/consensus": (SILOS, SILOS),
    "overlays/o/critical_circuit": (2, 2),
    "overlays/o/states/ends": (6, 2),
    "overlays/o/states/state": (6,),
    "overlays/o/states/lag": (6,),
    "overlays/o/states/weight": (6,),
    "overlays/o/states/delay_s": (6,),
    "overlays/o/rounds/ends": (8, 2),
    "overlays/o/rounds/active": (ROUNDS, 1),
    "overlays/o/rounds/weight": (ROUNDS, 8),
    "overlays/o/rounds/own_weight": (ROUNDS, SILOS),
    "simulation/o/round_start_s": (ROUNDS + 1, SILOS),
    "simulation/o/arrival_s": (ROUNDS, ARCS),
    "simulation/o/link_bits": (LINKS,),
    "simulation/o/link_capacity_bps": (LINKS,),
    "simulation/o/absences": (1, 3),
    "simulation/o/start_s": (ROUNDS, ARCS),
    "simulation/o/last_bit_s": (ROUNDS, ARCS),
    "simulation/o/bound_link": (ROUNDS, ARCS),
    "replay/o/wall_clock_s": (ROWS,),
    **{
        f"training/o/{field.name}": (ROWS, SILOS) if field.name in PER_SILO else (ROWS,)
        for field in fields(HistoryRow)
    },
}
INTEGERS = ("router", "arcs", "circuit", "ends", "state", "lag", "active", "absences", "bound_link", "/round")
ALONE = {
    ("connectivity/core_bps", 0),
    ("overlays/o/critical_circuit", 0),
    ("overlays/o/rounds/active", 1),
    ("simulation/o/absences", 0),
}
"""Lengths that no other data set shares."""


@pytest.fixture
def file():
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as made:
        made.attrs["scenario"], made.attrs["network"], made.attrs["about"] = "", "{}", "a\nb\nc"
        made["connectivity/silo_labels"] = ["A", "B", "C"]
        made["connectivity/link_names"] = ["L"] * LINKS
        made["overlays/o/source"] = made["overlays/o/target"] = ["A"] * ARCS
        for name, shape in SHAPES.items():
            made[name] = np.zeros(shape, dtype=np.int64 if name.endswith(INTEGERS) else np.float64)
        made["training/o/round"][:] = range(ROWS)
        made["simulation/o"].attrs["rounds"] = made["overlays/o/rounds"].attrs["rounds"] = ROUNDS
        yield made


def replaced(file, name, value):
    del file[name]
    file[name] = value


def is_refused(file):
    try:
        check_layout(file)
    except InputError:
        return True
    return False


def test_a_file_with_every_data_set_is_taken(file):
    check_layout(file)


@pytest.mark.parametrize(
    ("name", "axis"), [(name, axis) for name, shape in SHAPES.items() for axis in range(len(shape))]
)
def test_a_length_is_that_of_all_that_share_it(file, name, axis):
    shape = list(SHAPES[name])
    shape[axis] += 1
    replaced(file, name, np.zeros(shape, dtype=file[name].dtype))
    if name == "training/o/round":
        file[name][:] = range(ROWS + 1)

    assert is_refused(file) == ((name, axis) not in ALONE)


@pytest.mark.parametrize("name", ["arcs", "critical_circuit", "states/ends", "rounds/ends"])
def test_numbers_of_silos_are_those_of_silos(file, name):
    data = file[f"overlays/o/{name}"]
    ends = 1 if name == "critical_circuit" else 2
    for column in range(ends):
        for number, refused in ((SILOS - 1, False), (SILOS, True), (-1, True), (0, False)):
            data[-1, column] = number
            assert is_refused(file) == refused
    # Beside them are tokens of arcs and states of events.
    data[:, ends:] = 99
    check_layout(file)
    if name == "critical_circuit":
        replaced(file, f"overlays/o/{name}", np.array([0, SILOS]))
        assert is_refused(file)


@pytest.mark.parametrize(
    ("group", "rounds", "refused"),
    [
        ("simulation/o", ROUNDS, False),
        ("simulation/o", ROUNDS + 1, True),
        ("simulation/o", -1, True),
        ("simulation/o", 1.0, True),
        ("overlays/o/rounds", 1, False),
        ("overlays/o/rounds", 0, True),
        ("overlays/o/rounds", ROUNDS + 1, True),
    ],
)
def test_stated_rounds_are_there(file, group, rounds, refused):
    file[group].attrs["rounds"] = rounds
    assert is_refused(file) == refused


@pytest.mark.parametrize("more", [-1, 1, 2])
def test_there_is_a_date_more_than_rounds(file, more):
    replaced(file, "simulation/o/round_start_s", np.zeros((ROUNDS + more, SILOS)))
    assert is_refused(file) == (more != 1)


@pytest.mark.parametrize(
    ("rounds", "refused"),
    [([0, ROUNDS], False), ([0, ROUNDS + 1], True), ([1, 1], True), ([1, 0], True), ([3, -1], False)],
)
def test_training_rows_ascend_and_are_simulated(file, rounds, refused):
    file["training/o/round"][:] = rounds
    assert is_refused(file) == refused


@pytest.mark.parametrize(
    "name",
    [
        *("simulation/o/round_start_s", "simulation/o/arrival_s", "simulation/o/link_bits"),
        *("simulation/o/start_s", "simulation/o/last_bit_s", "simulation/o/bound_link"),
        *("overlays/o/rounds/ends", "overlays/o/rounds/active"),
        *("overlays/o/rounds/weight", "overlays/o/rounds/own_weight"),
    ],
)
def test_what_others_need_is_there_once_a_round_is(file, name):
    del file[name]
    if name != "simulation/o/round_start_s":
        with pytest.raises(InputError, match=f"^{name} is missing"):
            check_layout(file)
    file["simulation/o"].attrs["rounds"] = 0
    check_layout(file)


def test_messages_may_be_missing_together(file):
    for name in ("start_s", "last_bit_s", "bound_link"):
        del file[f"simulation/o/{name}"]
    check_layout(file)


@pytest.mark.parametrize("about", ["a\nb", "a\nb\nc\nd"])
def test_the_text_about_a_network_has_three_lines(file, about):
    file.attrs["about"] = about
    assert is_refused(file)


def test_an_overlay_may_be_one_weight_in_all_rounds(file):
    replaced(file, "overlays/o/rounds/weight", np.zeros(8))
    check_layout(file)


def test_integers_are_numbers_and_a_group_is_none(file):
    replaced(file, "overlays/o/delay_s", np.zeros(ARCS, dtype=np.int64))
    check_layout(file)
    replaced(file, "simulation/o/bound_link", np.zeros((ROUNDS, ARCS)))
    with pytest.raises(InputError, match="must hold integers of shape"):
        check_layout(file)
    del file["simulation/o/bound_link"]
    file.create_group("simulation/o/bound_link")
    with pytest.raises(InputError, match=r"^simulation/o/bound_link is a group, must be integers"):
        check_layout(file)


def test_a_simulation_that_states_no_rounds_has_none(file):
    del file["simulation/o"].attrs["rounds"]
    del file["simulation/o/start_s"]
    check_layout(file)
