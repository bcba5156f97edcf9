"""Sentences in lines of 80 columns: no number alone on the last one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.wrapping import listed, wrapped

WORDS = st.lists(st.text("abc-12", min_size=1, max_size=12), min_size=1, max_size=40)


def test_the_last_line_is_not_one_number():
    text = "access 100 Mbps up, 1 Gbps down; core as stated on 39 links, 1 Gbps assumed on 22"

    assert wrapped(text) == [
        "access 100 Mbps up, 1 Gbps down; core as stated on 39 links, 1 Gbps",
        "assumed on 22",
    ]


def test_nothing_and_one_long_word():
    assert wrapped("") == []
    assert wrapped("x" * 100) == ["x" * 80, "x" * 20]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        # Two words more fill the last line, and would be one letter too many.
        ("x bbb c dddd", 10, ["x", "bbb c dddd"]),
        ("x bbb c ddddd", 10, ["x bbb c", "ddddd"]),
        ("xx bbb c dddd", 10, ["xx", "bbb c dddd"]),
        ("a bbb cccc dddddd", 10, ["a bbb cccc", "dddddd"]),
        # No line is left empty, or with what does not fit beside it.
        ("bbbb c ddddd", 10, ["bbbb c", "ddddd"]),
        ("bbbbbb ccccc", 10, ["bbbbbb", "ccccc"]),
        # Two words stand well on the last line.
        ("aa bbb c dd eeee", 10, ["aa bbb c", "dd eeee"]),
    ],
)
def test_two_words_go_to_the_last_line_where_they_fit(text, width, lines):
    assert wrapped(text, width) == lines


@given(words=WORDS)
def test_all_words_in_their_order_none_beyond_the_width_none_alone(words):
    lines = wrapped(" ".join(words), 40)

    assert " ".join(lines).split(" ") == words
    assert max(map(len, lines)) <= 40
    assert len(lines) == 1 or " " in lines[-1]


def test_what_is_listed_ends_with_and():
    assert [listed(["a", "b", "c", "d"][:count]) for count in range(5)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
        "a, b, c and d",
    ]
