"""Fields and sentences of the table of designs, each by hand from a row."""

import math
from types import SimpleNamespace

import pytest

from scenarios.config.overlay_config import OverlayConfig
from scenarios.studies import design as study
from scenarios.studies.design import (
    _above_forms_note,
    _bound,
    _bound_note,
    _efold,
    _efold_notes,
    _estimate_note,
    _file_notes,
    _has_real_bound,
    _mixing_left_out,
    _option_notes,
    _over_real,
    _paper_s,
    _random_note,
    _random_notes,
    _rate,
    _rates,
    _rates_note,
    _real_bounds,
    _real_notes,
    _share,
    _simulation_notes,
    _star,
)
from topologies import InputError

STATIC = {"overlay": "mst", "max_plus_s": None, "simulated_s": 3.0}
PERIODIC = STATIC | {"overlay": "states", "period": 3, "computing_states": 3, "longest_lag": 1}


@pytest.mark.parametrize(
    ("row", "is_bounded"),
    [
        (STATIC, True),
        (STATIC | {"period": None}, True),
        (STATIC | {"max_plus_s": 1.0}, False),
        (PERIODIC, True),
        (PERIODIC | {"longest_lag": 2}, False),
        (PERIODIC | {"computing_states": 2}, False),
    ],
)
def test_bounds_of_what_is_simulated_hold_with_lags_of_1_where_silos_always_compute(row, is_bounded):
    assert _has_real_bound(row) is is_bounded
    bound = {"simulated_bound_s": 2.0, "over_simulated_bound": 0.5}
    assert _over_real(row, 2.0) == (bound if is_bounded else dict.fromkeys(bound))
    assert _over_real(row, None) == dict.fromkeys(bound)


def test_no_part_of_a_bound_of_0_or_of_an_unknown_time():
    assert _over_real(STATIC, 0.0) == {"simulated_bound_s": 0.0, "over_simulated_bound": None}
    assert _over_real(STATIC | {"simulated_s": None}, 2.0) == {
        "simulated_bound_s": 2.0,
        "over_simulated_bound": None,
    }


def test_each_number_of_states_has_one_bound(monkeypatch):
    asked = []

    def bounds_s(_graph, _work, periods):
        asked.append(periods)
        return [10.0 * period for period in periods]

    monkeypatch.setattr(study, "simulated_bounds_s", bounds_s)
    late = PERIODIC | {"longest_lag": 2, "period": 4, "computing_states": 4}
    assert _real_bounds(None, None, [PERIODIC, STATIC, PERIODIC, late]) == {3: 30.0, None: 10.0}
    assert asked == [[3, 1]]


def test_what_is_simulated_is_set_against_the_bound_of_as_many_states():
    rows = [
        STATIC | {"over_simulated_bound": 0.5},
        PERIODIC | {"over_simulated_bound": 0.25},
        STATIC | {"overlay": "ring", "over_simulated_bound": 0.0},
        STATIC | {"overlay": "unknown", "over_simulated_bound": None},
        PERIODIC | {"overlay": "whole", "period": 1, "over_simulated_bound": 1.0},
    ]
    start = "simulated over 2.000 s, a lower bound of it for every"
    assert _real_notes(rows, {None: 2.0, 1: 2.0, 3: 2.0, 5: 1.0}) == [
        f"{start} static overlay: mst 50.0%, ring 0.0%.",
        f"{start} overlay of 1 state and lags of 1: whole 100%.",
        f"{start} overlay of 3 states and lags of 1: states 25.0%.",
    ]
    assert _real_notes(rows, {}) == []


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (-1.0, "0.0%"),
        (0.05, "5.0%"),
        (0.9994, "99.9%"),
        (0.9995, "100%"),
        (1.0, "100%"),
        (99.994, "9999%"),
        (1e5, "1.00e7%"),
    ],
)
def test_shares_in_percent(fraction, text):
    assert _share(fraction) == text


@pytest.mark.parametrize(
    ("per_s", "text"), [(1.5, "1.500"), (1.234e-5, "1.2e-5"), (2.5e12, "2.5e12"), (12345.6, "12346")]
)
def test_rates_have_room(per_s, text):
    assert _rate(per_s) == text


FORMS = {"paper_s": 1.0, "serialized_s": 2.0, "load_bound_s": 0.5}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"simulated_s": 2.1}, None),  # 1.05: no further than 5 %
        ({"simulated_s": 2.125}, "mst 1.06x"),
        ({"simulated_s": 4.0}, "mst 2.00x"),
        ({"simulated_s": 4.0, "load_bound_s": 4.0}, None),
        ({"simulated_s": 4.0} | dict.fromkeys(FORMS, 0.0), None),
        ({"simulated_s": 0.25} | dict.fromkeys(FORMS, 0.125), "mst 2.00x"),
    ],
)
def test_overlays_far_above_all_closed_forms_are_named(change, text):
    notes = _above_forms_note([STATIC | FORMS | change])
    assert len(notes) == (text is not None)
    if text:
        assert notes[0].startswith(f"simulated over the longest closed form: {text}. Models")


@pytest.mark.parametrize(
    ("row", "efold_s"),
    [
        # e-fold: log(1 / contraction) of a round.
        ({"simulated_s": 2.0, "contraction": math.exp(-0.5)}, 4.0),
        ({"simulated_s": 2.0, "contraction": 0.0}, 2.0),
        ({"simulated_s": 2.0, "contraction": 0.0, "computing_states": 3}, 6.0),
        ({"simulated_s": 2.0, "contraction": 0.0, "computing_states": None}, 2.0),
        ({"simulated_s": 2.0, "contraction": 1.0}, math.inf),
        ({"simulated_s": None, "contraction": 0.5}, None),
        ({"simulated_s": 2.0, "contraction": None}, None),
    ],
)
def test_seconds_per_efold(row, efold_s):
    found = _efold(row)["efold_s"]
    assert found == (None if efold_s is None else pytest.approx(efold_s))


def test_efolds_of_all_overlays_that_have_one():
    times = {"star": 2.0, "drawn": None, "swap": math.inf}
    first, bound = _efold_notes([{"overlay": name, "efold_s": time_s} for name, time_s in times.items()])
    assert first.startswith("per e-fold: star 2.000 s, swap never. That is simulated / log(1/contraction)")
    assert bound.startswith("time to accuracy: an upper bound on the rounds")


def test_a_quick_bound_says_how_a_higher_one_is_found():
    quick, highest = _bound_note(2.0, highest=False), _bound_note(2.0, highest=True)
    start = "over bound: paper over 2.000 s, a lower bound of paper on every static overlay"
    assert quick.startswith(f"{start} (a quick one; --bound looks for a higher one). At 0.0% none")
    assert highest.startswith(f"{start}. At 0.0% none")


@pytest.mark.parametrize(
    ("silos", "highest", "is_known"),
    [(10, False, True), (10, True, True), (11, False, False), (11, True, True)],
)
def test_the_bound_of_many_silos_takes_long_and_is_left_out(monkeypatch, silos, highest, is_known):
    monkeypatch.setattr(study, "MANY_SILOS", 10)
    monkeypatch.setattr(study, "lower_bound_s", lambda _graph, _work, *, circuits: ("bound", circuits))
    found = _bound(SimpleNamespace(silos=silos), None, highest=highest)
    assert found == (("bound", highest) if is_known else None)


@pytest.mark.parametrize(
    ("row", "star_s", "throughput", "ratio"),
    [
        ({"simulated_s": 0.5, "paper_s": 0.25}, 2.0, 2.0, 4.0),
        ({"simulated_s": 0.5, "paper_s": 0.25}, None, 2.0, None),
        ({"simulated_s": 0.5, "paper_s": 0.25}, 0.0, 2.0, 0.0),
        ({"simulated_s": 0.0, "paper_s": 0.25}, 2.0, math.inf, None),
        ({"simulated_s": None, "paper_s": 0.25}, 2.0, None, None),
    ],
)
def test_throughput_and_ratio_to_the_star(row, star_s, throughput, ratio):
    assert _rates(row, star_s, "simulated") == {
        "rates_from": "simulated",
        "throughput_per_s": throughput,
        "ratio_to_star": ratio,
    }
    assert _rates(row, 2.0, "paper") == {
        "rates_from": "paper",
        "throughput_per_s": 4.0,
        "ratio_to_star": 8.0,
    }


def test_what_throughput_is_of():
    published, corrected = (
        SimpleNamespace(underlay=SimpleNamespace(variant=variant)) for variant in ("published", "corrected")
    )
    assert _rates_note(published, "paper") == "rounds/s, vs STAR: of paper."
    assert (
        _rates_note(published, "simulated")
        == "rounds/s, vs STAR: of simulated (--rates-from paper: of paper, as in the published tables)."
    )
    assert (
        _rates_note(corrected, "simulated")
        == "rounds/s, vs STAR: of simulated (--rates-from paper: of paper)."
    )


def test_estimates_and_what_is_not_simulated_are_said_in_the_order_of_the_table():
    exact = {"overlay": "star", "simulated_s": 1.0, "simulated_is_exact": True}
    estimate = {
        "overlay": "mst",
        "simulated_s": 2.0,
        "simulated_is_exact": False,
        "simulated_half_width_s": 0.25,
        "simulated_rounds": 1500,
    }
    left = {
        "overlay": "complete",
        "simulated_s": None,
        "simulated_is_exact": False,
        "why_not_simulated": "it takes long",
    }
    assert _simulation_notes([exact]) == []
    assert _simulation_notes([exact, left, estimate]) == [
        "~: an estimate, as no period shows.",
        "mst: 2.000 s +- 250.0 ms (95 %, by batch means of 1,500 rounds).",
        "complete is not simulated here: it takes long.",
    ]
    few = estimate | {"simulated_half_width_s": None}
    assert _estimate_note(few) == "mst: 1,500 rounds, too few for an interval; silosim simulate takes more."


DRAWN = {
    "overlay": "matcha",
    "paper_s": 0.5,
    "paper_half_width_s": 0.25,
    "max_plus_s": 0.125,
    "max_plus_half_width_s": 0.0,
    "budget": None,
}


def test_a_randomized_overlay_has_both_cycle_times_and_its_budget():
    assert _random_note(DRAWN, "s") == "matcha: barrier 0.5000 +- 0.2500, max-plus 0.1250 +- 0 s."
    budgeted = DRAWN | {"budget": 0.5, "active_matchings": 4.5, "matchings": 9}
    assert (
        _random_note(budgeted, "ms")
        == "matcha: barrier 500.0 +- 250.0, max-plus 125.0 +- 0 ms; budget 0.5: 4.5 of 9 matchings a round on average."
    )
    assert _random_notes([STATIC], "s") == []
    first, last = _random_notes([STATIC, DRAWN], "s")
    assert first == _random_note(DRAWN, "s")
    assert last.startswith("barrier (the column paper): mean of the slowest arc of 1000 drawn rounds.")


def test_files_of_arcs_states_matrices_and_weights_are_named():
    given = [
        SimpleNamespace(**{"arcs": "", "weights": "", "schedule": "", "consensus": ""} | has)
        for has in (
            {"name": "a", "arcs": "arcs.csv"},
            {"name": "b", "weights": "w.csv", "consensus": "metropolis"},
            {"name": "c", "schedule": "states\n.csv"},
            {"name": "d"},
        )
    ]
    assert _file_notes(given) == [
        "a: the arcs of arcs.csv.",
        "b: the mixing matrix w.csv.",
        r"c: the states of 'states\n.csv'.",
        "b: weights metropolis.",
    ]


def test_options_that_no_column_tells_are_said():
    rows = [{"overlay": "matcha", "budget": 0.5}, {"overlay": "dyn"}, {"overlay": "best", "criterion": None}]
    options = ({"budget": 0.5}, {"order": "tour"}, {"criterion": "paper", "order": "tour", "moves": 3})
    configs = [SimpleNamespace(options=each) for each in options]
    assert _option_notes(rows, configs) == ["best: criterion paper, moves 3."]


@pytest.mark.parametrize(("silos", "is_told"), [(1000, False), (1001, True)])
def test_why_a_large_network_has_no_spectral_gaps(monkeypatch, silos, is_told):
    monkeypatch.setattr(study, "MOST_MIXING_SILOS", 1000)
    notes = _mixing_left_out(SimpleNamespace(silos=silos))
    assert notes == ["spectral gap: of up to 1,000 silos, as its time is cubic in them."] * is_told


def test_only_a_star_that_is_asked_for_must_be_possible(monkeypatch):
    def impossible(*_args, **_options):
        raise InputError("has no hub.")

    monkeypatch.setattr(study, "design_any", impossible)
    assert _star(None, None, None, 0) is None
    with pytest.raises(InputError, match=r"has no hub\."):
        _star(OverlayConfig(kind="star"), None, None, 0)


def test_paper_of_a_randomized_overlay_is_its_barrier_form(monkeypatch):
    def drawn(_overlay, rounds, seed):
        return SimpleNamespace(barrier=SimpleNamespace(mean=(rounds, seed)))

    monkeypatch.setattr(study, "random_cycle_time", drawn)
    assert _paper_s(object(), seed=7) == (1000, 7)
