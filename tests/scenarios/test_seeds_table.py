"""The table of several seeds: means, intervals, what is shown of them, and the table's file."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from test_tables_and_plots import overlay, record

from scenarios.report.seeds_table import MEASURES, _list, differs_from, is_seeds_table, seeds_table
from scenarios.report.table_formats import Csv

STUDENT = float(stats.t.ppf(0.975, 1))
"""Of two samples: half of their difference times this is the half width."""


def two_seeds(*, exact=(True, True), target=0.5, reaching=(0.9, 0.7)):
    """The table of a star and a ring with two seeds, whose times and accuracies differ by 2 s and by their ends."""
    runs = {
        seed: record(
            overlay("star", 3.0, [0.1, 0.6, 0.8]),
            overlay("ring", 1.0 + 2 * place, [0.1, 0.2, reaching[place]], exact=exact[place]),
        )
        for place, seed in enumerate((3, 10))
    }
    return seeds_table(runs, "two", target, events=["An event."])


def test_means_and_half_widths_are_those_of_the_samples():
    table = two_seeds()
    star, ring = table.rows

    assert [star["overlay"], ring["overlay"], star["seeds"], ring["seeds"]] == ["star", "ring", 2, 2]
    assert (star["simulated_s_mean"], star["simulated_s_half_width"]) == (3.0, 0.0)
    expected = {
        "simulated_s": (2.0, 1.0),
        "train_loss": (1.2, 0.1),
        "test_accuracy": (0.8, 0.1),
        "rounds_to_target": (2.0, 0.0),
        "time_to_target_s": (4.0, 2.0),
    }
    for name, (mean, apart) in expected.items():
        assert ring[f"{name}_mean"] == pytest.approx(mean, rel=1e-12)
        assert ring[f"{name}_half_width"] == pytest.approx(STUDENT * apart, rel=1e-9, abs=1e-12)
    assert ring["simulated_s_text"] == "2.000 +- 13"
    assert star["time_to_target_s_text"] == "3.000 +- 0"
    assert (ring["reached"], ring["is_exact"]) == (2, True)
    assert table.further["seeds"] == [3, 10]
    assert table.further["target_accuracy"] == 0.5
    assert [(row["seed"], row["overlay"], row["simulated_s"]) for row in table.further["runs"]] == [
        (3, "star", 3.0),
        (3, "ring", 1.0),
        (10, "star", 3.0),
        (10, "ring", 3.0),
    ]


def test_what_the_table_shows_and_says():
    table = two_seeds()

    assert [(column.key, column.title) for column in table.columns] == [
        ("overlay", "overlay"),
        ("simulated_s_text", "cycle time (s)"),
        ("test_accuracy_text", "accuracy"),
        ("rounds_to_target_text", "rounds"),
        ("time_to_target_s_text", "time (s)"),
        ("reached", "reached"),
    ]
    assert table.caption == "two"
    assert table.notes.splitlines() == [
        "mean +- 95 % interval of Student's distribution over seeds 3, 10.",
        "rounds, time: to a test accuracy of 0.5, where all runs reach it.",
        "An event.",
    ]
    assert Csv().text([table]).splitlines()[0].count("_text") == 0


@pytest.mark.parametrize("exact", [(True, False), (False, True), (False, False)])
def test_a_mean_with_an_estimate_in_it_is_marked(exact):
    table = two_seeds(exact=exact)
    star, ring = table.rows

    assert (star["is_exact"], ring["is_exact"]) == (True, False)
    assert (star["simulated_s_text"], ring["simulated_s_text"]) == ("3.000 +- 0", "~2.000 +- 13")
    assert (
        "~: estimated in some runs from rounds that show no period; the interval is that over seeds alone."
        in " ".join(table.notes.split())
    )


def test_a_mean_to_the_target_is_that_of_all_runs_or_none():
    star, ring = two_seeds(reaching=(0.9, 0.4)).rows

    assert (star["reached"], ring["reached"]) == (2, 1)
    assert (ring["rounds_to_target_mean"], ring["time_to_target_s_half_width"]) == (None, None)
    assert ring["rounds_to_target_text"] is None
    assert ring["test_accuracy_mean"] == pytest.approx(0.65)
    # The column is there as long as any run reaches it.
    assert "reached" in [column.key for column in two_seeds(reaching=(0.9, 0.4)).columns]


def test_without_a_target_or_a_training_there_are_no_columns_of_them():
    assert [column.key for column in two_seeds(target=None).columns] == [
        "overlay",
        "simulated_s_text",
        "test_accuracy_text",
    ]
    assert "rounds, time" not in two_seeds(target=None).notes
    untrained = record(replace(overlay("ring", 1.0, []), history={}))
    table = seeds_table({0: untrained, 1: untrained}, "", 0.5)
    assert [column.key for column in table.columns] == ["overlay", "simulated_s_text"]
    assert (table.rows[0]["train_loss_mean"], table.rows[0]["reached"]) == (None, 0)


def test_of_histories_the_last_row_counts_and_those_of_each_silo_do_not():
    ring = overlay("ring", 1.0, [0.1, 0.9])
    per_silo = replace(ring, history=ring.history | {"silo_loss": np.ones((2, 3))})
    begun = replace(ring, history={name: values[:0] for name, values in ring.history.items()})

    assert seeds_table({0: record(per_silo)}, "", None).rows[0]["test_accuracy_mean"] == 0.9
    assert seeds_table({0: record(begun)}, "", None).rows[0]["test_accuracy_mean"] is None


def test_an_interrupted_simulation_without_a_cycle_time_has_no_mean():
    ring = overlay("ring", 1.0, [0.1], exact=False)
    lost = replace(ring, simulation=replace(ring.simulation, cycle_time_s=None))
    (row,) = seeds_table({0: record(ring), 1: record(lost)}, "", None).rows

    assert (row["simulated_s_mean"], row["simulated_s_text"], row["is_exact"]) == (None, None, False)


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([7], "7"),
        ([3, 4], "3, 4"),
        ([3, 4, 5], "3 to 5"),
        ([0, 1, 2, 3], "0 to 3"),
        ([3, 5, 7], "3, 5, 7"),
        ([5, 4, 3], "5, 4, 3"),
        ([1, 2, 4], "1, 2, 4"),
    ],
)
def test_successive_seeds_are_a_range(seeds, text):
    assert _list(seeds) == text


def test_a_file_is_known_as_a_table_of_seeds_by_its_head(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(Csv().text([two_seeds()]))
    assert is_seeds_table(path)
    for missing in ("overlay", "seeds", "reached", *(f"{name}_mean" for name in MEASURES)):
        path.write_text(Csv().text([two_seeds()]).replace(missing, "x", 1))
        assert not is_seeds_table(path)
    for content in (b"", b"overlay,paper_s\nring,1\n", b"\xff\xfe\x00", b'"a\x00'):
        path.write_bytes(content)
        assert not is_seeds_table(path)
    assert not is_seeds_table(tmp_path / "none.csv")


def test_a_table_of_other_values_differs_from_its_file(tmp_path):
    path, table = tmp_path / "a.csv", two_seeds(reaching=(0.9, 0.4))
    path.write_text(Csv().text([table]))
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)

    def changed(key, cell):
        """Whether the ring's row with another cell is another table."""
        other = [
            head,
            rows[0],
            [cell if name == key else its for name, its in zip(head, rows[1], strict=True)],
        ]
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(other)
        return differs_from(path, table)

    assert not changed("seeds", "2")
    assert changed("seeds", "3")
    assert changed("overlay", "mst")
    # Sums in another order differ in the last digits.
    assert not changed("simulated_s_mean", "2.000000001")
    assert changed("simulated_s_mean", "2.00000001")
    assert not changed("rounds_to_target_half_width", "")
    assert changed("rounds_to_target_half_width", "0.0")
    assert changed("simulated_s_mean", "")
    assert changed("simulated_s_mean", "two")
    # Half widths of equal samples are rounding errors.
    path.write_text(Csv().text([two_seeds()]).replace(",0.0,", ",1e-13,"))
    assert not differs_from(path, two_seeds())
    path.write_text(Csv().text([two_seeds()]).replace(",0.0,", ",1e-11,"))
    assert differs_from(path, two_seeds())
    path.write_text(Csv().text([table]) + ",".join(rows[1]) + "\n")
    assert differs_from(path, table)
    path.write_text("\n".join(Csv().text([table]).splitlines()[:2]) + "\n")
    assert differs_from(path, table)
