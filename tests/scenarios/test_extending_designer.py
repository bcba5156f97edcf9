"""The documented example of a designer plugs in by one function and one entry point."""

import importlib
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.config.scenario import parse_scenario, read_toml, scenario_of
from topologies import AccessLinks, InputError, Workload, connectivity, design, load_underlay
from topologies.consensus import spectral_gap

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "designer.py"
WORK = Workload.preset("inaturalist")


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("designer_example", EXAMPLE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def gaia():
    return connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))


@pytest.fixture
def installed(install_package, commands_of_a_new_process):
    """A package with the example, as pip would install it; the commands are built again, as in a new process."""
    entry_points = "[silosim.designers]\ncirculant = circulant_example:circulant\n"
    install_package("circulant", entry_points, {"circulant_example": EXAMPLE.read_text("utf-8")})
    commands_of_a_new_process()
    importlib.import_module("scenarios.cli.main")


def test_it_is_short():
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_directly(example, gaia, degree):
    overlay = example.circulant(gaia, WORK, degree=degree)
    # Eigenvalues of a circulant matrix whose row holds degree + 1 equal weights.
    waves = np.exp(2j * np.pi * np.outer(np.arange(1, 11), np.arange(degree + 1)) / 11).mean(axis=1)

    assert (overlay.kind, overlay.arcs, overlay.max_degree) == ("circulant", 11 * degree, degree)
    assert spectral_gap(overlay.consensus) == pytest.approx(1 - np.abs(waves).max(), abs=1e-12)


def test_with_all_others_as_neighbours_it_is_the_complete_graph(example, gaia):
    full, complete = example.circulant(gaia, WORK, degree=99), design("complete", gaia, WORK)

    assert full.closed_forms == complete.closed_forms


@pytest.mark.usefixtures("installed")
def test_through_an_entry_point(gaia):
    assert design("circulant", gaia, WORK, degree=3).arcs == 33
    with pytest.raises(InputError, match=r"^degree\(=0\) must be >= 1\.$"):
        design("circulant", gaia, WORK, degree=0)
    with pytest.raises(InputError, match=r"option of circulant\(='degre'\).*did you mean 'degree'"):
        design("circulant", gaia, WORK, degre=3)


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_on_the_command_line(silosim):
    command = ("design", "gaia", "--kind", "circulant", "--kind", "mst")
    result = silosim(*command, "--degree", 3, "--json")
    circulant, tree = json.loads(result.out)["rows"]

    assert result.code == 0, result.err
    assert (circulant["overlay"], circulant["arcs"], circulant["options"]) == ("circulant", 33, {"degree": 3})
    assert tree["options"] == {}
    assert json.loads(silosim(*command, "--json").ok().out)["rows"][0]["options"] == {"degree": 2}
    assert "circulant: degree 3." in silosim(*command, "--degree", 3).ok().out.splitlines()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kind", "mst", "--degree", 3), "degree(=3) goes with the kind circulant, not with mst."),
        (("--kind", "circulant", "--degree", 0), "degree(=0) must be >= 1."),
        (("--kind", "circulant", "--degree", 1.5), "degree(='1.5') must be an integer."),
    ],
)
def test_the_command_line_checks_it(silosim, arguments, message):
    result = silosim("design", "gaia", *arguments)

    assert (result.code, result.out, result.err) == (2, "", f"silosim: error: {message}\n")


@pytest.mark.usefixtures("installed")
def test_help_shows_it(silosim):
    text = " ".join(silosim("simulate", "--help").ok().out.split())

    assert "--degree N Models that a silo sends per round. [>= 1; default: 2]" in text


SCENARIO = """
[network]
underlay = "gaia"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["circulant", "ring"]
circulant = { degree = 4 }
[simulation]
rounds = 20
"""


@pytest.mark.usefixtures("installed")
def test_in_a_scenario(silosim, tmp_path):
    path, run = tmp_path / "x.toml", tmp_path / "x.h5"
    path.write_text(SCENARIO)
    result = silosim("run", path, "-o", run)

    assert result.code == 0, result.err
    with h5py.File(run) as file:
        assert len(file["overlays/circulant/arcs"]) == 44


def test_a_run_can_be_read_where_it_is_not_installed():
    overlays = scenario_of(read_toml(SCENARIO, "x"), source="x", recorded=True).overlays

    assert (overlays.kinds, overlays.options) == (("circulant", "ring"), {"circulant": {"degree": 4}})
    with pytest.raises(InputError, match=r"^x: \[overlays\] has no key 'circulant'"):
        parse_scenario(SCENARIO, source="x")


@pytest.mark.usefixtures("installed")
def test_the_command_line_goes_before_the_scenario(silosim, tmp_path):
    path, run = tmp_path / "x.toml", tmp_path / "x.h5"
    path.write_text(SCENARIO)
    result = silosim("simulate", path, "--degree", 3, "-o", run)

    assert result.code == 0, result.err
    with h5py.File(run) as file:
        assert len(file["overlays/circulant/arcs"]) == 33
        assert "circulant = { degree = 3 }" in file.attrs["scenario"]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("degree = 4", "degree = 0", "overlays.circulant.degree(=0) must be >= 1."),
        ("degree = 4", 'degree = "4"', "overlays.circulant.degree(='4') must be an integer."),
        (
            "degree = 4",
            "degre = 4",
            "overlays.circulant: option(='degre') must be one of degree (did you mean",
        ),
        (
            "circulant = { degree = 4 }",
            "ring = { hub = 'x' }",
            "overlays.ring has no options, but hub is given.",
        ),
        ("circulant = { degree = 4 }", "circulant = 4", "overlays.circulant(=4) must be a table of options."),
        ('"circulant", ', "", "overlays.circulant has options, but is not in kinds(=['ring'])."),
        (
            "circulant = {",
            "options = {",
            "[overlays] has no key 'options'",
        ),
    ],
)
def test_a_scenario_is_checked(silosim, tmp_path, old, new, message):
    path = tmp_path / "x.toml"
    path.write_text(SCENARIO.replace(old, new))
    result = silosim("simulate", path)

    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"{path}: {message}" in result.err
