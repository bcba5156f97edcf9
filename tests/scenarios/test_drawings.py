"""Drawings are those that were recorded, to every size, gap, colour and place; sentences and fonts do not count."""

import pytest
from recorded_drawings import all_drawings, difference, is_same

DRAWINGS = all_drawings()


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_the_recorded_one(name):
    found = difference(DRAWINGS[name](), name)
    assert not found, found


@pytest.mark.parametrize(
    ("line", "recorded", "expected"),
    [
        ("path 1.2345 #123456", "path 1.2346 #123456", True),
        ("path 1.2345 #123456", "path 1.2347 #123456", False),
        ("path 1.2345 #123456", "path 1.2345 #123457", False),
        ("path 1.2345 #123456", "line 1.2345 #123456", False),
        ("7 labels", "8 labels", False),
        ("1.2e+06", "1.3e+06", True),
        ("1.2e+06", "1.4e+06", False),
        ("0.1,0.2", "0.1,0.2,0.3", False),
    ],
)
def test_only_the_last_digit_of_a_number_may_differ(line, recorded, expected):
    assert is_same(line, recorded) == expected
