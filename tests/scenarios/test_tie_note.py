"""Which overlays are called a tie."""

import pytest

from scenarios.report.tie_note import tie_notes


@pytest.mark.parametrize(
    ("simulated_s", "groups"),
    [
        ({}, []),
        ({"ring": 1.0}, []),
        ({"ring": 1.0, "mst": None}, []),
        ({"ring": 1.0, "mst": 1.15}, []),
        ({"ring": 1.0, "mst": 1.149}, ["ring and mst"]),
        ({"star": 3.0, "ring": 1.0, "best": 1.0, "mst": 3.2}, ["best and ring", "star and mst"]),
        # 1.2 is close to 1.1, but not to the fastest one.
        ({"a": 1.0, "b": 1.1, "c": 1.2}, ["a and b"]),
        ({"a": 0.0, "b": 0.0}, []),
    ],
)
def test_groups(simulated_s, groups):
    rows = [{"overlay": name, "simulated_s": seconds} for name, seconds in simulated_s.items()]

    assert tie_notes(rows, "simulated_s") == [
        f"a tie on real TCP, less than 15 % apart (simulated): {group}." for group in groups
    ]
