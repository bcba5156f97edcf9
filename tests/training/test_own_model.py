"""Models and losses of a user's own: the numbers of a plain loop, for any number of ranks, and what does not fit."""

import copy
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from own_parts import own_file
from thread_ranks import ThreadRanks
from torch import nn

from topologies.errors import InputError, TrainingError
from training import HistoryRow, MixingPlan, TrainingConfig, exchanged_numbers, load_dataset, message_bits
from training.data.datasets import Dataset
from training.dpasgd import train_rank, train_round
from training.engine.data_checks import job_parts
from training.engine.initial_model import initial_model
from training.engine.own_trial import try_own
from training.models import build_model, model_spec
from training.own_code import code_identity, file_of, load_callable, own_code, refused
from training.random_streams import Purpose, stream

MATRIX = np.array([[0.75, 0.25], [0.5, 0.5]])


@pytest.fixture
def own(tmp_path):
    return own_file(tmp_path)


@pytest.fixture
def own_job(make_job, own):
    def make(**settings):
        given = {
            "silos": 2,
            "rounds": 3,
            "local_steps": 2,
            "batch_size": 4,
            "learning_rate": 0.2,
            "matrix": MATRIX,
        }
        names = {"model": f"{own}:Net", "dataset": f"{own}:load", "partition": "iid"}
        return make_job(**{**given, **names, **settings})

    return make


@pytest.mark.parametrize("exchange_buffers", [False, True])
@pytest.mark.parametrize("loss", ["", "smoothed"])
def test_training_is_the_plain_loop(own_job, own, make_rank_silos, exchange_buffers, loss):
    job = own_job(loss=loss and f"{own}:{loss}", exchange_buffers=exchange_buffers)
    data = load_dataset(job.config.dataset)
    rank_silos = make_rank_silos(job, data)
    for k in range(3):
        train_round(job, rank_silos, k)

    # The same by hand: SGD in each silo, then weighted means of parameters, and of running statistics if asked for.
    rate, smoothing = 0.2, 0.25 if loss else 0.0
    models = [copy.deepcopy(initial_model(job.config, data, seed=job.seed)) for _ in range(2)]
    parts = job_parts(job, data)
    x, y = torch.from_numpy(data.train_inputs), torch.from_numpy(data.train_labels)
    for k in range(3):
        for silo, model in enumerate(models):
            for step in (2 * k, 2 * k + 1):
                batch = parts[silo][rank_silos.shards[silo].batches.batch(step)]
                torch.manual_seed(int(stream(job.seed, Purpose.PASSES, silo, step).integers(2**62)))
                value = nn.functional.cross_entropy(model(x[batch]), y[batch], label_smoothing=smoothing)
                model.zero_grad()
                value.backward()
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter -= rate * parameter.grad
        mixed = [copy.deepcopy(model) for model in models]
        for silo, model in enumerate(mixed):
            tensors = list(model.parameters())
            sources = [list(each.parameters()) for each in models]
            if exchange_buffers:
                tensors += [model.norm.running_mean, model.norm.running_var]
                for source, each in zip(sources, models, strict=True):
                    source += [each.norm.running_mean, each.norm.running_var]
            with torch.no_grad():
                for place, tensor in enumerate(tensors):
                    tensor.copy_(sum(MATRIX[silo, j] * sources[j][place] for j in range(2)))
        models = mixed
    for model, found in zip(models, rank_silos.models.modules, strict=True):
        assert found.second.weight is found.first.weight
        for name, tensor in model.state_dict().items():
            torch.testing.assert_close(found.state_dict()[name], tensor, rtol=1e-5, atol=1e-6)


def rows(reports):
    return [report for report in reports if isinstance(report, HistoryRow)]


def test_any_number_of_ranks_gives_the_same_numbers(own_job, ring, rows_of):
    job = own_job(silos=3, matrix=ring(3), rounds=2)
    expected = rows_of(job)

    found = ThreadRanks(2).run(lambda rank: rows(train_rank(job, rank)))

    assert found[0] == expected
    assert expected[2].train_loss != expected[0].train_loss


def test_a_pass_depends_on_seed_silo_and_step_and_leaves_torchs_random_state(own_job, make_rank_silos):
    job = own_job()
    models = make_rank_silos(job, load_dataset(job.config.dataset))
    losses = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.random.get_rng_state()
        losses.append(models._executor.gradients(0))
        assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(*losses)


def test_the_loss_is_the_one_in_the_history(own_job, own, rows_of):
    # At the same model: the smoothed loss is 3/4 cross-entropy and 1/4 its mean over classes, so above it here.
    plain, smoothed = (rows_of(own_job(rounds=1, loss=loss))[0] for loss in ("", f"{own}:smoothed"))
    data = load_dataset(f"{own}:load")
    model = initial_model(own_job().config, data, seed=7).eval()
    with torch.no_grad():
        scores = model(torch.from_numpy(data.test_inputs))
    labels = torch.from_numpy(data.test_labels)
    for row, smoothing in ((plain, 0.0), (smoothed, 0.25)):
        value = nn.functional.cross_entropy(scores, labels, label_smoothing=smoothing)
        assert row.test_loss == pytest.approx(value.item(), rel=1e-5)
    assert plain.test_accuracy == smoothed.test_accuracy


def test_a_message_has_each_shared_parameter_once(own):
    # Convolution 9 * 3 + 3, norm 3 + 3, shared weights 3 * 3, two biases of 3, last 2 * 3 + 2.
    config = TrainingConfig(model=f"{own}:Net", dataset=f"{own}:load")
    assert exchanged_numbers(config) == 30 + 6 + 9 + 6 + 8
    with_statistics = TrainingConfig(model=f"{own}:Net", dataset=f"{own}:load", exchange_buffers=True)
    assert message_bits(with_statistics) == 32 * (59 + 6)


def test_several_inputs_reach_the_model(own, make_job, rows_of):
    seen = []
    job = make_job(silos=2, model=f"{own}:Two", dataset=f"{own}:two_inputs", partition="iid", rounds=2)
    data = load_dataset(job.config.dataset)
    assert data.sample_shape == ((3,), (4,))
    model = initial_model(job.config, data, seed=0)
    model.table.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    (numbers, words), _y = load_callable(f"{own}:two_inputs", field="dataset")()[0]
    scores = model(torch.from_numpy(data.train_inputs))
    assert np.array_equal(seen[0].numpy(), words)
    plain = model.linear(torch.tensor(numbers, dtype=torch.float32)) + model.table(
        torch.from_numpy(words)
    ).sum(1)
    torch.testing.assert_close(scores, plain)
    assert set(model.state_dict()) == {"table.weight", "linear.weight", "linear.bias"}
    assert rows_of(job)[-1].train_loss < rows_of(job)[0].train_loss


@pytest.mark.slow
def test_vmap_gives_the_loops_numbers_for_several_inputs_and_takes_long_to_import(own, make_job, rows_of):
    loop = rows_of(
        make_job(silos=2, model=f"{own}:Two", dataset=f"{own}:two_inputs", partition="iid", executor="auto")
    )
    named = rows_of(make_job(silos=2, model=f"{own}:Two", dataset=f"{own}:two_inputs", partition="iid"))
    assert loop[-1].train_loss == pytest.approx(named[-1].train_loss, rel=1e-5)


def test_naming_code_runs_none(tmp_path):
    path = own_file(tmp_path, "\nraise RuntimeError('ran')\n")
    config = TrainingConfig(model=f"{path}:Net", dataset=f"{path}:load", loss=f"{path}:smoothed")
    assert model_spec(config.model).vectorizes
    assert code_identity(config.model).startswith("Net of own.py (")
    with pytest.raises(TrainingError, match=r"^RuntimeError: ran \(.*own\.py, line \d+\)\nTraceback"):
        message_bits(config)


@pytest.mark.parametrize("name", ["own.py:", ":build", "a-b:build", "own.py:build()", ".py:build", "own:1"])
def test_a_name_that_is_none_is_refused_where_it_is_stated(name):
    for field in ("model", "loss", "dataset"):
        with pytest.raises(InputError, match=rf"^{field}\(=.*must be file\.py:callable or module:callable"):
            TrainingConfig(**{field: name})


def test_the_same_file_in_another_folder_is_the_same_code(tmp_path):
    (tmp_path / "b").mkdir()
    first, second = own_file(tmp_path), own_file(tmp_path / "b")
    assert code_identity(f"{first}:Net") == code_identity(f"{second}:Net")
    second.write_text("changed")
    assert code_identity(f"{first}:Net") != code_identity(f"{second}:Net")


def test_a_module_may_be_installed_or_in_a_package_with_relative_imports(tmp_path, monkeypatch):
    assert load_callable("torch.nn:Linear", field="model") is nn.Linear
    package = tmp_path / "lab_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text("WIDTH = 3\n")
    (package / "models.py").write_text("from .parts import WIDTH\n\ndef build():\n    return WIDTH\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    try:
        assert load_callable("lab_of_mine.models:build", field="model")() == 3
        assert load_callable("lab_of_mine/models.py:build", field="model")() == 3
    finally:
        for name in [name for name in sys.modules if name.startswith("lab_of_mine")]:
            del sys.modules[name]


def test_messages_name_the_file_or_the_module_that_has_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert file_of("torch.nn:Linear") == "torch.nn"
    assert str(refused("model", "torch.nn:Linear", "must be mine")) == (
        "torch.nn: model(='torch.nn:Linear') must be mine."
    )
    assert str(refused("model", "cnn", "must be mine.")) == "model(='cnn') must be mine."
    assert file_of("lab.models:build") == "lab.models"
    assert file_of("models.py:build") == "models.py"
    (tmp_path / "lab" / "models").mkdir(parents=True)
    (tmp_path / "lab" / "models" / "__init__.py").write_text("")
    assert file_of("lab.models:build") == "lab/models/__init__.py"
    (tmp_path / "lab" / "models.py").write_text("")
    assert file_of("lab.models:build") == "lab/models.py"


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "own.py"
    for value in (1, 2):
        path.write_text(f"def build(): return {value}\n")
        assert load_callable(f"{path}:build", field="model")() == value


WRONG = """
class Frozen(Net):
    def __init__(self):
        super().__init__((1,), 2)
        self.last.bias.requires_grad_(False)

class Half(Net):
    def __init__(self):
        super().__init__((1,), 2)
        self.last.half()

class Lazy(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.LazyLinear(2))

class Flat(nn.Linear):
    def __init__(self):
        super().__init__(16, 2)

class One(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(16, 1))

class Pair(Net):
    def forward(self, images):
        return super().forward(images), 0

class Replaces(Net):
    def forward(self, images):
        self.norm.running_mean = self.norm.running_mean * 0.5
        return super().forward(images)

class AlwaysDrops(Net):
    def forward(self, images):
        return F.dropout(super().forward(images))

class NotCopied(Net):
    def __init__(self):
        super().__init__((1,), 2)
        self.kept = self.last.weight * 2

class Raises(Net):
    def forward(self, images):
        raise KeyError("no such thing")

def number():
    return 3

def wide(input_shape, width):
    return 3

def in_order(shape, labels, width=3):
    return nn.Sequential(nn.Flatten(), nn.Linear(shape[0] * shape[1] * shape[2], labels))

def vector(scores, labels):
    return F.cross_entropy(scores, labels, reduction="none")

def plain(scores, labels):
    return 0.5

def constant(scores, labels):
    return torch.zeros(())

def misshapen(scores, labels):
    return scores.view(3, 7).mean()

def fails(scores, labels):
    return 1 / 0

"""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "Nett"}, "has no Nett, which model"),
        ({"model": "number"}, "must return a torch.nn.Module, not int."),
        ({"model": "wide"}, "must be called with input_shape: missing a required argument: 'width'."),
        ({"model": "Frozen"}, "must train all its parameters: last.bias is frozen"),
        ({"model": "Half"}, "must hold float32: last.weight is float16"),
        ({"model": "Lazy"}, "must state the sizes of its layers: 1.weight is lazy"),
        ({"model": "Flat"}, "must read samples of shape (1, 4, 4): RuntimeError: mat1 and mat2 shapes"),
        ({"model": "One"}, "must return scores of shape (2, 2), not shape (2, 1)"),
        ({"model": "Pair"}, "must return scores of shape (2, 2), not tuple"),
        ({"model": "Replaces"}, "must change the buffer norm.running_mean in place"),
        (
            {"model": "NotCopied"},
            "must be copied by copy.deepcopy, for each silo: RuntimeError: Only Tensors",
        ),
        ({"model": "AlwaysDrops"}, "must draw no random numbers in evaluation"),
        ({"loss": "vector"}, "must return one number, a tensor of shape (), not shape (2,)"),
        ({"loss": "plain"}, "must return one number, a tensor of shape (), not float"),
        ({"loss": "constant"}, "must be computed from the scores by torch"),
        ({"loss": "misshapen"}, "must take scores (2, 2) and labels (2,): RuntimeError: shape '[3, 7]'"),
        ({"loss": "load.x"}, "has no load.x, which loss"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_one_line_with_the_file(tmp_path, settings, message):
    path = own_file(tmp_path, WRONG)
    named = {key: f"{path}:{name}" for key, name in {"model": "Net", **settings}.items()}
    config = TrainingConfig(dataset=f"{path}:load", **named)
    with pytest.raises(InputError) as caught:
        initial_model(config, load_dataset(config.dataset), seed=0)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_builder_gets_shape_and_classes_in_order_too(tmp_path):
    model = build_model(f"{own_file(tmp_path, WRONG)}:in_order", input_shape=(1, 4, 4), classes=2, seed=0)
    assert model[1].weight.shape == (2, 16)


def test_one_sample_is_too_few_for_batch_norm(own):
    config = TrainingConfig(dataset=f"{own}:load", model=f"{own}:Net", batch_size=1)
    data = load_dataset(config.dataset)
    assert initial_model(config, data, seed=0) is not None  # 2 x 2 pixels are four values for each channel
    path = own_file(
        own.parent, "\ndef flat(): return nn.Sequential(nn.Flatten(), nn.BatchNorm1d(16), nn.Linear(16, 2))\n"
    )
    with pytest.raises(InputError, match="Expected more than 1 value per channel"):
        initial_model(
            TrainingConfig(dataset=config.dataset, model=f"{path}:flat", batch_size=1), data, seed=0
        )


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ({"model": "Raises"}, "KeyError: 'no such thing' (PATH, line "),
        ({"loss": "fails"}, "ZeroDivisionError: division by zero (PATH, line "),
    ],
)
def test_an_exception_of_the_users_shows_its_own_traceback(tmp_path, settings, first):
    path = own_file(tmp_path, WRONG)
    named = {key: f"{path}:{name}" for key, name in {"model": "Net", **settings}.items()}
    config = TrainingConfig(dataset=f"{path}:load", **named)
    with pytest.raises(TrainingError) as caught:
        initial_model(config, load_dataset(config.dataset), seed=0)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(first.replace("PATH", str(path)))
    assert lines[1] == "Traceback (most recent call last):"
    assert lines[2].startswith(f'  File "{path}", line ')
    assert lines[-1] == first.split(" (PATH")[0]


def test_an_exception_in_the_middle_of_a_training_is_the_users_too(tmp_path, make_job, rows_of):
    late = "\nclass Late(Net):\n    def forward(self, x):\n        assert not (self.training and len(x) > 2), 'late'\n"
    path = own_file(tmp_path, f"{late}        return super().forward(x)\n")
    job = make_job(model=f"{path}:Late", dataset=f"{path}:load", silos=2, partition="iid")
    with pytest.raises(TrainingError, match=r"^AssertionError: late \(.*own\.py, line \d+\)\nTraceback"):
        rows_of(job)


def test_a_file_that_is_no_python_or_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"^model\(=.*\) there is no such file beside the scenario"):
        message_bits(TrainingConfig(model=f"{tmp_path}/none.py:build"))
    with pytest.raises(
        InputError, match=r"^model\(='no_module_xyz:build'\) there is no such module, nor a file"
    ):
        message_bits(TrainingConfig(model="no_module_xyz:build"))
    path = tmp_path / "own.py"
    path.write_text("def build(:\n")
    with pytest.raises(TrainingError, match=r"^SyntaxError: .*own\.py, line 1"):
        message_bits(TrainingConfig(model=f"{path}:build"))
    path.write_text("import sys\n\nsys.exit()\n")
    with pytest.raises(TrainingError, match=r"^SystemExit: \(.*own\.py, line 3\)\nTraceback"):
        message_bits(TrainingConfig(model=f"{path}:build"))
    path.write_text("import no_such_module_xyz\n")
    with pytest.raises(TrainingError, match=r"^ModuleNotFoundError: No module named 'no_such_module_xyz' \("):
        message_bits(TrainingConfig(model=f"{path}:build"))


def test_errors_that_met_no_code_of_the_users_stay_as_they_are(own):
    with pytest.raises(KeyError), own_code(model=f"{own}:Net"):
        raise KeyError("ours")


def test_executors_that_cannot_take_it_are_refused(own):
    with pytest.raises(
        InputError, match=r"^executor\(='vmap'\) must be auto or loop with a loss of your own"
    ):
        TrainingConfig(loss=f"{own}:smoothed", executor="vmap")
    config = TrainingConfig(model=f"{own}:Net", dataset=f"{own}:load", executor="vmap")
    with pytest.raises(
        InputError, match=r"^executor\(='vmap'\) must be auto or loop with a model that draws"
    ):
        initial_model(config, load_dataset(config.dataset), seed=0)


def test_a_parameter_that_the_loss_does_not_need_stays(tmp_path, make_job, make_rank_silos):
    spare = "\nclass Spare(Net):\n    def __init__(self):\n        super().__init__((1,), 2)\n"
    path = own_file(tmp_path, f"{spare}        self.spare = nn.Linear(1, 1)\n")
    job = make_job(model=f"{path}:Spare", dataset=f"{path}:load", silos=2, partition="iid", learning_rate=0.5)
    silos = make_rank_silos(job, load_dataset(job.config.dataset))
    before = silos.models.modules[0].spare.weight.clone()
    train_round(job, silos, 0)
    assert torch.equal(silos.models.modules[0].spare.weight, before)


def test_the_initial_model_is_drawn_from_the_seed(own):
    models = [build_model(f"{own}:Net", input_shape=(1, 4, 4), classes=2, seed=seed) for seed in (1, 1, 2)]
    assert torch.equal(models[0].last.weight, models[1].last.weight)
    assert not torch.equal(models[0].last.weight, models[2].last.weight)


def test_a_resumed_training_has_the_rows_of_an_uninterrupted_one(own_job, rows_of, tmp_path):
    whole = rows_of(own_job(rounds=4, loss=""))
    job = own_job(rounds=4, checkpoint_every=2)
    job = replace(job, directory=tmp_path / "checkpoints")
    rows_of(replace(job, config=replace(job.config, rounds=2), mixing=MixingPlan.constant(MATRIX, 2)))
    assert rows_of(job) == whole


def test_memory_of_layers_that_return_anything_is_counted(tmp_path, make_job, rows_of):
    more = """
class Named(nn.Linear):
    def forward(self, *, seen):
        return {"seen": super().forward(seen)}

class Odd(Net):
    def __init__(self):
        super().__init__((1,), 2)
        self.named = Named(2, 2)

    def forward(self, images):
        return self.named(seen=super().forward(images))["seen"]
"""
    path = own_file(tmp_path, more)
    job = make_job(model=f"{path}:Odd", dataset=f"{path}:load", silos=2, partition="iid", rounds=1)
    assert len(rows_of(job)) == 2


def test_a_model_is_tried_on_two_samples_or_on_a_batch_where_that_is_smaller():
    class Noted(nn.Linear):
        def forward(self, samples):
            seen.append((len(samples), self.training))
            return super().forward(samples)

        def __deepcopy__(self, _memo):
            return self

    samples, labels = np.zeros((9, 3), np.float32), np.arange(9) % 2
    for count, batch_size, tried in ((9, 4, 2), (9, 1, 1), (1, 4, 1)):
        seen = []
        data = Dataset(
            train_inputs=samples[:count],
            train_labels=labels[:count],
            test_inputs=samples,
            test_labels=labels,
            classes=2,
        )
        try_own(TrainingConfig(batch_size=batch_size), Noted(3, 2), data)
        # Once as it is measured, once as it is trained.
        assert seen == [(tried, False), (tried, True)]
