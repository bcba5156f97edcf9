"""The preset of a transport protocol: what it states, and what goes before it."""

import tomllib
from dataclasses import replace

import pytest

from scenarios.config.network import (
    NetworkConfig,
    WorkloadConfig,
    build_network,
    build_workload,
    with_preset_of,
)
from scenarios.config.scenario import parse_scenario
from topologies import InputError

STATED = {"window": "3.3 MB", "acks": "tcp", "slow_start": "idle"}


def test_tcp_in_one_word_is_its_four_options():
    preset = NetworkConfig(underlay="gaia", preset="tcp")
    assert replace(preset, preset=None) == NetworkConfig(underlay="gaia", **STATED)
    assert with_preset_of(preset, WorkloadConfig(preset="inaturalist")).overhead == "tcp"
    graph = build_network(preset)
    i, j = 0, 1
    assert graph.window_bps[i, j] == pytest.approx(
        8 * 3.3e6 / (graph.latency_s[i, j] + graph.latency_s[j, i])
    )
    assert graph.rules.ack_share == 0.0184
    assert graph.slow_start.when == "idle"


@pytest.mark.parametrize(
    "stated",
    [
        {"window": "1 MiB"},
        {"window_at": {"Tokyo": "1 MiB"}},
        {"acks": "5 %"},
        {"slow_start": "always"},
        {"slow_start": "none"},
    ],
)
def test_what_is_stated_goes_before_the_preset(stated):
    config = NetworkConfig(underlay="gaia", preset="tcp", **stated)
    ((key, value),) = stated.items()
    assert getattr(config, key) == value
    others = STATED if key != "window_at" else STATED | {"window": None}
    assert {name: getattr(config, name) for name in others if name != key} == {
        name: text for name, text in others.items() if name != key
    }
    assert replace(config) == config


def test_without_a_preset_nothing_is_stated():
    assert replace(NetworkConfig(underlay="gaia", preset="none"), preset=None) == NetworkConfig(
        underlay="gaia"
    )


def test_headers_of_the_workload_go_before_the_preset():
    network = NetworkConfig(underlay="gaia", preset="tcp")
    own = WorkloadConfig(preset="inaturalist", overhead="5 %")
    assert with_preset_of(network, own) is own
    assert with_preset_of(NetworkConfig(underlay="gaia"), WorkloadConfig()).overhead is None


def test_a_scenario_with_the_preset_has_larger_models(small_scenario):
    text = small_scenario.replace("[network]\n", '[network]\npreset = "tcp"\n')
    assert tomllib.loads(text)["network"]["preset"] == "tcp"
    plain, preset = (parse_scenario(each, source="small.toml") for each in (small_scenario, text))
    assert preset.workload.overhead == "tcp"
    sizes = [build_workload(each.workload, "corrected", 1448.0).model_bits for each in (plain, preset)]
    assert sizes == [1448.0, pytest.approx(1500.0)]


def test_an_unknown_preset_is_an_error(silosim):
    with pytest.raises(InputError, match=r"^preset\(='quic'\) must be one of none, tcp"):
        NetworkConfig(underlay="gaia", preset="quic")
    result = silosim("design", "gaia", "--kind", "ring", "--preset", "quic").failed(2)
    assert result.err.count("\n") == 1


def test_commands_take_the_preset(silosim):
    result = silosim("design", "gaia", "--kind", "ring", "--preset", "tcp").ok()
    assert "windows allow" in result.out
    assert "slow start idle; acknowledgements 1.84 %" in result.out.replace("\n", " ")
    assert "overhead tcp: 371.9 Mbit" in result.out
