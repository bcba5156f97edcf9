"""What tables say of closed forms, and how numbers of tables are marked."""

import json
import math
from pathlib import Path

import pytest

from scenarios.report.closed_forms import below_load, estimates_note, form_fields, forms_note, over_paper
from scenarios.report.table_formats import Json, format_of, print_tables, write_tables
from scenarios.report.tables import Column, Table, cycle_time_columns, note_lines, percent
from topologies import ClosedForms, InputError


@pytest.mark.parametrize(
    ("paper_s", "load_s", "below"),
    [
        (1.0, 1.0, False),
        (1.0, 1 + 0.5e-9, False),
        (1.0, 1 + 2e-9, True),
        (0.0, 0.0, False),
        (2.0, 1.0, False),
    ],
)
def test_a_paper_is_below_the_load_by_more_than_rounding(paper_s, load_s, below):
    assert below_load(paper_s, load_s) is below


def test_closed_forms_that_an_overlay_lacks_are_none():
    forms = ClosedForms(paper_s=1.0, serialized_s=math.nan, load_bound_s=2.0, busiest_link=None)
    assert form_fields(forms) == {
        "paper_s": 1.0,
        "serialized_s": None,
        "load_bound_s": 2.0,
        "paper_below_load": True,
    }
    unknown = ClosedForms(paper_s=math.nan, serialized_s=2.0, load_bound_s=2.0, busiest_link=None)
    assert form_fields(unknown) == {
        "paper_s": None,
        "serialized_s": 2.0,
        "load_bound_s": 2.0,
        "paper_below_load": False,
    }


def test_what_is_over_paper_is_a_part_of_it():
    assert over_paper(3.0, 2.0) == 0.5
    assert over_paper(1.0, 2.0) == -0.5
    assert over_paper(None, 2.0) is None
    assert over_paper(1.0, 0.0) is None


def test_the_note_on_closed_forms_has_a_line_on_what_no_network_can_do():
    possible, not_possible = {"paper_below_load": False}, {"paper_below_load": True}
    assert len(forms_note("ms", [possible, possible]).splitlines()) == 2
    assert forms_note("µs", []).startswith("cycle times in µs. paper: Eq. 3 to 5.")
    assert forms_note("ms", [possible, not_possible]).splitlines()[2] == (
        "!: paper is below load, which no network can do: do not count on it."
    )


def simulated(seconds, *, exact, **more):
    return {"simulated_s": seconds, "simulated_is_exact": exact, **more}


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([], ""),
        ([simulated(1.0, exact=True)], ""),
        # What was not simulated is not estimated.
        ([simulated(None, exact=False), simulated(1.0, exact=True)], ""),
        (
            [simulated(1.0, exact=True), simulated(1.0, exact=False)],
            "\n~: estimated from the last rounds, which show no period.",
        ),
        (
            [simulated(1.0, exact=False), simulated(1.0, exact=True, over_paper=0.5)],
            "\n~: estimated from the last rounds, which show no period; so is what is over paper.",
        ),
    ],
)
def test_estimates_are_explained_where_there_are_any(rows, note):
    assert estimates_note(rows) == note


def test_a_number_is_a_dash_estimated_impossible_or_plain():
    column = Column(key="x", title="x", show="{:.1f}".format, exact="sure", impossible="wrong")
    assert column.text({"x": None, "sure": False, "wrong": True}) == "-"
    assert column.text({"x": 0.0, "sure": True, "wrong": False}) == "0.0"
    assert column.text({"x": 1.0, "sure": False, "wrong": False}) == "~1.0"
    assert column.text({"x": 1.0, "sure": True, "wrong": True}) == "!1.0"
    assert column.text({"x": 1.0, "sure": False, "wrong": True}) == "~1.0"
    assert Column(key="x", title="x").text({"x": 1.0}) == "1.0"


def test_columns_of_cycle_times_have_marks_narrow_heads_and_one_unit():
    rows = [
        {
            "paper_s": 0.5,
            "serialized_s": None,
            "maxmin_s": 2.0,
            "paper_below_load": True,
            "maxmin_is_exact": False,
        }
    ]
    titles = {"paper_s": "paper", "serialized_s": "serialized", "maxmin_s": "simulated"}
    columns, unit = cycle_time_columns(rows, titles)

    assert unit == "ms"
    assert [(column.key, column.title, column.unit) for column in columns] == [
        ("paper_s", "paper", "ms"),
        ("serialized_s", "serialized", "ms"),
        ("maxmin_s", "simulated", "ms"),
    ]
    assert [column.text(rows[0]) for column in columns] == ["!500.0", "-", "~2000"]
    assert [column.exact for column in columns] == [None, None, "maxmin_is_exact"]
    assert [column.narrow_title for column in columns] == [None, "serial-\nized", "simu-\nlated"]
    assert cycle_time_columns([], titles)[1] == "ms"


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.125, "+12.5%"),
        (-0.125, "-12.5%"),
        (-2e-9, "-0.0%"),
        (-0.5e-9, "+0.0%"),
        (-1e-9, "-0.0%"),
        (1.0, "+100.0%"),
    ],
)
def test_percentages_have_their_sign(fraction, text):
    assert percent(fraction) == text


def test_each_sentence_of_a_note_begins_a_line():
    assert note_lines("One.", "Two.") == "One.\nTwo."
    assert note_lines() == ""
    assert max(map(len, note_lines("word " * 40).splitlines())) <= 80


TABLE = Table(
    caption="c", columns=[Column(key="a", title="A")], rows=[{"a": -math.inf}, {"a": math.nan, "b": 1}]
)


def test_a_table_has_the_fields_of_all_rows_and_json_no_number_that_is_not_finite():
    assert TABLE.fields() == ["a", "b"]
    assert json.loads(Json().text([TABLE])) == {
        "caption": "c",
        "rows": [{"a": None, "b": None}, {"a": None, "b": 1}],
        "notes": [],
    }
    assert json.loads(Json().text([])) == []
    assert repr(TABLE) == "Table('c', 2 rows, columns=['a'])"
    assert repr(Table(caption="", columns=[], rows=[])) == "Table('', 0 rows, columns=[])"


def test_tables_are_printed_as_json_or_as_text(capsys):
    print_tables([TABLE], True)
    assert json.loads(capsys.readouterr().out)["caption"] == "c"
    print_tables([TABLE, TABLE], False)
    out = capsys.readouterr().out
    assert out.count("A\n") == 2
    assert "{" not in out


def test_a_file_ends_with_one_line_end(tmp_path):
    for name in ("a.json", "a.txt", "a.csv"):
        write_tables(tmp_path / name, [TABLE])
        text = (tmp_path / name).read_bytes().decode()
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


def test_an_ending_that_no_format_has_is_named_with_what_a_command_writes_besides():
    with pytest.raises(
        InputError,
        match=r"^output\(='a\.xyz'\) must end in one of \.png, \.csv, \.json, \.txt for a table\.$",
    ):
        format_of(Path("a.xyz"), others=[".png"], rule=" for a table")
    assert format_of(Path("a.CSV")).ending == ".csv"
