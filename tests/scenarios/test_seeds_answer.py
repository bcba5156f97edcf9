"""What runs with several seeds say, on tables made by hand: all sentences, word for word."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from scenarios.pages.answer import Compared
from scenarios.pages.seeds_answer import seeds_answer, seeds_question
from scenarios.report.seeds_table import seeds_table


def overlay(kind, at_s, accuracy, loss):
    """What the table reads of an overlay that reaches the target after so many seconds, in round 5."""
    history = {"test_accuracy": accuracy, "train_loss": loss}
    return SimpleNamespace(
        kind=kind,
        history={name: [value] for name, value in history.items() if value is not None},
        simulation=SimpleNamespace(cycle_time_s=1.0, is_exact=True),
        first_round_at=lambda _accuracy: None if at_s is None else (5, at_s),
    )


def said(times=None, ends=None, losses=None, *, target=0.5):
    """The sentences, of times to the target, last accuracies and last losses: for each overlay those of all seeds."""
    given = times or ends or losses
    seeds = len(next(iter(given.values())))
    runs = {
        seed: SimpleNamespace(
            overlays=[
                overlay(
                    kind,
                    times[kind][seed] if times else None,
                    # Equal accuracies, unless they are given or there are losses alone.
                    ends[kind][seed] if ends else None if losses and not times else 0.75,
                    losses[kind][seed] if losses else None,
                )
                for kind in given
            ]
        )
        for seed in range(seeds)
    }
    table = seeds_table(runs, "", target)
    compared = Compared(rows=table.rows, hubs=["star"], place="gaia", target_accuracy=target, is_trained=True)
    return seeds_answer(compared, table)


def test_nothing_trained_is_all_that_is_said():
    assert said(losses={"star": [None, None], "ring": [None, None]}) == ("Nothing was trained.",)


def test_one_run_that_was_trained_is_enough():
    assert said(ends={"star": [None], "ring": [0.25]}, target=None) == (
        "In the end the ring has a test accuracy of 25.00 %.",
    )
    # Means are those of all seeds; a seed without an accuracy leaves none.
    assert said(ends={"star": [None, None], "ring": [0.25, None]}, target=None) == ()
    assert said(ends={"star": [None], "ring": [0.25]})[0] == (
        "On gaia, no overlay reaches a test accuracy of 50 %."
    )


def test_without_accuracies_the_lowest_loss_is_told_and_no_target():
    assert said(losses={"star": [2.0, 2.5], "ring": [1.0, 1.5], "mst": [4.0, 4.5]}) == (
        "In the end the ring has the lowest training loss, 1.250 +- 3.2 (the STAR 2.250 +- 3.2, mst 4.250 +- 3.2).",
        "Over the same seeds the STAR is 1.000 +- 0 higher.",
    )
    assert said(losses={"star": [2.0], "ring": [1.0]}) == (
        "In the end the ring has the lowest training loss, 1.000 (the STAR 2.000).",
    )


def test_the_highest_accuracy_is_told_before_the_others():
    assert said(ends={"star": [0.5, 0.6], "ring": [0.6, 0.7]}, target=None) == (
        "In the end the ring has the highest test accuracy, 65.00 +- 64 % (the STAR 55.00 +- 64 %).",
        "Over the same seeds the STAR is 10.00 +- 0 percentage points lower.",
    )


def test_accuracies_of_five_seeds_that_do_not_tell_need_no_more():
    # Differences of 0.2, -0.1 and three times 0.05: half widths are those of Student's distribution.
    star, ring = [0.4, 0.5, 0.4, 0.4, 0.4], [0.6, 0.4, 0.45, 0.45, 0.45]
    (only,) = said(ends={"star": star, "ring": ring, "mst": [0.1] * 5}, target=None)
    assert only == (
        "In the end 5 seeds do not tell the ring and the STAR apart by the test accuracy, 47.00 +- 9.4 % and "
        "42.00 +- 5.6 %, 5.000 +- 13 percentage points lower over the same seeds (mst 10.00 +- 0 %)."
    )


def test_equal_accuracies_are_named_together_and_lower_ones_behind():
    assert said(ends={"star": [0.2], "ring": [0.4], "mst": [0.4], "a": [0.1]}, target=None) == (
        "In the end the ring and mst have the same test accuracy, 40.00 % (the STAR 20.00 %, a 10.00 %).",
    )
    assert said(ends={"star": [0.2] * 2, "ring": [0.2] * 2}, target=None) == (
        "In the end the STAR and the ring have the same test accuracy in each seed, 20.00 +- 0 %.",
    )
    # Those of one seed alone are no equal ones, nor are equal means of other seeds.
    (only,) = said(ends={"star": [0.2, 0.3], "ring": [0.2, 0.45]}, target=None)
    assert only.startswith(
        "In the end 2 seeds do not tell the ring and the STAR apart by the test accuracy, 32.50 +- 158.8 % and "
        "25.00 +- 64 %, 7.500 +- 95 percentage points lower over the same seeds; more"
    )
    (only,) = said(ends={"star": [0.2, 0.4], "ring": [0.4, 0.2]}, target=None)
    assert only.startswith("In the end 2 seeds do not tell the STAR and the ring apart")


def test_of_many_overlays_seven_are_named_in_the_end():
    kinds = [f"o{place}" for place in range(9)]
    (only,) = said(ends={kind: [(90 - place) / 100] for place, kind in enumerate(kinds)}, target=None)
    assert only == (
        "In the end o0 has the highest test accuracy, 90.00 % (o1 89.00 %, o2 88.00 %, o3 87.00 %, o4 86.00 %, "
        "o5 85.00 %, o6 84.00 %)."
    )


@pytest.mark.parametrize(
    ("times", "sentences"),
    [
        ({"star": [None]}, ["On gaia, the STAR does not reach a test accuracy of 50 %."]),
        ({"star": [2.0]}, ["On gaia, the STAR reaches a test accuracy of 50 %: after 2.000 s."]),
        (
            {"star": [2.0, None, 1.0]},
            ["On gaia, 2 of 3 of the runs reach a test accuracy of 50 %."],
        ),
        ({"star": [None], "ring": [None]}, ["On gaia, no overlay reaches a test accuracy of 50 %."]),
        (
            {"star": [None, None], "ring": [2.0, None], "mst": [None, 1.0]},
            [
                "On gaia, a test accuracy of 50 % is not reached by any overlay in all runs: the ring in 1 of 2 and "
                "mst in 1 of 2; the STAR in none."
            ],
        ),
        (
            {"ring": [2.0, None], "mst": [None, 1.0]},
            [
                "On gaia, a test accuracy of 50 % is not reached by any overlay in all runs: the ring in 1 of 2 and "
                "mst in 1 of 2."
            ],
        ),
        (
            {"star": [None] * 2, "ring": [2.0] * 2, "mst": [1.0, None], "a": [None] * 2},
            [
                "On gaia, the ring reaches a test accuracy of 50 % first: after 2.000 s +- 0 s in the mean, with its "
                "95 % interval.",
                "Not all runs of the others reach it: mst in 1 of 2, the STAR and a in none.",
            ],
        ),
        (
            {"star": [None], "ring": [2.0]},
            [
                "On gaia, the ring reaches a test accuracy of 50 % first: after 2.000 s.",
                "Not all runs of the others reach it: the STAR in none.",
            ],
        ),
        (
            {"star": [3.0], "ring": [2.0]},
            [
                "On gaia, the ring reaches a test accuracy of 50 % first: after 2.000 s.",
                "Then follows the STAR after 3.000 s.",
            ],
        ),
        (
            {"star": [3.0, 3.0], "ring": [2.0, 2.0], "mst": [4.0, 4.0]},
            [
                "On gaia, the ring reaches a test accuracy of 50 % first: after 2.000 s +- 0 s in the mean, with its "
                "95 % interval.",
                "Then follow the STAR after 3.000 s +- 0 s and mst after 4.000 s +- 0 s.",
                "Over the same seeds the STAR is 1.000 s +- 0 s later.",
                "By seeds, the ring is the first in 2 of 2.",
            ],
        ),
        (
            {"star": [1.0, 4.0], "ring": [2.0, 2.0], "mst": [9.0, 9.0]},
            [
                "On gaia, 2 seeds do not tell the ring and the STAR apart: the ring is the first in 1 of 2, the STAR "
                "in 1; more may (--seeds 5).",
                "In the mean the ring reaches a test accuracy of 50 % after 2.000 s +- 0 s, with its 95 % interval, "
                "and the STAR after 2.500 s +- 19 s: 500.0 ms +- 19 s later over the same seeds, an interval that "
                "holds 0.",
                "Then follows mst after 9.000 s +- 0 s.",
            ],
        ),
        (
            # The ring wins by little in each of three, of which it loses one: 1, 1 and -1.
            {"star": [3.0, 5.0, 6.0], "ring": [2.0, 4.0, 7.0]},
            [
                "On gaia, 3 seeds do not tell the ring and the STAR apart: the ring is the first in 2 of 3, the STAR "
                "in 1; more may (--seeds 5).",
                "In the mean the ring reaches a test accuracy of 50 % after 4.333 s +- 6.3 s, with its 95 % interval, "
                "and the STAR after 4.667 s +- 3.8 s: 333.3 ms +- 2.9 s later over the same seeds, an interval that "
                "holds 0.",
            ],
        ),
        (
            {"star": [3.0, 3.0], "ring": [3.0, 3.0]},
            [
                "On gaia, 2 seeds do not tell the STAR and the ring apart: the STAR is the first in 2 of 2, the ring "
                "in 2; more may (--seeds 5).",
                "In the mean the STAR reaches a test accuracy of 50 % after 3.000 s +- 0 s, with its 95 % interval, "
                "and the ring after 3.000 s +- 0 s.",
            ],
        ),
        (
            # Equal in one seed of two.
            {"star": [3.0, 3.0], "ring": [2.0, 3.0]},
            [
                "On gaia, 2 seeds do not tell the ring and the STAR apart: the ring is the first in 2 of 2, the STAR "
                "in 1; more may (--seeds 5).",
                "In the mean the ring reaches a test accuracy of 50 % after 2.500 s +- 6.4 s, with its 95 % interval, "
                "and the STAR after 3.000 s +- 0 s: 500.0 ms +- 6.4 s later over the same seeds, an interval that "
                "holds 0.",
            ],
        ),
    ],
)
def test_who_reaches_the_target_is_told_by_runs(times, sentences):
    assert list(said(times))[: len(sentences)] == sentences
    # The last sentence is that of the end, where all are equal.
    assert len(said(times)) == len(sentences) + 1


@pytest.mark.parametrize(("later", "rest"), [(6, ""), (7, " and 1 more later"), (9, " and 3 more later")])
def test_of_many_overlays_six_follow(later, rest):
    times = {f"o{place}": [1.0 + place] for place in range(later + 1)}
    named = [f"o{place} after {1 + place}.000 s" for place in range(1, 7)]
    listed = ", ".join(named) + rest if rest else f"{', '.join(named[:-1])} and {named[-1]}"
    assert said(times)[1] == f"Then follow {listed}."


def test_the_question_counts_overlays_and_seeds():
    compared = Compared(
        rows=[{"overlay": "ring"}], hubs=[], place="gaia", target_accuracy=None, is_trained=True
    )
    assert seeds_question(compared, 1) == "How well does the ring train on gaia, over 1 seed?"
    assert seeds_question(compared, 2) == "How well does the ring train on gaia, over 2 seeds?"
    two = replace(compared, rows=[{"overlay": "ring"}, {"overlay": "mst"}])
    assert seeds_question(two, 2) == "Which overlay trains fastest on gaia, over 2 seeds?"


def test_seeds_of_others_that_miss_the_target_win_where_they_are_the_first():
    sentences = said({"star": [4.0, 4.0], "ring": [5.0, 5.0], "mst": [1.0, None]})
    assert sentences[3] == "By seeds, the STAR is the first in 1 of 2, mst in 1."
