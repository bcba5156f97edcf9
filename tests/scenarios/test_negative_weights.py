"""Whether weights below 0 are among those of an overlay's files, by which its mixing is computed."""

import numpy as np
import pytest

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.runfile.reader import read_run
from topologies import Workload

SHIFT = np.roll(np.eye(11), 1, axis=1)
SCHEDULE = "state,from,to,weight\n" + "".join(
    f"{state},{{labels[{i}]}},{{labels[{(i + shift) % 11}]}},{{weights[{state}]}}\n"
    for state, shift in enumerate((1, 2, 3))
    for i in range(11)
)


def is_negative(graph, **config):
    work = Workload(model_bits=1e6, compute_s=0.01)
    return design_any(OverlayConfig(**config), graph, work, seed=0).negative_weights


@pytest.mark.parametrize(("neighbour", "negative"), [(0.25, False), (-0.25, True)])
def test_of_a_matrix_with_zeros(tmp_path, graph, neighbour, negative):
    np.save(tmp_path / "W.npy", (1 - 2 * neighbour) * np.eye(11) + neighbour * (SHIFT + SHIFT.T))
    (tmp_path / "ring.csv").write_text(
        "from,to\n" + "".join(f"{graph.labels[i]},{graph.labels[(i + 1) % 11]}\n" for i in range(11))
    )
    weights, arcs = str(tmp_path / "W.npy"), str(tmp_path / "ring.csv")

    assert is_negative(graph, weights=weights) == negative
    assert is_negative(graph, arcs=arcs, both_ways=True, consensus=weights) == negative
    assert not is_negative(graph, arcs=arcs, both_ways=True)


@pytest.mark.parametrize(
    ("weights", "negative"),
    [((0.5, 0.5, 0.5), False), ((0.5, -0.2, 0.5), True), ((0.5, 0.0, 0.5), False)],
)
def test_of_one_state_among_others(tmp_path, graph, weights, negative):
    path = tmp_path / "states.csv"
    path.write_text(SCHEDULE.format(labels=graph.labels, weights=weights))

    assert is_negative(graph, schedule=str(path)) == negative


@pytest.mark.parametrize("rule", ["local_degree", "metropolis", "balanced", "fdla", "fmmc"])
def test_of_a_rule(graph, rule):
    assert is_negative(graph, kind="mst", consensus=rule) == (rule == "fdla")


def test_of_a_run_and_its_replay(tmp_path, graph, silosim, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("W.npy", 1.5 * np.eye(11) - 0.25 * (SHIFT + SHIFT.T))
    (tmp_path / "states.csv").write_text(SCHEDULE.format(labels=graph.labels, weights=(0.5, -0.2, 0.5)))
    (tmp_path / "s.toml").write_text(
        '[network]\nunderlay = "gaia"\n[workload]\ncompute = "10 ms"\nmodel_size = "100 kB"\n'
        '[[overlays]]\nweights = "W.npy"\n[[overlays]]\nkind = "mst"\n[[overlays]]\nschedule = "states.csv"\n'
        "[simulation]\nrounds = 4\n"
    )
    silosim("simulate", "s.toml", "-o", "s.h5").ok()
    silosim("replay", "s.h5", "--access", "1 Gbps", "-o", "again.h5").ok()
    for file in ("s.h5", "again.h5"):
        record = read_run(tmp_path / file)
        assert [overlay.negative_weights for overlay in record.overlays] == [True, False, True]
