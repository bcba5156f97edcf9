"""Replays of randomized overlays: the arcs of the run, on another network."""

import shutil

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.config.scenario import load_scenario
from scenarios.runfile.reader import read_drawn, read_run
from scenarios.studies.run import run_scenario
from topologies import AccessLinks, InputError, connectivity, design_random, load_underlay, make_schedule

# The pictures of replays are looked at elsewhere.
pytestmark = pytest.mark.usefixtures("placeholder_figures")

KINDS = ("ring", "matcha", "matcha_ring", "random_ring")
AWAY = '[[simulation.away]]\nsilo = "Seoul"\nfrom_round = 3\npolicy = "go_on"\nrounds = 4\n'


@pytest.fixture(scope="module")
def run_of_drawn(tmp_path_factory, small_scenario):
    """A run of 30 rounds in which Seoul misses four; not to be changed."""
    folder = tmp_path_factory.mktemp("drawn")
    text = small_scenario.replace('["star", "ring"]', str([*KINDS]).replace("'", '"'))
    text = text.replace("[training]", f'{AWAY}\n[training]\nexecutor = "loop"')
    (folder / "run.toml").write_text(text)
    scenario, text = load_scenario(folder / "run.toml")
    run_scenario(scenario, text, folder / "run.h5", force=False, resume=False)
    return folder / "run.h5"


def active(path, kind):
    with h5py.File(path) as file:
        return ~np.isnan(file[f"simulation/{kind}/arrival_s"][:])


@pytest.mark.slow
def test_every_arc_carries_a_model_in_the_rounds_of_the_run(silosim, run_of_drawn, tmp_path):
    path, back = tmp_path / "slow.h5", tmp_path / "back.h5"
    result = silosim("replay", run_of_drawn, "--access", "2 Mbps", "-o", path)
    again = silosim("replay", path, "--access", "100 Mbps", "-o", back)

    assert (result.code, again.code) == (0, 0), result.err + again.err
    assert "not replayed" not in result.err + again.err
    overlays = [read_run(file).overlays for file in (run_of_drawn, path, back)]
    assert [tuple(overlay.kind for overlay in some) for some in overlays] == [KINDS] * 3
    for before, slow, after in zip(*overlays, strict=True):
        kind = before.kind
        for file, other in ((path, slow), (back, after)):
            assert np.array_equal(before.arcs, other.arcs)
            assert np.array_equal(active(run_of_drawn, kind), active(file, kind))
            assert all(np.array_equal(before.history[name], other.history[name]) for name in before.history)
        assert slow.wall_clock_s[-1] > before.wall_clock_s[-1]
        assert np.array_equal(after.wall_clock_s, before.wall_clock_s)
        assert after.closed_forms.paper_s == before.closed_forms.paper_s < slow.closed_forms.paper_s


def test_the_arcs_are_those_of_the_schedule_of_the_run(silosim, run_of_drawn, tmp_path):
    path = tmp_path / "other.h5"
    silosim("replay", run_of_drawn, "--core", "50 Mbps", "-o", path).ok()
    record = read_run(run_of_drawn)
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    schedule = make_schedule(design_random("matcha_ring", graph, record.work), 3, 30)
    arcs = next(overlay.arcs for overlay in read_run(path).overlays if overlay.kind == "matcha_ring")
    seoul = graph.labels.index("Seoul")

    for k, there in enumerate(active(path, "matcha_ring")):
        drawn = set(zip(*(ends.tolist() for ends in schedule.arcs(k)), strict=True))
        found = set(map(tuple, arcs[there][:, :2].tolist()))
        # Away from round 3 on, a silo gets a model again in round 6, or later where no in-neighbour can send to it.
        if 3 <= k < 6:
            assert found == {pair for pair in drawn if seoul not in pair}
        elif 6 <= k < 15:
            assert found <= drawn
            assert all(seoul in pair for pair in drawn - found)
        else:
            assert found == drawn


def test_the_arcs_of_a_replay_on_another_underlay_are_still_those_of_the_run(
    silosim, tmp_path, small_scenario
):
    for name, far in (("here", 100.0), ("there", 900.0)):
        nodes = "".join(f' node [ id {i} label "{name}{i}" ]' for i in range(4))
        ends = ((0, 1), (1, 2), (2, 3)) if name == "here" else ((0, 2), (2, 1), (1, 3))
        links = "".join(f" edge [ source {a} target {b} distance {far} ]" for a, b in ends)
        (tmp_path / f"{name}.gml").write_text(f"graph [{nodes}{links} ]")
    scenario = tmp_path / "run.toml"
    text = small_scenario[: small_scenario.index("[training]")].replace("gaia", "here.gml")
    scenario.write_text(
        text.replace('["star", "ring"]', '["matcha_plus"]').replace('10 ms"', '10 ms"\nmodel_size = "1 MB"')
    )
    run, other, back = (tmp_path / f"{name}.h5" for name in ("run", "other", "back"))
    silosim("run", scenario, "-o", run).ok()
    there = silosim("replay", run, "--underlay", tmp_path / "there.gml", "-o", other)
    here = silosim("replay", other, "--underlay", tmp_path / "here.gml", "-o", back)
    (before,), (moved,) = (read_run(path).overlays for path in (run, other))

    assert there.code == 0, there.err
    assert np.array_equal(before.arcs, moved.arcs)
    assert np.array_equal(active(run, "matcha_plus"), active(other, "matcha_plus"))
    # The other underlay has other neighbours, and the scenario's file is beside the scenario, not here.
    assert here.code == 0, here.err
    assert np.array_equal(active(run, "matcha_plus"), active(back, "matcha_plus"))


def test_the_file_alone_holds_the_arcs_and_weights_of_each_round(run_of_drawn):
    record = read_run(run_of_drawn)
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e8, down_bps=1e8))
    for recorded in record.overlays[1:]:
        schedule = make_schedule(design_random(recorded.kind, graph, record.work), 3, 1000)
        drawn = make_schedule(read_drawn(run_of_drawn, recorded, graph, record.work), 0, 1000)

        assert np.array_equal(drawn.index, schedule.index)
        for k in range(1000):
            assert np.array_equal(drawn.arcs(k), schedule.arcs(k))
            assert np.array_equal(drawn.consensus(k), schedule.consensus(k))
        with pytest.raises(
            InputError, match=f"{recorded.kind}: round 1001 is not in the file, which holds 1000"
        ):
            make_schedule(drawn.overlay, 0, 1001)


def test_the_others_are_replayed_where_one_cannot_be(silosim, run_of_drawn, tmp_path):
    path = tmp_path / "other.h5"
    cut = tmp_path / "cut.h5"
    shutil.copy(run_of_drawn, cut)
    with edited(cut) as file:
        del file["overlays/matcha/rounds"]
    result = silosim("replay", cut, "-o", path)

    assert result.code == 0
    assert [overlay.kind for overlay in read_run(path).overlays] == ["ring", "matcha_ring", "random_ring"]
    assert "not replayed: matcha: the file does not hold its rounds" in " ".join(result.err.split())


def test_an_arc_that_the_other_network_blocks_stops_its_overlay_only(silosim, run_of_drawn, tmp_path):
    path = tmp_path / "other.h5"
    (ring, *_, random_ring) = read_run(run_of_drawn).overlays
    labels = read_run(run_of_drawn).underlay.labels
    on_ring = set(map(tuple, ring.arcs[:, :2].tolist()))
    pair = next(pair for pair in map(tuple, random_ring.arcs[:, :2].tolist()) if pair not in on_ring)
    a, b = (labels[silo] for silo in pair)
    result = silosim("replay", run_of_drawn, "--blocked", f"{a} -> {b}", "-o", path)
    kinds = [overlay.kind for overlay in read_run(path).overlays]

    assert result.code == 0
    assert "ring" in kinds
    assert "random_ring" not in kinds
    assert f"not replayed: random_ring has the arc {a} -> {b}, which gaia blocks." in " ".join(
        result.err.split()
    )


def test_a_run_without_an_overlay_that_can_be_replayed_is_an_error(silosim, run_of_drawn, tmp_path):
    bars = [f"{label} - Virginia" for label in read_run(run_of_drawn).underlay.labels if label != "Virginia"]
    blocked = [word for bar in bars for word in ("--blocked", bar)]
    result = silosim("replay", run_of_drawn, *blocked, "-o", tmp_path / "none.h5")

    assert (result.code, result.err.count("\n")) == (2, 1)
    assert not list(tmp_path.glob("none.h5*"))
