"""Notes of smaller studies, each by hand: imports, published tables, the multigraph, calibration, partitions."""

import os
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.studies import explain, import_metrics, multigraph_table, published_tables, starter
from scenarios.studies.calibrate import _silos, _stated, check_training
from scenarios.studies.explain import _best_upgrade, _limit, _short, further_text, loads_text
from scenarios.studies.export import _check_rounds
from scenarios.studies.import_metrics import _counting_note, _values, columns_note
from scenarios.studies.multigraph_table import (
    _gain_note,
    _is_estimated,
    _notes,
    _published_is,
    _ratio,
    is_printed_as,
)
from scenarios.studies.partition import Division, _number, _summary
from scenarios.studies.partition_plot import _fits, _font_size
from scenarios.studies.published_tables import PublishedTable, _budgets, _cycle_time_s, _ms
from scenarios.studies.run import _is_long_without_checkpoints
from scenarios.studies.starter import _named_from
from topologies import InputError
from training.tasks import TASKS


def imported(
    *, rounds=(1, 2, 4), metrics=None, rows=None, silo_loss=(), left=None, unit="rounds", **counting
):
    history = {"round": np.array(rounds, dtype=float)} | (metrics or {})
    return SimpleNamespace(
        columns=SimpleNamespace(
            metrics={name: f"column {name}" for name in metrics or {}},
            silo_loss=silo_loss,
            round="epoch",
            unit=unit,
            left=left or {},
        ),
        history=history,
        rows=rows or {},
        last_round=rounds[-1],
        counting=SimpleNamespace(column="step", unit=unit, **{"shift": 0, "per_round": 1} | counting),
        first=1.0,
        last=40.0,
        notes=("Read as CSV.",),
    )


def test_an_import_says_the_column_of_each_metric_and_its_values():
    metrics = {
        "train_loss": np.array([1.0, 2.0, 3.0]),
        "test_loss": np.array([1.0, np.nan, 3.0]),
        "test_accuracy": np.array([1.0, 2.0, 3.0]),
        "objective": np.full(3, np.nan),
    }
    rows = {"train_loss": 3, "test_loss": 2, "test_accuracy": 7}
    assert columns_note(imported(metrics=metrics, rows=rows)) == (
        "imported: 3 rows, rounds 1 to 4 of epoch: train_loss from column train_loss, test_loss from column test_loss "
        "(2 rows), test_accuracy from column test_accuracy (3 of 7 values: the last of each round).",
        "Read as CSV.",
    )


def test_an_import_says_what_it_left_out_and_how_it_counts():
    metrics = {"train_loss": np.array([1.0, 2.0, 3.0])}
    left = {"train_loss": {"loss_2": 1, "loss_3": 5}}
    found = columns_note(
        imported(metrics=metrics, rows={"train_loss": 3}, left=left, silo_loss=("a", "b", "c"), unit="epochs")
    )
    assert found == (
        "imported: 3 rows, rounds 1 to 4 of epoch: train_loss from column train_loss, silo_loss from a ... c.",
        "step 1 to 40 are epochs: each is taken for one round.",
        "train_loss is that of column train_loss; left out: loss_2 (1 row), loss_3 (5 rows).",
        "Read as CSV.",
    )


@pytest.mark.parametrize(
    ("used", "rows", "found", "text"),
    [
        (3, 3, 3, ""),
        (2, 3, 2, " (2 rows)"),
        (3, 3, 5, " (3 of 5 values: the last of each round)"),
        (2, 3, 5, " (2 of 5 values: the last of each round)"),
        (0, 3, 0, " (0 rows)"),
    ],
)
def test_values_of_a_column_that_has_not_one_for_each_row(used, rows, found, text):
    assert _values(used, rows, found) == text


@pytest.mark.parametrize(
    ("unit", "shift", "per_round", "text"),
    [
        ("steps", 0, 1, "step 1 to 40 are local steps: each is a round."),
        ("steps", 1, 10, "step 1 to 40 are local steps, counted from 0: 10 are a round."),
        ("steps", -3, 2, "step 1 to 40 are local steps, shifted by -3: 2 are a round."),
        ("epochs", 1, 1, "step 1 to 40 are epochs, counted from 0: each is taken for one round."),
    ],
)
def test_how_steps_and_epochs_became_rounds(unit, shift, per_round, text):
    assert _counting_note(imported(unit=unit, shift=shift, per_round=per_round)) == text


def part_of(*overlays):
    """A part of a run: of each overlay its simulated rounds, and the rounds of its rows."""
    return SimpleNamespace(
        overlays=[
            SimpleNamespace(
                simulation=SimpleNamespace(rounds=rounds), history={"round": np.array(rows)} if rows else {}
            )
            for rounds, rows in overlays
        ]
    )


@pytest.mark.parametrize(
    ("overlays", "rounds", "last"),
    [
        (((10, ()),), None, None),
        (((10, ()),), slice(None), None),
        (((10, ()),), slice(3, None), None),
        (((10, ()),), slice(3, 10), None),
        (((10, ()),), slice(3, 11), 9),
        (((10, ()), (20, ())), slice(3, 20), None),
        (((20, ()), (10, ())), slice(3, 21), 19),
        # Rows of a training may go further than the simulation so far: to the start of round 12.
        (((10, (0, 12)),), slice(13), None),
        (((10, (0, 12)),), slice(14), 12),
        # Where there is nothing else is wrong.
        (((0, ()),), slice(5), None),
    ],
)
def test_rounds_beyond_the_last_are_refused(overlays, rounds, last):
    if last is None:
        _check_rounds(part_of(*overlays), rounds)
    else:
        asked = f"{rounds.start or 0}-{rounds.stop - 1}"
        with pytest.raises(
            InputError, match=rf"rounds\(='{asked}'\) must be rounds from 0 to {last}, the last of the run\."
        ):
            _check_rounds(part_of(*overlays), rounds)


def test_budgets_of_matcha_are_said():
    def table(**budgets):
        return PublishedTable(
            key="k", title="t", workload="inaturalist", local_steps=1, access_bps=1e9, budgets=budgets
        )

    assert _budgets(table()) == "budget 0.5"
    assert (
        _budgets(table(gaia=1.0, geant=0.6))
        == "budget 1 on gaia, 0.6 on geant: the paper states 0.5, but these reproduce its figures"
    )
    assert (_ms(0.3914), _ms(1.2)) == ("391.4", "1200")


def test_a_randomized_overlay_of_the_tables_is_the_mean_of_a_thousand_rounds(monkeypatch):
    monkeypatch.setattr(
        published_tables, "design_random", lambda kind, _graph, _work, *, budget: (kind, budget)
    )
    monkeypatch.setattr(
        published_tables,
        "random_cycle_time",
        lambda overlay, rounds, seed: SimpleNamespace(barrier=SimpleNamespace(mean=(overlay, rounds, seed))),
    )
    assert _cycle_time_s("matcha", None, None, 0.6) == (("matcha", 0.6), 1000, 0)
    forms = SimpleNamespace(closed_forms=SimpleNamespace(paper_s=0.25))
    monkeypatch.setattr(published_tables, "design", lambda *_: forms)
    assert _cycle_time_s("ring", None, None, 0.6) == 0.25


MULTIGRAPH = {
    "network": "gaia",
    "published_s": 0.02,
    "mean_s": 0.02,
    "slowest_s": 0.03,
    "rounds_s": 0.04,
    "paper_s": 0.04,
    "ring_s": 0.1,
    "published_ring_s": 0.1,
    "published_gain": 5.0,
    "simulated_gain": 2.5,
    "simulated_s": 0.05,
    "simulated_is_exact": True,
    "simulated_engine": "simpy",
    "ring_simulated_s": 0.125,
    "ring_simulated_is_exact": True,
    "ring_simulated_engine": "compiled",
}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "mean (A)"),
        ({"slowest_s": 0.02004}, "mean (A), slowest (B)"),
        ({"mean_s": 0.021}, "none"),
        ({"mean_s": 0.021, "rounds_s": 0.01996}, "exact (C)"),
        ({"mean_s": 0.021, "ring_s": 0.11}, "mean (A) on another ring"),
    ],
)
def test_which_reading_the_published_figure_is(change, text):
    assert _published_is(MULTIGRAPH | change) == text


def test_a_figure_is_printed_to_a_tenth_of_a_millisecond():
    assert is_printed_as(0.02005, 0.02)
    assert is_printed_as(0.01995, 0.02)
    assert not is_printed_as(0.0201, 0.02)
    assert not is_printed_as(0.0199, 0.02)


@pytest.mark.parametrize(
    ("long_s", "short_s", "ratio"), [(3.0, 2.0, 1.5), (None, 2.0, None), (3.0, None, None), (3.0, 0.0, None)]
)
def test_a_ratio_needs_both_times_and_a_divisor_other_than_0(long_s, short_s, ratio):
    assert _ratio(long_s, short_s) == ratio


def test_gains_are_compared_from_the_least_to_the_largest():
    start = "gain: how many times as long a round of the RING takes. The simulated one is"
    gains = [
        MULTIGRAPH | {"network": name, "simulated_gain": gain}
        for name, gain in (("a", 4.0), ("b", 2.0), ("c", 7.5))
    ]
    assert _gain_note(gains) == [f"{start} 0.40 (b) to 1.50 (c) times the published one."]
    assert _gain_note(gains[:1]) == [f"{start} 0.80 (a) times the published one."]
    assert _gain_note([MULTIGRAPH | {"simulated_gain": None}]) == _gain_note([]) == []
    assert _gain_note([MULTIGRAPH | {"simulated_gain": None}, gains[0]]) == _gain_note(gains[:1])


def test_notes_on_the_multigraph_name_other_rings_routes_and_estimates():
    ring = MULTIGRAPH | {"network": "geant", "ring_s": 0.11, "mean_s": 0.021}
    route = MULTIGRAPH | {"network": "ebone", "paper_s": 0.041}
    plain = _notes([MULTIGRAPH])
    assert plain[len(multigraph_table._MEANINGS)] == "A is the published figure to 0.1 ms on 1 of 1."
    assert not any(note.startswith("~") for note in plain)
    notes = _notes([MULTIGRAPH, ring, route | {"simulated_is_exact": False}])
    assert notes[len(multigraph_table._MEANINGS) :][:3] == [
        "A is the published figure to 0.1 ms on 2 of 3.",
        "geant: where delays tie, the published ring is another one; ours takes 110.0 (published 100.0), A 21.0 "
        "(20.0).",
        "ebone: for C silosim design has 41.0, by another of two equally long routes between two silos of the ring; so "
        "has simul.",
    ]
    assert notes[-2:] == [
        "Engine: simpy for gaia multigraph, geant multigraph, ebone multigraph; compiled for gaia RING, geant RING, "
        "ebone RING.",
        "~: an estimate, as no period shows.",
    ]


@pytest.mark.parametrize(
    ("change", "is_estimated"),
    [
        ({}, False),
        ({"simulated_is_exact": False}, True),
        ({"ring_simulated_is_exact": False}, True),
        ({"simulated_is_exact": False, "simulated_s": None}, False),
    ],
)
def test_a_row_is_estimated_where_a_simulation_is(change, is_estimated):
    assert _is_estimated(MULTIGRAPH | change) is is_estimated


@pytest.mark.parametrize(
    ("compute", "preset", "median_s", "text"),
    [
        (None, None, 0.5, "The scenario states no computing time."),
        (None, "femnist", 0.5, "The scenario states no computing time but that of preset femnist."),
        ("1 s", None, 0.5, "The scenario states 1.000 s, 2.000 times the measured one."),
        ("0 s", None, 0.5, "The scenario states 0 s, 0.000 times the measured one."),
        ("1 s", "femnist", 0.0, "The scenario states 1.000 s."),
    ],
)
def test_the_stated_computing_time_stands_beside_the_measured_one(compute, preset, median_s, text):
    scenario = SimpleNamespace(workload=SimpleNamespace(compute=compute, preset=preset))
    assert _stated(scenario, median_s) == text
    assert (_silos(1), _silos(2)) == ("1 silo", "2 silos")


def test_only_the_built_in_training_is_calibrated():
    own = SimpleNamespace(training=SimpleNamespace(backend="own"))
    with pytest.raises(
        InputError, match=r"training\.backend\(='own'\) must be 'mpi': calibrate measures its local step"
    ):
        check_training(own)
    with pytest.raises(InputError, match=r"calibrate needs a \[training\] table"):
        check_training(SimpleNamespace(training=None))
    built_in = SimpleNamespace(training=SimpleNamespace(backend="mpi"))
    assert check_training(built_in) is built_in.training


@pytest.mark.parametrize(
    ("backend", "every", "rounds", "is_long"),
    [("mpi", 0, 1000, True), ("mpi", 0, 999, False), ("mpi", 5, 1000, False), ("own", 0, 1000, False)],
)
def test_a_training_of_a_thousand_rounds_is_long_without_checkpoints(backend, every, rounds, is_long):
    training = SimpleNamespace(backend=backend, checkpoint_every=every, rounds=rounds)
    assert _is_long_without_checkpoints(training) is is_long


def test_a_scenario_names_a_network_from_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("s/net.gml", "s/deep/net.gml", "other/net.gml", "s/both.gml", "both.gml"):
        Path(path).parent.mkdir(exist_ok=True, parents=True)
        Path(path).touch()
    folder = tmp_path / "s"
    assert _named_from(folder, "gaia") == "gaia"
    assert _named_from(folder, "s/net.gml") == "net.gml"
    assert _named_from(folder, "s/deep/net.gml") == os.path.join("deep", "net.gml")
    assert _named_from(folder, "other/net.gml") == str(tmp_path / "other" / "net.gml")
    # From here, another file has that name.
    assert _named_from(folder, "s/both.gml") == str(folder / "both.gml")
    assert _named_from(tmp_path, "both.gml") == "both.gml"


@pytest.mark.parametrize(
    ("resources", "limit", "short"),
    [
        ([], "latency", "latency"),
        (None, "latency", "latency"),
        (["A uplink"], "uplink", "up"),
        (["A uplink", "B downlink"], "uplink, downlink", "up, down"),
        (["core link A -> B"], "core", "core"),
        (["core link C -> D", "A uplink"], "C -> D, uplink", "C -> D, up"),
        (["measured bandwidth A -> B"], "bandwidth", "bandwidth"),
        (["window A -> B"], "window", "window"),
        (["B uplink"], "B uplink", "B uplink"),
    ],
)
def test_what_limits_an_arc(resources, limit, short):
    assert _limit({"source": "A", "target": "B", "resources": resources, "binds": "latency"}) == limit
    assert _short(limit) == short


def test_the_first_upgrade_of_an_explanation_is_the_best():
    access = SimpleNamespace(silo=1, link="uplink and downlink", doubled_s=2.0, unlimited_s=1.0)
    both = SimpleNamespace(source=0, target=1)
    links = SimpleNamespace(links=("core link A - B",))
    explanation = SimpleNamespace(labels=("A", "B"), upgrades=[access], together=[both], links=links)
    assert _best_upgrade(explanation) == (("B uplink", "B downlink"), access)
    explanation.upgrades = []
    assert _best_upgrade(explanation) == (("A uplink", "B downlink"), both)
    explanation.together = []
    assert _best_upgrade(explanation) == (("core link A - B",), links)
    explanation.links = None
    assert _best_upgrade(explanation) == ((), None)


@pytest.mark.parametrize(
    ("beyond", "is_plain", "load_s", "is_told"),
    [("", True, 1.5, True), ("load.", True, 1.5, False), ("", False, 1.5, False), ("", True, 0.5, False)],
)
def test_that_load_is_longer_after_an_upgrade_is_said_where_it_is_not_before(
    monkeypatch, beyond, is_plain, load_s, is_told
):
    access = SimpleNamespace(silo=1, link="uplink", doubled_s=2.0, unlimited_s=1.0)
    explanation = SimpleNamespace(labels=("A", "B"), upgrades=[access], together=[], links=None)
    overlay = SimpleNamespace(graph=SimpleNamespace(rules=SimpleNamespace(are_plain_links=is_plain)))
    monkeypatch.setattr(explain, "beyond_paper", lambda _: beyond)
    monkeypatch.setattr(
        explain, "loads_after", lambda _, named: (load_s, load_s) if named == ("B uplink",) else None
    )
    said = ["But no network is faster than load, which is longer then: 1.500 s with no limit."]
    assert loads_text(explanation, overlay) == (said if is_told else [])
    explanation.upgrades = []
    assert loads_text(explanation, overlay) == []


def test_what_closed_forms_leave_out_is_said(monkeypatch):
    monkeypatch.setattr(explain, "mean_notes", lambda _: ["A mean."])
    overlay = SimpleNamespace(graph="graph", hub=3)
    for beyond, decides in (("", False), ("It takes longer.", False), ("", True), ("It takes longer.", True)):
        monkeypatch.setattr(explain, "beyond_paper", lambda _, beyond=beyond: beyond)
        monkeypatch.setattr(
            explain,
            "rates_decide_restarts",
            lambda graph, hub, decides=decides: decides and (graph, hub) == ("graph", 3),
        )
        closed = "But this is the paper's closed form, and so are all gains here. It takes longer."
        assert further_text(overlay) == [
            *[closed][: bool(beyond)],
            *[explain._NO_UPGRADE][:decides],
            "A mean.",
        ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (0.0, "0.000"),
        (0.05, "0.05"),
        (0.1, "0.100"),
        (99.9, "99.900"),
        (100.0, "100.0"),
        (-0.05, "-0.050"),
    ],
)
def test_numbers_of_a_partition(value, text):
    assert _number(value) == text


def test_a_summary_is_over_all_silos():
    assert _summary("samples", np.array([1, 2, 3, 6])) == {
        "of": "samples",
        "mean": 3.0,
        "stdev": pytest.approx(np.sqrt(3.5)),
        "min": 1,
        "max": 6,
    }


def test_tables_of_a_partition_by_hand():
    division = Division(
        about="digits",
        notes=("moved.",),
        silos=("A", "B", "C"),
        samples=np.array([4, 9, 1]),
        groups=np.array([2, 3, 1]),
        label_counts=np.array([[4, 0], [4, 5], [0, 1]]),
        divergence_bits=np.array([[0.0, 0.25, 1.0], [0.25, 0.0, 0.5], [1.0, 0.5, 0.0]]),
    )
    table = division.table()
    assert [(row["of"], row["mean"], row["min"], row["max"]) for row in table.rows] == [
        ("samples per silo", pytest.approx(14 / 3), 1, 9),
        ("groups per silo", 2.0, 1, 3),
        ("labels per silo", pytest.approx(4 / 3), 1, 2),
        ("divergence of two silos (bits)", pytest.approx(1.75 / 3), 0.25, 1.0),
    ]
    notes = " ".join(table.notes.split())
    assert notes.startswith(
        "fewest samples: C (1); most: B (9). moved. stdev: over the 3 silos (of all, not of a sample)"
    )
    assert (
        "of the divergence over all 3 pairs. labels: different ones, of 2 in the data set. divergence: Jensen"
        in notes
    )
    assert table.further["divergence_bits"] == division.divergence_bits.tolist()
    first, second, third = division.silo_rows()
    assert (first["silo"], first["divergence_min_bits"], first["divergence_max_bits"]) == ("A", 0.25, 1.0)
    assert (second["divergence_min_bits"], second["divergence_max_bits"]) == (0.25, 0.5)
    assert (third["divergence_min_bits"], third["divergence_max_bits"]) == (0.5, 1.0)
    shown = division.silo_table()
    assert [column.key for column in shown.columns] == list(first)
    assert [column.title for column in shown.columns] == [key.replace("_", "\n") for key in first]


@pytest.mark.parametrize(
    ("texts", "size"), [(1, 8.0), (22, 8.0), (23, 6.0), (66, 6.0), (80, 5.0), (100, 4.0)]
)
def test_many_texts_below_each_other_are_smaller(texts, size):
    assert _font_size(texts) == size


@pytest.mark.parametrize(
    ("silos", "height_in", "fits"),
    [
        (40, None, 45),
        # 72 points an inch; lines of 1.15 times 6 points, or of 8.
        (40, 1.0, 10),
        (20, 1.0, 7),
        (40, 0.01, 1),
        (40, 10.0, 45),
    ],
)
def test_names_that_have_room_below_each_other(silos, height_in, fits):
    assert _fits(silos, SimpleNamespace(pt=lambda size: size), height_in) == fits


@pytest.mark.parametrize("table", published_tables.TABLES, ids=lambda table: table.key)
def test_inputs_of_the_papers_tables_are_those_of_their_titles(table):
    title = re.fullmatch(r"Table \d+: (.*), (\d+) local steps?, (\d+) Gbps access", table.title)
    assert title[1].replace(" ", "_").lower() == table.workload
    assert int(title[2]) == table.local_steps
    assert float(title[3]) * 1e9 == table.access_bps


def test_inputs_of_a_cell_are_the_variants_of_network_and_workload():
    table = published_tables.TABLES[1]
    graph, work = published_tables._inputs(table, "gaia", "published")
    assert (graph.underlay.variant, work.local_steps) == ("published", 5)
    assert (set(graph.up_bps), set(graph.down_bps)) == ({1e10}, {1e10})
    corrected = published_tables._inputs(table, "gaia", "corrected")
    assert corrected[0].underlay.variant == "corrected"
    assert corrected[1].model_bits == 32 * 11_217_552


def test_of_the_papers_tables_the_networks_that_are_named_are_computed(monkeypatch):
    began = []
    monkeypatch.setattr(published_tables, "_inputs", lambda _table, network, variant: (network, variant))
    monkeypatch.setattr(published_tables, "_cycle_time_s", lambda *given: given[-1])
    full = published_tables.TABLES[3]
    table = published_tables.published_table(full, began.append, networks=["geant", "gaia"])
    assert began == ["gaia", "geant"]
    found = {
        (row["network"], row["budget"], row["overlay"]) for row in table.rows if row["budget"] is not None
    }
    budgets = {"gaia": 1.0, "geant": 0.6}
    assert found == {(*each, kind) for each in budgets.items() for kind in ("MATCHA", "MATCHA+")}
    plain = published_tables.published_table(published_tables.TABLES[0], networks=["gaia"])
    assert {row["budget"] for row in plain.rows} == {None, 0.5}
    assert [row["overlay"] for row in plain.rows] == list(published_tables._KINDS)
    assert plain.caption == "Table 3: iNaturalist, 1 local step, 10 Gbps access (ms)"
    assert f"mean of 1000 rounds, {_budgets(full)}" in " ".join(table.notes.split())


@pytest.fixture
def settings_of(monkeypatch):
    """Settings of a training in a new scenario, and the configuration that was checked."""
    checked = []

    def check(config, *, silos, seed, silo_places, silo_labels):
        assert (silos, seed, silo_places, silo_labels) == (2, 0, "places", ("A", "B"))
        checked.append(config)

    monkeypatch.setattr(starter, "check_data", check)
    monkeypatch.setattr(starter, "silo_places", lambda _graph, config: "places" if config else None)

    def make(dataset=None, data=None, model=None):
        checked.clear()
        graph = SimpleNamespace(silos=2, labels=("A", "B"))
        return dict(starter._training(graph, dataset, data, model)), [*checked]

    return make


ENOUGH = {"learning_rate": 0.05, "momentum": 0.9}


def test_the_digits_reach_their_target_with_settings_of_their_own(settings_of):
    assert settings_of() == (ENOUGH, [])
    found, (config,) = settings_of("digits")
    assert found == {"dataset": "digits"} | ENOUGH
    assert config.dataset == "digits"
    found, (config,) = settings_of(model="softmax")
    assert found == {"model": "softmax"} | ENOUGH
    assert config.model == "softmax"


def test_a_data_set_of_the_papers_tasks_has_their_model_and_partition(settings_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = TASKS["femnist"]
    found, (config,) = settings_of("femnist", data="files")
    assert found == {
        "dataset": "femnist",
        "data": str(tmp_path / "files"),
        "model": task.model,
        "partition": task.partition,
    }
    assert (config.dataset, config.model, config.partition) == ("femnist", task.model, task.partition)
    assert settings_of("femnist", model="softmax")[0] == {
        "dataset": "femnist",
        "model": "softmax",
        "partition": task.partition,
    }


def test_files_without_a_data_set_are_refused(settings_of):
    with pytest.raises(
        InputError, match=r"data\(='files'\) goes with --dataset, which says what the files are: .*femnist"
    ):
        settings_of(data="files")


def test_the_table_of_an_import_has_its_file_and_target():
    def table(target):
        return import_metrics._imported_table(SimpleNamespace(file='a "b".csv', target_accuracy=target))

    assert tomllib.loads(table(None)) == {"imported": {"file": 'a "b".csv'}}
    assert tomllib.loads(table(0.5)) == {"imported": {"file": 'a "b".csv', "target_accuracy": 0.5}}
    assert import_metrics.run_name("folder/a.csv") == "metrics of a.csv"


@pytest.mark.parametrize(
    ("metrics", "target", "is_refused"),
    [(("test_accuracy",), 0.5, False), (("train_loss",), None, False), (("train_loss",), 0.5, True)],
)
def test_a_target_needs_an_accuracy(monkeypatch, metrics, target, is_refused):
    foreign = SimpleNamespace(columns=SimpleNamespace(metrics=dict.fromkeys(metrics)))
    written = []
    monkeypatch.setattr(import_metrics, "read_rows", lambda *_: "rows")
    monkeypatch.setattr(import_metrics, "read_history", lambda *_, **__: foreign)
    monkeypatch.setattr(import_metrics, "import_run", lambda *given, force: written.append((*given, force)))
    experiment = SimpleNamespace(graph=SimpleNamespace(labels=("A",)))
    given = (experiment, Path("a.csv"), Path("x.h5"))
    if is_refused:
        with pytest.raises(
            InputError, match=r"^target_accuracy\(=0\.5\) needs a test accuracy; --accuracy names its"
        ):
            import_metrics.import_file(
                *given, names=None, local_steps=1, percent=False, target_accuracy=target, force=False
            )
        assert not written
    else:
        assert (
            import_metrics.import_file(
                *given, names=None, local_steps=1, percent=False, target_accuracy=target, force=True
            )
            is foreign
        )
        ((_, found, imported_, path, force),) = written
        assert (found, imported_.target_accuracy, path, force) == (foreign, target, Path("x.h5"), True)


class _StoppedError(Exception):
    """Ends an import once its simulations are set up."""


def test_an_imported_run_replaces_a_file_only_where_it_is_told(monkeypatch):
    asked = []

    def create(*_given, force, **_settings):
        asked.append(force)
        raise _StoppedError

    whole = SimpleNamespace(check=list, simulations=lambda _overlays: [], head=dict, simulation=None)
    monkeypatch.setattr(import_metrics, "_simulating", lambda *_given: whole)
    monkeypatch.setattr(import_metrics, "RunFile", SimpleNamespace(create=create))
    experiment = SimpleNamespace(simulation=SimpleNamespace(rounds=1), overlays=[], design=None)
    for force in (False, True):
        with pytest.raises(_StoppedError):
            import_metrics.import_run(
                experiment, SimpleNamespace(last_round=1), "imported", Path("x.h5"), force=force
            )
    assert asked == [False, True]


@pytest.mark.parametrize(
    ("simulated", "last", "computes", "rounds"),
    [
        (30, 20, (), 30),
        (10, 20, (), 20),
        # 20 rounds in which silos compute are 60 states of which one in three computes.
        (10, 20, ((True, False, False),), 60),
        (10, 20, ((True, True), (True, False)), 40),
        (99, 20, ((True, False),), 99),
    ],
)
def test_an_imported_run_is_simulated_up_to_its_last_round(monkeypatch, simulated, last, computes, rounds):
    class Periodic(SimpleNamespace):
        """An overlay of several states."""

    asked = []
    designs = [Periodic(kind=str(number), computes=each) for number, each in enumerate(computes)]
    designs = designs or [SimpleNamespace(kind="ring")]

    def simulating(_experiment, number, imported_):
        asked.append((number, imported_))
        return SimpleNamespace(
            check=lambda: asked.append("checked"), simulations=built, head=None, simulation=None
        )

    def built(_settings):
        raise _StoppedError

    monkeypatch.setattr(import_metrics, "PeriodicOverlay", Periodic)
    monkeypatch.setattr(import_metrics, "_simulating", simulating)
    experiment = SimpleNamespace(
        simulation=SimpleNamespace(rounds=simulated), overlays=designs, design=lambda overlay: overlay
    )
    with pytest.raises(_StoppedError):
        import_metrics.import_run(
            experiment, SimpleNamespace(last_round=last), "imported", Path("x.h5"), force=False
        )
    assert asked == [(max(simulated, last), "imported"), "checked", (rounds, "imported")]
