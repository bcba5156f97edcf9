"""`silosim init`: every key is there with its default, examples can be taken as they stand, no file is replaced."""

import dataclasses
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.choices import key_choices
from scenarios.config.events.event_kinds import BUILT_IN
from scenarios.config.key_texts import key_texts
from scenarios.config.network import NetworkConfig, WorkloadConfig, build_network
from scenarios.config.scenario import OverlaysConfig, Scenario, load_scenario, parse_scenario, workload_of
from scenarios.config.simulation import ComputeConfig, SimulationConfig
from scenarios.config.starter_scenario import (
    COMPUTE,
    LEFT_OUT,
    _event_examples,
    _options,
    _states_times,
    _taken,
    starter_text,
)
from scenarios.studies.starter import write_starter
from silosim import open_run
from training import TrainingConfig

TABLES = {
    "network": NetworkConfig,
    "workload": WorkloadConfig,
    "overlays": OverlaysConfig,
    "simulation": SimulationConfig,
    "training": TrainingConfig,
}
INNER = {
    "simulation.compute": ComputeConfig,
    **{f"simulation.{name}": kind for name, kind in BUILT_IN.items()},
}
KINDS = ("star", "mst", "ring")
KEY = re.compile(r"(#{0,2})(\w+) = (.+)")
HEAD = re.compile(r"#?\[+([\w.]+)\]+")


def text_of(network: str = "gaia") -> str:
    graph = build_network(NetworkConfig(underlay=network))
    return starter_text(network, graph, kinds=KINDS, training={}, name="study.toml", about="a network")


def keys_of(text: str) -> dict[str, dict[str, str]]:
    """What stands before each key, by table and key."""
    found: dict[str, dict[str, str]] = {"": {}}
    table = ""
    for line in text.splitlines():
        if head := HEAD.fullmatch(line):
            table = head[1]
            found[table] = {}
        elif key := KEY.fullmatch(line):
            found[table][key[2]] = key[1]
    return found


@pytest.fixture(scope="module")
def text() -> str:
    return text_of()


def test_every_key_of_a_scenario_is_in_the_file_or_left_out_on_purpose(text):
    found = keys_of(text)
    for table, owner in (("", Scenario), *TABLES.items(), *INNER.items()):
        keys = {field.name.rstrip("_") for field in dataclasses.fields(owner)}
        if table == "":
            keys -= set(TABLES)
        if table == "simulation":
            keys -= {"compute"}  # a table of its own
        assert keys - set(LEFT_OUT.get(table, ())) == found[table].keys() - {"task"}, table
    assert "task" in found["training"]
    assert set(found) == {"", *TABLES, *INNER, "overlays.star"}


def test_the_file_loads_and_its_values_are_the_defaults(text):
    scenario = parse_scenario(text, source="study.toml")

    assert scenario == Scenario(
        network=NetworkConfig(underlay="gaia"),
        workload=WorkloadConfig(compute=COMPUTE),
        training=TrainingConfig(),
    )


def test_every_key_has_a_meaning_and_its_default_above_it(text):
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if KEY.fullmatch(line):
            above = []
            while lines[number - 1 - len(above)].startswith("# "):
                above.insert(0, lines[number - 1 - len(above)][2:])
            about = " ".join(above)
            assert re.fullmatch(r"\S.+\. \[.+; default: .+\]", about), line


def test_defaults_in_comments_are_those_of_the_values(text):
    parsed = tomllib.loads(text)
    comments = re.findall(r"default: ([^\n]+)\]\n(?:(\w+) = (.+))", text)

    assert len(comments) > 30
    own = {"underlay", "compute"}
    assert [key for default, key, value in comments if default != value and key not in own] == []
    assert parsed["training"]["rounds"] == 150


def with_lines(text: str, chosen: dict[int, str]) -> str:
    return "\n".join(chosen.get(number, line) for number, line in enumerate(text.splitlines()))


def test_each_example_of_a_key_can_be_taken_alone(text):
    table, tried = "", []
    for number, line in enumerate(text.splitlines()):
        table = head[1] if (head := HEAD.fullmatch(line)) else table
        key = KEY.fullmatch(line)
        if key and key[1] and table in TABLES:
            changed = parse_scenario(with_lines(text, {number: line.lstrip("#")}), source="study.toml")
            if table == "network" and key[2] != "routes":
                build_network(changed.network)
            tried.append(key[2])

    assert tried == [
        *("access", "access_up", "access_down", "access_at", "access_hub", "silo_at", "blocked", "window"),
        *(
            "window_at",
            "streams_at",
            "slow_start",
            "half_duplex",
            "shared_access",
            "fat_pipes",
            "acks",
            "preset",
            "core",
        ),
        *("routes", "multipath_seed"),
        *("preset", "model_size", "overhead", "compute_at", "local_steps_at", "participation", "overlap"),
        *("until_ci", "shift_west_deg", "clip_norm", "clip_value", "task"),
    ]


@pytest.mark.parametrize("name", [*INNER, "overlays.star"])
def test_each_table_that_is_not_set_can_be_taken_as_it_stands(text, name):
    lines = text.splitlines()
    (first,) = [number for number, line in enumerate(lines) if line.strip("#[]") == name]
    chosen = {}
    for number in range(first, len(lines)):
        if not lines[number]:
            break
        if re.match(r"#[^# ]", lines[number]):
            chosen[number] = lines[number].removeprefix("#")
    changed = parse_scenario(with_lines(text, chosen), source="study.toml")
    before = parse_scenario(text, source="study.toml")

    assert changed != before


def test_examples_name_the_networks_own_silos(text):
    assert '#access_at = { "California" = "10 Mbps", "Virginia" =' in text
    assert '#silo_at = ["California", "Dublin", "Frankfurt"]' in text
    assert '#silo = "California"' in text


def test_computing_times_of_the_networks_file_are_not_replaced(tmp_path, silosim):
    (tmp_path / "sites.csv").write_text(
        "name,latitude,longitude,compute\na,1,1,5 ms\nb,2,2,6 ms\nc,3,3,7 ms\n"
    )
    (tmp_path / "links.csv").write_text("from,to,capacity\na,b,1 Gbps\nb,c,1 Gbps\n")
    silosim("init", str(tmp_path), "--network", str(tmp_path)).ok()
    scenario, _ = load_scenario(tmp_path / "scenario.toml")

    assert scenario.workload.compute is None
    work = workload_of(scenario, build_network(scenario.network))
    assert np.asarray(work.compute_s).tolist() == [0.005, 0.006, 0.007]


@pytest.mark.parametrize(("options", "momentum"), [((), 0.9), (("--dataset", "shakespeare"), 0.0)])
def test_only_the_digits_have_settings_of_their_own(tmp_path, monkeypatch, options, momentum):
    monkeypatch.setattr("scenarios.studies.starter.check_data", lambda *_, **__: None)
    write_starter(tmp_path / "a.toml", network="gaia", dataset=options[1] if options else None)
    training = load_scenario(tmp_path / "a.toml")[0].training
    assert training.momentum == momentum
    assert training.learning_rate == (0.05 if momentum else TrainingConfig().learning_rate)
    assert training.rounds == TrainingConfig().rounds


def test_texts_of_keys_are_sentences_without_marks_of_code():
    for owner in (Scenario, *TABLES.values(), *INNER.values()):
        for key, about in key_texts(owner).items():
            assert "`" not in about, key
            assert about.endswith("."), key
            assert not re.search(r"\w+\.\w+\.\w+", about) or owner is Scenario, key


def test_the_command_writes_one_file_and_replaces_none(silosim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = silosim("init").ok()
    before = (tmp_path / "scenario.toml").read_bytes()
    again = silosim("init").failed(2)

    assert first.err == "written: scenario.toml\nnext: silosim simulate scenario.toml\n"
    assert again.err == "silosim: error: scenario.toml exists already and is kept; name another file.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]
    assert (tmp_path / "scenario.toml").read_bytes() == before
    silosim("init", "folder").ok()
    silosim("init", "other/study.toml", "--network", "gaia").ok()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.toml")} == {
        "scenario.toml",
        "folder/scenario.toml",
        "other/study.toml",
    }


GML = 'graph [ node [ id 0 label "x" ] node [ id 1 label "y" ] edge [ source 0 target 1 LinkSpeed "1" ] ]'


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (("study.txt",), "output(='study.txt') must end in .toml."),
        (("--network", "missing.gml"), "missing.gml: there is no such file or folder"),
        (("--network", "bad.gml"), "bad.gml"),
        (("--data", "."), "data(='.') goes with --dataset"),
        (("--dataset", "digits", "--data", "."), "data(='"),
        (("--dataset", "digit"), "dataset(='digit') must be one of"),
        (("--model", "cn"), "model(='cn') must be one of"),
        (("--dataset", "digits", "--model", "char_gru"), ""),
        (("--dataset", "femnist", "--data", "nowhere"), ""),
        (("--network", "missing.gml/a"), ""),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(silosim, tmp_path, monkeypatch, arguments, start):
    monkeypatch.chdir(tmp_path)
    Path("bad.gml").write_text(GML.replace("label", "id"))
    failed = silosim("init", *arguments).failed(2)

    assert failed.err.startswith(f"silosim: error: {start}")
    assert len(failed.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.gml"]


def test_a_network_file_is_found_from_any_folder(silosim, tmp_path, monkeypatch):
    pairs = "from,to,bandwidth,latency\n" + "".join(
        f"{one},{other},1 Gbps,10 ms\n" for one in "abc" for other in "abc" if one != other
    )
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "net.csv").write_text(pairs)
    (other / "own.csv").write_text(pairs)
    monkeypatch.chdir(tmp_path)
    silosim("init", "one.toml", "--network", "net.csv").ok()
    silosim("init", "other/two.toml", "--network", "net.csv").ok()
    silosim("init", "other/three.toml", "--network", "other/own.csv").ok()
    # A file of that name in the current folder would go before the one beside the scenario.
    (tmp_path / "own.csv").write_text(pairs)
    silosim("init", "other/four.toml", "--network", "other/own.csv").ok()
    underlays = [
        tomllib.loads((tmp_path / name).read_text())["network"]["underlay"]
        for name in ("one.toml", "other/two.toml", "other/three.toml", "other/four.toml")
    ]

    assert underlays == ["net.csv", str(tmp_path / "net.csv"), "own.csv", str(other / "own.csv")]
    monkeypatch.chdir("/")
    for name in ("one.toml", "other/two.toml", "other/three.toml", "other/four.toml"):
        scenario, _ = load_scenario(tmp_path / name)
        assert build_network(scenario.network).labels == ("a", "b", "c")
    assert "failure" not in (tmp_path / "one.toml").read_text(), "measured pairs have no core links"


def test_overlays_that_a_network_does_not_have_are_left_out(silosim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.csv").write_text(
        "from,to,bandwidth,latency\na,b,1 Gbps,10 ms\nb,c,1 Gbps,10 ms\nc,a,1 Gbps,10 ms\n"
    )
    silosim("init", "--network", "net.csv").ok()

    assert load_scenario(Path("scenario.toml"))[0].overlays.kinds == ("ring",)


@pytest.mark.slow
def test_the_file_runs_and_trains_to_its_target(silosim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    silosim("init", "--network", "gaia").ok()
    text = Path("scenario.toml").read_text()

    assert "ring" in silosim("simulate", "scenario.toml").ok().out
    # On its two ranks: one round of one overlay.
    short = text.replace('"star", "mst", "ring"', '"ring"').replace("\nrounds = 150", "\nrounds = 1")
    assert load_scenario(Path("scenario.toml"))[0].training.ranks == 2
    Path("short.toml").write_text(short)
    silosim("run", "short.toml", "-o", "short.h5").ok()
    assert [overlay.history["round"].tolist() for overlay in open_run("short.h5").overlays] == [[0, 1]]
    # All overlays in this process, where few of its rounds are evaluated: what these reach the whole run reaches too.
    alone = text.replace("ranks = 2", "ranks = 1").replace("\nlog_every = 1", "\nlog_every = 17")
    Path("alone.toml").write_text(alone.replace("rounds = 150", "rounds = 119"))
    silosim("run", "alone.toml", "-o", "run.h5").ok()
    # The training reaches what it asks for in its own rounds, not only just.
    target = load_scenario(Path("scenario.toml"))[0].training.target_accuracy
    best = open_run("run.h5").metrics(rounds=slice(0, 120)).groupby("overlay")["test_accuracy"].max()
    assert best.index.tolist() == ["mst", "ring", "star"]
    assert (best >= target).all()


@pytest.mark.parametrize(
    ("owner", "key", "taken"),
    [
        (NetworkConfig, "access", 'rate as in "10 Gbps"'),
        (NetworkConfig, "access_at", "table of rates"),
        (NetworkConfig, "silo_at", "list of texts"),
        (NetworkConfig, "window", 'size as in "42.9 MB"'),
        (NetworkConfig, "window_at", "table of sizes"),
        (NetworkConfig, "streams", "integer"),
        (NetworkConfig, "streams_at", "table of integers"),
        (NetworkConfig, "split_flows", "true or false"),
        (NetworkConfig, "variant", "text: corrected, published"),
        (NetworkConfig, "slow_start", "text: none, first, idle, always"),
        (NetworkConfig, "routes", "text"),
        (WorkloadConfig, "participation", "text or integer"),
        (WorkloadConfig, "compute", 'time as in "25 ms"'),
        (SimulationConfig, "until_ci", 'percent as in "1 %"'),
        (ComputeConfig, "cv", "number"),
        (ComputeConfig, "distribution", "text: lognormal, exponential"),
        (TrainingConfig, "backend_options", "table"),
        (BUILT_IN["capacity"], "at", "list of times"),
    ],
)
def test_what_a_key_takes_is_said_in_words(owner, key, taken):
    assert _taken(owner, key, key) == taken


def test_many_choices_are_not_listed():
    assert len(key_choices(OverlaysConfig, "kinds")) > 16
    assert _taken(OverlaysConfig, "kinds", "kinds") == "list of texts"


def test_computing_times_are_stated_where_all_silos_have_one():
    router = np.array([0, 2])
    for compute_s, stated in (([1.0, np.nan, 2.0], True), ([1.0, 2.0, np.nan], False), ([np.nan] * 3, False)):
        sites = SimpleNamespace(compute_s=np.array(compute_s))
        assert _states_times(SimpleNamespace(underlay=SimpleNamespace(sites=sites), router=router)) is stated
    assert not _states_times(SimpleNamespace(underlay=SimpleNamespace(sites=None), router=router))


def test_measured_pairs_have_no_examples_of_core_links(tmp_path):
    (tmp_path / "p.csv").write_text("from,to,mbps,ms\na,b,1,1\nb,a,1,1\n")
    graph = build_network(NetworkConfig(pairs=str(tmp_path / "p.csv")))
    assert set(_event_examples(graph)) == {"capacity", "away"}
    routed = _event_examples(build_network(NetworkConfig(underlay="gaia")))
    assert list(routed) == list(BUILT_IN)
    labels = build_network(NetworkConfig(underlay="gaia")).underlay.labels
    assert routed["failure"][0]["link"] in {f"{a} - {b}" for a in labels for b in labels if a < b}
    assert routed["capacity"][0]["link"] == "California uplink"


def test_examples_are_the_same_in_every_version_for_who_compares_files(text):
    lines = {line for line in text.splitlines() if re.match(r"#{1,2}\w+ = ", line)}
    assert {
        '#streams_at = { "Virginia" = 1 }',
        "#multipath_seed = 0",
        '#local_steps_at = { "California" = 5 }',
        '#compute_at = { "California" = "25 ms" }',
        '#shared_access = { "California + Virginia" = "1 Gbps" }',
        '#window_at = { "California" = "1 MiB", "California -> Virginia" = "2 MiB" }',
        "#cv = 0.2",
        "##repeat = true",
        "#repeat = true",
        "#scale = 0.5",
        "#from_round = 20",
        "##rounds = 10",
        '##mean_off = "4 s"',
        '#link = "California - Dublin"',
        "#shift_west_deg = 90.0",
        "#clip_norm = 1.0",
        "#clip_value = 0.5",
    } <= lines
    # 98 letters and the mark of a comment.
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    assert max(map(len, comments)) <= 100
    assert sum(len(line) > 90 for line in comments) > 10


def test_options_of_designers_have_their_words_default_and_an_example():
    lines = list(_options(["star", "matcha", "ring"], "A"))
    assert [line for line in lines if line.startswith("#[") or re.match(r"#\w", line)] == [
        *("#[overlays.star]", '#hub = "A"', "#[overlays.matcha]", "#budget = 0.5")
    ]
    assert any("default: the designer's own]" in line for line in lines)
    assert any("default: 0.5]" in line for line in lines)


def test_a_table_that_is_not_set_begins_with_what_it_is(text):
    lines = text.splitlines()
    head = lines.index("#[[simulation.away]]")
    assert lines[head - 1] == "# A silo that is away."
    assert lines[lines.index("#[simulation.compute]") - 1].endswith("from round to round.")
