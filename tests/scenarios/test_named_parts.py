"""Which parts of a difference from the paper are named, and in which order."""

from types import SimpleNamespace

import pytest

from scenarios.validation.validation_study import Validated


@pytest.mark.parametrize(
    ("parts", "arcs", "named"),
    [
        ({"queue": 1.0, "slow start": 1.0}, True, ["slow start", "queue"]),
        ({"queue": 1.0 + 5e-10, "slow start": 1.0}, True, ["slow start", "queue"]),
        ({"queue": 1.0 + 2e-9, "slow start": 1.0}, True, ["queue", "slow start"]),
        ({"queue": 1.0, "rate": 0.5}, True, ["queue"]),
        ({"queue": 1.0, "rate": 0.5}, False, ["queue", "rate"]),
        ({"queue": 1.0, "rate": 1.0}, False, ["queue", "rate"]),
        ({"rate": -2.0, "queue": 1.0}, False, ["rate", "queue"]),
        ({"queue": 1.0, "rate": 0.1}, False, ["queue", "rate"]),
        ({"queue": 1.0, "rate": 0.099}, False, ["queue"]),
        ({"queue": 1.0, "rate": 0.5, "world": 0.1}, True, ["queue", "rate", "world"]),
        ({"queue": 1.0, "rate": 0.5, "world": 0.099}, True, ["queue"]),
        ({"queue": 1.0, "rate": 0.5, "slow start": -0.1}, True, ["queue", "rate", "slow start"]),
        ({"queue": 1.0}, True, ["queue"]),
        ({}, True, []),
    ],
)
def test_the_largest_part_and_those_of_a_tenth_of_it_beside_events_or_without_arcs(parts, arcs, named):
    one = SimpleNamespace(
        parts_s=lambda: parts,
        is_explained=True,
        attribution=object() if arcs else None,
        _name=lambda part: f"<{part}>",
        _location=lambda part: f"at {part}",
    )
    said = Validated.why(one)

    assert [part.split(">")[0] for part in said.split("<")[1:]] == named
    assert said.endswith(f"a round; at {named[0]}" if named else "")
    one.is_explained = False
    assert Validated.why(one) == ""
