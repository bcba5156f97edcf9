"""What tables of simulations and validations say of estimates, periods, windows and speeds, each by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from scenarios.config.events.window import Window
from scenarios.simulation import windows
from scenarios.simulation.windows import disturbed_note, few_rounds_note, means_note, presence_note
from scenarios.studies import simulate as study
from scenarios.studies.simulate import (
    _busiest,
    _marks,
    _narrow_enough,
    _paired_note,
    _percent_note,
    _shows_period,
    _speed_note,
    _too_wide,
)
from scenarios.validation import table
from scenarios.validation.table import (
    _differences,
    _estimate,
    _estimates,
    _estimates_note,
    _event_kind_notes,
    _mean_of,
    _unexplained,
)
from simulator import SteadyState

PLAIN = Window(first_round=1000, last_round=2999, from_s=1.0, until_s=241.0)


def window(**changes):
    given = {name: getattr(PLAIN, name) for name in ("first_round", "last_round", "from_s", "until_s")}
    return Window(**given | changes)


def test_an_estimate_is_the_mean_over_rounds_and_dates_that_are_named():
    assert means_note({"ring": None}) == []
    assert means_note({"ring": PLAIN, "star": None, "mst": window(first_round=5)}) == [
        "Without a period, a cycle time is a mean: ring, rounds 1,000 to 2,999 (1.000 s to 4.017 min); mst, rounds 5 "
        "to 2,999 (1.000 s to 4.017 min)."
    ]


def test_rounds_that_are_too_few_for_a_period_or_for_the_lags_are_said():
    assert few_rounds_note({"ring": None, "star": PLAIN}) == []
    period = window(lacked_period=1200)
    assert few_rounds_note({"a": period, "b": window(lacked_period=0), "c": PLAIN}) == [
        "Fewer rounds than two periods, so that the mean is of a part of one, or of the first: a, 1,200 rounds a "
        "period; b, 0 rounds a period."
    ]
    assert few_rounds_note({"a": window(waits_from=3000), "b": window(waits_from=0)}) == [
        "Messages of the longest lag are awaited only after these rounds, whose mean is no cycle time of a long job: "
        "a, from round 3,000 on; b, from round 0 on."
    ]
    assert len(few_rounds_note({"a": period, "b": window(waits_from=3)})) == 2
    assert len(means_note({"a": window(lacked_period=2, waits_from=3, throughout=2)})) == 4


def test_which_silos_count_where_some_are_away_is_said():
    assert presence_note({"ring": None, "star": PLAIN}) == []
    assert presence_note({"a": window(throughout=1), "b": window(throughout=3), "c": PLAIN}) == [
        "Where silos are away, the last start counts of those that are there throughout: a, 1 silo; b, 3 silos."
    ]
    assert presence_note({"a": window(asked=(1000, 2500)), "b": None}) == [
        "No silo is there throughout: a, rounds 1,000 to 2,500, of which the longest part counts in which one is."
    ]
    assert len(presence_note({"a": window(asked=(0, 5)), "b": window(throughout=2)})) == 2


def test_overlays_whose_rounds_are_disturbed_are_named():
    assert disturbed_note([]) == []
    (note,) = disturbed_note(["ring", "mst"])
    assert note.startswith("~ ring, mst: most rounds start after a silo has ended the job")


@pytest.mark.parametrize(
    ("period_s", "computing_rounds", "is_shown"),
    [(None, None, False), (None, 2, False), (1.5, None, False), (1.5, 1, False), (3.0, 2, True)],
)
def test_a_period_of_one_round_is_not_told(period_s, computing_rounds, is_shown):
    steady = SimpleNamespace(period_s=period_s, computing_rounds=computing_rounds)
    assert _shows_period(steady) is is_shown


def outcome(kind="ring", *, half_width_s=0.0, period=None):
    steady = SimpleNamespace(cycle_time_s=2.0, period_s=period, computing_rounds=period and 2)
    return SimpleNamespace(kind=kind, half_width_s=half_width_s, steady=steady, starts=kind)


@pytest.mark.parametrize(
    ("until_ci", "half_width_s", "is_narrow"),
    [
        (None, 0.0, None),
        ("10 %", 0.2, True),
        ("10 %", 0.21, False),
        ("10 %", None, False),
        ("10 %", 0.0, True),
    ],
)
def test_an_interval_is_as_narrow_as_a_share_of_the_cycle_time(until_ci, half_width_s, is_narrow):
    assert _narrow_enough(outcome(half_width_s=half_width_s), until_ci) is is_narrow


def test_overlays_whose_interval_stayed_too_wide_are_named():
    rows = [
        {"overlay": name, "narrow_enough": is_narrow}
        for name, is_narrow in (("a", True), ("b", False), ("c", None), ("d", False))
    ]
    assert _too_wide(rows, "1 %") == ["Not as narrow as 1 %, it needs more rounds: b, d."]
    assert _too_wide(rows[:1], "1 %") == _too_wide(rows[2:3], None) == []


def test_signs_are_explained_where_they_are_shown(monkeypatch):
    monkeypatch.setattr(
        study, "_rounds_needed", lambda kind, silos: {"few": 1000, "many": 2000, "more": 1000}[kind] * silos
    )
    period, interval = outcome(period=4.0), outcome(half_width_s=0.1)
    assert _marks([outcome()], 2) == []
    assert _marks([outcome(), period], 2) == ["= : the exact period."]
    assert _marks([outcome(), interval], 2) == ["+-: 95 % confidence by batch means."]
    few, many, more = (outcome(kind, half_width_s=None) for kind in ("few", "many", "more"))
    start = "~: an estimate; too few rounds for an interval (2 silos:"
    assert _marks([few, more], 2) == [f"{start} 2,000 before one has ended)."]
    assert _marks([few, many], 2) == [f"{start} few, 2,000; many, 4,000 before one has ended)."]
    assert len(_marks([period, interval, few], 2)) == 3


def test_links_that_carry_nothing_are_not_the_busiest():
    row = {"busiest_link_1": "A - B", "utilisation_1": 0.5, "busiest_link_2": "B - C", "utilisation_2": 0.0}
    assert _busiest(row) == "A - B 50.0 %"
    assert _busiest(row | {"utilisation_2": 0.123}) == "A - B 50.0 %, B - C 12.3 %"
    assert _busiest({}) == _busiest({"busiest_link_1": "A - B", "utilisation_1": 0.0}) == "none"


def test_what_the_percent_of_a_link_is_of():
    base = "A link's percent: the bits of this job over those that the link could carry in the simulated time"
    down = SimpleNamespace(capacity_note="0 while it is down", traffic_note="")
    trace = SimpleNamespace(capacity_note="that of its trace", traffic_note="")
    traffic = SimpleNamespace(capacity_note="", traffic_note="traffic is not counted")
    other = SimpleNamespace(capacity_note="", traffic_note="")
    for kinds, more in (
        ((), ""),
        ((other,), ""),
        ((down,), "; the capacity is 0 while it is down"),
        ((down, other, trace), "; the capacity is 0 while it is down and that of its trace"),
        ((traffic, down), "; the capacity is 0 while it is down; traffic is not counted"),
    ):
        assert _percent_note(SimpleNamespace(kinds=kinds)) == f"{base}{more}."


def paired(overlay, first, last):
    known = None if first is None else 0.25
    return {
        "overlay": overlay,
        "difference_s": known,
        "difference_first_round": first,
        "difference_last_round": last,
    }


def test_differences_name_the_rounds_that_they_are_over():
    none, ring, mst, star = (
        paired("a", None, None),
        paired("ring", 1000, 2000),
        paired("mst", 1000, 2000),
        paired("star", 5, 9),
    )
    start = (
        "minus: difference of cycle times on the same computing times, over the rounds that both ran, without the "
        "warm-up:"
    )
    assert _paired_note([none]) == []
    assert _paired_note([none, ring, mst]) == [f"{start} rounds 1,000 to 2,000."]
    assert _paired_note([none, ring, star]) == [f"{start} ring, rounds 1,000 to 2,000; star, rounds 5 to 9."]


def test_the_speed_is_a_span_of_three_digits():
    assert _speed_note([{"messages_per_s": 123456.0}]) == "Speed: 123,000 models per second on this machine."
    rows = [{"messages_per_s": speed} for speed in (2000.0, 1000.0, 3000.0)]
    assert _speed_note(rows) == "Speed: 1,000 to 3,000 models per second on this machine."
    assert _speed_note([{"messages_per_s": 1000.1}, {"messages_per_s": 1000.2}]).startswith(
        "Speed: 1,000 models"
    )


def simulated(**changes):
    given = {
        "is_exact": False,
        "half_width_s": 0.02,
        "cycle_time_s": 2.0,
        "first_round": 100,
        "rounds": 200,
        "asked": None,
        "counts_disturbed": False,
    }
    return SimpleNamespace(**given | changes)


def test_estimates_of_a_validation_have_their_interval_and_rounds():
    assert _estimate(simulated()) == "2.000 s +- 1 % with 95 % confidence, by batch means"
    assert _estimate(simulated(half_width_s=None)) == "2.000 s, an estimate: too few rounds for an interval"
    assert _mean_of(simulated()) == "mean of 200 rounds after a warm-up of 100"
    assert _mean_of(simulated(asked=(0, 9), rounds=2)) == "mean of rounds 100 to 101"
    ring = SimpleNamespace(kind="ring")
    exact = simulated(is_exact=True)
    both = SimpleNamespace(overlay=ring, equal=simulated(half_width_s=None), maxmin=simulated())
    assert _estimates(both) == [
        "~ ring: equal shows no period; 2.000 s, an estimate: too few rounds for an interval (mean of 200 rounds after "
        "a warm-up of 100).",
        "~ ring: maxmin shows no period; 2.000 s +- 1 % with 95 % confidence, by batch means (mean of 200 rounds after "
        "a warm-up of 100).",
    ]
    assert _estimates(SimpleNamespace(overlay=ring, equal=exact, maxmin=exact)) == []
    (one,) = _estimates(SimpleNamespace(overlay=ring, equal=exact, maxmin=simulated()))
    assert one.startswith("~ ring: maxmin shows")


@pytest.mark.parametrize(
    ("equal", "maxmin", "is_told"), [(True, True, False), (False, True, True), (True, False, True)]
)
def test_what_a_tilde_means_is_said_where_one_is_shown(equal, maxmin, is_told):
    rows = [
        {"equal_is_exact": True, "maxmin_is_exact": True},
        {"equal_is_exact": equal, "maxmin_is_exact": maxmin},
    ]
    note = "~: an estimate, as no period shows; so is what is over paper."
    assert _estimates_note(rows) == [note] * is_told


def test_what_closed_forms_do_not_model_is_said():
    def kind(name, on_network=False, note=""):
        return SimpleNamespace(table=name, on_network=on_network, closed_forms_note=note)

    kinds = (kind("failure", True), kind("away", note="Absences are not in them."), kind("background", True))

    def notes(kinds, compute):
        return _event_kind_notes(SimpleNamespace(simulation=SimpleNamespace(kinds=kinds, compute=compute)))

    compute = "Closed forms take the workload's constant computing time."
    assert notes((), None) == []
    assert notes((), object()) == [compute]
    assert notes(kinds, object()) == [
        "Closed forms and equal know nothing of failure, background.",
        compute,
        "Absences are not in them.",
    ]
    assert notes(kinds[1:2], None) == ["Absences are not in them."]


def test_differences_of_a_validation_are_to_its_first_overlay(monkeypatch):
    monkeypatch.setattr(table, "paired_window", lambda one, first: window(first_round=one, last_round=first))
    results = [
        SimpleNamespace(
            overlay=SimpleNamespace(kind=kind),
            starts=place,
            difference=mean_s and SimpleNamespace(mean=mean_s, half_width=0.125),
            randomized_attribution=None,
        )
        for place, (kind, mean_s) in enumerate((("star", 9.0), ("ring", -0.5), ("mst", None), ("tree", 0.25)))
    ]
    on_the_same = "maxmin on the same computing times:"
    assert _differences(results) == [
        f"ring minus star, {on_the_same} -500.0 ms +- 125.0 ms a round (95 %, paired, over rounds 1 to 0, which both "
        "ran).",
        f"tree minus star, {on_the_same} +250.0 ms +- 125.0 ms a round (95 %, paired, over rounds 3 to 0, which both "
        "ran).",
    ]
    assert _unexplained(results) == []
    results[1].randomized_attribution = results[3].randomized_attribution = object()
    assert _unexplained(results)[0].startswith("ring, tree: no parts arc by arc:")


@pytest.fixture
def row_of(monkeypatch):
    """The row of an overlay of four links, with its window and its difference from the first one."""

    def make(*, window_=None, first=None, difference=None, both=None, used=(0.25, 0.5, 0.0, 0.5)):
        monkeypatch.setattr(study, "estimate_window", lambda _: window_)
        pairs = []
        monkeypatch.setattr(
            study, "paired_difference", lambda *pair, silos: pairs.append((pair, silos)) or difference
        )
        monkeypatch.setattr(study, "paired_window", lambda *pair: pairs.append((pair, 3)) or both)
        monkeypatch.setattr(study, "mean_capacity_bps", lambda _graph, _simulation, until_s: until_s)
        monkeypatch.setattr(
            study, "utilisation", lambda *given: np.array(used) if given == ("bits", 8.0, 8.0) else None
        )
        steady = SteadyState(
            cycle_time_s=2.0, is_exact=True, period_rounds=2, period_s=4.0, transient_rounds=5
        )
        outcome = SimpleNamespace(
            kind="ring",
            steady=steady,
            interval=None,
            half_width_s=0.0,
            rounds=40,
            engine="simpy",
            now_s=8.0,
            messages=500,
            wall_s=2.0,
            link_bits="bits",
            starts="own",
        )
        graph = SimpleNamespace(silos=3, link_name=lambda link: f"link {link}")
        experiment = SimpleNamespace(simulation=SimpleNamespace(until_ci=None))
        before = first and SimpleNamespace(starts=first)
        row = study._row(experiment, SimpleNamespace(graph=graph), outcome, before)
        assert pairs == [(("own", first), 3)] * (2 if first else 0)
        return row

    return make


def test_a_row_of_an_exact_simulation_has_its_period_and_busiest_links(row_of):
    row = row_of()
    assert (row["overlay"], row["simulated"], row["simulated_s"]) == (
        "ring",
        "2.000 s = 4.000 s / 2 rounds",
        2.0,
    )
    assert (row["period_s"], row["period_rounds"], row["transient_rounds"]) == (4.0, 2, 5)
    assert (row["messages"], row["messages_per_s"], row["rounds"], row["end_s"]) == (500, 250.0, 40, 8.0)
    # Of equal ones the first.
    links = [(row[f"busiest_link_{n}"], row[f"utilisation_{n}"]) for n in (1, 2, 3)]
    assert links == [("link 1", 0.5), ("link 3", 0.5), ("link 0", 0.25)]
    assert "busiest_link_4" not in row
    assert row["narrow_enough"] is row["first_round"] is row["last_round"] is None
    names = (
        "difference",
        "difference_s",
        "difference_half_width_s",
        "difference_first_round",
        "difference_last_round",
    )
    assert {row[name] for name in names} == {None}


def test_a_row_beside_the_first_one_has_the_difference_and_its_rounds(row_of):
    found = SimpleNamespace(mean=0.5, half_width=0.125)
    row = row_of(window_=PLAIN, first="first", difference=found, both=window(first_round=7, last_round=9))
    assert (row["first_round"], row["last_round"]) == (1000, 2999)
    assert (row["difference"], row["difference_s"]) == ("+500.0 ms +- 125.0 ms", 0.5)
    assert (row["difference_half_width_s"], row["difference_first_round"], row["difference_last_round"]) == (
        0.125,
        7,
        9,
    )
    # Too few rounds for a difference.
    few = row_of(first="first")
    assert few["difference"] is few["difference_s"] is few["difference_first_round"] is None


def test_an_exact_cycle_time_and_too_few_rounds_have_no_window(monkeypatch):
    monkeypatch.setattr(windows.Window, "of", lambda counted: f"window of {counted}")
    assert windows.estimate_window(SimpleNamespace(estimate=None)) is None
    assert (
        windows.estimate_window(SimpleNamespace(estimate=SimpleNamespace(counted="rounds")))
        == "window of rounds"
    )
    found = ["first", "second"]
    monkeypatch.setattr(
        windows, "interval_rounds", lambda pair, silos: found if (pair, silos) == (["a", "b"], 7) else None
    )
    a, b = (type("Starts", (str,), {"presence": SimpleNamespace(silos=7)})(name) for name in "ab")
    assert windows.paired_window(a, b) == "window of first"
    assert windows.paired_window(b, a) is None


def test_events_count_in_the_rounds_of_estimates(monkeypatch):
    monkeypatch.setattr(table, "events_note", lambda simulation, windows: (simulation, windows))
    results = [
        SimpleNamespace(
            overlay=SimpleNamespace(kind=kind), maxmin=SimpleNamespace(is_exact=is_exact), window=f"of {kind}"
        )
        for kind, is_exact in (("ring", True), ("star", False))
    ]
    found = table._events(SimpleNamespace(simulation="settings"), results)
    assert found == ("settings", {"ring": None, "star": "of star"})
