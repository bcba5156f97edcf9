"""Timelines of runs: tables, figures, rounds that are read or simulated again, and errors in one line."""

import json
import shutil
from itertools import pairwise

import h5py
import matplotlib.text
import numpy as np
import pytest
from edited_run import edited
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from timeline_runs import EVENTS, HEAD, write_run

import silosim as package
from scenarios.report.figure_style import FigureStyle
from scenarios.report.timeline_plot import _label_rows, _row_in
from scenarios.runfile.paths import partial_path
from scenarios.runfile.reader import read_run
from scenarios.studies import timeline as study
from scenarios.studies.timeline import timelines
from topologies import InputError

pytestmark = pytest.mark.usefixtures("compiled_simulations")

KEPT = "to the last bit"
SIMULATIONS = {
    "max-min": "",
    "overlap": 'queueing = "overlap"\n',
    "equal": 'sharing = "equal"\n',
    "compiled": 'engine = "compiled"\n',
    "lognormal": 'compute = { distribution = "lognormal", cv = 0.5 }\n',
    "events": 'compute = { distribution = "exponential" }\n' + EVENTS,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of star, ring and MATCHA with its messages; not to be changed."""
    return write_run(tmp_path_factory.mktemp("timeline") / "run.h5")


def copy_of(run, tmp_path):
    return shutil.copy(run, tmp_path / "copy.h5")


def text_of(table):
    return " ".join(str(table).split())


def slow_head(keys):
    return HEAD.replace("[workload]", f"{keys}\n\n[workload]")


@pytest.mark.parametrize("keys", ['slow_start = "idle"', 'slow_start = "always"', 'preset = "tcp"'])
@pytest.mark.parametrize("messages", [False, True], ids=["again", "kept"])
def test_slow_start_is_neither_sending_nor_computing(tmp_path, keys, messages):
    kinds = ("ring", "matcha")
    path = write_run(tmp_path / "slow.h5", kinds=kinds, rounds=6, messages=messages, head=slow_head(keys))
    for rounds in (slice(0, 2), slice(3, 6)):
        for shown in timelines(path, rounds=rounds):
            timeline = shown.timeline
            # A ring's arcs start slowly in the first round: links are taken after computing, not at its end.
            computed_s = timeline.activity.start_s + timeline.activity.compute_s
            own = (timeline.sent.round == 0) & (timeline.rounds.start == 0)
            source = timeline.source[timeline.sent.arc[own]]
            assert (timeline.sent.start_s[own] > computed_s[0, source] + 1e-3).all()
            for silo in range(len(timeline.labels)):
                times = timeline.silo_times(silo)
                assert times.computing_s + times.waiting_s == pytest.approx(times.span_s, rel=1e-9)


# What is shared equally or by another engine is simulated again as it was; computing times vary with the events.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in {"equal", "compiled", "lognormal"} else [])
        for name in SIMULATIONS
    ],
)
def test_rounds_simulated_again_are_those_with_messages_in_the_file(tmp_path, name):
    kept = write_run(tmp_path / "kept.h5", more=SIMULATIONS[name])
    lost = write_run(tmp_path / "lost.h5", more=SIMULATIONS[name], messages=False)
    for rounds in (slice(1, 6), slice(10, 12)):
        for one, other in zip(timelines(kept, rounds=rounds), timelines(lost, rounds=rounds), strict=True):
            assert not one.simulated_again
            assert other.simulated_again
            assert KEPT in " ".join(other.notes)
            a, b = one.timeline, other.timeline
            assert [a.kind, a.begin_s, a.end_s] == [b.kind, b.begin_s, b.end_s]
            for field in ("start_s", "compute_s", "next_start_s", "is_away", "last_arc"):
                np.testing.assert_array_equal(getattr(a.activity, field), getattr(b.activity, field))
            for field in ("round", "start_s", "last_bit_s", "arrival_s", "bound_link"):
                np.testing.assert_array_equal(getattr(a.sent, field), getattr(b.sent, field))
            np.testing.assert_array_equal(a.source[a.sent.arc], b.source[b.sent.arc])
            assert one.table.rows == other.table.rows


@pytest.mark.parametrize("name", ["events"])
def test_a_window_has_all_messages_that_are_under_way_in_it(tmp_path, name):
    path = write_run(tmp_path / "run.h5", more=SIMULATIONS[name])
    for shown in timelines(path, rounds=slice(3, 6)):
        assert repr(shown.timeline) == f"OverlayTimeline({shown.timeline.kind!r}, rounds 3 to 5)"
        timeline, messages = shown.timeline, package.open_run(path).messages(overlay=shown.timeline.kind)
        own = messages[(messages["start_s"] < timeline.end_s) & (messages["arrival_s"] > timeline.begin_s)]
        assert len(timeline.sent) == len(own) > len(messages[messages["round"].between(3, 5)]) - 1
        np.testing.assert_array_equal(np.sort(timeline.sent.start_s), np.sort(own["start_s"]))


def test_the_times_of_a_silo_are_its_span_and_those_of_the_tables_of_the_run(run):
    record = package.open_run(run)
    for table in package.timeline(run, rounds=slice(2, 8)):
        kind = table.further["overlay"]
        rounds = record.rounds(overlay=kind, rounds=slice(2, 8))
        messages = record.messages(overlay=kind, rounds=slice(2, 8))
        assert [row["silo"] for row in table.rows] == list(record.silo_labels)
        for row in table.rows:
            own = rounds[rounds["silo"] == row["silo"]]
            assert row["begin_s"] == own["start_s"].min()
            assert row["end_s"] == own["next_start_s"].max()
            assert row["computing_s"] == pytest.approx(6 * 0.2, rel=1e-12)
            assert row["computing_s"] + row["waiting_s"] == pytest.approx(
                row["end_s"] - row["begin_s"], rel=1e-12
            )
            assert row["waiting_share"] == pytest.approx(1 - row["computing_share"], rel=1e-12)
            last = (
                messages[messages["target"] == row["silo"]].sort_values("arrival_s").groupby("round").last()
            )
            done_s = own.set_index("round")["start_s"] + 0.2
            waited_s = (last["arrival_s"] - done_s).groupby(last["source"]).sum()
            assert row["waits_most_s"] == pytest.approx(waited_s.max(), rel=1e-9)
            assert waited_s[row["waits_most_for"]] == pytest.approx(waited_s.max(), rel=1e-9)


def test_sending_is_the_time_in_which_the_uplink_is_busy(run):
    (table,) = package.timeline(run, rounds=slice(0, 12), overlay="ring")
    messages = package.open_run(run).messages(overlay="ring")
    for row in table.rows:
        own = messages[messages["source"] == row["silo"]]
        # A ring has one out-arc, on which models follow one another.
        assert row["sending_s"] == pytest.approx((own["last_bit_s"] - own["start_s"]).sum(), rel=1e-9)


def test_only_the_rounds_that_are_asked_for_are_read(tmp_path, monkeypatch):
    path, read = write_run(tmp_path / "run.h5", kinds=["ring"], rounds=2000), []
    get = h5py.Dataset.__getitem__

    def note(dataset, place, *more):
        if dataset.shape and dataset.shape[0] >= 2000:
            read.append(place.stop - place.start)
        return get(dataset, place, *more)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", note)
    (shown,) = timelines(path, rounds=slice(1000, 1006))

    assert shown.timeline.rounds == range(1000, 1006)
    assert 0 < max(read) < 100


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_short_simulation_gives_way_to_the_whole_one_where_its_end_is_felt(tmp_path, monkeypatch, engine):
    path = write_run(
        tmp_path / "run.h5", kinds=["matcha"], rounds=120, messages=False, more=f'engine = "{engine}"\n'
    )
    made, again = [], study.recorded_job
    monkeypatch.setattr(study, "_MORE_ROUNDS", 0)
    monkeypatch.setattr(
        study, "recorded_job", lambda *given, rounds: made.append(rounds) or again(*given, rounds=rounds)
    )
    for rounds, lengths in ((slice(0, 1), [2, 120]), (slice(40, 50), [100])):
        made.clear()
        (shown,) = timelines(path, rounds=rounds, overlay="matcha")
        assert KEPT in " ".join(shown.notes)
        assert made == lengths


def test_another_simulation_is_said(tmp_path):
    path = write_run(tmp_path / "run.h5", messages=False)
    with edited(path) as file:
        file["simulation/ring/round_start_s"][1:, :] += 0.125
    (table,) = package.timeline(path, overlay="ring")
    assert "but not with the round starts of the file, which differ by up to 0.125 s" in text_of(table)
    # All rounds that are shown are compared, to the end of the last one.
    with edited(path) as file:
        file["simulation/ring/round_start_s"][1:, :] -= 0.125
        file["simulation/ring/round_start_s"][3, 0] += 0.5
    for stop, is_another in ((2, False), (3, True)):
        (table,) = package.timeline(path, overlay="ring", rounds=slice(0, stop))
        assert ("which differ by up to 0.5 s" in text_of(table)) is is_another


@pytest.mark.parametrize("compute_s", [0.1, 0.3])
def test_computing_times_of_another_scenario_are_an_error(run, tmp_path, compute_s):
    path = copy_of(run, tmp_path)
    with edited(path) as file:
        file["workload"].attrs["compute_s"] = compute_s
    for overlay in ("star", "ring", "matcha"):
        with pytest.raises(
            InputError, match=f"{overlay}: round starts and messages do not follow from the computing"
        ):
            package.timeline(path, overlay=overlay)


def test_the_last_round_of_a_simulation_that_was_cut_short_ends_with_its_arrivals(run, tmp_path):
    path = partial_path(tmp_path / "run.h5")
    shutil.copy(run, path)
    with edited(path) as file:
        for kind, rounds in (("star", 12), ("ring", 7), ("matcha", 0)):
            group = file[f"simulation/{kind}"]
            group.attrs.modify("rounds", rounds)
            group.attrs.modify("cycle_time_s", np.nan)
            group["round_start_s"][rounds + 1 :] = np.nan
            if rounds < 12:
                group["round_start_s"][rounds] = np.nan
    whole = timelines(run, rounds=slice(5, 7))
    for one, other in zip(timelines(path, rounds=slice(5, 7)), whole, strict=False):
        np.testing.assert_array_equal(
            one.timeline.activity.next_start_s, other.timeline.activity.next_start_s
        )
        assert one.timeline.end_s == other.timeline.end_s
    assert "not simulated: matcha." in text_of(package.timeline(path, rounds=slice(0, 2))[-1])
    with pytest.raises(InputError, match=r"has no simulated rounds of matcha\."):
        package.timeline(path, overlay=["ring", "matcha"])


def test_a_silo_that_is_away_is_said_to_be(tmp_path, drawn):
    path = write_run(tmp_path / "run.h5", kinds=["ring"], more=EVENTS)
    (table,) = package.timeline(path, rounds=slice(0, 8), output=tmp_path / "away.png")
    assert "away" in [text.get_text() for text in drawn[0].legends[0].get_texts()]
    rows = {row["silo"]: row for row in table.rows}

    assert "away" in str(table).splitlines()[2]
    assert [silo for silo, row in rows.items() if row["away_s"] > 0] == ["Tokyo"]
    for row in rows.values():
        spent_s = row["computing_s"] + row["waiting_s"] + row["away_s"]
        assert spent_s == pytest.approx(row["end_s"] - row["begin_s"], rel=1e-12)
    # Dublin computes for 5 s longer in round 4, in which the others wait for it.
    assert rows["Dublin"]["computing_s"] == pytest.approx(8 * 0.2 + 5)
    # In rounds of which it misses all, Tokyo is away from their first start to their last end.
    (table,) = package.timeline(path, rounds=slice(2, 4))
    tokyo = next(row for row in table.rows if row["silo"] == "Tokyo")
    assert tokyo["away_share"] == 1
    assert table.further["begin_s"] <= tokyo["begin_s"] < tokyo["end_s"] == table.further["end_s"]


def test_an_imported_run_was_simulated_like_others(imported_run):
    tables = package.timeline(imported_run, rounds=slice(4, 9))
    assert [table.further["overlay"] for table in tables] == ["star", "ring", "matcha"]
    assert all(KEPT in text_of(table) for table in tables)


def test_a_replay_has_the_timeline_of_its_own_network(imported_run, tmp_path):
    package.replay(imported_run, tmp_path / "slow.h5", access="1 Mbps")
    (fast,) = package.timeline(imported_run, overlay="ring")
    (slow,) = package.timeline(tmp_path / "slow.h5", overlay="ring")
    assert KEPT in text_of(slow)
    # A model of 1 Mbit takes 1 s instead of 10 ms.
    assert slow.further["end_s"] > 6.0 > 3 * fast.further["end_s"]


def test_a_run_of_one_silo(tmp_path, drawn):
    head = HEAD.replace('"gaia"', '"gaia"\nsilo_at = ["Tokyo"]')
    path = write_run(tmp_path / "run.h5", kinds=["star"], rounds=5, head=head)
    (table,) = package.timeline(path, output=tmp_path / "one.png")

    (row,) = table.rows
    assert (row["silo"], row["computing_share"], row["waits_most_for"]) == ("Tokyo", 1.0, None)
    assert labels(drawn[0].axes[0]) == ["Tokyo"]


# The command


def test_the_command_prints_a_table_for_each_overlay_and_says_once_what_it_means(run, silosim):
    result = silosim("timeline", run).ok()
    heads = [line for line in result.out.splitlines() if ", rounds 0 to 5: 0 s to " in line]
    assert [head.split(",")[0] for head in heads] == ["star", "ring", "matcha"]
    assert result.out.count("then it waits until") == 1
    assert "critical circuit (paper): Sao Paulo -> Seoul -> Sao Paulo." in result.out
    found = json.loads(silosim("timeline", run, "--rounds", "3", "--overlay", "ring", "--json").ok().out)
    assert (found["first_round"], found["last_round"], found["simulated_again"]) == (3, 3, False)
    assert len(found["rows"]) == 11


@pytest.mark.parametrize("ending", [".png", ".json", ".csv"])
def test_the_ending_chooses_what_is_written(run, silosim, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    result = silosim("timeline", run, "--rounds", "0-1", "--overlay", "ring", "-o", path).ok()
    assert f"written: {path}" in result.err
    assert path.stat().st_size > 500
    assert (
        f"{path} exists already; --force replaces it." in silosim("timeline", run, "-o", path).failed(2).err
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--rounds", "10-12"],
            "rounds(='10-12') must be rounds from 0 to 11: star has 12 simulated rounds.",
        ),
        (["--rounds", "12"], "rounds(='12') must be rounds from 0 to 11: star has 12 simulated rounds."),
        (["--rounds", "90-"], "rounds(='90-') must be rounds from 0 to 11: star has 12 simulated rounds."),
        (["--rounds", "5-3"], "rounds(='5-3') must be FIRST-LAST"),
        (["--overlay", "mst"], "overlay(='mst') must be one of"),
        (["-o", "x.json", "--width", "7in"], "width(='7in') goes with a figure, and none is drawn."),
        (["-o", "x.h5"], "output(='x.h5') must end in one of .png, .svg, .pdf, .csv, .json"),
    ],
)
def test_what_cannot_be_shown_is_an_error_of_one_line(run, silosim, options, message):
    result = silosim("timeline", run, *options).failed(2)
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_rounds_without_an_end_are_all_that_follow(run, silosim):
    shown = silosim("timeline", run, "--rounds", "9-", "--overlay", "ring", "--json").ok().out
    same = silosim("timeline", run, "--rounds", "9-11", "--overlay", "ring", "--json").ok().out
    assert json.loads(shown) == json.loads(same)
    assert timelines(run, rounds=slice(11, None), overlay="ring")[0].timeline.rounds == range(11, 12)
    with pytest.raises(InputError, match=r"^rounds\(='12-'\) must be rounds from 0 to 11"):
        timelines(run, rounds=slice(12, None))


def test_files_of_another_kind(silosim, tmp_path):
    (tmp_path / "study.csv").write_text("overlay,paper_s\nring,1.0\n")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    for name, message in (
        ("study.csv", "is not an HDF5 file."),
        ("other.h5", "is an HDF5 file, but none of silosim's: it has no schema, must have 'silosim-run/1'."),
        ("none.h5", "there is no such file."),
    ):
        path = tmp_path / name
        assert f"{path}: {message}" in silosim("timeline", path).failed(2).err


# The figure


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved, laid out."""
    figures = []

    def keep(figure, _path):
        figure.draw_without_rendering()
        figures.append(figure)

    monkeypatch.setattr("scenarios.report.timeline_plot.save_figure", keep)
    return figures


def labels(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


def test_the_critical_circuit_is_on_top_in_its_order(run, tmp_path, drawn):
    package.timeline(run, output=tmp_path / "x.png")
    star, ring, matcha = drawn[0].axes
    record = read_run(run)

    assert labels(star)[:2] == ["Sao Paulo", "Seoul"]
    assert sorted(labels(ring)) == sorted(record.silo_labels) != labels(ring)
    assert labels(matcha) == list(record.silo_labels)
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == [
        "computes",
        "sends",
        "receives",
        "round starts",
        "name: it waits for",
        "critical circuit (paper)",
    ]
    assert star.get_xlabel() == "simulated time (s)"
    (table,) = package.timeline(run, overlay="ring")
    circuit = table.further["critical_circuit"]
    assert labels(ring)[: len(circuit)] == circuit
    # Each waits for the one before it on the ring; all gaps have room for a name.
    names = [text.get_text() for text in ring.texts]
    assert sorted(names) == sorted(6 * circuit)


@pytest.mark.parametrize("width_in", [3.0, 7.0, 14.0])
@pytest.mark.parametrize("silos", [1, 40, 87, 110, 140, 141, 350])
def test_letters_are_6_pt_or_more_and_labels_apart(silos, width_in):
    style, row_in = FigureStyle(width_in=width_in), _row_in(silos)
    height_in = row_in * max(1.0, style.factor)
    figure = Figure(figsize=(width_in, height_in * silos))
    canvas = FigureCanvasAgg(figure)
    axis = figure.add_axes((0.3, 0, 0.7, 1))
    axis.set_ylim(silos - 0.5, -0.5)
    _label_rows(axis, [f"silo {n}" for n in range(silos)], 3, row_in, style)
    texts = axis.get_yticklabels()
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in texts]

    assert row_in * silos < 15
    assert min(text.get_fontsize() for text in texts) >= 6
    middles = sorted((box.y0 + box.y1) / 2 for box in boxes)
    letter_px = texts[0].get_fontsize() / 72 * figure.dpi
    assert all(after - before >= letter_px for before, after in pairwise(middles))
    assert (len(texts) == silos) is (silos <= 140)


def test_texts_of_a_figure_are_as_large_and_names_are_no_formulas(run, tmp_path, drawn):
    path = copy_of(run, tmp_path)
    with edited(path) as file:
        names = file["underlay/labels"].asstr()[:]
        names[0] = '$a_b$ <b>"x"</b>'
        file["underlay/labels"][...] = names
        file["connectivity/silo_labels"][...] = names
    package.timeline(path, rounds=slice(0, 3), output=tmp_path / "x.svg")
    texts = [text for text in drawn[0].findobj(matplotlib.text.Text) if text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 6
    assert names[0] in labels(drawn[0].axes[0])
    package.timeline(run, rounds=slice(0, 3), output=tmp_path / "y.svg", width="3.5in", overlay="matcha")
    texts = [text for text in drawn[1].findobj(matplotlib.text.Text) if text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 6
    assert drawn[1].get_figwidth() == 3.5


def test_more_silos_than_a_figure_has_rows_for_are_an_error_before_anything_is_computed(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr("scenarios.report.timeline_plot.MOST_ROWS", 32)
    monkeypatch.setattr("scenarios.studies.timeline._shown", None)
    with pytest.raises(
        InputError, match="room for 32 rows, not for the 11 silos of 3 overlays; choose overlays"
    ):
        package.timeline(run, output=tmp_path / "x.png")


@pytest.mark.slow
def test_the_last_tick_is_inside_and_the_title_says_what_is_shown(run, tmp_path, drawn):
    package.timeline(run, output=tmp_path / "x.png")
    (figure,) = drawn

    assert figure.get_suptitle() == "Who computes, sends and waits on gaia (corrected) at 100\u00a0Mbps"
    for axis, shown in zip(figure.axes, timelines(run), strict=True):
        scale = 1e3 if "(ms)" in axis.get_xlabel() else 1.0
        assert axis.get_xlim()[1] > scale * shown.timeline.activity.next_start_s[-1].max()
