"""The tables of a run as DataFrames: dates in closed form, names, and no more rows than are asked for."""

import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pandas
import pytest
from edited_run import edited
from pair_run import (
    ACCESS_BPS,
    BITS,
    COMPUTE_S,
    CORE_BPS,
    CYCLE_S,
    LABELS,
    LATENCY_S,
    OVERLAYS,
    ROUNDS,
    write_pair_run,
)

import silosim as package
from scenarios.runfile import run_tables
from topologies import InputError

HISTORY = {
    "round": [0, 5, 10],
    "train_loss": [3.0, 2.0, 1.0],
    "test_accuracy": [0.1, np.nan, 0.9],
    "silo_loss": [[3.5, 2.5], [2.5, 1.5], [np.nan, 0.5]],
}


@pytest.fixture(scope="module")
def pair_path(tmp_path_factory):
    return write_pair_run(tmp_path_factory.mktemp("pair") / "pair.h5", history=HISTORY)


@pytest.fixture
def pair(pair_path):
    return package.open_run(pair_path)


def test_rounds_begin_after_as_many_cycles(pair):
    rounds = pair.rounds()

    assert len(rounds) == 2 * ROUNDS * 2
    assert rounds["overlay"].unique().tolist() == list(OVERLAYS)
    assert rounds["silo"].tolist() == list(LABELS) * ROUNDS * 2
    np.testing.assert_allclose(rounds["start_s"], rounds["round"] * CYCLE_S, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(rounds["duration_s"], CYCLE_S, rtol=1e-9)
    assert (rounds["next_start_s"] - rounds["start_s"]).equals(rounds["duration_s"])
    assert not rounds["absent"].any()


def test_messages_arrive_a_latency_after_their_last_bit(pair):
    messages = pair.messages(overlay=OVERLAYS[1])

    assert len(messages) == ROUNDS * 2
    assert messages["source"].tolist() == list(LABELS) * ROUNDS
    assert messages["target"].tolist() == list(LABELS[::-1]) * ROUNDS
    assert messages["arc"].tolist() == [0, 1] * ROUNDS
    start_s = messages["round"] * CYCLE_S + COMPUTE_S
    np.testing.assert_allclose(messages["start_s"], start_s, rtol=1e-12)
    np.testing.assert_allclose(messages["last_bit_s"], start_s + BITS / ACCESS_BPS, rtol=1e-12)
    np.testing.assert_allclose(messages["arrival_s"], messages["last_bit_s"] + LATENCY_S, rtol=1e-12)
    # Uplink and downlink are as fast; either may be called the one that bounds the rate.
    assert {name.rsplit(" ", 1)[1] for name in messages["bound_link"]} <= {"uplink", "downlink"}


def test_links_are_used_for_the_share_of_the_time_in_which_models_cross_them(pair):
    links = pair.links()
    share = {"core": BITS / CORE_BPS / CYCLE_S, "access": BITS / ACCESS_BPS / CYCLE_S}

    assert len(links) == 2 * 6
    for _, one in links.groupby("overlay"):
        assert one["utilisation"].is_monotonic_decreasing
        is_access = one["link"].str.endswith("link")
        np.testing.assert_allclose(one["utilisation"][is_access], share["access"], rtol=1e-9)
        np.testing.assert_allclose(one["utilisation"][~is_access], share["core"], rtol=1e-9)
    np.testing.assert_allclose(links["bits"], ROUNDS * BITS)


def test_metrics_hold_when_the_last_silo_starts_the_round(pair):
    metrics = pair.metrics(overlay=OVERLAYS[0])

    assert metrics["round"].tolist() == [0, 5, 10]
    np.testing.assert_allclose(metrics["wall_clock_s"], np.array([0, 5, 10]) * CYCLE_S, rtol=1e-12)
    assert metrics["train_loss"].tolist() == [3.0, 2.0, 1.0]
    assert metrics["test_accuracy"].isna().tolist() == [False, True, False]
    assert metrics["objective"].isna().all()


def test_metrics_of_silos_hold_when_that_silo_starts_the_round(pair, run_file):
    silos = pair.metrics(by_silo=True, overlay=OVERLAYS[0])

    # What was not measured is no row.
    assert silos["silo_loss"].tolist() == [3.5, 2.5, 2.5, 1.5, 0.5]
    assert silos["silo"].tolist() == [*LABELS, *LABELS, LABELS[1]]
    np.testing.assert_allclose(silos["start_s"], silos["round"] * CYCLE_S, rtol=1e-12, atol=1e-15)
    # The last round of a training may be the end of the simulation, and silos start apart.
    record = package.open_run(run_file)
    both = record.metrics(by_silo=True).groupby(["overlay", "round"], sort=False)["start_s"].max()
    assert both.tolist() == record.metrics()["wall_clock_s"].tolist()
    assert record.metrics(by_silo=True)["silo_accuracy"].between(0, 1).all()


def test_a_part_is_what_the_whole_has_of_it(pair):
    whole = pair.rounds()
    for rounds in (slice(0, 3), slice(7, None), slice(1, 10, 4), slice(9, 99), slice(20, 30), slice(0, 0)):
        asked = whole["round"].isin(range(ROUNDS)[rounds]) & (whole["overlay"] == OVERLAYS[1])
        part = pair.rounds(overlay=OVERLAYS[1], rounds=rounds)
        pandas.testing.assert_frame_equal(part, whole[asked].reset_index(drop=True))
    assert pair.metrics(rounds=slice(1, 6))["round"].tolist() == [5, 5]
    assert pair.metrics(rounds=slice(0, None, 10))["round"].tolist() == [0, 10] * 2
    assert pair.rounds(overlay=OVERLAYS[::-1])["overlay"].unique().tolist() == list(OVERLAYS)


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_pieces_make_the_same_table(pair, monkeypatch, rows):
    whole = [pair.rounds(), pair.messages(), pair.metrics(by_silo=True), pair.rounds(rounds=slice(1, 9, 3))]
    monkeypatch.setattr(run_tables, "MOST_ROWS", rows)
    again = [pair.rounds(), pair.messages(), pair.metrics(by_silo=True), pair.rounds(rounds=slice(1, 9, 3))]

    for one, other in zip(whole, again, strict=True):
        pandas.testing.assert_frame_equal(one, other)


def test_only_the_rounds_that_are_asked_for_are_read(pair, monkeypatch):
    read = []
    get = h5py.Dataset.__getitem__

    def note(data, key, *args, **kwargs):
        found = get(data, key, *args, **kwargs)
        read.append(np.size(found))
        return found

    monkeypatch.setattr(h5py.Dataset, "__getitem__", note)
    pair.rounds(overlay=OVERLAYS[0], rounds=slice(2, 4))

    assert sum(read) == 2 * 2 * 2


@pytest.mark.parametrize(
    "rounds", [slice(-1, None), slice(0, -1), slice(0, 9, 0), slice(0, 9, -1), 3, slice(0.5, 2)]
)
def test_rounds_that_are_no_plain_slice_are_an_error(pair, rounds):
    with pytest.raises(InputError, match=r"rounds\(=.*must be a slice of integers with bounds >= 0"):
        pair.rounds(rounds=rounds)


def test_an_unknown_overlay_is_an_error_with_the_known_ones(pair):
    with pytest.raises(InputError, match=r"overlay\(='rng'\) must be one of "):
        pair.links(overlay="rng")


def test_without_a_record_of_messages_there_are_arrivals(tmp_path):
    record = package.open_run(write_pair_run(tmp_path / "x.h5", messages=False))
    columns = ["overlay", "round", "arc", "source", "target", "arrival_s"]

    assert record.messages().columns.tolist() == columns
    assert record.messages(rounds=slice(0, 0)).columns.tolist() == columns
    assert len(record.metrics()) == len(record.metrics(by_silo=True)) == 0
    assert record.metrics().dtypes["wall_clock_s"] == np.float64


def test_a_round_of_a_randomized_overlay_has_the_messages_of_its_arcs(imported_run):
    record = package.open_run(imported_run)
    messages = record.messages(overlay="matcha")
    with h5py.File(imported_run) as file:
        bits = np.unpackbits(file["overlays/matcha/rounds/active"][:30], axis=1)
    assert messages.groupby("round").size().tolist() == [n for n in bits.sum(axis=1).tolist() if n]
    # Imported metrics have no loss of single silos.
    assert record.metrics(by_silo=True).empty


def test_links_have_the_utilisation_that_simulate_prints(silosim, tmp_path):
    events = '[[simulation.background]]\nshare = "50 %"\n[[simulation.failure]]\n'
    events += 'link = "Sao Paulo - Sydney"\nfrom = "1 s"\nuntil = "9 s"\n'
    path = tmp_path / "x.toml"
    path.write_text(
        '[network]\nunderlay = "gaia"\naccess = "1 Gbps"\n[workload]\npreset = "femnist"\n'
        f'[overlays]\nkinds = ["ring"]\n[simulation]\nrounds = 20\n{events}'
    )
    (row,) = json.loads(silosim("simulate", path, "-o", tmp_path / "x.h5", "--json").ok().out)["rows"]
    links = package.open_run(tmp_path / "x.h5").links()

    for place in (1, 2, 3):
        shown = links.iloc[place - 1]
        assert (shown["link"], shown["utilisation"]) == (
            row[f"busiest_link_{place}"],
            row[f"utilisation_{place}"],
        )
    # Of a file whose simulation did not get to its end the capacity is not known.
    with edited(tmp_path / "x.h5") as file:
        file["simulation/ring/link_capacity_bps"][...] = np.nan
    cut = package.open_run(tmp_path / "x.h5").links()
    assert cut["utilisation"][cut["bits"] > 0].isna().all()
    assert cut["bits"].is_monotonic_decreasing


def test_silos_that_are_away_are_marked(silosim, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(
        '[network]\nunderlay = "gaia"\n[workload]\npreset = "femnist"\n[overlays]\nkinds = ["ring"]\n'
        "[simulation]\nrounds = 20\n"
        '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 3\nrounds = 2\npolicy = "go_on"\n'
    )
    silosim("simulate", path, "-o", tmp_path / "x.h5").ok()
    rounds = package.open_run(tmp_path / "x.h5").rounds()

    away = rounds[rounds["absent"]]
    assert set(away["silo"]) == {"Tokyo"}
    # From round 3 for two rounds; it may miss more where its in-neighbours cannot take it back yet.
    assert away["round"].tolist()[:2] == [3, 4]


def test_the_last_round_of_a_simulation_that_was_cut_short_has_no_end(tmp_path):
    path = write_pair_run(tmp_path / "x.h5")
    with edited(path) as file:
        file[f"simulation/{OVERLAYS[0]}"].attrs["rounds"] = 4
    rounds = package.open_run(path).rounds(overlay=OVERLAYS[0])

    assert rounds["round"].max() == 3
    assert rounds["duration_s"].isna().tolist() == [False] * 6 + [True] * 2


def test_a_file_that_is_gone_or_another_one_is_one_line(tmp_path, run_file):
    path = write_pair_run(tmp_path / "x.h5")
    record = package.open_run(path)
    path.write_bytes(run_file.read_bytes())
    with pytest.raises(InputError, match=r"x\.h5: is not the file any more that was opened\.$"):
        record.rounds()
    path.unlink()
    with pytest.raises(InputError, match=r"x\.h5: there is no such file\.$"):
        record.links()


def test_the_file_is_found_from_another_folder(tmp_path, monkeypatch):
    write_pair_run(tmp_path / "x.h5")
    monkeypatch.chdir(tmp_path)
    record = package.open_run("x.h5")
    monkeypatch.chdir("/")

    assert len(record.rounds(rounds=slice(0, 1))) == 4


@pytest.mark.slow
def test_opening_a_run_loads_no_pandas(pair_path):
    code = f"import silosim, sys; silosim.open_run({str(pair_path)!r}); sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0
