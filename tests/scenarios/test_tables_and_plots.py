"""Tables as JSON and CSV, and what the figures show."""

import dataclasses
import json

import matplotlib.figure
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.config.network import NetworkConfig
from scenarios.report.closed_forms import below_load
from scenarios.report.plots import plot_run
from scenarios.report.run_table import FIELDS, run_table
from scenarios.report.table_formats import Csv, Json
from scenarios.report.tables import Column, Table, cycle_time_columns, percent
from scenarios.report.terminal import Terminal, shortened
from scenarios.runfile.reader import OverlayRecord, RunRecord, SimulationRecord
from topologies import ClosedForms, InputError, Workload, load_underlay


def overlay(
    kind: str, seconds_per_round: float, accuracy: list[float], *, exact: bool = True
) -> OverlayRecord:
    rows = len(accuracy)
    rounds = np.arange(rows, dtype=float)
    return OverlayRecord(
        kind=kind,
        arcs=np.zeros((0, 3), dtype=np.int64),
        hub=0 if kind == "star" else None,
        consensus=np.eye(2),
        closed_forms=ClosedForms(
            paper_s=seconds_per_round / 2,
            serialized_s=seconds_per_round / 2,
            load_bound_s=0.0,
            busiest_link=None,
        ),
        busiest_link="",
        simulation=SimulationRecord(
            rounds=1000,
            is_whole=True,
            cycle_time_s=seconds_per_round,
            half_width_s=0.0 if exact else None,
            is_exact=exact,
            has_absences=False,
        ),
        history={
            "round": rounds,
            "train_loss": 2 - np.array(accuracy),
            "test_accuracy": np.array(accuracy),
        },
        wall_clock_s=seconds_per_round * rounds,
        negative_weights=False,
        training_is_whole=True,
    )


def record(*overlays: OverlayRecord) -> RunRecord:
    return RunRecord(
        scenario="",
        network=NetworkConfig(underlay="gaia"),
        underlay=load_underlay("gaia"),
        work=Workload(model_bits=1.0, compute_s=1.0),
        about="",
        overlays=overlays,
    )


def with_simulation(**changes: object) -> OverlayRecord:
    """A ring with an estimated cycle time of 1 s, but for these fields."""
    ring = overlay("ring", 1.0, [], exact=False)
    return dataclasses.replace(ring, simulation=dataclasses.replace(ring.simulation, **changes))


def test_first_round_at_the_target_not_the_last():
    rows = run_table(
        record(overlay("star", 10.0, [0.1, 0.5, 0.9, 0.4]), overlay("ring", 1.0, [0.1, 0.2, 0.3, 0.9])),
        "",
        0.5,
    ).rows

    assert [*rows[0]] == [*FIELDS]
    assert [row["rounds_to_target"] for row in rows] == [1, 3]
    assert [row["time_to_target_s"] for row in rows] == [10.0, 3.0]
    assert [row["speedup"] for row in rows] == [1.0, pytest.approx(10 / 3)]
    assert [row["over_paper"] for row in rows] == [1.0, 1.0]


def test_no_speedup_where_the_star_never_arrives_or_is_not_there():
    never = run_table(
        record(overlay("star", 1.0, [0.1, 0.2]), overlay("ring", 1.0, [0.1, 0.9])), "", 0.5
    ).rows
    alone = run_table(record(overlay("ring", 1.0, [0.1, 0.9])), "", 0.5).rows

    assert [row["speedup"] for row in never] == [None, None]
    assert [row["rounds_to_target"] for row in never] == [None, 1]
    assert alone[0]["speedup"] is None


def test_a_target_reached_at_time_zero_has_no_speedup():
    (row,) = run_table(record(overlay("star", 1.0, [0.9, 0.9])), "", 0.5).rows

    assert row["time_to_target_s"] == 0.0
    assert row["speedup"] is None


def test_json_holds_no_infinity_and_csv_all_columns():
    table = Table(
        caption="c",
        columns=[Column(key="a", title="A"), Column(key="b_s", title="B")],
        rows=[{"a": "x", "b_s": np.inf}],
    )

    assert json.loads(Json().text([table]))["rows"] == [{"a": "x", "b_s": None}]
    assert Csv().text([table]).splitlines() == ["a,b_s", "x,inf"]


def test_a_table_is_one_line_as_repr_and_what_the_terminal_shows_as_str():
    table = Table(caption="two\nlines", columns=[Column(key="a", title="A")], rows=[{"a": 1}, {"a": 2}])

    assert repr(table) == "Table('two', 2 rows, columns=['a'])"
    assert str(table) == printed(table)
    assert str(table).splitlines()[:2] == ["two", "lines"]


def test_one_unit_for_all_cycle_times_of_a_table():
    assert cycle_time_columns([{"x": 9.0}, {"x": None}], {"x": "X"})[1] == "ms"
    (column,), unit = cycle_time_columns([{"x": 11.0}], {"x": "X"})

    assert (column.show(11.0), unit) == ("11.00", "s")
    assert [percent(value) for value in (-0.0001, 0.0001, -1e-12, 0.0)] == [
        "-0.0%",
        "+0.0%",
        "+0.0%",
        "+0.0%",
    ]


def test_every_cycle_time_that_is_an_estimate_is_marked():
    rows = [
        {"paper_s": 1.0, "paper_below_load": False, "equal_s": 1.0, "equal_is_exact": True}
        | {"maxmin_s": 2.0, "maxmin_is_exact": False}
    ]
    columns, _ = cycle_time_columns(rows, {"paper_s": "paper", "equal_s": "equal", "maxmin_s": "maxmin"})

    assert [column.text(rows[0]) for column in columns] == ["1000", "1000", "~2000"]


def printed(table: Table) -> str:
    return Terminal().text([table])


def test_estimated_cycle_times_and_what_is_over_paper_are_marked():
    exact, estimated = overlay("star", 10.0, [0.1, 0.5]), overlay("ring", 1.0, [0.1, 0.9], exact=False)
    text = printed(run_table(record(exact, estimated), "", 0.5))
    star, ring = (line for line in text.splitlines() if line.startswith(("star", "ring")))

    assert "~1000" in ring
    assert "~+100.0%" in ring
    assert "~" not in star
    assert "no period; so is what is over paper." in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "~" not in printed(run_table(record(exact), "", 0.5))
    rows = json.loads(Json().text([run_table(record(exact, estimated), "", 0.5)]))["rows"]
    assert [row["simulated_is_exact"] for row in rows] == [True, False]


def test_a_paper_below_load_is_marked_in_every_table_of_closed_forms():
    ring = overlay("ring", 1.0, [0.1, 0.9])
    below = dataclasses.replace(ring, closed_forms=dataclasses.replace(ring.closed_forms, load_bound_s=0.6))
    table = run_table(record(overlay("star", 1.0, [0.1, 0.9]), below), "", None)
    star, marked = (line for line in printed(table).splitlines() if line.startswith(("star", "ring")))

    assert "!500.0" in marked
    assert "!" not in star
    assert "!: paper is below load, which no network can do" in table.notes
    assert [row["paper_below_load"] for row in table.rows] == [False, True]
    assert "!" not in run_table(record(ring), "", None).notes


def test_rounding_is_not_below_load():
    assert not below_load(1.0, 1.0 + 1e-12)
    assert below_load(1.0, 1.001)
    assert not below_load(None, 1.0)
    assert not below_load(1.0, None)


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_rows_of_long_names_stay_rows(columns):
    rows = [
        {"a": f"Regional University Hospital Department {k:02}", "b": "short", "c": float(k)}
        for k in range(30)
    ]
    table = Table(
        caption="",
        columns=[
            Column(key="a", title="from"),
            Column(key="b", title="to", least=5),
            Column(key="c", title="number", show="{:.20f}".format),
        ],
        rows=rows,
    )
    lines = [line for line in Terminal(columns).text([table]).splitlines() if "short" in line]

    assert len(lines) == 30
    assert all(f"{k:02} " in line and f"{k:.20f}" in line for k, line in enumerate(lines))
    assert max(map(len, lines)) <= columns


def test_prose_is_wrapped_and_names_are_shortened():
    row = {"arc": "Regional University Hospital 01 -> Regional University Hospital 02", "cause": "word " * 20}
    table = Table(
        caption="",
        columns=[Column(key="arc", title="arc"), Column(key="cause", title="cause", prose=True)],
        rows=[row],
    )
    text = printed(table)

    assert max(map(len, text.splitlines())) <= 80
    assert text.count("word") == 20
    assert " -> " in text


def test_captions_break_at_clauses_and_leave_no_number_alone():
    caption = "geant\naccess 100 Mbps up, 1 Gbps down; core as stated on 39 links, 1 Gbps assumed on 22"
    table = Table(
        caption=caption, columns=[Column(key="a", title="a")], rows=[{"a": 1}], notes="n " * 39 + "n 22 33"
    )

    assert printed(table).splitlines()[:3] == [
        "geant",
        "access 100 Mbps up, 1 Gbps down;",
        "core as stated on 39 links, 1 Gbps assumed on 22",
    ]
    assert json.loads(Json().text([table]))["caption"] == caption
    assert len(printed(table).splitlines()[-1].split()) > 1


def test_a_name_with_a_comma_is_one_name():
    assert shortened("University Hospital, Site 01", 8) == "Univ…01"
    assert shortened("Hospital, Site 01 -> Hospital, Site 02", 20) == "Hosp…01 -> Hosp…02"


@given(text=st.text("abc ->,", min_size=1, max_size=80), width=st.integers(1, 60))
def test_shortened_texts_fit_and_keep_both_ends(text, width):
    short = shortened(text, width)

    assert len(short) <= max(width, 1)
    assert short == text or "…" in short


def test_an_overlay_that_was_not_simulated_is_not_estimated():
    text = printed(run_table(record(with_simulation(rounds=0, is_whole=False, cycle_time_s=None)), "", 0.5))

    assert "~" not in text
    assert "interrupted" not in text


def test_an_estimate_is_shown_with_its_interval():
    table = run_table(record(with_simulation(half_width_s=0.0015)), "", None)
    text = printed(table)

    assert "~1000" in text
    assert "+-: 95 % confidence by batch means: ring 1.000 s +- 1.5 ms." in text
    assert table.rows[0]["simulated_half_width_s"] == 0.0015


@pytest.mark.parametrize(
    ("rounds", "cycle_time_s", "half_width_s", "note"),
    [
        (1, None, None, "ring: interrupted, 1 round is kept."),
        (350, 1.25, None, "ring: interrupted, 350 rounds are kept, which give ~1.250 s."),
        (
            8500,
            1.25,
            0.25,
            "ring: interrupted, 8,500 rounds are kept, which give 1.250 s +- 250.0 ms (95 %).",
        ),
    ],
)
def test_a_simulation_that_was_cut_short_shows_what_is_kept(rounds, cycle_time_s, half_width_s, note):
    kept = with_simulation(
        rounds=rounds, is_whole=False, cycle_time_s=cycle_time_s, half_width_s=half_width_s
    )
    table = run_table(record(kept), "", None)
    text = printed(table)

    assert text.splitlines()[-1] == note
    assert ("~1250" in text) == (cycle_time_s is not None)
    assert "no period" not in text
    (row,) = table.rows
    assert (row["simulated_rounds"], row["simulation_is_whole"]) == (rounds, False)


def test_the_figure_has_a_line_for_each_overlay_and_units_on_the_axes(tmp_path, monkeypatch):
    drawn: list[matplotlib.figure.Figure] = []
    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    plot_run(
        record(overlay("star", 100.0, [0.1, 0.5]), overlay("ring", 1.0, [0.1, 0.9])),
        tmp_path / "x.png",
        title="t",
        target_accuracy=0.5,
    )
    (figure,) = drawn
    loss_round, loss_time, accuracy_round, accuracy_time = figure.axes

    assert [line.get_label() for line in loss_round.lines] == ["star", "ring"]
    assert loss_time.lines[0].get_xdata().tolist() == [100.0]  # time 0 has no place on a logarithmic axis
    assert loss_round.lines[0].get_xdata().tolist() == [0.0, 1.0]
    assert accuracy_round.lines[1].get_ydata().tolist() == [10.0, 90.0]
    assert accuracy_round.get_xlabel() == "round"
    assert accuracy_time.get_xlabel() == "wall-clock time (s),\nlogarithmic: no round 0"
    assert accuracy_time.get_xscale() == "log"
    assert loss_round.get_ylabel() == "training loss (nats)"
    assert accuracy_round.get_ylabel() == "test accuracy (%)"
    assert [text.get_text() for text in figure.legends[0].texts] == ["star", "ring", "target 50 %"]


def test_a_run_without_training_has_no_loss_to_plot(tmp_path):
    with pytest.raises(InputError, match="no training"):
        plot_run(record(), tmp_path / "x.png", title="t")


def test_an_unknown_figure_format_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        plot_run(record(overlay("ring", 1.0, [0.1, 0.9])), tmp_path / "x.xyz", title="t")
