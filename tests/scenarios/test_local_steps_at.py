"""`local_steps_at`: local steps by silo in the simulation, the training, files and replays."""

import csv
import json
import tomllib

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, WorkloadConfig, build_network, build_workload
from scenarios.config.scenario import parse_scenario
from scenarios.config.toml import computing_keys, tables_text
from scenarios.runfile.reader import read_run
from scenarios.studies.run import plan_run, run_scenario
from topologies import InputError, Workload
from topologies.designers.registry import design

SCENARIO = """
seed = 3
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "10 ms"
compute_at = { Tokyo = "30 ms" }
local_steps = 2
local_steps_at = { Sydney = 5, Tokyo = 1 }
[overlays]
kinds = ["ring"]
[simulation]
rounds = 6
[training]
model = "softmax"
ranks = 1
executor = "loop"
rounds = 3
"""


def gaia(**keys):
    graph = build_network(NetworkConfig(underlay="gaia"))
    return graph, build_workload(WorkloadConfig(preset="femnist", **keys), "corrected", graph=graph)


def test_a_round_computes_for_the_silos_own_steps():
    graph, work = gaia(
        compute="10 ms", local_steps=2, local_steps_at={"Sydney": 5}, compute_at={"Tokyo": "30 ms"}
    )
    expected = dict.fromkeys(graph.labels, 0.02) | {"Sydney": 0.05, "Tokyo": 0.06}
    assert dict(zip(graph.labels, work.round_compute_s(graph.silos).tolist(), strict=True)) == pytest.approx(
        expected
    )
    assert (work.common_steps, work.steps_text) == (None, "2 to 5")


def test_the_same_number_for_all_is_that_number():
    work = Workload(model_bits=1.0, compute_s=1.0, local_steps=np.array([3, 3]))
    assert (work.local_steps, work.common_steps) == (3, 3)
    for wrong in (0, True, 1.5, [1, 0], [[1]], []):
        with pytest.raises(InputError, match="local_steps"):
            Workload(model_bits=1.0, compute_s=1.0, local_steps=wrong)
    uneven = Workload(model_bits=1.0, compute_s=1.0, local_steps=[1, 2])
    assert uneven.round_compute_s(2).tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="one for each of 3 silos"):
        uneven.round_compute_s(3)


def test_delays_are_those_of_the_same_computing_time_in_one_step():
    """Eq. 3 knows `s T_c(i)` only: five steps of 10 ms are one of 50 ms."""
    graph, by_steps = gaia(compute="10 ms", local_steps_at={"Sydney": 5})
    _, by_time = gaia(compute="10 ms", compute_at={"Sydney": "50 ms"})
    for kind in ("star", "ring", "mst"):
        ours, theirs = design(kind, graph, by_steps), design(kind, graph, by_time)
        assert ours.closed_forms.paper_s == pytest.approx(theirs.closed_forms.paper_s, rel=1e-12)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"local_steps_at": {"Sidney": 2}},
            r"local_steps_at silo\(='Sidney'\) must be one of .*did you mean 'Sydney'",
        ),
        ({"local_steps_at": {"Sydney": 0}}, r"local_steps_at.Sydney\(=0\) must be >= 1"),
        (
            {"local_steps_at": {"Sydney": 2}, "overlap": "50 %"},
            "overlap.* needs the same local_steps in all silos",
        ),
    ],
)
def test_errors_name_the_key(keys, message):
    with pytest.raises(InputError, match=message):
        gaia(**keys)


def test_keys_of_a_workload_read_back():
    graph, work = gaia(compute="10 ms", local_steps=2, local_steps_at={"Sydney": 5, "Tokyo": 1})
    table = tomllib.loads(tables_text({"workload": computing_keys(work, graph.labels)}))["workload"]
    assert (table["local_steps"], table["local_steps_at"]) == (2, {"Sydney": 5, "Tokyo": 1})
    assert np.array_equal(gaia(**table)[1].local_steps, work.local_steps)


def test_simulation_and_training_make_the_same_steps():
    plan = plan_run(parse_scenario(SCENARIO, source="study.toml"))
    steps = plan.trainings[0].steps.of_round(0)
    own = dict(zip(plan.graph.labels, steps.tolist(), strict=True))
    assert own == dict.fromkeys(plan.graph.labels, 2) | {"Sydney": 5, "Tokyo": 1}
    step_s = np.where(np.array(plan.graph.labels) == "Tokyo", 0.03, 0.01)
    assert plan.jobs[0].compute.rows(0, 1)[0] == pytest.approx(steps * step_s)


@pytest.mark.slow
def test_a_run_trains_and_its_file_keeps_the_steps_and_a_replay_them(silosim, tmp_path):
    path, replayed = tmp_path / "run.h5", tmp_path / "replay.h5"
    run_scenario(parse_scenario(SCENARIO, source="study.toml"), SCENARIO, path, force=False, resume=False)
    work = read_run(path).work
    assert sorted(np.asarray(work.local_steps).tolist()) == [1, *[2] * 9, 5]
    silosim("replay", str(path), "--access", "1 Gbps", "-o", str(replayed)).ok()
    assert np.array_equal(read_run(replayed).work.local_steps, work.local_steps)


def test_a_study_may_vary_one_silos_steps(silosim, tmp_path):
    study = tmp_path / "study.toml"
    base = SCENARIO.partition("[training]")[0].replace("[workload]", "[workload]\nmodel_size = '1 MB'")
    study.write_text(base + '[study.grid]\n"workload.local_steps_at.Sydney" = [2, 500]\n')
    silosim("study", str(study), "-o", str(tmp_path / "out.csv"), "--workers", "1").ok()
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["local_steps_at_Sydney"] for row in rows] == ["2", "500"]
    assert [json.loads(row["ranges"])["local_steps"] for row in rows] == [[1, 2], [1, 500]]
    # 500 steps of 10 ms take longer than any other delay.
    assert float(rows[0]["paper_s"]) < 5 <= float(rows[1]["paper_s"])


def test_the_option_says_what_the_key_says(silosim):
    options = ["--kind", "ring", "--compute", "10 ms", "--json"]
    by_steps = json.loads(silosim("design", "gaia", *options, "--local-steps-at", "Sydney=50").ok().out)
    by_time = json.loads(silosim("design", "gaia", *options, "--compute-at", "Sydney=500 ms").ok().out)
    assert by_steps["rows"][0]["paper_s"] == pytest.approx(by_time["rows"][0]["paper_s"], rel=1e-12)
    caption = silosim("design", "gaia", "--kind", "ring", "--local-steps-at", "Sydney=50").ok().out
    assert "1 to 50 local steps of 4.600 ms" in caption.replace("25.40", "4.600")
    err = silosim("design", "gaia", *options, "--local-steps-at", "Sydney").failed(2).err
    assert "local_steps_at(='Sydney') must be SILO=STEPS, for instance 'DE=5'" in err


def test_a_replay_refuses_the_option(silosim, run_file, tmp_path):
    options = ["-o", str(tmp_path / "o.h5"), "--local-steps-at", "Tokyo=2"]
    assert "would alter the learning" in silosim("replay", str(run_file), *options).failed(2).err
