"""Scenarios: every wrong key and value is named in one line."""

import pytest

from scenarios.config.scenario import load_scenario, parse_scenario, preset_text
from topologies import InputError


def test_the_shipped_scenario_is_valid():
    scenario = parse_scenario(preset_text("geant-digits"), source="geant-digits.toml")

    assert scenario.network.underlay == "geant"
    assert scenario.overlays.kinds == ("star", "mst", "ring")
    assert scenario.training is not None


def test_a_scenario_needs_only_a_network():
    scenario = parse_scenario('[network]\nunderlay = "gaia"', source="x.toml")

    assert scenario.training is None
    assert scenario.simulation.sharing == "maxmin"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[network", "not valid TOML"),
        ("", "network is missing"),
        ("[network]", r"network.underlay is missing\.$"),
        ("[netwrok]\n", r"has no key 'netwrok'; did you mean 'network'"),
        (
            '[network]\nunderlay = "gaia"\nacess = "10 Gbps"',
            r"\[network\] has no key 'acess'; did you mean 'access'",
        ),
        (
            '[network]\nunderlay = "gaia"\naccess = 10',
            r'network.access\(=10\) must be a text with a unit, as in "10 Gbps"\.$',
        ),
        (
            '[network]\nunderlay = "gaia"\nvariant = "publishd"',
            r"network.variant\(='publishd'\).*'published'",
        ),
        ('network = "gaia"', r"network\(='gaia'\) must be a table\.$"),
        ('seed = -1\n[network]\nunderlay = "gaia"', r"seed\(=-1\) must be >= 0"),
        ('seed = "1"\n[network]\nunderlay = "gaia"', r"seed\(='1'\) must be an integer\.$"),
        ('seed = true\n[network]\nunderlay = "gaia"', r"seed\(=True\)"),
        ('[network]\nunderlay = "gaia"\n[simulation]\nrounds = 0', r"simulation.rounds\(=0\) must be >= 1"),
        ('[network]\nunderlay = "gaia"\n[simulation]\nrounds = 2.5', r"simulation.rounds\(=2.5\)"),
        ('[network]\nunderlay = "gaia"\n[overlays]\nkinds = ["rung"]', "did you mean 'ring'"),
        ('[network]\nunderlay = "gaia"\n[overlays]\nkinds = []', "must name an overlay"),
        ('[network]\nunderlay = "gaia"\n[overlays]\nkinds = ["ring", "ring"]', "must not repeat"),
        (
            '[network]\nunderlay = "gaia"\n[training]\nmodle = "cnn"',
            r"\[training\] has no key 'modle'; did you mean 'model'",
        ),
        (
            '[network]\nunderlay = "gaia"\n[training]\nmodel = "cnm"',
            r"training.model\(='cnm'\).*did you mean 'cnn'",
        ),
        ('[network]\nunderlay = "gaia"\n[training]\nrounds = 0', r"rounds\(=0\)"),
        ('[network]\nunderlay = "gaia"\n[training]\nlearning_rate = "fast"', r"learning_rate\(='fast'\)"),
        ('[network]\nunderlay = "gaia"\n[training]\nlearning_rate = nan', r"training.learning_rate\(=nan\)"),
        (f'seed = {10**22}\n[network]\nunderlay = "gaia"', r"seed\(=10{22}\) must be >= 0 and < 2\^63"),
        (f'seed = {2**63}\n[network]\nunderlay = "gaia"', r"seed\(=9223372036854775808\)"),
        ('[network]\nunderlay = "gaia"\naccess = "10"', r"network.access\(='10'\) must be a number"),
        ('[network]\nunderlay = "gaia"\naccess_up = "0 bps"', r"network.access_up\(='0 bps'\) must be > 0"),
        ('[network]\nunderlay = "gaia"\naccess_at = { Paris = "1" }', r"network.access_at.Paris\(='1'\)"),
        ('[network]\nunderlay = "gaia"\ncore = "fast"', r"network.core\(='fast'\)"),
        ('[network]\nunderlay = "gaia"\n[workload]\nmodel_size = "10"', r"workload.model_size\(='10'\)"),
        ('[network]\nunderlay = "gaia"\n[workload]\ncompute = "10"', r"workload.compute\(='10'\)"),
        (
            '[network]\nunderlay = "gaia"\n[workload]\npreset = "imagenet"',
            r"workload.preset\(='imagenet'\) must be one of",
        ),
        ('[network]\nunderlay = "gaia"\n[workload]\nlocal_steps = 0', r"workload.local_steps\(=0\)"),
    ],
)
def test_errors_name_file_key_value_and_rule(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_scenario(text, source="x.toml")

    assert str(caught.value).startswith("x.toml: ")
    assert "\n" not in str(caught.value)


def test_the_largest_seed():
    assert parse_scenario(f'seed = {2**63 - 1}\n[network]\nunderlay = "gaia"', source="x").seed == 2**63 - 1


def test_an_unknown_backend_is_an_error_in_a_file_but_not_in_the_scenario_of_a_run(tmp_path):
    text = '[network]\nunderlay = "gaia"\n[training]\nbackend = "mpo"'
    path = tmp_path / "x.toml"
    path.write_text(text)

    with pytest.raises(InputError, match=r"x.toml: training.backend\(='mpo'\).*did you mean 'mpi'"):
        load_scenario(path)
    assert parse_scenario(text, source="x").training.backend == "mpo"


def test_files_that_cannot_be_read(tmp_path):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))

    with pytest.raises(InputError, match="not UTF-8"):
        load_scenario(binary)
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario(tmp_path)
