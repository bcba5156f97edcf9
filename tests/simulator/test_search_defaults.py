"""How much the searches by simulation do by default, and in which parts: the numbers of their documentation."""

from types import SimpleNamespace

import numpy as np
import pytest

from simulator.designers import mixing_search, periodic_search, shift_digraphs, simulated_search
from simulator.designers.best import best
from topologies import InputError
from topologies.designers import best as closed_search
from topologies.input_limits import MOST_SEARCHED_SILOS


def silos(count):
    """A network of which only the number of silos matters."""
    return SimpleNamespace(silos=count)


FORMS = SimpleNamespace(paper_s=1.0, serialized_s=1.0, load_bound_s=1.0)


@pytest.fixture
def calls(monkeypatch):
    """Replace functions of a module by ones that keep what they are called with."""
    kept = []

    def replace(module, **functions):
        for name, result in functions.items():

            def call(*given, _name=name, _result=result, **named):
                kept.append((_name, given, named))
                if callable(named.get("progress")):
                    named["progress"](0.5)
                if given and callable(given[-1]):
                    given[-1](0.5)
                return _result

            monkeypatch.setattr(module, name, call)

    replace.kept = kept
    return replace


def given(kept, name):
    """What a function was called with each time."""
    return [(positional, named) for called, positional, named in kept if called == name]


@pytest.mark.parametrize(
    ("count", "iterations", "evaluations"),
    [
        (3, 200_000, 400),
        (16, 200_000, 400),
        (17, 194_117, 400),
        (22, 150_000, 400),
        (33, 100_000, 400),
        (23, 143_478, 400),
        (50, 100_000, 400),
        (51, 100_000, 392),
        (59, 100_000, 338),  # one more would be 339 each
    ],
)
def test_the_search_on_simulated_cycle_times(calls, count, iterations, evaluations):
    found = [SimpleNamespace(overlay=number) for number in range(7)]
    calls(
        simulated_search,
        SimulatedCost=None,
        designed_candidates=["a kind"],
        with_bottleneck="alone",
        searched=["another"],
        _starts=["start"],
        _walks=found,
        _fastest="fastest",
        averaging="averaged",
    )
    shares = []
    overlay = simulated_search.fastest_simulated.__wrapped__(
        silos(count), "work", seed=3, progress=shares.append
    )

    assert overlay == "averaged"
    ((at, how),) = given(calls.kept, "searched")
    assert at == ("alone", "work")
    assert how.pop("progress")
    assert how == {
        "candidates": ["a kind"],
        "criterion": "all",
        "iterations": iterations,
        "seed": 3,
        "temperatures": (0.005, 0.02, 0.03, 0.15, 0.005, 0.02, 0.03, 0.15),
    }
    ((walked, _),) = given(calls.kept, "_walks")
    assert walked[1:3] == (["start"], evaluations)
    assert given(calls.kept, "_starts") == [((None, ["a kind", "another"]), {})]
    # Five overlays of the search, beside the other kinds.
    assert given(calls.kept, "_fastest") == [((None, ["a kind", 0, 1, 2, 3, 4]), {})]
    assert shares == pytest.approx([0.05, 0.325, 0.6, 0.775, 0.95, 1.0])


def test_of_two_silos_nothing_is_searched(calls):
    calls(
        simulated_search,
        SimulatedCost=None,
        designed_candidates=["a kind"],
        _fastest=1,
        averaging=2,
        searched=[],
    )
    simulated_search.fastest_simulated.__wrapped__(silos(2), "work")

    assert not given(calls.kept, "searched")
    assert given(calls.kept, "_fastest") == [((None, ["a kind"]), {})]


@pytest.mark.parametrize(
    ("count", "asked", "evaluations", "matchings", "refined", "short"),
    [
        (26, None, 300, 105, 90, 20),
        (27, None, 296, 103, 88, 20),
        (63, None, 126, 44, 37, 20),  # one more would be 127 each
        (80, None, 100, 35, 30, 20),
        (3, 19, 19, 6, 5, 19),
    ],
)
def test_the_search_on_the_time_to_accuracy(calls, count, asked, evaluations, matchings, refined, short):
    kind = SimpleNamespace(hub=None, source=np.array([0, 1]), target=np.array([1, 0]))
    hub = SimpleNamespace(hub=0)
    found = [SimpleNamespace(arcs=number) for number in range(6)]
    calls(
        mixing_search,
        SimulatedCost=None,
        designed_candidates=[kind],
        _shifted=[hub],
        best_of_all=hub,
        fastest_simulated=hub,
        shift_digraphs=["shifts"],
        _starts=["start"],
        _descents=["descended"],
        _walks=found,
        _refined=[SimpleNamespace(arcs=f"refined {number}") for number in range(6)],
        _least="least",
        replace="kept",
    )
    shares = []
    overlay = mixing_search.fewest_seconds_per_efold.__wrapped__(
        silos(count), "work", evaluations=asked, seed=3, progress=shares.append
    )

    assert overlay == "kept"
    assert given(calls.kept, "replace") == [(("least",), {"kind": "best"})]
    assert [how for _, how in given(calls.kept, "best_of_all")] == [{"iterations": 20_000, "seed": 3}]
    assert [how for _, how in given(calls.kept, "fastest_simulated")] == [
        {"evaluations": short, "iterations": 20_000, "seed": 3}
    ]
    assert [at[3] for at, _ in given(calls.kept, "_shifted")] == ["none", "tour"]
    assert [at[1] for at, _ in given(calls.kept, "_starts")] == [[frozenset({(0, 1), (1, 0)})], ["shifts"]]
    assert [at[1:] for at, _ in given(calls.kept, "_descents")] == [(["start"], matchings)]
    ((walked, _),) = given(calls.kept, "_walks")
    assert walked[1:3] == ([["descended"], ["start"]], evaluations - matchings - refined)
    assert [at[1:3] for at, _ in given(calls.kept, "_refined")] == [(found, refined)]
    ((confirmed, _),) = given(calls.kept, "_least")
    # Four of each part.
    assert list(confirmed[2]) == ["refined 0", "refined 1", "refined 2", "refined 3", 0, 1, 2, 3]
    assert shares == pytest.approx([0.05, 0.3, 0.5, 0.6, 0.9, 1.0])


@pytest.mark.parametrize(("count", "evaluations"), [(50, 400), (51, 392)])
def test_the_search_over_states(calls, count, evaluations):
    static = SimpleNamespace(hub=None, source=np.array([0]), target=np.array([1]), consensus=np.eye(2))
    state = SimpleNamespace(consensus=lambda _silos: None)
    calls(
        periodic_search,
        fastest_simulated=static,
        PeriodicCost=None,
        state_of=state,
        spectral_gap=0.25,
        _simulated=SimpleNamespace(time_s=7.0),
        _candidates="candidates",
        _starts=["start"],
        _walks=["found"],
        _confirmed="confirmed",
    )
    shares = []
    states = periodic_search._fastest_states(silos(count), "work", 2, None, None, None, 3, shares.append)

    assert states == "confirmed"
    assert [how["evaluations"] for _, how in given(calls.kept, "fastest_simulated")] == [None]
    assert given(calls.kept, "_starts") == [((None, "candidates", 0.75, 7.0), {})]
    ((walked, _),) = given(calls.kept, "_walks")
    assert walked[1:4] == (["start"], 0.75, evaluations)
    assert given(calls.kept, "_confirmed") == [((None, ["found"], (state, state), 0.75), {})]
    assert shares == pytest.approx([0.3, 0.775, 1.0])


def test_two_states_by_default(monkeypatch):
    monkeypatch.setattr(periodic_search, "in_silo_order", lambda graph, work: (graph, work, None))
    monkeypatch.setattr(periodic_search, "_fastest_states", lambda *given: given[2:7])
    monkeypatch.setattr(periodic_search, "reordered", lambda states, _: states)
    monkeypatch.setattr(periodic_search, "build_periodic", lambda *given: given[3])

    assert periodic_search.fastest_periodic("graph", "work") == (2, None, None, None, 0)


@pytest.mark.parametrize(("asked", "iterations"), [(None, 200_000), (0, 0), (7, 7)])
def test_the_search_on_closed_forms(monkeypatch, asked, iterations):
    seen = []
    monkeypatch.setattr("simulator.designers.best.best_of_all", lambda *_, **how: seen.append(how))
    best(silos(9), "work", iterations=asked)

    assert seen == [{"criterion": "paper", "iterations": iterations, "seed": 0, "progress": None}]


def test_the_most_silos_that_are_searched_on(monkeypatch):
    monkeypatch.setattr("simulator.designers.best.best_of_all", lambda *_, **__: "found")

    assert best(silos(MOST_SEARCHED_SILOS), "work") == "found"
    with pytest.raises(InputError):
        best(silos(MOST_SEARCHED_SILOS + 1), "work")


@pytest.mark.parametrize(
    ("count", "iterations", "trials"),
    [(3, 200_000, 1000), (40, 200_000, 1000), (41, 200_000, 975), (41, 974, 974), (41, 976, 975)],
)
def test_polishing_on_closed_forms(monkeypatch, count, iterations, trials):
    overlay = SimpleNamespace(arcs=count - 1, closed_forms=FORMS, source=np.array([0]), target=np.array([1]))
    polished = []

    def polish(_graph, _work, arcs, **how):
        polished.append(how)
        return arcs

    monkeypatch.setattr(closed_search, "polish", polish)
    found = closed_search._searched(silos(count), "work", [overlay], "paper", iterations, 2, (0.05,), print)

    # From no ring nothing is annealed, and what is not changed is not found anew.
    assert found == []
    assert polished == [{"trials": trials, "seed": seed, "criterion": "paper"} for seed in (8, 9, 10, 11)]


@pytest.mark.parametrize(("count", "rings"), [(3, 0), (4, 1)])
def test_annealing_begins_at_rings_of_four_silos_or_more(monkeypatch, count, rings):
    tour = np.arange(count)
    ring = SimpleNamespace(arcs=count, closed_forms=FORMS, source=tour, target=(tour + 1) % count)
    annealed, shares = [], []

    def search(_graph, _work, tour, **how):
        annealed.append((tour, how))

    monkeypatch.setattr(closed_search, "detour_search", search)
    monkeypatch.setattr(closed_search, "polish", lambda _graph, _work, arcs, **_how: arcs)
    monkeypatch.setattr(closed_search, "_ring", lambda *_, searches: [ring] * searches)
    monkeypatch.setattr(closed_search, "build_overlay", lambda *_: ring)
    closed_search._searched(silos(count), "work", [ring], "all", 101, 2, (0.05, 0.15), shares.append)

    # The ring of a single search is the same one, from which the annealing need not begin again.
    expected = [
        (list(range(count)), {"steps": 50, "seed": 4 + run, "temperature": temperature, "criterion": "all"})
        for run, temperature in enumerate((0.05, 0.15))
    ]
    assert annealed == expected * rings
    assert shares == pytest.approx([1 / 3, 2 / 3][: 2 * rings])


def test_first_temperatures_of_the_annealing_on_closed_forms(monkeypatch):
    asked = []
    monkeypatch.setattr(closed_search, "_searched", lambda *given: asked.append(given[4:7]) or [])
    ring = SimpleNamespace(kind="ring", hub=None, closed_forms=FORMS)
    star = SimpleNamespace(kind="star", hub=0, closed_forms=FORMS)

    def searched(count, iterations, *candidates):
        return closed_search.searched(
            silos(count), "work", candidates=candidates, criterion="paper", iterations=iterations, seed=3
        )

    monkeypatch.setattr(closed_search, "_ring", lambda *_: [])
    # Nothing is searched from a STAR alone, of two silos, or in no moves.
    assert (searched(3, 1, star), searched(2, 1, ring), searched(3, 0, ring)) == ([star], [ring], [ring])
    assert not asked
    assert searched(3, 1, star, ring) == [star, ring]
    assert asked == [(1, 3, (0.05, 0.15, 0.05, 0.15))]


def test_shifts_of_two_to_eight_models_a_silo(monkeypatch):
    monkeypatch.setattr(shift_digraphs, "node_order", lambda _, graph, __: np.arange(graph.silos))
    degrees = [len(arcs) / 12 for arcs in shift_digraphs.shift_digraphs(silos(12), "work", 0)]
    few = [len(arcs) / 4 for arcs in shift_digraphs.shift_digraphs(silos(4), "work", 0)]

    assert degrees == [2, 3, 4, 5, 6, 7, 8]
    assert few == [2, 3]


def test_the_best_of_300_sets_of_shifts():
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    shifts = shift_digraphs.mixing_shifts(40, 3, rng)

    def contraction(some):
        row = np.zeros(40)
        row[[0, *some]] = 0.25
        return np.abs(np.fft.fft(row)[1:]).max()

    drawn = again.random((300, 39)).argsort(axis=1)[:, :3] + 1
    assert rng.random() == again.random()
    assert contraction(shifts) == pytest.approx(min(map(contraction, drawn)), rel=1e-8)
    assert sorted(shifts) == shifts.tolist()
