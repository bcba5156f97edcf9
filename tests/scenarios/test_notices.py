"""What a backend says reaches the user once and stays in the file."""

import math

import h5py
import pytest

from training import HistoryRow, Notice

pytestmark = pytest.mark.usefixtures("compiled_simulations")


class Telling:
    """A backend that trains nothing and says something."""

    def check(self, config):
        pass

    def count(self, job):
        return int((job.mixing.matrices[0] != 0).sum()) - job.silos

    def train(self, job):
        yield Notice("the same on every overlay")
        yield Notice(f"{self.count(job)} arcs", "of which none\nis long")
        yield Notice(f"largest weight {job.mixing.matrices.max():.3f}\nand a second line")
        for k in (*range(0, job.config.rounds, job.config.log_every), job.config.rounds):
            yield HistoryRow(
                round=k,
                train_loss=1.0,
                train_accuracy=0.5,
                test_loss=1.0,
                test_accuracy=0.5,
                consensus_distance=0.0,
                silo_loss=(1.0,) * job.silos,
            )


@pytest.fixture
def _telling(monkeypatch):
    for owner in ("scenarios.studies.run", "scenarios.studies.train"):
        monkeypatch.setattr(f"{owner}.load_backend", lambda *_: Telling())


@pytest.mark.usefixtures("_telling")
def test_notices_are_printed_once_and_kept(silosim, scenario, tmp_path):
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")

    assert done.code == 0
    assert done.err.count("the same on every overlay\n") == 1
    assert done.err.count("and a second line\n") == 2
    assert done.err.count("110 arcs\nof which none\nis long\n") == 1
    assert done.err.count("ring: 11 arcs\nlargest weight") == 1
    assert done.err.count("of which none") == 1
    with h5py.File(tmp_path / "x.h5") as file:
        for kind in ("star", "ring"):
            first, arcs, *detail, second, third = (
                file[f"training/{kind}"].attrs["notices"].decode().split("\n")
            )
            assert first == "the same on every overlay"
            assert arcs == {"star": "110 arcs", "ring": "11 arcs"}[kind]
            assert detail == {"star": ["of which none", "is long"], "ring": []}[kind]
            assert second == f"largest weight {file[f'overlays/{kind}/consensus'][()].max():.3f}"
            assert third == "and a second line"
            assert file[f"training/{kind}/round"][:].tolist() == [0, 5, 10, 12]


@pytest.mark.usefixtures("_telling")
def test_a_log_shows_the_rows_of_a_long_training(silosim, scenario, tmp_path, monkeypatch):
    quick = silosim("run", scenario, "-o", tmp_path / "quick.h5").ok()
    monkeypatch.setattr("scenarios.runtime.progress.LINE_EVERY_S", 0.0)
    done = silosim("run", scenario, "-o", tmp_path / "x.h5").ok()

    assert "round" not in quick.err
    assert [line for line in done.err.splitlines() if ": round " in line] == [
        f"{kind}: round {k} of 12, loss 1, test accuracy 0.500, after 0:00:00"
        for kind in ("star", "ring")
        for k in (0, 5, 10, 12)
    ]


def test_the_memory_plan_is_told_once_and_one_line_of_it_for_each_further_overlay(
    silosim, scenario, small_scenario, tmp_path, monkeypatch
):
    monkeypatch.setattr("training.memory.memory_budget.PLENTY", math.inf)
    text = small_scenario.replace('"ring"', '"mst", "ring"')
    scenario.write_text(text)
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")

    assert done.code == 0
    plans = [line for line in done.err.splitlines() if "memory in GB" in line]
    assert [line.partition("memory")[0] for line in plans] == ["", "mst: ", "ring: "]
    assert done.err.count("held already") == done.err.count("the machine of rank 0") == 1
    with h5py.File(tmp_path / "x.h5") as file:
        kept = [
            file[f"training/{kind}"].attrs["notices"].decode().splitlines()
            for kind in ("star", "mst", "ring")
        ]
    assert [lines[0] for lines in kept] == [line[line.index("memory") :] for line in plans]
    assert [sum(line.startswith("  ") for line in lines) for lines in kept] == [4, 0, 0]


@pytest.mark.usefixtures("_telling")
def test_a_backend_that_keeps_nothing_leaves_no_folder(silosim, scenario, small_scenario, tmp_path):
    scenario.write_text(small_scenario + "checkpoint_every = 1\nkeep_models = true\n")
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")

    assert done.code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.toml", "x.h5"]


@pytest.mark.usefixtures("_telling")
@pytest.mark.parametrize(("rounds", "every"), [(1000, 0), (999, 0), (1000, 500)])
def test_a_long_training_without_checkpoints_is_told_so_once(
    silosim, scenario, small_scenario, tmp_path, rounds, every
):
    scenario.write_text(
        small_scenario.replace("rounds = 12", f"rounds = {rounds}") + f"checkpoint_every = {every}\n"
    )
    done = silosim("run", scenario, "-o", tmp_path / "x.h5").ok()
    line = f"training.checkpoint_every(=0): nothing continues these {rounds} rounds if they are cut\n"
    assert done.err.count(line) == (rounds == 1000 and not every)
