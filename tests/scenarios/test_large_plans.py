"""What the plan of a run refuses before anything is written, and whose steps are made in which rounds."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.studies import run
from scenarios.studies.run import _periodic_plan, _taking_part, mixing_plan
from topologies import InputError


@pytest.fixture
def plan(monkeypatch):
    """Plan the rounds of a periodic overlay of 10 silos, with so many states of which some differ."""
    monkeypatch.setattr(run, "different_states", lambda states: (sorted(set(states)), None))
    monkeypatch.setattr(
        run.MixingPlan,
        "periodic",
        lambda states, *, silos, rounds, negative_weights: (len(states), silos, rounds, negative_weights),
    )

    def make(states, rounds, *, longest=1, most):
        monkeypatch.setattr(run, "_MOST_ENTRIES", most)
        overlay = SimpleNamespace(
            kind="base",
            graph=SimpleNamespace(silos=10),
            longest_lag=longest,
            states=states,
            negative_weights=False,
        )
        return _periodic_plan(overlay, rounds)

    return make


@pytest.mark.parametrize(
    ("states", "rounds", "longest", "entries"),
    [
        ("ab", 5, 1, 200),
        ("aab", 5, 1, 200),
        # Of the rounds that are trained only.
        ("abcd", 2, 1, 200),
        # Messages of a lag come from rounds before, and lags take as much as matrices.
        ("abcd", 2, 2, 600),
        ("abcd", 9, 3, 800),
    ],
)
def test_matrices_of_different_states_fit_into_memory(plan, states, rounds, longest, entries):
    assert plan(states, rounds, longest=longest, most=entries) == (len(states), 10, rounds, False)
    what = "matrices" if longest == 1 else "matrices and lags"
    different = entries // (100 if longest == 1 else 200)
    with pytest.raises(
        InputError,
        match=rf"^rounds\(={rounds}\) of base have {different} different states of 10 silos; their {what} must have "
        rf"<= {entries - 1} entries in all\.$",
    ):
        plan(states, rounds, longest=longest, most=entries - 1)


@pytest.mark.parametrize(("rounds", "longest", "planned"), [(500, 1, 500), (500, 3, 502)])
def test_rounds_and_lags_fit_into_memory(plan, rounds, longest, planned):
    assert plan("a", rounds, longest=longest, most=planned)[2] == rounds
    with pytest.raises(
        InputError,
        match=rf"^rounds\(={rounds}\) and the longest lag\(={longest}\) of base must be <= {planned - 1} in all\.$",
    ):
        plan("a", rounds, longest=longest, most=planned - 1)


@pytest.mark.parametrize(("most", "is_refused"), [(300, False), (299, True)])
def test_matrices_of_drawn_rounds_fit_into_memory(monkeypatch, most, is_refused):
    schedule = SimpleNamespace(choices=[1, 2, 3], index=np.array([0, 1, 2, 1]))
    monkeypatch.setattr(run, "_MOST_ENTRIES", most)
    monkeypatch.setattr(
        run, "make_schedule", lambda _overlay, seed, rounds: schedule if (seed, rounds) == (7, 4) else None
    )
    monkeypatch.setattr(run, "round_consensus", lambda _, choice: np.full((10, 10), choice / 10))
    monkeypatch.setattr(run, "MixingPlan", lambda **given: given)
    overlay = SimpleNamespace(kind="matcha", graph=SimpleNamespace(silos=10), negative_weights=True)
    if is_refused:
        with pytest.raises(
            InputError,
            match=r"^rounds\(=4\) of matcha draw 3 different matrices of 10 silos; they must have <= 299 entries",
        ):
            mixing_plan(overlay, 4, 7)
    else:
        found = mixing_plan(overlay, 4, 7)
        assert found["matrices"][:, 0, 0].tolist() == [0.1, 0.2, 0.3]
        assert found["index"] is schedule.index
        assert found["negative_weights"] is True


def test_without_a_rule_all_silos_take_part():
    assert _taking_part(SimpleNamespace(participation=None), 4, 2, 0) is None
    asked = []
    rows = lambda first, rounds, *, silos, seed: asked.append((first, rounds, silos, seed)) or "rows"  # noqa: E731
    assert _taking_part(SimpleNamespace(participation=SimpleNamespace(rows=rows)), 4, 2, 7) == "rows"
    assert asked == [(0, 4, 2, 7)]
