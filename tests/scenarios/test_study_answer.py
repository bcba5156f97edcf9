"""What the table of a study says, on tables made by hand: winners, ties, factors and counts."""

import pandas
import pytest

from scenarios.pages.study_answer import failed_rows, is_below, ranked_by, study_answer, ties_of


def study(times, overlays=("star", "ring"), key="paper_s", **columns):
    """A table of so many points; times of each overlay in each, point after point."""
    points = len(times) // len(overlays)
    return pandas.DataFrame(
        {
            "point": [place for place in range(points) for _ in overlays],
            "overlay": list(overlays) * points,
            key: pandas.Series(times, dtype=float),
            **columns,
        }
    )


def test_one_point_of_one_overlay_has_nothing_to_compare():
    assert study_answer(study([2.0], ["ring"])) == [
        "1 point of 1 overlay.",
        "Of 1 with a cycle time (the larger of paper and load), ring has the shortest in all of them.",
    ]


@pytest.mark.parametrize("kinds", [["star", "ring"], ["hub", "ring"]])
def test_the_factor_is_that_of_the_star_by_its_kind(kinds):
    # Names are of the user's; another overlay is slower than the STAR, or faster.
    named = {"overlays": ["mine", "ring", "slow"], "kind": [kinds[0], kinds[1], "mst"] * 2}
    (_, _, factor) = study_answer(study([4.0, 2.0, 8.0, 9.0, 3.0, 6.0], **named))
    assert factor == (
        "There a round of mine takes 2 to 3 times as long as one of ring."
        if "star" in kinds
        else "There a round of the fastest other overlay takes 2 times as long as one of ring."
    )


def test_without_kinds_the_star_is_known_by_its_name():
    # The next is faster than the STAR.
    (_, _, factor) = study_answer(study([8.0, 2.0, 4.0], ["star", "ring", "mst"]))
    assert factor == "There a round of star takes 4 times as long as one of ring."


def test_the_star_that_is_best_is_compared_with_the_fastest_other():
    (_, _, factor) = study_answer(study([1.0, 3.0, 5.0], ["star", "ring", "mst"]))
    assert factor == "There a round of the fastest other overlay takes 3 times as long as one of star."


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.94, "0.94"),
        (0.95, "0.950"),
        (1.0, "1"),
        (1.001, "1.001"),
        (1.0499, "1.050"),
        (1.05, "1.1"),
        (12.4, "12"),
    ],
)
def test_ratios_near_1_have_three_digits_behind_the_point(ratio, text):
    times = [ratio * 1000, 1000.0] if ratio > 1 else [1000.0 * ratio, 1000.0] + 2 * [3000.0, 1000.0]
    factor = study_answer(study(times))[2]
    shown = text if ratio > 1 else f"{text} to 3"
    assert factor == f"There a round of star takes {shown} times as long as one of ring."


def test_times_of_0_have_no_factor():
    assert len(study_answer(study([1.0, 0.0]))) == 2
    assert "takes 2 times as long" in study_answer(study([1.0, 0.0, 2.0, 1.0]))[2]


def test_nothing_is_as_fast_as_no_time():
    table = study([0.0, 1.0], time_to_target_s=[0.0, 5.0], target_accuracy=0.5)
    assert study_answer(table)[1:] == [
        "Of 1 point in which a test accuracy of 50 % is reached, star has the shortest time to it in all of them."
    ]
    table = study([0.0, 0.25, 1.0, 2.0], key="simulated_s", simulated_half_width_s=[0.25, 0.0, 0.0, 0.0])
    assert ties_of(table, table["simulated_s"]).tolist() == [True, True, True, False]


def test_of_equal_winners_the_first_of_the_table_is_compared():
    table = study([1.0, 4.0, 8.0, 4.0, 2.0, 8.0], ["ring", "mst", "path"])
    assert study_answer(table)[2] == (
        "There a round of the fastest other overlay takes 0.5 to 4 times as long as one of ring."
    )


def test_winners_are_in_the_order_of_their_points_and_ties_in_that_of_the_table():
    # Both win twice; a third overlay wins once.
    table = study([1, 2, 3, 1, 2, 3, 2, 1, 3, 2, 1, 3, 2, 2, 1], ["star", "ring", "mst"])
    assert study_answer(table)[1].endswith(", star has the shortest in 2, ring in 2 and mst in 1.")
    table = study([2, 1, 3, 2, 1, 3, 1, 2, 3], ["star", "ring", "mst"])
    assert study_answer(table)[1].endswith(", ring has the shortest in 2 and star in 1.")


@pytest.mark.parametrize(
    ("more", "rest"), [(4, "b and c"), (5, ""), (6, "1 more overlay"), (7, "2 more overlays")]
)
def test_five_winners_are_named(more, rest):
    kinds = "abcdefg"[:more]
    times = [1.0 if place == point else 2.0 for point in range(more) for place in range(more)]
    said = study_answer(study(times, kinds))[1]
    named = ", ".join(f"{kind} in 1" for kind in kinds[1:5])
    last = f" and {rest} in at most 1." if more > 5 else "."
    if more <= 5:
        named = " and ".join(named.rsplit(", ", 1))
    assert said.endswith(f"a has the shortest in 1, {named}{last}")


def test_the_larger_of_paper_and_load_counts_where_paper_is_there():
    table = study([1.0, 2.0, None, 2.0], load_bound_s=[3.0, 1.0, 1.0, None])
    assert ranked_by(table).tolist()[:2] == [3.0, 2.0]
    assert ranked_by(table).isna().tolist() == [False, False, True, False]
    assert ranked_by(table.assign(simulated_s=[9.0, None, None, None])).tolist()[0] == 9.0


def test_times_within_rounding_errors_are_ties_and_not_for_want_of_an_interval():
    table = study([1.0, 1.0 + 5e-10, 1.0, 1.0 + 2e-9])
    assert ties_of(table, table["paper_s"]).tolist() == [True, True, True, False]
    assert study_answer(table)[1].endswith(
        "star has the shortest in all of them and ring in 1, ties counted for each."
    )


def test_an_interval_reaches_from_the_end_of_the_other():
    # Both half widths together are 0.5: what is 0.5 longer still touches; an interval that is missing is none.
    table = study(
        [1.0, 1.5, 1.0, 1.75, 1.0, 1.25],
        key="simulated_s",
        simulated_half_width_s=[0.25, 0.25, 0.25, 0.25, 0.125, None],
    )
    assert ties_of(table, table["simulated_s"]).tolist() == [True, True, True, False, True, False]


def test_simulated_times_without_intervals_are_compared_as_they_are():
    table = study([1.0, 1.5], key="simulated_s")
    assert ties_of(table, table["simulated_s"]).tolist() == [True, False]
    assert study_answer(table)[1] == "Of 1 with a simulated cycle time, star has the shortest in all of them."


def test_rows_fail_by_their_error_or_for_want_of_an_overlay():
    table = study([1.0, 2.0, 3.0, 4.0])
    assert not failed_rows(table).any()
    table.loc[1, "overlay"] = None
    assert failed_rows(table).tolist() == [False, True, False, False]
    table["error"] = [None, None, "no", None]
    assert failed_rows(table).tolist() == [False, True, True, False]
    assert study_answer(table)[0] == "2 points of 2 overlays. 2 rows with an error."


def test_marks_below_the_load_bound_are_counted_where_they_are():
    table = study([1.0, 2.0, 3.0, 4.0])
    assert is_below(table).tolist() == [False] * 4
    table["paper_below_load"] = [True, None, False, None]
    assert is_below(table).tolist() == [True, False, False, False]
    assert study_answer(table)[-1] == (
        "In 1 row paper is below the load bound, so that no network is as fast."
    )
    # A row that failed is not counted.
    table["error"] = ["no", None, None, None]
    assert "paper is below" not in study_answer(table)[-1]


def test_a_target_is_named_where_all_points_have_the_same():
    rows = {"time_to_target_s": [20.0, 30.0, None, None], "target_accuracy": 0.75}
    table = study([1.0] * 4, **rows)
    assert study_answer(table)[1:] == [
        "Of 1 point in which a test accuracy of 75 % is reached, star has the shortest time to it in all of them.",
        "There the fastest other overlay takes 1.5 times as long as star to it.",
        "In 1 point no overlay reaches it.",
    ]
    table["time_to_target_s"] = [20.0, 20.0, 40.0, 20.0]
    table["target_accuracy"] = [0.5, 0.5, 0.75, 0.75]
    assert study_answer(table)[1:] == [
        "Of 2 points in which the target accuracy is reached, ring has the shortest time to it in all of them and "
        "star in 1, ties counted for each.",
        "There star takes 1 to 2 times as long as ring to it.",
    ]
