"""What is left out of a network's file: options, scenario keys, notes of all commands, and the file of a run."""

import json

import h5py
import pytest

from scenarios.cli.main import main
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.replay_changes import replay_changes
from scenarios.config.scenario import parse_scenario
from scenarios.config.simulation import SimulationConfig
from scenarios.config.toml import scenario_text
from scenarios.runfile.reader import read_run
from scenarios.studies.relocation import RecordedRun
from scenarios.studies.replay import replay
from topologies import InputError, Workload

pytestmark = pytest.mark.usefixtures("compiled_simulations")

WORK = Workload(model_bits=1e6, compute_s=0.01)
ZOO = """graph [
  node [ id 0 label "None" Internal 1 Longitude 4.84 Latitude 45.76 ]
  node [ id 1 label "None" Internal 1 Longitude 7.69 Latitude 45.07 ]
  node [ id 2 label "Zurich" Internal 1 Longitude 8.54 Latitude 47.37 ]
  node [ id 3 label "GEANT" Internal 0 ]
  node [ id 4 label "Oslo" Internal 1 Longitude 10.75 Latitude 59.91 ]
  edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" ]
  edge [ source 1 target 2 LinkSpeed "155" LinkSpeedUnits "M" ]
  edge [ source 2 target 3 ]
]
"""
OPTIONS = ["--internal-only", "--largest-component"]
NOTES = [
    "left out 1 external node and 1 link; kept the largest of 2 components: left out 1 node; numbered 1 label that "
    "occurs more than once.",
]


@pytest.fixture
def silosim(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with the file; exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "zoo.gml").write_text(ZOO)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["silosim", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(stopped.value.code or 0), *capsys.readouterr()

    return run


@pytest.mark.usefixtures("placeholder_figures")
@pytest.mark.parametrize(
    "command",
    [
        ["design", "zoo.gml", "--kind", "ring"],
        ["explain", "zoo.gml"],
        ["simulate", "zoo.gml", "--kind", "ring"],
        ["validate", "zoo.gml", "--kind", "ring"],
        ["sweep", "zoo.gml", "--kind", "ring", "--access", "1 Gbps"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_says_what_was_left_out(silosim, command):
    code, _, err = silosim(*command)
    assert code == 2
    assert len(err.splitlines()) == 1
    for option in OPTIONS:
        assert option in err

    code, out, err = silosim(*command, *OPTIONS)
    assert code == 0, err
    for note in NOTES:
        assert " ".join(out.split()).count(note) == 1


def test_json_has_the_notes(silosim):
    code, out, _ = silosim("simulate", "zoo.gml", "--kind", "ring", "--json", *OPTIONS)

    assert code == 0
    assert " ".join(NOTES) in " ".join(json.loads(out)["notes"])


def scenario(**network):
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in network.items())
    return (
        f'name = "zoo"\n[network]\nunderlay = "zoo.gml"\n{keys}\n[workload]\nmodel_size = "1 Mbit"\ncompute = "10 ms"\n'
        '[overlays]\nkinds = ["ring"]\n[simulation]\nrounds = 10\n'
    )


def test_a_run_keeps_the_notes_and_its_replay_the_network(silosim, tmp_path):
    (tmp_path / "study.toml").write_text(scenario(internal_only=True, largest_component=True))
    code, out, err = silosim("run", "study.toml", "-o", "study.h5")
    assert code == 0, err
    assert " ".join(NOTES) in " ".join(out.split())

    with h5py.File("study.h5") as file:
        assert [str(note) for note in file["underlay"].attrs["notes"]] == NOTES
        assert json.loads(file.attrs["network"])["internal_only"] is True
    assert read_run(tmp_path / "study.h5").underlay.notes == tuple(NOTES)

    (tmp_path / "zoo.gml").unlink()
    code, out, err = silosim("replay", "study.h5", "--access", "1 Gbps", "-o", "slow.h5")
    assert code == 0, err
    assert " ".join(NOTES) in " ".join(out.split())


def test_a_replay_on_another_file(silosim, tmp_path):
    (tmp_path / "study.toml").write_text(scenario(internal_only=True, largest_component=True))
    assert silosim("run", "study.toml", "-o", "study.h5")[0] == 0
    (tmp_path / "other.gml").write_text(ZOO.replace("Zurich", "Basel"))

    code, _, err = silosim("replay", "study.h5", "--underlay", "other.gml", "-o", "other.h5")
    assert code == 2
    assert "--internal-only" in err
    code, _, err = silosim("replay", "study.h5", "--underlay", "other.gml", "-o", "other.h5", *OPTIONS)
    assert code == 0, err
    assert read_run(tmp_path / "other.h5").underlay.labels == ("Basel", "None", "None/2")
    with pytest.raises(InputError, match=r"internal_only\(=True\) goes with another underlay"):
        replay(
            RecordedRun.open(tmp_path / "study.h5"),
            tmp_path / "no.h5",
            replay_changes(internal_only=True),
            force=False,
        )


def test_the_text_of_a_scenario_has_the_keys_only_where_they_are_true():
    def text(**left_out):
        network = NetworkConfig(underlay="gaia", **left_out)
        return scenario_text(network, WORK, [OverlayConfig(kind="ring")], SimulationConfig(rounds=5), 0)

    assert "internal_only" not in text()
    assert "largest_component" not in text()
    written = text(internal_only=True)
    assert "internal_only = true\n" in written
    assert parse_scenario(written, source="x").network == NetworkConfig(underlay="gaia", internal_only=True)


def test_a_key_is_true_or_false():
    with pytest.raises(InputError, match=r"network\.internal_only\(='yes'\)"):
        parse_scenario(scenario(internal_only="yes"), source="x")


def test_another_underlay_drops_what_is_left_out_of_the_old_one():
    old = NetworkConfig(underlay="zoo.gml", internal_only=True, largest_component=True)

    assert old.changed(underlay="gaia") == NetworkConfig(underlay="gaia")
    assert old.changed(underlay="gaia", internal_only=True).internal_only
    assert old.changed(access="1 Gbps").largest_component


def test_a_network_that_states_everything_stays_as_it_is():
    plain = build_network(NetworkConfig(underlay="geant"))
    found = build_network(NetworkConfig(underlay="geant", internal_only=True, largest_component=True))

    assert found.labels == plain.labels
    assert found.underlay.notes == ("no node states Internal, so that none is external.",)
