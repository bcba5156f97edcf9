"""Files with a row for each round and client: means by examples, silos' own values, whoever took part."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.metrics_import.columns import ColumnNames
from scenarios.metrics_import.history import read_history
from scenarios.metrics_import.readers import read_rows
from scenarios.metrics_import.rows import MetricsRow, MetricsRows
from scenarios.runfile.reader import read_run
from scenarios.studies.import_metrics import columns_note
from topologies import InputError

LABELS = ("Rome", "Oslo", "Bern")
HEAD = "round,client,num_examples,loss,accuracy\n"


def read(tmp_path, text, *, name="a.csv", percent=False, **names):
    path = tmp_path / name
    path.write_text(text)
    return read_history(
        read_rows(path), ColumnNames(**names), LABELS, source=name, percent=percent, local_steps=1
    )


def message(tmp_path, text, **names):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, **names)
    shown = str(caught.value).replace(f"{tmp_path}/", "")
    assert "\n" not in shown
    return shown


def test_means_are_weighted_by_examples_and_silos_have_their_own_values(tmp_path):
    rows = "1,Oslo,30,2,0.25\n1,Rome,10,4,0.75\n2,Rome,10,1,1\n2,Bern,10,2,0.5\n2,Oslo,20,3,0.25\n"
    found = read(tmp_path, HEAD + rows)
    history, nan = found.history, np.nan

    assert history["round"].tolist() == [1, 2]
    assert history["train_loss"].tolist() == [2.5, 2.25]
    assert history["test_accuracy"].tolist() == [0.375, 0.5]
    np.testing.assert_array_equal(history["silo_loss"], [[4, 2, nan], [1, 3, 2]])
    np.testing.assert_array_equal(history["silo_accuracy"], [[0.75, 0.25, nan], [1, 0.25, 0.5]])
    assert columns_note(found)[1:] == (
        "means over the clients of a round, 2 to 3 of 3, weighted by num_examples.",
        "3 of 3 silos by their labels in client: silo_loss from loss and silo_accuracy from accuracy.",
    )


@pytest.mark.parametrize("form", ["{}", "client_{}", "silo {}", "node-{}", "{}.0", "json"])
def test_clients_are_silos_by_number_from_0(tmp_path, form):
    rows = "".join(f"1,{form.format(silo)},{silo + 1}\n" for silo in (2, 0))
    if form == "json":
        rows = "".join(f'{{"round": 1, "cid": {silo}.0, "loss": {silo + 1}}}\n' for silo in (2, 0))
        found = read(tmp_path, rows, name="a.jsonl")
    else:
        found = read(tmp_path, f"round,cid,loss\n{rows}")

    assert found.history["train_loss"].tolist() == [2.0]
    np.testing.assert_array_equal(found.history["silo_loss"], [[1, np.nan, 3]])
    assert found.notes == (
        "means over the clients of a round, all 2, each counted once.",
        "2 of 3 silos by their numbers from 0 in cid: silo_loss from loss.",
    )


@pytest.mark.parametrize("other", ["3", "7587193781264816113", "alice", "-1"])
def test_clients_that_are_no_silos_give_means_only_and_a_note(tmp_path, other):
    found = read(tmp_path, f"{HEAD}1,0,1,2,0.5\n1,{other},3,4,0.5\n")

    assert found.history["train_loss"].tolist() == [3.5]
    assert np.isnan(found.history["silo_loss"]).all()
    assert found.notes[1] == (
        f"client {other} is neither label nor number (0 to 2) of a silo: without values of silos."
    )


def test_the_first_client_that_is_no_silo_is_named_numbers_before_texts(tmp_path):
    rows = "".join(f"1,{client},1\n" for client in ("alice", "20", "7", "Zoe", "2"))
    found = read(tmp_path, f"round,client,loss\n{rows}")

    assert found.notes == (
        "means over the clients of a round, all 5, each counted once.",
        "client 7 is neither label nor number (1 to 3) of a silo: without values of silos.",
    )


def test_so_many_clients_take_part_in_every_round(tmp_path):
    rows = "1,0,1\n1,1,1\n2,1,1\n2,2,1\n"
    assert read(tmp_path, f"round,client,loss\n{rows}").notes[0] == (
        "means over the clients of a round, 2 of 3, each counted once."
    )


def test_the_trainings_metrics_are_the_silos_where_both_are_there(tmp_path):
    lines = [
        {"round": 1, "silo": "Rome", "train": {"loss": 1.0, "accuracy": 0.5}, "num_samples": 1},
        {"round": 1, "silo": "Rome", "val": {"loss": 3.0, "accuracy": 0.25}, "num_samples": 4},
        {"round": 1, "silo": "Oslo", "val": {"loss": 2.0, "accuracy": 0.75}, "num_samples": 4},
    ]
    found = read(tmp_path, "\n".join(map(json.dumps, lines)), name="a.jsonl")

    for field, expected in (("train_loss", 1.0), ("test_loss", 2.5), ("test_accuracy", 0.5)):
        assert found.history[field].tolist() == [expected]
    np.testing.assert_array_equal(found.history["silo_loss"], [[1.0, np.nan, np.nan]])
    np.testing.assert_array_equal(found.history["silo_accuracy"], [[0.5, np.nan, np.nan]])
    assert found.notes[0] == "means over the clients of a round, 1 to 2 of 2, weighted by num_samples."


def test_columns_may_be_named_and_accuracies_be_in_percent(tmp_path):
    found = read(
        tmp_path,
        "round,who,n,loss,accuracy\n1,Rome,1,1,50\n1,Oslo,3,2,90\n",
        client="who",
        examples="n",
        percent=True,
    )
    assert found.history["test_accuracy"].tolist() == [0.8]
    assert found.history["train_loss"].tolist() == [1.75]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        (
            f"{HEAD}1,0,1,2,0.5\n2,0,1,2,0.5\n1,1,1,2,0.5\n1,0,1,9,0.5\n",
            {},
            "a.csv, line 5: client(='0') must not be given twice for loss in round 1; see line 2.",
        ),
        (
            f"{HEAD}1,0,1,2,0.5\n3,1,1,2,0.5\n2,0,1,2,0.5\n3,1,1,9,0.5\n",
            {},
            "a.csv, line 5: client(='1') must not be given twice for loss in round 3; see line 3.",
        ),
        (f"{HEAD}1,0,1,2,0.5\n2,0,0,2,0.5\n", {}, "a.csv: num_examples must be > 0 for a client of round 2."),
        (
            f"{HEAD}1.5,0,1,2,0.5\n",
            {},
            "a.csv, line 2: round(='1.5') must be a whole number >= 0 and <= 2147483647.",
        ),
        (f"{HEAD}1,,1,2,0.5\n", {}, "a.csv, line 2: client is missing."),
        (f"{HEAD}1,0,,2,0.5\n", {}, "a.csv, line 2: num_examples is missing."),
        (f"{HEAD}1,0,-1,2,0.5\n", {}, "a.csv, line 2: num_examples(='-1') must be a number >= 0."),
        (f"{HEAD}1,0,nan,2,0.5\n", {}, "a.csv, line 2: num_examples(='nan') must be a number >= 0."),
        (f"{HEAD}1,0,0,2,0.5\n1,1,0,2,0.5\n", {}, "a.csv: num_examples must be > 0 for a client of round 1."),
        (f"{HEAD}1,0,1,nan,0.5\n", {}, "a.csv, line 2: loss(='nan') must be a finite number."),
        (f"{HEAD},0,1,2,0.5\n", {}, "a.csv, line 2: round is missing."),
        (
            f"{HEAD}1,Rome,1,2,0.5\n1,Olso,1,2,0.5\n",
            {},
            "a.csv: client(='Olso') must be one of Bern, Oslo, Rome (did you mean 'Oslo'?).",
        ),
        (
            f"{HEAD}1,0,1,2,0.5\n1,client_0,1,2,0.5\n",
            {},
            "a.csv: client(='client_0') must not be the silo that '0' is too: Rome.",
        ),
        (
            "round,loss,n\n1,2,3\n",
            {"examples": "n"},
            "a.csv: has no column client, which --examples needs: --client must name it.",
        ),
        (
            f"{HEAD}1,0,1,2,0.5\n",
            {"silo_loss": "loss/{silo}"},
            "a.csv: has a row for each client: --silo-loss must not be given, which names a column for each silo.",
        ),
        (
            f"{HEAD}1,0,1,2,0.5\n",
            {"client": "round"},
            "a.csv: client(='round') must not name the column of round too.",
        ),
        (HEAD, {}, "a.csv: has no rows."),
        (f"{HEAD}1,0,1,,\n", {}, "a.csv: has no row with a loss or a test accuracy."),
    ],
)
def test_bad_rows_have_one_clear_line(tmp_path, text, names, expected):
    assert message(tmp_path, text, **names) == expected


def test_epochs_of_clients_may_be_parts(tmp_path):
    """Round 1 ends with the first epoch, whose last value counts."""
    found = read(tmp_path, "epoch,client,loss\n0.5,0,8\n0.5,1,4\n1,0,2\n1,1,1\n2,0,1\n", round="epoch")
    assert found.history["round"].tolist() == [1, 2]
    assert found.history["train_loss"].tolist() == [1.5, 1.0]


@pytest.mark.parametrize("form", ["{}", "client_{}"])
@pytest.mark.parametrize("first", [None, 1])
def test_clients_with_the_number_of_the_last_silo_and_none_with_0_are_counted_from_1(tmp_path, form, first):
    rows = "".join(f"1,{form.format(number)},{number}\n" for number in (3, 1))
    found = read(tmp_path, f"round,cid,loss\n{rows}", first_silo=first)

    np.testing.assert_array_equal(found.history["silo_loss"], [[1, np.nan, 3]])
    assert found.notes[1] == "2 of 3 silos by their numbers from 1 in cid: silo_loss from loss."


@pytest.mark.parametrize(("first", "expected"), [(0, [np.nan, 1, 2]), (1, [1, 2, np.nan])])
def test_numbers_that_may_be_from_0_or_1_need_the_first_silos(tmp_path, first, expected):
    text = "round,cid,loss\n1,1,1\n1,2,2\n"
    assert message(tmp_path, text) == (
        "a.csv: cid has neither 0 nor 3, so the 3 silos may be counted from 0 or from 1: "
        "--first-silo must be 0 or 1."
    )
    found = read(tmp_path, text, first_silo=first)
    np.testing.assert_array_equal(found.history["silo_loss"], [expected])


@pytest.mark.parametrize(
    ("text", "first", "expected"),
    [
        ("round,cid,loss\n1,0,1\n", 1, "a.csv: cid(='0') must be a number (1 to 3) of a silo."),
        ("round,cid,loss\n1,3,1\n", 0, "a.csv: cid(='3') must be a number (0 to 2) of a silo."),
        (
            "round,cid,loss\n1,Rome,1\n",
            0,
            "a.csv: first_silo(=0) goes with numbers of silos, but cid has their labels.",
        ),
        (
            "round,loss\n1,1\n",
            0,
            "a.csv: first_silo(=0) goes with a column client or silo_loss/{silo}, none of which is there.",
        ),
        ("round,cid,loss\n1,0,1\n", 2, "first_silo(=2) must be 0 or 1."),
        (
            "round,loss,silo_loss/0,silo_loss/1,silo_loss/2,silo_loss/3\n1,1,1,1,1,1\n",
            1,
            "a.csv: first_silo(=1) must be the number of the first silo: silo_loss/0 is there too.",
        ),
        (
            "round,loss,silo_loss/Rome,silo_loss/Oslo,silo_loss/Bern\n1,1,1,1,1\n",
            1,
            "a.csv: first_silo(=1) goes with numbers of silos, but silo_loss/{silo} has their labels.",
        ),
    ],
)
def test_a_wrong_number_of_the_first_silo_has_one_clear_line(tmp_path, text, first, expected):
    assert message(tmp_path, text, first_silo=first) == expected


def test_more_clients_than_silos_counted_from_1_are_no_silos(tmp_path):
    rows = "".join(f"1,{number},1\n" for number in (1, 2, 3, 4))
    assert read(tmp_path, f"round,cid,loss\n{rows}").notes[1] == (
        "cid 4 is neither label nor number (1 to 3) of a silo: without values of silos."
    )


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 7)),
        st.tuples(st.integers(1, 1000), st.integers(-1000, 1000)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_a_mean_is_exact_arithmetics_in_any_order_of_the_rows(table, random):
    rows = [
        MetricsRow(source=f"f, line {place}", values={"round": k, "cid": i, "num_examples": n, "loss": x / 8})
        for place, ((k, i), (n, x)) in enumerate(table.items())
    ]
    names, silos = ColumnNames(first_silo=0), tuple("ABCDEFGH")
    found = read_history(MetricsRows.of(rows), names, silos, source="f", local_steps=1, percent=False)
    random.shuffle(rows)
    again = read_history(MetricsRows.of(rows), names, silos, source="f", local_steps=1, percent=False)

    rounds = sorted({k for k, _ in table})
    assert found.history["round"].tolist() == rounds
    for k, mean in zip(rounds, found.history["train_loss"], strict=True):
        some = [(n, Fraction(x, 8)) for (other, _), (n, x) in table.items() if other == k]
        # Sums of such numbers have no rounding: the quotient alone has.
        assert mean == float(sum(n * x for n, x in some) / sum(n for n, _ in some))
        for silo, own in enumerate(found.history["silo_loss"][rounds.index(k)].tolist()):
            assert own == table[k, silo][1] / 8 if (k, silo) in table else np.isnan(own)
    for name, column in found.history.items():
        np.testing.assert_array_equal(column, again.history[name])
    assert found.notes == again.notes


def test_ten_thousand_rounds_of_clients_are_read(tmp_path):
    rows = "".join(f"{k},{i},{i + 1},{k},0.5\n" for i in range(3) for k in range(10_000))
    found = read(tmp_path, HEAD + rows)
    np.testing.assert_allclose(found.history["train_loss"], np.arange(10_000), rtol=1e-15)
    assert found.notes[0] == "means over the clients of a round, all 3, weighted by num_examples."


def test_silos_are_in_the_run(silosim, tmp_path):
    path = tmp_path / "clients.csv"
    path.write_text(HEAD + "".join(f"{k},{i},1,{i},0.5\n" for k in (0, 5) for i in range(11)))
    done = silosim(
        *("import-metrics", path, "--on", "gaia", "--workload", "femnist", "--kind", "ring"),
        *("-o", tmp_path / "run.h5"),
    ).ok()
    (ring,) = read_run(tmp_path / "run.h5").overlays
    assert ring.history["train_loss"].tolist() == [5, 5]
    assert ring.history["silo_loss"].tolist() == [[*range(11)]] * 2
    assert "11 of 11 silos by their numbers from 0 in client" in " ".join(done.err.split())
