"""`overlap` of a workload: its texts, tables, a run's file, replays, errors."""

import json

import pytest

from scenarios.config.network import WorkloadConfig, build_workload
from scenarios.config.overlap import overlap_share, overlap_text
from scenarios.runfile.reader import read_run
from topologies import InputError

LONG = ["--kind", "ring", "--access", "100 Mbps"]


def test_texts_are_shares_of_a_step_and_back():
    assert overlap_share(None) == 0.0
    assert overlap_share("backward") == 2 / 3
    assert overlap_share("50 %") == 0.5
    for text in (None, "backward", "50 %", "12.5 %", *(f"{tenths / 10} %" for tenths in range(1, 1000))):
        assert overlap_share(overlap_text(overlap_share(text))) == overlap_share(text)


@pytest.mark.parametrize("text", ["x", "", "50", "-5 %", "100 %", "Backward"])
def test_others_are_refused(text):
    with pytest.raises(InputError) as raised:
        WorkloadConfig(preset="femnist", overlap=text)
    assert str(raised.value).startswith("overlap(=")


def test_the_workload_has_the_share_and_says_so():
    config = WorkloadConfig(preset="femnist", overhead="tcp", overlap="backward", local_steps=4)
    work = build_workload(config, "corrected")

    assert (work.overlap, work.backward_share) == (2 / 3, pytest.approx(1 / 6))
    assert work.name == "femnist, overhead tcp, overlap backward"


@pytest.mark.parametrize(
    ("command", "key"),
    [("design", "paper_s"), ("simulate", "simulated_s"), ("validate", "paper_s"), ("explain", "delay_s")],
)
def test_a_round_of_transmission_is_shorter_by_the_pass(silosim, command, key):
    """Of a local step of 3 s the pass is 2 s; transmission of iNaturalist's model at 100 Mbps takes 3.6 s."""
    more = ["--rounds", "100"] if command in ("simulate", "validate") else []
    found = []
    for overlap in ([], ["--overlap", "backward"]):
        result = silosim(command, "gaia", *LONG, "--compute", "3 s", *more, *overlap, "--json")
        assert result.code == 0, result.err
        found.append(json.loads(result.out)["rows"][0][key])

    assert found[0] - found[1] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.usefixtures("placeholder_figures")
def test_a_replay_moves_the_dates_and_the_file_keeps_the_share(silosim, run_file, tmp_path):
    replayed = tmp_path / "early.h5"
    options = ["--overlap", "backward", "--compute", "1 s"]
    result = silosim("replay", str(run_file), "-o", str(replayed), *options)
    assert result.code == 0, result.err
    before, after = read_run(run_file), read_run(replayed)
    again = silosim("timeline", str(replayed), "--json")

    assert before.work.overlap == 0.0
    assert after.work.overlap == 2 / 3
    assert after.work.name.endswith("overlap backward")
    assert again.code == 0, again.err
