"""The table of designs: spectral gaps of randomized overlays, the bound, and extreme numbers."""

import itertools
import math

import numpy as np
import pytest

from scenarios.config import overlays
from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.quantities import format_s
from scenarios.report.table_formats import print_table
from scenarios.studies import design as study
from scenarios.studies.design import _over_bound, design_table
from simulator.designers import simulated_search
from topologies import Workload, design_random
from topologies.bounds import periodic_bound_s, simulated_bound_s
from topologies.consensus import spectral_gap
from topologies.quantities import parse_quantity
from topologies.random_cycle_time import random_cycle_time

pytestmark = pytest.mark.usefixtures("compiled_simulations")

WORK = Workload.preset("inaturalist")


def test_the_random_rings_norm_is_that_of_all_its_orders():
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo", "Sydney", "Oregon")))
    ring = design_random("random_ring", graph, WORK)
    orders = [np.array((0, *rest)) for rest in itertools.permutations((1, 2, 3))]
    matrices = [ring.consensus(*ring.arcs(order)) for order in orders]
    expected = np.mean([w.T @ w for w in matrices], axis=0) - 1 / 4

    assert ring.spectral_norm == pytest.approx(np.linalg.norm(expected, 2), rel=1e-12)


@pytest.mark.parametrize("silos", [1, 2])
def test_random_rings_of_one_and_two_silos_agree_at_once(silos):
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo")[:silos]))
    (row,) = design_table(graph, WORK, [OverlayConfig(kind="random_ring")], seed=0, bound=False).rows

    assert row["spectral_gap"] == 1.0


def test_a_random_ring_with_blocked_pairs_has_no_known_gap():
    graph = build_network(NetworkConfig(underlay="gaia", blocked=("Seoul -> Tokyo",)))
    (row,) = design_table(graph, WORK, [OverlayConfig(kind="random_ring")], seed=0, bound=False).rows

    assert row["spectral_gap"] is None


def test_matcha_that_is_always_whole_has_the_gap_of_its_constant_matrix():
    graph = build_network(NetworkConfig(underlay="gaia"))
    matcha = design_random("matcha", graph, WORK, budget=1.0)
    (row,) = design_table(
        graph, WORK, [OverlayConfig(kind="matcha", options={"budget": 1.0})], seed=0, bound=False
    ).rows
    always = matcha.consensus(matcha.source, matcha.target)

    assert row["spectral_gap"] == pytest.approx(spectral_gap(always), abs=1e-6)
    assert row["active_matchings"] == pytest.approx(row["matchings"])


def test_a_randomized_overlay_is_estimated_from_a_thousand_rounds(monkeypatch):
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo", "Sydney", "Oregon")))
    ring, asked = design_random("random_ring", graph, WORK), []
    few = random_cycle_time(ring, 62, 5)

    def estimate(_overlay, rounds, seed):
        asked.append((rounds, seed))
        return few

    monkeypatch.setattr(study, "random_cycle_time", estimate)
    monkeypatch.setattr(overlays, "random_cycle_time", estimate)
    (row,) = design_table(graph, WORK, [OverlayConfig(kind="random_ring")], seed=5, bound=False).rows

    assert overlays.forms_of(ring, 5).paper_s == few.barrier.mean
    assert (row["paper_s"], row["paper_half_width_s"]) == (few.barrier.mean, few.barrier.half_width)
    assert row["max_plus_s"] == few.max_plus.mean
    assert len(asked) > 1
    assert set(asked) == {(1000, 5)}
    assert "mean of the slowest arc of 1000 drawn rounds" in study._random_notes([row], "ms")[-1]


@pytest.mark.slow
def test_many_silos_have_a_bound_only_where_best_is_asked_for(monkeypatch):
    monkeypatch.setattr(study, "MANY_SILOS", 10)
    graph = build_network(NetworkConfig(underlay="gaia"))

    assert (
        design_table(graph, WORK, [OverlayConfig(kind="ring")], seed=0, bound=False).rows[0]["over_bound"]
        is None
    )
    assert all(
        row["over_bound"] > 0
        for row in design_table(
            graph, WORK, [OverlayConfig(kind="ring"), OverlayConfig(kind="best")], seed=0, bound=False
        ).rows
    )


@pytest.mark.parametrize(
    ("access", "bits", "compute_s"),
    [
        *(("1e15 bps", 1.0, 1e-9), ("1 bps", 1e9, 1e6)),
        # Between the smallest and the largest cycle times.
        pytest.param("inf bps", 1e12, 1e-9, marks=pytest.mark.slow),
        pytest.param("1e15 bps", 1e15, 1e5, marks=pytest.mark.slow),
    ],
)
def test_extreme_numbers_stay_in_80_columns(silosim, access, bits, compute_s):
    kinds = ("star", "mst", "delta_mbst", "random_ring")
    result = silosim(
        "design",
        "gaia",
        *("--access", access, "--model-size", f"{bits} bit", "--compute", f"{compute_s} s"),
        *(word for kind in kinds for word in ("--kind", kind)),
    ).ok()
    lines = result.out.splitlines()
    rows = [line for line in lines if line.split(" ")[0] in kinds]

    assert max(map(len, lines)) <= 80
    assert [row.split()[0] for row in rows] == list(kinds)
    assert {len(row.split()) for row in rows} == {11}


def test_a_narrow_terminal_loses_no_digit(monkeypatch, capsys):
    graph = build_network(NetworkConfig(underlay="gaia", access="1 bps"))
    table = design_table(graph, WORK, [OverlayConfig(kind="star")], seed=0, bound=False)
    monkeypatch.setenv("COLUMNS", "30")
    print_table(table, as_json=False)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("star "))

    assert "7.18e9" in line
    assert math.isfinite(parse_quantity("paper", f"{line.split()[3]} s", "s"))


@pytest.mark.slow
def test_what_is_simulated_is_set_against_its_own_bound(monkeypatch):
    monkeypatch.setattr(simulated_search, "ITERATIONS", (8, 8))
    graph = build_network(NetworkConfig(underlay="gaia"))
    best = OverlayConfig(kind="best", options={"criterion": "simulated", "evaluations": 0})
    table = design_table(
        graph, WORK, [OverlayConfig(kind="mst"), best, OverlayConfig(kind="random_ring")], seed=0, bound=False
    )
    mst, found, drawn = table.rows

    for row in (mst, found):
        assert row["simulated_bound_s"] == pytest.approx(simulated_bound_s(graph, WORK))
        assert row["over_simulated_bound"] == row["simulated_s"] / row["simulated_bound_s"] - 1 >= -1e-9
    assert found["simulated_s"] <= mst["simulated_s"]
    assert drawn["simulated_bound_s"] is drawn["over_simulated_bound"] is None
    assert "a lower bound of it for every static overlay: mst " in table.notes.replace("\n", " ")
    assert (
        design_table(graph, WORK, [OverlayConfig(kind="mst")], seed=0, bound=False).rows[0][
            "simulated_bound_s"
        ]
        is None
    )


def test_states_are_set_against_the_bound_of_as_many(monkeypatch):
    monkeypatch.setattr(simulated_search, "ITERATIONS", (8, 8))
    graph = build_network(NetworkConfig(underlay="gaia"))
    kinds = [OverlayConfig(kind=kind) for kind in ("mst", "multigraph")]
    searched = OverlayConfig(kind="best_periodic", options={"period": 3, "evaluations": 0})
    table = design_table(graph, WORK, [*kinds, searched], seed=0, bound=False)
    mst, multigraph, found = table.rows

    assert mst["simulated_bound_s"] == pytest.approx(simulated_bound_s(graph, WORK))
    assert found["simulated_bound_s"] == pytest.approx(periodic_bound_s(graph, WORK, 3))
    assert found["over_simulated_bound"] == found["simulated_s"] / found["simulated_bound_s"] - 1 >= -1e-9
    # The bound is that of lags of 1.
    assert multigraph["longest_lag"] > 1
    assert multigraph["simulated_bound_s"] is multigraph["over_simulated_bound"] is None
    notes = table.notes.replace("\n", " ")
    assert "a lower bound of it for every static overlay: mst " in notes
    assert "a lower bound of it for every overlay of 3 states and lags of 1: best_periodic " in notes


@pytest.mark.slow
def test_seconds_per_efold_of_all_overlays_beside_best(capsys):
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo", "Sydney", "Oregon")))
    best = OverlayConfig(kind="best", options={"criterion": "time-to-accuracy", "evaluations": 2})
    table = design_table(
        graph, WORK, [OverlayConfig(kind="star"), OverlayConfig(kind="ring"), best], seed=0, bound=False
    )
    star, ring, found = table.rows

    # A ring of four with weights 1/2 contracts by cos(pi/4), a STAR averages exactly.
    assert ring["contraction"] == pytest.approx(math.sqrt(0.5))
    assert ring["efold_s"] == pytest.approx(ring["simulated_s"] / math.log(math.sqrt(2)))
    assert star["contraction"] == 0.0
    assert star["efold_s"] == star["simulated_s"]
    assert found["efold_s"] <= min(star["efold_s"], ring["efold_s"])
    print_table(table, False)
    notes = " ".join(capsys.readouterr().out.split())
    assert f"per e-fold: star {format_s(star['efold_s'])}, ring {format_s(ring['efold_s'])}, best" in notes
    assert "docs/explanation/time_to_accuracy.md" in notes


def test_overlays_that_never_agree_have_no_efold():
    # The weights of two silos that exchange their models.
    assert study._efold({"simulated_s": 2.0, "contraction": 1.0}) == {"efold_s": math.inf}
    assert study._efold({"simulated_s": None, "contraction": 0.5}) == {"efold_s": None}
    assert "never" in study._efold_notes([{"overlay": "swap", "efold_s": math.inf}])[0]


def test_overlays_that_take_longer_than_all_closed_forms_are_named(capsys):
    access = NetworkConfig(underlay="gaia", access="100 Mbps")
    kinds = [OverlayConfig(kind=kind) for kind in ("ring", "one_peer_exponential")]
    work = Workload.preset("inaturalist", variant="corrected")
    table = design_table(build_network(access), work, kinds, seed=0, bound=False)
    ring, one_peer = table.rows

    assert ring["simulated_s"] == pytest.approx(ring["paper_s"], rel=1e-3)
    ratio = one_peer["simulated_s"] / one_peer["serialized_s"]
    assert one_peer["serialized_s"] >= max(one_peer["paper_s"], one_peer["load_bound_s"])
    assert ratio > 3
    print_table(table, False)
    notes = " ".join(capsys.readouterr().out.split())
    assert f"over the longest closed form: one_peer_exponential {ratio:.2f}x." in notes


def test_what_lies_a_little_above_the_closed_forms_is_not_named():
    row = {
        "overlay": "a",
        "paper_s": 1.0,
        "serialized_s": 2.0,
        "load_bound_s": 0.5,
        "simulated_s": 2.09,
        "max_plus_s": None,
    }
    assert study._above_forms_note([row]) == []
    assert study._above_forms_note([row | {"simulated_s": None}]) == []
    assert study._above_forms_note([row | {"simulated_s": 2.2, "max_plus_s": 1.0}]) == []
    assert "a 1.10x" in study._above_forms_note([row | {"simulated_s": 2.2}])[0]


def test_what_an_order_gains_is_said_of_randomized_overlays_too():
    kinds = [OverlayConfig(kind="equi_dyn", options={"order": order}) for order in ("none", "tour")]
    tables = [
        design_table(build_network(NetworkConfig(underlay="gaia")), WORK, [kind], seed=0, bound=False)
        for kind in kinds
    ]
    plain_s, tour_s = (format_s(table.rows[0]["paper_s"]) for table in tables)
    notes = [" ".join(table.notes.split()) for table in tables]

    assert plain_s != tour_s
    assert f"equi_dyn: order tour makes paper {tour_s}; by label it is {plain_s}." in notes[1]
    assert "by label it is" not in notes[0]


def test_the_gap_to_the_bound_is_a_part_of_it():
    static = {"paper_s": 1.25, "max_plus_s": None}
    assert _over_bound(static, 1.0) == {"lower_bound_s": 1.0, "over_bound": pytest.approx(0.25)}
    assert _over_bound(static, 0.0) == {"lower_bound_s": 0.0, "over_bound": None}
    for other in (static | {"period": 2}, static | {"max_plus_s": 1.0}):
        assert _over_bound(other, 1.0) == {"lower_bound_s": None, "over_bound": None}
    assert _over_bound(static, None) == {"lower_bound_s": None, "over_bound": None}
