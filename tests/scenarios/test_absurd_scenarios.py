"""Scenarios of absurd sizes: one line that names the field and the limit, within seconds."""

import pytest

from scenarios.config.scenario import parse_scenario
from scenarios.config.study import split_key
from simulator.world.background import OnOffFlow, on_off_changes
from topologies import InputError

BASE = '[network]\nunderlay = "gaia"\n[workload]\nmodel_size = "10 MB"\ncompute = "10 ms"\n'
FLOW = '[[simulation.background]]\npeak = "1 Mbps"\nmean_on = "{}"\nmean_off = "{}"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + FLOW.format("1e-300 s", "1e-300 s"), "must be >= 0.0001 s together with"),
        (BASE + FLOW.format("1 ns", "1 us"), "must be >= 0.0001 s together with"),
        (
            BASE + "".join(f'[[overlays]]\nkind = "ring"\nname = "{i}"\n' for i in range(1001)),
            "s.toml: overlays must name at most 1,000 overlays, names 1,001.",
        ),
        (BASE + "[training]\nlearning_rate = 1e308\n", "learning_rate(=1e+308) must be <= 3.4e+38"),
        (BASE + "[training]\nweight_decay = 1e39\n", "weight_decay(=1e+39) must be <= 3.4e+38"),
        (BASE + "[simulation]\nrounds = 1000000000000000000\n", "must be <= 2147483648"),
    ],
)
def test_a_scenario_of_absurd_sizes_is_refused(text, said):
    def read() -> None:
        parse_scenario(text, source="s.toml").simulation.simulator_events(seed=0)

    with pytest.raises(InputError) as refused:
        read()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_flow_of_endless_times_stops_with_floating_point():
    flow = OnOffFlow(peak_bps=1.0, mean_on_s=1e308, mean_off_s=1e308, seed=0)
    assert 0 < len(list(on_off_changes(flow, 0))) < 100


def test_a_window_of_any_size_is_no_limit_and_no_warning(silosim):
    result = silosim(
        "design", "gaia", "--window", "1e300 B", "--streams", 10**18, "--rates-from", "paper"
    ).ok()
    assert result.err == ""


def test_a_budget_close_to_nothing_is_refused(silosim):
    result = silosim("design", "gaia", "--kind", "matcha", "--budget", "1e-300").failed(2)
    assert "budget(=1e-300) must be >= 1e-09." in result.err
    assert result.err.count("\n") == 1


def test_keys_of_studies_have_few_parts():
    with pytest.raises(InputError, match=r"must have at most 32 parts\.$"):
        split_key(".".join(["a"] * 100_000))
    # No integer, but a name: no list has so many entries.
    assert split_key("overlays." + "9" * 5000) == ("overlays", "9" * 5000)
