"""Data in files of a user's own: arrays, a table, a folder of images."""

import numpy as np
import pytest
from PIL import Image

from topologies.errors import InputError
from training import (
    DATASETS,
    DataOptions,
    TrainingConfig,
    dataset_reader,
    held_out,
    load_dataset,
    split_dataset,
)
from training.data.arrays import Samples, dataset_of
from training.engine.data_checks import check_data


def test_bytes_are_pixels_whole_numbers_tokens_and_the_rest_floats():
    for values, dtype, largest in (
        (np.array([[0, 255]], np.uint8), np.float32, 1.0),
        (np.array([[0, 255]], np.int16), np.int64, 255),
        (np.array([[0.0, 255.0]]), np.float32, 255.0),
    ):
        part = Samples(inputs=[values], labels=np.array([0]))
        data = dataset_of(part, part, source="x")
        assert data.train_inputs.dtype == dtype
        assert data.train_inputs.max() == largest


def test_a_file_of_arrays(tmp_path):
    path = tmp_path / "data.npz"
    x, y = np.arange(40, dtype=np.float64).reshape(20, 2), np.arange(20) % 2
    np.savez(path, x=x, y=y, groups=y)
    data = load_dataset("npz_file", DataOptions(data=str(path)))
    test = held_out(y)
    np.testing.assert_array_equal(data.train_inputs, x[~test])
    np.testing.assert_array_equal(data.test_inputs, x[test])
    np.testing.assert_array_equal(data.train_groups, y[~test])
    np.savez(path, x_train=x, y_train=y, x_test=x[:3], y_test=y[:3])
    data = load_dataset("npz_file", DataOptions(data=str(path)))
    assert (len(data.train_labels), len(data.test_labels)) == (20, 3)
    with pytest.raises(
        InputError, match=r"^model\(='softmax'\) must read samples of shape .*, not \(2,\)\.$"
    ):
        check_data(TrainingConfig(dataset="npz_file", data=str(path), model="softmax"), silos=2, seed=0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros(3)}, "must hold the arrays x, y; y is not among x."),
        ({"x_train": np.zeros(3), "y_train": np.zeros(3)}, "y_test; x_test is not among x_train, y_train."),
        (
            {"x": np.zeros((2, 2)), "y": np.array([None, 1])},
            "must be a file of arrays, as numpy.savez writes it",
        ),
    ],
)
def test_a_file_that_lacks_arrays_is_named(tmp_path, arrays, message):
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError) as caught:
        load_dataset("npz_file", DataOptions(data=str(path)))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    path.write_text("no arrays")
    with pytest.raises(InputError, match=r"data\.npz: must be a file of arrays"):
        load_dataset("npz_file", DataOptions(data=str(path)))


TABLE = "age,hospital,pressure,sick\n50,a,120.5,yes\n60,b,130,no\n70,a,125,yes\n80,b,1e2,no\n"
OPTIONS = {"label": "sick", "groups": "hospital"}


def test_a_table_with_labels_and_groups(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE * 1 + "".join(TABLE.splitlines(keepends=True)[1:]))
    data = load_dataset("csv_file", DataOptions(data=str(path), declared=OPTIONS))
    assert data.label_names == ("no", "yes")
    assert len(data.train_labels) + len(data.test_labels) == 8
    assert data.train_inputs[0].tolist() == [50, 120.5]
    assert data.train_labels[:2].tolist() == [1, 0]
    assert data.group_names == ("a", "b")
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text(TABLE)
    data = load_dataset("csv_file", DataOptions(data=str(tmp_path), declared=OPTIONS))
    assert (len(data.train_labels), len(data.test_labels)) == (4, 4)
    parts = split_dataset("groups", data, silos=2, alpha=1.0, seed=0)
    assert sorted(part.tolist() for part in parts) == [[0, 2], [1, 3]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TABLE, {}, "dataset_options.label is missing: name of the column of labels."),
        (
            TABLE,
            {"label": "ill"},
            "dataset_options.label(='ill') must be one of age, hospital, pressure, sick.",
        ),
        (TABLE, {"label": "sick"}, "line 2: hospital(='a') must be a finite number."),
        (TABLE + "1,a\n", OPTIONS, "line 6 must have 4 values, as the header, not 2."),
        (TABLE + "inf,a,1,no\n", OPTIONS, "line 6: age(='inf') must be a finite number."),
        (TABLE.splitlines()[0], OPTIONS, "must have training samples, not 0."),
        ("sick\n1\n", {"label": "sick"}, "must have a column of numbers beside the labels."),
        (TABLE, {"label": "sick", "delimiter": ""}, "dataset_options.delimiter(='') must be one character."),
    ],
)
def test_a_bad_table_names_line_and_column(tmp_path, text, options, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_dataset("csv_file", DataOptions(data=str(path), declared=options))
    assert message in str(caught.value)


def pictures(folder, names, *, size=(3, 2), count=5):
    for value, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            Image.new("RGB", size, (51 * value, 255, 0)).save(folder / name / f"{number}.png")


def test_a_folder_of_images_for_each_class(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    options = DataOptions(data=str(tmp_path))
    reader = dataset_reader("image_folder")
    assert (reader.sample_shape(options), reader.count_classes(options)) == ((3, 2, 3), 2)
    data = load_dataset("image_folder", options)
    assert data.label_names == ("cat", "dog")
    assert (np.bincount(data.train_labels).tolist(), np.bincount(data.test_labels).tolist()) == (
        [4, 4],
        [1, 1],
    )
    dog = int(np.flatnonzero(data.train_labels == 1)[0])
    image = data.train_inputs[np.array([dog])]
    assert image.shape == (1, 3, 2, 3)
    assert [image[0, channel].max() for channel in range(3)] == pytest.approx([0.2, 1.0, 0.0])
    small = load_dataset("image_folder", DataOptions(data=str(tmp_path), declared={"size": 8, "grey": True}))
    assert small.train_inputs[:2].shape == (2, 1, 8, 8)


def test_folders_for_training_and_tests(tmp_path):
    pictures(tmp_path / "train", ["cat", "dog"], count=2)
    pictures(tmp_path / "test", ["dog"], count=1)
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path)))
    assert (data.train_labels.tolist(), data.test_labels.tolist()) == ([0, 0, 1, 1], [1])
    pictures(tmp_path / "test", ["horse"], count=1)
    with pytest.raises(InputError, match=r"^.*test: class\(='horse'\) must be one of cat, dog\.$"):
        load_dataset("image_folder", DataOptions(data=str(tmp_path)))


def test_bad_images_are_named_or_left_out(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    (tmp_path / "dog" / "0.png").write_text("no image")
    Image.new("RGB", (9, 9)).save(tmp_path / "dog" / "1.png")
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path)))
    with pytest.raises(InputError, match=r"^image\(=.*0\.png\) must decode; skip_bad"):
        data.train_inputs[:], data.test_inputs[:]
    good = load_dataset("image_folder", DataOptions(data=str(tmp_path), skip_bad=True))
    assert (good.skipped, len(good.train_labels) + len(good.test_labels)) == (2, 8)
    (tmp_path / "dog" / "0.png").unlink()
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path)))
    with pytest.raises(InputError, match=r"1\.png\) of 9 x 9 pixels must have 3 x 2, as the first;"):
        data.train_inputs[:], data.test_inputs[:]


@pytest.mark.parametrize(
    ("name", "options"), [("csv_file", {"label": "y"}), ("npz_file", {}), ("image_folder", {})]
)
def test_missing_files_say_what_to_bring(tmp_path, name, options):
    for data in ("", str(tmp_path / "none")):
        with pytest.raises(InputError) as caught:
            load_dataset(name, DataOptions(data=data, declared=options))
        assert str(caught.value) == f"data(={data!r}) must be the {name} {DATASETS[name].needs}."


def test_a_folder_without_images_is_said(tmp_path):
    with pytest.raises(InputError, match=r": must hold a folder of images for each class\.$"):
        load_dataset("image_folder", DataOptions(data=str(tmp_path)))


def test_other_files_and_folders_beside_images_are_none(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    (tmp_path / "dog" / "notes.txt").write_text("no image")
    (tmp_path / "dog" / "more.png").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "readme.png").write_text("no image")
    (tmp_path / "dog" / "0.png").rename(tmp_path / "dog" / "0.PNG")
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path)))

    assert data.label_names == ("cat", "dog")
    assert np.bincount(data.train_labels).tolist() == [4, 4]
    assert len(data.train_inputs[np.arange(8)]) + len(data.test_inputs[np.arange(2)]) == 10
