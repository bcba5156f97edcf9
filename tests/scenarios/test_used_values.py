"""The value that a key of a scenario has: stated, by default, of a designer, or none."""

from types import SimpleNamespace

import pytest

from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.scenario import parse_scenario
from scenarios.config.study import split_key
from scenarios.config.used_values import _inside, _plain, used_value

NETWORK = '[network]\nunderlay = "gaia"\naccess = "1 Gbps"\n'
KINDS = f"""{NETWORK}
[workload]
preset = "femnist"
[overlays]
kinds = ["matcha", "ring"]
[overlays.matcha]
budget = 0.25
[simulation]
rounds = 70
[[simulation.background]]
share = "10 %"
"""
AT = KINDS.replace('access = "1 Gbps"', 'access_at = { A = "2 Gbps" }')
ENTRIES = f"""{NETWORK}
[[overlays]]
kind = "matcha"
seed = 4
[[overlays]]
kind = "matcha"
budget = 0.75
name = "more"
"""


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (KINDS, "network.access", "1 Gbps"),
        (KINDS, "network.access_hub", None),
        (KINDS, "workload.preset", "femnist"),
        (KINDS, "simulation.rounds", 70),
        (KINDS, "simulation.sharing", "maxmin"),
        (KINDS, "simulation.background.0.share", "10 %"),
        (KINDS, "simulation.background.1.share", None),
        (KINDS, "simulation.failure.0.link", None),
        (KINDS, "seed", 0),
        (KINDS, "unknown", None),
        (AT, "network.access_at", {"A": "2 Gbps"}),
        (KINDS, "network.access_at", None),
        (KINDS, "network", None),
        (KINDS, "overlays", None),
        (KINDS, "overlays.kinds", ["matcha", "ring"]),
        (KINDS, "overlays.matcha.budget", 0.25),
        (KINDS, "overlays.matcha", None),
        (KINDS, "overlays.matcha.budget.more", None),
        (KINDS, "overlays.ring.seed", None),
        (KINDS, "overlays.star.hub", None),
        (KINDS, "overlays.0.budget", None),
        (ENTRIES, "overlays.kinds", None),
        (ENTRIES, "overlays.0.kind", "matcha"),
        (ENTRIES, "overlays.0.seed", 4),
        (ENTRIES, "overlays.0.budget", 0.5),
        (ENTRIES, "overlays.1.seed", None),
        (ENTRIES, "overlays.1.budget", 0.75),
        (ENTRIES, "overlays.1.name", "more"),
        (ENTRIES, "overlays.2.budget", None),
        (ENTRIES, "overlays.matcha.budget", None),
    ],
)
def test_a_key_has_its_own_value_or_the_default(text, key, value):
    assert used_value(parse_scenario(text, source="x.toml"), split_key(key)) == value


def test_a_file_is_called_as_it_is_written(tmp_path):
    (tmp_path / "nets").mkdir()
    written = {"network": {"underlay": "nets/gaia.gml"}, "seed": 3}
    found = parse_scenario('seed = 3\n[network]\nunderlay = "/far/nets/gaia.gml"', source="x.toml")
    path = ("network", "underlay")

    assert used_value(found, path) == "/far/nets/gaia.gml"
    assert used_value(found, path, written) == "nets/gaia.gml"
    # Another file, a number and a key that is not written are those of the scenario.
    assert used_value(found, path, {"network": {"underlay": "nets/geant.gml"}}) == "/far/nets/gaia.gml"
    assert used_value(found, ("seed",), written) == 3
    assert used_value(found, ("simulation", "sharing"), written) == "maxmin"


def test_a_path_leads_through_tables_lists_and_dataclasses():
    inner = SimpleNamespace(c=(1, {"0": 2}))
    assert _inside({"a": [inner]}, ["a", 0, "c", 1, 0]) == 2
    for path in (["a", 1], ["a", "x"], ["b"], ["a", 0, "d"], ["a", 0, "c", 2], ["a", 0, "c", 0, "x"]):
        assert _inside({"a": [inner]}, path) is None
    assert _inside(5, []) == 5


def test_values_as_toml_has_them():
    config = OverlayConfig(kind="ring")
    assert [_plain(value) for value in ((1, 2), (), {"a": 1}, {}, 0, "x", config, (config,), None)] == [
        *([1, 2], [], {"a": 1}, None, 0, "x", None, None, None)
    ]
