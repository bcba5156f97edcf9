"""The steps of the searches by simulation on made-up costs: which overlays are looked at, kept and taken."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from simulator.designers import mixing_repair, mixing_search, periodic_search, simulated_search
from simulator.designers.periodic_cost import Costly
from simulator.designers.simulated_cost import LowerBound, Simulated, reverse
from simulator.statistics.confidence import rounds_for_interval
from topologies.errors import InputError


def everyone(silos):
    """Who may send to whom: all to all others."""
    return ~np.eye(silos, dtype=bool)


def overlay(arcs, *, hub=None, load_s=0.0, name=""):
    """Of a few arcs."""
    source, target = np.array(sorted(arcs)).reshape(-1, 2).T
    forms = SimpleNamespace(load_bound_s=load_s)
    return SimpleNamespace(
        source=source, target=target, hub=hub, closed_forms=forms, name=name, arcs=len(source)
    )


class Cost:
    """Bounds and simulated times by the arcs of an overlay; keeps what was simulated, and for how many rounds."""

    def __init__(self, silos, *, bound_s=lambda _: 0.0, time_s=lambda _: 0.0, may_send=None):
        may_send = everyone(silos) if may_send is None else may_send
        self.graph = SimpleNamespace(silos=silos, may_send=may_send)
        self.bound_s, self.time_s = bound_s, time_s
        self.rounds = []

    def bound(self, arcs):
        return LowerBound(time_s=self.bound_s(arcs), arcs=())

    def overlay(self, arcs):
        return overlay(arcs)

    def simulated(self, one, rounds):
        self.rounds.append(rounds)
        arcs = frozenset(zip(one.source.tolist(), one.target.tolist(), strict=True))
        return Simulated(time_s=self.time_s(one.name or arcs), arcs=())


class TestSimulated:
    """The search for the smallest cycle time."""

    def test_it_begins_at_overlays_whose_bounds_lie_below_the_fourth_fastest(self):
        def bound_s(arcs):
            ((i, j),) = arcs
            return j or i + 10.0

        may_send = everyone(9)
        may_send[0, 8] = may_send[8, 0] = False
        cost = Cost(9, bound_s=bound_s, time_s=lambda arcs: bound_s(arcs) + 2, may_send=may_send)
        given = [overlay([(0, k)]) for k in (7, 8, 6, 5, 1, 2, 3, 4)]
        found = simulated_search._starts(cost, [overlay([(0, 1), (1, 0)], hub=0), *given])

        # Times 3, 4, 5, 6: what a bound of 6 leaves over is not looked at, what one of 5 does, is.
        assert [sorted(one.arcs) for one in found] == [[(0, k)] for k in (1, 2, 3, 4, 5)]
        assert cost.rounds == [80] * 5

    def test_each_overlay_begins_in_both_directions(self):
        cost = Cost(3, bound_s=lambda _: 1.0, time_s=lambda arcs: float((0, 1) in arcs))
        found = simulated_search._starts(cost, [overlay([(0, 1)]), overlay([(1, 0)])])

        assert [sorted(one.arcs) for one in found] == [[(1, 0)], [(0, 1)]]

    def test_four_walks_of_which_none_is_another_one_backwards(self, monkeypatch):
        arcs = [frozenset({(0, k)}) for k in range(1, 6)]
        starts = [
            simulated_search._Found(
                overlay=None,
                arcs=each,
                bound=LowerBound(time_s=0.0, arcs=()),
                simulated=Simulated(time_s=float(number), arcs=()),
            )
            for number, each in enumerate([arcs[0], reverse(arcs[0]), *arcs[1:]])
        ]
        walked, shares = [], []

        def walk(_cost, start, budget, _rng):
            walked.append((start.arcs, budget))
            return start

        monkeypatch.setattr(simulated_search, "_walk", walk)
        found = simulated_search._walks(None, starts, 10, None, shares.append)

        assert walked == list(zip(arcs[:4], (2, 3, 2, 3), strict=True))
        assert shares == [0.25, 0.5, 0.75, 1.0]
        assert len(found) == len(starts) + 4

    def test_of_equally_fast_ones_the_smaller_bound_then_fewer_arcs_come_first(self):
        def one(time_s, bound_s, *arcs):
            return simulated_search._Found(
                overlay=None,
                arcs=frozenset(arcs),
                bound=LowerBound(time_s=bound_s, arcs=()),
                simulated=Simulated(time_s=time_s, arcs=()),
            )

        order = [
            one(1.0, 0.9, (0, 1)),
            one(2.0, 0.5, (0, 1), (1, 0), (2, 0)),
            one(2.0, 0.6, (2, 1)),
            one(2.0, 0.6, (0, 1), (1, 0)),
            one(2.0, 0.6, (0, 1), (2, 0)),
        ]
        assert simulated_search._in_order(order[::-1]) == order

    def test_the_fastest_of_a_long_simulation_and_what_the_load_rules_out_is_not_simulated(self):
        times_s = {"a": 3.0, "b": 2.0, "c": 2.0 * (1 - 1e-10), "d": 0.1}
        floors_s = {"d": 2.0, "c": 1.5, "b": 1.0, "a": 0.0}
        cost = Cost(87, time_s=times_s.get)
        given = [overlay([(0, 1)], load_s=floor_s, name=name) for name, floor_s in floors_s.items()]

        # A time that is smaller by rounding only is not smaller; a load of 2 leaves no time below 2.
        assert simulated_search._fastest(cost, given).name == "b"
        assert cost.rounds == [rounds_for_interval(87)] * 3

    def test_no_overlay_and_none_that_can_be_simulated(self):
        with pytest.raises(InputError, match=r"^best: no overlay connects all silos\.$"):
            simulated_search._fastest(Cost(3), [])
        with pytest.raises(
            InputError, match=r"^best: no overlay can be simulated: time could not advance\.$"
        ):
            simulated_search._fastest(Cost(3, time_s=lambda _: inf), [overlay([(0, 1)])])

    def test_an_arc_that_costs_time_is_changed_or_one_beside_it(self, monkeypatch):
        ring = frozenset((i, (i + 1) % 5) for i in range(5))
        changed = []
        monkeypatch.setattr(
            simulated_search, "MOVES", [lambda arcs, arc, other: changed.append((arc, other)) or arcs]
        )
        near = SimpleNamespace(draw=lambda silo, _rng: silo)
        rng = np.random.default_rng(3)

        def draw(bound, simulated, arcs=ring):
            now = SimpleNamespace(
                arcs=arcs, bound=SimpleNamespace(arcs=bound), simulated=SimpleNamespace(arcs=simulated)
            )
            changed.clear()
            for _ in range(400):
                assert simulated_search._changed(Cost(5), now, near, rng) == arcs
            return changed

        drawn = draw(((0, 1),), ((2, 3),))
        ones = [arc for arc, _ in drawn]
        # 0 -> 1 and 2 -> 3 have no arc beside them: only their ends could share an access link.
        assert set(ones) == {(0, 1), (2, 3)}
        assert {other for arc, other in drawn if arc == (0, 1)} == {0, 1}
        # Where computing is the bound, any arc may be.
        assert {arc for arc, _ in draw((), ())} == ring
        beside = [arc for arc, _ in draw(((0, 1),), (), ring | {(0, 3), (2, 1)})]
        assert set(beside) == {(0, 1), (0, 3), (2, 1)}
        assert 400 * 0.7 - 40 < beside.count((0, 1)) < 400 * 0.7 + 40

    def test_what_cannot_be_sent_or_is_not_strong_is_no_change(self, monkeypatch):
        ring = frozenset((i, (i + 1) % 4) for i in range(4))
        now = SimpleNamespace(arcs=ring, bound=SimpleNamespace(arcs=()), simulated=SimpleNamespace(arcs=()))
        near = SimpleNamespace(draw=lambda *_: 0)
        may_send = everyone(4)
        may_send[0, 2] = False
        results = {}
        for name, new in {"strong": (0, 3), "blocked": (0, 2), "loop": (1, 1)}.items():
            monkeypatch.setattr(simulated_search, "MOVES", [lambda arcs, *_, new=new: arcs | {new}])
            results[name] = simulated_search._changed(
                Cost(4, may_send=may_send), now, near, np.random.default_rng(0)
            )
        monkeypatch.setattr(simulated_search, "MOVES", [lambda arcs, arc, _: arcs - {arc}])

        assert results == {"strong": ring | {(0, 3)}, "blocked": None, "loop": None}
        assert simulated_search._changed(Cost(4), now, near, np.random.default_rng(0)) is None


def found(value_s, *arcs, estimate_s=1.0):
    """An overlay of the search for the time to accuracy."""
    return mixing_search._Found(
        arcs=frozenset(arcs),
        bound=LowerBound(time_s=0.0, arcs=()),
        simulated=Simulated(time_s=0.0, arcs=()),
        apart_by=np.zeros((3, 3)),
        estimate_s=estimate_s,
        value_s=value_s,
    )


class TestMixing:
    """The search for the time to accuracy."""

    @pytest.mark.parametrize(
        ("value_s", "estimate_s", "hoped"),
        [(3.0, 2.0, 1.35), (3.0, 0.5, 5.4), (3.0, 0.0, 0.0), (3.0, inf, 0.0)],
    )
    def test_a_change_is_hoped_to_come_out_a_tenth_better_than_its_estimate(self, value_s, estimate_s, hoped):
        assert found(value_s, (0, 1), estimate_s=estimate_s).hoped == pytest.approx(hoped, rel=1e-12)

    def test_the_best_first_each_once_and_of_equally_good_ones_that_with_fewer_arcs(self):
        order = [
            found(1.0, (0, 1)),
            found(2.0, (2, 0)),
            found(2.0, (0, 1), (1, 0)),
            found(2.0, (0, 1), (2, 0)),
        ]
        assert mixing_search._in_order([*order[::-1], order[1]]) == order

    def test_three_kinds_are_descended_from(self, monkeypatch):
        circles = [frozenset(zip(tour, (*tour[1:], tour[0]), strict=True)) for tour in
                   ((0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 1, 3))]  # fmt: skip
        given = [each for circle in circles for each in (circle, reverse(circle))]
        values_s = dict(zip(given, (4.0, 9.0, 2.0, 3.0, 1.0, 5.0), strict=True))
        limits = []

        def weighed(_cost, arcs, limit_s):
            limits.append(limit_s)
            return found(values_s[arcs], *arcs) if values_s[arcs] < limit_s else None

        monkeypatch.setattr(mixing_search, "_weighed", weighed)
        best = mixing_search._starts(Cost(4), [*circles, frozenset({(0, 1)})])

        assert [one.value_s for one in best] == [1.0, 2.0, 3.0]
        # From the third on the third best is the limit.
        assert limits == [inf, inf, inf, 9.0, 4.0, 3.0]

    def test_nothing_begins_along_a_pair_that_cannot_talk(self, monkeypatch):
        circle = frozenset((i, (i + 1) % 4) for i in range(4))
        may_send = everyone(4)
        may_send[0, 1] = False
        monkeypatch.setattr(mixing_search, "_weighed", lambda _cost, arcs, _limit: found(1.0, *arcs))

        (one,) = mixing_search._starts(Cost(4, may_send=may_send), [circle])
        assert one.arcs == reverse(circle)

    def test_a_walk_begins_at_the_best_of_each_group(self, monkeypatch):
        walked, shares = [], []

        def walk(_cost, start, budget, _rng):
            walked.append((start.value_s, budget))
            return found(start.value_s / 8, (0, 3), (3, int(start.value_s)))

        monkeypatch.setattr(mixing_search, "_walk", walk)
        groups = [[found(2.0, (0, 1)), found(3.0, (1, 0))], [], [found(4.0, (0, 2))]]
        best = mixing_search._walks(None, groups, 5, None, shares.append)

        assert walked == [(2.0, 2), (4.0, 3)]
        assert shares == [0.5, 1.0]
        assert [one.value_s for one in best] == [0.25, 0.5, 2.0, 3.0, 4.0]

    @pytest.mark.parametrize(
        ("told", "is_optimal"), [({}, False), ({"optimal": False}, False), ({"optimal": True}, True)]
    )
    def test_a_walk_weighs_by_optimal_weights_only_where_it_is_told(self, monkeypatch, told, is_optimal):
        asked = []
        monkeypatch.setattr(
            mixing_search,
            "record_travel",
            lambda travel, start, **_: travel.simulated_below(start, "arcs", 2.0),
        )
        monkeypatch.setattr(
            mixing_search, "_weighed", lambda *_, hoped, optimal: asked.append((hoped, optimal))
        )
        start = SimpleNamespace(arcs=frozenset({(0, 1)}), hoped=0.25)
        mixing_search._walk(SimpleNamespace(alone_s=np.zeros((2, 2))), start, 3, None, **told)

        assert asked == [(0.25, is_optimal)]

    @pytest.mark.parametrize(("value_s", "is_better"), [(0.5, True), (2 * (1 - 1e-9), False), (2.0, False)])
    def test_a_matching_helps_beyond_rounding_only(self, monkeypatch, value_s, is_better):
        start = found(2.0, (0, 1), (1, 0))
        better = found(value_s, (0, 2), (2, 0))
        monkeypatch.setattr(
            mixing_search, "_matchings", lambda _cost, now, _: iter([better.arcs] if now is start else [])
        )
        monkeypatch.setattr(mixing_search, "_weighed", lambda *_, **__: better)

        end, used = mixing_search._descent(None, start, 9)
        assert (end is better, used) == (is_better, 1)

    def test_simulations_are_divided_among_descents_and_what_one_leaves_goes_to_the_next(self, monkeypatch):
        budgets = []

        def descent(_cost, start, budget):
            budgets.append(budget)
            return start, 1

        monkeypatch.setattr(mixing_search, "_descent", descent)
        starts = [found(3.0, (0, 1)), found(1.0, (1, 0)), found(2.0, (0, 2))]

        assert [one.value_s for one in mixing_search._descents(None, starts, 10)] == [1.0, 2.0, 3.0]
        assert budgets == [3, 4, 8]

    def test_a_descent_takes_the_first_matching_that_helps_and_ends_where_none_does(self, monkeypatch):
        values_s = {"b": 1.0, "c": 0.5, "d": 0.5 * (1 - 1e-10), "e": None, "f": 0.7}
        after = {"a": ["e", "b", "c"], "b": ["c"], "c": ["d", "e", "f"]}
        seen = []

        def weighed(_cost, name, limit_s, *, hoped):
            seen.append((name, limit_s, hoped))
            return (
                None
                if values_s[name] is None
                else SimpleNamespace(arcs=name, value_s=values_s[name], hoped=0.25)
            )

        monkeypatch.setattr(mixing_search, "_is_symmetric", lambda _: False)
        monkeypatch.setattr(mixing_search, "_matchings", lambda _cost, now, _symmetric: iter(after[now.arcs]))
        monkeypatch.setattr(mixing_search, "_weighed", weighed)
        start = SimpleNamespace(arcs="a", value_s=2.0, hoped=0.5)
        end, used = mixing_search._descent(None, start, 99)

        assert (end.arcs, used) == ("c", 4)
        assert [name for name, _, _ in seen] == ["e", "b", "c", "d", "e", "f"]
        assert [limit_s for _, limit_s, _ in seen] == pytest.approx([2.0, 2.0, 1.0, 0.5, 0.5, 0.5], rel=1e-8)
        assert [limit_s < 2.0 for _, limit_s, _ in seen[:2]] == [True, True]
        assert [hoped for _, _, hoped in seen] == [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
        assert mixing_search._descent(None, start, 1)[1] == 1
        assert mixing_search._descent(None, start, 0) == (start, 0)

    def test_matchings_are_added_and_taken_out_whole_then_by_halves(self, monkeypatch):
        monkeypatch.setattr(mixing_search, "best_matching", lambda allowed, _: [
            (i, (i + (2 if allowed[0, 2] else 1)) % 4) for i in range(3 if allowed[0, 2] else 4)])  # fmt: skip
        monkeypatch.setattr(mixing_search, "_is_strong", lambda _cost, arcs: len(arcs) != 3)
        ring = frozenset((i, (i + 1) % 4) for i in range(4))
        now = SimpleNamespace(arcs=ring, apart_by=np.ones((4, 4)))
        changed = [arcs ^ ring for arcs in mixing_search._matchings(Cost(4), now, symmetric=False)]

        # Of four: three arcs more, four less; of two: two more, two less; of one: one more, one less is not strong.
        assert changed == [{(0, 2), (1, 3), (2, 0)}, ring, {(0, 2), (1, 3)}, {(0, 1), (1, 2)}, {(0, 2)}]

    @pytest.mark.parametrize(
        ("silos", "more", "fewer", "sizes"),
        [
            # More than half of what is asked for: of 4 silos 3, of 2 two, of 1 one.
            (4, 0, 0, []),
            (4, 1, 0, [1]),
            (4, 2, 0, [2, 1]),
            (4, 3, 0, [3, 2, 1]),
            (4, 0, 1, [-1]),
            (4, 0, 2, [-2, -1]),
            (4, 0, 3, [-3, -2, -1]),
            (5, 2, 3, [-3, 2, -2, 1, -1]),
            (1, 1, 1, [1, -1]),
        ],
    )
    def test_a_matching_of_half_as_many_arcs_is_no_whole_one(self, monkeypatch, silos, more, fewer, sizes):
        absent, present = [(0, k) for k in range(10, 10 + more)], [(0, k) for k in range(20, 20 + fewer)]
        matchings = iter((absent, present))
        monkeypatch.setattr(mixing_search, "best_matching", lambda *_: next(matchings))
        monkeypatch.setattr(mixing_search, "_present", lambda *_: None)
        monkeypatch.setattr(mixing_search, "_absent", lambda *_: None)
        monkeypatch.setattr(mixing_search, "_is_strong", lambda *_: True)
        now = SimpleNamespace(arcs=frozenset({(1, 0), *present}), apart_by=np.zeros((silos, silos)))
        found = list(mixing_search._matchings(Cost(silos), now, symmetric=False))

        assert [arcs ^ now.arcs for arcs in found] == [
            set(absent[:size]) if size > 0 else set(present[:-size]) for size in sizes
        ]

    def test_arcs_are_added_between_silos_far_apart_and_taken_out_between_near_ones(self, monkeypatch):
        asked = []
        monkeypatch.setattr(
            mixing_search, "best_matching", lambda allowed, gain: asked.append((allowed, gain)) or []
        )
        far = np.arange(9.0).reshape(3, 3)
        may_send = everyone(3)
        may_send[2, 0] = False
        now = SimpleNamespace(arcs=frozenset({(0, 1), (1, 2)}), apart_by=far)

        assert not list(mixing_search._matchings(Cost(3, may_send=may_send), now, symmetric=False))
        (absent, added), (present, taken) = asked
        assert np.argwhere(absent).tolist() == [[0, 2], [1, 0], [2, 1]]
        assert np.argwhere(present).tolist() == [[0, 1], [1, 2]]
        assert added.tolist() == far.tolist()
        assert taken.tolist() == (8 - far).tolist()

    @pytest.mark.parametrize(
        ("bound_s", "hoped", "below_s", "is_looked_at"),
        [
            (4.0, 0.5, 2.0, False),
            (4.0, 0.5, np.nextafter(2.0, 3.0), True),
            (4.0, 1.0, inf, True),
            (inf, 1.0, inf, False),
            (0.0, 1.0, 0.0, False),
        ],
    )
    def test_what_is_hoped_for_must_lie_below_the_limit(self, bound_s, hoped, below_s, is_looked_at):
        cost = Cost(2, bound_s=lambda _: bound_s, time_s=lambda _: 7.0)
        pair = frozenset({(0, 1), (1, 0)})
        one = mixing_search._weighed(cost, pair, below_s, hoped=hoped)

        # Two silos average exactly, so that an e-fold takes a round.
        assert (one is not None) == is_looked_at
        assert cost.rounds == [40] * is_looked_at
        if one is not None:
            assert (one.arcs, one.estimate_s, one.value_s) == (pair, 4.0, 7.0)

    def test_the_fewest_seconds_of_a_long_simulation_and_what_the_load_rules_out_is_not_simulated(
        self, monkeypatch
    ):
        weighed = []

        def optimal(_cost, one):
            weighed.append(one.name)
            return SimpleNamespace(**{**vars(one), "consensus": efolds[one.name]})

        monkeypatch.setattr(mixing_search, "_optimal", optimal)
        monkeypatch.setattr(mixing_search, "round_contraction", lambda consensus: consensus)
        monkeypatch.setattr(mixing_search, "rounds_per_efold", lambda rounds: rounds)
        monkeypatch.setattr(mixing_search, "seconds_per_efold", lambda time_s, rounds: time_s * rounds)
        # Name, rounds per e-fold, simulated seconds, load.
        table = [
            ("a", 2.0, 3.0, 0.0),
            ("b", 4.0, 1.0, 0.5),
            ("c", 4.0, 1.0 - 1e-10, 0.5),
            ("d", 2.0, 0.1, 4.0),
            ("e", 8.0, 0.1, 0.5),
            ("f", 5.0, 0.7, 0.7),
            ("g", 4.0, 0.1, 3.0),
        ]
        efolds = {name: rounds for name, rounds, _, _ in table}
        cost = Cost(87, time_s={name: time_s for name, _, time_s, _ in table}.get)
        given = [overlay([(0, 1)], load_s=load_s, name=name) for name, _, _, load_s in table]

        # 6 s, then 4 s, from which rounding is no difference; d is not even weighed, and e and g, of 4 s and 12 s by
        # their loads alone, are not simulated.
        assert mixing_search._least(cost, given, []).name == "f"
        assert weighed == ["a", "b", "c", "e", "f", "g"]
        assert cost.rounds == [rounds_for_interval(87)] * 4
        assert mixing_search._least(cost, given[:3], []).name == "b"
        monkeypatch.setattr(
            mixing_search, "_optimal", lambda _cost, one: SimpleNamespace(consensus=inf, **vars(one))
        )
        with pytest.raises(
            InputError, match=r"^best: no overlay can be simulated: time could not advance\.$"
        ):
            mixing_search._least(cost, given, [])
        with pytest.raises(InputError, match=r"^best: no overlay connects all silos\.$"):
            mixing_search._least(cost, [], [])

    @pytest.mark.parametrize(
        ("silos", "arcs", "columns", "scaled", "own", "exact", "taken"),
        [
            (200, 1500, 1.0, 0.6, 0.5, 0.4, "exact"),
            (201, 1500, 1.0, 0.6, 0.5, 0.4, "own"),
            (200, 1501, 1.0, 0.6, 0.5, 0.4, "own"),
            # Weights whose columns do not sum to 1 average unequally.
            (200, 1501, 1.0 + 2e-9, 0.6, 0.5, 0.4, "scaled"),
            # Where a round is an e-fold already, by either, nothing better is sought.
            (200, 1500, 1.0, 0.6, 0.36, 0.3, "own"),
            (200, 1500, 1.0, 0.36, 0.6, 0.3, "scaled"),
            (200, 1500, 1.0, 0.6, 0.37, 0.3, "exact"),
            # Of equally good ones the first.
            (200, 1500, 1.0, 0.5, 0.5, 0.5, "scaled"),
        ],
    )
    def test_the_weights_that_contract_most(
        self, monkeypatch, silos, arcs, columns, scaled, own, exact, taken
    ):
        class Weights(np.ndarray):
            """Of two silos; with a name."""

        def weights(name, across):
            matrix = np.array([[columns, across], [0.0, 1.0 - across]]).view(Weights)
            matrix.name = name
            return matrix

        contractions = {"scaled": scaled, "own": own, "exact": exact}
        built = []
        monkeypatch.setattr(mixing_search, "scaled_weights", lambda *_: weights("scaled", 0.5))
        monkeypatch.setattr(mixing_search, "fdla", lambda *_: weights("exact", -0.5))
        monkeypatch.setattr(mixing_search, "round_contraction", lambda matrix: contractions[matrix.name])
        monkeypatch.setattr(mixing_search, "build_overlay", lambda *at, **how: built.append((at, how)))
        one = SimpleNamespace(
            hub=None,
            arcs=arcs,
            source=np.array([0, 1]),
            target=np.array([1, 0]),
            consensus=weights("own", 0.5),
        )
        cost = SimpleNamespace(graph=SimpleNamespace(silos=silos), work="work")
        mixing_search._optimal(cost, one)

        (((kind, _, work, pairs), how),) = built
        # The weight of 0 -> 1 is 0.
        assert (kind, work, pairs.tolist()) == ("best", "work", [[1, 0]])
        assert how["consensus"].name == taken
        assert how["negative_weights"] == (taken == "exact")

    def test_a_star_keeps_its_average(self):
        star = overlay([(0, 1), (1, 0)], hub=0)
        assert mixing_search._optimal(Cost(2), star) is star

    def test_a_symmetric_overlay_changes_in_both_directions(self):
        before = frozenset({(0, 1), (1, 0), (1, 2), (2, 1)})
        after = frozenset({(1, 0), (1, 2), (2, 1), (2, 0), (1, 3)})
        may_send = everyone(4)
        may_send[3, 1] = False
        cost = Cost(4, may_send=may_send)

        assert mixing_search._kept(cost, before, after, symmetric=False) == after
        assert mixing_search._kept(cost, before, after, symmetric=True) == {
            (1, 2),
            (2, 1),
            (2, 0),
            (0, 2),
            (1, 3),
        }

    @pytest.mark.parametrize(
        ("arcs", "silos", "evaluations", "programs", "walked"),
        [
            (1, 200, 100, 8, 92),  # twice four are weighed
            (1, 200, 3, 3, 0),
            (1, 201, 100, 0, None),
            (1000, 80, 100, 4, 0),  # 4,000,000 / 1000^2
            (1500, 80, 100, 1, 0),
            (1501, 80, 100, 0, None),
        ],
    )
    def test_programs_are_few_where_arcs_are_many(
        self, monkeypatch, arcs, silos, evaluations, programs, walked
    ):
        starts = [found(float(n), *((n, k) for k in range(arcs))) for n in range(10)]
        weighed, budgets = [], []

        def weigh(_cost, some, *, optimal):
            assert optimal
            weighed.append(some)
            return found(-float(min(some)[0]), *some)

        def walk(_cost, start, budget, _rng, *, optimal):
            assert optimal
            budgets.append((start.value_s, budget))
            return found(-99.0, (99, 98))

        monkeypatch.setattr(mixing_search, "_weighed", weigh)
        monkeypatch.setattr(mixing_search, "_walk", walk)
        best = mixing_search._refined(Cost(silos), starts, evaluations, None)

        assert weighed == [one.arcs for one in starts[:programs]]
        assert budgets == ([] if walked is None else [(1.0 - programs, walked)])
        assert len(best) == (0 if walked is None else programs + 1)

    def test_changes_leave_silos_that_reach_each_other_along_pairs_that_can_talk(self, monkeypatch):
        ring = frozenset((i, (i + 1) % 4) for i in range(4))
        may_send = everyone(4)
        may_send[0, 2] = False
        cost = Cost(4, may_send=may_send)
        now = SimpleNamespace(
            arcs=ring,
            bound=SimpleNamespace(arcs=()),
            simulated=SimpleNamespace(arcs=()),
            apart_by=np.ones((4, 4)),
        )
        near = SimpleNamespace(draw=lambda silo, _rng: silo)
        for move in (lambda arcs, *_: arcs | {(0, 2)}, lambda arcs, *_: arcs | {(1, 1)}):
            monkeypatch.setattr(mixing_search, "MOVES", [move])
            rng = np.random.default_rng(1)
            changes = {mixing_search._changed(cost, now, near, False, rng) for _ in range(300)}
            added = {frozenset(changed - ring) for changed in changes - {None}}

            # Only arcs more, one at a time: none can be left out, exchanged or crossed, and neither move is allowed.
            assert added - {frozenset()} == {
                frozenset({arc}) for arc in ((0, 3), (1, 0), (1, 3), (2, 0), (2, 1), (3, 1), (3, 2))
            }
            assert all(changed >= ring for changed in changes - {None})


class TestPeriodic:
    """The search over the states of a period."""

    def test_half_of_the_evaluations_is_for_walks_and_half_for_one_more(self):
        assert periodic_search._budgets(21, 4) == [2, 3, 2, 3, 11]
        assert periodic_search._budgets(1, 1) == [0, 1]
        assert periodic_search._budgets(21, 0) == []

    def test_a_contraction_of_one_is_none_and_rounding_is_no_difference(self):
        assert mixing_repair.mixes(0.5 * (1 + 1e-9), 0.5)
        assert not mixing_repair.mixes(0.5 * (1 + 2e-9), 0.5)
        assert mixing_repair.mixes(np.nextafter(1.0, 0.0), 1.0)
        assert not mixing_repair.mixes(1.0, 1.0)
        assert not mixing_repair.mixes(1.0, 2.0)

    def test_the_time_of_an_overlay_is_not_below_its_bound(self):
        def one(bound_s, time_s):
            return periodic_search._Found(
                overlay=None,
                arcs=(),
                bound=Costly(time_s=bound_s, arcs=()),
                simulated=Costly(time_s=time_s, arcs=()),
            )

        assert one(1.0, 2.0).time_s == 2.0
        assert one(3.0, 2.0).time_s == 3.0

    def test_twelve_candidates_are_mended_and_the_search_begins_at_those_below_the_fourth_fastest(
        self, monkeypatch
    ):
        mended, simulated = [], []

        def mend(_cost, states, most, below_s, *, pairs):
            mended.append((states, most, below_s, pairs))

        def simulate(_cost, states):
            simulated.append(states)
            return SimpleNamespace(time_s=states + 2.0, arcs=states)

        monkeypatch.setattr(periodic_search, "mended", mend)
        monkeypatch.setattr(periodic_search, "_simulated", simulate)
        monkeypatch.setattr(periodic_search, "_in_order", list)
        cost = SimpleNamespace(
            is_overlay=lambda states: states != 3.0,
            bound=lambda states: SimpleNamespace(time_s=states),
            contraction=lambda states: 0.5 if states >= 100 else 0.9,
        )
        limit, below_s = 0.6, 50.0
        candidates = [float(n) for n in range(20)] + [104.0, 102.0, 103.0, 101.0, 105.0, 100.0]
        begun = periodic_search._starts(cost, candidates, limit, below_s)

        assert mended == [(float(n), limit, below_s, 12) for n in range(13) if n != 3]
        # Times 102 to 105: a bound of 104 lies below the fourth, one of 105 does not.
        assert simulated == [100.0, 101.0, 102.0, 103.0, 104.0]
        assert [one.arcs for one in begun] == simulated

        mended.clear()
        periodic_search._starts(cost, [49.0, 50.0], limit, below_s)
        assert [states for states, *_ in mended] == [49.0]


class Repaired:
    """Costs of exchanges between four silos, of which none may be added."""

    def __init__(self, *, fits=False):
        self.graph = SimpleNamespace(silos=4)
        self.static = SimpleNamespace(alone_s=np.zeros((4, 4)), compute_s=np.array([2.0, 1.0, 3.0, 4.0]))
        self.fits, self.looked = fits, []

    def load_s(self, _states):
        return 0.0

    def is_overlay(self, states):
        self.looked.append(states)
        return self.fits

    def bound(self, _states):
        return SimpleNamespace(time_s=0.0)


class TestMending:
    """Exchanges of two silos that are added to states."""

    gains = np.add.outer(np.zeros(2), np.add.outer(np.arange(4.0), 10 * np.arange(4.0)))

    def test_six_pairs_are_looked_at_those_that_gain_most_first(self):
        cost = Repaired()
        nothing = (frozenset(), frozenset({(2, 3), (3, 2)}))

        assert mixing_repair._with_pair(cost, nothing, self.gains, 9.0) is None
        # The pair that is there already is none of the six; gains of a pair are those of its smaller silo.
        pairs = [
            [sorted(arcs)[0] for arcs, was in zip(one, nothing, strict=True) if arcs != was]
            for one in cost.looked
        ]
        assert len(pairs) == 6
        added = [(0, (2, 3)), (0, (1, 3)), (1, (1, 3)), (0, (0, 3)), (1, (0, 3)), (0, (1, 2))]
        for (place, pair), one in zip(added, cost.looked, strict=True):
            assert one[place] == nothing[place] | {pair, pair[::-1]}
            assert one[1 - place] == nothing[1 - place]

    def test_a_pair_that_gains_nothing_or_takes_too_long_is_not_added(self):
        cost = Repaired(fits=True)
        nothing = (frozenset(), frozenset())

        assert mixing_repair._with_pair(cost, nothing, np.zeros((2, 4, 4)), 9.0) is None
        # Alone in one of two states it takes its delay and the least computing of the other: 1 s of 2 * 0.5 s.
        assert mixing_repair._with_pair(cost, nothing, self.gains, 0.5) is None
        assert mixing_repair._with_pair(cost, nothing, self.gains, 0.50001) == (
            frozenset({(2, 3), (3, 2)}),
            frozenset(),
        )
        assert mixing_repair._with_pair(cost, nothing, self.gains * -1, 9.0) is None

    @pytest.mark.parametrize(
        ("load_s", "bound_s", "fits"), [(1.9, 1.9, True), (2.0, 1.9, False), (1.9, 2.0, False)]
    )
    def test_load_and_bound_stay_below_the_limit(self, load_s, bound_s, fits):
        cost = Repaired(fits=True)
        cost.load_s = lambda _: load_s
        cost.bound = lambda _: SimpleNamespace(time_s=bound_s)
        nothing = (frozenset(), frozenset())

        assert (mixing_repair._with_pair(cost, nothing, self.gains, 2.0) is not None) == fits

    def test_an_exchange_takes_the_mean_of_both_ways(self):
        cost = Repaired(fits=True)
        cost.static.alone_s[:] = 100.0
        cost.static.alone_s[0, 3], cost.static.alone_s[3, 0] = 5.0, 2.0
        nothing = (frozenset(), frozenset())

        # 3.5 s, and 1 s of the other state, in two rounds.
        assert mixing_repair._with_pair(cost, nothing, self.gains, 2.25) is None
        added = mixing_repair._with_pair(cost, nothing, self.gains, 2.26)
        assert added == (frozenset({(0, 3), (3, 0)}), frozenset())

    @pytest.mark.parametrize(("pairs", "result"), [(2, None), (3, 3), (4, 3)])
    def test_so_many_pairs_are_added_at_most(self, monkeypatch, pairs, result):
        cost = SimpleNamespace(
            graph=SimpleNamespace(silos=4),
            states=lambda number: number,
            contraction=lambda number: 1 - number / 4,
        )
        monkeypatch.setattr(mixing_repair, "worst_contraction", lambda _silos, number: 1 - number / 4)
        monkeypatch.setattr(mixing_repair, "pair_gains", lambda *_: None)
        monkeypatch.setattr(mixing_repair, "_with_pair", lambda _cost, number, *_: number + 1)

        assert mixing_repair.mended(cost, 0, 0.25, 9.0, pairs=pairs) == result
