"""Short simulations: the cycle time of the long one, and an end however many messages there are."""

import re
import time

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.simulation import quick
from scenarios.simulation.quick import quick_simulation
from scenarios.simulation.runner import job_of, run_job
from scenarios.studies.design import design_table
from simulator import simulate
from topologies import Workload, build_overlay, build_periodic, state_of

WORK = Workload.preset("inaturalist")


@pytest.mark.parametrize("kind", ["star", "ring", "complete"])
def test_a_period_gives_the_exact_cycle_time(kind):
    overlay = design_any(OverlayConfig(kind=kind), build_network(NetworkConfig(underlay="gaia")), WORK)
    found = quick_simulation(overlay, seed=0)

    assert found.is_exact
    assert found.half_width_s == 0.0
    assert found.cycle_time_s == pytest.approx(simulate(overlay, 300).cycle_time_s, rel=1e-9)
    assert found.cycle_time_s >= overlay.closed_forms.load_bound_s * (1 - 1e-9)


@pytest.mark.parametrize(("kind", "rounds"), [("star", 150), ("ring", 150), ("mst", 150), ("mst", 30)])
def test_rounds_after_the_proof_of_the_cycle_time_change_nothing_and_are_left_out(kind, rounds):
    overlay = design_any(OverlayConfig(kind=kind), build_network(NetworkConfig(underlay="gaia")), WORK)
    job = job_of(overlay, quick.SETTINGS, rounds=rounds, seed=0)
    whole, short = (run_job(job, kind, title=None, cycle_time_only=only) for only in (False, True))

    for found in ("rounds", "engine", "half_width_s"):
        assert getattr(short, found) == getattr(whole, found)
    assert short.steady.cycle_time_s == whole.steady.cycle_time_s
    assert short.steady.is_exact is whole.steady.is_exact is (kind != "mst")
    assert short.messages < whole.messages / 4 if kind != "mst" else short.messages == whole.messages


def test_one_silo_computes():
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Tokyo",)))
    found = quick_simulation(build_overlay("one", graph, Workload(model_bits=1e6, compute_s=0.5), []), seed=0)

    assert (found.cycle_time_s, found.is_exact) == (0.5, True)


@pytest.mark.parametrize("silos", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_an_overlay_of_many_arcs_is_not_simulated_and_does_not_hang(silos):
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Tokyo", "Seoul") * (silos // 2)))
    arcs = [(i, j) for i in range(silos) for j in range(silos) if i != j]
    complete = build_overlay("complete", graph, WORK, arcs)
    began_s = time.monotonic()
    found = quick_simulation(complete, seed=0)

    assert found.cycle_time_s is None
    assert "silosim simulate" in found.why_not
    assert time.monotonic() - began_s < 30


def test_few_rounds_give_an_estimate_without_an_interval(monkeypatch):
    overlay = design_any(OverlayConfig(kind="mst"), build_network(NetworkConfig(underlay="geant")), WORK)
    monkeypatch.setattr(quick, "_WORK_S", 0.01)
    found = quick_simulation(overlay, seed=0)

    assert quick._FEWEST_ROUNDS <= found.rounds < 100
    assert not found.is_exact
    assert found.half_width_s is None
    assert found.cycle_time_s == pytest.approx(2.349, rel=0.02)


def test_a_drawn_overlay_too_large_for_an_interval_has_no_rate(monkeypatch):
    monkeypatch.setattr(quick, "_WORK_S", 1e-3)
    graph = build_network(NetworkConfig(underlay="gaia"))
    table = design_table(graph, WORK, [OverlayConfig(kind="matcha_ring")])
    (row,) = table.rows

    assert row["simulated_s"] is row["throughput_per_s"] is row["ratio_to_star"] is None
    assert row["paper_s"] > 0
    assert re.search("matcha_ring is not simulated.* silosim simulate", table.notes.replace("\n", " "))


def test_what_cannot_be_simulated_is_said_and_no_error():
    graph = build_network(NetworkConfig(underlay="gaia", silo_at=("Tokyo", "Seoul"), access="1 bps"))
    # 1e-9 s is lost in dates of 5e17 s.
    lost = Workload(model_bits=1e15, compute_s=1e-9)
    overlay = build_overlay("pair", graph, lost, [(0, 1), (1, 0)])
    found = quick_simulation(overlay, seed=0)

    assert (found.cycle_time_s, found.rounds) == (None, 0)
    assert "floating point" in found.why_not


def test_costs_grow_with_messages_and_with_sharing():
    graph = build_network(NetworkConfig(underlay="geant"))
    ring, star, complete = (
        quick._round_cost_s(design_any(OverlayConfig(kind=kind), graph, WORK), 0)
        for kind in ("ring", "star", "complete")
    )

    assert 0 < ring < star < complete
    assert np.isfinite(complete)


def test_rounds_go_beyond_the_longest_lag_or_it_is_said(monkeypatch):
    graph, ends = build_network(NetworkConfig(underlay="gaia")), np.arange(11)
    state = state_of(ends, np.roll(ends, -1), np.full(11, 0.5), np.full(11, 300))
    late = build_periodic("late", graph, WORK, [state])
    found = quick_simulation(late, seed=0)
    assert found.rounds == 5 * (2 * 299 + 300) // 4
    load_s = late.closed_forms.load_bound_s
    assert found.cycle_time_s + (found.half_width_s or 0.0) >= load_s
    assert found.cycle_time_s == pytest.approx(load_s, rel=0.01)

    monkeypatch.setattr(quick, "_WORK_S", 0.01)
    short = quick_simulation(late, seed=0)
    assert (short.cycle_time_s, short.why_not) == (None, quick._TOO_LONG)
