"""How many names a sentence holds before it counts the others, and how places and lengths are written."""

from types import SimpleNamespace

import pytest

from scenarios.studies.relocation import _renamed
from scenarios.studies.underlay import _count, _degrees, _km, _link_lines, _places


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, "a is A"),
        (3, "a is A, b is B, c is C"),
        (4, "a is A, b is B, c is C, 1 more"),
        (5, "a is A, b is B, c is C, 2 more"),
    ],
)
def test_three_silos_that_are_called_otherwise_are_named(count, shown):
    there, here = "abcde", "ABCDE"[:count] + "abcde"[count:]
    (sentence,) = _renamed(tuple(there), tuple(here))
    assert shown in sentence
    assert ("more" in sentence) == (count > 3)
    assert "not the same silo" not in sentence


def test_silos_that_stay_are_no_sentence_and_one_that_moves_is_warned_of():
    assert _renamed(("a", "b"), ("a", "b")) == ()
    (sentence,) = _renamed(("a", "b", "c"), ("x", "c", "y"))
    assert "c is on both networks, but not the same silo" in sentence


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "of all sites: "),
        (1, "of 19 of 20 sites: "),
        (8, "of 12 of 20 sites: "),
        (9, "of 11 of 20 sites: "),
    ],
)
def test_eight_sites_without_a_place_are_named(count, text):
    names = [f"s{number}" for number in range(count)]
    span = SimpleNamespace(lowest=-10.0, highest=20.0)
    facts = SimpleNamespace(sites=20, without_coordinates=names, latitude_deg=span, longitude_deg=span)
    found = _places(facts)
    assert found.startswith(text)
    if names:
        ending = {9: f"{', '.join(names[:8])} and 1 more"}.get(count, ", ".join(names))
        assert found.endswith(f"; none of {ending}")
    else:
        assert "none of" not in found


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (_km(0.123), "0.12 km"),
        (_km(9.94), "9.9 km"),
        (_km(10.0), "10 km"),
        (_km(10.4), "10 km"),
        (_km(12_345.6), "12,346 km"),
        (_degrees(31.834, "NS"), "31.83 N"),
        (_degrees(-31.8, "NS"), "31.8 S"),
        (_degrees(0.0, "EW"), "0 E"),
        (_degrees(-180.0, "EW"), "180 W"),
        (_count(0, "link"), "0 links"),
        (_count(1, "link"), "1 link"),
        (_count(1234, "link"), "1,234 links"),
    ],
)
def test_lengths_places_and_numbers_of_things(shown, text):
    assert shown == text


@pytest.mark.parametrize(
    ("lowest", "highest", "below", "said"),
    [
        (1.5, 1.5, 0, "are 1.5 times the geodesic between the ends"),
        (1.5, 1.501, 0, "are 1.5 times the geodesic between the ends"),
        (0.9, 1.5, 1, "are 0.9 to 1.5 times the geodesic between the ends; 1 is shorter than it"),
        (0.9, 1.5, 2, "are 0.9 to 1.5 times the geodesic between the ends; 2 are shorter than it"),
    ],
)
def test_stated_lengths_are_compared_with_the_geodesic(lowest, highest, below, said):
    span = SimpleNamespace(lowest=5.0, highest=20.0, highest_at="A - B")
    facts = SimpleNamespace(
        capacity_bps=None,
        assumed_bps=1e9,
        links=3,
        length_stated=3,
        length_computed=0,
        length_km=span,
        stated_over_geodesic=SimpleNamespace(lowest=lowest, highest=highest, lowest_at="C - D"),
        below_geodesic=below,
    )
    lines = dict(_link_lines(facts))
    assert said in lines[""]
    assert ("such as C - D" in lines[""]) == (below > 0)
    assert lines["capacity"] == "none stated: 1 Gbps assumed on all 3 links"
    assert lines["length"] == "5 km to 20 km; stated on all 3 links"
