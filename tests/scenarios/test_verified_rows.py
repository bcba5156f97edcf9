"""What is looked at of the rounds and the training rows of an overlay, at each bound."""

from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.studies import verification
from scenarios.studies.verification import _incomplete, _network, _read_all, _rows
from topologies import InputError

PIECE = 4096
"""Rounds that are read at once."""


def said(
    starts_s,
    *,
    rounds=None,
    is_whole=True,
    logged=(),
    wall_s=(),
    trained=None,
    all_rows=True,
    arrival=None,
    link_bits=(0.0, 1.0),
):
    """The line of an overlay ``o``, or the error, of dates of two silos, the second of which is 1 s later.

    ``arrival`` is the round of a message and its date; others arrive as the first silo starts the round.
    """
    overlay = SimpleNamespace(
        kind="o",
        simulation=SimpleNamespace(is_whole=is_whole, rounds=len(starts_s) - 1 if rounds is None else rounds),
        history={"round": np.array(logged)} if len(logged) else {},
        wall_clock_s=np.array(wall_s),
        training_is_whole=all_rows,
    )
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        file["simulation/o/round_start_s"] = np.stack((starts_s, np.add(starts_s, 1.0)), axis=1)
        arrival_s = np.array(starts_s[:-1], dtype=np.float64)[:, None]
        if arrival is not None:
            arrival_s[arrival[0]] = arrival[1]
        file["simulation/o/arrival_s"], file["simulation/o/link_bits"] = arrival_s, link_bits
        try:
            return _rows(file, overlay, trained)
        except InputError as error:
            return str(error)


@pytest.mark.parametrize("place", [1, PIECE - 1, PIECE, PIECE + 1])
@pytest.mark.parametrize(
    ("change", "is_damaged"),
    [
        (lambda dates, place: dates[place - 1], False),
        (lambda dates, place: dates[place - 1] - 0.5, True),
        (lambda _dates, _place: np.nan, True),
        (lambda _dates, _place: np.inf, True),
    ],
)
def test_dates_go_on_from_piece_to_piece(place, change, is_damaged):
    dates = np.arange(PIECE + 3.0)
    dates[place] = change(dates, place)
    assert said(dates) == (
        "is damaged: dates of o are missing or go back." if is_damaged else "o: 4,098 rounds"
    )


@pytest.mark.parametrize(
    ("rounds", "is_whole", "line"),
    [
        (4, True, "o: 4 rounds"),
        (3, True, "o: 3 rounds"),
        (5, True, "is not complete: o has 5 of 4 rounds."),
        (4, False, "is not complete: o has 4 of 4 rounds."),
    ],
)
def test_there_are_as_many_rounds_as_are_stated(rounds, is_whole, line):
    assert said(np.arange(5.0), rounds=rounds, is_whole=is_whole) == line


@pytest.mark.parametrize(
    ("wall_s", "line"),
    [
        ((0.0, 2.0, 4.0), "o: 4 rounds, 3 training rows to round 4"),
        ((1.0, 3.0, 5.0), "o: 4 rounds, 3 training rows to round 4"),
        ((0.5, 1.9, 4.5), "is damaged: round 2 of o has another date in its training row."),
        ((0.5, 2.5, 5.1), "is damaged: round 4 of o has another date in its training row."),
        ((0.5, 2.5, np.nan), "is damaged: round 4 of o has another date in its training row."),
    ],
)
def test_a_row_is_dated_between_the_silos_starts(wall_s, line):
    assert said(np.arange(5.0), logged=(0, 2, 4), wall_s=wall_s, trained=4) == line


@pytest.mark.parametrize(
    ("logged", "trained", "all_rows", "line"),
    [
        ((0, 2), 2, True, "o: 4 rounds, 2 training rows to round 2"),
        ((0, 1, 2), 2, True, "o: 4 rounds, 3 training rows to round 2"),
        ((0, 2), None, True, "o: 4 rounds, 2 training rows to round 2"),
        ((0, 2), 3, True, "is not complete: o is trained to round 2 of 3."),
        ((0, 2), 2, False, "is not complete: o is trained to round 2 of 2."),
        ((0, 2), None, False, "is not complete: o is trained to round 2."),
        ((2, 2), 2, True, "is damaged: training rows of o go back."),
        ((3, 2), 2, True, "is damaged: training rows of o go back."),
    ],
)
def test_rows_ascend_to_the_last_round(logged, trained, all_rows, line):
    assert said(np.arange(5.0), logged=logged, wall_s=logged, trained=trained, all_rows=all_rows) == line


def test_one_round_is_no_rounds():
    assert said(np.arange(2.0)) == "o: 1 round"
    assert said(np.arange(2.0), logged=(1,), wall_s=(1.5,)) == "o: 1 round, 1 training row to round 1"


@pytest.mark.parametrize("round_", [0, PIECE - 1, PIECE])
@pytest.mark.parametrize(
    ("late_s", "is_damaged"), [(0.0, False), (-1e-6, True), (5.0, False), (np.nan, False), (np.inf, True)]
)
def test_messages_arrive_after_the_first_silo_has_started_or_are_none(round_, late_s, is_damaged):
    line = said(np.arange(PIECE + 2.0), arrival=(round_, round_ + late_s))
    damaged = "is damaged: messages of o arrive before their round, or never."
    assert line == (damaged if is_damaged else "o: 4,097 rounds")


@pytest.mark.parametrize(
    ("bits", "is_damaged"), [(0.0, False), (-1e-9, True), (np.nan, True), (np.inf, True), (1e300, False)]
)
def test_bits_of_links_are_finite_numbers(bits, is_damaged):
    line = said(np.arange(5.0), link_bits=(1.0, bits))
    assert line == ("is damaged: link_bits of o must be finite and >= 0." if is_damaged else "o: 4 rounds")


def test_the_hash_of_a_network_is_compared_by_the_version_that_made_it():
    assert (
        _network("a", "a", "0.0.1")
        == _network("a", "a", version("silosim"))
        == "of the hash that the file states"
    )
    assert _network("a", "b", "0.0.1") == (
        "its hash is not compared: that of silosim 0.0.1 may be made differently"
    )
    with pytest.raises(
        InputError, match=r"is damaged: its network has another hash than graph_sha256 states\."
    ):
        _network("a", "b", version("silosim"))


@pytest.mark.parametrize(
    ("training", "reached", "line"),
    [
        (None, {}, "is not complete."),
        (4, {"ring": 4, "star": 4}, "is not complete."),
        (4, {"ring": 4, "star": 3}, "is not complete: star is trained to round 3 of 4."),
        (4, {"ring": 4}, "is not complete: star is trained to round 0 of 4."),
        (4, {"ring": 1}, "is not complete: ring is trained to round 1 of 4."),
    ],
)
def test_the_first_overlay_whose_training_has_not_ended_is_named(monkeypatch, training, reached, line):
    monkeypatch.setattr("scenarios.studies.verification.rounds_reached", lambda _path, _record: reached)
    record = SimpleNamespace(overlays=[SimpleNamespace(kind=kind) for kind in ("ring", "star")])
    assert _incomplete(Path("run.h5.partial"), record, training) == line


def test_all_that_a_file_holds_is_read_and_counted():
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        file.attrs["a"] = 1
        file["group/rows"] = np.zeros((3, 2))
        file["group/one"], file["none"] = 5, np.zeros((0, 4))
        file["group"].attrs["b"], file["none"].attrs["c"] = 2, 3
        assert _read_all(file) == (3, 3)


@pytest.mark.parametrize(
    ("shape", "pieces"),
    [
        ((10, 4), [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]),
        ((5, 2, 2), [(0, 2), (2, 4), (4, 6)]),
        ((10,), [(0, 8), (8, 16)]),
        ((2, 100), [(0, 1), (1, 2)]),
        ((1, 4), [(0, 2)]),
        ((2, 0), [(0, 8)]),
        ((0, 4), []),
        ((), [()]),
    ],
)
def test_long_data_sets_are_read_piece_by_piece_to_their_end(monkeypatch, shape, pieces):
    read = []

    class DataSet:
        size = int(np.prod(shape))

        def __getitem__(self, rows):
            read.append(rows if rows == () else (rows.start, rows.stop))

    DataSet.shape, DataSet.attrs = shape, {"unit": "s"}
    group = SimpleNamespace(attrs={"a": 1, "b": 2})
    file = SimpleNamespace(
        attrs={"version": 1}, visititems=lambda visit: [visit("g", group), visit("g/rows", DataSet())]
    )
    monkeypatch.setattr(verification, "_PIECE", 8)
    monkeypatch.setattr(verification, "h5py", SimpleNamespace(Dataset=DataSet))
    assert _read_all(file) == (1, 4)
    assert read == pieces


@pytest.mark.parametrize("silo", [0, 1])
def test_no_silo_lacks_a_date(silo):
    dates = np.stack((np.arange(5.0), np.arange(5.0) + 1.0), axis=1)
    dates[3, silo] = np.inf
    overlay = SimpleNamespace(kind="o", simulation=SimpleNamespace(is_whole=True, rounds=4))
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        file["simulation/o/round_start_s"] = dates
        file["simulation/o/arrival_s"] = np.arange(4.0)[:, None]
        with pytest.raises(InputError, match="is damaged: dates of o are missing or go back"):
            _rows(file, overlay, None)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("cannot read:\nat 7"), "x.h5: is damaged: cannot read:"),
        (KeyError("a"), "x.h5: is damaged: 'a'"),
        (ValueError("b" * 300), f"x.h5: is damaged: {'b' * 200}"),
        (InputError("has no rounds."), "x.h5: has no rounds."),
    ],
)
def test_errors_of_a_library_are_one_short_line(monkeypatch, error, reason):
    def fails(_file):
        raise error

    monkeypatch.setattr(verification, "open_file", lambda _: nullcontext("file"))
    monkeypatch.setattr(verification, "read_open", lambda _file, *, source: SimpleNamespace(source=source))
    monkeypatch.setattr(verification, "_read_all", fails)
    with pytest.raises(InputError) as caught:
        verification.verify(Path("x.h5"))
    assert str(caught.value) == reason
