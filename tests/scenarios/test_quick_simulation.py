"""Short simulations: the cycle time of the long one, and an end however many messages there are."""

import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.network import NetworkConfig, build_network
from scenarios.config.overlay_config import OverlayConfig
from scenarios.config.overlays import design_any
from scenarios.simulation import quick
from scenarios.simulation.quick import QuickSimulation, quick_simulation
from scenarios.simulation.round_starts import RoundStarts
from scenarios.simulation.runner import job_of, run_job
from scenarios.studies.design import design_table
from simulator import simulate
from topologies import Workload, build_overlay, build_periodic, state_of

WORK = Workload.preset("inaturalist")


@pytest.fixture(scope="module")
def gaia():
    return build_network(NetworkConfig(underlay="gaia"))


@pytest.mark.parametrize("kind", ["star", "ring", "complete"])
def test_a_period_gives_the_exact_cycle_time(kind):
    overlay = design_any(
        OverlayConfig(kind=kind), build_network(NetworkConfig(underlay="gaia")), WORK, seed=0
    )
    found = quick_simulation(overlay, seed=0)

    assert found.is_exact
    assert found.half_width_s == 0.0
    assert found.cycle_time_s == pytest.approx(simulate(overlay, 300).cycle_time_s, rel=1e-9)
    assert found.cycle_time_s >= overlay.closed_forms.load_bound_s * (1 - 1e-9)


@pytest.mark.parametrize(("kind", "rounds"), [("star", 150), ("ring", 150), ("mst", 150), ("mst", 30)])
def test_rounds_after_the_proof_of_the_cycle_time_change_nothing_and_are_left_out(kind, rounds):
    overlay = design_any(
        OverlayConfig(kind=kind), build_network(NetworkConfig(underlay="gaia")), WORK, seed=0
    )
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
    overlay = design_any(
        OverlayConfig(kind="mst"), build_network(NetworkConfig(underlay="geant")), WORK, seed=0
    )
    monkeypatch.setattr(quick, "_WORK_S", 0.01)
    found = quick_simulation(overlay, seed=0)

    assert quick._FEWEST_ROUNDS <= found.rounds < 100
    assert not found.is_exact
    assert found.half_width_s is None
    assert found.cycle_time_s == pytest.approx(2.349, rel=0.02)


def test_a_drawn_overlay_too_large_for_an_interval_has_no_rate(monkeypatch):
    monkeypatch.setattr(quick, "_WORK_S", 1e-3)
    graph = build_network(NetworkConfig(underlay="gaia"))
    table = design_table(graph, WORK, [OverlayConfig(kind="matcha_ring")], seed=0, bound=False)
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
        quick._round_cost_s(design_any(OverlayConfig(kind=kind), graph, WORK, seed=0), 0)
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


@pytest.fixture
def rounds_of(monkeypatch):
    """How many rounds of an overlay are simulated where one costs so much; None where it takes too long."""

    def rounds(overlay, round_s, work_s=2.5):
        monkeypatch.setattr(quick, "_WORK_S", work_s)
        monkeypatch.setattr(quick, "_round_cost_s", lambda *_: round_s)
        monkeypatch.setattr(
            quick, "simulation_of", lambda _overlay, settings, *, seed: (settings.rounds, seed)
        )
        found = quick_simulation(overlay, seed=3)
        if found == QuickSimulation(why_not=quick._TOO_LONG):
            assert (found.is_exact, found.rounds, found.engine, found.half_width_s) == (False, 0, "", None)
            return None
        rounds, seed = found
        assert seed == 3
        return rounds

    return rounds


@pytest.mark.parametrize(
    ("round_s", "rounds"),
    [
        (1e-9, 500),
        (2.5 / 512, 500),
        (0.1, 25),
        (0.5, 5),
        (0.625, 4),
        (0.65, 4),
        (3.0, 4),
        (np.nextafter(3.0, 4.0), None),
    ],
)
def test_a_static_overlay_has_4_rounds_or_as_many_as_its_time_allows(rounds_of, gaia, round_s, rounds):
    ring = build_overlay("ring", gaia, WORK, [(i, (i + 1) % 11) for i in range(11)])

    # Of 11 silos an interval needs 400 rounds, for which 500 are simulated.
    assert rounds_of(ring, round_s) == rounds


@pytest.mark.parametrize(
    ("affordable", "rounds"), [(399, None), (400, 400), (499, 499), (500, 500), (501, 500)]
)
def test_a_drawn_overlay_has_rounds_for_an_interval_or_none(rounds_of, gaia, affordable, rounds):
    assert rounds_of(SimpleNamespace(graph=gaia), 1.0, work_s=float(affordable)) == rounds


@pytest.mark.parametrize(("affordable", "rounds"), [(3, 4), (5, 5), (6, 6)])
def test_a_periodic_overlay_goes_beyond_its_longest_lag(rounds_of, gaia, affordable, rounds):
    ends = np.arange(11)
    for lag in (1, 4, 5, 6, 7):
        state = state_of(ends, np.roll(ends, -1), np.full(11, 0.5), np.full(11, lag))
        late = build_periodic("late", gaia, WORK, [state])
        assert rounds_of(late, 1.0, work_s=float(affordable)) == (None if rounds <= lag - 1 else rounds)


def cost_s(graph, arcs):
    """What the messages of some arcs cost."""
    return quick._messages_cost_s(graph, *np.array(arcs, dtype=np.int64).reshape(-1, 2).T)


def test_what_a_round_costs_by_hand(gaia):
    links = len(gaia.route(0, 1))
    assert cost_s(gaia, []) == 3e-6
    assert cost_s(gaia, [(0, 1)]) == pytest.approx(3e-6 + 0.25e-6 * links, rel=1e-12)
    # Four messages on each link of the route.
    assert cost_s(gaia, [(0, 1)] * 4) == pytest.approx(4 * 3e-6 + 0.25e-6 * 16 * links, rel=1e-12)
    all_around, one_arc = [(i, (i + 1) % 11) for i in range(11)], [(0, 1)]
    states = [state_of(*np.array(arcs).T, np.full(len(arcs), 0.5)) for arcs in (all_around, one_arc)]
    mean_s = (cost_s(gaia, all_around) + cost_s(gaia, one_arc)) / 2
    both = build_periodic("both", gaia, WORK, states)
    assert quick._round_cost_s(both, 0) == pytest.approx(mean_s, rel=1e-12)


class OneArc:
    """In each round one arc of a ring of 11 silos, in turns; from round 499 on an arc that no other round has.

    From round 20 on it has two messages.
    """

    kind = "one arc"

    def __init__(self, graph):
        self.graph = graph

    def draw(self, _rng, round_):
        ends = [round_ % 11, (round_ + 1) % 11] if round_ < 499 else [round_ - 499, round_ - 497]
        return np.array([*ends, 1 + (round_ >= 20)])

    def arcs(self, choice):
        return np.repeat(choice[:1], choice[2]), np.repeat(choice[1:2], choice[2])


def test_arcs_that_are_drawn_count_where_the_messages_alone_take_no_longer(monkeypatch, gaia):
    messages_s = np.mean([cost_s(gaia, [(k % 11, (k + 1) % 11)]) for k in range(20)])
    limit_s = messages_s * 400
    monkeypatch.setattr(quick, "_WORK_S", np.nextafter(limit_s, 0.0))
    assert quick._round_cost_s(OneArc(gaia), 0) == messages_s
    monkeypatch.setattr(quick, "_WORK_S", limit_s)
    # Those of the 500 rounds that an interval takes.
    assert quick._round_cost_s(OneArc(gaia), 0) == pytest.approx(messages_s + 12 * 0.3e-6, rel=1e-12)


def test_a_long_simulation_keeps_32_mib_of_the_starts_of_each_silo():
    graph = build_network(NetworkConfig(underlay="gaia"))
    overlay = design_any(OverlayConfig(kind="ring"), graph, WORK, seed=0)
    for rounds, rows in ((100, 101), (10**7, 2**22 // 11 + 1)):
        starts = RoundStarts(job_of(overlay, quick.SETTINGS, rounds=rounds, seed=0))
        assert starts._head_s.shape == (rows, 11)
