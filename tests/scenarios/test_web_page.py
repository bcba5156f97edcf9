"""Pages for browsers: what they hold, escaped texts, tables and their heads."""

import json
import re

import pytest

from scenarios.report.tables import Column, Table
from scenarios.report.web_page import capital, embedded, html_table, results_table, web_page


def test_a_page_has_its_title_body_style_and_script():
    page = web_page("a < b", ["<p>one</p>", "<p>two</p>"], style="p { color: red; }", script="let a = 1 < 2;")
    assert page.startswith("<!doctype html>\n")
    assert page.endswith("</html>\n")
    assert "<title>a &lt; b</title>" in page
    assert "<body>\n<p>one</p>\n<p>two</p>\n<script>let a = 1 < 2;</script>\n</body>" in page
    assert "p { color: red; }</style>" in page
    assert "<script>" not in web_page("a", [], style="")
    assert "default-src 'none'" in page


def test_data_of_a_page_cannot_end_its_script():
    value = {"a": ["</script><!--", 0.1, None], "b": 1}
    element = embedded("facts", value)
    assert element.startswith('<script type="application/json" id="facts">{"a":["')
    inside = element.removeprefix('<script type="application/json" id="facts">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded("facts", float("nan"))


def test_sentences_begin_with_a_capital_letter():
    assert [capital(each) for each in ("one Two", "", "é", "1 a")] == ["One Two", "", "É", "1 a"]


def test_numbers_of_a_table_stand_right_and_long_texts_have_room():
    table = html_table(
        "all & more", ("name", "n"), [("a<b", "1"), ("x" * 30, "2"), ("x" * 31, "3" * 31)], (1,)
    )
    assert "<caption>all &amp; more</caption>" in table
    assert '<tr><th scope="col">name</th><th scope="col" class="number">n</th></tr>' in table
    assert '<tr><td>a&lt;b</td><td class="number">1</td></tr>' in table
    assert f'<tr><td>{"x" * 30}</td><td class="number">2</td></tr>' in table
    assert f'<tr><td class="long">{"x" * 31}</td><td class="number">{"3" * 31}</td></tr>' in table


@pytest.mark.parametrize(
    ("rows", "of", "first"),
    [(2, None, ""), (2, 2, ""), (2, 3, " (the first 2 of 3)"), (1000, 2000, " (the first 1,000 of 2,000)")],
)
def test_a_table_says_how_many_rows_there_are_where_it_has_only_the_first(rows, of, first):
    table = html_table("all", ("n",), [("1",)] * rows, (0,), of=of)
    assert f"<caption>all{first}</caption>" in table


def test_results_have_heads_on_one_line_with_their_units_and_notes_below():
    table = Table(
        caption="not shown",
        columns=[
            Column(key="a", title="over-\nlay"),
            Column(key="b", title="over\npaper", unit="ms"),
            Column(key="c", title="c"),
        ],
        rows=[{"a": "x", "b": 1.5, "c": "1"}, {"a": "y", "b": None, "c": "2"}],
        notes="a -> b: one\nnote.",
    )
    page = results_table(table, "Results")
    assert re.findall("<th[^>]*>([^<]*)</th>", page) == ["overlay", "over paper (ms)", "c"]
    # A column is one of numbers where any row has one.
    assert re.findall("<td([^>]*)>([^<]*)</td>", page) == [
        ("", "x"),
        (' class="number"', "1.5"),
        ("", "1"),
        ("", "y"),
        (' class="number"', "-"),
        ("", "2"),
    ]
    assert page.endswith('<p class="note">A → b: one note.</p>')
    assert "<caption>Results</caption>" in page
    without = results_table(Table(caption="", columns=table.columns, rows=table.rows), "Results")
    assert "note" not in without
