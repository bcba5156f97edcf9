"""`participation`: silos that skip their local steps in some rounds, in simulation and training alike."""

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, WorkloadConfig, build_network, build_workload
from scenarios.config.participation import participation_key, participation_of, participation_text
from scenarios.config.scenario import parse_scenario
from scenarios.runfile.reader import read_run
from scenarios.studies.run import plan_run, run_scenario
from simulator import Trace, simulate
from simulator.participating_times import ParticipatingTimes
from topologies import InputError, Workload
from topologies.designers.registry import design
from topologies.participation import Participation

SCENARIO = """
seed = 5
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
compute = "300 ms"
local_steps = 2
participation = 4
[overlays]
kinds = ["star", "hierarchical", "matcha"]
[simulation]
rounds = 12
[training]
model = "softmax"
ranks = 1
executor = "loop"
rounds = 8
"""


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (None, None),
        ("50 %", Participation(share=0.5)),
        ("12.5%", Participation(share=0.125)),
        ("100 %", Participation(share=1.0)),
        (3, Participation(count=3)),
    ],
)
def test_texts_and_numbers(stated, expected):
    found = participation_of(stated)
    assert found == expected
    assert found is None or participation_of(participation_key(found)) == found


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ("0 %", "must be > 0 %"),
        ("101 %", "must be >= 0 % and < 100 %"),
        ("half", "must be a share in percent"),
        (0, "must be >= 1"),
        (12, "must be >= 1 and at most the number of silos, 11"),
    ],
)
def test_others_are_refused_in_one_line(stated, rule):
    graph = build_network(NetworkConfig(underlay="gaia"))
    with pytest.raises(InputError, match=rf"participation\(=.*\) {rule}"):
        build_workload(WorkloadConfig(preset="femnist", participation=stated), "corrected", graph=graph)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_silo_that_does_not_take_part_computes_for_no_time(engine):
    """The dates are those of a trace in which its time is 0, in both engines."""
    graph = build_network(NetworkConfig(underlay="gaia"))
    overlay = design("ring", graph, Workload.preset("inaturalist", local_steps=3))
    participation = Participation(share=0.4)
    times = np.broadcast_to(overlay.work.round_compute_s(graph.silos), (20, graph.silos))
    masked = times * participation.rows(0, 20, silos=graph.silos, seed=8)
    ours = ParticipatingTimes(compute=Trace(table_s=times, repeat=True), participation=participation, seed=8)
    found = [
        simulate(overlay, 20, compute=compute, engine=engine).round_start_s
        for compute in (ours, Trace(table_s=masked))
    ]
    assert (found[0] == found[1]).all()


def test_one_silo_alone_takes_the_sum_of_the_rounds_in_which_it_computes():
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=["Tokyo"]))
    overlay = design("ring", graph, Workload(model_bits=1e6, compute_s=0.5))
    participation = Participation(share=0.5)
    compute = ParticipatingTimes(
        compute=Trace(table_s=np.full((1, 1), 0.5), repeat=True), participation=participation, seed=2
    )
    starts_s = simulate(overlay, 100, compute=compute).round_start_s[:, 0]
    took_part = participation.rows(0, 100, silos=1, seed=2)[:, 0]
    assert starts_s == pytest.approx(np.concatenate(([0.0], np.cumsum(0.5 * took_part))))


def test_simulation_and_training_draw_the_same_silos():
    plan = plan_run(parse_scenario(SCENARIO, source="study.toml"))
    rows = Participation(count=4).rows(0, 12, silos=11, seed=5)
    for job, training in zip(plan.jobs, plan.trainings, strict=True):
        computing = [k for k in range(8) if training.mixing.is_computing(k)]
        for k in range(8):
            took_part = job.compute.rows(k, 1)[0] > 0
            if k not in computing:
                assert not took_part.any()
                continue
            number = training.mixing.computing_before(k)
            assert np.array_equal(took_part, rows[number])
            assert training.steps.of_round(number).tolist() == (2 * rows[number]).tolist()
    assert plan.trainings[1].mixing.computes is not None


def test_closed_forms_are_of_all_silos(silosim, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        SCENARIO.replace('"matcha"', '"ring"')
        .partition("[training]")[0]
        .replace("[workload]", "[workload]\nmodel_size='1 MB'")
        .replace("rounds = 12", "rounds = 120")
    )
    result = silosim("validate", str(study)).failed(2)
    assert "workload.participation must not be given" in result.err
    assert "in a round by 4 of 11 silos" in silosim("simulate", str(study)).ok().out


@pytest.mark.slow
def test_a_run_keeps_who_takes_part_and_a_replay_refuses_to_change_it(silosim, tmp_path):
    text = SCENARIO.replace('["star", "hierarchical", "matcha"]', '["ring"]')
    path, replayed = tmp_path / "run.h5", tmp_path / "replay.h5"
    run_scenario(parse_scenario(text, source="study.toml"), text, path, force=False, resume=False)
    record = read_run(path)
    assert record.work.participation == Participation(count=4)
    silosim("replay", str(path), "-o", str(replayed)).ok()
    again = read_run(replayed)
    assert again.work.participation == Participation(count=4)
    assert np.array_equal(record.overlays[0].wall_clock_s, again.overlays[0].wall_clock_s)
    silosim("timeline", str(path), "--json").ok()
    study = tmp_path / "study.toml"
    study.write_text(f'[study]\nrun = "{path}"\n[study.grid]\n"workload.participation" = [1, 2]\n')
    assert (
        "would alter the learning"
        in silosim("study", str(study), "-o", str(tmp_path / "o.csv")).failed(2).err
    )


@pytest.mark.parametrize(("stated", "silos"), [(1, 11), (11, 11), (1, 1), (12, None)])
def test_so_many_silos_as_there_are_may_take_part(stated, silos):
    assert participation_of(stated, silos=silos) == Participation(count=stated)


@pytest.mark.parametrize(
    ("participation", "words"),
    [
        (None, ""),
        (Participation(share=0.25), ", in a round by each silo with probability 0.25"),
        (Participation(count=3), ", in a round by 3 of 11 silos"),
    ],
)
def test_who_computes_is_said_in_words(participation, words):
    assert participation_text(participation, 11) == words
