"""What is wrong with data shows before anything is designed or started."""

import json
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from topologies.errors import InputError
from training import TrainingConfig, check_data
from training.data.datasets import DATASETS, IGNORED, DataOptions, Dataset, load_dataset
from training.dpasgd import train_rank
from training.engine.communicator import SingleRank
from training.engine.data_checks import checked_partition, counted_labels
from training.models import build_model, named_models


def images(side: int, *, samples: int = 4) -> Dataset:
    inputs = np.random.default_rng(0).normal(size=(samples, 3, side, side)).astype(np.float32)
    labels = np.arange(samples) % 2
    return Dataset(
        train_inputs=inputs, train_labels=labels, test_inputs=inputs, test_labels=labels, classes=2
    )


@pytest.mark.parametrize(
    ("settings", "silos", "message"),
    [
        ({}, 1443, r"^digits: silos\(=1443\) must be <= 1442, the number of training samples;"),
        ({"partition": "groups"}, 3, r"^digits: partition\(='groups'\) must have data with groups"),
        ({"partition": "geographic"}, 3, r"^digits: partition\(='geographic'\) must have data with places"),
        ({"model": "char_gru"}, 3, r"^model\(='char_gru'\) must read samples of shape \(length\)"),
        ({"dataset": "femnist", "model": "femnist_cnn"}, 3, r"^data\(=''\) must be the femnist folder with"),
        (
            {"dataset": "femnist", "data": "/nowhere"},
            3,
            r"^data\(='/nowhere'\) must be the femnist folder with",
        ),
        ({"initial_weights": "nowhere.pth"}, 3, r"^weights\(=nowhere\.pth\) must be a readable file"),
    ],
)
def test_what_cannot_be_trained_on_is_one_error(settings, silos, message):
    with pytest.raises(InputError, match=message):
        check_data(TrainingConfig(**settings), silos=silos, seed=0)


def test_a_batch_of_one_small_image_is_refused_before_training(monkeypatch, make_job):
    monkeypatch.setattr("training.engine.data_checks.load_dataset", lambda *_arguments: images(32))
    config = TrainingConfig(model="resnet18", batch_size=1)
    rule = r"^batch_size\(=1\) must be >= 2 for model resnet18 and images of 32 x 32 pixels: batch norm needs two"
    with pytest.raises(InputError, match=rule):
        check_data(config, silos=2, seed=0)
    check_data(replace(config, batch_size=2), silos=2, seed=0)
    monkeypatch.setattr("training.engine.data_checks.load_dataset", lambda *_arguments: images(33))
    check_data(config, silos=2, seed=0)
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_arguments: images(32))
    with pytest.raises(InputError, match=rule):
        next(train_rank(make_job(silos=2, model="resnet18", batch_size=1), SingleRank()))


def padded_texts() -> Dataset:
    """Four texts in two groups; no position of the second group's counts."""
    inputs = np.arange(24).reshape(4, 6) % 5
    labels = inputs.copy()
    labels[2:] = IGNORED
    return Dataset(
        train_inputs=inputs,
        train_labels=labels,
        test_inputs=inputs,
        test_labels=labels,
        classes=5,
        train_groups=np.array([0, 0, 1, 1]),
        group_names=("a", "b"),
    )


def test_a_silo_of_padding_and_an_empty_test_set_are_errors(monkeypatch, make_job, make_rank_silos):
    data = padded_texts()
    config = TrainingConfig(dataset="shakespeare", model="char_gru", partition="groups")
    rule = r"^partition\(='groups'\) must give silo [01] a sample whose label counts: all are padding\.$"
    with pytest.raises(InputError, match=rule):
        checked_partition(config, data, silos=2, seed=0)
    named = r" must give (Oslo \(silo 0\)|Rome \(silo 1\)) a sample whose label counts: all are padding\.$"
    with pytest.raises(InputError, match=named):
        checked_partition(config, data, silos=2, seed=0, silo_labels=("Oslo", "Rome"))
    monkeypatch.setattr("training.engine.data_checks.load_dataset", lambda *_arguments: data)
    with pytest.raises(InputError, match=named):
        check_data(config, silos=2, seed=0, silo_labels=("Oslo", "Rome"))
    monkeypatch.setattr("training.dpasgd.load_dataset", lambda *_arguments: data)
    job = make_job(silos=2, model="char_gru", partition="groups", silo_labels=("Oslo", "Rome"))
    with pytest.raises(InputError, match=named):
        next(train_rank(job, SingleRank()))
    with pytest.raises(InputError, match=named):
        make_rank_silos(job, data)
    assert [part.tolist() for part in checked_partition(config, data, silos=1, seed=0)] == [[0, 1, 2, 3]]
    untested = replace(data, test_labels=data.test_labels[2:], test_inputs=data.test_inputs[2:])
    with pytest.raises(InputError, match=r"^dataset\(='shakespeare'\) must hold out test samples, not 0\.$"):
        checked_partition(config, untested, silos=1, seed=0)


def test_a_batch_of_padding_alone_teaches_nothing(make_job, make_rank_silos):
    data = padded_texts()
    job = make_job(silos=1, model="char_gru", partition="iid", batch_size=1, momentum=0.5, local_steps=4)
    rank_silos = make_rank_silos(job, data)
    moved = []
    for step in range(4):
        before = rank_silos.models.parameters.clone()
        rank_silos.local_step(step, 0.1, round_index=0)
        assert torch.isfinite(rank_silos.models.parameters).all()
        (sample,) = rank_silos.shards[0].batches.batch(step)
        gradient = rank_silos.models.gradients.abs().max() > 0
        assert bool(gradient) == (sample < 2)
        moved.append(not torch.equal(before, rank_silos.models.parameters))
    # Momentum goes on where the gradient is zero.
    first = next(step for step in range(4) if rank_silos.shards[0].batches.batch(step)[0] < 2)
    assert moved == [step >= first for step in range(4)]
    assert torch.isinf(rank_silos.diverged_in).all()


def test_labels_are_counted_per_sample():
    assert counted_labels(padded_texts().train_labels).tolist() == [6, 6, 0, 0]
    assert counted_labels(np.array([3, 1])).tolist() == [1, 1]
    assert counted_labels(np.zeros((0, 6), dtype=np.int64)).tolist() == []


def test_what_is_known_of_the_digits_is_true():
    data = load_dataset("digits")
    spec = DATASETS["digits"]
    assert (spec.shape, spec.count_classes(DataOptions())) == (data.train_inputs.shape[1:], data.classes)


def test_images_are_not_decoded_to_check_data(monkeypatch, tmp_path):
    for part, ids in (("train2018", range(20)), ("val2018", range(20, 24))):
        lists = {
            "images": [{"id": i, "file_name": f"{i}.jpg"} for i in ids],
            "annotations": [{"image_id": i, "category_id": i % 2} for i in ids],
            "categories": [{"id": 0}, {"id": 1}],
        }
        (tmp_path / f"{part}.json").write_text(json.dumps(lists))
        (tmp_path / f"{part}_locations.json").write_text(
            json.dumps([{"id": i, "lat": 0.0, "lon": i} for i in ids])
        )
        for i in ids:
            (tmp_path / f"{i}.jpg").touch()
    monkeypatch.setattr("training.data.readers.inaturalist.decode", None)
    config = TrainingConfig(
        dataset="inaturalist", data=str(tmp_path), model="resnet18", partition="geographic", skip_bad=True
    )
    places = np.array([[0.0, 0.0], [0.0, 20.0]])
    check_data(config, silos=2, seed=0, silo_places=places)
    with pytest.raises(InputError, match=r"^inaturalist in .*: silos\(=23\) must be <= 22"):
        check_data(config, silos=23, seed=0, silo_places=np.zeros((23, 2)))
    assert DATASETS["inaturalist"].count_classes(config.data_options) == 2
    assert DATASETS["full_inaturalist"].count_classes(config.data_options) == 2


def small(_shape: tuple[int, ...], classes: int) -> nn.Module:
    """A model with what a ResNet has: running statistics, and a final layer of that name."""
    convolution, final = nn.Conv2d(3, 4, 3), nn.Linear(4, classes)
    pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(OrderedDict(conv1=convolution, bn1=nn.BatchNorm2d(4), pool=pool, fc=final))


def test_every_silo_starts_from_the_weights_of_a_file(make_job, make_rank_silos, monkeypatch, tmp_path):
    spec = replace(named_models.MODELS["resnet18"], build=small)
    monkeypatch.setitem(named_models.MODELS, "resnet18", spec)
    data = images(32)
    published = build_model("resnet18", input_shape=(3, 32, 32), classes=1000, seed=8)
    torch.save(published.state_dict(), tmp_path / "resnet18.pth")
    job = make_job(silos=2, model="resnet18", partition="iid", initial_weights=str(tmp_path / "resnet18.pth"))
    for module in make_rank_silos(job, data).models.modules:
        for (name, value), other in zip(
            module.state_dict().items(), published.state_dict().values(), strict=True
        ):
            # The final layer is for other classes.
            assert name.startswith("fc.") or torch.equal(value, other)
