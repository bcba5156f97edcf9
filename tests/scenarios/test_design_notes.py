"""Fields and sentences of the table of designs, each by hand from a row."""

import math
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from scenarios.config.network import NetworkConfig, build_network
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
from topologies import InputError, Workload

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


def table_inputs():
    """The network and workload of the tables."""
    network = NetworkConfig(underlay="gaia", silo_at=("Seoul", "Tokyo", "Sydney", "Oregon"))
    return build_network(network), Workload.preset("femnist")


@pytest.fixture
def table_of(monkeypatch):
    """The table of overlays on four silos of Gaia, and the lines that say what is at work."""
    lines = []

    @contextmanager
    def heartbeat(text):
        lines.append(text)
        yield

    monkeypatch.setattr(study, "heartbeat", heartbeat)
    graph, work = table_inputs()

    def make(*kinds, bound=False, **options):
        lines.clear()
        configs = [kind if isinstance(kind, OverlayConfig) else OverlayConfig(kind=kind) for kind in kinds]
        return study.design_table(graph, work, configs, seed=0, bound=bound, **options), [*lines]

    return make


def test_many_silos_have_lines_that_say_what_is_at_work(table_of, monkeypatch):
    assert set(table_of("star", "ring")[1]) == {None}
    monkeypatch.setattr(study, "MANY_SILOS", 4)
    assert set(table_of("star", "ring")[1]) == {None}
    monkeypatch.setattr(study, "MANY_SILOS", 3)
    assert table_of("star", "ring")[1] == [
        "star: design for 4 silos",
        "star: simulation for 4 silos",
        "ring: simulation for 4 silos",
        "lower bound for 4 silos",
    ]


def test_how_models_mix_is_told_of_networks_that_are_not_too_large(table_of, monkeypatch):
    weights = ("spectral_gap", "contraction", "agreed_weights")
    (ring,) = table_of("ring")[0].rows
    # Four silos in a ring with weights 1/2.
    assert ring["spectral_gap"] == pytest.approx(1 - math.sqrt(0.5))
    assert ring["contraction"] == pytest.approx(math.sqrt(0.5))
    assert list(ring["agreed_weights"].values()) == pytest.approx([0.25] * 4)
    monkeypatch.setattr(study, "MOST_MIXING_SILOS", 4)
    assert table_of("ring")[0].rows[0]["spectral_gap"] == ring["spectral_gap"]
    monkeypatch.setattr(study, "MOST_MIXING_SILOS", 3)
    found = table_of("ring")[0]
    assert [found.rows[0][name] for name in weights] == [None, None, None]
    assert "spectral gap: of up to 3 silos" in " ".join(found.notes.split())


def test_ratios_are_to_the_star_that_is_asked_for_or_the_default_one(table_of):
    (alone,) = table_of("ring")[0].rows
    star, ring = table_of("star", "ring")[0].rows
    assert (
        alone["ratio_to_star"]
        == ring["ratio_to_star"]
        == pytest.approx(star["simulated_s"] / ring["simulated_s"])
    )
    assert star["ratio_to_star"] == 1.0
    star, ring = table_of("star", "ring", rates_from="paper")[0].rows
    assert ring["ratio_to_star"] == pytest.approx(star["paper_s"] / ring["paper_s"])
    assert ring["throughput_per_s"] == pytest.approx(1 / ring["paper_s"])
    with pytest.raises(InputError, match=r"rates_from\(='max'\)"):
        table_of("ring", rates_from="max")


def test_the_hub_is_named_where_the_star_is_asked_for(table_of):
    star, _ = table_of("star")
    assert f"star: the hub is {star.rows[0]['hub']}." in " ".join(star.notes.split())
    assert star.rows[0]["hub"] in ("Seoul", "Tokyo", "Sydney", "Oregon")
    ring, _ = table_of("ring")
    assert "the hub is" not in ring.notes
    assert ring.rows[0]["hub"] is None


def test_states_have_a_column_where_an_overlay_is_periodic(table_of):
    table, _ = table_of("ring", "one_peer_exponential")
    ring, states = table.rows
    assert (ring["period"], states["period"]) == (None, 2)
    assert states["computing_states"] == 2
    assert (states["longest_lag"], states["messages_per_round"]) == (1, 4.0)
    assert (states["hub"], states["max_plus_s"]) == (None, None)
    assert {silo for silo, _ in states["critical_circuit"]} <= {"Seoul", "Tokyo", "Sydney", "Oregon"}
    assert "period" in [column.key for column in table.columns]
    assert "one_peer_exponential: periodic, states that follow each other" in " ".join(table.notes.split())
    plain, _ = table_of("ring")
    assert "period" not in [column.key for column in plain.columns]
    assert "period" not in plain.rows[0]


@pytest.mark.parametrize(("bound", "is_highest"), [(False, False), (True, True)])
def test_the_bound_is_the_highest_where_that_is_asked_for(table_of, monkeypatch, bound, is_highest):
    monkeypatch.setattr(study, "lower_bound_s", lambda _graph, _work, *, circuits: 0.02 if circuits else 0.01)
    table, _ = table_of("ring", bound=bound)
    assert table.rows[0]["lower_bound_s"] == (0.02 if is_highest else 0.01)
    assert ("--bound looks for a higher one" in " ".join(table.notes.split())) is not is_highest


@pytest.mark.parametrize(
    ("criterion", "is_highest", "has_real", "has_efold"),
    [
        ("paper", True, False, False),
        ("simulated", False, True, False),
        ("time-to-accuracy", False, False, True),
    ],
)
def test_what_best_minimises_decides_which_bounds_are_told(
    table_of, monkeypatch, criterion, is_highest, has_real, has_efold
):
    ring, _ = table_of("ring")
    designed = study.design_any(OverlayConfig(kind="ring"), *table_inputs(), seed=0)
    monkeypatch.setattr(study, "design_with_bar", lambda *_, **__: designed)
    monkeypatch.setattr(study, "lower_bound_s", lambda _graph, _work, *, circuits: 0.02 if circuits else 0.01)
    monkeypatch.setattr(study, "simulated_bounds_s", lambda _graph, _work, periods: [0.015] * len(periods))
    table, _ = table_of(OverlayConfig(kind="best", options={"criterion": criterion}))
    (row,) = table.rows
    assert row["lower_bound_s"] == (0.02 if is_highest else 0.01)
    assert row["simulated_bound_s"] == (0.015 if has_real else None)
    assert row["efold_s"] == ring.rows[0]["efold_s"]
    notes = " ".join(table.notes.split())
    assert ("a lower bound of it for every static overlay" in notes) is has_real
    assert ("per e-fold:" in notes) is has_efold
    assert row["options"]["criterion"] == criterion


def test_paper_of_other_overlays_is_their_closed_form():
    designed = study.design_any(OverlayConfig(kind="ring"), *table_inputs(), seed=0)
    assert _paper_s(designed, seed=7) == designed.closed_forms.paper_s
    states = study.design_any(OverlayConfig(kind="one_peer_exponential"), *table_inputs(), seed=0)
    assert _paper_s(states, seed=7) == states.closed_forms.paper_s
