"""A training backend of 40 lines: DPASGD of a logistic regression in NumPy, in this process."""

import numpy as np

from topologies import InputError
from training import BatchStream, HistoryRow, dataset_reader, load_dataset, split_dataset

ONLY = {"model": "softmax", "objective": "silos", "initial_weights": "", "optimizer": "sgd", "evaluate": 1}
ONLY |= {"momentum": 0, "weight_decay": 0, "clip_norm": None, "clip_value": None}
ONLY |= {"learning_rate_schedule": "constant", "warm_up_rounds": 0}


class NumpyLogistic:
    """What `training.TrainingBackend` asks for."""

    steps_by_silo = True

    def check(self, config):
        """Called first: say now what cannot be done."""
        if any(getattr(config, name) != value for name, value in ONLY.items()):
            raise InputError(
                "backend(=numpy_logistic) needs model = 'softmax' from zeros, the mean of silos as objective, and "
                "plain sgd at a constant rate."
            )

    def message_bits(self, config):
        """What a silo sends on one arc in a round: 64 bits for each weight. `[workload]` must say it without this."""
        self.check(config)
        options = config.data_options
        reader = dataset_reader(config.dataset, options)
        return 64 * (np.prod(reader.sample_shape(options)) + 1) * reader.count_classes(options)

    def train(self, job):
        """Yield the metrics of rounds 0, log_every, ... and of the last one."""
        config, data = job.config, load_dataset(job.config.dataset, job.config.data_options)
        x, y = with_bias(data.train_inputs), data.train_labels
        test_x, test_y = with_bias(data.test_inputs), data.test_labels
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
                models = np.tensordot(job.mixing.matrices[job.mixing.index[k]], models, 1)  # X <- A X


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


def with_bias(inputs):
    """Samples as rows of numbers, with a 1 in front."""
    return np.insert(np.reshape(inputs[:], (len(inputs), -1)).astype(float), 0, 1.0, axis=1)
