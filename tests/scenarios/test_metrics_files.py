"""Metrics of other programs: every format gives the same history, every bad line one clear error."""

import json
import re
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboardX import SummaryWriter
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.record_writer import RecordWriter

from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.metric_names import SYNONYMS
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.metrics_import.tensorboard import _scalar
from topologies import InputError, MachineError

LABELS = ("Rome", "Oslo", "Bern")
ROUNDS, LOSS, ACCURACY = [0, 5, 10], [2.5, 1.25, 0.5], [0.25, 0.5, 0.75]


def history_of(path, labels=LABELS, **options):
    names = ColumnNames(**options.pop("names", {}))
    return read_history(
        read_rows(path), names, labels, source=str(path), **{"local_steps": 1, "percent": False, **options}
    )


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def message(path, **options):
    with pytest.raises(InputError) as caught:
        history_of(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(f"{path.parent}/", "")


def check(found):
    assert found.history["round"].tolist() == ROUNDS
    assert found.history["train_loss"].tolist() == LOSS
    assert found.history["test_accuracy"].tolist() == ACCURACY
    assert np.isnan(found.history["test_loss"]).all()
    assert found.history["silo_loss"].shape == (3, 3)
    assert found.last_round == 10


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_is_read_with_any_separator_and_mark(tmp_path, separator, mark):
    rows = [("Round", "train/loss", "Val Acc"), *zip(ROUNDS, LOSS, ACCURACY, strict=True)]
    text = mark + "\r\n".join(separator.join(map(str, row)) for row in rows) + "\r\n\r\n"
    found = history_of(write(tmp_path, "a.csv", text))

    check(found)
    assert found.columns.metrics == {"train_loss": "train/loss", "test_accuracy": "Val Acc"}


@pytest.mark.parametrize(
    ("name", "separator", "loss"),
    [
        ("a.tsv", "\t", "loss,mean,of,all"),
        ("a.tsv", "\t", "loss"),
        ("a.tsv", ",", "loss"),
        ("a.csv", ";", '"loss,mean,of,all"'),
        ("a.csv", "\t", '"loss;mean,of all"'),
    ],
)
def test_separators_in_the_names_of_columns_are_none(tmp_path, name, separator, loss):
    rows = [("round", loss, "acc"), *zip(ROUNDS, LOSS, ACCURACY, strict=True)]
    path = write(tmp_path, name, "".join(separator.join(map(str, row)) + "\n" for row in rows))
    check(history_of(path, names={"metrics": {"train_loss": loss.strip('"')}}))


def test_columns_of_silos_may_be_counted_from_1(tmp_path):
    head = ",".join(f"silo_loss_{number}" for number in (3, 1, 2))
    found = history_of(write(tmp_path, "a.csv", f"round,loss,{head}\n0,1,30,10,20\n"))
    assert found.history["silo_loss"].tolist() == [[10, 20, 30]]


def test_json_lines_are_read_nested_and_on_several_lines_of_a_round(tmp_path):
    lines = []
    for k, loss, accuracy in zip(ROUNDS, LOSS, ACCURACY, strict=True):
        lines += [{"step": k, "train": {"loss": loss}, "host": "a"}, {"step": k, "val": {"acc": accuracy}}]
    check(history_of(write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)))))


@pytest.fixture
def events(tmp_path):
    folder = tmp_path / "logs"
    with SummaryWriter(str(folder)) as writer:
        for k, loss, accuracy in zip(ROUNDS, LOSS, ACCURACY, strict=True):
            writer.add_scalar("loss/train", loss, k)
            writer.add_scalar("accuracy/val", accuracy, k)
        writer.add_histogram("weights", np.arange(10.0), 10)
        writer.add_text("note", "hello", 10)
    return folder


def test_event_files_are_read_alone_and_in_a_folder(events):
    (file,) = events.iterdir()
    check(history_of(events))
    check(history_of(file))


def test_tensors_as_tensorflow_2_writes_scalars_are_read(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    writer = RecordWriter(str(path))
    for k, loss in zip(ROUNDS, LOSS, strict=True):
        event = Event(step=k)
        value = event.summary.value.add(tag="loss")
        value.tensor.dtype = 1
        value.tensor.tensor_content = struct.pack("<f", loss)
        value = event.summary.value.add(tag="vector")
        value.tensor.dtype = 1
        value.tensor.tensor_shape.dim.add(size=2)
        value.tensor.float_val.extend([1.0, 2.0])
        value = event.summary.value.add(tag="val_loss")
        value.tensor.dtype = 2
        value.tensor.double_val.append(2 * loss)
        writer.write(event.SerializeToString())
    writer.close()
    found = history_of(path)

    assert found.history["train_loss"].tolist() == LOSS
    assert found.history["test_loss"].tolist() == [5.0, 2.5, 1.0]


def test_an_event_file_that_was_cut_short_keeps_its_whole_records_and_a_damaged_one_is_an_error(events):
    (file,) = events.iterdir()
    whole = file.read_bytes()
    first = len(whole) - 3
    file.write_bytes(whole[:first])
    check(history_of(file))
    file.write_bytes(whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
    assert "record 1: is damaged: its checksum is wrong." in message(file)
    file.write_bytes(b"round,loss\n0,1.5\n1,0.5\n")
    assert "record 1: is damaged, or not of a TensorBoard event file." in message(file)


@pytest.mark.parametrize(("number", "code"), [(1, "<f"), (2, "<d"), (3, "<i"), (9, "<q")])
def test_a_tensor_is_read_by_its_type(number, code):
    value = Event().summary.value.add(tag="loss")
    assert _scalar(value) is None
    value.tensor.dtype = number
    assert _scalar(value) is None
    value.tensor.tensor_content = struct.pack(code, -3)
    assert _scalar(value) == -3.0
    value.tensor.dtype = 7  # a text
    assert _scalar(value) is None


@pytest.mark.parametrize("field", ["float_val", "double_val", "int_val", "int64_val"])
def test_one_number_in_a_list_is_a_scalar(field):
    value = Event().summary.value.add(tag="loss")
    getattr(value.tensor, field).append(5)
    assert _scalar(value) == 5.0
    value.tensor.tensor_shape.dim.add(size=1)
    assert _scalar(value) is None
    value.tensor.ClearField("tensor_shape")
    getattr(value.tensor, field).append(6)
    assert _scalar(value) is None


def test_an_empty_folder_and_a_missing_library_say_so(tmp_path, events, monkeypatch):
    (tmp_path / "empty").mkdir()
    assert message(tmp_path / "empty") == "empty: has no TensorBoard event file (*tfevents*)."
    monkeypatch.setitem(__import__("sys").modules, "tensorboardX.proto.event_pb2", None)
    with pytest.raises(MachineError, match=re.escape("pip install 'silosim[tensorboard]'")):
        history_of(events)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a.csv, line 1: must have a header with the names of the columns."),
        ("round,loss\n", "a.csv: has no rows."),
        ("round,loss\n1,\n", "a.csv: has no row with a loss or a test accuracy."),
        ("round,loss,loss\n1,1,1\n", "a.csv, line 1: column(='loss') must not be repeated."),
        ("round,loss\n1,2,3\n", "a.csv, line 2: has 3 cells, must have 2 as the header."),
        (
            "epoch,loss\n1,2\n",
            "a.csv: has no column round; --round 'epoch' takes each epoch for one round; else --round must name one of "
            "epoch, loss.",
        ),
        ("time,loss\n1,2\n", "a.csv: has no column round; --round must name one of time, loss."),
        (
            "round,error\n1,2\n",
            "a.csv: has no column loss or accuracy; --loss or --accuracy must name one of round, error.",
        ),
        (
            "round,train_acc\n1,0.5\n",
            "a.csv: has no column loss or accuracy; --loss or --accuracy must name one of round, train_acc.",
        ),
        ("round,loss\n0,1\n\n,2\n", "a.csv, line 4: round is missing."),
        (
            "round,loss\n0,1\n5,1\n5,2\n",
            "a.csv, line 4: round(=5) must not be given twice for loss; see line 3.",
        ),
        ("round,loss\n0,1\n5,1\n3,2\n", "a.csv, line 4: round(=3) must ascend for loss: line 3 has 5."),
        ("round,loss\n0,nan\n", "a.csv, line 2: loss(='nan') must be a finite number."),
        ("round,loss\n0,1\n1,-inf\n", "a.csv, line 3: loss(='-inf') must be a finite number."),
        ("round,loss\n0,0.5 nats\n", "a.csv, line 2: loss(='0.5 nats') must be a finite number."),
        (
            "round,loss\n1.5,1\n",
            "a.csv, line 2: round(='1.5') must be a whole number >= 0 and <= 2147483647.",
        ),
        ("round,loss\n-1,1\n", "a.csv, line 2: round(='-1') must be a whole number >= 0 and <= 2147483647."),
        (
            "round,loss,acc\n0,1,87.5\n",
            "a.csv, line 2: acc(='87.5') must be >= 0 and <= 1; --percent says that accuracies are in percent.",
        ),
        (
            "round,loss,silo_loss_Rome\n0,1,2\n",
            "a.csv: has a loss of some silos, must have one of Oslo (silo 1) too: silo_loss/{silo}.",
        ),
        (
            "round,loss,silo_loss_0,silo_loss_1,silo_loss_2,silo_loss_3\n0,1,2,3,4,5\n",
            "a.csv: silo_loss_3 must not be there: there are 3 silos.",
        ),
    ],
)
def test_bad_tables_have_one_clear_line(tmp_path, text, expected):
    assert message(write(tmp_path, "a.csv", text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"round": 0, "loss": 1}\n{"round": 1, "lo',
            "a.jsonl, line 2: must be one JSON object on one line: Unterminated string starting at column 14.",
        ),
        (
            '{"round": 0, "loss": 1\n',
            "a.jsonl, line 1: must be one JSON object on one line: Expecting ',' delimiter at column 23.",
        ),
        ("[1, 2]\n", "a.jsonl, line 1: (=[1, 2]) must be one JSON object on one line."),
        ('{"round": 0, "loss": NaN}', "a.jsonl, line 1: loss(=nan) must be a finite number."),
        ('{"round": 0, "loss": true}', "a.jsonl, line 1: loss(=True) must be a finite number."),
        ('{"round": 1e300, "loss": 1}', "a.jsonl, line 1: round(=1e+300) must be a whole number"),
        ('{"loss": 1}\n{"round": 1}', "a.jsonl, line 1: round is missing."),
        ('{"round": 0, "loss": 1, "loss": 2}', "a.jsonl, line 1: key(='loss') must not be repeated."),
        ('{"a": 1, "b": 2, "c": 3, "b": 4, "a": 5}', "a.jsonl, line 1: key(='a') must not be repeated."),
        (
            '\n{"round": 0, "loss": ' + "[" * 100_000,
            "a.jsonl, line 2: must be one JSON object on one line: too many brackets.",
        ),
        (
            '{"round": 0, "train": {"loss": 1}, "train/loss": 2}',
            "a.jsonl, line 1: key(='train/loss') must not be repeated.",
        ),
    ],
)
def test_bad_json_lines_have_one_clear_line(tmp_path, text, expected):
    assert message(write(tmp_path, "a.jsonl", text)).startswith(expected)


def test_a_large_table_is_not_held_as_a_whole(tmp_path):
    rows = "".join(f"{k},{k / 7},0.5,a text that no metric needs\n" for k in range(5_000))
    path = write(tmp_path, "a.csv", f"round,loss,acc,host\n{rows}")
    tracemalloc.start()
    found = history_of(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.history["train_loss"].tolist() == [k / 7 for k in range(5_000)]
    # The history itself has 17 numbers of 8 bytes for each row; a row of the file takes some 700 bytes in Python.
    assert peak < 5_000 * 300


def test_other_files_and_names_that_are_not_there_are_errors(tmp_path):
    path = write(tmp_path, "a.csv", "round,loss\n0,1\n")
    assert "loss(='los') must be one of loss, round (did you mean 'loss'?)." in message(
        path, names={"metrics": {"train_loss": "los"}}
    )
    assert "b.xlsx: must end in one of .csv" in message(write(tmp_path, "b.xlsx", ""))
    assert message(tmp_path / "c.csv") == "c.csv: there is no such file."
    (tmp_path / "d.csv").write_bytes(b"round,loss\n0,\xff\n")
    assert message(tmp_path / "d.csv") == "d.csv: must be UTF-8 text."


def test_percent_shift_and_chosen_columns(tmp_path):
    path = write(tmp_path, "a.csv", "epoch,cost,acc\n0,3,25\n1,2,\n2,1,75\n")
    found = history_of(
        path, names={"round": "epoch", "metrics": {"train_loss": "cost"}}, shift=1, percent=True
    )

    assert found.history["round"].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(found.history["test_accuracy"], [0.25, np.nan, 0.75])
    fractions = write(tmp_path, "b.csv", "round,loss,acc\n0,3,0.25\n1,2,0.9\n")
    assert "without --percent" in message(fractions, percent=True)


@pytest.mark.parametrize("head", ["round,loss", "round,client,loss"])
def test_a_round_with_the_shift_is_a_whole_number_of_32_bits(tmp_path, head):
    client = ",0" * head.count("client")

    def path(number):
        return write(tmp_path, "a.csv", f"{head}\n{number}{client},1\n")

    most = 2**31 - 1
    for number, shift, round_ in (
        (0, None, 0),
        (-1, 1, 0),
        (7, -7, 0),
        (most, None, most),
        (most, -1, most - 1),
    ):
        assert history_of(path(number), shift=shift).history["round"].tolist() == [round_]
    rule = "must be a whole number >= 0 and <= 2147483647"
    for number in (-1, most + 1, 0.5, "1e999"):
        assert message(path(number)) == f"a.csv, line 2: round(='{number}') {rule}."
    for number, shift in ((-2, 1), (6, -7), (most, 1)):
        expected = f"a.csv, line 2: round(='{number}') {rule} with the shift of {shift}."
        assert message(path(number), shift=shift) == expected


def test_accuracies_are_between_0_and_the_whole(tmp_path):
    for percent, whole in ((False, "1"), (True, "100")):
        for accuracy in ("0", whole):
            text = f"round,loss,acc,train_acc\n0,1,{accuracy},{whole}\n"
            found = history_of(write(tmp_path, "a.csv", text), percent=percent)
            assert found.history["test_accuracy"].tolist() == [float(accuracy) / float(whole)]
        for accuracy in ("-0.5", f"{whole}.5"):
            path = write(tmp_path, "a.csv", f"round,loss,acc\n0,1,{accuracy}\n")
            expected = f"a.csv, line 2: acc(='{accuracy}') must be >= 0 and <= {whole}"
            assert message(path, percent=percent).startswith(expected)


def test_percents_are_taken_for_fractions_where_none_is_above_1(tmp_path):
    rule = "a.csv: has no accuracy above 1; without --percent they are fractions."
    path = write(tmp_path, "a.csv", "round,loss,acc,train_acc\n0,1,0,0.5\n1,1,1,1\n")
    assert message(path, percent=True) == rule
    path = write(tmp_path, "a.csv", "round,loss,acc,train_acc\n0,1,0,0.5\n1,1,1,1.25\n")
    assert history_of(path, percent=True).history["train_accuracy"].tolist() == [0.005, 0.0125]
    # Without an accuracy there is nothing to judge by.
    path = write(tmp_path, "a.csv", "round,loss\n0,1\n")
    assert history_of(path, percent=True).history["train_loss"].tolist() == [1]


def test_at_most_ten_columns_are_listed(tmp_path):
    for more in (8, 9):
        names = [f"c{k}" for k in range(more)]
        path = write(tmp_path, "a.csv", f"time,loss,{','.join(names)}\n{','.join('1' * (more + 2))}\n")
        rest = ", ... (11 columns)" if more == 9 else ""
        assert message(path) == (
            f"a.csv: has no column round; --round must name one of time, loss, {', '.join(names[:8])}{rest}."
        )


def test_one_column_is_of_one_metric(tmp_path):
    path = write(tmp_path, "a.csv", "round,loss,step\n0,0.5,7\n")
    rule = "cannot serve two metrics"
    assert message(path, names={"metrics": {"train_loss": "loss", "test_accuracy": "loss"}}) == (
        f"a.csv: accuracy(='loss') must not name the column of loss too: one column {rule}."
    )
    assert message(path, names={"metrics": {"train_loss": "round"}}) == (
        f"a.csv: loss(='round') must not name the column of round too: one column {rule}."
    )
    assert rule in message(path, names={"round": "loss", "metrics": {"train_loss": "loss"}})
    # What the user gave to one metric is no other's by its usual name.
    accuracy = history_of(path, names={"metrics": {"test_accuracy": "loss"}})
    assert accuracy.columns.metrics == {"test_accuracy": "loss"}
    assert accuracy.history["test_accuracy"].tolist() == [0.5]
    assert np.isnan(accuracy.history["train_loss"]).all()
    step = history_of(path, names={"metrics": {"train_loss": "step"}})
    assert (step.columns.round, step.history["train_loss"].tolist()) == ("round", [7])


def test_losses_of_silos_come_by_label_by_number_and_as_a_list(tmp_path):
    by_label = write(tmp_path, "a.csv", "round,loss,oslo loss,rome loss,bern loss\n0,2,1,2,3\n")
    as_list = write(tmp_path, "a.jsonl", '{"round": 0, "loss": 2, "silo_loss": [2, 1, 3]}\n')

    for path, names in ((by_label, {"silo_loss": "{silo} loss"}), (as_list, {})):
        assert history_of(path, names=names).history["silo_loss"].tolist() == [[2, 1, 3]]
    assert message(by_label, names={"silo_loss": "cost of {silo}"}) == (
        "a.csv: has no column cost of {silo} of a silo such as Rome or 0."
    )
    some = write(tmp_path, "b.csv", "round,loss,1 cost,2 cost\n0,2,1,3\n")
    assert message(some, names={"silo_loss": "{silo} cost"}) == (
        "b.csv: has a loss of some silos, must have one of Rome (silo 0) too: {silo} cost."
    )
    # A label goes before a number.
    both = write(tmp_path, "c.csv", "round,loss,v rome,v oslo,v bern,v 0,v 1,v 2\n0,2,1,2,3,4,5,6\n")
    assert history_of(both, names={"silo_loss": "v {silo}"}).history["silo_loss"].tolist() == [[1, 2, 3]]
    with pytest.raises(InputError, match=r"must contain \{silo\}"):
        ColumnNames(silo_loss="loss")


def test_every_usual_name_is_of_one_metric():
    names = [name for synonyms in SYNONYMS.values() for name in synonyms]
    assert len(set(names)) == len(names)


@given(
    st.dictionaries(
        st.integers(0, 10**6),
        st.tuples(st.none() | st.floats(-1e9, 1e9), st.none() | st.floats(0, 1)),
        min_size=1,
        max_size=20,
    )
)
def test_whatever_is_written_is_read_back(table):
    rows = [
        MetricsRow(source=f"f, line {k}", values={"round": k, "loss": loss, "acc": accuracy})
        for k, (loss, accuracy) in sorted(table.items())
    ]
    kept = {k: pair for k, pair in sorted(table.items()) if pair != (None, None)}
    if not kept:
        with pytest.raises(InputError, match="no row with a loss"):
            read_history(
                MetricsRows.of(rows), ColumnNames(), LABELS, source="f", local_steps=1, percent=False
            )
        return
    history = read_history(
        MetricsRows.of(rows), ColumnNames(), LABELS, source="f", local_steps=1, percent=False
    ).history
    nan = float("nan")
    assert history["round"].tolist() == list(kept)
    np.testing.assert_array_equal(history["train_loss"], [nan if a is None else a for a, _ in kept.values()])
    np.testing.assert_array_equal(
        history["test_accuracy"], [nan if b is None else b for _, b in kept.values()]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"round": 0, "loss": 1}, 7]', "a.json, entry 2: (=7) must be a JSON object."),
        (
            '{"a": 1, "b": [2]}',
            "a.json: is JSON of another kind (an object with a, b): must be objects line by line, ",
        ),
        ('{"a": {"b": {"c": []}}}', "a.json: is JSON of another kind (an object with a): must be"),
        (
            '{\n"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}',
            "a.json: is JSON of another kind (an object with a, b, c, d, e): must be",
        ),
        ("7", "a.json: is JSON of another kind (7): must be"),
        ('{"a": 1}\n{"a": 2}', "a.json: has no column round; --round must name one of a."),
        ('{"a": 1}', "a.json: has no column round; --round must name one of a."),
    ],
)
def test_json_of_another_kind_is_named(tmp_path, text, expected):
    assert message(write(tmp_path, "a.json", text)).startswith(expected)
