"""Scenarios: every wrong key and value is named in one line."""

from types import SimpleNamespace

import pytest

from scenarios.config.overlays import expected_gap
from scenarios.config.scenario import (
    ImportedConfig,
    RecordedScenario,
    _message_text,
    load_scenario,
    parse_scenario,
    preset_text,
    recorded_scenario,
    workload_of,
)
from topologies import InputError, Workload
from topologies.schedule import NamedRandomOverlay


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compression": "none", "consensus_step": 0.5}, ""),
        ({"compression": "top_k", "compression_ratio": 0.01}, "top_k (choco, compression_ratio 0.01)"),
        (
            {"compression": "random_k", "compression_ratio": 0.5, "consensus_step": 0.25},
            "random_k (choco, compression_ratio 0.5, consensus_step 0.25)",
        ),
        ({"compression": "qsgd", "quantization_levels": 16}, "qsgd (choco, quantization_levels 16)"),
        ({"compression": "sign"}, "sign (choco)"),
    ],
)
def test_compression_in_words(changes, words):
    training = {"compressed_gossip": "choco", "consensus_step": 0.0, **changes}
    assert _message_text(training) == words


@pytest.mark.parametrize("compression", ["none", "top_k", "qsgd", "sign"])
def test_a_compressed_message_is_the_same_share_of_a_stated_model_as_of_the_trained_one(graph, compression):
    """The trained model has 64 x 10 weights and 10 biases of 32 bits."""
    training = f'[training]\nmodel = "softmax"\ncompression = "{compression}"\n'
    trained, stated, preset = (
        workload_of(
            parse_scenario(f'[network]\nunderlay = "gaia"\n[workload]\n{size}\n{training}', source="x"), graph
        )
        for size in ('compute = "1 ms"', 'compute = "1 ms"\nmodel_size = "10 MB"', 'preset = "femnist"')
    )
    share = trained.model_bits / (650 * 32)
    assert (share == 1.0) == (compression == "none")
    assert [work.message_share for work in (trained, stated, preset)] == [share] * 3
    assert stated.model_bits == 80e6 * share
    assert preset.model_bits == Workload.preset("femnist").model_bits * share


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ("", RecordedScenario(name="scenario", target_accuracy=None, trained_rounds=None, is_imported=False)),
        (
            "[simulation]\nrounds = 3\n[[simulation.failure]]\n[imported]\nfile = 'a'\ntarget_accuracy = 0.5\n",
            RecordedScenario(
                name="scenario",
                target_accuracy=0.5,
                trained_rounds=None,
                is_imported=True,
                events=("failure",),
            ),
        ),
        (
            "[training]\nrounds = 7\ntarget_accuracy = 0.8\npartition = 'iid'\nmodel = 'cnn'\ndataset = 'mnist'\n",
            RecordedScenario(
                name="scenario",
                target_accuracy=0.8,
                trained_rounds=7,
                is_imported=False,
                trained="model cnn on mnist, partition iid",
            ),
        ),
        (
            "[training]\nrounds = 7\nbackend = 'lab'\n",
            RecordedScenario(
                name="scenario",
                target_accuracy=0.9,
                trained_rounds=7,
                is_imported=False,
                trained="by the backend lab",
            ),
        ),
    ],
)
def test_what_tables_of_a_run_say_of_its_scenario(tables, expected):
    assert recorded_scenario(f'[network]\nunderlay = "gaia"\n{tables}') == expected


@pytest.mark.parametrize(
    ("target", "allowed"), [(1.0, True), (0.001, True), (0.0, False), (1.001, False), (None, True)]
)
def test_the_target_of_an_imported_run(target, allowed):
    if allowed:
        assert ImportedConfig(file="a", target_accuracy=target).target_accuracy == target
    else:
        with pytest.raises(InputError, match=rf"^target_accuracy\(={target}\) must be > 0 and <= 1\.$"):
            ImportedConfig(file="a", target_accuracy=target)


def test_further_problems_are_counted():
    text = '[network]\nunderlay = "gaia"\naccess = 1\ncore = 2\nstreams = "x"\n'
    with pytest.raises(InputError) as caught:
        parse_scenario(text, source="x")
    assert str(caught.value).endswith('(=1) must be a text with a unit, as in "10 Gbps" (and 2 more).')
    with pytest.raises(InputError) as caught:
        parse_scenario(text.replace('streams = "x"\n', ""), source="x")
    assert str(caught.value).endswith(" (and 1 more).")
    with pytest.raises(InputError) as caught:
        parse_scenario(text.partition("core")[0], source="x")
    assert "more" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[simulation.failure]\nlink = 'A - B'", "simulation.failure(={'link': 'A - B'}) must be a list of tables: "
         "[[simulation.failure]]."),
        ("[network]\nsilo_at = { a = 1 }", "network.silo_at(={'a': 1}) must be a list."),
        ("[workload]\nlocal_steps = 1.5", "workload.local_steps(=1.5) must be an integer."),
        ("[network]\nsplit_flows = 1", "network.split_flows(=1) must be true or false."),
        ("[[overlays]]\nkind = 1", "overlays[0].kind(=1) must be a text, in quotes."),
        ("overlays = 3", "overlays(=3) must be a table."),
        ("[[simulation.away]]\nsilo = 'A'\nfrom_round = 1", "simulation.away[0].policy is missing."),
    ],
)  # fmt: skip
def test_problems_of_types_are_in_terms_of_toml(text, rule):
    head = "" if text.startswith("[network]") else '[network]\nunderlay = "gaia"\n'
    whole = f"{text}\n{head}" if not text.startswith("[") else f"{head}{text}\n"
    if text.startswith("[network]"):
        whole = text.replace("[network]", '[network]\nunderlay = "gaia"')
    with pytest.raises(InputError) as caught:
        parse_scenario(whole, source="x")
    assert str(caught.value) == f"x: {rule}"


@pytest.mark.parametrize(("norm", "gap"), [(0.25, 0.5), (0.0, 1.0), (-1e-17, 1.0), (1.0, 0.0), (None, None)])
def test_the_gap_of_a_randomized_overlay_is_of_the_norm_that_it_knows(norm, gap):
    base = SimpleNamespace() if norm is None else SimpleNamespace(spectral_norm=norm)
    assert expected_gap(base) == gap
    assert expected_gap(NamedRandomOverlay(kind="x", base=base, seed=None)) == gap
