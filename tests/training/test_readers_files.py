"""Data in files of a user's own: arrays, a table, a folder of images."""

from dataclasses import replace

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
from training.data.datasets import IGNORED
from training.data.readers.npz_file import NpzFile
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


def test_what_a_reader_remembers_is_no_option_and_makes_no_other_reader(tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros((4, 3)), y=np.arange(4))
    options = DataOptions(data=str(tmp_path / "data.npz"))
    reader, fresh = NpzFile(), NpzFile()
    assert (reader.sample_shape(options), reader.count_classes(options)) == ((3,), 4)
    (tmp_path / "data.npz").unlink()
    # Both are known without the file.
    assert (reader.sample_shape(options), reader.count_classes(options)) == ((3,), 4)
    assert reader == fresh
    assert repr(reader) == repr(fresh) == "NpzFile()"
    with pytest.raises(InputError, match=r"_sizes.*has no options\.$"):
        dataset_reader("npz_file", DataOptions(declared={"_sizes": {}}))


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


def test_blanks_around_a_group_are_no_part_of_its_name(tmp_path):
    (tmp_path / "table.csv").write_text("age, hospital, sick\n50, a, no\n60,a,no\n70,b ,no\n80, b,no\n")
    data = load_dataset("csv_file", DataOptions(data=str(tmp_path / "table.csv"), declared=OPTIONS))
    assert (data.group_names, data.train_groups.tolist()) == (("a", "b"), [0, 0, 1])


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
        (
            "age,sick,sick\n1,0,0\n",
            {"label": "sick"},
            "must have one column sick; its header is 'age,sick,sick'.",
        ),
        ('age,hospital,sick\n50,"a\nb",no\nx,a,no\n', OPTIONS, "line 4: age(='x') must be a finite number."),
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


def test_whole_numbers_are_classes_up_to_the_largest_of_training_and_test():
    x, y = np.zeros((3, 2)), np.array([0, 2, 1])
    small, large = Samples(inputs=[x], labels=y), Samples(inputs=[x], labels=2 * y)

    assert dataset_of(small, large, source="x").classes == dataset_of(large, small, source="x").classes == 5
    assert dataset_of(replace(small, labels=0 * y), None, source="x").classes == 1
    with pytest.raises(InputError, match=r"^x: must have labels >= 0\.$"):
        dataset_of(replace(small, labels=np.full((3, 2), IGNORED)), None, source="x")


def test_texts_and_whole_numbers_as_labels_are_all_texts():
    x = np.zeros((2, 2))
    train = Samples(inputs=[x], labels=np.array(["3", "cat"]))
    data = dataset_of(train, Samples(inputs=[x], labels=np.array([7, 3])), source="x")

    assert (data.label_names, data.classes) == (("3", "7", "cat"), 3)
    assert (data.train_labels.tolist(), data.test_labels.tolist()) == ([0, 2], [1, 0])


def test_every_fifth_sequence_is_a_test_and_padding_stays_what_it_is():
    labels = np.arange(22).reshape(11, 2) % 3
    labels[0, 1] = IGNORED
    x, groups = np.arange(33).reshape(11, 3), np.arange(11) // 6
    data = dataset_of(Samples(inputs=[x], labels=labels, groups=groups), None, source="x")
    train = [0, 1, 2, 3, 5, 6, 7, 8, 10]

    assert data.classes == 3
    np.testing.assert_array_equal(data.test_labels, labels[[4, 9]])
    np.testing.assert_array_equal(data.train_labels, labels[train])
    np.testing.assert_array_equal(data.test_inputs, x[[4, 9]])
    np.testing.assert_array_equal(data.train_inputs, x[train])
    np.testing.assert_array_equal(data.train_groups, groups[train])


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (
            {"inputs": [np.zeros((2, 3)), np.zeros((2, 1))]},
            {"inputs": [np.zeros((2, 3)), np.zeros((2, 4))]},
            "test samples of shape ((3,), (4,)) must have that of the training samples, ((3,), (1,)).",
        ),
        ({"labels": np.array("a")}, {}, "training labels must be an array, is a single value."),
        ({"groups": np.array(1)}, {}, "training groups must be an array, is a single value."),
        ({}, {"inputs": [np.array(1.0)]}, "test inputs must be an array, is a single value."),
        ({}, {"labels": np.zeros(0)}, "must have test samples, not 0."),
        ({"inputs": []}, {}, "training samples must have an input beside the label."),
        ({"inputs": [np.array([[0, 1], [np.nan, 1]])]}, {}, "training sample 1 must hold finite numbers."),
        ({"inputs": [np.array([[0, 1], [1, 1e39]])]}, {}, "training sample 1 must hold finite numbers."),
        ({"inputs": [np.array([[np.nan], [np.nan]])]}, {}, "training sample 0 must hold finite numbers."),
        ({"inputs": [np.zeros((2, 3), complex)]}, {}, "training inputs must be numbers, not complex128."),
        (
            {"labels": np.zeros((2, 1, 1), int)},
            {},
            "training labels(shape=(2, 1, 1)) must have shape (samples,) or (samples, length).",
        ),
        ({"labels": np.array([0, 1 + 0j])}, {}, "training labels must be whole numbers >= 0 or texts"),
        ({}, {"labels": np.array([1, np.inf])}, "test labels must be whole numbers >= 0 or texts"),
        ({"labels": np.array([0, IGNORED - 1])}, {}, "training labels must be whole numbers >= 0 or texts"),
    ],
)
def test_arrays_that_are_no_data_are_named(train, test, message):
    good = {"inputs": [np.zeros((2, 3))], "labels": np.array([0, 1])}
    parts = [Samples(**{**good, **changes}) for changes in (train, test)]

    with pytest.raises(InputError) as caught:
        dataset_of(*parts, source="mine")
    assert str(caught.value).startswith(f"mine: {message}")


def test_truth_values_are_whole_numbers():
    part = Samples(inputs=[np.array([[True], [False]])], labels=np.array([True, False]))
    data = dataset_of(part, part, source="x")

    assert (data.train_inputs.dtype, data.train_inputs.tolist()) == (np.int64, [[1], [0]])
    assert (data.train_labels.tolist(), data.classes) == ([1, 0], 2)


def test_one_array_of_a_division_asks_for_the_others(tmp_path):
    path = tmp_path / "data.npz"
    for one, missing in (("x_train", "y_train"), ("y_train", "x_train"), ("x_test", "x"), ("x", "y")):
        np.savez(path, **{one: np.zeros(3)})
        names = "x_train, y_train, x_test, y_test" if one.endswith("train") else "x, y"
        with pytest.raises(InputError) as caught:
            load_dataset("npz_file", DataOptions(data=str(path)))
        assert str(caught.value) == f"{path}: must hold the arrays {names}; {missing} is not among {one}."
    np.savez(path)
    with pytest.raises(InputError, match=r"must hold the arrays x, y; x is not among none\.$"):
        load_dataset("npz_file", DataOptions(data=str(path)))


def test_arrays_that_are_divided_have_groups_of_the_training_samples(tmp_path):
    path = tmp_path / "data.npz"
    x = np.arange(6.0).reshape(3, 2)
    np.savez(path, x_train=x, y_train=[0, 1, 1], x_test=2 * x[:1], y_test=[2], groups=["b", "a", "b"])
    data = load_dataset("npz_file", DataOptions(data=str(path)))

    assert (data.train_inputs.tolist(), data.test_inputs.tolist()) == (x.tolist(), [[0, 2]])
    assert (data.train_labels.tolist(), data.test_labels.tolist(), data.classes) == ([0, 1, 1], [2], 3)
    assert (data.train_groups.tolist(), data.group_names) == ([1, 0, 1], ("a", "b"))


def test_why_a_file_is_none_of_arrays_is_said_as_numpy_does(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros(2), y=np.array([None, 1]))
    with pytest.raises(InputError, match=r"as numpy\.savez writes it: Object arrays cannot be loaded .*\.$"):
        load_dataset("npz_file", DataOptions(data=str(path)))


def read_table(path, **options):
    return load_dataset("csv_file", DataOptions(data=str(path), declared=options))


@pytest.mark.parametrize(
    ("labels", "names", "largest"),
    [
        (("1", "2"), (), 2),
        (("1", "b"), ("1", "b"), 1),
        (("1.0", "2"), ("1.0", "2"), 1),
        (("0", "9" * 18), (), int("9" * 18)),
        # Nineteen digits may be more than 64 bits hold.
        (("0", "1" * 19), ("0", "1" * 19), 1),
    ],
)
def test_labels_of_a_table_are_numbers_where_all_are(tmp_path, labels, names, largest):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{number}, {label} \n" for number, label in enumerate(labels)))
    data = read_table(path, label="y")

    assert (data.label_names, data.classes) == (names, largest + 1)
    assert data.train_labels[-1] == largest


@pytest.mark.parametrize(
    ("text", "value"), [("3.4028234663852886e38", None), ("-3.5e38", " of 32 bits"), ("nan", "")]
)
def test_numbers_of_a_table_have_32_bits(tmp_path, text, value):
    path = tmp_path / "table.csv"
    path.write_text(f"x,y\n1,0\n\n{text},1\n")
    if value is None:
        assert np.finfo(np.float32).max in read_table(path, label="y").train_inputs
        return
    with pytest.raises(InputError) as caught:
        read_table(path, label="y")
    # An empty line is skipped, and counted.
    assert str(caught.value) == f"{path}: line 4: x(={text!r}) must be a finite number{value}."


def test_tables_of_training_and_test_have_the_same_columns(tmp_path):
    (tmp_path / "train.csv").write_text("a,b,y\n1,2,0\n")
    with pytest.raises(InputError, match=r"^data\(=.*\) must be the csv_file file with a header"):
        read_table(tmp_path, label="y")
    for header in ("b,a,y", "a,y,b"):
        (tmp_path / "test.csv").write_text(f"{header}\n3,4,5\n")
        if header == "a,y,b":
            data = read_table(tmp_path, label="y")
            assert (data.test_inputs.tolist(), data.test_labels.tolist()) == ([[3, 5]], [4])
            continue
        with pytest.raises(InputError) as caught:
            read_table(tmp_path, label="y")
        assert str(caught.value) == f"{tmp_path}/test.csv: must have the columns of train.csv, in its order."


def test_a_table_with_semicolons_may_have_decimal_commas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b;y\n1,5;-2,25;0\n1.5;3;1\n")

    assert read_table(path, label="y", delimiter=";").train_inputs.tolist() == [[1.5, -2.25], [1.5, 3]]
    with pytest.raises(InputError, match=r"^dataset_options\.delimiter\(=';;'\) must be one character\.$"):
        read_table(path, label="y", delimiter=";;")


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, (3, 2, 5)),
        ({"grey": True}, (1, 2, 5)),
        ({"size": 1}, (3, 1, 1)),
        ({"size": 8, "grey": True}, (1, 8, 8)),
    ],
)
def test_the_first_image_of_the_first_class_says_the_size_of_all(tmp_path, options, shape):
    pictures(tmp_path, ["cat", "dog"], size=(4, 4))
    Image.new("RGB", (5, 2), (255, 0, 0)).save(tmp_path / "cat" / "0.png")
    given = DataOptions(data=str(tmp_path), declared=options)

    assert dataset_reader("image_folder", given).sample_shape(given) == shape
    data = load_dataset("image_folder", given)
    if "size" in options:  # all become one size
        assert data.train_inputs[:].shape == (8, *shape)
    else:
        assert data.train_inputs[:1].shape == (1, *shape)
        with pytest.raises(InputError, match=r"1\.png\) of 4 x 4 pixels must have 5 x 2, as the first;"):
            data.train_inputs[:]


def test_a_grey_image_is_the_brightness_of_its_colours(tmp_path):
    (tmp_path / "red").mkdir()
    Image.new("RGB", (2, 1), (255, 0, 0)).save(tmp_path / "red" / "0.png")
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path), declared={"grey": True}))

    # ITU-R 601-2, as Pillow has it: 299/1000 of red.
    assert data.train_inputs[:].tolist() == [[[[pytest.approx(76 / 255)] * 2]]]


def test_a_first_image_that_is_none_is_named(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    (tmp_path / "cat" / "0.png").write_text("no image")
    with pytest.raises(InputError) as caught:
        load_dataset("image_folder", DataOptions(data=str(tmp_path)))
    assert str(caught.value) == f"{tmp_path}/cat/0.png: must be an image."


@pytest.mark.parametrize("ask", ["sample_shape", "count_classes", "load"])
def test_a_file_is_no_folder_of_images(tmp_path, ask):
    (tmp_path / "file").write_text("")
    options = DataOptions(data=str(tmp_path / "file"))
    with pytest.raises(
        InputError, match=r"^data\(=.*\) must be the image_folder folder with a folder of images"
    ):
        getattr(dataset_reader("image_folder"), ask)(options)


def test_bad_images_of_training_and_test_are_left_out_together_and_only_where_asked(tmp_path):
    pictures(tmp_path / "train", ["cat", "dog"], count=3)
    pictures(tmp_path / "test", ["cat"], count=3)
    for name in ("train/dog/0.png", "test/cat/1.png", "test/cat/2.png"):
        (tmp_path / name).write_text("no image")

    def read(**options):
        data = load_dataset("image_folder", DataOptions(data=str(tmp_path), **options))
        return data.skipped, len(data.train_labels), len(data.test_labels), data.opened

    assert read() == (0, 6, 3, False)
    assert read(skip_bad=True) == (3, 5, 1, True)
    assert read(skip_bad=True, decode_all=False) == (0, 6, 3, False)
    # Images of any size are good where they are resized.
    Image.new("RGB", (9, 9)).save(tmp_path / "test" / "cat" / "1.png")
    assert read(skip_bad=True) == (3, 5, 1, True)
    assert read(skip_bad=True, declared={"size": 1}) == (2, 5, 2, True)


def test_a_test_image_of_another_size_than_training_s_is_left_out_where_asked(tmp_path):
    pictures(tmp_path / "train", ["cat", "dog"], count=2)
    pictures(tmp_path / "test", ["dog"], count=2)
    Image.new("RGB", (9, 9)).save(tmp_path / "test" / "dog" / "0.png")
    (tmp_path / "test" / "cat").mkdir()
    data = load_dataset("image_folder", DataOptions(data=str(tmp_path), skip_bad=True))
    # Of cats there is no test image: those of training say the size all the same.
    assert (data.skipped, data.test_labels.tolist(), data.test_inputs[:].shape) == (1, [1], (1, 3, 2, 3))
    (tmp_path / "test" / "cat").rmdir()
    assert load_dataset("image_folder", DataOptions(data=str(tmp_path), skip_bad=True)).skipped == 1


def test_an_image_that_is_cut_off_does_not_say_the_size(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    # Its first bytes are whole, and state another size.
    whole = tmp_path / "cat" / "-.png"
    Image.effect_noise((90, 90), 50).convert("RGB").save(whole)
    whole.write_bytes(whole.read_bytes()[:-2000])
    options = DataOptions(data=str(tmp_path), skip_bad=True)
    reader = dataset_reader("image_folder", options)
    data = reader.load(options)
    assert reader.sample_shape(options) == data.train_inputs.shape[1:] == (3, 2, 3)
    assert data.skipped == 1


def test_where_bad_images_are_left_out_the_first_good_one_says_the_size(tmp_path):
    pictures(tmp_path, ["cat", "dog"])
    for name in ("cat/0.png", "cat/1.png"):
        (tmp_path / name).write_text("no image")
    options = DataOptions(data=str(tmp_path), skip_bad=True)
    reader = dataset_reader("image_folder", options)
    assert reader.sample_shape(options) == (3, 2, 3)
    data = reader.load(options)
    assert (data.skipped, len(data.train_labels) + len(data.test_labels)) == (2, 8)
    for path in tmp_path.glob("*/*.png"):
        path.write_text("no image")
    with pytest.raises(InputError) as caught:
        reader.load(options)
    assert str(caught.value) == f"{tmp_path}: must hold an image that can be read."


def test_a_folder_train_alone_is_a_class_and_the_first_unknown_class_is_named(tmp_path):
    pictures(tmp_path, ["train", "cat"])
    assert load_dataset("image_folder", DataOptions(data=str(tmp_path))).label_names == ("cat", "train")
    pictures(tmp_path / "train", ["dog"])
    pictures(tmp_path / "test", ["dog", "zebra", "ape"])
    with pytest.raises(InputError, match=r"test: class\(='ape'\) must be one of dog\.$"):
        load_dataset("image_folder", DataOptions(data=str(tmp_path)))


@pytest.mark.parametrize("data", ["", "none"])
def test_a_data_set_in_a_folder_has_none_where_nothing_is_named(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        load_dataset("femnist", DataOptions(data=data))
    assert str(caught.value) == f"data(={data!r}) must be the femnist {DATASETS['femnist'].needs}."
