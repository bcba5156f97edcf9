"""Slow start of configurations and commands."""

import json

import h5py
import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network, describe
from topologies import InputError, Workload
from topologies.slow_start import INITIAL_BITS


def test_a_configuration_has_initial_windows_for_each_stream():
    config = NetworkConfig(underlay="gaia", slow_start="idle", streams=2, streams_at={"Tokyo": 3})
    graph = build_network(config)

    assert graph.slow_start.when == "idle"
    expected = np.full((11, 11), 2 * INITIAL_BITS)
    expected[:, graph.labels.index("Tokyo")] = 3 * INITIAL_BITS
    np.testing.assert_array_equal(graph.slow_start.initial_bits, expected)
    assert "; slow start idle" in describe(graph, Workload.preset("inaturalist"))
    assert config.table()["slow_start"] == "idle"


def test_without_it_streams_still_need_a_window():
    with pytest.raises(InputError, match=r"^streams\(=2\) needs a window or slow_start: without one"):
        NetworkConfig(underlay="gaia", streams=2)
    assert build_network(NetworkConfig(underlay="gaia")).slow_start is None
    assert "slow_start" not in NetworkConfig(underlay="gaia").table()


def test_wrong_values_are_one_line(silosim):
    result = silosim("design", "gaia", "--slow-start", "often").failed(2)
    assert len(result.err.splitlines()) == 1
    assert "slow_start(='often') must be 'none', 'first', 'idle' or 'always'." in result.err


def test_a_run_is_recorded_and_replayed(silosim, tmp_path):
    plain, slow, back = tmp_path / "plain.h5", tmp_path / "slow.h5", tmp_path / "back.h5"
    base = ("simulate", "gaia", "--kind", "mst", "--compute", "1 s", "--rounds", "30")
    silosim(*base, "--slow-start", "idle", "-o", slow).ok()
    silosim(*base, "-o", plain).ok()

    def starts(path):
        with h5py.File(path) as file:
            return (
                file["simulation/mst/round_start_s"][:],
                dict(file["connectivity"].attrs),
                "initial_window_bits" in file["connectivity"],
            )

    (slow_s, attributes, has_windows), (plain_s, others, has_none) = starts(slow), starts(plain)
    assert (attributes["slow_start"], has_windows) == ("idle", True)
    assert "slow_start" not in others
    assert not has_none
    assert slow_s[-1].max() > 1.2 * plain_s[-1].max()

    silosim("replay", slow, "-o", back).ok()
    np.testing.assert_array_equal(starts(back)[0], slow_s)
    silosim("replay", slow, "--slow-start", "none", "-o", back, "--force").ok()
    np.testing.assert_array_equal(starts(back)[0], plain_s)
    silosim("replay", plain, "--slow-start", "idle", "-o", back, "--force").ok()
    np.testing.assert_array_equal(starts(back)[0], slow_s)


def test_the_explanation_and_the_validation_add_up(silosim):
    said = silosim("explain", "gaia", "--kind", "ring", "--compute", "1 s", "--slow-start", "idle").ok()
    assert "Of the latency, slow start is" in " ".join(said.out.split())

    found = json.loads(
        silosim("validate", "gaia", "--kind", "ring", "--compute", "1 s", "--slow-start", "idle", "--json")
        .ok()
        .out
    )
    assert found


def test_around_a_hub_upgrades_are_an_error_and_pages_and_explain_say_so(silosim, tmp_path):
    base = "gaia", "--kind", "star", "--compute", "25.4 ms", "--slow-start", "idle"
    refused = silosim("upgrade", *base, "--budget", "1").failed(2)
    assert (
        "slow_start(='idle') must be 'none', 'first' or 'always' for upgrades of an overlay with a hub"
        in refused.err
    )
    assert len(refused.err.strip().splitlines()) == 1
    said = " ".join(silosim("explain", *base).ok().out.split())
    assert "rates decide which arcs of an overlay with a hub start slowly" in said

    run, page = tmp_path / "run.h5", tmp_path / "page.html"
    silosim("simulate", *base, "--rounds", "5", "-o", run).ok()
    silosim("report", run, "-o", page).ok()
    text = " ".join(page.read_text().split())
    assert "there is no curve over the access capacity" in text
    assert "is not computed around a hub" in text


def test_the_validation_names_slow_start_that_closed_forms_do_not_have(silosim):
    said = silosim(
        *("validate", "gaia", "--kind", "mst", "--slow-start", "idle", "--access", "10 Gbps"),
        *("--compute", "20 ms"),
    ).ok()
    words = " ".join(said.out.split())
    assert (
        "mst: slow start +498.8 ms, serialization +498.8 ms a round; most on Dublin -> Oregon: slow start:"
        in words
    )
    assert "idles longer than closed forms take it to" in words
    assert "queue + rate + wait + slow start of the last line: +997.5 ms" in words
    assert max(map(len, said.out.splitlines())) <= 80
