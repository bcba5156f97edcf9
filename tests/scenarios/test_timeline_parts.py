"""Which rounds a timeline shows, how rates are known, and what is said of rounds that were simulated again."""

import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from scenarios.report.timeline_plot import _LEAST_ROW_IN, _NAME_ROW_IN, _row_in
from scenarios.studies import timeline
from scenarios.studies.timeline import (
    DEFAULT_ROUNDS,
    _agreement,
    _known_rates,
    _recorded_circuit,
    _rounds,
    _simulated,
    _slow_arcs,
)
from topologies import InputError


def recorded(rounds):
    return SimpleNamespace(kind="ring", simulation=SimpleNamespace(rounds=rounds))


@pytest.mark.parametrize(
    ("there", "asked", "rounds"),
    [
        (1000, None, range(DEFAULT_ROUNDS)),
        (3, None, range(3)),
        (10, slice(None), range(10)),
        (10, slice(4), range(4)),
        (10, slice(0, 10), range(10)),
        (10, slice(9, 10), range(9, 10)),
        (10, slice(9, None), range(9, 10)),
        (10, slice(3, None, 1), range(3, 10)),
    ],
)
def test_rounds_are_the_first_ones_or_those_that_are_asked_for(there, asked, rounds):
    assert _rounds(recorded(there), asked) == rounds


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (slice(3, 8, 2), "must be rounds one after the other"),
        (slice(5, 5), "must be rounds one after the other"),
        (slice(6, 5), "must be rounds one after the other"),
        (
            slice(3, 1001),
            r"rounds\(='3-1000'\) must be rounds from 0 to 999: ring has 1,000 simulated rounds\.",
        ),
        (slice(1000, 1001), r"rounds\(='1000'\) must be rounds from 0 to 999"),
        (slice(1000, 1002), r"rounds\(='1000-1001'\) must be rounds from 0 to 999"),
        (slice(1000, None), r"rounds\(='1000-'\) must be rounds from 0 to 999"),
        (slice(2000, None), r"rounds\(='2000-'\) must be rounds from 0 to 999"),
    ],
)
def test_other_rounds_are_refused(asked, message):
    with pytest.raises(InputError, match=message):
        _rounds(recorded(1000), asked)


@pytest.mark.parametrize(
    ("name", "constant", "on_network", "overlaps", "rates"),
    [
        ("maxmin", False, (), False, "maxmin"),
        ("maxmin", False, (False, False), False, "maxmin"),
        ("maxmin", False, (False, True), False, None),
        ("maxmin", False, (), True, None),
        ("own", False, (), False, None),
        ("equal", True, (True,), True, "constant"),
    ],
)
def test_rates_are_known_where_nothing_changes_them(name, constant, on_network, overlaps, rates):
    model = SimpleNamespace(name=name, constant_rates=constant)
    effects = [SimpleNamespace(on_network=each) for each in on_network]
    assert _known_rates(model, effects, overlaps=overlaps) == rates


def test_rounds_that_were_simulated_again_are_compared_with_the_file():
    again_s = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    same = again_s[:2].copy()
    same[1, 1] = np.nan
    end = "with round starts that are those of the file to the last bit."
    assert _agreement(again_s, again_s, "simpy").endswith(end)
    # The file may hold fewer rounds, and lacks starts of silos that are away.
    assert _agreement(again_s, same, "simpy").endswith(end)
    other = again_s.copy()
    other[1, 0], other[2, 1] = 1.25, 3.875
    assert "simulated again by compiled, but not" in _agreement(again_s, other, "compiled")
    assert _agreement(again_s, other, "simpy").endswith(
        "but not with the round starts of the file, which differ by up to 0.25 s: this is another simulation, as by "
        "another engine or version."
    )


def test_the_critical_circuit_of_a_file_has_silos_and_states():
    with h5py.File("x.h5", "w", driver="core", backing_store=False) as file:
        static, periodic, none = (file.create_group(name) for name in ("static", "periodic", "none"))
        static["critical_circuit"] = np.array([3, 1, 2])
        periodic["critical_circuit"] = np.array([[3, 0], [1, 2]])
        assert _recorded_circuit(static) == ((3, 0), (1, 0), (2, 0))
        assert _recorded_circuit(periodic) == ((3, 0), (1, 2))
        assert _recorded_circuit(none) is None


def test_only_arcs_of_jobs_that_start_slowly_may_do_so():
    assert _slow_arcs(SimpleNamespace(starts_slowly=True, arcs=(1, 2))) == (1, 2)
    assert _slow_arcs(SimpleNamespace(starts_slowly=False, arcs=(1, 2))) == ()


@pytest.mark.parametrize(
    ("events", "engine", "whole", "is_before_end", "lengths"),
    [
        ((), "simpy", 10_000, (True,), "short"),
        ((), "simpy", 10_000, (False, True), "both"),
        ((), "simpy", 30, (False,), "whole"),
        (("away",), "simpy", 10_000, (True,), "whole"),
        ((), "auto", 10_000, (True,), "whole"),
    ],
)
def test_first_rounds_are_those_of_a_shorter_job_that_no_silo_ends(
    monkeypatch, events, engine, whole, is_before_end, lengths
):
    made, ends = [], iter(is_before_end)
    monkeypatch.setattr(timeline, "recorded_job", lambda *_, rounds: made.append(rounds) or rounds)
    monkeypatch.setattr(
        timeline,
        "simulated_window",
        lambda job, _rounds, *, engine, title: ((job, engine, title), next(ends)),
    )
    run = SimpleNamespace(scenario=SimpleNamespace(simulation=SimpleNamespace(events=events)))
    job, window = _simulated(run, recorded(whole), range(10, 20), None, whole=whole, engine=engine)
    short = 40 + timeline._MORE_ROUNDS
    assert made == {"short": [short], "both": [short, whole], "whole": [whole]}[lengths]
    assert (job, window) == (made[-1], (made[-1], engine, "ring"))


@pytest.fixture
def shown(monkeypatch):
    """Timelines of overlays with so many rounds; what is asked for, and their notes."""

    def make(there, /, *, periodic=(), isolated=(), **asked):
        overlays = [
            SimpleNamespace(
                kind=kind, simulation=SimpleNamespace(rounds=count), states=() if kind in periodic else None
            )
            for kind, count in there.items()
        ]
        record = SimpleNamespace(silo_labels=("A", "B"), underlay=None)
        run = SimpleNamespace(record=record, scenario=SimpleNamespace(network=None))
        monkeypatch.setattr(timeline.RecordedRun, "open", lambda _: run)
        part = SimpleNamespace(overlays=overlays)
        monkeypatch.setattr(timeline, "RunPart", SimpleNamespace(of=lambda *_: part))
        monkeypatch.setattr(timeline, "build_network", lambda *_: "graph")
        monkeypatch.setattr(timeline, "open_file", lambda _: nullcontext("file"))

        def show(_run, recorded, window, file, graph, engine):
            assert (file, graph, engine) == ("file", "graph", asked.get("engine"))
            activity = SimpleNamespace(is_isolated=np.array([False, recorded.kind in isolated]))
            return timeline.Shown(
                timeline=SimpleNamespace(kind=recorded.kind, rounds=window, activity=activity),
                place="",
                simulated_again=False,
                engine="",
                notes=(f"of {recorded.kind}",),
            )

        monkeypatch.setattr(timeline, "_shown", show)
        found = timeline.timelines(Path("run.h5"), **asked)
        return {each.timeline.kind: (each.timeline.rounds, each.notes) for each in found}

    return make


def test_what_timelines_mean_is_said_once_below_the_last(shown):
    explained = timeline.EXPLANATION
    assert shown({"ring": 3, "star": 9}) == {
        "ring": (range(3), ("of ring",)),
        "star": (range(6), ("of star", explained)),
    }
    assert shown({"ring": 3, "star": 9}, rounds=slice(1, 3), engine="simpy")["star"][0] == range(1, 3)
    notes = shown({"ring": 3, "star": 0, "mst": 0}, periodic=("ring",), isolated=("ring",))["ring"][1]
    assert notes == ("of ring", "not simulated: star, mst.", explained, timeline.PERIODIC, timeline.ALONE)
    # Below the last, though only another one is periodic and has a silo that nobody sends to.
    notes = shown({"ring": 3, "star": 9}, periodic=("ring",), isolated=("ring",))["star"][1]
    assert notes == ("of star", explained, timeline.PERIODIC, timeline.ALONE)
    assert shown({"ring": 3}, periodic=("ring",))["ring"][1] == ("of ring", explained, timeline.PERIODIC)
    assert shown({"ring": 3}, isolated=("ring",))["ring"][1] == ("of ring", explained, timeline.ALONE)


def test_overlays_that_were_not_simulated_have_no_timeline(shown):
    with pytest.raises(InputError, match=r"^run\.h5: has no simulated rounds\.$"):
        shown({"ring": 0})
    with pytest.raises(InputError, match=r"^run\.h5: has no simulated rounds of star\.$"):
        shown({"ring": 3, "star": 0}, overlay=["ring", "star"])


@pytest.mark.parametrize(("most_rows", "is_refused"), [(None, False), (4, False), (3, True)])
def test_a_figure_has_room_for_so_many_rows(shown, most_rows, is_refused):
    if is_refused:
        with pytest.raises(
            InputError, match="a figure has room for 3 rows, not for the 2 silos of 2 overlays; choose"
        ):
            shown({"ring": 3, "star": 3, "mst": 0}, most_rows=most_rows)
    else:
        assert len(shown({"ring": 3, "star": 3, "mst": 0}, most_rows=most_rows)) == 2


def test_only_figures_have_a_limit_of_rows():
    assert timeline._most_rows(Path("x.json")) is timeline._most_rows(Path("x.csv")) is None
    assert timeline._most_rows(Path("x.PNG")) == timeline._most_rows(Path("x.svg")) > 0


def test_the_page_says_how_many_rows_have_names_labels_and_room():
    page = Path(__file__).parents[2] / "docs" / "howto" / "data_out.md"
    words = " ".join(page.read_text(encoding="utf-8").split())
    (said,) = re.findall(
        r"more than (\d+) rows .* more than (\d+) not every row .* has (\d+) rows at most", words
    )
    named, labelled, most = map(int, said)
    assert timeline._most_rows(Path("x.png")) == most
    for rows, least_in in ((named, _NAME_ROW_IN), (labelled, _LEAST_ROW_IN)):
        assert _row_in(rows) >= least_in > _row_in(rows + 1)
