"""Replays on networks of tables: what their sites state, and which silo of the run is which there."""

import numpy as np
import pytest

from scenarios.runfile.reader import read_run

SITES = ("Berlin", "Cologne", "Dresden")
PLACES = {"Aachen": (50.8, 6.1), "Berlin": (52.5, 13.4), "Cologne": (50.9, 7.0), "Dresden": (51.1, 13.7)}


def network(folder, names, compute_ms=()):
    folder.mkdir()
    head = "name,latitude,longitude" + (",compute_ms" if compute_ms else "")
    rows = [
        ",".join(map(str, (name, *PLACES[name], *([compute_ms[k]] if compute_ms else []))))
        for k, name in enumerate(names)
    ]
    (folder / "sites.csv").write_text("\n".join([head, *rows]) + "\n")
    links = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    (folder / "links.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in links))
    return folder


@pytest.fixture
def run(silosim, tmp_path):
    here = network(tmp_path / "here", SITES, (10, 20, 30))
    path = tmp_path / "run.h5"
    silosim("simulate", here, "--kind", "ring", "--model-size", "1 kbit", "--rounds", "20", "-o", path).ok()
    return path


def times_ms(path):
    return (1e3 * np.broadcast_to(read_run(path).work.compute_s, 3)).round(6).tolist()


def test_computing_times_are_those_that_the_other_network_states(silosim, run, tmp_path):
    there = network(tmp_path / "there", SITES, (10, 400, 30))
    path = tmp_path / "there.h5"
    result = silosim("replay", run, "--underlay", there, "-o", path).ok()

    assert times_ms(run) == [10, 20, 30]
    assert times_ms(path) == [10, 400, 30]
    assert "computing times of 3 silos are those that there states" in " ".join(result.err.split())
    # As a simulation on that network says.
    fresh = tmp_path / "fresh.h5"
    options = ("--kind", "ring", "--model-size", "1 kbit", "--rounds", "20")
    silosim("simulate", there, *options, "-o", fresh).ok()
    replayed, simulated = (read_run(file).overlays[0].simulation.cycle_time_s for file in (path, fresh))
    assert replayed == simulated == pytest.approx(0.4)
    # The file says what it holds: once more, on the network it is on.
    again = tmp_path / "again.h5"
    silosim("replay", path, "--access", "1 Gbps", "-o", again).ok()
    assert times_ms(again) == [10, 400, 30]


def test_stated_computing_times_stay_where_the_other_network_states_none(silosim, run, tmp_path):
    path = tmp_path / "there.h5"
    silosim("replay", run, "--underlay", network(tmp_path / "there", SITES), "-o", path).ok()
    assert times_ms(path) == [10, 20, 30]


def test_a_stated_computing_time_is_kept_whatever_the_other_network_states(silosim, run, tmp_path):
    there = network(tmp_path / "there", SITES, (10, 400, 30))
    path = tmp_path / "there.h5"
    silosim("replay", run, "--underlay", there, "--compute", "7 ms", "-o", path).ok()
    assert times_ms(path) == [7, 7, 7]


def test_silos_with_other_labels_are_named(silosim, run, tmp_path):
    there = network(tmp_path / "there", ("Aachen", "Berlin", "Dresden"), (1, 2, 3))
    path = tmp_path / "there.h5"
    err = " ".join(silosim("replay", run, "--underlay", there, "-o", path).ok().err.split())

    assert (
        "silos keep their numbers, by the order of their labels: Berlin is Aachen, Cologne is Berlin." in err
    )
    assert "Berlin is on both networks, but not the same silo" in err


def test_local_steps_of_a_silo_of_the_run_are_not_of_its_label_elsewhere(silosim, tmp_path):
    here = network(tmp_path / "here", SITES)
    there = network(tmp_path / "there", ("Aachen", "Berlin", "Dresden"))
    run, path, again = (tmp_path / f"{name}.h5" for name in ("run", "there", "again"))
    options = ("--kind", "ring", "--model-size", "1 kbit", "--compute", "10 ms", "--rounds", "20")
    silosim("simulate", here, *options, "--local-steps-at", "Cologne=2", "-o", run).ok()
    silosim("replay", run, "--underlay", there, "-o", path).ok()
    silosim("replay", path, "--access", "1 Gbps", "-o", again).ok()
    # Berlin, the second silo there, takes two steps, and no silo is called Cologne.
    for replayed in (path, again):
        record = read_run(replayed)
        assert 'local_steps_at = { "Berlin" = 2 }' in record.scenario
        assert record.work.local_steps.tolist() == [1, 2, 1]
