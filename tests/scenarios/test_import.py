"""Imported metrics are shown, plotted and replayed like any run."""

import json

import h5py
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from scenarios.config.scenario import parse_scenario
from scenarios.config.simulation import SimulationConfig
from scenarios.runfile.reader import read_run

pytestmark = pytest.mark.usefixtures("compiled_simulations")

ON_GAIA = ("--on", "gaia", "--workload", "inaturalist")


def size_of(path):
    with Image.open(path) as image:
        return image.size


@pytest.fixture
def metrics(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("round,loss,acc\n" + "".join(f"{k},{3 / (k + 1)},{k / 40}\n" for k in (0, 10, 20, 40)))
    return path


def test_the_rows_get_the_times_of_each_overlay(silosim, metrics, tmp_path):
    path = tmp_path / "run.h5"
    arguments = (*ON_GAIA, "--kind", "star", "--kind", "ring", "--target-accuracy", 0.5, "--json")
    result = silosim("import-metrics", metrics, *arguments, "-o", path)
    rows = {row["overlay"]: row for row in json.loads(result.out)["rows"]}

    assert result.code == 0, result.err
    with h5py.File(path) as file:
        for kind in ("star", "ring"):
            starts = file[f"simulation/{kind}/round_start_s"][:].max(axis=1)
            # Of a network as many are simulated as of a scenario that says nothing, here more than the metrics have.
            assert len(starts) == SimulationConfig().rounds + 1
            assert file[f"training/{kind}/round"][:].tolist() == [0, 10, 20, 40]
            assert file[f"training/{kind}/train_loss"][:].tolist() == [3, 3 / 11, 3 / 21, 3 / 41]
            assert np.isnan(file[f"training/{kind}/test_loss"][:]).all()
            assert file[f"training/{kind}/silo_loss"].shape == (4, 11)
            assert np.array_equal(file[f"replay/{kind}/wall_clock_s"][:], starts[[0, 10, 20, 40]])
            assert rows[kind]["rounds_to_target"] == 20
            assert rows[kind]["time_to_target_s"] == starts[20]
    assert "train_loss from loss, test_accuracy from acc." in " ".join(result.err.split())


@pytest.mark.usefixtures("placeholder_figures")
def test_it_is_shown_plotted_and_replayed(silosim, metrics, tmp_path):
    path, other = tmp_path / "run.h5", tmp_path / "other.h5"
    silosim("import-metrics", metrics, *ON_GAIA, "--kind", "ring", "--target-accuracy", 0.5, "-o", path).ok()
    shown = silosim("show", path)
    replayed = silosim("replay", path, "--access", "100 Mbps", "-o", other)
    (before,), (after,) = read_run(path).overlays, read_run(other).overlays

    assert (shown.code, replayed.code, silosim("plot", path).code) == (0, 0, 0)
    assert "metrics of metrics.csv" in " ".join(shown.out.split())
    assert "to a test accuracy of 0.5" in replayed.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert before.history.keys() == after.history.keys()
    for name in before.history:
        np.testing.assert_array_equal(before.history[name], after.history[name])
    assert after.wall_clock_s[-1] > before.wall_clock_s[-1] > 0
    assert other.with_suffix(".png").exists()


@pytest.mark.usefixtures("coarse_figures")
def test_a_loss_or_an_accuracy_alone_is_drawn_in_one_row(silosim, metrics, tmp_path):
    loss, accuracy = tmp_path / "loss.csv", tmp_path / "accuracy.csv"
    loss.write_text("round,val_loss\n0,2.5\n40,0.5\n")
    accuracy.write_text("round,acc\n0,0.1\n20,0.6\n")
    target = ("--target-accuracy", 0.5)
    for name, file, more in (("both", metrics, target), ("loss", loss, ()), ("accuracy", accuracy, target)):
        path = tmp_path / f"{name}.h5"
        silosim("import-metrics", file, *ON_GAIA, "--kind", "ring", *more, "-o", path).ok()
        silosim("plot", path).ok()
    both, *alone = (size_of(tmp_path / f"{name}.png") for name in ("both", "loss", "accuracy"))

    for size in alone:
        assert both[0] == size[0]
        assert size[1] < both[1]
    assert read_run(tmp_path / "loss.h5").overlays[0].wall_clock_s[1] > 0


@pytest.mark.usefixtures("placeholder_figures")
def test_an_accuracy_alone_is_shown_and_replayed(silosim, tmp_path):
    path = tmp_path / "accuracy.csv"
    path.write_text("round,acc\n0,0.1\n20,0.6\n")
    alone, other = tmp_path / "alone.h5", tmp_path / "other.h5"
    silosim("import-metrics", path, *ON_GAIA, "--kind", "ring", "--target-accuracy", 0.5, "-o", alone).ok()
    replayed = silosim("replay", alone, "--access", "100 Mbps", "-o", other)
    (before,), (after,) = read_run(alone).overlays, read_run(other).overlays

    assert "to a test accuracy of 0.5" in silosim("show", alone).ok().out
    assert (replayed.code, other.with_suffix(".png").exists()) == (0, True)
    assert before.history["test_accuracy"].tolist() == after.history["test_accuracy"].tolist() == [0.1, 0.6]
    assert np.isnan(after.history["train_loss"]).all()
    assert after.first_round_at(0.5) == (20, after.wall_clock_s[1])


def test_a_scenario_gives_overlays_simulation_and_model_size(silosim, metrics, scenario, tmp_path):
    scenario.write_text(scenario.read_text().replace("rounds = 30\n", 'rounds = 30\nuntil_ci = "5 %"\n'))
    path = tmp_path / "run.h5"
    result = silosim("import-metrics", metrics, "--on", scenario, "-o", path)
    record = read_run(path)
    kept = parse_scenario(record.scenario, source="run.h5")

    assert result.code == 0, result.err
    assert [overlay.kind for overlay in record.overlays] == ["star", "ring"]
    assert record.work.model_bits == 32 * 650
    assert (kept.seed, kept.training, kept.imported.file) == (3, None, str(metrics))
    assert (kept.simulation.rounds, kept.simulation.until_ci) == (40, None)
    scenario.write_text(record.scenario)
    assert (
        "imported goes with the file of a run"
        in silosim("run", scenario, "-o", tmp_path / "b.h5").failed(2).err
    )


def test_what_cannot_be_imported_leaves_no_file(silosim, metrics, tmp_path):
    path = tmp_path / "run.h5"
    loss = tmp_path / "loss.csv"
    loss.write_text("round,loss\n0,2.5\n1,nan\n")
    bad = silosim("import-metrics", loss, *ON_GAIA, "-o", path)
    loss.write_text("round,loss\n0,2.5\n")
    no_accuracy = silosim("import-metrics", loss, *ON_GAIA, "-o", path, "--target-accuracy", 0.5)
    target = silosim("import-metrics", metrics, *ON_GAIA, "-o", path, "--target-accuracy", 80)

    assert (bad.code, no_accuracy.code, target.code) == (2, 2, 2)
    assert bad.err == f"silosim: error: {loss}, line 3: loss(='nan') must be a finite number.\n"
    assert "--accuracy names its column" in no_accuracy.err
    assert "target_accuracy(=80.0) must be > 0 and <= 1." in target.err
    assert not list(tmp_path.glob("run.h5*"))


def test_size_and_time_of_the_model_are_given_or_a_task_is_named(silosim, metrics, tmp_path):
    path = tmp_path / "run.h5"
    base = ("import-metrics", metrics, "--on", "gaia", "--kind", "ring", "-o", path)
    nothing = silosim(*base)
    no_size = silosim(*base, "--compute", "25 ms")
    no_time = silosim(*base, "--model-size", "45 MB")

    assert (nothing.code, no_size.code, no_time.code) == (2, 2, 2)
    assert nothing.err.startswith("silosim: error: --model-size and --compute must be given")
    assert no_size.err.startswith("silosim: error: --model-size must be given")
    assert no_time.err.startswith("silosim: error: --compute must be given")
    assert not path.exists()
    assert "[default: inaturalist]" not in silosim("import-metrics", "--help").ok().out
    assert "[default: inaturalist]" in silosim("simulate", "--help").ok().out
    for given, about in (
        (("--model-size", "45 MB", "--compute", "25 ms"), "custom: 360 Mbit, 1 local step of 25.00 ms"),
        (("--workload", "inaturalist"), "inaturalist: 359 Mbit, 1 local step of 25.40 ms"),
        (
            ("--workload", "femnist", "--compute", "7 ms"),
            "custom, model of femnist: 38.62 Mbit, 1 local step of 7.000 ms",
        ),
    ):
        result = silosim(*base, *given, "--force")
        assert result.code == 0, result.err
        assert read_run(path).about.splitlines()[2] == about


@pytest.mark.slow
def test_a_curve_on_several_overlays_compares_times_of_rounds(silosim, metrics, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    path, note = (
        tmp_path / "run.h5",
        "one imported curve for all overlays: vs STAR compares times of the same rounds.",
    )
    base = ("import-metrics", metrics, *ON_GAIA, "--kind", "star", "--kind", "ring", "-o", path)
    result = silosim(*base, "--target-accuracy", 0.5, "--json").ok()
    star, ring = json.loads(result.out)["rows"]

    assert note in json.loads(result.out)["notes"]
    assert note in json.loads(silosim("show", path, "--json").ok().out)["notes"]
    assert note in silosim("show", path).ok().out.splitlines()
    assert star["rounds_to_target"] == ring["rounds_to_target"] == 20
    with h5py.File(path) as file:
        starts = [file[f"simulation/{kind}/round_start_s"][20].max() for kind in ("star", "ring")]
    assert ring["speedup"] == starts[0] / starts[1]
    silosim("plot", path).ok()
    silosim("replay", path, "--access", "100 Mbps", "-o", tmp_path / "other.h5").ok()
    for figure in drawn:
        left, right = figure.axes[:2]
        assert [len(axis.lines) for axis in (left, right)] == [1, 2]
        assert left.lines[0].get_xdata().tolist() == [0, 10, 20, 40]
        assert left.get_title() == "one imported curve, on every overlay"
        assert right.get_title() == "only cycle times differ"
    assert len(drawn) == 2
    assert note in silosim("show", tmp_path / "other.h5").ok().out.splitlines()
    # Without a target there is no ratio, with one overlay nothing to compare.
    assert "one imported curve for all overlays: only the times differ." in silosim(*base, "--force").ok().out
    alone = silosim("import-metrics", metrics, *ON_GAIA, "--kind", "ring", "-o", path, "--force").ok()
    assert "every overlay" not in alone.out + alone.err
