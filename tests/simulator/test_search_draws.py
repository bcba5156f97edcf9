"""What the searches by simulation draw, how often, and with which share: of a generator that gives made-up numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

from simulator.designers import (
    mixing_moves,
    mixing_search,
    periodic_moves,
    periodic_search,
    simulated_cost,
    simulated_search,
)
from simulator.designers.search_moves import NearSilos


class Numbers:
    """The same uniform number each time, and whole numbers in turn; keeps what it was asked for."""

    def __init__(self, uniform=0.0, *whole):
        self.uniform, self.whole = uniform, list(whole)
        self.below = []

    def random(self):
        return self.uniform

    def integers(self, below, size=None):
        self.below.append((below, size))
        return np.arange(size) if size else (self.whole.pop(0) if self.whole else 0)


@pytest.mark.parametrize(("uniform", "below"), [(0.0, 15), (0.1999, 15), (0.2, 12), (0.9999, 12)])
def test_a_fifth_of_the_silos_is_drawn_from_all_others_from_the_twelve_nearest(uniform, below):
    place = np.arange(15.0)
    near, numbers = NearSilos(np.abs(place[:, np.newaxis] - place)), Numbers(uniform, 2)

    # The nearest to silo 0 in turn are 1, 2 and 3.
    assert near.draw(0, numbers) == (2 if below == 15 else 3)
    assert numbers.below == [(below, None)]


def test_near_is_what_either_can_send_soon():
    delay_s = np.array([[0, 5, 9, np.inf], [5, 0, 1, 3], [2, 9, 0, 9], [1, 9, 9, 0]], dtype=float)

    assert [[NearSilos(delay_s).draw(silo, Numbers(0.5, n)) for n in range(3)] for silo in (0, 1, 3)] == [
        [3, 2, 1],
        [2, 3, 0],
        [0, 1, 2],
    ]


@pytest.mark.parametrize(
    ("uniform", "kind"), [(0.0, "between"), (0.3499, "between"), (0.35, "within"), (0.9, "within")]
)
@pytest.mark.parametrize("period", [1, 2, 3])
def test_a_share_of_the_changes_is_of_two_states(monkeypatch, uniform, kind, period):
    monkeypatch.setattr(
        periodic_moves, "BETWEEN", [lambda _, there, to, other: ("between", there, to, other)]
    )
    monkeypatch.setattr(periodic_moves, "WITHIN", [lambda arcs, arc, other: ("within", arcs, arc, other)])
    near = SimpleNamespace(draw=lambda silo, _: 10 * silo)
    states = ("first", "second", "third")[:period]
    # The arc's second end, then the state after the next, if there is one.
    both = kind == "between" and period > 1
    whole = (1, period - 2) if both else (1,)
    made = periodic_moves.changed_states(states, (period - 1, 4, 5), near, Numbers(uniform, *whole))

    if both:
        assert made == ("between", (period - 1, 4, 5), (period - 1 + period - 1) % period, 50)
    else:
        assert made == (*states[:-1], ("within", states[-1], (4, 5), 50))


def test_of_eight_arcs_the_one_that_mixes_most_or_least():
    distance = np.zeros((5, 5))
    absent = ~np.eye(5, dtype=bool)
    # The first sixteen pairs, 0 -> 0 to 3 -> 0, without those of a silo with itself; eight of them are looked at.
    distance[1, 3], distance[1, 4], distance[2, 0] = 1.0, 2.0, 3.0
    numbers = Numbers()

    assert mixing_moves.most_apart(absent, distance, numbers) == (1, 4)
    assert numbers.below == [(25, 16)]
    assert mixing_moves.most_apart(np.zeros((5, 5), dtype=bool), distance, Numbers()) is None

    numbers = Numbers(0.0, *range(9))
    arcs = [(0, n) for n in range(5)] + [(1, n) for n in range(5)]
    near = -np.arange(25.0).reshape(5, 5)
    assert mixing_moves.least_apart(arcs, near, numbers) == (1, 2)
    assert numbers.below == [(10, None)] * 8


@pytest.mark.parametrize("silos", [2, 4, 7])
def test_models_stay_apart_as_the_eighth_power_says(silos):
    drawn = np.random.default_rng(silos).random((silos, silos))
    for _ in range(500):
        drawn /= drawn.sum(axis=0)
        drawn /= drawn.sum(axis=1, keepdims=True)
    rest = drawn - 1 / silos
    power = np.linalg.matrix_power(rest.T @ rest, 8)
    expected = np.diag(power)[:, np.newaxis] + np.diag(power) - 2 * power
    found = mixing_moves.apart(drawn)

    assert found / found.max() == pytest.approx(expected / expected.max(), abs=1e-9)
    assert not mixing_moves.apart(np.full((silos, silos), 1 / silos)).any()


@pytest.mark.parametrize(
    ("uniform", "whole", "changed"),
    [
        (0.4999, (1, 0), {(2, 0)}),  # the second arc that costs time is left out
        (0.5, (0,), {(0, 1)}),  # the one that mixes least
        (0.5, (1, 2), {(0, 1), (2, 0), (0, 0), (2, 1)}),
        (0.5, (3,), {(1, 0)}),
        (0.5, (4,), {(0, 1), (1, 0)}),
    ],
)
def test_half_of_the_changes_begin_at_an_arc_that_costs_time(monkeypatch, uniform, whole, changed):
    ring = frozenset({(0, 1), (1, 2), (2, 0)})
    now = SimpleNamespace(
        arcs=ring,
        bound=SimpleNamespace(arcs=((1, 2),)),
        simulated=SimpleNamespace(arcs=((2, 0),)),
        apart_by=None,
    )
    monkeypatch.setattr(mixing_search, "least_apart", lambda *_: (0, 1))
    monkeypatch.setattr(mixing_search, "most_apart", lambda *_: (1, 0))
    monkeypatch.setattr(mixing_search, "_is_strong", lambda *_: True)
    cost = SimpleNamespace(graph=SimpleNamespace(silos=3, may_send=np.ones((3, 3), dtype=bool)))
    after = mixing_search._changed(cost, now, None, False, Numbers(uniform, *whole))

    assert after ^ ring == changed


def test_where_no_arc_is_absent_none_is_added(monkeypatch):
    ring = frozenset({(0, 1), (1, 2), (2, 0)})
    now = SimpleNamespace(
        arcs=ring, bound=SimpleNamespace(arcs=()), simulated=SimpleNamespace(arcs=()), apart_by=None
    )
    monkeypatch.setattr(mixing_search, "least_apart", lambda *_: (0, 1))
    monkeypatch.setattr(mixing_search, "most_apart", lambda *_: None)
    monkeypatch.setattr(mixing_search, "_is_strong", lambda *_: True)
    cost = SimpleNamespace(graph=SimpleNamespace(silos=3, may_send=~np.eye(3, dtype=bool)))

    made = [mixing_search._changed(cost, now, None, False, Numbers(0.5, move)) for move in (0, 3, 4)]
    assert made == [ring - {(0, 1)}, None, None]


@pytest.mark.parametrize(
    ("module", "trials"), [(simulated_search, 25), (mixing_search, 12), (periodic_search, 25)]
)
def test_trials_of_each_evaluation(monkeypatch, module, trials):
    walked = []
    monkeypatch.setattr(module, "record_travel", lambda *_, **how: walked.append(how))
    monkeypatch.setattr(module, "_in_order", list)
    static = SimpleNamespace(alone_s=np.zeros((3, 3)))
    start = SimpleNamespace(arcs=frozenset({(0, 1)}))
    if module is periodic_search:
        shares = []
        cost = SimpleNamespace(static=static)
        module._walks(cost, [start] * 9, 0.5, 21, None, shares.append)
        budgets = [2, 3, 2, 3, 11]
        assert shares == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    else:
        module._walk(static, start, 7, None)
        budgets = [7]

    assert walked == [{"evaluations": budget, "trials": trials * budget} for budget in budgets]


def test_the_walk_over_states_asks_load_bound_and_mixing_in_turn(monkeypatch):
    travels = []
    monkeypatch.setattr(
        periodic_search, "record_travel", lambda travel, start, **_: travels.append(travel) or start
    )
    monkeypatch.setattr(periodic_search, "_in_order", list)
    monkeypatch.setattr(periodic_search, "_simulated", lambda _cost, states: f"simulated {states}")
    times = {
        "load": (2.0, 0.0, 0.0),
        "bound": (1.9, 2.0, 0.0),
        "mixing": (1.9, 1.9, 0.51),
        "fits": (1.9, 1.9, 0.5),
    }
    cost = SimpleNamespace(
        static=SimpleNamespace(alone_s=np.zeros((3, 3))),
        load_s=lambda states: times[states][0],
        bound=lambda states: SimpleNamespace(time_s=times[states][1]),
        contraction=lambda states: times[states][2],
    )
    periodic_search._walks(cost, ["start"], 0.5, 2, None, [].append)

    found = {states: travels[0].simulated_below(None, states, 2.0) for states in times}
    assert found == {"load": None, "bound": None, "mixing": None, "fits": "simulated fits"}


def test_base_graphs_of_up_to_four_peers_are_candidates_where_their_period_divides(monkeypatch):
    def states(count):
        state = SimpleNamespace(source=np.array([0]), target=np.array([1]))
        return (state,) * count

    asked = []
    monkeypatch.setattr(periodic_search, "one_peer_exponential", lambda _: states(3))
    monkeypatch.setattr(periodic_search, "base", lambda silos, k: asked.append((silos, k)) or states(k))
    monkeypatch.setattr(periodic_search, "node_order", lambda order, *_: order)
    monkeypatch.setattr(periodic_search, "reordered", lambda made, _: made)
    found = periodic_search._kinds(SimpleNamespace(silos=9, may_send=~np.eye(9, dtype=bool)), None, 6)

    assert asked == [(9, 1), (9, 2), (9, 3), (9, 4)]
    # All but that of four states, by label and along a tour, repeated.
    assert [len(each) for each in found] == [6] * 8
    asked.clear()
    assert (
        len(periodic_search._kinds(SimpleNamespace(silos=3, may_send=~np.eye(3, dtype=bool)), None, 1)) == 2
    )
    assert asked == [(3, 1), (3, 2)]
    assert (
        periodic_search._kinds(SimpleNamespace(silos=3, may_send=np.zeros((3, 3), dtype=bool)), None, 6) == []
    )


def test_five_overlays_of_the_search_over_states_are_confirmed(monkeypatch):
    simulated = []

    def simulate(overlay, rounds):
        simulated.append((overlay, rounds))
        return SimpleNamespace(time_s=times_s[overlay])

    monkeypatch.setattr(periodic_search, "_well_mixing", lambda _cost, arcs: arcs)
    monkeypatch.setattr(periodic_search, "_kinds", lambda *_: ["k1", "k2"])
    monkeypatch.setattr(
        periodic_search, "worst_contraction", lambda _silos, each: {"k1": 0.4, "k2": 0.6}[each]
    )
    monkeypatch.setattr(periodic_search, "_arcs", lambda each: each)
    names = ["a0", "a1", "a2", "a3", "a4", "a5"]
    times_s = dict.fromkeys([*names, "k1", "reference"], 2.0) | {"a3": 1.0, "a4": 1.0 - 1e-10}
    cost = SimpleNamespace(
        graph=SimpleNamespace(silos=87),
        work=None,
        overlay=lambda each: each,
        simulated=simulate,
        bound=lambda each: SimpleNamespace(time_s=2.0 if each == tuple("a2") else 0.0),
    )
    found = [SimpleNamespace(arcs=name) for name in names]

    assert periodic_search._confirmed(cost, found, "reference", 0.5) == "a3"
    # A bound that is not below the least time so far saves the simulation.
    assert simulated == [(name, 2175) for name in ("reference", "a0", "a1", "a3", "a4", "k1")]
    times_s |= dict.fromkeys([*names, "k1"], np.inf)
    assert periodic_search._confirmed(cost, found, "reference", 0.5) == "reference"
    with pytest.raises(periodic_search.InputError, match="no overlay can be simulated"):
        periodic_search._confirmed(cost, found, None, 0.5)


@pytest.mark.parametrize(
    ("lost_s", "slowed"),
    [
        ([0.0, 1.0, 0.5, 0.4999], [1, 2]),  # half of the longest, and more
        ([0.0, 1.1e-8, 0.9e-8, 0.0], [1]),  # more than rounding of 10 s
        ([0.0, 0.9e-8, 0.0, 0.0], []),
    ],
)
def test_arcs_count_as_slowed_that_lose_half_of_the_longest_time_lost(monkeypatch, lost_s, slowed):
    sending_s = np.array([1.0, 2.0, 3.0, 4.0])
    last_s = np.vstack((np.full((2, 4), 99.0), sending_s + lost_s, sending_s + lost_s))
    timeline = SimpleNamespace(
        messages=SimpleNamespace(last_bit_s=last_s, start_s=np.zeros((4, 4))),
        confidence_interval=lambda: None,
        cycle_time_s=10.0,
    )
    monkeypatch.setattr(simulated_cost, "overlay_job", lambda *_: None)
    monkeypatch.setattr(simulated_cost, "run", lambda *_, **__: timeline)
    source, target = np.arange(4), (np.arange(4) + 1) % 4
    alone_s = np.zeros((4, 4))
    alone_s[source, target] = sending_s
    overlay = SimpleNamespace(source=source, target=target)
    found = simulated_cost.SimulatedCost.simulated(SimpleNamespace(sending_s=alone_s), overlay, 4)

    # The first half of the rounds does not count.
    assert found.arcs == tuple((k, (k + 1) % 4) for k in slowed)
    assert found.time_s == 10.0
    timeline.confidence_interval = lambda: SimpleNamespace(mean=11.0)
    assert (
        simulated_cost.SimulatedCost.simulated(SimpleNamespace(sending_s=alone_s), overlay, 4).time_s == 11.0
    )
