"""Tables as the terminal shows them, column by column: how they give way where it is narrow, and shortened names."""

from dataclasses import replace

import pytest

from scenarios.report.tables import Column, Table
from scenarios.report.terminal import Terminal, caption_lines, shortened

HOSPITALS = Table(
    caption="access 1 Gbps",
    columns=[
        Column(key="a", title="from"),
        Column(key="b", title="to", least=4),
        Column(key="c", title="simulated", narrow_title="simu-\nlated", show="{:.2f}".format),
    ],
    rows=[
        {"a": "Regional Hospital 01", "b": "Lyon", "c": 12.5},
        {"a": "Paris", "b": "Saint-Étienne", "c": 3.25},
    ],
    notes="first\n\nsecond",
)


def lines_of(width):
    """Head, rule and rows, without caption and notes."""
    return Terminal(width).text([HOSPITALS]).splitlines()[2:-4]


def test_a_table_has_its_caption_above_and_its_notes_below():
    assert Terminal(46).text([HOSPITALS]).splitlines() == [
        "access 1 Gbps",
        "",
        "from                  to             simulated",
        "─" * 46,
        "Regional Hospital 01  Lyon               12.50",
        "Paris                 Saint-Étienne       3.25",
        "",
        "first",
        "",
        "second",
    ]
    assert Terminal(46).text([HOSPITALS] * 2) == "\n\n".join([Terminal(46).text([HOSPITALS])] * 2)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        # Wide gaps need 20 + 2 + 13 + 2 + 9 columns, narrow ones two less.
        (47, "Regional Hospital 01  Lyon               12.50"),
        (46, "Regional Hospital 01  Lyon               12.50"),
        (45, "Regional Hospital 01 Lyon              12.50"),
        (44, "Regional Hospital 01 Lyon              12.50"),
        # With the head on two lines four less than that.
        (43, "Regional Hospital 01 Lyon          12.50"),
        (40, "Regional Hospital 01 Lyon          12.50"),
        # From here on names are shortened, the longest first.
        (39, "Regional…spital 01 Lyon          12.50"),
        (34, "Regiona…tal 01 Lyon          12.50"),
        (32, "Region…al 01 Lyon         12.50"),
        (20, "Reg…01 Lyon   12.50"),
        (18, "Re…01 Lyon  12.50"),
        # Each keeps as many letters as it must, and a number all its digits.
        (16, "Re…01 Lyon 12.50"),
        (9, "Re…01 Lyon 12.50"),
    ],
)
def test_a_table_is_as_narrow_as_it_must_be(width, expected):
    assert expected in lines_of(width)


def test_heads_wider_than_their_texts_do_not_shorten_others():
    titles = ("overlay", "paper", "serialized", "simulated", "busiest link")
    columns = [Column(key=title, title=title) for title in titles]
    columns[2] = replace(columns[2], narrow_title="seria-\nlized")
    columns[3] = replace(columns[3], narrow_title="simu-\nlated")
    rows = [
        dict(zip(titles, cells, strict=True))
        for cells in (
            ("ring", "1 ms", "2 ms", "3 ms", "Tokyo -> Seoul"),
            ("star", "1 ms", "2 ms", "3 ms", "A -> B"),
        )
    ]
    table = Table(caption="", columns=columns, rows=rows)
    # The heads have 7, 5, 6 and 5 columns, the names of links 14, and each gap 1.
    assert "Tokyo -> Seoul" not in Terminal(40).text([table])
    for width in range(41, 60):
        assert "Tokyo -> Seoul" in Terminal(width).text([table])


def test_the_head_is_narrow_only_where_it_must_be():
    assert lines_of(44)[0] == "from                 to            simulated"
    assert [line.split() for line in lines_of(43)[:2]] == [["simu-"], ["from", "to", "lated"]]
    assert [line.split() for line in lines_of(16)[:2]] == [["simu-"], ["from", "to", "lated"]]


def test_prose_takes_several_lines_and_names_none():
    table = Table(
        caption="",
        columns=[
            Column(key="a", title="a"),
            Column(key="why", title="why", prose=True),
            Column(key="n", title="n"),
        ],
        rows=[{"a": "ring", "why": "one two three four", "n": 5}],
    )
    # Of 20 columns, 1 is that of the number, 2 are gaps, and the longer text has what the name leaves.
    assert [line.rstrip() for line in Terminal(20).text([table]).splitlines()[4:]] == [
        "ring one two three 5",
        "     four",
    ]
    assert "ring  one two three four  5" in Terminal(40).text([table])
    # Nor are its words what it needs at least: it has five columns, and the name the others.
    short = replace(table, rows=[{"a": "christofides", "why": "a bc de fg", "n": 5}])
    assert [line.rstrip() for line in Terminal(16).text([short]).splitlines()[4:]] == [
        "chr…es a bc   5",
        "       de fg",
    ]


def test_remarks_that_no_row_has_have_no_column_and_numbers_stand_right():
    columns = [Column(key="a", title="aaaa"), Column(key="b", title="bbbb"), Column(key="c", title="cccc")]
    table = Table(
        caption="c", columns=columns, rows=[{"a": 1, "b": "", "c": "x"}, {"a": "no", "b": "", "c": "y"}]
    )
    assert Terminal(80).text([table]).splitlines()[2:] == ["aaaa  cccc", "──────────", "   1  x", "  no  y"]
    some = replace(table, rows=[table.rows[0], {"a": 2, "b": "late", "c": "y"}])
    assert Terminal(80).text([some]).splitlines()[4:] == ["   1        x", "   2  late  y"]


@pytest.mark.parametrize("width", [3, 80])
def test_a_table_without_rows_has_its_heads(width):
    table = Table(caption="c", columns=[Column(key="a", title="a"), Column(key="b", title="b")], rows=[])
    assert Terminal(width).text([table]).splitlines()[2].split() == ["a", "b"]


def test_nothing_of_a_caption_or_a_note_is_coloured_or_replaced(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    said = "10 Gbps 'x' [red] :smile: True"
    table = Table(caption=said, columns=[Column(key="a", title="a")], rows=[{"a": 1}], notes=said)
    text = Terminal(80, is_terminal=True).text([table])
    assert (text.splitlines()[0], text.splitlines()[-1]) == (said, said)
    # Heads are bold, but not in a file.
    assert "\x1b[1m" in text
    assert "\x1b" not in Terminal(80).text([table])


@pytest.mark.parametrize(
    ("caption", "width", "lines"),
    [
        ("aa; bb", 6, ["aa; bb"]),
        ("aa; bb", 5, ["aa;", "bb"]),
        ("aa; bb; cc", 6, ["aa;", "bb; cc"]),
        ("aa; bb; cc", 7, ["aa; bb;", "cc"]),
        ("aa bb; cc", 5, ["aa", "bb;", "cc"]),
        ("aa bb", 4, ["aa", "bb"]),
        ("a\n\nb", 4, ["a", "", "b"]),
        ("", 4, []),
    ],
)
def test_a_caption_is_broken_at_clauses_first(caption, width, lines):
    assert caption_lines(caption, width) == lines


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("Hospital 01", 11, "Hospital 01"),
        ("Hospital 01", 10, "Hospi…l 01"),
        ("Hospital 01", 7, "Hos…01"),
        ("Hospital 01", 6, "Hos…01"),
        ("Hospital 01", 3, "H…1"),
        ("Hospital 01", 2, "H…"),
        ("Hospital 01", 1, "…"),
        ("ab cdef", 5, "ab…ef"),
        # Arrows stay, and each name has three letters at least.
        ("Hospital 01 -> Hospital 02", 26, "Hospital 01 -> Hospital 02"),
        ("Hospital 01 -> Hospital 02", 25, "Hospi…l 01 -> Hospi…l 02"),
        ("Hospital 01 -> Hospital 02", 10, "H…1 -> H…2"),
        ("Hospital 01 -> Hospital 02", 9, "Hosp…l 02"),
        # What a short name does not need, a long one has.
        ("A -> Hospital 02", 15, "A -> Hospi…l 02"),
        ("A -> Hospital 02", 12, "A -> Hos…02"),
        ("Hosp -> Hospital 02", 12, "Hosp -> Ho…2"),
        ("A -> Hospital 02 -> B", 13, "A -> H…2 -> B"),
    ],
)
def test_names_are_shortened_in_their_middle(text, width, short):
    assert shortened(text, width) == short
    assert len(short) <= width
