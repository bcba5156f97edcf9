"""Files that commands write: no ending by which one replaces a file of another kind."""

import pytest

import silosim as package
from scenarios.config.scenario import parse_scenario, recorded_scenario


@pytest.mark.parametrize("name", ["run.png", "small.toml", "run.csv", "run"])
def test_a_run_ends_in_h5(silosim, scenario, tmp_path, name):
    text = scenario.read_text()
    result = silosim("run", scenario, "-o", tmp_path / name, "--force")

    result.failed(2)
    assert "must end in .h5 or .hdf5." in result.err
    assert result.err.count("\n") == 1
    assert scenario.read_text() == text


def test_a_replay_is_not_overwritten_by_its_picture(silosim, scenario, tmp_path):
    silosim("run", scenario, "-o", tmp_path / "run.h5").ok()
    silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "x.png").failed(2)
    silosim("plot", tmp_path / "run.h5", "-o", tmp_path / "x.gif").failed(2)

    assert not list(tmp_path.glob("x.*"))


def test_endings_are_read_in_either_case(silosim, tmp_path):
    command = ("sweep", "gaia", "--access", "1 Gbps", "--kind", "ring", "--rounds", 5)
    silosim(*command, "-o", tmp_path / "a.PNG").ok()

    assert [path.name for path in tmp_path.iterdir()] == ["a.PNG"]


def test_tables_and_figures_of_a_run_need_no_installed_extension():
    text = (
        'name = "far"\n[network]\nunderlay = "gaia"\n[overlays]\nkinds = ["theirs"]\n'
        '[simulation]\nsharing = "theirs"\n[[simulation.theirs]]\nx = 1\n'
        '[training]\ndataset = "theirs"\nmodel = "theirs"\nrounds = 7\ntarget_accuracy = 0.5\n'
    )
    found = recorded_scenario(text)

    assert (found.name, found.target_accuracy, found.trained_rounds, found.is_imported) == (
        "far",
        0.5,
        7,
        False,
    )


@pytest.mark.parametrize(
    "tables",
    [
        "",
        "[training]\n",
        '[training]\ntask = "femnist"\n',
        '[imported]\nfile = "m.csv"\ntarget_accuracy = 0.25\n',
    ],
)
def test_what_tables_need_is_what_a_parsed_scenario_says(tables):
    text = f'[network]\nunderlay = "gaia"\n[workload]\ncompute = "1 ms"\n{tables}'
    found, parsed = recorded_scenario(text), parse_scenario(text, source="x.toml")

    assert (found.name, found.target_accuracy) == (parsed.name, parsed.target_accuracy)
    assert found.trained_rounds == (None if parsed.training is None else parsed.training.rounds)
    assert found.is_imported == (parsed.imported is not None)


@pytest.mark.parametrize("study", ["validate", "sweep"])
def test_options_of_a_kind_that_is_not_asked_for_are_an_error(study):
    call = {
        "validate": lambda options: package.validate("gaia", kinds=["ring"], rounds=100, options=options),
        "sweep": lambda options: package.sweep("gaia", ["1 Gbps"], kinds=["ring"], options=options),
    }[study]
    for options in ({"star": {"hub": "Dublin"}}, {"rng": {}}):
        with pytest.raises(package.InputError, match="has options, but is not in kinds"):
            call(options)
