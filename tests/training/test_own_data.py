"""Data of a user's own: arrays and torch data sets that a callable returns."""

import numpy as np
import pytest
from own_parts import own_file

from topologies.errors import InputError, TrainingError
from training import DataOptions, TrainingConfig, dataset_reader, load_dataset
from training.engine.data_checks import check_data


def loaded(path, name, **declared):
    return load_dataset(f"{path}:{name}", DataOptions(declared=declared))


def test_arrays_with_groups(tmp_path):
    path = own_file(tmp_path)
    data = loaded(path, "load", samples=10)
    assert data.train_inputs.shape == (10, 1, 4, 4)
    assert data.train_inputs.dtype == np.float32
    assert data.train_labels.tolist() == [0, 1] * 5
    assert data.train_groups.tolist() == [0, 1] * 5
    assert data.group_names == ("0", "1")
    assert len(data.test_labels) == 5
    assert data.classes == 2
    parts = check_data(
        TrainingConfig(dataset=f"{path}:load", model=f"{path}:Net", partition="groups"), silos=2, seed=0
    ).parts
    assert sorted(part[0] % 2 for part in parts) == [0, 1]
    assert all(len(set(part % 2)) == 1 for part in parts)


TORCH = """
from torch.utils.data import Dataset, TensorDataset

class Listed(Dataset):
    groups = ("a", "b", "a")
    def __len__(self):
        return 3
    def __getitem__(self, index):
        return torch.full((2,), float(index)), ("cat", "dog", "cat")[index]

def listed():
    return Listed(), Listed()

def tensors():
    x, y = torch.arange(6).reshape(3, 2), torch.tensor([0, 2, 1])
    return TensorDataset(x, x / 2, y), TensorDataset(x, x / 2, y)

def here(data, scale=1):
    return (np.ones((2, 3)) * scale, [0, 1]), (np.ones((1, 3)), np.array([1.0]))
"""


def test_torch_data_sets_and_labels_that_are_texts(tmp_path):
    data = loaded(own_file(tmp_path, TORCH), "listed")
    assert data.train_inputs.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert data.train_labels.tolist() == [0, 1, 0]
    assert data.label_names == ("cat", "dog")
    assert data.group_names == ("a", "b")
    assert data.train_groups.tolist() == [0, 1, 0]


def test_samples_with_several_inputs_travel_as_bytes(tmp_path):
    data = loaded(own_file(tmp_path, TORCH), "tensors")
    assert [(part.dtype, part.shape) for part in data.input_parts] == [("int64", (2,)), ("float32", (2,))]
    assert data.train_inputs.shape == (3, 2 * 8 + 2 * 4)
    assert data.train_inputs[2, :16].view(np.int64).tolist() == [4, 5]
    assert data.train_inputs[2, 16:].view(np.float32).tolist() == [2.0, 2.5]
    assert data.classes == 3
    with pytest.raises(InputError, match=r"^model\(='softmax'\) must read samples with one input, not 2\.$"):
        check_data(TrainingConfig(dataset=f"{tmp_path}/own.py:tensors", model="softmax"), silos=2, seed=0)


def test_the_callable_gets_data_and_options(tmp_path):
    name = f"{own_file(tmp_path, TORCH)}:here"
    data = load_dataset(name, DataOptions(data="/somewhere", declared={"scale": 5}))
    assert data.train_inputs.max() == 5
    assert data.test_labels.tolist() == [1]
    with pytest.raises(InputError, match=r"called without .*: missing a required argument: 'data'\.$"):
        load_dataset(name)
    with pytest.raises(
        InputError, match=r"called with data, size: got an unexpected keyword argument 'size'\.$"
    ):
        load_dataset(name, DataOptions(data="x", declared={"size": 5}))


def test_sizes_are_read_once(tmp_path):
    path = own_file(
        tmp_path,
        "\ncalls = []\ndef counted():\n    calls.append(1)\n    assert len(calls) < 2\n    return load()\n",
    )
    reader, options = dataset_reader(f"{path}:counted"), DataOptions()
    assert (reader.sample_shape(options), reader.count_classes(options)) == ((1, 4, 4), 2)


WRONG = """
def three():
    return 1, 2, 3

def unlabelled():
    return np.zeros((4, 2)), np.zeros((4, 2))

def one_part():
    return (np.zeros((4, 2)),), (np.zeros((4, 2)),)

def bare_items():
    return [TensorDataset(torch.zeros(3, 2))] * 2

def reals():
    return [(np.zeros((2, 2)), np.array([0.5, 1.0]))] * 2

def negative():
    return [(np.zeros((2, 2)), np.array([-1, 1]))] * 2

def lengths():
    return [(np.zeros((3, 2)), np.array([0, 1]))] * 2

def shapes():
    return (np.zeros((2, 2)), np.array([0, 1])), (np.zeros((2, 3)), np.array([0, 1]))

def empty():
    return [(np.zeros((0, 2)), np.zeros(0, int))] * 2

def unfinished():
    return [(np.array([[0.0], [np.nan]]), np.array([0, 1]))] * 2

def words():
    return [(np.array([["a"], ["b"]]), np.array([0, 1]))] * 2

def ragged():
    return [([[1, 2], [3]], [0, 1])] * 2

def few_groups():
    return (np.zeros((2, 2)), [0, 1], [0]), (np.zeros((2, 2)), [0, 1])

def broken():
    return {}["x"]
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("three", "must return (training data, test data), not 3 parts."),
        ("unlabelled", "or a torch Dataset of (x, y), with a length, not ndarray: data need labels."),
        ("one_part", "must return (x, y) or (x, y, groups) of arrays, not 1 parts: data need labels."),
        ("bare_items", "must return data sets whose samples are (x, y): data need labels."),
        ("reals", "training labels must be whole numbers >= 0 or texts: a class for each sample."),
        ("negative", "training labels must be whole numbers >= 0 or texts"),
        ("lengths", "training inputs(of 3 samples) must be as many as labels(of 2)."),
        ("shapes", "test samples of shape (3,) must have that of the training samples, (2,)."),
        ("empty", "must have training samples, not 0."),
        ("unfinished", "training sample 1 must hold finite numbers."),
        ("words", "training inputs must be numbers, not <U1."),
        ("ragged", "must return arrays whose rows have one length."),
        ("few_groups", "groups(of 1) must be one for each of 2 training labels."),
    ],
)
def test_what_a_callable_must_return_is_said_in_one_line(tmp_path, name, message):
    path = own_file(tmp_path, TORCH + WRONG)
    with pytest.raises(InputError) as caught:
        loaded(path, name)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_callable_that_fails_shows_its_traceback(tmp_path):
    path = own_file(tmp_path, WRONG)
    with pytest.raises(TrainingError, match=rf"^KeyError: 'x' \({path}, line \d+\)\nTraceback"):
        loaded(path, "broken")


NESTED = """
class Given:
    def __init__(self, samples):
        self.samples = samples
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, index):
        return self.samples[index]

def part(form):
    x = np.arange(6.0).reshape(3, 2)
    return Given([form(row, -row[:1], number % 2) for number, row in enumerate(x)])

def twice(form):
    return part(form), part(form)

def apart():
    return twice(lambda a, b, label: (a, b, label))

def together():
    return twice(lambda a, b, label: ((a, b), label))

def in_lists():
    return twice(lambda a, b, label: [[a, b], label])

def first_is_a_list():
    return twice(lambda a, b, label: (a.tolist(), b, label))
"""


@pytest.mark.parametrize("name", ["apart", "together", "in_lists", "first_is_a_list"])
def test_several_inputs_of_a_sample_stand_beside_its_label_or_in_one_tuple(tmp_path, name):
    data = loaded(own_file(tmp_path, NESTED), name)

    assert [(part.dtype, part.shape) for part in data.input_parts] == [("float32", (2,)), ("float32", (1,))]
    assert data.train_inputs.view(np.float32).tolist() == [[0, 1, 0], [2, 3, -2], [4, 5, -4]]
    assert data.train_labels.tolist() == [0, 1, 0]


OTHERS = """
from training import Dataset

class Iterated:
    def __iter__(self):
        return iter([(0, 0)])

class Sized:
    def __len__(self):
        return 1

class Listed:
    def __init__(self, *items):
        self.items = items
    def __len__(self):
        return len(self.items)
    def __getitem__(self, index):
        return self.items[index]

good = (np.zeros((2, 3)), [0, 1])

def made():
    return Dataset(train_inputs=np.ones((1, 2)), train_labels=np.zeros(1, int), test_inputs=np.ones((1, 2)),
                   test_labels=np.zeros(1, int), classes=7)

def nothing():
    pass

def one_array():
    return np.zeros((2, 3))

def table():
    return {"x": 1, "y": 2}

def four_parts():
    return (np.zeros((2, 3)), [0, 1], [0, 1], [0, 1]), good

def tables():
    return {"x": 1, "y": 2}, good

def iterated():
    return Iterated(), good

def sized():
    return Sized(), good

def no_items():
    return Listed(), good

def some_unlabelled():
    return Listed((1.0, 0), (1.0,)), good

def bare_numbers():
    return Listed(1.0, 2.0), good

def several_shapes():
    return Listed((np.ones(1), 0), (np.ones(2), 1)), good

def several_lengths():
    return good, Listed(([1, 2], 0), ([1, 2, 3], 1))

def gradients():
    x = torch.ones(2, 3, requires_grad=True)
    return (x, torch.tensor([0, 1])), [2 * x, (0, 1)]
"""


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("nothing", "must return (training data, test data), not NoneType."),
        ("one_array", "must return (training data, test data), not ndarray."),
        ("table", "must return (training data, test data), not dict."),
        ("four_parts", "must return (x, y) or (x, y, groups) of arrays, not 4 parts: data need labels."),
        *(
            (
                name,
                "must return (x, y) of arrays or a torch Dataset of (x, y), with a length, "
                f"not {what}: data need labels.",
            )
            for name, what in (("tables", "dict"), ("iterated", "Iterated"), ("sized", "Sized"))
        ),
        *(
            (name, "must return data sets whose samples are (x, y): data need labels.")
            for name in ("no_items", "some_unlabelled", "bare_numbers")
        ),
        ("several_shapes", "must return samples of one shape."),
        # A list in a sample's place of inputs holds one value for each input.
        ("several_lengths", "must return samples with the same number of inputs, not 2 and 3."),
    ],
)
def test_what_is_no_labelled_data_is_refused_with_what_it_is(tmp_path, name, rule):
    path = own_file(tmp_path, OTHERS)
    with pytest.raises(InputError) as caught:
        loaded(path, name)
    assert str(caught.value).startswith(f"{path}: dataset(=")
    assert str(caught.value).endswith(f"{name}') {rule}")


def test_a_data_set_that_is_made_already_is_taken_as_it_is(tmp_path):
    data = loaded(own_file(tmp_path, OTHERS), "made")

    assert (data.classes, data.train_inputs.shape, data.train_inputs.dtype) == (7, (1, 2), np.float64)


def test_tensors_with_gradients_are_their_numbers(tmp_path):
    data = loaded(own_file(tmp_path, OTHERS), "gradients")

    assert (data.train_inputs.tolist(), data.test_inputs.tolist()) == ([[1] * 3] * 2, [[2] * 3] * 2)
