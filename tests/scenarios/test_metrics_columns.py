"""Columns, units and values of other programs' metrics, function by function, at their edges."""

import numpy as np
import pytest

from scenarios.metrics_import.clients import _number_first as client_order
from scenarios.metrics_import.clients import end_number
from scenarios.metrics_import.columns import ColumnNames, find_columns
from scenarios.metrics_import.csv_rows import _separator, table_rows
from scenarios.metrics_import.flower import _field, _number_first, flower_rows, is_of_flower
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.json_files import json_rows
from scenarios.metrics_import.rounds import Counting, counts_from_0
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.metrics_import.tensorboard import Scalars, _version
from scenarios.metrics_import.tensorboard_runs import _joined, _runs
from scenarios.metrics_import.values import metric_value, number_of, place_of, round_number
from topologies import InputError

LABELS = ("Rome", "Oslo", "Bern")


def found(known, labels=LABELS, **names):
    """Columns of a file in which each column has so many values."""
    known = dict.fromkeys(known, 5) if not isinstance(known, dict) else known
    return find_columns(known, ColumnNames(**names), labels, source="m.csv", local_steps=1)


def refused(known, labels=LABELS, **names):
    with pytest.raises(InputError) as caught:
        found(known, labels, **names)
    return str(caught.value)


@pytest.mark.parametrize(
    ("known", "chosen", "left"),
    [
        ({"round": 5, "loss": 5}, {"train_loss": "loss"}, {}),
        # The column with the most values; others are named with theirs.
        (
            {"round": 9, "val_loss": 3, "test_loss": 9},
            {"test_loss": "test_loss"},
            {"test_loss": {"val_loss": 3}},
        ),
        ({"round": 9, "val_loss": 9, "test_loss": 0}, {"test_loss": "val_loss"}, {}),
        # A name that says its phase goes before one that does not, unless it has one value alone.
        (
            {"round": 9, "accuracy": 9, "test_accuracy": 2},
            {"test_accuracy": "test_accuracy"},
            {"test_accuracy": {"accuracy": 9}},
        ),
        (
            {"round": 9, "accuracy": 9, "test_accuracy": 1},
            {"test_accuracy": "accuracy"},
            {"test_accuracy": {"test_accuracy": 1}},
        ),
    ],
)
def test_of_columns_of_one_metric_the_fullest_is_taken(known, chosen, left):
    columns = found(known)
    assert (columns.round, columns.unit) == ("round", "rounds")
    assert columns.metrics == chosen
    assert columns.left == left


def test_of_names_that_differ_in_signs_the_fullest_is_taken():
    assert found({"Round": 1, "round": 5, "loss": 5}).round == "round"
    assert found({"Round": 6, "round": 5, "loss": 5}).round == "Round"


def test_a_column_serves_one_end():
    assert refused(["round", "loss"], metrics={"train_loss": "round"}) == (
        "m.csv: loss(='round') must not name the column of round too: one column cannot serve two metrics."
    )
    twice = {"train_loss": "x", "test_loss": "x"}
    assert "test_loss(='x') must not name the column of loss too" in refused(["round", "x"], metrics=twice)
    assert refused(["round", "loss"], client="round") == (
        "m.csv: client(='round') must not name the column of round too."
    )
    assert "examples(='who') must not name the column of client too." in refused(
        ["round", "who", "loss"], client="who", examples="who"
    )


@pytest.mark.parametrize(("count", "shown"), [(9, "c8."), (10, "c9."), (11, "c9, ... (11 columns).")])
def test_ten_columns_are_listed_where_none_holds_the_round(count, shown):
    said = refused([f"c{place}" for place in range(count)])
    assert said.startswith("m.csv: has no column round; --round must name one of c0, c1, ")
    assert said.endswith(shown)


def test_an_epoch_may_be_taken_for_a_round():
    said = refused(["Epoch", "loss"])
    assert (
        "has no column round; --round 'Epoch' takes each epoch for one round; else --round must name" in said
    )
    assert found(["epoch", "loss"], unit="epochs").round == "epoch"


@pytest.mark.parametrize(
    ("known", "unit"),
    [(["global_step"], "steps"), (["step", "epoch"], "steps"), (["step"], None), (["iteration"], None)],
)
def test_a_step_counts_local_steps_where_its_name_or_epochs_beside_it_say_so(known, unit):
    names = dict.fromkeys([*known, "loss"], 5)
    if unit is not None:
        assert (
            find_columns(names, ColumnNames(round=known[0]), LABELS, source="m.csv", local_steps=5).unit
            == unit
        )
        return
    with pytest.raises(InputError, match="may count rounds or local steps"):
        find_columns(names, ColumnNames(round=known[0]), LABELS, source="m.csv", local_steps=5)


def test_columns_of_the_format_go_before_usual_ones():
    known = {"round": 5, "x": 5, "y": 3, "empty": 0, "loss": 9}
    asked = {"train_loss": ["round", "gone", "x", "y", "empty"]}
    columns = find_columns(known, ColumnNames(), LABELS, source="m.csv", usual_columns=asked, local_steps=1)
    assert columns.metrics == {"train_loss": "x"}
    assert columns.left == {"train_loss": {"y": 3}}
    none = find_columns(
        known, ColumnNames(), LABELS, source="m.csv", usual_columns={"train_loss": ["gone"]}, local_steps=1
    )
    assert none.metrics == {"train_loss": "loss"}


def test_a_file_without_a_loss_or_an_accuracy_of_the_test_is_none():
    assert "has no column loss or accuracy; --loss or --accuracy must name one of" in refused(["round", "x"])
    assert "has no column loss or accuracy" in refused(["round", "train_accuracy"])
    assert found(["round", "x"], metrics={"train_loss": "x"}).metrics == {"train_loss": "x"}


def test_unknown_names_and_missing_clients_are_errors():
    assert "client(='who') must be one of" in refused(["round", "loss"], client="who")
    assert "loss(='x') must be one of" in refused(["round", "loss"], metrics={"train_loss": "x"})
    assert "has no column client, which --examples needs" in refused(["round", "loss", "n"], examples="n")
    assert "has a row for each client: --silo-loss must not be given" in refused(
        ["round", "client", "loss"], silo_loss="l/{silo}"
    )
    assert found(["round", "cid", "num_examples", "loss"]).examples == "num_examples"
    assert found(["round", "num_examples", "loss"]).examples is None


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ((0, 1, 2), (0, 1, 2)),
        ((1, 2, 3), (1, 2, 3)),
        (("Rome", "Oslo", "Bern"), ("Rome", "Oslo", "Bern")),
        ((), ()),
    ],
)
def test_silos_have_columns_by_number_or_by_label(names, columns):
    assert found(["round", "loss", *(f"silo_loss/{name}" for name in names)]).silo_loss == tuple(
        f"silo_loss/{name}" for name in columns
    )


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        ((0, 1), {}, "has a loss of some silos, must have one of Bern (silo 2) too: silo_loss/{silo}."),
        ((1, 3), {}, "must have one of Oslo (silo 2) too"),
        (("Rome", "Bern"), {}, "must have one of Oslo (silo 1) too"),
        ((0, 1, 2, 3), {}, "silo_loss/3 must not be there: there are 3 silos."),
        ((1, 2, 3, 4), {}, "silo_loss/4 must not be there: there are 3 silos."),
        (
            (0, 1, 2, 3),
            {"first_silo": 1},
            "first_silo(=1) must be the number of the first silo: silo_loss/0 is there",
        ),
        (
            ("Rome", "Oslo", "Bern"),
            {"first_silo": 0},
            "goes with numbers of silos, but silo_loss/{silo} has their labels",
        ),
        (
            ("Rome", "Bern"),
            {"first_silo": 0},
            "goes with numbers of silos, but silo_loss/{silo} has their labels",
        ),
        (
            (0, 1),
            {"first_silo": 1},
            "first_silo(=1) must be the number of the first silo: silo_loss/0 is there",
        ),
        ((0, 3), {}, "silo_loss/3 must not be there: there are 3 silos."),
        (("Rome", "Bern", 3), {}, "must have one of Oslo (silo 1) too"),
        ((), {"first_silo": 0}, "goes with a column client or silo_loss/{silo}, none of which is there."),
        ((), {"silo_loss": "x/{silo}"}, "has no column x/{silo} of a silo such as Rome or 0."),
        ((0, 1), {"silo_loss": "silo_loss/{silo}"}, "must have one of Bern (silo 2) too"),
    ],
)
def test_losses_are_of_all_silos_or_of_none(names, options, said):
    assert said in refused(["round", "loss", *(f"silo_loss/{name}" for name in names)], **options)


def test_names_that_the_user_gives_are_checked():
    with pytest.raises(InputError, match=r"silo_loss\(='x'\) must contain \{silo\}\."):
        ColumnNames(silo_loss="x")
    for first in (2, -1):
        with pytest.raises(InputError, match=rf"first_silo\(={first}\) must be 0 or 1\."):
            ColumnNames(first_silo=first)
    made = ColumnNames.of_options(
        round="r",
        unit=None,
        silo_loss=None,
        client=None,
        examples=None,
        first_silo=1,
        loss="l",
        accuracy=None,
    )
    assert (made.round, made.metrics, made.first_silo) == ("r", {"train_loss": "l"}, 1)


# Rounds


@pytest.mark.parametrize(
    ("shift", "per_round", "rounds"),
    [(0, 1, [0, 1, 1, 2, 10]), (1, 1, [1, 2, 2, 3, 11]), (0, 5, [0, 1, 1, 1, 2]), (1, 5, [1, 1, 1, 1, 3])],
)
def test_a_round_that_has_begun_counts(shift, per_round, rounds):
    counting = Counting(column="step", unit="steps", shift=shift, per_round=per_round)
    assert counting.rounds_of(np.array([0.0, 0.5, 1.0, 2.0, 10.0])).tolist() == rounds


@pytest.mark.parametrize(
    ("unit", "numbers", "from_0"),
    [
        ("rounds", {"train_loss": [0, 1, 2]}, False),
        ("epochs", {"train_loss": [0, 1, 2]}, True),
        ("epochs", {"train_loss": [1, 2]}, False),
        ("epochs", {"train_loss": [0, 0.5, 1]}, False),
        # Those of the training alone are judged.
        ("epochs", {"train_loss": [1, 2], "test_loss": [0, 1, 2]}, False),
        ("epochs", {"train_loss": [0, 1, 2], "test_loss": [1, 2]}, True),
        ("epochs", {"test_loss": [0, 1, 2]}, True),
        ("epochs", {"test_loss": [1, 2]}, False),
        ("epochs", {"train_loss": [0, 1], "train_accuracy": [1, 2]}, False),
        ("steps", {"train_loss": [49, 99, 149]}, True),
        ("steps", {"train_loss": [50, 100, 150]}, False),
        ("steps", {"train_loss": [49, 99, 150]}, False),
        ("steps", {"train_loss": [1, 3]}, True),
        ("steps", {"train_loss": [0, 1, 2]}, False),
        ("steps", {"train_loss": [49]}, False),
        ("steps", {"train_loss": [49, 99], "train_accuracy": [50, 100]}, False),
        # One value alone tells nothing.
        ("steps", {"train_loss": [49, 99], "train_accuracy": [100]}, True),
    ],
)
def test_epochs_and_steps_that_are_counted_from_0_are_seen(unit, numbers, from_0):
    assert (
        counts_from_0(unit, {name: [float(each) for each in some] for name, some in numbers.items()})
        == from_0
    )


# Values


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("2.5", 2.5), (True, None), (None, None), ("x", None), ([1], None), (10**400, None)],
)
def test_numbers_may_be_texts(value, number):
    assert number_of(value) == number


def row(**values):
    return MetricsRow(source="a.csv, line 2", values=values)


@pytest.mark.parametrize(
    ("value", "shift", "whole", "right"),
    [
        (0, 0, True, True),
        (-1, 0, True, False),
        (-1, 1, True, True),
        (0, -1, True, False),
        (0.5, 0, True, False),
        (0.5, 0, False, True),
        (2**31 - 1, 0, True, True),
        (2**31, 0, True, False),
        (2**31 - 1, 1, True, False),
        ("nan", 0, False, False),
        ("x", 0, False, False),
    ],
)
def test_a_round_is_a_number_from_0_on(value, shift, whole, right):
    if right:
        assert round_number(row(k=value), "k", shift, whole=whole) == float(value)
        return
    with pytest.raises(InputError) as caught:
        round_number(row(k=value), "k", shift, whole=whole)
    said = f"must be a {'whole ' if whole else ''}number >= 0 and <= 2147483647"
    assert str(caught.value).endswith(f"{said}{f' with the shift of {shift}' if shift else ''}.")


def test_a_round_that_is_missing_is_an_error():
    with pytest.raises(InputError, match=r"^a\.csv, line 2: k is missing\.$"):
        round_number(row(k=None), "k", 0, whole=True)
    assert place_of("a, b.csv, line 2") == "line 2"


@pytest.mark.parametrize(
    ("metric", "value", "percent", "read"),
    [
        ("test_accuracy", 0, False, 0.0),
        ("test_accuracy", 1, False, 1.0),
        ("test_accuracy", 1.01, False, None),
        ("test_accuracy", -0.01, False, None),
        ("test_accuracy", 50, True, 0.5),
        ("train_top5_accuracy", 100, True, 1.0),
        ("train_top5_accuracy", 100.5, True, None),
        ("test_loss", -5, False, -5.0),
        ("test_loss", 5, True, 5.0),
        ("test_loss", "inf", False, None),
        ("test_loss", "x", False, None),
    ],
)
def test_accuracies_are_fractions_and_losses_finite(metric, value, percent, read):
    if read is not None:
        assert metric_value(row(m=value), metric, "m", percent=percent) == read
        return
    with pytest.raises(InputError) as caught:
        metric_value(row(m=value), metric, "m", percent=percent)
    assert ("; --percent says" in str(caught.value)) == (metric == "test_accuracy")
    assert ("<= 100." in str(caught.value)) == percent


# Clients


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(
            ("7", 7),
            ("client_7", 7),
            ("node-007", 7),
            ("silo 12", 12),
            ("a__3", 3),
            ("x1y22", 22),
            ("a7 ", None),
        ),
        *(("-7", None), ("3.7", None), ("alice", None), ("", None), ("a123456789", 123456789)),
        ("a1234567890", None),
    ],
)
def test_a_client_may_end_with_its_number(name, number):
    assert end_number(name) == number


def test_clients_are_in_the_order_of_their_numbers_then_by_name():
    names = ["b", "10", "9", "a", "09", "2", "0", "\u0664"]
    assert sorted(names, key=client_order) == ["0", "2", "09", "9", "10", "a", "b", "\u0664"]


# Flower


@pytest.mark.parametrize(
    ("name", "phase", "field"),
    [
        ("accuracy", "test", "test_accuracy"),
        ("central_acc", "test", "test_accuracy"),
        ("federated_evaluate_loss", "train", "train_loss"),
        ("val_loss", "test", "test_loss"),
        ("train_loss", "test", None),
        ("central", "test", None),
        ("f1", "test", None),
    ],
)
def test_words_in_front_of_a_metric_that_say_where_it_was_measured_are_none(name, phase, field):
    assert _field(name, phase) == field


def test_rounds_of_flower_are_in_the_order_of_their_numbers():
    assert sorted(["b", "10", "9", "a"], key=lambda text: _number_first((text, None))) == [
        "9",
        "10",
        "a",
        "b",
    ]


def flower(**parts):
    return flower_rows(parts, "h.json")


def test_rows_of_flower_have_their_part_and_entry():
    rows = flower(
        losses_distributed=[[1, 0.5], {"round": 2, "value": 0.25}],
        metrics_centralized={"accuracy": [[1, 0.75]]},
    )
    assert [(each.source, each.values) for each in rows] == [
        ("h.json, losses_distributed, entry 1", {"round": 1, "losses_distributed": 0.5}),
        ("h.json, losses_distributed, entry 2", {"round": 2, "losses_distributed": 0.25}),
        ("h.json, metrics_centralized/accuracy, entry 1", {"round": 1, "metrics_centralized/accuracy": 0.75}),
    ]
    # The server measured an accuracy: its test goes first.
    assert rows.columns == {
        "test_accuracy": ["metrics_centralized/accuracy"],
        "test_loss": ["losses_distributed"],
    }
    assert is_of_flower({"losses_distributed": []})
    assert not is_of_flower({"loss": []})


def test_the_clients_test_counts_where_the_server_has_no_accuracy():
    both = {
        "metrics_distributed": {"accuracy": [[1, 0.5]]},
        "losses_centralized": [[1, 2.0]],
        "losses_distributed": [[1, 1.0]],
    }
    assert flower(**both).columns["test_loss"] == ["losses_distributed", "losses_centralized"]
    both["metrics_centralized"] = {"accuracy": [[1, 0.5]]}
    assert flower(**both).columns["test_loss"] == ["losses_centralized", "losses_distributed"]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"losses_distributed": [], "metrics_distributed": None},
            "h.json: has no rounds: no values in losses_distributed, metrics_distributed.",
        ),
        (
            {"losses_distributed": {"a": 1}},
            "h.json, losses_distributed: (={'a': 1}) must be a list of [round, value].",
        ),
        (
            {"losses_distributed": [[1]]},
            "h.json, losses_distributed, entry 1: (=[1]) must be [round, value].",
        ),
        ({"losses_distributed": [[1, 2], {"round": 1}]}, "entry 2: (={'round': 1}) must be [round, value]."),
        ({"losses_distributed": [{"a": 1, "b": 2}]}, "must be [round, value]."),
        (
            {"metrics_distributed": [1]},
            "h.json, metrics_distributed: (=[1]) must be an object of names and values.",
        ),
        (
            {"train_metrics_clientapp": {"1": 5}},
            "h.json, train_metrics_clientapp, round 1: (=5) must be an object",
        ),
    ],
)
def test_other_forms_of_flower_s_records_are_one_line(parts, said):
    with pytest.raises(InputError) as caught:
        flower(**parts)
    assert said in str(caught.value)


# Histories


def history(rows, *, local_steps=1, shift=None, percent=False, **names):
    rows = [MetricsRow(source=f"m.csv, line {place}", values=values) for place, values in enumerate(rows, 2)]
    return read_history(
        MetricsRows(start=lambda: iter(rows)), ColumnNames(**names), LABELS, source="m.csv", local_steps=local_steps,
        shift=shift, percent=percent,
    )  # fmt: skip


def test_of_values_within_a_round_the_last_counts_and_lines_of_one_round_are_joined():
    found = history(
        [
            {"step": 1, "loss": 8},
            {"step": 2, "loss": 4},
            {"step": 2, "accuracy": 0.5},
            {"step": 3, "loss": 2},
        ],
        local_steps=2,
        unit="steps",
    )
    assert found.history["round"].tolist() == [1, 2]
    assert found.history["train_loss"].tolist() == [4.0, 2.0]
    assert found.history["test_accuracy"][0] == 0.5
    assert np.isnan(found.history["test_accuracy"][1])
    assert (found.first, found.last, found.last_round) == (1.0, 3.0, 2)
    assert found.rows == {"train_loss": 3, "test_accuracy": 1}
    assert (found.counting.per_round, found.counting.shift) == (2, 0)


@pytest.mark.parametrize(("shift", "rounds"), [(None, [1, 2]), (0, [0, 1]), (1, [1, 2]), (3, [3, 4])])
def test_epochs_are_shifted_as_asked_or_as_seen(shift, rounds):
    found = history(
        [{"epoch": 0, "loss": 1}, {"epoch": 1, "loss": 2}], unit="epochs", shift=shift, local_steps=4
    )
    assert found.history["round"].tolist() == rounds
    assert found.counting.per_round == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "m.csv: has no rows."),
        ([{"round": 1, "loss": None}], "m.csv: has no row with a loss or a test accuracy."),
        ([{"round": 1, "loss": 1}] * 2, "line 3: round(=1) must not be given twice for loss; see line 2."),
        ([{"round": 2, "loss": 1}, {"round": 1, "loss": 1}], "line 3: round(=1) must ascend for loss: line 2 has 2."),
    ],
)  # fmt: skip
def test_rows_that_are_no_history_are_one_line(rows, said):
    with pytest.raises(InputError) as caught:
        history(rows)
    assert said in str(caught.value)


@pytest.mark.parametrize(("accuracy", "refused"), [(1, True), (1.01, False), (0, True)])
def test_accuracies_in_percent_are_above_1(accuracy, refused):
    rows = [{"round": 1, "accuracy": 0}, {"round": 2, "accuracy": accuracy}]
    if not refused:
        assert history(rows, percent=True).history["test_accuracy"][1] == pytest.approx(accuracy / 100)
        return
    with pytest.raises(InputError, match=r"has no accuracy above 1; without --percent they are fractions\.$"):
        history(rows, percent=True)


@pytest.mark.parametrize(("training", "test"), [(60, 1), (1, 60)])
def test_one_accuracy_above_1_shows_that_all_are_in_percent(training, test):
    found = history([{"round": 1, "train_accuracy": training, "accuracy": test}], percent=True).history
    assert (found["train_accuracy"][0], found["test_accuracy"][0]) == (training / 100, test / 100)


# Texts


@pytest.mark.parametrize(
    ("head", "ending", "separator"),
    [("a,b;c,d", ".csv", ","), ("a;b;c,d", ".csv", ";"), ('"x,y,z";b', ".csv", ";"), ("a\tb,c,d", ".tsv", "\t"),
     ("a\tb,c,d", ".csv", ","), ("a,b", ".tsv", ","), ("alone", ".csv", ",")],
)  # fmt: skip
def test_the_separator_is_the_sign_that_is_most_often_there(head, ending, separator):
    assert _separator(head, ending) == separator


def test_rows_of_a_table_have_their_line_and_no_empty_cells(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("round, loss ,\n1,0.5,x\n\n ,,\n2,,\n")
    assert [(each.source, each.values) for each in table_rows(path)] == [
        (f"{path}, line 2", {"round": "1", "loss": "0.5"}),
        (f"{path}, line 5", {"round": "2", "loss": None}),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: must have a header"),
        (",,\n", "line 1: must have a header"),
        ("a,a\n1,2\n", "line 1: column(='a') must not be repeated."),
        ("a,b\n1,2\n1\n", "line 3: has 1 cells, must have 2 as the header."),
        ("a,b\n1,2,3\n", "line 2: has 3 cells, must have 2 as the header."),
    ],
)
def test_a_table_that_breaks_its_format_is_one_line(tmp_path, text, said):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(table_rows(path))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("m.json", '[{"a": {"b": [1, 2]}}]', [{"a/b/0": 1, "a/b/1": 2}]),
        ("m.json", '{"log_history": [{"a": 1}], "best": [1]}', [{"a": 1}]),
        ("m.json", '{"a": 1}\n', [{"a": 1}]),
        ("m.jsonl", '{"a": 1}\n\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("m.json", '{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
    ],
)
def test_objects_are_rows_in_each_form_of_json(tmp_path, name, text, rows):
    path = tmp_path / name
    path.write_text(text)
    assert [dict(each.values) for each in json_rows(path)] == rows


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.json", '{"a": [1]}', "is JSON of another kind (an object with a): must be objects line by line"),
        ("m.json", '{"x": {"a": [1]}}', "is JSON of another kind (an object with x)"),
        ("m.json", '{\n"a": 1}', "is JSON of another kind (an object with a)"),
        ("m.json", '{"a": [1], "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}', "(an object with a, b, c, d, e):"),
        ("m.json", "5", "is JSON of another kind (5)"),
        ("m.json", "[5]", "m.json, entry 1: (=5) must be a JSON object."),
        ("m.jsonl", '{"a": 1}\n5\n', "m.jsonl, line 2: (=5) must be one JSON object on one line."),
        ("m.jsonl", '{"a": 1, "a": 2}\n', "line 1: key(='a') must not be repeated."),
        ("m.jsonl", '{"a": {"b": 1}, "a/b": 2}\n', "line 1: key(='a/b') must not be repeated."),
        (
            "m.jsonl",
            '{"a" 1}\n',
            "line 1: must be one JSON object on one line: Expecting ':' delimiter at column 6.",
        ),
    ],
)
def test_json_of_another_kind_is_one_line(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(json_rows(path))
    assert said in str(caught.value)


# TensorBoard


@pytest.mark.parametrize(
    ("step", "kept", "dropped"), [(0, [], 3), (5, [1], 2), (6, [1, 5], 1), (9, [1, 5], 1), (10, [1, 5, 9], 0)]
)
def test_a_restart_drops_its_step_and_later_ones(step, kept, dropped):
    scalars = Scalars()
    for place, at in enumerate((1, 5, 9)):
        scalars.add(at, at / 2, place, 10 * place)
    assert scalars.drop_from(step) == dropped
    assert scalars.steps.tolist() == kept
    assert scalars.values.tolist() == [at / 2 for at in kept]
    assert scalars.files.tolist() == list(range(len(kept)))
    assert scalars.records.tolist() == [10 * place for place in range(len(kept))]
    assert Scalars().drop_from(0) == 0


@pytest.mark.parametrize(
    ("text", "version"), [("brain.Event:2", 2.0), ("brain.Event:1", 1.0), ("", 0.0), ("x", 0.0)]
)
def test_a_file_says_its_version(text, version):
    assert _version(text) == version


def test_folders_with_event_files_are_runs(tmp_path):
    for name in (
        "b/events.tfevents.1",
        "a/x.tfevents.2",
        "a/x.tfevents.3",
        "tfevents.top",
        "a/x.tfevents.profile-empty",
        "c/other",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    runs = _runs(tmp_path)
    assert list(runs) == [".", "a", "b"]
    assert sorted(file.name for file in runs["a"]) == ["x.tfevents.2", "x.tfevents.3"]


@pytest.mark.parametrize(
    ("runs", "joined"),
    [
        (["train", "validation"], {".": ["train", "validation"]}),
        (["x/Train", "x/val", "y"], {"x": ["x/Train", "x/val"]}),
        (["x", "x/train", "x/val"], {}),
        (["train"], {}),
        (["test", "val"], {}),
        (["a", "b"], {}),
    ],
)
def test_folders_of_the_training_and_of_the_test_are_joined(runs, joined):
    assert _joined(dict.fromkeys(runs)) == joined
