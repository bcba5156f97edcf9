"""Files that commands write: no ending by which one replaces a file of another kind."""

import shutil

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


def test_a_replay_is_not_overwritten_by_its_picture(silosim, run_file, tmp_path):
    shutil.copy(run_file, tmp_path / "run.h5")
    silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "x.png").failed(2)
    silosim("plot", tmp_path / "run.h5", "-o", tmp_path / "x.gif").failed(2)

    assert not list(tmp_path.glob("x.*"))


GAIA = ("gaia", "--kind", "ring", "--rounds")
SWEEP = ("sweep", *GAIA, 5, "--access", "1 Gbps")
VALIDATE = ("validate", *GAIA, 100)
OUTPUTS = {
    "run": ("run", "{scenario}"),
    "replay": ("replay", "{run}", "--access", "1 Gbps"),
    "import-metrics": ("import-metrics", "{metrics}", "--on", "gaia", "--workload", "femnist"),
    "simulate": ("simulate", *GAIA, 5),
    "validate": VALIDATE,
    "sweep": SWEEP,
    "study": ("study", "{study}"),
    "plot": ("plot", "{run}"),
    "partition": ("partition", "gaia"),
    "underlay": ("underlay", "gaia"),
    "calibrate": ("calibrate", "{scenario}"),
    "tables": ("tables", "--network", "gaia"),
}
WRITTEN = {
    "run": (".h5", ".hdf5"),
    "replay": (".h5", ".hdf5"),
    "import-metrics": (".h5", ".hdf5"),
    "simulate": (".h5", ".hdf5", ".csv", ".json", ".txt"),
    "validate": (".h5", ".hdf5", ".png", ".svg", ".pdf", ".csv", ".json", ".txt"),
    "sweep": (".png", ".svg", ".pdf", ".csv", ".json", ".txt"),
    "study": (".csv", ".parquet"),
    "plot": (".png", ".svg", ".pdf"),
    "partition": (".png", ".svg", ".pdf", ".csv", ".json", ".txt"),
    "underlay": (".png", ".svg", ".pdf", ".html"),
    "calibrate": (".toml",),
    "tables": (".csv", ".json", ".txt"),
}
ENDINGS = sorted({ending for endings in WRITTEN.values() for ending in endings} | {".v2", ".xyz", ".PS"})


@pytest.mark.parametrize("command", OUTPUTS)
def test_an_ending_that_a_command_does_not_write_is_an_error_before_the_work(
    silosim, scenario, run_file, tmp_path, command
):
    (tmp_path / "metrics.csv").write_text("round,loss\n1,2.0\n2,1.0\n")
    study = tmp_path / "study.toml"
    study.write_text(scenario.read_text().split("[training]")[0] + "[study.grid]\nseed = [1, 2]\n")
    places = {
        "{scenario}": scenario,
        "{run}": run_file,
        "{metrics}": tmp_path / "metrics.csv",
        "{study}": study,
    }
    arguments = [places.get(str(argument), argument) for argument in OUTPUTS[command]]
    before = sorted(tmp_path.iterdir())
    for ending in ENDINGS:
        if ending not in WRITTEN[command]:
            result = silosim(*arguments, "-o", tmp_path / f"x{ending}").failed(2)
            assert f"output(='{tmp_path / 'x'}{ending}') must end in" in result.err
            assert result.err.count("\n") == 1
            for written in WRITTEN[command]:
                assert written in result.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("placeholder_figures")
def test_a_number_after_a_dot_is_no_ending(silosim, run_file, tmp_path):
    silosim(*SWEEP, "-o", tmp_path / "a-1.5").ok()
    silosim(*VALIDATE, "-o", tmp_path / "b-1.5").ok()
    silosim("plot", run_file, "-o", tmp_path / "c-1.5").ok()

    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*") if path.is_file()) == [
        *("a-1.5.csv", "a-1.5.png", "b-1.5/validation-gaia.csv", "b-1.5/validation-gaia.h5"),
        *("b-1.5/validation-gaia.png", "c-1.5.png"),
    ]


@pytest.mark.parametrize(
    ("ending", "magic"),
    [
        pytest.param("png", b"\x89PNG", marks=pytest.mark.slow),
        pytest.param("PDF", b"%PDF", marks=pytest.mark.slow),
        # Quick tests of each command draw it in one of the formats.
        pytest.param("svg", b"<?xml", marks=pytest.mark.slow),
    ],
)
def test_every_command_that_draws_writes_png_pdf_and_svg(silosim, run_file, tmp_path, ending, magic):
    commands = (SWEEP, VALIDATE, ("plot", run_file), ("partition", "gaia"), ("underlay", "gaia"))
    for command in commands:
        silosim(*command, "-o", tmp_path / f"{command[0]}.{ending}").ok()

    for command in commands:
        assert (tmp_path / f"{command[0]}.{ending}").read_bytes().startswith(magic)
    tables = [path.name for path in tmp_path.iterdir() if path.suffix != f".{ending}"]
    assert tables == ["sweep.csv"]


@pytest.mark.parametrize("name", ["out.png", "out.h5", "out.toml"])
def test_the_example_goes_into_a_folder(silosim, tmp_path, name):
    result = silosim("demo", "-o", tmp_path / name).failed(2)

    assert result.err == f"silosim: error: output(='{tmp_path / name}') must be the name of a folder.\n"
    assert not (tmp_path / name).exists()


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


@pytest.mark.usefixtures("placeholder_figures")
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


@pytest.mark.usefixtures("placeholder_figures")
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


def test_the_default_picture_of_a_run_is_kept_likewise(silosim, run_file, tmp_path):
    run, picture = tmp_path / "run.h5", tmp_path / "run.png"
    shutil.copy(run_file, run)
    picture.write_text("mine")

    assert f"{picture} exists already; --force replaces it." in silosim("plot", run).failed(2).err
    assert picture.read_text() == "mine"


@pytest.mark.slow
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
