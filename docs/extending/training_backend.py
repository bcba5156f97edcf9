"""A training backend of 40 lines: DPASGD of a logistic regression in NumPy, in this process."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from topologies import InputError
from training import BatchStream, HistoryRow, dataset_reader, load_dataset, split_dataset

ONLY = {"model": "softmax", "objective": "silos", "initial_weights": "", "optimizer": "sgd", "evaluate": 1}
ONLY |= {"momentum": 0, "weight_decay": 0, "clip_norm": None, "clip_value": None}
ONLY |= {
    "learning_rate_schedule": "constant",
    "warm_up_rounds": 0,
    "loss": "",
    "precision": "float32",
    "device": "cpu",
}
ONLY |= {"exchange_buffers": False, "keep_models": False, "checkpoint_every": 0}
NEEDS = "model = 'softmax' from zeros, the mean of silos as objective, and plain sgd at a constant rate"
Numbers = Literal["float64", "float32"]


@dataclass(frozen=True, kw_only=True)
class NumpyLogistic:
    """What `training.TrainingBackend` asks for. The fields are options, which a scenario gives in `backend_options`."""

    sent_as: Numbers = field(default="float64", metadata={"help": "type of the numbers that silos send"})
    bias: bool = field(default=True, metadata={"help": "whether each class has a constant, too"})
    steps_by_silo = True

    def check(self, config):
        """Called first: say now what cannot be done."""
        if any(getattr(config, name) != value for name, value in ONLY.items()):
            raise InputError(f"backend(=numpy_logistic) needs {NEEDS}.")

    def message_bits(self, config):
        """What a silo sends on one arc in a round: its weights. `[workload]` must say it without this."""
        self.check(config)
        reader = dataset_reader(config.dataset, config.data_options)
        inputs = np.prod(reader.sample_shape(config.data_options)) + self.bias
        return np.finfo(self.sent_as).bits * inputs * reader.count_classes(config.data_options)

    def train(self, job):
        """Yield the metrics of rounds 0, log_every, ... and of the last one."""
        config, data = job.config, load_dataset(job.config.dataset, job.config.data_options)
        x, test_x = (rows(inputs, self.bias) for inputs in (data.train_inputs, data.test_inputs))
        y, test_y = data.train_labels, data.test_labels
        split = {"silos": job.silos, "alpha": config.dirichlet_alpha, "silo_places": job.silo_places}
        parts = split_dataset(config.partition, data, seed=job.seed, **split)
        order = {"batch_size": config.batch_size, "seed": job.seed}
        orders = [BatchStream(size=len(part), silo=silo, **order) for silo, part in enumerate(parts)]
        models = np.zeros((job.silos, x.shape[1], data.classes))
        for k in range(config.rounds + 1):
            if k % config.log_every == 0 or k == config.rounds:
                yield HistoryRow(round=k, **metrics(models, parts, (x, y), (test_x, test_y)))
            if k < config.rounds:
                for i, part in enumerate(parts):
                    first, count = job.steps.before(k)[i], job.steps.of_round(k)[i]
                    for step in range(first, first + count):
                        batch = part[orders[i].batch(step)]
                        models[i] -= config.learning_rate * measure(models[i], x[batch], y[batch])[2]
                matrix = job.mixing.matrices[job.mixing.index[k]]
                models = np.tensordot(matrix, models.astype(self.sent_as), 1)  # X <- A X


def metrics(models, parts, train, test):
    """Fields of a row: of the average model, and each silo's loss on its own samples."""
    mean = models.mean(axis=0)
    row = dict(zip(("train_loss", "train_accuracy"), measure(mean, *train), strict=False))
    row |= dict(zip(("test_loss", "test_accuracy"), measure(mean, *test), strict=False))
    x, y = train
    row["silo_loss"] = tuple(measure(models[i], x[part], y[part])[0] for i, part in enumerate(parts))
    return row | {"consensus_distance": distance(models - mean)}


def measure(model, x, y):
    """Mean cross-entropy in nats, share of right predictions, gradient."""
    scores = x @ model
    log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    wrong = np.exp(log_p) - np.eye(model.shape[1])[y]
    return (
        float(-log_p[np.arange(len(y)), y].mean()),
        float((log_p.argmax(axis=1) == y).mean()),
        x.T @ wrong / len(y),
    )


def distance(models):
    """Root of the mean squared norm over silos."""
    return float(np.sqrt((models**2).sum(axis=(1, 2)).mean()))


def rows(inputs, bias):
    """Samples as rows of numbers, with a 1 in front for the bias."""
    numbers = np.reshape(inputs[:], (len(inputs), -1)).astype(float)
    return np.insert(numbers, 0, 1.0, axis=1) if bias else numbers
