"""The commands as Python functions: how they take their arguments, what they return, and whose line a warning names."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest

from scenarios import api
from scenarios.config.network import NetworkConfig
from scenarios.report.figure_style import DEFAULT_STYLE, FigureStyle
from topologies import InputError, Workload, build_overlay, load_underlay

TABLE = pandas.DataFrame({"overlay": ["ring"]})
SCENARIO = """
seed = 7
[network]
underlay = "gaia"
[workload]
preset = "femnist"
[overlays]
kinds = ["ring"]
"""


@pytest.fixture
def calls(monkeypatch):
    """What the studies behind the functions were given; each says one sentence."""
    given = {}

    def put(name, answer):
        def called(*arguments, **options):
            given[name] = (arguments, options)
            return answer

        monkeypatch.setattr(f"scenarios.api.{name}", called)

    put("convert", ["left out"])
    put("load_study", SimpleNamespace(simulated_by=lambda _: "study"))
    put("run_study", SimpleNamespace(errors=["left out"]))
    put("read_study", TABLE)
    put("replay_run", ["left out"])
    put("times_of_replays", ("table", ["left out"]))
    put("export_run", SimpleNamespace(notes=["left out"], files=[Path("a"), Path("b")]))
    put("read_run", "record")
    put("RecordedRun", None)
    monkeypatch.setattr("scenarios.api.RecordedRun", SimpleNamespace(open=lambda path: path))
    monkeypatch.setattr(
        "scenarios.report.study_plot.plot_study",
        lambda *arguments, **options: given.update(plot_study=(arguments, options)) or ("left out",),
    )
    return given


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: api.convert_underlay("gaia", "a.gml"), None),
        (lambda: api.study("a.toml", "a.csv", workers=1), TABLE),
        (lambda: api.plot_study(TABLE, "a.png"), None),
        (lambda: api.replay("a.h5", "b.h5", access="1 Gbps"), "record"),
        (lambda: api.replay_times("a.h5", ["1 Gbps"], target_accuracy=0.5), "table"),
        (lambda: api.export("a.h5", "a"), (Path("a"), Path("b"))),
    ],
    ids=["convert_underlay", "study", "plot_study", "replay", "replay_times", "export"],
)
def test_what_was_left_out_is_a_warning_of_the_caller_s_line(call, answer):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()

    assert found is answer or found == answer
    # Both the function above and this one are in this file.
    line = call.__code__.co_firstlineno
    assert [(str(each.message), each.filename, each.lineno) for each in caught] == [
        ("left out", __file__, line)
    ]


@pytest.mark.filterwarnings("ignore:left out")
def test_a_study_is_drawn_with_one_value_or_several_of_a_column(calls):
    where = {"text": "1 Gbps", "one": 1, "list": [1, 2], "tuple": ("a",), "set": {3}}
    api.plot_study(
        "s.csv", "a.png", x="x", y="y", facet="f", where=where, log_x=True, log_y=False, force=True
    )
    arguments, options = calls["plot_study"]

    assert arguments == (Path("s.csv"), Path("a.png"))
    assert options == {
        "x": "x",
        "y": "y",
        "facet": "f",
        "log_x": True,
        "log_y": False,
        "force": True,
        "where": {"text": ["1 Gbps"], "one": [1], "list": [1, 2], "tuple": ["a"], "set": [3]},
        "style": DEFAULT_STYLE,
    }
    api.plot_study(TABLE, "a.png", width="3.5in")
    arguments, options = calls["plot_study"]
    assert arguments[0] is TABLE
    assert (options["where"], options["style"]) == ({}, FigureStyle(width_in=3.5))


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """The steps of runs, in their order; with the scenario's file."""
    steps = []

    def put(name, answer=None):
        def called(*_, **options):
            steps.append((name, {key: options[key] for key in ("force", "resume") if key in options}))
            return answer

        monkeypatch.setattr(f"scenarios.api.{name}", called)

    for name in ("run_scenario", "drop_checkpoints", "write_page", "write_seeds_page"):
        put(name)
    put("seeds_study", "table")
    put("read_run", "record")
    monkeypatch.setattr("scenarios.api.is_complete", lambda *_: True)
    (tmp_path / "s.toml").write_text(SCENARIO)
    return steps


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, [("run_scenario", {"force": False, "resume": False}), ("read_run", {})]),
        ({"force": True}, [("run_scenario", {"force": True, "resume": False}), ("read_run", {})]),
        # What is complete stays as it is, unless it is to be replaced.
        ({"resume": True}, [("drop_checkpoints", {}), ("read_run", {})]),
        (
            {"resume": True, "force": True},
            [("run_scenario", {"force": True, "resume": True}), ("read_run", {})],
        ),
        (
            {"report": True},
            [
                ("run_scenario", {"force": False, "resume": False}),
                ("write_page", {"force": False}),
                ("read_run", {}),
            ],
        ),
        (
            {"report": True, "resume": True},
            [("drop_checkpoints", {}), ("write_page", {"force": True}), ("read_run", {})],
        ),
    ],
)
def test_a_run_is_made_kept_or_replaced(runs, tmp_path, options, steps):
    assert api.run(tmp_path / "s.toml", tmp_path / "o.h5", **options) == "record"
    assert runs == steps


def test_an_interrupted_run_goes_on(runs, monkeypatch, tmp_path):
    monkeypatch.setattr("scenarios.api.is_complete", lambda *_: False)
    api.run(tmp_path / "s.toml", tmp_path / "o.h5", resume=True)
    assert runs[0] == ("run_scenario", {"force": False, "resume": True})


@pytest.mark.parametrize(
    ("options", "page"),
    [
        ({}, []),
        ({"report": True}, [("write_seeds_page", {"force": False})]),
        ({"report": True, "force": True}, [("write_seeds_page", {"force": True})]),
        ({"report": True, "resume": True}, [("write_seeds_page", {"force": True})]),
    ],
)
def test_runs_of_seeds_have_a_page_where_it_is_asked_for(runs, tmp_path, options, page):
    assert api.run_seeds(tmp_path / "s.toml", tmp_path / "o.h5", 2, **options) == "table"
    asked = {"force": False, "resume": False} | {key: True for key in options if key != "report"}
    assert runs == [("seeds_study", asked), *page]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("options", [{"force": True}, {"resume": True}])
def test_a_page_that_exists_is_replaced_only_where_that_is_asked_for(tmp_path, options):
    for name, run in (
        ("o.html", api.run),
        ("o-seeds.html", lambda *given, **its: api.run_seeds(*given, 2, **its)),
    ):
        (tmp_path / name).write_text("mine")
        run(tmp_path / "s.toml", tmp_path / "o.h5", report=True, **options)
        run(tmp_path / "s.toml", tmp_path / "o.h5")
        with pytest.raises(InputError, match="exists already"):
            run(tmp_path / "s.toml", tmp_path / "o.h5", report=True)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(("seeds", "made"), [(3, (7, 8, 9)), ([4], (4,)), ((5, 2), (5, 2))])
def test_seeds_are_so_many_or_these(monkeypatch, tmp_path, seeds, made):
    found = []
    monkeypatch.setattr("scenarios.api.seeds_study", lambda *given, **_: found.append(given[2]))
    api.run_seeds(tmp_path / "s.toml", tmp_path / "o.h5", seeds)
    assert tuple(found[0].runs) == made


# Networks and workloads


WORK = Workload(model_bits=1e6, compute_s=0.5)


def test_an_experiment_is_that_of_a_scenario_or_of_a_network(tmp_path, graph):
    (tmp_path / "s.toml").write_text(SCENARIO)
    experiment, from_scenario = api._experiment(tmp_path / "s.toml", None, rounds=100)
    assert from_scenario is True
    assert (experiment.seed, [each.kind for each in experiment.overlays]) == (7, ["ring"])
    with pytest.raises(
        InputError, match=r"^workload\(='femnist'\) must not be given with a scenario; change it"
    ):
        api._experiment(tmp_path / "s.toml", "femnist", rounds=100)
    for network in ("gaia", NetworkConfig(underlay="gaia"), graph):
        experiment, from_scenario = api._experiment(network, WORK, rounds=150)
        assert from_scenario is False
        assert (experiment.work, experiment.simulation.rounds) == (WORK, 150)
        with pytest.raises(InputError, match=r"^workload\(=None\) must be given"):
            api._experiment(network, None, rounds=150, needs_workload=True)
        assert api._experiment(network, None, rounds=150)[0].work.name == "inaturalist"


@pytest.mark.parametrize(
    ("name", "value"), [("workload", "femnist"), ("kind", "ring"), ("options", {"star": {"hub": "Dublin"}})]
)
def test_an_overlay_brings_its_own_network_workload_and_kind(graph, name, value):
    ring = [(i, (i + 1) % 11) for i in range(11)]
    overlay = build_overlay("ring", graph, Workload.preset("femnist"), ring)
    with pytest.raises(
        InputError, match=rf"^{name}\(=.*\) must not be given with an overlay, which has one\.$"
    ):
        api.upgrade(overlay, budget=1, **{name: value})


def test_an_upgrade_of_an_overlay_simulates_it_as_asked(monkeypatch, graph):
    ring = build_overlay("ring", graph, Workload.preset("femnist"), [(i, (i + 1) % 11) for i in range(11)])
    given = []
    monkeypatch.setattr("scenarios.api.upgrade_table", lambda *a, **o: given.append((a, o)) or "table")
    assert api.upgrade(ring, budget=1, sharing="equal") == "table"
    assert api.upgrade(ring, budget=1, rounds=30, seed=4) == "table"
    assert api.upgrade(graph, WORK, budget=1) == "table"
    (first, usual), (_, asked), (named, _) = given
    assert first[0] is ring
    assert (first[2].sharing, usual) == ("equal", {"rounds": None, "seed": 0})
    assert asked == {"rounds": 30, "seed": 4}
    assert (named[0].kind, named[0].graph) == ("ring", graph)
    with pytest.raises(InputError, match=r"^kind\(='matcha'\) is a randomized overlay"):
        api.upgrade(graph, WORK, kind="matcha", budget=1)


def test_networks_are_names_files_or_whole_descriptions(tmp_path):
    (tmp_path / "s.toml").write_text(SCENARIO)
    config = NetworkConfig(underlay="gaia", access="1 Gbps")
    assert api._network(config) is config
    assert api._network(Path("a.gml")) == NetworkConfig(underlay="a.gml")
    with pytest.raises(InputError, match="must be the name or the file of a network, not a scenario"):
        api._network(tmp_path / "s.toml")
    underlay = load_underlay("gaia")
    assert api._underlay(underlay) is underlay
    assert api._underlay("geant").routers == 40


def test_events_are_a_file_or_tables():
    assert api._events(None) is None
    assert api._events("e.toml") == Path("e.toml")
    tables = {"away": []}
    assert api._events(tables) is tables


def test_a_workload_is_a_preset_of_the_network_or_the_given_one(graph):
    assert api._workload(WORK, "corrected", graph) is WORK
    assert api._workload(None, "corrected", graph).name == "inaturalist"
    assert api._workload("femnist", "corrected", graph).name == "femnist"
    with pytest.raises(InputError, match="workload"):
        api._workload("femnits", "corrected", graph)


@pytest.mark.parametrize("call", [api.sweep, api.replay_times])
def test_several_capacities_are_no_text(call):
    with pytest.raises(InputError, match=r"^access\(='1 Gbps'\) must be a sequence of capacities\.$"):
        call("gaia", "1 Gbps")


@pytest.mark.parametrize(("kinds", "says"), [(None, True), (["ring"], False)])
def test_a_sweep_says_which_overlays_it_leaves_out_unless_they_were_chosen(monkeypatch, kinds, says):
    given = {}
    monkeypatch.setattr("scenarios.api.left_out_note", lambda _: ("without it",))
    monkeypatch.setattr(
        "scenarios.api.sweep_access", lambda *a, **o: given.update(o, overlays=a[2]) or "table"
    )
    assert api.sweep("gaia", ["1 Gbps"], kinds=kinds, seed=3) == "table"
    assert given["left_out"] == (("without it",) if says else ())
    assert (given["seed"], given["workers"]) == (3, 1)
    assert [each.kind for each in given["overlays"]][:2] == (["ring"] if kinds else ["star", "mst"])


def test_a_width_goes_with_a_picture_of_a_network(monkeypatch):
    styles = []
    monkeypatch.setattr("scenarios.api.draw", lambda *_, style, **__: styles.append(style))
    for name in ("a.png", "a.SVG", "a.pdf"):
        api.draw_underlay("gaia", name, width="3.5in")
    assert styles == [FigureStyle(width_in=3.5)] * 3
    with pytest.raises(InputError, match="goes with a figure, and none is drawn"):
        api.draw_underlay("gaia", "a.html", width="3.5in")


@pytest.mark.usefixtures("runs")
def test_local_steps_of_an_import_are_those_of_a_scenario_or_of_a_workload_and_of_no_preset(
    monkeypatch, tmp_path
):
    steps = []
    monkeypatch.setattr("scenarios.api.import_file", lambda *_, local_steps, **__: steps.append(local_steps))
    (tmp_path / "five.toml").write_text(SCENARIO.replace('"femnist"', '"femnist"\nlocal_steps = 5'))
    work = Workload(model_bits=1e6, compute_s=0.5, local_steps=3)
    for network, workload in ((tmp_path / "five.toml", None), ("gaia", work), ("gaia", "femnist")):
        assert api.import_metrics("m.csv", tmp_path / "o.h5", network, workload) == "record"
    assert steps == [5, 3, None]
