"""What is found beside the file of a run, with `--resume` and without."""

from importlib.resources import files

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.artifacts import checkpoints_path, is_complete, models_path
from scenarios.runfile.paths import partial_path


@pytest.fixture
def alone(scenario, small_scenario):
    """A scenario of one overlay and one rank with checkpoints and models."""
    text = small_scenario.replace('"star", ', "").replace("rounds = 30", "rounds = 6")
    text = text.replace("rounds = 12", "rounds = 6")
    scenario.write_text(text + "checkpoint_every = 4\nkeep_models = true\n")
    return scenario


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        ("checkpoint_every = 4", "--resume continues from its last checkpoint, --force starts again."),
        ("checkpoint_every = 0", "--force starts again."),
    ],
)
def test_a_kill_before_the_first_checkpoint_is_told_like_one_after_it(
    silosim, alone, tmp_path, changed, hint
):
    alone.write_text(alone.read_text().replace("checkpoint_every = 4", changed))
    folder = checkpoints_path(tmp_path / "x.h5")
    (folder / "ring").mkdir(parents=True)
    refused = silosim("run", alone, "-o", tmp_path / "x.h5")
    assert refused.code == 2
    assert refused.err == (
        f"silosim: error: {folder} is that of a run that was interrupted or is still running; {hint}\n"
    )


@pytest.mark.slow
def test_resume_may_always_be_given(silosim, alone, tmp_path):
    path = tmp_path / "x.h5"
    (tmp_path / "x.h5.partial").touch()
    done = silosim("run", alone, "-o", path, "--resume")
    assert done.code == 0
    assert f"no checkpoint in {checkpoints_path(path)}: the run starts again\n" in done.err
    kept = {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.rglob("*")}
    again = silosim("run", alone, "-o", path, "--resume")
    assert (again.code, again.out) == (0, done.out)
    assert again.err == f"{path} is complete; there is nothing to resume\n"
    assert {file: (file.stat().st_mtime_ns, file.stat().st_ino) for file in tmp_path.rglob("*")} == kept
    # Without the run's file its models are those of another run.
    path.rename(tmp_path / "y.h5")
    refused = silosim("run", alone, "-o", path, "--resume")
    assert refused.code == 2
    assert refused.err == f"silosim: error: {models_path(path)} exists already; --force replaces it.\n"


def test_a_complete_run_is_known_from_any_folder(silosim, alone, tmp_path, monkeypatch):
    (tmp_path / "net.gml").write_bytes(files("topologies").joinpath("data", "gaia.gml").read_bytes())
    alone.write_text(alone.read_text().replace('"gaia"', '"net.gml"').replace("keep_models = true", ""))
    monkeypatch.chdir(tmp_path)
    assert silosim("run", alone.name, "-o", "x.h5").code == 0
    leftover = checkpoints_path(tmp_path / "x.h5")  # of a kill just before the end
    leftover.mkdir()
    monkeypatch.chdir(tmp_path.parent)
    again = silosim("run", alone, "-o", tmp_path / "x.h5", "--resume")
    assert (again.code, again.err) == (0, f"{tmp_path / 'x.h5'} is complete; there is nothing to resume\n")
    assert not leftover.exists()


def test_only_the_complete_run_of_the_same_scenario_is_nothing_to_resume(silosim, alone, tmp_path):
    path, text = tmp_path / "x.h5", alone.read_text().replace("keep_models = true", "")
    alone.write_text(text)
    assert silosim("run", alone, "-o", path).code == 0
    assert is_complete(path, parse_scenario(text, source="small.toml"), text)
    other = text.replace("seed = 3", "seed = 4")
    assert not is_complete(path, parse_scenario(other, source="small.toml"), other)
    alone.write_text(other)
    refused = silosim("run", alone, "-o", path, "--resume")
    assert refused.code == 2
    assert refused.err.startswith(f"silosim: error: {path} exists already")
    assert "--force" in refused.err
    assert refused.err.count("\n") == 1
    # A replay and a simulation hold the same text, but not that run.
    alone.write_text(text)
    replayed, simulated, broken = (tmp_path / name for name in ("replay.h5", "simulated.h5", "broken.h5"))
    silosim("replay", path, "--access", "1 Gbps", "-o", replayed).ok()
    silosim("simulate", alone, "-o", simulated).ok()
    broken.write_bytes(path.read_bytes()[:5000])
    for file in (replayed, simulated, broken):
        assert file.exists()
        assert not is_complete(file, parse_scenario(text, source="small.toml"), text)
    # A run that was told to replace this one, and was cut short, can go on.
    partial_path(path).touch()
    assert not is_complete(path, parse_scenario(text, source="small.toml"), text)
