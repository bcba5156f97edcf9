"""Walks of the searches by simulation: what they accept at each step, worked out by hand."""

import pytest

from simulator.designers.record_travel import Travel, even_parts, record_travel


class Walk:
    """Overlays are their names; each change is tried in the order given."""

    def __init__(self, times_s, changes):
        self.times_s, self.changes = times_s, list(changes)
        self.asked, self.simulated = [], []

    def changed(self, now):
        self.asked.append(now)
        return self.changes.pop(0)

    def simulated_below(self, now, arcs, limit_s):
        self.simulated.append((now, arcs, limit_s))
        return None if arcs.startswith("bound") else arcs

    def best(self, start, **how):
        travel = Travel(
            arcs=lambda name: name,
            time_s=self.times_s.get,
            changed=self.changed,
            simulated_below=self.simulated_below,
        )
        return record_travel(travel, start, **how)


def test_the_share_by_which_a_walk_may_become_worse_falls_with_the_evaluations_that_are_left():
    walk = Walk({"a": 1.0, "b": 1.01, "c": 1.05, "d": 0.9, "e": 0.95}, "bcdef")

    assert walk.best("a", evaluations=4, trials=100) == "d"
    # 2 % at first, none from three quarters on.
    assert walk.simulated == [
        ("a", "b", pytest.approx(1.02, abs=1e-8)),
        ("b", "c", pytest.approx(1 + 0.02 * 2 / 3, abs=1e-8)),
        ("b", "d", pytest.approx(1 + 0.02 / 3, abs=1e-8)),
        ("d", "e", pytest.approx(0.9, abs=1e-8)),
    ]


def test_it_falls_with_the_trials_too_and_then_the_walk_goes_back_to_the_best():
    walk = Walk({"a": 1.0, "b": 1.01}, ["b", None, "b", "bound"])

    assert walk.best("a", evaluations=100, trials=4) == "a"
    # What gives no arcs, or the same ones again, is simulated no more.
    assert walk.asked == ["a", "b", "b", "a"]
    assert walk.simulated == [
        ("a", "b", pytest.approx(1.02, abs=1e-8)),
        ("a", "bound", pytest.approx(1.0, abs=1e-8)),
    ]


def test_the_overlay_that_it_starts_from_is_not_simulated_again_and_what_a_bound_rules_out_costs_nothing():
    walk = Walk({"a": 1.0, "b": 0.5}, ["a", "bound 1", "bound 2", "b", "bound 3"])

    assert walk.best("a", evaluations=1, trials=5) == "b"
    assert [arcs for _, arcs, _ in walk.simulated] == ["bound 1", "bound 2", "b"]


@pytest.mark.parametrize(
    ("time_s", "goes_on", "is_best"),
    [
        (1.02, False, False),
        (1 - 1e-9 + 0.02, False, False),
        (1.0199999, True, False),
        (1 - 1e-10, True, False),
        (1 - 1e-9, True, False),
        (1 - 1e-8, True, True),
    ],
)
def test_what_is_better_by_rounding_only_is_no_better(time_s, goes_on, is_best):
    walk = Walk({"a": 1.0, "b": time_s}, ["b", None])

    assert walk.best("a", evaluations=100, trials=2) == ("b" if is_best else "a")
    assert walk.asked == ["a", "b" if goes_on else "a"]


def test_no_evaluations_and_no_trials_are_no_walk():
    assert Walk({"a": 1.0}, []).best("a", evaluations=0, trials=9) == "a"
    assert Walk({"a": 1.0}, []).best("a", evaluations=9, trials=0) == "a"


def test_even_parts():
    assert even_parts(10, 4) == [2, 3, 2, 3]
    assert even_parts(3, 4) == [0, 1, 1, 1]
    assert even_parts(10, 0) == []
