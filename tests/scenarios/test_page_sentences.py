"""Sentences, commands and cells of the pages of runs and validations, on facts made by hand."""

import hashlib
import html
import re
from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from page_reader import table_cells, table_heads
from pair_run import pair_graph

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.scenario import RecordedScenario
from scenarios.pages import run_page
from scenarios.pages.assumptions import assumptions, recorded_preset
from scenarios.pages.compared import training_lines
from scenarios.pages.run_page import (
    _capacity_text,
    _links,
    _making,
    _no_training,
    _no_upgrade,
    _reproduce,
    _sensitivities,
    _target,
)
from scenarios.pages.study_page import _commands as study_commands
from scenarios.pages.study_page import _inputs as inputs_of
from scenarios.pages.study_page import _origin as study_origin
from scenarios.pages.study_source import StudySource
from scenarios.pages.training_charts import _ends, _table, training_charts
from scenarios.pages.validation_page import _as_simulated, _causes, _commands, _simulated, _time, _times
from topologies import Workload, build_overlay
from topologies.slow_start import with_slow_start

NAN = float("nan")


# Runs


def overlay(
    kind="ring", *, models=(0.0,) * 6, used=(NAN,) * 6, mean_bps=(NAN,) * 6, engine="", rounds=0, **more
):
    recorded = SimpleNamespace(simulation=SimpleNamespace(engine=engine, rounds=rounds))
    arrays = {"models": np.array(models), "utilisation": np.array(used), "mean_bps": np.array(mean_bps)}
    given = {"overlay": None, "circuit": None, "explanation": (), "upgrades": (), "why_not": ""}
    return SimpleNamespace(kind=kind, recorded=recorded, **(arrays | given | more))


def facts_of(
    *overlays, scenario="", name="x.h5", is_replay=False, trained=True, cut=(), target=None, imported=False
):
    return SimpleNamespace(
        graph=pair_graph(),
        overlays=overlays,
        path=SimpleNamespace(name=name),
        record=SimpleNamespace(scenario=scenario, is_replay=is_replay),
        compared=SimpleNamespace(is_trained=trained, cut_trainings=cut),
        scenario=SimpleNamespace(is_imported=imported, target_accuracy=target),
        origin={"seed": "3"},
    )


@pytest.fixture
def parts(monkeypatch):
    """Parts of a run's page are their names, and the sheets are none."""
    for name in ("question", "slider_controls", "overlay_picker", "overlay_map", "capacity_curve", "slider_table",
                 "_links", "timeline_section", "_reproduce", "_sensitivities", "embedded"):  # fmt: skip
        monkeypatch.setattr(run_page, name, lambda *_, name=name: f"[{name}]")
    monkeypatch.setattr(run_page, "answer", lambda _: ["One.", "Two <b>."])
    monkeypatch.setattr(run_page, "compared_section", lambda *_: ("[compared]",))
    monkeypatch.setattr(run_page, "results_table", lambda table, caption: f"[{table}: {caption}]")
    monkeypatch.setattr(run_page, "training_charts", lambda *_: "")
    monkeypatch.setattr(run_page, "slider_data", lambda _: {"data": 1})
    monkeypatch.setattr(run_page, "line_sheet", lambda styles: f".sheet {list(styles)}")


def facts_of_page(*kinds, events=()):
    facts = facts_of(*(overlay(kind, forms=kind != "drawn" or None) for kind in kinds))
    facts.scenario.name, facts.scenario.events, facts.table = "a <run>", events, "table"
    facts.record.underlay = SimpleNamespace(name="pair")
    return facts


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize("events", [(), ("a failure",)])
def test_the_network_of_a_run_has_its_map_its_curve_and_its_table(events):
    facts = facts_of_page("ring", "drawn", "star", events=events)
    *made, links = run_page._network_section(facts, {})
    notes = [each for each in made if each.startswith('<p class="note">')]
    assert len(notes) == len(events)
    assert all("The scenario has events" in each for each in notes)
    assert [each for each in made if each not in notes][:4] == [
        "<h2>Overlays on their network</h2>",
        '<div class="onscreen">[slider_controls]</div>',
        '<a class="skip onscreen" href="#forms">Skip the map</a>',
        "[overlay_picker]",
    ]
    side, table = made[4:6]
    assert side.startswith(
        '<div class="side"><div>[overlay_map]</div><div>[capacity_curve]<ul class="legend">'
    )
    # Only lines that are drawn have a legend, in the styles that the overlays have everywhere.
    assert re.findall(r'<line class="(.*?)".*?</svg>(.*?)</li>', side) == [("k0", "ring"), ("k2", "star")]
    assert table == "[slider_table]"
    assert links == ('<details class="numbers"><summary>Numbers of the links</summary>[_links]</details>')


@pytest.mark.usefixtures("parts")
def test_a_page_has_its_parts_in_order():
    page = run_page.page_of(facts_of_page("ring", "star"))
    assert "<title>a &lt;run&gt;: pair</title>" in page
    shown = [
        "<h1>[question]</h1>",
        '<p class="answer">One. Two &lt;b&gt;.</p>',
        "[compared]",
        "[overlay_map]",
        "<h2>Cycle times and simulation</h2>[table: Cycle times of the run]",
        '<p class="note">Nothing was trained, so that there are no losses and accuracies.</p>',
        "[timeline_section]",
        "[_sensitivities]\n[_sensitivities]",
        "[_reproduce]",
        "[embedded]",
    ]
    places = [page.index(part) for part in shown]
    assert places == sorted(places)
    assert ".sheet [&#x27;ring" not in page
    assert ".sheet ['ring', 'star']" in page
    assert page.count(run_page.CAPACITY_SCRIPT) == 1


@pytest.mark.usefixtures("parts")
def test_the_page_of_a_run_without_overlays_has_its_name_and_no_map():
    page = run_page.page_of(facts_of_page())
    assert "<h1>a &lt;run&gt;</h1>" in page
    assert "[overlay_map]" not in page
    assert run_page.CAPACITY_SCRIPT not in page
    assert "[_reproduce]" in page


@pytest.mark.usefixtures("parts")
def test_a_page_with_charts_of_a_training_says_nothing_of_none(monkeypatch):
    monkeypatch.setattr(run_page, "training_charts", lambda *_: "[training]")
    page = run_page.page_of(facts_of_page("ring"))
    assert "[training]" in page
    assert "Nothing was trained" not in page


def test_why_there_are_no_accuracies():
    assert _no_training(facts_of(cut=["ring"])).startswith(
        "The run was interrupted before the first training row,"
    )
    assert _no_training(facts_of()).startswith("Nothing was trained, so")


def test_links_that_any_overlay_uses_have_models_and_utilisation(monkeypatch):
    first = overlay("a", models=[0, 0, 1, NAN, 0.5, 0], used=[0, 0, 0.25, 0.5, NAN, 0])
    second = overlay("b", models=[0, 2, 0, 0, NAN, 0], used=[0, 1, 0, 0, 0.125, 0])
    facts = facts_of(first, second)
    name = facts.graph.link_name
    page = _links(facts)
    assert table_heads(page) == [
        "link",
        "capacity",
        "a: models a round",
        "a: used",
        "b: models a round",
        "b: used",
    ]
    assert table_cells(page) == [
        [name(1), "1 Gbps", "0", "0.0 %", "2", "100.0 %"],
        [name(2), "100 Mbps", "1", "25.0 %", "0", "0.0 %"],
        [name(4), "100 Mbps", "0.5", "-", "-", "12.5 %"],
    ]
    assert "the first" not in page
    monkeypatch.setattr("scenarios.pages.run_page._MOST_LINKS", 2)
    assert "(the first 2 of 3)" in _links(facts)


def test_the_mean_capacity_is_said_where_events_change_it():
    same = overlay("a", mean_bps=[1e9 * (1 + 1e-12)] * 6)
    half = overlay("b", mean_bps=[5e8, NAN, 1e8, 1e8, 1e8, 1e8])
    facts = facts_of(same, half)
    assert _capacity_text(facts, 0) == "1 Gbps; mean with events: b 500 Mbps"
    assert _capacity_text(facts, 1) == "1 Gbps"
    assert _capacity_text(facts, 2) == "100 Mbps; mean with events: a 1 Gbps"


def test_what_limits_an_overlay_or_why_it_is_not_known():
    assert _sensitivities(overlay("<a>", why_not="It is <b>.")) == (
        '<h2>What limits &lt;a&gt;</h2><p class="note">It is &lt;b&gt;.</p>'
    )


def test_why_no_link_helps_alone():
    def built(graph):
        return overlay(
            overlay=build_overlay(
                "star", graph, Workload(model_bits=1e6, compute_s=0.01), [(0, 1), (1, 0)], hub=0
            )
        )

    none = "Twice the capacity of no single link lowers the larger of paper and load."
    assert _no_upgrade(overlay()) == none
    assert _no_upgrade(built(pair_graph())) == none
    idle = _no_upgrade(built(with_slow_start(pair_graph(), "idle", 1e5)))
    assert idle.startswith(
        "What more capacity gains by load is not computed around a hub with slow_start 'idle'"
    )
    rules = SimpleNamespace(are_plain_links=False)
    half = overlay(overlay=SimpleNamespace(graph=SimpleNamespace(rules=rules), hub=None))
    assert _no_upgrade(half).endswith("is not computed where links are half-duplex, shared or fat pipes.")


@pytest.mark.parametrize(
    ("facts", "tables", "command"),
    [
        ({}, {"training": {}}, "silosim run scenario.toml -o x.h5"),
        ({"trained": False, "cut": ("ring",)}, {"training": {}}, "silosim run scenario.toml -o x.h5"),
        ({"trained": False}, {"training": {}}, "silosim simulate scenario.toml -o x.h5"),
        ({}, {}, "silosim simulate scenario.toml -o x.h5"),
        ({"is_replay": True}, {"training": {}}, None),
        (
            {"imported": True, "target": 0.5},
            {"imported": {"file": "/a/my metrics.csv"}},
            "silosim import-metrics 'my metrics.csv' --on scenario.toml --target-accuracy 0.5 -o x.h5",
        ),
        ({"imported": True}, {"imported": {}}, "silosim import-metrics FILE --on scenario.toml -o x.h5"),
    ],
)
def test_the_command_that_makes_a_run_again(facts, tables, command):
    made = _making(facts_of(**facts), tables, "x.h5")
    assert made[1:] == (() if command is None else (command,))
    if command:
        head = (
            "# The scenario above without its table [imported], as scenario.toml"
            if "imported" in facts
            else "# The"
        )
        assert made[0].startswith(head)


def test_a_target_is_an_option_where_there_is_one():
    assert _target(facts_of()) == ""
    assert _target(facts_of(target=0.0)) == " --target-accuracy 0"


def items(page):
    return {
        html.unescape(key): html.unescape(value)
        for key, value in re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    }


def test_how_a_run_was_made_and_how_to_make_it_again():
    overlays = [
        overlay("a", engine="simpy", rounds=1200),
        overlay("b", engine="compiled", rounds=0),
        overlay("c", engine="simpy"),
    ]
    page = _reproduce(facts_of(*overlays, name="my run.v2.h5.partial"))
    assert items(page) == {
        "seed": "3",
        "engine": "simpy, compiled",
        "sharing, queueing": "maxmin, fifo",
        "rounds simulated": "a 1,200, b 0, c 0",
    }
    commands = html.unescape(re.search("<pre>(.*?)</pre>", page, re.DOTALL)[1]).splitlines()
    assert commands[-2:] == [
        "silosim show 'my run.v2.h5'",
        "silosim report 'my run.v2.h5' -o 'my run.v2.html'",
    ]
    assert "silosim replay" not in page
    stated = '[simulation]\nsharing = "equal"\nqueueing = "parallel"\n'
    older = items(_reproduce(facts_of(overlay(), scenario=stated)))
    assert (older["engine"], older["sharing, queueing"]) == ("not stated", "equal, parallel")


@pytest.mark.parametrize(
    ("is_replay", "trained", "said"),
    [(True, True, "A replay: silosim replay"), (True, False, "A replay: silosim replay"),
     (None, True, "If silosim replay made this file, silosim replay"), (None, False, None), (False, True, None)],
)  # fmt: skip
def test_a_replay_is_made_by_replay(is_replay, trained, said):
    page = _reproduce(facts_of(overlay(), is_replay=is_replay, trained=trained))
    assert re.findall(
        '<p class="note">(A replay: silosim replay|If silosim replay made this file, silosim replay)', page
    ) == ([] if said is None else [said])


# Trainings


def trained(kind, accuracy, *, first_s=0.0, step_s=1.0):
    rounds = np.arange(len(accuracy)) * 2
    return SimpleNamespace(
        kind=kind,
        history={"round": rounds, "test_accuracy": np.array(accuracy)},
        wall_clock_s=first_s + step_s * np.arange(len(accuracy)),
        computed_rounds=rounds,
    )


def test_first_and_last_values_are_those_that_are_there():
    lines = [trained("a", [NAN, 0.25, NAN, 0.5, NAN]), trained("b", [NAN, NAN]), trained("c", [0.125])]
    assert _ends(lines, "test_accuracy", 100.0) == "a from 25 to 50; c from 12.5 to 12.5."
    assert _ends(lines[1:2], "test_accuracy", 100.0) == ""


def metrics_of_accuracy(monkeypatch):
    monkeypatch.setattr(
        "scenarios.pages.training_charts.shown_metrics",
        lambda _overlays, **_options: [("test_accuracy", 100.0, "test accuracy (%)")],
    )


def test_rounds_of_the_table_are_evenly_chosen(monkeypatch):
    metrics_of_accuracy(monkeypatch)
    monkeypatch.setattr("scenarios.pages.training_charts._MOST_ROWS", 3)
    many = trained("a", [0.0, 0.1, 0.2, 0.3, 0.4], step_s=500.0)
    page = _table([many, trained("b", [0.5, NAN])], is_imported=False)
    assert table_heads(page) == ["overlay", "round", "wall-clock time", "test accuracy (%)"]
    assert table_cells(page) == [
        ["a", "0", "0 s", "0"],
        ["a", "4", "16.67 min", "20"],
        ["a", "8", "33.33 min", "40"],
        ["b", "0", "0 s", "50"],
        ["b", "2", "1.000 s", "-"],
    ]


def scenario_of(*, target=None, imported=False):
    return RecordedScenario(name="x", target_accuracy=target, trained_rounds=9, is_imported=imported)


def charts(monkeypatch, overlays, *, seeds=1, **scenario):
    metrics_of_accuracy(monkeypatch)
    monkeypatch.setattr(
        "scenarios.pages.training_charts.spread_of",
        lambda same: SimpleNamespace(
            mean=same[0],
            ends=[{"test_accuracy": same[0].history["test_accuracy"] + d} for d in (-0.125, 0.125)],
        ),
    )
    return training_charts([SimpleNamespace(overlays=overlays)] * seeds, scenario_of(**scenario))


def captions(page):
    return re.findall("<figcaption>(.*?)</figcaption>", page)


def test_a_metric_has_a_chart_over_rounds_and_one_over_time(monkeypatch):
    one, other = trained("a", [0.25, 0.5]), trained("b", [0.25, 0.75])
    page = charts(monkeypatch, [one, other, SimpleNamespace(kind="c", history={})])
    assert captions(page) == ["Test accuracy (%) over rounds", "Test accuracy (%) over time"]
    assert page.count("Test accuracy (%) over rounds of a, b. a from 25 to 50; b from 25 to 75.") == 1
    for absent in ("logarithmic", "target", "band", "seeds", "imported"):
        assert absent not in page
    assert charts(monkeypatch, [SimpleNamespace(kind="c", history={})]) == ""


def test_a_target_and_seeds_are_in_the_legend(monkeypatch):
    one = trained("a", [0.25, 0.5])
    page = charts(monkeypatch, [one], target=0.375, seeds=3)
    assert "dashed and level: target 37.5 %" in page
    assert "band: lowest to highest of 3 seeds, around their mean" in page
    assert page.count('class="band') == 2
    assert 'class="band' not in charts(monkeypatch, [one], target=0.375)


def test_one_imported_curve_is_drawn_once_over_rounds(monkeypatch):
    both = [trained("a", [0.25, 0.5]), trained("b", [0.25, 0.5], step_s=2.0)]
    page = charts(monkeypatch, both, imported=True)
    once = " (one imported curve, the same on every overlay)"
    assert captions(page) == [f"Test accuracy (%) over rounds{once}", "Test accuracy (%) over time"]
    assert "over rounds of a. a from" in page
    assert "over time of a, b. a from" in page
    assert once not in charts(monkeypatch, both[:1], imported=True)


def test_time_0_has_no_place_on_a_logarithmic_axis(monkeypatch):
    far = [trained("a", [0.25, 0.5, 0.75]), trained("b", [0.25, 0.5, 0.75], step_s=1000.0)]
    lost = "round 0, which is at time 0, has no place"
    assert lost in charts(monkeypatch, far)
    assert "logarithmic)" in charts(monkeypatch, far)
    # What is missing there is not lost.
    assert lost not in charts(
        monkeypatch, [trained("a", [NAN, 0.5]), trained("b", [NAN, 0.5], step_s=1000.0)]
    )


# Validations


def validated(**changes):
    given = {
        "overlay": "ring",
        "paper_s": 1.0,
        "paper_below_load": False,
        "serialized_s": 1.5,
        "load_bound_s": 0.5,
        "equal_s": 2.0,
        "equal_is_exact": True,
        "equal_half_width_s": 0.0,
        "equal_over_paper": 1.0,
        "maxmin_s": 1.25,
        "maxmin_is_exact": False,
        "maxmin_half_width_s": 0.125,
        "maxmin_over_paper": 0.25,
        "why": "",
    }
    return given | changes


def test_cycle_times_are_side_by_side():
    rows = [
        validated(),
        validated(
            overlay="a", equal_s=None, equal_over_paper=None, maxmin_is_exact=True, maxmin_half_width_s=None
        ),
    ]
    page = _times(rows)
    assert table_heads(page) == [
        "overlay",
        "paper",
        "serialized",
        "load",
        "equal",
        "maxmin",
        "equal over paper",
        "maxmin over paper",
    ]
    assert table_cells(page) == [
        ["ring", "1.000 s", "1.500 s", "500.0 ms", "2.000 s", "~1.250 s +- 125.0 ms", "+100.0%", "~+25.0%"],
        ["a", "1.000 s", "1.500 s", "500.0 ms", "-", "1.250 s", "-", "+25.0%"],
    ]


@pytest.mark.parametrize(("half", "shown"), [(2e-8, " +- 20.00 ns"), (1e-8, ""), (0.0, ""), (None, "")])
def test_an_interval_that_is_a_rounding_error_is_none(half, shown):
    assert _time(validated(maxmin_s=1.0, maxmin_half_width_s=half), "maxmin_s") == f"~1.000 s{shown}"


def test_only_paper_is_marked_where_it_is_below_load():
    below = validated(paper_below_load=True)
    assert _time(below, "paper_s") == "!1.000 s"
    assert _time(below, "serialized_s") == "1.500 s"


def test_causes_are_the_parts_that_any_row_has():
    rows = [
        validated(shared_links_s=0.5, waits_for_other_arcs_s=-0.25, serialization_s=0.0, why="links <meet>"),
        validated(
            overlay="a",
            maxmin_s=1.0 + 5e-10,
            shared_links_s=None,
            waits_for_other_arcs_s=5e-10,
            serialization_s=0.0,
        ),
        validated(overlay="b", maxmin_s=None, shared_links_s=None, waits_for_other_arcs_s=None),
        validated(overlay="c", paper_s=None, shared_links_s=2e-9, waits_for_other_arcs_s=0.0),
    ]
    page = _causes(rows)
    assert table_heads(page) == [
        "overlay",
        "maxmin over paper",
        "shared links",
        "waits for other arcs",
        "why",
    ]
    assert table_cells(page) == [
        ["ring", "+250.0 ms", "+500.0 ms", "-250.0 ms", "links <meet>"],
        ["a", "0", "-", "0", "within 1 %"],
        ["b", "-", "-", "-", "within 1 %"],
        ["c", "-", "+2.000 ns", "0", "within 1 %"],
    ]


def test_engines_and_rounds_of_both_simulations_are_named():
    rows = [
        validated(equal_engine="simpy", maxmin_engine="compiled", equal_rounds=200, maxmin_rounds=1500),
        validated(overlay="a", equal_engine=None, maxmin_engine="compiled", maxmin_rounds=0),
    ]
    assert _simulated(rows) == {
        "engine": "simpy, compiled",
        "rounds simulated": "ring 200 (equal), ring 1,500 (maxmin)",
    }


def test_a_row_of_a_validation_is_that_of_max_min_shares():
    assert _as_simulated(validated(maxmin_rounds=7)) == {
        "overlay": "ring",
        "paper_s": 1.0,
        "simulated_s": 1.25,
        "over_paper": 0.25,
        "simulated_rounds": 7,
        "simulated_half_width_s": 0.125,
        "simulated_is_exact": False,
    }
    assert _as_simulated(validated())["simulated_rounds"] is None


def test_the_commands_of_a_validation_quote_its_name():
    assert _commands("my validation.h5").splitlines()[1:] == [
        "silosim validate scenario.toml -o 'my validation.h5'",
        "silosim report 'my validation.h5' -o 'my validation.html'",
    ]


# Assumptions


def assumed(preset=None, **network):
    config = NetworkConfig(**({"underlay": "gaia", "access": "1 Gbps"} | network))
    return assumptions(build_network(config), config, preset)


def test_what_is_assumed_of_capacities_routes_and_latencies():
    plain = assumed()
    assert plain[:3] == [
        "No core capacity is assumed: the network's file or the scenario states them all.",
        "Bandwidth of a route in closed forms: its smallest core capacity, divided by its number of core links.",
        "Latency: 0.0085 ms/km along a route, and 4 ms once.",
    ]
    assert len(plain) == len([*plain[:3], *build_network(NetworkConfig(underlay="gaia")).underlay.notes])
    other = assumed(bandwidth="bottleneck", latency="per_link")
    assert other[1:3] == [
        "Bandwidth of a route in closed forms: its smallest core capacity.",
        "Latency: 0.0085 ms/km along a route, and 4 ms for each link of it.",
    ]


def test_links_without_a_capacity_are_counted_and_some_named():
    (said,) = [each for each in assumed(underlay="geant") if each.startswith("Core capacity")]
    found = re.fullmatch(
        r"Core capacity of 1 Gbps on 22 of 61 links, of which the file states none: (.*) and (\d+) more\.",
        said,
    )
    assert len(found[1].split(", ")) + int(found[2]) == 22


def test_a_preset_of_the_paper_is_named():
    assert (
        "Model size and computing time where the scenario states none: the paper's, of femnist."
        in assumed("femnist")
    )
    for preset in (None, "mine"):
        assert not [each for each in assumed(preset) if each.startswith("Model size")]


def test_measured_pairs_have_no_core_and_no_routes():
    said = assumed(underlay="clouds", access=None)
    assert not [each for each in said if each.startswith(("Core", "No core", "Bandwidth", "Latency"))]
    assert "Access capacity: what the network's file states, 10 Gbps where it states nothing." in said


def test_the_preset_of_a_file_is_that_of_its_scenario_or_of_its_workload():
    assert recorded_preset('[workload]\npreset = "femnist"\n', SimpleNamespace(name="x")) == "femnist"
    assert recorded_preset("[workload]\n", SimpleNamespace(name="x")) == "x"
    assert recorded_preset("", SimpleNamespace(name="x")) == "x"


def test_split_flows_are_said_and_only_where_flows_are_split():
    split = [each for each in assumed(split_flows=True) if each.startswith("Flows between routers are split")]
    assert len(split) == 1
    assert not [each for each in assumed() if each.startswith("Flows")]


# What is trained, and the commands of a study


def trained_lines(*, history=True, trained="a model", rounds=1200, compression="", share=1.0):
    record = SimpleNamespace(
        overlays=[SimpleNamespace(history={}), SimpleNamespace(history={"round": [0]} if history else {})],
        work=SimpleNamespace(message_share=share, model_bits=1e6),
    )
    scenario = RecordedScenario(
        name="x",
        target_accuracy=None,
        trained_rounds=rounds,
        is_imported=False,
        trained=trained,
        compression=compression,
    )
    return training_lines(record, scenario)


def test_what_is_trained_and_sent_is_said_where_anything_is():
    assert trained_lines() == ["trained: a model, 1,200 rounds"]
    assert trained_lines(history=False) == []
    assert trained_lines(trained="") == []
    # Messages of a quarter of a model are 1 Mbit.
    assert trained_lines(trained="", compression="top_k", share=0.25) == [
        "messages: compressed by top_k: 25 % of the model's 4 Mbit"
    ]


@pytest.mark.parametrize("name", ["my table.csv", "my table.csv.partial"])
def test_a_study_is_made_again_from_its_file(tmp_path, name):
    path = tmp_path / name
    path.write_text("rows")
    source = StudySource(name="a b.toml", text="text", run_scenario="", assumed=())
    assert study_commands(path, source).splitlines() == [
        "silosim study 'a b.toml' -o 'my table.csv'",
        "silosim plot 'my table.csv'",
        "silosim report 'my table.csv' -o 'my table.html'",
    ]
    assert study_commands(path, None).splitlines()[0] == "silosim study STUDY.toml -o 'my table.csv'"
    digest = {f"{name}, SHA-256": hashlib.sha256(b"rows").hexdigest()}
    assert study_origin(path, None) == digest
    assert study_origin(path, source) == {
        "silosim version": version("silosim"),
        "a b.toml, SHA-256": hashlib.sha256(b"text").hexdigest(),
        **digest,
    }


def study_inputs(source=None, **columns):
    table = pandas.DataFrame(
        {"access_bps": [1e6, 1e7], "network": "net", "overlay": ["a", "b"], "point": ["p", "q"], **columns}
    )
    return "".join(inputs_of(SimpleNamespace(name="s.csv"), table, source))


def test_what_all_points_have_in_common_is_listed():
    page = study_inputs(rounds=9, engine=None, error=None)
    assert items(page)["Network"] == "net"
    assert items(page)["Simulated rounds"] == "9"
    assert "Engine" not in items(page)
    assert "The study&#x27;s TOML file is not in the folder of s.csv" in page
    assert "Study (" not in page
    failed = study_inputs(error=["no", "no"])
    assert "The same in all rows" not in failed


def test_the_text_of_a_study_and_of_the_run_that_it_replays_are_shown():
    source = StudySource(name="s.toml", text="<study>", run_scenario="", assumed=("Assumed.",))
    page = study_inputs(source)
    assert "<summary>Study (s.toml)</summary><pre>&lt;study&gt;</pre>" in page
    assert "Assumed." in page
    assert "Scenario of the run" not in page
    assert "cannot be shown" not in page
    replayed = study_inputs(StudySource(name="s.toml", text="x", run_scenario="<run>", assumed=()))
    assert "<summary>Scenario of the run that is replayed (TOML)</summary><pre>&lt;run&gt;</pre>" in replayed
