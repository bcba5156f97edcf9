"""Studies that train their points: the runs, the table, and what is not computed again."""

import csv
import json

import pytest
from typer.testing import CliRunner

from scenarios.cli.app import app
from scenarios.config.study import parse_study
from scenarios.runfile.reader import read_run
from scenarios.studies.study import study_points
from topologies import InputError
from training import World

STUDY = """
name = "small"
[network]
underlay = "gaia"
access = "10 Mbps"
[workload]
compute = "10 ms"
[overlays]
kinds = ["ring"]
[training]
model = "softmax"
rounds = 3
ranks = 1
learning_rate = 0.5
executor = "loop"
compression = "top_k"
target_accuracy = 0.15
[study]
train = true
grid = {{ "training.compression_ratio" = [{ratios}] }}
"""


@pytest.fixture
def run_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*options, ratios="0.1, 1.0", text=None):
        (tmp_path / "small.toml").write_text(text or STUDY.format(ratios=ratios))
        done = CliRunner().invoke(app, ["study", "small.toml", "-o", "small.csv", "--workers", "1", *options])
        rows = []
        if (tmp_path / "small.csv").exists():
            with (tmp_path / "small.csv").open() as file:
                rows = list(csv.DictReader(file))
        return done, rows

    return run


def test_each_point_has_a_run_whose_numbers_are_in_the_table(run_it, tmp_path):
    done, rows = run_it()
    assert done.exit_code == 0, done.stderr
    assert [row["training_compression_ratio"] for row in rows] == ["0.1", "1.0"]
    # The softmax has 650 numbers: 65 of them with places of 10 bits, or all.
    assert [float(row["model_bits"]) for row in rows] == [65 * 42, 650 * 32]
    for row in rows:
        record = read_run(tmp_path / f"small-point-{row['point']}.h5")
        (ring,) = record.overlays
        assert float(row["final_test_accuracy"]) == ring.history["test_accuracy"][-1]
        assert float(row["final_consensus_distance"]) == ring.history["consensus_distance"][-1]
        reached = ring.first_row_at(0.15)
        if reached is None:
            assert row["rounds_to_target"] == row["time_to_target_s"] == ""
        else:
            assert int(row["rounds_to_target"]) == ring.history["round"][reached]
            assert float(row["time_to_target_s"]) == pytest.approx(ring.wall_clock_s[reached])
    assert any(row["time_to_target_s"] for row in rows)
    assert float(rows[0]["simulated_s"]) < float(rows[1]["simulated_s"])


def test_more_points_leave_the_runs_that_are_there(run_it, tmp_path):
    _, first = run_it(ratios="0.1")
    (run,) = tmp_path.glob("small-point-*.h5")
    before = run.stat().st_mtime_ns
    done, rows = run_it(ratios="0.1, 0.5")
    assert done.exit_code == 0, done.stderr
    assert run.stat().st_mtime_ns == before
    assert rows[0] == first[0]
    assert len(list(tmp_path.glob("small-point-*.h5"))) == 2


def test_without_the_table_the_runs_are_read_again(run_it, tmp_path):
    _, first = run_it(ratios="0.1")
    (run,) = tmp_path.glob("small-point-*.h5")
    before = run.stat().st_mtime_ns
    (tmp_path / "small.csv").unlink()
    done, rows = run_it(ratios="0.1")
    assert done.exit_code == 0, done.stderr
    assert run.stat().st_mtime_ns == before
    assert rows == first


def test_force_trains_again(run_it, tmp_path):
    _, first = run_it(ratios="0.1")
    (run,) = tmp_path.glob("small-point-*.h5")
    before = run.stat().st_mtime_ns
    done, rows = run_it("--force", ratios="0.1")
    assert done.exit_code == 0, done.stderr
    assert run.stat().st_mtime_ns > before
    assert rows == first


def test_a_training_that_diverges_is_a_row_with_its_error(run_it):
    diverging = STUDY.format(ratios="0.1").replace("learning_rate = 0.5", "learning_rate = 1e38")
    done, rows = run_it(text=diverging)
    assert done.exit_code == 1, done.stderr
    assert "diverged" in rows[0]["error"]
    assert "learning_rate(=1e+38), or consensus_step, must be smaller" in rows[0]["error"]
    again, same = run_it(text=diverging)
    assert "point 1" not in again.stderr
    assert same == rows


def test_the_code_of_the_user_is_part_of_a_point(tmp_path):
    (tmp_path / "net.py").write_text("build = None\n")
    text = STUDY.format(ratios="0.1").replace('"softmax"', '"net.py:build"')

    def identity():
        (point,) = study_points(parse_study(text, source="small.toml", folder=tmp_path))
        return point.identity

    before = identity()
    assert identity() == before
    (tmp_path / "net.py").write_text("build = 1\n")
    assert identity() != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("train = true", 'train = true\nrun = "x.h5"'), r"study.train\(=True\) must not be given with run."),
        (("train = true", "train = 1"), "study.train"),
        (("train = true", "train = false"), ""),
    ],
)
def test_what_goes_with_it(tmp_path, change, message):
    text = STUDY.format(ratios="0.1").replace(*change)
    if message:
        with pytest.raises(InputError, match=message):
            study_points(parse_study(text, source="small.toml", folder=tmp_path))
    else:
        assert len(study_points(parse_study(text, source="small.toml", folder=tmp_path))) == 1


def test_a_scenario_without_training_is_not_trained(tmp_path):
    text = '[network]\nunderlay = "gaia"\n[study]\ntrain = true\ngrid = { seed = [1, 2] }\n'
    with pytest.raises(InputError, match=r"study.train\(=True\) goes with a scenario that has \[training\]."):
        study_points(parse_study(text, source="small.toml", folder=tmp_path))


def test_an_outer_launcher_is_refused(run_it, monkeypatch):
    monkeypatch.setattr("scenarios.studies.trained_points.world", lambda: World(rank=0, size=2))
    done, _ = run_it()
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "small.toml: study.train(=True) goes without an outer launcher."


def test_a_study_without_training_varies_what_decides_the_size_of_messages(run_it):
    done, rows = run_it(text=STUDY.format(ratios="0.01, 0.1").replace("train = true\n", ""))
    assert done.exit_code == 0, done.stderr
    assert [float(row["model_bits"]) for row in rows] == [6 * 42, 65 * 42]
    assert "final_test_accuracy" not in rows[0]


def test_a_stated_model_size_is_compressed_too(run_it):
    stated = STUDY.format(ratios="0.1").replace("compute =", 'model_size = "1 Mbit"\ncompute =')
    done, rows = run_it(text=stated.replace("train = true\n", ""))
    assert done.exit_code == 0, done.stderr
    assert float(rows[0]["model_bits"]) == pytest.approx(1e6 * 65 * 42 / (650 * 32))


def test_a_star_is_not_trained_with_compression(run_it):
    done, rows = run_it(text=STUDY.format(ratios="0.1, 1.0").replace('"ring"', '"star", "ring"'))
    assert isinstance(done.exception, InputError)
    assert "star: its hub sends back a mean of models, which is not compressed" in str(done.exception)
    assert rows == []


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.usefixtures("run_it")
def test_a_replay_takes_another_size_for_that_of_the_model(tmp_path):
    text = STUDY.format(ratios="0.1")
    (tmp_path / "one.toml").write_text(text[: text.index("[study]")] + "compression_ratio = 0.1\n")
    for command in (
        ["run", "one.toml", "-o", "one.h5"],
        ["replay", "one.h5", "--model-size", "1 Mbit", "-o", "moved.h5"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.stderr
    before, after = read_run(tmp_path / "one.h5").work, read_run(tmp_path / "moved.h5").work
    assert (before.name, before.model_bits) == ("trained model", 65 * 42)
    assert before.message_share == after.message_share == pytest.approx(65 * 42 / (650 * 32))
    assert after.model_bits == pytest.approx(1e6 * 65 * 42 / (650 * 32))


def designed(*options, text):
    """What `silosim design` and so on say of a scenario."""
    with open("one.toml", "w") as file:
        file.write(text[: text.index("[study]")] + "compression_ratio = 0.1\n")
    return CliRunner().invoke(app, [options[0], "one.toml", *options[1:]])


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.usefixtures("run_it")
@pytest.mark.parametrize("size", ["", 'model_size = "1 Mbit"\n'])
def test_a_sweep_compresses_messages_once(size):
    text = STUDY.format(ratios="0.1").replace("compute =", f"{size}compute =")
    design = json.loads(designed("design", "--json", text=text).stdout)
    sweep = json.loads(designed("sweep", "--access", "10 Mbps", "--json", text=text).stdout)
    (row,), (swept,) = design["rows"], sweep["rows"]
    assert swept["load_bound_s"] == pytest.approx(row["load_bound_s"], rel=1e-12)
    assert swept["paper_s"] == pytest.approx(row["paper_s"], rel=1e-12)


@pytest.mark.usefixtures("run_it")
@pytest.mark.parametrize("command", [("design",), ("simulate",), ("sweep", "--access", "10 Mbps")])
def test_a_star_with_compressed_messages_is_refused_everywhere(command):
    done = designed(*command, text=STUDY.format(ratios="0.1").replace('"ring"', '"star", "ring"'))
    assert isinstance(done.exception, InputError)
    assert "star: its hub sends back a mean of models, which is not compressed" in str(done.exception)


@pytest.mark.usefixtures("run_it")
def test_tables_say_which_share_of_the_model_a_message_is():
    assert (
        "trained model: 2.73 kbit (13.1 % of the model)"
        in designed("design", text=STUDY.format(ratios="0.1")).stdout
    )


@pytest.mark.usefixtures("run_it")
def test_a_backend_that_sends_whole_models_is_refused_everywhere(monkeypatch):
    class Plain:
        def check(self, config): ...
        def train(self, job): ...
        def message_bits(self, _config):
            return 1e6

    monkeypatch.setattr("training.backend.load_backend", lambda *_: Plain())
    done = designed("design", text=STUDY.format(ratios="0.1"))
    assert isinstance(done.exception, InputError)
    assert "training.backend(='mpi') must send compressed models: compression is top_k." in str(
        done.exception
    )


@pytest.mark.parametrize("key", ["partition", "initial_weights"])
def test_files_of_a_training_are_part_of_a_point(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    text = STUDY.format(ratios="0.1").replace("ranks = 1", f'ranks = 1\n{key} = "own.csv"')

    def identity():
        (point,) = study_points(parse_study(text, source="small.toml", folder=tmp_path))
        return point.identity

    (tmp_path / "own.csv").write_text("sample,silo\n0,Tokyo\n")
    before = identity()
    (tmp_path / "own.csv").write_text("sample,silo\n0,Oregon\n")
    assert identity() != before


@pytest.mark.parametrize("setting", ["ranks = 3", "checkpoint_every = 5", "gpu_aware_mpi = true"])
def test_what_changes_no_number_is_no_part_of_a_point(tmp_path, setting):
    texts = [STUDY.format(ratios="0.1"), STUDY.format(ratios="0.1").replace("ranks = 1", setting)]
    first, second = (
        study_points(parse_study(text, source="small.toml", folder=tmp_path))[0].identity for text in texts
    )
    assert first == second


def test_no_compression_stands_beside_compressors_whose_ratio_is_stated(tmp_path):
    text = STUDY.format(ratios="0.1").replace(
        '"training.compression_ratio" = [0.1]', '"training.compression" = ["none", "top_k", "sign"]'
    )
    text = text.replace("[study]", "compression_ratio = 0.2\n[study]")
    points = study_points(parse_study(text, source="small.toml", folder=tmp_path))
    assert [point.scenario.training.compression_ratio for point in points] == [0.01, 0.2, 0.01]


def test_an_idle_setting_that_the_point_itself_sets_is_an_error(tmp_path):
    text = STUDY.format(ratios="0.1").replace(
        "grid = {", 'grid = { "training.compression" = ["none", "top_k"],'
    )
    with pytest.raises(InputError, match="goes with compression"):
        study_points(parse_study(text, source="small.toml", folder=tmp_path))


def test_a_study_whose_messages_are_those_of_its_training_varies_anything(tmp_path):
    text = STUDY.format(ratios="0.1").replace("train = true\n", "")
    text = text.replace('"training.compression_ratio" = [0.1]', '"network.access" = ["1 Mbps", "1 Gbps"]')
    assert len(study_points(parse_study(text, source="small.toml", folder=tmp_path))) == 2
