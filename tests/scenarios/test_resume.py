"""`silosim run --resume`: the file of a run that was killed is that of one that was not."""

import json
import os
import re
import shutil

import h5py
import numpy as np
import pytest
import torch
from same_file import assert_same_file

from scenarios.config.scenario import parse_scenario
from scenarios.runfile.artifacts import checkpoints_path, models_path
from scenarios.runfile.reader import read_run
from scenarios.studies.run import run_scenario
from topologies import MachineError, load_underlay
from training.checkpoints.checkpoint_manager import CheckpointManager
from training.checkpoints.model_export import read_row
from training.models import build_model

KILLER = """
import os, signal
if os.environ.get("PMI_RANK") == "1":
    import training.engine.rank_silos
    mix, calls = training.engine.rank_silos.RankSilos.mix, []
    def mix_or_die(self, number):
        calls.append(number)
        if len(calls) == 10:
            os.kill(os.getpid(), signal.SIGKILL)
        mix(self, number)
    training.engine.rank_silos.RankSilos.mix = mix_or_die
"""


def with_checkpoints(text):
    return text + "checkpoint_every = 4\nkeep_models = true\n"


@pytest.mark.slow
def test_a_killed_run_goes_on_with_other_ranks_to_the_same_file(
    tmp_path, scenario, small_scenario, silosim, monkeypatch
):
    path, whole = tmp_path / "x.h5", tmp_path / "whole.h5"
    # One overlay, as ranks start anew for each. On one rank, in this process.
    alone = small_scenario.replace('"star", ', "") + 'executor = "loop"\n'
    text = alone.replace("ranks = 1", "ranks = 2")
    run_scenario(parse_scenario(alone, source="small.toml"), alone, whole, force=False, resume=False)
    scenario.write_text(with_checkpoints(text))
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    with monkeypatch.context() as patch:
        # Only the ranks are new processes, which read it.
        patch.setenv("PYTHONPATH", paths)
        killed = silosim("run", scenario, "-o", path).failed(1)
    assert (
        f"the finished rounds are in {path}.partial; --resume continues from the last checkpoint"
        in killed.err
    )
    last = killed.err.splitlines()[-1]
    assert last.startswith("silosim: error: ")
    assert all(fact in last for fact in ("rank", "signal 9 (SIGKILL)", "memory"))
    assert "=====" not in killed.err
    (ring,) = read_run(tmp_path / "x.h5.partial").overlays
    assert ring.history["round"].tolist() == [0, 5]

    scenario.write_text(with_checkpoints(alone))
    resumed = silosim("run", scenario, "-o", path, "--resume").ok()
    folder = checkpoints_path(path)
    assert resumed.err.count(f"resumed from round 8 of {folder / 'ring'}\n") == 1
    assert_same_file(path, whole)
    with h5py.File(path) as file:
        assert "resumed from round 8" in file["training/ring"].attrs["notices"].decode()
    assert not folder.exists()
    assert sorted(file.name for file in models_path(path).iterdir()) == [
        f"ring-{name}.{ending}" for name in ("best", "last") for ending in ("json", "pt")
    ]
    best = read_row(models_path(path), "ring-best")
    history = read_run(path).overlays[0].history
    assert best.test_accuracy == history["test_accuracy"].max()
    assert best.round in history["round"]
    model = build_model("softmax", input_shape=(1, 8, 8), classes=10, seed=0)
    model.load_state_dict(torch.load(models_path(path) / "ring-last.pt", weights_only=True))


@pytest.fixture
def cut_short(tmp_path, scenario, small_scenario, silosim, monkeypatch):
    """A run of one overlay in this process that ends after its checkpoint of round 8."""
    scenario.write_text(with_checkpoints(small_scenario.replace('"star", ', "")))

    def ends(manager, k, rank_silos, write=CheckpointManager.save):
        if k > 8:
            raise MachineError("the machine ends here")
        write(manager, k, rank_silos)

    with monkeypatch.context() as patch:
        patch.setattr("training.checkpoints.checkpoint_manager.CheckpointManager.save", ends)
        done = silosim("run", scenario, "-o", tmp_path / "x.h5")
    assert done.code == 3
    return tmp_path / "x.h5"


@pytest.mark.slow
def test_what_a_cut_run_kept_is_neither_lost_nor_taken_for_that_of_another(silosim, scenario, cut_short):
    folder, partial = checkpoints_path(cut_short), cut_short.with_name("x.h5.partial")
    refused = silosim("run", scenario, "-o", cut_short)
    assert refused.code == 2
    assert refused.err.startswith(f"silosim: error: {folder} ")
    assert all(option in refused.err for option in ("--resume", "--force"))
    assert refused.err.count("\n") == 1
    text = scenario.read_text()
    for changed, message in (
        (text.replace("seed = 3", "seed = 4"), "seed(=4) must be 3 as in"),
        (
            text.replace("learning_rate = 0.5", "learning_rate = 0.4"),
            "training.learning_rate(=0.4) must be 0.5 as in",
        ),
        (
            text.replace("checkpoint_every = 4", ""),
            f"{scenario}: training.checkpoint_every(=0) must be >= 1 for --resume.",
        ),
        (
            text[: text.index("[training]")],
            f"{scenario}: --resume needs a scenario with a table [training].",
        ),
    ):
        scenario.write_text(changed)
        refused = silosim("run", scenario, "-o", cut_short, "--resume")
        assert refused.code == 2
        assert message in refused.err
        if "as in" in message:
            both = silosim("run", scenario, "-o", cut_short, "--resume", "--force").failed(2)
            assert both.err == refused.err
            assert both.err.endswith(
                " Use --resume with the scenario that made it, or --force without --resume to start again with this "
                "one.\n"
            )
        assert refused.err.count("\n") == 1
        assert read_run(partial).overlays[0].history["round"].tolist() == [0, 5]
    scenario.write_text(text)
    resumed = silosim("run", scenario, "-o", cut_short, "--resume")
    assert resumed.code == 0
    assert f"resumed from round 8 of {folder / 'ring'}\n" in resumed.err
    assert not folder.exists()
    assert not partial.exists()


@pytest.mark.parametrize(
    ("name", "is_last"),
    [
        ("rows.jsonl", True),
        ("round-000008/best.pt", False),
        ("round-000008/head.json", False),
        ("round-000008/silos-00000-00010.npz", False),
    ],
)
def test_a_damaged_checkpoint_is_named_before_anything_is_touched(
    silosim, scenario, cut_short, name, is_last
):
    folder = checkpoints_path(cut_short) / "ring"
    way_out = f"remove {folder / 'round-000008'} to continue from round 4."
    if is_last:
        way_out = (
            "no whole checkpoint, with all rows before it, is left from which this training could continue: silosim "
            f"show {cut_short}.partial reads the rows so far, --force without --resume starts again."
        )
    file = checkpoints_path(cut_short) / "ring" / name
    data = file.read_bytes()
    file.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    for _ in range(2):
        refused = silosim("run", scenario, "-o", cut_short, "--resume")
        assert refused.code == 3
        assert refused.err.startswith(f"silosim: error: {file} cannot be read: ")
        assert refused.err.endswith(f"; {way_out}\n")
        assert refused.err.count("\n") == 1
        assert "checksum" in refused.err
        partial = read_run(cut_short.with_name("x.h5.partial"))
        assert partial.overlays[0].history["round"].tolist() == [0, 5]
    if is_last:
        file.write_bytes(data)
    else:
        shutil.rmtree(folder / "round-000008")
    assert f"resumed from round {8 if is_last else 4} of" in (
        silosim("run", scenario, "-o", cut_short, "--resume").ok().err
    )


@pytest.mark.slow
@pytest.mark.parametrize(("log_every", "last_row"), [(5, 5), (12, 0)])
def test_show_says_how_far_a_training_had_come(
    silosim, scenario, tmp_path, small_scenario, monkeypatch, log_every, last_row
):
    text = small_scenario.replace("log_every = 5", f"log_every = {log_every}") + 'executor = "loop"\n'
    path, whole, kinds = tmp_path / "x.h5", tmp_path / "whole.h5", []
    run_scenario(parse_scenario(text, source="small.toml"), text, whole, force=False, resume=False)
    scenario.write_text(with_checkpoints(text))

    def ends(manager, k, rank_silos, write=CheckpointManager.save):
        kinds.append(k)
        if len(kinds) > 13 and k > 8:
            raise MachineError("the machine ends here")
        write(manager, k, rank_silos)

    with monkeypatch.context() as patch:
        patch.setattr("training.checkpoints.checkpoint_manager.CheckpointManager.save", ends)
        silosim("run", scenario, "-o", path).failed(3)
    shown = silosim("show", f"{path}.partial")
    assert shown.code == 0
    head, _, star, ring = shown.out[shown.out.index("overlay ") :].splitlines()[:4]
    column = head.split().index("trained")
    assert (star.split()[column], ring.split()[column]) == ("12", "8")
    assert "trained: round reached, of 12, where the run was interrupted." in shown.out
    rows = json.loads(silosim("show", f"{path}.partial", "--json").ok().out)["rows"]
    assert [row["trained_rounds"] for row in rows] == [12, 8]
    # Without its checkpoints the last row tells.
    checkpoints_path(path).rename(tmp_path / "elsewhere")
    rows = json.loads(silosim("show", f"{path}.partial", "--json").ok().out)["rows"]
    assert [row["trained_rounds"] for row in rows] == [12, last_row]
    (tmp_path / "elsewhere").rename(checkpoints_path(path))
    resumed = silosim("run", scenario, "-o", path, "--resume").ok()
    # An overlay that was complete, too, and is not trained again.
    for kind, round_reached in (("star", 12), ("ring", 8)):
        told = f"resumed from round {round_reached} of {checkpoints_path(path) / kind}\n"
        assert resumed.err.count(told) == 1
    assert_same_file(path, whole)
    assert sorted(file.name for file in models_path(path).iterdir()) == [
        f"{kind}-{name}.{ending}"
        for kind in ("ring", "star")
        for name in ("best", "last")
        for ending in ("json", "pt")
    ]
    assert "trained:" not in silosim("show", path).ok().out


@pytest.mark.slow
def test_force_starts_anew_and_replaces_models(silosim, scenario, cut_short):
    (models_path(cut_short)).mkdir()
    (models_path(cut_short) / "mst-best.pt").touch()
    done = silosim("run", scenario, "-o", cut_short, "--force")
    assert done.code == 0
    assert "resumed" not in done.err
    assert not checkpoints_path(cut_short).exists()
    assert sorted(file.suffix for file in models_path(cut_short).glob("ring-*")) == [
        ".json",
        ".json",
        ".pt",
        ".pt",
    ]
    assert not (models_path(cut_short) / "mst-best.pt").exists()
    cut_short.unlink()
    refused = silosim("run", scenario, "-o", cut_short)
    assert refused.code == 2
    assert f"{models_path(cut_short)} exists already; --force replaces it." in refused.err


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_the_log(
    silosim, scenario, small_scenario, tmp_path, ranks
):
    text = small_scenario.replace("ranks = 1", f"ranks = {ranks}").replace('"star", ', "")
    text = text.replace('"softmax"', '"cnn"').replace("log_every = 5", "log_every = 2")
    # Parameters of about 1e9 after a few rounds, whose products overflow some rounds later.
    scenario.write_text(text.replace("learning_rate = 0.5", "learning_rate = 3e3"))
    done = silosim("run", scenario, "-o", tmp_path / "x.h5")
    assert done.code == 1
    (line,) = [line for line in done.err.splitlines() if "error" in line]
    match = re.fullmatch(
        r"silosim: error: training diverged: (.+) \(silo (\d+)\) has no finite loss in round (\d+); "
        r"learning_rate\(=3000\.0\) must be smaller\.",
        line,
    )
    assert match
    assert match[1] == load_underlay("gaia").labels[int(match[2])]
    diverged_in = int(match[3])
    assert diverged_in >= 3
    assert f"the finished rounds are in {tmp_path / 'x.h5.partial'}\n" in done.err
    (ring,) = read_run(tmp_path / "x.h5.partial").overlays
    # All rows before the loss was found.
    assert ring.history["round"].tolist() == list(range(0, diverged_in + 1, 2))
    assert np.isfinite(ring.history["train_loss"]).all()
