"""A run that cannot fit says so before it simulates, trains or writes."""

import re

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.studies.run import plan_run, run_scenario
from topologies import MachineError
from training import check_data
from training.memory.memory_plan import measure_activations, plan_memory


@pytest.fixture
def nothing_starts(monkeypatch):
    for name in ("run_job", "train_overlay", "RunFile.create"):
        monkeypatch.setattr(
            f"scenarios.studies.run.{name}", lambda *_, _name=name, **__: pytest.fail(f"{_name} was called")
        )


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(
    ("available", "advice"),
    [
        # A silo's batch of a million digits takes 1.84 GB, and a rank 0.11 GB beside its silos.
        (2 * (3.5 * 1.84e9 + 0.11e9), "3 silos per rank would fit: 4 ranks on 2 machines like this."),
        (2 * (1.5 * 1.84e9 + 0.11e9), "1 silo per rank would fit: 11 ranks on 6 machines like this."),
        (
            2 * (0.5 * 1.84e9 + 0.11e9),
            "not one silo per rank would fit: take fewer ranks or a smaller batch_size.",
        ),
    ],
)
def test_the_error_says_how_many_silos_per_rank_would_fit(silosim, scenario, monkeypatch, available, advice):
    text = scenario.read_text().replace("ranks = 1", "ranks = 2")
    scenario.write_text(text + 'batch_size = 1000000\nexecutor = "vmap"\n')
    monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: available)
    result = silosim("run", scenario, "-o", scenario.with_name("x.h5"))

    assert result.code == 3
    assert result.out == ""
    # Where a machine compiles the designer's code for long, lines say so before.
    *waiting, error = result.err.splitlines(keepends=True)
    assert all(" ..., after " in line for line in waiting)
    start, _, end = error.partition("; ")
    assert start.startswith("silosim: error: training must fit into memory: ")
    for fact in ("2 ranks", "11 silos", "rank 0", "20.5 GB", f"{available / 1e9:.3g} GB"):
        assert fact in start
    assert re.findall(r"\d+", end) == re.findall(r"\d+", advice)
    assert all(word in end for word in advice.split() if "_" in word)
    assert end.count("\n") == 1
    assert list(scenario.parent.iterdir()) == [scenario]


def needs(plan):
    """What all ranks of each training will take, with their own copies of the data."""
    config = plan.scenario.training
    checked = check_data(config, silos=plan.graph.silos, seed=plan.scenario.seed)
    activations = measure_activations(checked.model, checked.dataset, kernels=True)
    data = checked.dataset
    arrays = (data.train_inputs, data.train_labels, data.test_inputs, data.test_labels)
    return [
        config.ranks * sum(array.nbytes for array in arrays)
        + sum(
            plan_memory(
                job,
                checked.model,
                checked.dataset,
                checked.parts,
                activations,
                rank=rank,
                ranks=config.ranks,
                gpu=False,
            ).new
            for rank in range(config.ranks)
        )
        for job in plan.trainings
    ]


@pytest.mark.usefixtures("nothing_starts")
def test_the_second_overlay_is_refused_before_the_first_is_trained(tmp_path, small_scenario, monkeypatch):
    # A rank of the ring receives the models of two silos at most, one of the complete graph those of five or six.
    text = small_scenario.replace('["star", "ring"]', '["ring", "complete"]').replace("softmax", "cnn")
    text = text.replace("ranks = 1", "ranks = 2")
    scenario = parse_scenario(text, source="x.toml")
    ring, complete = needs(plan_run(scenario))
    assert complete - ring > 1e5
    monkeypatch.setattr("training.memory.memory_budget.available_bytes", lambda: (ring + complete) / 2)

    with pytest.raises(
        MachineError, match=r"^training must fit into memory: 2 ranks with 11 silos on the mach"
    ):
        run_scenario(scenario, text, tmp_path / "x.h5", force=False, resume=False)
    assert not list(tmp_path.iterdir())
    alone = text.replace('["ring", "complete"]', '["ring"]')
    assert len(plan_run(parse_scenario(alone, source="x.toml")).trainings) == 1
