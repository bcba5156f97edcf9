"""The rounds of a randomized overlay in a file: in pieces, in place, and as many as were simulated."""

from dataclasses import dataclass

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.runfile.reader import read_run
from scenarios.runfile.recorded_schedule import ScheduleWriter, read_schedule
from scenarios.runfile.simulated_rounds import file_bytes
from simulator import overlay_job
from topologies import (
    AccessLinks,
    Connectivity,
    InputError,
    Workload,
    build_overlay,
    connectivity,
    design_random,
    load_underlay,
    make_schedule,
)


@dataclass
class Fading:
    """Both ways between neighbours on a ring; from one round on with other weights, which it tells by an arc more."""

    graph: Connectivity
    work: Workload
    other_from: int
    kind: str = "fading"
    negative_weights: bool = False

    def draw(self, _rng, round_):
        return np.array([round_ >= self.other_from])

    def arcs(self, choice):
        n = self.graph.silos
        ends = {(i, (i + step) % n) for i in range(n) for step in (1, n - 1)}
        ends |= {(0, 2)} if choice[0] else set()
        return tuple(np.array(sorted(ends)).T)

    def consensus(self, source, target):
        share = 0.2 if len(source) > 2 * self.graph.silos else 0.3
        matrix = np.zeros((self.graph.silos,) * 2)
        matrix[target, source] = share
        return matrix + np.diag(1 - matrix.sum(axis=1))


@pytest.fixture(scope="module")
def graph():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))


WORK = Workload(model_bits=1e6, compute_s=0.01)


def written(file, schedule, first, *more):
    writer = ScheduleWriter(file, "overlays/x", schedule, rounds=first)
    size = file.id.get_filesize()
    for rounds in more:
        writer.write(rounds)
    file.flush()
    assert file.id.get_filesize() == size
    group = file["overlays/x"]
    return group["rounds"], read_schedule(group, "x", schedule.overlay.graph, WORK)


def same(schedule, recorded, rounds):
    found = make_schedule(recorded, 0, rounds)
    return recorded.rounds == rounds and all(
        np.array_equal(found.arcs(k), schedule.arcs(k))
        and np.array_equal(found.consensus(k), schedule.consensus(k))
        for k in range(rounds)
    )


@pytest.mark.parametrize("kind", ["matcha", "matcha_plus", "random_ring"])
def test_rounds_are_added_without_a_change_of_the_size(graph, kind, tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.runfile.recorded_schedule._PIECE_BYTES", 2000)
    schedule = make_schedule(design_random(kind, graph, WORK), 3, 90)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group, recorded = written(file, schedule, 40, 20, 61)
        assert group["weight"].ndim == 1
        assert same(schedule, recorded, 61)


def test_weights_that_differ_by_round_are_kept_for_each(graph, tmp_path):
    schedule = make_schedule(Fading(graph, WORK, other_from=7), 0, 40)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group, recorded = written(file, schedule, 10, 30)
        assert group["weight"].ndim == 2
        assert same(schedule, recorded, 30)


def test_a_weight_that_changes_later_ends_what_is_written(graph, tmp_path):
    schedule = make_schedule(Fading(graph, WORK, other_from=17), 0, 40)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group, recorded = written(file, schedule, 10, 30)
        assert group["weight"].ndim == 1
        assert same(schedule, recorded, 17)
        assert repr(recorded) == "<RecordedOverlay x on gaia: 17 rounds>"
        with pytest.raises(InputError, match=r"^x: round 18 is not in the file, which holds 17\.$"):
            recorded.draw(np.random.default_rng(0), 17)


def test_a_file_without_rounds_says_so(graph, tmp_path):
    with (
        h5py.File(tmp_path / "x.h5", "w") as file,
        pytest.raises(InputError, match=r"^x: the file does not hold its rounds, as files of older versions"),
    ):
        read_schedule(file.create_group("overlays/x"), "x", graph, WORK)


@pytest.mark.slow
def test_a_run_until_an_interval_records_what_it_simulated(silosim, tmp_path):
    path, other = tmp_path / "x.h5", tmp_path / "other.h5"
    options = ("--kind", "matcha", "--rounds", "4000", "--workload", "femnist")
    silosim("simulate", "gaia", *options, "--until-ci", "20 %", "-o", path).ok()
    rounds = read_run(path).overlays[0].simulation.rounds
    with edited(path) as file:
        recorded = file["overlays/matcha/rounds"].attrs["rounds"]
        assert recorded == max(1000, rounds) < 4000
        file.attrs["scenario"] = file.attrs["scenario"].replace("20 %", "0.001 %")
    result = silosim("replay", path, "--access", "1 Gbps", "-o", other).ok()

    assert f"matcha: {path} holds {recorded:,} rounds, so no more are replayed." in " ".join(
        result.err.split()
    ).replace("- ", "-")
    assert read_run(other).overlays[0].simulation.rounds == recorded


def test_the_estimated_size_counts_measured_pairs():
    underlay = load_underlay("clouds")
    graph = connectivity(underlay, access=AccessLinks(up_bps=1e8, down_bps=1e8), routers=[0, 1, 2])
    job = overlay_job(make_schedule(Fading(graph, WORK, other_from=99), 0, 5), 5)
    routed = load_underlay("gaia")
    more = file_bytes([job], messages=False, underlay=underlay, rows=0) - file_bytes(
        [job], messages=False, underlay=routed, rows=0
    )
    assert more >= 8 * (2 * underlay.routers**2 - 4 * routed.links)


def test_the_estimated_size_is_not_below_that_of_a_file_of_many_silos_and_few_rounds(silosim, tmp_path):
    path = tmp_path / "x.h5"
    silos = [option for _ in range(250) for option in ("--silo-at", "DE")]
    silosim("simulate", "geant", *silos, "--kind", "ring", "--rounds", "2", "-o", path).ok()
    graph = connectivity(
        load_underlay("geant"), access=AccessLinks(up_bps=1e10, down_bps=1e10), routers=[10] * 250
    )
    overlay = build_overlay("ring", graph, WORK, [(i, (i + 1) % 250) for i in range(250)])
    estimate = file_bytes([overlay_job(overlay, 2)], messages=False, underlay=graph.underlay, rows=0)

    assert path.stat().st_size <= estimate <= 1.5 * path.stat().st_size


def test_each_round_of_the_file_has_its_own_weights_where_they_differ(graph, tmp_path):
    schedule = make_schedule(Fading(graph, WORK, other_from=7), 0, 30)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group, _ = written(file, schedule, 10, 30)
        source, target = group["ends"][:].T
        for k in range(30):
            active = np.unpackbits(group["active"][k], count=len(source)).astype(bool)
            expected = np.where(active, schedule.consensus(k)[target, source], np.nan)
            assert np.array_equal(group["weight"][k], expected, equal_nan=True)
            assert np.array_equal(group["own_weight"][k], np.diag(schedule.consensus(k)))
            assert active.sum() == len(schedule.arcs(k)[0])


@pytest.mark.parametrize(("most", "rounds"), [(None, 30), (0, 0), (1, 1), (8, 8), (30, 30), (31, 30)])
@pytest.mark.parametrize("other_from", [7, 99])
def test_as_many_rounds_are_read_as_are_asked_for(graph, tmp_path, other_from, most, rounds):
    schedule = make_schedule(Fading(graph, WORK, other_from=other_from), 0, 40)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group, whole = written(file, schedule, 10, 30)
        assert group["weight"].ndim == 1 + (other_from < 10)
        recorded = read_schedule(file["overlays/x"], "x", graph, WORK, most=most)
        assert recorded.rounds == rounds
        # Different rounds are kept once, in the order in which they first are.
        assert recorded.choice.tolist() == [int(k >= other_from) for k in range(rounds)]
        assert len(recorded.active) == len(recorded.own_weight) == len(set(recorded.choice.tolist()))
        for k in range(rounds):
            arcs = recorded.arcs(recorded.draw(np.random.default_rng(0), k))
            assert np.array_equal(arcs, schedule.arcs(k))
            assert np.array_equal(recorded.consensus(*arcs), schedule.consensus(k))
        with pytest.raises(
            InputError, match=rf"round {rounds + 1} is not in the file, which holds {rounds}\."
        ):
            recorded.draw(np.random.default_rng(0), rounds)
        assert whole.negative_weights is False
        group.attrs["negative_weights"] = True
        assert read_schedule(file["overlays/x"], "x", graph, WORK, most=most).negative_weights is True


def test_rounds_have_bits_of_their_arcs_with_names_and_no_more_than_their_schedule(graph, tmp_path):
    schedule = make_schedule(Fading(graph, WORK, other_from=99), 0, 12)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        ScheduleWriter(file, "overlays/x", schedule, rounds=5).write(50)
        group = file["overlays/x/rounds"]
        arcs = 2 * graph.silos
        assert group.attrs["rounds"] == 12
        assert group["active"].shape == (12, -(-arcs // 8))
        assert group["own_weight"].shape == (12, graph.silos)
        assert group["ends"].shape == (arcs, 2)
        bits = np.unpackbits(group["active"][...], axis=1)
        assert bits[:, :arcs].all()
        assert not bits[:, arcs:].any()
        assert (group["weight"][...] == 0.3).all()
        assert group["own_weight"][...] == pytest.approx(0.4)
        labels = graph.labels
        assert group["source"].asstr()[:2].tolist() == [labels[0]] * 2
        assert group["target"].asstr()[:2].tolist() == [labels[1], labels[graph.silos - 1]]
