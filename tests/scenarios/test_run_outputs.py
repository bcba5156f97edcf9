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

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.PNG", "a.csv"]


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


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("partition", "gaia"), "x.csv"),
        (("partition", "gaia"), "x.png"),
        (("plot", "{run}"), "x.svg"),
        (("tables", "--network", "gaia"), "x.csv"),
    ],
)
def test_a_file_is_replaced_only_when_told_to(silosim, run_file, tmp_path, monkeypatch, command, name):
    monkeypatch.setattr("scenarios.cli.tables.TABLES", ())
    path = tmp_path / name
    path.write_text("mine")
    called = [word.format(run=run_file) for word in command] + ["-o", path]
    kept = silosim(*called).failed(2)

    assert kept.err == f"silosim: error: {path} exists already; --force replaces it.\n"
    assert (kept.out, path.read_text()) == ("", "mine")
    assert f"written: {path}" in silosim(*called, "--force").ok().err
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize(
    "command", [("partition", "gaia"), ("plot", "{run}"), ("tables", "--network", "gaia")]
)
def test_force_replaces_no_folder_and_missing_folders_are_made(
    silosim, run_file, tmp_path, monkeypatch, command
):
    monkeypatch.setattr("scenarios.cli.tables.TABLES", ())
    ending = ".png" if "plot" in command else ".csv"
    (tmp_path / f"folder{ending}").mkdir()
    called = [word.format(run=run_file) for word in command] + ["--force", "-o"]

    assert "is a directory" in silosim(*called, tmp_path / f"folder{ending}").failed(2).err
    silosim(*called, tmp_path / "new" / "er" / f"x{ending}").ok()
    assert (tmp_path / "new" / "er" / f"x{ending}").is_file()


def test_the_default_picture_of_a_run_is_kept_likewise(silosim, scenario, tmp_path):
    run, picture = tmp_path / "run.h5", tmp_path / "run.png"
    silosim("run", scenario, "-o", run).ok()
    picture.write_text("mine")

    assert f"{picture} exists already; --force replaces it." in silosim("plot", run).failed(2).err
    assert picture.read_text() == "mine"


def test_a_replay_replaces_a_picture_only_when_told_to(silosim, run_file, tmp_path):
    command = ("replay", run_file, "--access", "1 Gbps", "-o", tmp_path / "r.h5")
    picture = tmp_path / "r.png"
    picture.write_text("mine")
    kept = silosim(*command).failed(2)

    assert kept.err == f"silosim: error: {picture} exists already; --force replaces it.\n"
    assert (picture.read_text(), sorted(tmp_path.iterdir())) == ("mine", [picture])
    silosim(*command, "--force").ok()
    assert picture.read_bytes().startswith(b"\x89PNG")
    # Now both are the replay's own.
    assert f"{tmp_path / 'r.h5'} exists already" in silosim(*command).failed(2).err
    silosim(*command, "--force").ok()
