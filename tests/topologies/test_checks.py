"""Checks of users' numbers: what is taken, and the one line for what is not."""

from pathlib import Path

import numpy as np
import pytest

from topologies import InputError, input_limits
from topologies.checks import check_integer, check_number, per_silo
from topologies.input_limits import MOST_TOML_BYTES, check_count, check_size


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), [2, 2, 2], np.full(3, 2.0)])
def test_a_number_is_one_of_every_silo(value, positive):
    found = per_silo("up_bps", value, 3, positive=positive)

    assert (found.tolist(), found.dtype) == ([2.0] * 3, np.float64)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1.0


def test_what_is_checked_is_a_copy():
    values = np.array([1.0, 2.0])
    found = per_silo("up_bps", values, 2, positive=True)
    values[0] = 9.0
    assert found.tolist() == [1.0, 2.0]
    assert per_silo("up_bps", [5.0], 1, positive=True).tolist() == [5.0]


def test_no_limit_goes_with_positive_numbers_and_0_with_finite_ones():
    assert per_silo("up_bps", np.inf, 2, positive=True).tolist() == [np.inf] * 2
    assert per_silo("compute_s", [0.0, 1.0], 2, positive=False).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("value", "positive", "message"),
    [
        (0.0, True, "x(=0) must be > 0."),
        (np.nan, True, "x(=nan) must be > 0."),
        ([1.0, 0.0, -1.0], True, "x(=0) of silo 1 must be > 0."),
        ([1.0, 2.0, -1.0], True, "x(=-1) of silo 2 must be > 0."),
        (-0.5, False, "x(=-0.5) must be finite and >= 0."),
        (np.inf, False, "x(=inf) must be finite and >= 0."),
        ([np.nan, 0.0, 1.0], False, "x(=nan) of silo 0 must be finite and >= 0."),
        ([1.0, 2.0], True, "x has shape (2,); it must be a number or one for each of 3 silos."),
        ([1.0] * 4, False, "x has shape (4,); it must be a number or one for each of 3 silos."),
        (np.ones((3, 3)), True, "x has shape (3, 3); it must be a number or one for each of 3 silos."),
        ("fast", True, "x(='fast') must be a number or one number per silo."),
        (None, False, "x(=nan) must be finite and >= 0."),
        ([[1.0], 2.0, 3.0], True, "x(=[[1.0], 2.0, 3.0]) must be a number or one number per silo."),
    ],
)
def test_a_number_that_breaks_its_rule_is_named(value, positive, message):
    with pytest.raises(InputError) as caught:
        per_silo("x", value, 3, positive=positive)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [2, 3, 10**30])
def test_integers_from_the_minimum_on(value):
    check_integer("n", value, minimum=2)
    with pytest.raises(InputError, match=rf"^n\(={value}\) must be >= {value + 1}\.$"):
        check_integer("n", value, minimum=value + 1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, "n(=1) must be >= 2."),
        (-7, "n(=-7) must be >= 2."),
        (True, "n(=True) must be an integer."),
        (2.0, "n(=2.0) must be an integer."),
        ("2", "n(='2') must be an integer."),
        (None, "n(=None) must be an integer."),
    ],
)
def test_other_integers_and_what_is_none(value, message):
    with pytest.raises(InputError) as caught:
        check_integer("n", value, minimum=2)
    assert str(caught.value) == message


def test_finite_numbers_are_floats():
    found = check_number("x", 3)
    assert (found, type(found)) == (3.0, float)
    assert check_number("x", -0.25) == -0.25
    for wrong in (np.nan, np.inf, -np.inf, True, False, "1", None):
        with pytest.raises(InputError, match=rf"^x\(={wrong!r}\) must be a finite number\.$"):
            check_number("x", wrong)


def test_as_many_as_a_limit_are_taken_and_no_more():
    check_count(1000, 1000, "routers")
    with pytest.raises(InputError, match=r"^a\.gml: has 1,001 routers, must have at most 1,000\.$"):
        check_count(1001, 1000, "routers", source="a.gml")


def test_a_file_as_large_as_a_limit_is_read_and_no_larger_one():
    check_size(b"12345", 5, "a.csv")
    with pytest.raises(InputError, match=r"^a\.csv: is too large: it must have at most 4 bytes\.$"):
        check_size(b"12345", 4, "a.csv")
    with pytest.raises(
        InputError,
        match=r"^a\.toml: .* 1,000,000 bytes \(long tables go into CSV files that it names\)\.$",
    ):
        check_size("x" * (MOST_TOML_BYTES + 1), MOST_TOML_BYTES, "a.toml")


def test_limits_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "limits.md").read_text("utf-8")
    limits = {
        "MOST_TOML_BYTES": (1_000_000, "| 1 MB;"),
        "MOST_KEY_PARTS": (32, "parts of a dotted key | 32 |"),
        "MOST_NESTED": (32, "parts of a dotted key | 32 |"),
        "MOST_ENTRIES": (20_000, "| 20,000 |"),
        "MOST_DIGITS": (30, "| 30 digits |"),
        "MOST_OVERLAYS": (1000, "overlays of a scenario | 1,000 |"),
        "MOST_POINTS": (10_000_000, "points of a study | 10 million |"),
        "MOST_FILE_BYTES": (64_000_000, "| 64 MB;"),
        "MOST_GML_BYTES": (10_000_000, "a GML file | 10 MB,"),
        "MOST_ROUTERS": (20_000, "| 20,000 and 200,000 |"),
        "MOST_LINKS": (200_000, "| 20,000 and 200,000 |"),
        "MOST_SILOS": (5000, "| 5,000 |"),
        "MOST_SEARCHED_SILOS": (2000, "| 2,000 |"),
        "MOST_CIRCUIT_SILOS": (4000, "| 4,000 |"),
        "MOST_PAIRS_BYTES": (625_000_000, "| 625 MB:"),
        "MOST_MIXING_SILOS": (1000, "of more they are empty | 1,000 |"),
        "MOST_VALIDATED_STARTS": (30_000_000, "| 30 million |"),
    }

    stated = {name: value for name, value in vars(input_limits).items() if name.startswith("MOST_")}
    assert stated == {name: value for name, (value, _) in limits.items()}
    assert [text for _, text in limits.values() if text not in page] == []
