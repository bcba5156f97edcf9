"""`--engine` and ``[simulation] engine``: which engine simulates, and where its name stands."""

import csv
import json
import re
from pathlib import Path

import h5py
import pytest
from timeline_runs import write_run

from scenarios.config.study import Study, StudyConfig
from scenarios.simulation.quick import QuickSimulation
from silosim import InputError, study

EXAMPLE = Path(__file__).parents[2] / "docs" / "extending" / "hop_sharing.py"
FAILURE = '\n[[simulation.failure]]\nlink = "Virginia - Dublin"\nfrom = "1 s"\nuntil = "2 s"\n'
ENGINES = ("simpy", "compiled")


def engines_in(path, *kinds):
    """The engine of each overlay, as the file of a run has it."""
    with h5py.File(path) as file:
        return [file[f"simulation/{kind}"].attrs["engine"] for kind in kinds]


def with_engine(scenario, engine, more=""):
    text = scenario.read_text().replace("rounds = 30\n", f'rounds = 30\nengine = "{engine}"\n')
    scenario.write_text(text + more)


@pytest.mark.parametrize("engine", ENGINES)
def test_simulate_names_the_engine_that_was_asked_for(silosim, tmp_path, engine):
    path = tmp_path / "s.h5"
    command = ("simulate", "gaia", "--kind", "ring", "--kind", "star", "--rounds", 40, "--engine", engine)
    result = silosim(*command, "-o", path)
    assert result.code == 0, result.err
    assert f"Engine: {engine}." in result.out.splitlines()
    assert engines_in(path, "ring", "star") == [engine, engine]
    rows = json.loads(silosim(*command, "--json").ok().out)["rows"]
    assert [row["engine"] for row in rows] == [engine, engine]


def test_both_engines_give_the_same_cycle_times(silosim):
    command = ("simulate", "geant", "--kind", "ring", "--kind", "mst", "--rounds", 200, "--json")
    simpy, compiled = (json.loads(silosim(*command, "--engine", name).ok().out)["rows"] for name in ENGINES)
    for one, other in zip(simpy, compiled, strict=True):
        assert one["simulated_s"] == pytest.approx(other["simulated_s"], rel=1e-9)
        for key in ("period_rounds", "simulated_is_exact"):
            assert one[key] == other[key]


def test_auto_takes_the_compiled_engine_for_many_messages_only(silosim):
    def engine(rounds):
        out = silosim("simulate", "gaia", "--kind", "ring", "--rounds", rounds, "--json").ok().out
        return json.loads(out)["rows"][0]["engine"]

    assert (engine(100), engine(2000)) == ("simpy", "compiled")  # 11 arcs; 20,000 messages are many


def test_validate_simulates_everything_with_the_engine(silosim, tmp_path):
    command = ("validate", "gaia", "--kind", "ring", "--kind", "random_ring", "--rounds", 100)
    result = silosim(*command, "--engine", "compiled", "-o", tmp_path / "v.h5")
    assert result.code == 0, result.err
    assert "Engine: compiled." in result.out.splitlines()
    with h5py.File(tmp_path / "v.h5") as file:
        for kind in ("ring", "random_ring"):
            attrs = file[f"validation/{kind}"].attrs
            assert (attrs["equal_engine"], attrs["maxmin_engine"]) == ("compiled", "compiled")
    found = json.loads(silosim(*command, "--json").ok().out)["rows"]
    assert {row[f"{how}_engine"] for row in found for how in ("equal", "maxmin")} == {"simpy"}


@pytest.mark.parametrize("engine", ENGINES)
def test_sweep_simulates_with_the_engine(silosim, tmp_path, engine):
    command = ("sweep", "gaia", "--access", "1 Gbps", "--kind", "ring", "--rounds", 20, "--engine", engine)
    result = silosim(*command, "-o", tmp_path / "sweep", "--json")
    assert result.code == 0, result.err
    assert [row["engine"] for row in json.loads(result.out)["rows"]] == [engine]


@pytest.mark.parametrize("engine", ENGINES)
def test_design_simulates_with_the_engine_asked_for_or_of_the_scenario(silosim, scenario, engine):
    with_engine(scenario, engine)
    for command in (("design", "gaia", "--kind", "ring", "--engine", engine), ("design", scenario)):
        assert f"Engine: {engine}." in silosim(*command).ok().out.splitlines()
        assert {row["engine"] for row in json.loads(silosim(*command, "--json").ok().out)["rows"]} == {engine}


def test_design_names_the_engine_of_each_overlay_where_they_differ(silosim):
    command = ("design", "gaia", "--kind", "ring", "--kind", "matcha", "--kind", "star")
    assert "Engine: simpy for ring, star; compiled for matcha." in silosim(*command).ok().out.splitlines()


def test_design_that_does_not_simulate_names_no_engine(silosim, monkeypatch):
    monkeypatch.setattr(
        "scenarios.studies.design.quick_simulation", lambda *_, **__: QuickSimulation(why_not="x")
    )
    assert "Engine:" not in silosim("design", "gaia", "--kind", "ring").ok().out


STUDY = """
[study]
grid = { "network.access" = ["100 Mbps", "1 Gbps"] }
simulate = true
"""


def without_training(scenario):
    text, _, training = scenario.read_text().partition("[training]")
    assert training
    scenario.write_text(text.replace("[workload]", '[workload]\nmodel_size = "1 Mbit"'))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_study_simulates_with_the_engine_asked_for_or_of_the_scenario(silosim, scenario, tmp_path, engine):
    without_training(scenario)
    with_engine(scenario, "compiled", STUDY)
    table = tmp_path / "s.csv"
    for more, expected in ((("--engine", engine), engine), (("--force",), "compiled")):
        silosim("study", scenario, "-o", table, "--workers", 1, *more).ok()
        assert {row["engine"] for row in csv.DictReader(table.read_text().splitlines())} == {expected}
    found = study(scenario, tmp_path / "again.csv", workers=1, engine=engine)
    assert set(found.engine) == {engine}


def test_a_study_with_another_engine_is_another_study(silosim, scenario, tmp_path):
    without_training(scenario)
    with_engine(scenario, "compiled", STUDY)
    silosim("study", scenario, "-o", tmp_path / "s.csv", "--workers", 1).ok()
    done = silosim("study", scenario, "-o", tmp_path / "s.csv", "--workers", 1, "--engine", "simpy").failed(2)
    assert "holds the rows of another study" in done.err


@pytest.mark.parametrize(
    ("text", "engine", "error"),
    [
        (
            STUDY.replace("true", "false"),
            "simpy",
            "engine(='simpy') goes with simulate = true, train = true or run in [study].",
        ),
        (
            STUDY.replace('"network.access" = ["100 Mbps", "1 Gbps"]', '"simulation.engine" = ["simpy"]'),
            "simpy",
            "engine(='simpy') must not be given where [study] varies it.",
        ),
        (
            STUDY.replace('"network.access" = ["100 Mbps", "1 Gbps"]', 'simulation = [{ engine = "auto" }]'),
            "simpy",
            "engine(='simpy') must not be given where [study] varies it.",
        ),
        (
            STUDY.replace('"network.access" = ["100 Mbps", "1 Gbps"]', "simulation = [3]"),
            "simpy",
            "must be a key of a table, but simulation is 3.",
        ),
        (STUDY, "fast", "engine(='fast') must be 'auto', 'simpy' or 'compiled'."),
    ],
)
def test_an_engine_that_a_study_cannot_take_is_an_error(silosim, scenario, text, engine, error):
    without_training(scenario)
    with scenario.open("a") as file:
        file.write(text)
    assert error in silosim("study", scenario, "--engine", engine).failed(2).err


def test_the_engine_of_a_study_is_that_of_points_with_settings_of_their_own(silosim, scenario, tmp_path):
    without_training(scenario)
    grid = "simulation = [{ rounds = 30 }, { rounds = 40 }]"
    with_engine(scenario, "simpy", STUDY.replace('"network.access" = ["100 Mbps", "1 Gbps"]', grid))
    silosim("study", scenario, "-o", tmp_path / "s.csv", "--workers", 1, "--engine", "compiled").ok()
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert {(row["engine"], row["rounds"]) for row in rows} == {("compiled", "30"), ("compiled", "40")}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_study_of_replays_takes_the_engine(silosim, run_file, tmp_path, engine):
    own = tmp_path / "replays.toml"
    own.write_text(f'[study]\nrun = "{run_file}"\ngrid = {{ "network.access" = ["50 Mbps"] }}\n')
    silosim("study", own, "-o", tmp_path / "s.csv", "--workers", 1, "--engine", engine).ok()
    assert {row["engine"] for row in csv.DictReader((tmp_path / "s.csv").read_text().splitlines())} == {
        engine
    }


def test_a_study_without_an_engine_is_as_it_is():
    plain = Study(base={"simulation": 3}, config=StudyConfig(train=True), folder=Path(), source="s.toml")
    assert plain.simulated_by(None) is plain
    with pytest.raises(InputError, match=r"^s\.toml: .*must be a key of a table, but simulation is 3\."):
        plain.simulated_by("auto").scenario({})


def test_a_training_of_a_study_takes_the_engine(silosim, scenario, monkeypatch, tmp_path):
    engines = []
    module = "scenarios.cli.study"
    monkeypatch.setattr(
        f"{module}.run_and_report", lambda own, *_, **__: engines.append(own.simulation.engine)
    )
    monkeypatch.setattr(f"{module}.show", lambda *_, **__: None)
    monkeypatch.setattr(f"{module}.draw", lambda *_: None)
    with_engine(scenario, "simpy")
    for more in ((), ("--engine", "compiled")):
        silosim("study", scenario, "-o", tmp_path / "run.h5", *more).ok()
    assert engines == ["simpy", "compiled"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_multigraphs_tables_are_simulated_by_the_engine(silosim, engine):
    command = ("tables", "multigraph", "--network", "gaia", "--engine", engine)
    rows = [row for table in json.loads(silosim(*command, "--json").ok().out) for row in table["rows"]]
    assert {row[f"{name}_engine"] for row in rows for name in ("simulated", "ring_simulated")} == {engine}
    assert len(rows) == 3


def test_the_multigraphs_tables_name_the_engine_and_the_papers_have_none(silosim):
    assert "Engine: simpy." in silosim("tables", "multigraph", "--network", "gaia").ok().out
    done = silosim("tables", "--network", "gaia", "--engine", "simpy").failed(2)
    assert done.err == (
        "silosim: error: engine(='simpy') goes with silosim tables multigraph; the paper's tables are closed forms.\n"
    )
    assert (
        "must be 'auto', 'simpy' or 'compiled'"
        in silosim("tables", "multigraph", "--engine", "x").failed(2).err
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_rounds_of_a_timeline_are_simulated_again_by_the_engine(silosim, run_file, engine):
    first, second = (
        json.loads(silosim("timeline", run_file, "--overlay", "ring", "--json", *more).ok().out)
        for more in ((), ("--engine", engine))
    )
    assert (first["engine"], second["engine"]) == ("simpy", engine)
    for one, other in zip(first["rows"], second["rows"], strict=True):
        assert one["waiting_s"] == pytest.approx(other["waiting_s"], rel=1e-9)


def test_a_timeline_names_the_run_that_an_engine_cannot_simulate(silosim, tmp_path):
    path = write_run(tmp_path / "run.h5", kinds=("ring",), rounds=6, messages=False, more=FAILURE)
    done = silosim("timeline", path, "--engine", "compiled").failed(2)
    assert re.search(
        rf"^silosim: error: {path}: .*engine\(='compiled'\) must be 'auto' or 'simpy' here", done.err
    )


@pytest.mark.parametrize("engine", ["fast", ""])
@pytest.mark.parametrize("command", [("timeline",), ("tables",), ("tables", "multigraph"), ("demo", "-o")])
def test_a_name_of_no_engine_is_told_before_anything_else(silosim, run_file, tmp_path, command, engine):
    more = {"timeline": [run_file], "demo": [tmp_path / "d"]}.get(command[0], [])
    done = silosim(*command, *more, "--engine", engine).failed(2)
    assert f"engine(={engine!r}) must be 'auto', 'simpy' or 'compiled'." in done.err
    assert not list(tmp_path.iterdir())


def test_a_timeline_of_recorded_messages_takes_no_engine(silosim, tmp_path):
    path = write_run(tmp_path / "run.h5", kinds=("ring",), rounds=6, messages=True)
    done = silosim("timeline", path, "--engine", "simpy").failed(2)
    assert (
        "engine(='simpy') must not be given: the file holds the dates of its messages, so nothing is simulated."
        in done.err
    )
    assert json.loads(silosim("timeline", path, "--json").ok().out)["engine"] == ""


@pytest.mark.slow
def test_run_and_replay_take_the_scenarios_engine_or_the_options(silosim, scenario, tmp_path):
    with_engine(scenario, "compiled")
    run, again, replayed, other = (tmp_path / f"{name}.h5" for name in ("run", "again", "replayed", "other"))
    shown = silosim("run", scenario, "-o", run)
    assert shown.code == 0, shown.err
    assert "Engine: compiled." in shown.out.splitlines()
    silosim("run", scenario, "-o", again, "--engine", "simpy")
    silosim("replay", run, "--access", "1 Gbps", "-o", replayed)
    shown = silosim("replay", run, "--access", "1 Gbps", "-o", other, "--engine", "simpy", "--json")
    assert [row["engine"] for row in json.loads(shown.out)["rows"]] == ["simpy", "simpy"]
    found = [engines_in(path, "star", "ring") for path in (run, again, replayed, other)]
    assert found == [["compiled"] * 2, ["simpy"] * 2, ["compiled"] * 2, ["simpy"] * 2]


def test_import_metrics_takes_the_scenarios_engine_or_the_option(silosim, scenario, tmp_path):
    metrics = tmp_path / "m.csv"
    metrics.write_text("round,loss\n0,2\n5,1\n")
    with_engine(scenario, "compiled")
    for more, engine in (((), "compiled"), (("--engine", "simpy"), "simpy")):
        path = tmp_path / f"{engine}.h5"
        done = silosim("import-metrics", metrics, "--on", scenario, "-o", path, *more)
        assert done.code == 0, done.err
        assert engines_in(path, "star", "ring") == [engine, engine]


@pytest.mark.parametrize("command", ["simulate", "validate", "run"])
def test_what_the_compiled_engine_cannot_do_is_an_error_before_anything_is_written(
    silosim, scenario, tmp_path, command
):
    with_engine(scenario, "compiled", FAILURE)
    rounds = ("--rounds", 100) if command == "validate" else ()
    done = silosim(command, scenario, *rounds, "-o", tmp_path / "out.h5")
    assert done.code == 2
    assert done.err == (
        f"silosim: error: {scenario}: simulation.engine(='compiled') must be 'auto' or 'simpy' here: it simulates no "
        "network that changes.\n"
    )
    assert not list(tmp_path.glob("*.h5*"))


def test_a_name_of_no_engine_is_an_error(silosim, scenario):
    done = silosim("simulate", "gaia", "--engine", "events")
    assert (done.code, done.err) == (
        2,
        "silosim: error: engine(='events') must be 'auto', 'simpy' or 'compiled'.\n",
    )
    with_engine(scenario, "fast")
    done = silosim("simulate", scenario)
    assert done.code == 2
    assert re.search(
        r"small\.toml: simulation\.engine\(='fast'\) must be 'auto', 'simpy' or 'compiled'", done.err
    )


@pytest.fixture
def install_example(install_package):
    """Let the example of a sharing model be found as an installed package, once this is called."""
    entry_points = "[silosim.sharing]\nhop_weighted = hop_sharing:HOP_WEIGHTED\n"
    return lambda: install_package("hop-sharing", entry_points, {"hop_sharing": EXAMPLE.read_text("utf-8")})


def with_example(scenario, more=""):
    text = scenario.read_text().replace("rounds = 30\n", 'rounds = 30\nsharing = "hop_weighted"\n')
    scenario.write_text(text + more)


def test_a_scenario_names_an_installed_sharing_model(silosim, scenario, tmp_path, install_example):
    with_example(scenario)
    refused = silosim("simulate", scenario)
    assert refused.code == 2
    assert "simulation.sharing(='hop_weighted') must be 'maxmin', 'equal' or 'rtt_weighted'" in refused.err
    install_example()
    done = silosim("run", scenario, "-o", tmp_path / "run.h5")
    assert done.code == 0, done.err
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["simulation/ring"].attrs["sharing"] == "hop_weighted"


def test_an_installed_sharing_model_simulates_constant_shares(silosim, scenario, install_example):
    install_example()
    with_example(scenario)
    plain, shared = (
        silosim("simulate", scenario, "--kind", "ring", "--json").ok(),
        silosim("simulate", with_share(scenario), "--kind", "ring", "--json").ok(),
    )
    faster, slower = (json.loads(shown.out)["rows"][0]["simulated_s"] for shown in (plain, shared))
    assert slower > faster


def with_share(scenario):
    scenario.write_text(scenario.read_text() + '\n[[simulation.background]]\nshare = "99 %"\n')
    return scenario


@pytest.mark.parametrize(
    ("event", "table"),
    [
        (FAILURE, "failure"),
        (
            '\n[[simulation.background]]\npeak = "1 Gbps"\nmean_on = "1 s"\nmean_off = "1 s"\n',
            "background",
        ),
    ],
)
def test_an_installed_sharing_model_whose_network_cannot_change_is_an_error(
    silosim, scenario, install_example, event, table
):
    install_example()
    with_example(scenario, event)
    assert silosim("simulate", scenario).failed(2).err == (
        f"silosim: error: {scenario}: simulation.sharing(='hop_weighted') must be a model whose network can change, "
        f"such as 'maxmin', with [[simulation.{table}]]: its network cannot change.\n"
    )


def test_an_engine_that_comes_from_no_scenario_is_named_without_a_table(silosim, install_example):
    install_example()
    command = ("simulate", "gaia", "--sharing", "hop_weighted", "--engine", "compiled")
    assert silosim(*command).failed(2).err == (
        "silosim: error: engine(='compiled') must be 'auto' or 'simpy' here: it does not know sharing "
        "'hop_weighted'.\n"
    )


def test_sharing_by_round_trip_time_in_either_engine(silosim):
    command = ("simulate", "gaia", "--kind", "star", "--access", "100 Mbps", "--rounds", "30", "--json")
    slow, fast = (
        json.loads(silosim(*command, "--sharing", "rtt_weighted", "--engine", engine).ok().out)["rows"][0]
        for engine in ("simpy", "compiled")
    )
    shared = json.loads(silosim(*command).ok().out)["rows"][0]
    assert fast["simulated_s"] == pytest.approx(slow["simulated_s"], rel=1e-9)
    assert fast["simulated_s"] < 0.9 * shared["simulated_s"]
