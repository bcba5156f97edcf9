"""Traffic matrices in scenarios: files, options, notes, causes, replay and studies."""

import json

import pytest

from scenarios.config.events.routed_demands import DemandsKind
from scenarios.config.events.window import IN, Window
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.scenario import load_scenario, parse_scenario, scenario_of
from scenarios.studies.study import point_identity
from simulator.world.names import Names
from topologies import InputError

SCENARIO = """
[network]
underlay = "gaia"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["ring"]
[simulation]
rounds = 100
"""
TABLE = '[[simulation.demands]]\nfile = "tm.csv"\n'
STEP = "time,source,target,demand_mbps\n0 s,Sydney,Sao Paulo,{0}\n1 h,Sydney,Sao Paulo,10\n"
ALL_THE_TIME = "source,target,demand_mbps\nSydney,Sao Paulo,{0}\n"
HALF = ALL_THE_TIME.format(50)
"""Of the capacity of the link from Sydney to Sao Paulo."""


@pytest.fixture
def scenario(tmp_path):
    def write(demands=TABLE, matrix=HALF):
        (tmp_path / "tm.csv").write_text(matrix)
        path = tmp_path / "s.toml"
        path.write_text(SCENARIO + demands)
        return path

    return write


def cycle_time(silosim, *arguments):
    (row,) = json.loads(silosim("simulate", *arguments, "--json").ok().out)["rows"]
    return row["simulated_s"]


@pytest.fixture(scope="module")
def names():
    return Names(build_network(NetworkConfig(underlay="gaia")))


def window(from_s=0.0, until_s=40.0):
    return Window(first_round=0, last_round=9, from_s=from_s, until_s=until_s)


def test_half_of_the_bottleneck_taken_doubles_the_cycle_time(silosim, scenario):
    # Of the RING on gaia every model waits for the one from Sydney to Sao Paulo, which a core link of 100 Mbps carries.
    undisturbed = cycle_time(silosim, scenario(""))

    assert cycle_time(silosim, scenario()) == pytest.approx(2 * undisturbed, rel=1e-9)
    assert cycle_time(silosim, scenario(TABLE + "scale = 1.5\n")) == pytest.approx(4 * undisturbed, rel=1e-9)


def test_notes_say_what_holds_in_the_rounds_of_a_cycle_time(silosim, scenario):
    matrix = ALL_THE_TIME.format(50) + "Seoul,Seoul,7\n"
    out = " ".join(silosim("simulate", scenario(matrix=matrix)).ok().out.split())
    assert "tm.csv (one matrix, without 1 of routers to themselves)." in out
    assert "demands of others are not counted, and are not subtracted from the capacity." in out
    entry = '[[simulation.demands]]\nfile = "tm.csv"\njob_starts_at = "59 min"\nscale = 0.5\n'
    out = " ".join(silosim("simulate", scenario(entry, STEP.format(50))).ok().out.split())
    assert "tm.csv, scaled by 0.5 (matrix 2 of 2, the last one holds from 60.00 s on)." in out


@pytest.mark.parametrize(
    ("keys", "load", "scale"), [("scale = 2", "160 Mbps", "1.249"), ("", "150 Mbps", "0.6666")]
)
def test_a_full_link_names_the_date_of_the_file_and_the_scale_that_fits(silosim, scenario, keys, load, scale):
    # Of 100 Mbps: 80 or 150 Mbps at the second date.
    bps = 80 if keys else 150
    matrix = (
        "time,source,target,demand_mbps\n2004-03-01T00:00,Sydney,Sao Paulo,10\n"
        f"2004-03-01T06:00,Sydney,Sao Paulo,{bps}\n2004-03-01T12:00,Sydney,Sao Paulo,{bps}\n"
    )
    said = (
        f"demands[0] must leave something of Sydney -> Sao Paulo, but at 2004-03-01T06:00 they are {load} of its "
        f"100 Mbps: with a scale of at most {scale} they leave something of every link."
    )
    assert said in silosim("simulate", scenario(TABLE + keys, matrix)).err
    assert silosim("simulate", scenario(f"{TABLE}scale = {scale}\n", matrix)).ok()


@pytest.mark.parametrize(
    ("keys", "dates_s", "said"),
    [
        ("", (0.0, 40.0), "matrix 1 of 3: 2004-03-01T00:00"),
        ("", (40.0, 3600.0), "matrix 1 of 3: 2004-03-01T00:00"),
        ("", (40.0, 3601.0), "matrices 1 to 2 of 3: 2004-03-01T00:00 to 2004-03-01T01:00"),
        (
            "",
            (3600.0, 7201.0),
            "matrices 2 to 3 of 3: 2004-03-01T01:00 to 2004-03-01T02:00, the last one holds",
        ),
        ("", (9e9, 9e9 + 1), "matrix 3 of 3: 2004-03-01T02:00, the last one holds"),
        ("", (0.0, 7200.0), "matrices 1 to 2 of 3: 2004-03-01T00:00 to 2004-03-01T01:00)"),
        ("", (3600.0, 3600.5), "matrix 2 of 3: 2004-03-01T01:00)"),
        ("", (3599.5, 3600.5), "matrices 1 to 2 of 3: 2004-03-01T00:00 to 2004-03-01T01:00)"),
        (
            "",
            (7199.0, 7200.5),
            "matrices 2 to 3 of 3: 2004-03-01T01:00 to 2004-03-01T02:00, the last one holds",
        ),
        ("", (0.0, 7201.0), "all 3 matrices, the last one holds from 2.000 h on)"),
        (
            'job_starts_at = "2 h"',
            (0.0, 1.0),
            "matrix 3 of 3: 2004-03-01T02:00, the last one holds from 0 s on)",
        ),
        (
            'job_starts_at = "5 h"',
            (0.0, 1.0),
            "matrix 3 of 3: 2004-03-01T02:00, the last one holds from 0 s on)",
        ),
        ("repeat = true", (7200.0, 7300.0), "matrix 3 of 3: 2004-03-01T02:00)"),
        ('job_starts_at = "90 min"', (0.0, 40.0), "matrix 2 of 3: 2004-03-01T01:00"),
        ("repeat = true", (7300.0, 10900.0), "matrices 3 to 1 of 3: 2004-03-01T02:00 to 2004-03-01T00:00"),
        ("repeat = true", (40.0, 9e12), "all 3 matrices"),
    ],
)
def test_notes_name_the_matrices_that_held_in_the_rounds(tmp_path, keys, dates_s, said):
    (tmp_path / "tm.csv").write_text(
        "time,source,target,demand_mbps\n"
        + "".join(f"2004-03-01T0{hour}:00,Sydney,Sao Paulo,{hour + 1}\n" for hour in range(3))
    )
    entries = (
        parse_scenario(f"{SCENARIO}{TABLE}{keys}\n", source="x").simulation.beside(tmp_path).events["demands"]
    )
    ((side, note),) = DemandsKind.notes(entries, window(*dates_s), stops_early=False)
    assert side == IN
    assert f"tm.csv ({said}" in note


def test_loads_in_the_rounds_are_a_cause_on_each_link(tmp_path, names):
    path = tmp_path / "tm.csv"
    path.write_text(STEP.format(50))
    entry = DemandsKind(file=str(path), job_starts_at="3580 s")
    link = names.directions("Sydney -> Sao Paulo")[0]

    def text(**dates):
        ((found, cause),) = DemandsKind.link_causes([entry], names, window(**dates))
        assert (found, cause.assumption, cause.place) == (link, "demands", "core link Sydney -> Sao Paulo")
        return cause.explanation

    assert text() == "demands take 10 Mbps to 50 Mbps of core link Sydney -> Sao Paulo"
    assert text(from_s=20.0) == "demands take 10 Mbps of core link Sydney -> Sao Paulo"
    assert text(until_s=20.0) == "demands take 50 Mbps of core link Sydney -> Sao Paulo"
    assert [side for side, _ in DemandsKind.notes([entry], None, stops_early=False)] == [IN]


def test_validate_names_the_demands_that_slow_an_arc(silosim, scenario):
    out = " ".join(silosim("validate", scenario()).ok().out.split())

    assert "demands take 50 Mbps of core link Sydney -> Sao Paulo" in out


@pytest.mark.parametrize(
    ("table", "matrix", "rule"),
    [
        (TABLE, "source,target,bps\nSeoul,Tokio,1\n", "tm.csv: row 2, target(='Tokio') must be one of"),
        (TABLE, "source,target,bps\nSeoul,Tokyo,x\n", "tm.csv: row 2, bps(='x') must be a number."),
        (
            TABLE.replace("tm", "no"),
            "",
            "demands[0].file(='no.csv') cannot be used: no.csv: there is no such file.",
        ),
        (
            TABLE,
            ALL_THE_TIME.format(100),
            "demands[0] must leave something of Sydney -> Sao Paulo, but at 0 s",
        ),
        (TABLE + "scale = 0\n", "", "demands[0].scale(=0.0) must be finite and > 0."),
        (
            TABLE + 'unit = "ms"\n',
            "",
            "demands[0].unit(='ms') must be the unit of a data rate, for instance 'Mbps'.",
        ),
        (TABLE + 'step = "0 s"\n', "", "demands[0].step(='0 s') must be > 0."),
        (TABLE + 'job_starts_at = "8"\n', "", "demands[0].job_starts_at(='8') must be a number with a unit"),
        (TABLE + "scael = 2\n", "", "[simulation.demands] has no key 'scael'"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_file_and_the_row(silosim, scenario, table, matrix, rule):
    error = silosim("simulate", scenario(table, matrix)).failed(2).err

    assert rule in error
    assert error.count("\n") == 1


def test_a_measured_network_has_no_links_to_load(silosim, scenario, tmp_path):
    (tmp_path / "pairs.csv").write_text("from,to,mbps,rtt_ms\na,b,5,10\nb,a,5,10\n")
    path = scenario(matrix="source,target,bps\na,b,1\n")
    path.write_text(path.read_text().replace('"gaia"', f'"{tmp_path / "pairs.csv"}"'))
    error = silosim("simulate", path).failed(2).err

    assert "file(=" in error
    assert (
        "must be routed over core links: the bandwidth of silo pairs is measured, so that there are none."
        in error
    )
    assert error.count("\n") == 1


def test_a_unit_and_a_step_reach_the_files(scenario, tmp_path):
    (tmp_path / "tms").mkdir()
    for name, demand in (("a", 50), ("b", 75)):
        text = f'DEMANDS (\n i ( Sydney "x" ) 1 {demand} UNLIMITED\n)\n'.replace(' "x"', " Virginia")
        (tmp_path / "tms" / f"{name}.txt").write_text(text)
    table = '[[simulation.demands]]\nfile = "tms"\nunit = "Mbps"\nstep = "5 min"\njob_starts_at = "4 min"\n'
    entry = load_scenario(scenario(table))[0].simulation.events["demands"][0]
    loads = entry.event(seed=0).effects(Names(build_network(NetworkConfig(underlay="gaia")))).loads

    assert {tuple(load.steps()) for load in loads.values()} == {((0.0, 5e7), (60.0, 7.5e7))}


def test_a_replay_reads_the_matrices_beside_the_run(silosim, scenario, tmp_path, monkeypatch):
    before = cycle_time(silosim, scenario())
    silosim("simulate", tmp_path / "s.toml", "-o", tmp_path / "run.h5").ok()
    monkeypatch.chdir("/")

    def replayed(*options):
        out = (
            silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "again.h5", "--force", *options, "--json")
            .ok()
            .out
        )
        return json.loads(out)["rows"][0]["simulated_s"]

    assert replayed() == pytest.approx(before, rel=1e-9)
    assert replayed("--no-events") == pytest.approx(before / 2, rel=1e-9)
    (tmp_path / "events").mkdir()
    (tmp_path / "tm.csv").rename(tmp_path / "events" / "other.csv")
    (tmp_path / "events" / "e.toml").write_text(TABLE.replace("tm.csv", "other.csv") + "scale = 1.5\n")
    assert replayed("--events", tmp_path / "events" / "e.toml") == pytest.approx(2 * before, rel=1e-9)
    error = silosim("replay", tmp_path / "run.h5", "-o", tmp_path / "n.h5").failed(2).err
    assert "simulation.demands[0].file(='tm.csv') cannot be used: tm.csv: there is no such file." in error


def test_a_point_of_a_study_depends_on_the_matrices_not_on_where_they_lie(scenario, tmp_path):
    def identity(table):
        loaded, _ = load_scenario(scenario(table, (tmp_path / "tm.csv").read_text()))
        return point_identity(loaded, True, {})

    (tmp_path / "tm.csv").write_text(ALL_THE_TIME.format(50))
    (tmp_path / "tms").mkdir()
    (tmp_path / "tms" / "a.xml").write_text("<network/>")
    folder = TABLE.replace("tm.csv", "tms")
    one, of_folder = identity(TABLE), identity(folder)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "tm.csv").write_text(ALL_THE_TIME.format(50))
    assert identity(TABLE.replace("tm.csv", "there/tm.csv")) == one
    (tmp_path / "tm.csv").write_text(ALL_THE_TIME.format(51))
    assert identity(TABLE) != one
    assert identity(folder) == of_folder
    (tmp_path / "tms" / "b.xml").write_text("<network/>")
    assert identity(folder) != of_folder


def test_a_file_that_changes_is_read_again(scenario, names):
    entry = load_scenario(scenario())[0].simulation.events["demands"][0]
    link = names.directions("Sydney -> Sao Paulo")[0]
    assert entry.effects(names).loads[link].largest() == (0.0, 5e7)
    scenario(matrix=ALL_THE_TIME.format(7.5))
    assert entry.effects(names).loads[link].largest() == (0.0, 7.5e6)


def test_a_scenario_may_be_read_where_its_files_are_not():
    tables = {"network": {"underlay": "gaia"}, "simulation": {"demands": [{"file": "none.csv", "scale": 2}]}}
    entry = scenario_of(tables, source="s.toml").simulation.events["demands"][0]

    assert (entry.scale, entry.changes_by_date) == (2.0, True)
    with pytest.raises(InputError, match="there is no such file"):
        entry.effects(Names(build_network(NetworkConfig(underlay="gaia"))))
