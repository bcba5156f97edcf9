"""What is read of a run's file, on groups and records made by hand, and why a file cannot be opened."""

from dataclasses import replace

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig
from scenarios.runfile.reader import (
    OverlayRecord,
    RunRecord,
    SimulationRecord,
    _read_history,
    _read_overlay,
    _read_simulation,
    check_schema,
    is_hdf5,
    no_hdf5,
    open_file,
)
from scenarios.runfile.run_tables import (
    RunPart,
    _capacity_bps,
    _end_s,
    _link_pieces,
    _pieces,
    _slice,
    link_usage,
)
from topologies import ClosedForms, InputError, State, Workload, load_underlay
from training import HistoryRow

UNKNOWN = float("nan")


def state(computes, lag=1):
    return State(
        source=np.array([0]),
        target=np.array([1]),
        lag=np.array([lag]),
        weight=np.array([0.5]),
        computes=computes,
    )


def record(kind="ring", *, rounds=9, history=None, states=None):
    """An overlay of two silos and one arc, with training rows."""
    history = {} if history is None else {name: np.array(values) for name, values in history.items()}
    rows = len(history.get("round", ()))
    return OverlayRecord(
        kind=kind,
        arcs=np.array([(0, 1, 1)]),
        hub=None,
        consensus=np.eye(2),
        closed_forms=ClosedForms(paper_s=1.0, serialized_s=1.0, load_bound_s=1.0, busiest_link=None),
        busiest_link="",
        simulation=SimulationRecord(
            rounds=rounds,
            is_whole=True,
            cycle_time_s=2.5,
            half_width_s=0.0,
            is_exact=True,
            has_absences=False,
        ),
        history=history,
        wall_clock_s=np.arange(rows) * 10.0,
        states=states,
        negative_weights=False,
        training_is_whole=True,
    )


def run_of(*overlays):
    return RunRecord(
        scenario="",
        network=NetworkConfig(underlay="gaia"),
        underlay=load_underlay("gaia"),
        work=Workload(model_bits=1e6, compute_s=0.01, name="mine"),
        about="",
        overlays=overlays,
        silo_labels=("A", "B"),
    )


HISTORY = {
    "round": [0, 2, 5],
    "test_accuracy": [0.25, UNKNOWN, 0.75],
    "silo_loss": [[1, 2], [UNKNOWN] * 2, [3, 4]],
    "silo_accuracy": [[UNKNOWN] * 2, [UNKNOWN] * 2, [0.5, UNKNOWN]],
}


def test_records_are_shown_in_one_line():
    one = replace(record(history=HISTORY), arcs=np.array([(0, 1, 1), (1, 0, 1)]))
    assert repr(one) == "OverlayRecord('ring', 2 arcs, cycle_time_s=2.5, 3 training rows)"
    assert repr(run_of(one, record("star"))) == "RunRecord('gaia', 2 silos, 'mine', overlays: ring, star)"


@pytest.mark.parametrize(("accuracy", "row"), [(0.2, 0), (0.25, 0), (0.26, 2), (0.75, 2), (0.76, None)])
def test_a_target_is_reached_in_the_first_row_that_is_not_below_it(accuracy, row):
    one = record(history=HISTORY)
    assert one.first_row_at(accuracy) == row
    assert one.first_round_at(accuracy) == (None if row is None else ([0, 2, 5][row], 10.0 * row))
    assert record().first_row_at(accuracy) is None
    assert record().first_round_at(accuracy) is None


def test_rounds_in_which_silos_only_mix_are_not_counted():
    states = (state(True), state(False), state(True))
    one = record(history={**HISTORY, "round": [0, 2, 5]}, states=states)
    assert one.computes == (True, False, True)
    # Rounds 0, 2, 3 and 5 compute: of the first two rounds one, of the first five three.
    assert one.computed_rounds.tolist() == [0, 1, 3]
    assert one.first_round_at(0.75) == (3, 20.0)
    assert record(history=HISTORY).computes == (True,)


def test_nothing_is_known_of_a_simulation_that_is_not_there(file_in_memory):
    nothing = SimulationRecord(
        rounds=0, is_whole=False, cycle_time_s=None, half_width_s=None, is_exact=False, has_absences=False
    )
    assert _read_simulation(None, None) == nothing
    assert _read_simulation(file_in_memory.create_group("empty"), None) == nothing


@pytest.mark.parametrize(
    ("half_width_s", "is_exact", "read"), [(0.0, True, 0.0), (UNKNOWN, False, None), (0.5, False, 0.5)]
)
def test_a_whole_simulation_has_its_cycle_time(file_in_memory, half_width_s, is_exact, read):
    group = file_in_memory.create_group("x")
    group.attrs.update(
        rounds=7,
        cycle_time_s=0.25,
        half_width_s=half_width_s,
        cycle_time_is_exact=is_exact,
        engine="compiled",
    )
    found = _read_simulation(group, None)
    assert found == SimulationRecord(
        rounds=7,
        is_whole=True,
        cycle_time_s=0.25,
        half_width_s=read,
        is_exact=is_exact,
        engine="compiled",
        has_absences=False,
    )
    group["absences"] = np.zeros((0, 3), dtype=np.int64)
    assert not _read_simulation(group, None).has_absences
    del group["absences"]
    group["absences"] = np.array([[0, 2, 3]])
    assert _read_simulation(group, None).has_absences


def cut_short(file, start_s, rounds, **more):
    """The group of a simulation that was cut short after so many rounds."""
    group = file.create_group("x")
    group.attrs.update(rounds=rounds, cycle_time_s=UNKNOWN, **more)
    group["round_start_s"] = np.array(start_s, dtype=float)
    return group


@pytest.mark.parametrize(("rounds", "cycle_time_s"), [(1, None), (2, 1.0), (3, 2.0)])
def test_a_simulation_that_was_cut_short_has_an_estimate_from_two_rounds_on(
    file_in_memory, rounds, cycle_time_s
):
    # The last silo's starts: 1, 2, 4.
    group = cut_short(file_in_memory, [[0, 1], [2, 1], [3, 4], [9, 9], [9, 9]], rounds)
    found = _read_simulation(group, None)
    assert (found.rounds, found.is_whole, found.is_exact, found.has_absences) == (rounds, False, False, False)
    assert found.half_width_s is None
    if cycle_time_s is None:
        assert found.cycle_time_s is None
    else:
        # Of the last half of the rounds.
        assert found.cycle_time_s == cycle_time_s


def test_training_rows_that_an_older_file_lacks_are_unknown(file_in_memory):
    group = file_in_memory.create_group("training")
    for name in ("round", "train_loss", "train_accuracy", "test_loss", "test_accuracy", "consensus_distance"):
        group[name] = np.arange(4.0)
    group["silo_loss"] = np.arange(8.0).reshape(4, 2)
    history = _read_history(group, 3)
    assert set(history) == set(HistoryRow.__dataclass_fields__)
    assert history["test_loss"].tolist() == [0.0, 1.0, 2.0]
    assert history["silo_loss"].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert history["objective"].shape == (3,)
    assert history["silo_accuracy"].shape == (3, 2)
    assert np.isnan(history["objective"]).all()
    assert np.isnan(history["silo_accuracy"]).all()


def overlay_file(file, *, hub=-1, drawn=None, rounds=(0, 5, -1), negative=None):
    """A file of one overlay with training rows."""
    group = file.create_group("overlays/ring")
    group.attrs.update(hub=hub, paper_s=1.0, serialized_s=2.0, load_bound_s=3.0, busiest_link="A uplink")
    if drawn is not None:
        group.attrs["drawn"] = drawn
    group["arcs"] = np.array([(0, 1, 1)])
    group["consensus"] = np.eye(2)
    if negative is not None:
        group["consensus"].attrs["negative_weights"] = negative
    if rounds is not None:
        training = file.create_group("training/ring")
        for field in HistoryRow.__dataclass_fields__:
            training[field] = np.zeros((len(rounds), 2) if field.startswith("silo_") else len(rounds))
        training["round"][:] = rounds
        file["replay/ring/wall_clock_s"] = np.arange(float(len(rounds)))
    return file


def test_empty_training_rows_are_those_that_an_interruption_left(file_in_memory):
    one = _read_overlay(overlay_file(file_in_memory), "ring")
    assert one.wall_clock_s.tolist() == [0.0, 1.0]
    assert one.history["round"].tolist() == [0, 5]
    assert not one.training_is_whole
    assert (one.hub, one.busiest_link, one.negative_weights, one.states) == (None, "A uplink", False, None)
    forms = one.closed_forms
    assert (forms.paper_s, forms.serialized_s, forms.load_bound_s, forms.busiest_link) == (
        1.0,
        2.0,
        3.0,
        None,
    )
    assert one.consensus.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("rounds", "whole", "rows"), [(None, True, 0), ((0,), True, 1), ((-1,), False, 0)])
def test_a_training_is_whole_where_no_row_is_missing(file_in_memory, rounds, whole, rows):
    one = _read_overlay(overlay_file(file_in_memory, rounds=rounds), "ring")
    assert one.training_is_whole == whole
    assert one.wall_clock_s.shape == (rows,)
    assert bool(one.history) == bool(rows)


@pytest.mark.parametrize(
    ("options", "hub", "has_consensus", "negative"),
    [
        ({"hub": 0, "drawn": False, "negative": False}, 0, True, False),
        ({"hub": 3, "drawn": True, "negative": True}, 3, False, True),
    ],
)
def test_a_hub_may_be_the_first_silo_and_drawn_overlays_have_no_matrix(
    file_in_memory, options, hub, has_consensus, negative
):
    one = _read_overlay(overlay_file(file_in_memory, **options), "ring")
    assert one.hub == hub
    assert (one.consensus is not None) == has_consensus
    assert one.negative_weights == negative


HDF5 = b"\x89HDF\r\n\x1a\n"


@pytest.mark.parametrize(
    ("content", "reason", "said"),
    [
        (b"", "", "is empty"),
        (b"text that is none", "stored_eof = 99", "is not an HDF5 file"),
        (HDF5[:-1], "", "is not an HDF5 file"),
        (HDF5, "", "is cut off or damaged"),
        (HDF5, "eof = 8, stored_eof = 8", "is cut off or damaged"),
        (
            HDF5 + bytes(1000),
            "eof = 1008, stored_eof = 1009",
            "is cut off: it has 1,008 bytes, 1,009 were written",
        ),
    ],
)
def test_why_hdf5_opens_no_file(tmp_path, content, reason, said):
    path = tmp_path / "x.h5"
    path.write_bytes(content)
    assert no_hdf5(path, reason) == said
    assert is_hdf5(path) == content.startswith(HDF5)
    with pytest.raises(InputError, match=rf"x\.h5: {said.split(':')[0]}"):
        open_file(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match=r": is a folder, must be an HDF5 file\.$"):
        open_file(tmp_path)


def test_another_schema_is_named(file_in_memory):
    with pytest.raises(InputError, match=r"none of silosim's: it has no schema, must have 'a/1'\.$"):
        check_schema(file_in_memory, "a/1")
    file_in_memory.attrs["schema"] = "b/1"
    with pytest.raises(InputError, match=r"^schema\(='b/1'\) must be 'a/1'\.$"):
        check_schema(file_in_memory, "a/1")
    file_in_memory.attrs["schema"] = "a/1"
    check_schema(file_in_memory, "a/1")


def test_a_part_counts_what_it_has_over_all_its_overlays():
    run = run_of(record("a", history=HISTORY), record("b", rounds=4), record("c", rounds=0))
    units = ("simulated rounds", "training rows", "metrics of silos", "simulated overlays")

    def counts(overlay=None, rounds=None):
        part = RunPart.of(run, overlay, rounds)
        return [part.count(unit) for unit in units]

    # Of nine, four and no rounds; three rows, of which one has no metric of a silo.
    assert counts() == [13, 3, 2, 2]
    assert counts(["c", "b"]) == [4, 0, 0, 1]
    assert counts("a", slice(2, 6)) == [4, 2, 1, 1]
    assert counts("a", slice(3, 5)) == [2, 0, 0, 1]
    # Rounds 0, 5 and 10 are asked for.
    assert counts("a", slice(None, None, 5)) == [2, 2, 2, 1]
    assert counts("a", slice(0, 5)) == [5, 2, 1, 1]


@pytest.mark.parametrize("rounds", [slice(0, 0, 1), slice(np.int64(0), np.int64(2)), slice(None)])
def test_rounds_from_0_in_steps_of_1_are_plain(rounds):
    assert RunPart.of(run_of(record()), None, rounds).rounds == rounds


@pytest.mark.parametrize(
    ("per_round", "sizes"),
    [(0, [10]), (1, [7, 3]), (3, [2] * 5), (4, [1] * 10), (7, [1] * 10), (8, [1] * 10)],
)
def test_pieces_have_as_many_rounds_as_fit(monkeypatch, per_round, sizes):
    monkeypatch.setattr("scenarios.runfile.run_tables.MOST_ROWS", 7)
    pieces = list(_pieces(range(10), per_round)) if per_round else list(_pieces(range(7), per_round))
    assert [len(piece) for piece in pieces] == (sizes if per_round else [7])
    assert [number for piece in pieces for number in piece] == list(range(10 if per_round else 7))


def test_rows_of_rounds_are_a_slice_of_the_same_step():
    assert np.arange(20)[_slice(range(3, 12, 4))].tolist() == [3, 7, 11]
    assert np.arange(20)[_slice(range(3, 12, 4), 1)].tolist() == [4, 8, 12]


def network_file(file, **simulation):
    """Two silos, one core link of 5 bit/s and access links of 1 to 4."""
    file["connectivity/core_bps"] = np.array([5.0])
    file["connectivity/up_bps"], file["connectivity/down_bps"] = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    file["connectivity"].attrs["bandwidth"] = "capacity"
    group = file.create_group("simulation/ring")
    group["round_start_s"] = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 4.0]])
    group["link_bits"] = np.arange(6.0)
    for name, value in simulation.items():
        group[name] = value
    return group


def test_capacities_of_an_older_file_are_those_of_its_links(file_in_memory):
    group = network_file(file_in_memory)
    assert _capacity_bps(file_in_memory, group, "").tolist() == [5.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    events = '[[simulation.failure]]\nlink = "A - B"\nfrom = "1 s"\nuntil = "2 s"\n'
    assert np.isnan(_capacity_bps(file_in_memory, group, events)).tolist() == [True] * 6
    # What the file states counts, but where a simulation was cut short before it was known.
    group["link_capacity_bps"] = np.full(6, 7.0)
    assert _capacity_bps(file_in_memory, group, events).tolist() == [7.0] * 6
    group["link_capacity_bps"][3] = UNKNOWN
    assert _capacity_bps(file_in_memory, group, "").tolist() == [5.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    file_in_memory["connectivity/link_capacity_bps"] = np.arange(7.0)
    assert _capacity_bps(file_in_memory, group, "").tolist() == list(range(7))


def test_an_older_file_has_the_end_of_a_whole_simulation(file_in_memory):
    group = network_file(file_in_memory)
    assert _end_s(group, 2) == 5.0
    assert np.isnan(_end_s(group, 1))
    group.attrs["end_s"] = 9.0
    assert _end_s(group, 1) == 9.0


def test_links_are_used_for_the_share_of_their_bits_in_the_time(file_in_memory):
    group = network_file(file_in_memory, link_capacity_bps=np.full(6, 2.0))
    group.attrs["end_s"] = 10.0
    run, one = run_of(record(rounds=2)), record(rounds=2)
    bits, mean_bps, used = link_usage(file_in_memory, run, one)
    assert bits.tolist() == [0, 1, 2, 3, 4, 5]
    assert mean_bps.tolist() == [2.0] * 6
    assert used == pytest.approx(np.arange(6) / 20, rel=1e-12)
    # While bits are written, nobody knows of which rounds they are.
    group.attrs["end_s"] = UNKNOWN
    bits, _, used = link_usage(file_in_memory, run, one)
    assert np.isnan(bits).all()
    assert np.isnan(used).all()


def test_links_are_listed_the_busiest_first_or_by_their_bits(file_in_memory):
    group = network_file(file_in_memory, link_capacity_bps=np.array([1.0, 10.0, 1.0, 1.0, 8.0, 2.0]))
    group.attrs["end_s"] = 10.0
    names = [f"L{place}" for place in range(6)]
    file_in_memory["connectivity"]["link_names"] = names
    run = run_of(record(rounds=2), record("none", rounds=0))
    part = RunPart.of(run, None, None)
    (piece,) = _link_pieces(file_in_memory, part)
    # Utilisations in percent: 0, 1, 20, 30, 5, 25.
    assert piece.columns["link"].tolist() == ["L3", "L5", "L2", "L4", "L1", "L0"]
    assert piece.columns["capacity_bps"].tolist() == [1.0, 2.0, 1.0, 8.0, 10.0, 1.0]
    assert piece.columns["bits"].tolist() == [3, 5, 2, 4, 1, 0]
    assert piece.rows == 6
    assert piece.done == 1
    del group.attrs["end_s"]
    group["round_start_s"][2] = UNKNOWN
    (piece,) = _link_pieces(file_in_memory, part)
    assert piece.columns["link"].tolist() == ["L5", "L4", "L3", "L2", "L1", "L0"]


def test_a_table_needs_the_file_that_the_record_is_of():
    with pytest.raises(
        InputError, match=r"^the record was not read from a file, so that it has no tables\.$"
    ):
        run_of(record()).links()
