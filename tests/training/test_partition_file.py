"""A partition from a file: the silo of each sample."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topologies.errors import InputError
from training import TrainingConfig, check_data, split_dataset
from training.data.datasets import Dataset
from training.data.partitions import is_partition_file

SILOS = ("Oslo", "Paris")


def dataset(samples=4):
    x = np.zeros((samples, 1, 1, 1), np.float32)
    y = np.arange(samples) % 2
    return Dataset(train_inputs=x, train_labels=y, test_inputs=x, test_labels=y, classes=2, source="mine")


def parts(path, labels=SILOS, samples=4):
    found = split_dataset(str(path), dataset(samples), silos=2, alpha=1.0, seed=0, silo_labels=labels)
    return [part.tolist() for part in found]


def test_silos_by_name_or_number_in_any_order(tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text("silo, sample, note\nParis, 3, x\nOslo, 0,\n1, 1, y\nParis, 2, z\n")
    assert parts(path) == [[0], [1, 2, 3]]
    path.write_text("sample,silo\n1,1\n0,0\n2,0\n3,0\n")
    assert parts(path, labels=None) == [[0, 2, 3], [1]]


def test_a_name_goes_before_a_number(tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text("sample,silo\n0,1\n1,0\n2,1\n3,1\n")
    assert parts(path, labels=("1", "0")) == [[0, 2, 3], [1]]


@settings(max_examples=25)
@given(
    st.permutations(range(6)),
    st.lists(st.integers(0, 1), min_size=6, max_size=6).filter(lambda s: 0 < sum(s) < 6),
)
def test_any_split_comes_back_from_any_order_of_lines(order, silo_of):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "parts.csv"
        path.write_text("sample,silo\n" + "".join(f"{n},{SILOS[silo_of[n]]}\n" for n in order))
        assert parts(path, samples=6) == [[n for n in range(6) if silo_of[n] == silo] for silo in (0, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sample,silo\n0,Oslo\n4,Paris\n", "line 3: sample(='4') must be one of 0 to 3."),
        ("sample,silo\n0,Oslo\n-1,Paris\n", "line 3: sample(='-1') must be one of 0 to 3."),
        ("sample,silo\n0,Rome\n", "line 2: silo(='Rome') must be a silo, such as 'Oslo', or one of 0 to 1."),
        ("sample,silo\n0,2\n", "line 2: silo(='2') must be a silo, such as 'Oslo', or one of 0 to 1."),
        ("sample,silo\n0\n", "line 2: silo(='') must be a silo, such as 'Oslo', or one of 0 to 1."),
        ("sample,silo\n0,Oslo\n0,Oslo\n", "line 3: sample 0 must be there once: it is on line 2, too."),
        ("sample,silo\n0,Oslo\n0,Paris\n", "line 3: sample 0 must be there once: it is on line 2, too."),
        ("sample,silo\n0,Oslo\n3,Paris\n", "must have all 4 training samples: 2 are missing, first 1."),
        ("sample,silo\n0,0\n1,0\n2,0\n3,0\n", "must give each silo a sample; silo 'Paris' has none."),
        ("sample,site\n0,0\n", "must have one column silo; its header is 'sample,site'."),
        ("sample,silo,silo\n0,0,0\n", "must have one column silo; its header is 'sample,silo,silo'."),
        ("", "must have one column sample; its header is ''."),
    ],
)
def test_what_is_wrong_names_file_and_line(tmp_path, text, message):
    path = tmp_path / "parts.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        parts(path)
    assert str(caught.value) == f"{path}: {message}"


def test_without_names_silos_are_numbers(tmp_path):
    path = tmp_path / "parts.csv"
    for text, message in (
        ("sample,silo\n0,Oslo\n", "line 2: silo(='Oslo') must be the number of a silo, or one of 0 to 1."),
        ("sample,silo\n0,1\n1,1\n2,1\n3,1\n", "must give each silo a sample; silo 0 has none."),
    ):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            parts(path, labels=None)
        assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"sample,silo\n0,Osl\xf8\n", "must be UTF-8: byte 17 is not."),
        (b'sample,silo\n0,"Oslo\n', "must be CSV: unexpected end of data."),
    ],
)
def test_a_file_that_is_no_table_is_one_line(tmp_path, content, message):
    path = tmp_path / "parts.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        parts(path)
    assert str(caught.value) == f"{path}: {message}"


def test_only_a_name_with_the_ending_of_a_table_is_a_file():
    assert [is_partition_file(name) for name in ("a/b.csv", ".csv", "csv", "iid", 5, None)] == [
        *(True, True),
        *(False, False, False, False),
    ]


def test_what_the_data_lack_is_said_of_the_data():
    for source, said in (("mine", "mine: "), ("", "")):
        with pytest.raises(InputError) as caught:
            split_dataset("groups", replace(dataset(), source=source), silos=2, alpha=1.0, seed=0)
        assert str(caught.value).startswith(f"{said}partition(='groups') must have data with groups")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"^partition\(=.*none\.csv'\) cannot be read: No such file"):
        parts(tmp_path / "none.csv")


def test_a_training_takes_it(tmp_path):
    path = tmp_path / "digits.csv"
    path.write_text("sample,silo\n" + "".join(f"{n},{n % 2}\n" for n in range(1442)))
    config = TrainingConfig(partition=str(path), model="softmax")
    found = check_data(config, silos=2, seed=0, silo_labels=SILOS).parts
    assert [part[:2].tolist() for part in found] == [[0, 2], [1, 3]]
    with pytest.raises(InputError, match=r"^partition\(='parts\.txt'\) must be one of dirichlet"):
        TrainingConfig(partition="parts.txt")
