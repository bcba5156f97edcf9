"""What a replay changes besides the network: sizes, times, sharing, events; what its file states; what it refuses."""

import shutil

import h5py
import numpy as np
import pytest
from edited_run import edited

from scenarios.config.network import NetworkConfig
from scenarios.config.replay_changes import (
    check_keeps_learning,
    merged_tables,
    network_keys,
    replay_changes,
    with_target,
)
from scenarios.config.scenario import parse_scenario, read_toml, scenario_of
from scenarios.runfile.reader import read_run
from scenarios.studies.relocation import RecordedRun
from scenarios.studies.replay import replay
from scenarios.studies.run import run_scenario
from topologies import AccessLinks, InputError, Workload, build_overlay, connectivity, load_underlay
from topologies.errors import Field

# The pictures of replays are looked at elsewhere.
pytestmark = pytest.mark.usefixtures("placeholder_figures")

FAILURE = '[[simulation.failure]]\nlink = "Dublin - Frankfurt"\nfrom = "0 s"\nuntil = "2 s"\n'
CAPACITY = '[[simulation.capacity]]\nlink = "Sydney uplink"\nat = ["0 s"]\ncapacity = ["10 Mbps"]\n'
GO_ON = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 3\npolicy = "go_on"\nrounds = 2\n'
WAIT = '[[simulation.away]]\nsilo = "Tokyo"\nfrom_round = 3\npolicy = "wait"\nduration = "2 s"\n'
UNTRAINED = """
seed = 3
[network]
underlay = "gaia"
access = "100 Mbps"
[workload]
preset = "femnist"
[overlays]
kinds = ["star", "ring", "matcha"]
[simulation]
rounds = 20
"""
RING = UNTRAINED.replace('"star", "ring", "matcha"', '"ring"')


@pytest.fixture
def file(tmp_path):
    """Write a text into a file."""

    def write(text, name="events.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def run_of(tmp_path):
    """Run a scenario that trains nothing."""

    def run(text, name="run.h5"):
        run_scenario(
            parse_scenario(text, source="run.toml"), text, tmp_path / name, force=False, resume=False
        )
        return tmp_path / name

    return run


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """The file of a run that trained nothing; not to be changed."""
    path = tmp_path_factory.mktemp("untrained") / "run.h5"
    run_scenario(parse_scenario(UNTRAINED, source="run.toml"), UNTRAINED, path, force=False, resume=False)
    return path


@pytest.fixture
def line(file):
    """A network of eleven silos in a line."""
    nodes = "".join(f' node [ id {i} label "s{i:02}" longitude {i}.0 latitude 1.0 ]' for i in range(11))
    links = "".join(f" edge [ source {i} target {i + 1} distance 100.0 ]" for i in range(10))
    return str(file(f"graph [{nodes}{links} ]", "line.gml"))


def overlays_of(path):
    return {overlay.kind: overlay for overlay in read_run(path).overlays}


def starts(path, kind):
    with h5py.File(path) as opened:
        return opened[f"simulation/{kind}/round_start_s"][:]


def test_size_times_and_capacities_are_those_of_the_network_that_is_asked_for(
    silosim, imported_run, tmp_path
):
    path = tmp_path / "new.h5"
    silosim(
        *("replay", imported_run, "--access-up", "20 Mbps", "--access-down", "50 Mbps", "-o", path),
        *("--model-size", "4 Mbit", "--compute", "20 ms", "--compute-at", "Seoul=1 s"),
    ).ok()
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=2e7, down_bps=5e7))
    compute_s = np.full(11, 0.02)
    compute_s[graph.labels.index("Seoul")] = 1.0
    work = Workload(model_bits=4e6, compute_s=compute_s)
    before, after = overlays_of(imported_run), overlays_of(path)

    for kind in ("star", "ring"):
        arcs = before[kind].arcs[:, :2]
        there = build_overlay(kind, graph, work, arcs, hub=before[kind].hub)
        assert after[kind].closed_forms.paper_s == there.closed_forms.paper_s
        assert np.array_equal(after[kind].consensus, before[kind].consensus)
    record = read_run(path)
    assert (record.work.model_bits, record.work.local_steps) == (4e6, 1)
    assert np.array_equal(record.work.compute_s, compute_s)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "tables"),
    [
        (
            ("--sharing", "equal", "--queueing", "overlap", "--compute-times", "lognormal 0.3"),
            'sharing = "equal"\nqueueing = "overlap"\ncompute = { distribution = "lognormal", cv = 0.3 }\n',
        ),
        (("--events",), FAILURE + CAPACITY + WAIT),
    ],
    ids=["settings", "events"],
)
def test_a_replay_is_the_run_of_the_scenario_that_it_states(
    silosim, untrained, run_of, file, tmp_path, options, tables
):
    path, again = tmp_path / "new.h5", tmp_path / "again.h5"
    events = [file(tables)] if options == ("--events",) else []
    silosim("replay", untrained, *options, *events, "-o", path).ok()
    expected = run_of(UNTRAINED + tables, "expected.h5")
    silosim("replay", path, "-o", again).ok()

    for kind in ("star", "ring", "matcha"):
        assert np.array_equal(starts(path, kind), starts(expected, kind))
        assert np.array_equal(starts(again, kind), starts(path, kind))
    stated = parse_scenario(read_run(path).scenario, source="new.h5")
    assert stated.simulation == parse_scenario(UNTRAINED + tables, source="x").simulation
    assert read_run(again).scenario == read_run(path).scenario


@pytest.mark.slow
def test_events_replace_those_of_the_run_or_are_left_out(silosim, run_of, file, tmp_path):
    run, plain, other = (
        run_of(RING + events, f"{name}.h5")
        for name, events in (("run", FAILURE), ("plain", ""), ("other", CAPACITY))
    )
    silosim("replay", run, "--no-events", "-o", tmp_path / "none.h5").ok()
    silosim("replay", run, "--events", file(CAPACITY), "-o", tmp_path / "new.h5").ok()
    silosim("replay", run, "--core", "stated", "-o", tmp_path / "kept.h5").ok()

    for one, same in (("none.h5", plain), ("new.h5", other), ("kept.h5", run)):
        assert np.array_equal(starts(tmp_path / one, "ring"), starts(same, "ring"))
    assert not np.array_equal(starts(plain, "ring"), starts(other, "ring"))
    replay(RecordedRun.open(run), tmp_path / "python.h5", replay_changes(events={}), force=False)
    assert np.array_equal(starts(tmp_path / "python.h5", "ring"), starts(plain, "ring"))


def test_a_change_of_nothing_keeps_the_text_with_its_comments(silosim, run_of, tmp_path):
    text = f"# mine\n{RING}"
    silosim("replay", run_of(text), "-o", tmp_path / "same.h5").ok()

    assert read_run(tmp_path / "same.h5").scenario == text


def test_the_text_of_a_replay_states_its_network_and_workload(silosim, run_of, tmp_path):
    path, other = tmp_path / "new.h5", tmp_path / "other.h5"
    run = run_of(RING.replace('"femnist"', '"femnist"\ncompute_at = { Seoul = "1 s" }'))
    silosim("replay", run, "--underlay", "clouds_aws", "--access", "1 Gbps", "-o", path).failed(2)
    silosim("replay", run, "--access", "1 Gbps", "--blocked", "Sydney - Sao Paulo", "-o", path).ok()
    record = read_run(path)
    stated = parse_scenario(record.scenario, source="new.h5")

    assert stated.network == record.network
    assert stated.workload.compute_at == {"Seoul": "1 s"}
    assert "Sydney - Sao Paulo" in record.scenario
    silosim("replay", path, "--model-size", "1 kbit", "-o", other).ok()
    assert read_run(other).work.compute_s.tolist() == record.work.compute_s.tolist()
    assert (read_run(other).work.name, record.work.name) == ("custom", "custom, model of femnist")


def test_other_silos_keep_their_times_under_their_own_labels(silosim, run_of, line, tmp_path):
    run = run_of(RING.replace('"femnist"', '"femnist"\ncompute_at = { Seoul = "1 s" }'))
    path, other = tmp_path / "line.h5", tmp_path / "other.h5"
    silosim("replay", run, "--underlay", line, "-o", path).ok()
    silosim("replay", path, "--model-size", "1 kbit", "-o", other).ok()
    seoul = read_run(run).silo_labels.index("Seoul")
    times = read_run(run).work.compute_s

    assert times[seoul] == 1.0
    for file in (path, other):
        assert np.array_equal(read_run(file).work.compute_s, times)
        stated = parse_scenario(read_run(file).scenario, source="x").workload
        assert stated.compute_at == {f"s{seoul:02}": "1.0 s"}


@pytest.mark.slow
def test_the_target_is_that_of_the_new_file(silosim, run_file, imported_run, tmp_path):
    for run, table in ((run_file, "training"), (imported_run, "imported")):
        path = tmp_path / f"{table}.h5"
        silosim("replay", run, "--target-accuracy", 0.25, "-o", path).ok()
        assert getattr(parse_scenario(read_run(path).scenario, source="x"), table).target_accuracy == 0.25
        for old, new in zip(read_run(run).overlays, read_run(path).overlays, strict=True):
            assert np.array_equal(old.wall_clock_s, new.wall_clock_s)
            assert all(np.array_equal(old.history[k], new.history[k], equal_nan=True) for k in old.history)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--local-steps", 5),
        ("--weights", "W.npy"),
        ("--consensus", "fdla"),
        ("--seed", 1),
        ("--kind", "ring"),
        ("--arcs", "a.csv"),
    ],
)
def test_what_would_alter_the_learning_is_refused(silosim, imported_run, tmp_path, option, value):
    result = silosim("replay", imported_run, option, value, "-o", tmp_path / "new.h5").failed(2)

    name = option.removeprefix("--").replace("-", "_")
    assert result.err == (
        f"silosim: error: {name}(='{value}') would alter the learning, whose rows a replay keeps; change it in the "
        "run's scenario and run that again.\n"
    )
    assert not list(tmp_path.iterdir())
    assert option not in silosim("replay", "--help").ok().out


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (GO_ON, r"events.toml: simulation.away\[0\] would alter the learning \(Tokyo away from round 3\)"),
        ("", r"events.toml: must have an event, for instance a table \[\[simulation.capacity\]\]"),
        ("[simulation]\nrounds = 3\n", "events.toml: simulation.rounds must not be in a file of events"),
        ('[network]\nunderlay = "gaia"\n', "events.toml: network must not be in a file of events"),
        ("simulation = 3\n", r"events.toml: simulation\(=3\) must be a table"),
        (FAILURE.replace("failure", "failur"), r"\[simulation\] has no key 'failur'.*did you mean 'failure'"),
        (FAILURE.replace("0 s", "0 m2"), r"events.toml: simulation.failure\[0\].from\(='0 m2'\)"),
        (
            FAILURE.replace("Dublin", "Cork"),
            r"events.toml: simulation.failure\[0\].link\(='Cork - Frankfurt'\)",
        ),
    ],
)
def test_a_wrong_file_of_events_is_one_line(imported_run, file, tmp_path, text, rule):
    with pytest.raises(InputError, match=rule) as caught:
        replay(
            RecordedRun.open(imported_run),
            tmp_path / "new.h5",
            replay_changes(events=file(text)),
            force=False,
        )
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["events.toml"]


def test_an_absence_of_the_run_stays(silosim, run_of, file, tmp_path):
    run = run_of(RING + GO_ON)
    silosim("replay", run, "--events", file(GO_ON + CAPACITY), "-o", tmp_path / "new.h5").ok()

    assert overlays_of(tmp_path / "new.h5")["ring"].simulation.has_absences


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--access-up", "5"), "access_up(='5') must be a number with a unit"),
        (("--model-size", "5 s"), "model_size(='5 s')"),
        (("--compute", "-1 s"), "compute(='-1 s')"),
        (("--compute-at", "Cork=1 s"), "'Cork'"),
        (("--sharing", "fair"), "sharing(='fair') must be"),
        (("--compute-times", "normal"), "compute_times(='normal') must be"),
        (("--target-accuracy", "1.5"), "target_accuracy(=1.5) must be > 0 and <= 1"),
        (("more",), "'more' must follow an option"),
        (("--events", "x.toml", "--no-events"), "events must not be given with --no-events"),
    ],
)
def test_a_wrong_option_is_one_line(silosim, imported_run, tmp_path, options, rule):
    result = silosim("replay", imported_run, *options, "-o", tmp_path / "new.h5").failed(2)

    assert rule in result.err
    assert result.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_task_keeps_the_settings_that_it_took_from_the_networks_name(run_file, line, tmp_path):
    path = tmp_path / "run.h5"
    shutil.copy(run_file, path)
    with edited(path) as opened:
        text = opened.attrs["scenario"].replace("rounds = 12\nlog_every = 5\nlearning_rate = 0.5\n", "")
        opened.attrs["scenario"] = text.replace("[training]", '[training]\ntask = "inaturalist"')
    run = RecordedRun.open(path)
    there = run.relocated(replay_changes(underlay=line))
    stated = scenario_of(read_toml(there.text, "x"), source="x", recorded=True)

    assert (run.scenario.training.rounds, run.scenario.training.optimizer) == (5600, "adam")
    assert stated.training == run.scenario.training
    assert stated.network == NetworkConfig(underlay=line, access="100 Mbps")


def test_keys_that_are_superseded_are_left_out():
    recorded = {
        "network": {
            "underlay": "gaia",
            "access_up": "1 Gbps",
            "access_at": {"A": "1 Gbps"},
            "silo_at": ["A"],
        },
        "workload": {"compute": "1 ms", "compute_at": {"A": "2 ms"}, "local_steps": 2},
        "simulation": {"rounds": 3, "capacity": [1], "failure": [2]},
    }
    access = merged_tables(recorded, {"network": {"access": "2 Gbps"}})
    other = merged_tables(recorded, {"network": {"pairs": "p.csv"}, "workload": {"compute": "3 ms"}})
    windows = {
        "network": {"window": "1 MB", "window_at": {"A": "2 MB"}, "streams": 2, "streams_at": {"A": 3}}
    }
    events = {"simulation": {"capacity": [3]}}

    assert access["network"] == {"underlay": "gaia", "silo_at": ["A"], "access": "2 Gbps"}
    assert access["workload"] == recorded["workload"]
    assert other["network"] == {"pairs": "p.csv", "access_up": "1 Gbps", "access_at": {"A": "1 Gbps"}}
    assert other["workload"] == {"compute": "3 ms", "local_steps": 2}
    assert merged_tables(recorded, events)["simulation"] == {"rounds": 3, "capacity": [3], "failure": [2]}
    assert merged_tables(recorded, events, keeps_events=False)["simulation"] == {"rounds": 3, "capacity": [3]}
    assert merged_tables(recorded, {}) == recorded
    for key, value in (("window", "3 MB"), ("streams", 4)):
        kept = {name: its for name, its in windows["network"].items() if name not in (key, f"{key}_at")}
        assert merged_tables(windows, {"network": {key: value}})["network"] == {**kept, key: value}


def test_tables_of_changes_hold_what_is_asked_for_alone(file):
    assert replay_changes().tables == {}
    assert replay_changes(access=None, internal_only=False).tables == {}
    found = replay_changes(access="1 Gbps", model_size="1 MB", engine="simpy", target_accuracy=0.5, streams=2)
    assert found.tables == {
        "network": {"access": "1 Gbps", "streams": 2},
        "workload": {"model_size": "1 MB"},
        "simulation": {"engine": "simpy"},
        "target_accuracy": 0.5,
    }
    assert (found.keeps_events, found.events_file) == (True, None)
    times = replay_changes(compute_times="lognormal 0.5").tables
    assert times == {"simulation": {"compute": {"distribution": "lognormal", "cv": 0.5}}}
    none = replay_changes(events={})
    assert (none.tables, none.keeps_events, none.events_file) == ({}, False, None)
    path = file(CAPACITY)
    new = replay_changes(events=path)
    assert (list(new.tables["simulation"]), new.keeps_events, new.events_file) == (
        ["capacity"],
        False,
        str(path),
    )
    other = new.with_access("2 Gbps")
    assert other.tables == {**new.tables, "network": {"access": "2 Gbps"}}
    assert found.with_access("2 Gbps").tables["network"] == {"access": "2 Gbps", "streams": 2}


def test_only_errors_of_its_events_are_those_of_the_file(file):
    changes = replay_changes(events=file(CAPACITY), sharing="equal")
    for path, is_event in (
        (("simulation", "capacity", 0, "at"), True),
        (("simulation", "failure", 0), False),
        (("simulation", "sharing"), False),
        (("network", "capacity"), False),
        ((), False),
    ):
        error = changes.located(InputError("must be right.", field=Field(*path)))
        assert (error.source == changes.events_file) is is_event
    known = changes.located(InputError("x", field=Field("simulation", "capacity"), source="other.toml"))
    assert known.source == "other.toml"


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        (
            ("seed",),
            3,
            "seed(=3) would alter the learning, whose rows a replay keeps; change it in the run's",
        ),
        (("overlays", "kinds"), ["ring"], "overlays.kinds would alter the learning"),
        (("training",), {"rounds": 3}, "training would alter the learning"),
        (("workload", "local_steps"), 2, "workload.local_steps(=2) would alter the learning"),
        (("workload", "participation"), 2, "workload.participation(=2) would alter the learning"),
        (
            ("workload",),
            {"compute": "1 s", "local_steps_at": {"A": 1}},
            "workload.local_steps_at would alter",
        ),
        (
            ("workload", "preset"),
            "femnist",
            "workload.preset cannot change in a replay; state model_size and",
        ),
        (("workload",), {"preset": "femnist"}, "workload.preset cannot change in a replay"),
    ],
)
def test_what_a_replay_keeps(key, value, rule):
    with pytest.raises(InputError) as caught:
        check_keeps_learning(key, value)
    assert str(caught.value).startswith(rule)


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        (("workload",), {"compute": "1 s"}, {"compute": "1 s", "local_steps": 2}),
        (("workload", "compute"), "1 s", None),
        (("network",), {}, None),
        (("name",), "x", None),
        (("workload",), 3, {"preset": "femnist"}),
    ],
)
def test_what_a_replay_may_change(key, value, kept):
    check_keeps_learning(key, value)
    # Refused are the same beside a key that it keeps, and any key below [training].
    place = (key, kept) if kept else (("training", *key), value)
    with pytest.raises(InputError):
        check_keeps_learning(*place)


def test_the_target_goes_to_the_training_or_to_the_imported_one():
    assert with_target({"seed": 1}) == {"seed": 1}
    for owner in ("training", "imported"):
        tables = {owner: {"rounds": 3, "target_accuracy": 0.1}, "target_accuracy": 0.5}
        assert with_target(tables) == {owner: {"rounds": 3, "target_accuracy": 0.5}}
    with pytest.raises(InputError, match=r"^target_accuracy\(=0\.5\) goes with a run that has a training\.$"):
        with_target({"target_accuracy": 0.5})


def test_keys_that_get_a_value_later_count():
    assert network_keys(
        {"network": {"core": "1 Gbps"}}, [("network", "access"), ("network",), ("seed",)]
    ) == {*("core", "access")}


def test_a_table_of_superseded_keys_alone_is_empty_then():
    recorded = {
        "network": {"access_at": {"A": "1 Gbps"}},
        "workload": {"compute_at": {"A": "1 s"}},
        "simulation": {"failure": [1]},
    }
    varied = [("network", "access"), ("workload", "compute")]
    found = merged_tables(recorded, {}, varied=varied, keeps_events=False)
    assert found == {"network": {}, "workload": {}, "simulation": {}}
    assert merged_tables(recorded, {}) == recorded
    assert merged_tables({"seed": 1}, {}) == {"seed": 1}
