"""Networks beyond the limits: refused at once, with the limit; those below have no spectral gap where it takes long."""

import re
from pathlib import Path

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.studies import design as design_study
from scenarios.validation.validation_request import DEFAULT_ROUNDS
from simulator.statistics.confidence import rounds_for_interval
from topologies import InputError, Underlay, load_underlay
from topologies.consensus import spectral_gap
from topologies.input_limits import (
    MOST_GML_BYTES,
    MOST_LINKS,
    MOST_ROUTERS,
    MOST_SILOS,
    MOST_VALIDATED_STARTS,
)
from topologies.networks.gml import parse_gml


def _line(routers: int) -> Underlay:
    """Routers in a line."""
    return Underlay(
        name="line",
        variant="corrected",
        labels=tuple(f"R{i}" for i in range(routers)),
        latitude_deg=np.linspace(0, 50, routers),
        longitude_deg=np.zeros(routers),
        ends=np.column_stack((np.arange(routers - 1), np.arange(1, routers))),
        length_km=np.full(routers - 1, 10.0),
        capacity_bps=np.full(routers - 1, 1e9),
    )


def _gml(nodes: int) -> bytes:
    blocks = "".join(f'node [ id {i} label "R{i}" lon {i % 180} lat {i % 90} ]\n' for i in range(nodes))
    links = "".join(f"edge [ source {i} target {i + 1} ]\n" for i in range(nodes - 1))
    return f"graph [\n{blocks}{links}]\n".encode()


def test_a_gml_file_of_a_hundred_thousand_nodes_is_refused_at_once(processor_time_below):
    data = _gml(100_000)
    with (
        processor_time_below(2),
        pytest.raises(InputError, match=r"^has 100,000 nodes, must have at most 20,000\.$"),
    ):
        parse_gml(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"graph [ node [ id 0 ] " + b"edge [ source 0 target 0 ] " * (MOST_LINKS + 1) + b"]",
            "200,001 links",
        ),
        (b"graph [ " + b" " * MOST_GML_BYTES + b"]", "at most 10,000,000 bytes"),
    ],
    ids=["links", "bytes"],
)
def test_gml_beyond_other_limits_is_refused(data, said):
    with pytest.raises(InputError, match=said):
        parse_gml(data)


def test_other_formats_have_the_limit_of_routers(tmp_path):
    path = tmp_path / "n.json"
    nodes = ",".join(f'{{"id": {i}}}' for i in range(MOST_ROUTERS + 1))
    path.write_text(f'{{"nodes": [{nodes}], "links": []}}')
    with pytest.raises(InputError, match=r"n\.json: has 20,001 nodes, must have at most 20,000\.$"):
        load_underlay(path)


def test_the_word_node_in_a_label_counts_for_nothing():
    text = b'graph [ node [ id 0 label "a node [" ] node [ id 1 label "hyphen-node [" ] edge [ source 0 target 1 ] ]'
    assert len(parse_gml(text).nodes) == 2


def test_more_routers_or_silos_than_a_design_takes_are_refused():
    config = NetworkConfig(underlay="line")
    with pytest.raises(InputError, match=r"^has 5,001 routers, must have at most 5,000\.$"):
        build_network(config, _line(MOST_SILOS + 1))
    many = NetworkConfig(underlay="line", silo_at=("R0",) * (MOST_SILOS + 1))
    with pytest.raises(InputError, match=r"^has 5,001 silos, must have at most 5,000\.$"):
        build_network(many, _line(2))


def test_a_large_network_has_no_spectral_gaps_and_says_so(silosim, monkeypatch):
    whole = silosim("design", "gaia", "--kind", "ring", "--kind", "star", "--model-size", "1 MB").ok()
    assert "spectral gap: of up to" not in whole.out
    monkeypatch.setattr(design_study, "MOST_MIXING_SILOS", 10)
    monkeypatch.setattr("scenarios.report.agreed_mean.MOST_MIXING_SILOS", 10)
    monkeypatch.setattr("topologies.consensus.np.linalg.eigvals", None)
    monkeypatch.setattr("topologies.consensus.np.linalg.eigvalsh", None)
    result = silosim("design", "gaia", "--kind", "ring", "--kind", "star", "--model-size", "1 MB").ok()
    assert "spectral gap: of up to 1" in result.out
    assert "ring" in result.out


def test_eigenvalues_of_an_overlay_are_found_once(silosim, monkeypatch):
    found = []

    def counted(matrix):
        found.append(matrix.shape)
        return spectral_gap(matrix)

    monkeypatch.setattr(design_study, "spectral_gap", counted)
    monkeypatch.setattr("topologies.consensus.spectral_gap", counted)
    silosim("design", "gaia", "--kind", "ring", "--kind", "mst", "--model-size", "1 MB").ok()
    assert found == [(11, 11)] * 2


def test_a_validation_that_would_fill_the_memory_names_the_most_rounds(silosim, monkeypatch):
    monkeypatch.setattr("scenarios.validation.validation_request.MOST_VALIDATED_STARTS", 11 * 300 + 10)
    asked = ("validate", "gaia", "--kind", "ring", "--model-size", "1 MB")
    refused = silosim(*asked).failed(2)
    assert refused.err == (
        "silosim: error: rounds(=2000) of 11 silos must be at most 300: a validation keeps all rounds.\n"
    )
    silosim(*asked, "--rounds", 301).failed(2)
    silosim(*asked, "--rounds", 300).ok()


@pytest.mark.parametrize(
    ("command", "limit", "message"),
    [
        (
            ("design", "--kind", "best"),
            "simulator.designers.best.MOST_SEARCHED_SILOS",
            "best: silos(=11) must be <= 10.",
        ),
        (
            ("upgrade", "--kind", "ring", "--budget", "1"),
            "scenarios.studies.upgrade.MOST_SEARCHED_SILOS",
            "has 11 silos, must have at most 10.",
        ),
        (
            ("explain", "--kind", "ring"),
            "scenarios.studies.explain.MOST_CIRCUIT_SILOS",
            "has 11 silos in its critical circuit, must have at most 10.",
        ),
    ],
    ids=["best", "upgrade", "explain"],
)
def test_searches_that_would_take_minutes_name_the_most_silos(silosim, monkeypatch, command, limit, message):
    name, *options = command
    asked = (name, "gaia", *options, "--model-size", "1 MB")
    monkeypatch.setattr(limit, 10)
    assert silosim(*asked).failed(2).err == f"silosim: error: {message}\n"
    if "best" not in options:  # which searches for seconds
        monkeypatch.setattr(limit, 11)
        silosim(*asked).ok()


def test_a_short_circuit_is_explained_on_any_number_of_silos(silosim, monkeypatch):
    monkeypatch.setattr("scenarios.studies.explain.MOST_CIRCUIT_SILOS", 2)
    silosim("explain", "gaia", "--kind", "mst", "--model-size", "1 MB").ok()


def test_the_page_names_the_most_silos_that_can_be_validated():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "limits.md").read_text(encoding="utf-8")
    stated = re.search(r"([\d,]+) silos with the default rounds, ([\d,]+) with `--rounds ([\d,]+)`", page)
    by_default, most, rounds = (int(number.replace(",", "")) for number in stated.groups())

    for silos, fits in ((by_default, True), (by_default + 1, False)):
        starts = silos * max(DEFAULT_ROUNDS, rounds_for_interval(silos))
        assert (starts <= MOST_VALIDATED_STARTS) == fits
    assert (most, most * rounds) == (MOST_SILOS, MOST_VALIDATED_STARTS)
