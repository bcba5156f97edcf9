import gzip
import hashlib
import json
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from topologies.errors import InputError
from training.data.datasets import DataOptions, dataset_reader, load_dataset
from training.data.readers.fashion_mnist import DEFAULT, drawn_writers
from training.data.readers.inaturalist import DEVIATION, MEAN, decode


def leaf(path, users):
    path.parent.mkdir(exist_ok=True)
    content = {
        "users": list(users),
        "num_samples": [len(labels) for labels in users.values()],
        "user_data": {
            user: {"x": [[label / 62] * 784 for label in labels], "y": labels}
            for user, labels in users.items()
        },
    }
    path.write_text(json.dumps(content))


def test_leaf_files_are_read_by_writer(tmp_path):
    leaf(tmp_path / "train" / "a.json", {"f1": [0, 61], "f2": [5]})
    leaf(tmp_path / "train" / "b.json", {"f3": [7, 8, 9]})
    leaf(tmp_path / "test" / "a.json", {"f1": [3]})
    data = load_dataset("femnist", DataOptions(data=str(tmp_path)))
    assert data.train_labels.tolist() == [0, 61, 5, 7, 8, 9]
    assert data.train_groups.tolist() == [0, 0, 1, 2, 2, 2]
    assert data.group_names == ("f1", "f2", "f3")
    assert data.train_inputs.shape == (6, 1, 28, 28)
    assert data.train_inputs.dtype == np.float32
    assert (data.train_inputs[1] == np.float32(61 / 62)).all()
    assert data.test_labels.tolist() == [3]
    assert data.classes == 62


def test_writers_come_in_the_order_of_the_lists_whatever_the_order_of_the_data(tmp_path):
    one = {"x": [[1] * 784], "y": [1]}
    two = {"x": [[0.5] * 784] * 2, "y": [2, 3]}
    content = {"user_data": {"b": two, "a": one}, "users": ["a", "b"]}
    (tmp_path / "train").mkdir()
    (tmp_path / "test").mkdir()
    (tmp_path / "train" / "x.json").write_text("\ufeff" + json.dumps(content))
    leaf(tmp_path / "test" / "x.json", {"c": [7]})
    data = load_dataset("femnist", DataOptions(data=str(tmp_path)))
    assert data.group_names == ("a", "b")
    assert data.train_labels.tolist() == [1, 2, 3]
    assert data.train_inputs[:, 0, 0, 0].tolist() == [1, 0.5, 0.5]
    assert data.train_groups.tolist() == [0, 1, 1]
    assert data.test_labels.tolist() == [7]


@pytest.mark.slow
def test_reading_many_files_needs_little_more_than_their_arrays(tmp_path):
    # What is held besides: the arrays, which grow by eighths, one file and its text.
    for number in range(10):
        leaf(tmp_path / f"{number}.json", {f"f{number}{user}": [1, 2, 3, 4, 5] * 4 for user in range(5)})
    load_dataset("femnist", DataOptions(data=str(tmp_path)))
    tracemalloc.start()
    try:
        data = load_dataset("femnist", DataOptions(data=str(tmp_path)))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    arrays = data.train_inputs.nbytes + data.test_inputs.nbytes
    text = (tmp_path / "0.json").stat().st_size
    assert peak < 1.125 * arrays + 2 * text + arrays / 10 + 2**20
    assert arrays > 3_000_000


def test_undivided_leaf_files_hold_out_a_fifth_of_each_writer(tmp_path):
    leaf(tmp_path / "a.json", {"f1": [0, 1, 2, 3, 4], "f2": [5, 6]})
    data = load_dataset("femnist", DataOptions(data=str(tmp_path)))
    assert data.test_labels.tolist() == [4, 6]
    assert data.train_groups.tolist() == [0, 0, 0, 0, 1]


def one_user(pixels, labels, **more):
    return json.dumps({"users": ["a"], "user_data": {"a": {"x": pixels, "y": labels}}, **more})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"users": ["a"], "user_da',
            r"must be complete JSON: Unterminated string starting at line 1, column 18\.$",
        ),
        ('{"users": ["a"], "user_data": {"a": {"x": [[0.5', r"must be complete JSON: .* at line 1, column"),
        (
            '{"users": ["a"], "user_data": {"a": {"x": [], "y": []}}}',
            r"user\(='a'\) must have samples, not 0",
        ),
        ('{"users": ["a"], "user_data": {}}', r"user\(='a'\) must be in 'user_data'\.$"),
        (
            '{"users": ["a"], "user_data": {"a": {"x": [[0.5]]}}}',
            r"user\(='a'\) must have 'x', lists of 784 numbers, and 'y', a list of classes\.$",
        ),
        (one_user([[0] * 784], [62]), r"label\(=62\) of sample 0 must be 0 to 61"),
        (one_user([[0] * 783] * 2, [1, 1]), r"user\(='a'\): pixels\(=783\) of sample 0 must be 784\.$"),
        (
            one_user([[0] * 784, [0] * 783], [1, 1]),
            r"user\(='a'\): pixels\(=783\) of sample 1 must be 784\.$",
        ),
        (one_user([[0] * 784, 5], [1, 1]), r"pixels\(=5\) of sample 1 must be a list of 784 numbers\.$"),
        (one_user([[0] * 784] * 2, [1]), r"x\(shape=\(2, 784\)\) must have shape \(1, 784\)"),
        (one_user([[0] * 783 + ["z"]], [1]), r"pixel\(='z'\) of sample 0 must be >= 0 and <= 1\.$"),
        (one_user([[10**400] * 784], [1]), r"pixel\(=1000.*\) of sample 0 must be >= 0 and <= 1\.$"),
        (one_user([[0] * 784] * 2, [3, "A"]), r"user\(='a'\): label\(='A'\) of sample 1 must be 0 to 61\.$"),
        (
            one_user([[0] * 784] * 2, [1, 1], num_samples=[3]),
            r"num_samples\(=3\) of user 'a' must be 2, as many as there are\.$",
        ),
        (
            one_user([[0] * 784], [1], num_samples=[1, 1]),
            r"num_samples must be a list of one number per user\.$",
        ),
        (
            json.dumps({"users": ["a"], "user_data": {"a": {"x": [[float("nan")] * 784], "y": [1]}}}),
            r"user\(='a'\): pixel\(=nan\) of sample 0 must be",
        ),
        (
            json.dumps({"users": ["a", "a"], "user_data": {"a": {"x": [[0] * 784], "y": [1]}}}),
            r"user\(='a'\) must be there once",
        ),
        (
            one_user([[0] * 784, [0] * 784], [1, 62]),
            r"user\(='a'\): label\(=62\) of sample 1 must be 0 to 61\.",
        ),
        (one_user([[0] * 784], [0.5]), r"label\(=0.5\) of sample 0 must be 0 to 61\."),
        (one_user([[0] * 784, [0] * 783 + [2]], [0, 61]), r"pixel\(=2\) of sample 1 must be >= 0 and <= 1\."),
        (one_user([[-0.5] * 784], [0]), r"pixel\(=-0.5\) of sample 0 must be >= 0 and <= 1\."),
        (one_user([[0] * 784], [[1]]), r"user\(='a'\): y must be a list of classes, one per sample\.$"),
        (
            one_user([0] * 784, [1]),
            r"user\(='a'\): x\(shape=\(784,\)\) must have shape \(1, 784\), one row per label\.$",
        ),
        (one_user([[0] * 784], [-1]), r"user\(='a'\): label\(=-1\) of sample 0 must be 0 to 61\.$"),
        (one_user([[0] * 784, 5], [-1, 1]), r"user\(='a'\): label\(=-1\) of sample 0 must be 0 to 61\.$"),
        (one_user([[0] * 784, 5], [61, 62]), r"user\(='a'\): label\(=62\) of sample 1 must be 0 to 61\.$"),
        (one_user([[0, 1, -1], 5], [1, 0]), r"user\(='a'\): pixels\(=3\) of sample 0 must be 784\.$"),
        (one_user([[1] * 783 + [-1], 5], [1, 0]), r"pixel\(=-1\) of sample 0 must be >= 0 and <= 1\.$"),
        (one_user([[0] * 784, [2] * 784, 5], [1, 0, 0]), r"pixel\(=2\) of sample 1 must be >= 0 and <= 1\.$"),
        (
            one_user("x", [1]),
            r"user\(='a'\) must have 'x', lists of 784 numbers, and 'y', a list of classes\.$",
        ),
        (
            one_user([[0] * 784], [1], num_samples=5),
            r"num_samples must be a list of one number per user\.$",
        ),
        ('{"users": "a", "user_data": {}}', r"must hold 'users', a list, and 'user_data'"),
        ("[]", r"must hold 'users', a list, and 'user_data'"),
    ],
)
def test_a_bad_leaf_file_is_named(tmp_path, content, message):
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(InputError, match=rf"bad\.json: .*{message}"):
        load_dataset("femnist", DataOptions(data=str(tmp_path)))


def test_the_least_and_the_greatest_pixel_and_class_are_read(tmp_path):
    pixels = [[0] * 784, [1] * 784]
    (tmp_path / "a.json").write_text(one_user(pixels, [0, 61]))
    data = load_dataset("femnist", DataOptions(data=str(tmp_path)))
    # Of a writer with two samples the last is held out.
    assert (data.train_labels.tolist(), data.test_labels.tolist()) == ([0], [61])
    assert (data.train_inputs.max(), data.test_inputs.min()) == (0, 1)
    assert data.train_labels.dtype == np.int64


@pytest.mark.parametrize(
    ("folders", "missing"),
    [((), "*.json"), (("train",), "train/*.json"), (("train", "test"), "test/*.json")],
)
def test_leaf_files_that_are_missing_are_named_with_their_folder(tmp_path, folders, missing):
    for folder in folders:
        (tmp_path / folder).mkdir()
    if "test" in folders:
        leaf(tmp_path / "train" / "a.json", {"f1": [0]})
    with pytest.raises(InputError) as caught:
        load_dataset("femnist", DataOptions(data=str(tmp_path)))
    assert str(caught.value).startswith(
        f"file(={tmp_path / missing}) is missing; data must be the femnist folder"
    )


def idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


def fashion(folder, labels):
    for part in ("train", "t10k"):
        idx(folder / f"{part}-images-idx3-ubyte.gz", np.full((len(labels), 28, 28), 255))
        idx(folder / f"{part}-labels-idx1-ubyte.gz", np.array(labels))


def test_idx_files_are_read_and_writers_are_the_same_each_time(tmp_path, monkeypatch):
    labels = np.random.default_rng(5).integers(10, size=2_000)
    fashion(tmp_path, labels)
    options = DataOptions(data=str(tmp_path))
    data = load_dataset("fashion_mnist", options)
    assert data.train_labels.tolist() == data.test_labels.tolist() == labels.tolist()
    assert data.train_inputs.shape == data.test_inputs.shape == (2_000, 1, 28, 28)
    known = dataset_reader("fashion_mnist", options)
    assert (known.sample_shape(options), known.count_classes(options)) == ((1, 28, 28), data.classes)
    assert (data.train_inputs == 1).all()
    assert len(data.group_names) == data.train_groups.max() + 1 > 2
    np.testing.assert_array_equal(data.train_groups, drawn_writers(2_000, np.random.default_rng(0)))
    again = load_dataset("fashion_mnist", options)
    np.testing.assert_array_equal(data.train_groups, again.train_groups)
    monkeypatch.setattr("training.data.readers.fashion_mnist.SEED", 1)
    assert (load_dataset("fashion_mnist", options).train_groups != data.train_groups).any()


def digest(groups):
    return hashlib.sha256(groups.astype("<i8").tobytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.skipif(not Path(DEFAULT).is_dir(), reason="needs Debian's package dataset-fashion-mnist")
def test_the_real_images_are_read_and_split_as_ever():
    data = load_dataset("fashion_mnist", DataOptions())
    assert data.train_inputs.shape == (60_000, 1, 28, 28)
    assert data.test_inputs.shape == (10_000, 1, 28, 28)
    assert np.bincount(data.train_labels).tolist() == [6_000] * 10
    assert np.bincount(data.test_labels).tolist() == [1_000] * 10
    assert data.train_labels[:12].tolist() == [9, 0, 0, 3, 0, 2, 7, 2, 5, 5, 0, 9]
    assert (data.train_inputs.min(), data.train_inputs.max()) == (0, 1)
    assert len(data.group_names) == 161
    assert digest(data.train_groups) == "1168cc463097eaf03023f8ca1ea32c128b17155bdf0671121368982bf7dd0afa"
    other = drawn_writers(60_000, np.random.default_rng(1))
    assert other.max() + 1 == 184
    assert digest(other) == "f6a9ab90a180ff9e92c69dca18ad1d8c5c72efa11b12ec0f472108e67263af1f"


def test_writers_have_lognormal_counts():
    counts = np.bincount(drawn_writers(2_000_000, np.random.default_rng(3)))
    assert counts.sum() == 2_000_000
    assert counts.min() >= 1
    # Over 4,000 writers: five standard errors of the mean and of the deviation of the logarithm.
    assert np.log(counts).mean() == pytest.approx(5, abs=0.12)
    assert np.log(counts).std() == pytest.approx(1.5, abs=0.09)


def test_bad_idx_files_are_named(tmp_path):
    fashion(tmp_path, [0, 10])
    with pytest.raises(InputError, match=r"label\(=10\) of sample 1 must be 0 to 9"):
        load_dataset("fashion_mnist", DataOptions(data=str(tmp_path)))
    path = tmp_path / "train-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"train-labels.*must be a complete gzip file"):
        load_dataset("fashion_mnist", DataOptions(data=str(tmp_path)))


LABELS, PICTURES = "train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz"


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        # Type 8: bytes; then the number of dimensions, and four bytes for the length of each.
        (LABELS, [0, 0, 8, 1, 0, 0, 0, 2, 7], r"bytes\(=1\) must be 2 for shape \(2,\)\.$"),
        (LABELS, [0, 0, 8, 1, 0, 0, 0, 2, 7, 7, 7], r"bytes\(=3\) must be 2 for shape \(2,\)\.$"),
        (LABELS, [0, 0, 8, 1, 0, 0, 0], r"must be an IDX file of bytes with 1 dimensions\.$"),
        (LABELS, [0, 0, 9, 1, 0, 0, 0, 0], r"must be an IDX file of bytes with 1 dimensions\.$"),
        (LABELS, [0, 0, 8, 3, *[0, 0, 0, 1] * 3, 5], r"must be an IDX file of bytes with 1 dimensions\.$"),
        (PICTURES, [0, 0, 8, 1, 0, 0, 0, 1, 5], r"must be an IDX file of bytes with 3 dimensions\.$"),
        (PICTURES, [0, 0, 8, 3, *[0, 0, 0, 1] * 3, 5], r"images\(shape=\(1, 1, 1\)\) must be 28 x 28\.$"),
        (LABELS, [0, 0, 8, 1, 0, 0, 0, 1, 7], r"labels\(=1\) must be one per image, 2\.$"),
    ],
)
def test_an_idx_file_whose_bytes_are_not_those_that_it_states_is_named(tmp_path, name, content, rule):
    fashion(tmp_path, [0, 1])
    (tmp_path / name).write_bytes(gzip.compress(bytes(content)))
    with pytest.raises(InputError, match=f"{name}: {rule}"):
        load_dataset("fashion_mnist", DataOptions(data=str(tmp_path)))


def test_a_part_without_images_is_named(tmp_path):
    fashion(tmp_path, [])
    with pytest.raises(InputError, match=rf"{LABELS}: labels\(=0\) must be one per image, 0\.$"):
        load_dataset("fashion_mnist", DataOptions(data=str(tmp_path)))


def nature(folder, *, images=30, species=3):
    for part, first in (("train2018", 0), ("val2018", images)):
        ids = range(first, first + images)
        lists = {
            "images": [{"id": i, "file_name": f"train_val2018/{i}.png"} for i in ids],
            "annotations": [
                {"image_id": i, "category_id": 100 + min(i % 4, species - 1)} for i in reversed(ids)
            ],
            "categories": [{"id": 100 + i} for i in range(species)],
        }
        (folder / f"{part}.json").write_text(json.dumps(lists))
        spots = [{"id": i, "lat": 1.0 * i, "lon": None if i == 1 else -1.0} for i in ids]
        (folder / f"{part}_locations.json").write_text(json.dumps(spots))
        (folder / "train_val2018").mkdir(exist_ok=True)
        for i in ids:
            Image.new("RGB", (300, 260), (i, 0, 255)).save(folder / "train_val2018" / f"{i}.png")


def test_images_are_decoded_when_read_and_normalized(tmp_path):
    nature(tmp_path)
    data = load_dataset("inaturalist", DataOptions(data=str(tmp_path)))
    assert data.train_inputs.shape[1:] == (3, 224, 224)
    assert data.label_names == ("102", "100", "101")
    assert len(data.train_labels) + len(data.test_labels) == 60
    batch = data.train_inputs[np.array([2, 0])]
    assert batch.dtype == np.float32
    expected = (np.array([2 / 255, 0, 1]) - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    np.testing.assert_allclose(batch[0, :, 100, 7], expected, rtol=1e-5)
    np.testing.assert_array_equal(data.train_places[:3], [[0, -1], [np.nan, np.nan], [2, -1]])


def test_the_middle_of_an_image_is_taken_at_a_shorter_side_of_256(tmp_path):
    # Red by column and green by row of an image of twice the size, whose shorter side is its height.
    rows, columns = np.mgrid[0:512, 0:640]
    pixels = np.stack([columns // 4, rows // 4, np.zeros_like(rows)], axis=-1).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "wide.png")
    Image.fromarray(pixels.transpose(1, 0, 2)).save(tmp_path / "high.png")
    for name, left, top in (("wide.png", 48, 16), ("high.png", 16, 48)):
        image = decode(str(tmp_path / name))
        assert image.shape == (3, 224, 224)
        levels = 255 * (image * DEVIATION + MEAN)
        red, green = (
            (levels[0, 0], levels[1, :, 0]) if name == "wide.png" else (levels[0, :, 0], levels[1, 0])
        )
        far, near = (left, top) if name == "wide.png" else (top, left)
        np.testing.assert_allclose(red, (np.arange(224) + far) / 2, atol=1)
        np.testing.assert_allclose(green, (np.arange(224) + near) / 2, atol=1)


@pytest.mark.parametrize(("name", "every"), [("inaturalist", 10), ("full_inaturalist", 5)])
def test_every_species_is_tested_by_the_same_pictures_in_any_order_of_the_lists(tmp_path, name, every):
    nature(tmp_path, images=40, species=3)
    rng = np.random.default_rng(8)
    # Species 102 keeps 40 of the pictures; 100 and 101 have 20 each. Six more have one to six.
    lists = json.loads((tmp_path / "train2018.json").read_text())
    for number, count in enumerate([1, 2, 3, 4, 5, 6]):
        lists["categories"].append({"id": 200 + number})
        for copy in range(count):
            identity = 1000 + 10 * number + copy
            lists["images"].append({"id": identity, "file_name": f"train_val2018/s{identity}.png"})
            lists["annotations"].append({"image_id": identity, "category_id": 200 + number})
            Image.new("RGB", (300, 260)).save(tmp_path / "train_val2018" / f"s{identity}.png")
    found = []
    for _ in range(3):
        lists["images"] = [lists["images"][place] for place in rng.permutation(len(lists["images"]))]
        (tmp_path / "train2018.json").write_text(json.dumps(lists))
        data = load_dataset(name, DataOptions(data=str(tmp_path)))
        found.append(sorted(data.test_inputs.paths.tolist()))
        tested, trained = (
            Counter(data.label_names[label] for label in labels.tolist())
            for labels in (data.test_labels, data.train_labels)
        )
        for species in data.label_names:
            count = tested[species] + trained[species]
            assert tested[species] == (max(1, count // every) if count > 1 else 0)
    assert found[0] == found[1] == found[2]


def test_an_image_that_does_not_decode_is_named_or_counted(tmp_path):
    nature(tmp_path)
    bad = tmp_path / "train_val2018" / "0.png"
    bad.write_bytes(bad.read_bytes()[:60])
    data = load_dataset("inaturalist", DataOptions(data=str(tmp_path)))
    with pytest.raises(InputError, match=r"image\(=.*0\.png\) must decode"):
        data.train_inputs[:2]
    counted = load_dataset("inaturalist", DataOptions(data=str(tmp_path), skip_bad=True))
    assert counted.skipped == 1
    assert len(counted.train_labels) + len(counted.test_labels) == 59


def test_a_place_that_is_none_is_named_by_file_and_image(tmp_path):
    nature(tmp_path)
    path = tmp_path / "val2018_locations.json"
    for spot, value in (
        ({"lat": -90.5, "lon": 0}, r"lat\(=-90\.5\), lon\(=0\)"),
        ({"lat": 90, "lon": float("inf")}, r"lat\(=90\), lon\(=inf\)"),
    ):
        path.write_text(json.dumps([{"id": 30, "lat": 90, "lon": 360}, {"id": 31, **spot}]))
        rule = rf"val2018_locations\.json: {value} of image id 31 must be in \[-90, 90\] and finite\.$"
        with pytest.raises(InputError, match=rule):
            load_dataset("inaturalist", DataOptions(data=str(tmp_path)))


def test_a_missing_image_is_named(tmp_path):
    nature(tmp_path)
    (tmp_path / "train_val2018" / "5.png").unlink()
    with pytest.raises(InputError, match=r"5\.png\) is missing"):
        load_dataset("inaturalist", DataOptions(data=str(tmp_path)))


def test_a_missing_image_that_is_skipped_is_counted_and_images_may_stay_undecoded(tmp_path):
    nature(tmp_path, images=8)
    (tmp_path / "train_val2018" / "5.png").unlink()
    (tmp_path / "train_val2018" / "6.png").write_bytes(b"none")
    found = {
        decode_all: load_dataset(
            "inaturalist", DataOptions(data=str(tmp_path), skip_bad=True, decode_all=decode_all)
        )
        for decode_all in (True, False)
    }
    assert [(data.skipped, data.opened) for data in found.values()] == [(2, True), (1, False)]
    assert all(len(each.train_labels) + len(each.test_labels) + each.skipped == 16 for each in found.values())


def listed(folder, **lists):
    """The competition's lists with one picture, some of them replaced."""
    for part in ("train2018", "val2018"):
        image = {"train2018": 0, "val2018": 1}[part]
        content = {
            "images": [{"id": image, "file_name": f"{image}.png"}],
            "annotations": [{"image_id": image, "category_id": 7}],
            "categories": [{"id": 7}],
        }
        (folder / f"{part}.json").write_text(json.dumps({**content, **lists}))
        (folder / f"{part}_locations.json").write_text("[]")


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"annotations": []}, "{0}/train2018.json: image id 0 has no annotation."),
        (
            {"categories": [{"id": 8}]},
            "{0}/train2018.json: category_id(=7) of image 0 must be one of 'categories'.",
        ),
        (
            {"images": [{}]},
            "{0}/train2018.json: must hold images, annotations and categories as the competition does: 'id'.",
        ),
        ({"images": []}, "{0}: must list images, not 0."),
    ],
)
def test_a_list_of_pictures_that_is_none_is_named(tmp_path, lists, message):
    listed(tmp_path, **lists)
    with pytest.raises(InputError) as caught:
        load_dataset("inaturalist", DataOptions(data=str(tmp_path)))
    assert str(caught.value) == message.format(tmp_path)


@pytest.mark.parametrize("spots", [{"id": 1}, [{"id": 1}], [{"id": 1, "lat": "x", "lon": 0}], [1]])
def test_a_list_of_places_that_is_none_is_named(tmp_path, spots):
    listed(tmp_path)
    (tmp_path / "train2018_locations.json").write_text(json.dumps(spots))
    rule = r"train2018_locations\.json: must be a list of id, lat and lon as the competition's: "
    with pytest.raises(InputError, match=rule):
        load_dataset("inaturalist", DataOptions(data=str(tmp_path)))


@pytest.mark.parametrize(("name", "classes"), [("inaturalist", 80), ("full_inaturalist", 82)])
def test_species_are_counted_from_the_lists_and_the_80_with_most_pictures_are_the_first(
    tmp_path, name, classes
):
    listed(tmp_path, images=[])
    pictures = [(species, copy) for species in range(82) for copy in range(1 + (species in (5, 81)))]
    lists = {
        "images": [{"id": number, "file_name": f"{number}.png"} for number in range(len(pictures))],
        "annotations": [
            {"image_id": number, "category_id": species} for number, (species, _) in enumerate(pictures)
        ],
        "categories": [{"id": species} for species in range(82)],
    }
    (tmp_path / "train2018.json").write_text(json.dumps(lists))
    for number in range(len(pictures)):
        Image.new("RGB", (2, 2)).save(tmp_path / f"{number}.png")
    options = DataOptions(data=str(tmp_path))
    assert dataset_reader(name, options).count_classes(options) == classes
    # The two of two pictures, then the others as they are listed: 78 of them, or all.
    others = [species for species in range(82) if species not in (5, 81)]
    data = load_dataset(name, options)
    assert data.label_names == tuple(map(str, (5, 81, *others)))[:classes]
    assert data.classes == classes
    assert sorted(data.test_labels.tolist()) == [0, 1]


def test_no_writer_is_drawn_more_samples_than_are_left_or_none():
    class Draws:
        """Counts of writers, and an order that changes nothing."""

        def __init__(self, counts):
            self.counts, self.asked = iter(counts), []

        def lognormal(self, *moments):
            self.asked.append(moments)
            return next(self.counts)

        def permutation(self, writers):
            return writers

    draws = Draws([2.6, 0.2, 9.0])
    assert drawn_writers(6, draws).tolist() == [0, 0, 0, 1, 2, 2]
    assert draws.asked == [(5.0, 1.5)] * 3
    assert drawn_writers(3, Draws([3.0])).tolist() == [0, 0, 0]
