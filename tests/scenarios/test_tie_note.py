"""Which overlays are called a tie."""

import pytest

from scenarios.report.tie_note import tie_notes

pytestmark = pytest.mark.usefixtures("compiled_simulations")


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
        f"less than 15 % apart, so either may be faster on real TCP: {group}." for group in groups
    ]


def test_of_three_any_may_be_faster():
    rows = [
        {"overlay": name, "simulated_s": seconds} for name, seconds in {"a": 1.0, "b": 1.1, "c": 1.05}.items()
    ]

    (said,) = tie_notes(rows, "simulated_s")
    assert said == "less than 15 % apart, so any of them may be faster on real TCP: a, c and b."


@pytest.mark.usefixtures("placeholder_figures")
def test_a_sweep_says_at_which_capacities_overlays_tie(silosim, tmp_path):
    kinds = ("--kind", "mst", "--kind", "delta_mbst", "--kind", "ring")
    result = silosim(
        "sweep", "gaia", *kinds, "--access", "100 Mbps", "1 Gbps", "10 Gbps", "-o", tmp_path / "s.csv"
    ).ok()
    assert (
        "1 Gbps and 10 Gbps: less than 15 % apart, so either may be faster on real TCP: delta_mbst and mst."
        in " ".join(result.out.split())
    )


def test_a_run_says_which_of_its_overlays_tie(silosim, tmp_path):
    out = tmp_path / "run.h5"
    silosim("simulate", "gaia", "--kind", "mst", "--kind", "delta_mbst", "--rounds", "30", "-o", out).ok()
    shown = silosim("show", out).ok()
    assert "less than 15 % apart, so either may be faster on real TCP: delta_mbst and mst." in " ".join(
        shown.out.split()
    )
