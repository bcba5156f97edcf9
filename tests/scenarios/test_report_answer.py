"""The answer of a run's page: what it says is true in every case."""

import pytest

from scenarios.pages.answer import (
    Compared,
    _by_cycle_time,
    _ratio,
    _some,
    agreement,
    answer,
    question,
    two_digits,
)


def row(
    overlay,
    simulated_s,
    *,
    paper_s=None,
    load_s=None,
    half_s=0.0,
    exact=True,
    reached=None,
    whole=True,
    trained=None,
    rounds=200,
):
    """A row of a run's table; `reached` is the round and the time of the target."""
    paper_s = simulated_s if paper_s is None else paper_s
    at = reached or (None, None)
    return {
        "overlay": overlay,
        "paper_s": paper_s,
        "load_bound_s": load_s,
        "simulated_s": simulated_s,
        "simulated_half_width_s": half_s,
        "simulated_is_exact": exact,
        "simulated_rounds": rounds,
        "simulation_is_whole": whole,
        "over_paper": None if simulated_s is None or not paper_s else simulated_s / paper_s - 1,
        "rounds_to_target": at[0],
        "time_to_target_s": at[1],
        "trained_rounds": trained,
    }


def compared(*rows, hubs=("star",), target=0.9, trained=True, cut=(), **others):
    return Compared(
        rows=rows,
        hubs=hubs,
        place="GEANT at 100 Mbps",
        target_accuracy=target,
        is_trained=trained,
        cut_trainings=cut,
        **others,
    )


def first(*rows, **options):
    return answer(compared(*rows, **options))[0]


def test_the_fastest_to_the_target_against_the_star():
    said = first(row("star", 10.0, reached=(40, 402.5)), row("ring", 1.0, reached=(25, 25.0)))

    assert said == (
        "On GEANT at 100 Mbps the ring is 16.1 times faster to a test accuracy of 90 % than the STAR "
        "(25.00 s against 402.5 s)."
    )


def test_the_star_itself_is_fastest():
    said = first(row("star", 1.0, reached=(10, 10.0)), row("mst", 2.0, reached=(10, 20.0)), row("a", 9.0))

    assert "the STAR is 2 times faster to a test accuracy of 90 % than mst, the next" in said
    assert said.endswith("; a does not reach it in the rounds that were trained.")


def test_without_a_star_the_slowest_is_what_others_are_compared_with():
    said = first(row("a", 1.0, reached=(10, 10.0)), row("b", 2.0, reached=(10, 20.0)), hubs=())

    assert "a is 2 times faster to a test accuracy of 90 % than b, the slowest" in said


def test_a_star_that_never_reaches_the_target_is_no_reference():
    said = first(
        row("star", 9.0), row("a", 1.0, reached=(10, 10.0)), row("b", 2.0, reached=(10, 30.0)), target=0.5
    )

    assert "a is 3 times faster to a test accuracy of 50 % than b, the slowest" in said
    assert "the STAR does not reach it" in said


def test_only_one_reaches_the_target():
    said = first(row("star", 9.0), row("ring", 1.0, reached=(12, 12.0)))

    assert said.startswith("On GEANT at 100 Mbps the ring alone reaches a test accuracy of 90 %")
    assert "after 12.00 s (12 rounds); the STAR does not reach it" in said


def test_ties_are_not_called_faster():
    said = first(row("star", 1.0, reached=(10, 10.0)), row("ring", 1.0, reached=(10, 10.02)))

    assert (
        said
        == "On GEANT at 100 Mbps the STAR and the ring reach a test accuracy of 90 % equally fast within "
        "0.5 %, after "
        "10.00 s (10 rounds)."
    )


def test_two_that_are_fastest_are_named_both():
    said = first(
        row("star", 9.0, reached=(9, 90.0)), row("a", 1.0, reached=(9, 9.0)), row("b", 1.0, reached=(9, 9.0))
    )

    assert "a and b, equally fast, are 10 times faster" in said
    assert "than the STAR" in said


def test_the_target_at_the_start_has_no_ratio():
    said = first(row("star", 9.0, reached=(9, 90.0)), row("a", 1.0, reached=(0, 0.0)))

    assert "a is at a test accuracy of 90 % from the start, the STAR only after 90.00 s." in said


def test_no_overlay_reaches_the_target():
    said = first(row("star", 10.0), row("ring", 2.0))

    assert said == (
        "On GEANT at 100 Mbps, no overlay reaches a test accuracy of 90 % in the rounds that were trained; a round of "
        "the ring is 5 times shorter than one of the STAR (2.000 s against 10.00 s)."
    )


def test_one_overlay():
    assert (
        first(row("ring", 2.0, reached=(1, 2.0))) == "On GEANT at 100 Mbps the ring reaches a test accuracy "
        "of 90 % after 2.000 s (1 round)."
    )
    assert (
        first(row("ring", 2.0), target=None, trained=False)
        == "On GEANT at 100 Mbps, a round of the ring takes 2.000 s."
    )
    assert question(compared(row("ring", 2.0))) == "How fast is the ring on GEANT at 100 Mbps?"


def test_estimates_have_their_intervals_and_ties_within_them():
    far = first(row("star", 10.0), row("a", 2.0, half_s=0.1, exact=False), target=None, trained=False)
    near = first(
        row("a", 2.0, half_s=0.1, exact=False),
        row("b", 2.15, half_s=0.1, exact=False),
        target=None,
        trained=False,
        hubs=(),
    )

    assert "is about 5 times shorter than one of the STAR (about 2.000 s +- 100.0 ms against 10.00 s)" in far
    assert "takes as long on a and b" in near
    assert near.endswith("as far as their 95 % intervals tell.")


def test_without_whole_simulations_the_closed_form_is_named():
    said = answer(
        compared(row("star", None, paper_s=4.0, whole=False), row("a", 2.0), target=None, trained=False)
    )

    assert "by the larger of paper and load" in said[0]
    assert "2 times shorter" in said[0]
    assert said[-1] == "The run was interrupted, and the simulation of star is not whole."


def test_without_simulation_nothing_is_faster_than_its_load_bound():
    rows = (
        row("ring", None, paper_s=1.0, load_s=4.0, whole=False),
        row("mst", None, paper_s=2.0, load_s=1.0, whole=False),
    )

    assert "a round of mst by the larger of paper and load" in first(
        *rows, target=None, trained=False, hubs=()
    )
    assert "2 times shorter than one of the ring" in first(*rows, target=None, trained=False, hubs=())


def test_overlays_that_are_not_trained_yet_are_not_said_to_miss_the_target():
    said = first(
        row("star", 1.0, reached=(3, 3.0), trained=10), row("a", 2.0), row("b", 2.0, trained=10), cut=["a"]
    )

    assert "b does not reach it in the rounds that were trained; a is not trained yet" in said
    assert "alone" not in said


def test_no_time_at_all_has_no_ratio():
    said = first(row("star", 1.0), row("a", 0.0), target=None, trained=False)

    assert "a round of a takes no time, one of the STAR takes 1.000 s" in said


def test_a_training_that_ended_early_is_said():
    said = answer(compared(row("ring", 1.0, reached=(3, 3.0), trained=5), cut=["ring"]))

    assert said[-1] == "The run was interrupted, and the training of ring is not whole."


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("a", 1.0042, paper_s=1.0)], "The paper's closed form of the cycle time of a is within 0.5 %"),
        ([row("a", 1.0), row("b", 1.0)], "of each overlay is within 0.1 % of the simulation"),
        (
            [row("a", 0.6, paper_s=1.0), row("b", 1.0)],
            "of a is 40 % below the paper's closed form; of b it is within 1 %.",
        ),
        (
            [row("a", 1.5, paper_s=1.0), row("b", 1.2, paper_s=1.0)],
            "of a is 50 % above the paper's closed form, the largest",
        ),
        ([row("a", None, paper_s=1.0)], "There is no simulated cycle time to check"),
        (
            [row("a", 1.0, paper_s=1.0, half_s=0.02, exact=False)],
            "of a is as the paper's closed form says (+- 2 %).",
        ),
        (
            [row("a", 1.64, paper_s=1.0, half_s=7e-15, exact=False)],
            "The simulated cycle time of a is 64 % above the paper's closed form.",
        ),
        (
            [row("a", 1.0), row("b", None, paper_s=1.0)],
            "of a is within 0.1 % of the simulation; of b there is no whole simulation.",
        ),
        (
            [row("a", 1.1953, paper_s=1.0, half_s=None, exact=False), row("b", 1.0)],
            "The simulated cycle time of a is about 20 % above the paper's closed form, of 200 rounds without an "
            "interval; of b it is within 1 %.",
        ),
        (
            [row("a", 1.001, paper_s=1.0, half_s=None, exact=False)],
            "of a is within 0.1 % of the simulation. Of a the simulation is an estimate without an interval.",
        ),
    ],
)
def test_how_right_the_closed_form_is(rows, said):
    assert said in agreement(rows)


def test_the_star_among_the_fastest_is_compared_with_the_next():
    said = first(
        row("a", 1.0, reached=(9, 9.0)), row("star", 1.0, reached=(9, 9.0)), row("b", 1.0, reached=(9, 18.0))
    )

    assert (
        "a and the STAR, equally fast, are 2 times faster to a test accuracy of 90 % than b, the next" in said
    )


def test_events_are_said_beside_closed_forms_that_do_not_know_them():
    said = answer(compared(row("ring", 2.0, paper_s=1.0), events=["capacity", "meteor"], trained=False))

    assert said[2] == (
        "The simulation includes changing capacities and events (meteor), of which closed forms know nothing."
    )


def test_events_that_nothing_simulates_are_not_said():
    unsimulated = row("ring", None, paper_s=1.0)
    both = compared(unsimulated, row("star", 2.0), events=["capacity"], trained=False)
    assert any("changing capacities" in sentence for sentence in answer(both))
    for rows, events in (((unsimulated,), ["capacity"]), ((row("star", 2.0),), ())):
        said = answer(compared(*rows, events=events, trained=False))
        assert not any("The simulation includes" in sentence for sentence in said)


def test_a_file_without_overlays_has_no_answer():
    assert answer(compared()) == ("The file holds no overlay.",)


def test_overlays_without_any_time_are_not_compared():
    rows = [{**row(kind, None), "paper_s": None} for kind in ("star", "ring")]
    assert _by_cycle_time(compared(*rows)) == "there is no cycle time of any overlay."


def test_many_overlays_are_counted():
    kinds = [f"o{number}" for number in range(9)]
    asked = "Which overlay is fastest on GEANT at 100 Mbps: {}?"
    assert question(compared(*(row(kind, 1.0) for kind in kinds))) == asked.format(
        "o0, o1, o2, o3, o4, o5, o6 or 2 more"
    )
    eight = compared(*(row(kind, 1.0) for kind in kinds[:8]))
    assert question(eight) == asked.format("o0, o1, o2, o3, o4, o5, o6 or o7")
    assert question(compared(row("star", 1.0), row("x", 1.0))) == asked.format("star or x")
    assert _some(kinds[:5]) == "o0, o1, o2, o3 and o4"
    assert _some(kinds[:6]) == "o0, o1, o2, o3 and 2 more"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "1.00"), (1.0949, "1.09"), (1.1, "1.1"), (38.826, "38.8"), (999.4, "999"), (12345.6, "12,346")],
)
def test_a_ratio_has_three_digits_or_all_before_the_point(ratio, text):
    assert _ratio(ratio) == text


def test_two_digits_are_all_that_is_known():
    assert [two_digits(number) for number in (0.123, 1.26, 19.53, 1953, 123456)] == [
        "0.12",
        "1.3",
        "20",
        "2,000",
        "120,000",
    ]


def test_several_that_miss_the_target_or_are_not_trained_are_in_the_plural():
    rows = [row("star", 1.0, reached=(3, 3.0), trained=10), *(row(kind, 2.0, trained=10) for kind in "ab")]
    said = first(*rows, *(row(kind, 2.0) for kind in "cd"), cut=["c", "d"])
    assert said == (
        "On GEANT at 100 Mbps the STAR reaches a test accuracy of 90 % after 3.000 s (3 rounds); a and b do not reach "
        "it in the rounds that were trained; c and d are not trained yet."
    )
    assert first(row("a", 2.0)) == (
        "On GEANT at 100 Mbps, it does not reach a test accuracy of 90 % in the rounds that were trained; a round of a "
        "takes 2.000 s."
    )
    both = answer(compared(row("a", 2.0, whole=False), row("b", 2.0, whole=False), cut=["a", "b"]))
    assert both[-1] == (
        "The run was interrupted, and the simulation of a and b and the training of a and b are not whole."
    )


def test_ties_with_other_numbers_of_rounds_have_no_number():
    said = first(row("a", 1.0, reached=(10, 10.0)), row("b", 1.0, reached=(1000, 10.0)), hubs=())
    assert said == "On GEANT at 100 Mbps a and b reach a test accuracy of 90 % equally fast, after 10.00 s."
    said = first(row("a", 1.0, reached=(1000, 10.0)), row("b", 1.0, reached=(1000, 10.0)), hubs=())
    assert said.endswith(" equally fast, after 10.00 s (1,000 rounds).")


def test_long_times_are_told_in_days_too():
    said = first(row("star", 9.0, reached=(9, 864_000.0)), row("a", 1.0, reached=(9, 9.0)))
    assert said.endswith("than the STAR (9.000 s against 864000 s, 10.00 d).")
    said = first(row("star", 9.0, reached=(9, 9999.0)), row("a", 1.0, reached=(9, 9.0)))
    assert said.endswith("than the STAR (9.000 s against 9999 s).")
    said = first(row("star", 9.0, reached=(9, 10_000.0)), row("a", 1.0, reached=(9, 9.0)))
    assert said.endswith("than the STAR (9.000 s against 10000 s, 2.778 h).")


def test_estimates_without_an_interval_have_two_digits():
    rows = [row("star", 11.23), row("a", 2.345, half_s=None, exact=False, rounds=150)]
    said = first(*rows, target=None, trained=False)
    assert said.endswith(
        "a round of a is about 4.8 times shorter than one of the STAR (about 2.3 s, of 150 rounds without an interval "
        "against 11.23 s)."
    )
    rows = [row("a", 2.345, half_s=None, exact=False, rounds=None)]
    assert first(*rows, target=None, trained=False).endswith(
        "a round of a takes about 2.3 s, an estimate without an interval."
    )


def test_intervals_tell_which_are_alike():
    def said(gap_s, half_s):
        rows = [row("a", 1.0, half_s=half_s, exact=False), row("b", 1.0 + gap_s, half_s=half_s, exact=False)]
        return first(*rows, row("star", 3.0), target=None, trained=False)

    assert "a and b (equally long, as far as their 95 % intervals tell) is about 3 times" in said(0.1, 0.06)
    assert "a round of a is about 3 times shorter" in said(0.1, 0.04)
    assert "a and b (equally long) is about 3 times" in said(0.0, 0.04)


def test_overlays_that_were_imported_have_one_curve():
    once = "All overlays have the one imported training curve, so that only the times of their rounds differ."
    rows = (row("a", 1.0, reached=(9, 9.0)), row("b", 2.0, reached=(9, 18.0)))
    assert once in answer(compared(*rows, is_imported=True))
    assert once not in answer(compared(*rows[:1], is_imported=True))
    assert once not in answer(compared(*rows))
