"""Replays: the same training on another network, from the file of the run alone."""

import json
import shutil

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.runfile.reader import read_open, read_run
from topologies import AccessLinks, Workload, build_overlay, connectivity, load_underlay

# The pictures of replays are looked at elsewhere.
pytestmark = pytest.mark.usefixtures("placeholder_figures")


def test_a_replay_keeps_training_and_arcs_and_takes_the_new_times(silosim, run_file, tmp_path):
    result = silosim("replay", run_file, "--access", "10 Mbps", "-o", tmp_path / "slow.h5", "--json")
    before, after = read_run(run_file), read_run(tmp_path / "slow.h5")

    assert result.code == 0
    assert (tmp_path / "slow.png").exists()
    for old, new in zip(before.overlays, after.overlays, strict=True):
        assert np.array_equal(old.arcs, new.arcs)
        assert all(np.array_equal(old.history[name], new.history[name]) for name in old.history)
        assert new.wall_clock_s[-1] > old.wall_clock_s[-1]
        assert new.wall_clock_s[0] == 0
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e7, down_bps=1e7))
    work = Workload(model_bits=32 * 650, compute_s=0.01)
    ring = build_overlay("ring", graph, work, after.overlays[1].arcs[:, :2])
    assert after.overlays[1].closed_forms.paper_s == ring.closed_forms.paper_s


def test_a_replay_on_the_same_network_changes_nothing(silosim, run_file, tmp_path):
    silosim("replay", run_file, "-o", tmp_path / "same.h5").ok()

    for old, new in zip(read_run(run_file).overlays, read_run(tmp_path / "same.h5").overlays, strict=True):
        assert np.array_equal(old.wall_clock_s, new.wall_clock_s)
        assert old.closed_forms == new.closed_forms


@pytest.mark.slow
def test_a_replay_can_be_replayed_and_needs_as_many_silos(silosim, run_file, tmp_path):
    silosim(
        "replay", run_file, "--access-at", "Seoul=1 Mbps", "--core", "1 Gbps", "-o", tmp_path / "a.h5"
    ).ok()
    silosim("replay", tmp_path / "a.h5", "--access", "10 Mbps", "-o", tmp_path / "b.h5").ok()
    silosim("replay", tmp_path / "b.h5", "--core", "50 Mbps", "-o", tmp_path / "c.h5").ok()
    other = silosim("replay", run_file, "--underlay", "geant", "-o", tmp_path / "d.h5")

    assert read_run(tmp_path / "a.h5").network.access_at == {"Seoul": "1 Mbps"}
    network = read_run(tmp_path / "c.h5").network
    assert (network.access, network.access_at, network.core) == ("10 Mbps", None, "50 Mbps")
    with h5py.File(tmp_path / "c.h5") as file:
        assert np.all(file["connectivity/up_bps"][:] == 1e7)
        assert np.all(file["connectivity/core_bps"][:] == 5e7)
    assert other.code == 2
    assert "geant has 40 silos, but the run has 11" in other.err
    assert not list(tmp_path.glob("d.h5*"))


def test_a_replay_needs_neither_the_networks_file_nor_the_model(silosim, tmp_path, monkeypatch):
    line = tmp_path / "line.gml"
    line.write_text(
        "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ]"
        " edge [ source 0 target 1 distance 100.0 ] edge [ source 1 target 2 distance 50.0 ] ]"
    )
    scenario = tmp_path / "line.toml"
    scenario.write_text(
        f'[network]\nunderlay = "{line}"\n[workload]\ncompute = "1 ms"\nlocal_steps = 2\n'
        '[overlays]\nkinds = ["ring"]\n[training]\nranks = 1\nmodel = "softmax"\nrounds = 1\n'
    )
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    line.unlink()
    monkeypatch.setattr("training.backend.load_backend", None)
    result = silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "same.h5")

    assert result.code == 0, result.err
    (before,), (after,) = (read_run(tmp_path / name).overlays for name in ("run.h5", "same.h5"))
    assert before.closed_forms == after.closed_forms
    assert np.array_equal(before.wall_clock_s, after.wall_clock_s)
    assert read_run(tmp_path / "same.h5").about == read_run(tmp_path / "run.h5").about


def test_a_replay_without_training_prints_its_table_and_draws_nothing(silosim, small_scenario, tmp_path):
    scenario = tmp_path / "untrained.toml"
    scenario.write_text(
        small_scenario[: small_scenario.index("[training]")].replace(
            'compute = "10 ms"', 'preset = "inaturalist"'
        )
    )
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    result = silosim("replay", tmp_path / "run.h5", "--access", "1 Gbps", "-o", tmp_path / "new.h5", "--json")

    assert result.code == 0
    assert [row["overlay"] for row in json.loads(result.out)["rows"]] == ["star", "ring"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.h5", "run.h5", "untrained.toml"]


def test_a_run_that_was_cut_short_is_replayed_over_all_its_rounds(silosim, run_file, tmp_path):
    cut = tmp_path / "cut.h5"
    shutil.copy(run_file, cut)
    with edited(cut) as file:
        file.attrs["scenario"] = file.attrs["scenario"].replace("rounds = 12", "rounds = 45")
        file["training/ring/round"][2:] = -1
    silosim("replay", cut, "-o", tmp_path / "new.h5").ok()
    star, ring = read_run(tmp_path / "new.h5").overlays

    assert (len(star.wall_clock_s), len(ring.wall_clock_s)) == (4, 2)
    with h5py.File(tmp_path / "new.h5") as file:
        assert file["simulation/ring/round_start_s"].shape == (46, 11)


def test_a_replay_keeps_the_hub_the_weights_and_their_signs(silosim, run_file, tmp_path):
    changed = tmp_path / "changed.h5"
    shutil.copy(run_file, changed)
    with edited(changed) as file:
        # Weights of any rule: 1/4 more for the silo's own model, and less for the one that it receives.
        group = next(
            each for each in (file[f"overlays/{name}"] for name in file["overlays"]) if each.attrs["hub"] < 0
        )
        group["consensus"][...] = 2.5 * group["consensus"][...] - 1.5 * np.eye(len(group["consensus"]))
        group["consensus"].attrs["negative_weights"] = True
    silosim("replay", changed, "--access", "10 Mbps", "-o", tmp_path / "new.h5").ok()
    before, after = read_run(changed).overlays, read_run(tmp_path / "new.h5").overlays

    assert [overlay.hub is None for overlay in after] == [False, True]
    assert [overlay.hub for overlay in after] == [overlay.hub for overlay in before]
    assert [overlay.negative_weights for overlay in after] == [False, True]
    assert after[1].consensus.min() < 0
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old.consensus, new.consensus)


def test_a_replay_does_not_take_the_place_of_its_run(silosim, run_file, tmp_path):
    run = tmp_path / "run.h5"
    shutil.copy(run_file, run)
    result = silosim("replay", run, "-o", tmp_path / "." / "run.h5", "--force").failed(2)

    assert "is the run itself; the replay needs another name." in " ".join(result.err.split())
    assert run.read_bytes() == run_file.read_bytes()


def test_a_file_that_numbers_silos_in_another_order_is_refused(silosim, run_file, tmp_path):
    other = tmp_path / "other.h5"
    shutil.copy(run_file, other)
    with edited(other) as file:
        routers = file["connectivity/router"]
        routers[:2] = routers[:2][::-1]
    result = silosim("replay", other, "-o", tmp_path / "new.h5").failed(2)

    assert "numbers the silos of gaia in another order than that of their labels" in " ".join(
        result.err.split()
    )


@pytest.mark.parametrize(
    ("option", "engine"),
    [((), "simpy"), pytest.param(("--engine", "compiled"), "compiled", marks=pytest.mark.slow)],
)
def test_a_replay_takes_the_engine_that_is_asked_for(silosim, run_file, tmp_path, option, engine):
    silosim("replay", run_file, *option, "-o", tmp_path / "new.h5").ok()

    assert {overlay.simulation.engine for overlay in read_run(tmp_path / "new.h5").overlays} == {engine}


def test_a_replay_ends_as_its_scenario_says_but_not_before_the_training(silosim, run_file, tmp_path):
    random = """rounds = 3000
until_ci = "20 %"
compute = { distribution = "lognormal", cv = 0.3 }"""
    copied = tmp_path / "copied.h5"
    shutil.copy(run_file, copied)
    with edited(copied) as file:
        file.attrs["scenario"] = file.attrs["scenario"].replace("rounds = 30", random)
    silosim("replay", copied, "-o", tmp_path / "new.h5").ok()

    for overlay in read_run(tmp_path / "new.h5").overlays:
        assert 12 <= overlay.simulation.rounds < 3000
        assert overlay.simulation.half_width_s <= 0.2 * overlay.simulation.cycle_time_s
        assert len(overlay.wall_clock_s) == len(overlay.history["round"])


def test_the_file_of_the_run_and_the_new_one_are_read_once_each(silosim, run_file, tmp_path, monkeypatch):
    read = []

    def counted(file, *, source):
        read.append(source)
        return read_open(file, source=source)

    monkeypatch.setattr("scenarios.runfile.reader.read_open", counted)
    silosim("replay", run_file, "--access", "1 Gbps", "-o", tmp_path / "r.h5").ok()

    assert read == [str(run_file), str(tmp_path / "r.h5")]
