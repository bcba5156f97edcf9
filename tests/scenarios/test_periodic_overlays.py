"""Periodic overlays through commands, scenarios and files."""

import csv
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from scenarios.api import upgrade as silosim_upgrade
from scenarios.runfile.reader import read_run
from topologies import (
    AccessLinks,
    InputError,
    Workload,
    connectivity,
    design,
    design_periodic,
    load_underlay,
    state_of,
)
from topologies.analysis import explain, upgrade_links, upgraded
from topologies.periodic.schedule_file import schedule_text

pytestmark = pytest.mark.usefixtures("compiled_simulations")

NEW = (
    "exponential",
    "equi_static",
    "one_peer_exponential",
    "base",
    "multigraph",
    "hierarchical",
    "equi_dyn",
    "epidemic",
)
SCENARIO = """
[network]
underlay = "gaia"
access = "1 Gbps"
variant = "published"

[workload]
preset = "femnist"

[[overlays]]
kind = "base"
k = 2

[[overlays]]
kind = "multigraph"
name = "with lags"

[[overlays]]
schedule = "turns.csv"

[simulation]
rounds = 40
"""
GRAPH = connectivity(load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
WORK = Workload.preset("femnist", variant="published")


def turns(path: Path):
    states = design_periodic("one_peer_exponential", GRAPH, WORK).states
    path.write_text(schedule_text(states, GRAPH.labels), encoding="utf-8")


@pytest.fixture
def scenario(tmp_path):
    turns(tmp_path / "turns.csv")
    file = tmp_path / "study.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def rows_of(result):
    return json.loads(result.ok().out)["rows"]


def test_design_shows_states_and_the_gap_per_round(silosim):
    kinds = [word for kind in NEW for word in ("--kind", kind)]
    rows = rows_of(silosim("design", "gaia", "--published", *kinds, "--k", 2, "--json"))

    found = {row["overlay"]: row for row in rows}
    assert [row["overlay"] for row in rows] == [*NEW]
    assert [found[kind]["period"] for kind in NEW] == [None, None, 4, 5, 2, 10, None, None]
    assert found["base"]["spectral_gap"] == 1.0
    assert found["epidemic"]["spectral_gap"] == pytest.approx(1 - ((10 * (1 - 0.9**11) - 1) / 10) ** 0.5)
    assert found["one_peer_exponential"]["spectral_gap"] == pytest.approx(1 - 0.2196 ** (1 / 4), abs=1e-4)
    assert found["multigraph"]["published_reading_s"] == pytest.approx(0.0686, abs=5e-5)
    assert found["multigraph"]["paper_s"] == pytest.approx(0.0688, abs=5e-5)
    assert all(row["over_bound"] is None for row in rows if row["period"] is not None)


def test_a_table_without_periodic_overlays_has_no_states(silosim):
    result = silosim("design", "gaia", "--kind", "exponential").ok()

    assert "states" not in result.out.splitlines()[4]


@pytest.mark.slow
def test_the_table_says_what_an_order_gains(silosim):
    words = " ".join(
        silosim("design", "gaia", "--kind", "one_peer_exponential", "--order", "searched").ok().out.split()
    )

    by_label, searched = (
        design_periodic(
            "one_peer_exponential",
            connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=10e9, down_bps=10e9)),
            Workload.preset("inaturalist"),
            order=order,
        ).closed_forms.paper_s
        for order in ("none", "searched")
    )
    assert searched < by_label
    assert (
        f"one_peer_exponential: order searched makes paper {searched:.3f} s; by label it is {by_label:.3f} s."
        in words
    )


def test_the_critical_circuit_names_silos_and_states(silosim):
    rows = rows_of(silosim("explain", "gaia", "--published", "--kind", "multigraph", "--json"))
    overlay = design_periodic(
        "multigraph",
        connectivity(
            load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=10e9, down_bps=10e9)
        ),
        Workload.preset("inaturalist", variant="published"),
    )

    assert sum(row["delay_s"] for row in rows) / sum(row["lag"] for row in rows) == pytest.approx(
        overlay.closed_forms.paper_s, rel=1e-12
    )
    assert [row["target"] for row in rows] == [row["source"] for row in rows[1:] + rows[:1]]
    for row in rows:
        parts = row["compute_s"] + row["latency_s"] + row["transmission_s"]
        assert row["delay_s"] == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_with_constant_rates_the_simulation_is_the_serialized_form(silosim, scenario, engine):
    command = ("simulate", scenario, "--rounds", 150, "--sharing", "equal", "--engine", engine, "--json")
    rows = {row["overlay"]: row["simulated_s"] for row in rows_of(silosim(*command))}

    assert [*rows] == ["base", "with lags", "turns"]
    for kind, name, options in (
        ("base", "base", {"k": 2}),
        ("one_peer_exponential", "turns", {}),
        ("multigraph", "with lags", {}),
    ):
        forms = design_periodic(kind, GRAPH, WORK, **options).closed_forms
        assert rows[name] == pytest.approx(forms.serialized_s, rel=1e-9)


def test_a_file_holds_the_states_and_gives_them_back(silosim, scenario, tmp_path):
    path = tmp_path / "run.h5"
    silosim("simulate", scenario, "-o", path).ok()

    base, lags, _ = read_run(path).overlays
    for recorded, kind, options in ((base, "base", {"k": 2}), (lags, "multigraph", {})):
        overlay = design_periodic(kind, GRAPH, WORK, **options)
        assert len(recorded.states) == overlay.period
        for there, here in zip(recorded.states, overlay.states, strict=True):
            for name in ("source", "target", "lag", "weight"):
                assert np.array_equal(getattr(there, name), getattr(here, name))
        assert recorded.closed_forms.paper_s == overlay.closed_forms.paper_s
    with h5py.File(path) as file:
        group = file["overlays/base"]
        assert (group.attrs["max_degree"], group.attrs["drawn"]) == (2, False)
        labels, ends = file["connectivity/silo_labels"].asstr()[:], group["states/ends"][:]
        assert group["states/source"].asstr()[:].tolist() == labels[ends[:, 0]].tolist()
    shown = rows_of(silosim("show", path, "--json"))
    assert [row["overlay"] for row in shown] == ["base", "with lags", "turns"]


def test_a_replay_keeps_the_states(silosim, scenario, tmp_path):
    path = tmp_path / "run.h5"
    silosim("simulate", scenario, "--sharing", "equal", "--rounds", 150, "-o", path).ok()

    rows = rows_of(silosim("replay", path, "--access", "100 Mbps", "--json"))

    slow = connectivity(
        load_underlay("gaia", variant="published"), access=AccessLinks(up_bps=1e8, down_bps=1e8)
    )
    there = {row["overlay"]: row for row in rows}
    assert there["base"]["paper_s"] == pytest.approx(
        design_periodic("base", slow, WORK, k=2).closed_forms.paper_s, rel=1e-12
    )


def test_a_sweep_takes_them(silosim, tmp_path):
    kinds = [word for kind in NEW for word in ("--kind", kind)]
    rows = rows_of(
        silosim(
            "sweep",
            "gaia",
            *kinds,
            "--access",
            "1 Gbps",
            "--rounds",
            20,
            "--workers",
            1,
            "-o",
            tmp_path / "table",
            "--json",
        )
    )

    assert [row["overlay"] for row in rows] == [*NEW]
    assert all(row["simulated_s"] > 0 for row in rows)


@pytest.mark.usefixtures("placeholder_figures")
def test_validate_says_what_queues_and_links_add(silosim, scenario, tmp_path):
    output = tmp_path / "checked"
    result = silosim("validate", scenario, "--rounds", 200, "-o", output).ok()
    with (output / "validation-study.csv").open(encoding="utf-8") as file:
        rows = {row["overlay"]: row for row in csv.DictReader(file)}

    words = " ".join(result.out.split())
    for name in ("base", "with lags", "turns"):
        assert float(rows[name]["equal_s"]) == pytest.approx(float(rows[name]["serialized_s"]), rel=1e-9)
        assert f"{name}: periodic, so no parts arc by arc;" in words
    silosim("report", output / "validation-study.h5", "-o", tmp_path / "page.html").ok()


def test_one_state_of_a_file_is_the_static_overlay(silosim, tmp_path):
    ring = design("ring", GRAPH, WORK)
    state = state_of(ring.source, ring.target, ring.consensus[ring.target, ring.source])
    (tmp_path / "one.csv").write_text(schedule_text([state], GRAPH.labels), encoding="utf-8")

    command = ("design", "gaia", "--published", "--workload", "femnist", "--access", "1 Gbps", "--json")
    file, static = rows_of(silosim(*command, "--kind", "ring", "--schedule", tmp_path / "one.csv"))[::-1]

    for key in ("paper_s", "serialized_s", "load_bound_s", "simulated_s", "max_degree", "arcs"):
        assert file[key] == static[key]


def test_one_state_has_the_spectral_gap_of_its_matrix(silosim, tmp_path):
    # Each silo takes over the model of the one before: a round may spread models that agree in the long run.
    labels, matrix = GRAPH.labels, np.roll(np.eye(11), 1, axis=0)
    matrix[0] = 0.0
    matrix[0, [0, -1]] = 0.9, 0.1
    np.save(tmp_path / "matrix.npy", matrix)
    source, target = np.arange(11), (np.arange(11) + 1) % 11
    state = state_of(source, target, matrix[target, source])
    (tmp_path / "path.csv").write_text(schedule_text([state], labels), encoding="utf-8")
    files = ("--schedule", tmp_path / "path.csv", "--weights", tmp_path / "matrix.npy")

    rows = {row["overlay"]: row for row in rows_of(silosim("design", "gaia", *files, "--json"))}
    static, periodic = rows["matrix"], rows["path"]
    assert periodic["spectral_gap"] == pytest.approx(static["spectral_gap"], rel=1e-9)
    assert periodic["contraction"] == pytest.approx(static["contraction"], rel=1e-9)
    assert static["contraction"] > 1 > 1 - static["spectral_gap"]
    assert "never agree" not in silosim("explain", "gaia", *files[:2]).ok().out


PERIODIC = ("base", "multigraph", "hierarchical", "one_peer_exponential", "epidemic", "equi_dyn")


@pytest.mark.parametrize("kind", PERIODIC)
def test_a_single_silo_agrees_with_itself(silosim, tmp_path, kind):
    (tmp_path / "sites.csv").write_text("site,latitude,longitude\nA,10,10\nB,11,12\n", encoding="utf-8")
    (tmp_path / "links.csv").write_text("from,to,capacity\nA,B,1 Gbps\n", encoding="utf-8")
    network = ("--sites", tmp_path / "sites.csv", "--links", tmp_path / "links.csv", "--silo-at", "A")

    (row,) = rows_of(silosim("design", *network, "--kind", kind, "--json"))
    assert row["spectral_gap"] == 1.0
    assert row["paper_s"] == pytest.approx(Workload.preset("inaturalist").compute_s, rel=1e-12)
    assert "published_reading_s" not in row


@pytest.mark.parametrize("command", ["design", "explain"])
def test_they_say_which_silo_weighs_most_and_least(silosim, command):
    multigraph = ("gaia", "--published", "--workload", "femnist", "--kind", "multigraph")
    said = " ".join(silosim(command, *multigraph).ok().out.split())
    assert (
        "multigraph: the silos agree on a weighted mean of what they learn, by the lags and weights of its states: "
        "'Dublin' weighs 1.74 times its plain share, 'California' 0.435 times."
    ) in said
    assert "weighted mean" not in silosim(command, "gaia", "--kind", "one_peer_exponential").ok().out


def test_design_gives_the_weights_of_all_silos(silosim):
    kinds = ("--kind", "multigraph", "--kind", "one_peer_exponential")
    command = ("design", "gaia", "--published", "--workload", "femnist", *kinds, "--json")
    multigraph, one_peer = (row["agreed_weights"] for row in rows_of(silosim(*command)))

    assert [*multigraph] == [*one_peer] == list(GRAPH.labels)
    assert sum(multigraph.values()) == pytest.approx(1, abs=1e-12)
    assert multigraph["Dublin"] * 11 == pytest.approx(1.7386, abs=5e-5)
    assert set(one_peer.values()) == {1 / 11}
    overlay = design_periodic("multigraph", GRAPH, WORK)
    assert overlay.agreed_weights.sum() == pytest.approx(1, abs=1e-12)


def test_it_is_said_where_how_silos_mix_takes_too_long(silosim, tmp_path):
    states = [state_of(np.arange(11), (np.arange(11) + 1) % 11, np.full(11, 0.5), np.full(11, 100))]
    (tmp_path / "old.csv").write_text(schedule_text(states, GRAPH.labels), encoding="utf-8")
    command = ("design", "gaia", "--schedule", tmp_path / "old.csv")

    (row,) = (row for row in rows_of(silosim(*command, "--json")) if row["overlay"] == "old")
    assert row["spectral_gap"] is row["contraction"] is row["agreed_weights"] is None
    said = " ".join(silosim(*command).ok().out.split())
    assert "old: 11 silos times the longest lag of 100 are more than 1,000, so that neither" in said


@pytest.mark.parametrize("lag", [1, 3])
def test_silos_that_never_agree_are_said_not_to(silosim, tmp_path, lag):
    # The first five silos and the others weigh each other's models by 0.
    source, target = np.arange(11), (np.arange(11) + 1) % 11
    weight = np.full(11, 0.3)
    weight[[4, 10]] = 0.0
    state = state_of(source, target, weight, np.full(11, lag))
    (tmp_path / "halves.csv").write_text(schedule_text([state], GRAPH.labels), encoding="utf-8")

    for command in ("design", "explain"):
        said = " ".join(silosim(command, "gaia", "--schedule", tmp_path / "halves.csv").ok().out.split())
        assert "with its weights the silos never agree on one model." in said
        assert "shrink by the factor" not in said


@pytest.mark.parametrize(
    ("rows", "message", "commands"),
    [
        (
            "0,Virginia,Dublin,0,0.5",
            "row 2, lag(='0') must be a whole number of 1..10000.",
            ("design", "simulate", "explain"),
        ),
        # The commands read such a file by one function.
        ("0,,,,\n1,,,,", "must state an arc in some state.", ("design",)),
        ("1000000,Virginia,Dublin,1,0.5", "(a period has at most 10000 states)", ("simulate",)),
        ("0,Virginia,Atlantis,1,0.5", "Atlantis", ("explain",)),
        ("0,Virginia,Dublin,1,1.5", "Dublin", ("design",)),
        (
            "0,Virginia,Dublin,1,0.5",
            "turns.csv: the arcs of all states together must be strongly connected",
            ("design", "simulate", "explain"),
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(silosim, tmp_path, rows, message, commands):
    file = tmp_path / "turns.csv"
    file.write_text(f"state,from,to,lag,weight\n{rows}\n", encoding="utf-8")

    for command in commands:
        line = silosim(command, "gaia", "--schedule", file).failed(2).err
        assert message in line
        assert str(file) in line


@pytest.mark.parametrize("command", ["design", "simulate", "explain", "sweep", "upgrade"])
def test_a_kind_that_needs_a_partition_says_so(silosim, command, tmp_path):
    output = tmp_path / "table"
    more = {
        "sweep": ("--access", "1 Gbps", "--workers", "1", "-o", output),
        "upgrade": ("--budget", 1),
    }.get(command, ())
    assert (
        "stl_fw needs a partition of data"
        in silosim(command, "gaia", "--kind", "stl_fw", *more).failed(2).err
    )


def test_links_to_buy_for_a_periodic_overlay(silosim):
    command = ("upgrade", "gaia", "--access", "1 Gbps", "--kind", "base", "--k", 2, "--json")
    rows = rows_of(silosim(*command, "--budget", 1, "--rounds", 10))
    graph = connectivity(load_underlay("gaia"), access=AccessLinks(up_bps=1e9, down_bps=1e9))
    overlay = design_periodic("base", graph, Workload.preset("inaturalist"), k=2)
    links = upgrade_links(overlay)

    assert rows[0]["paper_s"] == overlay.closed_forms.paper_s
    alone = [upgraded(overlay, [link]).closed_forms for link in links]
    best_s = min(max(forms.paper_s, forms.load_bound_s) for forms in alone)
    last = rows[-1]
    assert max(last["paper_s"], last["load_bound_s"]) == pytest.approx(best_s, rel=1e-6)
    assert all(row["is_proven"] for row in rows)
    # What it says of a set is what a network with these links comes to.
    names = [name.strip() for name in last["raised"].split(";")]
    raised = upgraded(overlay, [link for link in links if link.name in names])
    assert last["serialized_s"] == raised.closed_forms.serialized_s


def test_links_to_buy_for_a_file_of_states(silosim, scenario):
    command = ("upgrade", "gaia", "--schedule", scenario.parent / "turns.csv")
    said = silosim(*command, "--budget", 1, "--rounds", 10, "--access", "1 Gbps").ok().out

    assert "Proven: no set of at most 1 link comes below" in said
    assert "takes one overlay: --kind, --arcs, --weights or --schedule" in (
        silosim(*command, "--kind", "ring", "--budget", 1).failed(2).err
    )


def test_weights_of_states_stay_as_they_are(silosim, scenario):
    text = scenario.read_text(encoding="utf-8")
    for old, new, message in (
        ('kind = "base"', 'kind = "base"\nconsensus = "fdla"', "goes with a static overlay"),
        ('schedule = "turns.csv"', 'schedule = "turns.csv"\nconsensus = "fdla"', "goes without schedule"),
        (
            'schedule = "turns.csv"',
            'schedule = "turns.csv"\narcs = "turns.csv"',
            "must have one of kind, arcs",
        ),
    ):
        scenario.write_text(text.replace(old, new), encoding="utf-8")
        assert message in silosim("simulate", scenario).failed(2).err


def test_python_functions_for_static_overlays_refuse_them():
    overlay = design_periodic("base", GRAPH, WORK)

    with pytest.raises(InputError, match=r"^kind\(='base'\) is a periodic overlay, whose critical_circuit"):
        explain(overlay)


def test_upgrade_in_python_takes_them_by_name_and_as_they_are():
    overlay = design_periodic("base", GRAPH, WORK)
    tables = [
        silosim_upgrade(overlay, budget=1, rounds=10),
        silosim_upgrade(GRAPH, WORK, kind="base", budget=1, rounds=10),
    ]

    assert tables[0].rows == tables[1].rows
    assert tables[0].rows[0]["paper_s"] == overlay.closed_forms.paper_s
